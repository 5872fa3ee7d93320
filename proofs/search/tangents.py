"""Untrusted. Known bounds of functions: tangents, and monotone functions of what is in order."""

from __future__ import annotations

from proofs.checker.algebra import Atom
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import logarithms, signs
from proofs.search.raising import NoTerm
from proofs.search.workbench import Workbench

ONE = rational(1)
MONOTONE = frozenset({"exp", "log", "sqrt"})


def gather(w: Workbench, relation: Term, atoms: list[Atom]) -> None:
    """Take what is known of the atoms of an inequality, each by itself and in pairs."""
    nodes = [n for n in postorder([relation]) if n.op in MONOTONE and not n.free]
    for a in atoms:
        try:
            node = w.raising.scalar(a)
        except NoTerm:
            continue
        if node.op in MONOTONE and node not in nodes:
            nodes.append(node)
    for node in nodes:
        key = ("bound", node)
        if key in w.instanced:
            continue
        w.instanced.add(key)
        x = node.args[0]
        if node.op == "exp":
            w.schema("exp_tangent", x=x)
            if any(n.op == "lambertw" for n in postorder([w.statement.goal])):
                w.schema("lambertw_range", u=x)
        elif node.op == "log":  # that of 1/x bounds log(x) from below
            w.schema("log_tangent", x=x)
            inverse = term("div", *(x.args[::-1] if x.op == "div" else (ONE, x)))
            if w.schema("log_tangent", x=inverse) is not None:
                logarithms.expand(w, term("log", inverse))
    for i, one in enumerate(nodes):
        for other in nodes[:i]:
            key = ("bound", one, other)
            if one.op == other.op and one.op in MONOTONE and key not in w.instanced:
                w.instanced.add(key)
                _in_order(w, one, other)


def _in_order(w: Workbench, one: Term, other: Term) -> None:
    """f(x) <= f(y) or f(x) < f(y) for an increasing f, where x and y are in order."""
    for x, y in ((one.args[0], other.args[0]), (other.args[0], one.args[0])):
        for op, rule in (("gt", "increasing"), ("ge", "monotone")):
            if signs.follows(w, term(op, y, x)):
                w.schema(f"{one.op}_{rule}", x=x, y=y)
                return
