r"""Gaussian mixtures seen through Gaussian noise (EB-3, EB-26, EB-27, EB-28).

Under a prior ``sum_k w_k N(mu_k, C_k)`` and ``y = x + sqrt(sigma2) noise`` the posterior is a
mixture again, and so are the score of y and its derivative: each component gives a vector and a
matrix, and the responsibilities mix them by the laws of total expectation and covariance. A
component is taken in the eigenbasis of its covariance, ``C = V diag(s) V'``, where any s may be 0.
"""

from __future__ import annotations

from sympy import Expr, KroneckerDelta, Sum, Symbol, exp, log, pi, sqrt, tanh
from sympy.tensor.indexed import IndexedBase

from derive.notation import index, size
from derive.steps import Argument, Derivation, Kernel, Regime, Step

COMPONENTS, WIDTH = size("K"), size("d")
K, M = index("k"), index("m")
A, B, C, E = index("a"), index("b"), index("c"), index("e")
_ORDER = (K, M, A, B, C, E)
SIGMA2 = Symbol("sigma2", positive=True)
LOG_WEIGHTS = IndexedBase("log_weights", real=True)
LOG_LIKELIHOODS = IndexedBase("log_likelihoods", real=True)
RESPONSIBILITIES = IndexedBase("responsibilities", nonnegative=True)
MEANS = IndexedBase("means", real=True)
DEVIATIONS = IndexedBase("deviations", real=True)
Y, MU = IndexedBase("y", real=True), IndexedBase("mu", real=True)
EIGENVALUES = IndexedBase("eigenvalues", nonnegative=True)
BASIS, COORDINATES = IndexedBase("basis", real=True), IndexedBase("coordinates", real=True)
VARIANCES, GAIN = IndexedBase("variances", positive=True), IndexedBase("gain", nonnegative=True)
SCORE, HESSIAN = IndexedBase("score", real=True), IndexedBase("hessian", real=True)
V, SPREAD = Symbol("v", nonnegative=True), Symbol("spread", nonnegative=True)
NORM2 = Symbol("norm2", nonnegative=True)
WIDTH_NUMBER = Symbol("width", positive=True)
KAPPA, X = Symbol("kappa", nonnegative=True), Symbol("x", real=True)

_SIGMA2 = Argument(SIGMA2, "variance of the noise, above 0")
_LOG_WEIGHTS = Argument(
    LOG_WEIGHTS, "log w_k, up to a constant; -inf for a component without mass", (COMPONENTS,)
)
_LOG_LIKELIHOODS = Argument(LOG_LIKELIHOODS, "log density of y under each component", (COMPONENTS,))
_RESPONSIBILITIES = Argument(RESPONSIBILITIES, "nonnegative, with sum 1", (COMPONENTS,), row=True)
_EIGENVALUES = Argument(EIGENVALUES, "eigenvalues s of the component's covariance", (WIDTH,))
_BASIS = Argument(BASIS, "orthogonal; column c is the eigenvector of s_c", (WIDTH, WIDTH))
_MU, _Y = Argument(MU, "mean of the component", (WIDTH,)), Argument(Y, "observation", (WIDTH,))
_COMPONENT = (_MU, _EIGENVALUES, _BASIS, _SIGMA2)
_DOMAIN = ("eigenvalues >= 0", "sigma2 > 0", "basis orthogonal")
_PRIOR = "x ~ N(mu, V diag(s) V') and y = x + sqrt(sigma2) noise"


def over_components(body: Expr, position: Expr = K) -> Sum:
    """The sum over the components."""
    return Sum(body, (position, 0, COMPONENTS - 1))


def over_coordinates(body: Expr, position: Expr = C) -> Sum:
    """The sum over the coordinates."""
    return Sum(body, (position, 0, WIDTH - 1))


# ---------------------------------------------------------------- responsibilities


def _logit(position: Expr) -> Expr:
    return LOG_WEIGHTS[position] + LOG_LIKELIHOODS[position]


