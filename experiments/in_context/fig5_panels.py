"""Pictures of errors against depth and bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.in_context.estimates import draws, pick
from experiments.in_context.fig4_panels import band, shades
from experiments.in_context.fig5_tables import STAGES, betas_of, groups
from experiments.in_context.prompts import VARIANCES
from experiments.study import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    """A row of panels for each reading of the width."""
    widths = [width for width in VARIANCES if pick(outcomes, width=width)]
    rows = figure.subplots(len(widths), 3, squeeze=False)
    for width, (depth, beta, best) in zip(widths, rows, strict=True):
        own = pick(outcomes, width=width)
        reading = f"a = 0.1 as {width}"
        _against_depth(depth, own, reading)
        _against_beta(beta, own, reading)
        _best_depth(best, own, reading)


def _against_depth(ax: Axes, outcomes: Sequence[Outcome], reading: str) -> None:
    from experiments.pictures import BLACK, GREY, RED, plain

    limit = pick(outcomes, beta=20.0, limit=True)[0]
    at, least = limit.task.parameters, float(limit["least error"])
    own = groups(outcomes, 20.0)
    for (size, some, k), color in zip(own, shades(len(own)), strict=True):
        band(ax, at["depths"], least + draws(some, "two stages")[:, k], color, f"N = {size}")
    ax.plot(at["depths"], limit["two stages"].value, "--", lw=1.4, color=RED,
            label="infinitely many")  # fmt: skip
    ax.axhline(least, color=BLACK, lw=1.4, label="least error")
    ax.axvline(at["nominal"], color=GREY, lw=1, ls=":", label="nominal end")
    ax.legend(frameon=False, fontsize=9, ncols=2, loc="upper right")
    top = least + float(draws(own[0][1], "two stages")[:, 0].mean(axis=0).max())
    plain(ax, xlabel="layers", ylabel="error, both coordinates", ylim=(least - 0.02, top + 0.13),
          title=rf"{reading}: error against depth, $\beta$ = 20")  # fmt: skip


def _against_beta(ax: Axes, outcomes: Sequence[Outcome], reading: str) -> None:
    from experiments.pictures import BLACK, BLUE, GREEN, GREY, ORANGE, RED, plain

    betas = betas_of(outcomes)
    limits = [pick(outcomes, beta=beta, limit=True)[0] for beta in betas]
    least, at = float(limits[0]["least error"]), limits[0].task.parameters
    end = at["depths"].index(at["nominal"])
    shown = [size for size, *_ in groups(outcomes, betas[0])]
    shown = [size for size in (500, 5000) if size in shown]
    colors = {"stage one": (ORANGE, RED), "two stages": (BLUE, GREEN)}
    for result, name in STAGES.items():
        for size, color in zip(shown, colors[result], strict=False):
            columns = [
                draws(some, result)[:, k, end]
                for beta in betas for n, some, k in groups(outcomes, beta)
                if n == size and some[0].task.parameters["part"] == "sizes"
            ]  # fmt: skip
            band(ax, betas, least + np.stack(columns, axis=1), color, f"{name}, N = {size}")
        dashed = [limit[result].value[end] for limit in limits]
        ax.plot(betas, dashed, "--", lw=1.2, color=GREY)
    ax.plot([], [], "--", color=GREY, label="infinitely many")
    ax.axhline(least, color=BLACK, lw=1.4, label="least error")
    ax.legend(frameon=False, fontsize=9, ncols=2, loc="upper left")
    ax.set(xscale="log")
    ax.set_xticks(betas, [f"{beta:g}" for beta in betas])
    ax.minorticks_off()
    plain(ax, xlabel=r"inverse bandwidth $\beta$", ylabel="error, both coordinates",
          ylim=(least - 0.05, 1.3), title=rf"{reading}: error against $\beta$")  # fmt: skip


def _best_depth(ax: Axes, outcomes: Sequence[Outcome], reading: str) -> None:
    """Both kinds of error against depth at each beta, with the largest prompt of all betas."""
    from experiments.pictures import BLACK, GREY, plain

    betas = betas_of(outcomes)
    own = [[g for g in groups(outcomes, beta) if g[1][0].task.parameters["part"] == "sizes"][-1]
           for beta in betas]  # fmt: skip
    least, at = float(own[0][1][0]["least error"]), own[0][1][0].task.parameters
    for beta, (_, some, k), color in zip(betas, own, shades(len(betas)), strict=True):
        for result, style in (("stage one", ":"), ("two stages", "-")):
            mean = least + draws(some, result)[:, k].mean(axis=0)
            label = rf"$\beta$ = {beta:g}" if style == "-" else None
            ax.plot(at["depths"], mean, style, lw=1.6, color=color, label=label)
    ax.plot([], [], ":", color=GREY, label="first stage alone")
    ax.plot([], [], "-", color=GREY, label="both stages")
    ax.axhline(least, color=BLACK, lw=1.4, label="least error")
    ax.axvline(at["nominal"], color=GREY, lw=1, ls=":")
    ax.legend(frameon=False, fontsize=9, ncols=3, loc="upper center")
    plain(ax, xlabel="layers", ylabel="error, both coordinates", ylim=(least - 0.05, 1.35),
          title=rf"{reading}: each $\beta$ over depth, N = {own[0][0]}")  # fmt: skip
