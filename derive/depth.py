r"""Finite depth on a Gaussian: one layer, its error against the flow, one shot, Stage 1 alone.

A layer with step ``eta`` and inverse bandwidth ``beta`` advances main-text time by
``h = eta/beta``. In the population a Gaussian stays Gaussian, so that a layer acts on each
eigenvalue ``v`` of the covariance by itself (EB-10). ``s`` is an eigenvalue of the clean
covariance and ``sigma2`` the noise variance.
"""

from __future__ import annotations

from sympy import Derivative, Eq, Expr, Function, Symbol, log, sqrt

from derive.steps import Argument, Derivation, Kernel, Regime, Step

BETA = Symbol("beta", nonnegative=True)
POSITIVE_BETA = Symbol("beta", positive=True)
ETA, H = Symbol("eta", nonnegative=True), Symbol("h", nonnegative=True)
STEP = Symbol("step", nonnegative=True)
V = Symbol("v", nonnegative=True)
V_START, V_END = Symbol("v_start", positive=True), Symbol("v_end", positive=True)
S = Symbol("s", nonnegative=True)
SIGMA2 = Symbol("sigma2", nonnegative=True)
NOISE_SHARE = Symbol("noise_share", nonnegative=True)
DOUBLE_SHARE = Symbol("double_share", nonnegative=True)
SLOPE, LOST = Symbol("slope", nonnegative=True), Symbol("lost", nonnegative=True)
SCALED = Symbol("scaled", nonnegative=True)
REST, KEPT = Symbol("rest", nonnegative=True), Symbol("kept", nonnegative=True)
WIDENED = Symbol("widened", positive=True)
FALLEN = Symbol("fallen", real=True)
TIME = Symbol("time", nonnegative=True)

_POPULATION = ("infinitely many tokens, of a Gaussian law",)
_CLEAN = Argument(S, "eigenvalue of the clean covariance, at least 0")
_NOISE = Argument(SIGMA2, "noise variance, at least 0")
_BETA = Argument(BETA, "inverse bandwidth of the attention kernel, at least 0")
_ETA = Argument(ETA, "step of the layer, in [0, 1]")
_H = Argument(H, "main-text time that the layer advances, eta/beta, at least 0")
_SUM = "s + sigma2 > 0"
_SHARE_REGIMES = (
    Regime("typical", "s, sigma2 in [1e-3, 1e3]", 2e-15),
    Regime("near", "sigma2/s in [1e-100, 1e-3]", 2e-15),
    Regime("far", "sigma2/s in [1e3, 1e100]", 2e-15),
    Regime("tiny", "s, sigma2 in [1e-300, 1e-200]", 2e-15),
    Regime("limits", "s = 0 or sigma2 = 0, not both", 2e-15),
)
_TERMS = "the two logarithms"


def kept(v: Expr, eta: Expr, beta: Expr) -> Expr:
    """What a layer leaves of a deviation along an eigendirection, 1 - eta/(1 + beta*v)."""
    return (1 - eta + beta * v) / (1 + beta * v)


def layer(v: Expr = V, eta: Expr = ETA, beta: Expr = BETA) -> Derivation:
    """Eigenvalue of the covariance after one layer."""
    following = Symbol("v_next", nonnegative=True)
    factor = 1 - eta / (1 + beta * v)
    return Derivation(
        name="depth.layer",
        title="eigenvalue of the covariance after one layer",
        source="EB-10",
        inputs=(v, eta, beta),
        steps=(
            Step(
                "Attention pulls a token towards the mean",
                Eq(Symbol("F") - Symbol("z"), -(Symbol("z") - Symbol("m")) / (1 + beta * v)),
                "score of a Gaussian with variance v + 1/beta, divided by beta",
            ),
            Step("So a layer multiplies each deviation by", factor, "z + eta*(F(z) - z)"),
            Step(
                "Bring it over one denominator: no sum of it cancels",
                Eq(factor, kept(v, eta, beta)),
                "eta <= 1",
            ),
            Step(
                "Square it for the variance",
                Eq(following, v * kept(v, eta, beta) ** 2),
                "variance of a multiple",
            ),
        ),
        result={"v_next": v * kept(v, eta, beta) ** 2},
        equation=r"v_{\ell+1} = v_\ell\Big(1 - \frac{\eta}{1 + \beta v_\ell}\Big)^2",
        hypotheses=_POPULATION,
        kernel=Kernel(
            arguments=(Argument(V, "eigenvalue before the layer, at least 0"), _ETA, _BETA),
            outputs={"v_next": "eigenvalue after the layer"},
            domain=("v >= 0", "0 <= eta <= 1", "beta >= 0", "beta*v below 1e300"),
            temporaries=((SCALED, beta * v), (REST, 1 - eta), (KEPT, kept(v, eta, beta))),
            regimes=(
                Regime("typical", "v, beta in [1e-2, 1e2], eta in [0, 1]", 2e-15),
                Regime("tiny", "beta*v in [1e-100, 1e-3], eta within 1e-3 of 1", 2e-15),
                Regime("huge", "beta*v in [1e3, 1e100]", 2e-15),
                Regime("limits", "beta = 0, v = 0, eta = 0 or eta = 1", 2e-15),
            ),
        ),
    )


