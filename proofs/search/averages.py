"""Untrusted. Inequalities for sums from those of Cauchy and Schwarz, and of Jensen.

The weights are found in the terms: what stands beside a logarithm, or is left of a product when
one factor is taken out. An inequality is then a combination of such instances and what is known,
each times something positive, found by linear arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from proofs.checker.algebra import ONE, Atom, Monomial, Poly, multiply
from proofs.checker.definedness import ZERO
from proofs.language.tree import (
    Term,
    abstract,
    bound,
    instantiate,
    name,
    names_in,
    postorder,
    rational,
    term,
)
from proofs.search import equations, extremes, signs, termwise
from proofs.search.ideal import divide
from proofs.search.linear import combination
from proofs.search.raising import NoTerm, opened
from proofs.search.termwise import FIRST, PROBLEMS, Range
from proofs.search.workbench import ARITHMETIC, Workbench

MAX_SUMS = 10  # whose terms are compared
MAX_WEIGHTS = 6
MAX_COLUMNS = 400
MAX_MULTIPLIERS = 8
MAX_TERMS = 30

Row = tuple[str, list[int]]  # a coefficient and the facts of a product


def by_schwarz(w: Workbench, relation: Term) -> int | None:
    """left > right or left >= right, from products of sums."""
    value = _new(w, relation, "schwarz")
    places = [] if value is None else _schwarz(w, relation, value)
    return combined(w, relation, places) if places else None


def by_jensen(w: Workbench, relation: Term) -> int | None:
    """left > right or left >= right, from averages of logarithms."""
    value = _new(w, relation, "jensen")
    if value is None:
        return None
    _simplify_logarithms(w, value)
    places = _jensen(w, relation, termwise.reduced(w, relation)[0])
    for place in list(places):
        _entries_below(w, relation, w.facts.facts[place].relation)
    return combined(w, relation, places) if places else None


def _new(w: Workbench, relation: Term, method: str) -> Poly | None:
    """What is to be non-negative, where a method is for it and hasn't been tried."""
    key = (method, w.facts.key(relation))
    if w.sums or key in w.instanced or not termwise.mentions_sums(relation):
        return None
    w.instanced.add(key)
    for node in [n for n in postorder([relation]) if n.op == "softmax" and not n.free]:
        high = w.size(node)
        entry = term("entry", node, bound(0, term("index_type", high)))
        w.attempt(term("eq", term("sum", FIRST, high, entry), FIRST))
    value, _ = termwise.reduced(w, relation)
    if not value.is_scalar or value.is_complex or len(value.terms) > MAX_TERMS:
        return None
    return value


# ---------------------------------------------------------------- combinations


def combined(w: Workbench, relation: Term, places: list[int]) -> int | None:
    """An inequality as a sum of these, each times what is positive, and of what else is known."""
    known = [w.facts.facts[p].relation for p in places]
    ideal = equations.known(w, [relation, *known])
    difference = w.facts.difference(relation)
    target = ideal.reduce(difference)[0]
    rows: list[list[int]] = []
    columns: list[Poly] = []
    for place, fact in enumerate(list(w.facts.facts)):
        excess = signs.excess_of(w, fact.relation)
        if excess is None or excess.is_complex or len(excess.terms) > MAX_TERMS:
            continue
        excess = ideal.reduce(excess)[0]
        factors = _multipliers(w, target, excess) if place in places else [([], None)]
        for facts, factor in factors:
            rows.append([*facts, place])
            columns.append(excess if factor is None else ideal.reduce(factor * excess)[0])
    start = max(0, len(rows) - MAX_COLUMNS)
    rows, columns = [*rows[start:], []], columns[start:]
    one: dict[Any, Fraction] = {((), ()): Fraction(1)}
    found = combination([*(c.terms for c in columns), one], target.terms)
    if found is None:
        return None
    terms: list[Any] = []
    total = Poly(ONE, ONE, {})
    for i, c in found.items():
        terms.append([str(c), rows[i], None])
        product = Poly(ONE, ONE, {((), ()): c})
        for p in rows[i]:
            product = product * (signs.excess_of(w, w.facts.facts[p].relation) or product)
        total = total + product
    try:
        return w.closed(relation, terms, difference - total, ideal)
    except PROBLEMS:
        return None


