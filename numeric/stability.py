"""How far errors in a row carry: to log-ratios, tokens, and the posterior of the components."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import DomainError
from numeric.kernels import stability as kernels


def log_ratio_margin(delta: ArrayLike, tau_margin: ArrayLike) -> door.Floats:
    r"""How far a log-ratio can be off where each entry of the row is known to ``delta/2``.

    .. math:: |\Delta l_{hj}| \le -2\log(1 - \delta/2\tau)

    Args:
        delta: width of the interval that an entry is known to, at least 0, shape ``batch``.
        tau_margin: what the entries are at least, above ``delta/2``, shape ``batch``.

    Returns:
        the bound, shape ``batch``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: an argument is no array of finite real numbers.
        DomainError: ``0 <= delta < 2 tau_margin`` fails.

    Source: FB-12d. Kernel: `stability.margin`.

    Example:
        >>> round(float(log_ratio_margin(0.001, 0.01)), 6)
        0.102587
    """
    delta, tau = door.arrays(delta=(delta, ""), tau_margin=(tau_margin, ""))
    _check_margin(delta, tau)
    return kernels.margin(delta, tau)


def recovery_bound(
    delta: ArrayLike, tau_margin: ArrayLike, n_heads: ArrayLike, sigma_min: ArrayLike
) -> door.Floats:
    r"""How far a token that is recovered from its log-ratios can be off.

    .. math:: |\Delta z_j| \le -2\sqrt{H}\log(1 - \delta/2\tau) / \sigma_{\min}(M)

    Args:
        delta: width of the interval that an entry is known to, at least 0, shape ``batch``.
        tau_margin: what the entries are at least, above ``delta/2``, shape ``batch``.
        n_heads: number of heads, at least 1, shape ``batch``.
        sigma_min: least singular value of M that isn't zero, above 0, shape ``batch``.

    Returns:
        bound on the change of the token in the row space of M, shape ``batch``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: an argument is no array of finite real numbers.
        DomainError: an argument is outside its domain.

    Source: FB-12d. Kernel: `stability.recovery_bound`.

    Example:
        >>> round(float(recovery_bound(0.001, 0.01, 4, 2.0)), 6)
        0.102587
    """
    delta, tau, heads, least = door.arrays(
        delta=(delta, ""),
        tau_margin=(tau_margin, ""),
        n_heads=(n_heads, ""),
        sigma_min=(sigma_min, ""),
    )
    _check_margin(delta, tau)
    door.at_least("n_heads", heads, 1)
    door.at_least("sigma_min", least, 0, strict=True)
    return kernels.recovery_bound(delta, tau, heads, least)


class Stability(NamedTuple):
    """Bounds on what an error in the row does to the posterior; every field of shape ``batch``.

    Attributes:
        log_odds: bound on the change of any log-odds.
        total_variation: bound on the total variation between the posteriors.
        noise_mean: bound on the change of the noise mean.
    """

    log_odds: door.Floats
    total_variation: door.Floats
    noise_mean: door.Floats


def stability_bound(
    delta: ArrayLike,
    tau_margin: ArrayLike,
    n_heads: int,
    n_tokens: int,
    sigma_min: ArrayLike,
    contrast: ArrayLike,
    spread: ArrayLike,
    t: ArrayLike,
) -> Stability:
    r"""How far the posterior given query token and row can be off, the query token exact.

    .. math:: \lambda = \max|\Delta_{nm}|\,
              \frac{-2\sqrt{H(P-1)}\,\log(1-\delta/2\tau)}{t^2\,\sigma^+_{\min}(M)}, \qquad
              TV \le \tanh(\lambda/4), \qquad
              |\Delta m| \le \tfrac{1-t}{t} D_i \tanh(\lambda/4)

    Args:
        delta: width of the interval that an entry is known to, at least 0, shape ``batch``.
        tau_margin: what the entries are at least, above ``delta/2``, shape ``batch``.
        n_heads: number of heads, H.
        n_tokens: number of tokens, P.
        sigma_min: least singular value of M that isn't zero, above 0, shape ``batch``.
        contrast: largest ``|Delta_nm|`` of the other tokens' corrupted means, shape ``batch``.
        spread: largest distance between clean targets of two components, D_i, shape ``batch``.
        t: corruption level in (0, 1], shape ``batch``.

    Returns:
        bounds on the changes of the log-odds, in total variation, and of the noise mean.

    Raises:
        ShapeError, DtypeError, NonFiniteError: an argument is no array of finite real numbers.
        DomainError: an argument is outside its domain.

    Source: FB-12g. Kernel: `stability.stability_bound`.

    Example:
        >>> bounds = stability_bound(0.001, 0.01, 1, 2, 1.0, 1.0, 1.0, 0.5)
        >>> round(float(bounds.total_variation), 6), round(float(bounds.noise_mean), 6)
        (0.102228, 0.102228)
    """
    delta, tau, least, contrast, spread, t = door.arrays(
        delta=(delta, ""),
        tau_margin=(tau_margin, ""),
        sigma_min=(sigma_min, ""),
        contrast=(contrast, ""),
        spread=(spread, ""),
        t=(t, ""),
    )
    _check_margin(delta, tau)
    door.at_least("sigma_min", least, 0, strict=True)
    door.at_least("contrast", contrast, 0)
    door.at_least("spread", spread, 0)
    door.corruption("t", t)
    for name, count in (("n_heads", n_heads), ("n_tokens", n_tokens)):
        if count != int(count) or count < 1:
            raise DomainError(name, "a positive integer", repr(count))
    ratios = np.asarray(n_heads * (n_tokens - 1), dtype=t.dtype)
    return Stability(*kernels.stability_bound(delta, tau, ratios, least, contrast, spread, t))


def query_error_bound(
    Q: ArrayLike, K: ArrayLike, distance: ArrayLike, *, key_sizes: ArrayLike | None = None
) -> door.Floats:
    r"""How far the measurement matrix can be off where the query token is off by a distance.

    .. math:: \|M(c) - M(c')\|_F \le \Big(\sum_h \|Q_h^\top K_h\|^2/k_h\Big)^{1/2} |c - c'|

    Args:
        Q: query maps, shape ``(*batch, H, k, d)``.
        K: key maps, shape ``(*batch, H, k, d)``.
        distance: ``|c - c'|``, at least 0, shape ``batch``.
        key_sizes: k_h of each head, above 0, shape ``(*batch, H)``. Default: k.

    Returns:
        the bound, with spectral norms of the heads, shape ``batch``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: a distance is negative, or a key size is not positive.

    Source: FB-12e. Kernel: `stability.query_error`.

    Example:
        >>> float(query_error_bound([[[2.0]]], [[[3.0]]], 0.5))
        3.0
    """
    given = {"Q": (Q, "H k d"), "K": (K, "H k d"), "distance": (distance, "")}
    if key_sizes is not None:
        given["key_sizes"] = (key_sizes, "H")
    Q, K, distance, *sizes = door.arrays(**given)
    door.at_least("distance", distance, 0)
    shown = sizes[0] if sizes else np.full(Q.shape[-3], Q.shape[-2], dtype=Q.dtype)
    door.at_least("key_sizes", shown, 0, strict=True)
    norms = np.linalg.norm(np.swapaxes(Q, -1, -2) @ K, ord=2, axis=(-2, -1))
    return kernels.query_error(norms, shown, distance)


def _check_margin(delta: door.Floats, tau: door.Floats) -> None:
    door.at_least("delta", delta, 0)
    door.at_least("tau_margin", tau, 0, strict=True)
    if (delta >= 2 * tau).any():
        raise DomainError(
            "delta",
            "numbers below 2 tau_margin",
            f"{float(np.max(delta)):g}",
            "so wide an interval says nothing of the log-ratio",
        )
