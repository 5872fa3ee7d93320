"""Untrusted. Equations of block matrices, seen in the parts into which a known equation cuts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from proofs.checker.algebra import Poly, identity, of_letter
from proofs.language.sizes import Size
from proofs.search.ideal import Ideal


def bulk(value: Poly) -> tuple[int, int]:
    """How much there is to an equation: short ones come first, and simplify the others."""
    words = [word for _, word in value.terms]
    words += [a.word for m, _ in value.terms for a, _ in m if a.word is not None]
    return len(value.terms), max(map(len, words), default=0)


def partitions(values: Iterable[Poly]) -> dict[Size, list[Any]]:
    """Spaces that a known equation cuts in blocks: the coarsest such equation, the injections."""
    found: dict[Size, list[Any]] = {}
    for value in sorted(filter(_is_partition, values), key=bulk):
        found.setdefault(value.rows, [value, sorted({w[0] for _, w in value.terms if w}, key=str)])
    return found


def is_to_be_cut(value: Poly) -> bool:
    """Whether an equation is of more use block by block."""
    return _has_blocks(value) and not _is_partition(value) and not _fills_blocks(value)


def _has_blocks(value: Poly) -> bool:
    """Whether a matrix begins or ends with an injection of a block; others are left whole."""
    return any(w and (w[0].block or w[-1].block) for _, w in value.terms)


def _fills_blocks(value: Poly) -> bool:
    """Whether an equation says what one matrix, or its column, is in terms of blocks alone."""
    others = [w for _, w in value.terms if not all(x.block for x in w)]
    return len(others) == 1 and sum(not x.block for x in others[0]) == 1


def _is_partition(value: Poly) -> bool:
    """Whether an equation says that E1*E1.T + E2*E2.T + ... is the identity."""
    words = [w for _, w in value.terms if w]
    return (
        len(words) == len(value.terms) - 1 >= 2
        and ((), ()) in value.terms
        and all(len(w) == 2 and w[0].block and w[1] is w[0].T for w in words)
    )


def reduced(ideal: Ideal, difference: Poly, frames: dict[Size, list[Any]]) -> Any:
    """Reduce a difference; if that leaves a rest and its space has a partition, block by block."""
    rows, cols = (frames.get(size) for size in (difference.rows, difference.cols))
    rest, used = ideal.reduce(difference)
    if not rest.terms or (rows is None and cols is None):
        return rest, used
    used = []
    left_whole = right_whole = None
    for frame, is_left in ((rows, True), (cols, False)):
        if frame is None:
            continue
        relation = next(
            r for r in ideal.relations if _is_partition(r.value) and r.value.rows == frame[0].rows
        )
        scale = relation.value.terms[(), ()]  # E1*E1.T + E2*E2.T - 1, up to a factor
        gap = difference.scale(1 / scale)
        whole = frame[0].scale(-1 / frame[0].terms[(), ()]) + identity(frame[0].rows)
        if is_left:  # d = W*d + (1 - W)*d
            used.append(Ideal.term(None, relation, gap))
            difference = whole * difference
            left_whole = frame[1]
        else:
            used.append(Ideal.term(gap, relation, None))
            difference = difference * whole
            right_whole = frame[1]
    total = Poly(difference.rows, difference.cols, {})
    for left in left_whole or [None]:
        for right in right_whole or [None]:
            part = difference if left is None else of_letter(left.T) * difference
            part = part if right is None else part * of_letter(right)
            rest, inside = ideal.reduce(part)
            for t in inside:
                used.append(Ideal.wrapped(t, left, right))
            rest = rest if left is None else of_letter(left) * rest
            total = total + (rest if right is None else rest * of_letter(right.T))
    return total, used
