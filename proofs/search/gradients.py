"""Untrusted. Gradients of scalars, from their derivatives along a direction.

The derivative of f(X + t*V) at t = 0 comes out as a sum of traces that are linear in V; what
stands beside V in each of them, cyclically, adds up to the transposed gradient.
"""

from __future__ import annotations

from fractions import Fraction

from proofs.checker.algebra import (
    ONE,
    Atom,
    Letter,
    Monomial,
    Poly,
    TooLarge,
    Word,
    identity,
    of_letter,
)
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import (
    Term,
    abstract,
    bound,
    instantiate,
    name,
    names_in,
    postorder,
    rational,
    substitute,
    term,
)
from proofs.language.types import Type
from proofs.search.raising import NoTerm, opened, product_of, size_term
from proofs.search.workbench import Stuck, Workbench

REAL = term("real_type")
STEPS = 40  # of completion, to bring the derivative into a form that is linear in V


def gradient(w: Workbench, node: Term) -> int | None:
    """The place of an equation that says what a gradient is."""
    if ("gradient", node) in w.failed:  # sub-proofs look at the same goal
        return None
    w.failed.add(("gradient", node))
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
    try:
        w.define(goal)  # what a sub-proof has shown of the value isn't known outside
    except (Stuck, NotDefined):
        return None
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
        found = _beside(w, rest, lower(v), kind)
        if found is not None:
            return w.raising.poly(found)
    return None


def _beside(w: Workbench, value: Poly, v: Poly, kind: Type) -> Poly | None:
    """G, where a scalar is tr(G.T*V) with V in each of its terms once."""
    total = Poly(kind.rows, kind.cols, {})
    for (powers, _), coefficient in value.terms.items():
        sides = [(a, _around(w, a, v, kind)) for a, n in powers if n == 1]
        moving = [(a, side) for a, side in sides if side is not None]
        if len(moving) != 1:
            return None
        ((a, side),) = moving
        rest = tuple((b, n) for b, n in powers if b is not a)
        scale = Poly(kind.rows, kind.rows, {(rest, ()): coefficient})
        total = total + scale * side
    return total


def _around(w: Workbench, a: Atom, v: Poly, kind: Type) -> Poly | None:
    """G, where an atom is tr(G.T*V)."""
    (((monomial, letters), _),) = v.terms.items()
    symbol: Atom | Letter = letters[0] if letters else monomial[0][0]
    if isinstance(symbol, Atom) and a is symbol:
        return identity(ONE)
    node = w.raising.atoms.get(a)
    if node is not None and node.op == "sum" and node.args[0] is rational(1):
        return _of_terms(w, node, v, kind)
    word = a.word or ()
    places = [i for i, y in enumerate(word) if y in (symbol, getattr(symbol, "T", symbol))]
    if len(places) != 1:
        return None
    (i,) = places
    rest = identity(word[i].cols)
    for y in (*word[i + 1 :], *word[:i]):
        rest = rest * of_letter(y)
    return rest.T if word[i] is symbol else rest


def _of_terms(w: Workbench, node: Term, v: Poly, kind: Type) -> Poly | None:
    """G, where a sum is tr(G.T*V): the sum of what it is for each term; of c(j)*(M*V*x)[j], with
    a vector of all c(j)."""
    _, high, body = node.args
    names, type_ = w.fresh(1), term("index_type", high)
    try:
        with w.inside(names, (type_,)) as inner:
            at = opened(instantiate(body, (name(names[0]),)))
            inner.learn(at)
            lower = inner.facts.lowering.lower
            found = _beside(inner, lower(at), v, kind)
            if found is None:
                return None
            parts = [
                [abstract(f, names, (type_,)) for f in _cut(inner, place, c, high, names[0])]
                for place, c in found.terms.items()
            ]
    except (NoTerm, TooLarge, StatementError, NotDefined):
        return None
    total = Poly(kind.rows, kind.cols, {})
    for scale, *factors in parts:
        if factors:
            entries = term("comprehension", high, scale)
            whole = product_of([_filled(f, entries) for f in factors])
        else:
            whole = term("sum", rational(1), high, scale)
        w.learn(whole)
        total = total + w.facts.lowering.lower(whole)
    return total


def _cut(
    w: Workbench, place: tuple[Monomial, Word], coefficient: Fraction, high: Term, index: str
) -> list[Term]:
    """A monomial c(j)*A*unit(n, j)*B as c(j) and the factors after it; any other by itself."""
    monomial, word = place
    factors = [w.raising.letter(x) for x in word]
    moving = [f for f in factors if index in names_in(f)]
    unit = term("unit", high, name(index))
    scale = w.raising.poly(Poly(ONE, ONE, {(monomial, ()): coefficient}))
    if len(moving) == 1 and moving[0] in (unit, term("transpose", unit)):
        return [scale, *factors]
    return [product_of([scale, *factors])]


def _filled(f: Term, entries: Term) -> Term:
    """A factor, with a vector of entries in place of the unit vector of the index."""
    if f.op == "transpose" and f.free:
        return term("transpose", entries)
    return entries if f.free else f


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
