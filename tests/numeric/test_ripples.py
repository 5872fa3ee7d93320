"""The growth of a ripple, against the flow's own equation on a ring of tokens.

Items: EB-12.
"""

from __future__ import annotations

import numpy as np
import pytest

import numeric


def test_a_ripple_grows_at_the_rate_that_the_equation_gives_it():
    """One step of the continuity equation on a periodic grid, with the smoothed law's score."""
    beta, mode, size, length = 9.0, 3, 4096, 20.0
    x = np.arange(size) * length / size
    k = 2 * np.pi * np.fft.fftfreq(size, length / size)
    ripple, small = 2 * np.pi * mode / length, 1e-7
    density = 1 + small * np.cos(ripple * x)
    smoothed = np.fft.ifft(np.fft.fft(density) * np.exp(-(k**2) / (2 * beta))).real
    score = np.fft.ifft(1j * k * np.fft.fft(np.log(smoothed))).real
    change = -np.fft.ifft(1j * k * np.fft.fft(density * score)).real
    rate = 2 * (change @ np.cos(ripple * x)) / size / small
    found = numeric.growth_rate(ripple**2, beta, clock="main")
    assert rate == pytest.approx(float(found), rel=1e-6)
    assert numeric.growth_rate(ripple**2, beta, clock="appendix") == pytest.approx(found / beta)


def test_the_fastest_ripple_and_its_amplification():
    beta = 4.0
    k2 = np.linspace(0, 40, 4001)
    rates = numeric.growth_rate(k2, beta, clock="main")
    assert k2[rates.argmax()] == pytest.approx(2 * beta)
    assert rates.max() == pytest.approx(2 * beta / np.e)
    assert numeric.log_amplification(0.25, 46.0) == pytest.approx(46 * 0.25 / np.e, rel=1e-15)


def test_refusals():
    with pytest.raises(numeric.DomainError, match="clock"):
        numeric.growth_rate(1.0, 1.0, clock="")
    with pytest.raises(numeric.DomainError, match="beta"):
        numeric.growth_rate(1.0, 0.0, clock="main")
