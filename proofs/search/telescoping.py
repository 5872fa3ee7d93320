"""Untrusted. A sum of symbolic length whose value is given, by the differences of that value.

Where sum(t(j), j, a, n) = S(n) is asked for, each term is t(j) = S(j) - S(j - 1), and the sum of
the differences is S(n) - S(a - 1). Unlike induction this needs no sum of unknown length to have
a value before, as with denominators in S. Sums of powers of the index have values of their own.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from proofs.checker.algebra import ONE, Atom, Monomial, Poly, TooLarge, Word
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
    postorder,
    rational,
    substitute,
    term,
)
from proofs.search import equations
from proofs.search.induction import shaped
from proofs.search.raising import NoTerm, size_term, size_terms
from proofs.search.workbench import Stuck, Workbench

MAX_POWER = 8  # of an index


def by_differences(w: Workbench, goal: Term) -> int | None:
    """A sum to n that stands alone on one side, from its terms as differences of the other; or
    the one sum that known equations leave of a goal, from what is left beside it."""
    if w.expanding or ("differences", goal) in w.failed:
        return None
    w.failed.add(("differences", goal))
    try:
        for total, value in (goal.args, goal.args[::-1]):
            if total.op == "sum" and _telescoped(w, total, value):
                return equations.quick(w, goal)
        alone = _isolated(w, goal)
        if alone is not None and _telescoped(w, *alone):
            equal = w.attempt(term("eq", *alone))
            return None if equal is None else equations.quick(w, goal)
        if _powers(w, goal):
            return equations.quick(w, goal)
    except (StatementError, NotDefined, Stuck, NoTerm, TooLarge):
        return None
    return None


def _left_over(w: Workbench, goal: Term) -> tuple[Poly, dict[Atom, Term]]:
    """What the known equations leave of a goal, and the scalars in it that hold sums."""
    rest, _ = equations.known(w, [goal]).reduce(w.facts.difference(goal))
    nodes = {a: w.raising.atoms.get(a) for monomial, _ in rest.terms for a, _ in monomial}
    return rest, {
        a: node
        for a, node in nodes.items()
        if node is not None and any(x.op == "sum" for x in postorder([node]))
    }


def _isolated(w: Workbench, goal: Term) -> tuple[Term, Term] | None:
    """The one sum that is left of a goal, and what it must be for the goal to hold."""
    rest, sums = _left_over(w, goal)
    if len(sums) != 1 or not rest.is_scalar:
        return None
    ((a, total),) = sums.items()
    beside: dict[tuple[Monomial, Word], Fraction] = {}
    others = dict(rest.terms)
    for (monomial, word), c in rest.terms.items():
        power = dict(monomial).get(a, 0)
        if power > 1:
            return None
        if power:
            beside[tuple(x for x in monomial if x[0] is not a), word] = -c
            del others[monomial, word]
    if total.op != "sum":
        return None
    value, factor = (Poly(rest.rows, rest.cols, t) for t in (others, beside))
    if factor.constant is not None:
        return total, w.raising.poly(value.scale(1 / factor.constant))
    return total, term("div", w.raising.poly(value), w.raising.poly(factor))


# ---------------------------------------------------------------- powers of the index


def _powers(w: Workbench, goal: Term) -> bool:
    """Whether a sum of powers of its index that is left of a goal now has a value."""
    found = False
    for total in _left_over(w, goal)[1].values():
        key = ("powers of an index", total)
        if total.op != "sum" or total.args[0] is not rational(1) or key in w.failed:
            continue
        w.failed.add(key)
        body = total.args[2]
        base, exponent = body.args if body.op == "pow" else (body, rational(1))
        if base.op == "bound" and exponent.op == "rational" and str(exponent.data).isdecimal():
            power = int(str(exponent.data))
            if power <= MAX_POWER:
                value = _horner(faulhaber(power), total.args[1])
                found = w.attempt(term("eq", total, value)) is not None or found
    return found


def faulhaber(power: int) -> list[Fraction]:
    """The coefficients of 1^p + ... + n^p as a polynomial in n, the constant first."""
    sums: list[list[Fraction]] = []
    for p in range(power + 1):  # (n + 1)^(p+1) - 1 is the sum of binomials times lower sums
        total = [Fraction(comb(p + 1, i)) for i in range(p + 2)]
        total[0] -= 1
        for i, lower in enumerate(sums):
            for place, c in enumerate(lower):
                total[place] -= comb(p + 1, i) * c
        sums.append([c / (p + 1) for c in total])
    return sums[power]


def _horner(coefficients: list[Fraction], n: Term) -> Term:
    value = rational(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = term("add", term("mul", value, n), rational(c))
    return value


# ---------------------------------------------------------------- differences


def _telescoped(w: Workbench, total: Term, value: Term) -> bool:
    """Whether the terms of a sum are now known as differences of a value."""
    low, high, body = total.args
    first, last = (polynomial(a, w.facts.scope.dimensions) for a in (low, high))
    if first is None or first.value is None or last is None:
        return False
    end = _end(w, last, instantiate(body, (rational(1),)))
    length = last - first + ONE
    if end is None or not length.is_positive:
        return False
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
        return False
    return w.schema("sum_telescope", **sizes, f=f) is not None


def _end(w: Workbench, last: Size, body: Term) -> str | None:
    """The dimension that the upper limit moves with one by one, and the terms don't."""
    names = {n for m, c in last.terms for n in m if m == (n,) and c == 1}
    if len(names) != 1 or any(len(m) > 1 for m, _ in last.terms):
        return None
    (n,) = names
    return None if n in names_in(body) or n in shaped(w) else n
