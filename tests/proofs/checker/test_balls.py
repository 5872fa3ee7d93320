"""Enclosures: true inequalities with the covers that show them, and covers that show nothing.

The enclosures themselves are held against mpmath at 50 digits, on random functions.
"""

from __future__ import annotations

import json
import random
import time
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from flint import arb, fmpq

from proofs.checker import balls
from proofs.checker.judge import MAX_WORK, Rejected, check
from proofs.language.effort import limited
from proofs.language.show import brief
from proofs.language.tree import Term, name, postorder, rational, term
from proofs.tampering import KINDS, tampered
from tests.proofs.checker.building import Proof, hypothesis

UNIT = ("x >= 0", "x <= 1")
X = name("x")


class Claim:
    """A goal about x (and y) where some hypotheses hold, with a cover for it."""

    def __init__(self, goal: str, cover: list[Any], assumed: tuple[str, ...] = UNIT) -> None:
        lines = ["let x, y : real", *(f"assume {a}" for a in assumed), f"show {goal}"]
        self.proof = Proof("\n".join(lines))
        self.assumed, self.cover = assumed, cover

    def step(self, **changes: Any) -> dict[str, Any]:
        names = [name(n) for n in "xy" if any(n in a for a in self.assumed)]
        return {
            "rule": "ball",
            "goal": self.proof.statement.goal,
            "variables": names,
            "by": [i for i, a in enumerate(self.assumed) if "!=" not in a],
            "precision": 53,
            "cover": self.cover,
        } | changes

    def accepts(self, **changes: Any) -> bool:
        places = range(len(self.assumed))
        return self.proof.accepts(*map(hypothesis, places), self.step(**changes))


