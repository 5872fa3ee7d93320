r"""How fast the variance of the particles falls: N(0, 1.25) on its way back to N(0, 1).

The ideal is the line 1.25 - 2t. With finite beta the limit of many particles is late (EB-8, EB-9),
by less the larger beta is. With finitely many particles it is the other way round beyond an onset
(EB-12): they gather in clusters, which are too far apart to see one another, and stop. So beta and
the number of particles must grow in this order: particles first.

A run is held against the layers of the limit from the run's own variance (EB-10), which takes away
the noise of that variance: the quotient of the two has an error ten times smaller.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from experiments.in_context.prompts import draw_prompt
from experiments.study import (
    Z_LIMIT,
    Condition,
    Outcome,
    Quantity,
    Study,
    Table,
    Task,
    monte_carlo,
    sampled,
    z_score,
)
from numeric.depth import depth_flow
from numeric.flow import denoising_time, eigenvalue_flow
from numeric.particles import BandwidthWarning, Layer, equal_layers, moments, refine

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLEAN, SIGMA2 = 1.0, 0.25
START = CLEAN + SIGMA2
END = SIGMA2 / 2  # main-clock time
BETAS = (1.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
QUICK_BETAS = (1.0, 10.0, 20.0, 200.0)
NEAR = (10.0, 20.0)  # near the line
# Where finitely many particles are the reason for what is missed.
GROWTH_BETAS = (50.0, 200.0)
FEW, FEW_BETAS = 900, (20.0, 800.0)
# So many times in equal distances are looked at, the start besides; four of them are drawn.
LOOKS = 20
EDGES = np.linspace(-4.5, 4.5, 91)


# What EB-53 prints: variance of the limit at the nominal end, and when it is 1.
TEXT_LIMIT = {
    1.0: (1.114625, 0.236572),
    5.0: (1.037304, 0.147314),
    10.0: (1.020304, 0.136157),
    20.0: (1.010629, 0.130579),
    50.0: (1.004376, 0.127231),
    100.0: (1.002209, 0.126116),
}
# Measured before, with 5000 particles: variance of the limit at the nominal end, of the particles
# over 20 draws, and of these over that of the limit's layers from their own start.
TEXT_RUNS = {
    1.0: ("1.1146", "1.1051 ± .0037", "1.0004 ± .0001"),
    10.0: ("1.0203", "1.0124 ± .0038", "1.0023 ± .0002"),
    20.0: ("1.0106", "1.0068 ± .0039", "1.0066 ± .0005"),
    50.0: ("1.0044", "1.0613 ± .0050", "1.068 ± .003"),
    200.0: ("1.0011", "1.1910 ± .0042", "1.202 ± .001"),
}
# The same quotient of 500,000 particles, and the change of the variance of 900.
TEXT_MANY = {(500_000, 50.0): "1.0056"}
TEXT_FEW = {20.0: "-.215", 800.0: "-.007"}
PRINTED = 6e-7  # rounding of what is printed with six digits
MANY = 500_000


def tasks(quick: bool, seed: int) -> list[Task]:
    layers = 40 if quick else 200
    betas, tokens, seeds = (QUICK_BETAS, 2000, 6) if quick else (BETAS, 5000, 20)
    growth, growth_seeds = ((500, 20_000), 3) if quick else ((500, 50_000, 500_000), 4)
    runs = [("figure", tokens, beta, layers, k) for beta in betas for k in range(seeds)]
    # A step of beta = 800 must be below 1.
    deep = max(layers, 120)
    runs += [("few", FEW, beta, deep, k) for beta in FEW_BETAS for k in range(seeds)]
    runs += [
        ("growth", count, beta, layers, k)
        for count in growth
        for beta in (GROWTH_BETAS[:1] if quick else GROWTH_BETAS)
        for k in range(growth_seeds)
    ]
    return [
        Task(
            f"{part}: N = {count}, beta = {beta:g}, draw {k}",
            {"part": part, "tokens": count, "beta": beta, "layers": depth, "seed": [seed, k],
             "histogram": part == "figure" and k == 0},
        )
        for part, count, beta, depth, k in runs
    ]  # fmt: skip


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """Variances of the particles and of the limit's layers, at `LOOKS` + 1 times."""
    layers, beta = parameters["layers"], parameters["beta"]
    every = layers // LOOKS
    schedule = equal_layers(SIGMA2, beta, layers)
    prompt = draw_prompt([[0.0]], CLEAN, SIGMA2, parameters["tokens"], parameters["seed"])
    variances: list[float] = []
    counts: list[np.ndarray] = []

    def look(layer: Layer) -> None:
        if layer.index % every:
            return
        variances.append(moments(layer.particles)[1].item())
        if parameters["histogram"]:
            counts.append(np.histogram(layer.particles, EDGES)[0])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BandwidthWarning)  # clusters are what is to be seen
        refine(prompt.tokens, SIGMA2, schedule, observer=look)
    limit = depth_flow(variances[0], schedule.eta, beta)[::every]
    found = {"variance": sampled(variances), "limit": sampled(limit)}
    if parameters["histogram"]:
        share = np.array(counts) / parameters["tokens"] / np.diff(EDGES)
        found["histogram"] = sampled(share)
    return found


