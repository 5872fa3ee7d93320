"""Random matrices: in a style, or with a structure that a hypothesis demands. All exact."""

from __future__ import annotations

import random
from collections.abc import Sequence

from flint import fmpq, fmpq_mat

from proofs.evaluate import functions
from proofs.evaluate import values as v
from proofs.evaluate.values import Matrix, Value

TINY = tuple(map(fmpq, (0, 1, -1)))
LARGE = tuple(map(fmpq, (4, -4, 5, -5, 8, -8)))  # where powers grow apart
SMALL = tuple(map(fmpq, (0, 1, -1, 2, -2, 3, -3)))
MIXED = tuple(fmpq(p, q) for q in (1, 2, 3, 4) for p in (-5, -3, -2, -1, 1, 2, 3, 5))
# Numbers whose square root is rational, and pairs a, 1 - a of them.
POSITIVE = tuple(
    fmpq(p, q)
    for p, q in (
        (1, 1),
        (2, 1),
        (1, 2),
        (4, 1),
        (1, 4),
        (3, 1),
        (1, 3),
        (9, 25),
        (16, 25),
        (9, 1),
        (3, 4),
    )
)
STYLES = (
    "tiny",
    "small",
    "mixed",
    "zero",
    "identity",
    "ones",
    "rank_one",
    "low_rank",
    "diagonal",
    "nilpotent",
    "permutation",
    "symmetric",
    "semidefinite",
    "skew",
    "positive",
    "simplex",
    "unit",
    "isotropic",
    "tall",
    "companion",
)


