"""Germs: what a function of one real variable x is for all large x, as far as it is known.

Three views of the same germ, each of which may be missing:

    ratio       it is this quotient of polynomials, exactly
    expansion   it is x^shift*(slope*x + power*log(x) + constant + o(1))
    growth      it is factor*x^power*log(x)^logs*exp(rate*x)*(1 + o(1)), and factor isn't 0

Of what outgrows all of these it is known that it diverges, with which sign. Each operation carries
all the views over that it can. Slopes, powers and rates are rational, so that what cancels does so
exactly; factors and constants may be balls. Not every function that has a limit is reached; of the
others nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq, fmpq_poly

from proofs.evaluate import functions
from proofs.evaluate.decisions import sign
from proofs.evaluate.values import (
    Matrix,
    UndecidedHere,
    UndefinedHere,
    add,
    mul,
    scalar,
    sub,
)

MAX_DEGREE = 200
MAX_POWER = 64
SMALL = -1_000  # of what falls faster than any power of x
ZERO = fmpq(0)
NOTHING = scalar(0)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A quotient of coprime polynomials; the lower one has the leading coefficient 1."""

    top: fmpq_poly
    bottom: fmpq_poly


@dataclass(frozen=True, slots=True)
class Expansion:
    """x^shift*(slope*x + power*log(x) + constant + o(1))."""

    shift: int
    slope: fmpq = ZERO
    power: fmpq = ZERO
    constant: Matrix = NOTHING

    def at(self, shift: int) -> Expansion:
        """The same with a larger shift, which says less."""
        if shift == self.shift:
            return self
        return Expansion(shift, constant=scalar(self.slope if shift == self.shift + 1 else ZERO))


@dataclass(frozen=True, slots=True)
class Growth:
    """factor*x^power*log(x)^logs*exp(rate*x)*(1 + o(1))."""

    factor: Matrix
    power: fmpq = ZERO
    logs: int = 0
    rate: fmpq = ZERO

    @property
    def order(self) -> tuple[fmpq, fmpq, int]:
        """What is larger grows faster; zeros belong to a constant."""
        return self.rate, self.power, self.logs


CONSTANT = (ZERO, ZERO, 0)


@dataclass(frozen=True, slots=True)
class Germ:
    """What is known of a function for all large x. Made by the functions of this module."""

    ratio: Ratio | None = None
    expansion: Expansion | None = None
    growth: Growth | None = None
    diverges: int = 0  # the sign of the infinity that it tends to, where nothing else is known

    @property
    def sign(self) -> int | None:
        """The sign that the function has for all large x, if one is known."""
        if self.growth is not None:
            return sign(self.growth.factor)
        if self.diverges:
            return self.diverges
        return 0 if self.ratio is not None else None


# ---------------------------------------------------------------- making germs


def of_ratio(top: fmpq_poly, bottom: fmpq_poly) -> Germ:
    """The germ of a quotient of polynomials.

    Raises:
        UndefinedHere: the lower one is 0.
        UndecidedHere: beyond the largest degree.
    """
    if bottom == 0:
        raise UndefinedHere("division by zero")
    if max(top.degree(), bottom.degree()) > MAX_DEGREE:
        raise UndecidedHere(f"polynomials of a degree above {MAX_DEGREE}")
    if top == 0:
        return Germ(Ratio(top, fmpq_poly([1])), Expansion(SMALL))
    common = top.gcd(bottom)
    top, bottom = top // common, bottom // common
    lead = bottom[bottom.degree()]
    top, bottom = top / lead, bottom / lead
    n, m = top.degree(), bottom.degree()
    first = top[n]
    second = (top[n - 1] if n else ZERO) - first * (bottom[m - 1] if m else ZERO)
    expansion = Expansion(n - m - 1, slope=first, constant=scalar(second))
    return Germ(Ratio(top, bottom), expansion, Growth(scalar(first), fmpq(n - m)))


def constant(x: Matrix) -> Germ:
    """The germ of a function that doesn't change.

    Raises:
        UndecidedHere: not a real number.
    """
    if x.shape != (1, 1) or x.im is not None:
        raise UndecidedHere("no real number")
    if x.exact:
        return of_ratio(fmpq_poly([x.re[0, 0]]), fmpq_poly([1]))
    return tending(x)


def variable() -> Germ:
    """The germ of x."""
    return of_ratio(fmpq_poly([0, 1]), fmpq_poly([1]))