def _multipliers(w: Workbench, target: Poly, excess: Poly) -> list[tuple[list[int], Poly | None]]:
    """What is positive, with the facts that say so, and takes a term of one to one of the other."""
    found: dict[str, tuple[list[int], Poly | None]] = {"": ([], None)}
    for power, inside in _logarithms(target):
        other = _factor_of(excess, power)
        if other is None or len(other.terms) != 1:
            continue
        ((place, c),) = other.terms.items()
        parts: list[int] = []
        total = inside.scale(1 / c)
        try:
            node = w.raising.poly(total)
            known = w.establish(term("ge", node, ZERO))
            if known != ARITHMETIC:
                parts.append(w.stated(term("ge", node, ZERO), known))
            for a, n in place[0]:
                base = w.raising.scalar(a)
                positive = w.schema("reciprocal_positive", x=base)
                if positive is None:
                    break
                parts += [positive] * n
                inverse = w.facts.lowering.lower(term("div", FIRST, base))
                for _ in range(n):
                    total = total * inverse
            else:
                found.setdefault(total.key, (parts, total))
        except PROBLEMS:
            continue
    for (m, _), c in target.terms.items():
        for (k, _), d in excess.terms.items():
            factor = _quotient(w, m, k)
            if factor is None or (c > 0) != (d > 0) or len(found) >= MAX_MULTIPLIERS:
                continue
            row = signs.monomial(w, factor, Fraction(1))
            if row is not None and row[2] is None:
                value = Poly(ONE, ONE, {(factor, ()): Fraction(1)})
                found.setdefault(value.key, (row[1], value))
    for a in dict.fromkeys(a for m, _ in target.terms for a, _ in m):
        if a.key.startswith("exp(") and (row := signs.monomial(w, ((a, 1),), Fraction(1))):
            value = Poly(ONE, ONE, {(((a, 1),), ()): Fraction(1)})
            found.setdefault(value.key, (row[1], value))
    return list(found.values())


def _logarithms(value: Poly) -> Iterator[tuple[Atom, Poly]]:
    """The logarithms in a polynomial, each with its coefficient."""
    atoms = {a for m, _ in value.terms for a, n in m if a.key.startswith("log(") and n == 1}
    for a in sorted(atoms, key=lambda a: a.key):
        factor = _factor_of(value, a)
        if factor is not None:
            yield a, factor


def _factor_of(value: Poly, a: Atom) -> Poly | None:
    """The coefficient of a scalar in a polynomial."""
    terms = {
        (divide(m, ((a, 1),)) or (), w): c for (m, w), c in value.terms.items() if a in dict(m)
    }
    return Poly(ONE, ONE, terms) if terms else None


def _quotient(w: Workbench, m: Monomial, k: Monomial) -> Monomial | None:
    """m/k as a monomial, with the reciprocals of what is known to be positive."""
    above = tuple((a, n - dict(k).get(a, 0)) for a, n in m if n > dict(k).get(a, 0))
    below = [(a, n - dict(m).get(a, 0)) for a, n in k if n > dict(m).get(a, 0)]
    found: Monomial = above
    for a, n in below:
        if a.is_complex or signs.atom_sign(w, a) is None:
            return None
        try:
            inverse = w.facts.lowering.lower(term("div", FIRST, w.raising.scalar(a)))
            w.learn(term("div", FIRST, w.raising.scalar(a)))
        except NoTerm:
            return None
        ((place, c),) = inverse.terms.items()
        if c != 1:
            return None
        for _ in range(n):
            found = multiply(found, place[0])[1]
    return found or None


# ---------------------------------------------------------------- Cauchy and Schwarz


def _schwarz(w: Workbench, relation: Term, value: Poly) -> list[int]:
    """(sum c)^2 <= (sum a)*(sum b) for the sums in sight, where c^2 = a*b term by term."""
    squares = {a for m, _ in value.terms for a, n in m if n > 1}
    found: list[int] = []
    everything = _in_sight(w, value)
    for high in dict.fromkeys(r.high for r in everything):
        mine = [r for r in everything if r.high is high]
        written = [
            opened(n.args[2])
            for n in postorder([relation])
            if n.op == "sum" and not n.free and n.args[:2] == (FIRST, high)
        ]
        bodies = dict.fromkeys(
            [*(r.body for r in mine), *termwise.totals(w, high), FIRST, *written]
        )
        wanted = [r.body for r in mine if r.atom in squares]
        wanted += [*termwise.totals(w, high), *([FIRST] if len(mine) > 1 else [])]
        for triple in _triples(w, high, list(bodies)[:MAX_SUMS], wanted):
            vectors = [term("comprehension", high, v) for v in triple]
            with w.from_the_top():
                place = w.schema("sum_schwarz", n=high, **dict(zip("abc", vectors, strict=True)))
            if place is not None:
                found.append(place)
    return found


