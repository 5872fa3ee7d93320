"""Orthonormal bases of row spaces, with data on them: batched, of any rank, rows normalized first.

The projector on the row space does not change when a row is scaled, and a rank decision does: a
saturated row of size 1e-9 must not be taken for a lost rank. So each row is divided by its norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numeric.door import Floats
from numeric.support import SUPPORT_SLACK


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Row space of G, shape ``(B, q, m)``, and the coordinates of a point x with ``G x`` given.

    Attributes:
        basis: orthonormal columns, zeros beyond the rank, shape ``(B, m, k)``.
        coordinates: ``basis' x``, shape ``(B, *more, k)``.
        off: distance of the given ``G x`` from the range of G, rows normalized, ``(B, *more)``.
        norms: of the rows, shape ``(B, q)``.
        live: rows that don't count as zero, shape ``(B, q)``.
        singular_values: of the normalized rows, descending, shape ``(B, min(q, m))``.
        rank: shape ``(B,)``.
        log_pdet: half the logarithm of the pseudo-determinant of ``G G'``, shape ``(B,)``.
        gain: what an error of 1 in a normalized row may become in the coordinates, shape ``(B,)``.
        turning: what the rows' error does to the directions, shape ``(B,)``.
    """

    basis: Floats
    coordinates: Floats
    off: Floats
    norms: Floats
    live: NDArray[np.bool_]
    singular_values: Floats
    rank: NDArray[np.integer[Any]]
    log_pdet: Floats
    gain: Floats
    turning: Floats


def row_space(
    matrix: Floats, data: Floats, *, floor: Floats, noise: Floats, rank_tol: float
) -> RowSpace:
    """Row space by QR of the normalized rows, and singular values of the triangle.

    The triangle's condition number is that of the rows, not its square as in a Gram matrix. Where
    it has full rank the orthonormal factor is the basis; elsewhere its singular vectors turn it.

    Args:
        matrix: G, shape ``(B, q, m)``.
        data: G x, shape ``(B, q)``.
        floor: rows whose norm is at or below it count as zero, shape ``(B, q)``.
        noise: absolute error of the rows, shape ``(B, q)``.
        rank_tol: singular values of the normalized rows at or below ``rank_tol`` times the largest,
            or at or below the worst row's relative error, count as zero.
    """
    count, n_rows, width = matrix.shape
    k = min(n_rows, width)
    norms = safe_norm(matrix)
    live = norms > floor
    if k == 0 or not live.any():
        return _nothing(count, width, k, norms, live)
    unit, scaled, divisor = _normalized(matrix, data, norms, live)
    basis, triangle = np.linalg.qr(np.swapaxes(unit, -1, -2))
    values = np.linalg.svd(triangle, compute_uv=False)
    relative = np.where(live, noise / divisor, 0.0).max(axis=-1, initial=0)
    rank = _rank(values, np.maximum(relative, rank_tol))
    coordinates, off, log_pdet = np.zeros((count, k)), np.zeros(count), np.zeros(count)
    full = rank == n_rows
    if full.any():
        lower = np.swapaxes(triangle[full], -1, -2)
        coordinates[full] = np.linalg.solve(lower, scaled[full][..., None])[..., 0]
        log_pdet[full] = np.log(values[full]).sum(-1) + np.log(divisor[full]).sum(-1)
    if not full.all():
        rest = ~full
        lower = np.swapaxes(triangle[rest], -1, -2)
        left, sizes, right = np.linalg.svd(lower, full_matrices=False)
        kept = np.arange(k) < rank[rest][:, None]
        along = np.where(kept, (scaled[rest][:, None, :] @ left)[:, 0], 0.0)
        off[rest] = safe_norm(scaled[rest] - (left @ along[..., None])[..., 0])
        coordinates[rest] = along / np.where(kept, sizes, 1.0)
        basis[rest] = basis[rest] @ (np.swapaxes(right, -1, -2) * kept[:, None, :])
        log_pdet[rest] = _graded(lower, divisor[rest] * live[rest], kept)
    gain = _gain(values, rank)
    turning = gain * relative
    return RowSpace(basis, coordinates, off, norms, live, values, rank, log_pdet, gain, turning)


def row_space_of_many(
    matrix: Floats, data: Floats, *, floor: Floats, noise: Floats, rank_tol: float
) -> tuple[RowSpace, Floats]:
    """The same for several points x of each matrix, with a basis of the kernel beside it.

    Args:
        matrix: shape ``(B, q, m)``, small.
        data: ``G x`` of c points, shape ``(B, c, q)``.

    Returns:
        the row space, with coordinates ``(B, c, k)`` and `off` ``(B, c)``, where k is the largest
        rank; and the kernel's basis, ``(B, m, m - least rank)``, with zeros where it is smaller.
    """
    norms = safe_norm(matrix)
    live = norms > floor
    unit, scaled, divisor = _normalized(matrix, data, norms, live)
    left, values, right = np.linalg.svd(unit, full_matrices=True)
    relative = np.where(live, noise / divisor, 0.0).max(axis=-1, initial=0)
    rank = _rank(values, np.maximum(relative, rank_tol))
    k, width = int(rank.max(initial=0)), matrix.shape[-1]
    kept = np.arange(k) < rank[:, None]
    along = np.where(kept[:, None, :], scaled @ left[..., :k], 0.0)
    off = safe_norm(scaled - along @ np.swapaxes(left[..., :k], -1, -2))
    coordinates = along / np.where(kept, values[:, :k], 1.0)[:, None, :]
    columns = np.swapaxes(right, -1, -2)
    least = int(rank.min(initial=width))
    kernel = columns[..., least:] * (np.arange(least, width) >= rank[:, None])[:, None, :]
    whole = rank == matrix.shape[-2]
    log_pdet = np.log(np.where(whole[:, None], values, 1.0)).sum(-1) + np.log(divisor).sum(-1)
    if not whole.all():
        counted = np.arange(values.shape[-1]) < rank[~whole][:, None]
        log_pdet[~whole] = _graded(unit[~whole], (divisor * live)[~whole], counted)
    gain = _gain(values, rank)
    space = RowSpace(
        columns[..., :k] * kept[:, None, :], coordinates, off, norms, live, values, rank, log_pdet,
        gain, gain * relative,
    )  # fmt: skip
    return space, kernel


