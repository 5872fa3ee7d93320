"""Untrusted. That a matrix is positive definite or semidefinite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations

from proofs.checker.algebra import Poly, TooLarge
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, pair, postorder, rational, term
from proofs.search import definite_blocks, definite_products, equations, inner_products, regrouping
from proofs.search.ideal import Ideal
from proofs.search.raising import NoTerm, factors_of, product_of, size_term
from proofs.search.squares import Square, Squares, centers
from proofs.search.units import inverted
from proofs.search.workbench import Stuck, Workbench

Method = Callable[[Workbench, Term, Term], int | None]
STEPS = 40  # of completion before a second attempt
MAX_FACTORS = 3  # commuting ones that a product is tried with
MAX_DIVISIONS = 24


def definite(w: Workbench, a: Term) -> int | None:
    """positive_definite(a), by its form, then by what it is equal to."""
    part = _part_of_block(w, term("positive_definite", a))
    if part is not None:
        return part
    if infer(a, w.facts.scope).is_scalar:
        return w.schema("definite_scalar", x=a)
    n = w.size(a)
    for method in (
        _definite_by_form,
        _definite_semidefinite,
        _definite_above,
        _definite_schur,
        _definite_squares,
        _definite_completed,
        _definite_cleared,
        _definite_equal,
    ):
        found = _tried(method, w, a, n)
        if found is not None:
            return found
    return None


def _definite_equal(w: Workbench, a: Term, n: Term) -> int | None:
    """The other side of a known equation is definite, or what is known to be is equal to this. Of
    a goal alone: there are many equations, and each may lead to others."""
    if w.level > 1:
        return None
    lower, kind = w.facts.lowering.lower, infer(a, w.facts.scope)
    for fact in list(w.facts.facts):
        op, args = fact.relation.op, fact.relation.args
        if op == "eq" and infer(args[0], w.facts.scope) == kind:
            for one, other in (args, args[::-1]):
                if lower(one) != lower(a) or lower(other) == lower(a):
                    continue
                if w.attempt(term("positive_definite", other)) is not None:
                    return w.schema("definite_equal", n=n, A=other, B=a)
        elif op == "positive_definite" and infer(args[0], w.facts.scope) == kind:
            found = w.schema("definite_equal", n=n, A=args[0], B=a)
            if found is not None:
                return found
    return None


def _tried(method: Method, w: Workbench, a: Term, n: Term) -> int | None:
    """What a method finds; one that doesn't fit stops no other."""
    try:
        return method(w, a, n)
    except (StatementError, NoTerm, TooLarge, NotDefined):
        return None


def _definite_by_form(w: Workbench, a: Term, n: Term) -> int | None:
    op, args = a.op, a.args
    if op == "eye":
        return w.schema("definite_eye", n=n)
    if op in ("add", "sub") and not w.facts.lowering.lower(args[1]).terms:
        known = w.attempt(term("positive_definite", args[0]))  # a corner without its correction
        return None if known is None else w.schema("definite_equal", n=n, A=args[0], B=a)
    if op == "add":
        for x, y in (args, args[::-1]):
            if w.attempt(term("positive_definite", x)) is not None:
                return w.schema("definite_sum", n=n, A=x, B=y)
        if (found := _cone(w, a, n)) is not None:
            return found
    if op == "mul" and infer(args[0], w.facts.scope).is_scalar:
        return w.schema("definite_scale", n=n, A=args[1], c=args[0])
    if op == "div":
        return w.schema(
            "definite_scale", n=n, A=args[0], c=term("div", term("rational", data="1"), args[1])
        )
    if op == "inv":
        return w.schema("definite_inverse", n=n, A=args[0])
    if op == "mul":
        return _definite_product(w, a, n)
    if op == "kron":
        x, y = args
        return w.schema("definite_kron", n=w.size(x), k=w.size(y), A=x, B=y)
    if op == "hadamard":
        return w.schema("definite_hadamard", n=n, A=args[0], B=args[1])
    if op == "diag":
        return w.schema("definite_diag", n=n, x=args[0])
    if op == "block" and (known := definite_blocks.turned(w, a, "positive_definite")) is not None:
        return known
    if op == "block" and a.data == (2, 2):
        return _block(w, a, ("definite_block", "definite_block_corner"))
    if regrouping.is_larger(w, a):
        return regrouping.transferred(w, a, "positive_definite", "definite_equal")
    return None


