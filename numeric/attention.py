"""Attention heads once the query token is known: log-ratios, values and their laws.

Heads are stacked: ``Q`` and ``K`` of shape ``(H, k, d)``, ``V`` of shape ``(H, v, d)``; heads of
different sizes are padded with zero rows. Tokens are rows, in the order of the tokens other than
the query token. With positions added to the tokens, every token, mean and query token is passed
with its position.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.density import log_density
from numeric.errors import DomainError
from numeric.kernels import attention as kernels
from numeric.kernels import conditioning, logratio
from numeric.linear_algebra import rank_tolerance
from numeric.namespace import fill_batch
from numeric.support import check_support


def measurement_matrix(
    c: ArrayLike,
    Q: ArrayLike,
    K: ArrayLike,
    *,
    query_bias: ArrayLike | None = None,
    key_sizes: ArrayLike | None = None,
) -> door.Floats:
    r"""What the heads measure of the other tokens once the query token is known.

    .. math:: M_h^\top = K_h^\top (Q_h c + b^Q_h) / \sqrt{k_h}

    A bias of the keys cancels in every log-ratio.

    Args:
        c: the query token, shape ``(*batch, d)``.
        Q: query maps, shape ``(*batch, H, k, d)``.
        K: key maps, shape ``(*batch, H, k, d)``.
        query_bias: biases of the queries, shape ``(*batch, H, k)``. Default: none.
        key_sizes: k_h of each head, above 0, shape ``(*batch, H)``. Default: k.

    Returns:
        M, shape ``(*batch, H, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: a key size is not positive.

    Source: FB-5 (eq. 5). Kernel: `attention.head_map`.

    Example:
        >>> measurement_matrix([1.0, 2.0], [[[1.0, 0.0]]], [[[0.0, 3.0]]]).tolist()
        [[0.0, 3.0]]
    """
    given = {"c": (c, "d"), "Q": (Q, "H k d"), "K": (K, "H k d")}
    if query_bias is not None:
        given["query_bias"] = (query_bias, "H k")
    if key_sizes is not None:
        given["key_sizes"] = (key_sizes, "H")
    named = dict(zip(given, door.arrays(**given), strict=True))
    Q = named["Q"]
    heads, keys = Q.shape[-3:-1]
    bias = named.get("query_bias", np.zeros((heads, keys), dtype=Q.dtype))
    sizes = named.get("key_sizes", np.full(heads, keys, dtype=Q.dtype))
    door.at_least("key_sizes", sizes, 0, strict=True)
    return kernels.head_map(named["c"][..., None, :], Q, named["K"], bias, sizes)


def head_log_ratios(
    M: ArrayLike, tokens: ArrayLike, c: ArrayLike, *, token_maps: ArrayLike | None = None
) -> door.Floats:
    r"""Log-ratios of the other tokens to the query token, in every head.

    .. math:: l_{hj} = M_h(Z_j - c), \qquad\text{or}\qquad l_j = M_j Z_j - M c

    Args:
        M: measurement matrix of the query token, shape ``(*batch, H, d)``.
        tokens: the other tokens, shape ``(*batch, J, d)``.
        c: the query token, shape ``(*batch, d)``.
        token_maps: a matrix for each other token, where the map depends on the position (rotary
            embeddings), shape ``(*batch, J, H, d)``. Default: M for all.

    Returns:
        log-ratios, shape ``(*batch, J, H)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.

    Source: FB-5 (eq. 6), FB-28. Kernels: `attention.log_ratios`, `attention.rotary_log_ratios`.

    Example:
        >>> head_log_ratios([[1.0, 0.0]], [[3.0, 5.0], [0.0, 1.0]], [1.0, 1.0]).tolist()
        [[2.0], [-1.0]]
    """
    given = {"M": (M, "H d"), "tokens": (tokens, "J d"), "c": (c, "d")}
    if token_maps is None:
        return kernels.log_ratios(*door.arrays(**given))
    M, tokens, c, maps = door.arrays(**given, token_maps=(token_maps, "J H d"))
    return kernels.rotary_log_ratios(maps, tokens, M[..., None, :, :], c[..., None, :])


def head_values(V: ArrayLike, tokens: ArrayLike, rows: ArrayLike) -> door.Floats:
    r"""What the heads return.

    .. math:: A_h = V_h \sum_j s_{hj} Z_j

    Args:
        V: value maps, shape ``(*batch, H, v, d)``.
        tokens: all tokens, the query token among them, shape ``(*batch, P, d)``.
        rows: row of each head, shape ``(*batch, H, P)``.

    Returns:
        values, shape ``(*batch, H, v)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.

    Source: FB-5. Kernel: `attention.head_value`.

    Example:
        >>> head_values([[[1.0]]], [[2.0], [4.0]], [[0.5, 0.5]]).tolist()
        [[3.0]]
    """
    V, tokens, rows = door.arrays(V=(V, "H v d"), tokens=(tokens, "P d"), rows=(rows, "H P"))
    return kernels.head_value(V, tokens[..., None, :, :], rows)


def rows_of_log_ratios(log_ratios: door.Floats) -> tuple[door.Floats, door.Floats]:
    """Rows of the heads from checked log-ratios ``(*batch, J, H)``: the others' part, the own.

    Shapes ``(*batch, H, J)`` and ``(*batch, H)``.
    """
    by_head = np.swapaxes(log_ratios, -1, -2)
    rows = logratio.row_from_log_ratios(by_head, by_head.shape[-1])
    return rows[..., :-1], rows[..., -1]


class Law(NamedTuple):
    """Mean and covariance of a Gaussian vector."""

    mean: door.Floats
    cov: door.Floats


def log_ratio_law(mu: ArrayLike, c: ArrayLike, M: ArrayLike, t: ArrayLike) -> Law:
    r"""Law of the log-ratios of a token ``Z ~ N(mu, t^2 I)``, given the query token.

    .. math:: l \sim N\big(M(\mu - c),\ t^2 M M^\top\big)

    Args:
        mu: mean of the token, shape ``(*batch, d)``.
        c: the query token, shape ``(*batch, d)``.
        M: measurement matrix, of any rank, shape ``(*batch, H, d)``.
        t: corruption level in (0, 1], shape ``batch``.

    Returns:
        mean ``(*batch, H)`` and covariance ``(*batch, H, H)``, singular where rank M < H.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: t is outside (0, 1].

    Source: FB-6 (eq. 7). Kernel: `attention.log_ratio_law`.

    Example:
        >>> law = log_ratio_law([1.0, 0.0], [0.0, 0.0], [[2.0, 0.0]], 0.5)
        >>> law.mean.tolist(), law.cov.tolist()
        ([2.0], [[1.0]])
    """
    mu, c, M, t = door.arrays(mu=(mu, "d"), c=(c, "d"), M=(M, "H d"), t=(t, ""))
    return Law(*kernels.log_ratio_law(mu, c, M, door.corruption("t", t)))


def value_law(
    mu: ArrayLike,
    c: ArrayLike,
    log_ratios: ArrayLike,
    M: ArrayLike,
    V: ArrayLike,
    t: ArrayLike,
    *,
    rank_tol: float | None = None,
) -> Law:
    r"""Law of what the heads return, given the query token and the log-ratios.

    .. math:: \nu = D_i c + \sum_{j \ne i} D_j m_j, \qquad
              \Gamma = \sum_{j \ne i} D_j R D_j^\top, \qquad D_j = [s_{hj} V_h]_h

    Args:
        mu: means of the other tokens, shape ``(*batch, J, d)``.
        c: the query token, shape ``(*batch, d)``.
        log_ratios: shape ``(*batch, J, H)``, of some tokens: each in the range of M.
        M: measurement matrix, of any rank, shape ``(*batch, H, d)``.
        V: value maps, shape ``(*batch, H, v, d)``.
        t: corruption level in (0, 1], shape ``batch``.
        rank_tol: singular values of M below ``rank_tol * largest`` count as zero.
            Default: ``max(H, d) * eps``.

    Returns:
        mean ``(*batch, H v)``, the heads one after another, and covariance
        ``(*batch, H v, H v)``, the same for every mean.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: t is outside (0, 1], or `rank_tol` outside [0, 1).
        OffSupportError: no tokens have these log-ratios; carries the distance.

    Source: FB-7, FB-8 (eqs. 8, 9). Kernels: `attention.head_value`, `attention.value_cov`,
    `conditioning.token_mean`, `conditioning.residual_cov`, `logratio.row_from_log_ratios`.

    Example:
        >>> law = value_law([[1.0, 3.0]], [0.0, 0.0], [[0.0]], [[1.0, 0.0]], np.eye(2)[None], 1.0)
        >>> law.mean.tolist(), law.cov.tolist()
        ([0.0, 1.5], [[0.0, 0.0], [0.0, 0.25]])
    """
    rank_tol = door.tolerance("rank_tol", rank_tol)
    mu, c, log_ratios, M, V, t = door.arrays(
        mu=(mu, "J d"),
        c=(c, "d"),
        log_ratios=(log_ratios, "J H"),
        M=(M, "H d"),
        V=(V, "H v d"),
        t=(t, ""),
    )
    door.corruption("t", t)
    check_log_ratios(log_ratios, mu - c[..., None, :], M, t, rank_tol)
    others, own = rows_of_log_ratios(log_ratios)
    by_token = (c[..., None, :], log_ratios, M[..., None, :, :])
    means = conditioning.token_mean(mu, *by_token, rank_tol=rank_tol)
    residual_cov = conditioning.residual_cov(t, M, rank_tol=rank_tol)
    query = np.broadcast_to(c[..., None, :], (*means.shape[:-2], 1, c.shape[-1]))
    tokens = np.concatenate([means, query], axis=-2)
    rows = np.concatenate([others, own[..., None]], axis=-1)
    mean = kernels.head_value(V, tokens[..., None, :, :], rows)
    cov = kernels.value_cov(np.repeat(others, V.shape[-2], axis=-2), flat_values(V), residual_cov)
    mean = mean.reshape(*mean.shape[:-2], cov.shape[-1])
    batch = np.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    return Law(fill_batch(np, mean, batch, 1), fill_batch(np, cov, batch, 2))


def recovered_tokens(
    log_ratios: ArrayLike, M: ArrayLike, c: ArrayLike, *, rank_tol: float | None = None
) -> door.Floats:
    r"""The other tokens from their log-ratios, as far as these tell.

    .. math:: z_j = c + M^{+} l_j

    Args:
        log_ratios: shape ``(*batch, J, H)``.
        M: measurement matrix, shape ``(*batch, H, d)``.
        c: the query token, shape ``(*batch, d)``.
        rank_tol: singular values of M below ``rank_tol * largest`` count as zero.
            Default: ``max(H, d) * eps``.

    Returns:
        tokens, shape ``(*batch, J, d)``: exact where M has rank d; otherwise right in the row
        space of M, and equal to the query token off it.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: `rank_tol` is outside [0, 1).

    Source: FB-12a. Kernel: `attention.recovered_token`.

    Example:
        >>> recovered_tokens([[4.0]], [[2.0, 0.0]], [1.0, 1.0]).tolist()
        [[3.0, 1.0]]
    """
    rank_tol = door.tolerance("rank_tol", rank_tol)
    log_ratios, M, c = door.arrays(log_ratios=(log_ratios, "J H"), M=(M, "H d"), c=(c, "d"))
    return kernels.recovered_token(
        c[..., None, :], log_ratios, M[..., None, :, :], rank_tol=rank_tol
    )


def row_log_density(
    log_ratios: ArrayLike, mu: ArrayLike, c: ArrayLike, M: ArrayLike, t: ArrayLike
) -> door.Floats:
    r"""Logarithm of the density of the rows on the simplex, given query token and component.

    .. math:: \log p(s \mid c) = -\sum_h\sum_{j=1}^{P}\log s_{hj}
              + \sum_{j \ne i}\log\varphi\big(l_j - M(\mu_j - c);\ t^2 M M^\top\big)

    The coordinates are the entries of each row but the query token's own.

    Args:
        log_ratios: of the rows, shape ``(*batch, J, H)``.
        mu: means of the other tokens, shape ``(*batch, J, d)``.
        c: the query token, shape ``(*batch, d)``.
        M: measurement matrix with independent rows, shape ``(*batch, H, d)``.
        t: corruption level in (0, 1], shape ``batch``.

    Returns:
        log-density, shape ``batch``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: t is outside (0, 1], or the rows of M are dependent: then the rows of the
            heads determine each other, and there is no such density.

    Source: FB-11 (eq. 11). Kernels: `logratio.log_det_jacobian`, `attention.log_ratio_law`,
    `density.log_density`.

    Example:
        >>> density = row_log_density([[0.0]], [[0.0]], [0.0], [[1.0]], 1.0)
        >>> round(float(density), 12)  # log(4/sqrt(2 pi))
        0.467355827915
    """
    log_ratios, mu, c, M, t = door.arrays(
        log_ratios=(log_ratios, "J H"),
        mu=(mu, "J d"),
        c=(c, "d"),
        M=(M, "H d"),
        t=(t, ""),
    )
    door.corruption("t", t)
    values = np.linalg.svd(M, compute_uv=False)
    floor = rank_tolerance(np, M, None) * values.max(axis=-1, initial=0)
    if M.shape[-2] > M.shape[-1] or (values[..., -1:] <= floor[..., None]).any():
        raise DomainError(
            "M", "independent rows", "dependent ones", "the rows then lie in a thinner set"
        )
    law = kernels.log_ratio_law(mu, c[..., None, :], M[..., None, :, :], t[..., None])
    by_head = np.swapaxes(log_ratios, -1, -2)
    logits = np.concatenate([by_head, np.zeros_like(by_head[..., :1])], axis=-1)
    volume = logratio.log_det_jacobian(logits).sum(axis=-1)
    return volume + log_density(log_ratios, *law).sum(axis=-1)


def flat_values(V: door.Floats) -> door.Floats:
    """The value maps of all heads, stacked: shape ``(*batch, H v, d)``."""
    return V.reshape(*V.shape[:-3], V.shape[-3] * V.shape[-2], V.shape[-1])


def check_log_ratios(
    log_ratios: door.Floats,
    displacement: door.Floats,
    M: door.Floats,
    t: door.Floats,
    rank_tol: float | None,
) -> None:
    """Refuse log-ratios that no tokens have; `displacement` leads from the query to the means."""
    expected = displacement @ np.swapaxes(M, -1, -2)
    size = np.abs(log_ratios).max(axis=-1, initial=0) + np.linalg.norm(
        M, axis=(-2, -1), keepdims=True
    )[..., 0] * np.linalg.norm(displacement, axis=-1)
    check_support(
        "log_ratios",
        np.swapaxes(M, -1, -2)[..., None, :, :],
        log_ratios - expected,
        (np.linalg.norm(M, axis=(-2, -1)) * t)[..., None],
        size,
        rank_tol,
    )
