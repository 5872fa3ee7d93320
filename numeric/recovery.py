"""What the flow leaves undone at its nominal end, for a Gaussian: variance, posterior mean, risk.

The nominal end is the same moment on both clocks, so that no clock is asked for. Everything rests
on the variance that is left above that of the clean data, which is computed without subtracting the
two: see `terminal_excess`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import DomainError
from numeric.kernels import recovery as kernels
from numeric.linear_algebra import symmetric_part


def terminal_excess(s: ArrayLike, sigma2: ArrayLike, beta: ArrayLike) -> door.Floats:
    r"""Variance left above that of the clean data, Delta = lambda_T - s.

    .. math:: \beta\Delta = \ln\frac{s+\sigma^2}{s} - \ln\Big(1 + \frac{\Delta}{s}\Big), \qquad
              s = 0:\ \Delta = W(\beta\sigma^2)/\beta

    Args:
        s: eigenvalue of the clean covariance, at least 0, shape ``batch``.
        sigma2: noise variance, at least 0, shape ``batch``.
        beta: inverse bandwidth, at least 0, shape ``batch``; 0 is the limit, sigma2.

    Returns:
        the excess, between 0 and `sigma2`, shape ``batch``, right to its own last digits.

    Raises:
        DomainError: an argument is negative.
        DtypeError, NonFiniteError, ShapeError: an argument is no array of finite real numbers, or
            the shapes don't broadcast.

    Source: EB-42, EB-43, EB-44. Kernel: `recovery.excess`.

    Example:
        >>> f"{terminal_excess(1.0, 1.0, 1e15):.14e}"  # log(2)/beta
        '6.93147180559945e-16'
    """
    return kernels.excess(*_along(s, sigma2, beta))


def excess_bounds(
    s: ArrayLike, sigma2: ArrayLike, beta: ArrayLike
) -> tuple[door.Floats, door.Floats]:
    r"""Bounds on the excess that hold for every bandwidth.

    .. math:: \frac{s\ell}{1+\beta s} \le \Delta \le \frac\ell\beta, \qquad
              \ell = \ln\frac{s+\sigma^2}{s}

    Args:
        s: eigenvalue of the clean covariance, above 0, shape ``batch``.
        sigma2: noise variance, at least 0, shape ``batch``.
        beta: inverse bandwidth, above 0, shape ``batch``.

    Returns:
        lower and upper bound, shape ``batch`` each.

    Raises:
        DomainError: an argument outside of its range.
        DtypeError, NonFiniteError, ShapeError: as for `terminal_excess`.

    Source: EB-43. Kernel: `recovery.excess_bounds`.

    Example:
        >>> low, high = excess_bounds(1.0, 1.0, 10.0)
        >>> bool(low <= terminal_excess(1.0, 1.0, 10.0) <= high)
        True
    """
    return kernels.excess_bounds(*_along(s, sigma2, beta, strict=True))


def excess_expansion(s: ArrayLike, sigma2: ArrayLike, beta: ArrayLike) -> door.Floats:
    r"""The excess to third order in 1/beta.

    .. math:: \frac\ell\beta - \frac\ell{s\beta^2} + \frac{\ell(2+\ell)}{2s^2\beta^3}

    Args:
        s: eigenvalue of the clean covariance, above 0, shape ``batch``.
        sigma2: noise variance, at least 0, shape ``batch``.
        beta: inverse bandwidth, above 0, shape ``batch``; of use where ``beta*s`` is large.

    Returns:
        the expansion, shape ``batch``, off by a term of order ``1/(s^3 beta^4)``.

    Raises:
        DomainError, DtypeError, NonFiniteError, ShapeError: as for `excess_bounds`.

    Source: EB-43. Kernel: `recovery.expansion`.

    Example:
        >>> exact = terminal_excess(1.0, 1.0, 1e3)
        >>> bool(abs(excess_expansion(1.0, 1.0, 1e3)/exact - 1) < 1e-8)
        True
    """
    return kernels.expansion(*_along(s, sigma2, beta, strict=True))


def terminal_slope_error(s: ArrayLike, sigma2: ArrayLike, beta: ArrayLike) -> door.Floats:
    r"""By how much the posterior mean under the flow's law shrinks too little.

    .. math:: \varepsilon = \frac{\sigma^2\Delta}{(s+\sigma^2)(s+\sigma^2+\Delta)}

    Args:
        s: eigenvalue of the clean covariance, at least 0, shape ``batch``.
        sigma2: noise variance, at least 0, shape ``batch``; not both 0.
        beta: inverse bandwidth, at least 0, shape ``batch``.

    Returns:
        slope less that of Bayes, at least 0, shape ``batch``.

    Raises:
        DomainError: a negative argument, or s and sigma2 both 0.
        DtypeError, NonFiniteError, ShapeError: as for `terminal_excess`.

    Source: EB-50, EB-51. Kernels: `recovery.excess`, `recovery.slope_error`.

    Example:
        >>> float(terminal_slope_error(0.0, 1.0, 0.0))  # no flow at all: 1/2 instead of 0
        0.5
    """
    beta, s, sigma2 = _along(s, sigma2, beta, apart=True)
    return kernels.slope_error(kernels.excess(beta, s, sigma2), s, sigma2)


def slope_error_bound(s: ArrayLike, sigma2: ArrayLike, beta: ArrayLike) -> door.Floats:
    r"""Upper bound on the slope's error that holds for every bandwidth.

    .. math:: \varepsilon \le \frac{\sigma^2\ell}{\beta(s+\sigma^2)^2}

    Args:
        s: eigenvalue of the clean covariance, above 0, shape ``batch``.
        sigma2: noise variance, at least 0, shape ``batch``.
        beta: inverse bandwidth, above 0, shape ``batch``.

    Returns:
        the bound, shape ``batch``.

    Raises:
        DomainError, DtypeError, NonFiniteError, ShapeError: as for `excess_bounds`.

    Source: EB-50. Kernel: `recovery.slope_error_bound`.

    Example:
        >>> bool(terminal_slope_error(1.0, 1.0, 10.0) <= slope_error_bound(1.0, 1.0, 10.0))
        True
    """
    return kernels.slope_error_bound(*_along(s, sigma2, beta, strict=True))


@dataclass(frozen=True)
class Recovery:
    """How far the law at the nominal end is from the clean one.

    Attributes:
        excess: covariance left above the clean one, shape ``(*batch, n, n)``, psd.
        gain_error: matrix by which the posterior mean shrinks too little, ``(*batch, n, n)``, psd.
        mmse: mean square error of the posterior mean, summed over coordinates, ``batch``.
        excess_mse: what `gain_error` adds to it, ``batch``.
        distance: 2-Wasserstein distance of the two laws, an upper bound on the 1-Wasserstein
            distance, ``batch``. In one dimension the latter is ``sqrt(2/pi)`` times it.
    """

    excess: door.Floats
    gain_error: door.Floats
    mmse: door.Floats
    excess_mse: door.Floats
    distance: door.Floats


def gaussian_recovery(clean_cov: ArrayLike, sigma2: ArrayLike, beta: ArrayLike) -> Recovery:
    r"""What the flow from ``clean_cov + sigma2*I`` leaves undone, through the eigenbasis.

    Args:
        clean_cov: covariance of the clean data, shape ``(*batch, n, n)``, symmetric psd, of any
            rank.
        sigma2: noise variance, above 0, shape ``batch``.
        beta: inverse bandwidth, at least 0, shape ``batch``.

    Returns:
        the excess covariance and what follows from it. A direction without variance dominates: its
        excess falls as log(beta)/beta only.

    Raises:
        NotSymmetricError, NotPositiveSemidefiniteError: `clean_cov` is no covariance.
        DomainError, DtypeError, NonFiniteError, ShapeError: as for `terminal_excess`.

    Source: EB-42, EB-50, EB-51, EB-52. Kernels: `recovery.excess`, `recovery.slope_error`,
    `recovery.mean_square_error`, `recovery.deviation_gap`.

    Example:
        >>> nothing = gaussian_recovery([[1.0, 0.0], [0.0, 0.0]], 1.0, 0.0)  # beta = 0
        >>> nothing.excess.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    cov = door.covariance("clean_cov", clean_cov)
    noise = door.at_least("sigma2", door.weak("sigma2", sigma2, cov), 0, strict=True)
    beta = door.at_least("beta", door.weak("beta", beta, cov), 0)
    door.common_batch(clean_cov=(cov, 2), sigma2=(noise, 0), beta=(beta, 0))
    values, vectors = np.linalg.eigh(cov)
    s, noise = np.maximum(values, 0), np.asarray(noise)[..., None]
    left = kernels.excess(np.asarray(beta)[..., None], s, noise)
    mmse, excess_mse = kernels.mean_square_error(left, s, noise)
    gap = kernels.deviation_gap(left, s)
    return Recovery(
        _in_basis(vectors, left),
        _in_basis(vectors, kernels.slope_error(left, s, noise)),
        mmse.sum(axis=-1),
        excess_mse.sum(axis=-1),
        np.sqrt((gap**2).sum(axis=-1)),
    )


def _in_basis(vectors: door.Floats, values: door.Floats) -> door.Floats:
    moved = (vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return symmetric_part(np, moved)


def _along(
    s: ArrayLike, sigma2: ArrayLike, beta: ArrayLike, *, strict: bool = False, apart: bool = False
) -> tuple[door.Floats, door.Floats, door.Floats]:
    """beta, s and sigma2, checked; `strict` wants beta and s above 0, `apart` s + sigma2."""
    clean = door.at_least("s", door.real("s", s), 0, strict=strict)
    noise = door.at_least("sigma2", door.weak("sigma2", sigma2, clean), 0)
    width = door.at_least("beta", door.weak("beta", beta, clean), 0, strict=strict)
    door.common_batch(s=(clean, 0), sigma2=(noise, 0), beta=(width, 0))
    if apart and (clean + noise == 0).any():
        raise DomainError("sigma2", "s and sigma2 not both 0", "both 0")
    return width, clean, noise
