"""The statements of one kernel while it is written: temporaries, their names, what they import."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from sympy import (
    Add,
    Basic,
    Indexed,
    IndexedBase,
    Integer,
    MatMul,
    MatrixExpr,
    MatrixSymbol,
    Mul,
    Pow,
    Symbol,
    preorder_traversal,
)
from sympy.logic.boolalg import Boolean

from derive.emit.code import COLUMN, ROW, Code
from derive.emit.lower import Printer
from derive.emit.names import EmitError, checked_name
from derive.emit.singular import Fact

if TYPE_CHECKING:
    from derive.emit.rules import Form, SweepForm

Rewrite = Callable[[Basic, "Body"], Basic]


class Body:
    """Lines of source, written top down.

    Args:
        order: the index symbols in the order in which arrays carry them.
        arguments: names of the kernel's arguments; True for a plain Python number.
        sizes: the text that gives the number of values of an index.
        axis_sizes: the text that gives a size of the derivation, by its symbol.
        symmetric: names of the matrices that are symmetric positive semidefinite.
        rewrite: applies the rule book to an expression, binding temporaries here.
        facts: what is known of the arguments besides what their symbols say.
    """

    def __init__(
        self,
        order: tuple[Basic, ...],
        arguments: dict[str, bool],
        sizes: dict[Basic, str],
        axis_sizes: dict[Basic, str],
        symmetric: tuple[str, ...],
        rewrite: Rewrite,
        facts: tuple[Fact, ...] = (),
    ) -> None:
        self.order = order
        self.lines: list[str] = []
        self.batch_line = 0  # where the common batch shape is computed, if it is needed
        self.imports: set[tuple[str, str]] = set()
        self.used: list[Form | SweepForm] = []
        self.rows: set[str] = set()  # vectors that are known to sum to one
        self.shifted: set[str] = set()  # logits whose largest is 0
        self.centred: set[str] = set()  # families that are taken from an origin near them
        self.symmetric = frozenset(symmetric)
        self.sizes = sizes
        self.facts = facts
        self.asked: set[Basic] = set()  # all that the derivation itself says, part by part
        self._indent = ""
        self._rewrite = rewrite
        self._values: dict[Basic, Basic] = {}
        self._temporaries: list[tuple[Basic, Basic]] = []
        self._printer = Printer(
            order,
            lambda home, name: self.imports.add((home, name)),
            lambda index: self.sizes[index],
            axis_sizes,
        )
        for name, is_number in arguments.items():
            self._printer.known[checked_name(name)] = is_number

    def need(self, home: str, name: str) -> str:
        """The name of a support function, which the module will import."""
        self.imports.add((home, name))
        return name

    def source(self, expression: Basic, axes: tuple[Basic, ...] | None = None) -> str:
        """The source of an expression after the rule book, with the given axes."""
        return self._code(self._rewrite(expression, self), axes).text

    def _code(self, expression: Basic, axes: tuple[Basic, ...] | None) -> Code:
        code = self._printer.print(expression)
        if axes is None:
            return code
        if not set(code.axes) <= set(axes):
            raise EmitError(f"carries the axes {code.axes}, not just {axes}", expression)
        return self._printer.aligned(code, axes)

    def line(self, text: str) -> None:
        """One line of source."""
        self.lines.append(self._indent + text)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """An indented block under a header."""
        self.line(header)
        outer, self._indent = self._indent, self._indent + "    "
        yield
        self._indent = outer

    @contextmanager
    def when_any(self, condition: Basic) -> Iterator[None]:
        """A block that runs where some entry of the batch meets the condition."""
        outside = dict(self._values)
        with self.block(f"if xp.any({self.source(condition)}):"):
            yield
        self._values = outside  # what only one branch binds must not be used after it

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The block that runs where none does; it rebinds what the first block has bound."""
        with self.block("else:"):
            yield

    def ask(self, expression: Basic) -> Basic:
        """Note an expression of the derivation; returns it with the values that have a name."""
        named = self._named(expression)
        self.asked |= set(preorder_traversal(named))
        return named

    def _named(self, expression: Basic) -> Basic:
        for value, atom in self._temporaries:
            expression = _replaced(expression, value, atom, self.order)
        return expression

    @contextmanager
    def knowing(self, more: tuple[Fact, ...]) -> Iterator[None]:
        """Where these facts hold as well."""
        before, self.facts = self.facts, (*self.facts, *more)
        try:
            yield
        finally:
            self.facts = before

    def axes_of(self, expression: Basic) -> tuple[Basic, ...]:
        """The free indices of an expression, in the order in which arrays carry them."""
        return tuple(i for i in self._printer.order if i in expression.free_symbols)

    def fresh(self, name: str) -> str:
        """The name, numbered if it is taken."""
        number, candidate = 2, checked_name(name)
        while candidate in self._printer.known:
            number, candidate = number + 1, f"{name}{number}"
        self._printer.known[candidate] = False
        return candidate

    def register_number(self, name: str) -> None:
        """Say that a name stands for a plain Python number, not for an array over the batch."""
        self._printer.known[name] = True

    def let(self, name: str, value: Basic, axes: tuple[Basic, ...] = (), **facts: bool) -> Basic:
        """Compute a value once under a name and return the atom that stands for it.

        The value goes through the rule book first. A value that has a name already keeps it, and
        so does one for which the rule book has found a name.
        """
        if value in self._values:
            return self._values[value]
        rewritten = self._rewrite(value, self)
        if isinstance(rewritten, Symbol) and not axes:
            self._values[value] = rewritten
            return rewritten
        if isinstance(value, MatrixExpr):
            kept = (ROW,) if value.shape[1] == 1 else (ROW, COLUMN)
        else:
            kept = axes
        code = self._code(rewritten, kept)
        name = self.fresh(name)
        self._printer.known[name] = code.number
        self.line(f"{name} = {code.text}")
        self._values[value] = atom = _atom(name, value, axes, facts)
        return atom

    def let_known(self, name: str, value: Basic, axes: tuple[Basic, ...], **facts: bool) -> None:
        """As `let`; from here on `ask` puts the name wherever the value stands."""
        self._temporaries.append((value, self.let(name, value, axes, **facts)))
        self.facts = tuple(
            replace(fact, expression=self._named(fact.expression)) for fact in self.facts
        )

    def store_batch_last(self, name: str, core: int) -> None:
        """Store an array, of so many core axes, with its batch axes last in memory."""
        function = self.need("numeric.linear_algebra", "batch_contiguous")
        self.line(f"{name} = {function}(xp, {name}, {core})")

    def let_pair(
        self, names: tuple[str, str], call: str, home: str, value: Basic, given: tuple[Basic, ...]
    ) -> tuple[Symbol, Symbol]:
        """A value and its rounding error, from a call on the namespace that returns both."""
        first, second = map(self.fresh, names)
        self.need(home, call)
        arguments = ", ".join(self._code(argument, None).text for argument in given)
        self.line(f"{first}, {second} = {call}(xp, {arguments})")
        high = Symbol(first, nonnegative=value.is_nonnegative, real=True)
        self._values[value] = high
        return high, Symbol(second, real=True)

    def rebind(self, atom: Basic, value: Basic, axes: tuple[Basic, ...]) -> None:
        """Give a value that has a name another value: in a loop, or on the other branch."""
        self.line(f"{getattr(atom, 'base', atom)} = {self._code(value, axes).text}")


