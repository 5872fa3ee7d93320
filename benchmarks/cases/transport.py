"""Cases of the flow's velocity and of the factor of a deviation."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from scipy.special import wrightomega

from benchmarks.cases import flow
from benchmarks.cases.case import Arguments, Case, Generator, Instance, log_uniform
from benchmarks.cases.digits import mp
from benchmarks.cases.exact import exact

Array = np.ndarray


# ---------------------------------------------------------------- instances


def _scaled(low: float, high: float) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        return {
            "beta": log_uniform(rng, low / 2, high / 2, count),
            "variance": log_uniform(rng, low / 2, high / 2, count),
        }

    return drawn


def _slope_limits(rng: np.random.Generator, count: int) -> Arguments:
    off = rng.integers(0, 2, count)
    given = _scaled(-3, 3)(rng, count)
    return {name: np.where(off == k, 0, value) for k, (name, value) in enumerate(given.items())}


_SLOPES = {"typical": _scaled(-3, 3), "huge": _scaled(3, 100), "limits": _slope_limits}


# ---------------------------------------------------------------- references


def slope_appendix_clock(instance: Instance) -> list[Any]:
    beta, variance = exact(instance["beta"]), exact(instance["variance"])
    return [-1 / (1 + beta * variance)]


def slope_main_clock(instance: Instance) -> list[Any]:
    return [exact(instance["beta"]) * slope_appendix_clock(instance)[0]]


def _factor(beta: Any, lambda0: Any, theta: Any) -> Any:
    """The root of the ratio of variances, each from the invariant's root."""
    if lambda0 == 0 or beta == 0:
        return mpmath.exp(-theta)
    return mpmath.sqrt(flow.flowed(beta, lambda0, theta) / lambda0)


def factor_appendix_clock(instance: Instance) -> list[Any]:
    return [_factor(*mp(instance, "beta", "lambda0", "theta"))]


def factor_main_clock(instance: Instance) -> list[Any]:
    beta, lambda0, time = mp(instance, "beta", "lambda0", "time")
    return [_factor(beta, lambda0, beta * time)]


# ---------------------------------------------------------------- by hand


def slope_appendix_clock_by_hand(beta: Array, variance: Array) -> Array:
    return -1 / (1 + beta * variance)


def slope_main_clock_by_hand(beta: Array, variance: Array) -> Array:
    return -beta / (1 + beta * variance)


def _factor_by_hand(scaled: Array, exponent: Array) -> Array:
    """exp((exponent - omega)/2): right where lambda is 0, but it cancels where beta is large."""
    omega = np.where(scaled > 0, wrightomega(exponent + np.log(np.where(scaled > 0, scaled, 1))), 0)
    return np.exp((exponent - omega) / 2)


def factor_appendix_clock_by_hand(beta: Array, lambda0: Array, theta: Array) -> Array:
    return _factor_by_hand(beta * lambda0, beta * lambda0 - 2 * theta)


def factor_main_clock_by_hand(beta: Array, lambda0: Array, time: Array) -> Array:
    return _factor_by_hand(beta * lambda0, beta * (lambda0 - 2 * time))


CASES = {
    "slope_appendix_clock": Case(
        _SLOPES,
        slope_appendix_clock,
        slope_appendix_clock_by_hand,
        exact=True,
        rational="typical",
        exchangeable=("beta", "variance"),
    ),
    "slope_main_clock": Case(
        _SLOPES, slope_main_clock, slope_main_clock_by_hand, exact=True, rational="typical"
    ),
    "factor_appendix_clock": Case(
        flow.CASES["eigenvalue_appendix_clock"].regimes,
        factor_appendix_clock,
        factor_appendix_clock_by_hand,
        exchangeable=("beta", "lambda0"),
    ),
    "factor_main_clock": Case(
        flow.CASES["eigenvalue_main_clock"].regimes, factor_main_clock, factor_main_clock_by_hand
    ),
}
