"""Densities on supports of any rank, posteriors of components, noise means."""

from __future__ import annotations

import mpmath
import numpy as np
import numpy.testing as npt
import pytest
from scipy.stats import multivariate_normal

from numeric import (
    OffSupportError,
    fixed_row_posterior,
    log_density,
    noise_mean,
    state_posterior,
)

SEED = 41


def test_density_of_a_regular_covariance_is_scipys():
    rng = np.random.default_rng(SEED)
    factor = rng.normal(size=(3, 3))
    cov, mean, x = factor @ factor.T, rng.normal(size=3), rng.normal(size=3)
    expected = multivariate_normal(mean, cov).logpdf(x)
    npt.assert_allclose(log_density(x, mean, cov), expected, rtol=1e-12)


def test_density_on_a_support_is_that_of_its_coordinates():
    rng = np.random.default_rng(SEED + 1)
    basis = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    inner = np.array([[2.0, 0.5], [0.5, 1.0]])
    mean, y = rng.normal(size=5), rng.normal(size=2)
    cov = basis @ inner @ basis.T
    expected = multivariate_normal(np.zeros(2), inner).logpdf(y)
    npt.assert_allclose(log_density(mean + basis @ y, mean, cov), expected, rtol=1e-11)


def test_recoding_adds_a_constant():
    """FB-4c: an injective map of the support changes all log-densities by the same amount."""
    rng = np.random.default_rng(SEED + 2)
    loadings = rng.normal(size=(4, 2))
    cov, recode = loadings @ loadings.T, rng.normal(size=(6, 4))
    points = rng.normal(size=(5, 2)) @ loadings.T
    before = log_density(points, np.zeros(4), cov)
    after = log_density(points @ recode.T, np.zeros(6), recode @ cov @ recode.T)
    npt.assert_allclose(after - before, (after - before)[0], rtol=1e-9)


def test_no_spread_is_unit_mass_at_the_mean():
    assert log_density([1.0, 2.0], [1.0, 2.0], np.zeros((2, 2))) == 0
    with pytest.raises(OffSupportError) as caught:
        log_density([1.0, 2.5], [1.0, 2.0], np.zeros((2, 2)))
    assert caught.value.distance == pytest.approx(0.5)


def test_ranks_may_differ_over_a_batch():
    covs = np.array([np.diag([1.0, 0.0]), np.diag([4.0, 9.0])])
    got = log_density([[1.0, 0.0], [2.0, 3.0]], [0.0, 0.0], covs)
    expected = [
        -0.5 * (np.log(2 * np.pi) + 1),
        -0.5 * (2 * np.log(2 * np.pi) + np.log(36) + 2),
    ]
    npt.assert_allclose(got, expected, rtol=1e-15)


def test_state_posterior_is_bayes_at_50_digits():
    rng = np.random.default_rng(SEED + 3)
    prior, means, state = np.array([0.2, 0.5, 0.3]), rng.normal(size=(3, 4)), rng.normal(size=4)
    with mpmath.workdps(50):
        squares = [
            mpmath.fsum((mpmath.mpf(a) - b) ** 2 for a, b in zip(state, mean, strict=True))
            for mean in means
        ]
        weights = [
            p * mpmath.exp(-square / (2 * mpmath.mpf(0.3) ** 2))
            for p, square in zip(prior, squares, strict=True)
        ]
        expected = [float(w / sum(weights)) for w in weights]
    npt.assert_allclose(state_posterior(prior, means, state, 0.3), expected, rtol=1e-13)


def test_posterior_far_from_zero_and_at_tiny_noise():
    near = state_posterior([0.5, 0.5], [[0.0], [1.0]], [0.25], 0.5)
    far = state_posterior([0.5, 0.5], [[2.0**40], [2.0**40 + 1]], [2.0**40 + 0.25], 0.5)
    npt.assert_array_equal(far, near)
    npt.assert_array_equal(state_posterior([0.5, 0.5], [[0.0], [1.0]], [0.1], 1e-100), [1, 0])


def mixtures_evidence(prior, means, mixing, shown, t):
    """Bayes with the dense covariance of vec(B Z), for independent rows of B."""
    cov = t**2 * np.kron(mixing @ mixing.T, np.eye(means.shape[-1]))
    scores = [
        np.log(p) + multivariate_normal((mixing @ mean).ravel(), cov).logpdf(shown.ravel())
        for p, mean in zip(prior, means, strict=True)
    ]
    weights = np.exp(np.array(scores) - max(scores))
    return weights / weights.sum()


