"""Untrusted. Linear arithmetic: a value as a combination of known inequalities, exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

MAX_PIVOTS = 200


def combination(
    columns: Sequence[Mapping[Any, Fraction]], target: Mapping[Any, Fraction]
) -> dict[int, Fraction] | None:
    """Non-negative multiples of the columns that add up to the target, or None.

    The first phase of the simplex method, with Bland's rule, so that it ends.
    """
    useful = _useful(columns, target)
    if useful is None:
        return None
    found = _simplex([columns[i] for i in useful], target)
    return None if found is None else {useful[i]: c for i, c in found.items()}


def _useful(
    columns: Sequence[Mapping[Any, Fraction]], target: Mapping[Any, Fraction]
) -> list[int] | None:
    """The columns whose multiples need not be zero, None where the signs of a row forbid all."""
    useful = list(range(len(columns)))
    while True:
        above: dict[Any, list[int]] = {}
        below: dict[Any, list[int]] = {}
        for i in useful:
            for key, c in columns[i].items():
                (above if c > 0 else below).setdefault(key, []).append(i)
        if any((above if c > 0 else below).get(key) is None for key, c in target.items() if c):
            return None
        useless: set[int] = set()
        for one, other in ((above, below), (below, above)):
            for key, places in one.items():
                if key not in other and not target.get(key):
                    useless.update(places)
        if not useless:
            return useful
        useful = [i for i in useful if i not in useless]


def _simplex(
    columns: Sequence[Mapping[Any, Fraction]], target: Mapping[Any, Fraction]
) -> dict[int, Fraction] | None:
    rows = list(dict.fromkeys(k for c in (*columns, target) for k in c))
    table: list[list[Fraction]] = []
    for i, key in enumerate(rows):
        right = target.get(key, Fraction(0))
        sign = -1 if right < 0 else 1
        slack = [Fraction(int(i == j)) for j in range(len(rows))]
        row = [sign * c.get(key, Fraction(0)) for c in columns]
        table.append([*row, *slack, sign * right])
    count = len(columns)
    basis = [count + i for i in range(len(rows))]
    cost = [-sum((row[j] for row in table), Fraction(0)) for j in range(count)]
    cost += [Fraction(0)] * len(rows) + [-sum((row[-1] for row in table), Fraction(0))]
    for _ in range(MAX_PIVOTS):
        entering = next((j for j in range(count) if cost[j] < 0), None)
        if entering is None:
            break
        ratios = [
            (row[-1] / row[entering], basis[i], i)
            for i, row in enumerate(table)
            if row[entering] > 0
        ]
        if not ratios:
            return None
        _, _, i = min(ratios)
        _pivot(table, cost, i, entering)
        basis[i] = entering
    else:
        return None
    if cost[-1] != 0:
        return None
    return {b: table[i][-1] for i, b in enumerate(basis) if b < count and table[i][-1]}


def _pivot(table: list[list[Fraction]], cost: list[Fraction], i: int, j: int) -> None:
    scale = table[i][j]
    table[i] = [x / scale if x else x for x in table[i]]
    entries = [(k, y) for k, y in enumerate(table[i]) if y]
    for row in (*(r for k, r in enumerate(table) if k != i), cost):
        factor = row[j]
        if factor:
            for k, y in entries:
                row[k] -= factor * y
