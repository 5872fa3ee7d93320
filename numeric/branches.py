"""What a two-token output says of its components when the attention row is discarded.

The row's logit is then known up to two branches at most, and each counts by the reciprocal of its
slope: how fast the output moves with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from numeric import door
from numeric.errors import DomainError
from numeric.kernels import branches as kernels
from numeric.kernels import logratio
from numeric.special_functions import FOLD


@dataclass(frozen=True)
class Branches:
    """The logits u with ``u/(1 + exp(-u)) = eta``, shape ``batch`` each.

    Attributes:
        count: how many there are: 2 below 0, 1 from 0 on.
        principal: the larger one.
        principal_slope: d eta/du there, at least 0.
        lower: the smaller one; -infinity, its limit, where there is none.
        lower_slope: d eta/du there, at most 0; 0, its limit, where there is none.
    """

    count: np.ndarray
    principal: door.Floats
    principal_slope: door.Floats
    lower: door.Floats
    lower_slope: door.Floats


def logit_branches(eta: ArrayLike) -> Branches:
    r"""All logits of an output.

    .. math:: u_b = \eta + W_b(\eta e^{-\eta}), \qquad b \in \{0, -1\}

    Args:
        eta: output in units of the gain, at least ``-W(1/e) = -0.278...``, shape ``batch``.

    Returns:
        the branches with their slopes, right to their last digits also near the fold.

    Raises:
        DomainError: an output below ``-W(1/e)``, which no logit gives.
        DtypeError, NonFiniteError: the argument is no array of finite real numbers.

    Source: FB-18. Kernels: `branches.principal`, `branches.lower`.

    Example:
        >>> found = logit_branches(-np.log(2) / 3)  # u = -log 2 and u = -3 log 2
        >>> np.exp([found.principal, found.lower]).round(12).tolist()
        [0.5, 0.125]
    """
    eta = door.at_least("eta", door.real("eta", eta), -FOLD)
    principal, principal_slope = kernels.principal(eta)
    two = eta < 0
    lower, lower_slope = kernels.lower(np.where(two, eta, -0.1).astype(eta.dtype))
    return Branches(
        np.asarray(1 + two.astype(np.intp)),
        principal,
        principal_slope,
        np.where(two, lower, -np.inf).astype(eta.dtype),
        np.where(two, lower_slope, 0).astype(eta.dtype),
    )


@dataclass(frozen=True)
class OutputPosterior:
    """What a scalar query and its output say of the component.

    Attributes:
        responsibilities: posterior of the components, shape ``(*batch, N)``.
        log_density: logarithm of the joint density of query and output, ``batch``; infinite at the
            fold.
        noise_mean: mean of the query's noise given both, ``batch``.
    """

    responsibilities: door.Floats
    log_density: door.Floats
    noise_mean: door.Floats


def output_posterior(
    query: ArrayLike,
    output: ArrayLike,
    means: ArrayLike,
    *,
    t: float,
    head: float,
    gain: float = 1.0,
    prior: ArrayLike | None = None,
) -> OutputPosterior:
    r"""Posterior of the components given the query token and the output, the row discarded.

    Two scalar tokens, one head: ``y = gain*(c + (z - c)*sigmoid(M*(z - c)))`` with ``M = head*c``.

    .. math:: p(c, y \mid n) = \varphi(c - \mu_{n1}; t^2) \sum_b \frac{\varphi(c + u_b/M - \mu_{n2};
              t^2)}{|\omega\, d\eta/du_b|}, \qquad \eta = M(y/\omega - c)

    Args:
        query: the query token c, not 0, shape ``batch``.
        output: the output y, shape ``batch``.
        means: means of the two tokens by component, shape ``(N, 2)``.
        t: corruption level, in (0, 1].
        head: product of the head's query and key, not 0.
        gain: product of its value and the output map, not 0.
        prior: probabilities of the components, shape ``(N,)``. Default: equal.

    Returns:
        responsibilities, density and noise mean. No quantity of the branch that generated the
        output enters.

    Raises:
        DomainError: an output that no token gives, a query, head or gain of 0, t outside of (0, 1],
            or a prior that isn't a probability vector.
        DtypeError, NonFiniteError, ShapeError: an argument is no array of finite real numbers, or
            the shapes don't fit together.

    Source: FB-18, FB-3. Kernels: `branches.principal`, `branches.lower`, `logratio.row`.

    Example:
        >>> pair = [[1.5, 0.0], [0.5, -2.0]]
        >>> found = output_posterior(1.0, 2 / 3, pair, t=0.5, head=float(np.log(2)))
        >>> found.responsibilities.round(9).tolist()
        [0.344685341, 0.655314659]
    """
    c, y = door.real("query", query), door.real("output", output)
    mu = door.real("means", means, 2)
    if mu.ndim != 2 or mu.shape[-1] != 2 or mu.shape[0] == 0:
        raise door.ShapeError("means", "shape (N, 2)", f"shape {mu.shape}")
    door.common_batch(query=(c, 0), output=(y, 0))
    if not 0 < t <= 1:
        raise DomainError("t", "a number in (0, 1]", f"{t!r}")
    scalars = {"query": c, "head": door.real("head", head), "gain": door.real("gain", gain)}
    for name, value in scalars.items():
        if (value == 0).any():
            raise DomainError(name, "numbers other than 0", "0", "the output is linear there")
    weights = np.full(len(mu), 1 / len(mu)) if prior is None else door.real("prior", prior, 1)
    door.same_axis("means", len(mu), "prior", weights.shape[-1])
    weights = door.sums_to_one("prior", door.at_least("prior", weights, 0, strict=True))
    c, y = np.broadcast_arrays(c, y)
    slope = head * c
    found = logit_branches(slope * (y / gain - c))
    two = found.count == 2
    joint = np.concatenate(
        [
            _log_joint(c, slope, found.principal, found.principal_slope, mu, t),
            np.where(
                two[..., None],
                _log_joint(c, slope, np.where(two, found.lower, 0), found.lower_slope, mu, t),
                -np.inf,
            ),
        ],
        axis=-1,
    ) + np.log(np.concatenate([weights, weights]))
    shares = logratio.row(joint)
    responsibilities = shares[..., : len(mu)] + shares[..., len(mu) :]
    log_density = np.logaddexp.reduce(joint, axis=-1) - np.log(np.abs(gain))
    return OutputPosterior(
        responsibilities,
        np.where(found.principal_slope == 0, np.inf, log_density),
        (c - responsibilities @ mu[:, 0]) / t,
    )


def _log_joint(
    c: door.Floats, slope: door.Floats, u: door.Floats, rate: door.Floats, mu: door.Floats, t: float
) -> door.Floats:
    """log of both tokens' densities over what a branch weighs; shape ``(*batch, N)``.

    Where the rate is 0, at the fold, both branches weigh alike and the rate is left out.
    """
    token = c + u / slope
    squares = (c[..., None] - mu[:, 0]) ** 2 + (token[..., None] - mu[:, 1]) ** 2
    weight = np.log(np.where(rate == 0, 1, np.abs(rate)))
    return -squares / (2 * t**2) - np.log(2 * np.pi * t**2) - weight[..., None]
