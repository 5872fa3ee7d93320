"""Infinitely many particles on a line, as a weighted grid of few."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numeric import door
from numeric.errors import DomainError
from numeric.kernels import logratio as kernels


def weighted_grid(
    log_density: Callable[[door.Floats], door.Floats], lower: float, upper: float, nodes: int
) -> tuple[door.Floats, door.Floats]:
    """Tokens and weights that stand for a law on a line: pass both to `refine` or `flow`.

    The kernel sums are then trapezoidal sums of analytic functions, exact to rounding once the
    spacing is small beside the law and the bandwidth, and the ends are far in its tails.

    Args:
        log_density: logarithm of the noisy tokens' density, up to a constant, on an array.
        lower, upper: ends of the grid.
        nodes: number of nodes, at least 2.

    Returns:
        tokens ``(n, 1)`` and weights ``(n,)`` with sum 1.

    Raises:
        DomainError: the ends are not in order, too few nodes, or a density that is zero all over.
        NonFiniteError: a log density is NaN, or an end is not finite.

    Source: EB-57. Kernel: `logratio.row`.

    Example:
        >>> x, w = weighted_grid(lambda x: -x**2 / 2, -9, 9, 200)
        >>> round(float(w @ x[:, 0] ** 2), 12)
        1.0
    """
    ends = door.real("lower and upper", [lower, upper])
    if not ends[0] < ends[1]:
        raise DomainError("upper", f"a number above lower = {lower:g}", f"{upper:g}")
    if nodes < 2:
        raise DomainError("nodes", "at least 2", str(nodes))
    places = np.linspace(ends[0], ends[1], nodes)
    logs = door.real("log_density(x)", log_density(places), 1, finite=False)
    door.same_axis("x", nodes, "log_density(x)", logs.shape[-1])
    top = logs.max()
    if not np.isfinite(top):
        raise DomainError("log_density(x)", "a largest value that is finite", f"{top:g}")
    with np.errstate(under="ignore"):  # far in the tails
        return places[:, None], kernels.row(logs)
