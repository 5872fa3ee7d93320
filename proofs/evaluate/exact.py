"""Linear algebra over the rationals, exact: ranks, pseudo-inverses, factors, affine solutions.

Everything here works on FLINT's rational matrices. A complex matrix `R + i*J` is handled by its
real embedding `[[R, -J], [J, R]]`, a *-homomorphism: it carries inverses, pseudo-inverses, ranks
(doubled) and definiteness over, and nothing else here needs to know about complex numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq, fmpq_mat

ZERO = fmpq(0)
ONE = fmpq(1)


def identity(size: int) -> fmpq_mat:
    """The identity matrix."""
    return fmpq_mat(size, size, [ONE if i == j else ZERO for i in range(size) for j in range(size)])


def embed(real: fmpq_mat, imaginary: fmpq_mat) -> fmpq_mat:
    """The real matrix `[[R, -J], [J, R]]` that stands for `R + i*J`."""
    upper = [[*r, *(-x for x in j)] for r, j in zip(real.tolist(), imaginary.tolist(), strict=True)]
    lower = [[*j, *r] for r, j in zip(real.tolist(), imaginary.tolist(), strict=True)]
    return fmpq_mat(upper + lower)


def unembed(matrix: fmpq_mat) -> tuple[fmpq_mat, fmpq_mat]:
    """The real and the imaginary part of what `embed` wrote."""
    rows, cols = matrix.nrows() // 2, matrix.ncols() // 2
    table = matrix.tolist()
    return (
        fmpq_mat([row[:cols] for row in table[:rows]]),
        fmpq_mat([row[:cols] for row in table[rows:]]),
    )


def pivots(reduced: fmpq_mat, rank: int) -> list[int]:
    """The pivot columns of a reduced row echelon form."""
    found, row = [], 0
    for col in range(reduced.ncols()):
        if row < rank and reduced[row, col] != 0:
            found.append(col)
            row += 1
    return found


def pseudo_inverse(matrix: fmpq_mat) -> fmpq_mat:
    """The Moore-Penrose inverse, by a full-rank factorization `A = F*G`.

    `F` holds the pivot columns of `A` and `G` the non-zero rows of its reduced echelon form; then
    `A^+ = G.T (G G.T)^-1 (F.T F)^-1 F.T`.
    """
    reduced, rank = matrix.rref()
    if rank == 0:
        return fmpq_mat(matrix.ncols(), matrix.nrows())
    if rank == matrix.nrows() == matrix.ncols():
        return matrix.inv()
    columns = pivots(reduced, rank)
    f = fmpq_mat([[matrix[i, j] for j in columns] for i in range(matrix.nrows())])
    g = fmpq_mat(reduced.tolist()[:rank])
    ft, gt = f.transpose(), g.transpose()
    return gt * (g * gt).inv() * (ft * f).inv() * ft


@dataclass(frozen=True, slots=True)
class Affine:
    """All solutions of a linear system: `point` plus the span of `directions`."""

    point: list[fmpq]
    directions: list[list[fmpq]]


def solve(matrix: fmpq_mat, right: list[fmpq]) -> Affine | None:
    """All solutions of `matrix * x = right`, or None where there is none."""
    cols = matrix.ncols()
    rows = [[*row, b] for row, b in zip(matrix.tolist(), right, strict=True)]
    reduced, rank = fmpq_mat(rows).rref()
    columns = pivots(reduced, rank)
    if columns and columns[-1] == cols:
        return None
    point = [ZERO] * cols
    for row, col in enumerate(columns):
        point[col] = reduced[row, cols]
    directions = []
    for free in range(cols):
        if free not in columns:
            direction = [ZERO] * cols
            direction[free] = ONE
            for row, col in enumerate(columns):
                direction[col] = -reduced[row, free]
            directions.append(direction)
    return Affine(point, directions)


@dataclass(frozen=True, slots=True)
class Factor:
    """`S = L * diag(d) * L.T` with positive `d`: one column of `L` for each unit of rank."""

    columns: list[list[fmpq]]
    weights: list[fmpq]


def definite_factor(matrix: fmpq_mat) -> Factor | None:
    """The factor of a symmetric positive semidefinite matrix; None for any other matrix.

    Eliminates with diagonal pivots. A negative pivot, or a zero pivot whose row isn't zero, shows
    a direction in which the form is negative.
    """
    if matrix != matrix.transpose():
        return None
    size = matrix.nrows()
    rest = matrix.tolist()
    columns, weights = [], []
    open_rows = list(range(size))
    while open_rows:
        pivot = next((i for i in open_rows if rest[i][i] != 0), None)
        if pivot is None:
            if any(rest[i][j] != 0 for i in open_rows for j in open_rows):
                return None
            break
        weight = rest[pivot][pivot]
        if weight < 0:
            return None
        open_rows.remove(pivot)
        column = [ZERO] * size
        column[pivot] = ONE
        for i in open_rows:
            column[i] = rest[i][pivot] / weight
        for i in open_rows:
            if column[i] != 0:
                for j in open_rows:
                    rest[i][j] -= column[i] * rest[pivot][j]
        columns.append(column)
        weights.append(weight)
    return Factor(columns, weights)


def pseudo_determinant(matrix: fmpq_mat, rank: int) -> fmpq:
    """The product of the non-zero eigenvalues of a symmetric matrix of this rank."""
    if rank == 0:
        return ONE
    coefficient = matrix.charpoly()[matrix.nrows() - rank]
    return -coefficient if rank % 2 else coefficient
