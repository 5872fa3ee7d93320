r"""Softmax rows and their log-ratios to an anchor (FB-5, FB-11).

A row of P positive probabilities and its P - 1 log-ratios to the entry at the anchor determine
each other. The volume element between the two has determinant ``prod_j 1/s_j`` over all P
entries, the anchor's too.
"""

from __future__ import annotations

from sympy import Eq, Expr, IndexedBase, KroneckerDelta, Product, Sum, exp, log

from derive.derivatives import gradient_of, jvp
from derive.notation import Extended, Skip, index, size, vector
from derive.steps import Argument, Derivation, Kernel, Regime, Step

P = size("P")
ANCHOR = index("anchor")
J, K, M, N = index("j"), index("k"), index("m"), index("n")
LOGITS = vector("logits")
ROW = vector("row", positive=True)
RATIOS = vector("log_ratios")

_LOGITS = Argument(LOGITS, "logits of one head", (P,))
_ROW = Argument(ROW, "probabilities, all above 0", (P,))
_RATIOS = Argument(RATIOS, "log-ratios to the anchor, in the order of the other tokens", (P - 1,))
_ANCHOR = Argument(ANCHOR, "index of the anchor, 0 <= anchor < P", static=True)
_FINITE = ("any finite logits",)


def total(body: Expr, position: Expr = M) -> Sum:
    """The sum over all P tokens."""
    return Sum(body, (position, 0, P - 1))


def softmax(position: Expr, logits: IndexedBase = LOGITS) -> Expr:
    """Entry of the row that belongs to the logits."""
    return exp(logits[position]) / total(exp(logits[M]))


def row() -> Derivation:
    """The row of a head."""
    return Derivation(
        name="logratio.row",
        title="softmax row of a head",
        source="FB-5 (eq. 5)",
        inputs=(LOGITS,),
        steps=(
            Step("Weights, each positive", exp(LOGITS[J])),
            Step("Divide by their sum", softmax(J), "the entries sum to one"),
        ),
        result={"row": softmax(J)},
        equation=r"s_j = e^{x_j} / \sum_k e^{x_k}",
        kernel=Kernel(
            arguments=(_LOGITS,),
            outputs={"row": "probabilities"},
            domain=_FINITE,
            axes={"row": (J,)},
            regimes=(
                Regime("typical", "logits of order 1 to 10", 5e-15),
                Regime("saturated", "one logit ahead by 40", 1e-14),
                Regime("huge", "logits of +-800; normal entries", 1e-13),
            ),
        ),
    )


def log_ratios() -> Derivation:
    """Log-ratios from logits: the normalization cancels."""
    ratio = softmax(Skip(J, ANCHOR)) / softmax(ANCHOR)
    difference = LOGITS[Skip(J, ANCHOR)] - LOGITS[ANCHOR]
    return Derivation(
        name="logratio.log_ratios",
        title="log-ratios of a row, from its logits",
        source="FB-5 (eq. 6)",
        inputs=(LOGITS, ANCHOR),
        steps=(
            Step("Divide by the anchor's entry", ratio, "s_anchor > 0"),
            Step(
                "The normalization cancels",
                exp(LOGITS[Skip(J, ANCHOR)]) / exp(LOGITS[ANCHOR]),
                "common factor",
            ),
            Step("Take logarithms", difference, "log exp = id"),
        ),
        result={"log_ratios": difference},
        equation=r"l_j = \log(s_j / s_i) = x_j - x_i, \qquad j \neq i",
        kernel=Kernel(
            arguments=(_LOGITS, _ANCHOR),
            domain=_FINITE,
            axes={"log_ratios": (J,)},
            outputs={"log_ratios": "log-ratios to the anchor, without the anchor's own zero"},
            regimes=(
                Regime("typical", "logits of order 1 to 10", 3e-16),
                Regime("huge", "logits of +-800", 3e-16),
            ),
        ),
    )


def log_ratios_of_row() -> Derivation:
    """Log-ratios from the probabilities themselves."""
    ratio = log(ROW[Skip(J, ANCHOR)] / ROW[ANCHOR])
    return Derivation(
        name="logratio.log_ratios_of_row",
        title="log-ratios of a row, from its entries",
        source="FB-5 (eq. 6)",
        inputs=(ROW, ANCHOR),
        steps=(
            Step(
                "Divide by the anchor's entry", ROW[Skip(J, ANCHOR)] / ROW[ANCHOR], "s_anchor > 0"
            ),
            Step("Take logarithms", ratio, "definition"),
        ),
        result={"log_ratios": ratio},
        equation=r"l_j = \log(s_j / s_i), \qquad j \neq i",
        hypotheses=("all entries are positive",),
        kernel=Kernel(
            arguments=(_ROW, _ANCHOR),
            domain=("1e150 > row > 0",),
            axes={"log_ratios": (J,)},
            outputs={"log_ratios": "log-ratios to the anchor, without the anchor's own zero"},
            regimes=(
                Regime("typical", "entries in [1e-3, 1]", 1e-15),
                Regime("near", "entries that agree to 1e-12", 1e-15),
                Regime("tiny", "entries down to 1e-300", 1e-15),
            ),
        ),
    )


