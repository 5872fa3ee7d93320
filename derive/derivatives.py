"""Derivations of derivatives: a kernel for a gradient, or for a Jacobian-vector product.

A derivation asks for one by listing it, as `logratio.row_jvp` does. The result comes from the rules
of `derive.calculus`, and everything after that is what happens to any derivation.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Basic, IndexedBase, MatrixSymbol, Symbol

from derive.calculus import CalculusError, differential, gradient
from derive.steps import Argument, Derivation, Kernel, Regime, Step

_RULES = "the rules of differentials"


def jvp(
    derivation: Derivation,
    by: Basic,
    *,
    title: str,
    equation: str,
    regimes: tuple[Regime, ...],
    temporaries: tuple[tuple[Basic, Basic], ...] = (),
) -> Derivation:
    """The change of the results along a direction of one argument: a Jacobian-vector product.

    Args:
        derivation: one that has a kernel.
        by: the symbol of the argument that changes.
        title, equation, regimes, temporaries: as for any derivation and kernel.

    Raises:
        CalculusError: there is no kernel or no such argument, or the calculus refuses.
    """
    kernel, argument = _asked(derivation, by)
    direction = _direction(by)
    result = {
        f"{name}_jvp": differential(value, {by: direction})
        for name, value in derivation.result.items()
    }
    along = Argument(direction, f"direction in which {argument.name} changes", argument.shape)
    return replace(
        derivation,
        name=f"{derivation.name}_jvp",
        title=title,
        inputs=(*derivation.inputs, direction),
        steps=_steps(derivation, result),
        result=result,
        equation=equation,
        kernel=Kernel(
            arguments=(*kernel.arguments, along),
            outputs={f"{n}_jvp": f"change of: {told}" for n, told in kernel.outputs.items()},
            domain=kernel.domain,
            axes={f"{name}_jvp": axes for name, axes in kernel.axes.items()},
            temporaries=temporaries,
            regimes=regimes,
        ),
    )


def gradient_of(
    derivation: Derivation,
    by: Basic,
    *,
    title: str,
    equation: str,
    regimes: tuple[Regime, ...],
    index: Symbol | None = None,
    temporaries: tuple[tuple[Basic, Basic], ...] = (),
) -> Derivation:
    """The gradient of a scalar result by one argument, in the argument's shape.

    Args:
        derivation: one that has a kernel, with a scalar result.
        by: the symbol of the argument.
        index: where that is an indexed family, the index of the gradient's entries.
        title, equation, regimes, temporaries: as for any derivation and kernel.

    Raises:
        CalculusError: there is no kernel or no such argument, the result is not one scalar, or the
            calculus refuses.
    """
    kernel, argument = _asked(derivation, by)
    if len(derivation.result) != 1 or any(kernel.axes.values()):
        raise CalculusError(f"{derivation.name} has not one scalar result to take by", by)
    ((name, value),) = derivation.result.items()
    size = argument.shape[0] if index is not None else None
    result = {"gradient": gradient(value, by, index=index, size=size)}
    return replace(
        derivation,
        name=f"{derivation.name}_gradient",
        title=title,
        steps=_steps(derivation, result),
        result=result,
        equation=equation,
        kernel=Kernel(
            arguments=kernel.arguments,
            outputs={"gradient": f"derivatives of {name} by {argument.name}"},
            domain=kernel.domain,
            axes={"gradient": (index,)} if index is not None else {},
            temporaries=temporaries,
            regimes=regimes,
        ),
    )


def _asked(derivation: Derivation, by: Basic) -> tuple[Kernel, Argument]:
    kernel = derivation.kernel
    if kernel is None:
        raise CalculusError(f"{derivation.name} asks for no kernel, nor for a derivative's", by)
    for argument in kernel.arguments:
        if argument.symbol == by and not (argument.static or argument.label):
            return kernel, argument
    raise CalculusError(f"{derivation.name} has no real argument", by)


def _direction(by: Basic) -> Basic:
    if isinstance(by, MatrixSymbol):
        return MatrixSymbol(f"d_{by.name}", *by.shape)
    if isinstance(by, IndexedBase):
        return IndexedBase(f"d_{by.name}", real=True)
    return Symbol(f"d_{by}", real=True)


def _steps(derivation: Derivation, result: dict[str, Basic]) -> tuple[Step, ...]:
    start = [
        Step(f"What is differentiated: {name.replace('_', ' ')}", value, derivation.name)
        for name, value in derivation.result.items()
    ]
    return (*start, *(Step("Differentiate", value, _RULES) for value in result.values()))
