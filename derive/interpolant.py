r"""A straight interpolant of two standard Gaussians whose flow ends where it began (FB-27).

``Z_t = (1 - t) X + t E`` with X and E independent standard Gaussians, ``W = E - X``. The velocity
``E[W | Z_t]`` is a multiple of the position, and its flow returns every point at t = 1 to where
it was at t = 0, as a velocity of 0 does; yet the two velocities are a fixed distance apart.
"""

from __future__ import annotations

import sympy
from sympy import Eq, Expr, Symbol, sqrt

from derive.steps import Argument, Derivation, Kernel, Regime, Step

T = Symbol("t", nonnegative=True)
A = Symbol("a", positive=True)
CENTRED = Symbol("centred", real=True)
WIDTH = Symbol("n", nonnegative=True)
RANK = Symbol("r", nonnegative=True)

_HYPOTHESES = ("X and E are independent standard Gaussian vectors",)
_T = Argument(T, "time of the interpolant, in [0, 1]")
_REGIMES = (
    Regime("typical", "t in [0, 1]", 2e-15),
    Regime("ends", "t or 1 - t in [1e-16, 1e-3], and tiny t", 2e-15),
    Regime("middle", "t within 1e-6 of 1/2", 2e-15),
    Regime("limits", "t = 0, t = 1/2 or t = 1", 2e-15),
)


def variance(t: Expr = T) -> Expr:
    """Variance of a coordinate of Z_t: no part of it is negative."""
    return (1 - t) ** 2 + t**2


def drift(t: Expr = T) -> Derivation:
    """The optimal velocity's slope, and its mean square for each coordinate."""
    a = variance(t)
    slope = (2 * t - 1) / a
    return Derivation(
        name="interpolant.drift",
        title="velocity of the interpolant of two standard Gaussians",
        source="FB-27 (eq. 23)",
        inputs=(t,),
        steps=(
            Step("Variance of a coordinate of Z_t", Eq(A, a), "independence"),
            Step("Its covariance with W", t - (1 - t), "W = E - X"),
            Step("Regress W on Z_t", slope, "jointly Gaussian: covariance over variance"),
            Step(
                "Mean square of the velocity", Eq(slope**2 * a, (2 * t - 1) ** 2 / a), "E z^2 = a"
            ),
        ),
        result={"slope": slope, "mean_square": (2 * t - 1) ** 2 / a},
        equation=r"v^*(z, t) = \frac{2t-1}{a(t)}\,z, \qquad a(t) = (1-t)^2 + t^2",
        hypotheses=_HYPOTHESES,
        kernel=Kernel(
            arguments=(_T,),
            outputs={
                "slope": "factor of the position, in [-1, 1]",
                "mean_square": "mean square of the velocity for each coordinate",
            },
            domain=("0 <= t <= 1",),
            positive=(a,),
            temporaries=((A, a), (CENTRED, 2 * t - 1)),
            regimes=_REGIMES,
        ),
    )


def path(t: Expr = T) -> Derivation:
    """The flow's factor, and how far it takes a point from where it was."""
    a, z = variance(t), Symbol("z0")
    gap = 2 * t * (1 - t) / (1 + sqrt(a))
    return Derivation(
        name="interpolant.path",
        title="flow of the interpolant's velocity",
        source="FB-27 (eq. 23)",
        inputs=(t,),
        steps=(
            Step(
                "The slope of log(a)/2 is that of the velocity",
                2 * (2 * t - 1),
                "derivative of a",
            ),
            Step("So the flow is", z * sqrt(a), "z' = a'/(2a)*z; a(0) = 1"),
            Step("It is at the start again at the end", Eq(a.subs(t, 1), a.subs(t, 0))),
            Step(
                "The way from the start",
                Eq(1 - sqrt(a), gap),
                "1 - r = (1 - r^2)/(1 + r) and 1 - a = 2t(1 - t)",
            ),
        ),
        result={"factor": sqrt(a), "gap": gap},
        equation=r"z(t) = \sqrt{a(t)}\,z(0), \qquad 1 - \sqrt{a(t)} \le 1 - 1/\sqrt2",
        hypotheses=_HYPOTHESES,
        kernel=Kernel(
            arguments=(_T,),
            outputs={
                "factor": "factor of the position at time 0",
                "gap": "distance to the position at time 0, for one of length 1",
            },
            domain=("0 <= t <= 1",),
            positive=(a,),
            temporaries=((Symbol("root", positive=True), sqrt(a)),),
            regimes=_REGIMES,
        ),
    )


def regression_floor(t: Expr = T, n: Expr = WIDTH, r: Expr = RANK) -> Derivation:
    """The least mean square error of a velocity with values in r fixed dimensions."""
    a = variance(t)
    result = 2 * (n - r) + r / a
    return Derivation(
        name="interpolant.regression_floor",
        title="least error of a velocity with values in a fixed subspace",
        source="FB-27",
        inputs=(t, n, r),
        steps=(
            Step("A coordinate outside of the subspace costs", sympy.Integer(2), "Var W = 2"),
            Step(
                "one inside what the regression leaves",
                Eq(2 - (2 * t - 1) ** 2 / a, 1 / a),
                "2a - (2t - 1)^2 = 1",
            ),
            Step("Sum", result),
        ),
        result={"floor": result},
        equation=r"\inf_g E|W - g(Z_t)|^2 = 2(n-r) + r/a(t)",
        hypotheses=(*_HYPOTHESES, "g has its values in a subspace of dimension r"),
        kernel=Kernel(
            arguments=(
                _T,
                Argument(WIDTH, "number of coordinates, at least 0"),
                Argument(RANK, "dimension of the subspace, at most n"),
            ),
            outputs={"floor": "least mean square error, at least 2(n - r)"},
            domain=("0 <= t <= 1", "0 <= r <= n"),
            positive=(a,),
            regimes=_REGIMES,
        ),
    )


def mean_velocity_gap(n: Expr = WIDTH) -> Derivation:
    """The time average of the velocity's mean square: what separates it from a velocity of 0."""
    average = sympy.integrate(2 - 1 / variance(T), (T, 0, 1))
    return Derivation(
        name="interpolant.mean_velocity_gap",
        title="time average of the velocity's mean square",
        source="FB-27",
        inputs=(n,),
        steps=(
            Step(
                "The mean square of a coordinate",
                Eq((2 * T - 1) ** 2 / variance(T), 2 - 1 / variance(T)),
                "2a - (2t - 1)^2 = 1",
            ),
            Step("Average over [0, 1]", average, "the integral of 1/a is arctan(2t - 1)"),
            Step("for all coordinates", n * average),
        ),
        result={"gap": n * average},
        equation=r"\int_0^1 E|v^*|^2\,dt = n(2 - \pi/2)",
        hypotheses=_HYPOTHESES,
    )


DERIVATIONS = (drift, path, regression_floor, mean_velocity_gap)
