"""Reading the observed row as fixed numbers: the exact difference, and what it costs (FB-17)."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt

from numeric.first_block import (
    AttentionBlock,
    CorruptionModel,
    QueryRowValues,
    frozen_row_difference,
    frozen_row_posterior,
    posterior,
)
from tests.numeric.first_block.instances import log_odds, random_block, random_model
from tests.numeric.first_block.test_posterior import VARIANTS

SEED = 1700


def test_the_difference_of_log_odds_is_the_projectors_difference():
    for model, block in VARIANTS.values():
        observation = QueryRowValues.of(block.run(model.draw(10, seed=SEED).state))
        exact, frozen = (
            law(model, block, observation) for law in (posterior, frozen_row_posterior)
        )
        got = frozen_row_difference(model, block, observation)
        want = log_odds(exact.log_responsibilities) - log_odds(frozen.log_responsibilities)
        error = (exact.log_odds_error + frozen.log_odds_error)[:, None, None]
        assert (np.abs(got - want) <= 1e-8 + error).all()


def test_frozen_row_is_exact_where_the_values_pin_down_everything():
    """Rank D = (P-1) d, and P = 2, d = 1; difference 0 by the closed form as well."""
    rng = np.random.default_rng(SEED)
    for P, d, sizes in ((3, 2, (2, 2)), (2, 1, (1,)), (2, 3, (3, 1)), (4, 1, (1, 1, 1))):
        model, block = random_model(rng, 3, P, d), random_block(rng, P, d, sizes)
        observation = QueryRowValues.of(block.run(model.draw(50, seed=SEED).state))
        exact, frozen = (
            law(model, block, observation) for law in (posterior, frozen_row_posterior)
        )
        bound = np.minimum(1e-6, exact.log_odds_error + frozen.log_odds_error)[:, None, None]
        gap = log_odds(exact.log_responsibilities) - log_odds(frozen.log_responsibilities)
        assert (np.abs(gap) <= bound).all()
        assert np.median(np.abs(gap)) < 1e-9
        assert (np.abs(frozen_row_difference(model, block, observation)) <= bound).all()


def test_excess_risk_is_the_distance_of_the_means_and_bounded_by_total_variation():
    """FB-17 (18): identity by Monte Carlo, equality for N = 2, pointwise bound for N = 5."""
    rng = np.random.default_rng(SEED)
    for n in (2, 5):
        model, block = random_model(rng, n, 4, 3), random_block(rng, 4, 3, (1, 1))
        draws = model.draw(40_000, seed=SEED)
        observation = QueryRowValues.of(block.run(draws.state))
        exact, frozen = (
            law(model, block, observation) for law in (posterior, frozen_row_posterior)
        )
        target = draws.noise[:, 0]
        risks = [((target - law.noise_mean) ** 2).sum(-1) for law in (exact, frozen)]
        apart = ((exact.noise_mean - frozen.noise_mean) ** 2).sum(-1)
        paired = risks[1] - risks[0] - apart
        assert abs(paired.mean()) < 4.5 * paired.std(ddof=1) / np.sqrt(len(paired))
        variation = np.abs(exact.responsibilities - frozen.responsibilities).sum(-1) / 2
        targets = model.clean[:, 0]
        diameter = np.linalg.norm(targets[:, None] - targets, axis=-1).max()
        bound = ((1 - model.t) / model.t * diameter * variation) ** 2
        assert (apart <= bound * (1 + 1e-12) + 1e-12).all()
        if n == 2:
            npt.assert_allclose(apart, bound, rtol=1e-10, atol=1e-10)


def test_without_values_the_frozen_row_fails_with_two_scalar_tokens():
    """FB-17b: V = 0."""
    one, zero = np.array([[1.0]]), np.array([[0.0]])
    block = AttentionBlock([one], [np.log(2) * one], [zero], n_tokens=2)
    clean = np.array([[3.0, 2.0], [1.0, 0.0]])[..., None]
    model = CorruptionModel(clean, np.array([0.5, 0.5]), 0.5)
    run = block.run(np.array([[1.0], [2.0]]))
    npt.assert_allclose(np.exp(run.log_row[0]), [1 / 3, 2 / 3], rtol=1e-12)
    found = posterior(model, block, QueryRowValues.of(run))
    npt.assert_allclose(log_odds(found.log_responsibilities)[0, 1], 6, rtol=1e-12)
    frozen = frozen_row_posterior(model, block, QueryRowValues.of(run))
    npt.assert_allclose(frozen.responsibilities, 0.5, rtol=1e-12)
