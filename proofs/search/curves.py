"""Untrusted. What a function of a few numbers looks like in floating point: false, rising, turning.

Nothing that is said here is believed; it decides what is worth a proof.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from proofs.language.tree import Term, names_in, postorder
from proofs.search import samples
from proofs.search.workbench import Workbench

Model = dict[str, float]
MODELS = 40
TRIES = 800
STEPS = 8  # on the way from one point to another
SCALES = (0.01, 0.1, 0.5, 1.0, 1.0, 2.0, 5.0, 30.0)
TOLERANCE = 1e-9


def lambertw(x: float) -> float:
    """The principal branch, by Newton's method."""
    if x < -math.exp(-1):
        raise ValueError("below the branch point")
    w = math.log1p(x) if x > -0.3 else -0.5
    for _ in range(60):
        slope = math.exp(w) * (1 + w)
        if abs(slope) < 1e-12:
            break
        step = (w * math.exp(w) - x) / slope
        w -= step
        if abs(step) < 1e-15 * (1 + abs(w)):
            break
    return w


FUNCTIONS = samples.FUNCTIONS | {"erf": math.erf, "lambertw": lambertw}
LEAVES = ("name", "rational", "constant")


def evaluate(nodes: Sequence[Term], model: Model) -> tuple[float, float] | None:
    """The value of the last of some nodes in their order, with the largest number on the way."""
    values: dict[Term, float] = {}
    largest = 1.0
    try:
        for n in nodes:
            if n.op == "name":
                values[n] = model[str(n.data)]
            elif n.op == "rational":
                values[n] = float(Fraction(str(n.data)))
            elif n.op == "constant":
                values[n] = samples.CONSTANTS[str(n.data)]
            else:
                values[n] = FUNCTIONS[n.op](*(values[a] for a in n.args))
            largest = max(largest, abs(values[n]))
    except (ValueError, ZeroDivisionError, OverflowError, KeyError, TypeError):
        return None
    value = values[nodes[-1]]
    return (value, largest) if isinstance(value, float) and math.isfinite(value) else None


class Curve:
    """The difference f of the sides of an inequality f >= 0 at models of what is known."""

    def __init__(self, w: Workbench, f: Term, variables: list[Term]) -> None:
        self.nodes, self.variables = postorder([f]), variables
        self.names = [str(x.data) for x in variables]
        self.models = list(self._models(w))

    def _models(self, w: Workbench) -> Iterator[Model]:
        known = []
        for fact in w.facts.facts:
            op, args = fact.relation.op, fact.relation.args
            if op not in ("gt", "ge", "lt", "le") or not names_in(fact.relation):
                continue
            sides = [postorder([a]) for a in (args if op[0] == "g" else args[::-1])]
            fits = all(n.op in FUNCTIONS or n.op in LEAVES for s in sides for n in s)
            if fits and names_in(fact.relation) <= set(self.names):
                known.append(sides)
        chance = random.Random(len(self.names))
        found = 0
        for k in range(TRIES):
            model = {n: self._number(chance, k) for n in self.names}
            if all(self._holds(sides, model) for sides in known):
                found += 1
                yield model
            if found >= MODELS:
                return

    @staticmethod
    def _number(chance: random.Random, k: int) -> float:
        if k % 4 == 0:
            return float(chance.choice(samples.GRID))
        return chance.choice(SCALES) * chance.uniform(-1.0, 1.0)

    @staticmethod
    def _holds(sides: list[list[Term]], model: Model) -> bool:
        large, small = (evaluate(s, model) for s in sides)
        return large is not None and small is not None and large[0] > small[0]

    def at(self, model: Model, x: Term, value: float) -> tuple[float, float] | None:
        """f where the name x has another value, and how much of it may be rounding."""
        found = evaluate(self.nodes, {**model, str(x.data): value})
        return None if found is None else (found[0], TOLERANCE * found[1])

    @property
    def is_false(self) -> bool:
        """Whether f < 0 somewhere, as far as rounding tells."""
        found = (evaluate(self.nodes, m) for m in self.models)
        return any(f is not None and f[0] < -TOLERANCE * f[1] for f in found)

    def is_zero(self, x: Term, p: Fraction) -> bool:
        """Whether f seems to vanish where x = p."""
        values = [self.at(m, x, float(p)) for m in self.models]
        return bool(values) and all(v is not None and abs(v[0]) <= v[1] for v in values)

    def rises(self, x: Term, a: Term, side: int = 0) -> bool:
        """Whether f rises from a value f(a) >= 0 on the way from a to x, wherever x lies on the
        side of a (1 above, -1 below, 0 either)."""
        nodes = postorder([a])
        seen = False
        for model in self.models:
            start = evaluate(nodes, model)
            if start is None:
                return False
            end = model[str(x.data)]
            if side and (end - start[0]) * side < 0:
                continue
            path = [start[0] + (end - start[0]) * k / STEPS for k in range(STEPS + 1)]
            values = [self.at(model, x, p) for p in path]
            known = [v for v in values if v is not None]
            if len(known) < len(values) or known[0][0] < -known[0][1]:
                return False
            if any(q[0] < p[0] - p[1] - q[1] for p, q in pairwise(known)):
                return False
            seen = True
        return seen

    def fades(self, x: Term) -> bool:
        """Whether f falls to almost nothing as x grows."""
        for model in self.models:
            start = model[str(x.data)]
            values = [self.at(model, x, max(start, 1.0) * k) for k in (1, 2, 4, 8, 16, 64)]
            known = [v for v in values if v is not None]
            if len(known) < len(values) or abs(known[-1][0]) > 1e-3 * (1 + abs(known[0][0])):
                return False
            if any(q[0] > p[0] + p[1] + q[1] for p, q in pairwise(known)):
                return False
        return bool(self.models)

    def least(self, x: Term, points: Sequence[Fraction]) -> list[Fraction]:
        """Points at which f is nowhere negative, those where it nearly vanishes first, and of a
        function of several names these alone."""
        found: list[tuple[bool, int, Fraction]] = []
        for place, p in enumerate(points):
            values = [self.at(m, x, float(p)) for m in self.models]
            known = [v for v in values if v is not None]
            if known and len(known) == len(values) and all(v >= -e for v, e in known):
                found.append((any(v > e for v, e in known), place, p))
        return [p for above, _, p in sorted(found) if not above or len(self.names) == 1]
