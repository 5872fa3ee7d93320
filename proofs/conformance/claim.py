"""What is claimed: the terms that a function's results should equal, and for which values.

A statement's side is a term over declared names. Where a random name stands outside `E`, `cov` and
the like, as in `E(X | Y) = m + C*inv(R)*(Y - mu)`, code is given a value of it: on that side the
name is read as a plain vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proofs.conformance.errors import ConformanceError, SideError
from proofs.language import show
from proofs.language.infer import Scope, check, infer
from proofs.language.parser import parse, parse_expression
from proofs.language.sizes import size_term
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    names_in,
    postorder,
    rational,
    term,
)

SIDES = ("left", "right")
SIDED = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
CLOSING = frozenset({"expect", "cov", "cov_given", "l2norm2", "l2inner"})  # constants come out


@dataclass(frozen=True, slots=True)
class Output:
    """What one result of the function should be.

    `alternatives` has the terms that may be evaluated for it, the first choice first: where no
    side was chosen, both sides of an equation, which then must agree.
    """

    alternatives: tuple[Term, ...]
    what: str  # as it is called in messages


@dataclass(frozen=True, slots=True)
class Claim:
    """Declarations and hypotheses (the goal is there to draw instances by), and the outputs."""

    statement: Statement
    outputs: tuple[Output, ...]

    @property
    def scope(self) -> Scope:
        return Scope.of(self.statement.declarations)

    def depends_on(self, sides: Iterable[Term] | None = None) -> set[str]:
        """The declared names on which terms depend, dimensions too; those of all outputs."""
        if sides is None:
            sides = [side for output in self.outputs for side in output.alternatives]
        found = set[str]().union(*map(names_in, sides))
        for declaration in self.statement.declarations:
            if declaration.type.op == "gaussian_type" and found & set(declaration.names):
                found -= set(declaration.names)
                found |= names_in(declaration.type)
        return found


def claim(
    stated: str | Path | Statement | Sequence[Statement],
    *,
    given: str = "",
    goal: int | None = None,
    side: str | None = None,
    assume: Iterable[str] = (),
) -> Claim:
    """What a file, a statement or an expression says that a function should return.

    Args:
        stated: a `.thm` file, its text, a statement, several with the same hypotheses, or an
            expression in the names that `given` declares.
        given: the `let`, `define` and `assume` lines for an expression.
        goal: which goal, from 1. Default: all, one for each result of the function.
        side: "left" or "right". Default: any, as long as both sides agree.
        assume: further hypotheses, as text.

    Raises:
        SideError: no such goal or side; or the side is no value that code could return.
        ConformanceError: `stated` is none of these.
        StatementError, OSError: it can't be read.
    """
    if side not in (None, *SIDES):
        raise SideError(f"side must be 'left' or 'right', got {side!r}")
    statements, defines = _statements(stated, given)
    if goal is not None:
        if not 1 <= goal <= len(statements):
            raise SideError(f"there is no goal {goal}: the statement has {len(statements)}")
        statements = statements[goal - 1 : goal]
    first = statements[0]
    scope = Scope.of(first.declarations)
    added = tuple(parse_expression(text, scope, defines) for text in assume)
    sides = [_sides(statement.goal, side, scope) for statement in statements]
    realised = set[str]().union(*(random for _, random in sides))
    for declaration in first.declarations:
        if realised & set(declaration.names):  # names with one law are read alike
            realised |= set(declaration.names)
    outputs = []
    for place, (chosen, _) in enumerate(sides, 1):
        what = "the result" if len(statements) == 1 else f"result {place}"
        left = tuple(t for t in chosen if not realised & _random_names([t], scope)[1])
        if not left:
            raise SideError(
                f"{show.text(chosen[0])} needs the law of a name of which another goal needs a "
                "value: ask for one goal at a time"
            )
        outputs.append(Output(left, what))
    hypotheses = (*first.hypotheses, *added)
    declarations, demanded = _realised(first.declarations, realised, scope)
    found = Statement(declarations, (*hypotheses, *demanded), _drawing_goal(outputs))
    check(found)
    return Claim(found, tuple(outputs))


def _statements(stated: object, given: str) -> tuple[tuple[Statement, ...], Mapping[str, Term]]:
    """The statements, and the abbreviations that may be used in further hypotheses."""
    if isinstance(stated, Statement):
        return (stated,), {}
    if isinstance(stated, str) and given:
        # Shown against itself: only the names, the hypotheses and the term matter.
        document = parse(f"{given.rstrip()}\nshow ({stated}) = ({stated})\n")
        return document.statements, document.defines
    if isinstance(stated, Path) or (isinstance(stated, str) and stated.endswith(".thm")):
        path = Path(stated)
        document = parse(path.read_text(encoding="utf-8"), path=str(path))
        return document.statements, document.defines
    if isinstance(stated, str):
        if "show" not in stated:
            raise ConformanceError(
                "an expression needs given='let ...' with the declarations of its names; "
                "a file's name ends in .thm"
            )
        document = parse(stated)
        return document.statements, document.defines
    if isinstance(stated, Sequence) and stated and all(isinstance(s, Statement) for s in stated):
        if len({(s.declarations, s.hypotheses) for s in stated}) > 1:
            raise ConformanceError("the statements differ in declarations or hypotheses")
        return tuple(stated), {}
    raise ConformanceError(
        f"expected a .thm file, a statement or an expression, got {type(stated).__name__}"
    )


def _sides(goal: Term, side: str | None, scope: Scope) -> tuple[tuple[Term, ...], set[str]]:
    """The sides that may serve as reference, and the random names that code is given values of."""
    if goal.op not in SIDED:
        raise SideError(f"{show.text(goal)} has no sides: it isn't an equation or inequality")
    if side is None and goal.op != "eq":
        raise SideError(f"{show.text(goal)} is no equation: say side='left' or side='right'")
    wanted = goal.args[::-1] if side is None else (goal.args[SIDES.index(side)],)
    usable, why = [], ""
    for term_ in wanted:
        outside, inside = _random_names((term_,), scope)
        if any(node.op == "expect_given" for node in _outside([term_])):
            why = f"{show.text(term_)} is a random variable, not a value that code could return"
        elif outside & inside:
            why = f"{show.text(term_)} has a random name inside and outside of E or cov"
        else:
            usable.append((term_, outside))
    if not usable:
        raise SideError(why)
    random = usable[0][1]
    return tuple(t for t, outside in usable if outside == random), random


def _outside(roots: Iterable[Term]) -> list[Term]:
    """The subterms that don't stand inside an operator that makes constants of random names."""
    found, seen, stack = [], set(), list(roots)
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            found.append(node)
            if node.op not in CLOSING and node.op != "bound":
                stack.extend(node.args)
    return found


