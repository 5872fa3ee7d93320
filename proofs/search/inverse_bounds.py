"""Untrusted. The inverse is convex: inv(a) lies above its tangent at any other definite matrix.

u*inv(a)*u.H - u*z.H - z*u.H + z*a*z.H is the square (u*inv(a) - z)*a*(u*inv(a) - z).H. With one
z = w*inv(m) for several u and a, the squares add up to a bound of w*inv(m)*w.H, where m is the sum
of the a, and w that of the u.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from proofs.checker.algebra import ONE, Monomial, Poly, TooLarge
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, term
from proofs.search import equations, signs
from proofs.search.ideal import divide
from proofs.search.raising import NoTerm, factors_of, product_of, size_term
from proofs.search.workbench import Stuck, Workbench

MAX_PARTS = 4
STEPS = (0, 40)  # of completion before each attempt
Part = tuple[Term, Term]  # u and a, of u*inv(a)*u.H


def between_numbers(w: Workbench, relation: Term) -> int | None:
    """A lower bound of x.T*inv(a)*x or tr(inv(a)), or of a sum of these, by such squares."""
    difference = w.facts.difference(relation)
    for m, others in _ways(w, relation):
        with suppress(NoTerm, TooLarge, Stuck, StatementError, NotDefined):
            rows, gap = [], difference
            for part in others:
                root, place = _root(part, m), None
                whole = _whole(part)
                under = term("tr", whole)
                weight = _weight(difference, w.facts.lowering.lower(under))
                n, k = w.size(part[1]), w.size(whole)
                square = term("mul", root, term("mul", part[1], term("adjoint", root)))
                if w.schema("semidefinite_congruence", n=n, k=k, A=part[1], B=root) is not None:
                    place = w.schema("trace_nonnegative", n=k, A=square)
                sign = _not_negative(w, weight)
                if place is None or sign is None:
                    break
                rows.append(["1", [sign, place], None])
                excess = signs.excess_of(w, w.facts.facts[place].relation)
                gap = gap if excess is None else gap - weight * excess
            else:
                ideal = equations.known(w, [relation])
                for steps in STEPS:
                    ideal.complete(steps or 1)
                    found = w.closed(relation, rows, gap, ideal)
                    if found is not None:
                        return found
    return None


def _ways(w: Workbench, root: Term) -> Iterator[tuple[Part, list[Part]]]:
    """Each of the inverses of definite matrices in a term as that below all others."""
    found: dict[Term, Part] = {}
    inside: set[Term] = set()
    for node in reversed(postorder([root])):  # the longest products first
        if node.free or node.op not in ("mul", "inv") or node in inside:
            continue
        factors = factors_of(node)
        for i, x in enumerate(factors):
            if x.op != "inv" or infer(x, w.facts.scope).is_scalar:
                continue
            before = [f for f in factors[:i] if not infer(f, w.facts.scope).is_scalar]
            n = size_term(infer(x, w.facts.scope).rows)
            u = product_of(before) if before else term("eye", n)
            found.setdefault(term("mul", u, x), (u, x.args[0]))
            inside |= set(postorder([node]))
    parts = [p for p in found.values() if w.attempt(term("positive_definite", p[1])) is not None]
    if 2 <= len(parts) <= MAX_PARTS:
        for m in parts:
            others = [p for p in parts if p is not m]
            yield m, others
            if len(others) > 1:  # as in 4*inv(a + b), where w is the sum of two identities
                total = others[0][0]
                for u, _ in others[1:]:
                    total = term("add", total, u)
                yield (total, m[1]), others


def _root(part: Part, m: Part) -> Term:
    """u*inv(a) - w*inv(m)."""
    (u, a), (v, b) = part, m
    return term("sub", term("mul", u, term("inv", a)), term("mul", v, term("inv", b)))


def _whole(part: Part) -> Term:
    u, a = part
    return term("mul", u, term("mul", term("inv", a), term("adjoint", u)))


def _weight(value: Poly, part: Poly) -> Poly:
    """What a part is multiplied by in a value.

    Raises:
        NoTerm: it isn't one term of it.
    """
    if len(part.terms) != 1:
        raise NoTerm("a sum")
    (((inner, word), scale),) = part.terms.items()
    terms: dict[tuple[Monomial, tuple[()]], Fraction] = {}
    for (monomial, other), c in value.terms.items():
        rest = divide(monomial, inner)
        if other == word and rest is not None:
            terms[rest, ()] = c / scale
    return Poly(ONE, ONE, terms)


def _not_negative(w: Workbench, weight: Poly) -> int | None:
    goal = term("ge", w.raising.poly(weight), ZERO)
    return w.stated(goal, w.establish(goal)) if weight.terms else None
