"""Claims written as `name: statement`, and what must become of them."""

from __future__ import annotations

from proofs.checker.judge import check
from proofs.language.parser import parse
from proofs.language.tree import Statement
from proofs.refute import refute
from proofs.search import Failure, prove


def claims(text: str) -> dict[str, str]:
    """Statements by name, from blocks that begin with a line `== name`."""
    blocks = text.split("\n== ")[1:]
    return {name.strip(): rest for name, _, rest in (b.partition("\n") for b in blocks)}


def statement(text: str) -> Statement:
    (only,) = parse(text).statements
    return only


def assert_proved(text: str) -> None:
    """A certificate is found, and the checker accepts it."""
    goal = statement(text)
    found = prove(goal, 20)
    assert not isinstance(found, Failure), found
    check(goal, found)  # raises where it is no proof


def assert_refuted(text: str) -> None:
    """There is a counterexample, and no certificate is found."""
    goal = statement(text)
    assert isinstance(prove(goal, 2), Failure)
    found = refute(goal, seconds=5, seed=1)
    assert found.witness is not None, str(found.stats)
