"""Untrusted. Equations as rewriting rules on words and scalars, completed with cofactors.

A relation `p = 0` rewrites its leading monomial. Every consequence remembers how it was made, as
a sum of left x relation x right, so that success can be written down as a certificate that needs
no search to check. Completion adds the overlaps of leading monomials, smallest first.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count

from proofs.checker.algebra import (
    MAX_TERMS,
    MAX_WORD,
    ONE,
    Atom,
    Letter,
    Monomial,
    Poly,
    TooLarge,
    Word,
    multiply,
    of_letter,
    turns,
)
from proofs.checker.lowering import L2

Place = tuple[Monomial, Word]
Order = tuple[int, int, list[str], list[tuple[str, int]]]
Rewriting = tuple["Term", dict[Place, Fraction]]  # a part of a combination and what it comes to
MAX_USED = 2_000  # multiples of relations, after which each must leave smaller monomials alone
MAX_LENGTH = 60  # longer consequences are left aside


@dataclass(frozen=True, slots=True)
class Term:
    """left x relation x right; `mode` as in a `combine` step, with T, C or H for the relation."""

    left: Poly | None
    relation: Relation
    right: Poly | None
    mode: str


@dataclass(eq=False, slots=True)
class Relation:
    """A polynomial that is zero, from a fact or from other relations."""

    value: Poly
    lead: Place
    fact: int | None = None
    made_of: list[Term] = field(default_factory=list)


@dataclass(slots=True)
class _Largest:
    """An entry of a heap that gives the largest place first."""

    order: Order
    place: Place

    def __lt__(self, other: _Largest) -> bool:
        return other.order < self.order


class OutOfTime(Exception):
    """The budget is spent."""


class Ideal:
    """Relations and the search for a combination of them."""

    def __init__(self, tick: Callable[[], None]) -> None:
        self.relations: list[Relation] = []
        self._tick = tick  # called all the time; raises OutOfTime
        self.is_stale = False  # a symbol became heavier after there were relations with it
        self._weights: dict[object, int] = {}
        self._queue: list[tuple[int, int, Relation, Relation | tuple[Letter, bool]]] = []
        self._ticket = count()
        self._seen: set[str] = set()
        self._orders: dict[Place, Order] = {}
        # Where to look for a rule: by the first letter of its lead, or by an atom of it.
        self._by_letter: dict[Letter, list[Relation]] = {}
        self._by_atom: dict[Atom, list[Relation]] = {}
        self._inside: dict[tuple[Atom, int, int], Relation] = {}
        self._unit: Relation | None = None  # 1 = 0, where the facts contradict each other

    # ------------------------------------------------------------ order

    def weigh(self, symbol: Atom | Letter, weight: int) -> None:
        """Make a symbol heavier, so that it is rewritten into lighter ones."""
        known = self._weights.get(symbol.key)
        if known is None or known < weight:
            self._weights[symbol.key] = weight
            self._orders.clear()
            self.is_stale |= known is not None and bool(self.relations)

    def _weight(self, symbol: Atom | Letter) -> int:
        known = self._weights.get(symbol.key)
        if known is None:
            word = getattr(symbol, "word", None)
            known = sum(map(self._weight, word)) if word else 1
            self._weights[symbol.key] = known
        return known

    def order(self, place: Place) -> Order:
        """Weight first, then the letters, then the scalars, the last atom most significant.

        Of equal weights, x*y.T is less than A*B: once something is multiplied to it, it falls apart
        into scalars, in which no product of x and y.T would be found again.
        """
        known = self._orders.get(place)
        if known is None:
            monomial, word = place
            weight = sum(n * self._weight(a) for a, n in monomial) + sum(map(self._weight, word))
            scalars = sorted(((_text(a), n) for a, n in monomial), reverse=True)
            # The identity, the empty word, is least of all.
            wholeness = -sum(x.starts for x in word[1:]) if word else -MAX_WORD
            known = self._orders[place] = (weight, wholeness, [x.sort for x in word], scalars)
        return known

    # ------------------------------------------------------------ relations

    def add(self, value: Poly, fact: int, modes: tuple[str, ...] = ("", "T")) -> None:
        """Add a fact `value = 0` with its transposed (and conjugated) forms."""
        original = Relation(value, ((), ()), fact)
        for mode in modes:
            turned = value
            if mode in ("C", "H"):
                turned = turned.conj
            if mode in ("T", "H"):
                turned = turned.T
            self._admit(turned, [Term(None, original, None, mode)])

    def cut(self, value: Poly, fact: int, rows: list[Letter], cols: list[Letter]) -> None:
        """Add the blocks of a fact: left.T*value*right for the injections of a partition."""
        original = Relation(value, ((), ()), fact)
        for left in rows or [None]:
            for right in cols or [None]:
                one = None if left is None else of_letter(left.T)
                two = None if right is None else of_letter(right)
                part = value if one is None else one * value
                part = part if two is None else part * two
                for turned in (False, True):
                    terms = [Term(one, original, two, "")]
                    if turned:
                        terms = [
                            Term(
                                None if two is None else two.T,
                                original,
                                None if one is None else one.T,
                                "T",
                            )
                        ]
                    self._admit(part.T if turned else part, terms)

    def _admit(self, value: Poly, made_of: list[Term]) -> Relation | None:
        """Reduce a consequence, make it monic, and queue its overlaps with the others."""
        rest, used = self.reduce(value)
        if not rest.terms or rest.key in self._seen:
            return None
        lead = max(rest.terms, key=self.order)
        scale = 1 / rest.terms[lead]
        rest = rest.scale(scale)
        if rest.key in self._seen:
            return None
        self._seen.add(rest.key)
        terms = [_scaled(t, scale) for t in (*made_of, *(_scaled(u, Fraction(-1)) for u in used))]
        relation = Relation(rest, lead, None, terms)
        for other in self.relations:
            self._enqueue(relation, other)
        self._enqueue(relation, relation)
        self.relations.append(relation)
        self._file(relation)
        self._extend(relation)
        return relation

    def _file(self, relation: Relation) -> None:
        """Put a relation where the words and scalars that it rewrites are looked up."""
        monomial, word = relation.lead
        if word:
            self._by_letter.setdefault(word[0], []).append(relation)
        elif relation.value.is_scalar and not monomial:
            self._unit = relation
        elif relation.value.is_scalar:
            self._by_atom.setdefault(monomial[0][0], []).append(relation)

    def _extend(self, relation: Relation) -> None:
        """Queue products with the vectors of outer products, which meet in scalars.

        Words don't overlap across a space of dimension one, so that x*y.T*A = .. and y.T give no
        pair; multiplying by y.T turns the outer product into a scalar times a row.
        """
        value = relation.value
        for _, word in relation.value.terms:
            for i in range(1, len(word)):
                if word[i].rows != ONE:
                    continue
                for x, left in ((word[i], True), (word[i - 1], False)):
                    if (x.cols == value.rows) if left else (x.rows == value.cols):
                        key = f"{relation.value.key}|{x.sort}|{left}"
                        if key not in self._seen:
                            self._seen.add(key)
                            cost = self.order(relation.lead)[0] + 1 + self._weight(x)
                            heapq.heappush(
                                self._queue, (2 * cost, next(self._ticket), relation, (x, left))
                            )

    def _enqueue(self, one: Relation, two: Relation) -> None:
        (m1, w1), (m2, w2) = one.lead, two.lead
        if not ((w1[-1] in w2 or w2[-1] in w1) if w1 and w2 else _gcd(m1, m2)):
            return  # nothing in common
        cost = self.order(one.lead)[0] + self.order(two.lead)[0]
        heapq.heappush(self._queue, (cost, next(self._ticket), one, two))

    def step(self) -> bool:
        """Work off one pair; whether there was one."""
        if not self._queue:
            return False
        _, _, one, two = heapq.heappop(self._queue)
        if isinstance(two, tuple):
            x, left = of_letter(two[0]), two[1]
            self._derive([_make(x, one, None) if left else _make(None, one, x)])
            return True
        for left, right in ((one, two), (two, one)) if one is not two else ((one, two),):
            for terms in self._overlaps(left, right):
                self._derive(terms)
        return True

    def complete(self, pairs: int) -> bool:
        """Work off so many pairs; whether there were any."""
        there_were = self.step()
        for _ in range(pairs - 1):
            if not self.step():
                break
        return there_were

    def _derive(self, terms: list[Term]) -> None:
        self._tick()
        try:
            value = _total(terms)
            if len(value.terms) <= MAX_LENGTH:
                self._admit(value, terms)
        except TooLarge:
            return

    def _overlaps(self, one: Relation, two: Relation) -> Iterator[list[Term]]:
        """Pairs of multiples of two relations whose leading monomials are the same."""
        (m1, w1), (m2, w2) = one.lead, two.lead
        common = _gcd(m1, m2)
        c1, c2 = _quotient(m2, common), _quotient(m1, common)
        if not w1 or not w2:
            if common and (one is not two):
                if one.value.is_scalar and two.value.is_scalar:
                    yield [_make(_scalar(c1), one, None), _make(_scalar(c2, -1), two, None)]
                elif two.value.is_scalar and w1:
                    yield [_make(_scalar(c1), one, None), Term(_word(c2, w1, -1), two, None, "")]
            return
        for size in range(1, min(len(w1), len(w2)) + 1):
            if w1[-size:] != w2[:size] or (one is two and size == len(w1)):
                continue
            before, after = w1[:-size], w2[size:]
            yield [
                _make(_scalar(c1), one, _word((), after)),
                _make(_word(c2, before, -1), two, None),
            ]
        if len(w2) < len(w1):
            for i in range(len(w1) - len(w2) + 1):
                if w1[i : i + len(w2)] == w2:
                    yield [
                        _make(_scalar(c1), one, None),
                        _make(_word(c2, w1[:i], -1), two, _word((), w1[i + len(w2) :])),
                    ]

    @staticmethod
    def scaled(t: Term, factor: Fraction) -> Term:
        """A part of a combination times a number."""
        return _scaled(t, factor)

    @staticmethod
    def term(left: Poly | None, relation: Relation, right: Poly | None) -> Term:
        """left x relation x right as a part of a combination."""
        return Term(left, relation, right, "")

    @staticmethod
    def wrapped(t: Term, left: Letter | None, right: Letter | None) -> Term:
        """A part of a combination for one block, put back in its place."""
        if t.mode == "tr":
            raise TooLarge("a trace inside a block")
        before, after = t.left, t.right
        if left is not None:
            e = of_letter(left)
            before = e if before is None else e * before
        if right is not None:
            e = of_letter(right.T)
            after = e if after is None else after * e
        return Term(before, t.relation, after, t.mode)

    # ------------------------------------------------------------ reduction

    def reduce(self, value: Poly) -> tuple[Poly, list[Term]]:
        """`value` minus the returned terms' sum, with no monomial that a relation rewrites."""
        used: list[Term] = []
        pending, done, met = dict(value.terms), dict[Place, Fraction](), set[Place]()
        heap = [_Largest(self.order(p), p) for p in pending]
        heapq.heapify(heap)
        while heap:
            self._tick()
            place = heapq.heappop(heap).place
            coefficient = pending.pop(place, None)
            if coefficient is None:  # cancelled, or worked off with an equal one
                continue
            found = self._rewrite(place, coefficient, value, place in met or len(used) > MAX_USED)
            met.add(place)
            if found is None:
                done[place] = done.get(place, Fraction(0)) + coefficient
                continue
            part, change = found
            used.append(part)
            for p, c in change.items():
                if p == place:  # this is what the part takes off
                    continue
                old = pending.get(p)
                new = -c if old is None else old - c
                if new:
                    pending[p] = new
                    if old is None:
                        heapq.heappush(heap, _Largest(self.order(p), p))
                else:
                    pending.pop(p, None)
            if len(pending) > MAX_TERMS:
                raise TooLarge(f"more than {MAX_TERMS} terms")
        return Poly(value.rows, value.cols, {p: c for p, c in done.items() if c}), used

    def _rewrite(
        self, place: Place, coefficient: Fraction, like: Poly, strictly: bool
    ) -> Rewriting | None:
        """A part that takes a monomial off; `strictly`: and leaves smaller ones alone."""
        monomial, word = place
        for i, x in enumerate(word):
            for relation in self._by_letter.get(x, ()):
                m, w = relation.lead
                if word[i : i + len(w)] == w and (rest := divide(monomial, m)) is not None:
                    left = _word(rest, word[:i], coefficient)
                    part = _make(left, relation, _word((), word[i + len(w) :]))
                    if (found := self._taken_off(place, coefficient, part, strictly)) is not None:
                        return found
        for a, _ in monomial:
            for relation in self._by_atom.get(a, ()):
                rest = divide(monomial, relation.lead[0])
                if rest is not None:
                    left = Poly(like.rows, like.cols, {(rest, word): coefficient})
                    part = Term(left, relation, None, "")
                    if (found := self._taken_off(place, coefficient, part, strictly)) is not None:
                        return found
        if self._unit is not None:
            left = Poly(like.rows, like.cols, {place: coefficient})
            return Term(left, self._unit, None, ""), {place: coefficient}
        for a, _ in monomial:
            found = self._rewrite_trace(a, place, coefficient, like)
            if found is not None:
                return found, _total([found]).terms
        return None

    def _taken_off(
        self, place: Place, coefficient: Fraction, part: Term, strictly: bool
    ) -> Rewriting | None:
        """A part with what it comes to, if that has the monomial which it is to take off: where
        isometries cancel, a multiple of a relation can lose its lead.

        What is left may be larger where it is cut into scalars that weigh more by themselves. This
        is allowed once, or the same monomials could come back for ever.
        """
        change = _total([part]).terms
        if change.get(place) != coefficient:
            return None
        here = self.order(place)
        smaller = not strictly or all(self.order(p) <= here for p in change)
        return (part, change) if smaller else None

    def _rewrite_trace(
        self, a: Atom, place: Place, coefficient: Fraction, like: Poly
    ) -> Term | None:
        """Rewrite inside a trace atom: tr(lead*rest) with the relation in place of the lead."""
        if a.word is None:
            return None
        monomial, word = place
        for turn, turned in enumerate(turns(a.word)):
            for relation in self._by_letter.get(turned[0], ()):
                m, w = relation.lead
                if turned[: len(w)] != w or (w[0].block and w[-1] is w[0].T):
                    continue  # a diagonal entry is not to be rewritten by the other ones
                outside = divide(monomial, multiply(((a, 1),), m)[1])
                if outside is None:
                    continue
                # A trace in a word is rewritten by an equation of its own between scalars.
                apart = bool(word) or not like.is_scalar
                found = self._inside_trace(
                    relation, turned, ((), Fraction(1)) if apart else (outside, coefficient)
                )
                # Rotation and transposition may turn the new trace into the old one.
                before = (multiply(((a, 1),), m)[1], ()) if apart else place
                change = _total([found]).terms
                wanted = Fraction(1) if apart else coefficient
                got = change.get(before)
                if not got:
                    continue
                if got != wanted:  # as in x.T*A*x for a skew A, which is minus itself
                    found = _scaled(found, wanted / got)
                    change = _total([found]).terms
                # A rule turned round may undo what it did: the new traces must be smaller.
                here = self.order(before)
                if not all(self.order(p) < here for p in change if p != before):
                    continue
                if not apart:
                    return found
                scalar = self._scalar_relation(a, relation, turn, found)
                left = Poly(like.rows, like.cols, {(outside, word): coefficient})
                return Term(left, scalar, None, "")
        return None

    def _scalar_relation(self, a: Atom, relation: Relation, turn: int, found: Term) -> Relation:
        key = (a, id(relation), turn)
        if key not in self._inside:
            self._inside[key] = Relation(_total([found]), ((), ()), None, [found])
        return self._inside[key]

    @staticmethod
    def _inside_trace(relation: Relation, turned: Word, outside: tuple[Monomial, Fraction]) -> Term:
        """The relation at the beginning of a trace's word, the rest of the word around it."""
        monomial, coefficient = outside
        rest = turned[len(relation.lead[1]) :]
        if relation.value.rows == ONE:  # a row times a column
            return _make(_scalar(monomial, coefficient), relation, _word((), rest))
        split = next((j for j in range(len(rest)) if rest[j].rows == ONE), None)
        if split is not None and relation.value.cols != L2:  # x.T*lead*y
            left = _word(monomial, rest[split:], coefficient)
            return _make(left, relation, _word((), rest[:split]))
        value = relation.value
        right = Poly(value.cols, value.rows, {(monomial, rest): coefficient})
        return Term(None, relation, right, "tr")


