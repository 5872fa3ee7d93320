"""Untrusted. A polynomial inequality from squares and products of known inequalities.

In the ring of real atoms modulo the known equations, p >= 0 is shown as p = s_0 + sum s_i*g_i
with sums of squares s_i and products g_i of known inequalities: by linear arithmetic where squares
of a few simple roots will do, else by a semidefinite program whose solution is made exact. Where
this fails, q*p is tried with a positive q.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from proofs.checker.algebra import ONE, Atom, Monomial, Poly, multiply
from proofs.checker.definedness import ZERO
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import denominators, equations, samples, signs, tangents
from proofs.search.gram import Block, Polynomial, Squares, certify
from proofs.search.ideal import Ideal
from proofs.search.linear import combination
from proofs.search.raising import NoTerm
from proofs.search.workbench import ARITHMETIC, Workbench

MAX_ATOMS = 6
MAX_DEGREE = 10
MAX_TERMS = 80
MAX_GIVEN = 10  # known inequalities
MAX_PRODUCTS = 60
MAX_BASIS = 36
MAX_PROGRAMS = 24  # semidefinite ones, for one statement
MAX_COLUMNS = 150  # of the linear program
MAX_TABLE = 2500
MAX_LEVEL = 4  # of relations under way, for one that isn't the goal to be tried
# How many known inequalities are multiplied, and by how much the degree may rise above the goal's.
TRIES = ((1, 0), (2, 0), (1, 2), (2, 2), (3, 0))
ON_THE_WAY = ((1, 0),)
IN_CASES = ((1, 0), (2, 0), (3, 0))
NUMBERS = {"name", "rational", "constant", "lambertw", "ge", "gt"}
PLAIN = NUMBERS | samples.FUNCTIONS.keys()
CONSTANT: Monomial = ()


def sign(w: Workbench, relation: Term) -> int | None:
    """left > right or left >= right, from squares and known inequalities."""
    difference = w.facts.difference(relation)
    if not _is_modest(difference) or w.level > MAX_LEVEL:
        return None
    problem = Problem(w, relation, difference)
    if problem.is_plausible:
        for factors, more in ON_THE_WAY if w.level > 2 else IN_CASES if w.cases else TRIES:
            found = problem.attempt(factors, more)
            if found is not None:
                return found
    else:
        w.failed.add(("implausible", difference.key))
    if w.level < 3 and problem.widen() and problem.is_plausible:
        for factors in (1, 2):
            found = problem.attempt(factors, 2)
            if found is not None:
                return found
    return None


def linear(w: Workbench, relation: Term) -> int | None:
    """The same by linear arithmetic alone, with at most two known inequalities in a product."""
    difference = w.facts.difference(relation)
    if not _is_modest(difference) or w.level > MAX_LEVEL:
        return None
    problem = Problem(w, relation, difference)
    for factors in (1, 2) if problem.is_plausible else ():
        found = problem.attempt(factors, 0, by_programs=False)
        if found is not None:
            return found
    return None


def is_plain(w: Workbench, relation: Term) -> bool:
    """Whether an inequality speaks of numbers and their tangents functions alone."""
    return all(n.op in PLAIN for n in postorder([relation]) if not n.op.endswith("_type"))


def _is_modest(value: Poly) -> bool:
    atoms = {a for m, _ in value.terms for a, _ in m}
    degree = max((sum(n for _, n in m) for m, _ in value.terms), default=0)
    return (
        value.is_scalar
        and not value.is_complex
        and 0 < len(atoms) <= MAX_ATOMS
        and degree <= MAX_DEGREE
        and len(value.terms) <= MAX_TERMS
    )


def multiplied(w: Workbench, relation: Term) -> int | None:
    """p > 0 or p >= 0 from that of q*p, for a q that is positive."""
    difference = w.facts.difference(relation)
    key = ("multiplied", difference.key)
    if {("multiplier",), key, ("implausible", difference.key)} & w.failed:
        return None
    if w.cases or w.level > 2 or not _is_modest(difference):
        return None
    problem = Problem(w, relation, difference)
    if not problem.is_plausible:
        return None
    w.failed |= {("multiplier",), key}
    try:
        p = w.raising.poly(problem.difference)
        for q in _multipliers(w, problem.atoms):
            if w.attempt(term("gt", q, ZERO)) is None:
                continue
            wanted = term(relation.op, term("mul", q, p), ZERO)
            product = Problem(w, wanted, w.facts.difference(wanted))
            found = product.attempt(1, 0)
            found = product.attempt(2, 0) if found is None else found
            if found is None:
                continue
            rule = "positive_factor" if relation.op == "gt" else "nonnegative_factor"
            place = w.schema(rule, x=q, y=p)
            if place is not None:
                return w.stated(relation, place)
    finally:
        w.failed.discard(("multiplier",))
    return None


def _multipliers(w: Workbench, atoms: list[Atom]) -> Iterator[Term]:
    """1 + x^2 + y^2 + .. and x + y + .., for the atoms of a polynomial."""
    names = [w.raising.scalar(a) for a in atoms]
    squares = rational(1)
    total: Term | None = None
    for x in names:
        squares = term("add", squares, term("pow", x, rational(2)))
        total = x if total is None else term("add", total, x)
    yield squares
    if total is not None and len(names) > 1:
        yield total


@dataclass(frozen=True)
class Given:
    """A product of known inequalities that is not negative; none of them: 1."""

    places: tuple[int, ...]
    value: Polynomial
    strict: bool


class Problem:
    """One inequality, with what is known of its atoms."""

    def __init__(self, w: Workbench, relation: Term, difference: Poly) -> None:
        self.w, self.relation, self.difference = w, relation, difference
        self.strict = relation.op in ("gt", "lt")
        self.ideal: Ideal = equations.known(w, [relation])
        tangents.gather(w, relation, _atoms(self.reduced(difference)))
        self.ideal = equations.known(w, [relation])  # what the bounds brought is known too
        self._normal: dict[Monomial, Polynomial] = {}
        self._products: dict[tuple[Monomial, Monomial], Polynomial] = {}
        self.target = self.reduced(difference)
        self.atoms = _atoms(self.target)
        self.is_tied = self._is_tied()
        self.degree = max((_degree(m) for m in self.target), default=0)
        self.given = self._known()
        self.is_plausible = self._survives_samples()

    # ------------------------------------------------------------ the ring

    def reduced(self, value: Poly) -> Polynomial:
        """A scalar modulo the known equations."""
        rest, _ = self.ideal.reduce(value)
        return {m: c for (m, _), c in rest.terms.items()}

    def _is_tied(self) -> bool:
        """Whether a known equation speaks of the atoms alone."""
        pairs = combinations_with_replacement(self.atoms, 2)
        return any(len(self.product(((a, 1),), ((b, 1),))) != 1 for a, b in pairs) or any(
            not r.lead[1] and r.lead[0] and {a for a, _ in r.lead[0]} <= set(self.atoms)
            for r in self.ideal.relations
        )

    def widen(self) -> bool:
        """Take in the atoms that known equations tie to these; whether there were any."""
        mine = set(self.atoms)
        near: set[Atom] = set()
        for r in self.ideal.relations:
            atoms = {a for m, w in r.value.terms if not w for a, _ in m}
            if r.value.is_scalar and not r.value.is_complex and mine & atoms:
                near |= {a for a in atoms - mine if self.product(((a, 1),), ()) == {((a, 1),): 1}}
        if not near or len(near) + len(mine) > MAX_ATOMS:
            return False
        self.atoms = sorted(mine | near, key=lambda a: a.key)
        self.given = self._known()
        self.is_tied = True
        self.is_plausible = self._survives_samples()
        return True

    def times(self, x: Polynomial, y: Polynomial) -> Polynomial:
        """A product modulo the known equations."""
        total: Polynomial = {}
        for m1, c1 in x.items():
            for m2, c2 in y.items():
                factor = c2 if c1 == 1 else c1 if c2 == 1 else c1 * c2
                for n, c in self.product(m1, m2).items():
                    old = total.get(n)
                    value = factor if c == 1 else factor * c
                    value = value if old is None else old + value
                    if value:
                        total[n] = value
                    else:
                        total.pop(n, None)
        return total

    def product(self, one: Monomial, two: Monomial) -> Polynomial:
        """The product of two monomials modulo the known equations."""
        known = self._products.get((one, two))
        if known is None:
            _, monomial = multiply(one, two)
            known = self._normal.get(monomial)
            if known is None:
                known = self.reduced(Poly(ONE, ONE, {(monomial, ()): Fraction(1)}))
                self._normal[monomial] = known
            self._products[one, two] = known
        return known

    # ------------------------------------------------------------ what is known

    def _known(self) -> list[Given]:
        """The inequalities that speak of the atoms of this one alone, the latest first."""
        w = self.w
        for a in self.atoms:
            signs.atom_sign(w, a)
        self._nonzero_squares()
        mine = set(self.atoms)
        found: dict[str, Given] = {}
        for place, fact in enumerate(w.facts.facts):
            excess = signs.excess_of(w, fact.relation)
            if excess is None or excess.is_complex or len(excess.terms) > MAX_TERMS:
                continue
            strict = fact.relation.op in ("gt", "lt")
            places, value = self._cleared(place, excess)
            if not _atoms(value) or not set(_atoms(value)) <= mine or len(value) > MAX_TERMS:
                continue
            old = found.get(excess.key)
            if old is None or (strict and not old.strict):
                found[excess.key] = Given(places, value, strict)
        telling = [g for g in found.values() if not _follows(g, found.values())]
        return sorted(telling, key=lambda g: (_top(g.value), len(g.value)))[:MAX_GIVEN]

    def _cleared(self, place: int, excess: Poly) -> tuple[tuple[int, ...], Polynomial]:
        """A known inequality, multiplied by positive denominators that this one doesn't hold."""
        value = self.reduced(excess)
        foreign = set(_atoms(value)) - set(self.atoms)
        places = [place]
        for q, denominator in denominators.reciprocals(self.w, excess) if foreign else ():
            positive = self.w.find(term("gt", denominator, ZERO))
            if q in foreign and positive is not None and positive != ARITHMETIC:
                power, excess = denominators.numerator(self.w, excess, q, denominator)
                places += [positive] * power
        return tuple(places), value if len(places) == 1 else self.reduced(excess)

    def _nonzero_squares(self) -> None:
        """x^2 > 0 for what is known not to be zero."""
        w, mine = self.w, set(self.atoms)
        for fact in list(w.facts.facts):
            if fact.relation.op != "ne":
                continue
            value = w.facts.difference(fact.relation)
            if value.is_scalar and not value.is_complex and fact.relation.args[1] is ZERO:
                atoms = {a for m, _ in value.terms for a, _ in m}
                if atoms and atoms <= mine and len(value.terms) < 4:
                    w.schema("square_positive", x=fact.relation.args[0])

    def products(self, factors: int, limit: int) -> list[Given]:
        """Products of so many known inequalities at most, 1 first, no degree above the limit."""
        found = [Given((), {CONSTANT: Fraction(1)}, True)]
        for count in range(1, factors + 1):
            for some in combinations_with_replacement(self.given, count):
                if len(found) >= MAX_PRODUCTS:
                    return found
                # The square of a product is among the squares beside the others.
                if len({g.places for g in some}) < count:
                    continue
                value: Polynomial = {CONSTANT: Fraction(1)}
                for g in some:
                    value = self.times(value, g.value)
                if value and _top(value) <= limit:
                    places = tuple(p for g in some for p in g.places)
                    found.append(Given(places, value, all(g.strict for g in some)))
        return found

    def _survives_samples(self) -> bool:
        """Whether no point that satisfies what is known makes this inequality false."""
        given = [(g.value, g.strict) for g in self.given]
        found: Iterable[dict[Atom, float]] = samples.points(self.atoms)
        if self.is_tied:
            try:
                found = samples.images({a: self.w.raising.scalar(a) for a in self.atoms})
            except NoTerm:
                return True
        mine = set(self.atoms)
        equal = [{m: c for (m, _), c in r.value.terms.items()} for r in self.ideal.relations]
        equal = [e for e in equal if set(_atoms(e)) <= mine] if self.is_tied else []
        return not samples.contradicts(self.target, self.strict, given, equal, found)

    # ------------------------------------------------------------ proofs

    def attempt(self, factors: int, more: int, by_programs: bool = True) -> int | None:
        """A proof from products of so many known inequalities at most, the degree raised."""
        if factors > 1 and len(self.given) < factors:
            return None
        if more and not self.is_tied and not self.given:
            return None
        limit = self.degree + self.degree % 2 + more
        given = self.products(factors, limit)
        bases = [self._basis(g, limit) for g in given]
        plain = [[m for m in basis if not m] for basis in bases]
        found = self._linear(given, plain)
        found = self._linear(given, bases) if found is None else found
        place = None if found is None else self._state(given, found)
        # Squares that may vanish together show no strict inequality, even where they add up to it;
        # among many atoms that is the rule, and a program seldom finds more.
        is_small = found is None or (not self.is_tied and len(self.atoms) <= 2)
        if place is None and by_programs and is_small:
            found = self._semidefinite(given, bases)
            place = None if found is None else self._state(given, found)
        return place

    def _basis(self, given: Given, limit: int) -> list[Monomial]:
        """Monomials that a root beside a product of inequalities may be made of."""
        half = (limit - _top(given.value)) // 2
        more = limit - self.degree
        bounds = {
            a: more + max((dict(m).get(a, 0) for m in self.target), default=0) for a in self.atoms
        }
        least = 0
        everything = [self.target, *(g.value for g in self.given)]
        if not self.is_tied and all(_is_homogeneous(p) for p in everything):
            if (self.degree - _top(given.value)) % 2:
                return []
            half = least = (self.degree - _top(given.value)) // 2
        found: list[Monomial] = []
        for exponents in _exponents(len(self.atoms), half):
            if sum(exponents) < least:
                continue
            pairs = zip(self.atoms, exponents, strict=True)
            monomial = tuple((a, n) for a, n in pairs if n)
            if all(2 * n <= bounds[a] + bounds[a] % 2 for a, n in monomial) and (
                self.product(monomial, CONSTANT) == {monomial: 1}
            ):
                found.append(monomial)
        return found

    def _linear(self, given: list[Given], bases: list[list[Monomial]]) -> list[Squares] | None:
        """With the squares of monomials, sums and differences of two as the only squares."""
        columns: list[Polynomial] = []
        meaning: list[tuple[int, Polynomial]] = []
        for k, (g, basis) in enumerate(zip(given, bases, strict=True)):
            roots: list[Polynomial] = [{m: Fraction(1)} for m in basis]
            if not g.places:
                pairs = [(m, n) for i, m in enumerate(basis) for n in basis[:i]]
                roots += [{m: Fraction(1), n: Fraction(s)} for m, n in pairs for s in (1, -1)]
            for root in roots:
                meaning.append((k, root))
        if len(meaning) > MAX_COLUMNS:
            return None
        for k, root in meaning:
            columns.append(self.times(given[k].value, self.times(root, root)))
        rows = {m for c in (*columns, self.target) for m in c}
        if not columns or len(rows) * len(columns) > MAX_TABLE:
            return None
        found = combination(columns, self.target)
        if found is None:
            return None
        return [Squares(meaning[i][0], c, meaning[i][1]) for i, c in found.items()]

    def _semidefinite(
        self, given: list[Given], bases: list[list[Monomial]]
    ) -> list[Squares] | None:
        w = self.w
        if w.programs[0] >= MAX_PROGRAMS:
            return None
        blocks = [
            Block(g.value, [{m: Fraction(1)} for m in basis])
            for g, basis in zip(given, bases, strict=True)
        ]
        blocks[0] = Block(blocks[0].multiplier, self._useful(given, bases))
        if any(len(b.basis) > MAX_BASIS for b in blocks):
            return None
        if self.strict:  # what makes it strict has a coefficient of its own
            one: Polynomial = {CONSTANT: Fraction(1)}
            blocks += [Block(g.value, [one] if g.strict else []) for g in given]
        w.programs[0] += 1
        found = certify(
            self.target, blocks, self.times, w.tick, lambda squares: self._serves(given, squares)
        )
        if found is None:
            return None
        return [Squares(s.block % len(given), s.coefficient, s.root) for s in found]

    def _useful(self, given: list[Given], bases: list[list[Monomial]]) -> list[Polynomial]:
        """The roots of the first block without those whose squares nothing could cancel."""
        others: set[Monomial] = set(self.target)
        for g, basis in zip(given[1:], bases[1:], strict=True):
            pairs = {p for m in basis for n in basis for p in self.product(m, n)}
            others |= {q for m in g.value for p in pairs for q in self.product(m, p)}
        basis = bases[0]
        while True:
            mixed = {p for i, m in enumerate(basis) for n in basis[:i] for p in self.product(m, n)}
            squares = [(m, self.product(m, m)) for m in basis]
            kept = [m for m, s in squares if len(s) != 1 or s.keys() & (others | mixed)]
            if len(kept) == len(basis):
                return [{m: Fraction(1)} for m in basis]
            basis = kept

    def _serves(self, given: list[Given], squares: list[Squares]) -> bool:
        """Whether a part is positive, not just not negative, where that is asked for."""
        return not self.strict or any(
            s.root.keys() == {CONSTANT} and given[s.block % len(given)].strict for s in squares
        )

    def _state(self, given: list[Given], squares: list[Squares]) -> int | None:
        """The step `positive`, with the equations that close the gap."""
        w = self.w
        if not self._serves(given, squares):
            return None
        total = Poly(ONE, ONE, {})
        rows: list[Any] = []
        for s in squares:
            g = given[s.block]
            constant = s.root.get(CONSTANT) if len(s.root) == 1 else None
            product = Poly(ONE, ONE, {(CONSTANT, ()): s.coefficient})
            for place in g.places:
                product = product * (signs.excess_of(w, w.facts.facts[place].relation) or product)
            root = Poly(ONE, ONE, {(m, ()): c for m, c in s.root.items()})
            total = total + product * root * root
            if constant is not None:
                rows.append([str(s.coefficient * constant**2), list(g.places), None])
                continue
            try:
                node = w.raising.poly(root)
            except NoTerm:
                return None
            rows.append([str(s.coefficient), list(g.places), w.place(node)])
        try:
            return w.closed(self.relation, rows, self.difference - total, self.ideal)
        except NoTerm:
            return None


