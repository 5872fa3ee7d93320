r"""Gaussian covariance under the reverse flow, one eigenvalue at a time (EB-8, 9, 40 to 42).

The flow keeps a Gaussian Gaussian and commutes with its first covariance, so that a matrix moves
through its eigenvalues alone. Two clocks are in use and never mixed: appendix time ``theta`` and
main-text time ``time``, with ``theta = beta*time``. Every name says which one it means.
"""

from __future__ import annotations

import sympy
from sympy import (
    Derivative,
    Eq,
    Expr,
    Function,
    Identity,
    Integer,
    Inverse,
    LambertW,
    MatrixSymbol,
    Symbol,
    exp,
    log,
)

from derive.notation import size
from derive.steps import Argument, Derivation, Kernel, Regime, Step

BETA = Symbol("beta", nonnegative=True)
LAMBDA0 = Symbol("lambda0", nonnegative=True)
THETA = Symbol("theta", nonnegative=True)
TIME = Symbol("time", nonnegative=True)
S = Symbol("s", nonnegative=True)
SIGMA2 = Symbol("sigma2", nonnegative=True)
POSITIVE_BETA = Symbol("beta", positive=True)

_VALUE = Symbol("lambda", positive=True)
_GAUSSIAN = ("the law at time 0 is Gaussian, its covariance positive semidefinite of any rank",)
_RANGE = ("beta >= 0", "lambda0 >= 0", "beta*lambda0 below 1e300")
_BETA = Argument(BETA, "inverse bandwidth of the attention kernel, at least 0")
_LAMBDA0 = Argument(LAMBDA0, "eigenvalue of the covariance at time 0, at least 0")
_FLOW_REGIMES = (
    Regime("typical", "beta*lambda0 in [1e-3, 1e3], up to full decay", 2e-15),
    Regime("tiny", "beta*lambda0 in [1e-320, 1e-3]", 2e-15),
    Regime("huge", "beta*lambda0 in [1e3, 1e6], where exp(beta*lambda0) overflows", 2e-15),
    Regime("cancelling", "2 theta within 30 of beta*lambda0 in [1, 1e6]", 2e-15),
    Regime("limits", "beta = 0 or lambda0 = 0", 2e-15),
)
_TIME_REGIMES = (
    Regime("typical", "s, sigma2, beta in [1e-3, 1e3]", 2e-15),
    Regime("near", "sigma2/s in [1e-300, 1e-3]", 2e-15),
    Regime("far", "sigma2/s in [1e3, 1e320], where the ratio itself overflows", 2e-15),
    Regime("limits", "sigma2 = 0, or s = 0 where the time is infinite", 2e-15),
)


def invariant(beta: Expr, value: Expr, theta: Expr) -> Expr:
    """What the flow keeps: log(lambda) + beta*lambda + 2*theta, `theta` the appendix time."""
    return log(value) + beta * value + 2 * theta


def _solve(beta: Expr, lambda0: Expr, clock: Expr, pace: Expr) -> tuple[Expr, tuple[Step, ...]]:
    """Solve dlambda/dclock = -2*pace*lambda/(1 + beta*lambda) by separation.

    The pace of the clock is 1 for appendix time and beta for main-text time.
    """
    path = Function("lambda")(clock)
    rate, start = Symbol("beta_", positive=True), Symbol("lambda0_", positive=True)
    back = {rate: beta, start: lambda0}
    # Separated and integrated with strictly positive stand-ins; the limits have a derivation each.
    separated = sympy.expand((1 + rate * _VALUE) / _VALUE)
    gained = sympy.integrate(
        separated.subs(_VALUE, Symbol("w", positive=True)),
        (Symbol("w", positive=True), start, _VALUE),
    )
    decay = 2 * pace * clock
    exponent = beta * (lambda0 - 2 * clock) if pace == beta else beta * lambda0 - decay
    solution = LambertW(beta * lambda0 * exp(exponent)) / beta
    steps = (
        Step(
            "Each eigenvalue moves on its own",
            Eq(Derivative(path, clock), -2 * pace * path / (1 + beta * path)),
            "Gaussians stay Gaussian; the velocity is affine with slope -1/(1 + beta*lambda)",
        ),
        Step(
            "Separate the variables",
            Eq(
                separated.xreplace({_VALUE: path}).xreplace(back) * Derivative(path, clock),
                -2 * pace,
            ),
            "divide by lambda/(1 + beta*lambda), which is positive",
        ),
        Step(
            "Integrate from time 0",
            Eq(sympy.expand(gained).xreplace(back), -decay),
            "integral of 1/lambda and of a constant",
        ),
        Step(
            "Collect what the flow keeps",
            Eq(invariant(beta, _VALUE, pace * clock), log(lambda0) + beta * lambda0),
            "invariant",
        ),
        Step(
            "Add log(beta) and exponentiate",
            Eq(beta * _VALUE * exp(beta * _VALUE), beta * lambda0 * exp(exponent)),
            "exp is injective",
        ),
        Step(
            "Solve for beta*lambda",
            Eq(_VALUE, solution),
            "w exp(w) = x has one root w = W(x) with w >= 0 where x >= 0",
        ),
    )
    return solution, steps


