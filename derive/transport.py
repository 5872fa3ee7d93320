r"""How the flow of a Gaussian moves a point: velocity, and the factor of a deviation (EB-45).

Along an eigendirection of the covariance the velocity is a multiple of the deviation from the
mean, and the flow multiplies a deviation by the root of the ratio of the variances. Two clocks are
in use, as in `derive.flow`: appendix time ``theta`` and main-text time ``time``.
"""

from __future__ import annotations

from sympy import Derivative, Eq, Expr, Function, Integer, LambertW, Symbol, exp, log

from derive.steps import Argument, Derivation, Kernel, Regime, Step

BETA = Symbol("beta", nonnegative=True)
VALUE = Symbol("variance", nonnegative=True)
LAMBDA0 = Symbol("lambda0", nonnegative=True)
THETA = Symbol("theta", nonnegative=True)
TIME = Symbol("time", nonnegative=True)

_GAUSSIAN = ("the law at time 0 is Gaussian, its covariance positive semidefinite of any rank",)
_BETA = Argument(BETA, "inverse bandwidth of the attention kernel, at least 0")
_VALUE = Argument(VALUE, "eigenvalue of the covariance now, at least 0")
_LAMBDA0 = Argument(LAMBDA0, "eigenvalue of the covariance at time 0, at least 0")
_SLOPE_REGIMES = (
    Regime("typical", "beta*variance in [1e-3, 1e3]", 1e-15),
    Regime("huge", "beta*variance in [1e3, 1e100]", 1e-15),
    Regime("limits", "beta = 0 or variance = 0", 1e-15),
)
_FACTOR_REGIMES = (
    Regime("typical", "beta*lambda0 in [1e-3, 1e3], up to full decay", 2e-15),
    Regime("tiny", "beta*lambda0 in [1e-320, 1e-3]", 2e-15),
    Regime("huge", "beta*lambda0 in [1e3, 1e6], where the exponents cancel", 2e-15),
    Regime("cancelling", "2 theta within 30 of beta*lambda0 in [1, 1e6]", 2e-15),
    Regime("limits", "beta = 0, lambda0 = 0 or time 0", 2e-15),
)


def _slope(name: str, clock: str, pace: Expr, beta: Expr, value: Expr, source: str) -> Derivation:
    result = -pace / (1 + beta * value)
    return Derivation(
        name=name,
        title=f"slope of the velocity along an eigendirection, {clock} clock",
        source=source,
        inputs=(beta, value),
        steps=(
            Step(
                "The law that attention sees has the variance",
                value + 1 / beta,
                "a Gaussian convolved with a Gaussian",
            ),
            Step("Its score, divided by beta", -1 / (1 + beta * value), "score of a Gaussian"),
            Step(
                "On this clock", result, "theta = beta*time" if pace == beta else "appendix clock"
            ),
        ),
        result={"slope": result},
        equation=r"\dot z = -\beta\,(z - m)/(1 + \beta\lambda)"
        if pace == beta
        else r"\dot z = -(z - m)/(1 + \beta\lambda)",
        hypotheses=_GAUSSIAN,
        kernel=Kernel(
            arguments=(_BETA, _VALUE),
            outputs={"slope": "factor of the deviation from the mean, at most 0"},
            domain=("beta >= 0", "variance >= 0", "beta*variance below 1e300"),
            regimes=_SLOPE_REGIMES,
        ),
    )


def slope_appendix_clock(beta: Expr = BETA, value: Expr = VALUE) -> Derivation:
    """Slope of the velocity, appendix clock."""

    return _slope("transport.slope_appendix_clock", "appendix", Integer(1), beta, value, "EB-45")


def slope_main_clock(beta: Expr = BETA, value: Expr = VALUE) -> Derivation:
    """Slope of the velocity, main clock."""
    return _slope("transport.slope_main_clock", "main", beta, beta, value, "EB-8, EB-45")


def _factor(beta: Expr, lambda0: Expr, clock: Expr, pace: Expr) -> tuple[Expr, tuple[Step, ...]]:
    """The factor of a deviation after a time, in its exponential form."""
    path, elapsed = Function("lambda")(clock), pace * clock
    exponent = beta * (lambda0 - 2 * clock) if pace == beta else beta * lambda0 - 2 * elapsed
    left = LambertW(beta * lambda0 * exp(exponent))
    result = exp((exponent - left) / 2)
    ratio = Symbol("factor", positive=True)
    steps = (
        Step(
            "A deviation solves",
            Eq(Derivative(log(ratio), clock), -pace / (1 + beta * path)),
            "velocity",
        ),
        Step(
            "which is half of what log(lambda) solves",
            Eq(Derivative(log(path), clock), -2 * pace / (1 + beta * path)),
            "EB-40",
        ),
        Step(
            "The invariant turns that into an exponent that has a value for lambda = 0 too",
            Eq(log(ratio), -elapsed + beta * (lambda0 - path) / 2),
            "log(lambda) + beta*lambda + 2*theta is kept",
        ),
        Step("Put the solution in", Eq(ratio, result), "EB-41"),
    )
    return result, steps


def factor_appendix_clock(
    beta: Expr = BETA, lambda0: Expr = LAMBDA0, theta: Expr = THETA
) -> Derivation:
    """What the flow multiplies a deviation by until appendix time theta."""
    result, steps = _factor(beta, lambda0, theta, Integer(1))
    return Derivation(
        name="transport.factor_appendix_clock",
        title="factor of a deviation from the mean after appendix time theta",
        source="EB-45",
        inputs=(beta, lambda0, theta),
        steps=steps,
        result={"factor": result},
        equation=r"\sqrt{\lambda(\theta)/\lambda_0} = \exp\{-\theta + \tfrac\beta2"
        r"(\lambda_0 - \lambda(\theta))\}, \qquad \lambda_0 \to 0:\ e^{-\theta}",
        hypotheses=_GAUSSIAN,
        kernel=Kernel(
            arguments=(_BETA, _LAMBDA0, Argument(THETA, "appendix time, at least 0")),
            outputs={"factor": "factor of the deviation, in [exp(-theta), 1]"},
            domain=("beta >= 0", "lambda0 >= 0", "beta*lambda0 below 1e300", "theta >= 0"),
            regimes=_FACTOR_REGIMES,
        ),
    )


def factor_main_clock(beta: Expr = BETA, lambda0: Expr = LAMBDA0, time: Expr = TIME) -> Derivation:
    """What the flow multiplies a deviation by until main-text time."""
    result, steps = _factor(beta, lambda0, time, beta)
    return Derivation(
        name="transport.factor_main_clock",
        title="factor of a deviation from the mean after main-text time",
        source="EB-22, EB-45",
        inputs=(beta, lambda0, time),
        steps=steps,
        result={"factor": result},
        equation=r"\sqrt{\lambda(t)/\lambda_0} = \exp\{-\beta t + \tfrac\beta2"
        r"(\lambda_0 - \lambda(t))\}, \qquad \lambda_0 \to 0:\ e^{-\beta t}",
        hypotheses=_GAUSSIAN,
        kernel=Kernel(
            arguments=(_BETA, _LAMBDA0, Argument(TIME, "main-text time, at least 0")),
            outputs={"factor": "factor of the deviation, in [exp(-beta*time), 1]"},
            domain=("beta >= 0", "lambda0 >= 0", "beta*lambda0 below 1e300", "time >= 0"),
            regimes=_FACTOR_REGIMES,
        ),
    )


DERIVATIONS = (
    slope_appendix_clock,
    slope_main_clock,
    factor_appendix_clock,
    factor_main_clock,
)
