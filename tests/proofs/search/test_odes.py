"""Differential equations: solutions, invariants and towers; false neighbours are never proved."""

from __future__ import annotations

import pytest

from proofs.language.parser import parse
from proofs.search.portfolio import Failure, prove
from tests.proofs.search.claims import assert_proved, assert_refuted, claims

HEAD = """let n : dimension
let t, y, r, K : real
let p : dimension
let c : positive
let A : matrix(n, n)
let f, g, h, q, v : function(real)
let x : function(real) -> matrix(n, 1)
let P, L, B : function(real) -> matrix(n, n)
"""
TRUE = claims("""
== a decay and its integrating factor
assume for all u : real : diff(v(u), u) = -2*v(u)
show diff(v(t)*exp(2*t), t) = 0
== growth, three times
assume for all u : real : diff(v(u), u) = v(u)
show diff(v(t), t, 3) = v(t)
== the energy of an oscillator
assume for all u : real : diff(h(u), u) = q(u)
assume for all u : real : diff(q(u), u) = -h(u)
show diff(h(t)^2 + q(t)^2, t) = 0
== an oscillator, twice
assume for all u : real : diff(h(u), u) = q(u)
assume for all u : real : diff(q(u), u) = -h(u)
show diff(h(t), t, 2) = -h(t)
== the logistic equation, twice
assume K != 0
assume for all u : real : diff(v(u), u) = r*v(u)*(1 - v(u)/K)
show diff(v(t), t, 2) = r^2*v(t)*(1 - v(t)/K)*(1 - 2*v(t)/K)
== a damped oscillation
define z = r*exp(-t)*sin(t)
show diff(z, t, 2) + 2*diff(z, t) + 2*z = 0
== a rotation keeps the norm
assume for all u : real : diff(x(u), u) = A*x(u)
assume A.T = -A
show diff(norm2(x(t)), t) = 0
== the inverse of a flow
assume for all u : real : diff(P(u), u) = A*P(u)
assume invertible(P(t))
show diff(inv(P(t)), t) = -inv(P(t))*A
== Liouville's formula
assume for all u : real : diff(P(u), u) = A*P(u)
assume det(P(t)) > 0
show diff(log(det(P(t))), t) = tr(A)
== an isospectral flow
assume for all u : real : diff(L(u), u) = B(u)*L(u) - L(u)*B(u)
show diff(tr(L(t)^3), t) = 0
== at the point alone
assume diff(v(t), t) = -2*v(t)
show diff(v(t)*exp(2*t), t) = 0
== circle
show diff(sin(t)^2 + cos(t)^2, t) = 0
== hyperbolic tangent, twice
show diff(tanh(t), t, 2) = -2*tanh(t)*(1 - tanh(t)^2)
== error function, twice
show diff(erf(t), t, 2) = -2*t*diff(erf(t), t)
== Wright's omega
define w = lambertw(exp(t))
show diff(w, t) = w/(1 + w)
== Wright's omega, twice
define w = lambertw(exp(t))
show diff(w, t, 2) = w/(1 + w)^3
== an absolute value, left of zero
assume t < 0
show diff(abs(t), t) = -1
== the chain rule
assume y = g(t)
show diff(f(g(t)), t) = diff(f(y), y)*diff(g(t), t)
== the chain rule at a sine
assume y = sin(t)
show diff(f(sin(t)), t) = diff(f(y), y)*cos(t)
== any power
show diff(t^(p + 1), t) = (p + 1)*t^p
== a real power
assume t > 0
show diff(t^r, t) = r*t^(r - 1)
== a base of an exponential
show diff(c^t, t) = log(c)*c^t
== a negative power
assume t > 0
show diff(t^-2, t) = -2/t^3
== a quotient, twice
assume t > 0
show diff(log(t)/t, t, 2) = (2*log(t) - 3)/t^3
== log-sum-exp
show diff(logsumexp(t*x(t)), t) = inner(softmax(t*x(t)), x(t) + t*diff(x(t), t))
== blocks
define slope = block([[diff(P(t), t), diff(L(t), t)], [diff(B(t), t), zeros(n, n)]])
show diff(block([[P(t), L(t)], [B(t), A]]), t) = slope
""")
REFUTED = claims("""
== the tangent without its square
show diff(tanh(t), t) = 1 - tanh(t)
== a cosine without its sign
show diff(cos(t), t) = sin(t)
== an error function without its factor
show diff(erf(t), t) = exp(-t^2)
== Wright's omega
define w = lambertw(exp(t))
show diff(w, t) = w/(2 + w)
== the chain rule at the wrong point
assume y = t
show diff(f(g(t)), t) = diff(f(y), y)*diff(g(t), t)
== any power
show diff(t^(p + 1), t) = p*t^p
== a softmax
show diff(logsumexp(t*x(t)), t) = inner(softmax(x(t)), x(t) + t*diff(x(t), t))
== at the point alone, once more
assume diff(v(t), t) = v(t)
show diff(v(t), t, 2) = v(t)
""")
NOT_PROVED = claims("""
== a decay with another factor
assume for all u : real : diff(v(u), u) = -2*v(u)
show diff(v(t)*exp(t), t) = 0
== an oscillator's other sign
assume for all u : real : diff(h(u), u) = q(u)
assume for all u : real : diff(q(u), u) = -h(u)
show diff(h(t)^2 - q(t)^2, t) = 0
== a rotation that isn't one
assume for all u : real : diff(x(u), u) = A*x(u)
assume A.T = A
show diff(norm2(x(t)), t) = 0
== Liouville's formula with a determinant that may vanish
assume for all u : real : diff(P(u), u) = A*P(u)
show diff(log(det(P(t))), t) = tr(A)
== an absolute value at zero
assume t = 0
show diff(abs(t), t) = 0
== an absolute value whose square is smooth
show diff(abs(t)^2, t) = 2*t
== a maximum
assume t > 0
show diff(max(t, 0), t) = 1
== a pseudo-inverse that loses its rank
assume t = 0
show diff(pinv(t*A), t) = zeros(n, n)
== a pseudo-inverse of any rank
show diff(P(t)*pinv(P(t))*P(t), t) = diff(P(t), t)
== a projection of a rank that changes
assume t = 0
show diff(A*pinv(A + t*eye(n)), t) = zeros(n, n)
== a density along a path that leaves the symmetric matrices
assume positive_definite(eye(n) + t*A)
show diff(logpdf(x(0); x(0), eye(n) + t*A), t) = -1/2*tr(inv(eye(n) + t*A)*A)
== the same at a point where it is symmetric
assume t = 0
assume positive_definite(eye(n) + t*A)
show diff(logpdf(x(0); x(0), eye(n) + t*A), t) = -1/2*tr(A)
""")


