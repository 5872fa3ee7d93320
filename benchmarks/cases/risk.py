"""Cases of the risk's four terms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mpf

from benchmarks.cases.case import Arguments, Case, Generator, Instance, Scale
from benchmarks.cases.exact import exact

Array = np.ndarray

SIZES = {"n": 40, "q": 3}


# ---------------------------------------------------------------- instances


def _probe(kind: str, *, finite: bool) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        points, width = (12, 3) if finite else (40, 3)
        shape = (count, points, width)
        masses = 10 ** rng.uniform(-3, 0, (count, points))
        if kind == "degenerate":
            masses[:, :2] = 0
        masses /= masses.sum(axis=-1, keepdims=True)
        direction = rng.integers(-3, 4, (count, width, 1)) + np.eye(width)[:, :1] * 8
        projector = direction @ np.swapaxes(direction, -1, -2)
        projector = projector / (direction**2).sum(axis=-2, keepdims=True)
        scale = 10.0 ** rng.choice([-100, 100]) if kind == "scaled" else 1.0
        shift = 1e6 if kind == "offset" else 0.0
        arguments = {
            "masses": masses,
            "target": scale * rng.normal(size=shape) + shift,
            "projector": projector,
            "prediction": scale * rng.normal(size=shape) + shift,
        }
        if not finite:
            means = scale * rng.normal(size=(2, *shape)) + shift
            return {**arguments, "m_Z": means[0], "m_T": means[1]}
        fine = rng.integers(0, 6, (count, points))
        if kind == "degenerate":
            fine[:] = np.arange(points) if rng.integers(0, 2) else 0
            fine[:, 0] = 99  # a block without mass
        return {**arguments, "labels_Z": fine, "labels_T": fine // 2}

    return drawn


# ---------------------------------------------------------------- references


def _terms(instance: Instance, fine: list[Any], coarse: list[Any]) -> list[Any]:
    masses, target = exact(instance["masses"]), exact(instance["target"])
    projector, prediction = exact(instance["projector"]), exact(instance["prediction"])
    reached = [
        [sum(a * b for a, b in zip(line, mean, strict=True)) for line in projector]
        for mean in coarse
    ]

    def mean_square(left: list[Any], right: list[Any]) -> Fraction:
        return sum(
            (
                mass * sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0))
                for mass, x, y in zip(masses, left, right, strict=True)
            ),
            Fraction(0),
        )

    return [
        mean_square(target, fine),
        mean_square(fine, coarse),
        mean_square(coarse, reached),
        mean_square(reached, prediction),
    ]


def four_terms(instance: Instance) -> list[Any]:
    return _terms(instance, exact(instance["m_Z"]), exact(instance["m_T"]))


def four_terms_finite(instance: Instance) -> list[Any]:
    masses, target = exact(instance["masses"]), exact(instance["target"])

    def averages(labels: np.ndarray) -> list[Any]:
        found = []
        for label in labels:
            block = [place for place, other in enumerate(labels) if other == label]
            mass = sum((masses[place] for place in block), Fraction(0))
            found.append(
                [
                    sum((masses[place] * target[place][a] for place in block), Fraction(0))
                    / (mass or 1)
                    for a in range(len(target[0]))
                ]
            )
        return found

    return _terms(instance, averages(instance["labels_Z"]), averages(instance["labels_T"]))


# ---------------------------------------------------------------- by hand


def four_terms_by_hand(
    masses: Array, target: Array, m_Z: Array, m_T: Array, projector: Array, prediction: Array
) -> tuple[Array, ...]:
    reached = m_T @ projector
    pairs = ((target, m_Z), (m_Z, m_T), (m_T, reached), (reached, prediction))
    return tuple((masses * ((a - b) ** 2).sum(axis=-1)).sum(axis=-1) for a, b in pairs)


def four_terms_finite_by_hand(
    masses: Array,
    target: Array,
    labels_Z: Array,
    labels_T: Array,
    projector: Array,
    prediction: Array,
) -> tuple[Array, ...]:
    def average(labels: Array) -> Array:
        weights = (labels[..., :, None] == labels[..., None, :]) * masses[..., None, :]
        return weights @ target / weights.sum(axis=-1)[..., None]

    return four_terms_by_hand(
        masses, target, average(labels_Z), average(labels_T), projector, prediction
    )


def _mean_square(instance: Instance, expected: list[Any]) -> list[Any]:
    """The mean square of the target, which the four terms split."""
    squares = (instance["target"] ** 2).sum(axis=-1)
    return [mpf(float((instance["masses"] * squares).sum()))] * len(expected)


_SCALES: dict[str, Scale] = {"the mean square of the values": _mean_square}


CASES = {
    "four_terms": Case(
        {kind: _probe(kind, finite=False) for kind in ("typical", "offset", "scaled")},
        four_terms,
        four_terms_by_hand,
        exact=True,
        sizes=SIZES,
        rational="typical",
        scales=_SCALES,
        count=12,
        batch=2_000,
    ),
    "four_terms_finite": Case(
        {kind: _probe(kind, finite=True) for kind in ("typical", "offset", "degenerate")},
        four_terms_finite,
        four_terms_finite_by_hand,
        exact=True,
        sizes=SIZES,
        rational="degenerate",
        written="degenerate",
        scales=_SCALES,
        count=12,
        batch=5_000,
    ),
}
