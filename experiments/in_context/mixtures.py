"""A mixture of five unequal Gaussians in the plane, for the figures whose law the text leaves open.

They lie so that noise of the variance `SIGMA2` leaves each a mode of its own, and twice the noise
does not: the first stage has something to part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from experiments.in_context.prompts import Prompt
from numeric.mixture import GaussianMixture, gaussian_mixture

SIGMA2 = 0.25
WEIGHTS = np.array([0.26, 0.22, 0.20, 0.18, 0.14])
MEANS = np.array([[-1.65, -0.11], [-0.385, 0.99], [1.045, 0.825], [1.65, -0.55], [0.165, -1.045]])
# Each: angle of the long axis, variances along it and across.
SHAPES = ((0.3, 0.04, 0.02), (-0.5, 0.05, 0.02), (0.8, 0.03, 0.03), (1.2, 0.05, 0.02),
          (0.0, 0.06, 0.02))  # fmt: skip


def _covariance(angle: float, along: float, across: float) -> np.ndarray:
    axes = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (axes * [along, across]) @ axes.T


COVS = np.array([_covariance(*shape) for shape in SHAPES])


def five(scale: float = 1.0, noise: float = 0.0) -> GaussianMixture:
    """The mixture with its means drawn together by a factor, and seen through noise.

    Args:
        scale: of the means, above 0.
        noise: its variance along each coordinate, at least 0.
    """
    return gaussian_mixture(WEIGHTS, scale * MEANS, COVS + noise * np.eye(2))


def draw_five(
    count: int, seed: int | list[int], *, scale: float = 1.0, sigma2: float = SIGMA2
) -> Prompt:
    """Tokens of the mixture with noise; the first are the same however many are drawn.

    Args:
        count: N.
        seed: of all draws.
        scale: of the means, above 0.
        sigma2: variance of the noise along each coordinate, at least 0.
    """
    which, within, noise = np.random.default_rng(seed).spawn(3)
    # By the inverse of the distribution function, one uniform a token.
    component = np.searchsorted(np.cumsum(WEIGHTS)[:-1], which.random(count), side="right")
    roots = np.linalg.cholesky(COVS)
    drawn = np.einsum("nij,nj->ni", roots[component], within.normal(size=(count, 2)))
    clean = scale * MEANS[component] + drawn
    return Prompt(clean, clean + np.sqrt(sigma2) * noise.normal(size=(count, 2)), sigma2)


def log_density(mixture: GaussianMixture, points: ArrayLike) -> np.ndarray:
    """Log density of a mixture without singular components at some points, shape ``(*, 2)``."""
    x = np.asarray(points)[..., None, :] - mixture.means
    along = np.einsum("kij,...ki->...kj", mixture.bases, x)
    squares = (along**2 / mixture.eigenvalues).sum(axis=-1)
    logs = mixture.log_weights - squares / 2 - np.log(mixture.eigenvalues).sum(axis=-1) / 2
    top = logs.max(axis=-1)
    return top + np.log(np.exp(logs - top[..., None]).sum(axis=-1)) - np.log(2 * np.pi)
