"""How fast the flow turns small ripples of a uniform density into clusters."""

from __future__ import annotations

from numpy.typing import ArrayLike

from numeric import door
from numeric.flow import CLOCKS
from numeric.kernels import ripples as kernels


def growth_rate(k2: ArrayLike, beta: ArrayLike, *, clock: str) -> door.Floats:
    r"""Rate at which a ripple on a uniform density grows.

    .. math:: |k|^2 e^{-|k|^2/2\beta} \ \text{(main clock)}, \qquad
              \frac{|k|^2}\beta e^{-|k|^2/2\beta} \ \text{(appendix clock)}

    Args:
        k2: squared length of the wave vector, at least 0, shape ``batch``.
        beta: inverse bandwidth, above 0, shape ``batch``.
        clock: ``"main"`` or ``"appendix"``.

    Returns:
        the rate, shape ``batch``; largest at ``k2 = 2*beta``.

    Raises:
        DomainError: an argument outside of its range, or the clock is none.
        DtypeError, NonFiniteError, ShapeError: an argument is no array of finite real numbers, or
            the shapes don't broadcast.

    Source: EB-12. Kernels: `ripples.growth_rate_main_clock`,
    `ripples.growth_rate_appendix_clock`.

    Example:
        >>> float(growth_rate(2.0, 1.0, clock="main"))  # 2/e
        0.7357588823428847
    """
    door.choice("clock", clock, CLOCKS)
    k2 = door.at_least("k2", door.real("k2", k2), 0)
    beta = door.at_least("beta", door.weak("beta", beta, k2), 0, strict=True)
    door.common_batch(k2=(k2, 0), beta=(beta, 0))
    if clock == "main":
        return kernels.growth_rate_main_clock(k2, beta)
    return kernels.growth_rate_appendix_clock(k2, beta)


def log_amplification(sigma2: ArrayLike, beta: ArrayLike) -> door.Floats:
    r"""Logarithm of how much the fastest ripple grows until the nominal end of the flow.

    .. math:: \beta\sigma^2/e

    With N tokens the noise to begin with is of the order of ``N**-0.5``: clusters are to be
    expected where this exceeds ``log(N)/2`` (a rule of thumb, not a theorem).

    Args:
        sigma2: noise variance, at least 0, shape ``batch``.
        beta: inverse bandwidth, above 0, shape ``batch``.

    Returns:
        the logarithm, shape ``batch``.

    Raises:
        DomainError: an argument outside of its range.
        DtypeError, NonFiniteError, ShapeError: as for `growth_rate`.

    Source: EB-12. Kernel: `ripples.growth_rate_main_clock`.

    Example:
        >>> float(log_amplification(2.0, 1.0))
        0.7357588823428847
    """
    sigma2 = door.at_least("sigma2", door.real("sigma2", sigma2), 0)
    beta = door.at_least("beta", door.weak("beta", beta, sigma2), 0, strict=True)
    door.common_batch(sigma2=(sigma2, 0), beta=(beta, 0))
    return sigma2 / 2 * kernels.growth_rate_main_clock(2 * beta, beta)
