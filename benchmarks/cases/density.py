"""Cases of Gaussian densities and of the components' log-odds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from benchmarks.cases.case import Arguments, Case, Generator, Instance
from benchmarks.cases.digits import mp_vector
from benchmarks.cases.exact import dot, exact, minus

Array = np.ndarray

COMPONENTS, WIDTH, DIRECTIONS, REFERENCE = 4, 5, 5, 1
SIZES = {"N": COMPONENTS, "d": WIDTH, "q": DIRECTIONS, "reference": REFERENCE}


# ---------------------------------------------------------------- instances


def _eigen(kind: str) -> Generator:
    low, high = {"tiny": (-300, -3), "huge": (3, 300)}.get(kind, (-3, 3))

    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        values = 10 ** rng.uniform(low, high, (count, DIRECTIONS))
        coordinates = rng.normal(size=(count, DIRECTIONS)) * np.sqrt(values)
        support = np.ones((count, DIRECTIONS))
        if kind == "singular":
            support = rng.integers(0, 2, (count, DIRECTIONS)).astype(float)
            values = np.where(support > 0, values, 1)
            coordinates = coordinates * support
        return {"eigenvalues": values, "coordinates": coordinates, "support": support}

    return drawn


def corruption(rng: np.random.Generator, kind: str, count: int) -> Array:
    if kind == "sharp":
        return 10 ** rng.uniform(-140, -3, count)
    return np.ones(count) if kind == "pure noise" else rng.uniform(0.05, 1, count)


def near_state(
    rng: np.random.Generator, kind: str, t: Array, components: int, width: int
) -> tuple[Array, Array]:
    """Means of components and a state near one of them."""
    count = len(t)
    means = rng.normal(size=(count, components, width))
    if kind == "pure noise":
        means[:] = means[:, :1]
    elif kind == "remote":
        means = means + 1e8
    elif kind == "sharp":  # else all log-odds overflow
        means = means * t[:, None, None]
    state = means[:, -1] + t[:, None] * rng.normal(size=(count, width))
    return means, state


def _mixture(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        t = corruption(rng, kind, count)
        means, state = near_state(rng, kind, t, COMPONENTS, WIDTH)
        log_prior = np.log(rng.uniform(0.1, 1, (count, COMPONENTS)))
        return {
            "log_prior": log_prior,
            "means": means,
            "state": state,
            "t": t,
            "reference": REFERENCE,
        }

    return drawn


def _noise(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        t = corruption(rng, kind, count)
        means, token = near_state(rng, kind, t, COMPONENTS, WIDTH)
        masses = rng.uniform(0, 1, (count, COMPONENTS)) ** 4
        masses /= masses.sum(axis=-1, keepdims=True)
        return {"responsibilities": masses, "means": means, "token": token, "t": t}

    return drawn


# ---------------------------------------------------------------- references


def log_density(instance: Instance) -> list[Any]:
    """The logarithm of a product of one-dimensional densities."""
    density = mpf(1)
    for value, y, kept in zip(
        *(mp_vector(instance[name]) for name in ("eigenvalues", "coordinates", "support")),
        strict=True,
    ):
        if kept:
            density *= mpmath.exp(-(y**2) / (2 * value)) / mpmath.sqrt(2 * mpmath.pi * value)
    return [mpmath.log(density)]


def log_odds(instance: Instance) -> list[Any]:
    """From the squared distances themselves."""
    prior, means, state, t = (
        exact(instance[name]) for name in ("log_prior", "means", "state", "t")
    )
    own = instance["reference"]

    def score(n: int) -> Any:
        off = minus(state, means[n])
        return prior[n] - dot(off, off) / (2 * t**2)

    return [[score(n) - score(own) for n in range(len(prior))]]


def noise_mean(instance: Instance) -> list[Any]:
    names = ("responsibilities", "means", "token", "t")
    masses, means, token, t = (exact(instance[name]) for name in names)
    return [
        [
            sum(mass * (entry - mean[a]) for mass, mean in zip(masses, means, strict=True)) / t
            for a, entry in enumerate(token)
        ]
    ]


# ---------------------------------------------------------------- by hand


def log_density_by_hand(eigenvalues: Array, coordinates: Array, support: Array) -> Array:
    single = np.log(2 * np.pi * eigenvalues) + coordinates**2 / eigenvalues
    return -0.5 * (support * single).sum(axis=-1)


def log_odds_by_hand(
    log_prior: Array, means: Array, state: Array, t: Array, reference: int
) -> Array:
    squares = ((state[..., None, :] - means) ** 2).sum(axis=-1)
    scores = log_prior - squares / (2 * t[..., None] ** 2)
    return scores - scores[..., reference, None]


def noise_mean_by_hand(responsibilities: Array, means: Array, token: Array, t: Array) -> Array:
    """Differences first: the means may lie far from the origin."""
    contrasts = token[..., None, :] - means
    return np.einsum("...n,...nd->...d", responsibilities, contrasts) / t[..., None]


# ---------------------------------------------------------------- scales


def _largest_term(i: Instance, _: list[Any]) -> list[Any]:
    with np.errstate(under="ignore"):
        logs = np.abs(np.log(2 * np.pi * i["eigenvalues"])) * i["support"]
        squares = (i["coordinates"] / np.sqrt(i["eigenvalues"])) ** 2
    return [mpf(float((logs + squares).sum()))]


def _largest_log_odds(i: Instance, _: list[Any]) -> list[Any]:
    contrasts = (i["means"] - i["means"][i["reference"]]) / i["t"]
    moved = (i["state"] - i["means"][i["reference"]]) / i["t"]
    gained = np.abs(contrasts) @ np.abs(moved) + (contrasts**2).sum(axis=-1)
    return [mpf(float(gained.max() + np.abs(i["log_prior"]).max()))]


def _of_noise(i: Instance, _: list[Any]) -> list[Any]:
    return [mpf(float(np.max(np.abs(i["token"] - i["means"]) / i["t"])))]


def _kinds(make: Callable[[str], Generator], *kinds: str) -> dict[str, Generator]:
    return {kind: make(kind) for kind in kinds}


CASES = {
    "log_density": Case(
        _kinds(_eigen, "typical", "tiny", "huge", "singular"),
        log_density,
        log_density_by_hand,
        sizes=SIZES,
        scales={"the largest term": _largest_term},
    ),
    "log_odds": Case(
        _kinds(_mixture, "typical", "remote", "sharp", "pure noise"),
        log_odds,
        log_odds_by_hand,
        exact=True,
        sizes=SIZES,
        rational="typical",
        scales={"the largest term": _largest_log_odds},
    ),
    "noise_mean": Case(
        _kinds(_noise, "typical", "remote", "sharp"),
        noise_mean,
        noise_mean_by_hand,
        exact=True,
        sizes=SIZES,
        rational="typical",
        scales={"the noise": _of_noise},
    ),
}
