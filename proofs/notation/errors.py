"""What can go wrong where a statement is written in Python: one class a cause."""

from __future__ import annotations

import re

from proofs.language.errors import StatementError, TypeProblem

# Stands between the name of a variable that a function binds and its number. Names are NFC, and
# this letter (the Kelvin sign) is not: no name that is declared can be such a one.
BOUND_MARK = "\u212a"


class IllTyped(TypeProblem):
    """Shapes or kinds that don't fit; carries the operation and what it was given."""

    def __init__(self, message: str, operation: str, arguments: tuple[object, ...]) -> None:
        super().__init__(re.sub(rf"{BOUND_MARK}\d+", "", message))
        self.operation = operation
        self.arguments = arguments


class NotExact(StatementError, TypeError):
    """Something stands where a number or an expression is expected, and is neither."""

    def __init__(self, message: str, value: object) -> None:
        super().__init__(message)
        self.value = value


class NoTruthValue(StatementError, TypeError):
    """A relation was asked whether it is true. It is a statement; only `decide` can tell."""

    def __init__(self, message: str, relation: object) -> None:
        super().__init__(message)
        self.relation = relation


class NotAName(StatementError):
    """A word that can't be declared."""


class TwoMeanings(StatementError):
    """One name with two declarations, or two names that look the same."""
