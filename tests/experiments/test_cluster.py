"""Tasks on the workers of a scheduler: what one process finds, kills, and errors that say why."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import cluster
from experiments.__main__ import main
from experiments.cluster import WorkerError, difference, done, outcomes_on
from experiments.journal import read_journal
from experiments.record import read_record, versions
from experiments.runner import JOURNAL, RECORD, run_study
from experiments.study import Quantity, Study, Task, exact
from tests.experiments.test_runner import ROOT, toy

NAME = "in_context.sweep"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a scheduler with two workers, each a process of its own."""
    distributed = pytest.importorskip("distributed", reason="the extra `cluster`")
    dask_config = pytest.importorskip("dask.config", reason="the extra `cluster`")

    # A task is tried once: the tests that lose a worker need not lose four.
    with (
        dask_config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as workers,
    ):
        yield workers.scheduler_address


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """A number from a worker, which may stumble."""
    if parameters["k"] == parameters.get("dies"):
        os._exit(1)
    if parameters["k"] == parameters.get("fails"):
        raise ArithmeticError("this task cannot be done")
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "0")
    return {"square": exact(parameters["k"] ** 2), "threads": exact(float(threads)),
            "process": exact(os.getpid())}  # fmt: skip


def study(count: int = 4, **more: int) -> Study:
    def tasks(quick: bool, seed: int) -> list[Task]:
        return [Task(f"square of {k}", {"k": k, **more}) for k in range(count)]

    return replace(toy(), tasks=tasks, run=run, conditions=lambda _: [])


def test_a_cluster_finds_what_one_process_finds(address: str, tmp_path: Path):
    grid = ["sweep", "--seeds", "3", "--tokens", "20,40", "--beta", "5", "--layers", "10"]
    assert main([*grid, "--out", str(tmp_path / "one")]) == 0
    assert main([*grid, "--out", str(tmp_path / "many"), "--scheduler", address]) == 0
    one, many = (read_record(tmp_path / f / NAME / RECORD) for f in ("one", "many"))
    assert one.versions == many.versions
    assert [o.task for o in one.outcomes] == [o.task for o in many.outcomes]
    for here, there in zip(one.outcomes, many.outcomes, strict=True):
        for name, quantity in here.results.items():
            # Workers have one thread for matrix products; sums may be taken in another order.
            np.testing.assert_allclose(quantity.value, there[name].value, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(quantity.error, there[name].error, rtol=1e-9, atol=1e-12)


def test_workers_are_processes_of_their_own_with_one_thread_each(address: str, tmp_path: Path):
    record = run_study(study(12), tmp_path, scheduler=address)
    assert [float(o["square"]) for o in record.outcomes] == [float(k**2) for k in range(12)]
    assert {float(o["threads"]) for o in record.outcomes} == {1.0}
    assert len({float(o["process"]) for o in record.outcomes} - {float(os.getpid())}) == 2


def test_a_killed_driver_loses_nothing_that_was_finished(address: str, tmp_path: Path):
    command = ["sweep", "--seeds", "20", "--tokens", "100,200", "--beta", "5", "--layers", "60",
               "--out", str(tmp_path), "--scheduler", address]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments", *command],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    folder, deadline = tmp_path / NAME, time.monotonic() + 60
    while len(read_journal(folder / JOURNAL)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait(timeout=60) == -signal.SIGKILL
    kept = rows(folder)
    assert 2 <= len(kept) < 40
    assert main(command) == 0
    assert rows(folder)[: len(kept)] == kept  # not written again
    assert len(rows(folder)) == 40


def rows(folder: Path) -> list[tuple]:
    with closing(sqlite3.connect(folder / JOURNAL)) as file:
        return file.execute("SELECT rowid, key, seconds FROM task ORDER BY rowid").fetchall()


def test_a_task_that_fails_fails_the_run_as_it_does_here(address: str, tmp_path: Path):
    with pytest.raises(ArithmeticError, match="this task cannot be done"):
        run_study(study(fails=2), tmp_path, scheduler=address)
    assert run_study(study(), tmp_path, scheduler=address).passed  # and the workers live


def test_a_worker_that_dies_is_named_by_its_task(address: str, tmp_path: Path):
    with pytest.raises(WorkerError, match=r"task 'square of 0': each worker that had it died"):
        run_study(study(1, dies=0), tmp_path, scheduler=address)
    assert run_study(study(2), tmp_path, scheduler=address).passed  # another has taken its place


def test_a_worker_without_the_study_is_said(address: str, tmp_path: Path):
    def elsewhere(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
        return {}

    elsewhere.__module__ = "experiments.of_somebody_else"
    with pytest.raises(WorkerError, match=r"can't load the study .*of_somebody_else"):
        run_study(replace(study(), run=elsewhere), tmp_path, scheduler=address)


def test_a_worker_with_other_sources_does_nothing(address: str, tmp_path: Path, monkeypatch):
    other = {**versions(), "numpy": "1.0"}
    monkeypatch.setattr(cluster, "versions", lambda: other)
    with pytest.raises(WorkerError, match=r"worker tcp://.*: numpy \S+ in place of 1\.0; install"):
        list(outcomes_on(address, study(), study().tasks(False, 0), [0]))


def test_a_worker_that_came_later_is_asked_with_each_task():
    task = study().tasks(False, 0)[2]
    place = f"{run.__module__}:run"
    assert float(done(task, place, versions())["square"]) == 4
    with pytest.raises(WorkerError, match=r"sources sha256:.* in place of another"):
        done(task, place, {**versions(), "sources": "another"})
    assert difference({}, {"numpy": "2"}) == "numpy absent in place of 2"


def test_no_worker_is_said(tmp_path: Path):
    distributed = pytest.importorskip("distributed", reason="the extra `cluster`")
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as alone:
        tasks = study().tasks(False, 0)
        with pytest.raises(WorkerError, match=r"no worker at .* for 0\.1 s; start some by `dask"):
            list(outcomes_on(alone.scheduler_address, study(), tasks, [0, 1], patience=0.1))


@pytest.mark.parametrize("address", ["", "nonsense", "box://127.0.0.1:1", "tcp://127.0.0.1:1"])
def test_no_scheduler_is_said(
    address: str, tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("distributed", reason="the extra `cluster`")
    monkeypatch.setattr(cluster, "ANSWER", 0.2)
    assert main(["sweep", "--out", str(tmp_path), "--scheduler", address]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{NAME}: no dask scheduler answers at {address} (")
    assert error.count("\n") == 1


def test_the_extra_is_named_where_it_is_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(WorkerError, match="install the extra `cluster`"):
        list(outcomes_on("tcp://127.0.0.1:1", study(), study().tasks(False, 0), [0]))
