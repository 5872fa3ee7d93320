"""The rule book: which form of an expression is computed, where, and why.

A form is an equality that holds on a stated domain, chosen since its right side is the one that
floating point evaluates well. `choose` walks an expression from the outside in and lets each form
in turn try; a form that fits returns what stands in its place and may bind temporaries on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Atom, Basic, Indexed, Piecewise
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.matrices.expressions import MatrixSymbol

from derive.emit.body import Body
from derive.emit.elimination import eliminate
from derive.emit.singular import facts_of, negated, refuse_singular


@dataclass(frozen=True)
class Form:
    """One equality of the rule book.

    `apply` gives the chosen form of an expression, or None where the form does not fit it.
    `theorems` are the names of the theorems that say so; `proof` is a reference for what the
    statement language can't say, such as a fact about rounding.
    """

    name: str
    equality: str
    domain: str
    why: str
    apply: Callable[[Basic, Body], Basic | None]
    theorems: tuple[str, ...]
    proof: str = ""


@dataclass(frozen=True)
class SweepForm:
    """A form that fits all outputs of a kernel together."""

    name: str
    equality: str
    domain: str
    why: str
    apply: Callable[[dict[str, Basic], Body], dict[str, Basic] | None]
    theorems: tuple[str, ...]
    proof: str = ""


def grounds(form: Form | SweepForm) -> str:
    """What a form rests on: the names of its theorems, and a reference beside them."""
    named = f"{', '.join(form.theorems)}." if form.theorems else ""
    return f"{named} {form.proof}".strip()


def choose(expression: Basic, body: Body) -> Basic:
    """The expression in chosen forms; temporaries that they need are bound in `body`."""
    if isinstance(expression, (Atom, Indexed, MatrixSymbol)):
        return expression
    for form in rule_book():
        chosen = form.apply(expression, body)
        if chosen is not None:
            if form not in body.used:
                body.used.append(form)
            return choose(chosen, body)
    if expression in body.asked:
        refuse_singular(expression, body.facts)
    parts = _chosen_parts(expression, body)
    return expression if tuple(parts) == expression.args else expression.func(*parts)


def _chosen_parts(expression: Basic, body: Body) -> list[Basic]:
    """The arguments in chosen forms, each under the conditions that lead to it."""
    if isinstance(expression, Piecewise):
        parts, excluded = [], ()
        for value, condition in expression.args:
            with body.knowing((*excluded, *facts_of(condition))):
                parts.append(ExprCondPair(choose(value, body), choose(condition, body)))
            excluded = (*excluded, *negated(condition))
        return parts
    return [choose(part, body) for part in expression.args]


def rule_book() -> tuple[Form, ...]:
    """All forms, in the order in which they are tried."""
    from derive.emit import elementary, matrices, points, rows

    return (*points.FORMS, *rows.FORMS, *elementary.FORMS, *matrices.FORMS)


# Tried on all outputs at once, before the forms for single expressions.
ELIMINATION = SweepForm(
    "elimination",
    "S - C R^-1 C' = the Schur complements of single pivots, one after another",
    "psd joint covariance; a pivot below rank_tol times its first value is passed over",
    "an explicit inverse loses the symmetry and the scale of each coordinate; a sweep keeps what "
    "is left psd up to rounding, also for a graded or singular block.",
    eliminate,
    ("forms.elimination", "forms.zero_pivot"),
)


def all_forms() -> tuple[Form | SweepForm, ...]:
    """The whole rule book."""
    return (ELIMINATION, *rule_book())
