"""Cases of the linear system that an observation sets, and of what it tells of the components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mpf

from benchmarks.cases.case import Arguments, Case, Generator, Instance
from benchmarks.cases.density import corruption, near_state
from benchmarks.cases.exact import dot, exact, minus, plus, times

Array = np.ndarray

COMPONENTS, WIDTH, STATES, HEADS, OTHERS, OUTPUTS, REFERENCE = 3, 2, 6, 2, 3, 4, 1
SIZES = {
    "N": COMPONENTS,
    "d": WIDTH,
    "q": STATES,
    "H": HEADS,
    "J": OTHERS,
    "V_tot": OUTPUTS,
    "reference": REFERENCE,
}


# ---------------------------------------------------------------- instances


def _shown(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        scale = 1e3 if kind == "saturated" else 1
        return {
            "log_ratios": scale * rng.normal(size=(count, OTHERS, HEADS)),
            "M": scale * rng.normal(size=(count, HEADS, WIDTH)),
            "c": rng.normal(size=(count, WIDTH)),
            "value": rng.normal(size=(count, OUTPUTS)),
            "weights": rng.uniform(0, 1, (count, OUTPUTS)),
            "V": rng.normal(size=(count, OUTPUTS, WIDTH)),
        }

    return drawn


def _projectors(rng: np.random.Generator, kind: str, count: int) -> Array:
    """Orthogonal projectors; exact ones of every rank, on coordinates, where they are singular."""
    if kind == "singular":
        kept = np.arange(STATES) < rng.integers(0, STATES + 1, (count, 1))
        kept = rng.permuted(kept, axis=-1)
        return kept[..., None] * np.eye(STATES)
    basis = np.linalg.qr(rng.normal(size=(count, STATES, STATES)))[0][..., :3]
    return basis @ np.swapaxes(basis, -1, -2)


def _observed(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        t = corruption(rng, kind, count)
        query_means, query = near_state(rng, kind, t, COMPONENTS, WIDTH)
        means, point = near_state(rng, kind, t, COMPONENTS, STATES)
        return {
            "log_prior": np.log(rng.uniform(0.1, 1, (count, COMPONENTS))),
            "query_means": query_means,
            "c": query,
            "means": means,
            "point": point,
            "projector": _projectors(rng, kind, count),
            "t": t,
            "reference": REFERENCE,
        }

    return drawn


def _left_open(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        t = corruption(rng, kind, count)
        means, _ = near_state(rng, kind, t, COMPONENTS, STATES)
        return {"means": means, "projector": _projectors(rng, kind, count), "t": t}

    return drawn


# ---------------------------------------------------------------- references


def right_side(instance: Instance) -> list[Any]:
    names = ("log_ratios", "M", "c", "value", "weights", "V")
    ratios, maps, query, value, weights, values = (exact(instance[name]) for name in names)
    shown = times(maps, query)
    own = [w * entry for w, entry in zip(weights, times(values, query), strict=True)]
    return [[plus(line, shown) for line in ratios], minus(value, own)]


def log_odds(instance: Instance) -> list[Any]:
    """From the squared distances of the query token and of the part that is seen."""
    names = ("log_prior", "query_means", "c", "means", "point", "projector", "t")
    prior, query_means, query, means, point, projector, t = (
        exact(instance[name]) for name in names
    )

    def score(n: int) -> Any:
        off, rest = minus(query, query_means[n]), minus(point, means[n])
        return prior[n] - (dot(off, off) + dot(rest, times(projector, rest))) / (2 * t**2)

    return [[score(n) - score(instance["reference"]) for n in range(len(prior))]]


def unresolved(instance: Instance) -> list[Any]:
    means, projector, t = (exact(instance[name]) for name in ("means", "projector", "t"))

    def variance(n: int, m: int) -> Any:
        left = times(projector, minus(means[n], means[m]))
        return dot(left, left) / t**2

    return [[[variance(n, m) for m in range(len(means))] for n in range(len(means))]]


# ---------------------------------------------------------------- by hand


def right_side_by_hand(
    log_ratios: Array, M: Array, c: Array, value: Array, weights: Array, V: Array
) -> tuple[Array, Array]:
    column = c[..., None]
    rows = log_ratios + np.swapaxes(M @ column, -1, -2)
    return rows, value - weights * (V @ column)[..., 0]


def log_odds_by_hand(
    log_prior: Array,
    query_means: Array,
    c: Array,
    means: Array,
    point: Array,
    projector: Array,
    t: Array,
    reference: int,
) -> Array:
    off, rest = c[..., None, :] - query_means, point[..., None, :] - means
    squares = (off**2).sum(axis=-1) + (rest * (rest @ projector)).sum(axis=-1)
    scores = log_prior - squares / (2 * t[..., None] ** 2)
    return scores - scores[..., reference, None]


def unresolved_by_hand(means: Array, projector: Array, t: Array) -> Array:
    part = means @ projector
    squares = ((part[..., :, None, :] - part[..., None, :, :]) ** 2).sum(axis=-1)
    return squares / t[..., None, None] ** 2


# ---------------------------------------------------------------- scales


def _of_right_side(i: Instance, _: list[Any]) -> list[Any]:
    column = np.abs(i["c"])
    rows = np.abs(i["log_ratios"]) + np.abs(i["M"]) @ column
    rest = np.abs(i["value"]) + i["weights"] * (np.abs(i["V"]) @ column)
    return [mpf(float(rows.max())), mpf(float(rest.max()))]


def _largest_log_odds(i: Instance, _: list[Any]) -> list[Any]:
    """The size of the terms, with a projector of norm 1."""
    total = np.abs(i["log_prior"]).max()
    for means, state in ((i["query_means"], i["c"]), (i["means"], i["point"])):
        contrasts = np.linalg.norm((means - means[i["reference"]]) / i["t"], axis=-1)
        moved = np.linalg.norm((state - means[i["reference"]]) / i["t"])
        total = total + (contrasts * moved + contrasts**2).max()
    return [mpf(float(total))]


def _squares(i: Instance, _: list[Any]) -> list[Any]:
    contrasts = (i["means"][:, None] - i["means"]) / i["t"]
    return [mpf(float((contrasts**2).sum(axis=-1).max()))]


def _kinds(make: Callable[[str], Generator], *kinds: str) -> dict[str, Generator]:
    return {kind: make(kind) for kind in kinds}


CASES = {
    "right_side": Case(
        _kinds(_shown, "typical", "saturated"),
        right_side,
        right_side_by_hand,
        exact=True,
        sizes=SIZES,
        rational="typical",
        scales={"the products": _of_right_side},
    ),
    "log_odds": Case(
        _kinds(_observed, "typical", "remote", "sharp", "singular"),
        log_odds,
        log_odds_by_hand,
        exact=True,
        sizes=SIZES,
        rational="singular",
        written="singular",
        scales={"the largest term": _largest_log_odds},
    ),
    "unresolved": Case(
        _kinds(_left_open, "typical", "remote", "singular"),
        unresolved,
        unresolved_by_hand,
        exact=True,
        sizes=SIZES,
        rational="singular",
        scales={"the squared contrasts": _squares},
    ),
}
