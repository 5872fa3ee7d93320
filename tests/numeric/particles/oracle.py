"""Kernel sums by the definition, in long double, and clouds that are hard on a fast method."""

from __future__ import annotations

import numpy as np

Floats = np.ndarray


def exact_sums(
    queries: Floats, particles: Floats, beta: float, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Log normalizers, means and shifts, with exponents relative to the largest."""
    q, z, w = (np.asarray(x).astype(np.longdouble) for x in (queries, particles, weights))
    logs, means, shifts = [], [], []
    with np.errstate(divide="ignore"):
        log_weights = np.log(w)
    for x in q:
        away = z - x
        exponents = log_weights - np.longdouble(beta) / 2 * (away**2).sum(axis=1)
        top = exponents.max()
        shares = np.exp(exponents - top)
        logs.append(top + np.log(shares.sum()))
        shifts.append(shares @ away / shares.sum())
        nearest = z[exponents.argmax()]  # near its mean a cloud far from 0 keeps its digits
        means.append(nearest + shares @ (z - nearest) / shares.sum())
    return np.array(logs), np.array(means), np.array(shifts)


def clouds(d: int, seed: int = 7) -> dict[str, Floats]:
    """Clouds of a few hundred particles by what is hard about them."""
    rng = np.random.default_rng(seed)

    def normal(n: int) -> Floats:
        return rng.normal(size=(n, d))

    outliers = normal(300)
    outliers[:3] = 1e6 * normal(3)
    outliers[3] = outliers[4] + 4.9  # near enough to count, far enough to count little
    return {
        "one": normal(1),
        "two": normal(2),
        "normal": normal(400),
        "duplicates": np.repeat(normal(20), 20, axis=0),
        "all alike": np.full((300, d), 0.7),
        "outliers": outliers,
        "heavy tails": rng.standard_cauchy(size=(400, d)),
        "clusters": np.concatenate([1e-3 * normal(150), 30 + 1e-9 * normal(150)]),
        "far from 0": 1e8 + normal(300),
        "tight and far apart": np.concatenate([normal(200), 1e8 + 0.1 * normal(200)]),
        "dense and alone": np.concatenate([0.05 * normal(600), np.full((1, d), 1.3)]),
        "a line": normal(300) * (np.arange(d) == 0),
        "on the boxes' edges": np.round(4 * normal(300)) / 4,
    }
