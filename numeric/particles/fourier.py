r"""Gaussian kernel sums over particles by nonuniform Fourier transforms (extra `fast`), d <= 3.

On a period P that holds the cloud and a margin, in units of 1/sqrt(beta), the Gaussian is

    e^{-|x|^2/2} = sum_k c_k e^{-i w_k.x},    w_k = 2 pi k/P,  c_k = prod sqrt(2 pi)/P e^{-w_k^2/2}

so that with the sources' coefficients ``f_k = sum_j w_j e^{i w_k.z_j}`` the normalizer is the
series of ``c_k f_k``, and the sums of ``w k (z - q)`` that of ``-i w_k c_k f_k``: nothing cancels.
FINUFFT finds the coefficients and evaluates the series, both in time that is linear in the
particles, but for an FFT whose size depends on the cloud's extent alone.

Rounding leaves an error of the same size everywhere on the period, which is estimated from the
coefficients. Where a sum is too small beside it, it is done again pair by pair.
"""

from __future__ import annotations

import functools
import importlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numeric import door
from numeric.errors import DomainError
from numeric.particles.boxes import grid
from numeric.particles.chebyshev import CUTOFF
from numeric.particles.direct import bounds, centred, is_far, is_narrow
from numeric.particles.neighbourhoods import answered, neighbourhood_sums

