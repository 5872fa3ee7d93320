"""Matrices of three and four rows and columns of blocks."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== the inverse of a block triangular matrix
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(k, n)
let C : matrix(k, k)
let P : matrix(m, n)
let Q : matrix(m, k)
let R : matrix(m, m)
assume invertible(A)
assume invertible(C)
assume invertible(R)
define M = block([[A, zeros(n, k), zeros(n, m)], [B, C, zeros(k, m)], [P, Q, R]])
show inv(M) = block([[inv(A), zeros(n, k), zeros(n, m)],
  [-inv(C)*B*inv(A), inv(C), zeros(k, m)],
  [inv(R)*Q*inv(C)*B*inv(A) - inv(R)*P*inv(A), -inv(R)*Q*inv(C), inv(R)]])

== a block triangular matrix is invertible
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, k)
let P : matrix(n, m)
let Q : matrix(k, m)
let R : matrix(m, m)
assume invertible(A)
assume invertible(C)
assume invertible(R)
show invertible(block([[A, B, P], [zeros(k, n), C, Q], [zeros(m, n), zeros(m, k), R]]))

== the determinant of an upper block triangular matrix
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, k)
let P : matrix(n, m)
let Q : matrix(k, m)
let R : matrix(m, m)
show det(block([[A, B, P], [zeros(k, n), C, Q],
  [zeros(m, n), zeros(m, k), R]])) = det(A)*det(C)*det(R)

== the determinant of a lower block triangular matrix
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(k, n)
let C : matrix(k, k)
let P : matrix(m, n)
let Q : matrix(m, k)
let R : matrix(m, m)
show det(block([[A, zeros(n, k), zeros(n, m)], [B, C, zeros(k, m)],
  [P, Q, R]])) = det(A)*det(C)*det(R)

== the determinant of two by two lower blocks
let n, k : dimension
let A : matrix(n, n)
let B : matrix(k, n)
let C : matrix(k, k)
show det(block([[A, zeros(n, k)], [B, C]])) = det(A)*det(C)

== a Schur complement beside a block
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, n)
let D : matrix(k, k)
let R : matrix(m, m)
assume invertible(A)
show det(block([[A, B, zeros(n, m)], [C, D, zeros(k, m)],
  [zeros(m, n), zeros(m, k), R]])) = det(A)*det(D - C*inv(A)*B)*det(R)

== four diagonal blocks are invertible
let n, k, m, p : dimension
let A : matrix(n, n)
let B : matrix(k, k)
let C : matrix(m, m)
let D : matrix(p, p)
let X : matrix(n, k)
let Y : matrix(k, m)
let Z : matrix(m, p)
let W : matrix(n, p)
assume invertible(A)
assume invertible(B)
assume invertible(C)
assume invertible(D)
show invertible(block([[A, X, zeros(n, m), W], [zeros(k, n), B, Y, zeros(k, p)],
  [zeros(m, n), zeros(m, k), C, Z], [zeros(p, n), zeros(p, k), zeros(p, m), D]]))

== the determinant of four by four blocks
let n, k, m, p : dimension
let A : matrix(n, n)
let B : matrix(k, k)
let C : matrix(m, m)
let D : matrix(p, p)
let X : matrix(n, k)
let Y : matrix(k, m)
let Z : matrix(m, p)
let W : matrix(n, p)
show det(block([[A, X, zeros(n, m), W], [zeros(k, n), B, Y, zeros(k, p)],
  [zeros(m, n), zeros(m, k), C, Z],
  [zeros(p, n), zeros(p, k), zeros(p, m), D]])) = det(A)*det(B)*det(C)*det(D)

== the rank of three diagonal blocks
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(k, k)
let C : matrix(m, m)
show rank(block([[A, zeros(n, k), zeros(n, m)], [zeros(k, n), B, zeros(k, m)],
  [zeros(m, n), zeros(m, k), C]])) = rank(A) + rank(B) + rank(C)

== the inverse of three diagonal blocks
let n : dimension
let A, B, C : matrix(n, n)
assume invertible(A)
assume invertible(B)
assume invertible(C)
show inv(block([[A, zeros(n, n), zeros(n, n)], [zeros(n, n), B, zeros(n, n)],
  [zeros(n, n), zeros(n, n), C]])) = block([[inv(A), zeros(n, n), zeros(n, n)],
  [zeros(n, n), inv(B), zeros(n, n)], [zeros(n, n), zeros(n, n), inv(C)]])
""")

FALSE = claims("""
== the corner of the inverse without its product
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(k, n)
let C : matrix(k, k)
let P : matrix(m, n)
let Q : matrix(m, k)
let R : matrix(m, m)
assume invertible(A)
assume invertible(C)
assume invertible(R)
define M = block([[A, zeros(n, k), zeros(n, m)], [B, C, zeros(k, m)], [P, Q, R]])
show inv(M) = block([[inv(A), zeros(n, k), zeros(n, m)],
  [-inv(C)*B*inv(A), inv(C), zeros(k, m)],
  [-inv(R)*P*inv(A), -inv(R)*Q*inv(C), inv(R)]])

== a singular block
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, k)
let P : matrix(n, m)
let Q : matrix(k, m)
let R : matrix(m, m)
assume invertible(A)
assume invertible(R)
show invertible(block([[A, B, P], [zeros(k, n), C, Q], [zeros(m, n), zeros(m, k), R]]))

== the determinant with a sign
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, k)
let P : matrix(n, m)
let Q : matrix(k, m)
let R : matrix(m, m)
show det(block([[A, B, P], [zeros(k, n), C, Q],
  [zeros(m, n), zeros(m, k), R]])) = -det(A)*det(C)*det(R)

== the determinant that forgets a block
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(k, n)
let C : matrix(k, k)
let P : matrix(m, n)
let Q : matrix(m, k)
let R : matrix(m, m)
show det(block([[A, zeros(n, k), zeros(n, m)], [B, C, zeros(k, m)], [P, Q, R]])) = det(A)*det(R)

== a full matrix of blocks
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, k)
let P : matrix(n, m)
let Q : matrix(k, m)
let R : matrix(m, m)
let Z : matrix(m, n)
show det(block([[A, B, P], [zeros(k, n), C, Q], [Z, zeros(m, k), R]])) = det(A)*det(C)*det(R)

== the wrong Schur complement
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, n)
let D : matrix(k, k)
let R : matrix(m, m)
assume invertible(A)
show det(block([[A, B, zeros(n, m)], [C, D, zeros(k, m)],
  [zeros(m, n), zeros(m, k), R]])) = det(A)*det(D + C*inv(A)*B)*det(R)

== a rank too many
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(k, k)
let C : matrix(m, m)
show rank(block([[A, zeros(n, k), zeros(n, m)], [zeros(k, n), B, zeros(k, m)],
  [zeros(m, n), zeros(m, k), C]])) = rank(A) + rank(B) + rank(B)
""")


@pytest.mark.parametrize("name", TRUE)
def test_it_is_proved(name: str):
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_its_false_neighbour_is_refuted(name: str):
    assert_refuted(FALSE[name])
