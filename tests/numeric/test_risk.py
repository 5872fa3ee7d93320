"""Public risk decomposition: the exact example, sampling error, partitions."""

from __future__ import annotations

import numpy as np
import numpy.testing as npt
import pytest

from numeric import (
    DomainError,
    OffSupportError,
    RefinementError,
    ShapeError,
    depth_risk_finite,
    four_term_risk,
    four_term_risk_finite,
    width_tails,
)

SEED = 99


def test_example_of_the_specification():
    means = np.array([[2.0, 0], [0, 0], [0, 2], [0, 0]])
    target = np.concatenate([means + np.array([1, 0]), means - np.array([1, 0])])
    states, blocks = np.tile(np.arange(4), 2), np.tile([0, 0, 1, 1], 2)
    terms = four_term_risk_finite(
        np.full(8, 1 / 8), target, states, blocks, np.tile([0.5, 0.0], (8, 1)), basis=[[1.0], [0.0]]
    )
    got = [terms.noise, terms.information, terms.width, terms.fit, terms.risk]
    npt.assert_allclose(got, [1, 1, 0.5, 0.25, 2.75], rtol=1e-15)
    assert abs(terms.remainder) < 1e-15


def random_space(rng: np.random.Generator, points: int = 30) -> dict:
    masses = rng.uniform(0.1, 1, points)
    fine = rng.integers(0, 9, points)
    coarse = fine // 3
    basis = rng.normal(size=(4, 2))
    choice = rng.normal(size=(3, 2))
    return {
        "masses": masses / masses.sum(),
        "target": rng.normal(size=(points, 4)),
        "labels_Z": fine,
        "labels_T": coarse,
        "prediction": choice[coarse] @ basis.T,
        "basis": basis,
    }


def test_terms_sum_to_the_risk_on_every_finite_space():
    rng = np.random.default_rng(SEED)
    for _ in range(20):
        terms = four_term_risk_finite(**random_space(rng))
        assert abs(terms.remainder) <= 1e-13 * terms.risk
        assert min(terms.noise, terms.information, terms.width, terms.fit) >= 0


def test_labels_may_be_words():
    space = random_space(np.random.default_rng(SEED))
    words = {
        name: np.array([f"state {v}" for v in space[name]]) for name in ("labels_Z", "labels_T")
    }
    plain, named = four_term_risk_finite(**space), four_term_risk_finite(**{**space, **words})
    assert plain == named


def test_both_entrances_agree_when_the_means_are_those_of_the_space():
    space = random_space(np.random.default_rng(SEED))
    means = {}
    for name in ("labels_Z", "labels_T"):
        labels, masses = space[name], space["masses"]
        means[name] = np.stack(
            [
                (masses[labels == label] @ space["target"][labels == label])
                / masses[labels == label].sum()
                for label in labels
            ]
        )
    finite = four_term_risk_finite(**space)
    direct = four_term_risk(
        space["target"],
        means["labels_Z"],
        means["labels_T"],
        space["prediction"],
        basis=space["basis"],
        weights=space["masses"],
    )
    for name in ("noise", "information", "width", "fit", "risk"):
        assert getattr(finite, name) == pytest.approx(getattr(direct, name), rel=1e-12)


def test_sampling_error_is_of_order_one_over_root_n():
    """Z = (T, V), U = T + V + noise in two coordinates, probe along the first axis."""
    rng = np.random.default_rng(SEED)
    n = 400_000
    coarse, extra, noise = rng.normal(size=(3, n, 2))
    m_T, m_Z = coarse, coarse + 0.5 * extra
    prediction = np.column_stack([0.8 * coarse[:, 0], np.zeros(n)])
    terms = four_term_risk(m_Z + 0.3 * noise, m_Z, m_T, prediction, basis=[[1.0], [0.0]])
    expected = {"noise": 0.18, "information": 0.5, "width": 1.0, "fit": 0.04}
    for name, value in expected.items():
        assert getattr(terms, name) == pytest.approx(value, abs=8 * value / np.sqrt(n))
    assert abs(terms.remainder) < 10 / np.sqrt(n)


