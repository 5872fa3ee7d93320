"""A thousand to a million tokens: time and memory a layer, exactness, and the error that is left.

Isolated tokens far out are added, where kernel sums lose their digits first. Normalizers of them,
of the outermost of the others and of some at random are summed anew in long doubles.

A number of tokens is one task, recorded when it is finished: a run that is interrupted at a million
loses that number's layers, some minutes, and nothing of the others. Layers are not kept on the
way, since an outcome then would depend on a file besides its parameters.
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.in_context.population import population_errors
from experiments.in_context.prompts import PAIR, draw_prompt
from experiments.study import (
    Z_LIMIT,
    Condition,
    Outcome,
    Quantity,
    Study,
    Table,
    Task,
    exact,
    monte_carlo,
    sampled,
)
from numeric.mixture import pair_mmse, pair_posterior_mean
from numeric.particles import (
    BandwidthWarning,
    Layer,
    equal_layers,
    kernel_sums,
    posterior_mean,
    refine,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

V, SIGMA2, BETA = 0.1, 0.5, 20.0
COUNTS, QUICK_COUNTS = (1000, 10_000, 100_000, 1_000_000), (1000, 3000, 10_000)
# The growth is fitted between these, and asked for where a run reaches the larger one.
FROM, TO, EXPONENT = 10_000, 1_000_000, 1.15
ISOLATED = np.array([[9.0, 0.0], [0.0, -12.0], [-15.0, 14.0], [-8.0, -8.5]])
OUTERMOST, AT_RANDOM = 12, 48
TILE = 100_000  # particles at a time in long doubles


def tasks(quick: bool, seed: int) -> list[Task]:
    counts, layers = (QUICK_COUNTS, 20) if quick else (COUNTS, 200)
    return [Task(f"N = {n:,}", {"tokens": n, "layers": layers, "seed": seed}) for n in counts]


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """One refinement with its processor time, memory, normalizers' error and the tokens' error."""
    layers = parameters["layers"]
    prompt = draw_prompt(PAIR, V, SIGMA2, parameters["tokens"], parameters["seed"])
    tokens = np.concatenate([prompt.tokens, ISOLATED])
    checked = looked_at(tokens, parameters["seed"])
    errors: list[float] = []
    seconds, since = 0.0, time.process_time()

    def look(layer: Layer) -> None:
        """Adds up the time between layers, not that of looking."""
        nonlocal seconds, since
        seconds += time.process_time() - since
        if layer.index in (0, layers - 1) and layer.sums is not None:
            found = layer.sums.log_normalizer[checked]
            errors.append(normalizer_error(layer.particles, checked, found))
        since = time.process_time()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BandwidthWarning)
        prior = refine(tokens, SIGMA2, equal_layers(SIGMA2, BETA, layers), observer=look)
    bayes = pair_posterior_mean(prompt.tokens, PAIR[0], V, SIGMA2)
    estimates = posterior_mean(prior, prompt.tokens)
    limit = population_errors(V, SIGMA2, BETA, [layers], layers)
    squares = [((means - prompt.clean) ** 2).sum(axis=1) for means in (estimates, bayes)]
    return {
        "seconds a layer": sampled(seconds / layers),
        "bytes a particle": sampled(layer_memory(tokens) / len(tokens)),
        "relative error of normalizers": sampled(errors),
        # Given the tokens the clean ones are off their posterior mean by the least error, so that
        # this mean needs no clean tokens, and has none of their noise.
        "excess error": sampled(((estimates - bayes) ** 2).sum(axis=1).mean()),
        "excess error by clean tokens": monte_carlo(squares[0] - squares[1]),
        "excess error of the limit": exact(limit.two_stages[0] - limit.mmse),
    }


def looked_at(tokens: np.ndarray, seed: int) -> np.ndarray:
    """Places of the isolated tokens, of the outermost others, and of some at random."""
    own = len(tokens) - len(ISOLATED)
    radius = np.linalg.norm(tokens[:own], axis=1)
    far = np.argpartition(radius, own - OUTERMOST)[-OUTERMOST:]
    some = np.random.default_rng([seed, 1]).choice(own, AT_RANDOM, replace=False)
    return np.concatenate([np.arange(own, len(tokens)), far, some])


def normalizer_error(particles: np.ndarray, places: np.ndarray, found: np.ndarray) -> float:
    """Largest relative error of some normalizers, whose logarithms are given."""
    queries = particles[places].astype(np.longdouble)
    sums = np.zeros(len(places), np.longdouble)
    for start in range(0, len(particles), TILE):
        tile = particles[start : start + TILE].astype(np.longdouble)
        for k, query in enumerate(queries):
            sums[k] += np.exp(-np.longdouble(BETA) / 2 * ((tile - query) ** 2).sum(axis=1)).sum()
    return float(np.abs(np.expm1(found.astype(np.longdouble) - np.log(sums))).max())


def layer_memory(tokens: np.ndarray) -> int:
    """Bytes that a layer's sums take at their peak, their result included."""
    tracemalloc.start()
    try:
        kernel_sums(tokens, tokens, BETA)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def exponent(outcomes: Sequence[Outcome]) -> float:
    """Slope of log time against log number, from `FROM` on; NaN where a run doesn't reach `TO`."""
    sizes = [(o.task.parameters["tokens"], float(o["seconds a layer"])) for o in outcomes]
    fitted = np.log([size for size in sizes if FROM <= size[0] <= TO])
    if max(n for n, _ in sizes) < TO:
        return float("nan")
    return float(np.polyfit(fitted[:, 0], fitted[:, 1], 1)[0])