VALUE, MEAN = ["value"], ["mean"]
HALVES = ["cut", 0, "1/2"]
OPEN = ("x > 0", "x <= 1")
SQUARE = ("x >= 0", "x <= 1", "y >= 0", "y <= 1")
TRUE = {
    "a value": Claim("exp(x) <= 3", [VALUE]),
    "values on halves": Claim("exp(x) <= 7/4 + 2*x", [HALVES, VALUE, VALUE]),
    "a mean value": Claim("x - x^2 >= -1/1000 + x/2", [MEAN], ("x >= 1/8", "x <= 1/4")),
    "a zero at an end": Claim("exp(x) >= 1 + x", [["taylor", "0", 2, 2]]),
    "a zero of odd order": Claim("sin(x) <= x", [["taylor", "0", 3, 3]]),
    "a zero that an open end leaves out": Claim("sin(x) < x", [["taylor", "0", 3, 3]], OPEN),
    "unequal, save at an open end": Claim("sin(x) != x", [["taylor", "0", 3, 3]], OPEN),
    "a double zero inside": Claim("cos(x) <= 1", [["taylor", "0", 2, 2]], ("x >= -1", "x <= 1")),
    "a zero at the upper end": Claim(
        "log(x) <= x - 1", [["taylor", "1", 2, 2]], ("x > 1/2", "x <= 1", "x > 0")
    ),
    "an odd zero at the upper end": Claim(
        "log(x) <= 0", [["taylor", "1", 1, 1]], ("x > 1/2", "1 >= x", "0 < x")
    ),
    "a zero with an irrational slope": Claim(
        "pi*sin(x) >= 2*x", [["taylor", "0", 1, 2]], ("x >= 0", "x <= 1/2")
    ),
    "a zero of erf": Claim("erf(x) >= x", [["taylor", "0", 1, 2]], ("x >= 0", "x <= 1/8")),
    "a zero of W": Claim(
        "lambertw(x) <= x", [["taylor", "0", 2, 3]], ("x >= 0", "x <= 1/8", "x >= -exp(-1)")
    ),
    "an irrational end": Claim("exp(x) <= 24", [VALUE], ("x >= 0", "x <= pi")),
    "a corner": Claim("abs(x - 1/2) <= 1/2 + 1/10^6", [VALUE]),
    "maximum and minimum": Claim("max(x, 1/2) + min(x, 1/2) <= 3/2 + 1/10^6", [VALUE]),
    "a root at zero": Claim("sqrt(x) <= 1 + 1/10^6", [VALUE]),
    "real powers": Claim("2^x <= 2 + 1/10^6", [VALUE]),
    "two variables": Claim("sin(x + y) <= exp(x)*exp(y) + 1", [HALVES, VALUE, VALUE], SQUARE),
    "two variables, by means": Claim(
        "exp(x*y) <= 1 + 2*x*y + 1/5",
        [["cut", 1, "1/4"], MEAN, MEAN],
        ("x >= 0", "x <= 1/4", "y >= 0", "y <= 1/2"),
    ),
    "the smaller of two bounds": Claim("x <= 1/2 + 1/10^6", [VALUE], (*UNIT, "x < 1/2")),
}
FALSE = {
    "a cover of one half": Claim("x <= 1/2", [HALVES, VALUE, MEAN]),
    "a zero that is not left out": Claim("sin(x) < x", [["taylor", "0", 3, 3]]),
    "an open end at another place": Claim(
        "sin(x) < x", [["taylor", "0", 3, 3]], ("x > -1/8", "x <= 1")
    ),
    "a root of what is below zero by rounding alone": Claim(
        "sqrt(x - 1/3) >= 1/2", [VALUE], ("x >= 1/3", "x <= 4/3")
    ),
    "strict up to a closed upper end": Claim(
        "log(x) < x - 1", [["taylor", "1", 2, 2]], ("x > 1/2", "x <= 1", "x > 0")
    ),
    "equal at a closed end": Claim("sin(x) != x", [["taylor", "0", 3, 3]]),
    "a sign that turns at an odd zero": Claim(
        "sin(x) <= x", [["taylor", "0", 3, 3]], ("x >= -1", "x <= 1")
    ),
    "a zero of smaller order": Claim("exp(x) >= 1 + x + x^2", [["taylor", "0", 3, 3]]),
    "no zero at all": Claim("cos(x) >= 2", [["taylor", "0", 1, 1]]),
    "zero to rounding only": Claim("x + pi >= 22/7", [["taylor", "0", 1, 1]]),
    "the wrong sign": Claim("sin(x) >= x", [["taylor", "0", 3, 3]]),
    "a logarithm at its end": Claim("log(x) >= -10^9", [VALUE], OPEN),
    "a quotient across zero": Claim("1/x >= -10^9", [VALUE], ("x >= -1", "x <= 1", "x != 0")),
    "W below its branch point": Claim("lambertw(x) >= -2", [VALUE], ("x >= -1", "x <= 0")),
    "a corner expanded": Claim("abs(x) >= x", [["taylor", "0", 1, 1]], ("x >= -1", "x <= 1")),
    "the mean across a corner": Claim("abs(x) <= 1/2", [MEAN], ("x >= -1", "x <= 1")),
    "a root expanded at zero": Claim("sqrt(x) <= x", [["taylor", "0", 1, 1]]),
    "no bound from above": Claim("exp(x) <= 10^9", [VALUE], ("x >= 0",)),
    "no bound at all": Claim("sin(x) <= 2", [VALUE], ()),
    "a bound by another variable": Claim(
        "x <= 1", [VALUE], ("x >= 0", "x <= y", "y <= 1", "y >= 0")
    ),
    "an equation is no bound": Claim("x <= 2", [VALUE], ("x >= 0", "x = 1")),
    "an equation is no goal": Claim("0*x = 0", [VALUE]),
    "another name": Claim("x*y <= 2", [VALUE]),
    "one part of two variables": Claim("x + y <= 1", [HALVES, VALUE, VALUE], SQUARE),
}


@pytest.mark.parametrize("which", TRUE)
def test_a_right_cover_is_accepted(which: str):
    assert TRUE[which].accepts()


