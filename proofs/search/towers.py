"""Untrusted. Conditional expectations of conditional expectations of Gaussian vectors.

What E(X | Y, Z) leaves of X has mean zero and is uncorrelated with Z, so that its expectation
given Z is zero: E(E(X | Y, Z) | Z) = E(X | Z), whatever the covariances are.
"""

from __future__ import annotations

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import NotDefined
from proofs.checker.rules import find_rule
from proofs.language.errors import StatementError
from proofs.language.infer import random_degree
from proofs.language.tree import Term, postorder, rational, term
from proofs.search.gains import stacked
from proofs.search.gaussians import joint
from proofs.search.raising import NoTerm
from proofs.search.workbench import Workbench


def by_towers(w: Workbench, goal: Term) -> int | None:
    """An equation that follows once nested conditional expectations are taken together."""
    if not _towers(w, goal):
        return None
    return _at_once(w, goal)


def _towers(w: Workbench, goal: Term) -> bool:
    """The instances for what is nested in a goal; whether there are any."""
    found = False
    for node in postorder([goal]):
        if node.op != "expect_given" or len(node.args) != 2 or node.free:
            continue
        y = node.args[1]
        for inner in postorder([node.args[0]]):
            if inner.op == "expect_given" and not inner.free and y in inner.args[1:]:
                try:
                    found = _tower(w, inner, y) or found
                except (NoTerm, TooLarge, StatementError, NotDefined):
                    continue
    return found


def _tower(w: Workbench, inner: Term, y: Term) -> bool:
    """E(X - E(X | Y, ..) | Y) = 0."""
    x, *given = inner.args
    if not all(random_degree(g, w.facts.scope) for g in given):
        return False
    names = joint(w, x, [y, *(g for g in given if g is not y)])
    residual = term("sub", x, inner)
    w.schema("gaussian_total", **names)
    place = w.schema("gaussian_residual", **names)
    n, k = w.size(x), w.size(y)
    if len(given) > 1 and place is not None:
        _take_first(w, term("cov", residual, y), names["Y"], place)
    zero = {"a": term("zeros", n, rational(1)), "C": term("zeros", n, k)}
    names = joint(w, residual, [y]) | zero | {"G": term("zeros", n, k)}
    rule = find_rule("gaussian_mean_given")
    if rule is None:
        return False
    for relation in w.judge.instance(rule, names, w.facts).requirements:
        if relation.op == "eq" and w.find(relation) is None:
            _at_once(w, relation)
    return w.schema("gaussian_mean_given", **names) is not None


def _at_once(w: Workbench, goal: Term) -> int | None:
    """An equation that the known ones give as they are, with no further instances."""
    from proofs.search.equations import plain_ideal  # whose tactic this is

    ideal = plain_ideal(w, [goal])
    rest, used = ideal.reduce(w.facts.difference(goal))
    return None if rest.terms else w.combine(goal, ideal, used)


def _take_first(w: Workbench, covariance: Term, stack: Term, place: int) -> None:
    """What is known of a covariance with a stack, for the first vector in it."""
    first, *rest = (w.size(y) for y in stack.args)
    selector = stacked([term("eye", first), *(term("zeros", s, first) for s in rest)])
    zeros = term("zeros", w.size(covariance), first)
    goal = w.place(term("eq", covariance, zeros))
    w.take({"rule": "combine", "goal": goal, "terms": [[None, place, w.place(selector), ""]]})
