r"""What the flow leaves undone at its nominal end, for a Gaussian (EB-42 to 44, EB-50 to 52).

``Delta = lambda_T - s`` is the variance that is left above that of the clean data along one
eigendirection. From it follow what the posterior mean's slope is off by, what that costs, and how
far the law still is from the clean one. ``ell = log((s + sigma2)/s)`` throughout.
"""

from __future__ import annotations

from sympy import Eq, Expr, LambertW, Symbol, exp, log, sqrt

from derive.steps import Argument, Derivation, Kernel, Regime, Step

BETA = Symbol("beta", nonnegative=True)
POSITIVE_BETA, POSITIVE_S = Symbol("beta", positive=True), Symbol("s", positive=True)
S = Symbol("s", nonnegative=True)
SIGMA2 = Symbol("sigma2", nonnegative=True)
EXCESS = Symbol("excess", nonnegative=True)
DELTA, ELL = Symbol("Delta", nonnegative=True), Symbol("ell", nonnegative=True)
TOTAL = Symbol("total", positive=True)
NOISE_SHARE = Symbol("noise_share", nonnegative=True)
EXCESS_SHARE = Symbol("excess_share", nonnegative=True)

_GAUSSIAN = (
    "the clean law is Gaussian, its covariance positive semidefinite of any rank",
    "s is an eigenvalue of the clean covariance",
)
_BETA = Argument(BETA, "inverse bandwidth of the attention kernel, at least 0")
_POSITIVE_BETA = Argument(POSITIVE_BETA, "inverse bandwidth of the attention kernel, above 0")
_CLEAN = Argument(S, "eigenvalue of the clean covariance, at least 0")
_POSITIVE_CLEAN = Argument(POSITIVE_S, "eigenvalue of the clean covariance, above 0")
_NOISE = Argument(SIGMA2, "noise variance, at least 0")
_EXCESS = Argument(EXCESS, "variance left above s at the end, Delta, in [0, sigma2]")
_SHARE_REGIMES = (
    Regime("typical", "s, sigma2 in [1e-3, 1e3], Delta/sigma2 in [1e-3, 1]", 2e-15),
    Regime("tiny", "s, sigma2 in [1e-300, 1e-200]", 2e-15),
    Regime("recovered", "Delta/s in [1e-100, 1e-10]", 2e-15),
    Regime("limits", "s = 0, sigma2 = 0 or Delta = 0, not s = sigma2 = 0", 2e-15),
)
_BOUND_REGIMES = (
    Regime("typical", "beta, s, sigma2 in [1e-2, 1e2]", 2e-15),
    Regime("near", "sigma2/s in [1e-300, 1e-3]", 2e-15),
    Regime("huge", "beta*s in [1e3, 1e6]", 2e-15),
    Regime("limits", "sigma2 = 0, where there is nothing to remove", 2e-15),
)


def _growth(s: Expr, sigma2: Expr) -> Expr:
    """ell, the logarithm of how much the noise adds to the variance."""
    return log((s + sigma2) / s)


