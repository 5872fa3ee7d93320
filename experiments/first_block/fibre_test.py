r"""The fibre test: does a row with its values have the posterior of the whole state?

One random observation decides, for almost all of them (the zero-one law). For random maps the
unresolved dimension is known, and for two components so is the loss: a one-dimensional integral at
each observation. Sizes run over heads and values; ``0`` values mean that the row alone is seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.first_block.instances import new_seed, random_block, random_model
from experiments.study import (
    Z_LIMIT,
    Condition,
    Outcome,
    Quantity,
    Study,
    Task,
    exact,
    monte_carlo,
    z_score,
)
from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    FullState,
    QueryRow,
    QueryRowValues,
    information_loss,
    posterior,
    zero_one_law,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOKENS, WIDTH, T = 4, 4, 0.6
SPREAD = 0.5  # of clean tokens: components that a token alone leaves in doubt
EPS = float(np.finfo(np.float64).eps)
HEADS, VALUES = (1, 2, 3, 4), (0, 1, 2, 3, 4)
DESIGNED = {"contrast that is seen": (1.3, 0.0), "contrast that is not": (0.0, 1.3)}


def tasks(quick: bool, seed: int) -> list[Task]:
    instances, draws = (1, 1000) if quick else (4, 10_000)
    sizes = [(h, v) for h in HEADS for v in VALUES]
    return [
        Task(
            f"instance {k}, {h} heads, {v} values",
            {"heads": h, "values": v, "seed": 1000 * seed + k, "draws": draws},
        )
        for k in range(instances)
        for h, v in sizes
    ] + [Task(name, {"designed": name, "seed": seed, "draws": draws}) for name in DESIGNED]


def instance(
    rng: np.random.Generator, heads: int, values: int
) -> tuple[CorruptionModel, AttentionBlock]:
    """The first heads, with their first values, of one large block: sizes nest."""
    drawn = random_model(rng, 2, TOKENS, WIDTH, T)
    model = CorruptionModel(SPREAD * drawn.clean, drawn.masses, T)
    whole = random_block(rng, TOKENS, WIDTH, (max(VALUES),) * max(HEADS))
    queries, keys = whole.query_maps[:heads], whole.key_maps[:heads]
    value_maps = [v[: max(values, 1)] for v in whole.value_maps[:heads]]
    return model, AttentionBlock(queries, keys, value_maps, n_tokens=TOKENS)


def designed(name: str) -> tuple[CorruptionModel, AttentionBlock]:
    """FB-13: a row and a value that see the first coordinate only; the contrast is along one."""
    clean = np.zeros((2, 3, 2))
    clean[:, 0] = [[1.0, 0.3], [-1.0, 0.3]]
    clean[1, 1] = DESIGNED[name]
    first = np.array([[1.0, 0.0]])
    block = AttentionBlock([np.array([[0.7, 0.5]])], [first], [first], n_tokens=3)
    return CorruptionModel(clean, np.array([0.5, 0.5]), T), block


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """The verdict at three observations, its margins, and the loss in two ways."""
    heads, values = parameters.get("heads", 1), parameters.get("values", 1)
    rng = np.random.default_rng(parameters["seed"])
    if "designed" in parameters:
        model, block = designed(parameters["designed"])
    else:
        model, block = instance(rng, heads, values)
    kind = QueryRow if values == 0 else QueryRowValues
    verdict = zero_one_law(model, block, kind, seed=new_seed(rng))
    draws = model.draw(parameters["draws"], seed=new_seed(rng))
    seen = kind.of(block.run(draws.state))
    loss = information_loss(model, block, seen)
    whole, part = posterior(model, block, FullState(draws.state)), posterior(model, block, seen)
    direct = ((whole.noise_mean - part.noise_mean) ** 2).sum(axis=-1)
    # A responsibility moves by a quarter of its log-odds at most; the mean rounds too.
    gap = np.linalg.norm(model.mu[0, 0] - model.mu[1, 0]) / model.t
    size = 1 + np.abs(whole.noise_mean).max(axis=-1)
    rounding = gap * (whole.log_odds_error + part.log_odds_error) / 4 + 16 * EPS * size
    row, value = verdict.margins.row_singular_values, verdict.margins.value_singular_values
    others = (block.n_tokens - 1) * block.width
    resolved = verdict.margins.row_rank + verdict.margins.value_rank
    results = {
        "sufficient": exact(verdict.is_sufficient),
        "agree": exact(verdict.agrees),
        "open dimensions": exact(others - resolved),
        "worst contrast": exact(verdict.worst_contrast),
        "worst share": exact(verdict.worst_share),
        "row singular values": exact(row[0]),
        "value singular values": exact(value[0]),
        "loss": monte_carlo(loss),
        "loss by the states": monte_carlo(direct),
        "difference": monte_carlo(loss - direct),
        "apart by rounding": exact((np.sqrt(direct) / rounding).max()),
    }
    if "designed" not in parameters:
        results["generic open dimensions"] = exact(generic_dimension(heads, values))
    return results


def generic_dimension(heads: int, values: int) -> int:
    """FB-13b, for random maps: what row and values leave open of the other tokens."""
    left = WIDTH - min(heads, WIDTH)
    return (TOKENS - 1) * left - heads * min(values, left)


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    random = [o for o in outcomes if "generic open dimensions" in o.results]
    sufficient = [o for o in outcomes if o["sufficient"].value.all()]
    lossy = [o for o in outcomes if not o["sufficient"].value.any()]
    wrong = [
        np.abs(o["open dimensions"].value - o["generic open dimensions"].value).max()
        for o in random
    ]
    verdicts = {o.task.name: bool(o["sufficient"].value.all()) for o in outcomes if o not in random}
    right = verdicts == {"contrast that is seen": True, "contrast that is not": False}
    return [
        Condition("verdict and rank agree at three observations, share",
                  float(np.mean([float(o["agree"]) for o in outcomes])), ">=", 1.0),
        Condition("open dimensions less those of random maps", float(max(wrong)), "<=", 0.0),
        Condition("the two designed verdicts are right", float(right), ">=", 1.0),
        Condition("noise means differ where the verdict is sufficient, by what rounding allows",
                  max((float(o["apart by rounding"]) for o in sufficient), default=0.0),
                  "<=", 1.0),
        Condition("loss by the integral less loss by the states, in standard errors",
                  max(z_score(o["difference"]) for o in outcomes), "<=", Z_LIMIT),
        Condition("control: an insufficient observation loses, in standard errors",
                  min((z_score(o["loss"]) for o in lossy), default=0.0), ">=", Z_LIMIT),
    ]  # fmt: skip


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    from experiments.pictures import BLACK, BLUE, ORANGE, plain

    left, right = figure.subplots(1, 2, width_ratios=[1, 1.25])
    cells: dict[tuple[int, int], list[Outcome]] = {}
    for outcome in outcomes:
        if "heads" in outcome.task.parameters:
            size = outcome.task.parameters
            cells.setdefault((size["heads"], size["values"]), []).append(outcome)
    table = np.array(
        [[np.mean([float(o["loss"]) for o in cells[h, v]]) for v in VALUES] for h in HEADS]
    )
    image = left.imshow(table, cmap="Blues", origin="lower", vmin=0, aspect="auto")
    for (h, v), own in cells.items():
        y, x = HEADS.index(h), VALUES.index(v)
        error = np.linalg.norm([float(o["loss"].error) for o in own]) / len(own)
        free = all(o["sufficient"].value.all() for o in own)
        text = "sufficient\n0" if free else f"{table[y, x]:.4f}\n±{2 * error:.4f}"
        left.text(x, y, text, ha="center", va="center", fontsize=9,
                  color="white" if table[y, x] > 0.6 * table.max() else "black")  # fmt: skip
    left.set(xticks=range(len(VALUES)), yticks=range(len(HEADS)), xticklabels=VALUES,
             yticklabels=HEADS, xlabel="values of each head (0: the row alone)", ylabel="heads",
             title="loss of the noise mean, ± two standard errors")  # fmt: skip
    figure.colorbar(image, ax=left, label=r"$E\,|m_Z - m_T|^2$")
    for place, own in enumerate(cells.values()):
        for outcome in own:
            for name, color, shift in (
                ("row singular values", BLUE, -0.2), ("value singular values", ORANGE, 0.2),
            ):  # fmt: skip
                shown = outcome[name].value[outcome[name].value > 0]
                at = np.full(len(shown), place + shift)
                right.semilogy(at, shown, "_", ms=7, mew=1.5, color=color)
    right.plot([], [], "_", ms=9, mew=1.5, color=BLUE, label="of the row")
    right.plot([], [], "_", ms=9, mew=1.5, color=ORANGE, label="of the values, on what is left")
    right.axhline(16 * EPS, color=BLACK, lw=1, ls="--")
    right.text(0, 24 * EPS, "16 machine eps", fontsize=9)
    right.legend(frameon=False, fontsize=9, loc="center left")
    plain(right, title="singular values behind the verdicts, at one observation",
          xlabel="heads, values")  # fmt: skip
    right.set_xticks(range(len(cells)), [f"{h}, {v}" for h, v in cells], fontsize=8, rotation=60)


STUDY = Study(
    name="first_block.fibre_test",
    item="FB-30 E5",
    title="the fibre test at one random observation, its margins, and the exact loss",
    shows=("FB-13", "FB-13b", "FB-14", "FB-15"),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(13.0, 4.6),
)
