"""What an estimator is given: each observation is a type of its own, made of observed arrays only.

An observation knows neither the state nor the label, and one without a row has no place for it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.special import log_softmax, logsumexp

from numeric import door
from numeric.errors import DomainError, NonFiniteError, ShapeError
from numeric.first_block.block import BlockRun


@dataclass(frozen=True, eq=False)
class FullState:
    """All tokens, shape ``(*batch, P, d)``. Source: FB-1."""

    state: door.Floats

    def __post_init__(self) -> None:
        _keep(self, state=door.real("state", self.state, 2))


@dataclass(frozen=True, eq=False)
class QueryOnly:
    """The target's own token alone, shape ``(*batch, d)``."""

    query: door.Floats

    def __post_init__(self) -> None:
        _keep(self, query=door.real("query", self.query, 1))

    @classmethod
    def of(cls, run: BlockRun) -> QueryOnly:
        """Its part of a run."""
        return cls(run.query)


@dataclass(frozen=True, eq=False)
class QueryRow:
    """Query token ``(*batch, d)`` and row, without values.

    The row is given as log-probabilities, shape ``(*batch, H, P)``, with ``-inf`` at hidden tokens:
    where a probability has underflowed its logarithm still says what was observed. `log_row_of`
    turns probabilities into it.
    """

    query: door.Floats
    log_row: door.Floats

    def __post_init__(self) -> None:
        _keep(self, query=door.real("query", self.query, 1), log_row=_row("log_row", self.log_row))
        _check_batch(query=(self.query, 1), log_row=(self.log_row, 2))

    @classmethod
    def of(cls, run: BlockRun) -> QueryRow:
        """Its part of a run."""
        return cls(run.query, run.log_row)


@dataclass(frozen=True, eq=False)
class QueryRowValues:
    """Query token ``(*batch, d)``, row as in `QueryRow`, and values ``(*batch, V_tot)``."""

    query: door.Floats
    log_row: door.Floats
    values: door.Floats

    def __post_init__(self) -> None:
        _keep(
            self,
            query=door.real("query", self.query, 1),
            log_row=_row("log_row", self.log_row),
            values=door.real("values", self.values, 1),
        )
        _check_batch(query=(self.query, 1), log_row=(self.log_row, 2), values=(self.values, 1))

    @classmethod
    def of(cls, run: BlockRun) -> QueryRowValues:
        """Its part of a run."""
        return cls(run.query, run.log_row, run.values)


@dataclass(frozen=True, eq=False)
class QueryRowProjected:
    """Query token ``(*batch, d)``, row as in `QueryRow`, and output ``W_O A``, ``(*batch, p)``."""

    query: door.Floats
    log_row: door.Floats
    output: door.Floats

    def __post_init__(self) -> None:
        _keep(
            self,
            query=door.real("query", self.query, 1),
            log_row=_row("log_row", self.log_row),
            output=door.real("output", self.output, 1),
        )
        _check_batch(query=(self.query, 1), log_row=(self.log_row, 2), output=(self.output, 1))

    @classmethod
    def of(cls, run: BlockRun) -> QueryRowProjected:
        """Its part of a run."""
        return cls(run.query, run.log_row, run.output)


@dataclass(frozen=True, eq=False)
class NoisyValues:
    """Query token, exact row, and values with independent normal noise of a known size (FB-29).

    A changed experiment, not an approximation of `QueryRowValues`.

    Args:
        query, log_row, values: as in `QueryRowValues`.
        noise: standard deviation of the noise on each value, positive.
    """

    query: door.Floats
    log_row: door.Floats
    values: door.Floats
    noise: float

    def __post_init__(self) -> None:
        exact = QueryRowValues(self.query, self.log_row, self.values)
        _keep(self, query=exact.query, log_row=exact.log_row, values=exact.values)
        door.at_least("noise", door.real("noise", self.noise), 0, strict=True)


@dataclass(frozen=True, eq=False)
class QuantisedRow:
    """Query token and the cell in which the row lies, for tokens of width 1 (FB-29).

    The cell is a box of log-ratios ``log(s_hj/s_hi)`` to the target, which must be visible, for the
    visible tokens other than the target in their order: ``lower <= l <= upper``, both of shape
    ``(*batch, H, n)``. An infinite end is an open side; equal ends say that the log-ratio is known
    exactly. A cell of one probability of a row of two tokens is such a box: `of_two_tokens`.
    """

    query: door.Floats
    lower: door.Floats
    upper: door.Floats

    def __post_init__(self) -> None:
        lower = door.real("lower", self.lower, 2, finite=False)
        upper = door.real("upper", self.upper, 2, finite=False)
        _keep(self, query=door.real("query", self.query, 1), lower=lower, upper=upper)
        door.same_axis("lower", lower.shape[-1], "upper", upper.shape[-1])
        _check_batch(query=(self.query, 1), lower=(lower, 2), upper=(upper, 2))
        empty = (lower > upper) | (lower == np.inf) | (upper == -np.inf)
        if empty.any():
            got = f"{int(empty.sum())} empty cells"
            raise DomainError("lower", "cells with lower <= upper", got)

    @classmethod
    def of_two_tokens(cls, query: Any, row: Any, bits: int) -> QuantisedRow:
        """The cells of width ``2^-bits`` that hold the other token's probabilities.

        Args:
            query: c, shape ``(*batch, 1)``.
            row: probability of the token that is not the target, in (0, 1), ``(*batch, H)``.
            bits: at least 1.

        Raises:
            DomainError: a probability outside (0, 1), or no bits.
        """
        row = door.real("row", row, 1)
        door.at_least("row", row, 0, strict=True)
        if (row >= 1).any():
            raise DomainError("row", "probabilities below 1", f"{float(row.max()):g}")
        if bits < 1:
            raise DomainError("bits", "at least 1", str(bits))
        step = 0.5**bits
        cell = np.floor(row / step)
        with np.errstate(divide="ignore"):
            low, high = cell * step, (cell + 1) * step
            return cls(query, _logit(low)[..., None], _logit(high)[..., None])