def rounding_of(space: RowSpace, rounding: Floats) -> Floats:
    """What rounding of the data ``(B, q)`` may do to a coordinate, shape ``(B,)``."""
    relative = np.where(space.live, rounding / np.where(space.live, space.norms, 1.0), 0.0)
    return space.gain * np.linalg.norm(relative, axis=-1)


def distance_from_support(
    space: RowSpace,
    off: Floats,
    dead: Floats,
    *,
    rounding: Floats,
    floor: Floats,
    reach: float,
    rank_tol: float,
) -> tuple[Floats, Floats]:
    """Distance of data from their support by what rounding allows, and the distance (FB-4a).

    A direction that counts as zero may still carry its tolerance's share of the state, and a row
    that counts as zero its floor's.

    Args:
        space: the row space.
        off: distance of the normalized live rows, ``(B,)``.
        dead: size of the data of rows that count as zero, and 0 elsewhere, ``(B, q)``.
        rounding: of the data, ``(B, q)``.
        floor: below which a row counts as zero, ``(B, q)``.
        reach: how far a state lies from 0.
        rank_tol: below which a direction counts as zero.
    """
    slack = rounding + floor * reach
    with np.errstate(divide="ignore", invalid="ignore"):
        of_dead = np.where(dead > 0, dead / (SUPPORT_SLACK * slack), 0.0)
    live = np.where(space.live, slack / np.where(space.live, space.norms, 1.0), 0.0)
    allowed = np.sqrt(live.shape[-1]) * live.max(axis=-1, initial=0) + rank_tol * reach
    of_live = off / (SUPPORT_SLACK * allowed)
    dead_excess, distance = of_dead.max(axis=-1, initial=0), dead.max(axis=-1, initial=0)
    return np.maximum(of_live, dead_excess), np.where(of_live >= dead_excess, off, distance)


def safe_norm(vectors: Floats) -> Floats:
    """Norms along the last axis, also where the squares of the entries underflow."""
    if vectors.shape[-1] == 0:
        return np.zeros(vectors.shape[:-1])
    peak = np.abs(vectors).max(axis=-1)
    safe = np.where(peak > 0, peak, 1.0)
    with np.errstate(under="ignore"):
        return peak * np.linalg.norm(vectors / safe[..., None], axis=-1)


def _normalized(
    matrix: Floats, data: Floats, norms: Floats, live: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats]:
    """Rows of norm 1 or 0, the data with them, and what each row was divided by."""
    divisor = np.where(live, norms, 1.0)
    unit = np.where(live[..., None], matrix / divisor[..., None], 0.0)
    more = (slice(None), *[None] * (data.ndim - 2))
    return unit, np.where(live[more], data / divisor[more], 0.0), divisor


def _rank(values: Floats, tolerance: Floats) -> NDArray[np.integer[Any]]:
    """How many singular values stand above the tolerance, relative to the largest."""
    if values.shape[-1] == 0:
        return np.zeros(len(values), dtype=np.intp)
    return (values > (tolerance * values[:, 0])[:, None]).sum(axis=-1)


def _gain(values: Floats, rank: NDArray[np.integer[Any]]) -> Floats:
    """Reciprocal of the smallest singular value that counts; 0 where none does."""
    if values.shape[-1] == 0:
        return np.zeros(len(values))
    smallest = np.take_along_axis(values, np.maximum(rank - 1, 0)[:, None], axis=-1)[:, 0]
    return np.where(rank > 0, 1 / np.where(rank > 0, smallest, 1.0), 0.0)


def _graded(unit: Floats, sizes: Floats, kept: NDArray[np.bool_]) -> Floats:
    """Half the log-pseudo-determinant of the rows in their own sizes.

    Scaling rows changes a pseudo-determinant by more than a factor where rows depend on each other,
    so the singular values are computed again.
    """
    values = np.linalg.svd(unit * sizes[..., None], compute_uv=False)
    return np.log(np.where(kept & (values > 0), values, 1.0)).sum(axis=-1)


def _nothing(count: int, width: int, k: int, norms: Floats, live: NDArray[np.bool_]) -> RowSpace:
    """The row space {0}."""
    none = np.zeros((count, k))
    zero = np.zeros(count)
    rank = np.zeros(count, dtype=np.intp)
    return RowSpace(
        np.zeros((count, width, k)), none, zero, norms, live, none, rank, zero, zero, zero
    )
