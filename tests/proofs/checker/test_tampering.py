"""Certificates of all theorems, changed at random and bound to other statements: none gets through.

A changed certificate of the same statement may be accepted where it still is a proof; then every
fact that it establishes on its way must hold at models of the hypotheses. For a changed statement
nothing may be accepted that the refuter can refute.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from proofs.checker.judge import Rejected, check
from proofs.checker.rules import find_rule
from proofs.confirm import Witnesses, facts_of
from proofs.evaluate import Truth, Undefined
from proofs.language.errors import StatementError
from proofs.language.parser import parse
from proofs.language.show import excerpt
from proofs.language.tree import (
    AT_LEAST,
    OPERATORS,
    Statement,
    decode_nodes,
    postorder,
)
from proofs.library import Library
from proofs.mutants import mutants
from proofs.refute import refute
from proofs.tampering import KINDS, rebound, tampered

LIBRARY = Library()
CASES: list[tuple[str, Statement, Any]] = [
    (f"{theorem.name}:{place}", statement, theorem.certificates[place])
    for theorem in LIBRARY
    for place, statement in enumerate(theorem.statements)
    if theorem.certificates
]
LONG = [case for case in CASES if case[2]["steps"]]  # those that don't hold by structure alone
TRANSCENDENTAL = {"exp", "log", "erf", "softmax", "cosh", "tanh", "lambertw"}
CHANGES = 15  # of each certificate
MUTANTS = 4  # of each statement


def verdict(statement: Statement, certificate: object) -> bool:
    """Whether the judge accepts; any exception but `Rejected` fails the test."""
    try:
        check(statement, certificate, LIBRARY.lemmas(certificate))
    except Rejected:
        return False
    return True


def changed_at_random(certificate: Any, statement: Statement, draw: random.Random) -> Any:
    """The certificate with one change of any kind that it has a place for."""
    text, top = json.dumps(certificate), len(postorder(statement.roots()))
    while True:
        found = tampered(text, draw.choice(list(KINDS)), draw, top)
        if found is not None:
            return found


# ---------------------------------------------------------------- what facts mean


def every_fact_holds(statement: Statement, certificate: Any, witnesses: Witnesses) -> int:
    """That no fact which the judge takes down is false at a model; how many were confirmed."""
    confirmed = 0
    for relation in facts_of(statement, certificate, LIBRARY.lemmas(certificate)):
        truth = witnesses.say(relation)
        assert not isinstance(truth, Undefined), excerpt(relation)
        assert truth is not Truth.FALSE, excerpt(relation)
        confirmed += truth is Truth.TRUE
    return confirmed


# ---------------------------------------------------------------- the tests


def test_there_are_theorems_and_their_certificates_are_good():
    assert len(CASES) >= 25
    for name, statement, certificate in CASES:
        assert verdict(statement, certificate), name
        assert verdict(statement, rebound(certificate, statement, statement)), name


@pytest.mark.parametrize(("name", "statement", "certificate"), LONG, ids=[c[0] for c in LONG])
def test_every_fact_of_a_certificate_is_true(name: str, statement: Statement, certificate: Any):
    witnesses = Witnesses(statement)
    assert witnesses.models, name
    confirmed = every_fact_holds(statement, certificate, witnesses)
    # Balls contradict a false equation between transcendental values, but confirm no true one.
    assert confirmed > 0 or any(node.op in TRANSCENDENTAL for node in postorder(statement.roots()))


@pytest.mark.parametrize(("name", "statement", "certificate"), LONG, ids=[case[0] for case in LONG])
def test_a_changed_certificate_is_rejected_or_still_a_proof(
    name: str, statement: Statement, certificate: Any
):
    draw = random.Random(name)
    print(f"seed {name}")
    witnesses = Witnesses(statement)
    accepted = 0
    for _ in range(CHANGES):
        changed = changed_at_random(certificate, statement, draw)
        if verdict(statement, changed):
            accepted += 1
            every_fact_holds(statement, changed, witnesses)
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
        moved = rebound(certificate, statement, mutant.statement)
        again = [changed_at_random(moved, mutant.statement, draw) for _ in range(2)]
        attempts = [moved, *again]
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
                "where": [any_term()],
                "steps": [],
                "goal": any_term(),
            },
            {
                "rule": "induct",
                "name": "q",
                "goal": any_term(),
                "at": any_term(),
                "steps": [{"rule": "combine", "goal": any_term(), "terms": []}],
            },
            {"rule": "instantiate", "fact": 0, "terms": [any_term()], "by": []},
            {"rule": "gradient", "goal": any_term(), "type": any_term()},
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
