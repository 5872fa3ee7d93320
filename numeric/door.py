"""Checks at the door of the public algorithms. Behind it arrays are trusted."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numeric.errors import (
    DomainError,
    DtypeError,
    NonFiniteError,
    NotPositiveSemidefiniteError,
    NotSymmetricError,
    ShapeError,
)

if TYPE_CHECKING:
    Floats = NDArray[np.floating[Any]]
else:  # where there are no axes, NumPy computes a scalar
    Floats = NDArray[np.floating[Any]] | np.floating[Any]

# How far rounding may take a covariance from symmetric and psd, in units of size * eps * norm.
COVARIANCE_SLACK = 16


def real(name: str, value: ArrayLike, core: int = 0, *, finite: bool = True) -> Floats:
    """The argument as a finite floating array with at least `core` axes.

    Integers and booleans become float64, float16 becomes float32.

    Raises:
        DtypeError: not real numbers.
        ShapeError: fewer axes than `core`.
        NonFiniteError: NaN, or infinity unless `finite` is off.
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(name, "a rectangular array", "rows of unequal length") from error
    if array.dtype.kind in "iub":
        array = array.astype(np.float64)
    elif array.dtype.kind != "f":
        raise DtypeError(
            name,
            "real numbers",
            f"dtype {array.dtype}",
            "exact fractions go to a kernel with its own namespace"
            if array.dtype.kind == "O"
            else "",
        )
    elif array.dtype.itemsize == 2:
        array = array.astype(np.float32)
    elif array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    if array.ndim < core:
        raise ShapeError(name, f"at least {core} axes", f"shape {array.shape}")
    bad = np.isnan(array) if not finite else ~np.isfinite(array)
    if bad.any():
        place = tuple(int(index) for index in np.argwhere(bad)[0])
        raise NonFiniteError(
            name, "finite numbers" if finite else "numbers", f"{array[place]} at index {place}"
        )
    return array


def weak(name: str, value: ArrayLike, *others: Floats) -> Floats:
    """A scalar parameter in the type of the arrays beside it, if it is a plain Python number."""
    checked = real(name, value)
    if isinstance(value, (int, float)) and others:
        return checked.astype(np.result_type(*others))
    return checked


def arrays(**given: tuple[ArrayLike, str]) -> list[Floats]:
    """Arguments whose core axes are named, each `name=(value, "H d")`: equal names, equal lengths.

    A plain Python number beside arrays takes their type.

    Returns:
        the arrays, in the order given; their batch axes broadcast.

    Raises:
        ShapeError, DtypeError, NonFiniteError: see `real`; or they don't fit together.
    """
    lengths: dict[str, tuple[int, str]] = {}
    found: dict[str, tuple[Floats, int]] = {}
    for name, (value, axes) in given.items():
        labels = axes.split()
        array = real(name, value, len(labels))
        for place, label in enumerate(labels):
            length = array.shape[place - len(labels)]
            known, first = lengths.setdefault(label, (length, name))
            same_axis(first, known, name, length)
        found[name] = (array, len(labels))
    common_batch(**found)
    kinds = [a.dtype for name, (a, _) in found.items() if not _plain(given[name][0])]
    return [
        a.astype(np.result_type(*kinds)) if kinds and _plain(given[name][0]) else a
        for name, (a, _) in found.items()
    ]


def _plain(value: ArrayLike) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, np.floating)


def masses(name: str, value: ArrayLike) -> Floats:
    """Masses of components along the last axis: positive, with sum 1.

    Raises:
        ShapeError, DtypeError, NonFiniteError: see `real`.
        DomainError: one is not positive, or they don't sum to 1.
    """
    array = real(name, value, 1)
    return sums_to_one(name, at_least(name, array, 0, strict=True))


def corruption(name: str, values: Floats) -> Floats:
    """Corruption levels, in (0, 1]; so small ones that their squares underflow are refused.

    Raises:
        DomainError: one is outside.
    """
    smallest = float(np.sqrt(np.finfo(values.dtype).smallest_normal))
    return at_most(name, at_least(name, values, smallest, strict=True), 1)


def at_least(name: str, values: Floats, bound: float, *, strict: bool = False) -> Floats:
    """The values, all at least the bound (above it if strict).

    Raises:
        DomainError: one is not.
    """
    bad = values <= bound if strict else values < bound
    if bad.any():
        raise DomainError(
            name,
            f"numbers {'above' if strict else 'of at least'} {bound:g}",
            f"{float(values[bad].flat[0]):g}",
        )
    return values


def at_most(name: str, values: Floats, bound: float) -> Floats:
    """The values, none above the bound.

    Raises:
        DomainError: one is.
    """
    if (values > bound).any():
        raise DomainError(name, f"numbers of at most {bound:g}", f"{float(values.max()):g}")
    return values


