"""The rule book: each form's sides agree on its domain, and it is chosen where it fits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from derive.emit.kernel import write_kernel
from derive.emit.rules import all_forms
from derive.library import derivations, find, subjects
from proofs.decide import decide
from proofs.evaluate import Truth, evaluate
from proofs.language.parser import parse
from proofs.library import Library
from proofs.verdict import Verdict

FORMS = {form.name: form for form in all_forms()}
CHOSEN = {
    "flow.eigenvalue_appendix_clock": {"wright_omega"},
    "flow.denoising_time_main_clock": {"log_one_plus_ratio"},
    "branches.lower": {"branch_of_output"},
    "depth.euler_error": {"log1p"},
    "depth.log_defect": {"product_less_number"},
    "recovery.excess": {"log_one_plus_ratio", "lambert_excess", "wright_omega"},
    "recovery.deviation_gap": {"root_difference"},
    "transport.factor_main_clock": {"lambert_root"},
    "logratio.row": {"max_shift"},
    "logratio.row_from_log_ratios": {"anchor_zero", "max_shift"},
    "logratio.log_ratios_of_row": {"log_ratio"},
    "logratio.log_det_jacobian": {"log_max_shift"},
    "logratio.softmax_jacobian": {"max_shift", "complement"},
    "logratio.row_jvp": {"max_shift", "mean_deviation"},
    "logratio.log_det_jacobian_gradient": {"max_shift"},
    "conditioning.gaussian_pinv": {"symmetric_pinv"},
    "conditioning.gaussian_elimination": {"elimination"},
    "conditioning.residual_cov": {"kernel_projector"},
    "conditioning.token_mean": {"pinv"},
    "risk.four_terms_finite": {"block_average"},
    "stability.margin": {"log1p"},
    "gaussian_kernel.weights": {"nearest_first", "max_shift"},
    "gaussian_kernel.dot_product_weights": {"max_shift"},
    "gaussian_kernel.score": {"nearest_first", "max_shift", "common_origin"},
    "gaussian_kernel.energy": {"squared_distances", "log_sum_exp"},
    "gaussian_kernel.energy_hessian": {
        "nearest_first",
        "max_shift",
        "common_origin",
        "unit_diagonal",
    },
    "mixture.log_evidence": {"log_sum_exp"},
    "mixture.pair_integrand": {"sech_square"},
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


@pytest.mark.parametrize("name", sorted(FORMS))
def test_every_form_is_a_theorem_and_it_is_proved(name: str):
    form, library = FORMS[name], Library()
    assert form.theorems or form.proof
    for theorem in form.theorems:
        assert library.verdict(library.find(theorem)) is Verdict.PROVED, theorem


def test_every_theorem_on_forms_is_one_of_a_form():
    named = {theorem for form in FORMS.values() for theorem in form.theorems}
    assert {t.name for t in Library() if t.subject == "forms"} <= named


# What a person would write by mistake in place of each form.
NEIGHBOURS = {
    "the shift is left out of the sum": "let n : dimension\nlet x : vector(n)\nlet j : index(n)\n"
    "show exp(x[j])/sum(exp(x[k]), k, 1, n) = exp(x[j] - max(x))/sum(exp(x[k]), k, 1, n)",
    "the logarithm loses its shift": "let n : dimension\nlet x : vector(n)\nlet j : index(n)\n"
    "show log(exp(x[j])/sum(exp(x[k]), k, 1, n)) = x[j] - log(sum(exp(x[k] - max(x)), k, 1, n))",
    "the others without the hypothesis": "let n : dimension\nlet s : vector(n)\nlet j : index(n)\n"
    "show 1 - s[j] = sum((1 - unit(n, j)[k])*s[k], k, 1, n)",
    "a mean of weights that don't sum to one": "let n : dimension\nlet x, s : vector(n)\n"
    "let c : real\nlet j : index(n)\n"
    "show x[j] - sum(s[k]*x[k], k, 1, n) = (x[j] - c) - sum(s[k]*(x[k] - c), k, 1, n)",
    "no one for the anchor": "let n : dimension\nlet l : vector(n + 1)\nassume l[n + 1] = 0\n"
    "show sum(exp(l[j]), j, 1, n) = sum(exp(l[j]), j, 1, n + 1)",
    "log a forgotten": "let a, b : positive\nlet x : real\n"
    "define omega = lambertw(a*exp(x))\nshow omega/b = a/b*exp(x + omega)",
    "half the exponent only": "let a : positive\nlet x : real\n"
    "show exp(x - lambertw(a*exp(x))/2) = sqrt(lambertw(a*exp(x))/a)",
    "the excess without its scale": "let b, s, r : positive\n"
    "define excess = lambertw(b*(s + r)*exp(b*s))/b - s\n"
    "show b*excess + log(1 + excess) = log((s + r)/s)",
    "the roots' difference over itself": "let a, d : positive\n"
    "show sqrt(a + d) - sqrt(a) = d/(sqrt(a + d) - sqrt(a))",
    "the ratio upside down": "let s, r : positive\nshow log((s + r)/s) = log(1 + s/r)",
    "the sign of the ratio": "let a, b : positive\nshow log(a/b) = log(1 + abs(a - b)/min(a, b))",
    "the projector on the rows": "let n, d : dimension\nlet A : matrix(n, d)\n"
    "show eye(d) - pinv(A)*A = pinv(A)*A",
    "singular vectors exchanged": "let n, r : dimension\nlet U, V : matrix(n, r)\n"
    "assume U.T*U = eye(r)\nassume V.T*V = eye(r)\nshow pinv(U*V.T) = U*V.T",
    "an average without its mass": "let n : dimension\nlet w, v : vector(n)\n"
    "assume sum(w[p], p, 1, n) > 0\ndefine average = sum(w[p]*v[p], p, 1, n)\n"
    "show sum(w[p]*(v[p] - average), p, 1, n) = 0",
    "a sweep that forgets the cross": "let n, k : dimension\nlet S : matrix(n, n)\n"
    "let C, G : matrix(n, k)\nlet R : matrix(k, k)\nlet a : vector(n)\nlet b : vector(k)\n"
    "let p : real\nassume p != 0\nassume symmetric(R)\nassume G*(R - b*b.T/p) = C\n"
    "show G*R + (a - G*b)*b.T/p = C",
    "the nearest's distance taken off one exponent only": "let N, d : dimension\n"
    "let q : vector(d)\n"
    "let z : vector(d) for j in 1..N\nlet j, m : index(N)\n"
    "define D = vector(norm2(q - z[k]), k, 1, N)\n"
    "show softmax(-D)[j] = exp(norm2(q - z[m]) - D[j])/sum(exp(-D[k]), k, 1, N)",
    "differences of squares with the other sign": "let x, y, q : real\n"
    "show (x - q)^2 - (y - q)^2 = (x - y)*((x - q) - (y - q))",
    "an average from another origin at any weights": "let N : dimension\nlet s, z : vector(N)\n"
    "let o : real\nshow sum(s[k]*z[k], k, 1, N) = sum(s[k]*(z[k] - o), k, 1, N) + o",
    "log-sum-exp without its shift": "let n : dimension\nlet x : vector(n)\n"
    "show log(sum(exp(x[k]), k, 1, n)) = log(sum(exp(x[k] - max(x)), k, 1, n))",
    "sech with exp(-|x|)": "let x : real\ndefine u = exp(-abs(x))\n"
    "show 1 - tanh(x)^2 = 4*u/(1 + u)^2",
    "a zero pivot without the order": "let k : dimension\nlet R : matrix(k, k)\n"
    "let b : vector(k)\nassume symmetric(R)\nassume det(block([[R, b], [b.T, 0]])) = 0\n"
    "show b = zeros(k, 1)",
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_false_form_is_refuted_with_an_exact_witness(name: str):
    (statement,) = parse(NEIGHBOURS[name]).statements
    decision = decide(statement, seconds=20, seed=1, neighbour=False)
    assert decision.verdict is Verdict.REFUTED, decision
    assert decision.witness is not None
    model = decision.witness.model
    assert all(evaluate(h, model) is Truth.TRUE for h in statement.hypotheses)
    assert evaluate(statement.goal, model) is Truth.FALSE


def close(left, right) -> bool:
    return abs(left - right) <= mpf(10) ** -40 * (1 + abs(right))


def test_wright_omega_form():
    with mpmath.workdps(60):
        for a, b, e in ((mpf(3), mpf(2), mpf(1)), (mpf("0.01"), mpf(7), mpf(-5))):
            left = mpmath.lambertw(a * mpmath.exp(e)).real / b
            omega = mpmath.lambertw(mpmath.exp(e + mpmath.log(a))).real
            assert close(left, omega / b)
            assert close(left, a / b * mpmath.exp(e - omega))


def test_excess_and_root_forms():
    with mpmath.workdps(60):
        for a, e in ((mpf(3), mpf(1)), (mpf("0.01"), mpf(-5)), (mpf(900), mpf(-20))):
            omega = mpmath.lambertw(a * mpmath.exp(e)).real
            assert close(mpmath.exp((e - omega) / 2), mpmath.sqrt(omega / a))
        for b, s, r in ((mpf(40), mpf(2), mpf(1)), (mpf("0.1"), mpf("1e-3"), mpf(5))):
            excess = mpmath.lambertw(b * (s + r) * mpmath.exp(b * s)).real / b - s
            x = mpmath.findroot(lambda x, b=b, s=s, r=r: b * s * x + mpmath.log(1 + x)
                                - mpmath.log((s + r) / s), excess / s + mpf("1e-5"))  # fmt: skip
            assert close(excess, s * x)
        for a, d in ((mpf(2), mpf("1e-20")), (mpf(0), mpf(3))):
            difference = mpmath.sqrt(a + d) - mpmath.sqrt(a)
            assert close(difference, d / (mpmath.sqrt(a + d) + mpmath.sqrt(a)))


def test_branch_forms():
    with mpmath.workdps(60):
        for x, branches in ((mpf("-0.2"), (0, -1)), (mpf("1e-30"), (0,)), (mpf(7), (0,))):
            for branch in branches:
                w = mpmath.lambertw(x * mpmath.exp(-x), branch).real
                rise = 1 + w
                assert close(x + w, x * (1 + mpmath.exp(1 - x - rise)))
                assert close((x + w) / (1 + mpmath.exp(-x - w)), x)


def test_a_product_less_a_number_is_exact_from_its_rounded_product_and_the_rest():
    from numeric.exact_floats import two_product

    for x, y in ((0.1, 10.0), (3.0, 1 / 3), (1e8 + 1, 1e-8)):
        high, rest = two_product(np, x, y)
        exact = Fraction(x) * Fraction(y) - 1
        assert Fraction(float(high)) - 1 + Fraction(float(rest)) == exact


def test_logarithm_forms():
    with mpmath.workdps(60):
        for s, r in ((mpf(2), mpf("1e-30")), (mpf("1e-30"), mpf(5))):
            left = mpmath.log((s + r) / s)
            assert close(left, mpmath.log1p(r / s))
            assert close(left, mpmath.log(r) - mpmath.log(s) + mpmath.log1p(s / r))
        assert close(mpmath.log(1 + mpf("1e-20")), mpmath.log1p(mpf("1e-20")))
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
            mean = sum(a * b for a, b in zip(s, x, strict=True))
            off = [value - x[1] for value in x]
            assert close(x[j] - mean, off[j] - sum(a * b for a, b in zip(s, off, strict=True)))
        assert close(1 + sum(weights[1:]), sum([mpmath.exp(0), *weights[1:]]))


def test_forms_of_points():
    with mpmath.workdps(60):
        q = [mpf("1e8"), mpf(3)]
        points = [[mpf(0), mpf(1)], [mpf(2), mpf("0.5")], [mpf(-1), mpf(4)]]
        far = [sum((a - b) ** 2 for a, b in zip(q, z, strict=True)) for z in points]
        near = points[far.index(min(far))]
        excess = [
            sum((a - b) * ((a - c) + (b - c)) for a, b, c in zip(z, near, q, strict=True))
            for z in points
        ]
        assert all(close(e, d - min(far)) for e, d in zip(excess, far, strict=True))
        weights = [mpf("0.2"), mpf("0.5"), mpf("0.3")]
        for a in range(2):
            average = sum(w * z[a] for w, z in zip(weights, points, strict=True))
            moved = sum(w * (z[a] - points[0][a]) for w, z in zip(weights, points, strict=True))
            assert close(average - q[a], moved - (q[a] - points[0][a]))
        x = [mpf(-3), mpf(800), mpf("0.25")]
        shifted = mpmath.log(sum(mpmath.exp(v - 800) for v in x))
        assert close(mpmath.log(sum(map(mpmath.exp, x))), 800 + shifted)
        for value in (mpf("0.1"), mpf(-30)):
            u = mpmath.exp(-2 * abs(value))
            assert close(1 - mpmath.tanh(value) ** 2, 4 * u / (1 + u) ** 2)


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
    assert (1e8 + 1.0) ** 2 - 1e16 != 2e8 + 1  # far distances agree in their leading digits
    assert 1 - math.tanh(20) ** 2 == 0.0  # the variance of a sign loses every digit
    assert math.log((1 + 1e-20) / 1) == 0.0  # (s + r)/s rounds to 1
    assert 1 - 1 / (1 + math.exp(-40)) == 0.0  # 1 - s_j loses every digit
    assert abs(math.log(0.3000001) - math.log(0.3) - 3.333332777777901e-07) > 1e-17
