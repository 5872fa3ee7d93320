"""Symbolic sizes: polynomials with integer coefficients in dimensions, each of them >= 1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from proofs.language.effort import spend
from proofs.language.tree import Term, name, rational, term

MAX_EXPANDED = 8  # factors of a monomial that a comparison multiplies out


@dataclass(frozen=True, slots=True, eq=False)
class Size:
    """A polynomial: sorted pairs of a monomial (sorted names, repeated) and a coefficient.

    The sizes that a statement may write have non-negative coefficients; differences of sizes,
    which `at_least` compares, may have negative ones. Interned, since sizes are compared all the
    time: equal ones are one object, made by `literal`, `dimension` and arithmetic alone.
    """

    terms: tuple[tuple[tuple[str, ...], int], ...]

    @staticmethod
    def literal(value: int) -> Size:
        return _collect([((), value)])

    @staticmethod
    def dimension(identifier: str) -> Size:
        return _collect([((identifier,), 1)])

    def __add__(self, other: Size) -> Size:
        return _collect([*self.terms, *other.terms])

    def __sub__(self, other: Size) -> Size:
        return _collect([*self.terms, *((m, -c) for m, c in other.terms)])

    def __mul__(self, other: Size) -> Size:
        return _collect(
            [(tuple(sorted(m + n)), c * d) for m, c in self.terms for n, d in other.terms]
        )

    @property
    def value(self) -> int | None:
        """The number, where the size is a literal."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @property
    def is_positive(self) -> bool:
        """At least 1 for all dimensions: no negative coefficient and not zero."""
        return bool(self.terms) and all(c > 0 for _, c in self.terms)

    @cache  # noqa: B019 - sizes are kept for good anyway
    def at_least(self, other: Size) -> bool:
        """Whether `self >= other` for all dimensions, as far as coefficients show it.

        With 1 + m in place of every dimension n, where m = n - 1 >= 0, the difference is surely
        not negative where none of its coefficients is. So `n*k >= n + k - 1` is seen.
        """
        total: dict[tuple[str, ...], int] = {}
        for monomial, coefficient in (self - other).terms:
            if len(monomial) > MAX_EXPANDED:
                if coefficient < 0:
                    return False
                monomial = ()  # a product of dimensions is at least 1
            for part, count in _expanded(monomial).items():
                total[part] = total.get(part, 0) + coefficient * count
        return all(c >= 0 for c in total.values())

    def evaluate(self, dimensions: dict[str, int]) -> int:
        """The number at given dimensions."""
        total = 0
        for monomial, coefficient in self.terms:
            for identifier in monomial:
                coefficient *= dimensions[identifier]
            total += coefficient
        return total

    def __str__(self) -> str:
        def shown(monomial: tuple[str, ...], coefficient: int) -> str:
            factors = [str(coefficient)] if coefficient != 1 or not monomial else []
            return "*".join([*factors, *monomial])

        return "+".join(shown(m, c) for m, c in self.terms) or "0"


def _expanded(monomial: tuple[str, ...]) -> dict[tuple[str, ...], int]:
    """The product of 1 + m over the names of a monomial: its parts, and how often each comes."""
    spend(2 ** len(monomial))
    parts: dict[tuple[str, ...], int] = {(): 1}
    for identifier in monomial:  # they are sorted, so the parts are
        for part, count in list(parts.items()):
            longer = (*part, identifier)
            parts[longer] = parts.get(longer, 0) + count
    return parts


def _collect(terms: list[tuple[tuple[str, ...], int]]) -> Size:
    spend(1 + len(terms))
    total: dict[tuple[str, ...], int] = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, 0) + coefficient
    # Longest monomials first, so that `n+1` reads as a person writes it.
    terms_ = tuple(
        sorted(((m, c) for m, c in total.items() if c), key=lambda term: (-len(term[0]), term[0]))
    )
    found = _made.get(terms_)
    return _made.setdefault(terms_, Size(terms_)) if found is None else found


_made: dict[tuple[tuple[tuple[str, ...], int], ...], Size] = {}
ONE = Size.literal(1)


def size_term(size: Size) -> Term:
    """A term for a size."""
    total: Term | None = None
    for dimensions, coefficient in size.terms:
        part = None if coefficient == 1 and dimensions else rational(coefficient)
        for identifier in dimensions:
            factor = name(identifier)
            part = factor if part is None else term("mul", part, factor)
        if part is not None:
            total = part if total is None else term("add", total, part)
    return rational(0) if total is None else total
