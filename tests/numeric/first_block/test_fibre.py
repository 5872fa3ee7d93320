"""What is left open: the fibre, the zero-one law, sufficiency, grouping (FB-10, 13, 13b, 16)."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import numpy.testing as npt
import pytest
from mpmath import mp, mpf

from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    FullState,
    QueryRow,
    QueryRowProjected,
    QueryRowValues,
    grouping,
    posterior,
    sufficiency,
    unresolved_contrasts,
    zero_one_law,
)
from numeric.first_block.fibre import resolutions
from tests.numeric.first_block import oracle
from tests.numeric.first_block.instances import random_block, random_model
from tests.numeric.first_block.test_posterior import KINDS, VARIANTS

SEED = 1300
E1 = np.array([[1.0, 0.0]])


def first_coordinate_block(n_tokens: int, **more: Any) -> AttentionBlock:
    """K = V = (1, 0): row and value see the first coordinate alone."""
    return AttentionBlock([np.array([[0.6, -1.1]])], [E1], [E1], n_tokens=n_tokens, **more)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", VARIANTS)
def test_unresolved_contrasts_are_those_of_the_independent_block(name: str, kind: str):
    model, block = VARIANTS[name]
    observed, wanted = KINDS[kind]
    state = model.draw(1, seed=SEED).state
    found = unresolved_contrasts(model, block, observed.of(block.run(state)))[0]
    exact = oracle.exact_posterior(model, block, state[0], **wanted)
    n = model.n_components
    want = np.array([[float(exact.open_contrasts[a, b]) for b in range(n)] for a in range(n)])
    npt.assert_allclose(found, want, atol=1e-11 / model.t)


def test_variance_of_the_full_log_odds_is_the_squared_contrast_whatever_the_component():
    """FB-13c by sampling the fibre's law, for every component k."""
    model, block = VARIANTS["plain"]
    draws, count = model.draw(1, seed=SEED), 20_000
    observation = QueryRowValues.of(block.run(draws.state))
    ((_, _, found),) = resolutions(model, block, observation)
    want = unresolved_contrasts(model, block, observation)[0] ** 2
    mu = model.mu[:, 1:]
    noise = np.random.default_rng(SEED).standard_normal((count, *mu.shape[1:]))
    for k in range(model.n_components):
        move = mu[k] + model.t * noise
        move = move - found.pinned(move[None])[0]
        state = np.repeat(draws.state, count, axis=0)
        state[:, 1:] = found.fibre_point() + move
        log_r = posterior(model, block, FullState(state)).log_responsibilities
        for n in range(1, model.n_components):
            variance = (log_r[:, 0] - log_r[:, n]).var(ddof=1)
            z = (variance / want[0, n] - 1) / np.sqrt(2 / (count - 1))
            assert abs(z) < 4.5


def test_posterior_is_the_full_one_where_all_contrasts_are_resolved():
    """FB-13: P=3, d=2, H=1, contrasts along e1."""
    rng = np.random.default_rng(SEED)
    block = first_coordinate_block(3)
    clean = rng.normal(size=(3, 3, 2))
    clean[:, 1:, 1] = clean[0, 1:, 1]
    model = CorruptionModel(clean, np.array([0.2, 0.3, 0.5]), 0.5)
    state = model.draw(200, seed=SEED).state
    found = posterior(model, block, QueryRowValues.of(block.run(state)))
    full = posterior(model, block, FullState(state))
    npt.assert_allclose(found.responsibilities, full.responsibilities, atol=1e-9)
    assert sufficiency(model, block, QueryRowValues.of(block.run(state))).is_sufficient.all()


def test_posterior_is_another_one_where_a_contrast_is_not_resolved():
    """FB-13, controlled failure: a difference along e2 in one token, and its loss is 1.69."""
    clean = np.zeros((2, 3, 2))
    clean[1, 1, 1] = 1.3
    model = CorruptionModel(clean, np.array([0.5, 0.5]), 0.5)
    block = first_coordinate_block(3)
    state = model.draw(500, seed=SEED).state
    observation = QueryRowValues.of(block.run(state))
    verdict = sufficiency(model, block, observation)
    assert not verdict.is_sufficient.any()
    npt.assert_allclose(verdict.worst_contrast**2, 1.69, rtol=1e-12)
    npt.assert_allclose(verdict.worst_share, 1, rtol=1e-12)
    gap = posterior(model, block, observation).responsibilities
    gap = gap - posterior(model, block, FullState(state)).responsibilities
    assert np.abs(gap).mean() >= 2e-2


def test_a_value_resolves_what_a_row_of_rank_one_leaves_open():
    """FB-13: P=2, V=(1, 0.7)."""
    rng = np.random.default_rng(SEED)
    model = random_model(rng, 3, 2, 2)
    block = AttentionBlock([np.array([[0.6, -1.1]])], [E1], [np.array([[1.0, 0.7]])], n_tokens=2)
    state = model.draw(200, seed=SEED).state
    run = block.run(state)
    full = posterior(model, block, FullState(state))
    found = posterior(model, block, QueryRowValues.of(run))
    npt.assert_allclose(found.responsibilities, full.responsibilities, atol=1e-8)
    assert sufficiency(model, block, QueryRowValues.of(run)).is_sufficient.all()
    assert not sufficiency(model, block, QueryRow.of(run)).is_sufficient.any()


