"""Cases of the stability bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from benchmarks.cases.case import Arguments, Case, Generator, Instance, log_uniform
from benchmarks.cases.digits import mp, mp_vector

Array = np.ndarray

HEADS = 4
SIZES = {"H": HEADS}


# ---------------------------------------------------------------- instances


def _margin(rng: np.random.Generator, kind: str, count: int, lowest: float = -290) -> Arguments:
    tau = log_uniform(rng, -3, -1, count)
    if kind == "edge":
        return {"delta": 2 * tau * (1 - log_uniform(rng, -12, -6, count)), "tau_margin": tau}
    low, high = (lowest, -3) if kind == "tiny" else (-3, 0)
    return {"delta": tau * log_uniform(rng, low, high, count), "tau_margin": tau}


def _margins(kind: str) -> Generator:
    return lambda rng, count: _margin(rng, kind, count)


def _recovery(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        return {
            **_margin(rng, kind, count, -200),
            "n_heads": rng.integers(1, 65, count).astype(float),
            "sigma_min": log_uniform(rng, -2, 2, count),
        }

    return drawn


def _posterior(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        arguments = {
            **_margin(rng, "tiny" if kind == "tiny" else "typical", count, -200),
            "sigma_min": log_uniform(rng, -2, 2, count),
            "n_log_ratios": rng.integers(0, 1025, count).astype(float),
            "contrast": rng.uniform(0, 3, count) * (1e4 if kind == "saturated" else 1),
            "spread": rng.uniform(0, 3, count),
        }
        t = np.ones(count) if kind == "pure noise" else rng.uniform(0.05, 1, count)
        return {**arguments, "t": t}

    return drawn


def _query(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        norms = rng.uniform(0, 3, (count, HEADS))
        if kind == "scaled":
            norms *= rng.choice([1e-100, 1e100], size=(count, 1))
        elif kind == "zero":
            norms *= rng.integers(0, 2, (count, HEADS))
            norms[::2] = 0
        return {
            "head_norms": norms,
            "key_sizes": rng.integers(1, 65, (count, HEADS)).astype(float),
            "distance": rng.uniform(0, 1, count),
        }

    return drawn


# ---------------------------------------------------------------- references


def _log_margin(instance: Instance) -> mpf:
    delta, tau = mp(instance, "delta", "tau_margin")
    with mpmath.workdps(mpmath.mp.dps + 300):
        return 2 * mpmath.log(tau / (tau - delta / 2))


def margin(instance: Instance) -> list[Any]:
    return [_log_margin(instance)]


def recovery_bound(instance: Instance) -> list[Any]:
    heads, least = mp(instance, "n_heads", "sigma_min")
    return [_log_margin(instance) * mpmath.sqrt(heads) / least]


def stability_bound(instance: Instance) -> list[Any]:
    names = ("n_log_ratios", "sigma_min", "contrast", "spread", "t")
    ratios, least, contrast, spread, t = mp(instance, *names)
    row = _log_margin(instance) * mpmath.sqrt(ratios)
    change = contrast * row / (t**2 * least)
    with mpmath.workdps(mpmath.mp.dps + 300):  # the odds exp(-change/2) against 1
        odds = mpmath.exp(-change / 2)
        moved = (1 - odds) / (1 + odds)
        return [change, moved, (1 / t - 1) * spread * moved]


def query_error(instance: Instance) -> list[Any]:
    norms, sizes = mp_vector(instance["head_norms"]), mp_vector(instance["key_sizes"])
    squares = [norm**2 / k for norm, k in zip(norms, sizes, strict=True)]
    return [mp(instance, "distance")[0] * mpmath.sqrt(mpmath.fsum(squares))]


# ---------------------------------------------------------------- by hand


def margin_by_hand(delta: Array, tau_margin: Array) -> Array:
    return -2 * np.log1p(-delta / (2 * tau_margin))


def recovery_bound_by_hand(
    delta: Array, tau_margin: Array, n_heads: Array, sigma_min: Array
) -> Array:
    return np.sqrt(n_heads) * margin_by_hand(delta, tau_margin) / sigma_min


def stability_bound_by_hand(
    delta: Array,
    tau_margin: Array,
    n_log_ratios: Array,
    sigma_min: Array,
    contrast: Array,
    spread: Array,
    t: Array,
) -> tuple[Array, Array, Array]:
    row = np.sqrt(n_log_ratios) * margin_by_hand(delta, tau_margin)
    change = contrast * row / (t**2 * sigma_min)
    moved = np.tanh(change / 4)
    return change, moved, (1 - t) / t * spread * moved


def query_error_by_hand(head_norms: Array, key_sizes: Array, distance: Array) -> Array:
    return np.sqrt((head_norms**2 / key_sizes).sum(axis=-1)) * distance


# ---------------------------------------------------------------- scales


def _edge(i: Instance, expected: list[Any]) -> list[Any]:
    """The bound, or what one rounding of delta/(2 tau_margin) changes of it."""
    delta, tau = mp(i, "delta", "tau_margin")
    quotient = delta / (2 * tau)
    factor = expected[0] / (-2 * mpmath.log(1 - quotient))
    return [expected[0] + 2 * factor * quotient / (1 - quotient)]


def _kinds(make: Callable[[str], Generator], *kinds: str) -> dict[str, Generator]:
    return {kind: make(kind) for kind in kinds}


_AT_THE_EDGE = {"the condition of the quotient": _edge}

CASES = {
    "margin": Case(
        _kinds(_margins, "typical", "tiny", "edge"),
        margin,
        margin_by_hand,
        sizes=SIZES,
        scales=_AT_THE_EDGE,
    ),
    "recovery_bound": Case(
        _kinds(_recovery, "typical", "tiny", "edge"),
        recovery_bound,
        recovery_bound_by_hand,
        sizes=SIZES,
        scales=_AT_THE_EDGE,
    ),
    "stability_bound": Case(
        _kinds(_posterior, "typical", "tiny", "saturated", "pure noise"),
        stability_bound,
        stability_bound_by_hand,
        sizes=SIZES,
    ),
    "query_error": Case(
        _kinds(_query, "typical", "scaled", "zero"),
        query_error,
        query_error_by_hand,
        sizes=SIZES,
    ),
}
