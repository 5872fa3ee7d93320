"""Deciding a statement: types, then counterexamples, then a proof, and what is left to say.

The order matters. A meaningless statement is ill-posed before it is anything else, and a false one
is refuted in milliseconds, while a search for its proof would use up its time. Whatever the search
finds is believed only once the checker has accepted it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from proofs import typeset
from proofs.checker.definedness import NotDefined, obligations
from proofs.checker.judge import Rejected, check
from proofs.language import show
from proofs.language.errors import Span, StatementError
from proofs.language.infer import Scope
from proofs.language.infer import check as check_types
from proofs.language.tree import Statement, Term, instantiate, rational, term
from proofs.library import Judgement, Lemma, by_hash
from proofs.refute import (
    Attempt,
    Refutation,
    Refuter,
    UndefinedPoint,
    binders_above,
    nearest_true_neighbour,
    refute,
)
from proofs.report import stated_sizes
from proofs.search import Failure, prove, search
from proofs.typeset import Typeset, display, inline, words
from proofs.verdict import Verdict

FIRST, FIRST_INSTANCES = 0.05, 3  # the refuter's first look
SHORT = 0.5  # seconds of a first search
QUICK, QUICK_INSTANCES = 0.3, 150  # the refuter meanwhile, and before the long search
PATIENCE = 0.016  # seconds of search, until the refuter takes turns with it
LONG, LONG_INSTANCES = 3.0, 2_000  # the refuter, where no proof was found
REPAIRS = 3  # hypotheses added, one after the other, to give an ill-posed statement a meaning
CONTRADICTION = term("eq", rational(1), rational(0))


@dataclass(frozen=True, slots=True, repr=False)
class Decision(Typeset):
    """The answer for one goal, with what anyone needs to see it for themselves.

    `names` are the abbreviations that its file makes.
    """

    verdict: Verdict
    statement: Statement | None  # None: it could not be read
    seconds: float
    message: str = ""
    file: str = ""
    span: Span | None = None
    judgement: Judgement | None = None  # what the checker said of the certificate
    certificate: Mapping[str, Any] | None = None
    lemmas: tuple[Lemma, ...] = ()  # what the certificate cites
    path: Path | None = None  # where the certificate lies
    witness: Refutation | UndefinedPoint | None = None
    attempt: Attempt | None = None  # what the refuter tried
    repair: tuple[Term, ...] = ()  # hypotheses that give an ill-posed statement a meaning
    repaired: Verdict | None = None  # what the statement is with them
    neighbour: str = ""  # the nearest true statement, for a false one, in words
    near: Statement | None = None  # and itself
    busy: float = 0.0  # seconds of this process's processor, where others use it too
    names: show.Names = field(default_factory=dict)
    mutants: Mapping[str, int] | None = None  # how many ended how, where they were asked for
    crash: str = ""  # where our own code failed, the traceback

    @property
    def hypotheses(self) -> list[str]:
        return [show.brief(h) for h in self.statement.hypotheses] if self.statement else []

    @property
    def hypotheses_unused(self) -> list[str]:
        """The hypotheses that the proof doesn't need; none where there is no proof."""
        if self.judgement is None:
            return []
        used = self.judgement.hypotheses_used
        return [h for i, h in enumerate(self.hypotheses) if i not in used]

    @property
    def side_conditions(self) -> list[str]:
        """What must hold for the hypotheses and the goal to be defined, innermost first."""
        return [show.brief(c) for c in side_conditions(self.statement)] if self.statement else []

    def as_json(self) -> dict[str, object]:
        """The answer as plain data."""
        said, statement = self.judgement, self.statement
        return {
            "file": self.file,
            "verdict": str(self.verdict),
            "goal": show.brief(statement.goal) if statement else None,
            "sizes": stated_sizes(statement) if statement else None,
            "hypotheses": self.hypotheses,
            "hypotheses_unused": self.hypotheses_unused,
            "side_conditions": self.side_conditions,
            "axioms": sorted(said.axioms) if said else [],
            "rules": sorted(said.rules) if said else [],
            "seconds": round(self.seconds, 4),
            "cpu_seconds": round(self.busy, 4),
            "certificate": str(self.path) if self.path else None,
            "counterexample": _witness_json(self.witness),
            "message": self.message,
            "line": self.span.line if self.span else None,
            "column": self.span.column if self.span else None,
            "repair": [f"assume {show.brief(r)}" for r in self.repair],
            "repaired_verdict": str(self.repaired) if self.repaired is not None else None,
            "neighbour": self.neighbour or None,
            "mutants": dict(self.mutants) if self.mutants is not None else None,
            "crash": self.crash or None,
        }

    def __str__(self) -> str:
        head, *lines = self._lines()
        return "\n  ".join([f"{head} ({self.seconds:.2f} s)", *lines])

    def __repr__(self) -> str:
        return "\n  ".join(self._lines())

    def _lines(self) -> list[str]:
        shown = f"{self.file}: " if self.file else ""
        head = f"{shown}{self.verdict}"
        if self.judgement and self.statement:
            head += f" for {stated_sizes(self.statement)}"
        lines = [head]
        if self.message:
            lines.append(self.message)
        if self.statement:
            lines.append(f"show {show.brief(self.statement.goal, self.names)}")
            defined = show.definitions(self.names, [self.statement.goal])
            lines += [f"where {'; '.join(defined)}"] if defined else []
        if self.judgement:
            lines += self._proof_lines(self.judgement)
        if self.witness is not None:
            said = "counterexample" if isinstance(self.witness, Refutation) else "undefined at"
            lines += [f"{said}:", *(f"  {line}" for line in str(self.witness).splitlines())]
        if self.repair:
            given = "; ".join(f"assume {show.brief(r)}" for r in self.repair)
            lines.append(f"with {given}: {self.repaired}")
        if self.neighbour:
            lines.append(f"nearest true neighbour: {self.neighbour}")
        if self.mutants is not None:
            lines.append(f"mutants: {ended(self.mutants)}")
        return lines

    def _proof_lines(self, said: Judgement) -> list[str]:
        lines = []
        if self.side_conditions:
            lines.append(f"side conditions, proved: {'; '.join(self.side_conditions)}")
        if self.hypotheses_unused:
            lines.append(f"hypotheses not used: {'; '.join(self.hypotheses_unused)}")
        if said.axioms:
            lines.append(f"leans on: {', '.join(sorted(said.axioms))}")
        where = f", {self.path}" if self.path else ""
        lines.append(f"certificate: {said.steps} steps{where}")
        return lines

    def _repr_markdown_(self) -> str:
        if self.statement is None:
            return f"**{self.verdict}**: {words(self.message)}"
        parts = [display(show.latex(self.statement, names=self.names))]
        if isinstance(self.witness, Refutation):
            found = self.witness
            sides = typeset.sides(found.left, found.right, found.difference)
            counterexample = typeset.rows([*typeset.model(found.model), *sides])
            parts += [f"**{self.verdict}** by a counterexample:", display(counterexample)]
        elif isinstance(self.witness, UndefinedPoint):
            place = inline(self._latex(at_point(self.statement, self.witness.term)))
            why = words(self.witness.why)
            parts += [f"**{self.verdict}**: {place} can be undefined ({why}), as at"]
            parts += [display(typeset.rows(typeset.model(self.witness.model)))]
        else:
            said = f": {words(self.message)}" if self.message else ""
            sizes = f" for {stated_sizes(self.statement)}" if self.judgement else ""
            parts.append(f"**{self.verdict}**{sizes}{said}")
        parts += self._remarks(self.statement)
        return "\n\n".join(parts)

    def _remarks(self, statement: Statement) -> list[str]:
        """What there is to say besides the verdict, in Markdown."""
        found = []
        if self.judgement:
            said = self.judgement
            found.append(f"The checker accepted a certificate of {said.steps} steps.")
            unused = [
                h for i, h in enumerate(statement.hypotheses) if i not in said.hypotheses_used
            ]
            for told, terms in (
                ("Conditions that were proved on the way", self._conditions()),
                ("Hypotheses that the proof doesn't use", unused),
            ):
                shown = ", ".join(inline(self._latex(t)) for t in terms)
                found += [f"{told}: {shown}"] if shown else []
            found.append(f"Cited facts: {words(', '.join(sorted(said.axioms))) or 'none'}")
        if self.repair:
            given = ", ".join(inline(self._latex(r)) for r in self.repair)
            found.append(f"With {given} as a hypothesis: **{self.repaired}**")
        if self.near is not None:
            is_goal = self.near.hypotheses == statement.hypotheses
            told = inline(self._latex(self.near.goal)) if is_goal else words(self.neighbour)
            found.append(f"Nearest true neighbour: {told}")
        return found

    def _conditions(self) -> list[Term]:
        return side_conditions(self.statement) if self.statement else []

    def _latex(self, node: Term) -> str:
        scope = Scope.of(self.statement.declarations) if self.statement else None
        return show.latex(node, scope, self.names)


