"""Roots that no library has on whole arrays, against 60 digits."""

from __future__ import annotations

import array_api_strict
import mpmath
import numpy as np
import pytest

from numeric.special_functions import linear_log_root, lower_rise, principal_rise, wright_omega

SEED = 41


def omega(x: float) -> mpmath.mpf:
    """The root of y + log(y) = x, by Newton's method for log(y), which runs up to it at once."""
    with mpmath.workdps(60 + max(0, int(-x / 2))):
        u = mpmath.log(mpmath.log(1 + mpmath.exp(x)))
        for _ in range(200):
            y = mpmath.exp(u)
            step = (y + u - x) / (1 + y)
            u -= step
            if abs(step) < mpmath.mpf(10) ** -45:
                break
        return mpmath.exp(u)


def test_wright_omega_is_right_to_its_last_digits():
    rng = np.random.default_rng(SEED)
    x = np.concatenate(
        [
            rng.uniform(-700, 5, 100),
            rng.uniform(-40, 40, 200),
            10 ** rng.uniform(0, 300, 100),
            rng.choice([-1, 1], 60) * 10 ** rng.uniform(-20, 1, 60),
        ]
    )
    with np.errstate(all="raise", under="ignore"):
        found = wright_omega(np, x)
    worst = max(abs(y / omega(float(at)) - 1) for at, y in zip(x, found, strict=True))
    assert worst < 5e-16


def test_wright_omega_at_the_ends():
    with np.errstate(all="raise", under="ignore"):
        found = wright_omega(np, np.array([-np.inf, -1e308, -800.0, 1.0, 1e308]))
    np.testing.assert_allclose(found, [0, 0, 0, 1, 1e308], rtol=1e-15)
    assert wright_omega(np, np.array([3.0], dtype=np.float32)).dtype == np.float32
    assert wright_omega(np, np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize(
    ("root", "low", "high"),
    [
        (wright_omega, -50, 50),
        (principal_rise, -0.278, 50),
        (lower_rise, -0.278, -1e-3),
    ],
)
def test_large_arrays_and_other_libraries_give_the_same(root, low, high):
    x = np.random.default_rng(SEED).uniform(low, high, (3, 5001))
    whole = root(np, x)
    rows = np.stack([root(np, row) for row in x])
    np.testing.assert_array_equal(whole, rows)
    other = root(array_api_strict, array_api_strict.asarray(x[:, :50]))
    np.testing.assert_allclose(np.asarray(other), whole[:, :50], rtol=1e-15)


def test_large_arrays_broadcast():
    rng = np.random.default_rng(SEED)
    slope, share = rng.uniform(0, 3, (3, 1)), rng.uniform(0, 1, 5001)
    level = share * slope
    whole = linear_log_root(np, slope, level)
    for own, right, x in zip(slope, level, whole, strict=True):
        np.testing.assert_allclose(own * x + np.log1p(x), right, rtol=1e-14)
