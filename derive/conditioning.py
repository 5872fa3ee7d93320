r"""Gaussian conditioning from the linear regression that characterizes it (FB-3, FB-7).

For jointly Gaussian vectors the conditional mean is the affine map whose residual is uncorrelated
with what was observed, and the conditional covariance is the covariance of that residual. No
density is used, so a singular covariance of any rank is a normal case.
"""

from __future__ import annotations

from sympy import Eq, Expr, Identity, Inverse, MatrixExpr, MatrixSymbol, Symbol, ZeroMatrix

from derive.notation import Pinv, column, size
from derive.steps import Argument, Derivation, Kernel, Regime, Step

UNOBSERVED, OBSERVED = size("u"), size("k")
MEAN_U, MEAN_O = column("mean_u", UNOBSERVED), column("mean_o", OBSERVED)
COV_UU = MatrixSymbol("cov_uu", UNOBSERVED, UNOBSERVED)
COV_UO = MatrixSymbol("cov_uo", UNOBSERVED, OBSERVED)
COV_OO = MatrixSymbol("cov_oo", OBSERVED, OBSERVED)
VALUE = column("value", OBSERVED)

HEADS, WIDTH = size("H"), size("d")
HEAD_MAP = MatrixSymbol("M", HEADS, WIDTH)
CORRUPTION = Symbol("t", positive=True)
MU, QUERY = column("mu", WIDTH), column("c", WIDTH)
LOG_RATIOS = column("log_ratios", HEADS)

_JOINT = "the joint covariance [[cov_uu, cov_uo], [cov_uo', cov_oo]] is symmetric psd"
_ARGUMENTS = (
    Argument(MEAN_U, "mean of the unobserved coordinates", (UNOBSERVED,)),
    Argument(MEAN_O, "mean of the observed coordinates", (OBSERVED,)),
    Argument(COV_UU, "their covariance, unobserved with unobserved", (UNOBSERVED, UNOBSERVED)),
    Argument(COV_UO, "unobserved with observed", (UNOBSERVED, OBSERVED)),
    Argument(COV_OO, "observed with observed", (OBSERVED, OBSERVED)),
    Argument(VALUE, "observed values", (OBSERVED,)),
)
_OUTPUTS = {
    "mean": "conditional mean of the unobserved coordinates",
    "residual_cov": "conditional covariance, symmetric",
}


def _regression(gain: MatrixExpr) -> tuple[Step, ...]:
    """The steps that both forms share: what makes an affine map the conditional mean."""
    unknown = MatrixSymbol("G", UNOBSERVED, OBSERVED)
    return (
        Step(
            "Predict affinely, and ask that the residual be uncorrelated with the observed part",
            Eq(COV_UO - unknown * COV_OO, ZeroMatrix(UNOBSERVED, OBSERVED)),
            "for jointly Gaussian vectors uncorrelated is independent",
        ),
        Step("Solve for the gain", gain, "range of cov_uo' lies in the range of cov_oo (psd)"),
        Step(
            "Covariance of the residual",
            COV_UU - unknown * COV_UO.T - COV_UO * unknown.T + unknown * COV_OO * unknown.T,
            "bilinearity",
        ),
        Step(
            "Use the regression equation in the last two terms",
            COV_UU - unknown * COV_UO.T,
            "G cov_oo = cov_uo",
        ),
    )


