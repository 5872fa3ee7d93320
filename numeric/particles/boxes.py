"""Particles sorted into boxes of a grid, empty rows left out, and the boxes' neighbours.

A box's width is a power of two, so that a particle's place within its box is exact, however far
the box lies from the origin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numeric import door

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Boxes:
    """Points sorted by box, boxes by their keys.

    Attributes:
        order: indices of the points, box after box, shape ``(N,)``.
        local: places within the box, in [-1, 1], in that order, shape ``(N, d)``.
        keys: one number a box, ascending, shape ``(n,)``; neighbours along an axis differ by the
            grid's stride there.
        starts: where the boxes' points start, and the end, shape ``(n + 1,)``.
    """

    order: Indices
    local: door.Floats
    keys: Indices
    starts: Indices


@dataclass(frozen=True)
class Grid:
    """Sources and queries in boxes of one grid.

    Attributes:
        strides: differences of keys between neighbours along the axes; 1 along the last.
        sources, queries: the boxes; the same object where the points are the same.
    """

    strides: tuple[int, ...]
    sources: Boxes
    queries: Boxes


def grid(queries: door.Floats, sources: door.Floats, width: float, reach: int) -> Grid:
    """Sort points into boxes of a width that is a power of two.

    Two boxes that are more than `reach` boxes apart stay so, but how far is forgotten: a grid of
    few boxes has small keys even where particles lie at 1 and at 1e15.

    Args:
        queries: shape ``(M, d)``; the same object as `sources` where the points are the same.
        sources: shape ``(N, d)``, N at least 1.
        width: of a box, a power of two.
        reach: how many boxes away a source still counts.
    """
    one = queries is sources
    points = sources if one else np.concatenate([sources, queries])
    scaled = points / points.dtype.type(width)
    cells = np.rint(scaled)
    local = 2 * (scaled - cells)
    compressed = [_compressed(axis, reach) for axis in cells.T]
    strides = [1]
    for axis in compressed[:0:-1]:
        strides.insert(0, strides[0] * (int(axis.max()) + 2 * reach + 2))
    keys = sum(axis * stride for axis, stride in zip(compressed[1:], strides[1:], strict=True))
    keys = keys + compressed[0] * strides[0]
    count = len(sources)
    of_sources = _boxes(keys[:count], local[:count])
    of_queries = of_sources if one else _boxes(keys[count:], local[count:])
    return Grid(tuple(strides), of_sources, of_queries)


def neighbours(placed: Grid, first: int, last: int, reach: int) -> Indices:
    """Source boxes within reach of query boxes, whose first and last keys are given.

    Returns:
        their places among the sources' keys, ascending, shape ``(n,)``.
    """
    keys = placed.sources.keys
    steps = np.arange(-reach, reach + 1)
    rows = np.zeros(1, np.intp)
    for stride in placed.strides[:-1]:
        rows = (rows[:, None] + stride * steps).ravel()
    start = np.searchsorted(keys, first + rows - reach)
    stop = np.searchsorted(keys, last + rows + reach, side="right")
    return np.unique(_ranges(start, stop))


def points(boxes: Boxes, chosen: Indices) -> Indices:
    """Indices of the points of some boxes, which are given by their places, shape ``(n,)``."""
    return boxes.order[_ranges(boxes.starts[chosen], boxes.starts[chosen + 1])]


def _ranges(starts: Indices, stops: Indices) -> Indices:
    """Numbers from each start up to its stop, one range after the other."""
    lengths = stops - starts
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) + np.repeat(starts - ends + lengths, lengths)


def _compressed(cells: door.Floats, reach: int) -> Indices:
    """Positions of cells along an axis, gaps of more than `reach` made smaller."""
    lowest = cells.min()
    if cells.max() - lowest < 2**20:
        return (cells - lowest).astype(np.intp)
    values, inverse = np.unique(cells, return_inverse=True)
    gaps = np.minimum(np.diff(values), reach + 1).astype(np.intp)
    return np.concatenate([np.zeros(1, np.intp), np.cumsum(gaps)])[inverse]


def _boxes(keys: Indices, local: door.Floats) -> Boxes:
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    return Boxes(order, local[order], ordered[starts], np.append(starts, len(keys)))


def found(keys: Indices, wanted: Indices) -> Indices:
    """Where the wanted keys are among ascending ones; one past the end where they aren't."""
    places = np.searchsorted(keys, wanted)
    places[keys[np.minimum(places, len(keys) - 1)] != wanted] = len(keys)
    return places
