"""Where tokens of a mixture in the plane go, layer by layer.

Each layer replaces a particle by a mean of particles, so their convex hull never grows: in every
direction the support function can only fall (EB-19).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.in_context.mixtures import SIGMA2, draw_five, five, log_density
from experiments.study import Condition, Outcome, Quantity, Study, Table, Task, exact, sampled
from numeric.particles import BandwidthWarning, Layer, equal_layers, moments, refine, support

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EPS = float(np.finfo(np.float64).eps)
BETA, LAYERS, QUICK_LAYERS = 20.0, 200, 40
# Tokens that are drawn, out of all; and how many times their places are kept.
DRAWN, LOOKS = 300, 20
ANGLES = np.linspace(0, 2 * np.pi, 72, endpoint=False)
DIRECTIONS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
# The clean law's region: where its density is above a level that so many of its draws reach.
REGION, REGION_DRAWS = 0.95, 20_000
EXTENT = 3.4


def tasks(quick: bool, seed: int) -> list[Task]:
    layers, tokens, seeds = (QUICK_LAYERS, 1000, 2) if quick else (LAYERS, 2000, 8)
    return [
        Task(f"draw {k}", {"tokens": tokens, "layers": layers, "seed": [seed, k], "kept": k == 0})
        for k in range(seeds)
    ]


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """The hull after every layer; at some of them covariance, places, share within the region."""
    layers = parameters["layers"]
    every = layers // LOOKS
    prompt = draw_five(parameters["tokens"], parameters["seed"])
    schedule = equal_layers(SIGMA2, BETA, layers)
    level = region_level(parameters["seed"])
    law = five()
    hulls, traces, within, places = [], [], [], []

    def look(layer: Layer) -> None:
        hulls.append(support(layer.particles, DIRECTIONS))
        if layer.index % every:
            return
        traces.append(np.trace(moments(layer.particles)[1]))
        within.append((log_density(law, layer.particles) >= level).mean())
        places.append(layer.particles[:DRAWN])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BandwidthWarning)
        refine(prompt.tokens, SIGMA2, schedule, observer=look)
    hull = np.array(hulls)
    # A layer's shift is stated to 1e-12 of the bandwidth, and adding it rounds.
    rounding = schedule.eta[0] * 1e-12 / np.sqrt(BETA) + 4 * EPS * np.abs(hull).max()
    found = {
        "growth of the hull by rounding": exact(np.diff(hull, axis=0).max() / rounding),
        "mean width of the hull": sampled(2 * hull.mean(axis=1)),
        "trace of the covariance": sampled(traces),
        "clean trace": sampled(np.trace(moments(prompt.clean)[1])),
        "share within the region": sampled(within),
        "clean share within the region": sampled(
            (log_density(law, prompt.clean) >= level).mean()
        ),
    }  # fmt: skip
    if parameters["kept"]:
        found["places"] = sampled(np.array(places))
        found["hull"] = sampled(hull[:: layers // 4])
    return found


def region_level(seed: Sequence[int]) -> float:
    """The log density that a share of `REGION` of the clean law's draws reach."""
    clean = draw_five(REGION_DRAWS, [*seed, 1]).clean
    return float(np.quantile(log_density(five(), clean), 1 - REGION))


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    start, end = (_mean_at(outcomes, "share within the region", at) for at in (0, -1))
    width = np.mean([o["mean width of the hull"].value[[0, -1]] for o in outcomes], axis=0)
    left = [
        (o["trace of the covariance"].value[-1] - float(o["clean trace"])) / (2 * SIGMA2)
        for o in outcomes
    ]
    return [
        Condition("growth of the hull in any direction by any layer, by what rounding allows",
                  max(float(o["growth of the hull by rounding"]) for o in outcomes), "<=", 1.0),
        Condition("mean width of the hull at the end, of that at the start",
                  width[1] / width[0], "<=", 0.95),
        Condition("share of particles within the clean law's region, gained to the end",
                  end - start, ">=", 0.2),
        # A component of variance 0.03 ends at 0.088 with infinitely many tokens, since beta is
        # finite: a quarter of the noise is left. What comes on top is due to their number.
        Condition("share of the noise's variance that is left at the end",
                  float(np.mean(left)), "<=", 0.4),
    ]  # fmt: skip


def _mean_at(outcomes: Sequence[Outcome], result: str, at: int) -> float:
    return float(np.mean([o[result].value[at] for o in outcomes]))


