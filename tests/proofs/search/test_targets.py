"""Targets that an earlier trial reached: operators of any size, and inner products in L2."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

OPERATORS = claims("""
== Woodbury
let n, k : dimension
let A : matrix(n, n)
let U : matrix(n, k)
let C : matrix(k, k)
let V : matrix(k, n)
assume invertible(A)
assume invertible(C)
assume invertible(A + U*C*V)
show inv(A + U*C*V) = inv(A) - inv(A)*U*inv(inv(C) + V*inv(A)*U)*V*inv(A)

== Woodbury with the identity
let n, k : dimension
let A : matrix(n, n)
let U : matrix(n, k)
let C : matrix(k, k)
let V : matrix(k, n)
assume invertible(eye(n) + U*V)
show inv(eye(n) + U*V) = eye(n) - U*inv(eye(k) + V*U)*V

== Sherman and Morrison
let n : dimension
let A, B : matrix(n, n)
let u, v : vector(n)
assume invertible(A)
assume 1 + v.T*inv(A)*u != 0
show inv(A + u*v.T) = inv(A) - inv(A)*u*v.T*inv(A)/(1 + v.T*inv(A)*u)

== the Kalman gain in information form
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_definite(P)
assume positive_definite(R)
show P*H.T*inv(H*P*H.T + R) = inv(inv(P) + H.T*inv(R)*H)*H.T*inv(R)

== the Kalman covariance in information form
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_definite(P)
assume positive_definite(R)
show P - P*H.T*inv(H*P*H.T + R)*H*P = inv(inv(P) + H.T*inv(R)*H)

== Joseph's form at the Kalman gain
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_definite(P)
assume positive_definite(R)
define G = P*H.T*inv(H*P*H.T + R)
show (eye(n) - G*H)*P*(eye(n) - G*H).T + G*R*G.T = (eye(n) - G*H)*P

== the innovation is uncorrelated with the residual
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_definite(P)
assume positive_definite(R)
define G = P*H.T*inv(H*P*H.T + R)
show (eye(n) - G*H)*P*H.T = G*R

== conditioning in blocks: the covariance is symmetric
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(block([[S, C], [C.T, R]]))
show symmetric(S - C*inv(R)*C.T)

== conditioning in blocks: the residual is uncorrelated
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(R)
show C - C*inv(R)*R = zeros(n, k)

== conditioning in blocks: the precision
let n, k : dimension
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_definite(block([[S, C], [C.T, R]]))
show inv(S - C*inv(R)*C.T) = inv(S) + inv(S)*C*inv(R - C.T*inv(S)*C)*C.T*inv(S)

== push-through
let n, k : dimension
let A : matrix(n, n)
let U : matrix(n, k)
let C : matrix(k, k)
let V : matrix(k, n)
assume invertible(eye(n) + U*V)
show inv(eye(n) + U*V)*U = U*inv(eye(k) + V*U)

== push-through with a ridge
let n, k : dimension
let A : matrix(n, k)
let c : positive
show inv(A.T*A + c*eye(k))*A.T = A.T*inv(A*A.T + c*eye(n))

== R in its first form
let n, k : dimension
let M : matrix(n, k)
let t : real
assume full_row_rank(M)
show t^2*(eye(k) - pinv(M)*M) = t^2*(eye(k) - M.T*inv(M*M.T)*M)

== R in its second form
let n, k : dimension
let M : matrix(n, k)
let t : real
show t^2*(eye(k) - pinv(M)*M) = t^2*(eye(k) - M.T*pinv(M*M.T)*M)

== R is symmetric
let n, k : dimension
let M : matrix(n, k)
let t : real
define R = t^2*(eye(k) - pinv(M)*M)
show R.T = R

== R is idempotent up to its factor
let n, k : dimension
let M : matrix(n, k)
let t : real
define R = t^2*(eye(k) - pinv(M)*M)
show R*R = t^2*R

== M annihilates R
let n, k : dimension
let M : matrix(n, k)
let t : real
define R = t^2*(eye(k) - pinv(M)*M)
show M*R = zeros(n, k)

== R is semidefinite
let n, k : dimension
let M : matrix(n, k)
let t : real
define R = t^2*(eye(k) - pinv(M)*M)
show positive_semidefinite(R)

