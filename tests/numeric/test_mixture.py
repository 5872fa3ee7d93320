"""Gaussian mixtures under noise against SciPy, quadrature, sampling-free identities and mpmath.

Items: EB-3, EB-14, EB-26, EB-27, EB-28.
"""

from __future__ import annotations

import mpmath
import numpy as np
import numpy.testing as npt
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

import numeric

SEED = 277


def random_mixture(components: int = 3, width: int = 2) -> tuple[np.ndarray, ...]:
    """Weights, means and covariances, one of them an atom and one of rank 1."""
    rng = np.random.default_rng(SEED)
    weights = rng.dirichlet(np.ones(components))
    means = 2 * rng.normal(size=(components, width))
    loadings = rng.normal(size=(components, width, width))
    loadings[0] = 0
    loadings[1][:, 1:] = 0
    return weights, means, loadings @ np.swapaxes(loadings, -1, -2)


def test_posterior_on_a_line_is_that_of_quadrature():
    """EB-26 against integrals of the density, in one dimension."""
    weights, means, variances = [0.3, 0.7], [-1.0, 1.5], [0.4, 0.9]
    mixture = numeric.gaussian_mixture(
        weights, np.array(means)[:, None], np.array(variances)[:, None, None]
    )
    for y, sigma2 in ((0.2, 0.5), (-3.0, 2.0), (4.0, 0.1)):

        def joint(x: float, power: int, y: float = y, sigma2: float = sigma2) -> float:
            prior = sum(
                w * norm.pdf(x, m, np.sqrt(v))
                for w, m, v in zip(weights, means, variances, strict=True)
            )
            return x**power * prior * norm.pdf(y, x, np.sqrt(sigma2))

        total, first, second = (
            quad(joint, -15, 15, args=(power,), epsabs=1e-14, epsrel=1e-12, limit=400)[0]
            for power in (0, 1, 2)
        )
        law = numeric.mixture_posterior(mixture, [y], sigma2)
        score = numeric.mixture_score(mixture, [y], sigma2)
        npt.assert_allclose(law.mean[0], first / total, rtol=1e-9)
        npt.assert_allclose(law.cov[0, 0], second / total - (first / total) ** 2, rtol=1e-8)
        npt.assert_allclose(score.log_density, np.log(total), rtol=1e-9)


def test_posterior_with_singular_components_is_dense_conditioning():
    weights, means, covs = random_mixture()
    mixture = numeric.gaussian_mixture(weights, means, covs)
    rng = np.random.default_rng(SEED + 1)
    y, sigma2 = rng.normal(size=(6, 2)), rng.uniform(0.1, 2, 6)
    law = numeric.mixture_posterior(mixture, y, sigma2)
    for place in range(6):
        noisy = covs + sigma2[place] * np.eye(2)
        logs = [
            np.log(w) + multivariate_normal(m, s).logpdf(y[place])
            for w, m, s in zip(weights, means, noisy, strict=True)
        ]
        shares = np.exp(logs - logsumexp(logs))
        gains = [c @ np.linalg.inv(s) for c, s in zip(covs, noisy, strict=True)]
        parts = [m + g @ (y[place] - m) for m, g in zip(means, gains, strict=True)]
        left = [c - g @ c for c, g in zip(covs, gains, strict=True)]
        mean = sum(r * m for r, m in zip(shares, parts, strict=True))
        second = sum(r * (c + np.outer(m, m)) for r, c, m in zip(shares, left, parts, strict=True))
        npt.assert_allclose(law.responsibilities[place], shares, rtol=1e-11)
        npt.assert_allclose(law.mean[place], mean, rtol=1e-11, atol=1e-13)
        npt.assert_allclose(law.cov[place], second - np.outer(mean, mean), rtol=1e-10, atol=1e-12)
    npt.assert_array_equal(law.mean, numeric.mixture_posterior_mean(mixture, y, sigma2))
    npt.assert_array_equal(
        law.responsibilities, numeric.mixture_responsibilities(mixture, y, sigma2)
    )


