"""The theorems: statement files with their certificates beside them, judged anew at every load.

`proofs/theorems/<subject>/<name>.thm` is a theorem and `<name>.json` holds its certificates, one
for each goal. A file in `proofs/theorems/cited/` is a fact that is only cited, with its reference;
it has no certificate. Nothing else is stored: what a theorem rests on is computed from the
certificates, through every theorem that they cite.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofs.language.errors import StatementError
from proofs.language.show import pretty
from proofs.language.tree import Statement, Term, load_json
from proofs.typeset import Typeset, statements, words
from proofs.verdict import Verdict, weakest

if TYPE_CHECKING:
    from proofs.language.parser import Document

THEOREMS = Path(__file__).parent / "theorems"
CITED = "cited"  # the subject of facts that are only cited
FORMAT = 1
HEADERS = frozenset({"items", "derive", "kernel", "where", "domain", "at", "cites", "uses"})


class UnknownTheorem(LookupError):
    """A name that no theorem has; says which names are near."""


@dataclass(frozen=True, slots=True, repr=False)
class Theorem(Typeset):
    """A statement file and what lies beside it.

    `statements` has one entry for each goal, and `certificates` one for each statement. A file
    that can't be read has neither, and says why in `problem`.
    """

    name: str  # subject.name
    path: Path
    document: Document | None
    certificates: tuple[object, ...] = ()
    problem: str = ""

    @property
    def subject(self) -> str:
        return self.name.partition(".")[0]

    @property
    def is_cited(self) -> bool:
        """Whether this is a fact without a proof of ours."""
        return self.subject == CITED

    @property
    def title(self) -> str:
        return self.document.title if self.document else ""

    @property
    def statements(self) -> tuple[Statement, ...]:
        return self.document.statements if self.document else ()

    @property
    def defines(self) -> Mapping[str, Term]:
        """The abbreviations that the file makes."""
        return self.document.defines if self.document else {}

    @property
    def items(self) -> tuple[str, ...]:
        """The numbers of the results in the texts that this theorem states."""
        return self.header("items")

    @property
    def derive(self) -> tuple[str, ...]:
        """The derivations, as `subject.name`, whose result the theorem states."""
        return self.header("derive")

    @property
    def kernel(self) -> tuple[str, ...]:
        """The emitted kernels, as `module.function`, that compute what the theorem states."""
        return self.header("kernel")

    @property
    def cites(self) -> tuple[str, ...]:
        """References to the literature."""
        return self.header("cites")

    def header(self, key: str) -> tuple[str, ...]:
        return tuple(self.document.headers.get(key, ())) if self.document else ()

    def __str__(self) -> str:
        heading = "; ".join(filter(None, (self.name, self.title, self.problem)))
        return "\n\n".join([heading, *(pretty(s, self.defines) for s in self.statements)])

    def _repr_markdown_(self) -> str:
        items = f" ({', '.join(self.items)})" if self.items else ""
        told = " ".join(filter(None, (self.title, self.problem)))
        heading = f"**{words(self.name)}**{words(items)}. {words(told)}"
        return "\n\n".join([heading, *statements(self.statements, self.defines)])


@dataclass(frozen=True, slots=True)
class Lemma:
    """A statement that holds, for proofs to cite: its name, and the cited facts under it."""

    name: str
    statement: Statement
    axioms: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the checker says of one goal: proved, conditional on `axioms`, or open for a reason."""

    verdict: Verdict
    axioms: frozenset[str] = frozenset()  # names of cited facts, through all lemmas
    lemmas: frozenset[str] = frozenset()  # names of theorems that the certificate cites
    rules: frozenset[str] = frozenset()
    hypotheses_used: frozenset[int] = frozenset()
    steps: int = 0
    reason: str = ""


