"""Clean tokens of a mixture and what noise makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from experiments.study import Setting

# The two components of the figures on denoising, equally likely.
PAIR = np.array([[1.0, 0.0], [-1.0, 0.0]])
# Their width is given as a = 0.1, without saying whether that is a deviation or a variance (EB-55).
VARIANCES = {"deviation": 0.01, "variance": 0.1}
WIDTH = Setting("width", tuple(VARIANCES), "what the width a = 0.1 of a component is")


@dataclass(frozen=True, eq=False)
class Prompt:
    """Tokens and what they were before the noise.

    Attributes:
        clean, tokens: shape ``(N, d)``.
        sigma2: variance of the noise along each coordinate.
    """

    clean: np.ndarray
    tokens: np.ndarray
    sigma2: float

    def first(self, count: int) -> Prompt:
        """A smaller prompt of the same draws, so that sizes are compared without their noise."""
        return Prompt(self.clean[:count], self.tokens[:count], self.sigma2)


def draw_prompt(
    means: ArrayLike, v: float, sigma2: float, count: int, seed: int | list[int]
) -> Prompt:
    """Tokens of equally likely isotropic Gaussians, with noise.

    The first tokens are the same however many are drawn, and whatever the variances are their
    standard normals are: errors at two sizes, or at two noises, can be compared draw by draw.

    Args:
        means: of the components, shape ``(K, d)``.
        v: variance of each along each coordinate, at least 0.
        sigma2: of the noise, at least 0.
        count: N.
        seed: of all draws.
    """
    centres = np.asarray(means, dtype=np.float64)
    which, within, noise = np.random.default_rng(seed).spawn(3)
    shape = (count, centres.shape[1])
    clean = centres[which.integers(len(centres), size=count)] + np.sqrt(v) * within.normal(
        size=shape
    )
    return Prompt(clean, clean + np.sqrt(sigma2) * noise.normal(size=shape), sigma2)
