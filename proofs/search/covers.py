"""Untrusted. Inequalities by balls: a box cut into parts until an enclosure decides on each.

The variables are names that known inequalities keep between numbers; there may be none, one or two.
Where the difference of the sides vanishes at a simple rational point, a Taylor expansion around it
decides near by; what is left is bisected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq

from proofs.checker import balls
from proofs.checker.algebra import TooLarge
from proofs.checker.balls import Function, NoEnclosure, Part
from proofs.language.effort import limited
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, name, names_in, postorder, rational, term
from proofs.search.workbench import ARITHMETIC, Workbench

PRECISIONS = (64, 256, 1000)
MAX_PARTS = (1, 200, 600)  # by the number of variables
QUICK = (1, 40, 40)
WORK = 2_000_000  # elementary operations for one cover, so that others are tried after it
MAX_ZEROS = 4  # the order of a zero that is looked for
POINTS = tuple(map(Fraction, ("0", "1", "-1", "1/2", "2", "-1/2", "-2")))
NARROW = Fraction(1, 2**20)  # of a box, below which nothing will be decided
NUMBERS = frozenset({"name", "rational", "constant", "neg", "add", "sub", "mul", "div", "pow"})
FUNCTIONS = frozenset({"exp", "log", "sqrt", "tanh", "erf", "lambertw", "sin", "cos"})
CORNERS = frozenset({"abs", "max", "min"})


def at_once(w: Workbench, relation: Term) -> int | None:
    """An inequality with a function in it that no algebra looks into, by few parts."""
    if not any(n.op in FUNCTIONS or n.op == "constant" for n in postorder([relation])):
        return None
    return by_balls(w, relation, QUICK)


def by_balls(w: Workbench, relation: Term, parts: tuple[int, ...] = MAX_PARTS) -> int | None:
    """An inequality, or that a number isn't zero, by enclosures on the parts of a box."""
    names = variables(w, relation)
    if names is None or len(names) > 2:
        return None
    bounds = [end for x in names for end in ends(w, x)]
    key = ("balls", relation, parts, tuple(bounds))
    if key in w.failed or any(b is None for b in bounds):
        return None
    w.failed.add(key)
    places = [stated(w, b) for b in bounds if b is not None]
    if any(p is None for p in places):
        return None
    relations = [w.facts.facts[p].relation for p in places if p is not None]
    try:
        with limited(WORK):
            found = Cover(w, relation, names, relations, parts[len(names)]).find()
    except (NoEnclosure, TooLarge):
        return None
    if found is None:
        return None
    bits, rows = found
    step = {"rule": "ball", "goal": w.place(relation), "precision": bits, "cover": rows}
    return w.take(step | {"variables": [w.place(x) for x in names], "by": places})


def variables(w: Workbench, relation: Term) -> list[Term] | None:
    """The names in an inequality between real functions of nothing else."""
    if any(n.op not in NUMBERS | FUNCTIONS | CORNERS for n in postorder(relation.args)):
        return None
    names = [name(n) for n in sorted(names_in(relation))]
    kinds = [infer(x, w.facts.scope) for x in (*names, *relation.args)]
    return names if all(k.is_scalar and not k.is_complex for k in kinds) else None


# ---------------------------------------------------------------- where a variable lies


@dataclass(frozen=True, slots=True)
class End:
    """What bounds a name on one side: a relation that is a fact, or a multiple of one."""

    at: Fraction
    relation: Term
    place: int
    factor: Fraction


def ends(w: Workbench, x: Term) -> tuple[End | None, End | None]:
    """The best known bounds of a name by constants, from below and from above."""
    found: tuple[list[End], list[End]] = ([], [])
    ((variable, _),) = w.facts.lowering.lower(x).terms.items()
    for place, fact in enumerate(w.facts.facts):
        bound = _read(w, x, variable, fact.relation)
        if bound is not None:
            is_high, at, relation, factor = bound
            found[is_high].append(End(at, relation, place, factor))
    low = max(found[0], key=lambda e: (e.at, e.relation.op == "gt"), default=None)
    high = min(found[1], key=lambda e: (e.at, e.relation.op == "le"), default=None)
    return low, high


def _read(
    w: Workbench, x: Term, variable: Any, relation: Term
) -> tuple[bool, Fraction, Term, Fraction] | None:
    """Whether a fact bounds a name from above, where, by which relation, and what multiple."""
    if relation.op not in ("gt", "ge", "lt", "le"):
        return None
    small, large = relation.args if relation.op[0] == "l" else relation.args[::-1]
    try:
        value = w.facts.difference(relation)
        if relation.op[0] == "l":
            value = -value
        slope, rest = value.terms.get(variable), value.terms.keys() - {variable, ((), ())}
        if slope and value.is_scalar and not rest:  # slope*x + constant >= 0
            at = -value.terms.get(((), ()), Fraction(0)) / slope
            strict = relation.op in ("gt", "lt")
            op = ("gt" if strict else "ge") if slope > 0 else ("lt" if strict else "le")
            return slope < 0, at, term(op, x, rational(at)), 1 / abs(slope)
        if x in (small, large):
            with balls.precision(PRECISIONS[0]):
                at, _ = balls.end(small if large is x else large, large is x)
            return small is x, at, relation, Fraction(1)
    except (TooLarge, StatementError, NoEnclosure):
        pass
    return None


