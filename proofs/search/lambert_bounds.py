"""Untrusted. Bounds of Lambert's W: W(x) is held against u by comparing x with u*exp(u)."""

from __future__ import annotations

from fractions import Fraction

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.tree import Term, postorder, term
from proofs.search import equations, lambert, signs
from proofs.search.raising import NoTerm
from proofs.search.workbench import Stuck, Workbench

MAX_LEVEL = 3  # of relations under way


def sign(w: Workbench, relation: Term) -> int | None:
    """left > right or left >= right, for sides that are linear in a W(x)."""
    if w.level > MAX_LEVEL or all(n.op != "lambertw" for n in postorder([relation])):
        return None
    try:
        return _by_values(w, relation)
    except (NoTerm, TooLarge, Stuck, StatementError, NotDefined):
        return None


def _by_values(w: Workbench, relation: Term) -> int | None:
    """W(x) >= u from x >= u*exp(u), or W(x) <= u from x <= u*exp(u), for u >= -1."""
    difference = w.facts.difference(relation)
    reduced, _ = equations.known(w, [relation]).reduce(difference)
    for value in (reduced, difference)[: 1 + (reduced != difference)]:
        for (powers, word), c in value.terms.items():
            for a, power in powers:
                node = w.raising.atoms.get(a)
                if node is None or node.op != "lambertw" or power != 1 or word:
                    continue
                beside = tuple(p for p in powers if p[0] is not a)
                row = signs.monomial(w, beside, Fraction(1))
                if row is None or row[2] is not None:
                    continue
                for u in lambert.candidates(w, value, (powers, word), a):
                    if node in postorder([u]):
                        continue
                    place = _bounded(w, node, u, relation.op == "gt", c > 0)
                    if place is not None:
                        rows = [[str(abs(c)), [*row[1], place], None]]
                        return signs.from_facts(w, relation, rows)
    return None


def _bounded(w: Workbench, node: Term, u: Term, strict: bool, below: bool) -> int | None:
    """u <= W(x), or W(x) <= u, from that of u*exp(u) and x."""
    x = node.args[0]
    product = term("mul", u, term("exp", u))
    w.learn(product)
    if w.schema("lambertw_unique", u=u) is None:
        return None
    small, large = (product, x) if below else (x, product)
    return w.schema("lambertw_increasing" if strict else "lambertw_monotone", x=small, y=large)
