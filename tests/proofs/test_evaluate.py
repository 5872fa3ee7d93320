"""The evaluator: exact values, jets, balls, undefinedness, quantifiers, probability."""

from __future__ import annotations

import math
import random
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from proofs.evaluate import (
    Complex,
    Evaluation,
    Family,
    Function,
    Matrix,
    Model,
    Outcomes,
    Partition,
    Truth,
    Undecided,
    Undefined,
    evaluate,
    exact,
)
from proofs.evaluate import functions as f
from proofs.evaluate import values as v
from proofs.evaluate.model import Entry, to_matrix
from proofs.language.errors import TypeProblem
from proofs.language.parser import parse
from proofs.language.tree import MAX_NESTING, Statement, bound, name, rational, term

F = Fraction
TRUE, FALSE, UNKNOWN = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN


def statement(text: str) -> Statement:
    # The evaluator means more than the typing lets through, which is asked elsewhere.
    return parse(text, typed=False).statements[0]


def model_of(
    lines: str, goal: str, values: dict[str, Entry], weights: tuple[Fraction, ...] = ()
) -> tuple[Statement, Model]:
    found = statement(f"{lines}\nshow {goal}")
    return found, Model(found.declarations, values, weights)


def value(lines: str, expression: str, **values: Entry):
    """The value of an expression: the left side of a goal that is only typed."""
    found, model = model_of(lines, f"{expression} = {expression}", values)
    return evaluate(found.goal.args[0], model)


def truth(lines: str, relation: str, **values: Entry):
    found, model = model_of(lines, relation, values)
    return evaluate(found.goal, model)


def assumed(lines: str, **values: Entry):
    """The truth of the one hypothesis."""
    found, model = model_of(lines, "1 = 1", values)
    return evaluate(found.hypotheses[0], model)


A = ((F(2), F(1)), (F(1), F(3)))
SINGULAR = ((F(1), F(2)), (F(2), F(4)))
Z = ((Complex(F(1), F(1)), Complex(F(0), F(2))), (F(3), Complex(F(0), F(-1))))
MATRICES = """let A, B : matrix(2, 2)
let M : matrix(2, 3)
let Z : complex matrix(2, 2)
let x : vector(2)
let w : complex vector(2)
let a, b : real
let z : complex"""
POINT: dict[str, Entry] = {
    "A": A,
    "B": SINGULAR,
    "M": ((F(1), F(0), F(2)), (F(0), F(1), F(-1))),
    "Z": Z,
    "x": ((F(3),), (F(4),)),
    "w": ((F(1),), (Complex(F(0), F(1)),)),
    "a": F(9, 4),
    "b": F(-2),
    "z": Complex(F(3), F(4)),
}


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("A + B", "[[3, 3], [3, 7]]"),
        ("A - B", "[[1, -1], [-1, -1]]"),
        ("A*B", "[[4, 8], [7, 14]]"),
        ("-A", "[[-2, -1], [-1, -3]]"),
        ("a*A", "[[9/2, 9/4], [9/4, 27/4]]"),
        ("x/a", "[[4/3], [16/9]]"),
        ("A^0", "[[1, 0], [0, 1]]"),
        ("A^3", "[[15, 20], [20, 35]]"),
        ("A^-1", "[[3/5, -1/5], [-1/5, 2/5]]"),
        ("inv(A)", "[[3/5, -1/5], [-1/5, 2/5]]"),
        ("pinv(B)", "[[1/25, 2/25], [2/25, 4/25]]"),
        ("pinv(zeros(2, 3))", "[[0, 0], [0, 0], [0, 0]]"),
        ("M*pinv(M)", "[[1, 0], [0, 1]]"),
        ("det(A)", "5"),
        ("det(Z)", "1 - 7*i"),
        ("tr(Z)", "1"),
        ("rank(B)", "1"),
        ("rank(w*w.T)", "1"),
        ("adj(A)", "[[3, -1], [-1, 2]]"),
        ("adj(B)", "[[4, -2], [-2, 1]]"),
        ("Z.T", "[[1 + 1*i, 3 + 0*i], [2*i, -1*i]]"),
        ("Z.H", "[[1 - 1*i, 3 + 0*i], [-2*i, 1*i]]"),
        ("conj(w)", "[[1 + 0*i], [-1*i]]"),
        ("diag(x)", "[[3, 0], [0, 4]]"),
        ("vec(M)", "[[1], [0], [0], [1], [2], [-1]]"),
        ("block([[A, x], [x.T, 0]])", "[[2, 1, 3], [1, 3, 4], [3, 4, 0]]"),
        ("inner(x, A*x)", "90"),
        ("norm2(x)", "25"),
        ("norm2(w)", "2"),
        ("w.T*w", "0"),
        ("norm2(M)", "7"),
        ("kron(A, x)", "[[6, 3], [8, 4], [3, 9], [4, 12]]"),
        ("hadamard(A, B)", "[[2, 2], [2, 12]]"),
        ("x[2]", "4"),
        ("M[1, 3]", "2"),
        ("eye(2)", "[[1, 0], [0, 1]]"),
        ("ones(1, 2)", "[[1, 1]]"),
        ("unit(3, 2)", "[[0], [1], [0]]"),
        ("max(x)", "4"),
        ("min(a, b, 0)", "-2"),
        ("abs(b)", "2"),
        ("abs(z)", "5"),
        ("sqrt(a)", "3/2"),
        ("exp(0)", "1"),
        ("log(1)", "0"),
        ("sin(0) + cos(0) + tanh(0) + erf(0) + lambertw(0)", "1"),
        ("softmax(zeros(4, 1))", "[[1/4], [1/4], [1/4], [1/4]]"),
        ("0^0", "1"),
        ("(1/8)^(1/3)", "1/2"),
        ("b^-2", "1/4"),
        ("i*i", "-1"),
        ("sum(r^2, r, 1, 4)", "30"),
        ("sum(r, r, 3, 1)", "0"),
        ("prod(r, r, 3, 1)", "1"),
        ("sum(sum(r*s, s, 1, r), r, 1, 3)", "25"),
        ("sum(x[r]*A[r, 1], r, 1, 2)", "10"),
        ("vector(r^2, r, 1, 3)", "[[1], [4], [9]]"),
        ("inv(Z)*Z", "[[1, 0], [0, 1]]"),
        ("pinv(Z)*Z", "[[1, 0], [0, 1]]"),
        ("pinv(w)", "[[1/2 + 0*i, -1/2*i]]"),
    ],
)
def test_exact_values(expression, shown):
    assert str(value(MATRICES, expression, **POINT)) == shown


