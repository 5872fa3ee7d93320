"""Which names may be printed, and errors of the emitter.

A printed name is executed. So a name is checked against a whitelist before it is printed: ASCII
letters, digits and underscores, a letter first, no keyword, nothing that the emitted source needs
for itself.
"""

from __future__ import annotations

import builtins
import keyword
import re

from sympy import Basic

LONGEST = 160  # characters of an expression in a message


class EmitError(ValueError):
    """An expression that can't be emitted; says which subexpression and why."""

    def __init__(self, reason: str, expression: Basic | None = None) -> None:
        self.reason, self.expression = reason, expression
        super().__init__(reason if expression is None else f"{reason}: {shown(expression)}")


def shown(expression: Basic) -> str:
    """The expression as a message shows it: the beginning of a long one."""
    text = str(expression)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


class NameRefusedError(EmitError):
    """A name that must not be printed."""


_SHAPE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}", re.ASCII)
_RESERVED = frozenset(
    {
        "xp",
        "np",
        "numpy",
        "scipy",
        "rank_tol",
        "batch",
        "Array",
        "Any",
        "errstate",
        "namespace",
        "real_arrays",
        "batch_shape",
        "fill_batch",
        "drop_entry",
        "indicator",
        "dot_products",
        "insert_zero",
        "sum_of_others",
        "value_at_largest",
        "stack_entries",
        "diagonal_mask",
        "batch_contiguous",
        "pivot_floor",
        "squared_distances",
        "excess_distances",
        "smallest_normal",
        "root_of_smallest",
        "two_sum",
        "two_product",
        "wright_omega",
        "linear_log_root",
        "principal_rise",
        "lower_rise",
        "pseudo_inverse",
        "symmetric_pseudo_inverse",
        "kernel_projector",
        "symmetric_part",
    }
)


def checked_name(name: str) -> str:
    """The name itself, if it may be printed.

    Raises:
        NameRefusedError: the name is no plain identifier, or it has a meaning already.

    Example:
        >>> checked_name("lambda0")
        'lambda0'
        >>> checked_name("x.__class__")
        Traceback (most recent call last):
        ...
        derive.emit.names.NameRefusedError: 'x.__class__' is not a plain identifier ...
    """
    if not _SHAPE.fullmatch(name) or "__" in name:
        raise NameRefusedError(
            f"{name!r} is not a plain identifier (ASCII letters, digits, single underscores; a"
            " letter first); rename the symbol"
        )
    if keyword.iskeyword(name) or keyword.issoftkeyword(name) or hasattr(builtins, name):
        raise NameRefusedError(f"{name!r} has a meaning in Python; rename the symbol")
    if name in _RESERVED:
        raise NameRefusedError(f"{name!r} has a meaning in emitted source; rename the symbol")
    return name
