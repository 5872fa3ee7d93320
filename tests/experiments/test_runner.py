"""The runner: what is finished is kept, records can be read again, and conditions are said."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import textwrap
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.__main__ import INTERRUPTED, main, report
from experiments.catalogue import NAMES, chosen, find
from experiments.cluster import WorkerError
from experiments.journal import read_journal
from experiments.record import draw_record, key_of, read_record, versions, write_record
from experiments.runner import JOURNAL, PICTURE, RECORD, TABLES, run_study
from experiments.study import (
    Condition,
    Outcome,
    Quantity,
    Setting,
    Study,
    Table,
    Task,
    exact,
)

ROOT = Path(__file__).parents[2]
PNG = b"\x89PNG\r\n\x1a\n"


def toy(limit: float = 100.0, forbidden: Sequence[int] = ()) -> Study:
    """Squares of ten numbers; fails if it is asked for a forbidden one."""

    def tasks(quick: bool, seed: int) -> list[Task]:
        return [Task(f"square {k}", {"k": k, "seed": seed}) for k in range(3 if quick else 10)]

    def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
        assert parameters["k"] not in forbidden, "a finished task was done again"
        return {"square": exact(parameters["k"] ** 2), "lost": exact([np.inf, np.nan])}

    def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
        return [Condition("worst square", max(float(o["square"]) for o in outcomes), "<=", limit)]

    def draw(figure: Any, outcomes: Sequence[Outcome]) -> None:
        figure.subplots().plot([float(o["square"]) for o in outcomes])

    return Study("toy.squares", "-", "squares", (), tasks, run, conditions, draw)


def test_a_record_says_what_was_found_and_can_be_read_again(tmp_path: Path):
    record = run_study(toy(), tmp_path, seed=3)
    assert record.passed
    again = read_record(tmp_path / RECORD)
    assert again.conditions == record.conditions
    assert again.versions == record.versions == versions()
    assert [o.task for o in again.outcomes] == [o.task for o in record.outcomes]
    for old, new in zip(record.outcomes, again.outcomes, strict=True):
        assert old["square"].label == new["square"].label == "exact"
        np.testing.assert_array_equal(old["square"].value, new["square"].value)
        np.testing.assert_array_equal(old["lost"].value, new["lost"].value)
    write_record(tmp_path / "again.json", again)
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / RECORD).read_bytes()
    draw_record(toy(), again, tmp_path / "again.png")
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / PICTURE).read_bytes()
    assert (tmp_path / PICTURE).read_bytes().startswith(PNG)


def test_a_finished_task_is_not_done_again(tmp_path: Path):
    whole = run_study(toy(), tmp_path / "whole")
    run_study(toy(), tmp_path / "part", quick=True)
    resumed = run_study(toy(forbidden=(0, 1, 2)), tmp_path / "part")
    assert [float(o["square"]) for o in resumed.outcomes] == [
        float(o["square"]) for o in whole.outcomes
    ]
    with pytest.raises(AssertionError, match="done again"):
        run_study(toy(forbidden=(0,)), tmp_path / "part", seed=1)  # of another seed it is


def test_other_sources_or_libraries_make_a_finished_task_count_for_nothing():
    task, found = Task("a", {"k": 1}), versions()
    key = key_of("toy", task, found)
    assert key == key_of("toy", Task("a", {"k": 1}), dict(found))
    for name in found:
        assert key_of("toy", task, {**found, name: "another"}) != key
    assert key_of("toy", Task("a", {"k": 2}), found) != key
    assert key_of("other", task, found) != key


SLOW = """
import sys, time
from pathlib import Path
from experiments import __main__, catalogue
from experiments.runner import JOURNAL, run_study
from tests.experiments.test_runner import toy
import dataclasses

quick = toy()
def slowly(parameters):
    time.sleep(0.3)
    return quick.run(parameters)
study = dataclasses.replace(quick, run=slowly)
__main__.find = lambda name: study
__main__.chosen = lambda names: [study.name]
sys.exit(__main__.main(["run", study.name, "--out", sys.argv[1]]))
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_loses_nothing_that_was_finished(tmp_path: Path, sent: signal.Signals):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SLOW), str(tmp_path)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    folder = tmp_path / "toy.squares"
    deadline = time.monotonic() + 60
    while len(read_journal(folder / JOURNAL)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert out == ""
    assert process.returncode == (-signal.SIGKILL if sent is signal.SIGKILL else INTERRUPTED), err
    if sent is signal.SIGINT:
        assert err.startswith("\ntoy.squares: interrupted; finished tasks are kept in ")
        assert "Traceback" not in err
    assert not (folder / RECORD).exists()
    kept = [outcome.task.parameters["k"] for outcome in read_journal(folder / JOURNAL).values()]
    assert 2 <= len(kept) < 10
    record = run_study(toy(forbidden=kept), folder)
    assert [float(o["square"]) for o in record.outcomes] == [float(k**2) for k in range(10)]


def test_a_terminal_sees_the_progress(tmp_path: Path):
    terminal, end = pty.openpty()
    termios.tcsetwinsize(end, (24, 100))  # a bar needs some width
    script = textwrap.dedent(SLOW).replace("sleep(0.3)", "sleep(0.02)")
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=end, check=True)
    ready, _, _ = select.select([terminal], [], [], 5)
    shown = os.read(terminal, 10_000).decode() if ready else ""
    os.close(end)
    os.close(terminal)
    assert "toy.squares" in shown
    assert "/10 [" in shown
    assert b"all exit conditions hold" in done.stdout


