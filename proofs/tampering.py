"""Tampering: certificates changed in every way, and certificates bound to other statements.

A certificate is plain data, so whoever wants to pass something false changes it: a place, a rule's
name, a substitution, the order of steps. `tampered` makes one such change of a stated kind;
`rebound` makes of a theorem's certificate the best attempt at one for a changed theorem.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from proofs.checker.rules import rule_texts
from proofs.language.tree import (
    OPERATORS,
    PROPERTIES,
    RELATIONS,
    Statement,
    Term,
    decode_nodes,
    encode_nodes,
    postorder,
)

Certificate = dict[str, Any]
Step = dict[str, Any]
Place = tuple[Any, Any]  # a list or object, and an index or key of it
Move = Callable[[Any], Any]

MODES = ("", "T", "C", "H", "tr", "inner")
COEFFICIENTS = ("0", "1", "-1", "2", "1/2", "-1/3", "1000000007")
ODD: tuple[Any, ...] = (
    None, -1, 0, 1, 2, 3, 5, 8, 13, 10**9, 0.5, True, False,
    "", "0", "1", "-1", "1/2", "T", "H", "C", "tr", "inner", "eq", "x", [], {},
)  # fmt: skip
TYPES = ("real_type", "complex_type", "positive_type", "nonzero_type", "integer_type")
SAME_ARITY = {
    arity: tuple(op for op, n in OPERATORS.items() if n == arity and not op.endswith("_type"))
    for arity in (0, 1, 2, 3)
}


# ---------------------------------------------------------------- other statements


def rebound(certificate: Mapping[str, Any], old: Statement, new: Statement) -> Certificate:
    """The certificate for another statement: its terms as they were, save that the goal and the
    hypotheses are replaced by those of the other one.

    Where the other one has a hypothesis less, the step that introduced it is left out, and what
    cited it must find its fact elsewhere.
    """
    nodes = decode_nodes(certificate["nodes"], postorder(old.roots()))
    kept = list(old.hypotheses)
    lost = [i for i in range(len(kept)) if (*kept[:i], *kept[i + 1 :]) == new.hypotheses][:1]
    for index in lost:
        kept.pop(index)
    swap = {id(old.goal): new.goal}
    if len(kept) == len(new.hypotheses):
        swap |= {id(a): b for a, b in zip(kept, new.hypotheses, strict=True)}
    given = postorder(new.roots())
    table = postorder([*given, *nodes])
    known = set(given)
    table = [*given, *(n for n in table if n not in known)]
    where = {id(n): i for i, n in enumerate(table)}

    def node(place: Any) -> Any:
        found: Term = nodes[place]
        return where[id(swap.get(id(found), found))]

    steps = certificate["steps"]
    gone = [
        i for i, s in enumerate(steps) if lost and s["rule"] == "hypothesis" and s["index"] in lost
    ][:1]

    def fact(place: Any) -> Any:
        if not gone or place < gone[0]:
            return place
        return place - 1 if place > gone[0] else None

    moved = [moved_step(s, node, fact) for i, s in enumerate(steps) if i not in gone]
    for step in moved:
        if step["rule"] == "hypothesis" and lost and step["index"] > lost[0]:
            step["index"] -= 1
    return {
        "statement": new.hash,
        "nodes": encode_nodes(table[len(given) :], where),
        "steps": moved,
    }


def moved_step(step: Step, node: Move, fact: Move) -> Step:
    """A step with each reference to a term and to an earlier fact moved."""
    new = dict(step)

    def maybe(move: Move, place: Any) -> Any:
        return None if place is None else move(place)

    for key in ("goal", "context", "of", "at"):
        if key in new:
            new[key] = node(new[key])
    if "fact" in new and new["rule"] != "declared":  # there it counts what a declaration says
        new["fact"] = fact(new["fact"])
    if "by" in new:
        new["by"] = [maybe(fact, place) for place in new["by"]]
    if "subst" in new:
        new["subst"] = {k: node(v) for k, v in new["subst"].items()}
    for key in ("types", "where"):
        if key in new:
            new[key] = [node(v) for v in new[key]]
    if new["rule"] == "instantiate":
        new["terms"] = [node(v) for v in new["terms"]]
    if new["rule"] == "ball":
        new["variables"] = [node(v) for v in new["variables"]]
    rows = {"combine": "terms", "positive": "equations"}.get(new["rule"])
    if rows:
        new[rows] = [
            [maybe(node, a), maybe(fact, place), maybe(node, b), mode]
            for a, place, b, mode in new[rows]
        ]
    if new["rule"] == "positive":
        new["terms"] = [
            [c, [fact(place) for place in facts], maybe(node, root)]
            for c, facts, root in new["terms"]
        ]
    if "steps" in new:
        new["steps"] = [moved_step(s, node, fact) for s in new["steps"]]
    if "branches" in new:
        new["branches"] = [[moved_step(s, node, fact) for s in b] for b in new["branches"]]
    return new


# ---------------------------------------------------------------- one change of a kind


def tampered(text: str, kind: str, draw: random.Random, top: int) -> Certificate | None:
    """The certificate with one change of a kind that makes a difference.

    Args:
        text: the certificate as JSON.
        kind: one of `KINDS`.
        draw: the source of chance.
        top: how many terms the statement itself has; places below are its own.

    Returns:
        None where the certificate has no place for such a change.
    """
    changed = json.loads(text)
    if not KINDS[kind](changed, draw, top) or json.dumps(changed) == text:
        return None
    return changed


def steps_in(value: Any) -> Iterator[tuple[list[Any], int]]:
    """Each step, in sub-proofs too, as the list that holds it and its index."""
    lists = [value]
    while lists:
        steps = lists.pop()
        for i, step in enumerate(steps):
            yield steps, i
            lists += [s for s in (step.get("steps"),) if s is not None]
            lists += step.get("branches", [])


def _steps(certificate: Certificate, *rules: str) -> list[Step]:
    found = [steps[i] for steps, i in steps_in(certificate["steps"])]
    return [s for s in found if not rules or s["rule"] in rules]


def _put(places: list[Place], choices: Any, draw: random.Random) -> bool:
    """Another one of the choices at one of the places."""
    if not places:
        return False
    holder, key = draw.choice(places)
    others = [c for c in choices if c != holder[key]]
    if not others:
        return False
    holder[key] = draw.choice(others)
    return True


def _term_places(certificate: Certificate, *fields: str) -> list[Place]:
    return [(s, f) for s in _steps(certificate) for f in fields if isinstance(s.get(f), int)]


def _fact_places(certificate: Certificate) -> list[Place]:
    found: list[Place] = [(s, "fact") for s in _steps(certificate, "congruence", "instantiate")]
    for s in _steps(certificate, "combine", "positive"):
        rows = s["terms" if s["rule"] == "combine" else "equations"]
        found += [(row, 1) for row in rows]
        if s["rule"] == "positive":
            found += [(row[1], i) for row in s["terms"] for i in range(len(row[1]))]
    return found


def _rows_of(certificate: Certificate) -> list[list[Any]]:
    """Rows `[left, fact, right, mode]`."""
    combined = [r for s in _steps(certificate, "combine") for r in s["terms"]]
    return combined + [r for s in _steps(certificate, "positive") for r in s["equations"]]


def _everywhere(value: Any) -> Iterator[Place]:
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _everywhere(inner)


def _all(certificate: Certificate) -> list[Place]:
    return [p for part in ("nodes", "steps") for p in _everywhere(certificate[part])]


def _nodes(certificate: Certificate, top: int) -> range:
    return range(top + len(certificate["nodes"]))


def _dropped(c: Certificate, draw: random.Random, top: int) -> bool:
    found = list(steps_in(c["steps"]))
    if found:
        steps, i = draw.choice(found)
        steps.pop(i)
    return bool(found)


def _doubled(c: Certificate, draw: random.Random, top: int) -> bool:
    found = list(steps_in(c["steps"]))
    if found:
        steps, i = draw.choice(found)
        steps.insert(draw.randint(0, len(steps)), steps[i])
    return bool(found)


def _reordered(c: Certificate, draw: random.Random, top: int) -> bool:
    lists = [steps for steps, i in steps_in(c["steps"]) if i == 1]
    if lists:
        steps = draw.choice(lists)
        i, j = draw.sample(range(len(steps)), 2)
        steps[i], steps[j] = steps[j], steps[i]
    return bool(lists)


def _moved_out(c: Certificate, draw: random.Random, top: int) -> bool:
    """A step of a sub-proof put before the step that holds it, as if it held outside."""
    found = [
        (steps, i, inner)
        for steps, i in steps_in(c["steps"])
        for inner in (steps[i].get("steps"), *steps[i].get("branches", []))
        if inner
    ]
    if found:
        steps, i, inner = draw.choice(found)
        steps.insert(i, inner.pop(draw.randrange(len(inner))))
    return bool(found)


def _branches(c: Certificate, draw: random.Random, top: int) -> bool:
    found = _steps(c, "cases")
    if found:
        step = draw.choice(found)
        i, j = draw.sample(range(3), 2)
        step["branches"][i], step["branches"][j] = step["branches"][j], step["branches"][i]
    return bool(found)


def _another_rule(c: Certificate, draw: random.Random, top: int) -> bool:
    """Another rule's name; sooner one with the same names of variables."""
    found = _steps(c, "schema")
    return _put([(s, "name") for s in found], sorted(rule_texts()), draw)