def test_an_empty_sum_of_matrices_has_their_shape():
    lines = "let n : dimension\nlet A : matrix(n, 2)"
    assert value(lines, "sum(A, r, 2, 0)", n=3, A=((F(1), F(2)),) * 3) == v.zeros(3, 2)


def test_a_power_of_a_singular_matrix_to_the_zero_is_the_identity():
    assert value(MATRICES, "B^0", **POINT) == v.eye(2)


@pytest.mark.parametrize("seed", range(12))
def test_pseudo_inverse_satisfies_the_penrose_equations_at_every_rank(seed):
    rng = random.Random(seed)
    rows, cols, inner = rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 3)

    def draw(n: int, m: int) -> Matrix:
        def part() -> fmpq_mat:
            return fmpq_mat(n, m, [rng.randint(-2, 2) for _ in range(n * m)])

        return v.exact_matrix(part(), part() if seed % 2 else None)

    a = v.mul(draw(rows, inner), draw(inner, cols))
    p = f.pseudo_inverse(a)
    assert v.mul(v.mul(a, p), a) == a
    assert v.mul(v.mul(p, a), p) == p
    for product in (v.mul(a, p), v.mul(p, a)):
        assert v.adjoint(product) == product


@pytest.mark.parametrize("seed", range(8))
def test_linear_algebra_agrees_with_numpy(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 4)
    table = [[rng.randint(-5, 5) for _ in range(n)] for _ in range(n)]
    imaginary = [[rng.randint(-5, 5) for _ in range(n)] for _ in range(n)]
    a = v.exact_matrix(fmpq_mat(table), fmpq_mat(imaginary))
    dense = np.array(table) + 1j * np.array(imaginary)

    def floats(x) -> np.ndarray:
        return np.array(
            [
                [
                    complex(float(e.re), float(e.im))
                    if isinstance(e, Complex)
                    else complex(float(e))
                    for e in row
                ]
                for row in x.entries()
            ]
        )

    np.testing.assert_allclose(floats(f.determinant(a))[0, 0], np.linalg.det(dense), rtol=1e-9)
    np.testing.assert_allclose(floats(f.pseudo_inverse(a)), np.linalg.pinv(dense), atol=1e-9)
    assert f.rank_of(a) == v.scalar(int(np.linalg.matrix_rank(dense)))
    np.testing.assert_allclose(
        floats(v.mul(a, f.adjugate(a))), floats(f.determinant(a))[0, 0] * np.eye(n), atol=1e-6
    )


# ---------------------------------------------------------------- definiteness


@pytest.mark.parametrize(
    ("matrix", "definite", "semidefinite"),
    [
        (A, True, True),
        (SINGULAR, False, True),
        (((F(0), F(0)), (F(0), F(0))), False, True),
        (((F(0), F(1)), (F(1), F(0))), False, False),
        (((F(0), F(1)), (F(1), F(5))), False, False),
        (((F(1), F(2)), (F(2), F(1))), False, False),
        (((F(1), F(1)), (F(0), F(1))), False, False),  # positive form, yet not symmetric
        (((F(2), Complex(F(0), F(1))), (Complex(F(0), F(-1)), F(2))), True, True),
        (
            ((F(1), Complex(F(0), F(1))), (Complex(F(0), F(1)), F(1))),
            False,
            False,
        ),  # symmetric only
        (((F(-1), F(0)), (F(0), F(1))), False, False),
    ],
)
def test_definiteness_includes_symmetry(matrix, definite, semidefinite):
    lines = "let A : complex matrix(2, 2)"
    assert truth(lines, "positive_definite(A)", A=matrix) is Truth.of(definite)
    assert truth(lines, "positive_semidefinite(A)", A=matrix) is Truth.of(semidefinite)


def test_loewner_order_needs_symmetric_sides():
    lines = "let A, B : matrix(2, 2)"
    skew = ((F(0), F(1)), (F(-1), F(0)))
    assert truth(lines, "A <= B", A=skew, B=skew) is FALSE
    assert truth(lines, "A <= B", A=SINGULAR, B=((F(2), F(2)), (F(2), F(5)))) is TRUE
    assert truth(lines, "A < B", A=SINGULAR, B=SINGULAR) is FALSE


