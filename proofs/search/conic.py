"""Untrusted. Semidefinite feasibility in floating point, by clarabel, loaded when it is needed.

Nothing here is believed: what comes back is rounded, and then shown exactly or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

Place = tuple[int, int, int]  # block, row <= column
SECONDS = 2.0  # for one program
GOOD = ("Solved", "AlmostSolved", "InsufficientProgress")
LARGEST_MARGIN = 1.0
GAP = 1e-4  # eigenvalues below this part of the largest are taken for zero


@dataclass(frozen=True)
class Solution:
    """Semidefinite matrices, and a lower bound on the eigenvalues of all of them."""

    blocks: list[Any]  # NumPy arrays
    margin: float

    def value(self, place: Place) -> float:
        block, i, j = place
        return float(self.blocks[block][i, j])

    def kernel(self, block: int) -> list[list[float]]:
        """Vectors that span what the matrix of a block nearly takes to zero."""
        import numpy as np

        if not len(self.blocks[block]):
            return []
        values, vectors = np.linalg.eigh(self.blocks[block])
        largest = max(float(m.max()) for m in (abs(b) for b in self.blocks) if m.size)
        return [vectors[:, k].tolist() for k, v in enumerate(values) if v < GAP * max(largest, 1.0)]


def solve(
    sizes: Sequence[int],
    equations: Sequence[tuple[Mapping[Place, float], float]],
    interior: bool,
) -> Solution | None:
    """Semidefinite matrices of these sizes whose entries satisfy linear equations.

    With `interior` the least eigenvalue is made as large as it can be, up to a limit.
    """
    import clarabel
    import numpy as np
    from scipy import sparse

    offsets = [0]
    for size in sizes:
        offsets.append(offsets[-1] + size * (size + 1) // 2)
    count = offsets[-1]

    def column(place: Place) -> int:
        block, i, j = place
        return offsets[block] + j * (j + 1) // 2 + i

    triples: list[tuple[int, int, float]] = []
    right: list[float] = []
    for coefficients, target in equations:
        row = len(right)
        triples += [(row, column(p), c) for p, c in coefficients.items()]
        right.append(target)
    cones: list[Any] = [clarabel.ZeroConeT(len(right))]
    for block, size in enumerate(sizes):
        for j in range(size):
            for i in range(j + 1):
                row = len(right)
                triples.append((row, column((block, i, j)), -1.0 if i == j else -sqrt(2.0)))
                if i == j and interior:
                    triples.append((row, count, 1.0))
                right.append(0.0)
        if size:
            cones.append(clarabel.PSDTriangleConeT(size))
    if interior:
        triples.append((len(right), count, 1.0))
        right.append(LARGEST_MARGIN)
        cones.append(clarabel.NonnegativeConeT(1))
    width = count + int(interior)
    rows, columns, values = zip(*triples, strict=True)
    matrix = sparse.csc_matrix((values, (rows, columns)), shape=(len(right), width))
    objective = np.zeros(width)
    if interior:
        objective[-1] = -1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.time_limit = SECONDS
    program = clarabel.DefaultSolver(
        sparse.csc_matrix((width, width)), objective, matrix, np.array(right), cones, settings
    )
    found = program.solve()
    if str(found.status) not in GOOD:
        return None
    blocks = []
    for block, size in enumerate(sizes):
        square = np.zeros((size, size))
        for j in range(size):
            for i in range(j + 1):
                square[i, j] = square[j, i] = found.x[column((block, i, j))]
        blocks.append(square)
    return Solution(blocks, float(found.x[-1]) if interior else 0.0)
