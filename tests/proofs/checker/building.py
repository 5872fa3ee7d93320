"""Certificates by hand: steps that name terms directly, and statements as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proofs.checker.judge import Rejected, Report, check
from proofs.language.infer import Scope
from proofs.language.parser import parse, parse_expression
from proofs.language.tree import Declaration, Statement, Term, term
from tests.proofs.conftest import certificate

Step = dict[str, Any]


class Proof:
    """A statement, terms in its names, and certificates for it."""

    def __init__(self, statement: str | Statement) -> None:
        self.statement = (
            statement if isinstance(statement, Statement) else parse(statement).statements[0]
        )
        self.scope = Scope.of(self.statement.declarations)

    def __call__(self, text: str, **names: Term) -> Term:
        """The term that a text stands for; further names with their types are known in it."""
        further = [Declaration((n,), t) for n, t in names.items()]
        return parse_expression(text, self.scope.extend(further))

    def certificate(self, *steps: Step) -> dict[str, Any]:
        """A certificate; terms anywhere in the steps are put into its table."""
        return certificate(self.statement, *steps, extra=tuple(_terms(list(steps))))

    def check(self, *steps: Step, lemmas: Mapping[str, Statement] | None = None) -> Report:
        """What the judge says; raises `Rejected`."""
        return check(self.statement, self.certificate(*steps), lemmas)

    def accepts(self, *steps: Step, lemmas: Mapping[str, Statement] | None = None) -> bool:
        """Whether the judge takes these steps for a proof."""
        try:
            self.check(*steps, lemmas=lemmas)
        except Rejected:
            return False
        return True


def _terms(value: object) -> list[Term]:
    if isinstance(value, Term):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for v in value for t in _terms(v)] if isinstance(value, list) else []


def hypothesis(index: int) -> Step:
    return {"rule": "hypothesis", "index": index}


def declared(name: Any, fact: int = 0) -> Step:
    return {"rule": "declared", "name": name, "fact": fact}


def schema(rule: str, by: Sequence[int | None] | None = None, **subst: Term) -> Step:
    return {"rule": "schema", "name": rule, "subst": subst, "by": list(by or [])}


def lemma(statement: Statement, by: Sequence[int | None] | None = None, **subst: Term) -> Step:
    return {"rule": "lemma", "statement": statement.hash, "subst": subst, "by": list(by or [])}


def combine(goal: Term, *terms: Any) -> Step:
    return {"rule": "combine", "goal": goal, "terms": list(terms)}


def positive(goal: Term, *terms: Any, equations: list[Any] | None = None) -> Step:
    return {"rule": "positive", "goal": goal, "terms": list(terms), "equations": equations or []}


def congruence(fact: int, context: Term) -> Step:
    return {"rule": "congruence", "fact": fact, "context": context}


def for_all(goal: Term, *steps: Step, **types: Term) -> Step:
    return {
        "rule": "forall",
        "names": list(types),
        "types": list(types.values()),
        "where": [],
        "steps": list(steps),
        "goal": goal,
    }


def where(conditions: list[Term], step: Step) -> Step:
    """A step of `for_all` under conditions on its names."""
    return {**step, "where": conditions}


def induct(q: str, goal: Term, at: Term, *steps: Step) -> Step:
    return {"rule": "induct", "name": q, "goal": goal, "at": at, "steps": list(steps)}


def instantiate(fact: int, *terms: Term, by: Sequence[int | None] | None = None) -> Step:
    return {"rule": "instantiate", "fact": fact, "terms": list(terms), "by": list(by or [])}


def cases(of: Term, goal: Term, *branches: list[Step]) -> Step:
    return {"rule": "cases", "of": of, "goal": goal, "branches": list(branches)}


REAL = term("real_type")
COMPLEX = term("complex_type")
