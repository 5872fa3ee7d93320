"""The refuter: exact counterexamples, exact points of undefinedness, and what nearly holds.

A refutation is a model that satisfies every hypothesis, exactly, and at which the goal is false.
An undefined point is a model that satisfies every earlier hypothesis and at which something has
no value: the statement is ill-posed, which goes before refuted. Neither is ever claimed of an
instance with an undecided hypothesis; that no instance was found says only that.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from flint import arb

from proofs.evaluate import (
    Evaluation,
    Matrix,
    Model,
    Points,
    Polynomial,
    Truth,
    Undecided,
    Undefined,
    as_value,
)
from proofs.evaluate import values as v
from proofs.evaluate.evaluator import Result
from proofs.evaluate.model import Family, Function, Outcomes, Partition, to_matrix
from proofs.instances import Instances, conforms
from proofs.instances.regular import plainly_defined
from proofs.instances.simpler import simpler, sizes_below, weight
from proofs.language.errors import StatementError
from proofs.language.infer import Scope, check, infer
from proofs.language.tree import (
    Statement,
    Term,
    binders_at,
    instantiate,
    name,
    rational,
    term,
)

SECONDS = 1.0
INSTANCES = 400
# After a first counterexample, so much more is spent on looking for an undefined point.
EXTRA = 60
EXTRA_SECONDS = 0.15
TELLING = 1e-6  # relative width of the balls at an instance that counts


@dataclass(slots=True)
class Stats:
    """How much was tried, and how different the instances were that satisfied the hypotheses."""

    tried: int = 0
    satisfied: int = 0
    held: int = 0  # the goal was confirmed
    enclosed: int = 0  # narrow balls of both sides overlap: no difference to `worst_error`
    worst_error: float = 0.0
    undecided: int = 0  # nothing could be said about the goal
    distinct: int = 0  # different satisfying models
    generic: int = 0  # of those, without any of the special features
    sizes: Counter[tuple[int, ...]] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def __str__(self) -> str:
        special = ", ".join(f"{k} {n}" for k, n in sorted(self.features.items()))
        sizes = len(self.sizes)
        return (
            f"{self.distinct} different instances of {self.tried} tried satisfy the hypotheses"
            f" (sizes: {sizes}; generic: {self.generic}{'; ' if special else ''}{special});"
            f" the goal held exactly at {self.held}, to {self.worst_error:.1e} at "
            f"{self.enclosed}, was undecided at {self.undecided}"
        )


@dataclass(frozen=True, slots=True)
class Refutation:
    """A model of all hypotheses at which the goal is false.

    `left` and `right` are the sides of the goal (for a property, its argument and None; for a
    limit, what the function tends to in truth, in words where it is no number, and what the goal
    says), `difference` is `left - right` where both are matrices; balls where nothing is exact.
    """

    statement: Statement
    model: Model
    left: object
    right: object
    difference: object

    @property
    def exact(self) -> bool:
        return not any(isinstance(x, Matrix) and not x.exact for x in (self.left, self.right))

    def __str__(self) -> str:
        tends = self.statement.goal.op == "limit"
        lines = [str(self.model), f"left  {'tends to' if tends else '='} {self.left}"]
        if self.right is not None:
            lines.append(f"right = {self.right}")
        if self.difference is not None:
            lines.append(f"difference = {self.difference}")
        if isinstance(self.difference, Polynomial):
            lines.append("(w0, w1, ... are the independent centred normals of the model)")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class UndefinedPoint:
    """A model of all earlier hypotheses at which something in the statement has no value.

    `place` is "goal", "hypothesis 2" (from 1) or "declaration of X"; `term` the innermost subterm
    without a value; `repair` a hypothesis that would exclude the point, where one can be written.
    """

    statement: Statement
    model: Model
    term: Term
    why: str
    place: str
    repair: Term | None = None

    def __str__(self) -> str:
        return f"{self.model}\n{self.place}: {self.why}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a search found. `undefined` goes before `refutation`."""

    refutation: Refutation | None
    undefined: UndefinedPoint | None
    stats: Stats

    @property
    def witness(self) -> Refutation | UndefinedPoint | None:
        return self.undefined or self.refutation