def test_only_real_numbers_are_ordered():
    lines = "let z : complex vector(1)"
    assert truth(lines, "z.H*z >= 0", z=Complex(F(0), F(1))) is TRUE
    assert truth(lines, "z.T*z >= 0", z=Complex(F(1), F(1))) is FALSE


def test_a_complex_scalar_is_its_transpose_but_not_its_adjoint():
    lines = "let n : dimension\nlet Z : complex matrix(n, n)"
    point = {"n": 1, "Z": Complex(F(1), F(2))}
    assert truth(lines, "Z.T = Z", **point) is TRUE
    assert truth(lines, "Z.H = Z", **point) is FALSE
    assert truth(lines, "symmetric(Z)", **point) is TRUE
    assert truth(lines, "hermitian(Z)", **point) is FALSE
    assert truth(lines, "positive_definite(Z)", **point) is FALSE


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("invertible(A)", TRUE),
        ("invertible(B)", FALSE),
        ("symmetric(A)", TRUE),
        ("diagonal(A)", FALSE),
        ("diagonal(eye(2))", TRUE),
        ("commute(A, A*A)", TRUE),
        ("commute(A, B)", FALSE),
        ("idempotent(eye(2))", TRUE),
        ("orthogonal(A)", FALSE),
        ("orthogonal(block([[3/5, 4/5], [-4/5, 3/5]]))", TRUE),
        ("unitary(block([[0, i], [1, 0]]))", TRUE),
        ("orthogonal(block([[0, 2], [1, 0]]))", FALSE),
        ("full_row_rank(M)", TRUE),
        ("full_column_rank(M)", FALSE),
        ("full_column_rank(x)", TRUE),
        ("full_row_rank(0*x.T)", FALSE),
    ],
)
def test_properties(relation, expected):
    assert truth(MATRICES, relation, **POINT) is expected


# ---------------------------------------------------------------- derivatives


SCALARS = "let x, y, t : real"


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("diff(x^5, x)", "80"),
        ("diff(x^5, x, 3)", "240"),
        ("diff(1/x, x, 2)", "1/4"),
        ("diff(log(x), x, 3)", "1/4"),
        ("diff(log(x^2 + t), x)", "1"),
        ("diff(sqrt(x + 2), x)", "1/4"),
        ("diff(sqrt(x + 2), x, 2)", "-1/32"),
        ("diff((x + 2)^(3/2), x)", "3"),
        ("diff(exp(t*x), t)", "2"),
        ("diff(exp(t*x), t, 4)", "16"),
        ("diff(sin(t), t, 3)", "-1"),
        ("diff(cos(t), t, 2)", "-1"),
        ("diff(tanh(t), t, 3)", "-2"),
        ("diff(lambertw(t), t, 3)", "9"),
        ("diff(abs(x - 3), x)", "-1"),
        ("diff(max(x, y), x)", "0"),
        ("diff(diff(x^2*y^3, x), y)", "300"),
        ("diff(x*diff(x + y, y), x)", "1"),
        ("diff(x*diff(x*y, y), x)", "4"),
        ("diff(diff(diff(x*y*t, x), y), t)", "1"),
        ("diff(5, x)", "0"),
        ("diff(det(block([[x, 1], [y, x]])), x)", "4"),
        ("diff(adj(block([[x, 1], [y, x]])), x)", "[[1, 0], [0, 1]]"),
        ("diff(inv(block([[x, 1], [1, 1]])), x)", "[[-1, 1], [1, -1]]"),
        ("diff(pinv(block([[x], [1]])), x)", "[[-3/25, -4/25]]"),
        ("diff(tr(block([[x, 1], [1, 1]])^3), x)", "15"),
        ("diff(softmax(block([[t], [0]])), t)", "[[1/4], [-1/4]]"),
        ("diff(logsumexp(block([[t], [0]])), t, 2)", "1/4"),
        ("diff(sum(x^r, r, 0, 3), x)", "17"),
        ("diff(prod(x + r, r, 0, 2), x)", "26"),
        ("diff(norm2(block([[x], [i*x]])), x)", "8"),
        ("diff(kron(block([[x, 1]]), block([[x], [2]])), x)", "[[4, 1], [2, 0]]"),
    ],
)
def test_derivatives_are_exact(expression, shown):
    assert str(value(SCALARS, expression, x=F(2), y=F(5), t=F(0))) == shown


def test_a_derivative_at_a_ball_point_encloses_the_truth():
    found = value(SCALARS, "diff(exp(x)*sin(x), x)", x=F(2), y=F(0), t=F(0))
    assert isinstance(found, Matrix) and not found.exact
    assert abs(float(found.re[0, 0].mid()) - math.exp(2) * (math.sin(2) + math.cos(2))) < 1e-12


