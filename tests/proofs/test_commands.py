"""`python -m proofs decide | explain | check`: what they answer, and the exit status."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

import proofs.attack
import proofs.decide
import proofs.files
import proofs.library
import proofs.recheck
from proofs.__main__ import main
from proofs.decide import decide
from proofs.language.parser import parse
from proofs.recheck import INSTANCES
from proofs.report import Row
from proofs.search import Failure
from proofs.verdict import Verdict

SQUARE = "let n : dimension\nlet A, B : matrix(n, n)\nassume invertible(A)\nassume invertible(B)\n"
PROVED = SQUARE + "show inv(A*B) = inv(B)*inv(A)\n"
REFUTED = SQUARE + "show inv(A*B) = inv(A)*inv(B)\n"
UNDEFINED = "let n : dimension\nlet A : matrix(n, n)\nshow inv(A)*A = eye(n)\n"
ILLTYPED = "let n, k : dimension\nlet A : matrix(n, k)\nshow A*A = A\n"
CONTRADICTORY = "let x : real\nassume x = 1\nassume x = 2\nshow x = 3\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Certificates go to a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def statement(tmp_path: Path):
    """Writes a statement file."""

    def write(text: str, name: str = "statement") -> str:
        path = tmp_path / f"{name}.thm"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def answer(text: str, **options: float):
    (found,) = parse(text).statements
    return decide(found, **options)  # pyright: ignore[reportArgumentType]


# ---------------------------------------------------------------- decide


@pytest.mark.parametrize(
    ("text", "verdict", "status"),
    [
        (PROVED, "proved", 0),
        (REFUTED, "refuted", 1),
        (UNDEFINED, "ill-posed", 3),
        (ILLTYPED, "ill-posed", 3),
        (CONTRADICTORY, "ill-posed", 3),
        ("let n : dimension\nshow n = = n\n", "ill-posed", 3),
        ("", "ill-posed", 3),
    ],
)
def test_decide_answers_and_exits_with_the_verdict(
    statement, capsys, text: str, verdict: str, status: int
):
    path = statement(text)
    assert main(["decide", path]) == status
    assert capsys.readouterr().out.startswith(f"{path}: {verdict}")


def test_the_largest_exit_status_counts(statement, capsys):
    good, false = statement(PROVED, "good"), statement(REFUTED, "false")
    assert main(["decide", good, good]) == 0
    assert main(["decide", good, false, good]) == 1
    assert main(["decide", false, str(Path(good).parent / "absent.thm"), good]) == 3
    assert main(["decide", str(Path(good).parent)]) == 1  # the folder that holds both
    assert capsys.readouterr().err == ""


def test_a_folder_stands_for_all_statement_files_below_it(statement, capsys, tmp_path: Path):
    (tmp_path / "sub" / "empty").mkdir(parents=True)
    statement(PROVED, "good")
    statement("show = 1\n", "broken")
    statement(REFUTED, "sub/false")
    (tmp_path / "sub" / "note.txt").write_text("no statement")
    assert main(["decide", "--json", str(tmp_path)]) == 3
    rows = json.loads(capsys.readouterr().out)
    assert [(Path(row["file"]).stem, row["verdict"]) for row in rows] == [
        ("broken", "ill-posed"), ("good", "proved"), ("false", "refuted"),
    ]  # fmt: skip
    assert main(["decide", str(tmp_path / "sub" / "empty")]) == 3
    assert "holds no statement file" in capsys.readouterr().out


def test_several_goals_end_in_a_summary(statement, capsys):
    assert main(["decide", statement(PROVED, "good"), statement(REFUTED, "false")]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 goals: 1 proved, 1 refuted"


def test_processes_of_their_own_answer_in_the_order_of_the_files(statement, capsys):
    names = [("a", REFUTED), ("b", PROVED), ("c", "show = 1\n"), ("d", UNDEFINED)]
    files = [statement(text, name) for name, text in names]
    rows = []
    for jobs in ("1", "2"):
        assert main(["decide", "--json", "--jobs", jobs, *files]) == 3
        told = json.loads(capsys.readouterr().out)
        assert all(0 < r["cpu_seconds"] < 60 for r in told[:2])
        rows.append([{**r, "seconds": 0, "cpu_seconds": 0} for r in told])
    assert rows[0] == rows[1]
    assert [r["verdict"] for r in rows[0]] == ["refuted", "proved", "ill-posed", "ill-posed"]


def test_a_failure_of_ours_stops_nothing_and_is_not_hidden(statement, capsys, monkeypatch):
    def broken(*_: object, **__: object):
        raise RecursionError("a bug of ours")

    bad, good = statement(REFUTED, "bad"), statement(PROVED, "good")
    honest = proofs.files.decide
    monkeypatch.setattr(
        proofs.files, "decide", lambda s, **k: (broken if s.goal.args[1].op == "mul" and
        s.goal.args[1].args[0].args[0].data == "A" else honest)(s, **k)
    )  # fmt: skip
    assert main(["decide", "--json", bad, good]) == 2
    out, err = capsys.readouterr()
    first, second = json.loads(out)
    assert (first["verdict"], second["verdict"]) == ("open", "proved")
    assert "RecursionError: a bug of ours" in first["message"]
    assert "Traceback" in first["crash"]
    assert "RecursionError: a bug of ours" in err


def test_certificates_are_written_beside_the_file_only_where_asked(statement, capsys):
    path = Path(statement(PROVED + "show A*inv(A) = eye(n)\n"))
    beside = path.with_suffix(".json")
    assert main(["decide", str(path)]) == 0
    assert not beside.exists()
    assert main(["decide", "--json", "--write", str(path)]) == 0
    *_, rows = capsys.readouterr().out.partition("[")
    assert all(row["certificate"] == str(beside) for row in json.loads("[" + rows))
    assert len(proofs.library.read_certificates(beside, 2)) == 2
    written = beside.read_bytes()
    # A node or a step on each line, and the same bytes again.
    assert all(line.startswith(" ") for line in written.decode().splitlines() if '", [' in line)
    beside.unlink()
    assert main(["decide", "--write", str(path)]) == 0
    assert beside.read_bytes() == written


def test_nothing_is_written_beside_a_file_that_is_not_proved(statement, capsys):
    path = Path(statement(PROVED + "show inv(A*B) = inv(A)*inv(B)\n"))
    assert main(["decide", "--write", str(path)]) == 1
    assert not path.with_suffix(".json").exists()
    assert "not every goal is proved" in capsys.readouterr().out
    assert main(["decide", "--write", statement(REFUTED)]) == 1
    assert "certificate" not in capsys.readouterr().out


def test_a_file_that_holds_no_certificates_is_not_overwritten(statement, capsys):
    path = Path(statement(PROVED))
    path.with_suffix(".json").write_text('{"measurements": [1, 2, 3]}')
    assert main(["decide", "--write", str(path)]) == 0
    assert path.with_suffix(".json").read_text() == '{"measurements": [1, 2, 3]}'
    assert "no certificate was written" in capsys.readouterr().out


def test_mutants_are_counted_and_none_is_accepted(statement, capsys, monkeypatch):
    path = statement("let x : real\nshow x + x = 2*x\n")
    assert main(["decide", "--mutants", "--json", path, statement(REFUTED, "false")]) == 1
    proved, refuted = json.loads(capsys.readouterr().out)
    assert refuted["mutants"] is None
    assert set(proved["mutants"]) == {"illtyped", "refuted", "equivalent", "open", "accepted"}
    assert proved["mutants"]["accepted"] == 0
    assert proved["mutants"]["refuted"] > 5
    # A checker that accepts everything is found out, and the exit status says so.
    monkeypatch.setattr(proofs.attack, "check", lambda *_: None)
    assert main(["decide", "--mutants", path]) == 4
    assert "0 accepted" not in capsys.readouterr().out


def test_each_goal_of_a_file_is_reported(statement, capsys):
    path = statement(PROVED + "show inv(A*B) = inv(A)*inv(B)\n")
    assert main(["decide", "--json", path]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in found] == ["proved", "refuted"]


def test_json_has_the_promised_keys(statement, capsys):
    proved, refuted = statement(PROVED, "proved"), statement(REFUTED, "refuted")
    assert main(["decide", "--json", proved, refuted]) == 1
    first, second = json.loads(capsys.readouterr().out)
    promised = {"file", "verdict", "goal", "hypotheses", "side_conditions", "axioms", "seconds",
                "certificate", "counterexample"}  # fmt: skip
    assert promised <= set(first) == set(second)
    assert first["file"] == proved
    assert first["goal"] == "inv(A*B) = inv(B)*inv(A)"
    assert first["hypotheses"] == ["invertible(A)", "invertible(B)"]
    assert "invertible(A*B)" in first["side_conditions"]
    assert first["axioms"] == first["hypotheses_unused"] == []
    assert first["counterexample"] is None
    assert second["certificate"] is None
    assert set(second["counterexample"]["model"]) == {"n", "A", "B"}


def test_a_written_certificate_can_be_checked_by_anyone(statement, capsys, cache: Path):
    from proofs.checker.judge import check
    from proofs.library import read_certificates

    assert main(["decide", "--json", statement(PROVED)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    path = Path(row["certificate"])
    assert path.is_relative_to(cache)
    (certificate,) = read_certificates(path, 1)
    (read,) = parse(PROVED).statements
    assert check(read, certificate).hypotheses_used == {0, 1}


def test_a_folder_for_certificates_can_be_named_and_need_not_be_writable(
    statement, capsys, tmp_path: Path
):
    path = statement(PROVED)
    assert main(["decide", "--json", "--certificates", str(tmp_path / "kept"), path]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert Path(row["certificate"]).parent == tmp_path / "kept"
    assert main(["decide", "--json", "--certificates", path, path]) == 0  # a file stands there
    (row,) = json.loads(capsys.readouterr().out)
    assert row["certificate"] is None
    assert row["verdict"] == "proved"


def test_what_can_not_be_read_says_where(statement, capsys):
    assert main(["decide", "--json", statement("let n : dimension\nshow n = = n\n")]) == 3
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["line"], row["column"]) == (2, 10)
    path = Path(statement("", "binary"))
    path.write_bytes(b"\xff\xfe\x00\x01")
    assert main(["decide", "--json", str(path)]) == 3
    (row,) = json.loads(capsys.readouterr().out)
    assert row["goal"] is None
    assert "codec" in row["message"]


def test_an_undefined_statement_gets_its_repair_and_the_verdict_with_it(statement, capsys):
    assert main(["decide", "--json", statement(UNDEFINED)]) == 3
    (row,) = json.loads(capsys.readouterr().out)
    assert row["repair"] == ["assume invertible(A)"]
    assert row["repaired_verdict"] == "proved"
    assert row["counterexample"]["undefined"] == "inv(A)"
    assert (row["line"], row["column"]) == (3, 6)


def test_a_false_statement_gets_its_nearest_true_neighbour():
    found = answer(SQUARE + "show (A*B).T = A.T*B.T\n")
    assert found.verdict is Verdict.REFUTED
    assert found.neighbour.startswith("true ")  # B*A for A*B, or if A and B commute


def test_contradictory_hypotheses_say_nothing():
    found = answer(CONTRADICTORY)
    assert found.verdict is Verdict.ILL_POSED
    assert "contradict" in found.message


def test_hypotheses_that_were_not_needed_are_reported():
    found = answer(SQUARE + "show inv(A)*A + B = B + eye(n)\n")
    assert found.hypotheses_unused == ["invertible(B)"]


def test_without_a_proof_or_a_witness_it_is_checked_and_says_on_what(monkeypatch):
    monkeypatch.setattr(proofs.decide, "search", lambda *_, **__: Failure("nothing was tried"))
    found = answer(PROVED, seconds=1.0)
    assert found.verdict is Verdict.CHECKED
    assert found.verdict.exit_status == 2
    assert "nothing was tried" in found.message
    assert "instances" in found.message


def test_a_search_is_believed_in_nothing(monkeypatch):
    (read,) = parse(PROVED).statements
    bogus = {"statement": read.hash, "nodes": [], "steps": []}
    monkeypatch.setattr(proofs.decide, "search", lambda *_, **__: bogus)
    found = answer(PROVED, seconds=1.0)
    assert found.verdict is Verdict.CHECKED
    assert "was rejected" in found.message


def test_a_certificate_beside_the_file_is_used_where_it_is_accepted(
    folder: Path, capsys, monkeypatch
):
    monkeypatch.setattr(proofs.library, "THEOREMS", folder)
    files = [str(folder / f"{n}.thm") for n in ("algebra/doubled", "trace/leaning")]
    assert main(["decide", "--json", *files]) == 2
    doubled, leaning = json.loads(capsys.readouterr().out)
    assert doubled["verdict"] == "proved"
    assert doubled["certificate"] == str(folder / "algebra/doubled.json")
    assert leaning["verdict"] == "conditional"
    assert leaning["axioms"] == ["cited.gram_trace"]
    # A truncated one is passed over, and the statement decided by search.
    path = folder / "algebra/doubled.json"
    path.write_text(path.read_text()[:200])
    assert main(["decide", "--json", files[0]]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["certificate"] != str(path)


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_that_is_none_is_refused(statement, capsys, seconds: str):
    with pytest.raises(SystemExit) as refused:
        main(["decide", "--time", seconds, statement(PROVED)])
    assert refused.value.code == 2


def test_an_answer_is_typeset_in_a_notebook():
    shown = answer(PROVED)._repr_markdown_()
    assert shown.startswith("$$")
    assert "**proved** for any n" in shown


# ---------------------------------------------------------------- explain


def test_explain_prints_the_statement_the_steps_and_what_they_rest_on(
    folder: Path, capsys, monkeypatch
):
    monkeypatch.setattr(proofs.library, "THEOREMS", folder)
    assert main(["explain", "left_inverse"]) == 0
    shown = capsys.readouterr().out
    assert "show inv(A)*A + B = eye(n) + B.T" in shown
    assert "(4) inv(A)*A = eye(n)\n    rule inv_left, from (1)" in shown
    assert "adding up (4) - (5)" in shown
    assert "Rests on the rules inv_left, symmetric_says" in shown
    assert "doesn't use: symmetric(A)" in shown
    assert main(["explain", "trace.leaning"]) == 2
    assert "Cited facts: cited.gram_trace" in capsys.readouterr().out


def test_explain_decides_a_file_that_has_no_certificate(statement, capsys):
    assert main(["explain", statement(PROVED)]) == 0
    assert "Proof, for any n" in capsys.readouterr().out
    assert main(["explain", statement(REFUTED)]) == 1
    assert "counterexample" in capsys.readouterr().out
    assert main(["explain", "no_such_theorem"]) == 2
    assert "there is no theorem" in capsys.readouterr().err


# ---------------------------------------------------------------- check


@dataclass
class Crosschecked:
    """What a cross-check of a derivation and a kernel says."""

    instances: int = 7
    worst_error: float | None = 1e-15
    derivation: str = ""
    problems: tuple[str, ...] = ()


@pytest.fixture
def theorems(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small library in place of the real one, with a kernel whose cross-check is stubbed."""
    monkeypatch.setattr(proofs.library, "THEOREMS", folder)
    # In this process alone: another one would not see what is put in place here.
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    path = folder / "algebra/left_inverse.thm"
    path.write_text("#! kernel: algebra.left_inverse\n" + path.read_text())
    bridge = SimpleNamespace(crosscheck=lambda theorem, seed: Crosschecked())
    monkeypatch.setitem(sys.modules, "proofs.bridge", bridge)
    return folder


