"""Cases of Gaussian conditioning."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mpf

from benchmarks.cases.case import Arguments, Case, Generator, Instance, Scale
from benchmarks.cases.exact import conditioned, exact

Array = np.ndarray

UNOBSERVED, OBSERVED = 3, 3
HEADS, WIDTH = 2, 4
SIZES = {"u": UNOBSERVED, "k": OBSERVED, "H": HEADS, "d": WIDTH}


# ---------------------------------------------------------------- instances


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


def head_maps(kind: str) -> Generator:
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


def seen_token(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        head_map = head_maps(kind)(rng, count)["M"]
        # Small integers keep the log-ratios of a singular map exact.
        query, token = rng.integers(-2, 3, (2, count, WIDTH)).astype(float)
        ratios = (head_map @ (token - query)[..., None])[..., 0]
        mean = rng.integers(-2, 3, (count, WIDTH)).astype(float)
        return {"mu": mean, "c": query, "log_ratios": ratios, "M": head_map}

    return drawn


# ---------------------------------------------------------------- references


def gaussian(instance: Instance) -> list[Any]:
    names = ("mean_u", "mean_o", "cov_uu", "cov_uo", "cov_oo", "value")
    return conditioned(*(exact(instance[name]) for name in names))


def _token(instance: Instance, t: Fraction) -> list[Any]:
    """A token with covariance t^2 I, seen through M: plain Gaussian conditioning."""
    head_map = exact(instance["M"])
    width = len(head_map[0])
    prior = [[t**2 * (i == j) for j in range(width)] for i in range(width)]
    cross = [[t**2 * line[i] for line in head_map] for i in range(width)]
    observed = [
        [t**2 * sum(a * b for a, b in zip(left, right, strict=True)) for right in head_map]
        for left in head_map
    ]
    zero = [Fraction(0)]
    mu, query = (
        exact(instance[name]) if name in instance else zero * width for name in ("mu", "c")
    )
    ratios = exact(instance["log_ratios"]) if "log_ratios" in instance else zero * len(head_map)
    shown = [
        ratio + sum(a * b for a, b in zip(line, query, strict=True))
        for ratio, line in zip(ratios, head_map, strict=True)
    ]
    expected = [
        sum((a * b for a, b in zip(line, mu, strict=True)), Fraction(0)) for line in head_map
    ]
    return conditioned(mu, expected, prior, cross, observed, shown)


def residual_cov(instance: Instance) -> list[Any]:
    return [_token(instance, Fraction(float(instance["t"])))[1]]


def token_mean(instance: Instance) -> list[Any]:
    return [_token(instance, Fraction(1))[0]]


# ---------------------------------------------------------------- by hand


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


def residual_cov_by_hand(t: Array, M: Array) -> Array:
    return t[..., None, None] ** 2 * (np.eye(M.shape[-1]) - np.linalg.pinv(M) @ M)


def token_mean_by_hand(mu: Array, c: Array, log_ratios: Array, M: Array) -> Array:
    surprise = log_ratios[..., None] + M @ (c - mu)[..., None]
    return mu + (np.linalg.pinv(M) @ surprise)[..., 0]


def _variance(instance: Instance, _: list[Any]) -> list[Any]:
    return [mpf(float(instance["t"])) ** 2]


def _prior(instance: Instance, _: list[Any]) -> list[Any]:
    """The size of the prior's mean and deviations, and how far off the value is in these."""
    variance = float(np.abs(instance["cov_uu"]).max())
    deviations = np.sqrt(np.diagonal(instance["cov_oo"]))
    drawn = np.abs(instance["value"] - instance["mean_o"])
    surprise = float(np.max(drawn / np.where(deviations > 0, deviations, 1)))
    spread = float(np.abs(instance["mean_u"]).max()) + np.sqrt(variance) * (1 + surprise)
    return [mpf(spread), mpf(variance)]


def _mean(_: Instance, expected: list[Any]) -> list[Any]:
    return [max(abs(mpf(entry.numerator) / entry.denominator) for entry in expected[0]) + 1]


def _case(
    make: Callable[[str], Generator],
    kinds: tuple[str, ...],
    of_instance: Callable[[Instance], list[Any]],
    by_hand: Callable[..., Any],
    scales: dict[str, Scale],
    written: str = "singular",
) -> Case:
    return Case(
        {kind: make(kind) for kind in kinds},
        of_instance,
        by_hand,
        exact=True,
        sizes=SIZES,
        rational="singular",
        written=written,
        scales=scales,
        count=40,
    )


CASES = {
    "gaussian_pinv": _case(
        _gaussian,
        ("typical", "singular", "ill-conditioned", "tiny"),
        gaussian,
        gaussian_pinv,
        {"the prior": _prior},
    ),
    "gaussian_elimination": _case(
        _gaussian,
        ("typical", "graded", "ill-conditioned", "singular"),
        gaussian,
        gaussian_elimination,
        {"the prior": _prior},
        written="graded",  # it is derived for a regular block
    ),
    "residual_cov": _case(
        head_maps,
        ("typical", "ill-conditioned", "singular", "scaled"),
        residual_cov,
        residual_cov_by_hand,
        {"t^2": _variance},
    ),
    "token_mean": _case(
        seen_token,
        ("typical", "ill-conditioned", "singular"),
        token_mean,
        token_mean_by_hand,
        {"the mean": _mean},
    ),
}
