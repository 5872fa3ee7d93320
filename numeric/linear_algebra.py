"""Decompositions that the kernels call, of any rank and over leading batch axes.

What counts as zero is relative to the largest: `rank_tol`, by default the larger dimension times
eps. On exact arrays it is zero itself, and the namespace's own exact pseudo-inverse is used.
"""

from __future__ import annotations

import math

import numpy as np

from numeric.namespace import Array, Namespace, diagonal_mask, is_exact, typed


def rank_tolerance(xp: Namespace, matrix: Array, rank_tol: float | None) -> float:
    """The given tolerance, or the larger dimension times eps."""
    if rank_tol is not None:
        return rank_tol
    if is_exact(xp):
        return 0
    return max(1, *matrix.shape[-2:]) * float(xp.finfo(matrix.dtype).eps)


def pseudo_inverse(xp: Namespace, matrix: Array, rank_tol: float | None = None) -> Array:
    """Moore-Penrose inverse of ``(*batch, n, m)`` by singular values."""
    if is_exact(xp):
        return xp.linalg.pinv(matrix)
    left, values, right = xp.linalg.svd(matrix, full_matrices=False)
    inverted = _inverted(xp, values, rank_tolerance(xp, matrix, rank_tol))
    return (xp.matrix_transpose(right) * inverted[..., None, :]) @ xp.matrix_transpose(left)


def symmetric_pseudo_inverse(xp: Namespace, matrix: Array, rank_tol: float | None = None) -> Array:
    """Moore-Penrose inverse of a symmetric psd ``(*batch, n, n)`` by eigenvalues."""
    if is_exact(xp):
        return xp.linalg.pinv(matrix)
    if matrix.shape[-1] == 0:
        return matrix
    values, vectors = xp.linalg.eigh(matrix)
    inverted = _inverted(xp, values, rank_tolerance(xp, matrix, rank_tol))
    return (vectors * inverted[..., None, :]) @ xp.matrix_transpose(vectors)


def kernel_projector(xp: Namespace, matrix: Array, rank_tol: float | None = None) -> Array:
    """Orthogonal projector on the kernel of ``(*batch, n, m)``: exactly 0 where there is none."""
    if is_exact(xp):
        identity = xp.eye(matrix.shape[-1])
        return identity - xp.linalg.pinv(matrix) @ matrix
    _, values, right = xp.linalg.svd(matrix, full_matrices=True)
    floor = rank_tolerance(xp, matrix, rank_tol) * _largest(xp, values)
    zero, one = xp.zeros_like(values), xp.ones_like(values)
    shares = xp.where(values > floor, zero, one)
    more = right.shape[-1] - values.shape[-1]  # directions beyond the number of rows
    free = xp.ones((*values.shape[:-1], more), **typed(values))
    shares = xp.concat([shares, free], axis=-1)
    return (xp.matrix_transpose(right) * shares[..., None, :]) @ right


def row_projector(xp: Namespace, matrix: Array, rank_tol: float | None = None) -> Array:
    """Orthogonal projector on the span of the rows of ``(*batch, n, m)``."""
    identity = (
        xp.eye(matrix.shape[-1]) if is_exact(xp) else xp.eye(matrix.shape[-1], **typed(matrix))
    )
    return identity - kernel_projector(xp, matrix, rank_tol)


def _inverted(xp: Namespace, values: Array, tolerance: float) -> Array:
    """Reciprocals of what is above the tolerance relative to the largest, and 0 elsewhere."""
    kept = values > tolerance * _largest(xp, values)
    kept = kept & (values > 0)
    return xp.where(kept, 1 / xp.where(kept, values, 1), 0)


def _largest(xp: Namespace, values: Array) -> Array:
    """The largest of each vector, with its axis kept; 0 where there are none."""
    return xp.max(values, axis=-1)[..., None] if values.shape[-1] else 0


def symmetric_part(xp: Namespace, matrix: Array) -> Array:
    """(A + A')/2, symmetric to the last bit."""
    return (matrix + xp.matrix_transpose(matrix)) / 2


def pivot_floor(xp: Namespace, cov: Array, rank_tol: float | None = None) -> Array:
    """What a pivot must exceed, one an observed coordinate: its variance times the tolerance."""
    size = cov.shape[-1]
    variances = xp.sum(xp.where(diagonal_mask(xp, size, cov), cov, 0), axis=-1)
    return rank_tolerance(xp, cov, rank_tol) * variances


def batch_contiguous(xp: Namespace, array: Array, core: int) -> Array:
    """The same values, in NumPy stored with the batch axes last where that makes longer runs.

    Steps over the core axes and reductions along them then run over contiguous memory.
    """
    if xp is not np or array.ndim == core:
        return array
    batch, row = array.shape[: array.ndim - core], array.shape[-1]
    if math.prod(batch) <= row:
        return array
    axes = tuple(range(array.ndim - core, array.ndim))
    front = tuple(range(core))
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, axes, front)), front, axes)
