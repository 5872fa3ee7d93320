"""The flow's closed forms solve its equation, keep its invariant and have its limits."""

from __future__ import annotations

import mpmath
import pytest
import sympy
from sympy import Rational, Symbol, diff, exp, log

from derive import flow

CLOCKS = [
    (flow.eigenvalue_appendix_clock, flow.THETA, lambda beta, clock: clock, 1),
    (flow.eigenvalue_main_clock, flow.TIME, lambda beta, clock: beta * clock, flow.BETA),
]
POINTS = [(Rational(3, 2), Rational(5, 4), Rational(1, 3)), (Rational(7), Rational(1, 5), 2)]


@pytest.mark.parametrize(("make", "clock", "theta", "pace"), CLOCKS)
def test_solution_has_the_slope_that_the_equation_asks_for(make, clock, theta, pace):
    solution = make().result["eigenvalue"]
    residual = diff(solution, clock) + 2 * pace * solution / (1 + flow.BETA * solution)
    assert sympy.simplify(residual) == 0


@pytest.mark.parametrize(("make", "clock", "theta", "pace"), CLOCKS)
def test_solution_starts_where_it_should_and_keeps_the_invariant(make, clock, theta, pace):
    solution = make().result["eigenvalue"]
    for beta, lambda0, moment in POINTS:

        def at(time, beta=beta, lambda0=lambda0):
            return sympy.N(solution.subs({flow.BETA: beta, flow.LAMBDA0: lambda0, clock: time}), 50)

        assert abs(at(0) - lambda0) < 1e-45
        kept = flow.invariant(beta, at(moment), theta(beta, moment))
        assert abs(sympy.N(kept - flow.invariant(beta, lambda0, sympy.Integer(0)), 50)) < 1e-45


def test_the_two_clocks_agree():
    appendix = flow.eigenvalue_appendix_clock().result["eigenvalue"]
    main = flow.eigenvalue_main_clock().result["eigenvalue"]
    assert sympy.simplify(appendix.subs(flow.THETA, flow.BETA * flow.TIME) - main) == 0
    theta = flow.denoising_time_appendix_clock(beta=flow.POSITIVE_BETA).result["theta"]
    time = flow.denoising_time_main_clock().result["time"]
    assert sympy.simplify(theta / flow.POSITIVE_BETA - time) == 0


def test_limits_are_the_named_branches_of_the_kernels():
    assert flow.limits_appendix_clock().result == {
        "beta_to_0": flow.LAMBDA0 * exp(-2 * flow.THETA),
        "lambda0_to_0": 0,
    }
    assert flow.limits_main_clock().result == {"beta_to_0": flow.LAMBDA0, "lambda0_to_0": 0}


def test_denoising_time_brings_the_noisy_eigenvalue_back():
    solution = flow.eigenvalue_appendix_clock().result["eigenvalue"]
    theta = flow.denoising_time_appendix_clock().result["theta"]
    for beta, s, sigma2 in [(3, Rational(2, 3), Rational(1, 2)), (Rational(1, 9), 5, 4)]:
        elapsed = theta.subs({flow.BETA: beta, flow.S: s, flow.SIGMA2: sigma2})
        arrived = solution.subs({flow.BETA: beta, flow.LAMBDA0: s + sigma2, flow.THETA: elapsed})
        assert abs(sympy.N(arrived - s, 50)) < 1e-45


def test_terminal_eigenvalue_lies_between_the_clean_and_the_noisy_one():
    terminal = flow.terminal_eigenvalue().result["eigenvalue"]
    solution = flow.eigenvalue_appendix_clock().result["eigenvalue"]
    for beta, s, sigma2 in [(3, Rational(2, 3), Rational(1, 2)), (Rational(1, 9), 5, 4)]:
        here = {flow.BETA: beta, flow.S: s, flow.SIGMA2: sigma2}
        value = sympy.N(terminal.subs(here), 50)
        assert s < value < s + sigma2
        flowed = solution.subs(
            {flow.BETA: beta, flow.LAMBDA0: s + sigma2, flow.THETA: beta * sigma2 / Rational(2)}
        )
        assert abs(value - sympy.N(flowed, 50)) < 1e-45


def test_correction_to_the_ideal_time_is_log_over_two_beta():
    time = flow.denoising_time_main_clock().result["time"]
    expected = flow.SIGMA2 / 2 + log((flow.S + flow.SIGMA2) / flow.S) / (2 * flow.POSITIVE_BETA)
    assert sympy.simplify(time - expected) == 0


def test_another_notation_is_another_call():
    b, v, t = Symbol("b", positive=True), Symbol("v", positive=True), Symbol("t", positive=True)
    derived = flow.eigenvalue_appendix_clock(b, v, t)
    assert derived.result["eigenvalue"].free_symbols == {b, v, t}
    assert all(not step.expression.has(flow.BETA) for step in derived.steps)


def test_wright_omega_is_lambert_w_of_the_exponential():
    """The equality that the kernels use, at 50 digits."""
    with mpmath.workdps(50):
        for u in map(mpmath.mpf, ("-30", "-1", "0.3", "12")):
            y = mpmath.lambertw(mpmath.exp(u)).real
            assert abs(y + mpmath.log(y) - u) < mpmath.mpf(10) ** -45
