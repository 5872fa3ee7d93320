r"""What a wrong likelihood costs: responsibilities that are not the posterior (FB-23).

An observation that determines the query token leaves its noise open through the component alone:
``m = (Z - (1 - t) sum_n r_n X_n)/t`` with the clean targets X_n. Other masses q in place of the
posterior's r move that mean by a mixture of differences of targets.
"""

from __future__ import annotations

from sympy import Abs, Eq, Expr, Function, IndexedBase, Sum, Symbol

from derive.notation import index, size
from derive.steps import Argument, Derivation, Kernel, Regime, Step

COMPONENTS, WIDTH = size("N"), size("d")
COMPONENT, A = index("n"), index("a")
RESPONSIBILITIES = IndexedBase("responsibilities", nonnegative=True)
APPROXIMATE = IndexedBase("approximate", nonnegative=True)
TARGETS = IndexedBase("targets", real=True)
MOVED = IndexedBase("moved", real=True)
CORRUPTION = Symbol("t", positive=True)
SPREAD = Symbol("spread", nonnegative=True)
TV = Symbol("total_variation", nonnegative=True)


def wrong_likelihood(t: Expr = CORRUPTION, spread: Expr = SPREAD) -> Derivation:
    """How far wrong responsibilities move the noise mean, and a bound on that."""
    moved = APPROXIMATE[COMPONENT] - RESPONSIBILITIES[COMPONENT]
    components = (COMPONENT, 0, COMPONENTS - 1)
    deviation = (1 - t) / t * Sum(moved * TARGETS[COMPONENT, A], components)
    distance = Sum(Abs(moved), components) / 2
    bound = (1 - t) / t * spread * distance
    mean, norm2 = Function("E"), Function("norm2")
    risk, exact, wrong = Symbol("U"), Symbol("m"), Symbol("q_mean")
    return Derivation(
        name="likelihood.wrong_likelihood",
        title="what wrong responsibilities do to the noise mean",
        source="FB-23 (eq. 18)",
        inputs=(RESPONSIBILITIES, APPROXIMATE, TARGETS, t, spread),
        steps=(
            Step("The means differ by", deviation, "FB-3, twice; the token falls out"),
            Step(
                "q - r = a - b with a, b >= 0 of the same sum, the total variation",
                distance,
                "both sum to one",
            ),
            Step(
                "The total variation times the deviation mixes differences of two targets",
                spread * distance,
                "sum_nm a_n b_m (X_n - X_m); each is at most the spread",
            ),
            Step("So the deviation is at most", bound, "triangle inequality"),
            Step(
                "In the mean square that is what it costs",
                Eq(
                    mean(norm2(risk - wrong)) - mean(norm2(risk - exact)),
                    mean(norm2(exact - wrong)),
                ),
                "U - m is orthogonal to all that the observation determines",
            ),
        ),
        result={"deviation": deviation, "total_variation": distance, "bound": bound},
        equation=r"m - \tilde m = \tfrac{1-t}{t}\sum_n (q_n - r_n) X_n, \qquad"
        r" |m - \tilde m| \le \tfrac{1-t}{t}\,D\,TV, \qquad TV = \tfrac12\sum_n |r_n - q_n|",
        hypotheses=("the query token and q are functions of the observation",),
        kernel=Kernel(
            arguments=(
                Argument(RESPONSIBILITIES, "posterior masses, with sum 1", (COMPONENTS,)),
                Argument(APPROXIMATE, "masses in their place, with sum 1", (COMPONENTS,)),
                Argument(TARGETS, "clean target of each component", (COMPONENTS, WIDTH)),
                Argument(CORRUPTION, "corruption level in (0, 1]"),
                Argument(SPREAD, "largest distance between two targets, D"),
            ),
            outputs={
                "deviation": "the noise mean less the one with the masses in its place",
                "total_variation": "distance of the two posteriors, in [0, 1]",
                "bound": "bound on the norm of the deviation",
            },
            domain=("0 < t <= 1", "masses with sum 1"),
            axes={"deviation": (A,), "total_variation": (), "bound": ()},
            index_order=(COMPONENT, A),
            temporaries=((MOVED[COMPONENT], moved), (TV, distance)),
            regimes=(
                Regime("typical", "targets of order 1", 4e-15, "the terms of the sum"),
                Regime("near", "masses apart by 1e-12", 4e-15, "the terms of the sum"),
                Regime("sharp", "t from 1e-140 to 1e-3", 4e-15, "the terms of the sum"),
                Regime("pure noise", "t = 1, where nothing moves", 4e-15, "the terms of the sum"),
            ),
        ),
    )


DERIVATIONS = (wrong_likelihood,)
