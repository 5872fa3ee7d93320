"""Untrusted. Relations for every power, or every length of a sum: by induction on a dimension."""

from __future__ import annotations

from proofs.language.infer import polynomial
from proofs.language.tree import Term, name, names_in, postorder, substitute
from proofs.search.workbench import Workbench


def by_induction(w: Workbench, goal: Term) -> int | None:
    """The relation `goal` by induction on a dimension in its exponents or limits."""
    if w.inductions:
        return None
    for p in _candidates(w, goal):
        key = ("induct", id(goal), p)
        if key in w.failed:
            continue
        w.failed.add(key)
        (q,) = w.fresh(1)
        found = w.induct(substitute(goal, {p: name(q)}), q, name(p))
        if found is not None:
            return found
    return None


def _candidates(w: Workbench, goal: Term) -> list[str]:
    """Dimensions in an exponent or a limit, in none of the shapes."""
    scope = w.facts.scope
    counted: dict[str, None] = {}
    for node in postorder([goal]):
        places = {"pow": node.args[1:], "sum": node.args[:2], "prod": node.args[:2]}
        for part in places.get(node.op, ()):
            if not part.free and polynomial(part, scope.dimensions) is not None:
                counted |= dict.fromkeys(n for n in names_in(part) if n in scope.dimensions)
    fixed = shaped(w)
    return [p for p in counted if p not in fixed]


def shaped(w: Workbench) -> set[str]:
    """The dimensions in the shapes of the names."""
    return {n for d in w.facts.scope.declarations for n in names_in(d.type)}
