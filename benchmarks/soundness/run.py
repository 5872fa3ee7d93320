"""Both attacks on all proved statements, and the tables of what they found."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from benchmarks.columns import aligned
from benchmarks.soundness.attacks import Attack, Progress, silent
from benchmarks.soundness.cases import Proved, available, proved
from benchmarks.soundness.certificates import tamper
from benchmarks.soundness.mutated import mutate


@dataclass(frozen=True)
class Result:
    """Both attacks, and what took part in them."""

    seed: int
    cases: int
    steps: int
    proving: float
    tampering: Attack = field(default_factory=Attack)
    mutants: Attack = field(default_factory=Attack)
    is_whole: bool = True  # False: interrupted before its end

    @property
    def is_sound(self) -> bool:
        return not self.tampering.holes and not self.mutants.holes


def run(
    *,
    tamperings: int = 20_000,
    changed: int = 20_000,
    seed: int = 0,
    seconds: float = 2.0,
    limit: int | None = None,
    jobs: int = 1,
    progress: Progress = silent,
) -> Result:
    """Both attacks on all proved statements; interrupted, what was found so far.

    Args:
        tamperings: effective changes of certificates.
        changed: mutants of statements.
        seed: of all draws.
        seconds: of the search for each given statement; without a proof, it takes no part.
        limit: take this many of the given statements only, drawn at random.
        jobs: processes, for proofs and mutants.
        progress: wraps the work, to show how far it is.
    """
    start = time.monotonic()
    cases: list[Proved] = []
    is_whole = True
    try:
        searched = proved(seconds, limit, seed, jobs)
        for case in progress(searched, available(limit), "proofs"):
            if case is not None:
                cases.append(case)
    except KeyboardInterrupt:
        is_whole = False
    done = time.monotonic() - start
    first, second = Attack(), Attack()
    if is_whole:
        long = [case for case in cases if case.certificate["steps"]]  # the others hold by structure
        first = tamper(long, tamperings, seed, progress)
        is_whole = first.is_whole
    if is_whole:
        second = mutate(cases, changed, seed, progress, jobs)
        is_whole = second.is_whole
    steps = sum(len(case.certificate["steps"]) for case in cases)
    return Result(seed, len(cases), steps, done, first, second, is_whole)


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
        "mutants": told(result.mutants) | {"rejected_sample": dict(result.mutants.sample)},
        "interrupted": not result.is_whole,
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
    sample = result.mutants.sample
    if sample:
        ended = ", ".join(f"{n} {outcome}" for outcome, n in sample.most_common())
        lines.append(f"of the rejected ones, {sample.total()} were examined: {ended}")
    if result.mutants.explained:
        lines += ["", "mutants that are accepted, and true:"]
        lines += [f"  {line}" for line in result.mutants.explained]
    if not result.is_whole:
        lines += ["", "interrupted: this is what was done until then"]
    return "\n".join(lines)


def _table(title: str, attack: Attack) -> list[str]:
    total = attack.total
    outcomes = sorted(total, key=lambda o: (o != "rejected", o))
    rows = [(title, "all", *outcomes)]
    for kind, found in [*attack.counts.items(), ("together", total)]:
        rows.append((kind, str(found.total()), *(str(found[o] or "-") for o in outcomes)))
    return [*aligned(rows), f"{total.total()} in {attack.seconds:.0f} s"]
