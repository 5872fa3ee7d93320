"""One kernel's case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Arguments = dict[str, Any]
Instance = dict[str, Any]
Generator = Callable[[np.random.Generator, int], Arguments]
Scale = Callable[[Instance, list[Any]], list[Any]]


@dataclass(frozen=True)
class Case:
    """What a kernel is measured on and compared with.

    Attributes:
        regimes: a generator for each regime of the kernel's error table. It returns keyword
            arguments with one leading batch axis of `count` instances; static arguments are plain
            integers.
        reference: the outputs on one instance, owing nothing to the derivation: exact fractions of
            the very floats it is given, or mpmath at the digits that are set.
        handwritten: what one would write by hand in NumPy, with the kernel's signature.
        exact: whether the reference computes in fractions; otherwise its digits are doubled until
            two precisions agree, since 50 digits can be wrong too.
        sizes: a number for each size of the derivation and each static argument.
        rational: a regime whose instances the kernel takes as exact fractions, if it does.
        written: a regime on which the derivation's own entries can be written out.
        scales: for each `relative_to` of the error table, but "each entry", what the errors of
            each output are divided by.
        exchangeable: arguments of which any two may be exchanged without changing the result.
        count: instances that a test draws for each regime.
        batch: instances that are timed.
    """

    regimes: Mapping[str, Generator]
    reference: Callable[[Instance], list[Any]]
    handwritten: Callable[..., Any]
    exact: bool = False
    sizes: Mapping[str, int] = field(default_factory=dict)
    rational: str = ""
    written: str = "typical"
    scales: Mapping[str, Scale] = field(default_factory=dict)
    exchangeable: tuple[str, ...] = ()
    count: int = 60
    batch: int = 100_000


def log_uniform(rng: np.random.Generator, low: float, high: float, count: int) -> np.ndarray:
    """Numbers between 10^low and 10^high, uniform in the exponent."""
    with np.errstate(under="ignore"):
        return 10 ** rng.uniform(low, high, count)
