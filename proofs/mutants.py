"""Mutants: small changes of a statement, and what becomes of each.

Each is a slip that a person could make. A mutant of a theorem must not pass with the theorem's
certificate, even when that is bound to the mutant's hash first; of a false statement, a mutant may
be the true one that was meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from proofs.checker.judge import Rejected
from proofs.evaluate import Evaluation, Truth, as_value
from proofs.evaluate.decisions import equal
from proofs.instances import Instances, conforms
from proofs.language.errors import StatementError
from proofs.language.infer import Scope, check, infer
from proofs.language.tree import Statement, Term, name, pair, postorder, rational, term
from proofs.language.types import Kind, Type
from proofs.refute import Refutation, UndefinedPoint, examine, refute
from proofs.tampering import rebound

MAX_PLACES = 400  # occurrences in one root; beyond, the statement is mutated no further
# Kinds that repair a slip of the pen, in the order in which a reader would look for it.
REPAIRS = ("transpose", "sign", "factor", "swap", "inverse", "exponent")

_FLIPPED = {"gt": "lt", "ge": "lt", "lt": "gt", "le": "gt", "eq": "ne", "ne": "eq"}
_SIZE_ARGUMENTS = {
    "eye": (0,),
    "zeros": (0, 1),
    "ones": (0, 1),
    "unit": (0,),
    "comprehension": (0,),
}
_RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge", "limit")
ONE, TWO = rational(1), rational(2)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed statement: the kind of slip, where (goal or a hypothesis, from 1), old and new.

    `new` is None for a dropped hypothesis.
    """

    kind: str
    part: str
    old: Term
    new: Term | None
    statement: Statement

    @property
    def where(self) -> str:
        """The change, readable."""
        from proofs.language.show import excerpt

        if self.new is None:
            return f"{self.part}: without {excerpt(self.old)}"
        return f"{self.part}: {excerpt(self.old)} -> {excerpt(self.new)}"

    def __str__(self) -> str:
        return f"{self.kind}, {self.where}"


def mutants(statement: Statement) -> Iterator[Mutant]:
    """All mutants of the goal and of the hypotheses, each once, always in the same order."""
    scope = Scope.of(statement.declarations)
    seen = {(*statement.hypotheses, statement.goal)}
    for part, old, new, kind, changed in _changes(statement, scope):
        key = (*changed.hypotheses, changed.goal)
        if key not in seen:
            seen.add(key)
            yield Mutant(kind, part, old, new, changed)


Change = tuple[str, Term, Term | None, str, Statement]


def _changes(statement: Statement, scope: Scope) -> Iterator[Change]:
    for kind, old, new, goal in _of_root(statement.goal, scope):
        yield "goal", old, new, kind, Statement(statement.declarations, statement.hypotheses, goal)
    for kind, goal in _of_goal(statement.goal, scope):
        changed = Statement(statement.declarations, statement.hypotheses, goal)
        yield "goal", statement.goal, goal, kind, changed
    for k, h in enumerate(statement.hypotheses):
        part = f"hypothesis {k + 1}"
        before, after = statement.hypotheses[:k], statement.hypotheses[k + 1 :]

        def with_hypotheses(
            *middle: Term, before: tuple = before, after: tuple = after
        ) -> Statement:
            return Statement(statement.declarations, (*before, *middle, *after), statement.goal)

        yield part, h, None, "dropped hypothesis", with_hypotheses()
        for new in _flips(h):
            yield part, h, new, "flipped hypothesis", with_hypotheses(new)
        for kind, old, new, root in _of_root(h, scope):
            yield part, old, new, kind, with_hypotheses(root)


# ---------------------------------------------------------------- changes of one root


def _places(root: Term) -> Iterator[tuple[tuple[int, ...], Term]]:
    """Occurrences of subterms, outermost first, without types and sizes."""
    stack: list[tuple[tuple[int, ...], Term]] = [((), root)]
    count = 0
    while stack and count < MAX_PLACES:
        path, node = stack.pop()
        count += 1
        yield path, node
        if node.op == "bound":
            continue
        first = pair(node)[0] if node.op == "forall" else 0
        skipped = _SIZE_ARGUMENTS.get(node.op, ())
        stack.extend(
            ((*path, i), node.args[i])
            for i in reversed(range(first, len(node.args)))
            if i not in skipped
        )


