"""The edge cases of FB-28: right answers, not errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
from scipy.stats import norm

from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    FullState,
    QueryOnly,
    QueryRow,
    QueryRowValues,
    frozen_row_posterior,
    posterior,
    sufficiency,
    tower_test,
    unresolved_contrasts,
)
from numeric.first_block.checks import THRESHOLD
from tests.numeric.first_block import oracle
from tests.numeric.first_block.instances import (
    TOWER_DRAWS,
    log_odds,
    margins,
    random_block,
    random_model,
    rotations,
)

SEED = 2800


def test_at_pure_noise_the_posterior_is_the_prior_and_the_noise_is_seen():
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 3, 2, t=1.0), random_block(rng, 3, 2, (1, 1))
    draws = model.draw(100, seed=SEED)
    run = block.run(draws.state)
    for observation in (
        QueryRowValues.of(run), QueryRow.of(run), QueryOnly.of(run), FullState(draws.state),
    ):  # fmt: skip
        found = posterior(model, block, observation)
        npt.assert_allclose(found.responsibilities, np.tile(model.masses, (100, 1)), rtol=1e-9)
        npt.assert_allclose(found.noise_mean, draws.noise[:, 0], atol=1e-12)
    assert sufficiency(model, block, QueryRowValues.of(run)).is_sufficient.all()


@pytest.mark.parametrize("t", [0.1, 0.03, 1e-3, 1e-6, 1e-9])
def test_at_little_noise_the_posterior_concentrates_and_the_noise_is_seen(t: float):
    rng = np.random.default_rng(SEED)
    clean = 4 * rng.normal(size=(3, 3, 2))
    model, block = CorruptionModel(clean, np.full(3, 1 / 3), t), random_block(rng, 3, 2, (1, 1))
    draws = model.draw(100, seed=SEED)
    run = block.run(draws.state)
    for observation in (QueryRowValues.of(run), QueryRow.of(run), QueryOnly.of(run)):
        found = posterior(model, block, observation)
        own = found.responsibilities[np.arange(100), draws.label]
        npt.assert_allclose(own, 1, atol=1e-6)
        rounding = 1e-15 * np.abs(draws.state).max() / t
        npt.assert_allclose(found.noise_mean, draws.noise[:, 0], atol=1e-6 + rounding)
        assert np.isfinite(found.log_responsibilities).all()


def test_at_the_least_noise_that_is_allowed_nothing_overflows_into_nan():
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 3, 2, t=1e-150), random_block(rng, 3, 2, (1,))
    far = CorruptionModel(1e10 * model.clean, model.masses, 2e-154)
    for law in (model, far):
        run = block.run(law.mu[1])
        for observation in (QueryRowValues.of(run), QueryOnly.of(run), FullState(law.mu[1])):
            found = posterior(law, block, observation, off_support="flag")
            npt.assert_array_equal(found.responsibilities, [0, 1, 0])
            assert not np.isnan(found.log_responsibilities).any()
            assert not np.isnan(found.log_evidence)
            assert not np.isnan(found.noise_mean).any()


def test_risk_at_little_noise_is_below_its_bound():
    """FB-28b: decode by the nearest target."""
    rng = np.random.default_rng(SEED)
    clean = rng.normal(size=(4, 3, 2))
    targets = clean[:, 0]
    distance = np.linalg.norm(targets[:, None] - targets, axis=-1)
    diameter, closest = distance.max(), distance[distance > 0].min()
    block = random_block(rng, 3, 2, (1,))
    for t in (0.3, 0.2, 0.1):
        model = CorruptionModel(clean, np.full(4, 0.25), t)
        draws = model.draw(5000, seed=SEED)
        for observation in (
            QueryRowValues.of(block.run(draws.state)),
            QueryOnly(draws.state[:, 0]),
        ):
            found = posterior(model, block, observation)
            risk = ((draws.noise[:, 0] - found.noise_mean) ** 2).sum(-1).mean()
            tail = norm.cdf(-(1 - t) * closest / (2 * t))
            assert risk <= ((1 - t) / t * diameter) ** 2 * 3 * tail


@pytest.mark.parametrize("without", ["query maps", "query"])
def test_a_row_that_sees_nothing_is_a_fixed_one(without: str):
    """FB-28c: M = 0 makes the row uniform, and the exact posterior that of a fixed row."""
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 3, 2), random_block(rng, 3, 2, (1, 1))
    state = model.draw(20, seed=SEED).state
    if without == "query":
        state[:, 0] = 0.0
    else:
        zero = [np.zeros((2, 2))] * 2
        block = AttentionBlock(zero, block.key_maps, block.value_maps, n_tokens=3)
    run = block.run(state)
    npt.assert_allclose(run.log_row, -np.log(3))
    found = posterior(model, block, QueryRowValues.of(run))
    frozen = frozen_row_posterior(model, block, QueryRowValues.of(run))
    npt.assert_allclose(found.responsibilities, frozen.responsibilities, atol=1e-8)
    S = np.full((2, 3), 1 / 3)  # FB-2, rank-free form, with the values in place of S Z
    V = block.value_map
    B = np.vstack([np.eye(2, 6), *[np.kron(S[h], V[h]) for h in range(2)]])
    gap = state.reshape(20, 1, 6) - model.mu.reshape(3, 6)
    pinned = gap @ (np.linalg.pinv(B) @ B).T
    scores = np.log(model.masses) - (pinned**2).sum(-1) / (2 * model.t**2)
    npt.assert_allclose(log_odds(found.log_responsibilities), log_odds(scores), atol=1e-8)
    row_alone, query = (posterior(model, block, o) for o in (QueryRow.of(run), QueryOnly.of(run)))
    npt.assert_allclose(row_alone.responsibilities, query.responsibilities, atol=1e-12)


def test_one_token_is_its_own_state():
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 1, 2), random_block(rng, 1, 2, (2, 1))
    state = model.draw(50, seed=SEED).state
    run = block.run(state)
    npt.assert_array_equal(run.log_row, 0)
    found = posterior(model, block, QueryRowValues.of(run))
    full = posterior(model, block, FullState(state))
    npt.assert_allclose(found.responsibilities, full.responsibilities, rtol=1e-12)
    npt.assert_allclose(found.log_evidence, full.log_evidence, rtol=1e-12)
    assert sufficiency(model, block, QueryRowValues.of(run)).is_sufficient.all()


@pytest.mark.parametrize(("n_heads", "keys"), [(2, 2), (1, 1)])
def test_two_tokens_are_recovered_by_the_row_or_by_row_and_values(n_heads: int, keys: int):
    rng = np.random.default_rng(SEED)
    model = random_model(rng, 3, 2, 2)
    block = random_block(rng, 2, 2, (1,) * n_heads, keys=keys)
    state = model.draw(100, seed=SEED).state
    run = block.run(state)
    found = posterior(model, block, QueryRowValues.of(run))
    full = posterior(model, block, FullState(state))
    npt.assert_allclose(found.responsibilities, full.responsibilities, atol=1e-6)
    if n_heads == 2:  # R = 0: values add nothing
        npt.assert_array_equal(margins(found).value_rank, 0)
        row = posterior(model, block, QueryRow.of(run))
        npt.assert_allclose(found.log_responsibilities, row.log_responsibilities, atol=1e-9)


def test_duplicate_heads_with_distinct_values_are_one_head_with_both():
    rng = np.random.default_rng(SEED)
    model, one = random_model(rng, 3, 3, 3), random_block(rng, 3, 3, (3,))
    q, k, v = one.query_maps[0], one.key_maps[0], one.value_maps[0]
    two = AttentionBlock([q, q], [k, k], [v[:1], v[1:]], n_tokens=3)
    state = model.draw(50, seed=SEED).state
    merged = posterior(model, one, QueryRowValues.of(one.run(state)))
    found = posterior(model, two, QueryRowValues.of(two.run(state)))
    npt.assert_allclose(
        found.log_responsibilities, merged.log_responsibilities, atol=1e-7, rtol=1e-9
    )
    npt.assert_array_equal(margins(found).row_rank, 2)
    npt.assert_array_equal(
        margins(found).value_rank,
        margins(merged).value_rank,
    )
    assert (found.excess < 1).all()


def test_duplicate_heads_with_the_same_values_are_one_head():
    rng = np.random.default_rng(SEED)
    model, one = random_model(rng, 3, 3, 3), random_block(rng, 3, 3, (1,))
    two = AttentionBlock(
        *([m[0]] * 2 for m in (one.query_maps, one.key_maps, one.value_maps)), n_tokens=3
    )
    state = model.draw(50, seed=SEED).state
    merged = posterior(model, one, QueryRowValues.of(one.run(state)))
    found = posterior(model, two, QueryRowValues.of(two.run(state)))
    npt.assert_allclose(found.responsibilities, merged.responsibilities, atol=1e-7)
    npt.assert_array_equal(margins(found).row_rank, 2)
    npt.assert_array_equal(margins(found).value_rank, margins(merged).value_rank)


MASKS = {
    "a token hidden": np.array([True, True, True, False]),
    "target hidden": np.array([False, True, True, True]),
}


@pytest.mark.parametrize("name", [*MASKS, "rotary"])
def test_masks_and_rotary_maps_pass_the_tower_test(name: str):
    rng = np.random.default_rng(SEED)
    P, d = 4, 2
    more: dict[str, Any] = (
        {"rotations": [rotations(P, 2)]} if name == "rotary" else {"mask": MASKS[name]}
    )
    model, block = random_model(rng, 3, P, d), random_block(rng, P, d, (1,), **more)
    draws = model.draw(TOWER_DRAWS // (4 if name == "rotary" else 1), seed=SEED)
    run = block.run(draws.state)
    found = posterior(model, block, QueryRowValues.of(run))
    seen = run.log_row[:, 0, block.visible]
    features = np.hstack([run.query, seen[:, 1:] - seen[:, :1], run.values])
    test = tower_test(draws, found.responsibilities, features, noise_mean=found.noise_mean)
    assert test.worst < THRESHOLD
    assert (found.excess < 1).all()


def test_the_anchor_does_not_matter_where_the_target_is_hidden():
    """FB-28h: the independent block, with each visible token as anchor in turn."""
    rng = np.random.default_rng(SEED)
    model = random_model(rng, 3, 4, 2)
    block = random_block(rng, 4, 2, (1,), mask=MASKS["target hidden"])
    state = model.draw(1, seed=SEED).state
    found = posterior(model, block, QueryRowValues.of(block.run(state)))
    for anchor in (1, 2, 3):
        exact = oracle.exact_posterior(model, block, state[0], anchor=anchor)
        want = log_odds(np.array(exact.log_r, dtype=float))
        npt.assert_allclose(log_odds(found.log_responsibilities[0]), want, atol=1e-8)


def test_log_ratios_to_a_hidden_targets_stand_in_share_its_noise():
    """FB-28h: covariance over tokens is t^2 (I + 1 1') times |M|^2."""
    rng = np.random.default_rng(SEED)
    model = random_model(rng, 2, 4, 2)
    block = random_block(rng, 4, 2, (1,), mask=MASKS["target hidden"])
    state = model.draw(1, seed=SEED).state[0]
    F, _ = oracle.observation_map(block, state, values=False, projected=False)
    F = np.array(F.tolist(), dtype=float)
    M = block.measurement(state[0]).matrix[0, 0]
    npt.assert_allclose(F @ F.T, (np.eye(2) + np.ones((2, 2))) * (M @ M), rtol=1e-12)


def test_one_visible_token_makes_a_constant_row():
    """FB-28h: only the value of that token is seen."""
    rng = np.random.default_rng(SEED)
    model = random_model(rng, 3, 3, 2)
    block = random_block(rng, 3, 2, (2,), mask=np.array([False, False, True]))
    state = model.draw(30, seed=SEED).state
    run = block.run(state)
    npt.assert_array_equal(run.log_row[:, 0, 2], 0)
    found = posterior(model, block, QueryRowValues.of(run))
    gap = state[:, None, [0, 2]] - model.mu[:, [0, 2]]
    scores = np.log(model.masses) - (gap**2).sum((-2, -1)) / (2 * model.t**2)
    npt.assert_allclose(log_odds(found.log_responsibilities), log_odds(scores), atol=1e-9)
    row = posterior(model, block, QueryRow.of(run))
    query = posterior(model, block, QueryOnly.of(run))
    npt.assert_allclose(row.responsibilities, query.responsibilities, rtol=1e-12)


def test_duplicate_components_keep_their_masses_and_can_be_merged():
    rng = np.random.default_rng(SEED)
    clean = rng.normal(size=(2, 3, 2))
    model = CorruptionModel(clean[[0, 1, 0]], np.array([0.2, 0.5, 0.3]), 0.5)
    merged, block = model.merged(), random_block(rng, 3, 2, (1,))
    npt.assert_allclose(merged.masses, [0.5, 0.5])
    npt.assert_array_equal(merged.clean, clean)
    run = block.run(model.draw(20, seed=SEED).state)
    found = posterior(model, block, QueryRowValues.of(run))
    want = posterior(merged, block, QueryRowValues.of(run))
    r = found.responsibilities
    npt.assert_allclose(r[:, 0] + r[:, 2], want.responsibilities[:, 0], rtol=1e-12)
    npt.assert_allclose(r[:, 0] / r[:, 2], 2 / 3, rtol=1e-12)
    npt.assert_allclose(found.noise_mean, want.noise_mean, rtol=1e-12)
    npt.assert_allclose(found.log_evidence, want.log_evidence, rtol=1e-12)
    assert (unresolved_contrasts(model, block, QueryRowValues.of(run))[:, 0, 2] == 0).all()


def test_a_saturated_head_counts_what_the_data_can_carry():
    """Values of probabilities far below the rounding of the data are taken as not observed."""
    rng = np.random.default_rng(SEED)
    model = random_model(rng, 3, 3, 2)
    block = random_block(rng, 3, 2, (1,), keys=1)
    for scale in (1.0, 10.0, 30.0, 100.0, 1000.0):
        sharp = AttentionBlock(
            [scale * m for m in block.query_maps], block.key_maps, block.value_maps, n_tokens=3
        )
        state = model.draw(50, seed=SEED).state
        run = sharp.run(state)
        assert np.isfinite(run.log_row).all()
        found = posterior(model, sharp, QueryRowValues.of(run))
        for k in range(0, 50, 10):
            wanted = bool(margins(found).value_rank[k])
            exact = oracle.exact_posterior(model, sharp, state[k], values=wanted)
            error = np.abs(
                log_odds(found.log_responsibilities[k])
                - log_odds(np.array(exact.log_r, dtype=float))
            ).max()
            assert error <= found.log_odds_error[k]
    assert (margins(found).value_rank == 0).any()


def test_a_row_below_the_rounding_of_its_data_counts_as_not_observed():
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 3, 2), random_block(rng, 3, 2, (0, 0))
    state = model.draw(20, seed=SEED).state
    for scale, rank in ((1e-12, 4), (1e-17, 0), (1e-100, 0)):
        faint = AttentionBlock(
            [scale * m for m in block.query_maps], block.key_maps, block.value_maps, n_tokens=3
        )
        run = faint.run(state)
        found = posterior(model, faint, QueryRow.of(run))
        npt.assert_array_equal(margins(found).row_rank, rank)
        if rank == 0:
            query = posterior(model, faint, QueryOnly.of(run))
            npt.assert_allclose(found.responsibilities, query.responsibilities, rtol=1e-12)