class Matrices:
    """Draws matrices with a generator of random numbers."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def filled(self, rows: int, cols: int, pool: Sequence[fmpq], is_complex: bool) -> Value:
        def part() -> fmpq_mat:
            return fmpq_mat(rows, cols, [self.rng.choice(pool) for _ in range(rows * cols)])

        return v.exact_matrix(part(), part() if is_complex else None)

    def styled(self, rows: int, cols: int, style: str, is_complex: bool) -> Value:
        """A matrix in a style; a style that doesn't fit the shape falls back to small numbers."""
        rng, square = self.rng, rows == cols
        if style == "tiny":
            return self.filled(rows, cols, TINY, is_complex)
        if style == "mixed":
            return self.filled(rows, cols, MIXED, is_complex)
        if style == "zero":
            return v.zeros(rows, cols)
        if style in ("identity", "tall"):
            scale = 1 if style == "identity" else rng.choice(SMALL[1:])
            return Matrix(
                fmpq_mat(
                    rows, cols, [scale if i == j else 0 for i in range(rows) for j in range(cols)]
                )
            )
        if style == "ones":
            return Matrix(fmpq_mat(rows, cols, [1] * (rows * cols)))
        if style == "positive":
            return self.filled(rows, cols, POSITIVE, False)
        if style == "simplex":
            slack = rng.choice((0, 1, 1))
            raw = [rng.randint(1, 4) for _ in range(rows * cols)]
            return Matrix(fmpq_mat(rows, cols, [fmpq(x, sum(raw) + slack) for x in raw]))
        if style == "unit":
            place = rng.randrange(rows * cols)
            return Matrix(fmpq_mat(rows, cols, [int(k == place) for k in range(rows * cols)]))
        if style in ("rank_one", "low_rank"):
            inner = 1 if style == "rank_one" else max(1, min(rows, cols) - 1)
            return v.mul(
                self.filled(rows, inner, SMALL, is_complex),
                self.filled(inner, cols, SMALL, is_complex),
            )
        if style == "isotropic" and is_complex:
            return self.isotropic(rows, cols)
        if square:
            found = self.square(rows, style, is_complex)
            if found is not None:
                return found
        return self.filled(rows, cols, SMALL, is_complex)

    def isotropic(self, rows: int, cols: int) -> Value:
        """Columns (1, i, 0, ...): not zero, yet `x.T*x = 0`."""
        re = fmpq_mat(rows, cols, [int(i == 0) for i in range(rows) for _ in range(cols)])
        im = fmpq_mat(rows, cols, [int(i == 1) for i in range(rows) for _ in range(cols)])
        return v.exact_matrix(re, im)

    def square(self, size: int, style: str, is_complex: bool) -> Value | None:
        if style == "diagonal":
            return self.diagonal(size, SMALL)
        if style == "permutation":
            order = self.rng.sample(range(size), size)
            return Matrix(
                fmpq_mat(
                    [
                        [self.rng.choice((1, -1)) if order[i] == j else 0 for j in range(size)]
                        for i in range(size)
                    ]
                )
            )
        if style == "companion":  # of 1 + x + ... + x^n: a root of unity without rational ones
            return Matrix(
                fmpq_mat(
                    [
                        [-1 if j == size - 1 else int(i == j + 1) for j in range(size)]
                        for i in range(size)
                    ]
                )
            )
        m = self.filled(size, size, TINY if style == "nilpotent" else SMALL, is_complex)
        if style == "nilpotent":
            return v.rearrange(size, size, lambda i, j: (i, j) if i < j else None, m)
        if style == "symmetric":
            return v.add(m, v.adjoint(m))
        if style == "skew":
            return v.sub(m, v.adjoint(m))
        if style == "semidefinite":
            return self.semidefinite(size, is_complex)
        return None

    def diagonal(self, size: int, pool: Sequence[fmpq]) -> Value:
        return Matrix(
            fmpq_mat(
                size,
                size,
                [self.rng.choice(pool) if i == j else 0 for i in range(size) for j in range(size)],
            )
        )

    def structured(self, rows: int, cols: int, demands: set[str], is_complex: bool) -> Value | None:
        if "orthonormal_columns" in demands and rows >= cols:
            return _columns(self.orthogonal(rows, is_complex), cols)
        if "orthonormal_rows" in demands and cols >= rows:
            return v.adjoint(_columns(self.orthogonal(cols, is_complex), rows))
        if rows != cols or not demands:
            return None
        self_adjoint = bool(
            demands & {"symmetric", "hermitian", "positive_semidefinite", "positive_definite"}
        )
        if "idempotent" in demands:
            return self.projector(rows, is_complex, self_adjoint, "positive_definite" in demands)
        if demands & {"orthogonal", "unitary"}:
            if "positive_definite" in demands:
                return v.eye(rows)
            if self_adjoint:
                p = self.projector(rows, is_complex, True, False)
                return v.sub(v.eye(rows), v.mul(v.scalar(2), p))
            return self.orthogonal(rows, is_complex and "unitary" in demands)
        if "diagonal" in demands:
            definite = "positive_definite" in demands or "invertible" in demands
            pool = POSITIVE if definite else (*POSITIVE, fmpq(0)) if self_adjoint else SMALL
            return self.diagonal(rows, pool)
        if "positive_definite" in demands:
            return self.definite(rows, is_complex)
        if "positive_semidefinite" in demands:
            return self.semidefinite(rows, is_complex)
        if "nilpotent" in demands:
            return self.nilpotent(rows)
        if self_adjoint:
            m = self.filled(rows, rows, self.rng.choice((TINY, SMALL)), is_complex)
            return v.add(m, v.adjoint(m)) if self.rng.random() < 0.5 else _mirrored(m)
        return None

    def definite(self, size: int, is_complex: bool) -> Value:
        """`L*D*L.H` with a unit triangular L and positive D."""
        lower = v.rearrange(
            size,
            size,
            lambda i, j: (i, j) if i > j else None,
            self.filled(size, size, TINY, is_complex),
        )
        lower = v.add(lower, v.eye(size))
        middle = self.diagonal(size, POSITIVE[:6])
        return v.mul(v.mul(lower, middle), v.adjoint(lower))

    def semidefinite(self, size: int, is_complex: bool) -> Value:
        """A Gram matrix of any rank, zero included."""
        inner = self.rng.randint(0, size)
        if inner == 0:
            return v.zeros(size, size)
        factor = self.filled(size, inner, self.rng.choice((TINY, SMALL)), is_complex)
        return v.mul(factor, v.adjoint(factor))

    def orthogonal(self, size: int, is_complex: bool) -> Value:
        """A signed permutation, times a Cayley transform at times; with phases if complex."""
        order = self.rng.sample(range(size), size)
        signs = [self.rng.choice((1, -1)) for _ in range(size)]
        found: v.Value = Matrix(
            fmpq_mat([[signs[i] if order[i] == j else 0 for j in range(size)] for i in range(size)])
        )
        if self.rng.random() < 0.6:
            m = self.filled(size, size, TINY, is_complex)
            skew = v.sub(m, v.adjoint(m))
            one = v.eye(size)
            found = v.mul(found, v.mul(v.sub(one, skew), functions.inverse(v.add(one, skew))))
        return found

    def projector(self, size: int, is_complex: bool, self_adjoint: bool, full: bool) -> Value:
        """A projector of any rank, oblique unless it must be self-adjoint."""
        inner = size if full else self.rng.randint(0, size)
        if inner in (0, size):
            return v.eye(size) if inner else v.zeros(size, size)
        b = self.filled(size, inner, TINY, is_complex)
        c = v.adjoint(b) if self_adjoint else self.filled(inner, size, TINY, is_complex)
        return v.mul(v.mul(b, functions.pseudo_inverse(v.mul(c, b))), c)

    def nilpotent(self, size: int) -> Value:
        """`u*w.T` with `w.T*u = 0`: its square is zero."""
        if size == 1:
            return v.zeros(1, 1)
        u, w = self.filled(size, 1, SMALL, False), self.filled(size, 1, SMALL, False)
        gram = v.mul(v.transpose(u), u)
        if not v.is_exact_zero(gram):
            along_u = functions.divide(v.mul(v.transpose(u), w), gram)
            w = v.sub(w, v.mul(along_u, u))
        return v.mul(u, v.transpose(w))


def _columns(matrix: Value, count: int) -> Value:
    return v.rearrange(v.shape(matrix)[0], count, lambda i, j: (i, j), matrix)


def _mirrored(matrix: Value) -> Value:
    """The lower triangle and its reflection, with a real diagonal."""
    size = v.shape(matrix)[0]
    lower = v.rearrange(size, size, lambda i, j: (i, j) if i > j else None, matrix)
    middle = v.rearrange(size, size, lambda i, j: (i, j) if i == j else None, matrix)
    return v.add(v.add(lower, v.adjoint(lower)), functions.real_part(middle))