def eigenvalue_appendix_clock(
    beta: Expr = BETA, lambda0: Expr = LAMBDA0, theta: Expr = THETA
) -> Derivation:
    """Eigenvalue of the covariance at appendix time theta."""
    solution, steps = _solve(beta, lambda0, theta, Integer(1))
    return Derivation(
        name="flow.eigenvalue_appendix_clock",
        title="eigenvalue of the covariance flow at appendix time theta",
        source="EB-40, EB-41",
        inputs=(beta, lambda0, theta),
        steps=steps,
        result={"eigenvalue": solution},
        equation=r"\lambda(\theta) = W(\beta\lambda_0 e^{\beta\lambda_0 - 2\theta})/\beta, \qquad"
        r" \beta \to 0:\ \lambda_0 e^{-2\theta}",
        hypotheses=_GAUSSIAN,
        kernel=Kernel(
            arguments=(_BETA, _LAMBDA0, Argument(THETA, "appendix time, at least 0")),
            outputs={"eigenvalue": "eigenvalue of the covariance at appendix time theta"},
            domain=(*_RANGE, "theta >= 0"),
            regimes=_FLOW_REGIMES,
        ),
    )


def eigenvalue_main_clock(
    beta: Expr = BETA, lambda0: Expr = LAMBDA0, time: Expr = TIME
) -> Derivation:
    """Eigenvalue of the covariance at main-text time."""
    solution, steps = _solve(beta, lambda0, time, beta)
    return Derivation(
        name="flow.eigenvalue_main_clock",
        title="eigenvalue of the covariance flow at main-text time",
        source="EB-8, EB-41",
        inputs=(beta, lambda0, time),
        steps=steps,
        result={"eigenvalue": solution},
        equation=r"\lambda(t) = W(\beta\lambda_0 e^{\beta(\lambda_0 - 2t)})/\beta, \qquad"
        r" \beta \to 0:\ \lambda_0",
        hypotheses=_GAUSSIAN,
        kernel=Kernel(
            arguments=(_BETA, _LAMBDA0, Argument(TIME, "main-text time, at least 0")),
            outputs={"eigenvalue": "eigenvalue of the covariance at main-text time"},
            domain=(*_RANGE, "time >= 0"),
            regimes=_FLOW_REGIMES,
        ),
    )


def _limits(derivation: Derivation) -> dict[str, Expr]:
    """The solution's limits, with strictly positive stand-ins for what SymPy needs to know."""
    stand_in = {old: Symbol(str(old), positive=True) for old in derivation.inputs}
    back = {new: old for old, new in stand_in.items()}
    solution = derivation.result["eigenvalue"].xreplace(stand_in)
    beta, lambda0 = (stand_in[symbol] for symbol in derivation.inputs[:2])
    return {
        "beta_to_0": sympy.limit(solution, beta, 0, "+").xreplace(back),
        "lambda0_to_0": sympy.limit(solution, lambda0, 0, "+").xreplace(back),
    }


def limits_appendix_clock() -> Derivation:
    """Where the appendix-clock solution reads 0/0: no attention, no variance."""
    solved = eigenvalue_appendix_clock()
    limits = _limits(solved)
    return Derivation(
        name="flow.limits_appendix_clock",
        title="limits of the eigenvalue, appendix clock",
        source="EB-41",
        inputs=solved.inputs,
        result=limits,
        hypotheses=_GAUSSIAN,
        steps=(
            Step("Start from the solution", solved.result["eigenvalue"]),
            Step("Let beta go to 0", limits["beta_to_0"], "W(x) = x + O(x^2)"),
            Step("Let lambda0 go to 0", limits["lambda0_to_0"], "W(0) = 0"),
        ),
        equation=r"\beta \to 0:\ \lambda_0 e^{-2\theta}, \qquad \lambda_0 \to 0:\ 0",
    )


