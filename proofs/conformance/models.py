"""Instances for code: models that satisfy the hypotheses, with numbers that floats can hold.

They are drawn as the refuter draws them (small first, degenerate on purpose). Their numbers are
then made floats where that keeps the hypotheses: common denominators are multiplied away, which
keeps ranks and structures, or else entries are rounded. Some arguments are scaled by powers of two,
to find what only works for numbers of ordinary size, and some get digits down to the last, since
small rationals are kinder to floats than most numbers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from proofs.conformance.claim import Claim
from proofs.evaluate import Complex, Evaluation, Family, Model, Truth
from proofs.evaluate.model import Entry, Number, numbers_in
from proofs.instances import Instances, conforms

FIRST = 24  # places with sizes 1 and the grid of first choices
SCALED = 0.3  # how often an argument is scaled
SCALES = (-40, -20, -8, 3, 5, 8, 20, 40)  # powers of two
LONG = 0.3  # how often all arguments get many digits


@dataclass(frozen=True, slots=True)
class Drawn:
    """A model, and whether all its numbers are floats."""

    model: Model
    is_exact: bool
    is_plain: bool = True  # neither scaled nor given many digits


def drawn(
    claim: Claim, names: Collection[str], dtype: np.dtype, seed: int, tries: int
) -> Iterator[Drawn | None]:
    """Different models of the hypotheses; None for each try that gave none.

    Args:
        claim: whose hypotheses.
        names: those on which the results depend.
        dtype: of the floats.
        seed: of the draws.
        tries: how many models to draw at most.
    """
    instances = Instances(claim.statement, seed)
    rng = random.Random(f"{seed}:conforms:{claim.statement.hash}")
    satisfying: list[Model] = []
    seen: set[str] = set()
    for attempt in range(tries):
        # Beyond the first ones, odd places: sizes are mixed there.
        place = attempt if attempt < FIRST else 2 * attempt - FIRST + 1
        model = instances.draw(place, satisfying)
        if attempt % 4 == 3:
            model = instances.aimed(attempt // 4) or model
        fitted = _fitted(model, claim, instances, dtype)
        if fitted is None:
            yield None
            continue
        model = fitted
        if attempt > FIRST and rng.random() < LONG:
            model = _with_long_numbers(model, claim, instances, rng, dtype)
        if attempt > FIRST and rng.random() < SCALED:
            model = _scaled(model, claim, instances, rng)
        found = Drawn(model, _is_exact(model, names, dtype), model is fitted)
        key = str(found.model)
        if key in seen:
            yield None
            continue
        seen.add(key)
        if len(satisfying) < 12 and found.is_plain:
            satisfying.append(found.model)
        yield found


def holds(model: Model, claim: Claim, instances: Instances) -> bool:
    """Whether a model satisfies declarations and hypotheses."""
    if not conforms(model, instances.scope):
        return False
    evaluation = Evaluation(model)
    return all(evaluation(h) is Truth.TRUE for h in claim.statement.hypotheses) and all(
        evaluation.declaration(d) is None
        for d in claim.statement.declarations
        if d.type.op == "gaussian_type"
    )


def _fitted(model: Model, claim: Claim, instances: Instances, dtype: np.dtype) -> Model | None:
    """The model with floats for numbers, as far as the hypotheses allow; None if it is no model."""
    if not holds(model, claim, instances):
        return None
    for name in instances.letters:
        value = model.values[name]
        if all(_is_float(x, dtype) for x in numbers_in(value)):
            continue
        for changed in (_cleared(value), _mapped(value, dtype)):
            candidate = model.with_value(name, changed)
            if holds(candidate, claim, instances):
                model = candidate
                break
    return model


def _scaled(model: Model, claim: Claim, instances: Instances, rng: random.Random) -> Model:
    """One letter times a power of two, where the hypotheses allow it."""
    names = _continuous(instances)
    if not names:
        return model
    name, factor = rng.choice(names), Fraction(2) ** rng.choice(SCALES)
    changed = _times(model.values[name], factor)
    candidate = model.with_value(name, changed)
    if changed == model.values[name] or not holds(candidate, claim, instances):
        return model
    return candidate


def _with_long_numbers(
    model: Model, claim: Claim, instances: Instances, rng: random.Random, dtype: np.dtype
) -> Model:
    """Each letter with factors from 1 to 5/4 on its entries, or one on all, as hypotheses allow."""

    def factor() -> Fraction:
        return 1 + Fraction(rng.getrandbits(60), 2**62)

    for name in _continuous(instances):
        value, one = model.values[name], factor()
        for changed in (_each(value, lambda x: _product(x, factor())), _times(value, one)):
            candidate = model.with_value(name, _mapped(changed, dtype))
            if holds(candidate, claim, instances):
                model = candidate
                break
    return model


def _continuous(instances: Instances) -> list[str]:
    """The letters that aren't integers."""
    types = instances.scope.types
    return [n for n in instances.letters if types[n].domain not in ("index", "integer")]


# ---------------------------------------------------------------- numbers


def _parts(x: Number) -> tuple[Fraction, ...]:
    return (x.re, x.im) if isinstance(x, Complex) else (Fraction(x),)


def _is_float(x: Number, dtype: np.dtype) -> bool:
    return all(_nearest(p, dtype) == p for p in _parts(x))


def _is_exact(model: Model, names: Collection[str], dtype: np.dtype) -> bool:
    return all(
        _is_float(x, dtype)
        for name, value in model.values.items()
        if name in names
        for x in numbers_in(value)
    )


def _nearest(x: Fraction, dtype: np.dtype) -> Fraction:
    try:
        rounded = float(dtype.type(float(x)))
    except OverflowError:
        return x
    return Fraction(rounded) if math.isfinite(rounded) else x


def _mapped(value: Entry, dtype: np.dtype) -> Entry:
    """The entry with all numbers rounded to floats."""

    def nearest(x: Number) -> Number:
        if isinstance(x, Complex):
            return Complex(_nearest(x.re, dtype), _nearest(x.im, dtype))
        return x if isinstance(x, int) else _nearest(x, dtype)

    return _each(value, nearest)


def _cleared(value: Entry) -> Entry:
    """The entry times the odd part of its common denominator."""
    common = math.lcm(*(p.denominator for x in numbers_in(value) for p in _parts(x)))
    return _times(value, Fraction(common // (common & -common)))


def _times(value: Entry, factor: Fraction) -> Entry:
    return _each(value, lambda x: _product(x, factor))


def _product(x: Number, factor: Fraction) -> Number:
    if isinstance(x, Complex):
        return Complex(x.re * factor, x.im * factor)
    return x if isinstance(x, int) else x * factor


def _each(value: Entry, change: Callable[[Number], Number]) -> Entry:
    if isinstance(value, tuple):
        return tuple(tuple(change(x) for x in row) for row in value)
    if isinstance(value, Family):
        return Family({k: _each(m, change) for k, m in value.members.items()})  # type: ignore
    return change(value) if isinstance(value, (int, Fraction, Complex)) else value