== the pseudo-inverse is unique
let n, k : dimension
let A : matrix(n, k)
let X, Y : matrix(k, n)
assume A*X*A = A
assume X*A*X = X
assume (A*X).T = A*X
assume (X*A).T = X*A
assume A*Y*A = A
assume Y*A*Y = Y
assume (A*Y).T = A*Y
assume (Y*A).T = Y*A
show X = Y

== the projector onto a kernel
let k, m : dimension
let F : matrix(m, k)
let K : matrix(k, k)
assume for all x : vector(k) where F*x = zeros(m, 1) : K*x = x
assume K.T = K
assume F*K = zeros(m, k)
show K = eye(k) - pinv(F)*F

== block LDU
let n, k : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, n)
let D : matrix(k, k)
assume invertible(A)
define L = block([[eye(n), zeros(n, k)], [C*inv(A), eye(k)]])
define U = block([[eye(n), inv(A)*B], [zeros(k, n), eye(k)]])
show block([[A, B], [C, D]]) = L*block([[A, zeros(n, k)], [zeros(k, n), D - C*inv(A)*B]])*U

== the inverse of a block triangle
let n, k : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, n)
let D : matrix(k, k)
assume invertible(A)
assume invertible(D)
define P = -inv(A)*B*inv(D)
show inv(block([[A, B], [zeros(k, n), D]])) = block([[inv(A), P], [zeros(k, n), inv(D)]])

== the determinant by blocks
let n, k : dimension
let A : matrix(n, n)
let B : matrix(n, k)
let C : matrix(k, n)
let D : matrix(k, k)
assume invertible(A)
show det(block([[A, B], [C, D]])) = det(A)*det(D - C*inv(A)*B)

== a product of Gaussians: the precision
let n : dimension
let A, B : matrix(n, n)
assume positive_definite(A)
assume positive_definite(B)
show inv(inv(A) + inv(B)) = A*inv(A + B)*B

== a product of Gaussians: the exponent
let n : dimension
let A, B : matrix(n, n)
let x, a, b : vector(n)
assume positive_definite(A)
assume positive_definite(B)
define C = inv(inv(A) + inv(B))
define c = C*(inv(A)*a + inv(B)*b)
define r = (x - c).T*inv(C)*(x - c)
define s = (a - b).T*inv(A + B)*(a - b)
show (x - a).T*inv(A)*(x - a) + (x - b).T*inv(B)*(x - b) = r + s

== Gauss and Markov
let n, k : dimension
let X : matrix(n, k)
let W : matrix(n, n)
assume positive_definite(W)
assume full_column_rank(X)
let L : matrix(k, n)
assume L*X = eye(k)
show inv(X.T*inv(W)*X) <= L*W*L.T

== Gauss and Markov, with equal variances
let n, k : dimension
let X : matrix(n, k)
let L : matrix(k, n)
assume full_column_rank(X)
assume L*X = eye(k)
show inv(X.T*X) <= L*L.T

== the excess of an unbiased estimator
let n, k : dimension
let X : matrix(n, k)
let W : matrix(n, n)
assume positive_definite(W)
assume full_column_rank(X)
let L : matrix(k, n)
assume L*X = eye(k)
define E = L - inv(X.T*inv(W)*X)*X.T*inv(W)
show L*W*L.T - inv(X.T*inv(W)*X) = E*W*E.T

== Greville's reverse order
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
assume pinv(A)*A*B*B.T*A.T = B*B.T*A.T
assume B*pinv(B)*A.T*A*B = A.T*A*B
show pinv(A*B) = pinv(B)*pinv(A)

== the reverse order at full rank
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
assume full_column_rank(A)
assume full_row_rank(B)
show pinv(A*B) = pinv(B)*pinv(A)

== the pseudo-inverse of a Gram matrix
let n, k : dimension
let A : matrix(n, k)
show pinv(A.T*A) = pinv(A)*pinv(A).T

== the difference of inverses
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume invertible(B)
show inv(A) - inv(B) = inv(A)*(B - A)*inv(B)

== Hua's identity
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume invertible(B)
assume invertible(A + B)
assume invertible(inv(A) + inv(B))
show inv(inv(A) + inv(B)) = A - A*inv(A + B)*A

