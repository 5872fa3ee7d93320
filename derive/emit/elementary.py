"""Forms for scalars: Lambert W, logarithms of sums, exponents that cancel."""

from __future__ import annotations

from sympy import (
    Abs,
    Add,
    And,
    Basic,
    Expr,
    Indexed,
    Integer,
    LambertW,
    Mul,
    Or,
    Pow,
    Rational,
    exp,
    expand,
    log,
    oo,
    sqrt,
    tanh,
    true,
)

from derive.emit.body import Body
from derive.emit.nodes import (
    CopySign,
    LinearLogRoot,
    Log1p,
    LowerRise,
    PrincipalRise,
    RootOfSmallest,
    Smaller,
    SmallestNormal,
    Where,
    WrightOmega,
)
from derive.emit.rules import Form
from derive.emit.tree import is_negative
from derive.notation import Skip

_EXACT = "numeric.exact_floats"


def _is_power_of_two(number: Expr) -> bool:
    return (
        isinstance(number, Rational)
        and number != 0
        and all(part & (part - 1) == 0 for part in (abs(int(number.p)), int(number.q)))
    )


def double_length(expression: Expr, body: Body, name: str = "shift") -> tuple[Expr, Expr]:
    """A sum or product of arguments as a leading float and the rest that rounding takes off it.

    `name` is what a sum is called; a product is called a product.
    """
    if isinstance(expression, Mul) and len(expression.args) == 2:
        left, right = expression.args
        if _is_power_of_two(left):  # exact
            return expression, Integer(0)
        (a, a_rest), (b, b_rest) = double_length(left, body), double_length(right, body)
        high, rest = body.let_pair(
            ("product", "product_rest"), "two_product", _EXACT, expression, (a, b)
        )
        return high, rest + a * b_rest + b * a_rest
    if isinstance(expression, Add) and len(expression.args) == 2:
        left, right = sorted(expression.args, key=is_negative)
        (a, a_rest), (b, b_rest) = double_length(left, body), double_length(right, body)
        high, rest = body.let_pair((name, f"{name}_rest"), "two_sum", _EXACT, expression, (a, b))
        return high, rest + a_rest + b_rest
    return expression, Integer(0)


def _lambert(expression: Basic) -> tuple[Expr, Expr, LambertW] | None:
    """The factors a and e of W(a exp(e)), and the node."""
    if not isinstance(expression, LambertW) or not isinstance(expression.args[0], Mul):
        return None
    factors = expression.args[0].args
    exponentials = [factor for factor in factors if isinstance(factor, exp)]
    if len(exponentials) != 1:
        return None
    prefactor = Mul(*(factor for factor in factors if factor != exponentials[0]))
    return prefactor, exponentials[0].args[0], expression


def _quotient(expression: Basic) -> tuple[Expr, Expr, Expr] | None:
    """The a, e and b of W(a exp(e))/b, with b a factor of the nonnegative a."""
    if not isinstance(expression, Mul):
        return None
    found = [parts for factor in expression.args if (parts := _lambert(factor))]
    if len(found) != 1:
        return None
    prefactor, exponent, node = found[0]
    divisor = node / expression
    if not divisor.is_Symbol or (prefactor / divisor).has(divisor) or not prefactor.is_nonnegative:
        return None
    return prefactor, exponent, divisor


def _omega(prefactor: Expr, exponent: Expr, body: Body) -> tuple[Expr, Expr, Expr, Expr]:
    """a itself, omega = W(a exp(e)), and e - omega as a leading float and the rest."""
    high, rest = double_length(exponent, body)
    rest = body.let("exponent_rest", rest)
    scaled = body.let("scaled_start", prefactor)
    moving = scaled > 0
    if moving != true:  # the symbols' own signs don't decide it
        moving = body.let("moving", moving)
    # The rest is added to the logarithm first: next to the leading float it would be lost.
    offset = body.let("offset", rest + log(Where(moving, scaled, 1)))
    omega = body.let("omega", Where(moving, WrightOmega(high + offset), 0), nonnegative=True)
    decay, decay_rest = double_length(Add(high, -omega), body, "decay")
    return scaled, omega, decay, decay_rest + rest


