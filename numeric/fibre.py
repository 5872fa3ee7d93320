"""What a row and its values say of the other tokens, and of the components (FB-9, FB-13)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.attention import flat_values, rows_of_log_ratios
from numeric.errors import ShapeError
from numeric.kernels import attention as attention_kernels
from numeric.kernels import fibre as kernels
from numeric.kernels import logratio
from numeric.linear_algebra import kernel_projector, pseudo_inverse, row_projector
from numeric.support import check_support


class FibreSystem(NamedTuple):
    """The other tokens that fit an observation: those with ``F z = b``, z the tokens one by one.

    Attributes:
        F: shape ``(*batch, J H + H v, J d)``.
        b: shape ``(*batch, J H + H v)``.
    """

    F: door.Floats
    b: door.Floats


def fibre_system(
    log_ratios: ArrayLike,
    M: ArrayLike,
    c: ArrayLike,
    *,
    V: ArrayLike | None = None,
    values: ArrayLike | None = None,
    token_maps: ArrayLike | None = None,
    value_bias: ArrayLike | None = None,
    anchor: int | None = None,
) -> FibreSystem:
    r"""The linear system that a row, and what its heads return, set for the other tokens.

    .. math:: F = \begin{bmatrix} I \otimes M \\ [D_j]_{j \ne i} \end{bmatrix}, \qquad
              b = (l_j + M c)_j \,\|\, (a - D_i c), \qquad D_j = [s_{hj} V_h]_h

    With positions added to the tokens, the unknowns are the tokens with theirs. Masked tokens are
    left out. Where the query token itself is masked, log-ratios are to another token, the anchor
    k: the rows of F are then those of ``M (z_j - z_k)``.

    Args:
        log_ratios: to the query token, shape ``(*batch, J, H)``; or to the anchor, with J - 1
            rows.
        M: measurement matrix of the query token, shape ``(*batch, H, d)``.
        c: the query token, shape ``(*batch, d)``.
        V: value maps, shape ``(*batch, H, v, d)``. Default: only the row is observed.
        values: what the heads return, shape ``(*batch, H, v)``; comes with V.
        token_maps: a matrix for each other token, where the map depends on the position (rotary
            embeddings), shape ``(*batch, J, H, d)``. Default: M for all.
        value_bias: bias of the values, shape ``(*batch, H, v)``. Default: none.
        anchor: index of the anchor among the other tokens, where the query token is masked.

    Returns:
        F and b.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together, or one of `V` and
            `values` is missing.
        DomainError: the anchor is no index of a token.

    Source: FB-8, FB-13 (eqs. 9, 12a), FB-28. Kernels: `fibre.right_side`, `attention.value_block`,
    `logratio.row_from_log_ratios`.

    Example:
        >>> system = fibre_system([[0.0]], [[1.0]], [1.0], V=[[[2.0]]], values=[[3.0]])
        >>> system.F.tolist(), system.b.tolist()
        ([[1.0], [1.0]], [1.0, 2.0])
    """
    given = {"log_ratios": (log_ratios, "L H"), "M": (M, "H d"), "c": (c, "d")}
    if (V is None) != (values is None):
        raise ShapeError("values", "V and values together", "one without the other")
    for name, value, axes in (
        ("V", V, "H v d"),
        ("values", values, "H v"),
        ("token_maps", token_maps, "J H d"),
        ("value_bias", value_bias, "H v"),
    ):
        if value is not None:
            given[name] = (value, axes)
    known = dict(zip(given, door.arrays(**given), strict=True))
    log_ratios, M, c = known["log_ratios"], known["M"], known["c"]
    shown, heads = log_ratios.shape[-2:]
    tokens = shown if anchor is None else shown + 1
    if "token_maps" in known:
        door.same_axis("log_ratios", tokens, "token_maps", known["token_maps"].shape[-3])
    none = np.zeros((heads, 0, M.shape[-1]), dtype=M.dtype)
    V = known.get("V", none)
    values = known.get("values", none[..., 0])
    values = values - known["value_bias"] if "value_bias" in known else values
    maps = known.get("token_maps", M[..., None, :, :])
    if anchor is None:
        others, own = rows_of_log_ratios(log_ratios)
    else:  # the query token takes no part
        anchor = door.position("anchor", anchor, tokens)
        others = logratio.row_from_log_ratios(np.swapaxes(log_ratios, -1, -2), anchor)
        own, c = np.zeros_like(others[..., 0]), np.zeros_like(c)
    size = V.shape[-2]
    rows, rest = kernels.right_side(
        log_ratios,
        M,
        c,
        values.reshape(*values.shape[:-2], heads * size),
        np.repeat(own, size, axis=-1),
        flat_values(V),
    )
    b = np.concatenate([rows.reshape(*rows.shape[:-2], shown * heads), rest], axis=-1)
    weights = np.swapaxes(np.repeat(others, size, axis=-2), -1, -2)
    blocks = attention_kernels.value_block(weights, flat_values(V)[..., None, :, :])
    return FibreSystem(_stacked(maps, blocks, b.shape[:-1], anchor), b)


def _stacked(
    maps: door.Floats, blocks: door.Floats, batch: tuple[int, ...], anchor: int | None
) -> door.Floats:
    """The maps of the tokens along the diagonal, less the anchor's, above the value blocks."""
    heads, width = maps.shape[-2:]
    tokens, outputs = blocks.shape[-3:-1]
    batch = np.broadcast_shapes(maps.shape[:-3], blocks.shape[:-3], batch)
    diagonal = np.zeros((*batch, tokens, heads, tokens, width), dtype=maps.dtype)
    place = np.arange(tokens)
    # Indices that are parted by a slice come first.
    diagonal[..., place, :, place, :] = np.moveaxis(
        np.broadcast_to(maps, (*batch, tokens, heads, width)), -3, 0
    )
    if anchor is not None:
        of_anchor = diagonal[..., anchor, None, :, :, :]
        diagonal = np.delete(diagonal, anchor, axis=-4) - of_anchor
    side_by_side = np.moveaxis(np.broadcast_to(blocks, (*batch, tokens, outputs, width)), -3, -2)
    return np.concatenate(
        [
            diagonal.reshape(*batch, diagonal.shape[-4] * heads, tokens * width),
            side_by_side.reshape(*batch, outputs, tokens * width),
        ],
        axis=-2,
    )


