"""Expressions and relations in Python: inert terms under Python's operators.

An operator makes the term that the parser makes of the same sign, and nothing else: `x/x` stays
`x/x`. Each expression carries the declarations of the names in it, so that a term is typed in the
line that makes it, and a statement knows what it has to declare.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any, NoReturn, TypeAlias, TypeVar

from proofs.language import show
from proofs.language.errors import TypeProblem
from proofs.language.infer import Scope, infer
from proofs.language.tree import Data, Declaration, Term, rational, term
from proofs.language.types import Type
from proofs.notation.errors import IllTyped, NotExact, NoTruthValue, TwoMeanings

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(/[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Declared:
    """One declaration, and its place among all that the program has made."""

    declaration: Declaration
    place: int = field(compare=False)


Context: TypeAlias = Mapping[str, Declared]


class Piece:
    """A term with the declarations and abbreviations that it uses."""

    __slots__ = ("context", "names", "term")

    def __init__(self, term_: Term, context: Context, names: show.Names = show.NO_NAMES) -> None:
        self.term = term_
        self.context = context
        self.names = names

    @property
    def type(self) -> Type:
        """Kind and shape, with symbolic sizes."""
        return infer(self.term, scope_of(self.context))

    def __repr__(self) -> str:
        return show.brief(self.term, self.names)

    def _repr_markdown_(self) -> str:
        return f"${show.latex(self.term, scope_of(self.context), self.names)}$"


Kind = TypeVar("Kind", bound=Piece)


class Expression(Piece):
    """A number, vector or matrix, known only by its name or by how it is made."""

    __slots__ = ()
    __array_ufunc__ = None  # an array on the left leaves the operator to us, which refuses it
    __iter__ = None  # indices count from 1 and have no end: not a sequence of Python's

    def __add__(self, other: Operand) -> Expression:
        return built(Expression, "add", self, other)

    def __radd__(self, other: Operand) -> Expression:
        return built(Expression, "add", other, self)

    def __sub__(self, other: Operand) -> Expression:
        return built(Expression, "sub", self, other)

    def __rsub__(self, other: Operand) -> Expression:
        return built(Expression, "sub", other, self)

    def __mul__(self, other: Operand) -> Expression:
        return built(Expression, "mul", self, other)

    def __rmul__(self, other: Operand) -> Expression:
        return built(Expression, "mul", other, self)

    def __matmul__(self, other: Operand) -> Expression:
        return built(Expression, "mul", self, other)

    def __rmatmul__(self, other: Operand) -> Expression:
        return built(Expression, "mul", other, self)

    def __truediv__(self, other: Operand) -> Expression:
        return built(Expression, "div", self, other)

    def __rtruediv__(self, other: Operand) -> Expression:
        return built(Expression, "div", other, self)

    def __pow__(self, exponent: Operand) -> Expression:
        return built(Expression, "pow", self, exponent)

    def __rpow__(self, base: Operand) -> Expression:
        return built(Expression, "pow", base, self)

    def __neg__(self) -> Expression:
        return built(Expression, "neg", self)

    def __abs__(self) -> Expression:
        return built(Expression, "abs", self)

    @property
    def T(self) -> Expression:
        """The transpose."""
        return built(Expression, "transpose", self)

    @property
    def H(self) -> Expression:
        """The conjugate transpose."""
        return built(Expression, "adjoint", self)

    def __getitem__(self, index: Operand | tuple[Operand, ...]) -> Expression:
        """An entry, counted from 1: `x[j]` of a vector, `A[i, j]` of a matrix."""
        return built(Expression, "entry", self, *indices(index))

    def __or__(self, given: Piece) -> Conditioned:
        """`X | Y`, for `E(X | Y)` and `cov(X, X | Y, Z)`."""
        if not isinstance(given, Piece):
            return NotImplemented
        return Conditioned(self, given)

    # Relations, as statements: nothing is compared. What is no operand gets Python's own answer.

    def __eq__(self, other: object) -> Relation:  # type: ignore[override]
        return _related("eq", self, other)

    def __ne__(self, other: object) -> Relation:  # type: ignore[override]
        return _related("ne", self, other)

    def __lt__(self, other: Operand) -> Relation:
        return _related("lt", self, other)

    def __le__(self, other: Operand) -> Relation:
        return _related("le", self, other)

    def __gt__(self, other: Operand) -> Relation:
        return _related("gt", self, other)

    def __ge__(self, other: Operand) -> Relation:
        return _related("ge", self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise NoTruthValue("an expression has no truth value: its value is not known", self)


class Relation(Piece):
    """A relation or property: a goal or a hypothesis, which may be true or false."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        raise NoTruthValue(
            f"{self!r} is a relation, which Python can't tell true from false: state it, and ask "
            "with statement(...).decide(); a chain such as a < b < c is two relations",
            self,
        )


class Family(Piece):
    """An indexed family: `mu[a, j]` is a member."""

    __slots__ = ()
    __iter__ = None

    def __getitem__(self, index: Operand | tuple[Operand, ...]) -> Expression:
        return built(Expression, "member", self, *indices(index))


