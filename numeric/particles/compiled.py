"""Gaussian kernel sums pair by pair, in loops that numba compiles (extra `fast`).

The exponential is a polynomial, so that the loop over a tile becomes vector instructions. The
functions are plain Python too, and give the same sums without numba, slowly. What numba compiles
has no annotations: it finds the types itself.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from numeric import door
from numeric.errors import DomainError

TILE = 1024
# Below this exponent a Gaussian is 0; above, its scale 2^n is a normal number.
LEAST_EXPONENT = -708.0
# Adding this rounds to an integer, which then stands in the last bits.
ROUNDER = 1.5 * 2.0**52
LOG2_E = 1 / math.log(2)
# log 2 in two parts: multiples of the first are exact.
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
# exp on [-log(2)/2, log(2)/2]: the rest of the series is below 5e-18.
TAYLOR = tuple(1 / math.factorial(k) for k in range(14))


def exponentials(x, rounded, count):
    """Replace ``x[:count]``, at most 0, by its exponential; error below 2 eps.

    `rounded` is a buffer. ``x = n log 2 + r``; the polynomial in r, then 2^n by its bits.
    """
    c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13 = TAYLOR
    for j in range(count):
        y = max(x[j], LEAST_EXPONENT - 1)
        rounded[j] = y * LOG2_E + ROUNDER
        n = rounded[j] - ROUNDER
        r = (y - n * LN2_HIGH) - n * LN2_LOW
        tail = c8 + r * (c9 + r * (c10 + r * (c11 + r * (c12 + r * c13))))
        tail = c4 + r * (c5 + r * (c6 + r * (c7 + r * tail)))
        value = c0 + r * (c1 + r * (c2 + r * (c3 + r * tail)))
        x[j] = value if x[j] > LEAST_EXPONENT else 0.0
    bits = rounded.view(np.int64)
    for j in range(count):
        bits[j] = (bits[j] + 1023) << 52
    for j in range(count):
        x[j] *= rounded[j]


def total(k, count):
    """Sum of a tile."""
    found = 0.0
    for j in range(count):
        found += k[j]
    return found


def moment(k, along, place, count):
    """Sum of ``k (z - q)`` along an axis."""
    found = 0.0
    for j in range(count):
        found += k[j] * (along[j] - place)
    return found


def rows(q, z, scale, weights, normalizer, moved):
    """Normalizers and sums of ``w k (z - q)`` for rows of q; z has its axes first."""
    k = np.empty(TILE)
    buffer = np.empty(TILE)
    for i in range(q.shape[0]):
        for left in range(0, z.shape[1], TILE):
            count = min(TILE, z.shape[1] - left)
            for axis in range(z.shape[0]):
                place, along = q[i, axis], z[axis, left : left + count]
                if axis == 0:
                    for j in range(count):
                        away = (along[j] - place) * scale
                        k[j] = -away * away
                else:
                    for j in range(count):
                        away = (along[j] - place) * scale
                        k[j] -= away * away
            exponentials(k, buffer, count)
            part = weights[left : left + count]
            for j in range(count):
                k[j] *= part[j]
            normalizer[i] += total(k, count)
            for axis in range(z.shape[0]):
                moved[i, axis] += moment(k, z[axis, left : left + count], q[i, axis], count)


@functools.cache
def compiled_rows() -> Callable[..., None]:
    """`rows`, compiled once for this machine; of its sums alone the order is left to the compiler.

    Raises:
        DomainError: numba is not installed.
    """
    try:
        numba, extending = map(importlib.import_module, ("numba", "numba.extending"))
    except ImportError as error:
        raise DomainError(
            "method", "'compiled' where numba is installed", "no numba", "install the extra `fast`"
        ) from error
    fused, reordered = {"contract"}, {"contract", "reassoc"}
    for part, freedom in ((exponentials, fused), (total, reordered), (moment, reordered)):
        plain = inspect.unwrap(part)
        told = extending.overload(part, jit_options={"fastmath": freedom}, strict=False)
        told(lambda *_, plain=plain: plain)
    options = {"nogil": True, "fastmath": fused}
    try:
        return numba.njit(cache=True, **options)(inspect.unwrap(rows))
    except RuntimeError:  # nowhere to keep what is compiled
        return numba.njit(**options)(inspect.unwrap(rows))


def compiled_sums(
    q: door.Floats,
    z: door.Floats,
    beta: float,
    weights: door.Floats,
    workers: int,
    run: Callable[..., None] | None = None,
) -> tuple[door.Floats, door.Floats]:
    """Normalizers ``(M,)`` and sums of ``w k (z - q)``, shape ``(M, d)``.

    Args:
        run: `rows`, where numba isn't wanted. Default: `compiled_rows`.

    Raises:
        DomainError: numba is not installed.
    """
    run = run or compiled_rows()
    double = [np.ascontiguousarray(x, dtype=np.float64) for x in (q, z.T, weights)]
    normalizer, moved = np.zeros(len(q)), np.zeros(q.shape)
    scale = math.sqrt(beta / 2)
    size = -(-len(q) // workers)

    def part(start: int) -> None:
        block = slice(start, start + size)
        run(double[0][block], double[1], scale, double[2], normalizer[block], moved[block])

    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(part, range(0, len(q), size)):
            pass
    return normalizer.astype(q.dtype), moved.astype(q.dtype)
