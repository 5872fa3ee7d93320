"""Gaussian vectors: towers, innovations, sums of entries, parts of covariances; true and false."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== tower
let n, k, m : dimension
let a : vector(n)
let b : vector(k)
let c : vector(m)
let S11 : matrix(n, n)
let S12 : matrix(n, k)
let S13 : matrix(n, m)
let S22 : matrix(k, k)
let S23 : matrix(k, m)
let S33 : matrix(m, m)
define S = block([[S11, S12, S13], [S12.T, S22, S23], [S13.T, S23.T, S33]])
assume positive_semidefinite(S)
let (X, Y, Z) : gaussian((a, b, c), S)
show E(E(X | Y, Z) | Z) = E(X | Z)

== posterior_of_a_mean
let N : dimension
let m0 : real
let s0, s : positive
let M : gaussian(m0, s0^2)
let V : gaussian(zeros(N, 1), s^2*eye(N))
define X = ones(N, 1)*M + V
show E(M | X) = s^2/(N*s0^2 + s^2)*m0 + s0^2/(N*s0^2 + s^2)*sum(X[j], j, 1, N)

== innovations
let n, k, m : dimension
let a : vector(n)
let b : vector(k)
let c : vector(m)
let S11 : matrix(n, n)
let S12 : matrix(n, k)
let S13 : matrix(n, m)
let S22 : matrix(k, k)
let S23 : matrix(k, m)
let S33 : matrix(m, m)
define S = block([[S11, S12, S13], [S12.T, S22, S23], [S13.T, S23.T, S33]])
assume positive_definite(S)
let (X, Y1, Y2) : gaussian((a, b, c), S)
define L = cov(X, Y2 | Y1)*inv(cov(Y2, Y2 | Y1))
show E(X | Y1, Y2) = E(X | Y1) + L*(Y2 - E(Y2 | Y1))

== schur_complement_of_two_of_three
let n, k, m : dimension
let S11 : matrix(n, n)
let S12 : matrix(n, k)
let S13 : matrix(n, m)
let S22 : matrix(k, k)
let S23 : matrix(k, m)
let S33 : matrix(m, m)
assume positive_definite(block([[S11, S12, S13], [S12.T, S22, S23], [S13.T, S23.T, S33]]))
show positive_definite(S33 - S23.T*inv(S22)*S23)

== middle_block_of_three
let n, k, m : dimension
let S11 : matrix(n, n)
let S12 : matrix(n, k)
let S13 : matrix(n, m)
let S22 : matrix(k, k)
let S23 : matrix(k, m)
let S33 : matrix(m, m)
assume positive_definite(block([[S11, S12, S13], [S12.T, S22, S23], [S13.T, S23.T, S33]]))
show positive_definite(S22)

== outer_blocks_of_three
let n, k, m : dimension
let S11 : matrix(n, n)
let S12 : matrix(n, k)
let S13 : matrix(n, m)
let S22 : matrix(k, k)
let S23 : matrix(k, m)
let S33 : matrix(m, m)
assume positive_semidefinite(block([[S11, S12, S13], [S12.T, S22, S23], [S13.T, S23.T, S33]]))
show positive_semidefinite(block([[S11, S13], [S13.T, S33]]))

== tower_of_one
let n, k : dimension
let a : vector(n)
let b : vector(k)
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_semidefinite(block([[S, C], [C.T, R]]))
let (X, Y) : gaussian((a, b), block([[S, C], [C.T, R]]))
show E(E(X | Y) | Y) = E(X | Y)

== tower_of_measurements
let n, k, m : dimension
let a : vector(n)
let S : matrix(n, n)
let R : matrix(k, k)
let Q : matrix(m, m)
let H : matrix(k, n)
let F : matrix(m, n)
assume positive_semidefinite(S)
assume positive_definite(R)
assume positive_definite(Q)
let X : gaussian(a, S)
let V : gaussian(zeros(k, 1), R)
let W : gaussian(zeros(m, 1), Q)
define Y = H*X + V
define Z = F*X + W
show E(E(X | Y, Z) | Y) = E(X | Y)

== sum_of_entries
let n : dimension
let m : vector(n)
let S : matrix(n, n)
assume positive_semidefinite(S)
let X : gaussian(m, S)
show sum(X[j], j, 1, n) = inner(ones(n, 1), m) + ones(1, n)*(X - m)

== variance_of_weighted_sum
let n : dimension
let m, c : vector(n)
let S : matrix(n, n)
assume positive_semidefinite(S)
let X : gaussian(m, S)
define M = sum(c[j]*X[j], j, 1, n)
show cov(M, M) = inner(c, S*c)

== given_a_weighted_sum
let n : dimension
let m, c : vector(n)
let S : matrix(n, n)
let r : positive
assume positive_semidefinite(S)
let X : gaussian(m, S)
let V : gaussian(0, r)
define M = sum(c[j]*X[j], j, 1, n) + V
show E(X | M) = m + S*c*(M - inner(c, m))/(inner(c, S*c) + r)

== mean_of_a_sum
let n : dimension
let m : vector(n)
let S : matrix(n, n)
assume positive_semidefinite(S)
let X : gaussian(m, S)
show E(sum(X[j], j, 1, n)) = inner(ones(n, 1), m)

== variance_of_the_mean
let n : dimension
let m : real
let s : positive
let X : gaussian(m*ones(n, 1), s^2*eye(n))
define M = sum(X[j], j, 1, n)/n
show cov(M, M) = s^2/n

== mean_of_an_entry
let n : dimension
let m : vector(n)
let S : matrix(n, n)
let j : index(n)
assume positive_semidefinite(S)
let X : gaussian(m, S)
show E(X[j]) = m[j]

== square_of_an_entry
let n : dimension
let m : vector(n)
let S : matrix(n, n)
let j : index(n)
assume positive_semidefinite(S)
let X : gaussian(m, S)
show E(X[j]^2) = S[j, j] + m[j]^2

== entry_given_others
let n, k : dimension
let a : vector(n)
let b : vector(k)
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
let j : index(n)
assume positive_semidefinite(block([[S, C], [C.T, R]]))
assume invertible(R)
let (X, Y) : gaussian((a, b), block([[S, C], [C.T, R]]))
show E(X[j] | Y) = a[j] + unit(n, j).T*C*inv(R)*(Y - b)

== sum_of_means
let n : dimension
let m : vector(n)
let S : matrix(n, n)
assume positive_semidefinite(S)
let X : gaussian(m, S)
show E(sum(X[j], j, 1, n)) = sum(m[j], j, 1, n)

== covariance_of_exponentials
let a, b : real
let s, c, r : real
assume positive_semidefinite(block([[s, c], [c, r]]))
let (X, Y) : gaussian((a, b), block([[s, c], [c, r]]))
show cov(exp(X), exp(Y)) = exp(a + b + s/2 + r/2)*(exp(c) - 1)

== square_of_an_exponential
let m : real
let s : positive
let X : gaussian(m, s^2)
show E(exp(X)^2) = exp(2*m + 2*s^2)

== signal_and_noise_both_singular
let n : dimension
let a, c : vector(n)
let S, N : matrix(n, n)
assume positive_semidefinite(S)
assume positive_semidefinite(N)
let X : gaussian(a, S)
let W : gaussian(c, N)
show E(X | X + W) = a + S*pinv(S + N)*(X + W - a - c)

== best_linear_unbiased
let n, p : dimension
let X : matrix(n, p)
let beta : vector(p)
let V, A : matrix(n, n)
assume full_column_rank(X)
assume positive_definite(V)
assume A*X = X
let eps : gaussian(zeros(n, 1), V)
define Y = X*beta + eps
define G = X*inv(X.T*inv(V)*X)*X.T*inv(V)
show cov(G*Y, G*Y) <= cov(A*Y, A*Y)

== information_of_two_sensors
let n, p, q : dimension
let m : vector(n)
let P : matrix(n, n)
let H1 : matrix(p, n)
let H2 : matrix(q, n)
let R1 : matrix(p, p)
let R2 : matrix(q, q)
assume positive_definite(P)
assume positive_definite(R1)
assume positive_definite(R2)
let X : gaussian(m, P)
let V1 : gaussian(zeros(p, 1), R1)
let V2 : gaussian(zeros(q, 1), R2)
define Y1 = H1*X + V1
define Y2 = H2*X + V2
show inv(cov(X, X | Y1, Y2)) = inv(P) + H1.T*inv(R1)*H1 + H2.T*inv(R2)*H2

== mean_of_two_sensors
let n, p, q : dimension
let m : vector(n)
let P : matrix(n, n)
let H1 : matrix(p, n)
let H2 : matrix(q, n)
let R1 : matrix(p, p)
let R2 : matrix(q, q)
assume positive_definite(P)
assume positive_definite(R1)
assume positive_definite(R2)
let X : gaussian(m, P)
let V1 : gaussian(zeros(p, 1), R1)
let V2 : gaussian(zeros(q, 1), R2)
define Y1 = H1*X + V1
define Y2 = H2*X + V2
define L = inv(inv(P) + H1.T*inv(R1)*H1 + H2.T*inv(R2)*H2)
show E(X | Y1, Y2) = L*(inv(P)*m + H1.T*inv(R1)*Y1 + H2.T*inv(R2)*Y2)

== information_mean
let n, p, q : dimension
let m : vector(n)
let P : matrix(n, n)
let H1 : matrix(p, n)
let H2 : matrix(q, n)
let R1 : matrix(p, p)
let R2 : matrix(q, q)
assume positive_definite(P)
assume positive_definite(R1)
assume positive_definite(R2)
let X : gaussian(m, P)
let V1 : gaussian(zeros(p, 1), R1)
let V2 : gaussian(zeros(q, 1), R2)
define Y1 = H1*X + V1
define Y2 = H2*X + V2
show inv(cov(X, X | Y1))*E(X | Y1) = inv(P)*m + H1.T*inv(R1)*Y1

== precision_of_two_numbers
let m, h, g : real
let p, r, s : positive
let X : gaussian(m, p)
let V : gaussian(0, r)
let W : gaussian(0, s)
define Y = h*X + V
define Z = g*X + W
show cov(X, X | Y, Z) = 1/(1/p + h^2/r + g^2/s)

== total_covariance
let n, k : dimension
let a : vector(n)
let b : vector(k)
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_semidefinite(block([[S, C], [C.T, R]]))
let (X, Y) : gaussian((a, b), block([[S, C], [C.T, R]]))
show cov(X, X) = cov(E(X | Y), E(X | Y)) + cov(X, X | Y)

== second_sensor_helps
let n, p, q : dimension
let m : vector(n)
let P : matrix(n, n)
let H1 : matrix(p, n)
let H2 : matrix(q, n)
let R1 : matrix(p, p)
let R2 : matrix(q, q)
assume positive_definite(P)
assume positive_definite(R1)
assume positive_definite(R2)
let X : gaussian(m, P)
let V1 : gaussian(zeros(p, 1), R1)
let V2 : gaussian(zeros(q, 1), R2)
define Y1 = H1*X + V1
define Y2 = H2*X + V2
show cov(X, X | Y1, Y2) <= cov(X, X | Y1)
""")

