"""What is refused where a statement is written in Python, and what is answered."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

import proofs
from proofs import notation as N
from proofs.language.errors import StatementError
from proofs.language.parser import parse
from proofs.notation import (
    E,
    IllTyped,
    NotAName,
    NotExact,
    NoTruthValue,
    TwoMeanings,
    inv,
    statement,
)
from proofs.verdict import Verdict

n, k = N.dimension("n, k")
A, B = N.matrix("A, B", n, n)
U = N.matrix("U", n, k)
x = N.vector("x", n)
t = N.real("t")


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3, "3"),
        (-3, "-3"),
        (Fraction(6, 4), "3/2"),
        ("0.1", "1/10"),
        ("-2.50", "-5/2"),
        ("3/4", "3/4"),
        (10**40, "1" + 40 * "0"),
        (np.int64(7), "7"),
    ],
)
def test_numbers_are_exact(value: Any, shown: str):
    assert repr(N.number(value)) == shown
    assert (t == value).term is (t == N.number(value)).term


@pytest.mark.parametrize("value", [0.1, 1e-9, float("nan"), float("inf"), np.float64(2), 1j, True])
def test_what_is_not_exact_is_refused(value: Any):
    with pytest.raises(NotExact) as refused:
        N.number(value)
    assert refused.value.value is value
    for operation in (
        lambda: t + value,
        lambda: value * t,
        lambda: N.exp(value),
        lambda: A[value, 1],
    ):
        with pytest.raises(NotExact):
            operation()


def test_a_float_is_told_what_to_write_instead():
    with pytest.raises(NotExact, match=r"write '0\.1', or Fraction"):
        _ = t * 0.1
    with pytest.raises(NotExact, match=r"a decimal such as '0\.001'"):
        _ = t * 1e-9


@pytest.mark.parametrize("value", ["", "x", "1e3", "1/0", "- 1", "1.", ".5", "0x1", "١"])
def test_text_that_is_no_number_is_refused(value: str):
    with pytest.raises(NotExact):
        _ = t + value


@pytest.mark.parametrize("value", [None, [1, 2], np.eye(2), slice(1, 2), object(), abs])
def test_other_things_are_refused(value: Any):
    with pytest.raises(NotExact):
        _ = N.exp(value)
    with pytest.raises((NotExact, TypeError)):
        _ = value @ A
    with pytest.raises(NotExact):
        _ = x[value]


# ---------------------------------------------------------------- relations have no truth value


def test_a_relation_has_no_truth_value():
    relation = A == B
    with pytest.raises(NoTruthValue, match="A = B is a relation") as refused:
        bool(relation)
    assert refused.value.relation is relation
    with pytest.raises(NoTruthValue, match="two relations"):
        _ = 0 < t < 1  # pyright: ignore
    with pytest.raises(NoTruthValue):
        max(t, t + 1)
    with pytest.raises(NoTruthValue):
        assert N.invertible(A)  # pyright: ignore
    with pytest.raises(NoTruthValue):
        bool(t)


def test_an_expression_is_no_sequence():
    with pytest.raises(TypeError, match="not iterable"):
        list(x)
    with pytest.raises(TypeError):
        assert t in x


def test_comparing_with_what_is_no_operand_is_pythons_own_affair():
    assert (x == None) is False  # noqa: E711
    assert (x != []) is True
    with pytest.raises(IllTyped, match="expected a relation"):
        statement(x == None)  # noqa: E711  # type: ignore[arg-type]


def test_expressions_may_be_keys():
    assert {A: 1, B: 2}[A] == 1


# ---------------------------------------------------------------- shapes, seen at once


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (lambda: A @ U.T, "inner sizes n and k differ; the right factor may need a transpose"),
        (lambda: A + 1, "multiple of the identity"),
        (lambda: U == U.T, "transpose"),
        (lambda: inv(U), "square"),
        (lambda: U[k + n, 1], "out of range"),
        (lambda: N.sum_(lambda j: U[j, j], 1, n), r"U\[j, j\]: the index runs to n"),
        (lambda: N.matrix("M", n - k, n), "at least 1"),
        (lambda: N.matrix("M", t, n), "'t' is real"),
        (lambda: t**t <= A, "A"),
        (lambda: A < B, "Loewner"),
        (lambda: N.diff(t**2, n), "dimension"),  # type: ignore[arg-type]
        (lambda: N.diff(t**2, t + 1), "a declared name"),
        (lambda: N.diff(t**2, t, 0), "order"),
        (lambda: N.limit(lambda s: t / s, 0), "at oo alone"),  # type: ignore[arg-type]
        (lambda: N.limit(t, N.oo), "function of one variable"),  # type: ignore[arg-type]
        (lambda: N.limit(lambda s: s * x, N.oo) == 0, "real scalar"),
        (lambda: N.gaussian("X", x, U), "covariance"),
        (lambda: N.gaussian("X, Y", (x,), A), "2 means"),
        (lambda: N.block([[A, B], [A]]), "number of blocks"),
        (lambda: N.sum_(t, 1, n), "function of one variable"),  # type: ignore[arg-type]
        (lambda: N.sum_(lambda a, b: a, 1, n), "function of one variable"),  # type: ignore[misc]
        (lambda: N.function("f", 1, 2, 3), "two sizes"),
        (lambda: E(x, A), "behind a bar"),
        (lambda: N.cov(x, x, x), "behind a bar"),
        (lambda: N.for_all(N.dimension("m"), A == B), "dimension"),
        (lambda: N.for_all(x + x, A == B), "a declared name"),
        (lambda: N.for_all(x, A), "expected a relation"),  # type: ignore[arg-type]
        (lambda: N.for_all(x, A == B, where=True), "got True"),  # type: ignore[arg-type]
        (lambda: statement(A == B, assuming=False), "got False"),  # type: ignore[arg-type]
        (lambda: statement([A == B, A == A]), "got "),  # type: ignore[arg-type]
        (lambda: statement("A = B"), "got 'A = B'"),  # type: ignore[arg-type]
        (lambda: statement(A == B, assuming=[A]), "got A"),  # type: ignore[list-item]
    ],
)
def test_what_does_not_fit_is_refused_where_it_is_written(operation: Any, message: str):
    with pytest.raises(IllTyped, match=message) as refused:
        operation()
    assert refused.value.arguments
    assert refused.value.operation
    assert "\u212a" not in str(refused.value)


def test_the_error_carries_the_arguments():
    with pytest.raises(IllTyped) as refused:
        _ = A @ U.T @ B
    left, right = refused.value.arguments
    assert refused.value.operation == "mul"
    assert left is A
    assert repr(right) == "U.T"


def test_an_expression_tells_its_type():
    assert str((U.T @ A @ U).type) == "matrix(k, k)"
    assert str((x.T @ x).type) == "scalar"


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    "name", ["pi", "e", "i", "oo", "π", "let", "matrix", "inv", "sum", "", "1x", "_x", "x-y", "x y",
             "A, A", "A,", "l" * 201, "\u0435"],
)  # fmt: skip
def test_what_can_not_be_declared_is_refused(name: str):
    with pytest.raises(NotAName):
        N.real(name)
    with pytest.raises(NotAName):
        N.define(name, t)


def test_a_name_is_text():
    with pytest.raises(NotAName):
        N.real(t)


def test_names_are_in_their_normal_form():
    assert N.real("\u212a1").term is N.real("K1").term
    assert N.real("e\u0301").term is N.real("\u00e9").term


def test_one_name_has_one_declaration_in_a_statement():
    other = N.matrix("A", k, k)
    with pytest.raises(TwoMeanings, match="matrix"):
        N.kron(A, other)
    with pytest.raises(TwoMeanings):
        statement(A == A, assuming=N.invertible(other))
    assert statement(other == other).statement.declarations[-1].names == ("A",)


def test_the_same_declaration_made_again_is_the_same_name():
    """As where a cell of a notebook is run twice; the earlier place counts."""
    again = N.matrix("A", n, n)
    assert (again + B).term is (A + B).term
    assert statement(again @ B == B @ A).hash == statement(A @ B == B @ A).hash


def test_names_that_look_the_same_are_refused():
    greek = N.matrix("\u0391", n, n)  # a capital alpha
    with pytest.raises(TwoMeanings, match="can't be told apart"):
        statement(greek == A)


def test_a_name_is_not_declared_and_defined():
    S = N.define("S", A + B)
    with pytest.raises(TwoMeanings):
        _ = S @ N.define("S", A)
    with pytest.raises(TwoMeanings):
        _ = S @ N.matrix("S", n, n)
    with pytest.raises(StatementError, match="only an expression"):
        N.define("R", A == B)  # type: ignore[arg-type]


# ---------------------------------------------------------------- binders


def test_an_index_can_not_leave_its_sum():
    kept = []

    def entry(j: N.Expression) -> N.Expression:
        kept.append(x[j])
        return x[j]

    N.sum_(entry, 1, n)
    with pytest.raises(IllTyped, match="'j' stands outside of its sum"):
        statement(kept[0] == 0)


def test_a_user_can_not_capture_the_index_of_a_sum():
    """Not even by a name that is spelt as the index is inside: names are normalized."""
    stolen = N.real("j\u212a1")
    total = N.sum_(lambda j: x[j] * stolen, 1, n)
    (read,) = parse(
        "let n : dimension\nlet x : vector(n)\nlet jK1 : real\nshow sum(x[r]*jK1, r, 1, n) = 0\n"
    ).statements
    assert statement(total == 0).statement == read


def test_a_quantified_name_is_not_declared_outside():
    y = N.vector("y", n)
    fixed = N.for_all(y, A @ y == y)
    assert [d.names for d in statement(A == B, assuming=fixed).statement.declarations] == [
        ("n",), ("A",), ("B",),
    ]  # fmt: skip
    both = statement(A @ y == y, assuming=fixed).statement
    assert both.declarations[-1].names == ("y",)


def test_a_quantified_name_can_not_be_the_parameter_of_a_law():
    m = N.vector("m", n)
    X = N.gaussian("X", m, A)
    with pytest.raises(IllTyped, match="declaration of 'X'"):
        N.for_all(m, E(X) == m)


def test_a_random_name_is_no_hypothesis():
    X = N.gaussian("X", x, A)
    with pytest.raises(IllTyped, match="hypothesis"):
        statement(E(X) == x, assuming=x == X)


# ---------------------------------------------------------------- texts


def test_random_expressions_print_and_read_back():
    """Operators on random operands, with whatever fits; the text gives the same tree."""
    draw = Random(5)
    known: list[N.Expression] = [A, B, U, x, t, N.number(2), N.number("-1/3"), N.eye(n)]
    operations = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a @ b, lambda a, b: a / b,
        lambda a, b: -a, lambda a, b: a.T, lambda a, b: a.H, lambda a, b: a**2, lambda a, b: a**-1,
        lambda a, b: a**n, lambda a, b: a[1], lambda a, b: a[1, 2], lambda a, b: N.tr(a),
        lambda a, b: N.block([[a, b]]), lambda a, b: N.sum_(lambda j: a * j + b, 1, n),
        lambda a, b: N.diff(a, t), lambda a, b: 3 - a,
        lambda a, b: N.define(f"d{len(known)}", a + b),
    ]  # fmt: skip
    made = 0
    for _ in range(800):
        left, right = draw.choice(known), draw.choice(known)
        try:
            found = draw.choice(operations)(left, right)
        except IllTyped:
            continue
        stated = statement(found == found)
        assert parse(str(stated)).statements[0].hash == stated.hash, str(stated)
        made += 1
        if len(str(stated)) < 300:
            known.append(found)
    assert made > 250


def test_an_abbreviated_size_is_defined_before_it_is_used():
    m = N.define("m", n + k)
    M = N.matrix("M", m, m)
    stated = statement(N.tr(M @ N.eye(m)) == N.tr(M))
    assert str(stated).splitlines()[1:3] == ["define m = n + k", "let M : matrix(m, m)"]
    assert parse(str(stated)).statements == (stated.statement,)


# ---------------------------------------------------------------- answers


def test_a_true_statement_is_proved_and_explained():
    product = statement(inv(A @ B) == inv(B) @ inv(A), assuming=[N.invertible(A), N.invertible(B)])
    assert product.decide().verdict is Verdict.PROVED
    explained = product.explain()
    assert explained.verdict is Verdict.PROVED
    assert "Rests on the rules inv_left, inv_right" in str(explained)


def test_a_false_statement_is_refuted_with_matrices():
    answer = statement(
        inv(A @ B) == inv(A) @ inv(B), assuming=[N.invertible(A), N.invertible(B)]
    ).decide()
    assert answer.verdict is Verdict.REFUTED
    shown = answer._repr_markdown_()
    assert r"\begin{pmatrix}" in shown
    assert "Nearest true neighbour" in shown


def test_a_statement_that_can_be_undefined_gets_its_repair():
    answer = statement(inv(A) @ A == N.eye(n)).decide()
    assert answer.verdict is Verdict.ILL_POSED
    assert answer.as_json()["repair"] == ["assume invertible(A)"]


def test_it_is_typeset_where_it_is_shown():
    assert (U.T @ x)._repr_markdown_() == r"$\mathbf{U}^{\top} \mathbf{x}$"
    assert r"\mathbf{A}" in statement(A == B)._repr_markdown_()


def test_code_is_compared_with_what_is_stated():
    symmetric = statement((A + A.T).T == A + A.T)
    found = proofs.conforms(lambda A: A + A.T, symmetric.statement, instances=5)
    assert found.verdict is Verdict.CHECKED
    wrong = proofs.conforms(lambda A: A - A.T, symmetric.statement, instances=5)
    assert wrong.verdict is Verdict.REFUTED


def test_the_door_stands_in_the_package():
    assert proofs.statement is statement
    assert proofs.notation is N
    assert {"Stated", "notation", "statement"} <= set(dir(proofs))


def test_a_limit_is_no_value():
    tends = N.limit(lambda s: t / s, N.oo)
    assert repr(tends == 0) == "limit(t/x, x, oo) = 0"
    with pytest.raises(NoTruthValue, match="say what it is"):
        bool(tends)
    with pytest.raises(TypeError):
        _ = tends + 1  # type: ignore[operator]
    with pytest.raises(NotExact):
        _ = tends == 0.5
