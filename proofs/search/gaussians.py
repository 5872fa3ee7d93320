"""Untrusted. Gaussian conditioning: moments by linearity, and a solution of the normal equation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement

from proofs.checker.algebra import ONE
from proofs.checker.definedness import ZERO
from proofs.checker.facts import declared_facts
from proofs.language.infer import infer, random_degree, size_of
from proofs.language.tree import Declaration, Term, name, postorder, rational, term
from proofs.search.raising import factors_of, opened, product_of, size_term
from proofs.search.workbench import Workbench

MAX_PRODUCTS = 6  # of two exponentials


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
    values = node.args[:1] if node.op == "expect_given" else node.args[:2]
    given = node.args[len(values) :]
    if not all(random_degree(y, w.facts.scope) for y in given):
        return
    if len(given) == 1:
        _given_one(w, node, values, given[0])
    elif len(given) == 2 and values[0] is values[-1]:
        _given_two(w, node, values[0], given)


def _given_one(w: Workbench, node: Term, values: tuple[Term, ...], y: Term) -> None:
    x, v = values[0], values[-1]
    mean, cov = partial(_mean, w), partial(_covariance, w)
    names = {"n": w.size(x), "k": w.size(y), "X": x, "Y": y, "a": mean(x), "b": mean(y)}
    c, r = cov(x, y), cov(y, y)
    names |= {"S": cov(x, x), "C": c, "R": r}
    if node.op == "expect_given":
        rule = "gaussian_mean_given"
    elif x is v:
        rule = "gaussian_covariance_given"
    else:
        rule = "gaussian_cross_covariance_given"
        names |= {"m": w.size(v), "V": v, "v": mean(v)}
        names |= {"P": cov(x, v), "W": cov(v, v), "L": cov(v, y)}
    informed = _information(w, names["S"], [c], [[r]]) if node.op != "cov_given" or x is v else None
    gains = [] if informed is None else informed.gains
    for gain in [*gains, *_gains(w, node, c, r)]:
        if w.schema(rule, G=gain, **names) is not None:
            if informed is not None and gain is gains[0] and node.op == "cov_given":
                w.attempt(term("eq", node, informed.covariance))
            return


def _given_two(w: Workbench, node: Term, x: Term, given: tuple[Term, ...]) -> None:
    y, z = given
    mean, cov = partial(_mean, w), partial(_covariance, w)
    c, d, r, t, q = cov(x, y), cov(x, z), cov(y, y), cov(y, z), cov(z, z)
    names = {"n": w.size(x), "k": w.size(y), "m": w.size(z), "X": x, "Y": y, "Z": z}
    names |= {"a": mean(x), "b": mean(y), "c": mean(z), "S": cov(x, x)}
    names |= {"C": c, "D": d, "R": r, "T": t, "Q": q}
    rule = "gaussian_mean_given_two"
    if node.op == "cov_given":
        rule = "gaussian_covariance_given_two"
    informed = _information(w, names["S"], [c, d], [[r, t], [term("transpose", t), q]])
    if informed is not None:
        first, second = informed.gains
        if w.schema(rule, G=first, H=second, **names) is not None:
            if node.op == "cov_given":
                w.attempt(term("eq", node, informed.covariance))
            return
    for first, second in _pairs_of_gains(w, node, (c, d), (r, t, q)):
        if w.schema(rule, G=first, H=second, **names) is not None:
            return


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
        m, s = _mean(w, x), _covariance(w, x, x)
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
        moments = {"S": _covariance(w, x, x), "C": _covariance(w, x, y), "R": _covariance(w, y, y)}
        means = {"a": _mean(w, x), "b": _mean(w, y)}
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
        w.schema("gaussian_weighted_sum", c=_weights(n, factors), **names)
    else:
        w.schema("gaussian_sum", **names)
    return True


def _weights(n: Term, factors: list[Term]) -> Term:
    """The vector of the factors at each index; c itself for the factor c[j]."""
    if len(factors) == 1 and factors[0].op == "entry" and len(factors[0].args) == 2:
        c, index = factors[0].args
        if index.op == "bound" and not c.free:
            return c
    return term("comprehension", n, product_of(factors))


# ---------------------------------------------------------------- moments


def _mean(w: Workbench, x: Term) -> Term:
    return _moment(w, term("expect", x))


def _covariance(w: Workbench, x: Term, y: Term) -> Term:
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


# ---------------------------------------------------------------- gains


def _gains(w: Workbench, node: Term, c: Term, r: Term) -> list[Term]:
    """Candidates for G with G*R = C: what the goal writes, then C*inv(R), then C*pinv(R)."""
    found = dict.fromkeys(_from_goal(w, node, node.args[-1]))
    shape = (infer(c, w.facts.scope).rows, infer(r, w.facts.scope).rows)
    for part in postorder([w.statement.goal]):
        if part.op not in ("pinv", "inv", "mul") or part.free:
            continue
        kind = infer(part, w.facts.scope)
        inverts = any(p.op in ("pinv", "inv") for p in postorder([part]))
        if (kind.rows, kind.cols) == shape and inverts and not random_degree(part, w.facts.scope):
            found[part] = None
    return [*found, *(term("mul", c, i) for i in _inverses(w, r))]


def _inverses(w: Workbench, r: Term) -> list[Term]:
    """The inverse of a covariance where it has one, then its pseudo-inverse."""
    inverse = _inverse(w, r)
    return [term("pinv", r)] if inverse is None else [inverse, term("pinv", r)]


@dataclass(frozen=True)
class _Informed:
    """The gains for several measurements, and the covariance that is left."""

    gains: list[Term]
    covariance: Term


def _information(
    w: Workbench, s: Term, crossed: list[Term], parts: list[list[Term]]
) -> _Informed | None:
    """The gains in information form, where the goal speaks of the inverse of s.

    With B = C.T*inv(S) for each measurement and N = R - B*S*B.T, the covariance of its noise, where
    the noises are uncorrelated: the information inv(S) + sum of B.T*inv(N)*B is the inverse of the
    covariance that is left, which times B.T*inv(N) is the gain.
    """
    prior = _inverse(w, s)
    if prior is None or not any(n is prior for n in postorder([w.statement.goal])):
        return None
    maps = [_reduced(w, term("mul", term("transpose", c), prior)) for c in crossed]
    information, weighted = prior, []
    for i, b in enumerate(maps):
        for j, c in enumerate(crossed):
            noise = _reduced(w, term("sub", parts[i][j], term("mul", b, c)))
            if i != j and w.facts.lowering.lower(noise).terms:
                return None
            if i == j:
                precision = _inverse(w, noise)
                if precision is None:
                    return None
                weighted.append(term("mul", term("transpose", b), precision))
        information = term("add", information, term("mul", weighted[i], b))
    left = _inverse(w, information)
    if left is None:
        return None
    return _Informed([term("mul", left, x) for x in weighted], left)


def _inverse(w: Workbench, a: Term) -> Term | None:
    """inv(a), or 1/a for a number; None where it isn't known to exist."""
    if infer(a, w.facts.scope).is_scalar:
        return term("div", rational(1), a) if w.attempt(term("ne", a, ZERO)) is not None else None
    return term("inv", a) if w.attempt(term("invertible", a)) is not None else None


