"""Gaussian kernel sums over particles by Chebyshev panels, on a line or in the plane.

The Gaussian is a product over the axes. The sources of a box become p Chebyshev moments an axis;
a matrix takes them from box to neighbouring box, one axis after the other; a series is evaluated
at the queries. Matrix products only, in time proportional to the number of particles.

Each query's error is estimated, and where the sum is too small beside it the sum is done again,
pair by pair over the neighbourhood: so the error is relative to the normalizer at every query.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from numeric import door
from numeric.particles.boxes import Boxes, Grid, Indices, found, grid, neighbours
from numeric.particles.chebyshev import Series, chebyshev, series
from numeric.particles.direct import is_far
from numeric.particles.neighbourhoods import answered, neighbourhood_sums

# Largest width of a box, in units of 1/sqrt(beta); the power of two below is taken.
WIDTH = 4.0
# Terms are taken to this share of the tolerance, since a box meets many boxes.
SHARE = 1e-4
# Boxes are treated and queries evaluated so many at a time, which bounds the memory.
BOXES = 2**11
POINTS = 2**12
# Boxes of sources that a group of boxes may have around it, unless one alone has more.
AROUND = 2**13
# Weak sums with more pairs than this are done again in boxes so many times narrower: what makes a
# sum weak is then mostly some boxes away, where it counts for less.
MANY_PAIRS, NARROWER = 3 * 10**7, 4
# Rows of moments that a matrix product takes at a time, so that they stay in the cache.
ROWS = 384
# Boxes of a grid are counted in a table up to this size.
LARGE = 2**20


def panel_sums(
    queries: door.Floats,
    sources: door.Floats,
    beta: float,
    weights: door.Floats,
    *,
    tolerance: float,
    workers: int = 1,
) -> tuple[door.Floats, door.Floats, door.Floats]:
    """Kernel sums as `direct_sums`, in one or two dimensions.

    Args:
        queries: shape ``(M, d)``, d at most 2; the same object as `sources` in the first stage,
            which saves work.
        sources: shape ``(N, d)``.
        beta: inverse bandwidth, above 0.
        weights: shape ``(N,)``, at least 0, one above.
        tolerance: relative error of the normalizer, and error of the mean in bandwidths; at
            least 1e-12 (1e-5 in single precision).
        workers: threads of the sums that are done pair by pair.

    Returns:
        log normalizers ``(M,)``, means ``F(q)`` and shifts ``F(q) - q``, shape ``(M, d)``.

    Source: EB-6, EB-13.
    """
    near = slice(None) if queries is sources else ~is_far(queries, sources, beta)
    normalizer = np.zeros(len(queries), queries.dtype)
    shift = np.zeros_like(queries)
    chosen, tail = queries if queries is sources else queries[near], 0.0
    if len(chosen):
        normalizer[near], shift[near], tail = _near_sums(
            chosen, sources, beta, weights, _width(beta), tolerance, workers
        )
    return answered(queries, sources, beta, weights, normalizer, shift, tail / tolerance, workers)


def count_boxes(points: door.Floats, beta: float) -> int:
    """How many boxes the points take."""
    cells = np.rint(np.ascontiguousarray(points.T) / points.dtype.type(_width(beta)))
    cells -= cells.min(axis=1, keepdims=True)
    sizes = cells.max(axis=1) + 1
    if math.prod(sizes.tolist()) < LARGE:
        keys = np.ravel_multi_index(tuple(cells.astype(np.intp)), tuple(sizes.astype(np.intp)))
        return int(np.count_nonzero(np.bincount(keys)))
    return len(np.unique(cells if len(cells) == 1 else cells[0] + 1j * cells[1]))


def _width(beta: float) -> float:
    return 2.0 ** math.floor(math.log2(WIDTH / math.sqrt(beta)))


def _series(width: float, beta: float, tolerance: float, eps: float) -> Series:
    """The series between boxes of a width."""
    return series(width * math.sqrt(beta) / 2, tolerance * SHARE, eps)


def _near_sums(
    queries: door.Floats,
    sources: door.Floats,
    beta: float,
    weights: door.Floats,
    width: float,
    tolerance: float,
    workers: int,
    *,
    finer: bool = True,
) -> tuple[door.Floats, door.Floats, float]:
    """Normalizers and shifts with what lies within the reach of the boxes.

    Args:
        finer: many weak sums may be done again in narrower boxes.

    Returns:
        normalizers ``(M,)``, shifts ``(M, d)``, and the largest Gaussian beyond the reach.
    """
    table = _series(width, beta, tolerance, float(np.finfo(queries.dtype).eps))
    placed = grid(queries, sources, width, table.reach)
    boxes = placed.queries
    sums, bounds = np.empty((1 + queries.shape[1], len(queries)), queries.dtype), []
    for group in _groups(placed, table.reach):
        local, bound = _local_series(placed, group, weights, table)
        bounds.append(bound)
        _evaluate(boxes, group, local, sums)
    error = np.concatenate(bounds)[np.repeat(np.arange(len(boxes.keys)), np.diff(boxes.starts))]
    normalizer = np.empty(len(queries), queries.dtype)
    shift = np.empty_like(queries)
    normalizer[boxes.order] = sums[0]
    with np.errstate(divide="ignore", invalid="ignore"):  # those are weak
        shift[boxes.order] = (sums[1:] / (math.sqrt(beta) * sums[0])).T
    weak, tail = _weak(sums[0], error, tolerance), table.tail
    if finer and len(weak) * len(sources) > MANY_PAIRS:
        chosen = boxes.order[weak]
        normalizer[chosen], shift[chosen], beyond = _near_sums(
            queries[chosen], sources, beta, weights, width / NARROWER, tolerance, workers,
            finer=False,
        )  # fmt: skip
        return normalizer, shift, max(tail, beyond)
    chosen, *again = neighbourhood_sums(
        placed, weak, queries, sources, beta, weights, table.reach, workers
    )
    normalizer[chosen], shift[chosen] = again
    return normalizer, shift, tail


def _groups(placed: Grid, reach: int) -> Iterator[Indices]:
    """Query boxes in runs of at most `BOXES`, without many more boxes around them than one has."""
    keys = placed.queries.keys
    strip = reach * sum(placed.strides)
    first = np.searchsorted(placed.sources.keys, keys - strip)
    last = np.searchsorted(placed.sources.keys, keys + strip, side="right")
    start = 0
    while start < len(keys):
        most = first[start] + max(AROUND, 2 * (last[start] - first[start]))
        stop = min(start + BOXES, max(start + 1, int(np.searchsorted(last, most, side="right"))))
        yield np.arange(start, min(stop, len(keys)))
        start = stop


def _weak(normalizer: door.Floats, error: door.Floats, tolerance: float) -> Indices:
    """Where a sum isn't known to the tolerance."""
    return np.flatnonzero(normalizer * tolerance <= error)


