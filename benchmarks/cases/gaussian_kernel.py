"""Cases of Gaussian kernel averages over particles."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from benchmarks.cases.case import Arguments, Case, Generator, Instance, Scale, log_uniform
from benchmarks.cases.digits import mp, mp_vector
from benchmarks.cases.logratio import row_by_hand

Array = np.ndarray

QUERIES, PARTICLES, WIDTH = 2, 5, 2
SIZES = {"n": QUERIES, "N": PARTICLES, "d": WIDTH}
BATCH = 20_000  # with the ten pairs of a query and a particle the work of a batch of 100k and more


# ---------------------------------------------------------------- instances


def _cloud(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        queries = 3 * rng.normal(size=(count, QUERIES, WIDTH))
        particles = 3 * rng.normal(size=(count, PARTICLES, WIDTH))
        log_weights = rng.normal(size=(count, PARTICLES))
        beta = log_uniform(rng, -1, 1, count)
        if kind == "far":
            distance = log_uniform(rng, 4, 8, count)
            queries += distance[:, None, None] * _directions(rng, count)
            beta = 1 / distance
        elif kind == "shifted":
            shift = 1e8 * _directions(rng, count)
            queries, particles = queries + shift, particles + shift
        elif kind == "clusters":
            beta = log_uniform(rng, 3, 12, count)
            centres = np.repeat(particles[:, :2], [3, PARTICLES - 3], axis=1)
            width = 1 / np.sqrt(beta)[:, None, None]
            particles = centres + width * particles
            queries = centres[:, :QUERIES] + width * queries
        elif kind == "limits":
            which = rng.integers(0, 4, count)
            beta = np.where(which == 0, 0.0, beta)
            lone = np.arange(PARTICLES) != rng.integers(0, PARTICLES, count)[:, None]
            log_weights[(which == 1)[:, None] & lone] = -np.inf
            particles[which == 2] = particles[which == 2, :1]
            queries[which == 3] = particles[which == 3, :QUERIES]
        return {
            "beta": beta,
            "queries": queries,
            "particles": particles,
            "log_weights": log_weights,
        }

    return drawn


def _directions(rng: np.random.Generator, count: int) -> np.ndarray:
    found = rng.normal(size=(count, 1, WIDTH))
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


def _positive_beta(generator: Generator) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        arguments = generator(rng, count)
        return {**arguments, "beta": np.where(arguments["beta"] > 0, arguments["beta"], 2.0)}

    return drawn


def _with_step(generator: Generator) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        arguments = generator(rng, count)
        return {**arguments, "eta": rng.uniform(0, 2, count)}

    return drawn


_KINDS = ("typical", "far", "shifted", "clusters", "limits")
_REGIMES = {kind: _cloud(kind) for kind in _KINDS}


# ---------------------------------------------------------------- references


def _rows(values: np.ndarray) -> list[list[mpf]]:
    return [mp_vector(line) for line in values]


def _densities(instance: Instance) -> list[list[mpf]]:
    """w_j exp(-beta/2 |q_i - z_j|^2)."""
    (beta,) = mp(instance, "beta")
    log_weights = mp_vector(instance["log_weights"])
    return [
        [
            mpmath.exp(
                log_weight
                - beta / 2 * mpmath.fsum((q - z) ** 2 for q, z in zip(query, point, strict=True))
            )
            for point, log_weight in zip(_rows(instance["particles"]), log_weights, strict=True)
        ]
        for query in _rows(instance["queries"])
    ]


def weights(instance: Instance) -> list[Any]:
    return [[[w / mpmath.fsum(line) for w in line] for line in _densities(instance)]]


def mean(instance: Instance) -> list[Any]:
    points = _rows(instance["particles"])
    return [
        [
            [
                mpmath.fsum(w * z for w, z in zip(row, column, strict=True))
                for column in zip(*points, strict=True)
            ]
            for row in weights(instance)[0]
        ]
    ]


def _at_each(instance: Instance, function: Callable[[mpf, mpf], mpf]) -> list[Any]:
    """A function of the mean's and the query's coordinates."""
    pairs = zip(mean(instance)[0], _rows(instance["queries"]), strict=True)
    return [[list(map(function, average, query)) for average, query in pairs]]


def score(instance: Instance) -> list[Any]:
    (beta,) = mp(instance, "beta")
    return _at_each(instance, lambda average, query: beta * (average - query))


def energy_gradient(instance: Instance) -> list[Any]:
    return _at_each(instance, lambda average, query: query - average)


def attention_step(instance: Instance) -> list[Any]:
    (eta,) = mp(instance, "eta")
    return _at_each(instance, lambda average, query: query + eta * (average - query))


def energy(instance: Instance) -> list[Any]:
    (beta,) = mp(instance, "beta")
    return [[-mpmath.log(mpmath.fsum(line)) / beta for line in _densities(instance)]]


def covariance(instance: Instance) -> list[Any]:
    """Over pairs, sum_{j < k} a_j a_k (z_j - z_k)(z_j - z_k)': no mean is needed."""
    points = _rows(instance["particles"])
    pairs = list(combinations(range(len(points)), 2))

    def entry(row: list[mpf], a: int, b: int) -> mpf:
        return mpmath.fsum(
            row[j] * row[k] * (points[j][a] - points[k][a]) * (points[j][b] - points[k][b])
            for j, k in pairs
        )

    width = range(len(points[0]))
    return [[[[entry(row, a, b) for b in width] for a in width] for row in weights(instance)[0]]]


