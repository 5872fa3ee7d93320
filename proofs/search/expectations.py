"""Untrusted. Conditional expectations in L2: moved, merged and collapsed inside inner products."""

from __future__ import annotations

from proofs.checker.algebra import Atom, TooLarge
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, term
from proofs.language.types import Kind
from proofs.search.raising import NoTerm, size_term
from proofs.search.workbench import Workbench

MAX_ATOMS = 300


def gather(w: Workbench, roots: list[Term]) -> None:
    """Equations between the inner products that occur in scalar equations, until none is new."""
    pending: list[Atom] = []
    for root in roots:
        if root.op == "eq":
            _collect(w, root, pending)
    for _ in range(MAX_ATOMS):
        if not pending:
            return
        a = pending.pop()
        key = ("inner", a.key)
        if key in w.failed:
            continue
        w.failed.add(key)
        try:
            node = w.raising.scalar(a)
        except NoTerm:
            continue
        if node.op in ("l2inner", "l2norm2"):
            for place in _moves(w, node.args[0], node.args[-1]):
                _collect(w, w.facts.facts[place].relation, pending)


def _collect(w: Workbench, relation: Term, pending: list[Atom]) -> None:
    try:
        value = w.facts.difference(relation)
    except (TooLarge, StatementError):
        return
    for monomial, _ in value.terms:
        pending += [
            a for a, _ in monomial if a.word and any(x.key.startswith("$e(") for x in a.word)
        ]


def _moves(w: Workbench, u: Term, v: Term) -> list[int]:
    """The inner product of u and v with an expectation moved across, or merged with the next."""
    taken = []
    for one, two in ((u, v), (v, u)):
        given = _given(w, one)
        if given is None:
            continue
        inside, algebra = given
        n = size_term(infer(one, w.facts.scope).rows)
        taken.append(w.schema("expectation_symmetric", n=n, U=inside, V=two, F=algebra))
        nested = _given(w, inside)
        if nested is not None:
            taken.append(_merge(w, nested[0], nested[1], algebra, n, two))
    return [place for place in taken if place is not None]


def _given(w: Workbench, node: Term) -> tuple[Term, Term] | None:
    """The value and the sigma-algebra of a conditional expectation."""
    if node.op != "expect_given" or len(node.args) != 2:
        return None
    algebra = node.args[1]
    if algebra.op != "name" or infer(algebra, w.facts.scope).kind is not Kind.SIGMA_ALGEBRA:
        return None
    return node.args[0], algebra


def _merge(w: Workbench, u: Term, first: Term, then: Term, n: Term, other: Term) -> int | None:
    """E(E(u | first) | then) as one expectation, inside the inner product with `other`."""
    if first is then:
        place = w.schema("expectation_projects", n=n, U=u, F=first)
    else:
        place = w.schema("tower_coarse_last", n=n, U=u, F=then, G=first)
        if place is None:
            place = w.schema("tower_coarse_first", n=n, U=u, F=first, G=then)
    if place is None:
        return None
    hole = bound(0, term("random_type", n))
    step = {"rule": "congruence", "fact": place, "context": w.place(term("l2inner", hole, other))}
    return w.take(step)
