"""Untrusted. Matrices whose rank is at most one: E*X*E is a multiple of E, and det(A + E) is linear
in E, so that A + E is invertible just where 1 + tr(inv(A)*E) is not zero."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from proofs.checker.algebra import ONE as SCALAR
from proofs.checker.algebra import Letter, Poly, TooLarge, Word
from proofs.checker.definedness import ZERO
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, rational, term
from proofs.search import equations, units
from proofs.search.raising import NoTerm, product_of
from proofs.search.units import splits
from proofs.search.workbench import Workbench

ONE = rational(1)
MAX_PRODUCTS = 12  # E*X*E that are rewritten for one goal
UNITS = ("invertible", "positive_definite")


def gather(w: Workbench, roots: list[Term]) -> None:
    """E*X*E = tr(X*E)*E for the products E*X*E in sight, those under traces included; where E is a
    sum, for the identity and the inverses in sight."""
    known = list(_known(w))
    values = list(_values(w, roots)) if known else []
    for e in known:
        letter = _letter(w, e)
        ways = _inverses(w, e, values) if letter is None else _between(values, letter)
        for part in list(dict.fromkeys(ways))[:MAX_PRODUCTS]:
            try:
                x = w.raising.word(part) if part else term("eye", w.size(e))
            except NoTerm:
                continue
            w.schema("rank_one_product", **w.sizes(e), E=e, X=x)


def _known(w: Workbench) -> Iterator[Term]:
    """The matrices of rank one or less, as facts have them."""
    for fact in list(w.facts.facts):
        if fact.relation.op not in ("eq", "le"):
            continue
        side, other = fact.relation.args
        if other.op == "rank" and fact.relation.op == "eq":
            side, other = other, side
        if side.op == "rank" and other is ONE:
            yield side.args[0]


def _letter(w: Workbench, e: Term) -> Letter | None:
    """The letter that a matrix is, up to a transposition; None for sums and products."""
    terms = list(w.facts.lowering.lower(e).terms)
    if len(terms) != 1 or terms[0][0] or len(terms[0][1]) != 1:
        return None
    (x,) = terms[0][1]
    return x.T if x.transposed else x


def _values(w: Workbench, roots: list[Term]) -> Iterator[Poly]:
    known = [f.relation for f in w.facts.facts if f.relation.op == "eq"]
    for side in (side for root in (*roots, *known) for side in root.args):
        try:
            yield w.facts.lowering.lower(side)
        except (TooLarge, StatementError):
            continue


def _inverses(w: Workbench, e: Term, values: list[Poly]) -> Iterator[Word]:
    """The empty word for a square matrix e, and the inverses of its shape turned."""
    kind = infer(e, w.facts.scope)
    if kind.rows == kind.cols:
        yield ()
    for letter in (x for value in values for _, word in value.terms for x in word):
        node = w.raising.letters.get(letter)
        turned = (letter.rows, letter.cols) == (kind.cols, kind.rows)
        if turned and node is not None and node.op == "inv":
            yield (letter,)


def _between(values: list[Poly], e: Letter) -> Iterator[Word]:
    """X for each E*X*E in the words of these values, and in their traces once round."""
    for monomial, word in (place for value in values for place in value.terms):
        yield from _gaps(word, e)
        for a, power in monomial:
            if a.word and a.word[-1].cols == a.word[0].rows:
                yield from _gaps(a.word * 2 if power == 1 else a.word, e)


def _gaps(word: Word, e: Letter) -> Iterator[Word]:
    for turned in (False, True):
        twin = e.T if turned else e
        places = [i for i, x in enumerate(word) if x == twin]
        for i, j in pairwise(places):
            part = word[i + 1 : j]
            yield tuple(x.T for x in part[::-1]) if turned else part


# ---------------------------------------------------------------- updates


def updates(w: Workbench, a: Term) -> Iterator[tuple[Term, Term]]:
    """Ways to write a matrix as D + F with a matrix F of rank at most one."""
    known = list(_known(w))
    letters = {_letter(w, e) for e in known}
    for d, f in splits(w, a) if letters - {None} and a.op in ("add", "sub") else ():
        value = w.facts.lowering.lower(f)
        bare = {x.T if x.transposed else x for _, word in value.terms for x in word}
        if len(value.terms) == 1 and letters & bare:
            _multiple(w, value)
            if w.attempt(term("le", term("rank", f), ONE)) is not None:
                yield d, f
    for e in known:
        if _letter(w, e) is None and w.size(e) is w.size(a):
            rest = w.facts.lowering.lower(a) - w.facts.lowering.lower(e)
            if len(rest.terms) == 1:
                yield w.raising.poly(rest), e


def _multiple(w: Workbench, value: Poly) -> None:
    """rank(c*F) <= rank(F), as that of F*(c*I), for a scalar c that may be zero."""
    ((monomial, word), c) = next(iter(value.terms.items()))
    if monomial:
        scale = w.raising.poly(Poly(SCALAR, SCALAR, {(monomial, ()): c}))
        f = w.raising.word(word)
        k = w.sizes(f)["k"]
        times = term("mul", scale, term("eye", k))
        w.schema("rank_product_first", **w.sizes(f), m=k, A=f, B=times)


def determinant(w: Workbench, a: Term) -> None:
    """det(D + F) = det(D) + tr(adj(D)*F), with the inverse where D is known to have one."""
    for d, f in updates(w, a):
        if w.schema("det_rank_one_update", n=w.size(a), A=d, E=f) is not None:
            w.schema("adj_inverse", n=w.size(a), A=d)
            return


def inverse(w: Workbench, a: Term) -> None:
    """inv(D + F) = inv(D) - inv(D)*F*inv(D)/(1 + tr(inv(D)*F))."""
    for d, f in updates(w, a):
        y = _factor(w, d, f)
        if y is None or w.attempt(term("ne", y, ZERO)) is None:
            continue
        turned = units.inverse(d)
        update = term("div", product_of([turned, f, turned]), y)
        if w.attempt(term("eq", term("inv", a), term("sub", turned, update))) is not None:
            w.instanced.add(("rank one", term("inv", a)))
        return


def nonzero(w: Workbench, x: Term) -> int | None:
    """1 + tr(inv(D)*F) != 0, or a multiple of it, from a known unit D + F."""
    value = w.facts.lowering.lower(x)
    for fact in list(w.facts.facts):
        if fact.relation.op not in UNITS or infer(fact.relation.args[0], w.facts.scope).is_scalar:
            continue
        a = fact.relation.args[0]
        for d, f in updates(w, a):
            y = _factor(w, d, f)
            if y is None or w.facts.lowering.lower(y) != value:
                continue
            product = term("mul", term("det", d), x)
            if _factored(w, a, d, f, product) is None:
                continue
            w.schema("det_unit", n=w.size(a), A=a)
            w.schema("nonzero_equal", x=term("det", a), y=product)
            return w.schema("factor_nonzero", x=x, y=term("det", d))
    return None


def invertible(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(D + F) from D and from 1 + tr(inv(D)*F) != 0."""
    for d, f in updates(w, a):
        y = _factor(w, d, f)
        if y is None or w.attempt(term("ne", y, ZERO)) is None:
            continue
        product = term("mul", term("det", d), y)
        if _factored(w, a, d, f, product) is None:
            continue
        w.schema("det_unit", n=n, A=d)
        w.schema("product_nonzero", x=term("det", d), y=y)
        w.schema("nonzero_equal", x=product, y=term("det", a))
        found = w.schema("unit_det", n=n, A=a)
        if found is not None:
            return found
    return None


def _factor(w: Workbench, d: Term, f: Term) -> Term | None:
    """1 + tr(inv(D)*F), where D is known to have an inverse."""
    if w.attempt(term("invertible", d)) is None:
        return None
    return term("add", ONE, term("tr", product_of([units.inverse(d), f])))


def _factored(w: Workbench, a: Term, d: Term, f: Term, product: Term) -> int | None:
    """det(D + F) = det(D)*(1 + tr(inv(D)*F))."""
    w.schema("det_rank_one_update", n=w.size(a), A=d, E=f)
    w.schema("adj_inverse", n=w.size(a), A=d)
    return equations.plainly_combined(w, term("eq", term("det", a), product))