@pytest.mark.parametrize(
    "expression",
    [
        "exp(-x^2)*sin(3*x)",
        "log(1 + x^2)/sqrt(x)",
        "lambertw(x*exp(x/2))",
        "erf(x)*tanh(x)",
        "x^(5/3) + 2^x",
        "abs(x - 3)^3",
        "max(x, 1)*min(x, 1)",
        "det(block([[x, exp(x), 1], [2, x^2, x], [1, 0, cos(x)]]))",
        "tr(inv(block([[x, exp(x)], [2, 5]])))",
        "logsumexp(block([[x], [x^2], [1]]))",
        "softmax(block([[x], [x^2], [1]]))[2]",
        "logpdf(x; 1, x^2)",
        "x^x",
    ],
)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_jets_agree_with_differences_of_many_digits(expression, order):
    lines = "let x : real"

    def exactly(found: object) -> mpmath.mpf:
        assert isinstance(found, Matrix)
        if found.exact:
            return mpmath.mpf(int(found.re[0, 0].p)) / int(found.re[0, 0].q)
        mantissa, exponent = found.re[0, 0].mid().man_exp()
        return mpmath.ldexp(mpmath.mpf(int(mantissa)), int(exponent))

    def at(x: mpmath.mpf) -> mpmath.mpf:
        numerator, denominator = mpmath.libmp.to_rational(x._mpf_)
        found, model = model_of(lines, f"{expression} = 0", {"x": F(numerator, denominator)})
        return exactly(evaluate(found.goal.args[0], model, precisions=(1200,)))

    with mpmath.workdps(60):
        found = value(lines, f"diff({expression}, x, {order})", x=F(7, 5))
        assert abs(exactly(found) - mpmath.diff(at, mpmath.mpf(7) / 5, order)) < 1e-12


def test_a_gradient_perturbs_every_entry():
    lines = "let X : matrix(2, 2)\nlet v : vector(2)"
    at = {"X": A, "v": ((F(1),), (F(2),))}
    assert value(lines, "grad(det(X), X)", **at) == value(lines, "adj(X).T", **at)
    assert value(lines, "grad(inner(v, X*v), X)", **at) == value(lines, "v*v.T", **at)
    assert value(lines, "grad(inner(v, X*v), v)", **at) == value(lines, "(X + X.T)*v", **at)


def test_a_function_is_differentiated_at_its_point():
    lines = "let v : function(real)\nlet t : real\nlet G : function(real) -> matrix(1, 2)"
    at: dict[str, Entry] = {
        "v": Function(F(1), (F(2), F(3), F(5))),
        "t": F(2),
        "G": Function(F(0), (((F(0), F(0)),), ((F(0), F(0)),), ((F(1), F(2)),))),
    }
    assert str(value(lines, "v(t)", **at)) == "10"
    assert str(value(lines, "diff(v(t)^2, t)", **at)) == "260"
    assert str(value(lines, "diff(v(t), t, 2)", **at)) == "10"
    assert str(value(lines, "diff(v(v(t)), t)", **at)) == str(13 * (3 + 10 * 9))
    assert str(value(lines, "diff(G(t), t)", **at)) == "[[4, 8]]"


@pytest.mark.parametrize(
    "expression",
    [
        "diff(sqrt(t), t)",
        "diff(log(t), t)",
        "diff(1/t, t)",
        "diff(abs(t), t)",
        "diff(lambertw(t - exp(-1) - 1), t)",
        "diff(inv(block([[t, 0], [0, 1]])), t)",
        "diff(sqrt(t^2), t)",
    ],
)
def test_a_derivative_needs_the_strict_conditions(expression):
    found = value(SCALARS, expression, x=F(0), y=F(0), t=F(0))
    assert isinstance(found, Undefined), found


@pytest.mark.parametrize(
    "expression",
    [
        "diff(max(t, 2*t), t)",
        "diff(pinv(block([[t, 0], [0, 0]])), t)",
        "diff(rank(block([[t, 0], [0, 0]])), t)",
    ],
)
def test_a_derivative_at_a_corner_or_a_jump_is_refused(expression):
    assert isinstance(value(SCALARS, expression, x=F(0), y=F(0), t=F(0)), Undecided)


def test_what_does_not_move_keeps_its_weak_condition_under_a_derivative():
    assert str(value(SCALARS, "diff(sqrt(y)*t, t)", x=F(0), y=F(0), t=F(0))) == "0"


def test_a_law_that_depends_on_the_variable_is_not_differentiated():
    lines = "let t, u : real\nlet X : gaussian(t, 1)"
    assert isinstance(value(lines, "diff(E(X), t)", t=F(1), u=F(2)), Undecided)
    assert str(value(lines, "diff(E(u*X), u)", t=F(1), u=F(2))) == "1"


# ---------------------------------------------------------------- undefinedness


@pytest.mark.parametrize(
    ("expression", "op"),
    [
        ("1/b", "div"),
        ("inv(B)", "inv"),
        ("B^-2", "pow"),
        ("b^-1", "pow"),
        ("log(b)", "log"),
        ("log(a - 1)", "log"),
        ("sqrt(a - 1)", "sqrt"),
        ("sqrt(-exp(1))", "sqrt"),
        ("lambertw(-1)", "lambertw"),
        ("(-2)^(1/2)", "pow"),
        ("x[j]", "entry"),
        ("logpdf(x; x, B)", "logpdf"),
        ("0*(1/b)", "div"),
        ("(1/b)^0", "div"),
        ("sum(1/(r - 2), r, 1, 3)", "div"),
        ("max(1/b, 2)", "div"),
    ],
)
def test_undefined_names_the_innermost_place(expression, op):
    lines = "let a, b : real\nlet x : vector(2)\nlet B : matrix(2, 2)\nlet j : integer"
    found = value(lines, expression, a=F(0), b=F(0), x=((F(1),), (F(1),)), B=SINGULAR, j=3)
    assert isinstance(found, Undefined)
    assert found.term.op == op


