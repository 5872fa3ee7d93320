"""What a theorem's headers say of its derivations and kernels.

A derivation has symbols of its own, and a theorem its names. They are tied by name; where the
names differ, a header says how a symbol reads in the theorem's names (abbreviations included):

    #! where: cov_uu = S; anchor = m - 1; log_ratios[j] = x[j] - x[m]
    #! domain: positive_semidefinite(S)
    #! at: n = 2, S = block([[1, 1], [1, 1]])

`where` gives an input, an output (its indices count from 1, an axis that skips an anchor by the
entries that it keeps) or a name of the theorem at which it is read (`u = 0`). `domain` is what a
kernel asks of its arguments beyond the theorem's hypotheses. `at` is a point to try.

A theorem on random vectors is read at a realization of the Gaussian ones, since an affine almost
sure equality is an equality for every value; on a finite space, at every point of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sympy import Basic

from derive.library import find
from derive.steps import Derivation
from proofs.bridge.symbols import ContractError, free_axes, matrix_symbols, symbols
from proofs.bridge.sympy_reader import ReadingError
from proofs.language.errors import StatementError
from proofs.language.infer import Scope, infer, size_of
from proofs.language.parser import parse_expression
from proofs.language.sizes import Size, size_term
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    name,
    postorder,
    rational,
    substitute,
    term,
)
from proofs.language.types import Kind
from proofs.library import Theorem

WEIGHTS = name("$weights")  # the probabilities of the points of a finite space
POINTS = Size.dimension("$points")
_LEFT = re.compile(r"\s*(\w+)\s*(?:\[([^\]]*)\])?\s*=(?!=)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Axis:
    """A free index of an output: its symbol, our name for it, its range, the anchor it skips."""

    symbol: str
    index: str
    size: Size
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """A result of a derivation: what it is in the theorem's names, entry by entry of its axes."""

    name: str
    term: Term
    axes: tuple[Axis, ...] = ()


@dataclass(frozen=True)
class Contract:
    """A derivation in the names of a theorem.

    `statement` holds the declarations and hypotheses under which the theorem is read; its goal
    says nothing. `values` are the inputs as terms, `sizes` the derivation's sizes in the theorem's
    dimensions, `points` the points that the headers ask for.
    """

    theorem: Theorem
    derivation: Derivation
    statement: Statement
    values: Mapping[str, Term]
    sizes: Mapping[str, Size]
    outputs: tuple[Output, ...]
    domain: tuple[Term, ...] = ()
    points: tuple[Mapping[str, Term], ...] = ()

    @property
    def name(self) -> str:
        return self.derivation.name

    @property
    def statics(self) -> set[str]:
        """The inputs that are plain integers."""
        kernel = self.derivation.kernel
        return {a.name for a in kernel.arguments if a.static} if kernel else set()

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(
            n for d in self.statement.declarations if d.type.op == "dimension_type" for n in d.names
        )

    @property
    def indices(self) -> tuple[str, ...]:
        """The names that stand for an index."""
        return tuple(
            n for d in self.statement.declarations if d.type.op == "index_type" for n in d.names
        )

    @property
    def is_random(self) -> bool:
        """Whether the theorem speaks of a finite probability space."""
        return any(
            d.type.op in ("random_type", "sigma_algebra_type") for d in self.statement.declarations
        )

    def with_domain(self) -> Statement:
        """The statement with what the kernel asks of its arguments among the hypotheses."""
        known = self.statement
        return Statement(known.declarations, (*known.hypotheses, *self.domain), known.goal)


def contracts(theorem: Theorem) -> tuple[Contract, ...]:
    """A contract for each derivation or kernel that a theorem names.

    Raises:
        ContractError: a header doesn't fit.
    """
    return tuple(contract(theorem, n) for n in dict.fromkeys((*theorem.derive, *theorem.kernel)))


def contract(theorem: Theorem, derivation_name: str) -> Contract:
    """The contract of one derivation.

    Raises:
        ContractError: there is no such derivation, or a header doesn't fit.
    """
    try:
        derivation = find(derivation_name)
    except KeyError as error:
        raise ContractError(str(error.args[0])) from None
    return tie(theorem, derivation)


def tie(theorem: Theorem, derivation: Derivation) -> Contract:
    """The contract between a theorem and a derivation, by the theorem's headers.

    Raises:
        ContractError: a header doesn't fit.
    """
    try:
        return _Tying(theorem, derivation).contract()
    except ContractError:
        raise
    except StatementError as error:
        raise ContractError(f"{theorem.name}, {derivation.name}: {error}") from error


# ---------------------------------------------------------------- reading the headers


