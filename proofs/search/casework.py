"""Untrusted. Inequalities shown by cases: on the order of names that a form treats alike."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.checker.algebra import Atom, Poly, TooLarge, multiply
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.tree import Term, term
from proofs.search.raising import NoTerm
from proofs.search.workbench import Stuck, Workbench

MAX_DEPTH = 4  # of cases within cases
MAX_SPLITS = 60  # for one statement
MAX_NAMES = 4  # that are put in order


def in_order(w: Workbench, relation: Term) -> int | None:
    """An inequality between forms that are symmetric in some names, for each order of them."""
    if w.level > 2 or w.cases >= MAX_DEPTH or w.programs[1] >= MAX_SPLITS:
        return None
    if ("implausible", w.facts.difference(relation).key) in w.failed:
        return None
    for x in _alike(w, relation):
        return split(w, x, relation)
    return None


def split(w: Workbench, x: Term, relation: Term) -> int | None:
    """A relation from proofs of it where x is negative, zero and positive."""
    w.programs[1] += 1
    branches = []
    try:
        w.define(x)
        for op in ("gt", "lt", "eq"):
            with w.inside((), (), (term(op, x, ZERO),)) as inner:
                inner.cases, inner.level = inner.cases + 1, 0
                inner.failed.clear()  # more is known here
                inner.establish(relation)
                inner.define(relation)
                branches.append(inner.steps)
    except (Stuck, NotDefined, StatementError, TooLarge):
        return None
    positive, negative, zero = branches
    step = {"rule": "cases", "of": w.place(x), "goal": w.place(relation)}
    return w.take({**step, "branches": [negative, zero, positive]})


def _is_known(w: Workbench, x: Term) -> bool:
    return any(w.find(term(op, x, ZERO)) is not None for op in ("ge", "le"))


def _alike(w: Workbench, relation: Term) -> Iterator[Term]:
    """Differences of names that can be exchanged in a form, where their order is open."""
    difference = w.facts.difference(relation)
    names = sorted({a for m, _ in difference.terms for a, _ in m}, key=lambda a: a.key)
    degrees = {sum(n for _, n in m) for m, _ in difference.terms}
    if not 2 <= len(names) <= MAX_NAMES or difference.is_complex:
        return
    if len(degrees) > 1 or degrees == {1}:
        return
    for i, b in enumerate(names):
        for a in names[:i]:
            if _exchanged(difference, a, b) != difference:
                continue
            try:
                x = term("sub", w.raising.scalar(a), w.raising.scalar(b))
            except NoTerm:
                continue
            if not _is_known(w, x) and all(
                w.attempt(term(op, x, ZERO)) is None for op in ("ge", "le")
            ):
                yield x


def _exchanged(value: Poly, a: Atom, b: Atom) -> Poly:
    swap = {a: b, b: a}
    terms = {
        (multiply(*(((swap.get(x, x), n),) for x, n in m))[1], word): c
        for (m, word), c in value.terms.items()
    }
    return Poly(value.rows, value.cols, terms)
