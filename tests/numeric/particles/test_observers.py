"""What is looked at in a cloud, against other ways to compute it.

Items: EB-1, EB-13, EB-19, EB-57, EB-59.
"""

from __future__ import annotations

import numpy as np
import pytest

from numeric import gaussian_kernel
from numeric.errors import DomainError
from numeric.particles import (
    RefinedPrior,
    cluster_count,
    energies,
    equal_layers,
    mean_square_error,
    moments,
    refine,
    support,
    weighted_grid,
)


def test_moments_are_those_of_numpy_far_from_zero_too():
    rng = np.random.default_rng(1)
    points, weights = 1e6 + rng.normal(size=(500, 3)), rng.random(500)
    mean, cov = moments(points, weights=weights)
    assert np.allclose(mean, np.average(points, axis=0, weights=weights), rtol=1e-14)
    wanted = np.cov(points.T - 1e6, aweights=weights, bias=True)
    assert np.allclose(cov, wanted, rtol=0, atol=1e-8)


def test_energies_are_those_of_the_kernel():
    rng = np.random.default_rng(2)
    prior = RefinedPrior(rng.normal(size=(70, 2)), rng.random(70) + 0.1, 0.4, 0.0, 0.0)
    queries = 3 * rng.normal(size=(20, 2))
    wanted = gaussian_kernel.kernel_energy(
        queries, prior.particles, 1 / 0.4, log_weights=np.log(prior.weights)
    )
    assert np.abs(energies(prior, queries) - wanted).max() < 1e-11


def test_the_error_is_summed_over_coordinates_unless_normalised():
    a, b = np.array([[1.0, 2.0], [0.0, 0.0]]), np.zeros((2, 2))
    assert mean_square_error(a, b) == 2.5 and mean_square_error(a, b, normalise=True) == 1.25


def test_clusters_are_counted():
    rng = np.random.default_rng(3)
    centres = 10 * np.array([[0, 0], [1, 0], [0, 1], [3, 3]])
    points = (centres[:, None] + 0.1 * rng.normal(size=(4, 50, 2))).reshape(-1, 2)
    assert cluster_count(points, 1.0) == 4
    assert cluster_count(points, 30.0) == 1
    assert cluster_count(points[:1], 1.0) == 1
    assert cluster_count(np.ones((10, 50)), 1e-3) == 1
    chain = np.arange(100.0)[:, None]
    assert cluster_count(chain, 1.0) == 1 and cluster_count(chain, 0.4) == 100
    with pytest.raises(DomainError, match="distance"):
        cluster_count([[0.0], [1e300]], 1.0)


@pytest.mark.filterwarnings("ignore::numeric.particles.BandwidthWarning")
def test_a_large_beta_gathers_particles_in_clusters():
    tokens = np.random.default_rng(4).uniform(size=(300, 1))
    schedule = equal_layers(0.02, 2000.0, 400, n_layers_nominal=40)
    clusters = cluster_count(refine(tokens, 0.02, schedule).particles, 1e-3)
    assert cluster_count(tokens, 1e-3) > 2 * clusters > 2


def test_the_support_function_is_that_of_the_corners():
    corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.2, 0.2]]
    assert support(corners, [[1.0, 1.0], [-1.0, -1.0]]).tolist() == [1.0, 0.0]


def test_a_weighted_grid_integrates_to_rounding():
    x, w = weighted_grid(lambda x: -(x**2) / 2 + np.where(x < -8, -np.inf, 0), -9, 9, 150)
    assert w.sum() == pytest.approx(1, abs=1e-15) and w[0] == 0
    assert w @ x[:, 0] ** 4 == pytest.approx(3, rel=1e-11)
    with pytest.raises(DomainError, match="largest"):
        weighted_grid(lambda x: np.full_like(x, -np.inf), -1, 1, 10)
