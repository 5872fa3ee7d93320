"""Untrusted. Establishing relations, each by the module for its kind."""

from __future__ import annotations

from collections.abc import Callable

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.tree import Term, term
from proofs.search import definiteness, equations, invertibility, quantified, signs
from proofs.search.raising import NoTerm
from proofs.search.workbench import Stuck, Workbench


def establish(w: Workbench, relation: Term) -> int:
    """The place of a fact that gives `relation`, or ARITHMETIC.

    Raises:
        Stuck: nothing that this search knows shows it.
    """
    found = w.find(relation)
    if found is not None:
        return found
    try:
        key = w.facts.key(relation)
        if key in w.failed:
            raise Stuck(relation)
        w.failed.add(key)  # also while it is under way, so that no search runs in a circle
        w.learn(relation)
        w.define(relation)
        place = _dispatch(w, relation)
    except (TooLarge, StatementError, NoTerm, NotDefined):
        raise Stuck(relation) from None
    if place is None:
        raise Stuck(relation)
    w.failed.discard(key)
    return place


def _dispatch(w: Workbench, relation: Term) -> int | None:
    op = relation.op
    if op in ("gt", "ge", "ne", "eq"):
        found = quantified.instantiated(w, relation)
        if found is not None:
            return found
    if op in ("lt", "le"):
        return signs.sign(w, term("gt" if op == "lt" else "ge", *reversed(relation.args)))
    if op in ("gt", "ge"):
        return signs.sign(w, relation)
    if op == "eq":
        return equations.prove(w, relation)
    if op == "ne":
        return signs.nonzero(w, relation)
    if op == "forall":
        return quantified.for_all(w, relation)
    method = PROPERTIES.get(op)
    return method(w, relation.args[0]) if method else None


def _symmetric(w: Workbench, a: Term) -> int | None:
    return w.schema("symmetric_shown", n=w.size(a), A=a)


PROPERTIES: dict[str, Callable[[Workbench, Term], int | None]] = {
    "invertible": invertibility.invertible,
    "positive_definite": definiteness.definite,
    "positive_semidefinite": definiteness.semidefinite,
    "full_row_rank": definiteness.full_rows,
    "full_column_rank": definiteness.full_columns,
    "symmetric": _symmetric,
}
