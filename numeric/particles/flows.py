"""Refinement in continuous depth: the particles' flow by an adaptive Runge-Kutta method."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from numeric import door
from numeric.errors import DomainError
from numeric.flow import CLOCKS
from numeric.particles.refinement import RefinedPrior, checked, warn_about_bandwidth
from numeric.particles.sums import KernelSums, sharpness, sums

# So many sums an integration takes, at least.
EVALUATIONS = 100


def flow(
    tokens: ArrayLike,
    sigma2: float,
    beta: float,
    *,
    time: float | None = None,
    clock: str = "main",
    weights: ArrayLike | None = None,
    method: str = "auto",
    workers: int = 1,
    rtol: float = 1e-10,
) -> RefinedPrior:
    r"""Stage 1 in continuous depth: what layers tend to as their number grows.

    .. math:: \frac{dz_i}{d\theta} = F_\beta(z_i; Z) - z_i, \qquad \theta = \beta t

    Warns:
        BandwidthWarning: as `refine`.

    Args:
        tokens, sigma2, weights, method, workers: as for `refine`.
        beta: inverse bandwidth, above 0.
        time: where to stop, at least 0. Default: the nominal end, sigma2/2 on the main clock and
            beta*sigma2/2 on the other.
        clock: of `time`, ``"main"`` or ``"appendix"``.
        rtol: error of a step, relative to the bandwidth ``1/sqrt(beta)``, in [1e-12, 1).

    Returns:
        the prior.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: an argument is outside of its range.
        ArithmeticError: the method's step becomes too small.

    Source: EB-16 (Algorithm 2).

    Example:
        >>> flow([[-1.0], [1.0]], 0.5, 2.0).particles.round(4).tolist()
        [[-0.9808], [0.9808]]
    """
    z, w, noise = checked(tokens, weights, sigma2)
    sharp = sharpness(beta, z)
    door.choice("clock", clock, CLOCKS)
    if not 1e-12 <= rtol < 1:
        raise DomainError("rtol", "a number in [1e-12, 1)", f"{rtol:g}")
    end = noise / 2 if time is None else float(door.at_least("time", door.real("time", time), 0))
    theta = end if time is not None and clock == "appendix" else sharp * end

    def summed(places: door.Floats) -> KernelSums:
        return sums(
            places, places, sharp, w, method=method, workers=workers, repeats=EVALUATIONS
        )  # fmt: skip

    warn_about_bandwidth(summed(z), w, noise, sharp)
    if theta == 0:
        return RefinedPrior(z, w, noise, 0.0, 0.0)

    def velocity(_: float, flat: np.ndarray) -> np.ndarray:
        places = flat.reshape(z.shape).astype(z.dtype, copy=False)
        return summed(places).shift.ravel()

    # Relative to the bandwidth, not to the particles' distance from the origin.
    solved = solve_ivp(
        velocity, (0.0, theta), z.ravel(), method="DOP853", t_eval=[theta], rtol=3e-14,
        atol=rtol / math.sqrt(sharp),
    )  # fmt: skip
    if not solved.success:
        raise ArithmeticError(f"the flow at beta = {sharp:g} was not integrated: {solved.message}")
    particles = solved.y[:, -1].reshape(z.shape).astype(z.dtype, copy=False)
    return RefinedPrior(particles, w, noise, theta / sharp, theta)


def truncated_flow(
    tokens: ArrayLike,
    sigma2: float,
    beta: float,
    radius: float,
    *,
    weights: ArrayLike | None = None,
    method: str = "auto",
    workers: int = 1,
    rtol: float = 1e-10,
) -> RefinedPrior:
    """The flow of the tokens within a ball around 0, its boundary included.

    Queries are not truncated. Where no token (of positive weight) is left, the prior is a particle
    at 0, and says so.

    Args:
        tokens, sigma2, beta, weights, method, workers, rtol: as for `flow`.
        radius: of the ball, above 0.

    Returns:
        the prior; `empty` is set where no token was left.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError, ArithmeticError: as for `flow`.

    Source: EB-17 (Algorithm 3).

    Example:
        >>> truncated_flow([[5.0]], 0.5, 2.0, 1.0).empty
        True
    """
    z, w, noise = checked(tokens, weights, sigma2)
    ball = float(door.at_least("radius", door.real("radius", radius), 0, strict=True))
    left = (np.hypot.reduce(z, axis=1) <= ball) & (w > 0)
    if not left.any():
        sharp = sharpness(beta, np.zeros_like(z[:1]))
        origin = np.zeros_like(z[:1])
        return RefinedPrior(origin, np.ones(1, z.dtype), noise, noise / 2, sharp * noise / 2, True)
    return flow(z[left], noise, beta, weights=w[left], method=method, workers=workers, rtol=rtol)
