"""Cases of Gaussian mixtures seen through Gaussian noise."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from benchmarks.cases.case import Arguments, Case, Generator, Instance, Scale, log_uniform
from benchmarks.cases.digits import mp, mp_vector
from benchmarks.cases.exact import conditioned, exact, solve
from benchmarks.cases.logratio import row_by_hand

Array = np.ndarray

COMPONENTS, WIDTH = 3, 4
SIZES = {"K": COMPONENTS, "d": WIDTH}


# ---------------------------------------------------------------- instances


def _logits(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        log_weights = np.log(rng.dirichlet(np.ones(COMPONENTS), count))
        likelihoods = 3 * rng.normal(size=(count, COMPONENTS))
        if kind == "saturated":
            likelihoods[np.arange(count), rng.integers(0, COMPONENTS, count)] += 40
        elif kind == "huge":
            likelihoods += rng.choice([-1e3, 1e3, 700.0], size=likelihoods.shape)
        elif kind == "limits":
            which = rng.integers(0, 3, count)
            lone = np.arange(COMPONENTS) != rng.integers(0, COMPONENTS, count)[:, None]
            log_weights[(which == 0)[:, None] & lone] = -np.inf
            log_weights[which == 1, 0] = -np.inf
            likelihoods[which == 2] = 0.5
        return {"log_weights": log_weights, "log_likelihoods": likelihoods}

    return drawn


def _basis(rng: np.random.Generator, count: int) -> np.ndarray:
    """Orthogonal to the last bit: a Hadamard matrix over 2, with signs and places exchanged."""
    plus = np.array([[1, 1], [1, -1]])
    hadamard = np.kron(plus, plus) / 2
    places = rng.permuted(np.tile(np.arange(WIDTH), (count, 1)), axis=-1)
    return rng.choice([-1.0, 1.0], size=(count, WIDTH, 1)) * hadamard[places]


def _component(kind: str, *, with_y: bool = True) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        eigenvalues = 10 ** rng.uniform(-2, 2, (count, WIDTH))
        sigma2 = log_uniform(rng, -2, 2, count)
        scale = 1.0
        if kind == "degenerate":
            eigenvalues *= rng.integers(0, 2, (count, WIDTH))
            eigenvalues[::3] = 0
        elif kind == "graded":
            eigenvalues = 10 ** rng.uniform(-14, 0, (count, WIDTH))
            sigma2 = log_uniform(rng, -12, 12, count)
        elif kind == "tiny":
            scale = 1e-75
        found = {
            "eigenvalues": eigenvalues * scale**2,
            "basis": _basis(rng, count),
            "sigma2": sigma2 * scale**2,
        }
        if not with_y:
            return found
        mu, y = scale * rng.normal(size=(2, count, WIDTH))
        return {"mu": mu, **found, "y": y}

    return drawn


def _mixed(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        # Sixty-fourths, so that their sum is 1 to the last bit.
        shares = rng.multinomial(64, [1 / COMPONENTS] * COMPONENTS, count) / 64
        means = rng.normal(size=(count, COMPONENTS, WIDTH))
        if kind == "offset":
            means += 1e6
        elif kind == "limits":
            which = rng.integers(0, 2, count)
            shares[which == 0] = np.eye(COMPONENTS)[0]
            means[which == 1] = means[which == 1, :1]
        return {"responsibilities": shares, "means": means}

    return drawn


def _tweedie_mean(rng: np.random.Generator, count: int) -> Arguments:
    y, score = rng.normal(size=(2, count, WIDTH))
    return {"y": y, "sigma2": log_uniform(rng, -2, 2, count), "score": score}


def _tweedie_cov(rng: np.random.Generator, count: int) -> Arguments:
    hessian = rng.normal(size=(count, WIDTH, WIDTH))
    hessian = (hessian + np.swapaxes(hessian, -1, -2)) / 2
    return {"sigma2": log_uniform(rng, -2, 2, count), "hessian": hessian}


def _pair(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        y, mu = rng.normal(size=(2, count, WIDTH))
        v, sigma2 = log_uniform(rng, -2, 1, count), log_uniform(rng, -2, 1, count)
        if kind == "atoms":
            v, sigma2 = np.zeros(count), log_uniform(rng, -3, 3, count)
        elif kind == "far":
            y, sigma2 = 1e3 * y, log_uniform(rng, -3, 3, count)
        return {"y": y, "mu": mu, "v": v, "sigma2": sigma2}

    return drawn


def _pair_mmse(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        arguments = _pair(kind)(rng, count)
        return {
            "width": rng.integers(1, 9, count).astype(float),
            "norm2": (arguments["mu"] ** 2).sum(axis=-1),
            "v": arguments["v"],
            "sigma2": arguments["sigma2"],
            "spread": rng.uniform(0, 1, count),
        }

    return drawn


def _integrand(kind: str) -> Generator:
    def drawn(rng: np.random.Generator, count: int) -> Arguments:
        largest, reach = (3, 6) if kind == "typical" else (30, 30)
        return {"kappa": rng.uniform(0, largest, count), "x": rng.uniform(-reach, reach, count)}

    return drawn


def _kinds(make: Callable[..., Generator], *kinds: str, **more: Any) -> dict[str, Generator]:
    return {kind: make(kind, **more) for kind in kinds}


# ---------------------------------------------------------------- references


def _joint(instance: Instance) -> list[mpf]:
    pairs = zip(
        mp_vector(instance["log_weights"]), mp_vector(instance["log_likelihoods"]), strict=True
    )
    return [mpmath.exp(weight) * mpmath.exp(likelihood) for weight, likelihood in pairs]


def responsibilities(instance: Instance) -> list[Any]:
    joint = _joint(instance)
    return [[mass / mpmath.fsum(joint) for mass in joint]]


def log_evidence(instance: Instance) -> list[Any]:
    return [mpmath.log(mpmath.fsum(_joint(instance)))]


def _prior(instance: Instance) -> tuple[list[Any], list[Any]]:
    """The component's covariance, and that of y."""
    eigenvalues, basis = exact(instance["eigenvalues"]), exact(instance["basis"])
    width = range(len(eigenvalues))
    cov = [
        [
            sum((basis[a][c] * s * basis[b][c] for c, s in enumerate(eigenvalues)), Fraction(0))
            for b in width
        ]
        for a in width
    ]
    noise = Fraction(float(instance["sigma2"]))
    return cov, [[cov[a][b] + noise * (a == b) for b in width] for a in width]


