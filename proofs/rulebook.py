"""The checker's rules, to be read: the closed list by sections, and a rule as it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise

from proofs.checker.rules import find_rule, rule_texts
from proofs.language import show
from proofs.language.tree import Statement

_SECTION = re.compile(r"# -+ (.*)")
_SOURCE = re.compile(r"# after (.*)")
_WIDTH = 68  # of a conclusion in the list


class UnknownRule(KeyError):
    """There is no rule of this name; says which ones are near."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its name, the section in which it stands and whom that follows, what it says."""

    name: str
    section: str
    source: str
    text: str  # as it is written, from the first `let` to the `show`
    statement: Statement

    def __str__(self) -> str:
        return f"{self.name} ({self.section}; after {self.source})\n\n{self.text}"

    def latex(self) -> str:
        """The rule as LaTeX: hypotheses as cases, then the conclusion."""
        return show.latex(self.statement)


@cache
def _lines() -> list[str]:
    text = (resources.files("proofs.checker") / "rules.thm").read_text(encoding="utf-8")
    return text.splitlines()


@cache
def sources() -> dict[str, str]:
    """Which literature the rules of each section follow."""
    found: dict[str, str] = {}
    for line, following in pairwise(_lines()):
        heading, source = _SECTION.fullmatch(line), _SOURCE.fullmatch(following)
        if heading and source:
            found[heading[1]] = source[1]
    return found


@cache
def sections() -> dict[str, tuple[str, ...]]:
    """The names of the rules, by section, in the order of the list."""
    found: dict[str, list[str]] = {}
    section = ""
    for line in _lines():
        heading = _SECTION.fullmatch(line)
        if heading:
            section = heading[1]
        elif line.startswith("== "):
            found.setdefault(section, []).append(line.removeprefix("== ").strip())
    return {section: tuple(names) for section, names in found.items()}


def rule(name: str) -> Rule:
    """The rule of this name.

    Raises:
        UnknownRule: there is none.

    Example:
        >>> print(rule("inv_left"))
        inv_left (inverses; after Horn and Johnson, Matrix Analysis, 0.3 and 0.7; ...)
        <BLANKLINE>
        let n : dimension
        let A : complex matrix(n, n)
        assume invertible(A)
        show inv(A)*A = eye(n)
    """
    statement = find_rule(name)
    if statement is None:
        from difflib import get_close_matches

        near = get_close_matches(name, rule_texts(), 3, 0.5)
        hint = f"; near it: {', '.join(near)}" if near else ""
        raise UnknownRule(f"there is no rule {name!r}{hint}")
    section = next(s for s, names in sections().items() if name in names)
    text = rule_texts()[name].partition("\n")[2]
    text = _SECTION.split(text)[0]  # the heading of the next section stands at its end
    return Rule(name, section, sources()[section], text.strip(), statement)


def contents() -> str:
    """All rules by section, each with its conclusion."""
    names = [name for section in sections().values() for name in section]
    width = max(map(len, names))
    blocks = [f"{len(names)} rules; `python -m proofs rules NAME` prints one with its hypotheses"]
    for section, members in sections().items():
        lines = [f"  {name:<{width}}  {_conclusion(name)}" for name in members]
        blocks.append("\n".join([f"{section} (after {sources()[section]})", *lines]))
    return "\n\n".join(blocks)


def _conclusion(name: str) -> str:
    shown = show.text(rule(name).statement.goal)
    return shown if len(shown) <= _WIDTH else show.excerpt(rule(name).statement.goal, _WIDTH)