def test_basis_may_be_rank_deficient_or_empty():
    space = random_space(np.random.default_rng(SEED))
    doubled = {**space, "basis": np.hstack([space["basis"], space["basis"]])}
    plain, twice = four_term_risk_finite(**space), four_term_risk_finite(**doubled)
    assert plain.width == pytest.approx(twice.width, rel=1e-12)
    nothing = {**space, "basis": np.zeros((4, 0)), "prediction": np.zeros((30, 4))}
    assert four_term_risk_finite(**nothing).fit == 0


def test_points_without_mass_change_nothing():
    space = random_space(np.random.default_rng(SEED))
    grown = {
        **space,
        "masses": np.append(space["masses"], 0.0),
        "target": np.vstack([space["target"], [[1e3] * 4]]),
        "labels_Z": np.append(space["labels_Z"], 77),
        "labels_T": np.append(space["labels_T"], 55),
        "prediction": np.vstack([space["prediction"], np.zeros((1, 4))]),
    }
    plain, more = four_term_risk_finite(**space), four_term_risk_finite(**grown)
    for name in ("noise", "information", "width", "fit", "risk"):
        assert getattr(plain, name) == pytest.approx(getattr(more, name), rel=1e-14)


def test_a_coarser_z_than_t_is_refused():
    space = random_space(np.random.default_rng(SEED))
    with pytest.raises(RefinementError, match="two of T"):
        four_term_risk_finite(
            **{**space, "labels_Z": space["labels_T"], "labels_T": space["labels_Z"]}
        )


def test_a_prediction_that_is_no_function_of_t_or_outside_the_space_is_refused():
    space = random_space(np.random.default_rng(SEED))
    moved = space["prediction"].copy()
    moved[0] += space["basis"][:, 0]
    with pytest.raises(ValueError, match="function of labels_T"):
        four_term_risk_finite(**{**space, "prediction": moved})
    with pytest.raises(OffSupportError, match="span of the basis"):
        four_term_risk_finite(
            **{**space, "prediction": np.ones((30, 4)), "basis": np.eye(4)[:, :1]}
        )


def test_batches():
    spaces = [random_space(np.random.default_rng(seed)) for seed in range(3)]
    stacked = {name: np.stack([space[name] for space in spaces]) for name in spaces[0]}
    together = four_term_risk_finite(**stacked)
    for place, space in enumerate(spaces):
        alone = four_term_risk_finite(**space)
        assert together.width[place] == pytest.approx(alone.width, rel=1e-13)
        assert together.risk[place] == pytest.approx(alone.risk, rel=1e-13)
    empty = {name: value[:0] for name, value in stacked.items()}
    assert four_term_risk_finite(**empty).risk.shape == (0,)


def test_tails_of_the_specification():
    means = np.repeat([[1.0, 0.0], [0.0, 1.0]], 2, axis=0)
    npt.assert_allclose(width_tails(means), [1, 0.5, 0], atol=1e-15)
    npt.assert_allclose(width_tails(means, offset=True), [0.5, 0, 0], atol=1e-15)


def test_tails_are_what_no_subspace_beats_and_one_attains():
    rng = np.random.default_rng(SEED)
    means, weights = rng.normal(size=(40, 5)) + 1, rng.dirichlet(np.ones(40))
    for offset in (False, True):
        tails = width_tails(means, weights=weights, offset=offset)
        centred = means - offset * (weights @ means)
        moment = (weights[:, None] * centred).T @ centred
        _, vectors = np.linalg.eigh(moment)
        for rank in range(6):

            def missed(basis: np.ndarray, centred: np.ndarray = centred) -> float:
                outside = centred - centred @ basis @ basis.T
                return float(weights @ (outside**2).sum(axis=-1))

            assert missed(vectors[:, 5 - rank :]) == pytest.approx(tails[rank], abs=1e-13)
            for _ in range(20):
                basis = np.linalg.qr(rng.normal(size=(5, rank)))[0]
                assert missed(basis) >= tails[rank] - 1e-13


