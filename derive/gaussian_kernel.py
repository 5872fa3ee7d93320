r"""Gaussian kernel averages over particles, as a step of attention (EB-6, 7, 13, 14, 30).

For particles z_j with weights w_j the smoothed density ``G_beta * nu`` at a query q has the kernel
weights ``a_j = softmax_j(log w_j - beta/2 |q - z_j|^2)``; its score is ``beta (F - q)`` with the
kernel mean ``F = sum_j a_j z_j``. So a step along the score, a step of attention with a leaky
residual and a step down the slope of the energy are one map.
"""

from __future__ import annotations

from sympy import Expr, KroneckerDelta, Sum, Symbol, exp, log
from sympy.tensor.indexed import IndexedBase

from derive.notation import index, size
from derive.steps import Argument, Derivation, Kernel, Regime, Step

QUERIES, PARTICLES, WIDTH = size("n"), size("N"), size("d")
AT, J, K, M = index("i"), index("j"), index("k"), index("m")
A, B, C = index("a"), index("b"), index("c")
_ORDER = (AT, J, K, M, A, B, C)
BETA = Symbol("beta", positive=True)
ETA = Symbol("eta", positive=True)
QUERY, PARTICLE = IndexedBase("queries", real=True), IndexedBase("particles", real=True)
LOG_WEIGHTS = IndexedBase("log_weights", real=True)
ATTENTION = IndexedBase("attention", nonnegative=True)
PRODUCTS, NORMS = IndexedBase("products", real=True), IndexedBase("norms", nonnegative=True)
RESIDUALS = IndexedBase("residuals", real=True)
COVARIANCE = IndexedBase("covariance", real=True)

_BETA = Argument(BETA, "inverse bandwidth, at least 0")
_ABOVE = Argument(BETA, "inverse bandwidth, above 0")
_QUERIES = Argument(QUERY, "points at which the particles are averaged", (QUERIES, WIDTH))
_PARTICLES = Argument(PARTICLE, "particles z", (PARTICLES, WIDTH))
_LOG_WEIGHTS = Argument(
    LOG_WEIGHTS, "log w_j, up to a constant; -inf for a particle that does not count", (PARTICLES,)
)
_CLOUD = (_BETA, _QUERIES, _PARTICLES, _LOG_WEIGHTS)
_DOMAIN = ("beta >= 0", "squared distances below 1e300", "some log_weights above -inf")
_INPUTS = {
    "typical": "a cloud of radius 3, beta from 0.1 to 10",
    "far": "queries at a distance of 1e4 to 1e8, beta its inverse",
    "shifted": "the cloud and the queries moved by 1e8",
    "clusters": "tight clusters in a wide cloud, beta from 1e3 to 1e12",
    "limits": "beta = 0, one particle counted, duplicates, queries on particles",
}


_ABOVE_INPUTS = {**_INPUTS, "limits": "one particle counted, duplicates, queries on particles"}


def _table(
    relative_to: str, *bounds: float, inputs: dict[str, str] = _INPUTS
) -> tuple[Regime, ...]:
    """The error table, one bound a regime."""
    return tuple(
        Regime(name, words, bound, relative_to)
        for (name, words), bound in zip(inputs.items(), bounds, strict=True)
    )


def over_particles(body: Expr, position: Expr = J) -> Sum:
    """The sum over all particles."""
    return Sum(body, (position, 0, PARTICLES - 1))


def squared_distance(position: Expr) -> Sum:
    """|q_i - z_j|^2."""
    return Sum((QUERY[AT, C] - PARTICLE[position, C]) ** 2, (C, 0, WIDTH - 1))


def logit(position: Expr) -> Expr:
    """log w_j - beta/2 |q_i - z_j|^2."""
    return LOG_WEIGHTS[position] - BETA * squared_distance(position) / 2


def attention(position: Expr) -> Expr:
    """The weight of a particle at a query, a_ij."""
    return exp(logit(position)) / over_particles(exp(logit(M)), M)


def kernel_mean(coordinate: Expr = A, weight: Expr | None = None) -> Sum:
    """sum_j a_ij z_j."""
    return over_particles((attention(J) if weight is None else weight) * PARTICLE[J, coordinate])


_DENSITY = over_particles(exp(logit(J)))
_NAMED_ROW = ((ATTENTION[AT, J], attention(J)),)