def test_fixed_row_posterior_is_bayes_with_the_joint_law():
    rng = np.random.default_rng(SEED + 4)
    prior, means = np.array([0.2, 0.5, 0.3]), rng.normal(size=(3, 4, 2))
    mixing = np.vstack([np.eye(4)[1], rng.dirichlet(np.ones(4), 2)])
    shown = mixing @ (means[1] + 0.4 * rng.normal(size=(4, 2)))
    got = fixed_row_posterior(prior, means, mixing, shown, 0.4)
    npt.assert_allclose(got, mixtures_evidence(prior, means, mixing, shown, 0.4), rtol=1e-10)
    # The heads are corrupted by the same tokens: taking them as independent is another posterior.
    diagonal = np.sqrt(np.diag(np.diag(mixing @ mixing.T)))
    wrong = [
        np.log(p) - np.sum(np.linalg.solve(diagonal, shown - mixing @ mean) ** 2) / 2 / 0.4**2
        for p, mean in zip(prior, means, strict=True)
    ]
    wrong = np.exp(wrong - np.max(wrong)) / np.exp(wrong - np.max(wrong)).sum()
    assert np.abs(got - wrong).max() > 1e-4


def test_duplicate_rows_say_nothing_new():
    rng = np.random.default_rng(SEED + 5)
    means = rng.normal(size=(2, 3, 2))
    mixing = np.array([[1.0, 0.0, 0.0], [0.5, 0.25, 0.25]])
    twice = np.vstack([mixing, mixing[0] + 2 * mixing[1]])
    state = rng.normal(size=(3, 2))
    once = fixed_row_posterior([0.5, 0.5], means, mixing, mixing @ state, 0.5)
    both = fixed_row_posterior([0.5, 0.5], means, twice, twice @ state, 0.5)
    npt.assert_allclose(both, once, rtol=1e-12)
    with pytest.raises(OffSupportError) as caught:
        fixed_row_posterior([0.5, 0.5], means, twice, twice @ state + [[0], [0], [0.1]], 0.5)
    assert caught.value.argument == "mixtures"


def test_all_tokens_shown_is_the_state_posterior():
    rng = np.random.default_rng(SEED + 6)
    means, state = rng.normal(size=(3, 3, 2)), rng.normal(size=(3, 2))
    prior = np.array([0.2, 0.5, 0.3])
    mixing = rng.normal(size=(3, 3))
    got = fixed_row_posterior(prior, means, mixing, mixing @ state, 0.5)
    expected = state_posterior(prior, means.reshape(3, -1), state.ravel(), 0.5)
    npt.assert_allclose(got, expected, rtol=1e-10)


def test_noise_mean_is_the_average_over_components_of_the_noise():
    rng = np.random.default_rng(SEED + 7)
    r, means, token = rng.dirichlet(np.ones(3)), rng.normal(size=(3, 2)), rng.normal(size=2)
    expected = sum(w * (token - mean) / 0.3 for w, mean in zip(r, means, strict=True))
    npt.assert_allclose(noise_mean(r, means, token, 0.3), expected, rtol=1e-13)


def test_noise_mean_passes_the_tower_test():
    """E[(eps_i - m) f] = 0 for functions f of the observation, here the token itself."""
    rng = np.random.default_rng(SEED + 8)
    count, t = 200_000, 0.5
    means = np.array([[1.0], [-0.5]])
    prior = np.array([0.3, 0.7])
    which = rng.choice(2, size=count, p=prior)
    noise = rng.normal(size=(count, 1))
    token = means[which] + t * noise
    m = noise_mean(state_posterior(prior, means, token, t), means, token, t)
    for f in (token, np.tanh(token), m):
        gap = (noise - m) * f
        assert abs(gap.mean()) < 4.5 * gap.std() / np.sqrt(count)


def test_batches_broadcast_and_may_be_empty():
    rng = np.random.default_rng(SEED + 9)
    got = state_posterior([0.5, 0.5], rng.normal(size=(4, 1, 2, 3)), rng.normal(size=(5, 3)), 0.5)
    assert got.shape == (4, 5, 2)
    assert state_posterior([0.5, 0.5], np.zeros((0, 2, 3)), np.zeros(3), 0.5).shape == (0, 2)
    assert log_density(np.zeros((0, 2)), np.zeros(2), np.eye(2)).shape == (0,)
