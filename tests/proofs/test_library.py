"""The library: what a theorem rests on, and that a broken file spoils only what cites it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from proofs.language import tree
from proofs.language.parser import parse
from proofs.library import (
    Library,
    UnknownTheorem,
    cited_hashes,
    read_certificates,
    write_certificates,
)
from proofs.verdict import Verdict
from tests.proofs.conftest import certificate, write

PROVED, CONDITIONAL, OPEN = Verdict.PROVED, Verdict.CONDITIONAL, Verdict.OPEN


def verdicts(folder: Path) -> dict[str, Verdict]:
    library = Library(folder)
    return {t.name: library.verdict(t) for t in library.theorems.values()}


def reason(folder: Path, name: str) -> str:
    library = Library(folder)
    return library.judge(library.find(name))[0].reason


SOUND = {
    "algebra.doubled": PROVED,
    "algebra.left_inverse": PROVED,
    "cited.gram_trace": CONDITIONAL,
    "trace.leaning": CONDITIONAL,
}


def test_theorems_are_judged_from_their_certificates(folder: Path):
    assert verdicts(folder) == SOUND


def test_axioms_are_the_cited_facts_through_all_lemmas(folder: Path):
    library = Library(folder)
    assert library.axioms(library.find("doubled")) == set()
    assert library.axioms(library.find("leaning")) == {"cited.gram_trace"}


def test_hypotheses_that_no_proof_uses_are_known(folder: Path):
    library = Library(folder)
    (judgement,) = library.judge(library.find("left_inverse"))
    assert judgement.hypotheses_used == {0, 1}  # symmetric(A) is not needed
    assert judgement.rules == {"inv_left", "symmetric_says"}


def test_headers_are_read_and_an_unknown_one_is_a_problem(folder: Path):
    library = Library(folder)
    assert library.find("algebra.left_inverse").items == ("XX-1",)
    path = folder / "algebra/left_inverse.thm"
    path.write_text("#! item: XX-1\n" + path.read_text())
    assert "no header is called 'item'" in Library(folder).find("left_inverse").problem


def test_names_are_found_with_or_without_their_subject(folder: Path):
    library = Library(folder)
    assert library.find("doubled") is library.find("algebra.doubled")
    with pytest.raises(UnknownTheorem, match=r"did you mean algebra\.doubled"):
        library.find("algebra.doubeld")


def test_a_cited_fact_needs_its_reference(folder: Path):
    path = folder / "cited/gram_trace.thm"
    path.write_text(path.read_text().replace("#! cites: A. Author (1900), theorem 1\n", ""))
    found = verdicts(folder)
    assert found["cited.gram_trace"] is found["trace.leaning"] is OPEN


def test_a_lemma_that_falls_takes_with_it_what_cites_it(folder: Path):
    (folder / "algebra/left_inverse.json").unlink()
    assert verdicts(folder) == SOUND | {"algebra.doubled": OPEN, "algebra.left_inverse": OPEN}
    assert "algebra.left_inverse, which is not proved" in reason(folder, "doubled")


def test_a_broken_statement_disturbs_nothing_else(folder: Path):
    (folder / "algebra/broken.thm").write_text("let n : dimension\nshow n = = n\n")
    (folder / "algebra/illtyped.thm").write_text(
        "let n, k : dimension\nlet A : matrix(n, k)\nshow A*A = A\n"
    )
    (folder / "algebra/binary.thm").write_bytes(b"\xff\xfe\x00")
    assert verdicts(folder) == SOUND | dict.fromkeys(
        ["algebra.broken", "algebra.illtyped", "algebra.binary"], Verdict.ILL_POSED
    )
    assert "line 2, column" in Library(folder).find("broken").problem
    assert "line 3, column" in Library(folder).find("illtyped").problem


def test_a_certificate_of_another_statement_is_rejected(folder: Path):
    doubled, left = folder / "algebra/doubled.json", folder / "algebra/left_inverse.json"
    doubled.write_bytes(left.read_bytes())
    assert verdicts(folder) == SOUND | {"algebra.doubled": OPEN}
    assert "belongs to another statement" in reason(folder, "doubled")


def test_rebinding_a_certificate_to_another_statement_does_not_help(folder: Path):
    text = (folder / "algebra/left_inverse.thm").read_text()
    false = text.replace("+ B.T", "- B.T")
    (folder / "algebra/false.thm").write_text(false)
    raw = json.loads((folder / "algebra/left_inverse.json").read_text())
    raw["goals"][0]["statement"] = parse(false).statements[0].hash
    (folder / "algebra/false.json").write_text(json.dumps(raw))
    assert verdicts(folder) == SOUND | {"algebra.false": OPEN}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "not JSON"),
        ("[]", "exactly: format, goals"),
        ('{"format": 1, "goals": []}', "0 certificates for 1 goals"),
        ('{"format": 2, "goals": [{}]}', "format 2"),
        ('{"format": 1, "format": 1, "goals": [{}]}', "twice"),
        ('{"format": 1, "goals": [1.5]}', "never floats"),
        ('{"format": 1, "goals": [null]}', "certificate rejected"),
        ('{"format": 1, "goals": {"0": {}}}', "no list of certificates"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_malformed_certificate_file_is_named(folder: Path, content: str, problem: str):
    (folder / "algebra/doubled.json").write_text(content)
    assert verdicts(folder) == SOUND | {"algebra.doubled": OPEN}
    assert problem in reason(folder, "doubled")


def test_a_truncated_certificate_is_rejected_wherever_it_is_cut(folder: Path):
    path = folder / "algebra/left_inverse.json"
    whole = path.read_text()
    for length in range(0, len(whole) - 1, 7):
        path.write_text(whole[:length])
        assert verdicts(folder)["algebra.left_inverse"] is OPEN
    steps = json.loads(whole)["goals"][0]["steps"]
    for count in range(len(steps)):
        raw = json.loads(whole)
        raw["goals"][0]["steps"] = steps[:count]
        path.write_text(json.dumps(raw))
        assert verdicts(folder)["algebra.left_inverse"] is OPEN


def test_a_tampered_certificate_is_rejected_or_still_a_proof(folder: Path):
    """Random changes: the checker rejects, or accepts what is still a proof; nothing escapes."""
    path = folder / "algebra/left_inverse.json"
    whole = json.loads(path.read_text())
    draw = random.Random(20)
    rejected = 0
    for _ in range(300):
        raw = json.loads(json.dumps(whole))
        tamper(raw["goals"][0], draw)
        path.write_text(json.dumps(raw))
        found = verdicts(folder)
        assert found["algebra.left_inverse"] in (PROVED, OPEN)
        assert found["trace.leaning"] is CONDITIONAL
        rejected += found["algebra.left_inverse"] is OPEN
    assert rejected > 250


def tamper(value: Any, draw: random.Random) -> None:
    """Change one place of decoded JSON."""
    places: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        top = stack.pop()
        items = list(top.items() if isinstance(top, dict) else enumerate(top))
        places += [(top, key) for key, _ in items]
        stack += [inner for _, inner in items if isinstance(inner, dict | list)]
    container, key = draw.choice(places)
    old = container[key]
    new = draw.choice([None, -1, 0, 1, 2, 7, 10**6, "", "0", "x", [], {}, True, [old], {"a": old}])
    container[key] = new if new != old else "changed"


def absurd(folder: Path, name: str, variable: str, cites: str | None = None) -> str:
    """Write the false theorem `x = x + 1`, proved by a citation; the hash of its statement."""
    text = f"let {variable} : real\nshow {variable} = {variable} + 1\n"
    (statement,) = parse(text).statements
    (folder / f"algebra/{name}.thm").write_text(text)
    if cites is not None:
        lemma = cites or statement.hash
        cited_variable = variable if lemma == statement.hash else {"x": "y", "y": "x"}[variable]
        step = {
            "rule": "lemma",
            "statement": lemma,
            "subst": {cited_variable: tree.name(variable)},
            "by": [],
        }
        write(folder / f"algebra/{name}.json", certificate(statement, step))
    return statement.hash


def test_theorems_that_cite_each_other_prove_nothing(folder: Path):
    """Two false statements, each a plain instance of the other."""
    b = absurd(folder, "b", "y")
    a = absurd(folder, "a", "x", cites=b)
    absurd(folder, "b", "y", cites=a)
    assert verdicts(folder) == SOUND | {"algebra.a": OPEN, "algebra.b": OPEN}
    assert all("which is not proved" in reason(folder, name) for name in ("a", "b"))
    # The circle is what fails: with the one taken for a fact, the other follows from it.
    path = (folder / "algebra/a.thm").rename(folder / "cited/a.thm")
    path.write_text("#! cites: nobody\n" + path.read_text())
    assert verdicts(folder)["algebra.b"] is CONDITIONAL


def test_a_theorem_may_not_cite_itself(folder: Path):
    absurd(folder, "self", "x", cites="")
    assert verdicts(folder) == SOUND | {"algebra.self": OPEN}


def test_citations_in_sub_proofs_are_found():
    lemma = {"rule": "lemma", "statement": "sha256:00", "subst": {}, "by": []}
    nested = {"steps": [{"rule": "cases", "branches": [[], [lemma], []]}, {"rule": "lemma"}]}
    assert cited_hashes(nested) == {"sha256:00"}
    assert cited_hashes(None) == cited_hashes([1, "x"]) == set()


def test_an_empty_folder_is_an_empty_library(tmp_path: Path):
    assert list(Library(tmp_path)) == []


def test_certificates_are_written_a_node_and_a_step_on_a_line(folder: Path, tmp_path: Path):
    """And read back as they were: a change of one step is a change of one line."""
    certificates = read_certificates(folder / "algebra/left_inverse.json", 1)
    empty = {"statement": "sha256:0", "nodes": [], "steps": []}
    path = tmp_path / "written.json"
    write_certificates(path, [*certificates, empty])  # type: ignore[list-item]
    assert read_certificates(path, 2) == (*certificates, empty)
    lines = path.read_text(encoding="utf-8").splitlines()
    (found,) = certificates
    for row in (*found["nodes"], *found["steps"]):  # type: ignore[index]
        assert f"  {json.dumps(row)}" in [line.rstrip(",") for line in lines]
    assert path.read_text(encoding="utf-8").endswith("\n")
