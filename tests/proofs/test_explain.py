"""Every kind of step that a proof may have is explained, in text and in LaTeX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proofs.checker.judge import STEPS
from proofs.explain import explain_answers, explain_file
from proofs.files import decide_text

LEMMA = "lemma"  # the library's own tests explain a theorem that leans on another
STATEMENTS = {
    "a gradient": (
        "let n : dimension\nlet A : matrix(n, n)\nlet x : vector(n)\n"
        "show grad(inner(x, A*x), x) = (A + A.T)*x",
        "f has the derivative tr(G.T*V) along every direction V",
    ),
    "induction": (
        "let n, p : dimension\nlet A : matrix(n, n)\nassume A*A = A\nshow A^p = A",
        "by induction, from the case of 1",
    ),
    "cases": (
        "let a, b, c : nonnegative\n"
        "show a*(a - b)*(a - c) + b*(b - a)*(b - c) + c*(c - a)*(c - b) >= 0",
        "in each case of the sign of",
    ),
    "numbers": (
        "let n : dimension\nlet X, V : matrix(n, n)\nlet t : real\ndefine Y = X + t*V\n"
        "assume invertible(Y)\n"
        "show diff(inv(Y), t, 2) = 2*inv(Y)*V*inv(Y)*V*inv(Y)",
        "rule diff_near",
    ),
    "an instance": (
        "let n : dimension\nlet x : vector(n)\nlet j : index(n)\n"
        "assume for all k : index(n) : x[k] = 2\nshow x[j] + 1 = 3",
        ") at j",
    ),
    "a moment": (
        "let n : dimension\nlet m : vector(n)\nlet S : matrix(n, n)\n"
        "assume positive_semidefinite(S)\nlet X : gaussian(m, S)\nshow E(X*X.T) = S + m*m.T",
        "as X is declared",
    ),
    "a square": ("let a, b : real\nshow a^2 + b^2 >= 2*a*b", "the difference is"),
    "balls": (
        "let x : real\nassume x >= 0\nassume x <= 1\nshow exp(x) <= 1 + 2*x",
        "enclosed for x in ",
    ),
    "constants": ("let x : real\nshow pi^2 < 10", "both sides are enclosed as numbers"),
    "equals for equals": (
        "let n : dimension\nlet A, B : matrix(n, n)\nassume A*B = B*A\nshow det(A*B - B*A + A)"
        " = det(A)",
        "put into both sides",
    ),
}


def kinds(steps: list[dict[str, Any]]) -> set[str]:
    found = {step["rule"] for step in steps}
    for step in steps:
        for inner in (step.get("steps", []), *step.get("branches", [])):
            found |= kinds(inner)
    return found


def test_the_proofs_explained_here_have_steps_of_every_kind():
    seen: set[str] = set()
    for text, _ in STATEMENTS.values():
        (answer,) = decide_text(text)
        assert answer.certificate is not None, text
        seen |= kinds(answer.certificate["steps"])
    assert seen >= STEPS.keys() - {LEMMA}, STEPS.keys() - seen


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_proof_is_explained(name: str, tmp_path: Path):
    text, says = STATEMENTS[name]
    path = tmp_path / "it.thm"
    path.write_text(text + "\n", encoding="utf-8")
    explanation = explain_file(path)
    assert says in str(explanation)
    assert "Proof" in explanation._repr_markdown_()


def test_a_proof_without_steps_is_said_to_be_arithmetic():
    (answer,) = decide_text("let x : real\nshow (x + 1)^2 = x^2 + 2*x + 1")
    assert answer.certificate is not None
    assert answer.certificate["steps"] == []
    explanation = explain_answers("it", [answer])
    assert "No proof" not in str(explanation)
    assert "arithmetic alone" in str(explanation)
    assert "arithmetic alone" in explanation._repr_markdown_()


def test_what_numbers_alone_decide_is_said_so():
    (answer,) = decide_text(STATEMENTS["numbers"][0])
    assert "arithmetic" in str(explain_answers("it", [answer]))