def merged(terms: list[Term]) -> list[Term]:
    """The same sum in fewer terms: those that differ in one factor alone are taken together."""
    for by_left in (False, True):
        together: dict[tuple[int, str, str], list[Term]] = {}
        for t in terms:
            fixed = t.left if by_left else t.right
            key = (id(t.relation), t.mode, "" if fixed is None else fixed.key)
            together.setdefault(key, []).append(t)
        terms = [t for group in together.values() for t in _joined(group, by_left)]
    return terms


def _joined(group: list[Term], by_left: bool) -> list[Term]:
    first = group[0]
    total: Poly | None = None
    for t in group:
        value = t.right if by_left else t.left
        if value is None or (total is not None and total.rows != value.rows):
            return group
        total = value if total is None else total + value
    if len(group) == 1 or total is None:
        return group
    if not total.terms:
        return []
    left, right = (first.left, total) if by_left else (total, first.right)
    return [Term(left, first.relation, right, first.mode)]


def _text(a: Atom) -> str:
    """What atoms are ordered by: traces by their letters, as words are."""
    return a.key if a.word is None else " ".join(x.sort for x in a.word)


def _total(terms: list[Term]) -> Poly:
    total: Poly | None = None
    for t in terms:
        value = t.relation.value
        if t.mode in ("C", "H"):
            value = value.conj
        if t.mode in ("T", "H"):
            value = value.T
        if t.left is not None:
            value = t.left * value
        if t.right is not None:
            value = value * t.right
        if t.mode == "tr":
            value = value.trace()
        total = value if total is None else total + value
    if total is None:
        raise ValueError("an empty sum")
    return total