def test_a_relation_with_an_undefined_side_is_undefined():
    assert isinstance(truth("let b : real", "1/b = 1/b", b=F(0)), Undefined)


def test_an_empty_sum_never_asks_for_its_body():
    assert str(value("let b : real", "sum(1/b, r, 2, 1)", b=F(0))) == "0"


def test_a_ball_exponent_that_may_be_an_integer_decides_nothing():
    found = value("let b : real", "(-2)^(2*log(exp(b))/b)", b=F(3))
    assert isinstance(found, Undecided)
    assert isinstance(value("let b : real", "(-2)^sqrt(b)", b=F(2)), Undefined)


def test_the_edge_of_lambertw_is_not_decided():
    assert isinstance(value("let b : real", "lambertw(-exp(-1) + 0*b)", b=F(0)), Undecided)


def test_a_condition_near_its_edge_gets_more_digits():
    tiny = F(1, 2**100)
    lines = "let b : real"
    assert isinstance(value(lines, "log(exp(b) - 1)", b=tiny), Matrix)
    assert isinstance(value(lines, "log(exp(b) - 1)", b=-tiny), Undefined)


# ---------------------------------------------------------------- balls


@pytest.mark.parametrize(
    "identity",
    [
        "exp(1)*exp(-1) = 1",
        "log(exp(2)) = 2",
        "sqrt(2)^2 = 2",
        "sin(1)^2 + cos(1)^2 = 1",
        "lambertw(2*exp(2)) = 2",
        "exp(i*pi) = -1",
        "sqrt(2) = sqrt(2)",
        "pi = pi",
        "e = exp(1)",
        "inv(exp(1)*eye(2)) = exp(-1)*eye(2)",
        "softmax(block([[1], [2]])) = softmax(block([[2], [3]]))",
        "symmetric(block([[1, pi], [pi, 1]]))",
        "idempotent(block([[pi/pi, 0], [0, 1]]))",
        "log(2) + log(3) = log(6)",
        "tanh(0.1) = tanh(1/10)",
    ],
)
def test_balls_never_confirm_an_equality(identity):
    assert truth("let x : real", identity, x=F(0)) is UNKNOWN


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("exp(1) > 2", TRUE),
        ("exp(1) < 2", FALSE),
        ("exp(1) = 2", FALSE),
        ("exp(1) != 2", TRUE),
        ("pi <= 4", TRUE),
        ("pi >= 4", FALSE),
        ("exp(1) >= e", UNKNOWN),
        ("exp(1) != e", UNKNOWN),
        ("exp(1) > e", UNKNOWN),
        ("invertible(pi*eye(3))", TRUE),
        ("exp(i) = 1", FALSE),
        ("positive_definite(pi*eye(1))", TRUE),
        ("positive_definite(-pi*eye(2))", FALSE),
        ("invertible(block([[pi, pi], [pi, pi]]))", UNKNOWN),
        ("full_row_rank(block([[pi, 1]]))", TRUE),
        ("exp(1/2^90) > 1", TRUE),
        ("orthogonal(pi*eye(2))", FALSE),
    ],
)
def test_balls_decide_strictly_or_not_at_all(relation, expected):
    assert truth("let x : real", relation, x=F(0)) is expected


def test_zero_times_a_ball_is_exactly_zero():
    assert value("let x : real", "x*exp(1)", x=F(0)) == v.scalar(0)


def test_a_truth_has_no_truth_value():
    with pytest.raises(TypeError, match="no truth value"):
        bool(TRUE)


def test_huge_numbers_are_not_attempted():
    assert isinstance(value("let x : real", "(x^1000)^1000", x=F(3)), Undecided)
    assert isinstance(value("let x : real", "sum(x, r, 1, 10^9)", x=F(3)), Undecided)
    assert isinstance(value("let x : real", "exp(exp(exp(exp(x))))", x=F(9)), Undecided)