def beyond_limit(outcome: Outcome) -> float:
    """Excess error beyond that of infinitely many tokens."""
    return float(outcome["excess error"]) - float(outcome["excess error of the limit"])


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    ordered = sorted(outcomes, key=lambda o: o.task.parameters["tokens"])
    least, most = ordered[0], ordered[-1]
    count = most.task.parameters["tokens"]
    errors = np.concatenate([o["relative error of normalizers"].value for o in ordered])
    off = [
        (float(o["excess error by clean tokens"]) - float(o["excess error"]))
        / float(o["excess error by clean tokens"].error)
        for o in ordered
    ]
    found = [
        Condition("relative error of a normalizer, first and last layer",
                  float(errors.max()), "<=", 1e-12),
        # Boxes and their series take some hundred bytes a particle; all pairs would take 8 N.
        Condition("most tokens: bytes a particle that a layer needs",
                  float(most["bytes a particle"]), "<=", 2000.0),
        Condition("most tokens: error beyond the limit's, times the root of their number",
                  beyond_limit(most) * np.sqrt(count), "<=", 2.0),
        Condition("error beyond the limit's, that of the most over that of the fewest tokens",
                  beyond_limit(most) / beyond_limit(least), "<=", 0.5),
        Condition("excess error by clean tokens off that by their posterior means, in standard "
                  "errors", float(np.abs(off).max()), "<=", Z_LIMIT),
    ]  # fmt: skip
    if count >= TO:
        found.append(Condition("exponent of the time a layer, 1e4 to 1e6 tokens",
                               exponent(ordered), "<=", EXPONENT))  # fmt: skip
    return found


def tables(outcomes: Sequence[Outcome]) -> list[Table]:
    mmse = float(pair_mmse(PAIR[0], V, SIGMA2))
    rows = []
    for o in outcomes:
        first, last = o["relative error of normalizers"].value
        paired = o["excess error by clean tokens"]
        rows.append((
            f"{o.task.parameters['tokens']:,}", f"{1e3 * float(o['seconds a layer']):.1f}",
            f"{float(o['bytes a particle']):.0f}", f"{first:.1e}", f"{last:.1e}",
            f"{mmse + float(o['excess error']):.5f}",
            f"{mmse + float(paired):.5f} ± {float(paired.error):.5f}",
            f"{mmse + float(o['excess error of the limit']):.5f}", f"{mmse:.5f}",
        ))  # fmt: skip
    layers = outcomes[0].task.parameters["layers"]
    slope = exponent(outcomes)
    grown = f"; time grows like N^{slope:.2f} from 1e4 to 1e6" if np.isfinite(slope) else ""
    return [
        Table(f"{layers} layers, d = 2, beta = 20, sigma2 = 0.5{grown}",
              ("N", "ms a layer", "bytes a particle", "normalizers, first layer", "last",
               "two-stage error", "by clean tokens", "limit", "least"), rows)
    ]  # fmt: skip


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    from experiments.pictures import BLACK, BLUE, GREY, ORANGE, plain

    costs, digits, errors = figure.subplots(1, 3)
    counts = np.array([o.task.parameters["tokens"] for o in outcomes])
    seconds = np.array([float(o["seconds a layer"]) for o in outcomes])
    costs.plot(counts, 1e3 * seconds, "o-", color=BLUE, label="measured")
    for power, dash in ((1, "--"), (2, ":")):
        costs.plot(counts, 1e3 * seconds[0] * (counts / counts[0]) ** power, dash, lw=1,
                   color=GREY, label=f"slope {power}")  # fmt: skip
    costs.legend(frameon=False, fontsize=9)
    plain(costs, xscale="log", yscale="log", xlabel="tokens", ylabel="processor ms a layer",
          title="time", ylim=(None, 30e3 * seconds[-1]))  # fmt: skip
    for k, (name, color) in enumerate((("first layer", BLUE), ("last layer", ORANGE))):
        own = [o["relative error of normalizers"].value[k] for o in outcomes]
        digits.plot(counts, own, "o-", color=color, label=name)
    digits.axhline(1e-12, color=GREY, ls="--", lw=1, label="stated")
    digits.legend(frameon=False, fontsize=9)
    plain(digits, xscale="log", yscale="log", xlabel="tokens",
          ylabel="largest relative error of a normalizer",
          title="exactness, isolated tokens included")  # fmt: skip
    excess = [float(o["excess error"]) for o in outcomes]
    paired = [o["excess error by clean tokens"] for o in outcomes]
    errors.plot(counts, excess, "o-", color=BLUE, label="two stages")
    errors.errorbar(counts * 1.08, [float(q) for q in paired], [float(q.error) for q in paired],
                    fmt="s", ms=4, color=ORANGE, capsize=2, label="by clean tokens")  # fmt: skip
    errors.axhline(float(outcomes[0]["excess error of the limit"]), color=BLACK, ls="--", lw=1,
                   label="infinitely many tokens")  # fmt: skip
    errors.legend(frameon=False, fontsize=9)
    plain(errors, xscale="log", yscale="log", xlabel="tokens", ylabel="squared error above Bayes",
          title="what the estimate misses")  # fmt: skip


STUDY = Study(
    name="in_context.scale",
    item="EB-15",
    title="time, memory, exactness and error from a thousand tokens to a million",
    shows=("EB-15", "EB-55", "EB-57"),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(15.0, 4.6),
    tables=tables,
)
