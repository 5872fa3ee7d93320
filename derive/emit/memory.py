"""A kernel in memory, for notebooks: the same source that `emit` would write, compiled at once."""

from __future__ import annotations

import builtins
import linecache
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Protocol

from sympy import Basic, Indexed, IndexedBase, MatrixSymbol, Symbol

from derive.emit.kernel import write_kernel
from derive.emit.module import import_lines
from derive.emit.names import EmitError, checked_name
from derive.steps import Argument, Derivation, Kernel

_serial = count(1)


class CompiledKernel(Protocol):
    """A function on arrays that carries its own source."""

    source: str
    __call__: Callable[..., Any]


def compile(
    expression: Basic,
    arguments: Sequence[Basic],
    *,
    axes: Sequence[Symbol] = (),
    name: str = "value",
) -> CompiledKernel:
    """A function of arrays from an expression, in the forms that the rule book chooses.

    Args:
        expression: scalar, indexed, a matrix expression or an explicit matrix.
        arguments: its symbols, matrix symbols and indexed families, in the order of the call. An
            integer symbol that stands as an index is a plain Python integer.
        axes: the free indices of an indexed expression, in the order of the result's axes.
        name: the function's name.

    Returns:
        the function; its attribute `source` is what was compiled.

    Raises:
        EmitError: a subexpression (named) can't be printed, or a name must not be.

    Example:
        >>> from sympy import LambertW, exp, symbols
        >>> b, x, t = symbols("b x t", nonnegative=True)
        >>> flow = compile(LambertW(b*x*exp(b*x - 2*t))/b, [b, x, t])
        >>> float(flow(2.0, 1000.0, 0.0))
        1000.0
    """
    checked_name(name)
    described = tuple(_argument(symbol, expression) for symbol in arguments)
    kernel = Kernel(
        arguments=described,
        outputs={"value": "the value of the expression"},
        domain=("where the expression is defined",),
        axes={"value": tuple(axes)},
    )
    derivation = Derivation(
        name=f"memory.{name}",
        title="compiled in memory",
        source="memory",
        inputs=tuple(arguments),
        steps=(),
        result={"value": expression},
        equation=r"\text{see the source}",
        kernel=kernel,
    )
    written = write_kernel(derivation)
    imports = import_lines(set(written.imports))
    source = "\n".join(["from __future__ import annotations", "", *imports, "", written.source])
    place = f"<emitted {name} {next(_serial)}>"
    linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    scope: dict[str, Any] = {}
    exec(builtins.compile(source, place, "exec"), scope)
    function = scope[name]
    function.source = source
    return function


def _argument(symbol: Basic, expression: Basic) -> Argument:
    if isinstance(symbol, MatrixSymbol):
        shape = (
            tuple(size for size in symbol.shape if size != 1)
            if symbol.shape[1] == 1
            else symbol.shape
        )
        return Argument(symbol, "matrix", shape)
    if isinstance(symbol, IndexedBase):
        entries = [entry for entry in expression.atoms(Indexed) if entry.base == symbol]
        ranks = {len(entry.indices) for entry in entries} or {1}
        if len(ranks) != 1:
            raise EmitError("used with different numbers of indices", symbol)
        sizes = tuple(
            Symbol(f"n{place}", integer=True, positive=True) for place in range(ranks.pop())
        )
        return Argument(symbol, "indexed family", sizes)
    if not isinstance(symbol, Symbol):
        raise EmitError("an argument is a symbol, a matrix symbol or an indexed family", symbol)
    static = any(
        symbol in position.free_symbols
        for entry in expression.atoms(Indexed)
        for position in entry.indices
    )
    return Argument(symbol, "index" if static else "scalar", static=static)
