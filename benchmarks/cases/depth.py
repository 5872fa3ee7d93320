"""Cases of finite depth: a layer, its error against the flow, one shot, Stage 1 alone."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np

from benchmarks.cases.case import Arguments, Case, Generator, Instance, Scale, log_uniform
from benchmarks.cases.digits import mp
from benchmarks.cases.exact import exact

Array = np.ndarray


# ---------------------------------------------------------------- instances


def _layer_typical(rng: np.random.Generator, count: int) -> Arguments:
    return {
        "v": log_uniform(rng, -2, 2, count),
        "eta": rng.uniform(0, 1, count),
        "beta": log_uniform(rng, -2, 2, count),
    }


def _layer_scaled(low: float, high: float) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        v = log_uniform(rng, low / 2, high / 2, count)
        near_one = 1 - log_uniform(rng, -12, -3, count) * rng.integers(0, 2, count)
        eta = near_one if low < 0 else rng.uniform(0, 1, count)
        return {"v": v, "eta": eta, "beta": log_uniform(rng, low / 2, high / 2, count)}

    return drawn


def _layer_root(rng: np.random.Generator, count: int) -> Arguments:
    arguments = _layer_typical(rng, count)
    off = rng.choice([-1, 1], count) * log_uniform(rng, -15, -3, count)
    return {**arguments, "beta": (1 + off) / arguments["v"]}


def _layer_limits(rng: np.random.Generator, count: int) -> Arguments:
    arguments = _layer_typical(rng, count)
    which = rng.integers(0, 4, count)
    return {
        "v": np.where(which == 0, 0, arguments["v"]),
        "eta": np.where(which == 1, 0, np.where(which == 2, 1, arguments["eta"])),
        "beta": np.where(which == 3, 0, arguments["beta"]),
    }


def _in_time(generator: Generator) -> Generator:
    """The step as the time that it takes."""

    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        given = generator(rng, count)
        eta, beta = given.pop("eta"), given["beta"]
        return {"v": given["v"], "h": eta / np.where(beta > 0, beta, 1), "beta": beta}

    return drawn


_LAYERS = {
    "typical": _layer_typical,
    "tiny": _layer_scaled(-100, -3),
    "huge": _layer_scaled(3, 100),
    "limits": _layer_limits,
}


def _ends(beta: tuple[float, float], ratio: tuple[float, float]) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        v_end = log_uniform(rng, -2, 2, count)
        return {
            "v_start": v_end * (1 + log_uniform(rng, *ratio, count)),
            "v_end": v_end,
            "eta": rng.uniform(0, 1, count),
            "beta": log_uniform(rng, *beta, count),
        }

    return drawn


def _ends_limits(rng: np.random.Generator, count: int) -> Arguments:
    arguments = _ends((-2, 2), (-2, 1))(rng, count)
    which = rng.integers(0, 3, count)
    return {
        "v_start": np.where(which == 0, arguments["v_end"], arguments["v_start"]),
        "v_end": arguments["v_end"],
        "eta": np.where(which == 1, 0, arguments["eta"]),
        "beta": np.where(which == 2, 0, arguments["beta"]),
    }


def variances(s: tuple[float, float], ratio: tuple[float, float]) -> Generator:
    """A clean eigenvalue and the noise's variance as a multiple of it."""

    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        base = log_uniform(rng, *s, count)
        return {"s": base, "sigma2": base * log_uniform(rng, *ratio, count)}

    return drawn


def variance_limits(rng: np.random.Generator, count: int) -> Arguments:
    """One of the two is 0, never both."""
    off = rng.integers(0, 2, count)
    return {
        "s": np.where(off == 0, 0, log_uniform(rng, -2, 2, count)),
        "sigma2": np.where(off == 1, 0, log_uniform(rng, -2, 2, count)),
    }


def _remote(rng: np.random.Generator, count: int) -> Arguments:
    return {"s": log_uniform(rng, -160, -150, count), "sigma2": log_uniform(rng, 150, 160, count)}


_SHARES = {
    "typical": variances((-3, 3), (-3, 3)),
    "near": variances((-1, 1), (-100, -3)),
    "far": variances((-1, 1), (3, 100)),
    "tiny": variances((-290, -210), (-3, 3)),
    "limits": variance_limits,
}


def _with_beta(generator: Generator) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        return {"beta": log_uniform(rng, -3, 3, count), **generator(rng, count)}

    return drawn


# ---------------------------------------------------------------- references


def _fractions(instance: Instance, *names: str) -> list[Fraction]:
    return [exact(instance[name]) for name in names]


def layer(instance: Instance) -> list[Any]:
    v, eta, beta = _fractions(instance, "v", "eta", "beta")
    return [v * (1 - eta / (1 + beta * v)) ** 2]


def log_defect(instance: Instance) -> list[Any]:
    """The h^2 term of log(v after a layer) less log(v after the flow)."""
    v, h, beta = _fractions(instance, "v", "h", "beta")
    if beta == 0:
        return [Fraction(0)]
    rate = -2 / (v + 1 / beta)
    change = 2 / (v + 1 / beta) ** 2  # d rate/d v
    return [-(h**2) / (v + 1 / beta) ** 2 - h**2 / 2 * rate * v * change]


