"""Kernels in memory: the same source, compiled at once, from any printable expression."""

from __future__ import annotations

import inspect
import time

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
from derive.calculus import gradient
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
    assert "wright_omega" in f.source
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


def triple_pendulum():
    """Angular acceleration of the first of three coupled pendulums, by Cramer's rule."""
    theta = symbols("theta1:4", real=True)
    omega = symbols("omega1:4", real=True)
    mass, length = symbols("m1:4", positive=True), symbols("l1:4", positive=True)
    g = Symbol("g", positive=True)
    below = [sum(mass[i:]) for i in range(3)]
    inertia = sympy.Matrix(
        3, 3,
        lambda i, j: below[max(i, j)] * length[i] * length[j] * sympy.cos(theta[i] - theta[j]),
    )  # fmt: skip
    force = sympy.Matrix([
        -below[i] * g * length[i] * sympy.sin(theta[i])
        - sum(
            below[max(i, j)] * length[i] * length[j]
            * sympy.sin(theta[i] - theta[j]) * omega[j] ** 2
            for j in range(3)
        )
        for i in range(3)
    ])  # fmt: skip
    det = inertia.det(method="berkowitz")
    arguments = [*theta, *omega, *mass, *length, g]
    return (inertia.adjugate() * force)[0] / det, det, arguments, inertia, force


def test_a_long_expression_of_a_users_own_compiles_in_two_seconds():
    expression, det, arguments, inertia, force = triple_pendulum()
    start = time.perf_counter()
    f = compile(expression, arguments, name="acceleration", positive=[det])
    assert time.perf_counter() - start < 2
    assert len(repr(f).splitlines()) > 60
    assert f.source.count("xp.cos(theta1 - theta2)") == 1  # repeated, so it has a name
    rng = np.random.default_rng(0)
    values = rng.uniform(0.5, 1.5, size=(13, 50))
    matrix = sympy.lambdify(arguments, inertia, "numpy")
    right = sympy.lambdify(arguments, force, "numpy")
    want = [np.linalg.solve(matrix(*v), right(*v)).ravel()[0] for v in values.T]
    np.testing.assert_allclose(f(*values), want, rtol=1e-9)


def test_source_is_on_show():
    f = compile(x + y, [x, y], name="total")
    assert repr(f).startswith('@errstate(under="ignore")\ndef total(')
    assert repr(f).endswith("return x + y")
    assert f._repr_markdown_() == f"```python\n{f!r}\n```"
    assert f.source.startswith("from __future__ import annotations")


def test_named_temporaries_are_computed_once():
    f = compile((x + y) ** 2 + exp(-(x + y)), [x, y], temporaries={"total": x + y})
    assert "total = x + y" in f.source
    assert f.source.count("x + y") == 1
    np.testing.assert_allclose(f(1.0, 2.0), 9 + np.exp(-3))
    with pytest.raises(NameRefusedError):
        compile(x + y, [x, y], temporaries={"__class__": x + y})


n = Symbol("n", integer=True, positive=True)
A, p, q = MatrixSymbol("A", n, n), MatrixSymbol("p", n, 1), MatrixSymbol("q", n, 1)
MATRIX_EXPRESSIONS = {
    "form": (p.T * A * p, lambda a, p, q: p @ a @ p),
    "inner product": (p.T * q, lambda a, p, q: p @ q),
    "outer product": (p * q.T, lambda a, p, q: np.outer(p, q)),
    "matrix times outer product": (A * p * q.T, lambda a, p, q: np.outer(a @ p, q)),
    "outer product times matrix": (p * q.T * A, lambda a, p, q: np.outer(p, q @ a)),
    "two outer products": (p * q.T * p * q.T, lambda a, p, q: np.outer(p, q) @ np.outer(p, q)),
    "sandwich": (A * (p * q.T + A) * A, lambda a, p, q: a @ (np.outer(p, q) + a) @ a),
    "solution": (sympy.Inverse(A) * p, lambda a, p, q: np.linalg.solve(a, p)),
    "inverse form": (p.T * sympy.Inverse(A) * q, lambda a, p, q: p @ np.linalg.solve(a, q)),
    "inverse": (sympy.Inverse(A), lambda a, p, q: np.linalg.inv(a)),
    "two inverses": (
        sympy.Inverse(A) * A.T * sympy.Inverse(A),
        lambda a, p, q: np.linalg.inv(a) @ a.T @ np.linalg.inv(a),
    ),
    "power": (A**3, lambda a, p, q: a @ a @ a),
    "trace": (sympy.Trace(A * A), lambda a, p, q: np.trace(a @ a)),
    "trace of an outer product": (sympy.Trace(p * q.T), lambda a, p, q: p @ q),
    "determinant": (sympy.Determinant(A), lambda a, p, q: np.linalg.det(a)),
    "scaled": (2 * A / 3, lambda a, p, q: 2 * a / 3),
}


