"""Untrusted. Gains of Gaussian conditioning: candidates for G with G*R = C.

Here C is the covariance of what is sought with the conditions and R that of the conditions, each in
as many blocks as there are conditions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from proofs.checker.algebra import ONE
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer, random_degree
from proofs.language.sizes import Size
from proofs.language.tree import Term, name, postorder, rational, term
from proofs.search.minors import leibniz
from proofs.search.moments import covariance, of_moments
from proofs.search.raising import factors_of, opened, product_of
from proofs.search.workbench import Workbench

MAX_NUMBERS = 3  # as conditions, that Cramer's rule is used for


def candidates(
    w: Workbench, node: Term, given: list[Term], crossed: list[Term], within: list[list[Term]]
) -> Iterator[tuple[Term, Term | None]]:
    """Gains, each with the covariance that it leaves where that is known beforehand.

    In information form where the goal is, then what the goal writes, then one condition after the
    other.
    """
    x = node.args[0]
    found = _by_precision(w, x, given)
    if found is None and (node.op == "expect_given" or x is node.args[1]):
        found = _by_information(w, x, given, within)
    if found is not None:
        yield row(found.gains), found.covariance
    for gain in dict.fromkeys(_written(w, node, given, row(crossed), table(within))):
        yield gain, None
    for parts in _by_determinants(w, crossed, within):
        yield row(parts), None
    for parts in _eliminated(w, crossed, within):
        yield row(parts), None
    for parts in _of_one(w, x, given, crossed, within):
        yield row(parts), None
    yield _in_the_range(w, x, stacked(given), row(crossed), table(within)), None


# ---------------------------------------------------------------- information form


@dataclass(frozen=True)
class _Informed:
    """The gains for each condition, and the covariance that is left, where it is known."""

    gains: list[Term]
    covariance: Term | None


def _by_precision(w: Workbench, x: Term, given: list[Term]) -> _Informed | None:
    """The gains -inv(P)*Q of a name given all others of its law that it is coupled with, where the
    covariance is inv(block([[P, Q], [Q.T, R]]))."""
    for declaration in w.statement.declarations:
        names = [name(n) for n in declaration.names]
        if declaration.type.op != "gaussian_type" or x not in names:
            continue
        law, place = declaration.type.args[-1], names.index(x)
        if law.op != "inv" or law.args[0].op != "block" or not set(given) <= set(names):
            return None
        precisions = law.args[0].args[place * len(names) : (place + 1) * len(names)]
        by_name = dict(zip(names, precisions, strict=True))
        others = [p for y, p in by_name.items() if y is not x and y not in given]
        left = inverted(w, precisions[place])
        if left is None or any(w.facts.lowering.lower(p).terms for p in others):
            return None
        return _Informed([term("neg", term("mul", left, by_name[y])) for y in given], left)
    return None


def _by_information(
    w: Workbench, x: Term, given: list[Term], within: list[list[Term]]
) -> _Informed | None:
    """The gains of a sum of names, each times a matrix, from those in information form."""
    inverses = [n for n in postorder([w.statement.goal]) if n.op in ("inv", "div")]
    total: list[Term | None] = [None] * len(given)
    left: Term | None = None
    if all(of_moments(n.args[-1]) for n in inverses):
        return None
    for u in [n for n in postorder([x]) if n.op == "name" and random_degree(n, w.facts.scope)]:
        crossed = [covariance(w, u, y) for y in given]
        if not any(w.facts.lowering.lower(c).terms for c in crossed):
            continue
        found, factor = _information(w, u, crossed, within, inverses), _coefficient(w, x, u)
        if found is None or factor is None:
            return None
        left = found.covariance if u is x else None
        for i, gain in enumerate(found.gains):
            part = gain if u is x else term("mul", factor, gain)
            old = total[i]
            total[i] = part if old is None else term("add", old, part)
    gains = [g for g in total if g is not None]
    return _Informed(gains, left) if gains else None


def _information(
    w: Workbench, u: Term, crossed: list[Term], parts: list[list[Term]], inverses: list[Term]
) -> _Informed | None:
    """The gains in information form, where the goal speaks of the inverse of u's covariance S, or
    of another of its size that is none of a condition's.

    With B = C.T*inv(S) for each measurement and N = R - B*S*B.T, the covariance of its noise, where
    the noises are uncorrelated: the information inv(S) + sum of B.T*inv(N)*B is the inverse of the
    covariance that is left, which times B.T*inv(N) is the gain.
    """
    prior = inverted(w, covariance(w, u, u))
    if prior is None:
        return None
    is_written = any(n is prior for n in inverses)
    if not is_written and not _speaks_of(w, infer(u, w.facts.scope).rows, parts, inverses):
        return None
    maps = [_reduced(w, term("mul", term("transpose", c), prior)) for c in crossed]
    information, weighted = prior, []
    for i, b in enumerate(maps):
        for j, c in enumerate(crossed):
            noise = _reduced(w, term("sub", parts[i][j], term("mul", b, c)))
            if i != j and w.facts.lowering.lower(noise).terms:
                return None
            if i == j:
                precision = inverted(w, noise)
                if precision is None:
                    return None
                weighted.append(term("mul", term("transpose", b), precision))
        information = term("add", information, term("mul", weighted[i], b))
    left = inverted(w, information if is_written else _reduced(w, information))
    if left is None:
        return None
    return _Informed([term("mul", left, x) for x in weighted], left)


def _speaks_of(w: Workbench, size: Size, parts: list[list[Term]], inverses: list[Term]) -> bool:
    """Whether matrices of this size are inverted, and those of a condition's are of others."""
    sizes = [infer(n, w.facts.scope).rows for n in inverses if n.op == "inv" and not n.free]
    return size in sizes and all(infer(p[0], w.facts.scope).rows != size for p in parts)


