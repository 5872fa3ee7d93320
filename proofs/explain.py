"""A proof as a person would write it: each step of a certificate, and what it follows from.

Nothing is judged here. The relations that steps establish are read off the certificate once the
checker has accepted it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from proofs.checker.facts import declared_facts
from proofs.checker.rules import find_rule, instance_of
from proofs.decide import Decision
from proofs.files import decide_file
from proofs.language import show
from proofs.language.infer import Scope
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    abstract,
    decode_nodes,
    instantiate,
    name,
    names_in,
    postorder,
    rational,
    substitute,
    term,
)
from proofs.library import Judgement, Lemma, Library, Theorem
from proofs.report import stated_sizes
from proofs.typeset import Typeset, display, inline, words
from proofs.verdict import Verdict, weakest

ONE, ZERO = rational(1), rational(0)
INDENT = "    "
MODES = {"T": ".T", "C": " conjugated", "H": ".H"}
LATEX_MODES = {"T": r"^{\top}", "H": r"^{\mathsf{H}}"}


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Typeset):
    """A theorem with its proofs, to be printed; in a notebook the formulas are typeset."""

    heading: str
    verdict: Verdict
    goals: tuple[GoalExplanation | Decision, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.heading}: {self.verdict}", *(f"\n{g}" for g in self.goals)])

    def _repr_markdown_(self) -> str:
        name, _, about = self.heading.partition("; ")
        goals = (goal._repr_markdown_() for goal in self.goals)
        return "\n\n".join([f"**{words(name)}** ({self.verdict}). {words(about)}", *goals])


@dataclass(frozen=True, slots=True, repr=False)
class GoalExplanation(Typeset):
    """One goal: the statement, its proof line by line, and what the proof rests on.

    `names` are the abbreviations that its file makes.
    """

    statement: Statement
    judgement: Judgement
    lines: tuple[Line, ...]
    names: show.Names = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [show.pretty(self.statement, self.names), ""]
        if self.lines:
            parts.append(f"Proof, for {stated_sizes(self.statement)}")
            parts += (line.text(self.names) for line in self.lines)
            if self.lines[-1].relation is not self.statement.goal:
                parts.append(f"hence {show.brief(self.statement.goal, self.names)}")
            parts.append("")
        parts += self._closing()
        if self.lines and self.unused_hypotheses:
            unused = "; ".join(self.unused_hypotheses)
            parts.append(f"Hypotheses that the proof doesn't use: {unused}")
        return "\n".join(parts)

    def _repr_markdown_(self) -> str:
        parts = [display(show.latex(self.statement, names=self.names))]
        if self.lines:
            table = ["| | | because |", "|--:|:--|:--|"]
            table += (line.row(self.names) for line in self.lines)
            parts += [f"*Proof*, for {stated_sizes(self.statement)}.", "\n".join(table)]
            if self.lines[-1].relation is not self.statement.goal:
                scope = Scope.of(self.statement.declarations)
                goal = show.latex(self.statement.goal, scope, self.names)
                parts.append(f"Hence {inline(goal)}.")
        parts.append("  \n".join(map(words, self._closing())))
        if self.lines and self.unused_hypotheses:
            scope = Scope.of(self.statement.declarations)
            shown = ", ".join(inline(show.latex(h, scope, self.names)) for h in self._unused())
            parts.append(f"Hypotheses that the proof doesn't use: {shown}")
        return "\n\n".join(parts)

    def _closing(self) -> list[str]:
        """What the proof rests on, or why there is none."""
        said = self.judgement
        if not self.lines:
            if said.verdict is Verdict.CONDITIONAL:
                return ["A fact that is cited, not proved here."]
            if said.verdict is Verdict.PROVED:
                return ["Both sides are the same once they are expanded: arithmetic alone."]
            return [f"No proof: {said.reason}"]
        parts = ["Rests on the rules " + (", ".join(sorted(said.rules)) or "of algebra")]
        if said.lemmas:
            parts.append(f"and on the theorems {', '.join(sorted(said.lemmas))}")
        return [*parts, "Cited facts: " + (", ".join(sorted(said.axioms)) or "none")]

    def _unused(self) -> list[Term]:
        used = self.judgement.hypotheses_used
        return [h for place, h in enumerate(self.statement.hypotheses) if place not in used]

    @property
    def unused_hypotheses(self) -> list[str]:
        return [show.brief(hypothesis, self.names) for hypothesis in self._unused()]


# ---------------------------------------------------------------- a line and its reason


@dataclass(frozen=True, slots=True)
class Cited:
    """A rule or a theorem, and what was put for its names."""

    called: str
    values: tuple[tuple[str, Term], ...]


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier line, as it enters a sum: as it is, transposed, conjugated, or both."""

    place: int
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Square:
    """A square, as it enters a sum."""

    root: Term


