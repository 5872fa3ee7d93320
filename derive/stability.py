r"""How far errors in a row carry: to its log-ratios, to the tokens, to the posterior (FB-12).

A row whose entries are at least tau, each known to delta/2, has log-ratios that are off by at
most ``-2 log(1 - delta/(2 tau))``. All bounds here are multiples of that margin.
"""

from __future__ import annotations

from sympy import Expr, IndexedBase, Sum, Symbol, log, sqrt, tanh

from derive.notation import index, size
from derive.steps import Argument, Derivation, Kernel, Regime, Step

HEADS, H = size("H"), index("h")
DELTA = Symbol("delta", nonnegative=True)
TAU = Symbol("tau_margin", positive=True)
SIGMA = Symbol("sigma_min", positive=True)
N_HEADS = Symbol("n_heads", positive=True)
N_LOG_RATIOS = Symbol("n_log_ratios", nonnegative=True)
CONTRAST, SPREAD = Symbol("contrast", nonnegative=True), Symbol("spread", nonnegative=True)
CORRUPTION = Symbol("t", positive=True)
DISTANCE = Symbol("distance", nonnegative=True)
NORMS = IndexedBase("head_norms", nonnegative=True)
KEY_SIZES = IndexedBase("key_sizes", positive=True)

MARGIN = -2 * log(1 - DELTA / (2 * TAU))
_DELTA = Argument(DELTA, "width of the interval that an entry is known to")
_TAU = Argument(TAU, "what the entries are at least, above delta/2")
_SIGMA = Argument(SIGMA, "least singular value of M that isn't zero")
_N_HEADS = Argument(N_HEADS, "number of heads, H")
_MARGIN_DOMAIN = "0 <= delta < 2 tau_margin"
_EDGE = "delta within 1e-6 of 2 tau_margin"
_ENTRIES = "entries of the row are at least tau_margin, before and after the change"


def margin() -> Derivation:
    """How far a log-ratio can be off."""
    s, ds = Symbol("s", positive=True), Symbol("ds", real=True)
    return Derivation(
        name="stability.margin",
        title="how far a log-ratio can be off where each entry is known to delta/2",
        source="FB-12d",
        inputs=(DELTA, TAU),
        steps=(
            Step("One entry", log((s + ds) / s), "|ds| <= delta/2, s >= tau_margin"),
            Step("at worst", MARGIN / 2, "ds/s >= -delta/(2 tau_margin), and log is increasing"),
            Step("An entry and the anchor", MARGIN, "triangle inequality"),
        ),
        result={"margin": MARGIN},
        equation=r"|\Delta l_{hj}| \le -2\log\big(1 - \delta/2\tau\big)",
        hypotheses=(_ENTRIES,),
        kernel=Kernel(
            arguments=(_DELTA, _TAU),
            outputs={"margin": "bound on the change of a log-ratio"},
            domain=(_MARGIN_DOMAIN,),
            regimes=(
                Regime("typical", "delta/tau_margin in [1e-3, 1]", 1e-15),
                Regime("tiny", "delta/tau_margin down to 1e-290", 1e-15),
                Regime("edge", _EDGE, 1e-15, "the condition of the quotient"),
            ),
        ),
    )


def recovery_bound() -> Derivation:
    """How far a token can be off."""
    result = sqrt(N_HEADS) * MARGIN / SIGMA
    return Derivation(
        name="stability.recovery_bound",
        title="how far a recovered token can be off",
        source="FB-12d",
        inputs=(DELTA, TAU, N_HEADS, SIGMA),
        steps=(
            Step("All heads of one token", sqrt(N_HEADS) * MARGIN, "each is off by the margin"),
            Step("The token, in the row space of M", result, "|M x| >= sigma_min |x| there"),
        ),
        result={"bound": result},
        equation=r"|\Delta z_j| \le -2\sqrt{H}\,\log(1 - \delta/2\tau)/\sigma_{\min}(M)",
        hypotheses=(_ENTRIES,),
        kernel=Kernel(
            arguments=(_DELTA, _TAU, _N_HEADS, _SIGMA),
            outputs={"bound": "bound on the change of a token in the row space of M"},
            domain=(_MARGIN_DOMAIN, "sigma_min > 0"),
            regimes=(
                Regime("typical", "delta/tau_margin in [1e-3, 1]", 2e-15),
                Regime("tiny", "delta/tau_margin down to 1e-200", 2e-15),
                Regime("edge", _EDGE, 2e-15, "the condition of the quotient"),
            ),
        ),
    )


