"""Kernels of the subject `risk`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/risk.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.namespace import (
    Array,
    Namespace,
    batch_shape,
    dot_products,
    fill_batch,
    indicator,
    namespace,
    real_arrays,
)

__all__ = ["four_terms", "four_terms_finite"]


@errstate(under="ignore")
def four_terms(
    masses: Array,
    target: Array,
    m_Z: Array,
    m_T: Array,
    projector: Array,
    prediction: Array,
    *,
    xp: Namespace = None,
) -> tuple[Array, Array, Array, Array]:
    r"""Risk in four orthogonal terms.

    .. math:: E|U-g|^2 = E|U-m_Z|^2 + E|m_Z-m_T|^2 + E|(I-\Pi)m_T|^2 + E|\Pi m_T-g|^2

    Args:
        masses: shape ``(*batch, n)``; probabilities of the points, nonnegative with sum 1.
        target: shape ``(*batch, n, q)``; target U at each point.
        m_Z: shape ``(*batch, n, q)``; E[U | Z] at each point.
        m_T: shape ``(*batch, n, q)``; E[U | T] at each point.
        projector: shape ``(*batch, q, q)``; orthogonal projector on the probe's space.
        prediction: shape ``(*batch, n, q)``; prediction g(T) at each point.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        noise: ``batch``; what the state itself leaves open, E|U - m_Z|^2.
        information: ``batch``; what the representation loses, E|m_Z - m_T|^2.
        width: ``batch``; what the probe's space can't reach, E|(I - Pi) m_T|^2.
        fit: ``batch``; what the probe misses inside its space, E|Pi m_T - g|^2.

    Domain: masses >= 0 with sum 1; projector symmetric, idempotent. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: U is square integrable, and T is a function of Z; the prediction is a function
    of T with values in the range of Pi.

    For samples give each point the mass 1/n; the sum of the terms then differs from the
    measured risk by cross terms of order 1/sqrt(n).

    Worst relative error, float64, held by a test:
        typical: entries of order 1, up to 1000 points: 1e-14 of each entry.
        offset: all values shifted by 1e6: 1e-14 of the mean square of the values.
        scaled: values of order 1e-100 or 1e100: 1e-14 of each entry.

    Operations: 4 -, 1 @, 4 **, 4 dot_products, 1 matrix_transpose, 4 sum.

    Source: FB-21 (eq. 16). Derivation: risk.four_terms, tree sha256:8dcd7d60adf072d6.
    """
    xp = namespace(xp, masses, target, m_Z, m_T, projector, prediction)
    masses, target, m_Z, m_T, projector, prediction = real_arrays(
        xp, masses, target, m_Z, m_T, projector, prediction
    )
    batch = batch_shape(
        (masses, 1), (target, 2), (m_Z, 2), (m_T, 2), (projector, 2), (prediction, 2)
    )
    reached = m_T @ xp.matrix_transpose(projector)
    noise = dot_products(xp, masses, xp.sum((target - m_Z)**2, axis=-1))
    information = dot_products(xp, masses, xp.sum((m_Z - m_T)**2, axis=-1))
    width = dot_products(xp, masses, xp.sum((m_T - reached)**2, axis=-1))
    fit = dot_products(xp, masses, xp.sum((reached - prediction)**2, axis=-1))
    return (
        fill_batch(xp, noise, batch, 0),
        fill_batch(xp, information, batch, 0),
        fill_batch(xp, width, batch, 0),
        fill_batch(xp, fit, batch, 0),
    )


@errstate(under="ignore")
def four_terms_finite(
    masses: Array,
    target: Array,
    labels_Z: Array,
    labels_T: Array,
    projector: Array,
    prediction: Array,
    *,
    xp: Namespace = None,
) -> tuple[Array, Array, Array, Array]:
    r"""Risk in four terms on a finite space.

    .. math:: E[U \mid Z](i) = \sum_{p \sim i} w_p U_p / \sum_{p \sim i} w_p

    Args:
        masses: shape ``(*batch, n)``; probabilities of the points, nonnegative with sum 1.
        target: shape ``(*batch, n, q)``; target U at each point.
        labels_Z: shape ``(*batch, n)``; label of the value of Z at each point.
        labels_T: shape ``(*batch, n)``; label of the value of T, a function of that of Z.
        projector: shape ``(*batch, q, q)``; orthogonal projector on the probe's space.
        prediction: shape ``(*batch, n, q)``; prediction g(T) at each point.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        noise: ``batch``; what the state itself leaves open, E|U - m_Z|^2.
        information: ``batch``; what the representation loses, E|m_Z - m_T|^2.
        width: ``batch``; what the probe's space can't reach, E|(I - Pi) m_T|^2.
        fit: ``batch``; what the probe misses inside its space, E|Pi m_T - g|^2.

    Domain: masses >= 0 with sum 1; projector symmetric, idempotent; the partition of Z refines
    that of T. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: U is square integrable, and T is a function of Z; the prediction is a function
    of T with values in the range of Pi.

    Chosen forms:
        block_average: E[v | block of i] = sum_{p~i} w_p v_p / sum_{p~i} w_p, and 0 over a block
            without mass, for w >= 0. Why: a block without mass would read 0/0, and no
            expectation sees it. Proved: forms.block_average, forms.block_without_mass.

    Worst relative error, float64, held by a test:
        typical: up to 200 points, masses in [1e-3, 1]: 1e-14 of each entry.
        offset: all values shifted by 1e6: 1e-14 of the mean square of the values.
        degenerate: points of mass 0, one block, single points: 1e-14 of the mean square of the
            values.

    Operations: 4 -, 1 *, 2 /, 3 @, 4 **, 2 asarray, 6 dot_products, 2 indicator, 1
    matrix_transpose, 4 sum, 2 where.

    Source: FB-21 (eq. 16). Derivation: risk.four_terms_finite, tree sha256:933f4c7f8a739381.
    """
    xp = namespace(xp, masses, target, projector, prediction)
    masses, target, projector, prediction = real_arrays(xp, masses, target, projector, prediction)
    labels_Z = xp.asarray(labels_Z)
    labels_T = xp.asarray(labels_T)
    batch = batch_shape(
        (masses, 1), (target, 2), (labels_Z, 1), (labels_T, 1), (projector, 2), (prediction, 2)
    )
    weighted = masses[..., None] * target
    same_Z = indicator(xp, labels_Z[..., None] == labels_Z[..., None, :], masses[..., None, :])
    mass_Z = dot_products(xp, same_Z, masses[..., None, :])
    m_Z = same_Z @ weighted / xp.where(mass_Z[..., None] > 0, mass_Z[..., None], 1)
    same_T = indicator(xp, labels_T[..., None] == labels_T[..., None, :], masses[..., None, :])
    mass_T = dot_products(xp, same_T, masses[..., None, :])
    m_T = same_T @ weighted / xp.where(mass_T[..., None] > 0, mass_T[..., None], 1)
    reached = m_T @ xp.matrix_transpose(projector)
    noise = dot_products(xp, masses, xp.sum((target - m_Z)**2, axis=-1))
    information = dot_products(xp, masses, xp.sum((m_Z - m_T)**2, axis=-1))
    width = dot_products(xp, masses, xp.sum((m_T - reached)**2, axis=-1))
    fit = dot_products(xp, masses, xp.sum((reached - prediction)**2, axis=-1))
    return (
        fill_batch(xp, noise, batch, 0),
        fill_batch(xp, information, batch, 0),
        fill_batch(xp, width, batch, 0),
        fill_batch(xp, fit, batch, 0),
    )
