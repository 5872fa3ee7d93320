"""Gaussian kernel sums over many particles: which way is taken, and the checks at the door."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import DomainError, ShapeError
from numeric.particles.costs import cheapest
from numeric.particles.direct import STATED_ERROR, direct_sums
from numeric.particles.fourier import fourier_sums
from numeric.particles.panels import panel_sums

METHODS = ("auto", "direct", "compiled", "panels", "nufft")
# Dimensions up to which series in all coordinates pay.
SERIES = {"panels": 2, "nufft": 3}


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
        method: ``"direct"`` sums pair by pair, any dimension, ``"compiled"`` in numba's loops;
            ``"panels"`` by Chebyshev series, d at most 2; ``"nufft"`` by Fourier series with
            FINUFFT, d at most 3, for a cloud that is at most 500 bandwidths wide but for gaps;
            ``"auto"`` takes the one of them that is installed and, by the cost model, fastest.
        workers: threads. Panels use them little.

    Returns:
        log normalizers, means and shifts.

    Raises:
        ShapeError: no particles, or shapes that don't fit together.
        DtypeError, NonFiniteError: an argument is no array of finite real numbers.
        DomainError: beta is not positive, weights are negative or all zero, or the cloud is so
            wide that beta times its square overflows; a method is asked for beyond its dimensions
            or extent, or without its library.

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
    q: door.Floats,
    z: door.Floats,
    beta: float,
    w: door.Floats,
    *,
    method: str,
    workers: int,
    repeats: int = 1,
) -> KernelSums:
    """`kernel_sums` of arrays that are checked; `repeats` says how many such sums are to come.

    Raises:
        DomainError: no such method, a series in too many dimensions or of too wide a cloud, no
            thread, or no library for the method.
    """
    door.choice("method", method, METHODS)
    if workers < 1:
        raise DomainError("workers", "at least 1", str(workers))
    if z.shape[1] > SERIES.get(method, z.shape[1]):
        raise DomainError(
            "method", f"'direct' in more than {SERIES[method]} dimensions", repr(method)
        )
    if not len(q):
        return KernelSums(np.zeros(0, q.dtype), np.zeros_like(q), np.zeros_like(q))
    if (w == 0).any():
        z, w = z[w > 0], w[w > 0]
    tolerance = STATED_ERROR[q.dtype]
    if method == "auto":
        method = cheapest(
            q, z, beta, w, tolerance=tolerance, workers=workers, repeats=repeats
        )  # fmt: skip
    if method == "panels":
        found = panel_sums(q, z, beta, w, tolerance=tolerance, workers=workers)
    elif method == "nufft":
        found = fourier_sums(q, z, beta, w, tolerance=tolerance, workers=workers)
    else:
        compiled = method == "compiled"
        found = direct_sums(q, z, beta, w, workers=workers, compiled=compiled)
    return KernelSums(*found)


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
