"""What wrong responsibilities cost: the bound, where it is attained, the risk that it adds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from numeric import DomainError, ShapeError, likelihood_cost, noise_mean

SEED = 31


def masses(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.dirichlet(np.full(shape[-1], 0.5), shape[:-1])


@pytest.mark.parametrize("components", [1, 2, 3, 7])
def test_deviation_is_that_of_two_noise_means_and_keeps_to_the_bound(components):
    rng = np.random.default_rng(SEED)
    right, wrong = masses(rng, 2, 200, components)
    targets, token = rng.normal(size=(200, components, 3)), rng.normal(size=(200, 3))
    t = rng.uniform(0.05, 1, 200)
    found = likelihood_cost(right, wrong, targets, t)
    means = (1 - t[:, None, None]) * targets
    expected = noise_mean(right, means, token, t) - noise_mean(wrong, means, token, t)
    np.testing.assert_allclose(found.deviation, expected, atol=1e-12 / 0.05)
    norm = np.sqrt(found.cost)
    assert np.all(norm <= found.bound * (1 + 1e-12) + 1e-13)
    if components == 2:
        np.testing.assert_allclose(norm, found.bound, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        found.total_variation, np.maximum(right - wrong, 0).sum(axis=-1), atol=1e-15
    )


def test_no_smaller_constant_would_do_for_more_components():
    """All mass moves from one end of the diameter to the other."""
    targets = [[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]]
    found = likelihood_cost([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], targets, 0.5)
    assert np.sqrt(found.cost) == pytest.approx(5.0, rel=1e-15)
    assert found.bound == pytest.approx(5.0, rel=1e-15)


def finite_experiment(rng: np.random.Generator):
    """Joint masses of component n and symbol o, targets, and the noise of the token Z = o."""
    joint = rng.dirichlet(np.ones(12)).reshape(3, 4)
    targets, t = rng.normal(size=3), 0.4
    noise = (np.arange(4.0)[None] - (1 - t) * targets[:, None]) / t
    return joint, targets, t, noise


def test_mean_cost_is_the_excess_risk_unless_the_masses_know_more():
    rng = np.random.default_rng(SEED)
    joint, targets, t, noise = finite_experiment(rng)
    posterior = (joint / joint.sum(axis=0)).T
    wrong = masses(rng, 4, 3)
    found = likelihood_cost(posterior, wrong, targets[:, None], t)

    def risk(predicted: np.ndarray) -> float:
        return float((joint * (noise - predicted) ** 2).sum())

    best, other = ((posterior * noise.T).sum(axis=1), (wrong * noise.T).sum(axis=1))
    excess = float(joint.sum(axis=0) @ found.cost)
    assert risk(other) - risk(best) == pytest.approx(excess, rel=1e-12)
    # Masses that know the component have no risk at all, though they are far from the posterior's.
    leaked = sum(
        joint[n, o] * likelihood_cost(posterior[o], np.eye(3)[n], targets[:, None], t).cost
        for n, o in itertools.product(range(3), range(4))
    )
    assert 0 - risk(best) == pytest.approx(-leaked, rel=1e-12)
    assert leaked > 0


def test_pure_noise_and_empty_batches():
    assert likelihood_cost([1.0, 0.0], [0.0, 1.0], [[1.0], [2.0]], 1.0).bound == 0
    empty = likelihood_cost(np.zeros((0, 2)) + 0.5, [0.5, 0.5], [[1.0], [2.0]], 0.5)
    assert empty.deviation.shape == (0, 1)
    assert empty.bound.shape == empty.total_variation.shape == (0,)


def test_bad_input_is_named():
    with pytest.raises(DomainError, match="approximate"):
        likelihood_cost([0.5, 0.5], [0.9, 0.2], [[1.0], [2.0]], 0.5)
    with pytest.raises(DomainError, match="responsibilities"):
        likelihood_cost([1.5, -0.5], [0.5, 0.5], [[1.0], [2.0]], 0.5)
    with pytest.raises(DomainError, match="t:"):
        likelihood_cost([0.5, 0.5], [0.5, 0.5], [[1.0], [2.0]], 0.0)
    with pytest.raises(ShapeError):
        likelihood_cost([0.5, 0.5], [0.2, 0.3, 0.5], [[1.0], [2.0]], 0.5)