def _posterior(instance: Instance) -> list[Any]:
    cov, seen = _prior(instance)
    mu = exact(instance["mu"]) if "mu" in instance else [Fraction(0)] * len(cov)
    y = exact(instance["y"]) if "y" in instance else mu
    return conditioned(mu, mu, cov, cov, seen, y)


def component_mean(instance: Instance) -> list[Any]:
    return [_posterior(instance)[0]]


def component_cov(instance: Instance) -> list[Any]:
    return [_posterior(instance)[1]]


def _whitened(instance: Instance) -> list[Any]:
    """(C + sigma2 I)^-1 (y - mu)."""
    offset = [[y - mu] for y, mu in zip(exact(instance["y"]), exact(instance["mu"]), strict=True)]
    return [line[0] for line in solve(_prior(instance)[1], offset)]


def component_score(instance: Instance) -> list[Any]:
    return [[-entry for entry in _whitened(instance)]]


def component_hessian(instance: Instance) -> list[Any]:
    seen = _prior(instance)[1]
    identity = [[Fraction(int(a == b)) for b in range(len(seen))] for a in range(len(seen))]
    return [[[-entry for entry in line] for line in solve(seen, identity)]]


def _determinant(matrix: list[list[Fraction]]) -> Fraction:
    """Of a definite matrix, whose pivots are all positive."""
    rows = [list(line) for line in matrix]
    found = Fraction(1)
    for place, pivot in enumerate(rows):
        found = found * pivot[place]
        for line in rows[place + 1 :]:
            factor = line[place] / pivot[place]
            line[:] = [a - factor * b for a, b in zip(line, pivot, strict=True)]
    return found