def _replaced(root: Term, path: tuple[int, ...], new: Term) -> Term:
    above = [root]
    for i in path[:-1]:
        above.append(above[-1].args[i])
    for node, i in zip(reversed(above), reversed(path), strict=False):
        new = term(node.op, *node.args[:i], new, *node.args[i + 1 :], data=node.data)
    return new


def _of_root(root: Term, scope: Scope) -> Iterator[tuple[str, Term, Term, Term]]:
    for path, node in _places(root):
        parent = _at(root, path[:-1]) if path else None
        for kind, new in _variants(node, parent, scope):
            yield kind, node, new, _replaced(root, path, new) if path else new


def variants(root: Term, scope: Scope) -> Iterator[Term]:
    """The term with one slip anywhere in it."""
    for _kind, _old, _new, changed in _of_root(root, scope):
        yield changed


def _at(root: Term, path: tuple[int, ...]) -> Term:
    for i in path:
        root = root.args[i]
    return root


def _variants(node: Term, parent: Term | None, scope: Scope) -> Iterator[tuple[str, Term]]:
    op, args = node.op, node.args
    if op == "add":
        yield "sign", term("sub", *args)
        yield "dropped term", args[0]
        yield "dropped term", args[1]
    elif op == "sub":
        yield "sign", term("add", *args)
        yield "dropped term", args[0]
        yield "dropped term", term("neg", args[1])
    elif op == "neg":
        yield "sign", args[0]
    elif op == "mul":
        yield from _of_product(node)
    elif op == "div":
        yield "dropped factor", args[0]
    elif op == "pow":
        yield "exponent", term("pow", args[0], _plus(args[1], 1))
        yield "exponent", term("pow", args[0], _plus(args[1], -1))
    elif op == "rational" and (parent is None or parent.op != "pow"):
        if node.data != "0":
            yield "factor", rational(2 * _fraction(node))
            yield "sign", rational(-_fraction(node))
    elif op == "transpose":
        yield "transpose", args[0]
    elif op == "adjoint":
        yield "transpose", term("transpose", args[0])
        yield "transpose", args[0]
    elif op in ("sum", "prod"):
        yield "range", term(op, _plus(args[0], 1), args[1], args[2])
        yield "range", term(op, args[0], _plus(args[1], -1), args[2])
        yield "range", term(op, args[0], _plus(args[1], 1), args[2])
    elif op in ("inv", "sqrt"):
        yield "inverse", args[0]
    elif op == "det":
        yield "inverse", term("div", ONE, node)
    elif op == "entry" and len(args) == 3:
        yield "swap", term("entry", args[0], args[2], args[1])
    if op in ("name", "inv", "pinv") and (parent is None or parent.op != "transpose"):
        yield from _transposed(node, scope)
    if op == "name" and (parent is None or parent.op not in ("inv", "pinv", "transpose")):
        yield from _inverted(node, scope)
    if parent is not None and parent.op in ("add", "sub", *_RELATIONS):
        yield from _scaled(node, scope)


def _of_product(node: Term) -> Iterator[tuple[str, Term]]:
    left, right = node.args
    yield "swap", term("mul", right, left)
    if left.op == "mul":  # (a*b)*c: the neighbours b and c
        yield "swap", term("mul", term("mul", left.args[0], right), left.args[1])
    yield "dropped factor", left
    yield "dropped factor", right


def _transposed(node: Term, scope: Scope) -> Iterator[tuple[str, Term]]:
    found = _type(node, scope)
    if found is not None and found.kind is Kind.MATRIX and not found.is_scalar:
        yield "transpose", term("transpose", node)


def _inverted(node: Term, scope: Scope) -> Iterator[tuple[str, Term]]:
    found = _type(node, scope)
    if found is None or found.kind is not Kind.MATRIX or found.is_scalar:
        return
    if found.rows == found.cols:
        yield "inverse", term("inv", node)


def _scaled(node: Term, scope: Scope) -> Iterator[tuple[str, Term]]:
    found = _type(node, scope)
    if found is not None and found.kind in (Kind.MATRIX, Kind.RANDOM) and node.op != "rational":
        yield "factor", term("mul", TWO, node)
        yield "factor", term("mul", rational(Fraction(1, 2)), node)


def _type(node: Term, scope: Scope) -> Type | None:
    try:
        return infer(node, scope)
    except StatementError:
        return None


