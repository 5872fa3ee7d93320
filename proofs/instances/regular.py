"""Whether a statement is plainly defined for all values of its names.

A look at declarations, hypotheses and signs, not a proof: where it says yes, the refuter needn't
seek points at which something has no value; where it says no, nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from fractions import Fraction

from proofs.checker.definedness import ZERO, NotDefined, obligations
from proofs.checker.facts import duties
from proofs.language.infer import Scope, infer
from proofs.language.tree import Statement, Term, term

POSITIVE_DOMAINS = ("positive", "dimension", "index")


def plainly_defined(statement: Statement) -> bool:
    """Whether each partial operation is defined at a glance, under the hypotheses before it."""
    scope = Scope.of(statement.declarations)
    known: set[Term] = set()
    parameters = [
        parameter
        for declaration in statement.declarations
        if declaration.type.op == "gaussian_type"
        for parameter in declaration.type.args
    ]
    try:
        for hypothesis in statement.hypotheses:
            if not _all_plain(obligations(hypothesis, scope), known, scope):
                return False
            known |= _said_by(hypothesis)
        rest = [c for root in (*parameters, statement.goal) for c in obligations(root, scope)]
    except NotDefined:
        return False
    return _all_plain([*duties(statement), *rest], known, scope)


def _all_plain(conditions: list[Term], known: Set[Term], scope: Scope) -> bool:
    return all(_Look(known, scope).holds(condition) for condition in conditions)


def _said_by(hypothesis: Term) -> set[Term]:
    """A hypothesis with what it says in other words."""
    op, args = hypothesis.op, hypothesis.args
    said = {hypothesis}
    if op in ("lt", "le"):
        said.add(term("gt" if op == "lt" else "ge", *reversed(args)))
    if op in ("lt", "gt"):
        said.add(term("ne", *args))
        said.add(term("ne", *reversed(args)))
    if op == "positive_definite":
        said |= {term("positive_semidefinite", *args), term("invertible", *args)}
    if op in ("orthogonal", "unitary"):
        said.add(term("invertible", *args))
    return said


class _Look:
    """Signs and definiteness by the form of a term; each method says yes or doesn't know."""

    def __init__(self, known: Set[Term], scope: Scope) -> None:
        self.known = known
        self.scope = scope

    def holds(self, relation: Term) -> bool:
        if relation in self.known:
            return True
        if relation.op == "forall":
            return self.holds(relation.args[-1])
        seen = METHODS.get(relation.op)
        if seen is None or (len(relation.args) == 2 and relation.args[1] is not ZERO):
            return False
        return seen(self, relation.args[0])

    def _domain(self, x: Term) -> str:
        return infer(x, self.scope).domain if x.op in ("name", "bound") else ""

    def positive(self, x: Term) -> bool:
        op, args = x.op, x.args
        if term("gt", x, ZERO) in self.known or self._domain(x) in POSITIVE_DOMAINS:
            return True
        if op == "rational":
            return Fraction(str(x.data)) > 0
        if op == "constant":
            return x.data != "i"
        if op == "add":
            return (self.positive(args[0]) and self.nonnegative(args[1])) or (
                self.nonnegative(args[0]) and self.positive(args[1])
            )
        if op in ("mul", "div"):
            return all(map(self.positive, args))
        if op == "pow":
            return self.positive(args[0]) or (_is_even(args[1]) and self.nonzero(args[0]))
        if op == "sqrt":
            return self.positive(args[0])
        return op == "exp"

    def nonnegative(self, x: Term) -> bool:
        op, args = x.op, x.args
        if op in ("norm2", "abs") or term("ge", x, ZERO) in self.known or x is ZERO:
            return True
        if self._domain(x) == "nonnegative" or (op == "pow" and _is_even(args[1])):
            return not infer(x, self.scope).is_complex
        if op in ("add", "mul"):
            return all(map(self.nonnegative, args))
        if op == "div":
            return self.nonnegative(args[0]) and self.positive(args[1])
        return op == "sqrt" or self.positive(x)

    def nonzero(self, x: Term) -> bool:
        op, args = x.op, x.args
        if term("ne", x, ZERO) in self.known or self._domain(x) == "nonzero":
            return True
        if op in ("mul", "div"):
            return all(map(self.nonzero, args))
        if op in ("neg", "pow"):
            return self.nonzero(args[0])
        if op == "rational":
            return x is not ZERO
        if op == "det":
            return self.invertible(args[0])
        return op == "constant" or self.positive(x)

    def invertible(self, a: Term) -> bool:
        op, args = a.op, a.args
        if infer(a, self.scope).is_scalar:
            return self.nonzero(a)
        if op == "eye" or term("invertible", a) in self.known:
            return True
        if op in ("transpose", "adjoint", "inv"):
            return self.invertible(args[0])
        return self.definite(a)

    def definite(self, a: Term) -> bool:
        op, args = a.op, a.args
        if infer(a, self.scope).is_scalar:
            return self.positive(a)
        if op == "eye" or term("positive_definite", a) in self.known:
            return True
        if op in ("transpose", "adjoint", "inv"):
            return self.definite(args[0])
        if op == "mul":
            return infer(args[0], self.scope).is_scalar and all(map(self.definite, args))
        if op == "div":
            return all(map(self.definite, args))
        if op == "add":
            return (self.definite(args[0]) and self.semidefinite(args[1])) or (
                self.semidefinite(args[0]) and self.definite(args[1])
            )
        return False

    def semidefinite(self, a: Term) -> bool:
        op, args = a.op, a.args
        if infer(a, self.scope).is_scalar:
            return self.nonnegative(a)
        if term("positive_semidefinite", a) in self.known or self.definite(a):
            return True
        if op == "add":
            return all(map(self.semidefinite, args))
        if op != "mul":
            return False
        left, right = args
        if infer(left, self.scope).is_scalar:
            return self.nonnegative(left) and self.semidefinite(right)
        inside, outer = left.args if left.op == "mul" else (None, left)
        if inside is not None and _are_adjoint(inside, right):  # B*S*B.T
            return self.semidefinite(outer)
        return _are_adjoint(left, right)


METHODS: dict[str, Callable[[_Look, Term], bool]] = {
    "gt": _Look.positive,
    "ge": _Look.nonnegative,
    "ne": _Look.nonzero,
    "invertible": _Look.invertible,
    "positive_definite": _Look.definite,
    "positive_semidefinite": _Look.semidefinite,
}


def _is_even(exponent: Term) -> bool:
    return exponent.op == "rational" and Fraction(str(exponent.data)) % 2 == 0


def _are_adjoint(left: Term, right: Term) -> bool:
    turned = (term("transpose", left), term("adjoint", left))
    return right in turned or left in (term("transpose", right), term("adjoint", right))
