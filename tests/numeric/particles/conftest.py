"""Every way of kernel sums, with a plain stand-in for a library that isn't installed."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import pytest

from numeric.particles import compiled, fourier
from tests.numeric.particles.dense_transforms import Plan


@pytest.fixture(params=["direct", "compiled", "panels", "nufft"])
def method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a method, which works whatever is installed."""
    if request.param == "compiled" and not importlib.util.find_spec("numba"):
        monkeypatch.setattr(compiled, "compiled_rows", lambda: compiled.rows)
    if request.param == "nufft" and not importlib.util.find_spec("finufft"):
        monkeypatch.setattr(fourier, "library", lambda: SimpleNamespace(Plan=Plan))
    return request.param
