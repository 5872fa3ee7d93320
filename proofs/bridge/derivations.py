"""Whether a derivation says what a theorem says: proved by the checker, at stated sizes.

The derivation's result is read into a term in the theorem's names; that it equals the theorem's
side is a statement of its own, with the theorem's declarations and hypotheses. The search looks
for a certificate and the checker judges it. Where the result can be read with symbolic sizes, one
statement serves for any size. Otherwise its entries are written out at literal sizes, one
statement each; with random vectors, on finite spaces with symbolic weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from proofs.bridge.contracts import WEIGHTS, Contract, ContractError, Output, contract
from proofs.bridge.points import Space, spaces
from proofs.bridge.sympy_reader import Entries, Reading, ReadingError, index_term, read_sympy
from proofs.checker.judge import Rejected, check
from proofs.evaluate import Matrix, Model, evaluate
from proofs.language.errors import StatementError
from proofs.language.infer import Scope, infer
from proofs.language.infer import check as check_types
from proofs.language.sizes import size_term
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    instantiate,
    name,
    names_in,
    pair,
    rational,
    substitute,
    term,
)
from proofs.library import Theorem
from proofs.refute import refute
from proofs.search import Failure, search
from proofs.verdict import Verdict

LARGEST = 5  # literal sizes go from 1 to this, with one dimension
POINTS = (2, 3)  # of finite spaces
SECONDS = 20.0  # for one entry, on a slow machine


@dataclass(frozen=True, slots=True)
class DerivationStatus:
    """What was shown of one derivation.

    `statements` counts the equations that were proved; `shortfall` says which one wasn't.
    """

    derivation: str
    verdict: Verdict
    sizes: str
    statements: int = 0
    shortfall: str = ""

    def __str__(self) -> str:
        words = f"{self.verdict} {'at ' if self.sizes else ''}{self.sizes}".strip()
        return f"{words}: {self.shortfall}" if self.shortfall else words


@dataclass(frozen=True, slots=True)
class Equality:
    """One entry of a derivation's result against the theorem's side."""

    label: str
    size: str
    statement: Statement


def derivation_status(theorem: Theorem) -> tuple[DerivationStatus, ...]:
    """What the checker says of each derivation that a theorem names."""
    return tuple(_status_of(theorem, name_) for name_ in theorem.derive)


def _status_of(theorem: Theorem, derivation_name: str) -> DerivationStatus:
    try:
        return status(contract(theorem, derivation_name))
    except ContractError as problem:
        return DerivationStatus(derivation_name, Verdict.ILL_POSED, "", 0, str(problem))


def status(tied: Contract) -> DerivationStatus:
    """What the checker says of the derivation of one contract."""
    try:
        found = None
        for stated, sizes in equalities(tied):
            found = _decided(tied, stated, sizes)
            if found.verdict in (Verdict.PROVED, Verdict.REFUTED):
                break
    except StatementError as problem:
        return DerivationStatus(tied.name, Verdict.ILL_POSED, "", 0, str(problem))
    assert found is not None  # there is always a way to state it
    return found


def _decided(tied: Contract, stated: list[Equality], sizes: str) -> DerivationStatus:
    for count, equality in enumerate(stated):
        verdict, why = decide(equality.statement)
        if verdict is not Verdict.PROVED:
            return DerivationStatus(
                tied.name, verdict, equality.size, count, f"{equality.label}: {why}"
            )
    return DerivationStatus(tied.name, Verdict.PROVED, sizes, len(stated))


def decide(statement: Statement, seconds: float = SECONDS) -> tuple[Verdict, str]:
    """Proved by a certificate that the checker accepts, refuted by a witness, or open."""
    check_types(statement)
    failure = Failure("")
    for budget in (seconds / 10, seconds):  # a false statement is refuted before it is tried hard
        certificate = search(statement, budget)
        if not isinstance(certificate, Failure):
            try:
                check(statement, certificate, {})
            except Rejected as problem:
                return Verdict.OPEN, str(problem)
            return Verdict.PROVED, ""
        failure = certificate
        witness = refute(statement, seconds=1.0).witness if budget < seconds else None
        if witness is not None:
            return Verdict.REFUTED, str(witness).replace("\n", ", ")
        if failure.final:  # more time would change nothing
            break
    return Verdict.OPEN, failure.reason


# ---------------------------------------------------------------- the equations


def equalities(tied: Contract) -> Iterator[tuple[list[Equality], str]]:
    """Ways to say that a derivation is right: equations, and the sizes for which they speak.

    For any size first, where the result can be read so and there are sizes at all; then entry by
    entry at literal ones.

    Raises:
        ReadingError: the result can't be read.
    """
    if tied.is_random:
        yield list(_on_points(tied)), f"{POINTS[0]}..{POINTS[-1]} points, {_joined(tied)} = 1..2"
        return
    symbolic = _symbolic(tied)
    if symbolic is not None:
        yield symbolic, f"any {_joined(tied)}" if tied.dimensions else ""
    if symbolic is None or tied.dimensions:
        found: list[Equality] = []
        largest = LARGEST if len(tied.dimensions) == 1 else 2
        for sizes in product(range(1, largest + 1), repeat=len(tied.dimensions)):
            found += _literal(tied, dict(zip(tied.dimensions, sizes, strict=True)))
        yield found, f"{_joined(tied)} = 1..{largest}"


def _joined(tied: Contract) -> str:
    return ", ".join(tied.dimensions)


def _symbolic(tied: Contract) -> list[Equality] | None:
    """One equation for all sizes, where the result can be read so."""
    sizes = {n: size_term(s) for n, s in tied.sizes.items()}
    found = []
    for output in tied.outputs:
        reading = Reading(
            tied.values, sizes=sizes, indices={a.symbol: name(a.index) for a in output.axes}
        )
        try:
            value = read_sympy(tied.derivation.result[output.name], reading)
        except ReadingError:
            return None
        goal = term("eq", value, output.term)
        found.append(Equality(output.name, "any size", replace(tied.statement, goal=goal)))
    return found


def _literal(tied: Contract, sizes: Mapping[str, int]) -> Iterator[Equality]:
    """An equation for each entry at numbered sizes, for each value of the theorem's indices."""
    fixed = at_sizes(tied.statement, sizes)
    scope = Scope.of(fixed.declarations)
    dims = {n: rational(k) for n, k in sizes.items()}
    shown = ", ".join(f"{n} = {k}" for n, k in sizes.items())
    ranges = {n: _range(scope, n) for n in tied.indices}
    for output in tied.outputs:
        used = [n for n in tied.indices if n in _names(tied, output)]
        for places in product(*(range(1, ranges[n] + 1) for n in used)):
            chosen = dict(zip(used, places, strict=True))
            given = {**dims, **{n: rational(k) for n, k in chosen.items()}}
            indices = positions(tied, output, {**sizes, **chosen})
            if indices is None:
                continue
            values = {n: substitute(v, given) for n, v in tied.values.items()}
            statement = at_sizes(tied.statement, {**sizes, **chosen})
            known = Scope.of(statement.declarations)
            reading = Reading(
                values,
                {n: entries(v, known) for n, v in values.items()},
                {**statics(tied, {**sizes, **chosen}), **indices},
                {n: s.evaluate(dict(sizes)) for n, s in tied.sizes.items()},
            )
            left = read_sympy(tied.derivation.result[output.name], reading)
            right = explicit_entry(substitute(output.term, given), known)
            label = output.name
            if output.axes:
                label += f"[{', '.join(str(chosen[a.index]) for a in output.axes)}]"
            yield Equality(label, shown, replace(statement, goal=term("eq", left, right)))


