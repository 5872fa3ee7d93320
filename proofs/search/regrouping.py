"""Untrusted. Block matrices of any number of rows and columns, regrouped as two by two.

The rules speak of two rows and columns of blocks. The last row and column are split off, and what
is before them is one block, which is regrouped in its turn where a rule asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from proofs.checker.algebra import TooLarge
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, pair, term
from proofs.search.ideal import Ideal
from proofs.search.raising import NoTerm, size_term
from proofs.search.workbench import Stuck, Workbench

MAX_LITERAL = 4  # matrices of at most this literal size are treated by their entries
MAX_STEPS = 30  # of completion


def is_larger(w: Workbench, a: Term) -> bool:
    """Whether a matrix has at least two rows and columns of blocks, and more of one of them."""
    if a.op != "block" or min(pair(a)) < 2 or max(pair(a)) < 3:
        return False
    kind = infer(a, w.facts.scope)
    return any(s.value is None or s.value > MAX_LITERAL for s in (kind.rows, kind.cols))


def value(w: Workbench, node: Term) -> int | None:
    """f(two by two blocks) = f(a), for a function f of one block matrix."""
    (a,) = node.args
    found = _two_by_two(w, a)
    if found is None:
        return None
    kind = infer(a, w.facts.scope)
    type_ = "complex_matrix_type" if kind.is_complex else "matrix_type"
    hole = bound(0, term(type_, size_term(kind.rows), size_term(kind.cols)))
    return w.congruence(found[1], term(node.op, hole))


def transferred(w: Workbench, a: Term, prop: str, rule: str) -> int | None:
    """A property of a from that of the regrouped matrix."""
    goal = term(prop, a)

    def shown(inner: Workbench) -> Term | None:
        found = _two_by_two(inner, a)
        if found is None or inner.attempt(term(prop, found[0])) is None:
            return None
        return None if inner.schema(rule, n=inner.size(a), A=found[0], B=a) is None else goal

    return _apart(w, goal, shown)


def whole(w: Workbench, a: Term) -> None:
    """The identity, cut as the rows and columns of blocks are."""
    for sizes in _partitions(w, a):
        if len(sizes) < 3:
            w.schema("block_eye", n=sizes[0], k=sizes[1])
            continue
        parts = [
            term("eye", x) if i == j else term("zeros", x, y)
            for i, x in enumerate(sizes)
            for j, y in enumerate(sizes)
        ]
        cut = term("block", *parts, data=(len(sizes), len(sizes)))
        goal = term("eq", cut, term("eye", _sum(sizes)))
        _apart(w, goal, lambda inner, goal=goal, sizes=sizes: _whole(inner, goal, sizes))


def _whole(w: Workbench, goal: Term, sizes: list[Term]) -> Term | None:
    places: list[int | None] = []
    for i in range(len(sizes), 1, -1):
        places += _nest(w, sizes[:i])
        places.append(w.schema("block_eye", n=_sum(sizes[: i - 1]), k=sizes[i - 1]))
    return _follows(w, goal, places)


def _follows(w: Workbench, goal: Term, places: list[int | None]) -> Term | None:
    """The goal, where it follows from what is known of the places of blocks."""
    ideal = Ideal(w.tick)
    known = {p: w.facts.difference(w.facts.facts[p].relation) for p in places if p is not None}
    difference = w.facts.difference(goal)
    blocks = [x for v in (*known.values(), difference) for _, word in v.terms for x in word]
    nested = {x.block[1] for x in blocks if x.block is not None}
    for x in blocks:
        if x.block is not None:  # a block of a block is rewritten into a block of the whole
            ideal.weigh(x, int((x.cols if x.transposed else x.rows) in nested))
    for place, value_ in known.items():
        ideal.add(value_, place)
    for _ in range(MAX_STEPS):
        rest, used = ideal.reduce(difference)
        if not rest.terms:
            return None if w.combine(goal, ideal, used) is None else goal
        if not ideal.step():
            return None
    return None


def _apart(w: Workbench, what: Term, prove: Callable[[Workbench], Term | None]) -> int | None:
    """A relation shown in a sub-proof, so that nothing else is said of two partitions at once.

    The sub-proof has a name of its own, of which the relation says nothing.
    """
    key, fresh = ("regrouped", id(what)), w.fresh(1)
    if key in w.failed:
        return None
    w.failed.add(key)  # sub-proofs look at the same matrix
    real = term("real_type")
    try:
        with w.inside(fresh, (real,)) as inner:
            goal = prove(inner)
            if goal is None:
                return None
            inner.learn(goal)
            inner.define(goal)
    except (Stuck, NoTerm, NotDefined, TooLarge, StatementError):
        return None
    step = {"rule": "forall", "names": list(fresh), "types": [w.place(real)], "where": []}
    place = w.take(step | {"steps": inner.steps, "goal": w.place(goal)})
    if place is None:
        return None
    return w.take({"rule": "instantiate", "fact": place, "terms": [w.place(ZERO)], "by": []})


def _two_by_two(w: Workbench, a: Term) -> tuple[Term, int] | None:
    """A matrix of two by two blocks with the place of its equality to a."""
    rows, cols = pair(a)
    table = [a.args[i * cols : (i + 1) * cols] for i in range(rows)]
    corners = [
        _joined([row[:-1] for row in table[:-1]]),
        _joined([row[-1:] for row in table[:-1]]),
        _joined([table[-1][:-1]]),
        table[-1][-1],
    ]
    two = term("block", *corners, data=(2, 2))
    w.learn(two)
    goal = term("eq", two, a)

    def shown(inner: Workbench) -> Term | None:
        places = [p for sizes in _partitions(inner, a) for p in _nest(inner, sizes)]
        return _follows(inner, goal, places)

    place = _apart(w, goal, shown)
    return None if place is None else (two, place)


def _partitions(w: Workbench, a: Term) -> list[list[Term]]:
    """The sizes of the rows of blocks and of the columns, once where they are the same."""
    _, cols = pair(a)
    kinds = [infer(x, w.facts.scope) for x in a.args]
    down = [size_term(k.rows) for k in kinds[::cols]]
    across = [size_term(k.cols) for k in kinds[:cols]]
    return [down] if down == across else [down, across]


def _nest(w: Workbench, sizes: list[Term]) -> list[int | None]:
    """The place of each block but the last within those before the last."""
    *first, last = sizes
    if len(sizes) < 3:
        return []
    places: list[int | None] = []
    for i, size in enumerate(first):
        before, between = first[:i], first[i + 1 :]
        if not between:
            places.append(_place(w, _sum(before), size, last, at=1))
        elif not before:
            places.append(_place(w, size, _sum(between), last, at=0))
        else:  # by way of the blocks that end with this one
            one, two = _sum(before), _sum(between)
            places.append(_place(w, one, size, term("add", two, last), at=1))
            places.append(_place(w, term("add", one, size), two, last, at=0))
            places.append(_place(w, one, size, two, at=1))
    return places


def _place(w: Workbench, *sizes: Term, at: int) -> int | None:
    """The identity of one size between zeros, as two rows of blocks and as three."""
    p = sizes[at]
    parts = [term("eye", p) if i == at else term("zeros", s, p) for i, s in enumerate(sizes)]
    names = dict(zip("nkm", sizes, strict=True)) | dict(zip("ABC", parts, strict=True))
    return w.schema("block_rows_three", **names, p=p)


def _sum(sizes: list[Term]) -> Term:
    return reduce(lambda x, y: term("add", x, y), sizes)


def _joined(table: list[tuple[Term, ...]]) -> Term:
    """A matrix of blocks, or the one block that there is."""
    if len(table) == len(table[0]) == 1:
        return table[0][0]
    if all(x.op == "zeros" for row in table for x in row):
        rows, cols = [row[0].args[0] for row in table], [x.args[1] for x in table[0]]
        return term("zeros", _sum(rows), _sum(cols))
    return term("block", *(x for row in table for x in row), data=(len(table), len(table[0])))
