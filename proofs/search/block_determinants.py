"""Untrusted. Determinants of two by two blocks without an inverse: a border, blocks that commute, a
corner that shears clear away; and the characteristic polynomials of A*B and B*A, by such blocks."""

from __future__ import annotations

from proofs.checker.algebra import ONE
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer
from proofs.language.tree import Term, postorder, rational, term
from proofs.search import equations
from proofs.search.determinants import matrix_factors, rank
from proofs.search.raising import product_of, size_term
from proofs.search.units import splits
from proofs.search.workbench import Workbench


def blocks(w: Workbench, a: Term) -> bool:
    """Whether the determinant of two by two blocks is now known by what needs no inverse: a row
    and a column at the border, blocks that commute, or a corner that can be cleared."""
    p, q, r, s = a.args
    n, k = infer(p, w.facts.scope).rows, infer(s, w.facts.scope).rows
    if k == ONE and n != ONE and w.find(term("invertible", p)) is None:
        return (
            w.schema("det_bordered", n=w.size(p), A=p, b=q, c=term("transpose", r), d=s) is not None
        )
    if n != k or n == ONE:
        return False
    return _commuting(w, a) or _sheared(w, a)


# ---------------------------------------------------------------- blocks that commute


def _commuting(w: Workbench, a: Term) -> bool:
    """det(a) where the blocks of a row or of a column commute: the rule speaks of the last row,
    and the others become that by a transposition, an exchange of both rows and columns, or both."""
    p, q, r, s = a.args
    found = False
    for x, y, steps in (
        (r, s, ()),
        (p, q, (_exchanged,)),
        (q, s, (_transposed,)),
        (p, r, (_transposed, _exchanged)),
    ):
        lower = w.facts.lowering.lower
        by_form = lower(term("mul", x, y)) == lower(term("mul", y, x))
        if not by_form and not _known_to_commute(w, x, y):
            continue
        turned: Term | None = a
        for step in steps:
            turned = None if turned is None else step(w, turned)
        if turned is not None and _last_row(w, turned) is not None:
            w.instanced.add(id(term("det", turned)))
            found = True
        if by_form:  # the others often do so as well, and say no more
            break
    return found


def _known_to_commute(w: Workbench, x: Term, y: Term) -> bool:
    """Whether two blocks commute by what is known of their names."""
    names = {n for b in (x, y) for n in postorder([b]) if n.op == "name"}
    said = [f.relation for f in w.facts.facts if f.relation.op == "commute"]
    said += [h for h in w.statement.hypotheses if h.op == "eq"]
    if all(len(names.intersection(postorder([h]))) < 2 for h in said):
        return False
    return w.attempt(term("commute", x, y)) is not None


def _last_row(w: Workbench, a: Term) -> int | None:
    """det(a) = det(A*D - B*C); where the blocks are transposed, by the transpose of that."""
    p, q, r, s = a.args
    place = w.schema("det_block_commuting", n=w.size(p), A=p, B=q, C=r, D=s)
    if place is not None and all(b.op == "transpose" for b in a.args):
        p, q, r, s = (b.args[0] for b in a.args)
        whole = term("sub", term("mul", s, p), term("mul", r, q))
        w.schema("det_transpose", n=w.size(p), A=whole)
    return place


def _transposed(w: Workbench, a: Term) -> Term | None:
    """The blocks of a.T, once its determinant is known to be that of a."""
    p, q, r, s = (term("transpose", b) for b in a.args)
    place = w.schema("det_transpose", n=w.size(a), A=a)
    return None if place is None else term("block", p, r, q, s, data=(2, 2))


def _exchanged(w: Workbench, a: Term) -> Term | None:
    """The blocks of P*a*P, where P exchanges them and P*P = I, once det(P*a*P) = det(a)."""
    p, q, r, s = a.args
    n, size = w.size(p), w.size(a)
    one, zero = term("eye", n), term("zeros", n, n)
    swap = term("block", zero, one, one, zero, data=(2, 2))
    right = term("mul", a, swap)
    w.schema("det_eye", n=n)
    w.schema("det_product", n=size, A=swap, B=swap)
    w.schema("det_triangular", n=n, k=n, A=one, B=zero, D=one)  # P*P
    w.schema("det_product", n=size, A=a, B=swap)
    if w.schema("det_product", n=size, A=swap, B=right) is None:
        return None
    return term("block", s, r, q, p, data=(2, 2))


# ---------------------------------------------------------------- shears


def _sheared(w: Workbench, a: Term) -> bool:
    """det(a) by [I, c*I; 0, I]*a*[I, -c*I; 0, I], where that has a corner of zeros."""
    p, q, r, s = a.args
    n = w.size(p)
    one, zero = term("eye", n), term("zeros", n, n)
    i = term("constant", data="i")
    for c in (rational(1), rational(-1), i, term("neg", i)):
        multiple = term("mul", c, r)
        top, bottom = term("add", p, multiple), term("sub", s, multiple)
        corner = term("add", q, term("mul", c, term("sub", bottom, p)))
        if w.facts.lowering.lower(corner).terms:
            continue
        scaled = term("mul", c, one)
        left = term("block", one, scaled, zero, one, data=(2, 2))
        right = term("block", one, term("neg", scaled), zero, one, data=(2, 2))
        size, product = w.size(a), term("mul", a, right)
        sizes = {"n": n, "k": n}
        w.schema("det_eye", n=n)
        w.schema("det_triangular", **sizes, A=one, B=scaled, D=one)
        w.schema("det_triangular", **sizes, A=one, B=term("neg", scaled), D=one)
        w.schema("det_product", n=size, A=a, B=right)
        w.schema("det_product", n=size, A=left, B=product)
        if c.op in ("constant", "neg") and not infer(a, w.facts.scope).is_complex:
            w.schema("det_conj", n=n, A=top)  # the two factors are conjugates
        return w.schema("det_triangular_lower", **sizes, A=top, C=r, D=bottom) is not None
    return False


