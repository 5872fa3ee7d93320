"""Trusted. Elementary operations are counted, so that no input can keep its reader busy.

Work is counted before it is done, and only inside of `limited`: a person's own file is read
without a count, a certificate is not. A unit is worth a microsecond or some.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TooLarge(ValueError):
    """Beyond the stated limits, or beyond what the algebra can express."""


_work: ContextVar[list[int] | None] = ContextVar("work", default=None)


@contextmanager
def limited(amount: int) -> Iterator[list[int]]:
    """Allow only so many elementary operations.

    Gives a list whose one number is what is left, negative once the limit was met.
    """
    left = [amount]
    token = _work.set(left)
    try:
        yield left
    finally:
        _work.reset(token)


def spend(amount: int) -> None:
    """Count elementary operations, where they are limited.

    Raises:
        TooLarge: more than are allowed.
    """
    left = _work.get()
    if left is not None:
        left[0] -= amount
        if left[0] < 0:
            raise TooLarge("this asks for more work than the stated limit")
