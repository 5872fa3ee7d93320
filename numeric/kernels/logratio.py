"""Kernels of the subject `logratio`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/logratio.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.linear_algebra import batch_contiguous
from numeric.namespace import (
    Array,
    Namespace,
    diagonal_mask,
    dot_products,
    drop_entry,
    insert_zero,
    namespace,
    real_arrays,
    root_of_smallest,
    smallest_normal,
    sum_of_others,
    value_at_largest,
)

__all__ = [
    "jacobian",
    "log_det_jacobian",
    "log_det_jacobian_gradient",
    "log_ratios",
    "log_ratios_of_row",
    "row",
    "row_from_log_ratios",
    "row_jvp",
    "softmax_jacobian",
]


@errstate(under="ignore")
def row(logits: Array, *, xp: Namespace = None) -> Array:
    r"""Softmax row of a head.

    .. math:: s_j = e^{x_j} / \sum_k e^{x_k}

    Args:
        logits: shape ``(*batch, P)``; logits of one head.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        row: ``(*batch, P)``; probabilities.

    Domain: any finite logits. Arguments are trusted; the algorithms of `numeric` check them.

    Chosen forms:
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.

    Worst relative error, float64, held by a test:
        typical: logits of order 1 to 10: 5e-15 of each entry.
        saturated: one logit ahead by 40: 1e-14 of each entry.
        huge: logits of +-800; normal entries: 1e-13 of each entry.

    Operations: 1 -, 1 /, 1 batch_contiguous, 1 exp, 1 max, 1 sum.

    Source: FB-5 (eq. 5). Derivation: logratio.row, tree sha256:4bbd66e17a388520.
    """
    xp = namespace(xp, logits)
    (logits,) = real_arrays(xp, logits)
    logits = batch_contiguous(xp, logits, 1)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    return weights / xp.sum(weights, axis=-1)[..., None]


@errstate(under="ignore")
def log_ratios(logits: Array, anchor: int, *, xp: Namespace = None) -> Array:
    r"""Log-ratios of a row, from its logits.

    .. math:: l_j = \log(s_j / s_i) = x_j - x_i, \qquad j \neq i

    Args:
        logits: shape ``(*batch, P)``; logits of one head.
        anchor: int; index of the anchor, 0 <= anchor < P.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        log_ratios: ``(*batch, P - 1)``; log-ratios to the anchor, without the anchor's own
            zero.

    Domain: any finite logits. Arguments are trusted; the algorithms of `numeric` check them.

    Worst relative error, float64, held by a test:
        typical: logits of order 1 to 10: 3e-16 of each entry.
        huge: logits of +-800: 3e-16 of each entry.

    Operations: 1 -, 1 drop_entry.

    Source: FB-5 (eq. 6). Derivation: logratio.log_ratios, tree sha256:6f50b2533ed937a2.
    """
    xp = namespace(xp, logits)
    (logits,) = real_arrays(xp, logits)
    return drop_entry(xp, logits, anchor) - logits[..., anchor, None]


@errstate(under="ignore")
def log_ratios_of_row(row: Array, anchor: int, *, xp: Namespace = None) -> Array:
    r"""Log-ratios of a row, from its entries.

    .. math:: l_j = \log(s_j / s_i), \qquad j \neq i

    Args:
        row: shape ``(*batch, P)``; probabilities, all above 0.
        anchor: int; index of the anchor, 0 <= anchor < P.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        log_ratios: ``(*batch, P - 1)``; log-ratios to the anchor, without the anchor's own
            zero.

    Domain: 1e150 > row > 0. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: all entries are positive.

    Chosen forms:
        log_ratio: log(a/b) = sign(a - b) log1p(|a - b|/min(a, b)) = log a - log b, for 1e150 >
            a > 0, 1e150 > b > 0; the third where the quotient overflows. Why: a/b rounds to 1
            for a near b, and log a - log b cancels unless they are far apart. Proved:
            forms.log_ratio.

    Worst relative error, float64, held by a test:
        typical: entries in [1e-3, 1]: 1e-15 of each entry.
        near: entries that agree to 1e-12: 1e-15 of each entry.
        tiny: entries down to 1e-300: 1e-15 of each entry.

    It looks at values to choose a branch: not to be traced.

    Operations: 4 -, 1 *, 2 /, 3 abs, 1 any, 2 copysign, 1 drop_entry, 2 log, 2 log1p, 1
    minimum, 1 root_of_smallest, 1 smallest_normal, 2 where.

    Source: FB-5 (eq. 6). Derivation: logratio.log_ratios_of_row, tree sha256:c6ac8d069acac40e.
    """
    xp = namespace(xp, row)
    (row,) = real_arrays(xp, row)
    others = drop_entry(xp, row, anchor)
    own = row[..., anchor]
    smaller = xp.minimum(others, own[..., None])
    extreme = smaller < root_of_smallest(xp, own)
    if xp.any(extreme):
        far = smaller < xp.abs(own[..., None] - others) * smallest_normal(xp, own)
        near = xp.where(far, 0, others - own[..., None]) / smaller
        near_log = xp.copysign(xp.log1p(xp.abs(near)), near)
        log_ratio = xp.where(far, xp.log(others) - xp.log(own[..., None]), near_log)
    else:
        growth = (others - own[..., None]) / smaller
        log_ratio = xp.copysign(xp.log1p(xp.abs(growth)), growth)
    return log_ratio


@errstate(under="ignore")
def row_from_log_ratios(log_ratios: Array, anchor: int, *, xp: Namespace = None) -> Array:
    r"""Row from its log-ratios.

    .. math:: s_i = \Big(1 + \sum_{j \ne i} e^{l_j}\Big)^{-1}, \qquad s_j = s_i e^{l_j}

    Args:
        log_ratios: shape ``(*batch, P - 1)``; log-ratios to the anchor, in the order of the
            other tokens.
        anchor: int; index of the anchor, 0 <= anchor < P.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        row: ``(*batch, P)``; probabilities, the anchor's at its place.

    Domain: any finite log-ratios. Arguments are trusted; the algorithms of `numeric` check
    them.

    Chosen forms:
        anchor_zero: 1 + sum_{j != i} exp(l_j) = sum_j exp(l_j) with l_i = 0, for any real l.
            Why: the anchor is one more logit, so that the shift covers it too. Proved:
            forms.anchor_zero.
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.

    Worst relative error, float64, held by a test:
        typical: log-ratios of order 1 to 10: 5e-15 of each entry.
        saturated: one log-ratio of +-40: 1e-14 of each entry.
        huge: log-ratios of +-800; normal entries: 1e-13 of each entry.

    Operations: 1 -, 1 /, 1 batch_contiguous, 1 exp, 1 insert_zero, 1 max, 1 sum.

    Source: FB-5 (eq. 6). Derivation: logratio.row_from_log_ratios, tree
    sha256:6371326e2209b7d4.
    """
    xp = namespace(xp, log_ratios)
    (log_ratios,) = real_arrays(xp, log_ratios)
    logits = insert_zero(xp, log_ratios, anchor)
    logits = batch_contiguous(xp, logits, 1)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    return weights / xp.sum(weights, axis=-1)[..., None]


@errstate(under="ignore")
def jacobian(row: Array, anchor: int, *, xp: Namespace = None) -> Array:
    r"""Jacobian of the log-ratios by the free probabilities.

    .. math:: \partial l_j / \partial s_k = \delta_{jk}/s_j + 1/s_i, \qquad j, k \neq i

    Args:
        row: shape ``(*batch, P)``; probabilities, all above 0.
        anchor: int; index of the anchor, 0 <= anchor < P.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        jacobian: ``(*batch, P - 1, P - 1)``; derivatives, without the anchor's row and column.

    Domain: row above 1e-300. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: all entries are positive; the entries sum to one.

    Worst relative error, float64, held by a test:
        typical: entries in [1e-3, 1]: 1e-15 of each entry.
        tiny: entries down to 1e-300: 1e-15 of each entry.

    Operations: 1 +, 1 -, 2 /, 1 diagonal_mask, 1 drop_entry, 1 where.

    Source: FB-11 (eq. 11). Derivation: logratio.jacobian, tree sha256:677ef3a5ecfa40a9.
    """
    xp = namespace(xp, row)
    (row,) = real_arrays(xp, row)
    return 1 / row[..., anchor, None, None] + xp.where(
        diagonal_mask(xp, row.shape[-1] - 1, row), 1 / drop_entry(xp, row, anchor)[..., None], 0
    )


@errstate(under="ignore")
def log_det_jacobian(logits: Array, *, xp: Namespace = None) -> Array:
    r"""Log-determinant of the Jacobian of the log-ratios.

    .. math:: \log\det\frac{\partial l}{\partial s} = -\sum_{j=1}^{P} \log s_j

    Args:
        logits: shape ``(*batch, P)``; logits of one head.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        log_det: ``batch``; log-determinant; it does not depend on the anchor.

    Domain: any finite logits. Arguments are trusted; the algorithms of `numeric` check them.

    Chosen forms:
        log_max_shift: log(exp(x_j)/sum_k exp(x_k)) = (x_j - m) - log sum_k exp(x_k - m), m =
            max x, for any real x. Why: a probability that underflows has a finite logarithm.
            Proved: forms.log_max_shift.

    Worst relative error, float64, held by a test:
        typical: logits of order 1 to 10: 3e-15 of each entry.
        saturated: one logit ahead by 40: 3e-15 of each entry.
        huge: logits of +-800, where the determinant overflows: 3e-15 of each entry.

    Operations: 3 -, 1 batch_contiguous, 1 exp, 1 log, 1 max, 2 sum.

    Source: FB-11 (eq. 11). Derivation: logratio.log_det_jacobian, tree sha256:5d6245e133b7b2e1.
    """
    xp = namespace(xp, logits)
    (logits,) = real_arrays(xp, logits)
    logits = batch_contiguous(xp, logits, 1)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    log_total = xp.log(xp.sum(xp.exp(logits_shifted), axis=-1))
    return -xp.sum(logits_shifted - log_total[..., None], axis=-1)


@errstate(under="ignore")
def log_det_jacobian_gradient(logits: Array, *, xp: Namespace = None) -> Array:
    r"""Gradient of the log-determinant of the Jacobian by the logits.

    .. math:: \partial_{x_j} \Big(-\sum_{k=1}^{P} \log s_k\Big) = P s_j - 1

    Args:
        logits: shape ``(*batch, P)``; logits of one head.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        gradient: ``(*batch, P)``; derivatives of log_det by logits.

    Domain: any finite logits. Arguments are trusted; the algorithms of `numeric` check them.

    Chosen forms:
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.

    Worst relative error, float64, held by a test:
        typical: logits of order 1 to 10: 1e-14 of the number of tokens.
        saturated: one logit ahead by 40: 1e-14 of the number of tokens.
        huge: logits of +-800: 1e-13 of the number of tokens.

    Operations: 2 -, 1 *, 1 /, 1 batch_contiguous, 1 exp, 1 max, 1 sum.

    Source: FB-11 (eq. 11). Derivation: logratio.log_det_jacobian_gradient, tree
    sha256:e4b4fe0aade2d74b.
    """
    xp = namespace(xp, logits)
    (logits,) = real_arrays(xp, logits)
    logits = batch_contiguous(xp, logits, 1)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    row = weights / xp.sum(weights, axis=-1)[..., None]
    return row * logits.shape[-1] - 1


@errstate(under="ignore")
def softmax_jacobian(logits: Array, *, xp: Namespace = None) -> Array:
    r"""Jacobian of the row by its logits.

    .. math:: \partial s_j / \partial x_k = s_j (\delta_{jk} - s_k)

    Args:
        logits: shape ``(*batch, P)``; logits of one head.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        jacobian: ``(*batch, P, P)``; derivatives, symmetric, with rows that sum to zero.

    Domain: any finite logits. Arguments are trusted; the algorithms of `numeric` check them.

    Chosen forms:
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.
        complement: s_j (delta_jk - s_k) = s_j sum_{k != j} s_k on the diagonal, for entries
            that sum to one. Why: 1 - s_j loses every digit once s_j rounds to 1; the others'
            sum keeps them. Proved: forms.complement.

    Worst relative error, float64, held by a test:
        typical: logits of order 1 to 10: 1e-14 of each entry.
        saturated: one logit ahead by 40: 1.4e-14 of each entry.
        huge: logits of +-800; normal entries: 1e-13 of each entry.

    Operations: 2 -, 1 *, 1 /, 1 batch_contiguous, 1 diagonal_mask, 1 exp, 1 max, 1 sum, 1
    sum_of_others, 1 where.

    Source: FB-5, FB-11. Derivation: logratio.softmax_jacobian, tree sha256:9e38ad4edd346379.
    """
    xp = namespace(xp, logits)
    (logits,) = real_arrays(xp, logits)
    logits = batch_contiguous(xp, logits, 1)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    row = weights / xp.sum(weights, axis=-1)[..., None]
    others = sum_of_others(xp, row)
    return row[..., None] * xp.where(
        diagonal_mask(xp, logits.shape[-1], logits), others[..., None], -row[..., None, :]
    )


@errstate(under="ignore")
def row_jvp(logits: Array, d_logits: Array, *, xp: Namespace = None) -> Array:
    r"""Change of the softmax row along a direction of its logits.

    .. math:: \mathrm{d}s_j = s_j \Big(\mathrm{d}x_j - \sum_k s_k\,\mathrm{d}x_k\Big)

    Args:
        logits: shape ``(*batch, P)``; logits of one head.
        d_logits: shape ``(*batch, P)``; direction in which logits changes.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        row_jvp: ``(*batch, P)``; change of: probabilities.

    Domain: any finite logits. Arguments are trusted; the algorithms of `numeric` check them.

    Chosen forms:
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.
        mean_deviation: x_j - sum_k s_k x_k = (x_j - c) - sum_k s_k (x_k - c), c = x where s is
            largest, for entries s_k that sum to one. Why: x_j cancels against its own share of
            the mean where s_j is near 1; the difference from c is small there from the start.
            Proved: forms.mean_deviation.

    Worst relative error, float64, held by a test:
        typical: logits of order 1 to 10: 1e-14 of the weighted spread.
        saturated: one logit ahead by 40: 3e-14 of the weighted spread.
        huge: logits of +-800: 1e-13 of the weighted spread.

    Operations: 3 -, 1 *, 1 /, 2 batch_contiguous, 1 dot_products, 1 exp, 1 max, 1 sum, 1
    value_at_largest.

    Source: FB-5 (eq. 5). Derivation: logratio.row_jvp, tree sha256:9cca289303f902d8.
    """
    xp = namespace(xp, logits, d_logits)
    logits, d_logits = real_arrays(xp, logits, d_logits)
    logits = batch_contiguous(xp, logits, 1)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    row = weights / xp.sum(weights, axis=-1)[..., None]
    d_logits = batch_contiguous(xp, d_logits, 1)
    center = value_at_largest(xp, row, d_logits)
    centered = d_logits - center[..., None]
    mean = dot_products(xp, centered, row)
    return (centered - mean[..., None]) * row
