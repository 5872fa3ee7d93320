"""A kernel in memory, for notebooks: the same source that `emit` would write, compiled at once."""

from __future__ import annotations

import builtins
import linecache
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from sympy import (
    Basic,
    Indexed,
    IndexedBase,
    MatrixExpr,
    MatrixSymbol,
    Symbol,
    atan,
    cos,
    cosh,
    preorder_traversal,
    sin,
    sinh,
    tan,
    tanh,
)

from derive.emit.kernel import write_kernel
from derive.emit.module import import_lines
from derive.emit.names import EmitError, checked_name
from derive.emit.tree import canonical
from derive.steps import Argument, Derivation, Kernel

_serial = count(1)
_REPEATED = (sin, cos, tan, atan, sinh, cosh, tanh)  # dear, and part of no form


@dataclass(frozen=True)
class CompiledKernel:
    """A function on arrays that shows its own source, in a notebook in colour."""

    function: Callable[..., Any]
    source: str

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.function(*arguments, **keywords)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function itself, which `inspect` looks at."""
        return self.function

    def __repr__(self) -> str:
        return self.source[self.source.index("@errstate") :].rstrip()

    def _repr_markdown_(self) -> str:
        return f"```python\n{self!r}\n```"


def compile(
    expression: Basic,
    arguments: Sequence[Basic],
    *,
    axes: Sequence[Symbol] = (),
    name: str = "value",
    positive: Sequence[Basic] = (),
    temporaries: Mapping[str, Basic] | None = None,
) -> CompiledKernel:
    """A function of arrays from an expression, in the forms that the rule book chooses.

    Args:
        expression: scalar, indexed, a matrix expression or an explicit matrix.
        arguments: its symbols, matrix symbols and indexed families, in the order of the call. An
            integer symbol that stands as an index is a plain Python integer.
        axes: the free indices of an indexed expression, in the order of the result's axes.
        name: the function's name.
        positive: expressions that are above 0 wherever the function will be called, where the
            symbols don't say so by themselves.
        temporaries: scalars or matrices that are computed once, under these names. Sines, cosines
            and their like that occur more than once get names by themselves.

    Returns:
        the function; its `repr` and its attribute `source` show what was compiled.

    Raises:
        EmitError: a subexpression (named) can't be printed, may be singular without a limit branch,
            or is not real; or a name must not be printed.

    Example:
        >>> from sympy import LambertW, exp, symbols
        >>> b, x, t = symbols("b x t", nonnegative=True)
        >>> flow = compile(LambertW(b*x*exp(b*x - 2*t))/b, [b, x, t])
        >>> float(flow(2.0, 1000.0, 0.0))
        1000.0
    """
    checked_name(name)
    if not isinstance(expression, Basic):
        raise EmitError(f"expected a SymPy expression, got {type(expression).__name__}")
    described = tuple(_argument(symbol, expression) for symbol in arguments)
    kernel = Kernel(
        arguments=described,
        outputs={"value": "the value of the expression"},
        domain=("where the expression is defined",),
        axes={"value": tuple(axes)},
        temporaries=_temporaries(expression, temporaries or {}, described),
        positive=tuple(positive),
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
    return CompiledKernel(scope[name], source)


def _temporaries(
    expression: Basic, given: Mapping[str, Basic], arguments: Sequence[Argument]
) -> tuple[tuple[Basic, Basic], ...]:
    """What is computed once: what the caller names, and functions of scalars that are repeated."""
    named = dict(given)
    taken = {*named, *(argument.name for argument in arguments)}
    counts = Counter(n for n in preorder_traversal(expression) if isinstance(n, _REPEATED))
    for node in sorted(counts, key=canonical):
        symbols = sorted(symbol.name for symbol in node.free_symbols if isinstance(symbol, Symbol))
        short = "_".join([type(node).__name__, *symbols])
        if counts[node] > 1 and not node.atoms(Indexed) and short not in taken and len(short) < 40:
            named[short] = node
            taken.add(short)
    return tuple((_named_like(value, short), value) for short, value in named.items())


def _named_like(value: Basic, name: str) -> Basic:
    """The atom that stands for a value."""
    if isinstance(value, MatrixExpr):
        return MatrixSymbol(name, *value.shape)
    return Symbol(name)


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
