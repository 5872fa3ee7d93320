"""Observations cut into slices, so that memory stays bounded whatever their number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from numeric import door
from numeric.door import Floats
from numeric.first_block.block import AttentionBlock
from numeric.first_block.model import CorruptionModel
from numeric.first_block.observations import (
    NoisyValues,
    QueryRow,
    QueryRowProjected,
    QueryRowValues,
    RowObservation,
    checked_row,
    precision,
)

# Numbers that the temporaries of one slice may hold: small enough for a cache, large enough that
# the calls don't count.
SLICE_NUMBERS = 2**20


class Seen(NamedTuple):
    """Checked arrays of one slice of observations, in float64.

    Attributes:
        query: shape ``(B, d)``.
        log_row: log-probabilities of the visible tokens, ``(B, H, n_visible)``.
        values: values or output, ``(B, q)``; None: not observed.
        projected: whether `values` is the output ``W_O A``.
        noise: standard deviation of noise on the values, by t.
        eps: relative precision of the arrays.
        spread: how far two hypotheses or two draws differ in one direction of the state.
        reach: how far a state lies from 0.
    """

    query: Floats
    log_row: Floats
    values: Floats | None
    projected: bool
    noise: float
    eps: float
    spread: float
    reach: float


def check_model(model: CorruptionModel, block: AttentionBlock) -> None:
    """Check that model and block speak of the same tokens.

    Raises:
        ShapeError: they don't.
    """
    door.same_axis("the model's tokens", model.n_tokens, "block", block.n_tokens)
    door.same_axis("the model's width", model.width, "block", block.width)


def batch_of(block: AttentionBlock, observation: RowObservation | NoisyValues) -> tuple[int, ...]:
    """The batch axes of the block and of the observation, broadcast.

    Raises:
        ShapeError: they don't broadcast.
    """
    return door.common_batch(query=(observation.query, 1), block=(np.empty(block.batch), 0))


def slices(
    model: CorruptionModel,
    block: AttentionBlock,
    observation: RowObservation | NoisyValues,
    numbers_each: int,
) -> Iterator[tuple[slice, AttentionBlock, Seen]]:
    """Checked slices of the flattened batch, with the block's own slice where it has a batch.

    Args:
        numbers_each: how many numbers the caller's temporaries hold for one observation.

    Raises:
        ShapeError: observation, model and block don't fit together.
        DomainError: the row contradicts the block's mask, or has a zero.
    """
    check_model(model, block)
    batch = batch_of(block, observation)
    door.same_axis("the model's width", model.width, "query", observation.query.shape[-1])
    door.same_axis("the block's heads", block.n_heads, "log_row", observation.log_row.shape[-2])
    log_row = checked_row(observation.log_row, block.visible)
    values, projected = _values_of(block, observation)
    spread, reach = _scales(model)
    noise = observation.noise / model.t if isinstance(observation, NoisyValues) else 0.0
    count = math.prod(batch)
    query = _flat(observation.query, batch, 1)
    log_row = _flat(log_row, batch, 2)
    values = None if values is None else _flat(values, batch, 1)
    eps = precision(observation)
    whole = block if block.batch == () else _flat_block(block, batch)
    step = max(1, SLICE_NUMBERS // max(1, numbers_each))
    for start in range(0, max(count, 1), step):  # one empty slice for an empty batch
        part = slice(start, min(start + step, count))
        own = whole if block.batch == () else _part_of(whole, part)
        seen = Seen(
            query[part], log_row[part], None if values is None else values[part], projected, noise,
            eps, spread, reach,
        )  # fmt: skip
        yield part, own, seen


def _values_of(
    block: AttentionBlock, observation: RowObservation | NoisyValues
) -> tuple[Floats | None, bool]:
    if isinstance(observation, QueryRow):
        return None, False
    n_values = len(block.head_of_value)
    if isinstance(observation, (QueryRowValues, NoisyValues)):
        door.same_axis("the block's values", n_values, "values", observation.values.shape[-1])
        return observation.values, False
    assert isinstance(observation, QueryRowProjected)
    n_out = n_values if block.w_out is None else block.w_out.shape[-2]
    door.same_axis("the rows of w_out", n_out, "output", observation.output.shape[-1])
    return observation.output, True


def _scales(model: CorruptionModel) -> tuple[float, float]:
    """How far hypotheses or draws differ, and how far states lie from 0."""
    flat = model.mu.reshape(model.n_components, -1)
    spread = 2 * float(np.linalg.norm(flat - flat.mean(axis=0), axis=-1).max())
    typical = model.t * np.sqrt(flat.shape[-1])
    return max(spread, model.t), float(np.linalg.norm(flat, axis=-1).max()) + 8 * typical


def _flat(array: Floats, batch: tuple[int, ...], core: int) -> Floats:
    own = array.shape[array.ndim - core :]
    count = math.prod(batch)
    return (
        np.broadcast_to(array, (*batch, *own)).reshape(count, *own).astype(np.float64, copy=False)
    )


_MAPS = ("query_maps", "key_maps", "value_maps")


def _flat_block(block: AttentionBlock, batch: tuple[int, ...]) -> AttentionBlock:
    """The block with one flat batch axis on all maps."""
    maps = {name: [_flat(m, batch, 2) for m in getattr(block, name)] for name in _MAPS}
    w_out = None if block.w_out is None else _flat(block.w_out, batch, 2)
    return replace(block, **maps, w_out=w_out)


def _part_of(block: AttentionBlock, part: slice) -> AttentionBlock:
    maps = {name: [m[part] for m in getattr(block, name)] for name in _MAPS}
    return replace(block, **maps, w_out=None if block.w_out is None else block.w_out[part])
