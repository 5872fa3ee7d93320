r"""Posterior of the component for each type of observation, in log space.

.. math:: r_n(o) \propto \pi_n \exp\Big( -\frac{|c - \mu_{n,i}|^2
    + |F^{+}(b - F \mu_{n,-i})|^2}{2 t^2} \Big)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numeric import door
from numeric.door import Floats
from numeric.errors import DtypeError, OffSupportError
from numeric.first_block.block import AttentionBlock
from numeric.first_block.cells import log_mass_of_cells
from numeric.first_block.model import CorruptionModel
from numeric.first_block.observations import (
    ClippedRow,
    FullState,
    NoisyValues,
    Observation,
    QuantisedRow,
    QueryOnly,
    QueryRow,
    QueryRowProjected,
    QueryRowValues,
    RowObservation,
    precision,
)
from numeric.first_block.resolution import Resolution, resolve
from numeric.first_block.slices import SLICE_NUMBERS, batch_of, check_model, slices
from numeric.kernels import density, mixture

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Margins:
    """What stands behind the rank decisions: all singular values, rows normalized.

    Attributes:
        row_singular_values: of the measurement matrix, or of the row's equations as a whole.
        row_rank: rank of the row's block of F, shape ``batch``.
        value_singular_values: of the values' rows on what the row leaves open, ``(*batch, q)``.
        value_rank: shape ``batch``.
    """

    row_singular_values: Floats
    row_rank: NDArray[np.integer[Any]]
    value_singular_values: Floats
    value_rank: NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Posterior:
    """What an observation says.

    Attributes:
        responsibilities: ``r_n``, shape ``(*batch, N)``.
        log_responsibilities: their logarithms, also where they underflow.
        noise_mean: ``E[eps_i | o]``, shape ``(*batch, d)``.
        log_evidence: log density of the observation, shape ``batch``: of the query, times that of
            the log-ratios to the target, times that of the values given these, each with respect to
            Lebesgue measure on its own support, times masses of cells. Where the target is hidden,
            of orthonormal contrasts of the log-probabilities in place of log-ratios.
        log_odds_error: first-order estimate of what rounding of data and arithmetic does to
            log-odds, shape ``batch``.
        excess: distance of the data from their support, by what rounding allows: above 1 they
            contradict the model, shape ``batch``.
        margins: None where no rank was decided.
    """

    responsibilities: Floats
    log_responsibilities: Floats
    noise_mean: Floats
    log_evidence: Floats
    log_odds_error: Floats
    excess: Floats
    margins: Margins | None


def posterior(
    model: CorruptionModel,
    block: AttentionBlock,
    observation: Observation,
    *,
    rank_tol: float | None = None,
    off_support: str = "raise",
) -> Posterior:
    r"""Exact posterior of the component and mean of the target's noise, given what was observed.

    Args:
        model: the corruption law.
        block: the block that made the observation; its batch axes broadcast with those of the
            observation. For `FullState` and `QueryOnly` only its target counts.
        observation: what was observed; never the draws behind it.
        rank_tol: singular values of normalized rows below it, relative to the largest, count as
            zero. Default: the larger dimension times the data's eps.
        off_support: ``"raise"``, or ``"flag"``: answer for the nearest data on the support and say
            by `excess` how far they were.

    Returns:
        the posterior. Rows that lie below the rounding of the data count as not observed.

    Raises:
        ShapeError: model, block and observation don't fit together.
        DtypeError: `observation` is of none of the types.
        DomainError: the row contradicts the block's mask or has a zero; `rank_tol` is not in
            [0, 1); cells with tokens wider than 1.
        OffSupportError: the data contradict the model, such as a quantized row beside an exact
            value; carries the distance.

    Source: FB-1, FB-3, FB-9 (eqs. 3, 4, 10), FB-28, FB-29. Kernels: `density.noise_mean`,
    `mixture.log_evidence`.

    Example:
        >>> one = np.array([[1.0]])
        >>> block = AttentionBlock([one], [one * np.log(2)], [one], n_tokens=3)
        >>> clean = np.array([[3, 9 / 4, 0], [1, 7 / 4, 2]])[..., None]
        >>> model = CorruptionModel(clean, np.array([0.5, 0.5]), 0.5)
        >>> run = block.run(np.array([[1.0], [2.0], [0.0]]))
        >>> law = posterior(model, block, QueryRowValues.of(run))
        >>> float(np.log(law.responsibilities[0] / law.responsibilities[1]).round(9))
        3.0
    """
    door.choice("off_support", off_support, ("raise", "flag"))
    door.tolerance("rank_tol", rank_tol)
    if isinstance(observation, ClippedRow):
        observation = observation.cells()
    if isinstance(observation, FullState):
        return _of_full_state(model, block, observation)
    if isinstance(observation, QueryOnly):
        return _of_query(model, block, observation)
    if isinstance(observation, QuantisedRow):
        return _of_cells(model, block, observation, off_support)
    if isinstance(observation, (QueryRow, QueryRowValues, QueryRowProjected, NoisyValues)):
        return _of_row(model, block, observation, rank_tol, off_support)
    kinds = "one of the types in numeric.first_block.observations"
    raise DtypeError("observation", kinds, type(observation).__name__)


def frozen_row_posterior(
    model: CorruptionModel,
    block: AttentionBlock,
    observation: QueryRowValues,
    *,
    rank_tol: float | None = None,
    off_support: str = "raise",
) -> Posterior:
    r"""What one gets by reading the observed row as fixed numbers: an approximation, not Bayes.

    .. math:: \tilde r_n \propto \pi_n \exp\Big( -\frac{|c - \mu_{n,i}|^2
        + |D^{+}(a - D_i c - D \mu_{n,-i})|^2}{2 t^2} \Big)

    Its noise mean is the one that belongs to these responsibilities; its `log_evidence` is that of
    a fixed row.

    Args, Returns, Raises: as `posterior`, for query, row and values.

    Source: FB-17.
    """
    door.choice("off_support", off_support, ("raise", "flag"))
    door.tolerance("rank_tol", rank_tol)
    return _of_row(model, block, observation, rank_tol, off_support, row_counts=False)


def _of_full_state(
    model: CorruptionModel, block: AttentionBlock, observation: FullState
) -> Posterior:
    check_model(model, block)
    state = observation.state.astype(np.float64)
    door.same_axis("the model's tokens", model.n_tokens, "state", state.shape[-2])
    door.same_axis("the model's width", model.width, "state", state.shape[-1])
    batch = state.shape[:-2]
    flat = state.reshape(math.prod(batch), model.n_tokens * model.width)
    quadratic = _distances_to(flat, model.mu.reshape(model.n_components, -1))
    query = state[..., block.target, :].reshape(len(flat), model.width)
    return _assembled(
        model, block, batch, query, quadratic, -flat.shape[-1] * _half_log_2pi_t2(model),
        precision(observation) * np.linalg.norm(flat, axis=-1), EPS * np.linalg.norm(flat, axis=-1),
    )  # fmt: skip


def _of_query(model: CorruptionModel, block: AttentionBlock, observation: QueryOnly) -> Posterior:
    check_model(model, block)
    query = observation.query.astype(np.float64)
    door.same_axis("the model's width", model.width, "query", query.shape[-1])
    batch = query.shape[:-1]
    query = query.reshape(math.prod(batch), model.width)
    return _assembled(
        model, block, batch, query, _distances_to(query, model.mu[:, block.target]),
        -model.width * _half_log_2pi_t2(model),
        precision(observation) * np.linalg.norm(query, axis=-1),
        EPS * np.linalg.norm(query, axis=-1),
    )  # fmt: skip


def _of_cells(
    model: CorruptionModel, block: AttentionBlock, observation: QuantisedRow, off_support: str
) -> Posterior:
    check_model(model, block)
    log_mass, excess, distance = log_mass_of_cells(model, block, observation)
    batch = log_mass.shape[:-1]
    _check_support(observation, excess, distance, off_support)
    query = np.broadcast_to(observation.query, (*batch, 1)).reshape(math.prod(batch), 1)
    query = query.astype(np.float64)
    eps, size = precision(observation), np.abs(query[:, 0]) + np.abs(model.mu).max()
    return _assembled(
        model, block, batch, query, _distances_to(query, model.mu[:, block.target]),
        -_half_log_2pi_t2(model), eps * size, EPS * size,
        log_mass=log_mass.reshape(len(query), model.n_components), excess=excess.reshape(-1),
    )  # fmt: skip


def _of_row(
    model: CorruptionModel,
    block: AttentionBlock,
    observation: RowObservation | NoisyValues,
    rank_tol: float | None,
    off_support: str,
    *,
    row_counts: bool = True,
) -> Posterior:
    batch = batch_of(block, observation)
    count = math.prod(batch)
    n_others, n_values = model.n_tokens * model.width, len(block.head_of_value)
    quadratic, constant = np.zeros((count, model.n_components)), np.zeros(count)
    excess, distance = np.zeros(count), np.zeros(count)
    rounding, turning = np.zeros(count), np.zeros(count)
    query = np.zeros((count, model.width))
    margins: list[tuple[np.ndarray, ...]] = []
    numbers = (model.n_components + n_values) * n_others + n_others * n_values
    for part, own, seen in slices(model, block, observation, numbers):
        found = resolve(own, seen, rank_tol=rank_tol, row_counts=row_counts)
        gap = seen.query[:, None, :] - model.mu[:, block.target]
        quadratic[part] = np.einsum("bnd,bnd->bn", gap, gap) + found.squared_distances(model.mu)
        constant[part] = -(model.width + found.rank) * _half_log_2pi_t2(model) - found.log_pdet
        excess[part], distance[part], query[part] = found.excess, found.distance, seen.query
        rounding[part], turning[part] = found.rounding, (EPS + found.turning) * seen.reach
        margins.append(_margins(found, n_values if seen.values is None else seen.values.shape[-1]))
    _check_support(observation, excess.reshape(batch), distance.reshape(batch), off_support)
    joined = (np.concatenate(arrays) for arrays in zip(*margins, strict=True))
    return _assembled(
        model, block, batch, query, quadratic, constant, rounding, turning, excess=excess,
        margins=Margins(*(_in_batch(array, batch) for array in joined)),
    )  # fmt: skip


def _assembled(
    model: CorruptionModel,
    block: AttentionBlock,
    batch: tuple[int, ...],
    query: Floats,
    quadratic: Floats,
    constant: Floats | float,
    rounding: Floats,
    turning: Floats,
    *,
    log_mass: Floats | None = None,
    excess: Floats | None = None,
    margins: Margins | None = None,
) -> Posterior:
    """Bayes' rule on squared distances ``(count, N)``, and the noise mean (FB-3).

    `rounding` is that of the data's coordinates, common to all components; `turning` that of each
    mean's.
    """
    count, t = len(query), model.t
    # Distances are taken relative to the smallest first: what is common to all may be huge.
    nearest = quadratic.min(axis=-1, initial=np.inf, keepdims=True)
    with np.errstate(over="ignore"):  # at tiny t a far component has no chance at all
        log_likelihood = -(quadratic - nearest) / (2 * t * t)
        common = constant - nearest[:, 0] / (2 * t * t)
    if log_mass is not None:
        log_likelihood = log_likelihood + log_mass
    log_masses = np.log(model.masses)
    log_joint = log_masses + log_likelihood
    total = mixture.log_evidence(log_masses, log_likelihood)
    log_r = log_joint - total[:, None]
    with np.errstate(under="ignore"):
        r = np.exp(log_r)
    targets = model.mu[:, block.target]
    mean = np.empty((count, model.width))
    for part in _parts(count, targets.size):
        mean[part] = density.noise_mean(r[part], targets, query[part], np.asarray(t))
    spread, furthest = _spread(model), np.sqrt(quadratic.max(axis=-1, initial=0))
    error = spread * rounding + (spread + furthest) * turning + 4 * EPS * furthest**2
    with np.errstate(over="ignore"):
        error = error / t**2 + 4 * EPS * (1 + np.abs(log_joint).max(axis=-1, initial=0))
    return Posterior(
        _in_batch(r, batch),
        _in_batch(log_r, batch),
        _in_batch(mean, batch),
        (total + common).reshape(batch),
        error.reshape(batch),
        (np.zeros(count) if excess is None else excess).reshape(batch),
        margins,
    )


def _margins(found: Resolution, n_values: int) -> tuple[np.ndarray, ...]:
    row = found.row.space
    count = len(found.rank)
    padded = np.zeros((count, n_values))
    rank = np.zeros(count, dtype=np.intp)
    if found.values is not None:
        own = found.values.space.singular_values
        padded[:, : own.shape[-1]], rank = own, found.values.space.rank
    return row.singular_values, found.row.rank, padded, rank


def _check_support(
    observation: Observation, excess: Floats, distance: Floats, off_support: str
) -> None:
    """Refuse data off the common support, which is never evidence about the component (FB-4b)."""
    if off_support == "flag" or not (excess > 1).any():
        return
    worst = np.unravel_index(int(np.argmax(excess)), excess.shape)
    got = f"data at distance {float(distance[worst]):.3g}, {float(excess[worst]):.3g} times that"
    raise OffSupportError(
        "observation", "data in the support of the model, to within rounding",
        f"{got}, at index {tuple(int(k) for k in worst)}", float(distance[worst]),
        "row and values contradict each other: a wrong mask or offset, or quantized entries; "
        f"{type(observation).__name__} is for exact ones; off_support='flag' answers all the same",
    )  # fmt: skip


def _in_batch(array: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
    return array.reshape((*batch, *array.shape[1:]))


def _distances_to(points: Floats, means: Floats) -> Floats:
    """Squared distances of points ``(count, m)`` from means ``(N, m)``, in slices."""
    total = np.zeros((len(points), len(means)))
    for part in _parts(len(points), means.size):
        gap = points[part, None, :] - means
        total[part] = np.einsum("bnk,bnk->bn", gap, gap)
    return total


def _parts(count: int, numbers_each: int) -> Iterator[slice]:
    step = max(1, SLICE_NUMBERS // numbers_each)
    return (slice(start, start + step) for start in range(0, count, step))


def _half_log_2pi_t2(model: CorruptionModel) -> float:
    return float(np.log(2 * np.pi) / 2 + np.log(model.t))


def _spread(model: CorruptionModel) -> float:
    """At least the largest distance between two means."""
    flat = model.mu.reshape(model.n_components, -1)
    return 2 * float(np.linalg.norm(flat - flat.mean(axis=0), axis=-1).max())
