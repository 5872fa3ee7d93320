"""Untrusted. Gradients of scalars, from their derivatives along a direction.

The derivative of f(X + t*V) at t = 0 comes out as a sum of traces that are linear in V; what
stands beside V in each of them, cyclically, adds up to the transposed gradient.
"""

from __future__ import annotations

from proofs.checker.algebra import ONE, Atom, Letter, Poly, TooLarge, identity, of_letter
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, instantiate, name, postorder, substitute, term
from proofs.language.types import Type
from proofs.search.raising import NoTerm, size_term
from proofs.search.workbench import Stuck, Workbench

REAL = term("real_type")
STEPS = 40  # of completion, to bring the derivative into a form that is linear in V


def gradient(w: Workbench, node: Term) -> int | None:
    """The place of an equation that says what a gradient is."""
    (f, x), (v,) = node.args, w.fresh(1)
    kind = infer(x, w.facts.scope)
    type_ = term("matrix_type", size_term(kind.rows), size_term(kind.cols))
    path = term("add", x, term("mul", bound(0, REAL), name(v)))
    along = term("deriv", instantiate(f, (path,)), ZERO, data=1)
    try:
        w.define(node)
        with w.inside((v,), (type_,)) as inner:
            value = _slope(inner, along, name(v), kind)
    except (NoTerm, NotDefined, Stuck, TooLarge, StatementError):
        return None
    if value is None:
        return None
    value = _at_the_point(value, instantiate(path, (ZERO,)), x)
    value = substitute(value, {v: term("zeros", *type_.args)})
    w.learn(value)
    slope = term("tr", term("mul", term("transpose", value), name(v)))
    if w.for_all((v,), (type_,), term("eq", along, slope)) is None:
        return None
    goal = term("eq", node, value)
    return w.take({"rule": "gradient", "goal": w.place(goal), "type": w.place(type_)})


def _slope(w: Workbench, along: Term, v: Term, kind: Type) -> Term | None:
    """G, where a derivative is tr(G.T*V)."""
    from proofs.search.equations import known  # equations call for instances

    w.define(along)
    ideal = known(w, [term("eq", along, along)])
    lower = w.facts.lowering.lower
    for steps in (0, STEPS):
        for _ in range(steps):
            if not ideal.step():
                break
        rest, _ = ideal.reduce(lower(along))
        found = _beside(rest, lower(v), kind)
        if found is not None:
            return w.raising.poly(found)
    return None


def _beside(value: Poly, v: Poly, kind: Type) -> Poly | None:
    """G, where a scalar is tr(G.T*V) with V in each of its terms once."""
    (((monomial, word), _),) = v.terms.items()
    symbol: Atom | Letter = word[0] if word else monomial[0][0]
    total = Poly(kind.rows, kind.cols, {})
    for (powers, _), coefficient in value.terms.items():
        sides = [(a, _around(a, symbol)) for a, n in powers if n == 1]
        moving = [(a, side) for a, side in sides if side is not None]
        if len(moving) != 1:
            return None
        ((a, side),) = moving
        rest = tuple((b, n) for b, n in powers if b is not a)
        scale = Poly(kind.rows, kind.rows, {(rest, ()): coefficient})
        total = total + scale * side
    return total


def _around(a: Atom, symbol: Atom | Letter) -> Poly | None:
    """G, where an atom is tr(G.T*V)."""
    if isinstance(symbol, Atom):
        return identity(ONE) if a is symbol else None
    places = [i for i, y in enumerate(a.word or ()) if y in (symbol, symbol.T)]
    if a.word is None or len(places) != 1:
        return None
    (i,) = places
    rest = identity(a.word[i].cols)
    for y in (*a.word[i + 1 :], *a.word[:i]):
        rest = rest * of_letter(y)
    return rest.T if a.word[i] is symbol else rest


def _at_the_point(root: Term, old: Term, new: Term) -> Term:
    """A term with X in place of X + 0*V."""
    done: dict[Term, Term] = {}
    for node in postorder([root]):
        args = tuple(done[a] for a in node.args)
        same = node is old or args == node.args
        done[node] = (
            (new if node is old else node) if same else term(node.op, *args, data=node.data)
        )
    return done[root]
