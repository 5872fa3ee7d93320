"""The benchmark of the particle engine runs, and its tiles of NumPy agree with the engine."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import __main__
from benchmarks.particle_costs import Constant, calibrate
from benchmarks.particles import ALONE, as_json, as_text, instance, measure, passes, tiled
from tests.numeric.particles.oracle import exact_sums


def test_the_benchmark_measures_and_agrees():
    result = measure(tokens=600, layers=8, sizes=(500, 10_000, 20_000), queries=2000)
    assert result.run.keys() == result.positions.keys() >= {ALONE}
    assert all(0 < apart < 1e-12 for apart in result.positions.values())
    assert all(error < 1e-12 for error in result.layer_error.values())
    assert [n for n, _, _ in result.growth] == [500, 10_000, 20_000]
    assert 0 < max(error for _, _, error in result.growth) < 1e-12
    assert 0 < result.bytes_each < 2e4
    assert json.loads(json.dumps(as_json(result)))["passes"] == passes(result)
    assert "8 layers" in as_text(result)


def test_the_tiles_are_kernel_sums():
    z = instance(1500, 3)
    log_normalizer, mean = tiled(z)
    wanted = exact_sums(z[:50], z, 20.0, np.ones(len(z)))
    assert log_normalizer[:50] == pytest.approx(wanted[0].astype(float), abs=1e-12)
    assert abs(mean[:50] - wanted[1]).max() < 1e-12


def test_the_cost_model_is_measured_beside_its_source(capsys, monkeypatch):
    constants = calibrate(tokens=2000)
    assert {c.name for c in constants} >= {"NARROW slope", "WIDE fixed", "BOX 2", "PANEL_POINT 1"}
    assert all(np.isfinite(c.here) and c.source > 0 for c in constants)
    monkeypatch.setattr("benchmarks.particle_costs.calibrate", lambda seed: [Constant("A", 2, 3)])
    assert __main__.main(["particles", "--calibrate"]) == 0
    assert "A" in capsys.readouterr().out
    assert __main__.main(["particles", "--calibrate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["here"] == 3


def test_too_few_layers_are_refused(capsys):
    assert __main__.main(["particles", "--layers", "5"]) == 2
    assert "--layers" in capsys.readouterr().err
