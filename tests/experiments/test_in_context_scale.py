"""Scale: normalizers and errors that are spoiled are noticed, and growth is asked for at 1e6."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from experiments.in_context import scale
from experiments.study import Outcome, Quantity, sampled
from numeric.particles import RefinedPrior, posterior_mean, refine
from tests.experiments.spoiling import failed, outcomes_of

EXACT = "relative error of a normalizer, first and last layer"
MEMORY = "most tokens: bytes a particle that a layer needs"
ERROR = "most tokens: error beyond the limit's, times the root of their number"
GROWTH = "exponent of the time a layer, 1e4 to 1e6 tokens"
FEW, MANY = ({"tokens": n, "layers": 10, "seed": 4} for n in (500, 10_000))


@pytest.fixture(scope="module")
def sound() -> list[Outcome]:
    return outcomes_of(scale.STUDY, FEW, MANY)


def with_results(outcome: Outcome, **more: Quantity) -> Outcome:
    """The outcome with some of its results replaced."""
    renamed = {name.replace("_", " "): value for name, value in more.items()}
    return replace(outcome, results={**outcome.results, **renamed})


def test_sound_runs_hold_and_are_not_asked_for_growth(sound: list[Outcome]):
    assert failed(scale.STUDY, sound) == []
    assert GROWTH not in [c.says for c in scale.conditions(sound)]


def test_a_normalizer_that_is_off_fails(sound: list[Outcome], monkeypatch: pytest.MonkeyPatch):
    def rounded(tokens: Any, sigma2: float, schedule: Any, *, observer: Any) -> RefinedPrior:
        def look(layer: Any) -> None:
            if layer.sums is not None:
                off = layer.sums.log_normalizer * (1 + 1e-11)
                layer = replace(layer, sums=layer.sums._replace(log_normalizer=off))
            observer(layer)

        return refine(tokens, sigma2, schedule, observer=look)

    monkeypatch.setattr(scale, "refine", rounded)
    assert EXACT in failed(scale.STUDY, [*outcomes_of(scale.STUDY, FEW), sound[1]])


def test_an_estimate_that_shrinks_fails(sound: list[Outcome], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scale, "posterior_mean", lambda *at: 0.7 * posterior_mean(*at))
    assert ERROR in failed(scale.STUDY, [sound[0], *outcomes_of(scale.STUDY, MANY)])


def test_all_pairs_in_memory_and_square_growth_fail(sound: list[Outcome]):
    pairs = with_results(sound[1], bytes_a_particle=sampled(8.0 * 10_000))
    assert MEMORY in failed(scale.STUDY, [sound[0], pairs])
    for power, fails in ((1.1, False), (1.2, True)):
        grown = [
            replace(
                with_results(sound[1], seconds_a_layer=sampled(1e-6 * n**power)),
                task=replace(sound[1].task, parameters={**MANY, "tokens": n}),
            )
            for n in (1000, 10_000, 100_000, 1_000_000)
        ]
        assert scale.exponent(grown) == pytest.approx(power)
        assert (GROWTH in failed(scale.STUDY, grown)) == fails


def test_the_oracle_of_normalizers_is_a_plain_sum():
    points = np.random.default_rng(1).normal(size=(300, 2))
    places = np.array([0, 7, 299])
    away = ((points[places, None] - points) ** 2).sum(axis=2)
    logs = np.log(np.exp(-scale.BETA / 2 * away).sum(axis=1))
    assert scale.normalizer_error(points, places, logs) < 1e-14
    assert scale.normalizer_error(points, places, logs + 1e-9) == pytest.approx(1e-9, rel=1e-4)


def test_isolated_and_outermost_tokens_are_looked_at():
    tokens = np.concatenate([np.random.default_rng(2).normal(size=(500, 2)), scale.ISOLATED])
    places = scale.looked_at(tokens, 0)
    radius = np.linalg.norm(tokens, axis=1)
    far = np.argsort(radius)[-(len(scale.ISOLATED) + scale.OUTERMOST) :]
    assert set(far) <= set(places)
