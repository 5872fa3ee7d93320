"""Kernel sums by every method, against the definition in long double.

Items: EB-6, EB-13, EB-30.
"""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest

from numeric.particles import kernel_sums, panels, weighted_grid
from numeric.particles.boxes import Boxes, grid
from numeric.particles.chebyshev import series
from numeric.particles.direct import difference_sums
from numeric.particles.panels import panel_sums
from tests.numeric.particles.oracle import clouds, exact_sums

WAYS = [("direct", 1), ("direct", 2), ("direct", 3), ("direct", 8), ("panels", 1), ("panels", 2)]
BETAS = (0.05, 1.0, 20.0, 3000.0)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("name", list(clouds(1)))
@pytest.mark.parametrize(("method", "d"), WAYS)
def test_first_stage_sums_keep_their_stated_error(method: str, d: int, name: str, beta: float):
    z = clouds(d)[name]
    rng = np.random.default_rng(1)
    some = rng.choice(len(z), min(len(z), 60), replace=False)
    log_normalizer, mean, shift = exact_sums(z[some], z, beta, np.ones(len(z)))
    with np.errstate(all="raise", under="ignore"):
        found = kernel_sums(z, z, beta, method=method)
    assert np.abs(found.log_normalizer[some] - log_normalizer).max() < 1e-12
    assert (found.log_normalizer >= -1e-12).all()  # the particle itself
    # Of the bandwidth; of a narrow cloud's radius where exponents were expanded.
    unit = 1 / np.sqrt(beta) + min(np.abs(z - z.mean(axis=0)).max(), 32 / np.sqrt(beta))
    assert np.abs(found.shift[some] - shift).max() < 1e-12 * unit
    assert np.abs(found.mean[some] - mean).max() < 1e-12 * unit + 4e-16 * np.abs(z).max()


@pytest.mark.parametrize("name", list(clouds(1)))
@pytest.mark.parametrize(("method", "d"), WAYS)
def test_weighted_sums_at_other_queries_keep_their_stated_error(method: str, d: int, name: str):
    z = clouds(d)[name]
    rng = np.random.default_rng(2)
    w = np.exp(-20 * rng.random(len(z)))
    w[1::7] = 0
    spread = 3 * rng.normal(size=(50, d)) * rng.choice([0.3, 1, 10], size=(50, 1))
    q = np.concatenate([z[0] + spread, z[:3], z[:2] + 1e9])
    for beta in (0.5, 8.0):
        log_normalizer, mean, shift = exact_sums(q, z, beta, w)
        with np.errstate(all="raise", under="ignore"):
            found = kernel_sums(q, z, beta, weights=w, method=method)
        # Rounding of the largest exponent and of a far particle's place is the input's own.
        slack = 1e-12 + 4e-16 * np.abs(log_normalizer)
        assert (np.abs(found.log_normalizer - log_normalizer) < slack).all()
        close = np.abs(q - z[0]).max(axis=1) < 1e6
        assert np.abs(found.mean - mean)[close].max() < 1e-11 + 4e-16 * np.abs(z).max()
        assert np.abs(found.shift - shift)[close].max() < 1e-11 + 4e-16 * np.abs(z).max()


@pytest.mark.parametrize("method", ["direct", "panels"])
def test_a_far_query_gets_its_nearest_particle(method: str):
    rng = np.random.default_rng(3)
    z = rng.normal(size=(500, 2))
    directions = np.array([[1.0, 0.0], [0.0, -1.0], [1.0, 1.0], [-0.3, 0.2]])
    for scale in (1e3, 1e8, 1e150, 1e300):
        q = scale * directions
        with np.errstate(all="raise", under="ignore"):
            found = kernel_sums(q, z, 2.0, method=method)
        leads = z @ directions.T
        at_scale_1000 = exact_sums(q, z, 2.0, np.ones(500))[1] if scale == 1e3 else None
        wanted = z[leads.argmax(axis=0)] if at_scale_1000 is None else at_scale_1000
        assert np.allclose(found.mean, wanted.astype(float), rtol=0, atol=1e-9)
        assert not np.isnan(found.log_normalizer).any()


