"""The variance of a Gaussian cloud: a dense oracle, and spoiled particles that make it fail."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

from experiments.in_context import fig2
from experiments.in_context.prompts import draw_prompt
from experiments.study import Outcome
from numeric.particles import RefinedPrior, refine
from tests.experiments.spoiling import failed, outcomes_of

SLOW_AT_ONE = "beta = 1: N times what the quotient to the limit's layers is off 1"
STUCK_AT_200 = "beta = 200: share of the ideal change that finitely many particles miss"


@pytest.fixture(scope="module")
def sound() -> list[Outcome]:
    """The quick form with fewer particles and draws."""
    tasks = [task.parameters for task in fig2.tasks(True, 0)]
    few = [{**at, "tokens": at["tokens"] // 4} for at in tasks if at["seed"][1] < 3]
    return outcomes_of(fig2.STUDY, *few)


def anew(sound: list[Outcome], beta: float) -> list[Outcome]:
    """The same with the figure's tasks of one beta done again."""
    own = [at for at in (o.task.parameters for o in sound) if at["part"] == "figure"]
    again = outcomes_of(fig2.STUDY, *(at for at in own if at["beta"] == beta))
    kept = [o for o in sound if o.task.parameters not in [a.task.parameters for a in again]]
    return [*again, *kept]


def test_variances_are_those_of_a_dense_sum_in_long_doubles():
    at = {"part": "figure", "tokens": 60, "beta": 7.0, "layers": 20, "seed": [1, 2],
          "histogram": True}  # fmt: skip
    found = fig2.run(at)
    z = draw_prompt([[0.0]], 1.0, 0.25, 60, [1, 2]).tokens[:, 0].astype(np.longdouble)
    eta = np.longdouble(7.0) * np.longdouble(0.25) / 40
    variances = [z.var()]
    for _ in range(20):
        weights = np.exp(-np.longdouble(3.5) * (z[:, None] - z) ** 2)
        z = z + eta * (weights @ z / weights.sum(axis=1) - z)
        variances.append(z.var())
    # Twenty layers of rounding, of numbers of the size of 1.
    npt.assert_allclose(found["variance"].value, np.array(variances, float), rtol=1e-13)
    # All particles are within the bins: 1.25 has a deviation of 1.12, of which the ends are four.
    npt.assert_allclose(found["histogram"].value.sum(axis=1) * np.diff(fig2.EDGES)[0], 1.0)


def test_the_limit_of_one_layer_is_that_of_its_recursion():
    at = {"part": "figure", "tokens": 50, "beta": 4.0, "layers": 20, "seed": [0, 0],
          "histogram": False}  # fmt: skip
    found = fig2.run(at)
    v0, v1 = found["limit"].value[:2]
    assert v0 == found["variance"].value[0]
    assert v1 == pytest.approx(v0 * (1 - 0.025 / (1 + 4 * v0)) ** 2, rel=1e-15)


def test_particles_that_move_too_far_fail(sound: list[Outcome], monkeypatch: pytest.MonkeyPatch):
    def hasty(tokens: Any, sigma2: float, schedule: Any, **more: Any) -> RefinedPrior:
        return refine(tokens, sigma2, replace(schedule, eta=1.2 * schedule.eta), **more)

    assert SLOW_AT_ONE not in failed(fig2.STUDY, anew(sound, 1.0))
    monkeypatch.setattr(fig2, "refine", hasty)
    assert SLOW_AT_ONE in failed(fig2.STUDY, anew(sound, 1.0))


def test_particles_that_never_gather_fail(sound: list[Outcome], monkeypatch: pytest.MonkeyPatch):
    def smooth(tokens: Any, sigma2: float, schedule: Any, **more: Any) -> RefinedPrior:
        gentle = replace(schedule, eta=schedule.eta / 10, beta=schedule.beta / 10)
        return refine(tokens, sigma2, gentle, **more)

    assert STUCK_AT_200 not in failed(fig2.STUDY, sound)
    monkeypatch.setattr(fig2, "refine", smooth)
    assert STUCK_AT_200 in failed(fig2.STUDY, anew(sound, 200.0))


def test_a_wrong_clock_of_the_limit_fails(sound: list[Outcome], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fig2, "END", fig2.SIGMA2)
    assert "limit's variance and time off what EB-53 prints" in failed(fig2.STUDY, sound)
