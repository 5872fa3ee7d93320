"""Trusted. The one algebra: words in typed letters over scalar polynomials in atoms.

A `Poly` is a matrix with symbolic shape, written as a sum of rational coefficient x scalar
monomial x word. Letters are matrices; each has two bits, transposed and conjugated. Atoms are
scalars: names, opaque values such as `exp(u)`, and traces of cyclic words.

Normal form, which is all that this module knows about matrices:
 - a word is cut wherever it passes through a space of dimension one, and the pieces that begin
   and end there are scalars, equal to their own transposes (never to their conjugates);
 - tr(w) is the least of all rotations and transposes of w, tr(eye(n)) = n;
 - an isometry U (a unit vector, an injection of a block) cancels in U.T*U, and injections of
   disjoint blocks give zero.
Nothing here divides: that `u * (1/u) = 1` is a rule, to be cited.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import pairwise

from proofs.language.effort import TooLarge, spend
from proofs.language.sizes import ONE, Size

MAX_TERMS = 20_000
MAX_WORD = 400  # letters of a word, atoms of a monomial
MAX_EXPONENT = 10_000
MAX_BITS = 14_000  # of a coefficient: Python prints no integer of more than 4,300 digits
MAX_KEY = 160
UNIT = Fraction(1)  # the one coefficient 1 that most terms have: a product with it is no work


def short(key: str) -> str:
    """A key, its tail replaced by a hash where it is long."""
    if len(key) <= MAX_KEY:
        return key
    return f"{key[:24]}#{hashlib.sha256(key.encode()).hexdigest()}"


@dataclass(eq=False, slots=True)
class Letter:
    """A matrix as it stands in a word. Interned: use `letter`, `T` and `conj`."""

    key: str
    rows: Size  # as it stands, that is, after transposition
    cols: Size
    is_complex: bool
    isometry: bool  # the untransposed letter U satisfies U.T*U = identity, and is real
    block: tuple[Size, Size] | None  # an injection of the rows offset+1 .. offset+width
    transposed: bool
    conjugated: bool
    sort: str
    starts: bool  # it comes from dimension one: a word may be cut before it
    T: Letter = field(init=False, repr=False)
    conj: Letter = field(init=False, repr=False)


Word = tuple[Letter, ...]
_letters: dict[tuple[str, Size, Size, bool], Letter] = {}


def letter(
    key: str,
    rows: Size,
    cols: Size,
    *,
    is_complex: bool = False,
    isometry: bool = False,
    block: tuple[Size, Size] | None = None,
) -> Letter:
    """The letter with this key; two letters with one key and shape are the same matrix."""
    key = short(key)
    index = (key, rows, cols, is_complex)
    if index not in _letters:
        forms = {}
        for turned in (False, True):
            for conjugated in (False, True)[: 1 + is_complex]:
                shape = (cols, rows) if turned else (rows, cols)
                kind = (is_complex, isometry, block)
                sort = key + "~" * conjugated + "'" * turned
                starts = shape[0] == ONE
                forms[turned, conjugated] = Letter(
                    key, *shape, *kind, turned, conjugated, sort, starts
                )
        for (turned, conjugated), form in forms.items():
            form.T = forms[not turned, conjugated]
            form.conj = forms.get((turned, not conjugated), form)
        _letters[index] = forms[False, False]
    return _letters[index]


@dataclass(eq=False, slots=True)
class Atom:
    """A scalar that the algebra doesn't look into, save that a trace atom knows its word."""

    key: str
    is_complex: bool
    word: Word | None
    twin: Atom | None = field(default=None, repr=False)  # the conjugate of an opaque complex value


Monomial = tuple[tuple[Atom, int], ...]  # sorted by key, exponents >= 1
_atoms: dict[tuple[str, bool, Word | None], Atom] = {}


def atom(key: str, *, is_complex: bool = False, word: Word | None = None) -> Atom:
    """The scalar with this key."""
    key = short(key)
    index = (key, is_complex, word)
    if index not in _atoms:
        found = _atoms[index] = Atom(key, is_complex, word)
        if is_complex and word is None:
            found.twin = Atom(short(f"~({key})"), True, None, found)
    return _atoms[index]


