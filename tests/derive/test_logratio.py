"""Log-ratios: explicit Jacobians for P = 2..6, and the determinant over all P entries."""

from __future__ import annotations

import pytest
import sympy
from sympy import Matrix, Rational, Symbol, diff, exp, log, simplify

from derive import logratio
from derive.entries import entries
from derive.library import find


def row_symbols(P: int) -> list[Symbol]:
    return [Symbol(f"row_{j + 1}", positive=True) for j in range(P)]


@pytest.mark.parametrize("P", range(2, 7))
def test_jacobian_entries_are_the_derivatives(P: int):
    anchor = P // 2
    free = [s for j, s in enumerate(row_symbols(P)) if j != anchor]
    own = 1 - sum(free)
    expected = Matrix(P - 1, P - 1, lambda j, k: diff(log(free[j]) - log(own), free[k]))
    written = entries(logratio.jacobian(), {logratio.P: P, logratio.ANCHOR: anchor})["jacobian"]
    inserted = written.subs(row_symbols(P)[anchor], own)
    assert simplify(inserted - expected) == sympy.zeros(P - 1, P - 1)


@pytest.mark.parametrize("P", range(2, 7))
@pytest.mark.parametrize("anchor", [0, 1])
def test_determinant_is_the_product_over_all_entries(P: int, anchor: int):
    sizes = {logratio.P: P, logratio.ANCHOR: anchor}
    jacobian = entries(logratio.jacobian(), sizes)["jacobian"]
    product = entries(logratio.det_jacobian(), sizes)["det"]
    symbols = row_symbols(P)
    own = 1 - sum(s for j, s in enumerate(symbols) if j != anchor)
    difference = sympy.together((jacobian.det() - product).subs(symbols[anchor], own))
    assert sympy.expand(sympy.numer(difference)) == 0


def test_product_without_the_anchor_is_another_number():
    """The false neighbour: leaving the anchor out of the product."""
    values = {logratio.ROW: [Rational(1, 2), Rational(1, 3), Rational(1, 6)]}
    sizes = {logratio.P: 3, logratio.ANCHOR: 0}
    jacobian = entries(logratio.jacobian(), sizes, values)["jacobian"]
    assert jacobian.det() == entries(logratio.det_jacobian(), sizes, values)["det"] == 36
    assert jacobian.det() != 18


@pytest.mark.parametrize("P", range(2, 5))
def test_softmax_jacobian_entries_are_the_derivatives(P: int):
    x = [Symbol(f"logits_{j + 1}", real=True) for j in range(P)]
    s = [exp(v) / sum(map(exp, x)) for v in x]
    expected = Matrix(P, P, lambda j, k: diff(s[j], x[k]))
    written = entries(logratio.softmax_jacobian(), {logratio.P: P})["jacobian"]
    assert simplify(written - expected) == sympy.zeros(P, P)


def test_row_and_log_ratios_are_inverse_to_each_other():
    sizes = {logratio.P: 3, logratio.ANCHOR: 1}
    ratios = [log(Rational(2)), log(Rational(1, 5))]
    row = entries(logratio.row_from_log_ratios(), sizes, {logratio.RATIOS: ratios})["row"]
    assert [simplify(v) for v in row] == [Rational(10, 16), Rational(5, 16), Rational(1, 16)]
    back = entries(logratio.log_ratios_of_row(), sizes, {logratio.ROW: [simplify(v) for v in row]})[
        "log_ratios"
    ]
    assert [
        simplify(sympy.expand_log(a - b, force=True)) for a, b in zip(back, ratios, strict=True)
    ] == [0, 0]


def test_log_ratios_of_logits_do_not_see_a_common_shift():
    sizes = {logratio.P: 3, logratio.ANCHOR: 2}
    plain = entries(logratio.log_ratios(), sizes, {logratio.LOGITS: [1, 5, -2]})["log_ratios"]
    shifted = entries(logratio.log_ratios(), sizes, {logratio.LOGITS: [8, 12, 5]})["log_ratios"]
    assert list(plain) == list(shifted) == [3, 7]


def test_one_token_alone_has_an_empty_jacobian_and_determinant_one():
    sizes = {logratio.P: 1, logratio.ANCHOR: 0}
    assert entries(logratio.log_ratios(), sizes)["log_ratios"].shape == (0, 1)
    assert entries(find("logratio.det_jacobian"), sizes, {logratio.ROW: [1]})["det"] == 1
