"""Untrusted. Semidefinite matrices as products of known ones: X*K*X.H, K*L where they commute."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from proofs.checker.algebra import ONE, Letter, Poly, Word
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer
from proofs.language.tree import Term, term
from proofs.search import equations
from proofs.search.workbench import Workbench

MAX_KNOWN = 6  # sums that are known to be semidefinite, of one size
MAX_SUMMANDS = 4
MAX_TRIES = 24


def congruent(w: Workbench, a: Term, n: Term) -> int | None:
    """X*K*X.H for a known sum K, up to the known equations; a term of a says what X is.

    Simplified by the known equations a may not show it any more: C*inv(A + C) is I - A*inv(A + C).
    """
    value = w.facts.lowering.lower(a)
    if len(value.terms) < 2:
        return None
    ideal = equations.known(w, [term("eq", a, a)])
    tries = 0
    for node, total in (*_sums(w), *_complements(w, value)):
        inside = {word[0] for _, word in total.terms if len(word) == 1}
        for u in _outer(value, inside):
            root = Poly(u[0].rows, u[-1].cols, {((), u): Fraction(1)})
            if root.rows != value.rows or root.cols != total.rows:
                continue
            tries += 1
            if tries > MAX_TRIES:
                return None
            if ideal.reduce(value - root * total * root.T.conj)[0].terms:
                continue
            if w.attempt(term("positive_semidefinite", node)) is None:
                break
            outer = w.raising.poly(root)
            w.schema("semidefinite_congruence", n=w.size(node), k=n, A=node, B=outer)
            shape = term("mul", term("mul", outer, node), term("adjoint", outer))
            return w.schema("semidefinite_equal", n=n, A=shape, B=a)
    return None


def _outer(value: Poly, inside: set[Letter]) -> list[Word]:
    """What stands before such a letter in a value, and the adjoint of what stands after it."""
    found: dict[Word, None] = {}
    for _, word in value.terms:
        for i, x in enumerate(word):
            if x in inside:
                found[word[:i]] = None
                found[tuple(y.T.conj for y in reversed(word[i + 1 :]))] = None
    found.pop((), None)
    return list(found)


def _complements(w: Workbench, value: Poly) -> list[tuple[Term, Poly]]:
    """I - Q for the matrices Q inside of negative terms X*Q*X.T; a projection's is one."""
    found: dict[Letter, tuple[Term, Poly]] = {}
    for (_, word), c in value.terms.items():
        middle = word[len(word) // 2] if len(word) > 2 and c < 0 else None
        node = None if middle is None else w.raising.letters.get(middle)
        if middle is not None and node is not None and middle.rows == middle.cols:
            rest = term("sub", term("eye", w.size(node)), node)
            found.setdefault(middle, (rest, w.facts.lowering.lower(rest)))
    return list(found.values())[:MAX_KNOWN]


def commuting(w: Workbench, a: Term, n: Term) -> int | None:
    """K*L or K*L*inv(M) for known sums K and L that commute: (A - I)*(2*I - A)*inv(A), say."""
    value = w.facts.lowering.lower(a)
    known = [(k, v) for k, v in _sums(w) if v.rows == value.rows]
    if len(known) < 2 or len(value.terms) < 2:
        return None
    ideal = equations.known(w, [term("eq", a, a)])
    inverses = [x for x in _letters(value) if _is_inverse(w, x)]
    for (k, one), (m, two) in combinations(known, 2):
        both = one * two
        if not ideal.reduce(value - both)[0].terms:
            found = w.schema("semidefinite_commuting", n=n, A=k, B=m)
            return None if found is None else _equal(w, k, m, a, n)
        for x in inverses:
            last = Poly(x.rows, x.cols, {((), (x,)): Fraction(1)})
            if ideal.reduce(value - both * last)[0].terms:
                continue
            product, inverse = term("mul", k, m), w.raising.letter(x)
            if w.schema("semidefinite_commuting", n=n, A=k, B=m) is None:
                continue
            if w.schema("semidefinite_commuting", n=n, A=product, B=inverse) is None:
                continue
            return _equal(w, product, inverse, a, n)
    return None


def weighted(w: Workbench, a: Term, n: Term) -> int | None:
    """A sum of known ones, each times a number that is not negative: t*K + (1 - t)*L, say."""
    value = w.facts.lowering.lower(a)
    if all(m == () for m, _ in value.terms):
        return None
    total: Term | None = None
    known = [(k, v) for k, v in _sums(w) if (v.rows, v.cols) == (value.rows, value.cols)]
    for k, v in known:
        others = {word for node, u in known if node is not k for _, word in u.terms}
        own = next(((m, word) for m, word in v.terms if word not in others and not m), None)
        if own is None:
            continue
        share = {
            (m, ()): c / v.terms[own] for (m, word), c in value.terms.items() if word == own[1]
        }
        if not share:
            continue
        weight = w.raising.poly(Poly(ONE, ONE, share))
        if w.attempt(term("ge", weight, ZERO)) is None:
            return None
        part = term("mul", weight, k)
        if w.schema("semidefinite_scale", n=n, A=k, c=weight) is None:
            return None
        if total is not None:
            w.schema("semidefinite_sum", n=n, A=total, B=part)
        total = part if total is None else term("add", total, part)
    if total is None or w.facts.lowering.lower(total) != value:
        return None
    return w.schema("semidefinite_equal", n=n, A=total, B=a)


def _equal(w: Workbench, one: Term, two: Term, a: Term, n: Term) -> int | None:
    return w.schema("semidefinite_equal", n=n, A=term("mul", one, two), B=a)


def _letters(value: Poly) -> list[Letter]:
    return list(dict.fromkeys(x for _, word in value.terms for x in word))


def _is_inverse(w: Workbench, x: Letter) -> bool:
    node = w.raising.letters.get(x)
    return node is not None and node.op == "inv"


def _sums(w: Workbench) -> list[tuple[Term, Poly]]:
    """Sums that are known to be semidefinite, the latest first."""
    found: dict[str, tuple[Term, Poly]] = {}
    for fact in reversed(w.facts.facts):
        node = fact.relation.args[0]
        if fact.relation.op not in ("positive_semidefinite", "positive_definite"):
            continue
        value = w.facts.lowering.lower(node)
        if 2 <= len(value.terms) <= MAX_SUMMANDS and not infer(node, w.facts.scope).is_scalar:
            found.setdefault(value.key, (node, value))
    return list(found.values())[:MAX_KNOWN]
