"""Untrusted. Known equations between random vectors, used inside expectations and covariances.

In the algebra an equation U = V is multiplied from the right by e_F, by the constant 1 or by the
transpose of a random vector W. No term denotes such a factor: what stands for it is the
expectation given F, the expectation, or the covariance with W together with the product of means.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from proofs.checker.algebra import Monomial, Poly, Word
from proofs.checker.lowering import CONSTANT, L2
from proofs.language.tree import Term, bound, term
from proofs.search.ideal import Relation
from proofs.search.ideal import Term as Part
from proofs.search.raising import NoTerm, size_term
from proofs.search.workbench import Workbench


def closed(w: Workbench, parts: list[Part]) -> list[Part]:
    """The same combination, its factors such that terms denote them.

    Raises:
        NoTerm: nothing denotes one of them.
    """
    found: list[Part] = []
    for p in map(_of_columns, parts):
        if p.mode == "T" and p.relation.value.cols == L2:
            found += map(_turned, closed(w, [_turned(p)]))
        else:
            found += _closed(w, p) if _is_open(p) else [p]
    return found


def _of_columns(p: Part) -> Part:
    """The same part by an equation between random columns, where it is one between rows."""
    if p.relation.value.rows != L2:
        return p
    made_of = [_turned(t) for t in p.relation.made_of]
    columns = Relation(p.relation.value.T, ((), ()), None, made_of)
    if p.mode == "tr":
        return Part(None, columns, None if p.right is None else p.right.T, "tr")
    return Part(p.left, columns, p.right, "" if p.mode == "T" else "T")


def _turned(p: Part) -> Part:
    """The transpose of a part."""
    left, right = (None if x is None else x.T for x in (p.right, p.left))
    return Part(left, p.relation, right, {"": "T", "T": "", "C": "H", "H": "C"}[p.mode])


def _is_open(p: Part) -> bool:
    """Whether a random vector is multiplied by more than an inner product accounts for."""
    if p.relation.value.cols != L2 or p.right is None:
        return False
    return p.mode != "tr" or any(word[0].cols == L2 for _, word in p.right.terms)


def _closed(w: Workbench, p: Part) -> Iterator[Part]:
    place = w.materialized(p.relation)
    hole = bound(0, term("random_type", size_term(p.relation.value.rows)))
    for (monomial, word), coefficient in (p.right or Poly(L2, L2, {})).terms.items():
        ends = next((i for i, x in enumerate(word) if x.cols != L2), None)
        left = _scaled(p, monomial, coefficient)
        before = word if ends is None else word[:ends]
        if ends is None:
            yield Part(left, _put(w, place, _given(w, hole, before)), None, p.mode)
            continue
        right = _product(word[ends + 1 :])
        if word[ends] is CONSTANT:
            context = term("expect", _given(w, hole, before))
            yield Part(left, _put(w, place, context), right, p.mode)
            continue
        start = next((i for i, x in enumerate(before) if x.transposed), len(before))
        inside = _given(w, hole, before[:start])
        other = w.raising.word(tuple(x.T for x in reversed(word[start : ends + 1])))
        yield Part(left, _put(w, place, term("cov", inside, other)), right, p.mode)
        mean = w.facts.lowering.lower(term("expect", other)).T
        after = mean if right is None else mean * right
        yield Part(left, _put(w, place, term("expect", inside)), after, p.mode)


def _scaled(p: Part, monomial: Monomial, coefficient: Fraction) -> Poly:
    rows = p.relation.value.rows if p.left is None else p.left.cols
    factor = Poly(rows, rows, {(monomial, ()): coefficient})
    return factor if p.left is None else p.left * factor


def _product(word: Word) -> Poly | None:
    return Poly(word[0].rows, word[-1].cols, {((), word): Fraction(1)}) if word else None


def _given(w: Workbench, value: Term, algebras: Word) -> Term:
    for x in algebras:
        if x.transposed or x not in w.raising.given:
            raise NoTerm(x.sort)
        value = term("expect_given", value, *w.raising.given[x])
    return value


def _put(w: Workbench, place: int, context: Term) -> Relation:
    if context.op == "bound":
        found: int | None = place
    else:
        found = w.congruence(place, context)
    if found is None:
        raise NoTerm(context.op)
    value = w.facts.difference(w.facts.facts[found].relation)
    return Relation(value, ((), ()), found)