@dataclass(frozen=True, slots=True)
class Summand:
    """A product in a sum, inside a trace or an inner product where `around` says so."""

    is_negative: bool
    factors: tuple[Term | Earlier | Square, ...]
    around: str = ""


Sum = tuple[Summand, ...]
Part = str | Term | Cited | Sum


@dataclass(frozen=True, slots=True)
class Line:
    """One step: its number, the relation that it establishes, and the reason."""

    number: int
    relation: Term
    reason: tuple[Part, ...]
    scope: Scope
    depth: int = 0

    def __str__(self) -> str:
        return self.text(show.NO_NAMES)

    def text(self, names: show.Names) -> str:
        """The line in the statement language, with these abbreviations."""
        pad = INDENT * self.depth
        reason = "".join(_as_text(part, names) for part in self.reason)
        return f"{pad}({self.number}) {show.brief(self.relation, names)}\n{pad}{INDENT}{reason}"

    def row(self, names: show.Names) -> str:
        """The line as a row of a Markdown table; what was put for a rule's names is left out."""
        relation = inline(show.latex(self.relation, self.scope, names))
        reason = "".join(_as_markdown(part, self.scope, names) for part in self.reason)
        return f"| ({self.number}) | {'&emsp;' * self.depth}{relation} | {reason} |"


def _as_text(part: Part, names: show.Names) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Term):
        return show.brief(part, names)
    if isinstance(part, Cited):
        shown = [(n, show.brief(v, names)) for n, v in part.values]
        put = ", ".join(f"{n} := {v}" for n, v in shown if v != n)
        return part.called + (f" with {put}" if put else "")
    return _summed(part, lambda summand: _product(summand, names))


def _as_markdown(part: Part, scope: Scope, names: show.Names) -> str:
    if isinstance(part, str):
        return words(part)
    if isinstance(part, Term):
        return inline(show.latex(part, scope, names))
    if isinstance(part, Cited):
        kind, _, called = part.called.partition(" ")
        return f"{kind} `{called}`"
    return inline(_summed(part, lambda summand: _latex_product(summand, scope, names)))


def _summed(summands: Sum, shown: Callable[[Summand], str]) -> str:
    """A sum as a person writes it: `(4) - (5)`, not `(4) + -1*(5)`."""
    text = ""
    for summand in summands:
        sign = "-" if summand.is_negative else "+"
        text += (f" {sign} " if text else sign.strip("+")) + shown(summand)
    return text or "0"


def _product(summand: Summand, names: show.Names) -> str:
    shown = []
    for factor in summand.factors:
        if isinstance(factor, Earlier):
            shown.append(f"({factor.place + 1})" + MODES.get(factor.mode, ""))
        elif isinstance(factor, Square):
            shown.append(f"({show.brief(factor.root, names)})^2")
        else:
            text = show.brief(factor, names)
            shown.append(f"({text})" if _is_sum(factor, names) else text)
    if summand.around == "inner":
        return f"inner({', '.join(shown)})"
    return f"tr({'*'.join(shown)})" if summand.around == "tr" else "*".join(shown)


