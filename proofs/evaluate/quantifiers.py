"""Unknowns: matrices of indeterminates, linear equations in them, and samples of a type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import fmpq, fmpq_mat

from proofs.evaluate import exact, functions
from proofs.evaluate import values as v
from proofs.evaluate.decisions import Truth, ordered
from proofs.evaluate.values import Matrix, Polynomial, Value, add, mul, scalar
from proofs.language.tree import Term


def indeterminate(rows: int, cols: int, first: int, is_complex: bool) -> tuple[Value, int]:
    """A matrix of independent indeterminates from `first` on; returns the next free one too."""
    v.check_size(rows, cols)
    terms: dict[tuple[int, ...], Value] = {}
    for unit in (1, 1j) if is_complex else (1,):
        for place in range(rows * cols):
            cell = fmpq_mat(rows, cols, [int(k == place) for k in range(rows * cols)])
            blank = fmpq_mat(rows, cols)
            terms[first,] = Matrix(cell) if unit == 1 else Matrix(blank, cell)
            first += 1
    return Polynomial(terms), first


def linear_system(gap: Value, unknowns: Sequence[int]) -> tuple[list, list] | None:
    """The rows and right sides of `gap = 0`, if it is exact and affine in the unknowns."""
    terms: dict[Any, Any] = gap.terms if isinstance(gap, Polynomial) else {(): gap}
    if not all(len(m) <= 1 and type(c) is Matrix and c.exact for m, c in terms.items()):
        return None
    zero = v.like_zero(gap)

    def flat(c: Matrix) -> list[fmpq]:
        return [*c.re.entries(), *(fmpq_mat(*c.shape) if c.im is None else c.im).entries()]

    columns = [flat(terms.get((u,), zero)) for u in unknowns]
    constant = flat(terms.get((), zero))
    rows = [list(r) for r in zip(*columns, strict=True)]
    return rows, [-c for c in constant]


def along(x: Value, unknowns: Sequence[int], solution: exact.Affine) -> Value:
    """An indeterminate matrix restricted to the solutions of a linear system."""
    if type(x) is not Polynomial:
        return x
    place = {u: k for k, u in enumerate(unknowns)}
    total: Value = x.terms.get((), v.like_zero(x))
    for monomial, c in x.terms.items():
        if monomial == ():
            continue
        k = place[monomial[0]]
        total = add(total, mul(scalar(solution.point[k]), c))
        for u, direction in zip(unknowns, solution.directions, strict=False):
            if direction[k] != 0:
                total = add(total, Polynomial({(u,): mul(scalar(direction[k]), c)}))
    return total


def nonnegative(gap: Value, strict: bool) -> Truth:
    """Whether a scalar polynomial is nonnegative (positive) for all values of its unknowns.

    Decided for exact real polynomials of degree 2 at most: `c + 2*b.T*u + u.T*Q*u` is bounded
    below if and only if Q is positive semidefinite with b in its range, by `c - b.T*pinv(Q)*b`.
    """
    if isinstance(gap, Matrix):
        return ordered(v.like_zero(gap), gap, strict)
    if not isinstance(gap, Polynomial) or v.shape(gap) != (1, 1):
        return Truth.UNKNOWN
    if not all(
        isinstance(x, Matrix) and x.exact and x.im is None and len(m) <= 2
        for m, x in gap.terms.items()
    ):
        return Truth.UNKNOWN
    place = {u: k for k, u in enumerate(sorted({u for m in gap.terms for u in m}))}
    constant, size = fmpq(0), len(place)
    linear = fmpq_mat(size, 1)
    form = fmpq_mat(size, size)
    for monomial, coefficient in gap.terms.items():
        number = v.base(coefficient).re[0, 0]
        if not monomial:
            constant = number
        elif len(monomial) == 1:
            linear[place[monomial[0]], 0] = number / 2
        else:
            i, j = (place[u] for u in monomial)
            form[i, j] = form[j, i] = number if i == j else number / 2
    if exact.definite_factor(form) is None:
        return Truth.FALSE
    solution = exact.pseudo_inverse(form) * linear
    if form * solution != linear:
        return Truth.FALSE
    least = constant - (linear.transpose() * solution)[0, 0]
    return Truth.of(least > 0 if strict else least >= 0)


def samples(type_: Term, shape: tuple[int, int]) -> list[Value]:
    """A few values of a type, fixed: samples can refute a quantified relation, never confirm it."""
    numbers = {
        "real_type": (0, 1, -1, 2, fmpq(-1, 2)),
        "positive_type": (1, 2, fmpq(1, 3)),
        "nonnegative_type": (0, 1, fmpq(1, 2), 3),
        "nonzero_type": (1, -1, 2),
        "integer_type": (0, 1, -1, 2, 5),
        "dimension_type": (1, 2, 3),
        "complex_type": (0, 1, -2),
    }.get(type_.op)
    if numbers is not None:
        found: list[Value] = [scalar(x) for x in numbers]
        return [*found, functions.IMAGINARY_UNIT] if type_.op == "complex_type" else found
    if type_.op not in ("matrix_type", "complex_matrix_type"):
        return []
    rows, cols = shape
    count = rows * cols
    tables = [[int(k == place) for k in range(count)] for place in range(min(count, 4))]
    tables += [[0] * count, [1] * count, list(range(1, count + 1)), [1, -1] * count]
    return [Matrix(fmpq_mat(rows, cols, t[:count])) for t in tables]
