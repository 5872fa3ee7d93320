"""Untrusted. Semidefinite matrices from block matrices: a known one turned, or several added up.

The map (C, R) -> C*inv(R)*C.H is convex for positive definite R, since [C*inv(R)*C.H, C; C.H, R] is
semidefinite, and so is a sum of these. So the Schur complement of the sum is: A and B stand above
their parallel sum, and the mean of inverses above the inverse of the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import isqrt

from proofs.checker.algebra import ONE, Letter, Monomial, Poly, Word, identity
from proofs.language.infer import infer
from proofs.language.tree import Term, pair, rational, term
from proofs.search import equations
from proofs.search.ideal import Ideal
from proofs.search.workbench import Workbench

MAX_BLOCKS = 3  # a side, of a block matrix that is turned
MAX_PARTS = 4  # of a sum that is inverted


def turned(w: Workbench, a: Term, prop: str) -> int | None:
    """A block matrix T*whole*T.T, for a known one and a T that permutes blocks and their signs."""
    if a.op != "block" or pair(a)[0] != pair(a)[1] or pair(a)[0] > MAX_BLOCKS:
        return None
    count, n = pair(a)[0], w.size(a)
    lower = w.facts.lowering.lower
    diagonal = [lower(x) for x in a.args[:: count + 1]]
    for fact in list(w.facts.facts):
        whole = fact.relation.args[0]
        if fact.relation.op != prop or whole.op != "block" or whole.data != a.data:
            continue
        known = [lower(x) for x in whole.args[:: count + 1]]
        sizes = [w.size(x) for x in whole.args[:: count + 1]]
        for order in permutations(range(count)):
            if [known[i] for i in order] != diagonal:
                continue
            for signs in product((1, -1), repeat=count - 1):
                turn = _turn(sizes, order, (1, *signs))
                shape = term("mul", term("mul", turn, whole), term("transpose", turn))
                if lower(shape) == lower(a):
                    return _congruence(w, whole, turn, a, n, prop)
    return None


def _turn(sizes: list[Term], order: tuple[int, ...], signs: tuple[int, ...]) -> Term:
    rows: list[Term] = []
    for i, sign in zip(order, signs, strict=True):
        one = term("eye", sizes[i])
        own = one if sign > 0 else term("neg", one)
        rows += [own if j == i else term("zeros", sizes[i], s) for j, s in enumerate(sizes)]
    return term("block", *rows, data=(len(sizes), len(sizes)))


def _congruence(w: Workbench, whole: Term, turn: Term, a: Term, n: Term, prop: str) -> int | None:
    kind = prop.removeprefix("positive_")
    if kind == "definite":  # the turn has full rank, as it is its own inverse up to transposition
        size = w.size(whole)
        w.schema("full_rows_shown", n=n, k=size, A=turn, X=term("transpose", turn))
    if w.schema(f"{kind}_congruence", n=w.size(whole), k=n, A=whole, B=turn) is None:
        return None
    shape = term("mul", term("mul", turn, whole), term("adjoint", turn))
    return w.schema(f"{kind}_equal", n=n, A=shape, B=a)


# ---------------------------------------------------------------- convexity of C*inv(R)*C.H


@dataclass(frozen=True)
class _Part:
    """weight * (factor*root) * inv(matrix) * (factor*root).H, and weight*matrix is a part of R."""

    weight: Poly
    factor: Fraction
    root: Poly
    matrix: Poly


def convex(w: Workbench, a: Term, n: Term) -> int | None:
    """A sum of C[j]*inv(R[j])*C[j].H less that of the sums of C and R, times a number."""
    value = w.facts.lowering.lower(a)
    if all(len(w.facts.lowering.lower(r).terms) < 2 for r in _inverses(w, value).values()):
        return None
    ideal = equations.known(w, [term("eq", a, a)])
    value, _ = ideal.reduce(value)
    inverses = _inverses(w, value)
    for letter, r in inverses.items():
        matrix, _ = ideal.reduce(w.facts.lowering.lower(r))
        weights = _by_word(matrix)
        if not 2 <= len(weights) <= MAX_PARTS:
            continue
        scales = {-c for (m, word), c in value.terms.items() if c < 0 and letter in word and not m}
        for scale in sorted(scales | {Fraction(1)}):
            parts = _parts(value.scale(1 / scale), weights, inverses, w)
            if parts is not None:
                found = _added(w, a, n, r, letter, parts, scale, value, ideal)
                if found is not None:
                    return found
    return None


def _inverses(w: Workbench, value: Poly) -> dict[Letter, Term]:
    """The inverses in a value, with what they invert."""
    found: dict[Letter, Term] = {}
    for x in dict.fromkeys(x for _, word in value.terms for x in word):
        node = w.raising.letters.get(x)
        if node is not None and node.op == "inv" and not node.free:
            found[x] = node.args[0]
    return found


def _by_word(value: Poly) -> dict[Word, Poly]:
    """The coefficient of each word."""
    found: dict[Word, dict[tuple[Monomial, Word], Fraction]] = {}
    for (m, word), c in value.terms.items():
        found.setdefault(word, {})[m, ()] = c
    return {word: Poly(ONE, ONE, terms) for word, terms in found.items()}


def _parts(
    value: Poly, weights: dict[Word, Poly], inverses: dict[Letter, Term], w: Workbench
) -> list[_Part] | None:
    """For each part of R a term of the value with its inverse, of a weight that is a square times
    that of the part."""
    found: list[_Part] = []
    terms = _by_word(value)
    lower = w.facts.lowering.lower
    for word, weight in weights.items():
        if not word:
            return None
        matrix = Poly(word[0].rows, word[-1].cols, {((), word): Fraction(1)})
        letters = [x for x, r in inverses.items() if lower(r) == matrix]
        part = None
        for spot, coefficient in terms.items():
            for i, x in enumerate(spot):
                if x not in letters or spot[i + 1 :] != tuple(y.T.conj for y in reversed(spot[:i])):
                    continue
                square = _ratio(coefficient, weight)
                factor = None if square is None else _root(square)
                if factor is not None:
                    u = spot[:i]
                    root = identity(x.rows)
                    if u:
                        root = Poly(u[0].rows, u[-1].cols, {((), u): Fraction(1)})
                    part = _Part(weight, factor, root, matrix)
        if part is None:
            return None
        found.append(part)
    return found


def _ratio(a: Poly, b: Poly) -> Fraction | None:
    """The number c with a = c*b."""
    (place, c), *_ = b.terms.items()
    ratio = a.terms.get(place, Fraction(0)) / c
    return ratio if ratio > 0 and a == b.scale(ratio) else None


def _root(x: Fraction) -> Fraction | None:
    top, bottom = isqrt(x.numerator), isqrt(x.denominator)
    return Fraction(top, bottom) if Fraction(top, bottom) ** 2 == x else None


def _added(
    w: Workbench,
    a: Term,
    n: Term,
    r: Term,
    letter: Letter,
    parts: list[_Part],
    scale: Fraction,
    value: Poly,
    ideal: Ideal,
) -> int | None:
    k = w.size(r)
    for signs in product((1, -1), repeat=len(parts) - 1):
        factors = [p.factor * s for p, s in zip(parts, (1, *signs), strict=True)]
        sides = [p.weight * p.root.scale(f) for p, f in zip(parts, factors, strict=True)]
        c = sides[0]
        for side in sides[1:]:
            c = c + side
        inverse = Poly(letter.rows, letter.cols, {((), (letter,)): Fraction(1)})
        upper = value.scale(1 / scale) + c * inverse * c.T.conj
        blocks = [_block(w, p, f) for p, f in zip(parts, factors, strict=True)]
        tops = Poly(value.rows, value.cols, {})
        for p, b in zip(parts, blocks, strict=True):
            tops = tops + p.weight * w.facts.lowering.lower(b.args[0])
        if ideal.reduce(upper - tops)[0].terms:
            continue
        return _complement(w, a, n, k, r, parts, blocks, w.raising.poly(c), scale, ideal)
    return None


def _block(w: Workbench, part: _Part, factor: Fraction) -> Term:
    """[C*inv(R)*C.H, C; C.H, R] for C = factor*root."""
    c, r = w.raising.poly(part.root.scale(factor)), w.raising.poly(part.matrix)
    top = term("mul", term("mul", c, term("inv", r)), term("adjoint", c))
    return term("block", top, c, term("adjoint", c), r, data=(2, 2))


def _complement(
    w: Workbench,
    a: Term,
    n: Term,
    k: Term,
    r: Term,
    parts: list[_Part],
    blocks: list[Term],
    c: Term,
    scale: Fraction,
    ideal: Ideal,
) -> int | None:
    """The property of the Schur complement in the sum of the blocks, times a number."""
    size = term("add", n, k)
    total: Term | None = None
    tops: Term | None = None
    for p, b in zip(parts, blocks, strict=True):
        weight = w.raising.poly(p.weight)
        w.schema("semidefinite_block", n=n, k=k, S=b.args[0], C=b.args[1], R=b.args[3])
        w.schema("semidefinite_scale", n=size, A=b, c=weight)
        part, top = term("mul", weight, b), term("mul", weight, b.args[0])
        if total is not None:
            w.schema("semidefinite_sum", n=size, A=total, B=part)
        total = part if total is None else term("add", total, part)
        tops = top if tops is None else term("add", tops, top)
    if total is None or tops is None or w.find(term("positive_semidefinite", total)) is None:
        return None
    whole = term("block", tops, c, term("adjoint", c), r, data=(2, 2))
    w.learn(whole)
    w.schema("semidefinite_equal", n=size, A=total, B=whole)
    w.schema("semidefinite_schur", n=n, k=k, S=tops, C=c, R=r)
    rest = term("sub", tops, term("mul", term("mul", c, term("inv", r)), term("adjoint", c)))
    if scale != 1:
        w.schema("semidefinite_scale", n=n, A=rest, c=rational(scale))
        rest = term("mul", rational(scale), rest)
    if w.find(term("positive_semidefinite", rest)) is None:
        return None
    return w.schema("semidefinite_equal", n=n, A=rest, B=a)


def contraction(w: Workbench, a: Term, n: Term) -> int | None:
    """I - C*C.H from I - C.H*C: both are complements in [I, C; C.H, I]."""
    value = w.facts.lowering.lower(a)
    words = [word for _, word in value.terms if word]
    if len(value.terms) != 2 or len(words) != 1 or len(words[0]) % 2:
        return None
    half = words[0][: len(words[0]) // 2]
    if words[0] != (*half, *(x.T.conj for x in reversed(half))):
        return None
    if value.terms.get(((), ())) != 1 or value.terms.get(((), words[0])) != -1:
        return None
    c = w.raising.word(half)
    k = w.sizes(c)["k"]
    one, two = term("eye", n), term("eye", k)
    rest = term("sub", two, term("mul", term("adjoint", c), c))
    if w.attempt(term("positive_semidefinite", rest)) is None:
        return None
    w.schema("inv_left", n=n, A=one)
    w.schema("inv_left", n=k, A=two)
    w.schema("semidefinite_block_lower", n=n, k=k, S=one, C=c, R=two)
    place = w.schema("semidefinite_schur", n=n, k=k, S=one, C=c, R=two)
    if place is None:
        return None
    return w.schema("semidefinite_equal", n=n, A=w.facts.facts[place].relation.args[0], B=a)


# ---------------------------------------------------------------- Kronecker products


def gathered(w: Workbench, a: Term, n: Term) -> int | None:
    """kron(A, C) - kron(B, C) as kron(A - B, C), or by the changes of both factors."""
    if a.op not in ("add", "sub") or any(x.op != "kron" for x in a.args):
        return None
    one, two = a.args
    for i in (0, 1):
        if w.facts.lowering.lower(one.args[i]) == w.facts.lowering.lower(two.args[i]):
            sides = list(one.args)
            sides[1 - i] = term(a.op, one.args[1 - i], two.args[1 - i])
            whole = term("kron", *sides)
            w.learn(whole)
            return w.schema("semidefinite_equal", n=n, A=whole, B=a)
    if a.op == "add":
        return None
    (b, d), (one, two) = one.args, two.args  # kron(B, D) - kron(A, C) by B - A and D - C
    if any(infer(x, w.facts.scope) != infer(y, w.facts.scope) for x, y in ((b, one), (d, two))):
        return None
    first, second = term("sub", b, one), term("sub", d, two)
    parts = [term("kron", *p) for p in ((first, second), (first, two), (one, second))]
    whole = term("add", term("add", parts[0], parts[1]), parts[2])
    w.learn(whole)
    return w.schema("semidefinite_equal", n=n, A=whole, B=a)
