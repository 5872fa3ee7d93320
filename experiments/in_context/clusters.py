"""Whether a prior of few clusters is good enough for the posterior mean, over bandwidth and depth.

Particles gather in clusters where the first stage goes on for long, and where its kernel is narrow.
The second stage blurs them with the noise's own width, so it stays near the Bayes estimate where
the clusters lie as the clean law does. A narrow kernel gathers the tokens before they have moved:
its clusters lie as the noisy law does, and neither their number nor depth helps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.in_context.estimates import drawn, draws, estimates, pick
from experiments.in_context.fig4_panels import shades
from experiments.in_context.fig4_tables import stated
from experiments.in_context.fig5_tables import betas_of
from experiments.in_context.prompts import PAIR, VARIANCES, WIDTH
from experiments.study import Condition, Outcome, Quantity, Study, Table, Task, exact, monte_carlo
from numeric.mixture import pair_posterior_mean
from numeric.particles import weighted_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIGMA2 = 0.5
BETAS, QUICK_BETAS = (5.0, 10.0, 20.0, 40.0, 80.0), (10.0, 80.0)
APART = 0.01  # particles nearer than that are one: a hundredth of a component's distance from 0
DRAWS, NOMINAL, STEP, SIZE = 8, 200, 50, 1000
QUICK_DRAWS, QUICK_NOMINAL, QUICK_STEP, QUICK_SIZE = 3, 24, 12, 800
FEW = 0.1  # clusters, as a share of the tokens


def tasks(quick: bool, seed: int) -> list[Task]:
    count, nominal, step, size = (
        (QUICK_DRAWS, QUICK_NOMINAL, QUICK_STEP, QUICK_SIZE) if quick
        else (DRAWS, NOMINAL, STEP, SIZE)
    )  # fmt: skip
    found = []
    for width in VARIANCES:
        found.append(Task(f"{width}, two atoms", {"width": width, "atoms": True}))
        for beta in QUICK_BETAS if quick else BETAS:
            shared = {
                "width": width, "sigma2": SIGMA2, "beta": beta, "nominal": nominal,
                "depths": list(range(0, 3 * nominal + 1, step)), "sizes": [size],
                "fresh": 100, "distance": APART, "seed": seed,
            }  # fmt: skip
            found += [
                Task(f"{width}, beta = {beta:g}, draw {k}", {**shared, "draw": k})
                for k in range(count)
            ]
    return found


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    if "atoms" in parameters:
        return {"excess": exact(two_atoms(VARIANCES[parameters["width"]], SIGMA2))}
    return estimates(parameters)


def two_atoms(v: float, sigma2: float, nodes: int = 400) -> float:
    """What the posterior mean loses when the prior is one cluster at the mean of each component.

    Args:
        v: variance of a component along each coordinate, at least 0.
        sigma2: of the noise.
        nodes: of the grid along the first coordinate.

    Source: EB-27, EB-59.
    """
    noisy = v + sigma2
    end = 1 + 8.5 * np.sqrt(noisy)
    x, weights = weighted_grid(
        lambda x: np.logaddexp(-((x - 1) ** 2) / (2 * noisy), -((x + 1) ** 2) / (2 * noisy)),
        -end, end, nodes,
    )  # fmt: skip
    mean = PAIR[0, :1]
    off = pair_posterior_mean(x, mean, v, sigma2) - pair_posterior_mean(x, mean, 0.0, sigma2)
    return float(weights @ off[:, 0] ** 2 + v**2 / noisy)


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    found = []
    for width in VARIANCES:
        own = drawn(pick(outcomes, width=width))
        if own:
            found += _of_reading(width, own)
    return found


def _of_reading(width: str, own: Sequence[Outcome]) -> list[Condition]:
    betas, size = betas_of(own), own[0].task.parameters["sizes"][0]
    # Axes: beta, depth.
    count, both, alone = (
        np.stack([draws(pick(own, beta=beta), name)[:, 0].mean(axis=0) for beta in betas])
        for name in ("clusters", "two stages", "stage one")
    )
    few = count <= FEW * size
    gathered = [k for k in range(len(betas)) if few[k, -1]]
    widest, narrowest = (gathered[0], gathered[-1]) if gathered else (-1, -1)
    one_shot = both[0, 0]
    return [
        Condition(f"{width}: share of bandwidths whose particles end in few clusters",
                  len(gathered) / len(betas), ">=", 0.5),
        Condition(f"{width}: rise of the number of clusters from depth to depth, as a share of the "
                  "tokens", float(np.diff(count, axis=1).max() / size), "<=", 0.02),
        Condition(f"{width}: distance from Bayes, both stages over the first alone, where the "
                  "clusters are few", float((both / alone)[few].max(initial=0)), "<=", 0.5),
        Condition(f"{width}: distance from Bayes of both stages over that of the one-shot, few "
                  f"clusters of beta = {betas[widest]:g}",
                  float(both[widest, -1] / one_shot), "<=", 0.5),
        Condition(f"{width}: the same of beta = {betas[narrowest]:g}: few clusters are not enough",
                  float(both[narrowest, -1] / one_shot), ">=", 0.6),
    ]  # fmt: skip


def tables(outcomes: Sequence[Outcome]) -> list[Table]:
    return [
        _table(width, pick(outcomes, width=width))
        for width in VARIANCES if pick(outcomes, width=width)
    ]  # fmt: skip


def _table(width: str, outcomes: Sequence[Outcome]) -> Table:
    own, atoms = drawn(outcomes), float(pick(outcomes, atoms=True)[0]["excess"])
    at = own[0].task.parameters
    shown = [k for k, depth in enumerate(at["depths"]) if depth % at["nominal"] == 0]
    rows = []
    for beta in betas_of(own):
        count, both, alone = (
            monte_carlo(draws(pick(own, beta=beta), name))
            for name in ("clusters", "two stages", "stage one")
        )
        rows += [
            [f"{beta:g}", str(at["depths"][k]), f"{count.value[0, k]:.1f}", stated(both, 0, k),
             stated(alone, 0, k), f"{both.value[0, k] / alone.value[0, k]:.2f}",
             f"{both.value[0, k] / both.value[0, 0]:.2f}"]
            for k in shown
        ]  # fmt: skip
    return Table(
        f"Clusters and distances from Bayes, N = {at['sizes'][0]}, nominal end {at['nominal']}, "
        f"width as {width}; two atoms at the means miss Bayes by {atoms:.4f}",
        ("beta", "layers", "clusters", "both stages", "first stage", "both/first", "both/one-shot"),
        rows,
    )


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    widths = [width for width in VARIANCES if pick(outcomes, width=width)]
    for width, row in zip(widths, figure.subplots(len(widths), 3, squeeze=False), strict=True):
        own = pick(outcomes, width=width)
        _draw_row(row, drawn(own), float(pick(own, atoms=True)[0]["excess"]), width)


def _draw_row(row: Sequence[Axes], own: Sequence[Outcome], atoms: float, width: str) -> None:
    from experiments.pictures import BLACK, GREY, plain

    betas, at = betas_of(own), own[0].task.parameters
    number, depth, against = row
    for beta, color in zip(betas, shades(len(betas)), strict=True):
        some, label = pick(own, beta=beta), rf"$\beta$ = {beta:g}"
        count, both, alone = (
            draws(some, name)[:, 0] for name in ("clusters", "two stages", "stage one")
        )
        mean = count.mean(axis=0)
        number.plot(at["depths"], mean, "o-", ms=3.5, lw=1.4, color=color, label=label)
        for errors, style in ((both, "o-"), (alone, "o:")):
            middle, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1)
            depth.fill_between(at["depths"], middle - spread, middle + spread, alpha=0.18, lw=0,
                               color=color)  # fmt: skip
            depth.plot(at["depths"], middle, style, ms=3, lw=1.4, color=color)
            against.plot(mean, middle, style, ms=3, lw=1.4, color=color)
    for ax in (depth, against):
        ax.axhline(atoms, color=BLACK, lw=1.2, ls="--", label="two atoms at the means")
        ax.plot([], [], "-", color=GREY, label="both stages")
        ax.plot([], [], ":", color=GREY, label="first stage alone")
    number.axvline(at["nominal"], color=GREY, lw=1, ls=":")
    depth.axvline(at["nominal"], color=GREY, lw=1, ls=":")
    number.legend(frameon=False, fontsize=9)
    against.legend(frameon=False, fontsize=9, loc=(0.04, 0.08))
    size, ends = at["sizes"][0], (min(atoms, 0.005) / 1.5, 1.2)
    plain(number, yscale="log", xlabel="layers", ylabel=f"clusters of {size} particles",
          title=f"a = 0.1 as {width}: clusters")  # fmt: skip
    plain(depth, yscale="log", ylim=ends, xlabel="layers", ylabel="squared distance from Bayes",
          title=f"a = 0.1 as {width}: distance over depth")  # fmt: skip
    plain(against, xscale="log", yscale="log", ylim=ends, ylabel="squared distance from Bayes",
          xlabel="clusters, from depth 0 at the right",
          title=f"a = 0.1 as {width}: distance over clusters")  # fmt: skip


STUDY = Study(
    name="in_context.clusters",
    item="EB-59",
    title="how near to Bayes two stages stay where the first has gathered the particles",
    shows=("EB-12", "EB-15", "EB-22"),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(16.0, 9.0),
    tables=tables,
    settings=(WIDTH,),
)
