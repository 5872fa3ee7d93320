"""Untrusted. Inequalities between sums over one range, shown term by term.

What is to be non-negative is written as one sum, in which numbers that stand beside the sums are
spread over the terms: evenly, or by weights whose sum is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

from proofs.checker.algebra import ONE, Atom, Monomial, Poly, TooLarge, Word
from proofs.checker.definedness import NotDefined, bound_types
from proofs.checker.lowering import L2
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, names_in, postorder, rational, term
from proofs.search import equations, extremes, scalars, signs, trials
from proofs.search.ideal import Ideal, divide
from proofs.search.raising import NoTerm, entry_of_sum, opened, product_of, size_term
from proofs.search.softmaxes import EXTREME, is_vector
from proofs.search.workbench import Stuck, Workbench

MAX_DEPTH = 2  # of sums in sums
MAX_SPREADS = 6  # ways to spread a number over the terms of a sum
MAX_CHOICES = 4  # of the sums of a product that is taken term by term
MAX_TERMS = 24
FIRST = rational(1)
PROBLEMS = (NoTerm, TooLarge, Stuck, StatementError, NotDefined)


@dataclass(frozen=True, slots=True)
class Range:
    """A scalar that is a sum over 1..high of `body`, which has the index as bound variable 0."""

    atom: Atom
    high: Term
    body: Term

    @property
    def vector(self) -> Term:
        """The terms of the sum, as a vector."""
        return term("comprehension", self.high, self.body)


def ranged(w: Workbench, a: Atom) -> Range | None:
    """A scalar as a sum of symbolic length: it is one, or an inner product."""
    if a.is_complex:
        return None
    if a.word is None:
        node = w.raising.atoms.get(a)
        if node is None or node.op != "sum" or node.args[0] is not FIRST:
            return None
        return Range(a, node.args[1], opened(node.args[2]))
    if len(a.word) < 2 or a.word[0].rows != ONE or a.word[-1].cols != ONE:
        return None
    if a.word[0].cols.value is not None or any(L2 in (x.rows, x.cols) for x in a.word):
        return None
    try:
        vectors = _vectors(w, a.word)
    except NoTerm:
        return None
    if any(v.op == "unit" for v in vectors):
        return None
    high = size_term(a.word[0].cols)
    place = bound(0, term("index_type", high))
    parts = [entry_of_sum(v, (place,), w.facts.scope) for v in vectors if v.op != "ones"]
    return Range(a, high, product_of(parts or [FIRST]))


def _vectors(w: Workbench, word: Word) -> list[Term]:
    """The vectors whose entries are multiplied and added up in x.T*y or x.T*diag(y)*z."""
    first = w.raising.letter(word[0].T)
    if len(word) == 3:
        middle = w.raising.letter(word[1])
        if middle.op == "diag":
            return [first, middle.args[0], w.raising.letter(word[2])]
    return [first, w.raising.word(word[1:])]


def ranges(w: Workbench, value: Poly) -> list[Range]:
    """The sums of symbolic length in a polynomial."""
    atoms = sorted({a for m, _ in value.terms for a, _ in m}, key=lambda a: a.key)
    return [r for r in (ranged(w, a) for a in atoms) if r is not None]


def reduced(w: Workbench, relation: Term) -> tuple[Poly, Ideal]:
    """What an inequality says is not negative, by the known equations, and these."""
    sides = relation.args if relation.op in ("gt", "ge") else relation.args[::-1]
    ideal = equations.known(w, [relation])
    value, _ = ideal.reduce(w.facts.lowering.lower(term("sub", *sides)))
    return value, ideal


# ---------------------------------------------------------------- bounds


def bounds(w: Workbench, relation: Term) -> None:
    """f(j) <= sum(f), for the indices and the sums of non-negative terms that are in sight."""
    key = ("terms", id(relation))
    if key in w.instanced or not mentions_sums(relation):
        return
    w.instanced.add(key)
    _products(w, relation)
    if not any(n.op in INDEXED and not n.free for n in postorder([relation])):
        return
    value, _ = reduced(w, relation)
    vectors = [(r.high, r.body) for r in ranges(w, value)]
    for node in postorder([relation]):  # a norm may have been multiplied out
        if node.op == "norm2" and infer(node.args[0], w.facts.scope).cols == ONE:
            high = w.size(node.args[0])
            place = bound(0, term("index_type", high))
            at = entry_of_sum(node.args[0], (place,), w.facts.scope)
            vectors.append((high, term("pow", at, rational(2))))
    for high, body in vectors:
        for j in extremes.indices(w, relation, high):
            vector = term("comprehension", high, body)
            with w.from_the_top():
                place = w.schema("sum_above_term", n=high, x=vector, j=j)
            scalars.reduced(w, place)


def _products(w: Workbench, relation: Term) -> None:
    """Products whose factors are in order, those of ones among them."""
    nodes = [n for n in postorder([relation]) if n.op == "prod" and not n.free]
    vectors = [(n.args[1], n.args[2]) for n in nodes if n.args[0] is FIRST]
    for high in dict.fromkeys(high for high, _ in vectors):
        bodies = [opened(body) for other, body in vectors if other is high]
        for x, y in permutations([*bodies, FIRST], 2):
            if not _in_order(w, high, x, y):
                continue
            ends = [term("comprehension", high, b) for b in (x, y)]
            with w.from_the_top():
                place = w.schema("product_monotone", n=high, x=ends[0], y=ends[1])
            scalars.reduced(w, place)


def _in_order(w: Workbench, high: Term, x: Term, y: Term) -> bool:
    """Whether no point shows that 0 <= x <= y fails for an index."""
    index = term("index_type", high)
    known = (term("ge", x, rational(0)), term("le", x, y))
    return all(trials.is_possible(w, term("forall", index, r, data=(1, 0))) for r in known)


def mentions_sums(relation: Term) -> bool:
    """Whether there may be sums of symbolic length, or largest entries, in a relation."""
    nodes = postorder([relation])
    return any(n.op in SUMS or (n.op in EXTREME and len(n.args) == 1) for n in nodes)


INDEXED = frozenset({"entry", "member", "unit"})
SUMS = frozenset({"sum", "logsumexp", "softmax", "inner", "norm2", "transpose", "prod"})


# ---------------------------------------------------------------- term by term


def sign(w: Workbench, relation: Term) -> int | None:
    """left > right or left >= right, as a sum of terms that are positive, or not negative."""
    if w.sums >= MAX_DEPTH or not mentions_sums(relation):
        return None
    if not infer(relation.args[0], w.facts.scope).is_scalar:
        return None
    value, _ = reduced(w, relation)
    found = ranges(w, value)
    if len(value.terms) > MAX_TERMS or value.is_complex or not value.terms:
        return None
    if w.sums:  # only what depends on the index of the sum outside is a sum inside
        declared = {n for d in w.statement.declarations for n in d.names}
        found = [r for r in found if names_in(w.raising.scalar(r.atom)) - declared]
    for high in dict.fromkeys(r.high for r in found) or _sizes(w, relation):
        mine = {r.atom: r for r in found if r.high is high}
        for body in _bodies(w, value, high, mine):
            try:
                place = _summed(w, relation, high, body)
            except PROBLEMS:
                continue
            if place is not None:
                return place
    return None


def _summed(w: Workbench, relation: Term, high: Term, body: Term) -> int | None:
    """The relation from the sign of all terms of a sum."""
    rule = "sum_positive" if relation.op == "gt" else "sum_nonnegative"
    vector = term("comprehension", high, body)
    (type_,) = bound_types(body, 1)
    positive = term(relation.op, body, rational(0))
    if type_ is None or not trials.is_possible(w, term("forall", type_, positive, data=(1, 0))):
        return None
    w.sums += 1
    try:
        with w.from_the_top():
            place = w.schema(rule, n=high, x=vector)
    finally:
        w.sums -= 1
    if place is None:
        return None
    return signs.from_facts(w, relation, [["1", [place], None]])


def _bodies(w: Workbench, value: Poly, high: Term, mine: dict[Atom, Range]) -> Iterator[Term]:
    """Terms whose sum over 1..high is a polynomial in such sums, `mine`, if all goes well."""
    fixed: list[tuple[Monomial, Fraction]] = []
    moving: list[list[Term]] = []
    for (monomial, _), c in value.terms.items():
        choices = [a for a, _ in monomial if a in mine]
        if not choices:
            fixed.append((monomial, c))
            continue
        moving.append([_part(w, monomial, c, mine[a]) for a in choices])
    spreads = list(_spreads(w, high, mine, value))[:MAX_SPREADS] if fixed else []
    numbers = [w.raising.poly(Poly(ONE, ONE, {(m, ()): c})) for m, c in fixed]
    ways = [tuple(spread for _ in fixed) for spread in spreads] or [()]
    if len(fixed) == 2:  # each by weights of its own
        ways += [(x, y) for x in spreads for y in spreads if x is not y]
    for way in ways:
        constant = [term("mul", x, y) for x, y in zip(numbers, way, strict=True)]
        for count, choice in enumerate(product(*moving)):
            if count >= MAX_CHOICES:
                break
            total: Term | None = None
            for part in (*choice, *constant):
                total = part if total is None else term("add", total, part)
            if total is not None:
                yield total


def _part(w: Workbench, monomial: Monomial, c: Fraction, r: Range) -> Term:
    """A monomial with the terms of one of its sums in place of that."""
    rest = divide(monomial, ((r.atom, 1),)) or ()
    return term("mul", w.raising.poly(Poly(ONE, ONE, {(rest, ()): c})), r.body)


def _sizes(w: Workbench, relation: Term) -> list[Term]:
    """The sizes of the vectors whose largest entry an inequality without sums speaks of."""
    nodes = [n for n in postorder([relation]) if is_vector(w, n) and not n.free]
    found = dict.fromkeys(w.size(n.args[0]) for n in nodes)
    return [high for high in found if next(totals(w, high), None) is not None]


def _divides(value: Poly, inverse: Poly) -> bool:
    """Whether a reciprocal stands in a polynomial."""
    mine = {a for m, _ in inverse.terms for a, _ in m}
    return any(a in mine for m, _ in value.terms for a, _ in m)


def _spreads(w: Workbench, high: Term, mine: dict[Atom, Range], value: Poly) -> Iterator[Term]:
    """Weights whose sum over 1..high is 1: by a known equation, evenly, as parts of a sum that is
    divided by."""
    known = list(totals(w, high))
    yield from known
    yield term("div", FIRST, high)
    if len(known) == 2:
        yield term("div", term("add", *known), rational(2))
    for r in mine.values():
        node = w.raising.scalar(r.atom)
        inverse = w.facts.lowering.lower(quotient := term("div", FIRST, node))
        if _divides(value, inverse):
            yield term("mul", r.body, quotient)


def totals(w: Workbench, high: Term) -> Iterator[Term]:
    """Weights whose sum over 1..high is known to be 1, or another number by which they are
    divided."""
    for fact in list(w.facts.facts):
        if fact.relation.op != "eq" or not infer(fact.relation.args[0], w.facts.scope).is_scalar:
            continue
        value = w.facts.difference(fact.relation)
        moving = [(m, c) for (m, word), c in value.terms.items() if m]
        number = value.terms.get(((), ()))
        if len(moving) != 1 or number is None or len(value.terms) != 2:
            continue
        ((monomial, c),) = moving
        r = ranged(w, monomial[0][0])
        if len(monomial) == 1 and monomial[0][1] == 1 and r is not None and r.high is high:
            scale = -c / number
            yield r.body if scale == 1 else term("mul", rational(scale), r.body)
