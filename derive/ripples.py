r"""How fast a ripple on a uniform density grows under the flow (EB-12).

A uniform density is at rest. A small ripple of wave vector k on it grows at a rate that depends on
``k2 = |k|^2`` alone; where tokens are few, this is how the flow turns noise into clusters.
"""

from __future__ import annotations

from sympy import Eq, Expr, Function, Integer, Symbol, exp

from derive.steps import Argument, Derivation, Kernel, Regime, Step

BETA = Symbol("beta", positive=True)
K2 = Symbol("k2", nonnegative=True)

_UNIFORM = ("the density is uniform up to a ripple of first order",)
_ARGUMENTS = (
    Argument(K2, "squared length of the wave vector, at least 0"),
    Argument(BETA, "inverse bandwidth of the attention kernel, above 0"),
)
_REGIMES = (
    Regime("typical", "beta in [1e-2, 1e2], k2/beta in [1e-3, 1e1]", 4e-15),
    Regime("long", "k2/beta in [1e-300, 1e-3]", 4e-15),
    Regime("short", "k2/beta in [1e1, 1.3e3]", 4e-13),
    Regime("limits", "k2 = 0", 4e-15),
)


def _rate(name: str, clock: str, pace: Expr, k2: Expr, beta: Expr) -> Derivation:
    rate = pace * (k2 / beta) * exp(-k2 / (2 * beta))
    ripple, seen = Function("g")(K2), exp(-k2 / (2 * beta))
    return Derivation(
        name=name,
        title=f"growth rate of a ripple on a uniform density, {clock} clock",
        source="EB-12",
        inputs=(k2, beta),
        steps=(
            Step("Attention sees the ripple damped", seen * ripple, "Fourier transform of G_beta"),
            Step(
                "The flow moves density along the gradient of what it sees",
                Eq(Symbol("growth"), k2 * seen),
                "df/dt = -div(f grad log(G_beta*f)) to first order, main clock",
            ),
            Step("On this clock", rate, "theta = beta*time"),
            Step(
                "The fastest ripple has",
                Eq(k2, 2 * beta),
                "the rate's slope has the sign of 2*beta - k2",
            ),
        ),
        result={"rate": rate},
        equation=r"|k|^2 e^{-|k|^2/2\beta}, \qquad \text{largest, } 2\beta/e, \text{ at }"
        r" |k|^2 = 2\beta"
        if pace == beta
        else r"\frac{|k|^2}{\beta} e^{-|k|^2/2\beta}, \qquad \text{largest, } 2/e, \text{ at }"
        r" |k|^2 = 2\beta",
        hypotheses=_UNIFORM,
        kernel=Kernel(
            arguments=_ARGUMENTS,
            outputs={"rate": "rate at which the ripple's logarithm grows"},
            domain=("k2 >= 0", "beta > 0", "k2/beta below 1e300"),
            regimes=_REGIMES,
            notes=(
                "The relative error of the exponential is k2/(2 beta) times that of its argument.",
            ),
        ),
    )


def growth_rate_main_clock(k2: Expr = K2, beta: Expr = BETA) -> Derivation:
    """Growth rate on the main clock."""
    return _rate("ripples.growth_rate_main_clock", "main", beta, k2, beta)


def growth_rate_appendix_clock(k2: Expr = K2, beta: Expr = BETA) -> Derivation:
    """Growth rate on the appendix clock."""
    return _rate("ripples.growth_rate_appendix_clock", "appendix", Integer(1), k2, beta)


DERIVATIONS = (growth_rate_main_clock, growth_rate_appendix_clock)
