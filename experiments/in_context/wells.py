"""Wells of an energy: its critical points, found from many starts and checked by their indices.

The energy is that of queries against a prior, ``-sigma2 log E exp(-|q - z|^2/2 sigma2)``. Its
gradient at q is q less the posterior mean, and its Hessian is the identity less the posterior
covariance over sigma2 (EB-13, EB-14).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from numeric.mixture import GaussianMixture, mixture_posterior, mixture_score

# A point is critical where the gradient is that small beside the noise's deviation; two are one
# where they are that close.
FLAT, CLOSE = 1e-9, 1e-4
DESCENTS, POLISHES, BETWEEN = 60, 40, 9
BLOCK = 64  # queries at a time, so that a block's weights stay in the cache


class Local(NamedTuple):
    """Energy, gradient and Hessian at some queries: shapes ``(M,)``, ``(M, d)``, ``(M, d, d)``."""

    energy: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray


Energy = Callable[[np.ndarray], Local]


class Critical(NamedTuple):
    """Critical points of an energy.

    Attributes:
        places: shape ``(n, d)``, minima first, the lowest of them first.
        energies: shape ``(n,)``.
        curvatures: eigenvalues of the Hessian, ascending, shape ``(n, d)``.
    """

    places: np.ndarray
    energies: np.ndarray
    curvatures: np.ndarray

    @property
    def minima(self) -> int:
        """How many of them are minima."""
        return int((self.curvatures[:, 0] > 0).sum())

    @property
    def index_sum(self) -> int:
        """Points of even index less those of odd index: 1 where none is left out.

        The energy grows like ``|q|^2/2`` far out, so its gradient points outwards on a large
        sphere, and the sum is that of a ball (Poincaré and Hopf).
        """
        return int(np.prod(np.sign(self.curvatures), axis=1).sum())


def energy_of_particles(particles: np.ndarray, sigma2: float) -> Energy:
    """The energy of queries against equally likely particles, shape ``(N, d)``."""
    middle = particles.mean(axis=0)
    centred = particles - middle
    d = centred.shape[1]
    upper = np.triu_indices(d)
    features = np.concatenate([centred, centred[:, upper[0]] * centred[:, upper[1]]], axis=1)
    squares = (centred**2).sum(axis=1)

    def local(queries: np.ndarray) -> Local:
        q = np.asarray(queries) - middle
        energy, sums = np.empty(len(q)), np.empty((len(q), features.shape[1]))
        for start in range(0, len(q), BLOCK):
            block = q[start : start + BLOCK]
            # Less |q|^2/2 sigma2, which is added to the energy below.
            exponents = (block @ centred.T - squares / 2) / sigma2
            top = exponents.max(axis=1, keepdims=True)
            weights = np.exp(exponents - top)
            total = weights.sum(axis=1)
            sums[start : start + BLOCK] = weights @ features / total[:, None]
            energy[start : start + BLOCK] = top[:, 0] + np.log(total / len(centred))
        mean = sums[:, :d]
        second = np.empty((len(q), d, d))
        second[:, upper[0], upper[1]] = second[:, upper[1], upper[0]] = sums[:, d:]
        cov = second - mean[:, :, None] * mean[:, None, :]
        return Local((q**2).sum(axis=1) / 2 - sigma2 * energy, q - mean, np.eye(d) - cov / sigma2)

    return local


def energy_of_mixture(mixture: GaussianMixture, sigma2: float) -> Energy:
    """The same against a Gaussian mixture: what infinitely many particles of its law would give."""
    d = mixture.means.shape[-1]
    constant = sigma2 * d / 2 * np.log(2 * np.pi * sigma2)

    def local(queries: np.ndarray) -> Local:
        law = mixture_posterior(mixture, queries, sigma2)
        log_density = mixture_score(mixture, queries, sigma2).log_density
        energy = -sigma2 * log_density - constant
        return Local(energy, queries - law.mean, np.eye(d) - law.cov / sigma2)

    return local


def critical_points(energy: Energy, starts: np.ndarray, sigma2: float) -> Critical:
    """Minima by descent from all starts, saddles and maxima by Newton's method.

    Newton's method starts from the same points, and from some between any two minima, where a
    pass from one to the other may be narrow.

    Args:
        energy: of queries.
        starts: shape ``(M, d)``, as dense as the wells are wide.
        sigma2: variance of the noise, which gives the scale of lengths.
    """
    minima = merged(descended(energy, starts, sigma2), CLOSE * np.sqrt(sigma2))
    share = np.linspace(0, 1, BETWEEN + 2)[1:-1, None]
    ways = [p + share * (q - p) for k, p in enumerate(minima) for q in minima[:k]]
    passes = stationary(energy, np.concatenate([starts, *ways]), sigma2)
    places = merged(np.concatenate([minima, passes]), CLOSE * np.sqrt(sigma2))
    at = energy(places)
    curvatures = np.linalg.eigvalsh(at.hessian)
    order = np.lexsort((at.energy, (curvatures < 0).sum(axis=1)))
    return Critical(places[order], at.energy[order], curvatures[order])


def descended(energy: Energy, starts: np.ndarray, sigma2: float) -> np.ndarray:
    """Where the iteration of the posterior mean goes to, ``q <- q - grad E``, a descent (EB-14).

    Its last steps are Newton's where the energy is convex and falls by them, since the iteration
    by itself is slow in flat wells.
    """
    q = np.array(starts)
    for _ in range(DESCENTS):
        q = q - energy(q).gradient
    return _polished(energy, merged(q, CLOSE * np.sqrt(sigma2)), sigma2)


def _polished(energy: Energy, q: np.ndarray, sigma2: float) -> np.ndarray:
    done: list[np.ndarray] = []
    for _ in range(50 * POLISHES):
        at = energy(q)
        flat = np.linalg.norm(at.gradient, axis=1) <= FLAT * np.sqrt(sigma2)
        done.append(q[flat])
        q, gradient, hessian = q[~flat], at.gradient[~flat], at.hessian[~flat]
        if not len(q):
            break
        convex = np.linalg.eigvalsh(hessian)[:, 0] > 0
        step = -gradient
        step[convex] = newton_step(hessian[convex], gradient[convex])
        there = energy(q + step).energy
        mean = convex & ~(there <= at.energy[~flat])
        step[mean] = -gradient[mean]
        q = q + step
    return np.concatenate(done)


def stationary(energy: Energy, starts: np.ndarray, sigma2: float) -> np.ndarray:
    """Where Newton's method goes to, of any index; starts that it throws out are left out."""
    q, width = np.array(starts), np.sqrt(sigma2)
    for _ in range(POLISHES):
        at = energy(q)
        step = newton_step(at.hessian, at.gradient)
        length = np.linalg.norm(step, axis=1, keepdims=True)
        q = q + step * np.minimum(1, width / 2 / np.maximum(length, 1e-300))
        inside = np.abs(q - starts.mean(axis=0)).max(axis=1) <= 3 * np.abs(starts).max()
        q = q[inside]
    flat = np.linalg.norm(energy(q).gradient, axis=1) <= FLAT * width
    return q[flat]


def newton_step(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Step to where a quadratic is stationary, finite also where the Hessian is singular."""
    values, vectors = np.linalg.eigh(hessian)
    values = np.where(np.abs(values) < FLAT, np.copysign(FLAT, values), values)
    along = np.einsum("mij,mi->mj", vectors, gradient) / values
    return -np.einsum("mij,mj->mi", vectors, along)


def merged(points: np.ndarray, distance: float) -> np.ndarray:
    """One of each group of points that are closer than a distance."""
    kept: list[np.ndarray] = []
    for point in points:
        if all(np.linalg.norm(point - other) > distance for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, points.shape[1])