def test_zero_one_law_over_models():
    """FB-13b: 120 models, 12 observations each, ranks and verdicts never differ."""
    rng = np.random.default_rng(SEED)
    seen = set()
    for k in range(120):
        P, d, n_heads = (int(x) for x in rng.integers([2, 1, 1], [5, 4, 4]))
        sizes = tuple(int(v) for v in rng.integers(0, 3, n_heads))
        model = random_model(rng, 2, P, d)
        if k % 2:  # contrasts in one direction of one token, resolved or not
            clean = np.repeat(model.clean[:1], 2, axis=0)
            clean[1, -1, -1] += 1.0
            model = CorruptionModel(clean, model.masses, model.t)
        block = random_block(rng, P, d, sizes, keys=int(rng.integers(1, 3)))
        run = block.run(model.draw(12, seed=k).state)
        verdict = sufficiency(model, block, QueryRowValues.of(run))
        assert verdict.agrees
        seen.add(bool(verdict.is_sufficient[0]))
        assert k % 10 or zero_one_law(model, block, QueryRowValues, seed=k).agrees
    assert seen == {True, False}


def test_a_rank_tolerance_at_fault_is_seen_by_the_zero_one_law():
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 2, 3, 2), random_block(rng, 3, 2, (2, 2))
    assert zero_one_law(model, block, QueryRowValues, seed=0).agrees
    run = block.run(model.draw(200, seed=0).state)
    assert not sufficiency(model, block, QueryRowValues.of(run), rank_tol=0.3).agrees


def test_generic_rank():
    """FB-13b: (P-1) rho + sum_h min(v_h, d-rho), for H <= P-1."""
    rng = np.random.default_rng(SEED)
    for k in range(60):
        P, d, n_heads = (int(x) for x in rng.integers([2, 1, 1], [6, 6, 4]))
        n_heads = min(n_heads, P - 1)
        sizes = tuple(int(v) for v in rng.integers(0, 4, n_heads))
        model, block = random_model(rng, 2, P, d), random_block(rng, P, d, sizes)
        margins = sufficiency(
            model, block, QueryRowValues.of(block.run(model.draw(3, seed=k).state))
        ).margins
        rho = min(n_heads, d)
        want = (P - 1) * rho + sum(min(v, d - rho) for v in sizes)
        assert (margins.row_rank + margins.value_rank == want).all()


def test_a_saturated_row_is_no_lost_rank():
    """FB-13b, numerics: probabilities of 1e-9 count, since rows are normalized first."""
    model = random_model(np.random.default_rng(SEED), 2, 3, 2)
    big = np.array([[1.0, 0.0]])
    block = AttentionBlock([20 * E1], [big], [np.eye(2)], n_tokens=3)
    state = model.draw(1, seed=SEED).state
    state[0, :, 0] = [1.0, 0.0, -0.2]
    run = block.run(state)
    assert np.exp(run.log_row[0, 0, 1]) < 1e-8
    margins = sufficiency(model, block, QueryRowValues.of(run)).margins
    assert margins.row_rank[0] == 2
    assert margins.value_rank[0] == 1
    assert (posterior(model, block, QueryRowValues.of(run)).excess < 1).all()
    exact = oracle.exact_posterior(model, block, state[0])
    found = posterior(model, block, QueryRowValues.of(run))
    got = found.log_responsibilities[0, 0] - found.log_responsibilities[0, 1]
    assert abs(got - float(exact.log_r[0] - exact.log_r[1])) <= found.log_odds_error[0]


@pytest.mark.parametrize("shape", [(2, 3, (1,)), (3, 2, (1,)), (2, 2, (1,))])
def test_the_observation_has_the_gram_determinant_of_f(shape: tuple[int, int, tuple[int, ...]]):
    """FB-10: the nonlinear observation's derivative, by complex steps and by finite differences."""
    P, d, sizes = shape
    rng = np.random.default_rng(SEED + P + d)
    model = CorruptionModel(rng.normal(size=(1, P, d)), np.ones(1), 0.5)
    block = random_block(rng, P, d, sizes)
    state = model.draw(1, seed=SEED).state[0]
    with mp.workdps(oracle.DIGITS):
        F, _ = oracle.observation_map(block, state, values=True, projected=False)
        log_f = mpmath.log(mpmath.det(F * F.T)) / 2
        J = _jacobian(block, state, lambda f, x: mpmath.im(f(x + mpf(10) ** -30 * 1j)) * 10**30)
        by_steps = mpmath.log(mpmath.det(J * J.T)) / 2
        assert abs(by_steps - log_f) < 1e-13
        h = mpf(10) ** -6
        J = _jacobian(block, state, lambda f, x: (f(x + h) - f(x - h)) / (2 * h))
        assert abs(mpmath.log(mpmath.det(J * J.T)) / 2 - log_f) < 1e-6
    if F.rows == F.cols:  # invertible: the density is the state's by the derivative's determinant
        found = posterior(model, block, QueryRowValues.of(block.run(state)))
        gap = (state - model.mu[0]).ravel()
        size = len(gap) * np.log(2 * np.pi * model.t**2) / 2
        want = -gap @ gap / (2 * model.t**2) - size - float(log_f)
        assert abs(found.log_evidence - want) < 1e-10


