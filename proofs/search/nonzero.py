"""Untrusted. That scalars are not zero: by their form, their factors, their sign."""

from __future__ import annotations

from proofs.checker.algebra import of_letter
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer, polynomial
from proofs.language.sizes import ONE
from proofs.language.tree import Term, rational, term
from proofs.search import denominators, rank_one, signs
from proofs.search.factoring import factors
from proofs.search.forms import norm_positive, sign_by_form
from proofs.search.raising import NoTerm, factors_of, product_of, size_term, size_terms
from proofs.search.units import pushed_through
from proofs.search.workbench import Workbench


def nonzero(w: Workbench, relation: Term) -> int | None:
    """x != 0: as a product of what is not zero, or by its sign."""
    x, zero = relation.args
    if zero.op == "zeros":
        return _matrix(w, x)
    if zero is not ZERO:
        return None
    found = _by_form(w, x)
    found = factor_of_nonzero(w, x) if found is None else found
    found = _corner_of_inverse(w, x) if found is None else found
    if found is not None:
        return found
    if not infer(x, w.facts.scope).is_complex:
        if sign_by_form(w, x) is not None and w.find(relation) is not None:
            return w.find(relation)
        for op in ("gt", "lt"):
            if w.attempt(term(op, x, ZERO)) is not None:
                return w.find(relation)
    if signs.says_nothing(w, relation):
        return None
    if x.op in ("add", "sub") and pushed_through(w, x) is not None:
        return w.schema("unit_nonzero", A=x)
    found = rank_one.nonzero(w, x)
    if found is not None:
        return found
    found = _by_factors(w, relation)
    return denominators.nonzero(w, relation) if found is None else found


def _matrix(w: Workbench, x: Term) -> int | None:
    """A matrix that is not zero, by its norm."""
    if w.find(term("ne", term("norm2", x), ZERO)) is None and norm_positive(w, x) is None:
        return None
    return w.schema("nonzero_norm", **size_terms(infer(x, w.facts.scope)), A=x)


def _corner_of_inverse(w: Workbench, x: Term) -> int | None:
    """The first or last entry of inv(M), as the reciprocal of the Schur complement of what is left
    of M without that row and column, where this is invertible."""
    monomials = [m for m, _ in w.facts.lowering.lower(x).terms]
    atoms = [a for m in monomials for a, _ in m]
    word = atoms[0].word if len(atoms) == len(monomials) == 1 else None
    if word is None or len(word) != 3 or word[2].block is None or word[0].block != word[2].block:
        return None
    node = w.raising.letters.get(word[1].T if word[1].transposed else word[1])
    before, after = word[2].block[0], word[2].rows - word[2].block[0] - ONE
    if node is None or node.op != "inv" or (before.value == 0) == (after.value == 0):
        return None
    one, rest = rational(1), size_term(before if after.value == 0 else after)
    parts = [term("zeros", one, rest), term("eye", rest)]
    J = term("block", *(parts if before.value == 0 else parts[::-1]), data=(2, 1))
    values = [w.facts.lowering.lower(a) for a in (J, node.args[0])]
    others, M, corner = values[0], values[1], of_letter(word[2])
    try:
        p, right, below, s = (
            w.raising.poly(left.T * M * y)
            for left, y in ((others, others), (corner, others), (others, corner), (corner, corner))
        )
    except NoTerm:
        return None
    if w.attempt(term("invertible", p)) is None:
        return None
    complement = term("sub", s, product_of([right, term("inv", p), below]))
    w.learn(J)
    w.learn(complement)
    if w.attempt(term("eq", term("mul", x, complement), term("eye", one))) is None:
        return None
    w.schema("one_sided_unit", n=one, A=x, B=complement)
    return w.schema("unit_nonzero", A=x)


