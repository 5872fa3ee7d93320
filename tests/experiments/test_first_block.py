"""The studies of the first block: a spoiled estimator makes them fail."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

from experiments.first_block import (
    fibre_test,
    frozen_row,
    posteriors,
    quantised_rows,
    saturation,
    singular_set,
)
from experiments.first_block.instances import random_block, random_model
from experiments.first_block.output_only import output_only_posterior
from experiments.runner import timed
from experiments.study import Outcome, Task
from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    QueryOnly,
    QueryRowProjected,
    posterior,
)
from tests.experiments.spoiling import failed, outcomes_of

SEED = 30


def hedged(model: Any, block: Any, observation: Any, **more: Any) -> Any:
    """A posterior that is not sure enough of itself."""
    law = posterior(model, block, observation, **more)
    log_r = 0.4 * law.log_responsibilities
    log_r = log_r - np.log(np.exp(log_r).sum(axis=-1, keepdims=True))
    return replace(law, responsibilities=np.exp(log_r), log_responsibilities=log_r)


POSTERIORS = {"seed": SEED, "draws": 400, "control draws": 400}


def test_posteriors_that_hedge_fail_the_tower_test(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(posteriors, "posterior", hedged)
    spoiled = failed(posteriors.STUDY, outcomes_of(posteriors.STUDY, POSTERIORS))
    assert "tower test of the five posteriors, worst z-score" in spoiled


def test_an_estimator_that_sees_the_row_is_met_as_a_gap_along_the_fibre(
    monkeypatch: pytest.MonkeyPatch,
):
    def peeking(model: Any, block: Any, state: np.ndarray, kind: Any, *, seed: int) -> np.ndarray:
        return state + 1e-3 * np.random.default_rng(seed).normal(size=state.shape)

    monkeypatch.setattr(posteriors, "fibre_twins", peeking)
    task = {**POSTERIORS, "draws": 100}
    spoiled = failed(posteriors.STUDY, outcomes_of(posteriors.STUDY, task))
    assert "states of one observation are told apart by" in spoiled


def test_the_output_alone_tells_less_than_with_its_row_and_more_than_the_query():
    rng = np.random.default_rng(SEED)
    model = random_model(rng, 2, 2, 2, 0.5)
    block = random_block(rng, 2, 2, (1,), w_out=np.array([[1.0]]))
    run = block.run(model.draw(300, seed=SEED).state)
    by_output = output_only_posterior(model, block, run.query, run.output)
    assert by_output.change.max() <= 1e-9
    with_row = posterior(model, block, QueryRowProjected.of(run)).responsibilities
    alone = posterior(model, block, QueryOnly.of(run)).responsibilities
    # The mean square of a posterior grows with what is observed.
    squares = [(r**2).sum(axis=-1).mean() for r in (alone, by_output.responsibilities, with_row)]
    assert squares[0] < squares[1] < squares[2]


def test_the_output_only_posterior_is_that_of_a_direct_integral_over_the_other_token():
    """P = 2, d = 2: mass of y on the curve of other tokens, by a fine grid in both coordinates."""
    model = CorruptionModel(
        np.array([[[1.0, 0.2], [0.4, -0.6]], [[0.8, 0.1], [-0.5, 0.9]]]), np.array([0.3, 0.7]), 0.6
    )
    block = AttentionBlock(
        [np.array([[0.9, 0.3]])], [np.array([[1.0, -0.4]])], [np.array([[0.6, 1.1]])], n_tokens=2
    )
    query, other = np.array([0.5, 0.1]), np.array([0.2, 0.7])
    output = block.run(np.stack([query, other])).values
    found = output_only_posterior(model, block, query[None], output[None]).responsibilities[0]
    # A narrow window of y in place of the point, by summing over a grid of the other token.
    axis = np.linspace(-3.5, 3.5, 1001)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    states = np.stack([np.broadcast_to(query, grid.shape), grid], axis=1)
    distance = (block.run(states).values - output)[:, 0]
    near = np.abs(distance) < 0.1
    kernel = np.exp(-((distance[near] / 0.02) ** 2) / 2)
    masses = [
        pi * np.exp(-((query - mu[0]) ** 2).sum() / 0.72)
        * (kernel * np.exp(-((grid[near] - mu[1]) ** 2).sum(axis=-1) / 0.72)).sum()
        for pi, mu in zip(model.masses, model.mu, strict=True)
    ]  # fmt: skip
    npt.assert_allclose(found, np.array(masses) / sum(masses), atol=5e-4)


@pytest.mark.parametrize("case", singular_set.CASES)
def test_a_spoiled_posterior_is_off_every_reference(case: str, monkeypatch: pytest.MonkeyPatch):
    reference = singular_set.CASES[case]
    study, task = singular_set.STUDY, {"case": case, "seed": SEED, "draws": 50}
    assert float(outcomes_of(study, task)[0]["distance"]) <= singular_set.SAME

    def kept(rng: np.random.Generator, count: int) -> singular_set.Case:
        with monkeypatch.context() as exact:
            exact.setattr(singular_set, "posterior", posterior)
            return reference(rng, count)

    monkeypatch.setitem(singular_set.CASES, case, kept)
    monkeypatch.setattr(singular_set, "posterior", hedged)
    assert float(outcomes_of(study, task)[0]["distance"]) > 1e-3


def test_equal_heads_that_are_not_contradicted_fail_the_control(monkeypatch: pytest.MonkeyPatch):
    task = {"case": "equal heads and values", "seed": SEED, "draws": 20}
    monkeypatch.setattr(singular_set, "_refuses_contradiction", lambda *_: 0.0)
    spoiled = failed(singular_set.STUDY, outcomes_of(singular_set.STUDY, task))
    assert spoiled == ["control: contradictory rows of equal heads are refused, share"]


SATURATION = [{"scale": scale, "seed": SEED, "draws": 300} for scale in (1.0, 256.0)]


def test_a_format_that_promises_too_much_breaks_its_bounds(monkeypatch: pytest.MonkeyPatch):
    assert failed(saturation.STUDY, outcomes_of(saturation.STUDY, *SATURATION)) == []
    promised = saturation.FORMATS["bfloat16"]._replace(unit=2.0**-11)
    monkeypatch.setitem(saturation.FORMATS, "bfloat16", promised)
    spoiled = failed(saturation.STUDY, outcomes_of(saturation.STUDY, *SATURATION))
    assert "inside the margins: error of a log-ratio by its bound" in spoiled


def test_formats_without_a_failure_set_are_not_silently_fine(monkeypatch: pytest.MonkeyPatch):
    """Entries below the least normal number of float16 are not kept to half a unit."""
    kept = saturation.FORMATS["float16"]._replace(least=2.0**-24)
    monkeypatch.setitem(saturation.FORMATS, "float16", kept)
    spoiled = failed(saturation.STUDY, outcomes_of(saturation.STUDY, *SATURATION))
    assert "inside the margins: error of a log-ratio by its bound" in spoiled


def test_bfloat16_rounds_to_nearest_with_ties_to_even():
    one = 1.0
    step = 2.0**-7
    given = np.array([one, one + step / 2, one + 3 * step / 2, one + 0.51 * step, 2.0**-40])
    expected = [one, one, one + 2 * step, one + step, 2.0**-40]
    assert saturation.rounded(given, "bfloat16").tolist() == expected


def test_float16_and_the_grid_lose_their_anchor_where_the_specification_says():
    """FB-12f: float16 while l <= 14 log 2; the grid's anchor is 0 beyond log 511."""

    def anchor(log_ratio: float) -> np.ndarray:
        return np.array([1 / (1 + np.exp(log_ratio))])

    assert anchor(14 * np.log(2))[0] < saturation.FORMATS["float16"].least < anchor(9.7)[0]
    assert saturation.rounded(anchor(np.log(511) - 1e-6), "8-bit grid")[0] > 0
    assert saturation.rounded(anchor(np.log(511) + 1e-6), "8-bit grid")[0] == 0
    assert saturation.rounded(anchor(25 * np.log(2) + 1e-2), "float16")[0] == 0


