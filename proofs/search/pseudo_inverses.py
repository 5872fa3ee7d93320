"""Untrusted. pinv(a) = x from the four Penrose equations, with one completed ideal for all four."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from proofs.checker.algebra import Poly, TooLarge, number
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, term
from proofs.search import instances
from proofs.search.ideal import Ideal, Relation
from proofs.search.ideal import Term as Part
from proofs.search.raising import NoTerm, size_term
from proofs.search.workbench import Stuck, Workbench

MAX_BATCH = 3_000  # pairs of the ideal worked off between two looks at what is left
MAX_ON_THE_WAY = 300  # for an equation that nobody asked for


def by_penrose(w: Workbench, goal: Term) -> int | None:
    """The equation pinv(a) = x, where x satisfies what characterizes the pseudo-inverse of a."""
    for side, x in (goal.args, goal.args[::-1]):
        if side.op != "pinv" or any(n is side for n in postorder([x])):
            continue
        try:
            proved = _four(w, side, x)
        except (Stuck, NotDefined, NoTerm, TooLarge, StatementError):
            continue
        kind = infer(side, w.facts.scope)
        sizes = {"n": size_term(kind.cols), "k": size_term(kind.rows)}
        if proved and w.schema("penrose_unique", **sizes, A=side.args[0], X=x) is not None:
            return w.find(goal)
    return None


def _four(w: Workbench, side: Term, x: Term) -> bool:
    """The four equations; the projections a*x and x*a are simplified once, for all of them."""
    from proofs.search.equations import plain_ideal

    a = side.args[0]
    ax, xa = term("mul", a, x), term("mul", x, a)
    goals = [
        term("eq", term("adjoint", ax), ax),
        term("eq", term("adjoint", xa), xa),
        term("eq", term("mul", ax, a), a),
        term("eq", term("mul", xa, x), x),
    ]
    for goal in goals:
        w.define(goal)
    instances.gather(w, goals)
    ideal = plain_ideal(w, goals, without=side)
    if not any(n.op == "kron" for n in w.raising.letters.values()):
        return _combined(w, ideal, a, x, goals)
    return _combined(w, ideal, a, x, goals) or (
        _inside_products(w) and _combined(w, plain_ideal(w, goals, without=side), a, x, goals)
    )


def _inside_products(w: Workbench) -> bool:
    """Simplify the factors of the Kronecker products in sight; whether any was simplified."""
    from proofs.search.equations import simplify_argument

    nodes = [n for n in w.raising.letters.values() if n.op == "kron"]
    changed = [simplify_argument(w, n) for n in nodes]
    return any(changed)


def _combined(w: Workbench, ideal: Ideal, a: Term, x: Term, goals: list[Term]) -> bool:
    lower = w.facts.lowering.lower
    left, right = (_Projection(g.args[1], lower(g.args[1])) for g in goals[:2])
    wanted = w.statement.goal.op == "eq" and any(s is a for s in _arguments(w.statement.goal))
    batch, limit = 1, MAX_BATCH if wanted else MAX_ON_THE_WAY
    while batch < limit:
        left.reduce(ideal)
        right.reduce(ideal)
        found = _hold(ideal, left.rest, right.rest, lower(a), lower(x))
        if found is not None:
            left.write_down(w, ideal)
            right.write_down(w, ideal)
            parts = [left.adjoint(), right.adjoint(), left.times(lower(a)), right.times(lower(x))]
            return all(
                w.combine(goal, ideal, [*part, *used]) is not None
                for goal, part, used in zip(goals, parts, found, strict=True)
            )
        if not ideal.complete(batch):
            return False
        batch *= 2
    return False


def _arguments(goal: Term) -> list[Term]:
    """What the sides of an equation are pseudo-inverses of."""
    return [side.args[0] for side in goal.args if side.op == "pinv"]


def _hold(ideal: Ideal, ax: Poly, xa: Poly, a: Poly, x: Poly) -> list[list[Any]] | None:
    """The combinations for the four equations, given what a*x and x*a are; None where one fails."""
    found: list[list[Any]] = []
    for difference in (
        lambda: ax.T.conj - ax,
        lambda: xa.T.conj - xa,
        lambda: ax * a - a,
        lambda: xa * x - x,
    ):
        rest, used = ideal.reduce(difference())
        if rest.terms:
            return None
        found.append(used)
    return found


@dataclass
class _Projection:
    """a*x or x*a, and what it is equal to by the known equations."""

    node: Term
    rest: Poly
    used: list[Any] = field(default_factory=list)
    equation: Relation | None = None

    def reduce(self, ideal: Ideal) -> None:
        self.rest, used = ideal.reduce(self.rest)
        self.used += used

    def write_down(self, w: Workbench, ideal: Ideal) -> None:
        """Establish node = rest, where the two differ.

        Raises:
            Stuck: the judge doesn't accept it.
        """
        if not self.used:
            return
        goal = term("eq", self.node, w.raising.poly(self.rest))
        place = w.combine(goal, ideal, self.used)
        if place is None:
            raise Stuck(goal)
        value = w.facts.difference(goal)
        self.equation = Relation(value, ((), ()), place)

    def adjoint(self) -> list[Any]:
        """node.H - rest.H - (node - rest)."""
        if self.equation is None:
            return []
        return [
            Part(None, self.equation, None, "H"),
            Part(number(-1), self.equation, None, ""),
        ]

    def times(self, factor: Poly) -> list[Any]:
        """(node - rest)*factor."""
        return [] if self.equation is None else [Part(None, self.equation, factor, "")]
