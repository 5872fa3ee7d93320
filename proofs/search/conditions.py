"""Untrusted. Establishing relations, each by the module for its kind."""

from __future__ import annotations

from collections.abc import Callable

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.tree import Term, term
from proofs.search import (
    averages,
    casework,
    citing,
    comparing,
    covers,
    definiteness,
    equations,
    expectations,
    extremes,
    forms,
    general,
    induction,
    inner_products,
    invertibility,
    lambert_bounds,
    limits,
    means,
    nonzero,
    order,
    positivstellensatz,
    properties,
    quadratic,
    quantified,
    rank_equations,
    ranks,
    scalars,
    signs,
    slopes,
    termwise,
    trials,
)
from proofs.search.raising import NoTerm
from proofs.search.workbench import Stuck, Workbench

MAX_LEVEL = 40  # of relations under way: a way that goes on for longer leads nowhere


def establish(w: Workbench, relation: Term) -> int:
    """The place of a fact that gives `relation`, or ARITHMETIC.

    Raises:
        Stuck: nothing that this search knows shows it.
    """
    found = w.find(relation)
    if found is not None:
        return found
    if w.level >= MAX_LEVEL:
        raise Stuck(relation)
    w.level += 1
    try:
        key = w.facts.key(relation)
        if key in w.failed:
            raise Stuck(relation)
        w.failed.add(key)  # also while it is under way, so that no search runs in a circle
        w.learn(relation)
        w.define(relation)
        place = _dispatch(w, relation)
    except (TooLarge, StatementError, NoTerm, NotDefined):
        raise Stuck(relation) from None
    finally:
        w.level -= 1
    if place is None:
        raise Stuck(relation)
    w.failed.discard(key)
    return place


def _dispatch(w: Workbench, relation: Term) -> int | None:
    op, args = relation.op, relation.args
    if op in ("gt", "ge", "ne", "eq", *PROPERTIES):
        found = quantified.instantiated(w, relation)
        if found is not None:
            return found
    if order.is_loewner(w, relation):
        return order.below(w, *(args if op == "le" else args[::-1]))
    if op in ("lt", "le"):
        return _dispatch(w, term("gt" if op == "lt" else "ge", *reversed(args)))
    if op in ("gt", "ge"):
        if w.level > 1 and not trials.is_possible(w, relation):
            return None
        if args[0].op == "entry" and args[1] is ZERO:  # before equations are gathered
            forms.sign_by_form(w, args[0])
        found = w.find(relation)
        found = rank_equations.below(w, relation) if found is None else found
        found = citing.added_up(w, relation) if found is None else found
        if found is not None:
            return found
        scalars.bounds(w, relation)
        extremes.bounds(w, relation)
        termwise.bounds(w, relation)
        methods = [
            signs.sign,
            lambert_bounds.sign,
            extremes.sign,
            _by_comparison,
            slopes.from_an_end,
            inner_products.sign,
        ]
        # For a sign alone, after algebra.
        methods[int(ZERO in args) : int(ZERO in args)] = [covers.at_once, slopes.at_infinity]
        if not positivstellensatz.is_plain(w, relation):
            methods.append(quadratic.sign)
        last = (
            positivstellensatz.sign,
            covers.by_balls,
            slopes.in_cases,
            scalars.by_cases,
            casework.strictly,
            casework.in_order,
            positivstellensatz.multiplied,
            general.sign,
        )
        if op == "ge" and any(f.relation.op == "limit" for f in w.facts.facts):
            methods.insert(0, limits.order)
        for method in (*methods, *last):
            found = method(w, relation) if found is None else found
        if found is None and w.facts.key(relation) == w.facts.key(w.statement.goal):
            found = induction.by_induction(w, relation)
        return found
    if op == "eq":
        found = equations.prove(w, relation)
        return limits.unique(w, relation) if found is None else found
    if op == "ne":
        found = nonzero.nonzero(w, relation)
        return covers.by_balls(w, relation) if found is None else found
    if op == "forall":
        return quantified.for_all(w, relation)
    if op in properties.SHOWN:
        return properties.shown(w, relation)
    if op in ("full_row_rank", "full_column_rank"):
        return ranks.full(w, relation)
    if op == "subset":
        return expectations.subset(w, relation)
    if op == "limit":
        return limits.prove(w, relation)
    if op == "commute":
        return properties.commute(w, relation)
    method = PROPERTIES.get(op)
    return method(w, relation.args[0]) if method else None


def _by_comparison(w: Workbench, relation: Term) -> int | None:
    """An inequality with sums, means or increasing functions, if it isn't plainly false."""
    if not trials.is_elementary(relation) or not trials.is_possible(w, relation):
        return None
    if not termwise.mentions_sums(relation):  # what a modulus or a maximum is, comes first
        found = scalars.by_cases(w, relation)
        if found is not None:
            return found
    for method in COMPARISONS:
        found = method(w, relation)
        if found is not None:
            return found
    return None


COMPARISONS = (
    termwise.sign,
    averages.by_schwarz,
    comparing.sign,
    averages.by_jensen,
    means.by_tangents,
    means.sign,
)
PROPERTIES: dict[str, Callable[[Workbench, Term], int | None]] = {
    "invertible": invertibility.invertible,
    "positive_definite": definiteness.definite,
    "positive_semidefinite": definiteness.semidefinite,
}
