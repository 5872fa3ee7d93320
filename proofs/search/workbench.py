"""Untrusted. A proof under construction, driven through the judge's own steps.

Each step is taken by the judge as it is found, so the search never believes what the checker
would not. The finished list of steps is pruned to those that the goal leans on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from proofs.checker.algebra import Poly, TooLarge
from proofs.checker.definedness import NotDefined
from proofs.checker.facts import Fact, Facts, declared_facts, leaning
from proofs.checker.judge import Judge, Rejected
from proofs.checker.lowering import L2
from proofs.checker.rules import find_rule
from proofs.language.effort import limited
from proofs.language.errors import StatementError
from proofs.language.infer import Scope, infer
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    bound,
    instantiate,
    name,
    pair,
    postorder,
    rational,
    substitute,
    term,
)
from proofs.search.ideal import Ideal, Relation, merged
from proofs.search.ideal import Term as Part
from proofs.search.raising import NoTerm, Raising, size_term, size_terms

Step = dict[str, Any]
MAX_KEPT = 250  # relations of an ideal that is used again, with what completion has added
LEARNING = 50_000  # elementary operations of the algebra for one term
ARITHMETIC = -1  # in place of a fact: the relation compares numbers


@dataclass(slots=True)
class Kept:
    """An ideal that is used again, with the equations in it by place."""

    ideal: Ideal
    cuts: tuple[str, ...]  # the partitions by which equations are cut into blocks
    included: set[int] = field(default_factory=set)
    state: tuple[int, ...] = ()  # of the workbench when it was last brought up to date
    roots: tuple[Term, ...] = ()

    @property
    def is_fresh(self) -> bool:
        """Whether it is of use: not too long, and with the weights by which it was made."""
        return len(self.ideal.relations) <= MAX_KEPT and not self.ideal.is_stale


class Stuck(Exception):
    """A relation that this search could not establish."""

    def __init__(self, relation: Term) -> None:
        super().__init__("not established")
        self.relation = relation


class _Recording(Facts):
    """Facts that note which of them a step leans on without citing."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.touched: set[int] = set()

        self._places: dict[int, int] = {}  # of facts, by identity

    def add(self, fact: Fact) -> None:
        self._places[id(fact)] = len(self.facts)
        super().add(fact)

    def find(self, relation: Term) -> Fact | None:
        found = super().find(relation)
        place = self.place_of(found)
        if place is not None:
            self.touched.add(place)
        return found

    def place_of(self, fact: Fact | None) -> int | None:
        return self._places.get(id(fact))

    def copy(self, scope: Scope | None = None) -> _Recording:
        inner = _Recording(scope or self.scope)
        inner.facts, inner._by_key = list(self.facts), dict(self._by_key)
        if scope is None:
            inner.lowering = self.lowering
        inner._places = dict(self._places)
        inner.touched = self.touched
        return inner


