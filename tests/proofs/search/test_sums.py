"""Sums and products of symbolic length: true statements proved, false neighbours refuted."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted

HEAD = """let n, k, p : dimension
let x, y : vector(n)
let u : vector(n + 1)
let a, b : vector(k)
let A, B : matrix(n, n)
let c, q : real
"""
TRUE = {
    "linear": "sum(2*x[j] + c*y[j], j, 1, n) = 2*sum(x[j], j, 1, n) + c*sum(y[j], j, 1, n)",
    "a square about c": "sum((x[j] - c)^2, j, 1, n) = norm2(x) - 2*c*sum(x[j], j, 1, n) + n*c^2",
    "inner": "sum(x[j]*y[j], j, 1, n) = inner(x, y)",
    "norm": "norm2(x) = sum(x[j]^2, j, 1, n)",
    "trace": "tr(A) = sum(A[j, j], j, 1, n)",
    "an entry of a product": "sum(A[1, r]*x[r], r, 1, n) = (A*x)[1]",
    "constant": "sum(c, j, 1, n) = n*c",
    "a factor inside": "sum(exp(x[r] + c), r, 1, n) = exp(c)*sum(exp(x[r]), r, 1, n)",
    "units": "sum(x[j]*unit(n, j), j, 1, n) = x",
    "all units": "sum(A*unit(n, j)*unit(n, j).T*B, j, 1, n) = A*B",
    "a trace of a sum": "tr(sum(x[j]*A, j, 1, n)) = tr(A)*sum(x[j], j, 1, n)",
    "a transpose": "sum(x[j]*A, j, 1, n).T = sum(x[j], j, 1, n)*A.T",
    "on the right": "sum((x*y.T)^r*A, r, 1, p) = sum((x*y.T)^r, r, 1, p)*A",
    "in an inner product": "inner(x, sum(A^r, r, 1, p)*y) = sum(inner(x, A^r*y), r, 1, p)",
    "in a trace": "tr(sum(A^r, r, 1, p).T*B) = sum(tr(A^r*B.T), r, 1, p)",
    "a product of sums": "sum(sum(x[j]*a[r], j, 1, n), r, 1, k)"
    " = sum(x[j], j, 1, n)*sum(a[r], r, 1, k)",
    "exchanged": "sum(sum(exp(x[j]*a[r]), j, 1, n), r, 1, k)"
    " = sum(sum(exp(x[j]*a[r]), r, 1, k), j, 1, n)",
    "numbers": "sum(j, j, 1, p) = p*(p + 1)/2",
    "numbers from 0": "sum(j, j, 0, p - 1) = p*(p - 1)/2",
    "squares": "sum(j^2, j, 1, p) = p*(p + 1)*(2*p + 1)/6",
    "cubes": "sum(j^3, j, 1, p) = p^2*(p + 1)^2/4",
    "geometric": "(q - 1)*sum(q^r, r, 0, p - 1) = q^p - 1",
    "geometric, of matrices": "(eye(n) - A)*sum(A^r, r, 0, p - 1) = eye(n) - A^p",
    "the last": "sum(q^r, r, 0, p) = sum(q^r, r, 0, p - 1) + q^p",
    "shifted": "sum(q^r, r, 0, p - 1) = sum(q^(r - 1), r, 1, p)",
    "reversed": "sum(q^(p - 1 - r)*c^r, r, 0, p - 1) = sum(q^r*c^(p - 1 - r), r, 0, p - 1)",
    "telescope": "sum(u[j + 1] - u[j], j, 1, n) = u[n + 1] - u[1]",
    "a product of multiples": "prod(c*x[j], j, 1, n) = c^n*prod(x[j], j, 1, n)",
    "a constant product": "prod(c, j, 1, p) = c^p",
}
FALSE = {
    "linear": "sum(2*x[j] + c*y[j], j, 1, n) = 2*sum(x[j], j, 1, n) + sum(y[j], j, 1, n)",
    "a square about c": "sum((x[j] - c)^2, j, 1, n) = norm2(x) - 2*c*sum(x[j], j, 1, n) + c^2",
    "inner": "sum(x[j]*y[j], j, 1, n) = sum(x[j], j, 1, n)*sum(y[j], j, 1, n)",
    "trace": "tr(A) = sum(A[1, j], j, 1, n)",
    "constant": "sum(c, j, 1, n) = c",
    "constant from 0": "sum(c, j, 0, n) = n*c",
    "a factor inside": "sum(exp(x[r] + c), r, 1, n) = c*sum(exp(x[r]), r, 1, n)",
    "units": "sum(x[j]*unit(n, j), j, 1, n) = ones(n, 1)",
    "the other side": "sum(A^r*B, r, 1, p) = B*sum(A^r, r, 1, p)",
    "a trace of a product": "tr(sum(A^r, r, 1, p)*B) = tr(B)*sum(tr(A^r), r, 1, p)",
    "numbers": "sum(j, j, 1, p) = p*(p - 1)/2",
    "squares": "sum(j^2, j, 1, p) = p^2*(p + 1)/2",
    "geometric": "(q - 1)*sum(q^r, r, 0, p) = q^p - 1",
    "the last": "sum(q^r, r, 0, p) = sum(q^r, r, 0, p - 1) + q^(p - 1)",
    "shifted": "sum(q^r, r, 0, p - 1) = sum(q^r, r, 1, p)",
    "telescope": "sum(u[j + 1] - u[j], j, 1, n) = u[n] - u[1]",
    "a product of multiples": "prod(c*x[j], j, 1, n) = c*prod(x[j], j, 1, n)",
    "out of range": "sum(u[j + 2] - u[j], j, 1, n) = u[1]",
}


@pytest.mark.parametrize("name", TRUE)
def test_it_is_proved(name: str) -> None:
    assert_proved(f"{HEAD}show {TRUE[name]}\n")


@pytest.mark.parametrize("name", FALSE)
def test_its_false_neighbour_is_refuted(name: str) -> None:
    assert_refuted(f"{HEAD}show {FALSE[name]}\n")
