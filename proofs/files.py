"""Deciding statement files: certificates beside them, folders of them, several processes."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proofs.decide import Decision, decide, ended
from proofs.language.errors import StatementError
from proofs.language.parser import parse
from proofs.language.tree import Statement
from proofs.library import (
    THEOREMS,
    Judgement,
    Lemma,
    Library,
    Theorem,
    UnknownTheorem,
    by_hash,
    read_certificates,
    write_certificates,
)
from proofs.processes import mapped
from proofs.refute import UndefinedPoint
from proofs.typeset import Typeset
from proofs.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Task:
    """A file to decide, and how; see `decide_file`."""

    path: Path
    seconds: float = 10.0
    seed: int = 0
    certificates: Path | None = None
    write: bool = False
    mutants: bool = False
    neighbour: bool = True


def statement_files(paths: Iterable[Path]) -> list[Path]:
    """The files, and in place of a folder all statement files in it and below, by name.

    A folder without any stays, so that it gets its answer too.
    """
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.rglob("*.thm")) if path.is_dir() else []
        found += inside or [path]
    return found


@dataclass(frozen=True, slots=True)
class Told:
    """An answer as plain data and as text: what goes from one process to another."""

    verdict: Verdict
    text: str
    row: Mapping[str, Any]  # as JSON shows it

    @staticmethod
    def of(decision: Decision) -> Told:
        """What is told of a decision."""
        return Told(decision.verdict, str(decision), decision.as_json())

    @property
    def file(self) -> str:
        return self.row["file"]

    @property
    def seconds(self) -> float:
        return self.row["seconds"]

    @property
    def busy(self) -> float:
        """Seconds of the processor."""
        return self.row["cpu_seconds"]

    @property
    def message(self) -> str:
        return self.row["message"]

    @property
    def mutants(self) -> Mapping[str, int] | None:
        """How many ended how, where they were asked for."""
        return self.row["mutants"]

    @property
    def crash(self) -> str:
        """Where our own code failed, the traceback."""
        return self.row["crash"] or ""


def decide_all(tasks: Sequence[Task], jobs: int = 1) -> Iterator[list[Told]]:
    """The answers for each file, in their order; in `jobs` processes if more than one."""
    return mapped(_told, tasks, jobs, _lost)


def _told(task: Task) -> list[Told]:
    answers = decide_file(
        task.path, seconds=task.seconds, seed=task.seed, certificates=task.certificates,
        write=task.write, neighbour=task.neighbour,
    )  # fmt: skip
    if task.mutants:
        answers = [_attacked(answer, task) for answer in answers]
    return list(map(Told.of, answers))


def as_json(answers: Sequence[Told]) -> str:
    """The answers as a JSON list."""
    return json.dumps([answer.row for answer in answers], indent=2, ensure_ascii=False) + "\n"


def summary(answers: Sequence[Told]) -> str:
    """How many goals have which verdict, and how all mutants ended."""
    counts = Counter(answer.verdict for answer in answers)
    shown = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    noun = "goal" if len(answers) == 1 else "goals"
    lines = [f"{len(answers)} {noun}: {shown or 'none'}"]
    attacked = [answer.mutants for answer in answers if answer.mutants is not None]
    if attacked:
        total = {outcome: sum(m[outcome] for m in attacked) for outcome in attacked[0]}
        lines.append(f"{sum(total.values())} mutants: {ended(total)}")
    return "\n".join(lines)


def _attacked(answer: Decision, task: Task) -> Decision:
    """The answer with what became of the mutants, where there is a proof to rebind to them."""
    if answer.statement is None or answer.certificate is None:
        return answer
    from proofs.attack import attack

    lemmas = by_hash(answer.lemmas)
    counts = attack(answer.statement, answer.certificate, lemmas, seed=task.seed)
    return replace(answer, mutants=counts)


def _lost(task: Task) -> list[Told]:
    message = "failed by a bug of ours: the process that decided this file died"
    decision = Decision(Verdict.OPEN, None, 0.0, message, str(task.path), crash=message)
    return [Told.of(decision)]


def decide_file(
    path: Path,
    *,
    seconds: float = 10.0,
    seed: int = 0,
    certificates: Path | None = None,
    write: bool = False,
    neighbour: bool = True,
) -> list[Decision]:
    """The answers for all goals of a statement file.

    A certificate that lies beside the file is used where the checker accepts it. Nothing that a
    file contains raises; a failure of ours is an open answer that says so.

    Args:
        path: a `.thm` file.
        seconds: for each goal.
        seed: of the refuter's instances.
        certificates: the folder to write new certificates to. Default: `default_folder()`.
        write: whether the certificates are written beside the file too, where all goals hold.
        neighbour: see `decide`.
    """
    started, before = time.perf_counter(), time.process_time()
    try:
        document = parse(_text(path), path=str(path))
    except (StatementError, OSError, UnicodeDecodeError) as error:
        span = error.span if isinstance(error, StatementError) else None
        spent = time.perf_counter() - started
        return [Decision(Verdict.ILL_POSED, None, spent, str(error), str(path), span)]
    except Exception as error:  # noqa: BLE001
        return [_failed(None, error, path, time.perf_counter() - started)]
    spent = time.perf_counter() - started
    beside = path.with_suffix(".json")
    library, theorem = Library(), Theorem(_name(path), path, document)
    try:
        lemmas = list(library.used(theorem.header("uses")))
    except UnknownTheorem as error:
        message = f"#! uses: {error.args[0]}"
        return [Decision(Verdict.ILL_POSED, None, spent, message, str(path))]
    known = _known_proofs(library, theorem, beside)
    answers: list[Decision] = []
    for place, statement in enumerate(document.statements):
        if place in known:
            judgement, certificate = known[place]
            answer = Decision(
                judgement.verdict, statement, time.perf_counter() - started, file=str(path),
                judgement=judgement, certificate=certificate, path=beside, names=document.defines,
                lemmas=library.cited(certificate, theorem), busy=time.process_time() - before,
            )  # fmt: skip
        else:
            try:
                answer = decide(
                    statement,
                    seconds=seconds,
                    seed=seed,
                    names=document.defines,
                    neighbour=neighbour,
                    lemmas=lemmas,
                )
            except Exception as error:  # noqa: BLE001  # the other goals and files go on
                answer = _failed(statement, error, path, time.perf_counter() - started - spent)
            answer = replace(answer, file=str(path), seconds=answer.seconds + spent)
            if isinstance(answer.witness, UndefinedPoint):
                answer = replace(answer, span=document.spans.get(answer.witness.term))
            answer = replace(answer, busy=time.process_time() - before)
            if answer.certificate is not None:
                kept = _keep(statement, answer.certificate, certificates or default_folder())
                answer = replace(answer, path=kept)
        answers.append(answer)
        if answer.judgement is not None:  # the goals that follow may use this one
            lemmas.append(Lemma(theorem.name, statement, answer.judgement.axioms))
        started, before, spent = time.perf_counter(), time.process_time(), 0.0
    return _written(answers, beside) if write and len(known) < len(answers) else answers


class Answers(Typeset, tuple[Decision, ...]):
    """Answers that are shown one below the other."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))

    def _repr_markdown_(self) -> str:
        return "\n\n".join(answer._repr_markdown_() for answer in self)


