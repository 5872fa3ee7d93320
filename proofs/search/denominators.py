"""Untrusted. Signs of products and quotients: factor by factor, or with denominators cleared."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

from proofs.checker.algebra import ONE, Atom, Poly
from proofs.checker.definedness import ZERO
from proofs.language.tree import Term, rational, term
from proofs.search import equations
from proofs.search.factoring import factors
from proofs.search.ideal import divide
from proofs.search.raising import NoTerm, factors_of
from proofs.search.workbench import ARITHMETIC, Stuck, Workbench

MAX_LEVEL = 6  # of relations under way: equations may bring back the reciprocals that were cleared


def factored(w: Workbench, relation: Term) -> int | None:
    """A product that is positive, or non-negative, because each of its factors is."""
    product, zero = relation.args
    factors = factors_of(product)
    if zero is not ZERO or len(factors) < 2 or any(f.op == "neg" for f in factors):
        return None
    places = []
    for factor in factors:
        place = w.attempt(wanted := term(relation.op, factor, ZERO))
        if place is None:
            return None
        places.append(w.stated(wanted, place))
    return w.positive(relation, [["1", places, None]])


def split(w: Workbench, relation: Term, difference: Poly) -> int | None:
    """The sign of a polynomial that splits, from the signs of its factors."""
    if w.level > MAX_LEVEL:
        return None
    for value, rows in _forms(w, relation, difference):
        found = factors(value)
        if len([p for p, _ in found if p.constant is None]) < 2:
            continue
        row = _signs(w, found, relation.op)
        if row is not None:
            return w.positive(relation, [row], rows)
    return None


def _signs(w: Workbench, found: list[tuple[Poly, int]], op: str) -> list[Any] | None:
    """A row `[coefficient, facts, root]` for a product of factors, each with a sign."""
    coefficient, places, root = Fraction(1), list[int](), None
    for p, power in sorted(found, key=lambda f: len(f[0].terms)):
        if p.constant is not None:
            coefficient *= p.constant
            continue
        above = w.raising.poly(p)
        if op == "ge" and power > 1:
            half = above if power < 4 else term("pow", above, rational(power // 2))
            root = half if root is None else term("mul", root, half)
        for _ in range(power % 2 if op == "ge" else power):
            place = w.attempt(wanted := term(op, above, ZERO))
            if place is None:
                wanted = term(op, term("neg", above), ZERO)
                place = w.attempt(wanted)
                coefficient = -coefficient
            if place is None:
                return None
            places.append(w.stated(wanted, place))
    if coefficient < 0:
        return None
    return [str(coefficient), places, None if root is None else w.place(root)]


def divided(w: Workbench, relation: Term, difference: Poly) -> int | None:
    """The sign of a sum without the factors that all of its terms share, which are positive."""
    shared = dict(min((m for m, _ in difference.terms), key=len, default=()))
    for m, _ in difference.terms:
        powers = dict(m)
        shared = {a: min(n, powers.get(a, 0)) for a, n in shared.items() if a in powers}
    try:
        common = [w.raising.scalar(a) for a, n in shared.items() for _ in range(n)]
        places: list[int] = []
        for x in common:
            place = w.attempt(above := term("gt", x, ZERO))
            if place is None:
                return None
            places.append(w.stated(above, place))
        monomial = tuple(sorted(shared.items(), key=lambda p: p[0].key))
        rest = {(divide(m, monomial) or (), u): c for (m, u), c in difference.terms.items()}
        wanted = term(relation.op, w.raising.poly(Poly(ONE, ONE, rest)), ZERO)
        place = w.attempt(wanted) if common else None
        if place is None:
            return None
        return w.positive(relation, [["1", [*places, w.stated(wanted, place)], None]])
    except (NoTerm, Stuck):
        return None


def cleared(w: Workbench, relation: Term, difference: Poly) -> int | None:
    """The sign of a sum of fractions from that of its numerator, over a positive denominator."""
    if w.level > MAX_LEVEL:
        return None
    for value, rows in _forms(w, relation, difference):
        for q, denominator in reciprocals(w, value):
            positive = w.attempt(term("gt", denominator, ZERO))
            if positive is None or positive == ARITHMETIC:
                continue
            power, upper = numerator(w, value, q, denominator)
            try:
                above = w.raising.poly(upper)
                goal = term(relation.op, above, ZERO)
                place = w.stated(goal, w.establish(goal))
                inverse = w.schema("reciprocal_positive", x=denominator)
                product = above
                for _ in range(power):
                    product = term("mul", w.raising.scalar(q), product)
                whole = w.raising.poly(value)
                equal = w.stated(same := term("eq", whole, product), w.establish(same))
            except (NoTerm, Stuck):
                continue
            if inverse is not None:
                equations_ = [*rows, [None, equal, None, ""]]
                return w.positive(relation, [["1", [place, *[inverse] * power], None]], equations_)
    return None


def nonzero(w: Workbench, relation: Term) -> int | None:
    """A sum of fractions is not zero where its numerator is not: p = q*x for a denominator q."""
    x = relation.args[0]
    value = w.facts.lowering.lower(x)
    for q, denominator in reciprocals(w, value)[:1]:
        power, upper = numerator(w, value, q, denominator)
        try:
            above = w.raising.poly(upper)
            w.establish(term("ne", above, ZERO))
        except (NoTerm, Stuck):
            return None
        below = denominator
        for _ in range(power - 1):
            below = term("mul", below, denominator)
        if w.schema("nonzero_equal", x=above, y=term("mul", x, below)) is not None:
            return w.schema("factor_nonzero", x=x, y=below)
    return None


def _forms(w: Workbench, relation: Term, difference: Poly) -> list[tuple[Poly, list[Any]]]:
    """A difference as it is, and as the known equations simplify it."""
    forms: list[tuple[Poly, list[Any]]] = [(difference, [])]
    reduced, used = equations.known(w, [relation]).reduce(difference)
    if used:
        with suppress(NoTerm, Stuck):
            forms.append((reduced, w.rows(used)))
    return forms


def reciprocals(w: Workbench, value: Poly) -> list[tuple[Atom, Term]]:
    """The reciprocals in a polynomial, each with its denominator, sums first."""
    found: dict[Atom, Term] = {}
    for monomial, _ in value.terms:
        for a, _ in monomial:
            node = w.raising.atoms.get(a)
            if a.key.startswith("1/(") and node is not None:
                found[a] = node.args[-1]
    return sorted(found.items(), key=lambda item: -len(item[0].key))


def numerator(w: Workbench, value: Poly, q: Atom, denominator: Term) -> tuple[int, Poly]:
    """The k and p with value = q^k*p, p free of the reciprocal q of the denominator."""
    below = w.facts.lowering.lower(denominator)
    power = max(dict(m).get(q, 0) for m, _ in value.terms)
    total = Poly(ONE, ONE, {})
    for (monomial, word), c in value.terms.items():
        k = dict(monomial).get(q, 0)
        rest = divide(monomial, ((q, k),)) if k else monomial
        part = Poly(ONE, ONE, {(rest or (), word): c})
        for _ in range(power - k):
            part = part * below
        total = total + part
    return power, total
