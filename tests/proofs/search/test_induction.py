"""Powers with symbolic exponents: by induction; false neighbours are never proved."""

from __future__ import annotations

import pytest

from proofs.language.parser import parse
from proofs.search.portfolio import Failure, prove

HEAD = """let n, k, p : dimension
let A, B : matrix(n, n)
let C : complex matrix(n, k)
let s : nonzero
let t : real
"""
TRUE = {
    "determinant": "show det(A^p) = det(A)^p",
    "transpose": "show (A^p).T = A.T^p",
    "idempotent": "assume A*A = A\nshow A^p = A",
    "nilpotent": "assume A*A = zeros(n, n)\nshow (s*eye(n) + t*A)^p = s^p*eye(n) + p*t*s^(p - 1)*A",
    "commuting": "assume A*B = B*A\nshow A*B^p = B^p*A",
    "commuting products": "assume A*B = B*A\nassume A*B^p = B^p*A\nshow A*B^(p + 1) = B^(p + 1)*A",
    "similar": "assume invertible(B)\nshow (inv(B)*A*B)^p = inv(B)*A^p*B",
    "inverse": "assume invertible(A)\nshow inv(A)^p*A^p = eye(n)",
    "scalars": "show (s*A)^p = s^p*A^p",
    "Gram matrices": "show (C*C.H)^p*C = C*(C.H*C)^p",
    "after the next": "show A^(p + 2) = A^p*A*A",
    "odd and even": "assume A*A = eye(n)\nshow A^(2*p) = eye(n)",
}
FALSE = {
    "determinant": "show det(A^p) = p*det(A)",
    "idempotent": "assume A*A = A\nshow A^p = A.T",
    "nilpotent": "assume A*A = zeros(n, n)\nshow (s*eye(n) + t*A)^p = s^p*eye(n) + t*s^(p - 1)*A",
    "products": "show (A*B)^p = A^p*B^p",
    "commuting": "show A*B^p = B^p*A",
    "similar": "assume invertible(B)\nshow (inv(B)*A*B)^p = B*A^p*inv(B)",
    "Gram matrices": "show (C*C.T)^p*C = C*(C.H*C)^p",
    "a step short": "show A^(p + 1) = A^p",
}


@pytest.mark.parametrize("name", TRUE)
def test_powers_are_proved(name: str):
    found = prove(parse(f"{HEAD}{TRUE[name]}").statements[0], 15.0)
    assert not isinstance(found, Failure), found


@pytest.mark.parametrize("name", FALSE)
def test_false_neighbours_are_not_proved(name: str):
    assert isinstance(prove(parse(f"{HEAD}{FALSE[name]}").statements[0], 2.0), Failure)
