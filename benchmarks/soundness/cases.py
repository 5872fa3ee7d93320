"""The proved statements under attack: the theorems, and what a short search proves."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.statements.corpus import FOLDER, Entry, entries
from proofs.language.parser import parse
from proofs.language.tree import Statement
from proofs.library import Library
from proofs.processes import mapped
from proofs.search import Failure, prove
from proofs.verdict import Verdict


@dataclass(frozen=True)
class Proved:
    """A statement with its certificate."""

    name: str
    statement: Statement
    certificate: Mapping[str, Any]
    lemmas: Mapping[str, Statement]


def available(limit: int | None) -> int:
    """How many statements may take part."""
    given = sum(e.expected is Verdict.PROVED for e in entries())
    return sum(1 for _ in _theorems()) + (given if limit is None else min(limit, given))


def proved(seconds: float, limit: int | None, seed: int, jobs: int = 1) -> Iterator[Proved | None]:
    """The theorems, then the given statements; None for one that a search doesn't prove."""
    yield from _theorems()
    chosen = [e for e in entries() if e.expected is Verdict.PROVED]
    if limit is not None and limit < len(chosen):
        chosen = random.Random(seed).sample(chosen, limit)
    searched = mapped(_searched, [(e, seconds) for e in chosen], jobs, lambda _: None)
    for entry, found in zip(chosen, searched, strict=True):
        if found is None:
            yield None
        else:
            place, certificate = found
            yield Proved(entry.file, _statements(entry)[place], certificate, {})


def _searched(item: tuple[Entry, float]) -> tuple[int, dict[str, Any]] | None:
    """The first goal of a file that is proved, by its place, with the certificate: one goal of
    each file, so that long files don't outweigh the others."""
    entry, seconds = item
    for place, statement in enumerate(_statements(entry)):
        certificate = prove(statement, seconds)
        if not isinstance(certificate, Failure):
            return place, certificate
    return None


def _statements(entry: Entry) -> tuple[Statement, ...]:
    text = (FOLDER / entry.file).read_text(encoding="utf-8")
    return tuple(parse(text, path=entry.file).statements)


def _theorems() -> Iterator[Proved]:
    library = Library()
    for theorem in library:
        for place, certificate in enumerate(theorem.certificates):
            if isinstance(certificate, dict):
                lemmas = library.lemmas(certificate)
                yield Proved(theorem.name, theorem.statements[place], certificate, lemmas)
