"""Untrusted. Known bounds of functions: tangents, and monotone functions of what is in order."""

from __future__ import annotations

from proofs.checker.algebra import Atom
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import logarithms, signs
from proofs.search.raising import NoTerm
from proofs.search.workbench import Workbench

ONE = rational(1)
MAX_PAIRED = 3  # functions in sight, for tangents at quotients
MONOTONE = frozenset({"exp", "log", "sqrt"})
BOUNDED = MONOTONE | {"erf", "sin"}


def gather(w: Workbench, relation: Term, atoms: list[Atom]) -> None:
    """Take what is known of the atoms of an inequality, each by itself and in pairs."""
    nodes = [n for n in postorder([relation]) if n.op in BOUNDED and not n.free]
    for a in atoms:
        try:
            node = w.raising.scalar(a)
        except NoTerm:
            continue
        if node.op in BOUNDED and node not in nodes:
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
        elif node.op == "erf":
            w.schema("erf_below_one", x=x)
        elif node.op == "sin":
            w.schema("sine_above_chord", x=x)
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
    _powers(w, relation)
    known = [w.raising.atoms.get(a) for a in atoms]
    logs = [n.args[0] for n in known if n is not None and n.op == "log"]
    numbers = [x for x in logs if x.op == "rational"][:1]
    others = [x for x in logs if x.op != "rational"]
    _differences(w, [n.args[0] for n in known if n is not None and n.op == "exp"])
    if len(others) > MAX_PAIRED:
        return
    others += [ONE] if numbers and others else []
    for i, x in enumerate(others):
        for y in others[:i]:
            _ratios(w, x, y, numbers)


def _powers(w: Workbench, relation: Term) -> None:
    """x^p <= y^p for the powers with the same natural exponent, where x and y are in order."""
    powers = [n for n in postorder([relation]) if n.op == "pow" and not n.free]
    powers = [n for n in powers if infer(n.args[1], w.facts.scope).domain == "dimension"]
    for n in powers:  # beside 1
        for x, y in ((n.args[0], ONE), (ONE, n.args[0])):
            key = ("bound", n, x)
            if key not in w.instanced and signs.follows(w, term("ge", y, x)):
                w.instanced.add(key)
                w.schema("power_monotone", x=x, y=y, p=n.args[1])
                w.schema("power_identity", n=ONE, p=n.args[1])
    for i, one in enumerate(powers):
        for other in powers[:i]:
            key = ("bound", one, other)
            if one.args[1] is not other.args[1] or key in w.instanced:
                continue
            w.instanced.add(key)
            for x, y in ((one, other), (other, one)):
                if signs.follows(w, term("ge", y.args[0], x.args[0])):
                    w.schema("power_monotone", x=x.args[0], y=y.args[0], p=x.args[1])


def _differences(w: Workbench, exponents: list[Term]) -> None:
    """exp(x - y) >= 1 + x - y, for the exponents in sight."""
    for i, one in enumerate(exponents if len(exponents) <= MAX_PAIRED else ()):
        for other in exponents[:i]:
            for x, y in ((one, other), (other, one)):
                w.schema("exp_tangent", x=term("sub", x, y))


def _ratios(w: Workbench, x: Term, y: Term, numbers: list[Term]) -> None:
    """log(x/y) <= x/y - 1, the other way round, and with the numbers of logarithms in sight."""
    for one, other in ((x, y), (y, x)):
        for scaled in (one, *(f(one, c) for c in numbers for f in (_times, _over))):
            quotient = term("div", scaled, other)
            key = ("bound", quotient)
            if key in w.instanced:
                continue
            w.instanced.add(key)
            if w.schema("log_tangent", x=quotient) is not None:
                logarithms.expand(w, term("log", quotient))


def _times(x: Term, y: Term) -> Term:
    return term("mul", x, y)


def _over(x: Term, y: Term) -> Term:
    return term("div", x, y)


def _in_order(w: Workbench, one: Term, other: Term) -> None:
    """f(x) <= f(y) or f(x) < f(y) for an increasing f, where x and y are in order."""
    for x, y in ((one.args[0], other.args[0]), (other.args[0], one.args[0])):
        for op, rule in (("gt", "increasing"), ("ge", "monotone")):
            if signs.follows(w, term(op, y, x)):
                w.schema(f"{one.op}_{rule}", x=x, y=y)
                return