def fibre_posterior(
    prior: ArrayLike,
    query_means: ArrayLike,
    means: ArrayLike,
    c: ArrayLike,
    system: FibreSystem,
    t: ArrayLike,
    *,
    rank_tol: float | None = None,
) -> door.Floats:
    r"""Responsibilities of the components given the query token and ``F z = b`` for the others.

    .. math:: r_n \propto \pi_n \exp\big\{-\big(|c - \mu_{n,i}|^2
              + |F^{+}(b - F\mu_{n,-i})|^2\big)/2t^2\big\}

    Args:
        prior: masses of the components, positive with sum 1, shape ``(*batch, N)``.
        query_means: mean of the query token in each component, shape ``(*batch, N, d)``.
        means: means of the other tokens in each component, shape ``(*batch, N, J, d)``.
        c: the query token, shape ``(*batch, d)``.
        system: F and b, as from `fibre_system`.
        t: corruption level in (0, 1], shape ``batch``.
        rank_tol: singular values of F, its rows scaled to norm 1, below ``rank_tol * largest``
            count as zero. Default: the larger dimension times eps.

    Returns:
        responsibilities, shape ``(*batch, N)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: the prior or t is outside its domain, or `rank_tol` outside [0, 1).
        OffSupportError: no tokens fit; carries the distance.

    Source: FB-9 (eq. 10), FB-13. Kernels: `fibre.log_odds`, `logratio.row`.

    Example:
        >>> system = FibreSystem(np.array([[1.0, 0.0]]), np.array([1.0]))
        >>> means = [[[0.0], [0.0]], [[2.0], [9.0]]]
        >>> fibre_posterior([0.5, 0.5], [[0.0], [0.0]], means, [0.0], system, 1.0).tolist()
        [0.5, 0.5]
    """
    rank_tol = door.tolerance("rank_tol", rank_tol)
    prior, query_means, means, c, F, b, t = door.arrays(
        prior=(prior, "N"),
        query_means=(query_means, "N d"),
        means=(means, "N J d"),
        c=(c, "d"),
        F=(system.F, "m q"),
        b=(system.b, "m"),
        t=(t, ""),
    )
    log_prior = np.log(door.masses("prior", prior))
    door.corruption("t", t)
    flat = _flat(means)
    door.same_axis("the columns of F", F.shape[-1], "means", flat.shape[-1])
    F, b = scaled_rows(F, b)
    first = flat[..., 0, :]
    moved = b - (F @ first[..., None])[..., 0]
    check_support(
        "b",
        np.swapaxes(F, -1, -2),
        moved,
        t * np.sqrt(F.shape[-2]),
        np.abs(b).max(axis=-1, initial=0) + np.linalg.norm(first, axis=-1),
        rank_tol,
    )
    projector = row_projector(np, F, rank_tol)
    point = first + (pseudo_inverse(np, F, rank_tol) @ moved[..., None])[..., 0]
    return logratio.row(kernels.log_odds(log_prior, query_means, c, flat, point, projector, t, 0))