def choice(name: str, value: str, options: tuple[str, ...]) -> str:
    """The value, one of the options.

    Raises:
        DomainError: it is none of them.
    """
    if value not in options:
        raise DomainError(name, " or ".join(map(repr, options)), repr(value))
    return value


def covariance(name: str, value: ArrayLike) -> Floats:
    """A symmetric positive semidefinite matrix ``(*batch, n, n)``, made symmetric to the last bit.

    Deviations within a few times ``n * eps`` of the largest entry are rounding.

    Raises:
        ShapeError, DtypeError, NonFiniteError: see `real`; not square.
        NotSymmetricError: it differs from its transpose.
        NotPositiveSemidefiniteError: it has a negative eigenvalue.
    """
    array = real(name, value, 2)
    size = array.shape[-1]
    if array.shape[-2] != size:
        raise ShapeError(name, "a square matrix in the last two axes", f"shape {array.shape}")
    if array.size == 0:
        return array
    scale = np.abs(array).max(axis=(-2, -1))
    slack = COVARIANCE_SLACK * size * np.finfo(array.dtype).eps * scale
    transposed = np.swapaxes(array, -1, -2)
    skew = np.abs(array - transposed).max(axis=(-2, -1))
    if (skew > slack).any():
        worst = float((skew - slack).max())
        raise NotSymmetricError(
            name,
            "a symmetric matrix",
            f"entries that differ from the transpose by {worst:.3g}",
            "pass (A + A.T)/2 if that is what you mean",
        )
    array = array / 2 + transposed / 2
    lowest = np.linalg.eigvalsh(array)[..., 0]
    if (lowest < -slack).any():
        raise NotPositiveSemidefiniteError(
            name,
            "no negative eigenvalue",
            f"{float(lowest.min()):.3g}",
            "a covariance has none; was a precision or a correlation passed?",
        )
    return array


def position(name: str, value: Any, size: int) -> int:
    """One index into an axis of the given size; negative ones count from the end.

    Raises:
        DtypeError: not an integer.
        DomainError: outside the axis.
    """
    try:
        index = operator.index(value)
    except TypeError as error:
        raise DtypeError(name, "an integer", type(value).__name__) from error
    if not -size <= index < size:
        raise DomainError(name, f"an index into {size} entries", str(index))
    return index % size


def positions(name: str, values: ArrayLike, size: int) -> NDArray[np.intp]:
    """Different indices into an axis of the given size, in the order given.

    Raises:
        DtypeError: not integers.
        ShapeError: not one axis.
        DomainError: outside the axis, or one twice.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise ShapeError(name, "one axis of indices", f"shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise DtypeError(
            name,
            "integers",
            f"dtype {array.dtype}",
            "turn a mask into indices with numpy.flatnonzero",
        )
    indices = np.array([position(name, index, size) for index in array.tolist()], dtype=np.intp)
    if len(set(indices.tolist())) < len(indices):
        raise DomainError(name, "each index once", str(array.tolist()))
    return indices


def tolerance(name: str, value: float | None) -> float | None:
    """A rank tolerance: None, or a number in [0, 1).

    Raises:
        DomainError: it is none of these.
    """
    if value is not None and not 0 <= value < 1:
        raise DomainError(name, "a number in [0, 1)", repr(value))
    return value


def same_axis(first: str, length: int, second: str, other: int) -> None:
    """Check that two arguments agree on an axis.

    Raises:
        ShapeError: they don't.
    """
    if length != other:
        raise ShapeError(second, f"an axis of {length} as in {first}", f"{other}")


def common_batch(**parts: tuple[NDArray[Any] | np.generic, int]) -> tuple[int, ...]:
    """The common batch shape of arguments, each with its number of core axes.

    Raises:
        ShapeError: the batch axes don't broadcast.
    """
    shapes = {name: array.shape[: array.ndim - core] for name, (array, core) in parts.items()}
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError as error:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(next(iter(parts)), "batch axes that broadcast", listed) from error


def sums_to_one(name: str, values: Floats) -> Floats:
    """The values, whose last axis sums to one up to rounding.

    Raises:
        DomainError: it does not.
    """
    off = np.abs(values.sum(axis=-1) - 1)
    allowed = float(np.sqrt(np.finfo(values.dtype).eps))
    if (off > allowed).any():
        raise DomainError(
            name,
            "a last axis that sums to 1",
            f"a sum off by {float(off.max()):.3g}",
            "divide by the sum",
        )
    return values


def labels(name: str, value: ArrayLike) -> NDArray[Any]:
    """Labels of the blocks of a partition, one a point: anything that can be compared.

    Raises:
        ShapeError: no axis of points.
        NonFiniteError: NaN, which equals nothing.
    """
    array = np.asarray(value)
    if array.ndim < 1:
        raise ShapeError(name, "at least 1 axes", f"shape {array.shape}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise NonFiniteError(name, "labels that equal themselves", "nan")
    return array
