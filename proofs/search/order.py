"""Untrusted. Loewner's order: A <= B where both are Hermitian and B - A is semidefinite."""

from __future__ import annotations

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, term
from proofs.search import bounds, definite_blocks, gaussians
from proofs.search.raising import NoTerm
from proofs.search.workbench import Stuck, Workbench


def below(w: Workbench, a: Term, b: Term) -> int | None:
    """a <= b between matrices: inverses the other way round, else by the definition."""
    n = w.size(a)
    if (found := _convex(w, a, b)) is not None:
        return found
    if a.op == b.op == "inv":
        found = w.schema("order_inverse", n=n, A=b.args[0], B=a.args[0])
        if found is not None:
            return found
    elif a.op == "inv":  # below b, where its inverse is above that of b
        _between_inverses(w, term("inv", b), a.args[0])
    elif b.op == "inv":
        _between_inverses(w, b.args[0], term("inv", a))
    gaussians.below(w, a, b)
    bounds.root(w, a, b)
    return w.schema("order_shown", n=n, A=a, B=b)


def _convex(w: Workbench, a: Term, b: Term) -> int | None:
    difference = term("sub", b, a)
    try:
        w.learn(difference)
        found = definite_blocks.convex(w, difference, w.size(a))
    except (NoTerm, TooLarge, StatementError):
        return None
    return None if found is None else w.schema("order_shown", n=w.size(a), A=a, B=b)


def _between_inverses(w: Workbench, a: Term, b: Term) -> None:
    """inv(b) <= inv(a) as a fact, where a <= b is known."""
    n = w.size(a)
    try:
        for x in (a, b):
            if x.op == "inv":
                w.define(x)
                w.schema("inv_left", n=n, A=x.args[0])
                w.schema("inv_right", n=n, A=x.args[0])
        w.schema("order_inverse", n=n, A=a, B=b)
    except (Stuck, NotDefined):
        return


def says(w: Workbench, relation: Term) -> None:
    """What a known a <= b between matrices stands for, and for their inverses in sight."""
    a, b = relation.args if relation.op == "le" else relation.args[::-1]
    n = w.size(a)
    w.schema("order_hermitian", n=n, A=a, B=b)
    found = w.schema("order_says", n=n, A=a, B=b)
    if found is not None:
        difference = w.facts.facts[found].relation.args[0]
        w.schema("semidefinite_hermitian", n=n, A=difference)
    _inverted(w, a, b)


def _inverted(w: Workbench, a: Term, b: Term) -> None:
    """inv(b + C) <= inv(a + C), where a <= b, for such inverses in sight."""
    lower = w.facts.lowering.lower
    n, difference = w.size(a), lower(b) - lower(a)
    inside = dict.fromkeys(x.args[0] for x in w.raising.letters.values() if x.op == "inv")
    values = {x: lower(x) for x in inside if x.free == 0}
    for x, one in values.items():
        for y, two in values.items():
            if one.rows == two.rows == difference.rows and two - one == difference:
                if x is not a:
                    w.schema("semidefinite_hermitian", n=n, A=x)
                    w.schema("order_shown", n=n, A=x, B=y)
                w.schema("order_inverse", n=n, A=x, B=y)


def is_loewner(w: Workbench, relation: Term) -> bool:
    """Whether a relation is an order between matrices."""
    return relation.op in ("le", "ge") and not infer(relation.args[0], w.facts.scope).is_scalar
