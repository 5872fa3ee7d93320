"""Refinement of a cloud of noisy tokens into a prior, and denoising by that prior.

Stage 1 moves the tokens, all at once, layer after layer, towards the law they had before the
noise. Stage 2 takes what they became as the prior, and gives any query its posterior mean.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import DomainError
from numeric.particles.schedules import Schedule, equal_layers
from numeric.particles.sums import KernelSums, cloud, kernel_sums, masses, sharpness, sums
from numeric.ripples import log_amplification

# A median normalizer below this share above the particle's own weight moves nothing to speak of.
INERT = 0.01
# So few particles have no ripples to speak of.
FEW = 20


class BandwidthWarning(UserWarning):
    """A bandwidth with which the first stage does little, or draws particles into clusters."""


@dataclass(frozen=True)
class RefinedPrior:
    """What the first stage made of the tokens; answers any number of queries.

    Attributes:
        particles: shape ``(N, d)``.
        weights: shape ``(N,)``.
        sigma2: variance of the noise that it undoes.
        time: main-clock time at which it was taken; the nominal end is sigma2/2.
        theta: appendix-clock time.
        empty: no token was left by truncation, and the particle at 0 is a convention.
    """

    particles: door.Floats
    weights: door.Floats
    sigma2: float
    time: float
    theta: float
    empty: bool = False


@dataclass(frozen=True)
class Layer:
    """The particles after a layer; the tokens themselves before the first.

    Attributes:
        index: number of layers so far.
        time, theta: main-clock and appendix-clock time.
        particles: shape ``(N, d)``; not to be changed.
        sums: the sums with which the next layer moves them; None after the last.
    """

    index: int
    time: float
    theta: float
    particles: door.Floats
    sums: KernelSums | None


Observer = Callable[[Layer], None]


def refine(
    tokens: ArrayLike,
    sigma2: float,
    schedule: Schedule,
    *,
    weights: ArrayLike | None = None,
    method: str = "auto",
    workers: int = 1,
    observer: Observer | None = None,
) -> RefinedPrior:
    r"""Stage 1: the particles after the layers of a schedule.

    .. math:: Z \leftarrow Z + \eta_\ell\,(F_{\beta_\ell}(Z; Z) - Z)

    Warns:
        BandwidthWarning: hardly any particle sees another, or ripples of a uniform cloud of so many
            particles grow to its own size.

    Args:
        tokens: shape ``(N, d)``, N at least 1; may repeat.
        sigma2: noise variance, above 0.
        schedule: the layers, by `equal_layers` or `annealed_layers`.
        weights: shape ``(N,)``, at least 0, not all 0. Default: all alike.
        method, workers: as for `kernel_sums`.
        observer: called with each `Layer`, the tokens first.

    Returns:
        the prior.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arrays don't fit together.
        DomainError: an argument is outside of its range.

    Source: EB-6, EB-15, EB-18.

    Example:
        >>> layers = equal_layers(0.5, 2.0, 1)
        >>> refine([[-1.0], [1.0]], 0.5, layers).particles.round(4).tolist()
        [[-0.982], [0.982]]
    """
    z, w, noise = checked(tokens, weights, sigma2)
    time = theta = 0.0
    layers = list(zip(schedule.eta.tolist(), schedule.beta.tolist(), strict=True))
    for index, (eta, beta) in enumerate(layers):
        if not 0 < eta < 1:
            raise DomainError("schedule.eta", "steps above 0 and below 1", f"{eta:g}")
        found = sums(
            z, z, sharpness(beta, z), w, method=method, workers=workers, repeats=len(layers)
        )
        if index == 0:
            warn_about_bandwidth(found, w, noise, beta)
        if observer is not None:
            observer(Layer(index, time, theta, z, found))
        z = z + z.dtype.type(eta) * found.shift
        time, theta = time + eta / beta, theta + eta
    if observer is not None:
        observer(Layer(len(layers), time, theta, z, None))
    return RefinedPrior(z, w, noise, time, theta)


def posterior_mean(
    prior: RefinedPrior, queries: ArrayLike, *, method: str = "auto", workers: int = 1
) -> door.Floats:
    r"""Stage 2: posterior mean of each query under a refined prior.

    .. math:: m(y) = \sum_j b_j z_j, \qquad b = \mathrm{softmax}_j(-|y - z_j|^2/2\sigma^2)

    Args:
        prior: of `refine`, `flow` or `truncated_flow`.
        queries: shape ``(M, d)``, whether or not they were tokens; a far one gets the nearest
            particle.
        method, workers: as for `kernel_sums`.

    Returns:
        means, shape ``(M, d)``.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `kernel_sums`.

    Source: EB-13, EB-15.

    Example:
        >>> prior = RefinedPrior(np.array([[-1.0], [1.0]]), np.ones(2), 0.5, 0.0, 0.0)
        >>> posterior_mean(prior, [[0.0], [1e300]]).tolist()
        [[0.0], [1.0]]
    """
    return kernel_sums(
        queries, prior.particles, 1 / prior.sigma2, weights=prior.weights, method=method,
        workers=workers,
    ).mean  # fmt: skip


def denoise(
    tokens: ArrayLike,
    sigma2: float,
    beta: float,
    n_layers: int,
    *,
    weights: ArrayLike | None = None,
    method: str = "auto",
    workers: int = 1,
    observer: Observer | None = None,
) -> tuple[door.Floats, RefinedPrior]:
    """Both stages on the tokens themselves: finite depth and sample.

    Args:
        tokens, sigma2, weights, method, workers, observer: as for `refine`.
        beta: inverse bandwidth of the first stage, above 0.
        n_layers: how many layers, more than ``beta*sigma2/2``; 0 for the second stage alone.

    Returns:
        estimates of the clean tokens, shape ``(N, d)``, and the prior, for further queries.

    Raises:
        ShapeError, DtypeError, NonFiniteError, DomainError: as for `refine`; too few layers.

    Source: EB-15 (Algorithm 1), EB-21.

    Example:
        >>> denoise([[3.0, 4.0]], 0.5, 2.0, 5)[0].tolist()
        [[3.0, 4.0]]
    """
    prior = refine(
        tokens, sigma2, equal_layers(sigma2, beta, n_layers), weights=weights, method=method,
        workers=workers, observer=observer,
    )  # fmt: skip
    return posterior_mean(prior, tokens, method=method, workers=workers), prior


def checked(
    tokens: ArrayLike, weights: ArrayLike | None, sigma2: float
) -> tuple[door.Floats, door.Floats, float]:
    """Tokens and weights of one type, and the noise variance."""
    z = cloud("tokens", tokens)
    w = masses("weights", weights, z)
    noise = door.at_least("sigma2", door.real("sigma2", sigma2), 0, strict=True)
    if noise.ndim or not math.isfinite(1 / float(noise)):
        raise DomainError("sigma2", "one number whose inverse is finite", str(sigma2))
    dtype = np.result_type(z, w)
    return z.astype(dtype, copy=False), w.astype(dtype, copy=False), float(noise)


def warn_about_bandwidth(
    found: KernelSums, weights: door.Floats, sigma2: float, beta: float
) -> None:
    """Say when the first stage does nothing, or when it clusters."""
    count = int((weights > 0).sum())
    if count < 2:
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.median((found.log_normalizer - np.log(weights))[weights > 0])
    if alone < math.log1p(INERT):
        warnings.warn(
            f"half of the {count} particles see hardly any other at beta = {beta:g}: median "
            f"normalizer {math.exp(alone):.4f} in units of their own weight, so the first stage "
            "moves little; take a smaller beta or more tokens",
            BandwidthWarning,
            stacklevel=3,
        )
    elif count >= FEW and float(log_amplification(sigma2, beta)) > math.log(count) / 2:
        onset = math.e * math.log(count) / (2 * sigma2)
        warnings.warn(
            f"at beta = {beta:g} a ripple of {count} particles grows to the size of the cloud and "
            f"they gather in clusters; the onset is near beta = {onset:.3g}",
            BandwidthWarning,
            stacklevel=3,
        )
