"""Untrusted. That a matrix is invertible: by its form, by a known unit, by what it is equal to."""

from __future__ import annotations

from collections.abc import Callable

from proofs.checker.algebra import Letter, Poly, Word, of_letter
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer
from proofs.language.tree import Term, term
from proofs.search import block_determinants, equations, literals, nonzero, rank_one, regrouping
from proofs.search.raising import factors_of, product_of
from proofs.search.units import cleared, pushed_through, square_parts
from proofs.search.workbench import Workbench

Method = Callable[[Workbench, Term, Term], int | None]
HERMITIAN = ("symmetric", "hermitian", "positive_definite", "positive_semidefinite")
HERMITIAN_STEPS = 20  # of completion
# Of these the form says at once whether there is an inverse, where it says anything.
STRUCTURAL = frozenset({"mul", "div", "neg", "transpose", "adjoint", "inv", "kron", "diag"})


def invertible(w: Workbench, a: Term) -> int | None:
    if infer(a, w.facts.scope).is_scalar:
        if w.attempt(term("ne", a, ZERO)) is None:
            return None
        return w.schema("nonzero_unit", x=a)
    n = w.size(a)
    if a.op in ("add", "sub"):
        value = w.facts.lowering.lower(a)
        if len(value.terms) == 1:  # 0 - C*inv(A)*B, say
            a = w.raising.poly(value)
    found = None
    if w.find(term("positive_definite", a)) is not None:
        found = _definite(w, a, n)
    found = literals.invertible(w, a) if found is None else found
    d = term("det", a)
    if found is None:
        known = w.find(term("ne", d, ZERO))
        known = nonzero.factor_of_nonzero(w, d) if known is None else known
        found = None if known is None else w.schema("unit_det", n=n, A=a)
    if found is not None:
        return found
    for method in _methods(w, a):
        found = method(w, a, n)
        if found is not None:
            return found
    return None


def _methods(w: Workbench, a: Term) -> tuple[Method, ...]:
    """The ways to try, in order."""
    if a.op in ("add", "sub") and not _may_be_hermitian(w, w.facts.lowering.lower(a)):
        return (_invertible_by_form, *BY_WHAT_IS_KNOWN, _definite, *LAST)
    first = (_definite, _invertible_by_form)
    return (*(first[::-1] if a.op in STRUCTURAL else first), *BY_WHAT_IS_KNOWN, *LAST)


def _may_be_hermitian(w: Workbench, value: Poly) -> bool:
    """Whether a sum has the words of its adjoint, where letters that may be Hermitian are."""

    def plain(x: Letter) -> Letter:
        base = x.T if x.transposed else x
        base = base.conj if base.conjugated else base
        return base if _is_hermitian_letter(w, base) else x

    def words(of: Poly) -> set[Word]:
        return {tuple(map(plain, word)) for _, word in of.terms}

    return words(value) == words(value.T.conj)


def _is_hermitian_letter(w: Workbench, x: Letter) -> bool:
    node = w.raising.letters.get(x)
    if node is None or x.rows is not x.cols:
        return False
    if any(w.find(term(prop, node)) is not None for prop in HERMITIAN):
        return True
    if node.op in ("inv", "pinv"):
        return _may_be_hermitian(w, w.facts.lowering.lower(node.args[0]))
    difference = of_letter(x) - of_letter(x.T.conj)
    return not equations.plain_ideal(w).reduce(difference)[0].terms


def _definite(w: Workbench, a: Term, n: Term) -> int | None:
    return w.schema("definite_unit", n=n, A=a)


def _hermitian_part(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a) by its Hermitian part, where that is not a itself."""
    if a.op not in ("name", "add", "sub"):
        return None
    if equations.plainly(w, term("eq", term("adjoint", a), a), HERMITIAN_STEPS):
        return None
    return w.schema("hermitian_part_unit", n=n, A=a)


def _known_determinant(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a), where it is known that det(a) is not zero."""
    d = term("det", a)
    if w.find(term("ne", d, ZERO)) is None:
        if w.find(term("gt", term("mul", d, d), ZERO)) is None:
            return None
        w.schema("factor_nonzero", x=d, y=d)
    return w.schema("unit_det", n=n, A=a)


def _known_full_rank(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a), where a or its transpose is known to have full rank."""
    for prop, rule in (
        ("full_row_rank", "full_rows_unit"),
        ("full_column_rank", "full_columns_unit"),
    ):
        if w.find(term(prop, a)) is not None:
            return w.schema(rule, n=n, A=a)
    return None


def _factor_of_unit(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a), where a product of square matrices that begins or ends with a is."""
    for fact in list(w.facts.facts):
        product = fact.relation.args[0]
        if fact.relation.op != "invertible" or product.op != "mul":
            continue
        factors = factors_of(product)
        first, rest = factors[0], factors[1:]
        last, front = factors[-1], factors[:-1]
        if first is a:
            return w.schema("unit_factor", n=n, A=a, B=product_of(rest))
        if last is a:
            return w.schema("unit_factor_right", n=n, A=product_of(front), B=a)
    return None


