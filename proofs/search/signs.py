"""Untrusted. Signs of scalars."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from proofs.checker.algebra import ONE, Atom, Poly, multiply
from proofs.checker.definedness import BRANCH_POINT, ZERO
from proofs.language.infer import infer
from proofs.language.tree import Term, names_in, postorder, rational, term
from proofs.search import (
    block_determinants,
    denominators,
    determinants,
    equations,
    lambert,
    quantified,
)
from proofs.search.forms import diagonal_sign, norm_positive, sign_by_form
from proofs.search.ideal import divide
from proofs.search.linear import combination
from proofs.search.raising import NoTerm, factors_of, product_of, size_term, size_terms
from proofs.search.workbench import ARITHMETIC, Workbench

MAX_REPAIRS = 7
MAX_LINEAR = 8  # terms of a value or an inequality in linear arithmetic
MAX_COLUMNS = 60  # inequalities, the latest
MAX_TRIES = 30  # combinations of known inequalities
MAX_PAIRS = 60  # completion steps on the way to a sign


def sign(w: Workbench, relation: Term) -> int | None:
    """left > right or left >= right, from the signs of monomials, factors or numerators."""
    difference = w.facts.difference(relation)
    if not difference.is_scalar:
        return None
    if (
        relation.args[1] is BRANCH_POINT
        and (found := lambert.on_the_branch(w, relation)) is not None
    ):
        return found
    if relation.args[1] is ZERO and sign_by_form(w, relation.args[0]) is not None:
        found = w.find(relation)
        if found is not None:
            return found
    terms = nonnegative(w, difference, relation.op == "gt")
    rows: list[Any] = []
    if terms is None and says_nothing(w, relation):
        return None
    if terms is None:
        product = denominators.factored(w, relation)
        if product is None and len(difference.terms) > 1:
            product = denominators.divided(w, relation, difference)
        if product is not None:
            return product
        found = _reduced_sign(w, relation, difference)
        if found is None:
            product = denominators.split(w, relation, difference)
            return denominators.cleared(w, relation, difference) if product is None else product
        terms, rows = found
    return w.positive(relation, terms, rows)


def says_nothing(w: Workbench, relation: Term) -> bool:
    """Whether a relation is about the sign of a name, or a power of it, on which no known number
    depends, save derivatives: it isn't worth a search, and comes up for each `t*V` in sight."""
    x, zero = relation.args if relation.args[1] is ZERO else relation.args[::-1]
    x = x.args[0] if x.op == "pow" else x
    if x.op != "name" or zero is not ZERO:
        return False
    square = w.facts.lowering.lower(term("mul", x, x))
    return not any(_mentions(w, fact.relation, x, square) for fact in w.facts.facts)


def _mentions(w: Workbench, known: Term, x: Term, square: Poly) -> bool:
    """Whether a fact is about a number that depends on the name x, other than by a matrix."""
    if known.op not in ("eq", "ne", "lt", "le", "gt", "ge", "positive_definite"):
        return False
    if x.data not in names_in(known) or not infer(known.args[0], w.facts.scope).is_scalar:
        return False
    if any(n.op == "deriv" for n in postorder([known])):
        return False
    value = w.facts.lowering.lower(term("sub", *known.args) if known.args[1:] else known.args[0])
    stack = [w.raising.atoms.get(a) for m, _ in value.terms for a, _ in m if a.word is None]
    while stack:
        node = stack.pop()
        if node is None or node is x:
            return not (known.op == "ge" and value == square)
        stack += [a for a in node.args if a.free or infer(a, w.facts.scope).is_scalar]
    return False


def follows(w: Workbench, relation: Term) -> bool:
    """Whether an inequality is a combination of known ones, or seen from its monomials' signs."""
    if w.find(relation) is not None:
        return True
    difference, strict = w.facts.difference(relation), relation.op == "gt"
    terms = _linear(w, difference, strict)
    terms = _monomials(w, difference, strict) if terms is None else terms
    if terms is None:
        return False
    return w.positive(relation, terms) is not None


