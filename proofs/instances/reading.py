"""What a statement says about its letters that helps to draw them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from flint import fmpq

from proofs.language.tree import Statement, Term, names_in, postorder


def demands(statement: Statement) -> dict[str, set[str]]:
    """Structures that hypotheses name, by letter."""
    found: dict[str, set[str]] = {}
    for h in statement.hypotheses:
        for name, structure in _structures(h):
            found.setdefault(name, set()).add(structure)
    return found


def _structures(h: Term) -> Iterator[tuple[str, str]]:
    if len(h.args) == 1 and h.args[0].op in ("name", "apply"):
        inside = h.args[0] if h.args[0].op == "name" else h.args[0].args[0]
        yield str(inside.data), h.op
    relation = h.args[-1] if h.op == "forall" else h
    if relation.op in ("gt", "ge") and relation.args[0].op in ("entry", "apply"):
        inside = relation.args[0].args[0]
        if inside.op == "name":
            yield str(inside.data), "positive_entries"
    if h.op == "eq":
        yield from _of_equation(*h.args)


def _of_equation(left: Term, right: Term) -> Iterator[tuple[str, str]]:
    if left.op == "mul":
        a, b = left.args
        flips = ("transpose", "adjoint")
        if right.op == "eye":
            if a.op in flips and a.args[0] is b and b.op == "name":
                yield str(b.data), "orthonormal_columns"
            if b.op in flips and b.args[0] is a and a.op == "name":
                yield str(a.data), "orthonormal_rows"
        if a is b and a.op == "name":
            if right is a:
                yield str(a.data), "idempotent"
            elif right.op == "zeros":
                yield str(a.data), "nilpotent"
    if left.op == "pow" and left.args[0].op == "name" and left.args[1].data == "2":
        if right is left.args[0]:
            yield str(right.data), "idempotent"
        elif right.op == "zeros":
            yield str(left.args[0].data), "nilpotent"


def numbers(statement: Statement) -> list[fmpq]:
    """Numbers that the statement mentions, and their neighbours: where inequalities turn."""
    found: set[Fraction] = set()
    for node in postorder(statement.roots()):
        if node.op == "rational" and len(str(node.data)) <= 6:
            x = Fraction(str(node.data))
            found |= {x, -x, x - Fraction(1, 2), x + 1}
    kept = sorted((x for x in found if abs(x) <= 100), key=lambda x: (x.denominator, abs(x), x))
    return [fmpq(x.numerator, x.denominator) for x in kept[:8]]


def exponents(statement: Statement) -> set[str]:
    """Names in the exponents of powers."""
    powers = [n for n in postorder(statement.roots()) if n.op == "pow"]
    return {name for n in powers for name in names_in(n.args[1])}


def centers(statement: Statement) -> dict[str, str]:
    """For each function a scalar name at which it is evaluated."""
    return {
        str(node.args[0].data): str(node.args[1].data)
        for node in postorder(statement.roots())
        if node.op == "apply" and node.args[1].op == "name"
    } | {
        str(inside.args[0].data): str(node.args[1].data)
        for node in postorder(statement.roots())
        if node.op == "deriv" and node.args[1].op == "name"
        for inside in postorder([node.args[0]])
        if inside.op == "apply" and inside.args[1].op == "bound" and inside.args[1].data == 0
    }


def with_limits(statement: Statement) -> set[str]:
    """Names that stand in a function whose limit is spoken of."""
    roots = [*statement.hypotheses, statement.goal]
    return {name for r in roots if r.op == "limit" for name in names_in(r.args[0])}