def _factor_of_equal(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a), where a product that begins or ends with a is equal to a unit."""
    lower = w.facts.lowering.lower
    for fact in list(w.facts.facts):
        if fact.relation.op != "eq":
            continue
        for product, other in (fact.relation.args, fact.relation.args[::-1]):
            factors = factors_of(product)
            if len(factors) < 2 or a not in (factors[0], factors[-1]):
                continue
            if lower(other) == lower(product).T.conj:  # that it is Hermitian says no more
                continue
            rest = product_of(factors[1:] if factors[0] is a else factors[:-1])
            if infer(rest, w.facts.scope).is_scalar or w.size(rest) is not n:
                continue
            if w.schema("unit_equal", n=n, A=other, B=product) is None:
                continue
            if factors[0] is a:
                return w.schema("unit_factor", n=n, A=a, B=rest)
            return w.schema("unit_factor_right", n=n, A=rest, B=a)
    return None


def _schur_of_unit(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a), where a is the Schur complement of a corner of a known unit."""
    if a.op not in ("add", "sub"):
        return None
    value = w.facts.lowering.lower(a)
    for fact in list(w.facts.facts):
        whole = fact.relation.args[0]
        if fact.relation.op != "invertible" or whole.op != "block" or whole.data != (2, 2):
            continue
        p, q, r, s = whole.args
        if infer(p, w.facts.scope).rows != infer(p, w.facts.scope).cols:
            continue
        for rule, kept, left, corner, right in (
            ("unit_schur", s, r, p, q),
            ("unit_schur_corner", p, q, s, r),
        ):
            node = term("sub", kept, product_of([left, term("inv", corner), right]))
            if w.facts.lowering.lower(node) == value:
                return w.schema(rule, n=w.size(p), k=w.size(s), A=p, B=q, C=r, D=s)
    return None


def _inverse_in_goal(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a), where the goal itself says what its inverse is."""
    goal = w.statement.goal
    if goal.op != "eq":
        return None
    for side, other in (goal.args, goal.args[::-1]):
        if side.op == "inv" and side.args[0] is a:
            found = w.schema("one_sided_unit", n=n, A=a, B=other)
            if found is not None:
                return found
    return None


def _invertible_simplified(w: Workbench, a: Term, n: Term) -> int | None:
    """invertible(a) from what a is equal to by the known equations."""
    ideal = equations.known(w, [term("eq", a, a)])
    rest, used = ideal.reduce(w.facts.lowering.lower(a))
    if not used:
        return None
    simpler = w.raising.poly(rest)
    if w.combine(term("eq", simpler, a), ideal, equations.negated(used)) is None:
        return None
    return w.schema("unit_equal", n=n, A=simpler, B=a)


def _invertible_by_form(w: Workbench, a: Term, n: Term) -> int | None:
    op, args = a.op, a.args
    if op == "mul":
        if infer(args[0], w.facts.scope).is_scalar:
            return w.schema("unit_scale", n=n, A=args[1], c=args[0])
        parts = square_parts(w, a)
        if parts is not None:
            return w.schema("unit_product", n=n, A=parts[0], B=parts[1])
    if op == "div":
        return w.schema(
            "unit_scale", n=n, A=args[0], c=term("div", term("rational", data="1"), args[1])
        )
    if op == "neg":
        return w.schema("unit_scale", n=n, A=args[0], c=term("rational", data="-1"))
    if op == "transpose":
        return w.schema("unit_transpose", n=n, A=args[0])
    if op == "adjoint":
        return w.schema("unit_adjoint", n=n, A=args[0])
    if op == "inv":
        return w.schema("unit_inverse", n=n, A=args[0])
    if op == "block" and a.data == (2, 2):
        return _block_unit(w, a)
    if regrouping.is_larger(w, a):
        return regrouping.transferred(w, a, "invertible", "unit_equal")
    if op == "name":
        return _isometry(w, a, n)
    if op == "kron":
        x, y = args
        return w.schema("unit_kron", n=w.size(x), k=w.size(y), A=x, B=y)
    if op == "diag":
        return w.schema("unit_diag", n=n, x=args[0])
    if op in ("add", "sub"):
        return pushed_through(w, a)
    return None


def _block_unit(w: Workbench, a: Term) -> int | None:
    p, q, r, s = a.args
    n, k = w.size(p), w.size(s)
    for rule in ("unit_block", "unit_block_corner"):
        found = w.schema(rule, n=n, k=k, A=p, B=q, C=r, D=s)
        if found is not None:
            return found
    if n is k and not w.facts.lowering.lower(p).terms:  # a corner that is zero has no inverse
        return w.schema("unit_block_swap", n=n, A=p, B=q, C=r, D=s)
    return None


def _isometry(w: Workbench, a: Term, n: Term) -> int | None:
    """A square matrix with a.H*a = identity, as an orthogonal or unitary one has."""
    for prop, rule, turned in (
        ("orthogonal", "orthogonal_says", "transpose"),
        ("unitary", "unitary_says", "adjoint"),
    ):
        if w.find(term(prop, a)) is not None:
            w.schema(rule, n=n, Q=a)
            w.schema("one_sided", n=n, A=term(turned, a), B=a)
            return w.schema("one_sided_unit", n=n, A=a, B=term(turned, a))
    return None


def _cleared(w: Workbench, a: Term, n: Term) -> int | None:
    return cleared(w, a)


BY_WHAT_IS_KNOWN: tuple[Method, ...] = (
    _factor_of_unit,
    block_determinants.invertible,
    _schur_of_unit,
    _factor_of_equal,
    _invertible_simplified,
    _known_full_rank,
    _known_determinant,
    rank_one.invertible,
)
LAST: tuple[Method, ...] = (_hermitian_part, _cleared, _inverse_in_goal)
