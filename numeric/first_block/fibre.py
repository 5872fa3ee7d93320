r"""What an observation leaves open, and whether anything hangs on it.

The states with the same query, row and values form the affine set ``F z = b``. On it the log-odds
are affine with gradient ``P_ker F Delta / t^2``, so nothing is lost if and only if no contrast of
means has a part in the kernel of F.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numeric import door
from numeric.door import Floats
from numeric.errors import DomainError, DtypeError
from numeric.first_block.block import AttentionBlock
from numeric.first_block.inference import Margins, posterior
from numeric.first_block.model import CorruptionModel
from numeric.first_block.observations import (
    NoisyValues,
    QueryRow,
    QueryRowProjected,
    QueryRowValues,
    RowObservation,
)
from numeric.first_block.resolution import Resolution, resolve
from numeric.first_block.slices import batch_of, slices
from numeric.first_block.two_components import posterior_variance
from numeric.stability import Stability, stability_bound

EPS = float(np.finfo(np.float64).eps)
CONTRAST_SLACK = 16.0  # what rounding may leave of a resolved contrast, in units of rounding


@dataclass(frozen=True, eq=False)
class Sufficiency:
    """Whether an observation has the posterior of the full state.

    Attributes:
        is_sufficient: every contrast is resolved, shape ``batch``.
        worst_contrast: largest ``|P_ker F Delta_nm| / t``, shape ``batch``.
        worst_share: largest part ``|P_ker F Delta_nm| / |Delta_nm|`` of a contrast, ``batch``.
        tolerance: shares up to it count as zero, shape ``batch``.
        margins: the singular values behind the ranks. One just above its tolerance resolves in
            exact arithmetic and in none other.
    """

    is_sufficient: NDArray[np.bool_]
    worst_contrast: Floats
    worst_share: Floats
    tolerance: Floats
    margins: Margins

    @property
    def agrees(self) -> bool:
        """Whether all verdicts of the batch, and the ranks behind them, are the same (FB-13b)."""
        rank = self.margins.row_rank + self.margins.value_rank
        return all(a.size == 0 or a.min() == a.max() for a in (self.is_sufficient, rank))


@dataclass(frozen=True, eq=False)
class Grouping:
    """Components that the kernel of F doesn't tell apart (FB-16).

    Attributes:
        group: label of each component's group, shape ``(*batch, N)``.
        means_preserved: on the whole fibre the noise mean is that of the full state, ``batch``.
        gap: largest distance between the target means of two groups, shape ``batch``.
    """

    group: NDArray[np.integer[Any]]
    means_preserved: NDArray[np.bool_]
    gap: Floats


def unresolved_contrasts(
    model: CorruptionModel,
    block: AttentionBlock,
    observation: RowObservation,
    *,
    rank_tol: float | None = None,
) -> Floats:
    r"""Contrasts of means that the observation leaves open, in units of the noise.

    .. math:: |P_{\ker F} (\mu_n - \mu_m)_{-i}| / t

    Its square is the variance of the full log-odds given the observation and any component.

    Args:
        model, block, observation, rank_tol: as for `posterior`.

    Returns:
        shape ``(*batch, N, N)``.

    Raises: as `posterior`, but for data off the support, which have a kernel too.

    Source: FB-13.

    Example:
        >>> e1 = np.array([[1.0, 0.0]])
        >>> block = AttentionBlock([e1], [e1], [e1], n_tokens=2)
        >>> clean = np.array([[[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.3]]])
        >>> model = CorruptionModel(clean, np.array([0.5, 0.5]), 0.5)
        >>> seen = QueryRowValues.of(block.run(np.array([[1.0, 0.0], [0.3, 0.4]])))
        >>> float(unresolved_contrasts(model, block, seen)[0, 1] ** 2)
        1.6900000000000002
    """
    first, second = np.triu_indices(model.n_components, k=1)
    table = np.zeros((*batch_of(block, observation), model.n_components, model.n_components))
    flat = table.reshape(math.prod(table.shape[:-2]), model.n_components, model.n_components)
    for part, _, found in resolutions(model, block, observation, rank_tol=rank_tol):
        open_ = np.sqrt(_open_squares(model, block, found)) / model.t
        flat[part, first, second] = flat[part, second, first] = open_
    return flat.reshape(table.shape)


def sufficiency(
    model: CorruptionModel,
    block: AttentionBlock,
    observation: RowObservation,
    *,
    rank_tol: float | None = None,
) -> Sufficiency:
    """Whether the observation has the full state's posterior, with the margins of the verdict.

    For given weights and clean arrays the verdict is the same at almost every observation; see
    `zero_one_law`.

    Args, Raises: as `unresolved_contrasts`.

    Source: FB-13d, FB-13b.
    """
    batch = batch_of(block, observation)
    contrast, share, tolerance = (np.zeros(batch).reshape(-1) for _ in range(3))
    pairs = np.triu_indices(model.n_components, k=1)
    others = np.delete(model.clean, block.target, axis=1)
    others = others.reshape(model.n_components, (model.n_tokens - 1) * model.width)
    whole = (1 - model.t) * np.linalg.norm(others[pairs[0]] - others[pairs[1]], axis=-1)
    for part, _, found in resolutions(model, block, observation, rank_tol=rank_tol):
        open_ = np.sqrt(_open_squares(model, block, found))
        contrast[part] = open_.max(axis=-1, initial=0) / model.t
        shares = np.where(whole > 0, open_ / np.where(whole > 0, whole, 1.0), 0.0)
        share[part] = shares.max(axis=-1, initial=0)
        tolerance[part] = _tolerance(found)
    law = posterior(model, block, observation, rank_tol=rank_tol, off_support="flag")
    assert law.margins is not None
    return Sufficiency(
        (share <= tolerance).reshape(batch), contrast.reshape(batch), share.reshape(batch),
        tolerance.reshape(batch), law.margins,
    )  # fmt: skip


def zero_one_law(
    model: CorruptionModel,
    block: AttentionBlock,
    kind: type[QueryRow] | type[QueryRowValues] | type[QueryRowProjected],
    *,
    seed: int,
    rank_tol: float | None = None,
) -> Sufficiency:
    """The verdict of `sufficiency` at three random observations, which must agree.

    Ranks and contrasts are maximal off a null set, so a disagreement says that the rank tolerance
    is at fault: look at the margins.

    Args:
        model, block, rank_tol: as for `posterior`; the block without batch axes.
        kind: type of the observation.
        seed: of the three draws.

    Returns:
        the three verdicts, batch shape ``(3,)``; see `Sufficiency.agrees`.

    Source: FB-13b.
    """
    run = block.run(model.draw(3, seed=seed).state)
    return sufficiency(model, block, kind.of(run), rank_tol=rank_tol)


def information_loss(
    model: CorruptionModel,
    block: AttentionBlock,
    observation: RowObservation,
    *,
    rank_tol: float | None = None,
) -> Floats:
    r"""Exact conditional loss of two components: what the full state would have told besides.

    .. math:: E\big[|m_Z - m_T|^2 \mid o\big] = \frac{|\mu_{1,i} - \mu_{2,i}|^2}{t^2}
        \psi(\Lambda_o, \varsigma_o^2)

    Args:
        model: with two components.
        block, observation, rank_tol: as for `posterior`.

    Returns:
        shape ``batch``.

    Raises:
        DomainError: not two components; else as `posterior`.

    Source: FB-14, FB-15.
    """
    if model.n_components != 2:
        raise DomainError("model", "two components", str(model.n_components))
    law = posterior(model, block, observation, rank_tol=rank_tol)
    variance = unresolved_contrasts(model, block, observation, rank_tol=rank_tol)[..., 0, 1] ** 2
    log_odds = law.log_responsibilities[..., 0] - law.log_responsibilities[..., 1]
    gap = model.mu[0, block.target] - model.mu[1, block.target]
    return gap @ gap / model.t**2 * posterior_variance(log_odds, variance)


def grouping(
    model: CorruptionModel,
    block: AttentionBlock,
    observation: RowObservation,
    *,
    rank_tol: float | None = None,
) -> Grouping:
    """Groups of components with equal ``P_ker F mu_n``, and whether the noise mean is preserved.

    It is, on the whole fibre, if and only if all groups have the same conditional target mean.

    Args, Raises: as `posterior`.

    Source: FB-16.
    """
    law = posterior(model, block, observation, rank_tol=rank_tol)
    batch, n = law.excess.shape, model.n_components
    contrasts = unresolved_contrasts(model, block, observation, rank_tol=rank_tol) * model.t
    contrasts = contrasts.reshape(math.prod(batch), n, n)
    log_r = law.log_responsibilities.reshape(math.prod(batch), n)
    targets = model.mu[:, block.target]
    apart = (1 - model.t) * (model.clean - model.clean.mean(axis=0)).reshape(n, -1)
    size = 2 * float(np.linalg.norm(apart, axis=-1).max())  # at least any contrast
    group = np.empty((len(log_r), n), dtype=np.intp)
    gap = np.zeros(len(log_r))
    tolerance = np.zeros(len(log_r))
    for part, _, found in resolutions(model, block, observation, rank_tol=rank_tol):
        tolerance[part] = _tolerance(found) * size
    for k, (open_, weights) in enumerate(zip(contrasts, log_r, strict=True)):
        group[k] = _components(open_ <= tolerance[k])
        means = np.array([_mean(weights, targets, group[k] == g) for g in np.unique(group[k])])
        gap[k] = np.linalg.norm(means[:, None] - means, axis=-1).max()
    error = law.log_odds_error.reshape(-1)
    allowed = CONTRAST_SLACK * np.maximum(EPS, error) * np.abs(targets).max(initial=0)
    return Grouping(group.reshape(*batch, n), (gap <= allowed).reshape(batch), gap.reshape(batch))


def frozen_row_difference(
    model: CorruptionModel,
    block: AttentionBlock,
    observation: QueryRowValues,
    *,
    rank_tol: float | None = None,
) -> Floats:
    r"""Exact log-odds minus those of the frozen row, in closed form.

    .. math:: \Lambda_{nm} - \tilde\Lambda_{nm} = t^{-2} \langle \Delta_{nm},
        (\Pi_F - \Pi_D)(z_{-i} - \bar\mu_{-i}) \rangle

    Args:
        model, block, observation, rank_tol: as for `posterior`.

    Returns:
        shape ``(*batch, N, N)``.

    Raises: as `posterior`, but for data off the support.

    Source: FB-17.
    """
    n = model.n_components
    table = np.zeros((*batch_of(block, observation), n, n))
    flat = table.reshape(math.prod(table.shape[:-2]), n, n)
    frozen = resolutions(model, block, observation, rank_tol=rank_tol, row_counts=False)
    for (part, _, exact), (_, _, plug_in) in zip(
        resolutions(model, block, observation, rank_tol=rank_tol), frozen, strict=True
    ):
        # With Q the difference of the projectors and means taken from a common origin, the inner
        # product is a difference of one term a component.
        origin = model.mu.mean(axis=0)
        score = np.zeros((len(exact.row.rank), n))
        for found, sign in ((exact, 1.0), (plug_in, -1.0)):
            mu, start = found.row.turned(model.mu - origin)[None], found.row.turned(origin)
            pinned = found.pinned(mu)
            apart = found.fibre_point()[:, None] - found.pinned(start[None, None])
            inner = np.einsum("bnjd,bnjd->bn", pinned, apart - pinned / 2)
            score += sign * inner / model.t**2
        flat[part] = score[:, :, None] - score[:, None, :]
    return flat.reshape(table.shape)


def row_stability(
    model: CorruptionModel,
    block: AttentionBlock,
    observation: QueryRow,
    delta: ArrayLike,
    *,
    rank_tol: float | None = None,
) -> Stability:
    r"""How far the posterior given query and row can be off when the row is known to intervals.

    With the observation's own margins: its least probability, and the least singular value of its
    measurement matrix that isn't zero. Heads that depend on each other may contradict each other
    in the row that is off; the bound then holds for the answer of ``off_support="flag"``.

    Args:
        model: the corruption law.
        block: with its target visible, no rotary maps and no batch axes.
        observation: query, which is exact, and row.
        delta: width of the interval that an entry is known to, below twice the least probability,
            shape ``()`` or ``batch``.
        rank_tol: as for `posterior`.

    Returns:
        bounds on the changes of the log-odds, in total variation, and of the noise mean, ``batch``.

    Raises:
        DomainError: another block, or an interval as wide as an entry; else as `posterior`.

    Source: FB-12g. Kernel: `stability.stability_bound`.
    """
    if not block.visible[block.target] or block.rotations is not None or block.batch:
        raise DomainError(
            "block", "a visible target, no rotary maps, no batch axes", "another block"
        )
    batch = batch_of(block, observation)
    least, rank = np.ones(batch).reshape(-1), np.zeros(math.prod(batch), dtype=np.intp)
    tau = np.exp(observation.log_row[..., block.visible]).min(axis=(-2, -1))
    for part, own, found in resolutions(model, block, observation, rank_tol=rank_tol):
        query = observation.query.reshape(len(least), model.width)[part]
        values = np.linalg.svd(own.measurement(query).matrix[:, 0], compute_uv=False)
        rank[part] = found.row.space.rank
        last = np.maximum(rank[part] - 1, 0)[:, None]
        least[part] = np.take_along_axis(values, last, axis=-1)[:, 0]
        # Contradictions are settled by least squares on normalized rows.
        space = found.row.space
        shortest = np.where(space.live, space.norms, np.inf).min(axis=-1)
        settled = np.where(space.gain > 0, shortest / np.where(space.gain > 0, space.gain, 1), 1.0)
        some = space.rank < space.live.sum(axis=-1)
        least[part] = np.where(some, np.minimum(least[part], settled), least[part])
    others = [j for j in np.flatnonzero(block.visible) if j != block.target]
    contrast, spread = _diameter(model.mu[:, others]), _diameter(model.clean[:, [block.target]])
    told = rank.reshape(batch) > 0  # without a rank the posterior does not depend on the row
    least = np.where(told, least.reshape(batch), 1.0)
    return stability_bound(
        delta, tau, block.n_heads, len(others) + 1, least, np.where(told, contrast, 0.0), spread,
        model.t,
    )  # fmt: skip


def _diameter(tokens: Floats) -> float:
    """Largest distance between two components' tokens ``(N, n, d)``."""
    flat = tokens.reshape(len(tokens), tokens.shape[1] * tokens.shape[2])
    return max(float(np.linalg.norm(flat - other, axis=-1).max()) for other in flat)


