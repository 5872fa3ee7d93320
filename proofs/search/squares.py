"""Untrusted. Sums of squares X*S*X.H with semidefinite S, for matrices and, under a trace, numbers.

A word u*S*u.H with a positive coefficient begins a square. What the value holds of u*S*v.H goes
into the same X, as in completing the square; the square is taken off, the rest is simplified by
the known equations, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from proofs.checker.algebra import (
    ONE,
    Letter,
    Monomial,
    Poly,
    TooLarge,
    Word,
    identity,
    multiply,
    number,
    of_letter,
    turns,
)
from proofs.checker.lowering import L2
from proofs.language.sizes import Size
from proofs.language.tree import Term, rational, term
from proofs.search.ideal import Ideal, divide
from proofs.search.raising import NoTerm
from proofs.search.workbench import Workbench

MAX_SQUARES = 5
MAX_TRIES = 40
MAX_WAYS = 12  # to put a product that is the identity into a word
MAX_SUMMANDS = 6  # of a known semidefinite sum
MAX_TERMS = 24  # a longer value is not tried
ZERO = rational(0)


@dataclass(frozen=True, eq=False)
class Center:
    """A semidefinite matrix, as a term and in the algebra; the identity without a term.

    `letter` is where it is looked for in words; `inverse` is its inverse, where that is in sight.
    """

    node: Term | None
    value: Poly
    letter: Letter | None = None
    inverse: Letter | None = None


@dataclass(frozen=True)
class Square:
    """scale * root * center * root.H, with scale >= 0; under a trace with `outer` before it."""

    scale: Poly
    root: Poly
    center: Center
    outer: Center | None = None

    @property
    def value(self) -> Poly:
        product = self.scale * (self.root * self.center.value * self.root.T.conj)
        return product if self.outer is None else self.outer.value * product

    def under(self, like: Poly) -> Poly:
        """The value, under a trace where it is to be a number."""
        return self.value.trace() if like.is_scalar else self.value

    def term(self, w: Workbench) -> Term:
        """The matrix root * center * root.H without its scale."""
        root = w.raising.poly(self.root)
        left = root if self.center.node is None else term("mul", root, self.center.node)
        return term("mul", left, term("adjoint", root))


@dataclass(frozen=True)
class _Split:
    """coefficient * monomial * u * center * v.H"""

    coefficient: Fraction
    monomial: Monomial
    u: Word
    v: Word
    center: Center
    outer: Center | None
    place: tuple[Monomial, Word]


class Squares:
    """The search for squares that add up to a value."""

    def __init__(self, w: Workbench, ideal: Ideal, roots: list[tuple[Fraction, Poly]]) -> None:
        self.w = w
        self.ideal = ideal
        self.roots = roots
        self.tries = MAX_TRIES
        self.centers: list[Center] = []
        self._adjoints: dict[Letter, tuple[int, Letter]] = {}
        self._identities: dict[Size, Center] = {}

    def find(self, value: Poly) -> Iterator[tuple[list[Square], Poly]]:
        """Squares and what they leave of a value, the most squares last."""
        value, _ = self.ideal.reduce(value)
        if len(value.terms) > MAX_TERMS:
            return
        self.centers = centers(self.w, value)
        yield from self._find(value, [])

    def _find(self, value: Poly, done: list[Square]) -> Iterator[tuple[list[Square], Poly]]:
        yield done, value
        if not value.terms or len(done) >= MAX_SQUARES:
            return
        for square in self._candidates(value, first=not done):
            self.tries -= 1
            if self.tries <= 0:
                return
            try:
                rest, _ = self.ideal.reduce(value - square.under(value))
            except TooLarge:
                continue
            if len(rest.terms) <= len(value.terms):
                yield from self._find(rest, [*done, square])

    # ------------------------------------------------------------ candidates

    def _candidates(self, value: Poly, first: bool) -> Iterator[Square]:
        one = identity(ONE)
        if first:
            for scale, root in self.roots:
                yield Square(number(scale), root, Center(None, identity(root.cols)))
            if not value.is_scalar:  # an orthogonal projection is its own square
                yield Square(one, value, Center(None, identity(value.cols)))
        yield from self.begun(value)

    def begun(self, value: Poly) -> Iterator[Square]:
        """A square for each way in which a term begins one."""
        splits = list(self._splits(value))
        seen: set[object] = set()
        later: list[Square] = []
        for lead in splits:
            key = (lead.u, lead.center, lead.outer, lead.place)
            if lead.u != lead.v or lead.coefficient <= 0 or key in seen:
                continue
            seen.add(key)
            for scale, half in self._roots_of(lead.monomial):
                square, whole = self._completed(value, lead, scale, half)
                yield square
                if whole is not None:
                    later.append(whole)
        yield from later

    def _roots_of(self, monomial: Monomial) -> Iterator[tuple[Monomial, Monomial]]:
        """Ways to write a monomial as scale*half^2 with a scale that is not negative."""
        if any(a.is_complex for a, _ in monomial):
            return
        half = tuple((a, n // 2) for a, n in monomial if n > 1)
        odd = tuple((a, n % 2) for a, n in monomial if n % 2)
        for scale, root in dict.fromkeys(((odd, half), (monomial, ()))):
            if self._is_nonnegative(scale):
                yield scale, root

    def _is_nonnegative(self, scale: Monomial) -> bool:
        if not scale:
            return True
        try:
            node = self.w.raising.poly(Poly(ONE, ONE, {(scale, ()): Fraction(1)}))
        except NoTerm:
            return False
        return self.w.attempt(term("ge", node, ZERO)) is not None

    def _completed(
        self, value: Poly, lead: _Split, scale: Monomial, half: Monomial
    ) -> tuple[Square, Square | None]:
        """The square that begins with u and takes up what stands with it.

        A Hermitian term -u*center*v.H is twice the mixed term of u - v/2. It is all that is left
        of the square of u - v as well, where v*center*v.H is u*center*v.H: that is the second one.
        """
        rows = lead.u[0].rows if lead.u else lead.center.value.rows
        cols = lead.u[-1].cols if lead.u else rows
        factor = Poly(ONE, ONE, {(scale, ()): lead.coefficient})
        terms: dict[tuple[Monomial, Word], Fraction] = {(half, lead.u): Fraction(1)}
        begun = Square(factor, Poly(rows, cols, terms), lead.center, lead.outer)
        rest, _ = self.ideal.reduce(value - begun.under(value))
        unit = multiply(scale, half)[1]
        taken = {lead.place}
        whole = dict(terms)
        for split in self._splits(rest, expanded=True):
            same = (split.u, split.center, split.outer) == (lead.u, lead.center, lead.outer)
            if not same or split.place in taken or split.v == lead.u:
                continue
            powers = divide(split.monomial, unit)
            if powers is None or any(a.is_complex for a, _ in powers):
                continue
            if (split.v[0].rows if split.v else rows) != rows:
                continue
            taken.add(split.place)
            share = split.coefficient / lead.coefficient
            key = (powers, split.v)
            whole[key] = whole.get(key, Fraction(0)) + share
            terms[key] = terms.get(key, Fraction(0)) + self._weight(split, value) * share
        roots = [
            Poly(rows, cols, {k: c for k, c in found.items() if c}) for found in (terms, whole)
        ]
        squares = [Square(factor, root, lead.center, lead.outer) for root in roots]
        return squares[0], None if value.is_scalar or roots[0] == roots[1] else squares[1]

    def _weight(self, split: _Split, value: Poly) -> Fraction:
        """1/2 where a term stands for u*center*v.H and for its adjoint as well."""
        monomial, word = split.place
        if value.is_scalar:
            is_complex = any(a.is_complex for a, _ in monomial)
            return Fraction(1) if is_complex else Fraction(1, 2)
        return Fraction(1, 2) if self._adjoint(word)[1] == word else Fraction(1)

    # ------------------------------------------------------------ ways to read a term

    def _splits(self, value: Poly, expanded: bool = False) -> Iterator[_Split]:
        """All ways to read the terms of a value as u*center*v.H."""
        for place, coefficient in value.terms.items():
            for monomial, word, outer in self._words(place, value):
                ways = self._expanded(word, value.rows) if expanded else [word]
                for way in ways:
                    for u, rest, sign, center in self._cuts(way, value.rows):
                        turned, v = self._adjoint(rest)
                        c = coefficient * turned / sign
                        yield _Split(c, monomial, u, v, center, outer, place)

    def _expanded(self, word: Word, size: Size) -> list[Word]:
        """A word, and it with a known A*B = identity or A*B = B put in, which simplifying has
        taken out."""
        ways = [word]
        for relation in self.ideal.relations:
            powers, pair_ = relation.lead
            others = relation.value.terms.keys() - {relation.lead}
            if powers or len(pair_) != 2:
                continue
            kept = [x for x in pair_ if others == {((), (x,))}]
            if kept and sum(relation.value.terms.values()) == 0:  # A*B = B, say
                ways += [
                    (*word[:i], *pair_, *word[i + 1 :])
                    for i, x in enumerate(word)
                    if x is kept[0] and len(ways) < MAX_WAYS
                ]
            if others != {((), ())}:
                continue
            if any(x.isometry or x.key.startswith("inv(") for x in pair_):
                continue
            for i in range(len(word) + 1):
                middle = size
                if word:
                    middle = word[i].rows if i < len(word) else word[-1].cols
                scale = relation.value.terms[relation.lead] + relation.value.terms[(), ()]
                if middle == pair_[0].rows and not scale and len(ways) < MAX_WAYS:
                    ways.append((*word[:i], *pair_, *word[i:]))
        return ways

    def _cuts(self, word: Word, size: Size) -> Iterator[tuple[Word, Word, Fraction, Center]]:
        """The parts of a word before and after a center, which may be the identity."""
        one = Fraction(1)
        for i, x in enumerate(word):
            for c in self.centers:
                if c.letter is x:
                    yield word[:i], word[i + 1 :], c.value.terms[(), (x,)], c
        for i in range(len(word) + 1):
            middle = size
            if word:
                middle = word[i].rows if i < len(word) else word[-1].cols
            for c in self.centers:  # u*w.H as u*center*(inverse*w.H)
                if c.inverse is None or c.inverse.rows != middle:
                    continue
                if c.letter not in word and c.inverse not in word:
                    yield word[:i], (c.inverse, *word[i:]), one, c
            yield word[:i], word[i:], one, self._identity(middle)

    def _identity(self, size: Size) -> Center:
        return self._identities.setdefault(size, Center(None, identity(size)))

    def _words(
        self, place: tuple[Monomial, Word], value: Poly
    ) -> Iterator[tuple[Monomial, Word, Center | None]]:
        """The word of a term; for a number, the words of its traces, begun at any letter."""
        monomial, word = place
        if not value.is_scalar:
            yield monomial, word, None
            return
        if all(a.word is None for a, _ in monomial):
            yield monomial, (), None
        for a, n in monomial:
            if a.word is None or n != 1 or any(x.rows == L2 for x in a.word):
                continue
            rest = divide(monomial, ((a, 1),)) or ()
            rotated = list(dict.fromkeys(turns(a.word)))
            narrow = [t for t in rotated if t[0].rows == ONE]
            for turned in narrow or rotated:
                yield rest, turned, None
                for c in self.centers:  # tr(outer*X*S*X.H)
                    if not narrow and c.letter is turned[0] and len(c.value.terms) == 1:
                        yield rest, turned[1:], c

    def _adjoint(self, word: Word) -> tuple[int, Word]:
        """The adjoint of a word, up to a sign; Hermitian and skew letters as they are."""
        parts = [self._turned(x) for x in reversed(word)]
        return math.prod(s for s, _ in parts), tuple(x for _, x in parts)

    def _turned(self, x: Letter) -> tuple[int, Letter]:
        found = self._adjoints.get(x)
        if found is None:
            found = (1, x.T.conj)
            simpler, _ = self.ideal.reduce(of_letter(x.T.conj))
            if len(simpler.terms) == 1:
                (((monomial, word), coefficient),) = simpler.terms.items()
                if len(word) == 1 and not monomial and abs(coefficient) == 1:
                    found = (int(coefficient), word[0])
            self._adjoints[x] = found
        return found


def centers(w: Workbench, value: Poly) -> list[Center]:
    """Semidefinite matrices that a value may hold squares of: known sums, then letters."""
    found: list[Center] = []
    letters = dict.fromkeys(_letters(value))
    for fact in list(w.facts.facts):
        if fact.relation.op not in ("positive_semidefinite", "positive_definite"):
            continue
        node = fact.relation.args[0]
        total = w.facts.lowering.lower(node)
        if total.is_scalar or not 1 < len(total.terms) <= MAX_SUMMANDS:
            continue
        if any(c.value == total for c in found):
            continue
        for (monomial, word), coefficient in total.terms.items():
            if len(word) == 1 and not monomial and abs(coefficient) == 1:
                found.append(Center(node, total, word[0], _inverse(w, node)))
        letters |= dict.fromkeys(_letters(total))
    for x in letters:
        if x.rows != x.cols or x.transposed or x.conjugated or x.block is not None:
            continue
        node = w.raising.letters.get(x)
        if node is None or node.free:
            continue
        if w.attempt(term("positive_semidefinite", node)) is not None:
            found.append(Center(node, of_letter(x), x, _inverse(w, node)))
    return found


def _inverse(w: Workbench, node: Term) -> Letter | None:
    """The letter for the inverse of a matrix, where it is in sight."""
    inverse = w.facts.lowering.lower(node.args[0] if node.op == "inv" else term("inv", node))
    for (monomial, word), coefficient in inverse.terms.items():
        if len(inverse.terms) == len(word) == coefficient == 1 and not monomial:
            return word[0] if word[0] in w.raising.letters else None
    return None


def _letters(value: Poly) -> list[Letter]:
    found: dict[Letter, None] = {}
    for monomial, word in value.terms:
        for x in (*word, *(x for a, _ in monomial for x in a.word or ())):
            bare = x.T if x.transposed else x
            found[bare.conj if bare.conjugated else bare] = None
    return [x for x in found if L2 not in (x.rows, x.cols)]
