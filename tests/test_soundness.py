"""The attacks on the checker: a sample finds nothing, and a checker with a hole is caught."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks import __main__, soundness
from proofs.checker import judge
from proofs.language.parser import parse
from proofs.language.tree import postorder
from proofs.library import Library
from proofs.search import Failure, prove
from proofs.tampering import KINDS, rebound, tampered


def case(text: str) -> soundness.Proved:
    statement = parse(text).statements[0]
    certificate = prove(statement, 5)
    assert not isinstance(certificate, Failure), certificate
    return soundness.Proved("case", statement, certificate, {})


SCALARS = "let x, y : real\nassume x > 0\nassume y > 0\n"
CASES = [
    case(SCALARS + "show (x + y)/(x*y) = 1/x + 1/y"),
    case(
        "let n : dimension\nlet A, B : matrix(n, n)\nassume invertible(A)\nassume invertible(B)\n"
        "show inv(A*B) = inv(B)*inv(A)"
    ),
]


def test_a_sample_finds_no_hole():
    found = soundness.run(tamperings=600, changed=200, limit=8, seconds=1.0, seed=3)
    print(soundness.as_text(found))
    assert found.is_sound
    assert found.tampering.total.total() == 600
    assert found.mutants.total.total() == 200
    assert found.tampering.total["rejected"] > 500
    assert len(found.tampering.counts) > 20
    json.dumps(soundness.as_json(found))


@pytest.mark.parametrize("hole", ["requirements", "sums", "goals"])
def test_a_hole_in_the_checker_is_found(hole: str, monkeypatch: pytest.MonkeyPatch):
    """The judge is broken in one place; the attacks must see it."""
    nothing = judge.Report(frozenset(), frozenset(), frozenset(), 0)
    if hole == "requirements":
        monkeypatch.setattr(judge.Facts, "gives", lambda *_: True)
        monkeypatch.setattr(judge.Facts, "find", lambda self, relation: judge.Fact(relation))
    elif hole == "sums":
        monkeypatch.setattr(judge.Poly, "__eq__", lambda self, other: True)
    else:
        monkeypatch.setattr(judge.Judge, "report", lambda self: nothing)
    attacks = soundness.tamper(CASES, 400, 0), soundness.mutate(CASES, 60, 0)
    assert any(attack.holes for attack in attacks)


def test_an_exception_is_a_hole(monkeypatch: pytest.MonkeyPatch):
    def crash(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(judge.Judge, "combine", crash)
    monkeypatch.setitem(judge.STEPS, "combine", crash)
    found = soundness.tamper(CASES, 100, 0)
    assert any("ZeroDivisionError" in hole for hole in found.holes)


def test_processes_find_what_one_finds():
    one, two = (soundness.mutate(CASES, 150, 5, jobs=jobs) for jobs in (1, 2))
    assert one.counts == two.counts
    assert one.sample == two.sample
    assert one.total.total() == 150
    assert one.sample["refuted"] > 20
    assert any(kind == "two slips" for kind in one.counts)


def test_what_was_done_before_an_interruption_is_kept():
    def stopped(items: Iterator[Any], total: int, what: str) -> Iterator[Any]:
        yield from itertools.islice(items, 30)
        if what == "mutants":
            raise KeyboardInterrupt

    found = soundness.run(tamperings=0, changed=60, limit=0, progress=stopped)
    assert not found.is_whole
    assert 0 < found.mutants.total.total() < 60
    assert "interrupted" in soundness.as_text(found)


def test_every_kind_of_change_has_a_place_somewhere():
    library = Library()
    missing = set(KINDS)
    for theorem in library:
        for statement, certificate in zip(theorem.statements, theorem.certificates, strict=True):
            text, top = json.dumps(certificate), len(postorder(statement.roots()))
            draw = random.Random(1)
            missing -= {k for k in missing if tampered(text, k, draw, top) is not None}
    assert missing <= {
        "branches of cases exchanged",
        "a step moved out of its sub-proof",
        "another cover",  # no theorem rests on enclosures; the tests of balls change theirs
    }


def test_a_certificate_is_rebound_to_itself():
    for one in CASES:
        again = rebound(one.certificate, one.statement, one.statement)
        judge.check(one.statement, again)


def test_a_hypothesis_that_is_not_used_can_be_left_out():
    text = "let x : real\nassume x < 7\nassume x > 0\nassume x > -5\nshow x*(1/x) = 1"
    one = case(text)
    for gone, holds in (("x < 7", True), ("x > 0", False), ("x > -5", True)):
        less = parse(text.replace(f"assume {gone}\n", "")).statements[0]
        moved = rebound(one.certificate, one.statement, less)
        if holds:
            judge.check(less, moved)
        else:
            with pytest.raises(judge.Rejected):
                judge.check(less, moved)


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str]):
    arguments = ["soundness", "--tamperings", "40", "--mutants", "20", "--statements", "0"]
    assert __main__.main(arguments) == 0
    told = capsys.readouterr()
    assert "change of a certificate" in told.out
    assert "seed 0" in told.out
    assert told.err == ""
    assert __main__.main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sound"] is True
    assert __main__.main(["soundness", "--mutants", "-1"]) == 2
    assert __main__.main(["soundness", "--jobs", "0"]) == 2