def factor_of_nonzero(w: Workbench, x: Term) -> int | None:
    """x != 0, where a product that has the factor x is not zero."""
    for fact in list(w.facts.facts):
        sides = fact.relation.args
        if fact.relation.op in ("ne", "gt", "lt") and sides[1] is ZERO and sides[0].op == "mul":
            parts = factors_of(sides[0])
            if x in parts:
                parts.remove(x)
                return w.schema("factor_nonzero", x=x, y=product_of(parts))
    return None


def _by_form(w: Workbench, x: Term) -> int | None:
    one = rational(1)
    if x.op == "exp":
        return w.schema("exp_nonzero", x=x.args[0])
    if x.op == "mul":
        return w.schema("product_nonzero", x=x.args[0], y=x.args[1])
    if x.op == "pow":
        return _power(w, x)
    if x.op == "neg":
        return w.schema("product_nonzero", x=rational(-1), y=x.args[0])
    if x.op == "div" and x.args[0] is one:
        return w.schema("reciprocal_nonzero", x=x.args[1])
    if x.op == "div":
        return w.schema("product_nonzero", x=x.args[0], y=term("div", one, x.args[1]))
    if x.op == "det":
        return w.schema("det_unit", n=size_term(infer(x.args[0], w.facts.scope).rows), A=x.args[0])
    if x.op == "conj":
        return w.schema("conjugate_nonzero", x=x.args[0])
    if x.op == "norm2":
        return norm_positive(w, x.args[0])
    if x.op == "abs":
        return w.schema("abs_positive", x=x.args[0])
    if x.op in ("add", "sub") and (found := _multiple(w, x)) is not None:
        return found
    return None


def _multiple(w: Workbench, x: Term) -> int | None:
    """x != 0, where a rational multiple of x is known not to be zero."""
    value = w.facts.lowering.lower(x)
    for fact in list(w.facts.facts):
        if fact.relation.op not in ("ne", "gt", "lt") or fact.relation.args[1] is not ZERO:
            continue
        other = w.facts.difference(fact.relation)
        if other.is_scalar and other.terms and other.terms.keys() == value.terms.keys():
            place = next(iter(value.terms))
            factor = value.terms[place] / other.terms[place]
            if other.scale(factor) == value and factor != 1:
                return w.schema("product_nonzero", x=rational(factor), y=fact.relation.args[0])
    return None


def _by_factors(w: Workbench, relation: Term) -> int | None:
    """x != 0 for a polynomial that splits, from its factors."""
    product: Term | None = None
    for factor, power in factors(w.facts.difference(relation)):
        part = w.raising.poly(factor)
        for _ in range(power):
            if w.attempt(term("ne", part, ZERO)) is None:
                return None
            if product is None:
                product = part
            elif w.schema("product_nonzero", x=part, y=product) is None:
                return None
            else:
                product = term("mul", part, product)
    return w.find(relation)


def _power(w: Workbench, x: Term) -> int | None:
    base, exponent = x.args
    size = polynomial(exponent, w.facts.scope.dimensions)
    if exponent.op != "rational" and size is not None and size.is_positive:
        return _power_of_dimension(w, base, exponent)
    if exponent.op != "rational" or not str(exponent.data).isdigit():
        return None
    power = base
    for _ in range(int(str(exponent.data)) - 1):
        if w.schema("product_nonzero", x=base, y=power) is None:
            return None
        power = term("mul", base, power)
    return w.find(term("ne", x, ZERO))


def _power_of_dimension(w: Workbench, base: Term, exponent: Term) -> int | None:
    """x^n != 0, as the determinant of x*I."""
    one = term("eye", exponent)
    multiple = term("mul", base, one)
    if w.schema("unit_scale", n=exponent, A=one, c=base) is None:
        return None
    w.schema("det_unit", n=exponent, A=multiple)
    w.schema("det_eye", n=exponent)
    w.schema("det_scale", n=exponent, A=one, c=base)
    return w.schema("nonzero_equal", x=term("det", multiple), y=term("pow", base, exponent))
