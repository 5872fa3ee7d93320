"""Gradients of scalars by vectors and matrices; false neighbours are refuted."""

from __future__ import annotations

import pytest

from proofs.checker.definedness import NotDefined, obligations
from proofs.checker.judge import Rejected, check
from proofs.language.infer import Scope
from proofs.language.parser import parse
from proofs.refute import refute
from proofs.search.portfolio import Failure, prove
from tests.proofs.search.claims import assert_proved, claims

HEAD = """let n, k : dimension
let A, B, X : matrix(n, n)
let M : matrix(k, n)
let a, x : vector(n)
let b : vector(k)
let s : real
"""
TRUE = claims("""
== of a linear form
show grad(inner(a, x), x) = a
== of a bilinear form
show grad(inner(a, X*x), X) = a*x.T
== of a quadratic form
show grad(inner(x, A*x), x) = (A + A.T)*x
== of a symmetric quadratic form
assume symmetric(A)
show grad(inner(x, A*x), x) = 2*A*x
== of least squares
show grad(norm2(M*x - b), x) = 2*M.T*(M*x - b)
== of a trace
show grad(tr(X), X) = eye(n)
== of a trace of a product
show grad(tr(A*X*B), X) = A.T*B.T
== of a trace with a transpose
show grad(tr(X.T*A*X), X) = (A + A.T)*X
== of a Frobenius norm
show grad(norm2(X), X) = 2*X
== of a determinant
assume invertible(X)
show grad(det(X), X) = det(X)*inv(X).T
== of a determinant, singular too
show grad(det(X), X) = adj(X).T
== of a log-determinant
assume det(X) > 0
show grad(log(det(X)), X) = inv(X).T
== of an inverse in a trace
assume invertible(X)
show grad(tr(A*inv(X)), X) = -(inv(X)*A*inv(X)).T
== of a norm
assume norm2(x) > 0
show grad(sqrt(norm2(x)), x) = x/sqrt(norm2(x))
== of a function of a form
show grad(exp(-inner(x, x)/2), x) = -exp(-inner(x, x)/2)*x
== by a scalar
show grad(s^3, s) = 3*s^2
== of an entry
show grad(x[1], x) = unit(n, 1)
== of a constant
show grad(tr(A), X) = zeros(n, n)
== of a Gaussian density in its mean
let S : matrix(n, n)
assume positive_definite(S)
show grad(logpdf(x; a, S), a) = inv(S)*(x - a)
""")
FALSE = claims("""
== a bilinear form turned
show grad(inner(a, X*x), X) = x*a.T
== a form that is not symmetric
show grad(inner(x, A*x), x) = 2*A*x
== a trace without the transpose
show grad(tr(A*X), X) = A
== a log-determinant without the transpose
assume det(X) > 0
show grad(log(det(X)), X) = inv(X)
== an inverse with another sign
assume invertible(X)
show grad(tr(A*inv(X)), X) = (inv(X)*A*inv(X)).T
== half of a Frobenius norm
show grad(norm2(X), X) = X
== the transpose of the adjugate forgotten
show grad(det(X), X) = adj(X)
== a point that is put in before
assume norm2(x) = 0
show grad(inner(a, x), x) = x
""")
NOT_SMOOTH = claims("""
== a norm at the origin
show grad(sqrt(norm2(x)), x) = x
== a norm where it may vanish
show grad(sqrt(norm2(M*x)), x) = M.T*M*x
== an absolute value
show grad(abs(s), s) = 1
== an absolute value of a form
show grad(abs(inner(a, x)), x) = a
== a maximum
show grad(max(x), x) = a
== a determinant's logarithm where it may vanish
show grad(log(det(X)), X) = inv(X).T
== a density by its covariance, which is no covariance nearby
assume positive_definite(X)
show grad(logpdf(x; a, X), X) = zeros(n, n)
== a pseudo-inverse of any rank
show grad(tr(A*pinv(X)), X) = zeros(n, n)
""")


@pytest.mark.parametrize("name", TRUE)
def test_a_gradient_is_found(name: str):
    assert_proved(HEAD + TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_a_false_gradient_is_refuted(name: str):
    statement = parse(HEAD + FALSE[name]).statements[0]
    assert isinstance(prove(statement, 2.0), Failure)
    print("seed 1")
    found = refute(statement, seconds=5, seed=1)
    assert found.witness is not None, str(found.stats)


@pytest.mark.parametrize("name", NOT_SMOOTH)
def test_where_a_function_is_not_smooth_there_is_no_gradient(name: str):
    statement = parse(HEAD + NOT_SMOOTH[name]).statements[0]
    found = prove(statement, 2.0)
    assert isinstance(found, Failure)
    assert found.definedness


def test_a_gradient_is_defined_under_the_conditions_at_the_point():
    statement = parse(f"{HEAD}show grad(log(det(X)), X) = inv(X).T").statements[0]
    scope = Scope.of(statement.declarations)
    asked = parse(f"{HEAD}assume det(X) > 0\nassume invertible(X)\nshow 0 = 0").statements[0]
    assert set(obligations(statement.goal, scope)) == set(asked.hypotheses)
    with pytest.raises(NotDefined):
        obligations(parse(f"{HEAD}show grad(max(x), x) = x").statements[0].goal, scope)


def test_a_gradient_needs_its_directions():
    statement = parse(f"{HEAD}show grad(tr(A*X), X) = A.T").statements[0]
    found = prove(statement)
    assert not isinstance(found, Failure)
    assert found["steps"][-1]["rule"] == "gradient"
    assert check(statement, found).steps > 1
    with pytest.raises(Rejected):  # the last step alone
        check(statement, {**found, "steps": found["steps"][-1:]})
    false = parse(f"{HEAD}show grad(tr(A*X), X) = A").statements[0]
    with pytest.raises(Rejected):  # with another matrix
        check(false, {**found, "statement": false.hash})
    *before, last = found["steps"]
    for place in range(len(found["nodes"]) + 20):
        if place != last["type"]:
            with pytest.raises(Rejected):
                check(statement, {**found, "steps": [*before, {**last, "type": place}]})
