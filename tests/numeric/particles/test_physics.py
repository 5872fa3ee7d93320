"""What the particles must do as a whole: the table, population limits, product laws.

Items: EB-8, EB-10, EB-12, EB-20, EB-53, EB-55, EB-57.
"""

from __future__ import annotations

import numpy as np
import pytest

import numeric
from numeric.mixture import pair_mmse, pair_posterior_mean
from numeric.particles import (
    Layer,
    denoise,
    equal_layers,
    flow,
    mean_square_error,
    moments,
    posterior_mean,
    refine,
    weighted_grid,
)

pytestmark = pytest.mark.filterwarnings("ignore::numeric.particles.BandwidthWarning")


def gaussian_grid(v: float, nodes: int = 400) -> tuple[np.ndarray, np.ndarray]:
    width = 9.5 * np.sqrt(v)
    return weighted_grid(lambda x: -(x**2) / (2 * v), -width, width, nodes)


def pair_grid(v: float, nodes: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Half ``N(1, v)``, half ``N(-1, v)``."""
    width = 1 + 8.5 * np.sqrt(v)
    return weighted_grid(
        lambda x: np.logaddexp(-((x - 1) ** 2) / (2 * v), -((x + 1) ** 2) / (2 * v)),
        -width, width, nodes,
    )  # fmt: skip


@pytest.mark.parametrize("beta", [1.0, 10.0, 20.0])
def test_the_population_of_a_gaussian_follows_its_closed_form(beta: float):
    tokens, weights = gaussian_grid(1.25)
    prior = flow(tokens, 0.25, beta, weights=weights, rtol=1e-12)
    variance = float(moments(prior.particles, weights=weights)[1][0, 0])
    wanted = float(numeric.terminal_covariance([[1.0]], 0.25, beta)[0, 0])
    assert variance == pytest.approx(wanted, rel=1e-10)


def test_the_population_of_a_gaussian_follows_the_layers_exactly():
    tokens, weights = gaussian_grid(1.25)
    seen: list[float] = []

    def variance(layer: Layer) -> None:
        seen.append(float(moments(layer.particles, weights=weights)[1][0, 0]))

    schedule = equal_layers(0.25, 20.0, 40)
    refine(tokens, 0.25, schedule, weights=weights, observer=variance)
    wanted = numeric.depth_flow(1.25, schedule.eta, 20.0)
    assert np.abs(np.array(seen) - wanted).max() < 3e-12


@pytest.mark.parametrize(
    ("beta", "value", "ratio", "slack"),
    [(1.0, 1.1146, 1.0004, 0.002), (10.0, 1.0203, 1.0023, 0.008), (20.0, 1.0106, 1.0066, 0.02)],
)
def test_variances_of_the_table(beta: float, value: float, ratio: float, slack: float):
    """N(0, 1) with noise 0.25: four seeds of 2000 tokens, 50 layers.

    The ratio to the layers' closed form from each seed's own variance; its slack grows with beta
    since fewer tokens see one another, and it is that of a sample of this size.
    """
    wanted = float(numeric.terminal_covariance([[1.0]], 0.25, beta)[0, 0])
    assert wanted == pytest.approx(value, abs=5.1e-5)
    ratios = []
    for seed in range(4):
        rng = np.random.default_rng([seed, 99])
        tokens = rng.normal(size=(2000, 1)) + 0.5 * rng.normal(size=(2000, 1))
        schedule = equal_layers(0.25, beta, 50)
        after = refine(tokens, 0.25, schedule).particles.var()
        ratios.append(after / numeric.depth_flow(tokens.var(), schedule.eta, beta)[-1])
    assert np.mean(ratios) == pytest.approx(ratio, abs=slack)


def test_a_large_beta_is_too_slow_for_few_particles():
    rng = np.random.default_rng(900)
    tokens = 1.25**0.5 * rng.normal(size=(900, 1))
    changes = {
        beta: refine(tokens, 0.25, equal_layers(0.25, beta, 200)).particles.var() - tokens.var()
        for beta in (20.0, 800.0)
    }
    assert changes[20.0] == pytest.approx(-0.215, abs=0.03)
    assert changes[800.0] == pytest.approx(-0.007, abs=0.01)


@pytest.mark.parametrize(
    ("v", "values"),
    [
        (0.01, {0: 0.44132, 50: 0.39739, 100: 0.35009, 200: 0.26606}),
        (0.1, {0: 0.49932, 100: 0.43148, 200: 0.37311, 300: 0.37944}),
    ],
)
def test_population_errors_of_the_pair_over_depth(v: float, values: dict[int, float]):
    """Sum over both coordinates; a product law stays one, so each has a grid of its own."""
    sigma2, beta = 0.5, 20.0
    queries, query_weights = pair_grid(v + sigma2)
    others, other_weights = gaussian_grid(v + sigma2)
    # Bayes along each axis; what the estimator misses is its squared distance from it.
    bayes = pair_posterior_mean(queries, [1.0], v, sigma2)
    other_bayes = v / (v + sigma2) * others
    floor = float(pair_mmse([1.0, 0.0], v, sigma2))
    for depth, wanted in values.items():
        schedule = equal_layers(sigma2, beta, depth, n_layers_nominal=200)
        along = refine(queries, sigma2, schedule, weights=query_weights)
        across = refine(others, sigma2, schedule, weights=other_weights)
        missed = query_weights @ (posterior_mean(along, queries) - bayes)[:, 0] ** 2
        missed += other_weights @ (posterior_mean(across, others) - other_bayes)[:, 0] ** 2
        assert floor + missed == pytest.approx(wanted, abs=2e-5)


def test_a_product_law_stays_one():
    x, wx = pair_grid(0.6, 30)
    y, wy = gaussian_grid(0.6, 25)
    tokens = np.stack([a.ravel() for a in np.meshgrid(x, y, indexing="ij")], axis=1)
    schedule = equal_layers(0.5, 4.0, 8)
    moved = refine(tokens, 0.5, schedule, weights=np.outer(wx, wy).ravel()).particles
    apart = [
        refine(axis, 0.5, schedule, weights=w).particles[:, 0] for axis, w in ((x, wx), (y, wy))
    ]
    wanted = np.stack([a.ravel() for a in np.meshgrid(*apart, indexing="ij")], axis=1)
    assert np.abs(moved - wanted).max() < 1e-11


def test_both_stages_beat_one_and_come_near_bayes():
    """Paired with Bayes on the same draws: excess over the error of the posterior mean."""
    sigma2, v = 0.5, 0.1
    rng = np.random.default_rng(17)
    clean = rng.choice([-1.0, 1.0], size=(3000, 1)) * [1.0, 0.0]
    clean = clean + np.sqrt(v) * rng.normal(size=(3000, 2))
    tokens = clean + np.sqrt(sigma2) * rng.normal(size=(3000, 2))
    bayes = mean_square_error(pair_posterior_mean(tokens, [1.0, 0.0], v, sigma2), clean)
    two_stages, one_shot = (
        mean_square_error(denoise(tokens, sigma2, 20.0, n)[0], clean) - bayes for n in (40, 0)
    )
    assert one_shot == pytest.approx(0.49932 - 0.36559, abs=0.02)
    assert 0 < two_stages < one_shot / 2
