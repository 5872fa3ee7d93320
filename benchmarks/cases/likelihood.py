"""Cases of wrong responsibilities."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mpf

from benchmarks.cases.case import Arguments, Case, Generator, Instance
from benchmarks.cases.density import corruption
from benchmarks.cases.exact import exact

Array = np.ndarray

COMPONENTS, WIDTH = 4, 5
SIZES = {"N": COMPONENTS, "d": WIDTH}


def _masses(rng: np.random.Generator, count: int) -> Array:
    masses = rng.uniform(0, 1, (count, COMPONENTS)) ** 4
    return masses / masses.sum(axis=-1, keepdims=True)


def _wrong(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        right, other = _masses(rng, count), _masses(rng, count)
        if kind == "near":
            other = right + 1e-12 * (other - right)
        targets = rng.normal(size=(count, COMPONENTS, WIDTH))
        gaps = targets[:, :, None] - targets[:, None]
        return {
            "responsibilities": right,
            "approximate": other,
            "targets": targets,
            "t": corruption(rng, kind, count),
            "spread": np.sqrt((gaps**2).sum(axis=-1)).max(axis=(-2, -1)),
        }

    return drawn


def wrong_likelihood(instance: Instance) -> list[Any]:
    """The two noise means themselves, at the token 0."""
    right, other, targets, t, spread = (
        exact(instance[name])
        for name in ("responsibilities", "approximate", "targets", "t", "spread")
    )

    def noise(masses: list[Fraction], a: int) -> Fraction:
        mean = sum(mass * (1 - t) * x[a] for mass, x in zip(masses, targets, strict=True))
        return -mean / t

    deviation = [noise(right, a) - noise(other, a) for a in range(len(targets[0]))]
    apart = sum(abs(r - q) for r, q in zip(right, other, strict=True)) / 2
    return [deviation, apart, (1 / t - 1) * spread * apart]


def wrong_likelihood_by_hand(
    responsibilities: Array, approximate: Array, targets: Array, t: Array, spread: Array
) -> tuple[Array, ...]:
    moved = approximate - responsibilities
    scale = (1 - t) / t
    deviation = scale[..., None] * (moved[..., None, :] @ targets)[..., 0, :]
    apart = np.abs(moved).sum(axis=-1) / 2
    return deviation, apart, scale * spread * apart


def _terms(instance: Instance, expected: list[Any]) -> list[Any]:
    """The sum of the sizes of the deviation's terms; the other outputs themselves."""
    sizes = np.abs(instance["responsibilities"] - instance["approximate"])
    largest = float((sizes[..., None] * np.abs(instance["targets"])).sum(axis=-2).max())
    t = mpf(float(instance["t"]))
    return [(1 - t) / t * mpf(largest), expected[1], expected[2]]


def _kinds(make: Callable[[str], Generator], *kinds: str) -> dict[str, Generator]:
    return {kind: make(kind) for kind in kinds}


CASES = {
    "wrong_likelihood": Case(
        _kinds(_wrong, "typical", "near", "sharp", "pure noise"),
        wrong_likelihood,
        wrong_likelihood_by_hand,
        exact=True,
        sizes=SIZES,
        rational="typical",
        scales={"the terms of the sum": _terms},
    ),
}
