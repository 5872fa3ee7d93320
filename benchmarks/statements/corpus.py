"""The statements and what is known of them: `index.json`, and the Cookbook's numbering."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from proofs.verdict import Verdict

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement file."""

    file: str  # relative to the folder
    source: str
    section: str
    kind: str
    expected: Verdict
    note: str = ""

    @property
    def path(self) -> Path:
        return FOLDER / self.file

    @property
    def folder(self) -> str:
        return self.file.partition("/")[0]

    @property
    def chapter(self) -> str:
        """Of the Cookbook; empty elsewhere."""
        return self.section.partition(".")[0] if self.folder == "cookbook" else ""

    @property
    def equation(self) -> int | None:
        """The Cookbook's number; None for what has none there."""
        found = re.search(r"eq\. \((\d+)\)", self.source) if self.chapter else None
        return int(found[1]) if found else None


def entries(kinds: Iterable[str] = ()) -> list[Entry]:
    """The entries of the index, of some kinds only if any are named."""
    rows = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
    found = [Entry(**{**row, "expected": Verdict(row["expected"])}) for row in rows]
    wanted = set(kinds)
    return [entry for entry in found if not wanted or entry.kind in wanted]


# ---------------------------------------------------------------- beside the Lean port


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter of the Cookbook, and how many of its equations the Lean 4 port proves.

    The port is eric-wieser/lean-matrix-cookbook, as of 2025-09-16.
    """

    number: str
    title: str
    first: int
    last: int
    lean: int

    @property
    def equations(self) -> int:
        return self.last - self.first + 1


CHAPTERS = (
    Chapter("3", "Inverses", 145, 224, 16),
    Chapter("8", "Gaussians", 346, 396, 0),
)
# What our files say of these is less than what is printed.
IN_PART = {
    198: "a consequence of the definition",
    216: "for f(x) = x^p",
    220: "at full rank",
    383: "for a Gaussian vector",
    385: "the first two moments, two components",
    388: "the first two moments",
    396: "two components, along symmetric directions",
}


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which equations of a chapter are proved: those of which all files are."""

    chapter: Chapter
    whole: tuple[int, ...]
    in_part: tuple[int, ...]
    missing: tuple[int, ...]  # stated in our files, not proved

    def __str__(self) -> str:
        chapter = self.chapter
        lines = [
            f"Matrix Cookbook, chapter {chapter.number} ({chapter.title}): {len(self.whole)} of "
            f"{chapter.equations} equations proved; the Lean port proves {chapter.lean}"
        ]
        if self.in_part:
            shown = "; ".join(f"({n}) {IN_PART[n]}" for n in self.in_part)
            lines.append(f"  in part besides: {shown}")
        if self.missing:
            lines.append(f"  stated and not proved: {', '.join(f'({n})' for n in self.missing)}")
        return "\n".join(lines)


def coverage(chapter: Chapter, verdicts: Mapping[str, Verdict]) -> Coverage:
    """What was proved of a chapter.

    A file that states an equation is one of which `proved` is expected; the others are controls,
    or show where the printed form fails.

    Args:
        chapter: the chapter.
        verdicts: of each file that was decided.
    """
    stated: dict[int, list[Entry]] = {}
    for entry in entries():
        number = entry.equation
        if (
            number is not None
            and chapter.first <= number <= chapter.last
            and entry.chapter == chapter.number
            and entry.expected is Verdict.PROVED
            and entry.file in verdicts
        ):
            stated.setdefault(number, []).append(entry)
    proved = {
        number
        for number, files in stated.items()
        if all(verdicts[entry.file] is Verdict.PROVED for entry in files)
    }
    return Coverage(
        chapter,
        tuple(sorted(proved - IN_PART.keys())),
        tuple(sorted(proved & IN_PART.keys())),
        tuple(sorted(stated.keys() - proved)),
    )