def _like_rule(c: Certificate, draw: random.Random, top: int) -> bool:
    from proofs.checker.rules import find_rule

    def names(rule: str) -> set[str]:
        found = find_rule(rule)
        return {n for d in found.declarations for n in d.names} if found else set()

    steps = _steps(c, "schema")
    if not steps:
        return False
    step = draw.choice(steps)
    alike = [r for r in sorted(rule_texts()) if names(r) == set(step["subst"])]
    return _put([(step, "name")], alike, draw)


def _swapped_values(c: Certificate, draw: random.Random, top: int) -> bool:
    found = [s["subst"] for s in _steps(c, "schema", "lemma") if len(s["subst"]) > 1]
    if found:
        subst = draw.choice(found)
        i, j = draw.sample(sorted(subst), 2)
        subst[i], subst[j] = subst[j], subst[i]
    return bool(found)


def _value(c: Certificate, draw: random.Random, top: int) -> bool:
    places = [(s["subst"], k) for s in _steps(c, "schema", "lemma") for k in s["subst"]]
    places += [(s["terms"], i) for s in _steps(c, "instantiate") for i in range(len(s["terms"]))]
    return _put(places, _nodes(c, top), draw)


def _requirement(c: Certificate, draw: random.Random, top: int) -> bool:
    found = [(s["by"], i) for s in _steps(c) if "by" in s for i in range(len(s["by"]))]
    return _put(found, [None, *range(len(c["steps"]) + 3)], draw)


