"""What binds a name: sums, products, vectors by their entries, derivatives, `for all`.

The index of a sum is the parameter of a Python function, `sum_(lambda j: x[j], 1, n)`; what is
differentiated by, or quantified over, is a declared name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from numbers import Rational
from types import MappingProxyType
from typing import NoReturn

from proofs.language import show
from proofs.language.infer import range_type
from proofs.language.tokens import is_name
from proofs.language.tree import Declaration, Term, abstract, name, names_in, term
from proofs.notation.errors import BOUND_MARK, IllTyped, NoTruthValue
from proofs.notation.expressions import (
    Context,
    Declared,
    Expression,
    Operand,
    Piece,
    Relation,
    merged,
    piece,
    relations,
    scope_of,
    typed,
)

Body = Callable[[Expression], Operand]
_numbers = count(1)
_NONE: Context = MappingProxyType({})
_LAST = 2**62  # a bound index is declared behind all that its limits use


def sum_(body: Body, low: Operand, high: Operand) -> Expression:
    """The sum over j from `low` to `high`: `sum_(lambda j: x[j]**2, 1, n)`."""
    return _ranged("sum", body, low, high)


def prod(body: Body, low: Operand, high: Operand) -> Expression:
    """The product over j from `low` to `high`, of scalars."""
    return _ranged("prod", body, low, high)


def entries(body: Body, n: Operand) -> Expression:
    """The column vector with these entries; `vector(lambda j: ..., n)` is the way to it."""
    return _ranged("comprehension", body, 1, n)


def diff(f: Operand, x: Expression, order: int = 1) -> Expression:
    """The derivative of f by a declared real number, also of higher order.

    Raises:
        IllTyped: `x` is no declared real number, or the order isn't a positive integer.
    """
    if not isinstance(order, int) or isinstance(order, bool) or not 1 <= order <= 999:
        raise IllTyped(f"expected an order from 1 to 999, got {order!r}", "diff", (f, x, order))
    return _derived("deriv", f, x, order)


def grad(f: Operand, x: Expression) -> Expression:
    """The gradient of a scalar by a declared real vector or matrix, of its shape.

    Raises:
        IllTyped: `x` is no declared real vector, matrix or number.
    """
    return _derived("grad", f, x, None)


@dataclass(frozen=True, slots=True)
class Infinity:
    """What the variable of a limit tends to."""

    def __repr__(self) -> str:
        return "oo"


oo = Infinity()


class Limit:
    """The left side of a statement about a limit, `limit(f, oo) == L`; no value by itself."""

    __slots__ = ("_body", "_value")

    def __init__(self, body: Term, value: Expression) -> None:
        self._body, self._value = body, value

    def __eq__(self, other: object) -> Relation:  # type: ignore[override]
        if not isinstance(other, (Expression, Rational, float, str)):
            return NotImplemented
        right = piece(other)
        context, names = merged([self._value, right])
        found = Relation(term("limit", self._body, right.term), context, names)
        return typed(found, "limit", (self._value, other))

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise NoTruthValue("a limit has no truth value: say what it is, limit(f, oo) == L", self)


def limit(body: Body, point: Infinity) -> Limit:
    """What a function of a real number tends to: `limit(lambda x: 1/x, oo) == 0`.

    Raises:
        IllTyped: no function of one number, or a point other than `oo`.
    """
    if not isinstance(point, Infinity):
        raise IllTyped(f"limits are taken at oo alone, got {point!r}", "limit", (body, point))
    type_ = term("real_type")
    identifier, value = _applied("limit", body, type_)
    context, names = merged([value])
    kept = _without((identifier,), context, names, "limit", (body,))
    return Limit(abstract(value.term, (identifier,), (type_,)), Expression(value.term, *kept))


def for_all(
    names: Expression | Sequence[Expression],
    relation: Relation,
    *,
    where: Relation | Sequence[Relation] = (),
) -> Relation:
    """A hypothesis for all values of declared names: `for_all(x, K @ x == x, where=F @ x == 0*y)`.

    The names are bound in it, and not declared by a statement that uses it.

    Raises:
        IllTyped: a name that is no declared scalar, vector or matrix; no relation.
    """
    over = (names,) if isinstance(names, Expression) else tuple(names)
    conditions = relations(where, "for_all")
    parts = (*conditions, *relations([relation], "for_all"))
    bound = [_declared_name(x, "for_all", "bind") for x in over]
    types = tuple(declaration.type for declaration in bound)
    identifiers = tuple(declaration.names[0] for declaration in bound)
    context, abbreviations = merged([*over, *parts])
    closed = [abstract(part.term, identifiers, types) for part in parts]
    return typed(
        Relation(
            term("forall", *types, *closed, data=(len(types), len(conditions))),
            *_without(identifiers, context, abbreviations, "for_all", over),
        ),
        "for_all",
        (*over, *parts),
    )


# ---------------------------------------------------------------- the making of binders


def _ranged(op: str, body: Body, low: Operand, high: Operand) -> Expression:
    """A binder over an index from `low` to `high`, which `body` is a function of."""
    first, last = piece(low), piece(high)
    context, _ = merged([first, last])
    if op == "comprehension":
        type_ = term("index_type", last.term)
    else:
        type_ = range_type(first.term, last.term, scope_of(context).dimensions)
    identifier, value = _applied(op, body, type_, context)
    context, names = merged([first, last, value])
    closed = abstract(value.term, (identifier,), (type_,))
    limits = (last.term,) if op == "comprehension" else (first.term, last.term)
    found = term(op, *limits, closed)
    kept = _without((identifier,), context, names, op, (body,))
    return typed(Expression(found, *kept), op, (value, low, high))


def _applied(op: str, body: Body, type_: Term, context: Context = _NONE) -> tuple[str, Piece]:
    """The name of a fresh variable, and the value of a Python function at it."""
    parameters = list(inspect.signature(body).parameters) if callable(body) else []
    if len(parameters) != 1:
        example = "limit(lambda x: 1/x, oo)" if op == "limit" else "sum_(lambda j: x[j], 1, n)"
        raise IllTyped(f"expected a function of one variable, as in {example}", op, (body,))
    identifier = f"{parameters[0]}{BOUND_MARK}{next(_numbers)}"
    if not is_name(identifier):  # a parameter such as `_`
        identifier = f"j{BOUND_MARK}{next(_numbers)}"
    declared = Declared(Declaration((identifier,), type_), _LAST)
    variable = Expression(name(identifier), {**context, identifier: declared})
    value = piece(body(variable))
    context, names = merged([variable, value])
    return identifier, Expression(value.term, context, names)


def _derived(op: str, f: Operand, x: Expression, order: int | None) -> Expression:
    value = piece(f)
    declaration = _declared_name(x, op, "differentiate by")
    body = abstract(value.term, declaration.names, (declaration.type,))
    context, names = merged([value, x])
    return typed(Expression(term(op, body, x.term, data=order), context, names), op, (f, x))


def _declared_name(x: object, operation: str, verb: str) -> Declaration:
    """The declaration of a name that stands by itself."""
    if isinstance(x, Expression) and x.term.op == "name":
        declaration = x.context[str(x.term.data)].declaration
        if len(declaration.names) == 1:
            return declaration
    raise IllTyped(f"expected a declared name to {verb}, got {x!r}", operation, (x,))


def _without(
    bound: Iterable[str],
    context: Context,
    names: show.Names,
    operation: str,
    arguments: tuple[object, ...],
) -> tuple[Context, dict[str, Term]]:
    """What is declared and abbreviated outside of a binder.

    Raises:
        IllTyped: the declaration of another name depends on a bound one.
    """
    gone = set(bound)
    kept = {n: declared for n, declared in context.items() if n not in gone}
    for identifier, declared in kept.items():
        if names_in(declared.declaration.type) & gone:
            raise IllTyped(
                f"a bound name stands in the declaration of {identifier!r}", operation, arguments
            )
    return kept, {n: meaning for n, meaning in names.items() if not names_in(meaning) & gone}
