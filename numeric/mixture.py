"""Gaussian mixtures seen through Gaussian noise: responsibilities, posteriors, scores, Tweedie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric import gaussian_kernel as particles
from numeric.errors import DomainError, ShapeError
from numeric.kernels import mixture as kernels
from numeric.linear_algebra import symmetric_part

# Nodes of the trapezoid rule behind `pair_mmse`, which converges like exp(-c * NODES).
NODES = 256


@dataclass(frozen=True)
class GaussianMixture:
    """A mixture ``sum_k w_k N(mu_k, C_k)``, checked, with ``C_k = V_k diag(s_k) V_k'``.

    Made by `gaussian_mixture`. The last axes are K components and d coordinates.

    Attributes:
        log_weights: log w, shape ``(*batch, K)``; -inf for a component without mass.
        means: shape ``(*batch, K, d)``.
        eigenvalues: s, at least 0, shape ``(*batch, K, d)``.
        bases: V, shape ``(*batch, K, d, d)``.
    """

    log_weights: door.Floats
    means: door.Floats
    eigenvalues: door.Floats
    bases: door.Floats


class MixturePosterior(NamedTuple):
    """Law of x given y: its mean and covariance, and the components' probabilities."""

    mean: door.Floats
    cov: door.Floats
    responsibilities: door.Floats


class MixtureScore(NamedTuple):
    """Log density of y with its first and second derivatives."""

    log_density: door.Floats
    score: door.Floats
    hessian: door.Floats


class ParticlePosterior(NamedTuple):
    """Law of x given y under particles as a prior: mean and covariance at each y."""

    mean: door.Floats
    cov: door.Floats


def gaussian_mixture(weights: ArrayLike, means: ArrayLike, covs: ArrayLike) -> GaussianMixture:
    """A mixture of Gaussians from its weights, means and covariances.

    Args:
        weights: at least 0 with sum 1, shape ``(*batch, K)``.
        means: shape ``(*batch, K, d)``.
        covs: symmetric psd, any rank, 0 for an atom, shape ``(*batch, K, d, d)``.

    Returns:
        the mixture with its covariances' eigenvalues, so that they are taken once.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: a weight is negative, or their sum is not 1.
        NotSymmetricError, NotPositiveSemidefiniteError: one of `covs` is no covariance.

    Source: EB-26.

    Example:
        >>> pair = gaussian_mixture([0.5, 0.5], [[-1.0], [1.0]], np.zeros((2, 1, 1)))
        >>> pair.eigenvalues.tolist()
        [[0.0], [0.0]]
    """
    weights = door.at_least("weights", door.real("weights", weights, 1), 0)
    means, covs = door.real("means", means, 2), door.covariance("covs", covs)
    if covs.ndim < 3:
        raise ShapeError("covs", "a matrix for each component", f"shape {covs.shape}")
    count, width = means.shape[-2:]
    if count == 0 or width == 0:
        raise ShapeError("means", "at least one component", f"shape {means.shape}")
    for name, length, other in (
        ("weights", weights.shape[-1], count),
        ("covs", covs.shape[-3], count),
        ("covs", covs.shape[-1], width),
    ):
        door.same_axis("means", other, name, length)
    door.common_batch(weights=(weights, 1), means=(means, 2), covs=(covs, 3))
    door.sums_to_one("weights", weights)
    log_weights = np.log(weights, out=np.full_like(weights, -np.inf), where=weights > 0)
    eigenvalues, bases = np.linalg.eigh(covs)
    return GaussianMixture(log_weights, means, np.maximum(eigenvalues, 0), bases)


def responsibilities(log_weights: ArrayLike, log_likelihoods: ArrayLike) -> door.Floats:
    """Probabilities of the components from any log-likelihoods.

    Args:
        log_weights: log w, up to a constant, shape ``(*batch, K)``; -inf where there is no mass.
        log_likelihoods: log density of the observation under each component, up to a constant,
            shape ``(*batch, K)``; -inf where it can't come from the component.

    Returns:
        probabilities, shape ``(*batch, K)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: +inf, or no component can have made the observation.

    Source: EB-26. Kernel: `mixture.responsibilities`.

    Example:
        >>> responsibilities([0.0, 0.0], [-5000.0, -5000.0]).tolist()
        [0.5, 0.5]
    """
    return kernels.responsibilities(*_log_joint(log_weights, log_likelihoods))


