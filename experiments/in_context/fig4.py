"""Error against the size of the prompt and against the noise, for depths up to the nominal end.

The clean law is the symmetric pair. Stage 1 has equal layers; Stage 2 is the posterior mean under
what Stage 1 made of the tokens. Depth 0 is the one-shot estimator, which has Stage 2 alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.in_context.estimates import EDGES, drawn, draws, estimates, pick
from experiments.in_context.fig4_panels import draw
from experiments.in_context.fig4_tables import tables
from experiments.in_context.population import limits
from experiments.in_context.prompts import VARIANCES, WIDTH
from experiments.study import (
    Z_LIMIT,
    Condition,
    Outcome,
    Quantity,
    Study,
    Task,
    monte_carlo,
    z_score,
)

BETA, SIGMA2 = 20.0, 0.5
SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
MANY = (20_000, 100_000)
NOISES = (0.1, 0.175, 0.25, 0.35, 0.5, 0.7, 1.0)
LAYERS = (6, 8, 10, 20, 50, 100)  # 6 are the least, with eta = 5/6
DRAWS, NOMINAL, SIZE, FRESH = 8, 200, 5000, 4000
QUICK_DRAWS, QUICK_NOMINAL, QUICK_SIZE, QUICK_FRESH = 4, 20, 400, 500
QUICK_SIZES, QUICK_NOISES, QUICK_LAYERS = (50, 200, 800), (0.25, 1.0), (6,)
ENOUGH = 500  # tokens with which each further layer helps in every draw


def tasks(quick: bool, seed: int) -> list[Task]:
    if quick:
        count, nominal, size, fresh = QUICK_DRAWS, QUICK_NOMINAL, QUICK_SIZE, QUICK_FRESH
        sizes, many, noises, layers = QUICK_SIZES, (), QUICK_NOISES, QUICK_LAYERS
    else:
        count, nominal, size, fresh = DRAWS, NOMINAL, SIZE, FRESH
        sizes, many, noises, layers = SIZES, MANY, NOISES, LAYERS
    depths = [k * nominal // 4 for k in range(5)]
    parts = [("sizes", SIGMA2, nominal, depths, list(sizes))]
    parts += [("many", SIGMA2, nominal, [0, nominal], [n]) for n in many]
    parts += [("noise", s, nominal, [0, nominal], [size]) for s in noises]
    parts += [("layers", SIGMA2, n, [n], [size]) for n in (*layers, nominal)]
    found = []
    for width in VARIANCES:
        for part, sigma2, layer_count, at, some in parts:
            shared = {
                "part": part, "width": width, "sigma2": sigma2, "beta": BETA,
                "nominal": layer_count, "depths": at, "seed": seed,
            }  # fmt: skip
            name = f"{part}, {width}, sigma2 = {sigma2}, {layer_count} layers, N = {some[-1]}"
            found += [
                Task(f"{name}, draw {k}", {**shared, "sizes": some, "fresh": fresh, "draw": k})
                for k in range(count)
            ]
            if part != "many":
                found.append(Task(f"{name}, limit", {**shared, "limit": True}))
    return found


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    return limits(parameters) if "limit" in parameters else estimates(parameters)


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    found = []
    for width in VARIANCES:
        own = pick(outcomes, width=width)
        if own:
            found += _of_sizes(width, pick(own, part="sizes"))
            found += _of_layers_and_noise(width, own)
    changes = [o["change with the grid"].value[0] for o in pick(outcomes, limit=True)]
    found.append(Condition("limits of infinitely many tokens: change with the grid",
                           float(max(changes)), "<=", 1e-6))  # fmt: skip
    return found


def _of_sizes(width: str, own: Sequence[Outcome]) -> list[Condition]:
    limit, own = pick(own, limit=True)[0], drawn(own)
    sizes, excess = own[0].task.parameters["sizes"], draws(own, "two stages")
    fresh = draws(own, "fresh tokens")
    errors = np.sqrt((np.stack([o["rest"].error for o in own]) ** 2).sum(axis=0)) / len(own)
    rest = Quantity("MC", draws(own, "rest").mean(axis=0), errors)
    rise = monte_carlo(np.diff(excess, axis=1))
    enough = [k for k, size in enumerate(sizes) if size >= ENOUGH]
    least = limit["least error"].value
    beyond = excess.mean(axis=0) + least - limit["two stages"].value
    bins = draws(own, "in bins")
    gain = bins[:, 0] - bins[:, -1]
    middle, sides = gain[:, 0], gain[:, EDGES.index(1.0)]
    between, far = gain[:, EDGES.index(0.25) : EDGES.index(0.75)], gain[:, EDGES.index(2.0)]
    return [
        Condition(f"{width}: squared error less that of Bayes and the distance from it, in "
                  "standard errors", z_score(rest), "<=", Z_LIMIT),
        Condition(f"{width}: rise of the error with the size, in standard errors",
                  float((rise.value / rise.error).max()), "<=", Z_LIMIT),
        Condition(f"{width}: fall from the least to the largest size at the nominal end, any draw",
                  float((excess[:, 0, -1] - excess[:, -1, -1]).min()), ">=", 0.0),
        Condition(f"{width}: fall from depth to depth, N at least {ENOUGH}, any draw",
                  float(-np.diff(excess[:, enough], axis=2).max()), ">=", 1e-3),
        Condition(f"{width}: error at the nominal end above its limit, any size",
                  float(beyond[:, -1].min()), ">=", 0.0),
        Condition(f"{width}: one-shot, largest size: distance from its limit",
                  float(abs(beyond[-1, 0])), "<=", 0.02),
        Condition(f"{width}: the one-shot's limit stays above the least error by",
                  float(limit["two stages"].value[0] - least), ">=", 0.1),
        Condition(f"{width}: fresh tokens' error less that of the prompt's, largest size",
                  float(np.abs(fresh - excess).mean(axis=0)[-1].max()), "<=", 0.02),
        Condition(f"{width}: gain a token between the components, less that near their means",
                  float((between.mean(axis=1) - sides).mean()), ">=", 0.0),
        Condition(f"{width}: gain a token in the middle, where it is most ambiguous, less that far "
                  "outside, where nothing is", float((middle - far).max()), "<=", 0.0),
    ]  # fmt: skip


def _of_layers_and_noise(width: str, own: Sequence[Outcome]) -> list[Condition]:
    layers = drawn(pick(own, part="layers"))
    counts = sorted({o.task.parameters["nominal"] for o in layers})
    few, many = (
        draws(pick(layers, nominal=n), "two stages")[:, 0, 0] for n in (counts[0], counts[-1])
    )
    noise = drawn(pick(own, part="noise"))
    fall = [o["two stages"].value[0, 0] - o["two stages"].value[0, -1] for o in noise]
    return [
        Condition(f"{width}: {counts[0]} layers to the nominal end cost above {counts[-1]}",
                  float((few - many).mean()), "<=", 0.015),
        Condition(f"{width}: fall from the one-shot to the nominal end at any noise, any draw",
                  float(min(fall)), ">=", 0.0),
    ]  # fmt: skip


STUDY = Study(
    name="in_context.fig4",
    item="EB-55",
    title="the error of two stages against the size of the prompt and the noise",
    shows=("EB-15", "EB-21", "EB-28", "EB-57"),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(19.0, 9.0),
    tables=tables,
    settings=(WIDTH,),
)
