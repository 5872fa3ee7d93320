"""Sums of inverses, blocks and ranges of semidefinite sums, traces of inverses."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== a sum of inverses has an inverse
let n : dimension
let A, B : complex matrix(n, n)
assume invertible(A)
assume invertible(B)
assume invertible(A + B)
show invertible(inv(A) + inv(B))

== a difference with the inverse of a transpose
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume invertible(B)
assume invertible(A.T - B)
show invertible(inv(A).T - inv(B))

== the Hua identity
let n : dimension
let A, B : complex matrix(n, n)
assume invertible(A)
assume invertible(B)
assume invertible(eye(n) - A*B)
show A - inv(inv(A) + inv(inv(B) - A)) = A*B*A

== the Hermitian part of an inverse
let n : dimension
let A : complex matrix(n, n)
assume positive_definite(A + A.H)
show positive_definite(inv(A) + inv(A).H)

== the parallel sum is symmetric
let n : dimension
let A, B : complex matrix(n, n)
assume positive_semidefinite(A)
assume positive_semidefinite(B)
show A*pinv(A + B)*B = B*pinv(A + B)*A

== the range of a sum of semidefinite matrices
let n : dimension
let A, B : complex matrix(n, n)
assume positive_semidefinite(A)
assume positive_semidefinite(B)
show B*pinv(A + B)*(A + B) = B

== the range of the first corner
let n, k : dimension
let A : complex matrix(n, n)
let B : complex matrix(n, k)
let C : complex matrix(k, k)
assume positive_semidefinite(block([[A, B], [B.H, C]]))
show A*pinv(A)*B = B

== the Schur complement of the first corner has an inverse
let n, k : dimension
let A : complex matrix(n, n)
let B : complex matrix(n, k)
let C : complex matrix(k, n)
let D : complex matrix(k, k)
assume invertible(A)
assume invertible(block([[A, B], [C, D]]))
show invertible(D - C*inv(A)*B)

== the Schur complement of the last corner has an inverse
let n, k : dimension
let A : complex matrix(n, n)
let B : complex matrix(n, k)
let C : complex matrix(k, n)
let D : complex matrix(k, k)
assume invertible(D)
assume invertible(block([[A, B], [C, D]]))
show invertible(A - B*inv(D)*C)

== a factor of a unit by an equation
let n : dimension
let A, B, C : matrix(n, n)
assume invertible(C)
assume B*A = C
show invertible(A)

== a block matrix with a zero corner
let n : dimension
let B, C, D : complex matrix(n, n)
assume invertible(B)
assume invertible(C)
show invertible(block([[zeros(n, n), B], [C, D]]))

== the inverse of a symplectic matrix
let n : dimension
let A, B, C, D : matrix(n, n)
define M = block([[A, B], [C, D]])
define J = block([[zeros(n, n), eye(n)], [-eye(n), zeros(n, n)]])
assume M.T*J*M = J
show inv(M) = block([[D.T, -B.T], [-C.T, A.T]])

== the gain of recursive least squares
let M : dimension
let lam : positive
let P : complex matrix(M, M)
let u : complex vector(M)
assume positive_definite(P)
show inv(lam*inv(P) + u*u.H)*u = P*u/(lam + u.H*P*u)

== leverages
let n, p : dimension
let X : matrix(n, p)
assume full_column_rank(X)
define P = X*inv(X.T*X)*X.T
show sum(P[j, j], j, 1, n) = p

== the traces of a definite matrix and of its inverse
let n : dimension
let A : matrix(n, n)
assume positive_definite(A)
show n^2 <= tr(A)*tr(inv(A))
""")

FALSE = claims("""
== a sum of inverses without an inverse
let n : dimension
let A, B : complex matrix(n, n)
assume invertible(A)
assume invertible(B)
show invertible(inv(A) + inv(B))

== the transpose forgotten
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume invertible(B)
assume invertible(A - B)
show invertible(inv(A).T - inv(B))

== the Hua identity with the factors exchanged
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume invertible(B)
assume invertible(eye(n) - A*B)
show A - inv(inv(A) + inv(inv(B) - A)) = B*A*B

== the symmetric part of the inverse of any matrix
let n : dimension
let A : matrix(n, n)
assume invertible(A)
show positive_definite(inv(A) + inv(A).T)

== the parallel sum of symmetric matrices
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume symmetric(B)
show A*pinv(A + B)*B = B*pinv(A + B)*A

== the range of a sum with one semidefinite summand
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume symmetric(B)
show B*pinv(A + B)*(A + B) = B

== the range of a semidefinite corner of any matrix
let n, k : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, k)
assume positive_semidefinite(A)
assume symmetric(block([[A, B], [B.T, C]]))
show A*pinv(A)*B = B

== a Schur complement with a sign wrong
let n, k : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, n)
let D : matrix(k, k)
assume invertible(A)
assume invertible(block([[A, B], [C, D]]))
show invertible(D + C*inv(A)*B)

== a block matrix with a zero corner and a singular neighbour
let n : dimension
let B, C, D : matrix(n, n)
assume invertible(B)
assume invertible(D)
show invertible(block([[zeros(n, n), B], [C, D]]))

== the inverse of a symplectic matrix without its signs
let n : dimension
let A, B, C, D : matrix(n, n)
define M = block([[A, B], [C, D]])
define J = block([[zeros(n, n), eye(n)], [-eye(n), zeros(n, n)]])
assume M.T*J*M = J
show inv(M) = block([[D.T, B.T], [C.T, A.T]])

== the gain of recursive least squares without the forgetting
let M : dimension
let lam : positive
let P : complex matrix(M, M)
let u : complex vector(M)
assume positive_definite(P)
show inv(lam*inv(P) + u*u.H)*u = P*u/(1 + u.H*P*u)

== leverages that sum to the number of rows
let n, p : dimension
let X : matrix(n, p)
assume full_column_rank(X)
define P = X*inv(X.T*X)*X.T
show sum(P[j, j], j, 1, n) = n

== the traces of an invertible symmetric matrix and of its inverse
let n : dimension
let A : matrix(n, n)
assume symmetric(A)
assume invertible(A)
show n^2 <= tr(A)*tr(inv(A))
""")


@pytest.mark.parametrize("name", TRUE)
def test_it_is_proved(name: str):
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_its_false_neighbour_is_refuted(name: str):
    assert_refuted(FALSE[name])