def _lambert_quotient(expression: Basic, body: Body) -> Basic | None:
    """W(a exp(e))/b, with b a factor of a."""
    parts = _quotient(expression)
    if parts is None:
        return None
    prefactor, exponent, divisor = parts
    _, omega, decay, rest = _omega(prefactor, exponent, body)
    shrunk = body.let("shrunk", exp(decay))
    near_limit = body.let("near_limit", prefactor / divisor * (shrunk + shrunk * rest))
    # omega <= a, so that the quotient never overflows, and omega = 0 where b = 0.
    return Where(omega < 1, near_limit, omega / Where(divisor > 0, divisor, 1))


def _lambert_root(expression: Basic, body: Body) -> Basic | None:
    """exp((e - W(a exp(e)))/2)."""
    if not isinstance(expression, exp):
        return None
    halves = [node for node in expression.args[0].atoms(LambertW) if _lambert(node)]
    if len(halves) != 1:
        return None
    prefactor, exponent, node = _lambert(halves[0])  # type: ignore[misc]
    if expand(2 * expression.args[0] - exponent + node) != 0 or not prefactor.is_nonnegative:
        return None
    scaled, omega, decay, rest = _omega(prefactor, exponent, body)
    shrunk = body.let("shrunk", exp(decay / 2))
    near_limit = body.let("near_limit", shrunk + shrunk * rest / 2)
    ratio = body.let("ratio", omega / Where(omega < 1, 1, scaled), nonnegative=True)
    return Where(omega < 1, near_limit, sqrt(ratio))


def _lambert_excess(expression: Basic, body: Body) -> Basic | None:
    """W(b (s + r) exp(b s))/b - s for nonnegative b, s and r."""
    if not isinstance(expression, Add) or len(expression.args) != 2:
        return None
    quotient = next((term for term in expression.args if _quotient(term)), None)
    if quotient is None:
        return None
    prefactor, exponent, divisor = _quotient(quotient)  # type: ignore[misc]
    base = quotient - expression
    added = prefactor / divisor - base
    if exponent != divisor * base or not (base.is_nonnegative and added.is_nonnegative):
        return None
    growth = body.let("level", log((base + added) / base))
    pull = body.let("pull", exponent)
    far = body.let("far_above", growth > pull + Rational(2, 3))
    root = LinearLogRoot(pull, Where(far, 0, growth))
    excess = body.let("excess", base * root, nonnegative=True)
    with body.when_any(far):
        whole = body.let("whole", quotient)
        body.rebind(excess, Where(far, whole - base, excess), ())
    return excess


def _root_difference(expression: Basic, _: Body) -> Basic | None:
    """sqrt(a + d) - sqrt(a) for nonnegative a and d."""
    if not isinstance(expression, Add) or len(expression.args) != 2:
        return None
    first, second = sorted(expression.args, key=is_negative)
    if not all(isinstance(root, Pow) and root.exp == Rational(1, 2) for root in (first, -second)):
        return None
    added = first.base - (-second).base
    if not ((-second).base.is_nonnegative and added.is_nonnegative):
        return None
    return added / Where(added > 0, first - second, 1)


def _log_one_plus(expression: Basic, body: Body) -> Basic | None:
    """log((s + r)/s) for nonnegative s and r."""
    if not isinstance(expression, log) or not isinstance(expression.args[0], Mul):
        return None
    ratio = expression.args[0]
    bottoms = [factor.base for factor in ratio.args if isinstance(factor, Pow) and factor.exp == -1]
    if len(bottoms) != 1:
        return None
    base, total = bottoms[0], ratio * bottoms[0]
    if not isinstance(total, Add) or base not in total.args:
        return None
    added = total - base
    if not (base.is_nonnegative and added.is_nonnegative):
        return None
    low = body.let("low", RootOfSmallest(base))
    extreme = body.let("extreme", Or(base < low, added > 1 / low))
    with body.when_any(extreme):
        unresolved = body.let("unresolved", base <= added * SmallestNormal(base))
        divisor = body.let("divisor", Where(base > 0, base, 1))
        near_log = body.let("near_log", Log1p(Where(unresolved, 0, added) / divisor))
        far_log = body.let("far_log", log(Where(added > 0, added, 1)) - log(divisor))
        far_log = Where(base > 0, far_log, oo)
        growth = body.let("growth", Where(And(unresolved, added > 0), far_log, near_log))
    with body.otherwise():
        body.rebind(growth, Log1p(added / base), ())
    return growth