def responsibilities() -> Derivation:
    """Probabilities of the components given y."""
    result = exp(_logit(K)) / over_components(exp(_logit(M)), M)
    return Derivation(
        name="mixture.responsibilities",
        title="responsibilities of the components of a mixture",
        source="EB-26",
        inputs=(LOG_WEIGHTS, LOG_LIKELIHOODS),
        steps=(
            Step("Weight times likelihood", exp(_logit(K)), "Bayes"),
            Step("Divide by the sum of all", result, "the evidence"),
        ),
        result={"responsibilities": result},
        equation=r"r_k = w_k p_k(y) / \sum_m w_m p_m(y)",
        kernel=Kernel(
            arguments=(_LOG_WEIGHTS, _LOG_LIKELIHOODS),
            outputs={"responsibilities": "probabilities of the components"},
            domain=("some component with log w + log p above -inf",),
            axes={"responsibilities": (K,)},
            regimes=_logit_table(5e-15, 2e-14, 3e-13, 5e-15),
        ),
    )


def _logit_table(*bounds: float, relative_to: str = "each entry") -> tuple[Regime, ...]:
    inputs = {
        "typical": "log-likelihoods of order 1 to 10",
        "saturated": "one component ahead by 40",
        "huge": "log-likelihoods of order 1e3; normal entries",
        "limits": "components without mass, one component, equal ones",
    }
    return tuple(
        Regime(name, words, bound, relative_to)
        for (name, words), bound in zip(inputs.items(), bounds, strict=True)
    )


def log_evidence() -> Derivation:
    """Log density of y under the mixture."""
    result = log(over_components(exp(_logit(K))))
    return Derivation(
        name="mixture.log_evidence",
        title="log density of an observation under a mixture",
        source="EB-26",
        inputs=(LOG_WEIGHTS, LOG_LIKELIHOODS),
        steps=(
            Step("Weight times likelihood", exp(_logit(K)), "Bayes"),
            Step("Log of the sum", result, "definition"),
        ),
        result={"log_evidence": result},
        equation=r"\log p(y) = \log \sum_k w_k p_k(y)",
        kernel=Kernel(
            arguments=(_LOG_WEIGHTS, _LOG_LIKELIHOODS),
            outputs={"log_evidence": "log density, normalized if the weights are"},
            domain=("some component with log w + log p above -inf",),
            axes={"log_evidence": ()},
            index_order=_ORDER,
            regimes=_logit_table(1e-15, 1e-15, 1e-15, 1e-15, relative_to="its logits"),
        ),
    )


# ---------------------------------------------------------------- one component


def coordinate(position: Expr) -> Expr:
    """A coordinate of y - mu in the eigenbasis."""
    return over_coordinates(BASIS[E, position] * (Y[E] - MU[E]), E)


def variance(position: Expr) -> Expr:
    """Variance of y along an eigenvector."""
    return EIGENVALUES[position] + SIGMA2


_NAMED_VARIANCES = ((VARIANCES[C], variance(C)),)
_NAMED = ((COORDINATES[C], coordinate(C)), *_NAMED_VARIANCES)
_GAIN = (GAIN[C], EIGENVALUES[C] / variance(C))


def _component_table(relative_to: str, *bounds: float) -> tuple[Regime, ...]:
    inputs = {
        "typical": "eigenvalues and sigma2 in [1e-2, 1e2]",
        "degenerate": "some eigenvalues 0, or all: an atom",
        "graded": "eigenvalues from 1 to 1e-14, sigma2 from 1e-12 to 1e12",
        "tiny": "variances of order 1e-150",
    }
    return tuple(
        Regime(name, words, bound, relative_to)
        for (name, words), bound in zip(inputs.items(), bounds, strict=True)
    )


def component_log_likelihood() -> Derivation:
    """Log density of y under one component."""
    result = -over_coordinates(log(2 * pi * variance(C)) + coordinate(C) ** 2 / variance(C)) / 2
    return Derivation(
        name="mixture.component_log_likelihood",
        title="log density of a noisy observation under a Gaussian",
        source="EB-26",
        inputs=(MU, EIGENVALUES, BASIS, SIGMA2, Y),
        steps=(
            Step("Along an eigenvector y - mu is", coordinate(C), "V' (y - mu)"),
            Step("with the variance", variance(C), "C + sigma2 I = V diag(s + sigma2) V'"),
            Step("Independent along them", result, "log of a product"),
        ),
        result={"log_likelihood": result},
        equation=r"\log N(y; \mu, C + \sigma^2 I) = -\tfrac12 \sum_c"
        r" \big(\log 2\pi(s_c + \sigma^2) + u_c^2/(s_c + \sigma^2)\big)",
        hypotheses=(_PRIOR,),
        kernel=Kernel(
            arguments=(*_COMPONENT, _Y),
            outputs={"log_likelihood": "log density, with its constant"},
            domain=_DOMAIN,
            axes={"log_likelihood": ()},
            index_order=_ORDER,
            temporaries=_NAMED,
            regimes=_component_table("its terms", 1e-15, 1e-15, 2e-15, 1e-15),
        ),
    )