def log_defect(v: Expr = V, h: Expr = H, beta: Expr = BETA) -> Derivation:
    """What one layer adds to log v beyond the flow, to leading order."""
    rate = Function("g")(v)
    result = (beta * h) ** 2 * (beta * v - 1) / (1 + beta * v) ** 3
    return Derivation(
        name="depth.log_defect",
        title="defect of one layer in log v against the flow, leading term",
        source="EB-10",
        inputs=(v, h, beta),
        steps=(
            Step(
                "A layer moves log v by",
                2 * log(1 - beta * h / (1 + beta * v)),
                "EB-10",
            ),
            Step(
                "which is, to second order in h",
                -2 * h / (v + 1 / beta) - h**2 / (v + 1 / beta) ** 2,
                "log(1 - x) = -x - x^2/2 - O(x^3)",
            ),
            Step(
                "The flow moves it by h*g + h^2*g*v*g'/2 with g = -2/(v + 1/beta)",
                h * rate + h**2 / 2 * rate * v * Derivative(rate, v),
                "Taylor; d/dt = g*v*d/dv",
            ),
            Step(
                "that is",
                -2 * h / (v + 1 / beta) - 2 * h**2 * v / (v + 1 / beta) ** 3,
                "g' = 2/(v + 1/beta)^2",
            ),
            Step(
                "The difference is",
                Eq(h**2 * (v - 1 / beta) / (v + 1 / beta) ** 3, result),
                "multiply by beta^3",
            ),
        ),
        result={"defect": result},
        equation=r"h^2\,\frac{v - 1/\beta}{(v + 1/\beta)^3} = (\beta h)^2\,\frac{\beta v - 1}"
        r"{(1 + \beta v)^3}",
        hypotheses=(*_POPULATION, "the remainder is of order h^3"),
        kernel=Kernel(
            arguments=(Argument(V, "eigenvalue before the layer, at least 0"), _H, _BETA),
            outputs={"defect": "log v after the layer less that of the flow after h, leading term"},
            domain=("v >= 0", "h >= 0", "beta*h <= 1", "beta >= 0", "beta*v below 1e100"),
            temporaries=((STEP, beta * h),),
            regimes=(
                Regime("typical", "v, beta in [1e-2, 1e2], beta*h in [0, 1]", 2e-15),
                Regime("root", "beta*v - 1 in [1e-15, 1e-3], where the sign changes", 2e-15),
                Regime("tiny", "beta*v in [1e-100, 1e-3]", 2e-15),
                Regime("huge", "beta*v in [1e3, 1e100]", 2e-15),
                Regime("limits", "beta = 0, v = 0 or h = 0", 2e-15),
            ),
        ),
    )


