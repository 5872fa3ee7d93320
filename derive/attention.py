r"""Attention heads once the query token is known: log-ratios and values (FB-5, 6, 8, 12).

With the query token c known, the log-ratios of a row are linear in the other tokens, and with the
row known so is what the head returns.
"""

from __future__ import annotations

from sympy import (
    Expr,
    HadamardProduct,
    IndexedBase,
    MatrixSymbol,
    Sum,
    Symbol,
    sqrt,
)

from derive.notation import Pinv, column, index, size, vector
from derive.steps import Argument, Derivation, Kernel, Regime, Step

HEADS, WIDTH, KEYS, VALUES = size("H"), size("d"), size("k"), size("v")
TOKENS, OTHERS, OUTPUTS = size("P"), size("J"), size("V_tot")
J, H, A, B = index("j"), index("h"), index("a"), index("b")
OUT, OTHER_OUT = index("o"), index("p")

CORRUPTION = Symbol("t", positive=True)
KEY_SIZE = Symbol("key_size", positive=True)
QUERY_MAP, KEY_MAP = MatrixSymbol("Q", KEYS, WIDTH), MatrixSymbol("K", KEYS, WIDTH)
QUERY_BIAS = column("b_Q", KEYS)
C, MU, LOG_RATIOS = column("c", WIDTH), column("mu", WIDTH), column("log_ratios", HEADS)
HEAD_MAP = MatrixSymbol("M", HEADS, WIDTH)
TOKEN_MAP = MatrixSymbol("M_j", HEADS, WIDTH)
TOKEN = column("token", WIDTH)
VALUE_MAP = MatrixSymbol("V", VALUES, WIDTH)
TOKEN_ROWS, ROW = MatrixSymbol("tokens", TOKENS, WIDTH), column("row", TOKENS)
WEIGHTS = MatrixSymbol("weights", OUTPUTS, OTHERS)
ALL_VALUES = MatrixSymbol("V", OUTPUTS, WIDTH)
RESIDUAL_COV = MatrixSymbol("residual_cov", WIDTH, WIDTH)

_M = Argument(HEAD_MAP, "row h is c' Q_h' K_h / sqrt(k_h)", (HEADS, WIDTH))
_C = Argument(C, "the query token", (WIDTH,))


def head_map() -> Derivation:
    """The row of one head in the matrix that shows the other tokens."""
    token, key_bias = column("z", WIDTH), column("b_K", KEYS)
    query = QUERY_MAP * C + QUERY_BIAS
    result = KEY_MAP.T * query / sqrt(KEY_SIZE)
    return Derivation(
        name="attention.head_map",
        title="what one head measures of the other tokens, given the query token",
        source="FB-5 (eq. 5)",
        inputs=(C, QUERY_MAP, KEY_MAP, QUERY_BIAS, KEY_SIZE),
        steps=(
            Step("The query of the token c", query, "definition"),
            Step("The key of a token z", KEY_MAP * token + key_bias, "definition"),
            Step("The logit", query.T * (KEY_MAP * token + key_bias) / sqrt(KEY_SIZE)),
            Step(
                "Subtract the logit of c itself: the key's bias cancels",
                query.T * KEY_MAP * (token - C) / sqrt(KEY_SIZE),
                "linearity in the key",
            ),
            Step("The coefficients of z - c", result, "transposed"),
        ),
        result={"head_map": result},
        equation=r"M_h^\top = K_h^\top (Q_h c + b^Q_h) / \sqrt{k_h}",
        kernel=Kernel(
            arguments=(
                _C,
                Argument(QUERY_MAP, "query map of the head, Q_h", (KEYS, WIDTH)),
                Argument(KEY_MAP, "key map of the head, K_h", (KEYS, WIDTH)),
                Argument(QUERY_BIAS, "bias of the query; zeros if there is none", (KEYS,)),
                Argument(KEY_SIZE, "what the logits are divided by the root of, k_h"),
            ),
            outputs={
                "head_map": "row h of M: the log-ratio of a token z is its product with z - c"
            },
            domain=("key_size > 0", "any real maps"),
            temporaries=((column("query", KEYS), query),),
            regimes=(
                Regime("typical", "entries of order 1", 1e-14, "the products"),
                Regime("scaled", "maps scaled by 1e-100 or 1e100", 1e-14, "the products"),
                Regime("no query", "Q or c is 0", 1e-14, "the products"),
            ),
            notes=(
                "With positions added to the tokens, c is the token with its position. The heads"
                " are a batch axis.",
            ),
        ),
    )


