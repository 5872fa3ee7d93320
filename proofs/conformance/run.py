"""Asks a function on many instances whether it returns what a statement says."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proofs.conformance.asking import Asking
from proofs.conformance.binding import Convert, bind
from proofs.conformance.claim import Output, claim
from proofs.conformance.errors import FunctionError
from proofs.conformance.models import drawn
from proofs.conformance.report import Conformance
from proofs.language import show
from proofs.language.tree import Statement
from proofs.verdict import Verdict

INSTANCES = 100
SECONDS = 10.0
TOLERANCE = 1000.0
TRIES = 20  # for each instance that is wanted


def conforms(
    function: Callable[..., Any],
    stated: str | Path | Statement | Sequence[Statement],
    *,
    side: str | None = None,
    goal: int | None = None,
    names: Mapping[str, str] | Sequence[str] | None = None,
    given: str = "",
    assume: Iterable[str] = (),
    dtype: str = "float64",
    arrays: str | Convert | None = None,
    columns: bool = False,
    batches: bool = False,
    instances: int = INSTANCES,
    seconds: float = SECONDS,
    seed: int = 0,
    tolerance: float = TOLERANCE,
) -> Conformance:
    """Whether a function computes what a statement's side says.

    It is called with floats on randomized and degenerate instances of the hypotheses; what it
    should return is evaluated exactly, or to many digits, at the same floats. Its error is compared
    with what moving the inputs by eps makes of the result.

    Args:
        function: of arrays (NumPy, or PyTorch tensors) that returns an array, or a tuple with one
            for each goal. Vectors have shape (n,), scalars (), members of a family stand along
            leading axes; dimensions, indices and integers are ints, indices from 1 as stated.
        stated: a `.thm` file, the text of one, a `Statement`, or an expression (with `given`).
        side: "left" or "right". Default: either, as long as they agree.
        goal: which goal of several, from 1. Default: all, one for each result.
        names: the declared name for each parameter that is called otherwise, or the declared names
            in the order of the arguments.
        given: the `let`, `define` and `assume` lines of an expression.
        assume: further hypotheses, as text, where the function is made for less.
        dtype: "float64" or "float32".
        arrays: "numpy", "torch", or what turns a NumPy array into the function's own kind.
            Default: seen from the function's annotations.
        columns: pass and expect vectors as columns (n, 1).
        batches: call it on batches too: every array with the same leading axes in front.
        instances: how many different ones.
        seconds: when to stop at the latest, roughly.
        seed: of the instances.
        tolerance: the largest error allowed, in multiples of what the inputs' last digits decide.

    Raises:
        FunctionError: it can't be called at all.
        BindingError: its parameters don't fit the declared names.
        SideError: no such goal or side; or none was chosen, and the two sides differ.
        StatementError, OSError: the statement can't be read.

    Example:
        >>> import numpy as np
        >>> declared = '''let n : dimension
        ... let A : matrix(n, n)
        ... let b : vector(n)
        ... assume invertible(A)'''
        >>> def solve(A, b):
        ...     return np.linalg.solve(A, b)
        >>> found = conforms(solve, "inv(A)*b", given=declared, instances=10)
        >>> found.verdict
        <Verdict.CHECKED: 'checked'>
    """
    claimed = claim(stated, given=given, goal=goal, side=side, assume=assume)
    bound = bind(function, claimed, names=names, dtype=dtype, arrays=arrays, columns=columns)
    asking = Asking(claimed, bound, tolerance)
    started = time.perf_counter()
    needed = claimed.depends_on()
    for found in drawn(claimed, needed, bound.dtype, seed, TRIES * instances):
        if found is not None:
            asking.ask(found)
        if asking.count >= instances or time.perf_counter() > started + seconds:
            break
    if batches:
        asking.ask_batches()
    verdict = Verdict.OPEN
    if asking.count:
        verdict = Verdict.REFUTED if asking.failing else Verdict.CHECKED
    return Conformance(
        verdict,
        _called(function),
        "; ".join(_said(output, side, stated) for output in claimed.outputs),
        bound.dtype.name,
        tolerance,
        instances=asking.count,
        sizes=asking.sizes,
        features=+asking.features,
        worst=asking.worst,
        worst_relative=asking.worst_relative,
        batches=asking.batches,
        failing=asking.failing,
        failed=asking.failed,
        skipped=asking.skipped,
        notes=tuple(asking.notes),
        seconds=time.perf_counter() - started,
    )


def _said(output: Output, side: str | None, stated: object) -> str:
    """What the function should compute, in a line."""
    what = show.excerpt(output.alternatives[0])
    if isinstance(stated, Path) or (isinstance(stated, str) and stated.endswith(".thm")):
        return f"{what} ({Path(stated).name}{f', {side}' if side else ''})"
    return what


def load(address: str) -> Callable[..., Any]:
    """The function at `module:function`, a dotted name after the colon.

    Raises:
        FunctionError: there is none.
    """
    module, colon, path = address.partition(":")
    if not (module and colon and path):
        raise FunctionError(f"expected module:function, got {address!r}")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise FunctionError(f"the module {module} can't be imported: {error}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise FunctionError(f"{address}: there is no {part!r}")
        found = getattr(found, part)
    if not callable(found):
        raise FunctionError(f"{address} is no function: {type(found).__name__}")
    return found


def _called(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', None) or type(function).__module__}.{name}"
