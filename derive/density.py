r"""Gaussian densities on a support of any rank, and what they say of a mixture's components.

The noise of the corruption law (FB-1) is the same for every component and isotropic, so that
log-odds are linear in the state, and whatever a linear observation leaves open cancels.
"""

from __future__ import annotations

from sympy import Expr, IndexedBase, Sum, Symbol, log, pi, sqrt

from derive.notation import index, size, vector
from derive.steps import Argument, Derivation, Kernel, Regime, Step

DIRECTIONS, COMPONENTS, WIDTH = size("q"), size("N"), size("d")
A, COMPONENT = index("a"), index("n")
REFERENCE = index("reference")
CORRUPTION = Symbol("t", positive=True)
EIGENVALUES = vector("eigenvalues", positive=True)
COORDINATES, SUPPORT = vector("coordinates"), vector("support")
LOG_PRIOR, STATE, TOKEN = vector("log_prior"), vector("state"), vector("token")
RESPONSIBILITIES = vector("responsibilities")
MEANS = IndexedBase("means", real=True)

T_DOMAIN = "t > 1e-150"
_T = Argument(CORRUPTION, "corruption level, above 0")
_REFERENCE = Argument(
    REFERENCE, "index of the component that the others are compared with", static=True
)


def along(body: Expr, count: Expr = WIDTH) -> Sum:
    """The sum over the coordinates."""
    return Sum(body, (A, 0, count - 1))


def log_density() -> Derivation:
    """Logarithm of a Gaussian density in the eigenbasis of its covariance."""
    value = EIGENVALUES[A]
    standardized = COORDINATES[A] / sqrt(value)
    single = -(log(2 * pi * value) + standardized**2) / 2
    result = -along(SUPPORT[A] * (log(2 * pi * value) + standardized**2), DIRECTIONS) / 2
    return Derivation(
        name="density.log_density",
        title="log-density of a Gaussian on its support, in the eigenbasis of its covariance",
        source="FB-4",
        inputs=(EIGENVALUES, COORDINATES, SUPPORT),
        steps=(
            Step("In the eigenbasis the coordinates are independent", standardized, "x = U y"),
            Step("One direction with variance above 0", single, "density of a normal variable"),
            Step(
                "A direction without variance is no direction of the support: it has unit mass at"
                " 0, and adds nothing",
                SUPPORT[A] * single,
                "the density is with respect to Lebesgue measure of the range of the covariance",
            ),
            Step("Sum up the logarithms", result, "independence"),
        ),
        result={"log_density": result},
        equation=r"\log\varphi(x;\Sigma) = -\tfrac12\big(\log\mathrm{pdet}(2\pi\Sigma)"
        r" + x^\top\Sigma^{+}x\big) = -\tfrac12\sum_{\lambda_a>0}"
        r"\big(\log(2\pi\lambda_a) + y_a^2/\lambda_a\big)",
        hypotheses=("x lies in the range of the covariance", "x = U y with orthonormal columns U"),
        kernel=Kernel(
            arguments=(
                Argument(
                    EIGENVALUES,
                    "eigenvalues of the covariance, above 0 (any number off the support)",
                    (DIRECTIONS,),
                ),
                Argument(COORDINATES, "coordinates of x in the eigenbasis", (DIRECTIONS,)),
                Argument(
                    SUPPORT, "1 for a direction of the support, 0 for any other", (DIRECTIONS,)
                ),
            ),
            outputs={"log_density": "logarithm of the density with respect to the support"},
            domain=("1e300 > eigenvalues > 1e-300",),
            axes={"log_density": ()},
            regimes=(
                Regime("typical", "eigenvalues from 1e-3 to 1e3", 1e-15, "the largest term"),
                Regime(
                    "tiny", "eigenvalues down to 1e-300, and deviations", 1e-15, "the largest term"
                ),
                Regime("huge", "eigenvalues up to 1e300", 1e-15, "the largest term"),
                Regime("singular", "some directions off the support", 1e-15, "the largest term"),
            ),
        ),
    )


def contrast(means: IndexedBase, position: Expr = A) -> Expr:
    """How far a component lies from the reference."""
    return means[COMPONENT, position] - means[REFERENCE, position]


def displacement(means: IndexedBase, state: IndexedBase, position: Expr = A) -> Expr:
    """How far the state lies from the reference."""
    return state[position] - means[REFERENCE, position]


