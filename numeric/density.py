"""Gaussian densities on supports of any rank, and the posterior of a mixture's components."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import ShapeError
from numeric.kernels import density as kernels
from numeric.kernels import logratio
from numeric.linear_algebra import pseudo_inverse, rank_tolerance, row_projector
from numeric.support import check_support


def log_density(
    x: ArrayLike, mean: ArrayLike, cov: ArrayLike, *, rank_tol: float | None = None
) -> door.Floats:
    r"""Logarithm of a Gaussian density with respect to the support of its law, of any rank.

    .. math:: \log\varphi(x; \Sigma) = -\tfrac12\big(\log\mathrm{pdet}(2\pi\Sigma)
              + x^\top\Sigma^{+}x\big)

    A covariance of rank 0 gives 0: unit mass at the mean. Densities with respect to different
    supports can't be compared.

    Args:
        x: shape ``(*batch, n)``, in the support.
        mean: shape ``(*batch, n)``.
        cov: shape ``(*batch, n, n)``, symmetric positive semidefinite; may be singular.
        rank_tol: eigenvalues below ``rank_tol * largest`` count as zero. Default: ``n * eps``.

    Returns:
        log-density, shape ``batch``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: `rank_tol` is outside [0, 1).
        NotSymmetricError, NotPositiveSemidefiniteError: `cov` is no covariance.
        OffSupportError: ``x`` is not in the support; carries the distance.

    Source: FB-4. Kernel: `density.log_density`.

    Example:
        >>> float(log_density([1.0, 1.0], [0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]]))
        -1.7655121234846454
    """
    rank_tol = door.tolerance("rank_tol", rank_tol)
    cov = door.covariance("cov", cov)
    x, mean, cov = door.arrays(x=(x, "n"), mean=(mean, "n"), cov=(cov, "n n"))
    deviation = x - mean
    largest = np.abs(cov).max(axis=(-2, -1), initial=0)
    size = np.abs(x).max(axis=-1, initial=0) + np.abs(mean).max(axis=-1, initial=0)
    check_support("x", cov, deviation, np.sqrt(largest), size, rank_tol)
    eigenvalues, basis = np.linalg.eigh(cov)
    coordinates = (np.swapaxes(basis, -1, -2) @ deviation[..., None])[..., 0]
    floor = rank_tolerance(np, cov, rank_tol) * eigenvalues.max(axis=-1, initial=0, keepdims=True)
    kept = (eigenvalues > floor) & (eigenvalues > 0)
    return kernels.log_density(
        np.where(kept, eigenvalues, 1), np.where(kept, coordinates, 0), kept.astype(cov.dtype)
    )


def state_posterior(
    prior: ArrayLike, means: ArrayLike, state: ArrayLike, t: ArrayLike
) -> door.Floats:
    r"""Responsibilities of the components once the whole state ``mu_J + t eps`` is known.

    .. math:: r_n \propto \pi_n \exp\big(-|z - \mu_n|^2 / 2t^2\big)

    Args:
        prior: masses of the components, positive with sum 1, shape ``(*batch, N)``.
        means: shape ``(*batch, N, d)``.
        state: shape ``(*batch, d)``.
        t: corruption level in (0, 1], shape ``batch``.

    Returns:
        responsibilities, shape ``(*batch, N)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: a mass is not positive, they don't sum to 1, or t is outside (0, 1].

    Source: FB-1, FB-9. Kernels: `density.log_odds`, `logratio.row`.

    Example:
        >>> state_posterior([0.5, 0.5], [[0.0], [2.0]], [1.0], 0.1).tolist()
        [0.5, 0.5]
    """
    prior, means, state, t = door.arrays(
        prior=(prior, "N"), means=(means, "N d"), state=(state, "d"), t=(t, "")
    )
    log_prior = np.log(door.masses("prior", prior))
    return logratio.row(kernels.log_odds(log_prior, means, state, door.corruption("t", t), 0))


def fixed_row_posterior(
    prior: ArrayLike,
    means: ArrayLike,
    mixing: ArrayLike,
    mixtures: ArrayLike,
    t: ArrayLike,
    *,
    rank_tol: float | None = None,
) -> door.Floats:
    r"""Responsibilities of the components given fixed mixtures ``Y = B Z`` of the tokens.

    .. math:: r_n \propto \pi_n \exp\big(-\|B^{+}(Y - B\mu_n)\|_F^2 / 2t^2\big)

    Args:
        prior: masses of the components, positive with sum 1, shape ``(*batch, N)``.
        means: tokens of each component, shape ``(*batch, N, P, d)``.
        mixing: B, of any rank, shape ``(*batch, R, P)``: for a query token i and fixed rows S the
            unit row of i above S.
        mixtures: Y, shape ``(*batch, R, d)``.
        t: corruption level in (0, 1], shape ``batch``.
        rank_tol: singular values of B below ``rank_tol * largest`` count as zero.
            Default: ``max(R, P) * eps``.

    Returns:
        responsibilities, shape ``(*batch, N)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: the prior or t is outside its domain, or `rank_tol` outside [0, 1).
        OffSupportError: no tokens have these mixtures; carries the distance.

    Source: FB-2 (eqs. 2, 3). Kernels: `density.log_odds`, `logratio.row`.

    Example:
        >>> B = [[1.0, 0.0], [0.5, 0.5]]
        >>> means = [[[0.0], [0.0]], [[0.0], [2.0]]]
        >>> fixed_row_posterior([0.5, 0.5], means, B, [[0.0], [0.5]], 1.0).round(12).tolist()
        [0.5, 0.5]
    """
    rank_tol = door.tolerance("rank_tol", rank_tol)
    prior, means, mixing, mixtures, t = door.arrays(
        prior=(prior, "N"),
        means=(means, "N P d"),
        mixing=(mixing, "R P"),
        mixtures=(mixtures, "R d"),
        t=(t, ""),
    )
    log_prior = np.log(door.masses("prior", prior))
    door.corruption("t", t)
    if means.shape[-3] == 0:
        raise ShapeError("means", "at least one component", f"shape {means.shape}")
    # All from the first component, so that what is far from 0 cancels first.
    first = means[..., 0, :, :]
    moved = mixtures - mixing @ first
    _check_mixtures(mixing, moved, np.abs(mixtures) + np.abs(mixing) @ np.abs(first), t, rank_tol)
    seen = row_projector(np, mixing, rank_tol)[..., None, :, :] @ (means - first[..., None, :, :])
    state = pseudo_inverse(np, mixing, rank_tol) @ moved
    flat = state.shape[-2] * state.shape[-1]
    log_odds = kernels.log_odds(
        log_prior,
        seen.reshape(*seen.shape[:-2], flat),
        state.reshape(*state.shape[:-2], flat),
        t,
        0,
    )
    return logratio.row(log_odds)


def noise_mean(
    responsibilities: ArrayLike, means: ArrayLike, token: ArrayLike, t: ArrayLike
) -> door.Floats:
    r"""Mean of a token's noise given an observation that determines the token.

    .. math:: E[\varepsilon_i \mid o] = \Big(Z_i - \sum_n r_n(o)\,\mu_{n,i}\Big)/t

    False for an observation that does not determine the token.

    Args:
        responsibilities: posterior masses, nonnegative with sum 1, shape ``(*batch, N)``.
        means: mean of the token in each component, shape ``(*batch, N, d)``.
        token: the token, shape ``(*batch, d)``.
        t: corruption level in (0, 1], shape ``batch``.

    Returns:
        mean of the noise, shape ``(*batch, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: a responsibility is negative, they don't sum to 1, or t is outside (0, 1].

    Source: FB-3 (eq. 4). Kernel: `density.noise_mean`.

    Example:
        >>> noise_mean([0.5, 0.5], [[0.0], [1.0]], [1.0], 0.5).tolist()
        [1.0]
    """
    responsibilities, means, token, t = door.arrays(
        responsibilities=(responsibilities, "N"),
        means=(means, "N d"),
        token=(token, "d"),
        t=(t, ""),
    )
    door.sums_to_one("responsibilities", door.at_least("responsibilities", responsibilities, 0))
    return kernels.noise_mean(responsibilities, means, token, door.corruption("t", t))


def _check_mixtures(
    mixing: door.Floats,
    moved: door.Floats,
    sizes: door.Floats,
    t: door.Floats,
    rank_tol: float | None,
) -> None:
    """Refuse mixtures that no tokens have, coordinate by coordinate."""
    check_support(
        "mixtures",
        np.swapaxes(mixing, -1, -2)[..., None, :, :],
        np.swapaxes(moved, -1, -2),
        (np.linalg.norm(mixing, axis=(-2, -1)) * t)[..., None],
        np.max(sizes, axis=-2, initial=0),
        rank_tol,
    )