@pytest.mark.parametrize(("method", "d"), WAYS)
def test_single_precision_is_kept_and_keeps_its_stated_error(method: str, d: int):
    z = np.random.default_rng(4).normal(size=(2000, d)).astype(np.float32)
    q = (2 * z[:200]).astype(np.float32)
    for queries in (z, q):
        wanted = exact_sums(queries[:100], z, 5.0, np.ones(len(z)))
        found = kernel_sums(queries, z, 5.0, method=method)
        assert {part.dtype for part in found} == {np.dtype(np.float32)}
        slack = 1e-5 * (1 + np.abs(wanted[0]))
        assert (np.abs(found.log_normalizer[:100] - wanted[0]) < slack).all()
        assert np.abs(found.mean[:100] - wanted[1]).max() < 3e-5


@pytest.mark.parametrize("method", ["direct", "panels"])
def test_sums_are_the_same_on_several_threads(method: str):
    z = np.random.default_rng(5).normal(size=(900, 2))
    one, more = (kernel_sums(z, z, 30.0, method=method, workers=n) for n in (1, 3))
    assert all(np.array_equal(a, b) for a, b in zip(one, more, strict=True))


@pytest.mark.parametrize(("method", "count"), [("direct", 4000), ("panels", 30000)])
def test_no_array_of_all_pairs_is_made(method: str, count: int):
    z = np.random.default_rng(8).normal(size=(count, 2))
    kernel_sums(z[:10], z[:10], 20.0, method=method)
    tracemalloc.start()
    kernel_sums(z, z, 20.0, method=method)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < min(8 * count**2 / 8, 3e7)


def test_a_million_duplicates_are_one_particle_of_weight_a_million():
    z = np.full((10**6, 2), 0.3)
    found = kernel_sums(z, z, 20.0)
    assert np.abs(found.log_normalizer - np.log(1e6)).max() < 1e-12
    assert np.abs(found.shift).max() < 1e-14


def test_many_groups_of_boxes_give_the_same_sums(monkeypatch: pytest.MonkeyPatch):
    z = np.random.default_rng(9).normal(size=(1500, 2)) * 5
    whole = kernel_sums(z, z, 20.0, method="panels")
    for least in ("BOXES", "AROUND"):
        monkeypatch.setattr(f"numeric.particles.panels.{least}", 7)
        monkeypatch.setattr("numeric.particles.panels.POINTS", 5)
        parts = kernel_sums(z, z, 20.0, method="panels")
        assert np.abs(whole.log_normalizer - parts.log_normalizer).max() < 1e-13
        assert np.abs(whole.shift - parts.shift).max() < 1e-13
        monkeypatch.undo()


def test_few_queries_in_a_wide_cloud_need_few_boxes(monkeypatch: pytest.MonkeyPatch):
    """Boxes between queries that lie far apart are passed over: their moments would fill memory."""
    z = np.random.default_rng(14).uniform(-150, 150, size=(20_000, 2))
    q = z[::2000] + 0.1
    most = 0

    def watched(boxes: Boxes, chosen: np.ndarray, weights: np.ndarray, terms: int):
        nonlocal most
        most = max(most, len(chosen))
        return moments_of(boxes, chosen, weights, terms)

    moments_of = panels._moments
    monkeypatch.setattr(panels, "AROUND", 100)
    monkeypatch.setattr(panels, "_moments", watched)
    found = kernel_sums(q, z, 20.0, method="panels")
    wanted = exact_sums(q, z, 20.0, np.ones(len(z)))
    assert np.abs(found.log_normalizer - wanted[0]).max() < 1e-12
    assert most < len(z) / 10


@pytest.mark.parametrize("half_width", [1.0, 1.4, 1.99])
def test_series_reach_their_tolerance(half_width: float):
    eps = np.finfo(np.float64).eps
    for tolerance in (1e-6, 1e-10, 1e-16):
        table = series(half_width, tolerance, eps)
        assert (table.errors <= 3 * tolerance + 80 * eps * np.maximum(table.largest, 0.1)).all()
        assert table.tail < 1e-21


