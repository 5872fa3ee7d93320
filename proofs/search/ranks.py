"""Untrusted. Ranks: full rank by a one-sided inverse, and what a rank is by the matrix's form."""

from __future__ import annotations

from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import equations, regrouping
from proofs.search.raising import factors_of, product_of, size_term
from proofs.search.workbench import Workbench

MAX_FACTORS = 4
POWERS = ("2", "3", "4")  # that are looked at as products
# Where an inverse can come from, in a hypothesis and in a term.
UNITS = frozenset(
    {
        "invertible",
        "positive_definite",
        "full_row_rank",
        "full_column_rank",
        "orthogonal",
        "unitary",
        "ne",
        "gt",
        "lt",
        "forall",
    }
)
IDENTITIES = frozenset({"eye", "inv", "diag", "det", "unit", "entry", "block"})

# ---------------------------------------------------------------- full rank


def full(w: Workbench, relation: Term) -> int | None:
    """full_row_rank(a) or full_column_rank(a), by an inverse from that side or by the rank."""
    a = relation.args[0]
    rows = relation.op == "full_row_rank"
    sizes = w.sizes(a)
    candidate = one_sided_inverse(w, a, rows)
    candidate = _isometric(w, a, rows) if candidate is None else candidate
    candidate = _by_gram(w, a, rows) if candidate is None else candidate
    if candidate is not None:
        rule = "full_rows_shown" if rows else "full_columns_shown"
        found = w.schema(rule, **sizes, A=a, X=candidate)
        if found is not None:
            return found
    if a.op == "pinv":
        turned = {"n": sizes["k"], "k": sizes["n"]}
        rule = "full_columns_pinv" if rows else "full_rows_pinv"
        found = w.schema(rule, **turned, A=a.args[0])
        if found is not None:
            return found
    size = sizes["n"] if rows else sizes["k"]
    if w.find(term("eq", term("rank", a), size)) is not None:
        return w.schema("full_rows_rank" if rows else "full_columns_rank", **sizes, A=a)
    return None


def _isometric(w: Workbench, a: Term, right: bool) -> Term | None:
    """The adjoint of a, where its product with a is plainly the identity."""
    turned = term("adjoint", a)
    gram = term("mul", a, turned) if right else term("mul", turned, a)
    size = w.sizes(a)["n" if right else "k"]
    return turned if w.find(term("eq", gram, term("eye", size))) is not None else None


def _by_gram(w: Workbench, a: Term, right: bool) -> Term | None:
    """inv(a.T*a)*a.T or a.T*inv(a*a.T), where a hypothesis makes that Gram matrix invertible."""
    said = {n for h in w.statement.hypotheses for n in postorder([h]) if n.op == "mul"}
    for op in ("transpose", "adjoint"):
        turned = term(op, a)
        gram = term("mul", a, turned) if right else term("mul", turned, a)
        if gram in said and w.attempt(term("invertible", gram)) is not None:
            inverse = term("inv", gram)
            return term("mul", turned, inverse) if right else term("mul", inverse, turned)
    return None


def one_sided_inverse(w: Workbench, a: Term, right: bool) -> Term | None:
    """A matrix that should be a right (or left) inverse of a, by the form of a."""
    op, args = a.op, a.args
    if w.find(term("full_row_rank" if right else "full_column_rank", a)) is not None:
        return term("pinv", a)
    if op == "eye":
        return a
    kind = infer(a, w.facts.scope)
    square = kind.rows == kind.cols and not kind.is_scalar
    if square and _may_be_unit(w, a) and w.attempt(term("invertible", a)) is not None:
        return term("inv", a)
    if op in ("transpose", "adjoint"):
        inside = one_sided_inverse(w, args[0], not right)
        return None if inside is None else term(op, inside)
    if op == "neg":
        inside = one_sided_inverse(w, args[0], right)
        return None if inside is None else term("neg", inside)
    if op in ("mul", "div", "kron"):
        return _of_product(w, a, right)
    if op == "block":
        return _of_block(w, a, right)
    return _in_a_unit(w, a, right)


def _may_be_unit(w: Workbench, a: Term) -> bool:
    """Whether an inverse has anything to come from: a hypothesis, or an identity inside of a."""
    if w.find(term("invertible", a)) is not None:
        return True
    if any(n.op in IDENTITIES for n in postorder([a])):
        return True
    return any(
        h.op in UNITS or (h.op == "eq" and any(n.op in IDENTITIES for n in postorder([h])))
        for h in w.statement.hypotheses
    )


def _of_product(w: Workbench, a: Term, right: bool) -> Term | None:
    x, y = a.args
    if a.op == "kron":
        parts = [one_sided_inverse(w, b, right) for b in (x, y)]
        return None if None in parts else term("kron", *[p for p in parts if p is not None])
    if a.op == "div":
        inside = one_sided_inverse(w, x, right)
        return None if inside is None else term("mul", y, inside)
    if infer(x, w.facts.scope).is_scalar:
        inside = one_sided_inverse(w, y, right)
        return None if inside is None else term("div", inside, x)
    one, two = (one_sided_inverse(w, b, right) for b in (x, y))
    if one is None or two is None:
        return _in_a_unit(w, a, right)
    return term("mul", two, one)


