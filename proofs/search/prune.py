"""Untrusted. A certificate from the steps of a search: only those that the goal leans on."""

from __future__ import annotations

from typing import Any

from proofs.checker.facts import duties
from proofs.language.tree import encode_nodes, postorder
from proofs.search.workbench import Workbench


def pruned(w: Workbench) -> dict[str, Any]:
    """The certificate that `w` has found, without the steps that led nowhere."""
    w.facts.touched = set()
    w.facts.defined(w.statement.goal)
    for declaration in w.statement.declarations:
        if declaration.type.op == "gaussian_type":
            for parameter in declaration.type.args:
                w.facts.defined(parameter)
    for relation in (*duties(w.statement), w.statement.goal):
        w.facts.find(relation)
    needed = set(w.facts.touched)
    needed |= {i for i, step in enumerate(w.steps) if step["rule"] == "hypothesis"}
    for place in range(len(w.steps) - 1, -1, -1):
        if place in needed:
            needed |= {p for p in w.leans[place] if p < place}
    kept = sorted(needed)
    renumber = {old: new for new, old in enumerate(kept)}
    steps = [
        _renumbered(w.steps[old], renumber, old, len(renumber_before(kept, old))) for old in kept
    ]
    return _with_nodes(w, steps)


def transplanted(steps: list[dict[str, Any]], old_base: int, new_base: int) -> list[dict[str, Any]]:
    """The steps of a sub-proof that began among `old_base` facts, for one among more of them."""
    places = {place: place for place in range(old_base)}
    return [_renumbered(step, places, old_base, new_base) for step in steps]


def renumber_before(kept: list[int], place: int) -> list[int]:
    """The kept places before one."""
    return [k for k in kept if k < place]


def _renumbered(
    step: dict[str, Any], places: dict[int, int], old_base: int, new_base: int
) -> dict[str, Any]:
    """A step with its citations moved; inside a sub-proof, facts from `old_base` on move along."""

    def moved(place: int | None) -> int | None:
        if place is None:
            return None
        return places[place] if place < old_base else place - old_base + new_base

    new = dict(step)
    if "fact" in new and new["rule"] != "declared":
        new["fact"] = moved(new["fact"])
    if "by" in new:
        new["by"] = [moved(p) for p in new["by"]]
    if new["rule"] == "combine":
        new["terms"] = [[left, moved(fact), *rest] for left, fact, *rest in new["terms"]]
    elif new["rule"] == "positive":
        new["terms"] = [[c, [moved(p) for p in facts], root] for c, facts, root in new["terms"]]
        new["equations"] = [[left, moved(fact), *rest] for left, fact, *rest in new["equations"]]
    elif new["rule"] in ("forall", "induct"):
        new["steps"] = [_renumbered(s, places, old_base, new_base) for s in new["steps"]]
    elif new["rule"] == "cases":
        new["branches"] = [
            [_renumbered(s, places, old_base, new_base) for s in branch]
            for branch in new["branches"]
        ]
    return new


# ---------------------------------------------------------------- the table of terms


def _with_nodes(w: Workbench, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """The certificate with the table of those terms that its steps point to."""
    nodes = w.judge.nodes
    used = sorted({place for step in steps for place in _terms(step)})
    given = nodes[: w.given]
    known = {id(n) for n in given}
    table = [*given, *(n for n in postorder([nodes[p] for p in used]) if id(n) not in known)]
    place = {id(n): i for i, n in enumerate(table)}
    where = {old: place[id(nodes[old])] for old in used}
    return {
        "statement": w.statement.hash,
        "nodes": encode_nodes(table[w.given :], place),
        "steps": [_pointed(step, where) for step in steps],
    }


def _terms(step: dict[str, Any]) -> set[int]:
    """The places in the table that a step points to."""
    found: set[int] = set()

    def note(place: int) -> int:
        found.add(place)
        return place

    _mapped(step, note)
    return found


def _pointed(step: dict[str, Any], where: dict[int, int]) -> dict[str, Any]:
    return _mapped(step, lambda place: where[place])


def _mapped(step: dict[str, Any], change: Any) -> dict[str, Any]:
    """A step with `change` applied to each place of a term."""
    step = dict(step)
    rule = step["rule"]
    for key in ("goal", "context", "of", "at", "type"):
        if key in step:
            step[key] = change(step[key])
    if rule == "ball":
        step["variables"] = [change(p) for p in step["variables"]]
    if rule in ("schema", "lemma"):
        step["subst"] = {n: change(p) for n, p in step["subst"].items()}
    elif rule == "instantiate":
        step["terms"] = [change(p) for p in step["terms"]]
    elif rule == "combine":
        step["terms"] = [_factors(row, change) for row in step["terms"]]
    elif rule == "positive":
        step["equations"] = [_factors(row, change) for row in step["equations"]]
        step["terms"] = [
            [c, facts, None if root is None else change(root)] for c, facts, root in step["terms"]
        ]
    elif rule == "forall":
        step["types"] = [change(p) for p in step["types"]]
        step["where"] = [change(p) for p in step["where"]]
        step["steps"] = [_mapped(s, change) for s in step["steps"]]
    elif rule == "induct":
        step["steps"] = [_mapped(s, change) for s in step["steps"]]
    elif rule == "cases":
        step["branches"] = [[_mapped(s, change) for s in b] for b in step["branches"]]
    return step


def _factors(row: list[Any], change: Any) -> list[Any]:
    left, fact, right, mode = row
    return [
        None if left is None else change(left),
        fact,
        None if right is None else change(right),
        mode,
    ]
