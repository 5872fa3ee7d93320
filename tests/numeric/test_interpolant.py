"""The interpolant's velocity by regression, its flow by integration, its gaps by quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import numeric


def test_velocity_is_the_regression_of_the_difference_on_the_position():
    rng = np.random.default_rng(2)
    x, noise = rng.normal(size=(2, 400_000))
    for t in (0.1, 0.5, 0.8):
        z, w = (1 - t) * x + t * noise, noise - x
        slope = (z @ w) / (z @ z)
        found = numeric.interpolant_velocity([1.0], t)[0]
        assert found == pytest.approx(slope, abs=5 * np.sqrt(2 / 400_000))


def test_flow_solves_the_equation_and_ends_where_it_began():
    z0 = np.array([1.5, -0.4])
    times = np.array([0.3, 0.5, 1.0])
    path = solve_ivp(
        lambda t, z: numeric.interpolant_velocity(z, t), (0, 1), z0, t_eval=times, rtol=1e-10,
        atol=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose(numeric.interpolant_flow(z0, times), path.y.T, rtol=1e-8)
    assert numeric.interpolant_flow(z0, 1.0).tolist() == z0.tolist()


def test_the_velocity_gap_is_there_although_the_end_points_agree():
    average = quad(lambda t: float(numeric.velocity_gap(t, 3)), 0, 1, epsabs=1e-13)[0]
    assert average == pytest.approx(3 * (2 - np.pi / 2), rel=1e-12)
    assert numeric.path_gap(1.0) == 0
    grid = np.linspace(0, 1, 2001)
    assert numeric.path_gap(grid).max() == pytest.approx(1 - 1 / np.sqrt(2), rel=1e-12)
    assert (np.abs(numeric.interpolant_velocity(np.ones((2001, 1)), grid)) <= 1).all()


def test_the_regression_floor_is_reached_and_stays_above_the_bound():
    t, n, r = 0.3, 5, 2
    a = (1 - t) ** 2 + t**2
    slope = (2 * t - 1) / a
    reached = 2 * n - r * slope**2 * a
    assert float(numeric.regression_floor(t, n, r)) == pytest.approx(reached, rel=1e-14)
    assert (numeric.regression_floor(np.linspace(0, 1, 99), n, r) >= 2 * (n - r)).all()
    # The claimed bound on the discrepancy, 2(1 - 1/e)(n - r), is far above the true one, 0.
    assert 2 * (1 - np.exp(-1)) * (n - r) == pytest.approx(3.792723, abs=1e-6)


def test_refusals():
    with pytest.raises(numeric.DomainError, match="t: "):
        numeric.path_gap(1.1)
    with pytest.raises(numeric.DomainError, match="r: "):
        numeric.regression_floor(0.5, 2, 3)
    with pytest.raises(numeric.ShapeError):
        numeric.interpolant_velocity(np.ones((3, 2)), np.ones(2))
