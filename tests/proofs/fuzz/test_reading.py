"""Reading: whatever the text, an answer soon, and an error that says where; and nothing is lost."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.statements.corpus import FOLDER
from proofs.language import show
from proofs.language.errors import LimitExceeded, StatementError
from proofs.language.parser import parse, parse_expression
from proofs.language.tokens import KEYWORDS
from proofs.language.tree import Statement, from_json, term, to_json
from proofs.library import THEOREMS
from tests.proofs.checker import trees

PATIENCE = 5.0  # seconds, on a machine that does other things besides
SEEDS = st.integers(0, 2**48)
FILES = sorted([*FOLDER.rglob("*.thm"), *THEOREMS.rglob("*.thm")])
NAMES = [
    "n",
    "k",
    "A",
    "B",
    "x",
    "j",
    "f",
    "X",
    "F",
    "i",
    "e",
    "pi",
    "oo",
    "0",
    "1",
    "2",
    "0.5",
    "1/0",
    "99999999999999999999",
    "T",
    "H",
]
FUNCTIONS = [
    "eye",
    "inv",
    "tr",
    "sum",
    "prod",
    "diff",
    "block",
    "E",
    "cov",
    "logpdf",
    "invertible",
    "grad",
    "max",
    "unit",
    "softmax",
]
MARKS = [
    "+",
    "-",
    "*",
    "/",
    "^",
    "<",
    ">",
    "=",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    ";",
    "|",
    ".",
    ".T",
    ".H",
    "..",
    "->",
    "<=",
    ">=",
    "!=",
    "==",
    "**",
    "#",
    "#!",
    "'",
    "²",
    "∞",
    "é",
    "\x00",
]
WORDS = (*sorted(KEYWORDS), *NAMES, *FUNCTIONS, *MARKS, "\n", "\n", "\n", " ")


def problem(text: str) -> StatementError | None:
    """What is wrong with a text; nothing else than a `StatementError` may come."""
    try:
        parse(text)
    except StatementError as error:
        return error
    return None


def read(text: str) -> None:
    """Reads, or says where it can't; soon."""
    start = time.monotonic()
    found = problem(text)
    assert time.monotonic() - start < PATIENCE, text
    if found is None or (isinstance(found, LimitExceeded) and found.span is None):
        return
    assert found.span is not None, f"{found!r} has no place, in {text!r}"
    lines = text.split("\n")
    assert 1 <= found.span.line <= len(lines), (found, text)
    assert 1 <= found.span.column <= len(lines[found.span.line - 1]) + 1, (found, text)


@given(st.text(max_size=200))
def test_any_text(text: str):
    read(text)


@given(st.lists(st.sampled_from(WORDS), max_size=60), st.sampled_from((" ", "")))
def test_any_words_of_the_language(words: list[str], between: str):
    read(between.join(words))


@given(st.lists(st.sampled_from(WORDS), max_size=40))
def test_any_words_as_a_goal(words: list[str]):
    goal = " ".join(w for w in words if w != "\n")
    read(
        "let n, k : dimension\nlet A, B : matrix(n, k)\nlet x, j : real\n"
        f"let f : function(real)\nshow {goal}"
    )


@given(st.text(alphabet="AnkxB+-*/^()[],.T0123 ", max_size=60))
def test_any_expression(text: str):
    with suppress(StatementError):
        parse_expression(text, trees.SCOPE)


def edited(path: Path, seed: int) -> str:
    """A good file with a few slips: of a character, a word or a line."""
    draw = random.Random(seed)
    text = path.read_text(encoding="utf-8")
    for _ in range(draw.randint(1, 4)):
        parts = list(text) if draw.random() < 0.4 else text.split(" ")
        glue = "" if len(parts) == len(text) else " "
        if draw.random() < 0.2:
            parts, glue = text.split("\n"), "\n"
        if not parts:
            break
        place = draw.randrange(len(parts))
        what = draw.randrange(5)
        if what == 0:
            del parts[place]
        elif what == 1:
            parts.insert(place, parts[draw.randrange(len(parts))])
        elif what == 2:
            parts[place] = draw.choice(WORDS)
        elif what == 3:
            parts[place] = chr(draw.choice((0, 9, 40, 41, 91, 93, 0x221E, 0x301, 0x3B1, 0xFEFF)))
        else:
            other = draw.randrange(len(parts))
            parts[place], parts[other] = parts[other], parts[place]
        text = glue.join(parts)
    return text


@given(st.sampled_from(FILES), SEEDS)
def test_a_good_file_with_slips(path: Path, seed: int):
    read(edited(path, seed))


# ---------------------------------------------------------------- nothing is lost


def statement(seed: int) -> Statement:
    """A random well-typed statement in many kinds of names."""
    draw = random.Random(seed)
    kind = draw.randrange(3)
    grow = trees.Trees(draw.randrange(10**9))
    if kind:
        scope = trees.L2_SCOPE if kind == 1 else trees.GAUSSIAN_SCOPE
        left = grow.in_l2(draw.randint(0, 3), kind == 2)
        return Statement(scope.declarations, (), term("eq", left, left))
    rows, cols = draw.choice(trees.SIZES), draw.choice(trees.SIZES)
    depth = draw.randint(0, 4)
    hypotheses = [
        term("invertible", grow.matrix(rows, rows, draw.randint(0, 2))),
        term("eq", *(grow.matrix(rows, cols, draw.randint(0, 2)) for _ in range(2))),
        term("gt", grow.real_scalar(1, ()), grow.real_scalar(1, ())),
    ]
    chosen = tuple(h for h in hypotheses if draw.random() < 0.5)
    goal = term("eq", *(grow.matrix(rows, cols, depth) for _ in range(2)))
    return Statement(trees.SCOPE.declarations, chosen, goal)


@given(SEEDS)
def test_a_printed_statement_is_read_as_itself(seed: int):
    made = statement(seed)
    try:
        printed = show.thm(made)
    except StatementError:  # too long, or a tree that the language has no words for
        return
    again = parse(printed).statements[0]
    assert again.hash == made.hash, printed
    assert again.goal is made.goal
    assert show.thm(again) == printed


@given(SEEDS)
def test_json_is_read_as_itself(seed: int):
    made = statement(seed)
    again = from_json(to_json(made))
    assert again == made
    assert again.hash == made.hash


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_given_files_come_back(path: Path):
    for made in parse(path.read_text(encoding="utf-8"), typed=False).statements:
        assert from_json(to_json(made)) == made
