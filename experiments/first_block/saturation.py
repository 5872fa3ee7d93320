r"""Rows in fewer digits while attention saturates: what the margins promise, and where they end.

An entry of a row is known to a relative error u (floating formats) or to an absolute one (a grid of
8 bits). While every entry is far enough from 0 for its format, FB-12 bounds what that does to
log-ratios, tokens and posterior. Where an entry is not, the observation belongs to the failure set:
it is counted, and nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from experiments.first_block.instances import new_seed, random_block, random_model
from experiments.study import Condition, Outcome, Quantity, Study, Task, bound, monte_carlo, sampled
from numeric import log_ratio_margin, recovery_bound
from numeric.first_block import AttentionBlock, QueryRow, posterior, row_stability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPS = float(np.finfo(np.float64).eps)
T, COMPONENTS, TOKENS, WIDTH, HEADS = 0.5, 3, 3, 2, 2
GRID = 2.0**-8


class Format(NamedTuple):
    """A way to keep a probability.

    Attributes:
        unit: relative error of an entry; 0 for the grid.
        step: distance of neighbours; 0 for floating formats.
        least: entries below it are not kept as promised.
    """

    unit: float
    step: float
    least: float


FORMATS = {
    "float64": Format(2.0**-53, 0.0, 2.0**-1022),
    "float32": Format(2.0**-24, 0.0, 2.0**-126),
    "float16": Format(2.0**-11, 0.0, 2.0**-14),
    "bfloat16": Format(2.0**-8, 0.0, 2.0**-126),
    "8-bit grid": Format(0.0, GRID, GRID),
}


def rounded(row: np.ndarray, name: str) -> np.ndarray:
    """The row's entries as the format keeps them."""
    if name == "8-bit grid":
        return np.round(row / GRID) * GRID
    if name == "bfloat16":
        bits = row.astype(np.float32).view(np.uint32)
        nearest = bits + 0x7FFF + ((bits >> 16) & 1)  # to nearest, ties to even
        return (nearest & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)
    with np.errstate(under="ignore"):
        return row.astype(name).astype(np.float64)


def tasks(quick: bool, seed: int) -> list[Task]:
    powers, draws = (range(-2, 9, 2), 400) if quick else (range(-2, 9), 10_000)
    return [
        Task(f"scale 2^{power}", {"scale": 2.0**power, "seed": seed, "draws": draws})
        for power in powers
    ]


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """For each format: errors and bounds inside the margins, and the share of the failure set."""
    # The same model, maps and draws at every scale: only the scale of the keys changes.
    rng = np.random.default_rng(parameters["seed"])
    model = random_model(rng, COMPONENTS, TOKENS, WIDTH, T)
    unscaled = random_block(rng, TOKENS, WIDTH, (1,) * HEADS)
    keys = [parameters["scale"] * np.asarray(k) for k in unscaled.key_maps]
    block = AttentionBlock(unscaled.query_maps, keys, unscaled.value_maps, n_tokens=TOKENS)
    run = block.run(model.draw(parameters["draws"], seed=new_seed(rng)).state)
    whole = QueryRow.of(run)
    with np.errstate(under="ignore"):
        row = np.exp(run.log_row)
    least = row.min(axis=(-2, -1))
    singular = np.linalg.svd(block.measurement(run.query).matrix[:, 0], compute_uv=False)[:, -1]
    results = {
        "least probability": sampled(np.quantile(least, [0.05, 0.5, 0.95])),
        "least singular value": sampled(np.quantile(singular, [0.05, 0.5, 0.95])),
    }
    for name, kept in FORMATS.items():
        inside = (least >= kept.least) & (singular > 0)
        results[f"{name}: failure set"] = monte_carlo(~inside)
        chosen = QueryRow(whole.query[inside], whole.log_row[inside])
        for found, quantity in _inside(
            model, block, chosen, least[inside], singular[inside], kept, name
        ).items():
            results[f"{name}: {found}"] = quantity
    return results


