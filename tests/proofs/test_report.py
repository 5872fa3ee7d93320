"""The table and the JSON of a recheck, and the verdicts that they show."""

from __future__ import annotations

import json

import pytest

from proofs.language.parser import parse
from proofs.report import OUTCOMES, Row, as_json, as_table, stated_sizes, summary
from proofs.verdict import Verdict, weakest

ROWS = [
    Row(
        "flow.law", Verdict.PROVED, items=("EB-8", "EB-9"), sizes="scalars",
        hypotheses_used=("t > 0",), hypotheses_unused=("t < 1",), rules=("exp_sum",),
        instances=120, worst_error=1.25e-15, mutants={"refuted": 10, "illtyped": 1, "open": 1},
        seconds=0.25,
    ),
    Row("risk.terms", Verdict.OPEN, shortfalls=("no certificate", "kernel error 1e-3")),
]  # fmt: skip


def test_json_has_the_promised_keys():
    first, second = json.loads(as_json(ROWS))
    promised = {
        "name", "items", "verdict", "sizes", "axioms", "hypotheses_used", "hypotheses_unused",
        "rules", "instances", "worst_error", "mutants", "seconds",
    }  # fmt: skip
    assert promised <= set(first) == set(second)
    assert set(first["mutants"]) == set(OUTCOMES)
    assert first["mutants"]["accepted"] == 0
    assert first["worst_error"] == 1.25e-15
    assert second["worst_error"] is None
    assert second["verdict"] == "open"


def test_the_table_shows_each_column_and_what_fell_short():
    table = as_table(ROWS).splitlines()
    assert table[0].split() == [
        "name", "items", "verdict", "sizes", "axioms", "instances", "worst", "error", "mutants",
        "seconds",
    ]  # fmt: skip
    assert table[2].split() == [
        "flow.law", "EB-8", "EB-9", "proved", "scalars", "none", "120", "1.2e-15", "11/12", "0.25",
    ]  # fmt: skip
    assert "risk.terms: no certificate" in table
    assert "risk.terms: kernel error 1e-3" in table
    assert table[-1] == "2 theorems: 1 proved, 1 open; 1 fell short"


def test_an_empty_report_is_still_a_table():
    assert as_table([]).splitlines()[-1] == "0 theorems: none; none fell short"
    assert json.loads(as_json([])) == []
    assert summary(ROWS[:1]) == "1 theorem: 1 proved; none fell short"


@pytest.mark.parametrize(
    ("declared", "sizes"),
    [
        ("let n, k : dimension\nlet A : matrix(n, k)\nlet B : matrix(3, 3)", "any n, k"),
        ("let A : matrix(3, 2)\nlet x : vector(2)", "only 2, 3"),
        ("let x : real", "scalars"),
    ],
)
def test_a_proof_at_fixed_sizes_never_says_any(declared: str, sizes: str):
    (statement,) = parse(f"{declared}\nshow 1 = 1\n").statements
    assert stated_sizes(statement) == sizes


def test_a_verdict_has_no_truth_value():
    for verdict in Verdict:
        with pytest.raises(TypeError, match="no truth value"):
            bool(verdict)


def test_exit_statuses_are_those_of_the_statement_language():
    assert {str(v): v.exit_status for v in Verdict} == {
        "proved": 0, "refuted": 1, "conditional": 2, "checked": 2, "open": 2, "ill-posed": 3,
    }  # fmt: skip


def test_the_weakest_of_several_verdicts_speaks_for_all():
    assert weakest([Verdict.PROVED, Verdict.PROVED]) is Verdict.PROVED
    assert weakest([Verdict.PROVED, Verdict.REFUTED, Verdict.OPEN]) is Verdict.REFUTED
    assert weakest([Verdict.REFUTED, Verdict.ILL_POSED]) is Verdict.ILL_POSED
