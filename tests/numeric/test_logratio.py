"""Public log-ratio algorithms: finite differences, round trips, saturation, an integral."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest
from scipy.integrate import dblquad
from scipy.stats import multivariate_normal

import numeric
from numeric.errors import ShapeError

SEED = 161


def test_softmax_jacobian_is_the_derivative():
    rng = np.random.default_rng(SEED)
    logits, step = rng.normal(size=(7, 5)), 1e-6
    got = numeric.softmax_jacobian(logits)
    for k in range(5):
        move = step * np.eye(5)[k]
        slope = (numeric.softmax_row(logits + move) - numeric.softmax_row(logits - move)) / 2 / step
        npt.assert_allclose(got[..., k], slope, atol=1e-9)


def test_log_ratio_jacobian_is_the_derivative():
    rng = np.random.default_rng(SEED)
    row, step, anchor = numeric.softmax_row(rng.normal(size=5)), 1e-7, 3
    got = numeric.log_ratio_jacobian(row, anchor)
    free = [j for j in range(5) if j != anchor]
    for k, token in enumerate(free):
        move = step * (np.eye(5)[token] - np.eye(5)[anchor])  # the anchor takes the rest
        slope = (
            (
                numeric.log_ratios_of_row(row + move, anchor)
                - numeric.log_ratios_of_row(row - move, anchor)
            )
            / 2
            / step
        )
        npt.assert_allclose(got[:, k], slope, rtol=1e-6)


@pytest.mark.parametrize("P", range(1, 8))
def test_log_determinant_is_that_of_the_jacobian_for_every_anchor(P: int):
    logits = np.random.default_rng(SEED + P).normal(size=P)
    row = numeric.softmax_row(logits)
    for anchor in range(P):
        sign, value = np.linalg.slogdet(numeric.log_ratio_jacobian(row, anchor))
        assert sign == 1
        assert numeric.log_ratio_log_det(logits) == pytest.approx(value, rel=1e-12, abs=1e-13)


def test_jacobian_blocks_are_inverse_to_each_other():
    """d row/d log-ratios on the free coordinates is the softmax Jacobian without the anchor."""
    logits = np.random.default_rng(SEED).normal(size=4)
    down = numeric.log_ratio_jacobian(numeric.softmax_row(logits), 0)
    up = numeric.softmax_jacobian(logits)[1:, 1:]
    npt.assert_allclose(down @ up, np.eye(3), atol=1e-12)


def test_row_and_log_ratios_round_trip_up_to_saturation():
    rng = np.random.default_rng(SEED)
    logits = rng.normal(size=(20, 6)) * 10
    for anchor in (0, 3, 5, -1):
        ratios = numeric.log_ratios(logits, anchor)
        npt.assert_allclose(
            numeric.row_from_log_ratios(ratios, anchor), numeric.softmax_row(logits), rtol=1e-13
        )
        row = numeric.softmax_row(logits)
        npt.assert_allclose(numeric.log_ratios_of_row(row, anchor), ratios, rtol=1e-12, atol=1e-13)


def test_logits_of_eight_hundred_are_nothing_special():
    logits = np.array([800.0, -800.0, 0.0, 799.0])
    with np.errstate(all="raise"):
        row = numeric.softmax_row(logits)
        jacobian = numeric.softmax_jacobian(logits)
        log_det = numeric.log_ratio_log_det(logits)
    npt.assert_allclose(row[[0, 3]], np.array([1, np.exp(-1)]) / (1 + np.exp(-1)), rtol=1e-14)
    assert row[1] == 0
    npt.assert_allclose(jacobian.sum(axis=-1), 0, atol=1e-16)
    expected = -np.log(row[0]) - np.log(row[3]) + 1600 + 800 - 2 * np.log(row[0])
    assert log_det == pytest.approx(expected, rel=1e-14)


def test_a_probability_next_to_one_keeps_its_slope():
    logits = np.array([40.0, 0.0, 0.0])
    got = numeric.softmax_jacobian(logits)[0, 0]
    assert got == pytest.approx(2 * np.exp(-40) / (1 + 2 * np.exp(-40)) ** 2, rel=1e-14)
    row = numeric.softmax_row(logits)
    assert row[0] * (1 - row[0]) == 0  # what the plain formula gives


def test_simplex_density_integrates_to_one():
    """FB-11: the density of a row with Gaussian log-ratios, P = 3, over the simplex."""
    law = multivariate_normal([0.3, -0.2], [[0.6, 0.1], [0.1, 0.5]])

    def density(b: float, a: float) -> float:
        row = np.array([a, b, 1 - a - b])
        if row.min() <= 0:
            return 0.0
        ratios = numeric.log_ratios_of_row(row, 2)
        return float(law.pdf(ratios)) * float(np.exp(numeric.log_ratio_log_det(np.log(row))))

    total, _ = dblquad(
        density, 1e-9, 1 - 2e-9, 1e-9, lambda a: 1 - a - 1e-9, epsabs=1e-4, epsrel=1e-4
    )
    assert total == pytest.approx(1, abs=2e-3)


def test_one_token_and_empty_batches():
    assert numeric.softmax_row([3.0]).tolist() == [1.0]
    assert numeric.log_ratios([3.0], 0).shape == (0,)
    assert numeric.row_from_log_ratios([], 0).tolist() == [1.0]
    assert numeric.log_ratio_jacobian([1.0], 0).shape == (0, 0)
    assert numeric.log_ratio_log_det([3.0]) == 0
    assert numeric.softmax_jacobian(np.zeros((0, 4))).shape == (0, 4, 4)


def test_change_of_a_row_is_its_jacobian_along_the_direction():
    rng = np.random.default_rng(7)
    logits, direction = rng.normal(size=(4, 1, 5)), rng.normal(size=(3, 5))
    got = numeric.softmax_change(logits, direction)
    assert got.shape == (4, 3, 5)
    want = (numeric.softmax_jacobian(logits) @ direction[..., None])[..., 0]
    npt.assert_allclose(got, want, rtol=1e-12, atol=1e-16)
    npt.assert_allclose(got.sum(axis=-1), 0, atol=1e-15)


def test_change_of_a_saturated_row_keeps_its_digits():
    """One logit ahead by 60: every entry moves by multiples of exp(-60)."""
    logits, direction = np.array([60.0, 0.0, 0.0]), np.array([1.0, 3.0, 2.0])
    small = np.exp(-60.0)
    got = numeric.softmax_change(logits, direction)
    npt.assert_allclose(got, small * np.array([-3.0, 2.0, 1.0]), rtol=1e-14)


def test_a_direction_of_another_length_is_refused():
    with pytest.raises(ShapeError, match="3 entries"):
        numeric.softmax_change([1.0, 2.0, 3.0], [1.0, 2.0])


def test_gradient_of_the_log_determinant_against_differences():
    rng = np.random.default_rng(8)
    logits, step = rng.normal(size=6), 1e-5
    got = numeric.log_ratio_log_det_gradient(logits)
    for j in range(6):
        unit = step * (np.arange(6) == j)
        up, down = (
            numeric.log_ratio_log_det(logits + unit),
            numeric.log_ratio_log_det(logits - unit),
        )
        assert abs(got[j] - (up - down) / (2 * step)) < 1e-8


@pytest.mark.parametrize("anchor", [0, 2, 3])
def test_the_two_jacobians_are_inverse_to_each_other(anchor: int):
    rng = np.random.default_rng(12)
    ratios = rng.normal(size=(20, 3))
    row = numeric.row_from_log_ratios(ratios, anchor)
    product = numeric.row_jacobian(ratios, anchor) @ numeric.log_ratio_jacobian(row, anchor)
    npt.assert_allclose(product, np.broadcast_to(np.eye(3), (20, 3, 3)), atol=1e-12)
    determinants = np.linalg.slogdet(numeric.row_jacobian(ratios, anchor))[1]
    npt.assert_allclose(determinants, np.log(row).sum(axis=-1), rtol=1e-12)
