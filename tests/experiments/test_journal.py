"""Finished tasks in SQLite: durable, readable by anybody, and of one process at a time."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from experiments.__main__ import main
from experiments.catalogue import NAMES
from experiments.journal import Journal, JournalError, read_journal
from experiments.runner import JOURNAL
from experiments.study import Outcome, Quantity, Task, bound, exact, monte_carlo, sampled, z_score
from tests.experiments.test_runner import ROOT

VERSIONS = {"python": "3.11", "sources": "sha256:0"}


def outcome(k: int, **results: Quantity) -> Outcome:
    return Outcome(Task(f"task {k}", {"k": k, "name": "é"}), results, 0.25)


def select(path: Path, query: str) -> list[tuple]:
    """As a user would, without any of our own code."""
    with closing(sqlite3.connect(path)) as file:
        return file.execute(query).fetchall()


def test_what_was_added_is_read_again_to_the_last_bit(tmp_path: Path):
    path = tmp_path / "deep" / JOURNAL
    mean = monte_carlo(np.random.default_rng(0).normal(size=(400, 2)) / 3)
    lost = exact([[np.inf, -np.inf], [np.nan, 1 / 3]])
    with Journal(path) as journal:
        journal.add("a", "toy", outcome(1, mean=mean, lost=lost), VERSIONS)
        journal.add("b", "toy", outcome(2, none=bound([])), VERSIONS)
        assert journal.read().keys() == {"a", "b"}
    again = read_journal(path)["a"]
    assert (again.task, again.seconds) == (outcome(1).task, 0.25)
    assert (again["mean"].label, again["lost"].label) == ("MC", "exact")
    np.testing.assert_array_equal(again["mean"].value, mean.value)
    np.testing.assert_array_equal(again["mean"].standard_error, mean.standard_error)
    np.testing.assert_array_equal(again["lost"].value, lost.value)
    assert again["lost"].standard_error is None
    assert z_score(again["mean"]) == z_score(mean) < 4.5
    assert z_score(again["mean"], [1.0, 1.0]) > 10
    assert sorted(p.name for p in path.parent.iterdir()) == [JOURNAL]  # and nothing beside it


def test_a_sweep_is_read_by_plain_sql(tmp_path: Path):
    path = tmp_path / JOURNAL
    with Journal(path) as journal:
        for k in range(4):
            mean = monte_carlo([k, k + 2.0])
            journal.add(f"{k}", "toy", outcome(k, mean=mean, all=exact([1.0, 2.0])), VERSIONS)
        journal.add("odd", "other", outcome(9, up=exact(np.inf), no=sampled(np.nan)), VERSIONS)
    query = """SELECT json_extract(parameters, '$.k'), value, standard_error, label, sources
               FROM quantity WHERE study = 'toy' AND quantity = 'mean' ORDER BY 1"""
    assert select(path, query) == [(k, k + 1.0, 1.0, "MC", "sha256:0") for k in range(4)]
    rows = select(
        path,
        "SELECT quantity, value, standard_error FROM quantity WHERE study = 'other' ORDER BY 1",
    )
    assert rows == [("no", None, None), ("up", np.inf, None)]
    # Arrays are in the table, not among the scalars.
    assert select(path, "SELECT count(*) FROM quantity WHERE quantity = 'all'") == [(0,)]
    assert select(path, "SELECT json_extract(results, '$.all.value[1]') FROM task LIMIT 1") == [
        (2,)
    ]


def test_of_a_task_done_again_the_view_shows_the_last_outcome(tmp_path: Path):
    path = tmp_path / JOURNAL
    with Journal(path) as journal:
        for key, value in (("old", 1.0), ("other", 5.0), ("new", 2.0), ("new", 3.0)):
            found = outcome(7 if key == "other" else 1, x=exact(value))
            journal.add(key, "toy", found, VERSIONS)
    assert select(path, "SELECT task, value FROM quantity ORDER BY value") == [
        ("task 1", 3.0),
        ("task 7", 5.0),
    ]
    assert len(read_journal(path)) == 3


KILLED = """
import os, sys
from pathlib import Path
from experiments.journal import Journal
from tests.experiments.test_journal import VERSIONS, outcome
journal = Journal(Path(sys.argv[1]))
for k in range(20):
    journal.add(str(k), "toy", outcome(k), VERSIONS)
journal._file.execute("BEGIN")
journal.add("uncommitted", "toy", outcome(99), VERSIONS)
os.kill(os.getpid(), 9)
"""


def test_a_kill_between_commits_loses_nothing_and_lets_the_next_in(tmp_path: Path):
    path = tmp_path / JOURNAL
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(path)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -9
    assert read_journal(path).keys() == {str(k) for k in range(20)}
    with Journal(path) as journal:
        journal.add("20", "toy", outcome(20), VERSIONS)
        assert len(journal.read()) == 21


def test_a_second_process_is_refused_and_the_first_goes_on(tmp_path: Path):
    path = tmp_path / JOURNAL
    with Journal(path) as first:
        with pytest.raises(JournalError, match="another process runs a study there"):
            Journal(path)
        first.add("a", "toy", outcome(1), VERSIONS)
        assert read_journal(path).keys() == {"a"}  # reading is free
    with Journal(path) as second:
        assert second.read().keys() == {"a"}


def test_a_refused_run_says_why_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = tmp_path / NAMES[0]
    with Journal(folder / JOURNAL):
        assert main(["run", NAMES[0], "--quick", "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{NAMES[0]}: {folder}: another process")
    assert error.count("\n") == 1


def filled(path: Path) -> None:
    with Journal(path) as journal:
        for k in range(12):
            journal.add(str(k), "toy", outcome(k, square=exact(k**2)), VERSIONS)


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE task (key TEXT)")


def no_database(path: Path) -> None:
    path.write_text("key,value\n" * 1000)


def cut_short(path: Path) -> None:
    filled(path)
    path.write_bytes(path.read_bytes()[:5000])


def overwritten(path: Path) -> None:
    filled(path)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)


def spoiled_by_hand(path: Path) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE task SET results = '{\"square\": 3}' WHERE rowid = 4")


@pytest.mark.parametrize(
    "spoil",
    [foreign, no_database, cut_short, overwritten, spoiled_by_hand],
    ids=lambda f: f.__name__,
)
def test_a_file_that_is_not_ours_or_damaged_is_named_and_left_alone(tmp_path: Path, spoil):
    path = tmp_path / JOURNAL
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(JournalError) as caught:
        read_journal(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    with pytest.raises(JournalError) as caught, Journal(path) as journal:
        journal.read()
    assert str(caught.value).startswith(f"{path}: ")
    assert path.read_bytes() == before
    path.unlink()
    with Journal(path) as journal:  # the refusals left no lock behind
        assert journal.read() == {}


def test_an_empty_file_is_a_new_one(tmp_path: Path):
    path = tmp_path / JOURNAL
    assert read_journal(path) == {}
    assert not path.exists()
    path.touch()
    assert read_journal(path) == {}
    with Journal(path) as journal:
        assert journal.read() == {}
    assert read_journal(path) == {}


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / JOURNAL).mkdir()
    with pytest.raises(JournalError, match=str(tmp_path / JOURNAL)):
        Journal(tmp_path / JOURNAL)
