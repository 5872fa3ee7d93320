"""The rule book: each form's sides agree on its domain, and it is chosen where it fits."""

from __future__ import annotations

import math

import mpmath
import pytest
from mpmath import mpf

from derive.emit.kernel import write_kernel
from derive.emit.rules import ELIMINATION, rule_book
from derive.library import derivations, find, subjects

FORMS = {form.name: form for form in (*rule_book(), ELIMINATION)}
CHOSEN = {
    "flow.eigenvalue_appendix_clock": {"wright_omega"},
    "flow.denoising_time_main_clock": {"log_one_plus_ratio"},
    "logratio.row": {"max_shift"},
    "logratio.row_from_log_ratios": {"anchor_zero", "max_shift"},
    "logratio.log_ratios_of_row": {"log_ratio"},
    "logratio.log_det_jacobian": {"log_max_shift"},
    "logratio.softmax_jacobian": {"max_shift", "complement"},
    "conditioning.gaussian_pinv": {"symmetric_pinv"},
    "conditioning.gaussian_elimination": {"elimination"},
    "conditioning.residual_cov": {"kernel_projector"},
    "conditioning.token_mean": {"pinv"},
    "risk.four_terms_finite": {"block_average"},
}


@pytest.mark.parametrize("name", sorted(CHOSEN))
def test_the_form_that_helps_is_the_one_chosen(name: str):
    assert {form.name for form in write_kernel(find(name)).forms} == CHOSEN[name]


def test_every_form_is_used_and_says_where_and_why():
    used = {
        form.name
        for subject in subjects()
        for d in derivations(subject)
        if d.kernel
        for form in write_kernel(d).forms
    }
    assert used == set(FORMS)
    for form in FORMS.values():
        assert "=" in form.equality
        assert form.domain
        assert form.why.endswith(".")


def close(left, right) -> bool:
    return abs(left - right) <= mpf(10) ** -40 * (1 + abs(right))


def test_wright_omega_form():
    with mpmath.workdps(60):
        for a, b, e in ((mpf(3), mpf(2), mpf(1)), (mpf("0.01"), mpf(7), mpf(-5))):
            left = mpmath.lambertw(a * mpmath.exp(e)).real / b
            omega = mpmath.lambertw(mpmath.exp(e + mpmath.log(a))).real
            assert close(left, omega / b)
            assert close(left, a / b * mpmath.exp(e - omega))


def test_logarithm_forms():
    with mpmath.workdps(60):
        for s, r in ((mpf(2), mpf("1e-30")), (mpf("1e-30"), mpf(5))):
            left = mpmath.log((s + r) / s)
            assert close(left, mpmath.log1p(r / s))
            assert close(left, mpmath.log(r) - mpmath.log(s) + mpmath.log1p(s / r))
        for a, b in ((mpf(3), mpf("3.0001")), (mpf("1e-200"), mpf(1))):
            sign = 1 if a > b else -1
            assert close(mpmath.log(a / b), sign * mpmath.log1p(abs(a - b) / min(a, b)))


def test_row_forms():
    with mpmath.workdps(60):
        x = [mpf(v) for v in (-3, 5, "0.25")]
        weights = [mpmath.exp(v) for v in x]
        shifted = [mpmath.exp(v - max(x)) for v in x]
        s = [w / sum(weights) for w in weights]
        for j in range(3):
            assert close(s[j], shifted[j] / sum(shifted))
            assert close(mpmath.log(s[j]), x[j] - max(x) - mpmath.log(sum(shifted)))
            assert close(s[j] * (1 - s[j]), s[j] * sum(s[k] for k in range(3) if k != j))
        assert close(1 + sum(weights[1:]), sum([mpmath.exp(0), *weights[1:]]))


def test_matrix_forms():
    with mpmath.workdps(60):
        a = mpmath.matrix([[1, 2, 0], [2, 4, 0]])  # rank 1
        pinv = a.T / 25
        direction = mpmath.matrix([1, 2, 0]) / mpmath.sqrt(5)
        left, right = mpmath.eye(3) - pinv * a, mpmath.eye(3) - direction * direction.T
        assert mpmath.mnorm(left - right) < mpf(10) ** -50


def test_naive_forms_fail_where_the_rule_book_says_so():
    """Each reason for a form is a fact about floats."""
    assert math.isinf(math.exp(709)) is False
    with pytest.raises(OverflowError):
        math.exp(710)
    assert math.log((1 + 1e-20) / 1) == 0.0  # (s + r)/s rounds to 1
    assert 1 - 1 / (1 + math.exp(-40)) == 0.0  # 1 - s_j loses every digit
    assert abs(math.log(0.3000001) - math.log(0.3) - 3.333332777777901e-07) > 1e-17