def decide(
    statement: Statement,
    *,
    seconds: float = 10.0,
    seed: int = 0,
    names: show.Names = show.NO_NAMES,
    neighbour: bool = True,
    lemmas: Sequence[Lemma] = (),
) -> Decision:
    """The answer for one statement.

    Args:
        statement: any statement, well-typed or not.
        seconds: the time in all, roughly.
        seed: of the refuter's instances.
        names: abbreviations for terms, to be used where the answer is shown.
        neighbour: whether the nearest true statement is looked for where this one is false, which
            takes longer than to see that it is.
        lemmas: what a proof may cite.
    """
    started, busy = time.perf_counter(), time.process_time()
    deadline = started + seconds
    answer = _decide(statement, deadline, seed, REPAIRS, names, lemmas)
    if neighbour and answer.verdict is Verdict.REFUTED:
        answer = _with_neighbour(answer, statement, deadline, seed, names)
    spent, busy = time.perf_counter() - started, time.process_time() - busy
    return replace(answer, seconds=spent, busy=busy, names=names)


def side_conditions(statement: Statement) -> list[Term]:
    """What must hold for the hypotheses and the goal to be defined, innermost first."""
    scope = Scope.of(statement.declarations)
    found: dict[Term, None] = {}
    for root in (*statement.hypotheses, statement.goal):
        try:
            found |= dict.fromkeys(reversed(obligations(root, scope)))
        except NotDefined:
            continue  # not even the condition can be stated; the checker refuses such a root
    return list(found)


