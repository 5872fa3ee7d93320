"""Prints a chosen expression as array source, with the axes that each piece carries.

Batch axes come first and are never named. After them a piece of source carries named axes: the
free indices of an indexed expression, or ROW and COLUMN of a matrix. Two pieces meet by putting
`None` where one lacks an axis of the other, as far inside as it goes. What has no rule here is
refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sympy import (
    Abs,
    Add,
    And,
    Basic,
    Determinant,
    HadamardProduct,
    I,
    ImmutableDenseMatrix,
    Indexed,
    Integer,
    Inverse,
    KroneckerDelta,
    MatAdd,
    MatMul,
    MatPow,
    MatrixSymbol,
    Mul,
    Number,
    Or,
    Piecewise,
    Pow,
    Rational,
    Sum,
    Symbol,
    Trace,
    Transpose,
    atan,
    cos,
    cosh,
    exp,
    log,
    nan,
    oo,
    pi,
    sin,
    sinh,
    tan,
    tanh,
    zoo,
)
from sympy.core.relational import Relational
from sympy.logic.boolalg import BooleanTrue
from sympy.matrices.expressions.matexpr import MatrixExpr

from derive.emit import products, sums
from derive.emit.code import (
    ATOM,
    COLUMN,
    COMPARE,
    POWER,
    PRODUCT,
    ROW,
    SUM,
    UNARY,
    Axes,
    Code,
    array_code,
    transposed,
    trimmed,
)
from derive.emit.names import EmitError, checked_name
from derive.emit.nodes import (
    AtLargest,
    Call,
    FamilyCall,
    InsertZero,
    MaxOver,
    SumOfOthers,
    Where,
)
from derive.emit.tree import canonical, is_negative, reading_order
from derive.notation import Skip

# Functions that every namespace has under SymPy's own name, in lower case.
_NAMED = (exp, Abs, log, sin, cos, tan, atan, sinh, cosh, tanh)
_SYMBOLS = {
    "StrictGreaterThan": ">",
    "GreaterThan": ">=",
    "StrictLessThan": "<",
    "LessThan": "<=",
    "Equality": "==",
    "Unequality": "!=",
}


def _one_root(product: Mul) -> Mul:
    """The product with the roots of plain numbers, such as sqrt(2)/sqrt(pi), in one."""
    roots = [f for f in product.args if f.is_Pow and f.is_number and abs(f.exp) == Rational(1, 2)]
    if len(roots) < 2:
        return product
    inside = Mul(*(f.base if f.exp > 0 else 1 / f.base for f in roots))
    rest = [f for f in product.args if f not in roots]
    return Mul(*rest, Pow(inside, Rational(1, 2), evaluate=False), evaluate=False)


class Printer:
    """Prints expressions whose arguments and temporaries are known by name.

    Args:
        order: the index symbols, in the order in which arrays carry them.
        need: called with (home, name) for each import that a printed call needs.
        index_size: the text of an index's number of values.
        axis_size: the text of a size, by its symbol.
    """

    def __init__(
        self,
        order: Axes,
        need: Callable[[str, str], object],
        index_size: Callable[[Basic], str],
        axis_size: Mapping[Basic, str],
    ) -> None:
        self.order = (*order, ROW, COLUMN)
        self.need = need
        self.index_size = index_size
        self.axis_size = axis_size
        self.known: dict[str, bool] = {}  # name -> is it a plain Python number
        # SymPy's matrix sums and products are subclasses of the scalar ones: they come first.
        self.rules: tuple[tuple[Any, Callable[[Any], Code]], ...] = (
            (Number, self._number),
            (type(pi), self._pi),
            (Symbol, self._symbol),
            (Indexed, self._indexed),
            (MatMul, self._matmul),
            (HadamardProduct, self._hadamard),
            ((Add, MatAdd), self._add),
            (Mul, self._mul),
            (Pow, self._pow),
            (_NAMED, self._function),
            (Where, self._where),
            (Piecewise, self._piecewise),
            (Relational, self._relation),
            ((And, Or), self._logic),
            (KroneckerDelta, self._delta),
            (Sum, partial(sums.total, self)),
            (MaxOver, partial(sums.largest, self)),
            (InsertZero, self._insert),
            (SumOfOthers, self._others),
            (AtLargest, self._at_largest),
            (FamilyCall, self._family_call),
            (MatrixSymbol, self._matrix),
            (ImmutableDenseMatrix, self._explicit),
            (Transpose, self._transpose),
            (Inverse, partial(products.inverse, self)),
            (MatPow, partial(products.matrix_power, self)),
            (Trace, partial(products.trace, self)),
            (Determinant, partial(products.determinant, self)),
            (Call, self._node),
        )

    def print(self, expression: Basic) -> Code:
        """The source of an expression.

        Raises:
            EmitError: no rule prints a subexpression, which is named.
        """
        if expression in (nan, zoo) or expression.has(nan, zoo):
            raise EmitError("the expression is undefined here (nan or zoo)", expression)
        for kind, rule in self.rules:
            if isinstance(expression, kind):
                return rule(expression)
        if expression is I:
            raise EmitError("no kernel computes with complex numbers", expression)
        raise EmitError(f"no rule prints {type(expression).__name__}", expression)

    # ------------------------------------------------------------ axes

    def aligned(self, code: Code, axes: Axes) -> Code:
        """The same values with exactly these axes, missing ones of length 1."""
        if code.number or code.axes == axes:
            return code
        kept = tuple(axis for axis in axes if axis in code.axes)
        if kept != code.axes:
            exchanged = (*code.axes[:-2], *code.axes[-2:][::-1])
            if kept != exchanged:
                raise EmitError(f"can't order the axes {code.axes} of {code.text!r} as {axes}")
            return self.aligned(transposed(code), axes)
        if code.spread is not None:
            return code.spread(axes)
        places = trimmed([":" if axis in code.axes else "None" for axis in axes])
        return Code(f"{code.inside(ATOM)}[..., {', '.join(places)}]", axes=axes)

    def common_axes(self, codes: Sequence[Code]) -> Axes:
        """All axes that the pieces carry, in order."""
        present = {axis for code in codes for axis in code.axes}
        return tuple(axis for axis in self.order if axis in present)

    def _entrywise(
        self, strength: int, codes: Sequence[Code], write: Callable[[list[Code]], str]
    ) -> Code:
        """A piece that is computed entry by entry from pieces with common axes."""
        number = all(code.number for code in codes)

        def spread(axes: Axes) -> Code:
            text = write([self.aligned(code, axes) for code in codes])
            return Code(text, strength, axes, number, spread)

        return spread(self.common_axes(codes))

    # ------------------------------------------------------------ scalars

    def _number(self, value: Number) -> Code:
        if value is oo:
            return Code("xp.inf", number=True)
        if isinstance(value, Integer):
            return Code(str(value), ATOM if value >= 0 else UNARY, number=True)
        if isinstance(value, Rational):
            return Code(f"{value.p} / {value.q}", PRODUCT, number=True)
        raise EmitError("only exact numbers are printed, never a decimal", value)

    def _name(self, symbol: Any) -> str:
        name = checked_name(str(symbol.name))
        if name not in self.known:
            raise EmitError("not an argument of the kernel", symbol)
        return name

    def _symbol(self, symbol: Symbol) -> Code:
        if symbol in self.axis_size and str(symbol.name) not in self.known:
            text = self.axis_size[symbol]
            return Code(text, SUM if " " in text else ATOM, number=True)
        name = self._name(symbol)
        return array_code(name, [], ()) if not self.known[name] else Code(name, number=True)

    def _add(self, total: Basic) -> Code:
        terms = sorted(total.args, key=reading_order)
        signs = [is_negative(term) for term in terms]
        codes = [
            self.print(-term if negative else term)
            for term, negative in zip(terms, signs, strict=True)
        ]

        def write(parts: list[Code]) -> str:
            text = "-" * signs[0] + parts[0].inside(PRODUCT if signs[0] else SUM)
            for negative, part in zip(signs[1:], parts[1:], strict=True):
                text += f" {'-' if negative else '+'} {part.inside(PRODUCT)}"
            return text

        return self._entrywise(SUM, codes, write)

    def _mul(self, product: Mul) -> Code:
        if is_negative(product):
            return self._entrywise(
                UNARY, [self.print(-product)], lambda parts: f"-{parts[0].inside(PRODUCT)}"
            )
        masks = [factor for factor in product.args if isinstance(factor, KroneckerDelta)]
        if masks:
            return self._masked(masks, Mul(*(f for f in product.args if f not in masks)))
        above: list[Basic] = []
        below: list[Basic] = []
        product = _one_root(product)
        for factor in sorted(product.args, key=lambda f: (not f.is_Number, canonical(f))):
            if isinstance(factor, Rational) and not isinstance(factor, Integer):
                above += [Integer(factor.p)] if factor.p != 1 else []
                below.append(Integer(factor.q))
            elif isinstance(factor, Pow) and is_negative(factor.exp):
                below.append(Pow(factor.base, -factor.exp))
            else:
                above.append(factor)
        return self._quotient(above, below)

    def _quotient(self, above: list[Basic], below: list[Basic]) -> Code:
        def write(parts: list[Code]) -> str:
            text = (
                " * ".join(
                    part.inside(PRODUCT if place == 0 else UNARY)
                    for place, part in enumerate(parts[: len(above)])
                )
                or "1"
            )
            return text + "".join(f" / {part.inside(UNARY)}" for part in parts[len(above) :])

        return self._entrywise(PRODUCT, [self.print(part) for part in above + below], write)

    def _pow(self, power: Pow) -> Code:
        if is_negative(power.exp):
            return self._quotient([], [Pow(power.base, -power.exp)])
        code = [self.print(power.base)]
        if power.exp == Rational(1, 2):
            if code[0].number:  # a Python number, which takes on the type of what it meets
                return Code(f"{code[0].inside(ATOM)}**(1 / 2)", POWER, number=True)
            return self._entrywise(ATOM, code, lambda parts: f"xp.sqrt({parts[0].text})")
        if isinstance(power.exp, Integer):
            return self._entrywise(
                POWER, code, lambda parts: f"{parts[0].inside(ATOM)}**{power.exp}"
            )
        raise EmitError("only integer powers and square roots are printed", power)

    def _pi(self, _: Basic) -> Code:
        return Code("xp.pi", number=True)

    def _function(self, node: Any) -> Code:
        if isinstance(node, log) and isinstance(node.args[0], Determinant):
            return products.log_determinant(self, node.args[0])
        name = type(node).__name__.lower()
        return self._entrywise(
            ATOM, [self.print(node.args[0])], lambda parts: f"xp.{name}({parts[0].text})"
        )

    def _node(self, node: Any) -> Code:
        if node.home is not None:
            self.need(node.home, node.call)
        codes = [self.print(argument) for argument in node.args]

        def write(parts: list[Code]) -> str:
            given = ["xp"] * node.takes_xp + [part.text for part in parts]
            return f"{node.call}({', '.join(given + ['rank_tol'] * node.takes_rank_tol)})"

        if isinstance(node, MatrixExpr):
            return Code(write(codes), axes=(ROW, COLUMN))
        if node.plain_number:
            return Code(write(codes), number=True)
        return self._entrywise(ATOM, codes, write)

    # ------------------------------------------------------------ choices

    def _where(self, node: Basic) -> Code:
        return self._choose(*map(self.print, node.args))

    def _piecewise(self, node: Basic) -> Code:
        pieces = [(pair.args[0], pair.args[1]) for pair in node.args]
        if not isinstance(pieces[-1][1], BooleanTrue):
            raise EmitError("the last piece must hold everywhere else", node)
        code = self.print(pieces[-1][0])
        for value, condition in reversed(pieces[:-1]):
            code = self._choose(self.print(condition), self.print(value), code)
        return code

    def _choose(self, condition: Code, chosen: Code, otherwise: Code) -> Code:
        return self._entrywise(
            ATOM,
            [condition, chosen, otherwise],
            lambda parts: f"xp.where({', '.join(part.text for part in parts)})",
        )

    def _compared(self, left: Basic, sign: str, right: Basic) -> Code:
        return self._entrywise(
            COMPARE,
            [self.print(left), self.print(right)],
            lambda parts: f"{parts[0].inside(SUM)} {sign} {parts[1].inside(SUM)}",
        )

    def _relation(self, relation: Basic) -> Code:
        sign = _SYMBOLS.get(type(relation).__name__)
        if sign is None:
            raise EmitError("no rule prints this relation", relation)
        left, right = relation.args
        if all(side in self.order for side in (left, right)):
            return self._delta(KroneckerDelta(left, right))
        return self._compared(left, sign, right)

    def _logic(self, node: Basic) -> Code:
        sign = " & " if isinstance(node, And) else " | "
        codes = [self.print(arg) for arg in sorted(node.args, key=canonical)]
        return self._entrywise(
            COMPARE, codes, lambda parts: sign.join(part.inside(SUM) for part in parts)
        )

    def _delta(self, delta: Basic) -> Code:
        """A mask of booleans: equal indices, or equal labels."""
        left, right = delta.args
        if left in self.order and right in self.order:
            axes = tuple(axis for axis in self.order if axis in (left, right))
            self.need("numeric.namespace", "diagonal_mask")
            size = self.index_size(left)  # begins with the name of an array
            return Code(f"diagonal_mask(xp, {size}, {size.partition('.')[0]})", axes=axes)
        first, second = sorted((left, right), key=self._rank)
        return self._compared(first, "==", second)

    def _rank(self, expression: Basic) -> int:
        return min(
            (
                self.order.index(symbol)
                for symbol in expression.free_symbols
                if symbol in self.order
            ),
            default=len(self.order),
        )

    def _masked(self, masks: list[KroneckerDelta], rest: Basic) -> Code:
        if len(masks) > 1:
            raise EmitError("only one Kronecker delta a product is printed", Mul(*masks))
        return self._choose(self.print(masks[0]), self.print(rest), Code("0", number=True))

    # ------------------------------------------------------------ indexed arrays

    def _indexed(self, entry: Indexed) -> Code:
        name = self._name(entry.base)
        if len(entry.indices) == 1 and isinstance(entry.indices[0], Skip):
            position, anchor = entry.indices[0].args
            self.need("numeric.namespace", "drop_entry")
            return Code(f"drop_entry(xp, {name}, {self.print(anchor).text})", axes=(position,))
        places: list[str] = []
        axes: list[Basic] = []
        for position in entry.indices:
            symbols = [symbol for symbol in position.free_symbols if symbol in self.order]
            offset = position - sum(symbols)
            if len(symbols) > 1 or any(symbol in offset.free_symbols for symbol in symbols):
                raise EmitError("an index is a symbol, perhaps shifted, or a fixed entry", entry)
            fixed = "" if symbols and offset == 0 else self.print(offset).text
            places.append(fixed + ":" if symbols else fixed)
            axes += symbols
        code = array_code(name, places, tuple(axes))
        return self.aligned(code, self.common_axes([code]))

    def _insert(self, node: Basic) -> Code:
        family, anchor, index = node.args
        self.need("numeric.namespace", "insert_zero")
        return Code(
            f"insert_zero(xp, {self._name(family)}, {self.print(anchor).text})", axes=(index,)
        )

    def _others(self, node: Basic) -> Code:
        family, index = node.args
        self.need("numeric.namespace", "sum_of_others")
        return Code(f"sum_of_others(xp, {self._name(family)})", axes=(index,))

    def _at_largest(self, node: Basic) -> Code:
        self.need("numeric.namespace", "value_at_largest")
        given = ", ".join(self._name(family) for family in node.args)
        return Code(f"value_at_largest(xp, {given})")

    def _family_call(self, node: FamilyCall) -> Code:
        self.need(node.home, node.call)
        given = ["xp", *(self._name(family) for family in node.families)]
        return Code(f"{node.call}({', '.join(given)})", axes=tuple(node.axes))

    # ------------------------------------------------------------ matrices

    def _matrix(self, symbol: MatrixSymbol) -> Code:
        axes = (ROW,) if symbol.shape[1] == 1 else (ROW, COLUMN)
        return array_code(self._name(symbol), [":"] * len(axes), axes)

    def _explicit(self, matrix: ImmutableDenseMatrix) -> Code:
        """A matrix of scalar entries; a column becomes a vector."""
        self.need("numeric.namespace", "stack_entries")
        rows = [[self.print(entry).text for entry in row] for row in matrix.tolist()]
        if matrix.shape[1] == 1:
            return Code(f"stack_entries(xp, [{', '.join(row[0] for row in rows)}])", axes=(ROW,))
        listed = ", ".join(f"[{', '.join(row)}]" for row in rows)
        return Code(f"stack_entries(xp, [{listed}])", axes=(ROW, COLUMN))

    def _transpose(self, node: Basic) -> Code:
        code = self.print(node.args[0])
        if code.axes == (ROW,):
            return Code(code.text, code.strength, (COLUMN,))
        return code if len(code.axes) < 2 else transposed(code)

    def _matmul(self, product: MatMul) -> Code:
        scalars = [factor for factor in product.args if not isinstance(factor, MatrixExpr)]
        matrices = [factor for factor in product.args if isinstance(factor, MatrixExpr)]
        if scalars and is_negative(Mul(*scalars)):
            code = self.print(MatMul(-Mul(*scalars), *matrices).doit())
            return self._entrywise(UNARY, [code], lambda parts: f"-{parts[0].inside(PRODUCT)}")
        code = self._product(matrices)
        if not scalars or Mul(*scalars) == 1:
            return code
        inverses = [f for f in scalars if isinstance(f, Pow) and is_negative(f.exp)]
        others = [f for f in scalars if f not in inverses]
        above = [self.print(Mul(*others)), code] if others else [code]
        below = [self.print(Pow(factor.base, -factor.exp)) for factor in inverses]

        def write(parts: list[Code]) -> str:
            first, *rest = parts[: len(above)]
            text = " * ".join([first.inside(PRODUCT), *(part.inside(UNARY) for part in rest)])
            return " / ".join([text, *(part.inside(UNARY) for part in parts[len(above) :])])

        return self._entrywise(PRODUCT, [*above, *below], write)

    def _product(self, factors: list[MatrixExpr]) -> Code:
        """Matrices, columns and rows multiplied from the right, so that a vector stays a vector."""
        if not any(isinstance(factor, Inverse) for factor in factors):
            codes = [self.print(factor) for factor in factors]
            first, others = codes[0].axes, codes[1:]
            square = all(code.axes == (ROW, COLUMN) for code in others)
            if others and square and first in ((ROW, COLUMN), (COLUMN,)):
                return products.matrices(self, codes)
        *front, last = factors
        code = self.print(last)
        while front:
            factor = front.pop()
            if isinstance(factor, Inverse):
                code = products.solved(self, factor, code)
                continue
            left = self.print(factor)
            if left.axes == (ROW, COLUMN) == code.axes:
                code = products.matrices(self, [left, code])
            elif left.axes == (ROW, COLUMN):
                right = self.aligned(code, (ROW, COLUMN)).inside(UNARY)
                code = Code(f"({left.inside(PRODUCT)} @ {right})[..., 0]", axes=(ROW,))
            elif left.axes == (COLUMN,) and code.axes == (ROW, COLUMN):
                code = products.matrices(self, [left, code])
            elif left.axes == (COLUMN,) and code.axes == (ROW,):
                text = f"xp.sum({left.inside(UNARY)} * {code.inside(UNARY)}, axis=-1)"
                code = Code(text)
            else:  # a column times a row, or a number
                code = self._entrywise(
                    PRODUCT,
                    [left, code],
                    lambda parts: f"{parts[0].inside(PRODUCT)} * {parts[1].inside(UNARY)}",
                )
        return code

    def _hadamard(self, product: HadamardProduct) -> Code:
        codes = [self.print(factor) for factor in product.args]
        return self._entrywise(
            PRODUCT, codes, lambda parts: " * ".join(part.inside(UNARY) for part in parts)
        )
