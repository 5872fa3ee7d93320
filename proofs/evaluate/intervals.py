"""The sign of a polynomial in one unknown on an interval, exactly, by Sturm's theorem."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq, fmpq_poly

from proofs.evaluate.values import Matrix, Polynomial, UndecidedHere, Value

MAX_DEGREE = 40


@dataclass(frozen=True, slots=True)
class Interval:
    """Between two rationals, None for none, each of which belongs to it or not."""

    low: fmpq | None = None
    high: fmpq | None = None
    open_low: bool = True
    open_high: bool = True

    @property
    def is_empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.open_low or self.open_high))

    def inside(self) -> fmpq:
        """A point of an interval that isn't empty; of its interior, if it has one."""
        if self.low is None or self.high is None:
            known = self.low if self.high is None else self.high
            if known is None:
                return fmpq(0)
            return known + 1 if self.high is None else known - 1
        return (self.low + self.high) / 2


def univariate(x: Value, unknown: int) -> fmpq_poly:
    """A scalar as a polynomial in one unknown.

    Raises:
        UndecidedHere: it depends on something else, or isn't exact.
    """
    terms = x.terms if isinstance(x, Polynomial) else {(): x}
    found = fmpq_poly([0])
    for monomial, c in terms.items():
        if not isinstance(c, Matrix) or not c.exact or c.im is not None or c.shape != (1, 1):
            raise UndecidedHere("no exact number")
        if not set(monomial) <= {unknown} or len(monomial) > MAX_DEGREE:
            raise UndecidedHere("no polynomial in one unknown")
        found += fmpq_poly([0] * len(monomial) + [c.re[0, 0]])
    return found


def where(conditions: Iterable[tuple[fmpq_poly, bool]]) -> Interval | None:
    """Where some affine functions are not negative, or, if so said, positive; None for nowhere.

    Raises:
        UndecidedHere: one of them isn't affine.
    """
    low: tuple[fmpq, bool] | None = None
    high: tuple[fmpq, bool] | None = None
    for p, strict in conditions:
        if p.degree() > 1:
            raise UndecidedHere("a condition that isn't affine")
        constant, slope = p[0], p[1]
        if slope == 0:
            if constant < 0 or (strict and constant == 0):
                return None
        elif slope > 0:
            end = (-constant / slope, strict)
            low = end if low is None else max(low, end)
        else:
            end = (-constant / slope, not strict)
            high = end if high is None else min(high, end)
    found = Interval(
        low[0] if low else None,
        high[0] if high else None,
        low is None or low[1],
        high is None or not high[1],
    )
    return None if found.is_empty else found


def nonnegative_on(p: fmpq_poly, interval: Interval, strict: bool) -> bool:
    """Whether p >= 0, or p > 0, at all points of an interval that isn't empty."""
    if interval.low is not None and interval.low == interval.high:
        return p(interval.low) > 0 if strict else p(interval.low) >= 0
    if p.degree() < 1:
        return p[0] > 0 if strict else p[0] >= 0
    ends = ((interval.low, interval.open_low), (interval.high, interval.open_high))
    if strict and any(p(x) == 0 for x, is_open in ends if x is not None and not is_open):
        return False
    turning = p if strict else _turning(p)
    return roots_inside(turning, interval) == 0 and turning(interval.inside()) > 0


def _turning(p: fmpq_poly) -> fmpq_poly:
    """A polynomial with the sign of p where p isn't zero, whose roots are those where p turns."""
    content, factors = p.numer().factor()
    found = fmpq_poly([content])
    for factor, power in factors:
        found *= fmpq_poly(factor) if power % 2 else 1
    return found


def roots_inside(p: fmpq_poly, interval: Interval) -> int:
    """How many different roots a polynomial, not 0, has in the interior of an interval."""
    p = p // p.gcd(p.derivative())  # without multiple roots, which an end might be
    chain = [p, p.derivative()]
    while chain[-1] != 0:
        chain.append(-(chain[-2] % chain[-1]))
    chain.pop()
    found = _changes(chain, interval.low, -1) - _changes(chain, interval.high, 1)
    return found - int(interval.high is not None and p(interval.high) == 0)


def _changes(chain: list[fmpq_poly], at: fmpq | None, side: int) -> int:
    """Changes of sign along Sturm's chain at a point, or far out on one side."""
    signs = []
    for q in chain:
        value = q(at) if at is not None else q[q.degree()] * side ** (q.degree() % 2)
        if value != 0:
            signs.append(value > 0)
    return sum(a != b for a, b in pairwise(signs))