def ended(mutants: Mapping[str, int]) -> str:
    """How mutants ended, in words."""
    return ", ".join(f"{count} {outcome}" for outcome, count in mutants.items())


def at_point(statement: Statement, node: Term) -> Term:
    """A subterm of a function that is differentiated, at the point where it is."""
    for root in (*statement.hypotheses, statement.goal):
        for binder in reversed(binders_above(root, node) or ()):
            if node.free == 0 or binder.op not in ("deriv", "grad"):
                break
            node = instantiate(node, (binder.args[1],))
    return node


# ---------------------------------------------------------------- the order of attempts


def _decide(
    statement: Statement,
    deadline: float,
    seed: int,
    repairs: int,
    names: show.Names,
    lemmas: Sequence[Lemma] = (),
) -> Decision:
    try:
        scope = Scope.of(statement.declarations)
        check_types(statement, scope=scope)
    except StatementError as error:
        return Decision(Verdict.ILL_POSED, statement, 0.0, error.message, span=error.span)
    seconds = _left(deadline)
    citable = by_hash(lemmas)
    # Most statements are settled by a few instances or by a short search, whichever it is.
    refuter = Refuter(statement, seed, scope=scope)
    found: dict[str, Any] | Failure = Failure("it is refuted")
    if not refuter.look(FIRST_INSTANCES, min(FIRST, seconds)):
        turns = _Turns(refuter)
        found = search(statement, min(SHORT, 0.3 * _left(deadline)), citable, turns)
    attempt = refuter.attempt()
    if attempt.witness is None and (isinstance(found, Failure) or not attempt.stats.satisfied):
        # Where there is a proof, one model shows that the hypotheses don't contradict each other.
        enough = None if isinstance(found, Failure) else 1
        refuter.look(QUICK_INSTANCES, min(QUICK, _left(deadline)), enough)
        attempt = refuter.attempt()
    if attempt.witness is not None:
        return _witnessed(statement, attempt, deadline, seed, repairs, names)
    if not attempt.stats.satisfied and _contradictory(statement, deadline):
        return Decision(
            Verdict.ILL_POSED, statement, 0.0, "the hypotheses contradict one another (proved), "
            "so the statement says nothing", attempt=attempt,
        )  # fmt: skip
    if isinstance(found, Failure) and not found.final:
        # The search has its share even where a single instance took long to evaluate.
        found = search(statement, max(0.8 * _left(deadline), 0.4 * seconds), citable)
    if not isinstance(found, Failure):
        return _proved(statement, found, attempt, deadline, lemmas)
    longer = refute(
        statement, seconds=min(LONG, _left(deadline)), seed=seed + 1, instances=LONG_INSTANCES
    )
    if longer.witness is not None:
        return _witnessed(statement, longer, deadline, seed, repairs, names)
    told = max(attempt, longer, key=lambda a: a.stats.satisfied)
    return _unsettled(statement, found, told, deadline)