def _in_sight(w: Workbench, value: Poly) -> list[Range]:
    """The sums in a polynomial, those in its denominators too."""
    found = {r.atom: r for r in termwise.ranges(w, value)}
    for a in {a for m, _ in value.terms for a, _ in m if a.key.startswith("1/(")}:
        node = w.raising.atoms.get(a)
        if node is not None:
            below = w.facts.lowering.lower(node.args[-1])
            found |= {r.atom: r for r in termwise.ranges(w, below)}
    return sorted(found.values(), key=lambda r: r.atom.key)


def _triples(
    w: Workbench, high: Term, bodies: list[Term], wanted: list[Term]
) -> list[tuple[Term, Term, Term]]:
    """Terms a, b and c with a*b = c^2 at a fresh index, by the known equations."""
    names, type_ = w.fresh(1), term("index_type", high)
    found: list[tuple[Term, Term, Term]] = []
    try:
        with w.inside(names, (type_,)) as inner:
            at = {b: opened(instantiate(b, (name(names[0]),))) for b in bodies}
            for x in at.values():
                inner.learn(x)
            ideal = equations.known(inner, [term("eq", x, x) for x in at.values()])
            values = {b: ideal.reduce(inner.facts.lowering.lower(x))[0] for b, x in at.items()}
            for c in wanted:
                square = ideal.reduce(values[c] * values[c])[0] if c in values else None
                for a, b in combinations_with_replacement(values, 2):
                    if square is None or (a is c and b is c):
                        continue
                    if ideal.reduce(values[a] * values[b])[0] == square:
                        found.append((a, b, c))
    except PROBLEMS:
        pass
    return found


# ---------------------------------------------------------------- Jensen


def _jensen(w: Workbench, relation: Term, value: Poly) -> list[int]:
    """sum(w*log(y)) <= W*log(sum(w*y)/W) for the weights and logarithms in sight."""
    found: list[int] = []
    if next(_logarithms(value), None) is None and not _has_logarithms(w, value):
        return found
    for high, weight, inside in _candidates(w, relation, value):
        vectors = [term("comprehension", high, v) for v in (weight, inside)]
        with w.from_the_top():
            place = w.schema("mean_of_logarithms", n=high, w=vectors[0], x=vectors[1])
        if place is None:
            continue
        fact = w.facts.facts[place].relation
        equations.simplify_argument(w, fact.args[1].args[1])
        _simplify_logarithms(w, termwise.reduced(w, fact)[0])  # what that one is opened into
        found.append(place)
    return found


def _simplify_logarithms(w: Workbench, value: Poly) -> None:
    """Rewrite what the logarithms in a polynomial are of by the known equations."""
    for a, _ in _logarithms(value):
        node = w.raising.atoms.get(a)
        if node is not None:
            equations.simplify_argument(w, node)


def _has_logarithms(w: Workbench, value: Poly) -> bool:
    """Whether there are logarithms or exponentials in the terms of the sums."""
    bodies = [r.body for r in termwise.ranges(w, value)]
    return any(n.op in ("log", "exp") for n in postorder(bodies))


def _entries_below(w: Workbench, relation: Term, known: Term) -> None:
    """log(f(j)) <= log(sum(f)), for the logarithms in a known inequality and the indices in the
    one that is sought."""
    for r, _ in _logarithms_of_sums(w, termwise.reduced(w, known)[0]):
        for j in extremes.indices(w, relation, r.high):
            one = opened(instantiate(r.body, (j,)))
            if w.schema("sum_above_term", n=r.high, x=r.vector, j=j) is not None:
                w.schema("log_monotone", x=one, y=w.raising.scalar(r.atom))


def _candidates(w: Workbench, relation: Term, value: Poly) -> Iterator[tuple[Term, Term, Term]]:
    """Ranges, weights and what stands under the logarithms, each with the index open."""
    sums: dict[Term, list[tuple[Range, Poly]]] = {}
    for r in termwise.ranges(w, value):
        factor = _factor_of(value, r.atom)
        if factor is not None:
            sums.setdefault(r.high, []).append((r, factor))
    logs = _logarithms_of_sums(w, value)
    for high in dict.fromkeys([*sums, *(r.high for r, _ in logs)]):
        names, type_ = w.fresh(1), term("index_type", high)
        try:
            with w.inside(names, (type_,)) as inner:
                pairs = list(
                    _inside(
                        inner, names[0], sums.get(high, ()), [x for x in logs if x[0].high is high]
                    )
                )
        except PROBLEMS:
            continue
        for weight, inside in pairs:
            yield high, abstract(weight, names, (type_,)), abstract(inside, names, (type_,))


