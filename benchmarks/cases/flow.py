"""Cases of the covariance flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf
from scipy.special import wrightomega

from benchmarks.cases.case import Arguments, Case, Generator, Instance, log_uniform
from benchmarks.cases.digits import mp

Array = np.ndarray


# ---------------------------------------------------------------- instances


def _flow_typical(rng: np.random.Generator, count: int) -> Arguments:
    lambda0 = log_uniform(rng, -1.5, 1.5, count)
    scaled = log_uniform(rng, -3, 3, count)
    return {
        "beta": scaled / lambda0,
        "lambda0": lambda0,
        "theta": rng.uniform(0, 1, count) * scaled,
    }


def _flow_tiny(rng: np.random.Generator, count: int) -> Arguments:
    exponent = rng.uniform(-320, -3, count)
    share = rng.uniform(0.3, 0.7, count)
    return {
        "beta": 10 ** (exponent * share),
        "lambda0": 10 ** (exponent * (1 - share)),
        "theta": rng.uniform(0, 3, count),
    }


def _flow_huge(rng: np.random.Generator, count: int) -> Arguments:
    lambda0 = log_uniform(rng, -1, 3, count)
    scaled = log_uniform(rng, 3, 6, count)
    return {
        "beta": scaled / lambda0,
        "lambda0": lambda0,
        "theta": rng.uniform(0, 0.45, count) * scaled,
    }


def _flow_cancelling(rng: np.random.Generator, count: int) -> Arguments:
    lambda0 = log_uniform(rng, -1, 3, count)
    scaled = log_uniform(rng, 0, 6, count)
    return {
        "beta": scaled / lambda0,
        "lambda0": lambda0,
        "theta": np.maximum(scaled + rng.uniform(-30, 30, count), 0) / 2,
    }


def _flow_limits(rng: np.random.Generator, count: int) -> Arguments:
    off = rng.integers(0, 3, count)
    return {
        "beta": np.where(off == 0, 0, log_uniform(rng, -2, 2, count)),
        "lambda0": np.where(off == 1, 0, log_uniform(rng, -2, 2, count)),
        "theta": np.where(off == 2, 0, rng.uniform(0, 5, count)),
    }


def _on_main_clock(generator: Generator) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        arguments = generator(rng, count)
        theta, beta = arguments.pop("theta"), arguments["beta"]
        return {**arguments, "time": theta / np.where(beta > 0, beta, 1)}

    return drawn


def _flow(clock: Callable[[Generator], Generator]) -> dict[str, Generator]:
    return {
        "typical": clock(_flow_typical),
        "tiny": clock(_flow_tiny_times) if clock is _on_main_clock else _flow_tiny,
        "huge": clock(_flow_huge),
        "cancelling": clock(_flow_cancelling),
        "limits": clock(_flow_limits),
    }


def _flow_tiny_times(rng: np.random.Generator, count: int) -> Arguments:
    arguments = _flow_tiny(rng, count)
    return {**arguments, "theta": arguments["theta"] * arguments["beta"]}


def _times(s: tuple[float, float], ratio: tuple[float, float]) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        base = log_uniform(rng, *s, count)
        with np.errstate(over="ignore", under="ignore"):
            sigma2 = np.clip(base * log_uniform(rng, *ratio, count), 1e-305, 1e5)
        return {"beta": log_uniform(rng, -3, 3, count), "s": base, "sigma2": sigma2}

    return drawn


def _time_limits(rng: np.random.Generator, count: int) -> Arguments:
    return {
        "beta": log_uniform(rng, -3, 3, count),
        "s": np.where(rng.integers(0, 2, count) == 0, 0, log_uniform(rng, -2, 2, count)),
        "sigma2": np.where(rng.integers(0, 2, count) == 0, 0, log_uniform(rng, -2, 2, count)),
    }


_TIMES = {
    "typical": _times((-3, 3), (-3, 3)),
    "near": _times((-1, 1), (-300, -3)),
    "far": _times((-320, -3), (3, 320)),
    "limits": _time_limits,
}


def _terminal(low: float, high: float) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        s = log_uniform(rng, -2, 2, count)
        return {
            "beta": log_uniform(rng, low, high, count) / s,
            "s": s,
            "sigma2": log_uniform(rng, -2, 2, count),
        }

    return drawn


def _terminal_tiny(rng: np.random.Generator, count: int) -> Arguments:
    arguments = _flow_tiny(rng, count)
    part = rng.uniform(0, 1, count)
    return {
        "beta": arguments["beta"],
        "s": arguments["lambda0"] * part,
        "sigma2": arguments["lambda0"] * (1 - part),
    }


def _terminal_limits(rng: np.random.Generator, count: int) -> Arguments:
    off = rng.integers(0, 3, count)
    return {
        name: np.where(off == which, 0, log_uniform(rng, -2, 2, count))
        for which, name in enumerate(("beta", "s", "sigma2"))
    }


# ---------------------------------------------------------------- references


def flowed(beta: mpf, lambda0: mpf, theta: mpf) -> mpf:
    """Solve log(lambda) + beta*lambda + 2*theta = log(lambda0) + beta*lambda0 by Newton's method.

    In u = log(lambda/lambda0) the left side is convex and increasing, so that the steps from
    u = 0 run down to the root without passing it.
    """
    if lambda0 == 0 or theta == 0:
        return lambda0
    scaled, u = beta * lambda0, mpf(0)
    small = mpf(10) ** (5 - mpmath.mp.dps)
    while True:
        decayed = scaled * mpmath.exp(u)
        step = (u + scaled * mpmath.expm1(u) + 2 * theta) / (1 + decayed)
        u -= step
        if abs(step) <= small * abs(u):
            return lambda0 * mpmath.exp(u)


def eigenvalue_appendix_clock(instance: Instance) -> list[Any]:
    return [flowed(*mp(instance, "beta", "lambda0", "theta"))]


def eigenvalue_main_clock(instance: Instance) -> list[Any]:
    beta, lambda0, time = mp(instance, "beta", "lambda0", "time")
    return [flowed(beta, lambda0, beta * time)]


def terminal_eigenvalue(instance: Instance) -> list[Any]:
    beta, s, sigma2 = mp(instance, "beta", "s", "sigma2")
    return [flowed(beta, s + sigma2, beta * sigma2 / 2)]


def denoising_time_appendix_clock(instance: Instance) -> list[Any]:
    beta, s, sigma2 = mp(instance, "beta", "s", "sigma2")
    if sigma2 == 0:
        return [mpf(0)]
    if s == 0:
        return [mpmath.inf]
    with mpmath.workdps(mpmath.mp.dps + 700):
        return [beta * sigma2 / 2 + mpmath.log((s + sigma2) / s) / 2]


def denoising_time_main_clock(instance: Instance) -> list[Any]:
    return [denoising_time_appendix_clock(instance)[0] / mpf(float(instance["beta"]))]


# ---------------------------------------------------------------- by hand


def _flowed_by_hand(beta: Array, lambda0: Array, scaled: Array, exponent: Array) -> Array:
    """W(scaled exp(exponent))/beta with the limit branch that keeps it finite at beta = 0."""
    y = np.where(scaled > 0, wrightomega(exponent + np.log(np.where(scaled > 0, scaled, 1))), 0)
    small = y < 1
    return np.where(small, lambda0 * np.exp(exponent - y), y / np.where(small, 1, beta))


def eigenvalue_appendix_clock_by_hand(beta: Array, lambda0: Array, theta: Array) -> Array:
    scaled = beta * lambda0
    return _flowed_by_hand(beta, lambda0, scaled, scaled - 2 * theta)


def eigenvalue_main_clock_by_hand(beta: Array, lambda0: Array, time: Array) -> Array:
    return _flowed_by_hand(beta, lambda0, beta * lambda0, beta * (lambda0 - 2 * time))


def terminal_eigenvalue_by_hand(beta: Array, s: Array, sigma2: Array) -> Array:
    return _flowed_by_hand(beta, s + sigma2, beta * (s + sigma2), beta * s)


def growth_by_hand(s: Array, sigma2: Array) -> Array:
    """log((s + sigma2)/s), also where the ratio overflows or a variance is 0."""
    growth = np.log1p(sigma2 / s)
    if not np.isfinite(growth).all():
        far = np.where(sigma2 > 0, np.log(sigma2) - np.log(s), 0)
        growth = np.where(np.isfinite(growth), growth, far)
    return growth


def denoising_time_appendix_clock_by_hand(beta: Array, s: Array, sigma2: Array) -> Array:
    return beta * sigma2 / 2 + growth_by_hand(s, sigma2) / 2


def denoising_time_main_clock_by_hand(beta: Array, s: Array, sigma2: Array) -> Array:
    return sigma2 / 2 + growth_by_hand(s, sigma2) / (2 * beta)


CASES = {
    "eigenvalue_appendix_clock": Case(
        _flow(lambda generator: generator),
        eigenvalue_appendix_clock,
        eigenvalue_appendix_clock_by_hand,
    ),
    "eigenvalue_main_clock": Case(
        _flow(_on_main_clock), eigenvalue_main_clock, eigenvalue_main_clock_by_hand
    ),
    "denoising_time_appendix_clock": Case(
        _TIMES, denoising_time_appendix_clock, denoising_time_appendix_clock_by_hand
    ),
    "denoising_time_main_clock": Case(
        _TIMES, denoising_time_main_clock, denoising_time_main_clock_by_hand
    ),
    "terminal_eigenvalue": Case(
        {
            "typical": _terminal(-2, 2),
            "tiny": _terminal_tiny,
            "huge": _terminal(3, 6),
            "limits": _terminal_limits,
        },
        terminal_eigenvalue,
        terminal_eigenvalue_by_hand,
    ),
}