class _Turns:
    """Lets the refuter look now and then, a third of the time that the search takes.

    Time is that of the processor, so that a busy machine decides in the same way.
    """

    def __init__(self, refuter: Refuter) -> None:
        self.refuter = refuter
        self.refuted = False
        self._left = QUICK
        self._next = time.process_time() + PATIENCE

    def __call__(self) -> bool:
        started = time.process_time()
        if started >= self._next and self._left > 0:
            self.refuted = self.refuter.look(QUICK_INSTANCES, min(PATIENCE / 2, self._left))
            spent = max(time.process_time() - started, PATIENCE / 20)
            self._left -= spent
            self._next = started + 4 * spent
        return self.refuted


def _proved(
    statement: Statement,
    certificate: dict[str, Any],
    attempt: Attempt,
    deadline: float,
    lemmas: Sequence[Lemma],
) -> Decision:
    """The checker's word on what the search found."""
    try:
        report = check(statement, certificate, by_hash(lemmas))
    except Rejected as error:
        failure = Failure(f"the search's certificate was rejected: {error}")
        return _unsettled(statement, failure, attempt, deadline)
    cited = [lemma for lemma in lemmas if lemma.statement.hash in report.lemmas]
    axioms = frozenset[str]().union(*(lemma.axioms for lemma in cited))
    verdict = Verdict.CONDITIONAL if axioms else Verdict.PROVED
    judgement = Judgement(
        verdict, axioms, frozenset(lemma.name for lemma in cited), rules=report.rules,
        hypotheses_used=report.hypotheses_used, steps=report.steps,
    )  # fmt: skip
    message = "" if attempt.stats.satisfied else "no model of the hypotheses was found"
    return Decision(
        verdict, statement, 0.0, message, judgement=judgement, certificate=certificate,
        lemmas=tuple(cited), attempt=attempt,
    )  # fmt: skip


