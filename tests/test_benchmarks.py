"""The kernel benchmark runs, and its references agree with one another."""

from __future__ import annotations

import importlib.util
import json
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from benchmarks import __main__, errors
from benchmarks.cases import case, cases
from benchmarks.cases.digits import certain
from benchmarks.cases.exact import independent_rows, solve
from benchmarks.compiled import LOOPS, jax_call, numba_call
from benchmarks.kernels import as_json, as_table, contenders, kernel_function, measure


def test_a_row_has_times_errors_and_bounds():
    row = measure("logratio.log_ratios", count=5, batch=50)
    assert row.ratios["hand-written"] == 1.0
    compiled = {"numba", "jax"}  # where they are installed
    assert all(ratio is not None for key, ratio in row.ratios.items() if key not in compiled)
    assert set(row.ratios) == {"kernel", "hand-written", "lambdify", "lambdify cse", *compiled}
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


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_computes_what_its_kernel_does(name: str):
    """As plain Python, so that numba need not be installed; compiled where it is."""
    arguments = case(name).regimes["typical"](np.random.default_rng(2), 4)
    for regime in ("typical", "saturated"):
        if regime in case(name).regimes:
            arguments = case(name).regimes[regime](np.random.default_rng(2), 4)
            want, got = kernel_function(name)(**arguments), LOOPS[name](**arguments)
            want, got = (x if isinstance(x, tuple) else (x,) for x in (want, got))
            for left, right in zip(got, want, strict=True):
                np.testing.assert_allclose(left, right, rtol=1e-11, atol=1e-14)
    call = numba_call(name, arguments)
    assert (call is None) == (importlib.util.find_spec("numba") is None)


def test_compiled_contenders_are_none_where_they_make_no_sense():
    arguments = case("logratio.log_ratios_of_row").regimes["typical"](np.random.default_rng(0), 2)
    assert numba_call("logratio.log_ratios_of_row", arguments) is None
    assert jax_call(kernel_function("logratio.log_ratios_of_row"), arguments) is None  # not traced
    flow = case("flow.terminal_eigenvalue").regimes["typical"](np.random.default_rng(0), 2)
    assert jax_call(kernel_function("flow.terminal_eigenvalue"), flow) is None  # calls SciPy


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