def _cone(w: Workbench, a: Term, n: Term) -> int | None:
    """c*A + d*B, where c, d >= 0 aren't both zero."""
    parts = [x.args for x in a.args if x.op == "mul" and infer(x.args[0], w.facts.scope).is_scalar]
    if len(parts) != 2 or any(w.attempt(term("positive_definite", m)) is None for _, m in parts):
        return None
    (c, x), (d, y) = parts
    return w.schema("definite_cone", n=n, A=x, B=y, a=c, b=d)


def _definite_semidefinite(w: Workbench, a: Term, n: Term) -> int | None:
    """A matrix that is known to be semidefinite and invertible."""
    if w.find(term("invertible", a)) is None and w.find(term("positive_semidefinite", a)) is None:
        return None
    return w.schema("semidefinite_unit", n=n, A=a)


def _definite_above(w: Workbench, a: Term, n: Term) -> int | None:
    """A matrix above one that is definite."""
    for fact in list(w.facts.facts):
        if fact.relation.op not in ("le", "ge"):
            continue
        small, large = fact.relation.args[:: 1 if fact.relation.op == "le" else -1]
        if infer(a, w.facts.scope) != infer(large, w.facts.scope):
            continue
        if w.facts.lowering.lower(large) != w.facts.lowering.lower(a):
            continue
        if w.attempt(term("positive_definite", small)) is None:
            continue
        gap = term("sub", large, small)
        w.schema("order_says", n=n, A=small, B=large)
        if w.schema("definite_sum", n=n, A=small, B=gap) is not None:
            return w.schema("definite_equal", n=n, A=term("add", small, gap), B=a)
    return None


def _block(w: Workbench, a: Term, rules: tuple[str, ...]) -> int | None:
    """A block matrix by a corner and its Schur complement."""
    s, c, turned, r = a.args
    lower = w.facts.lowering.lower
    if lower(turned) != lower(term("adjoint", c)):
        return None
    for rule in rules:
        found = w.schema(rule, n=w.size(s), k=w.size(r), S=s, C=c, R=r)
        if found is not None:
            return found
    return None


def _part_of_block(w: Workbench, wanted: Term) -> int | None:
    """A diagonal block or Schur complement of a block matrix that is known to be definite."""
    for fact in list(w.facts.facts):
        whole = fact.relation.args[0]
        if fact.relation.op != wanted.op or whole.op != "block":
            continue
        rows, cols = pair(whole)
        if rows != cols:
            continue
        for s, c, r in _two_by_two(w, whole, wanted.op):
            for rule in PARTS[wanted.op]:
                w.schema(rule, n=w.size(s), k=w.size(r), S=s, C=c, R=r)
            found = w.find(wanted)
            if found is not None:
                return found
    return None


def _two_by_two(w: Workbench, whole: Term, prop: str) -> Iterator[tuple[Term, Term, Term]]:
    """S, C, R of [S, C; C.H, R]: a matrix of two blocks a side, or each two blocks of one of more,
    which are P*whole*P.T for a P that selects them."""
    count, _ = pair(whole)
    if count == 2:
        yield whole.args[0], whole.args[1], whole.args[3]
        return
    sizes = [w.size(whole.args[i * count]) for i in range(count)]
    for i, j in permutations(range(count), 2):
        rows = [
            term("eye", sizes[p]) if p == q else term("zeros", sizes[p], sizes[q])
            for p in (i, j)
            for q in range(count)
        ]
        select = term("block", *rows, data=(2, count))
        n, k = w.size(whole), w.size(select)
        key = ("selected", prop, whole, i, j)
        if key not in w.instanced:
            w.instanced.add(key)
            w.schema("block_eye", n=sizes[i], k=sizes[j])
            turned = term("transpose", select)
            w.schema("full_rows_shown", n=k, k=n, A=select, X=turned)
            w.schema(f"{prop.removeprefix('positive_')}_congruence", n=n, k=k, A=whole, B=select)
        part = [whole.args[p * count + q] for p, q in ((i, i), (i, j), (j, j))]
        yield part[0], part[1], part[2]