def _local_series(
    placed: Grid, group: Indices, weights: door.Floats, table: Series
) -> tuple[door.Floats, door.Floats]:
    """Series of the sums in a group of query boxes, and bounds on their errors.

    Returns:
        coefficients ``(n, 1 + d, p)`` or ``(n, 1 + d, p, p)`` (last axis: first coordinate) of
        the normalizer and the shifts, and error bounds ``(n,)``.
    """
    axes = placed.sources.local.shape[1]
    keys = placed.queries.keys[group]
    steps = np.arange(-table.reach, table.reach + 1)
    around = neighbours(placed, int(keys[0]), int(keys[-1]), table.reach)
    pairs = table.pairs.astype(weights.dtype)
    largest, errors = table.largest, table.errors
    source_keys = placed.sources.keys[around]
    moments, masses = _moments(placed.sources, around, weights, table.terms)
    if axes == 1:
        places = found(source_keys, keys[:, None] + steps)
        carried = _carried(moments, places, pairs, table.kept)
        return carried.reshape(len(keys), 2, -1), masses[places] @ errors
    # Along the second axis first: to the rows of the queries' boxes, still in the sources' columns.
    between = np.unique(source_keys[:, None] - steps)
    columns = between[:, None] - steps * placed.strides[0]
    between = between[(found(keys, columns) < len(keys)).any(axis=1)]
    places = found(source_keys, between[:, None] + steps)
    carried = _carried(moments, places, pairs, table.kept)
    terms = table.terms
    turned = np.zeros((len(between) + 1, 2 * terms, terms), weights.dtype)
    turned[:-1] = carried.transpose(0, 2, 1)
    masses = np.append(masses[places] @ np.stack([largest, errors], axis=1), [[0, 0]], axis=0)
    places = found(between, keys[:, None] + steps * placed.strides[0])
    straight = _carried(turned[:, :terms], places, pairs, table.kept)
    moved = _carried(turned[:, terms:], places, pairs[..., :terms], table.kept)
    local = np.stack([straight[..., :terms], straight[..., terms:], moved], axis=1)
    around_masses = masses[places]
    bounds = around_masses[..., 0] @ errors + around_masses[..., 1] @ largest
    return local, bounds


