"""Untrusted. Points in floating point at which an inequality is false, so that it isn't tried.

Atoms are sampled as if they were free, or, where equations tie them together, as the functions of
names that they are.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from proofs.checker.algebra import Atom, Monomial
from proofs.language.tree import Term, postorder

Polynomial = dict[Monomial, Fraction]
SAMPLES = 400
GRID = (0.0, 1.0, -1.0, 0.5, 2.0, -0.5, -2.0, 3.0, 0.25, -3.0, 1.5, 8.0, 0.0625, -8.0)
FUNCTIONS: dict[str, Callable[..., float]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "neg": lambda x: -x,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": math.pow,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "abs": math.fabs,
    "max": max,
    "min": min,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
}
CONSTANTS = {"pi": math.pi, "e": math.e}


def points(names: list[Atom] | list[str]) -> Iterator[dict]:
    """Values for some names: equal ones, simple ones, any."""
    chance = random.Random(len(names))
    for k in range(SAMPLES):
        if k < len(GRID):
            yield dict.fromkeys(names, GRID[k])
        elif k % 3:
            yield {a: chance.choice(GRID) for a in names}
        else:
            yield {a: chance.uniform(-2.0, 2.0) for a in names}


def images(nodes: dict[Atom, Term]) -> Iterator[dict[Atom, float]]:
    """Values of atoms at values of the names in them, where all have one."""
    table = postorder(nodes.values())
    names = [str(n.data) for n in table if n.op == "name"]
    if not all(n.op in FUNCTIONS or n.op in ("name", "rational", "constant") for n in table):
        return
    if any(n.op in ("max", "min") and len(n.args) != 2 for n in table):
        return
    for point in points(names):
        values: dict[Term, float] = {}
        try:
            for n in table:
                values[n] = _value(n, [values[a] for a in n.args], point)
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        yield {a: values[n] for a, n in nodes.items()}


def _value(node: Term, args: list[float], point: dict[str, float]) -> float:
    if node.op == "name":
        return point[str(node.data)]
    if node.op == "rational":
        return float(Fraction(str(node.data)))
    if node.op == "constant":
        if node.data not in CONSTANTS:
            raise ValueError(f"{node.data} is not real")
        return CONSTANTS[str(node.data)]
    return FUNCTIONS[node.op](*args)


def contradicts(
    target: Polynomial,
    strict: bool,
    given: list[tuple[Polynomial, bool]],
    equal: list[Polynomial],
    samples: Iterable[dict[Atom, float]],
) -> bool:
    """Whether the target is negative (or zero, if it must be positive) where all given hold
    and what is equal to zero nearly is."""
    zeros = [_floats(e) for e in equal]
    sides = [(_floats(g), s) for g, s in given]
    aim = _floats(target)
    for point in samples:
        try:
            if all(abs(_at(e, point)) < 1e-9 for e in zeros) and all(
                _at(g, point) >= (1e-12 if s else 0.0) for g, s in sides
            ):
                size = max([1.0, *(abs(_at([t], point)) for t in aim)])
                if _at(aim, point) < (1e-12 if strict else -1e-9) * size:
                    return True
        except OverflowError:
            continue
    return False


def _floats(value: Polynomial) -> list[tuple[float, Monomial]]:
    return [(float(c), m) for m, c in value.items()]


def _at(value: list[tuple[float, Monomial]], point: dict[Atom, float]) -> float:
    total = 0.0
    for c, m in value:
        for a, n in m:
            c *= point[a] ** n
        total += c
    return total
