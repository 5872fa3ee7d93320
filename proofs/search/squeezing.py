"""Untrusted. Limits of what equals, or lies between, functions whose limits are known.

Bounds are looked for among what is known for all values of a number, at the variable x of the
limit: hypotheses, lemmas, and bounds of Lambert's W. Where the function is P*T + R and a bound
says Q*T + S >= 0, for a T such as W(x), the function is P/Q times that, plus R - S*P/Q.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from proofs.checker.algebra import ONE as COLUMN
from proofs.checker.algebra import Atom, Poly, TooLarge
from proofs.checker.definedness import ZERO, NotDefined
from proofs.checker.rules import admits
from proofs.language.errors import StatementError
from proofs.language.tree import (
    Term,
    abstract,
    instantiate,
    name,
    names_in,
    pair,
    postorder,
    rational,
    term,
)
from proofs.search import citing, curves, equations
from proofs.search.prune import transplanted
from proofs.search.raising import NoTerm
from proofs.search.workbench import ARITHMETIC, Stuck, Workbench

REAL = term("real_type")
HARD = frozenset({"lambertw", "apply", "log", "exp", "sqrt", "abs", "tanh", "erf", "sin", "cos"})
FAILURES = (Stuck, NotDefined, NoTerm, TooLarge, StatementError)
MAX_DEPTH = 3  # of bounds that have bounds
MAX_BOUNDS = 4  # on a side
NUMBERS = frozenset({"real_type", "positive_type", "nonnegative_type", "nonzero_type"})
VARIABLE, FAR = "\0", (1e3, 1e6, 1e9)
ONE, HALF = rational(1), rational(Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class Bound:
    """A step that shows a bound of a function for all large x, and the bound as a function."""

    steps: list[dict[str, Any]]
    base: int  # how many facts there were where they began
    goal: Term
    function: Term
    is_below: bool


def starts(w: Workbench) -> list[Term]:
    """Where x may start: at 0, and where quantified hypotheses do."""
    found = {ZERO: None}
    for fact in w.facts.facts:
        if fact.relation.op == "forall" and pair(fact.relation) == (1, 1):
            left, right = (*fact.relation.args[1].args, ZERO)[:2]
            if fact.relation.args[1].op in ("gt", "ge") and left.op == "bound" and not right.free:
                found[right] = None
    return list(found)


def same(w: Workbench, known: Term, body: Term, depth: int) -> int | None:
    """The limit of a function that equals one whose limit is known, for all large x."""
    from proofs.search.limits import find, tends_to  # the two call each other

    place = find(w, known, depth)
    if place is None or known is body:
        return place
    at = tends_to(w, place)
    (n,) = w.fresh(1)
    x = name(n)
    goal = term("eq", *(instantiate(f, (x,)) for f in (known, body)))
    for start in starts(w):
        with w.from_the_top():
            if w.for_all((n,), (REAL,), goal, (term("gt", x, start),)) is not None:
                return w.schema("limit_squeeze", f=body, g=known, h=known, a=at, b=start)
    return None


def between(w: Workbench, body: Term, depth: int) -> int | None:
    """The limit of a function between two others that have one limit."""
    from proofs.search.limits import find, tends_to

    if depth > MAX_DEPTH or not any(n.op in HARD and n.free for n in postorder([body])):
        return None
    if _seems_to_diverge(body):
        return None
    (n,) = w.fresh(1)
    for start in starts(w):
        where = (term("gt", name(n), start),)
        with w.from_the_top():
            bounds = _bounds(w, body, n, where)
        lows, highs = ([b for b in bounds if b.is_below is side] for side in (True, False))
        limits = {}
        for b in bounds:
            found = find(w, b.function, depth + 1)
            if found is not None:
                limits[b.function] = tends_to(w, found)
        for low in lows:
            for high in highs:
                a, b = limits.get(low.function), limits.get(high.function)
                if a is None or b is None or not _agree(w, high.function, a, b):
                    continue
                if all(_stated(w, x, n, where) for x in (low, high)):
                    values = {"g": low.function, "h": high.function, "a": a, "b": start}
                    return w.schema("limit_squeeze", f=body, **values)
    return None


def _seems_to_diverge(body: Term) -> bool:
    """Whether a function moves on as x grows, in floating point, with a number for each name."""
    at = instantiate(body, (name(VARIABLE),))
    nodes = postorder([at])
    point = dict.fromkeys(names_in(at), 1.25)
    found = [curves.evaluate(nodes, point | {VARIABLE: x}) for x in FAR]
    if any(value is None for value in found):
        return False
    first, second = (abs(b[0] - a[0]) for a, b in pairwise(v for v in found if v is not None))
    return second > 0.9 * first and second > 1e-6


def _agree(w: Workbench, high: Term, a: Term, b: Term) -> bool:
    """Whether the upper bound tends to the limit of the lower one."""
    if w.find(term("limit", high, a)) is not None:
        return True
    return w.schema("limit_equal", f=high, a=b, b=a) is not None


def _stated(w: Workbench, b: Bound, n: str, where: tuple[Term, ...]) -> bool:
    steps = transplanted(b.steps, b.base, len(w.facts.facts))
    step = {"rule": "forall", "names": [n], "types": [w.place(REAL)], "steps": steps}
    places = {"where": [w.place(r) for r in where], "goal": w.place(b.goal)}
    return w.take({**step, **places}) is not None


# ---------------------------------------------------------------- bounds at x


def _bounds(w: Workbench, body: Term, n: str, where: tuple[Term, ...]) -> list[Bound]:
    """Bounds of a function that follow from what is known at x."""
    x = name(n)
    found: list[Bound] = []
    base = len(w.facts.facts)
    try:
        with w.inside((n,), (REAL,), where) as inner:
            at = instantiate(body, (x,))
            inner.learn(at)
            inner.define(at)
            for gather in (_gather, _of_lambert):
                gather(inner, at, x)
                for goal, function, is_below in _derived(inner, at, x):
                    kept = abstract(function, (n,), (REAL,))
                    side = [b for b in found if b.is_below is is_below]
                    if len(side) < MAX_BOUNDS and all(b.function is not kept for b in side):
                        inner.define(goal)
                        found.append(Bound(list(inner.steps), base, goal, kept, is_below))
                if len({b.is_below for b in found}) == 2:
                    break
    except FAILURES:
        return found
    return found


def _gather(w: Workbench, at: Term, x: Term) -> None:
    """What hypotheses, lemmas and the rules say at x."""
    for place, fact in enumerate(list(w.facts.facts)):
        r = fact.relation
        speaks = r.op == "forall" and any(n.op in HARD and n.free for n in postorder([r.args[-1]]))
        if speaks and pair(r)[0] == 1 and r.args[0].op in NUMBERS:
            try:
                conditions = [instantiate(c, (x,)) for c in r.args[1:-1]]
                needed = [*admits(r.args[0], x, w.facts.scope), *conditions]
                by = [None if (p := w.establish(c)) == ARITHMETIC else p for c in needed]
                w.define(instantiate(r.args[-1], (x,)))
            except FAILURES:
                continue
            w.take({"rule": "instantiate", "fact": place, "terms": [w.place(x)], "by": by})
    citing.cite_at(w, at, x)
    for node in postorder([at]):
        if node.op == "erf":
            w.schema("erf_below_one", x=node.args[0])
            w.schema("erf_tail", x=node.args[0])
        elif node.op in ("sin", "cos"):
            w.attempt(term("le", node, ONE))
            w.attempt(term("ge", node, rational(-1)))
    for place, fact in enumerate(list(w.facts.facts)):
        r = fact.relation
        if r.op in ("le", "lt", "ge", "gt"):
            small, large = r.args if r.op in ("le", "lt") else r.args[::-1]
            if small.op == "abs" and str(x.data) in names_in(small):
                _two_sided(w, place, small.args[0], large)


def _two_sided(w: Workbench, place: int, u: Term, c: Term) -> None:
    """u <= c and -u <= c, from the fact that abs(u) <= c."""
    above, below = w.schema("abs_above", x=u), w.schema("abs_above", x=term("neg", u))
    even = w.schema("abs_even", x=u)
    w.positive(term("le", u, c), [["1", [place], None], ["1", [above], None]])
    rows = [[w.place(rational(-1)), even, None, ""]]
    w.positive(term("le", term("neg", u), c), [["1", [place], None], ["1", [below], None]], rows)


def _of_lambert(w: Workbench, at: Term, x: Term) -> None:
    """0 <= W(c*x) <= (1 + c)/2*sqrt(x).

    With y = W(c*x) and r = sqrt(x), the gap times 2*r is (r - y)^2 + y*(exp(y) - 1 - y) + y.
    """
    for y in postorder([at]):
        z = y.args[0] if y.op == "lambertw" else ONE
        others = [a for a in z.args if a is not x] if z.op == "mul" else []
        if z is not x and (len(others) != 1 or str(x.data) in names_in(others[0])):
            continue
        c, r = others[0] if others else ONE, term("sqrt", x)
        above = w.schema("lambertw_nonnegative", x=z)
        w.schema("lambertw_solves", x=z)
        tangent = w.schema("exp_tangent", x=y)
        w.schema("sqrt_square", x=x)
        if w.schema("sqrt_positive", x=x) is None or above is None or tangent is None:
            continue
        turned = w.schema("reciprocal_positive", x=r)
        w.schema("reciprocal", x=r)
        w.attempt(term("eq", term("mul", x, term("div", ONE, r)), r))
        gap = w.place(term("sub", r, y))
        bound = term("mul", term("mul", HALF, term("add", ONE, c)), r)
        goal = term("le", y, bound)
        w.learn(goal)
        ideal = equations.known(w, [goal])
        lower = w.facts.lowering.lower
        half = term("mul", HALF, term("div", ONE, r))
        parts = lower(term("pow", term("sub", r, y), rational(2)))
        parts += lower(term("mul", y, term("sub", term("exp", y), y)))
        rest = lower(term("sub", bound, y)) - lower(half) * parts
        terms = [["1/2", [turned], gap], ["1/2", [turned, above, tangent], None]]
        w.closed(goal, [*terms, ["1/2", [turned, above], None]], rest, ideal)


def _derived(w: Workbench, at: Term, x: Term) -> Iterator[tuple[Term, Term, bool]]:
    """Bounds as relations that are facts, the bound alone, and whether it lies below."""
    value = w.facts.lowering.lower(at)
    if not value.is_scalar:
        return
    for node, a in _hard(w, value, x):
        split = _split(value, a)
        if split is None:
            continue
        p, r = split
        for place, fact in enumerate(list(w.facts.facts)):
            if fact.relation.op not in ("le", "lt", "ge", "gt"):
                continue
            excess = w.facts.difference(fact.relation)
            if fact.relation.op in ("le", "lt"):
                excess = -excess
            parts = _split(excess, a) if excess.is_scalar else None
            if parts is None:
                continue
            found = _bound(w, at, value, place, excess, (p, r), parts)
            if found is not None and node not in postorder([found[1]]):
                yield found


def _bound(
    w: Workbench,
    at: Term,
    value: Poly,
    place: int,
    excess: Poly,
    mine: tuple[Poly, Poly],
    other: tuple[Poly, Poly],
) -> tuple[Term, Term, bool] | None:
    """P*T + R, held against the R - S*P/Q that it is at most or at least as Q*T + S >= 0."""
    try:
        ratio = _ratio(w, mine[0], other[0])
        if ratio is None:
            return None
        factor, c = ratio  # P/Q = c*factor, with a factor that is to be positive
        sign = None if factor is ONE else w.attempt(term("gt", factor, ZERO))
        if factor is not ONE and sign is None:
            return None
        times = w.facts.lowering.lower(factor).scale(c)
        rest = mine[1] - other[1] * times
        ideal = equations.known(w, [term("ge", x, ZERO) for x in (at, factor)])
        rest = ideal.reduce(rest)[0]
        bound = w.raising.poly(rest)
        w.learn(bound)
        w.define(bound)
        is_below = c > 0
        goal = term("ge" if is_below else "le", at, bound)
        gap = value - rest if is_below else rest - value
        used = [place] if sign in (None, ARITHMETIC) else [place, sign]
        weight = abs(c)
        if sign == ARITHMETIC:
            return None
        gap = gap - excess * times.scale(Fraction(1 if is_below else -1))
        found = w.closed(goal, [[str(weight), used, None]], gap, ideal)
        return None if found is None else (goal, bound, is_below)
    except FAILURES:
        return None


def _ratio(w: Workbench, p: Poly, q: Poly) -> tuple[Term, Fraction] | None:
    """P/Q of single terms, as a product of names and reciprocals times a number."""
    if len(p.terms) != 1 or len(q.terms) != 1:
        return None
    ((above, _), c), ((below, _), d) = *p.terms.items(), *q.terms.items()
    powers = dict(above)
    for a, k in below:
        powers[a] = powers.get(a, 0) - k
    factors = []
    for a, k in powers.items():
        base = w.raising.scalar(a)
        if k < 0:
            base = base.args[1] if _is_reciprocal(base) else term("div", ONE, base)
        factors += [base] * abs(k)
    total = factors[0] if factors else ONE
    for f in factors[1:]:
        total = term("mul", total, f)
    return total, c / d


def _is_reciprocal(a: Term) -> bool:
    return a.op == "div" and a.args[0] is ONE


def _hard(w: Workbench, value: Poly, x: Term) -> list[tuple[Term, Atom]]:
    """The parts of a number that are functions of x of which bounds may be known."""
    found: dict[Atom, Term] = {}
    for (monomial, word), _ in value.terms.items():
        for a, _power in monomial if not word else ():
            node = w.raising.atoms.get(a)
            if node is not None and node.op in HARD and str(x.data) in names_in(node):
                found[a] = node
    return [(node, a) for a, node in found.items()]


def _split(value: Poly, a: Atom) -> tuple[Poly, Poly] | None:
    """P and R of P*a + R; None where it isn't linear in a."""
    linear, rest = {}, {}
    for (monomial, word), c in value.terms.items():
        powers = dict(monomial)
        if a not in powers:
            rest[monomial, word] = c
        elif powers[a] > 1 or word:
            return None
        else:
            linear[tuple(m for m in monomial if m[0] is not a), word] = c
    return (Poly(COLUMN, COLUMN, linear), Poly(COLUMN, COLUMN, rest)) if linear else None
