"""Kernels of the subject `likelihood`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/likelihood.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.namespace import Array, Namespace, batch_shape, fill_batch, namespace, real_arrays

__all__ = ["wrong_likelihood"]


@errstate(under="ignore")
def wrong_likelihood(
    responsibilities: Array,
    approximate: Array,
    targets: Array,
    t: Array,
    spread: Array,
    *,
    xp: Namespace = None,
) -> tuple[Array, Array, Array]:
    r"""What wrong responsibilities do to the noise mean.

    .. math:: m - \tilde m = \tfrac{1-t}{t}\sum_n (q_n - r_n) X_n, \qquad |m - \tilde m| \le
        \tfrac{1-t}{t}\,D\,TV, \qquad TV = \tfrac12\sum_n |r_n - q_n|

    Args:
        responsibilities: shape ``(*batch, N)``; posterior masses, with sum 1.
        approximate: shape ``(*batch, N)``; masses in their place, with sum 1.
        targets: shape ``(*batch, N, d)``; clean target of each component.
        t: shape ``batch``; corruption level in (0, 1].
        spread: shape ``batch``; largest distance between two targets, D.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        deviation: ``(*batch, d)``; the noise mean less the one with the masses in its place.
        total_variation: ``batch``; distance of the two posteriors, in [0, 1].
        bound: ``batch``; bound on the norm of the deviation.

    Domain: 0 < t <= 1; masses with sum 1. Arguments are trusted; the algorithms of `numeric`
    check them.

    Hypotheses: the query token and q are functions of the observation.

    Worst relative error, float64, held by a test:
        typical: targets of order 1: 4e-15 of the terms of the sum.
        near: masses apart by 1e-12: 4e-15 of the terms of the sum.
        sharp: t from 1e-140 to 1e-3: 4e-15 of the terms of the sum.
        pure noise: t = 1, where nothing moves: 4e-15 of the terms of the sum.

    Operations: 3 -, 3 *, 3 /, 1 @, 1 abs, 1 sum.

    Source: FB-23 (eq. 18). Derivation: likelihood.wrong_likelihood, tree
    sha256:3b8280bbfb2521ae.
    """
    xp = namespace(xp, responsibilities, approximate, targets, t, spread)
    responsibilities, approximate, targets, t, spread = real_arrays(
        xp, responsibilities, approximate, targets, t, spread
    )
    batch = batch_shape((responsibilities, 1), (approximate, 1), (targets, 2), (t, 0), (spread, 0))
    moved = approximate - responsibilities
    total_variation = xp.sum(xp.abs(moved), axis=-1) / 2
    deviation = (1 - t[..., None]) * (moved[..., None, :] @ targets)[..., 0, :] / t[..., None]
    bound = (1 - t) * spread * total_variation / t
    return (
        fill_batch(xp, deviation, batch, 1),
        fill_batch(xp, total_variation, batch, 0),
        fill_batch(xp, bound, batch, 0),
    )