def _jacobian(block: AttentionBlock, state: np.ndarray, derivative: Any) -> Any:
    """Of log-ratios and values by the other tokens, by a rule for functions of one number."""
    start = [oracle.matrix(z) for z in state]

    def observed(tokens: list[Any]) -> list[Any]:
        rows = [oracle.row_of(block, h, tokens, tokens[block.target]) for h in range(block.n_heads)]
        ratios = [mpmath.log(row[j] / row[0]) for row in rows for j in range(1, len(row))]
        return ratios + oracle.values_of(block, rows, tokens)

    columns = []
    for j in range(1, len(state)):
        for a in range(block.width):

            def at(x: Any, k: int, j: int = j, a: int = a) -> Any:
                tokens = [z.copy() for z in start]
                tokens[j][a] = x
                return observed(tokens)[k]

            count = len(observed(start))
            columns.append([derivative(lambda x, k=k: at(x, k), start[j][a]) for k in range(count)])
    return mpmath.matrix(columns).T


def test_noise_mean_survives_where_groups_agree_though_the_posterior_does_not():
    """FB-16 (ii): four components, the smallest case of almost sure equality."""
    pairs = [(u, w) for u in (-1.0, 1.0) for w in (0.0, 1.0)]
    clean = np.array([[[u, u / 2], [0.7 * u, 2 * w]] for u, w in pairs])
    prior = np.array([0.3 * 0.6, 0.3 * 0.4, 0.7 * 0.6, 0.7 * 0.4])
    model, block = CorruptionModel(clean, prior, 0.5), first_coordinate_block(2)
    state = model.draw(500, seed=SEED).state
    observation = QueryRowValues.of(block.run(state))
    found, full = posterior(model, block, observation), posterior(model, block, FullState(state))
    npt.assert_allclose(found.noise_mean, full.noise_mean, atol=1e-9)
    assert np.abs(found.responsibilities - full.responsibilities).mean() >= 5e-2
    groups = grouping(model, block, observation)
    assert groups.means_preserved.all()
    assert (groups.gap <= 1e-9).all()
    npt.assert_array_equal(groups.group, np.tile([0, 1, 0, 1], (500, 1)))


def three_in_a_line() -> tuple[CorruptionModel, AttentionBlock]:
    """FB-16 (iii)."""
    clean = np.array([[[-2.0, 0], [0, 2]], [[0, 0], [0, 0]], [[2, 0], [0, 2]]])
    return CorruptionModel(clean, np.full(3, 1 / 3), 0.5), first_coordinate_block(2)


def test_three_components_agree_at_a_point_and_nowhere_near_it():
    """FB-16 (i), (iii): the gap of the means vanishes at c_1 = 0 alone on a line of 201 points."""
    model, block = three_in_a_line()
    line = np.linspace(-1, 1, 201)
    state = np.zeros((201, 2, 2))
    state[:, 0, 0], state[:, 0, 1], state[:, 1] = line, 0.3, (0.4, 0.9)
    observation = QueryRowValues.of(block.run(state))
    found, full = posterior(model, block, observation), posterior(model, block, FullState(state))
    gap = np.linalg.norm(found.noise_mean - full.noise_mean, axis=-1)
    assert gap[100] < 1e-12
    assert (np.delete(gap, 100) > 1e-6).all()
    assert np.abs(found.responsibilities[100] - full.responsibilities[100]).sum() > 5e-2
    groups = grouping(model, block, observation)
    npt.assert_array_equal(groups.means_preserved, line == 0)
    draws = model.draw(2000, seed=SEED).state
    seen = posterior(model, block, QueryRowValues.of(block.run(draws))).noise_mean
    gap = seen - posterior(model, block, FullState(draws)).noise_mean
    assert np.linalg.norm(gap, axis=-1).mean() >= 1e-3


def test_grouping_of_a_sufficient_observation_has_one_group():
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 3, 2), random_block(rng, 3, 2, (1, 1))
    found = grouping(model, block, QueryRowValues.of(block.run(model.draw(5, seed=SEED).state)))
    assert (found.group == 0).all()
    assert found.means_preserved.all()
    assert (found.gap == 0).all()


def test_projected_values_resolve_no_more_than_values():
    rng = np.random.default_rng(SEED)
    w_out = rng.normal(size=(1, 3))
    model, block = random_model(rng, 3, 3, 3), random_block(rng, 3, 3, (2, 1), w_out=w_out)
    run = block.run(model.draw(20, seed=SEED).state)
    tables = [
        unresolved_contrasts(model, block, kind.of(run))
        for kind in (QueryRowValues, QueryRowProjected, QueryRow)
    ]
    assert (tables[0] <= tables[1] + 1e-12).all()
    assert (tables[1] <= tables[2] + 1e-12).all()