def limits_main_clock() -> Derivation:
    """Where the main-clock solution reads 0/0: no attention, no variance."""
    solved = eigenvalue_main_clock()
    limits = _limits(solved)
    return Derivation(
        name="flow.limits_main_clock",
        title="limits of the eigenvalue, main clock",
        source="EB-41",
        inputs=solved.inputs,
        result=limits,
        hypotheses=_GAUSSIAN,
        steps=(
            Step("Start from the solution", solved.result["eigenvalue"]),
            Step("Let beta go to 0", limits["beta_to_0"], "W(x) = x + O(x^2)"),
            Step("Let lambda0 go to 0", limits["lambda0_to_0"], "W(0) = 0"),
        ),
        equation=r"\beta \to 0:\ \lambda_0, \qquad \lambda_0 \to 0:\ 0",
    )


def _elapsed(beta: Expr, s: Expr, sigma2: Expr) -> tuple[Expr, tuple[Step, ...]]:
    """Appendix time from s + sigma2 down to s, from the invariant."""
    theta = Symbol("theta")
    kept = Eq(invariant(beta, s, theta), invariant(beta, s + sigma2, Integer(0)))
    elapsed = beta * sigma2 / 2 + log((s + sigma2) / s) / 2
    steps = (
        Step("Write the invariant at both ends", kept, "invariant"),
        Step("Solve for theta", Eq(theta, elapsed), "linear in theta; log(a) - log(b) = log(a/b)"),
    )
    return elapsed, steps


def denoising_time_appendix_clock(
    beta: Expr = BETA, s: Expr = S, sigma2: Expr = SIGMA2
) -> Derivation:
    """Appendix time at which the flow from s + sigma2 has come back to s."""
    elapsed, steps = _elapsed(beta, s, sigma2)
    return Derivation(
        name="flow.denoising_time_appendix_clock",
        title="exact Gaussian denoising time, appendix clock",
        source="EB-9",
        inputs=(beta, s, sigma2),
        steps=steps,
        result={"theta": elapsed},
        equation=r"\theta^\star = \frac{\beta\sigma^2}{2} + \frac12\ln\frac{s+\sigma^2}{s}",
        hypotheses=(*_GAUSSIAN, "s is an eigenvalue of the clean covariance"),
        kernel=Kernel(
            arguments=(
                _BETA,
                Argument(S, "eigenvalue of the clean covariance, at least 0"),
                Argument(SIGMA2, "noise variance, at least 0"),
            ),
            outputs={"theta": "appendix time of exact recovery; infinite where s = 0 < sigma2"},
            domain=("beta >= 0", "s >= 0", "sigma2 >= 0"),
            regimes=_TIME_REGIMES,
        ),
    )


def denoising_time_main_clock(
    beta: Expr = POSITIVE_BETA, s: Expr = S, sigma2: Expr = SIGMA2
) -> Derivation:
    """Main-text time at which the flow from s + sigma2 has come back to s."""
    _, steps = _elapsed(beta, s, sigma2)
    time = sigma2 / 2 + log((s + sigma2) / s) / (2 * beta)
    return Derivation(
        name="flow.denoising_time_main_clock",
        title="exact Gaussian denoising time, main clock",
        source="EB-9",
        inputs=(beta, s, sigma2),
        steps=(*steps, Step("Change the clock", Eq(TIME, time), "theta = beta*time")),
        result={"time": time},
        equation=r"t^\star = \frac{\sigma^2}{2} + \frac1{2\beta}\ln\frac{s+\sigma^2}{s}",
        hypotheses=(*_GAUSSIAN, "s is an eigenvalue of the clean covariance"),
        kernel=Kernel(
            arguments=(
                Argument(POSITIVE_BETA, "inverse bandwidth, above 0"),
                Argument(S, "eigenvalue of the clean covariance, at least 0"),
                Argument(SIGMA2, "noise variance, at least 0"),
            ),
            outputs={"time": "main-text time of exact recovery; infinite where s = 0 < sigma2"},
            domain=("beta > 0", "s >= 0", "sigma2 >= 0", "sigma2/beta below 1e300"),
            regimes=_TIME_REGIMES,
        ),
    )


