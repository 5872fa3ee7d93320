"""The cross-check of a theorem: its kernels on instances, its derivations.

Instances are drawn from the theorem's own hypotheses (and the kernel's domain), special structures
on purpose, and the points that the headers name are added. Everything depends on the seed alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from proofs.bridge.contracts import Contract, ContractError, contract
from proofs.bridge.derivations import DerivationStatus, derivation_status
from proofs.bridge.exact_arrays import EXACT, ExactArray, NotExact
from proofs.bridge.kernels import (
    NORMAL,
    Runnable,
    Unevaluated,
    compare,
    is_float,
    relative_errors,
    scales,
    to_float,
    to_floats,
)
from proofs.evaluate import Matrix, Model, evaluate
from proofs.evaluate.model import Entry, Outcomes, from_matrix
from proofs.instances import Instances, conforms
from proofs.language.errors import StatementError
from proofs.language.infer import Scope
from proofs.language.tree import Term
from proofs.library import Theorem
from proofs.refute import examine
from proofs.verdict import Verdict

DRAWN = 24  # instances of a kernel
TRIED = 800  # models to draw at most for them

# What a wrong kernel may do, or a header that asks for what isn't there.
_FAILURES = (StatementError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(slots=True)
class KernelCheck:
    """What a kernel did on the instances of a theorem."""

    kernel: str
    instances: int = 0
    points: int = 0  # of these, asked for by the headers
    floats: int = 0  # of these, on which floats were measured
    batches: int = 0
    worst_error: float = 0.0
    worst_share: float = 0.0  # of the bound of the kernel's own table
    digits: float | None = None  # to which balls agreed; None: all entries were rational
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """The record of a cross-check.

    Args:
        instances: models on which a kernel agreed with the theorem's side.
        worst_error: of float64, relative to the scale that the kernel's table names; None without
            a kernel.
        derivation: what was shown of the derivations, in words.
        problems: everything that fell short.
        digits: to which the balls of kernel and theorem agreed, at least; None where all was
            rational.
        statuses: the derivations one by one.
        kernels: the kernels one by one.
    """

    instances: int
    worst_error: float | None
    derivation: str
    problems: tuple[str, ...] = ()
    digits: int | None = None
    statuses: tuple[DerivationStatus, ...] = ()
    kernels: tuple[KernelCheck, ...] = ()


def crosscheck(theorem: Theorem, seed: int = 0) -> CrossCheck:
    """Check a theorem against its derivations and its kernels.

    Nothing that a theorem's files contain raises: it becomes a problem in the record.
    """
    problems: list[str] = []
    statuses = derivation_status(theorem)
    problems += [
        f"derivation {s.derivation} {s}" for s in statuses if s.verdict is not Verdict.PROVED
    ]
    kernels = []
    for name in theorem.kernel:
        try:
            kernels.append(check_kernel(Runnable.of(contract(theorem, name)), seed))
        except StatementError as error:
            problems.append(f"kernel {name}: {error}")
    problems += [f"kernel {k.kernel}: {p}" for k in kernels for p in k.problems]
    digits = [k.digits for k in kernels if k.digits is not None]
    return CrossCheck(
        sum(k.instances for k in kernels),
        max((k.worst_error for k in kernels), default=None),
        "; ".join(_summary(statuses)),
        tuple(problems),
        int(min(digits)) if digits else None,
        statuses,
        tuple(kernels),
    )


def _summary(statuses: tuple[DerivationStatus, ...]) -> Iterator[str]:
    """The words for each derivation; said once where they agree."""
    words = list(dict.fromkeys(map(str, statuses)))
    if len(words) == 1:
        yield words[0]
    else:
        yield from (f"{s.derivation} {s}" for s in statuses)


# ---------------------------------------------------------------- kernels


def check_kernel(runnable: Runnable, seed: int = 0) -> KernelCheck:
    """Run a kernel on instances of its theorem, exactly and on floats."""
    found = KernelCheck(runnable.contract.name)
    batches: dict[Any, list[list[Any]]] = {}
    for model, asked in _models(runnable.contract, seed, found):
        try:
            arguments = runnable.arguments(model)
            _check_instance(runnable, model, arguments, found, batches)
        except (Unevaluated, NotExact) as problem:
            if asked:
                found.problems.append(f"{problem} at {_line(model)}")
            continue
        except _FAILURES as problem:
            found.problems.append(f"{type(problem).__name__}: {problem} at {_line(model)}")
            break
        found.points += asked
    if found.instances == 0:
        found.problems.append("no instance satisfies the hypotheses and the kernel's domain")
    if not found.problems:
        try:
            _check_batches(runnable, batches, found)
        except _FAILURES as problem:
            found.problems.append(f"{type(problem).__name__} on a batch: {problem}")
    return found


def _check_instance(
    runnable: Runnable,
    model: Model,
    arguments: list[ExactArray | int],
    found: KernelCheck,
    batches: dict[Any, list[list[Any]]],
) -> None:
    expected = runnable.expected(model)
    outputs = runnable.exactly(arguments)
    for output, side in expected.items():
        agreement = compare(outputs[output], side)
        if agreement.difference:
            found.problems.append(f"{output} is {agreement.difference} at {_line(model)}")
            return
        if agreement.digits is not None:
            found.digits = min(found.digits or agreement.digits, agreement.digits)
    found.instances += 1
    _measure(runnable, model, arguments, expected, found, batches)


def _measure(
    runnable: Runnable,
    model: Model,
    arguments: list[ExactArray | int],
    expected: Mapping[str, ExactArray],
    found: KernelCheck,
    batches: dict[Any, list[list[Any]]],
) -> None:
    """The error of the kernel on floats, against itself on the same numbers exactly.

    Where the arguments are floats already that is the theorem's side.
    """
    floats = [x if isinstance(x, int) else to_floats(x) for x in arguments]
    if not all(np.isfinite(x).all() for x in floats):
        return
    reference: Mapping[str, ExactArray] = expected
    if not all(isinstance(x, int) or all(map(is_float, x.entries.flat)) for x in arguments):
        if runnable.decides_rank:
            return  # a rounded singular matrix is another one
        reference = runnable.exactly(
            [x if isinstance(x, int) else EXACT.asarray(x) for x in floats]
        )
    try:
        got = runnable.in_floats(floats)
    except FloatingPointError as signal:
        found.problems.append(f"floats: {signal} at {_line(model)}")
        return
    if any(abs(to_float(x)) == np.inf for side in reference.values() for x in side.entries.flat):
        return
    found.floats += 1
    shapes = tuple(x if isinstance(x, int) else x.shape for x in floats)
    batches.setdefault(shapes, []).append(floats)
    named = {a.name: x for a, x in zip(runnable.kernel.arguments, floats, strict=True)}
    error, bound = _error(runnable, named, got, reference, expected)
    found.worst_error = max(found.worst_error, error)
    found.worst_share = max(found.worst_share, error / bound)
    if error > bound:
        found.problems.append(
            f"floats are off by {error:.1e}, the kernel's table allows "
            f"{bound:.0e}, at {_line(model)}"
        )


def _error(
    runnable: Runnable,
    arguments: Mapping[str, Any],
    got: Mapping[str, np.ndarray],
    reference: Mapping[str, ExactArray],
    expected: Mapping[str, ExactArray],
) -> tuple[float, float]:
    """The error on the scale of the kernel's first regime, and the bound that applies."""
    applying = runnable.regimes(list(arguments.values())) or list(runnable.kernel.regimes)
    if not applying:
        raise ContractError(f"the kernel {runnable.contract.name} has no table of errors")
    first = applying[0]
    bound = max(r.bound for r in applying if r.relative_to == first.relative_to)
    units = scales(first, arguments, reference)
    numbers = [abs(to_float(x)) for side in reference.values() for x in side.entries.flat]
    numbers += [float(np.max(np.abs(x), initial=0.0)) for x in arguments.values()]
    floor = max([NORMAL, *numbers])
    worst = 0.0
    for output, side in reference.items():
        value = np.asarray(got[output])
        zero = _zeros(expected.get(output))
        if (
            units.get(output) is None
            and zero is not None
            and zero.any()
            and value.shape == side.shape
        ):
            worst = max(
                worst, relative_errors(value[zero], ExactArray(side.entries[zero]), floor, floor)
            )
            value, side = value[~zero], ExactArray(side.entries[~zero])
        worst = max(worst, relative_errors(value, side, units.get(output), floor))
    return worst, bound


