"""Decides the statements and tells how the answers compare with what is expected."""

from __future__ import annotations

import statistics
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.columns import aligned
from benchmarks.statements.corpus import CHAPTERS, Coverage, Entry, coverage
from proofs.decide import ended
from proofs.files import Task, Told, decide_all
from proofs.verdict import Verdict, weakest

UNDECIDED = (Verdict.CHECKED, Verdict.OPEN)
HEADINGS = (
    "", "as expected", "proved", "refuted", "ill-posed", "wrong", "undecided",
    "median", "worst", "CPU median", "CPU worst",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A statement and the answers for its goals."""

    entry: Entry
    answers: Sequence[Told]

    @property
    def verdict(self) -> Verdict:
        return weakest(answer.verdict for answer in self.answers)

    @property
    def seconds(self) -> float:
        """In process, for the whole file."""
        return sum(answer.seconds for answer in self.answers)

    @property
    def busy(self) -> float:
        """Seconds of the processor, which tell more where other programs use it too."""
        return sum(answer.busy for answer in self.answers)

    @property
    def as_expected(self) -> bool:
        return self.verdict is self.entry.expected

    @property
    def is_wrong(self) -> bool:
        """Decided, and not as expected: one of the two is mistaken."""
        return not self.as_expected and self.verdict not in UNDECIDED

    @property
    def crash(self) -> str:
        return next((a.crash for a in self.answers if a.crash), "")

    @property
    def mutants(self) -> Counter[str]:
        """How the mutants of all goals ended, where they were asked for."""
        total: Counter[str] = Counter()
        for answer in self.answers:
            total.update(answer.mutants or {})
        return total

    def as_json(self) -> dict[str, object]:
        """The row as plain data; the answers are those of `decide --json`."""
        return {
            "file": self.entry.file,
            "kind": self.entry.kind,
            "chapter": self.entry.chapter or None,
            "equation": self.entry.equation,
            "expected": str(self.entry.expected),
            "verdict": str(self.verdict),
            "seconds": round(self.seconds, 4),
            "cpu_seconds": round(self.busy, 4),
            "goals": [answer.row for answer in self.answers],
        }


def run(
    entries: Sequence[Entry], *, seconds: float = 10.0, jobs: int = 1, mutants: bool = False
) -> Iterator[Row]:
    """The answers, in the order of the entries; certificates are thrown away.

    The nearest true neighbours aren't looked for, so that times are those of the verdicts. They are
    those of the deciding process, from the text to the verdict: by the clock, and of the processor.

    Args:
        entries: what to decide.
        seconds: for each goal.
        jobs: processes.
        mutants: whether the proofs are held against mutants too.
    """
    with tempfile.TemporaryDirectory() as folder:
        tasks = [
            Task(entry.path, seconds, certificates=Path(folder), mutants=mutants, neighbour=False)
            for entry in entries
        ]
        for entry, answers in zip(entries, decide_all(tasks, jobs), strict=True):
            yield Row(entry, answers)


# ---------------------------------------------------------------- the tables


def as_json(rows: Sequence[Row]) -> dict[str, object]:
    """Counts, the comparison with the Lean port, and all rows."""
    return {
        "as_expected": sum(row.as_expected for row in rows),
        "total": len(rows),
        "wrong": [row.entry.file for row in rows if row.is_wrong],
        "crashed": [row.entry.file for row in rows if row.crash],
        "groups": {
            name: {key: _counts(group) for key, group in _grouped(rows, of).items()}
            for name, of in GROUPS.items()
        },
        "cookbook": [
            {
                "chapter": found.chapter.number,
                "equations": found.chapter.equations,
                "proved": list(found.whole),
                "in_part": list(found.in_part),
                "missing": list(found.missing),
                "lean_port": found.chapter.lean,
            }
            for found in coverages(rows)
        ],
        "mutants": dict(_mutants(rows)),
        "rows": [row.as_json() for row in rows],
    }


def as_text(rows: Sequence[Row]) -> str:
    """What differs from the expectation first, with the witness; then the tables."""
    lines = []
    for title, chosen in (
        ("WRONG, or the expectation is", [row for row in rows if row.is_wrong]),
        ("FAILED by a bug of ours", [row for row in rows if row.crash]),
    ):
        if chosen:
            lines.append(f"{title}: {len(chosen)}")
            lines += [_difference(row) for row in chosen] + [""]
    for title, of in GROUPS.items():
        lines += [*_table(title, _grouped(rows, of)), ""]
    lines += [*map(str, coverages(rows)), ""]
    left = [row for row in rows if row.verdict in UNDECIDED and not row.crash]
    if left:
        lines.append(f"undecided: {len(left)}")
        lines += [
            f"  {row.entry.file} ({row.entry.kind}, {row.entry.expected}): "
            f"{_reason(row)} ({row.seconds:.1f} s)"
            for row in left
        ] + [""]
    mutants = _mutants(rows)
    if mutants:
        lines.append(f"{mutants.total()} mutants: {ended(mutants)}")
    lines.append(
        f"{sum(row.as_expected for row in rows)} of {len(rows)} as expected, "
        f"{sum(row.is_wrong for row in rows)} wrong"
    )
    return "\n".join(lines)


def coverages(rows: Sequence[Row]) -> list[Coverage]:
    """The Cookbook's chapters of which all statements were decided."""
    verdicts = {row.entry.file: row.verdict for row in rows}
    return [coverage(chapter, verdicts) for chapter in CHAPTERS if _has_all(chapter.number, rows)]


def _has_all(chapter: str, rows: Sequence[Row]) -> bool:
    from benchmarks.statements.corpus import entries

    files = {row.entry.file for row in rows}
    return all(entry.file in files for entry in entries() if entry.chapter == chapter)


def _by_chapter(entry: Entry) -> str:
    return f"chapter {entry.chapter}" if entry.chapter else ""


GROUPS: dict[str, Callable[[Entry], str]] = {
    "folder": lambda entry: entry.folder,
    "chapter of the Cookbook": _by_chapter,
    "kind": lambda entry: entry.kind,
}


def _grouped(rows: Sequence[Row], of: Callable[[Entry], str]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        key = of(row.entry)
        if key:
            groups.setdefault(key, []).append(row)
    return groups


def _counts(rows: Sequence[Row]) -> dict[str, object]:
    def share(expected: Verdict) -> list[int]:
        due = [row for row in rows if row.entry.expected is expected]
        return [sum(row.as_expected for row in due), len(due)]

    times, busy = [row.seconds for row in rows], [row.busy for row in rows]
    return {
        "as_expected": [sum(row.as_expected for row in rows), len(rows)],
        "proved": share(Verdict.PROVED),
        "refuted": share(Verdict.REFUTED),
        "ill_posed": share(Verdict.ILL_POSED),
        "wrong": sum(row.is_wrong for row in rows),
        "undecided": sum(row.verdict in UNDECIDED for row in rows),
        "median": round(statistics.median(times), 4),
        "worst": round(max(times), 4),
        "cpu_median": round(statistics.median(busy), 4),
        "cpu_worst": round(max(busy), 4),
    }


def _table(title: str, groups: dict[str, list[Row]]) -> list[str]:
    cells = [(title, *HEADINGS[1:])]
    for key, rows in groups.items():
        counts = _counts(rows)
        shares = [counts[k] for k in ("as_expected", "proved", "refuted", "ill_posed")]
        cells.append((
            key,
            *(f"{done}/{due}" if due else "-" for done, due in shares),  # type: ignore[misc]
            *(str(counts[k] or "-") for k in ("wrong", "undecided")),
            *(_time(counts[k]) for k in ("median", "worst", "cpu_median", "cpu_worst")),
        ))  # fmt: skip
    return aligned(cells)


def _time(seconds: object) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"  # type: ignore


def _mutants(rows: Sequence[Row]) -> Counter[str]:
    total: Counter[str] = Counter()
    for row in rows:
        total.update(row.mutants)
    return total


def _difference(row: Row) -> str:
    """A row that differs, with what shows it."""
    shown = [f"  {row.entry.file}: {row.verdict}, expected {row.entry.expected}"]
    for answer in row.answers:
        if answer.verdict is not row.entry.expected:
            shown += [f"    {line}" for line in (answer.crash or answer.text).splitlines()]
    return "\n".join(shown)


def _reason(row: Row) -> str:
    first = next(a for a in row.answers if a.verdict is row.verdict)
    return f"{row.verdict}; {first.message.partition('; ')[0]}"
