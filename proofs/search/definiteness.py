"""Untrusted. That a matrix is positive definite or semidefinite, or of full rank."""

from __future__ import annotations

from proofs.language.infer import infer
from proofs.language.tree import Term, term
from proofs.search import equations
from proofs.search.raising import factors_of, product_of, size_term
from proofs.search.workbench import Workbench


def definite(w: Workbench, a: Term) -> int | None:
    part = _definite_part(w, term("positive_definite", a))
    if part is not None:
        return part
    if infer(a, w.facts.scope).is_scalar:
        return w.schema("definite_scalar", x=a)
    n, op, args = w.size(a), a.op, a.args
    if op == "eye":
        return w.schema("definite_eye", n=n)
    if op == "add":
        for x, y in (args, args[::-1]):
            if w.attempt(term("positive_definite", x)) is not None:
                return w.schema("definite_sum", n=n, A=x, B=y)
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
    return None


def _definite_part(w: Workbench, wanted: Term) -> int | None:
    """A diagonal block or Schur complement of a block matrix that is known to be definite."""
    for fact in list(w.facts.facts):
        whole = fact.relation.args[0]
        if fact.relation.op != "positive_definite" or whole.op != "block" or whole.data != (2, 2):
            continue
        s, c, _, r = whole.args
        sizes = {"n": w.size(s), "k": w.size(r)}
        for rule in ("definite_block_first", "definite_block_last", "definite_block_schur"):
            w.schema(rule, **sizes, S=s, C=c, R=r)
        found = w.find(wanted)
        if found is not None:
            return found
    return None


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


def full_rows(w: Workbench, a: Term) -> int | None:
    kind = infer(a, w.facts.scope)
    return w.schema("unit_full_rows", n=w.size(a), A=a) if kind.rows == kind.cols else None


def full_columns(w: Workbench, a: Term) -> int | None:
    kind = infer(a, w.facts.scope)
    return w.schema("unit_full_columns", n=w.size(a), A=a) if kind.rows == kind.cols else None


def semidefinite(w: Workbench, a: Term) -> int | None:
    if infer(a, w.facts.scope).is_scalar:
        return w.schema("semidefinite_scalar", x=a)
    n, op, args = w.size(a), a.op, a.args
    found = w.schema("definite_semidefinite", n=n, A=a)
    if found is not None:
        return found
    if op == "add":
        return w.schema("semidefinite_sum", n=n, A=args[0], B=args[1])
    if op == "mul" and infer(args[0], w.facts.scope).is_scalar:
        return w.schema("semidefinite_scale", n=n, A=args[1], c=args[0])
    if op == "div":
        return w.schema(
            "semidefinite_scale", n=n, A=args[0], c=term("div", term("rational", data="1"), args[1])
        )
    return _congruence(w, a, n)


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
