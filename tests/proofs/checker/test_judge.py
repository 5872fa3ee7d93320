"""Each step of a certificate: a right use, and the wrong uses that a search or a liar would try."""

from __future__ import annotations

from typing import Any

import pytest

from proofs.checker.judge import MAX_DEPTH, MAX_STEPS, Rejected, check
from proofs.language.parser import parse
from proofs.language.tree import bound, name, rational, term
from tests.proofs.checker.building import (
    REAL,
    Proof,
    cases,
    combine,
    congruence,
    declared,
    for_all,
    hypothesis,
    instantiate,
    lemma,
    positive,
    schema,
)

SQUARE = Proof("""
    let n : dimension
    let A, B : matrix(n, n)
    assume invertible(A)
    assume A*B = eye(n)
    show B = inv(A)
""")
n, A, B, x, y, t = map(name, "nABxyt")
LEFT = schema("inv_left", n=n, A=A, by=[0])


def right(*extra: dict[str, Any]) -> list[dict[str, Any]]:
    """B - inv(A) = (eye - inv(A)*A)*B + inv(A)*(A*B - eye)."""
    p = SQUARE
    return [
        hypothesis(0),
        hypothesis(1),
        LEFT,
        *extra,
        combine(p.statement.goal, [rational(-1), 2, B, ""], [p("inv(A)"), 1, None, ""]),
    ]


# ---------------------------------------------------------------- the frame


def test_a_right_proof_is_accepted_and_says_what_it_leans_on():
    report = SQUARE.check(*right())
    assert report.rules == {"inv_left"}
    assert report.hypotheses_used == {0, 1}
    assert report.lemmas == frozenset()
    assert report.steps == 4


def test_a_goal_that_holds_by_structure_needs_no_step():
    proof = Proof("let n : dimension\nlet A, B : matrix(n, n)\nshow tr(A*B) = tr(B.T*A.T)")
    assert proof.check().rules == frozenset()


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(statement="sha256:" + "0" * 64),
        lambda c: c.update(statement=None),
        lambda c: c.pop("nodes"),
        lambda c: c.update(more=1),
        lambda c: c.update(steps={}),
        lambda c: c.update(steps=[None]),
        lambda c: c.update(steps=[{}]),
        lambda c: c.update(steps=[{"rule": "trust me"}]),
        lambda c: c.update(steps=[{"rule": ["combine"]}]),
        lambda c: c.update(nodes=None),
        lambda c: c.update(nodes=[["name", [], "A", 1]]),
        lambda c: c.update(nodes=[["neg", [10**6], None]]),
        lambda c: c.update(nodes=[["neg", [True], None]]),
        lambda c: c.update(nodes=[["neg", [-1], None]]),
        lambda c: c.update(nodes=[["neg", [0.0], None]]),
        lambda c: c.update(nodes=[["trust", [], None]]),
        lambda c: c.update(nodes=[["rational", [], "1/0"]]),
        lambda c: c.update(nodes=[["rational", [], "1e3"]]),
        lambda c: c.update(nodes=[["rational", [], 1]]),
        lambda c: c.update(nodes=[["name", [], {"A": 1}]]),
        lambda c: c.update(nodes=[["block", [0, 0], [[1], 2]]]),
        lambda c: c.update(nodes=[["bound", [0], -1]]),
        lambda c: c.update(nodes=[["bound", [0], 10**5000]]),
        lambda c: c.update(nodes=[["expect_given", [], None]]),
        lambda c: c["steps"].pop(),
        lambda c: c["steps"].pop(0),
        lambda c: c["steps"].pop(1),
        lambda c: c["steps"].insert(0, c["steps"].pop()),
        lambda c: c["steps"].reverse(),
        lambda c: c["steps"][-1].update(more=1),
        lambda c: c["steps"][-1].pop("goal"),
    ],
)
def test_a_broken_certificate_is_rejected(change):
    certificate = SQUARE.certificate(*right())
    check(SQUARE.statement, certificate)
    change(certificate)
    with pytest.raises(Rejected):
        check(SQUARE.statement, certificate)


@pytest.mark.parametrize("value", [None, [], "proof", 0, {}, {"statement": 1}])
def test_what_is_no_certificate_is_rejected(value):
    with pytest.raises(Rejected):
        check(SQUARE.statement, value)


