"""The interpolant of two standard Gaussians whose flow ends where it began."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import DomainError
from numeric.kernels import interpolant as kernels


def interpolant_velocity(z: ArrayLike, t: ArrayLike) -> door.Floats:
    r"""The velocity E[E - X | Z_t = z] of ``Z_t = (1 - t) X + t E``.

    .. math:: v^*(z, t) = \frac{2t-1}{(1-t)^2 + t^2}\,z

    Args:
        z: position, shape ``(*batch, n)``.
        t: time, in [0, 1], shape ``batch``.

    Returns:
        the velocity, shape ``(*batch, n)``; it is never longer than `z`.

    Raises:
        DomainError: a time outside of [0, 1].
        DtypeError, NonFiniteError, ShapeError: an argument is no array of finite real numbers, or
            the shapes don't broadcast.

    Source: FB-27. Kernel: `interpolant.drift`.

    Example:
        >>> interpolant_velocity([1.0, 2.0], 1.0).tolist()
        [1.0, 2.0]
    """
    z = door.real("z", z, 1)
    slope, _ = kernels.drift(_time(t, z))
    return np.asarray(slope)[..., None] * z


def interpolant_flow(z0: ArrayLike, t: ArrayLike) -> door.Floats:
    r"""Where that velocity takes a point until time t.

    .. math:: z(t) = \sqrt{(1-t)^2 + t^2}\,z(0)

    Args:
        z0: position at time 0, shape ``(*batch, n)``.
        t: time, in [0, 1], shape ``batch``.

    Returns:
        the position, shape ``(*batch, n)``; at t = 1 it is `z0` again.

    Raises:
        DomainError, DtypeError, NonFiniteError, ShapeError: as for `interpolant_velocity`.

    Source: FB-27. Kernel: `interpolant.path`.

    Example:
        >>> interpolant_flow([1.0, 2.0], 1.0).tolist()
        [1.0, 2.0]
    """
    z0 = door.real("z0", z0, 1)
    factor, _ = kernels.path(_time(t, z0))
    return np.asarray(factor)[..., None] * z0


def velocity_gap(t: ArrayLike, n: ArrayLike) -> door.Floats:
    r"""Mean square distance of the velocity from a velocity of 0, at time t.

    .. math:: E|v^*|^2 = n\,\frac{(2t-1)^2}{(1-t)^2 + t^2}

    Its average over time is ``n*(2 - pi/2)``, although both velocities end at the same point.

    Args:
        t: time, in [0, 1], shape ``batch``.
        n: number of coordinates, at least 0, shape ``batch``.

    Returns:
        the mean square, shape ``batch``.

    Raises:
        DomainError: a time outside of [0, 1], or a negative number of coordinates.
        DtypeError, NonFiniteError, ShapeError: as for `interpolant_velocity`.

    Source: FB-27. Kernel: `interpolant.drift`.

    Example:
        >>> float(velocity_gap(0.5, 5))
        0.0
    """
    t = _time(t)
    width = door.at_least("n", door.weak("n", n, t), 0)
    door.common_batch(t=(t, 0), n=(width, 0))
    _, mean_square = kernels.drift(t)
    return width * mean_square


def path_gap(t: ArrayLike) -> door.Floats:
    r"""Distance of the flow's path from its own start, for a start of length 1.

    .. math:: 1 - \sqrt{(1-t)^2 + t^2} \le 1 - 1/\sqrt2

    Args:
        t: time, in [0, 1], shape ``batch``.

    Returns:
        the distance, shape ``batch``.

    Raises:
        DomainError, DtypeError, NonFiniteError: as for `interpolant_velocity`.

    Source: FB-27. Kernel: `interpolant.path`.

    Example:
        >>> path_gap([0.0, 1.0]).tolist()
        [0.0, 0.0]
    """
    _, gap = kernels.path(_time(t))
    return gap


def regression_floor(t: ArrayLike, n: ArrayLike, r: ArrayLike) -> door.Floats:
    r"""Least mean square error of a velocity with values in a fixed subspace.

    .. math:: \inf_g E|W - g(Z_t)|^2 = 2(n-r) + r/a(t)

    Args:
        t: time, in [0, 1], shape ``batch``.
        n: number of coordinates, at least 0, shape ``batch``.
        r: dimension of the subspace, in [0, n], shape ``batch``.

    Returns:
        the error, shape ``batch``, at least ``2*(n - r)``.

    Raises:
        DomainError: a time outside of [0, 1], or a dimension outside of [0, n].
        DtypeError, NonFiniteError, ShapeError: as for `interpolant_velocity`.

    Source: FB-27. Kernel: `interpolant.regression_floor`.

    Example:
        >>> float(regression_floor(0.0, 5, 2))
        8.0
    """
    t = _time(t)
    width = door.at_least("n", door.weak("n", n, t), 0)
    rank = door.at_least("r", door.weak("r", r, t), 0)
    door.common_batch(t=(t, 0), n=(width, 0), r=(rank, 0))
    if (rank > width).any():
        raise DomainError("r", "numbers of at most n", "a larger one")
    return kernels.regression_floor(t, width, rank)


def _time(t: ArrayLike, *positions: door.Floats) -> door.Floats:
    time = door.at_most("t", door.at_least("t", door.weak("t", t, *positions), 0), 1)
    for position in positions:
        door.common_batch(t=(time, 0), z=(position, 1))
    return time
