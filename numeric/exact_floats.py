"""Sums and products of floats together with what rounding took off them. NumPy only.

Both are error-free transformations: leading part and rest add up to the exact result (for products
unless the rest underflows). Most work is done in place, since what these cost is memory.
"""

from __future__ import annotations

import numpy as np

from numeric.namespace import Array

# An integer type of the same width, and a mask that keeps the upper half of the significand.
_HALVES = {
    np.dtype(np.float64): (np.int64, ~((1 << 27) - 1)),
    np.dtype(np.float32): (np.int32, ~((1 << 12) - 1)),
}


def two_sum(left: Array, right: Array) -> tuple[Array, Array]:
    """The rounded sum and the rest (Knuth).

    Example:
        >>> two_sum(np.float64(1.0), np.float64(1e-20))
        (np.float64(1.0), np.float64(1e-20))
    """
    total = np.asarray(left + right)
    taken = np.asarray(total - left)
    rest = np.asarray(total - taken)
    np.subtract(left, rest, out=rest)
    np.subtract(right, taken, out=taken)
    rest += taken
    return total[()], rest[()]


def two_product(left: Array, right: Array) -> tuple[Array, Array]:
    """The rounded product and the rest (Dekker, with halves cut by a mask so none overflows).

    Example:
        >>> product, rest = two_product(np.float64(0.1), np.float64(10.0))
        >>> float(product), float(rest)
        (1.0, 5.551115123125783e-17)
    """
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
