"""What a study is: tasks, what each finds, conditions on what was found, and a picture of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Label = Literal["exact", "bound", "MC"]
Relation = Literal["<=", ">="]
Z_LIMIT = 4.5  # of every z-score that an exit condition looks at: 7 in a million are larger


@dataclass(frozen=True, eq=False)
class Quantity:
    """A result and where it comes from.

    Attributes:
        label: ``exact`` (closed form, or quadrature whose error is reported), ``bound``
            (one-sided), or ``MC`` (Monte Carlo).
        value: a number, or an array of any shape.
        standard_error: of the same shape as the value where the label is ``MC``; else None.
    """

    label: Label
    value: NDArray[Any]
    standard_error: NDArray[Any] | None = None

    def __float__(self) -> float:
        return float(self.value)

    @property
    def error(self) -> NDArray[Any]:
        """The standard error of a Monte Carlo mean; 0 where there is none."""
        return np.zeros_like(self.value) if self.standard_error is None else self.standard_error


def exact(value: ArrayLike) -> Quantity:
    """A closed form, or a quadrature whose error is reported beside it."""
    return Quantity("exact", np.asarray(value, dtype=np.float64))


def bound(value: ArrayLike) -> Quantity:
    """A one-sided bound."""
    return Quantity("bound", np.asarray(value, dtype=np.float64))


def monte_carlo(samples: ArrayLike) -> Quantity:
    """Mean over the first axis of independent samples, at least two, with its standard error."""
    samples = np.asarray(samples, dtype=np.float64)
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    return Quantity("MC", samples.mean(axis=0), error)


def sampled(value: ArrayLike) -> Quantity:
    """A statistic of random draws that has no standard error: a maximum, a count, a z-score."""
    return Quantity("MC", np.asarray(value, dtype=np.float64))


def z_score(quantity: Quantity, expected: ArrayLike = 0.0, *, rounding: float = 1e-12) -> float:
    """Largest distance of a Monte Carlo mean from what it should be, in standard errors.

    Args:
        quantity: a Monte Carlo mean.
        expected: the exact value.
        rounding: absolute error of the samples, so that two zeros agree.
    """
    allowed = np.hypot(quantity.error, rounding)
    return float(np.max(np.abs(quantity.value - np.asarray(expected)) / allowed))


@dataclass(frozen=True)
class Task:
    """One piece of a study, done at once and recorded as a whole.

    Attributes:
        name: says which one it is; no two tasks of a study have the same.
        parameters: what JSON can hold; all that the outcome depends on, the seed included.
    """

    name: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a task found."""

    task: Task
    results: Mapping[str, Quantity]
    seconds: float

    def __getitem__(self, result: str) -> Quantity:
        return self.results[result]


def timed(run: Callable[[Mapping[str, Any]], Mapping[str, Quantity]], task: Task) -> Outcome:
    """One task's outcome."""
    start = time.perf_counter()
    results = run(task.parameters)
    return Outcome(task, results, time.perf_counter() - start)


@dataclass(frozen=True)
class Condition:
    """An exit condition: what must hold of the results, the figure that was found, the limit."""

    says: str
    value: float
    relation: Relation
    limit: float

    @property
    def holds(self) -> bool:
        """False also where the value is not a number."""
        low, high = (self.value, self.limit) if self.relation == "<=" else (self.limit, self.value)
        return bool(low <= high)

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        return f"{verdict}  {self.says}: {self.value:.3g} {self.relation} {self.limit:.3g}"


@dataclass(frozen=True)
class Setting:
    """What a text leaves open: a parameter of tasks and its readings, all of them run by default.

    Attributes:
        parameter: its name among the parameters of tasks.
        readings: its values.
        says: what is open, in one line.
    """

    parameter: str
    readings: tuple[str, ...]
    says: str


@dataclass(frozen=True)
class Table:
    """Figures that a reader lays beside those of the text.

    Attributes:
        title: what is shown.
        columns: heads.
        rows: cells as they are printed, as many a row as there are columns.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        """Columns of one width each, which Markdown takes for a table too."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.columns))]
        heads, *rows = (
            "| " + " | ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) + " |"
            for line in lines
        )
        rule = "|" + "|".join("-" * (w + 1) + ":" for w in widths) + "|"
        return "\n".join([self.title, "", heads, rule, *rows])


def _no_tables(_: Sequence[Outcome]) -> Sequence[Table]:
    return ()


@dataclass(frozen=True)
class Study:
    """A study.

    Attributes:
        name: ``subject.name``, as in the catalogue.
        item: of the specification.
        title: what is asked, in one line.
        shows: items of the specification that the study puts to the test.
        tasks: the list of tasks, from whether it should be quick and from the seed.
        run: one task's results, from its parameters; a function of a module, since it travels to
            other processes.
        conditions: exit conditions on the outcomes, in the order of the tasks.
        draw: draws the outcomes on an empty figure, in inches of `size`.
        tables: figures beside those of the text, from the outcomes.
        settings: readings of the text among which a user can choose.
    """

    name: str
    item: str
    title: str
    shows: tuple[str, ...]
    tasks: Callable[[bool, int], Sequence[Task]]
    run: Callable[[Mapping[str, Any]], Mapping[str, Quantity]]
    conditions: Callable[[Sequence[Outcome]], Sequence[Condition]]
    draw: Callable[[Figure, Sequence[Outcome]], None]
    size: tuple[float, float] = (10.0, 4.0)
    tables: Callable[[Sequence[Outcome]], Sequence[Table]] = _no_tables
    settings: tuple[Setting, ...] = ()

    def chosen_tasks(self, quick: bool, seed: int, readings: Mapping[str, str]) -> list[Task]:
        """The tasks of the readings that are asked for, and those that no reading concerns.

        Raises:
            ValueError: there is no such setting or reading, or two tasks have one name.
        """
        known = {setting.parameter: setting.readings for setting in self.settings}
        for parameter, reading in readings.items():
            if reading not in known.get(parameter, ()):
                there = ", ".join(f"{p}={r}" for p, some in known.items() for r in some) or "none"
                raise ValueError(
                    f"{self.name}: no setting {parameter}={reading}; there are {there}"
                )
        tasks = [
            task
            for task in self.tasks(quick, seed)
            if all(task.parameters.get(p, reading) == reading for p, reading in readings.items())
        ]
        if len({task.name for task in tasks}) != len(tasks):
            raise ValueError(f"{self.name}: two tasks have one name")
        return tasks
