r"""What two components lose when only an observation is kept: a one-dimensional integral.

Given o, the log-odds of the full state are a mixture of two normals around those of o,

.. math:: \Lambda(Z) \mid o \sim r_1 N(\Lambda_o + \varsigma^2/2, \varsigma^2)
    + r_2 N(\Lambda_o - \varsigma^2/2, \varsigma^2), \qquad
    \varsigma^2 = |P_{\ker F} \Delta|^2 / t^2,

whatever P, d and H.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_ndtr

from numeric import door
from numeric.door import Floats

NODES, REACH = 121, 9.0  # of the trapezoid rule
WIDE = 4.0  # up to this standard deviation the rule is exact to rounding


def posterior_variance(log_odds: ArrayLike, variance: ArrayLike) -> Floats:
    r"""Variance of the full state's responsibility, given an observation.

    .. math:: \psi(\Lambda, \varsigma^2) = \operatorname{Var}(\sigma(\Lambda(Z)) \mid o)

    Args:
        log_odds: of the observation, any shape.
        variance: of the full log-odds given the observation and a component, at least 0; a shape
            that broadcasts.

    Returns:
        the variance, at most `posterior_variance_bound`; absolute error 1e-14.

    Raises:
        ShapeError, DtypeError, NonFiniteError: the arguments are no such arrays.
        DomainError: a negative variance.

    Source: FB-15. Up to a standard deviation of 4 the trapezoid rule with 121 nodes on [-9, 9];
    beyond, the step of the sigmoid is integrated apart from its tails.

    Example:
        >>> float(posterior_variance(0.0, 4.0).round(8))
        0.13760012
    """
    log_odds = door.real("log_odds", log_odds).astype(np.float64)
    variance = door.at_least("variance", door.real("variance", variance), 0).astype(np.float64)
    shape = door.common_batch(log_odds=(log_odds, 0), variance=(variance, 0))
    log_odds = np.broadcast_to(log_odds, shape).reshape(-1)
    sd = np.sqrt(np.broadcast_to(variance, shape).reshape(-1))
    psi = np.empty(len(sd))
    narrow = sd <= WIDE
    psi[narrow] = _by_trapezoid(log_odds[narrow], sd[narrow])
    psi[~narrow] = _by_tails(log_odds[~narrow], sd[~narrow])
    bound = posterior_variance_bound(log_odds, sd**2)
    return np.clip(psi, 0.0, bound).reshape(shape)


def posterior_variance_bound(log_odds: ArrayLike, variance: ArrayLike) -> Floats:
    r"""Closed upper bound of `posterior_variance`.

    .. math:: \min\{r_1 r_2,\ (\varsigma^2 + r_1 r_2 \varsigma^4)/16\}

    Args, Raises: as `posterior_variance`.

    Source: FB-15.

    Example:
        >>> posterior_variance_bound([0.0, 0.0], [0.16, 100.0]).tolist()
        [0.0104, 0.25]
    """
    log_odds = door.real("log_odds", log_odds)
    variance = door.at_least("variance", door.real("variance", variance), 0)
    door.common_batch(log_odds=(log_odds, 0), variance=(variance, 0))
    with np.errstate(under="ignore", over="ignore"):
        odd = expit(log_odds) * expit(-log_odds)
        return np.minimum(odd, (variance + odd * variance**2) / 16)


def _by_trapezoid(log_odds: Floats, sd: Floats) -> Floats:
    nodes = np.linspace(-REACH, REACH, NODES)
    weights = np.exp(-(nodes**2) / 2) / np.sqrt(2 * np.pi) * (nodes[1] - nodes[0])
    total = np.zeros(len(sd))
    with np.errstate(under="ignore"):
        for sign in (1.0, -1.0):
            step = sign * sd[:, None] ** 2 / 2 + sd[:, None] * nodes
            # sigma(a) - sigma(b) = sigma(a) sigma(-b) (1 - exp(b - a)), without cancellation
            gap = expit(log_odds[:, None] + step) * expit(-log_odds)[:, None] * -np.expm1(-step)
            total += expit(sign * log_odds) * (gap**2 @ weights)
    return total


def _by_tails(log_odds: Floats, sd: Floats) -> Floats:
    """``r_1 (r_2 - E_1[sigma(-L)])``, with ``L ~ N(log_odds + sd^2/2, sd^2)``."""
    log_odds = np.abs(log_odds)
    mean = log_odds + sd**2 / 2
    nodes, weights = np.polynomial.legendre.leggauss(96)
    nodes, weights = 20 * (nodes + 1), 20 * weights
    with np.errstate(under="ignore"):
        density = (
            np.exp(-(((nodes - mean[:, None]) / sd[:, None]) ** 2) / 2)
            - np.exp(-(((nodes + mean[:, None]) / sd[:, None]) ** 2) / 2)
        ) / (np.sqrt(2 * np.pi) * sd[:, None])
        expected = np.exp(log_ndtr(-mean / sd)) + (density * expit(-nodes)) @ weights
    return expit(log_odds) * (expit(-log_odds) - expected)