FALSE = claims("""
== information_subtracted
let n, p, q : dimension
let m : vector(n)
let P : matrix(n, n)
let H1 : matrix(p, n)
let H2 : matrix(q, n)
let R1 : matrix(p, p)
let R2 : matrix(q, q)
assume positive_definite(P)
assume positive_definite(R1)
assume positive_definite(R2)
let X : gaussian(m, P)
let V1 : gaussian(zeros(p, 1), R1)
let V2 : gaussian(zeros(q, 1), R2)
define Y1 = H1*X + V1
define Y2 = H2*X + V2
show inv(cov(X, X | Y1, Y2)) = inv(P) + H1.T*inv(R1)*H1 - H2.T*inv(R2)*H2

== mean_of_two_numbers_unweighted
let m, h, g : real
let p, r, s : positive
let X : gaussian(m, p)
let V : gaussian(0, r)
let W : gaussian(0, s)
define Y = h*X + V
define Z = g*X + W
show E(X | Y, Z) = (m/p + Y/r + g*Z/s)/(1/p + h^2/r + g^2/s)

== total_covariance_of_residuals
let n, k : dimension
let a : vector(n)
let b : vector(k)
let S : matrix(n, n)
let C : matrix(n, k)
let R : matrix(k, k)
assume positive_semidefinite(block([[S, C], [C.T, R]]))
let (X, Y) : gaussian((a, b), block([[S, C], [C.T, R]]))
show cov(X, X) = cov(E(X | Y), X) - cov(X, X | Y)

== signal_and_noise_uncentred
let n : dimension
let a, c : vector(n)
let S, N : matrix(n, n)
assume positive_semidefinite(S)
assume positive_semidefinite(N)
let X : gaussian(a, S)
let W : gaussian(c, N)
show E(X | X + W) = a + S*pinv(S + N)*(X + W - a)

== best_among_biased
let n, p : dimension
let X : matrix(n, p)
let beta : vector(p)
let V, A : matrix(n, n)
assume full_column_rank(X)
assume positive_definite(V)
let eps : gaussian(zeros(n, 1), V)
define Y = X*beta + eps
define G = X*inv(X.T*inv(V)*X)*X.T*inv(V)
show cov(G*Y, G*Y) <= cov(A*Y, A*Y)

== best_is_ordinary
let n, p : dimension
let X : matrix(n, p)
let V, A : matrix(n, n)
assume full_column_rank(X)
assume positive_definite(V)
assume A*X = X
define G = X*inv(X.T*X)*X.T
show G*V*G.T <= A*V*A.T

== variance_of_a_sum
let n : dimension
let m : vector(n)
let S : matrix(n, n)
assume positive_semidefinite(S)
let X : gaussian(m, S)
define M = sum(X[j], j, 1, n)
show cov(M, M) = tr(S)

== tower_of_others
let n, k, m : dimension
let a : vector(n)
let b : vector(k)
let c : vector(m)
let S11 : matrix(n, n)
let S12 : matrix(n, k)
let S13 : matrix(n, m)
let S22 : matrix(k, k)
let S23 : matrix(k, m)
let S33 : matrix(m, m)
define S = block([[S11, S12, S13], [S12.T, S22, S23], [S13.T, S23.T, S33]])
assume positive_semidefinite(S)
let (X, Y, Z) : gaussian((a, b, c), S)
show E(E(X | Y) | Z) = E(X | Z)

== posterior_of_a_mean_unweighted
let N : dimension
let m0 : real
let s0, s : positive
let M : gaussian(m0, s0^2)
let V : gaussian(zeros(N, 1), s^2*eye(N))
define X = ones(N, 1)*M + V
show E(M | X) = s^2/(N*s0^2 + s^2)*m0 + s0^2/(s0^2 + s^2)*sum(X[j], j, 1, N)

== schur_complement_of_another
let n, k, m : dimension
let S11 : matrix(n, n)
let S12 : matrix(n, k)
let S13 : matrix(n, m)
let S22 : matrix(k, k)
let S23 : matrix(k, m)
let S33 : matrix(m, m)
assume positive_definite(block([[S11, S12, S13], [S12.T, S22, S23], [S13.T, S23.T, S33]]))
show positive_definite(S33 - S23.T*S22*S23)

== innovations_without_gain
let n, k, m : dimension
let a : vector(n)
let b : vector(k)
let c : vector(m)
let S11 : matrix(n, n)
let S12 : matrix(n, k)
let S13 : matrix(n, m)
let S22 : matrix(k, k)
let S23 : matrix(k, m)
let S33 : matrix(m, m)
define S = block([[S11, S12, S13], [S12.T, S22, S23], [S13.T, S23.T, S33]])
assume positive_definite(S)
let (X, Y1, Y2) : gaussian((a, b, c), S)
define L = cov(X, Y2 | Y1)*inv(cov(Y2, Y2 | Y1))
show E(X | Y1, Y2) = E(X | Y1) - L*(Y2 - E(Y2 | Y1))

== semidefinite_part_is_not_definite
let n, k, m : dimension
let S11 : matrix(n, n)
let S12 : matrix(n, k)
let S13 : matrix(n, m)
let S22 : matrix(k, k)
let S23 : matrix(k, m)
let S33 : matrix(m, m)
assume positive_semidefinite(block([[S11, S12, S13], [S12.T, S22, S23], [S13.T, S23.T, S33]]))
show positive_definite(block([[S11, S13], [S13.T, S33]]))

== given_a_sum_wrong_weight
let n : dimension
let m, c : vector(n)
let S : matrix(n, n)
let r : positive
assume positive_semidefinite(S)
let X : gaussian(m, S)
let V : gaussian(0, r)
define M = sum(c[j]*X[j], j, 1, n) + V
show E(X | M) = m + c*(M - inner(c, m))/(inner(c, S*c) + r)

== covariance_of_exponentials_without_means
let a, b : real
let s, c, r : real
assume positive_semidefinite(block([[s, c], [c, r]]))
let (X, Y) : gaussian((a, b), block([[s, c], [c, r]]))
show cov(exp(X), exp(Y)) = exp(a + b + s/2 + r/2)*exp(c)
""")


@pytest.mark.parametrize("name", TRUE)
def test_proved(name: str):
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_refuted(name: str):
    assert_refuted(FALSE[name])
