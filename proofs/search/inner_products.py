"""Untrusted. Inequalities between norms and covariances of random vectors in L2.

The difference of the sides is written as a sum of squared norms, or of covariance matrices, of
vectors that are in sight and of their sums and differences, once conditional expectations are
moved and merged: E|Y - E(Y|F)|^2 <= E|Y - V|^2 for V = E(W|F), say, by the norm of E(Y - W|F).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

from proofs.checker.algebra import Poly, TooLarge, Word
from proofs.checker.lowering import CONSTANT, L2, as_random
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import equations
from proofs.search.ideal import Ideal
from proofs.search.linear import combination
from proofs.search.raising import NoTerm, size_term
from proofs.search.workbench import Workbench

MAX_VECTORS = 8
Vector = tuple[Term, Poly]  # a random vector, and the same in the algebra


def sign(w: Workbench, relation: Term) -> int | None:
    """left >= right by squared norms, or by the inequality of Cauchy and Schwarz."""
    difference = w.facts.difference(relation)
    if relation.op != "ge" or not _speaks_of_randoms(difference):
        return None
    _cauchy_schwarz(w, relation)
    found = w.find(relation)
    if found is not None:
        return found
    vectors = _vectors(w, relation, difference)
    for n in {p.rows for _, p in vectors}:
        _gather(w, [v for v in vectors if v[1].rows == n], "l2inner")
    ideal = equations.plain_ideal(w, [relation])
    summed = _sum(ideal, difference, vectors, lambda r: (r * r.T).trace())
    if summed is None:
        return None
    terms, gap = [], difference
    for (node, root), factor in summed:
        row = _square(w, node, root)
        if row is None:
            return None
        terms.append([str(factor), *row])
        gap = gap - (root * root.T).trace().scale(factor)
    return w.closed(relation, terms, gap, ideal)


def semidefinite(w: Workbench, a: Term, n: Term) -> int | None:
    """A matrix as a sum of covariance matrices."""
    from proofs.search.definiteness import transferred

    value = w.facts.lowering.lower(a)
    if not _speaks_of_randoms(value):
        return None
    vectors = _vectors(w, a, value)
    vectors = [v for v in vectors if v[1].rows == value.rows]
    _gather(w, vectors, "cov")
    ideal = equations.plain_ideal(w)
    summed = _sum(ideal, value, vectors, _covariance)
    total: Term | None = None
    for (node, _), factor in summed or ():
        part = term("cov", node, node)
        if w.schema("covariance_semidefinite", n=n, U=node) is None:
            return None
        if factor != 1:
            w.schema("semidefinite_scale", n=n, A=part, c=rational(factor))
            part = term("mul", rational(factor), part)
        if total is not None:
            w.schema("semidefinite_sum", n=n, A=total, B=part)
        total = part if total is None else term("add", total, part)
    return None if total is None else transferred(w, total, a, n, ideal, "positive_semidefinite")


def _speaks_of_randoms(value: Poly) -> bool:
    words = [word for _, word in value.terms]
    words += [a.word for monomial, _ in value.terms for a, _ in monomial if a.word]
    return any(x.rows == L2 for word in words for x in word)


def _cauchy_schwarz(w: Workbench, relation: Term) -> None:
    """The inequality for each inner product, or covariance of numbers, in a relation."""
    for node in postorder([relation]):
        if node.free or node.op not in ("l2inner", "cov") or node.args[0] is node.args[1]:
            continue
        u, v = node.args
        if node.op == "cov":
            if not infer(node, w.facts.scope).is_scalar:
                continue
            u, v = (term("sub", x, term("expect", x)) for x in (u, v))
        try:
            w.schema("cauchy_schwarz", n=w.size(u), U=u, V=v)
        except (StatementError, TooLarge, NoTerm):
            continue


# ---------------------------------------------------------------- vectors


def _vectors(w: Workbench, root: Term, value: Poly) -> list[Vector]:
    """What norms and covariances are taken of, and the ends of the words of a value."""
    found: dict[str, Poly] = {}
    for node in postorder([root]):
        args = node.args if node.op in ("l2norm2", "l2inner", "cov", "norm2") else ()
        if not node.free and any(map(w.facts.lowering.is_random, args)):
            for x in args:
                p = as_random(w.facts.lowering.lower(x))
                found.setdefault(p.key, p)
    for monomial, word in value.terms:
        for part in (word, *(a.word for a, _ in monomial if a.word)):
            for p in _ends(part):
                found.setdefault(p.key, p)
    vectors = []
    for p in list(found.values())[:MAX_VECTORS]:
        try:
            node = w.raising.poly(p)
            vectors.append((node, as_random(w.facts.lowering.lower(node))))
        except (NoTerm, TooLarge, StatementError):
            continue
    return vectors


def _ends(word: Word) -> Iterator[Poly]:
    """The random vectors U and V of a word U*V.T or trace of it, E(U) taken as a vector too."""
    for i, x in enumerate(word):
        if x.cols == L2 != x.rows:
            turned = word[i:] + word[:i] if word[-1].cols == word[0].rows else word[i:]
            end = next(k for k, y in enumerate(turned) if y.cols != L2)
            split = next((k for k in range(1, end) if turned[k].transposed), end)
            first = turned[:split]
            last = tuple(y.T for y in reversed(turned[split : end + 1]))
            if CONSTANT.T in (*first, *last):
                whole = first if last == (CONSTANT.T,) else last
                yield _mean(_random(whole)) * _random((CONSTANT.T,))
            else:
                yield _random(first)
                yield _random(last)


def _random(word: Word) -> Poly:
    return Poly(word[0].rows, L2, {((), word): Fraction(1)})


def _mean(r: Poly) -> Poly:
    return r * Poly(L2, CONSTANT.cols, {((), (CONSTANT,)): Fraction(1)})


def _roots(vectors: list[Vector]) -> Iterator[Vector]:
    """The vectors, their differences and their sums."""
    yield from vectors
    for op in ("sub", "add"):
        for (a, p), (b, q) in combinations(vectors, 2):
            if p.rows == q.rows:
                value = p - q if op == "sub" else p + q
                if value.terms:
                    yield term(op, a, b), value


def _gather(w: Workbench, vectors: list[Vector], op: str) -> None:
    """The instances for all inner products or covariances of the vectors."""
    pairs = [(a, b) for i, (a, _) in enumerate(vectors) for b, _ in vectors[i:]]
    nodes = [term(op, a, b) for a, b in pairs]
    equations.known(w, [term("eq", node, term("mul", rational(0), node)) for node in nodes])


def _covariance(r: Poly) -> Poly:
    return r * r.T - _mean(r) * _mean(r).T


# ---------------------------------------------------------------- squares


def _sum(
    ideal: Ideal, value: Poly, vectors: list[Vector], square: Any
) -> list[tuple[Vector, Fraction]] | None:
    """Roots with factors such that the squares add up to a value by the known equations."""
    roots = list(_roots(vectors))
    target, _ = ideal.reduce(value)
    columns = [ideal.reduce(square(p))[0].terms for _, p in roots]
    found = combination(columns, target.terms)
    return None if not found else [(roots[i], factor) for i, factor in found.items()]


def _square(w: Workbench, node: Term, root: Poly) -> list[Any] | None:
    """The rest of a row for the squared norm of a vector, which may be constant."""
    n = size_term(root.rows)
    if any(word[-1] is not CONSTANT.T for _, word in root.terms):
        place = w.schema("l2_nonnegative", n=n, U=node)
        return None if place is None else [[place], None]
    value = w.raising.poly(_mean(root))
    if infer(value, w.facts.scope).is_scalar:
        return [[], w.place(value)]
    place = w.schema("norm_nonnegative", n=n, k=rational(1), A=value)
    return None if place is None else [[place], None]
