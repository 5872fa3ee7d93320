"""A small library of theorems in a folder of its own, with certificates written by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from proofs.decide import decide
from proofs.evaluate import Truth, evaluate
from proofs.language.parser import parse
from proofs.language.tree import Statement, Term, encode_nodes, name, postorder, rational
from proofs.verdict import Verdict

LEFT_INVERSE = """# What stands before an inverse
#! items: XX-1
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume symmetric(B)
assume symmetric(A)
show inv(A)*A + B = eye(n) + B.T
"""
DOUBLED = """# Leans on a theorem
let m : dimension
let C : matrix(m, m)
assume invertible(C)
assume symmetric(C)
show 2*(inv(C)*C + C) = 2*(eye(m) + C.T)
"""
CITED = """# A fact of the literature
#! cites: A. Author (1900), theorem 1
let n : dimension
let A : matrix(n, n)
show tr(A*A.T) >= 0
"""
LEANING = """# Leans on a cited fact
let n : dimension
let A : matrix(n, n)
show tr(A*A.T) >= 0*tr(A)
"""

Certify = Callable[..., dict[str, object]]


def certificate(statement: Statement, *steps: dict[str, object], extra: tuple[Term, ...] = ()):
    """A certificate whose steps name terms directly, put into the table of nodes."""
    order = postorder([*statement.roots(), *extra])
    place = {id(node): i for i, node in enumerate(order)}
    given = len(postorder(statement.roots()))

    def encoded(value: object) -> object:
        if isinstance(value, Term):
            return place[id(value)]
        if isinstance(value, dict):
            return {k: encoded(v) for k, v in value.items()}
        return [encoded(v) for v in value] if isinstance(value, list) else value

    return {
        "statement": statement.hash,
        "nodes": encode_nodes(order[given:], place),
        "steps": [encoded(step) for step in steps],
    }


def left_inverse_certificate(statement: Statement) -> dict[str, object]:
    n, A, B, minus = name("n"), name("A"), name("B"), rational(-1)
    return certificate(
        statement,
        {"rule": "hypothesis", "index": 0},
        {"rule": "hypothesis", "index": 1},
        {"rule": "hypothesis", "index": 2},
        {"rule": "schema", "name": "inv_left", "subst": {"n": n, "A": A}, "by": [0]},
        {"rule": "schema", "name": "symmetric_says", "subst": {"n": n, "A": B}, "by": [1]},
        {
            "rule": "combine",
            "goal": statement.goal,
            "terms": [[None, 3, None, ""], [minus, 4, None, ""]],
        },
        extra=(minus,),
    )


def doubled_certificate(statement: Statement, lemma: str) -> dict[str, object]:
    m, C, two = name("m"), name("C"), rational(2)
    return certificate(
        statement,
        {"rule": "hypothesis", "index": 0},
        {"rule": "hypothesis", "index": 1},
        {
            "rule": "lemma",
            "statement": lemma,
            "subst": {"n": m, "A": C, "B": C},
            "by": [0, 1, 1],
        },
        {"rule": "combine", "goal": statement.goal, "terms": [[two, 2, None, ""]]},
        extra=(two,),
    )


def leaning_certificate(statement: Statement, lemma: str) -> dict[str, object]:
    return certificate(
        statement,
        {"rule": "lemma", "statement": lemma, "subst": {"n": name("n"), "A": name("A")}, "by": []},
        {
            "rule": "positive",
            "goal": statement.goal,
            "terms": [["1", [0], None]],
            "equations": [],
        },
    )


def write(path: Path, *certificates: object) -> None:
    path.write_text(json.dumps({"format": 1, "goals": list(certificates)}), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two theorems, the second by the first; one cited fact, and a theorem that leans on it."""
    theorems = tmp_path / "theorems"
    texts = {
        "algebra/left_inverse": LEFT_INVERSE,
        "algebra/doubled": DOUBLED,
        "cited/gram_trace": CITED,
        "trace/leaning": LEANING,
    }
    read: dict[str, Statement] = {}
    for stem, text in texts.items():
        path = theorems / f"{stem}.thm"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        (read[stem],) = parse(text).statements
    left, doubled, leaning = (
        read[k] for k in ("algebra/left_inverse", "algebra/doubled", "trace/leaning")
    )
    write(theorems / "algebra/left_inverse.json", left_inverse_certificate(left))
    write(theorems / "algebra/doubled.json", doubled_certificate(doubled, left.hash))
    write(
        theorems / "trace/leaning.json", leaning_certificate(leaning, read["cited/gram_trace"].hash)
    )
    return theorems


def refuted_with_an_exact_witness(text: str) -> None:
    """Asserts that the one statement in `text` is refuted, by a model that is evaluated anew."""
    (statement,) = parse(text).statements
    decision = decide(statement, seconds=20, seed=1, neighbour=False)
    assert decision.verdict is Verdict.REFUTED, decision
    assert decision.witness is not None
    model = decision.witness.model
    for hypothesis in statement.hypotheses:
        assert evaluate(hypothesis, model) is Truth.TRUE
    assert evaluate(statement.goal, model) is Truth.FALSE
