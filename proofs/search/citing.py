"""Untrusted. Lemmas put to use: each with its own names, and as its hypotheses match what is known.

A lemma without hypotheses is matched by a side of its equation, or by its whole goal, with
the parts of the statement.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofs.language.tree import Statement, Term, name, postorder, term
from proofs.search.workbench import Workbench

MAX_INSTANCES = 8  # of one lemma
MAX_TRIES = 10_000  # partial matches of one lemma
TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}

Values = dict[str, Term]


def cite(w: Workbench, of_gaussians: bool) -> None:
    """Take the instances of the lemmas that may be cited whose hypotheses are found to hold: of
    those on Gaussian names, whose moments must be known, or of the others."""
    for hash_, lemma in w.judge.lemmas.items():
        if any(d.type.op == "gaussian_type" for d in lemma.declarations) is not of_gaussians:
            continue
        for values in _instances(w, lemma):
            w.lemma(hash_, **values)
            w.failed.clear()


def _instances(w: Workbench, lemma: Statement) -> list[Values]:
    """What may be put for the names of a lemma, the names themselves first."""
    here = {n: d.type for d in w.statement.declarations for n in d.names}
    types = {n: d.type for d in lemma.declarations for n in d.names}
    found: list[Values] = []
    if all(here.get(n) is type_ for n, type_ in types.items()):
        found.append({n: name(n) for n in types})
    free = {n for n, type_ in types.items() if type_.op != "function_type"}
    tries = [MAX_TRIES]
    for values in _matches(w, lemma, free, tries):
        rest = {n: name(n) for n in types if n not in values and here.get(n) is types[n]}
        complete = {**rest, **values}
        if complete.keys() == types.keys() and complete not in found:
            found.append(complete)
        if len(found) >= MAX_INSTANCES:
            break
    return found


def _matches(w: Workbench, lemma: Statement, free: set[str], tries: list[int]) -> Iterator[Values]:
    relations = [fact.relation for fact in w.facts.facts]
    if lemma.hypotheses:
        yield from _all(list(lemma.hypotheses), relations, free, {}, tries)
        return
    parts = [n for n in postorder([*relations, w.statement.goal]) if not n.free]
    patterns = [*lemma.goal.args] if lemma.goal.op == "eq" else [lemma.goal]
    for pattern in patterns:
        if pattern.op not in ("name", "rational", "constant"):
            for part in parts:
                values = _match(pattern, part, free, {}, tries)
                if values is not None:
                    yield values


def _all(
    patterns: list[Term], relations: list[Term], free: set[str], values: Values, tries: list[int]
) -> Iterator[Values]:
    """Values with which each pattern is one of the relations."""
    if not patterns:
        yield values
        return
    for relation in relations:
        for side in (relation, _turned(relation)):
            found = None if side is None else _match(patterns[0], side, free, values, tries)
            if found is not None:
                yield from _all(patterns[1:], relations, free, found, tries)


def _turned(relation: Term) -> Term | None:
    """a < b as b > a."""
    op = TURNED.get(relation.op)
    return None if op is None else term(op, *reversed(relation.args))


def _match(
    pattern: Term, target: Term, free: set[str], values: Values, tries: list[int]
) -> Values | None:
    """The values, and more of them, with which the pattern is the target; None: there are none."""
    tries[0] -= 1
    if tries[0] < 0:
        return None
    found = dict(values)
    stack = [(pattern, target)]
    while stack:
        p, t = stack.pop()
        if p.op == "name" and str(p.data) in free:
            if t.free or found.setdefault(str(p.data), t) is not t:
                return None
        elif p is not t:
            if (p.op, p.data, len(p.args)) != (t.op, t.data, len(t.args)) or not p.args:
                return None
            stack += zip(p.args, t.args, strict=True)
    return found
