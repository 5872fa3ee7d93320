"""The corruption law and the block's own run."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest

from numeric.first_block import AttentionBlock, CorruptionModel
from tests.numeric.first_block import oracle
from tests.numeric.first_block.test_posterior import VARIANTS

SEED = 100


def test_draws_follow_the_corruption_law():
    """FB-1, and the same seed gives the same draws."""
    rng = np.random.default_rng(SEED)
    model = CorruptionModel(rng.normal(size=(3, 2, 2)), np.array([0.2, 0.3, 0.5]), 0.3)
    draws = model.draw(50_000, seed=1)
    npt.assert_allclose(draws.state, 0.7 * model.clean[draws.label] + 0.3 * draws.noise, atol=1e-15)
    frequency = np.bincount(draws.label, minlength=3) / 50_000
    assert (np.abs(frequency - model.masses) < 4.5 * np.sqrt(0.25 / 50_000)).all()
    assert abs(draws.noise.mean()) < 4.5 / np.sqrt(draws.noise.size)
    assert abs(draws.noise.var() - 1) < 4.5 * np.sqrt(2 / draws.noise.size)
    npt.assert_array_equal(model.draw(50_000, seed=1).state, draws.state)
    assert not np.array_equal(model.draw(50_000, seed=2).state, draws.state)


def test_the_model_can_not_be_changed_behind_its_back():
    clean = np.zeros((1, 2, 1))
    model = CorruptionModel(clean, np.ones(1), 0.5)
    clean[:] = 7
    assert (model.clean == 0).all()
    with pytest.raises(ValueError, match="read-only"):
        model.clean[0, 0, 0] = 1.0


def test_merging_adds_masses_in_the_order_of_first_appearance():
    clean = np.array([3.0, 1.0, 3.0, 2.0, 1.0]).reshape(5, 1, 1)
    merged = CorruptionModel(clean, np.array([0.1, 0.2, 0.3, 0.25, 0.15]), 0.5).merged()
    npt.assert_array_equal(merged.clean.ravel(), [3, 1, 2])
    npt.assert_allclose(merged.masses, [0.4, 0.35, 0.25])


@pytest.mark.parametrize("name", VARIANTS)
def test_a_run_is_attention_as_it_is_defined(name: str):
    model, block = VARIANTS[name]
    state = model.draw(1, seed=SEED).state[0]
    run = block.run(state)
    tokens = [oracle.matrix(z) for z in state]
    rows = [oracle.row_of(block, h, tokens, tokens[block.target]) for h in range(block.n_heads)]
    npt.assert_allclose(np.exp(run.log_row), np.array(rows, dtype=float), rtol=1e-12)
    values = oracle.values_of(block, rows, tokens)
    npt.assert_allclose(run.values, np.array(values, dtype=float), rtol=1e-12, atol=1e-13)
    if block.w_out is not None:
        npt.assert_allclose(run.output, block.w_out @ run.values, rtol=1e-14)
    npt.assert_array_equal(run.query, state[block.target])


@pytest.mark.parametrize("name", VARIANTS)
def test_log_ratios_are_the_measurement_of_the_tokens(name: str):
    """FB-5 (6): log s_hj / s_hk = M_j z_j - M_k z_k up to known offsets; the row from them."""
    model, block = VARIANTS[name]
    state = model.draw(7, seed=SEED).state
    run = block.run(state)
    law = block.measurement(run.query)
    logits = (law.matrix @ state[..., None])[..., 0] + law.offset  # (7, P, H)
    seen = block.visible
    want = logits[:, seen] - logits[:, seen][:, :1]
    got = np.swapaxes(run.log_row[..., seen] - run.log_row[..., seen][..., :1], -1, -2)
    npt.assert_allclose(got, want, atol=1e-9)
    rebuilt = np.exp(want) / np.exp(want).sum(axis=-2, keepdims=True)
    npt.assert_allclose(rebuilt, np.swapaxes(np.exp(run.log_row[..., seen]), -1, -2), rtol=1e-9)


def test_a_key_bias_cancels_without_rotary_maps_and_not_with_them():
    name = "rotary"
    model, block = VARIANTS[name]
    state = model.draw(1, seed=SEED).state
    plain = AttentionBlock(
        block.query_maps, block.key_maps, block.value_maps, n_tokens=block.n_tokens
    )
    biased = AttentionBlock(
        block.query_maps, block.key_maps, block.value_maps, n_tokens=block.n_tokens,
        key_biases=block.key_biases,
    )  # fmt: skip
    npt.assert_allclose(biased.run(state).log_row, plain.run(state).log_row, atol=1e-13)
    turned = AttentionBlock(
        block.query_maps, block.key_maps, block.value_maps, n_tokens=block.n_tokens,
        rotations=block.rotations,
    )  # fmt: skip
    assert np.abs(block.run(state).log_row - turned.run(state).log_row).max() > 1e-3
