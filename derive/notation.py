"""Symbols of the derivations that SymPy lacks: a pseudo-inverse, indices that skip an anchor.

SymPy rewrites products with an inverse on its own (`Inverse(X*X.T)*X*X.T` becomes the identity,
whatever X is), so the pseudo-inverse is a node of ours about which SymPy knows nothing.
"""

from __future__ import annotations

from sympy import (
    Expr,
    Function,
    Idx,
    IndexedBase,
    Integer,
    MatrixExpr,
    MatrixSymbol,
    Symbol,
    sympify,
)


class Pinv(MatrixExpr):
    """The Moore-Penrose inverse of a matrix of any shape and rank."""

    def __new__(cls, argument: MatrixExpr) -> Pinv:
        return MatrixExpr.__new__(cls, argument)

    @property
    def arg(self) -> MatrixExpr:
        """The matrix that is inverted."""
        return self.args[0]  # type: ignore[return-value]

    @property
    def shape(self) -> tuple[Expr, Expr]:
        """Rows and columns, those of the argument exchanged."""
        rows, columns = self.arg.shape
        return columns, rows

    def _latex(self, printer: object) -> str:
        return rf"{{{printer._print(self.arg)}}}^{{+}}"  # type: ignore[attr-defined]

    def _sympystr(self, printer: object) -> str:
        return f"pinv({printer._print(self.arg)})"  # type: ignore[attr-defined]


class Skip(Function):
    """`Skip(j, i)` is the j-th index of those other than i: j below i, and j + 1 from i on."""

    nargs = 2

    @classmethod
    def eval(cls, position: Expr, anchor: Expr) -> Expr | None:
        """The index itself where both are numbers."""
        if position.is_Integer and anchor.is_Integer:
            return position + Integer(1 if position >= anchor else 0)
        return None

    def _latex(self, printer: object) -> str:
        shown = [printer._print(arg) for arg in self.args]  # type: ignore[attr-defined]
        return rf"{{{shown[0]}}}_{{\neq {shown[1]}}}"


class Extended(Function):
    """`Extended(l, i, j)`: entry j of the vector l with a zero put in at position i."""

    nargs = 3


def index(name: str) -> Symbol:
    """An index that counts from 0."""
    return Symbol(name, integer=True, nonnegative=True)


def size(name: str) -> Symbol:
    """The number of entries along an axis."""
    return Symbol(name, integer=True, positive=True)


def vector(name: str, *, positive: bool = False) -> IndexedBase:
    """A family of real entries with one index."""
    return IndexedBase(name, positive=True) if positive else IndexedBase(name, real=True)


def column(name: str, rows: Expr | int) -> MatrixSymbol:
    """A column of the given length."""
    return MatrixSymbol(name, sympify(rows), 1)


__all__ = ["Extended", "Idx", "Pinv", "Skip", "column", "index", "size", "vector"]
