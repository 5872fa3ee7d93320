"""Untrusted. Inequalities by the sign of a derivative.

f(x) >= 0 where f(a) >= 0 and f rises from a to x: for an a that is known to bound x, or in a case
for each side of a. The derivative's sign is a relation like any other, shown by algebra, by balls
or by its own derivative. Before anything is tried, it is looked at in floating point.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from proofs.checker.algebra import Poly, TooLarge
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.tree import (
    Term,
    abstract,
    name,
    names_in,
    postorder,
    rational,
    substitute,
    term,
)
from proofs.search import covers, equations, positivstellensatz, signs
from proofs.search.curves import Curve
from proofs.search.factoring import factors
from proofs.search.raising import NoTerm, product_of
from proofs.search.workbench import Stuck, Workbench

MAX_DEPTH = 4  # derivatives of derivatives
MAX_NAMES = 4
MAX_LEVEL = 2  # of relations under way: one whose denominators are cleared again and again
MAX_SPLITS = 8  # for one statement
REAL = term("real_type")
POINTS = tuple(map(Fraction, ("0", "1", "-1", "1/2", "2", "4", "-2", "-4", "8", "-8", "16")))
FAILURES = (Stuck, NotDefined, NoTerm, TooLarge, StatementError)


def from_an_end(w: Workbench, relation: Term) -> int | None:
    """An inequality between functions of real names, from an end of the range of one of them."""
    curve = _curve(w, relation, "end")
    if curve and (found := positivstellensatz.linear(w, relation)) is not None:
        return found
    for x in curve.variables if curve else []:
        for a, is_above in _anchors(w, x):
            if curve and curve.rises(x, a):
                found = _from(w, relation, x, a, is_above)
                if found is not None:
                    return found
    return None


def in_cases(w: Workbench, relation: Term) -> int | None:
    """The same from a point inside of the range, in a case for each side of it."""
    curve = _curve(w, relation, "cases")
    for x in curve.variables if curve else []:
        for a in _turns(w, curve, x) if curve else []:
            if w.programs[2] < MAX_SPLITS and curve:
                found = _split(w, relation, curve, x, a)
                if found is not None:
                    return found
    return None


def _turns(w: Workbench, curve: Curve, x: Term) -> Iterator[Term]:
    """Where a function may be least: another name, or a simple number."""
    for y in curve.variables:
        if y is not x and all(curve.rises(x, y, side) for side in (1, -1)):
            yield y
    for p in curve.least(x, POINTS):
        if _is_worth(w, curve, x, p):
            yield rational(p)


def at_infinity(w: Workbench, relation: Term) -> int | None:
    """f(x) >= 0 where f falls from x on, and tends to 0: if f(x) were negative, -f(x)*t would grow
    without bounds, and it is less than -f(t)*t."""
    curve = _curve(w, relation, "infinity") if relation.op in ("ge", "le") else None
    for x in curve.variables if curve else []:
        low, high = covers.ends(w, x)
        if curve and low and not high and low.at >= 0 and curve.fades(x):
            found = _faded(w, relation, x)
            if found is not None:
                return found
    return None


def _faded(w: Workbench, relation: Term, x: Term) -> int | None:
    """f(x) >= 0 from -f(x)*t <= -f(t)*t <= 16 for all t >= x."""
    f, most = _difference(relation), rational(16)
    names = w.fresh(1)
    t = name(names[0])
    body = term("neg", f)
    at_t = substitute(body, {str(x.data): t})
    goal = term("le", term("mul", body, t), most)
    where = (term("ge", t, x),)
    try:
        with w.inside(names, (REAL,), where) as inner:
            inner.level = 0
            _pass_on(inner, t, x, x)
            falls = _rise(inner, body, x, x, t, True, False)
            bound = term("le", term("mul", at_t, t), most)
            _tails(inner, bound, t)
            above, sign = inner.establish(bound), inner.establish(term("ge", t, ZERO))
            if (
                falls is None
                or inner.positive(goal, [["1", [above], None], ["1", [falls, sign], None]]) is None
            ):
                return None
    except FAILURES:
        return None
    step = {"rule": "forall", "names": list(names), "types": [w.place(REAL)]}
    places = {"where": [w.place(r) for r in where], "goal": w.place(goal)}
    if w.take({**step, **places, "steps": inner.steps}) is None:
        return None
    found = w.schema("archimedean", a=x, c=body, k=most)
    return None if found is None else w.stated(relation, found)


def _tails(w: Workbench, relation: Term, t: Term) -> None:
    """How fast what occurs in an inequality fades: exp(-u), t*exp(-u) and t*(1 - erf(t)) are at
    most 1; and numbers around its constants."""
    one, two = rational(1), rational(2)
    nodes, small = postorder([relation]), []
    for node in nodes:
        if node.op == "erf":
            w.schema("erf_below_one", x=node.args[0])
            w.schema("erf_tail", x=node.args[0])
            small.append(term("mul", t, term("sub", one, node)))
        elif node.op in covers.FUNCTIONS and not names_in(node):
            for constant in (term("ge", node, one), term("le", node, two)):
                covers.at_once(w, constant)
    squares = [term("neg", term("pow", n.args[0], two)) for n in nodes if n.op == "erf"]
    exponents = [n.args[0] for n in nodes if n.op == "exp"]
    for exponent in dict.fromkeys((*squares, *exponents)):
        if exponent.op == "neg":
            u, power = exponent.args[0], term("exp", exponent)
            w.schema("exp_tangent", x=u)
            w.schema("exp_sum", x=u, y=exponent)
            w.schema("exp_zero")
            faster = term("mul", term("add", one, u), power)
            small = [faster, power, term("mul", t, power), *small]
    for value in small:
        w.attempt(term("le", value, one))


def _curve(w: Workbench, relation: Term, way: str) -> Curve | None:
    """The difference of the sides, where it is a function that is worth a try."""
    if w.slopes >= MAX_DEPTH or w.level > MAX_LEVEL:
        return None
    if not any(n.op in covers.FUNCTIONS for n in postorder([relation])):
        return None
    names = covers.variables(w, relation)
    key = ("slope", way, w.facts.key(relation), w.cases)
    if key in w.failed or not names or len(names) > MAX_NAMES:
        return None
    w.failed.add(key)
    curve = Curve(w, _difference(relation), names)
    if curve.is_false or (relation.op in ("gt", "lt") and _vanishes(w, curve)):
        return None
    return curve


def _vanishes(w: Workbench, curve: Curve) -> bool:
    """Whether a function of one name seems to be zero at a simple point of its range."""
    (x, *others) = curve.variables
    low, high = covers.ends(w, x)
    points = [p for p in POINTS if (not low or p > low.at) and (not high or p < high.at)]
    points += [end.at for end in (low, high) if end and end.relation.op in ("ge", "le")]
    return not others and any(curve.is_zero(x, p) for p in points)


def _difference(relation: Term) -> Term:
    """What is not negative, by an inequality."""
    large, small = relation.args if relation.op in ("gt", "ge") else relation.args[::-1]
    return large if small is ZERO else term("sub", large, small)


def _anchors(w: Workbench, x: Term) -> Iterator[tuple[Term, bool]]:
    """Terms that are known to bound a name, with whether the name lies above."""
    seen: set[tuple[Term, bool]] = set()
    low, high = covers.ends(w, x)
    for bound, is_above in ((low, True), (high, False)):
        if bound is not None:
            other = bound.relation.args[bound.relation.args[0] is x]
            seen.add((other, is_above))
            covers.stated(w, bound)
    for fact in w.facts.facts:
        op, args = fact.relation.op, fact.relation.args
        if op in ("gt", "ge", "lt", "le") and x in args:
            other = args[args[0] is x]
            if str(x.data) not in names_in(other):
                seen.add((other, (args[0] is x) == (op in ("gt", "ge"))))
    yield from sorted(seen, key=lambda a: (len(postorder([a[0]])), not a[1]))


def _is_worth(w: Workbench, curve: Curve, x: Term, p: Fraction) -> bool:
    """Whether f rises from p on a side, and on both unless the range ends on the other."""
    low, high = covers.ends(w, x)
    if (low is not None and low.at >= p) or (high is not None and high.at <= p):
        return False
    up, down = (curve.rises(x, rational(p), side) for side in (1, -1))
    return (up and (down or low is not None)) or (down and high is not None)


# ---------------------------------------------------------------- from a point


def _from(w: Workbench, relation: Term, x: Term, a: Term, is_above: bool) -> int | None:
    """f(x) >= 0 from f(a) >= 0 and that f rises from a to x."""
    f, strict = _difference(relation), relation.op in ("gt", "lt")
    at_a = substitute(f, {str(x.data): a})
    for op in ("gt", "ge") if strict else ("ge",):
        start = term(op, at_a, ZERO)
        try:
            w.learn(start)
            if op == "ge":  # most often f(a) = 0
                w.attempt(term("eq", at_a, ZERO))
            first = w.stated(start, w.establish(start))
        except FAILURES:
            continue
        strictly = strict and op == "ge"
        rises = _rise(w, f, x, a, x, is_above, strictly)
        found = [rises] if rises is not None else []
        if strictly and rises is None:  # the slope may vanish at a
            middle = term("div", term("add", a, x), rational(2))
            found = [
                _rise(w, f, x, a, middle, is_above, False),
                _rise(w, f, x, middle, x, is_above, True),
            ]
        if found and all(place is not None for place in found):
            return w.positive(relation, [["1", [place], None] for place in (first, *found)])
    return None


def _rise(
    w: Workbench, f: Term, x: Term, a: Term, b: Term, is_above: bool, strict: bool
) -> int | None:
    """f(a) <= f(b), or f(a) < f(b), where b lies above a, or below."""
    body = f if is_above else term("neg", f)
    low, high = (a, b) if is_above else (b, a)
    if _slope(w, body, x, low, high, strict) is None:
        return None
    rule = "increasing" if strict else "nondecreasing"
    return w.schema(rule, f=abstract(body, (str(x.data),), (REAL,)), a=low, b=high)


def _slope(w: Workbench, body: Term, x: Term, low: Term, high: Term, strict: bool) -> int | None:
    """That the derivative is not negative, or positive, between two points."""
    names = w.fresh(1)
    t = name(names[0])
    op = "gt" if strict else "ge"
    where = (term("ge", t, low), term("le", t, high))
    slope = term("deriv", abstract(body, (str(x.data),), (REAL,)), t, data=1)
    goal = term(op, slope, ZERO)
    try:
        with w.inside(names, (REAL,), where) as inner:
            inner.slopes, inner.level = inner.slopes + 1, 0
            _pass_on(inner, t, low, high)
            inner.learn(goal)
            inner.define(goal)
            ideal = equations.known(inner, [term("eq", slope, slope)])
            rest, used = ideal.reduce(inner.facts.lowering.lower(slope))
            found = term(op, _factored(inner, rest), ZERO)
            inner.learn(found)
            _compare(inner, found)
            place = inner.stated(found, inner.establish(found))
            if inner.positive(goal, [["1", [place], None]], inner.rows(used)) is None:
                return None
    except FAILURES:
        return None
    step = {"rule": "forall", "names": list(names), "types": [w.place(REAL)]}
    places = {"where": [w.place(r) for r in where], "goal": w.place(goal)}
    return w.take({**step, **places, "steps": inner.steps})


def _pass_on(w: Workbench, t: Term, low: Term, high: Term) -> None:
    """Numbers that bound the ends of a range bound what lies between."""
    for n in sorted(names_in(low) | names_in(high)):
        for bound, ops in zip(covers.ends(w, name(n)), (("gt", "ge"), ("lt", "le")), strict=True):
            if bound is not None:
                any(signs.follows(w, term(op, t, rational(bound.at))) for op in ops)


def _compare(w: Workbench, relation: Term) -> None:
    """Each W(x) with the u of an exp(u) in x, as x is u*exp(u) where the two are equal."""
    for node in postorder([relation]):
        if node.op == "lambertw":
            for power in postorder([node.args[0]]):
                if power.op == "exp":
                    u = power.args[0]
                    any(w.attempt(term(op, node, u)) is not None for op in ("ge", "le"))


def _factored(w: Workbench, value: Poly) -> Term:
    """A scalar as a product, where it is one."""
    found = factors(value)
    if not found:
        return w.raising.poly(value)
    return product_of([w.raising.poly(p) for p, power in found for _ in range(power)])


# ---------------------------------------------------------------- cases


def _split(w: Workbench, relation: Term, curve: Curve, x: Term, a: Term) -> int | None:
    """An inequality from proofs of it below, at and above a point."""
    gap = x if a is ZERO else term("sub", x, a)
    branches: list[Any] = []
    w.programs[2] += 1
    try:
        w.define(gap)
        for op, side in (("lt", -1), ("eq", 0), ("gt", 1)):
            with w.inside((), (), (term(op, gap, ZERO),)) as inner:
                inner.cases, inner.level = w.cases + 1, 0
                here = term(op, x, a)
                inner.stated(here, inner.establish(here))
                found = covers.by_balls(inner, relation)
                if found is None and (not side or curve.rises(x, a, side)):
                    found = _from(inner, relation, x, a, op != "lt")
                for method in (from_an_end, in_cases) if op != "eq" else ():
                    found = method(inner, relation) if found is None else found
                if found is None:
                    return None
                inner.define(relation)
                branches.append(inner.steps)
    except FAILURES:
        return None
    step = {"rule": "cases", "of": w.place(gap), "goal": w.place(relation)}
    return w.take({**step, "branches": branches})
