"""Random first blocks with seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numeric.first_block import AttentionBlock, CorruptionModel


def random_model(
    rng: np.random.Generator, n_components: int, n_tokens: int, width: int, t: float = 0.5
) -> CorruptionModel:
    """Standard normal clean arrays with random masses."""
    masses = rng.dirichlet(3 * np.ones(n_components))
    return CorruptionModel(rng.normal(size=(n_components, n_tokens, width)), masses, t)


def random_block(
    rng: np.random.Generator,
    n_tokens: int,
    width: int,
    value_sizes: Sequence[int],
    *,
    keys: int = 2,
    scale: float = 1.0,
    **more: Any,
) -> AttentionBlock:
    """Heads of standard normal maps, the keys scaled, with the given numbers of values."""
    n_heads = len(value_sizes)
    return AttentionBlock(
        [rng.normal(size=(keys, width)) for _ in range(n_heads)],
        [scale * rng.normal(size=(keys, width)) for _ in range(n_heads)],
        [rng.normal(size=(v, width)) for v in value_sizes],
        n_tokens=n_tokens,
        **more,
    )


def new_seed(rng: np.random.Generator) -> int:
    """A seed for draws that have nothing to do with the instance itself."""
    return int(rng.integers(2**31))
