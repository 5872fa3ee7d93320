"""Untrusted. Conditional expectations in L2: merged with each other, moved across inner products.

What is random stands in words as U e_F e_G .. V.T, a segment from a random vector U to another,
to the constant 1 or to the end of the word. Each segment brings the instances that shorten it,
and these bring further segments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proofs.checker.algebra import Letter, TooLarge, Word
from proofs.checker.lowering import CONSTANT, L2
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, rational, term
from proofs.language.types import Kind
from proofs.search.raising import NoTerm, size_term
from proofs.search.workbench import ARITHMETIC, Workbench

MAX_SEGMENTS = 300


@dataclass(frozen=True, slots=True)
class Segment:
    """first e_1 .. e_k last, with `last` transposed, the constant 1, or absent."""

    first: Letter
    algebras: tuple[Letter, ...]
    last: Letter | None
    is_inner: bool  # all of a trace, so that it is an inner product


def gather(w: Workbench, roots: list[Term]) -> None:
    """Equations between what conditional expectations occur in relations, until none is new."""
    pending = [s for root in roots for s in _segments(w, root)]
    for _ in range(MAX_SEGMENTS):
        if not pending:
            return
        segment = pending.pop()
        key = ("segment", segment)
        if key in w.instanced:
            continue
        w.instanced.add(key)
        try:
            for place in [*_merged(w, segment), *_moved(w, segment)]:
                if place is not None and place != ARITHMETIC:
                    pending += _segments(w, w.facts.facts[place].relation)
        except (NoTerm, TooLarge, StatementError):
            continue


def subset(w: Workbench, relation: Term) -> int | None:
    """F subset H, by way of what lies between them."""
    smallest, largest = relation.args
    for fact in list(w.facts.facts):
        if fact.relation.op == "subset" and fact.relation.args[0] is smallest:
            between = fact.relation.args[1]
            if w.attempt(term("subset", between, largest)) is not None:
                return w.schema("subset_transitive", F=smallest, G=between, H=largest)
    return None


# ---------------------------------------------------------------- segments


def _segments(w: Workbench, relation: Term) -> Iterator[Segment]:
    """The parts of a relation in which a conditional expectation acts."""
    if relation.op not in ("eq", "ge", "gt", "le", "lt"):
        if relation.op != "positive_semidefinite":
            return
        relation = term("eq", relation.args[0], relation.args[0])
        value = w.facts.lowering.lower(relation.args[0])
    else:
        try:
            value = w.facts.difference(relation)
        except (TooLarge, StatementError):
            return
    for monomial, word in value.terms:
        yield from _cut(word, False)
        for a, _ in monomial:
            if a.word:
                yield from _cut(_from_outside(a.word), a.word[0].rows == a.word[-1].cols)


def _from_outside(word: Word) -> Word:
    """A trace turned so that no segment is cut in two."""
    for i, x in enumerate(word):
        if x.cols == L2 != x.rows:
            return word[i:] + word[:i]
    return word


def _cut(word: Word, is_trace: bool) -> Iterator[Segment]:
    start = 0
    while start < len(word):
        if word[start].cols == L2 != word[start].rows:
            end = start + 1
            while end < len(word) and word[end].rows == word[end].cols == L2:
                end += 1
            last = word[end] if end < len(word) else None
            if end > start + 1:
                whole = is_trace and end == len(word) - 1 and start == 0
                is_inner = whole and word[start].rows == word[end].cols and last is not CONSTANT
                yield _turned(Segment(word[start], word[start + 1 : end], last, is_inner))
            start = end
        start += 1


def _turned(s: Segment) -> Segment:
    """A segment that begins with the constant 1, so that it ends with it."""
    if s.first is not CONSTANT.T or s.last is None:
        return s
    return Segment(s.last.T, tuple(x.T for x in reversed(s.algebras)), CONSTANT, s.is_inner)


# ---------------------------------------------------------------- instances


def _merged(w: Workbench, s: Segment) -> list[int | None]:
    """Two neighbours as one, with what follows as context; a constant is its own mean."""
    algebras = [a for x in s.algebras if (a := _algebra(w, x)) is not None]
    n = size_term(s.first.rows)
    if len(algebras) < len(s.algebras):
        return []
    if s.last is CONSTANT and s.algebras[-1].transposed:
        return [w.schema("expectation_constant", n=rational(1), c=rational(1), F=algebras[-1])]
    if s.first is CONSTANT.T:
        place = w.schema("expectation_constant", n=n, c=rational(1), F=algebras[0])
        return [_in_context(w, place, s, 1, n)]
    if any(x.transposed for x in s.algebras):
        return []
    for i in range(len(algebras) - 1):
        u = w.raising.word((s.first, *s.algebras[:i]))
        place = _one(w, u, algebras[i], algebras[i + 1], n)
        if place is not None:
            return [_in_context(w, place, s, i + 2, n)]
    if s.last is CONSTANT:
        u = w.raising.word((s.first, *s.algebras[:-1]))
        return [w.schema("expectation_total", n=n, U=u, F=algebras[-1])]
    return []


def _one(w: Workbench, u: Term, first: Term, then: Term, n: Term) -> int | None:
    """E(E(u | first) | then) as one expectation."""
    if first is then:
        return w.schema("expectation_projects", n=n, U=u, F=first)
    if w.attempt(term("subset", then, first)) is not None:
        return w.schema("tower_coarse_last", n=n, U=u, F=then, G=first)
    if w.attempt(term("subset", first, then)) is not None:
        return w.schema("tower_coarse_first", n=n, U=u, F=first, G=then)
    return None


def _in_context(w: Workbench, place: int | None, s: Segment, done: int, n: Term) -> int | None:
    """An equation on the first letters of a segment, with those that follow."""
    if place is None or place == ARITHMETIC:
        return place
    hole = context = bound(0, term("random_type", n))
    for x in s.algebras[done:]:
        context = term("expect_given", context, *w.raising.given[x])
    if s.last is CONSTANT:
        context = term("expect", context)
    elif s.last is not None:
        context = term("l2inner" if s.is_inner else "cov", context, w.raising.letter(s.last.T))
    return place if context is hole else w.congruence(place, context)


def _moved(w: Workbench, s: Segment) -> list[int | None]:
    """Each expectation at the middle of an inner product or covariance, moved across it."""
    if s.last is None or s.last is CONSTANT or CONSTANT.T in (s.first, s.last):
        return []
    plain = [x.T if x.transposed else x for x in s.algebras]
    found: list[int | None] = []
    for i, x in enumerate(plain):
        algebra = _algebra(w, x)
        if algebra is None:
            return found
        u = w.raising.word((s.first, *plain[:i]))
        v = w.raising.word((s.last.T, *reversed(plain[i + 1 :])))
        sizes = {"n": w.size(u)} if s.is_inner else {"n": w.size(u), "k": w.size(v)}
        rule = "expectation_symmetric" if s.is_inner else "covariance_symmetric"
        found.append(w.schema(rule, **sizes, U=u, V=v, F=algebra))
    return found


def _algebra(w: Workbench, x: Letter) -> Term | None:
    """The sigma-algebra of a letter e_F."""
    given = w.raising.given.get(x.T if x.transposed else x, ())
    if len(given) != 1 or given[0].op != "name":
        return None
    return given[0] if infer(given[0], w.facts.scope).kind is Kind.SIGMA_ALGEBRA else None
