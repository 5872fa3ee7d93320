"""The search finds certificates for textbook facts, for nothing false, and prunes them."""

from __future__ import annotations

import copy
import time

import pytest

from proofs.checker.judge import Rejected, check
from proofs.language.parser import parse
from proofs.language.tree import Statement
from proofs.search import Failure, prove

SQUARE = "let n : dimension\nlet A, B : matrix(n, n)\n"
WOODBURY = """
let n, k : dimension
let A : matrix(n, n)
let U : matrix(n, k)
let C : matrix(k, k)
let V : matrix(k, n)
assume invertible(A)
assume invertible(C)
assume invertible(A + U*C*V)
show inv(A + U*C*V) = inv(A) - inv(A)*U*inv(inv(C) + V*inv(A)*U)*V*inv(A)
"""
BLOCK = """
let n, k : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, n)
let D : matrix(k, k)
assume invertible(A)
assume invertible(D - C*inv(A)*B)
define S = inv(D - C*inv(A)*B)
define P = inv(A)
show inv(block([[A, B], [C, D]])) = block([[P + P*B*S*C*P, -P*B*S], [-S*C*P, S]])
"""
KALMAN = """
let n, k : dimension
let m : vector(n)
let S : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_semidefinite(S)
assume positive_definite(R)
let X : gaussian(m, S)
let N : gaussian(zeros(k, 1), R)
"""
TRUE = {
    "Woodbury, the inner inverse found": WOODBURY,
    "Sherman and Morrison": SQUARE + "let u, v : vector(n)\nassume invertible(A)\n"
    "assume 1 + v.T*inv(A)*u != 0\n"
    "show inv(A + u*v.T) = inv(A) - inv(A)*u*v.T*inv(A)/(1 + v.T*inv(A)*u)",
    "push-through": "let n, k : dimension\nlet A : matrix(n, k)\nlet B : matrix(k, n)\n"
    "assume invertible(eye(n) + A*B)\nshow inv(eye(n) + A*B)*A = A*inv(eye(k) + B*A)",
    "the inverse of a block matrix": BLOCK,
    "inverse of a product": SQUARE + "assume invertible(A)\nassume invertible(B)\n"
    "show inv(A*B) = inv(B)*inv(A)",
    "inverse and transpose commute": SQUARE + "assume invertible(A)\nshow inv(A).T = inv(A.T)",
    "a Gram matrix with its pseudo-inverse": "let n, k : dimension\nlet A : matrix(n, k)\n"
    "show A.T*pinv(A*A.T) = pinv(A)",
    "the pseudo-inverse is unique": "let n, k : dimension\nlet A : complex matrix(n, k)\n"
    "show pinv(A.H) = pinv(A).H",
    "ridge regression in two forms": "let n, k : dimension\nlet A : matrix(n, k)\nlet l : nonzero\n"
    "show inv(A.T*A + l^2*eye(k))*A.T = A.T*inv(A*A.T + l^2*eye(n))",
    "traces are cyclic": SQUARE + "show tr(A*B) = tr(B*A)",
    "a scalar is its transpose": "let n : dimension\nlet x, y : vector(n)\nshow x.T*y = y.T*x",
    "the quotient rule": "let x : real\nassume x > 0\nshow diff(log(x)/x, x) = (1 - log(x))/x^2",
    "the softmax Jacobian": "let n : dimension\nlet x, dx : vector(n)\nlet u : real\n"
    "let j : index(n)\ndefine s = softmax(x + u*dx)\n"
    "show diff(s[j], u) = s[j]*(dx[j] - sum(s[k]*dx[k], k, 1, n))",
    "the Kalman update": KALMAN
    + "show E(X | H*X + N) = m + S*H.T*inv(H*S*H.T + R)*(H*X + N - H*m)",
    "the Kalman update's covariance": KALMAN
    + "show cov(X, X | H*X + N) = S - S*H.T*inv(H*S*H.T + R)*H*S",
    "contradictory bounds": "let x : real\nassume x > 1\nassume x < 0\nshow 1 = 0",
    "tower property in L2": "let U : random\nlet F, G : sigma_algebra\nassume F subset G\n"
    "show l2norm2(U - E(U | F)) = l2norm2(U - E(U | G)) + l2norm2(E(U | G) - E(U | F))",
}
FALSE = {
    "inverse of a product, not reversed": SQUARE + "assume invertible(A)\nassume invertible(B)\n"
    "show inv(A*B) = inv(A)*inv(B)",
    "products don't commute": SQUARE + "show A*B = B*A",
    "an inverse without a hypothesis": SQUARE + "show A*inv(A) = eye(n)",
    "T for H": "let n, k : dimension\nlet A : complex matrix(n, k)\nshow (A*pinv(A)).T = A*pinv(A)",
    "an equation under a derivative": "let t : real\nassume t^2 = 1\nshow diff(t^2, t) = 0",
    "parts of a joint Gaussian taken as independent": "let n : dimension\n"
    "let m : vector(n)\nlet S, C : matrix(n, n)\n"
    "assume positive_semidefinite(block([[S, C], [C.T, S]]))\n"
    "let (X, Y) : gaussian((m, m), block([[S, C], [C.T, S]]))\nshow cov(X, Y) = zeros(n, n)",
    "a strict bound from a weak one": "let x : nonnegative\nshow x > 0",
    "a conditional expectation forgotten": "let U : random\nlet F : sigma_algebra\n"
    "show E(U | F) = U",
}


def statement(text: str) -> Statement:
    (only,) = parse(text).statements
    return only


@pytest.mark.parametrize("name", TRUE)
def test_textbook_fact_is_proved_and_rechecked(name: str) -> None:
    goal = statement(TRUE[name])
    certificate = prove(goal, 30)
    assert not isinstance(certificate, Failure), certificate
    assert check(goal, certificate).steps == len(certificate["steps"]) or any(
        "steps" in step for step in certificate["steps"]
    )


@pytest.mark.parametrize("name", FALSE)
def test_false_statement_has_no_certificate(name: str) -> None:
    assert isinstance(prove(statement(FALSE[name]), 2), Failure)


@pytest.mark.parametrize("name", ["Woodbury, the inner inverse found", "the quotient rule"])
def test_no_step_of_a_pruned_certificate_can_be_left_out(name: str) -> None:
    goal = statement(TRUE[name])
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
