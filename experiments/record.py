"""What a study found as a file, and its outcomes as JSON.

Numbers that JSON has no word for are written as the strings "inf", "-inf", "nan".
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from experiments.study import Condition, Outcome, Quantity, Study, Task

PACKAGES = ("numpy", "scipy")
SOURCES = ("experiments", "numeric")


@dataclass(frozen=True, eq=False)
class Record:
    """What a study found, as it stands in its file.

    Attributes:
        study, item, title: of the study.
        quick, seed, readings: how it was run.
        versions: of Python, of the libraries and of our own sources.
        outcomes: in the order of the tasks.
        conditions: exit conditions, with the figures found.
    """

    study: str
    item: str
    title: str
    quick: bool
    seed: int
    readings: Mapping[str, str]
    versions: Mapping[str, str]
    outcomes: Sequence[Outcome]
    conditions: Sequence[Condition]

    @property
    def passed(self) -> bool:
        """Whether all exit conditions hold."""
        return all(condition.holds for condition in self.conditions)


def versions() -> dict[str, str]:
    """Of Python and the libraries, and a hash of the sources that results depend on."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return {
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in PACKAGES},
        "sources": f"sha256:{digest.hexdigest()[:16]}",
    }


def key_of(study: str, task: Task, found: Mapping[str, str]) -> str:
    """Hash of all that an outcome depends on: study, task, and the `versions`."""
    whole = json.dumps([study, task.name, task.parameters, found], sort_keys=True, allow_nan=False)
    return hashlib.sha256(whole.encode()).hexdigest()


def write_record(path: Path, record: Record) -> None:
    """Put the record in place as a whole, or not at all."""
    entry = {
        "study": record.study,
        "item": record.item,
        "title": record.title,
        "quick": record.quick,
        "seed": record.seed,
        "readings": dict(record.readings),
        "versions": dict(record.versions),
        "passed": record.passed,
        "conditions": [
            {
                "says": c.says,
                "value": _number(c.value),
                "relation": c.relation,
                "limit": _number(c.limit),
                "holds": c.holds,
            }
            for c in record.conditions
        ],
        "outcomes": [outcome_as(outcome) for outcome in record.outcomes],
    }
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(entry, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    os.replace(draft, path)


def read_record(path: Path) -> Record:
    """A record from its file.

    Raises:
        ValueError, KeyError: the file is no record.
    """
    entry = json.loads(path.read_text(encoding="utf-8"))
    conditions = [
        Condition(c["says"], float(c["value"]), c["relation"], float(c["limit"]))
        for c in entry["conditions"]
    ]
    outcomes = [outcome_from(outcome) for outcome in entry["outcomes"]]
    return Record(
        entry["study"], entry["item"], entry["title"], entry["quick"], entry["seed"],
        entry["readings"], entry["versions"], outcomes, conditions,
    )  # fmt: skip


def draw_record(study: Study, record: Record, path: Path) -> None:
    """Draw what the record holds, and nothing else, as a PNG file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=study.size, layout="constrained", dpi=150)
    study.draw(figure, record.outcomes)
    figure.savefig(path)


def outcome_as(outcome: Outcome) -> dict[str, Any]:
    """An outcome as what JSON can hold."""
    return {
        "task": outcome.task.name,
        "parameters": dict(outcome.task.parameters),
        "seconds": round(outcome.seconds, 3),
        "results": {name: _quantity_as(q) for name, q in outcome.results.items()},
    }


def outcome_from(entry: Mapping[str, Any]) -> Outcome:
    """The outcome that `outcome_as` wrote.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it did not.
    """
    results = {name: _quantity_from(q) for name, q in entry["results"].items()}
    return Outcome(Task(entry["task"], entry["parameters"]), results, entry["seconds"])


def _quantity_as(quantity: Quantity) -> dict[str, Any]:
    entry: dict[str, Any] = {"label": quantity.label, "value": _plain(quantity.value)}
    if quantity.standard_error is not None:
        entry["standard_error"] = _plain(quantity.standard_error)
    return entry


def _quantity_from(entry: Mapping[str, Any]) -> Quantity:
    error = entry.get("standard_error")
    return Quantity(
        entry["label"],
        np.array(entry["value"], dtype=np.float64),
        None if error is None else np.array(error, dtype=np.float64),
    )


def _plain(values: Any) -> Any:
    """Nested lists of what JSON can hold."""
    listed = np.asarray(values).tolist()

    def walk(item: Any) -> Any:
        return [walk(i) for i in item] if isinstance(item, list) else _number(item)

    return walk(listed)


def _number(value: float) -> float | str:
    return float(value) if np.isfinite(value) else str(float(value))
