"""What an attack on the checker comes to: how its changes ended, and the holes that it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Progress = Callable[[Iterator[Any], int, str], Iterator[Any]]


def silent(items: Iterator[Any], total: int, what: str) -> Iterator[Any]:
    """No progress is shown."""
    return items


@dataclass
class Attack:
    """How the changes of one attack ended: by kind, and the holes that were found."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    holes: list[str] = field(default_factory=list)
    explained: list[str] = field(default_factory=list)  # accepted and true, one line each
    sample: Counter[str] = field(default_factory=Counter)  # what some rejected mutants are
    seconds: float = 0.0
    is_whole: bool = True  # False: interrupted before its end

    def count(self, kind: str, outcome: str) -> None:
        self.counts.setdefault(kind, Counter())[outcome] += 1

    def take_in(self, part: Attack) -> None:
        """Add what another process found."""
        for kind, found in part.counts.items():
            self.counts.setdefault(kind, Counter()).update(found)
        self.holes += part.holes
        self.explained += part.explained
        self.sample.update(part.sample)

    @property
    def total(self) -> Counter[str]:
        return sum(self.counts.values(), Counter[str]())