def _logarithms_of_sums(w: Workbench, value: Poly) -> list[tuple[Range, int]]:
    """The sums under logarithms, each with the sign of the logarithm's coefficient."""
    found = []
    for a, factor in _logarithms(value):
        node = w.raising.atoms.get(a)
        if node is None:
            continue
        inside = equations.known(w, [term("eq", node, node)]).reduce(
            w.facts.lowering.lower(node.args[0])
        )[0]
        if len(inside.terms) != 1:
            continue
        ((monomial, word),) = inside.terms
        if len(monomial) == 1 and monomial[0][1] == 1 and not word:
            r = termwise.ranged(w, monomial[0][0])
            if r is not None:
                sign_ = -1 if max(factor.terms.values()) < 0 else 1
                found.append((r, sign_))
    return found


def _inside(
    w: Workbench, index: str, sums: Any, logs: list[tuple[Range, int]]
) -> Iterator[tuple[Term, Term]]:
    """Weights and what stands under the logarithm, at one index."""
    j = name(index)
    groups: dict[Monomial, dict[Monomial, Poly]] = {}
    for r, factor in sums:
        at = opened(instantiate(r.body, (j,)))
        w.learn(at)
        terms = equations.known(w, [term("eq", at, at)]).reduce(w.facts.lowering.lower(at))[0]
        if len(terms.terms) != 1:
            continue
        (((monomial, word), c),) = terms.terms.items()
        if word:
            continue
        for a, n in monomial:
            node = w.raising.scalar(a)
            if n != 1 or index not in names_in(node) or node.op in ("exp", "div"):
                continue
            rest = divide(monomial, ((a, 1),)) or ()
            if any(b.key.startswith("log(") for b, _ in rest):
                continue
            group = groups.setdefault(rest, {})
            old = group.get(((a, 1),))
            more = factor.scale(c)
            group[(a, 1),] = more if old is None else old + more
    given = 0
    for weight, group in groups.items():
        weights = w.raising.poly(Poly(ONE, ONE, {(weight, ()): Fraction(1)}))
        for inside in _exponential(w, group):
            given += 1
            if given <= MAX_WEIGHTS:
                yield weights, inside
    for weight in list(groups)[:MAX_WEIGHTS]:
        for r, above in logs:
            if above > 0 and weight:
                weights = w.raising.poly(Poly(ONE, ONE, {(weight, ()): Fraction(1)}))
                yield weights, term("div", opened(instantiate(r.body, (j,))), weights)
    for (low, below), (high, above) in ((x, y) for x in logs for y in logs):
        if below < 0 < above and low.atom is not high.atom:
            one, two = (opened(instantiate(r.body, (j,))) for r in (low, high))
            yield one, term("div", two, one)


def _exponential(w: Workbench, group: dict[Monomial, Poly]) -> Iterator[Term]:
    """y with log(y) = -(c_1*u_1 + c_2*u_2 + ..), up to a factor: exponentials of the u, or
    what the u are logarithms of."""
    scale = next(iter(group.values()))
    top = next(iter(scale.terms.values()))
    factors: list[Term] = []
    for monomial, factor in group.items():
        ratio = _ratio(factor, scale)
        if ratio is None:
            continue
        power = -ratio if top > 0 else ratio
        node = w.raising.scalar(monomial[0][0])
        if node.op == "log" and abs(power) == 1:
            factors.append(node.args[0] if power > 0 else term("div", FIRST, node.args[0]))
        else:
            exponent = node if power == 1 else term("mul", rational(power), node)
            factors.append(term("exp", exponent))
    if factors:
        total = factors[0]
        for f in factors[1:]:
            total = term("mul", total, f)
        yield total


def _ratio(one: Poly, other: Poly) -> Fraction | None:
    """one/other, where it is a number."""
    if one.terms.keys() != other.terms.keys():
        return None
    place = next(iter(one.terms))
    ratio = one.terms[place] / other.terms[place]
    return ratio if other.scale(ratio) == one else None
