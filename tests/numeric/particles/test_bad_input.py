"""A caller's mistake is a typed error that names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numeric.errors import DomainError, DtypeError, NonFiniteError, ShapeError
from numeric.particles import (
    Schedule,
    annealed_layers,
    cluster_count,
    denoise,
    equal_layers,
    flow,
    kernel_sums,
    moments,
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


def test_fifty_dimensions_and_a_far_query():
    z = np.random.default_rng(1).normal(size=(40, 50))
    q = np.zeros((1, 50))
    q[0, 7] = 1e300
    found = kernel_sums(q, z, 0.05).mean
    assert np.array_equal(found[0], z[z[:, 7].argmax()])