def component_mean() -> Derivation:
    """Posterior mean under one component."""
    gain = EIGENVALUES[C] / variance(C)
    result = MU[A] + over_coordinates(BASIS[A, C] * gain * coordinate(C))
    return Derivation(
        name="mixture.component_mean",
        title="posterior mean of one component",
        source="EB-26",
        inputs=(MU, EIGENVALUES, BASIS, SIGMA2, Y),
        steps=(
            Step("Along an eigenvector y - mu is", coordinate(C), "V' (y - mu)"),
            Step("of which the prior keeps", gain * coordinate(C), "conditioning.gaussian_pinv"),
            Step("Back in the coordinates of x", result, "V V' = I"),
        ),
        result={"mean": result},
        equation=r"\mu + C (C + \sigma^2 I)^{-1} (y - \mu)",
        hypotheses=(_PRIOR,),
        kernel=Kernel(
            arguments=(*_COMPONENT, _Y),
            outputs={"mean": "posterior mean of x, were it of this component"},
            domain=_DOMAIN,
            axes={"mean": (A,)},
            index_order=_ORDER,
            temporaries=(*_NAMED, _GAIN),
            regimes=_component_table("the points", 1e-15, 1e-15, 1e-15, 1e-15),
        ),
    )


def component_cov() -> Derivation:
    """Posterior covariance under one component."""
    kept = SIGMA2 * (EIGENVALUES[C] / variance(C))
    result = over_coordinates(BASIS[A, C] * BASIS[B, C] * kept)
    return Derivation(
        name="mixture.component_cov",
        title="posterior covariance of one component",
        source="EB-26",
        inputs=(EIGENVALUES, BASIS, SIGMA2),
        steps=(
            Step(
                "What the observation leaves along an eigenvector",
                EIGENVALUES[C] - EIGENVALUES[C] ** 2 / variance(C),
                "conditioning.gaussian_pinv",
            ),
            Step("without a difference", kept, "s - s^2/(s + sigma2) = s sigma2/(s + sigma2)"),
            Step("Back in the coordinates of x", result),
        ),
        result={"cov": result},
        equation=r"C - C (C + \sigma^2 I)^{-1} C",
        hypotheses=(_PRIOR,),
        kernel=Kernel(
            arguments=_COMPONENT[1:],
            outputs={"cov": "posterior covariance of x, were it of this component"},
            domain=_DOMAIN,
            axes={"cov": (A, B)},
            index_order=_ORDER,
            temporaries=(*_NAMED_VARIANCES, _GAIN),
            regimes=_component_table("the largest entry", 1e-15, 1e-15, 1e-15, 1e-15),
        ),
    )


def component_score() -> Derivation:
    """Gradient of the log density of y under one component."""
    result = -over_coordinates(BASIS[A, C] * coordinate(C) / variance(C))
    return Derivation(
        name="mixture.component_score",
        title="score of a noisy observation under a Gaussian",
        source="EB-3, EB-26",
        inputs=(MU, EIGENVALUES, BASIS, SIGMA2, Y),
        steps=(
            Step(
                "The log density",
                component_log_likelihood().result["log_likelihood"],
                "mixture.component_log_likelihood",
            ),
            Step("Differentiate by a coordinate of y", result, "d u_c/d y_a = V_ac"),
        ),
        result={"score": result},
        equation=r"-(C + \sigma^2 I)^{-1} (y - \mu)",
        hypotheses=(_PRIOR,),
        kernel=Kernel(
            arguments=(*_COMPONENT, _Y),
            outputs={"score": "gradient of the log density by y"},
            domain=_DOMAIN,
            axes={"score": (A,)},
            index_order=_ORDER,
            temporaries=_NAMED,
            regimes=_component_table("the largest entry", 1e-15, 1e-15, 1e-15, 1e-15),
        ),
    )


