"""Untrusted. What ranks say together: equal ranks, ranks that add up, the ranges behind them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from proofs.checker.algebra import Poly, TooLarge, Word, identity
from proofs.checker.definedness import NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, pair, postorder, rational, term
from proofs.search import equations, ranks, signs
from proofs.search.linear import combination
from proofs.search.raising import NoTerm, factors_of, product_of, size_term
from proofs.search.workbench import Stuck, Workbench

MAX_MATRICES = 6  # whose ranks are compared
MAX_PRODUCTS = 16  # whose ranks are compared with those of their factors
STEPS = 30  # of completion before factorizations are looked for


def by_ranks(w: Workbench, goal: Term) -> int | None:
    """An equation about ranks, or one that follows from what is known of them."""
    inside = _matrices(w, goal)
    if not inside:
        return None
    if _speaks_of_ranks(goal):
        found = _both_ways(w, goal)
        if found is not None:
            return found
    if not any(map(_speaks_of_ranks, w.statement.hypotheses)):
        return None
    for method in (_complements, _ranges):
        size = len(w.facts.facts)
        with suppress(NoTerm, TooLarge, StatementError, NotDefined):
            method(w, goal, inside)
        found = equations.quick(w, goal) if len(w.facts.facts) > size else None
        if found is not None:
            return found
    return None


def _both_ways(w: Workbench, goal: Term) -> int | None:
    for op in ("le", "ge"):
        if below(w, term(op, *goal.args)) is None:
            return None
    return w.schema("antisymmetric", x=goal.args[0], y=goal.args[1])


def below(w: Workbench, relation: Term) -> int | None:
    """An inequality between ranks, as a combination of known ones up to the known equations."""
    if not _speaks_of_ranks(relation):
        return None
    inside = _matrices(w, relation)
    ranks.bounds(w, inside)
    found = w.find(relation)
    if found is not None:
        return found
    try:
        _factorizations(w, inside)
        _grams(w, inside)
        _products_and_ranges(w, inside)
        _complements(w, relation, inside)
        found = _linear(w, relation, [relation])
        if found is None and (_semidefinite_sums(w, inside) or _direct_sums(w, inside)):
            found = _linear(w, relation, [relation])
        if found is None:  # what the ranks in these inequalities are, besides
            found = _linear(w, relation, [relation, *_inequalities(w)])
        return found
    except (NoTerm, TooLarge, StatementError, NotDefined, Stuck):
        return None


def _inequalities(w: Workbench) -> list[Term]:
    """Inequalities between ranks among the facts."""
    known = [f.relation for f in w.facts.facts if f.relation.op in ("gt", "ge", "lt", "le")]
    return [r for r in known if _speaks_of_ranks(r)]


def _linear(w: Workbench, relation: Term, roots: list[Term]) -> int | None:
    """An inequality as a combination of known ones, all up to the known equations."""
    ideal = equations.known(w, roots)
    difference = w.facts.difference(relation)
    if relation.op in ("lt", "le"):
        difference = -difference
    known = [(p, signs.excess_of(w, f.relation)) for p, f in enumerate(w.facts.facts)]
    rows = [([p], excess) for p, excess in known if excess is not None]
    rows.append(([], identity(difference.rows)))
    columns = [ideal.reduce(excess)[0].terms for _, excess in rows]
    found = combination(columns, ideal.reduce(difference)[0].terms)
    if found is None:
        return None
    gap = difference
    for i, factor in found.items():
        gap = gap - rows[i][1].scale(factor)
    return w.closed(relation, [[str(c), rows[i][0], None] for i, c in found.items()], gap, ideal)


def _speaks_of_ranks(root: Term) -> bool:
    return any(n.op == "rank" for n in postorder([root]))


def _matrices(w: Workbench, root: Term) -> list[Term]:
    """The matrices whose ranks stand in a relation or a hypothesis."""
    nodes = postorder([root, *w.statement.hypotheses])
    found = dict.fromkeys(n.args[0] for n in nodes if n.op == "rank" and not n.free)
    return list(found)[:MAX_MATRICES]


# ---------------------------------------------------------------- factors


def _factorizations(w: Workbench, inside: list[Term]) -> None:
    """rank(A) <= rank(B), where a known equation says that A is X*B*Y."""
    values = {a: w.facts.lowering.lower(a) for a in inside}
    words = {a: next(iter(v.terms))[1] for a, v in values.items() if len(v.terms) == 1}
    for a, value in values.items():
        for b, word in words.items():
            if len(value.terms) > 1 and word:
                _common_factor(w, a, value, b, word)
    if len(words) < 2:
        return
    ideal = equations.known(w, [term("eq", term("rank", a), rational(0)) for a in inside])
    for _ in range(STEPS):
        if not ideal.step():
            break
    for relation in list(ideal.relations):
        value = relation.value
        if len(value.terms) != 2 or any(m for m, _ in value.terms):
            continue
        for (_, whole), (_, part) in (tuple(value.terms), tuple(value.terms)[::-1]):
            for a, mine in words.items():
                for b, other in words.items():
                    if a is not b and mine == part and other != whole:
                        at = _place(whole, other)
                        if at is not None:
                            scale = -value.terms[(), whole] / value.terms[(), part]
                            _factored(w, a, b, whole[:at], whole[at + len(other) :], scale)


def _common_factor(w: Workbench, a: Term, value: Poly, b: Term, word: Word) -> None:
    """rank(a) <= rank(b), where all terms of a begin with b, or all end with it."""
    size, terms = len(word), value.terms
    if all(x[:size] == word for _, x in terms):
        rest = {(m, x[size:]): c for (m, x), c in terms.items()}
        other = w.raising.poly(Poly(word[-1].cols, value.cols, rest))
        w.schema("rank_product_first", **w.sizes(b), m=w.sizes(a)["k"], A=b, B=other)
    elif all(x[-size:] == word for _, x in terms):
        rest = {(m, x[:-size]): c for (m, x), c in terms.items()}
        other = w.raising.poly(Poly(value.rows, word[0].rows, rest))
        sizes = {"n": w.sizes(a)["n"], "k": w.sizes(b)["n"], "m": w.sizes(b)["k"]}
        w.schema("rank_product_last", **sizes, A=other, B=b)


def _grams(w: Workbench, inside: list[Term]) -> None:
    """rank(K*C) <= rank(C.H*K*C) for semidefinite K, which takes C*(I - pinv(M)*M) to zero for the
    product M."""
    for a in inside:
        value = w.facts.lowering.lower(a)
        word = next(iter(value.terms))[1] if len(value.terms) == 1 else ()
        half = len(word) // 2
        center = word[half] if len(word) % 2 else None
        if half == 0 or center is None or center.rows != center.cols:
            continue
        if word[:half] != tuple(x.T.conj for x in reversed(word[half + 1 :])):
            continue
        k, c = w.raising.letter(center), w.raising.word(word[half + 1 :])
        sizes, n = w.sizes(a), w.size(k)
        whole = term("mul", term("pinv", a), a)
        kernel = term("sub", c, term("mul", c, whole))
        for rule in ("penrose_1", "penrose_2", "penrose_3", "penrose_4"):
            w.schema(rule, **sizes, A=a)
        if w.schema("semidefinite_kernel", n=n, k=sizes["n"], A=k, X=kernel) is None:
            continue
        first = term("mul", k, c)
        last = term("mul", term("mul", first, term("pinv", a)), a)
        place = equations.plainly_combined(w, term("eq", first, last))
        if place is None:
            continue
        w.congruence(place, term("rank", _hole(w, first)))
        left = last.args[0]
        w.schema("rank_product_last", n=n, k=sizes["n"], m=sizes["k"], A=left, B=a)
        w.schema("rank_columns_first", n=n, k=n, m=sizes["n"], A=k, B=c)


def _semidefinite_sums(w: Workbench, inside: list[Term]) -> bool:
    """rank(A) <= rank(A + B) for semidefinite A and B."""
    size = len(w.facts.facts)
    for a in inside:
        if a.op != "add":
            continue
        n = w.size(a)
        for x, y in (a.args, a.args[::-1]):
            if x not in inside or w.schema("semidefinite_sum_range", n=n, A=x, B=y) is None:
                continue
            last = term("mul", term("pinv", a), x)
            w.learn(last)
            place = w.find(term("eq", term("mul", a, last), x))
            if place is not None:
                w.congruence(place, term("rank", _hole(w, x)))
            w.schema("rank_product_first", n=n, k=n, m=n, A=a, B=last)
    return len(w.facts.facts) > size


def _products_and_ranges(w: Workbench, inside: list[Term]) -> None:
    """Sylvester's inequality where A*B = 0, and rank(B) <= rank(A) where A*pinv(A)*B = B."""
    for a in inside:
        for b in inside:
            one, two = w.sizes(a), w.sizes(b)
            if one["k"] is two["n"]:
                product = term("mul", a, b)
                zero = term("zeros", one["n"], two["k"])
                if equations.plainly(w, term("eq", product, zero)):
                    w.schema("rank_sylvester", n=one["n"], k=one["k"], m=two["k"], A=a, B=b)
                    w.learn(term("rank", product))
                    equations.simplify_argument(w, term("rank", product))
                    w.schema("rank_zero", n=one["n"], k=two["k"])
            if a is not b and one["n"] is two["n"] and w.is_given(term("pinv", a)):
                last = term("mul", term("pinv", a), b)
                w.learn(last)
                goal = term("eq", term("mul", a, last), b)
                place = equations.quick(w, goal) if b.op == "block" else None
                if place is not None or (place := equations.plainly_combined(w, goal)) is not None:
                    w.congruence(place, term("rank", _hole(w, b)))
                    w.schema("rank_product_first", **one, m=two["k"], A=a, B=last)


