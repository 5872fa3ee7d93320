"""The worst error of a kernel on a regime, against the reference."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from benchmarks.cases import Instance, case, reference
from derive.library import find
from derive.steps import Regime

# Below this a float has lost digits to gradual underflow, and a relative error says nothing.
NORMAL = mpmath.mpf(10) ** -290


def one_instance(arguments: dict[str, Any], place: int) -> Instance:
    """One instance out of a batch; static arguments stay."""
    return {
        name: value if isinstance(value, int) else value[place] for name, value in arguments.items()
    }


def regime_of(name: str, regime: str) -> Regime:
    """The line of the kernel's own error table."""
    kernel = find(name).kernel
    if kernel is None:
        raise KeyError(f"{name} has no kernel")
    return next(line for line in kernel.regimes if line.name == regime)


def worst_error(
    name: str, regime: str, function: Callable[..., Any], *, seed: int, count: int
) -> float:
    """The worst relative error of a function with the kernel's signature on random instances.

    Not finite where a finite number was due: the error is infinite.
    """
    rng = np.random.default_rng([seed, *name.encode(), *regime.encode()])
    of_kernel = case(name)
    arguments = of_kernel.regimes[regime](rng, count)
    outputs = function(**arguments)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    relative_to = regime_of(name, regime).relative_to
    worst = 0.0
    for place in range(count):
        instance = one_instance(arguments, place)
        expected = reference(name, instance)
        got = [np.asarray(output)[place] for output in outputs]
        scales: list[Any] = [None] * len(expected)  # each entry's own size
        if relative_to != "each entry":
            with mpmath.workdps(60):
                scales = of_kernel.scales[relative_to](instance, expected)
        for want, have, scale in zip(expected, got, scales, strict=True):
            worst = max([worst, *_errors(want, have, scale)])
    return worst


def _errors(want: Any, have: Any, scale: Any) -> list[float]:
    if isinstance(want, list):
        return [
            error
            for part, entry in zip(want, have, strict=True)
            for error in _errors(part, entry, scale)
        ]
    if want == mpmath.inf:
        return [0.0 if have == np.inf else np.inf]
    if not np.isfinite(have):
        return [np.inf]
    have = np.real(have)  # SciPy's Lambert W is complex
    with mpmath.workdps(60):
        exact = _mp(want)
        difference = abs(mpmath.mpf(float(have)) - exact)
        unit = abs(exact) if scale is None else scale
        if difference == 0 or (scale is None and abs(exact) < NORMAL and difference < NORMAL):
            return [0.0]
        return [float(difference / unit) if unit else np.inf]


def _mp(value: Any) -> mpmath.mpf:
    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    return mpmath.mpf(value)
