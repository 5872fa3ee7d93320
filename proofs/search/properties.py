"""Untrusted. Properties that an equation says: symmetric, idempotent, orthogonal and the like."""

from __future__ import annotations

from proofs.language.tree import Term
from proofs.search.workbench import Workbench

SHOWN = {
    "symmetric": ("symmetric_shown", "A"),
    "hermitian": ("hermitian_shown", "A"),
    "orthogonal": ("orthogonal_shown", "Q"),
    "unitary": ("unitary_shown", "Q"),
    "idempotent": ("idempotent_shown", "P"),
    "diagonal": ("diagonal_shown", "D"),
}


def shown(w: Workbench, relation: Term) -> int | None:
    """A property of one matrix from its defining equation."""
    rule, letter = SHOWN[relation.op]
    a = relation.args[0]
    return w.schema(rule, n=w.size(a), **{letter: a})


def commute(w: Workbench, relation: Term) -> int | None:
    """commute(A, B) from A*B = B*A."""
    a, b = relation.args
    return w.schema("commute_shown", n=w.size(a), A=a, B=b)