def over_width(body: Expr, position: Expr = A) -> Sum:
    """The sum over the coordinates of a token."""
    return Sum(body, (position, 0, WIDTH - 1))


def log_ratios() -> Derivation:
    """Log-ratios of all heads and tokens, straight from the tokens."""
    heads, tokens, query = (
        IndexedBase("M", real=True),
        IndexedBase("tokens", real=True),
        vector("c"),
    )
    difference = tokens[J, A] - query[A]
    result = over_width(heads[H, A] * difference)
    return Derivation(
        name="attention.log_ratios",
        title="log-ratios of the tokens to the query token, in every head",
        source="FB-5 (eq. 6)",
        inputs=(heads, tokens, query),
        steps=(
            Step("The logit of a token", over_width(heads[H, A] * tokens[J, A]), "up to a term"),
            Step("minus that of the query token", result, "logratio.log_ratios"),
        ),
        result={"log_ratios": result},
        equation=r"l_{hj} = M_h (Z_j - c)",
        kernel=Kernel(
            arguments=(
                Argument(heads, "row h is c' Q_h' K_h / sqrt(k_h)", (HEADS, WIDTH)),
                Argument(tokens, "the other tokens, in their order", (OTHERS, WIDTH)),
                Argument(query, "the query token", (WIDTH,)),
            ),
            outputs={"log_ratios": "row j holds l_j, one a head"},
            domain=("any real M and tokens",),
            axes={"log_ratios": (J, H)},
            index_order=(J, H, A),
            regimes=(
                Regime("typical", "entries of order 1", 1e-14, "the products"),
                Regime("remote", "tokens near the query, 1e8 from 0", 1e-14, "the products"),
                Regime("saturated", "log-ratios of order 1e3", 1e-14, "the products"),
            ),
            notes=("With positions added to the tokens, all tokens come with theirs.",),
        ),
    )


def rotary_log_ratios() -> Derivation:
    """Log-ratios of one token where the map depends on its position."""
    result = TOKEN_MAP * TOKEN - HEAD_MAP * C
    return Derivation(
        name="attention.rotary_log_ratios",
        title="log-ratios of a token to the query token, each with a map of its own",
        source="FB-5, FB-28",
        inputs=(TOKEN_MAP, TOKEN, HEAD_MAP, C),
        steps=(
            Step("The logits of the token", TOKEN_MAP * TOKEN, "the rotation is part of the map"),
            Step("minus those of the query token", result, "logratio.log_ratios"),
        ),
        result={"log_ratios": result},
        equation=r"l_j = M_j Z_j - M_i c",
        kernel=Kernel(
            arguments=(
                Argument(TOKEN_MAP, "map of the token, rows by head", (HEADS, WIDTH)),
                Argument(TOKEN, "the token", (WIDTH,)),
                Argument(HEAD_MAP, "map of the query token, rows by head", (HEADS, WIDTH)),
                _C,
            ),
            outputs={"log_ratios": "log-ratios of the token, one a head"},
            domain=("any real maps and tokens",),
            regimes=(
                Regime("typical", "entries of order 1", 1e-14, "the products"),
                Regime("saturated", "log-ratios of order 1e3", 1e-14, "the products"),
            ),
            notes=("The tokens are a batch axis.",),
        ),
    )


