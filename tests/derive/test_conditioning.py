"""Conditioning: the regression equation, the specification's form, explicit entries of any rank."""

from __future__ import annotations

import numpy as np
import sympy
from sympy import ImmutableDenseMatrix, Matrix, Rational, eye, zeros

from benchmarks.cases.conditioning import gaussian
from derive import conditioning
from derive.entries import entries

SEED = 77


def random_singular(rng: np.random.Generator, n: int, rank: int) -> Matrix:
    loadings = Matrix(n, rank, [int(v) for v in rng.integers(-3, 4, n * rank)])
    return loadings * loadings.T


def test_gain_solves_the_regression_equation_at_any_rank():
    rng = np.random.default_rng(SEED)
    for rank in range(4):
        cov = random_singular(rng, 5, rank)
        cross, observed = cov[3:, :3], cov[:3, :3]
        assert cross * observed.pinv() * observed == cross


def test_pinv_form_is_exact_on_singular_covariances():
    rng = np.random.default_rng(SEED)
    derivation = conditioning.gaussian_pinv()
    for rank in (0, 1, 2, 3):
        cov = random_singular(rng, 5, rank)
        mean = Matrix([int(v) for v in rng.integers(-3, 4, 5)])
        # A point of the support: the mean plus a column of the covariance.
        value = (mean + cov[:, 0])[:3, :]
        values = {
            conditioning.MEAN_U: mean[3:, :],
            conditioning.MEAN_O: mean[:3, :],
            conditioning.COV_UU: cov[3:, 3:],
            conditioning.COV_UO: cov[3:, :3],
            conditioning.COV_OO: cov[:3, :3],
            conditioning.VALUE: value,
        }
        sizes = {conditioning.UNOBSERVED: 2, conditioning.OBSERVED: 3}
        written = entries(derivation, sizes, values)
        floats = {
            str(symbol.name): np.array(given.tolist(), dtype=float)
            for symbol, given in values.items()
        }
        for name in ("mean_u", "mean_o", "value"):
            floats[name] = floats[name][:, 0]
        expected_mean, expected_cov = gaussian(floats)
        assert list(written["mean"]) == [
            Rational(v.numerator, v.denominator) for v in expected_mean
        ]
        assert written["residual_cov"].tolist() == [
            [Rational(v.numerator, v.denominator) for v in line] for line in expected_cov
        ]


def test_both_forms_agree_where_the_observed_block_is_invertible():
    sizes = {conditioning.UNOBSERVED: 1, conditioning.OBSERVED: 2}
    block = Matrix([[2, 1], [1, 3]])
    given = {conditioning.COV_OO: block}
    pinv = entries(conditioning.gaussian_pinv(), sizes, given)
    swept = entries(conditioning.gaussian_elimination(), sizes, given)
    for name in ("mean", "residual_cov"):
        assert sympy.simplify(pinv[name] - swept[name]) == zeros(1, 1)


def test_fb7_is_general_conditioning_entry_by_entry():
    """R and m of the specification from plain conditioning, with a symbolic M of full rank."""
    for heads, width in ((1, 2), (2, 2), (1, 3)):
        sizes = {conditioning.HEADS: heads, conditioning.WIDTH: width}
        head_map = conditioning.HEAD_MAP
        written = entries(conditioning.residual_cov(), sizes)["residual_cov"]
        t = conditioning.CORRUPTION
        m = Matrix(heads, width, lambda i, j: sympy.Symbol(f"M_{i + 1}_{j + 1}", real=True))
        plain = t**2 * eye(width) - t**2 * m.T * (m * m.T).inv() * m
        assert sympy.simplify(written - plain) == zeros(width, width)
        assert head_map.shape == (conditioning.HEADS, conditioning.WIDTH)


def test_fb7_holds_for_duplicate_heads_and_for_no_information():
    sizes = {conditioning.HEADS: 2, conditioning.WIDTH: 2}
    t = conditioning.CORRUPTION
    duplicate = entries(
        conditioning.residual_cov(),
        sizes,
        {conditioning.HEAD_MAP: [[1, 0], [1, 0]], t: Rational(1, 2)},
    )
    assert duplicate["residual_cov"] == ImmutableDenseMatrix([[0, 0], [0, Rational(1, 4)]])
    blind = entries(conditioning.residual_cov(), sizes, {conditioning.HEAD_MAP: zeros(2, 2)})
    assert blind["residual_cov"] == t**2 * eye(2)


def test_token_mean_reproduces_what_the_row_shows():
    """M m = l + M c whenever that lies in the range of M."""
    rng = np.random.default_rng(SEED)
    sizes = {conditioning.HEADS: 3, conditioning.WIDTH: 2}
    for _ in range(5):
        m = Matrix(3, 2, [int(v) for v in rng.integers(-3, 4, 6)])
        m[2, :] = m[0, :]
        token, query, mu = (Matrix([int(v) for v in rng.integers(-3, 4, 2)]) for _ in range(3))
        shown = m * (token - query)
        values = {
            conditioning.HEAD_MAP: m,
            conditioning.LOG_RATIOS: shown,
            conditioning.QUERY: query,
            conditioning.MU: mu,
        }
        mean = entries(conditioning.token_mean(), sizes, values)["mean"]
        assert m * mean == shown + m * query


def test_steps_of_fb7_are_equal_to_one_another_at_exact_values():
    derivation = conditioning.residual_cov()
    sizes = {conditioning.HEADS: 2, conditioning.WIDTH: 3}
    values = {
        conditioning.HEAD_MAP: [[1, 2, 0], [2, 4, 0]],
        conditioning.CORRUPTION: Rational(1, 3),
    }
    shown = [
        entries(
            type(derivation)(
                name="x.y",
                title="",
                source="",
                inputs=(),
                steps=(),
                result={"value": step.expression},
                equation="",
            ),
            sizes,
            values,
        )["value"]
        for step in derivation.steps[3:]
    ]
    assert shown[0] == shown[1]
