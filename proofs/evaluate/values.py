"""What terms evaluate to, and the ring operations on it.

A `Matrix` is exact (rational real and imaginary parts) or made of balls. Around it stand three
kinds of number that depend on something: a `Jet` on the variable of a `diff` (a truncated Taylor
series), a `Polynomial` on indeterminates (standard normals of a Gaussian model, or the variables
of a quantifier), `Points` on the outcome of a finite probability space. Polynomials may have jets
as coefficients, jets may have jets of outer levels as coefficients, and never the other way.

The operations are few: what is linear in one argument (`linear`), what is linear in several
together (`joint`: sums, blocks), what is linear in each of two (`bilinear`: products). Everything
else is composed of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat, fmpq, fmpq_mat

from proofs.evaluate import exact
from proofs.language.errors import TypeProblem

# A real or imaginary part: FLINT's `fmpq_mat` or `arb_mat`, which share their operations.
Part = Any

MAX_ENTRIES = 10_000  # of one matrix
MAX_MONOMIALS = 5_000  # of one polynomial


class UndefinedHere(Exception):
    """The expression has no value here. Internal: `evaluate` turns it into an `Undefined`."""


class UndecidedHere(Exception):
    """No decision was reached; with `retry`, more precision may reach one. Internal likewise."""

    def __init__(self, why: str, retry: bool = False) -> None:
        super().__init__(why)
        self.retry = retry


@dataclass(frozen=True, slots=True, order=True)
class Complex:
    """A Gaussian rational, as a model states it and as results show it."""

    re: Fraction
    im: Fraction

    def __str__(self) -> str:
        if self.re == 0:
            return f"{self.im}*i"
        sign = "-" if self.im < 0 else "+"
        return f"{self.re} {sign} {abs(self.im)}*i"


class Matrix:
    """A matrix of exact numbers (`fmpq_mat`) or of balls (`arb_mat`); a scalar is 1x1.

    `im` is None for a real matrix; an exact matrix with zero imaginary part always has None.
    """

    __slots__ = ("im", "re")

    def __init__(self, re: Part, im: Part = None) -> None:
        self.re = re
        self.im = im

    @property
    def exact(self) -> bool:
        return type(self.re) is fmpq_mat

    @property
    def shape(self) -> tuple[int, int]:
        return self.re.nrows(), self.re.ncols()

    def entries(self) -> tuple[tuple[Fraction | Complex, ...], ...]:
        """The exact entries.

        Raises:
            ValueError: the entries are balls.
        """
        if not self.exact:
            raise ValueError("balls have no exact entries")
        rows, cols = self.shape
        return tuple(tuple(self._entry(i, j) for j in range(cols)) for i in range(rows))

    def _entry(self, i: int, j: int) -> Fraction | Complex:
        real = to_fraction(self.re[i, j])
        return real if self.im is None else Complex(real, to_fraction(self.im[i, j]))

    def __eq__(self, other: object) -> bool:
        """Identical representation, for tests and caches; `operators.equal` decides equality."""
        return (
            isinstance(other, Matrix)
            and self.exact
            and other.exact
            and self.shape == other.shape
            and self.re == other.re
            and (self.im is None) == (other.im is None)
            and (self.im is None or self.im == other.im)
        )

    def __hash__(self) -> int:
        return hash((self.shape, str(self)))

    def __str__(self) -> str:
        def shown(i: int, j: int) -> str:
            if self.exact:
                return str(self._entry(i, j))
            real = self.re[i, j].str(12)
            return real if self.im is None else f"({real}) + ({self.im[i, j].str(12)})*i"

        rows, cols = self.shape
        if (rows, cols) == (1, 1):
            return shown(0, 0)
        return (
            "["
            + ", ".join(
                "[" + ", ".join(shown(i, j) for j in range(cols)) + "]" for i in range(rows)
            )
            + "]"
        )

    __repr__ = __str__


class Jet:
    """A truncated Taylor series in the variable of one `diff`; `level` names that variable."""

    __slots__ = ("coefficients", "level")

    def __init__(self, level: int, coefficients: tuple[Value, ...]) -> None:
        self.level = level
        self.coefficients = coefficients

    def __repr__(self) -> str:
        return f"Jet{self.level}({', '.join(map(str, self.coefficients))})"


class Polynomial:
    """A polynomial in indeterminates: monomials are sorted tuples of them, repeated for powers.

    Never constant and never with an exactly zero coefficient: `polynomial` sees to that.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: dict[tuple[int, ...], Value]) -> None:
        self.terms = terms

    def __repr__(self) -> str:
        return " + ".join(
            "*".join([f"({c})", *(f"w{i}" for i in m)]) for m, c in sorted(self.terms.items())
        )


