"""Untrusted. Quantified relations: instances of known ones, and proofs for fresh names."""

from __future__ import annotations

from proofs.checker.algebra import Poly, TooLarge
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, instantiate, name, pair, rational, term
from proofs.search.raising import NoTerm, opened, size_term
from proofs.search.workbench import Stuck, Workbench


def instantiated(w: Workbench, relation: Term) -> int | None:
    """A relation as an instance of a quantified fact, its bound names found by trying."""
    wanted = w.facts.key(relation)
    indices = [*_indices(relation), rational(1)]
    for place, fact in enumerate(w.facts.facts):
        if fact.relation.op != "forall":
            continue
        count, conditions = pair(fact.relation)
        if count != 1 or conditions:
            continue
        for value in indices:
            try:
                if w.facts.key(instantiate(fact.relation.args[1], (value,))) != wanted:
                    continue
            except (StatementError, TooLarge):
                continue
            return w.take(
                {"rule": "instantiate", "fact": place, "terms": [w.place(value)], "by": []}
            )
    return None


def _indices(root: Term) -> list[Term]:
    """What stands as an index of an entry."""
    found: dict[Term, None] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.op == "entry":
            found.update(dict.fromkeys(node.args[1:]))
        stack.extend(node.args)
    return list(found)


def for_all(w: Workbench, relation: Term) -> int | None:
    """A relation for all values: shown for fresh names."""
    count, _ = pair(relation)
    names = w.fresh(count)
    *where, goal = (opened(instantiate(r, tuple(map(name, names)))) for r in relation.args[count:])
    return w.for_all(names, relation.args[:count], goal, tuple(where))


def on_a_kernel(w: Workbench, fact: Term) -> int | None:
    """K*Z = L*Z for Z = eye(k) - pinv(F)*F, where K*x = L*x for all x with F*x = 0."""
    count, conditions = pair(fact)
    type_, condition, body = fact.args[0], fact.args[1], fact.args[-1]
    if (count, conditions) != (1, 1) or condition.op != "eq" or body.op != "eq":
        return None
    (fresh,) = w.fresh(1)
    x = name(fresh)
    try:
        with w.inside((fresh,), (type_,)) as inner:
            size = size_term(infer(x, inner.facts.scope).rows)
            f = _factor_before(inner, instantiate(condition, (x,)), x)
            sides = [_before(inner, s, x) for s in instantiate(body, (x,)).args]
            if f is None or sides[0] is None or sides[1] is None:
                return None
            z = term("sub", term("eye", size), term("mul", term("pinv", f), f))
            value = term("mul", z, x)
            needed = instantiate(condition, (value,))
            inner.learn(needed)
            by = inner.stated(needed, inner.establish(needed))
            place = next(i for i, g in enumerate(inner.facts.facts) if g.relation is fact)
            step = {"rule": "instantiate", "fact": place, "terms": [inner.place(value)], "by": [by]}
            if inner.take(step) is None:
                return None
            goal = term("eq", *(term("mul", term("mul", s, z), x) for s in sides if s is not None))
            inner.stated(goal, inner.establish(goal))
            step = {
                "rule": "forall",
                "names": [fresh],
                "types": [inner.place(type_)],
                "where": [],
                "steps": inner.steps,
                "goal": inner.place(goal),
            }
        if w.take(step) is None:
            return None
        a, b = (term("mul", s, z) for s in sides if s is not None)
        return w.schema("matrix_equal", n=w.size(a), k=size, A=a, B=b)
    except (Stuck, NoTerm, TooLarge, StatementError, NotDefined):
        return None


def _factor_before(w: Workbench, equation: Term, x: Term) -> Term | None:
    """F, where an equation says that F*x = 0."""
    return _before(w, term("sub", *equation.args), x)


def _before(w: Workbench, side: Term, x: Term) -> Term | None:
    """A, where a vector is A*x."""
    value = w.facts.lowering.lower(side)
    (letter,) = next(iter(w.facts.lowering.lower(x).terms))[1]
    if not value.terms or any(word[-1:] != (letter,) for _, word in value.terms):
        return None
    terms = {(m, word[:-1]): c for (m, word), c in value.terms.items()}
    return w.raising.poly(Poly(value.rows, letter.rows, terms))
