"""Kernels of gradients and Jacobian-vector products, by the path that every kernel takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sympy import Inverse, MatrixSymbol, Symbol, Trace, exp

from derive.calculus import CalculusError, RankChangeError
from derive.derivatives import gradient_of, jvp
from derive.emit.memory import compile
from derive.library import find
from derive.logratio import LOGITS, J, P, softmax
from derive.notation import Pinv, column, size
from derive.steps import Argument, Derivation, Kernel

N = size("n")
X, M = column("x", N), MatrixSymbol("M", N, N)
NO_TABLE: dict[str, Any] = {"title": "a derivative", "equation": "d f", "regimes": ()}


def quadratic(value: Any) -> Derivation:
    return Derivation(
        name="example.form",
        title="a form",
        source="none",
        inputs=(X, M),
        steps=(),
        result={"value": value},
        equation="f",
        kernel=Kernel(
            arguments=(Argument(X, "vector", (N,)), Argument(M, "matrix", (N, N))),
            outputs={"value": "a form"},
            domain=("any",),
        ),
    )


def run(derivation: Derivation, *values: Any) -> Any:
    """The derivative's kernel on given values, in memory."""
    kernel = derivation.kernel
    assert kernel is not None
    ((name, value),) = derivation.result.items()
    arguments = [argument.symbol for argument in kernel.arguments]
    return compile(value, arguments, axes=kernel.axes.get(name, ()))(*values)


def test_gradient_of_a_quadratic_form():
    rng = np.random.default_rng(0)
    x, m = rng.normal(size=(4, 3)), rng.normal(size=(4, 3, 3))
    asked = gradient_of(quadratic(X.T * M * X), X, **NO_TABLE)
    got = run(asked, x, m)
    want = ((m + np.swapaxes(m, -1, -2)) @ x[..., None])[..., 0]
    np.testing.assert_allclose(got, want, rtol=1e-14)
    assert asked.name == "example.form_gradient"
    assert [step.rule for step in asked.steps] == ["example.form", "the rules of differentials"]


def test_jvp_of_a_vector_by_its_matrix():
    rng = np.random.default_rng(1)
    x, m, along = rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    asked = jvp(quadratic(M * M * X), M, **NO_TABLE)
    got, step = run(asked, x, m, along), 1e-6
    want = ((m + step * along) @ (m + step * along) - (m - step * along) @ (m - step * along)) @ x
    np.testing.assert_allclose(got, want / (2 * step), rtol=1e-8)


def test_scalar_jvp():
    beta, start, time = (Symbol(name, positive=True) for name in ("beta", "lambda0", "time"))
    value = start * exp(-2 * beta * time) / (1 + beta * start)
    decay = replace(
        quadratic(value),
        kernel=Kernel(
            arguments=tuple(Argument(s, "number") for s in (beta, start, time)),
            outputs={"value": "decayed"},
            domain=("all positive",),
        ),
    )
    got = run(jvp(decay, time, **NO_TABLE), 2.0, 1.5, 0.3, np.array([1.0, 3.0]))
    slope = -4 * 1.5 * np.exp(-1.2) / 4
    np.testing.assert_allclose(got, [slope, 3 * slope], rtol=1e-15)


def test_a_listed_derivative_is_a_derivation_like_any_other():
    derivation = find("logratio.row_jvp")
    assert derivation.result["row_jvp"].has(LOGITS)
    assert [a.name for a in derivation.kernel.arguments] == ["logits", "d_logits"]  # type: ignore[union-attr]
    assert "sum_k" in derivation.equation
    gradient = find("logratio.log_det_jacobian_gradient").result["gradient"]
    assert gradient == P * softmax(J) - 1


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: jvp(find("risk.finite_example"), X, **NO_TABLE), CalculusError, "no kernel"),
        (lambda: jvp(quadratic(M * X), LOGITS, **NO_TABLE), CalculusError, "no real argument"),
        (lambda: gradient_of(quadratic(M * X), X, **NO_TABLE), CalculusError, "of a scalar"),
        (
            lambda: gradient_of(find("logratio.row"), LOGITS, index=J, **NO_TABLE),
            CalculusError,
            "not one scalar result",
        ),
        (lambda: gradient_of(quadratic(Trace(Pinv(M))), M, **NO_TABLE), RankChangeError, "jumps"),
        (
            lambda: jvp(find("logratio.log_ratios"), Symbol("anchor"), **NO_TABLE),
            CalculusError,
            "no real argument",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_refused(call: Any, error: type[Exception], said: str):
    with pytest.raises(error, match=said):
        call()


def test_gradient_with_an_inverse_needs_no_rank():
    asked = gradient_of(quadratic(X.T * Inverse(M) * X), X, **NO_TABLE)
    assert asked.result["gradient"] == Inverse(M) * X + Inverse(M).T * X