def _place(word: Word, part: Word) -> int | None:
    places = (i for i in range(len(word) - len(part) + 1) if word[i : i + len(part)] == part)
    return next(places, None)


def _factored(w: Workbench, a: Term, b: Term, left: Word, right: Word, scale: Fraction) -> None:
    """rank(a) = rank(left*b*right) <= rank(b)."""
    last = term("mul", b, w.raising.word(right)) if right else b
    product = term("mul", w.raising.word(left), last) if left else last
    scaled = product if scale == 1 else term("mul", rational(scale), product)
    w.learn(scaled)
    place = equations.plainly_combined(w, term("eq", a, scaled))
    if place is None:
        return
    w.congruence(place, term("rank", _hole(w, a)))
    if scaled is not product:
        w.schema("rank_scale", **w.sizes(product), A=product, c=rational(scale))
    if left:
        x = product.args[0]
        sizes = {"n": w.sizes(x)["n"], "k": w.sizes(x)["k"], "m": w.sizes(last)["k"]}
        w.schema("rank_product_last", **sizes, A=x, B=last)
    if right:
        sizes = {**w.sizes(b), "m": w.sizes(last)["k"]}
        w.schema("rank_product_first", **sizes, A=b, B=last.args[1])


def _hole(w: Workbench, a: Term) -> Term:
    kind = infer(a, w.facts.scope)
    type_ = "complex_matrix_type" if kind.is_complex else "matrix_type"
    return bound(0, term(type_, size_term(kind.rows), size_term(kind.cols)))


