"""Trusted. What must hold for a term to be defined, stated as relations to be proved.

`obligations(root)` lists a condition for each partial operation in `root`: a denominator that is
not zero, an invertible matrix, a positive argument of a logarithm. Under a sum the condition is
quantified over the index. Under a derivative it is the strict, open condition, taken at the
point: each operation is then smooth in a neighbourhood, so the derivative exists. A limit asks
nothing of its function: that this is defined from some point on is a part of what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from proofs.language.effort import spend
from proofs.language.infer import Scope, infer, polynomial, random_degree
from proofs.language.sizes import ONE, Size, size_term
from proofs.language.tree import (
    Term,
    binders_at,
    bound,
    instantiate,
    natural,
    pair,
    rational,
    shift,
    term,
)

ZERO = rational(0)
BRANCH_POINT = term("neg", term("exp", rational(-1)))  # of Lambert W: -1/e

# Not differentiable everywhere, so refused under a derivative where they depend on its variable.
NOT_SMOOTH = frozenset({"max", "min", "rank", "expect_given", "cov_given", "logpdf_on_support"})
INDEXED = frozenset({"entry", "unit", "member"})
MOMENTS = frozenset({"expect", "cov"})
# Polynomials in their arguments, or in the first of them.
_POLYNOMIAL = frozenset(
    {"add", "sub", "neg", "mul", "transpose", "adjoint", "conj", "tr", "inner", "norm2", "block"}
)
_MULTILINEAR = frozenset({"diag", "vec", "kron", "hadamard", "sum", "comprehension"})
_POLYNOMIAL_IN_FIRST = frozenset({"div", "entry", "pow"})


class NotDefined(ValueError):
    """A term that isn't shown to be defined; carries the condition that is missing, if one is."""

    def __init__(self, message: str, condition: Term | None = None) -> None:
        super().__init__(message)
        self.condition = condition


@dataclass(frozen=True, slots=True)
class Binder:
    """One enclosing binder: a derivative with its point, or quantified variables."""

    point: Term | None = None
    count: int = 1
    conditions: tuple[Term, ...] = ()
    limits: tuple[Term, Term] | None = None  # between which the one index of a sum lies


def obligations(root: Term, scope: Scope) -> list[Term]:
    """The conditions, closed up to the free variables of `root`, under which `root` is defined.

    Raises:
        NotDefined: an operation that is not smooth stands under a derivative, or one whose
            condition this checker can't state.
    """
    if is_total(root):
        return []
    found: dict[Term, None] = {}
    stack: list[tuple[Term, tuple[Binder, ...]]] = [(root, ())]
    seen: set[tuple[int, tuple[Binder, ...]]] = set()
    while stack:
        node, binders = stack.pop()
        if is_total(node) or (id(node), binders) in seen or node.op.endswith("_type"):
            continue
        seen.add((id(node), binders))
        spend(2 + len(node.args) + len(binders))
        # A closed node doesn't move with the variable of a derivative.
        moves = node.free > 0 and any(b.point is not None for b in binders)
        if moves and node.op in NOT_SMOOTH:
            raise NotDefined(f"{node.op} is not supported under a derivative")
        if node.op in INDEXED:
            for condition in _indices_in_range(node, binders, scope):
                found[_close(condition, binders)] = None
        if node.op in MOMENTS:
            _check_moments(node, scope)
        if node.op == "logpdf" and moves:  # definite is open only among symmetric matrices
            around = tuple(b if b.point is None else Binder() for b in binders)
            found[_close(term("eq", term("transpose", node.args[2]), node.args[2]), around)] = None
        if node.op == "logpdf_on_support":
            found[_close(_in_support(*node.args), binders)] = None
        stated = CONDITIONS.get(node.op)
        condition = stated(node.args, moves, scope) if stated else None
        if node.op == "pow" and _is_natural(node.args[1], binders, scope):
            condition = None
        if condition is not None:
            found[_close(condition, binders)] = None
        for position, arg in enumerate(node.args):
            under = binders
            if node.op == "limit" and position == 0:
                continue  # that it is defined from some point on is part of what a limit says
            if binders_at(node.op, node.data, position):
                under = (*binders, _binder(node, position))
            stack.append((arg, under))
    return list(found)