def inverted(w: Workbench, a: Term) -> Term | None:
    """inv(a), or 1/a for a number; None where it isn't known to exist."""
    if infer(a, w.facts.scope).is_scalar:
        return term("div", rational(1), a) if w.attempt(term("ne", a, ZERO)) is not None else None
    if w.attempt(term("invertible", a)) is None:
        return None
    found, n = term("inv", a), w.size(a)
    if w.find(term("positive_definite", a)) is not None:  # so is the inverse, and symmetric
        w.schema("definite_inverse", n=n, A=a)
        w.schema("definite_semidefinite", n=n, A=found)
        w.schema("semidefinite_hermitian", n=n, A=found)
    return found


def _reduced(w: Workbench, a: Term) -> Term:
    """What the known equations make of a matrix."""
    from proofs.search.equations import known

    w.learn(a)
    reduced, _ = known(w, [term("eq", a, a)]).reduce(w.facts.lowering.lower(a))
    return w.raising.poly(reduced)


# ---------------------------------------------------------------- numbers


def _by_determinants(
    w: Workbench, crossed: list[Term], within: list[list[Term]]
) -> Iterator[list[Term]]:
    """The gains for a few numbers as conditions, by Cramer's rule."""
    size = len(within)
    if not 2 <= size <= MAX_NUMBERS or not all(
        infer(r, w.facts.scope).is_scalar for line in within for r in line
    ):
        return
    entries = [w.facts.lowering.lower(r) for line in within for r in line]
    whole = w.raising.poly(leibniz(entries, size))
    if w.attempt(term("ne", whole, ZERO)) is None:
        return
    sides = [w.facts.lowering.lower(c) for c in crossed]
    if not all(c.is_scalar for c in sides):
        return
    parts = []
    for i in range(size):
        put = [*entries[: i * size], *sides, *entries[(i + 1) * size :]]
        parts.append(term("div", w.raising.poly(leibniz(put, size)), whole))
    yield parts


# ---------------------------------------------------------------- one after the other


