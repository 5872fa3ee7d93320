"""Untrusted. Equations between scalars: Buchberger's algorithm on FLINT's polynomials.

The known equations between scalars generate an ideal of polynomials in their atoms. A basis is
grown pair by pair, of least sugar first, and each new element remembers how it was made of
earlier ones; as soon as the goal is reduced to zero, the elements that it needs are written down
as steps. The order of monomials is by degree, as nothing but membership is asked.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly

from proofs.checker.algebra import IMAGINARY, ONE, Atom, Poly, Word
from proofs.language.tree import Term
from proofs.search import equations, ideal
from proofs.search.factoring import Ring
from proofs.search.workbench import Workbench

MAX_ATOMS = 60
MAX_RELATIONS = 90
MAX_TERMS = 400  # of a known equation or an element of the basis
MAX_WRITTEN = 300  # of cofactors of known equations, to be written down in one step
QUICK_WORK = 30_000  # monomials handled, for a step on the way
THOROUGH_WORK = 3_000_000
MAX_EXPONENT = 127

GUARDS = int.from_bytes(b"\x80" * (MAX_ATOMS + 1), "little")  # a bit above each exponent

Exponents = tuple[int, ...]


def by_ideal(w: Workbench, goal: Term) -> int | None:
    """The goal as a combination of the known equations between scalars."""
    work = THOROUGH_WORK if goal is w.statement.goal else QUICK_WORK
    known = equations.known(w, [goal])
    used = combination(w, known, w.facts.difference(goal), work)
    return None if used is None else w.combine(goal, known, used)


def combination(w: Workbench, known: ideal.Ideal, value: Poly, work: int) -> list[Any] | None:
    """The parts of a combination of known equations between scalars that is `value`."""
    relations = _connected(value, [r for r in known.relations if _is_plain(r.value)])
    atoms = _all_atoms(value, relations)
    if len(atoms) > MAX_ATOMS or not relations or not _atoms(value):
        return None
    basis = Basis(w, atoms, work)
    found: list[Any] = []
    try:
        for relation in relations:
            basis.add_known(relation)
        for word, coefficient in _coefficients(value).items():
            parts = basis.combination(coefficient)
            if word or not value.is_scalar:
                matrix = Poly(value.rows, value.cols, {((), word): Fraction(1)})
                parts = [ideal.Term(t.left, t.relation, matrix, "") for t in parts]
            found += parts
    except Exhausted:
        return None
    return found


def covers(known: ideal.Ideal, value: Poly) -> bool:
    """Whether `combination` takes all known equations into account that a value might need."""
    if not all(_is_plain(r.value) for r in known.relations):
        return False
    relations = _connected(value, known.relations)
    near = {id(r) for r in relations}
    reached = _all_atoms(value, relations)
    if len(reached) > MAX_ATOMS:
        return False
    return all(id(r) in near or _atoms(r.value).isdisjoint(reached) for r in known.relations)


def _all_atoms(value: Poly, relations: list[ideal.Relation]) -> list[Atom]:
    return sorted({a for v in (value, *(r.value for r in relations)) for a in _atoms(v)}, key=_key)


def _coefficients(value: Poly) -> dict[Word, Poly]:
    """The scalars that stand before the words of a matrix, each of which must be zero."""
    found: dict[Word, dict[Any, Fraction]] = {}
    for (monomial, word), coefficient in value.terms.items():
        found.setdefault(word, {})[monomial, ()] = coefficient
    return {word: Poly(ONE, ONE, terms) for word, terms in found.items()}


def _key(a: Atom) -> tuple[int, str]:
    return -len(a.key), a.key


def _is_plain(value: Poly) -> bool:
    return value.is_scalar and len(value.terms) <= MAX_TERMS and not any(w for _, w in value.terms)


def _atoms(value: Poly) -> set[Atom]:
    return {a for m, _ in value.terms for a, _ in m if a is not IMAGINARY}


def _connected(value: Poly, relations: list[ideal.Relation]) -> list[ideal.Relation]:
    """The relations that share an atom with `value`, or with one that does, and so on."""
    reached, found, rest = _atoms(value), list[ideal.Relation](), relations
    while True:
        near = [r for r in rest if not reached.isdisjoint(_atoms(r.value))]
        if not near or len(found) + len(near) > MAX_RELATIONS:
            return found
        found += near
        rest = [r for r in rest if r not in near]
        reached = reached.union(*(_atoms(r.value) for r in near))


@dataclass(eq=False, slots=True)
class Element:
    """An element of the basis, monic; `made_of` are cofactors of earlier elements."""

    value: fmpq_mpoly
    lead: Exponents
    packed: int
    sugar: int
    relation: ideal.Relation | None = None  # where it is a known equation, or written as one
    scale: fmpq = field(default_factory=lambda: fmpq(1))
    made_of: dict[int, fmpq_mpoly] = field(default_factory=dict)
    redundant: bool = False  # its lead is a multiple of another's


class Exhausted(Exception):
    """No further pair, or no work left."""


class Basis:
    """A Groebner basis under way."""

    def __init__(self, w: Workbench, atoms: list[Atom], work: int) -> None:
        self.w, self.work = w, work
        self.ring = Ring([*atoms, IMAGINARY], Ordering.degrevlex)
        self.elements: list[Element] = []
        # Sugar, degree of the least common multiple of the leads, that itself, two elements.
        self.pairs: list[tuple[int, int, int, int, int]] = []
        i = self.ring.context.gen(len(atoms))
        self._admit(i * i + 1, {}, 2)  # holds in the algebra, without a fact

    # ------------------------------------------------------------ growing

    def add_known(self, relation: ideal.Relation) -> None:
        """Add a known equation as it is."""
        value = self.ring.polynomial(relation.value)
        scale, lead = 1 / value.leading_coefficient(), _lead(value)
        degree = int(value.total_degree())
        self._enter(Element(value * scale, lead, _packed(lead), degree, relation, scale))

    def combination(self, value: Poly) -> list[ideal.Term]:
        """The parts of a combination that is `value`, once the basis has grown enough.

        Raises:
            Exhausted: no pair is left, or no work.
        """
        rest, used = self.ring.polynomial(value), dict[int, fmpq_mpoly]()
        while rest := self._reduce(rest, used, whole=True):
            size = len(self.elements)
            while len(self.elements) == size:
                self._step()
        return self._parts(used)

    def _step(self) -> None:
        """Work off one pair."""
        if not self.pairs:
            raise Exhausted
        sugar, _, _, i, j = heapq.heappop(self.pairs)
        one, two = self.elements[i], self.elements[j]
        top = tuple(map(max, one.lead, two.lead))
        made_of: dict[int, fmpq_mpoly] = {}
        value = self.ring.context.constant(0)
        for place, element, sign in ((i, one, -1), (j, two, 1)):
            factor = self.ring.context.term(sign, _minus(top, element.lead))
            value -= factor * element.value
            made_of[place] = factor
        self.work -= len(value)
        rest = self._reduce(value, made_of)
        if rest:
            self._admit(rest, made_of, sugar)

    def _admit(self, rest: fmpq_mpoly, made_of: dict[int, fmpq_mpoly], sugar: int) -> None:
        """Add what a combination leaves: value = -(sum of cofactor x element), made monic."""
        if len(rest) > MAX_TERMS:
            return
        scale, lead = 1 / rest.leading_coefficient(), _lead(rest)
        parts = {place: -scale * factor for place, factor in made_of.items() if factor}
        self._enter(Element(scale * rest, lead, _packed(lead), sugar, made_of=parts))

    def _enter(self, new: Element) -> None:
        """Add an element and the pairs that it makes, without those that others stand for."""
        place, lead = len(self.elements), new.lead
        tops: list[tuple[int, int, int]] = []
        for j, other in enumerate(self.elements):
            if not other.redundant:
                top = tuple(map(max, other.lead, lead))
                tops.append((sum(top), j, _packed(top)))
        kept: list[tuple[int, int, int]] = []
        for row in sorted(tops):
            if not any(_divides(other, row[2]) for _, _, other in kept):
                kept.append(row)
        self.pairs = [p for p in self.pairs if not self._stands_for(new, p)]
        for degree, j, top in kept:
            other = self.elements[j]
            if degree < sum(lead) + sum(other.lead):  # else coprime: the pair reduces to zero
                sugar = degree + max(e.sugar - sum(e.lead) for e in (new, other))
                self.pairs.append((sugar, degree, top, j, place))
        heapq.heapify(self.pairs)
        for other in self.elements:
            other.redundant = other.redundant or _divides(new.packed, other.packed)
        self.elements.append(new)

    def _stands_for(self, new: Element, pair: tuple[int, int, int, int, int]) -> bool:
        """Whether a pair follows from the two that its elements make with a new one."""
        return _divides(new.packed, pair[2]) and all(
            _packed(tuple(map(max, self.elements[k].lead, new.lead))) != pair[2] for k in pair[3:]
        )

    def _reduce(
        self, value: fmpq_mpoly, used: dict[int, fmpq_mpoly], whole: bool = False
    ) -> fmpq_mpoly:
        """What the basis leaves of `value`: value - rest is what is added to `used`."""
        self.w.tick()
        done = self.ring.context.constant(0)
        active = [(k, e) for k, e in enumerate(self.elements) if not e.redundant]
        while value:
            lead, coefficient = _lead(value), value.leading_coefficient()
            packed = _packed(lead) | GUARDS
            found = None
            for k, e in active:
                if (packed - e.packed) & GUARDS == GUARDS:
                    found = (k, e)
                    break
            if found is None:
                if not whole:
                    return value
                head = self.ring.context.term(coefficient, lead)
                done, value = done + head, value - head
                continue
            place, element = found
            factor = self.ring.context.term(coefficient, _minus(lead, element.lead))
            value -= factor * element.value
            used[place] = used[place] + factor if place in used else factor
            self.work -= len(element.value)
            if self.work < 0:
                raise Exhausted
        return done

    # ------------------------------------------------------------ writing down

    def _parts(self, used: dict[int, fmpq_mpoly]) -> list[ideal.Term]:
        """A combination of elements as one of relations; i^2 + 1 is zero by itself."""
        known = self._of_known(used)
        if known is not None:
            return self._terms(known)
        for place in sorted(self._needed(used)):
            element = self.elements[place]
            if element.relation is None:
                parts = self._terms(element.made_of)
                element.relation = ideal.Relation(
                    self.ring.poly(element.value), ((), ()), None, parts
                )
        return self._terms(used)

    def _of_known(self, used: dict[int, fmpq_mpoly]) -> dict[int, fmpq_mpoly] | None:
        """The combination as one of the known equations alone, where that is short."""
        found = dict(used)
        for place in sorted(self._needed(used), reverse=True):
            element = self.elements[place]
            if element.relation is not None or place not in found:
                continue
            factor = found.pop(place)
            for k, part in element.made_of.items():
                found[k] = found[k] + factor * part if k in found else factor * part
            if sum(map(len, found.values())) > MAX_WRITTEN:
                return None
        return found

    def _terms(self, used: dict[int, fmpq_mpoly]) -> list[ideal.Term]:
        found = []
        for place, factor in used.items():
            element = self.elements[place]
            if place and factor and element.relation is not None:
                left = self.ring.poly(factor * element.scale)
                found.append(ideal.Term(left, element.relation, None, ""))
        return found

    def _needed(self, used: Iterable[int]) -> set[int]:
        """The elements that a combination leans on, but for the first."""
        needed, stack = set[int](), list(used)
        while stack:
            place = stack.pop()
            if place and place not in needed:
                needed.add(place)
                stack += self.elements[place].made_of
        return needed


def _lead(value: fmpq_mpoly) -> Exponents:
    return tuple(map(int, value.monomial(0)))


def _packed(exponents: Exponents) -> int:
    """Exponents as a number, a byte for each."""
    if max(exponents) > MAX_EXPONENT:
        raise Exhausted
    return int.from_bytes(bytes(exponents), "little")


def _divides(divisor: int, monomial: int) -> bool:
    """Whether no exponent of a packed monomial is above the other's."""
    return ((monomial | GUARDS) - divisor) & GUARDS == GUARDS


def _minus(monomial: Exponents, divisor: Exponents) -> Exponents:
    return tuple(a - b for a, b in zip(monomial, divisor, strict=True))
