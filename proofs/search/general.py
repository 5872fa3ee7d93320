"""Untrusted. Inequalities made more general: a name in place of a sum of vectors or matrices.

`c*norm2(x - y) <= norm2(M*(x - y))` is multiplied out to twelve traces; for any vector in place of
x - y it is a form around that vector.
"""

from __future__ import annotations

from collections import Counter

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, name, postorder, replace, term
from proofs.search.raising import size_term
from proofs.search.workbench import Stuck, Workbench

SUMS = ("add", "sub")


def sign(w: Workbench, relation: Term) -> int | None:
    """The goal, from that for all vectors (or matrices) in place of a sum that occurs twice."""
    if relation is not _ordered(w.statement.goal) or w.depth:
        return None
    for node in _repeated(w, relation):
        try:
            found = _for_any(w, relation, node)
        except (Stuck, StatementError, TooLarge, NotDefined):
            continue
        if found is not None:
            return found
    return None


def _ordered(relation: Term) -> Term:
    """x <= y as y >= x."""
    turned = {"lt": "gt", "le": "ge"}.get(relation.op)
    return term(turned, *reversed(relation.args)) if turned else relation


def _repeated(w: Workbench, relation: Term) -> list[Term]:
    """Sums of matrices that occur more than once, large ones first."""
    count = Counter(_occurrences(relation))
    found = [
        n for n in count if n.op in SUMS and count[n] > 1 and not n.free
        and not infer(n, w.facts.scope).is_scalar
    ]  # fmt: skip
    return sorted(found, key=lambda n: -len(postorder([n])))


def _occurrences(relation: Term) -> list[Term]:
    """Every subterm as often as it occurs, sums not looked into."""
    found, stack = [], [relation]
    while stack:
        node = stack.pop()
        found.append(node)
        stack += () if node.op in SUMS and len(found) > 1 else node.args
    return found


def _for_any(w: Workbench, relation: Term, node: Term) -> int | None:
    kind = infer(node, w.facts.scope)
    op = "complex_matrix_type" if kind.is_complex else "matrix_type"
    type_ = term(op, size_term(kind.rows), size_term(kind.cols))
    (fresh,) = w.fresh(1)
    place = w.for_all((fresh,), (type_,), replace(relation, node, name(fresh)))
    if place is None:
        return None
    return w.take({"rule": "instantiate", "fact": place, "terms": [w.place(node)], "by": []})
