"""The operators whose value depends on the values of their arguments alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import fmpq_mat

from proofs.evaluate import functions
from proofs.evaluate import values as v
from proofs.evaluate.decisions import (
    Truth,
    definite,
    equal,
    full_rank,
    hermitian,
    integer,
    invertible,
    ordered,
    vanishes,
)
from proofs.evaluate.model import Partition
from proofs.evaluate.values import (
    Matrix,
    UndecidedHere,
    UndefinedHere,
    Value,
    add,
    mul,
    sub,
    transpose,
)
from proofs.language.errors import TypeProblem


def whole(x: object, what: str = "a size") -> int:
    """The integer that a value is.

    Raises:
        UndecidedHere: it isn't known to be one.
    """
    found = integer(x) if isinstance(x, Matrix) else None
    if found is None:
        raise UndecidedHere(f"{what} must be an integer")
    return found


def _unit(n: Value, j: Value) -> Value:
    count, place = whole(n), whole(j, "an index")
    v.check_size(count, 1)
    if not 1 <= place <= count:
        raise UndefinedHere(f"there is no unit vector {place} of {count} entries")
    return Matrix(fmpq_mat(count, 1, [int(k + 1 == place) for k in range(count)]))


def _ones(rows: Value, cols: Value) -> Value:
    n, m = whole(rows), whole(cols)
    v.check_size(n, m)
    return Matrix(fmpq_mat(n, m, [1] * (n * m)))


def _vec(x: Value) -> Value:
    rows, cols = v.shape(x)
    return v.rearrange(rows * cols, 1, lambda i, _j: (i % rows, i // rows), x)


def _idempotent(x: Value) -> Truth:
    return equal(mul(x, x), x)


def _is_diagonal(x: Value) -> Truth:
    rows, cols = v.shape(x)
    return vanishes(v.rearrange(rows, cols, lambda i, j: None if i == j else (i, j), x))


def _gram_is_unit(x: Value, flip: Callable[[Value], Value]) -> Truth:
    rows, cols = v.shape(x)
    return Truth.FALSE if rows != cols else equal(mul(flip(x), x), v.eye(rows))


def _subset(small: object, large: object) -> Truth:
    if not (isinstance(small, Partition) and isinstance(large, Partition)):
        raise TypeProblem("subset is between sigma-algebras")
    return Truth.of(large.refines(small))


def _square(x: Value) -> bool:
    rows, cols = v.shape(x)
    return rows == cols


RULES: dict[str, Callable[..., Any]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "neg": v.neg,
    "div": functions.divide,
    "pow": functions.power,
    "eye": lambda n: v.eye(whole(n)),
    "zeros": lambda n, m: v.zeros(whole(n), whole(m)),
    "ones": _ones,
    "unit": _unit,
    "transpose": transpose,
    "adjoint": v.adjoint,
    "conj": v.conj,
    "inv": functions.inverse,
    "pinv": functions.pseudo_inverse,
    "det": functions.determinant,
    "tr": v.trace,
    "rank": functions.rank_of,
    "adj": functions.adjugate,
    "diag": functions.diagonal,
    "vec": _vec,
    "inner": functions.inner,
    "norm2": functions.norm2,
    "kron": v.kron,
    "hadamard": v.hadamard,
    "softmax": functions.softmax,
    "logsumexp": functions.logsumexp,
    "max": lambda *x: functions.extreme(list(x), largest=True),
    "min": lambda *x: functions.extreme(list(x), largest=False),
    "exp": functions.exp,
    "log": functions.log,
    "sqrt": functions.sqrt,
    "abs": functions.absolute,
    "sin": functions.sin,
    "cos": functions.cos,
    "tanh": functions.tanh,
    "lambertw": functions.lambertw,
    "erf": functions.erf,
    "logpdf": functions.logpdf,
    "logpdf_on_support": functions.logpdf_on_support,
    "eq": equal,
    "ne": lambda x, y: equal(x, y).negated(),
    "lt": lambda x, y: ordered(x, y, strict=True),
    "le": lambda x, y: ordered(x, y, strict=False),
    "gt": lambda x, y: ordered(y, x, strict=True),
    "ge": lambda x, y: ordered(y, x, strict=False),
    "subset": _subset,
    "invertible": lambda x: invertible(v.base(x)),
    "symmetric": lambda x: equal(transpose(x), x) if _square(x) else Truth.FALSE,
    "hermitian": lambda x: hermitian(v.base(x)),
    "positive_definite": lambda x: definite(v.base(x), strict=True),
    "positive_semidefinite": lambda x: definite(v.base(x), strict=False),
    "orthogonal": lambda x: _gram_is_unit(x, transpose),
    "unitary": lambda x: _gram_is_unit(x, v.adjoint),
    "idempotent": _idempotent,
    "diagonal": _is_diagonal,
    "full_row_rank": lambda x: full_rank(v.base(x), 0),
    "full_column_rank": lambda x: full_rank(v.base(x), 1),
    "commute": lambda x, y: equal(mul(x, y), mul(y, x)),
}
