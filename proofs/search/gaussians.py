"""Untrusted. Gaussian conditioning: moments by linearity, and a solution of the normal equation."""

from __future__ import annotations

from collections.abc import Iterator
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
    count = 1 if node.op == "expect_given" else 2
    values, given = node.args[:count], gains.parts_of(node.args[count:])
    if not all(random_degree(y, w.facts.scope) for y in given):
        return
    if _key(w, values, given) in w.instanced:
        return  # maybe with the conditions in another order, or as a stack
    x = values[0]
    crossed = [covariance(w, x, y) for y in given]
    within = [[covariance(w, y, z) for z in given] for y in given]
    for gain, left in gains.candidates(w, node, given, crossed, within):
        if _take(w, values, given, gain) is not None:
            if left is not None and node.op == "cov_given" and values[1] is x:
                w.attempt(term("eq", node, left))
            return


def _take(w: Workbench, values: tuple[Term, ...], given: list[Term], gain: Term) -> int | None:
    """The conditional mean of one value, or covariance of two, by a gain."""
    x, v = values[0], values[-1]
    crossed = gains.row([covariance(w, x, y) for y in given])
    within = gains.table([[covariance(w, y, z) for z in given] for y in given])
    names = joint(w, x, given) | {"a": mean(w, x), "b": gains.stacked([mean(w, y) for y in given])}
    names |= {"S": covariance(w, x, x), "C": crossed, "R": within, "G": gain}
    rule = "gaussian_mean_given" if len(values) == 1 else "gaussian_covariance_given"
    if x is not v:
        rule = "gaussian_cross_covariance_given"
        names |= {"m": w.size(v), "V": v, "v": mean(w, v), "P": covariance(w, x, v)}
        names |= {"W": covariance(w, v, v), "L": gains.row([covariance(w, v, y) for y in given])}
    found = w.schema(rule, **names)
    if found is not None:
        w.instanced.add(_key(w, values, given))
    return found


def _key(w: Workbench, values: tuple[Term, ...], given: list[Term]) -> tuple[object, ...]:
    """What conditional means or covariances of one value share."""
    letters = (w.facts.lowering.lower(x).key for x in values)
    return ("given", *letters, w.facts.lowering.projection(tuple(given)))


def below(w: Workbench, a: Term, b: Term) -> None:
    """cov(X, X | Y, Z) <= cov(X, X | Y): they differ by L*cov(Z, Z | Y)*L.T, for the gain L of what
    Y leaves of Z."""
    if a.op != "cov_given" or b.op != "cov_given" or len({*a.args[:2], *b.args[:2]}) > 1:
        return
    x, known = a.args[0], gains.parts_of(b.args[2:])
    further = [z for z in gains.parts_of(a.args[2:]) if z not in known]
    if not further or len(further) + len(known) > len(gains.parts_of(a.args[2:])):
        return
    z = gains.stacked(further)
    left, n = term("cov_given", z, z, *b.args[2:]), w.size(x)
    inverse = gains.inverted(w, left)
    if inverse is None or w.attempt(term("positive_semidefinite", left)) is None:
        return
    gain = term("mul", term("cov_given", x, z, *b.args[2:]), inverse)
    spread = term("mul", term("mul", gain, left), term("transpose", gain))
    w.schema("semidefinite_congruence", n=w.size(z), k=n, A=left, B=gain)
    w.schema("semidefinite_equal", n=n, A=spread, B=term("sub", b, a))


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
    for x in exponents:
        for y in _outside(w, node):
            _tilted(w, x, y)
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


def _outside(w: Workbench, node: Term) -> Iterator[Term]:
    """The random names in an expectation that stand outside of exponentials."""
    stack, seen = list(node.args), set[Term]()
    while stack:
        part = stack.pop()
        if part.op == "exp" or part in seen or not random_degree(part, w.facts.scope):
            continue
        seen.add(part)
        if part.op == "name":
            yield part
        stack += part.args


def _tilted(w: Workbench, x: Term, y: Term) -> None:
    """The expectation of exp(x)*y."""
    key = ("tilted", x, y)
    if key not in w.instanced and infer(y, w.facts.scope).is_scalar:
        w.instanced.add(key)
        moments = {"S": covariance(w, x, x), "C": covariance(w, x, y), "R": covariance(w, y, y)}
        w.schema("gaussian_tilted_mean", X=x, Y=y, a=mean(w, x), b=mean(w, y), **moments)


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