def sign(w: Workbench, node: Term) -> int | None:
    """The sign of det([A, -B; B, A]) = abs(det(A + i*B))^2, for real blocks."""
    a = node.args[0]
    if a.op != "block" or a.data != (2, 2) or infer(a, w.facts.scope).is_complex:
        return None
    if w.size(a.args[0]) is not w.size(a.args[3]) or not blocks(w, a):
        return None
    x = term("det", term("add", a.args[0], term("mul", term("constant", data="i"), a.args[2])))
    goal = term("eq", node, term("pow", term("abs", x), rational(2)))
    place = w.attempt(goal)
    if place is None:
        return None
    strict = w.schema("abs_positive", x=x)
    above = w.schema("abs_nonnegative", x=x) if strict is None else strict
    rows = [[None, w.sided(goal, place), None, ""]]
    relation = term("ge" if strict is None else "gt", node, ZERO)
    return w.positive(relation, [["1", [above, above], None]], rows)


def invertible(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a) for two by two blocks whose determinant is another one, not zero."""
    if a.op != "block" or a.data != (2, 2) or w.size(a.args[0]) is not w.size(a.args[3]):
        return None
    d = term("det", a)
    if sign(w, d) is not None and w.find(term("ne", d, ZERO)) is not None:
        return w.schema("unit_det", n=n, A=a)
    if not blocks(w, a):
        return None
    rest, used = equations.known(w, [term("eq", d, d)]).reduce(w.facts.lowering.lower(d))
    value = w.raising.poly(rest)
    if not used or w.attempt(term("ne", value, ZERO)) is None:
        return None
    if equations.plainly_combined(w, term("eq", value, d)) is None:
        return None
    w.schema("nonzero_equal", x=value, y=d)
    return w.schema("unit_det", n=n, A=a)


# ---------------------------------------------------------------- characteristic polynomials


def characteristic(w: Workbench, a: Term) -> bool:
    """Whether det(a) is now known by the determinant of the smallest rotation, where a is z*I + A*B
    and nothing is known of z: z^k*det(z*I + A*B) = z^n*det(z*I + B*A), or as the sizes allow."""
    for base, rest in splits(w, a):
        if base.op == "neg" and _multiple(base.args[0]) is not None:  # A*B - z*I
            opposite = term("sub", base.args[0], rest)
            w.schema("det_scale", n=w.size(a), A=opposite, c=rational(-1))
            base, rest = base.args[0], term("neg", rest)
        z = _multiple(base)
        if z is None or w.attempt(term("invertible", base)) is not None:
            continue
        factors = matrix_factors(w, rest)
        at = min(range(len(factors)), key=lambda i: rank(w, factors[i:] + factors[:i]))
        if at:
            _exchange(w, z, product_of(factors[:at]), product_of(factors[at:]))
        return bool(at)
    return False


def _multiple(base: Term) -> Term | None:
    """z, where base is z*I."""
    return base.args[0] if base.op == "mul" and base.args[1].op == "eye" else None


def _exchange(w: Workbench, z: Term, first: Term, last: Term) -> None:
    """det(z*I + A*B) by det(z*I + B*A), for A with n rows and B with k rows."""
    kind = infer(first, w.facts.scope)
    n, k = size_term(kind.rows), size_term(kind.cols)
    if n is k:
        w.schema("det_exchange", n=n, A=first, B=last, z=z)
    elif (kind.rows - kind.cols).is_positive:
        more = size_term(kind.rows - kind.cols)
        w.schema("det_exchange_larger", n=k, k=more, A=first, B=last, z=z)
    elif (kind.cols - kind.rows).is_positive:
        more = size_term(kind.cols - kind.rows)
        w.schema("det_exchange_larger", n=n, k=more, A=last, B=first, z=z)
    else:
        _by_two_shears(w, z, first, last)


def _by_two_shears(w: Workbench, z: Term, first: Term, last: Term) -> None:
    """z^k*det(z*I + A*B) = z^n*det(z*I + B*A): both are z^k*det([z*I, A; -B, I]), by a shear from
    the right and by the same from the left."""
    n, k = w.size(first), w.size(last)
    one, two = term("eye", n), term("eye", k)
    base, corner = term("mul", z, one), term("mul", z, two)
    whole = term("block", base, first, term("neg", last), two, data=(2, 2))
    shear = term("block", one, term("zeros", n, k), last, corner, data=(2, 2))
    size, sizes = w.size(whole), {"n": n, "k": k}
    for m in (one, two):
        w.schema("det_eye", n=m.args[0])
        w.schema("det_scale", n=m.args[0], A=m, c=z)
    w.schema("det_triangular_lower", **sizes, A=one, C=last, D=corner)
    w.schema("det_product", n=size, A=whole, B=shear)
    w.schema("det_product", n=size, A=shear, B=whole)
    left = term("add", base, term("mul", first, last))
    right = term("add", corner, term("mul", last, first))
    w.schema("det_triangular", **sizes, A=left, B=term("mul", z, first), D=corner)
    w.schema("det_triangular", **sizes, A=base, B=first, D=right)
