"""A second evaluator, written for these tests only: NumPy tables of Gaussian rationals.

It shares nothing with the evaluator of the project but the model's plain numbers. It knows what a
term means from the language's description alone, goes down the tree recursively, and raises
`NoValue` where a value doesn't exist.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from proofs.evaluate import Complex, Family, Function, Model
from proofs.language.tree import Term, pair
from tests.proofs.checker.arithmetic import UNIT, ZERO, Gauss, conj, eye, gauss, table, times, trace


class NoValue(Exception):
    """The term has no value at this model."""


class NotHere(Exception):
    """An operation that this evaluator leaves out."""


def plain(value: Any) -> np.ndarray:
    """A number or rows of numbers as a table."""
    rows = value if isinstance(value, tuple) else ((value,),)

    def one(e: Any) -> Gauss:
        return Gauss(Fraction(e.re), Fraction(e.im)) if isinstance(e, Complex) else gauss(e)

    return table(len(rows), len(rows[0]), lambda i, j: one(rows[i][j]))


def reciprocal(z: Gauss) -> Gauss:
    size = z.re**2 + z.im**2
    if not size:
        raise NoValue("division by zero")
    return Gauss(z.re / size, -z.im / size)


def echelon(m: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The reduced row echelon form and its pivot columns."""
    m = m.copy()
    rows, cols = m.shape
    pivots: list[int] = []
    for col in range(cols):
        top = len(pivots)
        found = next((r for r in range(top, rows) if m[r, col] != ZERO), None)
        if found is None:
            continue
        m[[top, found]] = m[[found, top]]
        m[top] = m[top] * reciprocal(m[top, col])
        for r in range(rows):
            if r != top and m[r, col] != ZERO:
                m[r] = m[r] + m[top] * -m[r, col]
        pivots.append(col)
    return m, pivots


def inverse(m: np.ndarray) -> np.ndarray:
    size = m.shape[0]
    reduced, pivots = echelon(np.concatenate([m, eye(size)], axis=1))
    if pivots[:size] != list(range(size)):
        raise NoValue("a singular matrix")
    return reduced[:, size:]


def pseudo_inverse(m: np.ndarray) -> np.ndarray:
    """From a factorization m = F*G of full rank."""
    reduced, pivots = echelon(m)
    if not pivots:
        return table(m.shape[1], m.shape[0], lambda _i, _j: ZERO)
    left, right = m[:, pivots], reduced[: len(pivots)]
    core = conj(left).T.dot(m).dot(conj(right).T)
    return conj(right).T.dot(inverse(core)).dot(conj(left).T)


def determinant(m: np.ndarray) -> Gauss:
    """Leibniz' sum."""
    size, total = m.shape[0], ZERO
    for order in permutations(range(size)):
        turns = sum(order[i] > order[j] for i in range(size) for j in range(i + 1, size))
        product = gauss(-1 if turns % 2 else 1)
        for i, j in enumerate(order):
            product = product * m[i, j]
        total = total + product
    return total


def adjugate(m: np.ndarray) -> np.ndarray:
    size = m.shape[0]

    def cofactor(i: int, j: int) -> Gauss:
        minor = np.delete(np.delete(m, j, axis=0), i, axis=1)
        value = determinant(minor) if size > 1 else UNIT
        return -value if (i + j) % 2 else value

    return table(size, size, cofactor)


def whole(z: Gauss) -> int:
    if z.im or z.re.denominator != 1:
        raise NotHere("an index that is no integer")
    return int(z.re)


class Dense:
    """Values of terms at one model."""

    def __init__(self, model: Model) -> None:
        self.values: Any = model.values

    def __call__(self, node: Term, env: tuple[np.ndarray, ...] = ()) -> np.ndarray:
        """The value of a term whose bound variables are those of `env`, innermost first."""
        op, args = node.op, node.args
        if op == "name":
            return plain(self.values[node.data])
        if op == "rational":
            return plain(Fraction(str(node.data)))
        if op == "constant" and node.data == "i":
            return np.array([[Gauss(Fraction(0), Fraction(1))]], dtype=object)
        if op == "bound":
            return env[node.data]  # type: ignore[index]
        if op in ("sum", "prod"):
            return self.folded(node, env)
        if op == "comprehension":
            count = self.number(args[0], env)
            return np.concatenate([self(args[1], (plain(k), *env)) for k in range(1, count + 1)])
        if op == "apply":
            return self.applied(self.values[args[0].data], self(args[1], env))
        if op == "member":
            family = self.values[args[0].data]
            assert isinstance(family, Family)
            return plain(family.members[tuple(self.number(a, env) for a in args[1:])])
        method = OPERATIONS.get(op)
        if method is None:
            raise NotHere(op)
        return method(node, *(self(a, env) for a in args))

    def number(self, node: Term, env: tuple[np.ndarray, ...]) -> int:
        return whole(self(node, env)[0, 0])

    def folded(self, node: Term, env: tuple[np.ndarray, ...]) -> np.ndarray:
        low, high = (self.number(a, env) for a in node.args[:2])
        parts = [self(node.args[2], (plain(k), *env)) for k in range(low, high + 1)]
        if not parts:
            raise NotHere("an empty range")
        total = parts[0]
        for part in parts[1:]:
            total = total + part if node.op == "sum" else times(total, part)
        return total

    def applied(self, function: Any, x: np.ndarray) -> np.ndarray:
        assert isinstance(function, Function)
        step = x + plain(-function.center)
        power, total = plain(1), None
        for c in function.coefficients:
            part = times(power, plain(c))
            total = part if total is None else total + part
            power = times(power, step)
        assert total is not None
        return total


