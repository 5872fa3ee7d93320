"""Roots of scalar equations that SciPy has no function for, entry by entry.

Each starts from a formula that is right to a few digits everywhere on its domain, so that a fixed
number of steps is enough: no loop waits for the slowest entry. Large NumPy arrays are gone through
in blocks, whose temporaries stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import factorial

import numpy as np

from numeric.namespace import Array, Namespace

_BLOCK = 8192  # entries


def _blockwise(root: Callable[..., Array]) -> Callable[..., Array]:
    """The same function, entry by entry, of large NumPy arrays in blocks."""

    @wraps(root)
    def in_blocks(xp: Namespace, *arrays: Array) -> Array:
        if xp is not np:
            return root(xp, *arrays)
        shape = np.broadcast_shapes(*map(np.shape, arrays))
        size = int(np.prod(shape))
        if size <= _BLOCK:
            return root(xp, *arrays)
        flat = [np.broadcast_to(array, shape).reshape(-1) for array in arrays]
        result = np.empty(size, dtype=np.result_type(*arrays))
        for start in range(0, size, _BLOCK):
            block = slice(start, start + _BLOCK)
            result[block] = root(xp, *(array[block] for array in flat))
        return result.reshape(shape)

    return in_blocks


@_blockwise
def wright_omega(xp: Namespace, x: Array) -> Array:
    """The root y of ``y + log(y) = x``: Lambert's W of exp(x), also where exp(x) overflows.

    Args:
        xp: array namespace.
        x: real and finite, or -infinity, where the value is 0.

    Returns:
        the root, at least 0, to a few units in its last place; 0 where it underflows.

    Source: Winitzki (2003) for the start.

    Example:
        >>> import numpy as np
        >>> y = wright_omega(np, np.array([-700.0, 1.0, 1e4]))
        >>> np.round(y + np.log(y), 10)
        array([-7.e+02,  1.e+00,  1.e+04])
    """
    # exp(x - y) as a product with exp(min(x, 0)), so that no large negative exponent is rounded.
    shrunk = xp.exp(-xp.abs(x))
    negative = x < 0
    above = xp.where(negative, 0, x)
    factor = xp.where(negative, shrunk, 1)
    level = above + xp.log1p(shrunk)  # log(1 + exp(x))
    y = level - level * (xp.log1p(level) / (2 + level))  # off by 2 percent at most
    for _ in range(2):  # Halley's method for y = exp(x - y)
        grown = factor * xp.exp(above - y)
        residual = y - grown
        y = y - residual / (1 + grown + residual * (grown / (2 + 2 * grown)))
    return y


@_blockwise
def linear_log_root(xp: Namespace, slope: Array, level: Array) -> Array:
    """The root x of ``slope*x + log1p(x) = level``, between 0 and 1.

    Args:
        xp: array namespace.
        slope: at least 0.
        level: at least 0 and at most ``slope + log(2)``.

    Returns:
        the root, to a few units in its last place, also where it is tiny.

    Example:
        >>> import numpy as np
        >>> x = linear_log_root(np, np.float64(1e6), np.float64(0.5))
        >>> float(1e6 * x + np.log1p(x))
        0.5
    """
    # To second order in the level; off by 7 percent at slope 0 and level log(2), less elsewhere.
    first = level / (1 + slope)
    x = first * (1 + first / (2 + 2 * slope))
    for _ in range(2):  # Halley's method: 7e-2, 6e-6, 3e-17
        residual = slope * x + xp.log1p(x) - level
        tangent = slope + 1 / (1 + x)
        x = x - residual / (tangent + residual / (2 * tangent * (1 + x) ** 2))
    return x


# W(1/e), where u/(1 + exp(-u)) is least, with what rounding takes off it.
FOLD, FOLD_REST = 0.2784645427610738, -1.5523606315812798e-18
# (k - 1)/k! for k from 2 to 18.
_RISE = tuple((k - 1) / factorial(k) for k in range(2, 19))


@_blockwise
def principal_rise(xp: Namespace, eta: Array) -> Array:
    """1 + W(x), W the principal branch of Lambert's function at ``x = eta*exp(-eta)``.

    Args:
        xp: array namespace.
        eta: at least ``-W(1/e)``, where the value is 0.

    Returns:
        the value, at least 0, to a few units in its last place, also where it is tiny.

    Example:
        >>> import numpy as np
        >>> float(principal_rise(np, np.float64(0.0)))
        1.0
    """
    near, close = _near_the_fold(xp, eta, 1)
    x = xp.where(near, 0, eta * xp.exp(-eta))
    w = x * (1 + x * (4 / 3)) / (1 + x * (7 / 3 + x * (5 / 6)))
    for _ in range(3):  # Halley's method for w exp(w) = x, from 3e-2 or less
        grown = xp.exp(w)
        residual = w * grown - x
        w = w - residual / (grown * (w + 1) - residual * (w + 2) / (2 * w + 2))
    return xp.where(near, close, 1 + w)


@_blockwise
def lower_rise(xp: Namespace, eta: Array) -> Array:
    """1 + W(x), W the branch -1 of Lambert's function at ``x = eta*exp(-eta)``.

    Args:
        xp: array namespace.
        eta: at least ``-W(1/e)``, where the value is 0, and below 0, where it goes to -infinity.

    Returns:
        the value, at most 0, to a few units in its last place, also where it is tiny.

    Example:
        >>> import numpy as np
        >>> round(float(lower_rise(np, np.float64(-0.2))), 12)
        -1.196138506076
    """
    near, close = _near_the_fold(xp, eta, -1)
    away = xp.where(near | (eta >= 0), -0.1, eta)
    level = away - xp.log(-away)
    root = xp.sqrt(2 * (level - 1))
    v = 1 + root + root**2 / 3
    for _ in range(4):  # Newton's method for v - log(v) = level, in which -W = v
        v = v - (v - xp.log(v) - level) * v / (v - 1)
    return xp.where(near, close, 1 - v)


def _near_the_fold(xp: Namespace, eta: Array, sign: int) -> tuple[Array, Array]:
    """Where eta is near -W(1/e), and there 1 + W on the branch with the sign.

    The distance d to the fold is exact; with q = 1 + e*x from it, 1 + W solves a series that
    starts with a square, so that its small root keeps its digits.
    """
    fold = xp.asarray(FOLD, dtype=eta.dtype)
    distance = (eta + fold) + ((FOLD - float(fold)) + FOLD_REST)
    near = distance < 1 / 100
    d = xp.where(near & (distance > 0), distance, 0)
    shrunk = xp.exp(-d)
    q = d / FOLD * shrunk - xp.expm1(-d)
    p = sign * xp.sqrt(2 * q)
    rise = p * (1 - p * (1 / 3 - p * (11 / 72 - p * (43 / 540))))
    for _ in range(2):  # Halley's method for 1 - (1 - D) exp(D) = q, from 1e-4 relative or less
        series = 0 * rise + _RISE[-1]
        for coefficient in _RISE[-2::-1]:
            series = series * rise + coefficient
        grown = xp.exp(rise)
        slope = xp.where(rise == 0, 1, rise * grown)
        residual = series * rise**2 - q
        rise = rise - residual / (slope - residual * (1 + rise) * grown / (2 * slope))
    return near, rise
