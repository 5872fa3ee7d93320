"""A canonical text of an expression's tree: for its hash, and for an order that never changes.

SymPy's own printing order follows its release, and its own hashes follow the hash seed. This text
follows neither, so that the emitted bytes are the same on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from sympy import (
    Add,
    Basic,
    Eq,
    Integer,
    KroneckerDelta,
    MatAdd,
    MatMul,
    Mul,
    Ne,
    Rational,
    Symbol,
)
from sympy.core.symbol import Str
from sympy.matrices.expressions import MatrixSymbol
from sympy.tensor.indexed import IndexedBase

# Operators whose arguments may be exchanged; their arguments are sorted.
_COMMUTATIVE = (Add, Mul, MatAdd, KroneckerDelta, Eq, Ne)


def canonical(expression: Basic) -> str:
    """The tree as text: the same for equal trees, whatever order SymPy keeps them in."""
    if isinstance(expression, (Integer, Rational)):
        return str(expression)
    if isinstance(expression, (Symbol, Str)):
        return str(expression.name)
    if isinstance(expression, MatrixSymbol):
        return f"matrix({expression.name},{','.join(map(canonical, expression.shape))})"
    if isinstance(expression, IndexedBase):
        return f"family({expression.name})"
    arguments = [canonical(argument) for argument in expression.args]
    if isinstance(expression, _COMMUTATIVE):
        arguments.sort()
    return f"{type(expression).__name__}({','.join(arguments)})"


def tree_hash(results: Mapping[str, Basic]) -> str:
    """Hash of a derivation's named results, short enough to be read aloud."""
    text = ";".join(f"{name}={canonical(value)}" for name, value in sorted(results.items()))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()[:16]


def is_negative(expression: Basic) -> bool:
    """Whether a term is printed with a minus: a negative number or coefficient."""
    if isinstance(expression, (Mul, MatMul)):
        return any(argument.is_Number and argument.is_negative for argument in expression.args)
    return bool(expression.is_Number and expression.is_negative)


def reading_order(expression: Basic) -> tuple[bool, int, str]:
    """Sorts the terms of a sum: positive before negative, short before long."""
    text = canonical(expression)
    return is_negative(expression), text.count("("), text
