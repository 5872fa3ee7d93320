"""Cases of softmax rows and their log-ratios."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from benchmarks.cases.case import Arguments, Case, Generator, Instance
from benchmarks.cases.digits import mp_vector

Array = np.ndarray

TOKENS, ANCHOR = 6, 2
SIZES = {"P": TOKENS, "anchor": ANCHOR}


# ---------------------------------------------------------------- instances


def _logits(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        logits = 3 * rng.normal(size=(count, TOKENS))
        if kind == "saturated":
            logits[np.arange(count), rng.integers(0, TOKENS, count)] += 40
        elif kind == "huge":
            logits += rng.choice([-800.0, 800.0, 300.0], size=(count, TOKENS))
        return {"logits": logits}

    return drawn


def _row(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        if kind == "near":
            row = np.full((count, TOKENS), 1 / TOKENS)
            row *= 1 + 1e-12 * rng.normal(size=(count, TOKENS))
        else:
            row = 10 ** rng.uniform(-300 if kind == "tiny" else -3, 0, (count, TOKENS))
            row[np.arange(count), rng.integers(0, TOKENS, count)] = 1.0
            row /= row.sum(axis=-1, keepdims=True)
        return {"row": row, "anchor": ANCHOR}

    return drawn


def _ratios(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        ratios = 3 * rng.normal(size=(count, TOKENS - 1))
        if kind == "saturated":
            places = rng.integers(0, TOKENS - 1, count)
            ratios[np.arange(count), places] += rng.choice([-40.0, 40.0], count)
        elif kind == "huge":
            ratios += rng.choice([-800.0, 800.0, 300.0], size=ratios.shape)
        return {"log_ratios": ratios, "anchor": ANCHOR}

    return drawn


def _with_anchor(generator: Generator) -> Generator:
    return lambda rng, count: {**generator(rng, count), "anchor": ANCHOR}


# ---------------------------------------------------------------- references


def _probabilities(logits: list[mpf]) -> list[mpf]:
    weights = [mpmath.exp(value) for value in logits]
    total = mpmath.fsum(weights)
    return [weight / total for weight in weights]


def row(instance: Instance) -> list[Any]:
    return [_probabilities(mp_vector(instance["logits"]))]


def log_ratios(instance: Instance) -> list[Any]:
    logits, anchor = mp_vector(instance["logits"]), instance["anchor"]
    return [[value - logits[anchor] for place, value in enumerate(logits) if place != anchor]]


def log_ratios_of_row(instance: Instance) -> list[Any]:
    values, anchor = mp_vector(instance["row"]), instance["anchor"]
    return [
        [
            mpmath.log(value / values[anchor])
            for place, value in enumerate(values)
            if place != anchor
        ]
    ]


def row_from_log_ratios(instance: Instance) -> list[Any]:
    ratios, anchor = mp_vector(instance["log_ratios"]), instance["anchor"]
    own = 1 / (1 + mpmath.fsum(map(mpmath.exp, ratios)))
    others = [own * mpmath.exp(ratio) for ratio in ratios]
    return [[*others[:anchor], own, *others[anchor:]]]


def jacobian(instance: Instance) -> list[Any]:
    values, anchor = mp_vector(instance["row"]), instance["anchor"]
    others = [value for place, value in enumerate(values) if place != anchor]
    return [
        [
            [1 / values[anchor] + (1 / own if j == k else 0) for k in range(len(others))]
            for j, own in enumerate(others)
        ]
    ]


def log_det_jacobian(instance: Instance) -> list[Any]:
    with mpmath.workdps(mpmath.mp.dps + 800):
        return [-mpmath.fsum(map(mpmath.log, _probabilities(mp_vector(instance["logits"]))))]


def softmax_jacobian(instance: Instance) -> list[Any]:
    with mpmath.workdps(mpmath.mp.dps + 800):
        s = _probabilities(mp_vector(instance["logits"]))
        return [[[s[j] * ((j == k) - s[k]) for k in range(len(s))] for j in range(len(s))]]


def log_det_jacobian_gradient(instance: Instance) -> list[Any]:
    with mpmath.workdps(mpmath.mp.dps + 800):
        s = _probabilities(mp_vector(instance["logits"]))
        return [[len(s) * value - 1 for value in s]]


def row_jvp(instance: Instance) -> list[Any]:
    with mpmath.workdps(mpmath.mp.dps + 800):
        s = _probabilities(mp_vector(instance["logits"]))
        along = mp_vector(instance["d_logits"])
        mean = mpmath.fsum(a * b for a, b in zip(s, along, strict=True))
        return [[own * (moved - mean) for own, moved in zip(s, along, strict=True)]]


def _weighted_spread(instance: Instance, _outputs: list[Any]) -> list[Any]:
    """The largest s_j sum_k s_k |dx_j - dx_k|, or the smallest float where that is less."""
    s, along = _probabilities(mp_vector(instance["logits"])), mp_vector(instance["d_logits"])
    return [
        max(
            mpf(2) ** -1022,
            *(
                own * mpmath.fsum(w * abs(moved - other) for w, other in zip(s, along, strict=True))
                for own, moved in zip(s, along, strict=True)
            ),
        )
    ]


def _tokens(instance: Instance, _outputs: list[Any]) -> list[Any]:
    return [len(instance["logits"])]


# ---------------------------------------------------------------- by hand


def row_by_hand(logits: Array) -> Array:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def log_ratios_by_hand(logits: Array, anchor: int) -> Array:
    return np.delete(logits - logits[..., anchor, None], anchor, axis=-1)


def log_ratios_of_row_by_hand(row: Array, anchor: int) -> Array:
    """By log1p of the relative difference, where that is small, and else by two logarithms."""
    others, own = np.delete(row, anchor, axis=-1), row[..., anchor, None]
    apart = (others - own) / own
    near = np.abs(apart) < 0.5
    return np.where(near, np.log1p(np.where(near, apart, 0)), np.log(others) - np.log(own))


def row_from_log_ratios_by_hand(log_ratios: Array, anchor: int) -> Array:
    return row_by_hand(np.insert(log_ratios, anchor, 0, axis=-1))


def jacobian_by_hand(row: Array, anchor: int) -> Array:
    others = np.delete(row, anchor, axis=-1)
    return np.eye(others.shape[-1]) / others[..., None] + 1 / row[..., anchor, None, None]


def log_det_jacobian_by_hand(logits: Array) -> Array:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return logits.shape[-1] * np.log(np.exp(shifted).sum(axis=-1)) - shifted.sum(axis=-1)


def softmax_jacobian_by_hand(logits: Array) -> Array:
    s = row_by_hand(logits)
    result = -s[..., :, None] * s[..., None, :]
    places = np.arange(s.shape[-1])
    result[..., places, places] = s * (1 - s)
    return result


def log_det_jacobian_gradient_by_hand(logits: Array) -> Array:
    return logits.shape[-1] * row_by_hand(logits) - 1


def row_jvp_by_hand(logits: Array, d_logits: Array) -> Array:
    s = row_by_hand(logits)
    return s * (d_logits - (s * d_logits).sum(axis=-1, keepdims=True))


def _kinds(make: Callable[[str], Generator], *kinds: str) -> dict[str, Generator]:
    return {kind: make(kind) for kind in kinds}


def _along(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        drawn = _logits(kind)(rng, count)
        return {**drawn, "d_logits": 5 + rng.normal(size=drawn["logits"].shape)}

    return drawn


_LOGITS = _kinds(_logits, "typical", "saturated", "huge")

CASES = {
    "row": Case(_LOGITS, row, row_by_hand, sizes=SIZES),
    "log_ratios": Case(
        _kinds(lambda kind: _with_anchor(_logits(kind)), "typical", "huge"),
        log_ratios,
        log_ratios_by_hand,
        sizes=SIZES,
        rational="typical",
    ),
    "log_ratios_of_row": Case(
        _kinds(_row, "typical", "near", "tiny"),
        log_ratios_of_row,
        log_ratios_of_row_by_hand,
        sizes=SIZES,
    ),
    "row_from_log_ratios": Case(
        _kinds(_ratios, "typical", "saturated", "huge"),
        row_from_log_ratios,
        row_from_log_ratios_by_hand,
        sizes=SIZES,
    ),
    "jacobian": Case(
        _kinds(_row, "typical", "tiny"),
        jacobian,
        jacobian_by_hand,
        sizes=SIZES,
        rational="typical",
    ),
    "log_det_jacobian": Case(_LOGITS, log_det_jacobian, log_det_jacobian_by_hand, sizes=SIZES),
    "log_det_jacobian_gradient": Case(
        _LOGITS,
        log_det_jacobian_gradient,
        log_det_jacobian_gradient_by_hand,
        sizes=SIZES,
        scales={"the number of tokens": _tokens},
    ),
    "row_jvp": Case(
        _kinds(_along, "typical", "saturated", "huge"),
        row_jvp,
        row_jvp_by_hand,
        sizes=SIZES,
        scales={"the weighted spread": _weighted_spread},
    ),
    "softmax_jacobian": Case(_LOGITS, softmax_jacobian, softmax_jacobian_by_hand, sizes=SIZES),
}