def test_tweedie_gives_the_posterior_back():
    """EB-3 against EB-26; the minus sign of the seed's print fails (EB-58)."""
    mixture = numeric.gaussian_mixture(*random_mixture())
    y = np.random.default_rng(SEED + 2).normal(size=(20, 2))
    for sigma2 in (0.05, 0.7, 30.0):
        law = numeric.mixture_posterior(mixture, y, sigma2)
        found = numeric.mixture_score(mixture, y, sigma2)
        mean = numeric.tweedie_mean(y, sigma2, found.score)
        npt.assert_allclose(mean, law.mean, rtol=1e-12, atol=1e-13)
        npt.assert_allclose(
            numeric.tweedie_cov(sigma2, found.hessian), law.cov, rtol=1e-9, atol=1e-14 * sigma2
        )
        assert np.abs(y - sigma2 * found.score - law.mean).max() > 1e-2


def test_score_and_hessian_by_finite_differences():
    mixture = numeric.gaussian_mixture(*random_mixture())
    y, step = np.array([0.3, -1.1]), 1e-5
    found = numeric.mixture_score(mixture, y, 0.6)
    for a, shift in enumerate(step * np.eye(2)):
        up = numeric.mixture_score(mixture, y + shift, 0.6)
        down = numeric.mixture_score(mixture, y - shift, 0.6)
        slope = (up.log_density - down.log_density) / (2 * step)
        npt.assert_allclose(found.score[a], slope, rtol=1e-8)
        npt.assert_allclose(found.hessian[a], (up.score - down.score) / (2 * step), rtol=1e-7)


def test_responsibilities_of_any_likelihoods():
    got = numeric.responsibilities(np.log([0.2, 0.3, 0.5]), [-1.0, 0.0, 2.0])
    raw = np.array([0.2, 0.3, 0.5]) * np.exp([-1.0, 0.0, 2.0])
    npt.assert_allclose(got, raw / raw.sum(), rtol=1e-15)
    npt.assert_array_equal(numeric.responsibilities([0.0, -np.inf], [-1e6, 1e6]), [1.0, 0.0])
    npt.assert_array_equal(numeric.responsibilities([0.0, 0.0], [-np.inf, -1e300]), [0.0, 1.0])
    npt.assert_allclose(
        numeric.log_evidence(np.log([0.2, 0.8]), [-800.0, -801.0]),
        logsumexp([-800.0, -801.0], b=[0.2, 0.8]),
        rtol=1e-15,
    )


def test_atoms_as_a_mixture_and_as_particles_agree():
    rng = np.random.default_rng(SEED + 3)
    atoms, y = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    mixture = numeric.gaussian_mixture(np.full(6, 1 / 6), atoms, np.zeros((6, 3, 3)))
    for sigma2 in (1e-6, 0.3, 1e4):
        law = numeric.mixture_posterior(mixture, y, sigma2)
        empirical = numeric.empirical_posterior(y, atoms, sigma2)
        npt.assert_allclose(empirical.mean, law.mean, rtol=1e-9, atol=1e-12)
        npt.assert_allclose(empirical.cov, law.cov, rtol=1e-8, atol=1e-12)
        npt.assert_array_equal(empirical.mean, numeric.empirical_posterior_mean(y, atoms, sigma2))


def test_posterior_covariance_is_that_of_the_energy():
    """EB-14: Cov = sigma2 (I - Hess E) at beta = 1/sigma2."""
    rng = np.random.default_rng(SEED + 4)
    atoms, y, sigma2 = rng.normal(size=(5, 2)), rng.normal(size=(3, 2)), 0.4
    hessian = numeric.kernel_energy_hessian(y, atoms, 1 / sigma2)
    npt.assert_allclose(
        numeric.empirical_posterior(y, atoms, sigma2).cov,
        sigma2 * (np.eye(2) - hessian),
        rtol=1e-12,
        atol=1e-14,
    )


