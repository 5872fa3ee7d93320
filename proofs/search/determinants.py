"""Untrusted. Determinants of sums: updates in their smallest form, and their signs.

det(D + U*V) = det(D)*det(I + V*inv(D)*U), and det(I + A*B) = det(I + B*A): what is left of all
updates is det(I + w) for a cyclic word w, of which one rotation is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod

from proofs.checker.algebra import Letter, Poly
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer
from proofs.language.sizes import Size
from proofs.language.tree import Term, bound, postorder, rational, term
from proofs.search import equations
from proofs.search.raising import factors_of, product_of, size_term
from proofs.search.units import inverse, splits
from proofs.search.workbench import ARITHMETIC, Workbench

MAX_EQUATIONS = 6  # of which determinants are taken
PLAIN = frozenset({"name", "mul", "neg", "transpose", "adjoint", "conj", "eye", "inv"})
SIMPLE = frozenset({"name", "inv", "eye", "diag", "transpose"})  # what a base may be
FACTORING = frozenset({"mul", "div", "transpose", "adjoint", "conj", "inv", "block", "kron", "det"})


def updates(w: Workbench, node: Term) -> Iterator[int]:
    """Places of equations that give the determinant of a sum as one of the identity plus a word."""
    n = w.size(node.args[0])
    for base, rest in splits(w, node.args[0]):
        if not _is_base(w, base):
            continue
        factors = matrix_factors(w, rest)
        if base.op == "eye":
            ways = [(i, factors[i:] + factors[:i]) for i in range(len(factors))]
        else:
            ways = [
                (i, [*factors[i:], inverse(base), *factors[:i]]) for i in range(len(factors) + 1)
            ]
        at = min(ways, key=lambda way: rank(w, way[1]))[0]
        if base.op == "eye":
            if at:
                first, last = product_of(factors[:at]), product_of(factors[at:])
                k = size_term(infer(first, w.facts.scope).cols)
                place = w.schema("det_sylvester", n=n, k=k, A=first, B=last)
                if place is not None:
                    yield place
            return
        first = product_of(factors[:at]) if at else term("eye", n)
        last = product_of(factors[at:]) if at < len(factors) else term("eye", n)
        k = size_term(infer(first, w.facts.scope).cols)
        _scale_cancels(w, base, n)
        place = w.schema("det_update", n=n, k=k, A=base, B=inverse(base), U=first, V=last)
        if place is not None:
            yield place


def _scale_cancels(w: Workbench, base: Term, n: Term) -> None:
    """c*I times its inverse is I, by the reciprocal of c alone."""
    turned = inverse(base)
    if base.op == turned.op == "mul":
        c, d = base.args[0], turned.args[0]
        place = w.schema("reciprocal", x=d if c.op == "div" else c)
        if place is not None and place != ARITHMETIC:
            goal, one = term("eq", term("mul", base, turned), term("eye", n)), term("eye", n)
            rows = [[w.place(one), place, None, ""]]
            w.take({"rule": "combine", "goal": w.place(goal), "terms": rows})


def gather(w: Workbench, roots: list[Term]) -> None:
    """det(A) = det(B), where A = B is known of square matrices that speak of what a root does, or
    where A and B are similar."""
    wanted = [n for n in postorder(roots) if n.op == "det" and not n.free]
    for node in wanted:
        key = ("similar", node)
        if (
            key not in w.instanced
            and node.args[0].op in ("add", "sub")
            and similar(w, node.args[0])
        ):
            w.instanced.add(key)
    names = {n for d in wanted for n in postorder([d.args[0]]) if n.op == "name"}
    count = 0
    for place, fact in enumerate(list(w.facts.facts)):
        relation, key = fact.relation, ("det", id(fact.relation))
        if not names or relation.op != "eq" or key in w.instanced or count >= MAX_EQUATIONS:
            continue
        kind = infer(relation.args[0], w.facts.scope)
        if kind.is_scalar or kind.rows != kind.cols or not _is_plain(relation, names):
            continue
        w.instanced.add(key)
        count += 1
        n = size_term(kind.rows)
        type_ = "complex_matrix_type" if _is_complex(w, relation) else "matrix_type"
        w.congruence(place, term("det", bound(0, term(type_, n, n))))


def _is_plain(relation: Term, names: set[Term]) -> bool:
    """Whether an equation is one of products of names, some of them asked for."""
    nodes = postorder([relation])
    return all(n.op in PLAIN for n in nodes if n is not relation and not _is_size(n)) and any(
        n in names for n in nodes
    )


def _is_size(node: Term) -> bool:
    return node.op in ("rational", "add")


def _is_complex(w: Workbench, relation: Term) -> bool:
    return any(infer(side, w.facts.scope).is_complex for side in relation.args)


def half(power: Size) -> tuple[Term, bool] | None:
    """p, and whether power is 2*p + 1 rather than 2*p."""
    odd = [m for m, c in power.terms if c % 2]
    if any(odd):  # an odd multiple of a dimension
        return None
    total = Size.literal(0)
    for monomial, c in power.terms:
        total += prod(map(Size.dimension, monomial), start=Size.literal(c // 2))
    return (size_term(total), bool(odd)) if total.is_positive else None


# ---------------------------------------------------------------- similar matrices


def similar(w: Workbench, a: Term) -> bool:
    """Whether det(a) is now known as that of y*a*x, where x*y = I, and a word of a begins with x
    and ends with y."""
    value = w.facts.lowering.lower(a)
    ends = {(word[0], word[-1]) for _, word in value.terms if len(word) > 2}
    for fact in list(w.facts.facts):
        product, one = fact.relation.args if fact.relation.op == "eq" else (a, a)
        if product.op != "mul" or one.op != "eye" or w.size(product) is not w.size(a):
            continue
        x, y = product.args
        words = [word for v in product.args for _, word in w.facts.lowering.lower(v).terms]
        if len(words) == 2 and all(len(word) == 1 for word in words):
            for first, last in ((x, y), (y, x)):
                if (words[first is y][0], words[first is x][0]) in ends:
                    return _conjugated(w, a, value, first, last)
    return False


def _conjugated(w: Workbench, a: Term, value: Poly, x: Term, y: Term) -> bool:
    """Whether y*a*x is simpler than a, which has the same determinant."""
    n = w.size(a)
    right = term("mul", a, x)
    whole = term("mul", y, right)
    w.learn(whole)
    w.schema("one_sided", n=n, A=x, B=y)
    ideal = equations.known(w, [term("eq", whole, whole)])
    rest, used = ideal.reduce(w.facts.lowering.lower(whole))
    if sum(len(word) for _, word in rest.terms) >= sum(len(word) for _, word in value.terms):
        return False
    equal = w.combine(term("eq", whole, w.raising.poly(rest)), ideal, used)
    unit = w.attempt(term("eq", term("mul", y, x), term("eye", n)))
    hole = term("det", bound(0, term("matrix_type", n, n)))
    if equal is None or unit is None or w.congruence(equal, hole) is None:
        return False
    w.schema("det_product", n=n, A=y, B=right)
    w.schema("det_product", n=n, A=a, B=x)
    w.schema("det_product", n=n, A=y, B=x)
    w.schema("det_eye", n=n)
    return True


def _is_base(w: Workbench, base: Term) -> bool:
    core = base
    while core.op in ("mul", "div") and infer(core.args[0], w.facts.scope).is_scalar:
        core = core.args[1]
    core = core.args[0] if core.op == "div" else core
    return (
        core.op in SIMPLE
        and (core.op != "name" or _is_known(w, core))
        and w.attempt(term("invertible", base)) is not None
    )


def _is_known(w: Workbench, a: Term) -> bool:
    """Whether a fact speaks of a matrix, or of a product with it, and not just of a sum: there
    are as many bases as terms of a sum, and to seek inverses of all would often be in vain."""
    stack = [side for fact in w.facts.facts for side in fact.relation.args]
    while stack:
        node = stack.pop()
        if node is a:
            return True
        if node.op in FACTORING:
            stack += node.args
    return False


def matrix_factors(w: Workbench, rest: Term) -> list[Term]:
    """The matrices in a product, its scalars given to the first."""
    parts = factors_of(rest)
    scalars = [f for f in parts if infer(f, w.facts.scope).is_scalar]
    matrices = [f for f in parts if not infer(f, w.facts.scope).is_scalar]
    if not scalars:
        return matrices
    scale = product_of(scalars)
    return [term("mul", scale, matrices[0]), *matrices[1:]] if matrices else [scale]


def rank(w: Workbench, factors: list[Term]) -> tuple[str, str]:
    """By which rotations of a word are compared: the smallest size, then the text."""
    product = product_of(factors)
    return str(infer(product, w.facts.scope).rows), w.facts.lowering.lower(product).key


# ---------------------------------------------------------------- Schur complements


def complement(w: Workbench, node: Term) -> int | None:
    """det(D)*det(a) = det(A)*det(D - C*inv(A)*B) for a = A - B*inv(D)*C with D a sum, where the
    known equations simplify a and D - C*inv(A)*B: both sides are det(block([[A, B], [C, D]]))."""
    (a,) = node.args
    letters = [x for _, word in w.facts.lowering.lower(a).terms for x in word]
    for x in dict.fromkeys(x.T if x.transposed else x for x in letters):
        inverse = w.raising.letters.get(x)
        if inverse is None or inverse.op != "inv" or inverse.args[0].op not in ("add", "sub"):
            continue
        if w.attempt(term("positive_semidefinite", inverse)) is not None:
            w.schema("semidefinite_hermitian", n=w.size(inverse), A=inverse)
        found = _by_both_corners(w, node, x, inverse.args[0])
        if found is not None:
            return found
    return None


def _by_both_corners(w: Workbench, node: Term, x: Letter, d: Term) -> int | None:
    (a,) = node.args
    n, k = w.size(a), w.size(d)
    rest, _ = equations.known(w, [term("eq", a, a)]).reduce(w.facts.lowering.lower(a))
    places = [place for place in rest.terms if x in place[1]]
    if len(places) != 1 or places[0][1].count(x) != 1:
        return None
    monomial, word = places[0]
    at = word.index(x)
    first = Poly(rest.rows, x.rows, {((), word[:at]): Fraction(1)})
    last = Poly(x.cols, rest.cols, {(monomial, word[at + 1 :]): -rest.terms[places[0]]})
    others = {place: c for place, c in rest.terms.items() if place != places[0]}
    corner, b, c = (w.raising.poly(v) for v in (Poly(rest.rows, rest.cols, others), first, last))
    if w.attempt(term("invertible", corner)) is None:
        return None
    one, two = (
        w.schema(rule, n=n, k=k, A=corner, B=b, C=c, D=d)
        for rule in ("det_block", "det_block_corner")
    )
    if one is None or two is None:
        return None
    (det_a, det_x), (det_d, det_y) = (w.facts.facts[p].relation.args[1].args for p in (one, two))
    # The two ways to write the determinant of the whole, with both complements simplified.
    rows = [[w.place(rational(-1)), two, None, ""], [None, one, None, ""]]
    moved = _same_determinant(w, term("eq", a, det_y.args[0]), n)
    if moved is None:
        return None
    rows.append([w.place(det_d), moved, None, ""])
    whole = det_x.args[0]
    ideal = equations.known(w, [term("eq", whole, whole)])
    simpler = w.raising.poly(ideal.reduce(w.facts.lowering.lower(whole))[0])
    turned = _same_determinant(w, term("eq", whole, simpler), k)
    if turned is None:
        return None
    rows.append([w.place(det_a), turned, None, ""])
    goal = term("eq", term("mul", det_d, node), term("mul", det_a, term("det", simpler)))
    return w.take({"rule": "combine", "goal": w.place(goal), "terms": rows})


def _same_determinant(w: Workbench, equal: Term, n: Term) -> int | None:
    """det(A) = det(B) from A = B."""
    place = w.attempt(equal)
    sided = None if place is None else w.sided(equal, place)
    hole = bound(0, term("matrix_type", n, n))
    return None if sided is None else w.congruence(sided, term("det", hole))


# ---------------------------------------------------------------- signs


def sign(w: Workbench, node: Term) -> int | None:
    """det(A) > 0 for a definite matrix, and where the determinants of its factors are positive;
    det(A) >= 0 for a semidefinite one."""
    a = node.args[0]
    n, op, args = w.size(a), a.op, a.args
    found = w.schema("det_definite", n=n, A=a)
    if found is not None:
        return found
    equal = None
    if infer(a, w.facts.scope).is_scalar:
        equal = w.schema("det_scalar", x=a)
    elif op == "transpose":
        equal = w.schema("det_transpose", n=n, A=args[0])
    elif op == "mul" and infer(args[0], w.facts.scope).is_scalar:
        equal = w.schema("det_scale", n=n, A=args[1], c=args[0])
    elif op == "mul" and infer(args[0], w.facts.scope).rows == infer(a, w.facts.scope).rows:
        equal = w.schema("det_product", n=n, A=args[0], B=args[1])
    elif op in ("add", "sub"):
        equal = _product_of_definite(w, a, n)
    if equal is None:
        return w.schema("det_nonnegative", n=n, A=a)
    goal = term("gt", w.facts.facts[equal].relation.args[1], ZERO)
    above = w.attempt(goal)
    if above is None:
        return w.schema("det_nonnegative", n=n, A=a)
    rows = [[None, equal, None, ""]]
    return w.positive(term("gt", node, ZERO), [["1", [w.stated(goal, above)], None]], rows)


def _product_of_definite(w: Workbench, a: Term, n: Term) -> int | None:
    """det(I + P*Q) = det(P)*det(inv(P) + Q) for a definite P, and so for a definite Q."""
    for base, rest in splits(w, a):
        if base.op != "eye":
            continue
        factors = matrix_factors(w, rest)
        if len(factors) < 2:
            continue
        for definite, other, left in (
            (factors[0], product_of(factors[1:]), True),
            (factors[-1], product_of(factors[:-1]), False),
        ):
            if w.attempt(term("positive_definite", definite)) is None:
                continue
            inner = term("add", inverse(definite), other)
            pair = (definite, inner) if left else (inner, definite)
            product = term("mul", *pair)
            split = w.schema("det_product", n=n, A=pair[0], B=pair[1])
            same = w.attempt(term("eq", product, a))
            if split is None or same is None:
                continue
            same = w.stated(term("eq", product, a), same)
            hole = term("det", bound(0, term("matrix_type", n, n)))
            whole = w.congruence(same, hole)
            if whole is None:
                continue
            right = w.facts.facts[split].relation.args[1]
            minus = w.place(rational(-1))
            goal = term("eq", term("det", a), right)
            rows = [[minus, whole, None, ""], [None, split, None, ""]]
            found = w.take({"rule": "combine", "goal": w.place(goal), "terms": rows})
            if found is not None:
                return found
    return None


def cofactor_positive(w: Workbench, place: int) -> int | None:
    """x > 0 from det(A + U*V) = det(A)*x, where both determinants are positive."""
    whole, product = w.facts.facts[place].relation.args
    if product.op != "mul":
        return w.attempt(term("gt", product, ZERO))
    first, rest = product.args
    goal = term("gt", rest, ZERO)
    if (found := w.find(goal)) is not None:
        return found
    signs = [w.attempt(term("gt", x, ZERO)) for x in (whole, first)]
    below = w.schema("reciprocal_positive", x=first)
    one = w.schema("reciprocal", x=first)
    if None in signs or below is None or one is None:
        return None
    above = w.stated(term("gt", whole, ZERO), signs[0] or 0)
    q = term("neg", term("div", rational(1), first))
    rows = [[w.place(term("neg", rest)), one, None, ""], [w.place(q), place, None, ""]]
    return w.positive(goal, [["1", [below, above], None]], rows)
