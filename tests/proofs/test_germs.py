"""What functions tend to: against known limits, and against 60 digits far out."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from flint import fmpq, fmpq_poly

from proofs.evaluate import Evaluation, Function, Matrix, Model, Truth, evaluate
from proofs.language.parser import parse
from proofs.language.tree import Statement

NONE = Model((), {})


def claim(text: str) -> Statement:
    (statement,) = parse(text).statements
    return statement


def tends_to(function: str) -> object:
    return Evaluation(NONE).tends_to(claim(f"show limit({function}, x, oo) = 0").goal)


# ---------------------------------------------------------------- known limits

KNOWN = {
    "(2*x + 1)/(x + 3)": "2",
    "x^2/(x + 1) - x": "-1",
    "x/(x^2 + 1)": "0",
    "(x - 1)/(1 - x)": "-1",
    "(1 + 1/x)^x": "e",
    "(1 - 3/x)^(2*x)": "exp(-6)",
    "x*(exp(2/x) - 1)": "2",
    "x*(log(x + 1) - log(x))": "1",
    "x - log(1 + exp(x))": "0",
    "log(x)/x^(1/10)": "0",
    "x^20*exp(-x/100)": "0",
    "exp(-sqrt(x))": "0",
    "exp(-x^2)*x": "0",
    "sqrt(4*x + 1)/sqrt(x)": "2",
    "abs(1/x - 2)": "2",
    "max(1/x, -1/x)": "0",
    "min(2, x)": "2",
    "tanh(x) + erf(-x)": "0",
    "sin(1/x) + cos(1/x)": "1",
    "lambertw(x)/log(x)": "1",
    "lambertw(2*x*exp(3*x))/x": "3",
    "x*(lambertw(2*x*exp(3*x))/x - 3)": "log(2/3)",
    "lambertw(x^2*exp(x)) - x - log(x)": "0",
    "lambertw(1/x)*x": "1",
    "exp(lambertw(x))*log(x)/x": "1",
    "sum(1/x^j + j, j, 1, 4)": "10",
    "prod(1 + 1/x^j, j, 1, 4)": "1",
    "1/(1 + exp(exp(x)))": "0",
    "log(log(x))/log(x)": "0",
}


@pytest.mark.parametrize("function", KNOWN)
def test_a_known_limit_is_never_denied(function: str):
    goal = claim(f"show limit({function}, x, oo) = {KNOWN[function]}").goal
    assert evaluate(goal, NONE) is not Truth.FALSE
    for wrong in ("1/1000", "-1/1000"):
        off = claim(f"show limit({function}, x, oo) = {KNOWN[function]} + {wrong}").goal
        assert evaluate(off, NONE) is not Truth.TRUE


BEYOND = frozenset(
    {
        "x*(log(x + 1) - log(x))",
        "log(log(x))/log(x)",
        "lambertw(1/x)*x",
        "exp(lambertw(x))*log(x)/x",
    }
)
REACHED = [f for f in KNOWN if f not in BEYOND]


@pytest.mark.parametrize("function", REACHED)
def test_another_limit_is_denied(function: str):
    for wrong in ("1/1000", "-1/1000"):
        off = claim(f"show limit({function}, x, oo) = {KNOWN[function]} + {wrong}").goal
        assert evaluate(off, NONE) is Truth.FALSE


@pytest.mark.parametrize(
    ("function", "found"),
    [
        ("x", "oo"),
        ("-x^3 + x", "-oo"),
        ("log(x)", "oo"),
        ("-log(log(x))", "-oo"),
        ("x - log(x)", "oo"),
        ("lambertw(x)", "oo"),
        ("exp(exp(x))", "oo"),
        ("x*exp(x) - x^5", "oo"),
        ("exp(x)/x^20", "oo"),
        ("log(-x)", "no value for large x"),
        ("sqrt(3 - x)", "no value for large x"),
        ("(-x)^(1/2)", "no value for large x"),
        ("lambertw(-x)", "no value for large x"),
        ("lambertw(-1/2 + 1/x)", "no value for large x"),
        ("1/(x - x)", "no value for large x"),
        ("0*log(-1)", "no value for large x"),
        ("log(1/x - 1/x)", "no value for large x"),
    ],
)
def test_what_has_no_limit(function: str, found: str):
    assert tends_to(function) == found


@pytest.mark.parametrize(
    "function", ["sin(x)", "cos(x)/sin(x)", "exp(x) - exp(x + 1/x)", "exp(exp(x)) - exp(exp(x))",
                 "log(1/x - exp(-x) - 1/x + exp(-x))"],
)  # fmt: skip
def test_of_what_is_not_reached_nothing_is_said(function: str):
    assert not isinstance(tends_to(function), Matrix | str) or "exp" in function
    goal = claim(f"show limit({function}, x, oo) = 1/7").goal
    assert evaluate(goal, NONE) is not Truth.TRUE


# ---------------------------------------------------------------- far out, to 60 digits

Number = Callable[[mpmath.mpf], mpmath.mpf]
LEAVES: tuple[tuple[str, Number], ...] = (
    ("x", lambda x: x),
    ("1/x", lambda x: 1 / x),
    ("2", lambda x: mpmath.mpf(2)),
    ("3", lambda x: mpmath.mpf(3)),
    ("log(x)", mpmath.log),
    ("exp(-x)", lambda x: mpmath.exp(-x)),
    ("sqrt(x)", mpmath.sqrt),
)
SHAPES: tuple[tuple[str, Callable[..., mpmath.mpf]], ...] = (
    ("({a}) + ({b})", lambda a, b: a + b),
    ("({a}) - ({b})", lambda a, b: a - b),
    ("({a})*({b})", lambda a, b: a * b),
    ("({a})/({b})", lambda a, b: a / b),
    ("sqrt({a})", lambda a, b: mpmath.sqrt(a)),
    ("log(1 + {a})", lambda a, b: mpmath.log(1 + a)),
    ("lambertw({a})", lambda a, b: mpmath.lambertw(a)),
    ("tanh({a})", lambda a, b: mpmath.tanh(a)),
    ("abs({a})", lambda a, b: abs(a)),
    ("({a})^2", lambda a, b: a**2),
    ("exp(-abs({a}))", lambda a, b: mpmath.exp(-abs(a))),
)


def random_function(draw: random.Random, depth: int) -> tuple[str, Number]:
    """A function that is often defined for large x, and of every rate of growth."""
    if depth == 0:
        return draw.choice(LEAVES)
    (a, f), (b, g) = (random_function(draw, depth - 1) for _ in "ab")
    shape, outer = draw.choice(SHAPES)
    return shape.format(a=a, b=b), lambda x: outer(f(x), g(x) if "{b}" in shape else None)


@pytest.mark.parametrize("seed", range(400))
def test_a_limit_is_what_the_function_is_near_far_out(seed: int):
    """A limit that is claimed is approached, an infinite one is outgrown."""
    print("seed", seed)
    draw = random.Random(seed)
    function, at = random_function(draw, draw.randint(1, 3))
    found = tends_to(function)
    values = []
    with mpmath.workdps(80):
        for power in (4, 40, 1000):
            x = mpmath.mpf(10) ** power
            try:
                values.append(mpmath.mpf(at(x)))
            except (TypeError, ValueError, ZeroDivisionError):  # complex, or division by zero
                values.append(None)
            except OverflowError:
                return
        if found == "no value for large x":
            assert values[-1] is None
        elif found in ("oo", "-oo"):
            assert None not in values[1:]
            sign = 1 if found == "oo" else -1
            assert sign * values[2] > sign * values[1] > 0 or sign * values[2] > 10**6
        elif isinstance(found, Matrix):
            assert values[-1] is not None
            limit = mpmath.mpf(str(found.re[0, 0].p)) / int(found.re[0, 0].q) if found.exact else (
                mpmath.mpf(found.re[0, 0].mid().str(60, radius=False))
            )  # fmt: skip
            gaps = [abs(v - limit) for v in values[1:] if v is not None]
            assert gaps[-1] < mpmath.mpf(10) ** -9 or gaps[-1] < 0.7 * gaps[0]
            assert gaps[-1] < 0.35 * (1 + abs(limit))


# ---------------------------------------------------------------- functions of a model


def test_a_model_function_may_have_a_limit():
    statement = claim("let f : function(real)\nshow limit(f(x), x, oo) = 3")
    for coefficients, over, wanted in (
        ((1, 2, 3), 1, Truth.TRUE),
        ((1, 2, 4), 1, Truth.FALSE),
        ((3,), 0, Truth.TRUE),
        ((1, 2, 3), 0, Truth.FALSE),
        ((1, 2, 3), 2, Truth.FALSE),
    ):
        model = Model(statement.declarations, {"f": Function(Fraction(0), coefficients, over)})
        assert evaluate(statement.goal, model) is wanted, str(model)


def test_inequalities_of_rational_functions_are_decided_on_an_interval():
    statement = claim(
        "let f, g : function(real)\nlet a : real\n"
        "assume for all x : real where x > a : f(x) <= g(x)\nshow a = a"
    )
    draw = random.Random(7)
    for _ in range(200):
        tops = [[draw.randint(-3, 3) for _ in range(3)] for _ in "fg"]
        a = draw.randint(-3, 3)
        values = {n: Function(Fraction(0), tuple(t), 1) for n, t in zip("fg", tops, strict=True)}
        found = evaluate(statement.hypotheses[0], Model(statement.declarations, values | {"a": a}))
        gap = fmpq_poly(tops[1]) - fmpq_poly(tops[0])  # the denominators agree and are positive
        grid = [gap(a + fmpq(k, 64)) for k in range(1, 64 * 30)]
        if any(value < 0 for value in grid) or gap[gap.degree()] < 0:
            assert found is Truth.FALSE
        elif all(value > 0 for value in grid):
            assert found is not Truth.FALSE
