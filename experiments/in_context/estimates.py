"""Both stages over depths and sizes of a prompt, and how far each is from the Bayes estimate.

Given the tokens, the clean token is off its Bayes estimate by something of mean 0 that no function
of the tokens can tell. So the error of any estimate is the least error and its mean squared
distance from the Bayes estimate, which has far less noise than the squared error itself (EB-3).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from experiments.in_context.prompts import PAIR, VARIANCES, Prompt, draw_prompt
from experiments.study import Outcome, Quantity, exact, monte_carlo, sampled
from numeric.mixture import pair_mmse, pair_posterior_mean
from numeric.particles import (
    BandwidthWarning,
    Layer,
    RefinedPrior,
    cluster_count,
    equal_layers,
    posterior_mean,
    refine,
)

# Bins of |x~ . mu|: the two components are equally likely at 0.
EDGES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, np.inf)


def priors_at(
    tokens: ArrayLike,
    sigma2: float,
    beta: float,
    depths: Sequence[int],
    n_layers_nominal: int,
    *,
    weights: ArrayLike | None = None,
) -> list[RefinedPrior]:
    """The refined prior after each of some numbers of layers, in their order.

    Args:
        tokens, sigma2, weights: as for `refine`.
        beta: inverse bandwidth.
        depths: numbers of layers.
        n_layers_nominal: how many lead to the nominal end.
    """
    found: dict[int, RefinedPrior] = {}
    points = np.asarray(tokens)
    masses = np.ones(len(points)) if weights is None else np.asarray(weights)

    def keep(layer: Layer) -> None:
        if layer.index in depths:
            found[layer.index] = RefinedPrior(
                layer.particles, masses, sigma2, layer.time, layer.theta
            )

    schedule = equal_layers(sigma2, beta, max(depths), n_layers_nominal=n_layers_nominal)
    with warnings.catch_warnings():
        # What a bandwidth does is what the studies are about, and nodes of a grid are no sample.
        warnings.simplefilter("ignore", BandwidthWarning)
        refine(points, sigma2, schedule, weights=masses, observer=keep)
    return [found[depth] for depth in depths]


def estimates(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """How far both stages are from Bayes over sizes and depths, in one draw of a prompt.

    Args:
        parameters: of a task: `width`, `sigma2`, `beta`, `depths`, `nominal` (layers to the
            nominal end), `sizes` (of prompts of the same draw), `fresh` (how many tokens that are
            not of the prompt), `seed` and `draw`; `distance` where clusters are counted.

    Returns:
        mean squared distances from the Bayes estimate, shape ``(n_sizes, n_depths)``: of the two
        stages at the prompt's tokens and at fresh ones, and of the first stage's particles; the
        squared error itself; what that is besides the Bayes estimate's and the distance, with its
        standard error; numbers of clusters. Of the largest size: the tokens' shares of the bins of
        `EDGES`, and the mean distances in them, shape ``(n_depths, n_bins)``, nan in an empty one.
    """
    v, sigma2 = VARIANCES[parameters["width"]], parameters["sigma2"]
    draw, depths = [parameters["seed"], parameters["draw"]], parameters["depths"]
    whole = draw_prompt(PAIR, v, sigma2, max(parameters["sizes"]), [*draw, 0])
    fresh = draw_prompt(PAIR, v, sigma2, parameters["fresh"], [*draw, 1])
    new_bayes = _bayes(fresh, v)
    rows: dict[str, list[list[float]]] = {}
    rests, bins = [], []
    for size in sorted(parameters["sizes"]):
        prompt = whole.first(size)
        bayes = _bayes(prompt, v)
        priors = priors_at(prompt.tokens, sigma2, parameters["beta"], depths, parameters["nominal"])
        found = [posterior_mean(prior, prompt.tokens) for prior in priors]
        new = [posterior_mean(prior, fresh.tokens) for prior in priors]
        distances = np.stack([_squares(x - bayes) for x in found])
        row = {
            "two stages": distances.mean(axis=1),
            "stage one": [_squares(prior.particles - bayes).mean() for prior in priors],
            "fresh tokens": [_squares(x - new_bayes).mean() for x in new],
            "squared error": [_squares(x - prompt.clean).mean() for x in found],
        }
        if "distance" in parameters:
            apart = parameters["distance"]
            row["clusters"] = [cluster_count(prior.particles, apart) for prior in priors]
        for name, values in row.items():
            rows.setdefault(name, []).append([float(value) for value in values])
        missed = bayes - prompt.clean
        cross = [2 * ((x - bayes) * missed).sum(axis=1) for x in found]
        rests.append(monte_carlo(np.stack(cross, axis=1)))
        bins = _binned(distances, np.abs(prompt.tokens @ PAIR[0]))
    results = {name: sampled(values) for name, values in rows.items()}
    results["rest"] = Quantity(
        "MC", np.stack([q.value for q in rests]), np.stack([q.error for q in rests])
    )
    results["shares of bins"], results["in bins"] = (sampled(x) for x in bins)
    results["least error"] = exact(pair_mmse(PAIR[0], v, sigma2))
    return results


def pick(outcomes: Sequence[Outcome], **wanted: Any) -> list[Outcome]:
    """The outcomes of tasks with these parameters."""
    return [
        o for o in outcomes
        if all(o.task.parameters.get(name) == value for name, value in wanted.items())
    ]  # fmt: skip


def drawn(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those of prompts, not of infinitely many tokens."""
    return [o for o in outcomes if "draw" in o.task.parameters]


def draws(outcomes: Sequence[Outcome], result: str) -> np.ndarray:
    """A result of several draws, which are the first axis."""
    return np.stack([outcome[result].value for outcome in outcomes])


def error_over_draws(outcomes: Sequence[Outcome], result: str) -> Quantity:
    """The least error and the mean over draws of the distance from Bayes."""
    found = monte_carlo(draws(outcomes, result))
    return Quantity("MC", found.value + outcomes[0]["least error"].value, found.error)


def _bayes(prompt: Prompt, v: float) -> np.ndarray:
    return pair_posterior_mean(prompt.tokens, PAIR[0], v, prompt.sigma2)


def _squares(x: np.ndarray) -> np.ndarray:
    """Squared norms of rows."""
    return (x**2).sum(axis=1)


def _binned(distances: np.ndarray, places: np.ndarray) -> list[np.ndarray]:
    """Shares of the bins and means in them."""
    which = np.digitize(places, EDGES[1:-1])
    count = np.stack([which == k for k in range(len(EDGES) - 1)], axis=1).astype(float)
    with np.errstate(invalid="ignore"):
        return [count.mean(axis=0), distances @ count / count.sum(axis=0)]
