"""Finite depth: against the definition, and what holds of any cloud.

Items: EB-6, EB-12, EB-15, EB-18, EB-19, EB-20, EB-21.
"""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy.special import softmax

from numeric import gaussian_kernel
from numeric.errors import DomainError
from numeric.particles import (
    BandwidthWarning,
    Layer,
    RefinedPrior,
    annealed_layers,
    denoise,
    equal_layers,
    posterior_mean,
    refine,
    support,
)

pytestmark = pytest.mark.filterwarnings("ignore::numeric.particles.BandwidthWarning")


def pair_tokens(count: int, seed: int, v: float = 0.1, sigma2: float = 0.5) -> tuple:
    """Clean and noisy tokens of the prior ``N(+-(1, 0), v I)/2``."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=(count, 1))
    clean = signs * [1.0, 0.0] + np.sqrt(v) * rng.normal(size=(count, 2))
    return clean, clean + np.sqrt(sigma2) * rng.normal(size=(count, 2))


def by_definition(tokens: np.ndarray, sigma2: float, beta: float, n_layers: int) -> tuple:
    """Both stages with arrays of all pairs."""

    def averaged(q: np.ndarray, z: np.ndarray, sharpness: float) -> np.ndarray:
        squares = ((q[:, None] - z) ** 2).sum(axis=-1)
        return softmax(-sharpness / 2 * squares, axis=1) @ z

    z = tokens
    for _ in range(n_layers):
        eta = beta * sigma2 / (2 * n_layers)
        z = (1 - eta) * z + eta * averaged(z, z, beta)
    return averaged(tokens, z, 1 / sigma2), z


@pytest.mark.parametrize(
    ("method", "d"),
    [*itertools.product(("direct", "auto"), (1, 2, 3, 50)), ("panels", 1), ("panels", 2)],
)
def test_both_stages_follow_the_definition(method: str, d: int):
    tokens = np.random.default_rng(d).normal(size=(150, d))
    found, prior = denoise(tokens, 0.4, 6.0, 20, method=method)
    wanted, particles = by_definition(tokens, 0.4, 6.0, 20)
    assert np.abs(prior.particles - particles).max() < 1e-12
    assert np.abs(found - wanted).max() < 1e-12
    assert prior.time == pytest.approx(0.2, rel=1e-14)
    assert prior.theta == pytest.approx(1.2, rel=1e-14)


def test_a_layer_is_the_attention_step_of_few_particles():
    tokens = np.random.default_rng(1).normal(size=(60, 2))
    layers = equal_layers(0.5, 8.0, 3)
    wanted = tokens
    for eta in layers.eta:
        wanted = gaussian_kernel.attention_step(wanted, wanted, 8.0, eta)
    assert np.abs(refine(tokens, 0.5, layers).particles - wanted).max() < 1e-13


def test_panels_keep_positions_to_1e_12_over_a_whole_run():
    """A run multiplies errors by about a hundred."""
    _, tokens = pair_tokens(1200, 2)
    layers = equal_layers(0.5, 20.0, 60)
    direct, panels = (refine(tokens, 0.5, layers, method=m) for m in ("direct", "panels"))
    assert np.abs(direct.particles - panels.particles).max() < 1e-12


def test_no_layers_leave_the_second_stage_alone():
    tokens = np.random.default_rng(3).normal(size=(80, 2))
    found, prior = denoise(tokens, 0.4, 6.0, 0)
    assert np.array_equal(prior.particles, tokens) and prior.time == 0
    assert np.abs(found - by_definition(tokens, 0.4, 6.0, 0)[0]).max() < 1e-13


def test_too_few_layers_are_refused_with_the_least_depth():
    with pytest.raises(DomainError, match="take at least 6"):
        denoise([[0.0], [1.0]], 0.5, 20.0, 5)
    assert denoise([[0.0], [1.0]], 0.5, 20.0, 6)[1].theta == pytest.approx(5.0)


def test_the_hull_never_grows():
    rng = np.random.default_rng(4)
    tokens, directions = rng.standard_t(3, size=(300, 2)), rng.normal(size=(30, 2))
    widths = []
    refine(
        tokens, 0.5, equal_layers(0.5, 5.0, 12),
        observer=lambda layer: widths.append(support(layer.particles, directions)),
    )  # fmt: skip
    steps = np.diff(np.array(widths), axis=0)
    assert len(widths) == 13 and (steps <= 1e-12 * np.abs(widths[0])).all()
    assert steps.min() < -1e-3


def test_permutation_rotation_translation_and_scaling_commute_with_denoising():
    rng = np.random.default_rng(5)
    tokens = rng.normal(size=(200, 2))
    base = denoise(tokens, 0.4, 6.0, 10)[0]
    order = rng.permutation(200)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    c, moved = 3.7, np.array([5.0, -90.0])
    for got, wanted in (
        (denoise(tokens[order], 0.4, 6.0, 10)[0], base[order]),
        (denoise(tokens @ turn, 0.4, 6.0, 10)[0], base @ turn),
        (denoise(tokens + moved, 0.4, 6.0, 10)[0], base + moved),
        (denoise(c * tokens, c**2 * 0.4, 6.0 / c**2, 10)[0], c * base),
    ):
        assert np.abs(got - wanted).max() < 1e-12


def test_duplicates_are_weights():
    rng = np.random.default_rng(6)
    tokens, times = rng.normal(size=(40, 2)), rng.integers(1, 6, size=40)
    listed = np.repeat(tokens, times, axis=0)
    many = denoise(listed, 0.4, 6.0, 10)
    few = denoise(tokens, 0.4, 6.0, 10, weights=times)
    for all_of_them, one in zip(many[0], np.repeat(few[0], times, axis=0), strict=True):
        assert np.abs(all_of_them - one).max() < 1e-13
    firsts = np.cumsum(times) - times
    assert np.abs(many[1].particles[firsts] - few[1].particles).max() < 1e-13
    tripled = denoise(tokens, 0.4, 6.0, 10, weights=3e200 * times)[0]
    assert np.abs(tripled - few[0]).max() < 1e-13


def test_a_token_of_weight_zero_moves_but_moves_no_other():
    tokens = np.random.default_rng(7).normal(size=(30, 1))
    weights = np.ones(30)
    weights[4] = 0
    with_it = refine(tokens, 0.4, equal_layers(0.4, 6.0, 10), weights=weights).particles
    without = refine(np.delete(tokens, 4, axis=0), 0.4, equal_layers(0.4, 6.0, 10)).particles
    assert np.abs(np.delete(with_it, 4, axis=0) - without).max() < 1e-13
    assert abs(with_it[4, 0] - tokens[4, 0]) > 1e-3


def test_one_token_stays_and_two_keep_their_mean():
    assert denoise([[3.0, -1e9]], 0.4, 6.0, 10)[0].tolist() == [[3.0, -1e9]]
    found = refine([[1.0], [4.0]], 0.4, equal_layers(0.4, 1.0, 10)).particles
    assert found.mean() == pytest.approx(2.5, rel=1e-15) and np.ptp(found) < 3


def test_an_outlier_neither_moves_nor_moves_others():
    tokens = np.random.default_rng(8).normal(size=(400, 2))
    layers = equal_layers(0.5, 20.0, 10)
    for place in (1e3, 1e12):
        far = np.full((1, 2), place)
        found = refine(np.concatenate([tokens, far]), 0.5, layers).particles
        assert np.array_equal(found[-1:], far)
        assert np.abs(found[:-1] - refine(tokens, 0.5, layers).particles).max() < 1e-13


def test_the_prior_answers_queries_that_were_no_tokens():
    clean, tokens = pair_tokens(3000, 9)
    prior = denoise(tokens[:2000], 0.5, 10.0, 30)[1]
    fresh = posterior_mean(prior, tokens[2000:])
    error = ((fresh - clean[2000:]) ** 2).sum(axis=1).mean()
    raw = ((tokens[2000:] - clean[2000:]) ** 2).sum(axis=1).mean()
    assert error < 0.5 < raw
    assert posterior_mean(prior, np.zeros((0, 2))).shape == (0, 2)
    split = np.concatenate([posterior_mean(prior, part) for part in np.split(tokens[2000:], 4)])
    assert np.abs(split - fresh).max() < 1e-12


def test_an_annealed_schedule_is_the_layers_one_after_the_other():
    tokens = np.random.default_rng(10).normal(size=(90, 1))
    beta = np.array([2.0, 4.0, 8.0, 16.0])
    eta = beta * 0.4 / 8
    found = refine(tokens, 0.4, annealed_layers(0.4, eta, beta))
    wanted = tokens
    for e, b in zip(eta, beta, strict=True):
        wanted = gaussian_kernel.attention_step(wanted, wanted, b, e)
    assert np.abs(found.particles - wanted).max() < 1e-13
    assert found.time == pytest.approx(0.2) and found.theta == pytest.approx(eta.sum())
    with pytest.raises(DomainError, match="multiply the steps by 2"):
        annealed_layers(0.4, eta / 2, beta)


def test_a_nominal_depth_may_be_run_past_or_cut_short():
    longer = equal_layers(0.5, 20.0, 7, n_layers_nominal=5 + 1)
    assert longer.eta.tolist() == [5 / 6] * 7
    tokens = [[0.0], [0.3]]
    assert refine(tokens, 0.5, longer).time == pytest.approx(0.25 * 7 / 6)
    assert not equal_layers(0.5, 20.0, 0, n_layers_nominal=6).eta.size


def test_the_observer_sees_tokens_first_and_the_prior_last():
    tokens = np.random.default_rng(11).normal(size=(50, 2))
    seen: list[Layer] = []
    prior = refine(tokens, 0.4, equal_layers(0.4, 6.0, 5), observer=seen.append)
    assert [layer.index for layer in seen] == [0, 1, 2, 3, 4, 5]
    assert np.array_equal(seen[0].particles, tokens) and seen[0].time == 0
    assert np.array_equal(seen[-1].particles, prior.particles) and seen[-1].sums is None
    assert [layer.time * 6.0 for layer in seen] == pytest.approx([x.theta for x in seen])
    assert all(layer.sums is not None and layer.sums.shift.shape == (50, 2) for layer in seen[:-1])


def test_an_inert_first_stage_is_said():
    tokens = np.random.default_rng(12).normal(size=(200, 8)) * 1.3
    with pytest.warns(BandwidthWarning, match="hardly any other"):
        denoise(tokens, 0.5, 20.0, 10)


def test_clustering_is_said_with_its_onset():
    tokens = np.random.default_rng(13).normal(size=(500, 1))
    with pytest.warns(BandwidthWarning, match=r"clusters; the onset is near beta = 16\.9"):
        denoise(tokens, 0.5, 40.0, 20)


def test_a_useful_bandwidth_is_no_reason_to_warn():
    tokens = np.random.default_rng(14).normal(size=(500, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        denoise(tokens, 0.5, 10.0, 20)
        denoise(tokens[:1], 0.5, 10.0, 20)


def test_single_precision_is_kept():
    tokens = np.random.default_rng(15).normal(size=(1500, 2)).astype(np.float32)
    found, prior = denoise(tokens, 0.4, 6.0, 10)
    assert found.dtype == prior.particles.dtype == np.float32
    wanted = denoise(tokens.astype(np.float64), 0.4, 6.0, 10)[0]
    assert np.abs(found - wanted).max() < 1e-4


def test_a_spoiled_prior_is_refused():
    spoiled = RefinedPrior(np.array([[np.nan]]), np.ones(1), 0.5, 0.0, 0.0)
    with pytest.raises(ValueError, match="particles"):
        posterior_mean(spoiled, [[0.0]])
