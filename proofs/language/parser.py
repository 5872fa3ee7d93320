"""Reads statement files (`.thm`), rule files and single expressions into terms.

A recursive descent that counts how deep it is, so that no text can exhaust the Python stack.
Names are looked up while reading: an abbreviation by `define` is replaced by its term at once
(terms share what is equal), and a bound name stands as a name until its binder is complete.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from proofs.language import infer
from proofs.language.errors import LimitExceeded, Span, SyntaxProblem, TypeProblem
from proofs.language.tokens import (
    CONSTANTS,
    KEYWORDS,
    STATEMENT_WORDS,
    Token,
    Tokens,
    skeleton,
    tokenize,
)
from proofs.language.tree import (
    MAX_DIGITS,
    MAX_NODES,
    OPERATORS,
    PROPERTIES,
    Declaration,
    Statement,
    Term,
    abstract,
    name,
    pair,
    postorder,
    rational,
    term,
)

MAX_DEPTH = 200  # nested brackets, exponents and signs
MAX_GOALS = 1_000
MAX_WORK = 400_000  # nodes that binders may copy, all of them together

RELATION_SYMBOLS = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
# Functions named as their operators, with their number of arguments (None: one or more).
FUNCTIONS: dict[str, int | None] = {
    function: OPERATORS[function]
    for function in [
        "eye",
        "zeros",
        "ones",
        "unit",
        "conj",
        "inv",
        "pinv",
        "det",
        "tr",
        "rank",
        "adj",
        "diag",
        "vec",
        "inner",
        "norm2",
        "kron",
        "hadamard",
        "softmax",
        "logsumexp",
        "max",
        "min",
        "exp",
        "log",
        "sqrt",
        "abs",
        "sin",
        "cos",
        "tanh",
        "lambertw",
        "erf",
        "l2norm2",
        "l2inner",
    ]
}
SPECIAL = (
    "sum", "prod", "diff", "grad", "limit", "block", "E", "cov", "logpdf", "logpdf_on_support",
)  # fmt: skip
LIMIT_FORM = "limit(expression, x, oo) = value"
BUILTIN = frozenset((*FUNCTIONS, *SPECIAL, *PROPERTIES))
_SCALAR_TYPES = ("real", "positive", "nonnegative", "nonzero", "integer", "dimension")
# What can be moved a little, so that something can be differentiated by it.
_CONTINUOUS = ("real_type", "positive_type", "nonnegative_type", "nonzero_type", "matrix_type")
Read = TypeVar("Read")
LONG_HEADERS = frozenset(("cites", "where", "domain", "at"))  # entries parted by semicolons
_SUM, _PRODUCT, _POWER = 1, 2, 3  # how tightly an operator binds


@dataclass(frozen=True)
class Document:
    """What one file says: a statement for each of its `show` lines."""

    statements: tuple[Statement, ...]
    headers: Mapping[str, list[str]]  # `#! items: FB-7, FB-8` is {"items": ["FB-7", "FB-8"]}
    spans: Mapping[Term, Span]  # where a term first occurs
    goal_spans: tuple[Span, ...]
    defines: Mapping[str, Term]
    title: str  # the first comment
    path: str | None = None


def parse(text: str, *, path: str | None = None, typed: bool = True) -> Document:
    """The statements of a file; `typed=False` leaves out the check of types and shapes.

    Raises:
        SyntaxProblem: a line that the grammar doesn't allow.
        TypeProblem: an unknown name, or shapes and kinds that don't fit.
        LimitExceeded: longer, deeper or larger than the stated limits.
    """
    reader = _Reader(tokenize(text))
    reader.read_lines()
    statements = reader.statements()
    if typed:
        reader.check(statements)
    title, headers = _comments(text)
    return Document(
        statements, headers, reader.spans, tuple(reader.goal_spans), reader.defines, title, path
    )


def parse_rules(text: str, *, typed: bool = True) -> dict[str, Statement]:
    """The blocks `== name (remark)` of a rule file, each with exactly one goal.

    Raises:
        SyntaxProblem, TypeProblem, LimitExceeded: as `parse`; also a name that occurs twice.
    """
    rules: dict[str, Statement] = {}
    blocks = re.split(r"^==(.*)$", text, flags=re.MULTILINE)
    line = 1 + blocks[0].count("\n")
    for before in tokenize(blocks[0]).tokens[:1]:
        if before.kind != "end":
            raise SyntaxProblem(f"expected a block `== name`, got {before}", before.span)
    for heading, body in zip(blocks[1::2], blocks[2::2], strict=True):
        found = re.fullmatch(r"\s*([^\W\d]\w*)\s*(\(.*\))?\s*", heading)
        if found is None:
            raise SyntaxProblem(f"expected `== name (remark)`, got '=={heading}'", Span(line, 1))
        if found[1] in rules:
            raise SyntaxProblem(f"a rule {found[1]!r} stands above already", Span(line, 1))
        reader = _Reader(tokenize(body, first_line=line))
        reader.read_lines()
        statements = reader.statements()
        if len(statements) != 1:
            raise SyntaxProblem(
                f"rule {found[1]!r} has {len(statements)} goals; expected one", Span(line, 1)
            )
        if typed:
            reader.check(statements)
        rules[found[1]] = statements[0]
        line += body.count("\n")
    return rules


def parse_expression(
    text: str, scope: infer.Scope, defines: Mapping[str, Term] | None = None
) -> Term:
    """One expression, relation or property in the names of `scope`. Types aren't checked.

    `defines` are abbreviations that may be used besides.

    Raises:
        SyntaxProblem, TypeProblem, LimitExceeded: as `parse`.
    """
    reader = _Reader(tokenize(text))
    for declaration in scope.declarations:
        for identifier in declaration.names:
            reader.declare(identifier, type_=declaration.type)
    reader.defines.update(defines or {})
    found = reader.guarded(lambda: reader.fact(quantified=True, bare=True))
    reader.end_of_line("an operator or the end")
    if reader.peek().kind != "end":
        raise reader.expected("one expression")
    return found


def why_not_a_name(identifier: str) -> str | None:
    """Why this word can't be declared, `{expected}` left open; None: it can be.

    A look-alike of a reserved word is refused too; that of another name is left to the caller.
    """
    meaning = {
        "i": "the imaginary unit",
        "e": "the base of the exponential",
        "pi": "a constant",
        "π": "a constant, written pi",
        "oo": "infinity",
    }
    if identifier in CONSTANTS or identifier in KEYWORDS or identifier == "π":
        shown = meaning.get(identifier, "a keyword")
        return f"{identifier!r} is reserved ({shown}): expected {{expected}}"
    if identifier in BUILTIN and identifier != "E":
        return f"{identifier!r} is a function of the language and can't be declared"
    shape = skeleton(identifier)
    if shape != identifier and (shape in CONSTANTS or shape in KEYWORDS):
        return look_alike(identifier, shape)
    return None


def look_alike(identifier: str, twin: str) -> str:
    """Why a name is refused beside another one."""
    return f"{identifier!r} looks like {twin!r}, but has other letters: the two can't be told apart"


def _comments(text: str) -> tuple[str, dict[str, list[str]]]:
    """The first comment, its lines joined, and the `#!` headers.

    Entries are parted by commas; where an entry may have commas of its own, by semicolons.
    """
    title: list[str] = []
    headers: dict[str, list[str]] = {}
    ended = False
    for line in text.splitlines():
        line = line.strip()
        is_comment = line.startswith("#") and not line.startswith("#!")
        ended = ended or (bool(title) and not is_comment)
        if is_comment and not ended:
            title.append(line.lstrip("#").strip())
        elif line.startswith("#!"):
            key, colon, value = line[2:].partition(":")
            if colon and key.strip():
                key = key.strip()
                entries = re.split(";" if key in LONG_HEADERS else ",", value)
                headers.setdefault(key, []).extend(e.strip() for e in entries if e.strip())
    return " ".join(title), headers


@dataclass
class _Reader:
    source: Tokens
    position: int = 0
    depth: int = 0
    work: int = 0
    declarations: list[Declaration] = field(default_factory=list)
    declared: dict[str, Term] = field(default_factory=dict)  # names to types
    dimensions: set[str] = field(default_factory=set)
    defines: dict[str, Term] = field(default_factory=dict)
    bound: dict[str, Term | None] = field(default_factory=dict)  # type None: not yet known
    skeletons: dict[str, str] = field(default_factory=dict)
    hypotheses: list[Term] = field(default_factory=list)
    goals: list[Term] = field(default_factory=list)
    goal_spans: list[Span] = field(default_factory=list)
    spans: dict[Term, Span] = field(default_factory=dict)

    # ------------------------------------------------------------ tokens

    def peek(self, ahead: int = 0) -> Token:
        return self.source.tokens[min(self.position + ahead, len(self.source.tokens) - 1)]

    def next(self) -> Token:
        token = self.peek()
        self.position += 1
        return token

    def at(self, *texts: str) -> bool:
        """Whether the next token is one of these symbols or words."""
        token = self.peek()
        return token.text in texts and token.kind not in ("newline", "end")

    def take(self, text: str, what: str | None = None) -> Token:
        if not self.at(text):
            raise self.expected(what or repr(text))
        return self.next()

    def end_of_line(self, what: str) -> None:
        if self.peek().kind == "end":
            return
        if self.peek().kind != "newline":
            raise self.expected(what)
        self.next()

    def expected(self, what: str, token: Token | None = None) -> SyntaxProblem:
        token = token or self.peek()
        hint = ""
        before = self.source.tokens[self.position - 1] if self.position else None
        if before and before.kind == "number" and token.kind == "name":
            hint = f"; a product is written {before.text}*{token.text}"
        return SyntaxProblem(f"expected {what}, got {token}{hint}", token.span)

    def mark(self, node: Term, start: int) -> Term:
        """Remember where a term first stands: from the token at `start` up to here."""
        if node not in self.spans:
            first, last = self.source.tokens[start], self.source.tokens[self.position - 1]
            length = len(first.text)
            if last.line == first.line:
                length = last.column + len(last.text) - first.column
            self.spans[node] = Span(first.line, first.column, max(1, length))
        return node

    # ------------------------------------------------------------ lines

    def guarded(self, read: Callable[[], Read]) -> Read:
        try:
            return read()
        except RecursionError:  # the caller stands deep in the stack itself
            raise LimitExceeded("nested too deeply for the stack that is left") from None

    def read_lines(self) -> None:
        while self.peek().kind != "end":
            self.guarded(self.line)

    def line(self) -> None:
        token = self.next()
        if token.kind == "newline":
            return
        if self.goals and token.text in ("let", "assume"):
            raise SyntaxProblem(
                f"{token.text!r} stands after a goal; goals come last, so that it is plain "
                "what they assume",
                token.span,
            )
        if token.text == "let":
            self.let()
        elif token.text == "define":
            place = self.position
            identifier = self.new_name("a name to define")
            self.take("=")
            value = self.expression()
            if self.at(*RELATION_SYMBOLS):
                raise self.expected("the end of the line (a definition is not a relation)")
            self.declare(identifier, place)
            self.defines[identifier] = value
        elif token.text == "assume":
            self.hypotheses.append(self.fact(quantified=True))
        elif token.text == "show":
            start = self.position
            self.goals.append(self.fact(quantified=False))
            first, last = self.source.tokens[start], self.source.tokens[self.position - 1]
            same = first.line == last.line
            length = last.column + len(last.text) - first.column if same else len(first.text)
            self.goal_spans.append(Span(first.line, first.column, length))
            if len(self.goals) > MAX_GOALS:
                raise LimitExceeded(f"more than {MAX_GOALS} goals in one file", token.span)
        else:
            self.position -= 1
            raise self.expected("a line that starts with let, define, assume or show")
        self.end_of_line("an operator or the end of the line")

    def statements(self) -> tuple[Statement, ...]:
        if not self.goals:
            raise SyntaxProblem(
                "there is no goal: expected at least one `show` line", self.peek().span
            )
        shared = (tuple(self.declarations), tuple(self.hypotheses))
        statements = tuple(Statement(*shared, goal) for goal in self.goals)
        roots = [d.type for d in self.declarations] + self.hypotheses + self.goals
        if len(postorder(roots)) > MAX_NODES:
            raise LimitExceeded(f"the statements have more than {MAX_NODES} different terms")
        return statements

    def check(self, statements: tuple[Statement, ...]) -> None:
        """Types and shapes of all that the file says, unused abbreviations included."""
        scope = infer.Scope.of(statements[0].declarations, self.spans)
        for value in self.defines.values():
            infer.infer(value, scope, self.spans)
        infer.check(statements[0], self.spans, scope)
        for statement in statements[1:]:  # the hypotheses are the same
            infer.check(Statement(statement.declarations, (), statement.goal), self.spans, scope)

    def let(self) -> None:
        joint = self.at("(")
        if joint:
            self.next()
        places, names = [], []
        while True:
            places.append(self.position)
            names.append(self.new_name("a name to declare"))
            if not self.at(","):
                break
            self.next()
        if joint:
            self.take(")")
        self.take(":", "',' or ':' and a type" if not joint else None)
        start = self.position
        type_ = self.type(joint=joint)
        if joint and (type_.op != "gaussian_type" or pair(type_)[0] != len(names)):
            self.position = start
            raise self.expected(
                f"gaussian((a, b, ...), S) with {len(names)} means, one for each name"
            )
        for identifier, place in zip(names, places, strict=True):
            self.declare(identifier, place, type_)
        groups = [tuple(names)] if joint else [(identifier,) for identifier in names]
        self.declarations += [Declaration(group, type_) for group in groups]

    # ------------------------------------------------------------ names

    def new_name(self, what: str) -> str:
        """A name that isn't taken: not reserved, not declared, not a look-alike of either."""
        token = self.next()
        identifier = token.text
        if token.kind != "name":
            raise self.expected(what, token)
        refused = why_not_a_name(identifier)
        if refused:
            raise SyntaxProblem(refused.format(expected=what), token.span)
        if identifier in self.declared or identifier in self.defines or identifier in self.bound:
            raise SyntaxProblem(
                f"{identifier!r} is declared already; a name has one meaning in a file",
                token.span,
            )
        twin = self.skeletons.get(skeleton(identifier))
        if twin is not None and twin != identifier:
            raise SyntaxProblem(look_alike(identifier, twin), token.span)
        return identifier

    def declare(self, identifier: str, place: int = 0, type_: Term | None = None) -> None:
        if identifier in self.declared or identifier in self.defines:  # twice in one line
            raise SyntaxProblem(
                f"{identifier!r} is declared already", self.source.tokens[place].span
            )
        self.skeletons[skeleton(identifier)] = identifier
        if type_ is not None:
            self.declared[identifier] = type_
            if type_.op == "dimension_type":
                self.dimensions.add(identifier)

    def look_up(self, token: Token) -> Term:
        identifier = token.text
        if identifier in self.defines:
            return self.defines[identifier]
        if identifier in self.bound or identifier in self.declared:
            return name(identifier)
        if identifier == "oo":
            raise SyntaxProblem("'oo' is no number: expected a value", token.span)
        if identifier in CONSTANTS:
            return term("constant", data=identifier)
        if identifier in KEYWORDS:
            raise SyntaxProblem(f"expected a value, got the keyword {identifier!r}", token.span)
        if identifier in BUILTIN:
            raise SyntaxProblem(
                f"{identifier!r} is a function: expected its arguments, {identifier}(...)",
                token.span,
            )
        raise self.unknown(token)

    def unknown(self, token: Token) -> TypeProblem:
        from difflib import get_close_matches  # only where something is wrong: import time

        called = self.peek().text == "("
        known = [*self.defines, *self.bound, *self.declared]
        near = get_close_matches(token.text, [*known, *BUILTIN] if called else known, 1, 0.5)
        remedy = f"did you mean {near[0]!r}?" if near else f"declare it: let {token.text} : ..."
        what = "function" if called and token.text not in known else "name"
        return TypeProblem(f"unknown {what} {token.text!r}; {remedy}", token.span)

    # ------------------------------------------------------------ types

    def type(self, *, joint: bool = False, bound: bool = False) -> Term:
        start = self.position
        token = self.next()
        word = token.text if token.kind == "name" else ""
        is_complex = word == "complex" and self.at("matrix", "vector")
        if is_complex:
            word = self.next().text
        if word in ("matrix", "vector"):
            sizes = self.arguments(2 if word == "matrix" else 1, word)
            if word == "vector":
                sizes.append(rational(1))
            found = term("complex_matrix_type" if is_complex else "matrix_type", *sizes)
        elif word in _SCALAR_TYPES or word == "complex":
            found = term(f"{word}_type")
        elif word == "index":
            found = term("index_type", *self.arguments(1, word))
        elif word == "sigma_algebra":
            found = term("sigma_algebra_type")
        elif word == "random":
            size = rational(1)
            if self.at("vector"):
                self.next()
                (size,) = self.arguments(1, "random vector")
            found = term("random_type", size)
        elif word == "function":
            found = self.function_type()
        elif word == "gaussian":
            found = self.gaussian_type(joint)
        else:
            self.position = start
            if token.kind == "name":
                raise SyntaxProblem(
                    f"unknown type {token.text!r}; expected matrix(n, k), vector(n), real, "
                    "positive, nonnegative, nonzero, integer, complex, dimension, index(n), "
                    "function(real), gaussian(m, S), random or sigma_algebra",
                    token.span,
                )
            raise self.expected("a type")
        self.mark(found, start)
        if self.at("for") and not bound:
            self.next()
            dummies: list[str] = []
            ranges = [self.family_range(dummies)]
            while self.at(","):
                self.next()
                ranges.append(self.family_range(dummies))
            found = term("family_type", found, *ranges, data=(1, len(ranges)))
            self.mark(found, start)
        return found

    def function_type(self) -> Term:
        self.take("(")
        self.take("real", "'real' (functions have one real variable)")
        self.take(")")
        if not self.at("->"):
            return term("function_type", term("real_type"))
        self.next()
        start = self.position
        value = self.type(bound=True)
        if value.op not in ("matrix_type", "complex_matrix_type", "real_type", "complex_type"):
            raise self.expected(
                "real, complex, matrix(n, k) or vector(n) as a function's value",
                self.source.tokens[start],
            )
        return term("function_type", value)

    def gaussian_type(self, joint: bool) -> Term:
        outer = self.position
        self.take("(")
        if (
            joint
            and self.at("(")
            and (self.source.closing[self.position] + 1 in self.source.separators[outer])
        ):
            self.next()
            means = [self.expression()]
            while self.at(","):
                self.next()
                means.append(self.expression())
            self.take(")")
        else:
            means = [self.expression()]
        self.take(",", "',' and a covariance")
        covariance = self.expression()
        self.take(")")
        return term("gaussian_type", *means, covariance, data=(len(means), 1))

    def family_range(self, dummies: list[str]) -> Term:
        identifier = self.new_name("an index name")
        if identifier in dummies:
            raise SyntaxProblem(f"{identifier!r} ranges twice", self.peek(-1).span)
        dummies.append(identifier)
        self.take("in")
        start = self.position
        if self.expression() is not rational(1):
            raise self.expected("1 (families count from 1)", self.source.tokens[start])
        self.take("..")
        return self.expression()

    # ------------------------------------------------------------ relations

    def fact(self, *, quantified: bool, bare: bool = False) -> Term:
        """A relation, a property, or (where `quantified`) `for all ... : relation`.

        With `bare` an expression without a relation is taken too.
        """
        if self.at("for"):
            if not quantified:
                raise self.expected(
                    "a relation or property (`for all` stands behind assume only; "
                    "in a goal, declare the name by let)"
                )
            return self.for_all()
        start = self.position
        token = self.peek()
        if token.text in PROPERTIES and self.peek(1).text == "(":
            self.next()
            found = term(
                token.text, *self.arguments(2 if token.text == "commute" else 1, token.text)
            )
            return self.mark(found, start)
        if token.text == "limit" and self.peek(1).text == "(":
            return self.limit()
        left = self.expression()
        symbol = self.peek()
        operator = "subset" if symbol.text == "subset" else RELATION_SYMBOLS.get(symbol.kind)
        if operator is None:
            if bare:
                return left
            raise self.expected("an operator or a relation (=, !=, <, <=, >, >=)")
        self.next()
        found = self.mark(term(operator, left, self.expression()), start)
        if self.at(*RELATION_SYMBOLS, "subset"):
            raise self.expected("the end of the relation (write a chain as two relations)")
        return found

    def limit(self) -> Term:
        """`limit(expression, x, oo) = value`: one relation, of which no part is a value."""
        start = self.position
        self.next()
        body, identifier, place = self.binding(LIMIT_FORM, 3)
        self.position = place
        token = self.next()
        if token.text != "oo":
            raise self.expected("oo (limits are taken at infinity alone)", token)
        self.take(")")
        if not self.at("="):
            raise self.expected(f"'=', as in {LIMIT_FORM}: a limit is no value by itself")
        self.next()
        value = self.expression()
        if self.at(*RELATION_SYMBOLS, "subset"):
            raise self.expected("the end of the relation")
        bound_body = self.bind(body, (identifier,), (term("real_type"),))
        return self.mark(term("limit", bound_body, value), start)

    def for_all(self) -> Term:
        start = self.position
        self.next()
        self.take("all")
        names: list[str] = []
        types: list[Term] = []
        while True:
            group = []
            while True:
                identifier = self.new_name("a name to bind")
                group.append(identifier)
                self.bound[identifier] = None
                if not self.at(","):
                    break
                self.next()
            self.take(":", "',' or ':' and a type")
            type_ = self.type(bound=True)
            for identifier in group:
                self.bound[identifier] = type_
            names += group
            types += [type_] * len(group)
            if not self.at(","):
                break
            self.next()
        conditions = []
        if self.at("where"):
            self.next()
            conditions.append(self.fact(quantified=False))
            while self.at(","):
                self.next()
                conditions.append(self.fact(quantified=False))
        self.take(":", "':' and what holds for all of them")
        parts = [*conditions, self.fact(quantified=False)]
        for identifier in names:
            del self.bound[identifier]
        parts = [self.bind(part, tuple(names), tuple(types)) for part in parts]
        found = term("forall", *types, *parts, data=(len(types), len(conditions)))
        return self.mark(found, start)

    # ------------------------------------------------------------ expressions

    def expression(self, level: int = _SUM, *, exponent: bool = False) -> Term:
        """An expression whose operators bind at least as tightly as `level`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise LimitExceeded(f"nested more than {MAX_DEPTH} deep", self.peek().span)
        start = self.position
        # A division is folded to a rational only between two integers as they stand: `3/4`.
        literal: int | None = None
        if self.at("-"):
            self.next()
            if self.at_number():
                token = self.next()
                left = self.number(token, -1)
                literal = -int(token.text) if token.text.isdecimal() else None
            else:
                left = term("neg", self.expression(_POWER, exponent=exponent))
            self.mark(left, start)
        elif self.at_number():
            token = self.next()
            left = self.number(token)
            literal = int(token.text) if token.text.isdecimal() else None
            self.mark(left, start)
        else:
            left = self.operand(exponent)
        while True:
            symbol = self.peek().kind
            if symbol == "^":
                self.next()
                left = term("pow", left, self.expression(_POWER, exponent=True))
            elif symbol in ("*", "/") and level <= _PRODUCT:
                self.next()
                if symbol == "/" and literal is not None and self.at_number():
                    token = self.next()
                    if token.text.isdecimal() and int(token.text):
                        left = self.ratio(Fraction(literal, int(token.text)), token)
                    else:
                        left = term("div", left, self.number(token))
                else:
                    right = self.expression(_POWER)
                    left = term("mul" if symbol == "*" else "div", left, right)
            elif symbol in ("+", "-") and level <= _SUM:
                self.next()
                right = self.expression(_PRODUCT)
                left = term("add" if symbol == "+" else "sub", left, right)
            else:
                break
            literal = None
            self.mark(left, start)
        self.depth -= 1
        return left

    def at_number(self) -> bool:
        """Whether a number comes that is no base of a power."""
        return self.peek().kind == "number" and self.peek(1).kind not in ("^", ".T", ".H", "[")

    def number(self, token: Token, sign: int = 1) -> Term:
        if len(token.text) > MAX_DIGITS:
            raise LimitExceeded(f"a number of more than {MAX_DIGITS} digits", token.span)
        return self.ratio(sign * Fraction(token.text), token)

    def ratio(self, value: Fraction, token: Token) -> Term:
        if len(str(value)) > MAX_DIGITS:
            raise LimitExceeded(f"a number of more than {MAX_DIGITS} digits", token.span)
        return rational(value)

    def operand(self, exponent: bool = False) -> Term:
        """A value with its postfixes `.T`, `.H` and `[...]`."""
        start = self.position
        token = self.next()
        if token.kind == "number":
            found = self.number(token)
        elif token.kind == "(":
            found = self.expression()
            self.take(")", "an operator or ')'")
        elif token.kind == "name" and self.at("("):
            if token.text in FUNCTIONS:  # here, not in `call`: one frame less at each depth
                found = term(token.text, *self.arguments(FUNCTIONS[token.text], token.text))
            else:
                self.depth += 1
                found = self.call(token)
                self.depth -= 1
        elif token.kind == "name":
            found = self.look_up(token)
        else:
            raise self.expected("a value", token)
        if token.kind == "name" and self.declared.get(token.text, found).op == "family_type":
            if not self.at("["):
                raise self.expected(f"an index: {token.text}[...]")
            found = term("member", found, *self.indices())
        self.mark(found, start)
        while self.at(".T", ".H", "["):
            postfix = self.peek()
            if postfix.kind == "[":
                found = term("entry", found, *self.indices())
            else:
                self.next()
                if exponent or token.kind == "number":
                    raise SyntaxProblem(
                        f"{postfix.text} would belong to {token.text!r} alone here: write "
                        f"(A^p){postfix.text} for a whole power",
                        postfix.span,
                    )
                found = term("transpose" if postfix.kind == ".T" else "adjoint", found)
            self.mark(found, start)
        return found

    def indices(self) -> list[Term]:
        self.take("[")
        found = [self.expression()]
        while self.at(","):
            self.next()
            found.append(self.expression())
        self.take("]", "an operator, ',' or ']'")
        return found

    def arguments(self, count: int | None, function: str) -> list[Term]:
        """What stands in brackets, parted by commas."""
        opening = self.take("(")
        found = []
        if not self.at(")"):
            found.append(self.expression())
            while self.at(","):
                self.next()
                found.append(self.expression())
        if not self.at(")"):
            raise self.expected("an operator, ',' or ')'")
        self.next()
        if len(found) != count if count is not None else not found:
            wanted = (
                "at least one argument"
                if count is None
                else (f"{count} argument{'s' if count != 1 else ''}")
            )
            raise SyntaxProblem(f"{function} takes {wanted}, got {len(found)}", opening.span)
        return found

    # ------------------------------------------------------------ functions

    def call(self, token: Token) -> Term:
        function = token.text
        type_ = self.declared.get(function)
        if type_ is not None and type_.op == "function_type":
            return term("apply", name(function), *self.arguments(1, function))
        if function in self.declared or function in self.defines or function in self.bound:
            hint = " (you declared E, so E(...) is no expectation here)" if function == "E" else ""
            raise SyntaxProblem(
                f"{function!r} is no function{hint}; a product is written {function}*(...)",
                token.span,
            )
        if function in ("sum", "prod", "vector"):
            return self.ranged(function)
        if function in ("diff", "grad"):
            return self.derivative(function)
        if function == "limit":
            raise SyntaxProblem(
                f"a limit is no value: it stands alone after assume or show, as in {LIMIT_FORM}",
                token.span,
            )
        if function == "block":
            return self.block()
        if function == "E":
            return self.expectation()
        if function == "cov":
            return self.covariance()
        if function in ("logpdf", "logpdf_on_support"):
            self.take("(")
            point = self.expression()
            self.take(";", f"';' as in {function}(x; m, S)")
            mean = self.expression()
            self.take(",", "',' and a covariance")
            covariance = self.expression()
            self.take(")")
            return term(function, point, mean, covariance)
        if function in PROPERTIES:
            raise SyntaxProblem(
                f"{function}(...) is a property, not a value: it stands alone after assume or show",
                token.span,
            )
        if function in KEYWORDS or function in CONSTANTS:
            self.look_up(token)  # raises for a keyword
            raise SyntaxProblem(
                f"{function!r} is no function; a product is written {function}*(...)", token.span
            )
        raise self.unknown(token)

    def ranged(self, function: str) -> Term:
        """`sum(expr, j, lo, hi)`, `prod(...)`, and the vector `vector(expr, j, 1, n)`."""
        form = f"{function}(expression, j, 1, n)"
        body, identifier, low_start = self.binding(form, 4)
        self.position = low_start
        low = self.expression()
        self.take(",", f"an operator or ',' as in {form}")
        high = self.expression()
        self.take(")", "an operator or ')'")
        if function == "vector":
            if low is not rational(1):
                raise self.expected("1 (entries count from 1)", self.source.tokens[low_start])
            return term(
                "comprehension", high, self.bind(body, (identifier,), (term("index_type", high),))
            )
        type_ = infer.range_type(low, high, self.dimensions)
        return term(function, low, high, self.bind(body, (identifier,), (type_,)))

    def binding(self, form: str, parts: int) -> tuple[Term, str, int]:
        """What is bound in `(expression, name, ...`, the name, and where the rest begins."""
        opening = self.position
        commas = self.source.separators[opening]
        if len(commas) != parts - 1:
            raise SyntaxProblem(f"expected {form}", self.source.tokens[opening].span)
        self.position = commas[0] + 1
        identifier = self.new_name(f"a new name, as in {form}")
        self.take(",")
        self.position = opening + 1
        self.bound[identifier] = None
        body = self.expression()
        if self.position != commas[0]:
            raise self.expected(f"an operator or ',' as in {form}")
        del self.bound[identifier]
        return body, identifier, commas[0] + 3

    def derivative(self, function: str) -> Term:
        self.take("(")
        body = self.expression()
        self.take(",", "an operator, or ',' and the name to differentiate by")
        token = self.next()
        identifier = token.text
        type_ = self.bound.get(identifier) or self.declared.get(identifier)
        if token.kind != "name" or type_ is None or not self.at(",", ")"):
            if token.kind == "name" and not (
                identifier in self.defines
                or identifier in self.bound
                or identifier in self.declared
                or identifier in CONSTANTS
            ):
                raise self.unknown(token)
            raise SyntaxProblem(
                f"expected a declared name to differentiate by, got {token}", token.span
            )
        if type_.op not in _CONTINUOUS:
            raise TypeProblem(
                f"can't differentiate by {identifier!r}: expected a real scalar, vector or "
                f"matrix, it is declared as {type_.op.removesuffix('_type').replace('_', ' ')}",
                token.span,
            )
        order: int | None = None
        if function == "diff":
            order = 1
            if self.at(","):
                self.next()
                token = self.next()
                order = int(token.text) if (token.text.isdecimal() and len(token.text) <= 3) else 0
                if order == 0:
                    raise self.expected("the order of differentiation, a positive integer", token)
        self.take(")")
        bound_body = self.bind(body, (identifier,), (type_,))
        if function == "diff":
            return term("deriv", bound_body, name(identifier), data=order)
        return term("grad", bound_body, name(identifier))

    def block(self) -> Term:
        self.take("(")
        self.take("[", "'[[' as in block([[A, B], [C, D]])")
        rows: list[list[Term]] = []
        while True:
            place = self.position
            if not self.at("["):
                raise self.expected("'[' and a row of blocks")
            rows.append(self.indices())
            if len(rows[-1]) != len(rows[0]):
                raise SyntaxProblem(
                    f"this row has {len(rows[-1])} blocks, the first has {len(rows[0])}",
                    self.source.tokens[place].span,
                )
            if not self.at(","):
                break
            self.next()
        self.take("]", "',' or ']'")
        self.take(")")
        return term("block", *(b for row in rows for b in row), data=(len(rows), len(rows[0])))

    def given(self) -> list[Term]:
        """What stands behind `|`: conditions, parted by commas."""
        found = []
        if self.at("|"):
            self.next()
            found.append(self.expression())
            while self.at(","):
                self.next()
                found.append(self.expression())
        return found

    def expectation(self) -> Term:
        self.take("(")
        value = self.expression()
        conditions = self.given()
        self.take(")", "an operator, '|' and a condition, or ')'")
        if conditions:
            return term("expect_given", value, *conditions)
        return term("expect", value)

    def covariance(self) -> Term:
        self.take("(")
        left = self.expression()
        self.take(",", "an operator, or ',' as in cov(X, Y)")
        right = self.expression()
        conditions = self.given()
        self.take(")", "an operator, '|' and a condition, or ')'")
        if conditions:
            return term("cov_given", left, right, *conditions)
        return term("cov", left, right)

    # ------------------------------------------------------------ binders

    def bind(self, body: Term, names: tuple[str, ...], types: tuple[Term, ...]) -> Term:
        """`abstract`, with the places of the parts kept and the work counted."""
        self.work += len(postorder([body]))
        if self.work > MAX_WORK:
            raise LimitExceeded("binders over too large terms")
        bound_body = abstract(body, names, types)
        stack, seen = [(body, bound_body)], set()
        while stack:
            old, new = stack.pop()
            if new in seen:
                continue
            seen.add(new)
            if old in self.spans:
                self.spans.setdefault(new, self.spans[old])
            if new is not old and new.op != "bound":
                stack += zip(old.args, new.args, strict=True)
        return bound_body


__all__ = [
    "MAX_DEPTH",
    "STATEMENT_WORDS",
    "Document",
    "parse",
    "parse_expression",
    "parse_rules",
]
