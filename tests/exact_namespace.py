"""A tiny array namespace of exact fractions, to run the rational kernels on.

Arrays are NumPy object arrays of `Fraction`; the namespace offers what `numeric.namespace` lists,
as far as fractions can: no exponentials, no square roots.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

_fraction = np.frompyfunc(Fraction, 1, 1)


def asarray(value: Any, dtype: Any = None) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind in "bU" or dtype == "labels":
        return array
    exact = _fraction(array)
    return exact if isinstance(exact, np.ndarray) else np.array(exact, dtype=object)


def where(condition: Any, chosen: Any, otherwise: Any) -> np.ndarray:
    return np.where(condition, asarray(chosen), asarray(otherwise))


def pinv(matrix: np.ndarray) -> np.ndarray:
    """Exact pseudo-inverse by a full-rank factorization, over batch axes."""
    batch = matrix.shape[:-2]
    result = np.empty((*batch, matrix.shape[-1], matrix.shape[-2]), dtype=object)
    for place in np.ndindex(*batch):
        result[place] = _pinv(matrix[place])
    return result


def _pinv(matrix: np.ndarray) -> np.ndarray:
    reduced, pivots = _row_echelon(matrix)
    if not pivots:
        return asarray(np.zeros(matrix.shape[::-1], dtype=int))
    left, right = matrix[:, pivots], reduced[: len(pivots)]  # matrix = left @ right, full rank
    return right.T @ _inverse(right @ right.T) @ _inverse(left.T @ left) @ left.T


def _row_echelon(matrix: np.ndarray) -> tuple[np.ndarray, list[int]]:
    rows, pivots = matrix.copy(), []
    for column in range(matrix.shape[1]):
        start = len(pivots)
        lead = next((row for row in range(start, len(rows)) if rows[row, column]), None)
        if lead is None:
            continue
        rows[[start, lead]] = rows[[lead, start]]
        rows[start] = rows[start] / rows[start, column]
        for row in range(len(rows)):
            if row != start:
                rows[row] = rows[row] - rows[row, column] * rows[start]
        pivots.append(column)
    return rows, pivots


def _inverse(matrix: np.ndarray) -> np.ndarray:
    size = len(matrix)
    both = np.concatenate([matrix, eye(size)], axis=1)
    return _row_echelon(both)[0][:, size:]


def eye(size: int) -> np.ndarray:
    return asarray(np.eye(size, dtype=int))


EXACT = SimpleNamespace(
    asarray=asarray,
    where=where,
    any=np.any,
    sum=lambda array, axis: np.sum(array, axis=axis),
    max=lambda array, axis: np.max(array, axis=axis),
    minimum=np.minimum,
    abs=np.abs,
    concat=np.concatenate,
    zeros=lambda shape, dtype=None: asarray(np.zeros(shape, dtype=int)),
    ones=lambda shape, dtype=None: asarray(np.ones(shape, dtype=int)),
    eye=eye,
    matrix_transpose=np.matrix_transpose,
    broadcast_to=np.broadcast_to,
    reshape=np.reshape,
    linalg=SimpleNamespace(pinv=pinv),
)