def _atom(name: str, value: Basic, axes: tuple[Basic, ...], facts: dict[str, bool]) -> Basic:
    if axes:
        return IndexedBase(name, real=True, **facts)[axes]
    if isinstance(value, MatrixExpr):
        return MatrixSymbol(name, *value.shape)
    if isinstance(value, Boolean):
        return Symbol(name)
    signs = ("positive", "nonnegative", "real")
    known = next((sign for sign in signs if getattr(value, f"is_{sign}")), "real")
    return Symbol(name, **(facts or {known: True}))


def _replaced(expression: Basic, value: Basic, atom: Basic, indices: tuple[Basic, ...]) -> Basic:
    expression = _replaced_once(expression, value, atom)
    if isinstance(atom, Indexed):
        for old in atom.indices:
            for new in indices:
                if new not in value.free_symbols and not value.has(new):
                    expression = _replaced_once(
                        expression, value.subs(old, new), atom.subs(old, new)
                    )
    return expression


def _replaced_once(expression: Basic, value: Basic, atom: Basic) -> Basic:
    """Replace a value, also where its terms or factors stand among others in a longer one."""
    if expression == value:
        return atom
    if not expression.args or isinstance(expression, (Indexed, MatrixSymbol)):
        return expression
    parts = [_replaced_once(part, value, atom) for part in expression.args]
    width = len(value.args)
    if isinstance(expression, MatMul) and isinstance(value, MatMul):
        for start in range(len(parts) - width + 1):
            if tuple(parts[start : start + width]) == value.args:
                parts[start : start + width] = [atom]
                break
    elif type(expression) is Mul and type(value) is Mul:
        return _with_factors_named(Mul(*parts), value, atom)
    elif type(expression) is Add and type(value) is Add and set(value.args) <= set(parts):
        parts = [part for part in parts if part not in value.args] + [atom]
    return expression if tuple(parts) == expression.args else expression.func(*parts)


def _with_factors_named(product: Basic, value: Mul, atom: Basic) -> Basic:
    """A product with the atom for a value, or a power of it, whose factors are among its own.

    The number of the value may differ.
    """
    number, rest = value.as_coeff_Mul()
    if not isinstance(rest, Mul):  # one factor alone is no reason to divide by its number
        number, rest = Integer(1), value
    whole, part = product.as_powers_dict(), rest.as_powers_dict()
    times = [whole[base] / power if base in whole else Integer(0) for base, power in part.items()]
    if not all(t.is_Number for t in times) or min(times) < 1:
        return product
    count = min(map(int, times))
    left = {**whole, **{base: whole[base] - count * power for base, power in part.items()}}
    others = (Pow(base, power) for base, power in left.items())
    return Mul(*others, (atom / number) ** count)
