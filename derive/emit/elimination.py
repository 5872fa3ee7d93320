"""The form that replaces an inverse by a sweep: one observed coordinate after another.

It works on all outputs of a kernel at once, since they share the sweep.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import (
    Basic,
    IndexedBase,
    Inverse,
    MatAdd,
    MatMul,
    MatrixSymbol,
    Symbol,
    Transpose,
)

from derive.emit.body import Body
from derive.emit.code import COLUMN, ROW
from derive.emit.nodes import Where
from derive.emit.tree import canonical


@dataclass(frozen=True)
class _Term:
    """One output: base + cross R^-1 seen for a vector `seen`, or base - cross R^-1 cross'."""

    output: str
    base: MatrixSymbol
    cross: MatrixSymbol
    seen: MatrixSymbol | None


def eliminate(outputs: dict[str, Basic], body: Body) -> dict[str, Basic] | None:
    """The outputs after a sweep over the block that they invert, or None if they don't fit.

    Fits D + C R^-1 y and D - C R^-1 C' with one R, symmetric psd, and one C.
    """
    inverses = sorted(
        {node for value in outputs.values() for node in value.atoms(Inverse)}, key=canonical
    )
    if len(inverses) != 1 or getattr(inverses[0].arg, "name", "") not in body.symmetric:
        return None
    found = [_term(name, value, inverses[0]) for name, value in outputs.items()]
    terms = [term for term in found if term is not None]
    if len(terms) < len(outputs) or len({term.cross for term in terms}) > 1:
        return None
    return _sweep(terms, inverses[0].arg, body)


def _term(output: str, value: Basic, inverse: Inverse) -> _Term | None:
    if not isinstance(value, MatAdd) or len(value.args) != 2:
        return None
    products = [part for part in value.args if part.has(inverse)]
    if len(products) != 1 or not isinstance(products[0], MatMul):
        return None
    base = next(part for part in value.args if part != products[0])
    factors = list(products[0].args)
    negative = factors[0] == -1
    factors = factors[1:] if negative else factors
    if len(factors) != 3 or factors[1] != inverse:
        return None
    cross, _, right = factors
    if not isinstance(base, MatrixSymbol) or not isinstance(cross, MatrixSymbol):
        return None
    if negative and isinstance(right, Transpose) and right.arg == cross:
        return _Term(output, base, cross, None)
    if not negative and isinstance(right, MatrixSymbol) and right.shape[1] == 1:
        return _Term(output, base, cross, right)
    return None


def _sweep(terms: list[_Term], observed: MatrixSymbol, body: Body) -> dict[str, Basic]:
    store = body.need("numeric.linear_algebra", "batch_contiguous")
    floor_of = body.need("numeric.linear_algebra", "pivot_floor")
    cross = terms[0].cross

    def stored(name: str, value: Basic, core: int) -> IndexedBase:
        body.line(f"{name} = {store}(xp, {body.source(value)}, {core})")
        return IndexedBase(name)

    body.line("# Batch axes last in memory: each step then runs along contiguous entries.")
    oo = stored(body.fresh(_last_word(observed)), observed, 2)
    uo = stored(body.fresh(_last_word(cross)), cross, 2)
    targets = [
        stored(body.fresh(term.output), term.base, 1 if term.seen is not None else 2)
        for term in terms
    ]
    seen = [
        stored(str(term.seen.name), term.seen, 1) if term.seen is not None else None
        for term in terms
    ]
    floor, step = IndexedBase(body.fresh("floor")), Symbol(body.fresh("step"))
    body.register_number(str(step))
    body.line(f"{floor} = {floor_of}(xp, {body.source(observed)}, rank_tol)")
    with body.block(f"for {step} in range({body.source(observed)}.shape[-1]):"):
        pivot = body.let("pivot", oo[0, 0])
        kept = body.let("kept", pivot > floor[step])
        inverse = body.let("inverse_pivot", Where(kept, 1 / Where(kept, pivot, 1), 0))
        coupling = body.let("coupling", uo[ROW, 0], (ROW,)).base
        others = body.let("others", oo[ROW + 1, 0], (ROW,)).base
        gain = body.let("gain", coupling[ROW] * inverse, (ROW,)).base
        weight = body.let("weight", others[ROW] * inverse, (ROW,)).base
        square = (ROW, COLUMN)
        for target, vector in zip(targets, seen, strict=True):
            if vector is None:
                left = target[ROW, COLUMN] - gain[ROW] * coupling[COLUMN]
                body.rebind(target, left, square)
            else:
                body.rebind(target, target[ROW] + gain[ROW] * vector[0], (ROW,))
                body.rebind(vector, vector[ROW + 1] - weight[ROW] * vector[0], (ROW,))
        body.rebind(uo, uo[ROW, COLUMN + 1] - gain[ROW] * others[COLUMN], square)
        body.rebind(oo, oo[ROW + 1, COLUMN + 1] - weight[ROW] * others[COLUMN], square)
    return {
        term.output: MatrixSymbol(str(target), *term.base.shape)
        for term, target in zip(terms, targets, strict=True)
    }


def _last_word(symbol: MatrixSymbol) -> str:
    return str(symbol.name).rpartition("_")[2]
