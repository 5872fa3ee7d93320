"""Pictures of errors against the size of the prompt, the noise, the layers and ambiguity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.in_context.estimates import EDGES, drawn, draws, pick
from experiments.in_context.prompts import VARIANCES
from experiments.study import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    """A row of panels for each reading of the width."""
    widths = [width for width in VARIANCES if pick(outcomes, width=width)]
    rows = figure.subplots(len(widths), 4, squeeze=False)
    for width, (sizes, noise, ambiguity, layers) in zip(widths, rows, strict=True):
        own = pick(outcomes, width=width)
        reading = f"a = 0.1 as {width}"
        _against_size(sizes, own, reading)
        _against_noise(noise, own, reading)
        _by_ambiguity(ambiguity, own, reading)
        _against_layers(layers, own, reading)


def shades(count: int) -> list[str]:
    """Colours that darken with depth."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["viridis_r"](x)) for x in np.linspace(0.12, 0.95, count)]


def band(
    ax: Axes, x: Sequence[float], samples: np.ndarray, color: str, label: str | None = None
) -> None:
    """Mean over draws, and one standard deviation of them to each side."""
    mean, spread = samples.mean(axis=0), samples.std(axis=0, ddof=1)
    ax.fill_between(x, mean - spread, mean + spread, color=color, alpha=0.18, lw=0)
    ax.plot(x, mean, "o-", ms=3.5, lw=1.4, color=color, label=label)


def _against_size(ax: Axes, outcomes: Sequence[Outcome], reading: str) -> None:
    from experiments.pictures import BLACK, GREY, RED, plain

    limit = pick(outcomes, part="sizes", limit=True)[0]
    least = float(limit["least error"])
    depths = limit.task.parameters["depths"]
    own, many = drawn(pick(outcomes, part="sizes")), pick(outcomes, part="many")
    sizes = own[0].task.parameters["sizes"]
    error = least + draws(own, "two stages")
    for k, (depth, color) in enumerate(zip(depths, shades(len(depths)), strict=True)):
        band(ax, sizes, error[:, :, k], color, f"{depth} layers" if depth else "one-shot")
        ax.axhline(limit["two stages"].value[k], color=color, lw=1, ls="--")
        for size in sorted({o.task.parameters["sizes"][0] for o in many}):
            some = pick(many, sizes=[size])
            if depth in some[0].task.parameters["depths"]:
                place = some[0].task.parameters["depths"].index(depth)
                mean = least + draws(some, "two stages")[:, 0, place].mean()
                ax.plot(size, mean, "s", ms=5, color=color)
    fresh = least + draws(own, "fresh tokens")[:, :, -1].mean(axis=0)
    ax.plot(sizes, fresh, "x", ms=5, color=RED, label=f"{depths[-1]}, fresh tokens")
    ax.axhline(least, color=BLACK, lw=1.4, label="least error")
    ax.plot([], [], "--", color=GREY, label="infinitely many")
    ax.legend(frameon=False, fontsize=9, ncols=2, loc="upper right")
    low, high = least - 0.02, float(error.mean(axis=0).max()) + 0.16
    ax.set(xscale="log")
    shown = [*sizes, *sorted({o.task.parameters["sizes"][0] for o in many})]
    ax.set_xticks(shown, [str(n) if n < 1000 else f"{n // 1000}k" for n in shown], fontsize=9)
    ax.minorticks_off()
    plain(ax, xlabel="tokens N", ylabel="error, both coordinates", ylim=(low, high),
          title=f"{reading}: error against size")  # fmt: skip


