"""Untrusted. Inequalities between quadratic forms, squared norms and traces.

The difference of the sides is written as squares X*S*X.H under a trace, for semidefinite S, and
what is left over is shown to be non-negative term by term. Where one vector x stands on both
sides of every word, x.T*N*x, it is enough that N is semidefinite.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from proofs.checker.algebra import ONE, Letter, Poly, TooLarge, Word, identity, turns
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import bounds, determinant_bounds, equations, inverse_bounds, signs
from proofs.search.ideal import Ideal
from proofs.search.raising import NoTerm, size_term, size_terms
from proofs.search.squares import Square, Squares
from proofs.search.workbench import Stuck, Workbench

STEPS = (0, 40)  # of completion before each attempt
MAX_ROOTS = 12
MAX_WORD = 6  # letters of a trace that is cut in halves


def sign(w: Workbench, relation: Term) -> int | None:
    """left > right or left >= right, by squares."""
    difference = w.facts.difference(relation)
    if not difference.is_scalar or (difference.is_complex and relation.op != "ge"):
        return None
    if signs.says_nothing(w, relation):
        return None
    ideal = equations.known(w, [relation])
    if determinant_bounds.gather(w, relation):
        for method in (signs.sign, determinant_bounds.concave):
            if (found := method(w, relation)) is not None:
                return found
    found = _by_name(w, relation, difference)
    if found is not None:
        return found
    if relation.op == "ge" and (found := inverse_bounds.between_numbers(w, relation)) is not None:
        return found
    found = _by_complement(w, relation, difference)
    if found is None and w.level == 1:
        found = _by_matrix(w, relation, difference, known=True)
    if found is not None:
        return found
    for steps in STEPS:
        for _ in range(steps):
            if not ideal.step():
                break
        for method in (_by_squares, _around_a_vector):
            try:
                found = method(w, relation, difference, ideal)
            except (NoTerm, TooLarge, Stuck, StatementError, NotDefined):
                continue
            if found is not None:
                return found
    return _by_matrix(w, relation, difference, known=False) if w.level == 1 else None


def _by_matrix(w: Workbench, relation: Term, difference: Poly, known: bool) -> int | None:
    """A sum of traces as the trace of a sum, which is semidefinite."""
    words = [a.word for m, _ in difference.terms for a, _ in m if a.word is not None]
    size = words[0][0].rows if words else ONE
    if size == ONE or len(difference.terms) < 2:
        return None
    unit = identity(size)
    total = Poly(size, size, {})
    for (monomial, _), c in difference.terms.items():
        traced = [a.word for a, n in monomial if a.word is not None and n == 1]
        if (monomial, ()) in unit.trace().terms:
            total = total + unit.scale(c / unit.trace().terms[monomial, ()])
        elif len(traced) == 1 and traced[0] and traced[0][0].rows == size:
            rest = tuple((a, n) for a, n in monomial if a.word is None)
            one = Poly(size, size, {(rest, traced[0]): c / 2})
            total = total + one + one.T.conj
        else:
            return None
    try:
        node = w.raising.poly(total)
    except NoTerm:
        return None
    kind, rule = "semidefinite", "trace_nonnegative"
    if relation.op == "gt":
        kind, rule = "definite", "trace_positive"
    w.learn(node)
    goal = term(f"positive_{kind}", node)
    if w.find(goal) is None and (known or w.attempt(goal) is None):
        return None
    place = w.schema(rule, n=w.size(node), A=node)
    return None if place is None else w.positive(relation, [["1", [place], None]])


def _by_name(w: Workbench, relation: Term, difference: Poly) -> int | None:
    """An inequality that has a name, as it is or up to the known equations."""
    places = bounds.gather(w, relation)
    if not places or (found := signs.sign(w, relation)) is not None:
        return found if places else None
    for place in places if relation.op == "ge" else ():
        try:
            found = signs.from_facts(w, relation, [["1", [place], None]])
        except (NoTerm, TooLarge, Stuck, StatementError, NotDefined):
            continue
        if found is not None:
            return found
    return None


def _by_complement(w: Workbench, relation: Term, difference: Poly) -> int | None:
    """c - u.T*inv(M)*u with a sum M, as the Schur complement of M in [c, u.T; u, M]."""
    one = rational(1)
    kind = "definite" if relation.op == "gt" else "semidefinite"
    for (monomial, _), c in difference.terms.items():
        word = monomial[0][0].word if len(monomial) == 1 and monomial[0][1] == 1 else None
        half = len(word or ()) // 2
        if word is None or c > 0 or len(word) % 2 == 0 or word[0].rows != ONE:
            continue
        node = w.raising.letters.get(word[half])
        if node is None or node.op != "inv" or len(w.facts.lowering.lower(node.args[0]).terms) < 2:
            continue
        if word[half + 1 :] != tuple(x.T for x in reversed(word[:half])):
            continue
        atom = Poly(ONE, ONE, {(monomial, ()): c})
        corner = w.raising.poly((difference - atom).scale(-1 / c))
        u, m = w.raising.word(word[:half]), node.args[0]
        block = term("block", corner, u, term("adjoint", u), m, data=(2, 2))
        w.learn(block)
        if w.attempt(term(f"positive_{kind}", block)) is None:
            continue
        rule = "definite_block_schur" if kind == "definite" else "semidefinite_schur"
        place = w.schema(rule, n=one, k=w.size(m), S=corner, C=u, R=m)
        if place is None:
            continue
        whole = w.facts.facts[place].relation.args[0]
        rule = "trace_positive" if kind == "definite" else "trace_nonnegative"
        place = w.schema(rule, n=one, A=whole)
        if place is not None:
            return w.positive(relation, [[str(-c), [place], None]])
    return None


def _by_squares(w: Workbench, relation: Term, difference: Poly, ideal: Ideal) -> int | None:
    strict = relation.op == "gt"
    for squares, rest in Squares(w, ideal, _roots(w, relation)).find(difference):
        if not squares:
            continue
        terms = signs.nonnegative(w, rest, False)
        if terms is None:
            continue
        rows = [_row(w, s, strict) for s in squares]
        if None in rows:
            continue
        total = rest
        for s in squares:
            total = total + s.value.trace()
        found = w.closed(relation, [*rows, *terms], difference - total, ideal)
        if found is not None:
            return found
    return None


def _row(w: Workbench, square: Square, strict: bool) -> list[Any] | None:
    """A square under a trace as a term of a `positive` step."""
    ((monomial, _), coefficient) = next(iter(square.scale.terms.items()))
    row = signs.monomial(w, monomial, coefficient)
    place = _positive(w, square, strict)
    if row is None or place is None:
        return None
    return [row[0], [*row[1], place], row[2]]


def _positive(w: Workbench, square: Square, strict: bool) -> int | None:
    """The fact that a square under a trace is positive, or not negative."""
    root, center = square.root, square.center
    if square.outer is not None:
        a, b = square.outer.node, square.term(w)
        return None if a is None else w.schema("trace_product", n=w.size(a), A=a, B=b)
    if center.node is None:
        a = w.raising.poly(root.T.conj)
        return norm(w, a, strict)
    node = center.node
    if root.rows == ONE:
        x, n = w.raising.poly(root.T), size_term(root.cols)
        found = w.schema("quadratic_positive", n=n, A=node, x=x) if strict else None
        return w.schema("quadratic_nonnegative", n=n, A=node, x=x) if found is None else found
    whole = square.term(w)
    if strict and w.attempt(term("positive_definite", whole)) is not None:
        return w.schema("trace_positive", n=size_term(root.rows), A=whole)
    return w.schema("trace_nonnegative", n=size_term(root.rows), A=whole)


def norm(w: Workbench, a: Term, strict: bool) -> int | None:
    """norm2(a) > 0, where that is asked for and known, or norm2(a) >= 0."""
    kind = infer(a, w.facts.scope)
    sizes = size_terms(kind)
    found = w.schema("norm_nonzero", A=a, **sizes) if strict else None
    return w.schema("norm_nonnegative", A=a, **sizes) if found is None else found


def _roots(w: Workbench, relation: Term) -> list[tuple[Fraction, Poly]]:
    """Sums and differences of what the goal takes norms of, as roots of squares."""
    inside = [n.args[0] for n in postorder([relation]) if n.op == "norm2" and not n.free]
    values = [w.facts.lowering.lower(a).T.conj for a in dict.fromkeys(inside)]
    found = [
        (Fraction(1), one + two.scale(Fraction(s)))
        for i, one in enumerate(values)
        for two in values[:i]
        if (one.rows, one.cols) == (two.rows, two.cols)
        for s in (-1, 1)
    ]
    for one in values:  # of a matrix, its skew and symmetric parts
        if one.rows == one.cols:
            found += [(Fraction(1, 2), one + one.T.conj.scale(Fraction(s))) for s in (-1, 1)]
    found += _commutators(w, relation)
    return found[:MAX_ROOTS]


def _commutators(w: Workbench, relation: Term) -> list[tuple[Fraction, Poly]]:
    """u - v.T, for the halves of a trace -tr(u*v), which is the mixed term of their squares."""
    found: list[tuple[Fraction, Poly]] = []
    for (monomial, _), coefficient in w.facts.difference(relation).terms.items():
        for a, _ in monomial if coefficient < 0 else ():
            word = a.word or ()
            if len(word) % 2 or len(word) > MAX_WORD or ONE in [x.rows for x in word[:1]]:
                continue
            half = len(word) // 2
            for turned in list(turns(word))[: len(word)]:
                u, v = (
                    Poly(p[0].rows, p[-1].cols, {((), p): Fraction(1)})
                    for p in (turned[:half], turned[half:])
                )
                if (u.rows, u.cols) == (v.cols, v.rows) and u != v.T:
                    found += [(scale, u - v.T) for scale in (Fraction(1, 2), Fraction(1))]
    return found


def _around_a_vector(w: Workbench, relation: Term, difference: Poly, ideal: Ideal) -> int | None:
    """x.T*N*x by the definiteness of N."""
    value, _ = ideal.reduce(difference)
    for x, middle in _middles(value):
        node, vector = w.raising.poly(middle), w.raising.poly(_column(x))
        n = size_term(middle.rows)
        found = None
        if relation.op == "gt":
            found = w.schema("quadratic_positive", n=n, A=node, x=vector)
        else:
            found = w.schema("quadratic_nonnegative", n=n, A=node, x=vector)
        if found is None:
            continue
        proved = w.facts.difference(w.facts.facts[found].relation)
        place = w.closed(relation, [["1", [found], None]], difference - proved, ideal)
        if place is not None:
            return place
    return None


def _column(x: Letter) -> Poly:
    return Poly(x.rows, x.cols, {((), (x,)): Fraction(1)})


def _middles(value: Poly) -> Iterator[tuple[Letter, Poly]]:
    """Ways to write a number as x.T*N*x, N made symmetric."""
    words: list[tuple[Fraction, Any, list[Word]]] = []
    for (monomial, _), c in value.terms.items():
        inner = [(a, n) for a, n in monomial if a.word is not None]
        if len(inner) != 1 or inner[0][1] != 1 or inner[0][0].word is None:
            return
        a = inner[0][0]
        rest = tuple(p for p in monomial if p[0] is not a)
        words.append((c, rest, list(turns(a.word or ()))))
    if not words:
        return
    for first in dict.fromkeys(t[-1] for t in words[0][2]):
        if first.cols != ONE or first.rows == ONE:
            continue
        size = first.rows
        total = Poly(size, size, {})
        for c, rest, options in words:
            fitting = [
                t[1:-1] for t in options if t[-1] is first and t[0] is first.T and len(t) > 1
            ]
            if not fitting:
                break
            part = Poly(size, size, {(rest, fitting[0]): c / 2})
            total = total + part + part.T
        else:
            yield first, total
