"""Hypotheses about limits, arranged: a number becomes the limit, or a function gets another one."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from proofs.evaluate import Evaluation, Function, Matrix, Model
from proofs.evaluate.model import from_matrix
from proofs.language.tree import Term


def settle(model: Model, hypotheses: Iterable[Term]) -> Model:
    """A model at which limits are what hypotheses say they are, as far as this can be arranged."""
    settled: set[str] = set()
    for h in hypotheses:
        if h.op != "limit":
            continue
        body, value = h.args
        is_name = value.op == "name"
        if is_name and str(value.data) not in settled:
            settled.add(str(value.data))
            found = Evaluation(model).tends_to(h)
            if isinstance(model.values[str(value.data)], Fraction) and _is_exact(found):
                model = model.with_value(str(value.data), from_matrix(found))  # type: ignore[arg-type]
            continue
        name = str(body.args[0].data) if body.op == "apply" and body.args[1].op == "bound" else ""
        f, wanted = model.values.get(name), Evaluation(model)(value)
        if isinstance(f, Function) and f.over and _is_exact(wanted):
            kept, last = f.coefficients[:-1], from_matrix(wanted)  # type: ignore[arg-type]
            model = model.with_value(name, Function(f.center, (*kept, last), f.over))
    return model


def _is_exact(found: object) -> bool:
    return isinstance(found, Matrix) and found.exact and found.im is None