def component_hessian() -> Derivation:
    """Second derivatives of the log density of y under one component."""
    result = -over_coordinates(BASIS[A, C] * BASIS[B, C] / variance(C))
    return Derivation(
        name="mixture.component_hessian",
        title="second derivatives of the log density under a Gaussian",
        source="EB-3, EB-26",
        inputs=(EIGENVALUES, BASIS, SIGMA2),
        steps=(
            Step("The score", component_score().result["score"], "mixture.component_score"),
            Step("Differentiate by a coordinate of y", result, "d u_c/d y_b = V_bc"),
        ),
        result={"hessian": result},
        equation=r"-(C + \sigma^2 I)^{-1}",
        hypotheses=(_PRIOR,),
        kernel=Kernel(
            arguments=_COMPONENT[1:],
            outputs={"hessian": "second derivatives of the log density by y"},
            domain=_DOMAIN,
            axes={"hessian": (A, B)},
            index_order=_ORDER,
            temporaries=_NAMED_VARIANCES,
            regimes=_component_table("the largest entry", 1e-15, 1e-15, 1e-15, 1e-15),
        ),
    )


# ---------------------------------------------------------------- all components together


def mixed_mean() -> Derivation:
    """Mean of a mixture."""
    result = over_components(RESPONSIBILITIES[K] * MEANS[K, A])
    return Derivation(
        name="mixture.mixed_mean",
        title="mean of a mixture from its components",
        source="EB-26",
        inputs=(RESPONSIBILITIES, MEANS),
        steps=(Step("Average the components' means", result, "law of total expectation"),),
        result={"mean": result},
        equation=r"m = \sum_k r_k m_k",
        kernel=Kernel(
            arguments=(
                _RESPONSIBILITIES,
                Argument(MEANS, "means of the components", (COMPONENTS, WIDTH)),
            ),
            outputs={"mean": "mean of the mixture"},
            domain=("responsibilities >= 0 with sum 1",),
            axes={"mean": (A,)},
            index_order=_ORDER,
            regimes=_mixed_table("the means", 1e-15, 1e-15, 1e-15),
        ),
    )


def _mixed_table(relative_to: str, *bounds: float) -> tuple[Regime, ...]:
    inputs = {
        "typical": "means of order 1",
        "offset": "means moved by 1e6",
        "limits": "one component with all the mass, equal components",
    }
    return tuple(
        Regime(name, words, bound, relative_to)
        for (name, words), bound in zip(inputs.items(), bounds, strict=True)
    )


def between_cov() -> Derivation:
    """Covariance of the components' means."""
    average = over_components(RESPONSIBILITIES[M] * MEANS[M, A], M)
    deviation = MEANS[K, A] - average
    result = over_components(RESPONSIBILITIES[K] * deviation * deviation.subs(A, B))
    second = over_components(RESPONSIBILITIES[K] * MEANS[K, A] * MEANS[K, B])
    return Derivation(
        name="mixture.between_cov",
        title="covariance of the means of a mixture's components",
        source="EB-26",
        inputs=(RESPONSIBILITIES, MEANS),
        steps=(
            Step("Second moment less the mean's square", second - average * average.subs(A, B)),
            Step("Deviations from the mean", result, "sum r = 1"),
        ),
        result={"between": result},
        equation=r"\sum_k r_k (m_k - m)(m_k - m)^\top",
        kernel=Kernel(
            arguments=(
                _RESPONSIBILITIES,
                Argument(MEANS, "means of the components", (COMPONENTS, WIDTH)),
            ),
            outputs={"between": "what to add to the mean of the components' covariances"},
            domain=("responsibilities >= 0 with sum 1",),
            axes={"between": (A, B)},
            index_order=_ORDER,
            symmetric=("between",),
            temporaries=((DEVIATIONS[K, A], deviation),),
            regimes=_mixed_table("the largest entry", 3e-15, 3e-15, 3e-15),
        ),
    )


# ---------------------------------------------------------------- Tweedie


