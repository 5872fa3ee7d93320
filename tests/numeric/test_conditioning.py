"""Public conditioning against independent oracles: exact fractions, sampling, other orders."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest

from benchmarks.cases.conditioning import gaussian
from benchmarks.cases.exact import exact, independent_rows
from numeric import OffSupportError, condition, condition_on_log_ratios
from numeric.kernels import conditioning as kernels

SEED = 314
FORMS = ["pinv", "elimination"]


def random_covariance(rng: np.random.Generator, n: int, rank: int) -> np.ndarray:
    loadings = rng.integers(-3, 4, (n, rank)).astype(float)
    return loadings @ loadings.T


@pytest.mark.parametrize("form", FORMS)
def test_condition_is_exact_conditioning_at_any_rank_and_order(form: str):
    rng = np.random.default_rng(SEED)
    for rank in range(6):
        n = 5
        cov = random_covariance(rng, n, rank)
        mean = rng.integers(-3, 4, n).astype(float)
        point = mean + cov @ rng.integers(-1, 2, n)
        observed = rng.permutation(n)[:3]
        left = np.setdiff1d(np.arange(n), observed)
        got_mean, got_cov = condition(mean, cov, observed, point[observed], form=form)
        want_mean, want_cov = gaussian(
            {
                "mean_u": mean[left],
                "mean_o": mean[observed],
                "value": point[observed],
                "cov_uu": cov[np.ix_(left, left)],
                "cov_uo": cov[np.ix_(left, observed)],
                "cov_oo": cov[np.ix_(observed, observed)],
            }
        )
        scale = max(1.0, np.abs(cov).max())
        npt.assert_allclose(got_mean, np.array(want_mean, dtype=float), atol=1e-11 * scale)
        npt.assert_allclose(got_cov, np.array(want_cov, dtype=float), atol=1e-12 * scale)


def test_conditional_moments_are_those_of_a_sample():
    """Monte Carlo: regress one coordinate on two others; stated error 5/sqrt(n)."""
    rng = np.random.default_rng(SEED)
    cov = np.array([[2.0, 0.5, 0.3], [0.5, 1.0, -0.2], [0.3, -0.2, 1.5]])
    mean = np.array([1.0, -1.0, 0.5])
    n = 200_000
    sample = rng.multivariate_normal(mean, cov, size=n)
    fit, *_ = np.linalg.lstsq(np.column_stack([sample[:, 1:], np.ones(n)]), sample[:, 0])
    residual = sample[:, 0] - sample[:, 1:] @ fit[:2] - fit[2]
    value = np.array([0.3, 2.0])
    got_mean, got_cov = condition(mean, cov, [1, 2], value)
    error = 5 / np.sqrt(n)
    assert abs(got_mean[0] - (value @ fit[:2] + fit[2])) < error * 3
    assert abs(got_cov[0, 0] - residual.var()) < error * 2


def test_one_after_another_is_all_at_once():
    rng = np.random.default_rng(SEED)
    factor = rng.normal(size=(4, 4))
    cov, mean = factor @ factor.T, rng.normal(size=4)
    at_once = condition(mean, cov, [3, 0], [0.7, -0.2])
    first_mean, first_cov = condition(mean, cov, [3], [0.7])
    then = condition(first_mean, first_cov, [0], [-0.2])
    for left, right in zip(at_once, then, strict=True):
        npt.assert_allclose(left, right, rtol=1e-12, atol=1e-13)


def test_forms_agree_and_stay_psd_on_ill_conditioned_batches():
    rng = np.random.default_rng(SEED)
    basis = np.linalg.qr(rng.normal(size=(200, 6, 6)))[0]
    cov = (basis * 10.0 ** np.linspace(0, -14, 6)) @ np.swapaxes(basis, -1, -2)
    cov = (cov + np.swapaxes(cov, -1, -2)) / 2
    for form, slack in (("elimination", 1e-15), ("pinv", 1e-3)):
        _, residual = condition(np.zeros(6), cov, [0, 1, 2], np.zeros(3), form=form)
        lowest = np.linalg.eigvalsh(residual)[:, 0]
        assert (lowest >= -slack * np.abs(cov).max()).all()
        npt.assert_array_equal(residual, np.swapaxes(residual, -1, -2))


def test_a_rounded_singular_covariance_is_a_normal_case():
    """Loadings of rank 5 in 12 coordinates; the reference projects the loadings exactly."""
    rng = np.random.default_rng(SEED)
    loadings, state, mean = rng.normal(size=(12, 5)), rng.normal(size=5), rng.normal(size=12)
    point = mean + loadings @ state
    seen = np.arange(8)
    assert len(independent_rows(exact(loadings[:8]))) == 5  # so that the state is determined
    for form in FORMS:
        got_mean, got_cov = condition(mean, loadings @ loadings.T, seen, point[:8], form=form)
        npt.assert_allclose(got_mean, point[8:], atol=1e-9)
        npt.assert_allclose(got_cov, 0, atol=1e-9)


def test_nothing_observed_and_everything_observed():
    cov = np.array([[2.0, 1.0], [1.0, 2.0]])
    for form in FORMS:
        mean, left = condition([1.0, 2.0], cov, [], [], form=form)
        npt.assert_array_equal(mean, [1.0, 2.0])
        npt.assert_array_equal(left, cov)
        mean, left = condition([1.0, 2.0], cov, [1, 0], [0.0, 5.0], form=form)
        assert mean.shape == (0,)
        assert left.shape == (0, 0)


@pytest.mark.parametrize("form", FORMS)
def test_a_zero_covariance_leaves_the_mean(form: str):
    mean, cov = condition([1.0, 2.0, 3.0], np.zeros((3, 3)), [0], [1.0], form=form)
    npt.assert_array_equal(mean, [2.0, 3.0])
    npt.assert_array_equal(cov, np.zeros((2, 2)))


@pytest.mark.parametrize("form", FORMS)
def test_a_value_off_the_support_is_refused_with_its_distance(form: str):
    cov = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    condition(np.zeros(3), cov, [0, 1], [1.0, 1.0], form=form)
    with pytest.raises(OffSupportError) as caught:
        condition(np.zeros(3), cov, [0, 1], [1.0, 2.0], form=form)
    assert caught.value.distance == pytest.approx(np.sqrt(0.5), rel=1e-6)
    assert caught.value.argument == "value"


def test_batches_broadcast():
    rng = np.random.default_rng(SEED)
    factor = rng.normal(size=(4, 1, 3, 3))
    cov = factor @ np.swapaxes(factor, -1, -2)
    mean, value = rng.normal(size=(2, 3)), rng.normal(size=1)
    for form in FORMS:
        got_mean, got_cov = condition(mean, cov, [1], value, form=form)
        assert got_mean.shape == (4, 2, 2)
        assert got_cov.shape == (4, 2, 2, 2)
        one = condition(mean[1], cov[3, 0], [1], value, form=form)
        npt.assert_allclose(got_mean[3, 1], one[0], rtol=1e-12)
        npt.assert_allclose(got_cov[3, 1], one[1], rtol=1e-10, atol=1e-14)
    empty = condition(np.zeros((0, 3)), np.eye(3), [0], np.zeros(1))
    assert empty[0].shape == (0, 2)
    assert empty[1].shape == (0, 2, 2)


# ---------------------------------------------------------------- FB-7


def test_token_posterior_is_plain_conditioning():
    rng = np.random.default_rng(SEED)
    for heads, width in ((1, 3), (3, 3), (4, 2)):
        head_map = rng.normal(size=(heads, width))
        mu, c, token = rng.normal(size=(3, width))
        t = 0.3
        law = condition_on_log_ratios(mu, c, head_map @ (token - c), head_map, t)
        cross = t**2 * head_map
        joint = np.block([[t**2 * np.eye(width), cross.T], [cross, cross @ head_map.T]])
        mean, cov = condition(
            np.concatenate([mu, head_map @ (mu - c)]),
            joint,
            np.arange(width, width + heads),
            head_map @ (token - c),
        )
        npt.assert_allclose(law.mean, mean, rtol=1e-8, atol=1e-9)
        npt.assert_allclose(law.cov, cov, rtol=1e-8, atol=1e-9)


def test_duplicate_heads_say_nothing_new():
    head_map = np.array([[1.0, 2.0, 0.0]])
    twice = np.vstack([head_map, head_map])
    once = condition_on_log_ratios(np.zeros(3), np.ones(3), [0.5], head_map, 0.4)
    both = condition_on_log_ratios(np.zeros(3), np.ones(3), [0.5, 0.5], twice, 0.4)
    for left, right in zip(once, both, strict=True):
        npt.assert_allclose(left, right, atol=1e-15)
    with pytest.raises(OffSupportError, match="quantized"):
        condition_on_log_ratios(np.zeros(3), np.ones(3), [0.5, 0.6], twice, 0.4)


def test_full_rank_leaves_no_uncertainty_at_all():
    head_map = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 1.0]])
    token = np.array([0.3, -0.7])
    law = condition_on_log_ratios([5.0, 5.0], [1.0, 0.0], head_map @ (token - [1, 0]), head_map, 1)
    npt.assert_array_equal(law.cov, np.zeros((2, 2)))
    npt.assert_allclose(law.mean, token, atol=1e-13)


def test_residual_covariance_is_a_scaled_projector():
    rng = np.random.default_rng(SEED)
    t = rng.uniform(0.1, 1, 50)
    R = kernels.residual_cov(t, rng.normal(size=(50, 2, 4)))
    npt.assert_allclose(R @ R, t[:, None, None] ** 2 * R, atol=1e-14)
    npt.assert_allclose(np.trace(R, axis1=-2, axis2=-1), 2 * t**2, rtol=1e-13)
    assert (np.linalg.eigvalsh(R) >= -1e-15).all()
