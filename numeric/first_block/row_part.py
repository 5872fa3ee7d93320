r"""What the row pins down of the other tokens, given the query.

With the target visible, ``l_j + M_i c`` is ``M_j z_j`` up to known offsets: one measurement a
token. Where the target is hidden from itself the log-ratios see differences of tokens. An
orthogonal change of tokens turns them into ``n - 1`` tokens that the row measures by M, and their
mean, which it doesn't; so no anchor need be chosen. Rotary maps make M depend on the token; then
the row's block of F is decomposed as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert

from numeric.door import Floats
from numeric.first_block.block import AttentionBlock, Measurement
from numeric.first_block.row_space import (
    RowSpace,
    distance_from_support,
    rounding_of,
    row_space,
    row_space_of_many,
)
from numeric.first_block.slices import Seen


@dataclass(frozen=True, eq=False)
class RowPart:
    """The row's part of the directions, on the n seen tokens after the orthogonal change `turn`.

    Attributes:
        tokens: indices of the visible tokens other than the target, shape ``(n,)``.
        turn: orthogonal, shape ``(n, n)``; None: the identity.
        n_measured: the row measures each of the first so many turned tokens by itself.
        space: of the measurement matrix on one token; of all of the row's equations if `is_whole`.
        is_whole: the equations don't fall apart into tokens.
        kernel: basis of the kernel of the measurement matrix, ``(B, d, k)``; unused if `is_whole`.
        point: projection of the state that the row pins down, turned tokens, ``(B, n, d)``.
        rank: of the row's equations, shape ``(B,)``.
        log_pdet: half the log-pseudo-determinant of the covariance of the row's data at ``t = 1``.
            The data are the log-ratios to the target; where it is hidden, orthonormal contrasts of
            the log-probabilities, which treat all tokens alike.
        excess: distance of the row from its support, in units of what rounding allows, ``(B,)``.
        distance: the same, rows normalized.
        rounding: what rounding of the data may do to a coordinate, shape ``(B,)``.
    """

    tokens: NDArray[np.integer[Any]]
    turn: Floats | None
    n_measured: int
    space: RowSpace
    is_whole: bool
    kernel: Floats
    point: Floats
    rank: NDArray[np.integer[Any]]
    log_pdet: Floats
    excess: Floats
    distance: Floats
    rounding: Floats

    def turned(self, states: Floats) -> Floats:
        """The seen tokens of states ``(..., P, d)``, turned, shape ``(..., n, d)``."""
        seen = states[..., self.tokens, :]
        return seen if self.turn is None else self.turn @ seen


class _Equations(NamedTuple):
    """The row's equations ``M z = data`` on turned tokens, with what rounding does to them."""

    data: Floats  # (B, tokens, H)
    rounding: Floats  # of the data, (B, H)
    noise: Floats  # of the rows of M, (B, H)


def row_part(
    block: AttentionBlock, seen: Seen, rank_tol: float | None, *, row_counts: bool = True
) -> RowPart:
    """The directions that query and row pin down.

    Args:
        block: the block, whose maps broadcast with the slice.
        seen: one slice of observations.
        rank_tol: singular values of the normalized measurement matrix below it, relative to the
            largest, count as zero. Default: the larger dimension times the data's eps.
        row_counts: False reads the row as fixed numbers that say nothing of the tokens (FB-17).

    Source: FB-5, FB-6, FB-28h.
    """
    visible = np.flatnonzero(block.visible)
    tokens = visible[visible != block.target]
    n, sees_itself = len(tokens), len(tokens) < len(visible)
    if not row_counts or n < 2 - sees_itself:
        return _unmeasured(tokens, len(seen.query), block.width)
    turn = None if sees_itself else np.roll(helmert(n, full=True), -1, axis=0)
    contrasts = None if turn is None else turn[:-1]
    law = block.measurement(seen.query)
    tol = max(block.width, block.n_heads) * seen.eps if rank_tol is None else rank_tol
    equations = _equations(block, seen, law, tokens, contrasts)
    if law.matrix.shape[-3] == 1:
        return _token_by_token(law, equations, tokens, turn, seen, tol)
    return _as_a_whole(law, equations, tokens, contrasts, seen, tol)


