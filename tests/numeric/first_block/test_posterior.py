"""The posterior against an independent block at 40 digits, and by the tower test."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

from numeric.first_block.block import AttentionBlock
from numeric.first_block.checks import THRESHOLD, fibre_twins, measurability_gap, tower_test
from numeric.first_block.inference import frozen_row_posterior, posterior
from numeric.first_block.model import CorruptionModel
from numeric.first_block.observations import (
    FullState,
    NoisyValues,
    QueryOnly,
    QueryRow,
    QueryRowProjected,
    QueryRowValues,
)
from tests.numeric.first_block.instances import (
    TOWER_DRAWS,
    log_odds,
    margins,
    random_block,
    random_model,
    rotations,
)
from tests.numeric.first_block.oracle import exact_posterior

SEED = 1900
KINDS = {
    "values": (QueryRowValues, {}),
    "projected": (QueryRowProjected, {"projected": True}),
    "row": (QueryRow, {"values": False}),
}


def _variants() -> dict[str, tuple[CorruptionModel, AttentionBlock]]:
    rng = np.random.default_rng(SEED)
    found = {}

    def add(name: str, n: int, P: int, d: int, sizes: tuple[int, ...], **more: Any) -> None:
        t = more.pop("t", 0.5)
        found[name] = random_model(rng, n, P, d, t), random_block(rng, P, d, sizes, **more)

    add("plain", 4, 4, 3, (2, 1), w_out=rng.normal(size=(2, 3)))
    add("more heads than coordinates", 3, 3, 2, (1, 1, 2))
    add("two tokens", 3, 2, 3, (2,), w_out=rng.normal(size=(1, 2)))
    add("one token", 3, 1, 2, (2,))
    add("low rank", 3, 3, 3, (1, 1), keys=1)
    add("many values", 3, 3, 2, (3, 2), keys=1)
    add("no values", 3, 3, 2, (0, 0))
    add("last token", 3, 3, 2, (1, 1), target=2)
    add("positions", 3, 3, 2, (1,), positions=rng.normal(size=(3, 2)), target=1)
    add(
        "biases", 3, 3, 2, (1, 2), query_biases=rng.normal(size=(2, 2)),
        key_biases=rng.normal(size=(2, 2)), value_biases=[rng.normal(size=1), rng.normal(size=2)],
    )  # fmt: skip
    add("a token hidden", 3, 4, 2, (1,), mask=np.array([True, True, False, True]))
    hidden_self = np.array([False, True, True, True])
    add("target hidden", 3, 4, 2, (1,), mask=hidden_self)
    add("target hidden, two tokens", 3, 3, 2, (1,), mask=np.array([False, True, True]))
    add("one token visible", 3, 3, 2, (1,), mask=np.array([False, True, False]))
    add("only itself visible", 3, 3, 2, (1,), mask=np.array([True, False, False]))
    turned = [rotations(4, 2)] * 2
    add("rotary", 3, 4, 3, (1, 1), rotations=turned, key_biases=rng.normal(size=(2, 2)))
    add("rotary, target hidden", 3, 4, 2, (2, 1), rotations=turned, mask=hidden_self)
    add("all at once", 3, 4, 3, (1, 2), rotations=turned, positions=rng.normal(size=(4, 3)),
        query_biases=rng.normal(size=(2, 2)), w_out=rng.normal(size=(2, 3)),
        mask=np.array([True, False, True, True]), target=2)  # fmt: skip
    add("small noise", 3, 3, 2, (1,), t=0.02)
    add("pure noise", 3, 3, 2, (1,), t=1.0)
    return found


VARIANTS = _variants()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", VARIANTS)
def test_posterior_is_that_of_the_joint_gaussian(name: str, kind: str):
    model, block = VARIANTS[name]
    observed, wanted = KINDS[kind]
    state = model.draw(2, seed=SEED).state
    found = posterior(model, block, observed.of(block.run(state)))
    for k in range(len(state)):
        exact = exact_posterior(model, block, state[k], **wanted)
        got, want = log_odds(found.log_responsibilities[k]), log_odds(_floats(exact.log_r))
        error = np.abs(got - want).max()
        assert error <= found.log_odds_error[k]
        assert error <= 1e-10 * np.maximum(1, np.abs(want)).max()
        npt.assert_allclose(
            found.noise_mean[k], _floats(exact.noise_mean), rtol=1e-10, atol=1e-10 / model.t
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", VARIANTS)
def test_log_evidence_is_the_absolute_density_of_the_observation(name: str, kind: str):
    """FB-9: including constants, wherever F has full row rank and log-ratios have an anchor."""
    model, block = VARIANTS[name]
    observed, wanted = KINDS[kind]
    state = model.draw(1, seed=SEED).state
    found = posterior(model, block, observed.of(block.run(state)))
    exact = exact_posterior(model, block, state[0], **wanted)
    n, rank = exact.F.rows, int(margins(found).row_rank[0] + margins(found).value_rank[0])
    if rank < n:
        return  # a density on a support of its own: see below
    # Contrasts in place of log-ratios to an anchor: a unit of volume n^(1/2) for each head.
    visible = int(block.visible.sum())
    share = 0 if block.visible[block.target] else block.n_heads * np.log(visible) / 2
    assert abs(found.log_evidence[0] - share - float(exact.log_evidence)) < 1e-9 / model.t


def test_evidence_on_a_singular_support_is_that_in_orthonormal_coordinates():
    """FB-4: log density of each factor against coordinates of its own support."""
    model, block = VARIANTS["many values"]
    run = block.run(model.draw(1, seed=SEED).state)
    found = posterior(model, block, QueryRowValues.of(run))
    c, row = run.query[0], np.exp(run.log_row[0])
    M = block.measurement(c).matrix[0]
    total = np.log(model.masses) - ((c - model.mu[:, 0]) ** 2).sum(-1) / (2 * model.t**2)
    total = total - np.log(2 * np.pi * model.t**2)
    left, sizes, right = np.linalg.svd(M)
    rank = int((sizes > 1e-12).sum())
    P_ker = right[rank:].T @ right[rank:]
    ratios = (run.log_row[0][:, 1:] - run.log_row[0][:, :1]).T
    D = row[block.head_of_value, 1:, None] * block.value_map[:, None, :]
    G = (D @ P_ker).reshape(len(D), -1)
    u, s, _ = np.linalg.svd(G)
    r = int((s > 1e-12).sum())
    for n in range(model.n_components):
        for j in range(2):
            x = left[:, :rank].T @ (ratios[j] - M @ (model.mu[n, j + 1] - c))
            total[n] -= (x**2 / sizes[:rank] ** 2).sum() / (2 * model.t**2)
            total[n] -= np.log(sizes[:rank]).sum() + rank * np.log(2 * np.pi * model.t**2) / 2
        m = model.mu[n, 1:] @ P_ker + (ratios + M @ c) @ np.linalg.pinv(M).T
        nu = row[block.head_of_value, 0] * (block.value_map @ c) + np.einsum("vjd,jd->v", D, m)
        x = u[:, :r].T @ (run.values[0] - nu)
        total[n] -= (x**2 / s[:r] ** 2).sum() / (2 * model.t**2)
        total[n] -= np.log(s[:r]).sum() + r * np.log(2 * np.pi * model.t**2) / 2
    want = np.logaddexp.reduce(total)
    assert r < len(s)
    assert abs(found.log_evidence[0] - want) < 1e-9


TOWERS = {
    "P=4 d=3 H=2": (4, 3, (1, 1)),
    "P=3 d=2 H=3": (3, 2, (2, 1, 1)),
    "P=2 d=3 H=1": (2, 3, (1,)),
}


@pytest.mark.parametrize("shape", TOWERS)
def test_posterior_and_noise_mean_pass_the_tower_test(shape: str):
    """FB-5..9, with the true nonlinear observation; projected values with the row retained."""
    P, d, sizes = TOWERS[shape]
    rng = np.random.default_rng(SEED + P)
    w_out = rng.normal(size=(1, sum(sizes)))
    model, block = random_model(rng, 3, P, d), random_block(rng, P, d, sizes, w_out=w_out)
    draws = model.draw(TOWER_DRAWS, seed=SEED)
    run = block.run(draws.state)
    ratios = _ratios(block, run.log_row)
    for observation, more in (
        (QueryRowValues.of(run), run.values),
        (QueryRowProjected.of(run), run.output),
        (QueryRow.of(run), ratios),
    ):
        found = posterior(model, block, observation)
        features = np.hstack([run.query, ratios, more])
        test = tower_test(draws, found.responsibilities, features, noise_mean=found.noise_mean)
        assert test.worst < THRESHOLD
        assert (found.excess < 1).all()


def test_full_state_and_query_alone_pass_the_tower_test():
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 3, 2), random_block(rng, 3, 2, (1,))
    draws = model.draw(TOWER_DRAWS, seed=SEED)
    flat = draws.state.reshape(TOWER_DRAWS, -1)
    for observation, features in (
        (FullState(draws.state), flat),
        (QueryOnly(draws.state[:, 0]), draws.state[:, 0]),
    ):
        found = posterior(model, block, observation)
        test = tower_test(draws, found.responsibilities, features, noise_mean=found.noise_mean)
        assert test.worst < THRESHOLD


def test_frozen_row_fails_the_tower_test():
    """FB-5..9 control, with V_tot < (P-1) d."""
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 4, 3), random_block(rng, 4, 3, (1, 1))
    draws = model.draw(TOWER_DRAWS, seed=SEED)
    run = block.run(draws.state)
    found = frozen_row_posterior(model, block, QueryRowValues.of(run))
    features = np.hstack([run.query, _ratios(block, run.log_row), run.values])
    assert tower_test(draws, found.responsibilities, features).worst > 6


def test_noisy_values_pass_the_tower_test():
    """FB-29b: noise on the values, the row exact."""
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 3, 3), random_block(rng, 3, 3, (2,), keys=1)
    draws = model.draw(TOWER_DRAWS, seed=SEED)
    run = block.run(draws.state)
    values = run.values + 0.3 * rng.standard_normal(run.values.shape)
    found = posterior(model, block, NoisyValues(run.query, run.log_row, values, 0.3))
    features = np.hstack([run.query, _ratios(block, run.log_row), values])
    test = tower_test(draws, found.responsibilities, features, noise_mean=found.noise_mean)
    assert test.worst < THRESHOLD
    wrong = posterior(
        model, block, QueryRowValues(run.query, run.log_row, values), off_support="flag"
    )
    assert tower_test(draws, wrong.responsibilities, features).worst > 6


def test_noisy_values_are_the_soft_projector():
    """FB-29: ``F'(F F' + diag(0, eta^2/t^2))^+ F``, and its evidence."""
    model, block = VARIANTS["plain"]
    run = block.run(model.draw(1, seed=SEED).state)
    noise, t = 0.2, model.t
    found = posterior(model, block, NoisyValues(run.query, run.log_row, run.values, noise))
    exact = exact_posterior(model, block, model.draw(1, seed=SEED).state[0])
    F = _floats(exact.F.tolist())
    n_row = 3 * block.n_heads
    cov = t**2 * F @ F.T + np.diag([0.0] * n_row + [noise**2] * 3)
    c, row = run.query[0], np.exp(run.log_row[0])
    M = block.measurement(c).matrix[0]
    ratios = run.log_row[0][:, 1:] - run.log_row[0][:, :1]
    own = row[block.head_of_value, 0] * (block.value_map @ c)
    b = np.concatenate([(ratios + (M @ c)[:, None]).ravel(), run.values[0] - own])
    gap = b - model.mu[:, 1:].reshape(model.n_components, -1) @ F.T
    scores = (
        np.log(model.masses)
        - ((c - model.mu[:, 0]) ** 2).sum(-1) / (2 * t**2)
        - np.einsum("nk,nk->n", gap, np.linalg.solve(cov, gap.T).T) / 2
    )
    npt.assert_allclose(
        log_odds(found.log_responsibilities[0]), log_odds(scores), rtol=1e-10, atol=1e-10
    )
    size = np.linalg.slogdet(2 * np.pi * cov)[1] / 2 + 3 / 2 * np.log(2 * np.pi * t**2)
    assert abs(found.log_evidence[0] - np.logaddexp.reduce(scores) + size) < 1e-10


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", VARIANTS)
def test_states_with_the_same_observation_get_the_same_posterior(name: str, kind: str):
    """The measurability test, with the full state's posterior as the leak that it must see."""
    model, block = VARIANTS[name]
    observed = KINDS[kind][0]
    state = model.draw(20, seed=SEED).state
    twins = fibre_twins(model, block, state, observed, seed=1)
    left, right = observed.of(block.run(state)), observed.of(block.run(twins))
    scale = 1 + np.abs(left.log_row[..., block.visible]).max()
    seen = block.visible
    npt.assert_allclose(
        left.log_row[..., seen], right.log_row[..., seen], atol=1e-13 * scale / model.t
    )
    gap = measurability_gap(
        lambda z: posterior(model, block, observed.of(block.run(z))).responsibilities, state, twins
    )
    assert gap < 1e-8
    moved = np.abs(twins - state).max()
    leak = measurability_gap(
        lambda z: posterior(model, block, FullState(z)).responsibilities, state, twins
    )
    assert leak > 1e-3 or moved < 1e-9 or model.t in (0.02, 1)  # saturated, or nothing to tell