def unresolved_contrasts(
    means: ArrayLike, F: ArrayLike, t: ArrayLike, *, rank_tol: float | None = None
) -> door.Floats:
    r"""Variance of the full log-odds that an observation leaves open, for each pair.

    .. math:: |P_{\ker F}(\mu_n - \mu_m)_{-i}|^2 / t^2

    It is 0 for all pairs just where the observation determines the posterior of the whole state.

    Args:
        means: means of the other tokens in each component, shape ``(*batch, N, J, d)``.
        F: as from `fibre_system`, shape ``(*batch, m, J d)``.
        t: corruption level in (0, 1], shape ``batch``.
        rank_tol: as in `fibre_posterior`.

    Returns:
        variances, shape ``(*batch, N, N)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: t is outside (0, 1], or `rank_tol` outside [0, 1).

    Source: FB-13 (eq. 12b). Kernel: `fibre.unresolved`.

    Example:
        >>> unresolved_contrasts([[[0.0], [0.0]], [[2.0], [3.0]]], [[1.0, 0.0]], 1.0).tolist()
        [[0.0, 9.0], [9.0, 0.0]]
    """
    rank_tol = door.tolerance("rank_tol", rank_tol)
    means, F, t = door.arrays(means=(means, "N J d"), F=(F, "m q"), t=(t, ""))
    flat = _flat(means)
    door.same_axis("the columns of F", F.shape[-1], "means", flat.shape[-1])
    door.corruption("t", t)
    scaled, _ = scaled_rows(F, np.zeros(F.shape[:-1], dtype=F.dtype))
    return kernels.unresolved(flat, kernel_projector(np, scaled, rank_tol), t)


def scaled_rows(F: door.Floats, b: door.Floats) -> tuple[door.Floats, door.Floats]:
    """The same system with rows of norm 1, or 0: a saturated head is no loss of rank."""
    largest = np.abs(F).max(axis=-1, initial=0)
    safe = np.where(largest > 0, largest, 1)
    F = F / safe[..., None]  # first, since squares of small entries underflow
    norms = np.linalg.norm(F, axis=-1)
    norms = np.where(norms > 0, norms, 1)
    return F / norms[..., None], b / safe / norms


def _flat(means: door.Floats) -> door.Floats:
    return means.reshape(*means.shape[:-2], means.shape[-2] * means.shape[-1])