def test_every_hypothesis_must_be_introduced_even_where_it_is_not_used():
    proof = Proof("let x : real\nassume x > 0\nassume 1/x > 0\nshow x = x")
    assert not proof.accepts(hypothesis(0))
    assert proof.accepts(hypothesis(0), hypothesis(1))


def test_steps_are_counted_in_sub_proofs_too():
    proof = Proof("let x : real\nshow x = x")
    many = [combine(proof("x = x"))] * (MAX_STEPS // 3 + 1)
    with pytest.raises(Rejected, match="steps"):
        proof.check(cases(x, proof("x = x"), many, many, many))


def test_nesting_is_limited():
    proof = Proof("let x : real\nshow x = x")
    step = combine(proof("x = x"))
    for _ in range(MAX_DEPTH + 1):
        step = cases(x, proof("x = x"), [step], [], [])
    with pytest.raises(Rejected, match="deeper"):
        proof.check(step)


# ---------------------------------------------------------------- hypothesis


@pytest.mark.parametrize("index", [1, -1, 2, True, None, "0", 0.0, [0]])
def test_the_first_hypothesis_is_the_first(index):
    assert not SQUARE.accepts(hypothesis(index))


def test_no_hypothesis_is_introduced_twice_or_inside_a_sub_proof():
    proof = Proof("let x : real\nassume x = 1\nshow x = 1")
    assert proof.accepts(hypothesis(0))
    assert not proof.accepts(hypothesis(0), hypothesis(0))
    inside = cases(x, proof("x = 1"), [hypothesis(0)], [], [])
    assert not proof.accepts(inside)


def test_a_hypothesis_is_not_defined_by_the_case_in_which_it_is_introduced():
    proof = Proof("let x : real\nassume 1/x = 1/x\nshow 1 = 1")
    goal = proof("1 = 1")
    assert not proof.accepts(cases(x, goal, [hypothesis(0)], [], []))
    assert not proof.accepts(cases(x, goal, [], [], [hypothesis(0)]))


def test_a_hypothesis_must_be_defined_under_those_before_it():
    proof = Proof("let x : real\nassume 1/x = 1\nassume x != 0\nshow 1 = 1")
    assert not proof.accepts(hypothesis(0), hypothesis(1))
    turned = Proof("let x : real\nassume x != 0\nassume 1/x = 1\nshow 1 = 1")
    assert turned.accepts(hypothesis(0), hypothesis(1))


# ---------------------------------------------------------------- declared


@pytest.mark.parametrize(
    ("type_", "goal"),
    [
        ("positive", "x > 0"),
        ("nonnegative", "x >= 0"),
        ("nonzero", "x != 0"),
        ("dimension", "x >= 1"),
        ("index(3)", "x <= 3"),
    ],
)
def test_what_a_declaration_says(type_: str, goal: str):
    proof = Proof(f"let x : {type_}\nshow {goal}")
    assert not proof.accepts()
    place = 1 if type_.startswith("index") else 0
    assert proof.accepts(declared("x", place))
    for wrong in (
        declared("x", 2),
        declared("y"),
        declared("x", -1),
        declared("x", True),
        declared(["x"]),
    ):  # type: ignore[arg-type]
        assert not proof.accepts(wrong)


@pytest.mark.parametrize(
    ("type_", "goal"),
    [
        ("nonnegative", "x > 0"),
        ("nonzero", "x > 0"),
        ("real", "x >= 0"),
        ("integer", "x >= 0"),
        ("positive", "x >= 1"),
        ("index(3)", "x <= 2"),
    ],
)
def test_a_declaration_says_no_more(type_: str, goal: str):
    proof = Proof(f"let x : {type_}\nshow {goal}")
    assert not any(proof.accepts(declared("x", k)) for k in range(3))


@pytest.mark.parametrize(
    ("type_", "goal"),
    [("positive", "x[j] > 0"), ("nonnegative", "x[j] >= 0"), ("nonzero", "x[j] != 0")],
)
def test_what_a_declaration_says_of_the_members_of_a_family(type_: str, goal: str):
    proof = Proof(f"""
        let n : dimension
        let j : index(n)
        let x : {type_} for a in 1..n
        show {goal}
    """)
    assert not proof.accepts(declared("x", 0))  # it speaks of all members
    assert proof.accepts(declared("x", 0), instantiate(0, name("j")))
    assert not proof.accepts(declared("x", 1))


def test_a_family_of_two_indices_is_declared_for_all_of_both():
    proof = Proof("""
        let n, m : dimension
        let i1 : index(n)
        let j : index(m)
        let x : positive for a in 1..n, b in 1..m
        show x[i1, j] > 0
    """)
    assert proof.accepts(declared("x", 0), instantiate(0, name("i1"), name("j")))
    assert not proof.accepts(declared("x", 0), instantiate(0, name("j"), name("i1")))


@pytest.mark.parametrize(
    ("type_", "goal"), [("real", "x[j] >= 0"), ("nonnegative", "x[j] > 0"), ("nonzero", "x[j] > 0")]
)
def test_a_declaration_of_a_family_says_no_more(type_: str, goal: str):
    proof = Proof(f"""
        let n : dimension
        let j : index(n)
        let x : {type_} for a in 1..n
        show {goal}
    """)
    assert not proof.accepts(declared("x", 0), instantiate(0, name("j")))


GAUSSIAN = """
    let n : dimension
    let m : vector(n)
    let S : matrix(n, n)
    {assume}
    let X : gaussian(m, S)
    show {goal}
"""


def test_moments_of_a_gaussian_need_a_semidefinite_covariance():
    assume = "assume positive_semidefinite(S)"
    for goal, fact in (("E(X) = m", 0), ("cov(X, X) = S", 1)):
        proof = Proof(GAUSSIAN.format(assume=assume, goal=goal))
        assert proof.accepts(hypothesis(0), declared("X", fact))
        assert not proof.accepts(declared("X", fact), hypothesis(0))
        assert not proof.accepts(hypothesis(0), declared("X", 1 - fact))
        assert not Proof(GAUSSIAN.format(assume="", goal=goal)).accepts(declared("X", fact))


def test_a_gaussian_obliges_even_where_it_is_not_used():
    assert not Proof(GAUSSIAN.format(assume="", goal="m = m")).accepts()


# ---------------------------------------------------------------- schema


@pytest.mark.parametrize(
    "step",
    [
        schema("inv_left", n=n, A=B, by=[0]),  # a fact about another matrix
        schema("inv_left", n=n, A=A, by=[1]),
        schema("inv_left", n=n, A=A, by=[]),
        schema("inv_left", n=n, A=A, by=[0, 0]),
        schema("inv_left", n=n, A=A, by=[2]),
        schema("inv_left", n=n, A=A, by=["0"]),  # type: ignore[list-item]
        schema("inv_left", n=n, A=A, by=[True]),
        schema("inv_left", n=rational(2), A=A, by=[0]),
        schema("inv_left", A=A, by=[0]),
        schema("inv_left", n=n, A=A, B=B, by=[0]),
        schema("inv_left", n=n, A=n, by=[0]),
        schema("inv_left", n=n, A=bound(0, REAL), by=[0]),
        schema("no_such_rule", n=n, A=A, by=[0]),
        {"rule": "schema", "name": "inv_left", "subst": [], "by": [0]},
        {"rule": "schema", "name": ["inv_left"], "subst": {}, "by": [0]},
        {"rule": "schema", "name": "inv_left", "subst": {"n": n, "A": A}, "by": None},
    ],
)
def test_a_rule_is_cited_with_what_it_asks_for(step: dict[str, Any]):
    assert SQUARE.accepts(*right(LEFT))
    steps = right()
    steps[2] = step
    assert not SQUARE.accepts(*steps)


def test_a_requirement_may_be_met_by_arithmetic():
    proof = Proof("show sqrt(4)^2 = 4")
    goal = schema("sqrt_square", x=rational(4), by=[None])
    assert proof.accepts(goal)
    assert not Proof("show sqrt(-4)^2 = -4").accepts(
        schema("sqrt_square", x=rational(-4), by=[None])
    )


def test_real_rules_are_for_real_numbers():
    case = Proof("let z : complex\nlet x : real\nshow exp(x) > 0")
    assert case.accepts(schema("exp_positive", x=x))
    assert not case.accepts(schema("exp_positive", x=name("z")))
    known = parse("let x : real\nshow conj(x) = x").statements[0]
    false = Proof("let z : complex\nshow conj(z) = z")
    assert not false.accepts(lemma(known, x=name("z")), lemmas={known.hash: known})


FAMILY = "let N : dimension\nlet w : real for j in 1..N\nlet k : index(N)\nshow w[k]^2 >= 0"


def test_a_family_stands_for_one_of_the_same_type_alone():
    known = parse(FAMILY).statements[0]
    for other, fits in (("real", True), ("complex", False), ("positive", False)):
        text = "let N : dimension\nlet v : {} for j in 1..N\nlet k : index(N)\nshow 0 = 0"
        proof = Proof(text.format(other))
        taken = proof.accepts(
            lemma(known, w=name("v"), N=name("N"), k=name("k")),
            {"rule": "combine", "goal": proof("0 = 0"), "terms": []},
            lemmas={known.hash: known},
        )
        assert taken == fits
    proof = Proof("let N : dimension\nlet v : real\nlet k : index(N)\nshow 0 = 0")
    for value in (name("v"), name("k")):
        step = lemma(known, w=value, N=name("N"), k=name("k"))
        with pytest.raises(Rejected, match="a family"):
            proof.check(step, lemmas={known.hash: known})


def test_a_value_must_be_defined():
    proof = Proof("let x : real\nshow 0*(1/x) = 0")
    assert not proof.accepts(schema("exp_positive", x=proof("1/x")))
    with pytest.raises(Rejected, match="condition"):
        proof.check(schema("exp_positive", x=proof("1/x")))


@pytest.mark.parametrize(
    ("assume", "goal", "follows"),
    [
        ("x > 0", "x >= 0", True),
        ("x > 0", "x != 0", True),
        ("x < 0", "x != 0", True),
        ("x < 0", "x <= 0", True),
        ("x = 0", "x >= 0", True),
        ("x = 0", "x <= 0", True),
        ("0 < x", "x > 0", True),
        ("x - y = 0", "y = x", True),
        ("x >= 0", "x > 0", False),
        ("x >= 0", "x != 0", False),
        ("x != 0", "x > 0", False),
        ("x >= 0", "x = 0", False),
        ("x > 0", "x < 0", False),
        ("x > 0", "-x > 0", False),
        ("x >= 0", "x <= 0", False),
        ("x != 0", "-x != 0", True),
        ("x = 1", "x = 0", False),
        ("2*x > 0", "x > 0", False),  # true, but not at a glance
    ],
)
def test_what_follows_at_a_glance(assume: str, goal: str, follows: bool):
    proof = Proof(f"let x, y : real\nassume {assume}\nshow {goal}")
    assert proof.accepts(hypothesis(0)) is follows


# ---------------------------------------------------------------- lemma

LEMMA = parse("let a : real\nassume a > 0\nshow a^2 > 0").statements[0]


def test_a_lemma_holds_for_what_meets_its_hypotheses():
    proof = Proof("let x : real\nassume x > 0\nshow x^2 > 0")
    known = {LEMMA.hash: LEMMA}
    report = proof.check(hypothesis(0), lemma(LEMMA, a=x, by=[0]), lemmas=known)
    assert report.lemmas == {LEMMA.hash}
    assert not proof.accepts(hypothesis(0), lemma(LEMMA, a=x, by=[0]))
    assert not proof.accepts(hypothesis(0), lemma(LEMMA, a=x, by=[]), lemmas=known)
    assert proof.accepts(hypothesis(0), lemma(LEMMA, a=x, by=[None]), lemmas=known)
    assert not proof.accepts(hypothesis(0), lemma(LEMMA, a=proof("-x"), by=[None]), lemmas=known)
    other = Proof("let x : real\nassume x != 0\nshow x^2 > 0")
    assert not other.accepts(hypothesis(0), lemma(LEMMA, a=x, by=[0]), lemmas=known)


def test_a_lemma_is_what_its_hash_says():
    proof = Proof("let x : real\nassume x > 0\nshow x^2 > 0")
    false = parse("let a : real\nassume a > 0\nshow a^2 > 1").statements[0]
    step = {"rule": "lemma", "statement": LEMMA.hash, "subst": {"a": x}, "by": [0]}
    assert not proof.accepts(hypothesis(0), step, lemmas={LEMMA.hash: false})
    itself = {"rule": "lemma", "statement": proof.statement.hash, "subst": {"x": x}, "by": [0]}
    assert not proof.accepts(hypothesis(0), itself, lemmas={proof.statement.hash: proof.statement})


def test_a_citation_taints_all_that_leans_on_it():
    """Also where a hypothesis is only defined by it."""
    known = {LEMMA.hash: LEMMA}
    proof = Proof("let x : real\nassume x > 0\nassume 1/(x^2) > 0\nshow x = x")
    report = proof.check(hypothesis(0), lemma(LEMMA, a=x, by=[0]), hypothesis(1), lemmas=known)
    assert report.lemmas == {LEMMA.hash}
    unused = Proof("let x : real\nassume x > 0\nshow x = x")
    assert not unused.check(hypothesis(0), lemma(LEMMA, a=x, by=[0]), lemmas=known).lemmas


# ---------------------------------------------------------------- combine

LINEAR = """
    let n, k : dimension
    let A : matrix(n, n)
    let B, C : matrix(n, k)
    let Z : complex matrix(n, n)
    let x, y : real
    assume B = C
    assume x = y
    assume Z = A
    show {goal}
"""
FACTS = [hypothesis(0), hypothesis(1), hypothesis(2)]


@pytest.mark.parametrize(
    ("goal", "row"),
    [
        ("A*B = A*C", [A, 0, None, ""]),
        ("B.T = C.T", [None, 0, None, "T"]),
        ("x*B = x*C", [x, 0, None, ""]),
        ("B*B.T = C*B.T", [None, 0, term("transpose", B), ""]),
        ("tr(A*B*B.T) = tr(A*C*B.T)", [A, 0, term("transpose", B), "tr"]),
        ("x*A = y*A", [None, 1, A, ""]),
        ("conj(Z) = A", [None, 2, None, "C"]),
        ("Z.H = A.T", [None, 2, None, "H"]),
        ("Z.T = A.T", [None, 2, None, "T"]),
        ("tr(Z) = tr(A)", [None, 2, None, "tr"]),
    ],
)
def test_equations_combine(goal: str, row: list[Any]):
    proof = Proof(LINEAR.format(goal=goal))
    assert proof.accepts(*FACTS, combine(proof.statement.goal, row))
    left, fact, right, mode = row
    for wrong in (
        [left, 3, right, mode],
        [left, None, right, mode],
        [left, (fact + 1) % 3, right, mode],
        [left, fact, right, "TT"],
        [left, fact, right, None],
        row[:3],
        None,
        [*row, ""],
        [rational(2) if left is None else term("neg", left), fact, right, mode],
        [left, fact, rational(0), mode],
        [10**6, fact, right, mode],
    ):
        assert not proof.accepts(*FACTS, combine(proof.statement.goal, wrong)), wrong


@pytest.mark.parametrize(
    ("assume", "goal"),
    [
        ("A*B = B", "A = eye(n)"),
        ("A*A = zeros(n, n)", "A = zeros(n, n)"),
        ("tr(A) = 0", "A = -A.T"),
        ("A*B = B*A", "A*B.T = B.T*A"),
        ("A <= B", "A = B"),
        ("A != B", "A = -B"),
    ],
)
def test_nothing_else_follows(assume: str, goal: str):
    proof = Proof(f"let n : dimension\nlet A, B : matrix(n, n)\nassume {assume}\nshow {goal}")
    rows = [
        [f, 0, g, mode]
        for f in (None, A, B, rational(-1))
        for g in (None, A, B)
        for mode in ("", "T", "C", "H", "tr", "inner")
    ]
    for row in rows:
        assert not proof.accepts(hypothesis(0), combine(proof.statement.goal, row))


def test_a_combination_is_defined_in_all_its_factors():
    proof = Proof("let x, y : real\nassume y = 0\nshow 0*(1/x) = y")
    assert not proof.accepts(
        hypothesis(0), combine(proof.statement.goal, [rational(-1), 0, None, ""])
    )
    plain = Proof("let x, y : real\nassume y = 0\nshow 0 = y")
    inverse = plain("1 + 0*(1/x)")
    assert plain.accepts(hypothesis(0), combine(plain.statement.goal, [rational(-1), 0, None, ""]))
    assert not plain.accepts(
        hypothesis(0), combine(plain.statement.goal, [rational(-1), 0, inverse, ""])
    )


def test_no_step_establishes_what_is_not_defined():
    proof = Proof("let x, y : real\nassume x = y\nshow 1 = 1")
    hole = bound(0, REAL)
    zero, inverse = proof("0*(1/x)"), term("mul", rational(0), term("div", rational(1), hole))
    for step in (
        combine(proof("0*(1/x) = 0")),
        positive(proof("0*(1/x) >= 0")),
        positive(proof("1 + 0*(1/x) > 0"), ["1", [], None]),
        congruence(0, inverse),
        cases(zero, proof("1 = 1"), [], [], []),
        cases(x, proof("0*(1/x) = 0"), [], [], []),
        for_all(proof("0*(1/q) = 0", q=REAL), q=REAL),
        for_all(proof("0*(1/x) = 0"), q=REAL),
        schema("exp_positive", x=zero),
        schema("exp_sum", x=x, y=zero),
        schema("reciprocal_nonzero", x=proof("1 + 0*(1/x)"), by=[None]),
    ):
        assert proof.accepts(hypothesis(0))
        assert not proof.accepts(hypothesis(0), step), step


# ---------------------------------------------------------------- positive


@pytest.mark.parametrize(
    ("assume", "goal", "terms", "equations"),
    [
        ("x > 0", "x + 1 > 0", [["1", [0], None], ["1", [], None]], []),
        ("x > 0", "x^2 > 0", [["1", [0, 0], None]], []),
        ("x >= 1", "x > 0", [["1", [0], None], ["1", [], None]], []),
        ("x < 0", "x <= 0", [["1", [0], None]], []),
        ("x < 0", "-2*x > 0", [["2", [0], None]], []),
        ("x = 3", "x >= 3", [], [[None, 0, None, ""]]),
        ("x = 3", "x > 2", [["1", [], None]], [[None, 0, None, ""]]),
        ("x >= y", "x*x + x - y >= 0", [["1", [0], None], ["1", [], x]], []),
        ("x <= y", "x < y + 1/2", [["1", [0], None], ["1/2", [], None]], []),
    ],
)
def test_inequalities_add_and_multiply(assume, goal, terms, equations):
    proof = Proof(f"let x, y : real\nassume {assume}\nshow {goal}")
    assert proof.accepts(hypothesis(0), positive(proof.statement.goal, *terms, equations=equations))
    for k, row in enumerate(terms):
        for wrong in (
            ["-1", row[1], row[2]],
            ["0", row[1], row[2]],
            [1, row[1], row[2]],
            ["1.0", row[1], row[2]],
            ["1e1", row[1], row[2]],
            [row[0], [1], row[2]],
            [row[0], None, row[2]],
            row[:2],
            ["1/0", row[1], row[2]],
        ):
            changed = [*terms[:k], wrong, *terms[k + 1 :]]
            assert not proof.accepts(
                hypothesis(0), positive(proof.statement.goal, *changed, equations=equations)
            )


@pytest.mark.parametrize(
    ("assume", "goal", "terms"),
    [
        ("x >= 0", "x > 0", [["1", [0], None]]),
        ("x >= 0", "x > 0", [["1", [0], None], ["0", [], None]]),
        ("x != 0", "x > 0", [["1", [0], None]]),
        ("x > 0", "-x > 0", [["-1", [0], None]]),
        ("x > 0", "x^2 > 0", [["1", [], x]]),  # a square alone is not strict
        ("x < 0", "x^3 > 0", [["1", [0, 0, 0], None]]),
        ("x > 0", "1/x > 0", [["1", [0], None]]),
        ("x > 0", "x >= 1", [["1", [0], None]]),
        ("x > 0", "x*y > 0", [["1", [0], None]]),
    ],
)
def test_these_inequalities_do_not_follow(assume: str, goal: str, terms: list[Any]):
    proof = Proof(f"let x, y : real\nassume {assume}\nshow {goal}")
    assert not proof.accepts(hypothesis(0), positive(proof.statement.goal, *terms))


def test_squares_of_complex_numbers_have_no_sign():
    proof = Proof("let z : complex\nshow 1 >= 0")
    i = term("constant", data="i")
    minus = term("ge", rational(-1), rational(0))
    for root in (i, name("z"), term("mul", i, i)):
        assert not proof.accepts(positive(minus, ["1", [], root]))
    with pytest.raises(Rejected, match="real"):
        proof.check(positive(minus, ["1", [], i]))


def test_matrices_have_no_products_of_signs():
    proof = Proof("let n : dimension\nlet A, B : matrix(n, n)\nassume A >= B\nshow 2*A >= 2*B")
    for row in (["2", [0], None], ["1", [], A]):
        assert not proof.accepts(hypothesis(0), positive(proof.statement.goal, row))


# ---------------------------------------------------------------- congruence


def test_equals_may_be_put_for_equals():
    proof = Proof("let x, y : real\nassume x = y\nshow exp(x) = exp(y)")
    hole = bound(0, REAL)
    assert proof.accepts(hypothesis(0), congruence(0, term("exp", hole)))
    assert not proof.accepts(hypothesis(0), congruence(0, term("log", hole)))  # not defined
    assert not proof.accepts(hypothesis(0), congruence(0, term("sin", hole)))
    assert not proof.accepts(hypothesis(0), congruence(0, term("exp", bound(1, REAL))))
    assert not proof.accepts(hypothesis(0), congruence(1, term("exp", hole)))
    assert not proof.accepts(hypothesis(0), congruence(0, term("gt", hole, rational(0))))
    order = Proof("let x, y : real\nassume x <= y\nshow exp(x) = exp(y)")
    assert not order.accepts(hypothesis(0), congruence(0, term("exp", hole)))


# ---------------------------------------------------------------- forall and instantiate

VECTOR = Proof("""
    let n : dimension
    let u, v : vector(n)
    let z : complex
    let j : index(n)
    assume for all k : index(n) : u[k] > 0
    show u[j] + 1 > 0
""")
J = term("index_type", n)


def test_a_quantified_fact_holds_at_each_term_of_its_type():
    p = VECTOR
    steps = [
        hypothesis(0),
        instantiate(0, name("j")),
        positive(p.statement.goal, ["1", [1], None], ["1", [], None]),
    ]
    assert p.accepts(*steps)
    for wrong in (
        instantiate(0),
        instantiate(0, name("j"), name("j")),
        instantiate(0, name("z")),
        instantiate(0, rational(2)),
        instantiate(0, p("j + 1")),
        instantiate(1, name("j")),
        instantiate(0, name("j"), by=[0]),
        instantiate(0, bound(0, J)),
        instantiate(0, rational(0)),
        instantiate(0, name("u")),
    ):
        assert not p.accepts(steps[0], wrong, steps[2])
    assert p.accepts(
        steps[0],
        instantiate(0, rational(1)),
        instantiate(0, n),
        *steps[1:2],
        positive(p.statement.goal, ["1", [3], None], ["1", [], None]),
    )


def test_a_condition_is_met_before_a_quantified_fact_is_used():
    proof = Proof("let x : real\nassume for all a : real where a > 0 : a*x = 0\nshow 2*x = 0")
    two = rational(2)
    assert proof.accepts(hypothesis(0), instantiate(0, two, by=[None]))
    assert not proof.accepts(hypothesis(0), instantiate(0, two))
    minus = Proof("let x : real\nassume for all a : real where a > 0 : a*x = 0\nshow -2*x = 0")
    assert not minus.accepts(hypothesis(0), instantiate(0, rational(-2), by=[None]))


def test_what_holds_for_a_fresh_name_holds_for_all():
    p = VECTOR
    q, inner = name("q"), {"q": J}
    goal = p("u[q] + 1 > 0", **inner)
    inside = [instantiate(0, q), positive(goal, ["1", [1], None], ["1", [], None])]
    proved = [hypothesis(0), for_all(goal, *inside, **inner), instantiate(1, name("j"))]
    assert p.accepts(*proved)
    for wrong in (
        for_all(goal, *inside),
        for_all(goal, *inside, q=REAL),
        for_all(goal, **inner),
        for_all(goal, *inside, j=J),
        for_all(goal, *inside, q=term("dimension_type")),
        for_all(goal, *inside, q=term("random_type", rational(1))),
        for_all(goal, *inside, q=J, r=term("index_type", rational(0))),
        for_all(p("u[j] + 1 > 0"), *inside, **inner),
        {**for_all(goal, *inside, **inner), "names": ["q", "q"], "types": [J, J]},
        {**for_all(goal, *inside, **inner), "names": [], "types": []},
        {**for_all(goal, *inside, **inner), "names": [None]},
        {**for_all(goal, *inside, **inner), "names": "q"},
    ):
        assert not p.accepts(proved[0], wrong, proved[2])


def test_facts_of_a_sub_proof_stay_there():
    p = VECTOR
    inside = for_all(p("u[q] > 0", q=J), instantiate(0, name("q")), q=J)
    # Place 1 is the quantified fact, not what the sub-proof found on its way.
    assert not p.accepts(
        hypothesis(0), inside, positive(p.statement.goal, ["1", [1], None], ["1", [], None])
    )


def test_a_name_of_a_sub_proof_is_unknown_outside():
    p = VECTOR
    step = for_all(term("eq", name("q"), name("q")), q=REAL)
    assert not p.accepts(hypothesis(0), step, combine(term("eq", name("q"), name("q"))))


# ---------------------------------------------------------------- cases

ABS = Proof("let x, y : real\nshow x^2 >= 0")


def test_cases_cover_all_signs():
    goal = ABS.statement.goal
    minus = [positive(goal, ["1", [0, 0], None])]
    zero = [combine(ABS("x^2 = 0"), [x, 0, None, ""])]
    plus = [positive(goal, ["1", [0, 0], None])]
    assert ABS.accepts(cases(x, goal, minus, zero, plus))
    assert not ABS.accepts(cases(x, goal, minus, zero))
    assert not ABS.accepts(cases(x, goal, minus, zero, []))
    assert not ABS.accepts(cases(x, goal, [], zero, plus))
    assert not ABS.accepts(cases(x, goal, minus, [], plus))
    assert not ABS.accepts(cases(x, goal, minus, zero, plus, plus))
    assert not ABS.accepts(cases(y, goal, minus, zero, plus))
    assert not ABS.accepts(cases(x, x, minus, zero, plus))


def test_a_case_does_not_outlive_its_branch():
    goal = ABS("x = x")
    steps = [cases(x, goal, [], [combine(ABS("x = 0"), [None, 0, None, ""])], [])]
    assert ABS.accepts(*steps, positive(ABS.statement.goal, ["1", [], x]))
    proof = Proof("let x : real\nshow x = 0")
    assert not proof.accepts(*steps)
    assert not proof.accepts(*steps, combine(proof("x = 0"), [None, 0, None, ""]))
    positive_x = Proof("let x : real\nshow x > 0")
    assert not positive_x.accepts(cases(x, positive_x("x > 0"), [], [], []))


def test_cases_are_on_real_numbers_that_are_defined():
    plain = Proof("let x : real\nshow x = x")
    assert plain.accepts(cases(x, plain("x = x"), [], [], []))
    assert not plain.accepts(cases(plain("1/x"), plain("x = x"), [], [], []))
    complex_case = Proof("let z : complex\nshow z = z")
    assert not complex_case.accepts(cases(name("z"), complex_case("z = z"), [], [], []))
    matrix = Proof("let n : dimension\nlet A : matrix(n, n)\nshow A = A")
    assert not matrix.accepts(cases(A, matrix("A = A"), [], [], []))
    gaussian = Proof("let X : gaussian(0, 1)\nshow X = X")
    one = rational(1)
    steps = [schema("definite_eye", n=one), schema("definite_semidefinite", n=one, A=one, by=[0])]
    assert gaussian.accepts(*steps)
    assert not gaussian.accepts(*steps, cases(name("X"), gaussian("X = X"), [], [], []))


def test_a_contradiction_proves_anything_and_only_there():
    for second, proved in (("x < 0", True), ("x <= 0", True), ("x < 1", False)):
        proof = Proof(f"let x : real\nassume x > 0\nassume {second}\nshow 1 = 0")
        both = positive(proof("0 > 0"), ["1", [0], None], ["1", [1], None])
        steps = [hypothesis(0), hypothesis(1), both, schema("irreflexive", x=rational(0), by=[2])]
        assert proof.accepts(*steps) is proved
