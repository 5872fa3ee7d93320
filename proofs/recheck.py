"""Rechecking a theorem: its certificate, its instances, its mutants. One row comes out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Literal

from proofs.attack import attack
from proofs.language import show
from proofs.library import Judgement, Library, Theorem
from proofs.processes import mapped
from proofs.refute import Stats, smoke
from proofs.report import OUTCOMES, Row, stated_sizes
from proofs.verdict import Verdict

INSTANCES = 20  # exact models of each goal's hypotheses
SAMPLE = 8  # mutants of each goal, where not all are asked for;
MOST = 32  # of a theorem with many goals, though always a few of each
HOLDS = (Verdict.PROVED, Verdict.CONDITIONAL)


@dataclass(frozen=True, slots=True)
class Task:
    """What to recheck: a theorem by name, the seed of its instances, which of its mutants."""

    name: str
    seed: int = 0
    mutants: Literal["none", "sample", "all"] = "sample"


def examine_all(tasks: Sequence[Task], library: Library, *, jobs: int = 1) -> Iterator[Row]:
    """A row for each task, in their order; in `jobs` processes of their own if more than one."""
    if jobs == 1 or len(tasks) < 2:
        yield from (examine(task, library) for task in tasks)
    else:
        yield from mapped(partial(_examine_in, str(library.folder)), tasks, jobs, _lost)


def _lost(task: Task) -> Row:
    return Row(task.name, Verdict.OPEN, shortfalls=("the process that rechecked it died",))


def examine(task: Task, library: Library) -> Row:
    """Recheck one theorem.

    Whatever falls short is said in the row; nothing that a theorem's files contain raises.
    """
    started = time.perf_counter()
    theorem = library.find(task.name)
    judgements = library.judge(theorem)
    verdict = library.verdict(theorem)
    shortfalls = [theorem.problem] if theorem.problem else []
    for place, judgement in enumerate(judgements):
        if judgement.verdict not in HOLDS and judgement.reason != theorem.problem:
            which = f"goal {place + 1}: " if len(judgements) > 1 else ""
            shortfalls.append(which + judgement.reason)
    used, unused = _hypotheses(theorem, judgements)
    instances, errors, derivation = 0, [0.0], ""
    outcomes: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
    sample = min(SAMPLE, max(3, MOST // max(1, len(theorem.statements))))
    for place, statement in enumerate(theorem.statements):
        stats = smoke(statement, INSTANCES, task.seed, seconds=10.0)
        instances += stats.held + stats.enclosed
        errors.append(stats.worst_error)
        shortfalls += _doubts(stats)
        if place < len(theorem.certificates):
            certificate = theorem.certificates[place]
            if isinstance(certificate, dict) and task.mutants != "none":
                for outcome, count in attack(
                    statement, certificate, library.lemmas(certificate), seed=task.seed,
                    sample=sample if task.mutants == "sample" else None,
                ).items():  # fmt: skip
                    outcomes[outcome] += count
    if theorem.derive or theorem.kernel:
        from proofs.bridge import crosscheck  # SymPy, NumPy and the kernels, where there are any

        crossed = crosscheck(theorem, task.seed)
        instances += crossed.instances
        derivation = crossed.derivation
        errors += [crossed.worst_error] if crossed.worst_error is not None else []
        shortfalls += crossed.problems
    if outcomes["accepted"]:
        shortfalls.append(f"{outcomes['accepted']} false mutants were accepted by the checker")
    return Row(
        name=theorem.name,
        verdict=verdict,
        items=theorem.items,
        sizes=stated_sizes(theorem.statements[0]) if theorem.statements else "",
        axioms=tuple(sorted(library.axioms(theorem))),
        hypotheses_used=used,
        hypotheses_unused=unused,
        rules=tuple(sorted({r for j in judgements for r in j.rules})),
        lemmas=tuple(sorted({n for j in judgements for n in j.lemmas})),
        steps=sum(j.steps for j in judgements),
        derivation=derivation,
        instances=instances,
        worst_error=max(errors) if instances else None,
        mutants=outcomes,
        seconds=time.perf_counter() - started,
        shortfalls=tuple(shortfalls),
    )


def _hypotheses(
    theorem: Theorem, judgements: Sequence[Judgement]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The hypotheses that some goal's proof uses, and those that none does."""
    if not theorem.statements:
        return (), ()
    used = frozenset[int]().union(*(j.hypotheses_used for j in judgements))
    shown = [show.text(h) for h in theorem.statements[0].hypotheses]
    return (
        tuple(h for i, h in enumerate(shown) if i in used),
        tuple(h for i, h in enumerate(shown) if i not in used),
    )


def _doubts(stats: Stats) -> list[str]:
    """What the instances of a statement say against it."""
    if not stats.satisfied:
        return ["no model of the hypotheses was found"]
    failed = stats.satisfied - stats.held - stats.enclosed - stats.undecided
    return [f"false or undefined at {failed} instances"] if failed else []


@cache
def _library(folder: str) -> Library:
    return Library(Path(folder))


def _examine_in(folder: str, task: Task) -> Row:
    return examine(task, _library(folder))
