"""Untrusted. Quantified relations: instances of known ones, and proofs for fresh names."""

from __future__ import annotations

from proofs.checker.algebra import ONE, Letter, Poly, TooLarge, turns
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, instantiate, name, pair, postorder, rational, term
from proofs.language.types import Kind
from proofs.search.raising import NoTerm, opened, size_term
from proofs.search.workbench import Stuck, Workbench

VECTORS = frozenset({"matrix_type", "complex_matrix_type"})


def instantiated(w: Workbench, relation: Term) -> int | None:
    """A relation as an instance of a quantified fact, its bound names found by trying."""
    wanted = w.facts.key(relation)
    indices = [*_indices(relation), rational(1)]
    vectors = _vectors(w, relation)
    for place, fact in enumerate(w.facts.facts):
        if fact.relation.op != "forall":
            continue
        count, conditions = pair(fact.relation)
        if count != 1 or conditions:
            continue
        is_vector = fact.relation.args[0].op in VECTORS
        for value in vectors if is_vector else indices:
            try:
                if w.facts.key(instantiate(fact.relation.args[1], (value,))) != wanted:
                    continue
            except (StatementError, TooLarge):
                continue
            return w.take(
                {"rule": "instantiate", "fact": place, "terms": [w.place(value)], "by": []}
            )
    return None


def _vectors(w: Workbench, relation: Term) -> list[Term]:
    """The vectors that stand in a relation by their names."""
    named = [n for n in postorder([relation]) if n.op == "name"]
    kinds = [infer(n, w.facts.scope) for n in named]
    return [
        n
        for n, k in zip(named, kinds, strict=True)
        if k.kind is Kind.MATRIX and k.cols == ONE and k.rows != ONE
    ]


def _indices(root: Term) -> list[Term]:
    """What stands as an index of an entry or a member, or as the argument of a named function."""
    found: dict[Term, None] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        if node.op in ("entry", "member", "apply"):
            found.update(dict.fromkeys(node.args[1:]))
        stack.extend(node.args)
    return list(found)


def coefficients(w: Workbench, fact: Term) -> int | None:
    """A = B, where A*x = B*x is known for all vectors x; A = 0, where x.H*A*x = 0 is."""
    count, conditions = pair(fact)
    type_, body = fact.args[0], fact.args[-1]
    if (count, conditions) != (1, 0) or type_.op not in VECTORS or body.op != "eq":
        return None
    fresh = w.fresh(1)
    x = name(fresh[0])
    try:
        with w.inside(fresh, (type_,)) as inner:
            size = size_term(infer(x, inner.facts.scope).rows)
            value = inner.facts.lowering.lower(term("sub", *instantiate(body, (x,)).args))
            if not value.is_scalar:
                both = _halves(inner, value, x)
            else:
                both = None
                form = _form(inner, value, x)
    except (NoTerm, TooLarge, StatementError, NotDefined):
        return None
    if not value.is_scalar:
        if both is None:
            return None
        return w.schema("matrix_equal", n=w.size(both[0]), k=size, A=both[0], B=both[1])
    if form is None:
        return None
    if type_.op == "complex_matrix_type":
        return w.schema("form_zero", n=size, A=form)
    symmetric = term("add", form, term("transpose", form))  # the rest of the form is zero anyway
    for a in (symmetric, term("neg", symmetric)):
        if w.schema("semidefinite_by_form", n=size, A=a) is None:
            return None
    return w.schema("semidefinite_opposite", n=size, A=symmetric)


def _halves(w: Workbench, value: Poly, x: Term) -> tuple[Term, Term] | None:
    """A and B, where a vector is A*x - B*x."""
    positive = {k: c for k, c in value.terms.items() if c > 0}
    negative = {k: -c for k, c in value.terms.items() if c < 0}
    n = w.facts.lowering.lower(x).rows
    halves = [_stripped(w, Poly(value.rows, value.cols, t), x) for t in (positive, negative)]
    if halves == [None, None]:
        return None
    zero = term("zeros", size_term(value.rows), size_term(n))
    if (halves[0] is None and positive) or (halves[1] is None and negative):
        return None
    return halves[0] or zero, halves[1] or zero


