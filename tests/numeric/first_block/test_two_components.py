"""Two components: the affine inverse, and the exact loss as a one-dimensional integral."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from numeric.first_block import (
    CorruptionModel,
    FullState,
    QueryRowValues,
    information_loss,
    posterior,
    posterior_variance,
    posterior_variance_bound,
    unresolved_contrasts,
)
from tests.numeric.first_block.instances import random_block, random_model

SEED = 1400
LOG_ODDS = (-30.0, -3.0, -0.2, 0.0, 1.0, 7.0, 60.0)
VARIANCES = (1e-12, 1e-3, 1.0, 1.69, 4.0, 15.99, 16.0, 16.01, 25.0, 400.0, 1e6)


def by_quadrature(log_odds: float, variance: float) -> float:
    """The variance by adaptive quadrature, from the mixture of two normals."""
    r, sd = expit(log_odds), np.sqrt(variance)
    if variance > 1e4:  # a step: what is left of it lies below rounding of r (1 - r)
        return r * (1 - r) * (1 - 2 / sd)
    total = 0.0
    for weight, mean in ((r, log_odds + variance / 2), (1 - r, log_odds - variance / 2)):
        center = -mean / sd  # where the sigmoid turns
        cuts = [c for c in (center - 8 / sd, center, center + 8 / sd) if -10 < c < 10]
        part, _ = quad(
            lambda x, mean=mean: norm.pdf(x) * (expit(mean + sd * x) - r) ** 2,
            -10, 10, points=sorted(cuts) or None, epsabs=1e-17, epsrel=1e-11, limit=60,
        )  # fmt: skip
        total += weight * part
    return total


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("log_odds", LOG_ODDS)
def test_posterior_variance_is_that_of_adaptive_quadrature(log_odds: float, variance: float):
    got, want = float(posterior_variance(log_odds, variance)), by_quadrature(log_odds, variance)
    slack = 5e-3 * want + 1e-14 if variance > 1e4 else 1e-9 * want + 1e-14
    assert abs(got - want) <= slack


def test_posterior_variance_is_below_its_bound_and_continuous_where_the_rule_changes():
    log_odds, variance = np.meshgrid(np.linspace(-20, 20, 81), np.geomspace(1e-6, 1e4, 200))
    psi = posterior_variance(log_odds, variance)
    assert (psi >= 0).all()
    assert (psi <= posterior_variance_bound(log_odds, variance) + 1e-12).all()
    below, above = (posterior_variance(log_odds[0], 16 + e) for e in (-1e-9, 1e-9))
    npt.assert_allclose(below, above, atol=1e-10)
    npt.assert_allclose(psi, posterior_variance(-log_odds, variance), atol=1e-14)


def test_the_full_posterior_has_the_mean_of_the_observed_one():
    """FB-15: E[sigma(full log-odds) | o] = r(o)."""
    for log_odds in (-2.0, 0.3):
        for variance in (1.0, 9.0):
            r, sd = expit(log_odds), np.sqrt(variance)
            x = np.linspace(-9, 9, 1201)
            weights = norm.pdf(x) * (x[1] - x[0])
            mean = r * weights @ expit(log_odds + variance / 2 + sd * x)
            mean += (1 - r) * weights @ expit(log_odds - variance / 2 + sd * x)
            assert abs(mean - r) < 1e-8


def test_information_loss_is_the_gap_of_the_noise_means():
    """FB-15, paired Monte Carlo."""
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 2, 3, 2), random_block(rng, 3, 2, (1,), keys=1)
    state = model.draw(40_000, seed=SEED).state
    observation = QueryRowValues.of(block.run(state))
    found, full = posterior(model, block, observation), posterior(model, block, FullState(state))
    gap = ((found.noise_mean - full.noise_mean) ** 2).sum(-1)
    loss = information_loss(model, block, observation)
    assert loss.mean() > 1e-3
    paired = gap - loss
    assert abs(paired.mean()) < 4.5 * paired.std(ddof=1) / np.sqrt(len(paired))


def test_one_responsibility_follows_from_the_noise_mean():
    """FB-14: the affine inverse."""
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 2, 3, 2), random_block(rng, 3, 2, (1,))
    state = model.draw(300, seed=SEED).state
    found = posterior(model, block, QueryRowValues.of(block.run(state)))
    first, second = model.mu[:, 0]
    left = state[:, 0] - second - model.t * found.noise_mean
    r = left @ (first - second) / ((first - second) @ (first - second))
    npt.assert_allclose(r, found.responsibilities[:, 0], atol=1e-10)


def test_with_equal_targets_the_noise_mean_is_exact_although_the_posterior_is_lost():
    """FB-14, the other direction."""
    rng = np.random.default_rng(SEED)
    clean = rng.normal(size=(2, 3, 2))
    clean[1, 0] = clean[0, 0]
    model, block = (
        CorruptionModel(clean, np.array([0.4, 0.6]), 0.5),
        random_block(rng, 3, 2, (1,), keys=1),
    )
    state = model.draw(500, seed=SEED).state
    observation = QueryRowValues.of(block.run(state))
    found, full = posterior(model, block, observation), posterior(model, block, FullState(state))
    npt.assert_allclose(found.noise_mean, (state[:, 0] - model.mu[0, 0]) / model.t, atol=1e-12)
    assert np.abs(found.responsibilities - full.responsibilities).mean() >= 2e-2
    npt.assert_array_equal(information_loss(model, block, observation), 0)
    assert (unresolved_contrasts(model, block, observation)[:, 0, 1] > 0.1).all()