@pytest.mark.parametrize("which", FALSE)
def test_what_a_cover_does_not_show_is_rejected(which: str):
    claim = FALSE[which]
    for row in (None, VALUE, MEAN, ["taylor", "0", 0, 3], ["taylor", "1/2", 1, 2]):
        assert not claim.accepts(**({} if row is None else {"cover": [row]}))


@pytest.mark.parametrize(
    "changes",
    [
        {"cover": []},
        {"cover": [VALUE, VALUE, VALUE]},
        {"cover": [HALVES, VALUE]},
        {"cover": [["cut", 0, "3/2"], VALUE, VALUE]},
        {"cover": [["cut", 0, "1"], VALUE, VALUE]},
        {"cover": [["cut", 1, "1/2"], VALUE, VALUE]},
        {"cover": [["cut", 0, 0.5], VALUE, VALUE]},
        {"cover": [["cut", 0, "2/4"], VALUE, VALUE]},
        {"cover": [["value", 0]]},
        {"cover": ["value"]},
        {"cover": [[]]},
        {"cover": [[["value"]]]},
        {"cover": {"0": VALUE}},
        {"cover": None},
        {"cover": [HALVES, VALUE, ["taylor", "0", 2, 1]]},
        {"cover": [HALVES, VALUE, ["taylor", "0", -1, 3]]},
        {"cover": [HALVES, VALUE, ["taylor", "0", 0, 10**9]]},
        {"cover": [HALVES, VALUE, ["taylor", "nan", 0, 2]]},
        {"precision": 1},
        {"precision": 0},
        {"precision": -53},
        {"precision": 10**6},
        {"precision": "53"},
        {"precision": True},
        {"precision": 3},
        {"variables": []},
        {"variables": [X, X]},
        {"variables": [name("y")]},
        {"by": [0]},
        {"by": [1]},
        {"by": [1, 1]},
        {"by": [0, 7]},
    ],
)  # fmt: skip
def test_a_changed_cover_is_rejected(changes: dict[str, Any]):
    claim = TRUE["values on halves"]
    assert claim.accepts()
    assert not claim.accepts(**changes)


def test_a_term_is_a_variable_however_it_is_made_of_others():
    proof = Proof("let x, y : real\nassume x*y >= 0\nassume x*y <= 1\nshow exp(x*y) <= 1 + 2*(x*y)")
    step = {
        "rule": "ball",
        "goal": proof.statement.goal,
        "variables": [proof("x*y")],
        "by": [0, 1],
        "precision": 53,
        "cover": [HALVES, ["taylor", "0", 1, 2], VALUE],
    }
    assert not proof.accepts(hypothesis(0), hypothesis(1), step)  # exp(1) < 3 < 1 + 2*1/2 + 1
    step["cover"] = [["cut", 0, "1/2"], ["taylor", "0", 1, 2], ["cut", 0, "3/4"], MEAN, MEAN]
    assert proof.accepts(hypothesis(0), hypothesis(1), step)
    assert not proof.accepts(hypothesis(0), hypothesis(1), step | {"variables": [X]})


def test_a_variable_is_a_real_number():
    for kind in ("complex", "matrix(2, 2)"):
        proof = Proof(f"let z : {kind}\nlet x : real\nshow 0*x <= 1")
        step = {"rule": "ball", "goal": proof.statement.goal, "by": [], "precision": 53}
        assert proof.accepts({**step, "variables": [], "cover": [VALUE]}) is False  # x is left
        assert not proof.accepts({**step, "variables": [name("z")], "cover": [VALUE]})


def test_what_is_not_shown_to_be_defined_is_not_shown_by_enclosures():
    """On [0, 1] the root of x - x^2 exists, but nobody said so."""
    claim = Claim("sqrt(x - x^2) <= 2", [VALUE])
    assert not claim.accepts()


