"""The first block against the algorithms of `numeric` that know nothing of it (FB-2 to FB-12)."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest
from scipy.stats import multivariate_normal

from numeric import (
    condition,
    condition_on_log_ratios,
    fibre_posterior,
    fibre_system,
    fixed_row_posterior,
    log_density,
    log_ratio_law,
    measurement_matrix,
    row_log_density,
    value_law,
)
from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    FullState,
    QueryOnly,
    QueryRow,
    QueryRowValues,
    fibre_twins,
    posterior,
    row_stability,
    tower_test,
)
from numeric.first_block.checks import THRESHOLD
from numeric.first_block.fibre import resolutions
from tests.numeric.first_block.instances import (
    TOWER_DRAWS,
    log_odds,
    random_block,
    random_model,
)

SEED = 200


def stacked(block: AttentionBlock) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, key and value maps with the heads as an axis; all heads alike."""
    return tuple(np.stack(list(m)) for m in (block.query_maps, block.key_maps, block.value_maps))  # type: ignore[return-value]


def setting(P: int = 4, d: int = 3, sizes: tuple[int, ...] = (1, 1), **more):
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, P, d), random_block(rng, P, d, sizes, **more)
    return model, block, model.draw(50, seed=SEED)


def ratios_of(run) -> np.ndarray:
    """Log-ratios to the first token, ``(*batch, P-1, H)``."""
    return np.swapaxes(run.log_row[..., 1:] - run.log_row[..., :1], -1, -2)


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2, 2), (3,)])
def test_posterior_is_that_of_the_dense_fibre_system(sizes: tuple[int, ...]):
    model, block, draws = setting(sizes=sizes)
    run = block.run(draws.state)
    queries, keys, values = stacked(block)
    M = measurement_matrix(run.query, queries, keys)
    npt.assert_allclose(M, block.measurement(run.query).matrix[:, 0], rtol=1e-12, atol=1e-14)
    system = fibre_system(
        ratios_of(run), M, run.query, V=values,
        values=run.values.reshape(50, block.n_heads, sizes[0]),
    )  # fmt: skip
    want = fibre_posterior(
        model.masses, model.mu[:, 0], model.mu[:, 1:], run.query, system, model.t
    )
    found = posterior(model, block, QueryRowValues.of(run))
    npt.assert_allclose(found.responsibilities, want, atol=1e-9)


def test_fibre_is_the_generic_conditioning_of_the_joint_gaussian():
    """FB-5..9 (8): token means and covariances; FB-13b with values."""
    model, block, draws = setting()
    run = block.run(draws.state[:1])
    ((_, _, found),) = resolutions(model, block, QueryRow.of(run))
    c, t = run.query[0], model.t
    M = block.measurement(c).matrix[0]
    ratios = ratios_of(run)[0]
    F = np.kron(np.eye(3), M)
    b = (ratios + M @ c).ravel()
    identity = np.eye(9)
    for n in range(3):
        mu = model.mu[n, 1:]
        mean = np.concatenate([mu.ravel(), F @ mu.ravel()])
        cov = t**2 * np.block([[identity, F.T], [F, F @ F.T]])
        want, want_cov = condition(mean, cov, np.arange(9, 9 + len(F)), b)
        by_token = condition_on_log_ratios(mu, c, ratios, M, t)
        got = found.fibre_point()[0] + mu - found.pinned(mu[None, None])[0, 0]
        npt.assert_allclose(got.ravel(), want, atol=1e-6)
        npt.assert_allclose(got, by_token.mean, atol=1e-10)
        kernel = identity.reshape(9, 3, 3) - found.pinned(identity.reshape(1, 9, 3, 3))[0]
        npt.assert_allclose(t**2 * kernel.reshape(9, 9), want_cov, atol=1e-7)
        npt.assert_allclose(want_cov, np.kron(np.eye(3), by_token.cov[0]), atol=1e-7)