# ---------------------------------------------------------------- quantifiers


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        ("for all j : index(3) : s[j] > 0", TRUE),
        ("for all j : index(3) : s[j] > 1", FALSE),
        ("for all j : index(3), k : index(3) : s[j]*s[k] = s[k]*s[j]", TRUE),
        ("for all j : index(3) where s[j] > 2 : s[j] = 3", TRUE),
        ("for all x : real : (x + 1)^2 = x^2 + 2*x + 1", TRUE),
        ("for all x : real : x^2 = x^4", FALSE),
        ("for all x : real where 2*x = 3 : x = 3/2", TRUE),
        ("for all x : real where 0*x = 1 : x = 5", TRUE),  # nothing satisfies the condition
        ("for all x : vector(2), y : vector(2) : inner(x, y) = inner(y, x)", TRUE),
        ("for all x : vector(2), y : vector(2) : inner(x, P*y) = inner(P*x, y)", TRUE),
        ("for all x : vector(2) where F*x = zeros(1, 1) : K*x = x", TRUE),
        ("for all x : vector(2) : K*x = x", FALSE),
        ("for all z : complex : conj(z) = z", FALSE),
        ("for all z : complex vector(2) : z.H*z = norm2(z)", TRUE),
        ("for all z : complex vector(2) : z.T*z = norm2(z)", FALSE),
        ("for all x : vector(2) : inner(x, P*x) >= 0", TRUE),
        ("for all x : vector(2) : inner(x, P*x) > 0", FALSE),
        ("for all x : vector(2) : inner(x, P*x) + 1 > 0", TRUE),
        ("for all x : vector(2) : inner(x, P*x) >= 2*x[1] - 3/5", TRUE),
        ("for all x : vector(2) : inner(x, P*x) > 2*x[1] - 3/5", FALSE),
        ("for all x : vector(2) : inner(x, P*x) >= 2*x[1] - 1/2", FALSE),
        ("for all x : vector(2) : K[1, 1]*x[1]^2 >= x[2]", FALSE),
        ("for all x : real : (x - 1000)^2 > 0", FALSE),
        ("for all x : vector(2) where F*x = ones(1, 1) : norm2(x) >= 1/2", TRUE),
        ("for all x : vector(2) where F*x = ones(1, 1) : norm2(x) > 1/2", FALSE),
        ("for all z : complex vector(2) : norm2(z) >= 0", TRUE),
    ],
)
def test_quantified_hypotheses_that_can_be_decided(hypothesis, expected):
    lines = f"let s : vector(3)\nlet F : matrix(1, 2)\nlet K, P : matrix(2, 2)\nassume {hypothesis}"
    found = assumed(
        lines,
        s=((F(1),), (F(2),), (F(3),)),
        F=((F(1), F(1)),),
        K=((F(1, 2), F(-1, 2)), (F(-1, 2), F(1, 2))),
        P=A,
    )
    assert found is expected


@pytest.mark.parametrize(
    "hypothesis",
    [
        "for all x, y : real : x^4 + y^4 >= 0",
        "for all x, y : real : (x - 1000)^4 + y^4 > 0",  # false, but at no sample
        "for all x : real : exp(x) > 0",
        "for all x : positive : x*(1/x) = 1",
        "for all x : integer : x*(x - 1)*(x - 2)*(x - 5)*(x + 1) = 0",  # zero at all samples
        "for all x : vector(2) : norm2(x)^2 >= 0",
        "for all x : real where x^2 = 0 : x = 0",
        "for all x : real : sqrt(x^2 + 1) = sqrt(1 + x^2)",
    ],
)
def test_sampling_never_confirms_a_quantifier(hypothesis):
    assert assumed(f"let a : real\nassume {hypothesis}", a=F(0)) is UNKNOWN


def test_sampling_may_refute_a_quantifier():
    assert assumed("let a : real\nassume for all x : real : x^2 > 0", a=F(0)) is FALSE


def test_a_quantified_relation_is_undefined_where_an_instance_is():
    lines = "let s : vector(2)\nassume for all j : index(2) : 1/s[j] > 0"
    assert isinstance(assumed(lines, s=((F(1),), (F(0),))), Undefined)
    guarded = "let s : vector(2)\nassume for all j : index(2) where s[j] > 0 : 1/s[j] > 0"
    assert assumed(guarded, s=((F(1),), (F(0),))) is TRUE


def test_families_have_members():
    lines = "let d, N : dimension\nlet mu : vector(d) for a in 1..N, j in 1..2"
    members = {(a, j): ((F(a),), (F(j),)) for a in (1, 2, 3) for j in (1, 2)}
    at: dict[str, Entry] = {"d": 2, "N": 3, "mu": Family(members)}
    assert str(value(lines, "sum(mu[a, 2], a, 1, N)", **at)) == "[[6], [6]]"


# ---------------------------------------------------------------- probability


GAUSSIAN = """let m : vector(2)
let S : matrix(2, 2)
let X : gaussian(m, S)
let W : gaussian(0, 4)"""


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("E(X)", "[[1], [2]]"),
        ("cov(X, X)", "[[2, 1], [1, 3]]"),
        ("cov(X, W)", "[[0], [0]]"),
        ("E(X*X.T)", "[[3, 3], [3, 7]]"),
        ("E(W^4)", "48"),
        ("E(W^6)", "960"),
        ("E(W^3)", "0"),
        ("E(inner(X, X))", "10"),
        ("cov(inner(X, X), inner(X, X))", "102"),
        ("E(norm2(X - m))", "5"),
        ("cov(W, W | W)", "0"),
        ("cov(X[1], X[1] | X[2])", "5/3"),
        ("E(E(X[1] | X[2]))", "1"),
        ("cov(X + W*m, W)", "[[4], [8]]"),
    ],
)
def test_gaussian_moments(expression, shown):
    assert str(value(GAUSSIAN, expression, m=((F(1),), (F(2),)), S=A)) == shown


@pytest.mark.parametrize(
    ("expression", "low", "high"),
    [
        ("E(exp(W))", "7.3890", "7.3891"),  # e^2
        ("E(W*exp(W))", "29.556", "29.557"),  # 4 e^2
        ("E(W^2*exp(W))", "147.78", "147.79"),  # (4 + 4^2) e^2
        ("E(exp(W)*exp(W - 1))", "1096.6", "1096.7"),  # e^7
        ("cov(W, exp(W/2))", "3.2974", "3.2975"),  # 2 e^(1/2)
        ("E(exp(inner(m, X)))", "1202604", "1202605"),  # e^(5 + 18/2)
        ("diff(E(exp(t*W)), t)", "29.556", "29.557"),
    ],
)
def test_expectation_of_an_exponential(expression, low, high):
    at: dict[str, Entry] = {"m": ((F(1),), (F(2),)), "S": A, "t": F(1)}
    lines = "let t : real\n" + GAUSSIAN
    assert truth(lines, f"{expression} > {low}", **at) is TRUE
    assert truth(lines, f"{expression} < {high}", **at) is TRUE