def _latex_product(summand: Summand, scope: Scope, names: show.Names) -> str:
    shown = []
    for factor in summand.factors:
        if isinstance(factor, Earlier):
            place = f"({factor.place + 1})"
            conjugated = rf"\overline{{{place}}}"
            shown.append(
                conjugated if factor.mode == "C" else place + LATEX_MODES.get(factor.mode, "")
            )
        elif isinstance(factor, Square):
            shown.append(rf"\left( {show.latex(factor.root, scope, names)} \right)^{{2}}")
        else:
            text = show.latex(factor, scope, names)
            shown.append(rf"\left( {text} \right)" if _is_sum(factor, names) else text)
    if summand.around == "inner":
        return rf"\left\langle {', '.join(shown)} \right\rangle"
    product = r"\,".join(shown)
    return rf"\operatorname{{tr}}\left( {product} \right)" if summand.around == "tr" else product


def _is_sum(node: Term, names: show.Names) -> bool:
    return node.op in ("add", "sub", "neg") and node not in names.values()


# ---------------------------------------------------------------- reading certificates


def explain_theorem(theorem: Theorem, library: Library) -> Explanation:
    """The statement, the proof of each goal, and what it rests on."""
    goals = []
    for place, judgement in enumerate(library.judge(theorem)):
        certificate: Any = theorem.certificates[place] if judgement.steps else None
        lemmas = library.cited(certificate, theorem)
        goals.append(
            _goal(theorem.statements[place], judgement, certificate, lemmas, theorem.defines)
        )
    heading = [theorem.name, theorem.title.rstrip("."), " ".join(theorem.items), *theorem.cites]
    shown = "; ".join(part for part in heading if part)
    if theorem.problem and not goals:
        shown += f"; {theorem.problem}"
    return Explanation(shown, library.verdict(theorem), tuple(goals))


def explain_file(path: Path, *, seconds: float = 10.0) -> Explanation:
    """The same for any statement file; without a certificate beside it, it is decided first."""
    return explain_answers(str(path), decide_file(path, seconds=seconds))


def explain_answers(heading: str, answers: Sequence[Decision]) -> Explanation:
    """The proofs of what was decided; an answer without a proof stands for itself."""
    goals = [
        _goal(answer.statement, answer.judgement, answer.certificate, answer.lemmas, answer.names)
        if answer.statement and answer.judgement and answer.certificate else answer
        for answer in answers
    ]  # fmt: skip
    return Explanation(heading, weakest(a.verdict for a in answers), tuple(goals))


def _goal(
    statement: Statement, judgement: Judgement, certificate: Mapping[str, Any] | None,
    lemmas: Sequence[Lemma], names: show.Names,
) -> GoalExplanation:  # fmt: skip
    lines: Sequence[Line] = ()
    if certificate is not None:
        lines = proof_lines(statement, certificate, lemmas)
    taken = set[str]().union(*(names_in(line.relation) for line in lines))
    free = {n: node for n, node in names.items() if n not in taken}
    return GoalExplanation(statement, judgement, tuple(lines), free)


def proof_lines(
    statement: Statement,
    certificate: Mapping[str, Any],
    lemmas: Sequence[Lemma] = (),
) -> list[Line]:
    """The steps of an accepted certificate, those of sub-proofs indented.

    Args:
        statement: what is proved.
        certificate: a certificate that the checker has accepted for it.
        lemmas: what the certificate cites.
    """
    nodes = decode_nodes(certificate["nodes"], postorder(statement.roots()))
    reader = _Reader(statement, nodes, lemmas)
    reader.run(certificate["steps"], [], list(statement.declarations), 0)
    return reader.lines


Shown = tuple[Term, tuple[Part, ...]]  # what a step establishes, and why


