"""Runs a study: its tasks, here or on a cluster, and what follows from their outcomes.

Whatever happens, a task that was finished is not done again: it stands in the journal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

from tqdm import tqdm

from experiments.cluster import WorkerError, outcomes_on
from experiments.journal import Journal
from experiments.record import Record, draw_record, key_of, versions, write_record
from experiments.study import Outcome, Study, Task, timed

JOURNAL, RECORD, PICTURE, TABLES = "results.sqlite", "record.json", "picture.png", "tables.md"


def run_study(
    study: Study,
    folder: Path,
    *,
    quick: bool = False,
    seed: int = 0,
    jobs: int = 1,
    readings: Mapping[str, str] | None = None,
    scheduler: str | None = None,
) -> Record:
    """Run what isn't in the journal yet; write the record, the picture and the tables.

    Args:
        study: the study.
        folder: holds the journal, the record and the picture; made where it is missing.
        quick: small sizes.
        seed: of all random draws.
        jobs: number of processes on this machine.
        readings: of settings, by their parameters; a setting that isn't named has all of them.
        scheduler: address of a dask scheduler, whose workers do the tasks in place of `jobs`.

    Returns:
        the record. Exit conditions that fail are part of it.

    Raises:
        ValueError: fewer jobs than one, two tasks of one name, or no such reading.
        JournalError: another process runs a study in the folder, or the file of finished tasks
            is none, is damaged, or can't be written.
        WorkerError: no scheduler, no worker, or a worker or process that can't do the tasks.
    """
    if jobs < 1:
        raise ValueError(f"jobs: expected at least 1, got {jobs}")
    readings = readings or {}
    tasks = study.chosen_tasks(quick, seed, readings)
    found = versions()
    with Journal(folder / JOURNAL) as journal:
        done = journal.read()
        keys = [key_of(study.name, task, found) for task in tasks]
        missing = [k for k, key in enumerate(keys) if key not in done]
        hidden = not sys.stderr.isatty()
        with tqdm(total=len(tasks), desc=study.name, disable=hidden, leave=False) as bar:
            bar.update(len(tasks) - len(missing))
            for k, outcome in outcomes(study, tasks, missing, jobs, scheduler):
                journal.add(keys[k], study.name, outcome, found)
                done[keys[k]] = outcome
                bar.update()
        ordered = [done[key] for key in keys]
        record = Record(
            study.name, study.item, study.title, quick, seed, dict(readings), found, ordered,
            list(study.conditions(ordered)),
        )  # fmt: skip
        write_record(folder / RECORD, record)
        draw_record(study, record, folder / PICTURE)
        tables = "\n\n".join(str(table) for table in study.tables(ordered))
        if tables:
            (folder / TABLES).write_text(tables + "\n", encoding="utf-8")
    return record


def outcomes(
    study: Study, tasks: Sequence[Task], chosen: Sequence[int], jobs: int, scheduler: str | None
) -> Iterator[tuple[int, Outcome]]:
    """Places and outcomes of the chosen tasks, as they are finished."""
    if not chosen:
        return
    if scheduler is not None:
        yield from outcomes_on(scheduler, study, tasks, chosen)
        return
    if jobs == 1 or len(chosen) == 1:
        for k in chosen:
            yield k, timed(study.run, tasks[k])
        return
    from joblib import Parallel, delayed, parallel_config

    # A process has one thread for matrix products: there are as many processes as are wanted.
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        pool = Parallel(return_as="generator_unordered", pre_dispatch="all", batch_size=1)
    try:
        yield from pool(delayed(_placed)(k, study.run, tasks[k]) for k in chosen)
    except BrokenExecutor as problem:
        raise WorkerError(
            "a process ended by itself, as one does when memory is used up; finished tasks are "
            "kept, and fewer jobs need less"
        ) from problem


def _placed(k: int, run: Any, task: Task) -> tuple[int, Outcome]:
    return k, timed(run, task)
