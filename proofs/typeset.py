"""Results as Markdown with LaTeX in a notebook, and as their own text everywhere else.

Display alone: nothing is decided or checked here, and no notebook software is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from proofs.evaluate.model import Entry, Family, Function, Model, Number, Outcomes, Rows
from proofs.evaluate.values import Complex, Matrix
from proofs.language import show
from proofs.language.infer import Scope
from proofs.language.latex import symbol
from proofs.language.tree import Statement

_BALL = re.compile(r"\[(?:(-?\d[\d.]*(?:e[+-]?\d+)?) )?\+/- (\d[\d.]*(?:e[+-]?\d+)?)\]")


class Typeset:
    """Shown as Markdown in a notebook, as text on a terminal; never as a dump of its fields."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        raise NotImplementedError


def words(text: str) -> str:
    """Plain text as it may stand in Markdown.

    >>> words("beta*lambda_0 of [1]")
    'beta\\\\*lambda\\\\_0 of \\\\[1\\\\]'
    """
    return re.sub(r"([\\`*_$\[\]<>|#~])", r"\\\1", text)


def inline(formula: str) -> str:
    """LaTeX in a line or in a cell of a table, where a bar would end the cell."""
    barless = formula.replace("|", r"\vert ")
    return f"${barless}$"


def display(formula: str) -> str:
    """LaTeX in a paragraph of its own."""
    return f"$$\n{formula}\n$$"


def rows(lines: Iterable[str]) -> str:
    """Several formulas one below the other, aligned at the first `&` of each."""
    return r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}"


def statements(given: Iterable[Statement], names: show.Names) -> Iterator[str]:
    """Statements with LaTeX goals; what several of them share is said once."""
    groups: dict[tuple[object, ...], list[Statement]] = {}
    for statement in given:
        key = (statement.declarations, statement.hypotheses)
        groups.setdefault(key, []).append(statement)
    for group in groups.values():
        yield display(show.latex_of_goals(group, names))


# ---------------------------------------------------------------- models and values


def model(found: Model) -> list[str]:
    """What each name stands for, in rows of LaTeX; numbers in one line, larger things below."""
    scope = Scope.of(found.declarations)
    short, long = [], []
    for name, entry in found.values.items():
        shown = f"{symbol(name, scope.types.get(name))} &= {value(entry)}"
        (short if isinstance(entry, (int, Fraction, Complex)) else long).append(shown)
    if found.weights:
        chances = r",\; ".join(map(_number, found.weights))
        long.append(rf"\text{{probabilities}} &= {chances}")
    first = r",\quad ".join([*short[:1], *(s.replace("&=", "=") for s in short[1:])])
    return [*([first] if short else []), *long]


def sides(left: object, right: object, difference: object) -> list[str]:
    """Both sides of a goal at its counterexample, and their difference, where there are any."""
    found = {"left side": left, "right side": right, "difference": difference}
    return [
        rf"\text{{{called}}} &= {value(side)}" for called, side in found.items() if side is not None
    ]


def value(found: Entry | object) -> str:
    """A number, a matrix, a ball or a function in LaTeX; anything else in its own words."""
    if isinstance(found, (int, Fraction, Complex)):
        return _number(found)
    if isinstance(found, tuple):
        return _table(found)
    if isinstance(found, Function):
        return r"x \mapsto " + _function(found)
    if isinstance(found, Outcomes):
        return r",\; ".join(map(value, found.values))
    if isinstance(found, Family):
        return _family(found.members)
    if isinstance(found, Matrix) and found.exact:
        entries = found.entries()
        return _number(entries[0][0]) if found.shape == (1, 1) else _table(entries)
    shown = str(found)
    if _BALL.fullmatch(shown):
        return _ball(shown)
    return rf"\text{{{_plain(shown)}}}"


def _number(number: Number) -> str:
    if isinstance(number, Complex):
        imaginary = rf"{_number(abs(number.im))} \mathrm{{i}}"
        sign = "-" if number.im < 0 else "+"
        return (
            f"{_number(number.re)} {sign} {imaginary}"
            if number.re
            else (f"{sign if number.im < 0 else ''}{imaginary}")
        )
    fraction = Fraction(number)
    if fraction.denominator == 1:
        return str(fraction.numerator)
    sign = "-" if fraction < 0 else ""
    return rf"{sign}\frac{{{abs(fraction.numerator)}}}{{{fraction.denominator}}}"


def _table(entries: Rows) -> str:
    lines = r" \\ ".join(" & ".join(map(_number, row)) for row in entries)
    return rf"\begin{{pmatrix}} {lines} \end{{pmatrix}}"


def _function(function: Function) -> str:
    if not function.over:
        return _polynomial(function)
    square = _polynomial(Function(function.center, (1, 0, 1)))
    below = rf"\left({square}\right)^{{{function.over}}}" if function.over > 1 else square
    return rf"\frac{{{_polynomial(function)}}}{{{below}}}"


def _polynomial(function: Function) -> str:
    center = function.center
    step = "x" if not center else f"(x {'-' if center > 0 else '+'} {_number(abs(center))})"
    shown = ""
    for power, coefficient in enumerate(function.coefficients):
        numbers = (
            [n for row in coefficient for n in row]
            if isinstance(coefficient, tuple)
            else ([coefficient])
        )
        if not any(n != 0 for n in numbers):
            continue
        factor = f"{step}^{{{power}}}" if power > 1 else step if power else ""
        written = value(coefficient)
        sign, written = ("-", written[1:]) if written.startswith("-") else ("+", written)
        if factor and written == "1":
            written, factor = factor, ""
        lead = f" {sign} " if shown else sign.strip("+")
        shown += f"{lead}{written} {factor}".rstrip()
    return shown or "0"


def _family(members: Mapping[tuple[int, ...], Number | Rows]) -> str:
    listed = (rf"{','.join(map(str, k))}: {value(v)}" for k, v in members.items())
    return r",\; ".join(listed)


def _ball(shown: str) -> str:
    """A ball as `middle +- radius`, in LaTeX."""
    match = _BALL.fullmatch(shown)
    if match is None:
        return shown
    middle, radius = (_decimal(part or "0") for part in match.groups())
    return rf"{middle} \pm {radius}"


def _decimal(number: str) -> str:
    mantissa, _, exponent = number.partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    if not exponent:
        return mantissa
    power = rf"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


def _plain(text: str) -> str:
    """Text as it may stand in a LaTeX text box."""
    return re.sub(r"([_%&#{}$])", r"\\\1", text).replace("^", r"\^{}")
