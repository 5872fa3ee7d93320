"""Roots of scalar equations that SciPy has no function for, entry by entry.

Each starts from a formula that is right to a few digits everywhere on its domain, so that a fixed
number of steps is enough: no loop waits for the slowest entry.
"""

from __future__ import annotations

from numeric.namespace import Array, Namespace


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
