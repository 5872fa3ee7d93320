"""Linear algebra and Gaussian conditioning on fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np


def exact(values: Any) -> Any:
    """An array of floats as nested lists of the fractions that they are."""
    return [exact(part) for part in values] if np.ndim(values) else Fraction(float(values))


def independent_rows(matrix: list[list[Fraction]]) -> list[int]:
    """Indices of a largest set of independent rows, the first ones first."""
    kept: list[int] = []
    reduced: list[list[Fraction]] = []
    for place, given in enumerate(matrix):
        line = list(given)
        for pivot in reduced:
            lead = next(i for i, entry in enumerate(pivot) if entry)
            if line[lead]:
                factor = line[lead] / pivot[lead]
                line = [a - factor * b for a, b in zip(line, pivot, strict=True)]
        if any(line):
            kept.append(place)
            reduced.append(line)
    return kept


def solve(matrix: list[list[Fraction]], right: list[list[Fraction]]) -> list[list[Fraction]]:
    """The solution of a regular system, by Gauss and Jordan."""
    size = len(matrix)
    rows = [list(a) + list(b) for a, b in zip(matrix, right, strict=True)]
    for place in range(size):
        swap = next(i for i in range(place, size) if rows[i][place])
        rows[place], rows[swap] = rows[swap], rows[place]
        lead = rows[place][place]
        rows[place] = [entry / lead for entry in rows[place]]
        for other in range(size):
            factor = rows[other][place]
            if other != place and factor:
                rows[other] = [
                    a - factor * b for a, b in zip(rows[other], rows[place], strict=True)
                ]
    return [line[size:] for line in rows]


def conditioned(
    mean_u: list[Any],
    mean_o: list[Any],
    cov_uu: list[Any],
    cov_uo: list[Any],
    cov_oo: list[Any],
    value: list[Any],
) -> list[Any]:
    """Condition on independent observed coordinates only: the others say nothing new."""
    kept = independent_rows(cov_oo)
    block = [[cov_oo[a][b] for b in kept] for a in kept]
    cross = [[line[b] for b in kept] for line in cov_uo]
    right = [[line[a] for line in cross] + [value[b] - mean_o[b]] for a, b in enumerate(kept)]
    solved = solve(block, right) if kept else []
    mean = [
        m + sum((c * line[-1] for c, line in zip(row_, solved, strict=True)), Fraction(0))
        for m, row_ in zip(mean_u, cross, strict=True)
    ]
    cov = [
        [
            cov_uu[i][j] - sum((cross[i][a] * solved[a][j] for a in range(len(kept))), Fraction(0))
            for j in range(len(mean_u))
        ]
        for i in range(len(mean_u))
    ]
    return [mean, cov]


def dot(left: list[Any], right: list[Any]) -> Any:
    """The inner product of two vectors."""
    return sum((a * b for a, b in zip(left, right, strict=True)), 0 * (left or right or [0])[0])


def times(matrix: list[list[Any]], vector: list[Any]) -> list[Any]:
    """A matrix times a vector."""
    return [dot(line, vector) for line in matrix]


def product(left: list[list[Any]], right: list[list[Any]]) -> list[list[Any]]:
    """The product of two matrices."""
    columns = [list(column) for column in zip(*right, strict=True)]
    return [times(columns, line) for line in left]


def minus(left: list[Any], right: list[Any]) -> list[Any]:
    """The difference of two vectors."""
    return [a - b for a, b in zip(left, right, strict=True)]


def plus(left: list[Any], right: list[Any]) -> list[Any]:
    """The sum of two vectors."""
    return [a + b for a, b in zip(left, right, strict=True)]
