"""Untrusted. Means and covariances of Gaussian names, by the parameters of their laws."""

from __future__ import annotations

from proofs.checker.facts import declared_facts
from proofs.language.infer import infer
from proofs.language.tree import Declaration, Term, name, postorder, term
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
    if whole.op != "block":  # what it says of the parts would take it apart without end
        w.aside.add(place)
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


def mean(w: Workbench, x: Term) -> Term:
    """E(x), by the parameters of the Gaussian names."""
    return _moment(w, term("expect", x))


def covariance(w: Workbench, x: Term, y: Term) -> Term:
    """cov(x, y), by the parameters of the Gaussian names."""
    return _moment(w, term("cov", x, y))


def _moment(w: Workbench, node: Term) -> Term:
    """A mean or covariance, expressed by the parameters of the Gaussian names."""
    from proofs.search.equations import plain_ideal  # equations call for instances

    reduced, _ = plain_ideal(w).reduce(w.facts.lowering.lower(node))
    return w.raising.poly(reduced)


def of_moments(a: Term) -> bool:
    """Whether a term speaks of covariances or means."""
    return any(n.op in ("cov", "cov_given", "expect") for n in postorder([a]))


def simplified_inside(w: Workbench, node: Term) -> bool:
    """inv(moment) as the inverse of what the moment is, by the parameters of the Gaussian names."""
    from proofs.search.equations import simplify_argument

    return simplify_argument(w, node)