def tweedie_mean() -> Derivation:
    """Posterior mean from the score of the noisy density."""
    result = Y[A] + SIGMA2 * SCORE[A]
    return Derivation(
        name="mixture.tweedie_mean",
        title="posterior mean from the score (Tweedie)",
        source="EB-3 (A.3)",
        inputs=(Y, SIGMA2, SCORE),
        steps=(
            Step(
                "Under the noise's density (x - y) is sigma2 times a gradient by y",
                SIGMA2 * SCORE[A],
                "grad_y exp(-|y - x|^2/(2 sigma2)) = (x - y)/sigma2 exp(..)",
            ),
            Step("Average over x", result, "for any prior"),
        ),
        result={"mean": result},
        equation=r"m(y) = y + \sigma^2 \nabla \log p(y)",
        hypotheses=("y = x + sqrt(sigma2) noise, x of any law",),
        kernel=Kernel(
            arguments=(
                _Y,
                _SIGMA2,
                Argument(SCORE, "gradient of the log density of y", (WIDTH,)),
            ),
            outputs={"mean": "posterior mean of x"},
            domain=("sigma2 >= 0",),
            axes={"mean": (A,)},
            index_order=_ORDER,
            regimes=(Regime("typical", "entries of order 1", 1e-15, "the larger term"),),
        ),
    )


def tweedie_cov() -> Derivation:
    """Posterior covariance from the second derivatives of the noisy log density."""
    result = SIGMA2 * KroneckerDelta(A, B) + SIGMA2**2 * HESSIAN[A, B]
    return Derivation(
        name="mixture.tweedie_cov",
        title="posterior covariance from the second derivatives (Tweedie)",
        source="EB-3 (A.3)",
        inputs=(SIGMA2, HESSIAN),
        steps=(
            Step("The mean", Y[A] + SIGMA2 * SCORE[A], "mixture.tweedie_mean"),
            Step(
                "Its derivative by y",
                KroneckerDelta(A, B) + SIGMA2 * HESSIAN[A, B],
                "is the posterior covariance over sigma2",
            ),
            Step("Multiply by sigma2", result),
        ),
        result={"cov": result},
        equation=r"\mathrm{Cov}(x \mid y) = \sigma^2 I + \sigma^4 \nabla^2 \log p(y)",
        hypotheses=("y = x + sqrt(sigma2) noise, x of any law",),
        kernel=Kernel(
            arguments=(
                _SIGMA2,
                Argument(HESSIAN, "second derivatives of the log density of y", (WIDTH, WIDTH)),
            ),
            outputs={"cov": "posterior covariance of x"},
            domain=("sigma2 >= 0",),
            axes={"cov": (A, B)},
            index_order=_ORDER,
            regimes=(Regime("typical", "entries of order 1", 1e-15, "the larger term"),),
            notes=("Where the posterior is much narrower than the noise the two terms cancel.",),
        ),
    )


# ---------------------------------------------------------------- a symmetric pair


def pair_mean() -> Derivation:
    """Posterior mean under two equal Gaussians at mu and -mu."""
    total = V + SIGMA2
    inner = over_coordinates(MU[C] * Y[C])
    result = V / total * Y[A] + SIGMA2 / total * tanh(inner / total) * MU[A]
    return Derivation(
        name="mixture.pair_mean",
        title="posterior mean under a symmetric pair of Gaussians",
        source="EB-27",
        inputs=(Y, MU, V, SIGMA2),
        steps=(
            Step("Each side's mean", V / total * Y[A] + SIGMA2 / total * MU[A], "EB-26"),
            Step("The right side's chance less the left one's", tanh(inner / total), "EB-26"),
            Step("Mix", result, "law of total expectation"),
        ),
        result={"mean": result},
        equation=r"m(y) = \frac{v}{v+\sigma^2} y + \frac{\sigma^2}{v+\sigma^2}"
        r" \tanh\Big(\frac{\mu \cdot y}{v+\sigma^2}\Big) \mu",
        hypotheses=("x ~ N(mu, v I)/2 + N(-mu, v I)/2 and y = x + sqrt(sigma2) noise",),
        kernel=Kernel(
            arguments=(
                _Y,
                Argument(MU, "centre of the right Gaussian", (WIDTH,)),
                Argument(V, "their variance; 0: two atoms"),
                _SIGMA2,
            ),
            outputs={"mean": "posterior mean of x"},
            domain=("v >= 0", "sigma2 > 0"),
            axes={"mean": (A,)},
            index_order=_ORDER,
            temporaries=(
                (Symbol("total", positive=True), total),
                (Symbol("lean", real=True), tanh(inner / total)),
            ),
            regimes=(
                Regime("typical", "entries of order 1", 1e-15, "the points"),
                Regime("atoms", "v = 0, sigma2 from 1e-3 to 1e3", 2e-15, "the points"),
                Regime("far", "y of order 1e3, sigma2 from 1e-3 on", 1e-15, "the points"),
            ),
        ),
    )


