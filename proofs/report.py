"""What a recheck found, a row for each theorem: as a table for the eye, as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from proofs.language.tree import Statement, postorder
from proofs.verdict import Verdict

OUTCOMES = ("illtyped", "refuted", "equivalent", "open", "accepted")  # of mutants, in this order
HEADINGS = ("name", "items", "verdict", "sizes", "axioms", "instances", "worst error", "mutants",
            "seconds")  # fmt: skip
SIZED = frozenset({"matrix_type", "complex_matrix_type", "random_type", "index_type"})
RIGHT = frozenset({"instances", "worst error", "mutants", "seconds"})  # numbers stand to the right


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one theorem after a recheck."""

    name: str
    verdict: Verdict
    items: tuple[str, ...] = ()
    sizes: str = ""
    axioms: tuple[str, ...] = ()
    hypotheses_used: tuple[str, ...] = ()
    hypotheses_unused: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    steps: int = 0
    derivation: str = ""  # what was shown of the derivation's explicit entries
    instances: int = 0
    worst_error: float | None = None  # 0 where all values are exact; None without instances
    mutants: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    seconds: float = 0.0
    shortfalls: tuple[str, ...] = ()  # why the main job can't end well

    def as_json(self) -> dict[str, object]:
        """The row as plain data, in a fixed order of keys."""
        return {
            "name": self.name,
            "items": list(self.items),
            "verdict": str(self.verdict),
            "sizes": self.sizes,
            "axioms": list(self.axioms),
            "hypotheses_used": list(self.hypotheses_used),
            "hypotheses_unused": list(self.hypotheses_unused),
            "rules": list(self.rules),
            "lemmas": list(self.lemmas),
            "steps": self.steps,
            "derivation": self.derivation,
            "instances": self.instances,
            "worst_error": self.worst_error,
            "mutants": {outcome: self.mutants.get(outcome, 0) for outcome in OUTCOMES},
            "seconds": round(self.seconds, 3),
            "shortfalls": list(self.shortfalls),
        }


def as_json(rows: Sequence[Row]) -> str:
    """The rows as a JSON list."""
    return json.dumps([row.as_json() for row in rows], indent=2, ensure_ascii=False) + "\n"


def as_table(rows: Sequence[Row]) -> str:
    """The rows as a table, with what fell short below it, and a closing line.

    Mutants are shown as `settled/all`: settled are those that are ill-typed, refuted or proved
    equivalent to a true statement; the rest stayed open.
    """
    cells = [_cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *cells, strict=True)]
    lines = [_line(HEADINGS, widths), "  ".join("-" * width for width in widths)]
    lines += [_line(row, widths) for row in cells]
    lines += [f"{row.name}: {why}" for row in rows for why in row.shortfalls]
    return "\n".join([*lines, "", summary(rows)])


def summary(rows: Sequence[Row]) -> str:
    """One line: how many theorems have which verdict, and how many fell short.

    >>> summary([Row("risk.four_terms", Verdict.PROVED), Row("flow.law", Verdict.OPEN,
    ...     shortfalls=("no certificate",))])
    '2 theorems: 1 proved, 1 open; 1 fell short'
    """
    counts = {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    shown = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    short = sum(bool(row.shortfalls) for row in rows)
    noun = "theorem" if len(rows) == 1 else "theorems"
    return f"{len(rows)} {noun}: {shown or 'none'}; {short or 'none'} fell short"


def _cells(row: Row) -> tuple[str, ...]:
    total = sum(row.mutants.values())
    settled = sum(row.mutants.get(outcome, 0) for outcome in ("illtyped", "refuted", "equivalent"))
    return (
        row.name,
        " ".join(row.items) or "-",
        str(row.verdict),
        row.sizes or "-",
        " ".join(row.axioms) or "none",
        str(row.instances),
        _error(row.worst_error),
        f"{settled}/{total}" if total else "-",
        f"{row.seconds:.2f}",
    )


def _error(worst: float | None) -> str:
    if worst is None:
        return "-"
    return f"{worst:.1e}" if worst else "exact"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    shown = [
        cell.rjust(width) if heading in RIGHT else cell.ljust(width)
        for cell, width, heading in zip(cells, widths, HEADINGS, strict=True)
    ]
    return "  ".join(shown).rstrip()


def stated_sizes(statement: Statement) -> str:
    """The sizes for which a statement speaks: `any n, k`, or the literal ones that it fixes."""
    free = [n for d in statement.declarations if d.type.op == "dimension_type" for n in d.names]
    if free:
        return "any " + ", ".join(free)
    literal = {
        int(str(size.data))
        for node in postorder(d.type for d in statement.declarations)
        if node.op in SIZED
        for size in node.args
        if size.op == "rational"
    } - {1}
    return f"only {', '.join(map(str, sorted(literal)))}" if literal else "scalars"
