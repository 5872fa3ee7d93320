"""Orthogonal, unitary, skew, commuting, nilpotent and idempotent matrices."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== skew: the identity plus it is invertible
let n : dimension
let A, B : matrix(n, n)
assume A.T = -A
show invertible(eye(n) + A)

== skew: the identity minus it is invertible
let n : dimension
let A, B : matrix(n, n)
assume A.T = -A
show invertible(eye(n) - A)

== Cayley's transform is orthogonal
let n : dimension
let A, B : matrix(n, n)
assume A.T = -A
show orthogonal((eye(n) - A)*inv(eye(n) + A))

== Cayley's transform commutes
let n : dimension
let A, B : matrix(n, n)
assume A.T = -A
show (eye(n) - A)*inv(eye(n) + A) = inv(eye(n) + A)*(eye(n) - A)

== complex Cayley
let n : dimension
let A : complex matrix(n, n)
assume A.H = -A
show unitary((eye(n) - A)*inv(eye(n) + A))

== skew forms vanish
let n : dimension
let A, B : matrix(n, n)
let x : vector(n)
assume A.T = -A
show x.T*A*x = 0

== skew: the square is negative
let n : dimension
let A, B : matrix(n, n)
assume A.T = -A
show positive_semidefinite(-A^2)

== skew: the trace
let n : dimension
let A, B : matrix(n, n)
assume A.T = -A
show tr(A) = 0

== orthogonal: the inverse
let n : dimension
let A, B : matrix(n, n)
assume orthogonal(A)
show inv(A) = A.T

== orthogonal: the other side
let n : dimension
let A, B : matrix(n, n)
assume orthogonal(A)
show A*A.T = eye(n)

== orthogonal: products
let n : dimension
let A, B : matrix(n, n)
assume orthogonal(A)
assume orthogonal(B)
show orthogonal(A*B)

== orthogonal: the transpose
let n : dimension
let A, B : matrix(n, n)
assume orthogonal(A)
show orthogonal(A.T)

== orthogonal: the inverse is orthogonal
let n : dimension
let A, B : matrix(n, n)
assume orthogonal(A)
show orthogonal(inv(A))

== orthogonal and symmetric
let n : dimension
let A, B : matrix(n, n)
assume orthogonal(A)
assume symmetric(A)
show A^2 = eye(n)

== an involution gives a projection
let n : dimension
let A, B : matrix(n, n)
assume A^2 = eye(n)
show idempotent((eye(n) + A)/2)

== unitary: products
let n : dimension
let A, B : complex matrix(n, n)
assume unitary(A)
assume unitary(B)
show unitary(A*B)

== unitary: similarity keeps Hermitian
let n : dimension
let A, B : complex matrix(n, n)
assume unitary(A)
assume hermitian(B)
show hermitian(A*B*A.H)

== unitary: similarity keeps traces
let n : dimension
let A, B : complex matrix(n, n)
assume unitary(A)
show tr(A*B*A.H) = tr(B)

== commuting with an inverse
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume commute(A, B)
show commute(inv(A), B)

== commuting inverses
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume invertible(B)
assume commute(A, B)
show inv(A)*inv(B) = inv(B)*inv(A)

== commuting with powers
let n : dimension
let A, B : matrix(n, n)
assume commute(A, B)
show A^3*B^2 = B^2*A^3

== commuting with a polynomial
let n : dimension
let A, B : matrix(n, n)
assume commute(A, B)
show commute(A^2 - 3*A + eye(n), B)

== a matrix commutes with its resolvent
let n : dimension
let A, B : matrix(n, n)
assume invertible(eye(n) - A)
show A*inv(eye(n) - A) = inv(eye(n) - A)*A

== symmetric products commute
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume symmetric(B)
assume symmetric(A*B)
show commute(A, B)

== commuting symmetric products
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume symmetric(B)
assume commute(A, B)
show symmetric(A*B)

== nilpotent of order two
let n : dimension
let A, B : matrix(n, n)
assume A*A = zeros(n, n)
show inv(eye(n) - A) = eye(n) + A

== nilpotent of order three
let n : dimension
let A, B : matrix(n, n)
assume A^3 = zeros(n, n)
show inv(eye(n) - A) = eye(n) + A + A^2

== nilpotent of order four
let n : dimension
let A, B : matrix(n, n)
assume A^4 = zeros(n, n)
show inv(eye(n) + A) = eye(n) - A + A^2 - A^3

== Neumann's finite sum
let n : dimension
let A, B : matrix(n, n)
assume invertible(eye(n) - A)
show inv(eye(n) - A) = eye(n) + A + A^2 + A^3*inv(eye(n) - A)

== the difference of inverses
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume invertible(B)
show inv(A) - inv(B) = inv(A)*(B - A)*inv(B)

== the first resolvent identity
let n : dimension
let A, B : matrix(n, n)
let s, t : real
assume invertible(A - s*eye(n))
assume invertible(A - t*eye(n))
show inv(A - s*eye(n)) - inv(A - t*eye(n)) = (s - t)*inv(A - s*eye(n))*inv(A - t*eye(n))

== idempotent: the inverse of two minus it
let n : dimension
let A, B : matrix(n, n)
assume idempotent(A)
show inv(2*eye(n) - A) = (eye(n) + A)/2

== one side suffices
let n : dimension
let A, B : matrix(n, n)
assume A*B = eye(n)
show B*A = eye(n)

== a symmetric inverse
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume invertible(A)
show symmetric(inv(A))

== a sum of squares that vanishes
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume norm2(A) = 0
show A = zeros(n, n)

== cancelling a unit
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume A*B = zeros(n, n)
show B = zeros(n, n)

== an invertible projection
let n : dimension
let A, B : matrix(n, n)
assume idempotent(A)
assume invertible(A)
show A = eye(n)
""")
FALSE = claims("""
== symmetric: the identity minus it
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
show invertible(eye(n) - A)

== Cayley of what is not skew
let n : dimension
let A, B : matrix(n, n)
assume invertible(eye(n) + A)
show orthogonal((eye(n) - A)*inv(eye(n) + A))

== complex skew with T
let n : dimension
let A : complex matrix(n, n)
assume A.T = -A
show invertible(eye(n) + A)

== orthogonal sums
let n : dimension
let A, B : matrix(n, n)
assume orthogonal(A)
assume orthogonal(B)
show orthogonal(A + B)

== commuting with one, so with the other
let n : dimension
let A, B : matrix(n, n)
let C : matrix(n, n)
assume commute(A, B)
assume commute(B, C)
show commute(A, C)

== nilpotent of order two, with a sign
let n : dimension
let A, B : matrix(n, n)
assume A*A = zeros(n, n)
show inv(eye(n) - A) = eye(n) - A

== an involution is not orthogonal
let n : dimension
let A, B : matrix(n, n)
assume A^2 = eye(n)
show orthogonal(A)

== symmetric products do not commute
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume symmetric(B)
show commute(A, B)

== the difference of inverses with a sign
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume invertible(B)
show inv(A) - inv(B) = inv(A)*(A - B)*inv(B)

== a skew square is not positive
let n : dimension
let A, B : matrix(n, n)
assume A.T = -A
show positive_semidefinite(A^2)

== an idempotent is the identity
let n : dimension
let A, B : matrix(n, n)
assume idempotent(A)
show A = eye(n)
""")


@pytest.mark.parametrize("name", TRUE)
def test_it_is_proved(name: str) -> None:
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_its_false_neighbour_is_refuted(name: str) -> None:
    assert_refuted(FALSE[name])
