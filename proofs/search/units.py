"""Untrusted. Invertibility that follows from other invertible matrices.

I + P*Q is invertible exactly where I + Q*P is. So D + Q*P with D invertible is, as soon as some
matrix E + Q'*P' is known to be whose partner I + P'*inv(E)*Q' is the same matrix as
I + inv(D)*Q*P. Woodbury's inner inverse and Schur complements are found in this way.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from proofs.checker.algebra import Letter, Poly, TooLarge
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, rational, term
from proofs.search.raising import NoTerm, factors_of, product_of, size_term
from proofs.search.workbench import Stuck, Workbench

ONE = rational(1)


def pushed_through(w: Workbench, x: Term) -> int | None:
    """invertible(x), from a known unit that differs from it by push-through and unit factors."""
    for d, rest in splits(w, x):
        if w.attempt(term("invertible", d)) is None:
            continue
        for place in _known_units(w, x):
            for e, other in splits(w, w.facts.facts[place].relation.args[0]):
                for q, p in _products(w, other):
                    if (
                        _same(w, d, rest, e, q, p)
                        and (found := _transfer(w, x, d, place, e, q, p)) is not None
                    ):
                        return found
    return None


def _known_units(w: Workbench, x: Term) -> Iterator[int]:
    """Places of facts that something other than x is invertible; numbers are 1x1 matrices."""
    for place, fact in enumerate(list(w.facts.facts)):
        relation = fact.relation
        if relation.op == "invertible" and relation.args[0] is not x:
            yield place
        elif relation.op == "ne" and relation.args[1] is ZERO:
            unit = w.schema("nonzero_unit", x=relation.args[0])
            if unit is not None:
                yield unit


def _same(w: Workbench, d: Term, rest: Term, e: Term, q: Term, p: Term) -> bool:
    """Whether inv(d)*rest and p*inv(e)*q are equal by what is known."""
    from proofs.search.equations import known

    if infer(d, w.facts.scope).rows != infer(p, w.facts.scope).rows:
        return False
    if w.attempt(term("invertible", e)) is None:
        return False
    try:
        ours = product_of([inverse(d), rest])
        theirs = product_of([p, inverse(e), q])
        w.learn(ours)
        w.learn(theirs)
        goal = term("eq", ours, theirs)
        w.define(goal)
        difference, _ = known(w, [goal]).reduce(w.facts.difference(goal))
    except (NoTerm, TooLarge, StatementError, Stuck, NotDefined):
        return False
    return not difference.terms


def _transfer(w: Workbench, x: Term, d: Term, place: int, e: Term, q: Term, p: Term) -> int | None:
    """The steps from invertible(e + q*p) to invertible(x)."""
    known = w.facts.facts[place].relation.args[0]
    m, n = (size_term(infer(a, w.facts.scope).rows) for a in (known, x))
    inverse_e = inverse(e)
    left = product_of([inverse_e, q])
    partner = term("add", term("eye", m), term("mul", left, p))
    pushed = term("add", term("eye", n), term("mul", p, left))
    scaled = term("mul", inverse_e, known)
    steps = (
        ("unit_inverse", {"n": m, "A": e}),
        ("unit_product", {"n": m, "A": inverse_e, "B": known}),
        ("unit_equal", {"n": m, "A": scaled, "B": partner}),
        ("unit_push", {"n": m, "k": n, "A": left, "B": p}),
        ("unit_product", {"n": n, "A": d, "B": pushed}),
        ("unit_equal", {"n": n, "A": term("mul", d, pushed), "B": x}),
    )
    found = None
    for rule, values in steps:
        found = w.schema(rule, **values)
        if found is None and rule != "unit_inverse":  # e may be the identity
            return None
    return found


def cleared(w: Workbench, a: Term) -> int | None:
    """invertible(a) from that of X*a*Y, where inv(X) begins a term of a and inv(Y) ends one."""
    from proofs.search.equations import known, negated

    value = w.facts.lowering.lower(a)
    n, before = w.size(a), _inverses(w, value)
    for x, y in product(inverted(w, value, 0).values(), inverted(w, value, -1).values()):
        try:
            whole = product_of([x, a, y])
            w.learn(whole)
            ideal = known(w, [term("eq", whole, whole)])
            rest, used = ideal.reduce(w.facts.lowering.lower(whole))
            if _inverses(w, rest) >= before or not rest.terms:
                continue
            simpler = w.raising.poly(rest)
            if w.attempt(term("invertible", simpler)) is None:
                continue
            if w.combine(term("eq", simpler, whole), ideal, negated(used)) is None:
                continue
        except (NoTerm, TooLarge, StatementError, NotDefined):
            continue
        first = term("mul", x, a)
        w.schema("unit_equal", n=n, A=simpler, B=whole)
        w.schema("unit_factor", n=n, A=first, B=y)
        found = w.schema("unit_factor_right", n=n, A=x, B=a)
        if found is not None:
            return found
    return None


def inverted(w: Workbench, value: Poly, place: int) -> dict[Letter, Term]:
    """The inverses that begin (or, with -1, end) the terms of a sum, with what they invert."""
    found: dict[Letter, Term] = {}
    if len(value.terms) < 2:
        return found
    for letter in dict.fromkeys(word[place] for _, word in value.terms if word):
        bare = letter.T if letter.transposed else letter
        bare = bare.conj if bare.conjugated else bare
        node = w.raising.letters.get(bare)
        if node is None or node.op != "inv" or node.free:
            continue
        a = node.args[0]
        if letter.transposed:
            a = term("adjoint" if letter.conjugated else "transpose", a)
        elif letter.conjugated:
            a = term("conj", a)
        found[letter] = a
    return found


def _inverses(w: Workbench, value: Poly) -> int:
    """How many inverses stand in a sum."""
    nodes = [w.raising.letters.get(x.T if x.transposed else x) for _, u in value.terms for x in u]
    return sum(n is not None and n.op == "inv" for n in nodes)


def square_parts(w: Workbench, a: Term) -> tuple[Term, Term] | None:
    """A product as two square matrices: as it is in brackets, else cut where it first can be."""
    one, two = (infer(x, w.facts.scope) for x in a.args)
    if one.rows == one.cols and two.rows == two.cols:
        return a.args[0], a.args[1]
    factors = factors_of(a)
    kinds = [infer(x, w.facts.scope) for x in factors]
    for i in range(1, len(factors)):
        if kinds[i - 1].is_scalar or kinds[i].is_scalar:
            continue
        if kinds[0].rows == kinds[i - 1].cols and kinds[i].rows == kinds[-1].cols:
            return product_of(factors[:i]), product_of(factors[i:])
    return None


def inverse(a: Term) -> Term:
    """The inverse of a matrix, written out for a multiple of the identity."""
    if a.op == "eye":
        return a
    if a.op == "mul" and a.args[1].op == "eye":
        c = a.args[0]
        turned = c.args[1] if c.op == "div" and c.args[0] is ONE else term("div", ONE, c)
        return term("mul", turned, a.args[1])
    return a.args[0] if a.op == "inv" else term("inv", a)


def splits(w: Workbench, x: Term) -> Iterator[tuple[Term, Term]]:
    """Ways to write a sum as one summand and the rest."""
    parts = _summands(x)
    if len(parts) < 2 or len(parts) > 6:
        return
    for i, (sign, d) in enumerate(parts):
        others = [*parts[:i], *parts[i + 1 :]]
        total: Term | None = None
        for s, part in others:
            signed = part if s == sign else term("neg", part)
            total = signed if total is None else term("add", total, signed)
        if total is not None:
            yield (d if sign > 0 else term("neg", d)), (total if sign > 0 else term("neg", total))


def _summands(x: Term) -> list[tuple[int, Term]]:
    if x.op == "add":
        return _summands(x.args[0]) + _summands(x.args[1])
    if x.op == "sub":
        return _summands(x.args[0]) + [(-s, p) for s, p in _summands(x.args[1])]
    if x.op == "neg":
        return [(-s, p) for s, p in _summands(x.args[0])]
    return [(1, x)]


def _products(w: Workbench, x: Term) -> Iterator[tuple[Term, Term]]:
    """Ways to write a product as two factors."""
    negative = x.op == "neg"
    bare = x.args[0] if negative else x
    if bare.op == "inner":
        bare = term("mul", term("transpose", bare.args[0]), bare.args[1])
    factors = factors_of(bare)
    kind = infer(x, w.facts.scope)
    if kind.rows == kind.cols:
        identity = term("eye", size_term(kind.rows))
        yield x, identity
        yield identity, x
    for i in range(1, len(factors)):
        left, right = product_of(factors[:i]), product_of(factors[i:])
        if infer(left, w.facts.scope).is_scalar or infer(right, w.facts.scope).is_scalar:
            continue
        yield (term("neg", left) if negative else left), right
