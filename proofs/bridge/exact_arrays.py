"""Arrays of exact rationals and balls, with the operations to which the emitter keeps.

An entry is a rational (`fmpq`), a ball (`arb`) where a transcendental function has been taken, or,
in a mask, True, False or None: whether a ball lies above another may be undecided. `where` then
takes the hull of both branches, so that the result encloses the true value in any case.

A kernel imports a few helpers that work on the bits of floats, or that SciPy has for floats only.
`exact_twin` is the same code with these exchanged for exact ones, and nothing else.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat

from proofs.evaluate.evaluator import precision
from proofs.evaluate.exact import pseudo_inverse

SPARE_BITS = 2048  # where an equation is solved by a formula that cancels
Entry = Any  # fmpq, arb, bool or None


class NotExact(ArithmeticError):
    """Something without an exact value: the logarithm of 0, a choice between balls that overlap."""


class NoSuchOperation(AttributeError):
    """A kernel asks for an operation to which the emitter doesn't keep."""


class ExactArray:
    """An array of rationals and balls. Broadcasts as NumPy's do."""

    __slots__ = ("entries",)
    entries: Any  # NumPy's array of objects
    __array_ufunc__ = None  # NumPy leaves mixed operations to us
    dtype = object

    def __init__(self, entries: Any) -> None:
        self.entries = entries

    @property
    def shape(self) -> tuple[int, ...]:
        return self.entries.shape

    @property
    def ndim(self) -> int:
        return self.entries.ndim

    def __array_namespace__(self, api_version: str | None = None) -> ExactNamespace:
        return EXACT

    def __getitem__(self, key: Any) -> ExactArray:
        return _array(self.entries[key])

    def __repr__(self) -> str:
        return f"ExactArray({self.entries.tolist()})"

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> ExactArray:
        return _each(lambda x, y: x + y, self, other)

    def __sub__(self, other: Any) -> ExactArray:
        return _each(lambda x, y: x - y, self, other)

    def __mul__(self, other: Any) -> ExactArray:
        return _each(_times, self, other)

    def __truediv__(self, other: Any) -> ExactArray:
        return _each(_over, self, other)

    def __radd__(self, other: Any) -> ExactArray:
        return EXACT.asarray(other) + self

    def __rsub__(self, other: Any) -> ExactArray:
        return EXACT.asarray(other) - self

    def __rmul__(self, other: Any) -> ExactArray:
        return EXACT.asarray(other) * self

    def __rtruediv__(self, other: Any) -> ExactArray:
        return EXACT.asarray(other) / self

    def __pow__(self, exponent: int) -> ExactArray:
        return _each(lambda x: x**exponent, self)

    def __neg__(self) -> ExactArray:
        return _each(lambda x: -x, self)

    def __matmul__(self, other: ExactArray) -> ExactArray:
        found = np.matmul(self.entries, other.entries)
        return EXACT.asarray(found)  # sums of nothing come as integers

    def __lt__(self, other: Any) -> ExactArray:
        return _each(_below, self, other)

    def __gt__(self, other: Any) -> ExactArray:
        return _each(lambda x, y: _below(y, x), self, other)

    def __le__(self, other: Any) -> ExactArray:
        return _each(lambda x, y: _not(_below(y, x)), self, other)

    def __ge__(self, other: Any) -> ExactArray:
        return _each(lambda x, y: _not(_below(x, y)), self, other)

    def __eq__(self, other: object) -> ExactArray:  # type: ignore[override]
        return _each(_same, self, other)

    def __and__(self, other: Any) -> ExactArray:
        return _each(_and, self, other)

    def __or__(self, other: Any) -> ExactArray:
        return _each(lambda x, y: _not(_and(_not(x), _not(y))), self, other)


class _ExactLinearAlgebra:
    def pinv(self, matrix: ExactArray) -> ExactArray:
        """The Moore-Penrose inverse of each matrix of a batch of rational ones."""
        *batch, rows, columns = matrix.shape
        found = np.empty((*batch, columns, rows), dtype=object)
        for place in np.ndindex(*batch):
            cells = matrix.entries[place]
            if any(isinstance(x, arb) for x in cells.flat):
                raise NotExact("a pseudo-inverse of balls")
            if rows and columns:
                inverse = pseudo_inverse(fmpq_mat(cells.tolist()))
                for i, j in np.ndindex(columns, rows):
                    found[*place, i, j] = inverse[i, j]
        return _array(found)


