"""Functions that aren't linear: inverses, determinants, and the elementary functions on jets.

Exact points stay exact: `exp(0) = 1`, `log(1) = 0`, `sqrt(9/4) = 3/2`; everything else becomes a
ball. A derivative is the chain rule and nothing more: `f(u) = f(u0) + integral of f'(u) u'`, with
`f'(u)` evaluated on jets one term shorter. Under a jet each partial function takes the strict form
of its condition (`sqrt` needs a positive argument), and functions with corners refuse them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import acb, arb, fmpq, fmpq_mat, fmpz

from proofs.evaluate import exact
from proofs.evaluate.decisions import (
    Truth,
    definite,
    integer,
    invertible,
    is_zero,
    number,
    rank,
    sign,
)
from proofs.evaluate.values import (
    Jet,
    Matrix,
    UndecidedHere,
    UndefinedHere,
    Value,
    add,
    adjoint,
    assemble,
    ball,
    base,
    entry,
    exact_matrix,
    eye,
    is_exact_zero,
    linear,
    mul,
    neg,
    scalar,
    shape,
    sub,
    taylor,
    to_balls,
    trace,
    transpose,
)
from proofs.language.errors import TypeProblem

MAX_POWER_BITS = 200_000  # the size of an exact power that is still computed
ONE = scalar(1)
IMAGINARY_UNIT = Matrix(fmpq_mat(1, 1), fmpq_mat(1, 1, [1]))


# ---------------------------------------------------------------- inverses


def inverse(x: Value) -> Value:
    """The inverse of an invertible matrix, of a non-zero scalar."""
    if type(x) is Jet:
        first = inverse(x.coefficients[0])
        out = [first]
        for k in range(1, len(x.coefficients)):
            total = mul(x.coefficients[1], out[k - 1])
            for j in range(2, k + 1):
                total = add(total, mul(x.coefficients[j], out[k - j]))
            out.append(neg(mul(first, total)))
        return Jet(x.level, tuple(out))
    m = _matrix(x)
    rows, cols = m.shape
    if rows != cols:
        raise TypeProblem(f"a {rows} by {cols} matrix has no inverse")
    known = invertible(m)
    if known is Truth.FALSE:
        raise UndefinedHere("division by zero" if rows == 1 else "the matrix is singular")
    if known is Truth.UNKNOWN:
        raise UndecidedHere("whether the matrix is invertible isn't decided", retry=True)
    if m.exact:
        if m.im is None:
            return Matrix(m.re.inv())
        return exact_matrix(*exact.unembed(exact.embed(m.re, m.im).inv()))
    if m.im is None:
        try:
            return _finite(Matrix(m.re.inv()))
        except ZeroDivisionError:
            raise UndecidedHere("the balls are too wide to invert", retry=True) from None
    # 1/(R + iJ) by balls: adjugate over determinant, which needs products only.
    small, det = _leverrier(m)
    size = mul(det, adjoint(det))
    return mul(mul(small, adjoint(det)), inverse(real_part(size)))


def _matrix(x: Value) -> Matrix:
    if type(x) is not Matrix:
        raise UndecidedHere("this operation on a random quantity isn't supported")
    return x


def _finite(x: Matrix) -> Matrix:
    for part in (x.re, x.im):
        if part is not None and not all(e.is_finite() for e in part.entries()):
            raise UndecidedHere("the enclosure isn't finite", retry=True)
    return x


def divide(x: Value, y: Value) -> Value:
    """`x / y` by a scalar."""
    if shape(y) != (1, 1):
        raise TypeProblem("division is by scalars only")
    return mul(x, inverse(y))


def pseudo_inverse(x: Value) -> Value:
    """The Moore-Penrose inverse; under a jet only where it has full rank (else it may jump)."""
    m = base(x)
    rows, cols = m.shape
    if type(x) is Matrix and m.exact:
        if m.im is None:
            return Matrix(exact.pseudo_inverse(m.re))
        return exact_matrix(*exact.unembed(exact.pseudo_inverse(exact.embed(m.re, m.im))))
    if rank(m) < min(rows, cols):
        raise UndecidedHere("pinv under diff is supported only at full rank")
    if rows == cols:
        return inverse(x)
    h = adjoint(x)
    return mul(inverse(mul(h, x)), h) if rows > cols else mul(h, inverse(mul(x, h)))


def _leverrier(x: Value) -> tuple[Value, Value]:
    """Adjugate and determinant by Faddeev and LeVerrier: products, traces, integer divisors."""
    size = shape(x)[0]
    if size != shape(x)[1]:
        raise TypeProblem(f"a {size} by {shape(x)[1]} matrix has no determinant")
    unit = eye(size)
    current: Value = unit
    for k in range(1, size):
        product = mul(x, current)
        c = mul(scalar(fmpq(-1, k)), trace(product))
        current = add(product, mul(c, unit))
    det = mul(scalar(fmpq(1, size)), trace(mul(x, current)))
    return (current, det) if size % 2 else (neg(current), neg(det))


def determinant(x: Value) -> Value:
    """The determinant."""
    if type(x) is Matrix and x.im is None and x.shape[0] == x.shape[1]:
        return Matrix(type(x.re)(1, 1, [x.re.det()]))
    return _leverrier(x)[1]


def adjugate(x: Value) -> Value:
    """The transposed matrix of cofactors."""
    return _leverrier(x)[0]


def rank_of(x: Value) -> Value:
    """The rank, as a scalar; under a jet only where it is full, so that it stays."""
    m = base(x)
    found = rank(m)
    if type(x) is not Matrix and found < min(m.shape):
        raise UndecidedHere("rank under diff is supported only at full rank")
    return scalar(found)


# ---------------------------------------------------------------- elementary functions


@dataclass(frozen=True, slots=True)
class Elementary:
    """A function of one real variable: exact and ball values, its condition, its derivative.

    `condition` gets the argument and whether the strict form is asked, and raises where it fails.
    """

    at: Callable[[Matrix], Matrix]
    slope: Callable[[Value], Value]
    condition: Callable[[Matrix, bool], None] = lambda _x, _strict: None

    def __call__(self, x: Value) -> Value:
        if type(x) is Jet:
            self.condition(number(base(x)), True)
            return self._chain(x)
        m = number(_matrix(x), "a scalar")
        self.condition(m, False)
        return self.at(m)

    def _chain(self, x: Jet) -> Jet:
        first = self(x.coefficients[0])
        rest = len(x.coefficients) - 1
        if rest == 0:
            return Jet(x.level, (first,))
        slope = self.slope(Jet(x.level, x.coefficients[:-1]))
        velocity = Jet(
            x.level, tuple(mul(scalar(k), c) for k, c in enumerate(x.coefficients[1:], 1))
        )
        growth = mul(slope, velocity)
        return Jet(
            x.level,
            (
                first,
                *(
                    mul(scalar(fmpq(1, k)), taylor(growth, x.level, k - 1))
                    for k in range(1, rest + 1)
                ),
            ),
        )


def _real(x: Matrix, what: str) -> Matrix:
    if x.im is not None:
        raise UndecidedHere(f"{what} of a number that isn't real isn't supported")
    return x


def _by_ball(what: str, f: Callable[[arb], arb], fixed: tuple[int, int]) -> Callable:
    """A real function by balls, exact at its one rational fixed point (argument, value)."""

    def at(x: Matrix) -> Matrix:
        value = _real(x, what).re[0, 0]
        if x.exact and value == fixed[0]:
            return scalar(fixed[1])
        return ball(f(arb(value)))

    return at


def _entire(what: str, f: Callable[[arb], arb], g: Callable[[acb], acb], at_zero: int) -> Callable:
    """An entire function by balls, exact at 0."""
    real = _by_ball(what, f, (0, at_zero))

    def at(x: Matrix) -> Matrix:
        if x.im is None:
            return real(x)
        value = g(acb(arb(x.re[0, 0]), arb(x.im[0, 0])))
        return base(add(ball(value.real), mul(IMAGINARY_UNIT, ball(value.imag))))

    return at


def _exp_at(x: Matrix) -> Matrix:
    if x.im is None:
        value = x.re[0, 0]
        return ONE if x.exact and value == 0 else ball(arb(value).exp())
    real, angle = exp(Matrix(x.re)), Matrix(x.im)
    turn = add(cos(angle), mul(IMAGINARY_UNIT, sin(angle)))
    return base(mul(real, turn))


def _require(known: bool, why: str) -> None:
    if not known:
        raise UndefinedHere(why)


def _log_condition(x: Matrix, _strict: bool) -> None:
    _require(sign(_real(x, "log")) > 0, "log of a number that isn't positive")


def _sqrt_condition(x: Matrix, strict: bool) -> None:
    found = sign(_real(x, "sqrt"))
    _require(found >= 0, "sqrt of a negative number")
    _require(found > 0 or not strict, "sqrt isn't differentiable at 0")


def _lambertw_condition(x: Matrix, _strict: bool) -> None:
    value = _real(x, "lambertw").re[0, 0]
    margin = arb(value) + arb(-1).exp()
    # A rational number is never -1/e, so an undecided margin is decided by more digits.
    if not margin > 0:
        _require(not margin < 0, "lambertw of a number below -exp(-1)")
        raise UndecidedHere("the argument of lambertw is too close to -exp(-1)", retry=True)


def _sqrt_at(x: Matrix) -> Matrix:
    value = x.re[0, 0]
    if x.exact:
        root = rational_root(value, 2)
        if root is not None:
            return scalar(root)
    return ball(arb(value).sqrt())


def rational_root(value: fmpq, degree: int) -> fmpq | None:
    """The exact root of a nonnegative rational, where it is rational."""
    parts = []
    for part in (value.p, value.q):
        root = fmpz(part).root(degree)
        if root**degree != part:
            return None
        parts.append(root)
    return fmpq(*parts)


exp = Elementary(_exp_at, lambda u: exp(u))
log = Elementary(_by_ball("log", arb.log, (1, 0)), lambda u: inverse(u), _log_condition)
sqrt = Elementary(_sqrt_at, lambda u: inverse(mul(scalar(2), sqrt(u))), _sqrt_condition)
sin = Elementary(_entire("sin", arb.sin, acb.sin, 0), lambda u: cos(u))
cos = Elementary(_entire("cos", arb.cos, acb.cos, 1), lambda u: neg(sin(u)))
tanh = Elementary(_by_ball("tanh", arb.tanh, (0, 0)), lambda u: sub(ONE, mul(tanh(u), tanh(u))))
erf = Elementary(
    _by_ball("erf", arb.erf, (0, 0)),
    lambda u: mul(ball(2 / arb.pi().sqrt()), exp(neg(mul(u, u)))),
)
lambertw = Elementary(
    _by_ball("lambertw", arb.lambertw, (0, 0)),
    lambda u: _lambertw_slope(lambertw(u)),
    _lambertw_condition,
)


def _lambertw_slope(w: Value) -> Value:
    return inverse(mul(exp(w), add(ONE, w)))


def absolute(x: Value) -> Value:
    """The absolute value of a real or the modulus of a complex scalar."""
    m = number(base(x))
    if m.im is not None:
        if type(x) is not Matrix:
            raise UndecidedHere("abs of a complex number under diff isn't supported")
        return sqrt(real_part(mul(m, adjoint(m))))
    if type(x) is Matrix and not m.exact:
        return ball(abs(m.re[0, 0]))
    found = sign(m)
    if found == 0 and type(x) is not Matrix:
        raise UndefinedHere("abs isn't differentiable at 0")
    return x if found >= 0 else neg(x)


def real_part(x: Value) -> Value:
    """The real part of every entry."""
    return linear(lambda m: Matrix(m.re), x)


# ---------------------------------------------------------------- powers


def power(x: Value, y: Value) -> Value:
    """`x ^ y`: integer powers of square matrices, real powers of positive numbers; `x^0 = 1`."""
    exponent = integer(y) if type(y) is Matrix else None
    if exponent is not None:
        return integer_power(x, exponent)
    if shape(y) != (1, 1):
        raise TypeProblem("an exponent must be a scalar")
    if shape(x) != (1, 1):
        raise UndecidedHere("a matrix has integer powers only")
    root = base(x)
    found = sign(_real(root, "a power"))
    if found < 0:
        # A ball that holds an integer may be that integer, and then the power is defined.
        if type(y) is Matrix and y.im is None and not arb(y.re[0, 0]).contains_integer():
            raise UndefinedHere("a negative number has no power with a fractional exponent")
        raise UndecidedHere("a power of a negative number with this exponent")
    if found == 0:
        raise UndecidedHere("a power of 0 with a fractional exponent")
    if type(y) is Matrix and y.exact and y.im is None:
        if type(x) is Jet:
            slope = Elementary(
                lambda m: _rational_power(m, y), lambda u: mul(y, power(u, sub(y, ONE)))
            )
            return slope(x)
        return _rational_power(_matrix(x), y)
    return exp(mul(y, log(x)))


def _rational_power(x: Matrix, y: Matrix) -> Matrix:
    exponent = y.re[0, 0]
    if x.exact and exponent.q <= 64:
        root = rational_root(x.re[0, 0], int(exponent.q))
        if root is not None:
            return base(integer_power(scalar(root), int(exponent.p)))
    return base(exp(mul(y, log(x))))


def integer_power(x: Value, exponent: int) -> Value:
    """A power by repeated squaring."""
    rows, cols = shape(x)
    if rows != cols:
        raise TypeProblem(f"a {rows} by {cols} matrix has no powers")
    if exponent < 0:
        return integer_power(inverse(x), -exponent)
    _bound_power(x, exponent)
    result: Value = eye(rows)
    square = x
    while exponent:
        if exponent & 1:
            result = mul(result, square)
        exponent >>= 1
        if exponent:
            square = mul(square, square)
    return result


def _bound_power(x: Value, exponent: int) -> None:
    if type(x) is Matrix and x.exact:
        parts = [p for p in (x.re, x.im) if p is not None]
        bits = max(max(e.height_bits() for e in p.entries()) for p in parts) + x.shape[0]
    else:
        bits = 64
    if exponent * bits > MAX_POWER_BITS:
        raise UndecidedHere(f"the power {exponent} is too large to evaluate")


# ---------------------------------------------------------------- functions of vectors


def entries(x: Value) -> list[Value]:
    """The entries of a vector as scalars."""
    rows, cols = shape(x)
    if cols == 1:
        return [entry(x, i, 0) for i in range(rows)]
    if rows == 1:
        return [entry(x, 0, j) for j in range(cols)]
    raise TypeProblem(f"a vector was expected, got a {rows} by {cols} matrix")


def softmax(x: Value) -> Value:
    """`exp(x_r) / sum of exp(x_s)`; exact where all entries agree."""
    powers, _ = _exponentials(x)
    total = _total(powers)
    column = [divide(p, total) for p in powers]
    rows, cols = shape(x)
    return assemble(rows, cols, column)


def logsumexp(x: Value) -> Value:
    """`log(sum of exp(x_s))`."""
    powers, shift = _exponentials(x)
    return add(shift, log(_total(powers)))


def _exponentials(x: Value) -> tuple[list[Value], Matrix]:
    """`exp(x_r - c)` and the constant c, near the largest entry so that nothing grows."""
    parts = entries(x)
    bases = [_real(base(p), "softmax") for p in parts]
    shift = bases[0]
    for candidate in bases[1:]:
        a, b = shift.re[0, 0], candidate.re[0, 0]
        if arb(a).mid() < arb(b).mid():
            shift = candidate
    return [exp(sub(p, shift)) for p in parts], shift


def _total(parts: list[Value]) -> Value:
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total


def extreme(parts: list[Value], largest: bool) -> Value:
    """The maximum or minimum of scalars; under a jet only where one is strictly extreme."""
    if len(parts) == 1:
        parts = entries(parts[0])
    best = parts[0]
    for part in parts[1:]:
        best = _pick(best, part, largest)
    return best


def _pick(x: Value, y: Value, largest: bool) -> Value:
    a, b = _real(number(base(x)), "max"), _real(number(base(y)), "max")
    if type(x) is Matrix and type(y) is Matrix and not (a.exact and b.exact):
        p, q = to_balls(a).re[0, 0], to_balls(b).re[0, 0]
        return ball(p.max(q) if largest else p.min(q))
    found = sign(base(sub(a, b)))
    if found == 0 and not (type(x) is Matrix and type(y) is Matrix):
        raise UndecidedHere("max and min are smooth only where one argument is strictly extreme")
    return x if (found >= 0) == largest or found == 0 else y


def diagonal(x: Value) -> Value:
    """The diagonal matrix with these entries."""
    parts = entries(x)
    zero = scalar(0)
    size = len(parts)
    return assemble(
        size, size, [parts[i] if i == j else zero for i in range(size) for j in range(size)]
    )


def norm2(x: Value) -> Value:
    """The sum of the squared moduli of all entries."""
    return real_part(trace(mul(adjoint(x), x)))


def inner(x: Value, y: Value) -> Value:
    """`x.T * y`."""
    return mul(transpose(x), y)


# ---------------------------------------------------------------- Gaussian densities


def logpdf(x: Value, mean: Value, cov: Value) -> Value:
    """The log-density of `N(mean, cov)` at x; the covariance must be positive definite."""
    known = definite(base(cov), strict=True)
    _require(known is not Truth.FALSE, "the covariance of logpdf isn't positive definite")
    if known is Truth.UNKNOWN:
        raise UndecidedHere("whether the covariance is positive definite isn't decided", True)
    return _log_density(x, mean, inverse(cov), shape(x)[0], determinant(cov))


def logpdf_on_support(x: Value, mean: Value, cov: Value) -> Value:
    """The log-density with respect to the support of `N(mean, cov)`, which may be singular."""
    m = _matrix(cov)
    if not m.exact:
        return logpdf(x, mean, cov)
    known = definite(m, strict=False)
    _require(
        known is not Truth.FALSE, "the covariance of logpdf_on_support isn't positive semidefinite"
    )
    if m.im is not None:
        raise UndecidedHere("a complex covariance isn't supported")
    inverse_on_range = pseudo_inverse(m)
    residual = sub(x, mean)
    off = sub(residual, mul(mul(m, inverse_on_range), residual))
    if not is_exact_zero(off):
        on_support = is_zero(off) if type(off) is Matrix else Truth.UNKNOWN
        raise UndecidedHere(
            "the argument of logpdf_on_support isn't known to be on the support",
            on_support is Truth.UNKNOWN,
        )
    found = rank(m)
    return _log_density(
        x, mean, inverse_on_range, found, scalar(exact.pseudo_determinant(m.re, found))
    )


def _log_density(x: Value, mean: Value, precision: Value, dimension: int, det: Value) -> Value:
    residual = sub(x, mean)
    form = mul(inner(residual, precision), residual)
    constant = log(det)
    if dimension:
        constant = add(constant, ball(dimension * (2 * arb.pi()).log()))
    return mul(scalar(fmpq(-1, 2)), add(constant, form))
