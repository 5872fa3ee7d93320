"""Hypotheses that are equations, solved exactly where they are linear in a letter."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from proofs.evaluate import (
    Evaluation,
    Family,
    Function,
    Matrix,
    Model,
    Outcomes,
    Partition,
    as_value,
    evaluate,
    exact,
)
from proofs.evaluate import values as v
from proofs.evaluate.evaluator import Found, FunctionValue
from proofs.evaluate.model import Entry, from_matrix, to_matrix
from proofs.evaluate.quantifiers import along, indeterminate, linear_system
from proofs.evaluate.values import Value
from proofs.instances.matrices import SMALL, Matrices
from proofs.language.infer import Scope
from proofs.language.tree import Statement, Term, names_in, postorder, term
from proofs.language.types import Kind

MAX_WAYS = 16  # to move one number or two

Gap = Callable[[Evaluation], Value | None]


@dataclass(frozen=True, slots=True)
class Equation:
    """Something that should be zero, and the names that it depends on."""

    gap: Gap
    names: frozenset[str]


def equations(statement: Statement) -> Iterator[Equation]:
    """Hypotheses that say that something is zero."""
    for h in statement.hypotheses:
        if h.op == "eq":
            yield difference(*h.args)
        elif h.op == "symmetric":
            yield difference(h.args[0], term("transpose", h.args[0]))
        elif h.op == "hermitian":
            yield difference(h.args[0], term("adjoint", h.args[0]))
        elif h.op == "commute":
            a, b = h.args
            yield difference(term("mul", a, b), term("mul", b, a))


def difference(left: Term, right: Term) -> Equation:
    """The equation `left = right`."""

    def gap(evaluation: Evaluation) -> Value | None:
        first, second = as_value(evaluation(left)), as_value(evaluation(right))
        return None if first is None or second is None else v.sub(first, second)

    return Equation(gap, frozenset(names_in(left) | names_in(right)))


def is_inequality(h: Term) -> bool:
    """Whether a hypothesis is an inequality, or definiteness of something that isn't a letter."""
    if h.op in ("positive_definite", "positive_semidefinite"):
        return h.args[0].op not in ("name", "block")
    return h.op in ("lt", "le", "gt", "ge")


def slack(h: Term, model: Model, draw: Matrices) -> Equation | None:
    """An equation that makes an inequality hold: its larger side exceeds the other by a draw."""
    if h.op.startswith("positive"):
        sides, strict = [h.args[0]], h.op == "positive_definite"
    else:
        sides = list(h.args if h.op in ("gt", "ge") else h.args[::-1])
        strict = h.op in ("lt", "gt")
    here = as_value(evaluate(sides[0], model))
    if here is None or v.shape(here)[0] != v.shape(here)[1]:
        return None
    size = v.shape(here)[0]
    step = draw.definite(size, False) if strict else draw.semidefinite(size, False)

    def gap(evaluation: Evaluation) -> Value | None:
        found = [as_value(evaluation(side)) for side in sides]
        if found[0] is None or found[-1] is None:
            return None
        rise = found[0] if len(found) == 1 else v.sub(found[0], found[-1])
        return v.sub(rise, step)

    return Equation(gap, frozenset().union(*map(names_in, sides)))


def targets(statement: Statement) -> Iterator[Equation]:
    """What would make a partial operation of the statement fail if it were zero."""
    seen: set[int] = set()
    for node in postorder([*statement.hypotheses, statement.goal]):
        if node.op in ("div", "log", "sqrt") or (node.op in ("inv", "pow", "logpdf") and node.args):
            if node.op == "pow" and not str(node.args[1].data).startswith("-"):
                continue
            inside = node.args[{"div": 1, "logpdf": 2}.get(node.op, 0)]
            if inside.free or id(inside) in seen or not names_in(inside):
                continue
            seen.add(id(inside))
            for alike in (False, True):
                yield Equation(_singular(inside, alike), frozenset(names_in(inside)))


