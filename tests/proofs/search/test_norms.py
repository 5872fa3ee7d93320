"""Norms and inner products: identities, inequalities, nearest points."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== a squared norm is not negative
let n, k : dimension
let A, B : matrix(n, k)
show norm2(A) >= 0

== a complex squared norm is not negative
let n : dimension
let x, y : complex vector(n)
show norm2(x) >= 0

== zero norm
let n : dimension
let x, y : vector(n)
assume norm2(x) = 0
show x = zeros(n, 1)

== equal where the distance vanishes
let n : dimension
let x, y : vector(n)
assume norm2(x - y) = 0
show x = y

== complex, equal where the distance vanishes
let n : dimension
let x, y : complex vector(n)
assume norm2(x - y) = 0
show x = y

== positive norm
let n : dimension
let x, y : vector(n)
assume x != zeros(n, 1)
show norm2(x) > 0

== Pythagoras
let n : dimension
let x, y : vector(n)
assume x.T*y = 0
show norm2(x + y) = norm2(x) + norm2(y)

== Pythagoras, complex
let n : dimension
let x, y : complex vector(n)
assume x.H*y = 0
show norm2(x + y) = norm2(x) + norm2(y)

== the parallelogram
let n : dimension
let x, y : vector(n)
show norm2(x + y) + norm2(x - y) = 2*norm2(x) + 2*norm2(y)

== the complex parallelogram
let n : dimension
let x, y : complex vector(n)
show norm2(x + y) + norm2(x - y) = 2*norm2(x) + 2*norm2(y)

== polarization
let n : dimension
let x, y : vector(n)
show inner(x, y) = (norm2(x + y) - norm2(x - y))/4

== complex polarization
let n : dimension
let x, y : complex vector(n)
show x.H*y = (norm2(x + y) - norm2(x - y) - i*norm2(x + i*y) + i*norm2(x - i*y))/4

== twice an inner product
let n : dimension
let x, y : vector(n)
show 2*inner(x, y) <= norm2(x) + norm2(y)

== the square of a sum
let n : dimension
let x, y : vector(n)
show norm2(x + y) <= 2*norm2(x) + 2*norm2(y)

== Young with a weight
let n : dimension
let x, y : vector(n)
let c : positive
show 2*inner(x, y) <= c*norm2(x) + norm2(y)/c

== a Frobenius norm as a trace
let n, k : dimension
let A, B : matrix(n, k)
show norm2(A) = tr(A.T*A)

== the norm of a transpose
let n, k : dimension
let A, B : matrix(n, k)
show norm2(A.T) = norm2(A)

== the norm of a complex adjoint
let n, k : dimension
let A : complex matrix(n, k)
show norm2(A.H) = norm2(A)

== twice a Frobenius inner product
let n, k : dimension
let A, B : matrix(n, k)
show 2*tr(A.T*B) <= norm2(A) + norm2(B)

== the trace of a square
let n : dimension
let A : matrix(n, n)
show tr(A^2) <= norm2(A)

== the norm of a multiple
let n : dimension
let x, y : vector(n)
let c : real
show norm2(c*x) = c^2*norm2(x)

== least squares
let n, k : dimension
let A : matrix(n, k)
let x : vector(k)
let b : vector(n)
show norm2(A*pinv(A)*b - b) <= norm2(A*x - b)

== the solution of least norm
let n, k : dimension
let A : matrix(n, k)
let x : vector(k)
let b : vector(n)
assume full_row_rank(A)
assume A*x = b
show norm2(A.T*inv(A*A.T)*b) <= norm2(x)

== normal equations
let n, k : dimension
let A : matrix(n, k)
let x : vector(k)
let b : vector(n)
let z : vector(k)
assume A.T*(A*z - b) = zeros(k, 1)
show norm2(A*z - b) <= norm2(A*x - b)

== ridge regression
let n, k : dimension
let A : matrix(n, k)
let x : vector(k)
let b : vector(n)
let c : positive
define z = inv(A.T*A + c*eye(k))*A.T*b
show norm2(A*z - b) + c*norm2(z) <= norm2(A*x - b) + c*norm2(x)

== Bessel
let n, k : dimension
let A : matrix(n, k)
let x : vector(k)
let b : vector(n)
assume A.T*A = eye(k)
show norm2(A.T*b) <= norm2(b)

== an isometry
let n, k : dimension
let A : matrix(n, k)
let x : vector(k)
let b : vector(n)
assume A.T*A = eye(k)
show norm2(A*x) = norm2(x)

== an orthogonal matrix keeps norms
let n : dimension
let A, B : matrix(n, n)
let x : vector(n)
assume orthogonal(A)
show norm2(A*x) = norm2(x)

== an orthogonal matrix keeps Frobenius norms
let n : dimension
let A, B : matrix(n, n)
assume orthogonal(A)
show norm2(A*B) = norm2(B)

== a unitary matrix keeps norms
let n : dimension
let A : complex matrix(n, n)
let x : complex vector(n)
assume unitary(A)
show norm2(A*x) = norm2(x)

== the mean minimises the sum of squares
let n : dimension
let x : vector(n)
let m : real
define o = ones(n, 1)
show norm2(x - inner(o, x)/n*o) <= norm2(x - m*o)

== the four-term decomposition
let n : dimension
let x, y : vector(n)
let u, v : vector(n)
assume u.T*v = 0
show norm2(x - u - v) = norm2(x) + norm2(u) + norm2(v) - 2*inner(x, u) - 2*inner(x, v)
""")
FALSE = claims("""
== Pythagoras without a right angle
let n : dimension
let x, y : vector(n)
show norm2(x + y) = norm2(x) + norm2(y)

== Pythagoras with T for H
let n : dimension
let x, y : complex vector(n)
assume x.T*y = 0
show norm2(x + y) = norm2(x) + norm2(y)

== zero norm with T
let n : dimension
let x, y : complex vector(n)
assume x.T*x = 0
show x = zeros(n, 1)

== a positive norm at zero
let n : dimension
let x, y : vector(n)
show norm2(x) > 0

== the square of a sum without its factor
let n : dimension
let x, y : vector(n)
show norm2(x + y) <= norm2(x) + norm2(y)

== Cauchy and Schwarz the other way
let n : dimension
let x, y : vector(n)
show norm2(x)*norm2(y) <= inner(x, y)^2

== Cauchy and Schwarz in no metric
let n : dimension
let x, y : vector(n)
let S : matrix(n, n)
assume symmetric(S)
show (x.T*S*y)^2 <= x.T*S*x*(y.T*S*y)

== Cauchy and Schwarz without a square
let n : dimension
let x, y : vector(n)
show inner(x, y) <= norm2(x)*norm2(y)

== Bessel without orthonormality
let n, k : dimension
let A : matrix(n, k)
let x : vector(k)
let b : vector(n)
show norm2(A.T*b) <= norm2(b)

== least squares by any inverse
let n, k : dimension
let A : matrix(n, k)
let x : vector(k)
let b : vector(n)
let G : matrix(k, n)
assume A*G*A = A
show norm2(A*G*b - b) <= norm2(A*x - b)

== the trace of a square as a norm
let n : dimension
let A : matrix(n, n)
show norm2(A) <= tr(A^2)

== another point than the mean
let n : dimension
let x : vector(n)
let m : real
define o = ones(n, 1)
show norm2(x - m*o) <= norm2(x - inner(o, x)/n*o)

== complex polarization with a sign
let n : dimension
let x, y : complex vector(n)
show x.H*y = (norm2(x + y) - norm2(x - y) + i*norm2(x + i*y) - i*norm2(x - i*y))/4
""")


@pytest.mark.parametrize("name", TRUE)
def test_it_is_proved(name: str) -> None:
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_its_false_neighbour_is_refuted(name: str) -> None:
    assert_refuted(FALSE[name])
