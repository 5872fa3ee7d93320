"""The types that terms have: kind, shape by symbolic sizes, real or complex."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from proofs.language.sizes import ONE, Size


class Kind(Enum):
    """What sort of thing a term denotes."""

    MATRIX = "matrix"  # scalars are 1x1 matrices
    RANDOM = "random"  # a random vector; its shape is that of its values
    FUNCTION = "function"  # of one real variable; the shape is that of its values
    FAMILY = "family"  # indexed; the shape is that of its members
    SIGMA_ALGEBRA = "sigma algebra"
    RELATION = "relation"  # also properties and quantified relations
    TYPE = "type"  # what stands behind the colon of a declaration


@dataclass(frozen=True, slots=True)
class Type:
    """A kind with a shape.

    `domain` narrows a scalar: "real", "positive", "nonnegative", "nonzero", "integer",
    "dimension" (an integer >= 1), "index" (an integer from 1 to `limit`), or "" for none of these.
    """

    kind: Kind
    rows: Size = ONE
    cols: Size = ONE
    is_complex: bool = False
    domain: str = ""
    limit: Size | None = None  # of an index
    ranges: tuple[Size, ...] = ()  # of a family

    @property
    def is_scalar(self) -> bool:
        return self.kind is Kind.MATRIX and self.rows == ONE and self.cols == ONE

    def __str__(self) -> str:
        if self.kind is Kind.MATRIX:
            field = "complex " if self.is_complex else ""
            if self.is_scalar:
                return self.domain or (field.strip() or "scalar")
            return f"{field}matrix({self.rows}, {self.cols})"
        if self.kind is Kind.RANDOM:
            return f"random vector({self.rows})"
        return self.kind.value


SCALAR = Type(Kind.MATRIX)
RELATION = Type(Kind.RELATION)
