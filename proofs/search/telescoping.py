"""Untrusted. A sum of symbolic length whose value is given, by the differences of that value.

Where sum(t(j), j, a, n) = S(n) is asked for, each term is t(j) = S(j) - S(j - 1), and the sum of
the differences is S(n) - S(a - 1). Unlike induction this needs no sum of unknown length to have
a value before, as with denominators in S.
"""

from __future__ import annotations

from proofs.checker.algebra import ONE
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer, polynomial
from proofs.language.sizes import Size
from proofs.language.tree import (
    Term,
    abstract,
    instantiate,
    name,
    names_in,
    rational,
    substitute,
    term,
)
from proofs.search import equations
from proofs.search.induction import shaped
from proofs.search.raising import size_term, size_terms
from proofs.search.workbench import Stuck, Workbench


def by_differences(w: Workbench, goal: Term) -> int | None:
    """A sum to n that stands alone on one side, from its terms as differences of the other."""
    if w.expanding or ("differences", goal) in w.failed:
        return None
    w.failed.add(("differences", goal))
    for total, value in (goal.args, goal.args[::-1]):
        if total.op == "sum":
            try:
                return _telescoped(w, goal, total, value)
            except (StatementError, NotDefined, Stuck):
                return None
    return None


def _telescoped(w: Workbench, goal: Term, total: Term, value: Term) -> int | None:
    low, high, body = total.args
    first, last = (polynomial(a, w.facts.scope.dimensions) for a in (low, high))
    if first is None or first.value is None or last is None:
        return None
    end = _end(w, last, instantiate(body, (rational(1),)))
    length = last - first + ONE
    if end is None or not length.is_positive:
        return None
    n, p = end, size_term(length)
    names, type_ = w.fresh(1), term("index_type", p)
    index = name(names[0])
    # The sum to the index i of 1..p is that to n = i - more.
    more = size_term(length - Size.dimension(n)) if length != Size.dimension(n) else rational(0)
    before = substitute(value, {n: term("sub", term("sub", index, more), rational(1))})
    f = abstract(before, names, (type_,))
    after = instantiate(f, (term("add", index, rational(1)),))
    step = abstract(term("sub", after, before), names, (type_,))
    sizes = {**size_terms(infer(total, w.facts.scope)), "p": p}
    if low is not rational(1):
        w.schema("sum_shift", **sizes, f=body, a=low)
        moved = instantiate(body, (term("sub", term("add", index, low), rational(1)),))
        body = abstract(moved, names, (type_,))
    if w.schema("sum_equal_terms", **sizes, f=body, g=step) is None:
        return None
    if w.schema("sum_telescope", **sizes, f=f) is None:
        return None
    return equations.quick(w, goal)


def _end(w: Workbench, last: Size, body: Term) -> str | None:
    """The dimension that the upper limit moves with one by one, and the terms don't."""
    names = {n for m, c in last.terms for n in m if m == (n,) and c == 1}
    if len(names) != 1 or any(len(m) > 1 for m, _ in last.terms):
        return None
    (n,) = names
    return None if n in names_in(body) or n in shaped(w) else n
