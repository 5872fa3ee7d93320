"""Mutants against a proof: the old certificate, bound to each of them, must be worth nothing."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from proofs.checker.judge import check
from proofs.language.tree import Statement
from proofs.mutants import Classified, Mutant, Outcome, classify, mutants
from proofs.report import OUTCOMES
from proofs.search import Failure, prove

PROVING = 1.0  # seconds for a proof that a mutant is true as well
PATIENCE = 10.0  # if the old certificate passes: it is true then, or the checker is wrong


def attack(
    statement: Statement,
    certificate: Mapping[str, Any],
    lemmas: Mapping[str, Statement],
    *,
    seed: int = 0,
    sample: int | None = None,
) -> dict[str, int]:
    """How the mutants of a proved statement end: how many by outcome, in the order of `OUTCOMES`.

    Args:
        statement: what is proved.
        certificate: its proof.
        lemmas: the statements that the certificate cites, by hash.
        seed: of the sample and of the refuter.
        sample: how many mutants at most; None: all.
    """

    def judge(mutant: Statement, bound: dict[str, object]) -> object:
        return check(mutant, bound, lemmas)

    def ending(mutant: Mutant, seconds: float) -> Classified:
        def is_proved(changed: Statement) -> bool:
            return not isinstance(prove(changed, seconds, lemmas), Failure)

        return classify(mutant, statement, certificate, judge, prove=is_proved, seed=seed)

    found = list(mutants(statement))
    if sample is not None and len(found) > sample:
        # Each statement has its own draw, the same in every process.
        found = random.Random(f"{seed} {statement.hash}").sample(found, sample)
    counts: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
    for mutant in found:
        ended = ending(mutant, PROVING)
        if ended.outcome is Outcome.ACCEPTED and ended.witness is None:
            ended = ending(mutant, PATIENCE)
        counts[ended.outcome.value] += 1
    return counts
