"""Traps: false, ill-posed or monstrous things that a checker might accept, or choke on.

Each was accepted, or did choke, in some trial or in some earlier state of this checker, or is
named in the literature on others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from proofs.checker import judge
from proofs.checker.judge import Rejected, check
from proofs.evaluate import Model, evaluate
from proofs.language.errors import StatementError
from proofs.language.parser import parse
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    bound,
    from_json,
    name,
    rational,
    term,
    to_json,
)
from tests.proofs.checker.building import (
    COMPLEX,
    REAL,
    Proof,
    Step,
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

x, y, z, t, n, A, B = map(name, ("x", "y", "z", "t", "n", "A", "B"))
ONE, TWO = rational(1), rational(2)
PATIENCE = 10.0  # seconds, on a machine that does other things besides


def quick(proof: Proof, *steps: Step, **more: Any) -> None:
    """The judge rejects, and doesn't take long over it."""
    start = time.monotonic()
    with pytest.raises(Rejected):
        proof.check(*steps, **more)
    assert time.monotonic() - start < PATIENCE


# ---------------------------------------------------------------- names


def test_a_name_that_looks_like_the_imaginary_unit():
    """for all i : i*i = -1, so 1*1 = -1."""
    proof = Proof("show 1 = -1")
    i = name("i")
    step = {
        "rule": "forall",
        "names": ["i"],
        "types": [COMPLEX],
        "where": [],
        "steps": [],
        "goal": term("eq", term("mul", i, i), rational(-1)),
    }
    assert not proof.accepts(step, instantiate(0, ONE))


@pytest.mark.parametrize(
    "alias",
    [
        "$0",
        "$1",
        "$i",
        "$pi",
        "i",
        "pi",
        "e",
        "oo",
        "A·B",
        "A'",
        "A~",
        "1/(x)",
        "exp(x)",
        "x^2",
        "#",
        "\0f",
        "",
        " ",
        "x ",
        "2",
        "let",
        "A B",
        "x|",
        "x;y",
        "$ones(n)",
        "tr(A)",
    ],
)
def test_no_name_can_look_like_a_value_of_the_algebra(alias: str):
    proof = Proof("show 1 = 1")
    fresh = name(alias) if alias else ONE
    step = {
        "rule": "forall",
        "names": [alias],
        "types": [REAL],
        "where": [],
        "steps": [],
        "goal": term("eq", fresh, fresh),
    }
    assert proof.accepts()
    assert not proof.accepts(step)
    declared_so = Statement((Declaration((alias,), REAL),), (), term("eq", ONE, ONE))
    with pytest.raises(Rejected):
        check(declared_so, {"statement": declared_so.hash, "nodes": [], "steps": []})


def test_a_fresh_name_does_not_capture_a_bound_variable():
    """d/ds ($0*s) = d/ds (s*s) holds only where $0 is taken for the bound s."""
    s = bound(0, REAL)
    five = term("deriv", term("mul", rational(5), s), ONE, data=1)
    square = term("deriv", term("mul", s, s), ONE, data=1)
    proof = Proof(Statement((), (), term("eq", five, square)))
    goal = term("eq", term("deriv", term("mul", name("$0"), s), ONE, data=1), square)
    step = {
        "rule": "forall",
        "names": ["$0"],
        "types": [REAL],
        "where": [],
        "steps": [],
        "goal": goal,
    }
    assert not proof.accepts(step, instantiate(0, rational(5)))


def test_a_fresh_name_does_not_shadow_a_product():
    two = TWO
    square = term("matrix_type", two, two)
    statement = Statement(
        (Declaration(("A",), square), Declaration(("B",), square)),
        (term("eq", term("mul", A, B), term("zeros", two, two)),),
        term("eq", B, term("zeros", two, two)),
    )
    step = {
        "rule": "forall",
        "names": ["A·B"],
        "types": [square],
        "where": [],
        "steps": [],
        "goal": term("eq", name("A·B"), term("zeros", two, two)),
    }
    assert not Proof(statement).accepts(hypothesis(0), step, instantiate(1, B))


def test_a_rule_or_lemma_does_not_confuse_its_names_with_ours():
    """The rule's A becomes our B, and the rule's B our A, at once."""
    proof = Proof("let n : dimension\nlet A, B : matrix(n, n)\nshow det(B*A) = det(B)*det(A)")
    step = schema("det_product", n=n, A=B, B=A)
    assert proof.accepts(step)
    swapped = Proof("let n : dimension\nlet A, B : matrix(n, n)\nshow det(B*B) = det(B)*det(A)")
    assert not swapped.accepts(step)


# ---------------------------------------------------------------- binders and derivatives