# Beyond so many bandwidths along an axis, rounding of the places on the period costs more than
# the stated error: 512 eps is 1e-13 bandwidths.
WIDEST = 512.0
# With so many coefficients the transforms take about a gigabyte and a half.
LARGEST = 2**23
# Asked of FINUFFT: its widest kernel on a grid twice as fine, whose own error is below rounding.
TOLERANCE = 5e-15
# The largest error on the period, in units of the estimate of its root mean square, by dimension:
# twice the largest that was measured over clouds of all kinds.
LARGEST_ERROR = {1: 4.0, 2: 9.0, 3: 22.0}
# Up to so many coefficients the transforms' grid stays in the cache, and sorting the particles
# along it doesn't pay. Then they are added up in pieces of this size: rounding of one long sum of
# particles that are all alike goes the same way at every step.
UNSORTED = 2**16
PIECE = 2**16
# Up to so many sums that are too small are done again over all particles, since sorting those into
# boxes takes as long. More are, where the cloud is narrow: neighbourhoods there are half of it.
FEW = 400
# Share of the tolerance that is left to the coefficients beyond the last.
SHARE = 0.1

Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class Period:
    """A cloud on a period, and the frequencies on it.

    Attributes:
        sources, queries: places along each axis, from 0, shapes ``(d, N)`` and ``(d, M)``; the
            same object where the points are the same. In units of 1/sqrt(beta).
        lengths: P along each axis.
        last: the highest frequency's number, along each axis.
    """

    sources: NDArray[np.float64]
    queries: NDArray[np.float64]
    lengths: tuple[float, ...]
    last: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many coefficients there are."""
        return _count(self.last)


def fourier_sums(
    queries: door.Floats,
    sources: door.Floats,
    beta: float,
    weights: door.Floats,
    *,
    tolerance: float,
    workers: int = 1,
) -> tuple[door.Floats, door.Floats, door.Floats]:
    """Kernel sums as `direct_sums`, in up to three dimensions. Double precision inside.

    Args:
        queries: shape ``(M, d)``, d at most 3; the same object as `sources` in the first stage,
            which saves work.
        sources: shape ``(N, d)``.
        beta: inverse bandwidth, above 0.
        weights: shape ``(N,)``, at least 0, one above.
        tolerance: relative error of the normalizer, and error of the mean in bandwidths; at
            least 1e-12.
        workers: threads.

    Returns:
        log normalizers ``(M,)``, means ``F(q)`` and shifts ``F(q) - q``, shape ``(M, d)``.

    Raises:
        DomainError: the cloud is too wide, or FINUFFT isn't installed.

    Source: EB-6, EB-13.
    """
    finufft = library()
    single = queries.dtype
    one = queries is sources
    sources, weights = sources.astype(np.float64), weights.astype(np.float64)
    queries = sources if one else queries.astype(np.float64)
    near = slice(None) if one else ~is_far(queries, sources, beta)
    chosen = queries if one else queries[near]
    normalizer, shift = np.zeros(len(queries)), np.zeros_like(queries)
    if len(chosen):
        placed = period(chosen, sources, beta, weights, tolerance)
        refuse(placed)
        normalizer[near], shift[near] = _near_sums(
            finufft, placed, chosen, sources, beta, weights, tolerance, workers
        )
    found = answered(
        queries, sources, beta, weights, normalizer, shift, _tail() / tolerance, workers
    )
    return tuple(part.astype(single, copy=False) for part in found)  # type: ignore[return-value]


@functools.cache
def library() -> Any:
    """FINUFFT.

    Raises:
        DomainError: it isn't installed, or has no adjoint transforms.
    """
    try:
        found = importlib.import_module("finufft")
        found.Plan.execute_adjoint  # noqa: B018
    except (ImportError, AttributeError) as error:
        raise DomainError(
            "method", "'nufft' where finufft 2.5 is installed", "none", "install the extra `fast`"
        ) from error
    return found


def period(
    queries: door.Floats,
    sources: door.Floats,
    beta: float,
    weights: door.Floats,
    tolerance: float,
) -> Period:
    """Places on a period, and how many frequencies it takes.

    Args:
        queries, sources, beta, weights, tolerance: as for `fourier_sums`, in double precision.
    """
    count = len(sources)
    points = sources if queries is sources else np.concatenate([sources, queries])
    places = np.stack([_places(along, math.sqrt(beta)) for along in points.T])
    lengths = tuple(float(along.max()) + CUTOFF for along in places)
    of_sources = np.ascontiguousarray(places[:, :count])
    of_queries = of_sources if queries is sources else np.ascontiguousarray(places[:, count:])
    return Period(of_sources, of_queries, lengths, _last(lengths, weights, tolerance))


def _last(lengths: tuple[float, ...], weights: door.Floats, tolerance: float) -> tuple[int, ...]:
    """The highest frequency's number along each axis.

    Beyond the frequency w, coefficients and their derivatives sum to less than ``e^{-w^2/2}`` an
    axis; beside the largest weight that is to be a share of the tolerance.
    """
    ratio = len(lengths) * float(weights.sum() / weights.max())
    highest = math.sqrt(2 * math.log(ratio / (SHARE * tolerance)))
    return tuple(math.ceil(highest * length / (2 * math.pi)) for length in lengths)


def count_coefficients(
    queries: door.Floats,
    sources: door.Floats,
    beta: float,
    weights: door.Floats,
    tolerance: float,
) -> float:
    """How many coefficients the sums take at most; infinite where they would be refused.

    Args:
        queries, sources, beta, weights, tolerance: as for `fourier_sums`.
    """
    near = queries if queries is sources else queries[~is_far(queries, sources, beta)]
    ends = [bounds(points) for points in (sources, near) if len(points)]
    extent = np.max([high for _, high in ends], axis=0) - np.min([low for low, _ in ends], axis=0)
    lengths = tuple((math.sqrt(beta) * extent.astype(np.float64) + CUTOFF).tolist())
    last = _last(lengths, weights, tolerance)
    if _is_too_wide(lengths, last):  # perhaps not without its gaps
        placed = period(near, sources, beta, weights, tolerance)
        lengths, last = placed.lengths, placed.last
    return math.inf if _is_too_wide(lengths, last) else _count(last)


def _count(last: tuple[int, ...]) -> int:
    return math.prod(2 * number + 1 for number in last)


def _is_too_wide(lengths: tuple[float, ...], last: tuple[int, ...]) -> bool:
    return max(lengths) > WIDEST or _count(last) > LARGEST


def _places(along: door.Floats, scale: float) -> NDArray[np.float64]:
    """Places along an axis, from 0; gaps across which nothing is felt are made shorter."""
    ordered = np.sort(along)
    gaps = scale * np.diff(ordered)
    wide = np.flatnonzero(gaps > CUTOFF)
    if not wide.size:
        return scale * (along - ordered[0])
    firsts = ordered[np.append(0, wide + 1)]
    lengths = scale * (ordered[wide] - firsts[:-1]) + CUTOFF
    offsets = np.append(0, np.cumsum(lengths))
    pieces = np.searchsorted(firsts, along, side="right") - 1
    return scale * (along - firsts[pieces]) + offsets[pieces]


def refuse(placed: Period) -> None:
    """Refuse a cloud that is too wide.

    Raises:
        DomainError: it is.
    """
    if _is_too_wide(placed.lengths, placed.last):
        raise DomainError(
            "method",
            f"'direct' or 'panels' for a cloud more than {WIDEST:g} bandwidths wide, or of more "
            f"than {LARGEST} Fourier coefficients",
            f"'nufft' for {max(placed.lengths):.4g} bandwidths and {placed.count} coefficients",
        )


def _near_sums(
    finufft: Any,
    placed: Period,
    queries: door.Floats,
    sources: door.Floats,
    beta: float,
    weights: door.Floats,
    tolerance: float,
    workers: int,
) -> tuple[door.Floats, door.Floats]:
    """Normalizers and shifts with what lies within the margin."""
    top = float(weights.max())  # squares of the weights must not overflow
    values, error = _series(finufft, placed, weights / top, workers)
    normalizer, moved = values[0], values[1:]
    error += float(weights.sum() / top) * _tail() + SHARE * tolerance
    with np.errstate(divide="ignore", invalid="ignore"):  # those are weak
        shift = (moved / (math.sqrt(beta) * normalizer)).T
    normalizer = top * normalizer
    weak = _weak(normalizer, top * error, tolerance)
    if weak.size <= FEW or is_narrow(*centred(queries[weak], sources), beta):
        normalizer[weak] = 0  # answered over all particles
    else:
        width = 2.0 ** math.floor(math.log2(CUTOFF / (2 * math.sqrt(beta))))
        reach = math.ceil(CUTOFF / (width * math.sqrt(beta)))
        boxes = grid(queries[weak], sources, width, reach)
        again, *found = neighbourhood_sums(
            boxes, np.arange(len(weak)), queries[weak], sources, beta, weights, reach, workers
        )
        normalizer[weak[again]], shift[weak[again]] = found
    return normalizer, shift


def _weak(normalizer: door.Floats, error: float, tolerance: float) -> NDArray[np.intp]:
    """Where a sum isn't known to the tolerance."""
    return np.flatnonzero(normalizer * tolerance <= error)


