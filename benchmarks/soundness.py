"""Soundness, tried hard: certificates changed in every way, and bound to statements that are false.

All proved statements take part: the theorems of the library, and the given statements that a short
search proves. Two attacks on the checker:

 - **tampering**: each certificate is changed, one change of each kind in turn. A change may leave a
   proof (a step that no one needed is lost). So whatever the judge accepts is held against the
   evaluator, which shares no code with it: each new fact must be true, and defined, at exact models
   of the hypotheses.
 - **mutants**: small changes of the statements themselves, one or two at once, with the theorem's
   certificate bound to each in several ways. What is accepted must resist the refuter, and must be
   shown to be as true as the original.

Anything but a rejection, a proof that stays a proof, or a true mutant is a hole, and printed.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.columns import aligned
from benchmarks.statements.corpus import FOLDER, entries
from proofs.checker.judge import PROBLEMS, Rejected, Report, check
from proofs.confirm import Witnesses, facts_of
from proofs.evaluate import Truth, Undefined
from proofs.language.errors import StatementError
from proofs.language.infer import check as check_types
from proofs.language.parser import parse
from proofs.language.show import brief
from proofs.language.tree import Statement, Term, postorder
from proofs.library import Library
from proofs.mutants import Mutant, Outcome, classify, mutants
from proofs.search import Failure, prove
from proofs.tampering import KINDS, rebound, tampered
from proofs.verdict import Verdict

REFUTING = 0.3  # seconds for the refuter, for each mutant that is accepted
SINGLES = 100  # mutants of one statement with one slip, so that the long ones don't outweigh
PROVING = 2.0  # seconds for a proof that such a mutant is true
SAME = "the same up to the order of scalars"
TRIES = 12  # draws for a change of one kind, before the certificate is said to have no place for it


@dataclass(frozen=True)
class Proved:
    """A statement with its certificate."""

    name: str
    statement: Statement
    certificate: Mapping[str, Any]
    lemmas: Mapping[str, Statement]


@dataclass
class Attack:
    """How the changes of one attack ended: by kind, and the holes that were found."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    holes: list[str] = field(default_factory=list)
    explained: list[str] = field(default_factory=list)  # accepted and true, one line each
    seconds: float = 0.0

    def count(self, kind: str, outcome: str) -> None:
        self.counts.setdefault(kind, Counter())[outcome] += 1

    @property
    def total(self) -> Counter[str]:
        return sum(self.counts.values(), Counter[str]())


@dataclass(frozen=True)
class Result:
    """Both attacks, and what took part in them."""

    seed: int
    cases: int
    steps: int
    proving: float
    tampering: Attack
    mutants: Attack

    @property
    def is_sound(self) -> bool:
        return not self.tampering.holes and not self.mutants.holes


Progress = Callable[[Iterator[Any], int, str], Iterator[Any]]


def _silent(items: Iterator[Any], total: int, what: str) -> Iterator[Any]:
    return items


def run(
    *,
    tamperings: int = 20_000,
    changed: int = 20_000,
    seed: int = 0,
    seconds: float = 2.0,
    limit: int | None = None,
    progress: Progress = _silent,
) -> Result:
    """Both attacks on all proved statements.

    Args:
        tamperings: effective changes of certificates.
        changed: mutants of statements.
        seed: of all draws.
        seconds: of the search for each given statement; without a proof, it takes no part.
        limit: take this many of the given statements only, drawn at random.
        progress: wraps the work, to show how far it is.
    """
    start = time.monotonic()
    cases = list(progress(proved(seconds, limit, seed), _available(limit), "proofs"))
    cases = [case for case in cases if case is not None]
    done = time.monotonic() - start
    long = [case for case in cases if case.certificate["steps"]]  # the others hold by structure
    first = tamper(long, tamperings, seed, progress)
    second = mutate(cases, changed, seed, progress)
    steps = sum(len(case.certificate["steps"]) for case in cases)
    return Result(seed, len(cases), steps, done, first, second)


# ---------------------------------------------------------------- what takes part


def _available(limit: int | None) -> int:
    given = sum(e.expected is Verdict.PROVED for e in entries())
    return sum(1 for _ in _theorems()) + (given if limit is None else min(limit, given))


def proved(seconds: float, limit: int | None, seed: int) -> Iterator[Proved | None]:
    """The theorems, then the given statements; None for one that a search doesn't prove."""
    yield from _theorems()
    chosen = [e for e in entries() if e.expected is Verdict.PROVED]
    if limit is not None and limit < len(chosen):
        chosen = random.Random(seed).sample(chosen, limit)
    for entry in chosen:
        text = (FOLDER / entry.file).read_text(encoding="utf-8")
        statements = parse(text, path=entry.file).statements
        found = [prove(statement, seconds) for statement in statements]
        for statement, certificate in zip(statements, found, strict=True):
            if not isinstance(certificate, Failure):
                yield Proved(entry.file, statement, certificate, {})
                break  # one goal of each file, so that long files don't outweigh the others
        else:
            yield None


def _theorems() -> Iterator[Proved]:
    library = Library()
    for theorem in library:
        for place, certificate in enumerate(theorem.certificates):
            if isinstance(certificate, dict):
                lemmas = library.lemmas(certificate)
                yield Proved(theorem.name, theorem.statements[place], certificate, lemmas)


# ---------------------------------------------------------------- certificates


def tamper(cases: Sequence[Proved], count: int, seed: int, progress: Progress = _silent) -> Attack:
    """`count` effective changes, of all certificates and all kinds in turn."""
    attack = Attack()
    start = time.monotonic()
    for _ in progress(_tampered(cases, count, seed, attack), count, "tampering"):
        pass
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


