"""What the tests add to the studies' random first blocks."""

from __future__ import annotations

import numpy as np

from experiments.first_block.instances import random_block, random_model
from numeric.first_block.inference import Margins, Posterior

__all__ = ["TOWER_DRAWS", "log_odds", "margins", "random_block", "random_model", "rotations"]

TOWER_DRAWS = 40_000


def rotations(n_tokens: int, size: int, *, base: float = 0.7) -> np.ndarray:
    """Rotary maps: position j turns each pair of entries by an angle that is j times its own."""
    maps = np.zeros((n_tokens, size, size))
    for j in range(n_tokens):
        for pair in range(size // 2):
            angle = j * base**pair
            block = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            maps[j, 2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = block
    return maps


def log_odds(log_r: np.ndarray) -> np.ndarray:
    """All ``log(r_n / r_m)``, shape ``(*batch, N, N)``."""
    return log_r[..., :, None] - log_r[..., None, :]


def margins(found: Posterior) -> Margins:
    """The margins of a posterior that decided ranks."""
    assert found.margins is not None
    return found.margins