def test_the_covariance_of_the_target_misleads():
    """U = (g, 10 xi), T = g: its mean given T lies on a line, though xi has the larger variance."""
    g = np.array([1.0, -1.0, 1.0, -1.0])
    xi = np.array([1.0, 1.0, -1.0, -1.0])
    npt.assert_allclose(width_tails(np.column_stack([g, 0 * g])), [1, 0, 0], atol=1e-15)
    npt.assert_allclose(width_tails(np.column_stack([g, 10 * xi])), [101, 1, 0], rtol=1e-14)


def test_a_tail_far_below_the_largest_keeps_its_digits():
    tails = width_tails(np.diag([1.0, 1e-9, 1e-12]))
    npt.assert_allclose(tails, [1 / 3, (1e-18 + 1e-24) / 3, 1e-24 / 3, 0], rtol=1e-12)


def test_tails_in_batches_and_of_few_points():
    rng = np.random.default_rng(SEED)
    means = rng.normal(size=(3, 2, 4))
    together = width_tails(means)
    assert together.shape == (3, 5)
    for own, alone in zip(together, means, strict=True):
        npt.assert_allclose(own, width_tails(alone), atol=1e-14)
    npt.assert_allclose(together[:, 2:], 0, atol=1e-14)
    assert width_tails(means[:0]).shape == (0, 5)
    with pytest.raises(DomainError, match="weights"):
        width_tails(means, weights=[2.0, -1.0])
    with pytest.raises(ShapeError, match="m_T"):
        width_tails(np.zeros((0, 2)))


def test_risk_of_a_layer_that_forgets_rises_by_the_distance_of_the_means():
    rng = np.random.default_rng(SEED)
    masses, target = rng.dirichlet(np.ones(24)), rng.normal(size=(24, 3))
    labels = np.stack([np.arange(24) // k for k in (1, 2, 6, 24)])
    found = depth_risk_finite(masses, target, labels)
    npt.assert_allclose(np.diff(found.risk), found.increment, atol=1e-14)
    assert found.risk[0] < 1e-30
    assert np.all(found.increment > 0)
    spread = masses @ ((target - masses @ target) ** 2).sum(axis=-1)
    assert found.risk[-1] == pytest.approx(spread, rel=1e-13)


def test_a_token_alone_is_in_no_order_and_its_history_is():
    """U = +-1, seen at first, then hidden, then fetched from another token."""
    sides = [[1.0], [-1.0]]
    labels = [[0, 1], [0, 0], [0, 1]]
    with pytest.raises(RefinementError, match="history=True"):
        depth_risk_finite([0.5, 0.5], sides, labels)
    alone = [float(depth_risk_finite([0.5, 0.5], sides, [row]).risk[0]) for row in labels]
    assert alone == [0, 1, 0]
    assert depth_risk_finite([0.5, 0.5], sides, labels, history=True).risk.tolist() == [0, 0, 0]


def test_risk_of_a_history_falls_by_the_distance_of_the_means():
    rng = np.random.default_rng(SEED)
    masses, target = rng.dirichlet(np.ones(30)), rng.normal(size=(30, 2))
    labels = rng.integers(0, 3, (4, 30))
    found = depth_risk_finite(masses, target, labels, history=True)
    npt.assert_allclose(-np.diff(found.risk), found.increment, atol=1e-14)
    seen = [" ".join(map(str, column)) for column in labels.T]
    last = depth_risk_finite(masses, target, [seen])
    assert found.risk[-1] == pytest.approx(float(last.risk[0]), abs=1e-14)


def test_depth_in_batches():
    rng = np.random.default_rng(SEED)
    masses, target = rng.dirichlet(np.ones(8), 3), rng.normal(size=(3, 8, 2))
    labels = np.stack([np.arange(8), np.arange(8) // 2])
    found = depth_risk_finite(masses, target, labels)
    assert found.risk.shape == (3, 2)
    alone = depth_risk_finite(masses[1], target[1], labels)
    npt.assert_allclose(found.increment[1], alone.increment, rtol=1e-14)
    with pytest.raises(ShapeError, match="labels"):
        depth_risk_finite(masses, target, np.arange(8))
