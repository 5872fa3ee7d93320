"""Two tests of any posterior against any observation, that need not know how it was derived.

The tower test meets a posterior that is wrong for its observation; it can't see a leak, since a
posterior that knows more than it should passes it too. The measurability test sees the leak: states
with the same observation must be given the same posterior.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.door import Floats
from numeric.errors import DomainError
from numeric.first_block.block import AttentionBlock
from numeric.first_block.fibre import resolutions
from numeric.first_block.model import CorruptionModel, HiddenDraws
from numeric.first_block.observations import QueryRow, QueryRowProjected, QueryRowValues

THRESHOLD = 4.5  # of the z-scores
ROUNDING = 64 * float(np.finfo(np.float64).eps)  # of a surprise, by the size of its terms


class TowerTest(NamedTuple):
    """z-scores of the tower test.

    Attributes:
        posterior: of ``(1_{J=n} - r_n) f``, shape ``(N, K)``; f runs over 1, the r_m, and the
            features.
        noise_mean: of ``(eps_i - m) f``, shape ``(d, K)``; empty if no mean was given.
        worst: largest absolute value of all.
    """

    posterior: Floats
    noise_mean: Floats
    worst: float


def tower_test(
    draws: HiddenDraws,
    responsibilities: ArrayLike,
    features: ArrayLike,
    *,
    noise_mean: ArrayLike | None = None,
    target: int = 0,
) -> TowerTest:
    """Test that a posterior is the conditional expectation that it claims to be.

    Args:
        draws: independent draws, with what nature knows.
        responsibilities: of the posterior under test for each draw, shape ``(count, N)``.
        features: every coordinate of the observation for each draw, finite, ``(count, K)``.
        noise_mean: claimed mean of the target's noise, shape ``(count, d)``.
        target: index of the target.

    Returns:
        z-scores, standard normal for a right posterior: above `THRESHOLD` it is wrong.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: fewer than two draws.

    Source: the master fact before FB-1.
    """
    r, features = (
        door.real("responsibilities", responsibilities, 2),
        door.real("features", features, 2),
    )
    count = len(draws.label)
    if count < 2:
        raise DomainError("draws", "at least two", str(count))
    door.same_axis("draws", count, "responsibilities", len(r))
    door.same_axis("draws", count, "features", len(features))
    f = np.hstack([np.ones((count, 1)), r, features])
    surprise = (draws.label[:, None] == np.arange(r.shape[-1])) - r
    of_posterior = _z_scores(surprise, f, 1.0)
    of_mean = np.zeros((0, f.shape[-1]))
    if noise_mean is not None:
        mean = door.real("noise_mean", noise_mean, 2)
        door.same_axis("draws", count, "noise_mean", len(mean))
        size = float(np.abs(draws.state).max(initial=0) + np.abs(mean).max(initial=0))
        of_mean = _z_scores(draws.noise[:, target] - mean, f, size)
    worst = max(float(np.abs(z).max(initial=0)) for z in (of_posterior, of_mean))
    return TowerTest(of_posterior, of_mean, worst)


def fibre_twins(
    model: CorruptionModel,
    block: AttentionBlock,
    state: ArrayLike,
    kind: type[QueryRow] | type[QueryRowValues] | type[QueryRowProjected],
    *,
    seed: int,
    rank_tol: float | None = None,
) -> Floats:
    """Other states with the same observation: moved by noise along the kernel of F.

    Args:
        model: gives the size of the move, t.
        block: without batch axes.
        state: shape ``(count, P, d)``.
        kind: type of the observation that must not change.
        seed: of the move.
        rank_tol: as for `posterior`.

    Returns:
        shape ``(count, P, d)``.

    Raises: as `posterior`.

    Source: FB-13.
    """
    state = door.real("state", state, 3).astype(np.float64)
    move = model.t * np.random.default_rng(seed).standard_normal(state.shape)
    move[:, block.target] = 0.0
    for part, _, found in resolutions(model, block, kind.of(block.run(state)), rank_tol=rank_tol):
        turned = found.row.turned(move[part])[:, None]
        apart = (turned - found.pinned(turned))[:, 0]
        back = apart if found.row.turn is None else found.row.turn.T @ apart
        own = move[part]
        own[:, found.row.tokens] = back
        move[part] = own
    return state + move


def measurability_gap(
    estimate: Callable[[Floats], Floats], state: ArrayLike, twins: ArrayLike
) -> float:
    """How much an estimator tells apart states that have the same observation.

    Args:
        estimate: from states ``(count, P, d)`` to responsibilities ``(count, N)``, by whatever it
            observes of them.
        state: shape ``(count, P, d)``.
        twins: as many others with the same observation, such as `fibre_twins` gives.

    Returns:
        the largest difference of a responsibility; more than rounding is a leak.

    Source: the master fact before FB-1.
    """
    state, twins = door.real("state", state, 3), door.real("twins", twins, 3)
    door.same_axis("state", len(state), "twins", len(twins))
    return float(np.abs(estimate(state) - estimate(twins)).max(initial=0))


def _z_scores(surprise: Floats, f: Floats, size: float) -> Floats:
    """Means of the products by their standard errors.

    A surprise that is all rounding, of terms of the given size, is none.
    """
    products = surprise[:, :, None] * f[:, None, :]
    error = products.std(axis=0, ddof=1) / np.sqrt(len(f))
    rounding = ROUNDING * size * np.sqrt((f**2).mean(axis=0))
    return products.mean(axis=0) / np.maximum(np.hypot(error, rounding), np.finfo(float).tiny)
