"""Facts that every textbook states: adjugates, determinants, diagonals, forms, Cauchy-Schwarz."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== an inclusion of null spaces
let m, n, k : dimension
let A : matrix(m, n)
let B : matrix(k, n)
assume for all x : vector(n) where A*x = zeros(m, 1) : B*x = zeros(k, 1)
show B*pinv(A)*A = B

== an inclusion of complex null spaces
let m, n, k : dimension
let A : complex matrix(m, n)
let B : complex matrix(k, n)
assume for all x : complex vector(n) where A*x = zeros(m, 1) : B*x = zeros(k, 1)
show B*pinv(A)*A = B

== the pseudo-inverse of a semidefinite matrix
let n : dimension
let A : complex matrix(n, n)
assume positive_semidefinite(A)
show positive_semidefinite(pinv(A))

== a trace of four by vec and kron
let m, n, p, q : dimension
let A : matrix(m, q)
let B : matrix(m, n)
let C : matrix(n, p)
let D : matrix(q, p)
show tr(A.T*B*C*D.T) = inner(vec(A), kron(D, B)*vec(C))

== ones are neutral entrywise
let n, k : dimension
let A : matrix(n, k)
show hadamard(A, ones(n, k)) = A

== a matrix times its adjugate
let n : dimension
let A : matrix(n, n)
show A*adj(A) = det(A)*eye(n)

== the determinant of a unitary matrix
let n : dimension
let W : complex matrix(n, n)
assume unitary(W)
show det(W)*conj(det(W)) = 1

== the determinant of an orthogonal matrix
let n : dimension
let Q : matrix(n, n)
assume orthogonal(Q)
show det(Q)^2 = 1

== odd skew matrices are singular
let p : dimension
let A : matrix(2*p + 1, 2*p + 1)
assume A.T = -A
show det(A) = 0

== Cauchy-Schwarz
let n : dimension
let x, y : vector(n)
show (x.T*y)^2 <= (x.T*x)*(y.T*y)

== Cauchy-Schwarz by norms
let n : dimension
let x, y : vector(n)
show inner(x, y)^2 <= norm2(x)*norm2(y)

== Cauchy-Schwarz in a semidefinite metric
let n : dimension
let x, y : vector(n)
let B : matrix(n, n)
assume positive_semidefinite(B)
show (x.T*B*y)^2 <= (x.T*B*x)*(y.T*B*y)

== Cauchy-Schwarz with an inverse
let n : dimension
let x, y : vector(n)
let B : matrix(n, n)
assume positive_definite(B)
show (x.T*y)^2 <= (x.T*B*x)*(y.T*inv(B)*y)

== Cauchy-Schwarz of matrices
let n, k : dimension
let A, B : matrix(n, k)
show tr(A.T*B)^2 <= tr(A.T*A)*tr(B.T*B)

== a diagonal matrix is symmetric
let n : dimension
let D : matrix(n, n)
assume diagonal(D)
show symmetric(D)

== the transpose of a diagonal matrix
let n : dimension
let D : matrix(n, n)
assume diagonal(D)
show D.T = D

== diagonal matrices commute
let n : dimension
let D, E : matrix(n, n)
assume diagonal(D)
assume diagonal(E)
show commute(D, E)

== equal at a vector
let n, k : dimension
let A, B : matrix(k, n)
let x : vector(n)
assume for all z : vector(n) : A*z = B*z
show A*x = B*x

== equal at all vectors
let n, k : dimension
let A, B : matrix(k, n)
assume for all z : vector(n) : A*z = B*z
show A = B

== a symmetric form that vanishes
let n : dimension
let A : matrix(n, n)
assume symmetric(A)
assume for all z : vector(n) : z.T*A*z = 0
show A = zeros(n, n)

== a complex form that vanishes
let n : dimension
let A : complex matrix(n, n)
assume for all z : complex vector(n) : z.H*A*z = 0
show A = zeros(n, n)

== projections in order are nested
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
assume symmetric(Q)
assume idempotent(Q)
assume P <= Q
show Q*P = P

== the derivative of the trace of a Kronecker product
let n, k : dimension
let A : matrix(k, k)
let X, V : matrix(n, n)
let t : real
define Y = X + t*V
show diff(tr(kron(A, Y)), t) = tr((tr(A)*eye(n)).T*V)

== row sums of entrywise products
let n, d : dimension
let P : matrix(n, n)
let V, G : matrix(n, d)
define O = P*V
define H = G*V.T
show hadamard(P, H)*ones(n, 1) = hadamard(O, G)*ones(d, 1)

== the square root is operator monotone
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume positive_semidefinite(B)
assume B^2 <= A^2
show B <= A

== the trace of a product of semidefinite matrices
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume positive_semidefinite(B)
show tr(A*B) <= tr(A)*tr(B)

== the trace of a product against its rearrangement
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume symmetric(B)
show tr(A*B*A*B) <= tr(A*A*B*B)
""")