def mean_jacobian(instance: Instance) -> list[Any]:
    (beta,) = mp(instance, "beta")
    return [[[[beta * c for c in line] for line in cov] for cov in covariance(instance)[0]]]


def energy_hessian(instance: Instance) -> list[Any]:
    return [
        [
            [[(a == b) - entry for b, entry in enumerate(line)] for a, line in enumerate(jacobian)]
            for jacobian in mean_jacobian(instance)[0]
        ]
    ]


# ---------------------------------------------------------------- by hand


def weights_by_hand(beta: Array, queries: Array, particles: Array, log_weights: Array) -> Array:
    differences = queries[..., :, None, :] - particles[..., None, :, :]
    halves = beta[..., None, None] / 2 * (differences**2).sum(axis=-1)
    return row_by_hand(log_weights[..., None, :] - halves)


def dot_product_weights_by_hand(
    beta: Array, queries: Array, particles: Array, log_weights: Array
) -> Array:
    bias = log_weights - beta[..., None] / 2 * (particles**2).sum(axis=-1)
    dots = queries @ np.swapaxes(particles, -1, -2)
    return row_by_hand(beta[..., None, None] * dots + bias[..., None, :])


def mean_by_hand(beta: Array, queries: Array, particles: Array, log_weights: Array) -> Array:
    return weights_by_hand(beta, queries, particles, log_weights) @ particles


def score_by_hand(beta: Array, queries: Array, particles: Array, log_weights: Array) -> Array:
    drift = mean_by_hand(beta, queries, particles, log_weights) - queries
    return beta[..., None, None] * drift


def attention_step_by_hand(
    beta: Array, eta: Array, queries: Array, particles: Array, log_weights: Array
) -> Array:
    eta = eta[..., None, None]
    return (1 - eta) * queries + eta * mean_by_hand(beta, queries, particles, log_weights)


def energy_by_hand(beta: Array, queries: Array, particles: Array, log_weights: Array) -> Array:
    differences = queries[..., :, None, :] - particles[..., None, :, :]
    halves = beta[..., None, None] / 2 * (differences**2).sum(axis=-1)
    logits = log_weights[..., None, :] - halves
    largest = logits.max(axis=-1)
    sums = np.exp(logits - largest[..., None]).sum(axis=-1)
    return -(largest + np.log(sums)) / beta[..., None]


