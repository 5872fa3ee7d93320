"""The derivation's own expression through plain `sympy.lambdify`, with and without cse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy
from sympy import IndexedBase, MatrixSymbol, Symbol

from benchmarks.cases import case
from derive.entries import entries, scalar_entries
from derive.library import find


def lambdified(name: str, *, cse: bool) -> Callable[..., Any] | None:
    """The function with the kernel's signature, or None where SymPy has no printer for it."""
    derivation = find(name)
    kernel = derivation.kernel
    if kernel is None or any(argument.label for argument in kernel.arguments):
        return None
    named = {
        symbol
        for argument in kernel.arguments
        for size in argument.shape
        for symbol in size.free_symbols
    }
    named |= {argument.symbol for argument in kernel.arguments if argument.static}
    sizes = {symbol: case(name).sizes[str(symbol)] for symbol in named}
    flat: list[Symbol] = []
    values: dict[Any, Any] = {}
    for argument in kernel.arguments:
        if argument.static:
            continue
        if isinstance(argument.symbol, Symbol):
            flat.append(argument.symbol)
            continue
        lengths = [int(size.subs(sizes)) for size in argument.shape]
        symbols = [
            sympy.Symbol(f"{argument.name}_{place}", real=True)
            for place in range(int(np.prod(lengths)))
        ]
        flat += symbols
        values[argument.symbol] = _nested(symbols, lengths, argument.symbol)
    written = entries(derivation, sizes, values)
    shapes = [getattr(value, "shape", ()) for value in written.values()]
    scalars = [scalar_entries(value) for value in written.values()]
    function = sympy.lambdify(flat, scalars, modules=["scipy", "numpy"], cse=cse)
    drop = [
        len(kernel.axes.get(output, ())) == 1
        or getattr(derivation.result[output], "shape", (0, 0))[1] == 1
        for output in written
    ]

    def called(**arguments: Any) -> Any:
        inputs = [
            column
            for argument in kernel.arguments
            if not argument.static
            for column in _columns(arguments[argument.name], len(argument.shape))
        ]
        outputs = function(*inputs)
        batch = inputs[0].shape
        arrays = []
        for values_, shape, vector in zip(outputs, shapes, drop, strict=True):
            stacked = np.stack([np.broadcast_to(value, batch) for value in values_], axis=-1)
            wanted = shape[:1] if vector else shape
            arrays.append(stacked.reshape(*batch, *wanted) if shape else stacked[..., 0])
        return tuple(arrays) if len(arrays) > 1 else arrays[0]

    return called


def _nested(symbols: list[Symbol], lengths: list[int], symbol: Any) -> Any:
    table = np.array(symbols, dtype=object).reshape(lengths)
    if isinstance(symbol, MatrixSymbol):
        return table.reshape(lengths[0], -1).tolist()
    assert isinstance(symbol, IndexedBase)
    return table.tolist()


def _columns(array: np.ndarray, core: int) -> list[np.ndarray]:
    flat = array.reshape(*array.shape[: array.ndim - core], -1) if core else array[..., None]
    return [flat[..., place] for place in range(flat.shape[-1])]
