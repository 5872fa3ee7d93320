"""What is plainly defined, and what must not be taken for it."""

import pytest

from proofs.instances.regular import plainly_defined
from proofs.language.parser import parse
from proofs.refute import Refuter, refute

NAMES = """
let n : dimension
let x, y : real
let p, q : positive
let m : nonnegative
let z : nonzero
let A, B : matrix(n, n)
let S, R : matrix(n, n)
assume positive_definite(S)
assume positive_semidefinite(R)
"""

DEFINED = [
    "x/2 = x/2",
    "1/p + x/(p + m) = x/(p*q)",
    "x/z^2 = y",
    "log(exp(x) + m) = x",
    "sqrt(m + x^2) = y",
    "x/(1 + x^2) = y",
    "inv(S) = S",
    "inv(S + R) = A",
    "inv(S + A*A.T) = A",
    "inv(S + A*R*A.T) = A",
    "inv(p*S + eye(n)) = A",
    "x/det(S) = y",
    "sum(p/(j + q), j, 1, n) = x",
    "diff(log(p), p) = 1/p",
]

NOT_PLAINLY = [
    "x/y = x/y",
    "x/(p - q) = y",
    "x/m = y",
    "log(m) = x",
    "log(x^2) = y",
    "sqrt(x) = y",
    "inv(A) = A",
    "inv(R) = A",
    "inv(A*A.T) = A",
    "inv(S - R) = A",
    "inv(S*R) = A",
    "inv(S + A*R*B.T) = A",
    "x/det(A) = y",
    "x/(x^2 - 1) = y",
    "diff(abs(x), x) = 1",
]


def read(text: str):
    return parse(text).statements[0]


@pytest.mark.parametrize("goal", DEFINED)
def test_what_is_defined_at_a_glance(goal):
    assert plainly_defined(read(NAMES + f"show {goal}"))


@pytest.mark.parametrize("goal", NOT_PLAINLY)
def test_what_may_be_undefined_is_not_plainly_defined(goal):
    assert not plainly_defined(read(NAMES + f"show {goal}"))


def test_a_hypothesis_does_not_vouch_for_itself():
    text = "let x : real\nassume {}\nshow x = 1"
    assert not plainly_defined(read(text.format("1/x > 0")))
    assert plainly_defined(read(text.format("x > 0\nassume 1/x > 0")))


def test_a_covariance_must_be_plainly_semidefinite():
    text = (
        "let n : dimension\nlet S : matrix(n, n)\n{}let X : gaussian(zeros(n, 1), S)\nshow E(X) = X"
    )
    assert not plainly_defined(read(text.format("")))


def test_looks_that_are_interrupted_find_what_one_look_finds():
    statement = read("let n : dimension\nlet A, B : matrix(n, n)\nshow A*B = B*A")
    at_once = refute(statement, seconds=20, instances=200, shrink=False)
    refuter = Refuter(statement)
    assert not refuter.look(2, 20)
    for upto in range(3, 201):
        if refuter.look(upto, 20):
            break
    found = refuter.attempt(shrink=False)
    assert found.refutation is not None
    assert at_once.refutation is not None
    assert str(found.refutation) == str(at_once.refutation)
    assert found.stats.tried == at_once.stats.tried
