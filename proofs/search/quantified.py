"""Untrusted. Quantified relations: instances of known ones, and proofs for fresh names."""

from __future__ import annotations

from proofs.checker.algebra import TooLarge
from proofs.language.errors import StatementError
from proofs.language.tree import Term, instantiate, name, pair, rational
from proofs.search.raising import opened
from proofs.search.workbench import Workbench


def instantiated(w: Workbench, relation: Term) -> int | None:
    """A relation as an instance of a quantified fact, its bound names found by trying."""
    wanted = w.facts.key(relation)
    indices = [*_indices(relation), rational(1)]
    for place, fact in enumerate(w.facts.facts):
        if fact.relation.op != "forall":
            continue
        count, conditions = pair(fact.relation)
        if count != 1 or conditions:
            continue
        for value in indices:
            try:
                if w.facts.key(instantiate(fact.relation.args[1], (value,))) != wanted:
                    continue
            except (StatementError, TooLarge):
                continue
            return w.take(
                {"rule": "instantiate", "fact": place, "terms": [w.place(value)], "by": []}
            )
    return None


def _indices(root: Term) -> list[Term]:
    """What stands as an index of an entry."""
    found: dict[Term, None] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.op == "entry":
            found.update(dict.fromkeys(node.args[1:]))
        stack.extend(node.args)
    return list(found)


def for_all(w: Workbench, relation: Term) -> int | None:
    """A relation for all values: shown for fresh names."""
    count, _ = pair(relation)
    names = w.fresh(count)
    *where, goal = (opened(instantiate(r, tuple(map(name, names)))) for r in relation.args[count:])
    return w.for_all(names, relation.args[:count], goal, tuple(where))
