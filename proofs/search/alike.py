"""Untrusted. f(a) = f(b) from a = b, where the sides of an equation differ in one argument."""

from __future__ import annotations

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, binders_at, bound, term
from proofs.search.raising import size_term
from proofs.search.workbench import Stuck, Workbench

SCALAR = ("exp", "log", "sqrt", "lambertw", "sin", "cos", "tanh", "erf", "abs", "max", "min", "pow")
FUNCTIONS = frozenset({*SCALAR, "det", "inv", "pinv", "adj", "logsumexp", "softmax"})
ALSO = frozenset({"rank", "norm2", "logpdf"})  # what these are of isn't simplified by itself


def by_arguments(w: Workbench, goal: Term) -> int | None:
    """From a = b, put into the context that the sides have in common."""
    path = _path(*goal.args)
    if not path or not any(node.op in FUNCTIONS | ALSO for node, _ in path):
        return None
    node, place = path[-1]
    one = node.args[place]
    other = goal.args[1]
    for _, at in path:
        other = other.args[at]
    if one.free or other.free:
        return None
    equal = term("eq", one, other)
    try:
        found = w.sided(equal, w.establish(equal))
        context = _hole(w, one)
        for node, place in reversed(path):
            args = (*node.args[:place], context, *node.args[place + 1 :])
            context = term(node.op, *args, data=node.data)
        return None if found is None else w.congruence(found, context)
    except (Stuck, NotDefined, StatementError, TooLarge):
        return None


def _path(one: Term, other: Term) -> list[tuple[Term, int]]:
    """From the left side down to the one place where the sides differ: node and argument."""
    path: list[tuple[Term, int]] = []
    while (one.op, one.data, len(one.args)) == (other.op, other.data, len(other.args)):
        unlike = [
            i for i, (a, b) in enumerate(zip(one.args, other.args, strict=True)) if a is not b
        ]
        if len(unlike) != 1 or binders_at(one.op, one.data, unlike[0]):
            break
        path.append((one, unlike[0]))
        one, other = one.args[unlike[0]], other.args[unlike[0]]
    last = max((i for i, (n, _) in enumerate(path) if n.op in FUNCTIONS | ALSO), default=-1)
    return path[: last + 1]


def _hole(w: Workbench, like: Term) -> Term:
    """A variable of the type of a term."""
    kind = infer(like, w.facts.scope)
    prefix = "complex_" if kind.is_complex else ""
    if kind.is_scalar:
        return bound(0, term("complex_type" if kind.is_complex else "real_type"))
    return bound(0, term(f"{prefix}matrix_type", size_term(kind.rows), size_term(kind.cols)))
