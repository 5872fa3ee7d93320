"""The study of sizes, noise and layers: against a dense oracle, and with its parts spoiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

from experiments.in_context import estimates as estimates_module
from experiments.in_context import fig4
from experiments.in_context.estimates import EDGES, estimates, pick, priors_at
from experiments.in_context.population import population_errors
from experiments.in_context.prompts import PAIR, VARIANCES, draw_prompt
from experiments.study import Outcome
from numeric.mixture import pair_posterior_mean
from tests.experiments.spoiling import failed, outcomes_of

SMALL = {
    "width": "variance", "sigma2": 0.5, "beta": 20.0, "nominal": 8, "depths": [0, 4, 8],
    "sizes": [30, 60], "fresh": 25, "seed": 3, "draw": 1, "distance": 0.3,
}  # fmt: skip


def attended(queries: np.ndarray, keys: np.ndarray, beta: float) -> np.ndarray:
    """Softmax average of the keys, from all differences."""
    logits = -beta / 2 * ((queries[:, None] - keys) ** 2).sum(axis=-1)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights @ keys / weights.sum(axis=1, keepdims=True)


def test_errors_are_those_of_the_algorithm_written_out():
    v = VARIANCES["variance"]
    prompt = draw_prompt(PAIR, v, 0.5, 60, [3, 1, 0])
    fresh = draw_prompt(PAIR, v, 0.5, 25, [3, 1, 1])
    bayes, new_bayes = (pair_posterior_mean(p.tokens, PAIR[0], v, 0.5) for p in (prompt, fresh))
    found = estimates(SMALL)
    z, eta = prompt.tokens, 20 * 0.5 / 16
    for layer in range(9):
        if layer in SMALL["depths"]:
            place = (1, SMALL["depths"].index(layer))
            both, new = attended(prompt.tokens, z, 2.0), attended(fresh.tokens, z, 2.0)
            distances = ((both - bayes) ** 2).sum(axis=1)
            expected = {
                "two stages": distances.mean(),
                "stage one": ((z - bayes) ** 2).sum(axis=1).mean(),
                "fresh tokens": ((new - new_bayes) ** 2).sum(axis=1).mean(),
                "squared error": ((both - prompt.clean) ** 2).sum(axis=1).mean(),
            }
            for name, value in expected.items():
                # Some layers of rounding, each of which ripples amplify a little.
                npt.assert_allclose(found[name].value[place], value, rtol=1e-11)
            # What is left of the squared error is Bayes' own and the rest.
            own = ((bayes - prompt.clean) ** 2).sum(axis=1).mean()
            left = expected["squared error"] - own - expected["two stages"]
            assert found["rest"].value[place] == pytest.approx(left, abs=1e-12)
            inside = np.abs(prompt.tokens[:, 0]) < EDGES[1]
            assert found["shares of bins"].value[0] == inside.mean()
            npt.assert_allclose(found["in bins"].value[place[1], 0], distances[inside].mean())
        z = z + eta * (attended(z, z, 20.0) - z)
    assert found["clusters"].value.shape == found["rest"].error.shape == (2, 3)


def test_priors_are_kept_with_their_clocks_in_the_order_that_is_asked():
    tokens = draw_prompt(PAIR, 0.1, 0.5, 50, 0).tokens
    deep, none = priors_at(tokens, 0.5, 20.0, [6, 0], 8)
    assert (none.time, none.theta) == (0, 0)
    assert (deep.time, deep.theta) == pytest.approx((6 / 8 * 0.25, 6 / 8 * 5))
    npt.assert_array_equal(none.particles, tokens)


def test_the_least_error_and_the_distance_are_the_error():
    """EB-3: the cross term is nothing but noise, of any size of prompt and depth."""
    tasks = [{**SMALL, "sizes": [400], "draw": k} for k in range(6)]
    rest = [outcome["rest"] for outcome in outcomes_of(fig4.STUDY, *tasks)]
    error = np.sqrt(sum(q.error**2 for q in rest))
    assert np.abs(sum(q.value for q in rest) / error).max() < 4.5


def small(limits: bool) -> list[dict[str, Any]]:
    """The quick tasks of one reading: of infinitely many tokens, or two draws."""
    found = [dict(task.parameters) for task in fig4.tasks(True, 0)]
    return [
        t for t in found
        if t["width"] == "deviation" and ("limit" in t) == limits and t.get("draw", 0) < 2
    ]  # fmt: skip


@pytest.fixture(scope="module")
def of_limits() -> list[Outcome]:
    return outcomes_of(fig4.STUDY, *small(limits=True))


@pytest.mark.parametrize(
    ("name", "spoil", "says"),
    [
        ("_bayes", lambda whole: lambda *a: 1.5 * whole(*a), "distance from it, in standard"),
        ("priors_at", lambda whole: lambda *a: whole(*a)[:1] * len(a[3]), "from depth to depth"),
        ("posterior_mean", lambda _: lambda prior, queries: queries, "distance from its limit"),
    ],
)
def test_a_spoiled_estimator_is_met(
    name: str, spoil: Any, says: str, of_limits: list[Outcome], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(estimates_module, name, spoil(getattr(estimates_module, name)))
    spoiled = of_limits + outcomes_of(fig4.STUDY, *small(limits=False))
    assert any(says in line for line in failed(fig4.STUDY, spoiled))


def test_one_reading_alone_has_its_conditions_and_tables(of_limits: list[Outcome]):
    outcomes = of_limits + outcomes_of(fig4.STUDY, *small(limits=False))
    assert failed(fig4.STUDY, outcomes) == []
    tables = fig4.STUDY.tables(outcomes)
    assert len(tables) == 4
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
    limit = pick(outcomes, part="sizes", limit=True)[0]
    assert f"{float(limit['two stages'].value[-1]):.5f}" in str(tables[0])


def test_the_one_shot_does_not_reach_bayes_however_many_tokens():
    """EB-21: its limit is the posterior mean of a law with the noise in it twice."""
    for v in VARIANCES.values():
        errors = population_errors(v, 0.5, 20.0, [0], 200)
        # Along the second coordinate, where all is Gaussian, the excess has a closed form.
        gap = 0.5**4 / ((v + 0.5) * (v + 1.0) ** 2)
        assert errors.two_stages[0] - errors.mmse > gap > 0.04
