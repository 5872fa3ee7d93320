"""The corruption law: a finite mixture of clean token arrays under Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numeric import door
from numeric.errors import DomainError, ShapeError


@dataclass(frozen=True, eq=False)
class CorruptionModel:
    r"""The mixture of clean arrays and the corruption level.

    .. math:: Z = (1-t) X^{(J)} + t \varepsilon, \qquad P(J = n) = \pi_n

    Clean arrays may coincide; each keeps its mass, and `merged` adds the masses up.

    Args:
        clean: the clean arrays, shape ``(N, P, d)``, each axis at least 1.
        masses: positive with sum 1, shape ``(N,)``.
        t: corruption level in (0, 1].

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: a mass is not positive, the masses don't sum to 1, or t is outside (0, 1].

    Source: FB-1 (eq. 1).

    Example:
        >>> model = CorruptionModel(np.zeros((2, 3, 1)), np.array([0.25, 0.75]), 0.5)
        >>> model.merged().masses.tolist()
        [1.0]
    """

    clean: door.Floats
    masses: door.Floats
    t: float

    def __post_init__(self) -> None:
        clean = np.array(door.real("clean", self.clean, 3), dtype=np.float64)
        if clean.ndim != 3 or 0 in clean.shape:
            raise ShapeError("clean", "axes (N, P, d), none of them empty", f"shape {clean.shape}")
        masses = np.array(door.real("masses", self.masses, 1), dtype=np.float64)
        if masses.ndim != 1:
            raise ShapeError("masses", "one axis of components", f"shape {masses.shape}")
        door.same_axis("clean", len(clean), "masses", len(masses))
        door.masses("masses", masses)
        t = door.real("t", self.t)
        if t.ndim:
            raise ShapeError("t", "one number", f"shape {t.shape}")
        door.corruption("t", t)
        clean.flags.writeable = masses.flags.writeable = False
        object.__setattr__(self, "clean", clean)
        object.__setattr__(self, "masses", masses)
        object.__setattr__(self, "t", float(t))

    @property
    def n_components(self) -> int:
        """N."""
        return self.clean.shape[0]

    @property
    def n_tokens(self) -> int:
        """P."""
        return self.clean.shape[1]

    @property
    def width(self) -> int:
        """d."""
        return self.clean.shape[2]

    @property
    def mu(self) -> door.Floats:
        """Means of the corrupted arrays, ``(1-t) clean``, shape ``(N, P, d)``."""
        return (1 - self.t) * self.clean

    def merged(self) -> CorruptionModel:
        """The same law with each clean array once, in the order of its first appearance."""
        flat = self.clean.reshape(self.n_components, -1) + 0.0  # -0.0 and 0.0 are one number
        _, first, group = np.unique(flat, axis=0, return_index=True, return_inverse=True)
        masses = np.zeros(len(first))
        np.add.at(masses, group.reshape(-1), self.masses)
        order = np.argsort(first)
        return CorruptionModel(self.clean[first[order]], masses[order], self.t)

    def draw(self, count: int, *, seed: int) -> HiddenDraws:
        """Independent draws of label, noise and state.

        Args:
            count: how many, at least 0.
            seed: seed of the generator; the same seed gives the same draws.

        Returns:
            the draws; an estimator takes observations made from their states, never the draws.

        Raises:
            DomainError: `count` is negative.
        """
        if count < 0:
            raise DomainError("count", "a number of at least 0", str(count))
        rng = np.random.default_rng(seed)
        label = rng.choice(self.n_components, size=count, p=self.masses / self.masses.sum())
        noise = rng.standard_normal((count, self.n_tokens, self.width))
        return HiddenDraws(label, noise, self.mu[label] + self.t * noise)


@dataclass(frozen=True, eq=False)
class HiddenDraws:
    """What nature knows: no estimator takes this type.

    Attributes:
        label: component of each draw, shape ``(count,)``.
        noise: shape ``(count, P, d)``.
        state: corrupted arrays, shape ``(count, P, d)``.
    """

    label: NDArray[np.integer[Any]]
    noise: door.Floats
    state: door.Floats
