"""What was found of a function: on how many instances it was asked, how far off it was at worst."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from proofs.evaluate import Model
from proofs.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Failing:
    """An instance at which the function doesn't compute what the statement says."""

    model: Model
    arguments: Mapping[str, np.ndarray | int]
    why: str
    got: str
    expected: str
    batch: tuple[int, ...] = ()  # the leading axes, where the function was called on a batch

    def __str__(self) -> str:
        lines = [self.why]
        lines += str(self.model).splitlines()
        if self.batch:
            lines.append(f"as one of a batch of shape {self.batch}")
        return "\n".join([*lines, f"expected {self.expected}", f"got      {self.got}"])

    def as_json(self) -> dict[str, object]:
        """Plain data: the exact model, the floats that were passed, and both values."""
        return {
            "why": self.why,
            "model": self.model.to_json(),
            "arguments": {p: _plain(x) for p, x in self.arguments.items()},
            "expected": self.expected,
            "got": self.got,
            "batch": list(self.batch),
        }


@dataclass(frozen=True)
class Conformance:
    """Whether a function computes what a statement's side says.

    `verdict` is CHECKED (it did on all instances), REFUTED (with `failing`) or OPEN (there was no
    instance to ask on). Errors are multiples of what moving the inputs by eps makes, see
    `proofs.conformance.reference`; up to `tolerance` is allowed.
    """

    verdict: Verdict
    function: str
    stated: str
    dtype: str
    tolerance: float
    instances: int = 0
    sizes: Mapping[tuple[int, ...], int] = field(default_factory=Counter)
    features: Mapping[str, int] = field(default_factory=Counter)
    worst: float = 0.0
    worst_relative: float = 0.0  # to the largest entry
    batches: int = 0
    failing: Failing | None = None
    failed: int = 0
    skipped: Mapping[str, int] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a conformance has no truth value; compare its verdict, as in "
            "`found.verdict is Verdict.CHECKED`"
        )

    def __str__(self) -> str:
        said = {
            Verdict.CHECKED: "computes",
            Verdict.REFUTED: "doesn't compute",
        }.get(self.verdict, "couldn't be asked whether it computes")
        lines = [f"{self.function} {said} {self.stated} ({self.seconds:.2f} s)"]
        if self.instances:
            special = "".join(f"; {n} {k}" for k, n in sorted(self.features.items()))
            sizes = "1 size" if len(self.sizes) == 1 else f"{len(self.sizes)} sizes"
            lines += [f"{self.instances} instances ({sizes}{special})", self._errors()]
        else:
            lines.append("no instance of the hypotheses was found")
        if self.batches:
            lines.append(f"{self.batches} batches, the empty one too, agree")
        if self.failing is not None:
            lines.append(f"fails on {self.failed} of them, such as:")
            lines += [f"  {line}" for line in str(self.failing).splitlines()]
        lines += [f"left out: {n} where {why}" for why, n in self.skipped.items()]
        return "\n  ".join([*lines, *self.notes])

    def _errors(self) -> str:
        if self.instances == self.failed:
            return "right at none"
        if self.worst == 0:
            return "no error at all" + (" elsewhere" if self.failed else "")
        return (
            f"worst error{' elsewhere' if self.failed else ''}: {self.worst:.2g} times what a "
            f"change of the inputs' last digit makes (allowed: {self.tolerance:g}), "
            f"{self.worst_relative:.1e} of the largest entry"
        )

    def as_json(self) -> dict[str, object]:
        """The answer as plain data."""
        return {
            "function": self.function,
            "stated": self.stated,
            "verdict": str(self.verdict),
            "dtype": self.dtype,
            "instances": self.instances,
            "sizes": len(self.sizes),
            "features": dict(self.features),
            "worst": _finite(self.worst),
            "worst_relative": _finite(self.worst_relative),
            "tolerance": self.tolerance,
            "batches": self.batches,
            "failed": self.failed,
            "failing": self.failing.as_json() if self.failing else None,
            "skipped": dict(self.skipped),
            "notes": list(self.notes),
            "seconds": round(self.seconds, 4),
        }

    def json(self) -> str:
        """The answer as JSON."""
        return json.dumps(self.as_json(), indent=2, ensure_ascii=False) + "\n"


def _finite(x: float) -> float | str:
    return x if np.isfinite(x) else "inf"


def _plain(x: np.ndarray | int) -> Any:
    if isinstance(x, int):
        return x
    if x.dtype.kind == "c":
        return {"re": np.real(x).tolist(), "im": np.imag(x).tolist()}
    return x.tolist()
