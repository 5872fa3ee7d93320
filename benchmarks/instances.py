"""Instances of every kernel by regime: what its error table is measured on.

A generator returns keyword arguments with one leading batch axis of `count` instances. Static
arguments are plain integers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = dict[str, Any]
Generator = Callable[[np.random.Generator, int], Arguments]

TOKENS, ANCHOR = 6, 2
UNOBSERVED, OBSERVED = 3, 3
HEADS, WIDTH = 2, 4


def _log_uniform(rng: np.random.Generator, low: float, high: float, count: int) -> np.ndarray:
    with np.errstate(under="ignore"):
        return 10 ** rng.uniform(low, high, count)


# ---------------------------------------------------------------- flow


def _flow_typical(rng: np.random.Generator, count: int) -> Arguments:
    lambda0 = _log_uniform(rng, -1.5, 1.5, count)
    scaled = _log_uniform(rng, -3, 3, count)
    return {
        "beta": scaled / lambda0,
        "lambda0": lambda0,
        "theta": rng.uniform(0, 1, count) * scaled,
    }


def _flow_tiny(rng: np.random.Generator, count: int) -> Arguments:
    exponent = rng.uniform(-320, -3, count)
    share = rng.uniform(0.3, 0.7, count)
    return {
        "beta": 10 ** (exponent * share),
        "lambda0": 10 ** (exponent * (1 - share)),
        "theta": rng.uniform(0, 3, count),
    }


def _flow_huge(rng: np.random.Generator, count: int) -> Arguments:
    lambda0 = _log_uniform(rng, -1, 3, count)
    scaled = _log_uniform(rng, 3, 6, count)
    return {
        "beta": scaled / lambda0,
        "lambda0": lambda0,
        "theta": rng.uniform(0, 0.45, count) * scaled,
    }


def _flow_cancelling(rng: np.random.Generator, count: int) -> Arguments:
    lambda0 = _log_uniform(rng, -1, 3, count)
    scaled = _log_uniform(rng, 0, 6, count)
    return {
        "beta": scaled / lambda0,
        "lambda0": lambda0,
        "theta": np.maximum(scaled + rng.uniform(-30, 30, count), 0) / 2,
    }


def _flow_limits(rng: np.random.Generator, count: int) -> Arguments:
    off = rng.integers(0, 3, count)
    return {
        "beta": np.where(off == 0, 0, _log_uniform(rng, -2, 2, count)),
        "lambda0": np.where(off == 1, 0, _log_uniform(rng, -2, 2, count)),
        "theta": np.where(off == 2, 0, rng.uniform(0, 5, count)),
    }


def _on_main_clock(generator: Generator) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        arguments = generator(rng, count)
        theta, beta = arguments.pop("theta"), arguments["beta"]
        return {**arguments, "time": theta / np.where(beta > 0, beta, 1)}

    return drawn


def _flow(clock: Callable[[Generator], Generator]) -> dict[str, Generator]:
    return {
        "typical": clock(_flow_typical),
        "tiny": clock(_flow_tiny_times) if clock is _on_main_clock else _flow_tiny,
        "huge": clock(_flow_huge),
        "cancelling": clock(_flow_cancelling),
        "limits": clock(_flow_limits),
    }


def _flow_tiny_times(rng: np.random.Generator, count: int) -> Arguments:
    arguments = _flow_tiny(rng, count)
    return {**arguments, "theta": arguments["theta"] * arguments["beta"]}


def _times(s: tuple[float, float], ratio: tuple[float, float]) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        base = _log_uniform(rng, *s, count)
        with np.errstate(over="ignore", under="ignore"):
            sigma2 = np.clip(base * _log_uniform(rng, *ratio, count), 1e-305, 1e5)
        return {"beta": _log_uniform(rng, -3, 3, count), "s": base, "sigma2": sigma2}

    return drawn


def _time_limits(rng: np.random.Generator, count: int) -> Arguments:
    return {
        "beta": _log_uniform(rng, -3, 3, count),
        "s": np.where(rng.integers(0, 2, count) == 0, 0, _log_uniform(rng, -2, 2, count)),
        "sigma2": np.where(rng.integers(0, 2, count) == 0, 0, _log_uniform(rng, -2, 2, count)),
    }


_TIMES = {
    "typical": _times((-3, 3), (-3, 3)),
    "near": _times((-1, 1), (-300, -3)),
    "far": _times((-320, -3), (3, 320)),
    "limits": _time_limits,
}


def _terminal(low: float, high: float) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        s = _log_uniform(rng, -2, 2, count)
        return {
            "beta": _log_uniform(rng, low, high, count) / s,
            "s": s,
            "sigma2": _log_uniform(rng, -2, 2, count),
        }

    return drawn


def _terminal_tiny(rng: np.random.Generator, count: int) -> Arguments:
    arguments = _flow_tiny(rng, count)
    part = rng.uniform(0, 1, count)
    return {
        "beta": arguments["beta"],
        "s": arguments["lambda0"] * part,
        "sigma2": arguments["lambda0"] * (1 - part),
    }


def _terminal_limits(rng: np.random.Generator, count: int) -> Arguments:
    off = rng.integers(0, 3, count)
    return {
        name: np.where(off == which, 0, _log_uniform(rng, -2, 2, count))
        for which, name in enumerate(("beta", "s", "sigma2"))
    }


# ---------------------------------------------------------------- logratio


def _logits(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        logits = 3 * rng.normal(size=(count, TOKENS))
        if kind == "saturated":
            logits[np.arange(count), rng.integers(0, TOKENS, count)] += 40
        elif kind == "huge":
            logits += rng.choice([-800.0, 800.0, 300.0], size=(count, TOKENS))
        return {"logits": logits}

    return drawn


def _row(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        if kind == "near":
            row = np.full((count, TOKENS), 1 / TOKENS)
            row *= 1 + 1e-12 * rng.normal(size=(count, TOKENS))
        else:
            row = 10 ** rng.uniform(-300 if kind == "tiny" else -3, 0, (count, TOKENS))
            row[np.arange(count), rng.integers(0, TOKENS, count)] = 1.0
            row /= row.sum(axis=-1, keepdims=True)
        return {"row": row, "anchor": ANCHOR}

    return drawn


def _ratios(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        ratios = 3 * rng.normal(size=(count, TOKENS - 1))
        if kind == "saturated":
            places = rng.integers(0, TOKENS - 1, count)
            ratios[np.arange(count), places] += rng.choice([-40.0, 40.0], count)
        elif kind == "huge":
            ratios += rng.choice([-800.0, 800.0, 300.0], size=ratios.shape)
        return {"log_ratios": ratios, "anchor": ANCHOR}

    return drawn


def _with_anchor(generator: Generator) -> Generator:
    return lambda rng, count: {**generator(rng, count), "anchor": ANCHOR}


# ---------------------------------------------------------------- conditioning


def _split(mean: np.ndarray, cov: np.ndarray, value: np.ndarray) -> Arguments:
    k = value.shape[-1]
    return {
        "mean_u": mean[:, k:],
        "mean_o": mean[:, :k],
        "cov_uu": cov[:, k:, k:],
        "cov_uo": cov[:, k:, :k],
        "cov_oo": cov[:, :k, :k],
        "value": value,
    }


def _gaussian(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        n = UNOBSERVED + OBSERVED
        mean = rng.integers(-3, 4, (count, n)).astype(float)
        if kind == "singular":  # small integers: the covariance and the value are exact
            rank = rng.integers(1, 4, count)
            loadings = rng.integers(-3, 4, (count, n, 4)).astype(float)
            loadings[:, 1] = loadings[:, 0]  # a duplicate observation
            loadings *= np.arange(4) < rank[:, None, None]
            state = rng.integers(-2, 3, (count, 4)).astype(float)
            cov = loadings @ np.swapaxes(loadings, -1, -2)
            return _split(mean, cov, (mean + (loadings @ state[..., None])[..., 0])[:, :OBSERVED])
        basis = np.linalg.qr(rng.normal(size=(count, n, n)))[0]
        exponents = np.linspace(0, -14 if kind == "ill-conditioned" else -3, n)
        cov = (basis * 10**exponents) @ np.swapaxes(basis, -1, -2)
        cov = (cov + np.swapaxes(cov, -1, -2)) / 2
        if kind == "graded":
            scales = 10 ** rng.permuted(np.tile(np.linspace(0, -7, n), (count, 1)), axis=-1)
            cov = cov * scales[:, :, None] * scales[:, None, :]
        if kind == "tiny":
            cov, mean = cov * 1e-150, mean * 1e-75
        spread = np.sqrt(np.diagonal(cov, axis1=-2, axis2=-1))
        value = mean + spread * rng.normal(size=(count, n))
        return _split(mean, cov, value[:, :OBSERVED])

    return drawn


def _head_map(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        head_map = rng.normal(size=(count, HEADS, WIDTH))
        if kind == "singular":
            head_map = rng.integers(-3, 4, (count, HEADS, WIDTH)).astype(float)
            zero = rng.integers(0, 2, count) == 0
            head_map[:, 1] = np.where(zero[:, None], 0, 2 * head_map[:, 0])
        elif kind == "ill-conditioned":
            left = np.linalg.qr(rng.normal(size=(count, HEADS, HEADS)))[0]
            right = np.linalg.qr(rng.normal(size=(count, WIDTH, HEADS)))[0]
            head_map = (left * [1, 1e-12]) @ np.swapaxes(right, -1, -2)
        elif kind == "scaled":
            head_map *= rng.choice([1e-150, 1e150], size=(count, 1, 1))
        return {"t": rng.uniform(0.01, 1, count), "M": head_map}

    return drawn


def _token(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        head_map = _head_map(kind)(rng, count)["M"]
        # Small integers keep the log-ratios of a singular map exact.
        query, token = rng.integers(-2, 3, (2, count, WIDTH)).astype(float)
        ratios = (head_map @ (token - query)[..., None])[..., 0]
        mean = rng.integers(-2, 3, (count, WIDTH)).astype(float)
        return {"mu": mean, "c": query, "log_ratios": ratios, "M": head_map}

    return drawn


# ---------------------------------------------------------------- risk


def _probe(kind: str, *, finite: bool) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        points, width = (12, 3) if finite else (40, 3)
        shape = (count, points, width)
        masses = 10 ** rng.uniform(-3, 0, (count, points))
        if kind == "degenerate":
            masses[:, :2] = 0
        masses /= masses.sum(axis=-1, keepdims=True)
        direction = rng.integers(-3, 4, (count, width, 1)) + np.eye(width)[:, :1] * 8
        projector = direction @ np.swapaxes(direction, -1, -2)
        projector = projector / (direction**2).sum(axis=-2, keepdims=True)
        scale = 10.0 ** rng.choice([-100, 100]) if kind == "scaled" else 1.0
        shift = 1e6 if kind == "offset" else 0.0
        arguments = {
            "masses": masses,
            "target": scale * rng.normal(size=shape) + shift,
            "projector": projector,
            "prediction": scale * rng.normal(size=shape) + shift,
        }
        if not finite:
            means = scale * rng.normal(size=(2, *shape)) + shift
            return {**arguments, "m_Z": means[0], "m_T": means[1]}
        fine = rng.integers(0, 6, (count, points))
        if kind == "degenerate":
            fine[:] = np.arange(points) if rng.integers(0, 2) else 0
            fine[:, 0] = 99  # a block without mass
        return {**arguments, "labels_Z": fine, "labels_T": fine // 2}

    return drawn


INSTANCES: dict[str, dict[str, Generator]] = {
    "flow.eigenvalue_appendix_clock": _flow(lambda generator: generator),
    "flow.eigenvalue_main_clock": _flow(_on_main_clock),
    "flow.denoising_time_appendix_clock": _TIMES,
    "flow.denoising_time_main_clock": _TIMES,
    "flow.terminal_eigenvalue": {
        "typical": _terminal(-2, 2),
        "tiny": _terminal_tiny,
        "huge": _terminal(3, 6),
        "limits": _terminal_limits,
    },
    "logratio.row": {kind: _logits(kind) for kind in ("typical", "saturated", "huge")},
    "logratio.log_ratios": {kind: _with_anchor(_logits(kind)) for kind in ("typical", "huge")},
    "logratio.log_ratios_of_row": {kind: _row(kind) for kind in ("typical", "near", "tiny")},
    "logratio.row_from_log_ratios": {
        kind: _ratios(kind) for kind in ("typical", "saturated", "huge")
    },
    "logratio.jacobian": {kind: _row(kind) for kind in ("typical", "tiny")},
    "logratio.log_det_jacobian": {kind: _logits(kind) for kind in ("typical", "saturated", "huge")},
    "logratio.softmax_jacobian": {kind: _logits(kind) for kind in ("typical", "saturated", "huge")},
    "conditioning.gaussian_pinv": {
        kind: _gaussian(kind) for kind in ("typical", "singular", "ill-conditioned", "tiny")
    },
    "conditioning.gaussian_elimination": {
        kind: _gaussian(kind) for kind in ("typical", "graded", "ill-conditioned", "singular")
    },
    "conditioning.residual_cov": {
        kind: _head_map(kind) for kind in ("typical", "ill-conditioned", "singular", "scaled")
    },
    "conditioning.token_mean": {
        kind: _token(kind) for kind in ("typical", "ill-conditioned", "singular")
    },
    "risk.four_terms": {
        kind: _probe(kind, finite=False) for kind in ("typical", "offset", "scaled")
    },
    "risk.four_terms_finite": {
        kind: _probe(kind, finite=True) for kind in ("typical", "offset", "degenerate")
    },
}
