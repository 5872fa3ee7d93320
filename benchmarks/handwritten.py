"""What one would write by hand in NumPy: the bar for speed, and a comparison for the errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import wrightomega

Array = np.ndarray


def _flowed(beta: Array, lambda0: Array, scaled: Array, exponent: Array) -> Array:
    """W(scaled exp(exponent))/beta with the limit branch that keeps it finite at beta = 0."""
    y = np.where(scaled > 0, wrightomega(exponent + np.log(np.where(scaled > 0, scaled, 1))), 0)
    small = y < 1
    return np.where(small, lambda0 * np.exp(exponent - y), y / np.where(small, 1, beta))


def eigenvalue_appendix_clock(beta: Array, lambda0: Array, theta: Array) -> Array:
    scaled = beta * lambda0
    return _flowed(beta, lambda0, scaled, scaled - 2 * theta)


def eigenvalue_main_clock(beta: Array, lambda0: Array, time: Array) -> Array:
    return _flowed(beta, lambda0, beta * lambda0, beta * (lambda0 - 2 * time))


def terminal_eigenvalue(beta: Array, s: Array, sigma2: Array) -> Array:
    return _flowed(beta, s + sigma2, beta * (s + sigma2), beta * s)


def denoising_time_appendix_clock(beta: Array, s: Array, sigma2: Array) -> Array:
    return beta * sigma2 / 2 + np.log1p(sigma2 / s) / 2


def denoising_time_main_clock(beta: Array, s: Array, sigma2: Array) -> Array:
    return sigma2 / 2 + np.log1p(sigma2 / s) / (2 * beta)


def row(logits: Array) -> Array:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def log_ratios(logits: Array, anchor: int) -> Array:
    return np.delete(logits - logits[..., anchor, None], anchor, axis=-1)


def log_ratios_of_row(row: Array, anchor: int) -> Array:
    return np.delete(np.log(row) - np.log(row[..., anchor, None]), anchor, axis=-1)


def row_from_log_ratios(log_ratios: Array, anchor: int) -> Array:
    return row(np.insert(log_ratios, anchor, 0, axis=-1))


def jacobian(row: Array, anchor: int) -> Array:
    others = np.delete(row, anchor, axis=-1)
    return np.eye(others.shape[-1]) / others[..., None] + 1 / row[..., anchor, None, None]


def log_det_jacobian(logits: Array) -> Array:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return logits.shape[-1] * np.log(np.exp(shifted).sum(axis=-1)) - shifted.sum(axis=-1)


def softmax_jacobian(logits: Array) -> Array:
    s = row(logits)
    result = -s[..., :, None] * s[..., None, :]
    places = np.arange(s.shape[-1])
    result[..., places, places] = s * (1 - s)
    return result


def gaussian_elimination(
    mean_u: Array, mean_o: Array, cov_uu: Array, cov_uo: Array, cov_oo: Array, value: Array
) -> tuple[Array, Array]:
    cov_ou = np.swapaxes(cov_uo, -1, -2)
    right = np.concatenate([cov_ou, (value - mean_o)[..., None]], axis=-1)
    solved = np.linalg.solve(cov_oo, right)
    return mean_u + (cov_uo @ solved[..., -1:])[..., 0], cov_uu - cov_uo @ solved[..., :-1]


def gaussian_pinv(
    mean_u: Array, mean_o: Array, cov_uu: Array, cov_uo: Array, cov_oo: Array, value: Array
) -> tuple[Array, Array]:
    gain = cov_uo @ np.linalg.pinv(cov_oo, hermitian=True)
    mean = mean_u + (gain @ (value - mean_o)[..., None])[..., 0]
    return mean, cov_uu - gain @ np.swapaxes(cov_uo, -1, -2)


def residual_cov(t: Array, M: Array) -> Array:
    return t[..., None, None] ** 2 * (np.eye(M.shape[-1]) - np.linalg.pinv(M) @ M)


def token_mean(mu: Array, c: Array, log_ratios: Array, M: Array) -> Array:
    surprise = log_ratios[..., None] + M @ (c - mu)[..., None]
    return mu + (np.linalg.pinv(M) @ surprise)[..., 0]


def four_terms(
    masses: Array, target: Array, m_Z: Array, m_T: Array, projector: Array, prediction: Array
) -> tuple[Array, ...]:
    reached = m_T @ projector
    pairs = ((target, m_Z), (m_Z, m_T), (m_T, reached), (reached, prediction))
    return tuple((masses * ((a - b) ** 2).sum(axis=-1)).sum(axis=-1) for a, b in pairs)


def four_terms_finite(
    masses: Array,
    target: Array,
    labels_Z: Array,
    labels_T: Array,
    projector: Array,
    prediction: Array,
) -> tuple[Array, ...]:
    def average(labels: Array) -> Array:
        weights = (labels[..., :, None] == labels[..., None, :]) * masses[..., None, :]
        return weights @ target / weights.sum(axis=-1)[..., None]

    return four_terms(masses, target, average(labels_Z), average(labels_T), projector, prediction)


def function(name: str) -> Any:
    """The hand-written function for a kernel's name."""
    return globals()[name.partition(".")[2]]
