"""Kernel sums by Fourier series, with dense transforms everywhere and FINUFFT where it is there."""

from __future__ import annotations

import importlib.util
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from numeric.errors import DomainError
from numeric.particles import equal_layers, fourier, kernel_sums, refine
from numeric.particles.fourier import count_coefficients, fourier_sums
from tests.numeric.particles.dense_transforms import Plan
from tests.numeric.particles.oracle import clouds, exact_sums

HAS_FINUFFT = importlib.util.find_spec("finufft") is not None
needs_finufft = pytest.mark.skipif(not HAS_FINUFFT, reason="finufft is not installed")


@pytest.fixture(params=["dense", pytest.param("finufft", marks=needs_finufft)])
def transforms(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "dense":
        monkeypatch.setattr(fourier, "library", lambda: SimpleNamespace(Plan=Plan))
    return request.param


# In space a dense transform is slow, so that clouds are some bandwidths wide there.
@pytest.mark.parametrize(("d", "beta"), [(1, 1.0), (1, 400.0), (2, 0.05), (2, 4.0), (3, 0.05)])
def test_first_stage_sums_keep_their_stated_error(transforms: str, d: int, beta: float):
    refused = 0
    for name, z in clouds(d).items():
        z = z[-300:] if d < 3 else z[-100:]
        count = count_coefficients(z, z, beta, np.ones(len(z)), 1e-12)
        if count > (2e5 if transforms == "dense" else 1e6):
            refused += 1
            continue
        some = np.random.default_rng(1).choice(len(z), min(len(z), 40), replace=False)
        log_normalizer, mean, shift = exact_sums(z[some], z, beta, np.ones(len(z)))
        with np.errstate(all="raise", under="ignore"):
            found = kernel_sums(z, z, beta, method="nufft")
        assert np.abs(found.log_normalizer[some] - log_normalizer).max() < 1e-12, name
        assert np.abs(found.shift[some] - shift).max() < 1e-12 / math.sqrt(beta), name
        slack = 1e-12 / math.sqrt(beta) + 4e-16 * np.abs(z).max()
        assert np.abs(found.mean[some] - mean).max() < slack, name
    assert refused <= 3


@pytest.mark.parametrize("d", [1, 2, 3])
def test_weighted_sums_at_other_queries_keep_their_stated_error(transforms: str, d: int):
    rng = np.random.default_rng(2)
    z = rng.normal(size=(200, d))
    w = np.exp(-20 * rng.random(len(z)))
    w[1::7] = 0
    spread = 3 * rng.normal(size=(40, d)) * rng.choice([0.3, 1, 3], size=(40, 1))
    q = np.concatenate([z[0] + spread, z[:3], z[:2] + 1e9, z[:1] + 1e300])
    for beta in (0.5, 2.0):
        if d == 3:
            beta /= 10
        log_normalizer, mean, shift = exact_sums(q[:-1], z, beta, w)
        with np.errstate(all="raise", under="ignore"):
            found = kernel_sums(q, z, beta, weights=w, method="nufft")
        slack = 1e-12 + 4e-16 * np.abs(log_normalizer)
        assert (np.abs(found.log_normalizer[:-1] - log_normalizer) < slack).all()
        close = np.abs(q[:-1] - z[0]).max(axis=1) < 1e6
        for got, wanted in ((found.mean, mean), (found.shift, shift)):
            assert np.abs(got[:-1] - wanted)[close].max() < 1e-12 / math.sqrt(beta)
        held = z[w > 0]
        assert np.array_equal(found.mean[-1], held[held.sum(axis=1).argmax()])


def test_gaps_are_made_shorter_and_what_is_felt_stays():
    rng = np.random.default_rng(3)
    along = np.concatenate([rng.normal(size=50), 1e12 + rng.normal(size=30), [-1e200, 1e5, 1e5]])
    along = rng.permutation(along)
    places = fourier._places(along, 2.0)
    assert places.min() == 0 and places.max() < 4 * fourier.CUTOFF + 2 * 2 * 8
    true, short = (np.abs(x[:, None] - x) for x in (2 * along, places))
    felt = true < fourier.CUTOFF
    assert np.abs(true - short)[felt].max() < 1e-3  # 1e12 has digits to 1e-4
    near = felt & (np.abs(along) < 1e6)[:, None]
    assert np.abs(true - short)[near].max() < 1e-13
    assert (short[~felt] >= fourier.CUTOFF * (1 - 1e-12)).all()


@needs_finufft
def test_the_error_is_estimated_from_above_and_not_by_much():
    """In the emptier half of the period, where nothing but noise is found."""
    for d, size in ((1, 3000), (2, 3000), (3, 300)):
        rng = np.random.default_rng(d)
        z = np.concatenate([np.full((size, d), 0.1), 0.3 * rng.normal(size=(size // 3, d))])
        q = 0.1 + rng.uniform(0.5, 1, size=(200, d)) * 18 / math.sqrt(d)
        placed = fourier.period(q, z, 1.0, np.ones(len(z)), 1e-12)
        values, error = fourier._series(fourier.library(), placed, np.ones(len(z)), 1)
        wanted, _, shift = exact_sums(q, z, 1.0, np.ones(len(z)))
        exact = np.concatenate([[np.exp(wanted)], np.exp(wanted) * shift.T])
        truncated = fourier.SHARE * 1e-12
        noise = np.abs(values - exact)[:, np.exp(wanted) < 1e-9].max()
        assert noise < error + truncated, d
        assert error < 60 * noise, d


def test_sums_that_are_weak_beside_the_cloud_are_done_again(
    transforms: str, monkeypatch: pytest.MonkeyPatch
):
    rng = np.random.default_rng(10)
    z = 0.05 * rng.normal(size=(2000, 2))
    q = rng.uniform((0.2, -0.7), (2.2, 1.3), size=(40, 2))
    wanted = exact_sums(q, z, 20.0, np.ones(len(z)))

    def error() -> float:
        with np.errstate(invalid="ignore"):
            found = fourier_sums(q, z, 20.0, np.ones(len(z)), tolerance=1e-12)
        return float(np.nan_to_num(np.abs(found[0] - wanted[0]), nan=1.0).max())

    assert error() < 1e-12
    monkeypatch.setattr(fourier, "FEW", 0)  # over the neighbourhood instead of over all
    monkeypatch.setattr(fourier, "is_narrow", lambda *_: False)
    assert error() < 1e-12
    monkeypatch.setattr(fourier, "_weak", lambda *_: np.zeros(0, np.intp))
    assert error() > 1e-10


def test_in_space_neighbourhoods_answer_weak_sums(transforms: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fourier, "FEW", 0)
    monkeypatch.setattr(fourier, "is_narrow", lambda *_: False)
    rng = np.random.default_rng(11)
    z = np.concatenate([0.2 * rng.normal(size=(150, 3)), rng.uniform(-3, 3, size=(30, 3))])
    wanted = exact_sums(z[-30:], z, 1.0, np.ones(len(z)))
    monkeypatch.setattr(fourier, "_weak", lambda normalizer, *_: np.flatnonzero(normalizer < 50))
    found = kernel_sums(z, z, 1.0, method="nufft")
    assert np.abs(found.log_normalizer[-30:] - wanted[0]).max() < 1e-12
    assert np.abs(found.shift[-30:] - wanted[2]).max() < 1e-12


@pytest.mark.parametrize("d", [1, 2])
def test_single_precision_is_kept_and_keeps_its_stated_error(transforms: str, d: int):
    z = np.random.default_rng(4).normal(size=(500, d)).astype(np.float32)
    wanted = exact_sums(z[:100], z, 5.0, np.ones(len(z)))
    found = kernel_sums(z, z, 5.0, method="nufft")
    assert {part.dtype for part in found} == {np.dtype(np.float32)}
    assert np.abs(found.log_normalizer[:100] - wanted[0]).max() < 1e-5
    assert np.abs(found.shift[:100] - wanted[2]).max() < 1e-5


def test_a_cloud_too_wide_is_refused_with_its_width(transforms: str):
    line = np.arange(300.0)[:, None]
    with pytest.raises(DomainError, match="1206 bandwidths"):
        kernel_sums(line, line, 16.0, method="nufft")
    space = np.random.default_rng(5).uniform(0, 400, size=(3000, 3))
    with pytest.raises(DomainError, match="'direct' or 'panels'"):
        kernel_sums(space, space, 1.0, method="nufft")
    with pytest.raises(DomainError, match="more than 3 dimensions"):
        kernel_sums(np.eye(4), np.eye(4), 1.0, method="nufft")


def test_without_finufft_the_method_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    fourier.library.cache_clear()
    old = SimpleNamespace(Plan=object)
    for module in (None, old):
        monkeypatch.setitem(sys.modules, "finufft", module)
        with pytest.raises(DomainError, match="install the extra `fast`"):
            kernel_sums([[0.0]], [[1.0]], 1.0, method="nufft")
    monkeypatch.undo()
    fourier.library.cache_clear()


@needs_finufft
@pytest.mark.filterwarnings("ignore::numeric.particles.BandwidthWarning")
def test_positions_stay_to_1e_12_over_a_whole_run():
    """A run multiplies errors by about a hundred."""
    rng = np.random.default_rng(12)
    tokens = rng.choice([-1.0, 1.0], size=(1200, 1)) * [1.0, 0.0] + 0.77 * rng.normal(
        size=(1200, 2)
    )
    layers = equal_layers(0.5, 20.0, 60)
    direct, series = (refine(tokens, 0.5, layers, method=m) for m in ("direct", "nufft"))
    assert np.abs(direct.particles - series.particles).max() < 1e-12


@needs_finufft
def test_many_duplicates_beside_a_particle_alone():
    z = np.full((10**5, 2), 0.3)
    z[-1] = 5.0
    found = kernel_sums(z, z, 20.0, method="nufft", workers=2)
    assert np.abs(found.log_normalizer[:-1] - np.log(10**5 - 1)).max() < 1e-12
    assert abs(found.log_normalizer[-1]) < 1e-12 and np.abs(found.shift).max() < 1e-13
