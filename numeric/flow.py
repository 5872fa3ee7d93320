"""The covariance of a Gaussian under the reverse flow, and the time that denoising takes.

Two clocks are in use: main-text time and appendix time theta = beta * time. Every function takes
the clock by name and has no default for it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.kernels import flow as kernels
from numeric.linear_algebra import symmetric_part

CLOCKS = ("main", "appendix")


def eigenvalue_flow(
    lambda0: ArrayLike, time: ArrayLike, beta: ArrayLike, *, clock: str
) -> door.Floats:
    r"""Eigenvalue of the covariance after some time.

    .. math:: \lambda(\theta) = W(\beta\lambda_0 e^{\beta\lambda_0 - 2\theta})/\beta

    Args:
        lambda0: eigenvalue at time 0, at least 0, shape ``batch``.
        time: time on the clock, at least 0, shape ``batch``.
        beta: inverse bandwidth, at least 0, shape ``batch``; 0 is the limit.
        clock: ``"main"`` or ``"appendix"``.

    Returns:
        the eigenvalue, shape ``batch``.

    Raises:
        DomainError: an argument is negative, or the clock is none.
        DtypeError, NonFiniteError, ShapeError: an argument is no array of finite real numbers, or
            the shapes don't broadcast.

    Source: EB-8, EB-40, EB-41. Kernels: `flow.eigenvalue_main_clock`,
    `flow.eigenvalue_appendix_clock`.

    Example:
        >>> float(eigenvalue_flow(2.0, 1.0, 0.0, clock="appendix"))  # beta = 0: 2 exp(-2)
        0.2706705664732254
    """
    door.choice("clock", clock, CLOCKS)
    lambda0 = door.at_least("lambda0", door.real("lambda0", lambda0), 0)
    time = door.at_least("time", door.weak("time", time, lambda0), 0)
    beta = door.at_least("beta", door.weak("beta", beta, lambda0), 0)
    door.common_batch(lambda0=(lambda0, 0), time=(time, 0), beta=(beta, 0))
    kernel = kernels.eigenvalue_main_clock if clock == "main" else kernels.eigenvalue_appendix_clock
    return kernel(beta, lambda0, time)


def covariance_flow(cov: ArrayLike, time: ArrayLike, beta: ArrayLike, *, clock: str) -> door.Floats:
    r"""Covariance of a Gaussian after some time under the reverse flow.

    .. math:: \Gamma_\theta = Q\,\mathrm{diag}(\lambda_i(\theta))\,Q^\top, \qquad
              \dot\Gamma = -2\Gamma(I + \beta\Gamma)^{-1}

    Args:
        cov: covariance at time 0, shape ``(*batch, n, n)``, symmetric psd, may be singular.
        time: time on the clock, at least 0, shape ``batch``.
        beta: inverse bandwidth, at least 0, shape ``batch``; 0 is the limit.
        clock: ``"main"`` or ``"appendix"``.

    Returns:
        the covariance, shape ``(*batch, n, n)``, with the eigenvectors of `cov`.

    Raises:
        NotSymmetricError, NotPositiveSemidefiniteError: `cov` is no covariance.
        DomainError, DtypeError, NonFiniteError, ShapeError: as for `eigenvalue_flow`.

    Source: EB-40, EB-41.

    Example:
        >>> covariance_flow([[2.0, 0.0], [0.0, 0.0]], 1.0, 0.0, clock="main").tolist()
        [[2.0, 0.0], [0.0, 0.0]]
    """
    cov = door.covariance("cov", cov)
    time, beta = door.weak("time", time, cov), door.weak("beta", beta, cov)
    door.common_batch(cov=(cov, 2), time=(time, 0), beta=(beta, 0))
    values, vectors = np.linalg.eigh(cov)
    moved = eigenvalue_flow(np.maximum(values, 0), time[..., None], beta[..., None], clock=clock)
    return symmetric_part(np, (vectors * moved[..., None, :]) @ np.swapaxes(vectors, -1, -2))


def terminal_covariance(clean_cov: ArrayLike, sigma2: ArrayLike, beta: ArrayLike) -> door.Floats:
    r"""Covariance at the nominal end of the flow: theta = beta*sigma2/2, time = sigma2/2.

    .. math:: \lambda_T = W(\beta(s+\sigma^2)e^{\beta s})/\beta

    Both clocks name the same moment here, so that no clock is asked for.

    Args:
        clean_cov: covariance of the clean data, shape ``(*batch, n, n)``, symmetric psd.
        sigma2: noise variance, at least 0, shape ``batch``.
        beta: inverse bandwidth, at least 0, shape ``batch``; 0 is the limit.

    Returns:
        the covariance that the flow from ``clean_cov + sigma2*I`` arrives at, ``(*batch, n, n)``.

    Raises:
        NotSymmetricError, NotPositiveSemidefiniteError: `clean_cov` is no covariance.
        DomainError, DtypeError, NonFiniteError, ShapeError: as for `eigenvalue_flow`.

    Source: EB-42. Kernel: `flow.terminal_eigenvalue`.

    Example:
        >>> terminal_covariance([[1.0]], 0.5, 0.0).tolist()
        [[1.5]]
    """
    cov = door.covariance("clean_cov", clean_cov)
    sigma2 = door.at_least("sigma2", door.weak("sigma2", sigma2, cov), 0)
    beta = door.at_least("beta", door.weak("beta", beta, cov), 0)
    door.common_batch(clean_cov=(cov, 2), sigma2=(sigma2, 0), beta=(beta, 0))
    values, vectors = np.linalg.eigh(cov)
    ended = kernels.terminal_eigenvalue(beta[..., None], np.maximum(values, 0), sigma2[..., None])
    return symmetric_part(np, (vectors * ended[..., None, :]) @ np.swapaxes(vectors, -1, -2))


def denoising_time(s: ArrayLike, sigma2: ArrayLike, beta: ArrayLike, *, clock: str) -> door.Floats:
    r"""Time in which the flow brings an eigenvalue from s + sigma2 back to s.

    .. math:: t^\star = \frac{\sigma^2}{2} + \frac1{2\beta}\ln\frac{s+\sigma^2}{s}, \qquad
              \theta^\star = \beta t^\star

    Args:
        s: eigenvalue of the clean covariance, at least 0, shape ``batch``.
        sigma2: noise variance, at least 0, shape ``batch``.
        beta: inverse bandwidth, at least 0 (above 0 on the main clock), shape ``batch``.
        clock: ``"main"`` or ``"appendix"``.

    Returns:
        the time, shape ``batch``; infinite where s = 0 < sigma2, since that is never reached.

    Raises:
        DomainError: an argument is negative, beta = 0 on the main clock, or the clock is none.
        DtypeError, NonFiniteError, ShapeError: as for `eigenvalue_flow`.

    Source: EB-9. Kernels: `flow.denoising_time_main_clock`, `flow.denoising_time_appendix_clock`.

    Example:
        >>> denoising_time([0.0, 1.0], [1.0, 0.0], 2.0, clock="main").tolist()
        [inf, 0.0]
    """
    door.choice("clock", clock, CLOCKS)
    s = door.at_least("s", door.real("s", s), 0)
    sigma2 = door.at_least("sigma2", door.weak("sigma2", sigma2, s), 0)
    beta = door.at_least("beta", door.weak("beta", beta, s), 0, strict=clock == "main")
    door.common_batch(s=(s, 0), sigma2=(sigma2, 0), beta=(beta, 0))
    kernel = (
        kernels.denoising_time_main_clock
        if clock == "main"
        else kernels.denoising_time_appendix_clock
    )
    return kernel(beta, s, sigma2)