def log_evidence(log_weights: ArrayLike, log_likelihoods: ArrayLike) -> door.Floats:
    """Log of ``sum_k w_k p_k``, the density of the observation under the mixture.

    Args:
        log_weights, log_likelihoods: as for `responsibilities`.

    Returns:
        log density, shape ``batch``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `responsibilities`.

    Source: EB-26. Kernel: `mixture.log_evidence`.

    Example:
        >>> float(log_evidence([0.0, -np.inf], [-5000.0, 3.0]))
        -5000.0
    """
    return kernels.log_evidence(*_log_joint(log_weights, log_likelihoods))


def mixture_responsibilities(
    mixture: GaussianMixture, y: ArrayLike, sigma2: ArrayLike
) -> door.Floats:
    """Probabilities of the components given ``y = x + sqrt(sigma2) noise``.

    Args:
        mixture: law of x.
        y: observation, shape ``(*batch, d)``.
        sigma2: variance of the noise, above 0, shape ``batch``.

    Returns:
        probabilities, shape ``(*batch, K)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: sigma2 is not positive.

    Source: EB-26. Kernels: `mixture.component_log_likelihood`, `mixture.responsibilities`.

    Example:
        >>> pair = gaussian_mixture([0.5, 0.5], [[-1.0], [1.0]], np.zeros((2, 1, 1)))
        >>> mixture_responsibilities(pair, [0.0], 0.5).tolist()
        [0.5, 0.5]
    """
    y, sigma2 = _observed(mixture, y, sigma2)
    return kernels.responsibilities(mixture.log_weights, _log_likelihoods(mixture, y, sigma2))


def mixture_posterior_mean(
    mixture: GaussianMixture, y: ArrayLike, sigma2: ArrayLike
) -> door.Floats:
    """Posterior mean ``E[x | y]`` under ``y = x + sqrt(sigma2) noise``.

    Args:
        mixture, y, sigma2: as for `mixture_responsibilities`.

    Returns:
        mean, shape ``(*batch, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `mixture_responsibilities`.

    Source: EB-26. Kernels: `mixture.component_mean`, `mixture.mixed_mean`.

    Example:
        >>> one = gaussian_mixture([1.0], [[0.0]], [[[3.0]]])
        >>> mixture_posterior_mean(one, [4.0], 1.0).tolist()
        [3.0]
    """
    y, sigma2 = _observed(mixture, y, sigma2)
    shares = kernels.responsibilities(mixture.log_weights, _log_likelihoods(mixture, y, sigma2))
    return kernels.mixed_mean(shares, _component_means(mixture, y, sigma2))


def mixture_posterior(
    mixture: GaussianMixture, y: ArrayLike, sigma2: ArrayLike
) -> MixturePosterior:
    """Posterior mean and covariance of x under ``y = x + sqrt(sigma2) noise``.

    Args:
        mixture, y, sigma2: as for `mixture_responsibilities`.

    Returns:
        mean ``(*batch, d)``, covariance ``(*batch, d, d)``, responsibilities ``(*batch, K)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `mixture_responsibilities`.

    Source: EB-26. Kernels: `mixture.component_mean`, `mixture.component_cov`,
    `mixture.mixed_mean`, `mixture.between_cov`.

    Example:
        >>> pair = gaussian_mixture([0.5, 0.5], [[-1.0], [1.0]], np.zeros((2, 1, 1)))
        >>> law = mixture_posterior(pair, [0.0], 0.5)
        >>> law.mean.tolist(), law.cov.tolist()
        ([0.0], [[1.0]])
    """
    y, sigma2 = _observed(mixture, y, sigma2)
    shares = kernels.responsibilities(mixture.log_weights, _log_likelihoods(mixture, y, sigma2))
    means = _component_means(mixture, y, sigma2)
    covs = kernels.component_cov(mixture.eigenvalues, mixture.bases, sigma2[..., None])
    return MixturePosterior(
        kernels.mixed_mean(shares, means), _mixed_cov(shares, means, covs), shares
    )