def test_an_empty_range_shows_nothing():
    assert not Claim("x >= 5", [VALUE], ("x >= 1", "x <= 0")).accepts()


# ---------------------------------------------------------------- effort

HOSTILE = {
    "a tower": ("exp(exp(exp(exp(x + 10)))) >= 0", [VALUE]),
    "a large sine": ("sin(exp(x + 60)) <= 2", [VALUE]),
    "a large power": ("(x + 2)^1000 >= 0", [["taylor", "0", 0, 12]]),
    "powers of powers": ("(((x + 3)^997)^997)^997 >= 0", [["taylor", "1/3", 12, 12]]),
    "many digits": (f"x + {'7' * 900}/{'3' * 901} >= 0", [["taylor", "0", 12, 12]]),
    "W of W": ("lambertw(lambertw(lambertw(x))) >= -1/2", [["taylor", "0", 12, 12]]),
    "many parts": ("x - x <= 1/10^9", [["cut", 0, f"1/{2**k}"] for k in range(1, 6_000)]),
}


@pytest.mark.parametrize("which", HOSTILE)
@pytest.mark.parametrize("bits", [2, 1000])
def test_a_hostile_cover_takes_no_time(which: str, bits: int):
    goal, cover = HOSTILE[which]
    begun = time.monotonic()
    Claim(goal, cover).accepts(precision=bits)
    assert time.monotonic() - begun < 5


def test_the_work_on_a_cover_is_limited():
    claim = TRUE["values on halves"]
    parts = [["cut", 0, f"1/{2**k}"] for k in range(12, 0, -1)]
    with limited(MAX_WORK) as left:
        table = balls.Function(claim.proof.statement.goal, [X])
        with balls.precision(53):
            table.holds((balls.Side(Fraction(0), Fraction(1)),), "value", [])
    assert left[0] < MAX_WORK - 50
    assert not claim.accepts(cover=parts)


# ---------------------------------------------------------------- tampering


@pytest.mark.parametrize("which", TRUE)
def test_a_changed_certificate_is_rejected_or_shows_what_is_true(which: str):
    print(f"seed {which}")
    draw = random.Random(which)
    claim = TRUE[which]
    statement = claim.proof.statement
    steps = [*map(hypothesis, range(len(claim.assumed))), claim.step()]
    text, top = json.dumps(claim.proof.certificate(*steps)), len(postorder(statement.roots()))
    accepted = 0
    for _ in range(60):
        changed = tampered(text, draw.choice([*KINDS, *["another cover"] * len(KINDS)]), draw, top)
        if changed is None:
            continue
        try:
            check(statement, changed)
            accepted += 1  # of the same statement, which is true
        except Rejected:
            pass
    assert accepted < 40


# ---------------------------------------------------------------- against mpmath

SCALAR = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "sqrt": mpmath.sqrt,
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "abs": abs,
    "lambertw": lambda u: mpmath.lambertw(u).real,
}
LEAST = {"log": 0, "sqrt": 0, "lambertw": -0.36}


def random_function(draw: random.Random, depth: int) -> Term:
    if depth == 0 or draw.random() < 0.15:
        number = rational(Fraction(draw.randint(-5, 5), draw.randint(1, 4)))
        return draw.choice([X, X, number, term("constant", data=draw.choice(["pi", "e"]))])
    op = draw.choice(["add", "sub", "mul", "div", "pow", "root", "max", "min", *SCALAR])
    first = random_function(draw, depth - 1)
    if op == "pow":
        return term("pow", first, rational(draw.randint(-3, 4)))
    if op == "root":
        return term("pow", first, rational(Fraction(2 * draw.randint(-2, 2) + 1, 2)))
    return term(op, first) if op in SCALAR else term(op, first, random_function(draw, depth - 1))