class Library:
    """All theorems below a folder, by name; that of this package by default.

    A file that is broken spoils only what cites it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or THEOREMS
        self._judgements: dict[str, Judgement] = {}  # by hash of the statement
        self._judging: set[str] = set()

    @cached_property
    def theorems(self) -> Mapping[str, Theorem]:
        """The theorems by name, in the order of their names; cited facts too."""
        paths = sorted(self.folder.glob("*/*.thm"))
        return {t.name: t for t in map(read_theorem, paths)}

    def __iter__(self) -> Iterator[Theorem]:
        """The theorems that have to be proved."""
        return (t for t in self.theorems.values() if not t.is_cited)

    def find(self, name: str) -> Theorem:
        """The theorem with this name; its subject may be left out where that is unambiguous.

        Raises:
            UnknownTheorem: there is none, or more than one.
        """
        if name in self.theorems:
            return self.theorems[name]
        found = [t for full, t in self.theorems.items() if full.partition(".")[2] == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownTheorem(f"{name!r} may be {' or '.join(t.name for t in found)}")
        near = difflib.get_close_matches(name, self.theorems, n=3, cutoff=0.4)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UnknownTheorem(f"there is no theorem {name!r}{hint}")

    def judge(self, theorem: Theorem) -> tuple[Judgement, ...]:
        """What the checker says of each goal of a theorem."""
        return tuple(
            self._judgement(theorem, place, statement.hash)
            for place, statement in enumerate(theorem.statements)
        )

    def verdict(self, theorem: Theorem) -> Verdict:
        """What can be said of all goals together; of an unreadable file, that it is ill-posed."""
        judgements = self.judge(theorem)
        return weakest(j.verdict for j in judgements) if judgements else Verdict.ILL_POSED

    def axioms(self, theorem: Theorem) -> frozenset[str]:
        """Everything that the proofs of a theorem rest on, besides the checker's rules."""
        return frozenset[str]().union(*(j.axioms for j in self.judge(theorem)))

    def used(self, names: Iterable[str]) -> tuple[Lemma, ...]:
        """The goals that hold of theorems and cited facts with these names.

        Raises:
            UnknownTheorem: a name is not one's, or that of several.
        """
        found = []
        for theorem in map(self.find, names):
            for statement, said in zip(theorem.statements, self.judge(theorem), strict=True):
                if said.verdict in (Verdict.PROVED, Verdict.CONDITIONAL):
                    found.append(Lemma(theorem.name, statement, said.axioms))
        return tuple(found)

    def lemmas(self, certificate: object, citing: Theorem | None = None) -> dict[str, Statement]:
        """The statements of `cited` by hash, as the checker looks them up."""
        return by_hash(self.cited(certificate, citing))

    def cited(self, certificate: object, citing: Theorem | None = None) -> tuple[Lemma, ...]:
        """The statements that a certificate cites and that hold.

        Args:
            certificate: decoded JSON.
            citing: the theorem whose certificate it is, where it may lie outside the library: the
                other goals of its file may be cited too.
        """
        found = []
        for hash_ in sorted(cited_hashes(certificate)):
            place = self._place(hash_, citing)
            if place is None:
                continue
            said = self._judgement(*place, hash_)
            if said.verdict in (Verdict.PROVED, Verdict.CONDITIONAL):
                theorem, index = place
                found.append(Lemma(theorem.name, theorem.statements[index], said.axioms))
        return tuple(found)

    @cached_property
    def _places(self) -> dict[str, tuple[Theorem, int]]:
        """Where each statement stands; a statement that is also proved is not a cited fact."""
        found: dict[str, tuple[Theorem, int]] = {}
        for theorem in sorted(self.theorems.values(), key=lambda t: t.is_cited):
            for place, statement in enumerate(theorem.statements):
                found.setdefault(statement.hash, (theorem, place))
        return found

    def _place(self, hash_: str, citing: Theorem | None) -> tuple[Theorem, int] | None:
        """Where a statement stands, in the file that cites it first of all."""
        own = [s.hash for s in citing.statements] if citing and not citing.is_cited else []
        return (citing, own.index(hash_)) if citing and hash_ in own else self._places.get(hash_)

    def _judgement(self, theorem: Theorem, place: int, hash_: str) -> Judgement:
        if theorem.is_cited and not theorem.problem:
            return Judgement(Verdict.CONDITIONAL, axioms=frozenset({theorem.name}))
        if hash_ not in self._judgements:
            if hash_ in self._judging:  # it cites itself, through others: no one may lean on it
                return Judgement(Verdict.OPEN, reason="its proof runs in a circle")
            self._judging.add(hash_)
            try:
                self._judgements[hash_] = self._judge(theorem, place)
            finally:
                self._judging.discard(hash_)
        return self._judgements[hash_]

    def _judge(self, theorem: Theorem, place: int) -> Judgement:
        from proofs.checker.judge import Rejected, check

        if theorem.problem:
            return Judgement(Verdict.OPEN, reason=theorem.problem)
        certificate = theorem.certificates[place]
        cited = self.cited(certificate, theorem)
        lemmas = by_hash(cited)
        try:
            report = check(theorem.statements[place], certificate, lemmas)
        except Rejected as error:
            missing = sorted(cited_hashes(certificate) - lemmas.keys())
            why = f"; it cites {', '.join(map(self._name, missing))}" if missing else ""
            return Judgement(Verdict.OPEN, reason=f"certificate rejected: {error}{why}")
        leaned_on = [m for m in cited if m.statement.hash in report.lemmas]
        axioms = frozenset[str]().union(*(m.axioms for m in leaned_on))
        return Judgement(
            verdict=Verdict.CONDITIONAL if axioms else Verdict.PROVED,
            axioms=axioms,
            lemmas=frozenset(m.name for m in leaned_on),
            rules=report.rules,
            hypotheses_used=report.hypotheses_used,
            steps=report.steps,
        )

    def _name(self, hash_: str) -> str:
        """How a person would call a cited statement that may not be leaned on."""
        if hash_ not in self._places:
            return f"an unknown statement {hash_[:20]}"
        return f"{self._places[hash_][0].name}, which is not proved"