def weights() -> Derivation:
    """Weights of the particles at each query."""
    return Derivation(
        name="gaussian_kernel.weights",
        title="Gaussian kernel weights of particles, a softmax row",
        source="EB-6, EB-13",
        inputs=(BETA, QUERY, PARTICLE, LOG_WEIGHTS),
        steps=(
            Step("Each particle's share of the smoothed density", exp(logit(J)), "G_beta * nu"),
            Step("Divide by the sum of all", attention(J), "the constant of G_beta cancels"),
        ),
        result={"weights": attention(J)},
        equation=r"a_{ij} = \mathrm{softmax}_j(\log w_j - \tfrac{\beta}{2} |q_i - z_j|^2)",
        kernel=Kernel(
            arguments=_CLOUD,
            outputs={"weights": "weights of the particles, each row with sum 1"},
            domain=_DOMAIN,
            axes={"weights": (AT, J)},
            index_order=_ORDER,
            regimes=_table("each entry", 3e-13, 1e-14, 3e-13, 1e-13, 3e-13),
        ),
    )


def dot_product_weights() -> Derivation:
    """The same weights from dot products, with a bias that the keys' norms make."""
    dots = Sum(QUERY[AT, C] * PARTICLE[J, C], (C, 0, WIDTH - 1))
    norms = Sum(PARTICLE[J, C] ** 2, (C, 0, WIDTH - 1))
    query_norm = Sum(QUERY[AT, C] ** 2, (C, 0, WIDTH - 1))
    biased = LOG_WEIGHTS[J] + BETA * dots - BETA * norms / 2
    row = exp(biased) / over_particles(exp(biased.subs(J, M)), M)
    return Derivation(
        name="gaussian_kernel.dot_product_weights",
        title="Gaussian kernel weights as dot-product attention with a key-norm bias",
        source="EB-7",
        inputs=(BETA, QUERY, PARTICLE, LOG_WEIGHTS),
        steps=(
            Step("The kernel weights", attention(J), "gaussian_kernel.weights"),
            Step("Expand the square", biased - BETA * query_norm / 2, "bilinearity"),
            Step("The query's norm is the same for all j", row, "a softmax forgets a constant"),
        ),
        result={"weights": row},
        equation=r"a_{ij} = \mathrm{softmax}_j(\log w_j + \beta q_i \cdot z_j"
        r" - \tfrac{\beta}{2} |z_j|^2)",
        kernel=Kernel(
            arguments=_CLOUD,
            outputs={"weights": "weights of the particles, each row with sum 1"},
            domain=("beta >= 0", "some log_weights above -inf"),
            axes={"weights": (AT, J)},
            index_order=_ORDER,
            temporaries=((PRODUCTS[AT, J], dots), (NORMS[J], norms)),
            regimes=(
                Regime("typical", _INPUTS["typical"], 3e-13),
                Regime("far", _INPUTS["far"], 1e-14),
                Regime("clusters", _INPUTS["clusters"], 1e-15, "1 + beta times the squares"),
            ),
            notes=(
                "An error of the logits is eps times beta times the squares of the norms: take the"
                " points from an origin near them, or use the weights from distances.",
            ),
        ),
    )


def mean() -> Derivation:
    """Average of the particles at each query."""
    density = over_particles(exp(logit(J)))
    return Derivation(
        name="gaussian_kernel.mean",
        title="kernel mean of particles",
        source="EB-6, EB-13, EB-30",
        inputs=(BETA, QUERY, PARTICLE, LOG_WEIGHTS),
        steps=(
            Step("The smoothed density, up to a constant", density, "D = G_beta * nu"),
            Step(
                "Its first moment over itself",
                over_particles(exp(logit(J)) * PARTICLE[J, A]) / density,
                "F = A/D",
            ),
            Step("The shares are a softmax row", kernel_mean(), "gaussian_kernel.weights"),
        ),
        result={"mean": kernel_mean()},
        equation=r"F(q_i) = \sum_j a_{ij} z_j",
        kernel=Kernel(
            arguments=_CLOUD,
            outputs={"mean": "average of the particles, in their convex hull up to rounding"},
            domain=_DOMAIN,
            axes={"mean": (AT, A)},
            index_order=_ORDER,
            temporaries=_NAMED_ROW,
            regimes=_table("the particles", 3e-15, 1e-15, 1e-15, 1e-15, 1e-15),
        ),
    )


def score() -> Derivation:
    """Gradient of the log of the smoothed density."""
    result = BETA * (kernel_mean() - QUERY[AT, A])
    return Derivation(
        name="gaussian_kernel.score",
        title="score of the smoothed particles",
        source="EB-6, EB-30",
        inputs=(BETA, QUERY, PARTICLE, LOG_WEIGHTS),
        steps=(
            Step("The log of the smoothed density, up to a constant", log(_DENSITY)),
            Step(
                "Differentiate by a coordinate of the query",
                over_particles(exp(logit(J)) * -BETA * (QUERY[AT, A] - PARTICLE[J, A])) / _DENSITY,
                "grad exp(-beta |q - z|^2/2) = -beta (q - z) exp(-beta |q - z|^2/2)",
            ),
            Step("The shares are a softmax row", result, "the weights have sum 1"),
        ),
        result={"score": result},
        equation=r"\nabla \log (G_\beta * \nu)(q_i) = \beta (F(q_i) - q_i)",
        kernel=Kernel(
            arguments=_CLOUD,
            outputs={"score": "gradient of the log density; the velocity on the main clock"},
            domain=_DOMAIN,
            axes={"score": (AT, A)},
            index_order=_ORDER,
            temporaries=_NAMED_ROW,
            regimes=_table("beta times the distances", 1e-15, 1e-15, 1e-15, 1e-15, 1e-15),
        ),
    )


