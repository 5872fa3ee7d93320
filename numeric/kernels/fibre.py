"""Kernels of the subject `fibre`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/fibre.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.distances import squared_distances
from numeric.namespace import (
    Array,
    Namespace,
    batch_shape,
    dot_products,
    fill_batch,
    namespace,
    real_arrays,
)

__all__ = ["log_odds", "right_side", "unresolved"]


@errstate(under="ignore")
def right_side(
    log_ratios: Array,
    M: Array,
    c: Array,
    value: Array,
    weights: Array,
    V: Array,
    *,
    xp: Namespace = None,
) -> tuple[Array, Array]:
    r"""What the row and the values say of the other tokens.

    .. math:: b = (l_j + M c)_j \,\|\, (a - D_i c)

    Args:
        log_ratios: shape ``(*batch, J, H)``; row j holds l_j, one a head.
        M: shape ``(*batch, H, d)``; map of the query token.
        c: shape ``(*batch, d)``; the query token.
        value: shape ``(*batch, V_tot)``; values of all heads, less what offsets add.
        weights: shape ``(*batch, V_tot)``; the row's entry at the query token, of each output's
            head.
        V: shape ``(*batch, V_tot, d)``; value maps of all heads, stacked.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        rows: ``(*batch, J, H)``; row j: what the heads show of token j.
        values: ``(*batch, V_tot)``; what the values show of the other tokens together.

    Domain: any real arrays. Arguments are trusted; the algorithms of `numeric` check them.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 1e-14 of the products.
        saturated: log-ratios of order 1e3: 1e-14 of the products.

    Operations: 1 +, 1 -, 1 *, 2 dot_products.

    Source: FB-13 (eq. 12a). Derivation: fibre.right_side, tree sha256:595ffa20f1fbed58.
    """
    xp = namespace(xp, log_ratios, M, c, value, weights, V)
    log_ratios, M, c, value, weights, V = real_arrays(xp, log_ratios, M, c, value, weights, V)
    batch = batch_shape((log_ratios, 2), (M, 2), (c, 1), (value, 1), (weights, 1), (V, 2))
    rows = log_ratios + dot_products(xp, M, c[..., None, :])[..., None, :]
    values = value - weights * dot_products(xp, V, c[..., None, :])
    return fill_batch(xp, rows, batch, 2), fill_batch(xp, values, batch, 1)


@errstate(under="ignore")
def log_odds(
    log_prior: Array,
    query_means: Array,
    c: Array,
    means: Array,
    point: Array,
    projector: Array,
    t: Array,
    reference: int,
    *,
    xp: Namespace = None,
) -> Array:
    r"""Log-odds of the components given the query token and what is seen of the others.

    .. math:: \Lambda_{nm} = \log\tfrac{\pi_n}{\pi_m} + t^{-2}\big[\langle\mu_{n,i} -
        \mu_{m,i},\, c - \bar\mu_i\rangle + \langle\Delta_{nm},\, \Pi_F (z_{-i} -
        \bar\mu_{-i})\rangle\big]

    Args:
        log_prior: shape ``(*batch, N)``; logarithms of the masses, up to a constant.
        query_means: shape ``(*batch, N, d)``; mean of the query token in each component.
        c: shape ``(*batch, d)``; the query token.
        means: shape ``(*batch, N, q)``; mean of the other tokens in each component, flat.
        point: shape ``(*batch, q)``; any state of the other tokens that fits, such as F^+ b.
        projector: shape ``(*batch, q, q)``; orthogonal projector on the row space of F.
        t: shape ``batch``; corruption level, above 0.
        reference: int; index of the component that the others are compared with.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        log_odds: ``(*batch, N)``; log-odds against the reference, whose own are 0.

    Domain: t > 1e-150; projector symmetric, idempotent; the log-odds don't overflow. Arguments
    are trusted; the algorithms of `numeric` check them.

    Hypotheses: tokens are independent given the component, with isotropic noise; F z = b.

    With the identity for a projector these are the log-odds of the whole state, with 0 those of
    the query token alone, with the projector of the value blocks alone those that take the row
    for a constant.

    Worst relative error, float64, held by a test:
        typical: means of order 1, t in [0.05, 1]: 1e-14 of the largest term.
        remote: means and tokens near a point 1e8 away: 1e-14 of the largest term.
        sharp: t from 1e-140 to 1e-3: 1e-14 of the largest term.
        singular: a projector of any rank, 0 and the identity too: 1e-14 of the largest term.

    Operations: 2 +, 7 -, 3 /, 1 @, 1 **, 4 dot_products, 1 matrix_transpose.

    Source: FB-9 (eq. 10), FB-13. Derivation: fibre.log_odds, tree sha256:3325bfdba9770f69.
    """
    xp = namespace(xp, log_prior, query_means, c, means, point, projector, t)
    log_prior, query_means, c, means, point, projector, t = real_arrays(
        xp, log_prior, query_means, c, means, point, projector, t
    )
    query_contrasts = query_means - query_means[..., reference, None, :]
    query_displacement = c - query_means[..., reference, :]
    contrasts = means - means[..., reference, None, :]
    displacement = point - means[..., reference, :]
    seen = contrasts @ xp.matrix_transpose(projector)
    of_query = dot_products(xp, query_contrasts, query_displacement[..., None, :]) - dot_products(
        xp, query_contrasts, query_contrasts
    ) / 2
    of_others = dot_products(
        xp, seen, displacement[..., None, :]
    ) - dot_products(xp, contrasts, seen) / 2
    return log_prior + (of_others + of_query) / t[..., None]**2 - log_prior[..., reference, None]


@errstate(under="ignore")
def unresolved(means: Array, projector: Array, t: Array, *, xp: Namespace = None) -> Array:
    r"""Variance of the full log-odds that an observation leaves open.

    .. math:: \mathrm{Var}\Big(\log\frac{r_n(Z)}{r_m(Z)} \,\Big|\, o\Big) = |P_{\ker
        F}\,\Delta_{nm}|^2 / t^2

    Args:
        means: shape ``(*batch, N, q)``; mean of the other tokens in each component, flat.
        projector: shape ``(*batch, q, q)``; orthogonal projector on the kernel of F.
        t: shape ``batch``; corruption level, above 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        variance: ``(*batch, N, N)``; variance for each pair, 0 where the observation resolves
            it.

    Domain: t > 1e-150; projector symmetric, idempotent. Arguments are trusted; the algorithms
    of `numeric` check them.

    Hypotheses: tokens are independent given the component, with isotropic noise.

    Chosen forms:
        squared_distances: sum_a (x_ia - y_ja)^2 for all i and j = one coordinate added after
            another, for any real x and y. Why: all differences at once are an array as many
            times larger as there are coordinates, and |x|^2 + |y|^2 - 2 x'y loses its digits
            far from the origin. Proved: forms.squared_distances.

    Worst relative error, float64, held by a test:
        typical: means of order 1, t in [0.05, 1]: 1e-14 of the squared contrasts.
        remote: means near a common point 1e8 away: 1e-14 of the squared contrasts.
        singular: a projector of any rank, 0 and the identity too: 1e-14 of the squared
            contrasts.

    Operations: 1 -, 1 /, 1 @, 1 **, 1 matrix_transpose, 1 squared_distances.

    Source: FB-13. Derivation: fibre.unresolved, tree sha256:26a0586632d65e2f.
    """
    xp = namespace(xp, means, projector, t)
    means, projector, t = real_arrays(xp, means, projector, t)
    open_part = (means - means[..., 0, None, :]) @ xp.matrix_transpose(projector)
    distances = squared_distances(xp, open_part, open_part)
    return distances / t[..., None, None]**2