def _of_one(
    w: Workbench, x: Term, given: list[Term], crossed: list[Term], within: list[list[Term]]
) -> Iterator[list[Term]]:
    """The gain of one condition, and none of the others, where the goal also speaks of what is
    known given that one alone."""
    alone = {
        n.args[-1]
        for n in postorder([w.statement.goal])
        if (n.op, len(n.args)) in (("expect_given", 2), ("cov_given", 3))
    }
    for i, y in enumerate(given if len(given) > 1 else ()):
        if y in alone:
            gain = _in_the_range(w, x, y, crossed[i], within[i][i])
            zeros = [term("zeros", w.size(x), w.size(z)) for z in given]
            yield [*zeros[:i], gain, *zeros[i + 1 :]]


def _eliminated(
    w: Workbench, crossed: list[Term], within: list[list[Term]]
) -> Iterator[list[Term]]:
    """The gains for each condition, those of the later ones from what the first leaves."""
    c, *later = crossed
    for inverse in _inverses(w, within[0][0]):
        if not later:
            yield [term("mul", c, inverse)]
            continue
        places = range(1, len(crossed))
        carried = {j: term("mul", inverse, within[0][j]) for j in places}
        rest = {
            (i, j): _less(w, within[i][j], term("transpose", within[0][i]), carried[j])
            for i in places
            for j in places
            if i <= j
        }
        square = [
            [rest[i, j] if i <= j else term("transpose", rest[j, i]) for j in places]
            for i in places
        ]
        for others in _eliminated(w, [_less(w, crossed[j], c, carried[j]) for j in places], square):
            first = c
            for j, gain in zip(places, others, strict=True):
                first = term("sub", first, term("mul", gain, term("transpose", within[0][j])))
            yield [term("mul", first, inverse), *others]


def _less(w: Workbench, a: Term, b: Term, c: Term) -> Term:
    """a - b*c, its sums multiplied out."""
    value = term("sub", a, term("mul", b, c))
    w.learn(value)
    return w.raising.poly(w.facts.lowering.lower(value))


def _inverses(w: Workbench, r: Term) -> list[Term]:
    """The inverse of a covariance where it has one, then its pseudo-inverse."""
    inverse = inverted(w, r)
    return [term("pinv", r)] if inverse is None else [inverse, term("pinv", r)]


def _in_the_range(w: Workbench, x: Term, y: Term, c: Term, r: Term) -> Term:
    """C*pinv(R), once it is known that R*pinv(R) keeps the rows of C, as for any two vectors."""
    s, n, k = covariance(w, x, x), w.size(x), w.size(y)
    both = stacked([x, y])
    joint = term("block", s, c, term("transpose", c), r, data=(2, 2))
    w.schema("covariance_semidefinite", n=w.size(both), U=both)
    w.schema("semidefinite_equal", n=w.size(both), A=term("cov", both, both), B=joint)
    w.schema("semidefinite_block_range", n=n, k=k, S=s, C=c, R=r)
    return term("mul", c, term("pinv", r))


# ---------------------------------------------------------------- what the goal writes


def _written(w: Workbench, node: Term, given: list[Term], c: Term, r: Term) -> Iterator[Term]:
    """What the goal multiplies the conditions with, or what is sought does, and matrices in the
    goal that are of this shape."""
    yield from _from_goal(w, node, given)
    yield from _coefficients(w, node.args[0], given)
    shape = (infer(c, w.facts.scope).rows, infer(r, w.facts.scope).rows)
    for part in postorder([w.statement.goal]):
        if part.op not in ("pinv", "inv", "mul") or part.free:
            continue
        kind = infer(part, w.facts.scope)
        inverts = any(p.op in ("pinv", "inv") for p in postorder([part]))
        if (kind.rows, kind.cols) == shape and inverts and not random_degree(part, w.facts.scope):
            yield part


