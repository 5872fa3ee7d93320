"""What the flow leaves undone, against its own differential equation and against sampled laws.

Items: EB-43, EB-44, EB-50, EB-51, EB-52.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import lambertw
from scipy.stats import norm, wasserstein_distance

import numeric

SEED = 5


def flowed(s: float, sigma2: float, beta: float) -> float:
    end = solve_ivp(
        lambda _, v: -2 * v / (v + 1 / beta), (0, sigma2 / 2), [s + sigma2], rtol=1e-12, atol=1e-14
    )
    return float(end.y[0, -1])


@pytest.mark.parametrize("s", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("beta", [0.5, 6.0, 40.0])
def test_excess_is_what_the_differential_equation_leaves(s: float, beta: float):
    assert float(numeric.terminal_excess(s, 0.5, beta)) == pytest.approx(
        flowed(s, 0.5, beta) - s, rel=1e-8
    )


def test_excess_keeps_its_digits_where_the_eigenvalue_has_none_left():
    beta = 10.0 ** np.arange(6, 16)
    found = numeric.terminal_excess(2.0, 1.0, beta)
    np.testing.assert_allclose(found, np.log(1.5) / (beta + 0.5), rtol=2e-7)  # to second order
    np.testing.assert_allclose(found[4:], np.log(1.5) / (beta[4:] + 0.5), rtol=1e-15)


def test_bounds_enclose_the_excess_and_the_expansion_approaches_it():
    rng = np.random.default_rng(SEED)
    s, sigma2, beta = 10 ** rng.uniform(-3, 3, (3, 500))
    lower, upper = numeric.excess_bounds(s, sigma2, beta)
    left = numeric.terminal_excess(s, sigma2, beta)
    assert (lower <= left * (1 + 1e-14)).all()
    assert (left <= upper * (1 + 1e-14)).all()
    errors = [
        abs(numeric.excess_expansion(1.0, 1.0, b) / numeric.terminal_excess(1.0, 1.0, b) - 1)
        for b in (100.0, 1000.0)
    ]
    assert errors[1] < errors[0] / 900  # third order: 1/beta^3


def test_a_direction_without_variance_loses_a_logarithm():
    x = np.array([3.0, 1e3, 1e8])
    log = np.log(x)
    left = numeric.terminal_excess(0.0, 1.0, x)
    np.testing.assert_allclose(left, lambertw(x).real / x, rtol=1e-14)
    low = log - np.log(log) + np.log(log) / (2 * log)
    high = log - np.log(log) + np.e / (np.e - 1) * np.log(log) / log
    assert (low <= x * left).all()
    assert (x * left <= high).all()
    errors = numeric.terminal_slope_error(0.0, 1.0, x)
    np.testing.assert_allclose(errors, 1 / (1 + np.exp(lambertw(x).real)), rtol=1e-13)


def test_slope_error_is_the_difference_of_the_posterior_means_and_bounded():
    s, sigma2, beta = 0.6, 0.4, 12.0
    end = flowed(s, sigma2, beta)
    error = float(numeric.terminal_slope_error(s, sigma2, beta))
    assert error == pytest.approx(end / (end + sigma2) - s / (s + sigma2), rel=1e-8)
    assert error <= numeric.slope_error_bound(s, sigma2, beta)


def test_recovery_of_a_singular_covariance_by_matrices():
    rng = np.random.default_rng(SEED)
    root = rng.normal(size=(4, 2))
    cov, sigma2, beta = root @ root.T, 0.3, 9.0
    found = numeric.gaussian_recovery(cov, sigma2, beta)
    end = numeric.terminal_covariance(cov, sigma2, beta)
    np.testing.assert_allclose(found.excess, end - cov, atol=1e-13)
    identity = sigma2 * np.eye(4)
    gains = [law @ np.linalg.inv(law + identity) for law in (end, cov)]
    np.testing.assert_allclose(found.gain_error, gains[0] - gains[1], atol=1e-13)

    def risk(gain: np.ndarray) -> float:
        rest = np.eye(4) - gain
        return np.trace(rest @ cov @ rest.T) + sigma2 * np.trace(gain @ gain.T)

    assert found.mmse == pytest.approx(risk(gains[1]), rel=1e-12)
    assert found.excess_mse == pytest.approx(risk(gains[0]) - risk(gains[1]), rel=1e-9)
    assert found.distance > 0


def test_distance_in_one_dimension_is_that_of_the_two_laws():
    s, sigma2, beta = 1.0, 1.0, 3.0
    found = numeric.gaussian_recovery([[s]], sigma2, beta)
    ended = float(numeric.terminal_covariance([[s]], sigma2, beta)[0, 0])
    levels = (np.arange(200_000) + 0.5) / 200_000
    quantiles = [norm.ppf(levels) * np.sqrt(v) for v in (ended, s)]
    measured = wasserstein_distance(*quantiles)
    assert np.sqrt(2 / np.pi) * float(found.distance) == pytest.approx(measured, rel=1e-4)


def test_batches_and_refusals():
    assert numeric.gaussian_recovery(
        np.eye(2) * np.ones((3, 1, 1)), [0.1, 0.2, 0.3], 2.0
    ).mmse.shape == (3,)
    assert numeric.terminal_excess(np.ones((0,)), 1.0, 1.0).shape == (0,)
    assert numeric.terminal_excess(np.float32(1), 1.0, 1.0).dtype == np.float32
    with pytest.raises(numeric.DomainError, match="both 0"):
        numeric.terminal_slope_error(0.0, 0.0, 1.0)
    with pytest.raises(numeric.DomainError, match="beta"):
        numeric.excess_bounds(1.0, 1.0, 0.0)
    with pytest.raises(numeric.DomainError, match="sigma2"):
        numeric.gaussian_recovery([[1.0]], 0.0, 1.0)