def _witnessed(
    statement: Statement,
    attempt: Attempt,
    deadline: float,
    seed: int,
    repairs: int,
    names: show.Names,
) -> Decision:
    """Ill-posed or refuted, at a point that was evaluated exactly."""
    if attempt.undefined is not None:
        point = attempt.undefined
        where = show.brief(at_point(statement, point.term), names)
        message = f"{where} can be undefined under the hypotheses ({point.place}: {point.why})"
        answer = Decision(
            Verdict.ILL_POSED, statement, 0.0, message, witness=point, attempt=attempt
        )
        if point.repair is None or not repairs or _left(deadline) <= 0:
            return answer
        mended = _decide(_with(statement, point), deadline, seed, repairs - 1, names)
        return replace(
            answer,
            repair=(point.repair, *mended.repair),
            repaired=mended.verdict if mended.repaired is None else mended.repaired,
        )
    return Decision(Verdict.REFUTED, statement, 0.0, witness=attempt.refutation, attempt=attempt)


def _with_neighbour(
    answer: Decision, statement: Statement, deadline: float, seed: int, names: show.Names
) -> Decision:
    """The answer for a false statement with the nearest true one, where one is found."""
    until = time.perf_counter() + min(2.0, 0.5 * _left(deadline))
    found = nearest_true_neighbour(
        statement, lambda near: _is_provable(near, until), seconds=_left(until), seed=seed,
        names=names,
    )  # fmt: skip
    if found is None:
        return answer
    return replace(answer, neighbour=found.sentence, near=found.statement)


def _with(statement: Statement, point: UndefinedPoint) -> Statement:
    """The statement with the repair in front of whatever needs it."""
    assert point.repair is not None
    kind, _, number = point.place.partition(" ")
    place = int(number) - 1 if kind == "hypothesis" else len(statement.hypotheses)
    hypotheses = list(statement.hypotheses)
    hypotheses.insert(place, point.repair)
    return Statement(statement.declarations, tuple(hypotheses), statement.goal)


def _contradictory(statement: Statement, deadline: float) -> bool:
    """Whether the hypotheses prove 1 = 0."""
    absurd = Statement(statement.declarations, statement.hypotheses, CONTRADICTION)
    return not isinstance(prove(absurd, min(2.0, 0.3 * _left(deadline))), Failure)


def _is_provable(statement: Statement, deadline: float) -> bool:
    seconds = min(1.0, _left(deadline))
    return seconds > 0 and not isinstance(prove(statement, seconds), Failure)


def _unsettled(
    statement: Statement, failure: Failure, attempt: Attempt, deadline: float
) -> Decision:
    """Checked on instances, or open: what was tried, and which obligation is left."""
    held = attempt.stats.held + attempt.stats.enclosed
    missing = f": {show.brief(failure.missing)}" if failure.missing is not None else ""
    said = [f"no proof: {failure.reason}{missing}"]
    if failure.definedness and _holds_where_defined(statement, deadline):
        said.append("the relation is proved wherever both sides are defined")
    said.append(str(attempt.stats))
    verdict = Verdict.CHECKED if held else Verdict.OPEN
    return Decision(verdict, statement, 0.0, "; ".join(said), attempt=attempt)


def _holds_where_defined(statement: Statement, deadline: float) -> bool:
    """Whether the goal is proved once all side conditions are taken for granted."""
    conditions = (*statement.hypotheses, *side_conditions(statement))
    return _is_provable(Statement(statement.declarations, conditions, statement.goal), deadline)


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.perf_counter())


def _witness_json(witness: Refutation | UndefinedPoint | None) -> dict[str, object] | None:
    if witness is None:
        return None
    found: dict[str, object] = {"model": witness.model.to_json()}
    if isinstance(witness, UndefinedPoint):
        return found | {"undefined": show.brief(witness.term), "place": witness.place}
    return found | {
        "left": str(witness.left),
        "right": None if witness.right is None else str(witness.right),
        "difference": None if witness.difference is None else str(witness.difference),
        "exact": witness.exact,
    }
