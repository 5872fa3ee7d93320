"""Branches by bisection, and the posterior of an output against integrals over the tokens."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

import numeric

LOG2 = float(np.log(2))
PAIR = [[1.5, 0.0], [0.5, -2.0]]


def test_exact_pairs_of_branches():
    a = np.log(1 + np.sqrt(2))
    found = numeric.logit_branches([-LOG2 / 3, -a / (2 + np.sqrt(2))])
    np.testing.assert_allclose(found.principal, [-LOG2, -a], rtol=2e-15)
    np.testing.assert_allclose(found.lower, [-3 * LOG2, -2 * a], rtol=2e-15)
    assert found.count.tolist() == [2, 2]
    np.testing.assert_allclose(found.principal_slope[0], (3 - 2 * LOG2) / 9, rtol=1e-14)
    np.testing.assert_allclose(found.lower_slope[0], (3 - 8 * LOG2) / 27, rtol=1e-14)


def test_outputs_without_a_second_branch_and_the_fold():
    found = numeric.logit_branches([0.0, 2.0, 1e5])
    assert found.count.tolist() == [1, 1, 1]
    assert np.isneginf(found.lower).all()
    np.testing.assert_allclose(found.principal * expit(found.principal), [0.0, 2.0, 1e5])
    fold = -0.2784645427610738
    at = numeric.logit_branches(fold)
    assert at.principal == pytest.approx(-1.2784645427610738, abs=1e-8)
    assert abs(at.principal_slope) < 1e-8
    with pytest.raises(numeric.DomainError, match="eta"):
        numeric.logit_branches(-0.2785)


def test_the_worked_case_of_one_output():
    found = numeric.output_posterior(1.0, 2 / 3, PAIR, t=0.5, head=LOG2)
    fraction = ((8 * LOG2 - 3) + 3 * (3 - 2 * LOG2) * mpmath.exp(-8)) / (
        (6 + 2 * LOG2) * (1 + mpmath.exp(-8))
    )
    assert found.responsibilities[0] == pytest.approx(float(fraction), rel=1e-12)
    assert float(found.noise_mean) == pytest.approx(0.310629, abs=1e-6)


@pytest.mark.parametrize("gain", [1.0, -0.7])
def test_density_is_what_the_tokens_say_of_intervals_of_outputs(gain: float):
    """Mass of an interval of outputs, by integrating over the hidden token."""
    c, t, head, prior = 1.2, 0.6, 0.9, np.array([0.3, 0.7])
    mu = np.array(PAIR)
    low, high = sorted((gain * 1.0, gain * 1.6))

    edges = np.linspace(-8, 8, 2_000_001)
    z = (edges[1:] + edges[:-1]) / 2
    outputs = gain * (c + (z - c) * expit(head * c * (z - c)))
    square = (c - mu[:, 0]) ** 2 + (z[:, None] - mu[:, 1]) ** 2
    joint = np.exp(-square / (2 * t * t)) @ prior / (2 * np.pi * t * t)
    wanted = joint[(low <= outputs) & (outputs <= high)].sum() * (edges[1] - edges[0])

    def density(y: float) -> float:
        given = {"t": t, "head": head, "gain": gain, "prior": prior}
        return float(np.exp(numeric.output_posterior(c, y, mu, **given).log_density))

    assert quad(density, low, high, epsabs=1e-10)[0] == pytest.approx(wanted, rel=1e-4)


def test_responsibilities_are_the_average_over_the_tokens_that_give_the_output():
    """The tower law, by sampling: E[(1{J = 1} - r_1) f] = 0 for f = r_1 and f = y."""
    rng = np.random.default_rng(11)
    count, t, head, mu = 200_000, 0.5, LOG2, np.array(PAIR)
    component = rng.integers(0, 2, count)
    tokens = mu[component] + t * rng.normal(size=(count, 2))
    x = tokens[:, 1] - tokens[:, 0]
    y = tokens[:, 0] + x * expit(head * tokens[:, 0] * x)
    first = numeric.output_posterior(tokens[:, 0], y, mu, t=t, head=head).responsibilities[:, 0]
    for factor in (first, y, tokens[:, 0]):
        products = ((component == 0) - first) * factor
        assert abs(products.mean()) < 4.5 * products.std() / np.sqrt(count)


def test_refusals():
    with pytest.raises(numeric.DomainError, match="query"):
        numeric.output_posterior(0.0, 1.0, PAIR, t=0.5, head=1.0)
    with pytest.raises(numeric.DomainError, match="t: "):
        numeric.output_posterior(1.0, 1.0, PAIR, t=0.0, head=1.0)
    with pytest.raises(numeric.ShapeError, match="means"):
        numeric.output_posterior(1.0, 1.0, [1.0, 2.0], t=0.5, head=1.0)
