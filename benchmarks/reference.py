"""References that owe nothing to the derivations: exact fractions, and mpmath at rising digits.

A rational kernel is evaluated in exact fractions of the very floats it is given. Any other is
evaluated with digits that are doubled until two precisions agree, since 50 digits can be wrong too.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

AGREEMENT = mpf(10) ** -30
MOST_DIGITS = 3200

Instance = dict[str, Any]
Outputs = tuple[np.ndarray, ...]


def certain(compute: Callable[[Instance], list[Any]], instance: Instance) -> list[Any]:
    """The outputs, at digits that are doubled from 50 until they no longer change.

    Raises:
        ArithmeticError: no agreement at the most digits.
    """
    digits, before = 50, None
    while digits <= MOST_DIGITS:
        with mpmath.workdps(digits):
            now = compute(instance)
            if before is not None and all(map(_agree, before, now)):
                return now
        digits, before = 2 * digits, now
    raise ArithmeticError(f"no agreement at {MOST_DIGITS} digits")


def _agree(left: Any, right: Any) -> bool:
    if isinstance(left, list):
        return all(map(_agree, left, right))
    return left == right or abs(left - right) <= AGREEMENT * max(abs(left), abs(right))


# ---------------------------------------------------------------- flow


def _flowed(beta: mpf, lambda0: mpf, theta: mpf) -> mpf:
    """Solve log(lambda) + beta*lambda + 2*theta = log(lambda0) + beta*lambda0 by Newton's method.

    In u = log(lambda/lambda0) the left side is convex and increasing, so that the steps from
    u = 0 run down to the root without passing it.
    """
    if lambda0 == 0 or theta == 0:
        return lambda0
    scaled, u = beta * lambda0, mpf(0)
    small = mpf(10) ** (5 - mpmath.mp.dps)
    while True:
        decayed = scaled * mpmath.exp(u)
        step = (u + scaled * mpmath.expm1(u) + 2 * theta) / (1 + decayed)
        u -= step
        if abs(step) <= small * abs(u):
            return lambda0 * mpmath.exp(u)


def _mp(instance: Instance, *names: str) -> list[mpf]:
    return [mpf(float(instance[name])) for name in names]


def eigenvalue_appendix_clock(instance: Instance) -> list[Any]:
    return [_flowed(*_mp(instance, "beta", "lambda0", "theta"))]


def eigenvalue_main_clock(instance: Instance) -> list[Any]:
    beta, lambda0, time = _mp(instance, "beta", "lambda0", "time")
    return [_flowed(beta, lambda0, beta * time)]


def terminal_eigenvalue(instance: Instance) -> list[Any]:
    beta, s, sigma2 = _mp(instance, "beta", "s", "sigma2")
    return [_flowed(beta, s + sigma2, beta * sigma2 / 2)]


def denoising_time_appendix_clock(instance: Instance) -> list[Any]:
    beta, s, sigma2 = _mp(instance, "beta", "s", "sigma2")
    if sigma2 == 0:
        return [mpf(0)]
    if s == 0:
        return [mpmath.inf]
    with mpmath.workdps(mpmath.mp.dps + 700):
        return [beta * sigma2 / 2 + mpmath.log((s + sigma2) / s) / 2]


def denoising_time_main_clock(instance: Instance) -> list[Any]:
    return [denoising_time_appendix_clock(instance)[0] / mpf(float(instance["beta"]))]


# ---------------------------------------------------------------- logratio


def _vector(values: np.ndarray) -> list[mpf]:
    return [mpf(float(value)) for value in values]


def _probabilities(logits: list[mpf]) -> list[mpf]:
    weights = [mpmath.exp(value) for value in logits]
    total = mpmath.fsum(weights)
    return [weight / total for weight in weights]


def row(instance: Instance) -> list[Any]:
    return [_probabilities(_vector(instance["logits"]))]


def log_ratios(instance: Instance) -> list[Any]:
    logits, anchor = _vector(instance["logits"]), instance["anchor"]
    return [[value - logits[anchor] for place, value in enumerate(logits) if place != anchor]]


def log_ratios_of_row(instance: Instance) -> list[Any]:
    values, anchor = _vector(instance["row"]), instance["anchor"]
    return [
        [
            mpmath.log(value / values[anchor])
            for place, value in enumerate(values)
            if place != anchor
        ]
    ]


def row_from_log_ratios(instance: Instance) -> list[Any]:
    ratios, anchor = _vector(instance["log_ratios"]), instance["anchor"]
    own = 1 / (1 + mpmath.fsum(map(mpmath.exp, ratios)))
    others = [own * mpmath.exp(ratio) for ratio in ratios]
    return [[*others[:anchor], own, *others[anchor:]]]


def jacobian(instance: Instance) -> list[Any]:
    values, anchor = _vector(instance["row"]), instance["anchor"]
    others = [value for place, value in enumerate(values) if place != anchor]
    return [
        [
            [1 / values[anchor] + (1 / own if j == k else 0) for k in range(len(others))]
            for j, own in enumerate(others)
        ]
    ]


def log_det_jacobian(instance: Instance) -> list[Any]:
    with mpmath.workdps(mpmath.mp.dps + 800):
        return [-mpmath.fsum(map(mpmath.log, _probabilities(_vector(instance["logits"]))))]


def softmax_jacobian(instance: Instance) -> list[Any]:
    with mpmath.workdps(mpmath.mp.dps + 800):
        s = _probabilities(_vector(instance["logits"]))
        return [[[s[j] * ((j == k) - s[k]) for k in range(len(s))] for j in range(len(s))]]


# ---------------------------------------------------------------- exact linear algebra


def exact(values: Any) -> Any:
    """An array of floats as nested lists of the fractions that they are."""
    return [exact(part) for part in values] if np.ndim(values) else Fraction(float(values))


def independent_rows(matrix: list[list[Fraction]]) -> list[int]:
    """Indices of a largest set of independent rows, the first ones first."""
    kept: list[int] = []
    reduced: list[list[Fraction]] = []
    for place, given in enumerate(matrix):
        line = list(given)
        for pivot in reduced:
            lead = next(i for i, entry in enumerate(pivot) if entry)
            if line[lead]:
                factor = line[lead] / pivot[lead]
                line = [a - factor * b for a, b in zip(line, pivot, strict=True)]
        if any(line):
            kept.append(place)
            reduced.append(line)
    return kept


def solve(matrix: list[list[Fraction]], right: list[list[Fraction]]) -> list[list[Fraction]]:
    """The solution of a regular system, by Gauss and Jordan."""
    size = len(matrix)
    rows = [list(a) + list(b) for a, b in zip(matrix, right, strict=True)]
    for place in range(size):
        swap = next(i for i in range(place, size) if rows[i][place])
        rows[place], rows[swap] = rows[swap], rows[place]
        lead = rows[place][place]
        rows[place] = [entry / lead for entry in rows[place]]
        for other in range(size):
            factor = rows[other][place]
            if other != place and factor:
                rows[other] = [
                    a - factor * b for a, b in zip(rows[other], rows[place], strict=True)
                ]
    return [line[size:] for line in rows]


def _conditioned(
    mean_u: list[Any],
    mean_o: list[Any],
    cov_uu: list[Any],
    cov_uo: list[Any],
    cov_oo: list[Any],
    value: list[Any],
) -> list[Any]:
    """Condition on independent observed coordinates only: the others say nothing new."""
    kept = independent_rows(cov_oo)
    block = [[cov_oo[a][b] for b in kept] for a in kept]
    cross = [[line[b] for b in kept] for line in cov_uo]
    right = [[line[a] for line in cross] + [value[b] - mean_o[b]] for a, b in enumerate(kept)]
    solved = solve(block, right) if kept else []
    mean = [
        m + sum((c * line[-1] for c, line in zip(row_, solved, strict=True)), Fraction(0))
        for m, row_ in zip(mean_u, cross, strict=True)
    ]
    cov = [
        [
            cov_uu[i][j] - sum((cross[i][a] * solved[a][j] for a in range(len(kept))), Fraction(0))
            for j in range(len(mean_u))
        ]
        for i in range(len(mean_u))
    ]
    return [mean, cov]


def gaussian(instance: Instance) -> list[Any]:
    names = ("mean_u", "mean_o", "cov_uu", "cov_uo", "cov_oo", "value")
    return _conditioned(*(exact(instance[name]) for name in names))


def _token(instance: Instance, t: Fraction) -> list[Any]:
    """A token with covariance t^2 I, seen through M: plain Gaussian conditioning."""
    head_map = exact(instance["M"])
    width = len(head_map[0])
    prior = [[t**2 * (i == j) for j in range(width)] for i in range(width)]
    cross = [[t**2 * line[i] for line in head_map] for i in range(width)]
    observed = [
        [t**2 * sum(a * b for a, b in zip(left, right, strict=True)) for right in head_map]
        for left in head_map
    ]
    zero = [Fraction(0)]
    mu, query = (
        exact(instance[name]) if name in instance else zero * width for name in ("mu", "c")
    )
    ratios = exact(instance["log_ratios"]) if "log_ratios" in instance else zero * len(head_map)
    shown = [
        ratio + sum(a * b for a, b in zip(line, query, strict=True))
        for ratio, line in zip(ratios, head_map, strict=True)
    ]
    expected = [
        sum((a * b for a, b in zip(line, mu, strict=True)), Fraction(0)) for line in head_map
    ]
    return _conditioned(mu, expected, prior, cross, observed, shown)


def residual_cov(instance: Instance) -> list[Any]:
    return [_token(instance, Fraction(float(instance["t"])))[1]]


def token_mean(instance: Instance) -> list[Any]:
    return [_token(instance, Fraction(1))[0]]


# ---------------------------------------------------------------- risk


def _terms(instance: Instance, fine: list[Any], coarse: list[Any]) -> list[Any]:
    masses, target = exact(instance["masses"]), exact(instance["target"])
    projector, prediction = exact(instance["projector"]), exact(instance["prediction"])
    reached = [
        [sum(a * b for a, b in zip(line, mean, strict=True)) for line in projector]
        for mean in coarse
    ]

    def mean_square(left: list[Any], right: list[Any]) -> Fraction:
        return sum(
            (
                mass * sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0))
                for mass, x, y in zip(masses, left, right, strict=True)
            ),
            Fraction(0),
        )

    return [
        mean_square(target, fine),
        mean_square(fine, coarse),
        mean_square(coarse, reached),
        mean_square(reached, prediction),
    ]


def four_terms(instance: Instance) -> list[Any]:
    return _terms(instance, exact(instance["m_Z"]), exact(instance["m_T"]))


def four_terms_finite(instance: Instance) -> list[Any]:
    masses, target = exact(instance["masses"]), exact(instance["target"])

    def averages(labels: np.ndarray) -> list[Any]:
        found = []
        for label in labels:
            block = [place for place, other in enumerate(labels) if other == label]
            mass = sum((masses[place] for place in block), Fraction(0))
            found.append(
                [
                    sum((masses[place] * target[place][a] for place in block), Fraction(0))
                    / (mass or 1)
                    for a in range(len(target[0]))
                ]
            )
        return found

    return _terms(instance, averages(instance["labels_Z"]), averages(instance["labels_T"]))


_EXACT = {
    "conditioning.gaussian_pinv": gaussian,
    "conditioning.gaussian_elimination": gaussian,
    "conditioning.residual_cov": residual_cov,
    "conditioning.token_mean": token_mean,
    "risk.four_terms": four_terms,
    "risk.four_terms_finite": four_terms_finite,
}
_RISING = {
    "flow.eigenvalue_appendix_clock": eigenvalue_appendix_clock,
    "flow.eigenvalue_main_clock": eigenvalue_main_clock,
    "flow.denoising_time_appendix_clock": denoising_time_appendix_clock,
    "flow.denoising_time_main_clock": denoising_time_main_clock,
    "flow.terminal_eigenvalue": terminal_eigenvalue,
    "logratio.row": row,
    "logratio.log_ratios": log_ratios,
    "logratio.log_ratios_of_row": log_ratios_of_row,
    "logratio.row_from_log_ratios": row_from_log_ratios,
    "logratio.jacobian": jacobian,
    "logratio.log_det_jacobian": log_det_jacobian,
    "logratio.softmax_jacobian": softmax_jacobian,
}


def reference(name: str, instance: Instance) -> list[Any]:
    """The kernel's outputs on one instance, as nested lists of fractions or of mpmath numbers."""
    if name in _EXACT:
        return _EXACT[name](instance)
    return certain(_RISING[name], instance)
