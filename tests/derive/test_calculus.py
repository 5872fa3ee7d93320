"""Matrix calculus: every rule against explicit entries at sizes 2 and 3, and against differences.

The oracle writes an expression out entry by entry and differentiates the entries, which are
functions of numbers; it shares no code with the rules.
"""

from __future__ import annotations

import ast
import itertools
import random
from pathlib import Path
from typing import Any

import mpmath
import pytest
import sympy
from sympy import (
    Abs,
    Add,
    Determinant,
    HadamardProduct,
    Identity,
    ImmutableDenseMatrix,
    Inverse,
    LambertW,
    MatAdd,
    MatMul,
    MatPow,
    Matrix,
    MatrixExpr,
    MatrixSymbol,
    Mul,
    Rational,
    Sum,
    Symbol,
    Trace,
    Transpose,
    cos,
    erf,
    exp,
    log,
    sin,
    sqrt,
    symbols,
    tanh,
)
from sympy.matrices.expressions import HadamardPower
from sympy.matrices.expressions.matexpr import MatrixElement

from derive.calculus import (
    CalculusError,
    MissingRuleError,
    RankChangeError,
    differential,
    gradient,
)
from derive.notation import Extended, Pinv, Skip, index, size, vector

ROOT = Path(__file__).parents[2]
n, m = size("n"), size("m")
A, B, S = (MatrixSymbol(name, n, n) for name in "ABS")
X, Y = MatrixSymbol("X", n, m), MatrixSymbol("Y", m, n)
x, b = MatrixSymbol("x", n, 1), MatrixSymbol("b", n, 1)
u, v = symbols("u v", positive=True)

SCALARS = {
    "trace": (Trace(A * B), A),
    "trace of a transpose": (Trace(A.T * B), A),
    "trace of a cube": (Trace(A**3), A),
    "trace of a square": (Trace(A * A), A),
    "trace times trace": (Trace(A) * Trace(A * B), A),
    "squared norm": (Trace(X.T * X), X),
    "norm": (sqrt(Trace(x.T * x)), x),
    "norm of a residual": (sqrt(Trace((A * x - b).T * (A * x - b))), x),
    "quadratic form by its vector": (x.T * A * x, x),
    "quadratic form by its matrix": (x.T * A * x, A),
    "bilinear form": (b.T * A * x, x),
    "determinant": (Determinant(A), A),
    "determinant of a product": (Determinant(A * B), A),
    "square of a determinant": (Determinant(A) ** 2, A),
    "log-determinant": (log(Determinant(A)), A),
    "log-determinant and a trace": (log(Determinant(A)) + Trace(A * B), A),
    "log-determinant of a sum": (log(Determinant(X * X.T + S)), X),
    "inverse": (Trace(Inverse(A) * B), A),
    "inverse form": (b.T * Inverse(A) * b, A),
    "inverse of a sum": (b.T * Inverse(A + X * X.T) * b, X),
    "Gaussian": (-log(Determinant(S)) / 2 - Trace(Inverse(S) * b * b.T) / 2, S),
    "exponential of a form": (exp(Trace(x.T * A * x)), x),
    "quotient of forms": (Trace(x.T * A * x) / Trace(x.T * x), x),
    "entrywise product": (Trace(HadamardProduct(A, B) * A), A),
    "entrywise square": (Trace(HadamardProduct(A, A) * B), A),
    "scalar inside a product": (Trace(Trace(A * B) * A * B), A),
    "power with a moving exponent": (u ** (Trace(A)), A),
}
MATRICES = {
    "product": (A * X * Y, X),
    "transposed": ((A * X).T, X),
    "inverse": (Inverse(A), A),
    "sandwiched inverse": (B * Inverse(A) * B.T, A),
    "power": (A**3, A),
    "entrywise": (HadamardProduct(A, A.T), A),
    "scaled by a trace": (Trace(A) * A, A),
    "residual": (S - A * Inverse(B) * A.T, A),
}
# The sizes at which the entries of the inputs are generic enough for all inverses to exist.
SIZES = [{n: 2, m: 3}, {n: 3, m: 2}]