def _zeros(expected: ExactArray | None) -> np.ndarray | None:
    """Where the theorem's side is exactly 0; errors there are relative to what went in."""
    if expected is None:
        return None
    mask = np.zeros(expected.shape, dtype=bool)
    for place in np.ndindex(*expected.shape):
        x = expected.entries[place]
        mask[place] = not hasattr(x, "mid") and x == 0
    return mask


def _check_batches(
    runnable: Runnable, batches: Mapping[Any, list[list[Any]]], found: KernelCheck
) -> None:
    """Instances of one shape as one batch, and the empty batch of each shape."""
    for instances in batches.values():
        for rows in (instances, instances[:0]):
            columns = [
                x
                if isinstance(x, int)
                else np.stack([r[k] for r in rows])
                if rows
                else np.empty((0, *x.shape))
                for k, x in enumerate(instances[0])
            ]
            together = runnable.in_floats(columns)
            single = [runnable.in_floats(r) for r in rows or instances[:1]]
            for output, value in together.items():
                one = np.asarray(single[0][output])
                whole = (
                    np.stack([np.asarray(s[output]) for s in single])
                    if rows
                    else np.empty((0, *one.shape))
                )
                if value.shape != whole.shape:
                    found.problems.append(
                        f"{output} of a batch of {len(rows)} has the shape "
                        f"{value.shape}, expected {whole.shape}"
                    )
                elif not np.allclose(value, whole, rtol=1e-9, atol=1e-9):
                    found.problems.append(f"{output} of a batch differs from its single instances")
            found.batches += 1


