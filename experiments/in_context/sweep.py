r"""Sweeps of the two-stage denoiser over a grid: seeds, tokens, bandwidth, noise, width, depth.

With m the posterior mean under the clean law, which no estimate that sees the tokens can improve
on, the excess of an estimate e is on average its mean squared distance from m:

.. math:: |e - x|^2 - |m - x|^2 = |e - m|^2 + 2\,(e - m)\cdot(m - x),

and the last term has mean 0 given the tokens, of which e is a function. Both sides are found on
the same draws. The distance has no noise of the clean tokens in it; the difference of errors is
what a user would see, and the two check each other.
"""

from __future__ import annotations

import argparse
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    exact,
    monte_carlo,
    sampled,
)
from numeric.depth import minimal_depth
from numeric.errors import DomainError
from numeric.mixture import gaussian_mixture, mixture_posterior, pair_mmse, pair_posterior_mean
from numeric.particles import BandwidthWarning, denoise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Variance of a component where none is asked for: of the tight pair of EB-55, and of EB-53.
PRIORS = {"pair": 0.01, "gaussian": 1.0}
STAGES = ("both stages", "stage one")
# Of so few tokens the z-score of a mean has heavier tails than a Gaussian's.
ENOUGH = 100


@dataclass(frozen=True)
class Grid:
    """What is swept: every combination of the values, with each of the seeds.

    Attributes:
        prior: law of the clean tokens: ``pair`` for Gaussians at plus and minus the first unit
            vector, ``gaussian`` for one at 0.
        dimension: d.
        v: variances of a component along each coordinate, at least 0.
        sigma2: variances of the noise, above 0.
        beta: inverse bandwidths of the first stage, above 0.
        layers: numbers of equal layers to the nominal end; 0 for the second stage alone.
        tokens: numbers of tokens, at least 2, since standard errors need two.
        seeds: how many prompts a combination has, at least 2 for the same reason. Those of
            different sizes are nested, and those of different noise have the same normals.
    """

    prior: str
    dimension: int
    v: tuple[float, ...]
    sigma2: tuple[float, ...]
    beta: tuple[float, ...]
    layers: tuple[int, ...]
    tokens: tuple[int, ...]
    seeds: int

    def cells(self) -> list[Cell]:
        """All combinations, each once, whatever is repeated."""
        return [
            Cell(v, layers, sigma2, beta, tokens)
            for v in sorted(set(self.v))
            for layers in sorted(set(self.layers))
            for sigma2 in sorted(set(self.sigma2))
            for beta in sorted(set(self.beta))
            for tokens in sorted(set(self.tokens))
        ]


class Cell(NamedTuple):
    """A combination of values."""

    v: float
    layers: int
    sigma2: float
    beta: float
    tokens: int


def checked(grid: Grid) -> Grid:
    """The grid, if all of it can be run.

    Raises:
        DomainError: a value is outside of its range, or there are too few layers for a step below
            1; carries the name of the option and the least depth.
    """
    if grid.prior not in PRIORS:
        raise DomainError("prior", " or ".join(PRIORS), grid.prior)
    _at_least("dimension", [grid.dimension], 1)
    _at_least("v", grid.v, 0)
    _at_least("sigma2", grid.sigma2, 0, strict=True)
    _at_least("beta", grid.beta, 0, strict=True)
    _at_least("layers", grid.layers, 0)
    _at_least("tokens", grid.tokens, 2)
    _at_least("seeds", [grid.seeds], 2)
    sigma2, beta = max(grid.sigma2), max(grid.beta)
    least = minimal_depth(sigma2, beta)
    for layers in grid.layers:
        if 0 < layers < least:
            raise DomainError(
                "layers",
                f"at least {least} for a step below 1 at beta = {beta:g} and sigma2 = {sigma2:g}, "
                "or 0 for the second stage alone",
                str(layers),
            )
    return grid


def add_axes(parser: argparse.ArgumentParser) -> None:
    """The options of a command that name a grid, for `grid_of`."""
    parser.add_argument("--prior", choices=list(PRIORS), default="pair", help="default: pair")
    parser.add_argument("--dimension", type=int, default=2, metavar="D", help="default: 2")
    axes: list[tuple[str, Callable[[str], tuple[float, ...]], str, str]] = [
        ("tokens", _whole, "100,300,1000", "numbers of tokens"),
        ("beta", _numbers, "20", "inverse bandwidths of the first stage"),
        ("sigma2", _numbers, "0.5", "variances of the noise"),
        ("layers", _whole, "200", "numbers of layers; 0 for the second stage alone"),
    ]
    for name, kind, default, says in axes:
        parser.add_argument(
            f"--{name}", type=kind, default=kind(default), metavar="LIST",
            help=f"{says}; default: {default}",
        )  # fmt: skip
    widths = ", ".join(f"{v:g} for {prior}" for prior, v in PRIORS.items())
    parser.add_argument(
        "--v", type=_numbers, metavar="LIST", help=f"variances of a component; default: {widths}"
    )
    parser.add_argument(
        "--seeds", type=int, default=8, metavar="N", help="prompts a combination; default: 8"
    )