def mixture_score(mixture: GaussianMixture, y: ArrayLike, sigma2: ArrayLike) -> MixtureScore:
    """Log density of ``y = x + sqrt(sigma2) noise``, its gradient and its second derivatives.

    Args:
        mixture, y, sigma2: as for `mixture_responsibilities`.

    Returns:
        log density ``batch``, score ``(*batch, d)``, Hessian ``(*batch, d, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `mixture_responsibilities`.

    Source: EB-3, EB-26. Kernels: `mixture.component_score`, `mixture.component_hessian`,
    `mixture.log_evidence`, `mixture.mixed_mean`, `mixture.between_cov`.

    Example:
        >>> one = gaussian_mixture([1.0], [[0.0]], [[[3.0]]])
        >>> found = mixture_score(one, [4.0], 1.0)
        >>> found.score.tolist(), found.hessian.tolist()
        ([-1.0], [[-0.25]])
    """
    y, sigma2 = _observed(mixture, y, sigma2)
    likelihoods = _log_likelihoods(mixture, y, sigma2)
    shares = kernels.responsibilities(mixture.log_weights, likelihoods)
    component = (mixture.means, mixture.eigenvalues, mixture.bases)
    scores = kernels.component_score(*component, sigma2[..., None], y[..., None, :])
    curvatures = kernels.component_hessian(*component[1:], sigma2[..., None])
    # The log density's derivatives are mixed as a mean and a covariance are.
    return MixtureScore(
        kernels.log_evidence(mixture.log_weights, likelihoods),
        kernels.mixed_mean(shares, scores),
        _mixed_cov(shares, scores, curvatures),
    )


def tweedie_mean(y: ArrayLike, sigma2: ArrayLike, score: ArrayLike) -> door.Floats:
    r"""Posterior mean ``y + sigma2 grad log p(y)`` of x under ``y = x + sqrt(sigma2) noise``.

    Args:
        y: observation, shape ``(*batch, d)``.
        sigma2: variance of the noise, at least 0, shape ``batch``.
        score: gradient of the log density of y, shape ``(*batch, d)``.

    Returns:
        mean, shape ``(*batch, d)``, for any law of x.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: sigma2 is negative.

    Source: EB-3 (A.3). Kernel: `mixture.tweedie_mean`.

    Example:
        >>> tweedie_mean([4.0], 1.0, [-1.0]).tolist()
        [3.0]
    """
    y, score = door.real("y", y, 1), door.real("score", score, 1)
    sigma2 = door.at_least("sigma2", door.weak("sigma2", sigma2, y, score), 0)
    door.same_axis("y", y.shape[-1], "score", score.shape[-1])
    door.common_batch(y=(y, 1), sigma2=(sigma2, 0), score=(score, 1))
    return kernels.tweedie_mean(y, sigma2, score)


def tweedie_cov(sigma2: ArrayLike, hessian: ArrayLike) -> door.Floats:
    r"""Posterior covariance ``sigma2 I + sigma2^2 Hess log p(y)`` of x.

    Where the posterior is much narrower than the noise the terms cancel: then the covariance is
    right to rounding of sigma2 only.

    Args:
        sigma2: variance of the noise, at least 0, shape ``batch``.
        hessian: second derivatives of the log density of y, symmetric, ``(*batch, d, d)``.

    Returns:
        covariance, shape ``(*batch, d, d)``, for any law of x.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: sigma2 is negative.

    Source: EB-3 (A.3). Kernel: `mixture.tweedie_cov`.

    Example:
        >>> tweedie_cov(1.0, [[-0.25]]).tolist()
        [[0.75]]
    """
    hessian = door.real("hessian", hessian, 2)
    door.same_axis("hessian (rows)", hessian.shape[-2], "hessian", hessian.shape[-1])
    sigma2 = door.at_least("sigma2", door.weak("sigma2", sigma2, hessian), 0)
    door.common_batch(sigma2=(sigma2, 0), hessian=(hessian, 2))
    return kernels.tweedie_cov(sigma2, hessian)


