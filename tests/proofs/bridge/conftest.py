"""Theorems of the library, and theorems and derivations that are tried beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proofs.library import Library, Theorem, read_theorem

Write = Callable[[str], Theorem]


@pytest.fixture(scope="session")
def library() -> Library:
    return Library()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A theorem of one's own, read from its text."""

    def written(text: str) -> Theorem:
        path = tmp_path / "tried" / "theorem.thm"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return read_theorem(path)

    return written
