"""How many values the free indices of an indexed expression take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sympy import Basic, Indexed, KroneckerDelta, Sum

from derive.notation import Extended, Skip
from derive.steps import Argument, Kernel


@dataclass(frozen=True)
class IndexSize:
    """The number of values of an index: as a size of the derivation, and as an argument's axis.

    The axis has `more` entries fewer than the index has values.
    """

    size: Basic
    argument: str
    axis: int
    more: int


def index_sizes(kernel: Kernel, result: Mapping[str, Basic]) -> dict[Basic, IndexSize]:
    """The sizes of all indices that the arguments' shapes determine."""
    arguments = {argument.symbol: argument for argument in kernel.arguments}
    static = {argument.symbol for argument in kernel.arguments if argument.static}
    sizes: dict[Basic, IndexSize] = {}
    for value in result.values():
        for index, size in _uses(value, arguments):
            if index not in static:
                sizes.setdefault(index, size)
    for value in result.values():
        for delta in _sorted(value.atoms(KroneckerDelta)):
            for index, other in (delta.args, delta.args[::-1]):
                if other in sizes and index.is_Symbol:
                    sizes.setdefault(index, sizes[other])
    return sizes


def bound_indices(expression: Basic) -> set[Basic]:
    """The indices that sums of an expression bind."""
    return {limits.args[0] for total in expression.atoms(Sum) for limits in total.args[1:]}


def _uses(value: Basic, arguments: Mapping[Basic, Argument]) -> Iterator[tuple[Basic, IndexSize]]:
    for node in _sorted(value.atoms(Indexed)):
        argument = arguments.get(node.base)
        if argument is None:
            continue
        for place, position in enumerate(node.indices):
            size, axis = argument.shape[place], place - len(node.indices)
            if isinstance(position, Skip):
                yield position.args[0], IndexSize(size - 1, argument.name, axis, -1)
            elif position.is_Symbol:
                yield position, IndexSize(size, argument.name, axis, 0)
    for node in _sorted(value.atoms(Extended)):
        argument = arguments[node.args[0]]
        yield node.args[2], IndexSize(argument.shape[0] + 1, argument.name, -1, 1)


def _sorted(nodes: set) -> list:
    return sorted(nodes, key=str)