def _from_goal(w: Workbench, node: Term, given: list[Term]) -> list[Term]:
    """What the conditions are multiplied with on the side of the goal that is to equal `node`."""
    goal = w.statement.goal
    if goal.op != "eq" or node not in goal.args:
        return []
    other = goal.args[1] if goal.args[0] is node else goal.args[0]
    return _coefficients(w, other, given)


def _coefficients(w: Workbench, a: Term, given: list[Term]) -> list[Term]:
    """The row of what stands before each condition in a sum, none of which is inside another."""
    found = [_coefficient(w, a, y, given) for y in given]
    rows = w.size(a)
    zeros = [term("zeros", rows, w.size(y)) for y in given]
    nested = any(n.op == "expect_given" for n in postorder([a]))  # where conditions may hide
    if None in found and (nested or not any(found)):
        return []
    return [row([z if g is None else g for g, z in zip(found, zeros, strict=True)])]


def _coefficient(w: Workbench, a: Term, y: Term, whole: Collection[Term] = ()) -> Term | None:
    """The G in a = G*y + rest, where `a` is written so that it can be seen; None where y isn't,
    or only inside of what is taken as a whole."""
    if a is y:
        return term("eye", w.size(y)) if w.facts.lowering.lower(y).rows != ONE else rational(1)
    if a in whole:
        return None
    if a.op == "sum" and a.args[0] is rational(1):  # of entries of y, maybe with weights
        factors = factors_of(opened(a.args[2]))
        entries = [f for f in factors if f.op == "entry" and f.args[0] is y]
        if len(entries) != 1 or entries[0].args[1].op != "bound":
            return None
        factors.remove(entries[0])
        ones = term("ones", w.size(y), rational(1))
        return term("transpose", weights(a.args[1], factors) if factors else ones)
    if a.op in ("add", "sub"):
        left, right = (_coefficient(w, b, y, whole) for b in a.args)
        if right is None:
            return left
        if left is None:
            return term("neg", right) if a.op == "sub" else right
        return term(a.op, left, right)
    if a.op == "block" and a.data == (len(a.args), 1):
        parts = [_coefficient(w, b, y, whole) for b in a.args]
        if all(p is None for p in parts):
            return None
        zeros = [term("zeros", w.size(b), w.size(y)) for b in a.args]
        return stacked([z if p is None else p for p, z in zip(parts, zeros, strict=True)])
    if a.op == "neg":
        inside = _coefficient(w, a.args[0], y, whole)
        return None if inside is None else term("neg", inside)
    if a.op == "mul":
        inside = _coefficient(w, a.args[1], y, whole)
        return None if inside is None else term("mul", a.args[0], inside)
    if a.op == "div":
        inside = _coefficient(w, a.args[0], y, whole)
        return None if inside is None else term("div", inside, a.args[1])
    return None


def parts_of(given: tuple[Term, ...]) -> list[Term]:
    """The conditions, each part of a stack by itself."""
    parts = list(given)
    while any(g.op == "block" for g in parts):
        parts = [p for g in parts for p in (g.args if g.op == "block" else (g,))]
    return parts


def stacked(parts: list[Term]) -> Term:
    """Blocks on top of each other."""
    return parts[0] if len(parts) == 1 else term("block", *parts, data=(len(parts), 1))


def row(parts: list[Term]) -> Term:
    """Blocks beside each other."""
    return parts[0] if len(parts) == 1 else term("block", *parts, data=(1, len(parts)))


def table(parts: list[list[Term]]) -> Term:
    """Blocks in as many rows as columns."""
    if len(parts) == 1:
        return parts[0][0]
    return term("block", *(a for row in parts for a in row), data=(len(parts), len(parts)))


def weights(n: Term, factors: list[Term]) -> Term:
    """The vector of the factors at each index; c itself for the factor c[j]."""
    if len(factors) == 1 and factors[0].op == "entry" and len(factors[0].args) == 2:
        c, index = factors[0].args
        if index.op == "bound" and not c.free:
            return c
    return term("comprehension", n, product_of(factors))
