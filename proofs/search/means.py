"""Untrusted. Tangents of the logarithm; the inequality of arithmetic and geometric means.

c_1*y_1 + c_2*y_2 + .. >= k*m for positive y and m, where the weights c have the sum k and
c_1*log(y_1) + .. = k*log(m): it is the sum of the tangents y/m - 1 >= log(y/m), each times c*m.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.checker.algebra import ONE, Atom, Monomial, Poly, multiply
from proofs.checker.definedness import ZERO
from proofs.language.tree import Term, postorder, term
from proofs.search import averages, equations, signs, tangents, termwise
from proofs.search.termwise import PROBLEMS
from proofs.search.workbench import Workbench

MAX_MEANS = 6  # numbers of which the mean is taken
MAX_LEVEL = 6
MAX_TANGENTS = 40
CURVED = frozenset({"log", "exp"})


def sign(w: Workbench, relation: Term) -> int | None:
    """left >= right, where one side is a geometric mean with symbolic weights."""
    if relation.op != "ge" or w.level > MAX_LEVEL:
        return None
    powers = [n for n in postorder([relation]) if n.op in ("pow", "exp")]
    if all(n.args[-1].op == "rational" for n in powers):
        return None
    try:
        value, _ = termwise.reduced(w, relation)
        return _by_tangents(w, relation, value)
    except PROBLEMS:
        return None


def by_tangents(w: Workbench, relation: Term) -> int | None:
    """An inequality from the tangents of the logarithms and exponentials in it, and of what lies
    between two of them, each times something positive."""
    nodes = [n for n in postorder([relation]) if n.op in CURVED and not n.free]
    if not nodes or w.level > MAX_LEVEL:
        return None
    value, _ = termwise.reduced(w, relation)
    atoms = sorted({a for m, _ in value.terms for a, _ in m}, key=lambda a: a.key)
    if not any(a.key.startswith(("log(", "exp(")) for a in atoms) or value.is_complex:
        return None
    tangents.gather(w, relation, atoms)
    places = [
        i
        for i, f in enumerate(w.facts.facts)
        if (f.relation.op == "le" and f.relation.args[0].op == "log")
        or (f.relation.op == "ge" and f.relation.args[0].op == "exp")
    ]
    return averages.combined(w, relation, places[-MAX_TANGENTS:]) if places else None


def _by_tangents(w: Workbench, relation: Term, value: Poly) -> int | None:
    groups = _groups(value, _weights(w, relation))
    single = [(y, c) for y, c in groups.items() if c.constant is not None and c.constant < 0]
    if len(single) != 1 or not 3 <= len(groups) <= MAX_MEANS or value.is_complex:
        return None
    ((mean, _),) = single
    m = w.raising.poly(_monomial(mean))
    positive = _stated(w, term("gt", m, ZERO))
    rows: list[Any] = []
    relations: list[Term] = []
    total = Poly(ONE, ONE, {})
    for y, c in groups.items():
        if y == mean:
            continue
        node = term("div", w.raising.poly(_monomial(y)), m)
        tangent = w.schema("log_tangent", x=node)
        if tangent is None:
            return None
        factors = [positive, tangent]
        coefficient = "1"
        if c.constant is None:
            factors.append(_stated(w, term("ge", w.raising.poly(c), ZERO)))
        elif c.constant > 0:
            coefficient = str(c.constant)
        else:
            return None
        rows.append([coefficient, factors, None])
        relations.append(w.facts.facts[tangent].relation)
        excess = signs.excess_of(w, relations[-1])
        if excess is None:
            return None
        total = total + c * w.facts.lowering.lower(m) * excess
    ideal = equations.known(w, [relation, *relations])
    return w.closed(relation, rows, w.facts.difference(relation) - total, ideal)


def _stated(w: Workbench, relation: Term) -> int:
    return w.stated(relation, w.establish(relation))


def _monomial(y: Monomial) -> Poly:
    return Poly(ONE, ONE, {(y, ()): Fraction(1)})


def _weights(w: Workbench, relation: Term) -> set[Atom]:
    """What stands in exponents, with reciprocals: the scalars that weights are made of."""
    found: set[Atom] = set()
    for node in postorder([relation]):
        if node.free or node.op not in ("pow", "exp"):
            continue
        for part in postorder([node.args[-1]]):
            if part.op == "name":
                value = w.facts.lowering.lower(part)
                if value.is_scalar:
                    found |= {a for m, _ in value.terms for a, _ in m}
    return found


def _groups(value: Poly, weights: set[Atom]) -> dict[Monomial, Poly]:
    """The coefficients, made of weights, of the products of all other scalars."""
    names = {a.key for a in weights} | {f"1/({a.key})" for a in weights}
    found: dict[Monomial, Poly] = {}
    for (monomial, word), c in value.terms.items():
        mine = tuple((a, n) for a, n in monomial if a.key in names)
        rest = tuple((a, n) for a, n in monomial if a.key not in names)
        part = Poly(ONE, ONE, {(multiply(mine, ())[1], word): c})
        old = found.get(rest)
        found[rest] = part if old is None else old + part
    return {y: c for y, c in found.items() if c.terms}