class Points:
    """A random quantity on a finite probability space: its value at each point."""

    __slots__ = ("values",)

    def __init__(self, values: tuple[Value, ...]) -> None:
        self.values = values

    def __repr__(self) -> str:
        return "{" + ", ".join(map(str, self.values)) + "}"


Value = Matrix | Jet | Polynomial | Points


# ---------------------------------------------------------------- making matrices


def to_fraction(number: fmpq) -> Fraction:
    """A rational of the standard library."""
    return Fraction(int(number.p), int(number.q))


def scalar(number: int | fmpq) -> Matrix:
    """An exact real scalar."""
    return Matrix(fmpq_mat(1, 1, [number]))


def ball(number: arb) -> Matrix:
    """A real scalar given by an enclosure.

    Raises:
        UndecidedHere: the enclosure is not finite.
    """
    if not number.is_finite():
        raise UndecidedHere("the enclosure isn't finite", retry=True)
    return Matrix(arb_mat(1, 1, [number]))


def exact_matrix(re: fmpq_mat, im: fmpq_mat | None = None) -> Matrix:
    """An exact matrix in canonical form."""
    return Matrix(re, im if im is not None and not is_zero_exact(im) else None)


def is_zero_exact(matrix: fmpq_mat) -> bool:
    return matrix == fmpq_mat(matrix.nrows(), matrix.ncols())


def zeros(rows: int, cols: int) -> Matrix:
    check_size(rows, cols)
    return Matrix(fmpq_mat(rows, cols))


def eye(size: int) -> Matrix:
    check_size(size, size)
    return Matrix(exact.identity(size))


def check_size(rows: int, cols: int) -> None:
    if rows < 1 or cols < 1:
        raise UndefinedHere(f"a matrix can't be {rows} by {cols}")
    if rows * cols > MAX_ENTRIES:
        raise UndecidedHere(f"a {rows} by {cols} matrix is too large to evaluate")


def is_exact_zero(x: Value) -> bool:
    """Whether this is zero beyond doubt and in every coefficient."""
    if type(x) is Matrix:
        return x.im is None and type(x.re) is fmpq_mat and is_zero_exact(x.re)
    if type(x) is Jet:
        return all(map(is_exact_zero, x.coefficients))
    return type(x) is Points and all(map(is_exact_zero, x.values))


def shape(x: Value) -> tuple[int, int]:
    """Rows and columns."""
    while not isinstance(x, Matrix):
        if isinstance(x, Jet):
            x = x.coefficients[0]
        elif isinstance(x, Polynomial):
            x = next(iter(x.terms.values()))
        else:
            x = x.values[0]
    return x.shape


def like_zero(x: Value) -> Matrix:
    """The exact zero of the shape of `x`."""
    return Matrix(fmpq_mat(*shape(x)))


def polynomial(terms: dict[tuple[int, ...], Value], zero: Matrix) -> Value:
    """A polynomial in canonical form; a constant one comes back as its coefficient."""
    kept = {m: c for m, c in terms.items() if not is_exact_zero(c)}
    if not kept:
        return terms.get((), zero)
    if len(kept) > MAX_MONOMIALS:
        raise UndecidedHere("a polynomial grew too large to evaluate")
    return kept[()] if kept.keys() == {()} else Polynomial(kept)


# ---------------------------------------------------------------- the three kinds of operation


def linear(f: Callable[[Matrix], Matrix], x: Value) -> Value:
    """`f`, which is linear over the reals, applied to a value of any kind."""
    if isinstance(x, Matrix):
        return f(x)
    if isinstance(x, Jet):
        return Jet(x.level, tuple(linear(f, c) for c in x.coefficients))
    if isinstance(x, Polynomial):
        return polynomial({m: linear(f, c) for m, c in x.terms.items()}, f(like_zero(x)))
    return Points(tuple(linear(f, v) for v in x.values))


