"""Rows that are known only up to a cell, for tokens of width 1: normal probabilities in log space.

With ``d = 1`` a log-ratio is ``M_h (z_j - c)``, so a cell of log-ratios is an interval for each
token, the heads' intervals intersected: the tokens are independent given the component, and each
contributes the mass of its interval, or a density where it is known exactly.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from numeric import door
from numeric.door import Floats
from numeric.errors import DomainError
from numeric.first_block.block import AttentionBlock
from numeric.first_block.model import CorruptionModel
from numeric.first_block.observations import QuantisedRow
from numeric.support import SUPPORT_SLACK


def log_mass_of_cells(
    model: CorruptionModel, block: AttentionBlock, observation: QuantisedRow
) -> tuple[Floats, Floats, Floats]:
    """Log probability of the row's cell given each component.

    Args:
        model: with tokens of width 1.
        block: with its target visible.
        observation: cells of log-ratios; where lower and upper ends meet, a density stands for a
            mass.

    Returns:
        log masses, shape ``(*batch, N)``; distance of the cells from the support by what rounding
        allows, ``batch``; the distance itself.

    Raises:
        ShapeError: the cells don't fit the block.
        DomainError: tokens wider than 1, rotary maps, or a hidden target.

    Source: FB-29.
    """
    if model.width != 1:
        raise DomainError("model", "tokens of width 1", f"width {model.width}")
    if not block.visible[block.target] or block.rotations is not None:
        raise DomainError("block", "a visible target and no rotary maps", "another block")
    visible = np.flatnonzero(block.visible)
    tokens = visible[visible != block.target]
    door.same_axis("the model's width", 1, "query", observation.query.shape[-1])
    door.same_axis("the block's heads", block.n_heads, "lower", observation.lower.shape[-2])
    door.same_axis("the visible other tokens", len(tokens), "lower", observation.lower.shape[-1])
    query = observation.query.astype(np.float64)
    law = block.measurement(query)
    slope = law.matrix[..., 0, :, :]  # (*batch, H, 1)
    own = slope * query[..., None, :] + law.offset[..., block.target, :, None]
    known = own - np.swapaxes(law.offset[..., tokens, :], -1, -2)  # l + known is slope * z_j
    eps = float(np.finfo(observation.lower.dtype).eps)
    lower, upper = observation.lower + known, observation.upper + known
    blind = np.abs(slope) <= eps * law.scale[..., 0, :, None]
    safe = np.where(blind, 1.0, slope)
    ends = np.stack([lower / safe, upper / safe])
    low = np.where(blind, -np.inf, ends.min(axis=0)).max(axis=-2)
    high = np.where(blind, np.inf, ends.max(axis=0)).min(axis=-2)
    size = np.abs(np.where(np.isfinite(ends), ends, 0)).max(axis=(0, -2)) + np.abs(query)
    allowed = SUPPORT_SLACK * eps * (size + np.abs(known / safe).max(axis=-2))
    gap = np.where(low > high, low - high, 0.0)
    # A head that sees nothing has equal log-ratios: its cell must hold them.
    outside = np.maximum(np.maximum(lower, -upper), 0.0)
    blind_gap = np.where(blind, outside, 0.0).max(axis=-2, initial=0)
    blind_allowed = SUPPORT_SLACK * eps * (1 + np.abs(known).max(axis=-2, initial=0))
    excess = np.maximum(gap / allowed, blind_gap / blind_allowed).max(axis=-1, initial=0)
    distance = np.maximum(gap, blind_gap).max(axis=-1, initial=0)
    high = np.maximum(low, high)
    means = np.swapaxes(model.mu[:, tokens, 0], 0, 1)  # (n, N)
    a, b = ((end[..., None] - means) / model.t for end in (low, high))
    mass = _log_interval(a, b)
    middle = np.where(np.isfinite(a), a, 0.0)  # used only where the ends meet
    density = -(middle**2) / 2 - np.log(2 * np.pi) / 2
    # A density of the log-ratios of the head that is steepest, as the row's law would have it.
    steepest = np.log(model.t * np.abs(safe).max(axis=-2))[..., None]
    exact = (low == high)[..., None]
    return np.where(exact, density - steepest, mass).sum(axis=-2), excess, distance


def _log_interval(a: Floats, b: Floats) -> Floats:
    r"""``\log(\Phi(b) - \Phi(a))`` for ``a <= b``, right in both tails and for thin intervals."""
    flip = a > 0  # work in the lower tail, where log_ndtr keeps its digits
    low, high = np.where(flip, -b, a), np.where(flip, -a, b)
    top, bottom = log_ndtr(high), log_ndtr(low)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        tails = top + np.log(-np.expm1(np.where(np.isneginf(bottom), -np.inf, bottom - top)))
        # Thin: the density at the middle, times the width, to second order.
        width, middle = high - low, (high + low) / 2
        thin = (
            np.log(width) - middle**2 / 2 - np.log(2 * np.pi) / 2
            + np.log1p(width**2 * (middle**2 - 1) / 24)
        )  # fmt: skip
        is_thin = width * (1 + np.abs(middle)) < 1e-4
    return np.where(is_thin, thin, tails)