def by_hash(lemmas: Iterable[Lemma]) -> dict[str, Statement]:
    """The statements, as the checker looks them up."""
    return {lemma.statement.hash: lemma.statement for lemma in lemmas}


def read_theorem(path: Path) -> Theorem:
    """The theorem in a statement file; whatever is wrong with it becomes its `problem`."""
    from proofs.language.infer import check as check_types
    from proofs.language.parser import parse

    name = f"{path.parent.name}.{path.stem}"
    try:
        document = parse(path.read_text(encoding="utf-8"), path=str(path))
        for statement in document.statements:
            check_types(statement, document.spans)
    except (StatementError, OSError, UnicodeDecodeError) as error:
        return Theorem(name, path, None, problem=f"{path.name}: {error}")
    theorem = Theorem(name, path, document)
    unknown = sorted(set(document.headers) - HEADERS)
    if unknown:
        problem = f"{path.name}: no header is called {unknown[0]!r}; there are {sorted(HEADERS)}"
        return Theorem(name, path, document, problem=problem)
    if theorem.is_cited:
        problem = "" if theorem.cites else f"{path.name}: a cited fact needs `#! cites:`"
        return Theorem(name, path, document, problem=problem)
    try:
        certificates = read_certificates(path.with_suffix(".json"), len(document.statements))
    except (StatementError, OSError, UnicodeDecodeError) as error:
        return Theorem(name, path, document, problem=str(error))
    return Theorem(name, path, document, certificates)


def read_certificates(path: Path, goals: int | None) -> tuple[object, ...]:
    """The certificates in a file, one for each goal, not yet judged.

    Args:
        path: the file.
        goals: how many there must be; None: any number.

    Raises:
        OSError: no such file.
        StatementError: it doesn't have the form `{"format": 1, "goals": [...]}`, or another
            number of goals.
    """
    try:
        raw = load_json(path.read_text(encoding="utf-8"))
    except StatementError as error:
        raise StatementError(f"{path.name}: {error}") from None
    if not isinstance(raw, dict) or set(raw) != {"format", "goals"}:
        raise StatementError(f"{path.name}: expected an object with exactly: format, goals")
    if raw["format"] != FORMAT:
        raise StatementError(f"{path.name}: format {raw['format']!r}, expected {FORMAT}")
    certificates = raw["goals"]
    if not isinstance(certificates, list) or goals not in (None, len(certificates)):
        count = len(certificates) if isinstance(certificates, list) else "no list of"
        raise StatementError(f"{path.name}: {count} certificates for {goals} goals")
    return tuple(certificates)


def write_certificates(path: Path, certificates: Iterable[Mapping[str, Any]]) -> None:
    """Write certificates as `read_certificates` reads them: a node or a step on each line.

    Raises:
        OSError: nothing can be written there.
    """
    goals = ",\n".join(map(_laid_out, certificates))
    path.write_text(f'{{"format": {FORMAT}, "goals": [\n{goals}\n]}}\n', encoding="utf-8")


def _laid_out(certificate: Mapping[str, Any]) -> str:
    parts = []
    for key, value in certificate.items():
        shown = json.dumps(value)
        if isinstance(value, list) and value:
            rows = ",\n  ".join(map(json.dumps, value))
            shown = f"[\n  {rows}\n ]"
        parts.append(f'"{key}": {shown}')
    return "{" + ",\n ".join(parts) + "}"


def cited_hashes(certificate: object) -> set[str]:
    """The hashes of the statements that a certificate cites, in sub-proofs too."""
    found, stack = set(), [certificate]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, dict):
            if value.get("rule") == "lemma" and isinstance(value.get("statement"), str):
                found.add(value["statement"])
            stack.extend(value.values())
    return found
