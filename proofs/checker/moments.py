"""Trusted. Expectations of polynomials in jointly Gaussian vectors, by Stein's recursion.

For jointly Gaussian numbers p, q, .. and any polynomial R in them, with (R/q) short for R with
one factor q taken out, summed over all factors q of R:

    E(p*R) = E(p)*E(R) + sum of (E(p*q) - E(p)*E(q))*E(R/q).

In a word a random vector x stands beside a space of dimension one, so only at an end of a strand:
a scalar piece runs from x to y, a matrix word is cut there in a left and a right strand. E(x) is
X*1 and E(x*y.T) is X*Y.T in the algebra of L2. So pairing two ends joins their strands at X*Y.T,
and closes a strand to a trace where both ends are its own. That X has the mean and the covariance
of its declaration is for the proof to cite; what is said here holds for any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce

from proofs.checker.algebra import (
    IMAGINARY,
    ONE,
    Atom,
    Monomial,
    Poly,
    TooLarge,
    Word,
    atom,
    number,
    of_atom,
    of_letter,
    trace_of,
)
from proofs.language.effort import spend

MAX_DEGREE = 8
End = tuple[int, int]  # a strand, and 0 or -1 for its first or last letter


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of the letters and atoms of a polynomial that holds at each outcome.

    What is neither a random vector nor known to be the same at all outcomes counts as random.
    """

    vectors: dict[str, Word] = field(default_factory=dict)  # letters by key: what each is in L2
    constants: set[Atom | str] = field(default_factory=set)  # atoms, and letters by key

    def fix(self, value: Poly) -> None:
        """All that occurs in this polynomial is the same at all outcomes."""
        for monomial, word in value.terms:
            for a, _ in monomial:
                self.constants.update((a, a.twin or a), (x.key for x in a.word or ()))
            self.constants.update(x.key for x in word)

    def is_random(self, word: Word) -> bool:
        """Whether a word has random vectors in it, beside constant matrices.

        Raises:
            TooLarge: it has another matrix that isn't known to be constant.
        """
        unknown = [x for x in word if x.key not in self.constants and not x.isometry]
        if any(x.key not in self.vectors for x in unknown):
            raise TooLarge("the expectation of a function of random vectors that is no polynomial")
        return bool(unknown)


def expectation(value: Poly, outcome: Outcome, constant: Word) -> Poly:
    """E of a polynomial in Gaussian letters, `constant` being the random variable 1.

    A random number that is no polynomial stays inside: E of it times its like is opaque, also times
    a polynomial.
    """
    total = Poly(value.rows, value.cols, {})
    for (monomial, word), coefficient in value.terms.items():
        factor = number(coefficient)
        inside: list[tuple[Atom, int]] = []
        strands = _strands(word)
        is_random, is_hidden = outcome.is_random(word), False
        for a, power in monomial:
            if a.word is not None and outcome.is_random(a.word):
                if power > MAX_DEGREE:
                    raise TooLarge(f"a moment of a degree above {MAX_DEGREE}")
                strands += [a.word] * power
                inside.append((a, power))
            elif a.word is not None or a is IMAGINARY or a in outcome.constants:
                factor = factor * Poly(ONE, ONE, {(((a, power),), ()): Fraction(1)})
            else:
                inside.append((a, power))
                is_hidden = True
        if is_hidden:
            if is_random:
                raise TooLarge("the expectation of a vector times another function")
            factor = factor * _opaque(tuple(inside))
            strands = _strands(word)
        if not word:  # a multiple of the identity
            factor = factor * Poly(value.rows, value.cols, {((), ()): Fraction(1)})
        total = total + _Moment(outcome.vectors, constant).of(strands, factor)
    return total


def _strands(word: Word) -> list[Word]:
    """A matrix word, cut at its one inner space of dimension one."""
    middle = [i for i in range(1, len(word)) if word[i].rows == ONE]
    return [word[: middle[0]], word[middle[0] :]] if middle else [word] if word else []


def _opaque(monomial: Monomial) -> Poly:
    value = Poly(ONE, ONE, {(monomial, ()): Fraction(1)})
    return of_atom(atom(f"expect({value.key})", is_complex=value.is_complex))


@dataclass(frozen=True, slots=True)
class _Moment:
    vectors: Mapping[str, Word]
    constant: Word

    def of(self, strands: list[Word], factor: Poly) -> Poly:
        """factor * E(the product of the strands)."""
        spend(8 * len(strands) + 8)
        ends = self._ends(strands)
        if len(ends) > MAX_DEGREE:
            raise TooLarge(f"a moment of a degree above {MAX_DEGREE}")
        if not ends:  # the strand that is open to the left stands before the one to the right
            ordered = sorted(strands, key=lambda s: s[0].rows == ONE)
            return reduce(Poly.__mul__, (_value(s) for s in ordered), factor)
        p, *others = ends
        without = self._at_mean(strands, p)
        total = self.of(without, factor)
        for q in others:
            joined, extra = self._paired(strands, p, q)
            total = total + self.of(joined, factor * extra)
            total = total - self.of(self._at_mean(without, q), factor)
        return total

    def _ends(self, strands: list[Word]) -> list[End]:
        """Where random letters stand: at an end of a strand that doesn't stay open."""
        ends = [(i, place) for i, s in enumerate(strands) for place in _closed(s)]
        return [(i, place) for i, place in ends if strands[i][place].key in self.vectors]

    def _at_mean(self, strands: list[Word], end: End) -> list[Word]:
        """The strands with the mean of a random letter in its place."""
        i, place = end
        s = strands[i]
        mean = self.vectors[s[place].key] + self.constant
        changed = s[:-1] + mean if place else _turned(mean) + s[1:]
        return [*strands[:i], changed, *strands[i + 1 :]]

    def _paired(self, strands: list[Word], p: End, q: End) -> tuple[list[Word], Poly]:
        """The strands with p*q at its expectation, and the trace that this may close off."""
        rest = [s for i, s in enumerate(strands) if i not in (p[0], q[0])]
        one, two = strands[p[0]], strands[q[0]]
        x, y = (self.vectors[strands[i][place].key] for i, place in (p, q))
        if p[0] == q[0]:  # x.T*M*y = tr(M*y*x.T), p being the first letter
            inside = one[1:-1] + y + _turned(x)
            return rest, trace_of(inside, inside[0].rows)
        if one[-1].cols != ONE or two[0].rows != ONE:  # what is open to the left stands first
            (one, p, x), (two, q, y) = (two, q, y), (one, p, x)
        one = one if p[1] else _turned(one)
        two = _turned(two) if q[1] else two
        return [*rest, one[:-1] + x + _turned(y) + two[1:]], number(1)


def _closed(strand: Word) -> list[int]:
    """The ends of a strand at a space of dimension one; one letter alone counts once."""
    last = [-1] if strand[-1].cols == ONE else []
    first = [0] if strand[0].rows == ONE and (len(strand) > 1 or not last) else []
    return first + last


def _turned(word: Word) -> Word:
    return tuple(x.T for x in reversed(word))


def _value(word: Word) -> Poly:
    return reduce(Poly.__mul__, map(of_letter, word))
