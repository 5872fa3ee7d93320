r"""One set of draws, six readings: what is lost from the state to the query token alone.

The readings form a chain, each a function of the one before it: the state Z, query with row and
values, query with row and output, query with output (the row discarded), query. Each has its exact
posterior. The sixth, the frozen row, reads what the second reads and isn't a posterior of it. It
needs the row, so that it is no competitor of the reading that discards it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.first_block.instances import new_seed, random_block, random_model
from experiments.first_block.output_only import output_only_posterior
from experiments.study import (
    Z_LIMIT,
    Condition,
    Outcome,
    Quantity,
    Study,
    Task,
    exact,
    monte_carlo,
    sampled,
)
from numeric.first_block import (
    AttentionBlock,
    BlockRun,
    CorruptionModel,
    FullState,
    QueryOnly,
    QueryRowProjected,
    QueryRowValues,
    fibre_twins,
    frozen_row_posterior,
    measurability_gap,
    posterior,
    tower_test,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHAIN = ("state", "query, row, values", "query, row, output", "query, output", "query")
FROZEN = "frozen row"
T, WIDTH, COMPONENTS = 0.5, 4, 3
CONTROL = 6.0  # the z-score that a wrong posterior must exceed
SAME = 1e-8  # responsibilities this close are the same


def instance(rng: np.random.Generator) -> tuple[CorruptionModel, AttentionBlock]:
    """Two tokens of width 4, one head with two values and a scalar output."""
    model = random_model(rng, COMPONENTS, 2, WIDTH, T)
    return model, random_block(rng, 2, WIDTH, (2,), w_out=rng.normal(size=(1, 2)))


def tasks(quick: bool, seed: int) -> list[Task]:
    count, draws = (2, 600) if quick else (6, 4000)
    return [
        Task(
            f"instance {k}",
            {"seed": 1000 * seed + k, "draws": draws, "control draws": 200_000},
        )
        for k in range(count)
    ]


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """Losses, tower z-scores and leaks of all readings of one instance."""
    rng = np.random.default_rng(parameters["seed"])
    model, block = instance(rng)
    draws = model.draw(parameters["draws"], seed=new_seed(rng))
    run = block.run(draws.state)
    values, projected = QueryRowValues.of(run), QueryRowProjected.of(run)
    by_output = output_only_posterior(model, block, run.query, run.output)
    frozen = frozen_row_posterior(model, block, values).responsibilities
    readings = {
        "state": posterior(model, block, FullState(draws.state)).responsibilities,
        "query, row, values": posterior(model, block, values).responsibilities,
        "query, row, output": posterior(model, block, projected).responsibilities,
        "query, output": by_output.responsibilities,
        "query": posterior(model, block, QueryOnly.of(run)).responsibilities,
        FROZEN: frozen,
    }
    features = {
        "state": draws.state.reshape(len(draws.label), -1),
        "query, row, values": np.hstack([run.query, _log_ratios(run), run.values]),
        "query, row, output": np.hstack([run.query, _log_ratios(run), run.output]),
        "query, output": np.hstack([run.query, run.output]),
        "query": run.query,
    }
    means = {
        name: (run.query - r @ model.mu[:, block.target]) / model.t for name, r in readings.items()
    }
    squares = np.stack(
        [((means[name] - means["state"]) ** 2).sum(axis=-1) for name in (*CHAIN, FROZEN)], axis=-1
    )
    apart = ((means[FROZEN] - means[CHAIN[1]]) ** 2).sum(axis=-1)
    distance = np.abs(frozen - readings[CHAIN[1]]).sum(axis=-1) / 2
    towers = [
        tower_test(draws, readings[name], features[name], noise_mean=means[name]).worst
        for name in CHAIN
    ]
    return {
        "loss": monte_carlo(squares),
        "loss growth": monte_carlo(np.diff(squares[:, : len(CHAIN)], axis=-1)),
        "frozen excess risk": monte_carlo(apart),
        "frozen total variation": monte_carlo(distance),
        "tower z": sampled(towers),
        "control z": sampled(_control(model, block, parameters["control draws"], new_seed(rng))),
        "leak": sampled(
            [
                _leak(model, block, draws.state[:200], kind, new_seed(rng))
                for kind in (QueryRowValues, QueryRowProjected)
            ]
        ),
        "step halving": exact(by_output.change.max()),
    }


def _log_ratios(run: BlockRun) -> np.ndarray:
    return run.log_row[:, 0, 1:] - run.log_row[:, 0, :1]


def _control(model: CorruptionModel, block: AttentionBlock, count: int, seed: int) -> float:
    """Worst z-score of the frozen row, on as many draws as it takes to see that it is wrong."""
    draws = model.draw(count, seed=seed)
    run = block.run(draws.state)
    frozen = frozen_row_posterior(model, block, QueryRowValues.of(run)).responsibilities
    return tower_test(draws, frozen, np.hstack([run.query, _log_ratios(run), run.values])).worst


def _leak(
    model: CorruptionModel,
    block: AttentionBlock,
    state: np.ndarray,
    kind: type[QueryRowValues] | type[QueryRowProjected],
    seed: int,
) -> float:
    """Largest change of a responsibility along the fibre of the observation."""
    twins = fibre_twins(model, block, state, kind, seed=seed)

    def estimate(state: np.ndarray) -> np.ndarray:
        return posterior(model, block, kind.of(block.run(state))).responsibilities

    return measurability_gap(estimate, state, twins)


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    growth = np.concatenate(
        [o["loss growth"].value / np.maximum(o["loss growth"].error, 1e-12) for o in outcomes]
    )
    return [
        Condition("tower test of the five posteriors, worst z-score", _worst(outcomes, "tower z"),
                  "<=", Z_LIMIT),
        Condition("control: the frozen row fails the tower test, z-score",
                  _worst(outcomes, "control z"), ">=", CONTROL),
        Condition("states of one observation are told apart by", _worst(outcomes, "leak"),
                  "<=", SAME),
        Condition("no reading loses less than one that it is a function of, in standard errors",
                  -growth.min(), "<=", Z_LIMIT),
        Condition("row integrated away: change at the last halving of the step",
                  _worst(outcomes, "step halving"), "<=", SAME),
    ]  # fmt: skip


def _worst(outcomes: Sequence[Outcome], name: str) -> float:
    return max(float(outcome[name].value.max()) for outcome in outcomes)


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    from experiments.pictures import BLACK, BLUE, COLORS, GREY, RED, plain

    left, right = figure.subplots(1, 2, sharex=True)
    place = np.arange(len(CHAIN))
    names = [name.replace(", ", ",\n") for name in CHAIN]
    for k, outcome in enumerate(outcomes):
        shift = 0.08 * (k - (len(outcomes) - 1) / 2)
        loss = outcome["loss"]
        error = 2 * loss.error
        color = COLORS[k % len(COLORS)]
        left.errorbar(place + shift, loss.value[:-1], error[:-1], fmt="o-", ms=4, lw=0.6,
                      capsize=2, color=color)  # fmt: skip
        left.errorbar(1 + shift, loss.value[-1], error[-1], fmt="x", ms=6, capsize=2, color=color)
        right.plot(place + shift, outcome["tower z"].value, "o", ms=5, color=BLUE)
        right.plot(1 + shift, float(outcome["control z"]), "x", ms=6, color=RED)
    left.plot([], [], "o-", color=GREY, lw=0.6, label="exact posterior (a colour an instance)")
    left.plot([], [], "x", color=GREY, label="frozen row, read from query, row, values")
    left.legend(frameon=False, fontsize=9)
    right.axhline(Z_LIMIT, color=BLACK, lw=1, ls="--")
    right.text(0, Z_LIMIT * 1.05, "limit 4.5", ha="center", va="bottom", fontsize=9)
    right.plot([], [], "o", color=BLUE, label="exact posterior")
    right.plot([], [], "x", color=RED, label="frozen row (control)")
    right.legend(frameon=False, fontsize=9, loc="upper right")
    plain(left, ylabel=r"loss $E\,|m_Z - m_T|^2$, two standard errors",
          title="What the noise mean loses", xticks=place, xticklabels=names)  # fmt: skip
    ticks = [1, 2, 3, 5, 10, 20, 50]
    plain(right, yscale="log", ylim=(0.9, 90), yticks=ticks, yticklabels=ticks,
          ylabel="worst z-score of the tower test",
          title="Is it the posterior that it claims to be?")  # fmt: skip


STUDY = Study(
    name="first_block.posteriors",
    item="FB-30 E1",
    title="what is lost from the state to the query token, reading by reading",
    shows=("FB-1", "FB-3", "FB-9", "FB-19"),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(12.0, 4.6),
)