def _names(tied: Contract, output: Output) -> set[str]:
    """The names on which an output depends, indices and anchors included."""
    roots = [output.term, *(tied.values[n] for n in tied.statics)]
    return set[str]().union(*map(names_in, roots)) | {a.index for a in output.axes}


def positions(tied: Contract, output: Output, known: Mapping[str, int]) -> dict[str, int] | None:
    """The derivation's indices (from 0) for the theorem's (from 1); None at a skipped anchor."""
    found = {}
    for axis in output.axes:
        place = known[axis.index] - 1
        if axis.anchor:
            anchor = statics(tied, known)[axis.anchor]
            if place == anchor:
                return None
            place -= place > anchor
        found[axis.symbol] = place
    return found


def statics(tied: Contract, known: Mapping[str, int]) -> dict[str, int]:
    """The derivation's static inputs, as numbers."""
    model = Model((), dict(known))
    return {n: _integer(evaluate(tied.values[n], model), n) for n in sorted(tied.statics)}


def _integer(value: object, what: str) -> int:
    if isinstance(value, Matrix) and value.exact and value.shape == (1, 1):
        number = value.entries()[0][0]
        if not hasattr(number, "im") and number.denominator == 1:  # type: ignore[union-attr]
            return int(number)  # type: ignore[arg-type]
    raise ContractError(f"{what} is no integer here")


def _range(scope: Scope, index: str) -> int:
    limit = scope.types[index].limit
    if limit is None or limit.value is None:
        raise ContractError(f"the index {index} has no numbered range")
    return limit.value


def at_sizes(statement: Statement, values: Mapping[str, int]) -> Statement:
    """A statement with numbers for dimensions and indices."""
    given = {n: rational(k) for n, k in values.items()}
    return Statement(
        tuple(
            Declaration(d.names, substitute(d.type, given))
            for d in statement.declarations
            if d.names[0] not in given
        ),
        tuple(substitute(h, given) for h in statement.hypotheses),
        substitute(statement.goal, given),
    )


