r"""Where the law of the row or of the values is singular: reduced coordinates, and references.

Each case has a reference of another kind: heads merged or removed, tokens removed, a fixed row, or
the dense system ``F z = b`` with a pseudo-inverse. Where a saturated head hides a value below the
rounding of its neighbours, or conditioning costs too many digits, two ways of computing in float64
may differ: such draws are counted, and the latter are held to the error that the posterior states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from experiments.first_block.instances import new_seed, random_block, random_model
from experiments.study import Condition, Outcome, Quantity, Study, Task, exact, sampled
from numeric import fibre_posterior, fibre_system, fixed_row_posterior
from numeric.errors import OffSupportError
from numeric.fibre import FibreSystem
from numeric.first_block import AttentionBlock, CorruptionModel, QueryRowValues, posterior

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAME = 1e-8  # of responsibilities, and of the residual relative to the data
T, COMPONENTS = 0.5, 3


class Case(NamedTuple):
    """A block in the singular set, and responsibilities from a reference that isn't."""

    model: CorruptionModel
    block: AttentionBlock
    states: np.ndarray
    reference: np.ndarray


def duplicate_heads_other_values(rng: np.random.Generator, count: int) -> Case:
    model = random_model(rng, COMPONENTS, 4, 3, T)
    q, k, (v, w) = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(2, 1, 3))
    twice = AttentionBlock([q, q], [k, k], [v, w], n_tokens=4)
    merged = AttentionBlock([q], [k], [np.vstack([v, w])], n_tokens=4)
    return _against_block(model, twice, merged, _states(model, rng, count))


def duplicate_heads_same_values(rng: np.random.Generator, count: int) -> Case:
    model = random_model(rng, COMPONENTS, 4, 3, T)
    q, k, v = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    twice = AttentionBlock([q, q], [k, k], [v, v], n_tokens=4)
    once = AttentionBlock([q], [k], [v], n_tokens=4)
    return _against_block(model, twice, once, _states(model, rng, count))


def heads_of_lower_rank(rng: np.random.Generator, count: int) -> Case:
    """Three heads whose keys see a plane of a space of four dimensions."""
    model, plane = random_model(rng, COMPONENTS, 4, 4, T), rng.normal(size=(2, 4))
    maps = rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2, 2)) @ plane
    block = AttentionBlock(*maps, rng.normal(size=(3, 1, 4)), n_tokens=4)
    return _against_dense(model, block, _states(model, rng, count))


def more_heads_than_dimensions(rng: np.random.Generator, count: int) -> Case:
    model, block = random_model(rng, COMPONENTS, 3, 2, T), random_block(rng, 3, 2, (1, 1, 1))
    return _against_dense(model, block, _states(model, rng, count))


def row_that_measures_nothing(rng: np.random.Generator, count: int) -> Case:
    """M = 0: the row is 1/P, a fixed one; the values are all of the average token."""
    model, tokens = random_model(rng, COMPONENTS, 3, 2, T), 3
    zero = np.zeros((1, 1, 2))
    block = AttentionBlock(zero, zero + 1, np.eye(2)[None], n_tokens=tokens)
    states = _states(model, rng, count)
    mixing = np.stack([np.eye(tokens)[0], np.full(tokens, 1 / tokens)])
    reference = fixed_row_posterior(model.masses, model.mu, mixing, mixing @ states, model.t)
    return Case(model, block, states, reference)


def hidden_token(rng: np.random.Generator, count: int) -> Case:
    """A masked token, against a model that never had it."""
    model = random_model(rng, COMPONENTS, 4, 3, T)
    whole = random_block(rng, 4, 3, (1, 1), mask=np.array([True, True, False, True]))
    kept = [0, 1, 3]
    smaller = CorruptionModel(model.clean[:, kept], model.masses, model.t)
    block = AttentionBlock(whole.query_maps, whole.key_maps, whole.value_maps, n_tokens=3)
    states = _states(model, rng, count)
    seen = QueryRowValues.of(block.run(states[:, kept]))
    return Case(model, whole, states, posterior(smaller, block, seen).responsibilities)