# ---------------------------------------------------------------- models


def _models(tied: Contract, seed: int, found: KernelCheck) -> Iterator[tuple[Model, bool]]:
    """The points that the headers ask for, then drawn models; all satisfy the hypotheses."""
    statement = tied.with_domain()
    scope = Scope.of(statement.declarations)
    instances = Instances(statement, seed)

    def fits(model: Model) -> bool:
        return conforms(model, scope) and examine(statement, model).hypotheses_hold

    for point in tied.points:
        model = _at(point, instances, fits)
        if model is None:
            found.problems.append(
                "a point of the headers doesn't satisfy the hypotheses: " + ", ".join(point)
            )
        else:
            yield model, True
    satisfying: list[Model] = []
    seen: set[str] = set()
    rng = random.Random(f"{seed} {tied.name}")
    for place in range(TRIED):
        if len(satisfying) >= DRAWN:
            return
        # Small sizes first, then all of them.
        model = instances.draw(place if len(satisfying) < DRAWN // 3 else place + 16, satisfying)
        key = str(model)
        if key not in seen and fits(model):
            seen.add(key)
            satisfying.append(model)
            model = _rounded(model, fits)
            yield (_shaken(model, rng, fits) if len(satisfying) % 2 else model), False


def _at(
    point: Mapping[str, Term], instances: Instances, fits: Callable[[Model], bool]
) -> Model | None:
    """A model with these values; what the point leaves open is drawn."""
    given: dict[str, Entry] = {}
    for name, term in point.items():
        value = evaluate(term, Model((), given))
        if not isinstance(value, Matrix) or not value.exact:
            raise ContractError(f"the value of {name} in `at` isn't exact")
        number = from_matrix(value)
        is_integer = instances.scope.types[name].domain in ("dimension", "index", "integer")
        given[name] = int(number) if is_integer else number  # type: ignore[arg-type]
    for attempt in range(200):
        sizes = {n: given.get(n, 1 + attempt % 3) for n in instances.dimensions}
        drawn = instances.fresh(sizes, special=attempt % 2 == 1)  # type: ignore[arg-type]
        model = Model(drawn.declarations, {**drawn.values, **given}, drawn.weights)
        try:
            model = _rounded(model, fits)
            if fits(model):
                return model
        except StatementError:
            continue
    return None


def _rounded(model: Model, fits: Callable[[Model], bool]) -> Model:
    """The model with its numbers rounded to floats, where it stays one of the hypotheses."""
    values = {n: _nearest(v) for n, v in model.values.items()}
    rounded = Model(model.declarations, values, model.weights)
    return rounded if fits(rounded) else model


def _shaken(model: Model, rng: random.Random, fits: Callable[[Model], bool]) -> Model:
    """The model with its numbers changed a little to floats of full length, where it stays one."""
    for name, value in model.values.items():
        moved = model.with_value(name, _each(lambda x: x * (1 + rng.uniform(-0.4, 0.4)), value))
        model = moved if fits(moved) else model
    return model


def _nearest(value: Entry) -> Entry:
    return _each(lambda x: x, value)


def _each(change: Callable[[float], float], value: Entry) -> Entry:
    """A value whose rational numbers have been changed as floats; integers stay."""

    def number(x: Any) -> Any:
        return Fraction(change(float(x))) if isinstance(x, Fraction) else x

    if isinstance(value, tuple):
        return tuple(tuple(map(number, row)) for row in value)
    if isinstance(value, Outcomes):
        return Outcomes(tuple(_each(change, x) for x in value.values))  # type: ignore[arg-type]
    return number(value)


def _line(model: Model) -> str:
    return str(model).replace("\n", ", ")