def _reduced_sign(w: Workbench, relation: Term, difference: Poly) -> tuple[Any, Any] | None:
    """The signs of what a difference is equal to by the known equations."""
    ideal = equations.known(w, [relation])
    tried = difference.key
    for _ in range(MAX_PAIRS):
        reduced, used = ideal.reduce(difference)
        if reduced.key != tried:
            tried = reduced.key
            terms = nonnegative(w, reduced, relation.op == "gt")
            if terms is not None:
                return terms, w.rows(used)
        if not ideal.step():
            return None
    return None


def nonnegative(w: Workbench, value: Poly, strict: bool) -> list[Any] | None:
    """Terms of a `positive` step that add up to `value`."""
    found = _linear(w, value, strict)
    return _nonnegative(w, value, strict, MAX_REPAIRS, [MAX_TRIES]) if found is None else found


def _linear(w: Workbench, value: Poly, strict: bool) -> list[Any] | None:
    """A value as a sum of multiples of known inequalities and a constant."""
    if not value.terms or len(value.terms) > MAX_LINEAR:
        return None
    places: list[int] = []
    columns: list[dict[Any, Fraction]] = []
    for place, fact in enumerate(w.facts.facts):
        excess = excess_of(w, fact.relation)
        if excess is not None and len(excess.terms) <= MAX_LINEAR:
            places.append(place)
            columns.append(excess.terms)
    places, columns = places[-MAX_COLUMNS:], columns[-MAX_COLUMNS:]
    one: dict[Any, Fraction] = {((), ()): Fraction(1)}
    found = combination([*columns, one], value.terms)
    if found is None:
        return None
    rows = [[p] for p in places] + [[]]
    sure = any(all(w.facts.facts[p].relation.op in ("gt", "lt") for p in rows[i]) for i in found)
    if strict and not sure:
        return None
    return [[str(factor), rows[i], None] for i, factor in found.items()]


def excess_of(w: Workbench, relation: Term) -> Poly | None:
    """What an inequality between numbers says is not negative."""
    if relation.op not in ("gt", "ge", "lt", "le"):
        return None
    sides = relation.args if relation.op in ("gt", "ge") else tuple(reversed(relation.args))
    value = w.facts.lowering.lower(term("sub", *sides))
    return value if value.is_scalar else None


def from_facts(w: Workbench, relation: Term, rows: list[list[Any]]) -> int | None:
    """An inequality as a sum of products of known ones, up to the known equations.

    Args:
        w: the proof under construction.
        relation: left > right or left >= right, and the other way.
        rows: `[coefficient, places of inequalities, None]` for each product.
    """
    cited = [w.facts.facts[p].relation for _, places, _ in rows for p in places]
    ideal = equations.known(w, [relation, *cited])
    gap = excess_of(w, relation)
    for coefficient, places, _ in rows:
        product = Poly(ONE, ONE, {((), ()): Fraction(coefficient)})
        for place in places:
            excess = excess_of(w, w.facts.facts[place].relation)
            if excess is None:
                return None
            product = product * excess
        gap = None if gap is None else gap - product
    return None if gap is None else w.closed(relation, rows, gap, ideal)


def _nonnegative(
    w: Workbench, value: Poly, strict: bool, depth: int, tries: list[int]
) -> list[Any] | None:
    """The monomials as they are, else with a known inequality taken off before."""
    if depth == 0 or tries[0] == 0:
        return None
    tries[0] -= 1
    negative = [(m, c) for (m, _), c in value.terms.items() if monomial(w, m, c) is None]
    if not negative:
        return _monomials(w, value, strict)
    # One that is negative for sure is accounted for first.
    negative.sort(key=lambda item: item[1] > 0 or monomial(w, item[0], -item[1]) is None)
    repairs = [r for r in _repairs(w, value, negative) if len(r[1].terms) <= len(value.terms) + 3]
    for row, rest, is_strict in sorted(repairs, key=lambda r: _bulk(r[1])):
        terms = _nonnegative(w, rest, strict and not is_strict, depth - 1, tries)
        if terms is not None:
            return [row, *terms]
    return None


def _bulk(value: Poly) -> tuple[int, int]:
    """How many terms a value has, and their degrees in all."""
    return len(value.terms), sum(n for m, _ in value.terms for _, n in m)


