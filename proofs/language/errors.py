"""What can go wrong between a person's file and a statement: one class a cause."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Where something stands in a file: 1-based line and column, and its length."""

    line: int
    column: int
    length: int = 1

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class StatementError(ValueError):
    """A statement that can't be read or means nothing; carries its place where it has one."""

    def __init__(self, message: str, span: Span | None = None) -> None:
        super().__init__(f"{span}: {message}" if span else message)
        self.message = message
        self.span = span


class MalformedError(StatementError):
    """A tree that breaks the data model: unknown operator, wrong arity, broken JSON."""


class SyntaxProblem(StatementError):
    """A line that the grammar doesn't allow; says what was expected and what came."""


class TypeProblem(StatementError):
    """Shapes or kinds that don't fit together, or an unknown name."""


class LimitExceeded(StatementError):
    """A statement beyond the stated limits of length, nesting or digits."""
