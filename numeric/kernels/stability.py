"""Kernels of the subject `stability`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/stability.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.namespace import (
    Array,
    Namespace,
    batch_shape,
    dot_products,
    fill_batch,
    namespace,
    real_arrays,
)

__all__ = ["margin", "query_error", "recovery_bound", "stability_bound"]


@errstate(under="ignore")
def margin(delta: Array, tau_margin: Array, *, xp: Namespace = None) -> Array:
    r"""How far a log-ratio can be off where each entry is known to delta/2.

    .. math:: |\Delta l_{hj}| \le -2\log\big(1 - \delta/2\tau\big)

    Args:
        delta: shape ``batch``; width of the interval that an entry is known to.
        tau_margin: shape ``batch``; what the entries are at least, above delta/2.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        margin: ``batch``; bound on the change of a log-ratio.

    Domain: 0 <= delta < 2 tau_margin. Arguments are trusted; the algorithms of `numeric` check
    them.

    Hypotheses: entries of the row are at least tau_margin, before and after the change.

    Chosen forms:
        log1p: log(1 + x) = log1p(x), for x > -1. Why: 1 + x rounds to 1 for small x. Proved:
            The definition of log1p, which libraries compute without the rounded sum.

    Worst relative error, float64, held by a test:
        typical: delta/tau_margin in [1e-3, 1]: 1e-15 of each entry.
        tiny: delta/tau_margin down to 1e-290: 1e-15 of each entry.
        edge: delta within 1e-6 of 2 tau_margin: 1e-15 of the condition of the quotient.

    Operations: 1 -, 1 *, 2 /, 1 log1p.

    Source: FB-12d. Derivation: stability.margin, tree sha256:b5ff6da246d51858.
    """
    xp = namespace(xp, delta, tau_margin)
    delta, tau_margin = real_arrays(xp, delta, tau_margin)
    return -2 * xp.log1p(-delta / 2 / tau_margin)


@errstate(under="ignore")
def recovery_bound(
    delta: Array, tau_margin: Array, n_heads: Array, sigma_min: Array, *, xp: Namespace = None
) -> Array:
    r"""How far a recovered token can be off.

    .. math:: |\Delta z_j| \le -2\sqrt{H}\,\log(1 - \delta/2\tau)/\sigma_{\min}(M)

    Args:
        delta: shape ``batch``; width of the interval that an entry is known to.
        tau_margin: shape ``batch``; what the entries are at least, above delta/2.
        n_heads: shape ``batch``; number of heads, H.
        sigma_min: shape ``batch``; least singular value of M that isn't zero.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        bound: ``batch``; bound on the change of a token in the row space of M.

    Domain: 0 <= delta < 2 tau_margin; sigma_min > 0. Arguments are trusted; the algorithms of
    `numeric` check them.

    Hypotheses: entries of the row are at least tau_margin, before and after the change.

    Chosen forms:
        log1p: log(1 + x) = log1p(x), for x > -1. Why: 1 + x rounds to 1 for small x. Proved:
            The definition of log1p, which libraries compute without the rounded sum.

    Worst relative error, float64, held by a test:
        typical: delta/tau_margin in [1e-3, 1]: 2e-15 of each entry.
        tiny: delta/tau_margin down to 1e-200: 2e-15 of each entry.
        edge: delta within 1e-6 of 2 tau_margin: 2e-15 of the condition of the quotient.

    Operations: 1 -, 2 *, 3 /, 1 log1p, 1 sqrt.

    Source: FB-12d. Derivation: stability.recovery_bound, tree sha256:0724a9d904e73c93.
    """
    xp = namespace(xp, delta, tau_margin, n_heads, sigma_min)
    delta, tau_margin, n_heads, sigma_min = real_arrays(xp, delta, tau_margin, n_heads, sigma_min)
    return -2 * xp.log1p(-delta / 2 / tau_margin) * xp.sqrt(n_heads) / sigma_min


@errstate(under="ignore")
def stability_bound(
    delta: Array,
    tau_margin: Array,
    n_log_ratios: Array,
    sigma_min: Array,
    contrast: Array,
    spread: Array,
    t: Array,
    *,
    xp: Namespace = None,
) -> tuple[Array, Array, Array]:
    r"""How far the posterior and the noise mean can be off.

    .. math:: \lambda = \max|\Delta_{nm}|\,\frac{-2\sqrt{H(P-1)}\,\log(1-
        \delta/2\tau)}{t^2\,\sigma^+_{\min}(M)}, \qquad TV \le \tanh(\lambda/4), \qquad
        |\Delta m| \le \tfrac{1-t}{t} D_i \tanh(\lambda/4)

    Args:
        delta: shape ``batch``; width of the interval that an entry is known to.
        tau_margin: shape ``batch``; what the entries are at least, above delta/2.
        n_log_ratios: shape ``batch``; number of log-ratios, H (P - 1).
        sigma_min: shape ``batch``; least singular value of M that isn't zero.
        contrast: shape ``batch``; largest |Delta_nm| of the other tokens' means.
        spread: shape ``batch``; largest distance between clean targets of two components, D_i.
        t: shape ``batch``; corruption level in (0, 1].
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        log_odds: ``batch``; bound on the change of any log-odds.
        total_variation: ``batch``; bound on the total variation between the posteriors.
        noise_mean: ``batch``; bound on the change of the noise mean.

    Domain: 0 <= delta < 2 tau_margin; sigma_min > 0; 1 >= t > 1e-150. Arguments are trusted;
    the algorithms of `numeric` check them.

    Hypotheses: entries of the row are at least tau_margin, before and after the change; the
    query token is known exactly.

    Chosen forms:
        log1p: log(1 + x) = log1p(x), for x > -1. Why: 1 + x rounds to 1 for small x. Proved:
            The definition of log1p, which libraries compute without the rounded sum.

    Worst relative error, float64, held by a test:
        typical: delta/tau_margin in [1e-3, 1]: 3e-15 of each entry.
        tiny: delta/tau_margin down to 1e-200: 3e-15 of each entry.
        saturated: a change of the log-odds by 1e3: 3e-15 of each entry.
        pure noise: t = 1, where the noise mean is known: 3e-15 of each entry.

    Operations: 2 -, 5 *, 6 /, 1 **, 1 log1p, 1 sqrt, 1 tanh.

    Source: FB-12g. Derivation: stability.stability_bound, tree sha256:68749727710427ef.
    """
    xp = namespace(xp, delta, tau_margin, n_log_ratios, sigma_min, contrast, spread, t)
    delta, tau_margin, n_log_ratios, sigma_min, contrast, spread, t = real_arrays(
        xp, delta, tau_margin, n_log_ratios, sigma_min, contrast, spread, t
    )
    batch = batch_shape(
        (delta, 0),
        (tau_margin, 0),
        (n_log_ratios, 0),
        (sigma_min, 0),
        (contrast, 0),
        (spread, 0),
        (t, 0),
    )
    change = -2 * xp.log1p(
        -delta / 2 / tau_margin
    ) * xp.sqrt(n_log_ratios) * contrast / sigma_min / t**2
    total_variation = xp.tanh(change / 4)
    noise_mean = (1 - t) * spread * total_variation / t
    return fill_batch(xp, change, batch, 0), fill_batch(xp, total_variation, batch, 0), noise_mean


@errstate(under="ignore")
def query_error(
    head_norms: Array, key_sizes: Array, distance: Array, *, xp: Namespace = None
) -> Array:
    r"""How far the map of the heads moves with the query token.

    .. math:: \|M(c) - M(c')\| \le \Big(\sum_h \|Q_h^\top K_h\|^2/k_h\Big)^{1/2} |c - c'|

    Args:
        head_norms: shape ``(*batch, H)``; norm of Q_h' K_h, one a head.
        key_sizes: shape ``(*batch, H)``; key size of each head, k_h.
        distance: shape ``batch``; distance |c - c'| of the query tokens.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        bound: ``batch``; bound on the change of M, in the Frobenius norm.

    Domain: head_norms >= 0, of no overflowing square; key_sizes > 0. Arguments are trusted; the
    algorithms of `numeric` check them.

    Worst relative error, float64, held by a test:
        typical: norms of order 1: 2e-15 of each entry.
        scaled: norms scaled by 1e-100 or 1e100: 2e-15 of each entry.
        zero: heads that see nothing: 2e-15 of each entry.

    Operations: 1 *, 1 /, 1 **, 1 dot_products, 1 sqrt.

    Source: FB-12e. Derivation: stability.query_error, tree sha256:9b763dad8d822f06.
    """
    xp = namespace(xp, head_norms, key_sizes, distance)
    head_norms, key_sizes, distance = real_arrays(xp, head_norms, key_sizes, distance)
    return xp.sqrt(dot_products(xp, head_norms**2, 1 / key_sizes)) * distance
