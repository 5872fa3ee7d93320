"""Untrusted. Signs of scalars by the form of their terms, before anything is multiplied out.

A sum of what is not negative, a product of signs, a square, a norm: `norm2(u)*norm2(v) + b^2` is
positive for b != 0 whatever u and v are written in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofs.checker.algebra import TooLarge, Word
from proofs.checker.definedness import ZERO
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, rational, term
from proofs.search import minors
from proofs.search.raising import NoTerm, size_term, size_terms
from proofs.search.workbench import ARITHMETIC, Workbench

MAX_VECTORS = 8  # tried as partners of one whose norm must be positive


def sign_by_form(w: Workbench, x: Term) -> int | None:
    """The place of a fact x > 0 or x >= 0, for a real x of this form."""
    known = _known(w, x)
    if known is not None:
        return known
    op, args = x.op, x.args
    if op == "add":
        parts = [sign_by_form(w, a) for a in args]
        if None in parts:
            return minors.sign(w, x)
        strict = any(_is_strict(w, p) for p in parts)
        return _positive(w, x, strict, [["1", [p], None] for p in parts])
    if op == "mul":
        parts = [sign_by_form(w, a) for a in args]
        if None in parts:
            return None
        strict = all(_is_strict(w, p) for p in parts)
        return _positive(w, x, strict, [["1", parts, None]])
    if op == "div":
        top, bottom = sign_by_form(w, args[0]), sign_by_form(w, args[1])
        if top is None or bottom is None or not _is_strict(w, bottom):
            return None
        inverse = w.schema("reciprocal_positive", x=args[1])
        if inverse is None:
            return None
        return _positive(w, x, _is_strict(w, top), [["1", [top, inverse], None]])
    if op == "pow" and args[1] is rational(2) and not infer(args[0], w.facts.scope).is_complex:
        if w.attempt(term("ne", args[0], ZERO)) is not None:
            return w.schema("square_positive", x=args[0])
        return _positive(w, x, False, [["1", [], w.place(args[0])]])
    if op == "norm2":
        return _norm(w, x.args[0])
    if op == "entry" and len(args) == 3 and args[1] is args[2]:
        return diagonal_sign(w, x)
    if op == "rational" and not str(x.data).startswith("-") and str(x.data) != "0":
        return _positive(w, x, True, [[str(x.data), [], None]])
    return minors.sign(w, x)


def _known(w: Workbench, x: Term) -> int | None:
    for op in ("gt", "ge"):
        relation = term(op, x, ZERO)
        found = w.find(relation)
        if found is not None and found != ARITHMETIC:
            return w.stated(relation, found)
    return None


def _is_strict(w: Workbench, place: int | None) -> bool:
    return place is not None and w.facts.facts[place].relation.op in ("gt", "lt")


def _positive(w: Workbench, x: Term, strict: bool, terms: list[Any]) -> int | None:
    goal = term("gt" if strict else "ge", x, ZERO)
    return w.positive(goal, terms)


def _norm(w: Workbench, x: Term) -> int | None:
    """norm2(x) > 0, where x has an inner product that isn't zero; else norm2(x) >= 0."""
    positive = norm_positive(w, x)
    if positive is not None:
        return positive
    kind = infer(x, w.facts.scope)
    return w.schema("norm_nonnegative", **size_terms(kind), A=x)


def diagonal_sign(w: Workbench, x: Term) -> int | None:
    """A[j, j] > 0 for a definite matrix, A[j, j] >= 0 for a semidefinite one, as u.T*A*u for the
    unit vector u."""
    a, j, _ = x.args
    if infer(a, w.facts.scope).is_complex:
        return None
    n, one = w.size(a), rational(1)
    unit = term("unit", n, j)
    if w.attempt(term("positive_definite", a)) is not None:
        row = term("transpose", unit)
        w.schema("full_rows_shown", n=one, k=n, A=row, X=unit)
        w.schema("definite_congruence", n=n, k=one, A=a, B=row)
        form = term("mul", term("mul", row, a), term("adjoint", row))
        place, op = w.schema("trace_positive", n=one, A=form), "gt"
    elif w.attempt(term("positive_semidefinite", a)) is not None:
        place, op = w.schema("quadratic_nonnegative", n=n, A=a, x=unit), "ge"
    else:
        return None
    return None if place is None else w.stated(term(op, x, ZERO), place)


def norm_positive(w: Workbench, x: Term) -> int | None:
    """norm2(x) > 0, where x != 0 is known or y.H*x != 0 for some vector y in sight."""
    kind = infer(x, w.facts.scope)
    n, k = size_term(kind.rows), size_term(kind.cols)
    if w.find(term("ne", x, term("zeros", n, k))) is not None:
        return w.schema("norm_nonzero", n=n, k=k, A=x)
    key = ("norm", id(x))
    if kind.cols.value != 1 or kind.is_scalar or key in w.failed:
        return None
    w.failed.add(key)  # also while it is under way
    for tried, y in enumerate(_partners(w, x)):
        if tried >= MAX_VECTORS:
            break
        inner = term("mul", term("adjoint", y), x)
        if w.attempt(term("ne", inner, ZERO)) is not None:
            w.failed.discard(key)
            return w.schema("norm_positive", n=size_term(kind.rows), x=x, y=y)
    return None


def _partners(w: Workbench, x: Term) -> Iterator[Term]:
    """Vectors y whose inner product with x stands among the facts, the shortest first."""
    try:
        value = w.facts.lowering.lower(x)
    except (TooLarge, StatementError):
        return
    words = [word for _, word in value.terms]
    found: dict[Word, None] = {}
    for fact in w.facts.facts:
        if fact.relation.op not in ("eq", "ne", "gt", "lt"):
            continue
        difference = w.facts.difference(fact.relation)
        if not difference.is_scalar:
            continue
        for monomial, _ in difference.terms:
            for a, _ in monomial:
                for word in (a.word or (), tuple(y.T for y in reversed(a.word or ()))):
                    for end in words:
                        if len(word) > len(end) and word[-len(end) :] == end:
                            found[word[: -len(end)]] = None
    for word in sorted(found, key=len):
        try:
            yield w.raising.word(tuple(y.T.conj for y in reversed(word)))
        except NoTerm:
            continue