def terminal_eigenvalue(beta: Expr = BETA, s: Expr = S, sigma2: Expr = SIGMA2) -> Derivation:
    """Eigenvalue at the nominal end of the flow, theta = beta*sigma2/2 (time = sigma2/2)."""
    start, theta = s + sigma2, beta * sigma2 / 2
    lasting = Symbol("lambda_T", positive=True)
    solution = LambertW(beta * start * exp(beta * s)) / beta
    return Derivation(
        name="flow.terminal_eigenvalue",
        title="eigenvalue at the nominal denoising time, the same moment on both clocks",
        source="EB-42",
        inputs=(beta, s, sigma2),
        steps=(
            Step(
                "Write the invariant at both ends",
                Eq(invariant(beta, lasting, theta), invariant(beta, start, Integer(0))),
                "invariant",
            ),
            Step(
                "The noise cancels from the linear part",
                Eq(beta * lasting + log(lasting), beta * s + log(start)),
                "beta*(s + sigma2) - 2*theta = beta*s",
            ),
            Step("Solve for beta*lambda_T", Eq(lasting, solution), "W(w exp(w)) = w"),
        ),
        result={"eigenvalue": solution},
        equation=r"\lambda_T = W(\beta(s+\sigma^2)e^{\beta s})/\beta, \qquad"
        r" \beta \to 0:\ s+\sigma^2",
        hypotheses=(*_GAUSSIAN, "s is an eigenvalue of the clean covariance"),
        kernel=Kernel(
            arguments=(
                _BETA,
                Argument(S, "eigenvalue of the clean covariance, at least 0"),
                Argument(SIGMA2, "noise variance, at least 0"),
            ),
            outputs={"eigenvalue": "eigenvalue left at the end, between s and s + sigma2"},
            domain=("beta >= 0", "s >= 0", "sigma2 >= 0", "beta*(s + sigma2) below 1e300"),
            regimes=(
                Regime("typical", "beta, s, sigma2 in [1e-2, 1e2]", 2e-15),
                Regime("tiny", "beta*(s + sigma2) in [1e-320, 1e-3]", 2e-15),
                Regime("huge", "beta*s in [1e3, 1e6]", 2e-15),
                Regime("limits", "beta = 0, s = 0 or sigma2 = 0", 2e-15),
            ),
        ),
    )


def covariance_appendix_clock() -> Derivation:
    """The matrix form: the eigenvectors stay, the eigenvalues move."""
    n = size("n")
    gamma, basis = MatrixSymbol("Gamma", n, n), MatrixSymbol("Q", n, n)
    start, moved = MatrixSymbol("Lambda0", n, n), MatrixSymbol("Lambda", n, n)
    identity = Identity(n)
    return Derivation(
        name="flow.covariance_appendix_clock",
        title="covariance flow through the eigenbasis",
        source="EB-40",
        inputs=(BETA, THETA, basis, start),
        steps=(
            Step(
                "The slope of the covariance",
                -2 * gamma * Inverse(identity + BETA * gamma),
                "affine velocity -(I + beta Gamma)^-1 (x - m)",
            ),
            Step("Diagonalize at time 0", basis * start * basis.T, "spectral theorem"),
            Step(
                "The slope at Q Lambda Q' is Q (...) Q'",
                basis * (-2 * moved * Inverse(identity + BETA * moved)) * basis.T,
                "Q'Q = I; so the eigenvectors stay",
            ),
            Step(
                "Each diagonal entry solves the scalar equation",
                eigenvalue_appendix_clock().result["eigenvalue"],
                "uniqueness of the solution",
            ),
        ),
        result={"covariance": basis * moved * basis.T},
        equation=r"\Gamma_\theta = Q\,\mathrm{diag}(\lambda_i(\theta))\,Q^\top",
        hypotheses=_GAUSSIAN,
    )


DERIVATIONS = (
    eigenvalue_appendix_clock,
    eigenvalue_main_clock,
    limits_appendix_clock,
    limits_main_clock,
    denoising_time_appendix_clock,
    denoising_time_main_clock,
    terminal_eigenvalue,
    covariance_appendix_clock,
)
