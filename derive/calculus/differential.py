r"""Differentials: what an expression changes by, to first order, when its symbols change.

The rules are those of Magnus and Neudecker: :math:`d(AB) = dA\,B + A\,dB`,
:math:`d A^{-1} = -A^{-1}\,dA\,A^{-1}`, :math:`d\log\det A = \mathrm{tr}(A^{-1}\,dA)` and so on, one
a node. An expression of a shape has a differential of that shape, linear in the directions, so that
the differential along given directions is the Jacobian-vector product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sympy import (
    Add,
    Basic,
    Determinant,
    Expr,
    HadamardPower,
    HadamardProduct,
    Identity,
    ImmutableDenseMatrix,
    Indexed,
    IndexedBase,
    Integer,
    Inverse,
    LambertW,
    MatAdd,
    MatMul,
    MatPow,
    MatrixExpr,
    MatrixSymbol,
    Mul,
    Pow,
    Sum,
    Symbol,
    Trace,
    Transpose,
    ZeroMatrix,
    cos,
    erf,
    exp,
    log,
    pi,
    sin,
    sqrt,
    tanh,
)
from sympy.matrices.expressions.matexpr import MatrixElement

from derive.calculus.errors import MissingRuleError, RankChangeError
from derive.notation import Extended, Pinv

Directions = Mapping[Basic, Basic]

# Derivatives of functions of one variable, each where the function itself is defined.
_SLOPES: dict[Any, Callable[[Any], Expr]] = {
    exp: exp,
    sin: cos,
    cos: lambda x: -sin(x),
    tanh: lambda x: 1 - tanh(x) ** 2,
    erf: lambda x: 2 * exp(-(x**2)) / sqrt(pi),
    # From w exp(w) = x. Not w/(x (1 + w)), which reads 0/0 at x = 0.
    LambertW: lambda x: exp(-LambertW(x)) / (1 + LambertW(x)),
}


def differential(
    expression: Basic, directions: Directions, *, constant_rank: tuple[Basic, ...] = ()
) -> Any:
    """The change of an expression along directions, to first order: its Jacobian-vector product.

    Args:
        expression: a scalar or a matrix expression; a 1x1 matrix is a matrix.
        directions: for each symbol, matrix symbol or indexed family that changes, the symbol of the
            same kind and shape that says how.
        constant_rank: matrices whose rank does not change nearby; for square ones of a determinant,
            that they are invertible.

    Returns:
        an expression of the same shape, linear in the directions.

    Raises:
        MissingRuleError: there is no rule for a node that changes.
        RankChangeError: a pseudo-inverse of a matrix that changes and is not in `constant_rank`, or
            a determinant of one outside of a logarithm.

    Source: Magnus and Neudecker, Matrix Differential Calculus (2019), chapters 8 and 9; for the
    pseudo-inverse Golub and Pereyra (1973), eq. (4.12).

    Example:
        >>> from sympy import Determinant, MatrixSymbol, log
        >>> A, dA = MatrixSymbol("A", 3, 3), MatrixSymbol("dA", 3, 3)
        >>> differential(log(Determinant(A)), {A: dA})
        Trace(A**(-1)*dA)
    """
    return _Rules(directions, constant_rank).of(expression)


def changes(expression: Basic, symbols: Directions) -> bool:
    """Whether an expression contains one of the symbols."""
    if expression in symbols:
        return True
    return any(changes(part, symbols) for part in expression.args)


class _Rules:
    """The rules, along given directions."""

    def __init__(self, directions: Directions, constant_rank: tuple[Basic, ...]) -> None:
        self.directions, self.constant_rank = directions, constant_rank
        # SymPy's matrix sums and products are subclasses of the scalar ones: they come first.
        self.rules: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
            (MatrixSymbol, lambda node: self.directions[node]),
            (Symbol, lambda node: self.directions[node]),
            ((Indexed, MatrixElement), self._entry),
            (Extended, self._extended),
            ((Add, MatAdd), lambda node: _added(map(self.of, node.args), node)),
            (HadamardProduct, self._product),
            (HadamardPower, self._entrywise_power),
            (MatMul, self._product),
            (Mul, self._scalar_product),
            (Inverse, self._inverse),
            (MatPow, self._matrix_power),
            (Pow, self._power),
            (Transpose, lambda node: self.of(node.arg).T),
            (Trace, lambda node: Trace(self.of(node.arg))),
            (Determinant, self._determinant),
            (Pinv, self._pinv),
            (Sum, lambda node: Sum(self.of(node.args[0]), *node.args[1:])),
            (ImmutableDenseMatrix, lambda node: node.applyfunc(self.of)),
            ((log, *_SLOPES), self._function),
        )

    def of(self, node: Any) -> Any:
        if not changes(node, self.directions):
            return ZeroMatrix(*node.shape) if isinstance(node, MatrixExpr) else Integer(0)
        for kind, rule in self.rules:
            if isinstance(node, kind):
                return rule(node)
        raise MissingRuleError(f"no rule differentiates {type(node).__name__}", node)

    def _entry(self, node: Any) -> Any:
        base, *places = node.args
        if isinstance(base, IndexedBase):
            return self.directions[base][tuple(places)]
        return self.of(base)[tuple(places)]

    def _extended(self, node: Any) -> Any:
        family, anchor, index = node.args
        return Extended(self.directions[family], anchor, index)

    def _product(self, node: Any) -> Any:
        """One factor after another changes; the order stays."""
        factors = list(node.args)
        terms = [
            node.func(*factors[:place], self.of(factor), *factors[place + 1 :]).doit(deep=False)
            for place, factor in enumerate(factors)
            if changes(factor, self.directions)
        ]
        return _added(terms, node)

    def _scalar_product(self, node: Mul) -> Any:
        """As any product; what exponentials and powers give stands together, times the product.

        So a quotient like the softmax keeps its form: ds_j = s_j (dx_j - sum_k s_k dx_k).
        """
        moving = [factor for factor in node.args if changes(factor, self.directions)]
        kept = [f for f in moving if isinstance(f, exp) or self._is_plain_power(f)]
        relative = Add(*(self._relative(factor) for factor in kept))
        terms = [node * relative] if kept else []
        for factor in moving:
            if factor not in kept:
                terms.append(Mul(*(f for f in node.args if f is not factor), self.of(factor)))
        return Add(*terms)

    def _is_plain_power(self, node: Any) -> bool:
        return isinstance(node, Pow) and not changes(node.exp, self.directions)

    def _relative(self, node: Any) -> Any:
        """The differential over the value, of an exponential or a power."""
        if isinstance(node, exp):
            return self.of(node.args[0])
        return node.exp * _over(self.of(node.base), node.base)

    def _power(self, node: Pow) -> Any:
        base, exponent = node.args
        if changes(exponent, self.directions):  # base > 0, or the power has no derivative
            return node * self.of(exponent * log(base))
        return exponent * base ** (exponent - 1) * self.of(base)

    def _matrix_power(self, node: MatPow) -> Any:
        base, exponent = node.args
        if isinstance(exponent, Integer) and exponent == -1:
            return self._inverse(node)
        if not isinstance(exponent, Integer) or exponent < 1:
            raise MissingRuleError("only powers 1, 2, 3, ... and -1 of a matrix have a rule", node)
        terms = [
            MatMul(*[base] * before, self.of(base), *[base] * (int(exponent) - 1 - before)).doit()
            for before in range(int(exponent))
        ]
        return _added(terms, node)

    def _entrywise_power(self, node: HadamardPower) -> Any:
        base, exponent = node.args
        if not isinstance(exponent, Integer) or exponent < 1:
            raise MissingRuleError("only powers 1, 2, 3, ... of entries have a rule", node)
        factors = [base] * (int(exponent) - 1)
        return exponent * HadamardProduct(*factors, self.of(base)).doit(deep=False)

    def _inverse(self, node: Any) -> Any:
        return -node * self.of(node.args[0]) * node

    def _determinant(self, node: Determinant) -> Any:
        if node.arg not in self.constant_rank:
            raise RankChangeError(
                "det(A) tr(A^-1 dA) holds where A is invertible; name A in constant_rank, or take"
                " the logarithm",
                node,
            )
        return node * Trace(Inverse(node.arg) * self.of(node.arg))

    def _function(self, node: Any) -> Any:
        (inner,) = node.args
        if isinstance(node, log) and isinstance(inner, Determinant):
            return Trace(Inverse(inner.arg) * self.of(inner.arg))
        if isinstance(node, log):
            return _over(self.of(inner), inner)
        if isinstance(node, LambertW):
            moving = [f for f in Mul.make_args(inner) if changes(f, self.directions)]
            if all(isinstance(factor, exp) for factor in moving):
                # dW = W/(1 + W) dx/x, where x is never 0: no exponential is left that overflows.
                return node / (1 + node) * Add(*map(self._relative, moving))
        return _SLOPES[node.func](inner) * self.of(inner)

    def _pinv(self, node: Pinv) -> Any:
        if node.arg not in self.constant_rank:
            raise RankChangeError(
                "a pseudo-inverse jumps where the rank changes; name its matrix in constant_rank",
                node,
            )
        matrix, change = node.arg, self.of(node.arg)
        rows, columns = matrix.shape
        return (
            -node * change * node
            + node * node.T * change.T * (Identity(rows) - matrix * node)
            + (Identity(columns) - node * matrix) * change.T * node.T * node
        )


def _over(change: Any, base: Any) -> Any:
    """A change over its base; the divisor goes inside of a sum, where it meets its fellows."""
    if not isinstance(change, Sum):
        return change / base
    body, *limits = change.args
    taken = base.atoms(Symbol)
    for place, (bound, low, high) in enumerate(limits):
        fresh = bound
        while fresh in taken:  # the base may bind the same index
            fresh = Symbol(f"{fresh.name}'", **fresh.assumptions0)
        body, limits[place] = body.subs(bound, fresh), (fresh, low, high)
    return Sum(body / base, *limits)


def _added(terms: Any, like: Any) -> Any:
    if isinstance(like, MatrixExpr):
        return MatAdd(*terms, ZeroMatrix(*like.shape)).doit(deep=False)
    return Add(*terms)
