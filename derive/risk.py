r"""Risk of a probe that is linear in a representation, in four orthogonal terms (FB-21).

With ``m_Z = E[U | Z]``, ``m_T = E[U | T]``, T a function of Z and Pi the projector on the space
that the probe can reach,

    E|U - g|^2 = E|U - m_Z|^2 + E|m_Z - m_T|^2 + E|(I - Pi) m_T|^2 + E|Pi m_T - g|^2.

The best space of a given dimension (FB-22) and the risk along a chain of observations (FB-24)
follow.
"""

from __future__ import annotations

from itertools import pairwise

from sympy import (
    Add,
    Expr,
    Function,
    IndexedBase,
    KroneckerDelta,
    Matrix,
    Rational,
    Sum,
    Symbol,
)

from derive.notation import index, size
from derive.steps import Argument, Derivation, Kernel, Regime, Step

POINTS, WIDTH = size("n"), size("q")
POINT, OTHER, A, B = index("i"), index("p"), index("a"), index("b")
MASSES = IndexedBase("masses", nonnegative=True)
TARGET, PREDICTION = IndexedBase("target", real=True), IndexedBase("prediction", real=True)
FINE_MEAN, COARSE_MEAN = IndexedBase("m_Z", real=True), IndexedBase("m_T", real=True)
FINE, COARSE = IndexedBase("labels_Z", integer=True), IndexedBase("labels_T", integer=True)
PROJECTOR = IndexedBase("projector", real=True)
REACHED = IndexedBase("reached", real=True)
EIGENVALUES = IndexedBase("eigenvalues", nonnegative=True)
WEIGHTS, RANK = IndexedBase("weights", nonnegative=True), size("r")

TERMS = {
    "noise": "what the state itself leaves open, E|U - m_Z|^2",
    "information": "what the representation loses, E|m_Z - m_T|^2",
    "width": "what the probe's space can't reach, E|(I - Pi) m_T|^2",
    "fit": "what the probe misses inside its space, E|Pi m_T - g|^2",
}
_HYPOTHESES = (
    "U is square integrable, and T is a function of Z",
    "the prediction is a function of T with values in the range of Pi",
)
_MASSES = Argument(MASSES, "probabilities of the points, nonnegative with sum 1", (POINTS,))
_TARGET = Argument(TARGET, "target U at each point", (POINTS, WIDTH))
_PROJECTOR = Argument(PROJECTOR, "orthogonal projector on the probe's space", (WIDTH, WIDTH))
_PREDICTION = Argument(PREDICTION, "prediction g(T) at each point", (POINTS, WIDTH))


def mean_square(entry: Expr) -> Sum:
    """E|X|^2 over the points, X given by its entry at (i, a)."""
    return Sum(MASSES[POINT] * Sum(entry**2, (A, 0, WIDTH - 1)), (POINT, 0, POINTS - 1))


def average(values: IndexedBase, labels: IndexedBase) -> Expr:
    """E[values | labels] at the point i: the average over the points with the same label."""
    same = KroneckerDelta(labels[POINT], labels[OTHER]) * MASSES[OTHER]
    points = (OTHER, 0, POINTS - 1)
    return Sum(same * values[OTHER, A], points) / Sum(same, points)


def project(values: Expr) -> Sum:
    """Pi applied to the vector at each point; `values` has the coordinate b."""
    return Sum(PROJECTOR[A, B] * values, (B, 0, WIDTH - 1))


def _four(fine: Expr, coarse: Expr, reached: Expr) -> dict[str, Expr]:
    return {
        "noise": mean_square(TARGET[POINT, A] - fine),
        "information": mean_square(fine - coarse),
        "width": mean_square(coarse - reached),
        "fit": mean_square(reached - PREDICTION[POINT, A]),
    }


def _steps() -> tuple[Step, ...]:
    """The decomposition in any space of square integrable vectors."""
    parts = [Symbol(name, commutative=False) for name in ("U", "m_Z", "m_T", "Pi_m_T", "g")]
    differences = [left - right for left, right in pairwise(parts)]
    norm2, inner = Function("E_norm2"), Function("E_inner")
    names = [Symbol(f"d{k}", commutative=False) for k in range(1, 5)]
    cross = [2 * inner(names[a], names[b]) for a in range(4) for b in range(a + 1, 4)]
    return (
        Step("Split the error at every stage", Add(*differences, evaluate=False), "telescope"),
        Step(
            "Expand the mean square of d1 + d2 + d3 + d4",
            Add(*map(norm2, names), *cross),
            "bilinearity",
        ),
        Step(
            "d1 = U - m_Z is orthogonal to what Z determines: d2, d3 and d4",
            Add(*map(norm2, names), *cross[3:]),
            "E[U - m_Z | Z] = 0",
        ),
        Step(
            "d2 = m_Z - m_T is orthogonal to what T determines: d3 and d4",
            Add(*map(norm2, names), *cross[5:]),
            "E[m_Z - m_T | T] = 0, since T is a function of Z",
        ),
        Step(
            "d3 = (I - Pi) m_T is orthogonal to the range of Pi: d4",
            Add(*map(norm2, names)),
            "Pi = Pi' = Pi^2",
        ),
    )


