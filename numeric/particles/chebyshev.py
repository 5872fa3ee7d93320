"""Chebyshev series of the Gaussian between two boxes of a line.

With places u, v in [-1, 1] within boxes of half-width a whose centres are k boxes apart,

    e^{-x^2/2} = sum_{mn} G_k[m, n] T_m(v) T_n(u),    x = a (v - u + 2k)

and the same for ``x e^{-x^2/2}``. Lengths are in units of 1/sqrt(beta).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numeric import door

# Gaussians are left out beyond this distance: exp(-50) = 2e-22.
CUTOFF = 10.0
# Rounding of a sum of Chebyshev terms, relative to the largest value of the Gaussian, in eps.
ROUNDING = 4
# Share of the tolerance that is left to terms which far boxes do without.
FAR_SHARE = 1e-3
# Places in each box on which the error of the series is measured.
SAMPLES = 64


@dataclass(frozen=True)
class Series:
    """Matrices from moments of a source box to coefficients in a box k boxes before it.

    Attributes:
        terms: p, number of terms.
        reach: neighbours on each side that count.
        pairs: ``[G_k | H_k]`` for k = -reach .. reach, shape ``(2 reach + 1, p, 2p)``; H is for
            the Gaussian times the difference.
        kept: how many of the p terms of a source box are not 0 there, shape ``(2 reach + 1,)``.
        errors: largest error of the Gaussian's series, shape ``(2 reach + 1,)``.
        largest: largest value of the Gaussian, same shape.
        tail: bound on the Gaussian beyond the reach.
    """

    terms: int
    reach: int
    pairs: NDArray[np.float64]
    kept: tuple[int, ...]
    errors: NDArray[np.float64]
    largest: NDArray[np.float64]
    tail: float


def terms_needed(half_width: float, tolerance: float) -> int:
    """Number of Chebyshev terms that give the Gaussian to a tolerance on a box.

    From the remainder of interpolation, with Cramer's bound ``sqrt(p!)`` on derivatives of the
    Gaussian; one more for the Gaussian times the difference.
    """
    terms = 4
    while 2 * (half_width / 2) ** terms / math.sqrt(math.factorial(terms)) > tolerance:
        terms += 1
    return terms + 1


@functools.lru_cache(maxsize=64)
def series(half_width: float, tolerance: float, eps: float) -> Series:
    """The matrices for boxes of a half-width, to a tolerance relative to the Gaussian at 0.

    Arithmetic that follows has the precision `eps`, which is part of the errors.
    """
    terms = terms_needed(half_width, tolerance)
    reach = math.ceil(CUTOFF / (2 * half_width))
    angles = (np.arange(terms) + 0.5) * np.pi / terms
    nodes = np.cos(angles)
    to_coefficients = 2 / terms * np.cos(np.outer(np.arange(terms), angles))
    to_coefficients[0] /= 2
    samples = np.linspace(-1, 1, SAMPLES)
    at_samples = chebyshev(samples, terms)
    pairs, kept, errors, largest = [], [], [], []
    for k in range(-reach, reach + 1):
        x = half_width * (nodes[:, None] - nodes + 2 * k)
        gauss = np.exp(-(x**2) / 2)
        both = [to_coefficients @ values @ to_coefficients.T for values in (gauss, x * gauss)]
        pair = np.concatenate(both, axis=1)
        beyond = np.cumsum(np.abs(pair).sum(axis=1)[::-1])[::-1]
        kept.append(max(1, int((beyond > FAR_SHARE * tolerance).sum())))
        pair[kept[-1] :] = 0
        pairs.append(pair)
        x = half_width * (samples[:, None] - samples + 2 * k)
        exact = np.exp(-(x**2) / 2)
        top = float(exact.max())
        error = float(np.abs(at_samples.T @ pair[:, :terms] @ at_samples - exact).max())
        errors.append(error + ROUNDING * eps * top)
        largest.append(top)
    gap = 2 * half_width * reach
    return Series(
        terms, reach, np.stack(pairs), tuple(kept), np.array(errors), np.array(largest),
        math.exp(-(gap**2) / 2),
    )  # fmt: skip


def chebyshev(places: door.Floats, terms: int) -> door.Floats:
    """Chebyshev polynomials ``T_0 .. T_{p-1}`` at places of [-1, 1], shape ``(p, N)``."""
    values = np.empty((terms, len(places)), places.dtype)
    values[0] = 1
    values[1] = places
    twice = 2 * places
    for n in range(2, terms):
        np.multiply(twice, values[n - 1], out=values[n])
        values[n] -= values[n - 2]
    return values
