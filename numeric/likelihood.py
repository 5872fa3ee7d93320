"""What a wrong likelihood costs: responsibilities that are not the posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.distances import squared_distances
from numeric.kernels import likelihood as kernels


@dataclass(frozen=True)
class LikelihoodCost:
    """What other masses in place of the posterior's do to the noise mean.

    Attributes:
        deviation: the noise mean less the one with those masses, ``(*batch, d)``.
        total_variation: distance of the masses, in [0, 1], ``batch``.
        bound: on the norm of the deviation, and for two components equal to it, ``batch``.
    """

    deviation: door.Floats
    total_variation: door.Floats
    bound: door.Floats

    @property
    def cost(self) -> door.Floats:
        """Squared norm of the deviation, whose mean is the risk above that of Bayes."""
        return (self.deviation**2).sum(axis=-1)


def likelihood_cost(
    responsibilities: ArrayLike, approximate: ArrayLike, targets: ArrayLike, t: ArrayLike
) -> LikelihoodCost:
    r"""What masses q in place of the posterior's r do to the noise mean, and a bound.

    .. math:: |m - \tilde m| \le \tfrac{1-t}{t}\,D\,TV, \qquad TV = \tfrac12\sum_n |r_n - q_n|

    D is the largest distance between two targets. With masses that use more than the observation
    the cost is no excess risk.

    Args:
        responsibilities: posterior masses, nonnegative with sum 1, shape ``(*batch, N)``.
        approximate: masses in their place, nonnegative with sum 1, shape ``(*batch, N)``.
        targets: clean target of the token in each component, shape ``(*batch, N, d)``.
        t: corruption level in (0, 1], shape ``batch``.

    Returns:
        the deviation, the total variation and the bound.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: a mass is negative, masses don't sum to 1, or t is outside (0, 1].

    Source: FB-23 (eq. 18). Kernel: `likelihood.wrong_likelihood`. Proved: `likelihood.bound`,
    `likelihood.two_components`, `likelihood.cost`.

    Example:
        >>> found = likelihood_cost([0.75, 0.25], [0.5, 0.5], [[0.0], [2.0]], 0.5)
        >>> found.deviation.tolist(), float(found.bound)
        ([0.5], 0.5)
    """
    responsibilities, approximate, targets, t = door.arrays(
        responsibilities=(responsibilities, "N"),
        approximate=(approximate, "N"),
        targets=(targets, "N d"),
        t=(t, ""),
    )
    for name, masses in (("responsibilities", responsibilities), ("approximate", approximate)):
        door.sums_to_one(name, door.at_least(name, masses, 0))
    squares = squared_distances(np, targets, targets)
    spread = np.sqrt(squares.max(axis=(-2, -1), initial=0))
    return LikelihoodCost(
        *kernels.wrong_likelihood(
            responsibilities, approximate, targets, door.corruption("t", t), spread
        )
    )