def tables(outcomes: Sequence[Outcome]) -> list[Table]:
    layers = outcomes[0].task.parameters["layers"]
    every = layers // LOOKS
    rows = [
        (f"{at * every}",
         f"{_mean_at(outcomes, 'mean width of the hull', at * every):.3f}",
         f"{_mean_at(outcomes, 'trace of the covariance', at):.4f}",
         f"{_mean_at(outcomes, 'share within the region', at):.3f}")
        for at in range(0, LOOKS + 1, LOOKS // 4)
    ]  # fmt: skip
    clean = [float(np.mean([float(o[name]) for o in outcomes]))
             for name in ("clean trace", "clean share within the region")]  # fmt: skip
    rows.append(("clean", "", f"{clean[0]:.4f}", f"{clean[1]:.3f}"))
    heads = ("layer", "mean width of the hull", "trace of the covariance", "share within region")
    return [Table("over depth, mean over draws", heads, rows)]


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    from experiments.pictures import BLUE, GREY, ORANGE, plain

    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    kept = next(o for o in outcomes if o.task.parameters["kept"])
    layers, tokens = (kept.task.parameters[name] for name in ("layers", "tokens"))
    lines = _paths(left, kept["places"].value)
    figure.colorbar(lines, ax=left, label="share of the depth", shrink=0.8)
    for hull, dash in zip(kept["hull"].value[::2], ("-", "--", ":"), strict=False):
        left.fill(*_corners(hull), fill=False, ls=dash, lw=1, color=GREY)
    left.plot([], [], color=GREY, label="convex hull, start")
    left.plot([], [], "--", color=GREY, label="half the layers")
    left.plot([], [], ":", color=GREY, label="all layers")
    left.legend(frameon=False, fontsize=8, loc="upper left")
    left.set(aspect="equal", xlim=(-EXTENT, EXTENT), ylim=(-EXTENT + 0.3, EXTENT - 0.3),
             title=f"{DRAWN} of {tokens:,} tokens over the clean density")  # fmt: skip
    widths = np.array([o["mean width of the hull"].value for o in outcomes])
    right.plot(widths.T / widths[:, :1].T, color=BLUE, lw=0.8, alpha=0.6)
    shares = np.array([o["share within the region"].value for o in outcomes])
    right.plot(np.linspace(0, layers, LOOKS + 1), shares.T, color=ORANGE, lw=0.8, alpha=0.6)
    right.plot([], [], color=BLUE, label="mean width of the hull, of that at the start")
    right.plot([], [], color=ORANGE, label="share within the clean law's region of 0.95")
    right.axhline(REGION, color=ORANGE, lw=1, ls="--", label="clean tokens")
    right.legend(frameon=False, fontsize=9, loc="lower right")
    plain(right, xlabel="layer", title=f"each of {len(outcomes)} draws", ylim=(0, 1.03))


def _paths(ax: Axes, places: np.ndarray) -> Any:
    """Lines from tokens to particles, coloured by depth, over the clean density."""
    from matplotlib.collections import LineCollection

    from experiments.pictures import BLACK

    axis = np.linspace(-EXTENT, EXTENT, 181)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1)
    ax.contourf(axis, axis, np.exp(log_density(five(), grid)), levels=8, cmap="Greys", alpha=0.55)
    segments = np.stack([places[:-1], places[1:]], axis=2)  # step, token, end, coordinate
    depth = np.broadcast_to(np.linspace(0, 1, len(segments))[:, None], segments.shape[:2])
    lines = LineCollection(list(segments.reshape(-1, 2, 2)), cmap="viridis_r", lw=0.8)
    lines.set_array(depth.ravel())
    ax.add_collection(lines)
    ax.plot(*places[0].T, "o", ms=1.8, color="0.6", mew=0)
    ax.plot(*places[-1].T, "o", ms=2.4, color=BLACK, mew=0)
    return lines


def _corners(hull: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the polygon whose support in each direction is given: neighbours' lines met."""
    after = np.roll(DIRECTIONS, -1, axis=0)
    lines = np.stack([DIRECTIONS, after], axis=1)
    met = np.linalg.solve(lines, np.stack([hull, np.roll(hull, -1)], axis=1)[..., None])[..., 0]
    return met[:, 0], met[:, 1]


STUDY = Study(
    name="in_context.fig1b",
    item="EB-56",
    title="trajectories of particles over depth in the plane, and their hull",
    shows=("EB-15", "EB-19"),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(13.0, 6.2),
    tables=tables,
)