def joint(f: Callable[[Sequence[Matrix]], Matrix], xs: Sequence[Value]) -> Value:
    """`f`, which is linear in all its arguments together, applied to values of any kinds."""
    plain = [x for x in xs if isinstance(x, Matrix)]
    if len(plain) == len(xs):
        return f(plain)
    count = outcomes(xs)
    if count:
        return Points(tuple(joint(f, [at_point(x, i) for x in xs]) for i in range(count)))
    if any(type(x) is Polynomial for x in xs):
        monomials = dict.fromkeys(
            m for x in xs for m in (x.terms if type(x) is Polynomial else ((),))
        )
        blank = [like_zero(x) for x in xs]
        return polynomial(
            {
                m: joint(f, [coefficient(x, m, z) for x, z in zip(xs, blank, strict=True)])
                for m in monomials
            },
            f(blank),
        )
    level = max(x.level for x in xs if type(x) is Jet)
    length = min(len(x.coefficients) for x in xs if type(x) is Jet and x.level == level)
    blank = [like_zero(x) for x in xs]
    return Jet(
        level,
        tuple(
            joint(f, [taylor(x, level, k, z) for x, z in zip(xs, blank, strict=True)])
            for k in range(length)
        ),
    )


def bilinear(f: Callable[[Matrix, Matrix], Matrix], x: Value, y: Value) -> Value:
    """`f`, which is linear in each argument, applied to values of any kinds."""
    if isinstance(x, Matrix) and isinstance(y, Matrix):
        return f(x, y)
    count = outcomes((x, y))
    if count:
        return Points(tuple(bilinear(f, at_point(x, i), at_point(y, i)) for i in range(count)))
    if type(x) is Polynomial or type(y) is Polynomial:
        left = x.terms if type(x) is Polynomial else {(): x}
        right = y.terms if type(y) is Polynomial else {(): y}
        if len(left) * len(right) > MAX_MONOMIALS:
            raise UndecidedHere("a polynomial grew too large to evaluate")
        total: dict[tuple[int, ...], Value] = {}
        for m, c in left.items():
            for n, d in right.items():
                monomial = tuple(sorted(m + n))
                product = bilinear(f, c, d)
                total[monomial] = add(total[monomial], product) if monomial in total else product
        return polynomial(total, f(like_zero(x), like_zero(y)))
    if isinstance(x, Jet) and not (isinstance(y, Jet) and y.level >= x.level):
        return Jet(x.level, tuple(bilinear(f, c, y) for c in x.coefficients))
    if isinstance(y, Jet) and not (isinstance(x, Jet) and x.level == y.level):
        return Jet(y.level, tuple(bilinear(f, x, c) for c in y.coefficients))
    assert isinstance(x, Jet) and isinstance(y, Jet)
    length = min(len(x.coefficients), len(y.coefficients))
    out = []
    for k in range(length):
        part = bilinear(f, x.coefficients[0], y.coefficients[k])
        for j in range(1, k + 1):
            part = add(part, bilinear(f, x.coefficients[j], y.coefficients[k - j]))
        out.append(part)
    return Jet(x.level, tuple(out))


def outcomes(xs: Sequence[Value]) -> int:
    """How many points of a finite space these depend on; 0 where none does."""
    return next((len(x.values) for x in xs if type(x) is Points), 0)


def at_point(x: Value, place: int) -> Value:
    """The value at one point of the finite space."""
    return x.values[place] if type(x) is Points else x


def coefficient(x: Value, monomial: tuple[int, ...], zero: Matrix) -> Value:
    """The coefficient of a monomial."""
    if type(x) is Polynomial:
        return x.terms.get(monomial, zero)
    return x if monomial == () else zero


def taylor(x: Value, level: int, k: int, zero: Matrix | None = None) -> Value:
    """The `k`-th Taylor coefficient in the variable of a level."""
    if type(x) is Jet and x.level == level:
        return x.coefficients[k]
    if type(x) is Polynomial:
        return polynomial({m: taylor(c, level, k) for m, c in x.terms.items()}, like_zero(x))
    if type(x) is Points:
        return Points(tuple(taylor(v, level, k) for v in x.values))
    return x if k == 0 else zero or like_zero(x)


# ---------------------------------------------------------------- ring operations


def to_balls(x: Matrix) -> Matrix:
    """The same matrix as balls."""
    if not x.exact:
        return x
    return Matrix(arb_mat(x.re), None if x.im is None else arb_mat(x.im))


