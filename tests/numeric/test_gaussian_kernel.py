"""Gaussian kernel averages against SciPy, mpmath, finite differences and limits known by hand.

Items: EB-6, EB-7, EB-13, EB-14, EB-30.
"""

from __future__ import annotations

import mpmath
import numpy as np
import numpy.testing as npt
import pytest
from mpmath import mpf
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal

import numeric
from numeric import gaussian_kernel
from numeric.distances import excess_distances, squared_distances

SEED = 613


def cloud(n: int = 5, particles: int = 7, width: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    return rng.normal(size=(n, width)), rng.normal(size=(particles, width))


def test_weights_are_those_of_gaussian_densities():
    queries, particles = cloud()
    log_weights = np.log(np.arange(1.0, 8.0))
    got = numeric.kernel_weights(queries, particles, 2.5, log_weights=log_weights)
    densities = np.array(
        [[multivariate_normal(z, np.eye(3) / 2.5).logpdf(q) for z in particles] for q in queries]
    )
    npt.assert_allclose(got, softmax(densities + log_weights, axis=-1), rtol=1e-12)
    npt.assert_allclose(got.sum(axis=-1), 1, rtol=1e-15)


def test_score_is_the_gradient_of_the_smoothed_density():
    queries, particles = cloud()
    score = numeric.kernel_score(queries, particles, 1.7)

    def log_density(q: np.ndarray) -> float:
        parts = [multivariate_normal(z, np.eye(3) / 1.7).logpdf(q) for z in particles]
        return float(logsumexp(parts))

    npt.assert_allclose(score, _gradients(log_density, queries), rtol=1e-7, atol=1e-8)


def _gradients(function, points: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences, one coordinate after another."""
    shifts = step * np.eye(points.shape[-1])
    return np.array(
        [[(function(q + h) - function(q - h)) / (2 * step) for h in shifts] for q in points]
    )


def test_three_readings_of_a_step_agree():
    """Attention with a leaky residual, a step along the score, a step down the energy (EB-6)."""
    queries, particles = cloud()
    beta, eta = 2.0, 0.3
    attention = numeric.attention_step(queries, particles, beta, eta)
    score = queries + eta / beta * numeric.kernel_score(queries, particles, beta)
    energy = queries - eta * numeric.kernel_energy_gradient(queries, particles, beta)
    mean = (1 - eta) * queries + eta * numeric.kernel_mean(queries, particles, beta)
    for other in (score, energy, mean, numeric.descent_step(queries, particles, beta, eta)):
        npt.assert_allclose(attention, other, rtol=1e-14, atol=1e-15)


def test_particles_step_all_at_once():
    _, z = cloud(particles=6)
    moved = numeric.attention_step(z, z, 1.5, 0.4)
    for i in range(6):
        logits = -0.75 * ((z[i] - z) ** 2).sum(axis=-1)
        npt.assert_allclose(moved[i], 0.6 * z[i] + 0.4 * softmax(logits) @ z, rtol=1e-13)


def test_dot_products_agree_with_distances_and_the_bias_matters():
    queries, particles = cloud()
    got = numeric.dot_product_weights(queries, particles, 3.0)
    npt.assert_allclose(got, numeric.kernel_weights(queries, particles, 3.0), rtol=1e-12)
    unbiased = softmax(3.0 * queries @ particles.T, axis=-1)
    assert np.abs(got - unbiased).max() > 1e-2  # EB-7, negative control
    on_sphere = particles / np.linalg.norm(particles, axis=-1, keepdims=True)
    npt.assert_allclose(
        numeric.kernel_weights(queries, on_sphere, 3.0),
        softmax(3.0 * queries @ on_sphere.T, axis=-1),
        rtol=1e-12,
    )


def test_gradient_hessian_and_jacobian_by_finite_differences():
    queries, particles = cloud(n=3)
    beta = 1.3
    gradient = numeric.kernel_energy_gradient(queries, particles, beta)

    def energy(q: np.ndarray) -> float:
        return float(numeric.kernel_energy(q[None], particles, beta)[0])

    npt.assert_allclose(gradient, _gradients(energy, queries), rtol=1e-7, atol=1e-8)
    hessian = numeric.kernel_energy_hessian(queries, particles, beta)
    for a in range(3):
        slopes = _gradients(
            lambda q, a=a: numeric.kernel_energy_gradient(q[None], particles, beta)[0, a], queries
        )
        npt.assert_allclose(hessian[:, a], slopes, rtol=1e-7, atol=1e-8)
    jacobian = numeric.kernel_mean_jacobian(queries, particles, beta)
    npt.assert_allclose(hessian + jacobian, np.broadcast_to(np.eye(3), (3, 3, 3)), atol=1e-15)
    npt.assert_array_equal(hessian, np.swapaxes(hessian, -1, -2))
    assert np.linalg.eigvalsh(hessian).max() <= 1 + 1e-14
    npt.assert_allclose(
        jacobian, beta * numeric.kernel_covariance(queries, particles, beta), rtol=1e-14
    )


def test_covariance_is_that_of_the_weighted_particles():
    queries, particles = cloud(n=2)
    weights = numeric.kernel_weights(queries, particles, 0.8)
    got = numeric.kernel_covariance(queries, particles, 0.8)
    for row, cov in zip(weights, got, strict=True):
        npt.assert_allclose(cov, np.cov(particles.T, aweights=row, ddof=0), rtol=1e-12)


def test_energy_of_a_pair_is_known():
    """EB-14: z = +-a has E'' = 1 - beta a^2 sech^2(beta a q)."""
    q, a, beta = np.linspace(-3, 3, 13)[:, None], 1.2, 1.9
    pair = [[a], [-a]]
    npt.assert_allclose(
        numeric.kernel_energy(q, pair, beta),
        (q[:, 0] ** 2 + a**2) / 2 - np.log(2 * np.cosh(beta * a * q[:, 0])) / beta,
        rtol=1e-13,
        atol=1e-14,
    )
    npt.assert_allclose(
        numeric.kernel_energy_hessian(q, pair, beta)[:, 0, 0],
        1 - beta * a**2 / np.cosh(beta * a * q[:, 0]) ** 2,
        rtol=1e-12,
        atol=1e-13,
    )


def test_descent_falls_by_at_least_its_bound():
    """EB-14(c) on random clouds, for steps over the whole of (0, 2)."""
    queries, particles = cloud(n=40)
    beta = 4.0
    before = numeric.kernel_energy(queries, particles, beta)
    slope2 = (numeric.kernel_energy_gradient(queries, particles, beta) ** 2).sum(axis=-1)
    for step in (0.01, 0.5, 1.0, 1.9):
        moved = numeric.descent_step(queries, particles, beta, step)
        after = numeric.kernel_energy(moved, particles, beta)
        assert (after <= before - step * (1 - step / 2) * slope2 + 1e-13).all()


# ---------------------------------------------------------------- limits


def test_a_far_query_returns_its_nearest_particle():
    particles = np.array([[0.0, 0.0], [1.0, 2.0], [-1.0, 3.0]])
    for far in (1e6, 1e8, 1e12, 1e100):
        for direction, nearest in (([1.0, 0.0], 1), ([-1.0, 0.0], 2), ([0.0, -1.0], 0)):
            query = far * np.array([direction])
            npt.assert_array_equal(
                numeric.kernel_mean(query, particles, 1.0), particles[nearest : nearest + 1]
            )


def test_far_weights_keep_their_digits():
    """At a distance of 1e8 squared distances are 1e16 apart, the exponents of order 1."""
    rng = np.random.default_rng(SEED)
    particles = rng.normal(size=(5, 2))
    query = np.array([[1e8, 3.0]])
    beta = 1e-8
    got = numeric.kernel_weights(query, particles, beta)[0]
    with mpmath.workdps(60):
        parts = [
            mpmath.exp(
                -mpf(beta)
                / 2
                * sum(
                    (mpf(float(q)) - mpf(float(z))) ** 2 for q, z in zip(query[0], p, strict=True)
                )
                + mpf("5e7")
            )
            for p in particles
        ]
        want = np.array([float(p / mpmath.fsum(parts)) for p in parts])
    npt.assert_allclose(got, want, rtol=3e-15)
    naive = softmax(-beta / 2 * ((query - particles) ** 2).sum(axis=-1))
    assert np.abs(naive / want - 1).max() > 1e-10


def test_a_cloud_far_from_the_origin_is_the_same_cloud():
    rng = np.random.default_rng(SEED)
    queries = np.round(rng.normal(size=(4, 2)) * 2**10) / 2**10  # so that moving is exact
    particles = np.round(rng.normal(size=(9, 2)) * 2**10) / 2**10
    shift = np.array([1e8, -3e8])
    for function in (
        numeric.kernel_weights,
        numeric.dot_product_weights,
        numeric.kernel_score,
        numeric.kernel_energy,
        numeric.kernel_energy_gradient,
        numeric.kernel_covariance,
        numeric.kernel_energy_hessian,
    ):
        npt.assert_allclose(
            function(queries + shift, particles + shift, 2.0),
            function(queries, particles, 2.0),
            rtol=1e-11,
            atol=1e-14,
        )


def test_one_particle_duplicates_and_beta_zero():
    queries, particles = cloud()
    lone = particles[:1]
    npt.assert_array_equal(numeric.kernel_weights(queries, lone, 5.0), np.ones((5, 1)))
    npt.assert_array_equal(numeric.kernel_mean(queries, lone, 5.0), np.tile(lone, (5, 1)))
    npt.assert_array_equal(numeric.kernel_covariance(queries, lone, 5.0), np.zeros((5, 3, 3)))
    twice = np.concatenate([particles, particles])
    npt.assert_allclose(
        numeric.kernel_mean(queries, twice, 5.0),
        numeric.kernel_mean(queries, particles, 5.0),
        rtol=1e-13,
    )
    same = np.tile(lone, (6, 1))
    npt.assert_array_equal(numeric.kernel_covariance(queries, same, 5.0), np.zeros((5, 3, 3)))
    npt.assert_allclose(
        numeric.kernel_mean(queries, particles, 0.0),
        np.tile(particles.mean(axis=0), (5, 1)),
        rtol=1e-14,
    )
    npt.assert_array_equal(numeric.kernel_score(queries, particles, 0.0), np.zeros((5, 3)))


def test_huge_beta_picks_the_nearest_and_stays_finite():
    queries, particles = cloud()
    for beta in (1e6, 1e150, 1e300):
        weights = numeric.kernel_weights(queries, particles, beta)
        distances = ((queries[:, None] - particles) ** 2).sum(axis=-1)
        npt.assert_array_equal(weights, np.eye(7)[distances.argmin(axis=-1)])
        energy = numeric.kernel_energy(queries, particles, beta)
        npt.assert_allclose(energy, distances.min(axis=-1) / 2, rtol=1e-5)


def test_a_particle_without_weight_does_not_count():
    queries, particles = cloud()
    some = [0.0, -np.inf, 0.5, -np.inf, 0.0, 1.0, -np.inf]
    kept = [0, 2, 4, 5]
    npt.assert_allclose(
        numeric.kernel_mean(queries, particles, 2.0, log_weights=some),
        numeric.kernel_mean(
            queries, particles[kept], 2.0, log_weights=np.array(some)[kept].tolist()
        ),
        rtol=1e-14,
    )


def test_blocks_of_queries_change_nothing(monkeypatch: pytest.MonkeyPatch):
    queries, particles = cloud(n=11)
    beta = np.array([[0.5], [2.0]])
    arguments = (queries, particles, beta)
    functions = (
        numeric.kernel_weights,
        numeric.kernel_mean,
        numeric.kernel_energy,
        numeric.kernel_covariance,
    )
    whole = [function(*arguments) for function in functions]
    assert whole[0].shape == (2, 1, 11, 7)
    monkeypatch.setattr(gaussian_kernel, "BLOCK", 50)
    for function, want in zip(functions, whole, strict=True):
        npt.assert_allclose(function(*arguments), want, rtol=1e-13, atol=1e-15)


def test_distances_of_batches_without_an_array_of_differences():
    rng = np.random.default_rng(SEED)
    x, y = rng.normal(size=(4, 1, 3, 2)), rng.normal(size=(5, 6, 2))
    got = squared_distances(np, x, y)
    want = ((x[..., :, None, :] - y[..., None, :, :]) ** 2).sum(axis=-1)
    npt.assert_allclose(got, want, rtol=1e-13)
    excess = excess_distances(np, got, x, y)
    npt.assert_allclose(excess, want - want.min(axis=-1, keepdims=True), atol=1e-13)
    assert (np.sort(excess, axis=-1)[..., 0] == 0).all()