def log_ratio_law() -> Derivation:
    """Law of a token's log-ratios in one component."""
    t = CORRUPTION
    mean, cov = HEAD_MAP * (MU - C), t**2 * (HEAD_MAP * HEAD_MAP.T)
    return Derivation(
        name="attention.log_ratio_law",
        title="law of a token's log-ratios, given the query token and the component",
        source="FB-6 (eq. 7)",
        inputs=(MU, C, HEAD_MAP, t),
        steps=(
            Step("A linear map of the token", HEAD_MAP * (TOKEN - C), "attention.log_ratios"),
            Step("Mean", mean, "the token has mean mu"),
            Step("Covariance", cov, "the token has covariance t^2 I"),
        ),
        result={"mean": mean, "cov": cov},
        equation=r"l_j \sim N\big(M(\mu_j - c),\ t^2 M M^\top\big)",
        hypotheses=("the tokens are independent given the component, with isotropic noise",),
        kernel=Kernel(
            arguments=(
                Argument(MU, "mean of the token", (WIDTH,)),
                _C,
                _M,
                Argument(CORRUPTION, "corruption level, above 0"),
            ),
            outputs={
                "mean": "mean of the log-ratios",
                "cov": "covariance, the same for every token and component; singular if rank M < H",
            },
            domain=("t > 1e-150", "any real M"),
            symmetric=("cov",),
            regimes=(
                Regime("typical", "entries of order 1", 1e-14, "the products"),
                Regime(
                    "singular", "M of lower rank: duplicate heads, zero rows", 1e-14, "the products"
                ),
                Regime("scaled", "M scaled by 1e-100 or by 1e100", 1e-14, "the products"),
            ),
        ),
    )


def head_value() -> Derivation:
    """What a head returns."""
    mixed = TOKEN_ROWS.T * ROW
    result = VALUE_MAP * mixed
    return Derivation(
        name="attention.head_value",
        title="what a head returns, or its mean given the log-ratios",
        source="FB-5, FB-8 (eq. 9)",
        inputs=(VALUE_MAP, TOKEN_ROWS, ROW),
        steps=(
            Step("Mix the tokens by the row", mixed, "the tokens are the rows"),
            Step("Take the values", result, "linear, so before or after the mixing"),
            Step(
                "Given the log-ratios the row is known, and the mean takes the tokens' own means",
                result,
                "expectation of a linear map",
            ),
        ),
        result={"value": result},
        equation=r"A_h = V_h \sum_j s_{hj} Z_j, \qquad \nu_h = V_h \sum_j s_{hj} E[Z_j \mid l]",
        kernel=Kernel(
            arguments=(
                Argument(VALUE_MAP, "value map of the head, V_h", (VALUES, WIDTH)),
                Argument(TOKEN_ROWS, "the tokens, or their means, as rows", (TOKENS, WIDTH)),
                Argument(ROW, "row of the head", (TOKENS,)),
            ),
            outputs={"value": "value of the head"},
            domain=("any real values, tokens and row",),
            temporaries=((column("mixed", WIDTH), mixed),),
            regimes=(
                Regime("typical", "entries of order 1", 1e-14, "the products"),
                Regime("saturated", "a row with one entry near 1", 1e-14, "the products"),
            ),
            notes=("The heads are a batch axis.",),
        ),
    )


def value_block() -> Derivation:
    """How the values of all heads depend on one token, once the row is known."""
    weights, values = vector("weights"), IndexedBase("V", real=True)
    result = weights[OUT] * values[OUT, A]
    return Derivation(
        name="attention.value_block",
        title="derivative of the values of all heads by one token, at a fixed row",
        source="FB-8 (eq. 9)",
        inputs=(weights, values),
        steps=(Step("Head by head, the row's entry times the value map", result, "eq. 9"),),
        result={"block": result},
        equation=r"D_j = \big[s_{hj} V_h\big]_h",
        kernel=Kernel(
            arguments=(
                Argument(weights, "entry of the row of each output's head", (OUTPUTS,)),
                Argument(values, "value maps of all heads, stacked", (OUTPUTS, WIDTH)),
            ),
            outputs={"block": "D_j, rows by output"},
            domain=("any real weights and values",),
            axes={"block": (OUT, A)},
            regimes=(
                Regime("typical", "entries of order 1", 1e-15),
                Regime("saturated", "weights down to 1e-200", 1e-15),
            ),
            notes=("The tokens are a batch axis.",),
        ),
    )


