"""What `let` and `define` say in a file: names and what they stand for.

Each function takes one name or several, parted by commas, and gives back one object or a tuple, as
`n, k = dimension("n, k")`. With `over=N` or `over=(N, P)` a name is an indexed family.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, overload

from proofs.language import show
from proofs.language.errors import StatementError, TypeProblem
from proofs.language.infer import Scope
from proofs.language.parser import why_not_a_name
from proofs.language.tokens import MAX_NAME, is_name
from proofs.language.tree import Declaration, Term, name, term
from proofs.notation.binders import entries
from proofs.notation.errors import IllTyped, NotAName
from proofs.notation.expressions import (
    Context,
    Declared,
    Expression,
    Family,
    Function,
    Operand,
    Piece,
    SigmaAlgebra,
    declarations,
    indices,
    merged,
    piece,
)

_places = count()
_KINDS: dict[str, type[Piece]] = {
    "family_type": Family,
    "function_type": Function,
    "sigma_algebra_type": SigmaAlgebra,
}


# ---------------------------------------------------------------- sizes and scalars


def dimension(names: str) -> Any:
    """Positive integers of any value, as sizes: `n, k = dimension("n, k")`."""
    return _declare(names, "dimension_type")


def real(names: str, *, over: Any = ()) -> Any:
    """Real numbers."""
    return _declare(names, "real_type", over=over)


def positive(names: str, *, over: Any = ()) -> Any:
    """Real numbers greater than 0."""
    return _declare(names, "positive_type", over=over)


def nonnegative(names: str, *, over: Any = ()) -> Any:
    """Real numbers that are not less than 0."""
    return _declare(names, "nonnegative_type", over=over)


def nonzero(names: str, *, over: Any = ()) -> Any:
    """Real numbers other than 0."""
    return _declare(names, "nonzero_type", over=over)


def integer(names: str, *, over: Any = ()) -> Any:
    """Integers."""
    return _declare(names, "integer_type", over=over)


def complex_number(names: str, *, over: Any = ()) -> Any:
    """Complex numbers: the file's `complex`."""
    return _declare(names, "complex_type", over=over)


def index(names: str, n: Operand, *, over: Any = ()) -> Any:
    """Integers from 1 to n."""
    return _declare(names, "index_type", n, over=over)


# ---------------------------------------------------------------- vectors and matrices


def matrix(names: str, rows: Operand, columns: Operand, *, over: Any = ()) -> Any:
    """Real matrices: `A, B = matrix("A, B", n, k)`."""
    return _declare(names, "matrix_type", rows, columns, over=over)


@overload
def vector(names: str, n: Operand, *, over: Any = ()) -> Any: ...
@overload
def vector(names: Callable[[Expression], Operand], n: Operand) -> Expression: ...
def vector(
    names: str | Callable[[Expression], Operand], n: Operand, *, over: Any = ()
) -> Any | Expression:
    """Real column vectors, `x = vector("x", n)`; or one by its entries, `vector(lambda j: ..., n)`.

    The second is the file's `vector(expr, j, 1, n)`.
    """
    if callable(names):
        return entries(names, n)
    return _declare(names, "matrix_type", n, 1, over=over)


def complex_matrix(names: str, rows: Operand, columns: Operand, *, over: Any = ()) -> Any:
    """Complex matrices."""
    return _declare(names, "complex_matrix_type", rows, columns, over=over)


def complex_vector(names: str, n: Operand, *, over: Any = ()) -> Any:
    """Complex column vectors."""
    return _declare(names, "complex_matrix_type", n, 1, over=over)


# ---------------------------------------------------------------- functions


def function(names: str, *shape: Operand) -> Any:
    """Smooth functions of a real variable, real, or with values of a shape.

    `f = function("f")`, `v = function("v", n)`, `G = function("G", n, n)`; `f(t)` is a value.
    """
    return _function(names, "real_type", "matrix_type", shape)


def complex_function(names: str, *shape: Operand) -> Any:
    """Smooth functions of a real variable with complex values."""
    return _function(names, "complex_type", "complex_matrix_type", shape)


def _function(names: str, scalar: str, shaped: str, shape: tuple[Operand, ...]) -> Any:
    if len(shape) > 2:
        raise IllTyped(f"a shape has at most two sizes, got {len(shape)}", "function", shape)
    pieces = list(map(piece, shape))
    context, abbreviations = merged(pieces)
    sizes = [p.term for p in pieces]
    if len(sizes) == 1:
        sizes.append(piece(1).term)
    value = term(shaped, *sizes) if sizes else term(scalar)
    return _named(names, term("function_type", value), context, abbreviations, shape)


