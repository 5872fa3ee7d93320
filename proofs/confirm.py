"""What a certificate establishes, held against the evaluator at models of the hypotheses.

An accepted certificate whose every fact is true at every model tried may still be lucky; one with a
fact that is false at a model shows a hole in the checker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofs.checker.judge import Judge
from proofs.evaluate import Evaluation, Model, Truth, Undefined
from proofs.instances import Instances, conforms
from proofs.language.tree import Statement, Term, decode_nodes
from proofs.refute import examine

TRIES, MORE = 60, 400  # instances drawn in search of models, and where there are none yet


def facts_of(
    statement: Statement, certificate: Mapping[str, Any], lemmas: Mapping[str, Statement]
) -> list[Term]:
    """The relations that the judge takes down, those of sub-proofs left out.

    Raises:
        Rejected: a step is not accepted.
    """
    judge = Judge(statement, lemmas)
    judge.nodes = decode_nodes(certificate["nodes"], judge.nodes)
    judge.run(certificate["steps"], judge.facts, 0)
    return [fact.relation for fact in judge.facts.facts]


def satisfying(statement: Statement, count: int = 3, seed: int = 3) -> list[Model]:
    """Some models of the hypotheses, the last that were found first-hand; maybe none."""
    instances = Instances(statement, seed=seed)
    found: list[Model] = []
    for place in range(MORE):
        if place >= TRIES and found:
            break
        model = instances.draw(place, found)
        if conforms(model, instances.scope) and examine(statement, model).hypotheses_hold:
            found.append(model)
    return found[-count:]


class Witnesses:
    """Models of a statement's hypotheses, and what they say of further relations."""

    def __init__(self, statement: Statement, count: int = 3) -> None:
        self.models = satisfying(statement, count)
        self._evaluations = [Evaluation(model) for model in self.models]
        self._known: dict[Term, Truth | Undefined] = {}

    def say(self, relation: Term) -> Truth | Undefined:
        """FALSE or Undefined where a model says so; TRUE where one does and none objects."""
        if relation not in self._known:
            self._known[relation] = self._said(relation)
        return self._known[relation]

    def _said(self, relation: Term) -> Truth | Undefined:
        found: Truth = Truth.UNKNOWN
        for evaluation in self._evaluations:
            truth = evaluation(relation)
            if isinstance(truth, Undefined) or truth is Truth.FALSE:
                return truth
            if truth is Truth.TRUE:
                found = Truth.TRUE
        return found
