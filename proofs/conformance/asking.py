"""One function, many instances: what it returned, how far that was off, and where it failed."""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb

from proofs.conformance.binding import INTEGERS, Binding, as_numpy
from proofs.conformance.claim import Claim, Output, shape_kind
from proofs.conformance.models import Drawn
from proofs.conformance.reference import NoReference, Reference, distances, reference
from proofs.conformance.report import Failing
from proofs.evaluate import Matrix, Model
from proofs.evaluate.evaluator import precision
from proofs.instances import Instances
from proofs.instances.simpler import weight
from proofs.refute import features

JUMPS = "the result jumps when the inputs' last digit changes"
DIGIT = "a change of the inputs' last digit makes"
BATCH = 12  # instances in a batch, at most

Arrays = Mapping[str, np.ndarray | int]


class Wrong(Exception):
    """The function fails at an instance: why, and what it returned or raised."""

    def __init__(self, why: str, got: str) -> None:
        super().__init__(why)
        self.why = why
        self.got = got


@dataclass(frozen=True, slots=True)
class _Right:
    """An instance at which the function was right, kept for the batches."""

    model: Model
    arrays: dict[str, np.ndarray | int]
    due: list[Reference]


@dataclass
class Asking:
    """Counts, the worst errors, and the smallest instance at which the function failed."""

    claim: Claim
    bound: Binding
    tolerance: float
    count: int = 0
    failed: int = 0
    failing: Failing | None = None
    worst: float = 0.0
    worst_relative: float = 0.0
    batches: int = 0
    sizes: Counter[tuple[int, ...]] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    notes: dict[str, None] = field(default_factory=dict)
    right: list[_Right] = field(default_factory=list)

    def __post_init__(self) -> None:
        scope = self.claim.scope
        self.instances = Instances(self.claim.statement)
        names = dict.fromkeys(self.bound.names.values())
        self.moved = [n for n in names if scope.types[n].domain not in INTEGERS]
        self.kinds = [shape_kind(output, scope) for output in self.claim.outputs]
        info = np.finfo(self.bound.dtype)
        self.eps, self.tiny, self.huge = (
            float(x) for x in (info.eps, info.smallest_normal, info.max)
        )

    # ------------------------------------------------------------ one instance

    def ask(self, found: Drawn) -> None:
        """Call the function at a model and compare what it returns with what it should."""
        try:
            due = [reference(o, found.model, self.moved, self.eps) for o in self.claim.outputs]
        except NoReference as problem:
            self.skipped[f"the side has no value ({problem})"] += 1
            return
        if any(d.largest() > self.huge for d in due):
            self.skipped["the result is too large for floats"] += 1
            return
        jumps = any(d.units is None for d in due)
        if jumps and not found.is_exact:
            self.skipped[JUMPS] += 1
            return
        arrays = self.bound.arrays(found.model)
        wrong = None
        try:
            self._compare(self._results(self._returned(arrays)), due)
        except Wrong as problem:
            if jumps:
                self.skipped[JUMPS] += 1
                return
            wrong = problem
        self.count += 1
        sizes = [found.model.values[n] for n in self.instances.dimensions]
        self.sizes[tuple(sizes)] += 1  # type: ignore[arg-type]
        self.features.update(features(found.model, self.instances))
        self.features["scaled or with many digits"] += not found.is_plain
        if wrong is None:
            self.right.append(_Right(found.model, arrays, due))
        else:
            self._fail(found.model, arrays, wrong, due)

    def _fail(
        self, model: Model, arrays: Arrays, wrong: Wrong, due: Sequence[Reference],
        batch: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        self.failed += 1
        if self.failing is None or weight(model) < weight(self.failing.model):
            expected = ", ".join(_shown(d.value) for d in due)
            self.failing = Failing(model, arrays, wrong.why, wrong.got, expected, batch)

    def _returned(self, arrays: Arrays) -> Any:
        passed = {p: x if isinstance(x, int) else x.copy() for p, x in arrays.items()}
        with _silence():
            try:
                found = self.bound.call(passed)
            except Exception as error:  # whatever a stranger's code raises
                why = f"it raises {type(error).__name__}"
                raise Wrong(why, str(error) or type(error).__name__) from error
        for parameter, before in arrays.items():
            if not np.array_equal(before, passed[parameter]):
                self.notes[f"it changes its argument {parameter} in place"] = None
        return found

    def _results(self, found: Any) -> list[np.ndarray]:
        count = len(self.claim.outputs)
        parts = [found] if count == 1 else found
        if count > 1 and not (isinstance(parts, (tuple, list)) and len(parts) == count):
            raise Wrong(f"it returns no {count} results, one for each goal", repr(found))
        try:
            return [as_numpy(part) for part in parts]
        except (TypeError, ValueError, RuntimeError) as error:
            raise Wrong(f"it returns no array: {error}", repr(found)) from error

    def _compare(self, results: Sequence[np.ndarray], due: Sequence[Reference]) -> None:
        """Keep the worst errors.

        Raises:
            Wrong: a shape differs, or an error is too large.
        """
        got = ", ".join(map(_text, results))
        worst, worst_relative = 0.0, 0.0
        for result, wanted, kind, output in zip(
            results, due, self.kinds, self.claim.outputs, strict=True
        ):
            shapes = _shapes(wanted.value, kind, self.bound.columns)
            if result.shape not in shapes:
                raise Wrong(f"{output.what} has shape {result.shape}, expected {shapes[0]}", got)
            if not np.isfinite(result).all():
                raise Wrong(f"{output.what} is not finite", got)
            ratio, relative = self._error(result, wanted)
            if ratio > self.tolerance:
                raise Wrong(self._far(output, ratio, relative), got)
            worst, worst_relative = max(worst, ratio), max(worst_relative, relative)
        self.worst = max(self.worst, worst)
        self.worst_relative = max(self.worst_relative, worst_relative)

    def _far(self, output: Output, ratio: float, relative: float) -> str:
        largest = f"{relative:.1e} of its largest entry, " if relative else ""
        return f"{output.what} is off by {largest}{ratio:.1e} times what {DIGIT}"

    def _error(self, result: np.ndarray, wanted: Reference) -> tuple[float, float]:
        """The worst error in units of what the inputs decide, and to the largest entry."""
        with precision(128):
            largest = wanted.largest()
            units = wanted.units or [largest * arb(self.eps)] * result.size
            gaps = distances(wanted.value, result.ravel().tolist())
            ratios = [_float(g / (u + arb(self.tiny))) for g, u in zip(gaps, units, strict=True)]
            relative = max(_float(g / largest) for g in gaps) if largest > self.tiny else 0.0
            return max(ratios), relative

    # ------------------------------------------------------------ batches

    def ask_batches(self) -> None:
        """Call the function on stacks of the instances at which it was right."""
        groups: dict[object, list[_Right]] = {}
        for right in self.right:
            key = tuple(x if isinstance(x, int) else x.shape for x in right.arrays.values())
            groups.setdefault(key, []).append(right)
        for group in groups.values():
            if all(isinstance(x, int) for x in group[0].arrays.values()):
                continue
            several = group[:BATCH]
            shapes: list[tuple[int, ...]] = [(len(several),), (0,)]
            if len(several) % 2 == 0:
                shapes.append((2, len(several) // 2))
            for lead in shapes:
                self._ask_batch(several if lead != (0,) else several[:1], lead)

    def _ask_batch(self, group: Sequence[_Right], lead: tuple[int, ...]) -> None:
        stacked = {
            p: x if isinstance(x, int) else _stacked([r.arrays[p] for r in group], lead)
            for p, x in group[0].arrays.items()
        }
        place = 0
        try:
            results = self._results(self._returned(stacked))
            for result in results:
                if result.shape[: len(lead)] != lead:
                    why = f"a batch of shape {lead} gives the shape {result.shape}"
                    raise Wrong(why, _text(result))
            flat = [r.reshape((-1, *r.shape[len(lead) :])) for r in results]
            for place in range(len(flat[0])):
                self._compare([r[place] for r in flat], group[place].due)
        except Wrong as problem:
            right = group[place]
            self._fail(right.model, right.arrays, problem, right.due, lead)
        self.batches += 1


# ---------------------------------------------------------------- arrays and text


def _stacked(arrays: Sequence[np.ndarray | int], lead: tuple[int, ...]) -> np.ndarray:
    core = np.shape(arrays[0])
    if lead == (0,):
        return np.empty((0, *core), np.asarray(arrays[0]).dtype)
    return np.stack(arrays).reshape((*lead, *core))  # type: ignore[arg-type]


def _shapes(value: Matrix, kind: tuple[bool, bool], columns: bool) -> list[tuple[int, ...]]:
    """The shapes that a result may have, the first the one to be expected."""
    (rows, cols), (one_row, one_column) = value.shape, kind
    if one_row and one_column:
        return [(), (1,), (1, 1)]
    if one_column:
        return [(rows, 1), (rows,)] if columns else [(rows,), (rows, 1)]
    return [(rows, cols), (cols,)] if one_row else [(rows, cols)]


def _text(result: np.ndarray) -> str:
    """Floats in all their digits."""
    return str(result.tolist())


def _shown(value: Matrix) -> str:
    """The exact value, with the floats nearest to it where that reads better."""
    exact = str(value)
    if not value.exact or len(exact) < 200:
        return exact
    floats = [[float(x.re if hasattr(x, "re") else x) for x in row] for row in value.entries()]  # type: ignore
    return f"nearly {floats}"


def _float(x: arb) -> float:
    return float(abs(x).upper())


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """A stranger's warnings and floating point signals stay out of the answer."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
