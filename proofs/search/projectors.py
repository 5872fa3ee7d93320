"""Untrusted. The orthogonal projector onto a range is unique: P = M*pinv(M) where P is Hermitian,
keeps the columns of M, and has its own columns in the range of M; likewise P = pinv(M)*M."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from proofs.language.infer import infer
from proofs.language.tree import Term, pair, postorder, rational, term
from proofs.search.raising import NoTerm, size_term, size_terms
from proofs.search.workbench import Workbench

MAX_CANDIDATES = 4  # for what a projector is said to be, in one equation


def by_ranges(w: Workbench, goal: Term) -> int | None:
    """An equation that says what M*pinv(M) is, or pinv(M)*M, whatever side its terms stand on; or
    one that holds by what M*pinv(M) is for M = [A, B]."""
    for turned, m, p in list(_candidates(w, goal))[:MAX_CANDIDATES]:
        equal = _unique(w, turned, m, p)
        if equal is not None:
            same = w.facts.difference(w.facts.facts[equal].relation) == w.facts.difference(goal)
            rows = [[None if same else w.place(rational(-1)), equal, None, ""]]
            return w.take({"rule": "combine", "goal": w.place(goal), "terms": rows})
    return _quick(w, goal) if _sums_of_ranges(w, goal) else None


def _quick(w: Workbench, goal: Term) -> int | None:
    from proofs.search.equations import quick  # the two call each other

    return quick(w, goal)


def _candidates(w: Workbench, goal: Term) -> Iterator[tuple[bool, Term, Term]]:
    """Whether it is pinv(M)*M that is sought, M, and what P is to be, block matrices first."""
    difference = w.facts.difference(goal)
    if difference.rows != difference.cols or difference.is_scalar:
        return
    letters = {x: None for _, word in difference.terms for x in word if x.key.startswith("pinv(")}
    nodes = [w.raising.letters.get(x) for x in letters if not x.transposed]
    known = [n for n in nodes if n is not None and n.op == "pinv"]
    for node in sorted(known, key=lambda n: n.args[0].op != "block"):
        (m,) = node.args
        (letter,) = next(iter(w.facts.lowering.lower(node).terms))[1]
        for turned, product in ((False, term("mul", m, node)), (True, term("mul", node, m))):
            value = w.facts.lowering.lower(product)
            if value.rows != difference.rows:
                continue
            for rest in (value - difference, value + difference):
                if all(letter not in word and letter.T not in word for _, word in rest.terms):
                    try:
                        yield turned, m, w.raising.poly(rest)
                    except NoTerm:
                        continue


def _sums_of_ranges(w: Workbench, goal: Term) -> bool:
    """Whether M*pinv(M) = X*pinv(X) + Y*pinv(Y) is now known of pseudo-inverses that the goal
    speaks of, where M has blocks and the columns of X are orthogonal to those of Y."""
    from proofs.search.equations import known

    inside = [n.args[0] for n in postorder([goal]) if n.op == "pinv" and not n.free]
    count = 0
    for m in [m for m in inside if m.op == "block"]:
        rest = [x for x in inside if x is not m]
        for turned in (False, True):
            for x, y in combinations(rest, 2):
                one, two = (term("adjoint", a) if turned else a for a in (x, y))
                whole = term("adjoint", m) if turned else m
                if len({infer(a, w.facts.scope).rows for a in (one, two, whole)}) > 1:
                    continue
                product = w.facts.lowering.lower(term("mul", term("adjoint", one), two))
                if known(w, [goal]).reduce(product)[0].terms:
                    continue
                p = term("add", *(_projector(a, turned) for a in (x, y)))
                count += _unique(w, turned, m, p) is not None
    return count > 0


def _projector(m: Term, turned: bool) -> Term:
    inverse = term("pinv", m)
    return term("mul", inverse, m) if turned else term("mul", m, inverse)


def _block_by_block(w: Workbench, m: Term, turned: bool) -> None:
    """Q*A = A for each A of M = [A, B, ...], from Q*M = M; likewise for blocks in a column."""
    if m.op != "block":
        return
    kind, (rows, cols) = infer(m, w.facts.scope), pair(m)
    place = w.schema("penrose_1", **size_terms(kind), A=m)
    if place is None:
        return
    if turned:
        sizes = [size_term(infer(a, w.facts.scope).rows) for a in m.args[::cols]]
    else:
        sizes = [size_term(infer(a, w.facts.scope).cols) for a in m.args[:cols]]
    for i, size in enumerate(sizes):
        picked = [term("eye", s) if i == j else term("zeros", s, size) for j, s in enumerate(sizes)]
        if len(picked) == 1:
            return
        column = term("block", *picked, data=(len(picked), 1))
        if turned:
            parts = m.args[i * cols : (i + 1) * cols]
            part = parts[0] if cols == 1 else term("block", *parts, data=(1, cols))
            product, left, right = (
                term("mul", part, _projector(m, turned)),
                w.place(term("transpose", column)),
                None,
            )
        else:
            parts = m.args[i::cols]
            part = parts[0] if rows == 1 else term("block", *parts, data=(rows, 1))
            product = term("mul", _projector(m, turned), part)
            left, right = None, w.place(column)
        equal = w.place(term("eq", product, part))
        w.take({"rule": "combine", "goal": equal, "terms": [[left, place, right, ""]]})


def _units(w: Workbench, m: Term) -> None:
    """The inverses of matrices in M that are known to be invertible: M*T has the range of M."""
    names = {n for n in postorder([m]) if n.op == "name"}
    for fact in list(w.facts.facts):
        a = fact.relation.args[0]
        if fact.relation.op == "invertible" and a in names:
            for rule in ("inv_left", "inv_right"):
                w.schema(rule, n=w.size(a), A=a)


def _unique(w: Workbench, turned: bool, m: Term, p: Term) -> int | None:
    """Q = P for the projector Q of M, from P.H = P, P*M = M and Q*P = P."""
    key = ("projector", turned, m, p)
    if key in w.failed:
        return None
    w.failed.add(key)
    w.define(p)
    q, inverse = _projector(m, turned), term("pinv", m)
    _block_by_block(w, m, turned)
    _units(w, m)
    kept = term("mul", m, p) if turned else term("mul", p, m)
    held = term("mul", p, q) if turned else term("mul", q, p)
    adjoint = term("adjoint", p)
    places: list[int] = []
    for wanted in (term("eq", adjoint, p), term("eq", kept, m), term("eq", held, p)):
        w.learn(wanted)
        found = w.find(wanted)
        found = _quick(w, wanted) if found is None else found
        sided = None if found is None else w.sided(wanted, found)
        if sided is None:
            return None
        places.append(sided)
    symmetric, keeps, holds = places
    rule = "penrose_4" if turned else "penrose_3"
    own = w.schema(rule, **size_terms(infer(m, w.facts.scope)), A=m)
    if own is None:
        return None
    # Q - P = -(P*Q - Q) + (Q*P - P).H - (P.H - P)*Q - P.H*(Q.H - Q) + (P.H - P), or from the left
    minus = [w.place(term("neg", a)) for a in (inverse, q, adjoint)]
    sides = [[None, keeps, minus[0]], [None, symmetric, minus[1]], [minus[2], own, None]]
    rows = [[*(side[::-1] if turned else side), ""] for side in sides]
    rows += [[None, holds, None, "H"], [None, symmetric, None, ""]]
    return w.take({"rule": "combine", "goal": w.place(term("eq", q, p)), "terms": rows})
