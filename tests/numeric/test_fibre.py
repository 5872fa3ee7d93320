"""Linear systems of observed heads, and the posteriors that they give."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

from numeric import (
    OffSupportError,
    fibre_posterior,
    fibre_system,
    fixed_row_posterior,
    head_log_ratios,
    head_values,
    measurement_matrix,
    noise_mean,
    state_posterior,
    unresolved_contrasts,
)
from numeric.fibre import FibreSystem, scaled_rows

SEED = 31
LOG2 = np.log(2)


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def drawn(rng: np.random.Generator, J: int, d: int, H: int, v: int, N: int = 3) -> dict[str, Any]:
    """A mixture, a state, and what two matrices a head make of it, computed from the logits."""
    t = 0.4
    means = rng.normal(size=(N, J + 1, d))  # the query token is the last one
    state = means[0] + t * rng.normal(size=(J + 1, d))
    Q, K = rng.normal(size=(2, H, 2, d))
    V = rng.normal(size=(H, v, d))
    logits = np.einsum("hka,a,hkb,jb->hj", Q, state[-1], K, state) / np.sqrt(2)
    rows = softmax(logits)
    values = np.einsum("hva,hj,ja->hv", V, rows, state)
    return {
        "t": t, "means": means, "state": state, "Q": Q, "K": K, "V": V, "rows": rows,
        "values": values, "prior": softmax(rng.normal(size=N)),
        "log_ratios": np.log(rows[:, :-1] / rows[:, -1:]).T,
    }  # fmt: skip


def posterior_of(draw: dict[str, Any], system: FibreSystem) -> np.ndarray:
    means = draw["means"]
    return fibre_posterior(
        draw["prior"], means[:, -1], means[:, :-1], draw["state"][-1], system, draw["t"]
    )


def gaussian_evidence(draw: dict[str, Any], system: FibreSystem) -> np.ndarray:
    """Responsibilities from the Gaussian law of F z, of full row rank."""
    t, means = draw["t"], draw["means"]
    cov = t**2 * system.F @ system.F.T
    scores = []
    for n, prior in enumerate(draw["prior"]):
        off = system.b - system.F @ means[n, :-1].ravel()
        query = draw["state"][-1] - means[n, -1]
        score = np.log(prior) - query @ query / (2 * t**2)
        scores.append(score - off @ np.linalg.solve(cov, off) / 2)
    return softmax(np.array(scores))


def test_the_state_solves_the_system_of_its_own_heads():
    rng = np.random.default_rng(SEED)
    for J, d, H, v in ((3, 2, 1, 2), (2, 3, 2, 1), (1, 2, 3, 2), (4, 2, 2, 2)):
        draw = drawn(rng, J, d, H, v)
        M = measurement_matrix(draw["state"][-1], draw["Q"], draw["K"])
        system = fibre_system(
            draw["log_ratios"], M, draw["state"][-1], V=draw["V"], values=draw["values"]
        )
        npt.assert_allclose(system.F @ draw["state"][:-1].ravel(), system.b, atol=1e-12)
        assert system.F.shape == (J * H + H * v, J * d)


def test_posterior_is_bayes_with_the_law_of_what_is_seen():
    rng = np.random.default_rng(SEED + 1)
    for J, d, H, v in ((3, 3, 1, 2), (2, 4, 2, 1), (4, 2, 1, 1)):
        draw = drawn(rng, J, d, H, v)
        M = measurement_matrix(draw["state"][-1], draw["Q"], draw["K"])
        system = fibre_system(
            draw["log_ratios"], M, draw["state"][-1], V=draw["V"], values=draw["values"]
        )
        npt.assert_allclose(posterior_of(draw, system), gaussian_evidence(draw, system), rtol=1e-9)


def test_posterior_does_not_depend_on_the_point_of_the_fibre():
    rng = np.random.default_rng(SEED + 2)
    draw = drawn(rng, 3, 3, 1, 1)
    M = measurement_matrix(draw["state"][-1], draw["Q"], draw["K"])
    system = fibre_system(
        draw["log_ratios"], M, draw["state"][-1], V=draw["V"], values=draw["values"]
    )
    _, _, right = np.linalg.svd(system.F)
    moved = draw["state"][:-1].ravel() + right[-1] * 5  # in the kernel of F
    again = FibreSystem(system.F, system.F @ moved)
    npt.assert_allclose(posterior_of(draw, again), posterior_of(draw, system), rtol=1e-9)


def test_enough_heads_give_the_posterior_of_the_state():
    rng = np.random.default_rng(SEED + 3)
    draw = drawn(rng, 2, 2, 2, 1)
    M = measurement_matrix(draw["state"][-1], draw["Q"], draw["K"])
    system = fibre_system(draw["log_ratios"], M, draw["state"][-1])
    flat = draw["means"].reshape(3, -1)
    whole = state_posterior(draw["prior"], flat, draw["state"].ravel(), draw["t"])
    npt.assert_allclose(posterior_of(draw, system), whole, rtol=1e-8)
    npt.assert_allclose(
        unresolved_contrasts(draw["means"][:, :-1], system.F, draw["t"]), 0, atol=1e-20
    )


def test_duplicate_heads_say_nothing_new():
    rng = np.random.default_rng(SEED + 4)
    draw = drawn(rng, 3, 3, 1, 2)
    twice = {key: np.concatenate([draw[key]] * 2) for key in ("Q", "K", "V", "values")}
    M = measurement_matrix(draw["state"][-1], draw["Q"], draw["K"])
    MM = measurement_matrix(draw["state"][-1], twice["Q"], twice["K"])
    once = fibre_system(
        draw["log_ratios"], M, draw["state"][-1], V=draw["V"], values=draw["values"]
    )
    both = fibre_system(
        np.repeat(draw["log_ratios"], 2, axis=-1), MM, draw["state"][-1], V=twice["V"],
        values=twice["values"],
    )  # fmt: skip
    npt.assert_allclose(posterior_of(draw, both), posterior_of(draw, once), rtol=1e-8)


# ---------------------------------------------------------------- FB-17: the exact example


def fb17() -> tuple[dict[str, Any], FibreSystem]:
    c, M = np.array([1.0]), np.array([[LOG2]])
    tokens = np.array([[2.0], [0.0]])
    log_ratios = head_log_ratios(M, tokens, c)
    row = softmax(np.append(log_ratios[:, 0], 0))
    npt.assert_allclose(row, [4 / 7, 1 / 7, 2 / 7], rtol=1e-15)
    values = head_values([[[1.0]]], np.vstack([tokens, c]), row[None])
    npt.assert_allclose(values, 10 / 7, rtol=1e-15)
    draw = {
        "t": 0.5,
        "prior": [0.5, 0.5],
        "means": np.array([[[9 / 8], [0.0], [3 / 2]], [[7 / 8], [1.0], [1 / 2]]]),
        "state": np.vstack([tokens, c]),
        "row": row,
    }
    return draw, fibre_system(log_ratios, M, c, V=[[[1.0]]], values=values)


def test_exact_posterior_and_frozen_row_differ_as_in_fb17():
    draw, system = fb17()
    exact = posterior_of(draw, system)
    assert exact[0] == pytest.approx(1 / (1 + np.exp(-3)), abs=1e-15)
    assert exact[0] == pytest.approx(0.952574126822, abs=1e-12)
    frozen_system = FibreSystem(system.F[2:], system.b[2:])  # the value blocks alone
    frozen = posterior_of(draw, frozen_system)
    npt.assert_allclose(frozen, [0.5, 0.5], atol=1e-15)
    # The frozen row is the fixed-row posterior with the observed row plugged in.
    mixing = np.vstack([[0, 0, 1], draw["row"]])
    plugged = fixed_row_posterior(
        draw["prior"], draw["means"], mixing, mixing @ draw["state"], draw["t"]
    )
    npt.assert_allclose(plugged, frozen, atol=1e-14)
    targets = draw["means"][:, -1]
    mean = noise_mean(exact, targets, [1.0], 0.5)
    assert float(mean[0]) == pytest.approx(-np.tanh(1.5), abs=1e-15)
    npt.assert_allclose(noise_mean(frozen, targets, [1.0], 0.5), [0.0], atol=1e-15)


def test_sign_is_reversed_in_the_second_example_of_fb17():
    draw, system = fb17()
    contrast, middle = np.array([3 / 8, -1.0]), np.array([9 / 4, 1.0])
    means = np.stack([middle + contrast / 2, middle - contrast / 2])
    draw["means"] = np.concatenate([means[..., None], np.ones((2, 1, 1))], axis=1)

    def log_odds(of: FibreSystem) -> float:
        first, second = posterior_of(draw, of)
        return float(np.log(first / second))

    assert log_odds(system) == pytest.approx(29 / 8, rel=1e-13)
    assert log_odds(FibreSystem(system.F[2:], system.b[2:])) == pytest.approx(-4 / 17, rel=1e-12)


def test_without_values_a_row_already_tells_more_than_a_fixed_one():
    """FB-17b: P = 2, d = 1, V = 0."""
    c, M = np.array([1.0]), np.array([[LOG2]])
    system = fibre_system(head_log_ratios(M, [[2.0]], c), M, c)
    got = fibre_posterior([0.5, 0.5], [[1.5], [0.5]], [[[1.0]], [[0.0]]], c, system, 0.5)
    assert got[0] == pytest.approx(0.997527376843, abs=1e-12)


def test_what_stays_open_in_the_failing_example_of_fb13():
    M = measurement_matrix([0.3, 0.8], [[[1.0, 2.0]]], [[[1.0, 0.0]]])
    tokens = np.array([[0.4, 0.9], [1.0, -0.2]])
    system = fibre_system(
        head_log_ratios(M, tokens, [0.3, 0.8]), M, [0.3, 0.8], V=[[[1.0, 0.0]]], values=[[0.5]]
    )
    means = np.zeros((2, 2, 2))
    means[1, 0, 1] = 0.5 * 1.3  # a clean difference of 1.3 at t = 1/2
    npt.assert_allclose(unresolved_contrasts(means, system.F, 0.5)[0, 1], 1.69, rtol=1e-13)
    means[1] = [[0.5, 0.0], [-2.0, 0.0]]
    npt.assert_allclose(unresolved_contrasts(means, system.F, 0.5), 0, atol=1e-28)


# ---------------------------------------------------------------- FB-28: variants


def test_positions_and_biases():
    """Positions enter every token; the value bias is taken off; a key's bias cancels."""
    rng = np.random.default_rng(SEED + 5)
    J, d, H, v = 3, 2, 2, 2
    draw = drawn(rng, J, d, H, v)
    positions = rng.normal(size=(J + 1, d))
    b_Q, b_K = rng.normal(size=(2, H, 2))
    b_V = rng.normal(size=(H, v))
    z, p, c = draw["state"], positions, draw["state"][-1]
    queries = draw["Q"] @ (c + p[-1]) + b_Q
    keys = np.einsum("hka,ja->hjk", draw["K"], z + p) + b_K[:, None]
    rows = softmax(np.einsum("hk,hjk->hj", queries, keys) / np.sqrt(2))
    values = np.einsum("hva,hj,ja->hv", draw["V"], rows, z + p) + b_V
    M = measurement_matrix(c + p[-1], draw["Q"], draw["K"], query_bias=b_Q)
    log_ratios = np.log(rows[:, :-1] / rows[:, -1:]).T
    npt.assert_allclose(
        log_ratios, (z[:-1] - c) @ M.T + (p[:-1] - p[-1]) @ M.T, atol=1e-12
    )  # the known offset of FB-5
    system = fibre_system(log_ratios, M, c + p[-1], V=draw["V"], values=values, value_bias=b_V)
    npt.assert_allclose(system.F @ (z + p)[:-1].ravel(), system.b, atol=1e-12)
    # In the tokens themselves: a - D_i c - sum over all tokens of D_j p_j - b_V.
    blocks = system.F[J * H :].reshape(H * v, J, d)
    own = np.einsum("h,hva->hva", rows[:, -1], draw["V"]).reshape(H * v, d)
    offsets = np.einsum("oja,ja->o", blocks, p[:-1]) + own @ p[-1]
    right = values.ravel() - own @ c - offsets - b_V.ravel()
    npt.assert_allclose(blocks.reshape(H * v, -1) @ z[:-1].ravel(), right, atol=1e-12)


