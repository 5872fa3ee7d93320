"""Cases of the logits that a two-token output leaves open."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from mpmath import mpf
from scipy.special import lambertw

from benchmarks.cases.case import Arguments, Case, Instance, log_uniform
from benchmarks.cases.digits import mp

Array = np.ndarray


# ---------------------------------------------------------------- instances


def _typical(rng: np.random.Generator, count: int) -> Arguments:
    return {"eta": -rng.uniform(1e-3, 0.27, count)}


def _at_the_fold(rng: np.random.Generator, count: int) -> Arguments:
    """Outputs whose distance to the fold is uniform in the exponent, from one rounding on."""
    return {"eta": log_uniform(rng, -15.5, -2, count) - 0.2784645427610738}


def _tiny(rng: np.random.Generator, count: int) -> Arguments:
    return {"eta": -log_uniform(rng, -300, -3, count)}


def _positive(rng: np.random.Generator, count: int) -> Arguments:
    return {"eta": log_uniform(rng, -300, 3, count) * (rng.integers(0, 10, count) > 0)}


_REGIMES = {"typical": _typical, "fold": _at_the_fold, "tiny": _tiny}


# ---------------------------------------------------------------- references


def _logistic(u: mpf) -> mpf:
    return 1 / (1 + mpmath.exp(-u))


def _solved(eta: mpf, low: mpf, high: mpf) -> list[Any]:
    """The root of u*sigmoid(u) = eta between two numbers, and the slope: bisected, then Newton."""
    rising = high * _logistic(high) > low * _logistic(low)
    for _ in range(70):
        middle = (low + high) / 2
        above = middle * _logistic(middle) > eta
        low, high = (low, middle) if above == rising else (middle, high)
    u, small = (low + high) / 2, mpf(10) ** (20 - mpmath.mp.dps)
    while True:
        s = _logistic(u)
        slope = s * (1 + u * (1 - s))
        step = (u * s - eta) / slope
        u -= step
        if abs(step) <= small * abs(u):
            return [u, slope]


def _fold() -> mpf:
    """Where u*sigmoid(u) is least."""
    return -1 - mpmath.lambertw(mpmath.exp(-1)).real


def principal(instance: Instance) -> list[Any]:
    (eta,) = mp(instance, "eta")
    if eta == 0:
        return [mpf(0), mpf(1) / 2]
    with mpmath.workdps(mpmath.mp.dps + 60):
        low, high = (_fold(), mpf(0)) if eta < 0 else (eta, 2 * eta)
        return _solved(eta, low, high)


def lower(instance: Instance) -> list[Any]:
    (eta,) = mp(instance, "eta")
    with mpmath.workdps(mpmath.mp.dps + 60):
        return _solved(eta, mpf(-1000), _fold())


# ---------------------------------------------------------------- by hand


def principal_by_hand(eta: Array) -> tuple[Array, Array]:
    u = eta + lambertw(eta * np.exp(-eta)).real
    s = 1 / (1 + np.exp(-u))
    return u, s * (1 + u * (1 - s))


def lower_by_hand(eta: Array) -> tuple[Array, Array]:
    u = eta + lambertw(eta * np.exp(-eta), -1).real
    s = 1 / (1 + np.exp(-u))
    return u, s * (1 + u * (1 - s))


CASES = {
    "principal": Case({**_REGIMES, "positive": _positive}, principal, principal_by_hand, count=20),
    "lower": Case(_REGIMES, lower, lower_by_hand, count=20),
}