PARTS = {
    "positive_definite": ("definite_block_first", "definite_block_last", "definite_block_schur"),
    "positive_semidefinite": ("semidefinite_block_first", "semidefinite_block_corner"),
}


def _definite_product(w: Workbench, a: Term, n: Term) -> int | None:
    """B*B.H, or B*S*B.H with S definite, for B of full row rank."""
    factors = factors_of(a)
    half = len(factors) // 2
    b = product_of(factors[:half])
    middle = factors[half : len(factors) - half]
    adjoint = term("adjoint", b)
    shape = term("mul", b, term("mul", middle[0], adjoint) if middle else adjoint)
    same = _same(w, a, shape)
    if same is None:
        return None
    cols = size_term(infer(b, w.facts.scope).cols)
    if middle:
        found = w.schema("definite_congruence", n=cols, k=n, A=middle[0], B=b)
    else:
        found = w.schema("definite_gram_rows", n=n, k=cols, A=b)
    if found is None and not middle:  # b = c.H with c of full column rank
        c = b.args[0] if b.op in ("transpose", "adjoint") else adjoint
        found = w.schema("definite_gram_columns", n=cols, k=n, A=c)
    if found is not None and not same:
        found = w.schema("definite_equal", n=n, A=shape, B=a)
    return found


def semidefinite(w: Workbench, a: Term) -> int | None:
    """positive_semidefinite(a), by its form, then as a sum of squares."""
    if infer(a, w.facts.scope).is_scalar:
        found = _square(w, a)
        return w.schema("semidefinite_scalar", x=a) if found is None else found
    n = w.size(a)
    value = w.facts.lowering.lower(a)
    if a.op in ("add", "sub") and len(value.terms) == 1:  # such as B - zeros(n, n)
        a = w.raising.poly(value)
    if not value.terms:
        return w.schema("semidefinite_gram", n=n, k=n, B=term("zeros", n, n))
    found = _part_of_block(w, term("positive_semidefinite", a))
    if found is not None:
        return found
    if w.find(term("positive_definite", a)) is not None or a.op in ("name", "inv", "eye"):
        found = w.schema("definite_semidefinite", n=n, A=a)
    for method in (
        _semidefinite_by_form,
        _semidefinite_squares,
        definite_products.congruent,
        definite_products.weighted,
        definite_blocks.contraction,
        definite_blocks.gathered,
        definite_blocks.convex,
        _semidefinite_definite,
        _semidefinite_gap,
        _semidefinite_block,
        _semidefinite_schur,
        inner_products.semidefinite,
        _commuting,
        definite_products.commuting,
        _by_its_form,
        _semidefinite_completed,
    ):
        if found is None:
            found = _tried(method, w, a, n)
    return found


def _semidefinite_definite(w: Workbench, a: Term, n: Term) -> int | None:
    return w.schema("definite_semidefinite", n=n, A=a)


def _semidefinite_gap(w: Workbench, a: Term, n: Term) -> int | None:
    """What is equal to B - A by known equations, where A <= B is known."""
    kind = infer(a, w.facts.scope)
    value = w.facts.lowering.lower(a)
    for fact in list(w.facts.facts):
        if fact.relation.op not in ("le", "ge"):
            continue
        small, large = fact.relation.args[:: 1 if fact.relation.op == "le" else -1]
        if infer(large, w.facts.scope) != kind:
            continue
        gap = term("sub", large, small)
        ideal = equations.known(w, [term("eq", a, gap)])
        if not ideal.reduce(value - w.facts.lowering.lower(gap))[0].terms:
            w.schema("order_says", n=n, A=small, B=large)
            return w.schema("semidefinite_equal", n=n, A=gap, B=a)
    return None


