"""Velocity and flow map of a Gaussian against its score, its covariance and its own equation.

Items: EB-45.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.stats import multivariate_normal

import numeric

SEED = 3
CLOCKS = ("main", "appendix")


def law(rank: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    root = rng.normal(size=(3, rank))
    return rng.normal(size=3), root @ root.T


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("clock", CLOCKS)
def test_velocity_is_the_score_of_the_smoothed_law(rank: int, clock: str):
    (mean, cov), beta, x, step = law(rank), 4.0, np.array([0.3, -1.0, 0.7]), 1e-5
    density = multivariate_normal(mean, cov + np.eye(3) / beta).logpdf
    score = [(density(x + step * e) - density(x - step * e)) / (2 * step) for e in np.eye(3)]
    found = numeric.gaussian_velocity(x, mean, cov, beta, clock=clock)
    pace = 1.0 if clock == "main" else 1 / beta
    np.testing.assert_allclose(found, pace * np.array(score), rtol=1e-7)


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("clock", CLOCKS)
def test_flow_map_follows_the_velocity(rank: int, clock: str):
    (mean, cov), beta, x, time = law(rank), 4.0, np.array([0.3, -1.0, 0.7]), 0.6

    def velocity(t: float, z: np.ndarray) -> np.ndarray:
        now = numeric.covariance_flow(cov, t, beta, clock=clock)
        return np.asarray(numeric.gaussian_velocity(z, mean, now, beta, clock=clock))

    path = solve_ivp(velocity, (0, time), x, rtol=1e-10, atol=1e-12)
    found = numeric.gaussian_flow_map(x, mean, cov, time, beta, clock=clock)
    np.testing.assert_allclose(found, path.y[:, -1], rtol=1e-7)


def test_flow_map_carries_the_law_to_the_flowed_one_and_composes():
    mean, cov = law(3)
    beta, first, second = 2.0, 0.4, 0.9
    images = numeric.gaussian_flow_map(np.eye(3) + mean, mean, cov, first, beta, clock="appendix")
    linear = (images - mean).T
    ended = numeric.covariance_flow(cov, first, beta, clock="appendix")
    np.testing.assert_allclose(linear @ cov @ linear.T, ended, rtol=1e-10, atol=1e-13)
    further = numeric.gaussian_flow_map(images, mean, ended, second - first, beta, clock="appendix")
    at_once = numeric.gaussian_flow_map(np.eye(3) + mean, mean, cov, second, beta, clock="appendix")
    np.testing.assert_allclose(further, at_once, rtol=1e-10, atol=1e-12)


def test_batches_limits_and_refusals():
    x = np.zeros((5, 2)) + 1
    cov = np.zeros((2, 2))
    found = numeric.gaussian_flow_map(x, [0.0, 0.0], cov, np.arange(5.0), 3.0, clock="main")
    np.testing.assert_allclose(found[:, 0], np.exp(-3.0 * np.arange(5)))
    with pytest.raises(numeric.DomainError, match="clock"):
        numeric.gaussian_velocity([1.0], [0.0], [[1.0]], 1.0, clock="wall")
    with pytest.raises(numeric.ShapeError, match="mean"):
        numeric.gaussian_velocity([1.0, 2.0], [0.0], np.eye(2), 1.0, clock="main")
    with pytest.raises(numeric.DomainError, match="time"):
        numeric.gaussian_flow_map([1.0], [0.0], [[1.0]], -1.0, 1.0, clock="main")