def stated(w: Workbench, bound: End) -> int | None:
    """The place of a bound as a fact of its own."""
    known = w.find(bound.relation)
    if known is not None and known != ARITHMETIC:
        fact = w.facts.facts[known].relation
        if bound.relation.args[0] in fact.args and fact.op == bound.relation.op:
            return known
    if w.facts.facts[bound.place].relation is bound.relation:
        return bound.place
    return w.positive(bound.relation, [[str(bound.factor), [bound.place], None]])


# ---------------------------------------------------------------- the search for a cover


class Cover:
    """One inequality on a box, to be covered by parts on each of which an enclosure shows it."""

    def __init__(
        self, w: Workbench, goal: Term, names: list[Term], bounds: list[Term], parts: int
    ) -> None:
        self.w, self.goal, self.names, self.bounds, self.parts = w, goal, names, bounds, parts
        self.f = Function(goal, names)

    def find(self) -> tuple[int, list[Any]] | None:
        """A precision and the rows of a cover."""
        for bits in PRECISIONS if not self.names else PRECISIONS[:1]:
            with balls.precision(bits):
                rows = self._rows(balls.box(self.names, self.bounds))
            if rows is not None:
                return bits, rows
        return None

    def _rows(self, whole: Part) -> list[Any] | None:
        rows: list[Any] = []
        stack = [whole]
        while stack:
            self.w.tick()
            part = stack.pop()
            if len(rows) > 2 * self.parts or self._is_false(part):
                return None
            row = self._row(part)
            if row is None:
                row = self._cut(part, whole)
                if row is None:
                    return None
                i, at = row[1], Fraction(row[2])
                stack += [(*part[:i], side, *part[i + 1 :]) for side in part[i].cut(at)[::-1]]
            rows.append(row)
        return rows

    def _holds(self, part: Part, kind: str, *rest: Any) -> bool:
        try:
            return self.f.holds(part, kind, list(rest))
        except NoEnclosure:
            return False

    def _is_false(self, part: Part) -> bool:
        """Whether the inequality fails at the midpoint for sure."""
        middle = [balls.number((side.low + side.high) / 2) for side in part]
        try:
            (value,) = self.f.series(middle, 1)
        except NoEnclosure:
            return False
        return bool(value < 0) and self.f.op != "ne"

    def _row(self, part: Part) -> list[Any] | None:
        """What shows the inequality on a part."""
        for kind in ("value", "mean"):
            if self._holds(part, kind):
                return [kind]
        if len(part) != 1:
            return None
        (side,) = part
        for p, zeros in self._zeros(side):
            for order in range(zeros, min(zeros + 3, balls.MAX_ORDER + 1)):
                if self._holds(part, "taylor", str(p), zeros, order):
                    return ["taylor", str(p), zeros, order]
        middle = (side.low + side.high) / 2
        for order in (2, 4):
            if self._holds(part, "taylor", str(middle), 0, order):
                return ["taylor", str(middle), 0, order]
        return None

    def _zeros(self, side: balls.Side) -> Iterator[tuple[Fraction, int]]:
        """Simple points of a part at which the function vanishes, and to which order."""
        for p in dict.fromkeys((side.low, side.high, *POINTS)):
            if side.low <= p <= side.high and (zeros := self._zero(p)):
                yield p, zeros

    def _zero(self, p: Fraction) -> int:
        here = [fmpq(p.numerator, p.denominator), fmpq(1), *[fmpq(0)] * MAX_ZEROS][:MAX_ZEROS]
        known = self.f.table.series({self.names[0]: here}, MAX_ZEROS, exact=True)
        return next((k for k, c in enumerate(known) if c != 0), len(known))

    def _cut(self, part: Part, whole: Part) -> list[Any] | None:
        """Where to cut a part: at a zero inside, else in the middle of the longest side."""
        widths = [
            (s.high - s.low) / (t.high - t.low or 1) for s, t in zip(part, whole, strict=True)
        ]
        if not widths or max(widths) < NARROW:
            return None
        i = widths.index(max(widths))
        side = part[i]
        if len(part) == 1:
            inside = [p for p, _ in self._zeros(side) if side.low < p < side.high]
            if inside and widths[0] == 1:
                return ["cut", 0, str(inside[0])]
        return ["cut", i, str(_simple(side.low, side.high))]


def _simple(low: Fraction, high: Fraction) -> Fraction:
    """A number with few digits near the middle between two."""
    middle, width = (low + high) / 2, high - low
    scale = 1
    while scale * width < 4:
        scale *= 2
    while scale > 1 and width > 64:
        scale = 1
    return Fraction(round(middle * scale), scale)
