"""Sums that a fast method doesn't know well enough, done again: over the neighbours, or over all.

A fast method's error is relative to what lies around a query. Where the sum itself is much smaller
than that, it is summed pair by pair over the boxes within reach. Where even that leaves so little
that what lies beyond the reach counts, it is summed over all particles.
"""

from __future__ import annotations

import itertools

import numpy as np

from numeric import door
from numeric.particles.boxes import Grid, Indices, neighbours, points
from numeric.particles.direct import LEAST, direct_sums, pair_sums


def neighbourhood_sums(
    placed: Grid,
    weak: Indices,
    queries: door.Floats,
    sources: door.Floats,
    beta: float,
    weights: door.Floats,
    reach: int,
    workers: int,
) -> tuple[Indices, door.Floats, door.Floats]:
    """Sums pair by pair with the sources in boxes within reach.

    Args:
        placed: queries ``(M, d)`` and sources ``(N, d)`` in boxes.
        weak: which queries, as ascending places in the boxes' order, shape ``(m,)``.
        queries, sources, beta, weights, workers: as for `direct_sums`.
        reach: how many boxes away a source still counts.

    Returns:
        the queries' indices ``(m,)``, normalizers ``(m,)`` and shifts ``(m, d)``; shifts are NaN
        where the normalizer is 0.
    """
    boxes = placed.queries
    chosen = boxes.order[weak]
    normalizer = np.zeros(len(weak), queries.dtype)
    moved = np.zeros((len(weak), queries.shape[1]), queries.dtype)
    holders = np.searchsorted(boxes.starts, weak, side="right") - 1
    cuts = [*np.flatnonzero(np.diff(holders, prepend=-1)).tolist(), len(weak)]
    for first, last in itertools.pairwise(cuts):
        key = int(boxes.keys[holders[first]])
        near = points(placed.sources, neighbours(placed, key, key, reach))
        if near.size:
            normalizer[first:last], moved[first:last] = pair_sums(
                queries[chosen[first:last]], sources[near], beta, weights[near], workers
            )
    with np.errstate(divide="ignore", invalid="ignore"):
        return chosen, normalizer, moved / normalizer[:, None]


def answered(
    queries: door.Floats,
    sources: door.Floats,
    beta: float,
    weights: door.Floats,
    normalizer: door.Floats,
    shift: door.Floats,
    tail: float,
    workers: int,
) -> tuple[door.Floats, door.Floats, door.Floats]:
    """Log normalizers, means and shifts, once sums within a reach are known.

    Args:
        tail: largest value of the Gaussian beyond the reach, divided by the tolerance.
    """
    with np.errstate(divide="ignore"):
        log_normalizer = np.log(normalizer)
    mean = queries + shift
    floor = max(tail * weights.sum(), LEAST[queries.dtype] * weights.max())
    weak = np.flatnonzero(normalizer <= floor)
    if weak.size:
        log_normalizer[weak], mean[weak], shift[weak] = direct_sums(
            queries[weak], sources, beta, weights, workers=workers
        )
    return log_normalizer, mean, shift