# ---------------------------------------------------------------- statements


def mutate(cases: Sequence[Proved], count: int, seed: int, progress: Progress = _silent) -> Attack:
    """`count` mutants: single ones, of no statement too many; then two slips at once."""
    attack = Attack()
    start = time.monotonic()
    draw = random.Random(seed)
    singles = [(case, mutant) for case in cases for mutant in _some(case, draw)]
    if len(singles) > count:
        singles = draw.sample(singles, count)
    chosen = _and_doubles(cases, singles, count, draw)
    for case, mutant in progress(chosen, count, "mutants"):
        attack.count(mutant.kind, _ended(case, mutant, draw, seed, attack))
    attack.seconds = time.monotonic() - start
    return attack


def _some(case: Proved, draw: random.Random) -> list[Mutant]:
    found = list(mutants(case.statement))
    return found if len(found) <= SINGLES else draw.sample(found, SINGLES)


def _and_doubles(
    cases: Sequence[Proved],
    singles: Sequence[tuple[Proved, Mutant]],
    count: int,
    draw: random.Random,
) -> Iterator[tuple[Proved, Mutant]]:
    yield from singles
    left = count - len(singles)
    seen = {case.statement.hash for case in cases} | {m.statement.hash for _, m in singles}
    by_case: dict[str, list[tuple[Proved, Mutant]]] = {}
    for case, mutant in singles:
        by_case.setdefault(case.name, []).append((case, mutant))
    names = sorted(by_case)
    for _ in range(20 * max(left, 0)):  # a short statement has only so many
        if left <= 0:
            return
        case, first = draw.choice(by_case[draw.choice(names)])
        if not _is_typed(first.statement):
            continue
        found = list(mutants(first.statement))
        for second in draw.sample(found, min(4, left, len(found))):
            if second.statement.hash in seen:
                continue
            seen.add(second.statement.hash)
            part = second.part if second.part == first.part == "goal" else "several"
            left -= 1
            yield case, Mutant("two slips", part, second.old, second.new, second.statement)


def _is_typed(statement: Statement) -> bool:
    try:
        check_types(statement)
    except StatementError:
        return False
    return True


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
    found = classify(
        mutant,
        case.statement,
        case.certificate,
        lambda _statement, _certificate: report,
        prove=lambda statement: not isinstance(prove(statement, PROVING, case.lemmas), Failure),
        seconds=REFUTING,
        seed=seed,
    )
    if found.outcome is not Outcome.EQUIVALENT:
        attack.holes.append(f"{shown}: {found.reason} {found.witness or ''}")
        return "ACCEPTED"
    if found.reason != SAME:  # the others need an argument of their own
        attack.explained.append(f"{shown}: {found.reason}")
    return f"accepted: {found.reason}"


def _accepted(case: Proved, mutant: Statement, draw: random.Random, typed: bool) -> Report | None:
    """What the judge reports of the first way that passes; where types don't fit, one is enough."""
    renamed = {**case.certificate, "statement": mutant.hash}
    moved = rebound(case.certificate, case.statement, mutant)
    text, top = json.dumps(moved), len(postorder(mutant.roots()))
    kind = draw.choice(list(KINDS))
    changed = tampered(text, kind, draw, top) if draw.random() < 0.25 else None
    less = {**moved, "steps": moved["steps"][:-1]}  # without what may have failed at the new goal
    for attempt in (renamed, moved, less, changed) if typed else (renamed,):
        if attempt is not None:
            try:
                return check(mutant, attempt, case.lemmas)
            except PROBLEMS as error:
                if not isinstance(error, Rejected):
                    raise
    return None


# ---------------------------------------------------------------- the tables


def as_json(result: Result) -> dict[str, object]:
    """All counts, and what was found."""

    def told(attack: Attack) -> dict[str, object]:
        return {
            "total": attack.total.total(),
            "outcomes": dict(attack.total),
            "kinds": {kind: dict(found) for kind, found in attack.counts.items()},
            "holes": attack.holes,
            "accepted_and_true": attack.explained,
            "seconds": round(attack.seconds, 2),
        }

    return {
        "seed": result.seed,
        "statements": result.cases,
        "steps": result.steps,
        "proving_seconds": round(result.proving, 2),
        "tampering": told(result.tampering),
        "mutants": told(result.mutants),
        "sound": result.is_sound,
    }


def as_text(result: Result) -> str:
    """Holes first, then the tables."""
    lines = []
    for attack in (result.tampering, result.mutants):
        lines += [f"HOLE: {hole}" for hole in attack.holes]
    lines += [
        f"{result.cases} proved statements, {result.steps} steps, "
        f"seed {result.seed} (proofs: {result.proving:.0f} s)",
        "",
        *_table("change of a certificate", result.tampering),
        "",
        *_table("change of a statement", result.mutants),
    ]
    if result.mutants.explained:
        lines += ["", "mutants that are accepted, and true:"]
        lines += [f"  {line}" for line in result.mutants.explained]
    return "\n".join(lines)


def _table(title: str, attack: Attack) -> list[str]:
    total = attack.total
    outcomes = sorted(total, key=lambda o: (o != "rejected", o))
    rows = [(title, "all", *outcomes)]
    for kind, found in [*attack.counts.items(), ("together", total)]:
        rows.append((kind, str(found.total()), *(str(found[o] or "-") for o in outcomes)))
    return [*aligned(rows), f"{total.total()} in {attack.seconds:.0f} s"]