def _inside(
    model: Any,
    block: AttentionBlock,
    seen: QueryRow,
    least: np.ndarray,
    singular: np.ndarray,
    kept: Format,
    name: str,
) -> dict[str, Quantity]:
    """Largest errors and bounds over observations within their margins, and worst ratios."""
    if len(least) < 2:
        return {}
    with np.errstate(under="ignore"):
        row = rounded(np.exp(seen.log_row), name)
    log_row = np.log(row)
    log_row -= np.log(row.sum(axis=-1, keepdims=True))  # log-ratios are the rounded row's own
    # The exponential and the logarithm round too, by a few units of the logarithm's size.
    arithmetic = 8 * EPS * (1 + np.abs(seen.log_row).max(axis=(-2, -1)))
    delta = 2 * (kept.unit + arithmetic) * least + kept.step
    ratios = [entries[..., 1:] - entries[..., :1] for entries in (seen.log_row, log_row)]
    moved = ratios[1] - ratios[0]
    error = np.abs(moved).max(axis=(-2, -1))
    allowed = log_ratio_margin(delta, least)
    inverse = np.linalg.pinv(block.measurement(seen.query).matrix[:, 0])
    token = np.linalg.norm(inverse @ moved, axis=-2).max(axis=-1)
    token_allowed = recovery_bound(delta, least, np.asarray(float(block.n_heads)), singular)
    coarse = QueryRow(seen.query, log_row)
    before = posterior(model, block, seen)
    after = posterior(model, block, coarse, off_support="flag")
    distance = np.abs(before.responsibilities - after.responsibilities).sum(axis=-1) / 2
    promised = row_stability(model, block, seen, delta)
    # What rounding in the two posteriors themselves may add.
    rounding = np.tanh((before.log_odds_error + after.log_odds_error) / 4)
    distance_allowed = np.minimum(promised.total_variation + rounding, 1.0)
    return {
        "log-ratio": sampled(error.max()),
        "log-ratio bound": bound(allowed.max()),
        "log-ratio by bound": sampled((error / allowed).max()),
        "token by bound": sampled((token / token_allowed).max()),
        "total variation": sampled(distance.max()),
        "total variation, mean": monte_carlo(distance),
        "total variation bound, mean": bound(distance_allowed.mean()),
        "total variation by bound": sampled((distance / distance_allowed).max()),
    }


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    def worst(what: str) -> float:
        found = [
            float(q) for outcome in outcomes for name, q in outcome.results.items()
            if name.endswith(f": {what}")
        ]  # fmt: skip
        return max(found)

    slack = 1 + 1e-9
    reached = min(
        max(float(outcome[f"{name}: failure set"]) for outcome in outcomes)
        for name in ("float16", "bfloat16", "8-bit grid")
    )
    return [
        Condition("inside the margins: error of a log-ratio by its bound",
                  worst("log-ratio by bound"), "<=", slack),
        Condition("inside the margins: error of a token by its bound",
                  worst("token by bound"), "<=", slack),
        Condition("inside the margins: total variation by its bound",
                  worst("total variation by bound"), "<=", slack),
        Condition("the sweep reaches the failure set of the three coarsest formats, share",
                  reached, ">=", 0.01),
    ]  # fmt: skip


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    from experiments.pictures import COLORS, plain

    ratio, variation, failure = figure.subplots(1, 3, sharex=True)
    scale = np.array([outcome.task.parameters["scale"] for outcome in outcomes])
    for name, color in zip(FORMATS, COLORS, strict=False):
        # Formats with equal exponents fail together: the wider line stays visible below.
        width = 4.0 if name == "float32" else 1.2
        for ax, found, limit in (
            (ratio, "log-ratio", "log-ratio bound"),
            (variation, "total variation, mean", "total variation bound, mean"),
        ):
            ax.errorbar(scale, *_curve(outcomes, f"{name}: {found}"), fmt="o-", ms=4, lw=1.2,
                        capsize=2, color=color)  # fmt: skip
            ax.plot(scale, _curve(outcomes, f"{name}: {limit}")[0], "--", lw=1, color=color)
        share, error = _curve(outcomes, f"{name}: failure set")
        failure.errorbar(scale, share, error, fmt="o-", ms=4, lw=width, capsize=2, color=color,
                         label=name)  # fmt: skip
    failure.legend(frameon=False, fontsize=9, loc="upper left")
    label = "scale of the keys"
    inside = "inside the margins"
    plain(ratio, yscale="log", xlabel=label, title=f"worst error of a log-ratio,\n{inside}")
    plain(variation, yscale="log", xlabel=label, title=f"mean total variation,\n{inside}")
    plain(failure, xlabel=label, title="share of draws\noutside the margins", ylim=(-0.03, 1.03))
    for ax in (ratio, variation, failure):
        ax.set_xscale("log", base=2)
    (line,) = ratio.plot([], [], "--", color="0.4", label="bound")
    ratio.legend(handles=[line], frameon=False, fontsize=9, loc=(0.05, 0.25))


def _curve(outcomes: Sequence[Outcome], name: str) -> tuple[np.ndarray, np.ndarray]:
    """A result at every scale with two standard errors; not a number where there is none."""
    values, errors = np.full((2, len(outcomes)), np.nan)
    for k, outcome in enumerate(outcomes):
        if name in outcome.results:
            values[k], errors[k] = float(outcome[name]), 2 * float(outcome[name].error)
    # On an axis of logarithms an error bar can't reach 0.
    return values, np.minimum(errors, 0.99 * np.abs(values))


STUDY = Study(
    name="first_block.saturation",
    item="FB-30 E3",
    title="rows in fewer digits while attention saturates, against the bounds",
    shows=("FB-12",),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(12.0, 4.0),
)
