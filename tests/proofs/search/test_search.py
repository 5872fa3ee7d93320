"""Certificates are pruned, what is missing is named, and the search keeps to its time."""

from __future__ import annotations

import copy
import time

import pytest

from proofs.checker.judge import Rejected, check
from proofs.search import Failure, prove
from tests.proofs.search.claims import named, statement

SQUARE = "let n : dimension\nlet A, B : matrix(n, n)\n"


@pytest.mark.parametrize("name", ["Woodbury, the inner inverse found", "the quotient rule"])
def test_no_step_of_a_pruned_certificate_can_be_left_out(name: str) -> None:
    goal = named("first_facts", name)
    certificate = prove(goal, 30)
    assert isinstance(certificate, dict)
    for place in range(len(certificate["steps"])):
        shorter = copy.deepcopy(certificate)
        del shorter["steps"][place]
        with pytest.raises(Rejected):
            check(goal, shorter)


def test_hypotheses_that_a_proof_does_not_need_are_told_apart() -> None:
    goal = statement(
        SQUARE + "assume invertible(B)\nassume symmetric(A)\nshow tr(A*B*inv(B)) = tr(A)"
    )
    certificate = prove(goal, 10)
    assert check(goal, certificate).hypotheses_used == {0}


def test_missing_condition_is_named() -> None:
    failure = prove(statement(SQUARE + "show A*inv(A) = eye(n)"), 5)
    assert isinstance(failure, Failure)
    assert failure.definedness
    assert failure.missing is not None
    assert failure.missing.op == "invertible"


def test_search_keeps_to_its_time() -> None:
    hard = "let n, k, m : dimension\nlet A : matrix(n, k)\nlet B : matrix(k, m)\n"
    start = time.monotonic()
    found = prove(statement(hard + "show pinv(A*B) = pinv(B)*pinv(A)"), 0.5)
    assert isinstance(found, Failure)
    assert time.monotonic() - start < 5


def test_repeated_squaring_is_given_up_in_time() -> None:
    lines = ["let s0, c : real"]
    lines += [f"define s{k + 1} = s{k}*s{k} + s{k}" for k in range(60)]
    start = time.monotonic()
    found = prove(statement("\n".join([*lines, "assume s60 > 0", "show s59 = c"])), 1)
    assert isinstance(found, Failure)
    assert time.monotonic() - start < 30