def value_cov() -> Derivation:
    """Covariance of the values of all heads given the log-ratios."""
    token_sum = WEIGHTS * WEIGHTS.T
    result = HadamardProduct(token_sum, ALL_VALUES * RESIDUAL_COV * ALL_VALUES.T)
    values, w = IndexedBase("V", real=True), IndexedBase("weights", real=True)
    cov = IndexedBase("residual_cov", real=True)
    single = w[OUT, J] * values[OUT, A] * cov[A, B] * values[OTHER_OUT, B] * w[OTHER_OUT, J]
    return Derivation(
        name="attention.value_cov",
        title="covariance of the values of all heads given the log-ratios",
        source="FB-8 (eq. 9)",
        inputs=(WEIGHTS, ALL_VALUES, RESIDUAL_COV),
        steps=(
            Step(
                "One entry of D_j R D_j'",
                Sum(single, (A, 0, WIDTH - 1), (B, 0, WIDTH - 1)),
                "D_j = diag(weights_j) V",
            ),
            Step("Sum over the tokens: the weights factor out", result, "R is the same for all"),
        ),
        result={"cov": result},
        equation=r"\Gamma = \sum_{j\ne i} D_j R D_j^\top = (W W^\top) \circ (V R V^\top)",
        hypotheses=("the tokens are independent given the log-ratios, all with covariance R",),
        kernel=Kernel(
            arguments=(
                Argument(
                    WEIGHTS,
                    "entries of the row of each output's head, the other tokens in order",
                    (OUTPUTS, OTHERS),
                ),
                Argument(ALL_VALUES, "value maps of all heads, stacked", (OUTPUTS, WIDTH)),
                Argument(
                    RESIDUAL_COV, "covariance of a token given its log-ratios", (WIDTH, WIDTH)
                ),
            ),
            outputs={"cov": "covariance of the values, the same for every component"},
            domain=("residual_cov symmetric psd of any rank",),
            symmetric=("residual_cov", "cov"),
            regimes=(
                Regime("typical", "entries of order 1", 1e-14, "the products"),
                Regime("singular", "residual_cov of lower rank, or 0", 1e-14, "the products"),
            ),
        ),
    )


def recovered_token() -> Derivation:
    """A token from its log-ratios."""
    result = C + Pinv(HEAD_MAP) * LOG_RATIOS
    return Derivation(
        name="attention.recovered_token",
        title="a token from its log-ratios, as far as they tell",
        source="FB-12",
        inputs=(C, LOG_RATIOS, HEAD_MAP),
        steps=(
            Step("The row shows", HEAD_MAP * (TOKEN - C), "attention.log_ratios"),
            Step(
                "The solution nearest to the query token",
                result,
                "M^+ M z = z for every z where rank M = d",
            ),
        ),
        result={"token": result},
        equation=r"z_j = c + M^{+} l_j",
        hypotheses=("M has rank d; otherwise only the part in its row space is recovered",),
        kernel=Kernel(
            arguments=(
                _C,
                Argument(LOG_RATIOS, "log-ratios of the token, one a head", (HEADS,)),
                _M,
            ),
            outputs={"token": "the token; off the row space of M, that part of the query token"},
            domain=("any real M", "log_ratios in the range of M"),
            regimes=(
                Regime("typical", "M with condition up to 1e3", 1e-12, "the token"),
                Regime(
                    "ill-conditioned", "M with singular values from 1 to 1e-12", 1e-2, "the token"
                ),
                Regime(
                    "singular", "M of lower rank: duplicate heads, zero rows", 1e-13, "the token"
                ),
            ),
            notes=(
                "Singular values of M below rank_tol times the largest count as zero. The tokens"
                " are a batch axis.",
            ),
        ),
    )


DERIVATIONS = (
    head_map,
    log_ratios,
    rotary_log_ratios,
    log_ratio_law,
    head_value,
    value_block,
    value_cov,
    recovered_token,
)
