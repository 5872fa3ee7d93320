"""Untrusted. Instances for Kronecker products and vec."""

from __future__ import annotations

from proofs.checker.algebra import Letter, TooLarge, Word
from proofs.language.errors import StatementError
from proofs.language.infer import infer
from proofs.language.tree import Term, rational, term
from proofs.search.raising import size_term, size_terms
from proofs.search.workbench import Workbench

MAX_PAIRS = 60


def kronecker(w: Workbench, node: Term) -> None:
    """What a Kronecker product is equal to, and its products with the others in sight."""
    a, b = node.args
    sizes = _sizes(w, node)
    if {a.op, b.op} - {"transpose", "adjoint", "conj"}:  # else the product that was turned has it
        w.schema("kron_transpose", **sizes, A=a, B=b)
        if infer(node, w.facts.scope).is_complex:
            w.schema("kron_adjoint", **sizes, A=a, B=b)
    for side, rule in ((a, "kron_scale_left"), (b, "kron_scale_right")):
        if not w.facts.lowering.lower(side).terms:  # kron(A, 0*B) = 0*kron(A, B)
            w.schema(rule, **sizes, A=a, B=b, c=rational(0))
    if _is_square(w, a) and _is_square(w, b) and (w.speaks_of("tr") or w.speaks_of("norm2")):
        w.schema("kron_trace", n=sizes["n"], k=sizes["m"], A=a, B=b)
    if a.op == b.op == "eye":
        w.schema("kron_eye", n=sizes["n"], k=sizes["m"])
    if a.op in ("add", "sub"):
        second = a.args[1] if a.op == "add" else term("neg", a.args[1])
        w.schema("kron_sum_left", **sizes, A=a.args[0], B=second, C=b)
    if b.op in ("add", "sub"):
        second = b.args[1] if b.op == "add" else term("neg", b.args[1])
        w.schema("kron_sum_right", **sizes, A=a, B=b.args[0], C=second)
    for one, scalar_first, rule in ((a, "A", "kron_scale_left"), (b, "B", "kron_scale_right")):
        if one.op == "mul" and infer(one.args[0], w.facts.scope).is_scalar:
            values = {"A": a, "B": b} | {scalar_first: one.args[1]}
            w.schema(rule, **sizes, **values, c=one.args[0])
        elif one.op == "neg":
            w.schema(rule, **sizes, **{"A": a, "B": b, scalar_first: one.args[0]}, c=rational(-1))


def gather(w: Workbench, roots: list[Term]) -> None:
    """Multiply out the runs of Kronecker products in the words of a goal, from the left."""
    if all(node.op != "kron" for node in w.raising.letters.values()):
        return
    for root in roots:
        if root.op != "eq":
            continue
        try:
            value = w.facts.difference(root)
        except (TooLarge, StatementError):
            continue
        for monomial, word in value.terms:
            for letters in (word, *(a.word for a, _ in monomial if a.word)):
                _run(w, letters)
                _vectors(w, letters)


def _vectors(w: Workbench, letters: Word) -> None:
    """kron(A, B)*vec(X) = vec(B*X*A.T)."""
    nodes = [_node(w, x) for x in letters]
    for node, x in zip(nodes, (*letters[1:], *letters[:1]), strict=True):
        other = None if x.transposed else w.raising.letters.get(x)
        if node is None or other is None or other.op != "vec":
            continue
        a, b = node.args
        middle, left = infer(other.args[0], w.facts.scope), infer(a, w.facts.scope)
        if (infer(b, w.facts.scope).cols, left.cols) == (middle.rows, middle.cols):
            _vec_of_product(w, b, other.args[0], term("transpose", a))


def _is_square(w: Workbench, a: Term) -> bool:
    kind = infer(a, w.facts.scope)
    return kind.rows == kind.cols


def _run(w: Workbench, letters: Word) -> None:
    current: Term | None = None
    for x in letters:
        node = _node(w, x)
        current = node if current is None or node is None else _product(w, current, node)


def _node(w: Workbench, x: Letter) -> Term | None:
    """The Kronecker product that a letter is, transposed if the letter is."""
    node = w.raising.letters.get(x.T if x.transposed else x)
    if node is None or node.op != "kron" or x.conjugated:
        return None
    if not x.transposed:
        return node
    w.schema("kron_transpose", **_sizes(w, node), A=node.args[0], B=node.args[1])
    return term("kron", *(term("transpose", a) for a in node.args))


def _product(w: Workbench, one: Term, two: Term) -> Term | None:
    """kron(A, B)*kron(C, D) as kron(A*C, B*D), where the factors fit."""
    scope = w.facts.scope
    left, right = [infer(x, scope) for x in one.args], [infer(x, scope) for x in two.args]
    if any(x.cols != y.rows for x, y in zip(left, right, strict=True)):
        return two
    q, r = (size_term(y.cols) for y in right)
    w.schema(
        "kron_product",
        **_sizes(w, one),
        q=q,
        r=r,
        A=one.args[0],
        B=one.args[1],
        C=two.args[0],
        D=two.args[1],
    )
    return term("kron", *(term("mul", x, y) for x, y in zip(one.args, two.args, strict=True)))


def _sizes(w: Workbench, node: Term) -> dict[str, Term]:
    a, b = (infer(x, w.facts.scope) for x in node.args)
    return {
        "n": size_term(a.rows),
        "k": size_term(a.cols),
        "m": size_term(b.rows),
        "p": size_term(b.cols),
    }


def vectorized(w: Workbench, node: Term) -> None:
    """vec of a product, a sum or a multiple."""
    a = node.args[0]
    scope = w.facts.scope
    kind = infer(a, scope)
    sizes = size_terms(kind)
    if a.op in ("add", "sub"):
        second = a.args[1] if a.op == "add" else term("neg", a.args[1])
        w.schema("vec_sum", **sizes, A=a.args[0], B=second)
    elif a.op == "neg":
        w.schema("vec_scale", **sizes, A=a.args[0], c=term("rational", data="-1"))
    elif a.op == "mul" and infer(a.args[0], scope).is_scalar:
        w.schema("vec_scale", **sizes, A=a.args[1], c=a.args[0])
    elif a.op == "mul":
        left, right = a.args
        middle = left
        if left.op == "mul" and not infer(left.args[0], scope).is_scalar:
            left, middle = left.args  # A*X*B with all three
            _vec_of_product(w, left, middle, right)
        one, two = a.args
        m = size_term(infer(two, scope).cols)
        _vec_of_product(w, one, two, term("eye", m))
        _vec_of_product(w, term("eye", sizes["n"]), one, two)
    for other in [n for n in w.raising.letters.values() if n.op == "vec"][:MAX_PAIRS]:
        other_kind = infer(other.args[0], scope)
        if (other_kind.rows, other_kind.cols) == (kind.rows, kind.cols):
            w.schema("vec_inner", **sizes, A=a, B=other.args[0])
            w.schema("vec_inner", **sizes, A=other.args[0], B=a)


def _vec_of_product(w: Workbench, a: Term, x: Term, b: Term) -> None:
    kinds = [infer(y, w.facts.scope) for y in (a, x, b)]
    w.schema(
        "vec_product",
        n=size_term(kinds[0].rows),
        k=size_term(kinds[0].cols),
        m=size_term(kinds[1].cols),
        p=size_term(kinds[2].cols),
        A=a,
        X=x,
        B=b,
    )