def add(x: Value, y: Value) -> Value:
    """`x + y`, of equal shapes."""
    if type(x) is Matrix and type(y) is Matrix:
        return _add(x, y)
    if shape(x) != shape(y):
        raise _misfit("+", x, y)
    return joint(_add_pair, (x, y))


def _add_pair(pair: Sequence[Matrix]) -> Matrix:
    return _add(pair[0], pair[1])


def _add(x: Matrix, y: Matrix) -> Matrix:
    if x.shape != y.shape:
        raise _misfit("+", x, y)
    if type(x.re) is not type(y.re):
        x, y = to_balls(x), to_balls(y)
    if x.im is None:
        return Matrix(x.re + y.re, y.im)
    if y.im is None:
        return Matrix(x.re + y.re, x.im)
    if x.exact:
        return exact_matrix(x.re + y.re, x.im + y.im)
    return Matrix(x.re + y.re, x.im + y.im)


def neg(x: Value) -> Value:
    """`-x`."""
    return linear(_neg, x)


def _neg(x: Matrix) -> Matrix:
    return Matrix(-x.re, None if x.im is None else -x.im)


def sub(x: Value, y: Value) -> Value:
    """`x - y`, of equal shapes."""
    return add(x, neg(y))


def mul(x: Value, y: Value) -> Value:
    """The product: of matrices that fit, or of a scalar with a matrix."""
    if type(x) is Matrix and type(y) is Matrix:
        return _mul(x, y)
    return bilinear(_mul, x, y)


def _mul(x: Matrix, y: Matrix) -> Matrix:
    if type(x.re) is not type(y.re):
        if is_exact_zero(x) or is_exact_zero(y):  # zero times any finite number, without doubt
            return _mul(zeros(*x.shape), zeros(*y.shape))
        x, y = to_balls(x), to_balls(y)
    if x.im is None and y.im is None:
        return Matrix(_product(x.re, y.re))
    if x.im is None:
        re, im = _product(x.re, y.re), _product(x.re, y.im)
    elif y.im is None:
        re, im = _product(x.re, y.re), _product(x.im, y.re)
    else:
        re = _product(x.re, y.re) - _product(x.im, y.im)
        im = _product(x.re, y.im) + _product(x.im, y.re)
    return exact_matrix(re, im) if x.exact else Matrix(re, im)


def _product(a: Part, b: Part) -> Part:
    if a.ncols() == b.nrows():
        if a.nrows() * b.ncols() > MAX_ENTRIES:
            raise UndecidedHere("a product is too large to evaluate")
        return a * b
    if a.nrows() == a.ncols() == 1:
        return b * a[0, 0]
    if b.nrows() == b.ncols() == 1:
        return a * b[0, 0]
    raise TypeProblem(
        f"a {a.nrows()} by {a.ncols()} matrix can't be multiplied "
        f"by a {b.nrows()} by {b.ncols()} matrix"
    )


def _misfit(sign: str, x: Value, y: Value) -> TypeProblem:
    (a, b), (c, d) = shape(x), shape(y)
    return TypeProblem(f"the shapes of {sign} don't fit: {a} by {b} and {c} by {d}")


def transpose(x: Value) -> Value:
    """`x.T`."""
    return linear(_transpose, x)


def _transpose(x: Matrix) -> Matrix:
    return Matrix(x.re.transpose(), None if x.im is None else x.im.transpose())


def conj(x: Value) -> Value:
    """The complex conjugate; the variables of jets and polynomials count as real."""
    return linear(_conj, x)


def _conj(x: Matrix) -> Matrix:
    return x if x.im is None else Matrix(x.re, -x.im)


def adjoint(x: Value) -> Value:
    """`x.H`."""
    return linear(_adjoint, x)


def _adjoint(x: Matrix) -> Matrix:
    return _conj(_transpose(x))


def trace(x: Value) -> Value:
    """The trace of a square matrix."""
    rows, cols = shape(x)
    if rows != cols:
        raise TypeProblem(f"a {rows} by {cols} matrix has no trace")
    return linear(_trace, x)


