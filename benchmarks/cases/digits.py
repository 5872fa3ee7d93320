"""References at rising precision: mpmath digits are doubled until two precisions agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from benchmarks.cases.case import Instance

AGREEMENT = mpf(10) ** -30
MOST_DIGITS = 3200


def certain(compute: Callable[[Instance], list[Any]], instance: Instance) -> list[Any]:
    """The outputs, at digits that are doubled from 50 until they no longer change.

    Raises:
        ArithmeticError: no agreement at the most digits.
    """
    digits, before = 50, None
    while digits <= MOST_DIGITS:
        with mpmath.workdps(digits):
            now = compute(instance)
            if before is not None and all(map(_agree, before, now)):
                return now
        digits, before = 2 * digits, now
    raise ArithmeticError(f"no agreement at {MOST_DIGITS} digits")


def _agree(left: Any, right: Any) -> bool:
    if isinstance(left, list):
        return all(map(_agree, left, right))
    return left == right or abs(left - right) <= AGREEMENT * max(abs(left), abs(right))


def mp(instance: Instance, *names: str) -> list[mpf]:
    """Scalars of an instance, exactly as they are."""
    return [mpf(float(instance[name])) for name in names]


def mp_vector(values: np.ndarray) -> list[mpf]:
    """A vector of floats, exactly as they are."""
    return [mpf(float(value)) for value in values]