def test_evidence_is_the_chain_of_the_laws_and_on_the_simplex_that_of_the_row():
    """FB-9 chain of FB-6 and FB-8, FB-11 (the Jacobian is common to all components)."""
    model, block, draws = setting()
    run = block.run(draws.state)
    queries, keys, values = stacked(block)
    M, c, ratios, t = (
        measurement_matrix(run.query, queries, keys),
        run.query,
        ratios_of(run),
        model.t,
    )
    scores, of_row = [], []
    for mu, mass in zip(model.mu, model.masses, strict=True):
        own = log_density(c, mu[0], t**2 * np.eye(3))
        law = log_ratio_law(mu[1:], c[:, None], M[:, None], t)
        seen = log_density(ratios, law.mean, law.cov).sum(-1)
        told = value_law(mu[1:], c, ratios, M, values, t)
        scores.append(np.log(mass) + own + seen + log_density(run.values, told.mean, told.cov))
        of_row.append(np.log(mass) + own + row_log_density(ratios, mu[1:], c, M, t))
    found = posterior(model, block, QueryRowValues.of(run))
    npt.assert_allclose(found.log_evidence, np.logaddexp.reduce(scores), rtol=1e-9)
    want = np.stack(scores, axis=-1)
    npt.assert_allclose(log_odds(found.log_responsibilities), log_odds(want), rtol=1e-6, atol=1e-6)
    row = posterior(model, block, QueryRow.of(run))
    jacobian = -run.log_row.sum(axis=(-2, -1))
    npt.assert_allclose(row.log_evidence + jacobian, np.logaddexp.reduce(of_row), rtol=1e-9)


def test_evidence_integrates_to_one_over_query_and_row():
    """P = 2, d = 1: the density of (c, l) over the plane."""
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 2, 2, 1), random_block(rng, 2, 1, (1,))
    c, z = np.meshgrid(np.linspace(-6, 6, 600), np.linspace(-6, 6, 600), indexing="ij")
    state = np.stack([c, z], axis=-1)[..., None]
    run = block.run(state)
    density = np.exp(posterior(model, block, QueryRow.of(run)).log_evidence)
    slope = np.abs(block.measurement(run.query).matrix[..., 0, 0, 0])  # dl = |M| dz
    total = (density * slope).sum() * (12 / 599) ** 2
    assert abs(total - 1) < 1e-6


def test_fixed_rows_by_the_tower_test_and_their_diagonal_is_wrong():
    """FB-2/3: an external row S, Y = B Z; heads treated as independently corrupted fail."""
    rng = np.random.default_rng(SEED)
    model, count = random_model(rng, 3, 4, 2), TOWER_DRAWS
    S = rng.dirichlet(np.ones(4), size=2)
    B = np.vstack([np.eye(4)[0], S])
    draws = model.draw(count, seed=SEED)
    Y = B @ draws.state
    r = fixed_row_posterior(model.masses, model.mu, B, Y, model.t)
    mean = (draws.state[:, 0] - r @ model.mu[:, 0]) / model.t
    features = Y.reshape(count, -1)
    assert tower_test(draws, r, features, noise_mean=mean).worst < THRESHOLD
    cov = np.diag(np.diag(B @ B.T)) * model.t**2  # the control
    scores = np.log(model.masses) + sum(
        np.stack(
            [multivariate_normal((B @ mu)[:, a], cov).logpdf(Y[..., a]) for mu in model.mu], -1
        )
        for a in range(2)
    )
    wrong = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    assert tower_test(draws, wrong, features).worst > 10


def test_vectorization_of_the_fixed_row():
    """FB-2: row-major vec gives B kron I, column-major I kron B; ranks by S_-i; regression."""
    rng = np.random.default_rng(SEED)
    B, Z, t, d = rng.normal(size=(3, 4)), rng.normal(size=(4, 2)), 0.5, 2
    npt.assert_allclose((B @ Z).ravel(), np.kron(B, np.eye(d)) @ Z.ravel(), atol=1e-13)
    npt.assert_allclose((B @ Z).ravel("F"), np.kron(np.eye(d), B) @ Z.ravel("F"), atol=1e-13)
    row_major, column_major = np.kron(B, np.eye(d)), np.kron(np.eye(d), B)
    npt.assert_allclose(row_major @ row_major.T, np.kron(B @ B.T, np.eye(d)), atol=1e-13)
    npt.assert_allclose(column_major @ column_major.T, np.kron(np.eye(d), B @ B.T), atol=1e-13)
    for _ in range(200):
        heads = int(rng.integers(1, 5))
        S = rng.integers(-1, 2, (heads, 4)).astype(float)
        whole = np.linalg.matrix_rank(np.vstack([np.eye(4)[0], S])) == heads + 1
        assert whole == (np.linalg.matrix_rank(S[:, 1:]) == heads)
    # Regression of the noise of the target on Y, given the component.
    B = np.vstack([np.eye(4)[0], rng.dirichlet(np.ones(4), size=2)])
    mu, state = rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
    gain = t * np.eye(4)[:1] @ B.T @ np.linalg.inv(t**2 * B @ B.T)
    npt.assert_allclose(gain @ (B @ (state - mu)), (state - mu)[:1] / t, atol=1e-10)