def test_an_equation_is_not_used_under_a_derivative():
    """t^2 = 1 at the point says nothing of the derivative of t^2."""
    proof = Proof("let t : real\nassume t^2 = 1\nshow diff(t^2, t) = 0")
    square = bound(0, REAL)
    one = term("deriv", ONE, t, data=1)
    inside = term("deriv", bound(1, REAL), t, data=1)  # the hole stands for a constant
    steps = [hypothesis(0), schema("diff_constant", n=ONE, k=ONE, C=ONE, x=t)]
    assert not proof.accepts(*steps)
    assert not proof.accepts(
        *steps, congruence(0, inside), combine(proof.statement.goal, [None, 1, None, ""])
    )
    assert not proof.accepts(
        *steps, schema("diff_equal", n=ONE, k=ONE, x=t, by=[0], f=term("pow", square, TWO), g=ONE)
    )
    assert one.op == "deriv"


def test_a_variable_is_differentiated_before_its_value_is_known():
    """diff(t*A, t) = A is no instance at A := t*eye(n)."""
    proof = Proof("let n : dimension\nlet t : real\nshow diff(t*(t*eye(n)), t) = t*eye(n)")
    known = parse(
        "let n : dimension\nlet t : real\nlet A : matrix(n, n)\nshow diff(t*A, t) = A"
    ).statements[0]
    step = lemma(known, n=n, t=t, A=proof("t*eye(n)"))
    assert not proof.accepts(step, lemmas={known.hash: known})


@pytest.mark.parametrize(
    ("body", "assume"),
    [
        ("sqrt(t^2)", "t = 0"),
        ("abs(t)", "t >= 0"),
        ("sqrt(t)", "t >= 0"),
        ("t^(1/2)", "t >= 0"),
        ("max(t, 0)", "t > 0"),
        ("tr(pinv(t*eye(2)))", "t = 1"),
        ("lambertw(t)", "t >= -exp(-1)"),
        ("rank(t*eye(2))*t", "t = 1"),
    ],
)
def test_what_is_not_smooth_at_the_point_is_not_differentiated(body: str, assume: str):
    proof = Proof(f"let t : real\nassume {assume}\nshow diff({body}, t) = diff({body}, t)")
    assert not proof.accepts(hypothesis(0))


def test_a_function_that_is_put_into_a_rule_must_be_smooth():
    proof = Proof("let t : real\nassume t = 0\nshow 1 = 1")
    absolute = term("abs", bound(0, REAL))
    root = term("sqrt", term("pow", bound(0, REAL), TWO))
    for f in (absolute, root):
        assert not proof.accepts(hypothesis(0), schema("diff_exp", f=f, x=t))
    assert proof.accepts(hypothesis(0), schema("diff_exp", f=bound(0, REAL), x=t))


def test_a_function_says_what_it_is_only_by_its_values():
    """A body that claims to bind a matrix would turn a lemma on matrices into one on scalars."""
    known = parse(
        "let n : dimension\nlet f : function(real) -> matrix(n, n)\nlet t : real\n"
        "show tr(f(t)*eye(n)) = tr(f(t))"
    ).statements[0]
    proof = Proof("let n : dimension\nlet t : real\nshow tr(t*eye(n)) = tr(t)")
    lie = bound(0, term("matrix_type", n, n))
    assert not proof.accepts(lemma(known, n=n, t=t, f=lie), lemmas={known.hash: known})
    for type_ in (COMPLEX, term("index_type", n)):
        assert not proof.accepts(schema("diff_exp", f=bound(0, type_), x=t)) or type_ is not COMPLEX


def test_a_bound_variable_has_one_type():
    proof = Proof("let n : dimension\nlet u : vector(n)\nshow 1 = 1")
    index, whole = term("index_type", n), term("integer_type")
    lie = term("sum", rational(0), n, term("entry", name("u"), bound(0, index)))
    mixed = term("sum", ONE, n, term("mul", bound(0, index), bound(0, whole)))
    wrong = term("forall", index, term("eq", bound(0, whole), ONE), data=(1, 0))
    for node in (lie, mixed):
        assert not proof.accepts(combine(term("eq", node, node)))
    assert not proof.accepts(for_all(wrong, q=REAL))


def test_an_entry_of_a_comprehension_is_taken_at_its_row():
    """vector(k, k, 1, 3)[2, 1] is 2; the column is no place in a list."""
    proof = Proof("show vector(k, k, 1, 3)[2, 1] = 1")
    assert not proof.accepts()
    assert Proof("show vector(k, k, 1, 3)[2, 1] = 2").accepts()


