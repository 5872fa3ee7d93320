"""Projections: orthogonal, oblique, complementary; ranges in each other."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== the complement of a projection
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
show idempotent(eye(n) - P)

== the complement as an equation
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
show (eye(n) - P)*P = zeros(n, n)

== a larger range from either side
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
assume symmetric(Q)
assume idempotent(Q)
assume P*Q = Q
show Q*P = Q

== commuting projections
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
assume idempotent(Q)
assume commute(P, Q)
show idempotent(P*Q)

== the sum of projections that annihilate each other
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
assume idempotent(Q)
assume P*Q = zeros(n, n)
assume Q*P = zeros(n, n)
show idempotent(P + Q)

== a sum that is a projection
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
assume idempotent(Q)
assume idempotent(P + Q)
show P*Q = zeros(n, n)

== the difference of nested projections
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
assume symmetric(Q)
assume idempotent(Q)
assume P*Q = Q
show idempotent(P - Q)

== orthogonal projections onto a range
let n, k : dimension
let A : matrix(n, k)
show idempotent(A*pinv(A))

== complex orthogonal projections onto a range
let n, k : dimension
let A : complex matrix(n, k)
show hermitian(A*pinv(A))

== the projection onto a kernel
let n, k : dimension
let A : matrix(n, k)
show idempotent(eye(k) - pinv(A)*A)

== the hat matrix is symmetric
let n, k : dimension
let A : matrix(n, k)
assume full_column_rank(A)
show symmetric(A*inv(A.T*A)*A.T)

== the hat matrix is idempotent
let n, k : dimension
let A : matrix(n, k)
assume full_column_rank(A)
show idempotent(A*inv(A.T*A)*A.T)

== residuals are orthogonal to the columns
let n, k : dimension
let A : matrix(n, k)
let b : vector(n)
assume full_column_rank(A)
show A.T*(b - A*inv(A.T*A)*A.T*b) = zeros(k, 1)

== the hat matrix is the orthogonal projection
let n, k : dimension
let A : matrix(n, k)
assume full_column_rank(A)
show A*inv(A.T*A)*A.T = A*pinv(A)

== an oblique projection
let n, k : dimension
let A : matrix(n, k)
let W : matrix(n, k)
assume invertible(W.T*A)
show idempotent(A*inv(W.T*A)*W.T)

== an oblique projection fixes its range
let n, k : dimension
let A : matrix(n, k)
let W : matrix(n, k)
assume invertible(W.T*A)
show A*inv(W.T*A)*W.T*A = A

== a reflection is orthogonal
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
show orthogonal(eye(n) - 2*P)

== a reflection is its own inverse
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
show inv(eye(n) - 2*P) = eye(n) - 2*P

== nested orthogonal projections are ordered
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
assume symmetric(Q)
assume idempotent(Q)
assume P*Q = P
show P <= Q

== an orthogonal projection is semidefinite
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
show positive_semidefinite(P)

== an orthogonal projection is at most the identity
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
show P <= eye(n)

== a similar projection
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
assume invertible(Q)
show idempotent(Q*P*inv(Q))

== a projection shortens
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
let x : vector(n)
show norm2(P*x) <= norm2(x)

== Pythagoras
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
let x : vector(n)
show norm2(x) = norm2(P*x) + norm2(x - P*x)

== the nearest point of the range
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
let x, y : vector(n)
show norm2(x - P*x) <= norm2(x - P*y)

== P*P.T = P makes a projection symmetric
let n : dimension
let P, Q : matrix(n, n)
assume P*P.T = P
show symmetric(P)

== P*P.T = P makes a projection
let n : dimension
let P, Q : matrix(n, n)
assume P*P.T = P
show idempotent(P)

== a partial isometry
let n, k : dimension
let A : matrix(n, k)
assume A*A.T*A = A
show idempotent(A*A.T)

== an inclusion of ranges
let n, k : dimension
let A : matrix(n, k)
let B, X : matrix(n, n)
let Y : matrix(k, n)
assume B = A*Y
show A*pinv(A)*B = B

== a projection transposed
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
show idempotent(P.T)

== powers of a projection
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
show P^5 = P

== the inverse of a shifted projection
let n : dimension
let P, Q : matrix(n, n)
let c : positive
assume idempotent(P)
show inv(eye(n) + c*P) = eye(n) - c/(1 + c)*P

== the projection onto a vector
let n : dimension
let x : vector(n)
assume norm2(x) > 0
show idempotent(x*x.T/norm2(x))

== a Householder reflection
let n : dimension
let x : vector(n)
assume norm2(x) > 0
show orthogonal(eye(n) - 2*x*x.T/norm2(x))

== the centering matrix
let n : dimension
show idempotent(eye(n) - ones(n, n)/n)

== the squared trace form of an orthogonal projection
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
show norm2(P) = tr(P)

== a weighted projection
let n, k : dimension
let A : matrix(n, k)
let W : matrix(n, n)
assume positive_definite(W)
assume full_column_rank(A)
show idempotent(A*inv(A.T*W*A)*A.T*W)
""")
FALSE = claims("""
== an oblique projection is not symmetric
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
show symmetric(P)

== a product of projections is none
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
assume symmetric(Q)
assume idempotent(Q)
show idempotent(P*Q)

== one product that vanishes is not enough
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
assume idempotent(Q)
assume P*Q = zeros(n, n)
show idempotent(P + Q)

== an oblique projection is not below the identity
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
show P <= eye(n)

== an oblique projection may lengthen
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
let x : vector(n)
show norm2(P*x) <= norm2(x)

== an oblique reflection is not orthogonal
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
show orthogonal(eye(n) - 2*P)

== a larger range, oblique
let n : dimension
let P, Q : matrix(n, n)
assume idempotent(P)
assume idempotent(Q)
assume P*Q = Q
show Q*P = Q

== the difference of unrelated projections
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
assume symmetric(Q)
assume idempotent(Q)
show idempotent(P - Q)

== projections are not ordered the other way
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
assume symmetric(Q)
assume idempotent(Q)
assume P*Q = P
show Q <= P

== a symmetric matrix is no projection
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
show norm2(P) = tr(P)

== the oblique projection with T for an inverse
let n, k : dimension
let A : matrix(n, k)
let W : matrix(n, k)
assume invertible(W.T*A)
show symmetric(A*inv(W.T*A)*W.T)
""")


@pytest.mark.parametrize("name", TRUE)
def test_it_is_proved(name: str) -> None:
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_its_false_neighbour_is_refuted(name: str) -> None:
    assert_refuted(FALSE[name])