def tending(limit: Matrix) -> Germ:
    """The germ of a function of which nothing but its limit is known."""
    return _germ(Expansion(0, constant=limit))


def _germ(expansion: Expansion | None = None, growth: Growth | None = None) -> Germ:
    """A germ whose views make up for each other; what an expansion says goes first."""
    from_expansion = None if expansion is None else _leading(expansion)
    growth = growth if from_expansion is None else from_expansion
    if expansion is None and growth is not None:
        expansion = _expanded(growth)
    if expansion is None and growth is None:
        raise UndecidedHere("nothing is known of this function for large x")
    return Germ(None, expansion, growth)


def _leading(e: Expansion) -> Growth | None:
    if e.slope != 0:
        return Growth(scalar(e.slope), fmpq(e.shift + 1))
    if e.power != 0:
        return Growth(scalar(e.power), fmpq(e.shift), 1)
    return Growth(e.constant, fmpq(e.shift)) if _sign(e.constant) else None


def _expanded(g: Growth) -> Expansion | None:
    if g.rate != 0:
        return Expansion(SMALL) if g.rate < 0 else None
    if g.logs > 0:
        return Expansion(int(g.power.floor()) + 1)
    is_power = g.logs == 0 and g.power.q == 1
    return Expansion(int(g.power.ceil()), constant=g.factor if is_power else NOTHING)


def _sign(x: Matrix) -> int:
    """The sign of a number; 0 too where it isn't known."""
    try:
        return sign(x)
    except UndecidedHere:
        return 0


def limit(a: Germ) -> Matrix | int:
    """What a germ tends to: a number, or 1 or -1 for infinity with that sign.

    Raises:
        UndecidedHere: it isn't known.
    """
    g, e = a.growth, a.expansion
    if a.diverges:
        return a.diverges
    if g is not None:
        if g.order == CONSTANT:
            return g.factor
        return sign(g.factor) if g.order > CONSTANT else NOTHING
    if e is None or e.shift > 0:
        raise UndecidedHere("a limit isn't decided", retry=True)
    return e.constant if e.shift == 0 else NOTHING


# ---------------------------------------------------------------- arithmetic


def plus(a: Germ, b: Germ) -> Germ:
    """a + b."""
    if a.ratio and b.ratio:
        p, q = a.ratio, b.ratio
        return of_ratio(p.top * q.bottom + q.top * p.bottom, p.bottom * q.bottom)
    if a.diverges or b.diverges:
        infinite = {x for x in (limit(a), limit(b)) if isinstance(x, int)}
        if len(infinite) > 1:
            raise UndecidedHere("a difference of what diverges")
        return Germ(diverges=infinite.pop())
    expansion = None
    if a.expansion and b.expansion:
        shift = max(a.expansion.shift, b.expansion.shift)
        e, f = a.expansion.at(shift), b.expansion.at(shift)
        expansion = Expansion(
            shift, e.slope + f.slope, e.power + f.power, _number(add(e.constant, f.constant))
        )
    return _germ(expansion, _larger(a, b))


def _larger(a: Germ, b: Germ) -> Growth | None:
    """The growth of a sum of which one part outgrows the other."""
    if a.sign == 0 or b.sign == 0:
        return a.growth or b.growth
    g, h = a.growth, b.growth
    if g is None or h is None:
        return None
    if g.order != h.order:
        return max(g, h, key=lambda x: x.order)
    total = _number(add(g.factor, h.factor))
    return Growth(total, g.power, g.logs, g.rate) if _sign(total) else None


def times(a: Germ, b: Germ) -> Germ:
    """a*b."""
    if a.ratio and b.ratio:
        p, q = a.ratio, b.ratio
        return of_ratio(p.top * q.top, p.bottom * q.bottom)
    if a.sign == 0 or b.sign == 0:
        return constant(NOTHING)
    if a.diverges or b.diverges:
        turns = 1
        for at in (limit(a), limit(b)):
            turns *= at if isinstance(at, int) else _sign(at)
        if not turns:
            raise UndecidedHere("a product of what diverges with what may tend to 0")
        return Germ(diverges=turns)
    growth = None
    if a.growth and b.growth:
        g, h = a.growth, b.growth
        factor = _number(mul(g.factor, h.factor))
        growth = Growth(factor, g.power + h.power, g.logs + h.logs, g.rate + h.rate)
        growth = growth if _sign(factor) else None
    expansion = _product(a, b) if a.expansion and b.expansion else None
    return _germ(expansion, growth)