def _singular(inside: Term, alike: bool) -> Gap:
    """Zero where the term maps (1, 0, ..., 0), or (1, ..., 1), to zero."""

    def gap(evaluation: Evaluation) -> Value | None:
        found = as_value(evaluation(inside))
        if found is None or v.shape(found)[0] != v.shape(found)[1]:
            return None
        size = v.shape(found)[0]
        return v.mul(found, Matrix(fmpq_mat(size, 1, [int(alike or k == 0) for k in range(size)])))

    return gap


def all_hold(wanted: Sequence[Equation], model: Model) -> bool:
    """Whether equations hold at a model, exactly."""
    evaluation = Evaluation(model)
    gaps = [e.gap(evaluation) for e in wanted]
    return all(gap is not None and v.is_exact_zero(gap) for gap in gaps)


# A letter made unknown: its value with indeterminates, their number, and the value that it has
# once a function has put numbers in their place.
Unknown = tuple[Found, int, Callable[[Callable[[Value], Value]], Entry]]


class Solver:
    """Adjusts models so that equations hold, one letter at a time.

    `structured` are letters that must keep a structure: they are moved last.
    """

    def __init__(
        self,
        scope: Scope,
        letters: Sequence[str],
        structured: frozenset[str],
        order: int,
        rng: random.Random,
    ) -> None:
        self.scope = scope
        self.letters = letters
        self.structured = structured
        self.order = order  # of the derivatives in the equations
        self.rng = rng

    def solve(self, model: Model, wanted: Sequence[Equation], keep: str | None = None) -> Model:
        """A model at which the equations hold, if one is found; else one that is closer."""
        if not wanted or all_hold(wanted, model):
            return model
        involved = [n for n in self.letters if any(n in e.names for e in wanted)]
        for attempt in range(2):
            before = model
            self.rng.shuffle(involved)
            for name in sorted(involved, key=lambda n: (n == keep, self._unwilling(n))):
                mine = [e for e in wanted if name in e.names]
                for unknown in self._unknowns(name, model, by_column=attempt > 0):
                    moved = self._moved(model, mine, name, unknown)
                    if moved is not None:
                        model = moved
                        if all_hold(wanted, model):
                            return model
                        break
            if model is before and not any(self._has_columns(n, model) for n in involved):
                break
        found = self._in_turn(model, wanted, involved)
        return found if found is not None and all_hold(wanted, found) else model

    def _in_turn(
        self, model: Model, wanted: Sequence[Equation], involved: Sequence[str]
    ) -> Model | None:
        """A model that solves one equation after the other, each by letters that those before do
        not have; what a letter of its own solves comes last."""
        scalars = [n for n in involved if self._is_free_number(n, model)]
        rest, last = list(wanted), list[tuple[Equation, str]]()
        while True:
            own = [
                (e, n)
                for e in rest
                for n in scalars
                if n in e.names and not any(n in other.names for other in rest if other is not e)
            ]
            linear = (p for p in own if self._shifted(model, p[0], {p[1]: 1}) is not None)
            found = next(linear, None)
            if found is None:
                break
            rest.remove(found[0])
            last.append(found)
        self.rng.shuffle(rest)
        settled: set[str] = set()
        for e in rest:
            free = [n for n in scalars if n in e.names and n not in settled]
            moved = self._by_numbers(model, e, free)
            if moved is None:
                return None
            model, settled = moved, settled | e.names
        for e, n in reversed(last):
            moved = self._shifted(model, e, {n: 1})
            if moved is None:
                return None
            model = moved
        return model

    def _is_free_number(self, name: str, model: Model) -> bool:
        t = self.scope.types[name]
        return isinstance(model.values[name], Fraction) and t.domain not in ("index", "integer")

    def _by_numbers(self, model: Model, e: Equation, free: Sequence[str]) -> Model | None:
        """A model at which one equation holds, some of these numbers moved: one of them, or two by
        as much, which solves x^2 + y^2 = z^2, linear along x - z."""
        if all_hold([e], model):
            return model
        pairs = itertools.permutations(free, 2)
        ways = [{n: 1} for n in free] + [{m: 1, n: s} for m, n in pairs for s in (1, -1)]
        for way in ways[:MAX_WAYS]:
            moved = self._shifted(model, e, way)
            if moved is not None:
                return moved
        return None

    def _shifted(self, model: Model, e: Equation, way: dict[str, int]) -> Model | None:
        """A model at which an equation holds, numbers moved along a direction in which it is
        linear."""
        step, _ = indeterminate(1, 1, 0, False)
        here = {n: x for n in way if isinstance(x := model.values[n], Fraction)}
        given = {n: v.add(to_matrix(x), v.mul(v.scalar(way[n]), step)) for n, x in here.items()}
        gap = e.gap(Evaluation(model, given=given))
        system = None if gap is None else linear_system(gap, range(1))
        solution = exact.solve(fmpq_mat(system[0]), system[1]) if system and system[0] else None
        if solution is None:
            return None
        chosen = exact.Affine(solution.point, [])
        for n, value in given.items():
            model = model.with_value(n, from_matrix(along(value, range(1), chosen)))
        return model

    def _has_columns(self, name: str, model: Model) -> bool:
        value = model.values[name]
        return isinstance(value, tuple) and len(value[0]) > 1

    def _unwilling(self, name: str) -> tuple[bool, bool]:
        """Slopes are solved for first, then free letters, then those that keep a structure."""
        return self.scope.types[name].kind is not Kind.FUNCTION, name in self.structured

    def _unknowns(self, name: str, model: Model, by_column: bool) -> Iterator[Unknown]:
        """Ways to make a letter unknown: wholly, by its slope, or by one column."""
        t, value = self.scope.types[name], model.values[name]
        if isinstance(value, Function):
            yield from self._unknown_functions(value, t.is_complex)
        if isinstance(value, (Function, Family, Outcomes, Partition)) or t.domain in (
            "index",
            "integer",
            "dimension",
        ):
            return
        fixed = to_matrix(value)
        rows, cols = fixed.shape
        whole, count = indeterminate(rows, cols, 0, t.is_complex)
        yield whole, count, lambda fill: from_matrix(fill(whole))
        if by_column and cols > 1:
            column, count = indeterminate(rows, 1, 0, t.is_complex)
            j = self.rng.randrange(cols)
            place = Matrix(fmpq_mat(1, cols, [int(k == j) for k in range(cols)]))
            rest = v.rearrange(rows, cols, lambda i, k: None if k == j else (i, k), fixed)
            mixed = v.add(rest, v.mul(column, place))
            yield mixed, count, lambda fill: from_matrix(fill(mixed))

    def _unknown_functions(self, f: Function, is_complex: bool) -> Iterator[Unknown]:
        coefficients = [to_matrix(c) for c in f.coefficients]
        count = len(coefficients)
        slope = min(self.order, count - 1)
        for free in (range(slope, slope + 1), range(1, count), range(count)):
            made: list[Value] = list(coefficients)
            first = 0
            for k in free:
                made[k], first = indeterminate(*coefficients[k].shape, first, is_complex)
            series = tuple(made)
            yield (
                FunctionValue(to_matrix(f.center), series, f.over),
                first,
                lambda fill, series=series: Function(
                    f.center, tuple(from_matrix(fill(c)) for c in series), f.over
                ),
            )

    def _moved(
        self, model: Model, wanted: Sequence[Equation], name: str, unknown: Unknown
    ) -> Model | None:
        given, count, back = unknown
        evaluation = Evaluation(model, given={name: given})
        rows, right = [], []
        for e in wanted:
            gap = e.gap(evaluation)
            system = None if gap is None else linear_system(gap, range(count))
            if system is not None:
                rows += system[0]
                right += system[1]
        solution = exact.solve(fmpq_mat(rows), right) if rows else None
        if solution is None:
            return None
        point = solution.point
        for direction in solution.directions:
            factor = self.rng.choice(SMALL)
            point = [p + factor * d for p, d in zip(point, direction, strict=True)]
        chosen = exact.Affine(point, [])
        return model.with_value(name, back(lambda x: along(x, range(count), chosen)))
