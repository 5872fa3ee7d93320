"""Comparison of sizes, against their values at many dimensions."""

import itertools

import pytest

from proofs.language.sizes import Size

N, K, M = (Size.dimension(x) for x in "nkm")
ONE, TWO = Size.literal(1), Size.literal(2)

AT_LEAST = [
    (N, ONE),
    (N * K, N),
    (N * K, K),
    (N * K + ONE, N + K),
    (N * N + ONE, N + N),
    (N * K * M, N * M),
    (N + N * K, N + N),
    (N * N * K, N * K),
    (N, N),
]

NOT_AT_LEAST = [
    (N, TWO),
    (N, K),
    (N * K, N + K),
    (N * K, N + ONE),
    (N * N, N + N),
    (N + K, N * K),
    (N * M, N * K),
]


@pytest.mark.parametrize(("large", "small"), AT_LEAST, ids=str)
def test_a_size_that_is_always_at_least_another_is_seen_to_be(large, small):
    assert large.at_least(small)


@pytest.mark.parametrize(("one", "two"), NOT_AT_LEAST, ids=str)
def test_a_size_that_is_sometimes_less_is_never_at_least(one, two):
    assert not one.at_least(two)


def test_what_is_said_to_be_at_least_is_so_everywhere():
    parts = [ONE, N, K, N * K, N * N, N * N * K]
    sums = [a + b for a, b in itertools.combinations_with_replacement(parts, 2)]
    values = list(itertools.product(range(1, 5), repeat=2))
    said = 0
    for large, small in itertools.product(sums, sums):
        if large.at_least(small):
            said += 1
            assert all(
                large.evaluate({"n": n, "k": k}) >= small.evaluate({"n": n, "k": k})
                for n, k in values
            )
    assert said > len(sums)


def test_monomials_of_high_degree_are_not_multiplied_out():
    high = ONE
    for i in range(30):
        high = high * Size.dimension(f"n{i}")
    assert (high + N).at_least(N + ONE)
    assert not high.at_least(TWO)
    assert not N.at_least(high)
