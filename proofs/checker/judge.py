"""Trusted. Accepts or rejects a certificate for a statement, step by step.

A step establishes one fact from earlier ones. The whole list of steps:

    hypothesis   a hypothesis of the statement, once it is defined under those before it
    declared     what a declaration says (`x > 0`; mean and covariance of a Gaussian)
    schema       an instance of a rule of `rules.thm`
    lemma        an instance of another theorem
    combine      an equation as a sum of coefficient x left x (earlier equation) x right
    positive     an inequality as a sum of products of earlier ones, squares and equations
    congruence   equals put in place of equals in a context
    forall       a relation for fresh names, where conditions on them hold, quantified
    induct       a relation for a dimension, from that for 1 and from each to the next
    instantiate  a quantified fact at given terms
    gradient     grad(f, X) = G, from the derivatives of f along all directions
    ball         an inequality between functions of numbers that known bounds keep in a box
    cases        a relation shown where a real number is negative, zero and positive

Whatever is established is also defined: each condition is among the facts before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs.checker.algebra import Poly, number
from proofs.checker.definedness import ZERO, is_total
from proofs.checker.facts import Fact, Facts, declared_facts, duties, leaning
from proofs.checker.lowering import L2, as_random
from proofs.checker.rules import Instance, admits, find_rule, instance_of
from proofs.language.effort import limited
from proofs.language.infer import Scope, infer, size_of, type_from
from proofs.language.infer import check as check_types
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    abstract,
    bound,
    decode_nodes,
    instantiate,
    is_canonical_rational,
    name,
    pair,
    postorder,
    rational,
    substitute,
    term,
)
from proofs.language.types import Kind

MAX_STEPS = 20_000
MAX_DEPTH = 20
MAX_WORK = 1_000_000  # elementary operations: some seconds
# Whatever is wrong with a statement, a term or a polynomial is a ValueError of some class.
PROBLEMS = (ValueError, RecursionError)


class Rejected(ValueError):
    """A certificate that doesn't prove its statement; says at which step and why."""

    def __init__(self, message: str, step: int | None = None) -> None:
        super().__init__(message if step is None else f"step {step}: {message}")
        self.step = step


@dataclass(frozen=True, slots=True)
class Report:
    """What an accepted proof leans on."""

    rules: frozenset[str]
    lemmas: frozenset[str]
    hypotheses_used: frozenset[int]
    steps: int


def check(
    statement: Statement, certificate: object, lemmas: Mapping[str, Statement] | None = None
) -> Report:
    """Check that `certificate` proves `statement`.

    Args:
        statement: the statement as it was read.
        certificate: decoded JSON, `{"statement": hash, "nodes": rows, "steps": [...]}`.
        lemmas: statements that may be cited, by hash; that they are theorems, and that citations
            run in no circle, is for the caller to see.

    Raises:
        Rejected: the certificate is not a proof of this statement.
    """
    try:
        body = _table(certificate, {"statement", "nodes", "steps"})
        if body["statement"] != statement.hash:
            raise Rejected("this certificate belongs to another statement")
        with limited(MAX_WORK):
            judge = Judge(statement, lemmas or {})
            judge.nodes = decode_nodes(body["nodes"], judge.nodes)
            judge.run(body["steps"], judge.facts, 0)
            return judge.report()
    except PROBLEMS as error:
        raise error if isinstance(error, Rejected) else Rejected(str(error)) from None