def _reduced(w: Workbench, a: Term) -> Term:
    """What the known equations make of a matrix."""
    from proofs.search.equations import known

    w.learn(a)
    reduced, _ = known(w, [term("eq", a, a)]).reduce(w.facts.lowering.lower(a))
    return w.raising.poly(reduced)


def _pairs_of_gains(
    w: Workbench, node: Term, sides: tuple[Term, Term], parts: tuple[Term, Term, Term]
) -> Iterator[tuple[Term, Term]]:
    """Candidates for G and H with G*R + H*T.T = C and G*T + H*Q = D."""
    c, d = sides
    r, t, q = parts
    yield from zip(
        _from_goal(w, node, node.args[-2]), _from_goal(w, node, node.args[-1]), strict=False
    )
    for inverse in _inverses(w, r):  # one condition after the other
        carried = term("mul", inverse, t)
        rest = _simplified(w, term("sub", q, term("mul", term("transpose", t), carried)))
        left = _simplified(w, term("sub", d, term("mul", c, carried)))
        for last in _inverses(w, rest):
            second = term("mul", left, last)
            first = term("sub", c, term("mul", second, term("transpose", t)))
            yield term("mul", first, inverse), second


def _simplified(w: Workbench, a: Term) -> Term:
    """The same value, its sums multiplied out."""
    w.learn(a)
    return w.raising.poly(w.facts.lowering.lower(a))


def _from_goal(w: Workbench, node: Term, y: Term) -> list[Term]:
    """The matrix that y is multiplied with on the side of the goal that is to equal `node`."""
    goal = w.statement.goal
    if goal.op != "eq" or node not in goal.args:
        return []
    other = goal.args[1] if goal.args[0] is node else goal.args[0]
    found = _coefficient(w, other, y)
    return [] if found is None else [found]


def _coefficient(w: Workbench, a: Term, y: Term) -> Term | None:
    """The G in a = G*y + rest, where `a` is written so that it can be seen; None where y isn't."""
    if a is y:
        return term("eye", w.size(y)) if w.facts.lowering.lower(y).rows != ONE else rational(1)
    if a.op == "sum" and a.args[0] is rational(1):  # of entries of y, maybe with weights
        factors = factors_of(opened(a.args[2]))
        entries = [f for f in factors if f.op == "entry" and f.args[0] is y]
        if len(entries) != 1 or entries[0].args[1].op != "bound":
            return None
        factors.remove(entries[0])
        weights = _weights(a.args[1], factors) if factors else term("ones", w.size(y), rational(1))
        return term("transpose", weights)
    if a.op in ("add", "sub"):
        left, right = (_coefficient(w, b, y) for b in a.args)
        if right is None:
            return left
        if left is None:
            return term("neg", right) if a.op == "sub" else right
        return term(a.op, left, right)
    if a.op == "neg":
        inside = _coefficient(w, a.args[0], y)
        return None if inside is None else term("neg", inside)
    if a.op == "mul":
        inside = _coefficient(w, a.args[1], y)
        return None if inside is None else term("mul", a.args[0], inside)
    if a.op == "div":
        inside = _coefficient(w, a.args[0], y)
        return None if inside is None else term("div", inside, a.args[1])
    return None
