"""Untrusted. Instances of rules that the operations in a goal call for."""

from __future__ import annotations

from collections.abc import Callable

from proofs.checker.algebra import ONE, Atom, Poly, TooLarge
from proofs.checker.definedness import ZERO, NotDefined
from proofs.language.errors import StatementError
from proofs.language.infer import infer, polynomial
from proofs.language.sizes import Size
from proofs.language.tree import Term, bound, postorder, rational, term
from proofs.language.types import Kind
from proofs.search import (
    angles,
    block_determinants,
    calculus,
    determinants,
    elementary,
    entrywise,
    expectations,
    gaussians,
    gradients,
    literals,
    logarithms,
    moments,
    order,
    products,
    rank_one,
    ranks,
    regrouping,
    softmaxes,
    sums,
)
from proofs.search.raising import (
    NoTerm,
    factors_of,
    opened,
    product_of,
    size_term,
    size_terms,
)
from proofs.search.units import square_parts
from proofs.search.workbench import Workbench

MAX_ROUNDS = 6
HERMITIAN = ("symmetric", "hermitian", "positive_semidefinite", "positive_definite")
MAX_INSTANCES = 400
MAX_LITERAL = 8  # identities and traces of at most this literal size are written out


def gather(w: Workbench, roots: list[Term]) -> None:
    """Take the instances for the subterms of `roots` and of all facts, and of what they bring."""
    for root in roots:
        w.learn(root)
    for _ in range(MAX_ROUNDS):
        state = (*w.state, *map(id, roots))
        if state in w.gathered:  # nothing has changed since
            return
        size = len(w.facts.facts)
        equations = [
            fact.relation
            for place, fact in enumerate(w.facts.facts)
            if fact.relation.op == "eq" and place not in w.aside
        ]
        terms = postorder([*roots, *equations])
        for node in terms:
            if node.free == 0 and id(node) not in w.instanced and _is_of_use(w, node):
                method = INSTANCES.get(node.op)
                if method is not None:
                    w.instanced.add(id(node))
                    _try(method, w, node)
        _properties(w)
        _reciprocals(w, terms)
        expectations.gather(w, roots)
        products.gather(w, roots)
        entrywise.gather(w, roots)
        softmaxes.gather(w, roots)
        determinants.gather(w, roots)
        rank_one.gather(w, roots)
        if len(w.facts.facts) == size:
            w.gathered.add((*w.state, *map(id, roots)))
            return


def _is_of_use(w: Workbench, node: Term) -> bool:
    """Whether there is room for instances of a term; for the statement's own there always is."""
    return len(w.instanced) < MAX_INSTANCES or w.places.get(node, w.given) < w.given


def differentiate(w: Workbench, roots: list[Term]) -> bool:
    """Take the instances for derivatives, inverses and quotients alone; whether roots have any."""
    nodes = [n for n in postorder(roots) if n.op in ("deriv", "grad", "inv", "div") and n.free == 0]
    if all(n.op not in ("deriv", "grad") for n in nodes):
        return False
    for node in nodes:
        if id(node) not in w.instanced:
            w.instanced.add(id(node))
            _try(INSTANCES[node.op], w, node)
    found = [f.relation for f in w.facts.facts if f.relation.args[0] in nodes]
    _reciprocals(w, postorder([*roots, *found]))
    return True


def _try(method: Callable[[Workbench, Term], object], w: Workbench, node: Term) -> None:
    try:
        method(w, node)
    except (NoTerm, TooLarge, StatementError, NotDefined):
        return


def _size(w: Workbench, a: Term) -> Term:
    return size_term(infer(a, w.facts.scope).rows)


def _inverse(w: Workbench, node: Term) -> None:
    a, scope = node.args[0], w.facts.scope
    if infer(a, scope).is_scalar:
        return
    n, args = _size(w, a), a.args
    if moments.of_moments(a) and moments.simplified_inside(w, node):
        return
    w.schema("inv_left", n=n, A=a)
    w.schema("inv_right", n=n, A=a)
    numbers = literals.numeric_inverse(w, a)
    if numbers is not None:
        literals.inverse_is(w, a, numbers)
    if a.op == "transpose":
        w.schema("inverse_transpose", n=n, A=args[0])
    elif a.op == "inv":
        w.schema("inverse_inverse", n=n, A=args[0])
    elif a.op == "mul" and infer(args[0], scope).is_scalar:
        w.schema("inverse_scale", n=n, A=args[1], c=args[0])
    elif a.op == "mul" and (parts := square_parts(w, a)) is not None:
        w.schema("inverse_product", n=n, A=parts[0], B=parts[1])
    else:
        rank_one.inverse(w, a)


