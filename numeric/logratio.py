"""Softmax rows and their log-ratios to an anchor, with the Jacobians between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import ShapeError
from numeric.kernels import logratio as kernels


def softmax_row(logits: ArrayLike) -> door.Floats:
    """Probabilities of the logits, right where their exponentials overflow.

    Args:
        logits: finite, shape ``(*batch, P)`` with P at least 1.

    Returns:
        the row, shape ``(*batch, P)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: `logits` is no such array.

    Source: FB-5 (eq. 5). Kernel: `logratio.row`.

    Example:
        >>> softmax_row([800.0, 800.0]).tolist()
        [0.5, 0.5]
    """
    return kernels.row(_tokens("logits", logits))


def log_ratios(logits: ArrayLike, anchor: int) -> door.Floats:
    """Log-ratios ``log(s_j/s_anchor)`` of the softmax row, for the tokens other than the anchor.

    Args:
        logits: finite, shape ``(*batch, P)``.
        anchor: index of the anchor.

    Returns:
        log-ratios, shape ``(*batch, P-1)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: `logits` is no such array.
        DomainError: the anchor is no index of a token.

    Source: FB-5 (eq. 6). Kernel: `logratio.log_ratios`.

    Example:
        >>> log_ratios([1.0, 3.0, 2.0], 2).tolist()
        [-1.0, 1.0]
    """
    logits = _tokens("logits", logits)
    return kernels.log_ratios(logits, door.position("anchor", anchor, logits.shape[-1]))


def log_ratios_of_row(row: ArrayLike, anchor: int) -> door.Floats:
    """Log-ratios ``log(s_j/s_anchor)`` from the probabilities themselves.

    Where the logits are at hand `log_ratios` is better: it still answers where a probability has
    underflowed.

    Args:
        row: positive, shape ``(*batch, P)``; need not be normalized.
        anchor: index of the anchor.

    Returns:
        log-ratios, shape ``(*batch, P-1)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: `row` is no such array.
        DomainError: an entry is not positive, or the anchor is no index of a token.

    Source: FB-5 (eq. 6). Kernel: `logratio.log_ratios_of_row`.

    Example:
        >>> log_ratios_of_row([0.25, 0.25, 0.5], 0).tolist()
        [0.0, 0.6931471805599453]
    """
    row = door.at_least("row", _tokens("row", row), 0, strict=True)
    return kernels.log_ratios_of_row(row, door.position("anchor", anchor, row.shape[-1]))


def row_from_log_ratios(log_ratios: ArrayLike, anchor: int) -> door.Floats:
    """The row that has these log-ratios.

    Args:
        log_ratios: finite, shape ``(*batch, P-1)``, in the order of the other tokens.
        anchor: index of the anchor among the P tokens.

    Returns:
        the row, shape ``(*batch, P)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: `log_ratios` is no such array.
        DomainError: the anchor is no index of a token.

    Source: FB-5 (eq. 6). Kernel: `logratio.row_from_log_ratios`.

    Example:
        >>> row_from_log_ratios([0.0], 1).tolist()
        [0.5, 0.5]
    """
    ratios = door.real("log_ratios", log_ratios, 1)
    return kernels.row_from_log_ratios(
        ratios, door.position("anchor", anchor, ratios.shape[-1] + 1)
    )


def log_ratio_jacobian(row: ArrayLike, anchor: int) -> door.Floats:
    r"""Derivatives of the log-ratios by the probabilities other than the anchor's.

    .. math:: \partial l_j / \partial s_k = \delta_{jk}/s_j + 1/s_i

    Args:
        row: positive with sum 1, shape ``(*batch, P)``.
        anchor: index of the anchor, i.

    Returns:
        Jacobian, shape ``(*batch, P-1, P-1)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: `row` is no such array.
        DomainError: an entry is so small that its reciprocal overflows, the sum is not 1, or the
            anchor is no index of a token.

    Source: FB-11 (eq. 11). Kernel: `logratio.jacobian`.

    Example:
        >>> log_ratio_jacobian([0.25, 0.25, 0.5], 2).tolist()
        [[6.0, 2.0], [2.0, 6.0]]
    """
    row = _tokens("row", row)
    door.at_least("row", row, 1 / float(np.finfo(row.dtype).max))
    door.sums_to_one("row", row)
    return kernels.jacobian(row, door.position("anchor", anchor, row.shape[-1]))


def row_jacobian(log_ratios: ArrayLike, anchor: int) -> door.Floats:
    r"""Derivatives of the probabilities other than the anchor's by the log-ratios.

    .. math:: \partial s_j / \partial l_k = s_j(\delta_{jk} - s_k), \qquad j, k \neq i

    The inverse of `log_ratio_jacobian`, right where a probability rounds to 1.

    Args:
        log_ratios: finite, shape ``(*batch, P-1)``, in the order of the other tokens.
        anchor: index of the anchor, i, among the P tokens.

    Returns:
        Jacobian, shape ``(*batch, P-1, P-1)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: `log_ratios` is no such array.
        DomainError: the anchor is no index of a token.

    Source: FB-11. Kernel: `logratio.softmax_jacobian`. Proved: `logratio.inverse_jacobian`.

    Example:
        >>> row_jacobian([0.0], 1).tolist()
        [[0.25]]
    """
    ratios = door.real("log_ratios", log_ratios, 1)
    anchor = door.position("anchor", anchor, ratios.shape[-1] + 1)
    full = kernels.softmax_jacobian(np.insert(ratios, anchor, 0, axis=-1))
    return np.delete(np.delete(full, anchor, axis=-1), anchor, axis=-2)


def log_ratio_log_det(logits: ArrayLike) -> door.Floats:
    r"""Log-determinant of that Jacobian at the softmax row, whatever the anchor.

    .. math:: \log\det\frac{\partial l}{\partial s} = -\sum_{j=1}^{P} \log s_j

    Args:
        logits: finite, shape ``(*batch, P)``.

    Returns:
        log-determinant, shape ``batch``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: `logits` is no such array.

    Source: FB-11 (eq. 11). Kernel: `logratio.log_det_jacobian`.

    Example:
        >>> float(log_ratio_log_det([0.0, 0.0]))  # log(2*2)
        1.3862943611198906
    """
    return kernels.log_det_jacobian(_tokens("logits", logits))


def softmax_jacobian(logits: ArrayLike) -> door.Floats:
    r"""Derivatives of the row by its logits, right where a probability rounds to 1.

    .. math:: \partial s_j / \partial x_k = s_j(\delta_{jk} - s_k)

    Args:
        logits: finite, shape ``(*batch, P)``.

    Returns:
        Jacobian, shape ``(*batch, P, P)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: `logits` is no such array.

    Source: FB-5, FB-11. Kernel: `logratio.softmax_jacobian`.

    Example:
        >>> softmax_jacobian([0.0, 0.0]).tolist()
        [[0.25, -0.25], [-0.25, 0.25]]
    """
    return kernels.softmax_jacobian(_tokens("logits", logits))


def log_ratio_log_det_gradient(logits: ArrayLike) -> door.Floats:
    r"""Gradient of the log-determinant of `log_ratio_log_det` by the logits.

    .. math:: \partial_{x_j} \Big(-\sum_{k=1}^{P} \log s_k\Big) = P s_j - 1

    Args:
        logits: finite, shape ``(*batch, P)``.

    Returns:
        gradient, shape ``(*batch, P)``; its entries sum to 0.

    Raises:
        ShapeError, DtypeError, NonFiniteError: `logits` is no such array.

    Source: FB-11 (eq. 11). Kernel: `logratio.log_det_jacobian_gradient`.

    Example:
        >>> log_ratio_log_det_gradient([0.0, 0.0]).tolist()
        [0.0, 0.0]
    """
    return kernels.log_det_jacobian_gradient(_tokens("logits", logits))


def softmax_change(logits: ArrayLike, direction: ArrayLike) -> door.Floats:
    r"""Change of the softmax row along a direction of its logits, without the Jacobian.

    .. math:: \mathrm{d}s_j = s_j \Big(\mathrm{d}x_j - \sum_k s_k\,\mathrm{d}x_k\Big)

    Args:
        logits: finite, shape ``(*batch, P)``.
        direction: how the logits change, finite, shape ``(*batch, P)``.

    Returns:
        change of the row, shape ``(*batch, P)``; its entries sum to 0.

    Raises:
        ShapeError, DtypeError, NonFiniteError: an argument is no such array, or the shapes don't
            fit together.

    Source: FB-5, FB-11. Kernel: `logratio.row_jvp`.

    Example:
        >>> softmax_change([0.0, 0.0], [1.0, 0.0]).tolist()
        [0.25, -0.25]
    """
    logits, direction = _tokens("logits", logits), _tokens("direction", direction)
    if logits.shape[-1] != direction.shape[-1]:
        raise ShapeError(
            "direction", f"{logits.shape[-1]} entries in the last axis", f"shape {direction.shape}"
        )
    door.common_batch(logits=(logits, 1), direction=(direction, 1))
    return kernels.row_jvp(logits, direction)


def _tokens(name: str, value: ArrayLike) -> door.Floats:
    array = door.real(name, value, 1)
    if array.shape[-1] == 0:
        raise ShapeError(name, "at least one token in the last axis", f"shape {array.shape}")
    return array