@pytest.mark.parametrize(
    "goal",
    [
        "unit(n, 2).T*unit(n, 2) = 1",
        "unit(n, 1).T*unit(n, 2) = 0",
        "u[2] = u[2]",
        "u[m] = u[m]",
        "u[2*n - 1] = u[2*n - 1]",
        "A[1, 2] = A[1, 2]",
        "0*u[n - 1] = 0",
        "f[2] = f[2]",
    ],
)
def test_an_index_must_be_in_range_for_all_sizes(goal: str):
    proof = Proof(
        "let n : dimension\nlet m : integer\nlet u : vector(n)\nlet A : matrix(n, n)\n"
        f"let f : real for a in 1..n\nshow {goal}"
    )
    assert not proof.accepts()


def test_a_loose_bound_variable_is_no_term():
    proof = Proof("let x : real\nshow x = x")
    loose = bound(0, REAL)
    goal = term("eq", loose, loose)
    for step in (
        combine(goal),
        for_all(goal, q=REAL),
        cases(loose, proof("x = x"), [], [], []),
        schema("exp_positive", x=loose),
        congruence(0, bound(1, REAL)),
    ):
        assert not proof.accepts(step)
    open_goal = Statement((), (), goal)
    with pytest.raises(Rejected):
        check(open_goal, {"statement": open_goal.hash, "nodes": [], "steps": []})


# ---------------------------------------------------------------- definedness


def test_a_hypothesis_does_not_certify_itself():
    """`det(inv(A)) > 0` is about nothing unless A is known to be invertible."""
    text = "let n : dimension\nlet A : matrix(n, n)\nassume {}\nshow invertible(A)"
    proof = Proof(text.format("det(inv(A)) > 0"))
    steps = [schema("det_unit", n=n, A=A, by=[0]), schema("unit_det", n=n, A=A, by=[0])]
    assert not proof.accepts(hypothesis(0), *steps)
    assert not Proof(text.format("inv(A)*A = eye(n)")).accepts(
        hypothesis(0), schema("one_sided_unit", n=n, A=A, B=proof("inv(A)"), by=[0])
    )


def test_conditions_of_two_hypotheses_do_not_certify_each_other():
    proof = Proof(
        "let x : real\nassume for all s : real where 1/s > 0 : s != 0\n"
        "assume for all s : real where 1/s > 0 : 1/s != 0\nshow x = x"
    )
    assert not proof.accepts(hypothesis(0), hypothesis(1))


def test_a_one_sided_inverse_of_a_rectangle_is_not_two_sided():
    proof = Proof(
        "let n, k : dimension\nlet A : matrix(n, k)\nlet B : matrix(k, n)\n"
        "assume A*B = eye(n)\nshow B*A = eye(k)"
    )
    for sizes in ({"n": n}, {"n": name("k")}, {"n": proof("n + k")}):
        assert not proof.accepts(hypothesis(0), schema("one_sided", A=A, B=B, by=[0], **sizes))
    equal = Proof(
        "let n, k : dimension\nlet A : matrix(n, k)\nlet B : matrix(k, n)\nassume n = k\n"
        "assume A*B = eye(n)\nshow B*A = eye(k)"
    )
    assert not equal.accepts(
        hypothesis(0), hypothesis(1), schema("one_sided", A=A, B=B, by=[1], n=n)
    )


@pytest.mark.parametrize(
    "goal",
    [
        "A*inv(A) = eye(n)",
        "inv(A) = inv(A)",
        "0*inv(A) = zeros(n, n)",
        "x/x = 1",
        "0/x = 0",
        "x^-1 = x^-1",
        "(1/x)*0 = 0",
        "sqrt(x)^2 = x",
        "log(x) = log(x)",
        "A^-1 - A^-1 = zeros(n, n)",
        "logpdf(zeros(n, 1); zeros(n, 1), A) = logpdf(zeros(n, 1); zeros(n, 1), A)",
        "sum(1/(x - q), q, 1, n) = sum(1/(x - q), q, 1, n)",
        "x^(-n)*x^n = x^(-n)*x^n",
    ],
)
def test_no_goal_is_accepted_without_a_word_on_its_definedness(goal: str):
    proof = Proof(f"let n : dimension\nlet x : real\nlet A : matrix(n, n)\nshow {goal}")
    assert not proof.accepts()
    assert not proof.accepts(combine(proof.statement.goal))


def test_division_by_the_number_zero():
    for goal in (
        "1/0 = 1/0",
        "0*(1/0) = 0",
        "1/(2 - 2) = 1/0",
        "0^-1 = 0^-1",
        "inv(0) = 0",
        "x/(x - x) = 1",
        "(x - x)^-2 = 1",
    ):
        proof = Proof(f"let x : real\nshow {goal}")
        assert not proof.accepts()
        assert not proof.accepts(combine(proof.statement.goal))
        assert not proof.accepts(schema("reciprocal", x=rational(0), by=[None]))