def _form(w: Workbench, value: Poly, x: Term) -> Term | None:
    """A, where a number is x.H*A*x."""
    ((letter,),) = [k[1] for k in w.facts.lowering.lower(x).terms]
    total = Poly(letter.rows, letter.rows, {})
    for (monomial, _), c in value.terms.items():
        inner = [(a, n) for a, n in monomial if a.word is not None]
        if len(inner) != 1 or inner[0][1] != 1:
            return None
        rest = tuple(p for p in monomial if p[0] is not inner[0][0])
        fitting = [
            t[1:-1]
            for t in turns(inner[0][0].word or ())
            if t[-1] is letter and t[0] is letter.T.conj and letter not in t[1:-1]
        ]
        if not fitting or any(letter in t for t in fitting):
            return None
        total = total + Poly(letter.rows, letter.rows, {(rest, fitting[0]): c})
    return w.raising.poly(total) if total.terms else None


def for_all(w: Workbench, relation: Term) -> int | None:
    """A relation for all values: shown for fresh names."""
    count, _ = pair(relation)
    names = w.fresh(count)
    *where, goal = (opened(instantiate(r, tuple(map(name, names)))) for r in relation.args[count:])
    return w.for_all(names, relation.args[:count], goal, tuple(where))


def on_a_kernel(w: Workbench, fact: Term) -> int | None:
    """K*Z = L*Z for Z = eye(k) - pinv(F)*F, where K*x = L*x for all x with F*x = 0; K may be a row,
    and K*x a number."""
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
            sides = _halves(
                inner,
                inner.facts.lowering.lower(term("sub", *instantiate(body, (x,)).args)),
                x,
            )
            if f is None or sides is None:
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
            goal = term("eq", *(term("mul", term("mul", s, z), x) for s in sides))
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
        a, b = (term("mul", s, z) for s in sides)
        return w.schema("matrix_equal", n=w.size(a), k=size, A=a, B=b)
    except (Stuck, NoTerm, TooLarge, StatementError, NotDefined):
        return None


def _factor_before(w: Workbench, equation: Term, x: Term) -> Term | None:
    """F, where an equation says that F*x = 0."""
    return _before(w, term("sub", *equation.args), x)


def _before(w: Workbench, side: Term, x: Term) -> Term | None:
    """A, where a vector is A*x."""
    return _stripped(w, w.facts.lowering.lower(side), x)


def _stripped(w: Workbench, value: Poly, x: Term) -> Term | None:
    """A, where a vector is A*x, in the algebra."""
    (letter,) = next(iter(w.facts.lowering.lower(x).terms))[1]
    if value.is_scalar:
        return _row(w, value, letter)
    if not value.terms or any(word[-1:] != (letter,) for _, word in value.terms):
        return None
    terms = {(m, word[:-1]): c for (m, word), c in value.terms.items()}
    return w.raising.poly(Poly(value.rows, letter.rows, terms))


def _row(w: Workbench, value: Poly, x: Letter) -> Term | None:
    """A, where a number is A*x."""
    total = Poly(ONE, x.rows, {})
    for (monomial, _), c in value.terms.items():
        having = [(a, n) for a, n in monomial if a.word and (x in a.word or x.T in a.word)]
        if len(having) != 1 or having[0][1] != 1:
            return None
        rest = tuple(p for p in monomial if p[0] is not having[0][0])
        words = [
            t[:-1]
            for t in turns(having[0][0].word or ())
            if t[0].rows == ONE and t[-1] is x and x not in t[:-1] and x.T not in t[:-1]
        ]
        if not words:
            return None
        total = total + Poly(ONE, x.rows, {(rest, words[0]): c})
    return w.raising.poly(total) if total.terms else None
