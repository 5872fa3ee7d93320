"""How simple a model is, and models that are a little simpler than a given one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from proofs.evaluate.model import (
    Entry,
    Family,
    Function,
    Model,
    Number,
    Outcomes,
    Partition,
    Plain,
    numbers_in,
)
from proofs.evaluate.values import Complex


def weight(model: Model) -> tuple[int, int]:
    """Smaller is simpler: the number of entries, then the size of the numbers."""
    count, size = 0, 0
    for value in model.values.values():
        for x in numbers_in(value):
            parts = (x.re, x.im) if isinstance(x, Complex) else (Fraction(x),)
            count += 1
            size += sum(abs(p.numerator) + 2 * (p.denominator - 1) + (p < 0) for p in parts)
            size += 3 * isinstance(x, Complex)
    return count, size


def sizes_below(sizes: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """All smaller assignments of the dimensions, smallest first, a few."""
    names = list(sizes)
    below = [
        dict(zip(names, c, strict=True))
        for c in itertools.product(*(range(1, sizes[n] + 1) for n in names))
    ]
    below = [b for b in below if b != dict(sizes)]
    yield from sorted(below, key=lambda b: sum(b.values()))[:12]


def simpler(model: Model, letters: Sequence[str]) -> Iterator[Model]:
    """The model with one number made simpler."""
    for letter in letters:
        value = model.values[letter]
        for candidate in _simpler_values(value):
            yield model.with_value(letter, candidate)


def _simpler_values(value: Entry) -> Iterator[Entry]:
    if isinstance(value, Function):
        for k, c in enumerate(value.coefficients):
            for y in _simpler_plain(c):
                kept = (*value.coefficients[:k], y, *value.coefficients[k + 1 :])
                yield Function(value.center, kept, value.over)
    elif isinstance(value, Family):
        for k, m in value.members.items():
            for y in _simpler_plain(m):
                yield Family({**value.members, k: y})
    elif isinstance(value, Outcomes):
        for k, m in enumerate(value.values):
            for y in _simpler_plain(m):
                yield Outcomes((*value.values[:k], y, *value.values[k + 1 :]))
    elif not isinstance(value, Partition):
        yield from _simpler_plain(value)


def _simpler_plain(value: Plain) -> Iterator[Plain]:
    if not isinstance(value, tuple):
        yield from _simpler_numbers(value)
        return
    yield tuple(tuple(Fraction(0) for _ in row) for row in value)
    for i, row in enumerate(value):
        for j, x in enumerate(row):
            for y in _simpler_numbers(x):
                yield (*value[:i], (*row[:j], y, *row[j + 1 :]), *value[i + 1 :])


def _simpler_numbers(x: Number) -> Iterator[Number]:
    if isinstance(x, Complex):
        yield from (x.re, Complex(Fraction(0), x.im), Complex(Fraction(0), Fraction(1)))
        return
    candidates = [0, 1, -1, 2, round(x), int(x), -x]
    kind = int if isinstance(x, int) else Fraction
    for c in dict.fromkeys(candidates):
        if c != x:
            yield kind(c)