def test_zero_to_the_power_zero_is_one_and_no_more():
    assert Proof("let x : real\nshow x^0 = 1").accepts()
    assert Proof("show 0^0 = 1").accepts()
    assert not Proof("let x : real\nlet m : integer\nshow x^m*0 = 0").accepts()
    assert not Proof("let n : dimension\nshow 0^n = 1").accepts()
    assert not Proof("let x, s : real\nshow x^s = x^s").accepts()


@pytest.mark.parametrize(
    "lines",
    [
        "define a = a + 1",
        "define a = b\ndefine b = a",
        "define a = b + 1\ndefine b = c\ndefine c = a",
        "define x = x + 1",
        "define f(t) = f(t)",
    ],
)
def test_a_definition_in_a_circle_is_none(lines: str):
    with pytest.raises(StatementError):
        parse(f"let x : real\n{lines}\nshow x = x")


def test_a_relation_under_a_condition_that_never_holds_says_nothing_elsewhere():
    """for all q where q > q : 1 = 0, which is true, and worth nothing."""
    q = name("q")
    never = term("gt", q, q)
    empty = {
        "rule": "forall",
        "names": ["q"],
        "types": [REAL],
        "where": [never],
        "steps": [schema("irreflexive", x=q, by=[None])],
        "goal": term("eq", ONE, rational(0)),
    }
    proof = Proof("let x : real\nshow 1 = 0")
    assert Proof("let x : real\nshow x = x").accepts(empty)
    for by in ([], [None], [0], [0, 0]):
        assert not proof.accepts(empty, instantiate(0, x, by=by))
    assert not proof.accepts(empty, combine(term("eq", ONE, rational(0)), [None, 0, None, ""]))
    assert not proof.accepts(empty, schema("irreflexive", x=x, by=[0]))
    without = {**empty, "where": []}
    assert not proof.accepts(without, instantiate(0, x))


def test_an_induction_needs_its_start_its_step_and_an_end():
    q = name("q")
    for goal, text, at in (
        (term("eq", q, ONE), "n = 1", n),  # true at 1, no step
        (term("eq", x, TWO), "x = 2", n),  # a step, no start
        (term("eq", q, n), "1 = n", ONE),
        (term("eq", term("mul", q, q), q), "n*n = n", n),
    ):
        proof = Proof(f"let n : dimension\nlet x : real\nshow {text}")
        step = {"rule": "induct", "name": "q", "goal": goal, "at": at, "steps": []}
        assert not proof.accepts(combine(term("eq", ONE, ONE)), step)
    proof = Proof("let n : dimension\nlet x : real\nshow (n - 1)*x = (n - 1)*x")
    same = term("eq", q, q)
    for end, holds in ((n, True), (ONE, True), (proof("n - 1"), False), (x, False)):
        step = {"rule": "induct", "name": "q", "goal": same, "at": end, "steps": []}
        assert proof.accepts(step) is holds


# ---------------------------------------------------------------- matrices


@pytest.mark.parametrize(
    "goal",
    [
        "A >= A",
        "A + K >= B + K",
        "A <= A",
        "K >= zeros(2, 2)",
    ],
)
def test_only_symmetric_matrices_are_ordered(goal: str):
    proof = Proof(f"let A, B, K : matrix(2, 2)\nassume A >= B\nshow {goal}")
    assert not proof.accepts(hypothesis(0))
    assert not proof.accepts(hypothesis(0), combine(proof("A = A")), combine(proof("K = K")))
    same = Proof("let A, B : matrix(2, 2)\nassume A >= B\nshow B <= A")
    assert same.accepts(hypothesis(0))


@pytest.mark.parametrize(
    "goal",
    [
        "w.H*v = v.H*w",
        "tr(Z.H) = tr(Z)",
        "det(Z.H) = det(Z)",
        "conj(z) = z",
        "Z.H = Z.T",
        "norm2(w) = w.T*w",
        "(Z*pinv(Z)).T = Z*pinv(Z)",
        "conj(1/(1 + i)) = 1/(1 + i)",
    ],
)
def test_a_conjugate_is_not_forgotten(goal: str):
    proof = Proof(
        "let n : dimension\nlet Z : complex matrix(n, n)\n"
        f"let v, w : complex vector(n)\nlet z : complex\nshow {goal}"
    )
    steps = [schema("penrose_3", n=n, k=n, A=name("Z")), schema("det_transpose", n=n, A=name("Z"))]
    assert not proof.accepts(*steps)


def test_products_do_not_commute_unless_they_are_scalars():
    for left, right in (
        ("A*B", "B*A"),
        ("tr(A*B*C)", "tr(A*C*B)"),
        ("(A*B)^2", "A^2*B^2"),
        ("u*v.T", "v*u.T"),
        ("u.T*A*v", "v.T*A*u"),
        ("A*A.T", "A.T*A"),
    ):
        proof = Proof(
            "let n : dimension\nlet A, B, C : matrix(n, n)\nlet u, v : vector(n)\n"
            f"show {left} = {right}"
        )
        assert not proof.accepts()
    assert Proof("let n : dimension\nlet u, v : vector(n)\nshow (u.T*v)*u = u*(v.T*u)").accepts()