def hidden_target(rng: np.random.Generator, count: int) -> Case:
    """The token that is read doesn't attend to itself: log-ratios to another, the last."""
    model = random_model(rng, COMPONENTS, 4, 3, T)
    block = random_block(rng, 4, 3, (1, 1), mask=np.array([False, True, True, True]))
    return _against_dense(model, block, _states(model, rng, count))


CASES = {
    "equal heads, other values": duplicate_heads_other_values,
    "equal heads and values": duplicate_heads_same_values,
    "heads of lower rank": heads_of_lower_rank,
    "more heads than dimensions": more_heads_than_dimensions,
    "row that measures nothing": row_that_measures_nothing,
    "hidden token": hidden_token,
    "hidden target": hidden_target,
}


def tasks(quick: bool, seed: int) -> list[Task]:
    instances, draws = (3, 100) if quick else (20, 1000)
    return [
        Task(f"{name}, {k}", {"case": name, "seed": 1000 * seed + k, "draws": draws})
        for name in CASES
        for k in range(instances)
    ]


def run(parameters: Mapping[str, Any]) -> dict[str, Quantity]:
    """Distance from the reference, residual off the support, and whether a contradiction is met."""
    rng = np.random.default_rng(parameters["seed"])
    model, block, states, reference = CASES[parameters["case"]](rng, parameters["draws"])
    seen = QueryRowValues.of(block.run(states))
    law = posterior(model, block, seen)
    assert law.margins is not None
    system = dense_system(block, seen)
    distance = np.abs(law.responsibilities - reference).max(axis=-1)
    rank = law.margins.row_rank + law.margins.value_rank
    seen_whole = rank == rank.max()  # the rank off a null set
    conditioned = seen_whole & (law.log_odds_error <= SAME)
    by_error = (distance / law.log_odds_error)[seen_whole]
    results = {
        "distance": exact(distance[conditioned].max()),
        "distance by stated error": exact(by_error.max()),
        "hidden by rounding": sampled((~seen_whole).mean()),
        "ill-conditioned": sampled((seen_whole & ~conditioned).mean()),
        "residual": exact(_residual(system).max()),
        "excess": exact(law.excess.max()),
        "rank": exact(rank.max()),
        "equations": exact(system.F.shape[-2]),
    }
    if parameters["case"].startswith("equal heads"):
        results["contradiction is refused"] = exact(_refuses_contradiction(model, block, seen))
    return results


def dense_system(block: AttentionBlock, seen: QueryRowValues) -> FibreSystem:
    """``F z = b`` for the visible other tokens; with a hidden target the anchor is the last."""
    visible = np.flatnonzero(block.visible)
    others = visible[visible != block.target]
    anchor = block.target if block.visible[block.target] else int(others[-1])
    ratios = seen.log_row - seen.log_row[..., anchor : anchor + 1]
    shown = others if anchor == block.target else others[:-1]
    n_values = block.value_maps[0].shape[-2]
    return fibre_system(
        np.swapaxes(ratios[..., shown], -1, -2),
        block.measurement(seen.query).matrix[..., 0, :, :],
        seen.query,
        V=np.stack([np.asarray(v) for v in block.value_maps]),
        values=seen.values.reshape(len(seen.values), block.n_heads, n_values),
        anchor=None if anchor == block.target else len(others) - 1,
    )


def _states(model: CorruptionModel, rng: np.random.Generator, count: int) -> np.ndarray:
    return model.draw(count, seed=new_seed(rng)).state


def _against_block(
    model: CorruptionModel, block: AttentionBlock, other: AttentionBlock, states: np.ndarray
) -> Case:
    seen = QueryRowValues.of(other.run(states))
    return Case(model, block, states, posterior(model, other, seen).responsibilities)


