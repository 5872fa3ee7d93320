"""Kernels of the subject `interpolant`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/interpolant.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.namespace import Array, Namespace, namespace, real_arrays

__all__ = ["drift", "path", "regression_floor"]


@errstate(under="ignore")
def drift(t: Array, *, xp: Namespace = None) -> tuple[Array, Array]:
    r"""Velocity of the interpolant of two standard Gaussians.

    .. math:: v^*(z, t) = \frac{2t-1}{a(t)}\,z, \qquad a(t) = (1-t)^2 + t^2

    Args:
        t: shape ``batch``; time of the interpolant, in [0, 1].
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        slope: ``batch``; factor of the position, in [-1, 1].
        mean_square: ``batch``; mean square of the velocity for each coordinate.

    Domain: 0 <= t <= 1. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: X and E are independent standard Gaussian vectors.

    Worst relative error, float64, held by a test:
        typical: t in [0, 1]: 2e-15 of each entry.
        ends: t or 1 - t in [1e-16, 1e-3], and tiny t: 2e-15 of each entry.
        middle: t within 1e-6 of 1/2: 2e-15 of each entry.
        limits: t = 0, t = 1/2 or t = 1: 2e-15 of each entry.

    Operations: 1 +, 2 -, 1 *, 2 /, 3 **.

    Source: FB-27 (eq. 23). Derivation: interpolant.drift, tree sha256:9d3f0c0b8d005dd1.
    """
    xp = namespace(xp, t)
    (t,) = real_arrays(xp, t)
    a = t**2 + (1 - t)**2
    centred = 2 * t - 1
    slope = centred / a
    mean_square = centred**2 / a
    return slope, mean_square


@errstate(under="ignore")
def path(t: Array, *, xp: Namespace = None) -> tuple[Array, Array]:
    r"""Flow of the interpolant's velocity.

    .. math:: z(t) = \sqrt{a(t)}\,z(0), \qquad 1 - \sqrt{a(t)} \le 1 - 1/\sqrt2

    Args:
        t: shape ``batch``; time of the interpolant, in [0, 1].
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        factor: ``batch``; factor of the position at time 0.
        gap: ``batch``; distance to the position at time 0, for one of length 1.

    Domain: 0 <= t <= 1. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: X and E are independent standard Gaussian vectors.

    Worst relative error, float64, held by a test:
        typical: t in [0, 1]: 2e-15 of each entry.
        ends: t or 1 - t in [1e-16, 1e-3], and tiny t: 2e-15 of each entry.
        middle: t within 1e-6 of 1/2: 2e-15 of each entry.
        limits: t = 0, t = 1/2 or t = 1: 2e-15 of each entry.

    Operations: 2 +, 2 -, 2 *, 1 /, 2 **, 1 sqrt.

    Source: FB-27 (eq. 23). Derivation: interpolant.path, tree sha256:fa46693b81601bb7.
    """
    xp = namespace(xp, t)
    (t,) = real_arrays(xp, t)
    root = xp.sqrt(t**2 + (1 - t)**2)
    gap = 2 * (1 - t) * t / (1 + root)
    return root, gap


@errstate(under="ignore")
def regression_floor(t: Array, n: Array, r: Array, *, xp: Namespace = None) -> Array:
    r"""Least error of a velocity with values in a fixed subspace.

    .. math:: \inf_g E|W - g(Z_t)|^2 = 2(n-r) + r/a(t)

    Args:
        t: shape ``batch``; time of the interpolant, in [0, 1].
        n: shape ``batch``; number of coordinates, at least 0.
        r: shape ``batch``; dimension of the subspace, at most n.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        floor: ``batch``; least mean square error, at least 2(n - r).

    Domain: 0 <= t <= 1; 0 <= r <= n. Arguments are trusted; the algorithms of `numeric` check
    them.

    Hypotheses: X and E are independent standard Gaussian vectors; g has its values in a
    subspace of dimension r.

    Worst relative error, float64, held by a test:
        typical: t in [0, 1]: 2e-15 of each entry.
        ends: t or 1 - t in [1e-16, 1e-3], and tiny t: 2e-15 of each entry.
        middle: t within 1e-6 of 1/2: 2e-15 of each entry.
        limits: t = 0, t = 1/2 or t = 1: 2e-15 of each entry.

    Operations: 2 +, 2 -, 2 *, 1 /, 2 **.

    Source: FB-27. Derivation: interpolant.regression_floor, tree sha256:c90207969409a065.
    """
    xp = namespace(xp, t, n, r)
    t, n, r = real_arrays(xp, t, n, r)
    return 2 * n + r / (t**2 + (1 - t)**2) - 2 * r