def row_from_log_ratios() -> Derivation:
    """The inverse map: every vector of log-ratios belongs to one row."""
    extended = Extended(RATIOS, ANCHOR, J)
    closed = exp(extended) / total(exp(Extended(RATIOS, ANCHOR, M)))
    others = Sum(exp(RATIOS[K]), (K, 0, P - 2))
    return Derivation(
        name="logratio.row_from_log_ratios",
        title="row from its log-ratios",
        source="FB-5 (eq. 6)",
        inputs=(RATIOS, ANCHOR),
        steps=(
            Step(
                "Each entry is the anchor's times its ratio",
                ROW[ANCHOR] * exp(RATIOS[J]),
                "definition of the log-ratio",
            ),
            Step("They sum to one", Eq(ROW[ANCHOR] * (1 + others), 1)),
            Step("The anchor's entry", 1 / (1 + others), "1 + sum > 0"),
            Step("With log-ratio 0 at the anchor both are one formula", closed, "exp(0) = 1"),
        ),
        result={"row": closed},
        equation=r"s_i = \Big(1 + \sum_{j \ne i} e^{l_j}\Big)^{-1}, \qquad s_j = s_i e^{l_j}",
        kernel=Kernel(
            arguments=(_RATIOS, _ANCHOR),
            domain=("any finite log-ratios",),
            axes={"row": (J,)},
            outputs={"row": "probabilities, the anchor's at its place"},
            regimes=(
                Regime("typical", "log-ratios of order 1 to 10", 5e-15),
                Regime("saturated", "one log-ratio of +-40", 1e-14),
                Regime("huge", "log-ratios of +-800; normal entries", 1e-13),
            ),
        ),
    )


def jacobian() -> Derivation:
    """Derivative of the log-ratios by the probabilities other than the anchor's."""
    entry = KroneckerDelta(J, K) / ROW[Skip(J, ANCHOR)] + 1 / ROW[ANCHOR]
    others = Sum(ROW[Skip(N, ANCHOR)], (N, 0, P - 2))
    return Derivation(
        name="logratio.jacobian",
        title="Jacobian of the log-ratios by the free probabilities",
        source="FB-11 (eq. 11)",
        inputs=(ROW, ANCHOR),
        steps=(
            Step(
                "Free coordinates: the anchor takes what the others leave",
                1 - others,
                "the entries sum to one",
            ),
            Step(
                "A log-ratio in free coordinates",
                log(ROW[Skip(J, ANCHOR)]) - log(1 - others),
                "log of a quotient",
            ),
            Step(
                "Differentiate by the k-th free coordinate",
                entry,
                "d log(s)/ds = 1/s; the anchor falls as another rises",
            ),
        ),
        result={"jacobian": entry},
        equation=r"\partial l_j / \partial s_k = \delta_{jk}/s_j + 1/s_i, \qquad j, k \neq i",
        hypotheses=("all entries are positive", "the entries sum to one"),
        kernel=Kernel(
            arguments=(_ROW, _ANCHOR),
            domain=("row above 1e-300",),
            axes={"jacobian": (J, K)},
            outputs={"jacobian": "derivatives, without the anchor's row and column"},
            regimes=(
                Regime("typical", "entries in [1e-3, 1]", 1e-15),
                Regime("tiny", "entries down to 1e-300", 1e-15),
            ),
        ),
    )


def det_jacobian() -> Derivation:
    """Determinant of that Jacobian, over all P entries of the row."""
    inverse_product = Product(1 / ROW[K], (K, 0, P - 1))
    others = Product(1 / ROW[Skip(K, ANCHOR)], (K, 0, P - 2))
    spread = Sum(ROW[Skip(N, ANCHOR)], (N, 0, P - 2)) / ROW[ANCHOR]
    return Derivation(
        name="logratio.det_jacobian",
        title="determinant of the Jacobian of the log-ratios",
        source="FB-11 (eq. 11)",
        inputs=(ROW, ANCHOR),
        steps=(
            Step("A diagonal plus a matrix of rank one", jacobian().result["jacobian"]),
            Step("Its determinant", others * (1 + spread), "matrix determinant lemma"),
            Step(
                "The entries sum to one, so 1 + (1 - s_i)/s_i = 1/s_i",
                inverse_product,
                "the product runs over all P entries",
            ),
        ),
        result={"det": inverse_product},
        equation=r"\det\frac{\partial l}{\partial s} = \prod_{j=1}^{P} s_j^{-1}",
        hypotheses=("all entries are positive", "the entries sum to one"),
    )


