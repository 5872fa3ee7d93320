"""Induction, conditions of quantified facts, and functions that agree near a point."""

from __future__ import annotations

import pytest

from proofs.language.tree import abstract, bound, name, rational, term
from tests.proofs.checker.building import (
    REAL,
    Proof,
    combine,
    for_all,
    hypothesis,
    induct,
    instantiate,
    positive,
    schema,
    where,
)

n, p, q, A, B, t, x = map(name, ("n", "p", "q", "A", "B", "t", "x"))
ONE = rational(1)
DIMENSION = term("dimension_type")
POWERS = """let n, p : dimension
let A, B : matrix(n, n)
"""


def power_of(base, exponent):
    return term("pow", base, exponent)


# ---------------------------------------------------------------- induction


def idempotent_power(extra: str = "assume A*A = A") -> Proof:
    return Proof(f"{POWERS}{extra}\nshow A^p = A")


def test_a_power_of_an_idempotent_by_induction():
    proof = idempotent_power()
    goal = term("eq", power_of(A, q), A)
    after = term("eq", power_of(A, term("add", q, ONE)), A)
    inside = (
        schema("power_step", n=n, A=A, p=term("add", q, ONE)),  # A^(q+1) = A^q*A, fact 2
        combine(after, [None, 2, None, ""], [None, 1, A, ""], [None, 0, None, ""]),
    )
    proof.check(hypothesis(0), induct("q", goal, p, *inside))
    # The same steps don't do where A*A = A is not given, nor without the step from A^q to A^(q+1).
    assert not idempotent_power("assume A*A = B").accepts(
        hypothesis(0), induct("q", goal, p, *inside)
    )
    assert not proof.accepts(hypothesis(0), induct("q", goal, p))


def test_the_induction_hypothesis_does_not_leak():
    """(A*B)^q = A^q*B^q is supposed inside; outside it must not be there."""
    proof = Proof(f"{POWERS}show (A*B)^p = A^p*B^p")
    goal = proof("(A*B)^q = A^q*B^q", q=DIMENSION)
    assert not proof.accepts(induct("q", goal, p))
    claim = proof("(A*B)^p = A^p*B^p")
    assert not proof.accepts(induct("q", goal, p), combine(claim, [None, 0, None, ""]))
    # Nor does a fact about the goal's own p stand in for the fresh q.
    known = Proof(f"{POWERS}assume (A*B)^p = A^p*B^p\nshow (A*B)^(p + 1) = A^(p + 1)*B^(p + 1)")
    goal = known("(A*B)^q = A^q*B^q", q=DIMENSION)
    assert not known.accepts(hypothesis(0), induct("q", goal, term("add", p, ONE)))


def test_induction_starts_at_one():
    """p = p + 1 passes from each to the next, but doesn't hold for 1."""
    proof = Proof("let p : dimension\nshow p = p + 1")
    goal = term("eq", q, term("add", q, ONE))
    after = term("eq", term("add", q, ONE), term("add", term("add", q, ONE), ONE))
    assert not proof.accepts(induct("q", goal, p, combine(after, [None, 0, None, ""])))


@pytest.mark.parametrize(
    "at", [rational(0), term("sub", p, ONE), term("neg", p), x, bound(0, REAL)]
)
def test_induction_ends_at_a_dimension(at):
    proof = Proof("let p : dimension\nlet x : real\nshow x + 0 = x")
    goal = term("ge", q, ONE)
    step = combine(term("eq", ONE, ONE))
    after = term("ge", term("add", q, ONE), ONE)
    inside = positive(after, ["1", [1], None], ["1", [], None])
    assert proof.accepts(step, induct("q", goal, p, inside))
    assert not proof.accepts(step, induct("q", goal, at, inside))


def test_a_declared_name_is_not_induced_on():
    proof = Proof("let p : dimension\nassume p = 1\nshow p = 1")
    goal = term("eq", p, ONE)
    inside = combine(term("eq", term("add", p, ONE), ONE), [None, 0, None, ""])
    assert not proof.accepts(induct("p", goal, term("add", p, ONE), inside), hypothesis(0))


