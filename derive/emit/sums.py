"""Source for sums and largest entries over an index: reductions, matrix products, dot products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sympy import Basic, Indexed, Mul, Pow

from derive.emit.code import PRODUCT, UNARY, Code, transposed
from derive.emit.names import EmitError
from derive.emit.tree import canonical

if TYPE_CHECKING:
    from derive.emit.lower import Printer


def _reduced(printer: Printer, body: Basic, index: Basic, name: str) -> Code:
    code = printer.print(body)
    if index not in code.axes:
        raise EmitError("the summand does not depend on its index", body)
    rest = tuple(axis for axis in code.axes if axis != index)
    place = code.axes.index(index) - len(code.axes)
    return Code(f"{name}({code.text}, axis={place})", axes=rest)


def largest(printer: Printer, node: Basic) -> Code:
    """The largest value over an index."""
    return _reduced(printer, node.args[0], node.args[1], "xp.max")


def total(printer: Printer, node: Basic) -> Code:
    """A sum over an index: a product of arrays where it is one, else a reduction."""
    if len(node.args) != 2:
        raise EmitError("only single sums are printed; nest them", node)
    body, index = node.args[0], node.args[1].args[0]
    return _contraction(printer, body, index) or _reduced(printer, body, index, "xp.sum")


def _contraction(printer: Printer, body: Basic, index: Basic) -> Code | None:
    """A sum of products over an axis that two arrays share: a matrix product, dot products.

    Axes that both carry besides are a batch, the first axes of each.
    """
    if isinstance(body, Pow) and body.exp == 2 and isinstance(body.base, Indexed):
        factors: list[Basic] = [body.base, body.base]
    else:
        factors = _two_factors(printer, body) if isinstance(body, Mul) else []
    codes = [printer.print(factor) for factor in factors]
    if len(codes) != 2 or any(index not in code.axes for code in codes):
        return None
    common = printer.common_axes(codes)
    codes.sort(key=lambda code: -len(code.axes))  # as one writes a matrix and a vector
    if codes[0].axes == common and common[-1] == index:
        printer.need("numeric.namespace", "dot_products")
        given = ", ".join(printer.aligned(code, common).text for code in codes)
        return Code(f"dot_products(xp, {given})", axes=common[:-1])
    shared = tuple(a for a in codes[0].axes if a in codes[1].axes and a != index)
    free = [[a for a in code.axes if a not in (*shared, index)] for code in codes]
    if any(code.axes[: len(shared)] != shared for code in codes):
        return None
    if list(map(len, free)) == [1, 0]:  # a vector times a matrix, whose rows are added up
        matrix, vector = codes
        (axis,) = free[0]
        first = printer.aligned(vector, (*shared, axis, index)).inside(UNARY)
        return Code(f"({first} @ {matrix.inside(UNARY)})[..., 0, :]", axes=(*shared, axis))
    if list(map(len, free)) != [1, 1]:
        return None
    (left, left_free), (right, right_free) = sorted(
        zip(codes, free, strict=True), key=lambda pair: printer.order.index(pair[1][0])
    )
    first = left if left.axes[-1] == index else transposed(left)
    second = right if right.axes[-1] != index else transposed(right)
    text = f"{first.inside(UNARY)} @ {second.inside(UNARY)}"
    return Code(text, PRODUCT, (*shared, left_free[0], right_free[0]))


def _two_factors(printer: Printer, product: Mul) -> list[Basic]:
    """The factors; beyond two, one whose axes another carries is multiplied into it first."""
    factors = sorted(product.args, key=canonical)
    carried = {factor: set(printer.print(factor).axes) for factor in factors}
    while len(factors) > 2:
        within = [
            (factor, other)
            for factor in factors
            for other in factors
            if factor is not other and carried[factor] <= carried[other]
        ]
        if not within:
            break
        factor, other = min(within, key=lambda pair: len(carried[pair[1]]))
        merged = factor * other
        carried[merged] = carried[other]
        factors = [merged, *(f for f in factors if f not in (factor, other))]
    return factors
