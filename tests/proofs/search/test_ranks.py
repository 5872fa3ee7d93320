"""Ranks: of products, Gram matrices, projections, blocks; full rank."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== the rank of the transpose
let n, k : dimension
let A, B : matrix(n, k)
show rank(A.T) = rank(A)

== the rank of a Gram matrix
let n, k : dimension
let A, B : matrix(n, k)
show rank(A.T*A) = rank(A)

== the rank of the other Gram matrix
let n, k : dimension
let A, B : matrix(n, k)
show rank(A*A.T) = rank(A.T*A)

== the rank of a complex Gram matrix
let n, k : dimension
let A : complex matrix(n, k)
show rank(A.H*A) = rank(A)

== the rank of a pseudo-inverse
let n, k : dimension
let A, B : matrix(n, k)
show rank(pinv(A)) = rank(A)

== the rank of a projection onto a range
let n, k : dimension
let A, B : matrix(n, k)
show rank(A*pinv(A)) = rank(A)

== the trace of a projection onto a range
let n, k : dimension
let A, B : matrix(n, k)
show tr(A*pinv(A)) = rank(A)

== the trace of the projection onto a kernel
let n, k : dimension
let A, B : matrix(n, k)
show tr(eye(k) - pinv(A)*A) = k - rank(A)

== the rank of a projection
let n : dimension
let P : matrix(n, n)
assume idempotent(P)
show rank(P) = tr(P)

== rank plus nullity of a projection
let n : dimension
let P : matrix(n, n)
assume idempotent(P)
show rank(P) + rank(eye(n) - P) = n

== rank plus nullity
let n, k : dimension
let A, B : matrix(n, k)
show rank(A) + rank(eye(k) - pinv(A)*A) = k

== an invertible matrix has full rank
let n : dimension
let P : matrix(n, n)
assume invertible(P)
show rank(P) = n

== an invertible factor on the left
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
let U : matrix(n, n)
assume invertible(U)
show rank(U*A) = rank(A)

== an invertible factor on the right
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
let U : matrix(k, k)
assume invertible(U)
show rank(A*U) = rank(A)

== invertible factors on both sides
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
let U : matrix(n, n)
let V : matrix(k, k)
assume invertible(U)
assume invertible(V)
show rank(U*A*V) = rank(A)

== a full-rank factorization
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
assume full_column_rank(A)
assume full_row_rank(B)
show rank(A*B) = k

== an injective factor
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
assume full_column_rank(A)
show rank(A*B) = rank(B)

== a surjective factor
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
assume full_row_rank(B)
show rank(A*B) = rank(A)

== a product has no larger rank than its first factor
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
show rank(A*B) <= rank(A)

== a product has no larger rank than its last factor
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
show rank(A*B) <= rank(B)

== a product of three
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
let C : matrix(m, n)
show rank(A*B*C) <= rank(B)

== the rank of a sum
let n, k : dimension
let A, B : matrix(n, k)
show rank(A + B) <= rank(A) + rank(B)

== the rank of a difference
let n, k : dimension
let A, B : matrix(n, k)
show rank(A - B) <= rank(A) + rank(B)

== the rank of a difference from below
let n, k : dimension
let A, B : matrix(n, k)
show rank(A) - rank(B) <= rank(A - B)

== rank and rows
let n, k : dimension
let A, B : matrix(n, k)
show rank(A) <= n

== rank and columns
let n, k : dimension
let A, B : matrix(n, k)
show rank(A.T) <= k

== Sylvester's inequality
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
show rank(A) + rank(B) - k <= rank(A*B)

== Frobenius's inequality
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
let C : matrix(m, n)
show rank(A*B) + rank(B*C) <= rank(B) + rank(A*B*C)

== full row rank of a product
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
assume full_row_rank(A)
assume full_row_rank(B)
show full_row_rank(A*B)

== full column rank of a product
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
assume full_column_rank(A)
assume full_column_rank(B)
show full_column_rank(A*B)

== full rank and the transpose
let n, k : dimension
let A, B : matrix(n, k)
assume full_row_rank(A)
show full_column_rank(A.T)

== an invertible matrix has full row rank
let n : dimension
let P : matrix(n, n)
assume invertible(P)
show full_row_rank(P)

== a wider matrix of full row rank
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
let D : matrix(n, m)
assume full_row_rank(A)
show full_row_rank(block([[A, D]]))

== a taller matrix of full column rank
let n, k : dimension
let A, B : matrix(n, k)
assume full_column_rank(B)
show full_column_rank(block([[A], [B]]))

== full row rank by the rank
let n, k : dimension
let A, B : matrix(n, k)
assume rank(A) = n
show full_row_rank(A)

== a Gram matrix that is invertible
let n, k : dimension
let A, B : matrix(n, k)
assume invertible(A*A.T)
show full_row_rank(A)

== the rank of a Kronecker product
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
show rank(kron(A, B)) = rank(A)*rank(B)

== the rank of zero
let n, k : dimension
let A, B : matrix(n, k)
show rank(zeros(n, k)) = 0

== the rank of the identity
let n : dimension
let P : matrix(n, n)
show rank(eye(n)) = n

== the rank of a multiple
let n, k : dimension
let A, B : matrix(n, k)
let c : nonzero
show rank(c*A) = rank(A)

== the rank of blocks on the diagonal
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
show rank(block([[A, zeros(n, m)], [zeros(k, k), B]])) = rank(A) + rank(B)

== Guttman's rank
let n, k, m : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(m, n)
let D : matrix(m, k)
assume invertible(A)
show rank(block([[A, B], [C, D]])) = rank(A) + rank(D - C*inv(A)*B)

== similar matrices
let n : dimension
let P : matrix(n, n)
let S : matrix(n, n)
assume invertible(S)
show rank(S*P*inv(S)) = rank(P)

== a congruence by a definite square
let n, k : dimension
let A, B : matrix(n, k)
let S : matrix(n, n)
assume positive_definite(S)
assume full_column_rank(A)
show rank(A.T*S*A) = k

== the rank of an outer product
let n : dimension
let x, y : vector(n)
show rank(x*y.T) <= 1

== the rank of a hat matrix
let n, k : dimension
let A, B : matrix(n, k)
assume full_column_rank(A)
show tr(A*inv(A.T*A)*A.T) = k

== the degrees of freedom of residuals
let n, k : dimension
let A, B : matrix(n, k)
assume full_column_rank(A)
show rank(eye(n) - A*inv(A.T*A)*A.T) = n - k

== square of full row rank
let n : dimension
let P : matrix(n, n)
assume full_row_rank(P)
show invertible(P)
""")
FALSE = claims("""
== the rank of a complex T-Gram matrix
let n, k : dimension
let A : complex matrix(n, k)
show rank(A.T*A) = rank(A)

== the rank of a sum is not the sum
let n, k : dimension
let A, B : matrix(n, k)
show rank(A + B) = rank(A) + rank(B)

== the trace is no rank
let n : dimension
let P : matrix(n, n)
show rank(P) = tr(P)

== a product has no smaller rank
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
show rank(A) <= rank(A*B)

== a factor that is not injective
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
assume full_row_rank(A)
show rank(A*B) = rank(B)

== ranks of products do not commute
let n : dimension
let A, B : matrix(n, n)
show rank(A*B) = rank(B*A)

== full row rank of one factor
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
assume full_row_rank(A)
show full_row_rank(A*B)

== a taller matrix of full row rank
let n, k : dimension
let A, B : matrix(n, k)
assume full_row_rank(A)
show full_row_rank(block([[A], [B]]))

== Sylvester's inequality with the wrong size
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
show rank(A) + rank(B) - 1 <= rank(A*B)

== the rank of a multiple by zero
let n, k : dimension
let A, B : matrix(n, k)
let c : real
show rank(c*A) = rank(A)

== the rank of blocks above the diagonal
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
let D : matrix(n, m)
show rank(block([[A, D], [zeros(k, k), B]])) = rank(A) + rank(B)

== full column rank the other way
let n, k : dimension
let A, B : matrix(n, k)
assume full_row_rank(A)
show full_column_rank(A)

== Guttman with a singular corner
let n : dimension
let A, B, C, D : matrix(n, n)
assume invertible(D)
show rank(block([[A, B], [C, D]])) = rank(A) + n

== an outer product has rank one
let n : dimension
let x, y : vector(n)
show rank(x*y.T) = 1
""")


@pytest.mark.parametrize("name", TRUE)
def test_it_is_proved(name: str) -> None:
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_its_false_neighbour_is_refuted(name: str) -> None:
    assert_refuted(FALSE[name])
