"""Times and errors of every kernel against lambdify and hand-written NumPy, in one run.

Where they are installed, numba (a loop by hand) and JAX (the kernel, traced) are timed beside them.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks.cases import case
from benchmarks.compiled import jax_call, numba_call
from benchmarks.errors import regime_of, worst_error
from benchmarks.lambdified import lambdified

REPEATS = 9
SLOW = 1.0  # seconds


@dataclass
class Row:
    """One kernel: its time, the others' times as multiples of the hand-written one, all errors."""

    name: str
    batch: int
    milliseconds: float
    ratios: dict[str, float | None] = field(default_factory=dict)
    errors: dict[str, dict[str, float | None]] = field(default_factory=dict)
    bounds: dict[str, float] = field(default_factory=dict)


def kernel_function(name: str) -> Callable[..., Any]:
    """The emitted function."""
    subject, _, short = name.partition(".")
    return getattr(importlib.import_module(f"numeric.kernels.{subject}"), short)


def contenders(name: str) -> dict[str, Any]:
    """The kernel and what it is compared with, under one signature."""
    return {
        "kernel": kernel_function(name),
        "hand-written": case(name).handwritten,
        "lambdify": lambdified(name, cse=False),
        "lambdify cse": lambdified(name, cse=True),
    }


def measure(name: str, *, seed: int = 0, count: int = 60, batch: int | None = None) -> Row:
    """Times on the typical regime, errors on all regimes."""
    of_kernel = case(name)
    batch = batch or of_kernel.batch
    arguments = of_kernel.regimes["typical"](np.random.default_rng(seed), batch)
    functions = contenders(name)
    calls: dict[str, Callable[[], Any] | None] = {
        key: None if function is None else partial(function, **arguments)
        for key, function in functions.items()
    }
    calls["numba"] = numba_call(name, arguments)
    calls["jax"] = jax_call(functions["kernel"], arguments)
    times = _times({key: call for key, call in calls.items() if call is not None})
    hand = times["hand-written"]
    row = Row(name, batch, 1e3 * times["kernel"])
    row.ratios = {key: times[key] / hand if key in times else None for key in calls}
    for regime in of_kernel.regimes:
        row.bounds[regime] = regime_of(name, regime).bound
        row.errors[regime] = {
            key: _error(name, regime, f, seed, count) for key, f in functions.items()
        }
    return row


def _times(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The best of several rounds in which the calls take turns; one round for slow ones."""
    # After a large array has gone, the allocator keeps the pages of those that come and go below:
    # else what is timed is now and then the system's handing them out.
    np.ones(2_000_000).sum()
    best = dict.fromkeys(calls, float("inf"))
    with np.errstate(all="ignore"):
        for _ in range(REPEATS):
            for key, call in calls.items():
                if SLOW <= best[key] < float("inf"):
                    continue
                start = time.perf_counter()
                call()
                best[key] = min(best[key], time.perf_counter() - start)
    return best


def _error(
    name: str, regime: str, function: Callable[..., Any] | None, seed: int, count: int
) -> float | None:
    if function is None:
        return None
    try:
        with np.errstate(all="ignore"):
            return worst_error(name, regime, function, seed=seed, count=count)
    except np.linalg.LinAlgError:
        return float("inf")


def as_json(rows: list[Row]) -> list[dict[str, Any]]:
    """Plain data; an error that is not finite is the string "inf"."""
    plain = [asdict(row) for row in rows]
    for row in plain:
        for errors in row["errors"].values():
            for key, value in errors.items():
                if value is not None and not np.isfinite(value):
                    errors[key] = "inf"
    return plain


def as_table(rows: list[Row]) -> str:
    """The rows as text: times first, then the errors by regime."""
    keys = ("kernel", "hand-written", "lambdify", "lambdify cse")
    timed = (*keys, "numba", "jax")
    lines = [f"{'time (multiple of hand-written)':42}" + "".join(f"{key:>14}" for key in timed)]
    for row in rows:
        shown = "".join(f"{_ratio(row.ratios[key]):>14}" for key in timed)
        lines.append(f"{row.name:42}{shown}   {row.milliseconds:8.2f} ms at {row.batch}")
    lines += [
        "",
        f"{'worst relative error':42}" + "".join(f"{key:>14}" for key in keys) + f"{'bound':>10}",
    ]
    for row in rows:
        for regime, errors in row.errors.items():
            label = f"{row.name.partition('.')[2]}: {regime}"
            shown = "".join(f"{_shown(errors[key]):>14}" for key in keys)
            lines.append(f"{label:42}{shown}{row.bounds[regime]:>10.2g}")
    return "\n".join(lines)


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return "not finite" if not np.isfinite(value) else f"{value:.0e}"
