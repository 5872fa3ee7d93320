"""SymPy is read by a closed list of nodes; everything else is refused with its name."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
import sympy
from sympy import (
    Eq,
    IndexedBase,
    Integer,
    KroneckerDelta,
    Matrix,
    MatrixSymbol,
    Product,
    Rational,
    Sum,
    Symbol,
    exp,
    log,
    sqrt,
)

from derive.notation import Extended, Pinv, Skip
from proofs.bridge import Reading, ReadingError, read_equation, read_sympy, sympy_to_thm
from proofs.evaluate import Model, evaluate
from proofs.language import show
from proofs.language.infer import check
from proofs.language.parser import parse
from proofs.language.tree import name

x, y = Symbol("x"), Symbol("y")
n, k = sympy.symbols("n k", integer=True, positive=True)
A, B = MatrixSymbol("A", n, k), MatrixSymbol("B", n, k)
R = MatrixSymbol("R", k, k)
i, j = sympy.symbols("i j", integer=True, nonnegative=True)
s = IndexedBase("s", positive=True)
SEED = 20_240_711


def read(expression: Any, **given: Any) -> str:
    return show.text(read_sympy(expression, Reading(**given)))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (x - y, "x - y"),
        (-x, "-x"),
        (Rational(2, 3) * x / y**2, "2/3*x/y^2"),
        (1 / sqrt(x), "1/sqrt(x)"),
        (exp(-x) * log(y), "exp(-x)*log(y)"),
        (sympy.LambertW(x), "lambertw(x)"),
        (sympy.pi + sympy.E, "e + pi"),
        (A.T * B - R, "A.T*B - R"),
        (A * Pinv(R) * B.T, "A*pinv(R)*B.T"),
        (R.inverse(), "inv(R)"),
        (R**2 + sympy.Identity(k), "eye(k) + R^2"),
        (2 * A + sympy.ZeroMatrix(n, k), "2*A"),
        (sympy.Trace(R) * sympy.Determinant(R), "det(R)*tr(R)"),
        (R[0, 1], "R[1, 2]"),
        (Matrix([[x, 1], [0, y]]), "block([[x, 1], [0, y]])"),
    ],
)
def test_an_expression_is_read_as_it_is_written(expression: Any, expected: str):
    assert read(expression) == expected


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        (sympy.Float(0.5), "Float"),
        (sympy.oo, "Infinity"),
        (sympy.nan, "NaN"),
        (sympy.zoo, "ComplexInfinity"),
        (sympy.Piecewise((x, x > 0), (0, True)), "Piecewise"),
        (sympy.Function("f")(x), "f"),
        (sympy.floor(x), "floor"),
        (sympy.Symbol('__import__("os")'), "can't be a name"),
        (sympy.Symbol("assume"), "can't be a name"),
        (sympy.Symbol("a", commutative=False) * 2, "doesn't commute"),
        (s[i], "index i"),
        (Sum(x, (i, 0, 3), (j, 0, 3)), "one index"),
        (KroneckerDelta(i, j), "index i"),
        (sympy.Derivative(x**2, x), "Derivative"),
        ("x + 1", "str"),
        (1.5, "float"),
    ],
)
def test_anything_else_is_refused_by_name(expression: Any, what: str):
    with pytest.raises(ReadingError, match=what.replace("(", r"\(")):
        read_sympy(expression)


def test_nothing_that_is_read_is_executed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sympy, "sympify", lambda *_: pytest.fail("a string was sympified"))
    with pytest.raises(ReadingError):
        read_sympy("exit()")  # type: ignore[arg-type]


def test_a_deep_expression_is_refused_and_does_not_exhaust_the_stack():
    deep: Any = x
    for _ in range(3_000):
        deep = sympy.sin(deep, evaluate=False)
    with pytest.raises(ReadingError, match="too deeply"):
        read_sympy(deep)


def test_a_sum_with_symbolic_limits_becomes_a_binder_that_counts_from_one():
    assert read(Sum(exp(s[i]), (i, 0, n - 1))) == "sum(exp(s[j]), j, 1, n)"
    assert read(Product(1 / s[i], (i, 0, n - 2)), sizes={"n": name("m")}) == (
        "prod(1/s[j], j, 1, m - 1)"
    )


def test_a_sum_with_numbered_limits_is_written_out():
    assert read(Sum(s[i] ** 2, (i, 0, n - 1)), sizes={"n": 3}) == "s[1]^2 + s[2]^2 + s[3]^2"
    assert read(Sum(s[i], (i, 0, n - 2)), sizes={"n": 1}) == "0"
    assert read(Product(s[i], (i, 0, n - 2)), sizes={"n": 1}) == "1"
    with pytest.raises(ReadingError, match="terms to write out"):
        read(Sum(s[i], (i, 0, n - 1)), sizes={"n": 10**9})


def test_indices_skip_the_anchor_and_a_zero_is_put_in_at_it():
    at = {"sizes": {"n": 3}, "indices": {"k": 1}}
    assert read(Sum(s[Skip(i, k)], (i, 0, n - 2)), **at) == "s[1] + s[3]"
    extended = Sum(Extended(s, k, i), (i, 0, n - 1))
    assert read(extended, **at) == "s[1] + 0 + s[2]"


def test_a_delta_and_labels_are_read_at_numbers():
    assert read(KroneckerDelta(i, j), indices={"i": 1, "j": 1}) == "1"
    labels = IndexedBase("z", integer=True)
    delta = Sum(KroneckerDelta(labels[i], labels[j]) * s[j], (j, 0, 2))
    given = {"indices": {"i": 0}, "labels": {"z": (5, 7, 5)}}
    assert read(delta, **given) == "1*s[1] + 0*s[2] + 1*s[3]"


def test_an_equation_is_declared_by_what_sympy_assumes_and_prints_for_the_eye():
    a = Symbol("a", positive=True)
    equation = Eq(a * A.T * B, R * x, evaluate=False)
    assert sympy_to_thm(equation).splitlines() == [
        "let k, n : dimension",
        "let a : positive",
        "let x : complex",
        "let A, B : matrix(n, k)",
        "let R : matrix(k, k)",
        "show a*A.T*B = x*R",
    ]
    statement = read_equation(equation)
    check(statement)
    (again,) = parse(sympy_to_thm(equation)).statements
    assert again.hash == statement.hash


def test_what_sympy_cancelled_before_we_saw_it_is_gone():
    """The reason why a reading is printed, and proves nothing about the source."""
    assert read(x / x) == "1"


def test_readings_have_the_value_that_sympy_gives():
    """Random rational expressions, evaluated by both."""
    rng = random.Random(SEED)

    def grow(depth: int) -> Any:
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([x, y, Integer(rng.randint(-3, 3)), Rational(rng.randint(1, 5), 3)])
        left, right = grow(depth - 1), grow(depth - 1)
        return rng.choice([
            lambda: left + right, lambda: left - right, lambda: left * right,
            lambda: left / (right**2 + 1), lambda: left ** rng.randint(0, 3),
        ])()  # fmt: skip

    for _ in range(200):
        expression = grow(4)
        values = {v: Fraction(rng.randint(-5, 5), rng.randint(1, 4)) for v in (x, y)}
        expected = expression.subs({v: Rational(q.numerator, q.denominator)
                                    for v, q in values.items()})  # fmt: skip
        if not expected.is_Rational:
            continue
        found = evaluate(read_sympy(expression), Model((), {str(v): q for v, q in values.items()}))
        message = f"seed {SEED}: {expression} at {values}"
        assert found.entries()[0][0] == Fraction(int(expected.p), int(expected.q)), message  # type: ignore[union-attr]