def _monomials(w: Workbench, value: Poly, strict: bool) -> list[Any] | None:
    """A term for each monomial of a value."""
    terms: list[Any] = []
    sure = False
    for (powers, _), coefficient in value.terms.items():
        row = monomial(w, powers, coefficient)
        if row is None:
            return None
        terms.append(row)
        sure = sure or (
            row[2] is None
            and all(p == ARITHMETIC or w.facts.facts[p].relation.op in ("gt", "lt") for p in row[1])
        )
    return terms if sure or not strict else None


def _repairs(w: Workbench, value: Poly, negative: list[Any]) -> Iterator[tuple[Any, Poly, bool]]:
    """Take off a multiple of a known inequality that accounts for a bad monomial."""
    for place, fact in enumerate(list(w.facts.facts)):
        op, excess = fact.relation.op, excess_of(w, fact.relation)
        if excess is None or len(excess.terms) < 2:
            continue
        for powers, coefficient in negative:
            for (m, _), c in excess.terms.items():
                rest = divide(powers, m)
                if rest is None or (c < 0) != (coefficient < 0):
                    continue
                factor = coefficient / c
                row = monomial(w, rest, factor)
                if row is None or row[2] is not None:
                    continue
                multiple = Poly(ONE, ONE, {(rest, ()): factor}) * excess
                strict = op in ("gt", "lt") and all(
                    w.facts.facts[p].relation.op in ("gt", "lt") for p in row[1]
                )
                yield [row[0], [*row[1], place], None], value - multiple, strict


def monomial(w: Workbench, powers: Any, coefficient: Fraction) -> list[Any] | None:
    """coefficient*monomial >= 0 as a row `[coefficient, facts, square]`."""
    if coefficient < 0:
        return None
    state, found = w.monomials.get(powers, (None, None))
    if state != w.state:  # something has become known, or may be tried again
        found = _signed(w, powers)
        w.monomials[powers] = (w.state, found)
    return None if found is None else [str(coefficient), list(found[0]), found[1]]