def test_several_processes_find_what_one_finds(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    name = "first_block.quantised_rows"
    for jobs in ("1", "2"):
        assert main(["run", name, "--quick", "--out", str(tmp_path / jobs), "--jobs", jobs]) == 0
    one, two = (read_record(tmp_path / jobs / name / RECORD) for jobs in ("1", "2"))
    assert one.conditions == two.conditions
    assert capfd.readouterr().err == ""  # no progress bar in a pipe


def test_a_process_that_dies_is_said_and_what_was_finished_is_kept(tmp_path: Path):
    def dies(parameters: Mapping[str, Any]) -> Mapping[str, Quantity]:
        if parameters["k"] == 2:
            while len(read_journal(tmp_path / JOURNAL)) < 2:
                time.sleep(0.01)
            os._exit(1)
        return toy().run(parameters)

    with pytest.raises(WorkerError, match="a process ended by itself"):
        run_study(replace(toy(), run=dies), tmp_path, quick=True, jobs=2)
    assert run_study(toy(forbidden=(0, 1)), tmp_path, quick=True).passed


def test_a_failed_condition_is_said_and_ends_non_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("experiments.__main__.find", lambda _: toy(limit=50.0))
    command = ["run", NAMES[0], "--out", str(tmp_path)]
    assert main(command) == 1
    assert "FAILS  worst square: 81 <= 50" in capsys.readouterr().out
    record = json.loads((tmp_path / toy().name / RECORD).read_text())
    assert not record["passed"]
    assert not record["conditions"][0]["holds"]


def test_a_value_that_is_no_number_fails_both_ways():
    assert not Condition("", float("nan"), "<=", 1.0).holds
    assert not Condition("", float("nan"), ">=", 1.0).holds


def test_unknown_names_and_numbers_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["run", "first_block.nothing", "--out", str(tmp_path)]) == 2
    assert "first_block.fibre_test" in capsys.readouterr().err
    assert main(["run", NAMES[0], "--jobs", "0", "--out", str(tmp_path)]) == 2
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="jobs"):
        run_study(toy(), tmp_path, jobs=0)


def test_a_subject_stands_for_its_studies():
    of_subject = [name for name in NAMES if name.startswith("first_block.")]
    assert chosen(["first_block"]) == of_subject
    assert chosen([NAMES[1], "first_block"])[0] == NAMES[1]


def test_the_name_of_a_module_is_enough():
    assert chosen([name.rpartition(".")[2] for name in NAMES]) == list(NAMES)
    with pytest.raises(KeyError, match="first"):
        chosen(["first"])


def test_the_list_names_every_study(capsys: pytest.CaptureFixture[str]):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    named = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert named == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_study_is_where_the_catalogue_says(name: str):
    study = find(name)
    assert study.name == name
    for quick in (False, True):
        tasks = study.tasks(quick, 0)
        assert len({task.name for task in tasks}) == len(tasks) > 0
        json.dumps([task.parameters for task in tasks], allow_nan=False)


def test_the_report_of_a_record_names_its_files(tmp_path: Path):
    text = report(toy(), run_study(toy(), tmp_path, quick=True), tmp_path)
    assert f"record   {tmp_path / RECORD}" in text
    assert "all exit conditions hold; 3 tasks" in text
    assert TABLES not in text
    assert not (tmp_path / TABLES).exists()


def open_to_reading() -> Study:
    """Squares or cubes, as one reads it; the zeroth task is the same in both readings."""

    def tasks(quick: bool, seed: int) -> list[Task]:
        some = [Task(f"{p} of {k}", {"k": k, "power": p}) for p in ("2", "3") for k in (1, 2)]
        return [Task("none", {"k": 0}), *some]

    def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
        return {"value": exact(parameters["k"] ** int(parameters.get("power", 2)))}

    def tables(outcomes: Sequence[Outcome]) -> list[Table]:
        rows = [(o.task.name, f"{float(o['value']):.0f}") for o in outcomes]
        return [Table("powers", ("task", "value"), rows)]

    setting = Setting("power", ("2", "3"), "what a power is")
    return replace(toy(), tasks=tasks, run=run, conditions=lambda _: [], draw=lambda *_: None,
                   tables=tables, settings=(setting,))  # fmt: skip


def test_a_reading_that_is_asked_for_leaves_the_others_out(tmp_path: Path):
    study = open_to_reading()
    assert len(run_study(study, tmp_path).outcomes) == 5
    record = run_study(study, tmp_path, readings={"power": "3"})
    assert [o.task.name for o in record.outcomes] == ["none", "3 of 1", "3 of 2"]
    assert read_record(tmp_path / RECORD).readings == {"power": "3"}
    for wrong in ({"power": "4"}, {"other": "2"}):
        with pytest.raises(ValueError, match=r"power=2, power=3"):
            run_study(study, tmp_path, readings=wrong)


def test_an_unknown_reading_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["run", NAMES[0], "--setting", "width=large", "--out", str(tmp_path)]) == 2
    assert "no setting width=large; there are none" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_tables_are_shown_and_kept(tmp_path: Path):
    study = open_to_reading()
    text = report(study, run_study(study, tmp_path, readings={"power": "3"}), tmp_path)
    kept = (tmp_path / TABLES).read_text()
    assert kept.splitlines() == [
        "powers",
        "",
        "|   task | value |",
        "|-------:|------:|",
        "|   none |     0 |",
        "| 3 of 1 |     1 |",
        "| 3 of 2 |     8 |",
    ]
    assert all(line in text for line in kept.splitlines())
    assert f"tables   {tmp_path / TABLES}" in text