class ExactNamespace:
    """The array namespace of `ExactArray`: what a kernel may ask for, and no more."""

    inf = arb.pos_inf()
    linalg = _ExactLinearAlgebra()

    def __getattr__(self, name: str) -> Any:
        raise NoSuchOperation(f"exact arrays have no operation {name!r}")

    def asarray(self, values: Any, dtype: object = None) -> ExactArray:
        """Numbers as an array; floats become the rationals that they are."""
        if isinstance(values, ExactArray):
            return values
        if isinstance(values, (bool, int, float, Fraction, fmpq, arb)):
            return _array(_entry(values))
        cells = np.asarray(values) if isinstance(values, np.ndarray) else _table(values)
        return _each(_entry, _array(cells.astype(object)))

    def where(self, condition: ExactArray, yes: Any, no: Any) -> ExactArray:
        return _each(_choose, condition, yes, no)

    def sum(self, array: ExactArray, axis: int) -> ExactArray:
        return _along(array, axis, lambda cells: sum(cells, fmpq(0)))

    def max(self, array: ExactArray, axis: int) -> ExactArray:
        return _along(array, axis, _largest)

    def any(self, array: ExactArray) -> bool:
        """Whether some entry of a mask is True.

        Raises:
            NotExact: that depends on an undecided one.
        """
        found = list(array.entries.flat)
        if True not in found and None in found:
            raise NotExact("a choice between balls that overlap")
        return True in found

    def abs(self, array: ExactArray) -> ExactArray:
        return _each(abs, array)

    def sign(self, array: ExactArray) -> ExactArray:
        return _each(_sign, array)

    def copysign(self, size: Any, sign: Any) -> ExactArray:
        """The size of one with the sign of the other; 0 counts as positive."""
        return _each(lambda x, y: _choose(_below(y, fmpq(0)), -abs(x), abs(x)), size, sign)

    def minimum(self, left: Any, right: Any) -> ExactArray:
        return _each(lambda x, y: -_largest([-x, -y]), left, right)

    def exp(self, array: ExactArray) -> ExactArray:
        return _each(lambda x: fmpq(1) if _is(x, 0) else arb(x).exp(), array)

    def log(self, array: ExactArray) -> ExactArray:
        return _each(_log, array)

    def log1p(self, array: ExactArray) -> ExactArray:
        return _each(lambda x: fmpq(0) if _is(x, 0) else arb(x).log1p(), array)

    def sqrt(self, array: ExactArray) -> ExactArray:
        return _each(_sqrt, array)

    def tanh(self, array: ExactArray) -> ExactArray:
        return _each(lambda x: fmpq(0) if _is(x, 0) else arb(x).tanh(), array)

    @property
    def pi(self) -> ExactArray:
        return _array(arb.pi())

    def concat(self, arrays: Sequence[ExactArray], axis: int) -> ExactArray:
        return _array(np.concatenate([a.entries for a in arrays], axis=axis))

    def zeros(self, shape: int | tuple[int, ...], dtype: object = None) -> ExactArray:
        return _filled(shape, fmpq(0))

    def ones(self, shape: int | tuple[int, ...], dtype: object = None) -> ExactArray:
        return _filled(shape, fmpq(1))

    def eye(self, size: int, dtype: object = None) -> ExactArray:
        found = _filled((size, size), fmpq(0))
        for i in range(size):
            found.entries[i, i] = fmpq(1)
        return found

    def matrix_transpose(self, array: ExactArray) -> ExactArray:
        return _array(np.swapaxes(array.entries, -1, -2))

    def reshape(self, array: ExactArray, shape: tuple[int, ...]) -> ExactArray:
        return _array(array.entries.reshape(shape))

    def broadcast_to(self, array: ExactArray, shape: tuple[int, ...]) -> ExactArray:
        return _array(np.broadcast_to(array.entries, shape))


EXACT = ExactNamespace()


# ---------------------------------------------------------------- entries


def _array(cells: Any) -> ExactArray:
    """An array around NumPy's; a lone entry becomes one without axes."""
    if not isinstance(cells, np.ndarray):
        lone = np.empty((), dtype=object)
        lone[()] = cells
        cells = lone
    return ExactArray(cells)


def _table(values: Iterable[Any]) -> np.ndarray:
    """Nested lists of numbers, none of which NumPy may look into."""
    parts = [
        _table(v) if isinstance(v, (list, tuple)) else np.asarray(_array(_entry(v)).entries)
        for v in values
    ]
    return np.stack(parts) if parts else np.empty(0, dtype=object)


def _entry(value: Any) -> Entry:
    if isinstance(value, (fmpq, arb)) or value is None:
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, ExactArray):
        return value.entries[()]
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            return arb(float(value))
        value = Fraction(float(value))
    return fmpq(int(value.numerator), int(value.denominator))


def _each(function: Callable[..., Entry], *arrays: Any) -> ExactArray:
    cells = [EXACT.asarray(a).entries for a in arrays]
    return _array(np.frompyfunc(function, len(cells), 1)(*cells))


def _along(array: ExactArray, axis: int, function: Callable[[list[Entry]], Entry]) -> ExactArray:
    moved = np.moveaxis(array.entries, axis, -1)
    found = np.empty(moved.shape[:-1], dtype=object)
    for place in np.ndindex(*found.shape):
        found[place] = function(list(moved[place]))
    return _array(found)