def test_sigma2_between_its_limits():
    """No noise leaves y where the prior is regular; much noise leaves the prior's mean."""
    weights, means, covs = random_mixture()
    regular = numeric.gaussian_mixture(weights, means, covs + 0.1 * np.eye(2))
    y = np.array([0.4, -0.2])
    npt.assert_allclose(numeric.mixture_posterior_mean(regular, y, 1e-18), y, rtol=1e-14)
    law = numeric.mixture_posterior(regular, y, 1e-18)
    npt.assert_allclose(law.cov, 1e-18 * np.eye(2), rtol=1e-12, atol=1e-30)
    npt.assert_allclose(
        numeric.mixture_posterior_mean(regular, y, 1e18), weights @ means, rtol=1e-14
    )


# ---------------------------------------------------------------- a symmetric pair


def test_pair_mean_is_that_of_the_mixture():
    rng = np.random.default_rng(SEED + 5)
    y, mu = rng.normal(size=(2, 8, 3))
    for v, sigma2 in ((0.3, 0.5), (0.0, 0.2), (2.0, 1e-3)):
        got = numeric.pair_posterior_mean(y, mu, v, sigma2)
        for place in range(8):
            pair = numeric.gaussian_mixture(
                [0.5, 0.5], [mu[place], -mu[place]], np.array([v * np.eye(3)] * 2)
            )
            want = numeric.mixture_posterior_mean(pair, y[place], sigma2)
            npt.assert_allclose(got[place], want, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("v", "value"), [(0.01, 0.2472829360), (0.1, 0.3655883959)])
def test_pair_mmse_has_the_stated_values(v: float, value: float):
    """EB-28, |mu| = 1, sigma2 = 1/2, two dimensions."""
    npt.assert_allclose(numeric.pair_mmse([0.6, 0.8], v, 0.5), value, atol=5e-11)


def test_pair_mmse_is_right_to_rounding_for_any_kappa():
    """Against 30-digit quadrature of the specification's own integrand."""
    for size in (0.0, 0.03, 1.0, 3.0, 8.0, 25.0):
        got = float(numeric.pair_mmse([size, 0.0], 0.0, 1.0))
        with mpmath.workdps(30):
            kappa = mpmath.mpf(size)
            near = 40 / (1 + kappa)
            points = [-kappa + near * k / 16 for k in range(-24, 25)]
            scale = mpmath.exp(kappa**2 / 2)  # the quadrature's own errors are absolute
            spread = mpmath.quad(
                lambda z, kappa=kappa, scale=scale: (
                    scale * mpmath.npdf(z) / mpmath.cosh(kappa**2 + kappa * z) ** 2
                ),
                points,
            )
            want = float(kappa**2 * spread / scale)
        npt.assert_allclose(got, want, rtol=1e-13, atol=1e-300)


def test_a_sign_and_its_square_have_one_mean():
    """EB-28's check: tanh(kappa^2 + kappa Z) and its square have one mean."""
    for size in (0.2, 1.0, 2.5):
        integral = quad(
            lambda z, k=size: np.tanh(k * k + k * z) * norm.pdf(z), -12, 12, epsabs=1e-14
        )[0]
        spread = numeric.pair_mmse([size], 0.0, 1.0) / size**2
        npt.assert_allclose(spread, 1 - integral, rtol=1e-10)


def test_pair_mmse_broadcasts_and_keeps_float32():
    mu = np.array([[1.0, 0.0], [2.0, 1.0]])
    got = numeric.pair_mmse(mu, [[0.0], [0.5]], 0.7)
    assert got.shape == (2, 2)
    npt.assert_allclose(got[1, 0], numeric.pair_mmse(mu[0], 0.5, 0.7), rtol=1e-14)
    half = numeric.pair_mmse(mu.astype(np.float32), 0.5, 0.7)
    assert half.dtype == np.float32
    npt.assert_allclose(half, got[1], rtol=1e-5)
