"""Squared distances between two clouds of points, without an array of all differences.

One coordinate at a time: so many additions of arrays of the result's size. Differences come before
squares, so that a cloud far from the origin keeps its digits; `|x|^2 + |y|^2 - 2 x'y` does not.
"""

from __future__ import annotations

from numeric.linear_algebra import batch_contiguous
from numeric.namespace import Array, Namespace, is_exact


def squared_distances(xp: Namespace, queries: Array, particles: Array) -> Array:
    """|q_i - z_j|^2, ``(*batch, n, N)``, from rows ``(*batch, n, d)`` and ``(*batch, N, d)``."""
    queries, particles = batch_contiguous(xp, queries, 2), batch_contiguous(xp, particles, 2)
    total = 0
    for place in range(queries.shape[-1]):
        difference = queries[..., :, None, place] - particles[..., None, :, place]
        total = total + difference * difference
    return total


def excess_distances(xp: Namespace, distances: Array, queries: Array, particles: Array) -> Array:
    """|q_i - z_j|^2 - min_k |q_i - z_k|^2, ``(*batch, n, N)``, where both may be huge.

    With k the nearest, coordinate by coordinate (z_j - z_k)((z_j - q) + (z_k - q)): no difference
    of squares is left, so that the error is that of moving the points by their rounding.
    """
    if is_exact(xp):
        return distances + xp.max(-distances, axis=-1)[..., None]
    nearest = _nearest(xp, distances, particles)
    queries, particles = batch_contiguous(xp, queries, 2), batch_contiguous(xp, particles, 2)
    nearest = batch_contiguous(xp, nearest, 2)
    total = 0
    for place in range(queries.shape[-1]):
        query, near = queries[..., :, None, place], nearest[..., :, None, place]
        particle = particles[..., None, :, place]
        total = total + (particle - near) * ((particle - query) + (near - query))
    return total


def _nearest(xp: Namespace, distances: Array, particles: Array) -> Array:
    """The particle nearest to each query, ``(*batch, n, d)``."""
    index = xp.argmin(distances, axis=-1)[..., None]
    missing = (1,) * (index.ndim - particles.ndim)
    particles = xp.reshape(particles, (*missing, *particles.shape))
    return xp.take_along_axis(particles, index, axis=-2)