def empirical_posterior_mean(
    y: ArrayLike, atoms: ArrayLike, sigma2: ArrayLike, *, log_weights: ArrayLike | None = None
) -> door.Floats:
    """Posterior mean of x under ``y = x + sqrt(sigma2) noise``, x one of the atoms.

    Args:
        y: observations, shape ``(*batch, n, d)``.
        atoms: shape ``(*batch, N, d)``; may repeat.
        sigma2: variance of the noise, above 0, shape ``batch``.
        log_weights: log of the atoms' probabilities, up to a constant, shape ``(*batch, N)``.
            Default: all alike.

    Returns:
        means, shape ``(*batch, n, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: sigma2 is not positive, or so small that its inverse times a squared distance
            may overflow.

    Source: EB-13. Algorithm: `gaussian_kernel.kernel_mean` with beta = 1/sigma2.

    Example:
        >>> empirical_posterior_mean([[0.9]], [[-1.0], [1.0]], 1e-4).tolist()
        [[1.0]]
    """
    beta = _precision(sigma2)
    return particles.kernel_mean(y, atoms, beta, log_weights=log_weights)


def empirical_posterior(
    y: ArrayLike, atoms: ArrayLike, sigma2: ArrayLike, *, log_weights: ArrayLike | None = None
) -> ParticlePosterior:
    """Posterior mean and covariance of x, x one of the atoms.

    Args:
        y, atoms, sigma2, log_weights: as for `empirical_posterior_mean`.

    Returns:
        means ``(*batch, n, d)`` and covariances ``(*batch, n, d, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `empirical_posterior_mean`.

    Source: EB-13, EB-14. Algorithms: `gaussian_kernel.kernel_mean`,
    `gaussian_kernel.kernel_covariance`.

    Example:
        >>> law = empirical_posterior([[0.0]], [[-1.0], [1.0]], 0.5)
        >>> law.mean.tolist(), law.cov.tolist()
        ([[0.0]], [[[1.0]]])
    """
    beta = _precision(sigma2)
    return ParticlePosterior(
        particles.kernel_mean(y, atoms, beta, log_weights=log_weights),
        particles.kernel_covariance(y, atoms, beta, log_weights=log_weights),
    )


def pair_posterior_mean(
    y: ArrayLike, mu: ArrayLike, v: ArrayLike, sigma2: ArrayLike
) -> door.Floats:
    r"""Posterior mean under the prior ``N(mu, v I)/2 + N(-mu, v I)/2``, in closed form.

    .. math:: \frac{v}{v+\sigma^2} y + \frac{\sigma^2}{v+\sigma^2}
              \tanh\Big(\frac{\mu \cdot y}{v+\sigma^2}\Big) \mu

    Args:
        y: observation, shape ``(*batch, d)``.
        mu: centre of the right Gaussian, shape ``(*batch, d)``.
        v: variance within, at least 0 (0: two atoms), shape ``batch``.
        sigma2: variance of the noise, above 0, shape ``batch``.

    Returns:
        mean, shape ``(*batch, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: v is negative, or sigma2 not positive.

    Source: EB-27. Kernel: `mixture.pair_mean`.

    Example:
        >>> pair_posterior_mean([50.0, 7.0], [1.0, 0.0], 0.0, 1.0).tolist()
        [1.0, 0.0]
    """
    y = door.real("y", y, 1)
    mu, v, sigma2 = _pair(mu, v, sigma2, y)
    door.same_axis("mu", mu.shape[-1], "y", y.shape[-1])
    door.common_batch(y=(y, 1), mu=(mu, 1), v=(v, 0), sigma2=(sigma2, 0))
    return kernels.pair_mean(y, mu, v, sigma2)


def pair_mmse(mu: ArrayLike, v: ArrayLike, sigma2: ArrayLike) -> door.Floats:
    r"""Least mean square error ``E|x - E[x | y]|^2`` under that prior, summed over coordinates.

    .. math:: d \frac{v \sigma^2}{v + \sigma^2} + \frac{\sigma^4 |\mu|^2}{(v + \sigma^2)^2}
              E\,\mathrm{sech}^2(\kappa^2 + \kappa Z), \qquad \kappa = |\mu|/\sqrt{v + \sigma^2}

    The expectation is an integral of an analytic function on a line, for which the trapezoid rule
    is exact to rounding with a fixed number of nodes, whatever kappa.

    Args:
        mu, v, sigma2: as for `pair_posterior_mean`.

    Returns:
        mean square error, shape ``batch``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `pair_posterior_mean`.

    Source: EB-28. Kernels: `mixture.pair_integrand`, `mixture.pair_mmse`.

    Example:
        >>> round(float(pair_mmse([1.0, 0.0], 0.01, 0.5)), 10)
        0.247282936
    """
    mu, v, sigma2 = _pair(mu, v, sigma2)
    door.common_batch(mu=(mu, 1), v=(v, 0), sigma2=(sigma2, 0))
    kappa = np.linalg.norm(mu, axis=-1) / np.sqrt(v + sigma2)
    # Beyond these ends the integrand is below exp(-40) of its value at 0: on the right it falls
    # like exp(-kappa x - x^2/2), on the left like exp(3 kappa x - x^2/2).
    right = 80 / (np.sqrt(kappa**2 + 80) + kappa)
    left = -80 / (np.sqrt(9 * kappa**2 + 80) + 3 * kappa)
    share = np.linspace(0, 1, NODES, dtype=kappa.dtype)
    nodes = left[..., None] + (right - left)[..., None] * share
    values = kernels.pair_integrand(kappa[..., None], nodes)
    spread = values.sum(axis=-1) * (right - left) / (NODES - 1)
    return kernels.pair_mmse(mu.shape[-1], (mu**2).sum(axis=-1), v, sigma2, spread)


