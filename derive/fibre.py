r"""What a row and its values say of the other tokens: a linear system, and its fibre (FB-9, FB-13).

An observation sets ``F z = b`` for the tokens other than the query token. Components are told
apart by their contrasts in the row space of F; what lies in its kernel stays open.
"""

from __future__ import annotations

from sympy import Expr, IndexedBase, Sum

from derive.attention import HEADS, OTHERS, OUT, OUTPUTS, A, B, H, J, over_width
from derive.density import (
    COMPONENT,
    COMPONENTS,
    CORRUPTION,
    LOG_PRIOR,
    REFERENCE,
    WIDTH,
    contrast,
    displacement,
)
from derive.notation import index, size, vector
from derive.steps import Argument, Derivation, Kernel, Regime, Step

STATES, OTHER = size("q"), index("m")
_T = Argument(CORRUPTION, "corruption level, above 0")


def right_side() -> Derivation:
    """The right side of the linear system that an observation sets for the other tokens."""
    log_ratios, heads, query = (
        IndexedBase("log_ratios", real=True),
        IndexedBase("M", real=True),
        vector("c"),
    )
    value, weights, values = vector("value"), vector("weights"), IndexedBase("V", real=True)
    rows = log_ratios[J, H] + over_width(heads[H, A] * query[A])
    rest = value[OUT] - weights[OUT] * over_width(values[OUT, A] * query[A])
    return Derivation(
        name="fibre.right_side",
        title="what the row and the values say of the other tokens",
        source="FB-13 (eq. 12a)",
        inputs=(log_ratios, heads, query, value, weights, values),
        steps=(
            Step("The row shows M z_j", rows, "l_j = M (z_j - c)"),
            Step("The values, less the query token's part, show sum_j D_j z_j", rest, "FB-8"),
        ),
        result={"rows": rows, "values": rest},
        equation=r"b = (l_j + M c)_j \,\|\, (a - D_i c)",
        kernel=Kernel(
            arguments=(
                Argument(log_ratios, "row j holds l_j, one a head", (OTHERS, HEADS)),
                Argument(heads, "map of the query token", (HEADS, WIDTH)),
                Argument(query, "the query token", (WIDTH,)),
                Argument(value, "values of all heads, less what offsets add", (OUTPUTS,)),
                Argument(
                    weights, "the row's entry at the query token, of each output's head", (OUTPUTS,)
                ),
                Argument(values, "value maps of all heads, stacked", (OUTPUTS, WIDTH)),
            ),
            outputs={
                "rows": "row j: what the heads show of token j",
                "values": "what the values show of the other tokens together",
            },
            domain=("any real arrays",),
            axes={"rows": (J, H), "values": (OUT,)},
            index_order=(J, H, OUT, A),
            regimes=(
                Regime("typical", "entries of order 1", 1e-14, "the products"),
                Regime("saturated", "log-ratios of order 1e3", 1e-14, "the products"),
            ),
        ),
    )


QUERY_MEANS, STATE_MEANS = IndexedBase("query_means", real=True), IndexedBase("means", real=True)
QUERY, POINT = vector("c"), vector("point")
PROJECTOR = IndexedBase("projector", real=True)


