r"""What the values pin down of the other tokens, beyond the row.

On the directions that the row leaves open the values are linear, with the matrix

.. math:: G = [s_{hj} V_h]_{h,j} \, P_{\ker}.

Its rows are products of ``s_h`` over tokens and of ``V_h P_ker`` over coordinates, so orthonormal
bases of the span of the ``s_h`` and of the kernel of M shrink it to ``V_tot`` rows of
``min(H, n) (d - rank M)`` entries, without a rounding that the full matrix would not have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from numeric.door import Floats
from numeric.first_block.block import AttentionBlock
from numeric.first_block.row_part import RowPart
from numeric.first_block.row_space import (
    RowSpace,
    distance_from_support,
    rounding_of,
    row_space,
    safe_norm,
)
from numeric.first_block.slices import Seen


class ValuePart(NamedTuple):
    """Row space of G, its basis lifted to the turned tokens ``(B, n d, r)``; see `RowPart`."""

    space: RowSpace
    excess: Floats
    distance: Floats
    rounding: Floats


class _Mix(NamedTuple):
    """What the heads mix: probabilities, and what is known of the values."""

    shares: Floats  # of the other tokens, (B, H, n)
    explained: Floats  # values of the known part of the state, (B, V_tot)
    rounding: Floats  # of what is left to explain, (B, V_tot)
    noise: Floats  # of the rows of G, (B, V_tot)


def value_part(
    block: AttentionBlock, seen: Seen, row: RowPart, rank_tol: float | None
) -> ValuePart:
    """The directions that values or output pin down among those that the row leaves open.

    Source: FB-8, FB-9, FB-13.
    """
    assert seen.values is not None
    mix = _mix(block, seen, row)
    matrix, lift = _open_part(block, row, mix.shares)
    data, rounding, noise = mix.explained, mix.rounding, mix.noise
    if seen.projected and block.w_out is not None:
        weights = np.abs(block.w_out)
        matrix, data = block.w_out @ matrix, (block.w_out @ data[..., None])[..., 0]
        rounding = (weights @ rounding[..., None])[..., 0]
        noise = (weights @ noise[..., None])[..., 0]
    data, rounding = seen.values - data, rounding + seen.eps * np.abs(seen.values)
    n_open = matrix.shape[-1]
    if seen.noise:  # one more coordinate of mean 0 for each value, of the state's own noise
        n_values = matrix.shape[-2]
        own = np.broadcast_to(seen.noise * np.eye(n_values), (len(data), n_values, n_values))
        matrix = np.concatenate([matrix, own], axis=-1)
    tol = rank_tol if rank_tol is not None else max(1, *matrix.shape[1:]) * seen.eps
    floor = np.maximum(noise, rounding / seen.spread)
    space = row_space(matrix, data, floor=floor, noise=noise, rank_tol=tol)
    dead = np.where(space.live, 0.0, np.abs(data))
    excess, distance = distance_from_support(
        space, space.off, dead, rounding=rounding, floor=floor, reach=seen.reach, rank_tol=tol
    )
    lifted = replace(space, basis=lift(space.basis[:, :n_open]))
    return ValuePart(lifted, excess, distance, rounding_of(space, rounding))


def _mix(block: AttentionBlock, seen: Seen, row: RowPart) -> _Mix:
    """The heads' shares of the tokens and the values that the known part of the state has."""
    visible = np.flatnonzero(block.visible)
    others = visible != block.target
    with np.errstate(under="ignore"):
        probabilities = np.exp(seen.log_row)
    shares = probabilities[..., others]
    point = row.point if row.turn is None else row.turn.T @ row.point
    own = seen.query
    if block.positions is not None:
        point, own = point + block.positions[row.tokens], own + block.positions[block.target]
    with np.errstate(under="ignore"):
        context = shares @ point
        reach = (shares @ safe_norm(point)[..., None])[..., 0]
        if not others.all():
            context = context + probabilities[..., ~others] * own[:, None, :]
            reach = reach + probabilities[..., ~others][..., 0] * safe_norm(own)[:, None]
        head_of, value_map = block.head_of_value, block.value_map
        norms = safe_norm(value_map)
        explained = (value_map * context[:, head_of]).sum(axis=-1) + block.value_bias
        carried = norms * safe_norm(shares)[:, head_of]
    rounding = seen.eps * (np.abs(block.value_bias) + norms * reach[:, head_of])
    # Of the maps themselves, and of the kernel that they are restricted to.
    relative = max(block.width, block.n_heads) * seen.eps + row.space.turning
    noise = relative[:, None] * carried
    return _Mix(shares, explained, rounding + carried * row.rounding[:, None], noise)


def _open_part(
    block: AttentionBlock, row: RowPart, shares: Floats
) -> tuple[Floats, Callable[[Floats], Floats]]:
    """G in few coordinates, shape ``(B, V_tot, k)``, and the map of bases ``(B, k, r)`` to all."""
    count, _, n = shares.shape
    value_map, head_of = block.value_map, block.head_of_value
    if n == 0:
        return np.zeros((count, len(head_of), 0)), lambda basis: basis
    if row.is_whole:
        full = shares[:, head_of, :, None] * value_map[..., None, :]
        full = full.reshape(count, len(head_of), n * block.width)
        basis = row.space.basis
        return full - (full @ basis) @ np.swapaxes(basis, -1, -2), lambda basis: basis
    turned = shares if row.turn is None else shares @ row.turn.T
    parts, lifts = [], []
    for part, kernel in (
        (slice(0, row.n_measured), row.kernel),
        (slice(row.n_measured, n), None),
    ):
        if part.start == part.stop:
            continue
        span, triangle = np.linalg.qr(np.swapaxes(turned[..., part], -1, -2))
        left = np.swapaxes(triangle, -1, -2)[:, head_of, :]
        right = value_map if kernel is None else value_map @ kernel
        with np.errstate(under="ignore"):
            product = left[..., :, None] * right[..., None, :]
        parts.append(product.reshape(count, len(head_of), left.shape[-1] * right.shape[-1]))
        lifts.append((span, kernel, parts[-1].shape[-1]))

    def lift(basis: Floats) -> Floats:
        """Back to tokens and coordinates, one group of tokens below the other."""
        lifted, start, rank = [], 0, basis.shape[-1]
        for span, kernel, size in lifts:
            n_tokens, k = span.shape[-2:]
            part = basis[:, start : start + size].reshape(count, k, size // k * rank)
            tokens = (span @ part).reshape(count, n_tokens, size // k, rank)
            tokens = tokens if kernel is None else kernel[:, None] @ tokens
            lifted.append(tokens.reshape(count, n_tokens * block.width, rank))
            start += size
        return np.concatenate(lifted, axis=1)

    return np.concatenate(parts, axis=-1), lift