def energy_gradient_by_hand(
    beta: Array, queries: Array, particles: Array, log_weights: Array
) -> Array:
    return queries - mean_by_hand(beta, queries, particles, log_weights)


def covariance_by_hand(beta: Array, queries: Array, particles: Array, log_weights: Array) -> Array:
    shares = weights_by_hand(beta, queries, particles, log_weights)
    away = particles[..., None, :, :] - (shares @ particles)[..., :, None, :]
    return np.swapaxes(shares[..., None] * away, -1, -2) @ away


def mean_jacobian_by_hand(
    beta: Array, queries: Array, particles: Array, log_weights: Array
) -> Array:
    cov = covariance_by_hand(beta, queries, particles, log_weights)
    return beta[..., None, None, None] * cov


def energy_hessian_by_hand(
    beta: Array, queries: Array, particles: Array, log_weights: Array
) -> Array:
    jacobian = mean_jacobian_by_hand(beta, queries, particles, log_weights)
    return np.eye(queries.shape[-1]) - jacobian


# ---------------------------------------------------------------- scales


def _largest(values: np.ndarray) -> mpf:
    return mpf(float(np.abs(values).max()))


def _own(values: Any) -> mpf:
    return max(map(_own, values)) if isinstance(values, list) else abs(values)


def _distance(instance: Instance) -> mpf:
    return _largest(instance["queries"][:, None] - instance["particles"])


def _spread(instance: Instance) -> mpf:
    points = instance["particles"]
    return _largest(points[:, None] - points) ** 2


def _energy_terms(instance: Instance) -> mpf:
    log_weights = instance["log_weights"]
    finite = _largest(log_weights[np.isfinite(log_weights)])
    return _distance(instance) ** 2 + (finite + 2) / mpf(float(instance["beta"]))


def _scale(measure: Callable[[Instance], mpf]) -> Scale:
    return lambda instance, _: [measure(instance)]


def _beta(instance: Instance) -> mpf:
    return mpf(float(instance["beta"]))


_SCALES: dict[str, Scale] = {
    "the largest entry": lambda _, expected: [_own(expected)],
    "the particles": _scale(lambda one: _largest(one["particles"])),
    "the points": _scale(lambda one: max(_largest(one["particles"]), _largest(one["queries"]))),
    "the distances": _scale(_distance),
    "beta times the distances": _scale(lambda one: _beta(one) * _distance(one)),
    "1 + root of beta times the spread": _scale(
        lambda one: 1 + mpmath.sqrt(_beta(one) * _spread(one))
    ),
    "1 + beta times the squares": _scale(
        lambda one: 1 + _beta(one) * max(_largest(one["particles"]), _largest(one["queries"])) ** 2
    ),
    "its terms": _scale(_energy_terms),
}


def _case(
    reference: Callable[[Instance], list[Any]], by_hand: Callable[..., Any], **more: Any
) -> Case:
    regimes = more.pop("regimes", _REGIMES)
    return Case(
        regimes, reference, by_hand, sizes=SIZES, scales=_SCALES, count=30, batch=BATCH, **more
    )


CASES = {
    "weights": _case(weights, weights_by_hand),
    "dot_product_weights": _case(
        weights,
        dot_product_weights_by_hand,
        regimes={kind: _cloud(kind) for kind in ("typical", "far", "clusters")},
    ),
    "mean": _case(mean, mean_by_hand),
    "score": _case(score, score_by_hand),
    "attention_step": _case(
        attention_step,
        attention_step_by_hand,
        regimes={kind: _with_step(_cloud(kind)) for kind in _KINDS},
    ),
    "energy": _case(
        energy,
        energy_by_hand,
        regimes={kind: _positive_beta(_cloud(kind)) for kind in _KINDS},
    ),
    "energy_gradient": _case(energy_gradient, energy_gradient_by_hand),
    "covariance": _case(covariance, covariance_by_hand),
    "mean_jacobian": _case(mean_jacobian, mean_jacobian_by_hand),
    "energy_hessian": _case(energy_hessian, energy_hessian_by_hand),
}
