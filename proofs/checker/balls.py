"""Trusted. Inequalities between functions of real numbers in a box, by enclosures.

This module trusts FLINT: that `arb` encloses what it computes, rounding included. The rest of the
checker is standard library, and loads this module only where a certificate calls for it.

A step names some real terms, the variables; known inequalities keep each of them between constants,
and both sides of the goal are functions of them alone. What holds for all numbers in the box holds
for these terms, however they depend on one another. The box is cut into parts, and on each part the
difference f of the sides is enclosed:

    value             f itself
    mean              f(m) + sum of f_i(part)*(x_i - m_i), with m the midpoint
    taylor p, z, k    (x - p)^z*(sum of c_j(p)*(x - p)^(j - z) for z <= j < k, and the same with
                      c_k at all points between), where c_j is the j-th derivative over j!; those
                      before z are zero at p, which is computed exactly

Parts are closed, and wider than the exact ones by rounding. Wherever something isn't finite, or may
not be smooth where derivatives are taken, there is no enclosure. That f is defined where the goal
speaks of it is shown as for any other goal; a root is taken as that of a number >= 0 because of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import Any

from flint import arb, ctx, fmpq

from proofs.language.effort import spend
from proofs.language.tree import Term, is_canonical_rational, postorder, term

MAX_PRECISION = 1000  # bits
MAX_ORDER = 12
MAX_POWER = 1000
MAX_EXPONENT = 100  # of 2: larger numbers have no sine or cosine here, which are work to reduce
MAX_BITS = 20_000  # of an exact coefficient
MAX_END = 10_000  # the exponent of 2 in a bound that is rounded

# Continuous and increasing where they are defined, so that the ends enclose the values between.
INCREASING: dict[str, Callable[[arb], arb]] = {
    "exp": arb.exp,
    "log": arb.log,
    "sqrt": arb.sqrt,
    "tanh": arb.tanh,
    "erf": arb.erf,
    "lambertw": arb.lambertw,
}
# The one rational point at which a function has a rational value, with this value.
RATIONAL = {
    "exp": (0, 1),
    "log": (1, 0),
    "sqrt": (1, 1),
    "tanh": (0, 0),
    "erf": (0, 0),
    "lambertw": (0, 0),
    "sin": (0, 0),
    "cos": (0, 1),
}
ARITHMETIC = frozenset({"rational", "constant", "neg", "add", "sub", "mul", "div", "pow"})
OPERATIONS = ARITHMETIC | RATIONAL.keys() | {"abs", "max", "min"}

# The first coefficients of a power series: balls, or rationals as far as these are known.
Series = list[Any]


class NoEnclosure(ValueError):
    """What was to be shown is not shown by enclosures."""


@dataclass(frozen=True, slots=True)
class Side:
    """Where one variable lies: between two rationals, which an open side leaves out."""

    low: Fraction
    high: Fraction
    open_low: bool = False
    open_high: bool = False

    def ball(self) -> arb:
        return number(self.low).union(number(self.high))

    def cut(self, at: Fraction) -> tuple[Side, Side]:
        if not self.low < at < self.high:
            raise NoEnclosure("a cut lies inside of the part that it cuts")
        return Side(self.low, at, self.open_low), Side(at, self.high, False, self.open_high)

    def leaves_out(self, p: Fraction) -> bool:
        below = p < self.low or (p == self.low and self.open_low)
        return below or p > self.high or (p == self.high and self.open_high)


Part = tuple[Side, ...]


@contextmanager
def precision(bits: object) -> Iterator[None]:
    """FLINT computes with so many bits.

    Raises:
        NoEnclosure: no number of bits, or too many.
    """
    if isinstance(bits, bool) or not isinstance(bits, int) or not 2 <= bits <= MAX_PRECISION:
        raise NoEnclosure(f"a precision is a number of bits from 2 to {MAX_PRECISION}")
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def prove(goal: Term, variables: list[Term], bounds: list[Term], bits: object, cover: Any) -> None:
    """That an inequality holds for all values of its variables that known bounds allow.

    Args:
        goal: `>`, `>=`, `<`, `<=` or `!=` between real scalars.
        variables: real terms, in terms of which both sides are written.
        bounds: inequalities, each between a variable and a constant.
        bits: the precision.
        cover: in what parts the box falls, and how each is dealt with: `["cut", variable, at]`
            before the two parts, the lower first, and one of `["value"]`, `["mean"]` and
            `["taylor", p, z, k]` for each that is not cut further.

    Raises:
        NoEnclosure: the cover doesn't show it, or isn't one.
    """
    with precision(bits):
        f = Function(goal, variables)
        parts = [box(variables, bounds)]
        if not isinstance(cover, list):
            raise NoEnclosure("a cover is a list")
        for row in cover:
            if not parts or not isinstance(row, list) or not row:
                raise NoEnclosure("a cover is a list of rows, one for each part and each cut")
            part, (kind, *rest) = parts.pop(), row
            if kind == "cut" and len(rest) == 2:
                i = _whole(rest[0], len(variables))
                low, high = part[i].cut(_rational(rest[1]))
                parts += [(*part[:i], side, *part[i + 1 :]) for side in (high, low)]
            elif not f.holds(part, kind, rest):
                raise NoEnclosure(f"an enclosure doesn't show it where the variables are in {part}")
        if parts:
            raise NoEnclosure("the parts don't cover the box")


def box(variables: list[Term], bounds: list[Term]) -> Part:
    """Where known inequalities keep the variables.

    Raises:
        NoEnclosure: a variable has no bound on one side, or a bound is something else.
    """
    lows: dict[Term, list[tuple[Fraction, bool]]] = {x: [] for x in variables}
    highs: dict[Term, list[tuple[Fraction, bool]]] = {x: [] for x in variables}
    for relation in bounds:
        if relation.op not in ("gt", "ge", "lt", "le"):
            raise NoEnclosure("a bound is an inequality")
        small, large = relation.args[:: -1 if relation.op in ("gt", "ge") else 1]
        for x, constant, is_low in ((large, small, True), (small, large, False)):
            if x in lows:
                at, is_exact = end(constant, is_low)
                is_open = is_exact and relation.op in ("gt", "lt")
                (lows if is_low else highs)[x].append((at, is_open))
                break
        else:
            raise NoEnclosure("a bound is between a variable and a constant")
    if not all(lows[x] and highs[x] for x in variables):
        raise NoEnclosure("a variable is bounded on both sides")
    found = []
    for x in variables:
        low, open_low = max(lows[x])
        high, is_closed = min((at, not is_open) for at, is_open in highs[x])
        if low > high:
            raise NoEnclosure("the bounds of a variable contradict each other")
        found.append(Side(low, high, open_low, not is_closed))
    return tuple(found)


def end(constant: Term, is_low: bool) -> tuple[Fraction, bool]:
    """A bound as a rational, with whether it is the bound itself; else one a little outside.

    Raises:
        NoEnclosure: it is no constant, or there is no saying where it lies.
    """
    table = Table(constant, [])
    known = table.series({}, 1, exact=True)
    if known:
        return Fraction(int(known[0].p), int(known[0].q)), True
    (value,) = table.series({}, 1)
    mantissa, exponent = (value.lower() if is_low else value.upper()).man_exp()
    if abs(exponent) > MAX_END:
        raise NoEnclosure("a bound is too large or too small")
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent), False


class Function:
    """The difference of the sides of an inequality, larger minus smaller."""

    def __init__(self, goal: Term, variables: list[Term]) -> None:
        if goal.op not in ("gt", "ge", "lt", "le", "ne"):
            raise NoEnclosure(f"{goal.op} is not shown by enclosures")
        if len(set(variables)) != len(variables):
            raise NoEnclosure("a variable is named twice")
        self.op = {"lt": "gt", "le": "ge"}.get(goal.op, goal.op)
        sides = goal.args[::-1] if goal.op in ("lt", "le") else goal.args
        self.variables = variables
        self.table = Table(term("sub", *sides), variables)

    def holds(self, part: Part, kind: object, rest: list[Any]) -> bool:
        """Whether an enclosure of this kind shows the inequality on a part."""
        if kind == "value" and not rest:
            balls = [side.ball() for side in part]
            return self._is_signed(self.series(balls, 1)[0])
        if kind == "mean" and not rest:
            return self._is_signed(self._mean(part))
        if kind == "taylor" and len(rest) == 3 and len(part) == 1:
            order = _whole(rest[2], MAX_ORDER + 1)
            return self._taylor(part[0], _rational(rest[0]), _whole(rest[1], order + 1), order)
        raise NoEnclosure(f"unknown row {kind!r:.40}")

    def _is_signed(self, value: arb) -> bool:
        if not value.is_finite():
            return False
        if self.op == "ne":
            return bool(value != 0)
        return bool(value > 0 if self.op == "gt" else value >= 0)

    def series(self, balls: list[arb], terms: int, moving: int = 0) -> Series:
        """The coefficients in one variable, at all points of some balls."""
        rest = [arb(0)] * (terms - 1)
        values = {x: [b, *rest] for x, b in zip(self.variables, balls, strict=True)}
        if terms > 1:
            values[self.variables[moving]][1] = arb(1)
        return self.table.series(values, terms)

    def _mean(self, part: Part) -> arb:
        balls = [side.ball() for side in part]
        middle = [number((side.low + side.high) / 2) for side in part]
        (total,) = self.series(middle, 1)
        for i, (ball, m) in enumerate(zip(balls, middle, strict=True)):
            total += self.series(balls, 2, i)[1] * (ball - m)
        return total

    def _taylor(self, side: Side, p: Fraction, zeros: int, order: int) -> bool:
        here = [fmpq(p.numerator, p.denominator), fmpq(1), *[fmpq(0)] * zeros]
        known = self.table.series({self.variables[0]: here[:zeros]}, zeros, exact=True)
        if len(known) < zeros or any(c != 0 for c in known):
            return False
        point = number(p)
        between = point.union(side.ball())
        total = self.series([between], order + 1)[order]
        at_point = self.series([point], order) if order > zeros else []
        for j in range(order - 1, zeros - 1, -1):
            total = total * (between - point) + at_point[j]
        if zeros % 2 and p > side.low:  # (x - p)^zeros isn't positive on one side of p
            if p < side.high and self.op != "ne":
                return False
            total = -total
        return self._is_signed(total) and (zeros == 0 or self.op == "ge" or side.leaves_out(p))


class Table:
    """The nodes of a term below which only variables stand, to be evaluated in their order."""

    def __init__(self, root: Term, variables: list[Term]) -> None:
        self.root = root
        self.nodes = postorder([root], set(variables))
        for node in self.nodes:
            if node.op not in OPERATIONS:
                raise NoEnclosure(f"{node.op} has no enclosure here")

    def series(self, values: dict[Term, Series], terms: int, exact: bool = False) -> Series:
        """The coefficients of the root, from those of the variables.

        Of balls there are all, and they are finite, so that the function is smooth at all points
        around which these are expansions. Exact ones are those that are known of a function that is
        smooth around the point: the caller sees to that.
        """
        spend((6 + terms**3) * (1 + ctx.prec // 64) * (1 + len(self.nodes)))
        for node in self.nodes:
            found = _apply(node, [values[a] for a in node.args], terms, exact)
            if exact:
                large = (k for k, c in enumerate(found) if c.height_bits() > MAX_BITS)
                found = found[: next(large, terms)]
            elif len(found) < terms or not all(c.is_finite() for c in found):
                raise NoEnclosure(f"{node.op} is not finite, or not smooth")
            values[node] = found
        return values[self.root]


# ---------------------------------------------------------------- one operation on series


def _apply(node: Term, args: list[Series], terms: int, exact: bool) -> Series:
    match node.op:
        case "rational":
            value = fmpq(*map(int, str(node.data).split("/")))
            return _constant(value if exact else arb(value), terms)
        case "constant" if not exact and node.data in ("pi", "e"):
            return _constant(arb.pi() if node.data == "pi" else arb.const_e(), terms)
        case "neg":
            return [-c for c in args[0]]
        case "add":
            return [a + b for a, b in zip(*args, strict=False)]
        case "sub":
            return [a - b for a, b in zip(*args, strict=False)]
        case "mul":
            return _product(args[0], args[1], terms)
        case "div":
            return _product(args[0], _reciprocal(args[1]), terms)
        case "pow":
            return _power(node, args[0], args[1], terms, exact)
        case "sin" | "cos":
            return _angle(args[0], exact)[node.op == "cos"]
        case "abs":
            if terms == 1 and not exact:
                return [args[0][0].abs_lower().union(args[0][0].abs_upper())]
            return _larger(args[0], [-c for c in args[0]])
        case "max" | "min" if len(args) == 2:
            if terms == 1 and not exact:
                (x,), (y,) = args
                return [x.max(y) if node.op == "max" else x.min(y)]
            return _larger(args[0], args[1], 1 if node.op == "max" else -1)
        case op if op in INCREASING:
            return _function(op, args[0], terms, exact)
    return []


def _constant(value: Any, terms: int) -> Series:
    return [value, *[value * 0] * (terms - 1)][:terms]


def _leading_zeros(a: Series) -> int:
    return sum(1 for _ in takewhile(lambda c: c == 0, a))  # `!=` is another thing between balls


def _product(a: Series, b: Series, terms: int) -> Series:
    """The coefficients to which nothing unknown contributes."""
    found = []
    for k in range(min(len(a) + _leading_zeros(b), len(b) + _leading_zeros(a), terms)):
        places = range(max(0, k + 1 - len(b)), min(k + 1, len(a)))
        found.append(sum((a[i] * b[k - i] for i in places), (a or b)[0] * 0))
    return found


def _reciprocal(a: Series) -> Series:
    """1/a, of which nothing is known where the first coefficient may be zero."""
    found: Series = []
    for k in range(len(a) if a and a[0] != 0 else 0):
        total = sum((a[j] * found[k - j] for j in range(1, k + 1)), a[0] * 0)
        found.append(((1 if k == 0 else 0) - total) / a[0])
    return found


def _larger(one: Series, two: Series, sign: int = 1) -> Series:
    """Of two series the one with the larger value, where it is sure which that is."""
    gap = (one[0] - two[0]) * sign if one and two else 0
    return one if gap > 0 else two if gap < 0 else []


def _value(op: str, x: Any, exact: bool) -> Series:
    """The value of a function at a number, if it is known."""
    if exact:
        point, value = RATIONAL[op]
        return [fmpq(value)] if x == point else []
    if op in ("sin", "cos"):
        small = abs(x) < arb(2) ** MAX_EXPONENT
        return [x.sin() if op == "sin" else x.cos()] if small else []
    low, high = x.lower(), x.upper()
    if op == "sqrt" and low < 0:  # the argument of a root is not less, other than by rounding
        low = arb(0)
    return [INCREASING[op](low).union(INCREASING[op](high))]


def _function(op: str, u: Series, terms: int, exact: bool) -> Series:
    """f(u), coefficient by coefficient, from its derivative f'(u)*u'."""
    rates = [j * c for j, c in enumerate(u)][1:]
    found = _value(op, u[0], exact) if u else []
    while 0 < len(found) < terms:
        growth = _product(rates, _slope(op, u, found, exact), len(found))
        if len(growth) < len(found):
            break
        found.append(growth[-1] / len(found))
    return found


def _slope(op: str, u: Series, found: Series, exact: bool) -> Series:
    """f'(u), as far as f(u) has been found."""
    known = len(found)
    if op == "exp":
        return found
    if op == "log":
        return _reciprocal(u[:known])
    if op == "sqrt":
        return _reciprocal([2 * c for c in found])
    if op == "tanh":
        return [(k == 0) - c for k, c in enumerate(_product(found, found, known))]
    if op == "lambertw":  # exp(-w)/(1 + w)
        decay = _function("exp", [-c for c in found], known, exact)
        return _product(decay, _reciprocal([c + (k == 0) for k, c in enumerate(found)]), known)
    if exact:  # the slope of erf isn't rational
        return []
    density = _function("exp", [-c for c in _product(u, u, known)], known, exact)
    return [2 * c / arb.pi().sqrt() for c in density]