def grid_of(options: argparse.Namespace) -> Grid:
    """The grid that the options name."""
    v = (PRIORS[options.prior],) if options.v is None else options.v
    return Grid(
        options.prior, options.dimension, v, options.sigma2, options.beta, options.layers,
        options.tokens, options.seeds,
    )  # fmt: skip


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers like 0.25,0.5, got {text!r}") from None


def _whole(text: str) -> tuple[int, ...]:
    try:
        values = _numbers(text)
        if all(value.is_integer() for value in values):
            return tuple(int(value) for value in values)
    except argparse.ArgumentTypeError:
        pass
    raise argparse.ArgumentTypeError(f"expected whole numbers like 100,1e3, got {text!r}")


def _at_least(name: str, values: Iterable[float], low: float, *, strict: bool = False) -> None:
    expected = f"finite numbers above {low}" if strict else f"finite numbers, at least {low}"
    values = list(values)
    if not values:
        raise DomainError(name, "at least one value", "none")
    for value in values:
        if not (math.isfinite(value) and (value > low if strict else value >= low)):
            raise DomainError(name, expected, f"{value:g}")


def sweep(grid: Grid) -> Study:
    """The study of a grid.

    Its tasks are the same for every grid that has them, so that grids share what is finished.

    Raises:
        DomainError: as for `checked`.
    """
    cells = checked(grid).cells()

    def tasks(quick: bool, seed: int) -> list[Task]:
        return [_task(grid, cell, seed, draw) for cell in cells for draw in range(grid.seeds)]

    rows = len({(cell.v, cell.layers) for cell in cells})
    return Study(
        name="in_context.sweep",
        item="EB-15",
        title=f"excess over Bayes of both stages, prior: {grid.prior} in {grid.dimension} "
        f"dimension{'s' * (grid.dimension > 1)}",
        shows=("EB-15", "EB-28"),
        tasks=tasks,
        run=run,
        conditions=conditions,
        draw=draw,
        size=(1.5 + 3.6 * len(set(grid.sigma2)), 0.6 + 3.2 * rows),
        tables=tables,
    )


def _task(grid: Grid, cell: Cell, seed: int, draw: int) -> Task:
    parameters = {"prior": grid.prior, "dimension": grid.dimension, **cell._asdict(), "seed": seed}
    parameters["draw"] = draw
    return Task(", ".join(f"{name} = {value}" for name, value in parameters.items()), parameters)


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """One prompt's excess over Bayes, with both stages and with the first alone."""
    v, sigma2 = parameters["v"], parameters["sigma2"]
    centre = np.zeros(parameters["dimension"])
    centre[0] = parameters["prior"] == "pair"
    seed = [parameters["seed"], parameters["draw"]]
    prompt = draw_prompt([centre, -centre], v, sigma2, parameters["tokens"], seed)
    bayes = pair_posterior_mean(prompt.tokens, centre, v, sigma2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BandwidthWarning)
        estimates, prior = denoise(prompt.tokens, sigma2, parameters["beta"], parameters["layers"])
    least = _squared(bayes - prompt.clean)
    axis = gaussian_mixture([0.5, 0.5], [[centre[0]], [-centre[0]]], np.full((2, 1, 1), v))
    spread = np.full(prompt.tokens.shape, v * sigma2 / (v + sigma2))  # each coordinate's variance
    spread[:, 0] = mixture_posterior(axis, prompt.tokens[:, :1], sigma2).cov[:, 0, 0]
    found = {
        "mmse": exact(pair_mmse(centre, v, sigma2)),
        "bayes error": monte_carlo(least),
        "warned": sampled(any(issubclass(w.category, BandwidthWarning) for w in caught)),
    }
    for stage, points in zip(STAGES, (estimates, prior.particles), strict=True):
        error, distance = _squared(points - prompt.clean), _squared(points - bayes)
        # The error over tokens is that of one prompt; between prompts there is more.
        found[f"{stage}: error"] = monte_carlo(error)
        found[f"{stage}: excess"] = monte_carlo(error - least)
        found[f"{stage}: distance"] = sampled(distance.mean())
        found[f"{stage}: excess less distance"] = monte_carlo(error - least - distance)
        variance = 4 * ((points - bayes) ** 2 * spread).sum()
        found[f"{stage}: deviation of that"] = sampled(np.sqrt(variance) / len(points))
    return found


def _squared(points: np.ndarray) -> np.ndarray:
    return (points**2).sum(axis=-1)


