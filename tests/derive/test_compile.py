"""Kernels in memory: the same source, compiled at once, from any printable expression."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import sympy
from sympy import (
    Float,
    Function,
    HadamardProduct,
    ImmutableDenseMatrix,
    KroneckerDelta,
    LambertW,
    MatrixSymbol,
    Piecewise,
    Rational,
    Sum,
    Symbol,
    exp,
    log,
    oo,
    pi,
    sqrt,
    symbols,
    tanh,
    zoo,
)

from derive import compile
from derive.emit.kernel import write_body
from derive.emit.names import EmitError, NameRefusedError
from derive.logratio import J, K, softmax
from derive.notation import Pinv, index, vector
from derive.steps import Argument, Kernel

x, y = symbols("x y", positive=True)


def test_scalar_expression_broadcasts():
    f = compile(x**2 / 3 - sqrt(y) + exp(-x), [x, y])
    got = f(np.array([1.0, 2.0]), np.array([[4.0], [9.0]]))
    assert got.shape == (2, 2)
    np.testing.assert_allclose(
        got,
        [
            [1 / 3 - 2 + np.exp(-1), 4 / 3 - 2 + np.exp(-2)],
            [1 / 3 - 3 + np.exp(-1), 4 / 3 - 3 + np.exp(-2)],
        ],
    )


def test_source_is_shown_and_found_by_inspect():
    f = compile(x + y, [x, y], name="total")
    assert "return x + y" in f.source
    assert inspect.getsource(f).rstrip().endswith("return x + y")


def test_chosen_forms_are_used_in_memory_too():
    f = compile(LambertW(x * exp(x)) / x, [x])
    assert "wrightomega" in f.source
    assert float(f(1e6)) == pytest.approx(1.0, rel=1e-15)
    logits = vector("logits")
    s = compile(softmax(J), [logits], axes=[J])
    np.testing.assert_array_equal(s(np.array([800.0, 800.0])), [0.5, 0.5])


def test_matrix_expression_and_explicit_matrix():
    a = MatrixSymbol("A", 2, 3)
    f = compile(Pinv(a), [a])
    given = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(f(given), np.linalg.pinv(given), atol=1e-12)
    g = compile(ImmutableDenseMatrix([[x, 1], [0, y]]), [x, y])
    got = g(np.array([1.0, 2.0]), 3.0)
    assert got.shape == (2, 2, 2)  # constant entries broadcast as well
    np.testing.assert_array_equal(got[1], [[2, 1], [0, 3]])


def test_sum_of_products_becomes_a_matrix_product():
    a, b = vector("a"), vector("b")
    i, j, k, n = index("i"), index("j"), index("k"), Symbol("n", integer=True, positive=True)
    f = compile(Sum(a[i, k] * b[k, j], (k, 0, n - 1)), [a, b], axes=[i, j])
    assert "a @ b" in f.source
    left, right = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(f(left, right), left @ right)


def test_a_shared_axis_is_a_batch_of_matrix_products():
    a, b, r = sympy.IndexedBase("a"), sympy.IndexedBase("b"), vector("r")
    i, j, k, m = map(index, "ijkm")
    n = Symbol("n", integer=True, positive=True)
    total = Sum(r[j] * a[i, j, k] * b[i, j, m], (j, 0, n - 1))
    f = compile(total, [r, a, b], axes=(i, k, m))
    assert "@" in f.source
    rng = np.random.default_rng(0)
    args = rng.normal(size=(2, 3)), rng.normal(size=(2, 5, 3, 4)), rng.normal(size=(2, 5, 3, 2))
    np.testing.assert_allclose(
        f(*args), np.einsum("xj,xijk,xijm->xikm", *args), rtol=1e-13, atol=1e-14
    )
    weighted = compile(Sum(a[i, j, k] * r[j], (j, 0, n - 1)), [r, a], axes=(i, k))
    np.testing.assert_allclose(
        weighted(*args[:2]), np.einsum("xj,xijk->xik", *args[:2]), rtol=1e-13, atol=1e-14
    )


def test_roots_of_plain_numbers_are_one_and_keep_the_type():
    f = compile(exp(-x) / sqrt(2 * pi), [x])
    assert "(1 / 2)" in f.source
    assert f(np.float32(1.5)).dtype == np.float32
    np.testing.assert_allclose(f(1.5), np.exp(-1.5) / np.sqrt(2 * np.pi), rtol=1e-15)


def test_a_long_sum_is_broken_before_its_signs():
    names = sympy.symbols("first_long_name second_long_name third_long_name fourth_long_name")
    f = compile(sum(name**2 * other for name in names for other in names), list(names))
    assert max(map(len, f.source.splitlines())) <= 100
    values = (0.5, 1.5, -2.0, 3.0)
    assert f(*values) == sum(v**2 * w for v in values for w in values)


def test_a_matrix_times_a_sum_of_vectors_keeps_its_brackets():
    a, b, c = MatrixSymbol("A", 2, 3), MatrixSymbol("b", 3, 1), MatrixSymbol("c", 3, 1)
    f = compile(a * (b - c) / x, [a, b, c, x])
    given, left, right = np.arange(6.0).reshape(2, 3), np.arange(3.0), np.array([2.0, 0.0, 5.0])
    np.testing.assert_array_equal(f(given, left, right, 4.0), given @ (left - right) / 4)
    assert f.source.rstrip().endswith("/ x[..., None]")


def test_product_entry_by_entry():
    a, b = MatrixSymbol("A", 2, 2), MatrixSymbol("B", 2, 2)
    f = compile(HadamardProduct(a * b, a + b), [a, b])
    left, right = np.arange(4.0).reshape(2, 2), np.array([[1.0, 2.0], [0.0, 3.0]])
    np.testing.assert_array_equal(f(left, right), (left @ right) * (left + right))


def test_constants_and_functions_of_the_namespace():
    f = compile(log(2 * pi * x) + tanh(y), [x, y])
    assert float(f(0.5, 1e3)) == pytest.approx(np.log(np.pi) + 1, rel=1e-15)


def test_a_named_value_is_found_with_another_number_before_it():
    change = 6 * x * log(y)
    kernel = Kernel(
        arguments=(Argument(x, ""), Argument(y, "")),
        outputs={"half": ""},
        domain=("",),
        axes={"half": ()},
        temporaries=((Symbol("change", real=True), change),),
    )
    lines = write_body(kernel, {"half": tanh(change / 2)})[0].lines
    assert lines[-2:] == ["change = 6 * xp.log(y) * x", "return xp.tanh(change / 2)"]


def test_a_sum_of_products_along_one_axis_becomes_dot_products():
    a, b = vector("a"), vector("b")
    i, k, n = index("i"), index("k"), Symbol("n", integer=True, positive=True)
    left, right = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 5.0])
    rows = compile(Sum(a[i, k] * b[k], (k, 0, n - 1)), [a, b], axes=[i])
    assert "dot_products(xp, a, b[..., None, :])" in rows.source
    np.testing.assert_array_equal(rows(left, right), left @ right)
    squares = compile(Sum(a[i, k] ** 2, (k, 0, n - 1)), [a], axes=[i])
    assert "dot_products(xp, a, a)" in squares.source
    np.testing.assert_array_equal(squares(left), (left**2).sum(axis=-1))


def test_identity_takes_its_size_from_an_argument():
    a = vector("a")
    f = compile(KroneckerDelta(J, K) * a[J], [a], axes=[J, K])
    np.testing.assert_array_equal(f(np.array([1.0, 2.0])), np.diag([1.0, 2.0]))


def test_piecewise_is_a_choice_entry_by_entry():
    f = compile(Piecewise((x, x < 1), (y, True)), [x, y])
    np.testing.assert_array_equal(f(np.array([0.5, 2.0]), 7.0), [0.5, 7.0])


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        (x + zoo, "zoo"),
        (sympy.nan, "nan"),
        (Function("mystery")(x), "mystery"),
        (Float("0.1") * x, "decimal"),
        (x ** Rational(1, 3), "integer powers"),
        (sympy.gamma(x), "gamma"),
        (sympy.Derivative(Function("f")(x), x), "Derivative"),
    ],
)
def test_what_cannot_be_printed_is_refused_by_name(expression, named: str):
    with pytest.raises(EmitError, match=named):
        compile(expression, [x])


def test_infinity_is_printed_as_such():
    f = compile(Piecewise((oo, x > 1), (x, True)), [x])
    np.testing.assert_array_equal(f(np.array([0.5, 2.0])), [0.5, np.inf])


def test_a_symbol_that_is_no_argument_is_refused():
    with pytest.raises(EmitError, match="not an argument of the kernel: y"):
        compile(x + y, [x])


@pytest.mark.parametrize("name", ["__import__('os').system('true')", "a.b", "lambda", "xp", "exec"])
def test_a_hostile_symbol_never_reaches_the_source(name: str):
    with pytest.raises(NameRefusedError):
        compile(Symbol(name) + 1, [Symbol(name)])
    with pytest.raises(NameRefusedError):
        compile(x, [x], name=name)
    with pytest.raises((NameRefusedError, EmitError)):
        compile(MatrixSymbol(name, 2, 2), [MatrixSymbol(name, 2, 2)])


def test_strings_are_never_sympified():
    with pytest.raises((EmitError, AttributeError, TypeError)):
        compile("__import__('os')", [x])  # type: ignore[arg-type]


def test_values_do_not_depend_on_which_argument_is_a_python_number():
    f = compile(log(x / y), [x, y])
    assert float(f(2.0, np.float32(1.0))) == pytest.approx(np.log(2.0), rel=1e-6)
    assert f(2.0, np.float32(1.0)).dtype == np.float32