def _moments(
    boxes: Boxes, chosen: Indices, weights: door.Floats, terms: int
) -> tuple[door.Floats, door.Floats]:
    """Chebyshev moments ``(n + 1, 1 or p, p)`` and masses ``(n + 1,)``; the last ones are zero."""
    axes = boxes.local.shape[1]
    moments = np.zeros((len(chosen) + 1, terms if axes > 1 else 1, terms), weights.dtype)
    masses = np.zeros(len(chosen) + 1, weights.dtype)
    for start, stop in _runs(boxes, chosen):
        first, last = boxes.starts[chosen[start]], boxes.starts[chosen[stop - 1] + 1]
        held = weights[boxes.order[first:last]]
        local = boxes.local[first:last]
        values = held * chebyshev(local[:, -1], terms)
        others = chebyshev(local[:, 0], terms) if axes > 1 else np.ones((1, len(held)), held.dtype)
        cuts = boxes.starts[chosen[start:stop]] - first
        masses[start:stop] = np.add.reduceat(held, cuts)
        ends = np.append(cuts[1:], last - first)
        for box, a, b in zip(range(start, stop), cuts.tolist(), ends.tolist(), strict=True):
            np.matmul(others[:, a:b], values[:, a:b].T, out=moments[box])
    return moments, masses


def _runs(boxes: Boxes, chosen: Indices) -> list[tuple[int, int]]:
    """Ranges of the chosen boxes that follow one another and hold some `POINTS` points."""
    sizes = boxes.starts[chosen + 1] - boxes.starts[chosen]
    batch = (np.cumsum(sizes) - sizes) // POINTS
    breaks = np.flatnonzero((np.diff(chosen) != 1) | (np.diff(batch) != 0)) + 1
    edges = [0, *breaks.tolist(), len(chosen)]
    return [pair for pair in itertools.pairwise(edges) if pair[0] < pair[1]]


def _carried(
    moments: door.Floats, places: Indices, pairs: door.Floats, kept: tuple[int, ...]
) -> door.Floats:
    """Sum over neighbours of moments times matrices, shape ``(n, rows, columns)``."""
    rows, missing = moments.shape[1], len(moments) - 1
    total = np.zeros((len(places), rows, pairs.shape[-1]), moments.dtype)
    if (places < missing).sum() < places.size / 2:  # few neighbours: one after the other
        for near, matrix in zip(places.T, pairs, strict=True):
            held = np.flatnonzero(near < missing)
            total[held] += moments[near[held]] @ matrix
        return total
    # All neighbours of a few boxes side by side, times all matrices one below the other.
    ends = np.cumsum(kept).tolist()
    stacked = np.concatenate([pair[:count] for pair, count in zip(pairs, kept, strict=True)])
    size = max(1, ROWS // rows)
    for start in range(0, len(places), size):
        block = places[start : start + size]
        beside = np.empty((len(block), rows, ends[-1]), moments.dtype)
        for near, count, end in zip(block.T, kept, ends, strict=True):
            beside[:, :, end - count : end] = moments[near, :, :count]
        total[start : start + size] = (beside.reshape(-1, ends[-1]) @ stacked).reshape(
            len(block), rows, -1
        )
    return total


def _evaluate(boxes: Boxes, group: Indices, local: door.Floats, sums: door.Floats) -> None:
    """Values of the series of a group of boxes at its points, written into `sums` ``(1 + d, N)``.

    Points stand in the boxes' order.
    """
    axes, terms = boxes.local.shape[1], local.shape[-1]
    for start, stop in _runs(boxes, group):
        cuts = boxes.starts[group[start] : group[stop - 1] + 2]
        first, last = int(cuts[0]), int(cuts[-1])
        along = chebyshev(boxes.local[first:last, 0], terms)
        rows = local.shape[1] if axes == 1 else local.shape[1] * terms
        values = np.empty((rows, last - first), sums.dtype)
        bounds = (cuts - first).tolist()
        for box, a, b in zip(range(start, stop), bounds[:-1], bounds[1:], strict=True):
            np.matmul(local[box].reshape(rows, terms), along[:, a:b], out=values[:, a:b])
        if axes == 1:
            sums[:, first:last] = values
            continue
        across = chebyshev(boxes.local[first:last, 1], terms)
        np.einsum(
            "cpn,pn->cn", values.reshape(-1, terms, last - first), across,
            out=sums[:, first:last],
        )  # fmt: skip
