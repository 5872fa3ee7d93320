"""The evaluator: a term and a model in, a value out.

Exact where it can be, balls elsewhere (with more digits where a decision needs them), `Undefined`
where the expression means nothing at this model. A term is a DAG: every closed subterm is
evaluated once for a model, every subterm under a binder once for each value of the bound variable.
Nothing recurses but the bodies of binders, whose nesting the tree limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any

import flint
from flint import arb, fmpq, fmpq_mat

from proofs.evaluate import exact, functions
from proofs.evaluate import values as v
from proofs.evaluate.decisions import Truth, definite, equal, every, integer
from proofs.evaluate.intervals import Interval, nonnegative_on, roots_inside, univariate, where
from proofs.evaluate.limits import rational, tends_to
from proofs.evaluate.model import Family, Function, Model, Outcomes, Partition, to_matrix
from proofs.evaluate.operators import RULES, whole
from proofs.evaluate.probability import Space
from proofs.evaluate.quantifiers import (
    along,
    indeterminate,
    linear_system,
    nonnegative,
    samples,
)
from proofs.evaluate.values import (
    Jet,
    Matrix,
    Points,
    Polynomial,
    UndecidedHere,
    UndefinedHere,
    Value,
    add,
    mul,
    scalar,
    sub,
)
from proofs.language.errors import TypeProblem
from proofs.language.tree import (
    BINDING_ARGUMENT,
    PROPERTIES,
    RELATIONS,
    Declaration,
    Term,
    binders_at,
    names_in,
    natural,
    pair,
)
from proofs.language.tree import term as made

PRECISIONS = (64, 256)  # bits of the balls: first try, and where that decides nothing
MAX_RANGE = 10_000  # terms of one sum, members of one enumeration
MAX_TAYLOR = 256  # coefficients of nested jets
FIRST_QUANTIFIED = 1_000_000  # indeterminates of quantifiers; those of the space count from 0


@dataclass(frozen=True, slots=True)
class Undefined:
    """The innermost subterm that has no value at the model, and why."""

    term: Term
    why: str


@dataclass(frozen=True, slots=True)
class Undecided:
    """A subterm whose value or whose definedness couldn't be decided, and why."""

    term: Term
    why: str


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A polynomial in `x - center` whose coefficients may be indeterminate, divided by a power of
    `1 + (x - center)^2`."""

    center: Value
    coefficients: tuple[Value, ...]
    over: int = 0

    def __call__(self, x: Value) -> Value:
        step = sub(x, self.center)
        total = self.coefficients[-1]
        for c in reversed(self.coefficients[:-1]):
            total = add(mul(step, total), c)
        if self.over:
            below = add(scalar(1), mul(step, step))
            total = functions.divide(total, functions.integer_power(below, self.over))
        return total


@dataclass(frozen=True, slots=True)
class FamilyValue:
    """The members of a family."""

    members: Mapping[tuple[int, ...], Value]


MAX_BITS = 50_000  # of an exact number; what is larger is not evaluated

Found = Value | Truth | Partition | FunctionValue | FamilyValue
Result = Value | Truth | Partition | Undefined | Undecided
Environment = tuple[Any, ...]


def evaluate(term: Term, model: Model, precisions: Sequence[int] = PRECISIONS) -> Result:
    """The value of a closed term at a model.

    Args:
        term: an expression, a relation, a property or a quantified relation.
        model: values for all its names.
        precisions: bits of the balls, tried in turn until a decision is reached.

    Returns:
        A value for an expression; a `Truth` for a relation (UNKNOWN where nothing was decided);
        `Undefined` where a subterm has no value; `Undecided` for an expression whose definedness
        was not decided or that isn't supported.

    Raises:
        TypeProblem: shapes don't fit, or a name is unknown: the statement is ill-typed.
    """
    return Evaluation(model, precisions)(term)


def as_value(result: Result | FunctionValue | FamilyValue) -> Value | None:
    """The value that a result is, or None for a truth, a sigma-algebra or a failure."""
    return result if isinstance(result, (Matrix, Jet, Polynomial, Points)) else None


class Evaluation:
    """Evaluates several terms at one model; what they share is evaluated once."""

    def __init__(
        self,
        model: Model,
        precisions: Sequence[int] = PRECISIONS,
        given: Mapping[str, Found] | None = None,
    ) -> None:
        self.model = model
        self.precisions = precisions
        self.given = given or {}
        self._runs: dict[int, _Run] = {}

    def __call__(self, term: Term) -> Result:
        """The value of a term; see `evaluate`."""
        is_relation = term.op in RELATIONS | PROPERTIES or term.op in ("forall", "limit")
        result: Any = Undecided(term, "no precision was allowed")
        for bits in self.precisions:
            with precision(bits):
                run = self._run(bits)
                try:
                    result = run.value(term, ())
                except UndefinedHere as stop:
                    return Undefined(run.culprit or term, str(stop))
                except UndecidedHere as stop:
                    result = Undecided(run.culprit or term, str(stop))
                    if not stop.retry:
                        break
                    continue
            if result is not Truth.UNKNOWN:
                return result
        return Truth.UNKNOWN if is_relation else result

    def tends_to(self, relation: Term) -> Result | str:
        """What the left side of a limit tends to; in words where that is no number."""
        for bits in self.precisions:
            with precision(bits):
                try:
                    found = tends_to(relation.args[0], self._run(bits))
                except UndecidedHere:
                    continue
                if isinstance(found, int):
                    return "oo" if found > 0 else "-oo"
                return "no value for large x" if found is None else found
        return Undecided(relation, "a limit isn't decided")

    def declaration(self, declaration: Declaration) -> Undefined | Undecided | None:
        """What is wrong with the law of a Gaussian declaration at this model, if anything."""
        found = None
        for bits in self.precisions:
            with precision(bits):
                run = self._run(bits)
                try:
                    run.gaussian(declaration)
                    return None
                except UndefinedHere as stop:
                    return Undefined(run.culprit or declaration.type.args[-1], str(stop))
                except UndecidedHere as stop:
                    found = Undecided(run.culprit or declaration.type.args[-1], str(stop))
                    if not stop.retry:
                        break
        return found

    def _run(self, bits: int) -> _Run:
        run = self._runs.setdefault(bits, _Run(self.model, self.given))
        run.culprit = None
        return run


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """The balls' precision, set for a while."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def _is_huge(x: Matrix) -> bool:
    """Whether an exact matrix holds a number beyond the limit, as repeated squaring makes them."""
    parts = [x.re] if x.im is None else [x.re, x.im]
    return any(entry.height_bits() > MAX_BITS for part in parts for entry in part.entries())