@dataclass(frozen=True, eq=False)
class ClippedRow:
    """Query token and log-ratios cut off below, for tokens of width 1 (FB-29).

    Args:
        query: shape ``(*batch, d)``.
        log_ratios: ``log(s_hj/s_hi)`` to the target, for the visible tokens other than the target
            in their order, shape ``(*batch, H, n)``. What is at or below the floor was cut off, and
            says no more than that.
        floor: shape ``()`` or one that broadcasts.
    """

    query: door.Floats
    log_ratios: door.Floats
    floor: door.Floats

    def __post_init__(self) -> None:
        ratios = door.real("log_ratios", self.log_ratios, 2, finite=False)
        floor = door.real("floor", self.floor)
        if (ratios == np.inf).any():
            raise NonFiniteError("log_ratios", "log-ratios below infinity", "inf")
        door.common_batch(log_ratios=(ratios, 0), floor=(floor, 0))
        if np.broadcast_shapes(ratios.shape, floor.shape) != ratios.shape:
            raise ShapeError("floor", f"a shape that fills {ratios.shape}", str(floor.shape))
        _keep(self, query=door.real("query", self.query, 1), log_ratios=ratios, floor=floor)
        _check_batch(query=(self.query, 1), log_ratios=(ratios, 2))

    def cells(self) -> QuantisedRow:
        """The same observation as boxes: half-lines where it was cut off, points elsewhere."""
        cut = self.log_ratios <= self.floor
        floor = np.broadcast_to(self.floor, cut.shape)
        return QuantisedRow(
            self.query,
            np.where(cut, -np.inf, self.log_ratios),
            np.where(cut, floor, self.log_ratios),
        )


RowObservation = QueryRow | QueryRowValues | QueryRowProjected
Observation = FullState | QueryOnly | RowObservation | NoisyValues | QuantisedRow | ClippedRow


def log_row_of(row: Any) -> door.Floats:
    """Log-probabilities of rows, with ``-inf`` where an entry is exactly 0.

    Args:
        row: nonnegative with sum 1, shape ``(*batch, H, P)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: `row` is no such array.
        DomainError: an entry is negative, or a row doesn't sum to 1.
    """
    row = door.sums_to_one("row", door.at_least("row", door.real("row", row, 2), 0))
    with np.errstate(divide="ignore"):
        return np.log(row)


def checked_row(log_row: door.Floats, visible: Any) -> door.Floats:
    """The log-probabilities of the visible tokens, ``(*batch, H, n_visible)``, normalized.

    Raises:
        DomainError: a hidden token has a probability, a visible one has none.
    """
    door.same_axis("the block's tokens", len(visible), "log_row", log_row.shape[-1])
    if (log_row[..., ~visible] > -np.inf).any():
        raise DomainError(
            "log_row", "-inf at the tokens that the mask hides", "a probability there",
            "the row and the block's mask contradict each other",
        )  # fmt: skip
    seen = log_row[..., visible]
    if (seen == -np.inf).any():
        raise DomainError(
            "log_row", "a positive probability at every visible token", "a zero",
            "a zero in a row comes from rounding or clipping: give the logits' log-probabilities, "
            "or observe a QuantisedRow or ClippedRow",
        )  # fmt: skip
    return log_softmax(seen.astype(np.float64), axis=-1)


def precision(observation: Observation) -> float:
    """The coarsest eps of the observation's arrays."""
    held = (getattr(observation, field.name) for field in fields(observation))
    return max(float(np.finfo(a.dtype).eps) for a in held if isinstance(a, np.ndarray))


def _row(name: str, value: Any) -> door.Floats:
    """Log-probabilities whose exponentials sum to 1."""
    array = door.real(name, value, 2, finite=False)
    if (array == np.inf).any() or array.shape[-1] == 0:
        raise NonFiniteError(name, "log-probabilities of at least one token", "infinity or none")
    with np.errstate(divide="ignore"):
        total = logsumexp(array, axis=-1)
    door.sums_to_one(name, np.exp(total)[..., None])
    return array


def _logit(p: door.Floats) -> door.Floats:
    return np.log(p) - np.log1p(-p)


def _check_batch(**parts: tuple[door.Floats, int]) -> None:
    """All parts have the same batch axes, so that one entry is one observation."""
    shapes = {name: array.shape[: array.ndim - core] for name, (array, core) in parts.items()}
    first, *others = shapes
    for other in others:
        if shapes[other] != shapes[first]:
            expected = f"batch axes {shapes[first]} as in {first}"
            raise ShapeError(other, expected, f"{shapes[other]}")


def _keep(observation: Any, **arrays: door.Floats) -> None:
    for name, array in arrays.items():
        object.__setattr__(observation, name, array)