def gaussian_pinv() -> Derivation:
    """Conditioning with a pseudo-inverse: any rank."""
    gain = COV_UO * Pinv(COV_OO)
    innovation = VALUE - MEAN_O
    mean, residual = MEAN_U + gain * innovation, COV_UU - gain * COV_UO.T
    return Derivation(
        name="conditioning.gaussian_pinv",
        title="law of the unobserved coordinates of a Gaussian, any rank",
        source="FB-3; Murphy (2007), eq. (3)",
        inputs=(MEAN_U, MEAN_O, COV_UU, COV_UO, COV_OO, VALUE),
        steps=(
            *_regression(gain),
            Step("Conditional mean", mean, "the residual is independent of the observed part"),
            Step("Conditional covariance", residual),
        ),
        result={"mean": mean, "residual_cov": residual},
        equation=r"m_u + \Sigma_{uo}\Sigma_{oo}^{+}(x_o - m_o), \qquad"
        r" \Sigma_{uu} - \Sigma_{uo}\Sigma_{oo}^{+}\Sigma_{ou}",
        hypotheses=(_JOINT, "value lies in the support of the observed law"),
        kernel=Kernel(
            arguments=_ARGUMENTS,
            outputs=_OUTPUTS,
            domain=("joint covariance psd of any rank", "value in the support"),
            temporaries=(
                (MatrixSymbol("gain", UNOBSERVED, OBSERVED), gain),
                (column("innovation", OBSERVED), innovation),
            ),
            symmetric=("cov_uu", "cov_oo", "residual_cov"),
            regimes=(
                Regime("typical", "joint condition up to 1e3", 3e-13, "the prior"),
                Regime(
                    "singular",
                    "observed block of any lower rank, with duplicates",
                    1e-13,
                    "the prior",
                ),
                Regime(
                    "ill-conditioned", "joint condition 1e14 in a random basis", 1e-3, "the prior"
                ),
                Regime("tiny", "covariances scaled by 1e-150", 3e-13, "the prior"),
            ),
            notes=("Eigenvalues of cov_oo below rank_tol times the largest count as zero.",),
        ),
    )


def gaussian_elimination() -> Derivation:
    """Conditioning by eliminating one observed coordinate after another."""
    gain = COV_UO * Inverse(COV_OO)
    innovation = VALUE - MEAN_O
    mean, residual = MEAN_U + gain * innovation, COV_UU - gain * COV_UO.T
    pivot, coupling = Symbol("p", positive=True), column("a", UNOBSERVED)
    return Derivation(
        name="conditioning.gaussian_elimination",
        title="law of the unobserved coordinates of a Gaussian, by elimination",
        source="FB-3; Murphy (2007), eq. (3)",
        inputs=(MEAN_U, MEAN_O, COV_UU, COV_UO, COV_OO, VALUE),
        steps=(
            *_regression(gain),
            Step(
                "One observed coordinate with variance p and covariances a",
                COV_UU - coupling * coupling.T / pivot,
                "k = 1",
            ),
            Step(
                "The next one starts from what is left, and the order does not matter",
                residual,
                "quotient property of Schur complements",
            ),
            Step("The mean moves along", mean),
        ),
        result={"mean": mean, "residual_cov": residual},
        equation=r"m_u + \Sigma_{uo}\Sigma_{oo}^{-1}(x_o - m_o), \qquad"
        r" \Sigma_{uu} - \Sigma_{uo}\Sigma_{oo}^{-1}\Sigma_{ou}",
        hypotheses=(_JOINT, "cov_oo is invertible, or value lies in the support"),
        kernel=Kernel(
            arguments=_ARGUMENTS,
            outputs=_OUTPUTS,
            domain=("joint covariance psd", "where cov_oo is singular, value in the support"),
            temporaries=((column("innovation", OBSERVED), innovation),),
            symmetric=("cov_uu", "cov_oo", "residual_cov"),
            regimes=(
                Regime("typical", "joint condition up to 1e3", 3e-14, "the prior"),
                Regime("graded", "condition 1e14 from scales of 1 to 1e-7", 1e-13, "the prior"),
                Regime(
                    "ill-conditioned",
                    "joint condition 1e14 in a random basis",
                    1e-5,
                    "the prior",
                ),
                Regime(
                    "singular",
                    "observed block of any lower rank, with duplicates",
                    1e-13,
                    "the prior",
                ),
            ),
            notes=(
                "A pivot below rank_tol times its variance before elimination is a coordinate"
                " that the earlier ones determine; it is passed over.",
            ),
        ),
    )


