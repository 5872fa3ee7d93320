"""Gaussian kernel sums over many particles: which way is taken, and the checks at the door."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import DomainError, ShapeError
from numeric.particles.direct import STATED_ERROR, direct_sums, is_narrow
from numeric.particles.panels import count_boxes, panel_sums

METHODS = ("auto", "direct", "compiled", "panels")

# Seconds, measured on one core: of a pair with and without the expansion, as a + b d; of a box and
# of a point in panels, by dimension. They are constants, not measured at run time, so that the
# choice, and with it the last digits, is the same on every machine.
PAIR_NARROW, PAIR_WIDE = (1.1e-9, 0.2e-9), (1.5e-9, 3.4e-9)
BOX, POINT = {1: 1.0e-5, 2: 9.0e-5}, {1: 1.5e-7, 2: 5.0e-7}
# Below so many pairs no count of boxes pays.
FEW_PAIRS = 10**5


class KernelSums(NamedTuple):
    """Sums over particles at each query.

    Attributes:
        log_normalizer: ``log sum_j w_j exp(-beta/2 |q - z_j|^2)``, shape ``(M,)``; -inf only where
            the exponent itself is below all floats.
        mean: kernel mean ``F(q)``, shape ``(M, d)``.
        shift: kernel mean less the query, ``F(q) - q``, shape ``(M, d)``: 1/beta times the score.
    """

    log_normalizer: door.Floats
    mean: door.Floats
    shift: door.Floats


def kernel_sums(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: float,
    *,
    weights: ArrayLike | None = None,
    method: str = "auto",
    workers: int = 1,
) -> KernelSums:
    r"""Normalizer and mean of a Gaussian kernel over particles, in time and memory that scale.

    .. math:: D(q) = \sum_j w_j e^{-\frac\beta2|q - z_j|^2}, \qquad
              F(q) - q = \frac{1}{D(q)}\sum_j w_j e^{-\frac\beta2|q - z_j|^2} (z_j - q)

    Relative error of D at most 1e-12 besides the rounding of log D, of F 1e-12 of the bandwidth
    (direct: or of the cloud's radius); 1e-5 in single precision, which is used where all arrays
    have it. No array of M x N numbers is ever made. The matrix products are thin: on a shared
    machine they are fastest with one BLAS thread (``OPENBLAS_NUM_THREADS=1``), and `workers` for
    more.

    Args:
        queries: q, shape ``(M, d)``; M may be 0. Pass the particles themselves for the first
            stage, which saves work.
        particles: z, shape ``(N, d)``, N at least 1; may repeat.
        beta: inverse bandwidth, above 0.
        weights: w, shape ``(N,)``, at least 0, one above. Default: 1.
        method: ``"direct"`` sums pair by pair, any dimension; ``"panels"`` by Chebyshev series,
            d at most 2; ``"auto"`` takes the one that the cost model says is faster;
            ``"compiled"`` sums pair by pair in numba's loops, where it is installed.
        workers: threads for direct sums.

    Returns:
        log normalizers, means and shifts.

    Raises:
        ShapeError: no particles, or shapes that don't fit together.
        DtypeError, NonFiniteError: an argument is no array of finite real numbers.
        DomainError: beta is not positive, weights are negative or all zero, panels are asked for
            in more than two dimensions, or the cloud is so wide that beta times its square
            overflows; numba is asked for and isn't installed.

    Source: EB-6, EB-13, EB-30. The sums of `gaussian_kernel.weights` and `gaussian_kernel.mean`.

    Example:
        >>> found = kernel_sums([[0.0], [1e300]], [[-1.0], [1.0]], 2.0)
        >>> found.mean.tolist(), found.log_normalizer.round(3).tolist()
        ([[0.0], [1.0]], [-0.307, -inf])
    """
    z = cloud("particles", particles)
    q = z if queries is particles else door.real("queries", queries, 2)
    if q.ndim != 2:
        raise ShapeError("queries", "2 axes", f"shape {q.shape}")
    door.same_axis("particles", z.shape[1], "queries", q.shape[1])
    w = masses("weights", weights, z)
    dtype = np.result_type(q, z, w)
    one = q is z
    z, w = z.astype(dtype, copy=False), w.astype(dtype, copy=False)
    q = z if one else q.astype(dtype, copy=False)
    return sums(q, z, sharpness(beta, z), w, method=method, workers=workers)


def sums(
    q: door.Floats, z: door.Floats, beta: float, w: door.Floats, *, method: str, workers: int
) -> KernelSums:
    """`kernel_sums` of arrays that are checked.

    Raises:
        DomainError: no such method, panels in more than two dimensions, no thread, or no numba.
    """
    door.choice("method", method, METHODS)
    if workers < 1:
        raise DomainError("workers", "at least 1", str(workers))
    if method == "panels" and z.shape[1] > 2:
        raise DomainError("method", "'direct' in more than two dimensions", "'panels'")
    if not len(q):
        return KernelSums(np.zeros(0, q.dtype), np.zeros_like(q), np.zeros_like(q))
    if (w == 0).any():
        z, w = z[w > 0], w[w > 0]
    if method == "auto":
        method = cheapest(q, z, beta)
    if method != "panels":
        compiled = method == "compiled"
        return KernelSums(*direct_sums(q, z, beta, w, workers=workers, compiled=compiled))
    tolerance = STATED_ERROR[q.dtype]
    return KernelSums(*panel_sums(q, z, beta, w, tolerance=tolerance, workers=workers))


def cheapest(q: door.Floats, z: door.Floats, beta: float) -> str:
    """What the cost model says is faster, ``"direct"`` or ``"panels"``."""
    axes, pairs = z.shape[1], len(q) * len(z)
    if axes > 2 or pairs < FEW_PAIRS:
        return "direct"
    fixed, slope = PAIR_NARROW if is_narrow(q, z, beta) else PAIR_WIDE
    direct = pairs * (fixed + slope * axes)
    points = len(z) if q is z else len(q) + len(z)
    panels = points * POINT[axes]
    if direct <= panels:
        return "direct"
    panels += BOX[axes] * count_boxes(z, beta)
    return "direct" if direct <= panels else "panels"


def cloud(name: str, value: ArrayLike) -> door.Floats:
    """Particles, shape ``(N, d)`` with N and d at least 1.

    Raises:
        ShapeError, DtypeError, NonFiniteError: they are none.
    """
    points = door.real(name, value, 2)
    if points.ndim != 2 or not points.size:
        raise ShapeError(name, "at least one row of at least one number", f"shape {points.shape}")
    return points


def masses(name: str, value: ArrayLike | None, points: door.Floats) -> door.Floats:
    """Weights of particles, shape ``(N,)``, at least 0 and not all 0.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: they are none.
    """
    if value is None:
        return np.ones(len(points), points.dtype)
    weights = door.at_least(name, door.real(name, value, 1), 0)
    if weights.ndim != 1:
        raise ShapeError(name, "1 axis", f"shape {weights.shape}")
    door.same_axis("particles", len(points), name, len(weights))
    if not (weights > 0).any():
        raise DomainError(name, "a weight above 0", "zeros only")
    return weights


def sharpness(beta: float, points: door.Floats) -> float:
    """The inverse bandwidth as a float, with which squares of the cloud's width don't overflow.

    Raises:
        DtypeError, NonFiniteError, ShapeError, DomainError: it is none.
    """
    checked = door.at_least("beta", door.real("beta", beta), 0, strict=True)
    if checked.ndim:
        raise ShapeError("beta", "one number", f"shape {checked.shape}")
    value = float(checked)
    spread = float(np.abs(points).max())
    if not np.finfo(np.float64).tiny < value or not np.sqrt(value) * spread < 1e150:
        raise DomainError("beta", "beta times the cloud's squared width below 1e300", f"{value:g}")
    return value