class Judge:
    """The state of one check: the facts so far and the table of terms that steps point into."""

    def __init__(self, statement: Statement, lemmas: Mapping[str, Statement]) -> None:
        scope = Scope.of(statement.declarations)
        check_types(statement, scope=scope)
        self.statement = statement
        self.lemmas = {h: s for h, s in lemmas.items() if h == s.hash != statement.hash}
        self.nodes = postorder(statement.roots())
        self.declarations = list(statement.declarations)
        self.introduced: list[Fact] = []  # that hypotheses are defined, in the order of the file
        self.count = 0
        self.facts = Facts(scope)

    def report(self) -> Report:
        """The goal and all definedness must be among the facts."""
        statement, facts = self.statement, self.facts
        if len(self.introduced) != len(statement.hypotheses):
            raise Rejected("not every hypothesis was shown to be defined")
        found = [facts.defined(statement.goal)]
        found += [
            facts.defined(parameter)
            for declaration in statement.declarations
            if declaration.type.op == "gaussian_type"
            for parameter in declaration.type.args
        ]
        for relation in (*duties(statement), statement.goal):
            what = "the goal" if relation is statement.goal else "what a covariance must be"
            found.append(_known(relation, facts, f"the steps don't establish {what}"))
        cited = frozenset[str]().union(*(f.cited for f in (*found, *self.introduced)))
        return Report(
            rules=frozenset(c for c in cited if not c.startswith("sha256:")),
            lemmas=frozenset(c for c in cited if c.startswith("sha256:")),
            hypotheses_used=frozenset[int]().union(*(f.hypotheses for f in found)),
            steps=self.count,
        )

    # ------------------------------------------------------------ steps

    def run(self, steps: object, facts: Facts, depth: int) -> None:
        if not isinstance(steps, list) or depth > MAX_DEPTH:
            raise Rejected("steps must be a list, nested no deeper than the limit")
        for step in steps:
            self.step(step, facts, depth)

    def step(self, step: object, facts: Facts, depth: int) -> None:
        """Take one step: add the fact that it establishes, or reject it."""
        self.count += 1
        place = len(facts.facts)
        if self.count > MAX_STEPS:
            raise Rejected(f"more than {MAX_STEPS} steps")
        table: dict[str, Any] = step if isinstance(step, dict) else {}
        rule = table.get("rule")
        method = STEPS.get(rule) if isinstance(rule, str) else None
        if method is None:
            raise Rejected("a step must be an object with a rule that is known", place)
        try:
            facts.add(method(self, table, facts, depth))
        except PROBLEMS as error:
            placed = isinstance(error, Rejected) and error.step is not None
            raise error if placed else Rejected(str(error), place) from None

    def hypothesis(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        body = _table(step, {"rule", "index"})
        index = _place(body["index"], len(self.statement.hypotheses))
        if depth or index != len(self.introduced):
            raise Rejected("hypotheses come in the order of the file, outside of sub-proofs")
        relation = self.statement.hypotheses[index]
        known = facts.defined(relation)
        self.introduced.append(known)
        return Fact(relation, known.hypotheses | {index}, known.cited)

    def declared(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        body = _table(step, {"rule", "name", "fact"})
        for declaration in self.declarations:
            if body["name"] in declaration.names:
                found = declared_facts(declaration, self.declarations)
                number_ = _place(body["fact"], len(found))
                if declaration.type.op != "gaussian_type":
                    return Fact(found[number_])
                duty = term("positive_semidefinite", declaration.type.args[-1])
                known = _known(duty, facts, "first show that the covariance is semidefinite")
                return leaning([known, facts.defined(found[number_])], found[number_])
        raise Rejected(f"{body['name']!r} is not declared")

    def schema(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        body = _table(step, {"rule", "name", "subst", "by"})
        rule = find_rule(body["name"]) if isinstance(body["name"], str) else None
        if rule is None:
            raise Rejected(f"no rule is called {body['name']!r}")
        return self._instance(rule, body["name"], body, facts)

    def lemma(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        body = _table(step, {"rule", "statement", "subst", "by"})
        hash_ = body["statement"]
        lemma = self.lemmas.get(hash_) if isinstance(hash_, str) else None
        if lemma is None:
            raise Rejected(f"no theorem has the hash {hash_!r}")
        roots = (*lemma.hypotheses, lemma.goal)
        if isinstance(body["subst"], dict) and any(r.op == "limit" for r in roots):
            # A limit doesn't ask for its function to be defined, and a theorem's functions are.
            functions = [d.names[0] for d in lemma.declarations if d.type.op == "function_type"]
            for n in functions:
                if not is_total(self._term(body["subst"].get(n), free=1)):
                    raise Rejected("a theorem about limits is for functions defined everywhere")
        return self._instance(lemma, hash_, body, facts)

    def _instance(self, rule: Statement, cited: str, body: dict[str, Any], facts: Facts) -> Fact:
        if not isinstance(body["subst"], dict):
            raise Rejected("subst must map the rule's names to terms")
        values = {str(k): self._term(v, free=1) for k, v in body["subst"].items()}
        instance = self.instance(rule, values, facts)
        return self._discharge(instance, body["by"], facts, cited)

    def instance(self, rule: Statement, values: dict[str, Term], facts: Facts) -> Instance:
        """The instance of a rule, made once in a scope."""
        key = (rule, *values.items())
        known = facts.instances.get(key)
        if known is None:
            known = facts.instances[key] = instance_of(rule, values, facts.scope)
        return known

    def _discharge(self, instance: Instance, by: object, facts: Facts, cited: str) -> Fact:
        """The conclusion, once each requirement is met by the fact that is cited for it."""
        places = _list(by)
        if len(places) != len(instance.requirements):
            raise Rejected(f"{len(instance.requirements)} requirements, {len(places)} facts cited")
        used = []
        for requirement, place in zip(instance.requirements, places, strict=True):
            fact = facts.find(requirement) if place is None else self._cited([place], facts)[0]
            if fact is None or (place is not None and not facts.gives(fact, requirement)):
                raise Rejected(f"a cited fact is not the requirement {requirement!r}")
            used.append(fact)
        defined = [
            facts.defined(t) for t in (*instance.terms, *instance.requirements, instance.conclusion)
        ]
        return leaning([*used, *defined], instance.conclusion, cited)

    def combine(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        body = _table(step, {"rule", "goal", "terms"})
        goal = self._relation(body["goal"], facts, {"eq"})
        difference = facts.difference(goal)
        total, used = self._equations(body["terms"], difference, facts)
        if total != difference:
            raise Rejected("the terms don't add up to the equation")
        return leaning([*used, facts.defined(goal)], goal)

    def _equations(self, terms: object, like: Poly, facts: Facts) -> tuple[Poly, list[Fact]]:
        """The sum of `[left, fact, right, mode]`, of the shape of `like`."""
        total = Poly(like.rows, like.cols, {})
        used: list[Fact] = []
        for row in _list(terms):
            if not isinstance(row, list) or len(row) != 4:
                raise Rejected("a term is [left, fact, right, mode]")
            left, place, right, mode = row
            fact = self._cited([place], facts)[0]
            if fact.relation.op != "eq":
                raise Rejected("only equations can be combined")
            value = facts.difference(fact.relation)
            if mode not in ("", "T", "C", "H", "tr", "inner"):
                raise Rejected(f"unknown mode {mode!r}")
            if "C" in mode or "H" in mode:
                value = value.conj
            if "T" in mode or "H" in mode:
                value = value.T
            if left is not None:
                value = self._factor(left, facts, used) * value
            if right is not None:
                factor = self._factor(right, facts, used)
                value = value * (factor.T if mode == "inner" else factor)
            if mode in ("tr", "inner"):
                value = value.trace()
            if like.cols == L2:
                value = as_random(value)
            if value.rows != like.rows or value.cols != like.cols:
                raise Rejected("a term has another shape than the equation")
            total = total + value
            used.append(fact)
        return total, used

    def _factor(self, place: object, facts: Facts, used: list[Fact]) -> Poly:
        node = self._term(place)
        used.append(facts.defined(node))
        return facts.lowering.lower(node)

    def positive(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        body = _table(step, {"rule", "goal", "terms", "equations"})
        goal = self._relation(body["goal"], facts, {"gt", "ge", "lt", "le"})
        difference = self._excess(goal, facts)
        total, used = self._equations(body["equations"], difference, facts)
        strict = False
        for row in _list(body["terms"]):
            if not isinstance(row, list) or len(row) != 3:
                raise Rejected("a term is [coefficient, facts, square]")
            coefficient = _fraction(row[0])
            factors = self._cited(row[1], facts)
            if coefficient < 0:
                raise Rejected("a negative coefficient")
            value = number(coefficient)
            for fact in factors:
                value = value * self._excess(fact.relation, facts)
            if row[2] is not None:
                root = self._factor(row[2], facts, used)
                if not root.is_scalar or infer(self._term(row[2]), facts.scope).is_complex:
                    raise Rejected("only squares of real numbers are non-negative")
                value = value * root * root
            elif coefficient and all(f.relation.op in ("gt", "lt") for f in factors):
                strict = True
            total = total + value
            used += factors
        if goal.op in ("gt", "lt") and not strict:
            raise Rejected("no term makes the inequality strict")
        if total != difference:
            raise Rejected("the terms don't add up to the inequality")
        return leaning([*used, facts.defined(goal)], goal)

    def _excess(self, relation: Term, facts: Facts) -> Poly:
        """What an inequality says is non-negative, or positive."""
        if relation.op in ("lt", "le"):
            relation = term(relation.op, *reversed(relation.args))
        elif relation.op not in ("gt", "ge"):
            raise Rejected("only inequalities are added and multiplied")
        value = facts.difference(relation)
        if not value.is_scalar:
            raise Rejected("only inequalities between real numbers")
        return value

    def congruence(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        body = _table(step, {"rule", "fact", "context"})
        fact = self._cited([body["fact"]], facts)[0]
        if fact.relation.op != "eq":
            raise Rejected("only equations can be put into a context")
        context = self._term(body["context"], free=1)
        goal = term("eq", *(instantiate(context, (side,)) for side in fact.relation.args))
        infer(goal, facts.scope)
        return leaning([fact, facts.defined(goal)], goal)

    def forall(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        body = _table(step, {"rule", "names", "types", "where", "steps", "goal"})
        names, types = _list(body["names"]), tuple(self._term(t) for t in _list(body["types"]))
        fresh = [Declaration((n,), t) for n, t in zip(names, types, strict=True)]
        with self._declared(fresh):
            inner = facts.copy(Scope.of(self.declarations))
            conditions, sources = [], []
            for place in _list(body["where"]):
                conditions.append(self._relation(place, inner, None))
                sources.append(inner.defined(conditions[-1]))
                inner.add(leaning(sources[-1:], conditions[-1]))
            self.run(body["steps"], inner, depth + 1)
            goal = self._relation(body["goal"], inner, None)
            sources.append(_known(goal, inner, "the sub-proof doesn't establish its goal"))
            sources.append(inner.defined(goal))
        inside = (abstract(r, tuple(names), types) for r in (*conditions, goal))
        relation = term("forall", *types, *inside, data=(len(names), len(conditions)))
        infer(relation, facts.scope)  # no random name, no dimension among the types
        return leaning(sources, relation)

    def induct(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        """G(at) for a dimension, from G(1), a fact, and from G(q) to G(q + 1) for a fresh q."""
        body = _table(step, {"rule", "name", "goal", "at", "steps"})
        q, at = body["name"], self._term(body["at"])
        if not size_of(at, facts.scope).is_positive:
            raise Rejected("induction ends at a dimension")
        with self._declared([Declaration((q,), term("dimension_type"))]):
            inner = facts.copy(Scope.of(self.declarations))
            goal = self._relation(body["goal"], inner, None)
            assumed = inner.defined(goal)
            inner.add(leaning([assumed], goal))
            self.run(body["steps"], inner, depth + 1)
            after = substitute(goal, {q: term("add", name(q), rational(1))})
            known = _known(after, inner, "the sub-proof doesn't take the step")
        base = _known(substitute(goal, {q: rational(1)}), facts, "the start is not established")
        relation = substitute(goal, {q: at})
        infer(relation, facts.scope)
        return leaning([assumed, known, base, facts.defined(relation)], relation)

    def gradient(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        """grad(f, X) = G, from: for all V, f(X + t*V) has the derivative tr(G.T*V) at t = 0.

        That f is smooth at X, so that it has a gradient, is part of the goal's definedness.
        """
        body = _table(step, {"rule", "goal", "type"})
        goal, type_ = self._relation(body["goal"], facts, {"eq"}), self._term(body["type"])
        gradient, value = goal.args
        if gradient.op != "grad" or type_.op != "matrix_type":
            raise Rejected("grad(f, X) stands on the left, and V is any real matrix")
        f, x = gradient.args
        shapes = (type_from(type_, facts.scope), infer(x, facts.scope))
        if len({(k.rows, k.cols) for k in shapes}) > 1:
            raise Rejected("a direction has the shape of the point")
        path = term("add", x, term("mul", bound(0, term("real_type")), bound(1, type_)))
        along = term("deriv", instantiate(f, (path,)), ZERO, data=1)
        slope = term("tr", term("mul", term("transpose", value), bound(0, type_)))
        everywhere = term("forall", type_, term("eq", along, slope), data=(1, 0))
        infer(everywhere, facts.scope)
        known = _known(everywhere, facts, "the derivative along a direction is not known")
        return leaning([known, facts.defined(goal)], goal)

    def ball(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        """What enclosures show for all values of real terms that known bounds allow."""
        from proofs.checker import balls  # which loads FLINT; nothing else of the checker does

        body = _table(step, {"rule", "goal", "variables", "by", "precision", "cover"})
        goal = self._relation(body["goal"], facts, {"gt", "ge", "lt", "le", "ne"})
        variables = [self._term(place) for place in _list(body["variables"])]
        bounds = self._cited(body["by"], facts)
        for x in (*goal.args, *variables):
            kind = infer(x, facts.scope)
            if not kind.is_scalar or kind.is_complex or facts.lowering.is_random(x):
                raise Rejected("only real numbers are enclosed")
        relations = [bound.relation for bound in bounds]
        balls.prove(goal, variables, relations, body["precision"], body["cover"])
        return leaning([*bounds, facts.defined(goal)], goal)

    @contextmanager
    def _declared(self, fresh: list[Declaration]) -> Iterator[None]:
        """Further names, for a sub-proof that speaks of them."""
        outer = self.declarations
        self.declarations = [*outer, *fresh]
        try:
            yield
        finally:
            self.declarations = outer

    def instantiate(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        body = _table(step, {"rule", "fact", "terms", "by"})
        fact = self._cited([body["fact"]], facts)[0]
        if fact.relation.op != "forall":
            raise Rejected("only quantified facts can be instantiated")
        count, conditions = pair(fact.relation)
        types, rest = fact.relation.args[:count], fact.relation.args[count:]
        values = tuple(self._term(t) for t in _list(body["terms"]))
        if len(values) != count:
            raise Rejected(f"{count} terms needed, {len(values)} given")
        requirements: list[Term] = []
        for type_, value in zip(types, values, strict=True):
            requirements += admits(type_, value, facts.scope)
        inside = [instantiate(r, values) for r in rest]
        instance = Instance(tuple(values), (*requirements, *inside[:conditions]), inside[-1])
        done = self._discharge(instance, body["by"], facts, "")
        return leaning([fact, done], inside[-1])

    def cases(self, step: dict[str, Any], facts: Facts, depth: int) -> Fact:
        body = _table(step, {"rule", "of", "goal", "branches"})
        x = self._term(body["of"])
        kind = infer(x, facts.scope)
        if not kind.is_scalar or kind.is_complex or facts.lowering.is_random(x):
            raise Rejected("cases are on the sign of a real number")
        goal = self._relation(body["goal"], facts, None)
        branches = _list(body["branches"])
        if len(branches) != 3:
            raise Rejected("three branches: negative, zero, positive")
        used = [facts.defined(x)]
        for sign, steps in zip(("lt", "eq", "gt"), branches, strict=True):
            inner = facts.copy()
            inner.add(leaning(used[:1], term(sign, x, ZERO)))
            self.run(steps, inner, depth + 1)
            known = _known(goal, inner, "a branch doesn't establish the goal")
            used += [known, inner.defined(goal)]
        return leaning([*used, facts.defined(goal)], goal)

    # ------------------------------------------------------------ reading

    def _term(self, place: object, free: int = 0) -> Term:
        node = self.nodes[_place(place, len(self.nodes))]
        if node.free > free:
            raise Rejected("a term with a loose bound variable")
        return node

    def _relation(self, place: object, facts: Facts, ops: set[str] | None) -> Term:
        node = self._term(place)
        if infer(node, facts.scope).kind is not Kind.RELATION or (ops and node.op not in ops):
            raise Rejected(f"{node.op} is not a relation that this step can establish")
        return node

    def _cited(self, places: object, facts: Facts) -> list[Fact]:
        return [facts.facts[_place(p, len(facts.facts))] for p in _list(places)]


STEPS = {
    "hypothesis": Judge.hypothesis,
    "declared": Judge.declared,
    "schema": Judge.schema,
    "lemma": Judge.lemma,
    "combine": Judge.combine,
    "positive": Judge.positive,
    "congruence": Judge.congruence,
    "forall": Judge.forall,
    "induct": Judge.induct,
    "instantiate": Judge.instantiate,
    "gradient": Judge.gradient,
    "ball": Judge.ball,
    "cases": Judge.cases,
}


def _table(value: object, fields: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != fields:
        raise Rejected(f"expected an object with exactly: {', '.join(sorted(fields))}")
    return value


def _known(relation: Term, facts: Facts, message: str) -> Fact:
    found = facts.find(relation)
    if found is None:
        raise Rejected(message)
    return found


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise Rejected(f"expected a list, got {value!r:.40}")
    return value


def _place(value: object, limit: int) -> int:
    """An index from JSON: an integer that points into what there is so far."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < limit:
        raise Rejected(f"{value!r:.40} points nowhere")
    return value


def _fraction(value: object) -> Fraction:
    if not isinstance(value, str) or not is_canonical_rational(value):
        raise Rejected("a coefficient is a rational number in a string")
    return Fraction(value)