class Workbench:
    """Steps so far, and the means to take more."""

    def __init__(
        self,
        statement: Statement,
        tick: Callable[[], None],
        lemmas: Mapping[str, Statement] | None = None,
    ) -> None:
        self.statement = statement
        self.tick = tick  # called all the time; raises OutOfTime
        self.judge = Judge(statement, lemmas or {})
        self.facts: _Recording = _Recording(self.judge.facts.scope)
        self.judge.facts = self.facts
        self.given = len(self.judge.nodes)
        self.places = {n: i for i, n in enumerate(self.judge.nodes)}
        self.steps: list[Step] = []
        self.leans: list[set[int]] = []
        self.depth = 0
        self.inductions = 0  # that are under way
        self.expanding = 0  # sums whose terms are under way
        self.cases = 0  # that this is inside of
        self.sums = 0  # that are shown term by term
        self.supposed: tuple[Term, ...] = ()  # by the sub-proofs that this is inside of
        self.slopes = 0  # derivatives whose sign is under way
        self.level = 0  # how many relations are under way, each on the way to the one before
        # Semidefinite programs set up, orders split, ranges cut; in sub-proofs too.
        self.programs = [0, 0, 0]
        self.raising = Raising(self.facts.lowering)
        self.instanced: set[object] = set()  # terms and relations whose instances have been taken
        self.gathered: set[object] = set()  # states in which there are no further instances
        self.failed: set[object] = set()  # keys of relations that are not to be tried again
        self.aside: set[int] = set()  # places of equations that others have taken in
        # Monomials as products of known inequalities and a square, with the state of then.
        self.monomials: dict[object, tuple[tuple[int, ...], Any]] = {}
        # Ideals of known equations, completed as far as they were needed: see `equations`.
        self.ideals: dict[Term | None, Kept] = {}
        for root in statement.roots():
            self.learn(root)

    @property
    def state(self) -> tuple[int, ...]:
        """Grows with what is known and with what has been tried."""
        known, tried = (len(self.facts.facts), len(self.aside)), (self.failed, self.instanced)
        return (*known, len(self.raising.atoms), len(self.raising.letters), *map(len, tried))

    # ------------------------------------------------------------ steps

    def learn(self, root: Term) -> None:
        """Let the raising know the terms under `root`, as far as the algebra can lower them."""
        if self.raising.knows(root):
            return
        self.tick()
        try:
            with limited(LEARNING):
                self.raising.learn(root)
        except (TooLarge, NoTerm, StatementError):
            pass

    def place(self, node: Term) -> int:
        """The place of a term in the table, added where it is new."""
        for n in postorder([node], self.places):
            self.places[n] = len(self.judge.nodes)
            self.judge.nodes.append(n)
        return self.places[node]

    def take(self, step: Step) -> int | None:
        """Take a step; the place of its fact, or None where the judge rejects it."""
        self.tick()
        self.judge.count = 0  # the limit is for certificates, not for attempts
        before = self.facts.touched
        self.facts.touched = set()
        try:
            self.judge.step(step, self.facts, self.depth)
        except Rejected:
            return None
        finally:
            touched, self.facts.touched = self.facts.touched, before
        self.steps.append(step)
        self.leans.append(touched | _cited(step))
        self.learn(self.facts.facts[-1].relation)
        return len(self.facts.facts) - 1

    def declare_all(self) -> None:
        """Take what the declarations say of the sign or range of their names."""
        for declaration in self.judge.declarations:
            if declaration.type.op != "gaussian_type":
                for n in declaration.names:
                    for i, relation in enumerate(
                        declared_facts(Declaration((n,), declaration.type))
                    ):
                        if self.find(relation) is None:
                            self.take({"rule": "declared", "name": n, "fact": i})

    def find(self, relation: Term) -> int | None:
        """The place of a fact that gives this relation, ARITHMETIC where none is needed."""
        try:
            fact = self.facts.find(relation)
        except (TooLarge, StatementError):
            return None
        place = self.facts.place_of(fact)
        return ARITHMETIC if fact is not None and place is None else place

    def stated(self, relation: Term, place: int) -> int:
        """The place of exactly this relation, given a fact that implies it or arithmetic."""
        fact = None if place == ARITHMETIC else self.facts.facts[place]
        if fact is not None and self.facts.key(fact.relation) == self.facts.key(relation):
            return place
        if relation.op == "eq":
            found = self.take({"rule": "combine", "goal": self.place(relation), "terms": []})
        elif relation.op in ("gt", "ge", "lt", "le"):
            value = self.facts.difference(relation).constant
            terms = [[str(abs(value or 0)), [], None]] if fact is None else [["1", [place], None]]
            rows: list[Any] = []
            if fact is not None and fact.relation.op == "eq":  # x >= y from x = y
                up = self.facts.difference(relation)
                up = -up if relation.op in ("lt", "le") else up
                same = self.facts.difference(fact.relation) == up
                terms, rows = [], [[None if same else self.place(rational(-1)), place, None, ""]]
            found = self.positive(relation, terms, rows)
        else:
            return place
        if found is None:
            raise Stuck(relation)
        return found

    def positive(
        self, goal: Term, terms: Sequence[object], equations: Sequence[object] = ()
    ) -> int | None:
        """An inequality as a sum of terms `[coefficient, facts, root]` and rows of equations."""
        step = {"rule": "positive", "goal": self.place(goal)}
        return self.take(step | {"terms": list(terms), "equations": list(equations)})

    def closed(self, goal: Term, terms: list[Any], gap: Poly, ideal: Ideal) -> int | None:
        """The same, where the terms leave a gap that the known equations close."""
        rest, used = ideal.reduce(gap)
        return None if rest.terms else self.positive(goal, terms, self.rows(used))

    def sided(self, relation: Term, place: int) -> int | None:
        """The place of an equation with just these sides, for a context; `place` gives it."""
        terms: list[Any] = []
        if place != ARITHMETIC:
            known = self.facts.facts[place].relation
            if known is relation:
                return place
            same = self.facts.difference(known) == self.facts.difference(relation)
            terms = [[None if same else self.place(rational(-1)), place, None, ""]]
        return self.take({"rule": "combine", "goal": self.place(relation), "terms": terms})

    def schema(self, rule: str, **values: Term) -> int | None:
        """An instance of a rule, once what it requires is established; None where it isn't."""
        statement = find_rule(rule)
        if statement is None:
            raise KeyError(rule)
        return self._instance(statement, {"rule": "schema", "name": rule}, values)

    def lemma(self, hash_: str, /, **values: Term) -> int | None:
        """The same for a lemma."""
        return self._instance(
            self.judge.lemmas[hash_], {"rule": "lemma", "statement": hash_}, values
        )

    def _instance(self, statement: Statement, step: Step, values: dict[str, Term]) -> int | None:
        try:
            instance = self.judge.instance(statement, values, self.facts)
            for root in (*instance.terms, *instance.requirements, instance.conclusion):
                self.learn(root)
            found = self.find(instance.conclusion)
            if found is not None:
                return found
            for root in (*instance.terms, *instance.requirements, instance.conclusion):
                self.define(root)
            by = [self.establish(r) for r in instance.requirements]
            by = [None if p == ARITHMETIC else p for p in by]
        except (StatementError, NotDefined, TooLarge, Stuck):
            return None
        subst = {n: self.place(v) for n, v in values.items()}
        return self.take({**step, "subst": subst, "by": by})

    def define(self, root: Term) -> None:
        """Establish the conditions under which a term is defined.

        Raises:
            Stuck: one of them resists.
            NotDefined: the checker can't state one.
        """
        for condition in reversed(self.facts.conditions(root)):
            if self.facts.find(condition) is None:
                self.establish(condition)

    def establish(self, relation: Term) -> int:
        """The place of a fact that gives `relation`, or ARITHMETIC.

        Raises:
            Stuck: nothing that this search knows shows it.
        """
        from proofs.search.conditions import establish  # the two call each other

        return establish(self, relation)

    def attempt(self, relation: Term) -> int | None:
        """Like `establish`, with None for a failure."""
        try:
            return self.establish(relation)
        except Stuck:
            return None

    @contextmanager
    def from_the_top(self) -> Iterator[None]:
        """A relation that stands for the one under way gets as much effort as that."""
        level, self.level = self.level, 0
        try:
            yield
        finally:
            self.level = level

    def speaks_of(self, op: str) -> bool:
        """Whether the goal holds such an operation."""
        return any(n.op == op for n in postorder([self.statement.goal]))

    def is_given(self, a: Term) -> bool:
        """Whether a term stands in the statement itself, up to the normal form."""
        nodes = [n for n in self.judge.nodes[: self.given] if n.op == a.op and not n.free]
        try:
            key = self.facts.lowering.lower(a).key if nodes else ""
            return any(n is a or self.facts.lowering.lower(n).key == key for n in nodes)
        except (TooLarge, StatementError):
            return False

    def size(self, a: Term) -> Term:
        """The number of rows of a matrix."""
        return size_term(infer(a, self.facts.scope).rows)

    def sizes(self, a: Term) -> dict[str, Term]:
        """The shape of a matrix, as the names n and k of a rule."""
        return size_terms(infer(a, self.facts.scope))

    def congruence(self, place: int, context: Term) -> int | None:
        """Put both sides of an equation into a context, a term with bound variable 0."""
        try:
            for side in self.facts.facts[place].relation.args:
                self.define(instantiate(context, (side,)))
        except (Stuck, NotDefined, StatementError):
            return None
        return self.take({"rule": "congruence", "fact": place, "context": self.place(context)})

    def by_hypothesis(self, function: str, a: Term) -> None:
        """f(a) = f(b) for each b that a hypothesis says a is equal to."""
        for relation in self.statement.hypotheses:
            place = self.find(relation) if relation.op == "eq" and a in relation.args else None
            if place is None or place == ARITHMETIC or relation.args[0].op == relation.args[1].op:
                continue
            kind = infer(a, self.facts.scope)
            type_ = "complex_matrix_type" if kind.is_complex else "matrix_type"
            hole = bound(0, term(type_, size_term(kind.rows), size_term(kind.cols)))
            self.congruence(place, term(function, hole))

    # ------------------------------------------------------------ combinations

    def combine(self, goal: Term, ideal: Ideal, used: list[Any]) -> int | None:
        """Write a sum of left x relation x right down as a step, its relations first."""
        try:
            rows = self.rows(merged(used))
            self.define(goal)
        except (NoTerm, Stuck, NotDefined, TooLarge):
            return None
        return self.take({"rule": "combine", "goal": self.place(goal), "terms": rows})

    def rows(self, parts: list[Any]) -> list[Any]:
        """The terms of a combination as rows of a step."""
        from proofs.search.contexts import closed  # the two call each other

        return [self._fact_row(t) for t in closed(self, parts)]

    def _fact_row(self, t: Any) -> list[Any]:
        """A row that cites the fact itself where its relation is a fact transposed, or a multiple
        of one between numbers."""
        first = t.relation.made_of[0] if len(t.relation.made_of) == 1 else None
        if first is not None and t.mode == "" and first.right is None:
            if first.left is None:
                t = Part(t.left, first.relation, t.right, first.mode)
            elif first.mode == "" and t.relation.value.is_scalar and first.left.constant:
                left = first.left if t.left is None else t.left * first.left
                t = Part(left, first.relation, t.right, first.mode)
        return self._row(t, self.materialized(t.relation))

    def _row(self, t: Any, fact: int) -> list[Any]:
        def factor(value: Poly | None) -> int | None:
            if value is None:
                return None
            node = self.raising.poly(value)
            self.define(node)
            return self.place(node)

        if t.mode == "tr" and t.relation.value.cols == L2:  # a random vector, in an inner product
            return [factor(t.left), fact, factor(t.right.T), "inner"]
        return [factor(t.left), fact, factor(t.right), t.mode]

    def materialized(self, relation: Relation) -> int:
        """The place of a relation as a fact, with a step of its own where it is a consequence."""
        if relation.fact is not None:
            return relation.fact
        first = relation.made_of[0]
        if (
            len(relation.made_of) == 1
            and first.left is None
            and first.right is None
            and first.mode == ""
        ):
            relation.fact = self.materialized(first.relation)
            return relation.fact
        zero = self.raising.poly(Poly(relation.value.rows, relation.value.cols, {}))
        goal = term("eq", self.raising.poly(relation.value), zero)
        self.define(goal)
        rows = self.rows(merged(relation.made_of))
        place = self.take({"rule": "combine", "goal": self.place(goal), "terms": rows})
        if place is None:
            raise Stuck(goal)
        relation.fact = place
        return place

    # ------------------------------------------------------------ sub-proofs

    def fresh(self, count: int) -> tuple[str, ...]:
        """Names that nothing has."""
        taken = {n for d in self.judge.declarations for n in d.names}
        found: list[str] = []
        for i in range(1000):
            candidate = f"{'jkuv'[i % 4]}{i // 4 or ''}"
            if candidate not in taken and len(found) < count:
                found.append(candidate)
        return tuple(found)

    @contextmanager
    def inside(
        self, names: tuple[str, ...], types: tuple[Term, ...], where: tuple[Term, ...] = ()
    ) -> Iterator[Workbench]:
        """A workbench with further names, for a sub-proof that speaks of them and supposes what
        is said of them.

        Raises:
            NotDefined: one of the conditions is not.
        """
        inner = Workbench.__new__(Workbench)
        inner.__dict__.update(self.__dict__)
        outer = self.judge.declarations
        fresh = (Declaration((n,), t) for n, t in zip(names, types, strict=True))
        self.judge.declarations = [*outer, *fresh]
        inner.facts = self.facts.copy(Scope.of(tuple(self.judge.declarations)))
        inner.steps, inner.leans, inner.depth = [], [], self.depth + 1
        inner.raising = Raising(inner.facts.lowering)
        # What is under way outside is not started again inside.
        inner.failed, inner.instanced, inner.ideals = set(self.failed), set(), {}
        inner.gathered = set()
        inner.aside = set(self.aside)
        inner.monomials = {}
        for root in (*self.statement.roots(), *(f.relation for f in self.facts.facts)):
            inner.learn(root)
        try:
            inner._suppose(where)
            inner.declare_all()
            yield inner
        finally:
            self.judge.declarations = outer

    def for_all(
        self,
        names: tuple[str, ...],
        types: tuple[Term, ...],
        goal: Term,
        where: tuple[Term, ...] = (),
    ) -> int | None:
        """Prove a relation for fresh names, where conditions on them hold, and quantify it."""
        try:
            with self.inside(names, types, where) as inner:
                inner.learn(goal)
                inner.speak_of(names, types)
                place = inner.establish(goal)
                if place == ARITHMETIC:  # a step of its own, for which the sides must be defined
                    inner.define(goal)
                inner.stated(goal, place)
                inner.define(goal)
        except (Stuck, NotDefined):
            return None
        return self.take(
            {
                "rule": "forall",
                "names": list(names),
                "types": [self.place(t) for t in types],
                "where": [self.place(r) for r in where],
                "steps": inner.steps,
                "goal": self.place(goal),
            }
        )

    def speak_of(self, names: tuple[str, ...], types: tuple[Term, ...]) -> None:
        """What is known for all values of a type, for the fresh names of this type."""
        for place, fact in enumerate(list(self.facts.facts)):
            if fact.relation.op != "forall" or pair(fact.relation) != (1, 0):
                continue
            for n, type_ in zip(names, types, strict=True):
                if type_ is fact.relation.args[0]:
                    at = [self.place(name(n))]
                    self.take({"rule": "instantiate", "fact": place, "terms": at, "by": []})

    def _suppose(self, conditions: tuple[Term, ...]) -> None:
        """Take conditions as facts of a sub-proof, before its steps, as the checker does."""
        self.supposed = (*self.supposed, *conditions)
        for relation in conditions:
            known = self.facts.defined(relation)
            self.facts.add(leaning([known], relation))
            self.learn(relation)

    def induct(self, goal: Term, q: str, at: Term) -> int | None:
        """Prove goal(at), which speaks of a dimension q, from goal(1) and the step to q + 1."""
        start = substitute(goal, {q: rational(1)})
        after = substitute(goal, {q: term("add", name(q), rational(1))})
        try:
            self.define(start)
            self.stated(start, self.establish(start))
            with self.inside((q,), (term("dimension_type"),), (goal,)) as inner:
                inner.inductions += 1
                inner.learn(after)
                inner.stated(after, inner.establish(after))
            self.define(substitute(goal, {q: at}))
        except (Stuck, NotDefined, StatementError):
            return None
        places = {"goal": self.place(goal), "at": self.place(at)}
        return self.take({"rule": "induct", "name": q, **places, "steps": inner.steps})


def _cited(step: Step) -> set[int]:
    """The places of facts that a step names, those outside of its sub-proofs included."""
    found: set[int] = set()
    if "fact" in step and step["rule"] != "declared":
        found.add(step["fact"])
    found.update(p for p in step.get("by", ()) if p is not None)
    for row in step.get("terms", ()):
        if step["rule"] == "combine":
            found.add(row[1])
        elif step["rule"] == "positive":
            found.update(row[1])
    for row in step.get("equations", ()):
        found.add(row[1])
    for steps in (step.get("steps", ()), *step.get("branches", ())):
        for inner in steps:
            found |= _cited(inner)
    return found