def _commuting(w: Workbench, a: Term, n: Term) -> int | None:
    """A product of commuting semidefinite matrices, one of which is a letter, or known."""
    ideal = equations.known(w, [term("eq", a, a)])
    value, _ = ideal.reduce(w.facts.lowering.lower(a))
    firsts = [word[0] for _, word in value.terms if word]
    factors = []
    if 1 < len(firsts) == len(value.terms) and len(set(firsts)) == 1:
        first = firsts[0]
        rest = Poly(first.cols, value.cols, {(m, x[1:]): c for (m, x), c in value.terms.items()})
        factors = [(w.raising.letter(first), rest)] if first.rows == first.cols else []
    for fact in list(w.facts.facts) if _some_commute(w) else ():
        if fact.relation.op == "positive_semidefinite" and len(factors) < MAX_FACTORS:
            known = fact.relation.args[0]
            rest = _quotient(ideal, value, w.facts.lowering.lower(known))
            factors += [] if rest is None else [(known, rest)]
    for one, rest in factors:
        two = w.raising.poly(rest)
        if w.schema("semidefinite_commuting", n=n, A=one, B=two) is None:
            continue
        found = transferred(w, term("mul", one, two), a, n, ideal, "positive_semidefinite")
        if found is not None:
            return found
    return None


def _some_commute(w: Workbench) -> bool:
    return any(f.relation.op == "commute" for f in w.facts.facts)


def _quotient(ideal: Ideal, value: Poly, divisor: Poly) -> Poly | None:
    """q, where value = divisor*q up to known equations: a letter of the divisor is taken out of
    the words that it is in, wherever it stands."""
    leads = [(x[0], c) for (m, x), c in divisor.terms.items() if len(x) == 1 and not m]
    if not leads or divisor.rows != value.rows or len(divisor.terms) < 2:
        return None
    lead, scale = leads[0]
    rest, total = value, Poly(divisor.cols, value.cols, {})
    for _ in range(MAX_DIVISIONS):
        if not rest.terms:
            return total
        (monomial, word), c = max(rest.terms.items(), key=lambda t: t[0][1].count(lead))
        if lead not in word:
            return None
        at = word.index(lead)
        part = Poly(divisor.cols, value.cols, {(monomial, word[:at] + word[at + 1 :]): c / scale})
        total = total + part
        rest, _ = ideal.reduce(rest - divisor * part)
    return None


def _by_its_form(w: Workbench, a: Term, n: Term) -> int | None:
    """x.T*a*x >= 0 for all x, where something is known for all vectors, or a is a difference of a
    diagonal matrix and another."""
    beside = a.op in ("add", "sub") and any(n.op == "diag" for n in postorder([a]))
    if beside or any(f.relation.op == "forall" and _of_vectors(f.relation) for f in w.facts.facts):
        return w.schema("semidefinite_by_form", n=n, A=a)
    return None


def _of_vectors(relation: Term) -> bool:
    return relation.args[0].op in ("matrix_type", "complex_matrix_type")


def _square(w: Workbench, a: Term) -> int | None:
    """A complex number that is a square x.H*S*x, which has a sign though numbers have no order."""
    one = rational(1)
    if not infer(a, w.facts.scope).is_complex:
        return None
    return _congruence(w, a, one)


def _semidefinite_by_form(w: Workbench, a: Term, n: Term) -> int | None:
    op, args = a.op, a.args
    if op == "add":
        found = w.schema("semidefinite_sum", n=n, A=args[0], B=args[1])
        if found is not None:
            return found
    if op == "mul" and infer(args[0], w.facts.scope).is_scalar:
        return w.schema("semidefinite_scale", n=n, A=args[1], c=args[0])
    if op == "div":
        return w.schema(
            "semidefinite_scale", n=n, A=args[0], c=term("div", term("rational", data="1"), args[1])
        )
    if op == "kron":
        x, y = args
        return w.schema("semidefinite_kron", n=w.size(x), k=w.size(y), A=x, B=y)
    if op == "pinv":  # pinv(b) = pinv(b)*b*pinv(b).H
        adjoint = term("adjoint", a)
        w.schema("semidefinite_congruence", n=n, k=n, A=args[0], B=a)
        shape = term("mul", a, term("mul", args[0], adjoint))
        return w.schema("semidefinite_equal", n=n, A=shape, B=a)
    if op == "hadamard":
        return w.schema("semidefinite_hadamard", n=n, A=args[0], B=args[1])
    if op == "diag":
        return w.schema("semidefinite_diag", n=n, x=args[0])
    return _congruence(w, a, n)


