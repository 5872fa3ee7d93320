"""Errors with infinitely many tokens, where the clean law is the symmetric pair of EB-55.

The law is a product over the coordinates and stays one (EB-20), so that each coordinate has a
weighted grid of its own (EB-57), and errors add up.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from experiments.in_context.prompts import PAIR
from numeric.mixture import pair_mmse, pair_posterior_mean
from numeric.particles import (
    BandwidthWarning,
    Layer,
    RefinedPrior,
    equal_layers,
    posterior_mean,
    refine,
    weighted_grid,
)

NODES = 500
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
    v: float, sigma2: float, beta: float, depths: Sequence[int], n_layers_nominal: int
) -> PopulationErrors:
    """Errors after some numbers of layers, of which `n_layers_nominal` lead to the nominal end.

    Each is the least error and the mean squared distance from the Bayes estimate, of which the
    second is summed on the grid.

    Source: EB-26, EB-27, EB-28, EB-55, EB-56, EB-57.
    """
    noisy = v + sigma2
    wide = 1 + TAIL * np.sqrt(noisy)
    narrow = TAIL * np.sqrt(noisy)
    x, x_weights = weighted_grid(
        lambda x: np.logaddexp(-((x - 1) ** 2) / (2 * noisy), -((x + 1) ** 2) / (2 * noisy)),
        -wide, wide, NODES,
    )  # fmt: skip
    y, y_weights = weighted_grid(lambda y: -(y**2) / (2 * noisy), -narrow, narrow, NODES)
    axes = (
        (x, x_weights, pair_posterior_mean(x, [1.0], v, sigma2)),
        (y, y_weights, v / noisy * y),
    )
    schedule = equal_layers(sigma2, beta, max(depths), n_layers_nominal=n_layers_nominal)
    missed = np.zeros((2, len(depths)))
    for tokens, weights, bayes in axes:
        after: dict[int, np.ndarray] = {}

        def keep(layer: Layer, after: dict[int, np.ndarray] = after) -> None:
            if layer.index in depths:
                after[layer.index] = layer.particles

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BandwidthWarning)  # nodes are no sample
            refine(tokens, sigma2, schedule, weights=weights, observer=keep)
        for k, depth in enumerate(depths):
            prior = RefinedPrior(after[depth], weights, sigma2, 0.0, 0.0)
            found = posterior_mean(prior, tokens)
            missed[0, k] += weights @ (found - bayes)[:, 0] ** 2
            missed[1, k] += weights @ (after[depth] - bayes)[:, 0] ** 2
    mmse = float(pair_mmse(PAIR[0], v, sigma2))
    return PopulationErrors(mmse + missed[0], mmse + missed[1], mmse)
