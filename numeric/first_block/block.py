"""One attention block, read at one token: what it measures and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from numeric import door
from numeric.errors import DomainError, ShapeError
from numeric.kernels import attention as kernels

Heads = Sequence[door.Floats] | door.Floats  # one array a head


class Measurement(NamedTuple):
    """Logits of the target's row as affine functions of the tokens, for a given query token.

    Attributes:
        matrix: row h of ``M_j``, shape ``(*batch, 1, H, d)``, or ``(*batch, P, H, d)`` where the
            rotary maps make it depend on the token.
        offset: the logit of token j is ``M_j z_j + offset_j`` up to a number that is common to all
            tokens, shape ``(*batch, P, H)``.
        scale: what a row of the matrix could measure without cancellation, shape
            ``(*batch, 1 or P, H)``: a row far below it is rounding.
        common: size of what biases add to the logits of all tokens alike, shape ``(*batch, H)``.
    """

    matrix: door.Floats
    offset: door.Floats
    scale: door.Floats
    common: door.Floats


class BlockRun(NamedTuple):
    """What a block makes of a state at its target.

    Attributes:
        query: the target's own token, shape ``(*batch, d)``.
        log_row: log-probabilities, ``-inf`` at hidden tokens, shape ``(*batch, H, P)``.
        values: the heads' values one after the other, shape ``(*batch, V_tot)``.
        output: ``w_out @ values``, shape ``(*batch, p)``; the values themselves without a `w_out`.
    """

    query: door.Floats
    log_row: door.Floats
    values: door.Floats
    output: door.Floats


@dataclass(frozen=True, eq=False)
class AttentionBlock:
    r"""Softmax attention without normalization or residual, read at the token `target`.

    .. math:: s_h = \operatorname{softmax}_j \big( (R_i q_h)^\top R_j k_{hj} / \sqrt{k_h} \big),
        \qquad A_h = \sum_j s_{hj} (V_h x_j + b^V_h), \qquad x_j = z_j + p_j

    with ``q_h = Q_h x_i + b^Q_h`` and ``k_hj = K_h x_j + b^K_h``. All maps may carry leading axes
    ``blocks`` that broadcast with the batch axes of what is observed.

    Args:
        query_maps: ``Q_h`` for each head, shape ``(*blocks, k_h, d)``.
        key_maps: ``K_h``, the same shapes.
        value_maps: ``V_h``, shape ``(*blocks, v_h, d)``; v_h may differ from head to head.
        n_tokens: P.
        target: index i of the token that is read.
        mask: True at the tokens that the target attends to, shape ``(P,)``; default: all.
        w_out: ``W_O``, shape ``(*blocks, p, V_tot)``.
        positions: ``p_j``, shape ``(P, d)``; enter queries, keys and values.
        query_biases, key_biases, value_biases: ``(k_h,)``, ``(k_h,)`` and ``(v_h,)`` a head.
        rotations: ``R_j`` for each head, shape ``(P, k_h, k_h)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: the target is no token, or no token is visible.

    Source: FB-5 (eqs. 5, 6), FB-28h.

    Example:
        >>> one = np.array([[1.0]])
        >>> block = AttentionBlock([one], [one * np.log(2)], [one], n_tokens=3)
        >>> run = block.run(np.array([[1.0], [2.0], [0.0]]))
        >>> np.exp(run.log_row).round(6).tolist(), run.values.round(6).tolist()
        ([[0.285714, 0.571429, 0.142857]], [1.428571])
    """

    query_maps: Heads
    key_maps: Heads
    value_maps: Heads
    n_tokens: int
    target: int = 0
    mask: NDArray[np.bool_] | None = None
    w_out: door.Floats | None = None
    positions: door.Floats | None = None
    query_biases: Heads | None = None
    key_biases: Heads | None = None
    value_biases: Heads | None = None
    rotations: Heads | None = None
    batch: tuple[int, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        maps = {name: _heads(name, getattr(self, name), 2) for name in _MAPS}
        n_heads = len(maps["query_maps"])
        if n_heads == 0:
            raise ShapeError("query_maps", "at least one head", "none")
        width = maps["query_maps"][0].shape[-1]
        for name, arrays in maps.items():
            _check_count(name, arrays, n_heads)
            for array in arrays:
                door.same_axis("query_maps", width, name, array.shape[-1])
        sizes = [array.shape[-2] for array in maps["query_maps"]]
        for size, array in zip(sizes, maps["key_maps"], strict=True):
            if size == 0:
                raise ShapeError("query_maps", "keys of at least one entry", "none")
            door.same_axis("query_maps", size, "key_maps", array.shape[-2])
        for name, arrays in maps.items():
            object.__setattr__(self, name, arrays)
        if self.n_tokens < 1:
            raise DomainError("n_tokens", "at least one token", str(self.n_tokens))
        object.__setattr__(self, "target", door.position("target", self.target, self.n_tokens))
        object.__setattr__(self, "mask", self._checked_mask())
        value_sizes = [array.shape[-2] for array in maps["value_maps"]]
        w_out, positions = _array("w_out", self.w_out, 2), _array("positions", self.positions, 2)
        if w_out is not None:
            door.same_axis("value_maps", sum(value_sizes), "w_out", w_out.shape[-1])
        if positions is not None and positions.shape != (self.n_tokens, width):
            wanted = f"shape {(self.n_tokens, width)}"
            raise ShapeError("positions", wanted, f"shape {positions.shape}")
        object.__setattr__(self, "w_out", w_out)
        object.__setattr__(self, "positions", positions)
        for name, lengths in (
            ("query_biases", sizes), ("key_biases", sizes), ("value_biases", value_sizes),
        ):  # fmt: skip
            shapes = [(length,) for length in lengths]
            object.__setattr__(self, name, _shaped(name, getattr(self, name), shapes))
        squares = [(self.n_tokens, size, size) for size in sizes]
        object.__setattr__(self, "rotations", _shaped("rotations", self.rotations, squares))
        parts = {f"{name}[{h}]": (m, 2) for name, ms in maps.items() for h, m in enumerate(ms)}
        if w_out is not None:
            parts["w_out"] = (w_out, 2)
        object.__setattr__(self, "batch", door.common_batch(**parts))

    def _checked_mask(self) -> NDArray[np.bool_]:
        if self.mask is None:
            return np.ones(self.n_tokens, dtype=bool)
        mask = np.array(self.mask)
        if mask.dtype != bool or mask.shape != (self.n_tokens,):
            got = f"{mask.dtype} of shape {mask.shape}"
            raise ShapeError("mask", f"booleans of shape ({self.n_tokens},)", got)
        if not mask.any():
            raise DomainError(
                "mask", "at least one visible token", "none", "a row without tokens is no row"
            )
        return mask

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Whether the target attends to each token, shape ``(P,)``."""
        assert self.mask is not None
        return self.mask

    @property
    def n_heads(self) -> int:
        """H."""
        return len(self.query_maps)

    @property
    def width(self) -> int:
        """d."""
        return self.query_maps[0].shape[-1]

    @property
    def head_of_value(self) -> NDArray[np.intp]:
        """Head of each entry of the values, shape ``(V_tot,)``."""
        return np.repeat(np.arange(self.n_heads), [v.shape[-2] for v in self.value_maps])

    @property
    def value_map(self) -> door.Floats:
        """``V_h`` one below the other, shape ``(*blocks, V_tot, d)``."""
        blocks = np.broadcast_shapes(*(v.shape[:-2] for v in self.value_maps))
        return np.concatenate(
            [np.broadcast_to(v, (*blocks, *v.shape[-2:])) for v in self.value_maps], axis=-2
        )

    @property
    def value_bias(self) -> door.Floats:
        """``b^V_h`` one after the other, shape ``(V_tot,)``."""
        if self.value_biases is None:
            return np.zeros(len(self.head_of_value))
        return np.concatenate(list(self.value_biases))

    def placed(self, tokens: door.Floats) -> door.Floats:
        """The tokens ``(*batch, P, d)`` with their positions added."""
        return tokens if self.positions is None else tokens + self.positions

    def measurement(self, query: door.Floats) -> Measurement:
        r"""What the row measures of the other tokens, given the query token.

        .. math:: M_{j,h} = (R_i q_h)^\top R_j K_h / \sqrt{k_h}

        Args:
            query: c, shape ``(*batch, d)``.

        Source: FB-5. Kernel: `attention.head_map`.
        """
        matrices, offsets, scales, levels = [], [], [], []
        placed = query if self.positions is None else query + self.positions[self.target]
        for h, keys in enumerate(self.key_maps):
            queries, bias = self.query_maps[h], self._query_bias(h)
            if self.rotations is None:
                turned, offset = keys, np.zeros(1)  # a key bias is common to all tokens
            else:
                own = self.rotations[h][self.target]
                queries, bias = own @ queries, own @ bias
                turned = self.rotations[h] @ keys[..., None, :, :]
                key_bias = 0.0 if self.key_biases is None else self.key_biases[h]
                offset = (self.rotations[h] * key_bias).sum(-1)
                offset = (offset * self._asked(h, query)[..., None, :]).sum(-1)
            turned = turned if turned.ndim > keys.ndim else turned[..., None, :, :]
            size = np.asarray(float(keys.shape[-2]))
            matrix = kernels.head_map(
                placed[..., None, :], queries[..., None, :, :], turned, bias, size
            )
            if self.positions is not None:
                offset = offset + (matrix * self.positions).sum(-1)
            matrices.append(matrix)
            offsets.append(np.broadcast_to(offset, (*matrix.shape[:-2], self.n_tokens)))
            asked = np.linalg.norm(self._asked(h, query), axis=-1)
            reach = asked * np.linalg.norm(keys, axis=(-2, -1))
            key_bias = 0.0 if self.key_biases is None else np.linalg.norm(self.key_biases[h])
            levels.append(asked * key_bias)
            scales.append(np.broadcast_to(reach[..., None], matrix.shape[:-1]))
        batch = np.broadcast_shapes(*(m.shape[:-2] for m in matrices))
        shape = (*batch, *matrices[0].shape[-2:])
        return Measurement(
            np.stack([np.broadcast_to(m, shape) for m in matrices], axis=-2),
            np.stack([np.broadcast_to(o, (*batch, self.n_tokens)) for o in offsets], axis=-1),
            np.stack([np.broadcast_to(s, shape[:-1]) for s in scales], axis=-1),
            np.stack([np.broadcast_to(level, batch) for level in levels], axis=-1),
        )

    def run(self, state: door.Floats) -> BlockRun:
        """Row, values and projected output at the target.

        Args:
            state: tokens z, shape ``(*batch, P, d)``.

        Raises:
            ShapeError, DtypeError, NonFiniteError: `state` is no such array.

        Source: FB-5 (eq. 5). Kernel: `attention.head_value`.
        """
        state = door.real("state", state, 2)
        door.same_axis("the block's tokens", self.n_tokens, "state", state.shape[-2])
        door.same_axis("query_maps", self.width, "state", state.shape[-1])
        tokens, query = self.placed(state), state[..., self.target, :]
        rows, values = [], []
        for h, keys in enumerate(self.key_maps):
            asked = self._asked(h, query)
            offered = tokens @ np.swapaxes(keys, -1, -2)
            if self.key_biases is not None:
                offered = offered + self.key_biases[h]
            if self.rotations is not None:
                offered = (self.rotations[h] @ offered[..., None])[..., 0]
            logits = (offered @ asked[..., None])[..., 0]
            row = log_softmax(np.where(self.visible, logits, -np.inf), axis=-1)
            rows.append(row)
            values.append(kernels.head_value(self.value_maps[h], tokens, np.exp(row)))
        batch = np.broadcast_shapes(*(row.shape[:-1] for row in rows))
        log_row = np.stack([np.broadcast_to(r, (*batch, self.n_tokens)) for r in rows], axis=-2)
        whole = np.concatenate([np.broadcast_to(v, (*batch, v.shape[-1])) for v in values], axis=-1)
        whole = whole + self.value_bias
        output = whole if self.w_out is None else (self.w_out @ whole[..., None])[..., 0]
        return BlockRun(query, log_row, whole, output)

    def _query_bias(self, h: int) -> door.Floats:
        if self.query_biases is None:
            return np.zeros(self.query_maps[h].shape[-2])
        return self.query_biases[h]

    def _asked(self, h: int, query: door.Floats) -> door.Floats:
        """The query of head h, turned and divided by ``sqrt(k_h)``, shape ``(*batch, k_h)``."""
        if self.positions is not None:
            query = query + self.positions[self.target]
        asked = (self.query_maps[h] @ query[..., None])[..., 0] + self._query_bias(h)
        if self.rotations is not None:
            asked = (self.rotations[h][self.target] @ asked[..., None])[..., 0]
        return asked / np.sqrt(asked.shape[-1])


_MAPS = ("query_maps", "key_maps", "value_maps")


def _heads(name: str, value: Any, core: int) -> tuple[door.Floats, ...]:
    """One float64 array a head."""
    return tuple(
        door.real(f"{name}[{h}]", array, core).astype(np.float64) for h, array in enumerate(value)
    )


def _array(name: str, value: Any, core: int) -> door.Floats | None:
    return None if value is None else door.real(name, value, core).astype(np.float64)


def _check_count(name: str, arrays: Sequence[Any], count: int) -> None:
    if len(arrays) != count:
        raise ShapeError(name, f"one array a head, {count}", str(len(arrays)))


def _shaped(name: str, value: Any, shapes: list[tuple[int, ...]]) -> tuple[door.Floats, ...] | None:
    """One array a head, of exactly these shapes; None stays None."""
    if value is None:
        return None
    arrays = _heads(name, value, 0)
    _check_count(name, arrays, len(shapes))
    for h, (array, shape) in enumerate(zip(arrays, shapes, strict=True)):
        if array.shape != shape:
            raise ShapeError(f"{name}[{h}]", f"shape {shape}", f"shape {array.shape}")
    return arrays
