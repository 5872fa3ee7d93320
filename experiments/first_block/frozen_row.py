r"""What the frozen row costs: the observed row read as fixed numbers, over noise and contrast.

With m the noise mean given query, row and values and m~ the one that belongs to the frozen row's
responsibilities,

.. math:: E|U - \tilde m|^2 - E|U - m|^2 = E|m - \tilde m|^2
    \le \Big(\frac{1-t}{t}\Big)^2 D_i^2\, E[TV^2],

an equality for two components. Where both readings project on the same space the cost is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.first_block.instances import new_seed
from experiments.study import (
    Z_LIMIT,
    Condition,
    Outcome,
    Quantity,
    Study,
    Task,
    bound,
    exact,
    monte_carlo,
    z_score,
)
from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    QueryRowValues,
    frozen_row_difference,
    frozen_row_posterior,
    posterior,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPS = float(np.finfo(np.float64).eps)
ONE = np.ones((1, 1))
KEY = np.log(2) * ONE
# Three tokens of width 1: what the row reads is two numbers, what the frozen row reads is one.
BLOCKS = {
    "one head": AttentionBlock([ONE], [KEY], [ONE], n_tokens=3),
    "values of full rank": AttentionBlock([ONE, -ONE], [KEY, 2 * KEY], [ONE, ONE], n_tokens=3),
    "row that measures nothing": AttentionBlock([0 * ONE], [KEY], [ONE], n_tokens=3),
}
PAIR = np.array([[3.0, 9 / 4, 0.0], [1.0, 7 / 4, 2.0]])  # FB-17's counterexample
THIRD = np.array([2.0, 0.0, 1.0])
COMPONENTS = {"two": PAIR, "three": np.vstack([PAIR, THIRD])}
QUICK_TIMES, QUICK_CONTRASTS = (0.3, 0.5, 0.8), (0.0, 1.0, 2.0)
TIMES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
CONTRASTS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)


def tasks(quick: bool, seed: int) -> list[Task]:
    times, contrasts = (QUICK_TIMES, QUICK_CONTRASTS) if quick else (TIMES, CONTRASTS)
    draws = 4000 if quick else 100_000
    grid = [("one head", "two"), ("one head", "three")]
    free = [("values of full rank", "three"), ("row that measures nothing", "three")]
    cells = [(b, n, t, a) for b, n in grid for t in times for a in contrasts]
    cells += [(b, n, t, 1.0) for b, n in free for t in times]
    return [
        Task(
            f"{b}, {n} components, t = {t}, contrast {a}",
            {"block": b, "components": n, "t": t, "contrast": a, "seed": seed, "draws": draws},
        )
        for b, n, t, a in cells
    ]


def instance(parameters: Mapping[str, Any]) -> CorruptionModel:
    """Clean arrays whose other tokens are so many times as far from their mean as in FB-17."""
    clean = COMPONENTS[parameters["components"]].copy()
    others = clean[:, 1:]
    middle = others.mean(axis=0)
    clean[:, 1:] = middle + parameters["contrast"] * (others - middle)
    n = len(clean)
    return CorruptionModel(clean[..., None], np.full(n, 1 / n), parameters["t"])


def costs_nothing(parameters: Mapping[str, Any]) -> bool:
    """Whether both readings project the contrasts on the same space, by construction."""
    return parameters["block"] != "one head" or parameters["contrast"] == 0


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """Cost and bound, the excess risk, and the closed form of the difference of log-odds."""
    model, block = instance(parameters), BLOCKS[parameters["block"]]
    rng = np.random.default_rng(parameters["seed"])
    draws = model.draw(parameters["draws"], seed=new_seed(rng))
    seen = QueryRowValues.of(block.run(draws.state))
    law, frozen = posterior(model, block, seen), frozen_row_posterior(model, block, seen)
    noise = draws.noise[:, block.target]
    distance = np.abs(law.responsibilities - frozen.responsibilities).sum(axis=-1) / 2
    clean = model.clean[:, block.target, 0]
    most = (1 - model.t) / model.t * (clean.max() - clean.min()) * distance
    apart = np.linalg.norm(law.noise_mean - frozen.noise_mean, axis=-1)
    risk = ((noise - law.noise_mean) ** 2).sum(axis=-1)
    excess = ((noise - frozen.noise_mean) ** 2).sum(axis=-1) - risk
    closed = frozen_row_difference(model, block, seen)
    found = _log_odds(law.log_responsibilities) - _log_odds(frozen.log_responsibilities)
    error = law.log_odds_error + frozen.log_odds_error
    # The means round by themselves too: by a few units of the size of what they are made of. The
    # closed form rounds as much as the two posteriors together.
    size = 1 + np.abs(law.noise_mean).max(axis=-1) + np.abs(clean).max() / model.t
    rounding = np.abs(clean).max() / model.t * error + 16 * EPS * size
    return {
        "cost": monte_carlo(apart**2),
        "cost bound": bound((most**2).mean()),
        "risk": monte_carlo(risk),
        "excess less cost": monte_carlo(excess - apart**2),
        "distance beyond its bound": exact(((apart - most) / rounding).max()),
        "distance below its bound": exact(((most - apart) / rounding).max()),
        "distance by rounding": exact((apart / rounding).max()),
        "log-odds off the closed form": exact(
            (np.abs(found - closed).max(axis=(-2, -1)) / (2 * error)).max()
        ),
    }


def _log_odds(log_r: np.ndarray) -> np.ndarray:
    return log_r[..., :, None] - log_r[..., None, :]


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    free = [o for o in outcomes if costs_nothing(o.task.parameters)]
    costly = [o for o in outcomes if not costs_nothing(o.task.parameters)]
    pairs = [o for o in outcomes if o.task.parameters["components"] == "two"]

    def worst(name: str, chosen: Sequence[Outcome]) -> float:
        return max(float(outcome[name]) for outcome in chosen)

    return [
        Condition("same projection: distance of the noise means, by what rounding allows",
                  worst("distance by rounding", free), "<=", 1.0),
        Condition("distance of the noise means beyond its bound, by what rounding allows",
                  worst("distance beyond its bound", outcomes), "<=", 1.0),
        Condition("two components: distance below its bound, by what rounding allows",
                  worst("distance below its bound", pairs), "<=", 1.0),
        Condition("difference of log-odds off its closed form, by what rounding allows",
                  worst("log-odds off the closed form", outcomes), "<=", 1.0),
        Condition("excess risk less cost, in standard errors",
                  max(z_score(o["excess less cost"]) for o in outcomes), "<=", Z_LIMIT),
        Condition("control: distance where the projections differ, by what rounding allows",
                  min(float(o["distance by rounding"]) for o in costly), ">=", 1e3),
    ]  # fmt: skip


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    from experiments.pictures import BLACK, COLORS, GREY, plain

    left, right = figure.subplots(1, 2)
    pairs = [o for o in outcomes if o.task.parameters["components"] == "two"]
    times = sorted({o.task.parameters["t"] for o in pairs})
    contrasts = sorted({o.task.parameters["contrast"] for o in pairs})
    table = np.full((len(contrasts), len(times)), np.nan)
    for outcome in pairs:
        at = outcome.task.parameters
        table[contrasts.index(at["contrast"]), times.index(at["t"])] = float(outcome["cost"])
    image = left.imshow(table, origin="lower", cmap="Blues", aspect="auto", vmin=0)
    for (y, x), cost in np.ndenumerate(table):
        text = f"{cost:.3f}" if cost > 1e-20 else "0"
        left.text(x, y, text, ha="center", va="center", fontsize=8,
                  color="white" if cost > 0.6 * np.nanmax(table) else BLACK)  # fmt: skip
    left.set(xticks=range(len(times)), xticklabels=times, yticks=range(len(contrasts)),
             yticklabels=contrasts, xlabel="corruption level t", ylabel="contrast, 1: as in FB-17",
             title="two components: excess risk of the frozen row")  # fmt: skip
    figure.colorbar(image, ax=left, label=r"$E\,|m - \tilde m|^2$")
    threes = [o for o in outcomes if o.task.parameters["block"] == "one head"
              and o.task.parameters["components"] == "three"]  # fmt: skip
    shown = [a for a in contrasts if a > 0][-3:]
    for contrast, color in zip(shown, COLORS, strict=False):
        own = [o for o in threes if o.task.parameters["contrast"] == contrast]
        t = [o.task.parameters["t"] for o in own]
        error = [2 * float(o["cost"].error) for o in own]
        right.errorbar(t, [float(o["cost"]) for o in own], error, fmt="o-", ms=4, lw=1.2,
                       capsize=2, color=color, label=f"contrast {contrast:g}")  # fmt: skip
        right.plot(t, [float(o["cost bound"]) for o in own], "--", lw=1, color=color)
    free = [o for o in outcomes if o.task.parameters["block"] != "one head"]
    right.plot([o.task.parameters["t"] for o in free], [float(o["cost"]) for o in free], "x",
               color=GREY, label="same projection: no cost")  # fmt: skip
    right.plot([], [], "--", color=GREY, label="bound")
    right.legend(frameon=False, fontsize=9)
    plain(right, xlabel="corruption level t", ylabel="excess risk, two standard errors",
          title="three components: excess risk and bound")  # fmt: skip


STUDY = Study(
    name="first_block.frozen_row",
    item="FB-30 E7",
    title="what reading the observed row as fixed numbers costs, over noise and contrast",
    shows=("FB-17", "FB-23"),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(12.0, 4.6),
)
