"""Nonuniform Fourier transforms as dense sums, behind the few calls of FINUFFT that are used."""

from __future__ import annotations

import numpy as np

LETTERS = "abc"


class Plan:
    """A plan of type 1: coefficients of points, and series at points by its adjoint."""

    def __init__(self, kind: int, sizes: tuple[int, ...], *, eps: float, **_: object):
        assert kind == 1 and eps > 0
        self.sizes = sizes
        self.waves: list[np.ndarray] = []

    def setpts(self, *angles: np.ndarray) -> None:
        self.waves = [
            np.exp(1j * np.outer(along, np.arange(-(size // 2), (size + 1) // 2)))
            for along, size in zip(angles, self.sizes, strict=True)
        ]

    def execute(self, strengths: np.ndarray) -> np.ndarray:
        axes = LETTERS[: len(self.sizes)]
        terms = ",".join("n" + axis for axis in axes)
        return np.einsum(f"n,{terms}->{axes}", strengths, *self.waves, optimize=True)

    def execute_adjoint(self, coefficients: np.ndarray) -> np.ndarray:
        axes = LETTERS[: len(self.sizes)]
        terms = ",".join("n" + axis for axis in axes)
        waves = [wave.conj() for wave in self.waves]
        return np.einsum(f"{axes},{terms}->n", coefficients, *waves, optimize=True)
