"""The risk of a probe that is linear in a representation: its terms, its width, its depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import DomainError, OffSupportError, RefinementError
from numeric.kernels import risk as kernels
from numeric.linear_algebra import row_projector


@dataclass(frozen=True)
class FourTerms:
    """``E|U - g|^2`` split into four terms; every field has the shape ``batch``.

    Attributes:
        noise: what the state itself leaves open, E|U - m_Z|^2.
        information: what the representation loses, E|m_Z - m_T|^2.
        width: what the probe's space can't reach, E|(I - Pi) m_T|^2.
        fit: what the probe misses inside its space, E|Pi m_T - g|^2.
        risk: E|U - g|^2, measured.
    """

    noise: door.Floats
    information: door.Floats
    width: door.Floats
    fit: door.Floats
    risk: door.Floats

    @property
    def remainder(self) -> door.Floats:
        """Risk less the four terms: rounding on a finite space, cross terms for samples."""
        return self.risk - (self.noise + self.information + self.width + self.fit)


def four_term_risk(
    target: ArrayLike,
    m_Z: ArrayLike,
    m_T: ArrayLike,
    prediction: ArrayLike,
    *,
    basis: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> FourTerms:
    r"""The four terms from samples whose conditional means are known.

    .. math:: E|U-g|^2 = E|U-m_Z|^2 + E|m_Z-m_T|^2 + E|(I-\Pi)m_T|^2 + E|\Pi m_T-g|^2

    Args:
        target: U at each sample, shape ``(*batch, n, q)``.
        m_Z: E[U | Z] at each sample, shape ``(*batch, n, q)``.
        m_T: E[U | T] at each sample, shape ``(*batch, n, q)``; T is a function of Z.
        prediction: g(T) at each sample, shape ``(*batch, n, q)``, in the span of the basis.
        basis: spans what the probe can reach, shape ``(*batch, q, r)``, of any rank.
            Default: everything.
        weights: of the samples, nonnegative with sum 1, shape ``(*batch, n)``. Default: equal.

    Returns:
        the four terms and the risk; their difference is of order 1/sqrt(n).

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: a weight is negative, or they don't sum to 1.
        OffSupportError: a prediction is not in the span of the basis.

    Source: FB-21 (eq. 16). Kernel: `risk.four_terms`.

    Example:
        >>> four_term_risk([[1.0], [-1.0]], [[0.0], [0.0]], [[0.0], [0.0]], [[0.5], [0.5]]).fit
        np.float64(0.25)
    """
    target = door.real("target", target, 2)
    m_Z, m_T = door.real("m_Z", m_Z, 2), door.real("m_T", m_T, 2)
    prediction = door.real("prediction", prediction, 2)
    points, width = _points(target)
    for name, array in (("m_Z", m_Z), ("m_T", m_T), ("prediction", prediction)):
        _same_points(name, array, points, width)
    masses = _masses(
        "weights",
        np.full(points, 1 / points, dtype=target.dtype) if weights is None else weights,
        points,
    )
    projector = _projector(basis, width, target)
    door.common_batch(
        target=(target, 2),
        m_Z=(m_Z, 2),
        m_T=(m_T, 2),
        prediction=(prediction, 2),
        weights=(masses, 1),
        basis=(projector, 2),
    )
    _check_reach(prediction, projector)
    terms = kernels.four_terms(masses, target, m_Z, m_T, projector, prediction)
    return FourTerms(*terms, risk=_mean_square(masses, target - prediction) + 0 * terms[0])


def four_term_risk_finite(
    masses: ArrayLike,
    target: ArrayLike,
    labels_Z: ArrayLike,
    labels_T: ArrayLike,
    prediction: ArrayLike,
    *,
    basis: ArrayLike | None = None,
) -> FourTerms:
    r"""The four terms on a finite probability space, up to rounding.

    Costs n^2 in the number of points.

    Args:
        masses: nonnegative with sum 1, shape ``(*batch, n)``.
        target: U at each point, shape ``(*batch, n, q)``.
        labels_Z: the value of Z at each point, shape ``(*batch, n)``; anything comparable.
        labels_T: the value of T at each point, shape ``(*batch, n)``; a function of Z.
        prediction: g(T) at each point, shape ``(*batch, n, q)``; a function of T, in the span of
            the basis.
        basis: spans what the probe can reach, shape ``(*batch, q, r)``, of any rank.
            Default: everything.

    Returns:
        the four terms and the risk, which is their sum.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: a mass is negative, they don't sum to 1, or the prediction is no function of T.
        RefinementError: T is no function of Z.
        OffSupportError: a prediction is not in the span of the basis.

    Source: FB-21 (eq. 16). Kernel: `risk.four_terms_finite`.

    Example:
        >>> target, prediction = [[1.0], [-1.0]], [[0.0], [0.0]]
        >>> terms = four_term_risk_finite([0.5, 0.5], target, [0, 1], [0, 0], prediction)
        >>> float(terms.noise), float(terms.information), float(terms.risk)
        (0.0, 1.0, 1.0)
    """
    target, prediction = door.real("target", target, 2), door.real("prediction", prediction, 2)
    points, width = _points(target)
    _same_points("prediction", prediction, points, width)
    masses = _masses("masses", masses, points)
    fine, coarse = door.labels("labels_Z", labels_Z), door.labels("labels_T", labels_T)
    for name, array in (("labels_Z", fine), ("labels_T", coarse)):
        door.same_axis("target", points, name, array.shape[-1])
    projector = _projector(basis, width, target)
    batch = door.common_batch(
        masses=(masses, 1),
        target=(target, 2),
        labels_Z=(fine, 1),
        labels_T=(coarse, 1),
        prediction=(prediction, 2),
        basis=(projector, 2),
    )
    _check_partitions(
        np.broadcast_to(fine, (*batch, points)),
        np.broadcast_to(coarse, (*batch, points)),
        np.broadcast_to(prediction, (*batch, points, width)),
    )
    _check_reach(prediction, projector)
    terms = kernels.four_terms_finite(masses, target, fine, coarse, projector, prediction)
    return FourTerms(*terms, risk=_mean_square(masses, target - prediction) + 0 * terms[0])


@dataclass(frozen=True)
class DepthRisk:
    """The Bayes risk along a chain of observations.

    Attributes:
        risk: E|U - E[U | H_l]|^2 of each observation, ``(*batch, L)``.
        increment: E|E[U | H_l] - E[U | H_l+1]|^2, by which it rises (or, for a history, falls)
            from each to the next, ``(*batch, L - 1)``.
    """

    risk: door.Floats
    increment: door.Floats


def depth_risk_finite(
    masses: ArrayLike, target: ArrayLike, labels: ArrayLike, *, history: bool = False
) -> DepthRisk:
    r"""Bayes risk after each layer on a finite probability space, and what each layer changes.

    .. math:: R^*_{H_{\ell+1}} - R^*_{H_\ell} = E|E[U \mid H_\ell] - E[U \mid H_{\ell+1}]|^2

    Costs L n^2 in the numbers of observations and of points.

    Args:
        masses: nonnegative with sum 1, shape ``(*batch, n)``.
        target: U at each point, shape ``(*batch, n, q)``.
        labels: value of each observation at each point, shape ``(*batch, L, n)``, L at least 1;
            anything comparable. Each is a function of the one before, unless `history` is set.
        history: the l-th observation is all labels up to the l-th, so that the risk falls.

    Returns:
        the risks and the increments.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: a mass is negative, or they don't sum to 1.
        RefinementError: an observation is no function of the one before: their risks are in no
            order.

    Source: FB-24 (eqs. 19, 20). Kernel: `risk.four_terms_finite`. Proved: `risk.increment`.

    Example:
        >>> found = depth_risk_finite([0.5, 0.5], [[1.0], [-1.0]], [[0, 1], [0, 0]])
        >>> found.risk.tolist(), found.increment.tolist()
        ([0.0, 1.0], [1.0])
    """
    target = door.real("target", target, 2)
    points, _ = _points(target)
    masses = _masses("masses", masses, points)
    seen = door.labels("labels", labels)
    if seen.ndim < 2 or seen.shape[-2] == 0:
        raise door.ShapeError("labels", "at least one observation, (L, n)", f"shape {seen.shape}")
    door.same_axis("target", points, "labels", seen.shape[-1])
    batch = door.common_batch(masses=(masses, 1), target=(target, 2), labels=(seen, 2))
    blocks = _first_of_block(np.broadcast_to(seen, (*batch, *seen.shape[-2:])))
    if history:
        for place in range(1, blocks.shape[-2]):
            pairs = blocks[..., place - 1, :] * points + blocks[..., place, :]
            blocks[..., place, :] = _first_of_block(pairs)
        fine, coarse = blocks[..., 1:, :], blocks[..., :-1, :]
    else:
        fine, coarse = blocks[..., :-1, :], blocks[..., 1:, :]
    if (np.take_along_axis(coarse, fine, axis=-1) != coarse).any():
        raise RefinementError(
            "labels",
            "observations each of which is a function of the one before",
            "points with one label and two labels in the next",
            "set history=True to keep what was seen before",
        )
    masses, target = masses[..., None, :], target[..., None, :, :]
    projector = np.eye(target.shape[-1], dtype=target.dtype)
    nothing = np.zeros_like(target)
    risk = kernels.four_terms_finite(masses, target, blocks, blocks, projector, nothing)[0]
    increment = kernels.four_terms_finite(masses, target, fine, coarse, projector, nothing)[1]
    return DepthRisk(risk, increment)


def width_tails(
    m_T: ArrayLike, *, weights: ArrayLike | None = None, offset: bool = False
) -> door.Floats:
    r"""What the best space of r dimensions misses of E[U | T], for every r.

    .. math:: \sum_{k>r} \lambda_k(E[m_T m_T^\top]), \qquad r = 0, \dots, q

    Args:
        m_T: E[U | T] at each sample or point, shape ``(*batch, n, q)``.
        weights: of the samples, nonnegative with sum 1, shape ``(*batch, n)``. Default: equal.
        offset: the probe has a free constant, so that the covariance of m_T counts.

    Returns:
        the tails from r = 0 to r = q, falling to 0, shape ``(*batch, q + 1)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: a weight is negative, or they don't sum to 1.

    Source: FB-22 (eq. 17); Fan (1949). Proved: `risk.width_tail`, `risk.width_projection`.

    Example:
        >>> width_tails([[1.0, 0.0], [0.0, 1.0]]).round(15).tolist()
        [1.0, 0.5, 0.0]
        >>> width_tails([[1.0, 0.0], [0.0, 1.0]], offset=True).round(15).tolist()
        [0.5, 0.0, 0.0]
    """
    means = door.real("m_T", m_T, 2)
    points, width = _points(means, "m_T")
    equal = np.full(points, 1 / points, dtype=means.dtype)
    masses = _masses("weights", equal if weights is None else weights, points, "m_T")
    door.common_batch(m_T=(means, 2), weights=(masses, 1))
    if offset:
        means = means - masses[..., None, :] @ means
    # Squares of singular values: a tail far below the largest eigenvalue keeps its digits.
    values = np.linalg.svd(np.sqrt(masses)[..., None] * means, compute_uv=False) ** 2
    tails = np.zeros((*values.shape[:-1], width + 1), dtype=values.dtype)
    tails[..., : values.shape[-1]] = np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
    return tails


def _points(target: door.Floats, name: str = "target") -> tuple[int, int]:
    points, width = target.shape[-2:]
    if points == 0 or width == 0:
        raise door.ShapeError(
            name, "at least one point and one coordinate", f"shape {target.shape}"
        )
    return points, width


def _same_points(name: str, array: door.Floats, points: int, width: int) -> None:
    if array.shape[-2:] != (points, width):
        raise door.ShapeError(
            name, f"the points and coordinates of target, {(points, width)}", f"{array.shape[-2:]}"
        )


def _masses(name: str, value: ArrayLike, points: int, of: str = "target") -> door.Floats:
    masses = door.at_least(name, door.real(name, value, 1), 0)
    door.same_axis(of, points, name, masses.shape[-1])
    return door.sums_to_one(name, masses)


def _projector(basis: ArrayLike | None, width: int, target: door.Floats) -> door.Floats:
    if basis is None:
        return np.eye(width, dtype=target.dtype)
    columns = door.real("basis", basis, 2)
    door.same_axis("target", width, "basis", columns.shape[-2])
    if columns.shape[-1] == 0:
        return np.zeros((*columns.shape[:-2], width, width), dtype=columns.dtype)
    return row_projector(np, np.swapaxes(columns, -1, -2))


def _check_reach(prediction: door.Floats, projector: door.Floats) -> None:
    missed = prediction - prediction @ projector
    distance = float(np.abs(missed).max(initial=0))
    allowed = float(np.sqrt(np.finfo(missed.dtype).eps)) * float(np.abs(prediction).max(initial=0))
    if distance > allowed:
        raise OffSupportError(
            "prediction",
            "values in the span of the basis",
            f"one at distance {distance:.3g}",
            distance,
            "project the prediction, or widen the basis",
        )


def _check_partitions(fine: np.ndarray, coarse: np.ndarray, prediction: door.Floats) -> None:
    first = _first_of_block(fine)
    if (np.take_along_axis(coarse, first, axis=-1) != coarse).any():
        raise RefinementError(
            "labels_T", "a function of labels_Z", "points with one label of Z and two of T"
        )
    first = _first_of_block(coarse)[..., None]
    moved = np.take_along_axis(prediction, first, axis=-2) - prediction
    allowed = np.sqrt(np.finfo(prediction.dtype).eps) * np.abs(prediction).max(initial=0)
    if (np.abs(moved) > allowed).any():
        raise DomainError(
            "prediction",
            "a function of labels_T",
            "points with one label of T and two predictions",
        )


def _first_of_block(labels: np.ndarray) -> np.ndarray:
    """For each point the first one with the same label."""
    return (labels[..., :, None] == labels[..., None, :]).argmax(axis=-1)


def _mean_square(masses: door.Floats, values: door.Floats) -> door.Floats:
    return (masses * (values**2).sum(axis=-1)).sum(axis=-1)