def log_det_jacobian() -> Derivation:
    """Logarithm of that determinant, straight from the logits."""
    logarithm = -total(log(softmax(N)), N)
    return Derivation(
        name="logratio.log_det_jacobian",
        title="log-determinant of the Jacobian of the log-ratios",
        source="FB-11 (eq. 11)",
        inputs=(LOGITS,),
        steps=(
            Step("The determinant", det_jacobian().result["det"], "logratio.det_jacobian"),
            Step(
                "Take logarithms, with the row from its logits",
                logarithm,
                "log of a product of positive factors",
            ),
        ),
        result={"log_det": logarithm},
        equation=r"\log\det\frac{\partial l}{\partial s} = -\sum_{j=1}^{P} \log s_j",
        kernel=Kernel(
            arguments=(_LOGITS,),
            domain=_FINITE,
            axes={"log_det": ()},
            index_order=(N, M),
            outputs={"log_det": "log-determinant; it does not depend on the anchor"},
            regimes=(
                Regime("typical", "logits of order 1 to 10", 3e-15),
                Regime("saturated", "one logit ahead by 40", 3e-15),
                Regime("huge", "logits of +-800, where the determinant overflows", 3e-15),
            ),
        ),
    )


def softmax_jacobian() -> Derivation:
    """Derivative of the row by the logits."""
    entry = softmax(J) * (KroneckerDelta(J, K) - softmax(K))
    own, other = exp(LOGITS[J]), exp(LOGITS[K])
    return Derivation(
        name="logratio.softmax_jacobian",
        title="Jacobian of the row by its logits",
        source="FB-5, FB-11",
        inputs=(LOGITS,),
        steps=(
            Step(
                "Quotient rule",
                KroneckerDelta(J, K) * own / total(exp(LOGITS[M]))
                - own * other / total(exp(LOGITS[M])) ** 2,
                "d exp(x) = exp(x) dx",
            ),
            Step("Recognize the row", ROW[J] * (KroneckerDelta(J, K) - ROW[K]), "softmax"),
            Step("In the logits", entry),
        ),
        result={"jacobian": entry},
        equation=r"\partial s_j / \partial x_k = s_j (\delta_{jk} - s_k)",
        kernel=Kernel(
            arguments=(_LOGITS,),
            domain=_FINITE,
            axes={"jacobian": (J, K)},
            outputs={"jacobian": "derivatives, symmetric, with rows that sum to zero"},
            temporaries=((ROW[J], softmax(J)),),
            regimes=(
                Regime("typical", "logits of order 1 to 10", 1e-14),
                Regime("saturated", "one logit ahead by 40", 1.4e-14),
                Regime("huge", "logits of +-800; normal entries", 1e-13),
            ),
        ),
    )


def row_jvp() -> Derivation:
    """Change of the row along a direction of its logits."""
    return jvp(
        row(),
        LOGITS,
        title="change of the softmax row along a direction of its logits",
        equation=r"\mathrm{d}s_j = s_j \Big(\mathrm{d}x_j - \sum_k s_k\,\mathrm{d}x_k\Big)",
        temporaries=((ROW[J], softmax(J)),),
        regimes=(
            Regime("typical", "logits of order 1 to 10", 1e-14, "the weighted spread"),
            Regime("saturated", "one logit ahead by 40", 3e-14, "the weighted spread"),
            Regime("huge", "logits of +-800", 1e-13, "the weighted spread"),
        ),
    )


def log_det_jacobian_gradient() -> Derivation:
    """Gradient of that log-determinant by the logits."""
    return gradient_of(
        log_det_jacobian(),
        LOGITS,
        index=J,
        title="gradient of the log-determinant of the Jacobian by the logits",
        equation=r"\partial_{x_j} \Big(-\sum_{k=1}^{P} \log s_k\Big) = P s_j - 1",
        temporaries=((ROW[J], softmax(J)),),
        regimes=(
            Regime("typical", "logits of order 1 to 10", 1e-14, "the number of tokens"),
            Regime("saturated", "one logit ahead by 40", 1e-14, "the number of tokens"),
            Regime("huge", "logits of +-800", 1e-13, "the number of tokens"),
        ),
    )


DERIVATIONS = (
    row,
    log_ratios,
    log_ratios_of_row,
    row_from_log_ratios,
    jacobian,
    det_jacobian,
    log_det_jacobian,
    log_det_jacobian_gradient,
    softmax_jacobian,
    row_jvp,
)
