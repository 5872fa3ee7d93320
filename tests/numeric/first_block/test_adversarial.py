"""Random and hostile blocks: whatever the structure, the error stays below what is claimed.

Scales from 1e-100 to 1e6, corruption from 1 to 1e-6, components a hair apart and all of them far
from 0, duplicate and dead heads, masks, positions, biases, rotary maps, projected values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    QueryRow,
    QueryRowProjected,
    QueryRowValues,
    fibre_twins,
    frozen_row_difference,
    frozen_row_posterior,
    grouping,
    posterior,
    sufficiency,
)
from tests.numeric.first_block.instances import log_odds, margins, random_block, rotations
from tests.numeric.first_block.oracle import DIGITS, exact_posterior, projector

SEEDS = range(80)
KINDS = {
    QueryRowValues: {}, QueryRow: {"values": False}, QueryRowProjected: {"projected": True},
}  # fmt: skip


def hostile(seed: int) -> tuple[CorruptionModel, AttentionBlock]:
    rng = np.random.default_rng(seed)
    P, d, heads, n = (int(x) for x in rng.integers([1, 1, 1, 2], [5, 4, 4, 5]))
    t = float(rng.choice([1, 0.5, 0.1, 1e-3, 1e-6]))
    sizes = tuple(int(v) for v in rng.integers(0, 4, heads))
    keys = int(rng.choice([1, 2, 4]))
    more: dict[str, Any] = {"target": int(rng.integers(P))}
    if rng.random() < 0.3:
        more["positions"] = rng.normal(size=(P, d))
    if rng.random() < 0.3:
        more["query_biases"] = rng.normal(size=(heads, keys))
    if rng.random() < 0.3:
        more["key_biases"] = rng.normal(size=(heads, keys))
    if rng.random() < 0.3:
        more["value_biases"] = [rng.normal(size=v) for v in sizes]
    if rng.random() < 0.3 and keys > 1:
        more["rotations"] = [rotations(P, keys)] * heads
    if rng.random() < 0.4:
        mask = rng.random(P) < 0.6
        mask[rng.integers(P)] = True
        more["mask"] = mask
    if rng.random() < 0.5:
        more["w_out"] = rng.normal(size=(int(rng.integers(1, 4)), sum(sizes)))
    scale = 10.0 ** rng.choice([-100, -12, -3, 0, 0, 0, 1, 1.5, 2, 3, 6])
    block = random_block(rng, P, d, sizes, keys=keys, scale=scale, **more)
    if rng.random() < 0.3:
        maps = {
            name: list(getattr(block, name)) for name in ("query_maps", "key_maps", "value_maps")
        }
        if heads > 1:  # a head twice, its values another's
            maps["query_maps"][1], maps["key_maps"][1] = maps["query_maps"][0], maps["key_maps"][0]
        if rng.random() < 0.3:
            maps["query_maps"][0] = 0 * maps["query_maps"][0]
        if rng.random() < 0.3:
            maps["value_maps"][0] = 0 * maps["value_maps"][0]
        block = replace(block, **maps)
    clean = rng.normal(size=(n, P, d)) * 10.0 ** rng.choice([-3, 0, 0, 1, 3])
    if rng.random() < 0.2:  # a hair apart
        clean[1] = clean[0]
        clean[1, -1] += 1e-3 * rng.normal(size=d)
    if rng.random() < 0.2:  # far from 0
        clean = clean + 10.0 ** rng.choice([2, 5])
    return CorruptionModel(clean, rng.dirichlet(np.ones(n)) * 0.999 + 0.001 / n, t), block


@pytest.mark.parametrize("seed", SEEDS)
def test_error_of_log_odds_is_below_its_estimate(seed: int):
    model, block = hostile(seed)
    state = model.draw(1, seed=seed).state
    with np.errstate(all="raise", under="ignore"):
        run = block.run(state)
        laws = {kind: posterior(model, block, kind.of(run)) for kind in KINDS}
    for kind, wanted in KINDS.items():
        found = laws[kind]
        exact = exact_posterior(model, block, state[0], **wanted)
        rank = int((margins(found).row_rank + margins(found).value_rank)[0])
        assert rank == _rank(exact.F)
        want = log_odds(np.array(exact.log_r, dtype=float))
        error = np.abs(log_odds(found.log_responsibilities[0]) - want).max()
        assert error <= found.log_odds_error[0]
        assert found.excess[0] <= 1


@pytest.mark.parametrize("seed", range(100, 140))
def test_fibre_and_frozen_row_hold_on_hostile_blocks(seed: int):
    """Verdict, frozen row and its difference against 40 digits; twins get the same posterior."""
    model, block = hostile(seed)
    state = model.draw(1, seed=seed).state
    observation = QueryRowValues.of(block.run(state))
    exact = exact_posterior(model, block, state[0])
    verdict, n = sufficiency(model, block, observation), model.n_components
    assert (verdict.margins.row_rank + verdict.margins.value_rank)[0] == _rank(exact.F)
    open_ = [exact.open_contrasts[a, b] * model.t for a in range(n) for b in range(n)]
    assert verdict.is_sufficient[0] == (max(open_) < 1e-20)
    law = posterior(model, block, observation)
    frozen = frozen_row_posterior(model, block, observation)
    fixed = exact_posterior(model, block, state[0], rows=False)
    odds = [log_odds(x.log_responsibilities[0]) for x in (law, frozen)]
    want = log_odds(np.array(fixed.log_r, dtype=float))
    assert np.abs(odds[1] - want).max() <= frozen.log_odds_error[0]
    difference = frozen_row_difference(model, block, observation)[0]
    error = law.log_odds_error[0] + frozen.log_odds_error[0]
    assert np.abs(difference - (odds[0] - odds[1])).max() <= error
    twins = fibre_twins(model, block, state, QueryRowValues, seed=1)
    twin = posterior(model, block, QueryRowValues.of(block.run(twins)))
    gap = np.abs(log_odds(twin.log_responsibilities[0]) - odds[0]).max()
    assert gap <= law.log_odds_error[0] + twin.log_odds_error[0]
    assert (grouping(model, block, observation).group >= 0).all()


def _rank(F: Any) -> int:
    """Rank by the trace of the projector on the rows."""
    if not (F.rows and F.cols):
        return 0
    with mp.workdps(DIGITS):
        P = projector(F)
    return round(float(sum(P[k, k] for k in range(P.rows))))