# ---------------------------------------------------------------- conditions


def test_a_condition_is_supposed_and_stays_with_the_fact():
    proof = Proof("let x : real\nassume x > 3\nshow 2*x > 6")
    goal = proof("2*t > 6", t=REAL)
    condition = proof("t > 3", t=REAL)
    inside = positive(goal, ["2", [1], None])
    steps = (hypothesis(0), where([condition], for_all(goal, inside, t=REAL)))
    assert proof.accepts(*steps, instantiate(1, x, by=[0]))
    assert not proof.accepts(*steps, instantiate(1, x))  # the condition is not to be left out
    assert not proof.accepts(hypothesis(0), for_all(goal, inside, t=REAL), instantiate(1, x))
    other = Proof("let x : real\nassume x > 2\nshow 2*x > 6")
    assert not other.accepts(*steps, instantiate(1, x, by=[0]))


def test_a_condition_must_be_defined_before_it_counts():
    """Where log(t) > 0, t > 0: but log(t) has no meaning for all t."""
    proof = Proof("let x : real\nshow x = x")
    condition, goal = proof("log(t) > 0", t=REAL), proof("t = t", t=REAL)
    assert not proof.accepts(where([condition], for_all(goal, combine(goal), t=REAL)))
    positive_first = [proof("t > 0", t=REAL), condition]
    assert proof.accepts(where(positive_first, for_all(goal, combine(goal), t=REAL)))


# ---------------------------------------------------------------- near a point


def near(f: str, g: str, where: str, goal: str, assume: str = "x > 0"):
    """diff(f, x) = diff(g, x) from f = g where p > 0, all as functions of t."""
    proof = Proof(f"let x : real\nassume {assume}\nshow {goal}")
    bodies = {
        n: abstract(proof(text, t=REAL), ("t",), (REAL,))
        for n, text in (("f", f), ("g", g), ("p", where))
    }
    return proof, bodies


def test_functions_that_agree_near_a_point_have_the_same_derivative_there():
    goal = "diff(sqrt(x^2), x) = diff(x, x)"
    proof, bodies = near("sqrt(t^2)", "t", "t", goal)
    square = proof("x^2 > 0")
    condition, equal = proof("t > 0", t=REAL), proof("sqrt(t^2) = t", t=REAL)
    inner = (
        positive(proof("t^2 >= 0", t=REAL), ["1", [], t]),
        positive(proof("t >= 0", t=REAL), ["1", [3], None]),
        schema("sqrt_of_square", [5], x=t),
        combine(equal, [None, 6, None, ""]),
    )
    steps = [
        hypothesis(0),
        positive(square, ["1", [0, 0], None]),
        where([condition], for_all(inner[0]["goal"], inner[0], t=REAL)),
        where([condition], for_all(equal, *inner, t=REAL)),
        combine(proof("diff(x, x) = diff(x, x)")),
    ]
    final = schema("diff_near", [3, 0, 4], n=ONE, k=ONE, **bodies, x=x)
    proof.check(*steps, final)
    # Without x > 0, or with a condition that the point doesn't meet, nothing follows.
    elsewhere, _ = near("sqrt(t^2)", "t", "t", goal, "x < 0")
    assert not elsewhere.accepts(*steps, final)
    proof, bodies = near("sqrt(t^2)", "t", "t - x", goal)
    final = schema("diff_near", [3, 0, 4], n=ONE, k=ONE, **bodies, x=x)
    assert not proof.accepts(*steps, final)


