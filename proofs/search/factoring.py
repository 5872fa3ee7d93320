"""Untrusted. Factors of a scalar polynomial in atoms, found by FLINT; products prove themselves."""

from __future__ import annotations

from fractions import Fraction

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from proofs.checker.algebra import ONE, Atom, Monomial, Poly

MAX_ATOMS = 20
MAX_TERMS = 200


def factors(value: Poly) -> list[tuple[Poly, int]]:
    """The irreducible factors of a scalar with their powers; the first takes the constant along.

    A polynomial that is constant, irreducible, complex or too large has no factors here.
    """
    atoms = sorted({a for m, _ in value.terms for a, _ in m}, key=lambda a: a.key)
    too_large = len(atoms) > MAX_ATOMS or len(value.terms) > MAX_TERMS
    if not atoms or too_large or value.is_complex or not value.is_scalar:
        return []
    context = fmpq_mpoly_ctx.get([f"x{i}" for i in range(len(atoms))], Ordering.lex)
    place = {a: i for i, a in enumerate(atoms)}
    table: dict[tuple[int, ...], fmpq] = {}
    for (monomial, _), coefficient in value.terms.items():
        exponents = [0] * len(atoms)
        for a, power in monomial:
            exponents[place[a]] = power
        table[tuple(exponents)] = fmpq(coefficient.numerator, coefficient.denominator)
    constant, parts = context.from_dict(table).factor()
    if len(parts) < 2 and not (parts and parts[0][1] > 1):
        return []
    found = [(_poly(part.to_dict(), atoms), int(power)) for part, power in parts]
    scale = Fraction(int(constant.p), int(constant.q))
    if scale != 1:
        found.insert(0, (Poly(ONE, ONE, {((), ()): scale}), 1))
    return found


def _poly(table: dict[tuple[int, ...], fmpq], atoms: list[Atom]) -> Poly:
    terms: dict[tuple[Monomial, tuple[()]], Fraction] = {}
    for exponents, coefficient in table.items():
        monomial = tuple((a, int(e)) for a, e in zip(atoms, exponents, strict=True) if e)
        terms[monomial, ()] = Fraction(int(coefficient.p), int(coefficient.q))
    return Poly(ONE, ONE, terms)  # type: ignore[arg-type]