def _against_dense(model: CorruptionModel, block: AttentionBlock, states: np.ndarray) -> Case:
    seen = QueryRowValues.of(block.run(states))
    others = [j for j in np.flatnonzero(block.visible) if j != block.target]
    reference = fibre_posterior(
        model.masses, model.mu[:, block.target], model.mu[:, others], seen.query,
        dense_system(block, seen), model.t,
    )  # fmt: skip
    return Case(model, block, states, reference)


def _residual(system: FibreSystem) -> np.ndarray:
    """How far b is from the range of F, with rows of norm 1, relative to b; shape ``(count,)``."""
    norms = np.linalg.norm(system.F, axis=-1, keepdims=True)
    safe = np.where(norms > 0, norms, 1.0)
    F, b = system.F / safe, (system.b[..., None] / safe)[..., 0]
    closest = (F @ (np.linalg.pinv(F) @ b[..., None]))[..., 0]
    return np.linalg.norm(b - closest, axis=-1) / (1 + np.linalg.norm(b, axis=-1))


def _refuses_contradiction(
    model: CorruptionModel, block: AttentionBlock, seen: QueryRowValues
) -> float:
    """1 if rows of equal heads that differ by a thousandth of a log-ratio are refused."""
    log_row = seen.log_row.copy()
    log_row[..., 1, 1] += 1e-3
    log_row -= np.log(np.exp(log_row).sum(axis=-1, keepdims=True))
    try:
        posterior(model, block, QueryRowValues(seen.query, log_row, seen.values))
    except OffSupportError:
        return 1.0
    return 0.0


def conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    def worst(name: str) -> float:
        return max(float(outcome[name]) for outcome in outcomes)

    refused = [o for o in outcomes if "contradiction is refused" in o.results]
    return [
        Condition("responsibilities and reference differ by", worst("distance"), "<=", SAME),
        Condition("the same for ill-conditioned draws, by the error that is stated",
                  worst("distance by stated error"), "<=", 4.0),
        Condition("draws in which rounding hides a value, or that are ill-conditioned, share",
                  float(np.mean([_excused(o) for o in outcomes])), "<=", 0.05),
        Condition("off-support residual of exact data", worst("residual"), "<=", SAME),
        Condition("the same by what rounding allows", worst("excess"), "<=", 1.0),
        Condition("control: contradictory rows of equal heads are refused, share",
                  min(float(o["contradiction is refused"]) for o in refused), ">=", 1.0),
    ]  # fmt: skip


def _excused(outcome: Outcome) -> float:
    return float(outcome["hidden by rounding"]) + float(outcome["ill-conditioned"])


def draw(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    from experiments.pictures import BLACK, BLUE, ORANGE, plain

    panels = figure.subplots(1, 2, sharey=True)
    names = list(dict.fromkeys(outcome.task.parameters["case"] for outcome in outcomes))
    smallest = 1e-17
    for ax, result, color, title in (
        (panels[0], "distance", BLUE, "responsibilities: distance from the reference"),
        (panels[1], "residual", ORANGE, "data: distance from their support, relative"),
    ):
        for outcome in outcomes:
            place = names.index(outcome.task.parameters["case"])
            ax.plot(max(float(outcome[result]), smallest), place, "o", ms=5, alpha=0.6, color=color)
        ax.axvline(SAME, color=BLACK, lw=1, ls="--")
        ax.text(SAME * 0.6, -0.45, r"limit $10^{-8}$", ha="right", va="center", fontsize=9)
        plain(ax, xscale="log", xlim=(smallest / 2, 1e-6), title=title, yticks=range(len(names)),
              yticklabels=names,
              xlabel=r"largest over well-conditioned draws (0 is at $10^{-17}$)")  # fmt: skip
    panels[0].set_ylim(len(names) - 0.5, -0.8)


STUDY = Study(
    name="first_block.singular_set",
    item="FB-30 E2",
    title="posteriors on the singular set against references that are not on it",
    shows=("FB-2", "FB-4", "FB-28"),
    tasks=tasks,
    run=run,
    conditions=conditions,
    draw=draw,
    size=(11.0, 4.2),
)
