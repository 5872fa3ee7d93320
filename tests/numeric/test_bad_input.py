"""Bad input meets a typed error that names the argument, what was expected and what came."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import numeric
from numeric import (
    DomainError,
    DtypeError,
    NonFiniteError,
    NotPositiveSemidefiniteError,
    NotSymmetricError,
    NumericError,
    ShapeError,
)

NAN, INF = float("nan"), float("inf")
COV = [[2.0, 0.5], [0.5, 1.0]]
LOOSE = {"mu": [0.0, 0.0], "c": [1.0, 0.0], "log_ratios": [1.0], "M": [[1.0, 2.0]], "t": 0.5}
POINTS = {
    "masses": [0.5, 0.5], "target": [[1.0], [2.0]], "labels_Z": [0, 1], "labels_T": [0, 0],
    "prediction": [[0.0], [0.0]],
}  # fmt: skip
SAMPLES = {"target": [[1.0]], "m_Z": [[1.0]], "m_T": [[1.0]], "prediction": [[1.0]]}


def condition(**changed: Any) -> Any:
    given = {"mean": [0.0, 0.0], "cov": COV, "observed": [1], "value": [1.0], **changed}
    return numeric.condition(**given)


def token(**changed: Any) -> Any:
    return numeric.condition_on_log_ratios(**{**LOOSE, **changed})


def flow(**changed: Any) -> Any:
    given = {"cov": COV, "time": 0.1, "beta": 1.0, "clock": "main", **changed}
    return numeric.covariance_flow(**given)


def eigenvalue(**changed: Any) -> Any:
    given = {"lambda0": 1.0, "time": 0.1, "beta": 1.0, "clock": "appendix", **changed}
    return numeric.eigenvalue_flow(**given)


def denoise(**changed: Any) -> Any:
    given = {"s": 1.0, "sigma2": 0.1, "beta": 1.0, "clock": "main", **changed}
    return numeric.denoising_time(**given)


def terminal(**changed: Any) -> Any:
    given = {"clean_cov": COV, "sigma2": 0.1, "beta": 1.0, **changed}
    return numeric.terminal_covariance(**given)


def finite(**changed: Any) -> Any:
    return numeric.four_term_risk_finite(**{**POINTS, **changed})


def samples(**changed: Any) -> Any:
    return numeric.four_term_risk(**{**SAMPLES, **changed})


MIXTURE = {"prior": [0.5, 0.5], "means": [[0.0], [1.0]], "t": 0.5}
HEADS = {"c": [1.0, 0.0], "Q": np.ones((1, 2, 2)), "K": np.ones((1, 2, 2))}
ROW = {"log_ratios": [[0.0]], "M": [[1.0, 2.0]], "c": [0.0, 0.0]}
FIBRE = {
    **MIXTURE, "query_means": [[0.0], [1.0]], "means": [[[0.0]], [[1.0]]], "c": [0.0],
    "system": numeric.FibreSystem(np.array([[1.0]]), np.array([0.5])),
}  # fmt: skip
BOUND = {
    "delta": 1e-3, "tau_margin": 1e-2, "n_heads": 1, "n_tokens": 2, "sigma_min": 1.0,
    "contrast": 1.0, "spread": 1.0, "t": 0.5,
}  # fmt: skip


def density(**changed: Any) -> Any:
    return numeric.log_density(**{"x": [1.0, 0.0], "mean": [0.0, 0.0], "cov": COV, **changed})


def whole(**changed: Any) -> Any:
    return numeric.state_posterior(**{**MIXTURE, "state": [0.5], **changed})


def mixed(**changed: Any) -> Any:
    given = {**MIXTURE, "means": [[[0.0]], [[1.0]]], "mixing": [[1.0]], "mixtures": [[0.5]]}
    return numeric.fixed_row_posterior(**{**given, **changed})


def noise(**changed: Any) -> Any:
    given = {"responsibilities": [0.5, 0.5], "means": [[0.0], [1.0]], "token": [0.5], "t": 0.5}
    return numeric.noise_mean(**{**given, **changed})


def heads(**changed: Any) -> Any:
    return numeric.measurement_matrix(**{**HEADS, **changed})


def values(**changed: Any) -> Any:
    given = {**ROW, "mu": [[1.0, 0.0]], "V": np.ones((1, 1, 2)), "t": 0.5, **changed}
    return numeric.value_law(**given)


def system(**changed: Any) -> Any:
    return numeric.fibre_system(**{**ROW, **changed})


def observed(**changed: Any) -> Any:
    return numeric.fibre_posterior(**{**FIBRE, **changed})


def left_open(**changed: Any) -> Any:
    given = {"means": [[[0.0]], [[1.0]]], "F": [[1.0]], "t": 0.5, **changed}
    return numeric.unresolved_contrasts(**given)


def bound(**changed: Any) -> Any:
    return numeric.stability_bound(**{**BOUND, **changed})


CLOUD = {"queries": [[0.0, 0.0]], "particles": [[0.0, 1.0], [1.0, 0.0]], "beta": 1.0}


def weights(**changed: Any) -> Any:
    return numeric.kernel_weights(**{**CLOUD, **changed})


def energy(**changed: Any) -> Any:
    return numeric.kernel_energy(**{**CLOUD, **changed})


def step(**changed: Any) -> Any:
    return numeric.attention_step(**{**CLOUD, "eta": 0.5, **changed})


def descent(**changed: Any) -> Any:
    return numeric.descent_step(**{**CLOUD, **changed})


def prior(**changed: Any) -> Any:
    given = {"weights": [0.5, 0.5], "means": [[0.0], [1.0]], "covs": np.ones((2, 1, 1)), **changed}
    return numeric.gaussian_mixture(**given)


def posterior(**changed: Any) -> Any:
    return numeric.mixture_posterior(**{"mixture": prior(), "y": [0.5], "sigma2": 1.0, **changed})


def atoms(**changed: Any) -> Any:
    given = {"y": [[0.5]], "atoms": [[0.0], [1.0]], "sigma2": 1.0, **changed}
    return numeric.empirical_posterior(**given)


CASES: list[tuple[Callable[..., Any], dict[str, Any], type[NumericError], str]] = [
    # covariances that are none
    (condition, {"cov": [[2.0, 0.5], [0.4, 1.0]]}, NotSymmetricError, "cov"),
    (condition, {"cov": [[1.0, 2.0], [2.0, 1.0]]}, NotPositiveSemidefiniteError, "cov"),
    (condition, {"cov": [[-1.0, 0.0], [0.0, 1.0]]}, NotPositiveSemidefiniteError, "cov"),
    (flow, {"cov": [[1.0, 2.0], [2.0, 1.0]]}, NotPositiveSemidefiniteError, "cov"),
    (flow, {"cov": [[1.0, 2.0], [0.0, 1.0]]}, NotSymmetricError, "cov"),
    (terminal, {"clean_cov": -np.eye(2)}, NotPositiveSemidefiniteError, "clean_cov"),
    # mismatched shapes
    (condition, {"mean": [0.0, 0.0, 0.0]}, ShapeError, "cov"),
    (condition, {"cov": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]}, ShapeError, "cov"),
    (condition, {"cov": [1.0, 2.0]}, ShapeError, "cov"),
    (condition, {"mean": 0.0}, ShapeError, "mean"),
    (condition, {"value": [1.0, 2.0]}, ShapeError, "value"),
    (condition, {"mean": np.zeros((3, 2)), "value": np.zeros((4, 1))}, ShapeError, "mean"),
    (condition, {"mean": [[0.0, 1.0], [0.0]]}, ShapeError, "mean"),
    (condition, {"observed": [[1]]}, ShapeError, "observed"),
    (token, {"mu": [0.0]}, ShapeError, "mu"),
    (token, {"c": [0.0, 1.0, 2.0]}, ShapeError, "c"),
    (token, {"log_ratios": [0.0, 0.0]}, ShapeError, "log_ratios"),
    (token, {"M": [1.0, 2.0]}, ShapeError, "M"),
    (flow, {"time": np.zeros(3), "beta": np.zeros(4)}, ShapeError, "cov"),
    (eigenvalue, {"lambda0": np.ones(2), "time": np.ones(3)}, ShapeError, "lambda0"),
    (numeric.softmax_row, {"logits": []}, ShapeError, "logits"),
    (numeric.softmax_row, {"logits": 1.0}, ShapeError, "logits"),
    (finite, {"labels_Z": [0]}, ShapeError, "labels_Z"),
    (finite, {"labels_T": 0}, ShapeError, "labels_T"),
    (finite, {"prediction": [[0.0, 0.0]] * 2}, ShapeError, "prediction"),
    (finite, {"masses": [1.0]}, ShapeError, "masses"),
    (finite, {"basis": [[1.0], [0.0]]}, ShapeError, "basis"),
    (samples, {"m_T": [[1.0], [1.0]]}, ShapeError, "m_T"),
    (samples, {"target": np.zeros((0, 1))}, ShapeError, "target"),
    (density, {"x": [1.0]}, ShapeError, "mean"),
    (density, {"cov": [[1.0]]}, ShapeError, "cov"),
    (whole, {"state": [0.0, 1.0]}, ShapeError, "state"),
    (whole, {"prior": [1.0]}, ShapeError, "means"),
    (mixed, {"mixing": [[1.0, 0.0]]}, ShapeError, "mixing"),
    (mixed, {"mixtures": [[0.5], [0.5]]}, ShapeError, "mixtures"),
    (noise, {"token": [0.5, 0.5]}, ShapeError, "token"),
    (heads, {"K": np.ones((2, 2, 2))}, ShapeError, "K"),
    (heads, {"query_bias": [[0.0]]}, ShapeError, "query_bias"),
    (values, {"mu": [[1.0]]}, ShapeError, "c"),
    (system, {"values": [[1.0]]}, ShapeError, "values"),
    (system, {"token_maps": np.ones((3, 1, 2))}, ShapeError, "token_maps"),
    (observed, {"means": np.zeros((2, 2, 1))}, ShapeError, "means"),
    (left_open, {"F": [[1.0, 2.0]]}, ShapeError, "means"),
    # not finite
    (density, {"x": [NAN, 0.0]}, NonFiniteError, "x"),
    (whole, {"t": NAN}, NonFiniteError, "t"),
    (heads, {"Q": np.full((1, 2, 2), INF)}, NonFiniteError, "Q"),
    (bound, {"delta": NAN}, NonFiniteError, "delta"),
    (condition, {"mean": [0.0, NAN]}, NonFiniteError, "mean"),
    (condition, {"cov": [[INF, 0.0], [0.0, 1.0]]}, NonFiniteError, "cov"),
    (condition, {"value": [NAN]}, NonFiniteError, "value"),
    (token, {"log_ratios": [-INF]}, NonFiniteError, "log_ratios"),
    (flow, {"time": INF}, NonFiniteError, "time"),
    (denoise, {"s": NAN}, NonFiniteError, "s"),
    (numeric.softmax_row, {"logits": [0.0, INF]}, NonFiniteError, "logits"),
    (numeric.log_ratios, {"logits": [0.0, NAN], "anchor": 0}, NonFiniteError, "logits"),
    (finite, {"target": [[NAN], [0.0]]}, NonFiniteError, "target"),
    (finite, {"labels_Z": [0.0, NAN]}, NonFiniteError, "labels_Z"),
    # outside the domain
    (density, {"rank_tol": 2.0}, DomainError, "rank_tol"),
    (whole, {"t": 0.0}, DomainError, "t"),
    (whole, {"t": 1e-170}, DomainError, "t"),
    (whole, {"t": 1.1}, DomainError, "t"),
    (whole, {"prior": [0.5, 0.6]}, DomainError, "prior"),
    (whole, {"prior": [0.0, 1.0]}, DomainError, "prior"),
    (mixed, {"prior": [0.0, 1.0]}, DomainError, "prior"),
    (noise, {"responsibilities": [-0.5, 1.5]}, DomainError, "responsibilities"),
    (noise, {"responsibilities": [0.5, 0.6]}, DomainError, "responsibilities"),
    (heads, {"key_sizes": [0.0]}, DomainError, "key_sizes"),
    (values, {"t": 2.0}, DomainError, "t"),
    (system, {"anchor": 2}, DomainError, "anchor"),
    (observed, {"t": 0.0}, DomainError, "t"),
    (left_open, {"t": 0.0}, DomainError, "t"),
    (bound, {"delta": 0.03}, DomainError, "delta"),
    (bound, {"delta": -0.1}, DomainError, "delta"),
    (bound, {"tau_margin": 0.0}, DomainError, "tau_margin"),
    (bound, {"sigma_min": 0.0}, DomainError, "sigma_min"),
    (bound, {"contrast": -1.0}, DomainError, "contrast"),
    (bound, {"spread": -1.0}, DomainError, "spread"),
    (bound, {"n_heads": 1.5}, DomainError, "n_heads"),
    (bound, {"n_tokens": 0}, DomainError, "n_tokens"),
    (token, {"t": 0.0}, DomainError, "t"),
    (token, {"t": 1.5}, DomainError, "t"),
    (token, {"t": -0.5}, DomainError, "t"),
    (condition, {"rank_tol": 1.0}, DomainError, "rank_tol"),
    (condition, {"rank_tol": -1e-3}, DomainError, "rank_tol"),
    (condition, {"rank_tol": NAN}, DomainError, "rank_tol"),
    (condition, {"observed": [2]}, DomainError, "observed"),
    (condition, {"observed": [1, -1], "value": [0.0, 0.0]}, DomainError, "observed"),
    (condition, {"form": "cholesky"}, DomainError, "form"),
    (flow, {"beta": -1.0}, DomainError, "beta"),
    (flow, {"time": -0.1}, DomainError, "time"),
    (flow, {"clock": "wall"}, DomainError, "clock"),
    (eigenvalue, {"lambda0": -1e-9}, DomainError, "lambda0"),
    (denoise, {"beta": 0.0}, DomainError, "beta"),
    (denoise, {"sigma2": -0.1}, DomainError, "sigma2"),
    (denoise, {"s": -0.1}, DomainError, "s"),
    (denoise, {"clock": None}, DomainError, "clock"),
    (terminal, {"sigma2": -0.1}, DomainError, "sigma2"),
    (terminal, {"beta": -0.1}, DomainError, "beta"),
    (numeric.log_ratios, {"logits": [0.0, 1.0], "anchor": 2}, DomainError, "anchor"),
    (numeric.row_from_log_ratios, {"log_ratios": [0.0], "anchor": -3}, DomainError, "anchor"),
    (numeric.log_ratios_of_row, {"row": [0.0, 1.0], "anchor": 0}, DomainError, "row"),
    (numeric.log_ratio_jacobian, {"row": [0.5, 0.6], "anchor": 0}, DomainError, "row"),
    (numeric.log_ratio_jacobian, {"row": [1e-310, 1.0], "anchor": 0}, DomainError, "row"),
    (finite, {"masses": [0.5, 0.6]}, DomainError, "masses"),
    (finite, {"masses": [-0.5, 1.5]}, DomainError, "masses"),
    (samples, {"weights": [0.5]}, DomainError, "weights"),
    # not real numbers
    (condition, {"mean": ["a", "b"]}, DtypeError, "mean"),
    (condition, {"mean": [1j, 0.0]}, DtypeError, "mean"),
    (condition, {"mean": [Fraction(1, 3), Fraction(1)]}, DtypeError, "mean"),
    (condition, {"observed": [True, False], "value": [0.0, 0.0]}, DtypeError, "observed"),
    (condition, {"observed": [0.5]}, DtypeError, "observed"),
    (numeric.log_ratios, {"logits": [0.0, 1.0], "anchor": 0.5}, DtypeError, "anchor"),
    (numeric.softmax_row, {"logits": None}, DtypeError, "logits"),
    (weights, {"queries": [0.0]}, ShapeError, "queries"),
    (weights, {"queries": [[0.0, 1.0, 2.0]]}, ShapeError, "queries"),
    (weights, {"particles": np.zeros((0, 2))}, ShapeError, "particles"),
    (weights, {"particles": [[NAN, 0.0]]}, NonFiniteError, "particles"),
    (weights, {"beta": -1.0}, DomainError, "beta"),
    (weights, {"beta": np.ones(3), "queries": np.zeros((2, 1, 2))}, ShapeError, "queries"),
    (weights, {"log_weights": [0.0]}, ShapeError, "log_weights"),
    (weights, {"log_weights": [-INF, -INF]}, DomainError, "log_weights"),
    (weights, {"log_weights": [0.0, INF]}, DomainError, "log_weights"),
    (weights, {"queries": [[1e160, 0.0]]}, DomainError, "queries"),
    (weights, {"beta": 1e300, "queries": [[1e9, 0.0]]}, DomainError, "beta"),
    (energy, {"beta": 0.0}, DomainError, "beta"),
    (step, {"eta": 1.5}, DomainError, "eta"),
    (step, {"eta": -0.1}, DomainError, "eta"),
    (descent, {"step": 0.0}, DomainError, "step"),
    (descent, {"step": 2.0}, DomainError, "step"),
    (prior, {"weights": [0.5, 0.6]}, DomainError, "weights"),
    (prior, {"weights": [1.5, -0.5]}, DomainError, "weights"),
    (prior, {"weights": [1.0]}, ShapeError, "weights"),
    (prior, {"covs": np.eye(2)}, ShapeError, "covs"),
    (prior, {"covs": -np.ones((2, 1, 1))}, NotPositiveSemidefiniteError, "covs"),
    (prior, {"means": np.zeros((2, 3))}, ShapeError, "covs"),
    (posterior, {"sigma2": 0.0}, DomainError, "sigma2"),
    (posterior, {"y": [0.0, 1.0]}, ShapeError, "y"),
    (numeric.responsibilities, {"log_weights": [0.0, -INF], "log_likelihoods": [-INF, 0.0]},
     DomainError, "log_likelihoods"),
    (numeric.log_evidence, {"log_weights": [0.0], "log_likelihoods": [0.0, 1.0]}, ShapeError,
     "log_likelihoods"),
    (numeric.tweedie_mean, {"y": [0.0], "sigma2": -1.0, "score": [0.0]}, DomainError, "sigma2"),
    (numeric.tweedie_mean, {"y": [0.0], "sigma2": 1.0, "score": [0.0, 1.0]}, ShapeError, "score"),
    (numeric.tweedie_cov, {"sigma2": 1.0, "hessian": [[0.0, 1.0]]}, ShapeError, "hessian"),
    (atoms, {"sigma2": 0.0}, DomainError, "sigma2"),
    (atoms, {"sigma2": 1e-320}, DomainError, "sigma2"),
    (numeric.pair_posterior_mean, {"y": [0.0], "mu": [1.0], "v": -1.0, "sigma2": 1.0},
     DomainError, "v"),
    (numeric.pair_mmse, {"mu": [1.0], "v": 0.0, "sigma2": 0.0}, DomainError, "sigma2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "arguments", "error", "named"),
    CASES,
    ids=[f"{c[0].__name__}-{c[3]}-{n}" for n, c in enumerate(CASES)],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_input_is_a_typed_error_that_names_the_argument(call, arguments, error, named):
    with pytest.raises(error) as caught:
        call(**arguments)
    assert type(caught.value) is error
    assert caught.value.argument == named
    assert str(caught.value).startswith(f"{named}: expected {caught.value.expected}, got ")
    assert caught.value.got
    assert isinstance(caught.value, NumericError)
    assert isinstance(caught.value, ValueError)


def test_good_input_passes_the_same_doors():
    calls = (condition, token, flow, eigenvalue, denoise, terminal, finite, samples)
    calls += (density, whole, mixed, noise, heads, values, system, observed, left_open, bound)
    calls += (weights, energy, step, descent, prior, posterior, atoms)
    for call in calls:
        call()


def test_integers_and_booleans_are_numbers():
    mean, cov = numeric.condition([0, 0], [[2, 1], [1, 1]], [1], [3])
    assert mean.dtype == cov.dtype == np.float64
    assert mean.tolist() == [3.0]
    assert numeric.softmax_row([True, True]).tolist() == [0.5, 0.5]


def test_float16_becomes_float32_and_long_double_float64():
    assert numeric.softmax_row(np.zeros(2, dtype=np.float16)).dtype == np.float32
    assert numeric.softmax_row(np.zeros(2, dtype=np.longdouble)).dtype == np.float64


def test_rounding_is_no_reason_to_refuse_a_covariance():
    rng = np.random.default_rng(8)
    for dtype in (np.float64, np.float32):
        factor = rng.normal(size=(50, 6, 3)).astype(dtype)
        singular = factor @ np.swapaxes(factor, -1, -2)
        numeric.covariance_flow(singular, 0.1, 1.0, clock="main")
        numeric.covariance_flow(singular + np.finfo(dtype).eps, 0.1, 1.0, clock="main")


def test_a_mask_is_told_to_become_indices():
    with pytest.raises(DtypeError, match="flatnonzero"):
        condition(observed=[True, False], value=[0.0, 0.0])


def test_arguments_are_not_changed_by_their_checks():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    before = cov.copy()
    condition(cov=cov)
    flow(cov=cov)
    np.testing.assert_array_equal(cov, before)
