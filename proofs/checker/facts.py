"""Trusted. Facts: relations that a certificate has established, and when two are the same fact."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from proofs.checker.definedness import ZERO, NotDefined, obligations
from proofs.checker.lowering import Lowering
from proofs.language.effort import spend
from proofs.language.infer import Scope, infer, type_from
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    abstract,
    name,
    pair,
    substitute,
    term,
)

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """A relation that holds wherever the hypotheses do, with what it leans on."""

    relation: Term
    hypotheses: frozenset[int] = frozenset()
    cited: frozenset[str] = frozenset()  # rules by name, lemmas by hash


def leaning(sources: list[Fact], relation: Term, cited: str = "") -> Fact:
    """A fact that leans on all its sources."""
    return Fact(
        relation,
        frozenset[int]().union(*(f.hypotheses for f in sources)),
        frozenset({cited} if cited else ()).union(*(f.cited for f in sources)),
    )


class Facts:
    """The facts of one scope, by their keys."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.lowering = Lowering(scope)
        self.facts: list[Fact] = []
        self._by_key: dict[Key, int] = {}
        self.instances: dict[Key, Any] = {}  # of rules, in this scope
        self._keys: dict[Term, Key] = {}
        self._conditions: dict[Term, tuple[Term, ...]] = {}

    def add(self, fact: Fact) -> None:
        """Record a fact; the caller has seen that it holds and is defined."""
        self._by_key.setdefault(self.key(fact.relation), len(self.facts))
        self.facts.append(fact)

    def copy(self, scope: Scope | None = None) -> Facts:
        """The same facts, for a part of a proof with further hypotheses or names."""
        spend(len(self.facts) + len(self.scope.declarations))
        inner = Facts(scope or self.scope)
        inner.facts, inner._by_key = list(self.facts), dict(self._by_key)
        if scope is None:
            inner.lowering = self.lowering
        return inner

    def key(self, relation: Term) -> Key:
        """What two relations share where they differ only by the normal form of the algebra."""
        known = self._keys.get(relation)
        if known is None:
            known = self._keys[relation] = self._key(relation)
        return known

    def _key(self, relation: Term) -> Key:
        op, args = relation.op, relation.args
        lower = self.lowering.lower
        if op in ("lt", "le"):
            return self.key(term("gt" if op == "lt" else "ge", args[1], args[0]))
        if op in ("gt", "ge") and not self._is_scalar(relation):  # both sides are symmetric
            return (op, lower(args[0]).key, lower(args[1]).key)
        if op in ("gt", "ge"):
            return (op, self.difference(relation).key)
        if op in ("eq", "ne"):
            d = self.difference(relation)
            return (op, min(d.key, (-d).key))
        if op == "subset":
            return (op, args[0].data, args[1].data)
        if op == "forall":
            count, _ = pair(relation)
            types = tuple(type_from(t, self.scope) for t in args[:count])
            return (op, types, *(self.key(r) for r in args[count:]))
        if op == "limit":  # the normal form of a function may be defined where the function isn't
            return (op, args[0], lower(args[1]).key)
        return (op, *(lower(a).key for a in args))

    def difference(self, relation: Term):
        """lhs - rhs of a relation in the algebra."""
        return self.lowering.lower(term("sub", *relation.args))

    def find(self, relation: Term) -> Fact | None:
        """A fact that is, or plainly implies, this relation."""
        for way in self._ways(relation):
            place = self._by_key.get(self.key(way))
            if place is not None:
                return self.facts[place]
        return Fact(relation) if self._is_numeric(relation) else None

    def gives(self, fact: Fact, relation: Term) -> bool:
        """Whether one fact is, or plainly implies, a relation."""
        known = self.key(fact.relation)
        return any(self.key(way) == known for way in self._ways(relation))

    def _ways(self, relation: Term) -> list[Term]:
        """A relation and the stronger ones that imply it at a glance."""
        op, args = relation.op, relation.args
        if op == "forall":
            ways = self._ways(args[-1])
            return [term("forall", *args[:-1], b, data=relation.data) for b in ways]
        if op == "ne":
            return [relation, term("gt", *args), term("lt", *args)]
        if op in ("ge", "le") and self._is_scalar(relation):
            return [relation, term("gt" if op == "ge" else "lt", *args), term("eq", *args)]
        return [relation]

    def _is_scalar(self, relation: Term) -> bool:
        return infer(relation.args[0], self.scope).is_scalar

    def _is_numeric(self, relation: Term) -> bool:
        """Whether the relation compares rational numbers, and holds; or is an equation 0 = 0."""
        if relation.op not in ("eq", "ne", "lt", "le", "gt", "ge"):
            return False
        d = self.difference(relation)
        if relation.op == "eq":
            return not d.terms
        return d.constant is not None and getattr(operator, relation.op)(d.constant, 0)

    def conditions(self, root: Term) -> tuple[Term, ...]:
        """The conditions under which a term is defined, outermost first.

        Raises:
            NotDefined: one of them can't be stated.
        """
        known = self._conditions.get(root)
        if known is None:
            known = self._conditions[root] = tuple(obligations(root, self.scope))
        return known

    def defined(self, root: Term) -> Fact:
        """A fact, with `root` as its relation, that says what the definedness of `root` leans on.

        Raises:
            NotDefined: a condition is not among the facts.
        """
        sources = []
        for condition in self.conditions(root):
            known = self.find(condition)
            if known is None:
                raise NotDefined("a condition for a value to exist is not proved", condition)
            sources.append(known)
        return leaning(sources, root)


def declared_facts(declaration: Declaration, beside: Iterable[Declaration] = ()) -> list[Term]:
    """What a declaration says of its names, as relations.

    Gaussian names of different declarations, `beside` this one, are independent.
    """
    op, args = declaration.type.op, declaration.type.args
    names = [name(n) for n in declaration.names]
    if op == "gaussian_type":
        count = len(names)
        means = [term("eq", term("expect", x), m) for x, m in zip(names, args, strict=False)]
        covariances = [term("cov", x, y) for x in names for y in names]
        joint = covariances[0] if count == 1 else term("block", *covariances, data=(count, count))
        others = [name(n) for d in beside if d.type.op == op and d != declaration for n in d.names]
        across = [term("cov", x, y) for x in names for y in others]
        independent = [term("eq", c, term("mul", ZERO, c)) for c in across]
        return [*means, term("eq", joint, args[-1]), *independent]
    found: list[Term] = []
    one = term("rational", data="1")
    if op == "family_type":  # each member is what the type of the members says
        member, *ranges = args
        indices = tuple(f"\0{i}" for i in range(len(ranges)))
        types = tuple(term("index_type", limit) for limit in ranges)
        for x in names:
            one_of = term("member", x, *map(name, indices))
            for relation in declared_facts(Declaration(("\0",), member)):
                body = abstract(substitute(relation, {"\0": one_of}), indices, types)
                found.append(term("forall", *types, body, data=(len(types), 0)))
        return found
    for x in names:
        found += {
            "positive_type": [term("gt", x, ZERO)],
            "nonnegative_type": [term("ge", x, ZERO)],
            "nonzero_type": [term("ne", x, ZERO)],
            "dimension_type": [term("ge", x, one)],
            "index_type": [term("ge", x, one), *(term("le", x, limit) for limit in args)],
        }.get(op, [])
    return found


def duties(statement: Statement) -> list[Term]:
    """What the declarations oblige a proof to show: a covariance is positive semidefinite."""
    return [
        term("positive_semidefinite", d.type.args[-1])
        for d in statement.declarations
        if d.type.op == "gaussian_type"
    ]
