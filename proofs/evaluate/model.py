"""Models: a number for every dimension and an exact value for every name of a statement.

A model is plain data of the standard library, so that a counterexample can be printed, kept and
evaluated again by anyone. Gaussian names have no value of their own: their law is given by their
declaration, and the evaluator makes them from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from flint import fmpq, fmpq_mat

from proofs.evaluate.values import Complex, Matrix, Value, exact_matrix
from proofs.language.errors import TypeProblem
from proofs.language.tree import Declaration, Term

Number = int | Fraction | Complex
Rows = tuple[tuple[Number, ...], ...]
Plain = Number | Rows  # a scalar or a matrix


@dataclass(frozen=True, slots=True)
class Function:
    """A polynomial in `x - center`, divided by a power of `1 + (x - center)^2`: smooth everywhere,
    and with a limit at infinity where that power is high enough. Coefficients are numbers or
    matrices."""

    center: Fraction
    coefficients: tuple[Plain, ...]
    over: int = 0  # the power below

    def __str__(self) -> str:
        step = "x" if self.center == 0 else f"(x - {self.center})"
        parts = []
        for k, c in enumerate(self.coefficients):
            factor = "" if k == 0 else f"*{step}" if k == 1 else f"*{step}^{k}"
            parts.append(f"({shown(c)}){factor}")
        above = " + ".join(parts)
        below = "" if self.over == 1 else f"^{self.over}"
        return f"x -> ({above})/(1 + {step}^2){below}" if self.over else f"x -> {above}"


@dataclass(frozen=True, slots=True)
class Family:
    """The members of an indexed family, by their 1-based indices."""

    members: Mapping[tuple[int, ...], Plain]

    def __str__(self) -> str:
        return (
            "{"
            + ", ".join(f"{','.join(map(str, k))}: {shown(v)}" for k, v in self.members.items())
            + "}"
        )


@dataclass(frozen=True, slots=True)
class Outcomes:
    """A random vector on the model's finite probability space: its value at each point."""

    values: tuple[Plain, ...]

    def __str__(self) -> str:
        return "outcomes " + ", ".join(map(shown, self.values))


@dataclass(frozen=True, slots=True)
class Partition:
    """A sigma-algebra on the model's finite probability space: the block of each point."""

    blocks: tuple[int, ...]

    def refines(self, other: Partition) -> bool:
        """Whether every block of this one lies in a block of the other."""
        image: dict[int, int] = {}
        return all(
            image.setdefault(mine, theirs) == theirs
            for mine, theirs in zip(self.blocks, other.blocks, strict=True)
        )

    def __str__(self) -> str:
        return "blocks " + " ".join(map(str, self.blocks))


Entry = Plain | Function | Family | Outcomes | Partition


@dataclass(frozen=True, slots=True)
class Model:
    """What every name of some declarations stands for.

    `weights` are the probabilities of the points of the finite space, where there is one.
    """

    declarations: tuple[Declaration, ...]
    values: Mapping[str, Entry]
    weights: tuple[Fraction, ...] = ()
    _cache: dict[str, Matrix] = field(default_factory=dict, repr=False, compare=False)

    def with_value(self, name: str, value: Entry) -> Model:
        """The same model with another value for one name."""
        return Model(self.declarations, {**self.values, name: value}, self.weights)

    def type_of(self, name: str) -> Term | None:
        """The declared type of a name."""
        for declaration in self.declarations:
            if name in declaration.names:
                return declaration.type
        return None

    def matrix(self, name: str) -> Matrix:
        """The value of a name that stands for a matrix, as the evaluator uses it."""
        found = self._cache.get(name)
        if found is None:
            value = self.values[name]
            if isinstance(value, (Function, Family, Outcomes, Partition)):
                raise TypeProblem(f"{name!r} doesn't stand for a matrix")
            found = self._cache[name] = to_matrix(value)
        return found

    def __str__(self) -> str:
        lines = [f"{name} = {shown(value)}" for name, value in self.values.items()]
        if self.weights:
            lines.append("probabilities " + " ".join(map(str, self.weights)))
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """Plain JSON data: rationals as strings."""
        out: dict[str, object] = {name: _json(value) for name, value in self.values.items()}
        if self.weights:
            out["probabilities"] = [str(w) for w in self.weights]
        return out


def shown(value: Entry) -> str:
    """A value as a person would write it."""
    if isinstance(value, tuple):
        return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in value) + "]"
    return str(value)


def _json(value: Entry) -> object:
    if isinstance(value, tuple):
        return [[str(x) for x in row] for row in value]
    if isinstance(value, Function):
        found = {
            "center": str(value.center),
            "coefficients": [_json(c) for c in value.coefficients],
        }
        return found | ({"over": value.over} if value.over else {})
    if isinstance(value, Family):
        return {",".join(map(str, k)): _json(v) for k, v in value.members.items()}
    if isinstance(value, Outcomes):
        return {"outcomes": [_json(v) for v in value.values]}
    if isinstance(value, Partition):
        return {"blocks": list(value.blocks)}
    return value if isinstance(value, int) else str(value)


def to_matrix(value: Plain) -> Matrix:
    """A number or a table of numbers as the evaluator's matrix."""
    rows = value if isinstance(value, tuple) else ((value,),)
    re = fmpq_mat([[_rational(x.re if isinstance(x, Complex) else x) for x in r] for r in rows])
    if not any(isinstance(x, Complex) for row in rows for x in row):
        return Matrix(re)
    im = fmpq_mat([[_rational(x.im) if isinstance(x, Complex) else 0 for x in r] for r in rows])
    return exact_matrix(re, im)


def _rational(number: int | Fraction) -> fmpq:
    return fmpq(number.numerator, number.denominator)


def from_matrix(value: Value) -> Plain:
    """An exact matrix as plain data; a 1x1 matrix as a number.

    Raises:
        ValueError: not a matrix, or one of balls.
    """
    if not isinstance(value, Matrix):
        raise ValueError("only a matrix is plain data")
    rows = value.entries()
    return rows[0][0] if value.shape == (1, 1) else rows


def numbers_in(value: Entry) -> Iterator[Number]:
    """All numbers of a value."""
    if isinstance(value, tuple):
        for row in value:
            yield from row
    elif isinstance(value, Function):
        yield value.center
        for c in value.coefficients:
            yield from numbers_in(c)
    elif isinstance(value, Family):
        for v in value.members.values():
            yield from numbers_in(v)
    elif isinstance(value, Outcomes):
        for v in value.values:
            yield from numbers_in(v)
    elif isinstance(value, Partition):
        yield from value.blocks
    else:
        yield value
