"""Critical points of energies: closed forms, dense sums in long doubles, and what is left out."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest

from experiments.in_context.fig3 import LONE
from experiments.in_context.mixtures import MEANS, WEIGHTS, draw_five, five, log_density
from experiments.in_context.wells import (
    critical_points,
    descended,
    energy_of_mixture,
    energy_of_particles,
    newton_step,
)
from numeric.mixture import gaussian_mixture, mixture_score
from numeric.particles import RefinedPrior, energies, posterior_mean

RNG = np.random.default_rng(54)
GRID = np.stack(np.meshgrid(*2 * [np.linspace(-2, 2, 9)]), axis=-1).reshape(-1, 2)


def test_two_particles_part_where_their_distance_is_above_two_deviations():
    """E'' at the middle of -a and a is 1 - a^2/sigma2: one well up to a = sigma, then two."""
    for a, wells in ((0.95, 1), (1.05, 2)):
        particles = np.array([[-a, 0.0], [a, 0.0]])
        found = critical_points(energy_of_particles(particles, 1.0), GRID, 1.0)
        assert found.minima == wells
        assert len(found.places) == 2 * wells - 1
        assert found.index_sum == 1
        middle = np.argmin(np.abs(found.places).sum(axis=1))
        npt.assert_allclose(np.sort(found.curvatures[middle]), np.sort([1 - a**2, 1]), rtol=1e-12)
        # Wells solve q = a tanh(a q), by symmetry on the axis.
        q = found.places[0]
        npt.assert_allclose(q, [a * np.tanh(a * q[0]), 0.0], atol=1e-9)


def test_a_step_at_a_singular_hessian_is_finite():
    at_the_onset = np.array([np.diag([0.0, 1.0]), [[2.0, 1.0], [1.0, -3.0]]])
    gradient = np.array([[0.0, 0.5], [1.0, 2.0]])
    steps = newton_step(at_the_onset, gradient)
    npt.assert_allclose(steps[0], [0.0, -0.5], atol=1e-15)
    npt.assert_allclose(steps[1], -np.linalg.solve(at_the_onset[1], gradient[1]), rtol=1e-14)
    particles = np.array([[-1.0, 0.0], [1.0, 0.0]])
    found = critical_points(energy_of_particles(particles, 1.0), np.zeros((1, 2)), 1.0)
    npt.assert_allclose(found.places, [[0.0, 0.0]], atol=1e-12)


def test_derivatives_are_those_of_the_energy_and_of_a_dense_sum():
    particles = RNG.normal(size=(150, 2)) + 30.0  # far from the origin
    queries = RNG.normal(size=(70, 2)) + 30.0
    sigma2 = 0.4
    found = energy_of_particles(particles, sigma2)(queries)
    z, q = particles.astype(np.longdouble), queries.astype(np.longdouble)
    away = z - q[:, None]
    weights = np.exp(-(away**2).sum(axis=2) / (2 * np.longdouble(sigma2)))
    total = weights.sum(axis=1)
    npt.assert_allclose(found.energy, np.array(-sigma2 * np.log(total / 150), float), rtol=1e-12)
    share = weights / total[:, None]
    shift = np.einsum("mn,mni->mi", share, away)
    npt.assert_allclose(found.gradient, np.array(-shift, float), atol=1e-13)
    second = np.einsum("mn,mni,mnj->mij", share, away, away)
    cov = second - shift[:, :, None] * shift[:, None, :]
    npt.assert_allclose(found.hessian, np.array(np.eye(2) - cov / sigma2, float), atol=1e-12)
    prior = RefinedPrior(particles, np.ones(150), sigma2, 0.0, 0.0)
    own = energies(prior, queries) + sigma2 * np.log(150)
    npt.assert_allclose(found.energy, own, rtol=1e-10)
    npt.assert_allclose(found.gradient, queries - posterior_mean(prior, queries), atol=1e-11)


def test_the_energy_of_a_mixture_is_that_of_many_of_its_particles():
    sigma2, many = 0.25, 100_000
    particles = draw_five(many, 3).clean
    queries = RNG.normal(size=(40, 2))
    found = energy_of_particles(particles, sigma2)(queries)
    limit = energy_of_mixture(five(), sigma2)(queries)
    # A kernel mean of density p has a relative variance below 1/(4 pi sigma2 p N).
    slack = 5 * np.sqrt(np.exp(limit.energy / sigma2) / many)
    # Particles that count are within a few deviations of a query, squared for the Hessian.
    assert (np.abs(found.energy - limit.energy) < sigma2 * slack).all()
    assert (np.abs(found.gradient - limit.gradient).max(axis=1) < 3 * slack).all()
    assert (np.abs(found.hessian - limit.hessian).max(axis=(1, 2)) < 10 * slack).all()


def test_a_single_gaussian_has_one_well_of_known_curvature():
    s, sigma2 = np.array([0.5, 2.0]), 0.3
    one = gaussian_mixture([1.0], [[0.3, -0.2]], [np.diag(s)])
    found = critical_points(energy_of_mixture(one, sigma2), GRID, sigma2)
    assert (found.minima, len(found.places), found.index_sum) == (1, 1, 1)
    npt.assert_allclose(found.places[0], [0.3, -0.2], atol=1e-9)
    npt.assert_allclose(found.curvatures[0], np.sort(sigma2 / (s + sigma2)), rtol=1e-12)


def test_a_saddle_that_is_left_out_shows_in_the_sum_of_indices():
    energy = energy_of_particles(np.array([[-2.0, 0.0], [2.0, 0.0]]), 1.0)
    # By symmetry the descent from the line between them ends at the saddle: not from beside it.
    minima = descended(energy, GRID + 0.1, 1.0)
    assert len(minima) == 2
    found = critical_points(energy, GRID, 1.0)
    assert found.index_sum == 1
    without = found._replace(
        **{name: value[: found.minima] for name, value in found._asdict().items()}
    )
    assert without.index_sum == 2


def test_a_lone_particle_has_a_well_of_its_own_that_descents_from_elsewhere_miss():
    cloud = 0.3 * RNG.normal(size=(400, 2))
    energy = energy_of_particles(np.concatenate([cloud, [[4.0, 0.0]]]), 0.25)
    assert len(descended(energy, GRID, 0.25)) == 1
    found = critical_points(energy, np.concatenate([GRID, [[4.0, 0.0]]]), 0.25)
    assert (found.minima, found.index_sum) == (2, 1)
    npt.assert_allclose(found.places[1], [4.0, 0.0], atol=1e-3)
    # One of 401 particles at its bottom: above the height of wells that count.
    assert found.energies[1] == pytest.approx(0.25 * np.log(401), abs=1e-3)
    assert found.energies[0] < LONE < found.energies[1]


def test_the_log_density_of_the_mixture_is_that_of_its_score():
    points = RNG.normal(size=(4, 30, 2))
    expected = mixture_score(five(), points, 0.5).log_density
    npt.assert_allclose(log_density(five(1.0, 0.5), points), expected, rtol=1e-12)


def test_a_draw_is_of_the_mixture_and_a_smaller_one_is_its_beginning():
    prompt = draw_five(50_000, [1, 2], scale=0.8, sigma2=0.25)
    spread = prompt.clean.std(axis=0)
    # Four standard errors.
    mean = 0.8 * WEIGHTS @ MEANS
    npt.assert_array_less(np.abs(prompt.clean.mean(axis=0) - mean), 4 * spread / 50_000**0.5)
    noise = prompt.tokens - prompt.clean
    assert (noise**2).mean() == pytest.approx(0.25, rel=4 * (2 / 100_000) ** 0.5)
    npt.assert_array_equal(draw_five(7, [1, 2], scale=0.8).tokens, prompt.tokens[:7])
    npt.assert_array_equal(draw_five(7, [1, 2], scale=0.8, sigma2=0.0).tokens, prompt.clean[:7])
