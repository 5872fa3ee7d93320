"""What can be decided about a value: signs, equality, definiteness, in three-valued logic.

Exact values decide everything. Balls decide a strict inequality or a difference when they are
disjoint; that two of them overlap decides nothing, so no equality is ever confirmed by balls.
"""

from __future__ import annotations

from enum import Enum

from flint import arb

from proofs.evaluate import exact
from proofs.evaluate.values import (
    Matrix,
    Points,
    Polynomial,
    UndecidedHere,
    Value,
    adjoint,
    at_point,
    base,
    is_zero_exact,
    mul,
    outcomes,
    shape,
    sub,
    to_balls,
)
from proofs.language.errors import TypeProblem


class Truth(Enum):
    """What is known of a relation at a model. Has no truth value: compare with `is`."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("a Truth has no truth value; compare it with `is Truth.TRUE`")

    @staticmethod
    def of(known: bool) -> Truth:
        return Truth.TRUE if known else Truth.FALSE

    def negated(self) -> Truth:
        if self is Truth.UNKNOWN:
            return self
        return Truth.of(self is Truth.FALSE)


def every(truths: list[Truth]) -> Truth:
    """Conjunction."""
    if any(t is Truth.FALSE for t in truths):
        return Truth.FALSE
    return Truth.UNKNOWN if any(t is Truth.UNKNOWN for t in truths) else Truth.TRUE


# ---------------------------------------------------------------- scalars


def number(x: Matrix, what: str = "a number") -> Matrix:
    """A 1x1 matrix, or a complaint."""
    if x.shape != (1, 1):
        raise TypeProblem(f"{what} was expected, got a {x.shape[0]} by {x.shape[1]} matrix")
    return x


def sign(x: Matrix) -> int:
    """-1, 0 or 1 for a real scalar; balls may decide -1 and 1, never 0.

    Raises:
        UndecidedHere: not decided, or not real.
    """
    number(x)
    if x.im is not None:
        raise UndecidedHere("a sign was asked of a number that isn't real")
    value = x.re[0, 0]
    if value > 0:
        return 1
    if value < 0:
        return -1
    if x.exact:
        return 0
    raise UndecidedHere("the sign isn't decided", retry=True)


def is_zero(x: Matrix) -> Truth:
    """Whether every entry is zero."""
    if x.exact:
        return Truth.of(x.im is None and is_zero_exact(x.re))
    for part in (x.re, x.im):
        if part is not None and any(e > 0 or e < 0 for e in part.entries()):
            return Truth.FALSE
    return Truth.UNKNOWN


def integer(x: Matrix) -> int | None:
    """The integer that an exact scalar is, or None."""
    if x.exact and x.im is None and x.shape == (1, 1) and x.re[0, 0].q == 1:
        return int(x.re[0, 0].p)
    return None


# ---------------------------------------------------------------- equality and order


def equal(x: Value, y: Value) -> Truth:
    """Equality; of random quantities, equality at every point or in every coefficient."""
    if shape(x) != shape(y):
        raise TypeProblem(f"shapes {shape(x)} and {shape(y)} can't be compared")
    if type(x) is Matrix and type(y) is Matrix:
        if x.exact and y.exact:
            return Truth.of(
                x.re == y.re and (x.im is None) == (y.im is None) and (x.im is None or x.im == y.im)
            )
        x, y = to_balls(x), to_balls(y)
        parts = [(x.re, y.re)]
        if x.im is not None or y.im is not None:
            blank = type(x.re)(*x.shape)
            parts.append((blank if x.im is None else x.im, blank if y.im is None else y.im))
        for a, b in parts:
            if any(not p.overlaps(q) for p, q in zip(a.entries(), b.entries(), strict=True)):
                return Truth.FALSE
        return Truth.UNKNOWN
    return vanishes(sub(x, y))


def vanishes(x: Value) -> Truth:
    """Whether a value of any kind is zero, everywhere."""
    if type(x) is Matrix:
        return is_zero(x)
    if type(x) is Polynomial:
        found = every([vanishes(c) for c in x.terms.values()])
        exponentials = any(i < 0 for monomial in x.terms for i in monomial)  # not independent
        return Truth.UNKNOWN if exponentials and found is Truth.FALSE else found
    if type(x) is Points:
        return every([vanishes(v) for v in x.values])
    raise UndecidedHere("a relation under diff isn't supported")


def ordered(x: Value, y: Value, strict: bool) -> Truth:
    """`x < y` or `x <= y`: of scalars, or of symmetric (Hermitian) matrices in Loewner's order."""
    count = outcomes((x, y))
    if count:
        return every([ordered(at_point(x, i), at_point(y, i), strict) for i in range(count)])
    if type(x) is not Matrix or type(y) is not Matrix:
        raise UndecidedHere("an inequality between random quantities isn't supported")
    if x.shape == y.shape == (1, 1):
        if any(m.im is not None and not m.exact for m in (x, y)):
            return Truth.UNKNOWN
        if x.im is not None or y.im is not None:
            return Truth.FALSE  # only real numbers are ordered
        if not (x.exact and y.exact):
            x, y = to_balls(x), to_balls(y)
        a, b = x.re[0, 0], y.re[0, 0]
        if (a < b) if strict else (a <= b):
            return Truth.TRUE
        return Truth.FALSE if (a >= b if strict else a > b) else Truth.UNKNOWN
    return every([hermitian(x), hermitian(y), definite(base(sub(y, x)), strict)])


