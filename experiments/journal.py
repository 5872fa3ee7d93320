"""Finished tasks in a SQLite file, each committed before the next is waited for.

The file is there to be queried: the table `task` has a row a task, and the view `quantity` a row a
task and scalar result, of which the last that was recorded counts. What depends on the place, like
``json_extract(parameters, '$.beta')``, is a matter of plain SQL.

What was added since somebody last closed the file stands in SQLite's log beside it (``-wal``), with
which a run that was killed leaves it; whoever opens the file next takes it in.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType

from experiments.record import outcome_as, outcome_from
from experiments.study import Outcome

OURS = 0x45786A31  # the application's number in the file's header
WAIT = 60.0  # seconds in which whoever else reads or writes should be done

TABLE = """
CREATE TABLE task (
    key TEXT PRIMARY KEY,      -- hash of all that the outcome depends on
    study TEXT NOT NULL,
    task TEXT NOT NULL,
    parameters TEXT NOT NULL,  -- JSON
    seconds REAL NOT NULL,
    results TEXT NOT NULL,     -- JSON: by name a label, a value, perhaps a standard error
    versions TEXT NOT NULL     -- JSON: of Python, the libraries and our own sources
)
"""
# JSON has no word for infinity, so that it is a string there; SQL has none for what is no number.
NUMBER = """CASE json_extract(r.value, '$.{0}')
        WHEN 'inf' THEN 9e999 WHEN '-inf' THEN -9e999 WHEN 'nan' THEN NULL
        ELSE json_extract(r.value, '$.{0}') END AS {0}"""
VIEW = f"""
CREATE VIEW quantity AS SELECT
    t.study, t.task, t.parameters, r.key AS quantity, json_extract(r.value, '$.label') AS label,
    {NUMBER.format("value")},
    {NUMBER.format("standard_error")},
    t.seconds, json_extract(t.versions, '$.sources') AS sources
FROM task AS t, json_each(t.results) AS r
WHERE json_type(r.value, '$.value') <> 'array'
    AND t.rowid IN (SELECT max(rowid) FROM task GROUP BY study, task, parameters)
"""


class JournalError(Exception):
    """A file that holds no finished tasks of ours, that can't be written, or that is in use."""


class Journal:
    """The finished tasks of a study, for one process that adds to them.

    Args:
        path: the file; made where it is missing, with its folder.

    Raises:
        JournalError: another process adds to it now, or it is a file of another kind.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        # An exclusive transaction on a file that stays empty: the system ends it with the process,
        # however that ends. The journal itself can be read meanwhile.
        self._sign = path.with_suffix(".lock")
        self._lock = sqlite3.connect(self._sign, timeout=0, isolation_level=None)
        try:
            self._lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as problem:
            self._lock.close()
            raise JournalError(
                f"{path.parent}: another process runs a study there; wait for it to end, or give "
                "another folder"
            ) from problem
        try:
            with _said(path):
                self._file = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
                new = _is_new(self._file, path)
                # With a log whoever reads waits for nobody, and a commit is one write to the disk.
                self._file.execute("PRAGMA journal_mode = WAL")
                self._file.execute("PRAGMA synchronous = FULL")
                if new:
                    self._file.executescript(
                        f"BEGIN; PRAGMA application_id = {OURS}; {TABLE}; {VIEW}; COMMIT"
                    )
        except JournalError:
            self._release()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._release()

    def read(self) -> dict[str, Outcome]:
        """Outcomes by their keys.

        Raises:
            JournalError: the file is damaged.
        """
        with _said(self.path):
            return _rows(self._file)

    def add(self, key: str, study: str, outcome: Outcome, versions: Mapping[str, str]) -> None:
        """Add one outcome, or put it in place of that of its key; on the disk when this returns.

        Raises:
            JournalError: it can't be written.
        """
        entry = outcome_as(outcome)
        row = (
            key, study, entry["task"], _text(entry["parameters"]), entry["seconds"],
            _text(entry["results"]), _text(versions),
        )  # fmt: skip
        with _said(self.path):
            self._file.execute("INSERT OR REPLACE INTO task VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def _release(self) -> None:
        self._lock.close()
        with contextlib.suppress(OSError):
            self._sign.unlink()


def read_journal(path: Path) -> dict[str, Outcome]:
    """Outcomes by their keys, while or after a study runs; none where there is no file.

    Raises:
        JournalError: the file is damaged, or of another kind.
    """
    if not path.exists():
        return {}
    # Not read-only: the first to open it after a kill takes back what was not committed.
    with _said(path), contextlib.closing(sqlite3.connect(path, timeout=WAIT)) as file:
        return {} if _is_new(file, path) else _rows(file)


def _rows(file: sqlite3.Connection) -> dict[str, Outcome]:
    rows = file.execute("SELECT key, task, parameters, seconds, results FROM task")
    return {
        key: outcome_from(
            {
                "task": task,
                "parameters": json.loads(parameters),
                "seconds": seconds,
                "results": json.loads(results),
            }
        )
        for key, task, parameters, seconds, results in rows
    }


def _is_new(file: sqlite3.Connection, path: Path) -> bool:
    """Whether nothing stands in the file yet; an error if something else does than our table."""
    (number,) = file.execute("PRAGMA application_id").fetchone()
    (tables,) = file.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if number == OURS or number == tables == 0:
        return number != OURS
    raise JournalError(f"{path}: a database of another program; give another folder")


def _text(entry: Mapping[str, object]) -> str:
    return json.dumps(entry, sort_keys=True, allow_nan=False)


@contextlib.contextmanager
def _said(path: Path) -> Iterator[None]:
    """What the library says, with the file's name."""
    try:
        yield
    except sqlite3.OperationalError as problem:  # locked, full, no permission
        raise JournalError(f"{path}: {problem}") from problem
    except (sqlite3.Error, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise JournalError(
            f"{path}: not a file of finished tasks, or damaged ({problem}); move it away to start "
            "anew"
        ) from problem