def test_check_rechecks_every_theorem(theorems: Path, capsys, tmp_path: Path):
    kept = tmp_path / "rows.json"
    assert main(["check", "--json", str(kept)]) == 0
    out, err = capsys.readouterr()
    assert err == ""  # no progress bar in a pipe
    assert out.splitlines()[-1] == "3 theorems: 2 proved, 1 conditional; none fell short"
    doubled, left, leaning = json.loads(kept.read_text())
    assert [r["name"] for r in (doubled, left, leaning)] == [
        "algebra.doubled", "algebra.left_inverse", "trace.leaning",
    ]  # fmt: skip
    assert left["items"] == ["XX-1"]
    assert left["sizes"] == "any n"
    assert left["hypotheses_unused"] == ["symmetric(A)"]
    assert left["instances"] == INSTANCES + 7
    assert left["worst_error"] == 1e-15
    assert doubled["instances"] == INSTANCES
    assert doubled["worst_error"] == 0.0
    assert left["mutants"]["accepted"] == 0
    assert left["mutants"]["refuted"] > proofs.recheck.SAMPLE / 2
    assert doubled["lemmas"] == ["algebra.left_inverse"]
    assert leaning["axioms"] == ["cited.gram_trace"]


def test_check_takes_names_and_is_repeatable(theorems: Path, capsys, tmp_path: Path):
    rows = []
    for _ in range(2):
        kept = tmp_path / "rows.json"
        assert main(["check", "doubled", "--seed", "5", "--json", str(kept)]) == 0
        (row,) = json.loads(kept.read_text())
        rows.append({k: v for k, v in row.items() if k != "seconds"})
    assert rows[0] == rows[1]
    assert rows[0]["name"] == "algebra.doubled"


