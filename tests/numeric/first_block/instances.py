"""Random first blocks with seeds, for the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from numeric.first_block.block import AttentionBlock
from numeric.first_block.inference import Margins, Posterior
from numeric.first_block.model import CorruptionModel

TOWER_DRAWS = 40_000


def random_model(
    rng: np.random.Generator, n_components: int, n_tokens: int, width: int, t: float = 0.5
) -> CorruptionModel:
    masses = rng.dirichlet(3 * np.ones(n_components))
    return CorruptionModel(rng.normal(size=(n_components, n_tokens, width)), masses, t)


def random_block(
    rng: np.random.Generator,
    n_tokens: int,
    width: int,
    value_sizes: tuple[int, ...],
    *,
    keys: int = 2,
    scale: float = 1.0,
    **more: Any,
) -> AttentionBlock:
    """Heads with as many keys and the given numbers of values."""
    n_heads = len(value_sizes)
    return AttentionBlock(
        [rng.normal(size=(keys, width)) for _ in range(n_heads)],
        [scale * rng.normal(size=(keys, width)) for _ in range(n_heads)],
        [rng.normal(size=(v, width)) for v in value_sizes],
        n_tokens=n_tokens,
        **more,
    )


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
