"""Four-term risk: the exact example, and the exact sum on random finite spaces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import sympy
from sympy import Matrix, Rational

from derive import risk
from derive.entries import entries

SEED = 5


def test_example_of_the_specification_is_eleven_quarters():
    result = risk.finite_example().result
    assert [result[name] for name in risk.TERMS] == [1, 1, Rational(1, 2), Rational(1, 4)]
    assert result["total"] == sum(result[name] for name in risk.TERMS) == Rational(11, 4)


def finite_space(rng: np.random.Generator) -> tuple[dict, Rational]:
    points, width = 6, 2
    weights = [Rational(int(w)) for w in rng.integers(1, 6, points)]
    masses = [w / sum(weights) for w in weights]
    fine = [int(v) for v in rng.integers(0, 4, points)]
    coarse = [label // 2 for label in fine]
    target = [[Rational(int(v)) for v in line] for line in rng.integers(-4, 5, (points, width))]
    direction = Matrix([int(v) for v in rng.integers(1, 4, width)])
    projector = direction * direction.T / (direction.T * direction)[0]
    reach = {label: Rational(int(rng.integers(-3, 4)), 2) for label in set(coarse)}
    prediction = [list(direction * reach[label]) for label in coarse]
    total = sum(
        m * sum((a - b) ** 2 for a, b in zip(u, g, strict=True))
        for m, u, g in zip(masses, target, prediction, strict=True)
    )
    return {
        risk.MASSES: masses,
        risk.TARGET: target,
        risk.FINE: fine,
        risk.COARSE: coarse,
        risk.PROJECTOR: projector.tolist(),
        risk.PREDICTION: prediction,
    }, total


def test_terms_sum_to_the_risk_exactly_on_random_finite_spaces():
    rng = np.random.default_rng(SEED)
    for _ in range(6):
        values, total = finite_space(rng)
        terms = entries(risk.four_terms_finite(), {risk.POINTS: 6, risk.WIDTH: 2}, values)
        assert sum(terms.values()) == total
        assert all(term >= 0 for term in terms.values())


def test_a_prediction_outside_the_space_breaks_the_sum():
    """The false neighbour: the prediction must lie in the range of the projector."""
    values, _ = finite_space(np.random.default_rng(SEED))
    values[risk.PREDICTION] = [[1, 0]] * 6
    values[risk.PROJECTOR] = [[0, 0], [0, 1]]
    terms = entries(risk.four_terms_finite(), {risk.POINTS: 6, risk.WIDTH: 2}, values)
    total = sum(
        m * ((u[0] - 1) ** 2 + u[1] ** 2)
        for m, u in zip(values[risk.MASSES], values[risk.TARGET], strict=True)
    )
    assert sum(terms.values()) != total


def test_a_coarse_partition_that_is_not_coarser_breaks_the_sum():
    values, total = finite_space(np.random.default_rng(SEED))
    values[risk.FINE], values[risk.COARSE] = [0] * 6, list(range(6))
    terms = entries(risk.four_terms_finite(), {risk.POINTS: 6, risk.WIDTH: 2}, values)
    assert sum(terms.values()) != total


def test_every_step_of_the_decomposition_loses_only_cross_terms():
    shown = [step.expression for step in risk.four_terms().steps[1:]]
    squares = [term for term in sympy.Add.make_args(shown[0]) if "norm2" in str(term)]
    assert len(squares) == 4
    for before, after in pairwise(shown):
        assert set(sympy.Add.make_args(after)) < set(sympy.Add.make_args(before))
        assert set(squares) <= set(sympy.Add.make_args(after))