def pair_integrand() -> Derivation:
    """What is integrated for the mean square error under a symmetric pair."""
    result = exp(-((X - KAPPA) ** 2) / 2) / sqrt(2 * pi) * (1 - tanh(KAPPA * X) ** 2)
    return Derivation(
        name="mixture.pair_integrand",
        title="integrand of the mean square error under a symmetric pair",
        source="EB-28",
        inputs=(KAPPA, X),
        steps=(
            Step(
                "Along mu the observation is kappa + Z, in units of its deviation",
                X - KAPPA,
                "mu'y/(v + sigma2) = kappa (kappa + Z), Z ~ N(0, 1)",
            ),
            Step("The two sides' variance", 1 - tanh(KAPPA * X) ** 2, "a sign with mean tanh"),
            Step("times the density of x = kappa + Z", result),
        ),
        result={"integrand": result},
        equation=r"\varphi(x - \kappa)\,\mathrm{sech}^2(\kappa x)",
        kernel=Kernel(
            arguments=(
                Argument(KAPPA, "|mu|/sqrt(v + sigma2), at least 0"),
                Argument(X, "where it is evaluated"),
            ),
            outputs={"integrand": "its integral over x is E sech^2(kappa^2 + kappa Z)"},
            domain=("kappa >= 0",),
            axes={"integrand": ()},
            regimes=(
                Regime("typical", "kappa in [0, 3], |x| below 6", 2e-14),
                Regime("tails", "kappa in [0, 30], |x| below 30; normal values", 3e-13),
            ),
        ),
    )


def pair_mmse() -> Derivation:
    """Mean square error of the posterior mean under a symmetric pair."""
    total = V + SIGMA2
    result = WIDTH_NUMBER * V * (SIGMA2 / total) + NORM2 * (SIGMA2 / total) ** 2 * SPREAD
    return Derivation(
        name="mixture.pair_mmse",
        title="least mean square error under a symmetric pair of Gaussians",
        source="EB-28",
        inputs=(WIDTH_NUMBER, NORM2, V, SIGMA2, SPREAD),
        steps=(
            Step("Within a side, for each coordinate", V * (SIGMA2 / total), "EB-26"),
            Step(
                "Between the sides, at y",
                NORM2 * (SIGMA2 / total) ** 2 * (1 - tanh(Symbol("u")) ** 2),
                "a sign with mean tanh",
            ),
            Step("Average over y", result, "spread = E sech^2(kappa^2 + kappa Z)"),
        ),
        result={"mmse": result},
        equation=r"d \frac{v \sigma^2}{v + \sigma^2} + \frac{\sigma^4 |\mu|^2}{(v + \sigma^2)^2}"
        r" E\,\mathrm{sech}^2(\kappa^2 + \kappa Z)",
        hypotheses=("x ~ N(mu, v I)/2 + N(-mu, v I)/2 and y = x + sqrt(sigma2) noise",),
        kernel=Kernel(
            arguments=(
                Argument(WIDTH_NUMBER, "number of coordinates, d"),
                Argument(NORM2, "|mu|^2, mu the centre of the right Gaussian"),
                Argument(V, "their variance; 0: two atoms"),
                _SIGMA2,
                Argument(SPREAD, "E sech^2(kappa^2 + kappa Z), the integral of the integrand"),
            ),
            outputs={"mmse": "E|x - m(y)|^2, summed over the coordinates"},
            domain=("v >= 0", "sigma2 > 0"),
            axes={"mmse": ()},
            index_order=_ORDER,
            temporaries=((Symbol("share", positive=True), SIGMA2 / total),),
            regimes=(
                Regime("typical", "entries of order 1", 2e-15),
                Regime("atoms", "v = 0, sigma2 from 1e-3 to 1e3", 2e-15),
            ),
        ),
    )


DERIVATIONS = (
    responsibilities,
    log_evidence,
    component_log_likelihood,
    component_mean,
    component_cov,
    component_score,
    component_hessian,
    mixed_mean,
    between_cov,
    tweedie_mean,
    tweedie_cov,
    pair_mean,
    pair_integrand,
    pair_mmse,
)