def resolutions(
    model: CorruptionModel,
    block: AttentionBlock,
    observation: RowObservation,
    *,
    rank_tol: float | None = None,
    row_counts: bool = True,
) -> Iterator[tuple[slice, AttentionBlock, Resolution]]:
    """What each slice of observations pins down, with the block's own slice.

    Raises:
        DtypeError: noisy values, which pin down no direction for certain.
    """
    door.tolerance("rank_tol", rank_tol)
    if isinstance(observation, NoisyValues):
        raise DtypeError("observation", "an exact row, with exact values if any", "NoisyValues")
    pairs = max(model.n_components, model.n_components * (model.n_components - 1) // 2)
    numbers = 3 * pairs * model.n_tokens * model.width
    for part, own, seen in slices(model, block, observation, numbers):
        yield part, own, resolve(own, seen, rank_tol=rank_tol, row_counts=row_counts)


def _open_squares(model: CorruptionModel, block: AttentionBlock, found: Resolution) -> Floats:
    """``|P_ker F Delta_nm|^2`` for n < m, shape ``(B, N (N-1)/2)``; hidden tokens are open."""
    first, second = np.triu_indices(model.n_components, k=1)
    # Subtracted before they are scaled: means far from 0 would lose what tells them apart.
    contrasts = (1 - model.t) * (model.clean[first] - model.clean[second])
    turned = found.row.turned(contrasts)[None]
    apart = turned - found.pinned(turned)
    hidden = np.setdiff1d(np.arange(model.n_tokens), [*found.row.tokens, block.target])
    unseen = (contrasts[:, hidden] ** 2).sum(axis=(-2, -1))
    return np.einsum("bpjd,bpjd->bp", apart, apart) + unseen


def _tolerance(found: Resolution) -> Floats:
    """What rounding may leave of a resolved direction, shape ``(B,)``."""
    n_coordinates = found.row.point.shape[-1] * found.row.point.shape[-2]
    return CONTRAST_SLACK * np.sqrt(max(1, n_coordinates)) * (EPS + found.turning)


def _components(adjacent: NDArray[np.bool_]) -> NDArray[np.integer[Any]]:
    """Labels of the connected components of a graph."""
    label = np.arange(len(adjacent))
    for n in range(len(adjacent)):
        for m in np.flatnonzero(adjacent[n, :n]):
            label[label == max(label[n], label[m])] = min(label[n], label[m])
    return label


def _mean(log_weights: Floats, targets: Floats, members: NDArray[np.bool_]) -> Floats:
    weights = np.exp(log_weights[members] - log_weights[members].max())
    return weights @ targets[members] / weights.sum()
