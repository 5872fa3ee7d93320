"""The particle engine on one core: a layer, a whole run, growth with N, and new queries.

Against tiles that a person would write with NumPy, and PyTorch's attention where it is installed.
Tokens are those of two Gaussians in the plane, with noise; errors against long double. Where the
libraries of the extra `fast` are there, a run is timed with them and with NumPy alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from numeric.particles import (
    BandwidthWarning,
    RefinedPrior,
    costs,
    equal_layers,
    kernel_sums,
    posterior_mean,
    refine,
)

SIGMA2, BETA = 0.5, 20.0
TILE = (128, 1024)
CHECKED = 200  # particles whose sums are computed in long double
GROWTH_FROM = 10_000  # below that a layer is a matter of overheads
# The bars.
ALONE, EXTRA = "NumPy alone", "with the extra"
RATIO = {ALONE: 0.55, EXTRA: 0.2}
POSITIONS, EXPONENT, NORMALIZER, QUERY_SECONDS, BYTES_EACH = 1e-12, 1.15, 1e-12, 1, 2e3


@dataclass
class Result:
    """Measured figures; seconds are CPU time of one core.

    Attributes:
        tokens, layers: of the whole run.
        layer: seconds of one layer by way.
        layer_error: largest relative error of the normalizer by way.
        run: seconds of all layers by the engine, with NumPy alone and, where one is there, with
            the extra's libraries.
        tiled_run: seconds of all layers by hand-written tiles.
        positions: largest difference of final positions from theirs, likewise.
        growth: N, seconds of a layer, and largest relative error of the normalizer.
        exponent: fitted to the growth from `GROWTH_FROM` on; 0 where there are too few sizes.
        queries, query_seconds: new queries to a prior of as many particles.
        bytes_each: memory of the largest cloud and its layer, a particle, libraries included.
    """

    tokens: int
    layers: int
    layer: dict[str, float]
    layer_error: dict[str, float]
    run: dict[str, float]
    tiled_run: float
    positions: dict[str, float]
    growth: list[tuple[int, float, float]]
    exponent: float
    queries: int
    query_seconds: float
    bytes_each: float


def measure(
    *,
    tokens: int = 5000,
    layers: int = 200,
    sizes: Sequence[int] = (1_000, 10_000, 100_000, 1_000_000),
    queries: int = 100_000,
    seed: int = 0,
) -> Result:
    """Run everything once, small things several times."""
    z = instance(tokens, seed)
    kernel_sums(z, z, BETA)  # loads and warms up
    ways: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
        "tiled NumPy": tiled,
        "direct": lambda z: kernel_sums(z, z, BETA, method="direct")[:2],
        "panels": lambda z: kernel_sums(z, z, BETA, method="panels")[:2],
        "auto": lambda z: kernel_sums(z, z, BETA)[:2],
    }
    for name in ("compiled", "nufft"):
        if costs.is_installed(name):
            ways[name] = lambda z, name=name: kernel_sums(z, z, BETA, method=name)[:2]
            ways[name](z)  # loads, compiles
    if importlib.util.find_spec("torch"):
        ways["torch SDPA f64"] = _torch
    layer, layer_error = {}, {}
    for name, way in ways.items():
        (log_normalizer, _), layer[name] = best(lambda way=way: way(z))
        if not np.isnan(log_normalizer).any():
            layer_error[name] = _error(z, log_normalizer, seed)
    schedule = equal_layers(SIGMA2, BETA, layers)
    by_hand, tiled_run = best(lambda: _tiled_run(z, schedule.eta), repeats=1)
    run, positions = {}, {}
    for name in (ALONE, EXTRA):
        if name == EXTRA and not any(map(costs.is_installed, ("compiled", "nufft"))):
            continue
        with _installed(name == EXTRA), warnings.catch_warnings():
            warnings.simplefilter("ignore", BandwidthWarning)
            prior, run[name] = best(lambda: refine(z, SIGMA2, schedule), repeats=1)
        positions[name] = float(np.abs(prior.particles - by_hand).max())
    growth = [_growth(size, seed) for size in sizes]
    large = RefinedPrior(instance(queries, seed), np.ones(queries), SIGMA2, 0.0, 0.0)
    new = instance(queries, seed + 1)
    _, query_seconds = best(lambda: posterior_mean(large, new), repeats=2)
    return Result(
        tokens, layers, layer, layer_error, run, tiled_run, positions, growth, _exponent(growth),
        queries, query_seconds, _bytes_each(max(sizes), seed),
    )  # fmt: skip


@contextmanager
def _installed(extra: bool) -> Iterator[None]:
    """Without the extra, `auto` is told that nothing but NumPy is there."""
    real = costs.is_installed
    try:
        if not extra:
            costs.is_installed = lambda method: False
        yield
    finally:
        costs.is_installed = real


def _bytes_each(count: int, seed: int) -> float:
    """By how much a cloud and its layer raise a fresh process's largest memory, a particle."""
    script = (
        "from benchmarks.particles import BETA, instance, largest_memory\n"
        "from numeric.particles import kernel_sums\n"
        f"few = instance(1000, {seed})\n"
        "kernel_sums(few, few, BETA)\n"
        "before = largest_memory()\n"
        f"z = instance({count}, {seed})\n"
        "kernel_sums(z, z, BETA)\n"
        "print(largest_memory() - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return float(done.stdout) / count


def largest_memory() -> int:
    """The most bytes that this process has held so far."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux, whose other counter knows the parent's memory too
        held = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(held.split()[1])
    resource = importlib.import_module("resource")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def instance(count: int, seed: int) -> np.ndarray:
    """Noisy tokens: half N((1, 0), v I), half N((-1, 0), v I), v = 0.1, and noise."""
    rng = np.random.default_rng([seed, count])
    signs = rng.choice([-1.0, 1.0], size=(count, 1))
    return signs * [1.0, 0.0] + math.sqrt(0.1 + SIGMA2) * rng.normal(size=(count, 2))


def tiled(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log normalizers and means by tiles of exponents, each a matrix product."""
    centre = z.mean(axis=0)
    z = z - centre
    halves = BETA / 2 * (z * z).sum(axis=1)
    values = np.concatenate([z, np.ones((len(z), 1))], axis=1)
    sums = np.zeros_like(values)
    for top in range(0, len(z), TILE[0]):
        rows = slice(top, top + TILE[0])
        scaled = BETA * z[rows]
        for left in range(0, len(z), TILE[1]):
            columns = slice(left, left + TILE[1])
            exponents = scaled @ z[columns].T
            exponents -= halves[rows, None]
            exponents -= halves[columns]
            np.exp(exponents, out=exponents)
            sums[rows] += exponents @ values[columns]
    return np.log(sums[:, -1]), sums[:, :-1] / sums[:, -1:] + centre


def _tiled_run(z: np.ndarray, steps: np.ndarray) -> np.ndarray:
    for eta in steps:
        z = (1 - eta) * z + eta * tiled(z)[1]
    return z


def _torch(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scaled dot-product attention with the keys' norms in an extra coordinate; no normalizer."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    points = torch.asarray(z - z.mean(axis=0))
    ones, zero = torch.ones(len(z), 1, dtype=points.dtype), torch.zeros_like(points[:, :1])
    query = torch.cat([BETA * points, ones], dim=1)[None]
    key = torch.cat([points, -BETA / 2 * (points**2).sum(1, keepdim=True)], dim=1)[None]
    value = torch.cat([points, zero], dim=1)[None]
    attend = torch.nn.functional.scaled_dot_product_attention
    mean = attend(query, key, value, scale=1.0)[0, :, :-1].numpy() + z.mean(axis=0)
    return np.full(len(z), np.nan), mean


def _growth(count: int, seed: int) -> tuple[int, float, float]:
    z = instance(count, seed)
    found, seconds = best(lambda: kernel_sums(z, z, BETA), repeats=3 if count <= 10**5 else 1)
    return count, seconds, _error(z, found.log_normalizer, seed)


def _error(z: np.ndarray, log_normalizer: np.ndarray, seed: int) -> float:
    """Largest relative error of some normalizers, outliers among them."""
    rng = np.random.default_rng(seed)
    far = np.argsort(-(z**2).sum(axis=1))[: CHECKED // 2]
    some = np.concatenate([far, rng.choice(len(z), min(len(z), CHECKED // 2), replace=False)])
    exact = z.astype(np.longdouble)
    worst = 0.0
    for index in some[: CHECKED if len(z) <= 10**5 else CHECKED // 10]:
        squares = ((exact - exact[index]) ** 2).sum(axis=1)
        wanted = np.log(np.exp(-BETA / 2 * squares).sum())
        worst = max(worst, float(abs(np.expm1(log_normalizer[index] - wanted))))
    return worst


def _exponent(growth: list[tuple[int, float, float]]) -> float:
    """Slope of log seconds by log N, fitted to all sizes that count."""
    points = np.log([(n, s) for n, s, _ in growth if n >= GROWTH_FROM])
    if len(points) < 2:
        return 0.0
    return float(np.polyfit(points[:, 0], points[:, 1], 1)[0])


def best(call: Callable[[], Any], repeats: int = 5) -> tuple[Any, float]:
    """The result, and the least CPU time of a few calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        times.append(time.process_time() - start)
    return result, min(times)


def passes(result: Result) -> bool:
    """Whether all bars are cleared."""
    return (
        all(seconds <= RATIO[name] * result.tiled_run for name, seconds in result.run.items())
        and max(result.positions.values()) <= POSITIONS
        and result.exponent <= EXPONENT
        and max(error for _, _, error in result.growth) <= NORMALIZER
        and result.query_seconds < QUERY_SECONDS
        and result.bytes_each < BYTES_EACH
    )


def as_json(result: Result) -> dict[str, Any]:
    """Plain data."""
    return {**asdict(result), "passes": passes(result)}


def as_text(result: Result) -> str:
    """The figures with their bars."""
    lines = [f"One layer, N = {result.tokens}, d = 2, beta = {BETA:g}, one core"]
    for name, seconds in result.layer.items():
        error = result.layer_error.get(name)
        shown = "" if error is None else f"   error of the normalizer {error:.0e}"
        lines.append(f"  {name:16s} {1e3 * seconds:10.1f} ms{shown}")
    lines += [
        f"{result.layers} layers",
        f"  tiled NumPy      {result.tiled_run:10.2f} s",
        *(
            f"  {name:16s} {seconds:10.2f} s    ratio {seconds / result.tiled_run:.2f} "
            f"(bar {RATIO[name]:g}), positions differ by {result.positions[name]:.0e} "
            f"(bar {POSITIONS:g})"
            for name, seconds in result.run.items()
        ),
        "Growth of a layer",
        *(
            f"  N = {n:<9d}    {1e3 * s:10.1f} ms   error of the normalizer {error:.0e}"
            for n, s, error in result.growth
        ),
        f"  exponent         {result.exponent:10.2f}      (bar {EXPONENT:g})",
        f"  memory           {result.bytes_each:10.0f} bytes a particle (bar {BYTES_EACH:g})",
        f"{result.queries} new queries to a prior of as many particles",
        f"  second stage     {result.query_seconds:10.2f} s    (bar {QUERY_SECONDS:g} s)",
    ]
    return "\n".join(lines)