def at(node: Term, x: Any) -> Any:
    """The value at a number of mpmath, far from the ends of each domain.

    Raises:
        ValueError: not so far.
    """
    if node is X:
        return x
    if node.op == "rational":
        q = Fraction(str(node.data))
        return mpmath.mpf(q.numerator) / q.denominator
    if node.op == "constant":
        return +mpmath.pi if node.data == "pi" else +mpmath.e
    args = [at(a, x) for a in node.args]
    if node.op in SCALAR:
        if args[0] <= LEAST.get(node.op, -(10**5)) or args[0] > 10**5:
            raise ValueError
        return SCALAR[node.op](args[0])
    if node.op == "pow":
        q = Fraction(str(node.args[1].data))
        if q.denominator > 1 and args[0] <= 0:
            raise ValueError
        return args[0] ** (int(q) if q.denominator == 1 else args[1])
    if node.op in ("max", "min"):
        return max(args) if node.op == "max" else min(args)
    one, two = args
    if node.op == "div":
        return one / two
    return one * two if node.op == "mul" else one + two if node.op == "add" else one - two


def exactly(x: arb) -> Any:
    mantissa, exponent = x.man_exp()
    return mpmath.mpf(int(mantissa)) * mpmath.mpf(2) ** int(exponent)


@pytest.mark.parametrize("seed", range(8))
def test_enclosures_hold_the_values_and_the_taylor_coefficients(seed: int):
    print(f"seed {seed}")
    held = 0
    with mpmath.workdps(50):
        for place in range(100):
            draw = random.Random(f"{seed}:{place}")
            f = random_function(draw, draw.randint(1, 4))
            low = Fraction(draw.randint(-20, 20), draw.randint(1, 8))
            width = Fraction(1, draw.choice((1, 2, 8, 64, 1024)))
            terms = draw.choice((1, 2, 3, 5))
            with balls.precision(draw.choice((24, 53, 100))):
                whole = balls.number(low).union(balls.number(low + width))
                series = [whole, arb(1), *[arb(0)] * 3][:terms]
                try:
                    found = balls.Table(f, [X]).series({X: series}, terms)
                except balls.NoEnclosure:
                    continue
                held += all(
                    holds(f, low + width * Fraction(k, 4), found) for k in range(5)
                )  # fmt: skip
    assert held > 30


def holds(f: Term, p: Fraction, found: list[arb]) -> bool:
    """Whether there is something to compare with; a value outside fails the test."""
    x = mpmath.mpf(p.numerator) / p.denominator
    try:
        exact = mpmath.taylor(lambda v: at(f, v), x, len(found) - 1) if found[1:] else [at(f, x)]
    except (ValueError, ZeroDivisionError, OverflowError):
        return False
    for k, (ball, value) in enumerate(zip(found, exact, strict=True)):
        slack = mpmath.mpf(10) ** (-12 if k else -40) * (1 + abs(value))
        inside = exactly(ball.lower()) - slack <= mpmath.re(value) <= exactly(ball.upper()) + slack
        assert inside, (brief(f), p, k, ball, value)
    return True


def test_exact_coefficients_are_the_coefficients():
    """Those that are known of a function at a rational point, against enclosures at that point."""
    print("seeds 0..1499")
    known = 0
    for seed in range(1500):
        draw = random.Random(seed)
        f = random_function(draw, draw.randint(1, 4))
        p = draw.choice((Fraction(0), Fraction(0), Fraction(1), Fraction(-1, 2)))
        here = [fmpq(p.numerator, p.denominator), fmpq(1), *[fmpq(0)] * 4]
        with balls.precision(100):
            table = balls.Table(f, [X])
            exact = table.series({X: here}, 6, exact=True)
            try:
                found = table.series({X: [arb(c) for c in here]}, 6)
            except balls.NoEnclosure:  # not smooth there, so that nobody asks
                continue
        for c, ball in zip(exact, found, strict=False):
            assert ball.contains(arb(c)) or ball.overlaps(arb(c)), (brief(f), p)
            assert abs(ball - arb(c)) < 1e-9, (brief(f), p)
        known += len(exact) > 1
    assert known > 300
