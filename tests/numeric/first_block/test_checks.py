"""The two tests of any posterior see what each is there to see."""

from __future__ import annotations

import numpy as np

from numeric.first_block import (
    FullState,
    QueryOnly,
    QueryRow,
    QueryRowValues,
    fibre_twins,
    measurability_gap,
    posterior,
    tower_test,
)
from numeric.first_block.checks import THRESHOLD
from tests.numeric.first_block.instances import random_block, random_model

SEED = 500


def _setting():
    rng = np.random.default_rng(SEED)
    model, block = random_model(rng, 3, 3, 3), random_block(rng, 3, 3, (1,))
    return model, block, model.draw(20_000, seed=SEED)


def test_the_tower_test_is_calibrated():
    """z-scores of a right posterior are standard normal, over seeds."""
    model, block, _ = _setting()
    scores = []
    for seed in range(40):
        draws = model.draw(1000, seed=seed)
        observation = QueryOnly(draws.state[:, 0])
        r = posterior(model, block, observation).responsibilities
        scores.append(tower_test(draws, r, draws.state[:, 0]).posterior[0, 0])
    assert abs(np.mean(scores)) < 4 / np.sqrt(40)
    assert 0.6 < np.std(scores) < 1.5


def test_a_posterior_of_another_prior_fails_the_tower_test():
    model, block, draws = _setting()
    observation = QueryRowValues.of(block.run(draws.state))
    r = posterior(model, block, observation).responsibilities * [1.0, 1.5, 1.0]
    r /= r.sum(-1, keepdims=True)
    assert tower_test(draws, r, draws.state[:, 0]).worst > THRESHOLD


def test_a_wrong_noise_mean_fails_the_tower_test():
    model, block, draws = _setting()
    found = posterior(model, block, QueryRowValues.of(block.run(draws.state)))
    wrong = found.noise_mean + 0.05
    test = tower_test(draws, found.responsibilities, draws.state[:, 0], noise_mean=wrong)
    assert np.abs(test.posterior).max() < THRESHOLD < np.abs(test.noise_mean).max()


def test_a_leak_passes_the_tower_test_and_fails_the_measurability_test():
    model, block, draws = _setting()
    run = block.run(draws.state)
    leak = posterior(model, block, FullState(draws.state))
    features = np.hstack([run.query, run.values])
    test = tower_test(draws, leak.responsibilities, features, noise_mean=leak.noise_mean)
    assert test.worst < THRESHOLD
    state = draws.state[:100]
    twins = fibre_twins(model, block, state, QueryRowValues, seed=1)
    gap = measurability_gap(
        lambda z: posterior(model, block, FullState(z)).responsibilities, state, twins
    )
    assert gap > 0.1


def test_an_observation_that_says_more_is_told_apart_by_the_twins_of_one_that_says_less():
    model, block, draws = _setting()
    state = draws.state[:100]
    twins = fibre_twins(model, block, state, QueryRow, seed=1)

    def of(kind):
        return measurability_gap(
            lambda z: posterior(model, block, kind.of(block.run(z))).responsibilities, state, twins
        )

    assert of(QueryRow) < 1e-9
    assert of(QueryOnly) == 0
    assert of(QueryRowValues) > 1e-2


def test_the_twins_keep_the_query_and_move_along_the_whole_kernel():
    model, block, draws = _setting()
    state = draws.state[:1]
    many = np.repeat(state, 400, axis=0)
    moves = fibre_twins(model, block, many, QueryRowValues, seed=3) - many
    assert (moves[:, 0] == 0).all()
    rank = np.linalg.matrix_rank(moves[:, 1:].reshape(400, -1), tol=1e-8)
    assert rank == 6 - (2 + 1)  # (P-1) d less rank F: one row a token, one value