def test_frozen_row_is_the_projection_on_the_values_alone():
    for name in ("plain", "target hidden", "rotary", "positions", "many values"):
        model, block = VARIANTS[name]
        state = model.draw(2, seed=SEED).state
        found = frozen_row_posterior(model, block, QueryRowValues.of(block.run(state)))
        for k in range(2):
            exact = exact_posterior(model, block, state[k], rows=False)
            npt.assert_allclose(
                log_odds(found.log_responsibilities[k]), log_odds(_floats(exact.log_r)),
                rtol=1e-10, atol=1e-10,
            )  # fmt: skip


def test_batches_of_blocks_and_of_observations_broadcast():
    rng = np.random.default_rng(SEED)
    model = random_model(rng, 3, 3, 2)
    maps = [rng.normal(size=(4, 1, 2, 2)) for _ in range(3)]
    w_out = rng.normal(size=(4, 1, 1, 2))
    many = AttentionBlock(*([m] for m in maps), n_tokens=3, w_out=w_out)
    state = model.draw(5, seed=SEED).state
    run = many.run(state)
    assert run.values.shape == (4, 5, 2)
    query = np.broadcast_to(run.query, (4, 5, 2))
    whole = posterior(model, many, QueryRowValues(query, run.log_row, run.values))
    output = posterior(model, many, QueryRowProjected(query, run.log_row, run.output))
    for b in range(4):
        one = AttentionBlock(*([m[b, 0]] for m in maps), n_tokens=3, w_out=w_out[b, 0])
        alone = posterior(model, one, QueryRowValues.of(one.run(state)))
        npt.assert_allclose(whole.responsibilities[b], alone.responsibilities, atol=1e-12)
        npt.assert_allclose(whole.log_evidence[b], alone.log_evidence, rtol=1e-12)
        alone = posterior(model, one, QueryRowProjected.of(one.run(state)))
        npt.assert_allclose(output.responsibilities[b], alone.responsibilities, atol=1e-12)