def by_cell(outcomes: Sequence[Outcome]) -> dict[Cell, list[Outcome]]:
    """Outcomes of each combination, in the order of their seeds."""
    found: dict[Cell, list[Outcome]] = {}
    for outcome in outcomes:
        at = outcome.task.parameters
        found.setdefault(Cell(*(at[name] for name in Cell._fields)), []).append(outcome)
    return found


def over_seeds(outcomes: Sequence[Outcome], name: str) -> Quantity:
    """Mean of a result over seeds, with its standard error."""
    return monte_carlo([float(outcome[name]) for outcome in outcomes])


def _off_zero(outcomes: Sequence[Outcome], stage: str) -> float:
    """Distance of excess and distance from Bayes over independent prompts, in standard errors.

    The larger of two errors counts. Where only a few tokens are between the components, the sample
    may have none of the rare large terms, and its own standard error is too small; and if it has
    one by chance, the deviation of the law is.
    """
    difference, deviation = f"{stage}: excess less distance", f"{stage}: deviation of that"
    missed = sum(float(o[difference]) for o in outcomes)
    sample = math.hypot(*(float(o[difference].error) for o in outcomes))
    law = math.hypot(*(float(o[deviation]) for o in outcomes))
    # The errors of which a difference is taken round to their own size.
    rounding = 1e-14 * sum(float(o[f"{stage}: error"]) for o in outcomes)
    return abs(missed) / max(sample, law, rounding)


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    cells = [o for cell, o in by_cell(outcomes).items() if cell.tokens * len(o) >= ENOUGH]
    return [
        Condition(
            f"{stage}: paired excess off the distance from Bayes, in standard errors",
            max(_off_zero(o, stage) for o in cells), "<=", Z_LIMIT,
        )
        for stage in (STAGES if cells else ())
    ]  # fmt: skip


def tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """A table of the combinations, and beside the excess its standard error over seeds."""
    rows = []
    for cell, some in by_cell(outcomes).items():
        row = [f"{cell.v:g}", f"{cell.layers}", f"{cell.sigma2:g}", f"{cell.beta:g}"]
        row += [f"{cell.tokens}", f"{float(some[0]['mmse']):.4f}"]
        for name in ("both stages: distance", "both stages: excess", "stage one: distance"):
            mean = over_seeds(some, name)
            row.append(f"{float(mean):.4f} ± {float(mean.error):.4f}")
        rows.append([*row, "yes" if any(float(o["warned"]) for o in some) else ""])
    columns = ("v", "layers", "sigma2", "beta", "N", "MMSE", "distance", "paired excess",
               "stage one", "warned")  # fmt: skip
    title = (
        "Mean squared distance from the Bayes estimate, and the excess over its error on the same "
        "draws;\nstage one: distance after the first stage alone; warned: of too wide or too "
        "narrow a bandwidth"
    )
    return [Table(title, columns, rows)]


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    from matplotlib.ticker import LogLocator

    from experiments.pictures import COLORS, GREY, plain

    cells = by_cell(outcomes)
    rows = sorted({(cell.v, cell.layers) for cell in cells})
    noises = sorted({cell.sigma2 for cell in cells})
    sharpnesses = sorted({cell.beta for cell in cells})
    panels = figure.subplots(len(rows), len(noises), squeeze=False, sharex=True, sharey=True)
    for (k, (v, layers)), (i, sigma2) in itertools.product(enumerate(rows), enumerate(noises)):
        ax = panels[k, i]
        for beta, color in zip(sharpnesses, itertools.cycle(COLORS)):
            own = [c for c in cells if c[:4] == (v, layers, sigma2, beta)]
            tokens = [c.tokens for c in own]
            for stage, style in zip(STAGES, ("o-", ".--"), strict=True):
                means = [over_seeds(cells[c], f"{stage}: distance") for c in own]
                ax.errorbar(
                    tokens, [float(m) for m in means], [2 * float(m.error) for m in means],
                    fmt=style, ms=4, lw=1.2 if style == "o-" else 0.8, capsize=2, color=color,
                    label=f"beta = {beta:g}" if style == "o-" else None,
                )  # fmt: skip
        ax.set(xscale="log", yscale="log")
        title = f"$\\sigma^2$ = {sigma2:g}"
        plain(ax, title=title if len(rows) == 1 else f"{title}, v = {v:g}, {layers} layers")
        ax.xaxis.set_major_locator(LogLocator())
    for ax in panels[-1]:
        ax.set_xlabel("tokens N")
    for ax in panels[:, 0]:
        ax.set_ylabel("excess over Bayes, two standard errors")
    panels[0, -1].plot([], [], ".--", color=GREY, lw=0.8, label="stage one alone")
    panels[0, -1].legend(frameon=False, fontsize=8)
