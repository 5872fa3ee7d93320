"""Untrusted. Equations and inequalities between scalars that are no combination of known ones.

An integral domain has no zero divisors and no nilpotent elements; a non-negative number is the
root of its square; and a modulus, a maximum or a minimum is what it is in each of three cases.
"""

from __future__ import annotations

from proofs.checker.algebra import Poly, TooLarge
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, names_in, postorder, rational, term
from proofs.search import commutative, equations
from proofs.search.factoring import factors
from proofs.search.raising import NoTerm
from proofs.search.workbench import Stuck, Workbench

MAX_CASES = 3  # one inside the other
MAX_UNITS = 8  # reciprocals of what is known not to be zero
WORK = 20_000  # to see whether an equation holds at all
UNDER_ROOT = term("sqrt", bound(0, term("real_type")))
SPLIT = frozenset({"abs", "max", "min"})


def without_divisors(w: Workbench, goal: Term) -> int | None:
    """d = 0 because a multiple of d by something that is not zero is, or a power of d."""
    value = w.facts.difference(goal)
    if not value.is_scalar or any(word for _, word in value.terms):
        return None
    for method in (_with_units, _by_factor, _by_square, _by_roots):
        try:
            found = method(w, goal, value)
        except (NoTerm, TooLarge, Stuck, StatementError, NotDefined):
            continue
        if found is not None:
            return found
    return None


def _with_units(w: Workbench, goal: Term, value: Poly) -> int | None:
    """With the reciprocals of what is known not to be zero."""
    units = []
    for fact in list(w.facts.facts):
        if fact.relation.op in ("ne", "gt", "lt"):
            x = fact.relation.args[0] if fact.relation.args[1] is ZERO else None
            x = term("sub", *fact.relation.args) if x is None else x
            difference = w.facts.difference(fact.relation)
            if difference.is_scalar and difference.constant is None and x not in units:
                units.append(x)
    before = len(w.facts.facts)
    for x in units[:MAX_UNITS]:
        w.schema("reciprocal", x=x)
    return commutative.by_ideal(w, goal) if len(w.facts.facts) > before else None


def _by_factor(w: Workbench, goal: Term, value: Poly) -> int | None:
    """A known equation x*d = 0 where the other factors x are not zero."""
    target = w.raising.poly(value)
    for fact in list(w.facts.facts):
        if fact.relation.op != "eq":
            continue
        known = w.facts.difference(fact.relation)
        found = factors(known) if known.is_scalar else []
        mine = [p for p, _ in found if p.key == _scaled_like(p, value).key]
        if not mine:
            continue
        others: Term | None = None
        for p, power in found:
            for _ in range(power - (p is mine[0])):
                part = w.raising.poly(p)
                others = part if others is None else term("mul", part, others)
        if others is None or w.attempt(term("ne", others, ZERO)) is None:
            continue
        if w.schema("integral_domain", x=others, y=target) is not None:
            return equations.plainly_combined(w, goal)
    return None


def _scaled_like(p: Poly, value: Poly) -> Poly:
    """A multiple of `value` that has a coefficient of p in common, where there is one."""
    place = next(iter(p.terms))
    if place not in value.terms:
        return value
    return value.scale(p.terms[place] / value.terms[place])


def _holds(w: Workbench, goal: Term, value: Poly) -> bool:
    """Whether a scalar is zero by the known equations."""
    known = equations.known(w, [goal])
    return commutative.combination(w, known, value, WORK) is not None


def _by_square(w: Workbench, goal: Term, value: Poly) -> int | None:
    """d^2 = 0."""
    if not _holds(w, goal, value * value):
        return None
    w.schema("square_zero", x=w.raising.poly(value))
    return equations.plainly_combined(w, goal)


def _by_roots(w: Workbench, goal: Term, value: Poly) -> int | None:
    """Non-negative numbers whose squares are equal."""
    sides = [w.facts.lowering.lower(a) for a in goal.args]
    gap = sides[0] * sides[0] - sides[1] * sides[1]
    if value.is_complex or not (_holds(w, goal, gap) or _multiplied(w, gap)):
        return None
    if any(w.schema("sqrt_of_square", x=a) is None for a in goal.args):
        return None
    squares = term("eq", *(term("pow", a, rational(2)) for a in goal.args))
    place = w.sided(squares, w.establish(squares))
    if place is None or w.congruence(place, UNDER_ROOT) is None:
        return None
    return equations.plainly_combined(w, goal)