@pytest.mark.parametrize("batch", [(), (1,), (4, 2), (0,), (2, 0)])
def test_batch_shapes(batch: tuple[int, ...]):
    model, block = VARIANTS["plain"]
    count = int(np.prod(batch))
    state = model.draw(count, seed=SEED).state.reshape(*batch, 4, 3)
    run = block.run(state)
    observations = (
        FullState(state), QueryOnly.of(run), QueryRow.of(run), QueryRowValues.of(run),
        QueryRowProjected.of(run),
    )  # fmt: skip
    for observation in observations:
        found = posterior(model, block, observation)
        assert found.responsibilities.shape == (*batch, 4)
        assert found.noise_mean.shape == (*batch, 3)
        assert found.log_evidence.shape == found.excess.shape == found.log_odds_error.shape == batch
        npt.assert_allclose(found.responsibilities.sum(-1), 1)


def test_slices_do_not_show(monkeypatch: pytest.MonkeyPatch):
    model, block = VARIANTS["plain"]
    observation = QueryRowValues.of(block.run(model.draw(50, seed=SEED).state))
    whole = posterior(model, block, observation)
    monkeypatch.setattr("numeric.first_block.slices.SLICE_NUMBERS", 1)
    cut = posterior(model, block, observation)
    npt.assert_allclose(cut.log_responsibilities, whole.log_responsibilities, rtol=1e-12)
    npt.assert_array_equal(margins(cut).value_rank, margins(whole).value_rank)


def _ratios(block: AttentionBlock, log_row: np.ndarray) -> np.ndarray:
    seen = log_row[..., block.visible]
    return (seen[..., 1:] - seen[..., :1]).reshape(len(log_row), -1)


def _floats(numbers: Any) -> np.ndarray:
    return np.array(numbers, dtype=float)
