"""Gradients: where there is none, what one needs, and the step that certifies it."""

from __future__ import annotations

import pytest

from proofs.checker.definedness import NotDefined, obligations
from proofs.checker.judge import Rejected, check
from proofs.language.infer import Scope
from proofs.language.parser import parse
from proofs.search.portfolio import Failure, prove

HEAD = """let n, k : dimension
let A, B, X : matrix(n, n)
let M : matrix(k, n)
let a, x : vector(n)
let b : vector(k)
let s : real
"""
NOT_SMOOTH = {
    "a norm at the origin": "show grad(sqrt(norm2(x)), x) = x",
    "a norm where it may vanish": "show grad(sqrt(norm2(M*x)), x) = M.T*M*x",
    "an absolute value": "show grad(abs(s), s) = 1",
    "an absolute value of a form": "show grad(abs(inner(a, x)), x) = a",
    "a maximum": "show grad(max(x), x) = a",
    "a determinant's logarithm where it may vanish": "show grad(log(det(X)), X) = inv(X).T",
    "a density by its covariance, which is no covariance nearby": "assume positive_definite(X)\n"
    "show grad(logpdf(x; a, X), X) = zeros(n, n)",
    "a pseudo-inverse of any rank": "show grad(tr(A*pinv(X)), X) = zeros(n, n)",
}


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