def _of_block(w: Workbench, a: Term, right: bool) -> Term | None:
    """[A, B] has a right inverse where A or B has, and a column of blocks a left one."""
    if a.data != ((1, 2) if right else (2, 1)):
        return None
    for place, part in enumerate(a.args):
        inside = one_sided_inverse(w, part, right)
        if inside is None:
            continue
        kinds = [infer(b, w.facts.scope) for b in a.args]
        parts = [
            inside
            if i == place
            else term(
                "zeros",
                *((size_term(k.cols), size_term(k.rows))),
            )
            for i, k in enumerate(kinds)
        ]
        return term("block", *parts, data=(2, 1) if right else (1, 2))
    return None


def _in_a_unit(w: Workbench, a: Term, right: bool) -> Term | None:
    """From a product that is invertible and begins (or ends) with a."""
    for fact in w.facts.facts:
        whole = fact.relation.args[0]
        if fact.relation.op != "invertible" or whole.op != "mul":
            continue
        factors = factors_of(whole)
        if right and factors[0] is a:
            return product_of([*factors[1:], term("inv", whole)])
        if not right and factors[-1] is a:
            return product_of([term("inv", whole), *factors[:-1]])
    return None


# ---------------------------------------------------------------- ranks


def gather(w: Workbench, node: Term) -> None:
    """What the rank of a matrix is equal to, by its form and by what is known of it."""
    a = node.args[0]
    op, args = a.op, a.args
    sizes = w.sizes(a)
    if op == "name":
        w.by_hypothesis("rank", a)
    if op in ("transpose", "adjoint", "pinv"):
        b = args[0]
        rule = {"transpose": "rank_transpose", "adjoint": "rank_adjoint", "pinv": "rank_pinv"}[op]
        w.schema(rule, **w.sizes(b), A=b)
    elif op == "zeros":
        w.schema("rank_zero", **sizes)
    elif op == "kron":
        x, y = (w.sizes(b) for b in args)
        w.schema("rank_kron", n=x["n"], k=x["k"], m=y["n"], p=y["k"], A=args[0], B=args[1])
    elif op == "block" and a.data == (2, 2):
        if _block(w, a) is not None and args[1].op == args[2].op == "zeros":
            return
    elif regrouping.is_larger(w, a) and regrouping.value(w, node) is not None:
        return
    elif op == "neg":
        w.schema("rank_scale", **sizes, A=args[0], c=rational(-1))
    elif op == "div":
        w.schema("rank_scale", **sizes, A=args[0], c=term("div", rational(1), args[1]))
    elif op == "mul" and infer(args[0], w.facts.scope).is_scalar:
        w.schema("rank_scale", **sizes, A=args[1], c=args[0])
    elif op == "mul":
        _product(w, a)
    elif op == "pow" and str(args[1].data) in POWERS:
        _product(w, product_of([args[0]] * int(str(args[1].data))))
    inverse = term("pinv", a)
    if w.is_given(inverse):
        w.schema("rank_inner_inverse", **sizes, A=a, X=inverse)
        w.schema("rank_projection", n=sizes["n"], P=term("mul", a, inverse))
    rows, columns = (term(f"full_{side}_rank", a) for side in ("row", "column"))
    if w.attempt(rows) is not None:
        w.schema("rank_full_rows", **sizes, A=a)
    elif w.attempt(columns) is not None:
        w.schema("rank_full_columns", **sizes, A=a)
    elif sizes["n"] is sizes["k"] and equations.plainly(w, term("eq", term("mul", a, a), a), 20):
        w.schema("rank_projection", n=sizes["n"], P=a)


def _product(w: Workbench, a: Term) -> None:
    """The rank of a product, one factor taken off from either end."""
    lower = w.facts.lowering.lower
    factors = factors_of(a)
    for i in range(1, len(factors)):
        x, y = product_of(factors[:i]), product_of(factors[i:])
        if infer(x, w.facts.scope).is_scalar:
            continue
        n, k, m = w.sizes(x)["n"], w.sizes(x)["k"], w.sizes(y)["k"]
        if lower(x) == lower(term("adjoint", y)):
            w.schema("rank_gram", n=k, k=n, A=y)
        elif n is k is m and x is y and equations.plainly(w, term("eq", term("adjoint", x), x)):
            w.schema("rank_gram", n=n, k=n, A=x)
            equations.simplify_argument(w, term("rank", term("mul", term("adjoint", x), x)))
        w.schema("rank_columns_first", n=n, k=k, m=m, A=x, B=y)
        if n is m:  # one factor is a generalized inverse of the other
            if equations.plainly(w, term("eq", product_of([x, y, x]), x)):
                w.schema("rank_inner_inverse", n=n, k=k, A=x, X=y)
            if equations.plainly(w, term("eq", product_of([y, x, y]), y)):
                w.schema("rank_inner_inverse_left", n=k, k=n, A=y, X=x)
        w.schema("rank_rows_last", n=n, k=k, m=m, A=x, B=y)