class Explicit:
    """Writes out an expression with the given matrices."""

    def __init__(self, sizes: dict[Any, int], values: dict[Any, Any]) -> None:
        self.sizes, self.values = sizes, values

    def of(self, node: Any) -> Any:
        if node in self.values:
            return self.values[node]
        if isinstance(node, (MatMul, Mul)):
            product = 1
            for factor in map(self.of, node.args):
                product = product * factor
            return product
        if isinstance(node, (MatAdd, Add)):
            total, *others = map(self.of, node.args)
            for other in others:
                total = total + other
            return total
        if isinstance(node, Identity):
            return sympy.eye(int(sympy.sympify(node.shape[0]).subs(self.sizes)))
        if isinstance(node, Transpose):
            return self.of(node.arg).T
        if isinstance(node, (Inverse, MatPow)):
            return self.of(node.args[0]) ** int(node.args[1])
        if isinstance(node, Pinv):
            matrix = self.of(node.arg)
            return (matrix.T * matrix).inv() * matrix.T
        if isinstance(node, Trace):
            return self.of(node.arg).trace()
        if isinstance(node, Determinant):
            return self.of(node.arg).det()
        if isinstance(node, HadamardProduct):
            first, *others = map(self.of, node.args)
            for other in others:
                first = first.multiply_elementwise(other)
            return first
        if isinstance(node, HadamardPower):
            return self.of(node.args[0]).applyfunc(lambda entry: entry ** node.args[1])
        if isinstance(node, MatrixExpr) and node.is_ZeroMatrix:
            return sympy.zeros(*(int(sympy.sympify(s).subs(self.sizes)) for s in node.shape))
        if isinstance(node, ImmutableDenseMatrix):
            return Matrix(node.applyfunc(self.of))
        if isinstance(node, MatrixElement):
            return self.of(node.args[0])[node.args[1], node.args[2]]
        if not node.args:
            return node
        return node.func(*map(self.of, node.args))


def setting(function: Any, sizes: dict[Any, int], seed: int) -> dict[Any, Any]:
    """Small rationals for every matrix symbol, near enough to the identity to be invertible."""
    draw = random.Random(seed)
    values: dict[Any, Any] = {}
    for symbol in sorted(function.atoms(MatrixSymbol), key=str):
        rows, columns = (int(sympy.sympify(s).subs(sizes)) for s in symbol.shape)
        values[symbol] = Matrix(
            rows, columns, lambda i, j: Rational(draw.randint(-9, 9), 10) + (2 if i == j else 0)
        )
    return values


def moved(by: Any, values: dict[Any, Any]) -> tuple[Any, Any, Any]:
    """The point, a matrix of symbols in its place, and the substitution that leads back."""
    point = values[by]
    entry = Matrix(*point.shape, lambda i, j: Symbol(f"e_{i}_{j}", real=True))
    return point, entry, dict(zip(entry, point, strict=True))


def same(left: Any, right: Any) -> bool:
    """Exactly equal rationals, or equal to 40 digits where functions are involved."""
    difference = sympy.sympify(left - right)
    if difference.is_Rational:
        return difference == 0
    return bool(abs(difference.n(60)) <= sympy.Float(10, 60) ** -40 * (1 + abs(right.n(60))))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", SCALARS)
def test_gradient_is_the_matrix_of_partial_derivatives(name: str, sizes: dict[Any, int]):
    function, by = SCALARS[name]
    values = {**setting(function, sizes, 1), u: Rational(3, 2)}
    point, entry, back = moved(by, values)
    found = gradient(function, by, constant_rank=(A, A * B))
    assert found.shape == by.shape  # the layout: the argument's own shape
    written = Explicit(sizes, values).of(found)
    value = Explicit(sizes, {**values, by: entry}).of(function)
    value = value[0, 0] if isinstance(value, sympy.MatrixBase) else value
    assert written.shape == point.shape
    for i, j in itertools.product(*map(range, point.shape)):
        assert same(written[i, j], sympy.diff(value, entry[i, j]).subs(back)), (i, j)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", {**SCALARS, **MATRICES})
