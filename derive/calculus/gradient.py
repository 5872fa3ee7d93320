r"""Gradients: the matrix G of the argument's shape with :math:`df = \langle G, dX \rangle`.

The differential is linear in the direction. Each linear node is carried to the other side of the
inner product: :math:`\mathrm{tr}(P\,dX\,Q) = \langle P^\top Q^\top, dX \rangle`.
"""

from __future__ import annotations

from typing import Any

from sympy import (
    Add,
    Basic,
    HadamardProduct,
    Identity,
    ImmutableDenseMatrix,
    Indexed,
    IndexedBase,
    Integer,
    KroneckerDelta,
    MatAdd,
    MatMul,
    MatrixExpr,
    MatrixSymbol,
    Mul,
    Sum,
    Symbol,
    Trace,
    Transpose,
    ZeroMatrix,
)
from sympy.matrices.expressions.matexpr import MatrixElement

from derive.calculus.differential import changes, differential
from derive.calculus.errors import CalculusError, MissingRuleError


def gradient(
    function: Basic,
    by: Basic,
    *,
    index: Symbol | None = None,
    size: Basic | None = None,
    constant_rank: tuple[Basic, ...] = (),
) -> Any:
    """The gradient of a scalar function, in the shape of what it is taken by.

    Args:
        function: a scalar, or a 1x1 matrix expression.
        by: a matrix symbol, a scalar symbol, or an indexed family with one index.
        index: for a family, the index of the gradient's entries; it must not occur in `function`.
        size: for a family, the number of its entries.
        constant_rank: as for `differential`.

    Returns:
        a matrix expression of the shape of `by`; for a family, the entry at `index`.

    Raises:
        MissingRuleError: a node has no rule.
        RankChangeError: as for `differential`.
        CalculusError: `function` is no scalar, `by` can't be differentiated by, or an index is
            taken twice.

    Source: Magnus and Neudecker, Matrix Differential Calculus (2019), chapter 9.

    Example:
        >>> from sympy import Determinant, log
        >>> A = MatrixSymbol("A", 3, 3)
        >>> gradient(log(Determinant(A)), A)
        A.T**(-1)
    """
    if isinstance(function, MatrixExpr):
        if function.shape != (1, 1):
            raise CalculusError(f"a gradient is of a scalar, not of {function.shape}", function)
        function = Trace(function)
    if isinstance(by, IndexedBase):
        return _family_gradient(function, by, index, size, constant_rank)
    if isinstance(by, MatrixSymbol):
        direction = MatrixSymbol(f"d{by.name}", *by.shape)
        change = differential(function, {by: direction}, constant_rank=constant_rank)
        return _Transposed(direction).scalar(change, Integer(1))
    if isinstance(by, Symbol):
        direction = Symbol(f"d{by.name}")
        change = differential(function, {by: direction}, constant_rank=constant_rank)
        return change.subs(direction, 1)
    raise CalculusError("expected a symbol, a matrix symbol or an indexed family", by)