def four_terms() -> Derivation:
    """The four terms from the two conditional means."""
    reached = project(COARSE_MEAN[POINT, B])
    terms = _four(FINE_MEAN[POINT, A], COARSE_MEAN[POINT, A], reached)
    return Derivation(
        name="risk.four_terms",
        title="risk in four orthogonal terms",
        source="FB-21 (eq. 16)",
        inputs=(MASSES, TARGET, FINE_MEAN, COARSE_MEAN, PROJECTOR, PREDICTION),
        steps=_steps(),
        result=terms,
        equation=r"E|U-g|^2 = E|U-m_Z|^2 + E|m_Z-m_T|^2 + E|(I-\Pi)m_T|^2 + E|\Pi m_T-g|^2",
        hypotheses=_HYPOTHESES,
        kernel=Kernel(
            arguments=(
                _MASSES,
                _TARGET,
                Argument(FINE_MEAN, "E[U | Z] at each point", (POINTS, WIDTH)),
                Argument(COARSE_MEAN, "E[U | T] at each point", (POINTS, WIDTH)),
                _PROJECTOR,
                _PREDICTION,
            ),
            outputs=TERMS,
            domain=("masses >= 0 with sum 1", "projector symmetric, idempotent"),
            axes=dict.fromkeys(TERMS, ()),
            index_order=(POINT, OTHER, A, B),
            temporaries=((REACHED[POINT, A], reached),),
            regimes=(
                Regime("typical", "entries of order 1, up to 1000 points", 1e-14),
                Regime(
                    "offset", "all values shifted by 1e6", 1e-14, "the mean square of the values"
                ),
                Regime("scaled", "values of order 1e-100 or 1e100", 1e-14),
            ),
            notes=(
                "For samples give each point the mass 1/n; the sum of the terms then differs"
                " from the measured risk by cross terms of order 1/sqrt(n).",
            ),
        ),
    )


def four_terms_finite() -> Derivation:
    """The four terms on a finite space with masses and two partitions."""
    fine = average(TARGET, FINE)
    coarse = average(TARGET, COARSE)
    reached = project(coarse.subs(A, B))
    terms = _four(fine, coarse, reached)
    return Derivation(
        name="risk.four_terms_finite",
        title="risk in four terms on a finite space",
        source="FB-21 (eq. 16)",
        inputs=(MASSES, TARGET, FINE, COARSE, PROJECTOR, PREDICTION),
        steps=(
            *_steps(),
            Step(
                "On a finite space E[U | Z] averages over the block of the point",
                fine,
                "definition",
            ),
            Step("so does E[U | T], over larger blocks", coarse, "T is a function of Z"),
        ),
        result=terms,
        equation=r"E[U \mid Z](i) = \sum_{p \sim i} w_p U_p / \sum_{p \sim i} w_p",
        hypotheses=_HYPOTHESES,
        kernel=Kernel(
            arguments=(
                _MASSES,
                _TARGET,
                Argument(FINE, "label of the value of Z at each point", (POINTS,), label=True),
                Argument(
                    COARSE,
                    "label of the value of T, a function of that of Z",
                    (POINTS,),
                    label=True,
                ),
                _PROJECTOR,
                _PREDICTION,
            ),
            outputs=TERMS,
            domain=(
                "masses >= 0 with sum 1",
                "projector symmetric, idempotent",
                "the partition of Z refines that of T",
            ),
            axes=dict.fromkeys(TERMS, ()),
            index_order=(POINT, OTHER, A, B),
            temporaries=(
                (FINE_MEAN[POINT, A], fine),
                (COARSE_MEAN[POINT, A], coarse),
                (REACHED[POINT, A], project(COARSE_MEAN[POINT, B])),
            ),
            regimes=(
                Regime("typical", "up to 200 points, masses in [1e-3, 1]", 1e-14),
                Regime(
                    "offset", "all values shifted by 1e6", 1e-14, "the mean square of the values"
                ),
                Regime(
                    "degenerate",
                    "points of mass 0, one block, single points",
                    1e-14,
                    "the mean square of the values",
                ),
            ),
        ),
    )


