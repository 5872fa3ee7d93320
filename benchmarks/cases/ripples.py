"""Cases of the growth rate of a ripple."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from benchmarks.cases.case import Arguments, Case, Generator, Instance, log_uniform
from benchmarks.cases.digits import mp

Array = np.ndarray


def _ripples(low: float, high: float) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        beta = log_uniform(rng, -2, 2, count)
        return {"k2": beta * log_uniform(rng, low, high, count), "beta": beta}

    return drawn


def _no_ripple(rng: np.random.Generator, count: int) -> Arguments:
    return {"k2": np.zeros(count), "beta": log_uniform(rng, -2, 2, count)}


_REGIMES = {
    "typical": _ripples(-3, 1),
    "long": _ripples(-300, -3),
    "short": _ripples(1, 3.1),
    "limits": _no_ripple,
}


def growth_rate_main_clock(instance: Instance) -> list[Any]:
    k2, beta = mp(instance, "k2", "beta")
    return [k2 * mpmath.exp(-k2 / (2 * beta))]


def growth_rate_appendix_clock(instance: Instance) -> list[Any]:
    (beta,) = mp(instance, "beta")
    return [growth_rate_main_clock(instance)[0] / beta]


def growth_rate_main_clock_by_hand(k2: Array, beta: Array) -> Array:
    return k2 * np.exp(-k2 / (2 * beta))


def growth_rate_appendix_clock_by_hand(k2: Array, beta: Array) -> Array:
    return k2 / beta * np.exp(-k2 / (2 * beta))


CASES = {
    "growth_rate_main_clock": Case(
        _REGIMES, growth_rate_main_clock, growth_rate_main_clock_by_hand
    ),
    "growth_rate_appendix_clock": Case(
        _REGIMES, growth_rate_appendix_clock, growth_rate_appendix_clock_by_hand
    ),
}
