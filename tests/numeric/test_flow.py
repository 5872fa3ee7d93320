"""Public flow algorithms against an ODE solver, and at the ends of their domain.

Items: EB-8, EB-9, EB-40, EB-41, EB-42.
"""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest
from scipy.integrate import quad, solve_ivp

from numeric import covariance_flow, denoising_time, eigenvalue_flow, terminal_covariance

SEED = 2718


def matrix_slope(gamma: np.ndarray, beta: float, pace: float) -> np.ndarray:
    return -2 * pace * gamma @ np.linalg.inv(np.eye(len(gamma)) + beta * gamma)


@pytest.mark.parametrize("clock", ["main", "appendix"])
def test_matrix_flow_is_the_solution_of_its_equation(clock: str):
    rng = np.random.default_rng(SEED)
    factor = rng.normal(size=(3, 2))  # a singular covariance
    cov, beta, time = factor @ factor.T, 1.7, 0.6
    pace = beta if clock == "main" else 1.0
    solved = solve_ivp(
        lambda _, flat: matrix_slope(flat.reshape(3, 3), beta, pace).ravel(),
        (0, time),
        cov.ravel(),
        rtol=1e-11,
        atol=1e-13,
    )
    got = covariance_flow(cov, time, beta, clock=clock)
    npt.assert_allclose(got, solved.y[:, -1].reshape(3, 3), rtol=1e-7, atol=1e-9)
    npt.assert_array_equal(got, got.T)


@pytest.mark.parametrize("clock", ["main", "appendix"])
def test_denoising_time_is_the_integral_of_its_slope(clock: str):
    for s, sigma2, beta in ((0.5, 0.25, 3.0), (2.0, 1.0, 0.1), (1e-3, 0.5, 20.0)):
        pace = beta if clock == "main" else 1.0
        elapsed, error = quad(
            lambda v, b=beta, p=pace: (1 + b * v) / (2 * p * v),
            s,
            s + sigma2,
            epsabs=0,
            epsrel=1e-12,
            limit=200,
        )
        got = denoising_time(s, sigma2, beta, clock=clock)
        assert got == pytest.approx(elapsed, rel=1e-10, abs=10 * error)
        assert eigenvalue_flow(s + sigma2, got, beta, clock=clock) == pytest.approx(s, rel=1e-12)


def test_the_clocks_differ_by_beta():
    rng = np.random.default_rng(SEED)
    lambda0, time, beta = rng.uniform(0.1, 3, (3, 100))
    main = eigenvalue_flow(lambda0, time, beta, clock="main")
    appendix = eigenvalue_flow(lambda0, beta * time, beta, clock="appendix")
    npt.assert_allclose(main, appendix, rtol=1e-14)
    assert not np.allclose(main, eigenvalue_flow(lambda0, time, beta, clock="appendix"))


def test_limits_are_reached_smoothly():
    tiny = np.array([0.0, 1e-300, 1e-12, 1e-9])
    npt.assert_allclose(eigenvalue_flow(2.0, 0.7, tiny, clock="main"), 2.0, rtol=3e-9)
    npt.assert_allclose(
        eigenvalue_flow(2.0, 0.7, tiny, clock="appendix"), 2 * np.exp(-1.4), rtol=3e-9
    )
    assert eigenvalue_flow(0.0, 0.7, 3.0, clock="main") == 0
    large = eigenvalue_flow(2.0, 0.7, 1e8, clock="main")  # exact reverse diffusion: slope -2
    assert large == pytest.approx(2.0 - 1.4, rel=1e-7)


def test_eigenvalues_from_the_smallest_to_the_largest_products_move_the_right_way():
    scaled = 10.0 ** np.array([-320, -300, -100, 0, 3, 6])
    with np.errstate(under="ignore"):
        beta = scaled / 1.5
    for clock in ("main", "appendix"):
        with np.errstate(all="raise"):
            now, later = (eigenvalue_flow(1.5, time, beta, clock=clock) for time in (0.0, 0.3))
        npt.assert_allclose(now, 1.5, rtol=1e-15)
        assert (later > 0).all()
        assert (later <= 1.5).all()


def test_terminal_covariance_lies_between_the_clean_and_the_noisy_one():
    rng = np.random.default_rng(SEED)
    factor = rng.normal(size=(4, 3))
    clean, sigma2, beta = factor @ factor.T, 0.4, 5.0
    ended = terminal_covariance(clean, sigma2, beta)
    assert (np.linalg.eigvalsh(ended - clean) > 0).all()
    assert (np.linalg.eigvalsh(clean + sigma2 * np.eye(4) - ended) > 0).all()
    for clock, time in (("main", sigma2 / 2), ("appendix", beta * sigma2 / 2)):
        flowed = covariance_flow(clean + sigma2 * np.eye(4), time, beta, clock=clock)
        npt.assert_allclose(ended, flowed, rtol=1e-10, atol=1e-12)


def test_what_is_never_recovered_takes_forever_and_no_noise_no_time():
    got = denoising_time([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], 2.0, clock="main")
    npt.assert_array_equal(got, [np.inf, 0.0, 0.0])
    assert denoising_time(0.0, 1.0, 0.0, clock="appendix") == np.inf


def test_batches_broadcast_over_time_and_covariance():
    cov = np.stack([np.eye(2), 3 * np.eye(2)])
    got = covariance_flow(cov, [[0.1], [0.2], [0.3]], [1.0, 2.0], clock="main")
    assert got.shape == (3, 2, 2, 2)
    one = eigenvalue_flow(3.0, 0.2, 2.0, clock="main")
    npt.assert_allclose(got[1, 1], one * np.eye(2), rtol=1e-15)
    assert covariance_flow(np.zeros((0, 2, 2)), 0.1, 1.0, clock="main").shape == (0, 2, 2)
    assert eigenvalue_flow(np.zeros(0), 0.1, 1.0, clock="main").shape == (0,)


def test_float32_stays_float32_beside_python_numbers():
    cov = np.eye(2, dtype=np.float32)
    assert covariance_flow(cov, 0.1, 1, clock="main").dtype == np.float32
    assert denoising_time(np.float32(1), 0.5, 2, clock="main").dtype == np.float32
