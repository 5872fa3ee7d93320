"""Untrusted. inv(X)*u = r from u = X*r, where the inverse begins terms of an equation."""

from __future__ import annotations

from proofs.checker.algebra import Letter, Poly, TooLarge, of_letter
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, term
from proofs.search import instances
from proofs.search.ideal import Relation
from proofs.search.ideal import Term as Part
from proofs.search.raising import NoTerm
from proofs.search.units import inverted
from proofs.search.workbench import ARITHMETIC, Stuck, Workbench

STEPS = 40  # of completion


def by_clearing(w: Workbench, goal: Term) -> int | None:
    """The equation that was asked for, once an inverse before some of its terms is cleared away."""
    if goal is not w.statement.goal or infer(goal.args[0], w.facts.scope).is_scalar:
        return None
    difference = w.facts.difference(goal)
    for letter, x in inverted(w, difference, 0).items():
        try:
            found = _cleared(w, goal, difference, letter, x)
        except (NoTerm, TooLarge, StatementError, NotDefined, Stuck):
            continue
        if found is not None:
            return found
    return None


def _cleared(w: Workbench, goal: Term, value: Poly, letter: Letter, x: Term) -> int | None:
    """inv(X)*u - r = inv(X)*(u - X*r) + (inv(X)*X - 1)*r, where X*r is free of the inverse."""
    from proofs.search.equations import plain_ideal

    inverse = term("inv", x)
    unit = w.schema("inv_left", n=w.size(x), A=x)
    if unit is None or unit == ARITHMETIC or w.facts.lowering.lower(inverse) != of_letter(letter):
        return None
    begun = {(m, u[1:]): c for (m, u), c in value.terms.items() if u[:1] == (letter,)}
    rest = {(m, u): -c for (m, u), c in value.terms.items() if u[:1] != (letter,)}
    r = Poly(value.rows, value.cols, rest)
    u = w.raising.poly(Poly(letter.cols, value.cols, begun))
    simpler = term("eq", u, term("mul", x, w.raising.poly(r)))
    w.learn(simpler)
    w.define(simpler)
    instances.gather(w, [simpler])
    without = plain_ideal(w, [simpler], without=inverse)
    for _ in range(STEPS):
        left, used = without.reduce(w.facts.difference(simpler))
        if not left.terms:
            place = w.combine(simpler, without, used)
            if place is None:
                return None
            clear = Relation(w.facts.difference(simpler), ((), ()), place)
            one = Relation(w.facts.difference(w.facts.facts[unit].relation), ((), ()), unit)
            parts = [Part(of_letter(letter), clear, None, ""), Part(None, one, r, "")]
            return w.combine(goal, without, parts)
        if not without.step():
            return None
    return None
