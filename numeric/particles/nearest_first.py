"""Kernel averages at queries far from all particles, where every Gaussian underflows.

The exponents are taken relative to the nearest particle, as products of differences:

    |q - z_*|^2 - |q - z_j|^2 = (z_j - z_*) . ((q - z_j) + (q - z_*))

so that nothing cancels and nothing overflows, however far the query.
"""

from __future__ import annotations

import numpy as np

from numeric import door

# Numbers in one temporary array.
BLOCK = 2**20
# The nearest particle is a guess, made better by its own exponents: the largest is the next guess.
GUESSES = 3


def nearest_first_sums(
    queries: door.Floats, sources: door.Floats, beta: float, weights: door.Floats
) -> tuple[door.Floats, door.Floats, door.Floats]:
    """Kernel sums as `direct_sums`, by any query, however far.

    Args:
        queries: shape ``(M, d)``.
        sources: shape ``(N, d)``.
        beta: inverse bandwidth.
        weights: shape ``(N,)``, at least one above 0.

    Returns:
        log normalizers ``(M,)``, -inf where they are below all floats; means and shifts ``(M, d)``.
    """
    held = weights > 0
    sources, log_weights = sources[held], np.log(weights[held])
    log_normalizer = np.empty(len(queries), queries.dtype)
    mean, shift = np.empty_like(queries), np.empty_like(queries)
    rows = max(1, BLOCK // len(sources))
    # An exponent of -inf is a particle that doesn't count beside the nearest one.
    with np.errstate(over="ignore", under="ignore"):
        for start in range(0, len(queries), rows):
            block = slice(start, start + rows)
            log_normalizer[block], mean[block], shift[block] = _block(
                queries[block], sources, beta, log_weights
            )
    return log_normalizer, mean, shift


def _block(
    queries: door.Floats, sources: door.Floats, beta: float, log_weights: door.Floats
) -> tuple[door.Floats, door.Floats, door.Floats]:
    nearest = np.zeros(len(queries), np.intp)
    for _ in range(GUESSES):
        nearest = _relative(queries, sources, beta, log_weights, nearest)[0].argmax(axis=1)
    ranks, factor = _relative(queries, sources, beta, log_weights, nearest)
    exponents = np.multiply(ranks, factor, out=np.zeros_like(ranks), where=ranks != 0)
    shares = np.exp(exponents)
    total = shares.sum(axis=1)
    reference = sources[nearest]
    # Differences from the nearest, so that the mean of near particles keeps its digits.
    moved = np.stack(
        [
            (shares * (sources[:, axis] - reference[:, axis, None])).sum(axis=1)
            for axis in range(sources.shape[1])
        ],
        axis=1,
    )
    moved /= total[:, None]
    away = reference - queries
    square = ((np.sqrt(beta / 2) * away) ** 2).sum(axis=1)
    log_normalizer = np.log(total) + log_weights[nearest] - square
    return log_normalizer, reference + moved, away + moved


def _relative(
    queries: door.Floats,
    sources: door.Floats,
    beta: float,
    log_weights: door.Floats,
    nearest: np.ndarray,
) -> tuple[door.Floats, door.Floats]:
    """Exponents of all sources less that of the one named, as ranks ``(M, N)`` and a factor.

    The factor ``(M, 1)`` may be infinite: then what isn't as near as the nearest has no share.
    """
    reference = sources[nearest]
    away = np.abs(queries - reference).max(axis=1)
    extent = np.abs(sources - sources[0]).max()
    scale = np.maximum(away / 2 + extent, 1 / np.sqrt(beta)).astype(queries.dtype)
    ranks = np.zeros((len(queries), len(sources)), queries.dtype)
    for axis in range(sources.shape[1]):
        q, z = queries[:, axis, None], sources[:, axis]
        r = reference[:, axis, None]
        ranks += (z - r) * (((q - z) / 2 + (q - r) / 2) / scale[:, None])
    factor = (beta * scale)[:, None]
    return ranks + (log_weights - log_weights[nearest][:, None]) / factor, factor