def test_differential_is_the_derivative_along_the_direction(name: str, sizes: dict[Any, int]):
    function, by = {**SCALARS, **MATRICES}[name]
    direction = MatrixSymbol("D", *by.shape)
    values = {**setting(function, sizes, 2), u: Rational(3, 2)}
    along = setting(direction, sizes, 3)[direction]
    found = differential(function, {by: direction}, constant_rank=(A, A * B))
    written = Explicit(sizes, {**values, direction: along}).of(found)
    step = Symbol("h", real=True)
    value = Explicit(sizes, {**values, by: values[by] + step * along}).of(function)
    if not isinstance(value, sympy.MatrixBase):
        value, written = Matrix([[value]]), Matrix([[written]])
    for left, right in zip(written, value, strict=True):
        assert same(left, sympy.diff(right, step).subs(step, 0))


@pytest.mark.parametrize("name", SCALARS)
def test_gradient_agrees_with_central_differences(name: str):
    function, by = SCALARS[name]
    sizes = SIZES[1]
    values = {**setting(function, sizes, 4), u: Rational(3, 2)}
    written = Explicit(sizes, values).of(gradient(function, by, constant_rank=(A, A * B)))
    step = Rational(1, 10**12)

    def value(change: Any) -> Any:
        got = Explicit(sizes, {**values, by: values[by] + change}).of(function)
        return got[0, 0] if isinstance(got, sympy.MatrixBase) else sympy.sympify(got)

    rows, columns = values[by].shape
    for i, j in itertools.product(range(rows), range(columns)):
        unit = Matrix(rows, columns, lambda r, c, i=i, j=j: int((r, c) == (i, j))) * step
        slope = (value(unit) - value(-unit)) / (2 * step)
        left, right = sympy.N(written[i, j], 40), sympy.N(slope, 40)
        assert abs(left - right) <= 1e-18 * (1 + abs(left))


def test_pseudo_inverse_of_constant_rank():
    """Of full column rank everywhere near: exact, by the derivative of (X'X)^-1 X'."""
    direction = MatrixSymbol("D", n, m)
    sizes = {n: 3, m: 2}
    values, along = setting(X, sizes, 5), setting(direction, sizes, 6)[direction]
    found = differential(Pinv(X), {X: direction}, constant_rank=(X,))
    written = Explicit(sizes, {**values, direction: along}).of(found)
    step = Symbol("h", real=True)
    value = Explicit(sizes, {X: values[X] + step * along}).of(Pinv(X))
    for left, right in zip(written, value, strict=True):
        assert same(left, sympy.diff(right, step).subs(step, 0))


def test_pseudo_inverse_of_a_singular_matrix_along_directions_that_keep_its_rank():
    """At 50 digits: rank 1 in a 3x3 matrix, moved as an outer product."""
    direction = MatrixSymbol("D", 3, 3)
    matrix = MatrixSymbol("M", 3, 3)
    found = differential(Pinv(matrix), {matrix: direction}, constant_rank=(matrix,))
    p, q = Matrix([1, 2, -1]), Matrix([2, 0, 1])
    dp, dq = Matrix([0, 1, 1]), Matrix([1, -1, 0])

    def pinv(p: Any, q: Any) -> Any:
        return q * p.T / (p.dot(p) * q.dot(q))

    class Rank1(Explicit):
        def of(self, node: Any) -> Any:
            return pinv(p, q) if node == Pinv(matrix) else super().of(node)

    written = Rank1({}, {matrix: p * q.T, direction: dp * q.T + p * dq.T}).of(found)
    step = Symbol("h", real=True)
    value = pinv(p + step * dp, q + step * dq)
    for left, right in zip(written, value, strict=True):
        assert same(left, sympy.diff(right, step).subs(step, 0))


