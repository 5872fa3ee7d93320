"""The benchmark of the particle engine runs, and its tiles of NumPy agree with the engine."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import __main__
from benchmarks.particles import as_json, as_text, instance, measure, passes, tiled
from tests.numeric.particles.oracle import exact_sums


def test_the_benchmark_measures_and_agrees():
    result = measure(tokens=600, layers=8, sizes=(500, 10_000, 20_000), queries=2000)
    assert 0 < result.positions < 1e-12
    assert all(error < 1e-12 for error in result.layer_error.values())
    assert [n for n, _, _ in result.growth] == [500, 10_000, 20_000]
    assert 0 < max(error for _, _, error in result.growth) < 1e-12
    assert result.bytes_each < 2e3
    assert json.loads(json.dumps(as_json(result)))["passes"] == passes(result)
    assert "8 layers" in as_text(result)


def test_the_tiles_are_kernel_sums():
    z = instance(1500, 3)
    log_normalizer, mean = tiled(z)
    wanted = exact_sums(z[:50], z, 20.0, np.ones(len(z)))
    assert log_normalizer[:50] == pytest.approx(wanted[0].astype(float), abs=1e-12)
    assert abs(mean[:50] - wanted[1]).max() < 1e-12


def test_too_few_layers_are_refused(capsys):
    assert __main__.main(["particles", "--layers", "5"]) == 2
    assert "--layers" in capsys.readouterr().err