def test_sizes_are_not_compared_by_luck():
    """n - 1 may be zero, n*k is no less than n only by a proof that is not tried."""
    for text in (
        "let x : vector(n - 1)\nshow x = x",
        "let x : vector(0)\nshow x = x",
        "let x : vector(n)\nlet y : vector(k)\nshow x = y",
        "let x : vector(n)\nlet j : index(n*k)\nshow x[j] = x[j]",
        "let x : vector(n/2)\nshow x = x",
    ):
        with pytest.raises(StatementError):
            parse(f"let n, k : dimension\n{text}")
    assert not Proof("let n, k : dimension\nshow n = k").accepts()
    assert not Proof("let n : dimension\nshow n > 1").accepts(declared("n", 0))


# ---------------------------------------------------------------- random vectors

GAUSSIAN = """
    let n : dimension
    let m, p : vector(n)
    let S : matrix(n, n)
    assume positive_semidefinite(S)
    let X : gaussian(m, S)
    let Y : gaussian(p, S)
    show {}
"""


@pytest.mark.parametrize(
    "goal",
    [
        "X = Y",
        "X = m",
        "cov(X, Y) = S",
        "E(X) = E(Y)",
        "cov(X, X) = zeros(n, n)",
        "E(X | Y) = X",
        "cov(X, X | Y) = zeros(n, n)",
    ],
)
def test_gaussians_are_not_confused(goal: str):
    proof = Proof(GAUSSIAN.format(goal))
    facts = [declared(v, k) for v in "XY" for k in (0, 1)]
    assert proof.accepts(hypothesis(0), *facts) is False


@pytest.mark.parametrize(
    "goal",
    [
        "E(inner(X, Y)) = inner(E(X), E(Y))",
        "E(inner(X, X)) = inner(E(X), E(X))",
        "E(X*X.T) = E(X)*E(X).T",
        "E(exp(X[1])) = exp(E(X)[1])",
        "l2norm2(hadamard(X, Y)) = 0",
    ],
)
def test_expectations_of_products_are_not_part_of_the_algebra(goal: str):
    proof = Proof(GAUSSIAN.format(goal))
    assert not proof.accepts(hypothesis(0), *[declared(v, k) for v in "XY" for k in (0, 1)])


STANDARD = [
    schema("definite_eye", n=ONE),
    schema("definite_semidefinite", n=ONE, A=ONE, by=[0]),
    declared("X", 0),
    declared("X", 1),
]


@pytest.mark.parametrize(
    "goal",
    [
        "E(conj(exp(i*X))*exp(i*X)) = E(conj(exp(i*X)))*E(exp(i*X))",  # 1 = 1/e
        "E(norm2(exp(i*X))) = norm2(E(exp(i*X)))",
        "E(conj(exp(i*X))) = E(exp(i*X))*1",
        "E(exp(X)^2) = E(exp(X))^2",
        "E(X^65*X) = E(X^65)*E(X)",  # a moment of even order, and zero
        "E(X^65*X^65) = E(X^65)^2",
        "E(conj(exp(X + i*X))*exp(X)) = E(conj(exp(X + i*X)))*E(exp(X))",
    ],
)
def test_what_is_opaque_in_a_random_number_is_random(goal: str):
    assert not Proof(f"let X : gaussian(0, 1)\nshow {goal}").accepts(*STANDARD)
    assert Proof("let X : gaussian(0, 1)\nshow E(conj(i*X)*X) = -i*E(X^2)").accepts(*STANDARD)


@pytest.mark.parametrize(
    ("goal", "holds"),
    [
        ("E(conj(V)) = conj(E(V))", True),
        ("E(V) = conj(E(V))", False),
        ("E(norm2(V)) = E(V.T*V)", False),
        ("E(norm2(V)) = E(V.H*V)", True),
    ],
)
def test_a_complex_multiple_of_a_conditional_mean_keeps_its_conjugate(goal: str, holds: bool):
    text = (
        "let n : dimension\nlet a : vector(n)\nlet S : matrix(n, n)\n"
        "let Z : complex matrix(n, n)\nassume positive_semidefinite(S)\n"
        "let W : gaussian(a, S)\nlet Y : gaussian(a, S)\n"
        "define V = E(cov(W, W)*Z*W | Y)\n"
    )
    known = [declared(v, k) for v in "WY" for k in (0, 1)]
    assert Proof(f"{text}show {goal}").accepts(hypothesis(0), *known) is holds


