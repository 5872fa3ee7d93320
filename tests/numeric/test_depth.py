"""Layers against their own attention, against the flow, and the estimates against integrals.

Items: EB-10, EB-15, EB-18, EB-21, EB-22.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import numeric

SEED = 7


def attention_step(v: float, eta: float, beta: float) -> float:
    """Variance after a layer, from the attention integrals over a Gaussian population."""

    def pulled(z: float) -> float:
        def weight(y: float) -> float:
            return float(np.exp(-beta / 2 * (z - y) ** 2 - y * y / (2 * v)))

        width = 12 * np.sqrt(v)
        total = quad(weight, -width, width, epsabs=1e-13)[0]
        return quad(lambda y: y * weight(y), -width, width, epsabs=1e-13)[0] / total

    z = np.sqrt(v)
    return float((z + eta * (pulled(z) - z)) ** 2)


@pytest.mark.parametrize(("v", "eta", "beta"), [(1.0, 0.3, 2.0), (0.2, 0.9, 5.0), (2.0, 1.0, 0.7)])
def test_a_layer_is_what_attention_does_to_a_gaussian(v: float, eta: float, beta: float):
    assert numeric.depth_flow(v, [eta], beta)[1] == pytest.approx(
        attention_step(v, eta, beta), rel=1e-8
    )


def test_many_small_layers_follow_the_flow_with_the_error_that_is_promised():
    v0, beta, sigma2 = 1.25, 8.0, 0.25
    ended = numeric.eigenvalue_flow(v0, sigma2 / 2, beta, clock="main")
    for n_layers in (400, 800):
        eta = numeric.equal_steps(sigma2, beta, n_layers)
        error = numeric.depth_flow(v0, eta, beta)[-1] - ended
        promised = numeric.euler_error(v0, ended, eta[0], beta)
        assert error == pytest.approx(promised, rel=2.0 / n_layers + 1e-3)


def test_the_defect_of_a_layer_is_the_leading_one():
    v, beta = 1.7, 3.0
    for h in (1e-3, 1e-4):
        after = numeric.depth_flow(v, [beta * h], beta)[1]
        flowed = numeric.eigenvalue_flow(v, h, beta, clock="main")
        assert np.log(after / flowed) == pytest.approx(numeric.layer_defect(v, h, beta), rel=10 * h)


def test_an_annealed_schedule_ends_near_the_clean_variance():
    s, sigma2 = 0.8, 0.5
    beta = np.geomspace(4, 40, 4000)
    eta = beta * (sigma2 / 2 / 4000)
    assert numeric.schedule_time(eta, beta) == pytest.approx(sigma2 / 2)
    gap = numeric.depth_flow(s + sigma2, eta, beta)[-1] - s
    assert 0 < gap < np.log1p(sigma2 / s) / 4


def test_a_covariance_moves_through_its_eigenvalues_also_a_singular_one():
    rng = np.random.default_rng(SEED)
    root = rng.normal(size=(4, 2))
    cov, eta, beta = root @ root.T, [0.4, 0.7, 0.2], [1.0, 2.0, 5.0]
    layers = numeric.covariance_layers(cov, eta, beta)
    assert layers.shape == (4, 4, 4)
    moved = cov
    for step, width in zip(eta, beta, strict=True):
        factor = np.eye(4) - step * np.linalg.inv(np.eye(4) + width * moved)
        moved = factor @ moved @ factor.T
    np.testing.assert_allclose(layers[-1], moved, atol=1e-13)
    assert np.linalg.matrix_rank(layers[-1], tol=1e-10) == 2


def test_the_least_depth_has_a_step_below_one_and_one_layer_less_has_not():
    rng = np.random.default_rng(SEED)
    cases = [(0.25, 1600.0), (0.25, 1599.9999), *(10 ** rng.uniform(-3, 3, (50, 2))).tolist()]
    for sigma2, beta in cases:
        least = numeric.minimal_depth(sigma2, beta)
        assert (numeric.equal_steps(sigma2, beta, least) < 1).all()
        assert least == 1 or sigma2 * beta / 2 / (least - 1) >= 1
    with pytest.raises(numeric.DomainError, match="at least 201"):
        numeric.equal_steps(0.25, 1600.0, 200)
    assert numeric.equal_steps(0.0, 3.0, 2).tolist() == [0.0, 0.0]


def risk_by_integral(slope: float, s: float, sigma2: float) -> float:
    """E(slope*Y - X)^2 over X and the noise, by quadrature of the Gaussian that remains."""
    variance = (1 - slope) ** 2 * s + slope**2 * sigma2
    deviation = np.sqrt(variance)

    def square(x: float) -> float:
        return x * x * np.exp(-x * x / (2 * variance)) / np.sqrt(2 * np.pi * variance)

    return quad(square, -12 * deviation, 12 * deviation, epsabs=1e-14)[0]


@pytest.mark.parametrize("estimate", [numeric.one_shot, numeric.stage_one])
def test_the_excess_of_a_shortcut_is_the_risk_above_that_of_bayes(estimate):
    for s, sigma2 in ((1.0, 0.5), (0.3, 2.0)):
        found = estimate(s, sigma2)
        best = risk_by_integral(s / (s + sigma2), s, sigma2)
        excess = risk_by_integral(float(found.slope), s, sigma2) - best
        assert float(found.excess_mse) == pytest.approx(excess, rel=1e-6)


def test_at_the_time_of_bayes_stage_one_has_its_slope():
    s, sigma2, beta = 0.7, 0.4, 15.0
    time = float(numeric.bayes_time(s, sigma2, beta))
    path = solve_ivp(
        lambda _, v: -2 * v / (v + 1 / beta), (0, time), [s + sigma2], rtol=1e-11, atol=1e-13
    )
    assert np.sqrt(path.y[0, -1] / (s + sigma2)) == pytest.approx(s / (s + sigma2), rel=1e-8)
    assert time > sigma2 / 2
    assert numeric.bayes_time(0.0, 1.0, 2.0) == np.inf


def test_special_function_is_the_root_to_its_last_digits():
    from numeric.special_functions import linear_log_root

    rng = np.random.default_rng(SEED)
    for _ in range(200):
        slope = 10 ** rng.uniform(-300, 15) * rng.integers(0, 2)
        level = (slope + 0.6931) * 10 ** rng.uniform(-40, 0)
        found = float(linear_log_root(np, np.float64(slope), np.float64(level)))
        with mpmath.workdps(400):
            p, right = mpmath.mpf(float(slope)), mpmath.mpf(float(level))
            root = (
                mpmath.lambertw(p * mpmath.exp(p + right)).real / p - 1
                if slope > 0
                else mpmath.expm1(right)
            )
            assert abs(found / root - 1) < 1e-15
