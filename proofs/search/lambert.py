"""Untrusted. Values of Lambert's W: W(x) = u, where x = u*exp(u) and u >= -1."""

from __future__ import annotations

from fractions import Fraction

from proofs.checker.algebra import Atom, Monomial, Poly, TooLarge, Word
from proofs.checker.definedness import ZERO
from proofs.language.errors import StatementError
from proofs.language.tree import Term, bound, postorder, rational, term
from proofs.search import denominators, equations
from proofs.search.factoring import factors
from proofs.search.ideal import divide
from proofs.search.raising import NoTerm
from proofs.search.workbench import Stuck, Workbench


def by_uniqueness(w: Workbench, goal: Term) -> int | None:
    """Where the goal gives W(x) a value u, show x = u*exp(u) and use that W is unique."""
    difference = w.facts.difference(goal)
    reduced, _ = equations.known(w, [goal]).reduce(difference)
    values = [reduced, difference][: 1 + (reduced != difference)]
    for q, denominator in denominators.reciprocals(w, reduced):
        _, reduced = denominators.numerator(w, reduced, q, denominator)
    for value in (*values, *(p for p, _ in factors(reduced))):
        for place in value.terms:
            for a, power in place[0]:
                node = w.raising.atoms.get(a)
                if node is None or node.op != "lambertw" or power != 1:
                    continue
                for u in candidates(w, value, place, a):
                    if node in postorder([u]):
                        continue
                    if _unique(w, node, u) and (found := equations.quick(w, goal)) is not None:
                        return found
    return None


def candidates(w: Workbench, value: Poly, place: tuple[Monomial, Word], target: Atom) -> list[Term]:
    """Values that make `value` zero, for an atom that it holds once and linearly."""
    outside = divide(place[0], ((target, 1),))
    if place[1] or outside is None or sum(target in dict(m) for m, _ in value.terms) != 1:
        return []
    rest = Poly(value.rows, value.cols, {p: c for p, c in value.terms.items() if p != place})
    try:
        quotient = w.raising.poly(rest.scale(Fraction(-1) / value.terms[place]))
        for a, power in outside:
            base = w.raising.scalar(a)
            inverse = (
                base.args[1]
                if base.op == "div" and base.args[0] is rational(1)
                else term("div", rational(1), base)
            )
            for _ in range(power):
                quotient = term("mul", inverse, quotient)
        w.learn(quotient)
        simpler, _ = equations.known(w, [term("eq", quotient, quotient)]).reduce(
            w.facts.lowering.lower(quotient)
        )
        return [quotient, w.raising.poly(simpler)]
    except (NoTerm, TooLarge, StatementError):
        return []


def _unique(w: Workbench, node: Term, u: Term) -> bool:
    """W(x) = u from x = u*exp(u) and u >= -1."""
    x = node.args[0]
    product = term("mul", u, term("exp", u))
    try:
        w.learn(product)
        same = term("eq", x, product)
        equal = w.sided(same, w.establish(same))
        if equal is None or w.schema("lambertw_unique", u=u) is None:
            return False
        context = term("lambertw", bound(0, term("real_type")))
        step = {"rule": "congruence", "fact": equal, "context": w.place(context)}
        return w.take(step) is not None
    except (Stuck, StatementError, TooLarge):
        return False


def on_the_branch(w: Workbench, relation: Term) -> int | None:
    """x >= -1/e, as x = u*exp(u) for a u that occurs, or of which u >= -1 is known."""
    x = relation.args[0]
    if relation.op != "ge":
        return None
    for node in postorder([x]):
        if node.op == "exp" and not node.free:
            w.schema("lambertw_range", u=node.args[0])
    found = w.find(relation)
    if found is not None or not any(n.op == "exp" for n in postorder([x])):
        return found
    for fact in list(w.facts.facts):
        u, bound_ = fact.relation.args if fact.relation.op == "ge" else (x, ZERO)
        if bound_ is not rational(-1):
            continue
        product = term("mul", u, term("exp", u))
        equal = w.attempt(same := term("eq", x, product))
        above = w.schema("lambertw_range", u=u)
        if equal is not None and above is not None:
            rows = [[None, w.stated(same, equal), None, ""]]
            return w.positive(relation, [["1", [above], None]], rows)
    return None