@pytest.mark.parametrize("name", MATRIX_EXPRESSIONS)
def test_products_of_matrices_columns_and_rows(name: str):
    """On a batch, against the same product of one member at a time."""
    expression, by_hand = MATRIX_EXPRESSIONS[name]
    rng = np.random.default_rng(5)
    a = rng.normal(size=(4, 3, 3)) + 3 * np.eye(3)
    left, right = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    got = compile(expression, [A, p, q])(a, left, right)
    want = np.array([by_hand(*member) for member in zip(a, left, right, strict=True)])
    np.testing.assert_allclose(got, want, rtol=1e-11)


def test_log_determinant_does_not_overflow():
    f = compile(log(sympy.Determinant(A)), [A], positive=[sympy.Determinant(A)])
    assert float(f(np.eye(200) * 1e3)) == pytest.approx(200 * np.log(1e3))


def test_the_slope_of_a_gaussian_log_density_is_emitted():
    density = -p.T * sympy.Inverse(A) * p / 2
    f = compile(gradient(density, p), [A, p])
    rng = np.random.default_rng(6)
    a, at = rng.normal(size=(3, 3)), rng.normal(size=3)
    a = a @ a.T + np.eye(3)
    np.testing.assert_allclose(f(a, at), -np.linalg.solve(a, at), rtol=1e-10)


r, s = symbols("r s", real=True)
w = Symbol("w", nonnegative=True)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (1 / r, "r may be 0 here.*limit branch.*: 1/r"),
        (1 / w, "w may be 0"),
        (r / (r - s), "r - s may be 0"),
        (sympy.sin(r) / r, "r may be 0"),
        ((1 - exp(-w)) / w, "w may be 0"),
        (log(r), "r may be 0 or negative under the logarithm"),
        (log(w), "w may be 0 or negative"),
        (sqrt(r), "r may be negative under the root"),
        (sqrt(1 - r**2), "may be negative under the root"),
        (LambertW(r), "less than -1/e"),
        (1 / Symbol("plain"), "plain may be 0"),
        (Piecewise((1, r > 0), (1 / r, True)), "r may be 0"),
        (Piecewise((1 / r, r >= 0), (0, True)), "r may be 0"),
        (sqrt(-x), "complex"),
        (log(-x), "-x may be 0 or negative"),
    ],
    ids=str,
)
def test_a_singular_point_without_a_limit_branch_is_refused(expression, said: str):
    with pytest.raises(EmitError, match=said) as caught:
        compile(expression, sorted(expression.free_symbols, key=str))
    assert caught.value.expression is not None
    assert expression.has(caught.value.expression)


@pytest.mark.parametrize(
    ("expression", "arguments", "positive"),
    [
        (1 / (1 + r**2), [r], []),
        (1 / (1 + exp(r)), [r], []),
        (log(1 + exp(Symbol("plain"))), [Symbol("plain")], []),
        (sqrt(r**2 + s**2), [r, s], []),
        (Piecewise((1, sympy.Eq(r, 0)), (sympy.sin(r) / r, True)), [r], []),
        (Piecewise((1 / r, r > 0), (0, True)), [r], []),
        (Piecewise((1 / r, r < 0), (log(r), r > 0), (0, True)), [r], []),
        (Piecewise((0, r <= s), (1 / (r - s), True)), [r, s], []),
        (Piecewise((sqrt(r - 1), sympy.And(r >= 1, s > 0)), (0, True)), [r, s], []),
        (1 / (r - s), [r, s], [r - s]),
        (log(r - s + 1), [r, s], [r - s]),
        (1 / (r * x), [r, x], [r]),
    ],
    ids=str,
)
def test_what_is_known_to_be_regular_is_accepted(expression, arguments, positive):
    f = compile(expression, arguments, positive=positive)
    values = [2.5, 1.25][: len(arguments)]
    want = float(expression.subs(dict(zip(arguments, values, strict=True))))
    assert float(f(*values)) == pytest.approx(want, rel=1e-14)


def test_a_form_with_a_limit_branch_covers_its_singular_point():
    f = compile(log((w + y) / w), [w, y])
    assert float(f(0.0, 1.0)) == np.inf


def test_a_long_expression_is_cut_short_in_a_message():
    with pytest.raises(EmitError) as caught:
        compile(1 / sum(symbols("a0:200", real=True)), symbols("a0:200", real=True))
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        (x + zoo, "zoo"),
        (sympy.nan, "nan"),
        (Function("mystery")(x), "mystery"),
        (Float("0.1") * x, "decimal"),
        (x ** Rational(1, 3), "integer powers"),
        (sympy.gamma(x), "gamma"),
        (exp(x) + Function("inner")(x**2) * 3, r"no rule prints inner: inner\(x\*\*2\)"),
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
    with pytest.raises(EmitError, match="expected a SymPy expression, got str"):
        compile("__import__('os')", [x])  # type: ignore[arg-type]


def test_values_do_not_depend_on_which_argument_is_a_python_number():
    f = compile(log(x / y), [x, y])
    assert float(f(2.0, np.float32(1.0))) == pytest.approx(np.log(2.0), rel=1e-6)
    assert f(2.0, np.float32(1.0)).dtype == np.float32
