"""Refuses quotients, roots and logarithms that the domain does not keep off their singular points.

A denominator must be known not to vanish, what is under a logarithm to be positive, what is under a
root not to be negative: from what the symbols say of themselves, from the conditions of the choices
around it, or from the kernel's own `positive`. So a singular point has a form with a named limit
branch, or a `Piecewise` that names one, or it is refused. What a form itself writes is not looked
at: its theorem says where it holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sympy import And, Basic, Expr, LambertW, MatrixExpr, Not, Pow, Rational, Symbol, exp, log
from sympy.core.relational import (
    GreaterThan,
    LessThan,
    Relational,
    StrictGreaterThan,
    StrictLessThan,
    Unequality,
)

from derive.emit.names import EmitError, shown


@dataclass(frozen=True)
class Fact:
    """An expression is positive; nonnegative if not `strict`; only not zero if not `signed`."""

    expression: Expr
    strict: bool = True
    signed: bool = True


def refuse_singular(node: Basic, facts: Iterable[Fact]) -> None:
    """Look at one node, not at what is inside of it.

    Raises:
        EmitError: it may be evaluated at a singular point; names it and says which.
    """
    if isinstance(node, Pow) and not isinstance(node.base, MatrixExpr):
        base, exponent = node.args
        if exponent.could_extract_minus_sign() and not _nonzero(base, facts):
            raise EmitError(
                f"{shown(base)} may be 0 here, and there is no limit branch; declare its symbols"
                " positive or nonzero, list it as `positive`, or give the limit in a Piecewise",
                node,
            )
        root = isinstance(exponent, Rational) and exponent.q == 2
        if root and not _nonnegative(base, facts):
            raise EmitError(
                f"{shown(base)} may be negative under the root; list it as `positive` where it"
                " never is",
                node,
            )
    elif isinstance(node, log) and not isinstance(node.args[0], MatrixExpr):
        if not _positive(node.args[0], facts):
            raise EmitError(
                f"{shown(node.args[0])} may be 0 or negative under the logarithm; list it as"
                " `positive` where it never is",
                node,
            )
    elif isinstance(node, LambertW) and not _nonnegative(node.args[0] + exp(-1), facts):
        raise EmitError(f"{shown(node.args[0])} may be less than -1/e", node)


def facts_of(condition: Basic) -> tuple[Fact, ...]:
    """What a condition says where it holds; nothing where it is no comparison."""
    if isinstance(condition, And):
        return tuple(fact for part in condition.args for fact in facts_of(part))
    if not isinstance(condition, Relational):
        return ()
    difference = _real(condition.args[0] - condition.args[1])
    if isinstance(condition, Unequality):
        return (Fact(difference, signed=False),)
    if isinstance(condition, (StrictGreaterThan, GreaterThan)):
        return (Fact(difference, isinstance(condition, StrictGreaterThan)),)
    if isinstance(condition, (StrictLessThan, LessThan)):
        return (Fact(-difference, isinstance(condition, StrictLessThan)),)
    return ()


def negated(condition: Basic) -> tuple[Fact, ...]:
    """What it says where it does not hold."""
    return facts_of(Not(condition))


def _real(expression: Basic) -> Expr:
    """All symbols real, as the arguments of a kernel are."""
    plain = {s: Symbol(s.name, real=True) for s in expression.atoms(Symbol) if s.is_real is None}
    return expression.xreplace(plain)  # type: ignore[return-value]


def _positive(given: Basic, facts: Iterable[Fact]) -> bool:
    expression = _real(given)
    if expression.is_positive:
        return True
    signed = [fact for fact in facts if fact.signed]
    gaps = [(expression - fact.expression, fact.strict) for fact in signed]
    return any(gap.is_positive or (strict and gap.is_nonnegative) for gap, strict in gaps)


def _nonnegative(given: Basic, facts: Iterable[Fact]) -> bool:
    expression = _real(given)
    if expression.is_nonnegative:
        return True
    return any((expression - fact.expression).is_nonnegative for fact in facts if fact.signed)


def _nonzero(given: Basic, facts: Iterable[Fact]) -> bool:
    expression = _real(given)
    if expression.is_nonzero or _positive(expression, facts) or _positive(-expression, facts):
        return True
    if expression.is_Mul or expression.is_Pow:
        factors = expression.args if expression.is_Mul else expression.args[:1]
        return all(_nonzero(factor, facts) for factor in factors)
    return any(expression in (f.expression, -f.expression) for f in facts if f.strict)
