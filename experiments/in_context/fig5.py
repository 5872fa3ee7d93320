"""Error against depth and against the inverse bandwidth, of two stages and of the first alone.

Depth goes on to twice the nominal one. Infinitely many tokens are at their best a little after the
nominal end, since a finite bandwidth is late (EB-9); what comes later depends on the components'
width. With a finite prompt the particles gather in clusters, and the error stands still.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.in_context.estimates import drawn, draws, estimates, pick
from experiments.in_context.fig5_panels import draw
from experiments.in_context.fig5_tables import tables
from experiments.in_context.population import limits
from experiments.in_context.prompts import VARIANCES, WIDTH
from experiments.study import Condition, Outcome, Quantity, Study, Task

SIGMA2, BETA = 0.5, 20.0  # the inverse bandwidth of the study of depth
BETAS = (2.0, 5.0, 10.0, 20.0, 40.0, 80.0)
SIZES, MANY = (100, 500, 1000, 5000), 20_000
DRAWS, NOMINAL, STEP, FRESH = 8, 200, 25, 100
QUICK_DRAWS, QUICK_NOMINAL, QUICK_STEP, QUICK_SIZES = 4, 24, 6, (100, 500)
QUICK_BETAS = (5.0, 20.0, 80.0)
ENOUGH = 500  # tokens with which each further layer helps in every draw


def tasks(quick: bool, seed: int) -> list[Task]:
    if quick:
        count, nominal, step, sizes = QUICK_DRAWS, QUICK_NOMINAL, QUICK_STEP, QUICK_SIZES
        betas, many = QUICK_BETAS, ()
    else:
        count, nominal, step, sizes = DRAWS, NOMINAL, STEP, SIZES
        betas, many = BETAS, (MANY,)
    found = []
    for width in VARIANCES:
        for part, beta, some in (
            *(("sizes", beta, sizes) for beta in betas),
            *(("many", BETA, (size,)) for size in many),
        ):
            shared = {
                "part": part, "width": width, "sigma2": SIGMA2, "beta": beta, "nominal": nominal,
                "depths": list(range(0, 2 * nominal + 1, step)), "seed": seed,
            }  # fmt: skip
            name = f"{width}, beta = {beta:g}, N = {some[-1]}"
            found += [
                Task(f"{name}, draw {k}",
                     {**shared, "sizes": list(some), "fresh": FRESH, "draw": k})
                for k in range(count)
            ]  # fmt: skip
            if part == "sizes":
                found.append(Task(f"{name}, limit", {**shared, "limit": True}))
    return found


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    return limits(parameters) if "limit" in parameters else estimates(parameters)


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    found = []
    for width in VARIANCES:
        own = pick(outcomes, width=width)
        if own:
            found += [*_of_depth(width, own), *_of_beta(width, own)]
    changes = [o["change with the grid"].value[0] for o in pick(outcomes, limit=True, beta=BETA)]
    found.append(Condition(f"limits at beta = {BETA:g}: change with the grid",
                           float(max(changes)), "<=", 1e-4))  # fmt: skip
    return found


def _of_depth(width: str, own: Sequence[Outcome]) -> list[Condition]:
    limit = pick(own, beta=BETA, limit=True)[0]
    depths, nominal = limit.task.parameters["depths"], limit.task.parameters["nominal"]
    end, curve = depths.index(nominal), limit["two stages"].value
    best = int(np.argmin(curve))
    some = drawn(pick(own, beta=BETA, part="sizes"))
    enough = [k for k, size in enumerate(some[0].task.parameters["sizes"]) if size >= ENOUGH]
    excess = draws(some, "two stages")[:, enough]
    before, after = excess[:, :, 0] - excess[:, :, end], excess[:, :, end] - excess[:, :, -1]
    found = [
        Condition(f"{width}: fall from depth to depth before the nominal end, N at least {ENOUGH}, "
                  "any draw", float(-np.diff(excess[:, :, : end + 1], axis=2).max()), ">=", 1e-4),
        Condition(f"{width}: change of the error from the nominal depth to twice that, as a share "
                  "of what fell before", float(np.abs(after).mean() / before.mean()), "<=", 0.3),
        Condition(f"{width}: layers after the nominal end at which the limit is best",
                  float(depths[best] - nominal), ">=", 1.0),
    ]  # fmt: skip
    later = float(curve[-1] - curve[best])
    says = f"{width}: limit at twice the nominal depth above its least"
    # Tight components are kept as they are; wide ones are denoised too much.
    tight = width == "deviation"
    return [*found, Condition(says, later, *(("<=", 1e-3) if tight else (">=", 0.02)))]


def _of_beta(width: str, own: Sequence[Outcome]) -> list[Condition]:
    betas = sorted({o.task.parameters["beta"] for o in own})
    some = [drawn(pick(own, beta=beta, part="sizes")) for beta in betas]
    depths, nominal = some[0][0].task.parameters["depths"], some[0][0].task.parameters["nominal"]
    # Axes: beta, draw, size, depth.
    alone, both = (np.stack([draws(part, name) for part in some])
                   for name in ("stage one", "two stages"))  # fmt: skip
    ends = [errors[..., depths.index(nominal)].mean(axis=1) for errors in (alone, both)]
    spans = [end.max(axis=0) - end.min(axis=0) for end in ends]
    least = [errors.mean(axis=1).min(axis=(0, 2)) for errors in (alone, both)]
    return [
        Condition(f"{width}: least fall from the first stage alone to both, any beta, size, depth "
                  "and draw", float((alone - both).min()), ">=", 1e-3),
        Condition(f"{width}: change with beta, both stages over the first alone, any size",
                  float((spans[1] / spans[0]).max()), "<=", 0.6),
        Condition(f"{width}: best beta and depth: error above the least, first stage alone over "
                  "both, any size", float((least[0] / least[1]).min()), ">=", 1.5),
    ]  # fmt: skip


STUDY = Study(
    name="in_context.fig5",
    item="EB-56",
    title="the error of two stages, and of the first alone, against depth and bandwidth",
    shows=("EB-9", "EB-12", "EB-15", "EB-22", "EB-57"),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(16.0, 9.0),
    tables=tables,
    settings=(WIDTH,),
)
