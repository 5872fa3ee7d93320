"""Kernels of the subject `attention`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/attention.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.linear_algebra import pseudo_inverse, symmetric_part
from numeric.namespace import Array, Namespace, batch_shape, fill_batch, namespace, real_arrays

__all__ = [
    "head_map",
    "head_value",
    "log_ratio_law",
    "log_ratios",
    "recovered_token",
    "rotary_log_ratios",
    "value_block",
    "value_cov",
]


@errstate(under="ignore")
def head_map(
    c: Array, Q: Array, K: Array, b_Q: Array, key_size: Array, *, xp: Namespace = None
) -> Array:
    r"""What one head measures of the other tokens, given the query token.

    .. math:: M_h^\top = K_h^\top (Q_h c + b^Q_h) / \sqrt{k_h}

    Args:
        c: shape ``(*batch, d)``; the query token.
        Q: shape ``(*batch, k, d)``; query map of the head, Q_h.
        K: shape ``(*batch, k, d)``; key map of the head, K_h.
        b_Q: shape ``(*batch, k)``; bias of the query; zeros if there is none.
        key_size: shape ``batch``; what the logits are divided by the root of, k_h.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        head_map: ``(*batch, d)``; row h of M: the log-ratio of a token z is its product with z
            - c.

    Domain: key_size > 0; any real maps. Arguments are trusted; the algorithms of `numeric`
    check them.

    With positions added to the tokens, c is the token with its position. The heads are a batch
    axis.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 1e-14 of the products.
        scaled: maps scaled by 1e-100 or 1e100: 1e-14 of the products.
        no query: Q or c is 0: 1e-14 of the products.

    Operations: 1 +, 1 /, 2 @, 1 matrix_transpose, 1 sqrt.

    Source: FB-5 (eq. 5). Derivation: attention.head_map, tree sha256:7007105900a353b3.
    """
    xp = namespace(xp, c, Q, K, b_Q, key_size)
    c, Q, K, b_Q, key_size = real_arrays(xp, c, Q, K, b_Q, key_size)
    query = b_Q + (Q @ c[..., None])[..., 0]
    return (xp.matrix_transpose(K) @ query[..., None])[..., 0] / xp.sqrt(key_size[..., None])


@errstate(under="ignore")
def log_ratios(M: Array, tokens: Array, c: Array, *, xp: Namespace = None) -> Array:
    r"""Log-ratios of the tokens to the query token, in every head.

    .. math:: l_{hj} = M_h (Z_j - c)

    Args:
        M: shape ``(*batch, H, d)``; row h is c' Q_h' K_h / sqrt(k_h).
        tokens: shape ``(*batch, J, d)``; the other tokens, in their order.
        c: shape ``(*batch, d)``; the query token.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        log_ratios: ``(*batch, J, H)``; row j holds l_j, one a head.

    Domain: any real M and tokens. Arguments are trusted; the algorithms of `numeric` check
    them.

    With positions added to the tokens, all tokens come with theirs.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 1e-14 of the products.
        remote: tokens near the query, 1e8 from 0: 1e-14 of the products.
        saturated: log-ratios of order 1e3: 1e-14 of the products.

    Operations: 1 -, 1 @, 1 matrix_transpose.

    Source: FB-5 (eq. 6). Derivation: attention.log_ratios, tree sha256:7deb2b77a714e696.
    """
    xp = namespace(xp, M, tokens, c)
    M, tokens, c = real_arrays(xp, M, tokens, c)
    return (tokens - c[..., None, :]) @ xp.matrix_transpose(M)


@errstate(under="ignore")
def rotary_log_ratios(
    M_j: Array, token: Array, M: Array, c: Array, *, xp: Namespace = None
) -> Array:
    r"""Log-ratios of a token to the query token, each with a map of its own.

    .. math:: l_j = M_j Z_j - M_i c

    Args:
        M_j: shape ``(*batch, H, d)``; map of the token, rows by head.
        token: shape ``(*batch, d)``; the token.
        M: shape ``(*batch, H, d)``; map of the query token, rows by head.
        c: shape ``(*batch, d)``; the query token.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        log_ratios: ``(*batch, H)``; log-ratios of the token, one a head.

    Domain: any real maps and tokens. Arguments are trusted; the algorithms of `numeric` check
    them.

    The tokens are a batch axis.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 1e-14 of the products.
        saturated: log-ratios of order 1e3: 1e-14 of the products.

    Operations: 1 -, 2 @.

    Source: FB-5, FB-28. Derivation: attention.rotary_log_ratios, tree sha256:3996e1dcce1e7472.
    """
    xp = namespace(xp, M_j, token, M, c)
    M_j, token, M, c = real_arrays(xp, M_j, token, M, c)
    return (M_j @ token[..., None])[..., 0] - (M @ c[..., None])[..., 0]


@errstate(under="ignore")
def log_ratio_law(
    mu: Array, c: Array, M: Array, t: Array, *, xp: Namespace = None
) -> tuple[Array, Array]:
    r"""Law of a token's log-ratios, given the query token and the component.

    .. math:: l_j \sim N\big(M(\mu_j - c),\ t^2 M M^\top\big)

    Args:
        mu: shape ``(*batch, d)``; mean of the token.
        c: shape ``(*batch, d)``; the query token.
        M: shape ``(*batch, H, d)``; row h is c' Q_h' K_h / sqrt(k_h).
        t: shape ``batch``; corruption level, above 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        mean: ``(*batch, H)``; mean of the log-ratios.
        cov: ``(*batch, H, H)``; covariance, the same for every token and component; singular if
            rank M < H.

    Domain: t > 1e-150; any real M. Arguments are trusted; the algorithms of `numeric` check
    them.

    Hypotheses: the tokens are independent given the component, with isotropic noise.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 1e-14 of the products.
        singular: M of lower rank: duplicate heads, zero rows: 1e-14 of the products.
        scaled: M scaled by 1e-100 or by 1e100: 1e-14 of the products.

    Operations: 1 -, 1 *, 2 @, 1 **, 1 matrix_transpose, 1 symmetric_part.

    Source: FB-6 (eq. 7). Derivation: attention.log_ratio_law, tree sha256:d42a2409bf96e8cd.
    """
    xp = namespace(xp, mu, c, M, t)
    mu, c, M, t = real_arrays(xp, mu, c, M, t)
    batch = batch_shape((mu, 1), (c, 1), (M, 2), (t, 0))
    mean = (M @ (mu[..., None] - c[..., None]))[..., 0]
    cov = symmetric_part(xp, t[..., None, None]**2 * (M @ xp.matrix_transpose(M)))
    return fill_batch(xp, mean, batch, 1), fill_batch(xp, cov, batch, 2)


@errstate(under="ignore")
def head_value(V: Array, tokens: Array, row: Array, *, xp: Namespace = None) -> Array:
    r"""What a head returns, or its mean given the log-ratios.

    .. math:: A_h = V_h \sum_j s_{hj} Z_j, \qquad \nu_h = V_h \sum_j s_{hj} E[Z_j \mid l]

    Args:
        V: shape ``(*batch, v, d)``; value map of the head, V_h.
        tokens: shape ``(*batch, P, d)``; the tokens, or their means, as rows.
        row: shape ``(*batch, P)``; row of the head.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        value: ``(*batch, v)``; value of the head.

    Domain: any real values, tokens and row. Arguments are trusted; the algorithms of `numeric`
    check them.

    The heads are a batch axis.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 1e-14 of the products.
        saturated: a row with one entry near 1: 1e-14 of the products.

    Operations: 2 @, 1 matrix_transpose.

    Source: FB-5, FB-8 (eq. 9). Derivation: attention.head_value, tree sha256:4e8cb81f908f2ea3.
    """
    xp = namespace(xp, V, tokens, row)
    V, tokens, row = real_arrays(xp, V, tokens, row)
    mixed = (xp.matrix_transpose(tokens) @ row[..., None])[..., 0]
    return (V @ mixed[..., None])[..., 0]


@errstate(under="ignore")
def value_block(weights: Array, V: Array, *, xp: Namespace = None) -> Array:
    r"""Derivative of the values of all heads by one token, at a fixed row.

    .. math:: D_j = \big[s_{hj} V_h\big]_h

    Args:
        weights: shape ``(*batch, V_tot)``; entry of the row of each output's head.
        V: shape ``(*batch, V_tot, d)``; value maps of all heads, stacked.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        block: ``(*batch, V_tot, d)``; D_j, rows by output.

    Domain: any real weights and values. Arguments are trusted; the algorithms of `numeric`
    check them.

    The tokens are a batch axis.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 1e-15 of each entry.
        saturated: weights down to 1e-200: 1e-15 of each entry.

    Operations: 1 *.

    Source: FB-8 (eq. 9). Derivation: attention.value_block, tree sha256:efa4a3dd6c5a059f.
    """
    xp = namespace(xp, weights, V)
    weights, V = real_arrays(xp, weights, V)
    return V * weights[..., None]


@errstate(under="ignore")
def value_cov(weights: Array, V: Array, residual_cov: Array, *, xp: Namespace = None) -> Array:
    r"""Covariance of the values of all heads given the log-ratios.

    .. math:: \Gamma = \sum_{j\ne i} D_j R D_j^\top = (W W^\top) \circ (V R V^\top)

    Args:
        weights: shape ``(*batch, V_tot, J)``; entries of the row of each output's head, the
            other tokens in order.
        V: shape ``(*batch, V_tot, d)``; value maps of all heads, stacked.
        residual_cov: shape ``(*batch, d, d)``; covariance of a token given its log-ratios.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        cov: ``(*batch, V_tot, V_tot)``; covariance of the values, the same for every component.

    Domain: residual_cov symmetric psd of any rank. Arguments are trusted; the algorithms of
    `numeric` check them.

    Hypotheses: the tokens are independent given the log-ratios, all with covariance R.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 1e-14 of the products.
        singular: residual_cov of lower rank, or 0: 1e-14 of the products.

    Operations: 1 *, 3 @, 2 matrix_transpose, 1 symmetric_part.

    Source: FB-8 (eq. 9). Derivation: attention.value_cov, tree sha256:1ef2c772bcd6717a.
    """
    xp = namespace(xp, weights, V, residual_cov)
    weights, V, residual_cov = real_arrays(xp, weights, V, residual_cov)
    return symmetric_part(
        xp, (weights @ xp.matrix_transpose(weights)) * (V @ residual_cov @ xp.matrix_transpose(V))
    )


@errstate(under="ignore")
def recovered_token(
    c: Array, log_ratios: Array, M: Array, *, rank_tol: float | None = None, xp: Namespace = None
) -> Array:
    r"""A token from its log-ratios, as far as they tell.

    .. math:: z_j = c + M^{+} l_j

    Args:
        c: shape ``(*batch, d)``; the query token.
        log_ratios: shape ``(*batch, H)``; log-ratios of the token, one a head.
        M: shape ``(*batch, H, d)``; row h is c' Q_h' K_h / sqrt(k_h).
        rank_tol: what counts as zero, relative to the largest; default: the number of entries
            times eps, and 0 for exact arrays.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        token: ``(*batch, d)``; the token; off the row space of M, that part of the query token.

    Domain: any real M; log_ratios in the range of M. Arguments are trusted; the algorithms of
    `numeric` check them.

    Hypotheses: M has rank d; otherwise only the part in its row space is recovered.

    Singular values of M below rank_tol times the largest count as zero. The tokens are a batch
    axis.

    Chosen forms:
        pinv: A^+ = V diag(1/s) U' over the singular values s above rank_tol * max s, for any
            real A. Why: right at any rank. Proved: forms.pinv.

    Worst relative error, float64, held by a test:
        typical: M with condition up to 1e3: 1e-12 of the token.
        ill-conditioned: M with singular values from 1 to 1e-12: 0.01 of the token.
        singular: M of lower rank: duplicate heads, zero rows: 1e-13 of the token.

    Operations: 1 +, 1 @, 1 pseudo_inverse.

    Source: FB-12. Derivation: attention.recovered_token, tree sha256:9d8a473741af08de.
    """
    xp = namespace(xp, c, log_ratios, M)
    c, log_ratios, M = real_arrays(xp, c, log_ratios, M)
    return c + (pseudo_inverse(xp, M, rank_tol) @ log_ratios[..., None])[..., 0]
