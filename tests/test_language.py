"""The guide to the statement language: its examples are what it says, and leave nothing out.

`python -m tests.test_language` puts what the commands print now into it.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
from pathlib import Path

import pytest

from proofs.__main__ import main
from proofs.decide import decide
from proofs.language.errors import LimitExceeded, SyntaxProblem
from proofs.language.parser import BUILTIN, RELATION_SYMBOLS, parse
from proofs.language.tokens import KEYWORDS, TYPE_WORDS
from proofs.language.tree import OPERATORS, PROPERTIES, postorder
from proofs.verdict import Verdict
from tests.test_readme import CONSOLE, steady

ROOT = Path(__file__).parents[1]
PATH = ROOT / "docs" / "language.md"
GUIDE = PATH.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```thm\n(.*?)```", GUIDE, re.DOTALL)
CONSOLES = CONSOLE.findall(GUIDE)


def title(example: str) -> str:
    return example.partition("\n")[0].removeprefix("# ")


@pytest.mark.parametrize("example", EXAMPLES, ids=title)
def test_an_example_gets_the_verdict_that_it_names(example: str):
    said = title(example).partition(":")[0]
    for statement in parse(example).statements:
        if said == "true":  # no counterexample; a proof may be beyond the search
            answer = decide(statement, seconds=0.5)
            assert answer.verdict in (Verdict.PROVED, Verdict.CHECKED, Verdict.OPEN), str(answer)
        else:
            answer = decide(statement, neighbour=False)
            assert answer.verdict is Verdict(said), str(answer)


def test_every_construct_has_an_example():
    statements = [s for example in EXAMPLES for s in parse(example).statements]
    used = {node.op for s in statements for root in s.roots() for node in postorder([root])}
    assert set(OPERATORS) - used == set()


def test_every_word_of_the_language_is_in_the_guide():
    code = " ".join(re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", GUIDE, flags=re.DOTALL)))
    words = set(re.findall(r"\w+", code))
    assert {*BUILTIN, *PROPERTIES, *TYPE_WORDS, *KEYWORDS} - words == set()
    assert all(symbol in code for symbol in RELATION_SYMBOLS)


def test_the_limits_are_those_of_the_parser():
    from proofs.language import parser, tokens, tree

    for limit in (
        tokens.MAX_TEXT, parser.MAX_GOALS, tree.MAX_DIGITS, tokens.MAX_NAME, parser.MAX_DEPTH,
        tree.MAX_NESTING,
    ):  # fmt: skip
        assert f" {limit:,} " in GUIDE or f" {limit:,};" in GUIDE or f" {limit:,}." in GUIDE


@pytest.mark.parametrize(
    "line",
    [
        "show 1 < 2 < 3",
        "let pi : real\nshow 1 = 1",
        "let inv : real\nshow 1 = 1",
        "let x : real\nlet x : real\nshow 1 = 1",
        "show 1 = 1\nassume 1 = 1",
        "let n : dimension\nlet A : matrix(n, n)\nshow A^2.T = A",
    ],
)
def test_what_the_guide_calls_refused_is_refused(line: str):
    with pytest.raises((SyntaxProblem, LimitExceeded)):
        parse(line)


@pytest.mark.parametrize(("command", "shown"), CONSOLES, ids=[c for c, _ in CONSOLES])
def test_a_command_prints_what_the_guide_shows(
    command: str, shown: str, capsys, monkeypatch, tmp_path: Path
):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    main(shlex.split(command))
    assert steady(capsys.readouterr().out) == steady(shown)


def test_python_answers_what_the_guide_shows():
    blocks = re.findall(r"```pycon\n(.*?)```", GUIDE, re.DOTALL)
    assert blocks
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block in blocks:
        runner = doctest.DocTestRunner(optionflags=flags)
        runner.run(doctest.DocTestParser().get_doctest(block, {}, PATH.name, None, None))
        assert runner.summarize(verbose=False).failed == 0


def test_the_guide_finds_its_own_sections():
    headings = re.findall(r"^## (.*)$", GUIDE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", GUIDE)) <= anchors
    assert len(re.findall(r"^- \[", GUIDE, re.MULTILINE)) == len(headings)
    assert "docs/language.md" in (ROOT / "README.md").read_text(encoding="utf-8")


def renew() -> None:
    """Put what the commands print now into the guide."""

    def printed(match: re.Match[str]) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            main(shlex.split(match[1]))
        return f"```console\n$ python -m proofs {match[1]}\n{out.getvalue().rstrip()}\n```"

    os.chdir(ROOT)
    PATH.write_text(CONSOLE.sub(printed, GUIDE), encoding="utf-8")


if __name__ == "__main__":
    renew()
