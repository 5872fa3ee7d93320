"""Untrusted. A polynomial as a sum of products g*s, s a sum of squares, found over the rationals.

`certify` looks for semidefinite Gram matrices in floating point, drops the directions in which
they must vanish, rounds what is left onto the exact solutions and splits it as L*D*L^T over the
rationals. What it returns is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from proofs.checker.algebra import Monomial
from proofs.search import conic

Polynomial = dict[Monomial, Fraction]
Times = Callable[[Polynomial, Polynomial], Polynomial]
Place = conic.Place

MAX_REDUCTIONS = 4
MARGIN = 1e-5  # a solution whose least eigenvalue is larger lies in the interior
DENOMINATORS = (1, 2, 6, 12, 60, 2**10, 2**20, 2**34)
SIMPLEST = ((12, 1e-3), (60, 1e-4), (1000, 1e-5))  # denominators and tolerances, in a kernel
MAX_UNKNOWNS = 1500


@dataclass(frozen=True)
class Block:
    """A multiplier, and polynomials that span what the squares beside it may be made of."""

    multiplier: Polynomial
    basis: list[Polynomial]


@dataclass(frozen=True)
class Squares:
    """coefficient * multiplier of a block * root^2."""

    block: int
    coefficient: Fraction
    root: Polynomial


def certify(
    target: Polynomial,
    blocks: list[Block],
    times: Times,
    tick: Callable[[], None],
    serves: Callable[[list[Squares]], bool] = lambda squares: True,
) -> list[Squares] | None:
    """The target as a sum of multipliers times squares of what their bases span, or None.

    Of the sums that rounding gives, the simplest first, the first one that serves.
    """
    scale = max((abs(c) for c in target.values()), default=Fraction(1))
    aim = {m: c / scale for m, c in target.items()}
    blocks = list(blocks)
    for _ in range(MAX_REDUCTIONS):
        tick()
        system = _System(aim, blocks, times)
        if not system.solvable:
            return None
        sizes = [len(b.basis) for b in blocks]
        solution = conic.solve(sizes, system.floats, interior=True)
        if solution is None or solution.margin < -MARGIN:
            return None
        if solution.margin < MARGIN:
            center = conic.solve(sizes, system.floats, interior=False)
            solution = solution if center is None else center
        tick()
        for found in _rounded(system, solution):
            if serves(found):
                return [Squares(s.block, s.coefficient * scale, s.root) for s in found]
        smaller = [_reduced(b, solution.kernel(i)) for i, b in enumerate(blocks)]
        if [len(b.basis) for b in smaller] == sizes:
            return None
        blocks = smaller
    return None


class _System:
    """The equations between the entries of Gram matrices, one for each monomial, solved for some
    of the entries: those in `pivots` by the others, with the constant under None."""

    def __init__(self, target: Polynomial, blocks: list[Block], times: Times) -> None:
        self.blocks = blocks
        self.places: list[Place] = []
        self.pivots: dict[Place, dict[Place | None, Fraction]] = {}
        rows: dict[Monomial, dict[Place, Fraction]] = {m: {} for m in target}
        for k, block in enumerate(blocks):
            for j, right in enumerate(block.basis):
                outer = times(block.multiplier, right)
                for i in range(j + 1):
                    self.places.append((k, i, j))
                    factor = 1 if i == j else 2
                    for m, c in times(outer, block.basis[i]).items():
                        rows.setdefault(m, {})[k, i, j] = c * factor
        self.solvable = all(rows[m] for m in target) and len(self.places) <= MAX_UNKNOWNS
        if self.solvable:
            self._solve([(row, target.get(m, Fraction(0))) for m, row in rows.items()])

    def _solve(self, rows: list[tuple[dict[Place, Fraction], Fraction]]) -> None:
        # The entries on diagonals are determined by the others where that is possible.
        order = sorted(self.places, key=lambda p: (p[1] != p[2], p))
        column = {p: k for k, p in enumerate(order)}
        width = len(order)
        matrix = fmpq_mat(len(rows), width + 1)
        for r, (row, target) in enumerate(rows):
            for p, c in row.items():
                matrix[r, column[p]] = fmpq(c.numerator, c.denominator)
            matrix[r, width] = fmpq(target.numerator, target.denominator)
        reduced, rank = matrix.rref()
        for r in range(rank):
            line = [(k, reduced[r, k]) for k in range(width + 1)]
            entries = {
                order[k] if k < width else None: Fraction(int(x.p), int(x.q)) for k, x in line if x
            }
            pivot = next(iter(entries))
            if pivot is None:
                self.solvable = False  # the equations contradict each other
                return
            del entries[pivot]
            self.pivots[pivot] = entries

    @property
    def floats(self) -> list[tuple[dict[Place, float], float]]:
        """The equations in floating point, none of which follows from the others."""
        return [
            (
                {pivot: 1.0, **{p: float(c) for p, c in entries.items() if p is not None}},
                float(entries.get(None, 0)),
            )
            for pivot, entries in self.pivots.items()
        ]


def _rounded(system: _System, solution: conic.Solution) -> Iterator[list[Squares]]:
    """Exact solutions near one in floating point, those with the simplest entries first."""
    for denominator in DENOMINATORS:
        values = {
            p: Fraction(round(solution.value(p) * denominator), denominator)
            for p in system.places
            if p not in system.pivots
        }
        for pivot, entries in system.pivots.items():
            values[pivot] = sum(
                (c if p is None else -c * values[p] for p, c in entries.items()), Fraction(0)
            )
        found: list[Squares] = []
        for k, block in enumerate(system.blocks):
            gram = [
                [values[k, min(i, j), max(i, j)] for j in range(len(block.basis))]
                for i in range(len(block.basis))
            ]
            squares = split(gram)
            if squares is None:
                break
            for coefficient, vector in squares:
                root: Polynomial = {}
                for c, b in zip(vector, block.basis, strict=True):
                    _add(root, b, c)
                found.append(Squares(k, coefficient, root))
        else:
            yield found


def split(gram: list[list[Fraction]]) -> list[tuple[Fraction, list[Fraction]]] | None:
    """A symmetric matrix as a sum of d*v*v^T with d > 0, or None where it is not semidefinite."""
    rest = [list(row) for row in gram]
    found: list[tuple[Fraction, list[Fraction]]] = []
    for k in range(len(rest)):
        pivot = rest[k][k]
        if pivot < 0 or (pivot == 0 and any(rest[k])):
            return None
        if pivot == 0:
            continue
        vector = [x / pivot for x in rest[k]]
        found.append((pivot, vector))
        support = [i for i, x in enumerate(vector) if x]
        for i in support:
            for j in support:
                rest[i][j] -= pivot * vector[i] * vector[j]
    return found


def _reduced(block: Block, kernel: list[list[float]]) -> Block:
    """A block whose Gram matrix vanishes on some vectors, over a basis of what is left."""
    size = len(block.basis)
    if not kernel:
        return block
    if len(kernel) == size:
        return Block(block.multiplier, [])
    for denominator, tolerance in SIMPLEST:
        exact = _echelon(kernel, denominator, tolerance)
        if exact is not None:
            break
    else:
        return block
    basis: list[Polynomial] = []
    for free in (k for k in range(size) if k not in exact):
        # What is orthogonal to the kernel, whose vectors are unit vectors at their pivots.
        combined: Polynomial = {}
        _add(combined, block.basis[free], Fraction(1))
        for pivot, row in exact.items():
            _add(combined, block.basis[pivot], -row[free])
        basis.append(combined)
    return Block(block.multiplier, basis)


def _echelon(
    vectors: list[list[float]], denominator: int, tolerance: float
) -> dict[int, list[Fraction]] | None:
    """The reduced echelon form of a few vectors by pivot, its entries rounded; None where they
    are far from fractions so simple."""
    rows = [list(v) for v in vectors]
    pivots: list[int] = []
    width = len(rows[0])
    for r in range(len(rows)):
        size, pivot, best = max(
            (abs(rows[i][k]), k, i) for i in range(r, len(rows)) for k in range(width)
        )
        if size < 1e-3:
            return None
        rows[r], rows[best] = rows[best], rows[r]
        rows[r] = [x / rows[r][pivot] for x in rows[r]]
        for i, row in enumerate(rows):
            if i != r:
                rows[i] = [x - row[pivot] * y for x, y in zip(row, rows[r], strict=True)]
        pivots.append(pivot)
    exact: dict[int, list[Fraction]] = {}
    for pivot, row in zip(pivots, rows, strict=True):
        exact[pivot] = [Fraction(x).limit_denominator(denominator) for x in row]
        if any(abs(float(x) - y) > tolerance for x, y in zip(exact[pivot], row, strict=True)):
            return None
    return exact


def _add(total: Polynomial, part: Mapping[Monomial, Fraction], factor: Fraction) -> None:
    for m, c in part.items():
        value = total.get(m, Fraction(0)) + c * factor
        if value:
            total[m] = value
        else:
            total.pop(m, None)
