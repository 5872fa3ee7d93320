"""The risk of a probe that is linear in a representation, in four orthogonal terms."""

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


def _points(target: door.Floats) -> tuple[int, int]:
    points, width = target.shape[-2:]
    if points == 0 or width == 0:
        raise door.ShapeError(
            "target", "at least one point and one coordinate", f"shape {target.shape}"
        )
    return points, width


def _same_points(name: str, array: door.Floats, points: int, width: int) -> None:
    if array.shape[-2:] != (points, width):
        raise door.ShapeError(
            name, f"the points and coordinates of target, {(points, width)}", f"{array.shape[-2:]}"
        )


def _masses(name: str, value: ArrayLike, points: int) -> door.Floats:
    masses = door.at_least(name, door.real(name, value, 1), 0)
    door.same_axis("target", points, name, masses.shape[-1])
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
