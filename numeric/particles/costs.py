"""What each way of kernel sums costs, from which the cheapest is chosen.

The constants are seconds on one core, measured once by `python -m benchmarks particles
--calibrate`, which prints them anew beside these. They stand here and aren't measured at run time,
so that the choice, and with it the last digits, is the same on every machine with the same
libraries. Only their ratios count.
"""

from __future__ import annotations

import functools
import importlib.util

from numeric import door
from numeric.errors import DomainError
from numeric.particles.direct import centred, is_narrow
from numeric.particles.fourier import count_coefficients, library
from numeric.particles.panels import count_boxes

# A pair of particles in d dimensions takes a + b d: of direct sums with exponents expanded and
# from differences, and in compiled loops.
NARROW, WIDE, COMPILED = (1.1e-9, 1.0e-10), (5.5e-9, 1.6e-9), (5.0e-10, 1.7e-10)
# Panels, by dimension: a box, and a particle that is both source and query.
BOX, PANEL_POINT = {1: 4e-6, 2: 1.1e-4}, {1: 1.6e-7, 2: 5e-7}
# Fourier transforms, by dimension: a call, a coefficient, and a particle that is both.
CALL = 5.0e-4
COEFFICIENT, FOURIER_POINT = {1: 1e-8, 2: 1.6e-7, 3: 4e-7}, {1: 9e-8, 2: 3.5e-7, 3: 4e-6}
# A library is loaded once: numba with what it compiled on this machine before, and FINUFFT.
START = {"direct": 0.0, "panels": 0.0, "compiled": 1.0, "nufft": 0.1}
# Below so many pairs nothing but direct sums pays.
FEW_PAIRS = 10**5


def cheapest(
    queries: door.Floats,
    sources: door.Floats,
    beta: float,
    weights: door.Floats,
    *,
    tolerance: float = 1e-12,
    workers: int = 1,
    repeats: int = 1,
) -> str:
    """The way of kernel sums that takes the least time, among those that are installed.

    Args:
        queries: shape ``(M, d)``; the same object as `sources` in the first stage.
        sources: shape ``(N, d)``.
        beta: inverse bandwidth.
        weights: shape ``(N,)``, above 0.
        tolerance: as for `fourier_sums`.
        workers: threads, which sums pair by pair make the most of.
        repeats: how many such sums are to come, over which the start of a library is spread.

    Returns:
        ``"direct"``, ``"compiled"``, ``"panels"`` or ``"nufft"``.
    """
    pairs, axes = len(queries) * len(sources), sources.shape[1]
    if pairs < FEW_PAIRS:
        return "direct"
    points = (len(queries) + len(sources)) / 2
    fixed, slope = NARROW if is_narrow(*centred(queries, sources), beta) else WIDE
    best, least = "direct", pairs * (fixed + slope * axes) / workers
    # The extent is looked at only where a cloud of no extent would be cheaper.
    if axes <= 3:
        seconds = START["nufft"] / repeats + CALL + FOURIER_POINT[axes] * points
        if seconds < least and is_installed("nufft"):
            count = count_coefficients(queries, sources, beta, weights, tolerance)
            seconds += COEFFICIENT[axes] * count
            if seconds < least:
                best, least = "nufft", seconds
    if axes <= 2:
        seconds = PANEL_POINT[axes] * points
        if seconds < least:
            seconds += BOX[axes] * count_boxes(sources, beta)
            if seconds < least:
                best, least = "panels", seconds
    seconds = START["compiled"] / repeats
    seconds += pairs * (COMPILED[0] + COMPILED[1] * axes) / workers
    if seconds < least and is_installed("compiled"):
        best = "compiled"
    return best


@functools.cache
def is_installed(method: str) -> bool:
    """Whether the library that a method needs is there."""
    if method == "compiled":
        return importlib.util.find_spec("numba") is not None
    if method == "nufft":
        try:
            library()
        except DomainError:
            return False
    return True
