"""Untrusted. Inequalities shown by cases: on the order of names that a form treats alike."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.checker.algebra import Atom, Poly, TooLarge, multiply
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.tree import Term, rational, term
from proofs.search import trials
from proofs.search.raising import NoTerm
from proofs.search.workbench import ARITHMETIC, Stuck, Workbench

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
                if op != "lt" or _impossible(inner, x, relation) is None:
                    inner.establish(relation)
                inner.define(relation)
                branches.append(inner.steps)
    except (Stuck, NotDefined, StatementError, TooLarge):
        return None
    positive, negative, zero = branches
    step = {"rule": "cases", "of": w.place(x), "goal": w.place(relation)}
    return w.take({**step, "branches": [negative, zero, positive]})


def _impossible(w: Workbench, x: Term, relation: Term) -> int | None:
    """Anything, where x is negative and is known not to be."""
    above = w.find(term("ge", x, ZERO))
    below = w.find(term("lt", x, ZERO))
    if relation.op != "gt" or above is None or below is None or ARITHMETIC in (above, below):
        return None
    nothing = term("gt", ZERO, ZERO)
    rows = [["1", [above], None], ["1", [below], None]]
    if w.positive(nothing, rows) is None:
        return None
    absurd = w.schema("irreflexive", x=ZERO)  # 1 = 0
    if absurd is None:
        return None
    gap = term("sub", term("sub", *relation.args), rational(1))
    sides = w.facts.difference(w.facts.facts[absurd].relation).constant
    factor = gap if sides == 1 else term("neg", gap)
    return w.positive(relation, [["1", [], None]], [[w.place(factor), absurd, None, ""]])


def strictly(w: Workbench, relation: Term) -> int | None:
    """x > 0 by cases, where a number that is not negative is zero and where it is not."""
    if relation.op != "gt" or w.level > 3 or w.cases >= MAX_DEPTH:
        return None
    difference = w.facts.difference(relation)
    if ("implausible", difference.key) in w.failed or not trials.is_possible(w, relation):
        return None
    for a in sorted({a for m, _ in difference.terms for a, _ in m}, key=lambda a: a.key):
        try:
            x = w.raising.scalar(a)
        except NoTerm:
            continue
        known = [w.find(term(op, x, ZERO)) for op in ("ge", "gt", "ne")]
        if x.op == "name" and known[0] is not None and known[1:] == [None, None]:
            return split(w, x, relation)
    return None


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
