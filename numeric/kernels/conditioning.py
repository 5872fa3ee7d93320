"""Kernels of the subject `conditioning`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/conditioning.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.linear_algebra import (
    batch_contiguous,
    kernel_projector,
    pivot_floor,
    pseudo_inverse,
    symmetric_part,
    symmetric_pseudo_inverse,
)
from numeric.namespace import Array, Namespace, batch_shape, fill_batch, namespace, real_arrays

__all__ = ["gaussian_elimination", "gaussian_pinv", "residual_cov", "token_mean"]


@errstate(under="ignore")
def gaussian_pinv(
    mean_u: Array,
    mean_o: Array,
    cov_uu: Array,
    cov_uo: Array,
    cov_oo: Array,
    value: Array,
    *,
    rank_tol: float | None = None,
    xp: Namespace = None,
) -> tuple[Array, Array]:
    r"""Law of the unobserved coordinates of a Gaussian, any rank.

    .. math:: m_u + \Sigma_{uo}\Sigma_{oo}^{+}(x_o - m_o), \qquad \Sigma_{uu} -
        \Sigma_{uo}\Sigma_{oo}^{+}\Sigma_{ou}

    Args:
        mean_u: shape ``(*batch, u)``; mean of the unobserved coordinates.
        mean_o: shape ``(*batch, k)``; mean of the observed coordinates.
        cov_uu: shape ``(*batch, u, u)``; their covariance, unobserved with unobserved.
        cov_uo: shape ``(*batch, u, k)``; unobserved with observed.
        cov_oo: shape ``(*batch, k, k)``; observed with observed.
        value: shape ``(*batch, k)``; observed values.
        rank_tol: what counts as zero, relative to the largest; default: the number of entries
            times eps, and 0 for exact arrays.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        mean: ``(*batch, u)``; conditional mean of the unobserved coordinates.
        residual_cov: ``(*batch, u, u)``; conditional covariance, symmetric.

    Domain: joint covariance psd of any rank; value in the support. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: the joint covariance [[cov_uu, cov_uo], [cov_uo', cov_oo]] is symmetric psd;
    value lies in the support of the observed law.

    Eigenvalues of cov_oo below rank_tol times the largest count as zero.

    Chosen forms:
        symmetric_pinv: S^+ = V diag(1/w) V' over the eigenvalues w above rank_tol * max w, for
            symmetric psd S. Why: a singular covariance is a normal case, and its inverse does
            not exist. Proved: forms.symmetric_pinv.

    Worst relative error, float64, held by a test:
        typical: joint condition up to 1e3: 3e-13 of the prior.
        singular: observed block of any lower rank, with duplicates: 1e-13 of the prior.
        ill-conditioned: joint condition 1e14 in a random basis: 0.001 of the prior.
        tiny: covariances scaled by 1e-150: 3e-13 of the prior.

    Operations: 1 +, 2 -, 3 @, 1 matrix_transpose, 1 symmetric_part, 1 symmetric_pseudo_inverse.

    Source: FB-3; Murphy (2007), eq. (3). Derivation: conditioning.gaussian_pinv, tree
    sha256:4bf979e378877dac.
    """
    xp = namespace(xp, mean_u, mean_o, cov_uu, cov_uo, cov_oo, value)
    mean_u, mean_o, cov_uu, cov_uo, cov_oo, value = real_arrays(
        xp, mean_u, mean_o, cov_uu, cov_uo, cov_oo, value
    )
    batch = batch_shape((mean_u, 1), (mean_o, 1), (cov_uu, 2), (cov_uo, 2), (cov_oo, 2), (value, 1))
    gain = cov_uo @ symmetric_pseudo_inverse(xp, cov_oo, rank_tol)
    innovation = value - mean_o
    mean = mean_u + (gain @ innovation[..., None])[..., 0]
    residual_cov = symmetric_part(xp, cov_uu - gain @ xp.matrix_transpose(cov_uo))
    return fill_batch(xp, mean, batch, 1), fill_batch(xp, residual_cov, batch, 2)


@errstate(under="ignore")
def gaussian_elimination(
    mean_u: Array,
    mean_o: Array,
    cov_uu: Array,
    cov_uo: Array,
    cov_oo: Array,
    value: Array,
    *,
    rank_tol: float | None = None,
    xp: Namespace = None,
) -> tuple[Array, Array]:
    r"""Law of the unobserved coordinates of a Gaussian, by elimination.

    .. math:: m_u + \Sigma_{uo}\Sigma_{oo}^{-1}(x_o - m_o), \qquad \Sigma_{uu} -
        \Sigma_{uo}\Sigma_{oo}^{-1}\Sigma_{ou}

    Args:
        mean_u: shape ``(*batch, u)``; mean of the unobserved coordinates.
        mean_o: shape ``(*batch, k)``; mean of the observed coordinates.
        cov_uu: shape ``(*batch, u, u)``; their covariance, unobserved with unobserved.
        cov_uo: shape ``(*batch, u, k)``; unobserved with observed.
        cov_oo: shape ``(*batch, k, k)``; observed with observed.
        value: shape ``(*batch, k)``; observed values.
        rank_tol: what counts as zero, relative to the largest; default: the number of entries
            times eps, and 0 for exact arrays.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        mean: ``(*batch, u)``; conditional mean of the unobserved coordinates.
        residual_cov: ``(*batch, u, u)``; conditional covariance, symmetric.

    Domain: joint covariance psd; where cov_oo is singular, value in the support. Arguments are
    trusted; the algorithms of `numeric` check them.

    Hypotheses: the joint covariance [[cov_uu, cov_uo], [cov_uo', cov_oo]] is symmetric psd;
    cov_oo is invertible, or value lies in the support.

    A pivot below rank_tol times its variance before elimination is a coordinate that the
    earlier ones determine; it is passed over.

    Chosen forms:
        elimination: S - C R^-1 C' = the Schur complements of single pivots, one after another,
            for psd joint covariance; a pivot below rank_tol times its first value is passed
            over. Why: an explicit inverse loses the symmetry and the scale of each coordinate;
            a sweep keeps what is left psd up to rounding, also for a graded or singular block.
            Proved: forms.elimination, forms.zero_pivot.

    Worst relative error, float64, held by a test:
        typical: joint condition up to 1e3: 3e-14 of the prior.
        graded: condition 1e14 from scales of 1 to 1e-7: 1e-13 of the prior.
        ill-conditioned: joint condition 1e14 in a random basis: 1e-05 of the prior.
        singular: observed block of any lower rank, with duplicates: 1e-13 of the prior.

    Operations: 1 -, 5 batch_contiguous, 1 pivot_floor, 1 symmetric_part; each step of the loop:
    1 +, 4 -, 7 *, 1 /, 2 where.

    Source: FB-3; Murphy (2007), eq. (3). Derivation: conditioning.gaussian_elimination, tree
    sha256:be6f04711be8b5a3.
    """
    xp = namespace(xp, mean_u, mean_o, cov_uu, cov_uo, cov_oo, value)
    mean_u, mean_o, cov_uu, cov_uo, cov_oo, value = real_arrays(
        xp, mean_u, mean_o, cov_uu, cov_uo, cov_oo, value
    )
    batch = batch_shape((mean_u, 1), (mean_o, 1), (cov_uu, 2), (cov_uo, 2), (cov_oo, 2), (value, 1))
    innovation = value - mean_o
    # Batch axes last in memory: each step then runs along contiguous entries.
    oo = batch_contiguous(xp, cov_oo, 2)
    uo = batch_contiguous(xp, cov_uo, 2)
    mean = batch_contiguous(xp, mean_u, 1)
    residual_cov = batch_contiguous(xp, cov_uu, 2)
    innovation = batch_contiguous(xp, innovation, 1)
    floor = pivot_floor(xp, cov_oo, rank_tol)
    for step in range(cov_oo.shape[-1]):
        pivot = oo[..., 0, 0]
        kept = pivot > floor[..., step]
        inverse_pivot = xp.where(kept, 1 / xp.where(kept, pivot, 1), 0)
        coupling = uo[..., 0]
        others = oo[..., 1:, 0]
        gain = coupling * inverse_pivot[..., None]
        weight = others * inverse_pivot[..., None]
        mean = mean + gain * innovation[..., 0, None]
        innovation = innovation[..., 1:] - innovation[..., 0, None] * weight
        residual_cov = residual_cov - coupling[..., None, :] * gain[..., None]
        uo = uo[..., 1:] - gain[..., None] * others[..., None, :]
        oo = oo[..., 1:, 1:] - others[..., None, :] * weight[..., None]
    residual_cov = symmetric_part(xp, residual_cov)
    return fill_batch(xp, mean, batch, 1), fill_batch(xp, residual_cov, batch, 2)


@errstate(under="ignore")
def residual_cov(
    t: Array, M: Array, *, rank_tol: float | None = None, xp: Namespace = None
) -> Array:
    r"""Covariance of a corrupted token given its log-ratios.

    .. math:: R = t^2 (I_d - M^{+} M)

    Args:
        t: shape ``batch``; corruption level, above 0.
        M: shape ``(*batch, H, d)``; row h is c' Q_h' K_h / sqrt(k_h).
        rank_tol: what counts as zero, relative to the largest; default: the number of entries
            times eps, and 0 for exact arrays.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        residual_cov: ``(*batch, d, d)``; covariance of the token, the same for every component.

    Domain: t > 0; any real M. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: 0 < t <= 1; M has any rank; heads may be duplicates.

    Singular values of M below rank_tol times the largest count as zero.

    Chosen forms:
        kernel_projector: I - A^+ A = I - V V', V the right singular vectors of A, for any real
            A; V belongs to the singular values above rank_tol times the largest. Why: A^+ times
            A has the error eps times the condition of A; V V' has the error eps. Proved:
            forms.kernel_projector.

    Worst relative error, float64, held by a test:
        typical: M with condition up to 1e3: 1e-13 of t^2.
        ill-conditioned: M with singular values from 1 to 1e-12: 0.001 of t^2.
        singular: M of lower rank: duplicate heads, zero rows: 1e-14 of t^2.
        scaled: M scaled by 1e-150 or by 1e150: 1e-13 of t^2.

    Operations: 1 *, 1 **, 1 kernel_projector, 1 symmetric_part.

    Source: FB-7 (eq. 8). Derivation: conditioning.residual_cov, tree sha256:874ff702e07a50f1.
    """
    xp = namespace(xp, t, M)
    t, M = real_arrays(xp, t, M)
    return symmetric_part(xp, t[..., None, None]**2 * kernel_projector(xp, M, rank_tol))


@errstate(under="ignore")
def token_mean(
    mu: Array,
    c: Array,
    log_ratios: Array,
    M: Array,
    *,
    rank_tol: float | None = None,
    xp: Namespace = None,
) -> Array:
    r"""Mean of a corrupted token given its log-ratios.

    .. math:: m = \mu + M^{+}(l + M c - M \mu)

    Args:
        mu: shape ``(*batch, d)``; mean of the token before the row is seen.
        c: shape ``(*batch, d)``; the query token, c.
        log_ratios: shape ``(*batch, H)``; log-ratios of the token, one a head.
        M: shape ``(*batch, H, d)``; row h is c' Q_h' K_h / sqrt(k_h).
        rank_tol: what counts as zero, relative to the largest; default: the number of entries
            times eps, and 0 for exact arrays.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        mean: ``(*batch, d)``; mean of the token given its log-ratios.

    Domain: any real M; l + M c in the range of M. Arguments are trusted; the algorithms of
    `numeric` check them.

    Hypotheses: l + M c lies in the range of M; M has any rank; heads may be duplicates.

    Singular values of M below rank_tol times the largest count as zero.

    Chosen forms:
        pinv: A^+ = V diag(1/s) U' over the singular values s above rank_tol * max s, for any
            real A. Why: right at any rank. Proved: forms.pinv.

    Worst relative error, float64, held by a test:
        typical: M with condition up to 1e3: 1e-13 of the mean.
        ill-conditioned: M with singular values from 1 to 1e-12: 0.01 of the mean.
        singular: M of lower rank: duplicate heads, zero rows: 1e-13 of the mean.

    Operations: 2 +, 1 -, 3 @, 1 pseudo_inverse.

    Source: FB-7 (eq. 8). Derivation: conditioning.token_mean, tree sha256:296dc2a9af03436c.
    """
    xp = namespace(xp, mu, c, log_ratios, M)
    mu, c, log_ratios, M = real_arrays(xp, mu, c, log_ratios, M)
    surprise = log_ratios + (M @ c[..., None])[..., 0] - (M @ mu[..., None])[..., 0]
    return mu + (pseudo_inverse(xp, M, rank_tol) @ surprise[..., None])[..., 0]