FALSE = claims("""
== an inclusion of null spaces the other way
let m, n, k : dimension
let A : matrix(m, n)
let B : matrix(k, n)
assume for all x : vector(n) where B*x = zeros(k, 1) : A*x = zeros(m, 1)
show B*pinv(A)*A = B

== the pseudo-inverse of a symmetric matrix
let n : dimension
let A : matrix(n, n)
assume symmetric(A)
show positive_semidefinite(pinv(A))

== a trace of four with a transpose too few
let m, n, p, q : dimension
let A : matrix(m, q)
let B : matrix(m, n)
let C : matrix(n, p)
let D : matrix(q, p)
show tr(A.T*B*C*D.T) = -inner(vec(A), kron(D, B)*vec(C))

== an adjugate without its determinant
let n : dimension
let A : matrix(n, n)
show A*adj(A) = eye(n)

== the square of a unitary determinant
let n : dimension
let W : complex matrix(n, n)
assume unitary(W)
show det(W)^2 = 1

== an orthogonal matrix keeps the orientation
let n : dimension
let Q : matrix(n, n)
assume orthogonal(Q)
show det(Q) = 1

== even skew matrices are singular
let p : dimension
let A : matrix(2*p, 2*p)
assume A.T = -A
show det(A) = 0

== Cauchy-Schwarz the other way
let n : dimension
let x, y : vector(n)
show (x.T*y)^2 >= (x.T*x)*(y.T*y)

== Cauchy-Schwarz in an indefinite metric
let n : dimension
let x, y : vector(n)
let B : matrix(n, n)
assume symmetric(B)
show (x.T*B*y)^2 <= (x.T*B*x)*(y.T*B*y)

== Cauchy-Schwarz without a factor
let n : dimension
let x, y : vector(n)
show inner(x, y)^2 <= norm2(x)

== Cauchy-Schwarz in a metric and not its inverse
let n : dimension
let x, y : vector(n)
let B : matrix(n, n)
assume positive_definite(B)
show (x.T*y)^2 <= (x.T*B*x)*(y.T*B*y)

== a diagonal matrix commutes with all
let n : dimension
let D, E : matrix(n, n)
assume diagonal(D)
show commute(D, E)

== equal at one vector
let n, k : dimension
let A, B : matrix(k, n)
let x : vector(n)
assume A*x = B*x
show A = B

== a skew form that vanishes
let n : dimension
let A : matrix(n, n)
assume A.T = -A
assume for all z : vector(n) : z.T*A*z = 0
show A = zeros(n, n)

== a complex form that vanishes at real vectors
let n : dimension
let A : complex matrix(n, n)
assume for all z : vector(n) : z.T*A*z = 0
show A = zeros(n, n)

== projections in no order
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
assume symmetric(Q)
assume idempotent(Q)
show Q*P = P

== row sums with the factors exchanged
let n, d : dimension
let P : matrix(n, n)
let V, G : matrix(n, d)
define O = P*V
define H = G*V.T
show hadamard(P, H)*ones(n, 1) = hadamard(G, O)*ones(d, 1)*2

== the square is operator monotone
let n : dimension
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume positive_semidefinite(B)
assume B <= A
show B^2 <= A^2

== the trace of a product of symmetric matrices
let n : dimension
let A, B : matrix(n, n)
assume symmetric(A)
assume symmetric(B)
show tr(A*B) <= tr(A)*tr(B)

== the rearrangement without symmetry
let n : dimension
let A, B : matrix(n, n)
show tr(A*B*A*B) <= tr(A*A*B*B)
""")


@pytest.mark.parametrize("name", TRUE)
def test_it_is_proved(name: str):
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_its_false_neighbour_is_refuted(name: str):
    assert_refuted(FALSE[name])
