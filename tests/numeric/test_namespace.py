"""Promotion, batches and the small array functions under the kernels."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import numpy.testing as npt
import pytest

import numeric
from numeric import linear_algebra, namespace
from tests.exact_namespace import EXACT


def test_promotion():
    f32 = np.ones(2, dtype=np.float32)
    cases = [
        ((f32, 2.0), np.float32),
        ((f32, f32), np.float32),
        ((f32, np.ones(2)), np.float64),
        ((f32, np.ones(2, dtype=int)), np.float64),
        ((1, 2), np.float64),
        ((np.ones(2, dtype=bool), 1.0), np.float64),
        ((np.ones(2, dtype=np.float16), 1), np.float32),
    ]
    for values, expected in cases:
        arrays = namespace.real_arrays(np, *values)
        assert [array.dtype for array in arrays] == [expected] * len(values)


def test_batch_shapes_broadcast_and_fill():
    a, b = np.zeros((4, 1, 3)), np.zeros((2, 5, 5))
    assert namespace.batch_shape((a, 1), (b, 2)) == (4, 2)
    filled = namespace.fill_batch(np, np.arange(3.0), (4, 2), 1)
    assert filled.shape == (4, 2, 3)
    filled[0, 0, 0] = 7  # may be written to
    assert filled[1, 0, 0] == 0
    with pytest.raises(ValueError, match="broadcast"):
        namespace.batch_shape((np.zeros((3, 1)), 1), (np.zeros((2, 1)), 1))


def test_drop_and_insert_are_inverse():
    row = np.arange(5.0)
    for place in range(5):
        dropped = namespace.drop_entry(np, row, place)
        npt.assert_array_equal(dropped, np.delete(row, place))
        npt.assert_array_equal(
            namespace.insert_zero(np, dropped, place), np.where(np.arange(5) == place, 0, row)
        )


def test_sum_of_others_never_subtracts():
    row = np.array([[1.0, 1e-30, 2e-30]])
    npt.assert_allclose(namespace.sum_of_others(np, row), [[3e-30, 1.0, 1.0]], rtol=1e-15)
    npt.assert_allclose(namespace.sum_of_others(np, row[0]), [3e-30, 1.0, 1.0], rtol=1e-15)


def test_value_at_the_largest_weight_and_the_average_over_ties():
    weights = np.array([[0.1, 0.7, 0.2], [0.4, 0.2, 0.4]])
    values = np.array([[5.0, 6.0, 7.0], [1.0, 9.0, 3.0]])
    npt.assert_array_equal(namespace.value_at_largest(np, weights, values), [6.0, 2.0])
    got = namespace.value_at_largest(np, weights, values[0].astype(np.float32))
    assert got.dtype == np.float32
    assert namespace.value_at_largest(EXACT, EXACT.asarray([1, 2]), EXACT.asarray([3, 4])) == 3


def test_stacked_entries_broadcast():
    got = namespace.stack_entries(np, [[np.array([1.0, 2.0]), 0], [1, np.array(3.0)]])
    npt.assert_array_equal(got, [[[1, 0], [1, 3]], [[2, 0], [1, 3]]])
    npt.assert_array_equal(namespace.stack_entries(np, [1, 2]), [1.0, 2.0])


def test_batch_contiguous_changes_only_the_order_in_memory():
    array = np.arange(60.0).reshape(10, 2, 3)
    got = linear_algebra.batch_contiguous(np, array, 2)
    npt.assert_array_equal(got, array)
    assert got.strides[0] == array.itemsize
    assert linear_algebra.batch_contiguous(np, array[0], 2) is not None


@pytest.mark.parametrize("shape", [(2, 4), (4, 2), (3, 3)])
def test_projectors_and_pseudo_inverses_at_every_rank(shape):
    rng = np.random.default_rng(3)
    for rank in range(min(shape) + 1):
        matrix = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
        inverse = linear_algebra.pseudo_inverse(np, matrix)
        kernel = linear_algebra.kernel_projector(np, matrix)
        row = linear_algebra.row_projector(np, matrix)
        npt.assert_allclose(inverse, np.linalg.pinv(matrix, rcond=1e-13), atol=1e-10)
        npt.assert_allclose(matrix @ kernel, 0, atol=1e-13)
        npt.assert_allclose(kernel @ kernel, kernel, atol=1e-14)
        npt.assert_allclose(np.trace(kernel), shape[1] - rank, atol=1e-13)
        npt.assert_allclose(row + kernel, np.eye(shape[1]), atol=1e-15)


def test_symmetric_pseudo_inverse_fulfils_penrose():
    rng = np.random.default_rng(4)
    for rank in range(5):
        factor = rng.normal(size=(7, 4, rank))
        matrix = factor @ np.swapaxes(factor, -1, -2)
        inverse = linear_algebra.symmetric_pseudo_inverse(np, matrix)
        npt.assert_allclose(matrix @ inverse @ matrix, matrix, atol=1e-11)
        npt.assert_allclose(
            inverse @ matrix @ inverse, inverse, atol=1e-9 * np.abs(inverse).max(initial=1)
        )


def test_exact_namespace_takes_the_exact_branches():
    matrix = EXACT.asarray([[1, 2], [2, 4]])
    assert namespace.is_exact(EXACT)
    assert linear_algebra.rank_tolerance(EXACT, matrix, None) == 0
    projector = linear_algebra.kernel_projector(EXACT, matrix)
    npt.assert_array_equal(matrix @ projector, 0)
    assert projector.tolist() == (projector @ projector).tolist()


def test_public_names_are_loaded_lazily_and_all_there():
    for name in numeric.__all__:
        assert getattr(numeric, name).__name__ == name
        assert name in dir(numeric)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = numeric.nothing  # type: ignore[attr-defined]


def test_importing_a_kernel_loads_no_sympy():
    code = (
        "import sys, numeric, numeric.kernels.flow, numeric.conditioning;"
        "print(sorted({'sympy', 'derive', 'proofs', 'mpmath'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
