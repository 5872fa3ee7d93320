"""Which way of kernel sums is taken: by size, dimension, extent, and what is installed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from numeric.particles import costs, equal_layers, kernel_sums, refine

RNG = np.random.default_rng(6)
SMALL, PLANE, LINE, SPACE, MANY = (
    RNG.normal(size=shape)
    for shape in ((100, 2), (20_000, 2), (20_000, 1), (20_000, 3), (20_000, 8))
)
ALL = ("compiled", "nufft")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Says what is installed besides NumPy."""

    def these(*names: str) -> None:
        monkeypatch.setattr(costs, "is_installed", lambda method: method in names)

    return these


def chosen(queries: np.ndarray, sources: np.ndarray, repeats: int = 1, workers: int = 1) -> str:
    weights = np.ones(len(sources))
    return costs.cheapest(queries, sources, 20.0, weights, repeats=repeats, workers=workers)


def test_with_numpy_alone_panels_or_direct_sums_are_taken(installed: Callable[..., None]):
    installed()
    taken = [chosen(z, z) for z in (SMALL, LINE, PLANE, SPACE, MANY)]
    assert taken == ["direct", "panels", "panels", "direct", "direct"]
    assert [chosen(z, z, repeats=200) for z in (PLANE, SPACE, MANY)] == [
        "panels",
        "direct",
        "direct",
    ]
    assert chosen(PLANE[:10], PLANE) == "direct"
    scattered = 1e6 * RNG.normal(size=(2000, 2))
    assert chosen(scattered, scattered) == "direct"


def test_many_sums_are_worth_the_start_of_a_library_and_one_is_not(
    installed: Callable[..., None],
):
    installed(*ALL)
    assert [chosen(z, z, repeats=200) for z in (SMALL, PLANE, MANY)] == [
        "direct", "nufft", "compiled",
    ]  # fmt: skip
    assert [chosen(z, z) for z in (SMALL, PLANE[:5000], MANY)] == ["direct", "panels", "direct"]
    crowd = np.tile(SPACE, (10, 1))
    assert chosen(crowd, crowd) == "nufft"


def test_a_cloud_too_wide_for_its_coefficients_goes_elsewhere(installed: Callable[..., None]):
    installed(*ALL)
    wide = 100 * PLANE
    assert chosen(wide, wide, repeats=200) in ("panels", "compiled")
    space = 100 * SPACE
    assert chosen(space, space, repeats=200) == "compiled"


def test_threads_favour_sums_pair_by_pair(installed: Callable[..., None]):
    installed("compiled")
    z = PLANE[:5000]
    assert chosen(z, z, repeats=200) == "panels"
    assert chosen(z, z, repeats=200, workers=64) == "direct"
    assert chosen(z, z, repeats=10**5, workers=64) == "compiled"


def test_far_from_the_origin_the_choice_is_the_same(installed: Callable[..., None]):
    installed()
    assert chosen(SPACE + 1e6, SPACE + 1e6) == chosen(SPACE, SPACE)
    assert chosen(PLANE + 1e6, PLANE + 1e6) == chosen(PLANE, PLANE)


def test_the_choice_is_overruled_by_name(installed: Callable[..., None]):
    installed()
    found = {m: kernel_sums(PLANE, PLANE, 20.0, method=m).shift for m in ("auto", "panels")}
    assert np.array_equal(found["auto"], found["panels"])
    direct = kernel_sums(PLANE[:500], PLANE, 20.0, method="direct").shift
    assert not np.array_equal(direct, found["auto"][:500])


def test_a_run_says_how_many_sums_are_to_come(monkeypatch: pytest.MonkeyPatch):
    seen = []

    def spy(*arrays: object, repeats: int, **_: object) -> str:
        seen.append(repeats)
        return "direct"

    monkeypatch.setattr("numeric.particles.sums.cheapest", spy)
    refine(SMALL[:20], 0.5, equal_layers(0.5, 1.0, 7))
    assert seen == [7] * 7


def test_nothing_but_numpy_is_loaded_for_few_particles(monkeypatch: pytest.MonkeyPatch):
    def never() -> None:
        raise AssertionError

    monkeypatch.setattr(costs, "library", never)
    costs.is_installed.cache_clear()
    assert chosen(SMALL, SMALL, repeats=1000) == "direct"