def test_sums_that_are_weak_beside_their_neighbours_are_done_again(
    monkeypatch: pytest.MonkeyPatch,
):
    """At these queries the series of a heavy box nearby is right to its own size, not to theirs."""
    rng = np.random.default_rng(10)
    z = 0.05 * rng.normal(size=(5000, 2))
    q = rng.uniform((0.2, -0.7), (2.2, 1.3), size=(40, 2))
    wanted = exact_sums(q, z, 20.0, np.ones(len(z)))

    def errors() -> tuple[float, float]:
        log_normalizer, _, shift = panel_sums(q, z, 20.0, np.ones(len(z)), tolerance=1e-12)
        return (
            float(np.abs(log_normalizer - wanted[0]).max()),
            float(np.abs(shift - wanted[2]).max()),
        )

    assert max(errors()) < 1e-12
    with (
        monkeypatch.context() as narrower
    ):  # in narrower boxes first, and only what is left by pairs
        narrower.setattr("numeric.particles.panels.MANY_PAIRS", 0)
        assert max(errors()) < 1e-12
    monkeypatch.setattr("numeric.particles.panels._weak", lambda *_: np.zeros(0, np.intp))
    assert errors()[0] > 1e-10


@pytest.mark.parametrize("axes", [1, 2])
def test_a_heavy_source_beyond_the_reach_of_narrower_boxes_counts(
    axes: int, monkeypatch: pytest.MonkeyPatch
):
    """They reach less far than the wide ones, so that a sum must be larger to do without the rest:
    here the far source has a share of 4e-10."""
    monkeypatch.setattr("numeric.particles.panels.MANY_PAIRS", 0)
    q, z, w = np.zeros((1, axes)), np.zeros((2, axes)), np.array([1.0, 1e12])
    z[:, 0] = 0.8, -2.36
    wanted = exact_sums(q, z, 20.0, w)
    found = panel_sums(q, z, 20.0, w, tolerance=1e-12)
    assert np.abs(found[0] - wanted[0]).max() < 1e-12
    assert np.abs(found[2] - wanted[2]).max() < 1e-12


def test_places_in_boxes_are_exact():
    z = 1e8 + np.random.default_rng(11).normal(size=(50, 1))
    boxes = grid(z, z, 0.5, 4).sources
    back = z[boxes.order] / 0.5 - boxes.local / 2
    assert np.array_equal(back, np.rint(back))


def test_differences_and_expansion_agree():
    z = np.random.default_rng(12).normal(size=(700, 4))
    weights = np.random.default_rng(13).random(700)
    normalizer, moved = difference_sums(z, z, 3.0, weights, 1)
    found = kernel_sums(z, z, 3.0, weights=weights, method="direct")
    assert np.allclose(np.log(normalizer), found.log_normalizer, rtol=0, atol=1e-12)
    assert np.allclose(moved / normalizer[:, None], found.shift, rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", ["direct", "panels"])
def test_weights_over_two_hundred_decades_keep_the_stated_error(method: str):
    z, w = weighted_grid(lambda x: -(x**2) / 2.5, -38, 38, 1500)
    assert w.min() < 1e-250
    wanted = exact_sums(z[::20], z, 20.0, w)
    with np.errstate(all="raise", under="ignore"):
        found = kernel_sums(z, z, 20.0, weights=w, method=method)
    assert np.abs(found.log_normalizer[::20] - wanted[0]).max() < 1e-12
    assert np.abs(found.shift[::20] - wanted[2]).max() < 1e-13


@pytest.mark.parametrize("method", ["direct", "panels"])
def test_single_precision_reaches_to_its_ends(method: str):
    rng = np.random.default_rng(14)
    wide = (1e30 * rng.normal(size=(300, 2))).astype(np.float32)
    z = rng.normal(size=(300, 2)).astype(np.float32)
    q = np.array([[1e38, 0], [-3e38, 3e38]], np.float32)
    with np.errstate(all="raise", under="ignore"):
        apart = kernel_sums(wide, wide, 20.0, method=method)
        far = kernel_sums(q, z, 20.0, method=method)
    assert np.abs(apart.log_normalizer).max() < 1e-6 and np.abs(apart.shift).max() < 1e-6
    assert np.array_equal(far.mean, z[[z[:, 0].argmax(), (z[:, 1] - z[:, 0]).argmax()]])


def test_no_queries_give_no_sums():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kernel_sums(np.zeros((0, 3)), np.ones((2, 3)), 1.0)
    assert [part.shape for part in found] == [(0,), (0, 3), (0, 3)]
