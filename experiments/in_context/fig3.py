r"""The wells of the energy as the prior is refined, for a mixture in the plane.

Before any layer the energy is that of the tokens themselves as a prior, whose law is the clean one
with noise: up to constants ``-sigma2 log`` of the density with *twice* the noise. A refined prior
that has the clean law gives ``-sigma2 log`` of the noisy tokens' density. So what the layers can
part are components that twice the noise joins, and the noise does not. Components closer than that
share a well at any depth: the number of wells grows to the number of modes of the noisy law, which
is one a component only where they lie apart.

A lone token far out has a well of its own too; those are counted apart. Critical points are found
from many starts; that none is left out is checked by their indices, whose sum is 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.in_context.mixtures import (
    MEANS,
    SIGMA2,
    WEIGHTS,
    draw_five,
    five,
    log_density,
)
from experiments.in_context.wells import (
    Critical,
    Energy,
    critical_points,
    energy_of_mixture,
    energy_of_particles,
)
from experiments.study import Condition, Outcome, Quantity, Study, Table, Task, exact, sampled
from numeric.particles import (
    BandwidthWarning,
    Layer,
    RefinedPrior,
    equal_layers,
    posterior_mean,
    refine,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BETA = 20.0
# How far the components lie apart: the mixture as it is, and drawn together.
SCALES = {"apart": 1.0, "close": 0.65}
COMPONENTS = len(WEIGHTS)
# Shares of the nominal depth; those that are drawn.
DEPTHS, SHOWN = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5), (0, 2, 4, 5)
END = DEPTHS.index(1.0)
EXTENT, STARTS = 3.2, 13
# A token beyond the others may have a well of its own: descents start from the outermost too.
OUTERMOST = 24
# It is told by its height: fewer than one token in a hundred would have to lie at its bottom.
LONE = SIGMA2 * np.log(100)
AXIS = np.linspace(-EXTENT, EXTENT, 65)
KEPT = 1500  # particles that are drawn


def tasks(quick: bool, seed: int) -> list[Task]:
    layers, tokens, seeds = (20, 1000, 2) if quick else (200, 5000, 5)
    runs = [
        Task(f"{layout}, draw {k}",
             {"layout": layout, "tokens": tokens, "layers": layers, "seed": [seed, k],
              "drawn": layout == "apart" and k == 0})
        for layout in SCALES for k in range(1 if quick and layout == "close" else seeds)
    ]  # fmt: skip
    return [Task(f"{layout}, limit", {"layout": layout, "tokens": 0}) for layout in SCALES] + runs


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """Wells over depth: columns are two coordinates, the energy, and the two curvatures."""
    scale = SCALES[parameters["layout"]]
    axis = np.linspace(-EXTENT, EXTENT, STARTS)
    starts = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    if not parameters["tokens"]:
        laws = {"wells 0": five(scale, SIGMA2), f"wells {END}": five(scale)}
        found = {name: critical_points(energy_of_mixture(law, SIGMA2), starts, SIGMA2)
                 for name, law in laws.items()}  # fmt: skip
        sums = [points.index_sum for points in found.values()]
        return {name: exact(_wells(points)) for name, points in found.items()} | {
            "index sums": exact(sums)
        }
    clouds = refined(parameters, scale)
    results: dict[str, Quantity] = {}
    sums, moved = [], []
    for k, particles in enumerate(clouds):
        energy = energy_of_particles(particles, SIGMA2)
        far = np.argsort(np.linalg.norm(particles, axis=1))[-OUTERMOST:]
        points = critical_points(energy, np.concatenate([starts, particles[far]]), SIGMA2)
        results[f"wells {k}"] = sampled(_wells(points))
        sums.append(points.index_sum)
        prior = RefinedPrior(particles, np.ones(len(particles)), SIGMA2, 0.0, 0.0)
        bottoms = points.places[: points.minima]
        moved.append(np.linalg.norm(posterior_mean(prior, bottoms) - bottoms, axis=1).max())
        if parameters["drawn"] and k in SHOWN:
            results[f"particles {k}"] = sampled(particles[:KEPT])
            results[f"energy {k}"] = sampled(_on_grid(energy))
    results["index sums"] = sampled(sums)
    results["shift of wells by deviation"] = sampled(np.array(moved) / np.sqrt(SIGMA2))
    return results


def refined(parameters: Mapping[str, Any], scale: float) -> list[np.ndarray]:
    """The particles at each of the depths."""
    layers = parameters["layers"]
    prompt = draw_five(parameters["tokens"], parameters["seed"], scale=scale)
    wanted = {round(share * layers) for share in DEPTHS}
    clouds: list[np.ndarray] = []

    def look(layer: Layer) -> None:
        if layer.index in wanted:
            clouds.append(layer.particles)

    schedule = equal_layers(SIGMA2, BETA, max(wanted), n_layers_nominal=layers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BandwidthWarning)
        refine(prompt.tokens, SIGMA2, schedule, observer=look)
    return clouds


def _wells(points: Critical) -> np.ndarray:
    n = points.minima
    columns = (points.places[:n], points.energies[:n, None], points.curvatures[:n])
    return np.concatenate(columns, axis=1)


def _on_grid(energy: Energy) -> np.ndarray:
    grid = np.stack(np.meshgrid(AXIS, AXIS), axis=-1).reshape(-1, 2)
    return energy(grid).energy.reshape(len(AXIS), len(AXIS))


def chosen(outcomes: Sequence[Outcome], layout: str, *, limit: bool = False) -> list[Outcome]:
    """Draws of a layout, or the limit of many tokens."""
    return [
        o for o in outcomes
        if o.task.parameters["layout"] == layout and (o.task.parameters["tokens"] == 0) == limit
    ]  # fmt: skip


def wells(outcome: Outcome, depth: int) -> np.ndarray:
    """Wells at a depth, by its place in `DEPTHS`, less those of lone tokens: rows as in `run`."""
    found = outcome[f"wells {depth}"].value
    return found[found[:, 2] <= LONE]


def count(outcome: Outcome, depth: int) -> int:
    """Number of those wells."""
    return len(wells(outcome, depth))


def curvature(outcome: Outcome, depth: int) -> float:
    """Mean over those wells, and over directions, of their curvature."""
    return float(wells(outcome, depth)[:, 3:].mean())


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    apart, close = chosen(outcomes, "apart"), chosen(outcomes, "close")
    (limit,) = chosen(outcomes, "apart", limit=True)
    sums = np.concatenate([o["index sums"].value for o in outcomes])
    moved = np.concatenate([o["shift of wells by deviation"].value for o in (*apart, *close)])
    gained = [count(o, END) - count(o, 0) for o in apart]
    sharper = [curvature(o, END) - curvature(o, 0) for o in apart]
    return [
        Condition("sum of the indices of all critical points, largest distance from 1",
                  float(np.abs(sums - 1).max()), "<=", 0.0),
        Condition("posterior mean of a well less the well, in deviations of the noise",
                  float(moved.max()), "<=", 1e-8),
        Condition("limit, apart: wells before any layer", count(limit, 0), "<=", COMPONENTS - 2),
        Condition("limit, apart: wells under the clean law", count(limit, END), ">=", COMPONENTS),
        Condition("apart: wells gained to the nominal end, mean over draws",
                  float(np.mean(gained)), ">=", 1.0),
        Condition("apart: fewest wells at the nominal end, one a component or one less",
                  min(count(o, END) for o in apart), ">=", COMPONENTS - 1),
        Condition("apart: mean curvature of wells gained, least over draws",
                  min(sharper), ">=", 0.05),
        Condition("close: most wells at any depth",
                  max(count(o, k) for o in close for k in range(len(DEPTHS))),
                  "<=", COMPONENTS - 2),
    ]  # fmt: skip


def tables(outcomes: Sequence[Outcome]) -> list[Table]:
    layers = chosen(outcomes, "apart")[0].task.parameters["layers"]
    counts = []
    for layout in SCALES:
        (limit,) = chosen(outcomes, layout, limit=True)
        own = chosen(outcomes, layout)
        for k, share in enumerate(DEPTHS):
            found = [wells(o, k) for o in own]
            lone = [len(o[f"wells {k}"].value) - len(w) for o, w in zip(own, found, strict=True)]
            counts.append((
                layout, f"{share * layers:.0f}",
                " ".join(f"{len(w)}+{n}" if n else f"{len(w)}"
                         for w, n in zip(found, lone, strict=True)),
                str(count(limit, k)) if k in (0, END) else "",
                f"{np.mean([curvature(o, k) for o in own]):.3f}",
                f"{np.mean([w[:, 3].min() for w in found]):.3f}",
                f"{np.mean([w[:, 2].min() for w in found]):.3f}",
                f"{np.mean([w[:, 2].max() for w in found]):.3f}",
            ))  # fmt: skip
    return [
        Table("wells over depth (+ those of lone tokens); limit: before any layer, clean law",
              ("layout", "layer", "wells, by draw", "limit", "mean curvature", "least curvature",
               "lowest energy", "highest well"), counts),
        Table("apart: the clean law's wells, and the nearest of the first draw's at the end",
              ("component", "weight", "mean", "well", "energy", "curvatures", "found", "energy",
               "curvatures"), _beside(outcomes)),
    ]  # fmt: skip


def _beside(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """A row for each component: the well next to its mean, under the clean law and as found."""
    (limit,) = chosen(outcomes, "apart", limit=True)
    wells = [o[f"wells {END}"].value for o in (limit, chosen(outcomes, "apart")[0])]
    rows = []
    for k, mean in enumerate(SCALES["apart"] * MEANS):
        row = [str(k + 1), f"{WEIGHTS[k]:.2f}", f"({mean[0]:.2f}, {mean[1]:.2f})"]
        for some in wells:
            x, y, energy, low, high = some[np.linalg.norm(some[:, :2] - mean, axis=1).argmin()]
            row += [f"({x:.2f}, {y:.2f})", f"{energy:.3f}", f"{low:.2f} {high:.2f}"]
        rows.append(tuple(row))
    return rows


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    from experiments.pictures import plain

    upper, lower = figure.subplots(2, 4)
    outcome = next(o for o in chosen(outcomes, "apart") if o.task.parameters["drawn"])
    layers, tokens = (outcome.task.parameters[name] for name in ("layers", "tokens"))
    grid = np.stack(np.meshgrid(AXIS, AXIS), axis=-1)
    _filled(upper[0], np.exp(log_density(five(), grid)), "(a) clean density", "Blues")
    upper[0].plot(*MEANS.T, "k+", ms=6)
    _filled(upper[1], np.exp(log_density(five(1.0, SIGMA2), grid)),
            f"(b) prompt of {tokens:,} tokens, its density", "Blues")  # fmt: skip
    upper[1].plot(*outcome["particles 0"].value.T, ".", ms=1.5, color="k", alpha=0.5)
    for ax, k in zip(lower, SHOWN, strict=True):
        _landscape(ax, outcome, k, f"(c) layer {DEPTHS[k] * layers:.0f}")
    depth = layers * np.array(DEPTHS)
    _over_depth(upper[2], outcomes, depth, count)
    upper[2].axhline(COMPONENTS, color="0.55", ls="--", lw=1)
    plain(upper[2], title="(d) wells, each draw", xlabel="layer", ylim=(0, COMPONENTS + 0.6))
    upper[2].legend(frameon=False, fontsize=8)
    _over_depth(upper[3], outcomes, depth, curvature)
    plain(upper[3], title="(e) mean curvature of the wells", xlabel="layer", ylim=(0, None))


def _over_depth(ax: Axes, outcomes: Sequence[Outcome], depth: np.ndarray, of: Any) -> None:
    from experiments.pictures import BLUE, ORANGE

    for layout, color in zip(SCALES, (BLUE, ORANGE), strict=True):
        own = chosen(outcomes, layout)
        lines = np.array([[of(o, k) for k in range(len(DEPTHS))] for o in own])
        # Counts of several draws lie on one another: they are set apart a little.
        shift = 0.05 * (np.arange(len(own)) - len(own) / 2)[:, None] if of is count else 0
        ax.plot(depth, (lines + shift).T, "o-", ms=3, lw=1, color=color, alpha=0.7)
        (limit,) = chosen(outcomes, layout, limit=True)
        ax.plot(depth[[0, END]], [of(limit, k) for k in (0, END)], "D", ms=6, mfc="none",
                color=color, label=f"{layout}: limit, clean law at the end")  # fmt: skip


def _filled(ax: Axes, values: np.ndarray, title: str, colors: str, levels: Any = 10) -> None:
    ax.contourf(AXIS, AXIS, values, levels=levels, cmap=colors)
    ax.set(aspect="equal", title=title, xlim=(-EXTENT, EXTENT), ylim=(-EXTENT, EXTENT))


def _landscape(ax: Axes, outcome: Outcome, k: int, title: str) -> None:
    """Particles in white over the energy, wells as crosses."""
    energy = outcome[f"energy {k}"].value
    low = energy.min()
    levels = low + 1.2 * np.linspace(0, 1, 21) ** 1.5  # denser at the bottom of the wells
    _filled(ax, np.minimum(energy, levels[-1]), title, "viridis", levels)
    ax.contour(AXIS, AXIS, energy, levels=levels[:-1], colors="black", linewidths=0.3, alpha=0.6)
    ax.plot(*outcome[f"particles {k}"].value.T, ".", ms=2.2, color="white", mew=0, alpha=0.8)
    ax.plot(*outcome[f"wells {k}"].value[:, :2].T, "x", ms=9, mew=2.2, color="#d55e00")


STUDY = Study(
    name="in_context.fig3",
    item="EB-54",
    title="the wells of the energy as the prior is refined, counted and measured",
    shows=("EB-13", "EB-14", "EB-54"),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(17.0, 8.6),
    tables=tables,
)