def euler_error(
    v_start: Expr = V_START, v_end: Expr = V_END, eta: Expr = ETA, beta: Expr = BETA
) -> Derivation:
    """How far the layers end from the flow, to leading order in the step."""
    fallen = v_start - v_end
    bracket = log(1 + beta * fallen / (1 + beta * v_end)) - log(1 + fallen / v_end) / 2
    result = eta * v_end / (1 + beta * v_end) * bracket
    v = Symbol("w", positive=True)
    return Derivation(
        name="depth.euler_error",
        title="leading error of the layers against the flow at the end",
        source="EB-10",
        inputs=(v_start, v_end, eta, beta),
        steps=(
            Step(
                "Along the flow psi = log v + beta*v gains what a layer's defect gives it",
                eta**2 * (beta * v - 1) / (1 + beta * v) ** 3 * (1 + beta * v),
                "d psi = (1 + beta*v) d log v; psi falls at a constant pace",
            ),
            Step(
                "Sum over the layers, with eta/beta = dt = -(1 + beta*v)/(2*beta*v) dv",
                eta / 2 * (beta * v - 1) / (v * (1 + beta * v)),
                "integrand over v from v_end to v_start",
            ),
            Step(
                "Integrate",
                eta * (log(1 + beta * v) - log(v) / 2),
                "partial fractions: (beta*v - 1)/(v*(1 + beta*v)) = 2*beta/(1 + beta*v) - 1/v",
            ),
            Step("Turn psi back into v", v_end / (1 + beta * v_end), "dv = v/(1 + beta*v) d psi"),
            Step("Put the differences inside the logarithms", result, "log a - log b = log(a/b)"),
        ),
        result={"error": result},
        equation=r"v_L - v(T) = h\,\frac{v_T}{v_T + 1/\beta}\Big[\ln\frac{v_0 + 1/\beta}"
        r"{v_T + 1/\beta} - \tfrac12\ln\frac{v_0}{v_T}\Big] + O(h^2)",
        hypotheses=(*_POPULATION, "all layers have the same step eta and bandwidth"),
        kernel=Kernel(
            arguments=(
                Argument(V_START, "eigenvalue before the first layer, above 0"),
                Argument(V_END, "where the flow ends, above 0 and at most v_start"),
                _ETA,
                _BETA,
            ),
            outputs={"error": "eigenvalue after the last layer less that of the flow, leading"},
            domain=(
                "0 < v_end <= v_start",
                "0 <= eta <= 1",
                "beta >= 0",
                "beta*v_start and v_start/v_end below 1e100",
            ),
            temporaries=((FALLEN, fallen), (WIDENED, 1 + beta * v_end)),
            regimes=(
                Regime("typical", "v_end, beta in [1e-2, 1e2], v_start/v_end to 10", 4e-15, _TERMS),
                Regime("near", "v_start/v_end - 1 in [1e-12, 1e-3]", 4e-15, _TERMS),
                Regime("huge", "beta*v_end in [1e3, 1e50]", 4e-15, _TERMS),
                Regime("limits", "beta = 0, eta = 0 or v_start = v_end", 4e-15, _TERMS),
            ),
        ),
    )


def one_shot(s: Expr = S, sigma2: Expr = SIGMA2) -> Derivation:
    """Stage 2 without Stage 1: its slope, how far it lies above that of Bayes, what that costs."""
    slope = (s + sigma2) / (s + 2 * sigma2)
    gap = sigma2 / (s + sigma2) * (sigma2 / (s + 2 * sigma2))
    return Derivation(
        name="depth.one_shot",
        title="estimate at depth 0 with the bandwidth of the noise",
        source="EB-21",
        inputs=(s, sigma2),
        steps=(
            Step(
                "The attention weights smooth the noisy law once more",
                Eq(Symbol("x_hat") - Symbol("y"), -sigma2 * Symbol("y") / (s + 2 * sigma2)),
                "score of N(0, s + 2 sigma2)",
            ),
            Step("So the slope is", slope, "1 - sigma2/(s + 2 sigma2)"),
            Step("Bayes has the slope", s / (s + sigma2), "EB-26, one component"),
            Step("The gap", Eq(slope - s / (s + sigma2), gap), "over one denominator"),
            Step(
                "Its mean square is what it costs",
                (s + sigma2) * gap**2,
                "the noisy value has variance s + sigma2; the posterior mean's error is orthogonal",
            ),
        ),
        result={"slope": slope, "gap": gap, "excess_mse": (s + sigma2) * gap**2},
        equation=r"\frac{s+\sigma^2}{s+2\sigma^2}, \qquad \frac{\sigma^4}{(s+\sigma^2)"
        r"(s+2\sigma^2)}, \qquad \frac{\sigma^8}{(s+\sigma^2)(s+2\sigma^2)^2}",
        hypotheses=_POPULATION,
        kernel=Kernel(
            arguments=(_CLEAN, _NOISE),
            outputs={
                "slope": "slope of the estimate",
                "gap": "by how much it exceeds the slope of the posterior mean",
                "excess_mse": "mean square error above that of the posterior mean",
            },
            domain=("s >= 0", "sigma2 >= 0", _SUM),
            positive=(s + sigma2,),
            temporaries=(
                (NOISE_SHARE, sigma2 / (s + sigma2)),
                (DOUBLE_SHARE, sigma2 / (s + 2 * sigma2)),
            ),
            regimes=_SHARE_REGIMES,
        ),
    )