def _binder(node: Term, position: int) -> Binder:
    """The binder that an argument stands under; a condition stands under those before it."""
    if node.op in ("deriv", "grad"):
        return Binder(point=node.args[1])
    if node.op == "forall":
        types, conditions = pair(node)
        earlier = node.args[types : min(position, types + conditions)]
        among = node.args[0].op == "index_type"
        limits = (rational(1), node.args[0].args[0]) if among else None
        return Binder(count=types, conditions=earlier, limits=limits)
    if node.op in ("sum", "prod"):
        low, high, body = node.args
        index = bound(0, bound_types(body, 1)[0] or term("integer_type"))
        within: tuple[Term, ...] = ()
        if index.args[0].op == "integer_type":  # its type doesn't say where it lies
            within = (term("ge", index, shift(low, 1)), term("le", index, shift(high, 1)))
        return Binder(conditions=within, limits=(low, high))
    if node.op == "comprehension":
        return Binder(limits=(rational(1), node.args[0]))
    return Binder()


def _unit(x: Term, scope: Scope) -> Term:
    return term("ne", x, ZERO) if infer(x, scope).is_scalar else term("invertible", x)


def _full_rank(x: Term) -> Term:
    """That x has full row or full column rank: one of its Gram matrices has a determinant."""
    y = term("adjoint", x)
    grams = (term("mul", x, y), term("mul", y, x))
    return term("ne", term("add", *(term("det", g) for g in grams)), ZERO)


def _in_support(x: Term, m: Term, s: Term) -> Term:
    """That x - m lies in the range of s."""
    off = term("sub", x, m)
    return term("eq", term("mul", term("mul", s, term("pinv", s)), off), off)


def _power_condition(base: Term, exponent: Term, scope: Scope) -> Term | None:
    if infer(exponent, scope).domain not in ("dimension", "index", "integer"):
        return term("gt", base, ZERO)
    return _unit(base, scope)


def _is_natural(exponent: Term, binders: tuple[Binder, ...], scope: Scope) -> bool:
    """Whether an exponent is surely an integer >= 0, also for all values of the indices in it."""
    if infer(exponent, scope).domain not in ("dimension", "index", "integer"):
        return False
    least = _extreme(exponent, binders, scope, 1)
    return least is not None and least.at_least(Size.literal(0))


def _extreme(x: Term, binders: tuple[Binder, ...], scope: Scope, sign: int) -> Size | None:
    """The least value of an integer (the greatest where `sign` is -1), for all values of the
    indices in it, innermost first: a bound is sought where it is linear in each of them."""
    variables: list[str] = []
    limits: list[tuple[Term, Term] | None] = []
    for binder in binders:
        variables += [f"\0{len(variables) + i}" for i in range(binder.count)]
        limits += [binder.limits if binder.count == 1 else None] * binder.count
    indices = {n: t.limit for n, t in scope.types.items() if t.domain == "index" and t.limit}
    dimensions = scope.dimensions | set(variables) | set(indices)

    def read(node: Term, depth: int) -> Size | None:
        names = tuple(term("name", data=n) for n in variables[:depth])
        return polynomial(instantiate(node, names), dimensions)

    value = read(x, len(variables))
    known = [
        (n, (read(r[0], i), read(r[1], i)) if r else (None, None))
        for i, (n, r) in enumerate(zip(variables, limits, strict=True))
    ][::-1]
    known += [(n, (ONE, limit)) for n, limit in indices.items()]
    for variable, between in known:
        if value is None:
            return None
        holding = [(m, c) for m, c in value.terms if variable in m]
        if not holding:
            continue
        ((monomial, slope), *more) = holding
        end = between[0 if sign * slope > 0 else 1]
        if more or monomial != (variable,) or end is None:
            return None
        value = value + Size.literal(slope) * (end - Size.dimension(variable))
    return value


# The condition on the arguments of one operation, strict where it must be open; None if there is
# none. What isn't listed here, nor in the sets above, is total.
CONDITIONS: dict[str, Callable[[tuple[Term, ...], bool, Scope], Term | None]] = {
    "div": lambda args, strict, scope: term("ne", args[1], ZERO),
    "inv": lambda args, strict, scope: _unit(args[0], scope),
    "pow": lambda args, strict, scope: _power_condition(args[0], args[1], scope),
    "log": lambda args, strict, scope: term("gt", args[0], ZERO),
    "sqrt": lambda args, strict, scope: term("gt" if strict else "ge", args[0], ZERO),
    "lambertw": lambda args, strict, scope: term("gt" if strict else "ge", args[0], BRANCH_POINT),
    "abs": lambda args, strict, scope: term("ne", args[0], ZERO) if strict else None,
    "pinv": lambda args, strict, scope: _full_rank(args[0]) if strict else None,
    "logpdf": lambda args, strict, scope: term("positive_definite", args[2]),
    "logpdf_on_support": lambda args, strict, scope: term("positive_semidefinite", args[2]),
}
PARTIAL = NOT_SMOOTH | INDEXED | MOMENTS | CONDITIONS.keys()