def quantised(setting: str, *bits: int) -> list[Outcome]:
    tasks = [{"setting": setting, "bits": b} for b in bits]
    return outcomes_of(quantised_rows.STUDY, *tasks)


def test_the_costs_of_quantised_rows_are_those_of_the_specification():
    outcomes = quantised("far apart", 1, 2, 3, 4, 6, 8)
    information = [float(o["information"]) for o in outcomes]
    npt.assert_allclose(information, [0.230, 0.0380, 0.0289, 0.00372, 2.7e-4, 1.7e-5], rtol=0.02)
    calibration = [float(o["calibration"]) for o in outcomes[:3]]
    npt.assert_allclose(calibration, [0.219, 0.0064, 1.6e-4], rtol=0.03)


def test_a_cell_that_is_read_at_its_midpoint_is_met(monkeypatch: pytest.MonkeyPatch):
    whole = quantised_rows.estimators

    def plug_in(*arguments: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        _, plugged, mass = whole(*arguments)
        return plugged, plugged, mass

    assert failed(quantised_rows.STUDY, quantised("near", 1, 2)) == []
    monkeypatch.setattr(quantised_rows, "estimators", plug_in)
    spoiled = failed(quantised_rows.STUDY, quantised("near", 1, 2))
    assert "mean of the state's responsibility in a cell less the cell's own" in spoiled


def test_information_that_a_further_bit_destroys_is_met():
    spoiled = failed(quantised_rows.STUDY, quantised("near", 2, 1))  # the coarser one comes last
    assert "one bit more raises the loss of information by" in spoiled


FIBRE = [
    {"heads": 2, "values": 1, "seed": SEED, "draws": 2000},
    {"heads": 3, "values": 2, "seed": SEED, "draws": 2000},
    *({"designed": name, "seed": SEED, "draws": 2000} for name in fibre_test.DESIGNED),
]


def fibre() -> list[Outcome]:
    named = [Task(str(task.get("designed", k)), task) for k, task in enumerate(FIBRE)]
    return [timed(fibre_test.STUDY.run, task) for task in named]


def test_a_wrong_loss_is_met_by_the_states(monkeypatch: pytest.MonkeyPatch):
    assert failed(fibre_test.STUDY, fibre()) == []
    whole = fibre_test.information_loss
    monkeypatch.setattr(fibre_test, "information_loss", lambda *a: 1.5 * whole(*a))
    assert failed(fibre_test.STUDY, fibre()) == [
        "loss by the integral less loss by the states, in standard errors"
    ]


def test_a_rank_tolerance_that_is_too_coarse_is_met(monkeypatch: pytest.MonkeyPatch):
    whole = fibre_test.zero_one_law
    monkeypatch.setattr(fibre_test, "zero_one_law", lambda *a, **k: whole(*a, **k, rank_tol=0.5))
    assert "open dimensions less those of random maps" in failed(fibre_test.STUDY, fibre())


def test_the_designed_contrasts_are_seen_and_not_seen_as_in_the_specification():
    """FB-13: one contrast is sufficient; the other leaves |P_ker F Delta|/t = 1.3 (1-t)/t."""
    _, _, seen, unseen = fibre()
    t = fibre_test.T
    npt.assert_allclose(unseen["worst contrast"].value, 1.3 * (1 - t) / t, rtol=1e-12)
    assert seen["sufficient"].value.all()
    npt.assert_allclose(seen["worst contrast"].value, 0, atol=1e-12)


FROZEN = [
    {"block": b, "components": n, "t": 0.5, "contrast": a, "seed": SEED, "draws": 3000}
    for b, n, a in (
        ("one head", "two", 1.0),
        ("one head", "three", 1.0),
        ("one head", "two", 0.0),
        ("values of full rank", "three", 1.0),
        ("row that measures nothing", "three", 1.0),
    )
]


@pytest.mark.parametrize(
    ("name", "spoil", "says"),
    [
        ("frozen_row_difference", lambda x: 0 * x, "off its closed form"),
        ("frozen_row_posterior",
         lambda law: replace(law, noise_mean=law.noise_mean + 0.1), "same projection"),
        ("posterior",
         lambda law: replace(law, noise_mean=law.noise_mean + 0.5), "excess risk less cost"),
    ],
)  # fmt: skip
def test_a_spoiled_frozen_row_is_met(
    name: str, spoil: Any, says: str, monkeypatch: pytest.MonkeyPatch
):
    study = frozen_row.STUDY
    whole = getattr(frozen_row, name)
    monkeypatch.setattr(frozen_row, name, lambda *a: spoil(whole(*a)))
    assert any(says in line for line in failed(study, outcomes_of(study, *FROZEN)))


def test_the_frozen_rows_cost_on_the_counterexample_is_that_of_the_specification():
    """FB-17: excess risk .143 over a risk of .222, here with their standard errors."""
    task = {**FROZEN[0], "draws": 100_000}
    (outcome,) = outcomes_of(frozen_row.STUDY, task)
    for name, stated in (("cost", 0.143), ("risk", 0.222)):
        found = outcome[name]
        assert 0 < float(found.error) < 0.01
        assert abs(float(found) - stated) < 4.5 * float(found.error) + 5e-4
