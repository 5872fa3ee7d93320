"""Exact matrices over Q(i), and the value of a polynomial of the algebra at given letters."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from proofs.checker.algebra import IMAGINARY, Atom, Letter, Poly, Word


@dataclass(frozen=True, slots=True)
class Gauss:
    """A Gaussian rational."""

    re: Fraction
    im: Fraction = Fraction(0)

    def __add__(self, other: Gauss) -> Gauss:
        return Gauss(self.re + other.re, self.im + other.im)

    def __neg__(self) -> Gauss:
        return Gauss(-self.re, -self.im)

    def __mul__(self, other: Gauss) -> Gauss:
        return Gauss(
            self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re
        )

    def conjugate(self) -> Gauss:
        return Gauss(self.re, -self.im)


ZERO, UNIT, TURN = Gauss(Fraction(0)), Gauss(Fraction(1)), Gauss(Fraction(0), Fraction(1))


def gauss(value: int | Fraction) -> Gauss:
    return Gauss(Fraction(value))


def table(rows: int, cols: int, entry: Callable[[int, int], Gauss]) -> np.ndarray:
    """The matrix with `entry(i, j)` at each place, counted from 0."""
    out = np.empty((rows, cols), dtype=object)
    for i in range(rows):
        for j in range(cols):
            out[i, j] = entry(i, j)
    return out


def random_matrix(draw: random.Random, rows: int, cols: int, is_complex: bool) -> np.ndarray:
    return table(
        rows,
        cols,
        lambda _i, _j: Gauss(
            Fraction(draw.randint(-3, 3)), Fraction(draw.randint(-3, 3) if is_complex else 0)
        ),
    )


def eye(size: int) -> np.ndarray:
    return table(size, size, lambda i, j: UNIT if i == j else ZERO)


def conj(x: np.ndarray) -> np.ndarray:
    rows, cols = x.shape
    return table(rows, cols, lambda i, j: x[i, j].conjugate())


def times(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A matrix product, or a multiple where one side is 1x1."""
    for a, b in ((x, y), (y, x)):
        if a.shape == (1, 1):
            rows, cols = b.shape
            return table(rows, cols, lambda i, j, a=a, b=b: a[0, 0] * b[i, j])
    return x.dot(y)


def trace(x: np.ndarray) -> Gauss:
    total = ZERO
    for k in range(x.shape[0]):
        total = total + x[k, k]
    return total


@dataclass
class Values:
    """What letters and atoms stand for, and the dimensions."""

    sizes: Mapping[str, int]
    letters: dict[Letter, np.ndarray]
    atoms: dict[Atom, Gauss]

    def letter(self, x: Letter) -> np.ndarray:
        if x.block is not None:  # an injection of a block of rows; as it stands, maybe transposed
            total, width = (
                s.evaluate(dict(self.sizes))
                for s in ((x.cols, x.rows) if x.transposed else (x.rows, x.cols))
            )
            offset = x.block[0].evaluate(dict(self.sizes))
            found = table(total, width, lambda i, j: UNIT if i == offset + j else ZERO)
        else:
            base = x.T if x.transposed else x
            found = self.letters[base.conj if x.conjugated else base]
        found = conj(found) if x.conjugated else found
        return found.T if x.transposed else found

    def atom(self, a: Atom) -> Gauss:
        if a is IMAGINARY:
            return TURN
        if a.word is not None:
            return trace(self.word(a.word))
        if a.key in self.sizes:
            return gauss(self.sizes[a.key])
        if a not in self.atoms and a.twin is not None:
            return self.atoms[a.twin].conjugate()
        return self.atoms[a]

    def word(self, word: Word) -> np.ndarray:
        found = self.letter(word[0])
        for x in word[1:]:
            found = found.dot(self.letter(x))
        return found

    def __call__(self, poly: Poly) -> np.ndarray:
        """The value of a polynomial."""
        rows, cols = (s.evaluate(dict(self.sizes)) for s in (poly.rows, poly.cols))
        total = table(rows, cols, lambda _i, _j: ZERO)
        for (monomial, word), coefficient in poly.terms.items():
            factor = gauss(coefficient)
            for a, power in monomial:
                for _ in range(power):
                    factor = factor * self.atom(a)
            part = self.word(word) if word else eye(rows)
            assert part.shape == total.shape
            total = total + times(np.array([[factor]], dtype=object), part)
        return total
