"""Cases of what the flow leaves undone at its nominal end."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from mpmath import mpf
from scipy.special import wrightomega

from benchmarks.cases.case import Arguments, Case, Generator, Instance, log_uniform
from benchmarks.cases.depth import variance_limits, variances
from benchmarks.cases.digits import mp
from benchmarks.cases.exact import exact

Array = np.ndarray


# ---------------------------------------------------------------- instances


def _bandwidths(
    s: tuple[float, float], ratio: tuple[float, float], scaled: tuple[float, float]
) -> Generator:
    """beta as a multiple of 1/(s + sigma2)."""

    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        given = variances(s, ratio)(rng, count)
        beta = log_uniform(rng, *scaled, count) / (given["s"] + given["sigma2"])
        return {"beta": beta, **given}

    return drawn


def _independent(rng: np.random.Generator, count: int) -> Arguments:
    return {name: log_uniform(rng, -2, 2, count) for name in ("beta", "s", "sigma2")}


def _tiny(rng: np.random.Generator, count: int) -> Arguments:
    given = variances((-100, -1), (-3, 3))(rng, count)
    return {"beta": log_uniform(rng, -200, -4, count), **given}


def _singular(rng: np.random.Generator, count: int) -> Arguments:
    sigma2 = log_uniform(rng, -2, 2, count)
    s = np.where(rng.integers(0, 2, count) == 0, 0, sigma2 * log_uniform(rng, -300, -10, count))
    return {"beta": log_uniform(rng, -2, 15, count), "s": s, "sigma2": sigma2}


def _limits(rng: np.random.Generator, count: int) -> Arguments:
    off = rng.integers(0, 3, count)
    given = _independent(rng, count)
    return {name: np.where(off == k, 0, value) for k, (name, value) in enumerate(given.items())}


def _no_noise(generator: Generator) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        given = generator(rng, count)
        return {**given, "sigma2": 0 * given["sigma2"]}

    return drawn


_BOUNDS = {
    "typical": _independent,
    "near": _bandwidths((-1, 1), (-300, -3), (-2, 2)),
    "huge": _bandwidths((-2, 2), (-2, 0), (3, 6)),
    "limits": _no_noise(_independent),
}


def _left(generator: Generator, share: tuple[float, float], of: str = "sigma2") -> Generator:
    """What is left as a multiple of the noise, or of the clean eigenvalue."""

    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        given = generator(rng, count)
        return {"excess": given[of] * log_uniform(rng, *share, count), **given}

    return drawn


def _left_limits(rng: np.random.Generator, count: int) -> Arguments:
    given = variance_limits(rng, count)
    left = given["sigma2"] * rng.uniform(0, 1, count) * rng.integers(0, 2, count)
    return {"excess": left, **given}


_SHARES = {
    "typical": _left(variances((-3, 3), (-3, 3)), (-3, 0)),
    "tiny": _left(variances((-290, -210), (-3, 3)), (-3, 0)),
    "recovered": _left(variances((-2, 2), (-2, 2)), (-100, -10), "s"),
    "limits": _left_limits,
}


def _without_noise(generator: Generator) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        given = generator(rng, count)
        return {"excess": given["excess"], "s": given["s"]}

    return drawn


# ---------------------------------------------------------------- references


def left_above(beta: mpf, s: mpf, sigma2: mpf) -> mpf:
    """The root Delta in [0, sigma2] of beta*Delta = log((s + sigma2)/(s + Delta)).

    Bisected in log Delta, since the root may be many orders below sigma2; then Newton's steps,
    which climb from below without passing the root, for the difference of the sides is convex.
    """
    if sigma2 == 0 or beta == 0:
        return sigma2
    small = mpf(10) ** -(mpmath.mp.dps + 10)
    # The logarithm of a number near 1 loses as many digits as sigma2 or Delta lie below s.
    lost = mpmath.log10(2 * (s + sigma2) / sigma2) + mpmath.log10(1 + beta * (s + sigma2))
    with mpmath.workdps(mpmath.mp.dps + 30 + int(lost)):
        start = s + sigma2
        low, high = mpmath.log(sigma2) - 2000, mpmath.log(sigma2)

        def above(x: mpf) -> bool:
            delta = mpmath.exp(x)
            return beta * delta > mpmath.log(start / (s + delta))

        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if above(middle) else (middle, high)
        delta = mpmath.exp(low)
        while True:
            value = mpmath.log(start / (s + delta)) - beta * delta
            step = value / (beta + 1 / (s + delta))
            delta += step
            if abs(step) <= small * delta:
                return delta


def excess(instance: Instance) -> list[Any]:
    return [left_above(*mp(instance, "beta", "s", "sigma2"))]


def _ell(s: mpf, sigma2: mpf) -> mpf:
    with mpmath.workdps(mpmath.mp.dps + 700):
        return mpmath.log((s + sigma2) / s)


def excess_bounds(instance: Instance) -> list[Any]:
    beta, s, sigma2 = mp(instance, "beta", "s", "sigma2")
    ell = _ell(s, sigma2)
    return [s * ell / (1 + beta * s), ell / beta]


def expansion(instance: Instance) -> list[Any]:
    """Terms of the series by iteration of Delta = (ell - log(1 + Delta/s))/beta, truncated."""
    beta, s, sigma2 = mp(instance, "beta", "s", "sigma2")
    ell = _ell(s, sigma2)
    return [ell / beta - ell / (s * beta**2) + ell * (2 + ell) / (2 * s**2 * beta**3)]


def slope_error(instance: Instance) -> list[Any]:
    left, s, sigma2 = (exact(instance[name]) for name in ("excess", "s", "sigma2"))
    return [(s + left) / (s + left + sigma2) - s / (s + sigma2)]


def slope_error_bound(instance: Instance) -> list[Any]:
    beta, s, sigma2 = mp(instance, "beta", "s", "sigma2")
    return [sigma2 * _ell(s, sigma2) / (beta * (s + sigma2) ** 2)]


def mean_square_error(instance: Instance) -> list[Any]:
    """The risks of the two linear estimates themselves."""
    left, s, sigma2 = (exact(instance[name]) for name in ("excess", "s", "sigma2"))

    def risk(slope: Any) -> Any:
        return (1 - slope) ** 2 * s + slope**2 * sigma2

    best = risk(s / (s + sigma2))
    return [best, risk((s + left) / (s + left + sigma2)) - best]


def deviation_gap(instance: Instance) -> list[Any]:
    left, s = mp(instance, "excess", "s")
    with mpmath.workdps(mpmath.mp.dps + 200):
        return [mpmath.sqrt(s + left) - mpmath.sqrt(s)]


# ---------------------------------------------------------------- by hand


def excess_by_hand(beta: Array, s: Array, sigma2: Array) -> Array:
    """Wright omega for a start, then Newton's method on the equation that does not cancel."""
    scaled, ell = beta * s, np.log1p(sigma2 / s)
    u = np.maximum(wrightomega(scaled + np.log(beta * (s + sigma2))) - scaled, 0)
    for _ in range(2):
        u = u - (u + np.log1p(u / scaled) - ell) / (1 + 1 / (scaled + u))
    return u / beta


