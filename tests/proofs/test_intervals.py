"""Polynomial inequalities on an interval, and quantified relations that they decide."""

from __future__ import annotations

import random

import pytest
from flint import fmpq, fmpq_poly

from proofs.evaluate import Function, Model, Truth, evaluate
from proofs.evaluate.intervals import Interval, nonnegative_on
from proofs.language.parser import parse

FINE = [fmpq(k, 32) for k in range(-6 * 32, 6 * 32 + 1)] + [fmpq(-100), fmpq(100)]


def contains(interval: Interval, x: fmpq) -> bool:
    low, high = interval.low, interval.high
    above = low is None or x > low or (x == low and not interval.open_low)
    return above and (high is None or x < high or (x == high and not interval.open_high))


def random_polynomial(draw: random.Random) -> fmpq_poly:
    """With rational roots of some multiplicities, all of them on the fine grid, and others."""
    p = fmpq_poly([draw.choice((-2, -1, 1, 2))])
    for _ in range(draw.randint(0, 3)):
        root = fmpq(draw.randint(-4, 4), draw.choice((1, 2)))
        p *= fmpq_poly([-root, 1]) ** draw.randint(1, 3)
    if draw.random() < 0.4:
        p *= fmpq_poly([1, draw.randint(-1, 1), 1])
    return p


def test_the_sign_on_an_interval_is_that_at_all_points_of_a_grid_with_the_roots():
    print("seeds 0..999")
    for seed in range(1000):
        draw = random.Random(seed)
        p = random_polynomial(draw)
        low = None if draw.random() < 0.2 else fmpq(draw.randint(-4, 3))
        high = None if draw.random() < 0.2 else fmpq(draw.randint(-3, 4))
        ends = (low is None or draw.random() < 0.5, high is None or draw.random() < 0.5)
        interval = Interval(low, high, *ends)
        if interval.is_empty:
            continue
        values = [p(x) for x in FINE if contains(interval, x)]
        assert nonnegative_on(p, interval, False) is all(v >= 0 for v in values), (seed, p)
        assert nonnegative_on(p, interval, True) is all(v > 0 for v in values), (seed, p)


@pytest.mark.parametrize(
    ("relation", "truth"),
    [
        ("for all t : real where t >= a, t <= b : t*(3 - t) >= 0", Truth.TRUE),
        ("for all t : real where t >= a, t <= b : t*(3 - t) > 0", Truth.FALSE),
        ("for all t : real where t > a, t < b : t*(3 - t) > 0", Truth.TRUE),
        ("for all t : real where t >= a : t*(3 - t) >= 0", Truth.FALSE),
        ("for all t : real where t >= b, t < a : t < t", Truth.TRUE),
        ("for all t : real where 1 < 0 : t < t", Truth.TRUE),
        ("for all t : real where t >= a, t <= b : diff(f(t), t) >= 0", Truth.FALSE),
        ("for all t : real where 2*t >= 3, b >= t : diff(f(t), t) <= 0", Truth.TRUE),
        ("for all t : real where t^2 >= 0 : t^4 >= 0", Truth.UNKNOWN),
        ("for all t : real : t^4 >= 0", Truth.TRUE),
        ("for all t : real : (t - 1000)^4 > 0", Truth.FALSE),
        ("for all t : real : exp(t) > 0", Truth.UNKNOWN),
    ],
)
def test_a_quantified_inequality_is_decided_on_an_interval(relation: str, truth: Truth):
    """With a = 0, b = 3 and f(t) = 3*t - t^2."""
    text = f"let f : function(real)\nlet a, b : real\nassume {relation}\nshow a = a\n"
    (statement,) = parse(text).statements
    f = Function(0, (0, 3, -1))  # type: ignore[arg-type]
    model = Model(statement.declarations, {"f": f, "a": 0, "b": 3})
    assert evaluate(statement.hypotheses[0], model) is truth
