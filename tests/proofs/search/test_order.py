"""Loewner's order and definiteness."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== the definition
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume symmetric(B)
assume positive_semidefinite(B - A)
show A <= B

== the definition read
let n : dimension
let A, B : matrix(n, n)
assume A <= B
show positive_semidefinite(B - A)

== both sides are symmetric
let n : dimension
let A, B : matrix(n, n)
assume A <= B
show symmetric(B)

== reflexive
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
show A <= A

== transitive
let n : dimension
let A, B : matrix(n, n)
let C : matrix(n, n)
assume A <= B
assume B <= C
show A <= C

== antisymmetric
let n : dimension
let A, B : matrix(n, n)
assume A <= B
assume B <= A
show A = B

== sums
let n : dimension
let A, B : matrix(n, n)
let C, D : matrix(n, n)
assume A <= B
assume C <= D
show A + C <= B + D

== a multiple
let n : dimension
let A, B : matrix(n, n)
let c : nonnegative
assume A <= B
show c*A <= c*B

== the negative
let n : dimension
let A, B : matrix(n, n)
assume A <= B
show -B <= -A

== a congruence
let n : dimension
let A, B : matrix(n, n)
let k : dimension
let X : matrix(k, n)
assume A <= B
show X*A*X.T <= X*B*X.T

== a complex congruence
let n : dimension
let A, B : complex matrix(n, n)
let k : dimension
let X : matrix(k, n)
assume A <= B
show X*A*X.H <= X*B*X.H

== a shift
let n : dimension
let A, B : matrix(n, n)
let c : real
assume A <= B
show A + c*eye(n) <= B + c*eye(n)

== the inverse is antitone
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume A <= B
show inv(B) <= inv(A)

== at least the identity
let n : dimension
let A, B : matrix(n, n)
assume eye(n) <= A
show inv(A) <= eye(n)

== above a definite matrix all is definite
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume A <= B
show positive_definite(B)

== above a definite matrix all is invertible
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume A <= B
show B*inv(B) = eye(n)

== traces
let n : dimension
let A, B : matrix(n, n)
assume A <= B
show tr(A) <= tr(B)

== determinants
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume A <= B
show det(A) <= det(B)

== diagonal entries
let n : dimension
let A, B : matrix(n, n)
let j : index(n)
assume A <= B
show A[j, j] <= B[j, j]

== quadratic forms
let n : dimension
let A, B : matrix(n, n)
let x : vector(n)
assume A <= B
show x.T*A*x <= x.T*B*x

== a quadratic form
let n : dimension
let A, B : matrix(n, n)
let x : vector(n)
assume positive_semidefinite(A)
show x.T*A*x >= 0

== a quadratic form is positive
let n : dimension
let A, B : matrix(n, n)
let x : vector(n)
assume positive_definite(A)
assume x != zeros(n, 1)
show x.T*A*x > 0

== definite by its forms
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume for all x : vector(n) : x.T*A*x >= 0
show positive_semidefinite(A)

== a complex quadratic form
let n : dimension
let A, B : complex matrix(n, n)
let x : complex vector(n)
assume positive_semidefinite(A)
show positive_semidefinite(x.H*A*x)

== the square of a symmetric matrix
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
show positive_semidefinite(A^2)

== the square of a Hermitian matrix
let n : dimension
let A, B : complex matrix(n, n)
assume hermitian(A)
show positive_semidefinite(A*A)

== a Gram matrix
let n, k : dimension
let A : matrix(n, k)
show positive_semidefinite(A.T*A)

== the cube of a semidefinite matrix
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
show positive_semidefinite(A^3)

== a square expanded
let n : dimension
let A, B : matrix(n, n)
show A*B.T + B*A.T <= A*A.T + B*B.T

== the square of a sum
let n : dimension
let A, B : matrix(n, n)
show (A + B)*(A + B).T <= 2*A*A.T + 2*B*B.T

== a definite Hermitian part
let n : dimension
let A, B : complex matrix(n, n)
assume positive_definite(A + A.H)
show A*inv(A) = eye(n)

== a definite symmetric part
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume B.T = -B
show invertible(A + B)

== the covariance after an update
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_semidefinite(P)
assume positive_definite(R)
show P - P*H.T*inv(H*P*H.T + R)*H*P <= P

== the covariance after an update is semidefinite
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_semidefinite(P)
assume positive_definite(R)
show positive_semidefinite(P - P*H.T*inv(H*P*H.T + R)*H*P)

== Joseph's form
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_semidefinite(P)
assume positive_definite(R)
let K : matrix(n, k)
show positive_semidefinite((eye(n) - K*H)*P*(eye(n) - K*H).T + K*R*K.T)

== the covariance under any gain
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_semidefinite(P)
assume positive_definite(R)
let K : matrix(n, k)
show P - P*H.T*inv(H*P*H.T + R)*H*P <= (eye(n) - K*H)*P*(eye(n) - K*H).T + K*R*K.T

== the information form is smaller
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_definite(P)
assume positive_definite(R)
show inv(inv(P) + H.T*inv(R)*H) <= P

== the parallel sum
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume positive_definite(B)
show positive_semidefinite(A - A*inv(A + B)*A)

== the parallel sum is below
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume positive_definite(B)
show A - A*inv(A + B)*A <= A

== the parallel sum is symmetric in both
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume positive_definite(B)
show A - A*inv(A + B)*A = B - B*inv(A + B)*B

== the parallel sum by inverses
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume positive_definite(B)
show A - A*inv(A + B)*A = inv(inv(A) + inv(B))

== Schur's test
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(R)
assume positive_semidefinite(S - C*inv(R)*C.T)
show positive_semidefinite(block([[S, C], [C.T, R]]))

== Schur's test read
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(R)
assume positive_semidefinite(block([[S, C], [C.T, R]]))
show positive_semidefinite(S - C*inv(R)*C.T)

== Schur's test, the other corner
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(S)
assume positive_semidefinite(R - C.T*inv(S)*C)
show positive_semidefinite(block([[S, C], [C.T, R]]))

== Schur's strict test
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(R)
assume positive_definite(S - C*inv(R)*C.T)
show positive_definite(block([[S, C], [C.T, R]]))

== Schur's strict test read
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(block([[S, C], [C.T, R]]))
show positive_definite(S - C*inv(R)*C.T)

== Schur's strict test read from the other corner
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(block([[S, C], [C.T, R]]))
show positive_definite(R - C.T*inv(S)*C)

== Schur's test in the order
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(R)
assume symmetric(S)
assume positive_semidefinite(block([[S, C], [C.T, R]]))
show C*inv(R)*C.T <= S

== blocks on the diagonal
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(S)
assume positive_definite(R)
show positive_definite(block([[S, zeros(n, k)], [zeros(k, n), R]]))

== semidefinite blocks on the diagonal
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_semidefinite(S)
assume positive_semidefinite(R)
show positive_semidefinite(block([[S, zeros(n, k)], [zeros(k, n), R]]))

== corners of a semidefinite block
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_semidefinite(block([[S, C], [C.T, R]]))
show positive_semidefinite(S)

== a block of one matrix
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
show positive_semidefinite(block([[A, A], [A, A]]))

== a block with an inverse
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
show positive_semidefinite(block([[A, eye(n)], [eye(n), inv(A)]]))

== the sum with the inverse
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
show 2*eye(n) <= A + inv(A)

== a convex combination
let n : dimension
let A, B : matrix(n, n)
let t : real
assume t >= 0
assume t <= 1
assume positive_semidefinite(A)
assume positive_semidefinite(B)
show positive_semidefinite(t*A + (1 - t)*B)

== the trace of a semidefinite matrix
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
show tr(A) >= 0

== the determinant of a semidefinite matrix
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
show det(A) >= 0

== a diagonal entry
let n : dimension
let A, B : matrix(n, n)
let j : index(n)
assume positive_definite(A)
show A[j, j] >= 0

== semidefinite without a trace
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume tr(A) = 0
show A = zeros(n, n)

== semidefinite and invertible
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume invertible(A)
show positive_definite(A)

== semidefinite plus a ridge
let n : dimension
let A, B : matrix(n, n)
let c : positive
assume positive_semidefinite(A)
show positive_definite(A + c*eye(n))

== contractions
let n, k : dimension
let A : matrix(n, k)
assume A.T*A <= eye(k)
let x : vector(k)
show norm2(A*x) <= norm2(x)

== a contraction from its norms
let n, k : dimension
let A : matrix(n, k)
assume for all x : vector(k) : norm2(A*x) <= norm2(x)
show A.T*A <= eye(k)

== between zero and the identity
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume A <= eye(n)
show A^2 <= A

== a definite Kronecker product
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume positive_definite(B)
show positive_definite(kron(A, B))

== Schur's product
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume positive_semidefinite(B)
show positive_semidefinite(hadamard(A, B))

== the trace of a product
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume positive_semidefinite(B)
show tr(A*B) >= 0

== traces of products
let n : dimension
let A, B : matrix(n, n)
let C : matrix(n, n)
assume A <= B
assume positive_semidefinite(C)
show tr(C*A) <= tr(C*B)

== completing the square
let n : dimension
let A, B : matrix(n, n)
let x, b : vector(n)
assume positive_definite(A)
show -b.T*inv(A)*b <= x.T*A*x - 2*b.T*x

== a ridge shrinks
let n, k : dimension
let A : matrix(n, k)
let c : positive
show A*inv(A.T*A + c*eye(k))*A.T <= eye(n)
""")
FALSE = claims("""
== the order is partial
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume symmetric(B)
show A <= B

== squares are not monotone
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume positive_semidefinite(B)
assume A <= B
show A^2 <= B^2

== the inverse is not monotone
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume positive_definite(B)
assume A <= B
show inv(A) <= inv(B)

== the inverse of what is not definite
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume invertible(B)
assume A <= B
show inv(B) <= inv(A)

== a product of semidefinite matrices
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume positive_semidefinite(B)
show positive_semidefinite(A*B)

== a negative multiple
let n : dimension
let A, B : matrix(n, n)
let c : real
assume A <= B
show c*A <= c*B

== determinants without a sign
let n : dimension
let A, B : matrix(n, n)
assume A <= B
show det(A) <= det(B)

== all entries
let n : dimension
let A, B : matrix(n, n)
let k, j : index(n)
assume A <= B
show A[k, j] <= B[k, j]

== a difference
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume positive_semidefinite(B)
show positive_semidefinite(A - B)

== one-sided products
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume positive_semidefinite(B)
let C : matrix(n, n)
assume A <= B
assume positive_semidefinite(C)
show C*A <= C*B

== a strict form at zero
let n : dimension
let A, B : matrix(n, n)
let x : vector(n)
assume positive_definite(A)
show x.T*A*x > 0

== a square that is not symmetric
let n : dimension
let A, B : matrix(n, n)
show positive_semidefinite(A^2)

== a complex square with T
let n : dimension
let A, B : complex matrix(n, n)
show positive_semidefinite(A*A.T)

== corners do not make a block
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_semidefinite(S)
assume positive_semidefinite(R)
assume symmetric(S)
show positive_semidefinite(block([[S, C], [C.T, R]]))

== the covariance grows
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_semidefinite(P)
assume positive_definite(R)
show P <= P - P*H.T*inv(H*P*H.T + R)*H*P

== the parallel sum is not the mean
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume positive_definite(B)
show A <= A - A*inv(A + B)*A

== at most the identity
let n : dimension
let A, B : matrix(n, n)
assume A <= eye(n)
show A^2 <= A

== a symmetric part that is not definite
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume B.T = -B
show invertible(A + B)

== a shifted sum with the inverse
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume symmetric(A)
show 2*eye(n) <= A + inv(A)

== the trace of a symmetric product
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume symmetric(B)
assume positive_semidefinite(A)
show tr(A*B) >= 0

== sums of inverses
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume positive_definite(B)
show inv(A) + inv(B) <= inv(A + B)

== twice a square
let n : dimension
let A, B : matrix(n, n)
show (A + B)*(A + B).T <= A*A.T + B*B.T

== above a semidefinite matrix
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume A <= B
show positive_definite(B)

== Schur's test with the wrong sign
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(R)
assume positive_semidefinite(S + C*inv(R)*C.T)
show positive_semidefinite(block([[S, C], [C.T, R]]))
""")


@pytest.mark.parametrize("name", TRUE)
def test_it_is_proved(name: str) -> None:
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_its_false_neighbour_is_refuted(name: str) -> None:
    assert_refuted(FALSE[name])