# ---------------------------------------------------------------- at the door


def _log_joint(
    log_weights: ArrayLike, log_likelihoods: ArrayLike
) -> tuple[door.Floats, door.Floats]:
    weights = particles.log_masses("log_weights", log_weights)
    likelihoods = particles.log_masses("log_likelihoods", log_likelihoods)
    door.same_axis("log_weights", weights.shape[-1], "log_likelihoods", likelihoods.shape[-1])
    door.common_batch(log_weights=(weights, 1), log_likelihoods=(likelihoods, 1))
    if not np.isfinite(weights + likelihoods).any(axis=-1).all():
        raise DomainError(
            "log_likelihoods", "a component with mass that can have made y", "-inf for all of them"
        )
    return weights, likelihoods


def _observed(
    mixture: GaussianMixture, y: ArrayLike, sigma2: ArrayLike
) -> tuple[door.Floats, door.Floats]:
    y = door.real("y", y, 1)
    door.same_axis("mixture.means", mixture.means.shape[-1], "y", y.shape[-1])
    sigma2 = door.weak("sigma2", sigma2, y, mixture.means)
    door.at_least("sigma2", sigma2, 0, strict=True)
    door.common_batch(
        y=(y, 1), sigma2=(sigma2, 0), mixture=(mixture.means, 2), weights=(mixture.log_weights, 1)
    )
    return y, sigma2


def _log_likelihoods(mixture: GaussianMixture, y: door.Floats, sigma2: door.Floats) -> door.Floats:
    return kernels.component_log_likelihood(
        mixture.means, mixture.eigenvalues, mixture.bases, sigma2[..., None], y[..., None, :]
    )


def _component_means(mixture: GaussianMixture, y: door.Floats, sigma2: door.Floats) -> door.Floats:
    return kernels.component_mean(
        mixture.means, mixture.eigenvalues, mixture.bases, sigma2[..., None], y[..., None, :]
    )


def _mixed_cov(shares: door.Floats, means: door.Floats, covs: door.Floats) -> door.Floats:
    """Law of total covariance: the mean of the covariances, and the covariance of the means."""
    width = means.shape[-1]
    listed = covs.reshape(*covs.shape[:-2], width * width)
    within = kernels.mixed_mean(shares, listed)
    within = symmetric_part(np, within.reshape(*within.shape[:-1], width, width))
    return within + kernels.between_cov(shares, means)


def _precision(sigma2: ArrayLike) -> door.Floats | float:
    """1/sigma2; a plain number stays one, so that it takes on the type of the points."""
    checked = door.at_least("sigma2", door.real("sigma2", sigma2), 0, strict=True)
    if (checked < 1 / float(np.finfo(checked.dtype).max)).any():
        raise DomainError("sigma2", "a number whose inverse is finite", f"{float(checked.min()):g}")
    return 1 / float(checked) if isinstance(sigma2, (int, float)) else 1 / checked


def _pair(
    mu: ArrayLike, v: ArrayLike, sigma2: ArrayLike, *others: door.Floats
) -> tuple[door.Floats, door.Floats, door.Floats]:
    mu = door.real("mu", mu, 1)
    v = door.at_least("v", door.weak("v", v, mu, *others), 0)
    sigma2 = door.weak("sigma2", sigma2, mu, *others)
    return mu, v, door.at_least("sigma2", sigma2, 0, strict=True)
