"""Finite depth on a Gaussian: layers one after the other, and what they cost against the flow.

A layer has a step ``eta`` in [0, 1] and an inverse bandwidth ``beta``; it advances main-text time
by ``eta/beta``. Both may change from layer to layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import DomainError
from numeric.kernels import depth as kernels
from numeric.linear_algebra import symmetric_part


def depth_flow(v0: ArrayLike, eta: ArrayLike, beta: ArrayLike) -> door.Floats:
    r"""Eigenvalue of the covariance before and after each layer.

    .. math:: v_{\ell+1} = v_\ell\Big(1 - \frac{\eta_\ell}{1 + \beta_\ell v_\ell}\Big)^2

    Args:
        v0: eigenvalue before the first layer, at least 0, shape ``batch``.
        eta: steps of the layers, in [0, 1], shape ``(*batch, n_layers)``.
        beta: inverse bandwidths, at least 0, shape ``(*batch, n_layers)`` or a number.

    Returns:
        the eigenvalues, shape ``(*batch, n_layers + 1)``, the first one `v0`.

    Raises:
        DomainError: a negative eigenvalue or bandwidth, or a step outside of [0, 1].
        DtypeError, NonFiniteError, ShapeError: an argument is no array of finite real numbers, or
            the shapes don't fit together.

    Source: EB-10, EB-18. Kernel: `depth.layer`.

    Example:
        >>> depth_flow(1.0, [0.5, 0.5], 1.0).round(4).tolist()
        [1.0, 0.5625, 0.2601]
    """
    v0 = door.at_least("v0", door.real("v0", v0), 0)
    eta, beta = _schedule(eta, beta)
    door.common_batch(v0=(v0, 0), eta=(eta, 1))
    values = [v0 + 0 * eta[..., :1].sum(axis=-1)]
    for layer in range(eta.shape[-1]):
        values.append(kernels.layer(values[-1], eta[..., layer], beta[..., layer]))
    return np.stack(values, axis=-1)


def covariance_layers(cov: ArrayLike, eta: ArrayLike, beta: ArrayLike) -> door.Floats:
    r"""Covariance of a Gaussian before and after each layer, through its eigenbasis.

    Args:
        cov: covariance before the first layer, shape ``(n, n)``, symmetric psd, may be singular.
        eta: steps of the layers, in [0, 1], shape ``(n_layers,)``.
        beta: inverse bandwidths, at least 0, shape ``(n_layers,)`` or a number.

    Returns:
        the covariances, shape ``(n_layers + 1, n, n)``, with the eigenvectors of `cov`.

    Raises:
        NotSymmetricError, NotPositiveSemidefiniteError: `cov` is no covariance.
        DomainError, DtypeError, NonFiniteError, ShapeError: as for `depth_flow`.

    Source: EB-10, EB-40. Kernel: `depth.layer`.

    Example:
        >>> covariance_layers([[1.0, 0.0], [0.0, 0.0]], [0.5], 1.0)[-1].tolist()
        [[0.5625, 0.0], [0.0, 0.0]]
    """
    cov = door.covariance("cov", cov)
    if cov.ndim != 2:
        raise door.ShapeError("cov", "one matrix", f"shape {cov.shape}")
    eta, beta = _schedule(eta, beta)
    if eta.ndim != 1:
        raise door.ShapeError("eta", "one axis of layers", f"shape {eta.shape}")
    values, vectors = np.linalg.eigh(cov)
    moved = depth_flow(np.maximum(values, 0), eta[None, :], beta[None, :]).T
    return symmetric_part(np, (vectors * moved[:, None, :]) @ vectors.T)


def minimal_depth(sigma2: float, beta: float) -> int:
    r"""Least number of equal layers that reach the nominal end with steps below 1.

    .. math:: \lfloor \beta\sigma^2/2 \rfloor + 1

    Args:
        sigma2: noise variance, at least 0.
        beta: inverse bandwidth, at least 0; the product below 2^53.

    Returns:
        the depth: ``beta*sigma2/2/depth`` is below 1 also as a float.

    Raises:
        DomainError: an argument is negative, or the product is too large.
        DtypeError, NonFiniteError: an argument is no finite real number.

    Source: EB-15.

    Example:
        >>> minimal_depth(0.25, 1600.0)  # a step of 1 is not below 1
        201
    """
    noise = door.at_least("sigma2", door.real("sigma2", sigma2), 0)
    sharpness = door.at_least("beta", door.real("beta", beta), 0)
    end = float(noise) * float(sharpness) / 2
    if end >= 2.0**53:
        raise DomainError("beta", "beta*sigma2/2 below 2^53", f"{end:g}")
    return int(end) + 1


def equal_steps(sigma2: float, beta: float, n_layers: int) -> door.Floats:
    r"""The steps of so many equal layers that reach the nominal end, main-text time sigma2/2.

    .. math:: \eta = \frac{\beta\sigma^2}{2L}

    Args:
        sigma2: noise variance, at least 0.
        beta: inverse bandwidth, at least 0.
        n_layers: number of layers, at least `minimal_depth`.

    Returns:
        the steps, shape ``(n_layers,)``, each below 1.

    Raises:
        DomainError: too few layers, or as for `minimal_depth`.
        DtypeError, NonFiniteError: as for `minimal_depth`.

    Source: EB-15.

    Example:
        >>> equal_steps(0.5, 4.0, 2).tolist()
        [0.5, 0.5]
    """
    least = minimal_depth(sigma2, beta)
    if n_layers < least:
        raise DomainError(
            "n_layers", "steps below 1", f"{n_layers} layers", f"take at least {least}"
        )
    return np.full(n_layers, beta * sigma2 / 2 / n_layers)


def schedule_time(eta: ArrayLike, beta: ArrayLike) -> door.Floats:
    r"""Main-text time that a schedule of layers advances, sum of eta/beta.

    A schedule that denoises has the time sigma2/2.

    Args:
        eta: steps of the layers, in [0, 1], shape ``(*batch, n_layers)``.
        beta: inverse bandwidths, above 0, shape ``(*batch, n_layers)`` or a number.

    Returns:
        the time, shape ``batch``.

    Raises:
        DomainError, DtypeError, NonFiniteError, ShapeError: as for `depth_flow`; or a beta of 0.

    Source: EB-18.

    Example:
        >>> float(schedule_time([0.5, 0.5], [2.0, 4.0]))
        0.375
    """
    steps, widths = _schedule(eta, beta)
    door.at_least("beta", widths, 0, strict=True)
    return (steps / widths).sum(axis=-1)


def layer_defect(v: ArrayLike, h: ArrayLike, beta: ArrayLike) -> door.Floats:
    r"""What one layer adds to log v beyond the flow, leading term.

    .. math:: h^2\,\frac{v - 1/\beta}{(v + 1/\beta)^3}

    Args:
        v: eigenvalue before the layer, at least 0, shape ``batch``.
        h: main-text time that the layer advances, eta/beta, at least 0, shape ``batch``.
        beta: inverse bandwidth, at least 0, shape ``batch``; ``beta*h`` is at most 1.

    Returns:
        the defect, shape ``batch``, up to a remainder of order h^3.

    Raises:
        DomainError: an argument outside of its range.
        DtypeError, NonFiniteError, ShapeError: as for `depth_flow`.

    Source: EB-10. Kernel: `depth.log_defect`.

    Example:
        >>> float(layer_defect(1.0, 0.5, 1.0))  # it changes its sign at beta*v = 1
        0.0
    """
    v = door.at_least("v", door.real("v", v), 0)
    h = door.at_least("h", door.weak("h", h, v), 0)
    beta = door.at_least("beta", door.weak("beta", beta, v), 0)
    door.common_batch(v=(v, 0), h=(h, 0), beta=(beta, 0))
    door.at_most("beta*h", beta * h, 1)
    return kernels.log_defect(v, h, beta)


def euler_error(
    v_start: ArrayLike, v_end: ArrayLike, eta: ArrayLike, beta: ArrayLike
) -> door.Floats:
    r"""How far equal layers end from the flow, leading term in the step.

    .. math:: h\,\frac{v_T}{v_T + 1/\beta}\Big[\ln\frac{v_0 + 1/\beta}{v_T + 1/\beta}
              - \tfrac12\ln\frac{v_0}{v_T}\Big]

    Args:
        v_start: eigenvalue before the first layer, above 0, shape ``batch``.
        v_end: where the flow ends, above 0 and at most `v_start`, shape ``batch``.
        eta: step of every layer, in [0, 1], shape ``batch``.
        beta: inverse bandwidth, at least 0, shape ``batch``.

    Returns:
        eigenvalue after the last layer less that of the flow, shape ``batch``.

    Raises:
        DomainError: an argument outside of its range, or ``v_end > v_start``.
        DtypeError, NonFiniteError, ShapeError: as for `depth_flow`.

    Source: EB-10. Kernel: `depth.euler_error`.

    Example:
        >>> bool(euler_error(2.0, 1.0, 0.1, 10.0) > 0)
        True
    """
    v_start = door.at_least("v_start", door.real("v_start", v_start), 0, strict=True)
    v_end = door.at_least("v_end", door.weak("v_end", v_end, v_start), 0, strict=True)
    eta, beta = _steps(door.weak("eta", eta, v_start), door.weak("beta", beta, v_start))
    door.common_batch(v_start=(v_start, 0), v_end=(v_end, 0), eta=(eta, 0), beta=(beta, 0))
    if (v_end > v_start).any():
        raise DomainError("v_end", "numbers of at most v_start", "a larger one")
    return kernels.euler_error(v_start, v_end, eta, beta)


@dataclass(frozen=True)
class Shortcut:
    """An estimate without one of the two stages, along one eigendirection.

    Attributes:
        slope: of the estimate, where that of Bayes is ``s/(s + sigma2)``.
        excess_mse: mean square error above that of Bayes.
    """

    slope: door.Floats
    excess_mse: door.Floats


def one_shot(s: ArrayLike, sigma2: ArrayLike) -> Shortcut:
    r"""Stage 2 on the noisy tokens themselves, without any layer of Stage 1.

    .. math:: \frac{s+\sigma^2}{s+2\sigma^2}, \qquad
              \frac{\sigma^8}{(s+\sigma^2)(s+2\sigma^2)^2}

    Args:
        s: eigenvalue of the clean covariance, at least 0, shape ``batch``.
        sigma2: noise variance, at least 0, shape ``batch``; not both 0.

    Returns:
        slope and excess, shape ``batch`` each. It shrinks less than Bayes, also with infinitely
        many tokens.

    Raises:
        DomainError: a negative argument, or both 0.
        DtypeError, NonFiniteError, ShapeError: as for `depth_flow`.

    Source: EB-21. Kernel: `depth.one_shot`.

    Example:
        >>> float(one_shot(1.0, 1.0).slope)  # Bayes: 1/2
        0.6666666666666666
    """
    slope, _, excess_mse = kernels.one_shot(*_variances(s, sigma2))
    return Shortcut(slope, excess_mse)


def stage_one(s: ArrayLike, sigma2: ArrayLike) -> Shortcut:
    r"""Stage 1 alone at exact recovery: it transports the noisy law onto the clean one.

    .. math:: \sqrt{\frac{s}{s+\sigma^2}}, \qquad s\Big(1 - \sqrt{\frac{s}{s+\sigma^2}}\Big)^2

    Args:
        s: eigenvalue of the clean covariance, at least 0, shape ``batch``.
        sigma2: noise variance, at least 0, shape ``batch``; not both 0.

    Returns:
        slope and excess, shape ``batch`` each.

    Raises:
        DomainError, DtypeError, NonFiniteError, ShapeError: as for `one_shot`.

    Source: EB-22. Kernel: `depth.stage_one`.

    Example:
        >>> float(stage_one(1.0, 3.0).slope)  # Bayes: 1/4
        0.5
    """
    return Shortcut(*kernels.stage_one(*_variances(s, sigma2)))


def bayes_time(s: ArrayLike, sigma2: ArrayLike, beta: ArrayLike) -> door.Floats:
    r"""Main-text time at which Stage 1 alone has the slope of Bayes.

    .. math:: t_B = \frac{\sigma^2(2s+\sigma^2)}{2(s+\sigma^2)} + \frac1\beta
              \ln\frac{s+\sigma^2}{s}

    Args:
        s: eigenvalue of the clean covariance, at least 0, shape ``batch``.
        sigma2: noise variance, at least 0, shape ``batch``; not both 0.
        beta: inverse bandwidth, above 0, shape ``batch``.

    Returns:
        the time, shape ``batch``; infinite where s = 0 < sigma2.

    Raises:
        DomainError: as for `one_shot`, or a beta that is not above 0.
        DtypeError, NonFiniteError, ShapeError: as for `depth_flow`.

    Source: EB-22. Kernel: `depth.bayes_time`.

    Example:
        >>> bool(bayes_time(1.0, 0.5, 20.0) > 0.25)  # later than the nominal end
        True
    """
    s, sigma2 = _variances(s, sigma2)
    beta = door.at_least("beta", door.weak("beta", beta, s), 0, strict=True)
    door.common_batch(s=(s, 0), sigma2=(sigma2, 0), beta=(beta, 0))
    return kernels.bayes_time(beta, s, sigma2)


# ---------------------------------------------------------------- at the door


def _steps(eta: door.Floats, beta: door.Floats) -> tuple[door.Floats, door.Floats]:
    eta = door.at_most("eta", door.at_least("eta", eta, 0), 1)
    return eta, door.at_least("beta", beta, 0)


def _schedule(eta: ArrayLike, beta: ArrayLike) -> tuple[door.Floats, door.Floats]:
    """Steps and bandwidths with one axis of layers each, of the same length."""
    steps = door.real("eta", eta, 1)
    steps, widths = _steps(steps, door.weak("beta", beta, steps))
    if widths.ndim == 0:
        widths = np.broadcast_to(widths, steps.shape)
    door.same_axis("eta", steps.shape[-1], "beta", widths.shape[-1])
    batch = door.common_batch(eta=(steps, 1), beta=(widths, 1))
    whole = (*batch, steps.shape[-1])
    return np.broadcast_to(steps, whole), np.broadcast_to(widths, whole)


def _variances(s: ArrayLike, sigma2: ArrayLike) -> tuple[door.Floats, door.Floats]:
    clean = door.at_least("s", door.real("s", s), 0)
    noise = door.at_least("sigma2", door.weak("sigma2", sigma2, clean), 0)
    door.common_batch(s=(clean, 0), sigma2=(noise, 0))
    if (clean + noise == 0).any():
        raise DomainError("sigma2", "s and sigma2 not both 0", "both 0")
    return clean, noise
