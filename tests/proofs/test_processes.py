"""One function on many items in several processes, some of which die."""

from __future__ import annotations

import os

import pytest

from proofs.processes import mapped


def square(x: int) -> int:
    return x * x


def dies_at_three(x: int) -> int:
    if x == 3:
        os._exit(1)
    return x * x


def raises_at_three(x: int) -> int:
    if x == 3:
        raise ValueError("three")
    return x * x


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_come_in_order(jobs: int):
    assert list(mapped(square, range(7), jobs, lost=lambda x: -x)) == [x * x for x in range(7)]


def test_an_item_on_which_a_process_dies_is_lost_alone():
    assert list(mapped(dies_at_three, range(6), 2, lost=lambda x: -x)) == [0, 1, 4, -3, 16, 25]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_of_the_function_goes_through(jobs: int):
    results = mapped(raises_at_three, range(6), jobs, lost=lambda x: -x)
    with pytest.raises(ValueError, match="three"):
        list(results)


def test_no_items_are_no_results():
    assert list(mapped(square, [], 4, lost=lambda x: -x)) == []
