"""Tokens of a statement file, and what may be a name.

The whole text is cut at once, with its brackets matched, so that a parser can look at an
argument before it reads the one in front of it (`sum(expr, j, 1, n)` binds `j` in `expr`).
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from proofs.language.errors import LimitExceeded, Span, SyntaxProblem

MAX_TEXT = 200_000  # characters of one file
MAX_NAME = 200  # characters of one name

STATEMENT_WORDS = ("let", "define", "assume", "show")
TYPE_WORDS = (
    "dimension",
    "matrix",
    "vector",
    "real",
    "positive",
    "nonnegative",
    "nonzero",
    "integer",
    "complex",
    "index",
    "function",
    "gaussian",
    "random",
    "sigma_algebra",
)
CONSTANTS = ("pi", "e", "i", "oo")
KEYWORDS = frozenset((*STATEMENT_WORDS, *TYPE_WORDS, "for", "all", "where", "in", "subset"))


class Token(NamedTuple):
    """A word of the text. `kind` is "name", "number", "newline", "end", or the symbol itself."""

    kind: str
    text: str
    line: int
    column: int

    @property
    def span(self) -> Span:
        return Span(self.line, self.column, max(1, len(self.text)))

    def __str__(self) -> str:
        return {"newline": "the end of the line", "end": "the end of the text"}.get(
            self.kind, repr(self.text)
        )


class Tokens(NamedTuple):
    """A text's tokens; for the place of each opening bracket, those of what divides it."""

    tokens: list[Token]
    closing: dict[int, int]
    separators: dict[int, list[int]]  # the `,`, `;` and `|` that stand directly inside


_TOKEN = re.compile(
    r"(?P<skip>[ \t\r]+|\#[^\n]*)|(?P<newline>\n)"
    r"|(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<name>[^\W\d_](?:\w|[\u0300-\u036f])*)"
    r"|(?P<symbol>\.[TH](?!\w)|\.\.|->|<=|>=|!=|==|\*\*|[-+*/^<>=()\[\],:;|])"
)
_HINTS = {
    "==": "equality is written =",
    "**": "a power is written ^",
    "≤": "write <=",
    "≥": "write >=",
    "≠": "write !=",
    "−": "that is not the minus of the keyboard: write -",
    "·": "write *",
    "×": "write *",
    "∗": "write *",
    "÷": "write /",
    "'": "a transpose is A.T",
    ".": "a number needs a digit before its point; .T and .H are the only postfixes",
    "²": "write ^2",
    "³": "write ^3",
    "∞": "infinity is not a number here",
    "\u00a0": "that is a no-break space: write a plain one",
    "{": "use ( ) or [ ]",
    "}": "use ( ) or [ ]",
    "_": "a name starts with a letter",
    "!": "write != for not equal",
}


def is_name(word: object) -> bool:
    """Whether this can be declared: letters, the digits 0 to 9 and `_`, and not reserved."""
    return (
        isinstance(word, str)
        and word[:1].isalpha()
        and all(c.isalpha() or c in "_0123456789" for c in word)
        and word not in CONSTANTS
        and word not in KEYWORDS
    )


def tokenize(text: str, *, first_line: int = 1) -> Tokens:
    """The tokens of a text; inside brackets line ends and comments are passed over.

    Raises:
        LimitExceeded: more than `MAX_TEXT` characters, or `MAX_NAME` in a name.
        SyntaxProblem: a character outside the language, or brackets that don't match.
    """
    if len(text) > MAX_TEXT:
        raise LimitExceeded(f"the text has {len(text)} characters; at most {MAX_TEXT} are read")
    tokens: list[Token] = []
    closing: dict[int, int] = {}
    separators: dict[int, list[int]] = {}
    opened: list[int] = []
    line, line_start, position = first_line, 0, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        column = position - line_start + 1
        if match is None:
            raise _unreadable(text[position], Span(line, column))
        position = match.end()
        kind, word = match.lastgroup, match.group()
        if kind == "skip":
            continue
        if kind == "newline":
            if not opened and tokens and tokens[-1].kind != "newline":
                tokens.append(Token("newline", "", line, column))
            line, line_start = line + 1, position
            continue
        if kind == "name":
            word = _normalized(word, Span(line, column, len(word)))
            if opened and word in STATEMENT_WORDS:
                raise _unclosed(tokens[opened[-1]])
        elif kind == "symbol":
            kind = word
            if word in _HINTS:
                raise _unreadable(word, Span(line, column, len(word)))
        token = Token(str(kind), word, line, column)
        if word in ("(", "["):
            opened.append(len(tokens))
            separators[len(tokens)] = []
        elif word in (")", "]"):
            if not opened:
                raise SyntaxProblem(f"{word!r} closes nothing", token.span)
            start = opened.pop()
            if tokens[start].text + word not in ("()", "[]"):
                raise SyntaxProblem(
                    f"expected what closes {tokens[start].text!r} of {tokens[start].span}, "
                    f"got {word!r}",
                    token.span,
                )
            closing[start] = len(tokens)
        elif opened and word in (",", ";", "|"):
            separators[opened[-1]].append(len(tokens))
        tokens.append(token)
    if opened:
        raise _unclosed(tokens[opened[-1]])
    if tokens and tokens[-1].kind != "newline":
        tokens.append(Token("newline", "", line, len(text) - line_start + 1))
    tokens.append(Token("end", "", line, len(text) - line_start + 1))
    return Tokens(tokens, closing, separators)


def _unclosed(token: Token) -> SyntaxProblem:
    return SyntaxProblem(f"this {token.text!r} is not closed", token.span)


def _unreadable(character: str, span: Span) -> SyntaxProblem:
    shown = repr(character) if character.isprintable() else f"U+{ord(character):04X}"
    hint = _HINTS.get(character)
    return SyntaxProblem(f"{shown} has no meaning here" + (f"; {hint}" if hint else ""), span)


def _normalized(word: str, span: Span) -> str:
    """The NFC form of a name, made of letters, the digits 0 to 9 and `_` only."""
    if len(word) > MAX_NAME:
        raise LimitExceeded(f"a name of more than {MAX_NAME} characters", span)
    word = word if word.isascii() else unicodedata.normalize("NFC", word)
    for character in word:
        if not (character.isalpha() or character == "_" or character in "0123456789"):
            hint = _HINTS.get(character, "a name has letters, the digits 0 to 9 and _")
            raise SyntaxProblem(f"{character!r} can't stand in a name; {hint}", span)
    return word


# Letters of other alphabets that look like a Latin one in common fonts. Digits are left out:
# `l1` and `O` are names that people use.
_LOOKALIKES = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧονАВЕКМНОРСТУХІЈЅаеорсухіјѕһԁԛԝıɡɑ",
    "ABEZHIKMNOPTYXovABEKMHOPCTYXIJSaeopcyxijshdqwiga",
)


def skeleton(identifier: str) -> str:
    """What a name looks like: two names with the same skeleton can't be told apart."""
    if identifier.isascii():
        return identifier
    return unicodedata.normalize("NFKC", identifier).translate(_LOOKALIKES)
