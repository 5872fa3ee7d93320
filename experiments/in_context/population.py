"""Errors with infinitely many tokens, where the clean law is the symmetric pair of EB-55.

The law is a product over the coordinates and stays one (EB-20), so that each coordinate has a
weighted grid of its own (EB-57), and errors add up.

Between the components tokens drift apart, the more the deeper, and a grid of equal steps runs out
of nodes there: 300, 500 and 800 of them differ by 5e-4 at twice the nominal depth, and a grid in
long double by nothing. So the nodes are dense there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.in_context.estimates import priors_at
from experiments.in_context.prompts import PAIR, VARIANCES
from experiments.study import Quantity, exact
from numeric.mixture import pair_mmse, pair_posterior_mean
from numeric.particles import posterior_mean, weighted_grid

NODES = 500
MIDDLE = 0.02  # width in which half a dozen nodes lie, where tokens drift apart
TAIL = 8.5  # in deviations: what lies beyond is below the rounding of the errors


class PopulationErrors(NamedTuple):
    """Errors by depth, shape ``(n_depths,)``, and the least that any estimator has.

    Attributes:
        two_stages: posterior mean under the refined prior.
        stage_one: the refined tokens themselves.
        mmse: error of the posterior mean under the clean law.
    """

    two_stages: np.ndarray
    stage_one: np.ndarray
    mmse: float


def population_errors(
    v: float,
    sigma2: float,
    beta: float,
    depths: Sequence[int],
    n_layers_nominal: int,
    *,
    nodes: int = NODES,
) -> PopulationErrors:
    """Errors after some numbers of layers, of which `n_layers_nominal` lead to the nominal end.

    Each is the least error and the mean squared distance from the Bayes estimate, of which the
    second is summed on the grid.

    Args:
        v: variance of a component along each coordinate, at least 0.
        sigma2: of the noise.
        beta: inverse bandwidth.
        depths: numbers of layers.
        n_layers_nominal: how many lead to the nominal end.
        nodes: of each coordinate's grid.

    Source: EB-26, EB-27, EB-28, EB-55, EB-56, EB-57.
    """
    noisy = v + sigma2
    narrow = TAIL * np.sqrt(noisy)
    last = np.arcsinh((1 + narrow) / MIDDLE)
    u, x_weights = weighted_grid(lambda u: _log_pair(MIDDLE * np.sinh(u), noisy)
                                 + np.log(np.cosh(u)), -last, last, nodes)  # fmt: skip
    x = MIDDLE * np.sinh(u)
    y, y_weights = weighted_grid(lambda y: -(y**2) / (2 * noisy), -narrow, narrow, nodes)
    missed = np.zeros((2, len(depths)))
    for tokens, weights, bayes in (
        (x, x_weights, pair_posterior_mean(x, [1.0], v, sigma2)),
        (y, y_weights, v / noisy * y),
    ):
        priors = priors_at(tokens, sigma2, beta, depths, n_layers_nominal, weights=weights)
        for k, prior in enumerate(priors):
            found = posterior_mean(prior, tokens)
            missed[0, k] += weights @ (found - bayes)[:, 0] ** 2
            missed[1, k] += weights @ (prior.particles - bayes)[:, 0] ** 2
    mmse = float(pair_mmse(PAIR[0], v, sigma2))
    return PopulationErrors(mmse + missed[0], mmse + missed[1], mmse)


def limits(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """Errors of a task with infinitely many tokens, over depths.

    Args:
        parameters: `width`, `sigma2`, `beta`, `depths`, `nominal`.

    Returns:
        errors of both stages and of the first alone, the least error, and the largest change of
        each kind of error when the grid has three fifths of the nodes.
    """
    at = (
        VARIANCES[parameters["width"]], parameters["sigma2"], parameters["beta"],
        parameters["depths"], parameters["nominal"],
    )  # fmt: skip
    found, coarse = population_errors(*at), population_errors(*at, nodes=3 * NODES // 5)
    return {
        "two stages": exact(found.two_stages),
        "stage one": exact(found.stage_one),
        "least error": exact(found.mmse),
        "change with the grid": exact(
            [np.abs(x - y).max() for x, y in zip(found[:2], coarse[:2], strict=True)]
        ),
    }


def _log_pair(x: np.ndarray, variance: float) -> np.ndarray:
    """Log density of the noisy tokens' first coordinate, up to a constant."""
    return np.logaddexp(-((x - 1) ** 2) / (2 * variance), -((x + 1) ** 2) / (2 * variance))