== a covariance in a basis of its range
let n, k : dimension
let L : matrix(n, k)
let H : matrix(k, n)
let c : positive
show L*L.T*H.T*inv(H*L*L.T*H.T + c*eye(k)) = L*inv(L.T*H.T*H*L + c*eye(k))*L.T*H.T

== AX = I gives XA = I
let n : dimension
let A, B : matrix(n, n)
assume A*B = eye(n)
show B*A = eye(n)

== a Cayley transform
let n : dimension
let A, B : matrix(n, n)
assume A.T = -A
show orthogonal((eye(n) - A)*inv(eye(n) + A))
""")
INNER_PRODUCTS = claims("""
== four terms of a risk
let U, V : random
let F, G : sigma_algebra
assume F subset G
define a = l2norm2(U - E(U | G))
define b = l2norm2(E(U | G) - E(U | F))
define c = l2norm2(E(U | F) - V)
show l2norm2(U - V) = a + b + c + 2*l2inner(U - E(U | F), E(U | F) - V)

== six increments of a martingale
let U : random
let F1, F2, F3, F4, F5 : sigma_algebra
assume F1 subset F2
assume F2 subset F3
assume F3 subset F4
assume F4 subset F5
define a = l2norm2(E(U | F1)) + l2norm2(E(U | F2) - E(U | F1))
define b = l2norm2(E(U | F3) - E(U | F2)) + l2norm2(E(U | F4) - E(U | F3))
define c = l2norm2(E(U | F5) - E(U | F4)) + l2norm2(U - E(U | F5))
show l2norm2(U) = a + b + c
""")
TRUE = OPERATORS | INNER_PRODUCTS
FALSE = claims("""
== Woodbury with a sign
let n, k : dimension
let A : matrix(n, n)
let U : matrix(n, k)
let C : matrix(k, k)
let V : matrix(k, n)
assume invertible(A)
assume invertible(C)
assume invertible(A + U*C*V)
show inv(A + U*C*V) = inv(A) + inv(A)*U*inv(inv(C) + V*inv(A)*U)*V*inv(A)

== the Kalman gain with the prior
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_definite(P)
assume positive_definite(R)
show P*H.T*inv(H*P*H.T + R) = P*H.T*inv(R)

== the Kalman covariance with the inverse noise
let n, k : dimension
let P : matrix(n, n)
let R : matrix(k, k)
let H : matrix(k, n)
assume positive_definite(P)
assume positive_definite(R)
show P - P*H.T*inv(H*P*H.T + R)*H*P = inv(inv(P) + H.T*R*H)

== push-through to the wrong side
let n : dimension
let U, V : matrix(n, n)
assume invertible(eye(n) + U*V)
show inv(eye(n) + U*V)*U = U*inv(eye(n) + U*V)

== Gauss and Markov the other way
let n, k : dimension
let X : matrix(n, k)
let W : matrix(n, n)
assume positive_definite(W)
assume full_column_rank(X)
let L : matrix(k, n)
assume L*X = eye(k)
show L*W*L.T <= inv(X.T*inv(W)*X)

== Gauss and Markov with a bias
let n, k : dimension
let X : matrix(n, k)
let L : matrix(k, n)
assume full_column_rank(X)
show inv(X.T*X) <= L*L.T

== the reverse order without its conditions
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
show pinv(A*B) = pinv(B)*pinv(A)

== the pseudo-inverse with three equations
let n, k : dimension
let A : matrix(n, k)
let X, Y : matrix(k, n)
assume A*X*A = A
assume X*A*X = X
assume (A*X).T = A*X
assume (X*A).T = X*A
assume A*Y*A = A
assume Y*A*Y = Y
assume (A*Y).T = A*Y
show X = Y

== block LDU with its factors exchanged
let n : dimension
let A, B, C, D : matrix(n, n)
assume invertible(A)
show det(block([[A, B], [C, D]])) = det(A)*det(D - B*inv(A)*C)

== Hua's identity with a factor
let n : dimension
let A, B : matrix(n, n)
assume invertible(A)
assume invertible(B)
assume invertible(A + B)
assume invertible(inv(A) + inv(B))
show inv(inv(A) + inv(B)) = A - B*inv(A + B)*A
""")


@pytest.mark.parametrize("name", TRUE)
def test_a_target_is_proved(name: str) -> None:
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_its_false_neighbour_is_refuted(name: str) -> None:
    assert_refuted(FALSE[name])