_total: dict[Term, bool] = {}


def is_total(root: Term) -> bool:
    """Whether no partial operation occurs in a term at all, so that there is nothing to ask."""
    stack = [root]
    while root not in _total:
        node = stack[-1]
        missing = [a for a in node.args if a not in _total]
        if missing:
            stack += missing
        else:
            total = node.op not in PARTIAL or is_literal_power(node)
            _total[stack.pop()] = total and all(_total[a] for a in node.args)
    return _total[root]


def is_literal_power(node: Term) -> bool:
    """Whether a term is a power to an exponent 0, 1, 2, .. written as a number."""
    if node.op != "pow":
        return False
    exponent = node.args[1]
    return exponent.op == "rational" and str(exponent.data).isdecimal()


def is_polynomial(node: Term, scope: Scope) -> bool:
    """Whether a function of Gaussian names is a polynomial in the random ones of its arguments."""
    op, args = node.op, node.args
    if op == "pow" and not is_literal_power(node):
        return False
    return op in _POLYNOMIAL or (
        op in _POLYNOMIAL_IN_FIRST and not any(random_degree(a, scope) for a in args[1:])
    )


def _check_moments(root: Term, scope: Scope) -> None:
    """Expectations are of polynomials, exponentials and log-densities, and of products of these,
    all of which have moments of every order."""
    stack = list(root.args)
    while stack:
        node = stack.pop()
        if random_degree(node, scope) <= 1:
            continue
        degrees = [random_degree(a, scope) for a in node.args]
        if node.op in ("exp", "logpdf") and degrees[0] == 1 and not any(degrees[1:]):
            continue
        if node.op not in _MULTILINEAR and not is_polynomial(node, scope):
            raise NotDefined(f"the expectation of {node.op} is not known to exist")
        stack.extend(node.args)


def _indices_in_range(node: Term, binders: tuple[Binder, ...], scope: Scope) -> Iterator[Term]:
    """That each index of an entry or unit vector lies in its range, where that isn't sure."""
    kind = infer(node if node.op == "unit" else node.args[0], scope)
    sizes = kind.ranges if node.op == "member" else (kind.rows, kind.cols)
    for index, size in zip(node.args[1:], sizes, strict=False):  # a vector has one index
        if not is_index(index, size, scope):
            least, most = (_extreme(index, binders, scope, sign) for sign in (1, -1))
            if least is None or not least.at_least(ONE):
                yield term("ge", index, rational(1))
            if most is None or not size.at_least(most):
                yield term("le", index, size_term(size))


def is_index(node: Term, size: Size, scope: Scope) -> bool:
    """Whether a term surely denotes an integer from 1 to `size`."""
    kind = infer(node, scope)
    if kind.domain == "index" and kind.limit is not None:
        return size.at_least(kind.limit)
    value = polynomial(node, scope.dimensions)
    return value is not None and value.at_least(ONE) and size.at_least(value)


def _close(condition: Term, binders: tuple[Binder, ...]) -> Term:
    """The condition seen from outside: points put in, indices quantified, innermost first."""
    for binder in reversed(binders):
        if binder.point is not None:
            condition = instantiate(condition, (binder.point,))
            continue
        types = bound_types(condition, binder.count)
        if all(t is None for t in types):
            condition = instantiate(condition, (ZERO,) * binder.count)
            continue
        for side in binder.conditions:  # a variable that only a side condition mentions
            types = [a or b for a, b in zip(types, bound_types(side, binder.count), strict=True)]
        known = [t or term("real_type") for t in types]  # one that occurs nowhere: any type does
        shape = (binder.count, len(binder.conditions))
        condition = term("forall", *known, *binder.conditions, condition, data=shape)
    return condition


def bound_types(root: Term, count: int) -> list[Term | None]:
    """Types of the `count` innermost free variables, outermost first; None where one is absent."""
    found: list[Term | None] = [None] * count
    stack, seen = [(root, 0)], set()
    while stack:
        node, depth = stack.pop()
        if node.free <= depth or (id(node), depth) in seen:
            continue
        seen.add((id(node), depth))
        spend(1 + len(node.args))
        if node.op == "bound":
            index = natural(node) - depth
            if 0 <= index < count:
                found[count - 1 - index] = node.args[0]
            continue
        for position, arg in enumerate(node.args):
            stack.append((arg, depth + binders_at(node.op, node.data, position)))
    return found