def _make(left: Poly | None, relation: Relation, right: Poly | None) -> Term:
    return Term(left, relation, right, "")


def _scaled(t: Term, factor: Fraction) -> Term:
    if factor == 1:
        return t
    if t.left is not None:
        return Term(t.left.scale(factor), t.relation, t.right, t.mode)
    if t.right is not None:
        return Term(None, t.relation, t.right.scale(factor), t.mode)
    return Term(_scalar((), factor), t.relation, None, t.mode)


def _scalar(monomial: Monomial, coefficient: Fraction | int = 1) -> Poly | None:
    """A scalar factor; None for the factor 1."""
    if not monomial and coefficient == 1:
        return None
    return Poly(ONE, ONE, {(monomial, ()): Fraction(coefficient)})


def _word(monomial: Monomial, word: Word, coefficient: Fraction | int = 1) -> Poly | None:
    """A factor that is a monomial; None for the factor 1."""
    if not word:
        return _scalar(monomial, coefficient)
    return Poly(word[0].rows, word[-1].cols, {(monomial, word): Fraction(coefficient)})


def _gcd(one: Monomial, two: Monomial) -> Monomial:
    powers = dict(two)
    return tuple((a, min(n, powers[a])) for a, n in one if a in powers)


def _quotient(monomial: Monomial, divisor: Monomial) -> Monomial:
    powers = dict(divisor)
    return tuple((a, n - powers.get(a, 0)) for a, n in monomial if n > powers.get(a, 0))


def divide(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """monomial/divisor, or None where it doesn't divide."""
    powers = dict(monomial)
    if any(powers.get(a, 0) < n for a, n in divisor):
        return None
    return _quotient(monomial, divisor)
