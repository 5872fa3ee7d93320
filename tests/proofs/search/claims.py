"""Claims as data, and what must become of them.

A file `claims/<subject>.thm` holds claims in blocks. The mark before a claim's name says what the
search must make of it:

    == name     true: a certificate is found, and the checker accepts it
    != name     false: there is a counterexample, and no certificate is found
    ?? name     undefined somewhere, or false beyond the refuter: no certificate is found

What stands before the first block (declarations, as a rule) heads every claim of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from proofs.checker.judge import check
from proofs.language.parser import parse
from proofs.language.tree import Statement
from proofs.refute import refute
from proofs.search import Failure, prove

FOLDER = Path(__file__).parent / "claims"
HEADING = re.compile(r"^(==|!=|\?\?) (.+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Claim:
    """A statement's text, its name and the mark that says what must become of it."""

    subject: str
    mark: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.name}"


def read(path: Path) -> list[Claim]:
    """The claims of a file; two of one mark never share a name."""
    head, *parts = HEADING.split(path.read_text(encoding="utf-8"))
    claims = [
        Claim(path.stem, mark, name, head + text)
        for mark, name, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]
    keys = [(claim.mark, claim.name) for claim in claims]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ValueError(f"{path.name}: two claims of one name: {twice}")
    return claims


def named(subject: str, name: str) -> Statement:
    """The true claim of that name."""
    (text,) = [c.text for c in read(FOLDER / f"{subject}.thm") if (c.mark, c.name) == ("==", name)]
    return statement(text)


def statement(text: str) -> Statement:
    (only,) = parse(text).statements
    return only


def assert_proved(text: str) -> None:
    """A certificate is found, and the checker accepts it."""
    goal = statement(text)
    found = prove(goal, 20)
    assert not isinstance(found, Failure), found
    check(goal, found)  # raises where it is no proof


def assert_not_proved(text: str) -> None:
    """No certificate is found."""
    assert isinstance(prove(statement(text), 1), Failure)


def assert_refuted(text: str) -> None:
    """There is a counterexample, and no certificate is found."""
    assert_not_proved(text)
    found = refute(statement(text), seconds=5, seed=1)
    assert found.witness is not None, str(found.stats)