def _signed(w: Workbench, powers: Any) -> tuple[list[int], int | None] | None:
    """A monomial as a product of known inequalities with a square, which it may lack."""
    facts: list[int] = []
    root: Any = ()
    for a, power in powers:
        known = atom_sign(w, a)
        if known is not None:
            facts += [known] * power
        elif power % 2 == 0 and (square := _square_sign(w, a)) is not None:
            facts += [square] * (power // 2)
        elif power % 2 == 0 and not a.is_complex:
            root = multiply(root, ((a, power // 2),))[1]
        else:
            return None
    square = None
    if root:
        try:
            square = w.place(w.raising.poly(Poly(ONE, ONE, {(root, ()): Fraction(1)})))
        except NoTerm:
            return None
    return facts, square


def atom_sign(w: Workbench, a: Atom) -> int | None:
    """The place of a fact a > 0 or a >= 0."""
    if a.is_complex:
        return None
    try:
        node = w.raising.scalar(a)
    except NoTerm:
        return None
    for op in ("gt", "ge"):
        relation = term(op, node, ZERO)
        found = w.find(relation)
        if found is not None and found != ARITHMETIC:
            return w.stated(relation, found)
    key = ("sign", a.key)
    if key in w.failed:
        return None
    w.failed.add(key)
    place = _shown_sign(w, node)
    for op in ("gt", "ge"):
        if place is None:
            place = quantified.instantiated(w, term(op, node, ZERO))
    if place is not None:
        w.failed.discard(key)
    return place


def _square_sign(w: Workbench, a: Atom) -> int | None:
    """The place of a fact a^2 > 0, for a number that is known not to be zero."""
    try:
        node = w.raising.scalar(a)
    except NoTerm:
        return None
    known = term("ne", node, ZERO)
    if a.is_complex or (w.attempt(known) if node.op == "det" else w.find(known)) is None:
        return None
    return w.schema("square_positive", x=node)


def _shown_sign(w: Workbench, node: Term) -> int | None:
    """a > 0 or a >= 0 by the rule for what a is."""
    op, args = node.op, node.args
    if op == "exp":
        return w.schema("exp_positive", x=args[0])
    if op == "entry" and len(args) == 3 and args[1] is args[2]:
        return diagonal_sign(w, node)
    if op == "constant" and node.data == "pi":
        return w.schema("pi_positive")
    if op == "constant" and node.data == "e":
        above = w.schema("e_above_two")
        return None if above is None else _raised(w, term("gt", node, ZERO), above, 2)
    if op == "abs":
        if w.attempt(term("ne", args[0], ZERO)) is not None:
            return w.schema("abs_positive", x=args[0])
        return w.schema("abs_nonnegative", x=args[0])
    if op == "log":  # only where it is plain: logarithms are many, and most of any sign
        if _is_plainly_above(w, args[0], rational(1)):
            return w.schema("log_positive", x=args[0])
        above = term("ge", args[0], rational(1))
        known = w.attempt(above) if args[0].op == "det" else w.find(above)
        return None if known is None else w.schema("log_nonnegative", x=args[0])
    if op == "pow":
        found = w.schema("power_positive", x=args[0], p=args[1])
        is_natural = infer(args[1], w.facts.scope).domain == "dimension"
        if found is None and is_natural:
            return w.schema("power_nonnegative", x=args[0], p=args[1])
        return found
    if op == "div" and w.attempt(term("gt", args[1], ZERO)) is not None:
        return w.schema("reciprocal_positive", x=args[1])
    if op == "lambertw":
        if w.attempt(term("gt", args[0], ZERO)) is not None:
            return w.schema("lambertw_positive", x=args[0])
        return w.schema("lambertw_nonnegative", x=args[0])
    if op == "sqrt":
        if w.attempt(term("gt", args[0], ZERO)) is not None:
            return w.schema("sqrt_positive", x=args[0])
        return w.schema("sqrt_nonnegative", x=args[0])
    if op in ("sum", "prod"):
        return _ranged_sign(w, node)
    if op == "det":
        found = block_determinants.sign(w, node)
        return determinants.sign(w, node) if found is None else found
    if op == "entry":
        return _entry_sign(w, node)
    if op == "norm2":
        kind = infer(args[0], w.facts.scope)
        sizes = size_terms(kind)
        found = norm_positive(w, args[0])
        return w.schema("norm_nonnegative", A=args[0], **sizes) if found is None else found
    if op == "name" and infer(node, w.facts.scope).domain in ("dimension", "index"):
        at_least_one = w.find(term("ge", node, term("rational", data="1")))
        if at_least_one is not None:
            return _raised(w, term("gt", node, ZERO), at_least_one, 1)
    return None


def _is_plainly_above(w: Workbench, x: Term, y: Term) -> bool:
    """Whether x > y is known, or x - y is a sum of products of what is positive."""
    relation = term("gt", x, y)
    if w.find(relation) is not None:
        return True
    terms = _monomials(w, w.facts.difference(relation), strict=True)
    return terms is not None and w.positive(relation, terms) is not None


def _raised(w: Workbench, goal: Term, place: int, by: int) -> int | None:
    """x > 0 from x >= by, or x > by."""
    return w.positive(goal, [["1", [place], None], [str(by), [], None]])


def _ranged_sign(w: Workbench, node: Term) -> int | None:
    """A sum or product over 1..n of positive terms."""
    low, high, body = node.args
    if low.data != "1":
        return None
    vector = term("comprehension", high, body)
    if node.op == "prod":
        return w.schema("product_positive", n=high, x=vector)
    found = w.schema("sum_positive", n=high, x=vector)
    found = _weighted_sign(w, high, body) if found is None else found
    return w.schema("sum_nonnegative", n=high, x=vector) if found is None else found


def _weighted_sign(w: Workbench, high: Term, body: Term) -> int | None:
    """A sum over 1..n of positive terms with weights that are not all zero."""
    parts = factors_of(body)
    for i, weight in enumerate(parts):
        if weight.op in ("entry", "member") and len(parts) > 1:
            rest = product_of([*parts[:i], *parts[i + 1 :]])
            weights, terms = (term("comprehension", high, b) for b in (weight, rest))
            found = w.schema("mean_positive", n=high, w=weights, x=terms)
            if found is not None:
                return found
    return None


def _entry_sign(w: Workbench, node: Term) -> int | None:
    """An entry of a softmax, or of a vector all of whose entries are known to be positive."""
    vector, index = node.args[0], node.args[1:]
    if vector.op == "softmax":
        rows = infer(vector, w.facts.scope).rows
        return w.schema("softmax_positive", n=size_term(rows), x=vector.args[0], j=index[0])
    return None