def excess(beta: Expr = BETA, s: Expr = S, sigma2: Expr = SIGMA2) -> Derivation:
    """The variance left above s at the nominal end of the flow."""
    solution = LambertW(beta * (s + sigma2) * exp(beta * s)) / beta - s
    x = Symbol("x", nonnegative=True)
    return Derivation(
        name="recovery.excess",
        title="variance left above that of the clean data at the nominal end",
        source="EB-42, EB-43, EB-44",
        inputs=(beta, s, sigma2),
        steps=(
            Step(
                "The invariant at both ends",
                Eq(beta * (s + DELTA) + log(s + DELTA), beta * s + log(s + sigma2)),
                "EB-42, with lambda_T = s + Delta",
            ),
            Step(
                "beta*s falls out: nothing cancels any more",
                Eq(beta * DELTA, ELL - log(1 + DELTA / s)),
                "ell = log((s + sigma2)/s)",
            ),
            Step("In units of s", Eq(beta * s * x + log(1 + x), ELL), "x = Delta/s"),
            Step(
                "For s = 0 from the first line",
                Eq(DELTA, LambertW(beta * sigma2) / beta),
                "w exp(w) = x has the root W(x)",
            ),
            Step("In closed form", Eq(DELTA, solution), "EB-42; for reading, not for computing"),
        ),
        result={"excess": solution},
        equation=r"\beta\Delta = \ln\frac{s+\sigma^2}{s} - \ln\Big(1 + \frac{\Delta}{s}\Big),"
        r" \qquad s = 0:\ \Delta = W(\beta\sigma^2)/\beta, \qquad \beta \to 0:\ \sigma^2",
        hypotheses=_GAUSSIAN,
        kernel=Kernel(
            arguments=(_BETA, _CLEAN, _NOISE),
            outputs={"excess": "variance left above s, between 0 and sigma2"},
            domain=("beta >= 0", "s >= 0", "sigma2 >= 0", "beta*(s + sigma2) below 1e300"),
            regimes=(
                Regime("typical", "s, sigma2/s and beta*(s + sigma2) in [1e-2, 1e2]", 4e-15),
                Regime("tiny", "beta*(s + sigma2) in [1e-300, 1e-3]", 4e-15),
                Regime("huge", "beta*s in [1e3, 1e15], where lambda_T and s agree", 4e-15),
                Regime("small_noise", "sigma2/s in [1e-300, 1e-10]", 4e-15),
                Regime("singular", "s = 0 or s/sigma2 in [1e-300, 1e-10], beta up to 1e15", 4e-15),
                Regime("limits", "beta = 0, s = 0 or sigma2 = 0", 4e-15),
            ),
        ),
    )


def excess_bounds(
    beta: Expr = POSITIVE_BETA, s: Expr = POSITIVE_S, sigma2: Expr = SIGMA2
) -> Derivation:
    """Two bounds on Delta that hold for every beta."""
    ell = _growth(s, sigma2)
    return Derivation(
        name="recovery.excess_bounds",
        title="bounds on the variance left, for every bandwidth",
        source="EB-43",
        inputs=(beta, s, sigma2),
        steps=(
            Step("Start from", Eq(beta * DELTA, ELL - log(1 + DELTA / s)), "recovery.excess"),
            Step("The logarithm is not negative", ELL / beta >= DELTA, "Delta >= 0"),
            Step(
                "nor above Delta/s",
                s * ELL / (1 + beta * s) <= DELTA,
                "log(1 + x) <= x; solve for Delta",
            ),
            Step("The upper bound in full", ell / beta, "ell"),
        ),
        result={"lower": s * ell / (1 + beta * s), "upper": ell / beta},
        equation=r"\frac{s\ell}{1+\beta s} \le \Delta \le \frac{\ell}{\beta}, \qquad"
        r" \ell = \ln\frac{s+\sigma^2}{s}",
        hypotheses=_GAUSSIAN,
        kernel=Kernel(
            arguments=(_POSITIVE_BETA, _POSITIVE_CLEAN, _NOISE),
            outputs={"lower": "lower bound on Delta", "upper": "upper bound on Delta"},
            domain=("beta > 0", "s > 0", "sigma2 >= 0", "beta*s and sigma2/beta below 1e300"),
            temporaries=((ELL, ell),),
            regimes=_BOUND_REGIMES,
        ),
    )


