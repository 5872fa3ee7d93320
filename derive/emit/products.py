"""Source for products of matrices, solutions of systems, inverses, powers, determinants, traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Determinant, Integer, Inverse, MatPow, Trace

from derive.emit.code import COLUMN, PRODUCT, ROW, UNARY, Code
from derive.emit.names import EmitError

if TYPE_CHECKING:
    from derive.emit.lower import Printer

SQUARE = (ROW, COLUMN)


def matrices(printer: Printer, codes: list[Code]) -> Code:
    """A product of matrices, or of a row and matrices."""
    first, *others = codes
    row = first.axes == (COLUMN,)
    first = printer.aligned(first, SQUARE) if row else first
    text = " @ ".join(code.inside(UNARY) for code in (first, *others))
    if row:
        return Code(f"({text})[..., 0, :]", axes=(COLUMN,))
    return Code(text, PRODUCT, SQUARE)


def solved(printer: Printer, inverse: Inverse, right: Code) -> Code:
    """An inverse times something is the solution of a system."""
    matrix = printer.print(inverse.arg).text
    call = f"xp.linalg.solve({matrix}, {printer.aligned(right, SQUARE).text})"
    if right.axes == (ROW,):
        return Code(f"{call}[..., 0]", axes=(ROW,))
    return Code(call, axes=SQUARE)


def inverse(printer: Printer, node: Inverse) -> Code:
    """An inverse that nothing is multiplied with."""
    return Code(f"xp.linalg.inv({printer.print(node.arg).text})", axes=SQUARE)


def matrix_power(printer: Printer, node: MatPow) -> Code:
    """An integer power of a matrix."""
    if not isinstance(node.exp, Integer):
        raise EmitError("only integer powers of a matrix are printed", node)
    text = f"xp.linalg.matrix_power({printer.print(node.base).text}, {node.exp})"
    return Code(text, axes=SQUARE)


def trace(printer: Printer, node: Trace) -> Code:
    """The sum of a diagonal; a matrix of one row and column is a number."""
    matrix = printer.print(node.arg)
    if not matrix.axes:
        return matrix
    return Code(f"xp.sum(xp.linalg.diagonal({matrix.text}), axis=-1)")


def determinant(printer: Printer, node: Determinant) -> Code:
    """A determinant itself, which may overflow where its logarithm does not."""
    return Code(f"xp.linalg.det({printer.print(node.arg).text})")


def log_determinant(printer: Printer, node: Determinant) -> Code:
    """No determinant overflows on the way; where it is negative there is no logarithm."""
    return Code(f"xp.linalg.slogdet({printer.print(node.arg).text})[1]")
