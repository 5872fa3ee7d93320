"""Derivations say what their theorems say; a wrong one is refuted, and never proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sympy import Identity, Inverse, LambertW, Product, Rational, Sum, exp

from derive import conditioning as c
from derive import flow as f
from derive import logratio as lr
from derive import risk as rk
from derive.library import derivations, find, subjects
from derive.notation import Extended, Pinv, Skip
from proofs.bridge import ContractError, contract, derivation_status, status, tie
from proofs.library import Library
from proofs.verdict import Verdict
from tests.proofs.bridge.conftest import Write

NAMED = sorted(
    (theorem.name, name)
    for theorem in Library()
    for name in theorem.derive
)  # fmt: skip


@pytest.mark.parametrize(("theorem", "derivation"), NAMED)
def test_a_derivation_is_proved_to_say_what_its_theorem_says(
    library: Library, theorem: str, derivation: str
):
    found = status(contract(library.find(theorem), derivation))
    assert found.verdict is Verdict.PROVED, str(found)
    assert found.statements > 0


# The statement language has no branch -1 of W; the kernel's theorem says what the branch is for.
UNSAID = {"branches.lower"}


def test_every_emitted_kernel_has_a_theorem(library: Library):
    emitted = {d.name for s in subjects() for d in derivations(s) if d.kernel is not None}
    derived = {n for theorem in library for n in theorem.derive}
    checked = {n for theorem in library for n in theorem.kernel}
    assert emitted - derived == UNSAID, f"no theorem names {sorted(emitted - derived)}"
    assert emitted <= checked, f"no theorem checks the kernel {sorted(emitted - checked)}"


def test_sizes_are_stated(library: Library):
    (found,) = derivation_status(library.find("conditioning.gaussian_conditioning"))
    assert str(found) == "proved at any n, k"
    (found,) = derivation_status(library.find("logratio.jacobian"))
    assert str(found) == "proved at p = 1..5"
    assert found.statements == 1 + 4 + 9 + 16 + 25


# ---------------------------------------------------------------- wrong derivations

GAIN = c.COV_UO * Pinv(c.COV_OO)
ANCHORED = lr.Sum(exp(Extended(lr.RATIOS, lr.ANCHOR, lr.M)), (lr.M, 0, lr.P - 1))
REACHED = rk.project(rk.COARSE_MEAN[rk.POINT, rk.B])
START = f.BETA * f.LAMBDA0

# theorem, derivation, output, and an expression that is not what the theorem says
WRONG: list[tuple[str, str, str, Any]] = [
    ("logratio.determinant", "logratio.det_jacobian", "det",  # the anchor's entry is missing
     Product(1 / lr.ROW[lr.K], (lr.K, 0, lr.P - 2))),
    ("logratio.determinant", "logratio.det_jacobian", "det",
     Product(lr.ROW[lr.K], (lr.K, 0, lr.P - 1))),
    ("logratio.determinant", "logratio.log_det_jacobian", "log_det",  # the sign
     lr.total(lr.log(lr.softmax(lr.N)), lr.N)),
    ("jacobian", "logratio.jacobian", "jacobian",  # the anchor falls as another rises
     lr.KroneckerDelta(lr.J, lr.K) / lr.ROW[Skip(lr.J, lr.ANCHOR)] - 1 / lr.ROW[lr.ANCHOR]),
    ("jacobian", "logratio.jacobian", "jacobian",  # the anchor's entry on the diagonal
     lr.KroneckerDelta(lr.J, lr.K) / lr.ROW[lr.ANCHOR] + 1 / lr.ROW[Skip(lr.J, lr.ANCHOR)]),
    ("logratio.row_from_log_ratios", "logratio.row_from_log_ratios", "row",
     exp(-Extended(lr.RATIOS, lr.ANCHOR, lr.J)) / ANCHORED),
    ("row_round_trip", "logratio.log_ratios_of_row", "log_ratios",
     lr.log(lr.ROW[lr.ANCHOR] / lr.ROW[Skip(lr.J, lr.ANCHOR)])),
    ("softmax_log_ratio", "logratio.log_ratios", "log_ratios",  # the sign
     lr.LOGITS[lr.ANCHOR] - lr.LOGITS[Skip(lr.J, lr.ANCHOR)]),
    ("softmax_log_ratio", "logratio.row", "row",
     exp(lr.LOGITS[lr.J]) / (1 + lr.total(exp(lr.LOGITS[lr.M])))),
    ("gaussian_conditioning", "conditioning.gaussian_pinv", "mean",
     c.MEAN_U - GAIN * (c.VALUE - c.MEAN_O)),
    ("gaussian_conditioning", "conditioning.gaussian_pinv", "residual_cov",
     c.COV_UU + GAIN * c.COV_UO.T),
    ("gaussian_conditioning", "conditioning.gaussian_pinv", "residual_cov",
     c.COV_UU - c.COV_UO * c.COV_OO * c.COV_UO.T),
    ("conditioning.elimination", "conditioning.gaussian_elimination", "mean",
     c.MEAN_U + c.COV_UO * Inverse(c.COV_OO) * c.VALUE),
    ("residual_covariance", "conditioning.residual_cov", "residual_cov",
     c.CORRUPTION * (Identity(c.WIDTH) - Pinv(c.HEAD_MAP) * c.HEAD_MAP)),
    ("residual_covariance", "conditioning.residual_cov", "residual_cov",
     c.CORRUPTION**2 * (Identity(c.WIDTH) - c.HEAD_MAP.T * c.HEAD_MAP)),
    ("residual_covariance", "conditioning.token_mean", "mean",
     c.MU + Pinv(c.HEAD_MAP) * (c.LOG_RATIOS - c.HEAD_MAP * c.MU)),
    ("appendix_clock", "flow.eigenvalue_appendix_clock", "eigenvalue",  # the other clock
     LambertW(START * exp(START - 2 * f.BETA * f.THETA)) / f.BETA),
    ("main_clock", "flow.eigenvalue_main_clock", "eigenvalue",
     LambertW(START * exp(f.BETA * (f.LAMBDA0 - f.TIME))) / f.BETA),
    ("denoising_time", "flow.denoising_time_appendix_clock", "theta",
     f.BETA * f.SIGMA2 / 2 + f.log((f.S + f.SIGMA2) / f.S)),
    ("denoising_time", "flow.denoising_time_main_clock", "time",
     f.SIGMA2 / 2 + f.log((f.S + f.SIGMA2) / f.S) / 2),
    ("terminal", "flow.terminal_eigenvalue", "eigenvalue",
     LambertW(f.BETA * f.S * exp(f.BETA * f.S)) / f.BETA),
    ("four_terms", "risk.four_terms", "noise",
     rk.mean_square(rk.TARGET[rk.POINT, rk.A] - rk.COARSE_MEAN[rk.POINT, rk.A])),
    ("four_terms", "risk.four_terms", "width",
     rk.mean_square(rk.FINE_MEAN[rk.POINT, rk.A] - REACHED)),
    ("four_terms", "risk.four_terms_finite", "information",  # E[U | T] without its weights
     rk.mean_square(rk.average(rk.TARGET, rk.FINE) - Sum(
         rk.KroneckerDelta(rk.COARSE[rk.POINT], rk.COARSE[rk.OTHER]) * rk.TARGET[rk.OTHER, rk.A],
         (rk.OTHER, 0, rk.POINTS - 1)))),
    ("finite_example", "risk.finite_example", "width", Rational(1, 3)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("theorem", "derivation", "output", "value"),
    WRONG,
    ids=[f"{place}-{name}-{output}" for place, (_, name, output, _) in enumerate(WRONG)],
)
def test_a_wrong_derivation_is_refuted(
    library: Library, theorem: str, derivation: str, output: str, value: Any
):
    right = find(derivation)
    wrong = replace(right, result={**right.result, output: value})
    found = status(tie(library.find(theorem), wrong))
    assert found.verdict is Verdict.REFUTED, str(found)
    assert output in found.shortfall
    assert "=" in found.shortfall  # the witness is shown


def test_another_true_form_is_proved_as_well(library: Library):
    """What counts is equality: here the projector is transposed, and symmetric by hypothesis."""
    right = find("risk.four_terms")
    moved = rk.PROJECTOR[rk.B, rk.A] * rk.COARSE_MEAN[rk.POINT, rk.B]
    reached = Sum(moved, (rk.B, 0, rk.WIDTH - 1))
    transposed = rk.mean_square(rk.COARSE_MEAN[rk.POINT, rk.A] - reached)
    other = replace(right, result={"width": transposed})
    assert status(tie(library.find("four_terms"), other)).verdict is Verdict.PROVED


# ---------------------------------------------------------------- headers

PLAIN = """# Twice
#! derive: flow.limits_main_clock
#! where: {}
let lambda0 : nonnegative
show lambda0*1 = lambda0
"""


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("nobody = 1; beta_to_0 = lambda0*1", "'nobody', which is no symbol"),
        ("beta_to_0 : lambda0", "expected `name = term`"),
        ("beta_to_0 = lambda1", "unknown name 'lambda1'"),
        ("beta_to_0 = lambda0/7", "no part of it stands in a goal"),
        ("lambda0 = lambda0", "says nothing of flow.limits_main_clock"),
    ],
)
def test_a_header_that_does_not_fit_is_a_problem_and_no_crash(write: Write, where: str, why: str):
    theorem = write(PLAIN.format(where))
    with pytest.raises(ContractError, match=why):
        contract(theorem, "flow.limits_main_clock")
    (found,) = derivation_status(theorem)
    assert found.verdict is Verdict.ILL_POSED
    assert why.split(" ")[0].strip("'") in str(found)


def test_a_header_that_fits_ties_the_derivation(write: Write):
    theorem = write(PLAIN.format("beta_to_0 = lambda0*1"))
    (found,) = derivation_status(theorem)
    assert found.verdict is Verdict.PROVED


def test_an_unknown_derivation_is_named_with_those_that_exist(write: Write):
    theorem = write("#! derive: flow.nothing\nlet x : real\nshow x = x\n")
    (found,) = derivation_status(theorem)
    assert found.verdict is Verdict.ILL_POSED
    assert "flow.eigenvalue_main_clock" in found.shortfall


def test_an_input_that_the_theorem_does_not_name_is_asked_for(write: Write):
    theorem = write("#! derive: flow.denoising_time_main_clock\nlet x : real\nshow x = x\n")
    (found,) = derivation_status(theorem)
    assert "add `#! where: beta = ...`" in found.shortfall