def _filled(shape: int | tuple[int, ...], value: fmpq) -> ExactArray:
    found = np.empty(shape, dtype=object)
    found[...] = value
    return _array(found)


def _is(x: Entry, number: int) -> bool:
    return isinstance(x, fmpq) and x == number


def _times(x: Entry, y: Entry) -> Entry:
    return fmpq(0) if _is(x, 0) or _is(y, 0) else x * y  # 0 times a ball is 0, without doubt


def _over(x: Entry, y: Entry) -> Entry:
    if _is(y, 0):
        raise NotExact("a division by 0")
    return fmpq(0) if _is(x, 0) else x / y


def _log(x: Entry) -> Entry:
    if _is(x, 1):
        return fmpq(0)
    if not x > 0:
        raise NotExact(f"the logarithm of {x}")
    return arb(x).log()


def _sqrt(x: Entry) -> Entry:
    """A rational where the square root is one."""
    if isinstance(x, fmpq):
        if x < 0:
            raise NotExact(f"the square root of {x}")
        if x.p.is_square() and x.q.is_square():
            return fmpq(x.p.isqrt(), x.q.isqrt())
    return arb(x).sqrt()


def _sign(x: Entry) -> Entry:
    if isinstance(x, arb):
        return x.sgn()
    return fmpq(int(x > 0) - int(x < 0))


def _largest(cells: list[Entry]) -> Entry:
    best = cells[0]
    for x in cells[1:]:
        below = _below(best, x)
        best = x if below else arb(best).max(arb(x)) if below is None else best
    return best


def _below(x: Entry, y: Entry) -> bool | None:
    """Whether x < y; None where the balls overlap."""
    if x < y:
        return True
    return False if x >= y else None


def _not(x: bool | None) -> bool | None:
    return None if x is None else not x


def _and(x: bool | None, y: bool | None) -> bool | None:
    if x is False or y is False:
        return False
    return None if x is None or y is None else True


def _same(x: Entry, y: Entry) -> bool | None:
    if isinstance(x, fmpq) and isinstance(y, fmpq):
        return bool(x == y)
    return None if arb(x).overlaps(arb(y)) else False


def _choose(condition: bool | None, yes: Entry, no: Entry) -> Entry:
    if condition is None:
        return arb(yes).union(arb(no))
    return yes if condition else no


# ---------------------------------------------------------------- kernels on exact arrays


def _wright_omega(_xp: object, x: ExactArray) -> ExactArray:
    """omega(x) = W(exp(x)); a ball's exponent has no limit."""
    return _each(lambda value: arb(value).exp().lambertw(), x)


def _two_sum(_xp: object, x: ExactArray, y: ExactArray) -> tuple[ExactArray, ExactArray]:
    return x + y, EXACT.asarray(0)


def _two_product(_xp: object, x: ExactArray, y: ExactArray) -> tuple[ExactArray, ExactArray]:
    return x * y, EXACT.asarray(0)


def _linear_log_root(_xp: object, slope: ExactArray, level: ExactArray) -> ExactArray:
    """The root x of slope*x + log(1 + x) = level, from Lambert's W with digits to spare."""

    def root(p: Entry, right: Entry) -> Entry:
        if _is(p, 0):
            return arb(right).expm1()
        with precision(SPARE_BITS):
            start = arb(p)
            return (start * (start + arb(right)).exp()).lambertw() / start - 1

    return _each(root, slope, level)


def _rise(branch: int) -> Callable[[object, ExactArray], ExactArray]:
    """1 + W(x exp(-x)) on a branch of Lambert's W."""

    def rise(value: Entry) -> Entry:
        with precision(SPARE_BITS):
            x = arb(value)
            return 1 + (x * (-x).exp()).lambertw(branch)

    return lambda _xp, eta: _each(rise, eta)


EXCHANGED: dict[str, Callable[..., Any]] = {
    "wright_omega": _wright_omega,
    "linear_log_root": _linear_log_root,
    "principal_rise": _rise(0),
    "lower_rise": _rise(-1),
    "two_sum": _two_sum,
    "two_product": _two_product,
}


@cache
def exact_twin(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel's own code, its float-only helpers exchanged for exact ones."""
    plain = inspect.unwrap(kernel)
    if not isinstance(plain, types.FunctionType):
        raise TypeError(f"expected an emitted kernel, got {kernel!r}")
    known = plain.__globals__
    exchanged = {name: twin for name, twin in EXCHANGED.items() if name in known}
    twin = types.FunctionType(
        plain.__code__,
        {**known, **exchanged},
        plain.__name__,
        plain.__defaults__,
        plain.__closure__,
    )
    twin.__kwdefaults__ = plain.__kwdefaults__
    return twin
