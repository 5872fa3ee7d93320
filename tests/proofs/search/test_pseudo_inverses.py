"""Pseudo-inverses: textbook facts are proved for all sizes, their false neighbours refuted.

After Campbell and Meyer, Ben-Israel and Greville, Horn and Johnson.
"""

from __future__ import annotations

import pytest

from proofs.checker.judge import check
from proofs.language.parser import parse
from proofs.refute import refute
from proofs.search import Failure, prove

TRUE = {
    "full rank factors": """
let n, k, r : dimension
let F : complex matrix(n, r)
let G : complex matrix(r, k)
assume full_column_rank(F)
assume full_row_rank(G)
show pinv(F*G) = G.H*inv(G*G.H)*inv(F.H*F)*F.H
""",
    "full rank reverse": """
let n, k, r : dimension
let F : complex matrix(n, r)
let G : complex matrix(r, k)
assume full_column_rank(F)
assume full_row_rank(G)
show pinv(F*G) = pinv(G)*pinv(F)
""",
    "block diagonal": """
let n, k, m, p : dimension
let A : complex matrix(n, k)
let B : complex matrix(m, p)
define X = block([[pinv(A), zeros(k, m)], [zeros(p, n), pinv(B)]])
show pinv(block([[A, zeros(n, p)], [zeros(m, k), B]])) = X
""",
    "projection": """
let n : dimension
let P : complex matrix(n, n)
assume hermitian(P)
assume idempotent(P)
show pinv(P) = P
""",
    "gram": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(A*A.H) = pinv(A.H)*pinv(A)
""",
    "orthogonal factors": """
let n, k : dimension
let A : matrix(n, k)
let Q : matrix(n, n)
let R : matrix(k, k)
assume orthogonal(Q)
assume orthogonal(R)
show pinv(Q*A*R) = R.T*pinv(A)*Q.T
""",
    "greville new column": """
let n, k : dimension
let A : matrix(n, k)
let a : vector(n)
define d = pinv(A)*a
define c = a - A*d
assume norm2(c) > 0
define b = c.T/norm2(c)
show pinv(block([[A, a]])) = block([[pinv(A) - d*b], [b]])
""",
    "greville dependent column": """
let n, k : dimension
let A : matrix(n, k)
let a : vector(n)
define d = pinv(A)*a
assume A*d = a
define b = d.T*pinv(A)/(1 + norm2(d))
show pinv(block([[A, a]])) = block([[pinv(A) - d*b], [b]])
""",
    "involution": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(pinv(A)) = A
""",
    "adjoint": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(A.H) = pinv(A).H
""",
    "transpose": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(A.T) = pinv(A).T
""",
    "scaled": """
let n, k : dimension
let A : complex matrix(n, k)
let c : complex
assume c != 0
show pinv(c*A) = 1/c*pinv(A)
""",
    "from gram": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(A) = A.H*pinv(A*A.H)
""",
    "greville reverse order": """
let n, k, m : dimension
let A : complex matrix(n, k)
let B : complex matrix(k, m)
assume pinv(A)*A*B*B.H*A.H = B*B.H*A.H
assume B*pinv(B)*A.H*A*B = A.H*A*B
show pinv(A*B) = pinv(B)*pinv(A)
""",
    "weighted least squares": """
let n, k : dimension
let X : matrix(n, k)
let W : matrix(n, n)
let y : vector(n)
assume positive_definite(W)
assume full_column_rank(X)
show X.T*W*(y - X*inv(X.T*W*X)*X.T*W*y) = zeros(k, 1)
""",
    "oblique projection": """
let n, k : dimension
let X : matrix(n, k)
let W : matrix(n, n)
assume positive_definite(W)
assume full_column_rank(X)
show (X*inv(X.T*W*X)*X.T*W)^2 = X*inv(X.T*W*X)*X.T*W
""",
    "oblique projection pinv": """
let n, k : dimension
let X : complex matrix(n, k)
let Y : complex matrix(n, k)
assume invertible(Y.H*X)
define P = X*inv(Y.H*X)*Y.H
show pinv(P) = Y*pinv(Y)*X*pinv(X)
""",
    "hermitian commutes": """
let n : dimension
let A : complex matrix(n, n)
assume hermitian(A)
show A*pinv(A) = pinv(A)*A
""",
    "normal commutes": """
let n : dimension
let A : complex matrix(n, n)
assume A*A.H = A.H*A
show A*pinv(A) = pinv(A)*A
""",
    "two projections": """
let n : dimension
let P, Q : complex matrix(n, n)
assume hermitian(P)
assume idempotent(P)
assume hermitian(Q)
assume idempotent(Q)
show pinv(P*Q)*pinv(P*Q) = pinv(P*Q)
""",
    "consistent": """
let n, k : dimension
let A : complex matrix(n, k)
let b : complex vector(n)
let x : complex vector(k)
assume A*x = b
show A*(pinv(A)*b) = b
""",
    "zlobec": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(A) = A.H*pinv(A.H*A*A.H)*A.H
""",
    "rank one": """
let n, k : dimension
let x : complex vector(n)
let y : complex vector(k)
assume norm2(x) > 0
assume norm2(y) > 0
show pinv(x*y.H) = y*x.H/(norm2(x)*norm2(y))
""",
    "zero": """
let n, k : dimension
show pinv(zeros(n, k)) = zeros(k, n)
""",
    "ones": """
let n : dimension
show pinv(ones(n, n)) = 1/n^2*ones(n, n)
""",
    "centering": """
let n : dimension
show pinv(eye(n) - 1/n*ones(n, n)) = eye(n) - 1/n*ones(n, n)
""",
    "trace of projections": """
let n, k : dimension
let A : complex matrix(n, k)
show tr(A*pinv(A)) = tr(pinv(A)*A)
""",
    "inner inverse": """
let n, k : dimension
let A : complex matrix(n, k)
let G : complex matrix(k, n)
assume A*G*A = A
show pinv(A) = pinv(A)*A*G*A*pinv(A)
""",
    "projector pinv": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(A*pinv(A)) = A*pinv(A)
""",
    "skew": """
let n : dimension
let A : matrix(n, n)
assume A.T = -A
show pinv(A).T = -pinv(A)
""",
    "padded": """
let n, k, m : dimension
let A : complex matrix(n, k)
show pinv(block([[A, zeros(n, m)]])) = block([[pinv(A)], [zeros(m, n)]])
""",
    "orthonormal columns": """
let n, k, m : dimension
let Q : complex matrix(n, k)
let B : complex matrix(k, m)
assume Q.H*Q = eye(k)
show pinv(Q*B) = pinv(B)*Q.H
""",
    "full columns": """
let n, k : dimension
let A : complex matrix(n, k)
assume full_column_rank(A)
show pinv(A) = inv(A.H*A)*A.H
""",
    "orthogonal sum": """
let n, k : dimension
let A, B : complex matrix(n, k)
assume A.H*B = zeros(k, k)
assume A*B.H = zeros(n, n)
show pinv(A + B) = pinv(A) + pinv(B)
""",
    "invertible": """
let n : dimension
let A : complex matrix(n, n)
assume invertible(A)
show pinv(A) = inv(A)
""",
    "sandwich": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(A) = pinv(A.H*A)*A.H*A*A.H*pinv(A*A.H)
""",
    "partial isometry": """
let n, k : dimension
let A : complex matrix(n, k)
assume A*A.H*A = A
show pinv(A) = A.H
""",
    "stacked columns": """
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(n, m)
assume A.T*B = zeros(k, m)
show pinv(block([[A, B]])) = block([[pinv(A)], [pinv(B)]])
""",
    "tikhonov": """
let n, k : dimension
let A : matrix(n, k)
let t : positive
show pinv(A)*A*inv(A.T*A + t*eye(k))*A.T = inv(A.T*A + t*eye(k))*A.T
""",
    "cube": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(A*A.H*A) = pinv(A)*pinv(A.H)*pinv(A)
""",
    "sherman morrison in range": """
let n, k : dimension
let A : matrix(n, k)
let c : vector(n)
let d : vector(k)
assume A*pinv(A)*c = c
assume pinv(A)*A*d = d
define beta = 1 + inner(d, pinv(A)*c)
assume beta != 0
show pinv(A + c*d.T) = pinv(A) - pinv(A)*c*d.T*pinv(A)/beta
""",
    "rank one update complex": """
let n, k : dimension
let A : complex matrix(n, k)
let c : complex vector(n)
let d : complex vector(k)
define b = 1 + d.H*pinv(A)*c
define w = (eye(n) - A*pinv(A))*c
define m = (eye(k) - pinv(A)*A)*d
assume norm2(w) > 0
assume norm2(m) > 0
define X = pinv(A) - pinv(A)*c*w.H/norm2(w) - m*d.H*pinv(A)/norm2(m) + b*m*w.H/(norm2(m)*norm2(w))
show pinv(A + c*d.H) = X
""",
    "new row": """
let n, k : dimension
let A : matrix(n, k)
let a : vector(k)
define d = a.T*pinv(A)
define c = a.T - d*A
assume norm2(c.T) > 0
define b = c.T/norm2(c.T)
show pinv(block([[A], [a.T]])) = block([[pinv(A) - b*d, b]])
""",
    "bordered": """
let n, k : dimension
let A : matrix(n, k)
assume full_column_rank(A)
define X = block([[eye(n) - A*pinv(A), pinv(A).T], [pinv(A), -inv(A.T*A)]])
show inv(block([[eye(n), A], [A.T, zeros(k, k)]])) = X
""",
    "range hermitian square": """
let n : dimension
let A : complex matrix(n, n)
assume A*pinv(A) = pinv(A)*A
show pinv(A^2) = pinv(A)^2
""",
    "hermitian square": """
let n : dimension
let A : complex matrix(n, n)
assume hermitian(A)
show pinv(A^2) = pinv(A)^2
""",
    "commuting projections": """
let n : dimension
let P, Q : complex matrix(n, n)
assume hermitian(P)
assume idempotent(P)
assume hermitian(Q)
assume idempotent(Q)
assume commute(P, Q)
show pinv(P*Q) = P*Q
""",
    "projection difference": """
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
assume symmetric(Q)
assume idempotent(Q)
assume commute(P, Q)
show pinv(P - Q) = P - Q
""",
    "normal equations": """
let n, k : dimension
let A : complex matrix(n, k)
let b : complex vector(n)
show A.H*A*(pinv(A)*b) = A.H*b
""",
    "pythagoras residual": """
let n, k : dimension
let A : matrix(n, k)
let b : vector(n)
show norm2(b) = norm2(A*pinv(A)*b) + norm2(b - A*pinv(A)*b)
""",
    "pythagoras solution": """
let n, k : dimension
let A : matrix(n, k)
let b : vector(n)
let x : vector(k)
assume A*x = b
show norm2(x) = norm2(pinv(A)*b) + norm2(x - pinv(A)*b)
""",
    "trace full columns": """
let n, k : dimension
let A : matrix(n, k)
assume full_column_rank(A)
show tr(A*pinv(A)) = k
""",
    "complement": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(eye(k) - pinv(A)*A) = eye(k) - pinv(A)*A
""",
    "unitary left": """
let n, k : dimension
let A : complex matrix(n, k)
let U : complex matrix(n, n)
assume unitary(U)
show pinv(U*A) = pinv(A)*U.H
""",
    "range inclusion": """
let n, k, m : dimension
let A : complex matrix(n, k)
let Z : complex matrix(k, m)
let B : complex matrix(n, m)
assume B = A*Z
show A*pinv(A)*B = B
""",
    "gram pinv": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(A)*pinv(A).H = pinv(A.H*A)
""",
    "hat matrix": """
let n, k : dimension
let X : matrix(n, k)
assume full_column_rank(X)
show tr(X*inv(X.T*X)*X.T) = k
""",
    "vector": """
let n : dimension
let x : complex vector(n)
assume norm2(x) > 0
show pinv(x)*x = 1
""",
    "unit vectors": """
let n, k : dimension
let u : vector(n)
let v : vector(k)
assume norm2(u) = 1
assume norm2(v) = 1
show pinv(u*v.T) = v*u.T
""",
    "doubled": """
let n, k : dimension
let A : matrix(n, k)
show pinv(block([[A], [A]])) = 1/2*block([[pinv(A), pinv(A)]])
""",
    "four times": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(block([[A, A], [A, A]])) = 1/4*block([[pinv(A), pinv(A)], [pinv(A), pinv(A)]])
""",
    "kron eye": """
let n, k, m : dimension
let A : matrix(n, k)
show pinv(kron(A, eye(m))) = kron(pinv(A), eye(m))
""",
    "factor through": """
let n, k, m : dimension
let A : complex matrix(n, k)
let B : complex matrix(k, m)
assume full_row_rank(B)
show A*B*pinv(A*B) = A*pinv(A)
""",
    "pinv of product with own adjoint": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(A.H*A)*A.H*A = pinv(A)*A
""",
    "sum of grams": """
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(n, m)
assume A.T*B = zeros(k, m)
show pinv(A*A.T + B*B.T) = pinv(A*A.T) + pinv(B*B.T)
""",
}
FALSE = {
    "reverse order": """
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
show pinv(A*B) = pinv(B)*pinv(A)
""",
    "reverse order half": """
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
assume pinv(A)*A*B*B.T*A.T = B*B.T*A.T
show pinv(A*B) = pinv(B)*pinv(A)
""",
    "sum": """
let n, k : dimension
let A, B : matrix(n, k)
assume A.T*B = zeros(k, k)
show pinv(A + B) = pinv(A) + pinv(B)
""",
    "transpose for adjoint": """
let n, k : dimension
let A : complex matrix(n, k)
show pinv(A*A.T) = pinv(A.T)*pinv(A)
""",
    "greville first formula always": """
let n, k : dimension
let A : matrix(n, k)
let a : vector(n)
define d = pinv(A)*a
define b = d.T*pinv(A)/(1 + norm2(d))
show pinv(block([[A, a]])) = block([[pinv(A) - d*b], [b]])
""",
    "scaled": """
let n, k : dimension
let A : matrix(n, k)
let c : real
assume c != 0
show pinv(c*A) = c*pinv(A)
""",
    "square": """
let n : dimension
let A : matrix(n, n)
show pinv(A)^2 = pinv(A^2)
""",
    "commutes": """
let n : dimension
let A : matrix(n, n)
show A*pinv(A) = pinv(A)*A
""",
    "oblique": """
let n : dimension
let P : matrix(n, n)
assume idempotent(P)
show pinv(P) = P
""",
    "full columns alone": """
let n, k, r : dimension
let F : matrix(n, r)
let G : matrix(r, k)
assume full_column_rank(F)
show pinv(F*G) = pinv(G)*pinv(F)
""",
    "two projections hermitian": """
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
assume symmetric(Q)
assume idempotent(Q)
show pinv(P*Q).T = pinv(P*Q)
""",
    "triangular": """
let n : dimension
let A, B, C : matrix(n, n)
define X = block([[pinv(A), -pinv(A)*B*pinv(C)], [zeros(n, n), pinv(C)]])
show pinv(block([[A, B], [zeros(n, n), C]])) = X
""",
    "left inverse": """
let n, k : dimension
let A : matrix(n, k)
show pinv(A)*A = eye(k)
""",
    "rank one sign": """
let n, k : dimension
let x : vector(n)
let y : vector(k)
assume norm2(x) > 0
assume norm2(y) > 0
show pinv(x*y.T) = y*x.T/(norm2(x) + norm2(y))
""",
    "inner inverse": """
let n, k : dimension
let A : matrix(n, k)
let G : matrix(k, n)
assume A*G*A = A
show pinv(A) = G*A*G
""",
    "ones": """
let n : dimension
show pinv(ones(n, n)) = 1/n*ones(n, n)
""",
    "stacked columns": """
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(n, m)
show pinv(block([[A, B]])) = block([[pinv(A)], [pinv(B)]])
""",
    "orthonormal rows": """
let n, k, m : dimension
let Q : matrix(n, k)
let B : matrix(k, m)
assume Q*Q.T = eye(n)
show pinv(Q*B) = pinv(B)*Q.T
""",
    "sherman morrison anywhere": """
let n, k : dimension
let A : matrix(n, k)
let c : vector(n)
let d : vector(k)
define beta = 1 + inner(d, pinv(A)*c)
assume beta != 0
show pinv(A + c*d.T) = pinv(A) - pinv(A)*c*d.T*pinv(A)/beta
""",
    "projection difference": """
let n : dimension
let P, Q : matrix(n, n)
assume symmetric(P)
assume idempotent(P)
assume symmetric(Q)
assume idempotent(Q)
show pinv(P - Q) = P - Q
""",
    "factor through": """
let n, k, m : dimension
let A : matrix(n, k)
let B : matrix(k, m)
show A*B*pinv(A*B) = A*pinv(A)
""",
    "doubled": """
let n, k : dimension
let A : matrix(n, k)
show pinv(block([[A], [A]])) = block([[pinv(A), pinv(A)]])
""",
    "hermitian square general": """
let n : dimension
let A : matrix(n, n)
assume A^2 = A
show pinv(A^2) = pinv(A)^2
""",
    "trace any": """
let n, k : dimension
let A : matrix(n, k)
show tr(A*pinv(A)) = k
""",
    "vector anyway": """
let n : dimension
let x : vector(n)
show pinv(x)*x = 1
""",
}


@pytest.mark.parametrize("name", TRUE)
def test_fact_about_pseudo_inverses_is_proved(name: str) -> None:
    (goal,) = parse(TRUE[name]).statements
    certificate = prove(goal, 30)
    assert not isinstance(certificate, Failure), certificate
    check(goal, certificate)


@pytest.mark.parametrize("name", FALSE)
def test_false_neighbour_is_refuted_and_not_proved(name: str) -> None:
    (goal,) = parse(FALSE[name]).statements
    assert refute(goal, seconds=10, seed=1).witness is not None
    assert isinstance(prove(goal, 0.5), Failure)
