"""Untrusted. Gaussian conditioning: moments by linearity, and a solution of the normal equation."""

from __future__ import annotations

from itertools import combinations_with_replacement

from proofs.language.infer import infer, random_degree, size_of
from proofs.language.tree import Term, postorder, term
from proofs.search import gains
from proofs.search.moments import covariance, mean
from proofs.search.raising import factors_of
from proofs.search.workbench import Workbench

MAX_PRODUCTS = 6  # of two exponentials


def condition(w: Workbench, node: Term) -> None:
    """The conditional mean or covariance that `node` denotes, for gains that can be verified."""
    values = node.args[:1] if node.op == "expect_given" else node.args[:2]
    given = gains.parts_of(node.args[len(values) :])
    if not all(random_degree(y, w.facts.scope) for y in given):
        return
    x, v = values[0], values[-1]
    crossed = [covariance(w, x, y) for y in given]
    within = [[covariance(w, y, z) for z in given] for y in given]
    names = joint(w, x, given) | {"a": mean(w, x), "b": gains.stacked([mean(w, y) for y in given])}
    names |= {"S": covariance(w, x, x), "C": gains.row(crossed), "R": gains.table(within)}
    if node.op == "expect_given":
        rule = "gaussian_mean_given"
    elif x is v:
        rule = "gaussian_covariance_given"
    else:
        rule = "gaussian_cross_covariance_given"
        names |= {"m": w.size(v), "V": v, "v": mean(w, v), "P": covariance(w, x, v)}
        names |= {"W": covariance(w, v, v), "L": gains.row([covariance(w, v, y) for y in given])}
    for gain, left in gains.candidates(w, node, given, crossed, within):
        if w.schema(rule, G=gain, **names) is not None:
            if left is not None and rule == "gaussian_covariance_given":
                w.attempt(term("eq", node, left))
            return


def joint(w: Workbench, x: Term, given: list[Term]) -> dict[str, Term]:
    """Values for the names of a rule on X given Y, the conditions in a stack, as they stand."""
    y = gains.stacked(given)
    names = {"n": w.size(x), "k": w.size(y), "X": x, "Y": y}
    names |= {"a": term("expect", x), "b": term("expect", y)}
    return names | {"S": term("cov", x, x), "C": term("cov", x, y), "R": term("cov", y, y)}


def expectation(w: Workbench, node: Term) -> None:
    """The expectations of the log-densities and exponentials in what `node` is the mean of."""
    parts = postorder(list(node.args))
    exponents = [p.args[0] for p in parts if p.op == "exp" and not p.free]
    exponents = [x for x in dict.fromkeys(exponents) if random_degree(x, w.facts.scope) == 1]
    for x, y in list(combinations_with_replacement(exponents, 2))[:MAX_PRODUCTS]:
        _exponentials(w, x, y)
    for part in parts:
        key = ("expect", id(part))
        if part.op not in ("logpdf", "exp") or part.free or key in w.instanced:
            continue
        x = part.args[0]
        if random_degree(x, w.facts.scope) != 1:
            continue
        w.instanced.add(key)
        m, s = mean(w, x), covariance(w, x, x)
        if part.op == "exp":
            w.schema("gaussian_exponential", X=x, a=m, s=s)
        else:
            _, u, b = part.args
            w.schema("gaussian_cross_entropy", n=w.size(x), X=x, a=m, S=s, u=u, B=b)


def _exponentials(w: Workbench, x: Term, y: Term) -> None:
    """The expectation of exp(x)*exp(y)."""
    key = ("exponentials", x, y)
    if key not in w.instanced:
        w.instanced.add(key)
        moments = {"S": covariance(w, x, x), "C": covariance(w, x, y), "R": covariance(w, y, y)}
        means = {"a": mean(w, x), "b": mean(w, y)}
        w.schema("gaussian_exponential_product", X=x, Y=y, **means, **moments)


def random_sum(w: Workbench, n: Term, body: Term) -> bool:
    """The sum over 1..n of entries of a random vector, with weights or without."""
    if not random_degree(body, w.facts.scope):
        return False
    factors = factors_of(body)
    entries = [f for f in factors if random_degree(f, w.facts.scope)]
    if len(entries) != 1 or entries[0].op != "entry" or entries[0].args[1].op != "bound":
        return True
    x = entries[0].args[0]
    factors.remove(entries[0])
    if x.free or infer(x, w.facts.scope).rows != size_of(n, w.facts.scope):
        return True
    names = {"n": n, "X": x, "a": term("expect", x), "S": term("cov", x, x)}
    if factors:
        w.schema("gaussian_weighted_sum", c=gains.weights(n, factors), **names)
    else:
        w.schema("gaussian_sum", **names)
    return True
