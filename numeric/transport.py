"""How the flow of a Gaussian moves points: its velocity, and where it takes them.

Two clocks are in use: main-text time and appendix time theta = beta * time. Every function takes
the clock by name and has no default for it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.flow import CLOCKS
from numeric.kernels import transport as kernels


def gaussian_velocity(
    x: ArrayLike, mean: ArrayLike, cov: ArrayLike, beta: ArrayLike, *, clock: str
) -> door.Floats:
    r"""Velocity of the flow at points, while the law is the given Gaussian.

    .. math:: X_\beta(x) = -(I + \beta\Gamma)^{-1}(x - m) \ \text{(appendix clock)}, \qquad
              \beta X_\beta(x) \ \text{(main clock)}

    Args:
        x: points, shape ``(*batch, n)``.
        mean: mean of the law, shape ``(*batch, n)``.
        cov: covariance of the law now, shape ``(*batch, n, n)``, symmetric psd, may be singular.
        beta: inverse bandwidth, at least 0, shape ``batch``.
        clock: ``"main"`` or ``"appendix"``.

    Returns:
        the velocity, shape ``(*batch, n)``.

    Raises:
        NotSymmetricError, NotPositiveSemidefiniteError: `cov` is no covariance.
        DomainError: beta is negative, or the clock is none.
        DtypeError, NonFiniteError, ShapeError: an argument is no array of finite real numbers, or
            the shapes don't fit together.

    Source: EB-8, EB-45. Kernels: `transport.slope_main_clock`, `transport.slope_appendix_clock`.

    Example:
        >>> gaussian_velocity([1.0], [0.0], [[1.0]], 1.0, clock="appendix").tolist()
        [-0.5]
    """
    door.choice("clock", clock, CLOCKS)
    main = clock == "main"
    kernel = kernels.slope_main_clock if main else kernels.slope_appendix_clock
    return _scaled(x, mean, cov, beta, lambda width, values: kernel(width, values))[0]


def gaussian_flow_map(
    x: ArrayLike,
    mean: ArrayLike,
    cov: ArrayLike,
    time: ArrayLike,
    beta: ArrayLike,
    *,
    clock: str,
) -> door.Floats:
    r"""Where the flow takes points that it starts at time 0.

    .. math:: \Phi(x) = m + \Gamma_\theta^{1/2}\Gamma_0^{-1/2}(x - m), \qquad
              \Gamma_0 = 0:\ m + e^{-\theta}(x - m)

    From time u on start with the covariance at u, which `covariance_flow` gives.

    Args:
        x: points at time 0, shape ``(*batch, n)``.
        mean: mean of the law, which the flow keeps, shape ``(*batch, n)``.
        cov: covariance at time 0, shape ``(*batch, n, n)``, symmetric psd, may be singular.
        time: time on the clock, at least 0, shape ``batch``.
        beta: inverse bandwidth, at least 0, shape ``batch``.
        clock: ``"main"`` or ``"appendix"``.

    Returns:
        the points after that time, shape ``(*batch, n)``.

    Raises:
        NotSymmetricError, NotPositiveSemidefiniteError: `cov` is no covariance.
        DomainError: time or beta is negative, or the clock is none.
        DtypeError, NonFiniteError, ShapeError: as for `gaussian_velocity`.

    Source: EB-22, EB-45. Kernels: `transport.factor_main_clock`,
    `transport.factor_appendix_clock`.

    Example:
        >>> gaussian_flow_map([1.0], [0.0], [[0.0]], 1.0, 5.0, clock="appendix").round(6).tolist()
        [0.367879]
    """
    door.choice("clock", clock, CLOCKS)
    main = clock == "main"
    kernel = kernels.factor_main_clock if main else kernels.factor_appendix_clock
    elapsed = np.asarray(door.at_least("time", door.weak("time", time, door.real("x", x)), 0))
    moved, centre = _scaled(
        x, mean, cov, beta, lambda width, values: kernel(width, values, elapsed[..., None])
    )
    return centre + moved


def _scaled(
    x: ArrayLike,
    mean: ArrayLike,
    cov: ArrayLike,
    beta: ArrayLike,
    factor: Callable[[door.Floats, door.Floats], door.Floats],
) -> tuple[door.Floats, door.Floats]:
    """The deviations from the mean times a function of the covariance, and the mean."""
    points, centre = door.real("x", x, 1), door.real("mean", mean, 1)
    spread = door.covariance("cov", cov)
    width = door.at_least("beta", door.weak("beta", beta, points), 0)
    door.same_axis("x", points.shape[-1], "mean", centre.shape[-1])
    door.same_axis("x", points.shape[-1], "cov", spread.shape[-1])
    door.common_batch(x=(points, 1), mean=(centre, 1), cov=(spread, 2), beta=(width, 0))
    values, vectors = np.linalg.eigh(spread)
    factors = factor(np.asarray(width)[..., None], np.maximum(values, 0))
    along = ((points - centre)[..., None, :] @ vectors)[..., 0, :]
    return (vectors @ (factors * along)[..., None])[..., 0], centre