def residual_cov(t: Expr = CORRUPTION, head_map: MatrixSymbol = HEAD_MAP) -> Derivation:
    """Covariance of a corrupted token once its log-ratios are known."""
    width = head_map.shape[1]
    identity = Identity(width)
    prior, cross, observed = t**2 * identity, t**2 * head_map.T, t**2 * head_map * head_map.T
    residual = t**2 * (identity - Pinv(head_map) * head_map)
    return Derivation(
        name="conditioning.residual_cov",
        title="covariance of a corrupted token given its log-ratios",
        source="FB-7 (eq. 8)",
        inputs=(t, head_map),
        steps=(
            Step("Covariance of the token", prior, "FB-1"),
            Step("Covariance of the token with what the row shows", cross, "l + M c = M z"),
            Step("Covariance of what the row shows", observed, "FB-6"),
            Step(
                "Condition", prior - cross * Pinv(observed) * cross.T, "conditioning.gaussian_pinv"
            ),
            Step("Cancel t and shorten", residual, "M'(M M')^+ = M^+, for any rank"),
        ),
        result={"residual_cov": residual},
        equation=r"R = t^2 (I_d - M^{+} M)",
        hypotheses=("0 < t <= 1", "M has any rank; heads may be duplicates"),
        kernel=Kernel(
            arguments=(
                Argument(CORRUPTION, "corruption level, above 0"),
                Argument(HEAD_MAP, "row h is c' Q_h' K_h / sqrt(k_h)", (HEADS, WIDTH)),
            ),
            outputs={"residual_cov": "covariance of the token, the same for every component"},
            domain=("t > 0", "any real M"),
            symmetric=("residual_cov",),
            regimes=(
                Regime("typical", "M with condition up to 1e3", 1e-13, "t^2"),
                Regime("ill-conditioned", "M with singular values from 1 to 1e-12", 1e-3, "t^2"),
                Regime("singular", "M of lower rank: duplicate heads, zero rows", 1e-14, "t^2"),
                Regime("scaled", "M scaled by 1e-150 or by 1e150", 1e-13, "t^2"),
            ),
            notes=("Singular values of M below rank_tol times the largest count as zero.",),
        ),
    )


def token_mean(head_map: MatrixSymbol = HEAD_MAP) -> Derivation:
    """Mean of a corrupted token once its log-ratios are known."""
    shown = LOG_RATIOS + head_map * QUERY
    mean = MU + Pinv(head_map) * (LOG_RATIOS + head_map * QUERY - head_map * MU)
    t = CORRUPTION
    return Derivation(
        name="conditioning.token_mean",
        title="mean of a corrupted token given its log-ratios",
        source="FB-7 (eq. 8)",
        inputs=(MU, QUERY, LOG_RATIOS, head_map),
        steps=(
            Step("What the row shows of the token", shown, "l = M (z - c), FB-5"),
            Step(
                "Condition",
                MU
                + t**2 * head_map.T * Pinv(t**2 * head_map * head_map.T) * (shown - head_map * MU),
                "conditioning.gaussian_pinv",
            ),
            Step("Cancel t and shorten", mean, "M'(M M')^+ = M^+, for any rank"),
        ),
        result={"mean": mean},
        equation=r"m = \mu + M^{+}(l + M c - M \mu)",
        hypotheses=("l + M c lies in the range of M", "M has any rank; heads may be duplicates"),
        kernel=Kernel(
            arguments=(
                Argument(MU, "mean of the token before the row is seen", (WIDTH,)),
                Argument(QUERY, "the query token, c", (WIDTH,)),
                Argument(LOG_RATIOS, "log-ratios of the token, one a head", (HEADS,)),
                Argument(HEAD_MAP, "row h is c' Q_h' K_h / sqrt(k_h)", (HEADS, WIDTH)),
            ),
            outputs={"mean": "mean of the token given its log-ratios"},
            domain=("any real M", "l + M c in the range of M"),
            temporaries=(
                (column("surprise", HEADS), LOG_RATIOS + head_map * QUERY - head_map * MU),
            ),
            regimes=(
                Regime("typical", "M with condition up to 1e3", 1e-13, "the mean"),
                Regime(
                    "ill-conditioned",
                    "M with singular values from 1 to 1e-12",
                    1e-2,
                    "the mean",
                ),
                Regime(
                    "singular",
                    "M of lower rank: duplicate heads, zero rows",
                    1e-13,
                    "the mean",
                ),
            ),
            notes=("Singular values of M below rank_tol times the largest count as zero.",),
        ),
    )


DERIVATIONS = (gaussian_pinv, gaussian_elimination, residual_cov, token_mean)
