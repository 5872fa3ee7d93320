"""The statement benchmark: its data are in order, its tables tell the truth."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from benchmarks import __main__
from benchmarks.statements.corpus import (
    CHAPTERS,
    FOLDER,
    IN_PART,
    Chapter,
    Entry,
    coverage,
    entries,
)
from benchmarks.statements.run import Row, as_json, as_text, coverages, run
from proofs.files import Told
from proofs.verdict import Verdict

ENTRIES = entries()


def answer(verdict: Verdict, seconds: float = 0.25, message: str = "", crash: str = "") -> Told:
    row = {
        "file": "x.thm", "seconds": seconds, "cpu_seconds": seconds / 2, "message": message,
        "mutants": None, "crash": crash,
    }  # fmt: skip
    return Told(verdict, f"x.thm: {verdict}\n  counterexample:\n    A = 1", row)


def row(entry: Entry, verdict: Verdict, **options: object) -> Row:
    return Row(entry, [answer(verdict, **options)])  # type: ignore[arg-type]


def test_the_index_names_every_file_once():
    files = Counter(entry.file for entry in ENTRIES)
    assert set(files) == {str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.thm")}
    assert max(files.values()) == 1
    assert len(ENTRIES) == 370


def test_the_index_says_what_the_files_say():
    for entry in ENTRIES:
        head = entry.path.read_text(encoding="utf-8").splitlines()
        assert head[0] == f"# {entry.source}"
        assert head[1] == f"# expected: {entry.expected}"


def test_equations_have_the_cookbooks_numbers():
    numbered = {entry.file: entry.equation for entry in ENTRIES if entry.equation is not None}
    assert numbered["cookbook/eq145a.thm"] == 145
    assert all(entry.chapter for entry in ENTRIES if entry.equation is not None)
    for file, number in numbered.items():
        named = re.match(r"cookbook/eq(\d+)", file)
        assert named is None or int(named[1]) == number
    for chapter in CHAPTERS:
        inside = [e for e in ENTRIES if e.chapter == chapter.number and e.equation is not None]
        assert all(chapter.first <= e.equation <= chapter.last for e in inside)  # type: ignore
    assert [(c.number, c.equations, c.lean) for c in CHAPTERS] == [("3", 80, 16), ("8", 51, 0)]


def test_kinds_can_be_chosen():
    assert {entry.kind for entry in entries(["trace", "det"])} == {"trace", "det"}
    assert len(entries(["trace"])) == sum(entry.kind == "trace" for entry in ENTRIES)


# ---------------------------------------------------------------- the tables


def test_an_equation_is_proved_only_where_all_its_files_are():
    chapter = Chapter("3", "Inverses", 145, 224, 16)
    verdicts = {entry.file: entry.expected for entry in ENTRIES}
    whole = coverage(chapter, verdicts)
    assert 145 in whole.whole
    assert 198 in whole.in_part
    assert not whole.missing
    half = coverage(chapter, {**verdicts, "cookbook/eq145b.thm": Verdict.CHECKED})
    assert 145 in half.missing
    assert len(half.whole) == len(whole.whole) - 1
    # Controls and misprints don't count, whatever is said of them.
    assert coverage(chapter, {**verdicts, "cookbook/eq155_wrong_order.thm": Verdict.OPEN}) == whole
    # A conditional proof isn't a proof.
    leaning = coverage(chapter, {**verdicts, "cookbook/eq160.thm": Verdict.CONDITIONAL})
    assert 160 in leaning.missing
    assert "of 80 equations proved; the Lean port proves 16" in str(whole)


def test_equations_that_are_stated_in_part_exist():
    assert {e.equation for e in ENTRIES} >= IN_PART.keys()


def test_a_chapter_is_compared_only_where_all_of_it_was_decided():
    rows = [row(entry, entry.expected) for entry in ENTRIES]
    assert [found.chapter.number for found in coverages(rows)] == ["3", "8"]
    kind = [r for r in rows if r.entry.kind == "gaussian"]
    assert coverages(kind) == []


def test_what_differs_is_listed_first_with_its_witness():
    rows = [row(entry, entry.expected) for entry in ENTRIES[:40]]
    assert as_text(rows).splitlines()[-1] == "40 of 40 as expected, 0 wrong"
    assert "WRONG" not in as_text(rows)
    proved = next(r.entry for r in rows if r.entry.expected is Verdict.PROVED)
    false = next(r.entry for r in rows if r.entry.expected is Verdict.REFUTED)
    rows += [row(proved, Verdict.REFUTED), row(false, Verdict.PROVED)]
    rows += [row(proved, Verdict.CHECKED, message="no proof: out of time; 100 instances")]
    rows += [row(proved, Verdict.OPEN, crash="Traceback: a bug")]
    shown = as_text(rows)
    assert shown.startswith("WRONG, or the expectation is: 2\n")
    assert f"  {proved.file}: refuted, expected proved\n    x.thm: refuted" in shown
    assert f"  {false.file}: proved, expected refuted" in shown
    assert shown.index("A = 1") < shown.index("FAILED by a bug of ours: 1")
    assert shown.index("Traceback: a bug") < shown.index("folder  ")
    assert f"{proved.file} ({proved.kind}, proved): checked; no proof: out of time (0.2 s)" in shown
    assert shown.splitlines()[-1] == "40 of 44 as expected, 2 wrong"
    assert as_json(rows)["wrong"] == [proved.file, false.file]


def test_times_are_medians_and_worst_in_process():
    rows = [row(e, e.expected, seconds=s) for e, s in zip(ENTRIES, (0.1, 0.2, 4.0), strict=False)]
    groups = as_json(rows)["groups"]
    assert groups["folder"]["cookbook"]["median"] == 0.2  # type: ignore[index]
    assert groups["folder"]["cookbook"]["worst"] == 4.0  # type: ignore[index]
    assert re.search(r"cookbook +3/3 .* 200 ms +4\.0 s", as_text(rows))


def test_the_command_refuses_what_it_can_not_do(capsys):
    assert __main__.main(["statements", "--kind", "poetry"]) == 2
    assert "no kind poetry; there are block," in capsys.readouterr().err
    assert __main__.main(["statements", "--jobs", "0"]) == 2


# ---------------------------------------------------------------- deciding


def test_the_command_decides_a_kind(capsys):
    status = __main__.main(["statements", "--kind", "probability", "--json", "--time", "2"])
    found = json.loads(capsys.readouterr().out)
    assert found["total"] == 3
    assert found["wrong"] == found["crashed"] == []
    assert status == (0 if found["as_expected"] == 3 else 2)
    assert {r["verdict"] for r in found["rows"]} <= {"proved", "refuted", "checked", "open"}


@pytest.mark.slow
def test_no_verdict_is_wrong_on_a_sample():
    """A ninth of the statements, at half a second each; the benchmark decides all of them."""
    rows = list(run(ENTRIES[4::9], seconds=0.5))
    wrong = [(r.entry.file, str(r.verdict)) for r in rows if r.is_wrong or r.crash]
    assert not wrong, as_text([r for r in rows if r.is_wrong or r.crash])
    assert sum(r.as_expected for r in rows) >= len(rows) // 2