def _quotient(w: Workbench, node: Term) -> None:
    """x*(1/x) = 1 for a denominator as it stands; 1/(x*y) = 1/x*(1/y); conjugates."""
    x = node.args[1]
    _reciprocal(w, x)
    while x.op == "mul":
        w.schema("reciprocal_product", x=x.args[0], y=x.args[1])
        _reciprocal(w, x.args[1])
        x = x.args[0]
        _reciprocal(w, x)


def _reciprocal(w: Workbench, x: Term) -> None:
    place = w.schema("reciprocal", x=x)
    if x.op == "div" and x.args[0] is rational(1) and place is not None:
        _reciprocal_of_reciprocal(w, x, place)
    if w.facts.lowering.lower(x).is_complex:
        w.schema("reciprocal_conjugate", x=x)


def _reciprocal_of_reciprocal(w: Workbench, x: Term, place: int) -> None:
    """1/x = y for x = 1/y, from x*(1/x) = 1 and y*x = 1."""
    y, q = x.args[1], term("div", rational(1), x)
    inside = w.schema("reciprocal", x=y)
    if inside is not None:
        rows = [[w.place(term("neg", q)), inside, None, ""], [w.place(y), place, None, ""]]
        w.take({"rule": "combine", "goal": w.place(term("eq", q, y)), "terms": rows})


def _power(w: Workbench, node: Term) -> None:
    base, exponent = node.args
    if exponent.op == "rational" and str(exponent.data).startswith("-"):
        _inverse(w, term("inv", base))
    domain = infer(exponent, w.facts.scope).domain
    if domain not in ("integer", "dimension", "index"):
        elementary.real_power(w, node)
        return
    if exponent.op != "rational":
        elementary.natural_power(w, node)
    power = polynomial(exponent, w.facts.scope.dimensions)
    if power is not None and w.facts.lowering.lower(base).constant == -1:
        half = determinants.half(power)
        if half is not None:
            w.schema("minus_one_odd" if half[1] else "minus_one_even", p=half[0])
        return
    if power is None or len(power.terms) < 2:
        return
    next_one = exponent if power.is_positive else term("add", exponent, rational(1))
    if (power if power.is_positive else power + ONE).is_positive:  # A^(p + 1) by A^p, say
        for rule in ("power_step", "power_step_left"):
            w.schema(rule, n=_size(w, base), A=base, p=next_one)


def _pseudo_inverse(w: Workbench, node: Term) -> None:
    a = node.args[0]
    kind = infer(a, w.facts.scope)
    if kind.cols == ONE and w.schema("pinv_vector", n=size_term(kind.rows), x=a) is not None:
        return
    for rule in ("penrose_1", "penrose_2", "penrose_3", "penrose_4"):
        w.schema(rule, **size_terms(kind), A=a)
    if w.find(term("positive_definite", a)) is not None:
        w.schema("definite_unit", n=size_term(kind.rows), A=a)
    if any(w.find(term(prop, a)) is not None for prop in HERMITIAN):
        sizes = size_terms(kind)
        w.schema("penrose_unique", **sizes, A=a, X=term("adjoint", node))
    if a.op == "add" and all(
        w.attempt(term("positive_semidefinite", b)) is not None for b in a.args
    ):
        for x, y in (a.args, a.args[::-1]):  # the range of a sum holds those of its summands
            w.schema("semidefinite_sum_range", n=size_term(kind.rows), A=x, B=y)
    # A Gram matrix is best known through the pseudo-inverse of its factor.
    if a.op == "mul":
        for factor, twin in (a.args, a.args[::-1]):
            adjoint = w.facts.lowering.lower(term("adjoint", factor))
            if w.facts.lowering.lower(twin) == adjoint:
                _pseudo_inverse(w, term("pinv", factor))
                return


def _density(w: Workbench, node: Term) -> None:
    x, m, covariance = node.args
    w.schema("log_density", n=w.size(x), x=x, m=m, S=covariance)


