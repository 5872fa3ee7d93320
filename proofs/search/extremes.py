"""Untrusted. Inequalities with the largest or smallest entry of a vector, or with moduli.

That a maximum is below c is shown entry by entry, that a modulus is, for both signs; that it is
above an entry is a rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.checker.algebra import ONE, Atom, Poly, TooLarge
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import equations, scalars, signs
from proofs.search.ideal import divide
from proofs.search.raising import NoTerm, size_term
from proofs.search.softmaxes import is_vector, smallest
from proofs.search.workbench import ARITHMETIC, Stuck, Workbench


def bounds(w: Workbench, relation: Term) -> None:
    """x[j] <= max(x), for the vectors of which the largest entry, and the indices, are in sight."""
    nodes = [n for n in postorder([relation]) if is_vector(w, n) and not n.free]
    for node in nodes:
        vector = node.args[0] if node.op == "max" else term("neg", node.args[0])
        smallest(w, node)
        for j in indices(w, relation, w.size(vector)) or [rational(1)]:
            w.schema("max_entry", n=w.size(vector), x=vector, j=j)


def indices(w: Workbench, relation: Term, size: Term) -> list[Term]:
    """What stands as an index of a vector of this size."""
    found: dict[Term, None] = {}
    for node in postorder([relation]):
        if node.op == "entry" and len(node.args) == 2 and not node.free:
            if w.size(node.args[0]) is size:
                found[node.args[1]] = None
        elif node.op == "unit" and not node.free and node.args[0] is size:
            found[node.args[1]] = None
        elif node.op == "member" and not node.free and len(node.args) == 2:
            family = infer(node.args[0], w.facts.scope)
            if size_term(family.ranges[0]) is size:
                found[node.args[1]] = None
    return list(found)


def sign(w: Workbench, relation: Term) -> int | None:
    """c - a*max(x) >= 0, for a positive a, as x[j] <= c/a for all j; the same for a modulus."""
    nodes = postorder([relation])
    if not any(is_vector(w, n) or n.op in scalars.SPLIT for n in nodes):
        return None
    if all(n.op != "name" for n in nodes):
        return None
    bounds(w, relation)
    ideal = equations.known(w, [relation])
    value, _ = ideal.reduce(w.facts.difference(relation))
    for a, node in _largest(w, value):
        try:
            found = _by_entries(w, relation, value, a, node)
        except (NoTerm, TooLarge, Stuck, StatementError, NotDefined):
            continue
        if found is not None:
            return found
    return None


def _largest(w: Workbench, value: Poly) -> Iterator[tuple[Atom, Term]]:
    """The largest entries and the moduli that a difference speaks of."""
    for a in dict.fromkeys(a for m, _ in value.terms for a, _ in m):
        node = w.raising.atoms.get(a)
        if node is not None and (node.op == "abs" or (node.op == "max" and is_vector(w, node))):
            yield a, node


def _by_entries(w: Workbench, relation: Term, value: Poly, a: Atom, node: Term) -> int | None:
    factor, rest = Poly(ONE, ONE, {}), Poly(ONE, ONE, {})
    for (m, word), c in value.terms.items():
        power = dict(m).get(a, 0)
        if power > 1:
            return None
        if power:
            factor = factor + Poly(ONE, ONE, {(divide(m, ((a, 1),)) or (), word): -c})
        else:
            rest = rest + Poly(ONE, ONE, {(m, word): c})
    if not factor.terms:
        return None
    scale = w.raising.poly(factor)
    above = term("gt", scale, rational(0))
    known = w.establish(above)
    places = [] if known == ARITHMETIC else [w.stated(above, known)]
    number = factor.constant
    limit = w.raising.poly(rest if number is None else rest.scale(1 / number))
    c = limit if number is not None else term("div", limit, scale)
    x = node.args[0]
    if node.op == "abs" and relation.op == "gt":
        return None
    rule = "max_less" if relation.op == "gt" else "max_least"
    with w.from_the_top():
        if node.op == "abs":
            place = w.schema("abs_least", x=x, c=c)
        else:
            place = w.schema(rule, n=w.size(x), x=x, c=c)
    if place is None:
        return None
    coefficient = "1" if number is None else str(number)
    excess = signs.excess_of(w, w.facts.facts[place].relation)
    ideal = equations.known(w, [relation, w.facts.facts[place].relation])
    if excess is None:
        return None
    gap = w.facts.difference(relation) - excess * (
        factor if number is None else Poly(ONE, ONE, {((), ()): number})
    )
    return w.closed(relation, [[coefficient, [*places, place], None]], gap, ideal)
