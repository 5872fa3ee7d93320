"""What a derivation is: inputs, steps that can be shown, and named results.

A derivation is built by a pure function from symbols to expressions, so that another notation is
another call. It carries what a reader asks of a formula (the steps, the hypotheses, the place in
the specification) and, if a kernel is emitted from it, the kernel's contract.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy
from sympy import Basic, Symbol


@dataclass(frozen=True)
class Step:
    """One step: a sentence, what stands after it, and the rule that allows it."""

    text: str
    expression: Basic
    rule: str = ""

    def __str__(self) -> str:
        reason = f"   [{self.rule}]" if self.rule else ""
        return f"{self.text}{reason}\n    {self.expression}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_markdown_(self) -> str:
        reason = f" *({_words(self.rule)})*" if self.rule else ""
        return f"{_words(self.text)}{reason}\n\n$$\n{latex(self.expression)}\n$$"


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel: a symbol of the derivation with its shape and meaning.

    `shape` lists the core axes as symbols of the derivation (batch axes come before them and are
    never listed). A static argument is a plain Python integer, the same for the whole batch; a
    label is an array of anything that can be compared; the entries of a row sum to one.
    """

    symbol: Basic
    meaning: str
    shape: tuple[Basic, ...] = ()
    static: bool = False
    label: bool = False
    row: bool = False

    @property
    def name(self) -> str:
        """The name that the kernel gives to the argument."""
        return str(getattr(self.symbol, "name", self.symbol))


@dataclass(frozen=True)
class Regime:
    """The worst error that a kernel may have on one kind of input; a test holds it to that.

    `bound` is relative to the scale named by `relative_to`, in units that a test measures with a
    reference whose digits are doubled until two precisions agree.
    """

    name: str
    inputs: str
    bound: float
    relative_to: str = "each entry"


@dataclass(frozen=True)
class Kernel:
    """The contract of the kernel that is emitted from a derivation.

    `axes` gives each output's free indices in order; matrix outputs need none.
    `temporaries` names subexpressions that have a meaning, in the order in which they are computed.
    `index_order` is the order in which arrays carry the indices, where it is not that of `axes`.
    `symmetric` lists the symmetric matrices: outputs, and arguments that are psd as well.
    """

    arguments: tuple[Argument, ...]
    outputs: Mapping[str, str]
    domain: tuple[str, ...]
    axes: Mapping[str, tuple[Symbol, ...]] = field(default_factory=dict)
    temporaries: tuple[tuple[Basic, Basic], ...] = ()
    positive: tuple[Basic, ...] = ()
    symmetric: tuple[str, ...] = ()
    index_order: tuple[Symbol, ...] = ()
    regimes: tuple[Regime, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Derivation:
    """A formula with its steps. Printed, it reads as a person would write it down."""

    name: str
    title: str
    source: str
    inputs: tuple[Basic, ...]
    steps: tuple[Step, ...]
    result: Mapping[str, Basic]
    equation: str
    hypotheses: tuple[str, ...] = ()
    kernel: Kernel | None = None

    @property
    def subject(self) -> str:
        """The module that holds the derivation, the theorem folder and the kernel module."""
        return self.name.partition(".")[0]

    @property
    def short_name(self) -> str:
        """The name of the function in its module."""
        return self.name.partition(".")[2]

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.title} ({self.source})"]
        lines += [f"  Assume {hypothesis}." for hypothesis in self.hypotheses]
        for number, step in enumerate(self.steps, 1):
            lines += ["", *(f"  {number}. {step}".replace("\n", "\n   ")).splitlines()]
        lines += ["", "  Result"]
        lines += [f"    {name} = {value}" for name, value in self.result.items()]
        return "\n".join(lines)

    def latex(self) -> str:
        """The steps and the results as one aligned display."""
        rows = [
            rf"\text{{{_escape(step.text)}}} &: {latex(step.expression)}" for step in self.steps
        ]
        rows += [
            rf"\textbf{{{_escape(name.replace('_', ' '))}}} &= {latex(value)}"
            for name, value in self.result.items()
        ]
        return "$$ \\begin{aligned} " + r" \\ ".join(rows) + " \\end{aligned} $$"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_markdown_(self) -> str:
        parts = [f"**{_words(self.name)}**: {_words(self.title)} ({self.source})"]
        parts += [f"Assume {_words(hypothesis)}." for hypothesis in self.hypotheses]
        parts += [
            f"**{number}.** {step._repr_markdown_()}" for number, step in enumerate(self.steps, 1)
        ]
        rows = [
            rf"\text{{{_escape(name.replace('_', ' '))}}} &= {latex(value)}"
            for name, value in self.result.items()
        ]
        shown = r" \\ ".join(rows)
        parts += [f"**Result**\n\n$$\n\\begin{{aligned}} {shown} \\end{{aligned}}\n$$"]
        return "\n\n".join(parts)


def latex(expression: Basic) -> str:
    """LaTeX with the symbols of the texts for the names of the code."""
    shown = {"sigma2": r"\sigma^{2}", "time": "t"}
    names = {s: shown[s.name] for s in expression.atoms(Symbol) if s.name in shown}
    return sympy.latex(expression, symbol_names=names)


def _words(text: str) -> str:
    """Plain text as it may stand in Markdown."""
    return re.sub(r"([\\`*_$\[\]<>|#~])", r"\\\1", text)


def _escape(text: str) -> str:
    """Text as it may stand inside a LaTeX text box."""
    for plain, escaped in (
        ("\\", r"\backslash "),
        ("_", r"\_"),
        ("%", r"\%"),
        ("&", r"\&"),
        ("#", r"\#"),
        ("^", r"\^{}"),
    ):
        text = text.replace(plain, escaped)
    return text