def test_independence_is_asked_of_those_for_whom_it_was_assumed():
    """A (cited) fact on two independent Gaussians doesn't hold for one taken twice."""
    fact = parse("let X : gaussian(0, 1)\nlet Y : gaussian(0, 1)\nshow cov(X, Y) = 0").statements[0]
    proof = Proof("let Z : gaussian(0, 1)\nshow cov(Z, Z) = 0")
    Z = name("Z")
    known = [
        schema("definite_eye", n=ONE),
        schema("definite_semidefinite", n=ONE, A=ONE, by=[0]),
        declared("Z", 0),
        declared("Z", 1),
    ]
    for by in ([2, 3, 2, 3], [2, 3, 2, 3, 3], [2, 3, 2, 3, None]):
        assert not proof.accepts(*known, lemma(fact, X=Z, Y=Z, by=by), lemmas={fact.hash: fact})


def test_a_gaussian_vector_is_a_random_one_where_it_is_affine():
    text = "let X : gaussian(0, 1)\nlet m : real\nshow {} >= 0"
    known = [schema("definite_eye", n=ONE), schema("definite_semidefinite", n=ONE, A=ONE, by=[0])]
    for value, holds in (("2*X - 1", True), ("X*X", False), ("m", False), ("i*X", False)):
        proof = Proof(text.format(f"l2norm2({value})" if holds else "1"))
        step = schema("l2_nonnegative", n=ONE, U=proof(value), by=[])
        assert proof.accepts(*known, step) is holds, value


def test_cases_are_not_on_the_sign_of_a_random_number():
    proof = Proof("let X : gaussian(0, 1)\nshow E(X) = E(X)")
    known = [schema("definite_eye", n=ONE), schema("definite_semidefinite", n=ONE, A=ONE, by=[0])]
    assert proof.accepts(*known)
    assert not proof.accepts(*known, cases(name("X"), proof("1 = 1"), [], [], []))


def test_a_conditional_expectation_is_no_projection_on_what_it_does_not_know():
    text = (
        "let U : random\nlet F, G : sigma_algebra\nassume F subset G\n"
        "show E(E(U | F) | G) = E(U | {})"
    )
    U, F, G = map(name, "UFG")
    right = schema("tower_coarse_first", n=ONE, U=U, F=F, G=G, by=[0])
    assert Proof(text.format("F")).accepts(hypothesis(0), right)
    assert not Proof(text.format("G")).accepts(hypothesis(0), right)
    turned = schema("tower_coarse_first", n=ONE, U=U, F=G, G=F, by=[0])
    assert not Proof(text.format("G")).accepts(hypothesis(0), turned)


# ---------------------------------------------------------------- other statements


def test_a_certificate_proves_its_own_statement_only():
    one = Proof("let x : real\nshow x + x = 2*x")
    other = Proof("let x : real\nshow x + x = 3*x")
    certificate = one.certificate()
    check(one.statement, certificate)
    with pytest.raises(Rejected, match="another statement"):
        check(other.statement, certificate)
    with pytest.raises(Rejected):
        check(other.statement, {**certificate, "statement": other.statement.hash})


def test_hashes_tell_apart_what_reads_alike():
    texts = [
        "let x : real\nshow x = x",
        "let y : real\nshow y = y",
        "let x : positive\nshow x = x",
        "let x : real\nassume x = x\nshow x = x",
        "let x : real\nshow x <= x",
        "let x, y : real\nshow x = x",
        "let x : complex\nshow x = x",
        "let x : real\nshow 1*x = x",
        "let x : real\nshow x = 1*x",
    ]
    assert len({parse(text).statements[0].hash for text in texts}) == len(texts)


def test_two_conventions_of_numbers_have_one_hash():
    statement = parse("let x : real\nshow 0.5*x = x/2").statements[0]
    assert from_json(to_json(statement)).hash == statement.hash
    assert not Proof("show 2^70 = 0").accepts()
    assert Proof("show 2^70 = 2^70").accepts()
    assert not Proof("show 2^70 = 2^70 + 1").accepts()


def test_false_lemmas_that_cite_each_other_are_not_the_judges_to_see_but_a_lemma_is_no_theorem():
    """The judge takes only what it is given; the library gives only what it has judged."""
    proof = Proof("let x : real\nshow x = x + 1")
    false = parse("let y : real\nshow y = y + 1").statements[0]
    assert not proof.accepts(lemma(false, y=x))
    assert not proof.accepts(
        lemma(proof.statement, x=x), lemmas={proof.statement.hash: proof.statement}
    )


# ---------------------------------------------------------------- bombs

BOMB = Proof(
    "let x : real\nlet n : dimension\nlet A : matrix(n, n)\nlet u : vector(n)\nshow x = 2*x"
)


