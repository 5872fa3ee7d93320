"""What the calculus refuses; each error names the subexpression and says why."""

from __future__ import annotations

from sympy import Basic


class CalculusError(ValueError):
    """An expression that can't be differentiated as asked."""

    def __init__(self, reason: str, expression: Basic) -> None:
        self.reason, self.expression = reason, expression
        super().__init__(f"{reason}: {expression}")


class MissingRuleError(CalculusError):
    """No rule differentiates a node."""


class RankChangeError(CalculusError):
    """A function that has no derivative where the rank of its argument changes."""