# ---------------------------------------------------------------- ranks that add up


def _complements(w: Workbench, goal: Term, inside: list[Term]) -> None:
    """rank(A) + rank(I - A) = n + rank(A - A^2), for A and B with A + B or A - B = c*I in sight."""
    lower = w.facts.lowering.lower
    for i, a in enumerate(inside):
        for b in inside[:i]:
            if w.size(a) is not w.size(b) or w.sizes(a)["n"] is not w.sizes(a)["k"]:
                continue
            for other, total in ((b, lower(a) + lower(b)), (term("neg", b), lower(a) - lower(b))):
                if len(total.terms) != 1 or ((), ()) not in total.terms:
                    continue
                factor = rational(1 / total.terms[(), ()])
                if other is not b:
                    w.schema("rank_scale", **w.sizes(b), A=b, c=rational(-1))
                for x in (a, other):
                    w.schema("rank_scale", **w.sizes(x), A=x, c=factor)
                _complement(w, *(term("mul", factor, x) for x in (a, other)))


def _direct_sums(w: Workbench, inside: list[Term]) -> bool:
    """rank(A) + rank(B) <= rank(A + B), where [pinv(A); pinv(B)]*(A + B)*[pinv(A), pinv(B)] is
    diag(pinv(A), pinv(B)): neither the ranges of A and B nor those of the transposes meet."""
    size = len(w.facts.facts)
    for a in inside:
        if a.op not in ("add", "sub") or any(x not in inside for x in a.args):
            continue
        one, two = a.args
        two = two if a.op == "add" else term("neg", two)
        p, q = term("pinv", one), term("pinv", two)
        sizes, turned = w.sizes(a), w.sizes(p)
        n, k = turned["k"], turned["n"]
        both, beside = (term("block", p, q, data=d) for d in ((2, 1), (1, 2)))
        zero = term("zeros", k, n)
        whole = term("block", p, zero, zero, q, data=(2, 2))
        last = term("mul", a, beside)
        goal = term("eq", term("mul", both, last), whole)
        for x in (goal, term("rank", whole)):
            w.learn(x)
        place = equations.quick(w, goal)
        if place is None:
            continue
        w.congruence(place, term("rank", _hole(w, whole)))
        w.schema("rank_diagonal_blocks", n=k, k=n, m=k, p=n, A=p, B=q)
        ends = {"n": w.sizes(both)["n"], "m": w.sizes(beside)["k"]}
        w.schema("rank_product_last", **ends, k=n, A=both, B=last)
        w.schema("rank_product_first", **sizes, m=ends["m"], A=a, B=beside)
        for x in (one, two):
            w.schema("rank_pinv", **sizes, A=x)
        if a.op == "sub":
            w.schema("rank_scale", **sizes, A=a.args[1], c=rational(-1))
    return len(w.facts.facts) > size


