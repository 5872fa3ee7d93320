"""The constants of the particles' cost model, measured on this machine beside those in the source.

Each is the slope between two runs, or solves two equations: what a box and a particle take, from a
cloud of many boxes and one of many particles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.particles import best
from numeric.particles import costs, kernel_sums
from numeric.particles.fourier import count_coefficients
from numeric.particles.panels import count_boxes


class Constant(NamedTuple):
    """A constant of the model, in seconds.

    Attributes:
        name: as in `numeric.particles.costs`, and the dimension or what it is for.
        source: its value there.
        here: measured.
    """

    name: str
    source: float
    here: float


def calibrate(*, tokens: int = 100_000, seed: int = 0) -> list[Constant]:
    """All constants of what is installed; `tokens` of the largest cloud in the plane."""
    found = []
    for name, method, stretch in (
        ("NARROW", "direct", 1.0), ("WIDE", "direct", 1e4), ("COMPILED", "compiled", 1.0),
    ):  # fmt: skip
        if costs.is_installed(method):
            count = max(10, tokens // 40)
            two, ten = (_pair(count, d, stretch, method, seed) for d in (2, 10))
            slope = (ten - two) / 8
            for part, here in zip(("fixed", "slope"), (two - 2 * slope, slope), strict=True):
                source = getattr(costs, name)[part == "slope"]
                found.append(Constant(f"{name} {part}", source, here))
    for d in (1, 2):
        here = _two_parts("panels", d, tokens, seed)
        for name, value in zip(("BOX", "PANEL_POINT"), here, strict=True):
            found.append(Constant(f"{name} {d}", getattr(costs, name)[d], value))
    if costs.is_installed("nufft"):
        call = _seconds(np.zeros((1, 1)), 1.0, "nufft")
        found.append(Constant("CALL", costs.CALL, call))
        for d in (1, 2, 3):
            here = _two_parts("nufft", d, tokens if d < 3 else tokens // 5, seed, call)
            for name, value in zip(("COEFFICIENT", "FOURIER_POINT"), here, strict=True):
                found.append(Constant(f"{name} {d}", getattr(costs, name)[d], value))
    return found


def as_text(constants: list[Constant]) -> str:
    """A table, with how far this machine is from the source."""
    lines = [f"{'seconds on one core':22s} {'source':>9s} {'here':>9s} {'ratio':>6s}"]
    lines += [f"{c.name:22s} {c.source:9.1e} {c.here:9.1e} {c.here / c.source:6.2f}"
              for c in constants]  # fmt: skip
    return "\n".join(lines)


def _seconds(z: np.ndarray, beta: float, method: str) -> float:
    kernel_sums(z, z, beta, method=method)
    return best(lambda: kernel_sums(z, z, beta, method=method), repeats=3)[1]


def _pair(count: int, axes: int, stretch: float, method: str, seed: int) -> float:
    z = np.random.default_rng(seed).normal(size=(count, axes))
    z[:, 0] *= stretch
    return _seconds(z, 1.0, method) / count**2


def _two_parts(
    method: str, axes: int, tokens: int, seed: int, fixed: float = 0.0
) -> tuple[float, float]:
    """Seconds of a box or coefficient, and of a particle."""
    rng = np.random.default_rng(seed)
    few = rng.uniform(0, {1: 400, 2: 100, 3: 25}[axes], size=(max(20, tokens // 50), axes))
    many = rng.uniform(0, 5, size=(tokens, axes))
    rows = []
    for z in (few, many):
        parts = (
            count_boxes(z, 1.0)
            if method == "panels"
            else count_coefficients(z, z, 1.0, np.ones(len(z)), 1e-12)
        )
        rows.append((parts, len(z), _seconds(z, 1.0, method) - fixed))
    table = np.array(rows)
    part, point = np.linalg.solve(table[:, :2], table[:, 2])
    return float(part), float(point)