# ---------------------------------------------------------------- one instance


@dataclass(frozen=True, slots=True)
class Instance:
    """What a statement is at one model."""

    hypotheses_hold: bool
    goal: Truth = Truth.UNKNOWN
    error: float | None = None  # where the goal is UNKNOWN: how far apart its sides may be
    undefined: tuple[str, Undefined] | None = None


def examine(statement: Statement, model: Model) -> Instance:
    """Evaluates a statement at a model: hypotheses in their order, declarations, goal."""
    evaluation = Evaluation(model)
    for k, h in enumerate(statement.hypotheses, 1):
        found = evaluation(h)
        if isinstance(found, Undefined):
            return Instance(False, undefined=(f"hypothesis {k}", found))
        if found is not Truth.TRUE:
            return Instance(False)
    for declaration in statement.declarations:
        if declaration.type.op == "gaussian_type":
            trouble = evaluation.declaration(declaration)
            if isinstance(trouble, Undefined):
                place = f"declaration of {', '.join(declaration.names)}"
                return Instance(True, undefined=(place, trouble))
            if isinstance(trouble, Undecided):
                return Instance(False)
    found = evaluation(statement.goal)
    if isinstance(found, Undefined):
        return Instance(True, undefined=("goal", found))
    truth = found if isinstance(found, Truth) else Truth.UNKNOWN
    error = _distance(evaluation, statement.goal) if truth is Truth.UNKNOWN else None
    return Instance(True, truth, error)


def _distance(evaluation: Evaluation, goal: Term) -> float | None:
    """A bound on how far apart the sides of an equation or inequality are, by balls."""
    if goal.op not in ("eq", "le", "ge"):
        return None
    gap = _gap(*(evaluation(side) for side in goal.args))
    return None if gap is None else _largest(gap)


def _gap(left: Result | str, right: Result | str) -> v.Value | None:
    if isinstance(left, str) or isinstance(right, str):
        return None
    first, second = as_value(left), as_value(right)
    return None if first is None or second is None else v.sub(first, second)


def _largest(x: v.Value) -> float:
    if isinstance(x, Polynomial):
        return max(map(_largest, x.terms.values()))
    if isinstance(x, Points):
        return max(map(_largest, x.values))
    m = v.base(x)
    parts = [p for p in (m.re, m.im) if p is not None]
    return max(float(abs(arb(e)).upper()) for p in parts for e in p.entries())


# ---------------------------------------------------------------- the search


def refute(
    statement: Statement,
    *,
    seconds: float = SECONDS,
    seed: int = 0,
    instances: int = INSTANCES,
    shrink: bool = True,
    undefined_first: bool = True,
) -> Attempt:
    """Looks for a counterexample and for a point of undefinedness.

    Args:
        statement: a well-typed statement.
        seconds: roughly how long to look. The models that are drawn depend on the seed alone;
            how many of them are reached depends on the machine.
        seed: of the random choices.
        instances: how many models to draw at most.
        shrink: whether to look for a smaller witness when one is found.
        undefined_first: whether to go on for a little after a first counterexample, since an
            undefined point goes before it.

    Returns:
        The witnesses found, if any, each re-evaluated, and statistics.

    Raises:
        TypeProblem: the statement is ill-typed.
    """
    refuter = Refuter(statement, seed, undefined_first=undefined_first)
    refuter.look(instances, seconds)
    return refuter.attempt(shrink)