class _Reader:
    def __init__(
        self,
        statement: Statement,
        nodes: list[Term],
        lemmas: Sequence[Lemma],
    ) -> None:
        self.statement, self.nodes = statement, nodes
        self.lemmas = {lemma.statement.hash: lemma for lemma in lemmas}
        self.lines: list[Line] = []

    def run(
        self, steps: list[dict[str, Any]], facts: list[Term], scope: list[Declaration], depth: int
    ) -> list[Term]:
        for step in steps:
            relation, reason = getattr(self, f"_{step['rule']}")(step, facts, scope, depth)
            scope_here = Scope.of(tuple(scope))
            self.lines.append(Line(len(facts) + 1, relation, reason, scope_here, depth))
            facts.append(relation)
        return facts

    def _suppose(
        self,
        relation: Term,
        facts: list[Term],
        scope: list[Declaration],
        depth: int,
        why: str = "supposed",
    ) -> None:
        """A fact of a sub-proof that is not proved there."""
        self.lines.append(Line(len(facts) + 1, relation, (why,), Scope.of(tuple(scope)), depth))
        facts.append(relation)

    def _hypothesis(self, step: dict[str, Any], *_: object) -> Shown:
        return self.statement.hypotheses[step["index"]], (f"hypothesis {step['index'] + 1}",)

    def _declared(
        self, step: dict[str, Any], facts: list[Term], scope: list[Declaration], depth: int
    ) -> Shown:
        declaration = next(d for d in scope if step["name"] in d.names)
        reason = ("as ", name(step["name"]), " is declared")
        return declared_facts(declaration, scope)[step["fact"]], reason

    def _schema(
        self, step: dict[str, Any], facts: list[Term], scope: list[Declaration], depth: int
    ) -> Shown:
        rule = find_rule(step["name"])
        if rule is None:
            raise KeyError(step["name"])  # the checker has accepted it, so it is there
        return self._instance(rule, f"rule {step['name']}", step, scope)

    def _lemma(
        self, step: dict[str, Any], facts: list[Term], scope: list[Declaration], depth: int
    ) -> Shown:
        hash_ = step["statement"]
        lemma = self.lemmas[hash_]
        return self._instance(lemma.statement, f"theorem {lemma.name}", step, scope)

    def _instance(
        self, rule: Statement, called: str, step: dict[str, Any], scope: list[Declaration]
    ) -> Shown:
        values = {n: self.nodes[place] for n, place in step["subst"].items()}
        instance = instance_of(rule, values, Scope.of(tuple(scope)))
        put = tuple((n, v) for n, v in values.items() if v is not name(n))
        return instance.conclusion, (Cited(called, put), _from(step["by"]))

    def _combine(self, step: dict[str, Any], *_: object) -> Shown:
        goal = self.nodes[step["goal"]]
        if not step["terms"]:
            return goal, ("both sides have the same normal form",)
        return goal, ("adding up ", tuple(map(self._summand, step["terms"])))

    def _positive(self, step: dict[str, Any], *_: object) -> Shown:
        summands = []
        for coefficient, places, square in step["terms"]:
            is_negative, value = _unsigned(rational(Fraction(coefficient)))
            factors: list[Term | Earlier | Square] = [] if value is ONE else [value]
            factors += map(Earlier, places)
            factors += [Square(self.nodes[square])] if square is not None else []
            summands.append(Summand(is_negative, tuple(factors) or (ONE,)))
        summands += map(self._summand, step["equations"])
        return self.nodes[step["goal"]], ("the difference is ", tuple(summands))

    def _summand(self, row: list[Any]) -> Summand:
        """An earlier equation with its factors, as it enters a sum."""
        left, place, right, mode = row
        around = mode if mode in ("tr", "inner") else ""
        is_negative, factors = False, [Earlier(place, "" if around else mode)]
        for side, at in ((left, 0), (right, len(factors) + 1)):
            if side is not None:
                flips, value = _unsigned(self.nodes[side])
                is_negative ^= flips
                if value is not ONE or around == "inner":
                    factors.insert(at, value)  # type: ignore[arg-type]
        return Summand(is_negative, tuple(factors), around)

    def _congruence(
        self, step: dict[str, Any], facts: list[Term], scope: list[Declaration], depth: int
    ) -> Shown:
        context, equation = self.nodes[step["context"]], facts[step["fact"]]
        goal = term("eq", *(instantiate(context, (side,)) for side in equation.args))
        return goal, (f"({step['fact'] + 1}) put into both sides",)

    def _forall(
        self, step: dict[str, Any], facts: list[Term], scope: list[Declaration], depth: int
    ) -> Shown:
        names, types = tuple(step["names"]), tuple(self.nodes[t] for t in step["types"])
        fresh = [Declaration((n,), t) for n, t in zip(names, types, strict=True)]
        where = [self.nodes[r] for r in step["where"]]
        inner = [*facts]
        for relation in where:
            self._suppose(relation, inner, [*scope, *fresh], depth + 1)
        self.run(step["steps"], inner, [*scope, *fresh], depth + 1)
        parts = (abstract(r, names, types) for r in (*where, self.nodes[step["goal"]]))
        relation = term("forall", *types, *parts, data=(len(names), len(where)))
        return relation, (f"since {', '.join(names)} stood for anything",)

    def _induct(
        self, step: dict[str, Any], facts: list[Term], scope: list[Declaration], depth: int
    ) -> Shown:
        q, goal = step["name"], self.nodes[step["goal"]]
        fresh = Declaration((q,), term("dimension_type"))
        inner = [*facts]
        self._suppose(goal, inner, [*scope, fresh], depth + 1)
        self.run(step["steps"], inner, [*scope, fresh], depth + 1)
        reason = ("by induction, from the case of 1 and the step from ", q, " to the next")
        return substitute(goal, {q: self.nodes[step["at"]]}), reason

    def _instantiate(self, step: dict[str, Any], facts: list[Term], *_: object) -> Shown:
        quantified = facts[step["fact"]]
        values = tuple(self.nodes[place] for place in step["terms"])
        listed = [part for value in values for part in (", ", value)][1:]
        reason = (f"({step['fact'] + 1}) at ", *listed, _from(step["by"]))
        return instantiate(quantified.args[-1], values), reason

    def _gradient(self, step: dict[str, Any], *_: object) -> Shown:
        reason = "f has the derivative tr(G.T*V) along every direction V, and is smooth there"
        return self.nodes[step["goal"]], (reason,)

    def _ball(self, step: dict[str, Any], *_: object) -> Shown:
        if not step["variables"]:
            return self.nodes[step["goal"]], ("both sides are enclosed as numbers",)
        named = [part for x in step["variables"] for part in (", ", self.nodes[x])][1:]
        count = sum(row[0] != "cut" for row in step["cover"])
        parts = " in 1 part" if count == 1 else f" in {count} parts"
        return self.nodes[step["goal"]], ("enclosed for ", *named, parts, _from(step["by"]))

    def _cases(
        self, step: dict[str, Any], facts: list[Term], scope: list[Declaration], depth: int
    ) -> Shown:
        split = self.nodes[step["of"]]
        for sign, steps in zip(("lt", "eq", "gt"), step["branches"], strict=True):
            inner = [*facts]
            self._suppose(term(sign, split, ZERO), inner, scope, depth + 1, "the case")
            self.run(steps, inner, scope, depth + 1)
        return self.nodes[step["goal"]], ("in each case of the sign of ", split)


def _from(places: list[int | None]) -> str:
    """The facts that meet what an instance requires; a comparison of numbers needs none."""
    cited = [f"({place + 1})" for place in places if place is not None]
    cited += ["arithmetic"] if None in places else []
    return f", from {', '.join(cited)}" if cited else ""


def _unsigned(node: Term) -> tuple[bool, Term]:
    """Whether a factor carries a minus, and the factor without it."""
    if node.op == "neg":
        flips, value = _unsigned(node.args[0])
        return not flips, value
    if node.op == "rational" and str(node.data).startswith("-"):
        return True, rational(-Fraction(str(node.data)))
    return False, node