def attention_step() -> Derivation:
    """One step of attention with a leaky residual."""
    result = (1 - ETA) * QUERY[AT, A] + ETA * kernel_mean()
    return Derivation(
        name="gaussian_kernel.attention_step",
        title="one step of attention with a leaky residual",
        source="EB-6 (Prop. 3.1, eq. 1), EB-13, EB-14",
        inputs=(BETA, ETA, QUERY, PARTICLE, LOG_WEIGHTS),
        steps=(
            Step(
                "A step of length h = eta/beta along the score",
                QUERY[AT, A] + ETA / BETA * score().result["score"],
                "gaussian_kernel.score",
            ),
            Step(
                "A step of length eta down the slope of the energy",
                QUERY[AT, A] - ETA * (QUERY[AT, A] - kernel_mean()),
                "gaussian_kernel.energy_gradient",
            ),
            Step("The query's own share and the attention's", result, "collect terms"),
        ),
        result={"queries_next": result},
        equation=r"q_i \leftarrow (1 - \eta) q_i + \eta \sum_j a_{ij} z_j",
        hypotheses=("beta > 0 for the readings as a step along the score or down the energy",),
        kernel=Kernel(
            arguments=(_BETA, Argument(ETA, "length of the step"), *_CLOUD[1:]),
            outputs={"queries_next": "the queries after the step"},
            domain=_DOMAIN,
            axes={"queries_next": (AT, A)},
            index_order=_ORDER,
            temporaries=_NAMED_ROW,
            regimes=_table("the points", 2e-15, 1e-15, 3e-15, 2e-15, 2e-15),
        ),
    )


def energy() -> Derivation:
    """The energy whose slope a step of attention descends."""
    result = -log(_DENSITY) / BETA
    return Derivation(
        name="gaussian_kernel.energy",
        title="energy of a query among particles",
        source="EB-13 (eq. 2)",
        inputs=(BETA, QUERY, PARTICLE, LOG_WEIGHTS),
        steps=(
            Step("The smoothed density, up to a constant", _DENSITY, "G_beta * nu"),
            Step("Its log, in units of -1/beta", result, "definition"),
        ),
        result={"energy": result},
        equation=r"E(Z; q_i) = -\frac{1}{\beta} \log \sum_j w_j e^{-\frac{\beta}{2} |q_i - z_j|^2}",
        kernel=Kernel(
            arguments=(_ABOVE, *_CLOUD[1:]),
            outputs={"energy": "energy of each query; a factor of all w_j shifts it"},
            domain=("beta > 0", *_DOMAIN[1:]),
            axes={"energy": (AT,)},
            index_order=_ORDER,
            regimes=_table("its terms", 1e-15, 1e-15, 1e-15, 1e-15, 1e-15, inputs=_ABOVE_INPUTS),
        ),
    )


def energy_gradient() -> Derivation:
    """Slope of that energy."""
    result = QUERY[AT, A] - kernel_mean()
    return Derivation(
        name="gaussian_kernel.energy_gradient",
        title="slope of the energy of a query among particles",
        source="EB-13 (eq. 2)",
        inputs=(BETA, QUERY, PARTICLE, LOG_WEIGHTS),
        steps=(
            Step("The energy", energy().result["energy"], "gaussian_kernel.energy"),
            Step(
                "Differentiate by a coordinate of the query",
                over_particles(exp(logit(J)) * (QUERY[AT, A] - PARTICLE[J, A])) / _DENSITY,
                "grad exp(-beta |q - z|^2/2) = -beta (q - z) exp(-beta |q - z|^2/2)",
            ),
            Step("The shares are a softmax row", result, "the weights have sum 1"),
        ),
        result={"gradient": result},
        equation=r"\nabla_q E(Z; q_i) = q_i - F(q_i)",
        kernel=Kernel(
            arguments=_CLOUD,
            outputs={"gradient": "gradient of the energy; its negative is the drift F - q"},
            domain=_DOMAIN,
            axes={"gradient": (AT, A)},
            index_order=_ORDER,
            temporaries=_NAMED_ROW,
            regimes=_table("the distances", 2e-15, 1e-15, 1e-15, 1e-15, 1e-15),
        ),
    )


