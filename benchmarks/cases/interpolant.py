"""Cases of the interpolant whose flow ends where it began."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from benchmarks.cases.case import Arguments, Case, Generator, Instance, log_uniform
from benchmarks.cases.digits import mp
from benchmarks.cases.exact import exact

Array = np.ndarray


# ---------------------------------------------------------------- instances


def _typical(rng: np.random.Generator, count: int) -> Arguments:
    return {"t": rng.uniform(0, 1, count)}


def _at_the_ends(rng: np.random.Generator, count: int) -> Arguments:
    which = rng.integers(0, 3, count)
    near, tiny = log_uniform(rng, -16, -3, count), log_uniform(rng, -300, -16, count)
    return {"t": np.where(which == 0, near, np.where(which == 1, 1 - near, tiny))}


def _in_the_middle(rng: np.random.Generator, count: int) -> Arguments:
    return {"t": 0.5 + rng.choice([-1, 1], count) * log_uniform(rng, -16, -6, count)}


def _limits(rng: np.random.Generator, count: int) -> Arguments:
    return {"t": rng.choice([0.0, 0.5, 1.0], count)}


_TIMES = {
    "typical": _typical,
    "ends": _at_the_ends,
    "middle": _in_the_middle,
    "limits": _limits,
}


def _in_a_subspace(generator: Generator) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        width = rng.integers(1, 10, count)
        rank = np.minimum(rng.integers(0, 10, count), width)
        return {**generator(rng, count), "n": width * 1.0, "r": rank * 1.0}

    return drawn


# ---------------------------------------------------------------- references


def drift(instance: Instance) -> list[Any]:
    """Regression of E - X on (1 - t) X + t E: its slope, and the variance that it explains."""
    t = exact(instance["t"])
    spread, common = (1 - t) ** 2 + t**2, t - (1 - t)
    return [common / spread, common * common / spread]


def path(instance: Instance) -> list[Any]:
    """The root itself, at more digits than the gap loses."""
    (t,) = mp(instance, "t")
    with mpmath.workdps(mpmath.mp.dps + 320):
        root = mpmath.sqrt((1 - t) ** 2 + t**2)
        return [root, 1 - root]


def regression_floor(instance: Instance) -> list[Any]:
    """Two for each coordinate, less what the regression explains of those in the subspace."""
    t, width, rank = (exact(instance[name]) for name in ("t", "n", "r"))
    return [2 * width - rank * (2 * t - 1) ** 2 / ((1 - t) ** 2 + t**2)]


# ---------------------------------------------------------------- by hand


def drift_by_hand(t: Array) -> tuple[Array, Array]:
    spread, common = (1 - t) ** 2 + t**2, 2 * t - 1
    return common / spread, common**2 / spread


def path_by_hand(t: Array) -> tuple[Array, Array]:
    root = np.sqrt((1 - t) ** 2 + t**2)
    return root, 2 * t * (1 - t) / (1 + root)


def regression_floor_by_hand(t: Array, n: Array, r: Array) -> Array:
    return 2 * (n - r) + r / ((1 - t) ** 2 + t**2)


CASES = {
    "drift": Case(_TIMES, drift, drift_by_hand, exact=True),
    "path": Case(_TIMES, path, path_by_hand),
    "regression_floor": Case(
        {name: _in_a_subspace(generator) for name, generator in _TIMES.items()},
        regression_floor,
        regression_floor_by_hand,
        exact=True,
    ),
}
