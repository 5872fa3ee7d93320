"""Changed certificates: what the judge accepts of them must be true, step by step."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.soundness.attacks import Attack, Progress, silent
from benchmarks.soundness.cases import Proved
from proofs.checker.judge import Rejected, check
from proofs.confirm import Witnesses, facts_of
from proofs.evaluate import Truth, Undefined
from proofs.language.show import brief
from proofs.language.tree import Term, postorder
from proofs.tampering import KINDS, rebound, tampered

TRIES = 12  # draws for a change of one kind, before the certificate is said to have no place for it


def tamper(cases: Sequence[Proved], count: int, seed: int, progress: Progress = silent) -> Attack:
    """`count` effective changes, of all certificates and all kinds in turn.

    Interrupted, it gives what was found so far.
    """
    attack = Attack()
    start = time.monotonic()
    try:
        for _ in progress(_tampered(cases, count, seed, attack), count, "tampering"):
            pass
    except KeyboardInterrupt:
        attack.is_whole = False
    attack.seconds = time.monotonic() - start
    return attack


def _tampered(cases: Sequence[Proved], count: int, seed: int, attack: Attack) -> Iterator[None]:
    targets = [_Target(case, seed) for case in cases]
    effective = 0
    kinds = [*KINDS, "the certificate of another statement"]
    while effective < count:
        before = effective
        for target in targets:
            for kind in kinds:
                if effective >= count:
                    return
                other = targets[target.draw.randrange(len(targets))]
                changed = target.changed(kind, other)
                if changed is not None:
                    effective += 1
                    attack.count(kind, target.outcome(changed, kind, attack))
                    yield
        if effective == before:
            return


class _Target:
    """A certificate under attack, with what is known of its facts."""

    def __init__(self, case: Proved, seed: int) -> None:
        self.case = case
        self.draw = random.Random(f"{seed} {case.statement.hash}")
        self.text = json.dumps(case.certificate)
        self.top = len(postorder(case.statement.roots()))
        self._known: set[Term] | None = None
        self._witnesses: Witnesses | None = None

    def changed(self, kind: str, other: _Target) -> dict[str, Any] | None:
        if kind not in KINDS:
            if other is self or other.case.statement.hash == self.case.statement.hash:
                return None
            return rebound(other.case.certificate, other.case.statement, self.case.statement)
        for _ in range(TRIES):
            found = tampered(self.text, kind, self.draw, self.top)
            if found is not None:
                return found
        return None

    def outcome(self, changed: dict[str, Any], kind: str, attack: Attack) -> str:
        """What the judge says, and whether it may say so."""
        statement, lemmas = self.case.statement, self.case.lemmas
        shown = f"{self.case.name}: {kind}"
        try:
            check(statement, changed, lemmas)
        except Rejected:
            return "rejected"
        except Exception as error:  # noqa: BLE001 - whatever it is, it is reported as a hole
            attack.holes.append(f"{shown}: {type(error).__name__}: {error}")
            return "crash"
        known = self.known
        new = [r for r in facts_of(statement, changed, lemmas) if r not in known]
        if not new:
            return "the same facts"
        said = [self.witnesses.say(relation) for relation in new]
        for relation, truth in zip(new, said, strict=True):
            if truth is Truth.FALSE or isinstance(truth, Undefined):
                attack.holes.append(f"{shown}: establishes {brief(relation)}: {truth}")
                return "FALSE"
        if all(truth is Truth.TRUE for truth in said):
            return "true new facts"
        return "undecided new facts"

    @property
    def known(self) -> set[Term]:
        """The facts of the certificate as it was."""
        if self._known is None:
            case = self.case
            self._known = set(facts_of(case.statement, case.certificate, case.lemmas))
        return self._known

    @property
    def witnesses(self) -> Witnesses:
        if self._witnesses is None:
            self._witnesses = Witnesses(self.case.statement)
        return self._witnesses