def excess_bounds_by_hand(beta: Array, s: Array, sigma2: Array) -> tuple[Array, Array]:
    ell = np.log1p(sigma2 / s)
    return s * ell / (1 + beta * s), ell / beta


def expansion_by_hand(beta: Array, s: Array, sigma2: Array) -> Array:
    ell = np.log1p(sigma2 / s)
    return ell / beta - ell / (s * beta**2) + ell * (2 + ell) / (2 * s**2 * beta**3)


def slope_error_by_hand(excess: Array, s: Array, sigma2: Array) -> Array:
    return sigma2 * excess / ((s + sigma2) * (s + sigma2 + excess))


def slope_error_bound_by_hand(beta: Array, s: Array, sigma2: Array) -> Array:
    total = s + sigma2  # whose square may underflow
    return sigma2 / total * np.log1p(sigma2 / s) / beta / total


def mean_square_error_by_hand(excess: Array, s: Array, sigma2: Array) -> tuple[Array, Array]:
    error = slope_error_by_hand(excess, s, sigma2)
    return s * sigma2 / (s + sigma2), (s + sigma2) * error**2


def deviation_gap_by_hand(excess: Array, s: Array) -> Array:
    return excess / np.where(excess > 0, np.sqrt(s + excess) + np.sqrt(s), 1)


CASES = {
    "excess": Case(
        {
            "typical": _bandwidths((-2, 2), (-2, 2), (-2, 2)),
            "tiny": _tiny,
            "huge": _bandwidths((-2, 2), (-2, 0), (3, 15)),
            "small_noise": _bandwidths((-2, 2), (-290, -10), (-2, 4)),
            "singular": _singular,
            "limits": _limits,
        },
        excess,
        excess_by_hand,
        count=40,
    ),
    "excess_bounds": Case(_BOUNDS, excess_bounds, excess_bounds_by_hand),
    "expansion": Case(
        {
            "typical": _bandwidths((-2, 2), (-2, 0), (1, 3)),
            "near": _bandwidths((-1, 1), (-290, -3), (1, 3)),
            "huge": _bandwidths((-2, 2), (-2, 0), (4, 100)),
            "limits": _no_noise(_bandwidths((-2, 2), (-2, 0), (1, 3))),
        },
        expansion,
        expansion_by_hand,
    ),
    "slope_error": Case(_SHARES, slope_error, slope_error_by_hand, exact=True, rational="typical"),
    "slope_error_bound": Case(
        {**_BOUNDS, "tiny": _bandwidths((-290, -210), (-3, 3), (-2, 2))},
        slope_error_bound,
        slope_error_bound_by_hand,
    ),
    "mean_square_error": Case(
        _SHARES, mean_square_error, mean_square_error_by_hand, exact=True, rational="typical"
    ),
    "deviation_gap": Case(
        {name: _without_noise(generator) for name, generator in _SHARES.items()},
        deviation_gap,
        deviation_gap_by_hand,
    ),
}