def test_a_row_error_moves_the_posterior_by_less_than_its_bound():
    """FB-12g: entries moved by up to delta/2; no violation, and a bound that is not idle."""
    rng = np.random.default_rng(SEED)
    closest = 0.0
    for k in range(30):
        d, n_heads, P = (int(x) for x in rng.integers([1, 1, 2], [4, 4, 5]))
        model = random_model(rng, 2 + k % 3, P, d)
        block = random_block(rng, P, d, (1,) * n_heads, scale=0.5)
        run = block.run(model.draw(40, seed=k).state)
        row = np.exp(run.log_row)
        move = 0.2 * row.min(axis=(-2, -1), keepdims=True) * rng.uniform(-1, 1, row.shape)
        moved = (row + move) / (row + move).sum(-1, keepdims=True)
        delta = 2 * np.abs(moved - row).max(axis=(-2, -1)) * (1 + 1e-12)
        exact = posterior(model, block, QueryRow.of(run))
        other = posterior(model, block, QueryRow(run.query, np.log(moved)), off_support="flag")
        bound = row_stability(model, block, QueryRow.of(run), delta)
        change = log_odds(exact.log_responsibilities) - log_odds(other.log_responsibilities)
        change = np.abs(change).max((-2, -1))
        slack = exact.log_odds_error + other.log_odds_error
        assert (change <= bound.log_odds + slack).all()
        distance = np.abs(exact.responsibilities - other.responsibilities).sum(-1) / 2
        assert (distance <= bound.total_variation + slack).all()
        means = np.linalg.norm(exact.noise_mean - other.noise_mean, axis=-1)
        assert (means <= bound.noise_mean + slack / model.t).all()
        closest = max(closest, float((change / bound.log_odds).max()))
    assert closest > 0.1


def test_a_row_that_sees_nothing_can_not_move_the_posterior():
    model, block, draws = setting()
    blind = AttentionBlock(
        [0 * q for q in block.query_maps], block.key_maps, block.value_maps, n_tokens=4
    )
    bound = row_stability(model, blind, QueryRow.of(blind.run(draws.state)), 0.1)
    npt.assert_array_equal(bound.log_odds, 0)
    npt.assert_array_equal(bound.total_variation, 0)


def test_twins_have_the_same_observation():
    """FB-13 (12a): z + ker F has the same observation, to 1e-9."""
    model, block, draws = setting()
    twins = fibre_twins(model, block, draws.state, QueryRowValues, seed=1)
    run, other = block.run(draws.state), block.run(twins)
    npt.assert_allclose(other.log_row, run.log_row, atol=1e-9)
    npt.assert_allclose(other.values, run.values, atol=1e-9)
    assert np.abs(twins - draws.state).max() > 0.1


def test_the_model_may_have_one_component():
    rng = np.random.default_rng(SEED)
    model = CorruptionModel(rng.normal(size=(1, 3, 2)), np.ones(1), 0.5)
    block = random_block(rng, 3, 2, (1,))
    found = posterior(model, block, QueryRowValues.of(block.run(model.draw(5, seed=0).state)))
    npt.assert_array_equal(found.responsibilities, 1)


def test_full_state_and_query_have_the_mixtures_own_density():
    model, block, draws = setting()
    flat = draws.state.reshape(50, 12)
    for observation, points, means in (
        (FullState(draws.state), flat, model.mu.reshape(3, 12)),
        (QueryOnly(draws.state[:, 0]), draws.state[:, 0], model.mu[:, 0]),
    ):
        laws = [multivariate_normal(m, model.t**2 * np.eye(len(m))) for m in means]
        want = np.log(model.masses) + np.stack([law.logpdf(points) for law in laws], axis=-1)
        found = posterior(model, block, observation)
        npt.assert_allclose(found.log_evidence, np.logaddexp.reduce(want, axis=-1), rtol=1e-12)
        npt.assert_allclose(
            log_odds(found.log_responsibilities), log_odds(want), rtol=1e-10, atol=1e-10
        )
