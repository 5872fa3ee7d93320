"""The study of depth and bandwidth: with its parts spoiled, and its tables from known errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from experiments.in_context import fig5
from experiments.in_context.estimates import drawn
from experiments.in_context.population import population_errors
from experiments.in_context.prompts import VARIANCES
from experiments.study import Outcome, Quantity, Task, exact, sampled
from tests.experiments.spoiling import failed, outcomes_of


def small(width: str) -> list[Mapping[str, Any]]:
    """The quick tasks of one reading at two betas, with two draws and a prompt of 500."""
    found = [dict(task.parameters) for task in fig5.tasks(True, 0)]
    return [
        {**t, "sizes": t["sizes"][-1:]} if "sizes" in t else t
        for t in found if t["width"] == width and t["beta"] < 80 and t.get("draw", 0) < 2
    ]  # fmt: skip


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[Outcome]]:
    return {width: outcomes_of(fig5.STUDY, *small(width)) for width in VARIANCES}


def changed(outcomes: list[Outcome], name: str, change: Any) -> list[Outcome]:
    """The outcomes with one result of the draws changed."""
    others = [o for o in outcomes if o not in drawn(outcomes)]
    return others + [
        replace(o, results={**o.results, name: sampled(change(o.results))})
        for o in drawn(outcomes)
    ]  # fmt: skip


@pytest.mark.parametrize("width", VARIANCES)
def test_one_reading_alone_has_its_conditions_and_tables(
    width: str, outcomes: dict[str, list[Outcome]]
):
    assert failed(fig5.STUDY, outcomes[width]) == []
    tables = fig5.STUDY.tables(outcomes[width])
    assert len(tables) == 4
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)


def value(results: Mapping[str, Quantity], name: str) -> np.ndarray:
    return results[name].value


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("two stages", lambda r: value(r, "stage one"), "from the first stage alone to both"),
        ("two stages", lambda r: value(r, "two stages")[..., ::-1],
         "from depth to depth"),
        ("stage one", lambda r: 1.2 * value(r, "two stages"), "first stage alone over both"),
    ],
)  # fmt: skip
def test_errors_that_are_not_so_are_met(
    name: str, change: Any, says: str, outcomes: dict[str, list[Outcome]]
):
    spoiled = changed(outcomes["deviation"], name, change)
    assert any(says in line for line in failed(fig5.STUDY, spoiled))


def test_wide_components_are_denoised_too_much_and_tight_ones_are_not(
    outcomes: dict[str, list[Outcome]],
):
    """EB-56: the condition on late depth is not the same for the two readings."""
    says = "variance: limit at twice the nominal depth above its least"
    as_if = [
        Outcome(Task(o.task.name, {**o.task.parameters, "width": "variance"}), o.results, 0.0)
        for o in outcomes["deviation"]
    ]
    assert says in failed(fig5.STUDY, as_if)


def test_what_a_target_needs_is_read_off_the_errors():
    """Errors that fall by 0.1 a step from 0.6, the first stage's from 1, in any beta and size."""
    depths, least = [0, 100, 200, 300, 400], 0.25
    both = np.array([0.35, 0.25, 0.15, 0.05, 0.01])
    shared = {"width": "deviation", "part": "sizes", "nominal": 200, "depths": depths}
    made = []
    for beta in (5.0, 20.0):
        at = {**shared, "beta": beta}
        errors = {
            "two stages": sampled(np.stack([both + 0.1, both])),
            "stage one": sampled(np.stack([both + 0.5, both + 0.4])),
            "squared error": sampled(np.stack([both, both])),
            "least error": exact(least),
        }
        made += [
            Outcome(Task("", {**at, "draw": k, "sizes": [100, 500]}), errors, 0.0)
            for k in range(2)
        ]  # fmt: skip
        limit = {
            "two stages": exact(least + both),
            "stage one": exact(least + both + 0.4),
            "least error": exact(least),
            "change with the grid": exact([0.0, 0.0]),
        }
        made.append(Outcome(Task("", {**at, "limit": True}), limit, 0.0))
    best, needed = fig5.STUDY.tables(made)[2:]
    assert best.rows[0][1:] == ["5", "400", "0.7600", "0.5100", "5", "400", "0.3600", "0.1100"]
    cells = {row[0]: row[1:] for row in needed.rows}
    assert cells["0.5"] == ["-", "-", "-", "100", "100", "100"]
    assert cells["0.3"] == ["-", "-", "-", "300", "300", "500"]


def test_a_narrower_kernel_is_less_late():
    """EB-9: infinitely many tokens are at their best after the nominal end by O(1/beta)."""
    depths = list(range(200, 301, 20))
    best = [
        depths[int(np.argmin(population_errors(0.1, 0.5, beta, depths, 200, nodes=200)[0]))]
        for beta in (10.0, 40.0)
    ]
    assert 200 < best[1] < best[0]