@dataclass
class _Tying:
    theorem: Theorem
    derivation: Derivation
    declarations: list[Declaration] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.theorem.document is None:
            raise ContractError(f"{self.theorem.name} can't be read")
        first = self.theorem.statements[0]
        self.defines = self.theorem.document.defines
        self.declarations = realized(first.declarations)
        self.declared = {n: d.type for d in self.declarations for n in d.names}

    def contract(self) -> Contract:
        lines = self._lines()
        inputs, sizes = symbols(self.derivation)
        specialized = {
            left: right
            for left, (_, right) in lines.items()
            if left in self.declared and left not in inputs | sizes | set(self.derivation.result)
        }
        values = {n: self._value(n, lines) for n in sorted(inputs)}
        found_sizes = self._sizes(values)
        for n in sorted(sizes & lines.keys()):
            found_sizes[n] = size_of(self._parse(lines[n][1]), Scope.of(self.declarations))
        known = free_axes(self.derivation)
        fresh: dict[str, Term] = {}
        parsed: list[Output] = []
        for n in self.derivation.result:
            axes = self._named_axes(n, known.get(n, ()), lines, found_sizes)
            fresh |= self._fresh(axes)
            value = self._output(n, axes, lines, fresh)
            if value is not None:
                self._stands_in_a_goal(n, value)
                parsed.append(Output(n, value, axes))
        if not parsed:
            raise ContractError(
                f"{self.theorem.name} says nothing of {self.derivation.name}: "
                f"no abbreviation and no `where` gives "
                f"{' or '.join(self.derivation.result)}"
            )
        self._extend(fresh)
        given = {n: self._parse(text) for n, text in specialized.items()}

        def read(root: Term) -> Term:
            return substitute(root, given)

        kept = [d for d in self.declarations if d.names[0] not in given]
        first = self.theorem.statements[0]
        outputs = tuple(replace(o, term=read(o.term)) for o in parsed)
        return Contract(
            self.theorem,
            self.derivation,
            Statement(
                tuple(kept),
                tuple(map(read, first.hypotheses)),
                term("eq", rational(0), rational(0)),
            ),
            {n: read(v) for n, v in values.items()},
            found_sizes,
            outputs,
            tuple(read(self._parse(text)) for text in self.theorem.header("domain")),
            tuple(self._point(text) for text in self.theorem.header("at")),
        )

    def _lines(self) -> dict[str, tuple[tuple[str, ...], str]]:
        """The entries of `where` that concern this derivation: left name, indices, right text."""
        found: dict[str, tuple[tuple[str, ...], str]] = {}
        for line in self.theorem.header("where"):
            match = _LEFT.fullmatch(line)
            if match is None:
                raise ContractError(
                    f"{self.theorem.name}: expected `name = term` in `where`, got {line!r}"
                )
            indices = tuple(i.strip() for i in match[2].split(",")) if match[2] else ()
            found[match[1]] = (indices, match[3].strip())
        self._no_stranger(found)
        return found

    def _no_stranger(self, lines: Mapping[str, object]) -> None:
        """Every left name belongs to the theorem or to one of its derivations."""
        known = set(self.declared)
        for derivation in (self.derivation, *_others(self.theorem)):
            inputs, sizes = symbols(derivation)
            known |= inputs | sizes | set(derivation.result)
        strangers = sorted(lines.keys() - known)
        if strangers:
            raise ContractError(
                f"{self.theorem.name}: `where` speaks of {strangers[0]!r}, which "
                "is no symbol of its derivations and none of its names"
            )

    def _value(self, symbol: str, lines: Mapping[str, tuple[tuple[str, ...], str]]) -> Term:
        if symbol in lines:
            return self._parse(lines[symbol][1])
        if symbol in self.declared:
            return name(symbol)
        if symbol in self.defines:
            return self.defines[symbol]
        raise ContractError(
            f"{self.theorem.name} doesn't say what {symbol!r} of "
            f"{self.derivation.name} is; add `#! where: {symbol} = ...`"
        )

    def _output(
        self,
        output: str,
        axes: Sequence[Axis],
        lines: Mapping[str, tuple[tuple[str, ...], str]],
        fresh: Mapping[str, Term],
    ) -> Term | None:
        if output in lines:
            indices, text = lines[output]
            value = self._parse(text, fresh)
            if indices:
                return value
        elif output in self.defines:
            value = self.defines[output]
        else:
            return None
        return term("entry", value, *(name(a.index) for a in axes)) if axes else value

    def _stands_in_a_goal(self, output: str, value: Term) -> None:
        """An output that shares nothing with the goals is not what the theorem speaks of."""
        goals = {t for t in postorder([s.goal for s in self.theorem.statements]) if t.args}
        if goals.isdisjoint(postorder([value])) and value not in goals:
            raise ContractError(
                f"{self.theorem.name} doesn't speak of {output} of "
                f"{self.derivation.name}: no part of it stands in a goal"
            )

    def _named_axes(
        self,
        output: str,
        axes: Sequence[tuple[str, Basic, str]],
        lines: Mapping[str, tuple[tuple[str, ...], str]],
        sizes: Mapping[str, Size],
    ) -> tuple[Axis, ...]:
        indices = lines[output][0] if output in lines else ()
        if indices and len(indices) != len(axes):
            raise ContractError(f"{output} of {self.derivation.name} has {len(axes)} indices")
        taken = set(self.declared)
        found = []
        for place, (symbol, size, anchor) in enumerate(axes):
            index = indices[place] if indices else _unused(symbol, taken)
            taken.add(index)
            found.append(Axis(symbol, index, evaluate_size(size, sizes), anchor))
        return tuple(found)

    def _fresh(self, axes: Sequence[Axis]) -> dict[str, Term]:
        """Types of the indices that the theorem doesn't declare: that of one beside it, if any."""
        beside = {
            (a.size, a.anchor): self.declared[a.index] for a in axes if a.index in self.declared
        }
        return {
            a.index: beside.get((a.size, a.anchor), term("index_type", size_term(a.size)))
            for a in axes
            if a.index not in self.declared
        }

    def _parse(self, text: str, fresh: Mapping[str, Term] | None = None) -> Term:
        if text == "weights":
            return WEIGHTS
        further = [Declaration((n,), t) for n, t in (fresh or {}).items() if n not in self.declared]
        scope = Scope.of((*self.declarations, *further))
        # Gaussian names are vectors here: abbreviations that speak of them are the same trees.
        return parse_expression(text, scope, self.defines)

    def _extend(self, fresh: Mapping[str, Term]) -> None:
        for n, t in fresh.items():
            self.declarations.append(Declaration((n,), t))
            self.declared[n] = t

    def _sizes(self, values: Mapping[str, Term]) -> dict[str, Size]:
        """The derivation's sizes from the shapes of what its arguments are."""
        kernel = self.derivation.kernel
        shapes = [(a.name, a.shape) for a in kernel.arguments] if kernel else []
        shapes += [(str(m.name), m.shape) for m in matrix_symbols(self.derivation)]
        scope = Scope.of(self.declarations)
        found: dict[str, Size] = {}
        for symbol, shape in shapes:
            actual = _shape(values[symbol], scope)
            for expected, size in zip(shape, actual, strict=False):
                free = sorted(expected.free_symbols, key=str)
                if len(free) != 1:
                    continue
                rest: Any = expected.subs(free[0], 0)
                value = size - Size.literal(int(rest))
                known = found.setdefault(str(free[0]), value)
                if known != value:
                    raise ContractError(
                        f"by {symbol} of {self.derivation.name} the size {free[0]} "
                        f"is {value}, by another argument {known}"
                    )
        return found

    def _point(self, text: str) -> dict[str, Term]:
        """The values of a point, each of which may use the ones before it."""
        found: dict[str, Term] = {}
        scope = Scope.of(d for d in self.declarations if d.type.op == "dimension_type")
        for part in _outer_commas(text):
            match = _LEFT.fullmatch(part)
            if match is None or match[2] is not None or match[1] not in self.declared:
                raise ContractError(
                    f"{self.theorem.name}: expected values of its names in `at`, "
                    f"got {part.strip()!r}"
                )
            found[match[1]] = substitute(parse_expression(match[3], scope), found)
        return found