def _tail() -> float:
    """The largest value of the Gaussian beyond the margin."""
    return math.exp(-(CUTOFF**2) / 2)


def _series(
    finufft: Any, placed: Period, weights: door.Floats, workers: int
) -> tuple[NDArray[np.float64], float]:
    """Normalizers and sums of ``w k (z - q)`` in bandwidths, ``(1 + d, M)``; their error."""
    axes = len(placed.lengths)
    sizes = tuple(2 * last + 1 for last in placed.last)
    frequencies, factors = [], np.ones(1)
    for axis, (length, last) in enumerate(zip(placed.lengths, placed.last, strict=True)):
        along = 2 * math.pi / length * np.arange(-last, last + 1.0)
        along = along.reshape([-1 if axis == other else 1 for other in range(axes)])
        frequencies.append(along)
        factors = factors * (math.sqrt(2 * math.pi) / length * np.exp(-(along**2) / 2))
    is_sorted = placed.count > UNSORTED
    plan = finufft.Plan(
        1, sizes, eps=TOLERANCE, upsampfac=2.0, nthreads=workers, showwarn=0,
        spread_sort=int(is_sorted),
    )  # fmt: skip
    angles = _angles(placed.sources, placed.lengths)
    size = len(weights) if is_sorted else PIECE
    coefficients = np.zeros(sizes, np.complex128)
    for start in range(0, len(weights), size):
        piece = slice(start, start + size)
        plan.setpts(*(along[piece] for along in angles))
        coefficients += plan.execute(weights[piece].astype(np.complex128))
    mean_square = float(np.vdot(coefficients, coefficients).real) / coefficients.size
    squared = factors**2 * (1 + sum(along**2 for along in frequencies))
    noise = math.sqrt(mean_square * float(squared.sum()))
    squared *= coefficients.real**2 + coefficients.imag**2
    noise += math.sqrt(float(squared.sum()))
    coefficients *= factors
    if placed.queries is not placed.sources:
        angles = _angles(placed.queries, placed.lengths)
    if placed.queries is not placed.sources or len(weights) > size:
        plan.setpts(*angles)
    values = np.empty((1 + axes, placed.queries.shape[1]))
    # Two real series are the real and the imaginary part of one.
    packed = plan.execute_adjoint(coefficients * (1 + frequencies[0]))
    values[0], values[1] = packed.real, packed.imag
    if axes == 2:
        values[2] = plan.execute_adjoint(coefficients * (-1j * frequencies[1])).real
    elif axes == 3:
        packed = plan.execute_adjoint(coefficients * (frequencies[2] - 1j * frequencies[1]))
        values[2], values[3] = packed.real, packed.imag
    return values, LARGEST_ERROR[axes] * float(np.finfo(np.float64).eps) * noise


def _angles(places: NDArray[np.float64], lengths: tuple[float, ...]) -> list[NDArray[np.float64]]:
    """Places on the period as angles in [-pi, pi)."""
    return [
        2 * math.pi / length * along - math.pi
        for along, length in zip(places, lengths, strict=True)
    ]