def _mp_fraction(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def component_log_likelihood(instance: Instance) -> list[Any]:
    offset = [y - mu for y, mu in zip(exact(instance["y"]), exact(instance["mu"]), strict=True)]
    square = sum((a * b for a, b in zip(offset, _whitened(instance), strict=True)), Fraction(0))
    determinant = _mp_fraction(_determinant(_prior(instance)[1]))
    log_volume = len(offset) * mpmath.log(2 * mpmath.pi) + mpmath.log(determinant)
    return [-(log_volume + _mp_fraction(square)) / 2]


def mixed_mean(instance: Instance) -> list[Any]:
    shares, means = exact(instance["responsibilities"]), exact(instance["means"])
    columns = list(zip(*means, strict=True))
    return [[sum((r * m for r, m in zip(shares, c, strict=True)), Fraction(0)) for c in columns]]


def between_cov(instance: Instance) -> list[Any]:
    """Second moments less the square of the mean: exact fractions don't cancel."""
    shares, means = exact(instance["responsibilities"]), exact(instance["means"])
    mean = mixed_mean(instance)[0]

    def entry(a: int, b: int) -> Fraction:
        second = (r * m[a] * m[b] for r, m in zip(shares, means, strict=True))
        return sum(second, Fraction(0)) - mean[a] * mean[b]

    width = range(len(mean))
    return [[[entry(a, b) for b in width] for a in width]]


def tweedie_mean(instance: Instance) -> list[Any]:
    noise = Fraction(float(instance["sigma2"]))
    pairs = zip(exact(instance["y"]), exact(instance["score"]), strict=True)
    return [[y + noise * score for y, score in pairs]]


def tweedie_cov(instance: Instance) -> list[Any]:
    noise = Fraction(float(instance["sigma2"]))
    return [
        [
            [noise * (a == b) + noise**2 * entry for b, entry in enumerate(line)]
            for a, line in enumerate(exact(instance["hessian"]))
        ]
    ]


def pair_mean(instance: Instance) -> list[Any]:
    """Bayes' rule with the two sides' likelihoods."""
    v, noise = mp(instance, "v", "sigma2")
    y, mu = mp_vector(instance["y"]), mp_vector(instance["mu"])
    sides = []
    for sign in (1, -1):
        away = [a - sign * b for a, b in zip(y, mu, strict=True)]
        posterior = [sign * b + v / (v + noise) * c for b, c in zip(mu, away, strict=True)]
        sides.append((-mpmath.fsum(c**2 for c in away) / (2 * (v + noise)), posterior))
    right = 1 / (1 + mpmath.exp(sides[1][0] - sides[0][0]))
    left = 1 / (1 + mpmath.exp(sides[0][0] - sides[1][0]))
    return [[right * a + left * b for a, b in zip(sides[0][1], sides[1][1], strict=True)]]


def pair_integrand(instance: Instance) -> list[Any]:
    kappa, x = mp(instance, "kappa", "x")
    return [mpmath.npdf(x - kappa) / mpmath.cosh(kappa * x) ** 2]


def pair_mmse(instance: Instance) -> list[Any]:
    width, norm2, v, noise, spread = mp(instance, "width", "norm2", "v", "sigma2", "spread")
    return [width * v * noise / (v + noise) + noise**2 * norm2 / (v + noise) ** 2 * spread]


# ---------------------------------------------------------------- by hand


def responsibilities_by_hand(log_weights: Array, log_likelihoods: Array) -> Array:
    return row_by_hand(log_weights + log_likelihoods)


def log_evidence_by_hand(log_weights: Array, log_likelihoods: Array) -> Array:
    joint = log_weights + log_likelihoods
    largest = joint.max(axis=-1)
    return largest + np.log(np.exp(joint - largest[..., None]).sum(axis=-1))


def _along(basis: Array, vector: Array) -> Array:
    return (np.swapaxes(basis, -1, -2) @ vector[..., None])[..., 0]


def component_log_likelihood_by_hand(
    mu: Array, eigenvalues: Array, basis: Array, sigma2: Array, y: Array
) -> Array:
    variances = eigenvalues + sigma2[..., None]
    squares = _along(basis, y - mu) ** 2
    return -0.5 * (np.log(2 * np.pi * variances) + squares / variances).sum(axis=-1)


def component_mean_by_hand(
    mu: Array, eigenvalues: Array, basis: Array, sigma2: Array, y: Array
) -> Array:
    gain = eigenvalues / (eigenvalues + sigma2[..., None])
    return mu + (basis @ (gain * _along(basis, y - mu))[..., None])[..., 0]


def component_cov_by_hand(eigenvalues: Array, basis: Array, sigma2: Array) -> Array:
    noise = sigma2[..., None]
    kept = eigenvalues * noise / (eigenvalues + noise)
    return (basis * kept[..., None, :]) @ np.swapaxes(basis, -1, -2)


def component_score_by_hand(
    mu: Array, eigenvalues: Array, basis: Array, sigma2: Array, y: Array
) -> Array:
    scaled = _along(basis, y - mu) / (eigenvalues + sigma2[..., None])
    return -(basis @ scaled[..., None])[..., 0]


def component_hessian_by_hand(eigenvalues: Array, basis: Array, sigma2: Array) -> Array:
    variances = eigenvalues + sigma2[..., None]
    return -(basis / variances[..., None, :]) @ np.swapaxes(basis, -1, -2)


def mixed_mean_by_hand(responsibilities: Array, means: Array) -> Array:
    return (responsibilities[..., None] * means).sum(axis=-2)


def between_cov_by_hand(responsibilities: Array, means: Array) -> Array:
    away = means - mixed_mean_by_hand(responsibilities, means)[..., None, :]
    return np.swapaxes(responsibilities[..., None] * away, -1, -2) @ away


def tweedie_mean_by_hand(y: Array, sigma2: Array, score: Array) -> Array:
    return y + sigma2[..., None] * score


def tweedie_cov_by_hand(sigma2: Array, hessian: Array) -> Array:
    noise = sigma2[..., None, None]
    return noise * np.eye(hessian.shape[-1]) + noise**2 * hessian


def pair_mean_by_hand(y: Array, mu: Array, v: Array, sigma2: Array) -> Array:
    total = v + sigma2
    lean = np.tanh((mu * y).sum(axis=-1) / total)
    return (v / total)[..., None] * y + (sigma2 / total * lean)[..., None] * mu


def pair_integrand_by_hand(kappa: Array, x: Array) -> Array:
    density = np.exp(-((x - kappa) ** 2) / 2) / np.sqrt(2 * np.pi)
    return density / np.cosh(np.clip(kappa * x, -300, 300)) ** 2


def pair_mmse_by_hand(width: Array, norm2: Array, v: Array, sigma2: Array, spread: Array) -> Array:
    share = sigma2 / (v + sigma2)
    return width * v * share + share**2 * norm2 * spread


# ---------------------------------------------------------------- scales


def _largest(values: Any) -> mpf:
    finite = np.asarray(values, dtype=float)
    return mpf(float(np.abs(finite[np.isfinite(finite)]).max(initial=0)))


def _own(values: Any) -> Any:
    if isinstance(values, list):
        return max(map(_own, values))
    return _mp_fraction(abs(values)) if isinstance(values, Fraction) else abs(values)


def _log_terms(instance: Instance) -> mpf:
    return _largest(instance["log_weights"] + instance["log_likelihoods"]) + 1


def _density_terms(instance: Instance) -> mpf:
    variances = instance["eigenvalues"] + instance["sigma2"]
    squares = ((instance["y"] - instance["mu"]) @ instance["basis"]) ** 2 / variances
    return mpf(float((np.abs(np.log(2 * np.pi * variances)) + squares).sum() / 2))


def _tweedie_terms(instance: Instance) -> mpf:
    noise = mpf(float(instance["sigma2"]))
    if "score" in instance:
        return _largest(instance["y"]) + noise * _largest(instance["score"])
    return noise + noise**2 * _largest(instance["hessian"])


def _scale(measure: Callable[[Instance], mpf]) -> Scale:
    return lambda instance, _: [measure(instance)]


_SCALES: dict[str, Scale] = {
    "its logits": _scale(_log_terms),
    "its terms": _scale(_density_terms),
    "the points": _scale(lambda one: max(_largest(one["mu"]), _largest(one["y"]))),
    "the means": _scale(lambda one: _largest(one["means"])),
    "the largest entry": lambda _, expected: [_own(expected)],
    "the larger term": _scale(_tweedie_terms),
}


def _case(
    regimes: dict[str, Generator],
    reference: Callable[[Instance], list[Any]],
    by_hand: Callable[..., Any],
    **more: Any,
) -> Case:
    return Case(regimes, reference, by_hand, sizes=SIZES, scales=_SCALES, count=40, **more)


_LOGITS = _kinds(_logits, "typical", "saturated", "huge", "limits")
_COMPONENT = _kinds(_component, "typical", "degenerate", "graded", "tiny")
_SHAPE = _kinds(_component, "typical", "degenerate", "graded", "tiny", with_y=False)
_MIXED = _kinds(_mixed, "typical", "offset", "limits")
_JOINT = ("log_weights", "log_likelihoods")
_RATIONAL: dict[str, Any] = {"exact": True, "rational": "typical"}

CASES = {
    "responsibilities": _case(
        _LOGITS, responsibilities, responsibilities_by_hand, exchangeable=_JOINT
    ),
    "log_evidence": _case(_LOGITS, log_evidence, log_evidence_by_hand, exchangeable=_JOINT),
    "component_log_likelihood": _case(
        _COMPONENT,
        component_log_likelihood,
        component_log_likelihood_by_hand,
        exchangeable=("mu", "y"),
    ),
    "component_mean": _case(_COMPONENT, component_mean, component_mean_by_hand, **_RATIONAL),
    "component_cov": _case(_SHAPE, component_cov, component_cov_by_hand, **_RATIONAL),
    "component_score": _case(_COMPONENT, component_score, component_score_by_hand, **_RATIONAL),
    "component_hessian": _case(_SHAPE, component_hessian, component_hessian_by_hand, **_RATIONAL),
    "mixed_mean": _case(_MIXED, mixed_mean, mixed_mean_by_hand, **_RATIONAL),
    "between_cov": _case(_MIXED, between_cov, between_cov_by_hand, **_RATIONAL),
    "tweedie_mean": _case(
        {"typical": _tweedie_mean}, tweedie_mean, tweedie_mean_by_hand, **_RATIONAL
    ),
    "tweedie_cov": _case({"typical": _tweedie_cov}, tweedie_cov, tweedie_cov_by_hand, **_RATIONAL),
    "pair_mean": _case(_kinds(_pair, "typical", "atoms", "far"), pair_mean, pair_mean_by_hand),
    "pair_integrand": _case(
        _kinds(_integrand, "typical", "tails"),
        pair_integrand,
        pair_integrand_by_hand,
        exchangeable=("kappa", "x"),
    ),
    "pair_mmse": _case(
        _kinds(_pair_mmse, "typical", "atoms"),
        pair_mmse,
        pair_mmse_by_hand,
        exchangeable=("norm2", "spread"),
    ),
}
