"""Untrusted. Sine and cosine of sums and multiples, and at multiples of pi."""

from __future__ import annotations

from proofs.checker.algebra import ONE, Poly
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer
from proofs.language.tree import Term
from proofs.search.elementary import MAX_MULTIPLE, PI, TRIGONOMETRIC, halves, multiple, parts, total
from proofs.search.ideal import divide
from proofs.search.workbench import Workbench

NAMED = {2: "right_angle", 4: "pi_quarter", 6: "pi_sixth"}


def sine_and_cosine(w: Workbench, node: Term) -> None:
    """Sine and cosine of a sum or a multiple; at multiples of pi."""
    (x,) = node.args
    value = w.facts.lowering.lower(x)
    w.schema("sine_cosine", x=x)
    if value.is_complex:
        w.schema("sine_conjugate", x=x)
        w.schema("cosine_conjugate", x=x)
    if not value.terms:
        w.schema("cosine_zero")
        w.schema("sine_odd", x=ZERO)
        return
    monomials = parts(w, value)
    for k in range(len(monomials) - 1):
        _sum_of_angles(w, monomials[k], total(monomials[k + 1 :]))
    if len(monomials) > 1 or _half_turns(w, value):
        return
    unit, n = multiple(w, node, value, TRIGONOMETRIC)
    (coefficient,) = unit.terms.values()
    if n < 0:
        w.schema("sine_odd", x=w.raising.poly(-value))
        w.schema("cosine_even", x=w.raising.poly(-value))
    elif 1 < n <= MAX_MULTIPLE:
        _sum_of_angles(w, *halves(w, unit, n))
    elif PI in unit.terms and coefficient.denominator in NAMED:
        for function in ("sine", "cosine"):
            w.schema(f"{function}_{NAMED[coefficient.denominator]}")


def _sum_of_angles(w: Workbench, x: Term, y: Term) -> None:
    w.schema("sine_sum", x=x, y=y)
    w.schema("cosine_sum", x=x, y=y)


def _half_turns(w: Workbench, value: Poly) -> bool:
    """Whether an angle is a whole number of half turns, which is then made use of."""
    ((place, coefficient),) = value.terms.items()
    rest = divide(place[0], PI[0])
    if rest is None or coefficient.denominator != 1:
        return False
    p = w.raising.poly(Poly(ONE, ONE, {(rest, place[1]): coefficient}))
    if infer(p, w.facts.scope).domain not in ("integer", "dimension", "index"):
        return False
    w.schema("sine_half_turns", p=p)
    return w.schema("cosine_half_turns", p=p) is not None
