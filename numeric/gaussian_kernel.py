"""Gaussian kernel averages over particles: weights, mean, score, energy, and a step of attention.

Queries and particles are rows; a single query is one row. Distances are taken from differences, so
a cloud far from the origin keeps its digits, and a query far from all particles gets the nearest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import DomainError, ShapeError
from numeric.kernels import gaussian_kernel as kernels

# Numbers in one temporary array: queries are taken in blocks beyond that.
BLOCK = 2**22


class Cloud(NamedTuple):
    """Checked arguments, in the order of the kernels."""

    beta: door.Floats
    queries: door.Floats
    particles: door.Floats
    log_weights: door.Floats


def kernel_weights(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: ArrayLike,
    *,
    log_weights: ArrayLike | None = None,
) -> door.Floats:
    r"""Weights ``softmax_j(log w_j - beta/2 |q_i - z_j|^2)`` of the particles at each query.

    Args:
        queries: q, shape ``(*batch, n, d)``.
        particles: z, shape ``(*batch, N, d)`` with N at least 1; may repeat.
        beta: inverse bandwidth, at least 0, shape ``batch``. At 0 all particles count alike.
        log_weights: log w, shape ``(*batch, N)``, up to a constant; -inf for a particle that does
            not count. Default: all alike.

    Returns:
        weights, shape ``(*batch, n, N)``; each row has sum 1.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: beta is negative, all particles of a batch have weight 0, or beta times a
            squared distance may overflow.

    Source: EB-6, EB-13. Kernel: `gaussian_kernel.weights`.

    Example:
        >>> kernel_weights([[0.0], [1e8]], [[-1.0], [1.0]], 5.0).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
    """
    return _in_blocks(kernels.weights, _cloud(queries, particles, beta, log_weights), 2)


def dot_product_weights(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: ArrayLike,
    *,
    log_weights: ArrayLike | None = None,
) -> door.Floats:
    r"""The same weights as dot-product attention ``softmax_j(beta q_i . z_j - beta/2 |z_j|^2)``.

    One matrix product instead of distances. Points are taken from the first particle, since the
    norms' rounding is an error of the exponents; `kernel_weights` is right for tight clusters in a
    wide cloud too.

    Args:
        queries, particles, beta, log_weights: as for `kernel_weights`.

    Returns:
        weights, shape ``(*batch, n, N)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_weights`.

    Source: EB-7. Kernel: `gaussian_kernel.dot_product_weights`.

    Example:
        >>> dot_product_weights([[0.0, 2.0]], [[0.0, 1.0], [0.0, 3.0]], 1.0).tolist()
        [[0.5, 0.5]]
    """
    cloud = _cloud(queries, particles, beta, log_weights)
    origin = cloud.particles[..., :1, :]
    near = cloud._replace(queries=cloud.queries - origin, particles=cloud.particles - origin)
    return _in_blocks(kernels.dot_product_weights, near, 2)


def kernel_mean(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: ArrayLike,
    *,
    log_weights: ArrayLike | None = None,
) -> door.Floats:
    r"""Kernel mean ``F(q) = sum_j a_j z_j``: the posterior mean of a particle seen with noise.

    Args:
        queries, particles, beta, log_weights: as for `kernel_weights`.

    Returns:
        means, shape ``(*batch, n, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_weights`.

    Source: EB-6, EB-13, EB-30. Kernel: `gaussian_kernel.mean`.

    Example:
        >>> kernel_mean([[1e6, 0.0]], [[0.0, 0.0], [1.0, 2.0]], 1.0).tolist()
        [[1.0, 2.0]]
    """
    return _in_blocks(kernels.mean, _cloud(queries, particles, beta, log_weights), 2)


def kernel_score(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: ArrayLike,
    *,
    log_weights: ArrayLike | None = None,
) -> door.Floats:
    r"""Score ``beta (F(q) - q)`` of the particles smoothed by ``N(0, I/beta)``.

    Args:
        queries, particles, beta, log_weights: as for `kernel_weights`.

    Returns:
        gradients of the log density, shape ``(*batch, n, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_weights`.

    Source: EB-6, EB-30. Kernel: `gaussian_kernel.score`.

    Example:
        >>> kernel_score([[0.5]], [[0.0]], 4.0).tolist()
        [[-2.0]]
    """
    return _in_blocks(kernels.score, _cloud(queries, particles, beta, log_weights), 2)


def attention_step(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: ArrayLike,
    eta: ArrayLike,
    *,
    log_weights: ArrayLike | None = None,
) -> door.Floats:
    r"""One step of attention with a leaky residual, ``(1 - eta) q + eta F(q)``.

    ``attention_step(Z, Z, beta, eta)`` moves all particles at once, each seen by the others where
    it was: a step of length eta/beta along the score.

    Args:
        queries, particles, beta, log_weights: as for `kernel_weights`.
        eta: how much of the mean is taken, in [0, 1], shape ``batch``. In the seeds 0 < eta < 1.

    Returns:
        the queries after the step, shape ``(*batch, n, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_weights`; eta is
            outside [0, 1].

    Source: EB-6 (Prop. 3.1, eq. 1). Kernel: `gaussian_kernel.attention_step`.

    Example:
        >>> Z = [[0.0], [0.0], [6.0]]
        >>> attention_step(Z, Z, 0.0, 0.5).tolist()
        [[1.0], [1.0], [4.0]]
    """
    cloud = _cloud(queries, particles, beta, log_weights)
    eta = door.at_most("eta", door.at_least("eta", door.weak("eta", eta, cloud.queries), 0), 1)
    return _step(cloud, eta, "eta")


def descent_step(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: ArrayLike,
    step: ArrayLike = 1.0,
    *,
    log_weights: ArrayLike | None = None,
) -> door.Floats:
    r"""A step down the slope of the energy, ``q - step * grad E(Z; q)``.

    The energy sinks by at least ``step (1 - step/2) |grad E|^2``; a step of 1 is the second stage,
    where each query becomes its posterior mean.

    Args:
        queries, particles, beta, log_weights: as for `kernel_weights`.
        step: length of the step, above 0 and below 2, shape ``batch``.

    Returns:
        the queries after the step, shape ``(*batch, n, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_weights`; `step` is
            outside (0, 2).

    Source: EB-13, EB-14(c). Kernel: `gaussian_kernel.attention_step`.

    Example:
        >>> descent_step([[5.0]], [[1.0]], 2.0, 1.5).tolist()
        [[-1.0]]
    """
    cloud = _cloud(queries, particles, beta, log_weights)
    length = door.at_least("step", door.weak("step", step, cloud.queries), 0, strict=True)
    if (length >= 2).any():
        raise DomainError("step", "numbers below 2", f"{float(length.max()):g}")
    return _step(cloud, length, "step")


def kernel_energy(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: ArrayLike,
    *,
    log_weights: ArrayLike | None = None,
) -> door.Floats:
    r"""Energy ``-log(sum_j w_j exp(-beta/2 |q - z_j|^2))/beta`` of each query.

    Args:
        queries, particles, beta, log_weights: as for `kernel_weights`; beta above 0. A factor of
            all w shifts the energy.

    Returns:
        energies, shape ``(*batch, n)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_weights`; beta is 0.

    Source: EB-13 (eq. 2). Kernel: `gaussian_kernel.energy`.

    Example:
        >>> kernel_energy([[3e8]], [[0.0]], 1.0).tolist()
        [4.5e+16]
    """
    cloud = _cloud(queries, particles, beta, log_weights)
    door.at_least("beta", cloud.beta, 0, strict=True)
    return _in_blocks(kernels.energy, cloud, 1)


def kernel_energy_gradient(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: ArrayLike,
    *,
    log_weights: ArrayLike | None = None,
) -> door.Floats:
    r"""Slope ``q - F(q)`` of that energy.

    Args:
        queries, particles, beta, log_weights: as for `kernel_weights`.

    Returns:
        gradients, shape ``(*batch, n, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_weights`.

    Source: EB-13 (eq. 2). Kernel: `gaussian_kernel.energy_gradient`.

    Example:
        >>> kernel_energy_gradient([[5.0]], [[1.0]], 2.0).tolist()
        [[4.0]]
    """
    return _in_blocks(kernels.energy_gradient, _cloud(queries, particles, beta, log_weights), 2)


def kernel_covariance(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: ArrayLike,
    *,
    log_weights: ArrayLike | None = None,
) -> door.Floats:
    r"""Covariance of the particles under the weights at each query.

    Args:
        queries, particles, beta, log_weights: as for `kernel_weights`.

    Returns:
        covariances, shape ``(*batch, n, d, d)``, symmetric psd up to rounding.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_weights`.

    Source: EB-14, EB-30. Kernel: `gaussian_kernel.covariance`.

    Example:
        >>> kernel_covariance([[0.0]], [[-1.0], [1.0]], 3.0).tolist()
        [[[1.0]]]
    """
    return _in_blocks(kernels.covariance, _cloud(queries, particles, beta, log_weights), 3)


def kernel_mean_jacobian(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: ArrayLike,
    *,
    log_weights: ArrayLike | None = None,
) -> door.Floats:
    r"""Jacobian ``beta Cov`` of the kernel mean by the query.

    Args:
        queries, particles, beta, log_weights: as for `kernel_weights`.

    Returns:
        Jacobians, shape ``(*batch, n, d, d)``, symmetric psd up to rounding.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_weights`.

    Source: EB-30 (Prop. E.2). Kernel: `gaussian_kernel.mean_jacobian`.

    Example:
        >>> kernel_mean_jacobian([[0.0]], [[-1.0], [1.0]], 3.0).tolist()
        [[[3.0]]]
    """
    return _in_blocks(kernels.mean_jacobian, _cloud(queries, particles, beta, log_weights), 3)


def kernel_energy_hessian(
    queries: ArrayLike,
    particles: ArrayLike,
    beta: ArrayLike,
    *,
    log_weights: ArrayLike | None = None,
) -> door.Floats:
    r"""Curvature ``I - beta Cov`` of the energy: at most I, negative between separate clusters.

    Args:
        queries, particles, beta, log_weights: as for `kernel_weights`.

    Returns:
        second derivatives, shape ``(*batch, n, d, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_weights`.

    Source: EB-14. Kernel: `gaussian_kernel.energy_hessian`.

    Example:
        >>> kernel_energy_hessian([[0.0]], [[-1.0], [1.0]], 3.0).tolist()
        [[[-2.0]]]
    """
    return _in_blocks(kernels.energy_hessian, _cloud(queries, particles, beta, log_weights), 3)


# ---------------------------------------------------------------- at the door


def _cloud(
    queries: ArrayLike, particles: ArrayLike, beta: ArrayLike, log_weights: ArrayLike | None
) -> Cloud:
    queries = door.real("queries", queries, 2)
    particles = door.real("particles", particles, 2)
    count, width = particles.shape[-2:]
    if count == 0 or width == 0:
        raise ShapeError("particles", "at least one particle", f"shape {particles.shape}")
    door.same_axis("particles", width, "queries", queries.shape[-1])
    beta = door.at_least("beta", door.weak("beta", beta, queries, particles), 0)
    if log_weights is None:
        log_weights = np.zeros(count, dtype=particles.dtype)
    else:
        log_weights = log_masses("log_weights", log_weights)
        door.same_axis("particles", count, "log_weights", log_weights.shape[-1])
    door.common_batch(
        queries=(queries, 2), particles=(particles, 2), beta=(beta, 0), log_weights=(log_weights, 1)
    )
    _check_range(queries, particles, beta)
    return Cloud(beta, queries, particles, log_weights)


def log_masses(name: str, values: ArrayLike) -> door.Floats:
    """Logs of weights along the last axis: -inf where there is none, but not all of them.

    Raises:
        ShapeError, DtypeError, NonFiniteError: no such array.
        DomainError: +inf, or nothing has a weight.
    """
    array = door.real(name, values, 1, finite=False)
    if (array == np.inf).any():
        raise DomainError(name, "logs of finite weights", "inf")
    if not np.isfinite(array).any(axis=-1).all():
        raise DomainError(name, "a weight above 0 in each row", "-inf throughout")
    return array


def _check_range(queries: door.Floats, particles: door.Floats, beta: door.Floats) -> None:
    """Refuse what could overflow: twice a squared distance, and beta times it."""
    if queries.size == 0 or beta.size == 0:
        return
    most = float(np.finfo(np.result_type(queries, particles, beta)).max)
    reach = float(np.abs(queries).max()) + float(np.abs(particles).max())
    width = particles.shape[-1]
    if reach > math.sqrt(most / (4 * width)):
        raise DomainError(
            "queries",
            f"coordinates whose differences are below {math.sqrt(most / (4 * width)):.3g}",
            f"up to {reach:.3g}",
            "divide all points by a scale and multiply beta by its square",
        )
    largest = float(beta.max())
    if largest > 1 and 4 * width * reach**2 > most / largest:
        raise DomainError(
            "beta",
            f"at most {most / (4 * width * reach**2):.3g} for points of this size",
            f"{largest:.3g}",
        )


def _step(cloud: Cloud, length: door.Floats, name: str) -> door.Floats:
    door.common_batch(
        queries=(cloud.queries, 2), particles=(cloud.particles, 2), **{name: (length, 0)}
    )

    def kernel(beta: Any, queries: Any, particles: Any, log_weights: Any) -> Any:
        return kernels.attention_step(beta, length, queries, particles, log_weights)

    return _in_blocks(kernel, cloud, 2)


def _in_blocks(kernel: Callable[..., Any], cloud: Cloud, core: int) -> door.Floats:
    """The kernel's output, whose queries are the first of `core` axes, for few queries at once."""
    beta, queries, particles, log_weights = cloud
    count, width = particles.shape[-2:]
    batch = np.broadcast_shapes(queries.shape[:-2], particles.shape[:-2], beta.shape)
    numbers = math.prod(batch) * count * (width if core == 3 else 1)  # for each query
    rows = max(1, BLOCK // max(1, numbers))
    if rows >= queries.shape[-2]:
        return kernel(*cloud)
    parts = [
        kernel(beta, queries[..., start : start + rows, :], particles, log_weights)
        for start in range(0, queries.shape[-2], rows)
    ]
    return np.concatenate(parts, axis=-core)