def _product(a: Germ, b: Germ) -> Expansion | None:
    e, f = a.expansion, b.expansion
    if e is None or f is None:
        return None
    for germ, other in ((a, f), (b, e)):  # x^degree*lead*(1 + O(1/x)), and log(x)/x is o(1)
        if germ.ratio and germ.growth and other.slope == 0:
            lead, degree = germ.growth.factor, int(germ.growth.power.p)
            power = other.power * lead.re[0, 0]
            number = _number(mul(other.constant, lead))
            return Expansion(other.shift + degree, power=power, constant=number)
    if all(x.slope == x.power == 0 for x in (e, f)):
        return Expansion(e.shift + f.shift, constant=_number(mul(e.constant, f.constant)))
    cross = add(mul(scalar(e.slope), f.constant), mul(scalar(f.slope), e.constant))
    return Expansion(
        e.shift + f.shift + 1,
        e.slope * f.slope,
        e.slope * f.power + f.slope * e.power,
        _number(cross),
    )


def minus(a: Germ) -> Germ:
    """-a."""
    return times(constant(scalar(-1)), a)


def reciprocal(a: Germ) -> Germ:
    """1/a.

    Raises:
        UndefinedHere: a is 0.
    """
    if a.ratio:
        return of_ratio(a.ratio.bottom, a.ratio.top)
    g, e = a.growth, a.expansion
    if a.diverges:
        return tending(NOTHING)
    if g is None:
        raise UndecidedHere("whether a denominator is 0 isn't decided", retry=True)
    growth = Growth(_number(functions.inverse(g.factor)), -g.power, -g.logs, -g.rate)
    expansion = None
    if e is not None and e.slope != 0:
        square = e.slope**2
        number = mul(scalar(-1 / square), e.constant)
        expansion = Expansion(-e.shift - 2, 1 / e.slope, -e.power / square, _number(number))
    return _germ(expansion, growth)


# ---------------------------------------------------------------- functions


def log(a: Germ) -> Germ:
    """The logarithm.

    Raises:
        UndefinedHere: a isn't positive for large x.
    """
    g = _positive(a, "a logarithm")
    if g is None:
        return a
    lead = _number(functions.log(g.factor))
    if g.order == CONSTANT:
        return plus(constant(lead), _log_near_one(a, g.factor))
    if g.logs == 0:
        return _germ(Expansion(0, g.rate, g.power, lead))
    if g.rate != 0:
        return _germ(growth=Growth(scalar(g.rate), fmpq(1)))
    if g.power != 0:
        return _germ(growth=Growth(scalar(g.power), ZERO, 1))
    return Germ(diverges=1 if g.logs > 0 else -1)


def _log_near_one(a: Germ, at: Matrix) -> Germ:
    """log(a/at), where a tends to `at`: d - d^2/2 + O(d^3) for what a/at is above 1, or o(1)."""
    rest = plus(times(a, reciprocal(constant(at))), constant(scalar(-1)))
    e = rest.expansion
    if e is None or e.shift > -2:
        return tending(NOTHING)
    e = e.at(-2)
    number = _number(sub(e.constant, scalar(e.slope**2 / 2)))
    return _germ(Expansion(-2, e.slope, e.power, number))


def exp(a: Germ) -> Germ:
    """The exponential."""
    e = a.expansion
    if e is not None and e.shift <= -2:  # 1 + a + a^2/2 + O(a^3)
        e = e.at(-2)
        number = _number(add(e.constant, scalar(e.slope**2 / 2)))
        return plus(constant(scalar(1)), _germ(Expansion(-2, e.slope, e.power, number)))
    if e is not None and e.shift == -1:
        return tending(_number(functions.exp(scalar(e.slope))))
    if e is not None and e.shift == 0:
        factor = _number(functions.exp(e.constant))
        return _germ(growth=Growth(factor, e.power, 0, e.slope))
    at = limit(a)
    if isinstance(at, Matrix):
        return tending(_number(functions.exp(at)))
    if at > 0:
        return Germ(diverges=1)
    fast = a.growth is not None and (a.growth.rate > 0 or a.growth.power > 0)
    return _germ(Expansion(SMALL)) if fast else tending(NOTHING)