class _Transposed:
    """Carries linear nodes from the direction to the other side of the inner product."""

    def __init__(self, direction: MatrixSymbol) -> None:
        self.direction = {direction: direction}
        self.zero = ZeroMatrix(*direction.shape)

    def scalar(self, node: Any, weight: Any) -> Any:
        """G with weight*node = <G, direction>."""
        if not changes(node, self.direction):
            return self.zero
        if isinstance(node, Add):
            return self._sum(self.scalar(term, weight) for term in node.args)
        if isinstance(node, Mul):
            moving, others = self._split(node)
            return self.scalar(moving, weight * Mul(*others))
        if isinstance(node, Trace):
            return self.matrix(node.arg, weight * Identity(node.arg.shape[0]))
        if isinstance(node, MatrixElement):
            return self._entry(node, weight)
        raise MissingRuleError(f"no rule transposes {type(node).__name__}", node)

    def _entry(self, node: MatrixElement, weight: Any) -> Any:
        matrix, row, column = node.args
        if not all(size.is_Integer for size in (*matrix.shape, row, column)):
            raise MissingRuleError("an entry has a gradient at numbered sizes only", node)
        cotangent = ImmutableDenseMatrix.zeros(*matrix.shape).as_mutable()
        cotangent[row, column] = weight
        return self.matrix(matrix, ImmutableDenseMatrix(cotangent))

    def matrix(self, node: Any, cotangent: Any) -> Any:
        """G with <cotangent, node> = <G, direction>."""
        if node in self.direction:
            return cotangent
        if not changes(node, self.direction):
            return self.zero
        if isinstance(node, MatAdd):
            return self._sum(self.matrix(term, cotangent) for term in node.args)
        if isinstance(node, Transpose):
            return self.matrix(node.arg, cotangent.T)
        if isinstance(node, HadamardProduct):
            moving, others = self._split(node)
            return self.matrix(moving, HadamardProduct(*others, cotangent))
        if isinstance(node, MatMul):
            factors = list(node.args)
            place = factors.index(self._split(node)[0])
            moving, left, right = factors[place], factors[:place], factors[place + 1 :]
            if not isinstance(moving, MatrixExpr):
                return self.scalar(moving, Trace(cotangent.T * MatMul(*left, *right)))
            scalars = [f for f in left if not isinstance(f, MatrixExpr)]
            before = [f.T for f in reversed(left) if isinstance(f, MatrixExpr)]
            after = [f.T for f in reversed(right)]
            return self.matrix(moving, MatMul(*scalars, *before, cotangent, *after).doit())
        raise MissingRuleError(f"no rule transposes {type(node).__name__}", node)

    def _split(self, node: Any) -> tuple[Any, list[Any]]:
        """The factor that contains the direction, and the others."""
        moving = [factor for factor in node.args if changes(factor, self.direction)]
        if len(moving) != 1:
            raise CalculusError("not linear in the direction", node)
        return moving[0], [factor for factor in node.args if factor is not moving[0]]

    def _sum(self, terms: Any) -> Any:
        return MatAdd(*terms, self.zero).doit(deep=False)


# ---------------------------------------------------------------- indexed families


def _family_gradient(
    function: Basic,
    by: IndexedBase,
    index: Symbol | None,
    size: Basic | None,
    constant_rank: tuple[Basic, ...],
) -> Any:
    if index is None or size is None:
        raise CalculusError("a gradient by a family needs its index and its size", by)
    if function.has(index):
        raise CalculusError(f"the index {index} is taken", function)
    direction = IndexedBase(f"d{by.name}", real=True)
    change = differential(function, {by: direction}, constant_rank=constant_rank)
    return _Contracted(direction, index, size).of(change, Integer(1))


class _Contracted:
    """Reads the coefficient of one entry of a direction, sum by sum."""

    def __init__(self, direction: IndexedBase, index: Symbol, size: Basic) -> None:
        self.direction, self.index, self.size = {direction: direction}, index, size

    def of(self, node: Any, weight: Any) -> Any:
        """The coefficient of the entry at the index in weight*node."""
        if not changes(node, self.direction):
            return Integer(0)
        if isinstance(node, Add):
            return Add(*(self.of(term, weight) for term in node.args))
        if isinstance(node, Mul):
            moving = [factor for factor in node.args if changes(factor, self.direction)]
            if len(moving) != 1:
                raise CalculusError("not linear in the direction", node)
            others = [factor for factor in node.args if factor is not moving[0]]
            return self.of(moving[0], Mul(weight, *others))
        if isinstance(node, Indexed):
            (position,) = node.indices
            if not position.is_Symbol:
                raise MissingRuleError("an index is neither shifted nor skipped here", node)
            return weight * KroneckerDelta(position, self.index)
        if isinstance(node, Sum):
            return self._sum(node, node.args[1:], weight)
        raise MissingRuleError(f"no rule transposes {type(node).__name__}", node)

    def _sum(self, node: Sum, limits: tuple[Any, ...], weight: Any) -> Any:
        """The coefficient in the sum over these indices, the outermost one last."""
        if not limits:
            return self.of(node.args[0], weight)
        bound, low, high = limits[-1]
        if bound in weight.free_symbols:
            raise CalculusError(f"the index {bound} is bound twice; rename one", node)
        found = Integer(0)
        for term in Add.make_args(self._sum(node, limits[:-1], weight)):
            delta = KroneckerDelta(bound, self.index)
            if term.has(delta):
                if low != 0 or high != self.size - 1:
                    raise MissingRuleError("the sum does not run over the whole family", node)
                found += (term / delta).subs(bound, self.index)
            elif bound in term.free_symbols:
                found += Sum(term, limits[-1])
            else:
                found += (high - low + 1) * term
        return found
