"""What must hold for a term to be defined: no more is forgotten than the evaluator would miss."""

from __future__ import annotations

import random

import pytest

from proofs.checker.definedness import NotDefined, obligations
from proofs.evaluate import Model, Truth, Undecided, Undefined, evaluate
from proofs.language.errors import StatementError
from proofs.language.show import excerpt
from proofs.language.tree import Statement, bound, instantiate, name, pair, rational, term
from proofs.refute import examine
from tests.proofs.checker import trees
from tests.proofs.checker.building import REAL, Proof, hypothesis

FUNCTIONS = ("log", "sqrt", "lambertw", "abs", "max", "exp")


@pytest.mark.parametrize("seed", range(8))
def test_a_term_whose_obligations_hold_has_a_value(seed: int):
    """Random trees with partial functions, under sums and derivatives, at random points."""
    print(f"seed {seed}")
    held = 0
    for k in range(120):
        draw = random.Random(1000 * seed + k)
        model = trees.model(draw)
        root = trees.Trees(draw.randrange(10**9), FUNCTIONS).matrix(
            draw.choice(trees.SIZES[:3]), trees.ONE, draw.randint(2, 4)
        )
        try:
            conditions = obligations(root, trees.SCOPE)
        except (NotDefined, StatementError):
            continue
        if all(evaluate(c, model) is Truth.TRUE for c in conditions):
            found = evaluate(root, model)
            assert not isinstance(found, Undefined), (seed, k, excerpt(root), found)
            held += bool(conditions) and not isinstance(found, Undecided)
    print(f"{held} terms with conditions")
    assert held > 10


