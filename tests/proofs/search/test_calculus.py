"""Derivatives of matrix functions, once and twice; false neighbours are never proved."""

from __future__ import annotations

import pytest

from proofs.language.parser import parse
from proofs.search.portfolio import Failure, prove

HEAD = """let n, k : dimension
let A, X, V, W : matrix(n, n)
let B : matrix(k, k)
let x, v : vector(n)
let t, a : real
let f : function(real)
define Y = X + t*V
"""
UNIT = "assume invertible(Y)\n"
TRUE = {
    "determinant": UNIT + "show diff(det(Y), t) = det(Y)*tr(inv(Y)*V)",
    "determinant, singular too": "show diff(det(Y), t) = tr(adj(Y)*V)",
    "logarithm": "assume det(Y) > 0\nshow diff(log(det(Y)), t) = tr(inv(Y)*V)",
    "of a product": UNIT + "show diff(det(A*Y), t) = det(A)*det(Y)*tr(inv(Y)*V)",
    "determinant twice": UNIT
    + "show diff(det(Y), t, 2) = det(Y)*(tr(inv(Y)*V)^2 - tr(inv(Y)*V*inv(Y)*V))",
    "inverse twice": UNIT + "show diff(inv(Y), t, 2) = 2*inv(Y)*V*inv(Y)*V*inv(Y)",
    "at a point": "assume t = 0\nshow diff(det(eye(n) + t*A), t, 2) = tr(A)^2 - tr(A*A)",
    "Kronecker": "show diff(kron(Y, B), t) = kron(V, B)",
    "entrywise": "show diff(hadamard(Y, Y), t) = hadamard(V, Y) + hadamard(Y, V)",
    "norm": "show diff(norm2(x + t*v), t) = 2*inner(v, x + t*v)",
    "norm twice": "show diff(norm2(x + t*v), t, 2) = 2*norm2(v)",
    "Frobenius": "show diff(norm2(Y), t) = 2*tr(V.T*Y)",
    "quotient": "assume norm2(x + t*v) > 0\nshow diff(1/norm2(x + t*v), t) = "
    "-2*inner(v, x + t*v)/norm2(x + t*v)^2",
    "logarithm twice": "assume a > 0\nassume t > 0\nshow diff(log(a*t), t, 2) = -1/t^2",
    "along a curve": "define Z = X + t*V + t^2*W\nassume invertible(Z)\n"
    "show diff(inv(Z), t) = -inv(Z)*(V + 2*t*W)*inv(Z)",
    "a determinant along a curve, twice": "define Z = X + t*V + t^2*W\nassume invertible(Z)\n"
    "define Q = inv(Z)*(V + 2*t*W)\n"
    "show diff(det(Z), t, 2) = det(Z)*(2*tr(inv(Z)*W) + tr(Q)^2 - tr(Q*Q))",
    "three times": "show diff(t^4, t, 3) = 24*t",
    "four times": "show diff(t^4*W, t, 4) = 24*W",
    "an exponential, thrice": "show diff(exp(a*t), t, 3) = a^3*exp(a*t)",
    "a reciprocal, thrice": "assume t > 0\nshow diff(1/t, t, 3) = -6/t^4",
    "any function": "show diff(t*f(t), t, 2) = 2*diff(f(t), t) + t*diff(f(t), t, 2)",
}
FALSE = {
    "determinant": UNIT + "show diff(det(Y), t) = det(Y)*tr(inv(Y)*V.T)",
    "singular": "show diff(det(Y), t) = tr(Y*V)",
    "logarithm": "assume det(Y) > 0\nshow diff(log(det(Y)), t) = tr(Y*V)",
    "determinant twice": UNIT
    + "show diff(det(Y), t, 2) = det(Y)*(tr(inv(Y)*V)^2 + tr(inv(Y)*V*inv(Y)*V))",
    "inverse twice": UNIT + "show diff(inv(Y), t, 2) = inv(Y)*V*inv(Y)*V*inv(Y)",
    "at a point": "assume t = 0\nshow diff(det(eye(n) + t*A), t, 2) = tr(A)^2 + tr(A*A)",
    "a point before": "assume t^2 = 1\nshow diff(t^2, t) = 0",
    "a power": "assume t = 1\nshow diff(t^3, t, 2) = 0",
    "entrywise": "show diff(hadamard(Y, Y), t) = hadamard(V, Y)",
    "along a curve": "define Z = X + t*V + t^2*W\nassume invertible(Z)\n"
    "show diff(inv(Z), t) = -inv(Z)*(V + t*W)*inv(Z)",
    "three times": "show diff(t^4, t, 3) = 12*t",
    "an exponential, thrice": "show diff(exp(a*t), t, 3) = a^2*exp(a*t)",
    "thrice at a kink": "show diff(abs(t)*t^3, t, 3) = 24*abs(t)",
    "norm twice": "show diff(norm2(x + t*v), t, 2) = norm2(v)",
    "logarithm twice": "assume a > 0\nassume t > 0\nshow diff(log(a*t), t, 2) = 1/t^2",
    "not smooth": "show diff(abs(t), t, 2) = 0",
    "a kink": "show diff(sqrt(t^2), t) = 1",
}


@pytest.mark.parametrize("name", TRUE)
def test_derivatives_are_proved(name: str):
    found = prove(parse(f"{HEAD}{TRUE[name]}").statements[0], 20.0)
    assert not isinstance(found, Failure), found


@pytest.mark.parametrize("name", FALSE)
def test_false_neighbours_are_not_proved(name: str):
    assert isinstance(prove(parse(f"{HEAD}{FALSE[name]}").statements[0], 2.0), Failure)