def _power(node: Term, base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    count = whole(exponent[0, 0])
    if count < 0:
        base, count = inverse(base), -count
    total = eye(base.shape[0])
    for _ in range(count):
        total = total.dot(base)
    return total


def _block(node: Term, *parts: np.ndarray) -> np.ndarray:
    rows, cols = pair(node)
    return np.concatenate(
        [np.concatenate(parts[r * cols : (r + 1) * cols], axis=1) for r in range(rows)]
    )


def _entry(node: Term, m: np.ndarray, row: np.ndarray, *col: np.ndarray) -> np.ndarray:
    i, j = whole(row[0, 0]), whole(col[0][0, 0]) if col else 1
    if not (1 <= i <= m.shape[0] and 1 <= j <= m.shape[1]):
        raise NoValue("out of range")
    return m[i - 1 : i, j - 1 : j]


def _kron(node: Term, x: Any, y: Any) -> np.ndarray:
    p, q = y.shape

    def one(i: int, j: int) -> Gauss:
        return x[i // p, j // q] * y[i % p, j % q]

    return table(x.shape[0] * p, x.shape[1] * q, one)


def _sized(x: np.ndarray) -> int:
    return whole(x[0, 0])


def _scalar(z: Gauss) -> np.ndarray:
    return np.array([[z]], dtype=object)


def _real_part(x: np.ndarray) -> list[Fraction]:
    if any(e.im for e in x.ravel()):
        raise NotHere("an order of complex numbers")
    return [e.re for e in x.ravel()]


OPERATIONS: dict[str, Any] = {
    "add": lambda _, x, y: x + y,
    "sub": lambda _, x, y: x + -y,
    "neg": lambda _, x: -x,
    "mul": lambda _, x, y: times(x, y),
    "div": lambda _, x, y: times(x, _scalar(reciprocal(y[0, 0]))),
    "pow": _power,
    "eye": lambda _, n: eye(_sized(n)),
    "zeros": lambda _, n, k: table(_sized(n), _sized(k), lambda i, j: ZERO),
    "ones": lambda _, n, k: table(_sized(n), _sized(k), lambda i, j: UNIT),
    "unit": lambda _, n, j: eye(_sized(n))[:, _sized(j) - 1 : _sized(j)],
    "transpose": lambda _, x: x.T,
    "adjoint": lambda _, x: conj(x).T,
    "conj": lambda _, x: conj(x),
    "inv": lambda _, x: inverse(x),
    "pinv": lambda _, x: pseudo_inverse(x),
    "det": lambda _, x: _scalar(determinant(x)),
    "tr": lambda _, x: _scalar(trace(x)),
    "rank": lambda _, x: _scalar(gauss(len(echelon(x)[1]))),
    "adj": lambda _, x: adjugate(x),
    "diag": lambda _, x: table(x.shape[0], x.shape[0], lambda i, j: x[i, 0] if i == j else ZERO),
    "vec": lambda _, x: np.concatenate([x[:, j : j + 1] for j in range(x.shape[1])]),
    "block": _block,
    "inner": lambda _, x, y: x.T.dot(y),
    "norm2": lambda _, x: _scalar(trace(conj(x).T.dot(x))),
    "kron": _kron,
    "hadamard": lambda _, x, y: x * y,
    "entry": _entry,
    "max": lambda _, *xs: _scalar(gauss(max(v for x in xs for v in _real_part(x)))),
    "min": lambda _, *xs: _scalar(gauss(min(v for x in xs for v in _real_part(x)))),
    "abs": lambda _, x: _scalar(gauss(abs(_real_part(x)[0]))),
}
