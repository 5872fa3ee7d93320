"""Untrusted. Elementary functions of scalars: the rules that their arguments call for.

A function of a sum is opened term by term, and a function of a multiple of something is written
in that of one unit, the same for all that is in sight: with exp(x/2) and exp(x) the unit is x/2.
What remains are polynomials in few atoms, for `commutative` to compare.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import gcd, isqrt, lcm

from proofs.checker.algebra import IMAGINARY, ONE, Atom, Letter, Monomial, Poly, atom
from proofs.checker.definedness import ZERO
from proofs.language.infer import infer
from proofs.language.tree import Term, bound, rational, term
from proofs.search.factoring import factors
from proofs.search.ideal import divide
from proofs.search.workbench import Workbench

MAX_MULTIPLE = 32  # of a unit
REAL = term("real_type")
UNDER_ROOT = term("sqrt", bound(0, REAL))
UNDER_ABS = term("abs", bound(0, REAL))
PI = (((atom("$pi"), 1),), ())
WEIGHED = frozenset({"exp", "sin", "cos", "pow", "abs", "erf"})
TRIGONOMETRIC = frozenset({"sin", "cos"})
# The angles whose sine and cosine are given, by the denominators of multiples of pi.
ANGLES = {1: 2, 2: 2, 3: 6, 6: 6, 4: 4}


def parts(w: Workbench, value: Poly) -> list[Term]:
    """The monomials of a scalar, each with its coefficient."""
    return [w.raising.poly(Poly(ONE, ONE, {p: c})) for p, c in value.terms.items()]


def total(terms: list[Term]) -> Term:
    """The sum, from the left."""
    return reduce(lambda x, y: term("add", x, y), terms)


def multiple(w: Workbench, node: Term, value: Poly, ops: frozenset[str]) -> tuple[Poly, int]:
    """A unit u and n with `value` = n*u, for a scalar of one term under the function `node`."""
    ((place, coefficient),) = value.terms.items()
    unit = abs(coefficient)
    for other in list(w.raising.atoms.values()):
        if other.op in ops and (other.op != "pow" or other.args[0] is node.args[0]):
            c = w.facts.lowering.lower(other.args[-1]).terms.get(place)
            if c is not None:
                below = lcm(unit.denominator, c.denominator)
                unit = Fraction(gcd(int(unit * below), int(c * below)), below)
    if place == PI and ops is TRIGONOMETRIC and unit.denominator in ANGLES:
        below = lcm(ANGLES[unit.denominator], unit.denominator)
        unit = Fraction(1, below)
    return Poly(ONE, ONE, {place: unit}), int(coefficient / unit)


def halves(w: Workbench, unit: Poly, n: int) -> tuple[Term, Term]:
    """n*unit as a sum of two multiples, nearly equal."""
    first = n // 2
    return tuple(w.raising.poly(unit.scale(Fraction(k))) for k in (n - first, first))  # type: ignore[return-value]


def weight(w: Workbench, symbol: Atom | Letter) -> int:
    """How heavy a function is: more so than the functions of the parts of its argument."""
    known = w.raising.atoms if isinstance(symbol, Atom) else w.raising.letters
    node = known.get(symbol)  # type: ignore[call-overload]
    if node is None or node.op not in WEIGHED:
        return 3
    value = w.facts.lowering.lower(node.args[-1])
    if node.op in ("abs", "erf"):
        return 3 + 3 * is_turned(w, node.args[0])
    domain = infer(node.args[1], w.facts.scope).domain if node.op == "pow" else ""
    if domain == "dimension" or (domain and isinstance(symbol, Letter)):
        return 3 * sum(map(abs, value.terms.values())).__ceil__()
    if node.op == "exp" and node.args[0].op == "log":
        return 200
    ops = TRIGONOMETRIC if node.op in TRIGONOMETRIC else frozenset({node.op})
    terms = [Poly(ONE, ONE, {p: c}) for p, c in value.terms.items()]
    size = sum(abs(multiple(w, node, part, ops)[1]) for part in terms)
    return 2 * size * size + (8 if value.is_complex else 0)


def _put(w: Workbench, place: int | None, equal: Term, context: Term) -> bool:
    """Whether the sides of an equation, which the fact at `place` gives, fit into a context."""
    sided = None if place is None else w.sided(equal, place)
    return sided is not None and w.congruence(sided, context) is not None


# ---------------------------------------------------------------- exponentials


def exponential(w: Workbench, node: Term) -> None:
    """exp of a sum as a product, one monomial at a time; exp of a logarithm; exp of 0."""
    argument = node.args[0]
    value = w.facts.lowering.lower(argument)
    if argument.op == "log":
        w.schema("exp_log", x=argument.args[0])
        return
    if not value.terms:
        w.schema("exp_zero")
        return
    if value.is_complex:
        w.schema("exp_conjugate", x=argument)
    monomials = parts(w, value)
    for k in range(len(monomials) - 1):
        w.schema("exp_sum", x=monomials[k], y=total(monomials[k + 1 :]))
    if len(monomials) == 1:
        _exponential_of_term(w, node, value)


def _exponential_of_term(w: Workbench, node: Term, value: Poly) -> None:
    ((place, coefficient),) = value.terms.items()
    turned = divide(place[0], ((IMAGINARY, 1),))
    if turned is not None:
        w.schema("euler", x=w.raising.poly(Poly(ONE, ONE, {(turned, place[1]): coefficient})))
        return
    if place == ((), ()):  # a number
        w.schema("power_of_e", x=rational(1))
    if coefficient < 0:  # exp(-x)*exp(x) = 1
        w.schema("exp_sum", x=w.raising.poly(value), y=w.raising.poly(-value))
        w.schema("exp_zero")
        return
    for a, _ in place[0]:
        inside, rest = w.raising.atoms.get(a), divide(place[0], ((a, 1),))
        if inside is not None and inside.op == "log" and rest is not None:
            exponent = w.raising.poly(Poly(ONE, ONE, {(rest, place[1]): coefficient}))
            w.schema("power_exponential", x=inside.args[0], p=exponent)
            return
    unit, n = multiple(w, node, value, frozenset({"exp"}))
    if 1 < n <= MAX_MULTIPLE:
        x, y = halves(w, unit, n)
        w.schema("exp_sum", x=x, y=y)


def hyperbolic_tangent(w: Workbench, node: Term) -> None:
    """tanh by exponentials, whose sum is not zero."""
    (x,) = node.args
    place = w.schema("tanh_exponential", x=x)
    if place is not None:
        w.schema("reciprocal", x=w.facts.facts[place].relation.args[0].args[1])


def constant(w: Workbench, node: Term) -> None:
    """e = exp(1)."""
    if node.data == "e":
        w.schema("power_of_e", x=rational(1))


def lambert(w: Workbench, node: Term) -> None:
    """W(x)*exp(W(x)) = x, and W(x) >= -1."""
    (x,) = node.args
    w.schema("lambertw_solves", x=x)
    if w.schema("lambertw_above", x=x) is None:
        w.schema("lambertw_least", x=x)


# ---------------------------------------------------------------- real powers


def real_power(w: Workbench, node: Term) -> None:
    """A power of a positive number: by the terms of its exponent and the factors of its base."""
    base, exponent = node.args
    if base.op == "constant" and base.data == "e":
        w.schema("power_of_e", x=exponent)
        return
    if base is rational(1):
        w.schema("power_of_one", p=exponent)
        return
    value = w.facts.lowering.lower(exponent)
    monomials = parts(w, value)
    for k in range(len(monomials) - 1):
        w.schema("power_sum", x=base, p=monomials[k], q=total(monomials[k + 1 :]))
    if len(monomials) > 1:
        return
    if value.constant is not None:
        _fractional_power(w, base, value.constant)
    else:
        unit, n = multiple(w, node, value, frozenset({"pow"}))
        if n < 0:
            w.schema("power_sum", x=base, p=exponent, q=w.raising.poly(-value))
        elif 1 < n <= MAX_MULTIPLE:
            p, q = halves(w, unit, n)
            w.schema("power_sum", x=base, p=p, q=q)
    _power_of_form(w, base, exponent)


def _fractional_power(w: Workbench, base: Term, exponent: Fraction) -> None:
    """x^(a/b) by x^(1/b), whose power b is x."""
    whole = exponent.numerator // exponent.denominator
    rest = exponent - whole
    if whole and rest:
        w.schema("power_sum", x=base, p=rational(whole), q=rational(rest))
    elif rest == Fraction(1, 2):
        w.schema("power_half", x=base)
    elif rest:
        root = rational(Fraction(1, rest.denominator))
        times = rest.denominator if rest.numerator == 1 else rest.numerator
        w.schema("power_power", x=base, p=root, q=rational(times))


def _power_of_form(w: Workbench, base: Term, exponent: Term) -> None:
    """A power of a product, quotient, power, exponential, root or number."""
    op, args, one = base.op, base.args, rational(1)
    hole = term("pow", bound(0, REAL), exponent)
    if op == "mul":
        w.schema("power_product", x=args[0], y=args[1], p=exponent)
    elif op == "div" and args[0] is one:
        w.schema("power_power", x=args[1], p=rational(-1), q=exponent)
    elif op == "div":
        w.schema("power_product", x=args[0], y=term("div", one, args[1]), p=exponent)
    elif op == "pow":
        w.schema("power_power", x=args[0], p=args[1], q=exponent)
    elif op == "exp":
        place = w.schema("power_of_e", x=args[0])
        power = term("pow", term("constant", data="e"), args[0])
        if _put(w, place, term("eq", power, base), hole):
            w.schema("power_power", x=term("constant", data="e"), p=args[0], q=exponent)
    elif op == "sqrt":
        place = w.schema("power_half", x=args[0])
        power = term("pow", args[0], rational(Fraction(1, 2)))
        if _put(w, place, term("eq", power, base), hole):
            w.schema("power_power", x=args[0], p=rational(Fraction(1, 2)), q=exponent)
    elif op == "rational":
        _power_of_number(w, Fraction(str(base.data)), exponent)


def _power_of_number(w: Workbench, base: Fraction, exponent: Term) -> None:
    """A power of a number by those of the primes in it."""
    if base.numerator == 1:
        w.schema("power_power", x=rational(base.denominator), p=rational(-1), q=exponent)
        return
    prime, times = _least_prime(base.numerator)
    first = prime**times
    if first != base:
        w.schema("power_product", x=rational(first), y=rational(base / first), p=exponent)
    elif times > 1:
        w.schema("power_power", x=rational(prime), p=rational(times), q=exponent)


def _least_prime(n: int) -> tuple[int, int]:
    """The least prime of a number, as far as it is small, with its power."""
    prime = next((p for p in range(2, min(isqrt(n), 1000) + 1) if n % p == 0), n)
    times = 0
    while n % prime == 0:
        n, times = n // prime, times + 1
    return prime, times


# ---------------------------------------------------------------- powers with natural exponents


def natural_power(w: Workbench, node: Term) -> None:
    """A power whose exponent is a dimension: by the terms of the exponent, or of a product."""
    base, exponent = node.args
    kind = infer(base, w.facts.scope)
    n = w.size(base)
    value = w.facts.lowering.lower(exponent)
    monomials = parts(w, value)
    natural = all(c.denominator == 1 and c > 0 for c in value.terms.values())
    whole = infer(exponent, w.facts.scope).domain == "integer"
    if base is rational(1) or base.op == "eye":
        w.schema("power_identity", n=n, p=exponent)
    elif len(monomials) > 1 and natural:
        for k in range(len(monomials) - 1):
            w.schema("power_add", n=n, A=base, p=monomials[k], q=total(monomials[k + 1 :]))
    elif len(monomials) > 1 and whole and kind.is_scalar:
        found = None
        for k in range(len(monomials) - 1):
            found = w.schema(
                "power_integer_sum", x=base, p=monomials[k], q=total(monomials[k + 1 :])
            )
        if found is None and value.terms.get(((), ()), 0) >= 1:  # x^(p - j + 1), where j <= p
            one = rational(1)
            less = w.raising.poly(w.facts.lowering.lower(term("sub", exponent, one)))
            w.schema("power_add_natural", n=one, A=base, a=less, b=one)
    elif len(monomials) == 1 and natural:
        _natural_multiple(w, node, value)
    if base.op == "pow":
        w.schema("power_multiply", n=n, A=base.args[0], p=base.args[1], q=exponent)
    elif base.op == "mul" and infer(base.args[0], w.facts.scope).is_scalar:
        w.schema("power_scale", n=n, A=base.args[1], c=base.args[0], p=exponent)
    elif base.op == "div":
        _power_of_quotient(w, base, exponent)
    elif base.op == "neg":
        w.schema("power_scale", n=n, A=base.args[0], c=rational(-1), p=exponent)


def _power_of_quotient(w: Workbench, base: Term, exponent: Term) -> None:
    """(x/y)^p = (1/y)^p*x^p, and (1/y)^p*y^p = 1^p = 1."""
    x, y = base.args
    one, below = rational(1), term("div", rational(1), y)
    place = w.schema("reciprocal", x=y)
    for a in (x, y):
        if a is not one:
            w.schema("power_scale", n=w.size(a), A=a, c=below, p=exponent)
    if _put(
        w, place, term("eq", term("mul", below, y), one), term("pow", bound(0, REAL), exponent)
    ):
        w.schema("power_identity", n=one, p=exponent)


def _natural_multiple(w: Workbench, node: Term, value: Poly) -> None:
    base = node.args[0]
    unit, times = multiple(w, node, value, frozenset({"pow"}))
    if any(c.denominator != 1 for c in unit.terms.values()):  # c^n, where c^(n/2) is in sight
        real_power(w, node)
        return
    ((_, coefficient),) = value.terms.items()
    if base.op in ("rational", "neg") and coefficient > 1:  # (-1)^(2*p) = 1^p
        rest = w.raising.poly(value.scale(1 / coefficient))
        w.schema("power_multiply", n=w.size(base), A=base, p=rational(coefficient), q=rest)
        squared = w.raising.poly(w.facts.lowering.lower(term("pow", base, rational(coefficient))))
        natural_power(w, term("pow", squared, rest))
    elif 1 < times <= MAX_MULTIPLE:
        p, q = halves(w, unit, times)
        w.schema("power_add", n=w.size(base), A=base, p=p, q=q)


# ---------------------------------------------------------------- roots and moduli


def root(w: Workbench, node: Term) -> None:
    """The square of a root, and the root of a product, a quotient, a square or a number."""
    (x,) = node.args
    w.schema("sqrt_square", x=x)
    if x is rational(1):
        w.schema("sqrt_one")
    elif x.op == "rational":
        _root_of_number(w, Fraction(str(x.data)))
    elif x.op == "mul":
        w.schema("sqrt_product", x=x.args[0], y=x.args[1])
    elif x.op == "div" and x.args[0] is not rational(1):
        w.schema("sqrt_product", x=x.args[0], y=term("div", rational(1), x.args[1]))
    elif x.op == "div":  # sqrt(1/x)*sqrt(x) = 1
        w.schema("sqrt_product", x=x, y=x.args[1])
        w.schema("sqrt_one")
    elif x.op == "exp":
        half = term("div", x.args[0], rational(2))
        place = w.schema("exp_sum", x=half, y=half)
        square = term("pow", term("exp", half), rational(2))
        if _put(w, place, term("eq", x, square), UNDER_ROOT):
            w.schema("sqrt_of_square", x=term("exp", half))
    elif (number := w.facts.lowering.lower(x).constant) is not None:
        root(w, term("sqrt", rational(number)))  # the same value: arguments are in normal form
    elif (square := _square_root(w, x)) is not None and (
        w.schema("sqrt_of_square", x=square) is None
    ):
        w.schema("sqrt_modulus", x=square)


def _square_root(w: Workbench, x: Term) -> Term | None:
    """A y with y^2 = x in the algebra."""
    if x.op == "pow" and x.args[1] is rational(2):
        return x.args[0]
    value = w.facts.lowering.lower(x)
    product = Poly(ONE, ONE, {((), ()): Fraction(1)})
    for factor, power in factors(value):
        number = factor.constant
        if number is not None and number > 0:
            ups = (isqrt(number.numerator), isqrt(number.denominator))
            if ups[0] ** 2 != number.numerator or ups[1] ** 2 != number.denominator:
                return None
            product = product.scale(Fraction(*ups))
            continue
        if power % 2:
            return None
        for _ in range(power // 2):
            product = product * factor
    return w.raising.poly(product) if product.constant is None else None


def _root_of_number(w: Workbench, x: Fraction) -> None:
    """The root of a number by those of the primes in it."""
    if x <= 0:
        return
    if x.numerator == 1 and isqrt(x.denominator) ** 2 == x.denominator:
        w.schema("sqrt_of_square", x=rational(Fraction(1, isqrt(x.denominator))))
        return
    if x.denominator > 1:  # sqrt(a/b) = sqrt(a*b)/b
        above, below = x.numerator * x.denominator, Fraction(1, x.denominator**2)
        w.schema("sqrt_product", x=rational(above), y=rational(below))
        return
    prime, times = _least_prime(x.numerator)
    first = prime**times
    if first != x:
        w.schema("sqrt_product", x=rational(first), y=rational(x / first))
    elif times % 2 == 0:
        w.schema("sqrt_of_square", x=rational(prime ** (times // 2)))
    elif times > 1:
        w.schema("sqrt_product", x=rational(prime ** (times - 1)), y=rational(prime))


def modulus(w: Workbench, node: Term) -> None:
    """The square of a modulus; the modulus of a product, or of a number of known sign."""
    (x,) = node.args
    w.schema("abs_square", x=x)
    w.schema("abs_nonnegative", x=x)
    if not infer(x, w.facts.scope).is_complex:
        if w.schema("abs_of_nonnegative", x=x) is not None:
            return
        if w.schema("abs_of_nonpositive", x=x) is not None:
            return
    one = rational(1)
    if x.op == "mul":
        w.schema("abs_product", x=x.args[0], y=x.args[1])
    elif x.op == "div" and x.args[0] is not one:
        w.schema("abs_product", x=x.args[0], y=term("div", one, x.args[1]))
    elif x.op == "div":  # abs(1/y)*abs(y) = abs(1)
        w.schema("abs_product", x=x.args[1], y=x)
        place = w.schema("reciprocal", x=x.args[1])
        _put(w, place, term("eq", term("mul", x.args[1], x), one), UNDER_ABS)
    elif x.op == "pow" and str(x.args[1].data).isdecimal():
        power = w.facts.lowering.lower(x)
        rest = term("pow", x.args[0], rational(int(str(x.args[1].data)) - 1))
        if power.terms and rest.args[1] is not ZERO:
            w.schema("abs_product", x=x.args[0], y=rest)
    elif is_turned(w, x):
        w.schema("abs_even", x=w.raising.poly(-w.facts.lowering.lower(x)))


def is_turned(w: Workbench, x: Term) -> bool:
    """Of x and -x, one is turned: which one, is decided by its first monomial."""
    value = w.facts.lowering.lower(x)
    return bool(value.terms) and min(value.terms.items(), key=lambda t: _text(t[0][0]))[1] < 0


def _text(monomial: Monomial) -> list[tuple[str, int]]:
    return [(a.key, n) for a, n in monomial]


def extreme(w: Workbench, node: Term) -> None:
    """The maximum or minimum of two numbers by a modulus."""
    if len(node.args) == 2:
        x, y = node.args
        w.schema(f"{node.op}_two", x=x, y=y)


def error_function(w: Workbench, node: Term) -> None:
    """erf is odd."""
    (x,) = node.args
    value = w.facts.lowering.lower(x)
    if not value.terms or is_turned(w, x):
        w.schema("erf_odd", x=w.raising.poly(-value))
