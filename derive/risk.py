r"""Risk of a probe that is linear in a representation, in four orthogonal terms (FB-21).

With ``m_Z = E[U | Z]``, ``m_T = E[U | T]``, T a function of Z and Pi the projector on the space
that the probe can reach,

    E|U - g|^2 = E|U - m_Z|^2 + E|m_Z - m_T|^2 + E|(I - Pi) m_T|^2 + E|Pi m_T - g|^2.
"""

from __future__ import annotations

from itertools import pairwise

from sympy import Add, Expr, Function, IndexedBase, KroneckerDelta, Rational, Sum, Symbol

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


DERIVATIONS = (four_terms, four_terms_finite, finite_example)
