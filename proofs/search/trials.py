"""Untrusted. Relations tried at random points in floating point, so that none is sought in vain.

Where a point satisfies the hypotheses and a relation is plainly false there, no proof is sought.
What has no value here, such as a determinant, is taken to be possible.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction

from proofs.language.tree import Declaration, Term, postorder
from proofs.search.samples import CONSTANTS, FUNCTIONS
from proofs.search.workbench import Workbench

Value = float | list[list[float]]
Point = dict[str, object]
POINTS = 60  # that are tried
WANTED = 12  # that satisfy the hypotheses
SIZES = (2, 3, 1)
SPREADS = (1.0, 3.0, 9.0)
NUMBERS = (0.0, 1.0, -1.0, 2.0, -3.0, 0.5)
TOLERANCE = 1e-6
LARGE = 1e8


class NoValue(ValueError):
    """An operation that is not evaluated here, or a term that is not defined at a point."""


def is_possible(w: Workbench, relation: Term) -> bool:
    """Whether no point was found at which all hypotheses hold and the relation is false."""
    given = (*w.statement.hypotheses, *w.supposed)
    chance = random.Random(1)
    met = 0
    for k in range(POINTS):
        try:
            point = _point(w.judge.declarations, given, chance, k)
            if not all(_holds(h, point, ()) for h in given):
                continue
            met += 1
            if not _holds(relation, point, ()):
                return False
        except NoValue:
            return True
        except (ValueError, ZeroDivisionError, OverflowError, IndexError, KeyError):
            continue
        if met >= WANTED:
            break
    return True


def is_elementary(relation: Term) -> bool:
    """Whether a relation speaks of named numbers and the entries of vectors, not of matrices."""
    nodes = postorder([relation])
    if all(n.op != "name" for n in nodes):  # numbers are compared by enclosures
        return False
    return all(n.op in ELEMENTARY or n.op.endswith("_type") for n in nodes)


# ---------------------------------------------------------------- points


def _point(
    declarations: Sequence[Declaration], given: Sequence[Term], chance: random.Random, k: int
) -> Point:
    """Values for all names: simple ones at first, any then; weights with the sum they must have."""
    point: Point = {}
    for declaration in declarations:
        if declaration.type.op == "dimension_type":
            for n in declaration.names:
                point[n] = float(SIZES[k % 2] if k < 4 else chance.choice(SIZES))
    for declaration in declarations:
        type_ = declaration.type
        if type_.op != "dimension_type":
            for n in declaration.names:
                point[n] = _random(type_, point, chance, k)
    for h in given:
        _scale(h, point)
    return point


def _random(type_: Term, point: Point, chance: random.Random, k: int) -> object:
    if type_.op == "matrix_type":
        rows, cols = (int(_number(a, point, ())) for a in type_.args)
        positive = k % 3 == 1
        return [[_draw(chance, k, positive) for _ in range(cols)] for _ in range(rows)]
    if type_.op == "family_type":
        if len(type_.args) != 2:
            raise NoValue(type_.op)
        count = int(_number(type_.args[1], point, ()))
        return {i: _random(type_.args[0], point, chance, k) for i in range(1, count + 1)}
    if type_.op == "index_type":
        return float(chance.randint(1, int(_number(type_.args[0], point, ()))))
    if type_.op == "integer_type":
        return float(chance.randint(1, 3))
    if type_.op in ("positive_type", "nonnegative_type"):
        return _draw(chance, k, True)
    if type_.op in ("real_type", "nonzero_type"):
        return _draw(chance, k, k % 3 == 1)
    raise NoValue(type_.op)


def _draw(chance: random.Random, k: int, positive: bool) -> float:
    value = chance.choice(NUMBERS) if k % 4 == 0 else chance.gauss(0.0, SPREADS[k % 3])
    if positive:
        return chance.random() if k % 2 else abs(value) + 0.125
    return value


def _scale(h: Term, point: Point) -> None:
    """Scale a vector or family so that the sum of its entries is what a hypothesis says."""
    if h.op != "eq" or h.args[0].op != "sum":
        return
    low, high, body = h.args[0].args
    if body.op not in ("entry", "member") or body.args[0].op != "name" or low.op != "rational":
        return
    if len(body.args) != 2 or body.args[1].op != "bound":
        return
    size = int(_number(high, point, ()))
    wanted = _number(h.args[1], point, ())
    total = _number(h.args[0], point, ())
    known = point[str(body.args[0].data)]
    for i in range(1, size + 1):
        if isinstance(known, dict):
            known[i] *= wanted / total
        elif isinstance(known, list):
            known[i - 1][0] *= wanted / total


# ---------------------------------------------------------------- values


def _holds(relation: Term, point: Point, bound: tuple[float, ...]) -> bool:
    """Whether a relation holds, up to what rounding may do."""
    if relation.op == "forall":
        if relation.data != (1, 0) or relation.args[0].op != "index_type":
            raise NoValue(relation.op)
        size = int(_number(relation.args[0].args[0], point, bound))
        return all(_holds(relation.args[1], point, (*bound, float(j))) for j in range(1, size + 1))
    if relation.op not in COMPARE:
        raise NoValue(relation.op)
    left, right = (_number(a, point, bound) for a in relation.args)
    if not math.isfinite(left) or not math.isfinite(right):
        raise OverflowError
    return COMPARE[relation.op](left - right, TOLERANCE * max(1.0, abs(left), abs(right)))


COMPARE: dict[str, Callable[[float, float], bool]] = {
    "ge": lambda d, e: d >= -e,
    "gt": lambda d, e: d >= -e,
    "le": lambda d, e: d <= e,
    "lt": lambda d, e: d <= e,
    "eq": lambda d, e: abs(d) <= e,
    "ne": lambda d, e: d != 0,
}


def _number(node: Term, point: Point, bound: tuple[float, ...]) -> float:
    found = _value(node, point, bound)
    if isinstance(found, list):
        if len(found) != 1 or len(found[0]) != 1:
            raise NoValue(node.op)
        return found[0][0]
    return found


def _value(node: Term, point: Point, bound: tuple[float, ...]) -> Value:
    op, args = node.op, node.args
    if op == "name":
        found = point[str(node.data)]
        return found  # type: ignore[return-value]
    if op == "bound":
        return bound[-1 - int(str(node.data))]
    if op == "rational":
        return float(Fraction(str(node.data)))
    if op == "constant":
        if node.data not in CONSTANTS:
            raise NoValue(op)
        return CONSTANTS[str(node.data)]
    if op == "member":
        family = point[str(args[0].data)]
        return family[int(_number(args[1], point, bound))]  # type: ignore[index]
    if op in ("sum", "prod"):
        low, high = (int(_number(a, point, bound)) for a in args[:2])
        terms = [_number(args[2], point, (*bound, float(j))) for j in range(low, high + 1)]
        return math.fsum(terms) if op == "sum" else math.prod(terms)
    if op == "comprehension":
        size = int(_number(args[0], point, bound))
        return [[_number(args[1], point, (*bound, float(j)))] for j in range(1, size + 1)]
    if op in MATRICES:
        sizes = [int(_number(a, point, bound)) for a in args]
        return MATRICES[op](*sizes)
    found = _operation(op, [_value(a, point, bound) for a in args])
    if isinstance(found, float) and abs(found) > LARGE:  # what is added to it would be lost
        raise OverflowError
    return found


MATRICES: dict[str, Callable[..., list[list[float]]]] = {
    "ones": lambda n, k: [[1.0] * k for _ in range(n)],
    "zeros": lambda n, k: [[0.0] * k for _ in range(n)],
    "eye": lambda n: [[float(i == j) for j in range(n)] for i in range(n)],
    "unit": lambda n, j: [[float(i + 1 == j)] for i in range(n)],
}


def _operation(op: str, values: list[Value]) -> Value:
    if op == "entry":
        matrix, row, *col = values
        if not isinstance(matrix, list):
            return matrix
        return matrix[int(_plain(row)) - 1][int(_plain(col[0])) - 1 if col else 0]
    if op == "transpose":
        (x,) = values
        return [list(row) for row in zip(*x, strict=True)] if isinstance(x, list) else x
    if op in ("inner", "norm2"):
        x, y = (_entries(v) for v in (values if op == "inner" else values * 2))
        return math.fsum(a * b for a, b in zip(x, y, strict=True))
    if op in VECTOR and len(values) == 1 and isinstance(values[0], list):
        return VECTOR[op](_entries(values[0]))
    if op == "softmax":
        powers = [math.exp(a) for a in _entries(values[0])]
        return [[a / math.fsum(powers)] for a in powers]
    if op == "diag":
        x = _entries(values[0])
        return [[x[i] if i == j else 0.0 for j in range(len(x))] for i in range(len(x))]
    if op == "tr" and isinstance(values[0], list):
        return math.fsum(values[0][i][i] for i in range(len(values[0])))
    if op == "mul":
        return _product(*values)
    if op in ("add", "sub", "neg") and all(isinstance(v, list) for v in values):
        rows = zip(*values, strict=True)  # type: ignore[arg-type]
        return [[FUNCTIONS[op](*x) for x in zip(*row, strict=True)] for row in rows]
    if op == "div" and isinstance(values[0], list):
        return [[x / _plain(values[1]) for x in row] for row in values[0]]
    if op not in FUNCTIONS:
        raise NoValue(op)
    return FUNCTIONS[op](*map(_plain, values))


ELEMENTARY = (
    FUNCTIONS.keys()
    | MATRICES.keys()
    | COMPARE.keys()
    | {
        *(
            "name",
            "bound",
            "rational",
            "constant",
            "member",
            "entry",
            "sum",
            "prod",
            "comprehension",
        ),
        *("transpose", "inner", "norm2", "diag", "softmax", "logsumexp", "forall"),
        *("deriv", "lambertw", "erf"),  # which have no value here
    }
)
VECTOR: dict[str, Callable[[list[float]], float]] = {
    "max": max,
    "min": min,
    "logsumexp": lambda x: max(x) + math.log(math.fsum(math.exp(a - max(x)) for a in x)),
}


def _product(x: Value, y: Value) -> Value:
    if isinstance(x, list) and isinstance(y, list) and len(x[0]) == len(y):
        columns = list(zip(*y, strict=True))
        return [[math.fsum(map(float.__mul__, row, col)) for col in columns] for row in x]
    if isinstance(x, list) and isinstance(y, list):  # one of them is a number
        x, y = (x, _plain(y)) if len(y) == len(y[0]) == 1 else (_plain(x), y)
    if isinstance(y, list):
        x, y = y, x
    if isinstance(x, list):
        return [[a * _plain(y) for a in row] for row in x]
    return x * _plain(y)


def _plain(x: Value) -> float:
    return x[0][0] if isinstance(x, list) else x


def _entries(x: Value) -> list[float]:
    return [a for row in x for a in row] if isinstance(x, list) else [x]