def _requirements(c: Certificate, draw: random.Random, top: int) -> bool:
    """A requirement more or less."""
    found = [s["by"] for s in _steps(c) if "by" in s]
    if found:
        by = draw.choice(found)
        if by and draw.random() < 0.7:
            by.pop(draw.randrange(len(by)))
        else:
            by.append(draw.choice([None, 0]))
    return bool(found)


def _fact(c: Certificate, draw: random.Random, top: int) -> bool:
    return _put(_fact_places(c), range(len(c["steps"]) + 3), draw)


def _mode(c: Certificate, draw: random.Random, top: int) -> bool:
    return _put([(row, 3) for row in _rows_of(c)], MODES, draw)


def _factor(c: Certificate, draw: random.Random, top: int) -> bool:
    places = [(row, i) for row in _rows_of(c) for i in (0, 2)]
    places += [(row, 2) for s in _steps(c, "positive") for row in s["terms"]]
    return _put(places, [None, *_nodes(c, top)], draw)


def _row(c: Certificate, draw: random.Random, top: int) -> bool:
    """A summand dropped or doubled."""
    steps = _steps(c, "combine", "positive")
    found = [s[f] for s in steps for f in ("terms", "equations") if s.get(f)]
    if found:
        rows = draw.choice(found)
        row = draw.randrange(len(rows))
        if draw.random() < 0.5:
            rows.pop(row)
        else:
            rows.append(rows[row])
    return bool(found)


def _coefficient(c: Certificate, draw: random.Random, top: int) -> bool:
    places = [(row, 0) for s in _steps(c, "positive") for row in s["terms"]]
    places += [(row, 2) for row in c["nodes"] if row[0] == "rational"]
    return _put(places, COEFFICIENTS, draw)


def _goal(c: Certificate, draw: random.Random, top: int) -> bool:
    return _put(_term_places(c, "goal"), _nodes(c, top), draw)


def _context(c: Certificate, draw: random.Random, top: int) -> bool:
    return _put(_term_places(c, "context", "of", "at"), _nodes(c, top), draw)