def _of_goal(goal: Term, scope: Scope) -> Iterator[tuple[str, Term]]:
    if goal.op in ("ge", "le"):
        yield "strict", term("gt" if goal.op == "ge" else "lt", *goal.args)
    if goal.op not in _RELATIONS:
        return
    left, right = goal.args
    yield "sign", term(goal.op, left, term("neg", right))
    found = _type(left, scope)
    if found is None:
        return
    if found.is_scalar:
        yield "shift", term(goal.op, term("add", left, ONE), right)
    elif found.kind is Kind.MATRIX:
        names = _size_terms(left, scope)
        if names is not None:
            yield "shift", term(goal.op, term("add", left, term("ones", *names)), right)


def _size_terms(node: Term, scope: Scope) -> tuple[Term, Term] | None:
    """The shape of a matrix as terms, for shapes that are one dimension or a number."""
    found = _type(node, scope)
    sizes = []
    for size in (found.rows, found.cols) if found is not None else ():
        if size.value is not None:
            sizes.append(rational(size.value))
        elif len(size.terms) == 1 and size.terms[0][1] == 1 and len(size.terms[0][0]) == 1:
            sizes.append(name(size.terms[0][0][0]))
        else:
            return None
    return sizes[0], sizes[1]


def _flips(h: Term) -> Iterator[Term]:
    if h.op in _FLIPPED:
        yield term(_FLIPPED[h.op], *h.args)
    elif h.op in ("positive_definite", "positive_semidefinite"):
        yield term(h.op, term("neg", h.args[0]))
    elif h.op == "invertible":
        yield term("eq", term("det", h.args[0]), rational(0))
    elif h.op == "subset":
        yield term("subset", *reversed(h.args))


def _plus(node: Term, step: int) -> Term:
    if node.op == "rational":
        return rational(_fraction(node) + step)
    return term("add" if step > 0 else "sub", node, rational(abs(step)))


def _fraction(node: Term) -> Fraction:
    return Fraction(str(node.data))


# ---------------------------------------------------------------- what becomes of a mutant


class Outcome(Enum):
    """How a mutant ends."""

    ILLTYPED = "illtyped"
    REFUTED = "refuted"  # a witness shows that it is false or can be undefined
    EQUIVALENT = "equivalent"  # it is the statement itself, or true as well
    OPEN = "open"
    ACCEPTED = "accepted"  # the old certificate passed for it: this must never happen

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Classified:
    """The outcome for a mutant, with the witness or the reason."""

    mutant: Mutant
    outcome: Outcome
    reason: str = ""
    witness: Refutation | UndefinedPoint | None = None

    def __str__(self) -> str:
        return str(self.outcome)


Judge = Callable[[Statement, dict[str, object]], object]


def classify(
    mutant: Mutant,
    original: Statement,
    certificate: Mapping[str, object] | None = None,
    judge: Judge | None = None,
    *,
    prove: Callable[[Statement], bool] | None = None,
    seconds: float = 0.5,
    instances: int = 120,
    seed: int = 0,
) -> Classified:
    """What becomes of a mutant.

    Args:
        mutant: a mutant of `original`.
        original: the theorem.
        certificate: the theorem's certificate.
        judge: called with the mutant's statement and the certificate bound to its hash; raises
            `Rejected` to reject, returns its report (which may say `hypotheses_used`) to accept.
        prove: says whether a statement is proved, independently; only its True counts.
        seconds: for the refuter.
        instances: for the refuter.
        seed: of the refuter.

    Returns:
        ACCEPTED if the judge accepts a mutant that is refuted, or one that nothing shows to be
        as true as the original: whose change meets a hypothesis that the proof uses, alters
        values at some instance, and isn't proved.
    """
    statement = mutant.statement
    if statement.hash == original.hash:
        return Classified(mutant, Outcome.EQUIVALENT, "the same statement")
    try:
        check(statement)
    except StatementError as error:
        return Classified(mutant, Outcome.ILLTYPED, error.message)
    if same_up_to_order(original, statement):
        return Classified(mutant, Outcome.EQUIVALENT, "the same up to the order of scalars")
    attempt = refute(
        statement,
        seconds=seconds,
        seed=seed,
        instances=instances,
        shrink=False,
        undefined_first=False,
    )
    accepted, report = _accepts(judge, original, statement, certificate)
    if attempt.witness is not None:
        outcome = Outcome.ACCEPTED if accepted else Outcome.REFUTED
        return Classified(mutant, outcome, "a witness", attempt.witness)
    if accepted and _misses_what_is_used(mutant, report):
        return Classified(mutant, Outcome.EQUIVALENT, "the proof doesn't use this hypothesis")
    if accepted and changes_nothing(original, mutant, seed):
        return Classified(mutant, Outcome.EQUIVALENT, "the change alters no value")
    if not statement.declarations and attempt.stats.held:
        return Classified(mutant, Outcome.EQUIVALENT, "evaluated exactly, it is true")
    if prove is not None and prove(statement) is True:
        return Classified(mutant, Outcome.EQUIVALENT, "proved too")
    if accepted:
        return Classified(mutant, Outcome.ACCEPTED, "the old certificate passes")
    return Classified(mutant, Outcome.OPEN, str(attempt.stats))