def expansion(
    beta: Expr = POSITIVE_BETA, s: Expr = POSITIVE_S, sigma2: Expr = SIGMA2
) -> Derivation:
    """Delta to third order in 1/beta."""
    ell = _growth(s, sigma2)
    p = beta * s
    result = ell / beta * (1 - (1 - (2 + ell) / (2 * p)) / p)
    return Derivation(
        name="recovery.expansion",
        title="variance left to third order in 1/beta",
        source="EB-43",
        inputs=(beta, s, sigma2),
        steps=(
            Step("Start from", Eq(beta * DELTA, ELL - log(1 + DELTA / s)), "recovery.excess"),
            Step("First order", ELL / beta, "the logarithm is of order 1/beta"),
            Step(
                "Second order, from log(1 + x) = x + O(x^2)",
                ELL / beta * (1 - 1 / p),
                "put the first order in",
            ),
            Step("Third order, from x - x^2/2", result, "put the second order in"),
        ),
        result={"excess": result},
        equation=r"\Delta = \frac{\ell}{\beta} - \frac{\ell}{s\beta^2}"
        r" + \frac{\ell(2+\ell)}{2s^2\beta^3} + O(\beta^{-4})",
        hypotheses=(*_GAUSSIAN, "s > 0: the remainder is not uniform in s"),
        kernel=Kernel(
            arguments=(_POSITIVE_BETA, _POSITIVE_CLEAN, _NOISE),
            outputs={"excess": "variance left above s, to third order"},
            domain=("beta > 0", "s > 0", "sigma2 >= 0", "beta*s in [3, 1e150]"),
            temporaries=((ELL, ell),),
            regimes=(
                Regime("typical", "beta*s in [3, 1e3], sigma2/s in [1e-2, 1e2]", 4e-15),
                Regime("near", "sigma2/s in [1e-300, 1e-3]", 4e-15),
                Regime("huge", "beta*s in [1e3, 1e100]", 4e-15),
                Regime("limits", "sigma2 = 0, where there is nothing to remove", 4e-15),
            ),
        ),
    )


def slope_error(delta: Expr = EXCESS, s: Expr = S, sigma2: Expr = SIGMA2) -> Derivation:
    """By how much the posterior mean of the flowed law shrinks too little."""
    result = sigma2 * delta / ((s + sigma2) * (s + sigma2 + delta))
    return Derivation(
        name="recovery.slope_error",
        title="error of the posterior mean's slope at the nominal end",
        source="EB-50, EB-51",
        inputs=(delta, s, sigma2),
        steps=(
            Step("Slope with the law that the flow ends at", (s + delta) / (s + delta + sigma2)),
            Step("Slope of Bayes", s / (s + sigma2)),
            Step("Their difference", result, "over one denominator"),
            Step("For s = 0", result.subs(s, 0), "with Delta = W/beta: W/(W + beta*sigma2)"),
        ),
        result={"slope_error": result},
        equation=r"\varepsilon = \frac{\sigma^2\Delta}{(s+\sigma^2)(s+\sigma^2+\Delta)}",
        hypotheses=_GAUSSIAN,
        kernel=Kernel(
            arguments=(_EXCESS, _CLEAN, _NOISE),
            outputs={"slope_error": "slope less that of the posterior mean, at least 0"},
            domain=("excess >= 0", "s >= 0", "sigma2 >= 0", "s + sigma2 > 0"),
            positive=(s + sigma2,),
            temporaries=(
                (NOISE_SHARE, sigma2 / (s + sigma2)),
                (EXCESS_SHARE, delta / (s + sigma2 + delta)),
            ),
            regimes=_SHARE_REGIMES,
        ),
    )


def slope_error_bound(
    beta: Expr = POSITIVE_BETA, s: Expr = POSITIVE_S, sigma2: Expr = SIGMA2
) -> Derivation:
    """A bound on the slope's error that holds for every beta."""
    ell = _growth(s, sigma2)
    result = sigma2 / (s + sigma2) * ell / (beta * (s + sigma2))
    return Derivation(
        name="recovery.slope_error_bound",
        title="bound on the error of the posterior mean's slope",
        source="EB-50",
        inputs=(beta, s, sigma2),
        steps=(
            Step("The error falls below", sigma2 * DELTA / (s + sigma2) ** 2, "Delta >= 0"),
            Step("and Delta below ell/beta", result, "EB-43"),
        ),
        result={"bound": result},
        equation=r"\varepsilon \le \frac{\sigma^2\ell}{\beta(s+\sigma^2)^2}",
        hypotheses=_GAUSSIAN,
        kernel=Kernel(
            arguments=(_POSITIVE_BETA, _POSITIVE_CLEAN, _NOISE),
            outputs={"bound": "upper bound on the slope's error"},
            domain=("beta > 0", "s > 0", "sigma2 >= 0", "1/(beta*s) below 1e300"),
            temporaries=(
                (ELL, ell),
                (TOTAL, s + sigma2),
                (NOISE_SHARE, sigma2 / (s + sigma2)),
            ),
            regimes=(
                *_BOUND_REGIMES,
                Regime("tiny", "s, sigma2 in [1e-300, 1e-200], beta*(s + sigma2) near 1", 2e-15),
            ),
        ),
    )