def _density_on_support(w: Workbench, node: Term) -> None:
    """By that of a definite covariance, or of the image m + A*z of a standard Gaussian vector."""
    x, m, covariance = node.args
    if w.schema("log_density_on_support", n=w.size(x), x=x, m=m, S=covariance) is not None:
        return
    factors = factors_of(covariance)
    if len(factors) < 2:
        return
    a = product_of(factors[: len(factors) // 2])
    letters = w.facts.lowering.lower(a).terms
    off = w.facts.lowering.lower(term("sub", x, m))
    places = [word for _, word in letters]
    if len(places) != 1 or len(places[0]) != 1 or any(u[:1] != places[0] for _, u in off.terms):
        return
    k = infer(a, w.facts.scope).cols
    rest = {(monomial, word[1:]): c for (monomial, word), c in off.terms.items()}
    z, sizes = w.raising.poly(Poly(k, ONE, rest)), {"n": w.size(a), "k": size_term(k)}
    w.schema("log_density_of_image", m=m, A=a, z=z, **sizes)


def _derivative(w: Workbench, node: Term) -> None:
    calculus.differentiate(w, node)


def _gradient(w: Workbench, node: Term) -> None:
    gradients.gradient(w, node)


def _entry(w: Workbench, node: Term) -> None:
    """An entry of a softmax, or of what holds a vector of ones."""
    vector = node.args[0]
    if len(node.args) == 2 and any(n.op == "ones" for n in postorder([vector])):
        w.schema("ones_entry", n=_size(w, vector), j=node.args[1])
    if vector.op == "softmax":
        softmaxes.softmax_entry(w, vector, node.args[1])


def _exponential(w: Workbench, node: Term) -> None:
    if not softmaxes.without_ones(w, node):
        elementary.exponential(w, node)


def _smallest(w: Workbench, node: Term) -> None:
    elementary.extreme(w, node)
    softmaxes.smallest(w, node)


def _trace(w: Workbench, node: Term) -> None:
    if node.args[0].op == "diag":
        w.schema("trace_diag", n=_size(w, node.args[0]), x=node.args[0].args[0])
    if node.args[0].op == "sum" and node.args[0].args[0] is rational(1):
        _, p, body = node.args[0].args
        w.schema("sum_trace", n=_size(w, node.args[0]), p=p, f=body)
    if node.args[0].op == "kron":
        a, b = node.args[0].args
        w.schema("kron_trace", n=_size(w, a), k=_size(w, b), A=a, B=b)
    rows = infer(node.args[0], w.facts.scope).rows
    if rows.value is not None and rows.value <= MAX_LITERAL:
        w.schema("trace_entries", n=size_term(rows), A=node.args[0])


def _identity(w: Workbench, node: Term) -> None:
    size = infer(node, w.facts.scope).rows.value
    if size is not None and 1 < size <= MAX_LITERAL:
        w.schema("eye_units", n=rational(size))


def _ones(w: Workbench, node: Term) -> None:
    w.schema("ones_count", n=node.args[0])


def _determinant(w: Workbench, node: Term) -> None:
    """A determinant by the form of its matrix: product, inverse, diagonal, rank-one update."""
    a = node.args[0]
    n, op, args = _size(w, a), a.op, a.args
    literals.determinant(w, a)
    rank_one.determinant(w, a)
    if op in ("add", "sub") and any(b.op == "constant" for b in postorder([a])):
        w.schema("det_conj", n=n, A=a)  # of A + i*B, that of A - i*B
    if op == "name":
        w.by_hypothesis("det", a)
    if infer(a, w.facts.scope).is_scalar:
        w.schema("det_scalar", x=a)
    elif op == "eye":
        w.schema("det_eye", n=n)
    elif op == "inv":
        w.schema("det_inverse", n=n, A=args[0])
    elif op == "kron":
        x, y = args
        w.schema("det_kron", n=w.size(x), k=_size(w, y), A=x, B=y)
    elif op == "transpose":
        w.schema("det_transpose", n=n, A=args[0])
    elif op == "adjoint":
        w.schema("det_transpose", n=n, A=term("conj", args[0]))
        w.schema("det_conj", n=n, A=args[0])
    elif op == "conj":
        w.schema("det_conj", n=n, A=args[0])
    elif op == "neg":
        w.schema("det_scale", n=n, A=args[0], c=rational(-1))
    elif op == "adj":
        w.schema("det_adj", n=n, A=args[0])
        equal = _adjugate(w, a)
        if equal is not None:
            w.congruence(equal, term("det", bound(0, term("matrix_type", n, n))))
    elif op == "pow":
        w.schema("det_power", n=n, A=args[0], p=args[1])
    elif op == "diag":
        w.schema("det_diag", n=n, x=args[0])
    elif op == "mul":
        if infer(args[0], w.facts.scope).is_scalar:
            w.schema("det_scale", n=n, A=args[1], c=args[0])
        elif (parts := square_parts(w, a)) is not None:
            w.schema("det_product", n=n, A=parts[0], B=parts[1])
    elif op == "block" and a.data == (2, 2):
        p, q, r, s = a.args
        sizes = {"n": _size(w, p), "k": _size(w, s)}
        if r.op == "zeros":
            w.schema("det_triangular", **sizes, A=p, B=q, D=s)
        elif q.op == "zeros":
            w.schema("det_triangular_lower", **sizes, A=p, C=r, D=s)
        elif not block_determinants.blocks(w, a):
            found = w.schema("det_block", **sizes, A=p, B=q, C=r, D=s)
            known = [w.find(term(prop, s)) for prop in ("invertible", "positive_definite")]
            if found is None or known != [None, None]:
                w.schema("det_block_corner", **sizes, A=p, B=q, C=r, D=s)
    elif op == "block" and regrouping.is_larger(w, a):
        regrouping.value(w, node)
    elif op in ("add", "sub"):
        for base, update in (args, args[::-1]) if op == "add" else (args,):
            for u, v in _outer(w, update, negative=op == "sub"):
                for rule in ("det_lemma", "det_rank_one"):
                    if w.schema(rule, n=n, A=base, u=u, v=v) is not None:
                        return
        for _ in determinants.updates(w, node):  # taken as they are found
            pass
        determinants.complement(w, node)
        block_determinants.characteristic(w, a)


def _adjugate(w: Workbench, node: Term) -> int | None:
    """An adjugate as what stands in place of an inverse; the place of what its form says."""
    a, n = node.args[0], w.size(node)
    for rule in ("adj_left", "adj_right"):
        w.schema(rule, n=n, A=a)
    literals.adjugate(w, a)
    found = None
    if a.op == "transpose":
        found = w.schema("adj_transpose", n=n, A=a.args[0])
    elif a.op == "neg":
        found = w.schema("adj_scale", n=n, A=a.args[0], c=rational(-1))
    elif a.op == "mul" and infer(a.args[0], w.facts.scope).is_scalar:
        found = w.schema("adj_scale", n=n, A=a.args[1], c=a.args[0])
    elif a.op == "mul" and infer(a.args[0], w.facts.scope).cols == infer(a, w.facts.scope).cols:
        found = w.schema("adj_product", n=n, A=a.args[0], B=a.args[1])
    if a.op == "inv" or w.find(term("invertible", a)) is not None:
        w.schema("adj_inverse", n=n, A=a)
    return found


def _outer(w: Workbench, update: Term, negative: bool) -> list[tuple[Term, Term]]:
    """Ways to write a term as u*v.T with vectors u and v, a scalar factor given to u."""
    scale: Term | None = rational(-1) if negative else None
    while True:
        if update.op == "neg":
            scale = rational(-1) if scale is None else term("neg", scale)
            update = update.args[0]
        elif update.op == "div":
            inverse = term("div", rational(1), update.args[1])
            scale = inverse if scale is None else term("mul", scale, inverse)
            update = update.args[0]
        elif update.op == "mul" and infer(update.args[0], w.facts.scope).is_scalar:
            scale = update.args[0] if scale is None else term("mul", scale, update.args[0])
            update = update.args[1]
        else:
            break
    if update.op != "mul" or infer(update.args[0], w.facts.scope).cols.value != 1:
        return []
    u = update.args[0] if scale is None else term("mul", scale, update.args[0])
    row = update.args[1]
    v = row.args[0] if row.op == "transpose" else term("transpose", row)
    return [(u, v)]


def _sum(w: Workbench, node: Term) -> None:
    """A sum of random terms by their moments, another by those of monomials."""
    low, high, body = node.args
    if low is not rational(1) or not gaussians.random_sum(w, high, opened(body)):
        sums.expand(w, node)


def _block(w: Workbench, node: Term) -> None:
    """The identity, cut as the blocks are."""
    if regrouping.is_larger(w, node):
        regrouping.whole(w, node)
    elif node.data == (2, 2):
        p, _, _, s = node.args
        w.schema("block_eye", n=_size(w, p), k=_size(w, s))
    elif node.data in ((2, 1), (1, 2)) and node.args[0].op in ("eye", "zeros"):
        _halves(w, node)


def _halves(w: Workbench, node: Term) -> None:
    """The identity in two blocks, where both [I; 0] and [0; I] are in sight."""
    value = w.facts.lowering.lower(node)
    words = [word for _, word in (value if node.data == (2, 1) else value.T).terms]
    inclusion = words[0][0] if len(words) == 1 and len(words[0]) == 1 else None
    if inclusion is None or inclusion.block is None:
        return
    offset, width = inclusion.block
    first = width if offset.value == 0 else offset
    second = inclusion.rows - first
    other = (first, second) if offset.value == 0 else (Size.literal(0), first)
    if any(x.block == other and x.rows == inclusion.rows for x in w.raising.letters):
        w.schema("block_eye", n=size_term(first), k=size_term(second))


SAYS = {
    "symmetric": ("symmetric_says", "A"),
    "hermitian": ("hermitian_says", "A"),
    "orthogonal": ("orthogonal_says", "Q"),
    "unitary": ("unitary_says", "Q"),
    "idempotent": ("idempotent_says", "P"),
    "diagonal": ("diagonal_says", "D"),
    "positive_semidefinite": ("semidefinite_hermitian", "A"),
}


def _properties(w: Workbench) -> None:
    """Equations that known properties stand for."""
    for fact in list(w.facts.facts):
        relation = fact.relation
        if id(relation) in w.instanced:
            continue
        w.instanced.add(id(relation))
        op, args = relation.op, relation.args
        if op == "positive_definite" and args[0].op == "block" and args[0].data == (2, 2):
            w.schema("definite_semidefinite", n=_size(w, args[0]), A=args[0])
            s, c, _, r = args[0].args
            sizes = {"n": _size(w, s), "k": _size(w, r)}
            for rule in ("definite_block_first", "definite_block_last", "definite_block_schur"):
                w.schema(rule, **sizes, S=s, C=c, R=r)
        elif op == "positive_definite":
            w.schema("definite_semidefinite", n=_size(w, args[0]), A=args[0])
        elif order.is_loewner(w, relation):
            order.says(w, relation)
        elif op == "eq":
            _vanishing(w, relation)
            _one_sided(w, relation)
        elif op == "commute":
            w.schema("commute_says", n=_size(w, args[0]), A=args[0], B=args[1])
        elif op == "positive_semidefinite" and args[0].op == "block" and args[0].data == (2, 2):
            s, c, _, r = args[0].args
            n, k = _size(w, s), _size(w, r)
            w.schema("semidefinite_block_first", n=n, k=k, S=s, C=c, R=r)
            w.schema("semidefinite_block_corner", n=n, k=k, S=s, C=c, R=r)
            w.schema("semidefinite_block_range_first", n=n, k=k, S=s, C=c, R=r)
            w.schema("semidefinite_block_range", n=n, k=k, S=s, C=c, R=r)
            if n is k:  # S + R + C + C.T and S + R - C - C.T
                for one in (term("eye", n), term("neg", term("eye", n))):
                    both = term("block", term("eye", n), one, data=(1, 2))
                    two = term("add", n, n)
                    w.schema("semidefinite_congruence", n=two, k=n, A=args[0], B=both)
        elif op in ("full_row_rank", "full_column_rank"):
            kind = infer(args[0], w.facts.scope)
            rule = (
                "full_rows_right_inverse" if op == "full_row_rank" else "full_columns_left_inverse"
            )
            if w.find(term("invertible", args[0])) is None or w.is_given(term("pinv", args[0])):
                w.schema(rule, **size_terms(kind), A=args[0])
        if op in SAYS:
            rule, letter = SAYS[op]
            w.schema(rule, n=_size(w, args[0]), **{letter: args[0]})
            if op in ("orthogonal", "unitary"):
                turned = term("transpose" if op == "orthogonal" else "adjoint", args[0])
                w.schema("one_sided", n=_size(w, args[0]), A=turned, B=args[0])


VANISHING = {"tr": "trace_zero", "norm2": "norm_zero", "rank": "zero_rank"}


def _vanishing(w: Workbench, relation: Term) -> None:
    """What is zero because its squared norm, trace or rank is."""
    for side, other in (relation.args, relation.args[::-1]):
        if side.op not in VANISHING or w.facts.lowering.lower(other).terms:
            continue
        a, rule = side.args[0], VANISHING[side.op]
        kind = infer(a, w.facts.scope)
        sizes = size_terms(kind)
        if side.op == "tr":
            del sizes["k"]
        if w.schema(rule, **sizes, A=a) is None and w.find(term("idempotent", a)) is not None:
            equation = w.schema("rank_projection", n=sizes["n"], P=a)  # its rank is its trace
            if equation is not None:
                zero = term("eq", term("rank", a), ZERO)
                rows = [[None, p, None, ""] for p in (equation, w.find(relation))]
                w.take({"rule": "combine", "goal": w.place(zero), "terms": rows})
                w.schema("zero_rank", **size_terms(kind), A=a)


def _one_sided(w: Workbench, relation: Term) -> None:
    """B*A = eye(n), where A*B = eye(n) for square matrices."""
    for side, other in (relation.args, relation.args[::-1]):
        if side.op == "mul" and other.op == "eye":
            kinds = [infer(a, w.facts.scope) for a in side.args]
            if all(k.rows == k.cols and not k.is_scalar for k in kinds):
                w.schema("one_sided", n=_size(w, side), A=side.args[0], B=side.args[1])


def _reciprocals(w: Workbench, terms: list[Term]) -> None:
    """x*(1/x) = 1 for each reciprocal in sight. One that only an attempt has brought up, a way to
    factor that is of no use here, can be hard to refuse: x must be known not to be zero then."""
    in_sight: dict[Atom, None] | None = None
    for a, node in list(w.raising.atoms.items()):
        key = ("reciprocal", id(node))
        if key in w.instanced or not a.key.startswith("1/(") or node.op not in ("div", "inv"):
            continue
        x = node.args[-1]
        if w.find(term("ne", x, ZERO)) is None:
            in_sight = _scalars_of(w, terms) if in_sight is None else in_sight
            if a not in in_sight:
                continue
        if w.schema("reciprocal", x=x) is not None:
            w.instanced.add(key)


def _scalars_of(w: Workbench, terms: list[Term]) -> dict[Atom, None]:
    """The scalars that the values of these terms have, as far as they have values."""
    found: dict[Atom, None] = {}
    for node in terms:
        try:
            if node.free == 0 and infer(node, w.facts.scope).kind is Kind.MATRIX:
                found |= {a: None for m, _ in w.facts.lowering.lower(node).terms for a, _ in m}
        except (TooLarge, StatementError):
            continue
    return found


INSTANCES: dict[str, Callable[[Workbench, Term], object]] = {
    "kron": products.kronecker,
    "vec": products.vectorized,
    "hadamard": entrywise.hadamard,
    "transpose": entrywise.transposed,
    "adjoint": entrywise.transposed,
    "inv": _inverse,
    "div": _quotient,
    "pow": _power,
    "pinv": _pseudo_inverse,
    "exp": _exponential,
    "sin": angles.sine_and_cosine,
    "cos": angles.sine_and_cosine,
    "tanh": elementary.hyperbolic_tangent,
    "erf": elementary.error_function,
    "abs": elementary.modulus,
    "max": elementary.extreme,
    "min": _smallest,
    "logsumexp": softmaxes.log_sum,
    "constant": elementary.constant,
    "log": logarithms.expand,
    "lambertw": elementary.lambert,
    "sqrt": elementary.root,
    "logpdf": _density,
    "logpdf_on_support": _density_on_support,
    "deriv": _derivative,
    "grad": _gradient,
    "tr": _trace,
    "eye": _identity,
    "block": _block,
    "expect": gaussians.expectation,
    "cov": gaussians.expectation,
    "expect_given": gaussians.condition,
    "cov_given": gaussians.condition,
    "entry": _entry,
    "diag": entrywise.diagonal,
    "ones": _ones,
    "det": _determinant,
    "adj": _adjugate,
    "rank": ranks.gather,
    "sum": _sum,
    "prod": sums.expand_product,
}