def _against_noise(ax: Axes, outcomes: Sequence[Outcome], reading: str) -> None:
    from experiments.pictures import BLACK, BLUE, GREY, ORANGE, plain

    own = pick(outcomes, part="noise")
    noises = sorted({o.task.parameters["sigma2"] for o in own})
    limits = [pick(own, sigma2=s, limit=True)[0] for s in noises]
    least = np.array([float(limit["least error"]) for limit in limits])
    error = np.stack(
        [draws(drawn(pick(own, sigma2=s)), "two stages")[:, 0] for s in noises], axis=1
    )
    for k, (color, label) in enumerate(((ORANGE, "one-shot"), (BLUE, "nominal end"))):
        band(ax, noises, (error[:, :, k] + least) / noises, color, label)
        dashed = [limit["two stages"].value[k] / s for limit, s in zip(limits, noises, strict=True)]
        ax.plot(noises, dashed, "--", lw=1, color=color)
    ax.plot(noises, least / noises, color=BLACK, lw=1.4, label="least error")
    ax.plot([], [], "--", color=GREY, label="infinitely many")
    ax.legend(frameon=False, fontsize=9, loc="lower right")
    size = drawn(own)[0].task.parameters["sizes"][0]
    plain(ax, xlabel=r"noise $\sigma^2$", ylabel=r"error / $\sigma^2$", ylim=(0, None),
          title=f"{reading}: error against noise, N = {size}")  # fmt: skip
    half = ax.twinx()
    half.set(ylim=[y / 2 for y in ax.get_ylim()], ylabel=r"error / $2\sigma^2$")
    half.spines["top"].set_visible(False)


def _by_ambiguity(ax: Axes, outcomes: Sequence[Outcome], reading: str) -> None:
    from experiments.pictures import BLUE, GREEN, ORANGE, plain

    own = drawn(pick(outcomes, part="sizes"))
    bins = draws(own, "in bins")
    ends = np.array([*EDGES[:-1], EDGES[-2] + 0.5])
    for values, color, label in (
        (bins[:, 0], ORANGE, "one-shot"),
        (bins[:, -1], BLUE, "nominal end"),
        (bins[:, 0] - bins[:, -1], GREEN, "gain from depth"),
    ):
        mean, spread = values.mean(axis=0), values.std(axis=0, ddof=1)
        ax.stairs(mean, ends, color=color, lw=1.6, label=label)
        ax.errorbar((ends[:-1] + ends[1:]) / 2, mean, spread, fmt="none", capsize=2, lw=1,
                    color=color)  # fmt: skip
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    ax.set_xticks(ends, [*(f"{x:g}" if 2 * x % 1 == 0 else "" for x in EDGES[:-1]), r"$\infty$"])
    plain(ax, xlabel=r"$|\tilde x\cdot\mu|$, 0: both components alike", ylim=(0, None),
          ylabel="squared distance from Bayes", title=f"{reading}: where depth gains")  # fmt: skip


def _against_layers(ax: Axes, outcomes: Sequence[Outcome], reading: str) -> None:
    from experiments.pictures import BLACK, BLUE, GREY, plain

    own = pick(outcomes, part="layers")
    counts = sorted({o.task.parameters["nominal"] for o in own})
    limits = [pick(own, nominal=n, limit=True)[0] for n in counts]
    least = float(limits[0]["least error"])
    some = [draws(drawn(pick(own, nominal=n)), "two stages")[:, 0, 0] for n in counts]
    error = least + np.stack(some, axis=1)
    size = drawn(own)[0].task.parameters["sizes"][0]
    band(ax, counts, error, BLUE, f"nominal end, N = {size}")
    dashed = [float(limit["two stages"].value[0]) for limit in limits]
    ax.plot(counts, dashed, "--", lw=1, color=GREY, label="infinitely many")
    ax.axhline(least, color=BLACK, lw=1.4, label="least error")
    one_shot = pick(outcomes, part="sizes", limit=True)[0]["two stages"].value[0]
    ax.axhline(one_shot, color=GREY, lw=1.4, ls=":", label="one-shot, infinitely many")
    ax.legend(frameon=False, fontsize=9, loc=(0.3, 0.62))
    ax.set(xscale="log")
    ax.set_xticks(counts, [str(n) for n in counts])
    ax.minorticks_off()
    plain(ax, xlabel="layers to the nominal end",
          ylabel="error, both coordinates", title=f"{reading}: fewer, larger layers")  # fmt: skip