def _accepts(
    judge: Judge | None,
    original: Statement,
    statement: Statement,
    certificate: Mapping[str, object] | None,
) -> tuple[bool, object]:
    """Whether the judge takes the certificate for the mutant: as it stands, with the other hash,
    or with the other goal and hypotheses put in place of those of the original too."""
    if judge is None or certificate is None:
        return False, None
    renamed = {**certificate, "statement": statement.hash}
    for bound in (renamed, rebound(certificate, original, statement)):
        try:
            return True, judge(statement, bound)
        except (Rejected, StatementError):
            pass
    return False, None


def _misses_what_is_used(mutant: Mutant, report: object) -> bool:
    used = getattr(report, "hypotheses_used", None)
    if used is None or not mutant.part.startswith("hypothesis") or mutant.new is None:
        return False
    return int(mutant.part.split()[1]) - 1 not in used


def same_up_to_order(first: Statement, second: Statement) -> bool:
    """Whether two statements differ in nothing but the order of summands and scalar factors."""
    scope = Scope.of(first.declarations)
    order = _Order(scope)
    if len(first.hypotheses) != len(second.hypotheses):
        return False
    return all(
        order.key(a) == order.key(b)
        for a, b in zip(
            (*first.hypotheses, first.goal), (*second.hypotheses, second.goal), strict=True
        )
    )


class _Order:
    """Numbers for terms, shared exactly by those that agree up to the order of commuting parts."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.keys: dict[Term, int] = {}
        self.shapes: dict[tuple[object, ...], int] = {}

    def key(self, root: Term) -> int:
        for node in postorder([root]):
            if node not in self.keys:
                self.keys[node] = self.shapes.setdefault(self._shape(node), len(self.shapes))
        return self.keys[root]

    def _shape(self, node: Term) -> tuple[object, ...]:
        if node.op == "add":
            return "add", tuple(sorted(self.keys[t] for t in _chain(node, "add")))
        if node.op == "mul":
            factors = _chain(node, "mul")
            scalars = sorted(self.keys[f] for f in factors if _is_scalar(f, self.scope))
            others = tuple(self.keys[f] for f in factors if not _is_scalar(f, self.scope))
            return "mul", tuple(scalars), others
        return node.op, node.data, tuple(self.keys[a] for a in node.args)


def _chain(node: Term, op: str) -> list[Term]:
    """The operands of nested binary operations of one kind, left to right; at most 64."""
    out, stack = [], [node]
    while stack:
        top = stack.pop()
        if top.op == op and len(out) + len(stack) < 64:
            stack.extend(reversed(top.args))
        else:
            out.append(top)
    return out


def _is_scalar(node: Term, scope: Scope) -> bool:
    found = _type(node, scope)
    return found is not None and found.is_scalar


def changes_nothing(original: Statement, mutant: Mutant, seed: int = 0, count: int = 24) -> bool:
    """Whether a changed goal has the same sides as before at many different instances, exactly.

    As for `a*b -> b*a` of scalars. Says nothing where values are balls.
    """
    if mutant.part != "goal" or len(mutant.statement.goal.args) != len(original.goal.args):
        return False
    if mutant.statement.goal.op != original.goal.op or original.goal.op == "limit":
        return False
    instances = Instances(original, seed)
    agreed = 0
    for place in range(8 * count):
        model = instances.draw(place)
        if not conforms(model, instances.scope) or not examine(original, model).hypotheses_hold:
            continue
        evaluation = Evaluation(model)
        for old, new in zip(original.goal.args, mutant.statement.goal.args, strict=True):
            if old is new:
                continue
            before, after = as_value(evaluation(old)), as_value(evaluation(new))
            if before is None or after is None or equal(before, after) is not Truth.TRUE:
                return False
        agreed += 1
        if agreed >= count:
            return True
    return agreed >= count // 2


__all__ = [
    "REPAIRS",
    "Classified",
    "Mutant",
    "Outcome",
    "changes_nothing",
    "classify",
    "mutants",
    "variants",
]