def euler_error(instance: Instance) -> list[Any]:
    """The layers' defects summed along the flow, by quadrature in log v."""
    v_start, v_end, eta, beta = mp(instance, "v_start", "v_end", "eta", "beta")
    if v_start == v_end or eta == 0:
        return [mpmath.mpf(0)]

    def summand(x: Any) -> Any:
        scaled = beta * mpmath.exp(x)
        return eta / 2 * (scaled - 1) / (1 + scaled)

    low, high = mpmath.log(v_end), mpmath.log(v_start)
    places = [low, high]
    if beta > 0 and low < -mpmath.log(beta) < high:
        places.insert(1, -mpmath.log(beta))
    pieces = [a + (b - a) * k / 4 for a, b in pairwise(places) for k in range(4)]
    return [v_end / (1 + beta * v_end) * mpmath.quad(summand, [*pieces, high])]


def one_shot(instance: Instance) -> list[Any]:
    s, sigma2 = _fractions(instance, "s", "sigma2")
    slope = 1 - sigma2 / (s + 2 * sigma2)
    gap = slope - s / (s + sigma2)
    risk = (1 - slope) ** 2 * s + slope**2 * sigma2
    return [slope, gap, risk - s * sigma2 / (s + sigma2)]


def stage_one(instance: Instance) -> list[Any]:
    s, sigma2 = mp(instance, "s", "sigma2")
    slope = mpmath.sqrt(s / (s + sigma2))
    with mpmath.workdps(mpmath.mp.dps + 250):
        precise = mpmath.sqrt(s / (s + sigma2))
        risk = (1 - precise) ** 2 * s + precise**2 * sigma2
        return [slope, risk - s * sigma2 / (s + sigma2)]


def bayes_time(instance: Instance) -> list[Any]:
    beta, s, sigma2 = mp(instance, "beta", "s", "sigma2")
    if s == 0:
        return [mpmath.inf]
    with mpmath.workdps(mpmath.mp.dps + 700):
        start, end = s + sigma2, s**2 / (s + sigma2)
        return [(start - end) / 2 + mpmath.log(start / end) / (2 * beta)]


# ---------------------------------------------------------------- by hand

_SPLITTER = 2.0**27 + 1


def layer_by_hand(v: Array, eta: Array, beta: Array) -> Array:
    scaled = beta * v
    return v * ((1 - eta + scaled) / (1 + scaled)) ** 2  # no difference of near numbers


def log_defect_by_hand(v: Array, h: Array, beta: Array) -> Array:
    """The sign changes where beta*v is 1: so the product is split as Dekker does."""
    scaled = beta * v
    beta_high, v_high = ((x * _SPLITTER) - (x * _SPLITTER - x) for x in (beta, v))
    beta_low, v_low = beta - beta_high, v - v_high
    lost = beta_high * v_high - scaled + beta_high * v_low + beta_low * v_high + beta_low * v_low
    return (beta * h) ** 2 * (scaled - 1 + lost) / (1 + scaled) ** 3


def euler_error_by_hand(v_start: Array, v_end: Array, eta: Array, beta: Array) -> Array:
    widened = 1 + beta * v_end
    bracket = np.log((1 + beta * v_start) / widened) - np.log(v_start / v_end) / 2
    return eta * v_end / widened * bracket


def one_shot_by_hand(s: Array, sigma2: Array) -> tuple[Array, ...]:
    gap = sigma2**2 / ((s + sigma2) * (s + 2 * sigma2))
    return (s + sigma2) / (s + 2 * sigma2), gap, (s + sigma2) * gap**2


def stage_one_by_hand(s: Array, sigma2: Array) -> tuple[Array, ...]:
    total = s + sigma2
    slope = np.sqrt(s) / np.sqrt(total)  # the quotient may underflow
    return slope, s * (sigma2 / total / (1 + slope)) ** 2


def bayes_time_by_hand(beta: Array, s: Array, sigma2: Array) -> Array:
    start = s + sigma2
    return sigma2 * (2 * s + sigma2) / (2 * start) + np.log1p(sigma2 / s) / beta


def _two_logarithms(instance: Instance, _: list[Any]) -> list[Any]:
    """The bracket of the error with its two logarithms added up."""
    v_start, v_end, eta, beta = mp(instance, "v_start", "v_end", "eta", "beta")
    widened = 1 + beta * v_end
    both = mpmath.log((1 + beta * v_start) / widened) + mpmath.log(v_start / v_end) / 2
    return [eta * v_end / widened * both]


_SCALES: dict[str, Scale] = {"the two logarithms": _two_logarithms}


CASES = {
    "layer": Case(_LAYERS, layer, layer_by_hand, exact=True, rational="typical"),
    "log_defect": Case(
        {
            name: _in_time(generator)
            for name, generator in {
                "typical": _layer_typical,
                "root": _layer_root,
                **_LAYERS,
            }.items()
        },
        log_defect,
        log_defect_by_hand,
        exact=True,
    ),
    "euler_error": Case(
        {
            "typical": _ends((-2, 2), (-2, 1)),
            "near": _ends((-2, 2), (-12, -3)),
            "huge": _ends((5, 50), (-2, 1)),
            "limits": _ends_limits,
        },
        euler_error,
        euler_error_by_hand,
        scales=_SCALES,
        count=30,
    ),
    "one_shot": Case(_SHARES, one_shot, one_shot_by_hand, exact=True, rational="typical"),
    "stage_one": Case({**_SHARES, "remote": _remote}, stage_one, stage_one_by_hand),
    "bayes_time": Case(
        {
            "typical": _with_beta(variances((-3, 3), (-3, 3))),
            "near": _with_beta(variances((-1, 1), (-300, -3))),
            "far": _with_beta(variances((-300, -3), (3, 300))),
            "limits": _with_beta(variance_limits),
        },
        bayes_time,
        bayes_time_by_hand,
    ),
}