def entries(value: Term, scope: Scope) -> Entries:
    """The entries of a term; of a block the entries of its parts, of a comprehension its body."""

    def entry(places: tuple[int | Term, ...]) -> Term:
        return explicit_entry(term("entry", value, *map(index_term, places)), scope)

    return entry


def explicit_entry(root: Term, scope: Scope) -> Term:
    """An entry at numbered places, looked up inside blocks and comprehensions."""
    while root.op == "entry":
        vector, *places = root.args
        numbers = [int(str(p.data)) if p.op == "rational" else None for p in places]
        if None in numbers:
            break
        if vector.op == "comprehension":
            root = instantiate(vector.args[1], (places[0],))
            break
        if vector.op != "block":
            break
        found = _inside(vector, [k for k in numbers if k is not None], scope)
        if found is None:
            break
        root = found
    return root


def _inside(block: Term, places: list[int], scope: Scope) -> Term | None:
    """The entry of a block of literal sizes as an entry of one of its parts."""
    rows, cols = pair(block)
    shapes = [infer(a, scope) for a in block.args]
    heights = [shapes[i * cols].rows.value for i in range(rows)]
    widths = [shapes[j].cols.value for j in range(cols)]
    if None in heights or None in widths:
        return None
    row, i = _locate(places[0], heights)  # type: ignore[arg-type]
    col, j = _locate(places[1] if len(places) > 1 else 1, widths)  # type: ignore[arg-type]
    part = block.args[row * cols + col]
    if heights[row] == widths[col] == 1 and not _is_vector(part, scope):
        return part
    return term(
        "entry",
        part,
        *([rational(i)] if widths[col] == 1 and len(places) == 1 else [rational(i), rational(j)]),
    )


def _is_vector(part: Term, scope: Scope) -> bool:
    """Whether a 1x1 part is a vector of one entry, rather than a scalar."""
    declared = scope.type_terms.get(str(part.data)) if part.op == "name" else None
    return part.op in ("comprehension", "block") or (
        declared is not None and declared.op == "matrix_type"
    )


def _locate(place: int, sizes: list[int]) -> tuple[int, int]:
    for part, size in enumerate(sizes):
        if place <= size:
            return part, place
        place -= size
    raise ReadingError("an entry outside of its vector")


# ---------------------------------------------------------------- finite spaces


def _on_points(tied: Contract) -> Iterator[Equality]:
    for width in (1, 2):
        sizes = dict.fromkeys(tied.dimensions, width)
        fixed = at_sizes(tied.statement, sizes)
        for count in POINTS[: 3 - width]:
            for space in spaces(fixed, count):
                yield from _at_space(tied, sizes, fixed, space)


def _at_space(
    tied: Contract, sizes: Mapping[str, int], fixed: Statement, space: Space
) -> Iterator[Equality]:
    dims = {n: rational(k) for n, k in sizes.items()}
    scope = Scope.of(space.declarations)
    tables: dict[str, Entries] = {}
    labels: dict[str, tuple[int, ...]] = {}
    values: dict[str, Term] = {}
    for symbol, value in tied.values.items():
        if value is WEIGHTS:
            tables[symbol] = _table(tuple(space.weights), scope)
        elif str(value.data) in space.partitions and value.op == "name":
            labels[symbol] = space.partitions[str(value.data)]
        else:
            found = space.value(substitute(value, dims))
            if isinstance(found, tuple):
                tables[symbol] = _table(found, scope)
            else:
                values[symbol] = found
                tables[symbol] = entries(found, scope) if found.op == "block" else _lone(found)
    counts = {
        n: space.points if not s.terms or s.terms[0][0] == ("$points",) else s.evaluate(dict(sizes))
        for n, s in tied.sizes.items()
    }
    hypotheses = tuple(
        space.constant(substitute(h, dims)) for h in fixed.hypotheses if h.op != "subset"
    )
    shown = ", ".join(
        [f"{n} = {k}" for n, k in sizes.items()]
        + [f"{n} = {'|'.join(map(str, b))}" for n, b in space.partitions.items()]
    )
    for output in tied.outputs:
        left = read_sympy(
            tied.derivation.result[output.name],
            Reading(values, tables, sizes=counts, labels=labels),
        )
        right = space.constant(substitute(output.term, dims))
        yield Equality(
            output.name, shown, Statement(space.declarations, hypotheses, term("eq", left, right))
        )


def _table(rows: tuple[Term, ...], scope: Scope) -> Entries:
    """Entries of a value at each point: the first index is the point."""

    def entry(places: tuple[int | Term, ...]) -> Term:
        point, *rest = places
        if not isinstance(point, int):
            raise ReadingError("the points of a space are numbered")
        value = rows[point]
        return (
            entries(value, scope)(tuple(rest))
            if rest and infer(value, scope).rows.value != 1
            else value
        )

    return entry


def _lone(value: Term) -> Entries:
    return lambda _places: value