def _follows(given: Given, others: Iterable[Given]) -> bool:
    """Whether an inequality is a sum of products of others that are about one atom each."""
    signs_: dict[Atom, bool] = {}
    for g in others:
        if len(g.value) == 1 and g is not given:
            (((monomial, c),),) = (g.value.items(),)
            if c > 0 and _degree(monomial) == 1:
                a = monomial[0][0]
                signs_[a] = signs_.get(a, False) or g.strict
    return all(
        c > 0 and all(a in signs_ and signs_[a] >= given.strict for a, _ in m)
        for m, c in given.value.items()
    )


def _exponents(count: int, degree: int) -> Iterator[tuple[int, ...]]:
    """Tuples of natural numbers with at most this sum, the smallest sums first."""
    for total in range(degree + 1):
        yield from _exactly(count, total)


def _exactly(count: int, total: int) -> Iterator[tuple[int, ...]]:
    if count < 2:
        yield from [(total,)] if count else [()] * (not total)
        return
    for first in range(total, -1, -1):
        for rest in _exactly(count - 1, total - first):
            yield (first, *rest)


def _atoms(value: Polynomial) -> list[Atom]:
    return sorted({a for m in value for a, _ in m}, key=lambda a: a.key)


def _degree(monomial: Monomial) -> int:
    return sum(n for _, n in monomial)


def _top(value: Polynomial) -> int:
    return max((_degree(m) for m in value), default=0)


def _is_homogeneous(value: Polynomial) -> bool:
    return len({_degree(m) for m in value}) < 2