def test_all_mutants_are_more_than_a_sample_and_none_are_none(theorems: Path, tmp_path: Path):
    counts = []
    for which in ("none", "sample", "all"):
        kept = tmp_path / "rows.json"
        assert main(["check", "left_inverse", "--mutants", which, "--json", str(kept)]) == 0
        counts.append(sum(json.loads(kept.read_text())[0]["mutants"].values()))
    assert counts[:2] == [0, proofs.recheck.SAMPLE]
    assert counts[2] > counts[1]


def test_check_fails_where_something_falls_short(theorems: Path, capsys):
    (theorems / "algebra/left_inverse.json").write_text("{")
    (theorems / "algebra/broken.thm").write_text("show = 1\n")
    assert main(["check"]) == 1
    shown = capsys.readouterr().out
    assert "algebra.left_inverse: left_inverse.json: not JSON" in shown
    assert "algebra.broken: broken.thm: line 1" in shown
    assert "4 theorems: 1 conditional, 2 open, 1 ill-posed; 3 fell short" in shown
    assert main(["check", "trace.leaning"]) == 0


def test_check_fails_where_a_cross_check_or_a_mutant_does(theorems: Path, capsys, monkeypatch):
    bad = Crosschecked(worst_error=0.5, problems=("kernel differs from the theorem",))
    monkeypatch.setattr(sys.modules["proofs.bridge"], "crosscheck", lambda *_: bad)
    assert main(["check", "left_inverse"]) == 1
    assert "algebra.left_inverse: kernel differs from the theorem" in capsys.readouterr().out
    monkeypatch.setattr(sys.modules["proofs.bridge"], "crosscheck", lambda *_: Crosschecked())
    monkeypatch.setattr(proofs.attack, "check", lambda *_: None)  # a checker that accepts all
    assert main(["check", "doubled"]) == 1
    assert "mutants were accepted" in capsys.readouterr().out


