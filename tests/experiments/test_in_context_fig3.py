"""Wells and trajectories: spoiled particles, and critical points that are left out, are noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

from experiments.in_context import fig1b, fig3, wells
from experiments.study import Outcome
from numeric.particles import RefinedPrior, posterior_mean, refine
from tests.experiments.spoiling import failed, outcomes_of

HULL = "growth of the hull in any direction by any layer, by what rounding allows"
WELL = "posterior mean of a well less the well, in deviations of the noise"
INDICES = "sum of the indices of all critical points, largest distance from 1"
SHARPER = "apart: mean curvature of wells gained, least over draws"


@pytest.fixture(scope="module")
def sound() -> list[Outcome]:
    """The limits, and one draw of few tokens for each layout."""
    tasks = [task.parameters for task in fig3.tasks(True, 0)]
    limits = [at for at in tasks if not at["tokens"]]
    draws = [{**at, "tokens": 300} for at in tasks if at["tokens"] and at["seed"][1] == 0]
    return outcomes_of(fig3.STUDY, *limits, *draws)


def anew(sound: list[Outcome]) -> list[Outcome]:
    """The same with the draw of the layout "apart" done again."""
    (apart,) = fig3.chosen(sound, "apart")
    again = outcomes_of(fig3.STUDY, apart.task.parameters)
    return [*again, *(o for o in sound if o is not apart)]


def test_particles_that_grow_their_hull_fail(monkeypatch: pytest.MonkeyPatch):
    def loose(tokens: Any, sigma2: float, schedule: Any, *, observer: Any) -> RefinedPrior:
        def look(layer: Any) -> None:
            particles = layer.particles * (1 + 1e-2 * layer.index)
            observer(type(layer)(layer.index, 0.0, 0.0, particles, None))

        return refine(tokens, sigma2, schedule, observer=look)

    task = {**fig1b.tasks(True, 0)[0].parameters, "tokens": 100}
    assert HULL not in failed(fig1b.STUDY, outcomes_of(fig1b.STUDY, task))
    monkeypatch.setattr(fig1b, "refine", loose)
    assert HULL in failed(fig1b.STUDY, outcomes_of(fig1b.STUDY, task))


def test_the_hull_that_is_drawn_is_a_polygon_around_a_circle():
    x, y = fig1b._corners(2 * np.ones(72))
    # Its corners are outside by 1/cos of half the angle between two directions.
    npt.assert_allclose(np.hypot(x, y), 2 / np.cos(np.pi / 72), rtol=1e-12)


def test_a_prior_that_is_not_refined_does_not_sharpen(
    sound: list[Outcome], monkeypatch: pytest.MonkeyPatch
):
    def idle(tokens: Any, sigma2: float, schedule: Any, *, observer: Any) -> RefinedPrior:
        def look(layer: Any) -> None:
            observer(type(layer)(layer.index, 0.0, 0.0, np.asarray(tokens), None))

        return refine(tokens, sigma2, schedule, observer=look)

    assert SHARPER not in failed(fig3.STUDY, sound)
    monkeypatch.setattr(fig3, "refine", idle)
    assert SHARPER in failed(fig3.STUDY, anew(sound))


def test_wells_that_are_none_and_saddles_that_are_missed_fail(
    sound: list[Outcome], monkeypatch: pytest.MonkeyPatch
):
    before = failed(fig3.STUDY, sound)
    assert WELL not in before and INDICES not in before
    monkeypatch.setattr(fig3, "posterior_mean", lambda prior, q: posterior_mean(prior, q) + 1e-6)
    monkeypatch.setattr(wells, "stationary", lambda energy, starts, sigma2: starts[:0])
    spoiled = failed(fig3.STUDY, anew(sound))
    assert WELL in spoiled and INDICES in spoiled
