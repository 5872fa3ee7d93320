"""A stream of models of a statement: small first, special structures on purpose."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

from proofs.evaluate import (
    Family,
    Function,
    Matrix,
    Model,
    Outcomes,
    Partition,
    Truth,
    evaluate,
    functions,
)
from proofs.evaluate import values as v
from proofs.evaluate.model import Entry, Plain, from_matrix, to_matrix
from proofs.evaluate.values import Value
from proofs.instances.arrange import cut_blocks, nest_partitions, put_in_order
from proofs.instances.domains import conforms
from proofs.instances.equations import (
    Solver,
    difference,
    equations,
    is_inequality,
    slack,
    targets,
)
from proofs.instances.limits import settle
from proofs.instances.matrices import LARGE, MIXED, POSITIVE, SMALL, STYLES, Matrices
from proofs.instances.reading import centers, demands, exponents, numbers, with_limits
from proofs.language.infer import Scope
from proofs.language.tree import Statement, names_in, natural, postorder
from proofs.language.types import Kind, Type

# The first choices of the grid at size 1, simplest first.
GRID = tuple(fmpq(p, q) for p, q in ((0, 1), (1, 1), (-1, 1), (2, 1), (1, 2), (-2, 1), (3, 1)))
GRID_ENTRIES = 3  # up to so many numbers, the grid is gone through; beyond, it is sampled
FUNCTION_TERMS = 4
BELOW = (0, 1, 1, 2)  # the power below a function that may have a limit
ALIKE = 0.3  # how often such a function is an earlier one
LARGEST_EXPONENT = 9  # of a power by a dimension
RELATED = 0.15  # how often a letter is made from an earlier one, among special models


class Instances:
    """A stream of models of a statement. Deterministic for a seed."""

    def __init__(self, statement: Statement, seed: int = 0, scope: Scope | None = None) -> None:
        self.statement = statement
        self.rng = random.Random(f"{seed}:{statement.hash}")
        self.scope = scope or Scope.of(statement.declarations)
        self.dimensions = [n for n, t in self.scope.types.items() if t.domain == "dimension"]
        self.letters = [
            n
            for n in self.scope.types
            if n not in self.dimensions and self.scope.type_terms[n].op != "gaussian_type"
        ]
        # Functions last: they are centered at values of other letters.
        self.letters.sort(key=lambda n: self.scope.types[n].kind is Kind.FUNCTION)
        self.matrices = Matrices(self.rng)
        self.demands = demands(statement)
        self.equations = list(equations(statement))
        moving = {n for n, t in self.scope.types.items() if t.kind is Kind.FUNCTION}
        self.inequalities = [
            h for h in statement.hypotheses if is_inequality(h) and not names_in(h) & moving
        ]
        self.targets = list(targets(statement))
        if statement.goal.op in ("ne", "lt", "gt"):  # false where the sides agree
            self.targets.append(difference(*statement.goal.args))
        self.numbers = numbers(statement)
        shapes = {n for t in self.scope.type_terms.values() for n in names_in(t)}
        self.exponents = sorted(exponents(statement) & set(self.dimensions) - shapes)
        self.finite = any(
            self.scope.types[n].kind is Kind.SIGMA_ALGEBRA
            or self.scope.type_terms[n].op == "random_type"
            for n in self.letters
        )
        self.centers = centers(statement)
        self.with_limits = with_limits(statement)
        order = max(
            (natural(n) for n in postorder(statement.hypotheses) if n.op == "deriv"), default=1
        )
        self.solver = Solver(self.scope, self.letters, frozenset(self.demands), order, self.rng)
        self.related = RELATED
        self._grid = self._grid_models()

    # ------------------------------------------------------------ the stream

    def draw(self, place: int, near: Sequence[Model] = ()) -> Model:
        """The model number `place`; `near` holds satisfying models, which may be varied."""
        if place % 2 == 0:
            found = next(self._grid, None)
            if found is not None:
                return found
        if near and self.rng.random() < 0.3:
            return self.vary(self.rng.choice(near))
        return self.fresh(self._sizes(place), special=place > 6 and self.rng.random() < 0.6)

    def fresh(self, sizes: dict[str, int], special: bool = False) -> Model:
        """A new model of these sizes that tries to satisfy the hypotheses."""
        weights: tuple[Fraction, ...] = ()
        if self.finite:
            raw = [self.rng.choice((1, 1, 2, 3)) for _ in range(self.rng.choice((2, 3, 4, 4, 5)))]
            weights = tuple(Fraction(w, sum(raw)) for w in raw)
        values: dict[str, Entry] = dict(sizes)
        for name in self.letters:
            values[name] = self._value(name, sizes, values, special, len(weights))
        return self.arrange(Model(self.statement.declarations, values, weights))

    def vary(self, model: Model) -> Model:
        """A model with one letter drawn anew."""
        if not self.letters:
            return model
        sizes = self.sizes_of(model)
        name = self.rng.choice(self.letters)
        values = dict(model.values)
        values[name] = self._value(name, sizes, values, True, len(model.weights))
        return self.arrange(Model(model.declarations, values, model.weights), keep=name)

    def arrange(self, model: Model, keep: str | None = None) -> Model:
        """Adjusts a model to the hypotheses that can be arranged."""
        hypotheses = self.statement.hypotheses
        model = nest_partitions(model, hypotheses)
        model = cut_blocks(model, hypotheses, self.scope, self.matrices)
        model = put_in_order(model, hypotheses, self.letters, self.matrices)
        model = self.solver.solve(model, self.equations, keep)
        model = settle(model, hypotheses)
        return self._satisfy_inequalities(model, keep)

    def _satisfy_inequalities(self, model: Model, keep: str | None) -> Model:
        """Turns an inequality that fails into an equation with a slack, and solves that."""
        for h in self.inequalities:
            if evaluate(h, model) is not Truth.TRUE and self.rng.random() < 0.7:
                wanted = slack(h, model, self.matrices)
                if wanted is not None:
                    moved = self.solver.solve(model, [*self.equations, wanted], keep)
                    model = moved if evaluate(h, moved) is Truth.TRUE else model
        return model

    def aimed(self, place: int) -> Model | None:
        """A model at which a partial operation should fail, or a goal that needs a difference."""
        if not self.targets:
            return None
        target = self.targets[place % len(self.targets)]
        sizes = self._sizes(place // len(self.targets))
        self.related = 0.6 if place % 2 else 0.0
        model = self.fresh(sizes, special=self.related > 0)
        self.related = RELATED
        return self.solver.solve(model, [*self.equations, target])

    def sizes_of(self, model: Model) -> dict[str, int]:
        """The values of the dimensions."""
        return {n: x for n in self.dimensions if isinstance(x := model.values[n], int)}

    def _sizes(self, place: int) -> dict[str, int]:
        if not self.letters:
            return {n: self.rng.randint(1, 12) for n in self.dimensions}
        if place < 16:
            return dict.fromkeys(self.dimensions, 1)
        sizes = self._mixed_sizes(place)
        for n in self.exponents:
            if self.rng.random() < 0.5:
                sizes[n] = self.rng.randint(1, LARGEST_EXPONENT)
        return sizes

    def _mixed_sizes(self, place: int) -> dict[str, int]:
        largest = 4 if place > 60 and len(self.dimensions) < 4 and self.rng.random() < 0.1 else 3
        if self.rng.random() < 0.3:
            return dict.fromkeys(self.dimensions, self.rng.randint(1, largest))
        return {n: self.rng.randint(1, largest) for n in self.dimensions}

    def _grid_models(self) -> Iterator[Model]:
        """All assignments of the first grid numbers at size 1, where there are few entries."""
        sizes = dict.fromkeys(self.dimensions, 1)
        shapes = {n: self._shape(n, sizes) for n in self.letters}
        count = sum(rows * cols for rows, cols in shapes.values())
        simple = all(self.scope.types[n].kind is Kind.MATRIX for n in self.letters)
        if not simple or not self.letters or count > GRID_ENTRIES:
            return
        extra = [x for x in self.numbers if x not in GRID]
        for chosen in sorted(
            itertools.product(range(len(GRID) + len(extra)), repeat=count), key=sum
        ):
            numbers = iter([(*GRID, *extra)[k] for k in chosen])
            values: dict[str, Entry] = dict(sizes)
            for name, (rows, cols) in shapes.items():
                values[name] = from_matrix(
                    Matrix(fmpq_mat(rows, cols, [next(numbers) for _ in range(rows * cols)]))
                )
                if self._in_integers(name):
                    values[name] = _as_int(values[name])
            model = Model(self.statement.declarations, values)
            if conforms(model, self.scope):
                yield model

    # ------------------------------------------------------------ values

    def _shape(self, name: str, sizes: dict[str, int]) -> tuple[int, int]:
        t = self.scope.types[name]
        return t.rows.evaluate(sizes), t.cols.evaluate(sizes)

    def _in_integers(self, name: str) -> bool:
        return self.scope.types[name].domain in ("integer", "index")

    def _value(
        self, name: str, sizes: dict[str, int], known: dict[str, Entry], special: bool, points: int
    ) -> Entry:
        t = self.scope.types[name]
        rows, cols = self._shape(name, sizes)
        if t.kind is Kind.SIGMA_ALGEBRA:
            return Partition(tuple(self.rng.randint(0, 2) for _ in range(points)))
        if t.kind is Kind.RANDOM:
            return Outcomes(
                tuple(
                    from_matrix(self.matrices.styled(rows, cols, "small", False))
                    for _ in range(points)
                )
            )
        if t.kind is Kind.FUNCTION:
            center = known.get(self.centers.get(name, ""), 0)
            over = 0
            if name in self.with_limits:
                over = self.rng.choice(BELOW)
                alike = [n for n in self.with_limits if n in known and self.scope.types[n] == t]
                if alike and self.rng.random() < ALIKE:
                    return known[self.rng.choice(sorted(alike))]
            terms = 2 * over + 1 if over else FUNCTION_TERMS
            first = self._letter(t, rows, cols, self.demands.get(name, set()), special)
            rest = (
                from_matrix(
                    self.matrices.styled(
                        rows, cols, self.rng.choice(("tiny", "small")), t.is_complex
                    )
                )
                for _ in range(1, terms)
            )
            return Function(
                center if isinstance(center, Fraction) else Fraction(0), (first, *rest), over
            )
        if t.kind is Kind.FAMILY:
            ranges = [range(1, r.evaluate(sizes) + 1) for r in t.ranges]
            return Family(
                {
                    place: self._letter(t, rows, cols, set(), special)
                    for place in itertools.product(*ranges)
                }
            )
        if t.domain == "index" and t.limit is not None:
            return self.rng.randint(1, t.limit.evaluate(sizes))
        if t.domain == "integer":
            return self.rng.choice((0, 1, -1, 2, 3, -2, 5))
        if special and not self.demands.get(name) and self.rng.random() < self.related:
            copied = self._derived(name, (rows, cols), known)
            if copied is not None:
                return copied
        return self._letter(t, rows, cols, self.demands.get(name, set()), special)

    def _letter(self, t: Type, rows: int, cols: int, demands: set[str], special: bool) -> Plain:
        """A matrix or scalar of a domain, with the structure that hypotheses demand."""
        if t.domain in ("positive", "nonnegative", "nonzero"):
            pool = [*POSITIVE, *(x for x in self.numbers if x > 0)]
            pool += [x for x in LARGE if x > 0] if self.exponents else ()
            if t.domain == "nonnegative":
                pool.append(fmpq(0))
            if t.domain == "nonzero":
                pool += [-x for x in POSITIVE]
            return from_matrix(v.scalar(self.rng.choice(pool)))
        if (rows, cols) == (1, 1) and not demands and not t.is_complex:
            pool = [*SMALL, *self.numbers, *(MIXED if special else ()), *POSITIVE]
            pool += LARGE if self.exponents else ()
            return from_matrix(v.scalar(self.rng.choice(pool)))
        is_complex = t.is_complex and self.rng.random() < 0.8
        if "positive_entries" in demands and self.rng.random() < 0.8:
            style = self.rng.choice(("positive", "simplex", "simplex"))
            return from_matrix(self.matrices.styled(rows, cols, style, False))
        structured = self.matrices.structured(rows, cols, demands, is_complex)
        if structured is not None:
            return from_matrix(structured)
        style = self.rng.choice(STYLES) if special else self.rng.choice(("tiny", "small"))
        return from_matrix(self.matrices.styled(rows, cols, style, is_complex))

    def _derived(self, name: str, shape: tuple[int, int], known: dict[str, Entry]) -> Plain | None:
        """An earlier letter, its transpose, its pseudo-inverse or its square."""
        options: list[Value] = []
        for other in self.letters:
            if other == name:
                break
            value = known[other]
            if isinstance(value, (Function, Family, Outcomes, Partition)):
                continue
            if self.scope.types[other].is_complex and not self.scope.types[name].is_complex:
                continue
            found = to_matrix(value)
            if found.shape == shape:
                options += [found, v.neg(found)]
                if shape[0] == shape[1]:
                    options.append(v.mul(found, found))
                    options += [v.mul(found, self.matrices.styled(*shape, "companion", False))] * 2
            if found.shape[::-1] == shape:
                options += [v.transpose(found), functions.pseudo_inverse(found)]
        return from_matrix(self.rng.choice(options)) if options else None


def _as_int(value: Entry) -> Entry:
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    return value
