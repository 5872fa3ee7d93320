"""The first block's posterior on one core, against loops over `scipy.stats.multivariate_normal`.

One run measures all: query, row and values at P = 16, d = 8, four heads of four values, 64
components. The loops are timed on the first few observations and their answers compared.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax
from scipy.stats import multivariate_normal

from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    Posterior,
    QueryRowValues,
    posterior,
)

N_TOKENS, WIDTH, HEADS, VALUES, COMPONENTS = 16, 8, 4, 4, 64
REPEATS = 3
SECONDS, GIBIBYTES, RATIO, ERROR = 4.0, 1.0, 30.0, 1e-10  # the bars


@dataclass
class Result:
    """Measured figures.

    Attributes:
        observations: how many.
        seconds: for all of them.
        gibibytes: largest memory that the call held besides its input.
        loop_seconds: for each observation and component a distribution of its own, scaled up.
        shared_seconds: one distribution an observation, shared by the components, scaled up.
        looped: observations that the loops ran over.
        error: largest error of log-odds against the loops, relative to the largest log-odds.
    """

    observations: int
    seconds: float
    gibibytes: float
    loop_seconds: float
    shared_seconds: float
    looped: int
    error: float


def measure(*, observations: int = 10_000, looped: int = 20, seed: int = 0) -> Result:
    """Run the posterior and the loops."""
    model, block, seen = instance(observations, seed)
    posterior(model, block, _first(seen, 2))  # loads and warms up
    found, seconds = _best(lambda: posterior(model, block, seen))
    tracemalloc.start()
    posterior(model, block, seen)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    few = _first(seen, looped)
    apart, loop = _best(lambda: _by_loop(model, block, few, shared=False))
    together, shared = _best(lambda: _by_loop(model, block, few, shared=True))
    scale = observations / looped
    error = max(_relative(found, want) for want in (apart, together))
    return Result(
        observations, seconds, memory / 2**30, loop * scale, shared * scale, looped, error
    )


def instance(count: int, seed: int) -> tuple[CorruptionModel, AttentionBlock, QueryRowValues]:
    """A random model and block, with the observations of random draws."""
    rng = np.random.default_rng(seed)
    queries, values = (rng.normal(size=(HEADS, n, WIDTH)) for n in (4, VALUES))
    keys = 0.3 * rng.normal(size=(HEADS, 4, WIDTH))
    block = AttentionBlock(queries, keys, values, n_tokens=N_TOKENS)
    clean = rng.normal(size=(COMPONENTS, N_TOKENS, WIDTH))
    model = CorruptionModel(clean, np.full(COMPONENTS, 1 / COMPONENTS), 0.6)
    return model, block, QueryRowValues.of(block.run(model.draw(count, seed=seed).state))


def _by_loop(
    model: CorruptionModel, block: AttentionBlock, seen: QueryRowValues, *, shared: bool
) -> np.ndarray:
    """Log responsibilities from the joint Gaussian of log-ratios and values, one by one."""
    t2, others = model.t**2, model.mu[:, 1:].reshape(COMPONENTS, -1)
    found = []
    for c, log_row, values in zip(seen.query, seen.log_row, seen.values, strict=True):
        heads = zip(block.query_maps, block.key_maps, strict=True)
        M = np.stack([c @ q.T @ k / np.sqrt(len(q)) for q, k in heads])
        s, V = np.exp(log_row), block.value_map.reshape(HEADS, VALUES, WIDTH)
        D = (s[:, None, :, None] * V[:, :, None, :]).reshape(HEADS * VALUES, N_TOKENS, WIDTH)
        F = np.vstack([np.kron(np.eye(N_TOKENS - 1), M), D[:, 1:].reshape(len(D), -1)])
        ratios = (log_row[:, 1:] - log_row[:, :1]).T + M @ c
        b = np.concatenate([ratios.ravel(), values - D[:, 0] @ c])
        cov, query_cov = t2 * F @ F.T, t2 * np.eye(WIDTH)
        if shared:
            law, of_query = (multivariate_normal(cov=S) for S in (cov, query_cov))
            score = law.logpdf(b - others @ F.T) + of_query.logpdf(c - model.mu[:, 0])
        else:
            score = np.array([
                multivariate_normal(F @ mu, cov).logpdf(b)
                + multivariate_normal(own, query_cov).logpdf(c)
                for mu, own in zip(others, model.mu[:, 0], strict=True)
            ])  # fmt: skip
        found.append(log_softmax(np.log(model.masses) + score))
    return np.array(found)


def _relative(found: Posterior, want: np.ndarray) -> float:
    got = found.log_responsibilities[: len(want)]
    odds = [x[:, :, None] - x[:, None, :] for x in (got, want)]
    scale = np.abs(odds[1]).max(axis=(-2, -1))
    return float((np.abs(odds[0] - odds[1]).max(axis=(-2, -1)) / scale).max())


def _first(seen: QueryRowValues, count: int) -> QueryRowValues:
    return QueryRowValues(seen.query[:count], seen.log_row[:count], seen.values[:count])


def _best(call: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the best time of a few calls."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return result, min(times)


def passes(result: Result) -> bool:
    """Whether all bars are cleared."""
    return (
        result.seconds < SECONDS
        and result.gibibytes < GIBIBYTES
        and result.loop_seconds > RATIO * result.seconds
        and result.error < ERROR
    )


def as_json(result: Result) -> dict[str, Any]:
    """Plain data."""
    return {**asdict(result), "passes": passes(result)}


def as_text(result: Result) -> str:
    """The figures with their bars."""
    ratios = [x / result.seconds for x in (result.loop_seconds, result.shared_seconds)]
    return "\n".join(
        [
            f"{result.observations} observations, P = {N_TOKENS}, d = {WIDTH}, H = {HEADS}, "
            f"v_h = {VALUES}, N = {COMPONENTS}, one core",
            f"  posterior             {result.seconds:9.2f} s     (bar {SECONDS:g} s)",
            f"  memory                {result.gibibytes:9.3f} GiB   (bar {GIBIBYTES:g} GiB)",
            f"  loop over scipy       {ratios[0]:9.0f} x     (bar {RATIO:g} x)",
            f"  loop, shared matrices {ratios[1]:9.0f} x",
            f"  error of log-odds     {result.error:9.1e}       (bar {ERROR:g})",
        ]
    )
