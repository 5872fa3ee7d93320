"""Untrusted. Signs of the principal minors of matrices of numbers that are known to be definite."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

from proofs.checker.algebra import Poly, number
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer
from proofs.language.tree import Term, pair, rational, term
from proofs.search import literals
from proofs.search.workbench import Workbench

MAX_SIZE = 4
# What is known, with the rules for a corner and for a determinant.
RULES = (
    ("positive_definite", "trace_positive", "det_definite", "gt"),
    ("positive_semidefinite", "trace_nonnegative", "det_nonnegative", "ge"),
)


def sign(w: Workbench, x: Term) -> int | None:
    """x > 0 or x >= 0, for a corner of a definite matrix, or a minor of two rows or of all."""
    for prop, corner, minor, op in RULES:
        for whole in _matrices(w, prop):
            size = pair(whole)[0]
            if any(a is x for a in whole.args[:: size + 1]):
                if w.attempt(term(prop, x)) is not None:
                    return w.schema(corner, n=rational(1), A=x)
            elif x.op in ("add", "sub"):
                if _is_mixed(w, whole) and w.attempt(term(prop, x)) is not None:
                    return w.schema(corner, n=rational(1), A=x)
                part = _part(w, x, whole)
                if part is not None and w.attempt(term(prop, part)) is not None:
                    return _determinant(w, x, part, minor, op)
    return None


def _is_mixed(w: Workbench, whole: Term) -> bool:
    """Whether the Schur complement of one of two blocks is a number, and that block is a matrix."""
    sizes = [infer(a, w.facts.scope).is_scalar for a in whole.args]
    return len(sizes) == 4 and sizes[0] != sizes[3]


def _matrices(w: Workbench, prop: str) -> Iterator[Term]:
    """The matrices of blocks that are known to be definite."""
    for fact in list(w.facts.facts):
        whole = fact.relation.args[0]
        if fact.relation.op == prop and whole.op == "block":
            rows, cols = pair(whole)
            if rows == cols <= MAX_SIZE:
                yield whole


def _part(w: Workbench, x: Term, whole: Term) -> Term | None:
    """The rows and columns of a matrix whose determinant x is."""
    size = pair(whole)[0]
    if not all(infer(a, w.facts.scope).is_scalar for a in whole.args):
        return None
    wanted = w.facts.lowering.lower(x)
    for count in {2, size}:
        for places in combinations(range(size), count):
            entries = [whole.args[i * size + j] for i in places for j in places]
            if leibniz([w.facts.lowering.lower(a) for a in entries], count) == wanted:
                return whole if count == size else term("block", *entries, data=(2, 2))
    return None


def leibniz(entries: list[Poly], size: int) -> Poly:
    """The determinant of a square matrix of numbers, given row by row."""
    total = number(0)
    for order in permutations(range(size)):
        swaps = sum(a > b for a, b in combinations(order, 2))
        product = number((-1) ** swaps)
        for i, j in enumerate(order):
            product = product * entries[i * size + j]
        total = total + product
    return total


def _determinant(w: Workbench, x: Term, part: Term, rule: str, op: str) -> int | None:
    known = w.schema(rule, n=w.size(part), A=part)
    expanded = literals.determinant(w, part)
    if known is None or expanded is None:
        return None
    rows = [[w.place(rational(-1)), expanded, None, ""]]
    return w.positive(term(op, x, ZERO), [["1", [known], None]], rows)