def _multiplied(w: Workbench, value: Poly) -> bool:
    """Whether a scalar is zero, with each product of two of its roots as a root of what the
    product of the numbers below them comes to."""
    found = False
    for monomial, _ in value.terms:
        nodes = [w.raising.atoms.get(a) for a, power in monomial if power == 1]
        roots = [n for n in nodes if n is not None and n.op == "sqrt"]
        for i, one in enumerate(roots):
            for two in roots[:i]:
                if w.schema("sqrt_product", x=one.args[0], y=two.args[0]) is not None:
                    product = term("sqrt", term("mul", one.args[0], two.args[0]))
                    equations.simplify_argument(w, product)
                    found = True
    return found and _holds(w, term("eq", w.raising.poly(value), ZERO), value)


# ---------------------------------------------------------------- cases


def by_cases(w: Workbench, goal: Term) -> int | None:
    """Where a modulus, maximum or minimum occurs: by the sign that decides what it is."""
    wanted = w.facts.key(goal) == w.facts.key(w.statement.goal)
    if w.cases >= MAX_CASES or not (wanted or w.cases):
        return None
    for x in _undecided(w, goal):
        branches = []
        try:
            for op in ("lt", "eq", "gt"):
                with w.inside((), (), (term(op, x, ZERO),)) as inner:
                    inner.cases, inner.level, inner.failed = w.cases + 1, 0, set()
                    inner.learn(goal)
                    inner.stated(goal, inner.establish(goal))
                    inner.define(goal)
                    branches.append(inner.steps)
        except (Stuck, NotDefined):
            continue
        step = {"rule": "cases", "of": w.place(x), "goal": w.place(goal), "branches": branches}
        found = w.take(step)
        if found is not None:
            return found
    return None


def _undecided(w: Workbench, goal: Term) -> list[Term]:
    """Real numbers whose sign is not known, and matters: one, as the others follow inside."""
    for node in postorder([goal]):
        if node.free or node.op not in SPLIT or not infer(node.args[0], w.facts.scope).is_scalar:
            continue
        if node.op != "abs" and len(node.args) != 2:
            continue
        x = node.args[0] if node.op == "abs" else term("sub", *node.args)
        if infer(x, w.facts.scope).is_complex or not w.facts.lowering.lower(x).terms:
            continue
        if all(w.find(term(op, x, ZERO)) is None for op in ("lt", "le", "eq", "ge", "gt")):
            return [x]
    return []


# ---------------------------------------------------------------- moduli


def bounds(w: Workbench, relation: Term) -> None:
    """Inequalities for the moduli in a relation: triangles, and x <= abs(x)."""
    nodes = [n for n in postorder([relation]) if n.op in SPLIT and not n.free]
    nodes = [n for n in nodes if n.op == "abs" or len(n.args) == 2]
    _known_bounds(w, names_in(relation))
    key = ("moduli", id(relation))
    if not nodes or key in w.instanced:
        return
    w.instanced.add(key)
    equations.known(w, [relation])
    arguments = [n.args[0] if n.op == "abs" else term("sub", *n.args) for n in nodes]
    inside = [w.facts.lowering.lower(x) for x in arguments]
    known = {v.key for v in inside} | {(-v).key for v in inside}
    for k, x in enumerate(inside):
        if not x.is_complex:
            for v in (x, -x):
                reduced(w, w.schema("abs_above", x=w.raising.poly(v)))
        for y in inside[k + 1 :]:
            for turned in (y, -y):
                if (x + turned).key in known:
                    for one, two in ((x, turned), (x + turned, -turned), (x + turned, -x)):
                        places = (w.raising.poly(one), w.raising.poly(two))
                        reduced(w, w.schema("abs_triangle", x=places[0], y=places[1]))


def _known_bounds(w: Workbench, names: set[str]) -> None:
    """x <= abs(x) and -x <= abs(x), where a hypothesis bounds the modulus of x, made of names."""
    for hypothesis in w.statement.hypotheses:
        if hypothesis.op not in ("le", "lt", "ge", "gt"):
            continue
        for node in postorder([hypothesis]):
            if node.op != "abs" or node.free or ("modulus", node) in w.instanced:
                continue
            if names_in(node) & names and not infer(node.args[0], w.facts.scope).is_complex:
                w.instanced.add(("modulus", node))
                for x in (node.args[0], term("neg", node.args[0])):
                    reduced(w, w.schema("abs_above", x=x))


def reduced(w: Workbench, place: int | None) -> None:
    """The inequality as the known equations simplify it, abs(-x) = abs(x) among them."""
    if place is None:
        return
    relation = w.facts.facts[place].relation
    ideal = equations.known(w, [relation])
    excess = w.facts.lowering.lower(term("sub", *reversed(relation.args)))
    try:
        rest, used = ideal.reduce(excess)
        goal = term("ge", w.raising.poly(rest), ZERO)
        if used and rest.terms:
            rows = w.rows(equations.negated(used))
            w.positive(goal, [["1", [place], None]], rows)
    except (NoTerm, Stuck, TooLarge, NotDefined):
        return
