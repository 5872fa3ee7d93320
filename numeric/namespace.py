"""What the emitted kernels need of an array namespace, and the little that lies on top of it.

A kernel runs on any namespace `xp` that offers, on its own arrays:

    asarray, where, any, sum, max, minimum, abs, copysign, exp, log, log1p, sqrt, tanh, concat,
    zeros, ones, eye, matrix_transpose, broadcast_to, reshape, inf, pi; linalg.svd and linalg.eigh,
    or an exact linalg.pinv in their stead; vecdot, if it has one;
    + - * / ** @, unary -, comparisons, & |, indexing by integers, slices, None and Ellipsis,
    .shape, .ndim, .dtype (anything that zeros takes back as dtype=).

NumPy and every array-API library do. So does a namespace of exact fractions or balls: without
`finfo` it is taken to be exact, and what counts as zero is then zero itself. `where`, products and
sums take plain Python numbers beside arrays.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

Array = Any
Namespace = Any


def namespace(xp: Namespace, *arrays: Array) -> Namespace:
    """The namespace that was given, or that of the arguments, or NumPy.

    Torch tensors name none; theirs is that of `array_api_compat`, which the extra `torch` brings.
    """
    if xp is not None:
        return xp
    for array in arrays:
        if hasattr(array, "__array_namespace__"):
            return array.__array_namespace__()
        if type(array).__module__.partition(".")[0] == "torch":
            return importlib.import_module("array_api_compat.torch")
    return np


def is_exact(xp: Namespace) -> bool:
    """Whether the namespace computes without rounding."""
    return not hasattr(xp, "finfo")


def real_arrays(xp: Namespace, *values: Array) -> tuple[Array, ...]:
    """The arguments as floating arrays of one type.

    Integers and booleans become float64; float32 stays float32, also beside Python numbers;
    float16 becomes float32, since linear algebra has no half precision.
    """
    if is_exact(xp):
        return tuple(xp.asarray(value) for value in values)
    plain = (bool, int, float)
    arrays = [value if isinstance(value, plain) else xp.asarray(value) for value in values]
    kinds = [value.dtype for value in arrays if not isinstance(value, plain)]
    floats = [kind for kind in kinds if xp.isdtype(kind, "real floating")]
    if len(floats) == len(kinds) > 0:
        common = xp.result_type(*floats)
    else:  # an array of integers counts as float64
        common = xp.result_type(*floats, xp.float64)
    if str(common).endswith("float16"):
        common = xp.float32
    return tuple(xp.asarray(value, dtype=common) for value in arrays)


def batch_shape(*parts: tuple[Array, int]) -> tuple[int, ...]:
    """The common batch shape of arrays, each with its number of core axes."""
    return np.broadcast_shapes(*(tuple(array.shape[: array.ndim - core]) for array, core in parts))


def fill_batch(xp: Namespace, array: Array, batch: tuple[int, ...], core: int) -> Array:
    """The array repeated over batch axes that did not enter it."""
    whole = (*batch, *array.shape[array.ndim - core :])
    if tuple(array.shape) == whole:
        return array
    filled = xp.broadcast_to(array, whole)
    return np.array(filled) if xp is np else filled  # NumPy's view could not be written to


def drop_entry(xp: Namespace, vector: Array, position: int) -> Array:
    """The vector along the last axis without one entry."""
    return xp.concat([vector[..., :position], vector[..., position + 1 :]], axis=-1)


def insert_zero(xp: Namespace, vector: Array, position: int) -> Array:
    """The vector along the last axis with a zero put in at a position."""
    zero = xp.zeros((*vector.shape[:-1], 1), **typed(vector))
    return xp.concat([vector[..., :position], zero, vector[..., position:]], axis=-1)


def placed(like: Array) -> dict[str, Any]:
    """Keywords that make a new array where the other one is: on its device, for Torch."""
    torch = type(like).__module__.partition(".")[0] == "torch"
    return {"device": like.device} if torch else {}


def typed(like: Array) -> dict[str, Any]:
    """The same, and of the other's type."""
    return {"dtype": like.dtype, **placed(like)}


def diagonal_mask(xp: Namespace, size: int, like: Array) -> Array:
    """True on the diagonal of a square, where the other array is."""
    return xp.eye(size, **placed(like)) > 0


def indicator(xp: Namespace, condition: Array, like: Array) -> Array:
    """1 where the condition holds and 0 elsewhere, in the type of the other array."""
    if xp is np:
        return condition.astype(like.dtype)
    return xp.where(condition, 1, 0) if is_exact(xp) else xp.astype(condition, like.dtype)


def dot_products(xp: Namespace, left: Array, right: Array) -> Array:
    """Inner products of the vectors along the last axes."""
    if hasattr(xp, "vecdot"):
        return xp.vecdot(left, right)
    return xp.sum(left * right, axis=-1)


def sum_of_others(xp: Namespace, vector: Array) -> Array:
    """For each entry the sum of all others, without a subtraction."""
    size = vector.shape[-1]
    ones = xp.ones((size, size), **typed(vector))
    others = xp.where(diagonal_mask(xp, size, vector), 0, ones)
    if vector.ndim == 1:
        return others @ vector
    # From the left, so that the result is stored as the vectors are.
    return xp.matrix_transpose(others @ xp.matrix_transpose(vector))


def value_at_largest(xp: Namespace, weights: Array, values: Array) -> Array:
    """The value at the largest weight along the last axis; the average over several of them.

    It is what others are measured from, to lose no digits; where none are lost any value will do.
    """
    if is_exact(xp):
        return values[..., 0]
    largest = weights == xp.max(weights, axis=-1)[..., None]
    chosen = indicator(xp, largest, values)
    if xp is np:  # without the array of products
        count = np.count_nonzero(largest, axis=-1).astype(values.dtype)
        return np.einsum("...j,...j->...", chosen, values) / count
    return xp.sum(chosen * values, axis=-1) / xp.sum(chosen, axis=-1)


def stack_entries(xp: Namespace, entries: list[Any]) -> Array:
    """A vector or matrix from scalar entries, each an array over the batch or a plain number."""
    nested = isinstance(entries[0], list)
    flat = [entry for row in entries for entry in row] if nested else entries
    arrays = [entry for entry in flat if hasattr(entry, "shape")]
    batch = np.broadcast_shapes(*(tuple(array.shape) for array in arrays))
    base = xp.zeros(batch, **(typed(arrays[0]) if arrays else {}))
    stacked = xp.concat([(base + entry)[..., None] for entry in flat], axis=-1)
    return stacked if not nested else xp.reshape(stacked, (*batch, len(entries), len(entries[0])))


def smallest_normal(xp: Namespace, array: Array) -> float:
    """The smallest normal number of the array's type; 0 where numbers are exact."""
    return 0 if is_exact(xp) else float(xp.finfo(array.dtype).smallest_normal)


def root_of_smallest(xp: Namespace, array: Array) -> float:
    """Its square root, beyond whose inverse quotients may overflow; tiny where exact."""
    return smallest_normal(xp, array) ** 0.5 or 2.0**-1000