def hermitian(x: Matrix) -> Truth:
    """Whether a matrix equals its conjugate transpose."""
    if x.shape[0] != x.shape[1]:
        return Truth.FALSE
    if x.shape == (1, 1) and x.im is None:
        return Truth.TRUE
    return equal(x, adjoint(x))


def definite(x: Matrix, strict: bool) -> Truth:
    """Whether a matrix is Hermitian and positive definite (semidefinite where not strict)."""
    symmetric = hermitian(x)
    if symmetric is Truth.FALSE:
        return Truth.FALSE
    if x.exact:
        form = x.re if x.im is None else exact.embed(x.re, x.im)
        factor = exact.definite_factor(form)
        return Truth.of(factor is not None and not (strict and len(factor.weights) < form.nrows()))
    if x.im is not None:
        return Truth.UNKNOWN
    positive = _positive_pivots(x)
    return every([symmetric, positive]) if positive is not Truth.UNKNOWN else positive


def _positive_pivots(x: Matrix) -> Truth:
    """Whether the pivots of a symmetric ball matrix, in order, are positive.

    A pivot that is negative after positive ones shows a direction where the form is negative.
    """
    rest = x.re.tolist()
    for k in range(x.shape[0]):
        pivot: arb = rest[k][k]
        if pivot < 0:
            return Truth.FALSE
        if not pivot > 0:
            return Truth.UNKNOWN
        for i in range(k + 1, x.shape[0]):
            ratio = rest[i][k] / pivot
            for j in range(k + 1, x.shape[0]):
                rest[i][j] -= ratio * rest[k][j]
    return Truth.TRUE


# ---------------------------------------------------------------- properties of matrices


def invertible(x: Matrix) -> Truth:
    """Whether a square matrix has an inverse."""
    if x.shape[0] != x.shape[1]:
        return Truth.FALSE
    if x.exact:
        return Truth.of(rank(x) == x.shape[0])
    return is_zero(determinant_of_balls(x)).negated()


def determinant_of_balls(x: Matrix) -> Matrix:
    """An enclosure of the determinant, or of its squared modulus for a complex matrix."""
    if x.im is None:
        return Matrix(type(x.re)(1, 1, [x.re.det()]))
    upper = [[*r, *(-e for e in j)] for r, j in zip(x.re.tolist(), x.im.tolist(), strict=True)]
    lower = [[*j, *r] for r, j in zip(x.re.tolist(), x.im.tolist(), strict=True)]
    return Matrix(type(x.re)(1, 1, [type(x.re)(upper + lower).det()]))


def rank(x: Matrix) -> int:
    """The rank.

    Raises:
        UndecidedHere: balls that don't show full rank.
    """
    if x.exact:
        if x.im is None:
            return x.re.rank()
        return exact.embed(x.re, x.im).rank() // 2
    rows, cols = x.shape
    square = x if rows == cols else mul(*((x, adjoint(x)) if rows < cols else (adjoint(x), x)))
    if invertible(base(square)) is Truth.TRUE:
        return min(rows, cols)
    raise UndecidedHere("the rank isn't decided", retry=True)


def full_rank(x: Matrix, axis: int) -> Truth:
    """Whether the rank equals the number of rows (axis 0) or of columns (axis 1)."""
    if x.shape[axis] > x.shape[1 - axis]:
        return Truth.FALSE
    try:
        return Truth.of(rank(x) == x.shape[axis])
    except UndecidedHere:
        return Truth.UNKNOWN