def test_check_fails_where_the_hypotheses_have_no_model(theorems: Path, capsys):
    text = "let x : real\nassume x > 1\nassume x < 0\nshow x = 3\n"
    (theorems / "algebra/vacuous.thm").write_text(text)
    assert main(["check", "vacuous"]) == 1
    assert "no model of the hypotheses was found" in capsys.readouterr().out


def test_an_empty_library_is_no_success(tmp_path: Path, capsys, monkeypatch):
    monkeypatch.setattr(proofs.library, "THEOREMS", tmp_path)
    assert main(["check"]) == 1
    assert "no theorem" in capsys.readouterr().err


def test_check_refuses_what_it_can_not_do(theorems: Path, capsys):
    assert main(["check", "no_such_theorem"]) == 2
    assert "there is no theorem 'no_such_theorem'" in capsys.readouterr().err
    assert main(["check", "--json", "/no/such/folder/rows.json"]) == 2
    assert "there is no folder" in capsys.readouterr().err
    with pytest.raises(SystemExit) as refused:
        main(["check", "--jobs", "0"])
    assert refused.value.code == 2


def test_an_interrupted_check_shows_what_is_finished(
    theorems: Path, capsys, monkeypatch, tmp_path: Path
):
    def interrupted(*_: object, **__: object):
        yield Row("algebra.doubled", Verdict.PROVED)
        raise KeyboardInterrupt

    monkeypatch.setattr(proofs.recheck, "examine_all", interrupted)
    kept = tmp_path / "rows.json"
    assert main(["check", "--json", str(kept)]) == 130
    out, err = capsys.readouterr()
    assert "algebra.doubled" in out
    assert "1 of 3 theorems finished" in err
    assert [row["name"] for row in json.loads(kept.read_text())] == ["algebra.doubled"]


def test_processes_of_their_own_find_the_same(capsys, tmp_path: Path):
    """On theorems of the real library; those without a kernel take no time to cross-check."""
    plain = [t.name for t in proofs.library.Library() if not t.derive and not t.kernel][:2]
    rows = []
    for jobs in ("1", "2"):
        kept = tmp_path / "rows.json"
        assert main(["check", *plain, "--jobs", jobs, "--json", str(kept)]) == 0
        rows.append([{**row, "seconds": 0} for row in json.loads(kept.read_text())])
    assert [row["name"] for row in rows[0]] == plain
    assert rows[0] == rows[1]