# ---------------------------------------------------------------- the walk

_plans: dict[int, list[Term]] = {}


def _plan(root: Term) -> list[Term]:
    """What is evaluated for `root`, arguments first; bodies of binders and types are left out."""
    found = _plans.get(id(root))
    if found is not None:
        return found
    order: list[Term] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(_direct(node)))
    _plans[id(root)] = order
    return order


def _direct(node: Term) -> tuple[Term, ...]:
    """The arguments that are evaluated before a node is."""
    if node.op in ("bound", "forall"):
        return ()
    body = BINDING_ARGUMENT.get(node.op)
    if body is None:
        return node.args
    return node.args[:body] + node.args[body + 1 :]


class _Run:
    """One evaluation of terms at one model and one precision."""

    def __init__(self, model: Model, given: Mapping[str, Found]) -> None:
        self.model = model
        self.given = given
        self.space = Space(model.weights)
        self.closed: dict[int, Any] = {}
        self.culprit: Term | None = None
        self.gaussians: dict[str, Value] = {}
        self.levels = 0
        self.taylor = 1
        self.complex_bodies = 0
        self.indeterminates = FIRST_QUANTIFIED

    def value(self, root: Term, env: Environment) -> Any:
        """The value of a term whose free variables have these values, innermost first."""
        closed = self.closed
        here: dict[int, Any] = {}
        for node in _plan(root):
            memo = here if node.free else closed
            if id(node) in memo:
                continue
            try:
                memo[id(node)] = self.node(node, env, here)
            except (UndefinedHere, UndecidedHere):
                if self.culprit is None:
                    self.culprit = node
                raise
        return here[id(root)] if root.free else closed[id(root)]

    def node(self, node: Term, env: Environment, here: dict[int, Any]) -> Any:
        """The value of one node whose direct arguments are known."""
        op = node.op
        if op == "bound":
            return env[natural(node)]
        if op == "forall":
            return self.forall(node, env)
        args = [here[id(a)] if a.free else self.closed[id(a)] for a in _direct(node)]
        if self.complex_bodies and node.free and op in _NOT_HOLOMORPHIC:
            raise UndecidedHere(f"{op} isn't a holomorphic function")
        special = _SPECIAL.get(op)
        if special is not None:
            return special(self, node, env, args)
        rule = RULES.get(op)
        if rule is None:
            raise UndecidedHere(f"{op} can't be evaluated")
        for a in args:
            if type(a) is Points and op not in _SPREADS:
                return Points(
                    tuple(rule(*(v.at_point(x, i) for x in args)) for i in range(len(a.values)))
                )
        if op == "exp" and type(args[0]) is Polynomial:
            return self.space.exponential(args[0])
        found = rule(*args)
        if op in ("mul", "pow") and type(found) is Matrix and found.exact and _is_huge(found):
            raise UndecidedHere(f"numbers of more than {MAX_BITS} bits")
        return found

    def body(self, body: Term, env: Environment) -> Any:
        """The value of a binder's body, a relation's truth; `env` includes the bound variables."""
        return self.value(body, env)

    # ------------------------------------------------------------ leaves

    def name(self, node: Term, _env: Environment, _args: list) -> Found:
        name = str(node.data)
        if name in self.given:
            return self.given[name]
        found = self.model.values.get(name)
        if found is None:
            for declaration in self.model.declarations:
                if name in declaration.names and declaration.type.op == "gaussian_type":
                    self.gaussian(declaration)
                    return self.gaussians[name]
            raise TypeProblem(f"the model gives no value to {name!r}")
        if isinstance(found, Function):
            return FunctionValue(
                to_matrix(found.center), tuple(map(to_matrix, found.coefficients)), found.over
            )
        if isinstance(found, Family):
            return FamilyValue({k: to_matrix(m) for k, m in found.members.items()})
        if isinstance(found, Outcomes):
            return Points(tuple(to_matrix(x) for x in found.values))
        if isinstance(found, Partition):
            return found
        return self.model.matrix(name)

    def rational(self, node: Term, _env: Environment, _args: list) -> Value:
        top, _, bottom = str(node.data).partition("/")
        return scalar(fmpq(int(top), int(bottom or 1)))

    def constant(self, node: Term, _env: Environment, _args: list) -> Value:
        if node.data == "i":
            return functions.IMAGINARY_UNIT
        return v.ball(arb.pi() if node.data == "pi" else arb.const_e())

    def gaussian(self, declaration: Declaration) -> None:
        """Makes the random vectors of a Gaussian declaration: mean plus loadings on normals."""
        if declaration.names[0] in self.gaussians:
            return
        if self.space.weights:
            raise UndecidedHere("Gaussian names beside a finite probability space")
        *means, cov = [self.value(a, ()) for a in declaration.type.args]
        self.culprit = None
        heights = [v.shape(m)[0] for m in means]
        total = sum(heights)
        if type(cov) is not Matrix or any(type(m) is not Matrix for m in means):
            raise UndecidedHere("a Gaussian law with random parameters")
        if cov.shape != (total, total):
            raise TypeProblem(
                f"the covariance of {', '.join(declaration.names)} must be {total} by {total}"
            )
        stacked = v.assemble(len(means), 1, means)
        for weight, column in self._loadings(cov, declaration):
            variable = self.space.normal(weight)
            stacked = add(stacked, Polynomial({(variable,): column}))
        start = 0
        for name, height in zip(declaration.names, heights, strict=True):
            self.gaussians[name] = v.rearrange(
                height, 1, lambda i, _j, start=start: (start + i, 0), stacked
            )
            start += height

    def _loadings(self, cov: Matrix, declaration: Declaration) -> list[tuple[Matrix, Matrix]]:
        names = ", ".join(declaration.names)
        known = definite(cov, strict=False)
        if known is Truth.FALSE or cov.im is not None:
            self.culprit = declaration.type.args[-1]
            raise UndefinedHere(f"the covariance of {names} isn't positive semidefinite")
        if not cov.exact:
            if known is Truth.UNKNOWN or cov.shape != (1, 1):
                raise UndecidedHere(
                    f"whether the covariance of {names} is positive semidefinite isn't decided",
                    retry=True,
                )
            return [(cov, scalar(1))]
        factor = exact.definite_factor(cov.re)
        if factor is None:
            raise UndecidedHere(f"the covariance of {names} has no factor")
        return [
            (scalar(w), Matrix(fmpq_mat([[x] for x in column])))
            for w, column in zip(factor.weights, factor.columns, strict=True)
        ]

    # ------------------------------------------------------------ binders

    def sum(self, node: Term, env: Environment, args: list) -> Value:
        total: Value | None = None
        for k in self._range(args):
            part = self.body(node.args[2], (scalar(k), *env))
            total = part if total is None else add(total, part)
        return v.zeros(*self._shape_of(node.args[2])) if total is None else total

    def prod(self, node: Term, env: Environment, args: list) -> Value:
        total: Value | None = None
        for k in self._range(args):
            part = self.body(node.args[2], (scalar(k), *env))
            total = part if total is None else mul(total, part)
        return v.eye(self._shape_of(node.args[2])[0]) if total is None else total

    def _range(self, args: list) -> range:
        low, high = (integer(a) if type(a) is Matrix else None for a in args[:2])
        if low is None or high is None:
            raise UndecidedHere("the limits of a sum or product must be integers")
        if high - low >= MAX_RANGE:
            raise UndecidedHere("a sum or product is too long to evaluate")
        return range(low, high + 1)

    def _shape_of(self, body: Term) -> tuple[int, int]:
        """The shape of a body that is never evaluated, from its type."""
        from proofs.language.infer import Scope, infer

        found = infer(body, Scope.of(self.model.declarations))
        sizes = {n: x for n, x in self.model.values.items() if isinstance(x, int)}
        return found.rows.evaluate(sizes), found.cols.evaluate(sizes)

    def comprehension(self, node: Term, env: Environment, args: list) -> Value:
        count = whole(args[0])
        v.check_size(count, 1)
        parts = [self.body(node.args[1], (scalar(k), *env)) for k in range(1, count + 1)]
        return v.assemble(count, 1, parts)

    def deriv(self, node: Term, env: Environment, args: list) -> Value:
        order, body = natural(node), node.args[0]
        if v.shape(args[0]) != (1, 1):
            raise TypeProblem("diff is by a scalar; use grad")
        self._fixed_laws(node)
        with self._differentiating(body, order) as level:
            series = (scalar(0), scalar(1), *(scalar(0) for _ in range(order - 1)))
            result = self.body(body, (add(args[0], Jet(level, series)), *env))
        return mul(scalar(math.factorial(order)), v.taylor(result, level, order))

    def _fixed_laws(self, node: Term) -> None:
        """Refuses a derivative by a name that a Gaussian law in the body depends on.

        The body speaks of the law at the point, the reader may mean the law that moves with it.
        """
        laws = {
            n: d.type
            for d in self.model.declarations
            if d.type.op == "gaussian_type"
            for n in d.names
        }
        moving = names_in(node.args[1]) if laws else set()
        for used in (names_in(node.args[0]) & laws.keys()) if moving else ():
            if names_in(laws[used]) & moving:
                raise UndecidedHere(f"the law of {used} depends on what is differentiated by")

    def grad(self, node: Term, env: Environment, args: list) -> Value:
        self._fixed_laws(node)
        rows, cols = v.shape(args[0])
        out = []
        for i in range(rows):
            for j in range(cols):
                with self._differentiating(node.args[0], 1) as level:
                    unit = Matrix(
                        fmpq_mat(
                            rows,
                            cols,
                            [int((r, c) == (i, j)) for r in range(rows) for c in range(cols)],
                        )
                    )
                    moved = add(args[0], Jet(level, (v.zeros(rows, cols), unit)))
                    result = self.body(node.args[0], (moved, *env))
                if v.shape(result) != (1, 1):
                    raise TypeProblem("grad is of a scalar")
                out.append(v.taylor(result, level, 1))
        return v.assemble(rows, cols, out)

    def limit(self, node: Term, _env: Environment, args: list) -> Truth:
        """Whether the body tends to a number; what has no value for large x tends to nothing."""
        found = tends_to(node.args[0], self)
        self.culprit = None
        return equal(found, args[0]) if isinstance(found, Matrix) else Truth.FALSE

    @contextmanager
    def _differentiating(self, body: Term, order: int) -> Iterator[int]:
        if self.taylor * (order + 1) > MAX_TAYLOR:
            raise UndecidedHere("derivatives of so high an order aren't evaluated")
        before, complex_before = self.taylor, self.complex_bodies
        self.taylor *= order + 1
        self.complex_bodies += _binds_complex(body)
        self.levels += 1
        try:
            yield self.levels
        finally:
            self.taylor, self.complex_bodies = before, complex_before

    # ------------------------------------------------------------ functions and indices

    def apply(self, _node: Term, _env: Environment, args: list) -> Value:
        f, x = args
        if not isinstance(f, FunctionValue):
            raise TypeProblem("only a function can be applied")
        return f(x)

    def member(self, _node: Term, _env: Environment, args: list) -> Value:
        family, *indices = args
        if not isinstance(family, FamilyValue):
            raise TypeProblem("only a family has members")
        place = tuple(whole(x, "an index") for x in indices)
        if place not in family.members:
            raise UndefinedHere(f"there is no member {list(place)}")
        return family.members[place]

    def entry(self, _node: Term, _env: Environment, args: list) -> Value:
        x, *indices = args
        places = [whole(a, "an index") for a in indices]
        rows, cols = v.shape(x)
        if len(places) == 1:
            places = [places[0], 1] if cols == 1 else [1, places[0]]
            if cols != 1 and rows != 1:
                raise TypeProblem("a matrix has entries with two indices")
        i, j = places
        if not (1 <= i <= rows and 1 <= j <= cols):
            raise UndefinedHere(f"a {rows} by {cols} matrix has no entry {i}, {j}")
        return v.entry(x, i - 1, j - 1)

    def block(self, node: Term, _env: Environment, args: list) -> Value:
        rows, cols = pair(node)
        return v.assemble(rows, cols, args)

    # ------------------------------------------------------------ probability

    def expect(self, _node: Term, _env: Environment, args: list) -> Value:
        return self.space.expect(args[0])

    def expect_given(self, _node: Term, _env: Environment, args: list) -> Value:
        return self.space.expect_given(args[0], args[1:])

    def cov(self, _node: Term, _env: Environment, args: list) -> Value:
        return self.space.cov(*args)

    def cov_given(self, _node: Term, _env: Environment, args: list) -> Value:
        return self.space.cov_given(args[0], args[1], args[2:])

    def l2norm2(self, _node: Term, _env: Environment, args: list) -> Value:
        return self.space.l2norm2(args[0])

    def l2inner(self, _node: Term, _env: Environment, args: list) -> Value:
        return self.space.l2inner(*args)

    # ------------------------------------------------------------ quantifiers

    def forall(self, node: Term, env: Environment) -> Truth:
        """Indices are enumerated; identities in real or complex unknowns are decided as
        polynomial identities; anything else is refuted by samples or stays unknown."""
        count, conditions = pair(node)
        types = node.args[:count]
        ranges: list[list[Value] | None] = []
        for t in types:
            if t.op == "index_type":
                limit = whole(self.value(t.args[0], env))
                if limit > MAX_RANGE:
                    raise UndecidedHere("a quantifier's range is too long to evaluate")
                ranges.append([scalar(k) for k in range(1, limit + 1)])
            else:
                ranges.append(None)
        total = math.prod(len(r) for r in ranges if r is not None)
        if total > MAX_RANGE:
            raise UndecidedHere("a quantifier's range is too long to evaluate")
        clauses = node.args[count : count + conditions]
        outcome = []
        for chosen in product(*(r if r is not None else [None] for r in ranges)):
            found = self._instance(types, chosen, clauses, node.args[-1], env)
            if found is Truth.FALSE:
                return found
            outcome.append(found)
        return every(outcome)

    def _instance(
        self,
        types: Sequence[Term],
        chosen: Sequence[Any],
        clauses: Sequence[Term],
        relation: Term,
        env: Environment,
    ) -> Truth:
        if all(c is not None for c in chosen):
            return self._at(chosen, clauses, relation, env)
        for method in (self._identically, self._on_an_interval):
            exactly = method(types, chosen, clauses, relation, env)
            if exactly is not Truth.UNKNOWN:
                return exactly
        open_places = [k for k, c in enumerate(chosen) if c is None]
        for sample in product(
            *(samples(types[k], self._shape_of_type(types[k], env)) for k in open_places)
        ):
            values = list(chosen)
            for k, x in zip(open_places, sample, strict=True):
                values[k] = x
            try:
                if self._at(values, clauses, relation, env) is Truth.FALSE:
                    return Truth.FALSE
            except UndecidedHere:
                self.culprit = None
        return Truth.UNKNOWN

    def _at(
        self, values: Sequence[Any], clauses: Sequence[Term], relation: Term, env: Environment
    ) -> Truth:
        inner = (*reversed(values), *env)
        unknown = False
        for clause in clauses:
            found: Truth = self.body(clause, inner)
            if found is Truth.FALSE:
                return Truth.TRUE
            unknown |= found is Truth.UNKNOWN
        if unknown:
            return Truth.UNKNOWN
        return self.body(relation, inner)

    def _identically(
        self,
        types: Sequence[Term],
        chosen: Sequence[Any],
        clauses: Sequence[Term],
        relation: Term,
        env: Environment,
    ) -> Truth:
        """Decides `for all unknowns with linear equations: an equation of polynomials`, and an
        inequality between polynomials of degree 2 at most."""
        if relation.op not in ("eq", "ge", "gt", "le", "lt") or any(c.op != "eq" for c in clauses):
            return Truth.UNKNOWN
        try:
            values, unknowns = list(chosen), []
            for k, t in enumerate(types):
                if chosen[k] is None:
                    values[k], fresh = self._indeterminate(t, env)
                    unknowns += fresh
            rows, right = [], []
            for clause in clauses:
                inner = (*reversed(values), *env)
                gap = sub(*(self.body(side, inner) for side in clause.args))
                system = linear_system(gap, unknowns)
                if system is None:
                    return Truth.UNKNOWN
                rows += system[0]
                right += system[1]
            if rows:
                solution = exact.solve(fmpq_mat(rows), right)
                if solution is None:
                    return Truth.TRUE  # nothing satisfies the conditions
                values = [
                    x if chosen[k] is not None else along(x, unknowns, solution)
                    for k, x in enumerate(values)
                ]
            inner = (*reversed(values), *env)
            left, right_side = (self.body(side, inner) for side in relation.args)
            if relation.op == "eq":
                return equal(left, right_side)
            if relation.op in ("le", "lt"):
                left, right_side = right_side, left
            return nonnegative(sub(left, right_side), strict=relation.op in ("gt", "lt"))
        except UndecidedHere:
            self.culprit = None
            return Truth.UNKNOWN

    def _on_an_interval(
        self,
        types: Sequence[Term],
        chosen: Sequence[Any],
        clauses: Sequence[Term],
        relation: Term,
        env: Environment,
    ) -> Truth:
        """Decides an inequality between polynomials in one real unknown, where inequalities keep
        it in an interval."""
        kinds = {r.op for r in (*clauses, relation)}
        if len(types) > 1 or types[0].op != "real_type" or not kinds <= {"ge", "gt", "le", "lt"}:
            return Truth.UNKNOWN
        try:
            value, (unknown,) = self._indeterminate(types[0], env)
            gaps = []
            for r in clauses:
                sides = [self.body(side, (value, *env)) for side in r.args]
                small, large = sides if r.op in ("le", "lt") else sides[::-1]
                gaps.append((univariate(sub(large, small), unknown), r.op in ("gt", "lt")))
            interval = where(gaps)
            return Truth.of(interval is None or self._everywhere(relation, interval, env))
        except (UndecidedHere, UndefinedHere):
            self.culprit = None
            return Truth.UNKNOWN

    def _everywhere(self, relation: Term, interval: Interval, env: Environment) -> bool:
        """Whether an inequality between rational functions holds at all points of an interval.

        Raises:
            UndecidedHere: a side is no rational function, or may have no value at some point.
        """
        strict = relation.op in ("gt", "lt")
        small, large = relation.args if relation.op in ("le", "lt") else relation.args[::-1]
        value, (unknown,) = self._indeterminate(made("real_type"), env)
        try:
            gap = sub(*(self.body(side, (value, *env)) for side in (large, small)))
            return nonnegative_on(univariate(gap, unknown), interval, strict)
        except UndecidedHere:
            self.culprit = None
        if env:
            raise UndecidedHere("quantifiers in each other")
        ratio, divisors = rational(made("sub", large, small), self)
        for p in divisors:
            ends = (interval.low, interval.high)
            if p == 0 or any(end is not None and p(end) == 0 for end in ends):
                raise UndecidedHere("division by zero at an end")
            if p.degree() > 0 and roots_inside(p, interval):
                raise UndecidedHere("division by zero in an interval")
        return nonnegative_on(ratio.top * ratio.bottom, interval, strict)

    def _shape_of_type(self, type_: Term, env: Environment) -> tuple[int, int]:
        if type_.op not in ("matrix_type", "complex_matrix_type"):
            return 1, 1
        rows, cols = type_.args
        return whole(self.value(rows, env)), whole(self.value(cols, env))

    def _indeterminate(self, type_: Term, env: Environment) -> tuple[Value, list[int]]:
        if type_.op not in ("matrix_type", "complex_matrix_type", "real_type", "complex_type"):
            raise UndecidedHere("a quantifier over such values can't be decided")
        rows, cols = self._shape_of_type(type_, env)
        start = self.indeterminates
        made, self.indeterminates = indeterminate(
            rows, cols, start, is_complex=type_.op.startswith("complex")
        )
        return made, list(range(start, self.indeterminates))