@pytest.mark.parametrize(("where_", "smooth"), [("t^2", True), ("abs(t)", False)])
def test_the_condition_of_a_neighbourhood_must_be_smooth(where_: str, smooth: bool):
    """On abs(t) no neighbourhood can be built: its derivative has no meaning to this checker."""
    at = where_.replace("t", "x")
    proof, bodies = near("t", "t", where_, "diff(x, x) = diff(x, x)", f"{at} > 0")
    condition, same = proof(f"{where_} > 0", t=REAL), proof("t = t", t=REAL)
    moves = proof(f"diff({at}, x) = diff({at}, x)")
    steps = (hypothesis(0), where([condition], for_all(same, combine(same), t=REAL)))
    final = schema("diff_near", [1, 0, 2], n=ONE, k=ONE, **bodies, x=x)
    assert proof.accepts(*steps)
    assert proof.accepts(*steps, combine(moves), final) is smooth
    unproved = schema("diff_near", [1, 0, None], n=ONE, k=ONE, **bodies, x=x)
    assert proof.accepts(*steps, unproved) is smooth


# ---------------------------------------------------------------- functions that rise

BETWEEN = "for all t : real where t >= a, t <= b"


def rises(order: str, slope: str, rule: str, relation: str) -> bool:
    """Whether f(a) <= f(b), or f(a) < f(b), follows by a rule from what is assumed."""
    proof = Proof(
        "let f : function(real)\nlet a, b : real\n"
        f"assume {order}\nassume {slope}\nshow f(a) {relation} f(b)"
    )
    body = term("apply", name("f"), bound(0, REAL))
    ends = {"a": name("a"), "b": name("b")}
    final = schema(rule, [0, 1], f=body, **ends)
    return proof.accepts(hypothesis(0), hypothesis(1), final)


def test_a_function_rises_where_its_slope_is_not_negative():
    weak, strict = (f"{BETWEEN} : diff(f(t), t) {sign} 0" for sign in (">=", ">"))
    assert rises("a <= b", weak, "nondecreasing", "<=")
    assert rises("a < b", strict, "nondecreasing", "<=")
    assert rises("a < b", strict, "increasing", "<")
    assert not rises("a <= b", strict, "increasing", "<")
    assert not rises("a < b", weak, "increasing", "<")
    assert not rises("a >= b", weak, "nondecreasing", "<=")
    assert not rises("b <= a", weak, "nondecreasing", "<=")


@pytest.mark.parametrize(
    "slope",
    [
        "for all t : real where t >= a : diff(f(t), t) >= 0",
        "for all t : positive where t >= a, t <= b : diff(f(t), t) >= 0",
        "for all t : integer where t >= a, t <= b : f(t) >= 0",
        "for all t : real where t > a, t < b : diff(f(t), t) >= 0",
        "for all t : real where t >= b, t <= a : diff(f(t), t) >= 0",
        "for all t : real where t >= a, t <= b : diff(f(t), t) <= 0",
        "for all t : real where t >= a, t <= b : diff(f(t), t, 2) >= 0",
        "for all t : real where t >= a, t <= b : diff(f(2*t), t) >= 0",
        "for all t : real where t >= a, t <= b : f(t) >= 0",
    ],
)
def test_another_quantified_fact_does_not_make_a_function_rise(slope: str):
    assert not rises("a <= b", slope, "nondecreasing", "<=")


@pytest.mark.parametrize("f", ["-1/t", "abs(t)", "sqrt(t + 1)", "log(t)", "max(t, 0)"])
def test_a_slope_is_needed_at_every_point_between(f: str):
    """-1/t has a positive slope wherever it has one, and falls from -1 to 1."""
    proof = Proof("let x : real\nassume x > 0\nshow x > 0")  # so that the steps alone count
    slope = term("deriv", abstract(proof(f, t=REAL), ("t",), (REAL,)), t, data=1)
    known = term("ge", slope, rational(0))
    between = [proof("t >= -1", t=REAL), proof("t <= 1", t=REAL)]
    body = abstract(proof(f, t=REAL), ("t",), (REAL,))
    final = schema("nondecreasing", [None, 1], f=body, a=rational(-1), b=ONE)
    assert proof.accepts(hypothesis(0))
    for conditions in (between, [*between, known], [proof("t != 0", t=REAL), *between, known]):
        assert not proof.accepts(hypothesis(0), where(conditions, for_all(known, t=REAL)), final)