def tower(base: Term, floors: int) -> Term:
    for _ in range(floors):
        base = term("pow", base, rational(64))
    return base


def doubled(base: Term, times: int, op: str = "add") -> Term:
    for _ in range(times):
        base = term(op, base, base)
    return base


def chain(base: Term, times: int, step: Callable[[Term], Term]) -> Term:
    for _ in range(times):
        base = step(base)
    return base


def long_body(length: int) -> Term:
    """A long chain that mentions the bound variable everywhere."""
    b = bound(0, term("integer_type"))
    return chain(b, length, lambda a: term("neg", term("add", a, b)))


def long_words() -> Term:
    """Some two thousand words of more than a hundred letters."""
    far = term("pow", A, rational(64))
    many = term("pow", term("add", A, term("transpose", A)), rational(11))
    return term("mul", many, term("mul", far, far))


def sizes(count: int) -> Term:
    """A sum of traces of larger and larger identities."""
    size, total = n, x
    for _ in range(count):
        size = term("add", size, ONE)
        total = term("add", total, term("tr", term("eye", size)))
    return total


BOMBS: dict[str, Callable[[], Term]] = {
    "digits": lambda: tower(rational(3), 8),
    "digits in a denominator": lambda: term("div", ONE, tower(rational(3), 8)),
    "long numbers multiplied": lambda: tower(rational(3**4000), 2),
    "exponents": lambda: tower(x, 3000),
    "the inverse of a high power": lambda: term("div", ONE, tower(x, 5)),
    "doubling of an entry": lambda: term("entry", doubled(term("comprehension", n, x), 60), ONE),
    "doubling of a product": lambda: doubled(term("add", x, ONE), 60, "mul"),
    "doubling of a matrix product": lambda: doubled(A, 60, "mul"),
    "doubling of a block": lambda: chain(
        term("zeros", n, n), 5_000, lambda z: term("block", z, z, data=(1, 2))
    ),
    "a long sum squared": lambda: doubled(tower(term("add", x, ONE), 1), 12, "mul"),
    "many terms": lambda: tower(term("add", term("add", x, name("n")), ONE), 2),
    "reciprocals of reciprocals": lambda: chain(x, 5_000, lambda a: term("div", ONE, a)),
    "a long chain": lambda: chain(x, 10_000, lambda a: term("neg", term("add", a, ONE))),
    "a long chain of entries": lambda: term(
        "entry", chain(term("comprehension", n, x), 5_000, lambda v: term("neg", v)), ONE
    ),
    "sums within sums": lambda: chain(
        bound(0, term("integer_type")),
        12,
        lambda b: term("sum", ONE, rational(60), term("add", b, bound(0, term("integer_type")))),
    ),
    "two places of each vector": lambda: term(
        "entry",
        chain(
            name("u"),
            30,
            lambda v: term(
                "comprehension",
                n,
                term(
                    "mul", term("entry", v, bound(0, term("index_type", n))), term("entry", v, ONE)
                ),
            ),
        ),
        ONE,
    ),
    "arguments": lambda: chain(x, 30, lambda a: term("max", *[a] * 1000)),
    "ones times ones": lambda: term("tr", tower(term("ones", rational(64), rational(64)), 1)),
    "a wide block": lambda: term("block", *[x] * 3000, data=(1, 3000)),
    "denominators under sums": lambda: chain(
        chain(
            bound(0, term("integer_type")),
            300,
            lambda a: term("div", ONE, term("add", a, bound(0, term("integer_type")))),
        ),
        10,
        lambda a: term("sum", ONE, n, a),
    ),
    "powers of a sum of letters": lambda: tower(term("add", A, term("transpose", A)), 1),
    "sizes that grow": lambda: sizes(2_000),
    "a long body summed": lambda: term("sum", ONE, rational(64), long_body(20_000)),
    "long arguments": lambda: chain(x, 30, lambda a: term("max", *[a] * 20_000)),
    "transposes of long words": lambda: chain(long_words(), 3_000, lambda a: term("transpose", a)),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_defused(bomb: str, monkeypatch: pytest.MonkeyPatch):
    """Whatever it is, the judge answers, by rejecting; sooner where less work is allowed."""
    monkeypatch.setattr(judge, "MAX_WORK", judge.MAX_WORK // 10)
    node = BOMBS[bomb]()
    quick(BOMB, combine(term("eq", node, node)), combine(term("eq", node, term("neg", node))))


def test_binders_are_nested_so_deep_and_no_deeper():
    with pytest.raises(StatementError, match="nested"):
        chain(x, 100, lambda b: term("sum", ONE, n, b))


def test_the_stated_limit_of_work_is_some_seconds():
    node = BOMBS["doubling of a product"]()
    quick(BOMB, combine(term("eq", node, node)))


@pytest.mark.parametrize(
    "coefficient",
    [
        "1e999999999",
        "1e-999999999",
        "1" * 5000,
        "1/" + "3" * 5000,
        " 1",
        "1_0",
        "+1",
        "01",
        "2/4",
        "0x10",
        "inf",
        "nan",
        "1.5",
        "1/0",
        "-0",
        "½",
        "1e0",
    ],
    ids=lambda text: text[:12],
)
def test_coefficients_are_written_in_one_way(coefficient: str):
    quick(BOMB, positive(BOMB("x >= x"), [coefficient, [], None]))


def test_many_steps_over_a_large_term_come_to_an_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(judge, "MAX_WORK", judge.MAX_WORK // 4)
    large = chain(x, 20_000, lambda a: term("add", a, ONE))
    quick(BOMB, *[combine(term("eq", large, large))] * 2000)


def test_a_context_that_is_long_is_not_walked_again_and_again():
    hole = chain(bound(0, REAL), 30_000, lambda a: term("neg", a))
    quick(BOMB, combine(BOMB("x = x")), *[congruence(0, hole)] * 1_000)


def test_many_sub_proofs_over_many_facts_come_to_an_end():
    few = [combine(BOMB("x = x"))] * 3000
    inside = for_all(term("eq", name("q"), name("q")), q=REAL)
    quick(BOMB, *few, *[inside] * 10_000)


def test_a_gaussian_that_is_doubled_is_looked_at_once():
    proof = Proof(
        "let n : dimension\nlet m : vector(n)\nlet S : matrix(n, n)\n"
        "assume positive_semidefinite(S)\nlet X : gaussian(m, S)\nshow X = 2*X"
    )
    large = doubled(name("X"), 60)
    quick(
        proof,
        hypothesis(0),
        schema(
            "gaussian_mean_given",
            n=n,
            k=n,
            a=name("m"),
            b=name("m"),
            S=name("S"),
            C=name("S"),
            G=name("S"),
            R=name("S"),
            X=large,
            Y=large,
            by=[0] * 5,
        ),
    )


def test_numbers_of_json_are_small_and_whole():
    from proofs.language.tree import load_json

    for text in (
        '{"a": 1e400}',
        '{"a": 0.1}',
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": -1e9}',
        '{"a": ' + "9" * 30 + "}",
        '{"a": 1, "a": 1}',
        "[" * 100_000,
        '{"a"',
        "",
    ):
        with pytest.raises(StatementError):
            load_json(text)


ODD: list[object] = [
    10**5000,
    -(10**5000),
    1.5,
    float("nan"),
    True,
    {"a": 1},
    [[1]],
    (1,),
    b"x",
    "9" * 10**5,
    [0] * 10**4,
    None,
]


@pytest.mark.parametrize("value", ODD, ids=[f"odd{k}" for k in range(len(ODD))])
def test_odd_values_anywhere_are_rejected(value: object):
    """Each place of a good certificate, one after another, gets an odd value."""
    proof = Proof("let x : real\nassume x > 0\nassume x = 1\nshow x^2 > 0")
    good = [
        hypothesis(0),
        hypothesis(1),
        for_all(proof("q + 0 = q", q=REAL), q=REAL),
        instantiate(2, x),
        congruence(1, term("exp", bound(0, REAL))),
        schema("exp_positive", x=x),
        combine(proof("2*x = 2"), [TWO, 1, None, ""]),
        cases(x, proof("x = x"), [], [], []),
        positive(proof.statement.goal, ["1", [0, 0], None]),
    ]
    certificate = proof.certificate(*good)
    check(proof.statement, certificate)
    for holder, key in list(_places(certificate)):
        kept = holder[key]
        holder[key] = value
        try:
            check(proof.statement, certificate)
        except Rejected:
            pass
        finally:
            holder[key] = kept
    check(proof.statement, certificate)


def _places(value: Any):
    items = list(value.items() if isinstance(value, dict) else enumerate(value))
    for key, inner in items:
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


# ---------------------------------------------------------------- what the evaluator says


def test_the_traps_are_false_and_not_only_unproved():
    """A check of the traps themselves, at one point each."""
    model = Model(
        Proof("let x : real\nlet A : matrix(2, 2)\nshow x = x").statement.declarations,
        {"x": 2, "A": ((0, 1), (0, 0))},
    )
    case = Proof("let x : real\nlet A : matrix(2, 2)\nshow x = x")
    for text in (
        "A >= A",
        "vector(k, k, 1, 3)[2, 1] = 1",
        "diff(x*5, x) = diff(x*x, x)",
        "A*A.T = A.T*A",
        "tr(x*eye(2)) = tr(x)",
    ):
        assert str(evaluate(case(text), model)) == "Truth.FALSE", text