class Refuter:
    """A search for counterexamples and points of undefinedness that is done in several looks.

    Raises:
        TypeProblem: the statement is ill-typed.
    """

    def __init__(
        self,
        statement: Statement,
        seed: int = 0,
        *,
        scope: Scope | None = None,
        undefined_first: bool = True,
    ) -> None:
        scope = scope or Scope.of(statement.declarations)
        check(statement, scope=scope)
        self.statement = statement
        self._search = _Search(statement, 0.0, seed, scope)
        self._search.undefined_first = undefined_first

    def look(self, instances: int, seconds: float, until: int | None = None) -> bool:
        """Go on, up to so many instances in all, for roughly so long; whether there's a witness.

        `until`: so many models of the hypotheses are enough.
        """
        search = self._search
        search.deadline = time.perf_counter() + seconds
        search.run(range(search.place, instances), until)
        return search.undefined is not None or search.refutation is not None

    def attempt(self, shrink: bool = True) -> Attempt:
        """What was found so far, a witness made small and evaluated again."""
        search, statement = self._search, self.statement
        undefined, refutation = search.undefined, search.refutation
        if undefined is not None:
            model = search.smallest(undefined, _is_undefined) if shrink else undefined
            return Attempt(None, _undefined_point(statement, model), search.finished())
        if refutation is not None:
            model = search.smallest(refutation, _is_refuted) if shrink else refutation
            return Attempt(_refutation(statement, model), None, search.finished())
        return Attempt(None, None, search.finished())


def smoke(statement: Statement, count: int = 20, seed: int = 0, seconds: float = SECONDS) -> Stats:
    """Counts instances at which the goal held: at most `count` that satisfy the hypotheses.

    A goal that failed, or that was undefined, shows as
    `satisfied > held + enclosed + undecided`.

    Raises:
        TypeProblem: the statement is ill-typed.
    """
    check(statement)
    search = _Search(statement, seconds, seed)
    # From here on, and at odd places, sizes are mixed: no grid, no run of size 1.
    search.run(range(17, 17 + 80 * count, 2), until=count, stop_at_witness=False)
    return search.finished()


