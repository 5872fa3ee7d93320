"""Errors that the public algorithms raise: one class a cause, all under one base.

Each names the argument, what was expected and what came.
"""

from __future__ import annotations


class NumericError(ValueError):
    """A caller's mistake, met at the door.

    Attributes:
        argument: name of the argument.
        expected: what it should have been.
        got: what came.
        remedy: what to do about it, where there is something to do.
    """

    def __init__(self, argument: str, expected: str, got: str, remedy: str = "") -> None:
        self.argument, self.expected, self.got, self.remedy = argument, expected, got, remedy
        super().__init__(
            f"{argument}: expected {expected}, got {got}" + (f"; {remedy}" if remedy else "")
        )


class DtypeError(NumericError, TypeError):
    """Not real numbers."""


class ShapeError(NumericError):
    """The shapes don't fit together."""


class NonFiniteError(NumericError):
    """NaN or infinity where a finite number is needed."""


class DomainError(NumericError):
    """A number outside the domain on which the result is defined."""


class NotSymmetricError(NumericError):
    """A covariance that is not symmetric."""


class NotPositiveSemidefiniteError(NumericError):
    """A covariance with a negative eigenvalue."""


class OffSupportError(NumericError):
    """A value that a singular covariance gives no chance at all.

    Attributes:
        distance: how far the value lies from the support, the worst of the batch.
    """

    def __init__(
        self, argument: str, expected: str, got: str, distance: float, remedy: str = ""
    ) -> None:
        self.distance = distance
        super().__init__(argument, expected, got, remedy)


class RefinementError(NumericError):
    """A partition that does not refine the one that it should."""
