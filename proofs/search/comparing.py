"""Untrusted. Inequalities from others to which an increasing function is applied.

Between logarithms, from what they are of; between positive numbers, from their logarithms; beside
a root, or for a square, from the squares of both sides.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

from proofs.checker.algebra import ONE, Atom, Monomial, Poly
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import signs, termwise, trials
from proofs.search.termwise import PROBLEMS
from proofs.search.workbench import Stuck, Workbench

MAX_LEVEL = 6  # of relations under way
MAX_POWER = 4  # of what is under a logarithm
MAX_TERMS = 16
MAX_SUMS = 2  # under logarithms
COMPOUND = frozenset({"sum", "add", "sub", "prod"})
CURVED = frozenset({"log", "logsumexp", "max", "min", "abs"})
POWERS = frozenset({"exp", "pow", "prod"})
TWO = rational(2)


def sign(w: Workbench, relation: Term) -> int | None:
    """left > right or left >= right, by the first of these that applies."""
    if w.level > MAX_LEVEL or not infer(relation.args[0], w.facts.scope).is_scalar:
        return None
    for method in (_square, _beside_root, _of_arguments, _of_logarithms):
        try:
            found = method(w, relation)
        except PROBLEMS:
            continue
        if found is not None:
            return found
    return None


def _shown(w: Workbench, relation: Term) -> int:
    """The place of exactly this relation, for which there is as much effort as for a goal."""
    if not trials.is_possible(w, relation):
        raise Stuck(relation)
    with w.from_the_top():
        place = w.establish(relation)
    return w.stated(relation, place)


# ---------------------------------------------------------------- squares and roots


def _square(w: Workbench, relation: Term) -> int | None:
    """c >= u^2 from sqrt(c) >= u and sqrt(c) >= -u, where u is no polynomial."""
    above, square = relation.args
    if relation.op != "ge" or square.op != "pow" or square.args[1] is not TWO:
        return None
    u = square.args[0]
    if infer(u, w.facts.scope).is_complex or not any(n.op in CURVED for n in postorder([u])):
        return None
    root = term("sqrt", above)
    w.define(root)
    places = [_shown(w, term("ge", root, side)) for side in (u, term("neg", u))]
    w.schema("sqrt_square", x=above)
    return signs.from_facts(w, relation, [["1", places, None]])


def _beside_root(w: Workbench, relation: Term) -> int | None:
    """m >= u for an m >= 0 with roots in all its terms, from m^2 >= u^2."""
    if not any(n.op == "sqrt" and not n.free for n in postorder([relation])):
        return None
    value, _ = termwise.reduced(w, relation)
    with_roots = {p: c for p, c in value.terms.items() if c > 0 and _has_root(w, p[0])}
    rest = {p: -c for p, c in value.terms.items() if p not in with_roots}
    if not with_roots or not rest or relation.op != "ge":
        return None
    m = w.raising.poly(Poly(ONE, ONE, with_roots))
    u = w.raising.poly(Poly(ONE, ONE, rest))
    squares = [term("pow", x, TWO) for x in (m, u)]
    _shown(w, term("ge", m, ZERO))
    _shown(w, term("ge", *squares))
    places = [w.schema("sqrt_monotone", x=squares[1], y=squares[0]), w.schema("abs_above", x=u)]
    if None in places:
        return None
    w.schema("sqrt_modulus", x=u)
    w.schema("sqrt_of_square", x=m)
    return signs.from_facts(w, relation, [["1", [p], None] for p in places])


def _has_root(w: Workbench, monomial: Monomial) -> bool:
    nodes = [w.raising.atoms.get(a) for a, _ in monomial]
    return any(n is not None and n.op == "sqrt" for n in nodes)


# ---------------------------------------------------------------- logarithms


def _of_arguments(w: Workbench, relation: Term) -> int | None:
    """c_1*log(s_1) + .. + r >= 0 for whole c, from that between products of powers."""
    if not any(n.op in ("log", "logsumexp") and not n.free for n in postorder([relation])):
        return None
    value, _ = termwise.reduced(w, relation)
    if len(value.terms) > MAX_TERMS or value.is_complex:
        return None
    logs = {p: c for p, c in value.terms.items() if _argument(w, p[0]) is not None}
    if len(logs) < len(value.terms):  # beside other terms, a plain logarithm is a number like these
        logs = {p: c for p, c in logs.items() if _is_compound(w, p[0])}
    under = [_argument(w, p[0]) for p in logs]
    if sum(s is not None and s.op == "sum" for s in under) > MAX_SUMS:
        return None
    if not logs or any(_speaks_of(p[0], logs) for p in value.terms if p not in logs):
        return None
    below = lcm(*(c.denominator for c in logs.values()))
    sides: list[Term] = []
    signs_ = {c > 0 for c in logs.values()}
    for sign_ in (1, -1):
        takes_all = len(signs_) == 1 and (sign_ > 0) not in signs_  # what the sum is compared with
        factors: list[Term] = []
        for (monomial, _), c in logs.items():
            power = c * below * sign_
            s = _argument(w, monomial)
            if power > MAX_POWER or s is None:
                return None
            if power > 0:
                factors.append(s if power == 1 else term("pow", s, rational(power)))
        rest = {
            p: c * below * sign_
            for p, c in value.terms.items()
            if p not in logs and (takes_all or (len(signs_) == 2 and c * sign_ > 0))
        }
        if rest:
            factors.append(term("exp", w.raising.poly(Poly(ONE, ONE, rest))))
        product = factors[0] if factors else rational(1)
        for f in factors[1:]:
            product = term("mul", product, f)
        sides.append(product)
    _shown(w, term(relation.op, *sides))
    rule = "log_increasing" if relation.op == "gt" else "log_monotone"
    place = w.schema(rule, x=sides[1], y=sides[0])
    if place is None:
        return None
    return signs.from_facts(w, relation, [[str(Fraction(1, below)), [place], None]])


def _argument(w: Workbench, monomial: Monomial) -> Term | None:
    """What a logarithm is of, for a monomial that is one."""
    if len(monomial) != 1 or monomial[0][1] != 1:
        return None
    node = w.raising.atoms.get(monomial[0][0])
    return None if node is None or node.op != "log" else node.args[0]


def _is_compound(w: Workbench, monomial: Monomial) -> bool:
    """Whether a monomial is the logarithm of a sum or product."""
    x = _argument(w, monomial)
    return x is not None and x.op in COMPOUND


def _speaks_of(monomial: Monomial, logs: dict[Any, Any]) -> bool:
    mine: set[Atom] = {a for (m, _) in logs for a, _ in m}
    return any(a in mine for a, _ in monomial)


def _of_logarithms(w: Workbench, relation: Term) -> int | None:
    """a >= b between positive numbers from log(a) >= log(b), where one is a product, or a power."""
    if not any(n.op in POWERS for n in postorder([relation])):
        return None
    sides = _two_sides(w, relation)
    if sides is None or (w.level > 1 and any(n.op == "log" for n in postorder(sides))):
        return None
    for side in sides:
        if w.attempt(term("gt", side, ZERO)) is None:
            return None
    high, low = (term("log", side) for side in sides)
    _shown(w, term(relation.op, high, low))
    rule = "exp_increasing" if relation.op == "gt" else "exp_monotone"
    place = w.schema(rule, x=low, y=high)
    if place is None:
        return None
    for side in sides:
        w.schema("exp_log", x=side)
    return signs.from_facts(w, relation, [["1", [place], None]])


def _two_sides(w: Workbench, relation: Term) -> tuple[Term, Term] | None:
    """Two products, or sums beside an exponential, that an inequality compares."""
    value, _ = termwise.reduced(w, relation)
    terms = [Poly(ONE, ONE, {p: c}) for p, c in value.terms.items()]
    if len(terms) == 2:
        up = [w.raising.poly(t) for t in terms if min(t.terms.values()) > 0]
        down = [w.raising.poly(-t) for t in terms if max(t.terms.values()) < 0]
        if len(up) == len(down) == 1:
            return up[0], down[0]
    high, low = relation.args
    if any(_is_multiplicative(w, side) for side in (high, low)):
        return high, low
    return None


def _is_multiplicative(w: Workbench, side: Term) -> bool:
    """Whether a side is an exponential, a product or a power, or a product of such."""
    if side.op == "mul":
        return all(_is_multiplicative(w, a) or a.op == "rational" for a in side.args)
    if side.op == "pow":
        return side.args[1].op != "rational"
    return side.op in ("exp", "prod")