def log_odds() -> Derivation:
    """Log-odds of the components given the query token, the row and the values."""
    prior = LOG_PRIOR[COMPONENT] - LOG_PRIOR[REFERENCE]
    of_query = over_width(contrast(QUERY_MEANS) * displacement(QUERY_MEANS, QUERY))
    of_query -= over_width(contrast(QUERY_MEANS) ** 2) / 2
    seen = Sum(PROJECTOR[A, B] * contrast(STATE_MEANS, B), (B, 0, STATES - 1))
    of_others = Sum(seen * displacement(STATE_MEANS, POINT), (A, 0, STATES - 1))
    of_others -= Sum(seen * contrast(STATE_MEANS), (A, 0, STATES - 1)) / 2
    result = prior + (of_query + of_others) / CORRUPTION**2
    return Derivation(
        name="fibre.log_odds",
        title="log-odds of the components given the query token and what is seen of the others",
        source="FB-9 (eq. 10), FB-13",
        inputs=(
            LOG_PRIOR,
            QUERY_MEANS,
            QUERY,
            STATE_MEANS,
            POINT,
            PROJECTOR,
            CORRUPTION,
            REFERENCE,
        ),
        steps=(
            Step("The query token by itself", prior + of_query / CORRUPTION**2, "density.log_odds"),
            Step("What is seen of a contrast: its part in the row space of F", seen, "Pi = F^+ F"),
            Step(
                "There the noise is isotropic too; any point with F z = b stands for the rest",
                result,
                "Pi z = F^+ b, and tokens are independent given the component",
            ),
        ),
        result={"log_odds": result},
        equation=r"\Lambda_{nm} = \log\tfrac{\pi_n}{\pi_m} + t^{-2}\big["
        r"\langle\mu_{n,i} - \mu_{m,i},\, c - \bar\mu_i\rangle + "
        r"\langle\Delta_{nm},\, \Pi_F (z_{-i} - \bar\mu_{-i})\rangle\big]",
        hypotheses=("tokens are independent given the component, with isotropic noise", "F z = b"),
        kernel=Kernel(
            arguments=(
                Argument(LOG_PRIOR, "logarithms of the masses, up to a constant", (COMPONENTS,)),
                Argument(
                    QUERY_MEANS, "mean of the query token in each component", (COMPONENTS, WIDTH)
                ),
                Argument(QUERY, "the query token", (WIDTH,)),
                Argument(
                    STATE_MEANS,
                    "mean of the other tokens in each component, flat",
                    (COMPONENTS, STATES),
                ),
                Argument(
                    POINT, "any state of the other tokens that fits, such as F^+ b", (STATES,)
                ),
                Argument(PROJECTOR, "orthogonal projector on the row space of F", (STATES, STATES)),
                _T,
                Argument(
                    REFERENCE,
                    "index of the component that the others are compared with",
                    static=True,
                ),
            ),
            outputs={"log_odds": "log-odds against the reference, whose own are 0"},
            domain=("t > 1e-150", "projector symmetric, idempotent", "the log-odds don't overflow"),
            axes={"log_odds": (COMPONENT,)},
            index_order=(COMPONENT, A, B),
            temporaries=(
                (IndexedBase("query_contrasts", real=True)[COMPONENT, A], contrast(QUERY_MEANS)),
                (vector("query_displacement")[A], displacement(QUERY_MEANS, QUERY)),
                (IndexedBase("contrasts", real=True)[COMPONENT, A], contrast(STATE_MEANS)),
                (vector("displacement")[A], displacement(STATE_MEANS, POINT)),
                (IndexedBase("seen", real=True)[COMPONENT, A], seen),
                (vector("of_query")[COMPONENT], of_query),
                (vector("of_others")[COMPONENT], of_others),
            ),
            regimes=(
                Regime("typical", "means of order 1, t in [0.05, 1]", 1e-14, "the largest term"),
                Regime(
                    "remote", "means and tokens near a point 1e8 away", 1e-14, "the largest term"
                ),
                Regime("sharp", "t from 1e-140 to 1e-3", 1e-14, "the largest term"),
                Regime(
                    "singular",
                    "a projector of any rank, 0 and the identity too",
                    1e-14,
                    "the largest term",
                ),
            ),
            notes=(
                "With the identity for a projector these are the log-odds of the whole state, with"
                " 0 those of the query token alone, with the projector of the value blocks alone"
                " those that take the row for a constant.",
            ),
        ),
    )


def unresolved() -> Derivation:
    """What a linear observation leaves open of the contrasts between components."""

    def part(component: Expr) -> Expr:
        difference = STATE_MEANS[component, B] - STATE_MEANS[0, B]
        return Sum(PROJECTOR[A, B] * difference, (B, 0, STATES - 1))

    result = Sum((part(COMPONENT) - part(OTHER)) ** 2, (A, 0, STATES - 1)) / CORRUPTION**2
    return Derivation(
        name="fibre.unresolved",
        title="variance of the full log-odds that an observation leaves open",
        source="FB-13",
        inputs=(STATE_MEANS, PROJECTOR, CORRUPTION),
        steps=(
            Step(
                "What is left open of a component, from the first one",
                part(COMPONENT),
                "the projector on the kernel of F",
            ),
            Step(
                "The full log-odds are affine on the fibre, with the difference as gradient",
                result,
                "density.log_odds; the law on the fibre has covariance t^2 P",
            ),
        ),
        result={"variance": result},
        equation=r"\mathrm{Var}\Big(\log\frac{r_n(Z)}{r_m(Z)} \,\Big|\, o\Big)"
        r" = |P_{\ker F}\,\Delta_{nm}|^2 / t^2",
        hypotheses=("tokens are independent given the component, with isotropic noise",),
        kernel=Kernel(
            arguments=(
                Argument(
                    STATE_MEANS,
                    "mean of the other tokens in each component, flat",
                    (COMPONENTS, STATES),
                ),
                Argument(PROJECTOR, "orthogonal projector on the kernel of F", (STATES, STATES)),
                _T,
            ),
            outputs={"variance": "variance for each pair, 0 where the observation resolves it"},
            domain=("t > 1e-150", "projector symmetric, idempotent"),
            axes={"variance": (COMPONENT, OTHER)},
            index_order=(COMPONENT, OTHER, A, B),
            temporaries=((IndexedBase("open_part", real=True)[COMPONENT, A], part(COMPONENT)),),
            regimes=(
                Regime(
                    "typical", "means of order 1, t in [0.05, 1]", 1e-14, "the squared contrasts"
                ),
                Regime(
                    "remote", "means near a common point 1e8 away", 1e-14, "the squared contrasts"
                ),
                Regime(
                    "singular",
                    "a projector of any rank, 0 and the identity too",
                    1e-14,
                    "the squared contrasts",
                ),
            ),
        ),
    )


DERIVATIONS = (right_side, log_odds, unresolved)