def mean_square_error(delta: Expr = EXCESS, s: Expr = S, sigma2: Expr = SIGMA2) -> Derivation:
    """What the posterior mean costs at best, and what the flow's law adds to it."""
    mmse = s * (sigma2 / (s + sigma2))
    error = sigma2 * delta / ((s + sigma2) * (s + sigma2 + delta))
    return Derivation(
        name="recovery.mean_square_error",
        title="least mean square error, and its excess at the nominal end",
        source="EB-52",
        inputs=(delta, s, sigma2),
        steps=(
            Step("What Bayes leaves", mmse, "variance of a Gaussian given a noisy value"),
            Step(
                "A slope that is off by epsilon adds",
                (s + sigma2) * error**2,
                "orthogonality; the noisy value has variance s + sigma2",
            ),
        ),
        result={"mmse": mmse, "excess_mse": (s + sigma2) * error**2},
        equation=r"\mathrm{MMSE} = \frac{s\sigma^2}{s+\sigma^2}, \qquad"
        r" \frac{\sigma^4\Delta^2}{(s+\sigma^2)(s+\sigma^2+\Delta)^2}",
        hypotheses=_GAUSSIAN,
        kernel=Kernel(
            arguments=(_EXCESS, _CLEAN, _NOISE),
            outputs={
                "mmse": "mean square error of the posterior mean, for this direction",
                "excess_mse": "what the slope's error adds to it",
            },
            domain=("excess >= 0", "s >= 0", "sigma2 >= 0", "s + sigma2 > 0"),
            positive=(s + sigma2,),
            temporaries=(
                (NOISE_SHARE, sigma2 / (s + sigma2)),
                (EXCESS_SHARE, delta / (s + sigma2 + delta)),
            ),
            regimes=_SHARE_REGIMES,
        ),
    )


def deviation_gap(delta: Expr = EXCESS, s: Expr = S) -> Derivation:
    """How far the standard deviation still is from that of the clean law."""
    result = sqrt(s + delta) - sqrt(s)
    return Derivation(
        name="recovery.deviation_gap",
        title="standard deviation left above that of the clean data",
        source="EB-52",
        inputs=(delta, s),
        steps=(
            Step("In one dimension the best coupling scales", result, "monotone coupling"),
            Step(
                "Bring it over the sum of the roots",
                Eq(result, delta / (sqrt(s + delta) + sqrt(s))),
                "third binomial formula",
            ),
        ),
        result={"gap": result},
        equation=r"W_1(f_T, P_0) = \sqrt{2/\pi}\,(\sqrt{s+\Delta} - \sqrt s) \quad (d = 1)",
        hypotheses=_GAUSSIAN,
        kernel=Kernel(
            arguments=(_EXCESS, _CLEAN),
            outputs={"gap": "standard deviation at the end less that of the clean law"},
            domain=("excess >= 0", "s >= 0"),
            regimes=(
                Regime("typical", "s in [1e-3, 1e3], Delta/s in [1e-3, 1e3]", 2e-15),
                Regime("tiny", "s and Delta in [1e-300, 1e-200]", 2e-15),
                Regime("recovered", "Delta/s in [1e-100, 1e-10]", 2e-15),
                Regime("limits", "s = 0 or Delta = 0", 2e-15),
            ),
        ),
    )


DERIVATIONS = (
    excess,
    excess_bounds,
    expansion,
    slope_error,
    slope_error_bound,
    mean_square_error,
    deviation_gap,
)