def test_masses_may_be_very_unequal_and_components_very_far():
    rng = np.random.default_rng(SEED)
    clean = rng.normal(size=(3, 3, 2))
    clean[2] += 1e6
    model = CorruptionModel(clean, np.array([1 - 1e-300, 1e-300, 1e-17]), 0.5)
    block = random_block(rng, 3, 2, (1,))
    run = block.run(model.mu[0] + 0.1)
    found = posterior(model, block, QueryRowValues.of(run))
    assert np.isfinite(found.log_responsibilities).all()
    assert found.responsibilities[0] == 1
    assert found.responsibilities[2] == 0
    assert abs(found.log_responsibilities[1] + 300 * np.log(10)) < 100


def test_single_precision_rows_are_taken_at_their_precision():
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 3, 2), random_block(rng, 3, 2, (2, 2))
    run = block.run(model.draw(200, seed=SEED).state)
    exact = posterior(model, block, QueryRowValues.of(run))
    rounded = QueryRowValues(*(x.astype(np.float32) for x in run[:3]))
    found = posterior(model, block, rounded)
    assert (found.excess < 1).all()
    error = np.abs(log_odds(found.log_responsibilities) - log_odds(exact.log_responsibilities))
    assert (error.max((-2, -1)) <= found.log_odds_error).all()
    mixed = QueryRowValues(run.query, run.log_row.astype(np.float32), run.values)
    assert (posterior(model, block, mixed).excess < 1).all()