def _log_one_plus_small(expression: Basic, _: Body) -> Basic | None:
    """log(1 + x)."""
    if not isinstance(expression, log) or not isinstance(expression.args[0], Add):
        return None
    total = expression.args[0]
    return Log1p(total - 1) if Integer(1) in total.args else None


def _log_ratio(expression: Basic, body: Body) -> Basic | None:
    """log(a/b) for positive a and b."""
    if not isinstance(expression, log) or not isinstance(expression.args[0], Mul):
        return None
    ratio = expression.args[0]
    bottoms = [factor.base for factor in ratio.args if isinstance(factor, Pow) and factor.exp == -1]
    if len(bottoms) != 1 or len(ratio.args) != 2:
        return None
    bottom, top = bottoms[0], ratio * bottoms[0]
    if not (top.is_positive and bottom.is_positive):
        return None
    axes = tuple(sorted((top.free_symbols | bottom.free_symbols) & set(body.sizes), key=str))
    if top.atoms(Skip):
        top = body.let("others", top, axes, positive=True)
    if isinstance(bottom, Indexed):
        inner = tuple(axis for axis in axes if axis in bottom.free_symbols)
        bottom = body.let("own", bottom, inner, positive=True)
    smaller = body.let("smaller", Smaller(top, bottom), axes, positive=True)
    growth = (top - bottom) / smaller
    extreme = body.let("extreme", smaller < RootOfSmallest(bottom), axes)
    with body.when_any(extreme):
        far = body.let("far", smaller < Abs(top - bottom) * SmallestNormal(bottom), axes)
        near = body.let("near", Where(far, 0, top - bottom) / smaller, axes)
        near_log = body.let("near_log", CopySign(Log1p(Abs(near)), near), axes)
        found = body.let("log_ratio", Where(far, log(top) - log(bottom), near_log), axes)
    with body.otherwise():
        plain = body.let("growth", growth, axes)
        body.rebind(found, CopySign(Log1p(Abs(plain)), plain), axes)
    return found


def _product_less_number(expression: Basic, body: Body) -> Basic | None:
    """x*y - c for symbols x and y and a number c > 0."""
    if not isinstance(expression, Add) or len(expression.args) != 2:
        return None
    number, product = expression.as_coeff_Add()
    if not (number.is_negative and isinstance(product, Mul) and len(product.args) == 2):
        return None
    if not all(factor.is_Symbol for factor in product.args):
        return None
    high, rest = double_length(product, body)
    difference = body.let("difference", high + number)
    return difference + rest


def _branch_of_output(expression: Basic, body: Body) -> Basic | None:
    """W(x exp(-x)) on either branch: alone, in 1 + W and in x + W."""
    terms = expression.args if isinstance(expression, Add) else (expression,)
    found = [term for term in terms if isinstance(term, LambertW)]
    if len(found) != 1 or len(terms) > 2:
        return None
    argument, *branch = found[0].args
    output = next((a for a in argument.args if argument == a * exp(-a)), None)
    if output is None or branch not in ([], [-1]):
        return None
    rise = body.let("rise", (LowerRise if branch else PrincipalRise)(output))
    other = expression - found[0]
    if other == 1:
        return rise
    if other == output and not branch:
        return output * (1 + exp(1 - output - rise))
    return other + rise - 1


def _sech_square(expression: Basic, body: Body) -> Basic | None:
    """1 - tanh(x)^2."""
    if type(expression) is not Add or len(expression.args) != 2:
        return None
    square = 1 - expression
    if not isinstance(square, Pow) or square.exp != 2 or not isinstance(square.base, tanh):
        return None
    argument = square.base.args[0]
    decay = body.let("decay", exp(-2 * Abs(argument)), body.axes_of(argument))
    return 4 * decay / (1 + decay) ** 2  # type: ignore[operator]