def decide_text(text: str, *, seconds: float = 10.0, seed: int = 0) -> Answers:
    """The answers for all goals of a text in the statement language.

    Raises:
        StatementError: it is no such text; the message says where and why.

    Example:
        >>> decide_text("let x : real\\nshow x^2 >= 0")[0].verdict
        <Verdict.PROVED: 'proved'>
    """
    document = parse(text)
    return Answers(
        decide(statement, seconds=seconds, seed=seed, names=document.defines)
        for statement in document.statements
    )


def _text(path: Path) -> str:
    if path.is_dir():
        raise StatementError("the folder holds no statement file (*.thm)")
    return path.read_text(encoding="utf-8")


def _failed(statement: Statement | None, error: Exception, path: Path, spent: float) -> Decision:
    """The answer where our own code failed: nothing is known, and it must not be hidden."""
    return Decision(
        Verdict.OPEN, statement, spent, f"failed by a bug of ours: {type(error).__name__}: {error}",
        str(path), crash="".join(traceback.format_exception(error)),
    )  # fmt: skip


def default_folder() -> Path:
    """Where certificates go that nobody asked for elsewhere: the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "demonstrandum" / "certificates"


# ---------------------------------------------------------------- certificates in files


def _name(path: Path) -> str:
    """What a file is called as a theorem: by its folder where it lies in the library."""
    folder = path.resolve().parent
    return f"{folder.name if folder.parent == THEOREMS else 'statement'}.{path.stem}"


def _known_proofs(
    library: Library, theorem: Theorem, beside: Path
) -> dict[int, tuple[Judgement, Mapping[str, Any]]]:
    """The goals whose certificate in the file beside is accepted, by place."""
    if not beside.is_file():
        return {}
    try:
        certificates = read_certificates(beside, len(theorem.statements))
    except (StatementError, OSError, UnicodeDecodeError):
        return {}
    judged = library.judge(replace(theorem, certificates=certificates))
    return {
        place: (judgement, certificate)  # type: ignore[misc]  # accepted, so it is an object
        for place, (judgement, certificate) in enumerate(zip(judged, certificates, strict=True))
        if judgement.verdict in (Verdict.PROVED, Verdict.CONDITIONAL)
    }


def _keep(statement: Statement, certificate: Mapping[str, Any], folder: Path) -> Path | None:
    """Write a certificate under its statement's hash; None where nothing can be written."""
    path = folder / f"{statement.hash.removeprefix('sha256:')[:32]}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_certificates(path, [certificate])
    except OSError:
        return None
    return path


def _written(answers: list[Decision], beside: Path) -> list[Decision]:
    """The answers with their certificates in the file beside, or with the reason why not."""
    certificates = [answer.certificate for answer in answers]
    held = [certificate for certificate in certificates if certificate is not None]
    if not held:
        return answers
    try:
        if len(held) < len(answers):
            raise StatementError("not every goal is proved")
        if beside.exists():
            read_certificates(beside, None)  # whatever else lies there is not overwritten
        write_certificates(beside, held)
    except (StatementError, OSError, UnicodeDecodeError) as error:
        said = f"no certificate was written beside the file: {error}"
        return [replace(a, message="; ".join(filter(None, (a.message, said)))) for a in answers]
    return [replace(answer, path=beside) for answer in answers]