def _semidefinite_block(w: Workbench, a: Term, n: Term) -> int | None:
    known = definite_blocks.turned(w, a, "positive_semidefinite")
    if known is not None:
        return known
    if a.op == "block" and a.data == (2, 2):
        return _block(w, a, ("semidefinite_block", "semidefinite_block_lower"))
    if regrouping.is_larger(w, a):
        return regrouping.transferred(w, a, "positive_semidefinite", "semidefinite_equal")
    return None


def _semidefinite_squares(w: Workbench, a: Term, n: Term) -> int | None:
    return _squares(w, a, n, strict=False, steps=0)


def _semidefinite_completed(w: Workbench, a: Term, n: Term) -> int | None:
    return _squares(w, a, n, strict=False, steps=STEPS)


def _definite_squares(w: Workbench, a: Term, n: Term) -> int | None:
    return _squares(w, a, n, strict=True, steps=0)


def _definite_completed(w: Workbench, a: Term, n: Term) -> int | None:
    return _squares(w, a, n, strict=True, steps=STEPS)


def _squares(w: Workbench, a: Term, n: Term, strict: bool, steps: int) -> int | None:
    """A sum of squares X*S*X.H that is equal to a by the known equations, so far completed."""
    value = w.facts.lowering.lower(a)
    centers(w, value)  # what is semidefinite is Hermitian, which simplifies the rest
    ideal = equations.known(w, [term("eq", a, a)])
    if ideal.reduce(value - value.T.conj)[0].terms:
        return None
    for _ in range(steps):
        if not ideal.step():
            break
    for squares, rest in Squares(w, ideal, []).find(value):
        if squares and not rest.terms:
            found = _sum_of(w, a, n, ideal, squares, strict)
            if found is not None:
                return found
    return None


def _definite_cleared(w: Workbench, a: Term, n: Term) -> int | None:
    """From X*a*X.H, where inv(X) begins a term of a."""
    for x in inverted(w, w.facts.lowering.lower(a), 0).values():
        whole = term("mul", x, term("mul", a, term("adjoint", x)))
        w.learn(whole)
        rest, used = equations.known(w, [term("eq", whole, whole)]).reduce(
            w.facts.lowering.lower(whole)
        )
        simpler = w.raising.poly(rest)
        if not used or w.attempt(term("positive_definite", simpler)) is None:
            continue
        outer = term("inv", x)
        if w.schema("definite_congruence", n=n, k=n, A=simpler, B=outer) is None:
            continue
        shape = term("mul", outer, term("mul", simpler, term("adjoint", outer)))
        found = w.schema("definite_equal", n=n, A=shape, B=a)
        if found is not None:
            return found
    return None


def _sum_of(
    w: Workbench, a: Term, n: Term, ideal: Ideal, squares: list[Square], strict: bool
) -> int | None:
    """Definiteness of squares, of their sum, and of a, which is equal to it."""
    try:
        order = squares
        if strict:  # one that is definite comes first
            first = next((s for s in squares if _square_is(w, s, n, strict) is not None), None)
            if first is None:
                return None
            order = [first, *(s for s in squares if s is not first)]
        place = _square_is(w, order[0], n, strict)
        total = _summand(w, order[0])
        for square in order[1:]:
            if place is None or _square_is(w, square, n, False) is None:
                return None
            part = _summand(w, square)
            rule = "definite_sum" if strict else "semidefinite_sum"
            place = w.schema(rule, n=n, A=total, B=part)
            total = term("add", total, part)
        prop = "positive_definite" if strict else "positive_semidefinite"
        return None if place is None else transferred(w, total, a, n, ideal, prop)
    except (NoTerm, TooLarge, Stuck, NotDefined):
        return None


def _summand(w: Workbench, square: Square) -> Term:
    part = square.term(w)
    if square.scale.constant == 1:
        return part
    return term("mul", w.raising.poly(square.scale), part)


