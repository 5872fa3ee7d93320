"""Derivations: pure functions from symbols to expressions, by steps that can be shown.

One module a subject, each with a tuple `DERIVATIONS`; `find` gets one by name, `compile` makes a
function of arrays from any expression, `python -m derive` lists, shows and emits.
"""

from derive.emit.memory import compile
from derive.entries import entries
from derive.library import derivations, find, subjects
from derive.steps import Argument, Derivation, Kernel, Regime, Step

__all__ = [
    "Argument",
    "Derivation",
    "Kernel",
    "Regime",
    "Step",
    "compile",
    "derivations",
    "entries",
    "find",
    "subjects",
]
