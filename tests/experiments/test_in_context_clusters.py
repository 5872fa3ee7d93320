"""The study of clusters: two atoms by another quadrature, and with its parts spoiled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from experiments.in_context import clusters
from experiments.in_context.estimates import drawn
from experiments.in_context.prompts import VARIANCES
from experiments.study import Outcome, sampled
from tests.experiments.spoiling import failed, outcomes_of


@pytest.mark.parametrize("v", [0.0, *VARIANCES.values(), 0.7])
def test_two_atoms_by_gauss_hermite(v: float):
    """The integrand is even, so that one component's average is the law's."""
    noisy = v + 0.5
    nodes, weights = np.polynomial.hermite_e.hermegauss(180)
    x = 1 + np.sqrt(noisy) * nodes
    off = (v * x + 0.5 * np.tanh(x / noisy)) / noisy - np.tanh(x / 0.5)
    expected = weights @ off**2 / np.sqrt(2 * np.pi) + v**2 / noisy
    # tanh has poles at pi/4 from the axis, which end the nodes' convergence there.
    assert clusters.two_atoms(v, 0.5) == pytest.approx(expected, rel=1e-7, abs=1e-30)


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    found = [dict(task.parameters) for task in clusters.tasks(True, 0)]
    return outcomes_of(
        clusters.STUDY,
        *(t for t in found if t["width"] == "deviation" and t.get("draw", 0) < 2),
    )


def test_one_reading_alone_has_its_conditions_and_table(outcomes: list[Outcome]):
    assert failed(clusters.STUDY, outcomes) == []
    (table,) = clusters.STUDY.tables(outcomes)
    assert all(len(row) == len(table.columns) for row in table.rows)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("clusters", lambda o: 0 * o["clusters"].value + 800, "end in few clusters"),
        ("clusters", lambda o: o["clusters"].value[:, ::-1], "number of clusters from depth"),
        ("two stages", lambda o: o["stage one"].value, "both stages over the first alone"),
        ("two stages",
         lambda o: 0.2 * o["two stages"].value ** np.linspace(0, 1, 7), "not enough"),
        ("two stages", lambda o: o["two stages"].value[:, :1] + 0 * o["two stages"].value,
         "few clusters of beta = 10"),
    ],
)  # fmt: skip
def test_results_that_are_not_so_are_met(
    name: str, change: Any, says: str, outcomes: list[Outcome]
):
    spoiled = [o for o in outcomes if o not in drawn(outcomes)]
    spoiled += [
        replace(o, results={**o.results, name: sampled(change(o))}) for o in drawn(outcomes)
    ]
    assert any(says in line for line in failed(clusters.STUDY, spoiled))
