"""What a result should be at a model, and how much of it the inputs' last digits decide.

A float64 input is known to a relative error of eps, so a result can't be expected to be better
than what such an error changes in it. That is measured and not estimated: each entry of each
argument is moved by eps times the argument's size, in the exact evaluator, and the changes are
added up. Where a result jumps under such moves, as a pseudo-inverse does where the rank changes,
the argument is moved along matrices of its own rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from flint import arb, fmpq, fmpq_mat

from proofs.conformance.claim import Output
from proofs.conformance.errors import SideError
from proofs.evaluate import Evaluation, Family, Matrix, Model, Undecided, Undefined, exact
from proofs.evaluate import values as v
from proofs.evaluate.evaluator import precision
from proofs.evaluate.model import Entry, from_matrix, to_matrix
from proofs.language import show
from proofs.language.tree import Term

BITS = (256, 1024)
DIGITS_BITS = 100  # a ball must be known to so many bits
MANY = 64  # moves of one instance: beyond, the two ends of each row stand for the row
FINER = 1024  # a second move, so much smaller, tells a slope from a jump
STEEP = 2.0**-26  # changes above this part of the result are looked at twice

Move = Callable[[Fraction], Entry]
Changes = list[arb]  # one for each entry of a result, row by row


class NoReference(Exception):
    """The side has no value at a model, or none that is known to enough digits."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A result at a model, and for each entry what moving the inputs by eps makes of it.

    `units` is None where the result jumps under the smallest moves.
    """

    value: Matrix
    units: Changes | None

    def largest(self) -> arb:
        """The size of the largest entry."""
        return _largest(self.value)


def expected(output: Output, model: Model) -> Matrix:
    """The value of an output.

    Raises:
        NoReference: it has none here.
        SideError: no side was chosen, and the two sides differ here.
    """
    evaluation = Evaluation(model, BITS)
    found, why = [], ""
    for side in output.alternatives:
        value = evaluation(side)
        if isinstance(value, Matrix) and _is_sharp(value):
            found.append((side, value))
        elif isinstance(value, (Undefined, Undecided)):
            why = value.why
        else:
            why = "the value isn't known to enough digits"
    if not found:
        raise NoReference(why)
    (_, value), *rest = found
    for _, other in rest:
        if not _agree(value, other):
            raise SideError(
                f"the statement is false at {str(model).replace(chr(10), ', ')}: "
                f"{show.text(found[0][0])} is {value}, {show.text(rest[0][0])} is {other}; "
                "say side='left' or side='right'"
            )
    return value


def reference(output: Output, model: Model, names: Sequence[str], eps: float) -> Reference:
    """The value of an output and what it owes to the last digits of some names' values.

    Raises:
        NoReference: it has none here.
        SideError: no side was chosen, and the two sides differ here.
    """
    value = expected(output, model)
    side = output.alternatives[0]
    if not isinstance(Evaluation(model, BITS)(side), Matrix):
        side = output.alternatives[-1]
    with precision(BITS[0]):
        own = [abs(x) * arb(eps) for x in _entries(value)]
        total: Changes | None = own
        for name in names:
            changes = _moved(side, model, name, value, Fraction(eps))
            if changes is None or total is None:
                total = None
            else:
                total = [a + b for a, b in zip(total, changes, strict=True)]
    return Reference(value, total)


def _moved(side: Term, model: Model, name: str, value: Matrix, eps: Fraction) -> Changes | None:
    """All changes of a result that small moves of one argument make, added up."""
    for moves in (_moves, _moves_of_equal_rank):
        found = list(moves(model.values[name]))
        total = [arb(0)] * len(_entries(value))
        for move in found:
            change = _change(side, model, name, value, move, eps)
            if change is None:
                break
            total = [a + b for a, b in zip(total, change, strict=True)]
        else:
            return total if found or moves is _moves else None
    return None


def _change(
    side: Term, model: Model, name: str, value: Matrix, move: Move, eps: Fraction
) -> Changes | None:
    """What one move changes; None where the result jumps."""
    first = _difference(side, model.with_value(name, move(eps)), value)
    if first is None:  # the edge of where it is defined; the other direction is as good
        first = _difference(side, model.with_value(name, move(-eps)), value)
        eps = -eps
    if first is None:
        return [arb(0)] * len(_entries(value))
    size = max(map(_upper, first), default=0.0)
    if size > STEEP * float(_largest(value)):
        second = _difference(side, model.with_value(name, move(eps / FINER)), value)
        if second is not None and max(map(_upper, second), default=0.0) > size / 8:
            return None
    return first


def _difference(side: Term, model: Model, value: Matrix) -> Changes | None:
    found = Evaluation(model, BITS)(side)
    if not isinstance(found, Matrix):
        return None
    return [abs(x) for x in _entries(v.sub(found, value))]  # type: ignore[arg-type]


# ---------------------------------------------------------------- moves


def _moves(value: Entry) -> Iterator[Move]:
    """Every entry moved on its own by a part of the value's size; symmetric values stay so."""
    if isinstance(value, Family):
        for place, member in value.members.items():
            for move in _moves(member):
                yield partial(_in_family, value, place, move)
        return
    matrix = to_matrix(value)  # type: ignore[arg-type]
    size = _rational_size(matrix)
    if size == 0:
        return
    rows, cols = matrix.shape
    symmetric = rows == cols > 1 and v.is_exact_zero(v.sub(matrix, v.adjoint(matrix)))
    places = [(i, j) for i in range(rows) for j in range(cols) if not symmetric or i <= j]
    if len(places) > MANY:
        places = [(i, j) for i, j in places if j in (0, cols - 1) or i == j]
    for i, j in places:
        yield partial(_with_entry, matrix, i, j, size, 1, symmetric)
        if matrix.im is not None and not (symmetric and i == j):
            yield partial(_with_entry, matrix, i, j, size, 1j, symmetric)


