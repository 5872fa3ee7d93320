"""Continuous depth and truncation.

Items: EB-16, EB-17, EB-20.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expi

from numeric.particles import equal_layers, flow, posterior_mean, refine, truncated_flow

pytestmark = pytest.mark.filterwarnings("ignore::numeric.particles.BandwidthWarning")


def test_layers_tend_to_the_flow_to_first_order():
    tokens = np.random.default_rng(1).normal(size=(60, 2))
    end = flow(tokens, 0.4, 5.0).particles
    errors = [
        np.abs(refine(tokens, 0.4, equal_layers(0.4, 5.0, n)).particles - end).max()
        for n in (40, 80, 160)
    ]
    ratios = np.divide(errors[:-1], errors[1:])
    assert np.abs(ratios - 2).max() < 0.06
    extrapolated = (
        2 * refine(tokens, 0.4, equal_layers(0.4, 5.0, 160)).particles
        - refine(tokens, 0.4, equal_layers(0.4, 5.0, 80)).particles
    )
    assert np.abs(extrapolated - end).max() < errors[-1] / 20


@pytest.mark.parametrize("beta", [0.7, 6.0])
def test_two_particles_keep_the_invariant(beta: float):
    """ln r + Ei(beta r/2) + 4 theta, r their squared distance."""
    for theta in (0.3, 2.0):
        prior = flow([[0.0], [1.1]], 0.5, beta, time=theta, clock="appendix")
        r = float(np.ptp(prior.particles) ** 2)
        start = np.log(1.21) + expi(beta * 1.21 / 2)
        assert np.log(r) + expi(beta * r / 2) + 4 * theta == pytest.approx(start, abs=1e-9)
        assert prior.theta == theta and prior.time == pytest.approx(theta / beta)


def test_both_clocks_stop_at_the_same_place():
    tokens = np.random.default_rng(2).normal(size=(40, 1))
    main = flow(tokens, 0.5, 4.0, time=0.1, clock="main").particles
    appendix = flow(tokens, 0.5, 4.0, time=0.4, clock="appendix").particles
    assert np.abs(main - appendix).max() < 1e-10
    nominal = flow(tokens, 0.5, 4.0)
    assert nominal.time == pytest.approx(0.25) and nominal.theta == pytest.approx(1.0)
    assert np.array_equal(flow(tokens, 0.5, 4.0, time=0.0).particles, tokens)


def test_methods_agree_on_the_flow():
    tokens = np.random.default_rng(3).normal(size=(300, 2))
    direct, panels = (
        flow(tokens, 0.4, 8.0, method=method).particles for method in ("direct", "panels")
    )
    assert np.abs(direct - panels).max() < 1e-9


def test_truncation_keeps_the_ball_and_its_boundary():
    tokens = np.array([[0.6, 0.8], [3.0, 4.0], [0.0, 5.1], [0.0, 0.0]])
    prior = truncated_flow(tokens, 0.5, 2.0, 5.0)
    assert not prior.empty and len(prior.particles) == 3
    inside = flow(tokens[[0, 1, 3]], 0.5, 2.0)
    assert np.array_equal(prior.particles, inside.particles)
    whole = truncated_flow(tokens, 0.5, 2.0, 100.0)
    assert np.array_equal(whole.particles, flow(tokens, 0.5, 2.0).particles)
    assert (np.hypot(*prior.particles.T) <= 5).all()


def test_weights_go_with_the_tokens_that_are_left():
    tokens, weights = np.array([[0.0], [9.0], [0.5]]), np.array([1.0, 5.0, 2.0])
    prior = truncated_flow(tokens, 0.5, 2.0, 1.0, weights=weights)
    assert prior.weights.tolist() == [1.0, 2.0]
    assert truncated_flow(tokens, 0.5, 2.0, 0.1, weights=[0.0, 1.0, 1.0]).empty


def test_with_no_token_left_every_posterior_mean_is_zero():
    prior = truncated_flow([[5.0, 5.0], [-7.0, 0.0]], 0.5, 2.0, 1.0)
    assert prior.empty and prior.time == 0.25 and prior.theta == 0.5
    queries = np.array([[5.0, 5.0], [0.0, 0.0], [1e300, 0.0]])
    assert posterior_mean(prior, queries).tolist() == [[0.0, 0.0]] * 3


def test_queries_are_not_truncated():
    tokens = np.random.default_rng(4).normal(size=(50, 1))
    prior = truncated_flow(tokens, 0.5, 2.0, 0.8)
    found = posterior_mean(prior, tokens)
    assert len(found) == 50 and np.abs(found).max() <= 0.8