def _trace(x: Matrix) -> Matrix:
    size = x.shape[0]

    def total(part: Part) -> Part:
        return type(part)(1, 1, [sum((part[i, i] for i in range(1, size)), part[0, 0])])

    if x.im is None:
        return Matrix(total(x.re))
    return exact_matrix(total(x.re), total(x.im)) if x.exact else Matrix(total(x.re), total(x.im))


def rearrange(
    rows: int, cols: int, source: Callable[[int, int], tuple[int, int] | None], x: Value
) -> Value:
    """The matrix whose entry (i, j) is entry `source(i, j)` of x, or 0 where that is None."""
    check_size(rows, cols)
    places = [source(i, j) for i in range(rows) for j in range(cols)]

    def move(part: Part) -> Part:
        return type(part)(rows, cols, [0 if p is None else part[p] for p in places])

    def f(m: Matrix) -> Matrix:
        if m.im is None:
            return Matrix(move(m.re))
        return exact_matrix(move(m.re), move(m.im)) if m.exact else Matrix(move(m.re), move(m.im))

    return linear(f, x)


def entry(x: Value, i: int, j: int) -> Value:
    """One entry, 0-based, as a scalar."""
    return rearrange(1, 1, lambda _i, _j: (i, j), x)


def assemble(rows: int, cols: int, blocks: Sequence[Value]) -> Value:
    """A block matrix from `rows * cols` blocks, row by row."""
    shapes = [shape(b) for b in blocks]
    heights = [shapes[r * cols][0] for r in range(rows)]
    widths = [shapes[c][1] for c in range(cols)]
    for place, found in enumerate(shapes):
        if found != (heights[place // cols], widths[place % cols]):
            raise TypeProblem(
                f"block ({place // cols + 1}, {place % cols + 1}) is "
                f"{found[0]} by {found[1]}, its row and column need "
                f"{heights[place // cols]} by {widths[place % cols]}"
            )
    check_size(sum(heights), sum(widths))

    def f(parts: Sequence[Matrix]) -> Matrix:
        if any(not p.exact for p in parts):
            parts = [to_balls(p) for p in parts]
        kind = type(parts[0].re)

        def laid(tables: list[Part]) -> Part:
            return kind(
                [
                    [x for c in range(cols) for x in tables[r * cols + c][i]]
                    for r in range(rows)
                    for i in range(heights[r])
                ]
            )

        re = laid([p.re.tolist() for p in parts])
        if all(p.im is None for p in parts):
            return Matrix(re)
        im = laid([(kind(*p.shape) if p.im is None else p.im).tolist() for p in parts])
        return Matrix(re, im)

    return joint(f, blocks)


def hadamard(x: Value, y: Value) -> Value:
    """The entrywise product."""
    if shape(x) != shape(y):
        raise _misfit("hadamard", x, y)
    rows, cols = shape(x)
    return _entrywise(rows, cols, lambda i, j: ((i, j), (i, j)), x, y)


def kron(x: Value, y: Value) -> Value:
    """The Kronecker product."""
    (a, b), (c, d) = shape(x), shape(y)
    check_size(a * c, b * d)
    return _entrywise(a * c, b * d, lambda i, j: ((i // c, j // d), (i % c, j % d)), x, y)


def _entrywise(rows: int, cols: int, places: Callable, x: Value, y: Value) -> Value:
    pairs = [places(i, j) for i in range(rows) for j in range(cols)]

    def product(a: Part, b: Part) -> Part:
        return type(a)(rows, cols, [a[p] * b[q] for p, q in pairs])

    def f(m: Matrix, n: Matrix) -> Matrix:
        if type(m.re) is not type(n.re):
            m, n = to_balls(m), to_balls(n)
        if m.im is None and n.im is None:
            return Matrix(product(m.re, n.re))
        a, b = (type(x.re)(*x.shape) if x.im is None else x.im for x in (m, n))
        re = product(m.re, n.re) - product(a, b)
        im = product(m.re, b) + product(a, n.re)
        return exact_matrix(re, im) if m.exact else Matrix(re, im)

    return bilinear(f, x, y)


def base(x: Value) -> Matrix:
    """The value itself, without its Taylor terms.

    Raises:
        UndecidedHere: it depends on an indeterminate or on the outcome.
    """
    while isinstance(x, Jet):
        x = x.coefficients[0]
    if not isinstance(x, Matrix):
        raise UndecidedHere("this operation on a random quantity isn't supported")
    return x
