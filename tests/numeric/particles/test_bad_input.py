"""A caller's mistake is a typed error that names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numeric.errors import DomainError, DtypeError, NonFiniteError, ShapeError
from numeric.particles import (
    BandwidthWarning,
    Schedule,
    annealed_layers,
    cluster_count,
    compiled,
    denoise,
    equal_layers,
    flow,
    kernel_sums,
    moments,
    posterior_mean,
    refine,
    truncated_flow,
    weighted_grid,
)

Z = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
NAN, INF = np.where(Z == 2, np.nan, Z), np.where(Z == 2, np.inf, Z)
EMPTY = np.zeros((0, 2))

CASES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: denoise(EMPTY, 0.5, 2.0, 3), ShapeError, "tokens"),
    (lambda: denoise(np.zeros((3, 0)), 0.5, 2.0, 3), ShapeError, "tokens"),
    (lambda: denoise([1.0, 2.0], 0.5, 2.0, 3), ShapeError, "tokens"),
    (lambda: denoise(Z[None], 0.5, 2.0, 3), ShapeError, "tokens"),
    (lambda: denoise(NAN, 0.5, 2.0, 3), NonFiniteError, "tokens"),
    (lambda: denoise(INF, 0.5, 2.0, 3), NonFiniteError, "tokens"),
    (lambda: denoise(Z + 0j, 0.5, 2.0, 3), DtypeError, "tokens"),
    (lambda: denoise(Z, 0.0, 2.0, 3), DomainError, "sigma2"),
    (lambda: denoise(Z, -0.5, 2.0, 3), DomainError, "sigma2"),
    (lambda: denoise(Z, float("nan"), 2.0, 3), NonFiniteError, "sigma2"),
    (lambda: denoise(Z, 0.5, 0.0, 3), DomainError, "beta"),
    (lambda: denoise(Z, 0.5, -1.0, 3), DomainError, "beta"),
    (lambda: denoise(Z, 0.5, 2.0, -1), DomainError, "n_layers"),
    (lambda: denoise(Z, 0.5, 40.0, 10), DomainError, "n_layers"),
    (lambda: denoise(Z, 0.5, 2.0, 3, method="fast"), DomainError, "method"),
    (lambda: denoise(Z, 0.5, 2.0, 3, workers=0), DomainError, "workers"),
    (lambda: denoise(Z, 0.5, 2.0, 3, weights=[1.0, 2.0]), ShapeError, "weights"),
    (lambda: denoise(Z, 0.5, 2.0, 3, weights=[1.0, 2.0, -1.0]), DomainError, "weights"),
    (lambda: denoise(Z, 0.5, 2.0, 3, weights=[0.0, 0.0, 0.0]), DomainError, "weights"),
    (lambda: denoise(1e200 * Z, 0.5, 2.0, 3), DomainError, "beta"),
    (lambda: kernel_sums([[1.0]], Z, 1.0), ShapeError, "queries"),
    (lambda: kernel_sums([1.0, 2.0], Z, 1.0), ShapeError, "queries"),
    (lambda: kernel_sums(NAN, Z, 1.0), NonFiniteError, "queries"),
    (lambda: kernel_sums(Z, EMPTY, 1.0), ShapeError, "particles"),
    (lambda: kernel_sums(np.eye(3), np.eye(3), 1.0, method="panels"), DomainError, "method"),
    (lambda: refine(Z, 0.5, Schedule(np.ones(1), np.ones(1))), DomainError, "schedule"),
    (lambda: flow(Z, 0.5, 2.0, clock="both"), DomainError, "clock"),
    (lambda: flow(Z, 0.5, 2.0, time=-1.0), DomainError, "time"),
    (lambda: flow(Z, 0.5, 2.0, rtol=0.0), DomainError, "rtol"),
    (lambda: flow(EMPTY, 0.5, 2.0), ShapeError, "tokens"),
    (lambda: truncated_flow(Z, 0.5, 2.0, 0.0), DomainError, "radius"),
    (lambda: truncated_flow(Z, 0.5, 2.0, -1.0), DomainError, "radius"),
    (lambda: truncated_flow(EMPTY, 0.5, 2.0, 1.0), ShapeError, "tokens"),
    (lambda: equal_layers(0.5, 20.0, 5), DomainError, "take at least 6"),
    (lambda: annealed_layers(0.5, [0.5, 1.5], 4.0), DomainError, "eta"),
    (lambda: annealed_layers(0.5, [0.5], 0.0), DomainError, "beta"),
    (lambda: cluster_count(Z, 0.0), DomainError, "distance"),
    (lambda: moments(EMPTY), ShapeError, "particles"),
    (lambda: weighted_grid(lambda x: x, 1, 1, 5), DomainError, "upper"),
    (lambda: weighted_grid(lambda x: x, 0, 1, 1), DomainError, "nodes"),
    (lambda: weighted_grid(lambda x: x * np.nan, 0, 1, 5), NonFiniteError, "log_density"),
]


@pytest.mark.parametrize(("call", "error", "named"), CASES)
def test_bad_input_is_refused_by_name(call: Callable[[], Any], error: type[Exception], named: str):
    with pytest.raises(error, match=named):
        call()


def test_integers_are_numbers_too():
    whole = denoise([[0, 1], [1, 0], [2, 2]], 1, 1, 2)[0]
    assert np.array_equal(whole, denoise(Z, 1.0, 1.0, 2)[0])


def test_every_method_refuses_the_same_by_name(method: str):
    cases: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: denoise(EMPTY, 0.5, 2.0, 3, method=method), ShapeError, "tokens"),
        (lambda: denoise(NAN, 0.5, 2.0, 3, method=method), NonFiniteError, "tokens"),
        (lambda: denoise(INF, 0.5, 2.0, 3, method=method), NonFiniteError, "tokens"),
        (lambda: denoise(Z, 0.0, 2.0, 3, method=method), DomainError, "sigma2"),
        (lambda: denoise(Z, -1.0, 2.0, 3, method=method), DomainError, "sigma2"),
        (lambda: denoise(Z, 0.5, 0.0, 3, method=method), DomainError, "beta"),
        (lambda: denoise(Z, 0.5, -2.0, 3, method=method), DomainError, "beta"),
        (lambda: denoise(Z, 0.5, 20.0, 5, method=method), DomainError, "take at least 6"),
        (lambda: kernel_sums(NAN, Z, 1.0, method=method), NonFiniteError, "queries"),
        (lambda: truncated_flow(Z, 0.5, 2.0, 0.0, method=method), DomainError, "radius"),
        (lambda: kernel_sums(Z, Z, 1e300, method=method), DomainError, "beta"),
    ]
    for call, error, named in cases:
        with pytest.raises(error, match=named):
            call()


def test_one_particle_stays_and_answers_every_query(method: str):
    estimate, prior = denoise([[3.0, 4.0]], 0.5, 2.0, 5, method=method)
    assert estimate.tolist() == prior.particles.tolist() == [[3.0, 4.0]]
    q = [[3.5, 4.0], [1e4, 0.0], [-1e300, 1e300]]
    assert np.abs(kernel_sums(q, [[3.0, 4.0]], 2.0, method=method).mean - [3.0, 4.0]).max() < 1e-15


def test_a_ball_without_tokens_is_said_to_be_empty(method: str):
    prior = truncated_flow(Z + 5, 0.5, 2.0, 1.0, method=method)
    assert prior.empty and prior.particles.tolist() == [[0.0, 0.0]]
    assert np.abs(posterior_mean(prior, Z, method=method)).max() < 1e-14
    left = truncated_flow(Z, 0.5, 2.0, 1.0, method=method)  # the boundary is inside
    assert not left.empty and len(left.particles) == 2


def test_a_query_at_the_end_of_all_floats_gets_its_nearest_particle(method: str):
    z = np.random.default_rng(2).normal(size=(60, 2))
    q = np.array([[1e300, 0.0], [0.0, -1e300], [1e12, 0.0], [0.0, 0.0]])
    with np.errstate(all="raise", under="ignore"):
        found = kernel_sums(q, z, 2.0, method=method)
    nearest = z[[z[:, 0].argmax(), z[:, 1].argmin(), z[:, 0].argmax()]]
    assert np.array_equal(found.mean[:3], nearest)
    assert not any(np.isnan(part).any() for part in found)


def test_a_million_duplicates_are_a_weight(method: str):
    q = np.array([[0.3, 0.3], [0.5, 0.1], [1.0, -1.0]])
    count = 10**6 if method == "direct" else 10**5
    if method == "compiled" and compiled.compiled_rows() is compiled.rows:
        count = 10**3  # as plain Python it is slow
    one = np.array([[0.3, 0.3], [0.7, 0.3]])
    many = np.concatenate([np.repeat(one[:1], count - 1, axis=0), one[1:]])
    found = kernel_sums(q, many, 2.0, method=method)
    wanted = kernel_sums(q, one, 2.0, weights=[count - 1, 1], method="direct")
    assert np.abs(found.log_normalizer - wanted.log_normalizer).max() < 1e-12
    assert np.abs(found.shift - wanted.shift).max() < 1e-12


def test_fifty_dimensions_are_summed_or_refused(method: str):
    z = np.random.default_rng(3).normal(size=(40, 50))
    if method in ("panels", "nufft"):
        with pytest.raises(DomainError, match=r"method.*more than [23] dimensions"):
            kernel_sums(z, z, 0.05, method=method)
        return
    found = kernel_sums(z, z, 0.05, method=method)
    shares = np.exp(-0.025 * ((z[:, None] - z) ** 2).sum(axis=2))
    assert np.abs(found.log_normalizer - np.log(shares.sum(axis=1))).max() < 1e-12
    assert np.abs(found.mean - shares @ z / shares.sum(axis=1, keepdims=True)).max() < 1e-12


def test_an_inert_first_stage_is_said_by_every_method(method: str):
    axes = 2 if method in ("panels", "nufft") else 8
    tokens = 1.3 * np.random.default_rng(4).normal(size=(100, axes)) * (40 if axes == 2 else 1)
    with pytest.warns(BandwidthWarning, match="hardly any other at beta = 20"):
        refine(tokens[:30], 0.5, equal_layers(0.5, 20.0, 6), method=method)


def test_fifty_dimensions_and_a_far_query():
    z = np.random.default_rng(1).normal(size=(40, 50))
    q = np.zeros((1, 50))
    q[0, 7] = 1e300
    found = kernel_sums(q, z, 0.05).mean
    assert np.array_equal(found[0], z[z[:, 7].argmax()])