def log_odds() -> Derivation:
    """Log-odds of the components once the whole state is known."""
    t = CORRUPTION
    own = along((STATE[A] - MEANS[COMPONENT, A]) ** 2)
    others = along((STATE[A] - MEANS[REFERENCE, A]) ** 2)
    prior = LOG_PRIOR[COMPONENT] - LOG_PRIOR[REFERENCE]
    middle = (MEANS[COMPONENT, A] + MEANS[REFERENCE, A]) / 2
    gained = along(contrast(MEANS) * displacement(MEANS, STATE)) - along(contrast(MEANS) ** 2) / 2
    result = prior + gained / t**2
    return Derivation(
        name="density.log_odds",
        title="log-odds of the components given the state",
        source="FB-2, FB-9",
        inputs=(LOG_PRIOR, MEANS, STATE, t, REFERENCE),
        steps=(
            Step(
                "Bayes: a component against the reference",
                prior + (others - own) / (2 * t**2),
                "the two densities have one normalization",
            ),
            Step(
                "A difference of squares, coordinate by coordinate",
                prior + along(contrast(MEANS) * (STATE[A] - middle)) / t**2,
                "b^2 - a^2 = (b - a)(b + a)",
            ),
            Step("All from the reference", result, "what is far from 0 cancels first"),
        ),
        result={"log_odds": result},
        equation=r"\Lambda_{nm} = \log\frac{\pi_n}{\pi_m}"
        r" + t^{-2}\langle\mu_n - \mu_m,\ z - \tfrac12(\mu_n + \mu_m)\rangle",
        hypotheses=("z = mu_J + t eps with isotropic noise", "0 < t <= 1"),
        kernel=Kernel(
            arguments=(
                Argument(LOG_PRIOR, "logarithms of the masses, up to a constant", (COMPONENTS,)),
                Argument(MEANS, "mean of each component", (COMPONENTS, WIDTH)),
                Argument(STATE, "the state, or what of it was seen", (WIDTH,)),
                _T,
                _REFERENCE,
            ),
            outputs={"log_odds": "log-odds against the reference, whose own are 0"},
            domain=(T_DOMAIN, "the log-odds don't overflow"),
            axes={"log_odds": (COMPONENT,)},
            temporaries=(
                (IndexedBase("contrasts", real=True)[COMPONENT, A], contrast(MEANS)),
                (vector("displacement")[A], displacement(MEANS, STATE)),
                (vector("gained")[COMPONENT], gained),
            ),
            regimes=(
                Regime("typical", "means of order 1, t in [0.05, 1]", 1e-15, "the largest term"),
                Regime(
                    "remote",
                    "means and state near a common point 1e8 away",
                    1e-15,
                    "the largest term",
                ),
                Regime("sharp", "t from 1e-140 to 1e-3", 1e-15, "the largest term"),
                Regime("pure noise", "t = 1 and all means equal", 1e-15, "the largest term"),
            ),
        ),
    )


def noise_mean() -> Derivation:
    """Mean of a token's noise given anything that determines the token."""
    t = CORRUPTION
    components = (COMPONENT, 0, COMPONENTS - 1)
    mean = Sum(RESPONSIBILITIES[COMPONENT] * MEANS[COMPONENT, A], components)
    each = TOKEN[A] - MEANS[COMPONENT, A]
    result = Sum(RESPONSIBILITIES[COMPONENT] * each, components) / t
    return Derivation(
        name="density.noise_mean",
        title="mean of a token's noise, given the responsibilities",
        source="FB-3 (eq. 4)",
        inputs=(RESPONSIBILITIES, MEANS, TOKEN, t),
        steps=(
            Step(
                "The noise of the token, for every outcome", each / t, "FB-1, with n the component"
            ),
            Step(
                "Take expectations given the observation",
                (TOKEN[A] - mean) / t,
                "the observation determines the token",
            ),
            Step("Differences first", result, "the responsibilities sum to one"),
        ),
        result={"noise_mean": result},
        equation=r"E[\varepsilon_i \mid o] = \Big(Z_i - \sum_n r_n(o)\mu_{n,i}\Big)/t"
        r" = \sum_n r_n(o)\,(Z_i - \mu_{n,i})/t",
        hypotheses=("the observation determines the token", "the responsibilities sum to one"),
        kernel=Kernel(
            arguments=(
                Argument(RESPONSIBILITIES, "posterior masses, with sum 1", (COMPONENTS,)),
                Argument(MEANS, "mean of the token in each component", (COMPONENTS, WIDTH)),
                Argument(TOKEN, "the token", (WIDTH,)),
                _T,
            ),
            outputs={"noise_mean": "mean of the noise"},
            domain=(T_DOMAIN,),
            axes={"noise_mean": (A,)},
            index_order=(COMPONENT, A),
            regimes=(
                Regime("typical", "means of order 1, t in [0.05, 1]", 1e-15, "the noise"),
                Regime(
                    "remote", "means and token near a common point 1e8 away", 1e-15, "the noise"
                ),
                Regime("sharp", "t from 1e-140 to 1e-3", 1e-15, "the noise"),
            ),
        ),
    )


DERIVATIONS = (log_density, log_odds, noise_mean)