def _complement(w: Workbench, a: Term, b: Term) -> None:
    """[I, A; A, A] is [I, I; 0, I]*[B, 0; 0, A]*[I, 0; I, I] for A + B = I, and the Schur
    complement of its first corner is A - A^2."""
    n = w.size(a)
    one, zero, two = term("eye", n), term("zeros", n, n), term("add", n, n)
    left = term("block", one, one, zero, one, data=(2, 2))
    right = term("block", one, zero, one, one, data=(2, 2))
    middle = term("block", b, zero, zero, a, data=(2, 2))
    last = term("mul", middle, right)
    w.schema("rank_columns_first", n=two, k=two, m=two, A=left, B=last)
    w.schema("rank_rows_last", n=two, k=two, m=two, A=middle, B=right)
    w.schema("rank_diagonal_blocks", n=n, k=n, m=n, p=n, A=b, B=a)
    place = w.schema("rank_block", n=n, k=n, m=n, A=one, B=a, C=a, D=a)
    if place is None:
        return
    node = next(x for x in postorder([w.facts.facts[place].relation]) if _is_schur(x))
    w.schema("inv_left", n=n, A=one)
    equations.simplify_argument(w, node)
    square = term("rank", term("sub", a, term("mul", a, a)))
    w.learn(square)
    equations.simplify_argument(w, square)
    equations.plainly_combined(w, term("eq", square, rational(0)))


def _is_schur(node: Term) -> bool:
    return node.op == "rank" and node.args[0].op == "sub"


# ---------------------------------------------------------------- ranges


def _ranges(w: Workbench, goal: Term, inside: list[Term]) -> None:
    """A*B*pinv(A*B)*A = A, where A*B is known to have the rank of A."""
    for x, y in list(dict.fromkeys(_products(w, goal, inside)))[:MAX_PRODUCTS]:
        product = term("mul", x, y)
        for a, b, first in ((x, y, True), (y, x, False)):
            goal_ = term("eq", term("rank", product), term("rank", a))
            w.learn(goal_)
            if not equations.plainly(w, goal_) or equations.plainly_combined(w, goal_) is None:
                continue
            if first:
                sizes = {**w.sizes(a), "m": w.sizes(b)["k"]}
                w.schema("rank_range", **sizes, A=a, B=b)
            else:
                a, b = term("transpose", a), term("transpose", b)
                turned = term("rank", term("mul", a, b))
                w.schema("rank_transpose", **w.sizes(product), A=product)
                w.schema("rank_transpose", **w.sizes(y), A=y)
                w.learn(turned)
                w.schema("rank_range", **w.sizes(a), m=w.sizes(b)["k"], A=a, B=b)


def _products(w: Workbench, goal: Term, inside: list[Term]) -> Iterator[tuple[Term, Term]]:
    """Products in sight as two factors, and a row of blocks times what selects one of them."""
    for a in inside:
        if a.op == "block" and pair(a) == (1, 2):
            p, q = a.args
            w.schema("block_eye", n=w.sizes(p)["k"], k=w.sizes(q)["k"])
            zero = term("zeros", w.sizes(q)["k"], w.sizes(p)["k"])
            yield a, term("block", term("eye", w.sizes(p)["k"]), zero, data=(2, 1))
            zero = term("zeros", w.sizes(p)["k"], w.sizes(q)["k"])
            yield a, term("block", zero, term("eye", w.sizes(q)["k"]), data=(2, 1))
    for node in postorder([goal, *w.statement.hypotheses]):
        if node.op != "mul" or node.free:
            continue
        factors = factors_of(node)
        for i in range(1, len(factors)):
            x, y = product_of(factors[:i]), product_of(factors[i:])
            if not any(infer(z, w.facts.scope).is_scalar for z in (x, y)):
                yield x, y