def finite_example() -> Derivation:
    """The exact check of the specification: 1 + 1 + 1/2 + 1/4 = 11/4."""
    quarter, half = Rational(1, 4), Rational(1, 2)
    means = ((2, 0), (0, 0), (0, 2), (0, 0))
    # Each state splits into two points, U = m_Z + (1, 0) and U = m_Z - (1, 0).
    points = [(quarter / 2, (m[0] + sign, m[1]), m) for m in means for sign in (1, -1)]
    blocks = [(1, 0), (0, 1)]
    prediction = (half, 0)

    def square(left: tuple[Expr, ...], right: tuple[Expr, ...]) -> Expr:
        return Add(*((x - y) ** 2 for x, y in zip(left, right, strict=True)))

    noise = Add(*(mass * square(u, m) for mass, u, m in points))
    information = Add(*(quarter * square(m, blocks[state // 2]) for state, m in enumerate(means)))
    width = Add(*(half * block[1] ** 2 for block in blocks))
    fit = Add(*(half * square((block[0], 0), prediction) for block in blocks))
    risk = Add(*(mass * square(u, prediction) for mass, u, _ in points))
    return Derivation(
        name="risk.finite_example",
        title="four states in two blocks, a probe along one axis",
        source="FB-21, exact finite check",
        inputs=(),
        steps=(
            Step("Noise", noise),
            Step("Information", information),
            Step("Width", width),
            Step("Fit", fit),
            Step("Sum", Add(noise, information, width, fit)),
            Step("Risk, summed point by point", risk, "definition"),
        ),
        result={
            "noise": noise,
            "information": information,
            "width": width,
            "fit": fit,
            "total": risk,
        },
        equation=r"1 + 1 + \tfrac12 + \tfrac14 = \tfrac{11}{4}",
    )


def width() -> Derivation:
    """What the best space of r dimensions misses of E[U | T]."""
    total, caught = Sum(EIGENVALUES[B], (B, 0, WIDTH - 1)), Sum(EIGENVALUES[B], (B, 0, RANK - 1))
    tail = Sum(EIGENVALUES[B], (B, RANK, WIDTH - 1))
    weights = Sum(WEIGHTS[B] * EIGENVALUES[B], (B, 0, WIDTH - 1))
    return Derivation(
        name="risk.width",
        title="what the best space of r dimensions misses",
        source="FB-22 (eq. 17)",
        inputs=(EIGENVALUES, RANK),
        steps=(
            Step(
                "A space with projector Pi misses tr((I - Pi) C), C = E[m_T m_T']", total - weights
            ),
            Step(
                "with weights in [0, 1] that sum to r",
                Sum(WEIGHTS[B], (B, 0, WIDTH - 1)),
                "the diagonal of Pi in the eigenbasis of C",
            ),
            Step("They catch at most the first r eigenvalues", caught, "Ky Fan; attained"),
            Step("What is left", tail, "an offset for free: the covariance of m_T in place of C"),
        ),
        result={"tail": tail},
        equation=r"\inf_{\dim\mathcal S \le r}\inf_g E|U - g(T)|^2"
        r" = E|U - m_T|^2 + \sum_{k>r}\lambda_k(E[m_T m_T^\top])",
        hypotheses=("U is square integrable", "the eigenvalues are in falling order"),
    )


def width_example() -> Derivation:
    """The example of the specification: tails 1/2 through the origin and 0 with an offset."""
    half = Rational(1, 2)
    means = Matrix([[1, 0], [0, 1]])
    moment = half * means * means.T
    mean = half * means * Matrix([1, 1])
    linear = sorted(moment.eigenvals(multiple=True))
    affine = sorted((moment - mean * mean.T).eigenvals(multiple=True))
    return Derivation(
        name="risk.width_example",
        title="two values of the representation's mean, and probes of one dimension",
        source="FB-22, exact finite check",
        inputs=(),
        steps=(
            Step("The second moment", moment.as_immutable()),
            Step(
                "The covariance", (moment - mean * mean.T).as_immutable(), "less the mean's square"
            ),
            Step("The smaller eigenvalue of the moment: the tail through the origin", linear[0]),
            Step("That of the covariance: the tail with an offset", affine[0]),
        ),
        result={"linear": linear[0], "affine": affine[0]},
        equation=r"\lambda_2(C_T) = \tfrac12, \qquad \lambda_2(\mathrm{Cov}\, m_T) = 0",
    )


def increment() -> Derivation:
    """What the Bayes risk grows by where an observation is replaced by a function of it."""
    norm2 = Function("E_norm2")
    target, fine, coarse = (Symbol(name, commutative=False) for name in ("U", "m", "m_next"))
    return Derivation(
        name="risk.increment",
        title="increment of the Bayes risk along a chain of observations",
        source="FB-24 (eqs. 19, 20)",
        inputs=(),
        steps=(
            Step(
                "Split the error at the finer mean",
                Add(target - fine, fine - coarse, evaluate=False),
                "telescope",
            ),
            Step(
                "The parts are orthogonal",
                norm2(target - fine) + norm2(fine - coarse),
                "E[U - m | finer] = 0, and m_next is a function of the finer",
            ),
            Step("So the risk grows by", norm2(fine - coarse), "or falls, as a history grows"),
        ),
        result={"increment": norm2(fine - coarse)},
        equation=r"R^*_{H_{\ell+1}} - R^*_{H_\ell} ="
        r" E\big|E[U \mid H_\ell] - E[U \mid H_{\ell+1}]\big|^2 \ge 0",
        hypotheses=("U is square integrable", "each observation is a function of the one before"),
    )


DERIVATIONS = (four_terms, four_terms_finite, finite_example, width, width_example, increment)
