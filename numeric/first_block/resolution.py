r"""What an observation pins down of the other tokens: the projector on the rows of F, by structure.

The rows of F (FB-13) are those of the measurement matrix, one block a token, and below them those
of the values. With G the values' matrix on what the row leaves open,

.. math:: \Pi_F = \Pi_{\mathrm{row}} + \Pi_G,

so that one small decomposition of M and one of G do for the whole of F.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numeric.door import Floats
from numeric.first_block.block import AttentionBlock
from numeric.first_block.row_part import RowPart, row_part
from numeric.first_block.slices import Seen
from numeric.first_block.value_part import ValuePart, value_part


@dataclass(frozen=True, eq=False)
class Resolution:
    """Orthonormal directions that an observation pins down, and where it pins them.

    Attributes:
        row: the row's part.
        values: the values' part; None: not observed.
    """

    row: RowPart
    values: ValuePart | None

    @property
    def rank(self) -> NDArray[np.integer[Any]]:
        """Rank of F, shape ``(B,)``."""
        return self.row.rank if self.values is None else self.row.rank + self.values.space.rank

    @property
    def log_pdet(self) -> Floats:
        """Half the log-pseudo-determinants of the row's and the values' laws at ``t = 1``."""
        if self.values is None:
            return self.row.log_pdet
        return self.row.log_pdet + self.values.space.log_pdet

    @property
    def excess(self) -> Floats:
        """Distance from the support by what rounding allows: above 1 the data contradict."""
        if self.values is None:
            return self.row.excess
        return np.maximum(self.row.excess, self.values.excess)

    @property
    def distance(self) -> Floats:
        """Distance from the support, of the part that is further off; rows normalized."""
        if self.values is None:
            return self.row.distance
        worse = self.values.excess > self.row.excess
        return np.where(worse, self.values.distance, self.row.distance)

    @property
    def rounding(self) -> Floats:
        """What rounding of the data may do to the coordinates, shape ``(B,)``."""
        if self.values is None:
            return self.row.rounding
        return np.hypot(self.row.rounding, self.values.rounding)

    @property
    def turning(self) -> Floats:
        """What rounding does to the directions, shape ``(B,)``."""
        if self.values is None:
            return self.row.space.turning
        return np.maximum(self.row.space.turning, self.values.space.turning)

    def squared_distances(self, mu: Floats) -> Floats:
        """``|F^+ (b - F mu_n)|^2`` for means ``(N, P, d)``, shape ``(B, N)``."""
        turned = self.row.turned(mu)
        count, (n_components, n, width) = len(self.row.rank), turned.shape
        space = self.row.space
        if self.row.is_whole:
            gap = (
                turned.reshape(n_components, n * width) @ space.basis
                - space.coordinates[:, None, :]
            )
            total = _squares(gap)
        elif self.row.n_measured and space.basis.shape[-1]:
            n_measured, k = self.row.n_measured, space.basis.shape[-1]
            measured = turned[:, :n_measured].reshape(n_components * n_measured, width)
            along = (measured @ space.basis).reshape(count, n_components, n_measured * k)
            total = _squares(along - space.coordinates.reshape(count, 1, n_measured * k))
        else:
            total = np.zeros((count, n_components))
        if self.values is not None and self.values.space.basis.shape[-1] and n:
            values = self.values.space
            gap = (
                turned.reshape(n_components, n * width) @ values.basis
                - values.coordinates[:, None, :]
            )
            total = total + _squares(gap)
        return total

    def pinned(self, tokens: Floats) -> Floats:
        """``Pi_F x`` of turned tokens ``(B or 1, m, n, d)``, shape ``(B, m, n, d)``."""
        row, space = self.row, self.row.space
        count, (m, n, width) = len(row.rank), tokens.shape[1:]
        flat = tokens.reshape(len(tokens), m, n * width)
        if row.is_whole:
            pinned = (flat @ space.basis) @ np.swapaxes(space.basis, -1, -2)
        else:
            pinned = np.zeros((count, m, n, width))
            measured = tokens[..., : row.n_measured, :]
            basis = space.basis[:, None]
            pinned[..., : row.n_measured, :] = (measured @ basis) @ np.swapaxes(basis, -1, -2)
            pinned = pinned.reshape(count, m, n * width)
        if self.values is not None:
            basis = self.values.space.basis
            pinned = pinned + (flat @ basis) @ np.swapaxes(basis, -1, -2)
        return np.broadcast_to(pinned, (count, m, n * width)).reshape(count, m, n, width)

    def fibre_point(self) -> Floats:
        """``F^+ b``, the point of the fibre that is nearest to 0, turned tokens, ``(B, n, d)``."""
        if self.values is None:
            return self.row.point
        space = self.values.space
        return self.row.point + (space.basis @ space.coordinates[..., None]).reshape(
            self.row.point.shape
        )


def resolve(
    block: AttentionBlock, seen: Seen, *, rank_tol: float | None = None, row_counts: bool = True
) -> Resolution:
    """The directions that query, row and values pin down; see `row_part` for the arguments.

    Source: FB-9, FB-13.
    """
    row = row_part(block, seen, rank_tol, row_counts=row_counts)
    if seen.values is None:
        return Resolution(row, None)
    return Resolution(row, value_part(block, seen, row, rank_tol))


def _squares(vectors: Floats) -> Floats:
    return np.einsum("...k,...k->...", vectors, vectors)
