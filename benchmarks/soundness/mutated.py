"""Changed statements: the certificate of the true one, bound to each of them, must not pass.

The certificate is bound to each mutant and checked; only one that is accepted needs to be
examined, for it must be true as well. A sample of the others is examined for the record.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.soundness.attacks import Attack, Progress, silent
from benchmarks.soundness.cases import Proved
from proofs.checker.judge import PROBLEMS, Rejected, Report, check
from proofs.language.errors import StatementError
from proofs.language.infer import check as check_types
from proofs.language.tree import Statement, Term, from_json, postorder, to_json
from proofs.mutants import Mutant, Outcome, classify, mutants
from proofs.processes import mapped
from proofs.search import Failure, prove
from proofs.tampering import KINDS, rebound, tampered

SINGLES = 100  # mutants of one statement with one slip, so that the long ones don't outweigh
TOGETHER = 20  # mutants of one statement that a process is given at once
SAMPLE = 1_000  # rejected mutants that are examined, of all
REFUTING = 0.3  # seconds for the refuter, for each mutant that is examined
PROVING = 6.0  # seconds for a proof that an accepted one is true
GLANCE = 0.5  # seconds for a proof of one in the sample
SAME = "the same up to the order of scalars"

Slips = tuple[int, ...]  # places in the list of mutants, then in the list of that one's mutants


def mutate(
    cases: Sequence[Proved],
    count: int,
    seed: int,
    progress: Progress = silent,
    jobs: int = 1,
) -> Attack:
    """`count` mutants: single ones, of no statement too many; then two slips at once.

    Interrupted, it gives what was found so far.
    """
    attack = Attack()
    start = time.monotonic()
    try:
        for _ in progress(_each(cases, count, seed, jobs, attack), count, "mutants"):
            pass
    except KeyboardInterrupt:
        attack.is_whole = False
    attack.seconds = time.monotonic() - start
    return attack


def _each(
    cases: Sequence[Proved], count: int, seed: int, jobs: int, attack: Attack
) -> Iterator[None]:
    """Mutant by mutant, as they are done; `attack` takes in what becomes of them."""
    batches = _batches(cases, count, seed)
    for batch, found in zip(batches, mapped(_attacked, batches, jobs, _lost), strict=True):
        attack.take_in(found)
        yield from (None for _ in batch.chosen)


# ---------------------------------------------------------------- which ones


@dataclass(frozen=True)
class _Batch:
    """Some mutants of one statement, as plain data that goes to another process."""

    name: str
    statement: str
    certificate: Mapping[str, Any]
    lemmas: Mapping[str, str]
    chosen: tuple[Slips, ...]
    share: float  # of those that are rejected: how many are examined
    seed: int


def _batches(cases: Sequence[Proved], count: int, seed: int) -> list[_Batch]:
    draw = random.Random(seed)
    chosen = _singles(cases, draw)
    if sum(map(len, chosen)) > count:
        kept = set(draw.sample([(i, s) for i, some in enumerate(chosen) for s in some], count))
        chosen = [[s for s in some if (i, s) in kept] for i, some in enumerate(chosen)]
    for i, slips in _doubles(cases, chosen, count - sum(map(len, chosen)), draw):
        chosen[i].append(slips)
    return [
        _Batch(
            case.name, to_json(case.statement), case.certificate,
            {hash_: to_json(lemma) for hash_, lemma in case.lemmas.items()},
            tuple(some[i : i + TOGETHER]), min(1.0, SAMPLE / max(count, 1)), seed,
        )
        for case, some in zip(cases, chosen, strict=True)
        for i in range(0, len(some), TOGETHER)
    ]  # fmt: skip


def _singles(cases: Sequence[Proved], draw: random.Random) -> list[list[Slips]]:
    found: list[list[Slips]] = []
    for case in cases:
        count = sum(1 for _ in mutants(case.statement))
        some = range(count) if count <= SINGLES else sorted(draw.sample(range(count), SINGLES))
        found.append([(i,) for i in some])
    return found


def _doubles(
    cases: Sequence[Proved], singles: Sequence[Sequence[Slips]], left: int, draw: random.Random
) -> Iterator[tuple[int, Slips]]:
    """So many mutants of well-typed mutants, each once, of all statements alike."""
    places = [i for i, some in enumerate(singles) if some]
    single = [list(some) for some in singles]
    known: dict[int, list[Statement]] = {}
    seen: set[tuple[int, tuple[Term, ...]]] = set()
    for _ in range(20 * max(left, 0)):  # a short statement has only so many
        if left <= 0:
            return
        i = draw.choice(places)
        if i not in known:
            known[i] = [m.statement for m in mutants(cases[i].statement)]
            seen |= {(i, _roots(s)) for s in (cases[i].statement, *known[i])}
        (first,) = draw.choice(single[i])
        if not _is_typed(known[i][first]):
            continue
        found = [_roots(m.statement) for m in mutants(known[i][first])]
        for second in draw.sample(range(len(found)), min(4, left, len(found))):
            if (i, found[second]) not in seen:
                seen.add((i, found[second]))
                left -= 1
                yield i, (first, second)


def _roots(statement: Statement) -> tuple[Term, ...]:
    return (*statement.hypotheses, statement.goal)


def _mutant(statement: Statement, slips: Slips) -> Mutant:
    """The mutant with one slip, or with two."""
    first = list(mutants(statement))[slips[0]]
    if len(slips) == 1:
        return first
    second = list(mutants(first.statement))[slips[1]]
    part = second.part if second.part == first.part == "goal" else "several"
    return Mutant("two slips", part, second.old, second.new, second.statement)


def _is_typed(statement: Statement) -> bool:
    try:
        check_types(statement)
    except StatementError:
        return False
    return True


# ---------------------------------------------------------------- what becomes of them


def _attacked(batch: _Batch) -> Attack:
    lemmas = {hash_: from_json(text) for hash_, text in batch.lemmas.items()}
    case = Proved(batch.name, from_json(batch.statement), batch.certificate, lemmas)
    attack = Attack()
    for slips in batch.chosen:
        mutant = _mutant(case.statement, slips)
        draw = random.Random(f"{batch.seed} {mutant.statement.hash}")
        outcome = _ended(case, mutant, draw, batch.seed, attack)
        attack.count(mutant.kind, outcome)
        if outcome == "rejected" and draw.random() < batch.share:
            attack.sample[_examined(case, mutant, None, GLANCE, batch.seed)[0].value] += 1
    return attack


def _lost(batch: _Batch) -> Attack:
    return Attack(holes=[f"{batch.name}: the process died that checked {batch.chosen}"])


def _ended(case: Proved, mutant: Mutant, draw: random.Random, seed: int, attack: Attack) -> str:
    """Whether any way to bind the certificate passes, and what the mutant then is."""
    shown = f"{case.name}: {mutant}"
    typed = _is_typed(mutant.statement)
    try:
        report = _accepted(case, mutant.statement, draw, typed)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported as a hole
        attack.holes.append(f"{shown}: {type(error).__name__}: {error}")
        return "crash"
    if report is None:
        return "rejected" if typed else "ill-typed"
    if not typed:
        attack.holes.append(f"{shown}: ill-typed, and accepted")
        return "ACCEPTED"
    outcome, why = _examined(case, mutant, report, PROVING, seed)
    if outcome is not Outcome.EQUIVALENT:
        attack.holes.append(f"{shown}: {why}")
        return "ACCEPTED"
    if why != SAME:  # the others need an argument of their own
        attack.explained.append(f"{shown}: {why}")
    return f"accepted: {why}"


def _examined(
    case: Proved, mutant: Mutant, report: Report | None, seconds: float, seed: int
) -> tuple[Outcome, str]:
    """What a mutant is, by the refuter and by a proof of its own; `report`: it was accepted."""
    found = classify(
        mutant,
        case.statement,
        case.certificate,
        None if report is None else lambda _statement, _certificate: report,
        prove=lambda statement: not isinstance(prove(statement, seconds, case.lemmas), Failure),
        seconds=REFUTING,
        seed=seed,
    )
    return found.outcome, f"{found.reason} {found.witness or ''}".rstrip()


def _accepted(case: Proved, mutant: Statement, draw: random.Random, typed: bool) -> Report | None:
    """What the judge reports of the first way that passes; where types don't fit, one is enough."""
    steps = case.certificate["steps"]
    found = _judged(case, mutant, {**case.certificate, "statement": mutant.hash})
    if isinstance(found, Report) or not typed:
        return None if isinstance(found, Rejected) else found
    moved = rebound(case.certificate, case.statement, mutant)
    found = _judged(case, mutant, moved)
    if isinstance(found, Report):
        return found
    last = len(moved["steps"]) - 1
    if steps and (found.step is None or found.step >= last):
        # Without the last step, which may have failed at the new goal; no help to earlier ones.
        found = _judged(case, mutant, {**moved, "steps": moved["steps"][:-1]})
        if isinstance(found, Report):
            return found
    if draw.random() < 0.25:
        text, top = json.dumps(moved), len(postorder(mutant.roots()))
        changed = tampered(text, draw.choice(list(KINDS)), draw, top)
        if changed is not None:
            found = _judged(case, mutant, changed)
    return found if isinstance(found, Report) else None


def _judged(case: Proved, mutant: Statement, certificate: Mapping[str, Any]) -> Report | Rejected:
    try:
        return check(mutant, certificate, case.lemmas)
    except PROBLEMS as error:
        if not isinstance(error, Rejected):
            raise
        return error