@pytest.mark.parametrize(
    "function",
    [exp(u * v), log(u + v), sin(u) * cos(v), tanh(u * v), erf(u - v), LambertW(u * v), u**v,
     LambertW(u * exp(v)), sqrt(u) / v, exp(-u) * v**3 / (u + v) ** 2],
    ids=str,
)  # fmt: skip
def test_scalar_rules_against_differences(function: Any):
    for by in (u, v):
        found = gradient(function, by)
        call = sympy.lambdify([u, v], function, "mpmath")
        with mpmath.workdps(50):
            at = {u: mpmath.mpf("1.25"), v: mpmath.mpf("0.75")}
            slope = mpmath.diff(lambda t: call(*{**at, by: t}.values()), at[by])  # noqa: B023
            got = sympy.lambdify([u, v], found, "mpmath")(*at.values())
            assert abs(got - slope) < mpmath.mpf(10) ** -18 * (1 + abs(slope))


def test_slope_of_lambert_w_of_an_exponential_has_no_exponential():
    slope = gradient(LambertW(u * exp(v - 3)), v)
    assert slope == LambertW(u * exp(v - 3)) / (1 + LambertW(u * exp(v - 3)))


def test_slope_of_lambert_w_at_zero():
    assert gradient(LambertW(u), u).subs(u, 0) == 1


# ---------------------------------------------------------------- families

P, J, K, M, T = size("P"), index("j"), index("k"), index("m"), index("t")
L, W = vector("l"), vector("w")


def total(body: Any, bound: Any) -> Sum:
    return Sum(body, (bound, 0, P - 1))


def softmax(position: Any) -> Any:
    return exp(L[position]) / total(exp(L[M]), M)


FAMILIES = {
    "log-sum-exp": log(total(exp(L[K]), K)),
    "squared norm": total(L[K] ** 2, K),
    "norm": sqrt(total(L[K] ** 2, K)),
    "weighted softmax": total(W[K] * softmax(K), K),
    "negative log-likelihood": -total(W[K] * log(softmax(K)), K),
    "entropy": -total(softmax(K) * log(softmax(K)), K),
    "sum over pairs": total(total((L[J] - L[K]) ** 2, K), J),
    "mean of powers": total(exp(2 * L[K]) * W[K], K) / P,
}


def written_out(value: Any, axes: tuple[Any, ...], count: int, values: dict[Any, Any]) -> Any:
    """Entries of an indexed expression, by the writer of derivations."""

    def entry(node: Any, place: dict[Any, int]) -> Any:
        if isinstance(node, Sum):
            *inner, (bound, _, _) = node.args[1:]
            body = Sum(node.args[0], *inner) if inner else node.args[0]
            return Add(*(entry(body, {**place, bound: k}) for k in range(count)))
        if isinstance(node, sympy.Indexed):
            return values[node.base][place[node.indices[0]]]
        if isinstance(node, sympy.KroneckerDelta):
            return sympy.Integer(place[node.args[0]] == place[node.args[1]])
        if not node.args:
            return sympy.Integer(count) if node == P else node
        return node.func(*(entry(part, place) for part in node.args))

    return [entry(value, {axes[0]: k}) for k in range(count)] if axes else entry(value, {})


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", FAMILIES)
def test_gradient_by_a_family(name: str, count: int):
    function = FAMILIES[name]
    free = symbols(f"e0:{count}", real=True)
    point = [Rational(3, 10), Rational(-7, 10), Rational(1, 2)][:count]
    weights = [Rational(1, 5), Rational(2), Rational(-1, 3)][:count]
    found = gradient(function, L, index=T, size=P)
    got = written_out(found, (T,), count, {L: point, W: weights})
    value = written_out(function, (), count, {L: free, W: weights})
    for symbol, left in zip(free, got, strict=True):
        slope = sympy.diff(value, symbol).subs(dict(zip(free, point, strict=True)))
        assert same(sympy.sympify(left), slope)