def _angle(u: Series, exact: bool) -> tuple[Series, Series]:
    """Sine and cosine, each by the other as its derivative."""
    sine, cosine = (_value(op, u[0], exact) if u else [] for op in ("sin", "cos"))
    for k in range(1, len(u) if sine and cosine else 0):
        for found, other, sign in ((sine, cosine, 1), (cosine, sine, -1)):
            total = sum((j * u[j] * other[k - j] for j in range(2, k + 1)), u[1] * other[k - 1])
            found.append(sign * total / k)
    return sine, cosine


def _power(node: Term, u: Series, exponent: Series, terms: int, exact: bool) -> Series:
    n = _integer(node.args[1])
    if n is None:
        logarithm = _function("log", u, terms, exact)
        return _function("exp", _product(exponent, logarithm, terms), terms, exact)
    if abs(n) > (MAX_ORDER if exact else MAX_POWER):
        return []
    found, square = _constant(fmpq(1) if exact else arb(1), terms), u
    for bit in reversed(f"{abs(n):b}"):
        found = _product(found, square, terms) if bit == "1" else found
        square = _product(square, square, terms)
    found = found if n >= 0 else _reciprocal(found)
    if not exact and found and n % 2 == 0:  # which is never negative
        ends = (u[0].abs_lower() ** n, u[0].abs_upper() ** n)
        found[0] = ends[0].union(ends[1])
    return found


def _integer(exponent: Term) -> int | None:
    """An exponent that is written as an integer."""
    if exponent.op == "neg" and exponent.args[0].op == "rational":
        number = _integer(exponent.args[0])
        return None if number is None else -number
    is_whole = exponent.op == "rational" and "/" not in str(exponent.data)
    return int(str(exponent.data)) if is_whole else None


# ---------------------------------------------------------------- reading


def number(value: Fraction) -> arb:
    """A ball around a rational."""
    return arb(fmpq(value.numerator, value.denominator))


def _rational(value: object) -> Fraction:
    if not isinstance(value, str) or not is_canonical_rational(value):
        raise NoEnclosure("a point is a rational number in a string")
    return Fraction(value)


def _whole(value: object, limit: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < limit:
        raise NoEnclosure(f"{value!r:.40} is no number below {limit}")
    return value
