"""The symbols of a derivation: its inputs, its sizes, and the free indices of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Basic, Indexed, IndexedBase, KroneckerDelta, MatrixExpr, MatrixSymbol, Symbol

from derive.notation import Extended, Skip
from derive.steps import Derivation
from proofs.language.errors import StatementError


class ContractError(StatementError):
    """A header that doesn't fit the theorem, the derivation or the kernel."""


def symbols(derivation: Derivation) -> tuple[set[str], set[str]]:
    """The names of what a derivation's results need: its inputs, and its sizes."""
    kernel = derivation.kernel
    inputs = {a.name for a in kernel.arguments} if kernel else set()
    free: set[str] = set()
    bound = {str(axis) for axes in kernel.axes.values() for axis in axes} if kernel else set()
    sizes = (
        {str(s) for a in kernel.arguments for size in a.shape for s in size.free_symbols}
        if kernel
        else set()
    )
    for value in derivation.result.values():
        bases = {str(b) for b in value.atoms(IndexedBase)}
        matrices = value.atoms(MatrixSymbol)
        sizes |= {str(s) for m in matrices for size in m.shape for s in size.free_symbols}
        sizes |= {
            str(s)
            for series in value.atoms()
            if isinstance(series, Symbol)
            for s in [series]
            if s.is_integer and s.is_positive
        }
        inputs |= bases | {str(m.name) for m in matrices}
        free |= {str(s) for s in value.free_symbols if isinstance(s, Symbol)}
    return inputs | (free - sizes - bound - inputs), sizes - inputs


def matrix_symbols(derivation: Derivation) -> list[MatrixSymbol]:
    return sorted({m for v in derivation.result.values() for m in v.atoms(MatrixSymbol)}, key=str)


def free_axes(derivation: Derivation) -> dict[str, tuple[tuple[str, Basic, str], ...]]:
    """For each output its free indices: symbol, number of values of what it indexes, anchor."""
    kernel = derivation.kernel
    if kernel is None:
        return {}
    shapes = {str(a.symbol): a.shape for a in kernel.arguments}
    found: dict[str, tuple[tuple[str, Basic, str], ...]] = {}
    for output, axes in kernel.axes.items():
        if output not in derivation.result:
            continue
        ranges = _ranges(derivation.result[output], shapes)
        absent = [str(a) for a in axes if str(a) not in ranges]
        if absent:
            raise ContractError(
                f"the index {absent[0]} doesn't occur in {output} of {derivation.name}"
            )
        found[output] = tuple((str(a), *ranges[str(a)]) for a in axes)
    return found


def _ranges(value: Basic, shapes: Mapping[str, Sequence[Basic]]) -> dict[str, tuple[Basic, str]]:
    found: dict[str, tuple[Basic, str]] = {}
    for node in value.atoms(Indexed):
        for place, position in enumerate(node.indices):
            if isinstance(position, Skip):
                found[str(position.args[0])] = (
                    shapes[str(node.base)][place],
                    str(position.args[1]),
                )
            elif isinstance(position, Symbol):
                found.setdefault(str(position), (shapes[str(node.base)][place], ""))
    for node in value.atoms(Extended):
        vector, _, position = node.args
        found.setdefault(str(position), (shapes[str(vector)][0] + 1, ""))  # type: ignore
    for node in value.atoms(KroneckerDelta):
        left, right = map(str, node.args)
        for index, other in ((left, right), (right, left)):
            if other in found:
                found.setdefault(index, found[other])
    return found


def is_matrix(derivation: Derivation, output: str) -> bool:
    """Whether an output is a matrix or vector without indices."""
    return isinstance(derivation.result[output], MatrixExpr)