def _random_names(roots: Iterable[Term], scope: Scope) -> tuple[set[str], set[str]]:
    """The random names outside of the closing operators, and those inside."""
    roots = list(roots)
    random = set(scope.random_names)
    outer = _outside(roots)
    closed = [arg for node in outer if node.op in CLOSING for arg in node.args]
    inner = {str(n.data) for n in postorder(closed) if n.op == "name"} & random
    return {str(n.data) for n in outer if n.op == "name"} & random, inner


def _realised(
    declarations: tuple[Declaration, ...], random: set[str], scope: Scope
) -> tuple[tuple[Declaration, ...], tuple[Term, ...]]:
    """The declarations with some random names as plain vectors, and what their laws demand."""
    found: list[Declaration] = []
    demanded: list[Term] = []
    for declaration in declarations:
        if not random & set(declaration.names):
            found.append(declaration)
            continue
        for identifier in declaration.names:
            rows = size_term(scope.types[identifier].rows)
            found.append(Declaration((identifier,), term("matrix_type", rows, rational(1))))
        if declaration.type.op == "gaussian_type":
            demanded.append(term("positive_semidefinite", declaration.type.args[-1]))
    return tuple(found), tuple(demanded)


def _drawing_goal(outputs: Sequence[Output]) -> Term:
    """An equation with the first output on it: instances are aimed at what may fail in it."""
    sides = outputs[0].alternatives
    return term("eq", sides[0], sides[-1])


def shape_kind(output: Output, scope: Scope) -> tuple[bool, bool]:
    """Whether the rows and the columns of an output are 1 by its type, not by chance."""
    found = infer(output.alternatives[0], scope)
    return found.rows.value == 1, found.cols.value == 1