CASE = Proof("""
    let n, k : dimension
    let x, y : real
    let p : positive
    let z : complex
    let A : matrix(n, n)
    let u, v : vector(n)
    let j : index(n)
    let m : integer
    let f : function(real)
    let mu : vector(n) for a in 1..k
    show x = x
""")


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("x + y*z", []),
        ("x/y", ["y != 0"]),
        ("1/(1/x)", ["1/x != 0", "x != 0"]),
        ("0*(1/x)", ["x != 0"]),
        ("inv(A)", ["invertible(A)"]),
        ("inv(x)", ["x != 0"]),
        ("A^-1", ["invertible(A)"]),
        ("A^-2 + A^2", ["invertible(A)"]),
        ("x^0", []),
        ("x^n", []),
        ("x^(n - 1)", []),
        ("x^(n - 2)", ["x != 0"]),
        ("x^m", ["x != 0"]),
        ("A^m", ["invertible(A)"]),
        ("x^(1/2)", ["x > 0"]),
        ("x^y", ["x > 0"]),
        ("log(x)", ["x > 0"]),
        ("sqrt(x)", ["x >= 0"]),
        ("lambertw(x)", ["x >= -exp(-1)"]),
        ("logpdf(u; v, A)", ["positive_definite(A)"]),
        ("abs(x) + max(x, y) + tr(pinv(A)) + rank(A)", []),
        ("sum(1/u[p1], p1, 1, n)", ["for all t : index(n) : u[t] != 0"]),
        ("sum(1/x, p1, 1, n)", ["x != 0"]),
        ("sum(1/(q - x), q, 0, 3)", ["for all t : integer : t - x != 0"]),
        (
            "vector(sum(1/(u[a1] - v[b1]), a1, 1, n), b1, 1, n)",
            ["for all t : index(n) : u[t] != 0"],
        ),  # compared by its number only
        ("u[m]", ["m >= 1", "m <= n"]),
        ("u[n + 1]", ["n + 1 <= n"]),
        ("u[n - 1]", ["n - 1 >= 1"]),
        ("u[j + 1]", ["j + 1 <= n"]),
        ("unit(n, m)", ["m >= 1", "m <= n"]),
        ("unit(n, 2)", ["2 <= n"]),
        ("A[j, 2]", ["2 <= n"]),
        ("A[m, j]", ["m >= 1", "m <= n"]),
        ("mu[2]", ["2 <= k"]),
        ("mu[j]", ["j <= k"]),
        ("sum(u[q + 1], q, 1, n)", ["for all q : index(n) : q + 1 <= n"]),
        ("sum(u[q + 1], q, 0, n - 1)", []),
        ("sum(u[n - q], q, 0, n - 1)", []),
        ("sum(u[n - q + 1], q, 0, n - 1)", ["for all q : integer : n - q + 1 <= n"]),
        ("sum(u[2*q], q, 0, n - 1)", ["first", "last"]),
        ("sum(u[q], q, 0, n)", ["for all q : integer : q >= 1"]),
        ("sum(u[q*q], q, 1, n)", ["first", "last"]),
        ("vector(u[q + 1], q, 1, n)", ["for all q : index(n) : q + 1 <= n"]),
        ("vector(u[n + 1 - q], q, 1, n)", []),
        ("sum(A^(n - 1 - q), q, 0, n - 1)", []),
        ("sum(x^(n - q), q, 0, n + 1)", ["x != 0"]),
        ("sum(x^(n - 1 - q), q, 0, n)", ["x != 0"]),
        ("sum(x^(q - 1), q, 0, n)", ["x != 0"]),
        ("sum(x^(q - 1), q, 1, n)", []),
        ("sum(sum(x^(q - r), r, 0, q), q, 0, n)", []),
        ("sum(sum(x^(r - q), r, 0, q), q, 0, n)", ["x != 0"]),
        ("sum(sum(x^(q*r), r, 0, q), q, 0, n)", ["x != 0"]),
        ("prod(x^(q - 2), q, 2, n)", []),
        ("sum(diff(y^(q + 1), y), q, 0, n)", []),
        ("sum(sum(x^(q + r - 3), r, q, n), q, 1, n)", ["x != 0"]),
        ("sum(sum(x^(q + r - 2), r, q, n), q, 1, n)", []),
        ("sum(sum(x^(2*q - r), r, 0, q), q, 0, n)", []),
        ("sum(x^(n*q), q, 0, n)", ["x != 0"]),
        ("x^(j - 1)", []),
        ("x^(n - j)", []),
        ("x^(j - 2)", ["x != 0"]),
        ("x^(k - j)", ["x != 0"]),
        ("u[n + 1 - j]", []),
        ("sum(x^(q - j), q, j, n)", []),
        ("sum(x^(q - j), q, 1, n)", ["x != 0"]),
        ("diff(sqrt(x), x)", ["x > 0"]),
        ("diff(sqrt(y)*x, x)", ["y >= 0"]),
        ("diff(x^3/(x - 1), x)", ["x - 1 != 0"]),
        ("diff(x^(1/2), x)", ["x > 0"]),
        ("diff(lambertw(x), x)", ["x > -exp(-1)"]),
        ("diff(inv(x*A), x)", ["invertible(x*A)"]),
        ("diff(diff(log(x*y), x), y)", ["x*y > 0"]),
        ("diff(f(x), x)", []),
        ("diff(abs(y)*x, x)", []),
        ("diff(abs(x), x)", ["x != 0"]),
        ("diff(sum(abs(x*u[q]), q, 1, n), x)", ["for all t : index(n) : x*u[t] != 0"]),
        ("diff(tr(pinv(x*A)), x)", ["det((x*A)*(x*A).H) + det((x*A).H*(x*A)) != 0"]),
        ("diff(tr(pinv(A))*x, x)", []),
        ("grad(norm2(u), u)", []),
        ("grad(sqrt(norm2(u)), u)", ["norm2(u) > 0"]),
        ("grad(x*abs(inner(u, v)), u)", ["inner(u, v) != 0"]),
        ("grad(tr(inv(A)), A)", ["invertible(A)"]),
    ],
)
def test_the_conditions_of_these_are(text: str, conditions: list[str]):
    found = obligations(CASE(text), CASE.scope)
    if conditions and ("for all" in conditions[0] or conditions == ["first", "last"]):
        assert [c.op for c in found] == ["forall"] * len(conditions)
    else:
        assert set(found) == {CASE(c) for c in conditions}


@pytest.mark.parametrize(
    "text",
    [
        "diff(max(x, y), x)",
        "diff(rank(x*A), x)",
        "diff(x*rank(x*A), x)",
        "grad(max(u), u)",
        "grad(rank(A), A)",
        "diff(logpdf_on_support(x*u; v, A), x)",
    ],
)
def test_these_are_refused(text: str):
    try:
        root = CASE(text)
    except StatementError:
        return
    with pytest.raises((NotDefined, StatementError)):
        obligations(root, CASE.scope)


