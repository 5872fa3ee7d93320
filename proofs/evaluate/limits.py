"""What a term tends to as its variable grows, and the rational function that it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from flint import fmpq_poly

from proofs.evaluate import functions, germs
from proofs.evaluate.germs import Germ
from proofs.evaluate.values import Matrix, UndecidedHere, UndefinedHere, scalar
from proofs.language.tree import Term, natural

MAX_TERMS = 200  # of a sum or product in which the variable stands
Bound = tuple[Germ, ...]  # what free variables stand for, innermost first

RULES: Mapping[str, Callable[..., Germ]] = {
    "add": germs.plus,
    "sub": lambda a, b: germs.plus(a, germs.minus(b)),
    "neg": germs.minus,
    "mul": germs.times,
    "div": lambda a, b: germs.times(a, germs.reciprocal(b)),
    "inv": germs.reciprocal,
    "pinv": germs.pseudo_inverse,
    "pow": germs.power,
    "exp": germs.exp,
    "log": germs.log,
    "sqrt": germs.sqrt,
    "lambertw": germs.lambertw,
    "abs": germs.absolute,
    "sin": lambda a: germs.continuous(functions.sin, a),
    "cos": lambda a: germs.continuous(functions.cos, a),
    "tanh": lambda a: germs.saturating(functions.tanh, a),
    "erf": lambda a: germs.saturating(functions.erf, a),
    "max": germs.larger,
    "min": lambda a, b: germs.minus(germs.larger(germs.minus(a), germs.minus(b))),
}
RATIONAL = frozenset({"add", "sub", "neg", "mul", "div", "inv", "pow"})


class Closed(Protocol):
    """What evaluates the terms in which no bound variable is free."""

    def value(self, root: Term, env: tuple[object, ...]) -> object: ...


def tends_to(body: Term, closed: Closed) -> Matrix | int | None:
    """What the body of a limit tends to: a number, 1 or -1 for infinity; None where it has no
    value for large x.

    Raises:
        UndecidedHere: it isn't known.
    """
    try:
        return germs.limit(germ(body, (germs.variable(),), closed))
    except UndefinedHere:
        return None


def germ(root: Term, env: Bound, closed: Closed) -> Germ:
    """What a term is for all large x.

    Raises:
        UndefinedHere: it has no value for large x.
        UndecidedHere: it isn't known.
    """
    return _walk(root, env, closed, None)


def rational(body: Term, closed: Closed) -> tuple[germs.Ratio, list[fmpq_poly]]:
    """A body as a rational function, and the polynomials that it divides by: it has a value, and
    is this function, wherever none of them is 0.

    Raises:
        UndefinedHere, UndecidedHere: it divides by 0, or is no rational function.
    """
    divisors: list[fmpq_poly] = []
    found = _walk(body, (germs.variable(),), closed, divisors)
    if found.ratio is None:
        raise UndecidedHere("no rational function")
    return found.ratio, divisors


def _walk(root: Term, env: Bound, closed: Closed, divisors: list[fmpq_poly] | None) -> Germ:
    """The germ; with a list of `divisors`, of rational operations alone, each of which is noted."""
    done: dict[Term, Germ] = {}
    for node in _order(root):
        if not node.free:
            done[node] = germs.constant(_real(closed.value(node, ())))
        elif node.op == "bound":
            done[node] = env[natural(node)]
        elif node.op == "apply":
            done[node] = _applied(closed.value(node.args[0], ()), done[node.args[1]], divisors)
        elif node.op in ("sum", "prod") and divisors is None:
            done[node] = _ranged(node, env, closed)
        else:
            rule = RULES.get(node.op)
            plain = node.op in RATIONAL or divisors is None
            if rule is None or not plain or (node.op in ("max", "min") and len(node.args) != 2):
                raise UndecidedHere(f"{node.op} for large x can't be evaluated")
            args = [done[a] for a in node.args]
            if divisors is not None:
                divisors += _divisors(node.op, args)
            done[node] = rule(*args)
    return done[root]


def _divisors(op: str, args: list[Germ]) -> list[fmpq_poly]:
    """The numerator of what an operation divides by."""
    is_negative = op == "pow" and args[1].sign == -1
    divisor = args[-1] if op in ("div", "inv") else args[0] if is_negative else None
    return [divisor.ratio.top] if divisor is not None and divisor.ratio else []


def _order(root: Term) -> Iterator[Term]:
    """The terms under `root`, arguments first; leaves are those that are closed, or whose arguments
    are not evaluated one by one."""
    stack, seen = [(root, False)], set[Term]()
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            if node.op == "apply":
                stack.append((node.args[1], False))
            elif node.free and node.op in RULES:
                stack.extend((a, False) for a in reversed(node.args))


def _ranged(node: Term, env: Bound, closed: Closed) -> Germ:
    """A sum or product over a range of numbers, term by term."""
    low, high = (_walk(a, env, closed, None).ratio for a in node.args[:2])
    ends = [r.top[0] for r in (low, high) if r and r.top.degree() <= 0 == r.bottom.degree()]
    if len(ends) != 2 or any(end.q != 1 for end in ends):
        raise UndecidedHere("the limits of a sum or product must be integers")
    if ends[1] - ends[0] > MAX_TERMS:
        raise UndecidedHere("a sum or product is too long to evaluate for large x")
    is_sum = node.op == "sum"
    found = germs.constant(scalar(0 if is_sum else 1))
    for k in range(int(ends[0].p), int(ends[1].p) + 1):
        part = _walk(node.args[2], (germs.constant(scalar(k)), *env), closed, None)
        found = germs.plus(found, part) if is_sum else germs.times(found, part)
    return found


def _applied(f: object, x: Germ, divisors: list[fmpq_poly] | None) -> Germ:
    """The value of a model's function, by Horner's rule."""
    from proofs.evaluate.evaluator import FunctionValue  # which uses this module

    if not isinstance(f, FunctionValue) or (f.over and divisors is not None and not x.ratio):
        raise UndecidedHere("no function of numbers")
    step = germs.plus(x, germs.minus(germs.constant(_real(f.center))))
    total = germs.constant(_real(f.coefficients[-1]))
    for c in reversed(f.coefficients[:-1]):
        total = germs.plus(germs.times(step, total), germs.constant(_real(c)))
    below = germs.plus(germs.constant(scalar(1)), germs.times(step, step))
    for _ in range(f.over):  # 1 + (x - center)^2 is never 0
        total = germs.times(total, germs.reciprocal(below))
    return total


def _real(x: object) -> Matrix:
    if not isinstance(x, Matrix):
        raise UndecidedHere("no number")
    return x