IMAGINARY = atom("$i", is_complex=True)


class Poly:
    """A matrix of shape rows x cols: {(monomial, word): coefficient}. Immutable."""

    __slots__ = ("_key", "cols", "rows", "terms")

    def __init__(
        self, rows: Size, cols: Size, terms: dict[tuple[Monomial, Word], Fraction]
    ) -> None:
        if len(terms) > MAX_TERMS:
            raise TooLarge(f"more than {MAX_TERMS} terms")
        spend(len(terms) + sum(len(m) + len(w) for m, w in terms) // 8)
        self.rows, self.cols, self.terms = rows, cols, terms
        self._key: str | None = None

    @property
    def is_scalar(self) -> bool:
        return self.rows is ONE and self.cols is ONE

    @property
    def key(self) -> str:
        """A string that equal polynomials share and different ones don't."""
        if self._key is None:
            spend(sum(len(m) + len(w) for m, w in self.terms) // 8)
            shape = "" if self.is_scalar else f"[{self.rows}x{self.cols}]"
            text = "+".join(sorted(map(_term_text, self.terms.items()))) or "0"
            self._key = short(shape + text)
        return self._key

    @property
    def constant(self) -> Fraction | None:
        """The rational number that this scalar is, or None."""
        if not self.is_scalar or any(m or w for m, w in self.terms):
            return None
        return self.terms.get(((), ()), Fraction(0))

    @property
    def is_complex(self) -> bool:
        return any(
            any(a.is_complex for a, _ in m) or any(x.is_complex for x in w) for m, w in self.terms
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Poly)
            and self.terms == other.terms
            and self.rows == other.rows
            and self.cols == other.cols
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Poly) -> Poly:
        if self.rows != other.rows or self.cols != other.cols:
            raise TooLarge(f"shapes differ: {self.rows}x{self.cols}, {other.rows}x{other.cols}")
        if not self.terms:
            return other
        total = dict(self.terms)
        for place, coefficient in other.terms.items():
            _accumulate(total, place, coefficient)
        return Poly(self.rows, self.cols, total)

    def __neg__(self) -> Poly:
        return Poly(self.rows, self.cols, {place: -c for place, c in self.terms.items()})

    def __sub__(self, other: Poly) -> Poly:
        return self + -other

    def scale(self, factor: Fraction) -> Poly:
        terms = {place: _modest(factor * c) for place, c in self.terms.items() if factor}
        return Poly(self.rows, self.cols, terms)

    def __mul__(self, other: Poly) -> Poly:
        """Matrix product, or multiplication by a scalar from either side."""
        if self.is_scalar:
            rows, cols = other.rows, other.cols
        elif other.is_scalar:
            rows, cols = self.rows, self.cols
        elif self.cols == other.rows:
            rows, cols = self.rows, other.cols
        else:
            raise TooLarge(f"{self.rows}x{self.cols} times {other.rows}x{other.cols}")
        total: dict[tuple[Monomial, Word], Fraction] = {}
        others = other.terms.items()
        digits = sum(c.numerator.bit_length() for c in other.terms.values()) // 64
        for (m1, w1), c1 in self.terms.items():
            length = 4 + len(w1) + len(m1) + c1.numerator.bit_length() // 64
            spend(length * len(others) + digits)
            for (m2, w2), c2 in others:
                coefficient = c2 if c1 is UNIT else c1 if c2 is UNIT else c1 * c2
                word, scalars = w1 or w2, ()
                if word:
                    joined = join(w1, w2) if w1 and w2 else word
                    if joined is None:
                        continue
                    scalars, word = cut(joined, rows, cols) if joined else ((), joined)
                if scalars or (m1 and m2):
                    sign, monomial = multiply(m1, m2, *scalars)
                    coefficient = coefficient if sign > 0 else -coefficient
                else:
                    monomial = m1 or m2
                _accumulate(total, (monomial, word), coefficient)
                if len(total) > MAX_TERMS:
                    raise TooLarge(f"more than {MAX_TERMS} terms")
        return Poly(rows, cols, total)

    @property
    def T(self) -> Poly:
        terms = {(m, tuple(x.T for x in reversed(w))): c for (m, w), c in self.terms.items()}
        return Poly(self.cols, self.rows, terms)

    @property
    def conj(self) -> Poly:
        if not self.is_complex:
            return self
        total: dict[tuple[Monomial, Word], Fraction] = {}
        for (m, w), c in self.terms.items():
            sign, monomial = multiply(*(((b, n),) for a, n in m for b in [_conjugate(a)]))
            if sum(n for a, n in m if a is IMAGINARY) % 2:
                sign = -sign
            _accumulate(total, (monomial, tuple(x.conj for x in w)), sign * c)
        return Poly(self.rows, self.cols, total)

    def trace(self) -> Poly:
        if self.rows != self.cols:
            raise TooLarge(f"the trace of a {self.rows}x{self.cols} matrix")
        total: dict[tuple[Monomial, Word], Fraction] = {}
        for (m, w), c in self.terms.items():
            for (t, _), factor in trace_of(w, self.rows).terms.items():
                sign, monomial = multiply(m, t)
                coefficient = c if factor is UNIT else factor * c
                _accumulate(total, (monomial, ()), coefficient if sign > 0 else -coefficient)
        return Poly(ONE, ONE, total)


def number(value: Fraction | int) -> Poly:
    """A rational as a 1x1 matrix."""
    return Poly(ONE, ONE, {((), ()): UNIT if value == 1 else Fraction(value)} if value else {})


@cache
def of_atom(a: Atom) -> Poly:
    return Poly(ONE, ONE, {(((a, 1),), ()): UNIT})


@cache
def of_letter(x: Letter) -> Poly:
    return Poly(x.rows, x.cols, {((), (x,)): UNIT})


@cache
def identity(size: Size) -> Poly:
    return Poly(size, size, {((), ()): UNIT})


def of_size(size: Size) -> Poly:
    """A size as a scalar: a polynomial in the dimensions."""
    total = number(0)
    for dimensions, coefficient in size.terms:
        product = number(coefficient)
        for identifier in dimensions:
            product = product * of_atom(atom(identifier))
        total = total + product
    return total


def join(left: Word, right: Word) -> Word | None:
    """The product of two words, isometries cancelled where they meet; None is zero."""
    end, start = len(left), 0
    while end and start < len(right):
        a, b = left[end - 1], right[start]
        if not (a.isometry and b.isometry and a.transposed and not b.transposed):
            break
        if a.key == b.key:
            end, start = end - 1, start + 1
        elif a.block and b.block and _disjoint(a.block, b.block):
            return None
        else:
            break
    joined = left[:end] + right[start:]
    if len(joined) > MAX_WORD:
        raise TooLarge(f"a word of more than {MAX_WORD} letters")
    return joined


def _disjoint(a: tuple[Size, Size], b: tuple[Size, Size]) -> bool:
    return b[0].at_least(a[0] + a[1]) or a[0].at_least(b[0] + b[1])


def cut(word: Word, rows: Size, cols: Size) -> tuple[list[Monomial], Word]:
    """Split off the pieces of a rows x cols word that run from dimension one to dimension one."""
    places = [i for i, x in enumerate(word) if x.starts and i]
    if rows is ONE:
        places.insert(0, 0)
    if cols is ONE:
        places.append(len(word))
    if len(places) < 2:
        return [], word
    pieces = [word[i:j] for i, j in pairwise(places)]
    rest = word[: places[0]] + word[places[-1] :]
    return [((_piece(p), 1),) for p in pieces], rest


@cache
def _piece(word: Word) -> Atom:
    return _trace_atom(min(word, _transpose(word), key=_sort_key))


def trace_of(word: Word, size: Size) -> Poly:
    """tr(word) for a word of shape size x size."""
    while len(word) > 1 and (
        word[-1].isometry
        and word[-1].key == word[0].key
        and word[-1].transposed
        and not word[0].transposed
    ):
        size, word = word[0].cols, word[1:-1]
    if len(word) > 1 and join(word[-1:], word[:1]) is None:
        return number(0)
    if not word:
        return of_size(size)
    places = [i for i, x in enumerate(word) if x.starts]
    if places:
        start = places[0]
        scalars, _ = cut(word[start:] + word[:start], ONE, ONE)
        sign, monomial = multiply(*scalars)
        return Poly(ONE, ONE, {(monomial, ()): Fraction(sign)})
    spend(len(word) ** 2)
    return of_atom(_trace_atom(min(turns(word), key=_sort_key)))


def turns(word: Word) -> list[Word]:
    """All words with the trace of this one: its rotations and their transposes."""
    return [w[i:] + w[:i] for w in (word, _transpose(word)) for i in range(len(word))]


def _transpose(word: Word) -> Word:
    return tuple(x.T for x in reversed(word))


def _sort_key(word: Word) -> list[str]:
    return [x.sort for x in word]


@cache
def _trace_atom(word: Word) -> Atom:
    key = "tr(" + "·".join(f"{x.sort}[{x.rows}x{x.cols}]" for x in word) + ")"
    return atom(key, is_complex=any(x.is_complex for x in word), word=word)


def _conjugate(a: Atom) -> Atom:
    if a.word is None:
        return a.twin if a.twin is not None and a is not IMAGINARY else a
    word = tuple(x.conj for x in a.word)
    if word[0].rows == ONE:
        return _piece(word)
    ((((found, _),), _),) = trace_of(word, word[0].rows).terms
    return found


def multiply(*monomials: Monomial) -> tuple[int, Monomial]:
    """The product of scalar monomials and the sign that i^2 = -1 leaves."""
    monomials = tuple(filter(None, monomials))
    if len(monomials) < 2:  # a monomial by itself is as it should be
        return 1, monomials[0] if monomials else ()
    if len(monomials) == 2 and monomials[0][-1][0].key < monomials[1][0][0].key:
        joined = monomials[0] + monomials[1]  # in order, with no atom in common
        if len(joined) > MAX_WORD:
            raise TooLarge("a monomial of too high a degree")
        return 1, joined
    exponents: dict[Atom, int] = {}
    for monomial in monomials:
        for a, n in monomial:
            exponents[a] = exponents.get(a, 0) + n
    sign = 1
    quarters = exponents.pop(IMAGINARY, 0)
    if quarters:
        sign = -1 if quarters % 4 >= 2 else 1
        if quarters % 2:
            exponents[IMAGINARY] = 1
    if len(exponents) > MAX_WORD or max(exponents.values(), default=0) > MAX_EXPONENT:
        raise TooLarge("a monomial of too high a degree")
    return sign, tuple(sorted(exponents.items(), key=lambda item: item[0].key))


def _accumulate(
    total: dict[tuple[Monomial, Word], Fraction],
    place: tuple[Monomial, Word],
    coefficient: Fraction,
) -> None:
    old = total.get(place)
    if old is None:
        if coefficient:
            total[place] = coefficient if coefficient is UNIT else _modest(coefficient)
        return
    new = old + coefficient
    if new:
        total[place] = _modest(new)
    else:
        del total[place]


def _modest(coefficient: Fraction) -> Fraction:
    if coefficient.numerator.bit_length() + coefficient.denominator.bit_length() > MAX_BITS:
        raise TooLarge("a coefficient of too many digits")
    return coefficient


def _term_text(item: tuple[tuple[Monomial, Word], Fraction]) -> str:
    (monomial, word), coefficient = item
    scalars = "*".join(f"{a.key}^{n}" for a, n in monomial)
    letters = "·".join(f"{x.sort}" for x in word)
    return f"{coefficient}|{scalars}|{letters}"