def _equations(
    block: AttentionBlock, seen: Seen, law: Measurement, tokens: Any, contrasts: Floats | None
) -> _Equations:
    """Log-ratios to the target where it is visible, contrasts of log-probabilities elsewhere."""
    visible = np.flatnonzero(block.visible)
    log_s = np.swapaxes(seen.log_row, -1, -2)  # (B, n_visible, H)
    known = log_s - law.offset[..., visible, :]
    # Rounding is that of the logits, of which the log-probabilities show the differences alone.
    size = np.abs(log_s).max(axis=-2) + np.abs(law.offset[..., visible, :]).max(axis=-2)
    size = size + law.scale.max(axis=-2) * seen.reach + law.common
    others = visible != block.target
    if contrasts is None:
        at_target = 0 if law.matrix.shape[-3] == 1 else block.target
        own = (law.matrix[..., at_target, :, :] @ seen.query[..., None])[..., 0]
        data = known[..., others, :] - known[..., ~others, :] + own[..., None, :]
    else:
        data = contrasts @ known
    noise = max(block.width, block.n_heads) * seen.eps * law.scale.max(axis=-2)
    return _Equations(data, seen.eps * size, noise)


def _token_by_token(
    law: Measurement,
    equations: _Equations,
    tokens: Any,
    turn: Floats | None,
    seen: Seen,
    tol: float,
) -> RowPart:
    count, n_measured, _ = equations.data.shape
    matrix, noise = law.matrix[:, 0], equations.noise
    floor = np.maximum(noise, equations.rounding / seen.spread)
    space, kernel = row_space_of_many(
        matrix, equations.data, floor=floor, noise=noise, rank_tol=tol
    )
    n = len(tokens)
    point = np.zeros((count, n, matrix.shape[-1]))
    point[:, :n_measured] = space.coordinates @ np.swapaxes(space.basis, -1, -2)
    dead = np.abs(np.where(space.live[:, None, :], 0.0, equations.data)).max(axis=1, initial=0)
    excess, distance = distance_from_support(
        space, space.off.max(axis=-1, initial=0), dead,
        rounding=equations.rounding, floor=floor, reach=seen.reach, rank_tol=tol,
    )  # fmt: skip
    return RowPart(
        tokens, turn, n_measured, space, False, kernel, point, n_measured * space.rank,
        n_measured * space.log_pdet, excess, distance, rounding_of(space, equations.rounding),
    )  # fmt: skip


def _as_a_whole(
    law: Measurement, equations: _Equations, tokens: Any, contrasts: Floats | None, seen: Seen,
    tol: float,
) -> RowPart:  # fmt: skip
    n, (count, n_measured, n_heads) = len(tokens), equations.data.shape
    weights = np.eye(n) if contrasts is None else contrasts
    matrix = np.einsum("aj,bjhd->bahjd", weights, law.matrix[:, tokens])
    matrix = matrix.reshape(count, n_measured * n_heads, n * law.matrix.shape[-1])
    noise = np.tile(equations.noise, n_measured)
    rounding = np.tile(equations.rounding, n_measured)
    floor = np.maximum(noise, rounding / seen.spread)
    data = equations.data.reshape(count, n_measured * n_heads)
    space = row_space(matrix, data, floor=floor, noise=noise, rank_tol=tol)
    excess, distance = distance_from_support(
        space, space.off, np.where(space.live, 0.0, np.abs(data)),
        rounding=rounding, floor=floor, reach=seen.reach, rank_tol=tol,
    )  # fmt: skip
    point = (space.basis @ space.coordinates[..., None]).reshape(count, n, law.matrix.shape[-1])
    return RowPart(
        tokens, None, 0, space, True, np.zeros((count, law.matrix.shape[-1], 0)), point, space.rank,
        space.log_pdet, excess, distance, rounding_of(space, rounding),
    )  # fmt: skip


def _unmeasured(tokens: Any, count: int, width: int) -> RowPart:
    """A row that says nothing: its tokens are fewer than a log-ratio needs, or it doesn't count."""
    none = np.zeros((count, 1, width))
    space, kernel = row_space_of_many(
        none, np.zeros((count, 0, 1)), floor=none[..., 0], noise=none[..., 0], rank_tol=0.0
    )
    zero = np.zeros(count)
    point = np.zeros((count, len(tokens), width))
    return RowPart(
        tokens, None, 0, space, False, kernel, point, np.zeros(count, dtype=np.intp), zero, zero,
        zero, zero,
    )  # fmt: skip
