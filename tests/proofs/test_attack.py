"""How long a theorem's mutants are looked at, and how many of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import proofs.attack
from proofs.__main__ import main
from proofs.attack import PROVING, attack
from proofs.language.parser import parse
from proofs.language.tree import Statement
from proofs.library import Library
from proofs.mutants import Classified, Mutant, Outcome
from proofs.recheck import MOST, SAMPLE, Task, examine
from proofs.search import Failure

SQUARES = "let a, b, c : real\nshow (a + b)^2*c = a^2*c + 2*a*b*c + b^2*c\n"


def accepted_unless_proved(witness: Any) -> Any:
    """In place of `classify`: the old certificate passes on every mutant."""

    def ended(mutant: Mutant, *_: Any, prove: Any, **__: Any) -> Classified:
        if prove(mutant.statement):
            return Classified(mutant, Outcome.EQUIVALENT, "proved too")
        return Classified(mutant, Outcome.ACCEPTED, "the old certificate passes", witness)

    return ended


@pytest.mark.parametrize(
    ("needs", "witness", "outcome"),
    [
        (2 * PROVING, None, "equivalent"),  # true, and slow to prove
        (1e9, None, "accepted"),  # nothing shows it to be true
        (2 * PROVING, SimpleNamespace(), "accepted"),  # false: no proof could excuse it
    ],
)
def test_a_mutant_that_passes_is_given_the_time_that_its_own_proof_needs(
    monkeypatch: pytest.MonkeyPatch, needs: float, witness: Any, outcome: str
):
    def prove(statement: Statement, seconds: float, lemmas: Mapping[str, Statement]) -> Any:
        assert lemmas is cited
        return {} if seconds >= needs else Failure("no proof in the time given")

    cited: dict[str, Statement] = {}
    monkeypatch.setattr(proofs.attack, "prove", prove)
    monkeypatch.setattr(proofs.attack, "classify", accepted_unless_proved(witness))
    counts = attack(parse(SQUARES).statements[0], {}, cited, sample=3)
    assert {key: count for key, count in counts.items() if count} == {outcome: 3}


@pytest.mark.parametrize("goals", [2, 10, 40])
def test_a_theorem_of_many_goals_is_sampled_as_a_whole(goals: int, tmp_path: Path):
    path = tmp_path / "algebra" / "squares.thm"
    path.parent.mkdir()
    head, goal = SQUARES.split("show ")
    shown = [f"show {goal.strip()} + {k} - {k}" for k in range(1, goals + 1)]
    path.write_text(head + "\n".join(shown) + "\n")
    assert main(["decide", "--write", str(path)]) == 0
    row = examine(Task("algebra.squares"), Library(tmp_path))
    assert not row.shortfalls
    each = min(SAMPLE, max(3, MOST // goals))
    assert sum(row.mutants.values()) == each * goals