class Function(Piece):
    """A smooth function of one real variable: `f(t)` is its value."""

    __slots__ = ()

    def __call__(self, argument: Operand) -> Expression:
        return built(Expression, "apply", self, argument)


class SigmaAlgebra(Piece):
    """What is known: `E(U | F)` is the best guess of U that knows F."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Conditioned:
    """What stands around a bar: `X | Y`."""

    value: Expression
    given: Piece


Operand: TypeAlias = Expression | int | Fraction | str


# ---------------------------------------------------------------- making terms


def built(kind: type[Kind], op: str, *parts: object, data: Data = None) -> Kind:
    """The term with this operator and these parts, typed.

    Raises:
        IllTyped: shapes or kinds don't fit; carries the parts.
        NotExact: a part is neither a piece nor an exact number.
        TwoMeanings: the parts use one name for different things.
    """
    pieces = list(map(piece, parts))
    context, names = merged(pieces)
    found = kind(term(op, *(p.term for p in pieces), data=data), context, names)
    return typed(found, op, parts)


def typed(found: Kind, operation: str, arguments: tuple[object, ...]) -> Kind:
    """The same piece, once its term is well-typed.

    Raises:
        IllTyped: it isn't; carries the arguments that the operation was given.
    """
    try:
        infer(found.term, scope_of(found.context))
    except TypeProblem as problem:
        raise IllTyped(problem.message, operation, arguments) from None
    return found


def piece(value: object) -> Piece:
    """A piece as it is, a number as its term.

    Raises:
        NotExact: anything else, floats included.
    """
    if isinstance(value, Piece):
        return value
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Expression(rational(Fraction(int(value.numerator), int(value.denominator))), {})
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return Expression(rational(_fraction(value)), {})
    if isinstance(value, str):
        raise NotExact(f"{value!r} is not a number; a name is declared, as in x = real('x')", value)
    if isinstance(value, float):
        decimal = f"'{value!r}'" if _NUMBER.fullmatch(repr(value)) else "a decimal such as '0.001'"
        raise NotExact(
            f"{value!r} is a float, which stands for a rounded binary number; write {decimal}, or "
            "Fraction(...)",
            value,
        )
    raise NotExact(
        f"expected an expression, an int, a Fraction or a decimal such as '0.1', got {value!r:.80} "
        f"of type {type(value).__name__}",
        value,
    )


def number(value: int | Fraction | str) -> Expression:
    """An exact number as an expression, for where Python would compute: `number(1)/3`.

    Raises:
        NotExact: it is none, floats included.
    """
    found = piece(value)
    if not isinstance(found, Expression):
        raise NotExact(f"expected a number, got {value!r}", value)
    return found


def _fraction(text: str) -> Fraction:
    value, _, divisor = text.partition("/")
    if divisor and not int(divisor):
        raise NotExact(f"{text!r} divides by zero", text)
    return Fraction(value) / int(divisor or 1)


def indices(index: object) -> tuple[object, ...]:
    """What stands in brackets, as a tuple."""
    return index if isinstance(index, tuple) else (index,)


def relations(value: Any, operation: str) -> tuple[Relation, ...]:
    """One relation, or several in a sequence.

    Raises:
        IllTyped: something else, such as the answer of a comparison that Python made by itself.
    """
    found = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    for part in found:
        if not isinstance(part, Relation):
            raise IllTyped(
                f"expected a relation such as A == B or invertible(A), got {part!r}",
                operation,
                (part,),
            )
    return found


def _related(op: str, left: Expression, right: object) -> Relation:
    if not isinstance(right, (Expression, Rational, float, str)):
        return NotImplemented
    return built(Relation, op, left, right)


# ---------------------------------------------------------------- names and their declarations


def merged(pieces: Iterable[Piece]) -> tuple[Context, show.Names]:
    """The declarations and abbreviations of several pieces together.

    Raises:
        TwoMeanings: one name is used for different things.
    """
    context: dict[str, Declared] = {}
    names: dict[str, Term] = {}
    for part in pieces:
        for identifier, declared in part.context.items():
            other = context.setdefault(identifier, declared)
            if other != declared:
                raise TwoMeanings(
                    f"two different declarations of {identifier!r} meet: as "
                    f"{show.brief(other.declaration.type)} and as "
                    f"{show.brief(declared.declaration.type)}"
                )
            if declared.place < other.place:
                context[identifier] = declared
        for identifier, meaning in part.names.items():
            if names.setdefault(identifier, meaning) is not meaning:
                raise TwoMeanings(f"{identifier!r} is defined in two ways")
    for identifier in names.keys() & context.keys():
        raise TwoMeanings(f"{identifier!r} is declared, and defined too")
    return context, names


def declarations(context: Context) -> tuple[Declaration, ...]:
    """Each declaration once, in the order in which the program made them."""
    ordered = sorted(context.values(), key=lambda declared: declared.place)
    return tuple(dict.fromkeys(declared.declaration for declared in ordered))


def scope_of(context: Context) -> Scope:
    """The scope in which a piece with this context is typed."""
    return _scope(declarations(context))


@lru_cache(maxsize=512)
def _scope(declared: tuple[Declaration, ...]) -> Scope:
    return Scope.of(declared)
