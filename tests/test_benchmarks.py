"""The kernel benchmark runs, and its references agree with one another."""

from __future__ import annotations

import json
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from benchmarks import __main__, errors
from benchmarks.cases import case, cases
from benchmarks.cases.digits import certain
from benchmarks.cases.exact import independent_rows, solve
from benchmarks.kernels import as_json, as_table, contenders, measure


def test_a_row_has_times_errors_and_bounds():
    row = measure("logratio.log_ratios", count=5, batch=50)
    assert row.ratios["hand-written"] == 1.0
    assert all(ratio is not None for ratio in row.ratios.values())
    assert set(row.errors) == set(row.bounds) == {"typical", "huge"}
    assert "log_ratios: huge" in as_table([row])
    assert json.loads(json.dumps(as_json([row])))[0]["name"] == "logratio.log_ratios"


def test_an_unknown_kernel_is_refused(capsys):
    assert __main__.main(["kernels", "flow.nothing"]) == 2
    assert "flow.terminal_eigenvalue" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(cases()))
def test_all_contenders_agree_on_the_typical_regime(name: str):
    arguments = case(name).regimes["typical"](np.random.default_rng(1), 20)
    first, *others = (
        result if isinstance(result, tuple) else (result,)
        for result in (f(**arguments) for f in contenders(name).values() if f is not None)
    )
    for result in others:
        for left, right in zip(first, result, strict=True):
            np.testing.assert_allclose(left, np.real(right), rtol=1e-6, atol=1e-9)


def test_hand_written_jacobian_is_wrong_where_the_kernel_is_right():
    name = "logratio.softmax_jacobian"
    error = errors.worst_error(name, "saturated", case(name).handwritten, seed=1, count=10)
    assert error > 0.5


def test_reference_raises_its_digits_until_two_precisions_agree():
    seen = []

    def unstable(instance):
        seen.append(mpmath.mp.dps)
        return [mpmath.mpf(1) / 3 if mpmath.mp.dps >= 400 else mpmath.mpf(mpmath.mp.dps)]

    certain(unstable, {})
    assert seen == [50, 100, 200, 400, 800]
    with pytest.raises(ArithmeticError):
        certain(lambda instance: [mpmath.mpf(mpmath.mp.dps)], {})


def test_exact_solver_and_independent_rows():
    matrix = [[Fraction(0), Fraction(2)], [Fraction(3), Fraction(1)]]
    assert solve(matrix, [[Fraction(2)], [Fraction(4)]]) == [[1], [1]]
    dependent = [[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)], [Fraction(0), Fraction(1)]]
    assert independent_rows(dependent) == [0, 2]


def test_errors_that_are_not_finite_are_infinite():
    error = errors.worst_error(
        "logratio.row", "typical", lambda logits: logits * np.nan, seed=1, count=2
    )
    assert error == np.inf
