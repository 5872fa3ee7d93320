"""Gaussian kernel sums over particles, pair by pair in tiles: any dimension, no N x N array.

Where the cloud is narrow, a tile's exponents are one matrix product: the cloud is centred first,
and rounding of ``|q|^2 + |z|^2 - 2 q.z`` is bounded by the cloud's size. Where it is wide,
exponents and means come from differences. A query at which every Gaussian underflows is answered
by `nearest_first_sums`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import no_type_check

import numpy as np

from numeric import door
from numeric.particles.compiled import compiled_sums
from numeric.particles.nearest_first import nearest_first_sums

# beta times the squared radius up to which the expansion is used, and the error that is left:
# three roundings of exponents of that size. Single precision has too few digits for it.
EXPANDED = {np.dtype(np.float64): 1000.0, np.dtype(np.float32): 4.0}
STATED_ERROR = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}

# Products up to this many multiplications are left to one thread by OpenBLAS. Thin products on
# several threads are slower, and the tiles are a better place for threads.
ONE_THREAD = 2**18
TILE_ROWS = 128

# A query this far outside of the particles' box, in units of 1/sqrt(beta), sees only underflow.
FAR = 35.0
# Below this share of the largest weight, what underflows may count: those sums are done again.
LEAST = {np.dtype(np.float64): 1e-250, np.dtype(np.float32): 1e-25}


def direct_sums(
    queries: door.Floats,
    sources: door.Floats,
    beta: float,
    weights: door.Floats,
    *,
    workers: int = 1,
    compiled: bool = False,
) -> tuple[door.Floats, door.Floats, door.Floats]:
    r"""Logarithm of ``D(q) = \sum_j w_j e^{-\beta|q-z_j|^2/2}``, and the kernel mean.

    Relative error of D at most 1e-12, and of the mean 1e-12 of the cloud's radius or of the
    bandwidth, whichever is larger; 1e-5 in single precision.

    Args:
        queries: shape ``(M, d)``.
        sources: z, shape ``(N, d)``, N at least 1.
        beta: inverse bandwidth, above 0.
        weights: w, shape ``(N,)``, at least 0, one above.
        workers: threads.
        compiled: by numba's loops, from differences.

    Returns:
        log normalizers ``(M,)``, means ``F(q)`` and shifts ``F(q) - q``, shape ``(M, d)``.

    Source: EB-6, EB-13, EB-30.
    """
    far = is_far(queries, sources, beta)
    log_normalizer = np.empty(len(queries), queries.dtype)
    shift = np.zeros_like(queries)
    near = np.flatnonzero(~far)
    if near.size:
        by_pairs = compiled_sums if compiled else pair_sums
        normalizer, moved = by_pairs(queries[near], sources, beta, weights, workers)
        far[near[normalizer <= LEAST[queries.dtype] * weights.max()]] = True
        with np.errstate(divide="ignore", invalid="ignore"):  # those are done again below
            log_normalizer[near] = np.log(normalizer)
            shift[near] = moved / normalizer[:, None]
    mean = queries + shift
    if far.any():
        log_normalizer[far], mean[far], shift[far] = nearest_first_sums(
            queries[far], sources, beta, weights
        )
    return log_normalizer, mean, shift


def is_far(queries: door.Floats, sources: door.Floats, beta: float) -> np.ndarray:
    """Which queries lie so far outside of the sources' box that every Gaussian underflows.

    Args:
        queries: shape ``(M, d)``.
        sources: shape ``(N, d)``, N at least 1.
        beta: inverse bandwidth, above 0.

    Returns:
        shape ``(M,)``.
    """
    lower, upper = bounds(sources)
    with np.errstate(over="ignore"):
        beyond = np.maximum(lower - queries, queries - upper)
        return (np.sqrt(beta) * beyond > FAR).any(axis=1)


def bounds(points: door.Floats) -> tuple[door.Floats, door.Floats]:
    """Least and largest coordinates, shape ``(d,)``."""
    along = np.ascontiguousarray(points.T)  # NumPy is slow along many short rows
    return along.min(axis=1), along.max(axis=1)


def centred(queries: door.Floats, sources: door.Floats) -> tuple[door.Floats, door.Floats]:
    """Queries ``(M, d)`` and sources ``(N, d)``, less the middle of the sources' box."""
    lower, upper = bounds(sources)
    centre = lower / 2 + upper / 2
    return queries - centre, sources - centre