def _in_family(family: Family, place: tuple[int, ...], move: Move, step: Fraction) -> Entry:
    return Family({**family.members, place: move(step)})  # type: ignore[dict-item]


def _with_entry(
    matrix: Matrix, i: int, j: int, size: Fraction, unit: complex, symmetric: bool, step: Fraction
) -> Entry:
    rows, cols = matrix.shape
    amount = fmpq(*(step * size).as_integer_ratio())
    cell = fmpq_mat(rows, cols)
    cell[i, j] = amount
    added = Matrix(cell) if unit == 1 else v.exact_matrix(fmpq_mat(rows, cols), cell)
    if symmetric and i != j:
        added = v.add(added, v.adjoint(added))
    return from_matrix(v.add(matrix, added))  # type: ignore[arg-type]


def _moves_of_equal_rank(value: Entry) -> Iterator[Move]:
    """Moves of a real matrix along matrices of its rank: those of the factors `A = F*M*G`.

    `F` has the pivot columns of `A`, `G` the pivot rows, and `M` is the inverse of what they share;
    of a symmetric matrix the pivots are the same, and it stays symmetric.
    """
    if isinstance(value, Family):
        return
    matrix = to_matrix(value)  # type: ignore[arg-type]
    rows, cols = matrix.shape
    if matrix.im is not None or matrix.re.rank() in (0, min(rows, cols)):
        return
    columns = exact.pivots(*matrix.re.rref())
    flipped = exact.pivots(*matrix.re.transpose().rref())
    symmetric = matrix.re == matrix.re.transpose()
    table = matrix.re.tolist()
    f = Matrix(fmpq_mat([[row[j] for j in columns] for row in table]))
    g = Matrix(fmpq_mat([table[i] for i in flipped]))
    middle = Matrix(fmpq_mat([[table[i][j] for j in columns] for i in flipped]))
    for k, part in enumerate((f, middle) if symmetric else (f, middle, g)):
        for move in _moves(from_matrix(part)):
            yield partial(_assembled, (f, middle, g), k, move, symmetric)


def _assembled(
    parts: tuple[Matrix, Matrix, Matrix], k: int, move: Move, symmetric: bool, step: Fraction
) -> Entry:
    changed = list(parts)
    changed[k] = to_matrix(move(step))  # type: ignore[arg-type]
    if symmetric:
        changed[2] = v.transpose(changed[0])  # type: ignore[assignment]
    f, middle, g = changed
    return from_matrix(v.mul(v.mul(f, Matrix(middle.re.inv())), g))  # type: ignore[arg-type]


# ---------------------------------------------------------------- entries


def _entries(matrix: Matrix) -> list[arb]:
    """The entries as balls, row by row; the size of complex ones."""
    real = [arb(x) for x in matrix.re.entries()]
    if matrix.im is None:
        return real
    return [
        (x * x + arb(y) * arb(y)).sqrt() for x, y in zip(real, matrix.im.entries(), strict=True)
    ]


def distances(value: Matrix, got: Sequence[complex]) -> list[arb]:
    """How far finite floats are from a value's entries, row by row."""
    rows, cols = value.shape
    with precision(BITS[0]):
        real = [fmpq(*float(x.real).as_integer_ratio()) for x in map(complex, got)]
        imaginary = [fmpq(*float(x.imag).as_integer_ratio()) for x in map(complex, got)]
        found = v.exact_matrix(fmpq_mat(rows, cols, real), fmpq_mat(rows, cols, imaginary))
        return [abs(x) for x in _entries(v.sub(value, found))]  # type: ignore[arg-type]


def _upper(x: arb) -> float:
    return float(abs(x).upper())


def _largest(matrix: Matrix) -> arb:
    with precision(BITS[0]):
        found = arb(0)
        for x in _entries(matrix):
            found = found.max(abs(x))
        return found


def _rational_size(matrix: Matrix) -> Fraction:
    parts = [part for part in (matrix.re, matrix.im) if part is not None]
    return max(abs(v.to_fraction(x)) for part in parts for x in part.entries())  # type: ignore


def _is_sharp(value: Matrix) -> bool:
    """Exact, or known to enough bits in comparison with its largest entry."""
    if value.exact:
        return True
    with precision(BITS[0]):
        worst = max(
            (abs(x.rad()) for part in (value.re, value.im) if part is not None
             for x in part.entries()),
            default=arb(0),
        )  # fmt: skip
        unit = arb(2) ** -DIGITS_BITS
        return bool(worst <= unit * _largest(value)) or bool(worst <= unit)


def _agree(one: Matrix, other: Matrix) -> bool:
    if one.shape != other.shape:
        return False
    if one.exact and other.exact:
        return v.is_exact_zero(v.sub(one, other))
    with precision(BITS[0]):
        gap = v.sub(one, other)
        return all(
            arb(x).contains(0)
            for part in (gap.re, gap.im)  # type: ignore[union-attr]
            if part is not None
            for x in part.entries()
        )