def test_an_exponential_is_decided_in_expectation_alone():
    at: dict[str, Entry] = {"m": ((F(1),), (F(2),)), "S": A}
    assert truth(GAUSSIAN, "E(exp(W)*exp(-W)) = 1", **at) is TRUE
    assert truth(GAUSSIAN, "E(exp(W)) = exp(4)", **at) is FALSE
    # Equal almost surely, as different formulas: not to be refuted.
    assert truth(GAUSSIAN, "exp(W)*exp(-W) = 1", **at) is not FALSE
    assert truth(GAUSSIAN, "exp(W + 1) = exp(W)*exp(1)", **at) is not FALSE
    assert isinstance(value(GAUSSIAN, "E(exp(i*W))", **at), Undecided)
    assert isinstance(value(GAUSSIAN, "E(E(exp(W) | X))", **at), Undecided)


def test_a_joint_gaussian_is_conditioned_at_any_rank():
    lines = """let a, b : vector(2)
let S, C, R : matrix(2, 2)
let (X, Y) : gaussian((a, b), block([[S, C], [C.T, R]]))"""
    root = fmpq_mat([[1, 0], [2, 1], [1, 0], [2, 0]])  # the second pair is singular: rank 1
    gram = (root * root.transpose()).tolist()

    def cut(i: int, j: int):
        return tuple(tuple(v.to_fraction(gram[i + r][j + c]) for c in (0, 1)) for r in (0, 1))

    at: dict[str, Entry] = {
        "a": ((F(1),), (F(0),)),
        "b": ((F(2),), (F(5),)),
        "S": cut(0, 0),
        "C": cut(0, 2),
        "R": cut(2, 2),
    }
    assert truth(lines, "E(X | Y) = a + C*pinv(R)*(Y - b)", **at) is TRUE
    assert truth(lines, "cov(X, X | Y) = S - C*pinv(R)*C.T", **at) is TRUE
    assert truth(lines, "E(X | Y) = a + C*(Y - b)", **at) is FALSE
    # On the support Y[2] - 5 = 2*(Y[1] - 2): equal almost surely, though not as formulas.
    assert truth(lines, "Y[2] = 2*Y[1] + 1", **at) is TRUE
    assert truth(lines, "Y[2] = 2*Y[1]", **at) is FALSE


def test_a_covariance_that_is_not_semidefinite_is_undefined():
    lines = "let s : real\nlet X : gaussian(0, s)"
    found = value(lines, "E(X)", s=F(-1))
    assert isinstance(found, Undefined) and "semidefinite" in found.why
    assert str(value(lines, "E(X^2)", s=F(0))) == "0"
    assert truth(lines, "X = 0", s=F(0)) is TRUE
    assert truth(lines, "X = 0", s=F(1)) is FALSE


def test_a_log_density():
    lines = "let x, m : real\nlet s : nonnegative"
    assert truth(lines, "logpdf(x; m, s) = 0", x=F(1), m=F(0), s=F(1)) is FALSE
    assert truth(lines, "logpdf(x; m, s) < -1.4189", x=F(1), m=F(0), s=F(1)) is TRUE
    assert truth(lines, "logpdf(x; m, s) > -1.4190", x=F(1), m=F(0), s=F(1)) is TRUE
    assert isinstance(value(lines, "logpdf(x; m, s)", x=F(1), m=F(0), s=F(0)), Undefined)
    assert str(value(lines, "logpdf_on_support(x; m, s)", x=F(1), m=F(1), s=F(0))) == "0"
    assert isinstance(value(lines, "logpdf_on_support(x; m, s)", x=F(1), m=F(0), s=F(0)), Undecided)


FINITE = """let U, V : random vector(2)
let F, G : sigma_algebra"""
SPACE: dict[str, Entry] = {
    "U": Outcomes((((F(1),), (F(0),)), ((F(2),), (F(1),)), ((F(0),), (F(5),)), ((F(1),), (F(1),)))),
    "V": Outcomes((((F(1),), (F(0),)), ((F(1),), (F(0),)), ((F(3),), (F(0),)), ((F(3),), (F(0),)))),
    "F": Partition((0, 0, 1, 1)),
    "G": Partition((0, 1, 2, 2)),
}
WEIGHTS = (F(1, 2), F(1, 4), F(1, 8), F(1, 8))


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("F subset G", TRUE),
        ("G subset F", FALSE),
        ("E(E(U | G) | F) = E(U | F)", TRUE),
        ("E(E(U | F) | G) = E(U | F)", TRUE),
        ("E(U | F) = E(U | V)", TRUE),  # V generates F
        ("E(U | F) = E(U | G)", FALSE),
        ("E(E(U | F)) = E(U)", TRUE),
        ("E(U | F) = U", FALSE),
        ("l2inner(E(U | F), V) = l2inner(U, E(V | F))", TRUE),
        ("l2norm2(U) = l2norm2(U - E(U | F)) + l2norm2(E(U | F))", TRUE),
        ("l2norm2(U - V) = l2norm2(U) - l2norm2(V)", FALSE),
        ("E(V | F) = V", TRUE),
    ],
)
def test_conditioning_on_a_finite_space(relation, expected):
    found, model = model_of(FINITE, relation, SPACE, WEIGHTS)
    assert evaluate(found.goal, model) is expected