class _Search:
    def __init__(
        self, statement: Statement, seconds: float, seed: int, scope: Scope | None = None
    ) -> None:
        self.statement = statement
        self.start = time.perf_counter()
        self.deadline = self.start + seconds
        self.instances = Instances(statement, seed, scope)
        self.stats = Stats()
        self.satisfying: list[Model] = []
        self.seen: set[str] = set()
        self.refutation: Model | None = None
        self.undefined: Model | None = None
        self.undefined_first = True
        self.place = 0  # the next one in the stream of instances

    def finished(self) -> Stats:
        self.stats.seconds = time.perf_counter() - self.start
        return self.stats

    def late(self) -> bool:
        return time.perf_counter() > self.deadline

    def run(self, places: range, until: int | None = None, stop_at_witness: bool = True) -> None:
        found_at = None
        if not self.instances.letters and not self.instances.dimensions:
            places = places[: 1 - self.stats.tried]  # there is only one instance
        for place in places:
            if self.late() or (until is not None and self.stats.distinct >= until):
                return
            if stop_at_witness and self.undefined is not None:
                return
            if stop_at_witness and self.refutation is not None:
                if found_at is None:
                    found_at = place
                    self.deadline = time.perf_counter() + EXTRA_SECONDS
                    if not self.undefined_first or plainly_defined(self.statement):
                        return
                if place - found_at > EXTRA:
                    return
            self.place = place + 1
            self._look(self.instances.draw(place, self.satisfying))
            if place % 4 == 3:
                model = self.instances.aimed(place // 4)
                if model is not None:
                    self._look(model)

    def _look(self, model: Model) -> None:
        self.stats.tried += 1
        key = str(model)
        if key in self.seen or not conforms(model, self.instances.scope):
            return
        self.seen.add(key)
        found = examine(self.statement, model)
        if found.undefined is not None:
            self.undefined = self.undefined or model
        if not found.hypotheses_hold:
            return
        self._count(model, found)
        if len(self.satisfying) < 12:
            self.satisfying.append(model)
        if found.goal is Truth.FALSE:
            self.refutation = self.refutation or model

    def _count(self, model: Model, found: Instance) -> None:
        stats = self.stats
        stats.satisfied += 1
        stats.distinct += 1
        stats.held += found.goal is Truth.TRUE
        if found.undefined is None and found.goal is Truth.UNKNOWN:
            # Wide balls overlap for many a false statement too.
            telling = found.error is not None and found.error < TELLING
            stats.enclosed += telling
            stats.undecided += not telling
            if telling:
                stats.worst_error = max(stats.worst_error, found.error or 0.0)
        stats.sizes[tuple(self.instances.sizes_of(model).values())] += 1
        special = features(model, self.instances)
        stats.features.update(special)
        stats.generic += not special

    # ------------------------------------------------------------ small witnesses

    def smallest(self, model: Model, still: Callable[[Statement, Model], bool]) -> Model:
        """A witness with smaller sizes and simpler numbers."""
        self.deadline = max(self.deadline, time.perf_counter() + 0.3)
        model = self._smaller_sizes(model, still)
        best = weight(model)
        improved = True
        while improved and not self.late():
            improved = False
            for candidate in simpler(model, self.instances.letters):
                if self.late():
                    break
                size = weight(candidate)
                if size < best and self._still(candidate, still):
                    model, best, improved = candidate, size, True
                    break
        return model

    def _still(self, model: Model, still: Callable[[Statement, Model], bool]) -> bool:
        return conforms(model, self.instances.scope) and still(self.statement, model)

    def _smaller_sizes(self, model: Model, still: Callable[[Statement, Model], bool]) -> Model:
        sizes = self.instances.sizes_of(model)
        for smaller in sizes_below(sizes):
            for attempt in range(25):
                if self.late():
                    return model
                candidate = self.instances.fresh(smaller, special=attempt % 2 == 1)
                if self._still(candidate, still):
                    return candidate
        return model


def _is_refuted(statement: Statement, model: Model) -> bool:
    found = examine(statement, model)
    return found.hypotheses_hold and found.undefined is None and found.goal is Truth.FALSE


def _is_undefined(statement: Statement, model: Model) -> bool:
    return examine(statement, model).undefined is not None


def _refutation(statement: Statement, model: Model) -> Refutation:
    """The witness with both sides, evaluated afresh."""
    if not (conforms(model, Scope.of(statement.declarations)) and _is_refuted(statement, model)):
        raise AssertionError("a witness did not survive its re-evaluation")
    evaluation = Evaluation(model)
    goal = statement.goal
    if goal.op == "limit":
        sides = [evaluation.tends_to(goal), evaluation(goal.args[1])]
    else:
        sides = [evaluation(a) for a in goal.args]
    difference = _gap(*sides) if len(sides) == 2 else None
    return Refutation(statement, model, sides[0], sides[1] if len(sides) == 2 else None, difference)


def _undefined_point(statement: Statement, model: Model) -> UndefinedPoint:
    found = examine(statement, model).undefined
    if found is None or not conforms(model, Scope.of(statement.declarations)):
        raise AssertionError("an undefined point did not survive its re-evaluation")
    place, undefined = found
    return UndefinedPoint(
        statement,
        model,
        undefined.term,
        undefined.why,
        place,
        repair(statement, undefined.term, place, undefined.why),
    )


def features(model: Model, instances: Instances) -> list[str]:
    """What is special about an instance, each named once."""
    found = set()
    seen: list[object] = []
    for letter in instances.letters:
        value = model.values[letter]
        if isinstance(value, (Function, Family, Outcomes, Partition)):
            continue
        m = to_matrix(value)
        rows, cols = m.shape
        if v.is_exact_zero(m):
            found.add("zero")
        if (rows, cols) == (1, 1):
            continue
        if m.im is not None:
            found.add("complex")
        if rows == cols and m.im is None and m.re.rank() < rows:
            found.add("singular")
        if rows == cols and m == v.eye(rows):
            found.add("identity")
        if value in seen:
            found.add("repeated")
        seen.append(value)
    if instances.dimensions and all(model.values[n] == 1 for n in instances.dimensions):
        found.add("size 1")
    return sorted(found)


# ---------------------------------------------------------------- repairs


def repair(statement: Statement, culprit: Term, place: str, why: str = "") -> Term | None:
    """A hypothesis under which a subterm that has no value would have one, where it can be said."""
    root = statement.goal
    if place.startswith("hypothesis"):
        root = statement.hypotheses[int(place.split()[1]) - 1]
    elif place.startswith("declaration"):
        named = place.removeprefix("declaration of ")
        root = next(d.type for d in statement.declarations if ", ".join(d.names) == named)
        if culprit is root.args[-1] and "semidefinite" in why:
            return term("positive_semidefinite", culprit)
    path = binders_above(root, culprit)
    if path is None:
        return None
    strict = any(b.op in ("deriv", "grad") for b in path)
    condition = _condition(culprit, strict, Scope.of(statement.declarations))
    for binder in reversed(path):
        if condition is None or condition.free == 0:
            break
        if binder.op in ("deriv", "grad"):
            condition = instantiate(condition, (binder.args[1],))
        elif binder.op == "limit":  # it would be asked for large values alone
            return None
        else:
            variable = _bound_type(condition)
            if variable is None:
                return None
            condition = term("forall", variable, condition, data=(1, 0))
    return condition if condition is not None and condition.free == 0 else None


def _condition(node: Term, strict: bool, scope: Scope) -> Term | None:
    zero = rational(0)
    if node.op in ("log", "sqrt"):
        return term("gt" if strict or node.op == "log" else "ge", node.args[0], zero)
    if node.op == "lambertw":
        edge = term("neg", term("exp", rational(-1)))
        return term("gt" if strict else "ge", node.args[0], edge)
    if node.op == "div":
        return term("ne", node.args[1], zero)
    if node.op in ("inv", "pow"):
        if node.op == "pow" and not str(node.args[1].data).startswith("-"):
            return term("gt", node.args[0], zero)
        is_scalar = infer(node.args[0], scope).is_scalar
        return term("ne", node.args[0], zero) if is_scalar else term("invertible", node.args[0])
    if node.op == "logpdf":
        return term("positive_definite", node.args[2])
    if node.op == "abs":
        return term("ne", node.args[0], zero)
    return None


def binders_above(root: Term, target: Term) -> list[Term] | None:
    """The binders on a path from `root` down to a subterm, outermost first."""
    stack: list[tuple[Term, tuple[Term, ...]]] = [(root, ())]
    seen: set[tuple[int, int]] = set()
    while stack:
        node, above = stack.pop()
        if node is target:
            return list(above)
        if (id(node), len(above)) in seen:
            continue
        seen.add((id(node), len(above)))
        for i, arg in enumerate(node.args):
            binds = binders_at(node.op, node.data, i)
            if node.op != "bound":
                stack.append((arg, (*above, node) if binds else above))
    return None


def _bound_type(condition: Term) -> Term | None:
    """The type that the innermost free variable carries."""
    stack, seen = [(condition, 0)], set()
    while stack:
        node, depth = stack.pop()
        if (id(node), depth) in seen:
            continue
        seen.add((id(node), depth))
        if node.op == "bound":
            if node.data == depth:
                return node.args[0]
            continue
        stack.extend(
            (a, depth + binders_at(node.op, node.data, i)) for i, a in enumerate(node.args)
        )
    return None


# ---------------------------------------------------------------- what nearly holds


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A true statement near a false one, and how to say so."""

    statement: Statement
    sentence: str


def nearest_true_neighbour(
    statement: Statement,
    prove: Callable[[Statement], bool],
    *,
    seconds: float = 5.0,
    seed: int = 0,
    names: Mapping[str, Term] | None = None,
) -> Neighbour | None:
    """The first small change of a false statement that survives the refuter and is proved.

    Args:
        statement: a statement that was refuted.
        prove: says whether a statement is proved; only its True counts.
        seconds: for the refuter, in all.
        seed: of the refuter.
        names: abbreviations for terms in the sentence.
    """
    deadline = time.perf_counter() + seconds
    for candidate, sentence in neighbours(statement, names):
        left = deadline - time.perf_counter()
        if left <= 0:
            return None
        try:
            check(candidate)
        except StatementError:
            continue
        attempt = refute(
            candidate,
            seconds=min(left, 0.25),
            seed=seed,
            instances=150,
            shrink=False,
            undefined_first=False,
        )
        if attempt.witness is None and attempt.stats.satisfied and prove(candidate) is True:
            return Neighbour(candidate, sentence)
    return None


def neighbours(
    statement: Statement, names: Mapping[str, Term] | None = None
) -> Iterator[tuple[Statement, str]]:
    """Candidates: slips of the pen undone, then a weaker relation, then hypotheses added."""
    from proofs.language import show
    from proofs.mutants import REPAIRS, mutants

    def text(node: Term) -> str:
        return show.text(node, names or show.NO_NAMES)

    goal = statement.goal
    changed = [m for m in mutants(statement) if m.part == "goal"]
    for kind in REPAIRS:
        for mutant in changed:
            sides = mutant.statement.goal.args
            if mutant.kind != kind or mutant.new is None or _is_trivial(sides):
                continue
            if mutant.old.free or mutant.old is goal:
                yield mutant.statement, f"true as {text(mutant.statement.goal)}"
            else:
                sentence = f"true with {text(mutant.new)} in place of {text(mutant.old)}"
                yield mutant.statement, sentence
    if goal.op in ("lt", "gt"):
        weaker = term("le" if goal.op == "lt" else "ge", *goal.args)
        yield (
            Statement(statement.declarations, statement.hypotheses, weaker),
            f"true as {text(weaker)}",
        )
    for hypothesis, sentence in _additions(statement):
        if hypothesis not in statement.hypotheses:
            yield (
                Statement(statement.declarations, (*statement.hypotheses, hypothesis), goal),
                sentence,
            )


def _is_trivial(sides: tuple[Term, ...]) -> bool:
    return len(sides) == 2 and sides[0] is sides[1]


def _additions(statement: Statement) -> Iterator[tuple[Term, str]]:
    scope = Scope.of(statement.declarations)
    used = [
        n
        for n in scope.types
        if scope.types[n].kind.value == "matrix" and scope.types[n].domain != "dimension"
    ]
    square = [
        n
        for n in used
        if scope.types[n].rows == scope.types[n].cols and not scope.types[n].is_scalar
    ]
    for n in square:
        yield term("symmetric", name(n)), f"true if {n} is symmetric"
    for i, m in enumerate(square):
        for n in square[i + 1 :]:
            if scope.types[m].rows == scope.types[n].rows:
                yield term("commute", name(m), name(n)), f"true if {m} and {n} commute"
    for op, words in (
        ("invertible", "invertible"),
        ("positive_semidefinite", "positive semidefinite"),
        ("positive_definite", "positive definite"),
    ):
        for n in square:
            yield term(op, name(n)), f"true if {n} is {words}"
    for n in used:
        if not scope.types[n].is_scalar and n not in square:
            yield term("full_column_rank", name(n)), f"true if {n} has full column rank"
            yield term("full_row_rank", name(n)), f"true if {n} has full row rank"
    for n in used:
        if scope.types[n].is_scalar and not scope.types[n].is_complex:
            for op, sign in (("ne", "!="), ("ge", ">="), ("gt", ">")):  # weakest first
                yield term(op, name(n), rational(0)), f"true if {n} {sign} 0"


__all__ = [
    "Attempt",
    "Instance",
    "Neighbour",
    "Refutation",
    "Stats",
    "UndefinedPoint",
    "binders_above",
    "examine",
    "nearest_true_neighbour",
    "neighbours",
    "refute",
    "repair",
    "smoke",
]
