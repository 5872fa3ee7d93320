"""Matrices of small literal sizes: inverses of numbers and symbols, determinants by entries."""

from __future__ import annotations

import pytest

from proofs.checker.judge import check
from proofs.language.parser import parse
from proofs.refute import refute
from proofs.search import Failure, prove

TRUE = {
    "literal singular": """
show pinv(block([[1, 2], [2, 4]])) = 1/25*block([[1, 2], [2, 4]])
""",
    "literal symbols": """
let a, b, c, d : complex
assume a*d - b*c != 0
show inv(block([[a, b], [c, d]])) = 1/(a*d - b*c)*block([[d, -b], [-c, a]])
""",
    "literal three": """
define X = block([[-24, 18, 5], [20, -15, -4], [-5, 4, 1]])
show inv(block([[1, 2, 3], [0, 1, 4], [5, 6, 0]])) = X
""",
    "literal complex": """
show inv(block([[1, i], [1, -i]])) = 1/2*block([[1, 1], [-i, i]])
""",
    "det two": """
let A : matrix(2, 2)
let x : real
show det(A - x*eye(2)) = x^2 - tr(A)*x + det(A)
""",
    "cayley hamilton two": """
let A : complex matrix(2, 2)
show A^2 - tr(A)*A + det(A)*eye(2) = zeros(2, 2)
""",
    "diagonal 2": """
let a : nonzero
show pinv(block([[a, 0], [0, 0]])) = block([[1/a, 0], [0, 0]])
""",
}
FALSE = {
    "literal two": """
let a, b, c, d : real
assume a*d - b*c != 0
show inv(block([[a, b], [c, d]])) = 1/(a*d - b*c)*block([[d, b], [c, a]])
""",
    "literal complex": """
show inv(block([[1, i], [1, -i]])) = 1/2*block([[1, 1], [i, -i]])
""",
    "cayley hamilton two": """
let A : matrix(2, 2)
show A^2 + tr(A)*A + det(A)*eye(2) = zeros(2, 2)
""",
}


@pytest.mark.parametrize("name", TRUE)
def test_fact_about_a_small_matrix_is_proved(name: str) -> None:
    (goal,) = parse(TRUE[name]).statements
    certificate = prove(goal, 30)
    assert not isinstance(certificate, Failure), certificate
    check(goal, certificate)


@pytest.mark.parametrize("name", FALSE)
def test_false_neighbour_is_refuted_and_not_proved(name: str) -> None:
    (goal,) = parse(FALSE[name]).statements
    assert refute(goal, seconds=10, seed=1).witness is not None
    assert isinstance(prove(goal, 0.5), Failure)