def test_the_exact_case_of_the_risk_decomposition():
    first = [2, 2, 0, 0, 0, 0, 0, 0]
    second = [0, 0, 0, 0, 2, 2, 0, 0]
    noise = [1, -1] * 4
    values: dict[str, Entry] = {
        "U": Outcomes(
            tuple(((F(a + e),), (F(b),)) for a, b, e in zip(first, second, noise, strict=True))
        ),
        "V": Outcomes((((F(1, 2),), (F(0),)),) * 8),
        "F": Partition((0, 0, 0, 0, 1, 1, 1, 1)),
        "G": Partition((0, 0, 1, 1, 2, 2, 3, 3)),
    }
    found, model = model_of(FINITE, "l2norm2(U - V) = 11/4", values, (F(1, 8),) * 8)
    assert evaluate(found.goal, model) is TRUE


# ---------------------------------------------------------------- the walk


def test_sharing_is_cheap():
    doubled = name("x")
    for _ in range(60):
        doubled = term("add", doubled, doubled)
    found = statement("let x : real\nshow x = x")
    result = evaluate(doubled, Model(found.declarations, {"x": F(3)}))
    assert result == v.scalar(3 * 2**60)


def test_depth_does_not_exhaust_the_stack():
    deep = name("x")
    for _ in range(20_000):
        deep = term("neg", deep)
    found = statement("let x : real\nshow x = x")
    assert evaluate(deep, Model(found.declarations, {"x": F(3)})) == v.scalar(3)


def test_binders_nest_as_deep_as_terms_may():
    body = rational(1)
    for _ in range(MAX_NESTING):
        body = term("sum", rational(1), rational(1), body)
    found = statement("let x : real\nshow x = x")
    assert evaluate(body, Model(found.declarations, {"x": F(0)})) == v.scalar(1)


def test_each_instance_of_a_binder_evaluates_its_body_anew():
    index = bound(0, term("integer_type"))
    square = term("mul", index, index)
    total = term("sum", rational(1), rational(3), term("add", square, square))
    found = statement("let x : real\nshow x = x")
    assert evaluate(total, Model(found.declarations, {"x": F(0)})) == v.scalar(28)


def test_an_unknown_name_and_shapes_that_do_not_fit_are_type_problems():
    found = statement("let x : real\nshow x = x")
    model = Model(found.declarations, {"x": F(0)})
    with pytest.raises(TypeProblem, match="gives no value"):
        evaluate(name("y"), model)
    with pytest.raises(TypeProblem, match="don't fit"):
        evaluate(term("add", term("eye", rational(2)), term("eye", rational(3))), model)


def test_a_model_prints_as_plain_data():
    found = statement(
        "let n : dimension\nlet A : complex matrix(n, n)\nlet v : function(real)\nshow A = A"
    )
    model = Model(found.declarations, {"n": 2, "A": Z, "v": Function(F(0), (F(1), F(1, 2)))})
    assert model.to_json() == {
        "n": 2,
        "A": [["1 + 1*i", "2*i"], ["3", "-1*i"]],
        "v": {"center": "0", "coefficients": ["1", "1/2"]},
    }
    assert "v = x -> (1) + (1/2)*x" in str(model)


def test_the_precision_is_put_back():
    import flint

    before = flint.ctx.prec
    value("let x : real", "exp(x)", x=F(1))
    assert flint.ctx.prec == before


def test_woodbury_is_evaluated_in_about_a_millisecond():
    found = statement("""let n, k : dimension
let A : matrix(n, n)
let U : matrix(n, k)
let C : matrix(k, k)
let V : matrix(k, n)
show inv(A + U*C*V) = inv(A) - inv(A)*U*inv(inv(C) + V*inv(A)*U)*V*inv(A)""")
    values: dict[str, Entry] = {
        "n": 3,
        "k": 2,
        "A": ((F(2), F(1), F(0)), (F(1), F(3), F(1, 2)), (F(0), F(1), F(1))),
        "U": ((F(1), F(0)), (F(2), F(1)), (F(0), F(1))),
        "C": ((F(1), F(2)), (F(0), F(1))),
        "V": ((F(1), F(0), F(1)), (F(0), F(2, 3), F(1))),
    }
    times = []
    for _ in range(20):
        start = time.perf_counter()
        assert Evaluation(Model(found.declarations, values))(found.goal) is TRUE
        times.append(time.perf_counter() - start)
    assert min(times) < 2e-3  # 0.2 ms on an ordinary machine


def test_solutions_of_a_linear_system():
    assert exact.solve(fmpq_mat([[1, 1], [1, 1]]), [fmpq(1), fmpq(2)]) is None
    found = exact.solve(fmpq_mat([[1, 1]]), [fmpq(2)])
    assert found is not None
    assert found.point == [2, 0] and found.directions == [[-1, 1]]


def test_numbers_make_the_trip_to_the_evaluator_and_back():
    assert to_matrix(F(3, 7)).entries() == ((F(3, 7),),)
    assert to_matrix(Z).entries()[0][0] == Complex(F(1), F(1))
