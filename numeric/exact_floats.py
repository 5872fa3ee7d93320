"""Sums and products of floats together with what rounding took off them.

Both are error-free transformations: leading part and rest add up to the exact result (for products
unless the rest underflows). NumPy's work is mostly done in place, since what these cost is memory.
"""

from __future__ import annotations

import numpy as np

from numeric.namespace import Array, Namespace, is_exact

# An integer type of the same width, and a mask that keeps the upper half of the significand.
_HALVES = {
    np.dtype(np.float64): (np.int64, ~((1 << 27) - 1)),
    np.dtype(np.float32): (np.int32, ~((1 << 12) - 1)),
}
_SHIFT = 2.0**-30  # for factors that the multiplication below would let overflow


def two_sum(xp: Namespace, left: Array, right: Array) -> tuple[Array, Array]:
    """The rounded sum and the rest (Knuth).

    Example:
        >>> two_sum(np, np.float64(1.0), np.float64(1e-20))
        (np.float64(1.0), np.float64(1e-20))
    """
    if is_exact(xp):
        return left + right, 0 * (left + right)
    if xp is not np:
        total = left + right
        taken = total - left
        return total, (left - (total - taken)) + (right - taken)
    total = np.asarray(left + right)
    taken = np.asarray(total - left)
    rest = np.asarray(total - taken)
    np.subtract(left, rest, out=rest)
    np.subtract(right, taken, out=taken)
    rest += taken
    return total[()], rest[()]


def two_product(xp: Namespace, left: Array, right: Array) -> tuple[Array, Array]:
    """The rounded product and the rest (Dekker, with halves cut so that none overflows).

    Example:
        >>> product, rest = two_product(np, np.float64(0.1), np.float64(10.0))
        >>> float(product), float(rest)
        (1.0, 5.551115123125783e-17)
    """
    if is_exact(xp):
        return left * right, 0 * (left * right)
    if xp is not np:
        product = left * right
        high_left, high_right = _rounded_half(xp, left), _rounded_half(xp, right)
        low_left, low_right = left - high_left, right - high_right
        rest = (high_left * high_right - product) + high_left * low_right
        return product, rest + low_left * high_right + low_left * low_right
    product = np.asarray(left * right)
    high_left, high_right = _upper_half(left), _upper_half(right)
    low_left, low_right = left - high_left, right - high_right
    rest = np.asarray(high_left * high_right)
    rest -= product
    part = np.asarray(high_left * low_right)
    rest += part
    np.multiply(low_left, high_right, out=part)
    rest += part
    np.multiply(low_left, low_right, out=part)
    rest += part
    return product[()], rest[()]


def _upper_half(values: Array) -> Array:
    floats = np.asarray(values)
    integer, mask = _HALVES[floats.dtype]
    return (floats.view(integer) & integer(mask)).view(floats.dtype)


def _rounded_half(xp: Namespace, values: Array) -> Array:
    """The upper half of the significand of numbers up to half the largest float (Veltkamp)."""
    finfo = xp.finfo(values.dtype)
    bits = 27 if finfo.bits == 64 else 12
    huge = xp.abs(values) > float(finfo.max) * _SHIFT
    scaled = xp.where(huge, values * _SHIFT, values)
    spread = scaled * float(2**bits + 1)
    half = spread - (spread - scaled)
    return xp.where(huge, half / _SHIFT, half)