def _square_is(w: Workbench, square: Square, n: Term, strict: bool) -> int | None:
    """That scale*root*S*root.H is definite or semidefinite."""
    root, node = w.raising.poly(square.root), square.center.node
    kind = "definite" if strict else "semidefinite"
    cols = size_term(square.root.cols)
    if node is not None:
        found = w.schema(f"{kind}_congruence", n=cols, k=n, A=node, B=root)
    elif strict:
        found = w.schema("definite_gram_rows", n=n, k=cols, A=root)
    else:
        found = w.schema("semidefinite_gram", n=n, k=cols, B=term("adjoint", root))
    if found is None or square.scale.constant == 1:
        return found
    scale = w.raising.poly(square.scale)
    return w.schema(f"{kind}_scale", n=n, A=square.term(w), c=scale)


def _semidefinite_schur(w: Workbench, a: Term, n: Term) -> int | None:
    return _schur(w, a, n, "positive_semidefinite", "semidefinite_schur")


def _definite_schur(w: Workbench, a: Term, n: Term) -> int | None:
    return _schur(w, a, n, "positive_definite", "definite_block_schur")


def _schur(w: Workbench, a: Term, n: Term, prop: str, rule: str) -> int | None:
    """a = S - C*inv(R)*C.H as the Schur complement in a block matrix that has the property."""
    value = w.facts.lowering.lower(a)
    if not any(c < 0 for c in value.terms.values()):
        return None
    centers(w, value)  # an inverse that is symmetric cancels against what is turned, too
    ideal = equations.known(w, [term("eq", a, a)])
    squares = Squares(w, ideal, [])
    value, _ = ideal.reduce(value)
    squares.centers = [c for c in centers(w, value) if c.node is not None and c.node.op == "inv"]
    for square in squares.begun(-value):
        node = square.center.node
        if node is None or square.scale.constant != 1:
            continue
        try:
            s, _ = ideal.reduce(value + square.value)
            found = _complement(w, s, w.raising.poly(square.root), node.args[0], (prop, rule))
            if found is not None:
                whole = w.facts.facts[found].relation.args[0]
                return transferred(w, whole, a, n, ideal, prop)
        except (NoTerm, TooLarge, Stuck, NotDefined):
            continue
    return None


def _complement(w: Workbench, s: Poly, c: Term, r: Term, names: tuple[str, str]) -> int | None:
    prop, rule = names
    corner = w.raising.poly(s)
    block = term("block", corner, c, term("adjoint", c), r, data=(2, 2))
    w.learn(block)
    if w.attempt(term(prop, block)) is None:
        return None
    return w.schema(rule, n=w.size(corner), k=w.size(r), S=corner, C=c, R=r)


def transferred(w: Workbench, total: Term, a: Term, n: Term, ideal: Ideal, prop: str) -> int | None:
    """The property for a, from that of a matrix that is equal to it."""
    place = w.find(term(prop, total))
    rest, used = ideal.reduce(w.facts.lowering.lower(term("sub", total, a)))
    if place is None or rest.terms or not used:
        return None if rest.terms else place
    if w.combine(term("eq", total, a), ideal, used) is None:
        return None
    rule = "definite_equal" if prop == "positive_definite" else "semidefinite_equal"
    return w.schema(rule, n=n, A=total, B=a)


def _congruence(w: Workbench, a: Term, n: Term) -> int | None:
    """B*S*B.H with S semidefinite, or a Gram matrix B*B.H."""
    factors = factors_of(a)
    for size in range(len(factors) // 2, 0, -1):
        outer, inner = factors[:size], factors[size : len(factors) - size]
        b = product_of(outer)
        adjoint = term("adjoint", b)
        shape = term("mul", b, term("mul", product_of(inner), adjoint) if inner else adjoint)
        cols = size_term(infer(b, w.facts.scope).cols)
        same = _same(w, a, shape)
        if same is None:
            continue
        if inner:
            found = w.schema("semidefinite_congruence", n=cols, k=n, A=product_of(inner), B=b)
        else:
            found = w.schema("semidefinite_gram", n=n, k=cols, B=adjoint)
        if found is not None and not same:
            found = w.schema("semidefinite_equal", n=n, A=shape, B=a)
        return found
    return None


def _same(w: Workbench, a: Term, b: Term) -> bool | None:
    """Whether two products are the same; False where it takes a hypothesis, None if they aren't."""
    difference = w.facts.difference(goal := term("eq", a, b))
    if not difference.terms:
        return True
    rest, _ = equations.known(w, [goal]).reduce(difference)
    return None if rest.terms else False