def _block(w: Workbench, a: Term) -> int | None:
    p, q, r, s = a.args
    x, y = w.sizes(p), w.sizes(s)
    if q.op == r.op == "zeros":
        return w.schema("rank_diagonal_blocks", n=x["n"], k=x["k"], m=y["n"], p=y["k"], A=p, B=s)
    if x["n"] is x["k"]:
        return w.schema("rank_block", n=x["n"], k=y["k"], m=y["n"], A=p, B=q, C=r, D=s)
    return None


def bounds(w: Workbench, matrices: list[Term]) -> None:
    """Inequalities for the ranks of matrices: of sums, products, blocks and by the shape."""
    for a in matrices:
        op, args = a.op, a.args
        sizes = w.sizes(a)
        for rule in ("rank_rows", "rank_columns", "rank_nonnegative", "rank_positive"):
            w.schema(rule, **sizes, A=a)
        if op in ("add", "sub"):
            second = args[1] if op == "add" else term("neg", args[1])
            w.schema("rank_sum", **sizes, A=args[0], B=second)
            if op == "sub":
                gather(w, term("rank", second))
        elif op == "mul" and not infer(args[0], w.facts.scope).is_scalar:
            _product_bounds(w, a)
        elif op == "pow" and str(args[1].data) in POWERS:
            _product_bounds(w, product_of([args[0]] * int(str(args[1].data))))
        elif op == "block":
            _block_bounds(w, a)
    _differences(w, matrices)


def _block_bounds(w: Workbench, a: Term) -> None:
    """A row or column of two blocks has at least the rank of each, and at most that of both."""
    if a.data not in ((1, 2), (2, 1)):
        return
    row = a.data == (1, 2)
    parts = []
    for i, b in enumerate(a.args):
        sides = [w.sizes(x)["k" if row else "n"] for x in a.args]
        own = sides[i]
        pieces = [term("eye", s) if i == j else term("zeros", s, own) for j, s in enumerate(sides)]
        select = term("block", *pieces, data=(2, 1))
        turned = term("transpose", select)
        if row:
            w.schema("rank_product_first", **w.sizes(a), m=own, A=a, B=select)
            w.schema("rank_product_first", **w.sizes(b), m=w.sizes(a)["k"], A=b, B=turned)
            parts.append(term("mul", b, turned))
        else:
            w.schema(
                "rank_product_last", n=own, k=w.sizes(a)["n"], m=w.sizes(a)["k"], A=turned, B=a
            )
            sizes = {"n": w.sizes(a)["n"], "k": own, "m": w.sizes(b)["k"]}
            w.schema("rank_product_last", **sizes, A=select, B=b)
            parts.append(term("mul", select, b))
    w.schema("rank_sum", **w.sizes(a), A=parts[0], B=parts[1])


def _product_bounds(w: Workbench, a: Term) -> None:
    """Bounds for the rank of a product, and for those of its parts."""
    factors = factors_of(a)
    kinds = [w.sizes(f) for f in factors]
    for i in range(1, len(factors)):
        x, y = product_of(factors[:i]), product_of(factors[i:])
        if infer(x, w.facts.scope).is_scalar:
            continue
        sizes = {"n": kinds[0]["n"], "k": kinds[i]["n"], "m": kinds[-1]["k"]}
        for rule in ("rank_product_first", "rank_product_last", "rank_sylvester"):
            w.schema(rule, **sizes, A=x, B=y)
        w.schema("rank_columns", n=sizes["n"], k=sizes["k"], A=x)
        for part in (x, y):
            if part.op == "mul" and len(factors) <= MAX_FACTORS:
                _product_bounds(w, part)
    if len(factors) == 3:
        outer = {"n": kinds[0]["n"], "k": kinds[1]["n"], "m": kinds[1]["k"], "p": kinds[2]["k"]}
        w.schema("rank_frobenius", **outer, A=factors[0], B=factors[1], C=factors[2])


def _differences(w: Workbench, matrices: list[Term]) -> None:
    """rank(A) <= rank(A - B) + rank(B), for A, B and A - B or A + B in sight."""
    lower = w.facts.lowering.lower
    values = [lower(a) for a in matrices]
    for i, x in enumerate(values):
        for j, y in enumerate(values):
            for k, z in enumerate(values):
                if i == j or (y.rows, y.cols) != (z.rows, z.cols) or x != y + z:
                    continue
                w.schema("rank_sum", **w.sizes(matrices[i]), A=matrices[j], B=matrices[k])
            for k, z in enumerate(values):
                if i == j or (y.rows, y.cols) != (z.rows, z.cols) or x != y - z:
                    continue
                second = term("neg", matrices[k])
                w.schema("rank_sum", **w.sizes(matrices[i]), A=matrices[j], B=second)
                w.schema("rank_scale", **w.sizes(matrices[k]), A=matrices[k], c=rational(-1))