def _others(theorem: Theorem) -> list[Derivation]:
    found = []
    for derivation_name in dict.fromkeys((*theorem.derive, *theorem.kernel)):
        try:
            found.append(find(derivation_name))
        except KeyError as error:
            raise ContractError(str(error.args[0])) from None
    return found


# ---------------------------------------------------------------- sizes, declarations, texts


def realized(declarations: Sequence[Declaration]) -> list[Declaration]:
    """The declarations with every Gaussian name as a vector of its size, a value that it takes."""
    found = []
    for declaration in declarations:
        if declaration.type.op != "gaussian_type":
            found.append(declaration)
            continue
        scope = Scope.of(declarations)
        for n in declaration.names:
            rows = size_term(scope.types[n].rows)
            found.append(Declaration((n,), term("matrix_type", rows, rational(1))))
    return found


def _shape(value: Term, scope: Scope) -> tuple[Size, ...]:
    if value is WEIGHTS:
        return (POINTS,)
    found = infer(value, scope)
    if found.kind is Kind.SIGMA_ALGEBRA:
        return (POINTS,)
    if found.kind is Kind.RANDOM:
        return (POINTS, found.rows)
    return found.rows, found.cols


def evaluate_size(size: Any, sizes: Mapping[str, Size]) -> Size:
    """A size of a derivation, linear in its symbols, in the theorem's dimensions."""
    total = Size.literal(0)
    for part in size.as_ordered_terms():
        coefficient, symbol = part.as_coeff_Mul()
        if symbol == 1:
            total = total + Size.literal(int(coefficient))
        elif str(symbol) in sizes:
            total = total + Size.literal(int(coefficient)) * sizes[str(symbol)]
        else:
            raise ReadingError(f"the size {symbol} is not known")
    return total


def _unused(wished: str, taken: set[str]) -> str:
    candidates = [wished, *(f"{wished}{k}" for k in range(1, 1000))]
    return next(c for c in candidates if c not in taken)


def _outer_commas(text: str) -> list[str]:
    """The parts between commas that stand in no bracket."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
