r"""The posterior given query token and output, where the row was discarded: two tokens, one head.

.. math:: q_n(c, y) = \int p(n, c, l, y)\, dl

The integrand is the joint density of label, query, log-ratio and output, which the posterior that
keeps the row has exactly; only the row is integrated away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from numeric.first_block import AttentionBlock, CorruptionModel, QueryRowProjected, posterior

REACH = 10.0  # standard deviations of the log-ratio on either side of the outermost mean
FIRST_NODES, MOST_NODES = 129, 16_385
BATCH_NODES = 400_000  # nodes at once


class OutputPosterior(NamedTuple):
    """Responsibilities ``(count, N)`` and how much the last halving of the step changed them."""

    responsibilities: NDArray[np.float64]
    change: NDArray[np.float64]


def output_only_posterior(
    model: CorruptionModel,
    block: AttentionBlock,
    query: NDArray[np.floating],
    output: NDArray[np.floating],
    *,
    tolerance: float = 1e-9,
) -> OutputPosterior:
    """Responsibilities given what was observed: query token and output, nothing of the row.

    Args:
        model: with two tokens.
        block: with one head, and an output whose law given the row is not singular.
        query: c, shape ``(count, d)``.
        output: y, shape ``(count, p)``.
        tolerance: the step is halved until no responsibility changes by more.

    Returns:
        the responsibilities, and the last change of one: above the tolerance where even the
        finest step did not do.

    Source: FB-19 (eq. 13), by the trapezoid rule, whose error falls exponentially in 1/step.
    """
    found, change = np.full((len(query), model.n_components), np.inf), np.full(len(query), np.inf)
    open_ = np.arange(len(query))
    nodes = FIRST_NODES
    while len(open_) and nodes <= MOST_NODES:
        new = np.empty((len(open_), model.n_components))
        step = max(1, BATCH_NODES // nodes)
        for start in range(0, len(open_), step):
            part = open_[start : start + step]
            log_q = _log_integrals(model, block, query[part], output[part], nodes)
            new[start : start + step] = np.exp(log_softmax(log_q, axis=-1))
        with np.errstate(invalid="ignore"):
            change[open_] = np.abs(new - found[open_]).max(axis=-1)
        found[open_] = new
        open_ = open_[~(change[open_] <= tolerance)]
        nodes = 2 * nodes - 1
    return OutputPosterior(found, change)


def _log_integrals(
    model: CorruptionModel,
    block: AttentionBlock,
    query: NDArray[np.floating],
    output: NDArray[np.floating],
    nodes: int,
) -> NDArray[np.float64]:
    """``log q_n(c, y)`` up to a constant, shape ``(count, N)``."""
    other = 1 - block.target
    measured = block.measurement(query).matrix[:, 0, 0]
    means = measured @ model.mu[:, other].T - (measured * query).sum(axis=-1)[:, None]
    sd = model.t * np.linalg.norm(measured, axis=-1)
    low, high = means.min(axis=-1) - REACH * sd, means.max(axis=-1) + REACH * sd
    l = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, nodes)  # noqa: E741
    logits = np.zeros((*l.shape, 1, 2))
    logits[..., 0, other] = l
    seen = QueryRowProjected(
        np.broadcast_to(query[:, None], (*l.shape, query.shape[-1])),
        log_softmax(logits, axis=-1),
        np.broadcast_to(output[:, None], (*l.shape, output.shape[-1])),
    )
    law = posterior(model, block, seen, off_support="flag")
    joint = law.log_evidence[..., None] + law.log_responsibilities
    return logsumexp(joint, axis=1) + np.log((high - low) / (nodes - 1))[:, None]
