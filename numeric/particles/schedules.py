"""Schedules of layers: how far each goes, at what bandwidth, on which clock."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.depth import equal_steps, schedule_time
from numeric.errors import DomainError, ShapeError


@dataclass(frozen=True)
class Schedule:
    """Layers one after the other.

    Attributes:
        eta: share of the kernel mean that each takes, in (0, 1), shape ``(L,)``. Appendix-clock
            time that it advances.
        beta: inverse bandwidths, above 0, shape ``(L,)``. ``eta/beta`` is main-clock time.
    """

    eta: door.Floats
    beta: door.Floats


def equal_layers(
    sigma2: float, beta: float, n_layers: int, *, n_layers_nominal: int | None = None
) -> Schedule:
    r"""Equal layers with steps ``eta = beta sigma2/(2 L_0)``.

    Args:
        sigma2: noise variance, above 0.
        beta: inverse bandwidth, above 0.
        n_layers: L, how many, at least 0.
        n_layers_nominal: L_0, how many lead to the nominal end, main-clock time sigma2/2. Default:
            `n_layers`.

    Returns:
        the schedule; empty for no layers.

    Raises:
        DomainError: a step would not be below 1: the error says the least depth; or an argument is
            outside of its range.
        DtypeError, NonFiniteError: an argument is no finite real number.

    Source: EB-15.

    Example:
        >>> equal_layers(0.5, 20.0, 3, n_layers_nominal=200).eta.tolist()
        [0.025, 0.025, 0.025]
    """
    for name, value in (("sigma2", sigma2), ("beta", beta)):
        door.at_least(name, door.real(name, value), 0, strict=True)
    if n_layers < 0:
        raise DomainError("n_layers", "at least 0", str(n_layers))
    nominal = n_layers if n_layers_nominal is None else n_layers_nominal
    if n_layers_nominal is not None or n_layers:
        eta = equal_steps(sigma2, beta, nominal)[:1]
    else:
        eta = np.zeros(1)
    return Schedule(np.repeat(eta, n_layers), np.full(n_layers, float(beta)))


def annealed_layers(sigma2: float, eta: ArrayLike, beta: ArrayLike) -> Schedule:
    r"""Layers whose steps and bandwidths change with depth, to the nominal end.

    .. math:: \sum_\ell \eta_\ell/\beta_\ell = \sigma^2/2

    Args:
        sigma2: noise variance, above 0.
        eta: steps, in (0, 1), shape ``(L,)``.
        beta: inverse bandwidths, above 0, shape ``(L,)`` or a number.

    Returns:
        the schedule.

    Raises:
        DomainError: the times don't sum to sigma2/2 up to rounding, or an argument is outside of
            its range.
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.

    Source: EB-18.

    Example:
        >>> annealed_layers(0.5, [0.5, 0.5], [4.0, 4.0]).beta.tolist()
        [4.0, 4.0]
    """
    noise = float(door.at_least("sigma2", door.real("sigma2", sigma2), 0, strict=True))
    steps = door.at_least("eta", door.real("eta", eta, 1), 0, strict=True)
    if steps.ndim != 1:
        raise ShapeError("eta", "1 axis", f"shape {steps.shape}")
    if (steps >= 1).any():
        raise DomainError("eta", "steps below 1", f"{steps.max():g}", "take more layers")
    time = float(schedule_time(steps, beta))
    if not math.isclose(time, noise / 2, rel_tol=1e-9):
        raise DomainError(
            "eta",
            f"times eta/beta that sum to sigma2/2 = {noise / 2:g}",
            f"{time:g}",
            f"multiply the steps by {noise / 2 / time:g}" if time else "",
        )
    return Schedule(steps, np.broadcast_to(door.real("beta", beta), steps.shape).copy())
