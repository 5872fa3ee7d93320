"""Conditioning of Gaussians: on coordinates, and of a token on its log-ratios."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.kernels import conditioning as kernels
from numeric.linear_algebra import rank_tolerance
from numeric.namespace import fill_batch
from numeric.support import check_support


def condition(
    mean: ArrayLike,
    cov: ArrayLike,
    observed: ArrayLike,
    value: ArrayLike,
    *,
    rank_tol: float | None = None,
    form: str = "pinv",
) -> tuple[door.Floats, door.Floats]:
    r"""Law of the unobserved coordinates of a Gaussian given some coordinates.

    .. math:: m_u + \Sigma_{uo} \Sigma_{oo}^{+} (x_o - m_o), \qquad
              \Sigma_{uu} - \Sigma_{uo} \Sigma_{oo}^{+} \Sigma_{ou}

    Args:
        mean: shape ``(*batch, n)``.
        cov: shape ``(*batch, n, n)``, symmetric positive semidefinite; may be singular.
        observed: indices of the observed coordinates, shape ``(k,)``.
        value: observed values, shape ``(*batch, k)``, in the support of the observed law.
        rank_tol: eigenvalues of the observed block below ``rank_tol * largest`` count as zero.
            Default: ``k * eps``.
        form: ``"pinv"``, or ``"elimination"``: several times faster on large batches of small
            matrices, and right for coordinates of very different scales; a pivot below
            ``rank_tol`` times its variance counts as zero.

    Returns:
        mean ``(*batch, n-k)`` and covariance ``(*batch, n-k, n-k)``, in the order of the
        coordinates that are left.

    Raises:
        ShapeError: the shapes don't fit together.
        DtypeError, NonFiniteError, DomainError: an argument is no array of finite real numbers,
            `observed` no set of indices, `rank_tol` not in [0, 1).
        NotSymmetricError, NotPositiveSemidefiniteError: `cov` is no covariance.
        OffSupportError: ``value`` is not in the support; carries the distance.

    Source: FB-3; Murphy (2007), eq. (3). Kernels: `conditioning.gaussian_pinv`,
    `conditioning.gaussian_elimination`.

    Example:
        >>> m, S = condition([0.0, 0.0], [[2.0, 1.0], [1.0, 1.0]], [1], [3.0])
        >>> m.tolist(), S.tolist()
        ([3.0], [[1.0]])
    """
    door.choice("form", form, ("pinv", "elimination"))
    rank_tol = door.tolerance("rank_tol", rank_tol)
    mean, cov = door.real("mean", mean, 1), door.covariance("cov", cov)
    size = mean.shape[-1]
    door.same_axis("mean", size, "cov", cov.shape[-1])
    seen = door.positions("observed", observed, size)
    value = door.real("value", value, 1)
    door.same_axis("observed", len(seen), "value", value.shape[-1])
    door.common_batch(mean=(mean, 1), cov=(cov, 2), value=(value, 1))
    left = np.setdiff1d(np.arange(size), seen)
    cov_oo = cov[..., seen[:, None], seen]
    if form == "pinv" or not _surely_invertible(cov_oo, rank_tol):
        spread = np.sqrt(np.abs(cov_oo).max(axis=(-2, -1), initial=0))
        size_of_value = np.abs(value).max(axis=-1, initial=0) + np.abs(mean).max(axis=-1, initial=0)
        check_support("value", cov_oo, value - mean[..., seen], spread, size_of_value, rank_tol)
    kernel = kernels.gaussian_pinv if form == "pinv" else kernels.gaussian_elimination
    return kernel(
        mean[..., left],
        mean[..., seen],
        cov[..., left[:, None], left],
        cov[..., left[:, None], seen],
        cov_oo,
        value,
        rank_tol=rank_tol,
    )


class TokenPosterior(NamedTuple):
    """Law of a corrupted token given its log-ratios."""

    mean: door.Floats
    cov: door.Floats


def condition_on_log_ratios(
    mu: ArrayLike,
    c: ArrayLike,
    log_ratios: ArrayLike,
    M: ArrayLike,
    t: ArrayLike,
    *,
    rank_tol: float | None = None,
) -> TokenPosterior:
    r"""Law of a token ``Z ~ N(mu, t^2 I)`` given ``log_ratios = M (Z - c)``, M of any rank.

    .. math:: m = \mu + M^{+}(l + M c - M \mu), \qquad R = t^2 (I_d - M^{+} M)

    Args:
        mu: mean of the token, shape ``(*batch, d)``.
        c: the query token, shape ``(*batch, d)``.
        log_ratios: one a head, shape ``(*batch, H)``.
        M: row h is ``c' Q_h' K_h / sqrt(k_h)``, shape ``(*batch, H, d)``.
        t: corruption level in (0, 1], shape ``batch``.
        rank_tol: singular values of M below ``rank_tol`` times the largest count as zero.
            Default: ``max(H, d) * eps``.

    Returns:
        mean ``(*batch, d)`` and covariance ``(*batch, d, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: t is outside (0, 1], or `rank_tol` outside [0, 1).
        OffSupportError: no token has these log-ratios; carries the distance.

    Source: FB-7 (eq. 8). Kernels: `conditioning.token_mean`, `conditioning.residual_cov`.

    Example:
        >>> law = condition_on_log_ratios([0.0, 0.0], [1.0, 0.0], [1.0], [[2.0, 0.0]], 0.5)
        >>> law.mean.tolist(), law.cov.tolist()
        ([1.5, 0.0], [[0.0, 0.0], [0.0, 0.25]])
    """
    rank_tol = door.tolerance("rank_tol", rank_tol)
    M = door.real("M", M, 2)
    mu, c = door.real("mu", mu, 1), door.real("c", c, 1)
    log_ratios, t = door.real("log_ratios", log_ratios, 1), door.weak("t", t, M)
    heads, width = M.shape[-2:]
    for name, array, length, where in (
        ("mu", mu, width, "the columns of M"),
        ("c", c, width, "the columns of M"),
        ("log_ratios", log_ratios, heads, "the rows of M"),
    ):
        door.same_axis(where, length, name, array.shape[-1])
    door.at_most("t", door.at_least("t", t, 0, strict=True), 1)
    batch = door.common_batch(mu=(mu, 1), c=(c, 1), log_ratios=(log_ratios, 1), M=(M, 2), t=(t, 0))
    surprise = log_ratios + (M @ (c - mu)[..., None])[..., 0]
    reach = np.linalg.norm(M, axis=(-2, -1)) * t  # what a token typically moves the row by
    check_support(
        "log_ratios",
        np.swapaxes(M, -1, -2),
        surprise,
        reach,
        np.linalg.norm(log_ratios, axis=-1)
        + np.abs(M).max(axis=(-2, -1)) * (np.linalg.norm(c, axis=-1) + np.linalg.norm(mu, axis=-1)),
        rank_tol,
    )
    mean = kernels.token_mean(mu, c, log_ratios, M, rank_tol=rank_tol)
    cov = kernels.residual_cov(t, M, rank_tol=rank_tol)
    return TokenPosterior(fill_batch(np, mean, batch, 1), fill_batch(np, cov, batch, 2))


def _surely_invertible(cov_oo: door.Floats, rank_tol: float | None) -> bool:
    """Whether every observed block has all its Cholesky pivots above the tolerance."""
    if cov_oo.size == 0:
        return True
    try:
        factor = np.linalg.cholesky(cov_oo)
    except np.linalg.LinAlgError:
        return False
    pivots = np.diagonal(factor, axis1=-2, axis2=-1) ** 2
    variances = np.diagonal(cov_oo, axis1=-2, axis2=-1)
    return bool((pivots > rank_tolerance(np, cov_oo, rank_tol) * variances).all())
