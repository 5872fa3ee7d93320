"""Sums and products with their rounding errors, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import array_api_strict
import numpy as np
import pytest

from numeric.exact_floats import two_product, two_sum

SEED = 12


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_leading_part_and_rest_add_up_to_the_exact_result(dtype):
    rng = np.random.default_rng(SEED)
    limit = 100 if dtype == np.float64 else 8
    a, b = (rng.normal(size=(2, 500)) * 10.0 ** rng.uniform(-limit, limit, (2, 500))).astype(dtype)
    for function, exact in ((two_sum, lambda x, y: x + y), (two_product, lambda x, y: x * y)):
        high, rest = function(np, a, b)
        assert high.dtype == rest.dtype == dtype
        for x, y, h, r in zip(a, b, high, rest, strict=True):
            want = exact(Fraction(float(x)), Fraction(float(y)))
            missed = abs(want - Fraction(float(h)) - Fraction(float(r)))
            assert missed <= abs(want) * Fraction(float(np.finfo(dtype).eps)) ** 2


def test_scalars_broadcast_and_huge_factors_do_not_overflow():
    high, rest = two_product(np, np.float64(1e300), np.array([1.0, 1e-300]))
    assert high.shape == rest.shape == (2,)
    with np.errstate(all="raise"):
        two_product(np, np.float64(1.7e308), np.float64(1.0))
        two_sum(np, np.float64(1.7e308), np.float64(-1.0))
    assert np.ndim(two_sum(np, np.float64(1), np.float64(2))[0]) == 0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_other_libraries_give_the_same_parts(dtype):
    rng = np.random.default_rng(SEED)
    a, b = rng.normal(size=(2, 300)).astype(dtype)
    a[0], b[0] = np.finfo(dtype).max / 2, 0.75
    given = array_api_strict.asarray(a), array_api_strict.asarray(b)
    for function in (two_sum, two_product):
        high, rest = map(np.asarray, function(array_api_strict, *given))
        want_high, want_rest = function(np, a, b)
        np.testing.assert_array_equal(high, want_high)
        assert np.all(np.abs(rest - want_rest) <= np.abs(high) * np.finfo(dtype).eps ** 2)