class Runs(NamedTuple):
    """Draws of one number of particles and one beta.

    Attributes:
        variance: mean over draws, shape ``(LOOKS + 1,)``.
        spread: standard deviation over draws, of the same shape.
        ratio: variance at the end over that of the limit's layers from the same start.
        change: of the variance, start to end.
        layered: what the limit's layers make of the variance 1.25, shape ``(LOOKS + 1,)``.
    """

    variance: Quantity
    spread: np.ndarray
    ratio: Quantity
    change: Quantity
    layered: np.ndarray

    @property
    def end(self) -> float:
        """Variance at the end, freed from the noise of the start."""
        return float(self.ratio) * self.layered[-1]

    @property
    def missed(self) -> float:
        """Share of the ideal change, 0.25, that is missed at the end."""
        return (self.end - CLEAN) / SIGMA2

    @property
    def beyond_limit(self) -> float:
        """Share of the ideal change that is missed because particles are finitely many."""
        return (self.end - self.layered[-1]) / SIGMA2


def gathered(outcomes: Sequence[Outcome]) -> dict[tuple[str, int, float], Runs]:
    """Draws of each part, number of particles and beta."""
    groups: dict[tuple[str, int, float], list[Outcome]] = {}
    for outcome in outcomes:
        at = outcome.task.parameters
        groups.setdefault((at["part"], at["tokens"], at["beta"]), []).append(outcome)
    found = {}
    for key, own in groups.items():
        variance = np.stack([o["variance"].value for o in own])
        limit = np.stack([o["limit"].value for o in own])
        layers = own[0].task.parameters["layers"]
        schedule = equal_layers(SIGMA2, key[2], layers)
        found[key] = Runs(
            monte_carlo(variance),
            variance.std(axis=0, ddof=1),
            monte_carlo(variance[:, -1] / limit[:, -1]),
            monte_carlo(variance[:, -1] - variance[:, 0]),
            depth_flow(START, schedule.eta, key[2])[:: layers // LOOKS],
        )
    return found


def limit_end(beta: float) -> float:
    """Variance of the limit of many particles and layers, at the nominal end."""
    return float(eigenvalue_flow(START, END, beta, clock="main"))


def limit_time(beta: float) -> float:
    """When that limit has the variance of the clean law."""
    return float(denoising_time(CLEAN, SIGMA2, beta, clock="main"))


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    runs = gathered(outcomes)
    figure = {beta: found for (part, _, beta), found in runs.items() if part == "figure"}
    tokens = next(count for part, count, _ in runs if part == "figure")
    few = {beta: found for (part, _, beta), found in runs.items() if part == "few"}
    sizes = sorted(
        (count, found)
        for (part, count, beta), found in runs.items()
        if part == "growth" and beta == GROWTH_BETAS[0]
    )
    least, most = sizes[0][1].ratio, sizes[-1][1].ratio
    off = [
        abs(found - printed)
        for beta, text in TEXT_LIMIT.items()
        for found, printed in zip((limit_end(beta), limit_time(beta)), text, strict=True)
    ]
    return [
        Condition("limit's variance and time off what EB-53 prints", max(off), "<=", PRINTED),
        Condition("beta = 1: variance off the limit's layers, in standard errors",
                  z_score(figure[1.0].variance, figure[1.0].layered), "<=", Z_LIMIT),
        # Its own weight slows a particle by a share of (1 + beta v)^2/N, of a change of 0.11.
        Condition("beta = 1: N times what the quotient to the limit's layers is off 1",
                  tokens * abs(float(figure[1.0].ratio) - 1), "<=", 10.0),
        Condition("beta = 10 and 20: share of the ideal change that is missed",
                  max(figure[beta].missed for beta in NEAR), "<=", 0.15),
        Condition("beta = 200: share of the ideal change that finitely many particles miss",
                  figure[200.0].beyond_limit, ">=", 0.5),
        Condition("beta = 50, the most particles: share of the ideal change that they miss",
                  sizes[-1][1].beyond_limit, "<=", 0.05 if sizes[-1][0] >= MANY else 0.25),
        Condition("beta = 50: quotient of the fewest less that of the most, in standard errors",
                  float((least.value - most.value) / np.hypot(least.error, most.error)),
                  ">=", Z_LIMIT),
        Condition("900 particles, beta = 20: share of the ideal change that is made",
                  -float(few[20.0].change) / SIGMA2, ">=", 0.75),
        Condition("900 particles, beta = 800: share of the ideal change that is made",
                  -float(few[800.0].change) / SIGMA2, "<=", 0.1),
    ]  # fmt: skip


def tables(outcomes: Sequence[Outcome]) -> list[Table]:
    runs = gathered(outcomes)
    rows, few = [], []
    for (part, count, beta), found in sorted(runs.items(), key=lambda item: item[0][::-1]):
        if part == "few":
            few.append((f"{beta:g}", _mean(found.change), TEXT_FEW[beta]))
            continue
        text = TEXT_RUNS.get(beta, ("", "", "")) if part == "figure" else ("", "", "")
        end = Quantity("MC", found.variance.value[-1], found.variance.error[-1])
        rows.append((
            f"{beta:g}", f"{count:,}", f"{limit_end(beta):.4f}", text[0],
            f"{found.layered[-1]:.4f}", _mean(end), text[1], _mean(found.ratio),
            TEXT_MANY.get((count, beta), text[2]), f"{found.missed:.3f}",
        ))  # fmt: skip
    limits = [
        (f"{beta:g}", f"{limit_end(beta):.6f}", f"{end:.6f}", f"{limit_time(beta):.6f}",
         f"{time:.6f}")
        for beta, (end, time) in TEXT_LIMIT.items()
    ]  # fmt: skip
    return [
        Table("variance at t = 0.125 (text: 5000 particles, and 500,000)",
              ("beta", "N", "limit", "text", "its layers", "particles", "text",
               "over layers from own start", "text", "missed of 0.25"), rows),
        Table("the limit of many particles (EB-53)",
              ("beta", "variance at 0.125", "text", "time of variance 1", "text"), limits),
        Table("change of the variance of 900 particles (EB-53)", ("beta", "change", "text"), few),
    ]  # fmt: skip


def _mean(quantity: Quantity) -> str:
    return f"{float(quantity):.4f} ± {float(quantity.error):.4f}"


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    (many, line), (clusters, onset) = figure.subplots(2, 2)
    shown = {o.task.parameters["beta"]: o for o in outcomes if o.task.parameters["histogram"]}
    tokens = next(iter(shown.values())).task.parameters["tokens"]
    _histograms(many, shown[10.0], f"(a) {tokens:,} particles, beta = 10")
    _histograms(clusters, shown[200.0], f"(c) {tokens:,} particles, beta = 200: clusters")
    runs = gathered(outcomes)
    _variances(line, {b: r for (part, _, b), r in runs.items() if part == "figure"})
    line.set_title("(b) variance: mean and deviation over draws; dashed: the limit")
    _missed(onset, runs, tokens)


def _histograms(ax: Axes, outcome: Outcome, title: str) -> None:
    """Particles at five times, one above the other, over the Gaussian that they should be."""
    from experiments.pictures import BLACK, BLUE, plain

    shares = outcome["histogram"].value[:: LOOKS // 4]
    times = np.linspace(0, END, len(shares))
    middles = (EDGES[1:] + EDGES[:-1]) / 2
    fine = np.linspace(EDGES[0], EDGES[-1], 300)
    step = 1.05 * max(0.4, shares.max())  # clusters are higher than the Gaussian
    for k, (share, t) in enumerate(zip(shares, times, strict=True)):
        v = START - 2 * t
        ax.fill_between(middles, k * step, k * step + share, step="mid", color=BLUE, alpha=0.45,
                        lw=0, zorder=2 * (len(shares) - k))  # fmt: skip
        ax.plot(fine, k * step + np.exp(-(fine**2) / (2 * v)) / np.sqrt(2 * np.pi * v), lw=1.1,
                color=BLACK, zorder=2 * (len(shares) - k) + 1)  # fmt: skip
    plain(ax, xlabel="particle", ylabel="t; density above each line", title=title)
    ax.set_yticks(step * np.arange(len(shares)), [f"{t:.3f}" for t in times])
    ax.plot([], [], color=BLACK, label="N(0, 1.25 − 2t)")
    ax.legend(frameon=False, fontsize=9, loc="upper right")


def _variances(ax: Axes, runs: Mapping[float, Runs]) -> None:
    from experiments.pictures import BLACK, COLORS, GREY, plain

    times = np.linspace(0, END, LOOKS + 1)
    ax.plot(times, START - 2 * times, color=BLACK, lw=2, label="1.25 − 2t")
    for (beta, found), color in zip(runs.items(), (*COLORS, GREY), strict=False):
        mean = found.variance.value
        ax.plot(times, mean, lw=1.4, color=color, label=f"beta = {beta:g}")
        ax.fill_between(times, mean - found.spread, mean + found.spread, color=color, alpha=0.12,
                        lw=0)  # fmt: skip
        ax.plot(times, eigenvalue_flow(START, times, beta, clock="main"), "--", lw=1, color=color)
    ax.legend(frameon=False, fontsize=9, loc="lower left")
    plain(ax, xlabel="t = layers × h", ylabel="variance of the particles")


def _missed(ax: Axes, runs: Mapping[tuple[str, int, float], Runs], tokens: int) -> None:
    """What is missed of the ideal change against beta, for several numbers of particles."""
    from experiments.pictures import BLACK, GREEN, GREY, ORANGE, RED, plain

    betas = np.geomspace(1, 250, 60)
    missed = (eigenvalue_flow(START, END, betas, clock="main") - CLEAN) / SIGMA2
    ax.plot(betas, missed, "--", lw=1.2, color=BLACK, label="limit")
    counts = sorted({count for part, count, _ in runs if part != "few"})
    for count, color in zip(counts, (ORANGE, RED, GREEN, GREY), strict=False):
        own = sorted((b, r) for (part, n, b), r in runs.items() if n == count and part != "few")
        ax.errorbar([b for b, _ in own], [r.missed for _, r in own],
                    [float(r.ratio.error) / SIGMA2 for _, r in own], fmt="o-", ms=4, lw=1.2,
                    capsize=2, color=color, label=f"{count:,} particles")  # fmt: skip
    rule = np.e * np.log(tokens) / (2 * SIGMA2)
    ax.axvline(rule, color=GREY, lw=1, ls=":", label=f"rule of thumb for {tokens:,}")
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    plain(ax, xscale="log", xlabel="beta", ylabel="share of the change that is missed",
          ylim=(0, 1.05), title="(d) at t = 0.125; rule of thumb: clusters set in")  # fmt: skip


STUDY = Study(
    name="in_context.fig2",
    item="EB-53",
    title="the variance of a Gaussian cloud over depth: the ideal line, the limit, particles",
    shows=("EB-8", "EB-9", "EB-10", "EB-12", "EB-53"),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(13.0, 9.0),
    tables=tables,
)
