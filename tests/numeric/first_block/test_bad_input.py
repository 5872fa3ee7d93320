"""Bad input meets a typed error that names the argument; no estimator takes what is hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jaxtyping
import numpy as np
import pytest

from numeric import (
    DomainError,
    DtypeError,
    NonFiniteError,
    NumericError,
    OffSupportError,
    ShapeError,
)
from numeric.first_block import (
    AttentionBlock,
    ClippedRow,
    CorruptionModel,
    FullState,
    NoisyValues,
    QuantisedRow,
    QueryOnly,
    QueryRow,
    QueryRowProjected,
    QueryRowValues,
    fibre_twins,
    frozen_row_posterior,
    information_loss,
    log_row_of,
    measurability_gap,
    posterior,
    posterior_variance,
    row_stability,
    tower_test,
    unresolved_contrasts,
)
from tests.numeric.first_block.instances import random_block, random_model

RNG = np.random.default_rng(0)
NAN, INF = float("nan"), float("inf")
MODEL, BLOCK = random_model(RNG, 3, 3, 2), random_block(RNG, 3, 2, (2, 1))
DRAWS = MODEL.draw(4, seed=0)
RUN = BLOCK.run(DRAWS.state)
ROW = np.exp(RUN.log_row)
MAP = [np.eye(2)]
HIDDEN = random_block(RNG, 3, 2, (2, 1), mask=np.array([True, True, False]))


def model(**changed: Any) -> Any:
    given = {"clean": MODEL.clean, "masses": MODEL.masses, "t": 0.5, **changed}
    return CorruptionModel(**given)


def block(**changed: Any) -> Any:
    given = {"query_maps": MAP, "key_maps": MAP, "value_maps": MAP, "n_tokens": 3, **changed}
    return AttentionBlock(**given)


def values(**changed: Any) -> Any:
    return QueryRowValues(
        **{"query": RUN.query, "log_row": RUN.log_row, "values": RUN.values, **changed}
    )


def infer(**changed: Any) -> Any:
    given = {"model": MODEL, "block": BLOCK, "observation": values(), **changed}
    return posterior(**given)


def cells(**changed: Any) -> Any:
    given = {"query": np.zeros((2, 1)), "lower": np.zeros((2, 1, 2)), "upper": np.ones((2, 1, 2))}
    return QuantisedRow(**{**given, **changed})


def clipped(**changed: Any) -> Any:
    given = {"query": np.zeros(1), "log_ratios": np.zeros((1, 2)), "floor": np.asarray(0.0)}
    return ClippedRow(**{**given, **changed})


def two_tokens(**changed: Any) -> Any:
    given = {"query": np.zeros(1), "row": np.array([0.3]), "bits": 2, **changed}
    return QuantisedRow.of_two_tokens(**given)


def tower(**changed: Any) -> Any:
    given = {
        "draws": DRAWS, "responsibilities": np.full((4, 3), 1 / 3), "features": RUN.query, **changed
    }  # fmt: skip
    return tower_test(**given)


CASES: list[tuple[Callable[..., Any], dict[str, Any], type[NumericError], str]] = [
    # the model
    (model, {"t": 0.0}, DomainError, "t"),
    (model, {"t": -0.1}, DomainError, "t"),
    (model, {"t": 1.1}, DomainError, "t"),
    (model, {"t": NAN}, NonFiniteError, "t"),
    (model, {"t": [0.5, 0.5]}, ShapeError, "t"),
    (model, {"masses": [0.5, 0.5, 0.0]}, DomainError, "masses"),
    (model, {"masses": [0.7, 0.5, -0.2]}, DomainError, "masses"),
    (model, {"masses": [0.5, 0.2, 0.2]}, DomainError, "masses"),
    (model, {"masses": [0.5, 0.5]}, ShapeError, "masses"),
    (model, {"masses": [[0.2, 0.3, 0.5]]}, ShapeError, "masses"),
    (model, {"clean": np.zeros((3, 2))}, ShapeError, "clean"),
    (model, {"clean": np.zeros((0, 3, 2)), "masses": []}, ShapeError, "clean"),
    (model, {"clean": np.full((3, 3, 2), NAN)}, NonFiniteError, "clean"),
    (model, {"clean": np.zeros((3, 3, 2), dtype=complex)}, DtypeError, "clean"),
    (lambda count: MODEL.draw(count, seed=0), {"count": -1}, DomainError, "count"),
    # the block
    (block, {"query_maps": []}, ShapeError, "query_maps"),
    (block, {"key_maps": MAP * 2}, ShapeError, "key_maps"),
    (block, {"key_maps": [np.eye(3)[:, :2]]}, ShapeError, "key_maps"),
    (block, {"value_maps": [np.eye(3)]}, ShapeError, "value_maps"),
    (block, {"query_maps": [np.ones(2)]}, ShapeError, "query_maps[0]"),
    (block, {"query_maps": [np.full((2, 2), INF)]}, NonFiniteError, "query_maps[0]"),
    (block, {"n_tokens": 0}, DomainError, "n_tokens"),
    (block, {"target": 3}, DomainError, "target"),
    (block, {"target": 0.5}, DtypeError, "target"),
    (block, {"mask": np.zeros(3, dtype=bool)}, DomainError, "mask"),
    (block, {"mask": np.ones(2, dtype=bool)}, ShapeError, "mask"),
    (block, {"mask": [0, 1, 2]}, ShapeError, "mask"),
    (block, {"w_out": np.eye(3)}, ShapeError, "w_out"),
    (block, {"positions": np.zeros((2, 2))}, ShapeError, "positions"),
    (block, {"query_biases": [np.zeros(3)]}, ShapeError, "query_biases[0]"),
    (block, {"value_biases": []}, ShapeError, "value_biases"),
    (block, {"rotations": [np.eye(2)]}, ShapeError, "rotations[0]"),
    (block, {"query_maps": [np.zeros((2, 2, 2))], "key_maps": [np.zeros((3, 2, 2))]}, ShapeError,
     "query_maps[0]"),
    (BLOCK.run, {"state": np.zeros((2, 2))}, ShapeError, "state"),
    (BLOCK.run, {"state": np.zeros((3, 3))}, ShapeError, "state"),
    (BLOCK.run, {"state": np.full((3, 2), NAN)}, NonFiniteError, "state"),
    # rows
    (log_row_of, {"row": [[0.5, 0.6]]}, DomainError, "row"),
    (log_row_of, {"row": [[1.5, -0.5]]}, DomainError, "row"),
    (log_row_of, {"row": [0.5, 0.5]}, ShapeError, "row"),
    (values, {"log_row": RUN.log_row + 0.1}, DomainError, "log_row"),
    (values, {"log_row": np.full(RUN.log_row.shape, -INF)}, DomainError, "log_row"),
    (values, {"log_row": np.full(RUN.log_row.shape, INF)}, NonFiniteError, "log_row"),
    (values, {"log_row": np.full(RUN.log_row.shape, NAN)}, NonFiniteError, "log_row"),
    (values, {"query": RUN.query[:2]}, ShapeError, "log_row"),
    (values, {"values": RUN.values[:2]}, ShapeError, "values"),
    (values, {"values": np.full(RUN.values.shape, NAN)}, NonFiniteError, "values"),
    # fitting together
    (infer, {"block": random_block(RNG, 4, 2, (2, 1))}, ShapeError, "block"),
    (infer, {"block": random_block(RNG, 3, 3, (2, 1))}, ShapeError, "block"),
    (infer, {"block": random_block(RNG, 3, 2, (2, 1, 1))}, ShapeError, "log_row"),
    (infer, {"block": random_block(RNG, 3, 2, (2, 2))}, ShapeError, "values"),
    (infer, {"block": HIDDEN}, DomainError, "log_row"),
    (infer, {"observation": FullState(np.zeros((2, 2)))}, ShapeError, "state"),
    (infer, {"observation": FullState(np.zeros((3, 3)))}, ShapeError, "state"),
    (infer, {"observation": QueryOnly(np.zeros(3))}, ShapeError, "query"),
    (infer, {"observation": QueryRow(np.zeros((4, 3)), RUN.log_row)}, ShapeError, "query"),
    (infer, {"observation": QueryRow(RUN.query, RUN.log_row[..., :2] - np.log(
        ROW[..., :2].sum(-1, keepdims=True)))}, ShapeError, "log_row"),
    (infer, {"observation": QueryRowProjected(RUN.query, RUN.log_row, np.zeros((4, 2)))},
     ShapeError, "output"),
    (infer, {"observation": QueryRow(RUN.query, np.tile(
        np.where([True, True, False], np.log(0.5), -INF), (4, 2, 1)))}, DomainError, "log_row"),
    (infer, {"observation": DRAWS}, DtypeError, "observation"),
    (infer, {"observation": RUN}, DtypeError, "observation"),
    (infer, {"rank_tol": 1.0}, DomainError, "rank_tol"),
    (infer, {"rank_tol": NAN}, DomainError, "rank_tol"),
    (infer, {"off_support": "warn"}, DomainError, "off_support"),
    (lambda **k: frozen_row_posterior(MODEL, BLOCK, values(), **k), {"off_support": ""},
     DomainError, "off_support"),
    (lambda noise: NoisyValues(RUN.query, RUN.log_row, RUN.values, noise), {"noise": 0.0},
     DomainError, "noise"),
    (lambda seen: unresolved_contrasts(MODEL, BLOCK, seen),
     {"seen": NoisyValues(RUN.query, RUN.log_row, RUN.values, 0.1)}, DtypeError, "observation"),
    (lambda delta: row_stability(MODEL, BLOCK, QueryRow.of(RUN), delta), {"delta": 1.0},
     DomainError, "delta"),
    (lambda b: row_stability(MODEL, b, QueryRow.of(RUN), 0.1),
     {"b": random_block(RNG, 3, 2, (1, 1), mask=np.array([False, True, True]))}, DomainError,
     "block"),
    (lambda m: information_loss(m, BLOCK, values()), {"m": MODEL}, DomainError, "model"),
    # cells
    (cells, {"lower": np.ones((2, 1, 2)), "upper": np.zeros((2, 1, 2))}, DomainError, "lower"),
    (cells, {"lower": np.full((2, 1, 2), INF), "upper": np.full((2, 1, 2), INF)}, DomainError,
     "lower"),
    (cells, {"upper": np.ones((2, 1, 3))}, ShapeError, "upper"),
    (cells, {"query": np.zeros((3, 1))}, ShapeError, "lower"),
    (cells, {"lower": np.full((2, 1, 2), NAN)}, NonFiniteError, "lower"),
    (clipped, {"log_ratios": np.full((1, 2), INF)}, NonFiniteError, "log_ratios"),
    (clipped, {"floor": np.zeros(3)}, ShapeError, "log_ratios"),
    (clipped, {"floor": np.zeros((2, 2))}, ShapeError, "floor"),
    (two_tokens, {"row": [0.0]}, DomainError, "row"),
    (two_tokens, {"row": [1.0]}, DomainError, "row"),
    (two_tokens, {"bits": 0}, DomainError, "bits"),
    (infer, {"observation": cells()}, DomainError, "model"),
    # the checks
    (tower, {"features": RUN.query[:2]}, ShapeError, "features"),
    (tower, {"responsibilities": np.ones((2, 3))}, ShapeError, "responsibilities"),
    (tower, {"noise_mean": np.ones((2, 2))}, ShapeError, "noise_mean"),
    (tower, {"draws": MODEL.draw(1, seed=0)}, DomainError, "draws"),
    (lambda state: fibre_twins(MODEL, BLOCK, state, QueryRow, seed=0), {"state": np.zeros((3, 2))},
     ShapeError, "state"),
    (lambda twins: measurability_gap(lambda z: z, DRAWS.state, twins),
     {"twins": DRAWS.state[:2]}, ShapeError, "twins"),
    (posterior_variance, {"log_odds": 0.0, "variance": -1.0}, DomainError, "variance"),
    (posterior_variance, {"log_odds": NAN, "variance": 1.0}, NonFiniteError, "log_odds"),
    (posterior_variance, {"log_odds": np.zeros(2), "variance": np.zeros(3)}, ShapeError,
     "log_odds"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "arguments", "error", "named"), CASES, ids=[f"{c[3]}-{n}" for n, c in enumerate(CASES)]
)
@pytest.mark.usefixtures("unchecked")
def test_bad_input_is_a_typed_error_that_names_the_argument(
    call: Callable[..., Any], arguments: dict[str, Any], error: type[NumericError], named: str
):
    with pytest.raises(error) as caught:
        call(**arguments)
    assert type(caught.value) is error
    assert caught.value.argument == named
    assert caught.value.got


def test_good_input_passes_the_same_doors():
    for call in (model, block, values, infer, cells, clipped, two_tokens, tower):
        call()


def test_hidden_draws_are_no_observation():
    """By its type already: annotations are checked here."""
    with pytest.raises(jaxtyping.TypeCheckError, match="observation"):
        posterior(MODEL, BLOCK, DRAWS)  # type: ignore[arg-type]


def test_a_zero_at_a_visible_token_is_told_to_become_a_cell():
    row = np.array([[0.5, 0.5, 0.0]] * 2)
    with pytest.raises(DomainError, match="QuantisedRow or ClippedRow"):
        posterior(MODEL, BLOCK, QueryRow(np.zeros(2), log_row_of(row)))


def test_contradictory_row_and_values_are_off_support_with_their_distance():
    dense = random_block(RNG, 3, 2, (3, 3))  # rank M = 2: the values are known beforehand
    run = dense.run(DRAWS.state)
    posterior(MODEL, dense, QueryRowValues.of(run))
    moved = run.values.copy()
    moved[2, 1] += 1e-3
    with pytest.raises(OffSupportError, match=r"index \(2,\)") as caught:
        posterior(MODEL, dense, QueryRowValues(run.query, run.log_row, moved))
    assert abs(caught.value.distance - 1e-3) < 1e-9
    found = posterior(
        MODEL, dense, QueryRowValues(run.query, run.log_row, moved), off_support="flag"
    )
    assert (found.excess > 1).tolist() == [False, False, True, False]


def test_a_wrong_query_or_bias_is_off_support_where_the_row_is_overdetermined():
    three = random_block(RNG, 3, 2, (1, 1, 1))
    run = three.run(DRAWS.state)
    with pytest.raises(OffSupportError):
        posterior(MODEL, three, QueryRow(run.query + 0.1, run.log_row))
    biased = AttentionBlock(
        three.query_maps, three.key_maps, three.value_maps, n_tokens=3,
        query_biases=np.ones((3, 2)),
    )  # fmt: skip
    with pytest.raises(OffSupportError):
        posterior(MODEL, biased, QueryRow.of(run))


def test_a_value_that_one_token_can_not_have_is_off_support():
    """P = 1: the value is known beforehand."""
    rng = np.random.default_rng(1)
    alone, one = random_model(rng, 2, 1, 2), random_block(rng, 1, 2, (1,))
    run = one.run(alone.draw(1, seed=0).state)
    with pytest.raises(OffSupportError) as caught:
        posterior(alone, one, QueryRowValues(run.query, run.log_row, run.values + 0.25))
    assert abs(caught.value.distance - 0.25) < 1e-12