def deviation(coordinate: Expr) -> Expr:
    """z_j - F_i, a coordinate of it."""
    average = over_particles(attention(K) * PARTICLE[K, coordinate], K)
    return PARTICLE[J, coordinate] - average


def centred_square() -> Sum:
    """sum_j a_ij (z_j - F_i)(z_j - F_i)'."""
    return over_particles(attention(J) * deviation(A) * deviation(B))


_NAMED_DEVIATIONS = (*_NAMED_ROW, (RESIDUALS[AT, J, A], deviation(A)))
_NOTE = (
    "The deviations are an array of n times N times d numbers: moments from one origin instead"
    " would cancel where a row picks few particles of a wide cloud. Call it for few queries at"
    " once."
)


def covariance() -> Derivation:
    """Covariance of the particles under the weights at each query."""
    result = centred_square()
    second = over_particles(attention(J) * PARTICLE[J, A] * PARTICLE[J, B])
    return Derivation(
        name="gaussian_kernel.covariance",
        title="covariance of particles under the kernel weights",
        source="EB-14, EB-30",
        inputs=(BETA, QUERY, PARTICLE, LOG_WEIGHTS),
        steps=(
            Step("Second moment less the mean's square", second - kernel_mean(A) * kernel_mean(B)),
            Step("Deviations from the mean", result, "the weights have sum 1"),
        ),
        result={"covariance": result},
        equation=r"\mathrm{Cov}_i = \sum_j a_{ij} (z_j - F(q_i))(z_j - F(q_i))^\top",
        kernel=Kernel(
            arguments=_CLOUD,
            outputs={"covariance": "covariance of the particles at each query"},
            domain=_DOMAIN,
            axes={"covariance": (AT, A, B)},
            index_order=_ORDER,
            symmetric=("covariance",),
            temporaries=_NAMED_DEVIATIONS,
            regimes=_table("the largest entry", 5e-14, 1e-14, 5e-14, 3e-14, 1e-14),
            notes=(_NOTE,),
        ),
    )


def mean_jacobian() -> Derivation:
    """Derivative of the kernel mean by the query."""
    result = BETA * centred_square()
    return Derivation(
        name="gaussian_kernel.mean_jacobian",
        title="Jacobian of the kernel mean by the query",
        source="EB-30 (Prop. E.2)",
        inputs=(BETA, QUERY, PARTICLE, LOG_WEIGHTS),
        steps=(
            Step("The kernel mean", kernel_mean(), "gaussian_kernel.mean"),
            Step(
                "A weight moves with the query",
                BETA * attention(J) * deviation(B),
                "softmax Jacobian, d logit_j/dq = -beta (q - z_j)",
            ),
            Step("Sum over the particles", result, "the deviations have mean 0"),
        ),
        result={"jacobian": result},
        equation=r"\nabla F(q_i) = \beta \, \mathrm{Cov}_i",
        kernel=Kernel(
            arguments=_CLOUD,
            outputs={"jacobian": "derivatives of F, symmetric psd"},
            domain=_DOMAIN,
            axes={"jacobian": (AT, A, B)},
            index_order=_ORDER,
            symmetric=("jacobian",),
            temporaries=_NAMED_DEVIATIONS,
            regimes=_table("the largest entry", 5e-14, 1e-14, 5e-14, 3e-14, 1e-14),
            notes=(_NOTE,),
        ),
    )


def energy_hessian() -> Derivation:
    """Curvature of the energy."""
    result = KroneckerDelta(A, B) - BETA * centred_square()
    return Derivation(
        name="gaussian_kernel.energy_hessian",
        title="curvature of the energy of a query among particles",
        source="EB-14",
        inputs=(BETA, QUERY, PARTICLE, LOG_WEIGHTS),
        steps=(
            Step("The slope", QUERY[AT, A] - kernel_mean(), "gaussian_kernel.energy_gradient"),
            Step("Its derivative", result, "gaussian_kernel.mean_jacobian"),
        ),
        result={"hessian": result},
        equation=r"\nabla_q^2 E(Z; q_i) = I_d - \beta \, \mathrm{Cov}_i \preceq I_d",
        kernel=Kernel(
            arguments=_CLOUD,
            outputs={"hessian": "second derivatives of the energy"},
            domain=_DOMAIN,
            axes={"hessian": (AT, A, B)},
            index_order=_ORDER,
            symmetric=("hessian",),
            temporaries=(*_NAMED_DEVIATIONS, (COVARIANCE[AT, A, B], centred_square())),
            regimes=_table("1 + root of beta times the spread", 3e-15, 1e-15, 3e-15, 1e-15, 1e-15),
            notes=(_NOTE,),
        ),
    )


DERIVATIONS = (
    weights,
    dot_product_weights,
    mean,
    score,
    attention_step,
    energy,
    energy_gradient,
    covariance,
    mean_jacobian,
    energy_hessian,
)
