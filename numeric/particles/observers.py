"""What to look at in a cloud of particles, after any layer."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from numeric import door
from numeric.errors import DomainError
from numeric.particles.refinement import RefinedPrior
from numeric.particles.sums import cloud, kernel_sums, masses


def moments(
    particles: ArrayLike, *, weights: ArrayLike | None = None
) -> tuple[door.Floats, door.Floats]:
    """Mean ``(d,)`` and covariance ``(d, d)`` of a cloud, divided by the sum of the weights.

    Args:
        particles: shape ``(N, d)``, N at least 1.
        weights: shape ``(N,)``, at least 0, not all 0. Default: all alike.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: the arguments are no cloud.

    Source: EB-53.

    Example:
        >>> mean, cov = moments([[0.0], [2.0]])
        >>> mean.tolist(), cov.tolist()
        ([1.0], [[1.0]])
    """
    points = cloud("particles", particles)
    share = masses("weights", weights, points)
    share = share / share.sum()
    centred = points - points[0]
    off = share @ centred
    centred = centred - off
    return points[0] + off, (share[:, None] * centred).T @ centred


def mean_square_error(estimates: ArrayLike, clean: ArrayLike, *, normalise: bool = False) -> float:
    """Mean over tokens of ``|x_hat - x|^2``, summed over coordinates.

    Args:
        estimates, clean: shape ``(N, d)``, N at least 1.
        normalise: divide by d.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.

    Source: EB-1.

    Example:
        >>> mean_square_error([[1.0, 1.0]], [[0.0, 0.0]])
        2.0
    """
    found, wanted = cloud("estimates", estimates), cloud("clean", clean)
    for axis, name in enumerate(("clean (rows)", "clean")):
        door.same_axis("estimates", found.shape[axis], name, wanted.shape[axis])
    error = float(((found - wanted) ** 2).sum(axis=1).mean())
    return error / found.shape[1] if normalise else error


def energies(
    prior: RefinedPrior, queries: ArrayLike, *, method: str = "auto", workers: int = 1
) -> door.Floats:
    r"""Energy ``-sigma2 log sum_j w_j exp(-|q - z_j|^2/2 sigma2)`` of each query.

    Args:
        prior: of `refine`, `flow` or `truncated_flow`.
        queries: shape ``(M, d)``.
        method, workers: as for `kernel_sums`.

    Returns:
        energies, shape ``(M,)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_sums`.

    Source: EB-13 (eq. 2).

    Example:
        >>> prior = RefinedPrior(np.zeros((1, 1)), np.ones(1), 0.5, 0.0, 0.0)
        >>> energies(prior, [[3.0]]).tolist()
        [4.5]
    """
    found = kernel_sums(
        queries, prior.particles, 1 / prior.sigma2, weights=prior.weights, method=method,
        workers=workers,
    )  # fmt: skip
    return -prior.sigma2 * found.log_normalizer


def support(particles: ArrayLike, directions: ArrayLike) -> door.Floats:
    """Support function of the convex hull, ``max_j u . z_j``: it can't grow from layer to layer.

    Args:
        particles: shape ``(N, d)``, N at least 1.
        directions: u, shape ``(k, d)``.

    Returns:
        its values, shape ``(k,)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.

    Source: EB-19.

    Example:
        >>> support([[0.0, 1.0], [2.0, 0.0]], [[1.0, 0.0], [0.0, -1.0]]).tolist()
        [2.0, 0.0]
    """
    points, along = cloud("particles", particles), cloud("directions", directions)
    door.same_axis("particles", points.shape[1], "directions", along.shape[1])
    return np.stack([(points @ u).max() for u in along])


def cluster_count(particles: ArrayLike, distance: float) -> int:
    """Number of clusters: occupied cells of a grid, joined where they touch.

    Particles of two clusters are at least `distance` apart in some coordinate; those in one cell
    or in cells that touch are in one cluster, so a gap between `distance` and twice as much may or
    may not part them.

    Args:
        particles: shape ``(N, d)``, N at least 1.
        distance: width of the cells, above 0.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the particles are no cloud.
        DomainError: the distance is not positive, or too small for the cloud's width.

    Source: EB-59.

    Example:
        >>> cluster_count([[0.0], [0.1], [5.0]], 1.0)
        2
    """
    points = cloud("particles", particles).astype(np.float64)
    width = float(door.at_least("distance", door.real("distance", distance), 0, strict=True))
    with np.errstate(over="ignore", invalid="ignore"):
        cells = np.floor((points - points.min(axis=0)) / width)
    if not cells.max() < 2.0**52:
        extent = float((points.max(axis=0) - points.min(axis=0)).max())
        raise DomainError("distance", f"at least {math.ldexp(extent, -52):g}", f"{width:g}")
    cells = np.unique(cells, axis=0)
    pairs = cKDTree(cells).query_pairs(1.5, p=math.inf, output_type="ndarray")
    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(cells),) * 2)
    return int(connected_components(links, directed=False)[0])
