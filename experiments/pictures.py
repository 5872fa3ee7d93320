"""What the pictures of all studies have in common: colours that colour-blind readers tell apart."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

# Okabe and Ito's palette.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PURPLE = (
    "#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7",
)  # fmt: skip
COLORS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY)
GREY = "0.55"


def plain(ax: Axes, **settings: Any) -> None:
    """Settings of an axis, without the frame's upper and right lines."""
    ax.set(**settings)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color="0.92", lw=0.8)
    ax.set_axisbelow(True)