def pair_sums(
    queries: door.Floats, sources: door.Floats, beta: float, weights: door.Floats, workers: int
) -> tuple[door.Floats, door.Floats]:
    """Normalizers ``(M,)`` and sums of ``w k (z - q)``, shape ``(M, d)``; as `direct_sums`."""
    q, z = centred(queries, sources)
    if is_narrow(q, z, beta):
        return _expanded(q, z, beta, weights, workers)
    # Not centred: that would cost digits of particles near 0.
    return difference_sums(queries, sources, beta, weights, workers)


def is_narrow(q: door.Floats, z: door.Floats, beta: float) -> bool:
    """Whether exponents may be expanded, from points around the origin."""
    with np.errstate(over="ignore"):
        largest = max(float(_squares(x.astype(np.float64, copy=False)).max()) for x in (q, z))
    return beta * largest <= EXPANDED[q.dtype]


def _expanded(
    q: door.Floats, z: door.Floats, beta: float, weights: door.Floats, workers: int
) -> tuple[door.Floats, door.Floats]:
    """Normalizers and sums of ``w k (z - q)``, with exponents as a product of augmented rows."""
    axes = q.shape[1]
    rows = np.empty((len(q), axes + 2), q.dtype)
    rows[:, :axes] = beta * q
    rows[:, axes] = -(beta / 2) * _squares(q)
    rows[:, axes + 1] = 1
    columns = np.empty((axes + 2, len(z)), z.dtype)
    columns[:axes] = z.T
    columns[axes] = 1
    columns[axes + 1] = -(beta / 2) * _squares(z)
    values = (weights * columns[: axes + 1]).T
    sums = np.zeros((len(q), axes + 1), q.dtype)
    height = min(TILE_ROWS, len(q))
    width = max(128, ONE_THREAD // (height * rows.shape[1]))

    @no_type_check  # made anew at every call, it would be wrapped anew where tests check types
    def run(start: int) -> None:
        block = slice(start, start + height)
        tile = np.empty((len(rows[block]), min(width, len(z))), q.dtype)
        with np.errstate(under="ignore"):
            for left in range(0, len(z), width):
                part = slice(left, left + width)
                exponents = tile[:, : columns[:, part].shape[1]]
                np.matmul(rows[block], columns[:, part], out=exponents)
                np.exp(exponents, out=exponents)
                sums[block] += exponents @ values[part]

    _each(run, range(0, len(q), height), workers)
    return sums[:, -1], sums[:, :-1] - sums[:, -1:] * q


def _squares(points: door.Floats) -> door.Floats:
    """Squared norms, shape ``(N,)``."""
    along = np.ascontiguousarray(points.T)
    return np.einsum("ij,ij->j", along, along)


def difference_sums(
    q: door.Floats, z: door.Floats, beta: float, weights: door.Floats, workers: int
) -> tuple[door.Floats, door.Floats]:
    """As `pair_sums`, all from differences."""
    scale = np.sqrt(beta / 2).astype(q.dtype)
    q_axes, z_axes = (np.ascontiguousarray(x.T) for x in (q, z))
    normalizer = np.zeros(len(q), q.dtype)
    moved = np.zeros_like(q)
    height, width = min(TILE_ROWS, len(q)), min(512, len(z))

    @no_type_check  # made anew at every call, it would be wrapped anew where tests check types
    def run(start: int) -> None:
        block = slice(start, start + height)
        here = normalizer[block]
        buffers = np.empty((2, len(here), width), q.dtype)
        with np.errstate(under="ignore", over="ignore"):
            for left in range(0, len(z), width):
                part = slice(left, left + width)
                squares, apart = buffers[:, :, : len(z[part])]
                squares[...] = 0
                for a, b in zip(q_axes[:, block], z_axes[:, part], strict=True):
                    np.subtract(b, a[:, None], out=apart)
                    apart *= scale
                    apart *= apart
                    squares -= apart
                np.exp(squares, out=squares)
                squares *= weights[part]
                here += squares.sum(axis=1)
                axes = zip(q_axes[:, block], z_axes[:, part], strict=True)
                for axis, (a, b) in enumerate(axes):
                    np.subtract(b, a[:, None], out=apart)
                    apart *= squares
                    moved[block, axis] += apart.sum(axis=1)

    _each(run, range(0, len(q), height), workers)
    return normalizer, moved


def _each(run: Callable[[int], None], starts: range, workers: int) -> None:
    """Run all, on so many threads; NumPy lets go of the interpreter inside of a tile."""
    if workers == 1:
        for start in starts:
            run(start)
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(run, starts):
            pass
