"""Certificates of all theorems, changed at random and bound to other statements: none gets through.

A changed certificate of the same statement may be accepted where it still is a proof; then every
fact that it establishes on its way must hold at models of the hypotheses. For a changed statement
nothing may be accepted that the refuter can refute.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from proofs.checker.judge import Judge, Rejected, check
from proofs.checker.rules import find_rule
from proofs.evaluate import Evaluation, Model, Truth, Undefined
from proofs.instances import Instances, conforms
from proofs.language.errors import StatementError
from proofs.language.parser import parse
from proofs.language.show import excerpt
from proofs.language.tree import (
    AT_LEAST,
    OPERATORS,
    Statement,
    Term,
    decode_nodes,
    encode_nodes,
    postorder,
)
from proofs.library import Library
from proofs.mutants import mutants
from proofs.refute import examine, refute

LIBRARY = Library()
CASES: list[tuple[str, Statement, Any]] = [
    (f"{theorem.name}:{place}", statement, theorem.certificates[place])
    for theorem in LIBRARY
    for place, statement in enumerate(theorem.statements)
    if theorem.certificates
]
LONG = [case for case in CASES if case[2]["steps"]]  # those that don't hold by structure alone
CHANGES = 25  # of each certificate
MUTANTS = 6  # of each statement
ODD: list[Any] = [
    None,
    -1,
    0,
    1,
    2,
    3,
    5,
    8,
    13,
    10**9,
    "",
    "0",
    "1",
    "-1",
    "1/2",
    "T",
    "H",
    "C",
    "tr",
    "inner",
    "eq",
    "x",
    [],
    {},
    True,
    False,
    0.5,
]


def verdict(statement: Statement, certificate: object) -> bool:
    """Whether the judge accepts; any exception but `Rejected` fails the test."""
    try:
        check(statement, certificate, LIBRARY.lemmas(certificate))
    except Rejected:
        return False
    return True


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place of decoded JSON, as its container and key."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


def tampered(certificate: Any, draw: random.Random) -> Any:
    """A copy with one change that makes a difference."""
    before = json.dumps(certificate)
    while True:
        changed = copy.deepcopy(certificate)
        everywhere = [p for part in ("nodes", "steps") for p in places(changed[part])]
        holder, key = draw.choice(everywhere)
        kind = draw.randrange(5)
        if kind == 0 and isinstance(holder, list):
            holder.pop(key)
        elif kind == 1 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        elif kind == 2 and isinstance(holder[key], int) and not isinstance(holder[key], bool):
            holder[key] += draw.choice((-2, -1, 1, 2))
        elif kind == 3:
            holder[key] = copy.deepcopy(draw.choice(ODD))
        else:
            other, place = draw.choice(everywhere)
            holder[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(holder[key])
        if json.dumps(changed) != before:
            return changed


# ---------------------------------------------------------------- binding to other statements


def bound_to(certificate: Any, old: Statement, new: Statement) -> Any:
    """The certificate for another statement: its terms as they were, save that the goal and the
    hypotheses are replaced by those of the other one."""
    nodes = decode_nodes(certificate["nodes"], postorder(old.roots()))
    swap = {id(old.goal): new.goal}
    if len(old.hypotheses) == len(new.hypotheses):
        swap |= {id(a): b for a, b in zip(old.hypotheses, new.hypotheses, strict=True)}
    given = postorder(new.roots())
    table = postorder([*given, *nodes])
    table = [*given, *(n for n in table if n not in set(given))]
    where = {id(n): i for i, n in enumerate(table)}

    def move(place: Any) -> Any:
        node: Term = nodes[place]
        return where[id(swap.get(id(node), node))]

    return {
        "statement": new.hash,
        "nodes": encode_nodes(table[len(given) :], where),
        "steps": [moved(s, move) for s in certificate["steps"]],
    }


def moved(step: Any, move: Callable[[Any], Any]) -> Any:
    """A step with each reference to a term moved."""
    new = dict(step)
    for key in ("goal", "context", "of"):
        if key in new:
            new[key] = move(new[key])
    if "subst" in new:
        new["subst"] = {k: move(v) for k, v in new["subst"].items()}
    if "types" in new:
        new["types"] = [move(v) for v in new["types"]]
    if new["rule"] == "instantiate":
        new["terms"] = [move(v) for v in new["terms"]]

    def maybe(place: Any) -> Any:
        return None if place is None else move(place)

    rows = {"combine": "terms", "positive": "equations"}.get(new["rule"])
    if rows:
        new[rows] = [[maybe(a), fact, maybe(b), mode] for a, fact, b, mode in new[rows]]
    if new["rule"] == "positive":
        new["terms"] = [[c, facts, maybe(root)] for c, facts, root in new["terms"]]
    if "steps" in new:
        new["steps"] = [moved(s, move) for s in new["steps"]]
    if "branches" in new:
        new["branches"] = [[moved(s, move) for s in branch] for branch in new["branches"]]
    return new


# ---------------------------------------------------------------- what facts mean


def satisfying(statement: Statement, count: int = 3) -> list[Model]:
    """Some models of the hypotheses."""
    instances = Instances(statement, seed=3)
    found: list[Model] = []
    for place in range(60):
        model = instances.draw(place, found)
        if conforms(model, instances.scope) and examine(statement, model).hypotheses_hold:
            found.append(model)
    return found[-count:]


def every_fact_holds(statement: Statement, certificate: Any, models: list[Model]) -> int:
    """That no fact which the judge takes down is false at a model; how many were confirmed."""
    judge = Judge(statement, LIBRARY.lemmas(certificate))
    judge.nodes = decode_nodes(certificate["nodes"], judge.nodes)
    judge.run(certificate["steps"], judge.facts, 0)
    confirmed = 0
    for model in models:
        evaluation = Evaluation(model)
        for fact in judge.facts.facts:
            truth = evaluation(fact.relation)
            assert not isinstance(truth, Undefined), excerpt(fact.relation)
            assert truth is not Truth.FALSE, excerpt(fact.relation)
            confirmed += truth is Truth.TRUE
    return confirmed


# ---------------------------------------------------------------- the tests


def test_there_are_theorems_and_their_certificates_are_good():
    assert len(CASES) >= 25
    for name, statement, certificate in CASES:
        assert verdict(statement, certificate), name
        assert verdict(statement, bound_to(certificate, statement, statement)), name


@pytest.mark.parametrize(("name", "statement", "certificate"), LONG, ids=[c[0] for c in LONG])
def test_every_fact_of_a_certificate_is_true(name: str, statement: Statement, certificate: Any):
    models = satisfying(statement)
    assert models, name
    assert every_fact_holds(statement, certificate, models) > 0


@pytest.mark.parametrize(("name", "statement", "certificate"), LONG, ids=[case[0] for case in LONG])
def test_a_changed_certificate_is_rejected_or_still_a_proof(
    name: str, statement: Statement, certificate: Any
):
    draw = random.Random(name)
    print(f"seed {name}")
    models = satisfying(statement)
    accepted = 0
    for _ in range(CHANGES):
        changed = tampered(certificate, draw)
        if verdict(statement, changed):
            accepted += 1
            every_fact_holds(statement, changed, models)
    print(f"{accepted} of {CHANGES} changes left a proof")
    assert accepted < CHANGES / 2


@pytest.mark.parametrize(("name", "statement", "certificate"), LONG, ids=[case[0] for case in LONG])
def test_no_false_neighbour_passes_with_the_certificate_of_a_theorem(
    name: str, statement: Statement, certificate: Any
):
    draw = random.Random(name)
    print(f"seed {name}")
    found = list(mutants(statement))
    passed = 0
    for mutant in draw.sample(found, min(MUTANTS, len(found))):
        rebound = bound_to(certificate, statement, mutant.statement)
        attempts = [rebound, *(tampered(rebound, draw) for _ in range(2))]
        if any(verdict(mutant.statement, attempt) for attempt in attempts):
            passed += 1
            attempt = refute(mutant.statement, seconds=0.5, instances=150, shrink=False)
            assert attempt.witness is None, f"{mutant}\n{attempt.witness}"
    print(f"{passed} of {min(MUTANTS, len(found))} mutants are proved by it")


def test_a_certificate_is_of_one_statement_only():
    """Every certificate with every other statement of the library, its hash corrected."""
    draw = random.Random(7)
    print("seed 7")
    for _ in range(150):
        (_, one, certificate), (_, other, _) = draw.sample(CASES, 2)
        if one.hash == other.hash or not any(other is case[1] for case in LONG):
            continue
        assert not verdict(other, certificate)
        assert not verdict(other, {**certificate, "statement": other.hash})


# ---------------------------------------------------------------- certificates out of nothing

WORLDS = [
    parse(text).statements[0]
    for text in (
        """
        let n, k : dimension
        let x : real
        let z : complex
        let A : matrix(n, k)
        let u : vector(n)
        let j : index(n)
        let f : function(real)
        let mu : vector(n) for a in 1..k
        assume x > 0
        show x = x""",
        """
        let n : dimension
        let U : random vector(n)
        let F, G : sigma_algebra
        let A : matrix(n, n)
        assume F subset G
        show U = U""",
        """
        let n : dimension
        let S : matrix(n, n)
        let a : vector(n)
        assume positive_semidefinite(S)
        let X : gaussian(a, S)
        show X = X""",
    )
]


def random_rows(statement: Statement, draw: random.Random) -> list[Any]:
    """Rows of nodes that the tree accepts, whatever they mean."""
    given = postorder(statement.roots())
    names = [n for d in statement.declarations for n in d.names]
    rows: list[Any] = []
    for _ in range(draw.randint(4, 20)):
        op = draw.choice(sorted(OPERATORS))
        fixed = OPERATORS[op]
        count = draw.randint(AT_LEAST.get(op, 1), 4) if fixed is None else fixed
        top = len(given) + len(rows)
        data = {
            "name": draw.choice(names),
            "rational": draw.choice(("0", "1", "2", "-1/2")),
            "constant": draw.choice(("pi", "i")),
            "bound": draw.choice((0, 0, 1)),
            "deriv": 1,
            "forall": [1, max(0, count - 2)],
            "block": [1, count],
            "family_type": [1, count - 1],
            "gaussian_type": [count - 1, 1],
        }.get(op)
        row = [op, [draw.randrange(top) for _ in range(count)], data]
        try:
            decode_nodes([*rows, row], given)
        except StatementError:
            continue
        rows.append(row)
    return rows


def random_step(top: int, draw: random.Random) -> Any:
    def any_term() -> int:
        return draw.randrange(max(0, top - 10), top)

    name = draw.choice(
        (
            "inv_left",
            "diff_sum",
            "gaussian_mean_given",
            "tower_coarse_first",
            "sum_equal",
            "det_block",
            "softmax_entry",
        )
    )
    rule = find_rule(name)
    assert rule is not None
    names = [n for d in rule.declarations for n in d.names]
    mode = draw.choice(("", "T", "C", "H", "tr", "inner"))
    return draw.choice(
        (
            {"rule": "combine", "goal": any_term(), "terms": [[any_term(), 0, any_term(), mode]]},
            {"rule": "combine", "goal": any_term(), "terms": []},
            {
                "rule": "positive",
                "goal": any_term(),
                "terms": [["1", [0], any_term()]],
                "equations": [],
            },
            {"rule": "congruence", "fact": 0, "context": any_term()},
            {
                "rule": "forall",
                "names": ["q"],
                "types": [any_term()],
                "steps": [],
                "goal": any_term(),
            },
            {"rule": "instantiate", "fact": 0, "terms": [any_term()], "by": []},
            {"rule": "cases", "of": any_term(), "goal": any_term(), "branches": [[], [], []]},
            {
                "rule": "schema",
                "name": name,
                "subst": {n: any_term() for n in names},
                "by": [None] * draw.randint(0, 4),
            },
        )
    )


def test_random_certificates_raise_nothing_but_rejections():
    print("seeds 0..599")
    for seed in range(600):
        draw = random.Random(seed)
        statement = draw.choice(WORLDS)
        rows = random_rows(statement, draw)
        top = len(postorder(statement.roots())) + len(rows)
        for _ in range(3):
            step = random_step(top, draw)
            certificate = {
                "statement": statement.hash,
                "nodes": rows,
                "steps": [{"rule": "hypothesis", "index": 0}, step],
            }
            verdict(statement, certificate)
