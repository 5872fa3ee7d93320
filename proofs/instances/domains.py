"""Whether the values of a model lie in the domains that the declarations state."""

from __future__ import annotations

from fractions import Fraction

from proofs.evaluate.model import Entry, Family, Function, Model, Outcomes, Partition, numbers_in
from proofs.language.errors import StatementError
from proofs.language.infer import Scope
from proofs.language.types import Kind, Type


def conforms(model: Model, scope: Scope) -> bool:
    """Whether every value lies in the domain that its declaration states.

    Raises:
        StatementError: the declarations are ill-typed.
    """
    sizes = {
        n: x
        for n, x in model.values.items()
        if scope.types[n].domain == "dimension" and isinstance(x, int)
    }
    if model.weights and not (min(model.weights) > 0 and sum(model.weights) == 1):
        return False
    for name, t in scope.types.items():
        if scope.type_terms[name].op == "gaussian_type":
            continue
        if name not in model.values:
            raise StatementError(f"the model gives no value to {name!r}")
        if not _in_domain(model.values[name], t, sizes, len(model.weights)):
            return False
    return True


def _in_domain(value: Entry, t: Type, sizes: dict[str, int], points: int) -> bool:
    if t.kind is Kind.SIGMA_ALGEBRA:
        return isinstance(value, Partition) and len(value.blocks) == points
    if t.kind is Kind.RANDOM:
        return isinstance(value, Outcomes) and len(value.values) == points
    if t.kind is Kind.FAMILY:
        return isinstance(value, Family) and all(
            _in_matrix_domain(m, t, sizes) for m in value.members.values()
        )
    if t.kind is Kind.FUNCTION:
        return isinstance(value, Function) and all(
            _in_matrix_domain(c, t, sizes) for c in value.coefficients
        )
    return _in_matrix_domain(value, t, sizes)


def _in_matrix_domain(value: Entry, t: Type, sizes: dict[str, int]) -> bool:
    if isinstance(value, (Partition, Outcomes, Function, Family)):
        return False
    shape = (len(value), len(value[0])) if isinstance(value, tuple) else (1, 1)
    if shape != (t.rows.evaluate(sizes), t.cols.evaluate(sizes)):
        return False
    if not t.is_complex and not all(isinstance(x, (int, Fraction)) for x in numbers_in(value)):
        return False
    x = next(iter(numbers_in(value)))
    if not isinstance(x, (int, Fraction)):
        return t.domain in ("", "complex")
    whole = Fraction(x).denominator == 1
    if t.domain == "index":
        return whole and t.limit is not None and 1 <= x <= t.limit.evaluate(sizes)
    return {
        "positive": x > 0,
        "nonnegative": x >= 0,
        "nonzero": x != 0,
        "integer": whole,
        "dimension": whole and x >= 1,
    }.get(t.domain, True)