def test_softmax_keeps_its_form():
    direction, other = vector("dl"), index("m'")
    found = differential(softmax(J), {L: direction})
    spread = total(softmax(other) * direction[other], other)
    assert found == softmax(J) * (direction[J] - spread)
    assert gradient(log(total(exp(L[M]), M)), L, index=J, size=P) == softmax(J)


def test_extended_and_skipped_entries_move_along():
    direction, anchor = vector("dl"), index("anchor")
    assert differential(Extended(L, anchor, J), {L: direction}) == Extended(direction, anchor, J)
    assert differential(L[Skip(J, anchor)], {L: direction}) == direction[Skip(J, anchor)]


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: gradient(Trace(Pinv(A)), A), RankChangeError, "jumps.*pinv"),
        (lambda: gradient(Determinant(A), A), RankChangeError, "invertible.*Determinant"),
        (lambda: gradient(Abs(Trace(A)), A), MissingRuleError, r"Abs: Abs\(Trace\(A\)\)"),
        (lambda: gradient(sympy.gamma(u), u), MissingRuleError, "gamma"),
        (lambda: gradient(sympy.Function("mystery")(u), u), MissingRuleError, "mystery"),
        (lambda: differential(A ** Rational(1, 2), {A: B}), MissingRuleError, "powers"),
        (lambda: gradient(A * B, A), CalculusError, "of a scalar"),
        (lambda: gradient(Trace(A), A.T), CalculusError, "expected a symbol"),
        (lambda: gradient(x[0, 0], x), MissingRuleError, "numbered sizes"),
        (lambda: gradient(total(L[K], K), L), CalculusError, "index and its size"),
        (lambda: gradient(L[K], L, index=K, size=P), CalculusError, "taken"),
        (
            lambda: gradient(Sum(L[K], (K, 0, P - 2)), L, index=J, size=P),
            MissingRuleError,
            "does not run over the whole",
        ),
        (
            lambda: gradient(L[Skip(K, M)], L, index=J, size=P),
            MissingRuleError,
            "neither shifted nor skipped",
        ),
    ],
)
def test_what_has_no_derivative_is_refused(call: Any, error: type[Exception], said: str):
    with pytest.raises(error, match=said):
        call()


def test_constants_need_no_rule():
    assert gradient(Abs(u) + Trace(A), A) == Identity(n)
    assert differential(Pinv(B) * A, {A: S}) == Pinv(B) * S


def test_a_wrong_rule_would_be_seen():
    """Numerator layout, the transpose of ours, fails the first test where it differs."""
    sizes = SIZES[0]
    values = setting(Trace(A * B), sizes, 1)
    wrong = Explicit(sizes, values).of(gradient(Trace(A * B), A).T)
    _, entry, _ = moved(A, values)
    value = Explicit(sizes, {**values, A: entry}).of(Trace(A * B))
    slopes = entry.applyfunc(lambda e: sympy.diff(value, e))
    assert wrong.T == slopes != wrong


# ---------------------------------------------------------------- a ban over the tree

# Steps of a derivation may show a `Derivative`; nothing may compute one by SymPy.
_BANNED = {"diff", "jacobian", "hessian", "derive_by_array", "array_derive", "matrix_derivative"}


def test_no_derivation_uses_the_matrix_derivatives_of_sympy():
    for folder in ("derive", "numeric", "proofs", "benchmarks", "experiments"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            sympys = {
                alias.asname or alias.name
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sympy")
                for alias in node.names
            }
            for node in ast.walk(tree):
                if not isinstance(node, ast.Call):
                    continue
                if isinstance(node.func, ast.Attribute):
                    home = getattr(node.func.value, "id", "")
                    named = node.func.attr if home not in ("np", "numpy", "xp", "kernels") else ""
                else:
                    named = getattr(node.func, "id", "")
                    named = named if named in sympys else ""
                assert named not in _BANNED, f"{path.name}:{node.lineno} calls {named}"


def test_sympy_is_wrong_where_we_say_so():
    """The reason for rules of our own; where this changes, the reason may go."""
    assert (log(Determinant(A)).diff(A)).is_ZeroMatrix