def _condition(c: Certificate, draw: random.Random, top: int) -> bool:
    """A condition of a quantified fact more, less or another."""
    found = [s["where"] for s in _steps(c, "forall")]
    if not found:
        return False
    where = draw.choice(found)
    if where and draw.random() < 0.5:
        where.pop(draw.randrange(len(where)))
    elif where and draw.random() < 0.5:
        where[draw.randrange(len(where))] = draw.choice(_nodes(c, top))
    else:
        where.append(draw.choice(_nodes(c, top)))
    return True


def _relation(c: Certificate, draw: random.Random, top: int) -> bool:
    rows = [row for row in c["nodes"] if row[0] in RELATIONS | PROPERTIES]
    if not rows:
        return False
    row = draw.choice(rows)
    near = sorted((RELATIONS | PROPERTIES) & set(SAME_ARITY[len(row[1])]))
    return _put([(row, 0)], near, draw)


def _operator(c: Certificate, draw: random.Random, top: int) -> bool:
    rows = [row for row in c["nodes"] if len(row[1]) in SAME_ARITY and row[2] is None]
    if not rows:
        return False
    row = draw.choice(rows)
    return _put([(row, 0)], SAME_ARITY[len(row[1])], draw)


def _argument(c: Certificate, draw: random.Random, top: int) -> bool:
    found = [(k, i) for k, row in enumerate(c["nodes"]) for i in range(len(row[1]))]
    if not found:
        return False
    k, i = draw.choice(found)
    return _put([(c["nodes"][k][1], i)], range(top + k), draw)


def _swapped_arguments(c: Certificate, draw: random.Random, top: int) -> bool:
    rows = [row[1] for row in c["nodes"] if len(row[1]) > 1]
    if rows:
        row = draw.choice(rows)
        i, j = draw.sample(range(len(row)), 2)
        row[i], row[j] = row[j], row[i]
    return bool(rows)


def _data(c: Certificate, draw: random.Random, top: int) -> bool:
    rows = [row for row in c["nodes"] if row[2] is not None]
    if not rows:
        return False
    row = draw.choice(rows)
    names = sorted({r[2] for r in c["nodes"] if r[0] == "name"})
    pairs = [[a, b] for a in range(4) for b in range(4)]
    choices = {
        "name": names,
        "bound": range(4),
        "deriv": range(1, 4),
        "constant": ("pi", "i"),
        "rational": COEFFICIENTS,
    }
    return _put([(row, 2)], choices.get(row[0], pairs), draw)


def _bound_type(c: Certificate, draw: random.Random, top: int) -> bool:
    """Another type of a bound variable or of a fresh name, or another type in its place."""
    types = [top + k for k, row in enumerate(c["nodes"]) if row[0].endswith("_type")]
    places: list[Place] = [(row[1], 0) for row in c["nodes"] if row[0] == "bound"]
    places += [(s["types"], i) for s in _steps(c, "forall") for i in range(len(s["types"]))]
    plain: list[Place] = [(row, 0) for row in c["nodes"] if row[0] in TYPES]
    if plain and (not types or draw.random() < 0.5):
        return _put(plain, TYPES, draw)
    return _put(places, types or range(top), draw)


def _row_of_nodes(c: Certificate, draw: random.Random, top: int) -> bool:
    """A row of the table dropped, doubled or moved: what points behind it means something else."""
    rows = c["nodes"]
    if not rows:
        return False
    k = draw.randrange(len(rows))
    what = draw.randrange(3)
    if what == 0:
        rows.pop(k)
    elif what == 1:
        rows.insert(k, rows[k])
    else:
        rows.insert(draw.randrange(len(rows)), rows.pop(k))
    return True


def _shifted(c: Certificate, draw: random.Random, top: int) -> bool:
    """All places of one step one further, or one back; of terms, or of facts."""
    found = list(steps_in(c["steps"]))
    if not found:
        return False
    steps, i = draw.choice(found)
    by = draw.choice((-1, 1))

    def move(place: Any) -> Any:
        return place + by

    def stay(place: Any) -> Any:
        return place

    steps[i] = moved_step(steps[i], *draw.choice(((move, stay), (stay, move), (move, move))))
    return True


def _said(c: Certificate, draw: random.Random, top: int) -> bool:
    """Another hypothesis or another fact of a declaration."""
    places: list[Place] = [(s, "index") for s in _steps(c, "hypothesis")]
    places += [(s, "fact") for s in _steps(c, "declared")]
    return _put(places, range(4), draw)