FORMS = (
    Form(
        "wright_omega",
        "W(a exp(e))/b = omega(e + log a)/b = (a/b) exp(e - omega(e + log a))",
        "a >= e, a >= 0, b >= 0 a factor of a; the third where omega < 1, so also where b = 0",
        "exp(e) overflows from e = 709 on, and omega/b reads 0/0 where b = 0. The exponent keeps "
        "its rounding error as a second float, since exp turns it into a relative error.",
        _lambert_quotient,
        ("forms.wright_omega", "forms.wright_omega_root"),
        "That the rest of a rounded sum or product is exact: Knuth (1997), section 4.2.2; Dekker "
        "(1971).",
    ),
    Form(
        "lambert_root",
        "exp((e - W(a exp(e)))/2) = exp((e - omega)/2) = sqrt(omega/a), omega = W(a exp(e))",
        "a >= 0; the third where omega >= 1, so only where a > 0",
        "e - omega cancels for large a, and omega/a reads 0/0 where a = 0.",
        _lambert_root,
        ("forms.lambert_root",),
    ),
    Form(
        "lambert_excess",
        "W(b (s + r) exp(b s))/b - s = s x, where b s x + log(1 + x) = log((s + r)/s)",
        "b >= 0, s >= 0, r >= 0; the first where x is large, so also where s = 0",
        "W/b and s agree in nearly all digits for large b.",
        _lambert_excess,
        ("forms.lambert_excess", "forms.lambert_excess_root"),
    ),
    Form(
        "branch_of_output",
        "W(x exp(-x)) = D - 1, and x + W(x exp(-x)) = x (1 + exp(1 - x - D)), D = 1 + W",
        "x >= -W(1/e), x < 0 on the branch -1; the second on the principal branch",
        "1 + W vanishes at x = -W(1/e), where a rounded x exp(-x) may lie below -1/e; D is found "
        "from the distance to it. For small x the sum x + D - 1 drops the digits of x.",
        _branch_of_output,
        ("branches.principal",),
        "That W(-1/e + h) is a series in the root of h: Corless et al. (1996), section 4.",
    ),
    Form(
        "root_difference",
        "sqrt(a + d) - sqrt(a) = d/(sqrt(a + d) + sqrt(a))",
        "a >= 0, d >= 0; 0 where both are 0",
        "the roots of near numbers cancel.",
        _root_difference,
        ("forms.root_difference",),
    ),
    Form(
        "log_one_plus_ratio",
        "log((s + r)/s) = log1p(r/s) = log r - log s + log1p(s/r)",
        "s >= 0, r >= 0; infinite where s = 0 < r; the last term is below rounding where r/s "
        "overflows",
        "(s + r)/s rounds to 1 for small r/s, and r/s overflows for large.",
        _log_one_plus,
        ("forms.log_one_plus_ratio",),
    ),
    Form(
        "log1p",
        "log(1 + x) = log1p(x)",
        "x > -1",
        "1 + x rounds to 1 for small x.",
        _log_one_plus_small,
        (),
        "The definition of log1p, which libraries compute without the rounded sum.",
    ),
    Form(
        "log_ratio",
        "log(a/b) = sign(a - b) log1p(|a - b|/min(a, b)) = log a - log b",
        "1e150 > a > 0, 1e150 > b > 0; the third where the quotient overflows",
        "a/b rounds to 1 for a near b, and log a - log b cancels unless they are far apart.",
        _log_ratio,
        ("forms.log_ratio",),
    ),
    Form(
        "product_less_number",
        "x y - c = (p - c) + r, where p is x y rounded and r the rest",
        "numbers x, y and c > 0 of which no product over- or underflows",
        "a rounded product near c leaves nothing but its rounding error.",
        _product_less_number,
        (),
        "That the rest of a rounded product is a float: Dekker (1971).",
    ),
    Form(
        "sech_square",
        "1 - tanh(x)^2 = 4 u/(1 + u)^2, u = exp(-2 |x|)",
        "any real x",
        "tanh rounds to 1 from x = 19 on, and cosh overflows from x = 710 on.",
        _sech_square,
        ("forms.sech_square",),
    ),
)