def sqrt(a: Germ) -> Germ:
    """The square root.

    Raises:
        UndefinedHere: a is negative for large x.
    """
    if a.sign == 0:
        return a
    g = _positive(a, "a square root")
    if g is None or g.logs % 2:
        at = 1 if g is None else limit(a)
        return Germ(diverges=at) if isinstance(at, int) else tending(NOTHING)
    root = _number(functions.sqrt(g.factor))
    return _germ(growth=Growth(root, g.power / 2, g.logs // 2, g.rate / 2))


def lambertw(a: Germ) -> Germ:
    """Lambert's W: for large a, W = log(a) - log(W).

    Raises:
        UndefinedHere: a lies below -1/e for large x.
    """
    g = a.growth
    if not a.diverges and (g is None or g.order == CONSTANT):
        return continuous(functions.lambertw, a)
    if g is not None and g.order < CONSTANT:
        return _germ(growth=g)  # W(a) = a*(1 + o(1)) near 0
    if _positive(a, "Lambert's W") is None or g is None:
        return a
    if g.rate > 0 and g.logs == 0:
        number = sub(functions.log(g.factor), functions.log(scalar(g.rate)))
        return _germ(Expansion(0, g.rate, g.power - 1, _number(number)))
    if g.rate > 0:
        return _germ(growth=Growth(scalar(g.rate), fmpq(1)))
    if g.rate == 0 and g.power > 0:
        return _germ(growth=Growth(scalar(g.power), ZERO, 1))
    return Germ(diverges=1)


def power(a: Germ, b: Germ) -> Germ:
    """a^b, for a whole number b, or a positive a.

    Raises:
        UndefinedHere: 0 to a negative power; a base that isn't positive to one that is no integer.
    """
    r = b.ratio
    exponent = r.top[0] if r and r.top.degree() <= 0 == r.bottom.degree() else None
    if exponent is None or exponent.q != 1:
        _positive(a, "a power that is no integer")
        return exp(times(b, log(a)))
    count = int(exponent.p)
    if abs(count) > MAX_POWER:
        raise UndecidedHere("a power that is too high to evaluate")
    found, factor = constant(scalar(1)), a if count >= 0 else reciprocal(a)
    for _ in range(abs(count)):
        found = times(found, factor)
    return found


def absolute(a: Germ) -> Germ:
    """The absolute value."""
    if a.sign is not None:
        return minus(a) if a.sign < 0 else a
    return continuous(functions.absolute, a)


def pseudo_inverse(a: Germ) -> Germ:
    """1/a where a isn't 0, else 0."""
    return a if a.sign == 0 else reciprocal(a)


def larger(a: Germ, b: Germ) -> Germ:
    """The larger of two."""
    gap = absolute(plus(a, minus(b)))
    return times(constant(scalar(fmpq(1, 2))), plus(plus(a, b), gap))


def continuous(f: Callable[[Matrix], object], a: Germ) -> Germ:
    """f(a), for a function that is continuous wherever it has a value beyond doubt.

    Raises:
        UndecidedHere: a has no limit that is known, or f isn't defined there.
        UndefinedHere: f is not defined near the limit.
    """
    at = limit(a)
    if isinstance(at, int):
        raise UndecidedHere("a function at infinity")
    return tending(_number(f(at)))


def saturating(f: Callable[[Matrix], object], a: Germ) -> Germ:
    """f(a), for a continuous function that tends to 1 and -1: tanh, erf."""
    at = limit(a)
    return tending(scalar(at)) if isinstance(at, int) else continuous(f, a)


def _positive(a: Germ, what: str) -> Growth | None:
    """How what must be positive grows; None where it is only known to diverge."""
    if a.sign is None:
        raise UndecidedHere(f"the sign of what {what} is taken of isn't decided", retry=True)
    if a.sign <= 0:
        raise UndefinedHere(f"{what} of what isn't positive")
    return a.growth


def _number(x: object) -> Matrix:
    """A number, which the value of a function of numbers is."""
    if not isinstance(x, Matrix):
        raise UndecidedHere("no number")
    return x


__all__ = [
    "Germ",
    "absolute",
    "constant",
    "continuous",
    "exp",
    "lambertw",
    "larger",
    "limit",
    "log",
    "minus",
    "of_ratio",
    "plus",
    "power",
    "pseudo_inverse",
    "reciprocal",
    "saturating",
    "sqrt",
    "tending",
    "times",
    "variable",
]
