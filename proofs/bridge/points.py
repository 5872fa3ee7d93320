"""Terms on random vectors, written out on a finite probability space with symbolic weights.

On N points with weights w_1 .. w_N a random vector is N vectors, `E(U | F)` at a point is the
weighted average over its block of F, and `l2norm2(X)` is the weighted sum of `norm2(X_i)`. Vectors
and matrices are written out in scalar names, so that what is stated is a rational identity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from proofs.bridge.sympy_reader import ReadingError
from proofs.language.infer import Scope
from proofs.language.tree import Declaration, Statement, Term, name, rational, substitute, term
from proofs.language.types import Kind

Blocks = tuple[int, ...]


@dataclass(frozen=True)
class Space:
    """A finite space: how many points, and the block of each point for each sigma-algebra.

    `declarations` are those of the scalars; `values` what each name of the statement is, at each
    point for random ones.
    """

    points: int
    partitions: Mapping[str, Blocks]
    declarations: tuple[Declaration, ...]
    constants: Mapping[str, Term]
    randoms: Mapping[str, tuple[Term, ...]]
    _done: dict[Term, Term | tuple[Term, ...]] = field(default_factory=dict, repr=False)

    @property
    def weights(self) -> tuple[Term, ...]:
        return tuple(name(f"w{i}") for i in range(1, self.points + 1))

    def constant(self, root: Term) -> Term:
        """The value of a term that is the same at all points."""
        found = self.value(root)
        if isinstance(found, tuple):
            raise ReadingError("a random vector stands where a constant is expected")
        return found

    def at_points(self, root: Term) -> tuple[Term, ...]:
        """The value of a term at each point."""
        found = self.value(root)
        return found if isinstance(found, tuple) else (found,) * self.points

    def value(self, root: Term) -> Term | tuple[Term, ...]:
        if root not in self._done:
            self._done[root] = self._value(root)
        return self._done[root]

    def _value(self, root: Term) -> Term | tuple[Term, ...]:
        if root.op == "name":
            identifier = str(root.data)
            if identifier in self.randoms:
                return self.randoms[identifier]
            return self.constants.get(identifier, root)
        if root.op == "expect_given":
            if len(root.args) != 2 or str(root.args[1].data) not in self.partitions:
                raise ReadingError("only E(X | F) is written out on a finite space")
            return self._average(root.args[0], self.partitions[str(root.args[1].data)])
        if root.op == "expect":
            return self._average(root.args[0], (0,) * self.points)[0]
        if root.op in ("l2norm2", "l2inner"):
            sides = [self.at_points(a) for a in root.args]
            op = "norm2" if root.op == "l2norm2" else "inner"
            return _total(
                [
                    term("mul", w, term(op, *parts))
                    for w, *parts in zip(self.weights, *sides, strict=True)
                ]
            )
        values = [self.value(a) for a in root.args]
        if not any(isinstance(v, tuple) for v in values):
            return substitute(root, self.constants)
        if root.op not in ("add", "sub", "neg", "mul", "div"):
            raise ReadingError(f"{root.op} of random vectors isn't written out")
        spread = [v if isinstance(v, tuple) else (v,) * self.points for v in values]
        return tuple(term(root.op, *parts) for parts in zip(*spread, strict=True))

    def _average(self, root: Term, blocks: Blocks) -> tuple[Term, ...]:
        values, found = self.at_points(root), {}
        for block in set(blocks):
            inside = [i for i, b in enumerate(blocks) if b == block]
            total = _total([term("mul", self.weights[i], values[i]) for i in inside])
            found[block] = term("div", total, _total([self.weights[i] for i in inside]))
        return tuple(found[b] for b in blocks)


def spaces(statement: Statement, points: int) -> Iterator[Space]:
    """All spaces of so many points, up to the order of the blocks, that satisfy every `subset`.

    The statement's sizes must be numbers.
    """
    scope = Scope.of(statement.declarations)
    declarations = [Declaration((f"w{i}",), term("positive_type")) for i in range(1, points + 1)]
    constants: dict[str, Term] = {}
    randoms: dict[str, tuple[Term, ...]] = {}
    algebras = []
    for identifier, type_ in scope.types.items():
        rows, cols = type_.rows.value, type_.cols.value
        if type_.kind is Kind.SIGMA_ALGEBRA:
            algebras.append(identifier)
        elif rows is None or cols is None:
            raise ReadingError("a finite space needs sizes that are numbers")
        elif type_.kind is Kind.RANDOM:
            copies = [_scalars(f"{identifier}_{i}", rows, cols) for i in range(1, points + 1)]
            randoms[identifier] = tuple(value for value, _ in copies)
            declarations += [d for _, more in copies for d in more]
        elif type_.kind is Kind.MATRIX and (rows, cols) != (1, 1):
            constants[identifier], more = _scalars(identifier, rows, cols)
            declarations += more
        else:
            declarations.append(Declaration((identifier,), scope.type_terms[identifier]))
    nested = [tuple(str(a.data) for a in h.args) for h in statement.hypotheses if h.op == "subset"]
    for chosen in product(partitions(points), repeat=len(algebras)):
        found = dict(zip(algebras, chosen, strict=True))
        if all(_refines(found[fine], found[coarse]) for coarse, fine in nested):
            yield Space(points, found, tuple(declarations), constants, randoms)


def partitions(points: int) -> Iterator[Blocks]:
    """The partitions of the points into blocks, each once."""

    def grow(blocks: Blocks) -> Iterator[Blocks]:
        if len(blocks) == points:
            yield blocks
            return
        for block in range(max(blocks, default=-1) + 2):
            yield from grow((*blocks, block))

    return grow(())


def _refines(fine: Blocks, coarse: Blocks) -> bool:
    image: dict[int, int] = {}
    return all(image.setdefault(f, c) == c for f, c in zip(fine, coarse, strict=True))


def _scalars(stem: str, rows: int, cols: int) -> tuple[Term, list[Declaration]]:
    """A matrix of scalar names of its own, and their declarations."""
    names = [
        f"{stem}_{i}" if cols == 1 else f"{stem}_{i}_{j}"
        for i in range(1, rows + 1)
        for j in range(1, cols + 1)
    ]
    declarations = [Declaration((n,), term("real_type")) for n in names]
    if rows == cols == 1:
        return name(names[0]), declarations
    return term("block", *map(name, names), data=(rows, cols)), declarations


def _total(parts: Sequence[Term]) -> Term:
    found = parts[0] if parts else rational(0)
    for part in parts[1:]:
        found = term("add", found, part)
    return found