@pytest.mark.parametrize("name", TRUE)
def test_it_is_proved(name: str):
    assert_proved(HEAD + TRUE[name])


@pytest.mark.parametrize("name", REFUTED)
def test_a_false_neighbour_is_refuted(name: str):
    assert_refuted(HEAD + REFUTED[name])


@pytest.mark.parametrize("name", NOT_PROVED)
def test_a_false_or_undefined_neighbour_is_not_proved(name: str):
    assert isinstance(prove(parse(HEAD + NOT_PROVED[name]).statements[0], 2.0), Failure)


SMOOTH = claims("""
== full rows
let n, k : dimension
let X, V : matrix(n, k)
let t : real
assume full_row_rank(X + t*V)
show diff((X + t*V)*pinv(X + t*V), t) = zeros(n, n)
== full columns
let n, k : dimension
let X, V : matrix(n, k)
let t : real
assume full_column_rank(X + t*V)
show diff(pinv(X + t*V)*(X + t*V), t) = zeros(k, k)
== a density along a symmetric path
let n : dimension
let s, m : vector(n)
let S, V : matrix(n, n)
let t : real
assume symmetric(S)
assume symmetric(V)
define Q = S + t*V
assume positive_definite(Q)
show diff(logpdf(s; m, Q), t) = 1/2*(inner(s - m, inv(Q)*V*inv(Q)*(s - m)) - tr(inv(Q)*V))
""")


@pytest.mark.parametrize("name", SMOOTH)
def test_it_is_smooth_where_the_rank_is_full_and_the_covariance_symmetric(name: str):
    assert_proved(SMOOTH[name])