# ---------------------------------------------------------------- random names


def gaussian(names: str, mean: Operand | Sequence[Operand], covariance: Operand) -> Any:
    """Gaussian random vectors or scalars.

    `X = gaussian("X", m, S)`; several names with one mean are independent, with a mean each
    they are jointly Gaussian: `X, Y = gaussian("X, Y", (a, b), block([[S, C], [C.T, R]]))`.
    """
    joint = isinstance(mean, Sequence) and not isinstance(mean, str)
    means = tuple(mean) if isinstance(mean, Sequence) and joint else (mean,)
    wanted = new_names(names)
    if joint and len(means) != len(wanted):
        raise IllTyped(
            f"expected {len(wanted)} means, one for each name, got {len(means)}", "gaussian", means
        )
    parts = [piece(p) for p in (*means, covariance)]
    context, abbreviations = merged(parts)
    law = term("gaussian_type", *(p.term for p in parts), data=(len(means), 1))
    arguments = (*means, covariance)
    return _named(names, law, context, abbreviations, arguments, joint=joint)


def random(names: str, n: Operand = 1) -> Any:
    """Square-integrable random vectors with values in R^n, of any law."""
    return _declare(names, "random_type", n)


def sigma_algebra(names: str) -> Any:
    """Sigma-algebras, to be conditioned on."""
    return _declare(names, "sigma_algebra_type")


# ---------------------------------------------------------------- abbreviations


def define(identifier: str, value: Operand) -> Expression:
    """The same expression, printed under a name of its own: `S = define("S", A + A.T)`.

    A plain Python variable does as well; only the name is then not shown.

    Raises:
        NotAName: the name can't be declared.
    """
    (called,) = new_names(identifier, several=False)
    found = piece(value)
    if not isinstance(found, Expression):
        raise StatementError(f"only an expression can be defined, got {found!r}")
    context, names = merged([found, Expression(found.term, {}, {called: found.term})])
    return Expression(found.term, context, names)


# ---------------------------------------------------------------- the making of names


def new_names(text: str, *, several: bool = True) -> list[str]:
    """The names in a text, parted by commas, in their NFC form.

    Raises:
        NotAName: one can't be declared, or stands there twice.
    """
    if not isinstance(text, str):
        raise NotAName(f"expected a name as text, such as 'A', got {text!r:.80}")
    found = [unicodedata.normalize("NFC", part.strip()) for part in text.split(",")]
    if not several and len(found) > 1:
        raise NotAName(f"expected one name, got {text!r}")
    for place, identifier in enumerate(found):
        refused = why_not_a_name(identifier)
        if refused:
            raise NotAName(refused.format(expected="another name"))
        if not is_name(identifier) or len(identifier) > MAX_NAME:
            raise NotAName(
                f"{identifier!r:.80} is no name: letters, the digits 0 to 9 and _, starting with "
                f"a letter, at most {MAX_NAME}"
            )
        if identifier in found[:place]:
            raise NotAName(f"{identifier!r} stands twice in {text!r}")
    return found


def _declare(names: str, op: str, *sizes: Operand, over: Any = ()) -> Any:
    pieces = list(map(piece, sizes))
    ranges = list(map(piece, indices(over)))
    context, abbreviations = merged([*pieces, *ranges])
    type_ = term(op, *(p.term for p in pieces))
    if ranges:
        type_ = term("family_type", type_, *(r.term for r in ranges), data=(1, len(ranges)))
    return _named(names, type_, context, abbreviations, (*sizes, *indices(over)))


def _named(
    names: str,
    type_: Term,
    context: Context,
    abbreviations: show.Names,
    arguments: tuple[object, ...],
    *,
    joint: bool = False,
) -> Any:
    """The declared objects: one, or a tuple where there are several names."""
    wanted = new_names(names)
    groups = [tuple(wanted)] if joint else [(identifier,) for identifier in wanted]
    kind = _KINDS.get(type_.op, Expression)
    found: list[Piece] = []
    for group in groups:
        declared = Declared(Declaration(group, type_), next(_places))
        mine = Piece(type_, dict.fromkeys(group, declared))
        whole, used = merged([Piece(type_, context, abbreviations), mine])
        try:
            Scope.of(declarations(whole))
        except TypeProblem as problem:
            raise IllTyped(problem.message, type_.op, arguments) from None
        found += [kind(name(identifier), whole, used) for identifier in group]
    return found[0] if len(found) == 1 else tuple(found)
