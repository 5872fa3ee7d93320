"""Random vectors in L2: conditional expectations, norms and covariances, proved or refuted."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== tower_of_three
let n : dimension
let Y : random vector(n)
let F, G, H : sigma_algebra
assume F subset G
assume G subset H
show E(E(E(Y | H) | G) | F) = E(Y | F)

== tower_by_transitivity
let Y : random
let F, G, H : sigma_algebra
assume F subset G
assume G subset H
show E(E(Y | H) | F) = E(Y | F)

== tower_coarse
let Y : random
let F, G : sigma_algebra
assume F subset G
show E(E(Y | G) | F) = E(Y | F)

== mean_of_conditional_mean
let Y : random
let F : sigma_algebra
show E(E(Y | F)) = E(Y)

== pythagoras
let n : dimension
let Y : random vector(n)
let F : sigma_algebra
show l2norm2(Y) = l2norm2(E(Y | F)) + l2norm2(Y - E(Y | F))

== inner_product_with_projection
let Y : random
let F : sigma_algebra
show l2inner(Y, E(Y | F)) = l2norm2(E(Y | F))

== best_approximation
let k : dimension
let Y, V : random vector(k)
let F : sigma_algebra
show l2norm2(Y - E(Y | F)) <= l2norm2(Y - E(V | F))

== contraction
let k : dimension
let Y : random vector(k)
let F : sigma_algebra
show l2norm2(E(Y | F)) <= l2norm2(Y)

== martingale_increments_are_orthogonal
let Y : random
let F1, F2, F3, F4 : sigma_algebra
assume F1 subset F2
assume F2 subset F3
assume F3 subset F4
show l2inner(E(Y | F4) - E(Y | F3), E(Y | F2) - E(Y | F1)) = 0

== cauchy_schwarz
let U, V : random
show l2inner(U, V)^2 <= l2norm2(U)*l2norm2(V)

== twice_inner_product
let U, V : random
show 2*l2inner(U, V) <= l2norm2(U) + l2norm2(V)

== variance_nonnegative
let Y : random
show cov(Y, Y) >= 0

== conditioning_reduces_variance
let Y : random
let F : sigma_algebra
show cov(E(Y | F), E(Y | F)) <= cov(Y, Y)

== total_covariance
let n, k : dimension
let U : random vector(n)
let V : random vector(k)
let F : sigma_algebra
show cov(U, V) = cov(E(U | F), E(V | F)) + cov(U - E(U | F), V - E(V | F))

== variance_in_three_parts
let Y : random
let F, G : sigma_algebra
assume F subset G
define D = E(Y | G) - E(Y | F)
define R = Y - E(Y | G)
show cov(Y, Y) = cov(E(Y | F), E(Y | F)) + cov(D, D) + cov(R, R)

== conditioning_reduces_covariance
let n : dimension
let Y : random vector(n)
let F : sigma_algebra
show cov(E(Y | F), E(Y | F)) <= cov(Y, Y)

== residual_has_conditional_mean_zero
let n : dimension
let Y : random vector(n)
let F : sigma_algebra
show E(Y - E(Y | F) | F) = zeros(n, 1)

== mean_is_best_constant
let Y : random
let c : real
show l2norm2(Y - E(Y)) <= l2norm2(Y - c)

== residual_of_image
let n : dimension
let Y : random vector(n)
let A : matrix(n, n)
let F : sigma_algebra
show l2norm2(A*Y - E(A*Y | F)) <= l2norm2(A*Y)

== four_orthogonal_parts
let Y : random
let F1, F2, F3 : sigma_algebra
assume F1 subset F2
assume F2 subset F3
define M1 = E(Y | F1)
define M2 = E(Y | F2)
define M3 = E(Y | F3)
show l2norm2(Y) = l2norm2(M1) + l2norm2(M2 - M1) + l2norm2(M3 - M2) + l2norm2(Y - M3)

== more_information
let k : dimension
let Y : random vector(k)
let F, G : sigma_algebra
assume F subset G
show l2norm2(Y - E(Y | G)) <= l2norm2(Y - E(Y | F))

== total_variance
let Y : random
let F : sigma_algebra
define R = Y - E(Y | F)
show cov(Y, Y) = cov(E(Y | F), E(Y | F)) + cov(R, R)

== martingale_pythagoras
let Y : random
let F1, F2, F3 : sigma_algebra
assume F1 subset F2
assume F2 subset F3
define M1 = E(Y | F1)
define M2 = E(Y | F2)
define M3 = E(Y | F3)
show l2norm2(M3 - M1) = l2norm2(M3 - M2) + l2norm2(M2 - M1)
""")

FALSE = claims("""
== best_approximation_by_anything
let Y, V : random
let F : sigma_algebra
show l2norm2(Y - E(Y | F)) <= l2norm2(Y - V)

== tower_without_order
let Y : random
let F, G : sigma_algebra
show E(E(Y | F) | G) = E(Y | G)

== pythagoras_without_order
let Y : random
let F, G : sigma_algebra
show l2norm2(E(Y | G)) = l2norm2(E(Y | F)) + l2norm2(E(Y | G) - E(Y | F))

== contraction_of_another
let Y, V : random
let F, G : sigma_algebra
show l2norm2(E(Y | F)) <= l2norm2(E(Y | G))

== less_information
let Y : random
let F, G : sigma_algebra
assume F subset G
show l2norm2(Y - E(Y | F)) <= l2norm2(Y - E(Y | G))

== total_variance_with_second_moment
let Y : random
let F : sigma_algebra
show cov(Y, Y) = cov(E(Y | F), E(Y | F)) + l2norm2(Y)

== cauchy_schwarz_strict
let U, V : random
show l2inner(U, V)^2 < l2norm2(U)*l2norm2(V)

== increments_of_overlapping_times
let Y : random
let F1, F2, F3 : sigma_algebra
assume F1 subset F2
assume F2 subset F3
show l2inner(E(Y | F3) - E(Y | F1), E(Y | F2) - E(Y | F1)) = 0

== covariance_with_other_residual
let n, k : dimension
let U : random vector(n)
let V : random vector(k)
let F : sigma_algebra
show cov(U, V) = cov(E(U | F), V) + cov(U, V - E(V | F)) + cov(U, E(V | F))

== conditioning_raises_covariance
let n : dimension
let Y : random vector(n)
let F : sigma_algebra
show cov(Y, Y) <= cov(E(Y | F), E(Y | F))

== coarser_by_wrong_chain
let Y : random
let F, G, H : sigma_algebra
assume F subset G
assume F subset H
show E(E(Y | H) | G) = E(Y | F)

== any_constant_is_best
let Y : random
let c : real
show l2norm2(Y - c) <= l2norm2(Y - E(Y))
""")


@pytest.mark.parametrize("name", TRUE)
def test_proved(name: str):
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_refuted(name: str):
    assert_refuted(FALSE[name])
