"""Untrusted. Gaussian conditioning: moments by linearity, and a solution of the normal equation."""

from __future__ import annotations

from proofs.checker.algebra import ONE
from proofs.checker.facts import declared_facts
from proofs.language.infer import infer, random_degree
from proofs.language.tree import Declaration, Term, name, postorder, rational, term
from proofs.search.raising import size_term
from proofs.search.workbench import Workbench


def declare_moments(w: Workbench) -> None:
    """Means and covariances of the Gaussian names, once their covariance is semidefinite."""
    for declaration in w.statement.declarations:
        if declaration.type.op == "gaussian_type":
            names = declaration.names
            known = declared_facts(declaration, w.statement.declarations)
            places = [
                w.take({"rule": "declared", "name": names[0], "fact": i}) for i in range(len(known))
            ]
            joint = places[len(names)]
            if len(names) > 1 and joint is not None:
                _split(w, declaration, joint)


def _split(w: Workbench, declaration: Declaration, place: int) -> None:
    """The covariance of each pair of a joint Gaussian, from that of all of them."""
    names = [name(n) for n in declaration.names]
    sizes = [size_term(infer(x, w.facts.scope).rows) for x in names]
    whole = declaration.type.args[-1]
    count = len(names)
    for i in range(count):
        for j in range(count):
            left, right = _selector(sizes, i), _selector(sizes, j)
            part = (
                whole.args[i * count + j]
                if whole.op == "block" and whole.data == (count, count)
                else term("mul", term("mul", left, whole), term("transpose", right))
            )
            goal = term("eq", term("cov", names[i], names[j]), part)
            w.take(
                {
                    "rule": "combine",
                    "goal": w.place(goal),
                    "terms": [[w.place(left), place, w.place(term("transpose", right)), ""]],
                }
            )


def _selector(sizes: list[Term], which: int) -> Term:
    """The block row [0 .. I .. 0] that picks one part of a stacked vector."""
    parts = [
        term("eye", s) if i == which else term("zeros", sizes[which], s)
        for i, s in enumerate(sizes)
    ]
    return term("block", *parts, data=(1, len(parts)))


def condition(w: Workbench, node: Term) -> None:
    """The conditional mean or covariance that `node` denotes, for a gain that can be verified."""
    x, y = node.args[0], node.args[-1]
    if node.op == "cov_given" and (len(node.args) != 3 or node.args[1] is not x):
        return
    if (node.op == "expect_given" and len(node.args) != 2) or not random_degree(y, w.facts.scope):
        return
    a, b = _moment(w, term("expect", x)), _moment(w, term("expect", y))
    s, c, r = (_moment(w, term("cov", u, v)) for u, v in ((x, x), (x, y), (y, y)))
    rule = "gaussian_mean_given" if node.op == "expect_given" else "gaussian_covariance_given"
    kinds = [infer(v, w.facts.scope) for v in (x, y)]
    n, k = (size_term(kind.rows) for kind in kinds)
    for gain in _gains(w, c, r, (kinds[0].rows, kinds[1].rows)):
        found = w.schema(rule, n=n, k=k, a=a, b=b, S=s, C=c, R=r, G=gain, X=x, Y=y)
        if found is not None:
            return


def _moment(w: Workbench, node: Term) -> Term:
    """A mean or covariance, expressed by the parameters of the Gaussian names."""
    from proofs.search.equations import plain_ideal  # equations call for instances

    reduced, _ = plain_ideal(w).reduce(w.facts.lowering.lower(node))
    return w.raising.poly(reduced)


def _gains(w: Workbench, c: Term, r: Term, shape: tuple[object, object]) -> list[Term]:
    """Candidates for G with G*R = C: what the goal writes, then C*pinv(R)."""
    found: dict[Term, None] = {}
    for part in postorder([w.statement.goal]):
        if part.op not in ("pinv", "inv", "mul") or part.free:
            continue
        kind = infer(part, w.facts.scope)
        inverts = any(p.op in ("pinv", "inv") for p in postorder([part]))
        if (kind.rows, kind.cols) == shape and inverts and not random_degree(part, w.facts.scope):
            found[part] = None
    inverse = (
        term("div", rational(1), r) if infer(r, w.facts.scope).rows == ONE else term("pinv", r)
    )
    return [*found, term("mul", c, inverse), term("mul", c, term("pinv", r))]
