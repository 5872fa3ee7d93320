"""Untrusted. Limits of quotients of polynomials, by their leading coefficients."""

from __future__ import annotations

from proofs.checker.definedness import ZERO
from proofs.language.tree import Term, bound, postorder, rational, term
from proofs.search import squeezing
from proofs.search.workbench import Workbench

MAX_DEGREE = 24
REAL = term("real_type")
X = bound(0, REAL)
ONE = rational(1)
RECIPROCAL = term("div", ONE, X)

Coefficients = list[Term]  # by rising powers of x; ZERO where there is none
Quotient = tuple[Coefficients, Coefficients]


def limit(w: Workbench, body: Term, depth: int) -> int | None:
    """What a quotient of polynomials tends to, where it is a number."""
    if body is RECIPROCAL:
        return _reciprocal(w)
    parts = _quotient(body)
    if parts is None:
        return None
    above, below = (_cleared(w, p) for p in parts)
    if not below or len(above) > len(below):
        return None
    if body.op == "div" and all(_polynomial(a) is not None for a in body.args):
        return _direct(w, (body.args[0], above), (body.args[1], below))
    plain = term("div", *map(written, (above, below)))
    if plain is body or limit(w, plain, depth) is None:
        return None
    return squeezing.same(w, plain, body, depth)


def _direct(
    w: Workbench, numerator: tuple[Term, Coefficients], denominator: tuple[Term, Coefficients]
) -> int | None:
    """f/g from f/x^m and g/x^m, where m is the degree of g."""
    (f, above), (g, below) = numerator, denominator
    degree = len(below) - 1
    lead = below[-1]
    if w.attempt(term("ne", lead, ZERO)) is None:
        return None
    h = _power(X, degree)
    for part, coefficients in ((f, above), (g, below)):
        if _over(w, part, h, coefficients, degree) is None:
            return None
    top = above[degree] if len(above) > degree else ZERO
    return w.schema("limit_quotient", f=f, g=g, h=h, a=top, b=lead)


def _over(w: Workbench, f: Term, h: Term, coefficients: Coefficients, degree: int) -> int | None:
    """The limit of f/x^m, as q(1/x) with the polynomial q of the coefficients in reverse."""
    q = written([ZERO] * (degree + 1 - len(coefficients)) + coefficients[::-1])
    if _reciprocal(w) is None:
        return None
    if not q.free:
        place = w.schema("limit_constant", c=q)
    else:
        place = w.schema("limit_continuous", f=RECIPROCAL, g=q, a=ZERO)
    if place is None:
        return None
    return squeezing.same(w, w.facts.facts[place].relation.args[0], term("div", f, h), 0)


def _reciprocal(w: Workbench) -> int | None:
    """1/x tends to 0."""
    place = w.schema("limit_power", p=ONE)
    if place is None:
        return None
    return squeezing.same(w, w.facts.facts[place].relation.args[0], RECIPROCAL, 0)


# ---------------------------------------------------------------- polynomials in x


def slope(node: Term) -> Term | None:
    """c, where a term is c*x."""
    above, below = _quotient(node) or ([], [])
    if len(above) != 2 or above[0] is not ZERO or len(below) != 1:
        return None
    return above[1] if below[0] is ONE else term("div", above[1], below[0])


def written(coefficients: Coefficients) -> Term:
    """A polynomial as a term, highest power first."""
    total: Term | None = None
    for k in reversed(range(len(coefficients))):
        if coefficients[k] is not ZERO:
            part = _power(X, k)
            part = part if coefficients[k] is ONE else term("mul", coefficients[k], part)
            part = coefficients[k] if k == 0 else part
            total = part if total is None else term("add", total, part)
    return ZERO if total is None else total


def _power(x: Term, k: int) -> Term:
    return ONE if k == 0 else x if k == 1 else term("pow", x, rational(k))


def _cleared(w: Workbench, coefficients: Coefficients) -> Coefficients:
    """The coefficients in their normal form, without leading zeros."""
    found = []
    for c in coefficients:
        w.learn(c)
        found.append(w.raising.poly(w.facts.lowering.lower(c)))
    while found and found[-1] is ZERO:
        found.pop()
    return found


def _polynomial(node: Term) -> Coefficients | None:
    """The coefficients of what is written as a polynomial in x."""
    found = _quotient(node)
    return found[0] if found is not None and found[1] == [ONE] else None


def _quotient(root: Term) -> Quotient | None:
    """Numerator and denominator of what is written with x by rational operations alone."""
    done: dict[Term, Quotient | None] = {}
    for node in postorder([root]):
        found = _of_node(node, done)
        modest = found is not None and max(map(len, found)) <= MAX_DEGREE
        done[node] = found if modest else None
    return done[root]


def _of_node(node: Term, done: dict[Term, Quotient | None]) -> Quotient | None:
    op, args = node.op, node.args
    if not node.free:
        return [node], [ONE]
    if node is X:
        return [ZERO, ONE], [ONE]
    if op == "pow":
        return _power_of(done[args[0]], args[1])
    parts = [p for p in (done[a] for a in args) if p is not None]
    if op not in ("add", "sub", "mul", "div", "neg", "inv") or len(parts) != len(args):
        return None
    a, b = parts[0]
    if op == "neg":
        return _times([rational(-1)], a), b
    if op == "inv":
        return b, a
    c, d = parts[1]
    if op == "mul":
        return _times(a, c), _times(b, d)
    if op == "div":
        return _times(a, d), _times(b, c)
    second = c if op == "add" else _times([rational(-1)], c)
    if b == d:
        return _plus(a, second), b
    return _plus(_times(a, d), _times(second, b)), _times(b, d)


def _power_of(base: Quotient | None, exponent: Term) -> Quotient | None:
    turns = exponent.op == "neg"
    number = exponent.args[0] if turns else exponent
    if base is None or number.op != "rational" or "/" in str(number.data):
        return None
    count = int(str(number.data)) * (-1 if turns else 1)
    if abs(count) > MAX_DEGREE:
        return None
    above, below = base if count >= 0 else (base[1], base[0])
    found: Quotient = [ONE], [ONE]
    for _ in range(abs(count)):
        found = _times(found[0], above), _times(found[1], below)
        if max(map(len, found)) > MAX_DEGREE:
            return None
    return found


def _plus(a: Coefficients, b: Coefficients) -> Coefficients:
    found = []
    for k in range(max(len(a), len(b))):
        x, y = (c[k] if k < len(c) else ZERO for c in (a, b))
        found.append(x if y is ZERO else y if x is ZERO else term("add", x, y))
    return found


def _times(a: Coefficients, b: Coefficients) -> Coefficients:
    found = [ZERO] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if x is not ZERO and y is not ZERO:
                product = y if x is ONE else x if y is ONE else term("mul", x, y)
                found[i + j] = (
                    product if found[i + j] is ZERO else term("add", found[i + j], product)
                )
    return found
