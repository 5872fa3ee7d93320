"""Rows known up to a cell, tokens of width 1 (FB-29)."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import numpy.testing as npt
import pytest
from mpmath import mp

from numeric import OffSupportError
from numeric.first_block import (
    AttentionBlock,
    ClippedRow,
    CorruptionModel,
    FullState,
    QuantisedRow,
    QueryOnly,
    QueryRow,
    QueryRowValues,
    log_row_of,
    posterior,
    tower_test,
)
from numeric.first_block.cells import _log_interval
from numeric.first_block.checks import THRESHOLD
from tests.numeric.first_block.instances import TOWER_DRAWS, random_block, random_model

SEED = 2900
ONE = np.array([[1.0]])


def scalar_pair() -> tuple[CorruptionModel, AttentionBlock]:
    """FB-29: P=2, d=1, M = log 2 at c = 1, t = 1/2, mu_n2 = 0 and -2."""
    clean = np.array([[2.0, 0.0], [2.0, -4.0]])[..., None]
    return (
        CorruptionModel(clean, np.array([0.5, 0.5]), 0.5),
        AttentionBlock([ONE], [np.log(2) * ONE], [ONE], n_tokens=2),
    )


def draws_with_query_one(count: int) -> tuple[CorruptionModel, AttentionBlock, np.ndarray]:
    model, block = scalar_pair()
    state = model.draw(count, seed=SEED).state
    state[:, 0] = 1.0  # the other token doesn't depend on it given the component: equal targets
    return model, block, state


def test_log_mass_of_an_interval_in_both_tails_and_thin():
    cases = [
        (-1.0, 2.0), (5.0, 6.0), (-40.0, -39.0), (39.0, 45.0), (-np.inf, -3.0), (3.0, np.inf),
        (-np.inf, np.inf), (2.0, 2.0 + 1e-9), (-30.0, -30.0 + 1e-7), (1e-5, 1e-5 + 1e-12),
        (-0.5, 0.5), (100.0, 100.0 + 1e-5), (-2.0, 90.0), (8.0, 8.0001), (3.0, 3.00002),
    ]  # fmt: skip
    a, b = (np.array(x) for x in zip(*cases, strict=True))
    with mp.workdps(60):
        for got, low, high in zip(_log_interval(a, b), a, b, strict=True):
            low, high = (mpmath.mpf(float(x)) for x in ((-high, -low) if low > 0 else (low, high)))
            want = mpmath.log(mpmath.ncdf(high) - mpmath.ncdf(low))
            width = float(high - low)
            error = 1e-13 * max(1, abs(float(want))) + (
                4e-16 * max(abs(float(low)), 1) / width if np.isfinite(width) else 0
            )
            assert abs(got - float(want)) < max(error, 1e-9 * (width < 1e-4))


def test_losing_bits_loses_information_and_twelve_lose_nothing():
    model, block, state = draws_with_query_one(20_000)
    row = np.exp(block.run(state).log_row[..., 1])
    full = posterior(model, block, FullState(state)).responsibilities[:, 0]
    losses = []
    for bits in (1, 2, 3, 4, 6, 8, 12):
        seen = posterior(model, block, QuantisedRow.of_two_tokens(state[:, 0], row, bits))
        losses.append(float(((full - seen.responsibilities[:, 0]) ** 2).mean()))
    # cells nest, so the loss falls: exactly in the mean, up to sampling error here
    assert all(fine <= coarse + 1e-9 for coarse, fine in itertools.pairwise(losses))
    assert losses[-1] < 1e-5


def test_a_midpoint_in_place_of_the_cell_is_miscalibrated():
    model, block, state = draws_with_query_one(20_000)
    row = np.exp(block.run(state).log_row[..., 1])
    cell = posterior(model, block, QuantisedRow.of_two_tokens(state[:, 0], row, 1))
    middle = (np.floor(row * 2) + 0.5) / 2
    log_row = log_row_of(np.stack([1 - middle, middle], axis=-1))
    plug_in = posterior(model, block, QueryRow(state[:, 0], log_row))
    gap = plug_in.responsibilities[:, 0] - cell.responsibilities[:, 0]
    assert (gap**2).mean() > 1e-3


def test_clipped_row_passes_the_tower_test():
    model, block, _ = draws_with_query_one(1)
    floor = np.log(0.2 / 0.8)
    draws = model.draw(TOWER_DRAWS, seed=SEED)
    ratios = np.diff(block.run(draws.state).log_row, axis=-1)
    found = posterior(model, block, ClippedRow(draws.state[:, 0], ratios, np.asarray(floor)))
    features = np.hstack([draws.state[:, 0], np.maximum(ratios[:, 0], floor)])
    test = tower_test(draws, found.responsibilities, features, noise_mean=found.noise_mean)
    assert test.worst < THRESHOLD
    assert 0.2 < (ratios <= floor).mean() < 0.8


def test_cells_of_several_tokens_and_heads_pass_the_tower_test():
    rng = np.random.default_rng(SEED)
    model = random_model(rng, 3, 3, 1)
    block = random_block(
        rng, 3, 1, (1, 1), positions=rng.normal(size=(3, 1)), query_biases=rng.normal(size=(2, 2)),
        target=1,
    )  # fmt: skip
    draws = model.draw(TOWER_DRAWS, seed=SEED)
    log_row = block.run(draws.state).log_row
    ratios = log_row[..., [0, 2]] - log_row[..., [1]]
    lower = np.floor(ratios)
    found = posterior(model, block, QuantisedRow(draws.state[:, 1], lower, lower + 1))
    features = np.hstack([draws.state[:, 1], np.clip(lower, -5, 5).reshape(TOWER_DRAWS, -1)])
    test = tower_test(
        draws, found.responsibilities, features, noise_mean=found.noise_mean, target=1
    )
    assert test.worst < THRESHOLD
    assert (found.excess == 0).all()


def test_a_cell_that_is_a_point_is_the_row_itself_and_one_that_is_everything_the_query():
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 3, 1), random_block(rng, 3, 1, (1,), keys=1)
    run = block.run(model.draw(20, seed=SEED).state)
    ratios = run.log_row[..., 1:] - run.log_row[..., :1]
    point = posterior(model, block, QuantisedRow(run.query, ratios, ratios))
    row = posterior(model, block, QueryRow.of(run))
    npt.assert_allclose(point.log_responsibilities, row.log_responsibilities, atol=1e-9)
    npt.assert_allclose(point.log_evidence, row.log_evidence, atol=1e-9)
    thin = posterior(model, block, QuantisedRow(run.query, ratios, ratios + 1e-9))
    npt.assert_allclose(thin.log_responsibilities, row.log_responsibilities, atol=1e-5)
    npt.assert_allclose(thin.log_evidence - 2 * np.log(1e-9), row.log_evidence, atol=1e-5)
    everything = np.full(ratios.shape, np.inf)
    whole = posterior(model, block, QuantisedRow(run.query, -everything, everything))
    query = posterior(model, block, QueryOnly.of(run))
    npt.assert_allclose(whole.log_responsibilities, query.log_responsibilities, atol=1e-12)
    npt.assert_allclose(whole.log_evidence, query.log_evidence, atol=1e-12)


def test_cells_that_contradict_each_other_are_off_support():
    two = AttentionBlock([ONE, ONE], [ONE, 2 * ONE], [ONE, ONE], n_tokens=2)
    model, _ = scalar_pair()
    lower, upper = np.array([[0.0], [4.0]]), np.array([[1.0], [5.0]])
    with pytest.raises(OffSupportError) as caught:
        posterior(model, two, QuantisedRow(np.ones(1), lower, upper))
    npt.assert_allclose(caught.value.distance, 1.0)  # z - 1 in [0, 1] and in [2, 2.5]
    flagged = posterior(model, two, QuantisedRow(np.ones(1), lower, upper), off_support="flag")
    assert flagged.excess > 1
    blind = AttentionBlock([0 * ONE], [ONE], [ONE], n_tokens=2)
    posterior(model, blind, QuantisedRow(np.ones(1), np.zeros((1, 1)), np.ones((1, 1))))
    with pytest.raises(OffSupportError):
        posterior(model, blind, QuantisedRow(np.ones(1), np.ones((1, 1)), np.ones((1, 1))))


def test_a_quantised_row_beside_an_exact_value_is_off_support():
    """FB-29: with 2 bits the row says z = -1.8074, the value -1.6667."""
    model, block = scalar_pair()
    run = block.run(np.array([[1.0], [-2.0]]))
    s = (np.floor(np.exp(run.log_row[0, 1]) * 4) + 0.5) / 4
    observation = QueryRowValues(run.query, log_row_of(np.array([[1 - s, s]])), run.values)
    with pytest.raises(OffSupportError) as caught:
        posterior(model, block, observation)
    by_row = 1 + np.log(s / (1 - s)) / np.log(2)
    by_value = (run.values[0] - (1 - s)) / s
    npt.assert_allclose([by_row, by_value], [-1.8074, -1.6667], atol=5e-5)
    npt.assert_allclose(caught.value.distance, s * abs(by_row - by_value), rtol=1e-9)
    assert abs(by_row - by_value) >= 5e-2
    flagged = posterior(model, block, observation, off_support="flag")
    assert flagged.excess > 1e6
    assert np.isfinite(flagged.responsibilities).all()
