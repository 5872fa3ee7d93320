"""Every number that the specification states for FB-1 to FB-17, 28 and 29, to the digits it gives.

`python -m tests.numeric.first_block.test_spec_numbers` prints the table.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from numeric.first_block import (
    AttentionBlock,
    ClippedRow,
    CorruptionModel,
    FullState,
    Posterior,
    QuantisedRow,
    QueryRowValues,
    frozen_row_posterior,
    posterior,
    posterior_variance,
    unresolved_contrasts,
)

LOG2 = float(np.log(2))
ONE, E1 = np.array([[1.0]]), np.array([[1.0, 0.0]])
HALVES = np.array([0.5, 0.5])


def scalar_block(n_tokens: int, value: float = 1.0) -> AttentionBlock:
    return AttentionBlock([ONE], [LOG2 * ONE], [value * ONE], n_tokens=n_tokens)


def frozen_example(clean: list[list[float]]) -> tuple[Posterior, Posterior, AttentionBlock]:
    """FB-17: c = 1, z_2 = 2, z_3 = 0; exact and frozen."""
    model = CorruptionModel(np.array(clean)[..., None], HALVES, 0.5)
    block = scalar_block(3)
    seen = QueryRowValues.of(block.run(np.array([[1.0], [2.0], [0.0]])))
    return posterior(model, block, seen), frozen_row_posterior(model, block, seen), block


COUNTER = [[3, 9 / 4, 0], [1, 7 / 4, 2]]
# Contrast (3/8, -1) around (9/4, 1) in the means, and the same target.
REVERSAL = [[2, 2 * (9 / 4 + 3 / 16), 2 * (1 - 1 / 2)], [2, 2 * (9 / 4 - 3 / 16), 2 * (1 + 1 / 2)]]


def odds(law: Posterior) -> float:
    return float(law.log_responsibilities[0] - law.log_responsibilities[1])


def row_of_example(j: int) -> float:
    run = scalar_block(3).run(np.array([[1.0], [2.0], [0.0]]))
    return float(np.exp(run.log_row[0, j])) if j < 3 else float(run.values[0])


@cache
def population() -> tuple[float, float]:
    """FB-17: frozen excess risk and least risk, by Monte Carlo."""
    model = CorruptionModel(np.array(COUNTER)[..., None], HALVES, 0.5)
    block, count = scalar_block(3), 100_000
    draws = model.draw(count, seed=17)
    exact = posterior(model, block, FullState(draws.state))  # rank M = d: nothing is lost
    frozen = frozen_row_posterior(model, block, QueryRowValues.of(block.run(draws.state)))
    excess = ((exact.noise_mean - frozen.noise_mean) ** 2).sum(-1).mean()
    risk = ((draws.noise[:, 0] - exact.noise_mean) ** 2).sum(-1).mean()
    return float(excess), float(risk)


def contrast() -> float:
    clean = np.zeros((2, 3, 2))
    clean[1, 1, 1] = 1.3
    block = AttentionBlock([E1], [E1], [E1], n_tokens=3)
    seen = QueryRowValues.of(block.run(np.array([[1.0, 0.2], [0.3, 0.4], [0.0, 1.0]])))
    return float(unresolved_contrasts(CorruptionModel(clean, HALVES, 0.5), block, seen)[0, 1] ** 2)


def three(full: bool, n: int) -> float:
    clean = np.array([[[-2.0, 0], [0, 2]], [[0, 0], [0, 0]], [[2, 0], [0, 2]]])
    model = CorruptionModel(clean, np.full(3, 1 / 3), 0.5)
    block = AttentionBlock([np.array([[0.0, 1.0]])], [E1], [E1], n_tokens=2)
    state = np.array([[0.0, 0.3], [0.4, 0.9]])
    seen = FullState(state) if full else QueryRowValues.of(block.run(state))
    return float(posterior(model, block, seen).responsibilities[n])


def without_values() -> tuple[float, float]:
    model = CorruptionModel(np.array([[3.0, 2.0], [1.0, 0.0]])[..., None], HALVES, 0.5)
    block = scalar_block(2, value=0.0)
    seen = QueryRowValues.of(block.run(np.array([[1.0], [2.0]])))
    laws = (posterior(model, block, seen), frozen_row_posterior(model, block, seen))
    return tuple(float(law.responsibilities[0]) for law in laws)  # type: ignore[return-value]


CELLS = CorruptionModel(np.array([[2.0, 0.0], [2.0, -4.0]])[..., None], HALVES, 0.5)


def clipped() -> tuple[float, float]:
    seen = ClippedRow(np.ones(1), np.full((1, 1), -np.inf), np.asarray(np.log(0.2 / 0.8)))
    found = posterior(CELLS, scalar_block(2), seen)
    density = norm.pdf(0.0, scale=0.5)  # of the query at its mean
    return float(found.responsibilities[0]), float(np.exp(found.log_evidence) / density)


@cache
def bits(count: int) -> tuple[float, float]:
    """FB-29: loss of a row of so many bits at c = 1, and what the midpoint costs besides."""
    z = np.linspace(-7, 5, 200_001)
    weight = (norm.pdf(z, 0, 0.5) + norm.pdf(z, -2, 0.5)) / 2 * (z[1] - z[0])
    s = expit(LOG2 * (z - 1))
    query = np.ones((len(z), 1))
    state = np.stack([query, z[:, None]], axis=1)
    block = scalar_block(2)
    full = posterior(CELLS, block, FullState(state)).responsibilities[:, 0]
    cell = posterior(CELLS, block, QuantisedRow.of_two_tokens(query, s[:, None], count))
    r = cell.responsibilities[:, 0]
    middle = (np.floor(s * 2**count) + 0.5) / 2**count
    state[:, 1, 0] = 1 + np.log(middle / (1 - middle)) / LOG2
    plug_in = posterior(CELLS, block, FullState(state)).responsibilities[:, 0]
    return float(weight @ (full - r) ** 2), float(weight @ (plug_in - r) ** 2)


def two_bits(by: str) -> float:
    run = scalar_block(2).run(np.array([[1.0], [-2.0]]))
    s = (np.floor(np.exp(run.log_row[0, 1]) * 4) + 0.5) / 4
    if by == "row":
        return float(1 + np.log(s / (1 - s)) / LOG2)
    return float((run.values[0] - (1 - s)) / s)


def rounded(log_ratio: float, kind: type[np.floating]) -> np.ndarray:
    """A row of two tokens in a precision: the one with this log-ratio, and the anchor."""
    return expit(np.array([log_ratio, -log_ratio])).astype(kind)


def row_error(log_ratio: float, kind: type[np.floating]) -> float:
    """FB-12f: what rounding the row does to its log-ratio."""
    other, anchor = rounded(log_ratio, kind).astype(np.float64)
    return abs(float(np.log(other) - np.log(anchor)) - log_ratio)


def recomputed_error(log_ratio: float, kind: type[np.floating]) -> float:
    """FB-12f: the same where the anchor is recomputed as 1 less the others."""
    other = rounded(log_ratio, kind)[0]
    return abs(float(np.log(float(other) / float(kind(1) - other))) - log_ratio)


def first_zero(quantise: Callable[[np.ndarray], np.ndarray]) -> float:
    """Log-ratio from which on the anchor of two tokens rounds to 0, by bisection."""
    low, high = 1.0, 30.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        kept = quantise(expit(np.array([-middle])))[0] > 0
        low, high = (middle, high) if kept else (low, middle)
    return low


def half_precision(s: np.ndarray) -> np.ndarray:
    return s.astype(np.float16)


def eight_bits(s: np.ndarray) -> np.ndarray:
    return np.round(s * 256) / 256


Number = tuple[str, str, str, Callable[[], float]]
NUMBERS: list[Number] = [
    ("FB-12f", "log-ratio at the least normal half", "9.70",
     lambda: -float(np.log(np.finfo(np.float16).smallest_normal))),
    ("FB-12f", "half precision, error at 14", "3.5e-3", lambda: row_error(14.0, np.float16)),
    ("FB-12f", "half precision, error at 17", ".36", lambda: row_error(17.0, np.float16)),
    ("FB-12f", "half precision, underflow from", "17.33", lambda: first_zero(half_precision)),
    ("FB-12f", "8 bits, anchor lost from", "6.236", lambda: first_zero(eight_bits)),
    ("FB-12f", "single, error at 12", "7e-9", lambda: row_error(12.0, np.float32)),
    ("FB-12f", "single, anchor recomputed", "8e-4", lambda: recomputed_error(12.0, np.float32)),
    ("FB-13", "squared contrast of 1.3 at t = 1/2", "1.69", contrast),
    ("FB-15", "psi(0, 1)", ".05101357", lambda: float(posterior_variance(0.0, 1.0))),
    ("FB-15", "psi(0, 1.69)", ".07730388", lambda: float(posterior_variance(0.0, 1.69))),
    ("FB-15", "psi(0, 4)", ".13760012", lambda: float(posterior_variance(0.0, 4.0))),
    ("FB-15", "psi(0, 16)", ".23285065", lambda: float(posterior_variance(0.0, 16.0))),
    *[("FB-16", f"r_{n + 1}(o)", v, lambda n=n: three(False, n))
      for n, v in enumerate((".106507", ".786986", ".106507"))],
    *[("FB-16", f"r_{n + 1}(Z)", v, lambda n=n: three(True, n))
      for n, v in enumerate((".286383", ".427234", ".286383"))],
    *[("FB-17", f"row, token {j + 1}", repr(x), lambda j=j: row_of_example(j))
      for j, x in enumerate((2 / 7, 4 / 7, 1 / 7))],
    ("FB-17", "value", repr(10 / 7), lambda: row_of_example(3)),
    ("FB-17", "exact log-odds", "3.000000000000", lambda: odds(frozen_example(COUNTER)[0])),
    ("FB-17", "exact r_1", ".952574126822",
     lambda: float(frozen_example(COUNTER)[0].responsibilities[0])),
    ("FB-17", "exact noise mean", "-.905148253645",
     lambda: float(frozen_example(COUNTER)[0].noise_mean[0])),
    ("FB-17", "frozen r_1", ".500000000000",
     lambda: float(frozen_example(COUNTER)[1].responsibilities[0])),
    ("FB-17", "frozen noise mean", ".000000000000",
     lambda: float(frozen_example(COUNTER)[1].noise_mean[0])),
    ("FB-17", "sign reversal, exact", "3.625000000000",
     lambda: odds(frozen_example(REVERSAL)[0])),
    ("FB-17", "sign reversal, frozen", f"{-4 / 17:.12f}",
     lambda: odds(frozen_example(REVERSAL)[1])),
    ("FB-17b", "exact r_1", ".997527377", lambda: without_values()[0]),
    ("FB-17b", "frozen r_1", ".500000000", lambda: without_values()[1]),
    ("FB-29", "r_1 on the clip event", ".022750", lambda: clipped()[0]),
    ("FB-29", "its probability", ".5", lambda: clipped()[1]),
    *[("FB-29", f"loss at {b} bits", v, lambda b=b: bits(b)[0]) for b, v in (
        (1, ".230"), (2, ".0380"), (3, ".0289"), (4, ".00372"), (6, "2.7e-4"), (8, "1.7e-5"))],
    *[("FB-29", f"midpoint at {b} bits", v, lambda b=b: bits(b)[1]) for b, v in (
        (1, ".219"), (2, ".0064"), (3, "1.6e-4"))],
    ("FB-29", "2 bits, token by the row", "-1.8074", lambda: two_bits("row")),
    ("FB-29", "2 bits, token by the value", "-1.6667", lambda: two_bits("value")),
]  # fmt: skip


def last_digit(stated: str) -> float:
    """One unit of the last digit."""
    exponent = Decimal(stated).as_tuple().exponent
    return 10.0 ** int(exponent)


@pytest.mark.parametrize(
    ("item", "what", "stated", "compute"), NUMBERS, ids=[f"{n[0]} {n[1]}" for n in NUMBERS]
)
def test_a_number_of_the_specification(
    item: str, what: str, stated: str, compute: Callable[[], float]
):
    digit = max(last_digit(stated), 1e-12)
    assert abs(compute() - float(stated)) <= 0.5000001 * digit, (item, what)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_rounding_a_row_costs_two_units_while_all_entries_are_normal(kind: type[np.floating]):
    """FB-12f: |dl| <= 2 u to first order."""
    ratios = np.random.default_rng(0).uniform(-9.5, 9.5, 20_000)
    unit = float(np.finfo(kind).eps) / 2
    worst = max(row_error(float(x), kind) for x in ratios)
    assert unit < worst <= 2 * unit * (1 + 4 * unit) + 1e-14


def test_population_cost_of_the_frozen_row():
    """FB-17: .143 over .222, from 400,000 draws; here 100,000, with 4 standard errors."""
    excess, risk = population()
    assert abs(excess - 0.143) < 0.0005 + 4 * 0.45 / np.sqrt(1e5)
    assert abs(risk - 0.222) < 0.0005 + 4 * 0.7 / np.sqrt(1e5)


if __name__ == "__main__":
    for item, what, stated, compute in NUMBERS:
        print(f"{item:8}{what:36}{stated:>22}{compute():>24.14g}")
    print("FB-17   excess and least risk by 100,000 draws", *population())