def test_a_moving_covariance_must_be_symmetric_everywhere():
    definite, symmetric = sorted(
        obligations(CASE("diff(logpdf(u; v, x*A), x)"), CASE.scope),
        key=lambda r: r.op,
        reverse=True,
    )
    assert definite is CASE("positive_definite(x*A)")
    assert (symmetric.op, symmetric.args[-1].op) == ("forall", "eq")
    assert instantiate(symmetric.args[-1], (CASE("y"),)) is CASE("(y*A).T = y*A")
    assert [c.op for c in obligations(CASE("diff(logpdf(x*u; v, A), x)"), CASE.scope)] == [
        "eq",
        "positive_definite",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "u[1]",
        "u[n]",
        "A[n, j]",
        "unit(n, j)",
        "mu[1]",
        "mu[k]",
        "sum(u[q], q, 1, n)",
        "sum(u[q], q, 2, n)",
    ],
)
def test_these_indices_are_surely_in_range(text: str):
    assert obligations(CASE(text), CASE.scope) == []


def test_the_conditions_of_a_quantified_relation_stand_under_the_earlier_ones_only():
    """Else `where 1/t > 0` would certify that t is not zero."""
    t = bound(0, REAL)
    inverse = term("div", rational(1), t)
    relation = term(
        "forall",
        REAL,
        term("gt", inverse, rational(0)),
        term("eq", term("mul", t, inverse), rational(1)),
        data=(1, 1),
    )
    (first, second) = sorted(obligations(relation, CASE.scope), key=pair)
    assert first.data == (1, 0)
    assert second.data == (1, 1)


def test_a_condition_moves_to_the_point_of_each_derivative():
    """d/ds of d/dt log(s*t), at t = s + 1, s = x: what counts is x*(x + 1) > 0."""
    s, t = bound(1, REAL), bound(0, REAL)
    inner = term(
        "deriv", term("log", term("mul", s, t)), term("add", bound(0, REAL), rational(1)), data=1
    )
    root = term("deriv", inner, name("x"), data=1)
    assert obligations(root, CASE.scope) == [CASE("x*(x + 1) > 0")]


def test_the_parameters_of_a_gaussian_must_be_defined():
    for law in ("gaussian(1/a, 1)", "gaussian(0, 1 + 0/a)"):
        proof = Proof(f"let a : real\nlet X : gaussian({law[9:-1]})\nshow X = X")
        one = rational(1)
        semidefinite = [
            {"rule": "schema", "name": "definite_eye", "subst": {"n": one}, "by": []},
            {
                "rule": "schema",
                "name": "definite_semidefinite",
                "subst": {"n": one, "A": one},
                "by": [0],
            },
        ]
        assert not proof.accepts(*semidefinite)
        repaired = Proof(f"let a : real\nlet X : gaussian({law[9:-1]})\nassume a != 0\nshow X = X")
        assert repaired.accepts(*semidefinite, hypothesis(0))


def test_a_statement_that_the_evaluator_finds_undefined_has_an_obligation_that_fails():
    """The same thing from the other side, for the hand-written table."""
    undefined = 0
    for text in (
        "x/y",
        "inv(A)",
        "A^-2",
        "x^(1/2)",
        "log(x)",
        "sqrt(x)",
        "lambertw(x)",
        "sum(1/u[q], q, 1, n)",
        "diff(sqrt(x), x)",
        "diff(log(x)*y, x)",
        "1/(x - x)",
    ):
        root = CASE(text)
        value = term("sub", root, root)
        goal = term("eq", value, value)
        for x in (-1, 0, 1):
            model = Model(
                CASE.scope.declarations,
                {
                    "n": 1,
                    "k": 1,
                    "x": x,
                    "y": x,
                    "p": 1,
                    "z": x,
                    "A": x,
                    "u": x,
                    "v": x,
                    "j": 1,
                    "m": x,
                    **{k: v for k, v in trees.model(random.Random(0)).values.items() if k == "f"},
                },
            )
            seen = examine(Statement(CASE.scope.declarations, (), goal), model)
            if seen.undefined:
                undefined += 1
                assert any(
                    evaluate(c, model) is Truth.FALSE for c in obligations(goal, CASE.scope)
                ), (text, x)
    assert undefined > 10