_SPREADS = frozenset(RELATIONS)  # these look at all points of a random quantity at once
_NOT_HOLOMORPHIC = frozenset({"conj", "adjoint", "norm2", "abs", "pinv"})
_SPECIAL: dict[str, Callable[[_Run, Term, Environment, list], Any]] = {
    op: getattr(_Run, op)
    for op in (
        "name",
        "rational",
        "constant",
        "sum",
        "prod",
        "comprehension",
        "deriv",
        "grad",
        "limit",
        "apply",
        "member",
        "entry",
        "block",
        "expect",
        "expect_given",
        "cov",
        "cov_given",
        "l2norm2",
        "l2inner",
    )
}


_complex_bodies: dict[int, bool] = {}


def _binds_complex(body: Term) -> bool:
    """Whether the variable that a body binds is complex, by the type that it carries."""
    found = _complex_bodies.get(id(body))
    if found is None:
        found = False
        seen: set[tuple[int, int]] = set()
        stack = [(body, 0)]
        while stack and not found:
            node, depth = stack.pop()
            if (id(node), depth) in seen or node.free <= depth:
                continue
            seen.add((id(node), depth))
            if node.op == "bound":
                found = node.data == depth and node.args[0].op.startswith("complex")
            else:
                stack.extend(
                    (a, depth + binders_at(node.op, node.data, i)) for i, a in enumerate(node.args)
                )
        _complex_bodies[id(body)] = found
    return found
