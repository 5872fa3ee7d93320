"""Explicit entries of a derivation's results at given sizes.

Matrix symbols become matrices of symbols (``M_1_2``) or the values that are given; sums and
indices run over their ranges. With exact values the result is exact, a pseudo-inverse of any rank
included.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from sympy import (
    Add,
    Basic,
    Expr,
    HadamardProduct,
    Identity,
    ImmutableDenseMatrix,
    ImmutableDenseNDimArray,
    Indexed,
    Integer,
    Inverse,
    MatAdd,
    MatMul,
    MatrixExpr,
    MatrixSymbol,
    Mul,
    Product,
    Sum,
    Symbol,
    Transpose,
    ZeroMatrix,
    sympify,
)
from sympy.tensor.array.arrayop import Flatten

from derive.indices import index_sizes
from derive.notation import Extended, Pinv
from derive.steps import Derivation

Values = Mapping[Basic, Any]


def entries(
    derivation: Derivation, sizes: Mapping[Basic, int], values: Values | None = None
) -> dict[str, Basic]:
    """The results with every size a number.

    Args:
        derivation: what to write out.
        sizes: a positive integer for each size, and an index for each static argument.
        values: for scalar symbols numbers, for matrix symbols and families nested lists of
            numbers; what is left out stays symbolic.

    Returns:
        by output name: a scalar where there is no free index, a column for one, a matrix for two
        and for matrix expressions, an array for more.

    Example:
        >>> from derive.library import find
        >>> from derive.logratio import P
        >>> entries(find("logratio.det_jacobian"), {P: 2})["det"]
        1/(row_1*row_2)
    """
    writer = _Writer(dict(sizes), dict(values or {}))
    kernel = derivation.kernel
    known = index_sizes(kernel, derivation.result) if kernel else {}
    found: dict[str, Basic] = {}
    for name, value in derivation.result.items():
        if isinstance(value, MatrixExpr):
            found[name] = writer.matrix(value)
        else:
            axes = kernel.axes.get(name, ()) if kernel else ()
            lengths = [writer.number(known[axis].size) for axis in axes]
            found[name] = writer.array(value, axes, lengths)
    return found


def scalar_entries(value: Basic) -> list[Basic]:
    """The entries of one such result, row by row."""
    if isinstance(value, ImmutableDenseNDimArray):
        return list(Flatten(value))
    return list(value) if isinstance(value, ImmutableDenseMatrix) else [value]


class _Writer:
    """Writes out expressions with the given sizes and values."""

    def __init__(self, sizes: dict[Basic, int], values: dict[Basic, Any]) -> None:
        self.sizes = {size: Integer(number) for size, number in sizes.items()}
        self.values = values

    def number(self, size: Basic) -> int:
        return int(sympify(size).xreplace(self.sizes))

    def array(self, value: Basic, axes: tuple[Basic, ...], lengths: list[int]) -> Basic:
        flat = [
            self.scalar(value, dict(zip(axes, map(Integer, place), strict=True)))
            for place in product(*map(range, lengths))
        ]
        if not axes:
            return flat[0]
        if len(axes) > 2:
            return ImmutableDenseNDimArray(flat, lengths)
        return ImmutableDenseMatrix(lengths[0], lengths[1] if len(axes) > 1 else 1, flat)

    def scalar(self, value: Basic, place: dict[Basic, Integer]) -> Expr:
        """One entry, with every index a number."""
        if isinstance(value, (Sum, Product)):
            index, low, high = value.args[1].args
            parts = [
                self.scalar(value.args[0], {**place, index: Integer(position)})
                for position in range(self.number(low), self.number(high) + 1)
            ]
            return Add(*parts) if isinstance(value, Sum) else Mul(*parts)
        if isinstance(value, Indexed):
            return self.entry(value, [self.position(index, place) for index in value.indices])
        if isinstance(value, Extended):
            family, anchor, index = value.args
            at, here = self.position(anchor, place), self.position(index, place)
            return Integer(0) if here == at else self.entry(family[index], [here - (here > at)])
        if isinstance(value, Symbol):
            return sympify(self.values.get(value, place.get(value, self.sizes.get(value, value))))
        if not value.args:
            return value  # type: ignore[return-value]
        return value.func(*(self.scalar(part, place) for part in value.args))

    def position(self, index: Basic, place: dict[Basic, Integer]) -> int:
        return int(index.xreplace({**self.sizes, **place}))

    def entry(self, like: Indexed, positions: list[int]) -> Expr:
        """A given entry, or a symbol with what is known of the family's entries."""
        given = self.values.get(like.base)
        if given is not None:
            for position in positions:
                given = given[position]
            return sympify(given)
        facts = {
            fact: True
            for fact in ("real", "positive", "nonnegative", "integer")
            if getattr(like, f"is_{fact}")
        }
        return Symbol("_".join([str(like.base), *(str(p + 1) for p in positions)]), **facts)

    def matrix(self, value: MatrixExpr) -> ImmutableDenseMatrix:
        """A matrix expression entry by entry."""
        if isinstance(value, MatrixSymbol):
            return self.written_out(value)
        if isinstance(value, (Identity, ZeroMatrix)):
            rows, columns = map(self.number, value.shape)
            unit = isinstance(value, Identity)
            return ImmutableDenseMatrix(rows, columns, lambda i, j: int(unit and i == j))
        if isinstance(value, Transpose):
            return self.matrix(value.arg).T
        if isinstance(value, Inverse):
            return self.matrix(value.arg).inv()
        if isinstance(value, Pinv):
            return _pseudo_inverse(self.matrix(value.arg))
        if isinstance(value, HadamardProduct):
            first, *factors = map(self.matrix, value.args)
            for factor in factors:
                first = first.multiply_elementwise(factor)
            return first
        if not isinstance(value, (MatAdd, MatMul)):
            raise TypeError(f"no explicit entries for {type(value).__name__}: {value}")
        total, *parts = [
            self.matrix(part) if isinstance(part, MatrixExpr) else self.scalar(part, {})
            for part in value.args
        ]
        for part in parts:
            total = total + part if isinstance(value, MatAdd) else total * part
        return total

    def written_out(self, symbol: MatrixSymbol) -> ImmutableDenseMatrix:
        rows, columns = map(self.number, symbol.shape)
        given = self.values.get(symbol)
        if given is not None:
            return ImmutableDenseMatrix(rows, columns, list(ImmutableDenseMatrix(given)))
        return ImmutableDenseMatrix(
            rows,
            columns,
            lambda i, j: Symbol(
                f"{symbol.name}_{i + 1}" + ("" if columns == 1 else f"_{j + 1}"), real=True
            ),
        )


def _pseudo_inverse(matrix: ImmutableDenseMatrix) -> ImmutableDenseMatrix:
    """Exact; a matrix of free symbols is taken to have full rank."""
    if not matrix.free_symbols:
        return ImmutableDenseMatrix(matrix.pinv())
    rows, columns = matrix.shape
    if rows <= columns:
        return matrix.T * (matrix * matrix.T).inv()
    return (matrix.T * matrix).inv() * matrix.T