def stage_one(s: Expr = S, sigma2: Expr = SIGMA2) -> Derivation:
    """Stage 1 alone at exact recovery: it transports the law, and is no posterior mean."""
    slope = sqrt(s / (s + sigma2))
    lost = sigma2 / (s + sigma2) / (1 + slope)
    return Derivation(
        name="depth.stage_one",
        title="estimate of Stage 1 alone when the variance has come back",
        source="EB-22",
        inputs=(s, sigma2),
        steps=(
            Step(
                "The flow scales deviations by the root of the variances' ratio",
                slope,
                "EB-45, from s + sigma2 to s",
            ),
            Step(
                "It lies above the slope of Bayes by",
                Eq(slope - s / (s + sigma2), slope * (1 - slope)),
                "s/(s + sigma2) is its square",
            ),
            Step(
                "Nothing cancels in",
                Eq(1 - slope, lost),
                "1 - r = (1 - r^2)/(1 + r)",
            ),
            Step(
                "The cost is the mean square of the gap",
                Eq((s + sigma2) * (slope * (1 - slope)) ** 2, s * lost**2),
                "(s + sigma2)*r^2 = s",
            ),
        ),
        result={"slope": slope, "excess_mse": s * lost**2},
        equation=r"\sqrt{\frac{s}{s+\sigma^2}}, \qquad s\Big(1 - \sqrt{\frac{s}{s+\sigma^2}}"
        r"\Big)^2",
        hypotheses=_POPULATION,
        kernel=Kernel(
            arguments=(_CLEAN, _NOISE),
            outputs={
                "slope": "slope of the estimate",
                "excess_mse": "mean square error above that of the posterior mean",
            },
            domain=("s >= 0", "sigma2 >= 0", _SUM),
            positive=(s + sigma2,),
            temporaries=((NOISE_SHARE, sigma2 / (s + sigma2)), (SLOPE, slope), (LOST, lost)),
            regimes=(
                *_SHARE_REGIMES,
                Regime("remote", "sigma2/s in [1e300, 1e320], where s/sigma2 underflows", 2e-15),
            ),
        ),
    )


def bayes_time(beta: Expr = POSITIVE_BETA, s: Expr = S, sigma2: Expr = SIGMA2) -> Derivation:
    """When Stage 1 alone has the slope of the posterior mean, on the main clock."""
    left = s**2 / (s + sigma2)
    time = sigma2 * (1 + s / (s + sigma2)) / 2 + log((s + sigma2) / s) / beta
    return Derivation(
        name="depth.bayes_time",
        title="main-text time at which Stage 1 alone has the slope of Bayes",
        source="EB-22",
        inputs=(beta, s, sigma2),
        steps=(
            Step(
                "The slope of Bayes needs the variance",
                Eq(sqrt(left / (s + sigma2)), s / (s + sigma2)),
                "EB-45",
            ),
            Step(
                "The time from s + sigma2 down to it",
                (s + sigma2 - left) / 2 + log((s + sigma2) / left) / (2 * beta),
                "invariant",
            ),
            Step(
                "Simplify both",
                Eq(TIME, time),
                "(a^2 - s^2)/a = sigma2*(a + s)/a with a = s + sigma2; the ratio is a square",
            ),
        ),
        result={"time": time},
        equation=r"t_B = \frac{\sigma^2(2s+\sigma^2)}{2(s+\sigma^2)} + \frac1\beta"
        r"\ln\frac{s+\sigma^2}{s}",
        hypotheses=_POPULATION,
        kernel=Kernel(
            arguments=(
                Argument(POSITIVE_BETA, "inverse bandwidth, above 0"),
                _CLEAN,
                _NOISE,
            ),
            outputs={"time": "main-text time; infinite where s = 0 < sigma2"},
            domain=("beta > 0", "s >= 0", "sigma2 >= 0", _SUM, "sigma2/beta below 1e300"),
            positive=(s + sigma2,),
            regimes=(
                Regime("typical", "s, sigma2, beta in [1e-3, 1e3]", 2e-15),
                Regime("near", "sigma2/s in [1e-300, 1e-3]", 2e-15),
                Regime("far", "sigma2/s in [1e3, 1e320]", 2e-15),
                Regime("limits", "sigma2 = 0, or s = 0 where the time is infinite", 2e-15),
            ),
        ),
    )


DERIVATIONS = (layer, log_defect, euler_error, one_shot, stage_one, bayes_time)
