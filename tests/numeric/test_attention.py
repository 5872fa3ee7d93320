"""Heads given the query token: log-ratios, values, their laws, and the density of rows."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest
from scipy.stats import multivariate_normal

from numeric import (
    DomainError,
    OffSupportError,
    condition,
    head_log_ratios,
    head_values,
    log_ratio_law,
    measurement_matrix,
    recovered_tokens,
    row_log_density,
    value_law,
)

SEED = 51


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def test_log_ratios_are_those_of_the_attention_row():
    rng = np.random.default_rng(SEED)
    H, k, d, P = 3, 2, 4, 5
    Q, K = rng.normal(size=(2, H, k, d))
    b_Q, b_K = rng.normal(size=(2, H, k))
    z = rng.normal(size=(P, d))
    queries, keys = Q @ z[-1] + b_Q, np.einsum("hka,ja->hjk", K, z) + b_K[:, None]
    rows = softmax(np.einsum("hk,hjk->hj", queries, keys) / np.sqrt(k))
    M = measurement_matrix(z[-1], Q, K, query_bias=b_Q)
    got = head_log_ratios(M, z[:-1], z[-1])
    npt.assert_allclose(got, np.log(rows[:, :-1] / rows[:, -1:]).T, rtol=1e-11, atol=1e-13)
    same = head_log_ratios(M, z[:-1], z[-1], token_maps=np.broadcast_to(M, (P - 1, H, d)))
    npt.assert_allclose(got, same, atol=1e-13)


def test_heads_of_different_sizes_are_padded():
    rng = np.random.default_rng(SEED + 1)
    Q, K = rng.normal(size=(2, 1, 2, 3))
    padded = [np.concatenate([x, np.zeros((1, 2, 3))], axis=1) for x in (Q, K)]
    c = rng.normal(size=3)
    npt.assert_allclose(
        measurement_matrix(c, *padded, key_sizes=[2]), measurement_matrix(c, Q, K), rtol=1e-15
    )


def test_law_of_log_ratios_and_values_is_plain_conditioning():
    """Given the log-ratios the values are linear in the tokens: condition the joint Gaussian."""
    rng = np.random.default_rng(SEED + 2)
    for J, d, H, v in ((2, 3, 1, 2), (3, 2, 1, 1), (2, 2, 2, 1), (2, 2, 3, 1)):
        t = 0.4
        M, V = rng.normal(size=(H, d)), rng.normal(size=(H, v, d))
        mu, c = rng.normal(size=(J, d)), rng.normal(size=d)
        tokens = mu + t * rng.normal(size=(J, d))
        log_ratios = head_log_ratios(M, tokens, c)
        rows = softmax(np.concatenate([log_ratios.T, np.zeros((H, 1))], axis=1))
        blocks = np.einsum("hj,hva->hvja", rows, V).reshape(H * v, J + 1, d)
        D = blocks[:, :J].reshape(H * v, J * d)
        L = np.kron(np.eye(J), M)
        joint = t**2 * np.block([[L @ L.T, L @ D.T], [D @ L.T, D @ D.T]])
        mean = np.concatenate([L @ (mu - c).ravel(), D @ mu.ravel() + blocks[:, J] @ c])
        part = log_ratio_law(mu, c, M, t)
        npt.assert_allclose(part.mean.ravel(), mean[: J * H], atol=1e-13)
        npt.assert_allclose(part.cov[0], joint[:H, :H], atol=1e-14)
        expected = condition(mean, joint, np.arange(J * H), log_ratios.ravel())
        law = value_law(mu, c, log_ratios, M, V, t)
        npt.assert_allclose(law.mean, expected[0], atol=1e-9)
        npt.assert_allclose(law.cov, expected[1], atol=1e-9)
        if d <= H:  # the row recovers the tokens, and values add nothing
            npt.assert_allclose(law.cov, 0, atol=1e-20)
            actual = head_values(V, np.vstack([tokens, c]), rows)
            npt.assert_allclose(law.mean, actual.ravel(), atol=1e-9)


def test_recovery_is_exact_at_full_rank_and_partial_below():
    rng = np.random.default_rng(SEED + 3)
    M, tokens, c = rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), rng.normal(size=3)
    npt.assert_allclose(recovered_tokens(head_log_ratios(M, tokens, c), M, c), tokens, atol=1e-12)
    thin = M[:1]
    got = recovered_tokens(head_log_ratios(thin, tokens, c), thin, c)
    npt.assert_allclose(got @ thin.T, tokens @ thin.T, atol=1e-13)
    across = np.linalg.svd(thin)[2][1:]
    npt.assert_allclose(got @ across.T, np.broadcast_to(c @ across.T, (5, 2)), atol=1e-14)


def test_density_of_rows_integrates_to_one():
    """FB-11 at P = 3, one head, d = 1: the two log-ratios are independent normal variables."""
    grid = (np.arange(400) + 0.5) / 400
    a, b = np.meshgrid(grid, grid)
    inside = a + b < 1
    rows = np.stack([a[inside], b[inside], 1 - a[inside] - b[inside]], axis=-1)
    log_ratios = np.log(rows[:, :2] / rows[:, 2:])[..., None]
    density = np.exp(row_log_density(log_ratios, [[0.3], [-0.2]], [0.1], [[1.5]], 0.5))
    assert density.sum() / 400**2 == pytest.approx(1, abs=2e-5)


def test_density_of_rows_is_a_change_of_variables():
    rng = np.random.default_rng(SEED + 4)
    H, d, J, t = 2, 3, 2, 0.6
    M, mu, c = rng.normal(size=(H, d)), rng.normal(size=(J, d)), rng.normal(size=d)
    seen = head_log_ratios(M, mu + t * rng.normal(size=(J, d)), c)
    step = 1e-5

    def free_entries(log_ratios: np.ndarray) -> np.ndarray:
        return softmax(np.concatenate([log_ratios.T, np.zeros((H, 1))], axis=1))[:, :J].ravel()

    jacobian = np.array([
        (free_entries(seen + step * e.reshape(J, H)) - free_entries(seen - step * e.reshape(J, H)))
        / (2 * step)
        for e in np.eye(J * H)
    ])  # fmt: skip
    of_l = sum(
        multivariate_normal(M @ (mu[j] - c), t**2 * M @ M.T).logpdf(seen[j]) for j in range(J)
    )
    expected = of_l - np.linalg.slogdet(jacobian)[1]
    npt.assert_allclose(row_log_density(seen, mu, c, M, t), expected, rtol=1e-7)


def test_dependent_heads_have_no_such_density():
    M = np.array([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(DomainError, match="independent rows"):
        row_log_density(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros(2), M, 0.5)
    with pytest.raises(DomainError, match="independent rows"):
        row_log_density(np.zeros((1, 2)), np.zeros((1, 1)), np.zeros(1), M[:, :1], 0.5)


def test_log_ratios_that_no_tokens_have_are_refused():
    M = np.array([[1.0, 2.0], [2.0, 4.0]])
    V = np.ones((2, 1, 2))
    value_law(np.zeros((1, 2)), np.zeros(2), [[1.0, 2.0]], M, V, 0.5)
    with pytest.raises(OffSupportError) as caught:
        value_law(np.zeros((1, 2)), np.zeros(2), [[1.0, 2.5]], M, V, 0.5)
    assert caught.value.argument == "log_ratios"


def test_batches_broadcast():
    rng = np.random.default_rng(SEED + 5)
    M, mu, c = rng.normal(size=(4, 1, 2, 3)), rng.normal(size=(5, 2, 3)), rng.normal(size=3)
    log_ratios = head_log_ratios(M, mu + 0.1, c)
    assert log_ratios.shape == (4, 5, 2, 2)
    law = value_law(mu, c, log_ratios, M, rng.normal(size=(2, 2, 3)), 0.5)
    assert law.mean.shape == (4, 5, 4)
    assert law.cov.shape == (4, 5, 4, 4)
    assert recovered_tokens(log_ratios, M, c).shape == (4, 5, 2, 3)
    assert measurement_matrix(np.zeros((0, 3)), np.ones((1, 2, 3)), np.ones((1, 2, 3))).shape == (
        0, 1, 3,
    )  # fmt: skip