def rotation(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def test_rotary_maps():
    rng = np.random.default_rng(SEED + 6)
    J, d, H, v = 3, 2, 1, 1
    draw = drawn(rng, J, d, H, v)
    z, c = draw["state"], draw["state"][-1]
    turned = [rotation(0.3 * (J - j)) @ draw["K"][0] for j in range(J + 1)]
    maps = np.stack([measurement_matrix(c, draw["Q"], key[None]) for key in turned])
    rows = softmax(np.einsum("jha,ja->hj", maps, z))
    values = np.einsum("hva,hj,ja->hv", draw["V"], rows, z)
    log_ratios = head_log_ratios(maps[-1], z[:-1], c, token_maps=maps[:-1])
    npt.assert_allclose(log_ratios, np.log(rows[:, :-1] / rows[:, -1:]).T, atol=1e-13)
    system = fibre_system(log_ratios, maps[-1], c, V=draw["V"], values=values, token_maps=maps[:-1])
    npt.assert_allclose(system.F @ z[:-1].ravel(), system.b, atol=1e-13)


def test_a_masked_query_token_and_any_anchor():
    rng = np.random.default_rng(SEED + 7)
    J, d, H, v = 3, 3, 1, 2
    draw = drawn(rng, J, d, H, v)
    z, c = draw["state"][:-1], draw["state"][-1]
    M = measurement_matrix(c, draw["Q"], draw["K"])
    rows = softmax(M @ z.T)
    values = np.einsum("hva,hj,ja->hv", draw["V"], rows, z)
    found = []
    for anchor in range(J):
        log_ratios = np.delete(np.log(rows / rows[:, anchor, None]).T, anchor, axis=0)
        system = fibre_system(log_ratios, M, c, V=draw["V"], values=values, anchor=anchor)
        assert system.F.shape == ((J - 1) * H + H * v, J * d)
        npt.assert_allclose(system.F @ z.ravel(), system.b, atol=1e-13)
        npt.assert_allclose(posterior_of(draw, system), gaussian_evidence(draw, system), rtol=1e-8)
        found.append(posterior_of(draw, system))
    npt.assert_allclose(found[1:], found[:-1], rtol=1e-9)


def test_no_query_map_is_a_uniform_row():
    """FB-28c: M = 0, the posterior of a fixed row with entries 1/P."""
    rng = np.random.default_rng(SEED + 8)
    draw = drawn(rng, 2, 3, 1, 3)
    z, c = draw["state"], draw["state"][-1]
    V, M = np.eye(3)[None], np.zeros((1, 3))
    values = head_values(V, z, np.full((1, 3), 1 / 3))
    system = fibre_system(np.zeros((2, 1)), M, c, V=V, values=values)
    mixing = np.array([[0, 0, 1], [1 / 3, 1 / 3, 1 / 3]])
    fixed = fixed_row_posterior(draw["prior"], draw["means"], mixing, mixing @ z, draw["t"])
    npt.assert_allclose(posterior_of(draw, system), fixed, rtol=1e-10)


def test_one_token_has_nothing_to_tell():
    """FB-28e: P = 1."""
    system = fibre_system(np.zeros((0, 1)), [[1.0]], [2.0], V=[[[3.0]]], values=[[6.0]])
    assert system.F.shape == (1, 0)
    got = fibre_posterior([0.3, 0.7], [[0.0], [1.0]], np.zeros((2, 0, 1)), [2.0], system, 0.5)
    npt.assert_allclose(got, state_posterior([0.3, 0.7], [[0.0], [1.0]], [2.0], 0.5), rtol=1e-14)


def test_pure_noise_leaves_the_prior():
    """FB-28a: t = 1, all means are 0."""
    system = FibreSystem(np.array([[1.0, 2.0]]), np.array([0.7]))
    got = fibre_posterior([0.3, 0.7], np.zeros((2, 1)), np.zeros((2, 2, 1)), [0.2], system, 1.0)
    npt.assert_allclose(got, [0.3, 0.7], rtol=1e-15)


def test_a_saturated_row_is_no_loss_of_rank():
    F = np.array([[1.0, 0.0], [0.0, 1e-200]])
    scaled, right = scaled_rows(F, np.array([3.0, 2e-200]))
    npt.assert_array_equal(scaled, np.eye(2))
    npt.assert_allclose(right, [3.0, 2.0], rtol=1e-15)
    npt.assert_array_equal(unresolved_contrasts(np.ones((2, 2, 1)), F, 0.5), np.zeros((2, 2)))


def test_values_that_contradict_the_row_are_refused():
    rng = np.random.default_rng(SEED + 9)
    draw = drawn(rng, 2, 2, 2, 1)
    M = measurement_matrix(draw["state"][-1], draw["Q"], draw["K"])
    system = fibre_system(
        draw["log_ratios"], M, draw["state"][-1], V=draw["V"], values=draw["values"] + 0.01
    )
    with pytest.raises(OffSupportError) as caught:
        posterior_of(draw, system)
    assert caught.value.argument == "b"


def test_batches_broadcast():
    rng = np.random.default_rng(SEED + 10)
    draws = [drawn(rng, 3, 2, 2, 2) for _ in range(4)]
    stacked = {key: np.stack([draw[key] for draw in draws]) for key in draws[0]}
    c = stacked["state"][:, -1]
    M = measurement_matrix(c, stacked["Q"], stacked["K"])
    system = fibre_system(stacked["log_ratios"], M, c, V=stacked["V"], values=stacked["values"])
    means = stacked["means"]
    got = fibre_posterior(
        stacked["prior"], means[:, :, -1], means[:, :, :-1], c, system, stacked["t"]
    )
    for place, draw in enumerate(draws):
        alone = posterior_of(draw, FibreSystem(system.F[place], system.b[place]))
        npt.assert_allclose(got[place], alone, rtol=1e-9)
