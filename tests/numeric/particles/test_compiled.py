"""The loops for numba, as plain Python everywhere and compiled where it is installed."""

from __future__ import annotations

import importlib.util
import sys

import mpmath
import numpy as np
import pytest

from numeric.errors import DomainError
from numeric.particles import compiled, kernel_sums
from tests.numeric.particles.oracle import clouds, exact_sums

RUNS = ["plain", pytest.param("numba", marks=pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="numba is not installed"))]  # fmt: skip


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("how", RUNS)
def test_loops_are_kernel_sums(how: str, d: int):
    run = compiled.rows if how == "plain" else compiled.compiled_rows()
    for name, z in clouds(d).items():
        weights = np.random.default_rng(1).random(len(z)) + 0.1
        for beta in (0.5, 200.0):
            q = z[-4:]
            wanted = exact_sums(q, z, beta, weights)
            normalizer, moved = compiled.compiled_sums(q, z, beta, weights, 2, run)
            assert np.abs(np.log(normalizer) - wanted[0]).max() < 1e-13, name
            error = np.abs(moved / normalizer[:, None] - wanted[2]).max()
            assert error < 1e-13 / np.sqrt(beta), name


@pytest.mark.parametrize("how", RUNS)
def test_more_particles_than_a_tile(how: str):
    run = compiled.rows if how == "plain" else compiled.compiled_rows()
    z = np.random.default_rng(2).normal(size=(2500, 2))
    wanted = exact_sums(z[:3], z, 20.0, np.ones(2500))
    normalizer, moved = compiled.compiled_sums(z[:3], z, 20.0, np.ones(2500), 1, run)
    assert np.abs(np.log(normalizer) - wanted[0]).max() < 1e-14
    assert np.abs(moved / normalizer[:, None] - wanted[2]).max() < 1e-15


def test_the_exponential_is_right_to_two_eps_and_ends_at_zero():
    edges = [0.0, -1e-300, -0.34657, -0.34658, -707.999, -708.5, -1e5, -1e308, -np.inf]
    x = np.concatenate([edges, -np.geomspace(1e-9, 700, 300)])
    found = x.copy()
    compiled.exponentials(found, np.empty(len(x)), len(x))
    for value, got in zip(x, found, strict=True):
        if value < -708:
            assert got == 0
        else:
            exact = mpmath.exp(mpmath.mpf(value))
            assert abs((mpmath.mpf(got) - exact) / exact) < 2 * np.finfo(np.float64).eps


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
def test_the_method_answers_any_query():
    z = np.random.default_rng(3).normal(size=(300, 3))
    q = np.concatenate([z[:50], [[1e300, 0.0, 0.0], [30.0, 0.0, 0.0]]])
    found = kernel_sums(q, z, 4.0, method="compiled", workers=2)
    wanted = kernel_sums(q, z, 4.0, method="direct")
    assert np.allclose(found.mean, wanted.mean, rtol=0, atol=1e-12)
    assert found.mean[50].tolist() == z[z[:, 0].argmax()].tolist()


def test_without_numba_the_method_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    compiled.compiled_rows.cache_clear()
    with pytest.raises(DomainError, match="install the extra `fast`"):
        kernel_sums([[0.0]], [[1.0]], 1.0, method="compiled")