def log_odds_change() -> Expr:
    """Bound on the change of any log-odds."""
    return CONTRAST * sqrt(N_LOG_RATIOS) * MARGIN / (CORRUPTION**2 * SIGMA)


def stability_bound() -> Derivation:
    """How far the posterior of the components can be off."""
    t, change = CORRUPTION, log_odds_change()
    tv = tanh(change / 4)
    noise = (1 - t) / t * SPREAD * tv
    return Derivation(
        name="stability.stability_bound",
        title="how far the posterior and the noise mean can be off",
        source="FB-12g",
        inputs=(DELTA, TAU, N_LOG_RATIOS, SIGMA, CONTRAST, SPREAD, t),
        steps=(
            Step(
                "All log-ratios of a row together",
                sqrt(N_LOG_RATIOS) * MARGIN,
                "stability.margin",
            ),
            Step(
                "The part of the tokens that they show",
                change * t**2 / CONTRAST,
                "|M x| >= sigma |x|",
            ),
            Step("A log-odds", change, "FB-9 and Cauchy-Schwarz"),
            Step(
                "The total variation",
                tv,
                "the most that a change of the log-odds by so much can do; attained by two",
            ),
            Step("The noise mean", noise, "FB-3"),
        ),
        result={"log_odds": change, "total_variation": tv, "noise_mean": noise},
        equation=r"\lambda = \max|\Delta_{nm}|\,\frac{-2\sqrt{H(P-1)}\,\log(1-\delta/2\tau)}"
        r"{t^2\,\sigma^+_{\min}(M)}, \qquad TV \le \tanh(\lambda/4), \qquad"
        r" |\Delta m| \le \tfrac{1-t}{t} D_i \tanh(\lambda/4)",
        hypotheses=(_ENTRIES, "the query token is known exactly"),
        kernel=Kernel(
            arguments=(
                _DELTA,
                _TAU,
                Argument(N_LOG_RATIOS, "number of log-ratios, H (P - 1)"),
                _SIGMA,
                Argument(CONTRAST, "largest |Delta_nm| of the other tokens' means"),
                Argument(SPREAD, "largest distance between clean targets of two components, D_i"),
                Argument(CORRUPTION, "corruption level in (0, 1]"),
            ),
            outputs={
                "log_odds": "bound on the change of any log-odds",
                "total_variation": "bound on the total variation between the posteriors",
                "noise_mean": "bound on the change of the noise mean",
            },
            domain=(_MARGIN_DOMAIN, "sigma_min > 0", "1 >= t > 1e-150"),
            temporaries=(
                (Symbol("change", nonnegative=True), change),
                (Symbol("total_variation", nonnegative=True), tv),
            ),
            regimes=(
                Regime("typical", "delta/tau_margin in [1e-3, 1]", 3e-15),
                Regime("tiny", "delta/tau_margin down to 1e-200", 3e-15),
                Regime("saturated", "a change of the log-odds by 1e3", 3e-15),
                Regime("pure noise", "t = 1, where the noise mean is known", 3e-15),
            ),
        ),
    )


def query_error() -> Derivation:
    """How far the map of the heads can be off with the query token."""
    result = DISTANCE * sqrt(Sum(NORMS[H] ** 2 / KEY_SIZES[H], (H, 0, HEADS - 1)))
    return Derivation(
        name="stability.query_error",
        title="how far the map of the heads moves with the query token",
        source="FB-12e",
        inputs=(NORMS, KEY_SIZES, DISTANCE),
        steps=(
            Step("One head", NORMS[H] * DISTANCE / sqrt(KEY_SIZES[H]), "|x' A| <= |A| |x|"),
            Step("All heads", result, "the rows' squared norms add up"),
        ),
        result={"bound": result},
        equation=r"\|M(c) - M(c')\| \le \Big(\sum_h \|Q_h^\top K_h\|^2/k_h\Big)^{1/2} |c - c'|",
        kernel=Kernel(
            arguments=(
                Argument(NORMS, "norm of Q_h' K_h, one a head", (HEADS,)),
                Argument(KEY_SIZES, "key size of each head, k_h", (HEADS,)),
                Argument(DISTANCE, "distance |c - c'| of the query tokens"),
            ),
            outputs={"bound": "bound on the change of M, in the Frobenius norm"},
            domain=("head_norms >= 0, of no overflowing square", "key_sizes > 0"),
            axes={"bound": ()},
            regimes=(
                Regime("typical", "norms of order 1", 2e-15),
                Regime("scaled", "norms scaled by 1e-100 or 1e100", 2e-15),
                Regime("zero", "heads that see nothing", 2e-15),
            ),
        ),
    )


DERIVATIONS = (margin, recovery_bound, stability_bound, query_error)
