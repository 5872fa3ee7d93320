"""Stability bounds hold on random rows, and are attained."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest

from numeric import (
    DomainError,
    fibre_posterior,
    fibre_system,
    log_ratio_margin,
    measurement_matrix,
    noise_mean,
    query_error_bound,
    recovered_tokens,
    recovery_bound,
    stability_bound,
)

SEED = 61


def test_margin_is_attained_by_an_entry_and_the_anchor_at_the_margin():
    """Both entries at tau, one read too high and one too low, with the exact log-ratios."""
    tau, delta = 0.01, 0.012
    worst = np.log((tau + delta / 2) / tau) - np.log((tau - delta / 2) / tau)
    assert worst < log_ratio_margin(delta, tau)
    # Each entry alone attains half of it.
    npt.assert_allclose(-np.log((tau - delta / 2) / tau), log_ratio_margin(delta, tau) / 2)


def changed_rows(rng: np.random.Generator, H: int, P: int, delta: float) -> tuple:
    rows = rng.dirichlet(np.ones(P), H)
    moved = rows + delta / 2 * rng.uniform(-1, 1, (H, P))
    moved = moved / moved.sum(axis=-1, keepdims=True)
    return rows, moved


def test_no_random_row_violates_the_bounds():
    rng = np.random.default_rng(SEED)
    held = 0
    for _ in range(400):
        H, P, d, N, t = 2, 3, 2, 3, 0.5
        M, c = rng.normal(size=(H, d)), rng.normal(size=d)
        rows, moved = changed_rows(rng, H, P, 1e-3)
        delta = 2 * np.abs(rows - moved).max()
        tau = min(rows.min(), moved.min())
        if not delta < 2 * tau:
            continue
        held += 1
        before, after = (np.log(r[:, :-1] / r[:, -1:]).T for r in (rows, moved))
        assert np.abs(before - after).max() <= log_ratio_margin(delta, tau) * (1 + 1e-12)
        sigma = np.linalg.svd(M, compute_uv=False)[-1]
        moved_by = np.linalg.norm(
            recovered_tokens(before, M, c) - recovered_tokens(after, M, c), axis=-1
        ).max()
        assert moved_by <= recovery_bound(delta, tau, H, sigma) * (1 + 1e-10)
        clean = rng.normal(size=(N, P, d))
        means = (1 - t) * clean
        prior = rng.dirichlet(np.ones(N))
        first, second = (
            fibre_posterior(prior, means[:, -1], means[:, :-1], c, fibre_system(seen, M, c), t)
            for seen in (before, after)
        )
        flat = means[:, :-1].reshape(N, -1)
        contrast = max(np.linalg.norm(a - b) for a in flat for b in flat)
        spread = max(np.linalg.norm(a - b) for a in clean[:, -1] for b in clean[:, -1])
        bound = stability_bound(delta, tau, H, P, sigma, contrast, spread, t)
        kept = (first > 0) & (second > 0)
        change = np.log(first[kept] / second[kept])
        assert change.max() - change.min() <= bound.log_odds * (1 + 1e-9)
        assert np.abs(first - second).sum() / 2 <= bound.total_variation * (1 + 1e-9)
        gap = noise_mean(first, means[:, -1], c, t) - noise_mean(second, means[:, -1], c, t)
        assert np.linalg.norm(gap) <= bound.noise_mean * (1 + 1e-9)
    assert held > 200


def test_total_variation_is_attained_by_two_components():
    for change in (1e-3, 1.0, 10.0):
        low, high = (1 / (1 + np.exp(sign * change / 2)) for sign in (1, -1))
        npt.assert_allclose(high - low, np.tanh(change / 4), rtol=1e-12)


def test_query_error_holds_and_is_attained_by_one_head():
    rng = np.random.default_rng(SEED + 1)
    Q, K = rng.normal(size=(2, 3, 2, 4))
    for _ in range(50):
        c, other = rng.normal(size=(2, 4))
        gap = np.linalg.norm(measurement_matrix(c, Q, K) - measurement_matrix(other, Q, K))
        assert gap <= query_error_bound(Q, K, np.linalg.norm(c - other)) * (1 + 1e-12)
    direction = np.linalg.svd(Q[0].T @ K[0])[0][:, 0]
    gap = np.linalg.norm(measurement_matrix(direction, Q[:1], K[:1]))
    npt.assert_allclose(gap, query_error_bound(Q[:1], K[:1], 1.0), rtol=1e-12)


def test_an_interval_as_wide_as_the_entry_is_refused():
    with pytest.raises(DomainError) as caught:
        log_ratio_margin(0.02, 0.01)
    assert caught.value.argument == "delta"
    with pytest.raises(DomainError, match="positive integer"):
        stability_bound(0.001, 0.01, 0, 3, 1.0, 1.0, 1.0, 0.5)


def test_exact_rows_and_pure_noise_have_no_error():
    assert log_ratio_margin(0.0, 0.01) == 0
    bound = stability_bound(0.01, 0.01, 1, 2, 1.0, 1.0, 1.0, 1.0)
    assert bound.noise_mean == 0
    assert bound.total_variation > 0
