"""Untrusted. Scalars as polynomials of FLINT's, and their factors; products prove themselves."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from proofs.checker.algebra import ONE, Atom, Monomial, Poly, Word, multiply

MAX_ATOMS = 20
MAX_TERMS = 200


class Ring:
    """Polynomials over Q in some atoms, between the checker's algebra and FLINT's."""

    def __init__(self, atoms: Sequence[Atom], order: Ordering) -> None:
        self.atoms = list(atoms)
        self.index = {a: i for i, a in enumerate(self.atoms)}
        names = [f"x{i}" for i in range(len(self.atoms))]
        self.context = fmpq_mpoly_ctx.get(names, order)

    def polynomial(self, value: Poly) -> fmpq_mpoly:
        """A scalar of the algebra in FLINT, all of whose atoms are those of the ring."""
        table: dict[tuple[int, ...], fmpq] = {}
        for (monomial, _), coefficient in value.terms.items():
            exponents = [0] * len(self.atoms)
            for a, power in monomial:
                exponents[self.index[a]] = power
            table[tuple(exponents)] = fmpq(coefficient.numerator, coefficient.denominator)
        return self.context.from_dict(table)

    def poly(self, value: fmpq_mpoly) -> Poly:
        """The other way; the imaginary unit, where it is among the atoms, has i^2 = -1."""
        terms: dict[tuple[Monomial, Word], Fraction] = {}
        for exponents, coefficient in value.to_dict().items():
            powers = zip(self.atoms, exponents, strict=True)
            sign, monomial = multiply(*(((a, int(n)),) for a, n in powers if n))
            old = terms.get((monomial, ()), Fraction(0))
            terms[monomial, ()] = old + sign * Fraction(int(coefficient.p), int(coefficient.q))
        return Poly(ONE, ONE, {place: c for place, c in terms.items() if c})


def factors(value: Poly) -> list[tuple[Poly, int]]:
    """The irreducible factors of a scalar with their powers; the first takes the constant along.

    A polynomial that is constant, irreducible, complex or too large has no factors here.
    """
    atoms = sorted({a for m, _ in value.terms for a, _ in m}, key=lambda a: a.key)
    too_large = len(atoms) > MAX_ATOMS or len(value.terms) > MAX_TERMS
    if not atoms or too_large or value.is_complex or not value.is_scalar:
        return []
    ring = Ring(atoms, Ordering.lex)
    constant, parts = ring.polynomial(value).factor()
    if len(parts) < 2 and not (parts and parts[0][1] > 1):
        return []
    found = [(ring.poly(part), int(power)) for part, power in parts]
    scale = Fraction(int(constant.p), int(constant.q))
    if scale != 1:
        found.insert(0, (Poly(ONE, ONE, {((), ()): scale}), 1))
    return found
