"""Kernels of the subject `ripples`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/ripples.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.namespace import Array, Namespace, namespace, real_arrays

__all__ = ["growth_rate_appendix_clock", "growth_rate_main_clock"]


@errstate(under="ignore")
def growth_rate_main_clock(k2: Array, beta: Array, *, xp: Namespace = None) -> Array:
    r"""Growth rate of a ripple on a uniform density, main clock.

    .. math:: |k|^2 e^{-|k|^2/2\beta}, \qquad \text{largest, } 2\beta/e, \text{ at } |k|^2 =
        2\beta

    Args:
        k2: shape ``batch``; squared length of the wave vector, at least 0.
        beta: shape ``batch``; inverse bandwidth of the attention kernel, above 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        rate: ``batch``; rate at which the ripple's logarithm grows.

    Domain: k2 >= 0; beta > 0; k2/beta below 1e300. Arguments are trusted; the algorithms of
    `numeric` check them.

    Hypotheses: the density is uniform up to a ripple of first order.

    The relative error of the exponential is k2/(2 beta) times that of its argument.

    Worst relative error, float64, held by a test:
        typical: beta in [1e-2, 1e2], k2/beta in [1e-3, 1e1]: 4e-15 of each entry.
        long: k2/beta in [1e-300, 1e-3]: 4e-15 of each entry.
        short: k2/beta in [1e1, 1.3e3]: 4e-13 of each entry.
        limits: k2 = 0: 4e-15 of each entry.

    Operations: 1 -, 1 *, 2 /, 1 exp.

    Source: EB-12. Derivation: ripples.growth_rate_main_clock, tree sha256:c8ff3a6df8aeeec6.
    """
    xp = namespace(xp, k2, beta)
    k2, beta = real_arrays(xp, k2, beta)
    return xp.exp(-k2 / 2 / beta) * k2


@errstate(under="ignore")
def growth_rate_appendix_clock(k2: Array, beta: Array, *, xp: Namespace = None) -> Array:
    r"""Growth rate of a ripple on a uniform density, appendix clock.

    .. math:: \frac{|k|^2}{\beta} e^{-|k|^2/2\beta}, \qquad \text{largest, } 2/e, \text{ at }
        |k|^2 = 2\beta

    Args:
        k2: shape ``batch``; squared length of the wave vector, at least 0.
        beta: shape ``batch``; inverse bandwidth of the attention kernel, above 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        rate: ``batch``; rate at which the ripple's logarithm grows.

    Domain: k2 >= 0; beta > 0; k2/beta below 1e300. Arguments are trusted; the algorithms of
    `numeric` check them.

    Hypotheses: the density is uniform up to a ripple of first order.

    The relative error of the exponential is k2/(2 beta) times that of its argument.

    Worst relative error, float64, held by a test:
        typical: beta in [1e-2, 1e2], k2/beta in [1e-3, 1e1]: 4e-15 of each entry.
        long: k2/beta in [1e-300, 1e-3]: 4e-15 of each entry.
        short: k2/beta in [1e1, 1.3e3]: 4e-13 of each entry.
        limits: k2 = 0: 4e-15 of each entry.

    Operations: 1 -, 1 *, 3 /, 1 exp.

    Source: EB-12. Derivation: ripples.growth_rate_appendix_clock, tree sha256:4349564141c4f8c9.
    """
    xp = namespace(xp, k2, beta)
    k2, beta = real_arrays(xp, k2, beta)
    return xp.exp(-k2 / 2 / beta) * k2 / beta
