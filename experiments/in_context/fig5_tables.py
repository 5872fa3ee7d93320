"""Errors against depth and bandwidth beside the values of the second text; what a target needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.in_context.estimates import drawn, draws, error_over_draws, pick
from experiments.in_context.fig4_tables import against, stated
from experiments.in_context.prompts import VARIANCES
from experiments.study import Outcome, Table

# Values stated for comparison. Limits by depth, of 200 layers, beta = 20, sigma2 = 0.5 (EB-55).
TEXT_NOMINAL = 200
TEXT_DEPTHS = (0, 50, 100, 150, 200, 250, 300, 400)
TEXT_LIMITS = {
    "deviation": (0.44132, 0.39739, 0.35009, 0.30337, 0.26606, 0.24915, 0.24738, 0.24754),
    "variance": (0.49932, 0.46617, 0.43148, 0.39827, 0.37311, 0.36641, 0.37944, 0.39077),
}
# First stage alone and both, by beta, N = 500 (EB-56): of the tight reading, as its limits tell.
TEXT_SIZE, TEXT_WIDTH = 500, "deviation"
TEXT_BETA = {
    2.0: (0.724, 0.391), 5.0: (0.605, 0.350), 10.0: (0.595, 0.341), 20.0: (0.757, 0.381),
    40.0: (0.936, 0.435), 80.0: (1.008, 0.465),
}  # fmt: skip
STAGES = {"stage one": "first stage", "two stages": "both stages"}
TARGETS = (0.5, 0.45, 0.4, 0.35, 0.3, 0.27)


def tables(outcomes: Sequence[Outcome]) -> list[Table]:
    found = []
    for width in VARIANCES:
        own = pick(outcomes, width=width)
        if own:
            found += [_by_depth(width, own), _by_beta(width, own), _best(width, own),
                      _needed(width, own)]  # fmt: skip
    return found


def groups(outcomes: Sequence[Outcome], beta: float) -> list[tuple[int, list[Outcome], int]]:
    """Sizes of prompts, the draws that have them, and their place in those."""
    found = []
    for part in ("sizes", "many"):
        some = drawn(pick(outcomes, beta=beta, part=part))
        if some:
            sizes = some[0].task.parameters["sizes"]
            found += [(size, some, k) for k, size in enumerate(sizes)]
    return found


def betas_of(outcomes: Sequence[Outcome]) -> list[float]:
    """Inverse bandwidths, from the widest kernel to the narrowest."""
    return sorted({outcome.task.parameters["beta"] for outcome in outcomes})


def _by_depth(width: str, outcomes: Sequence[Outcome]) -> Table:
    limit = pick(outcomes, beta=20.0, limit=True)[0]
    at = limit.task.parameters
    own = groups(outcomes, 20.0)
    errors = [(error_over_draws(some, "two stages"), k) for _, some, k in own]
    text = dict(zip(TEXT_DEPTHS, TEXT_LIMITS[width], strict=True))
    rows = []
    for j, depth in enumerate(at["depths"]):
        value = float(limit["two stages"].value[j])
        other = text.get(depth) if at["nominal"] == TEXT_NOMINAL else None
        rows.append([
            str(depth), *(stated(error, k, j) for error, k in errors), f"{value:.5f}",
            *against(value, other, 5),
        ])  # fmt: skip
    change = float(limit["change with the grid"].value[0])
    return Table(
        f"Error of both stages against depth, nominal end {at['nominal']}, width as {width}, "
        f"beta = 20; least error {float(limit['least error']):.5f}; the limit's change with the "
        f"grid is at most {change:.0e}",
        ("layers", *(f"N = {size}" for size, *_ in own), "limit", "text", "apart"),
        rows,
    )


def _by_beta(width: str, outcomes: Sequence[Outcome]) -> Table:
    rows = []
    for beta in betas_of(outcomes):
        limit = pick(outcomes, beta=beta, limit=True)[0]
        end = limit.task.parameters["depths"].index(limit.task.parameters["nominal"])
        for size, some, k in groups(outcomes, beta):
            row = [f"{beta:g}", str(size)]
            for place, result in enumerate(STAGES):
                error = error_over_draws(some, result)
                row.append(stated(error, k, end))
                text = TEXT_BETA.get(beta) if (width, size) == (TEXT_WIDTH, TEXT_SIZE) else None
                row += against(float(error.value[k, end]), text and text[place], 3)
            row.append(f"{draws(some, 'squared error')[:, k, end].std(ddof=1):.3f}")
            row += [f"{float(limit[result].value[end]):.4f}" for result in STAGES]
            rows.append(row)
    return Table(
        f"Error at the nominal end against beta, width as {width}",
        ("beta", "N", "first stage", "text", "apart", "both stages", "text", "apart",
         "one draw's deviation", "limit, first", "limit, both"),
        rows,
    )  # fmt: skip


def _best(width: str, outcomes: Sequence[Outcome]) -> Table:
    betas = betas_of(outcomes)
    limits = [pick(outcomes, beta=beta, limit=True)[0] for beta in betas]
    depths, least = limits[0].task.parameters["depths"], float(limits[0]["least error"])
    rows = []
    found = {
        str(size): {
            result: np.stack([
                least + draws(drawn(pick(outcomes, beta=beta, part="sizes")), result)[:, k].mean(0)
                for beta in betas
            ])
            for result in STAGES
        }
        for size, _, k in groups(outcomes, betas[0])
    }  # fmt: skip
    found["infinity"] = {r: np.stack([limit[r].value for limit in limits]) for r in STAGES}
    for size, errors in found.items():
        row = [size]
        for result in STAGES:
            b, j = np.unravel_index(int(np.argmin(errors[result])), errors[result].shape)
            error = float(errors[result][b, j])
            row += [f"{betas[b]:g}", str(depths[j]), f"{error:.4f}", f"{error - least:.4f}"]
        rows.append(row)
    heads = [f"{name}: {head}" for name in STAGES.values()
             for head in ("beta", "layers", "error", "above Bayes")]  # fmt: skip
    return Table(f"Best beta and depth, width as {width}, mean over draws", ("N", *heads), rows)


def _needed(width: str, outcomes: Sequence[Outcome]) -> Table:
    """Least depth for a target, at one beta and at the best, and the least number of tokens."""
    betas = betas_of(outcomes)
    own = groups(outcomes, betas[0])
    depths = own[0][1][0].task.parameters["depths"]
    least = float(own[0][1][0]["least error"])
    sizes = [size for size, *_ in own]
    rows = []
    for target in TARGETS:
        if target < least:
            continue
        row = [f"{target:g}"]
        for result in STAGES:
            # Axes: beta, size, depth.
            errors = least + np.stack([
                draws(drawn(pick(outcomes, beta=beta, part="sizes")), result).mean(axis=0)
                for beta in betas
            ])  # fmt: skip
            met = np.asarray(errors <= target)
            for chosen in (met[betas.index(20.0), -1], met[:, -1].any(axis=0)):
                row.append(_first(depths, np.asarray(chosen)))
            row.append(_first(sizes, np.asarray(met.any(axis=(0, 2)))))
        rows.append(row)
    heads = [
        f"{name}: {head}" for name in STAGES.values()
        for head in ("layers at beta = 20", "layers at any beta", "tokens at any beta and depth")
    ]  # fmt: skip
    return Table(
        f"What an error needs, width as {width}: least layers with N = {sizes[-1]}, and tokens; "
        "of those that were run, - for none",
        ("error", *heads),
        rows,
    )


def _first(values: Sequence[int], met: np.ndarray) -> str:
    return str(values[int(np.argmax(met))]) if met.any() else "-"
