"""Pieces of source, with what the printer must know of each: strength, axes, how to spread it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Basic, Symbol

ROW, COLUMN = Symbol("row axis"), Symbol("column axis")

# How strongly a piece of source holds together; a weaker piece inside a stronger one is bracketed.
COMPARE, SUM, PRODUCT, UNARY, POWER, ATOM = range(6)

Axes = tuple[Basic, ...]


@dataclass(frozen=True)
class Code:
    """A piece of source with the named axes that its value carries after the batch axes.

    `spread` writes the piece anew with more axes; None means that only indexing from outside can.
    `untransposed` is the text without the transposition that the piece is.
    """

    text: str
    strength: int = ATOM
    axes: Axes = ()
    number: bool = False
    spread: Callable[[Axes], Code] | None = None
    untransposed: str | None = None

    def inside(self, strength: int) -> str:
        """The text, bracketed where it would fall apart inside something this strong."""
        return self.text if self.strength >= strength else f"({self.text})"


def array_code(name: str, places: list[str], axes: Axes) -> Code:
    """An array with its index places, one of them a slice for each of the axes."""

    def spread(wanted: Axes) -> Code:
        own, missing, items = list(axes), list(wanted), list[str]()
        for place in places:
            if place.endswith(":"):
                axis = own.pop(0)
                while missing.pop(0) != axis:
                    items.append("None")
            items.append(place)
        items += ["None"] * len(missing)
        whole = all(place == ":" for place in items)
        text = name if whole else f"{name}[..., {', '.join(trimmed(items))}]"
        return Code(text, axes=wanted, spread=spread)

    return spread(axes)


def transposed(code: Code) -> Code:
    """The last two axes exchanged; twice is not at all."""
    axes = code.axes if ROW in code.axes else (*code.axes[:-2], *code.axes[-2:][::-1])
    if code.untransposed is not None:
        return Code(code.untransposed, axes=axes)
    text = f"xp.matrix_transpose({code.text})"
    return Code(text, axes=axes, untransposed=code.inside(ATOM))


def trimmed(places: list[str]) -> list[str]:
    """Index places without whole axes at the front, which the ellipsis covers."""
    while len(places) > 1 and places[0] == ":" and any(place != ":" for place in places):
        places = places[1:]
    return places
