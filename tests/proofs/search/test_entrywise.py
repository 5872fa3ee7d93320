"""Diagonals, entrywise and Kronecker products, vec."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== an outer product entrywise
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show hadamard(x*y.T, A) = diag(x)*A*diag(y)

== an outer product on the right
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show hadamard(A, x*y.T) = diag(x)*A*diag(y)

== entrywise products are symmetric
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show hadamard(A, B) = hadamard(B, A)

== entrywise products distribute
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show hadamard(A, B + C) = hadamard(A, B) + hadamard(A, C)

== entrywise products distribute on the left
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show hadamard(A - B, C) = hadamard(A, C) - hadamard(B, C)

== a multiple entrywise
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show hadamard(2*A, B) = 2*hadamard(A, B)

== the transpose entrywise
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show hadamard(A, B).T = hadamard(A.T, B.T)

== entrywise products are associative
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show hadamard(hadamard(A, B), C) = hadamard(A, hadamard(B, C))

== rows scaled
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show hadamard(diag(x)*A, B) = diag(x)*hadamard(A, B)

== columns scaled
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show hadamard(A*diag(y), B) = hadamard(A, B)*diag(y)

== rows scaled on the right
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show hadamard(A, diag(x)*B) = diag(x)*hadamard(A, B)

== a form in an entrywise product
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show x.T*hadamard(A, B)*y = tr(diag(x)*A*diag(y)*B.T)

== the total of an entrywise product
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show ones(n, 1).T*hadamard(A, B)*ones(k, 1) = tr(A.T*B)

== vectors entrywise
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show hadamard(x, y) = diag(x)*y

== diagonals multiply
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show diag(x)*diag(y) = diag(hadamard(x, y))

== diagonals commute
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show diag(x)*diag(y) = diag(y)*diag(x)

== diagonals add
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show diag(x + y) = diag(x) + diag(y)

== a diagonal of a difference
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show diag(x - 2*y) = diag(x) - 2*diag(y)

== a diagonal and a vector change places
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show diag(x)*y = diag(y)*x

== the diagonal of ones
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show diag(ones(n, 1)) = eye(n)

== the trace of a diagonal
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show tr(diag(x)) = sum(x[j], j, 1, n)

== a diagonal times ones
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show diag(x)*ones(n, 1) = x

== a weighted inner product
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show y.T*diag(x)*y = inner(x, hadamard(y, y))

== the product of two semidefinite matrices entrywise
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
assume positive_semidefinite(A)
assume positive_definite(B)
show positive_semidefinite(hadamard(A, B))

== zero is below an entrywise product of Gram matrices
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show zeros(n, n) <= hadamard(A*A.T, B*B.T)

== a Gram matrix entrywise
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show positive_semidefinite(hadamard(A*A.T, B*B.T))

== definite entrywise
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
assume positive_definite(A)
assume positive_definite(B)
show positive_definite(hadamard(A, B))

== a positive diagonal
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
assume for all j : index(n) : x[j] > 0
show positive_definite(diag(x))

== a weighted Gram matrix
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
assume for all j : index(n) : x[j] > 0
assume invertible(A)
show positive_definite(A*diag(x)*A.T)

== the mixed product
let n : dimension
let A, B, C, D : matrix(n, n)
show kron(A, B)*kron(C, D) = kron(A*C, B*D)

== the inverse of a Kronecker product
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
assume invertible(A)
assume invertible(B)
show inv(kron(A, B)) = kron(inv(A), inv(B))

== the trace of a Kronecker product
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show tr(kron(A, B)) = tr(A)*tr(B)

== a Kronecker sum
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show kron(A, eye(n))*kron(eye(n), B) = kron(eye(n), B)*kron(A, eye(n))

== a definite Kronecker product
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
assume positive_definite(A)
assume positive_definite(B)
show positive_definite(kron(A, B))

== vec of a product
let n : dimension
let A, X, B : matrix(n, n)
show vec(A*X*B) = kron(B.T, A)*vec(X)

== vec of a Lyapunov operator
let n : dimension
let A, X : matrix(n, n)
show vec(A*X + X*A.T) = (kron(eye(n), A) + kron(A, eye(n)))*vec(X)

== inner products of vecs
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show vec(A).T*vec(B) = tr(A.T*B)

== the norm of a vec
let n, k : dimension
let A, B, C : matrix(n, k)
let x : vector(n)
let y : vector(k)
show norm2(vec(A)) = norm2(A)
""")
FALSE = claims("""
== entrywise is no matrix product
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show hadamard(A, B) = A*B

== an outer product entrywise, exchanged
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show hadamard(x*y.T, A) = diag(y)*A*diag(x)

== a transposed total
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show ones(n, 1).T*hadamard(A, B)*ones(n, 1) = tr(A*B)

== a diagonal does not commute
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show diag(x)*A = A*diag(x)

== symmetric matrices entrywise
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
assume symmetric(A)
assume positive_semidefinite(B)
show positive_semidefinite(hadamard(A, B))

== Kronecker products do not commute
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show kron(A, B) = kron(B, A)

== vec with the factors exchanged
let n : dimension
let A, X, B : matrix(n, n)
show vec(A*X*B) = kron(A, B.T)*vec(X)

== an indefinite diagonal
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
show positive_semidefinite(diag(x))

== a Kronecker product with one definite factor
let n : dimension
let x, y : vector(n)
let A, B : matrix(n, n)
assume positive_definite(A)
assume symmetric(B)
show positive_semidefinite(kron(A, B))
""")


@pytest.mark.parametrize("name", TRUE)
def test_it_is_proved(name: str) -> None:
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_its_false_neighbour_is_refuted(name: str) -> None:
    assert_refuted(FALSE[name])
