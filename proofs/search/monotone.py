"""Untrusted. Inequalities by monotone functions: logarithms, and Lambert's W.

A sum of logarithms is compared with zero by comparing products, and W(x) is compared with u by
comparing x with u*exp(u).
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from proofs.checker.algebra import ONE, Poly, TooLarge
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import equations, lambert, signs
from proofs.search.raising import NoTerm, product_of
from proofs.search.workbench import ARITHMETIC, Stuck, Workbench

MAX_POWER = 6  # of a factor under a logarithm
MAX_LEVEL = 3  # of relations under way


def sign(w: Workbench, relation: Term) -> int | None:
    """left > right or left >= right, from that of what monotone functions are taken of."""
    ops = {n.op for n in postorder([relation])}
    if w.level > MAX_LEVEL or not ops & {"log", "lambertw"}:
        return None
    try:
        found = _by_products(w, relation) if "log" in ops else None
        return _by_values(w, relation) if found is None and "lambertw" in ops else found
    except (NoTerm, TooLarge, Stuck, StatementError, NotDefined):
        return None


def _by_products(w: Workbench, relation: Term) -> int | None:
    """n*log(x) + .. >= m*log(y) + .., as x^n*.. >= y^m*.."""
    difference = w.facts.difference(relation)
    scale = lcm(*(c.denominator for c in difference.terms.values()))
    upper: list[Term] = []
    lower: list[Term] = []
    for (monomial, word), c in difference.terms.items():
        node = w.raising.atoms.get(monomial[0][0]) if len(monomial) == 1 and not word else None
        count = abs(int(c * scale))
        if node is None or node.op != "log" or monomial[0][1] > 1 or count > MAX_POWER:
            return None
        (upper if c > 0 else lower).extend([node.args[0]] * count)
    large, small = _product(w, upper), _product(w, lower)
    w.learn(term("sub", large, small))
    rule = "log_increasing" if relation.op == "gt" else "log_monotone"
    place = w.schema(rule, x=small, y=large)
    if place is None or place == ARITHMETIC:
        return None
    return _concluded(w, relation, difference, Fraction(1, scale), [], place)


def _product(w: Workbench, factors: list[Term]) -> Term:
    """A product, with its logarithm by those of the factors taken as a fact."""
    if not factors:
        w.schema("log_one")
        return rational(1)
    for count in range(1, len(factors)):
        w.schema("log_product", x=product_of(factors[:count]), y=factors[count])
    return product_of(factors)


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
                        return _concluded(w, relation, difference, abs(c), row[1], place)
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


def _concluded(
    w: Workbench, relation: Term, value: Poly, factor: Fraction, places: list[int], last: int
) -> int | None:
    """The relation as a multiple of the fact at `last`, up to known equations."""
    product = Poly(ONE, ONE, {((), ()): factor})
    for place in (*places, last):
        excess = signs.excess_of(w, w.facts.facts[place].relation)
        if excess is None:
            return None
        product = product * excess
    ideal = equations.known(w, [relation, w.facts.facts[last].relation])
    return w.closed(relation, [[str(factor), [*places, last], None]], value - product, ideal)