def _names(c: Certificate, draw: random.Random, top: int) -> bool:
    places: list[Place] = [
        (s["names"], i) for s in _steps(c, "forall") for i in range(len(s["names"]))
    ]
    places += [(s, "name") for s in _steps(c, "declared", "induct")]
    known = sorted({r[2] for r in c["nodes"] if r[0] == "name"})
    return _put(places, [*known, "q", "pi", "$0", ""], draw)


def _kind_of_step(c: Certificate, draw: random.Random, top: int) -> bool:
    rules = ("hypothesis", "declared", "schema", "lemma", "combine", "positive", "congruence")
    places: list[Place] = [(s, "rule") for s in _steps(c)]
    return _put(
        places,
        (*rules, "forall", "induct", "instantiate", "gradient", "ball", "cases", "admit"),
        draw,
    )


def _cover(c: Certificate, draw: random.Random, top: int) -> bool:
    """A part of a cover dropped or doubled, cut elsewhere, or enclosed in another way."""
    found = _steps(c, "ball")
    if not found:
        return False
    step = draw.choice(found)
    rows = step["cover"]
    k = draw.randrange(len(rows))
    what = draw.randrange(4)
    if what == 0:
        rows.pop(k)
    elif what == 1:
        rows.insert(k, rows[k])
    elif what == 2:
        rows[k] = draw.choice([["value"], ["mean"], ["taylor", "0", 1, 2], ["cut", 0, "1/3"]])
    else:
        places: list[Place] = [(row, i) for row in rows for i in range(1, len(row))]
        return _put([*places, (step, "precision")], [*COEFFICIENTS, *range(5)], draw)
    return True


def _field(c: Certificate, draw: random.Random, top: int) -> bool:
    """A field lost, or one more."""
    steps = _steps(c)
    if steps:
        step = draw.choice(steps)
        if draw.random() < 0.5:
            step.pop(draw.choice(sorted(step)))
        else:
            step[draw.choice(("by", "lemma", "steps", "goal", "assume"))] = draw.choice(ODD)
    return bool(steps)


def _odd(c: Certificate, draw: random.Random, top: int) -> bool:
    """Anything at any place."""
    return _put(_all(c), ODD, draw)


def _lost(c: Certificate, draw: random.Random, top: int) -> bool:
    """An element of any list dropped or doubled."""
    found = [(h, k) for h, k in _all(c) if isinstance(h, list)]
    if found:
        holder, key = draw.choice(found)
        if draw.random() < 0.5:
            holder.pop(key)
        else:
            holder.insert(key, holder[key])
    return bool(found)


def _exchanged(c: Certificate, draw: random.Random, top: int) -> bool:
    """The values at two places that don't hold each other, exchanged."""
    found = [(h, k) for h, k in _all(c) if not isinstance(h[k], dict | list)]
    if len(found) < 2:
        return False
    (a, i), (b, j) = draw.sample(found, 2)
    a[i], b[j] = b[j], a[i]
    return True


KINDS: dict[str, Callable[[Certificate, random.Random, int], bool]] = {
    "a step dropped": _dropped,
    "a step doubled": _doubled,
    "steps reordered": _reordered,
    "a step moved out of its sub-proof": _moved_out,
    "branches of cases exchanged": _branches,
    "a step of another kind": _kind_of_step,
    "a field lost or added": _field,
    "another rule": _another_rule,
    "a rule of the same names": _like_rule,
    "values of a rule exchanged": _swapped_values,
    "another value": _value,
    "a requirement cited wrongly": _requirement,
    "a requirement more or less": _requirements,
    "another fact cited": _fact,
    "another hypothesis or declared fact": _said,
    "another mode": _mode,
    "another factor or square": _factor,
    "a summand dropped or doubled": _row,
    "another coefficient": _coefficient,
    "another goal of a step": _goal,
    "another context, case or end": _context,
    "another cover": _cover,
    "conditions of a quantified fact": _condition,
    "another relation": _relation,
    "another operator": _operator,
    "another argument": _argument,
    "arguments exchanged": _swapped_arguments,
    "other data of a node": _data,
    "another type of a bound variable": _bound_type,
    "a fresh name exchanged": _names,
    "rows of the table moved": _row_of_nodes,
    "places of a step shifted": _shifted,
    "an odd value anywhere": _odd,
    "an element lost or doubled": _lost,
    "two places exchanged": _exchanged,
}
