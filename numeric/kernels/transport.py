"""Kernels of the subject `transport`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/transport.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.exact_floats import two_product, two_sum
from numeric.namespace import Array, Namespace, namespace, real_arrays
from numeric.special_functions import wright_omega

__all__ = ["factor_appendix_clock", "factor_main_clock", "slope_appendix_clock", "slope_main_clock"]


@errstate(under="ignore")
def slope_appendix_clock(beta: Array, variance: Array, *, xp: Namespace = None) -> Array:
    r"""Slope of the velocity along an eigendirection, appendix clock.

    .. math:: \dot z = -(z - m)/(1 + \beta\lambda)

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        variance: shape ``batch``; eigenvalue of the covariance now, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        slope: ``batch``; factor of the deviation from the mean, at most 0.

    Domain: beta >= 0; variance >= 0; beta*variance below 1e300. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: the law at time 0 is Gaussian, its covariance positive semidefinite of any rank.

    Worst relative error, float64, held by a test:
        typical: beta*variance in [1e-3, 1e3]: 1e-15 of each entry.
        huge: beta*variance in [1e3, 1e100]: 1e-15 of each entry.
        limits: beta = 0 or variance = 0: 1e-15 of each entry.

    Operations: 1 +, 1 *, 1 /.

    Source: EB-45. Derivation: transport.slope_appendix_clock, tree sha256:829795e0e88360ad.
    """
    xp = namespace(xp, beta, variance)
    beta, variance = real_arrays(xp, beta, variance)
    return -1 / (1 + beta * variance)


@errstate(under="ignore")
def slope_main_clock(beta: Array, variance: Array, *, xp: Namespace = None) -> Array:
    r"""Slope of the velocity along an eigendirection, main clock.

    .. math:: \dot z = -\beta\,(z - m)/(1 + \beta\lambda)

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        variance: shape ``batch``; eigenvalue of the covariance now, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        slope: ``batch``; factor of the deviation from the mean, at most 0.

    Domain: beta >= 0; variance >= 0; beta*variance below 1e300. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: the law at time 0 is Gaussian, its covariance positive semidefinite of any rank.

    Worst relative error, float64, held by a test:
        typical: beta*variance in [1e-3, 1e3]: 1e-15 of each entry.
        huge: beta*variance in [1e3, 1e100]: 1e-15 of each entry.
        limits: beta = 0 or variance = 0: 1e-15 of each entry.

    Operations: 1 +, 1 -, 1 *, 1 /.

    Source: EB-8, EB-45. Derivation: transport.slope_main_clock, tree sha256:3028ae51753dfb29.
    """
    xp = namespace(xp, beta, variance)
    beta, variance = real_arrays(xp, beta, variance)
    return -beta / (1 + beta * variance)


@errstate(under="ignore")
def factor_appendix_clock(
    beta: Array, lambda0: Array, theta: Array, *, xp: Namespace = None
) -> Array:
    r"""Factor of a deviation from the mean after appendix time theta.

    .. math:: \sqrt{\lambda(\theta)/\lambda_0} = \exp\{-\theta + \tfrac\beta2(\lambda_0 -
        \lambda(\theta))\}, \qquad \lambda_0 \to 0:\ e^{-\theta}

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        lambda0: shape ``batch``; eigenvalue of the covariance at time 0, at least 0.
        theta: shape ``batch``; appendix time, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        factor: ``batch``; factor of the deviation, in [exp(-theta), 1].

    Domain: beta >= 0; lambda0 >= 0; beta*lambda0 below 1e300; theta >= 0. Arguments are
    trusted; the algorithms of `numeric` check them.

    Hypotheses: the law at time 0 is Gaussian, its covariance positive semidefinite of any rank.

    Chosen forms:
        lambert_root: exp((e - W(a exp(e)))/2) = exp((e - omega)/2) = sqrt(omega/a), omega = W(a
            exp(e)), for a >= 0; the third where omega >= 1, so only where a > 0. Why: e - omega
            cancels for large a, and omega/a reads 0/0 where a = 0. Proved: forms.lambert_root.

    Worst relative error, float64, held by a test:
        typical: beta*lambda0 in [1e-3, 1e3], up to full decay: 2e-15 of each entry.
        tiny: beta*lambda0 in [1e-320, 1e-3]: 2e-15 of each entry.
        huge: beta*lambda0 in [1e3, 1e6], where the exponents cancel: 2e-15 of each entry.
        cancelling: 2 theta within 30 of beta*lambda0 in [1, 1e6]: 2e-15 of each entry.
        limits: beta = 0, lambda0 = 0 or time 0: 2e-15 of each entry.

    Operations: 5 +, 1 -, 2 *, 3 /, 1 exp, 1 log, 1 sqrt, 1 two_product, 2 two_sum, 4 where, 1
    wright_omega.

    Source: EB-45. Derivation: transport.factor_appendix_clock, tree sha256:b32aae474b51969e.
    """
    xp = namespace(xp, beta, lambda0, theta)
    beta, lambda0, theta = real_arrays(xp, beta, lambda0, theta)
    product, product_rest = two_product(xp, beta, lambda0)
    shift, shift_rest = two_sum(xp, product, -2 * theta)
    exponent_rest = product_rest + shift_rest
    moving = product > 0
    offset = exponent_rest + xp.log(xp.where(moving, product, 1))
    omega = xp.where(moving, wright_omega(xp, offset + shift), 0)
    decay, decay_rest = two_sum(xp, shift, -omega)
    shrunk = xp.exp(decay / 2)
    near_limit = shrunk + (decay_rest + exponent_rest) * shrunk / 2
    ratio = omega / xp.where(omega < 1, 1, product)
    return xp.where(omega < 1, near_limit, xp.sqrt(ratio))


@errstate(under="ignore")
def factor_main_clock(beta: Array, lambda0: Array, time: Array, *, xp: Namespace = None) -> Array:
    r"""Factor of a deviation from the mean after main-text time.

    .. math:: \sqrt{\lambda(t)/\lambda_0} = \exp\{-\beta t + \tfrac\beta2(\lambda_0 -
        \lambda(t))\}, \qquad \lambda_0 \to 0:\ e^{-\beta t}

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        lambda0: shape ``batch``; eigenvalue of the covariance at time 0, at least 0.
        time: shape ``batch``; main-text time, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        factor: ``batch``; factor of the deviation, in [exp(-beta*time), 1].

    Domain: beta >= 0; lambda0 >= 0; beta*lambda0 below 1e300; time >= 0. Arguments are trusted;
    the algorithms of `numeric` check them.

    Hypotheses: the law at time 0 is Gaussian, its covariance positive semidefinite of any rank.

    Chosen forms:
        lambert_root: exp((e - W(a exp(e)))/2) = exp((e - omega)/2) = sqrt(omega/a), omega = W(a
            exp(e)), for a >= 0; the third where omega >= 1, so only where a > 0. Why: e - omega
            cancels for large a, and omega/a reads 0/0 where a = 0. Proved: forms.lambert_root.

    Worst relative error, float64, held by a test:
        typical: beta*lambda0 in [1e-3, 1e3], up to full decay: 2e-15 of each entry.
        tiny: beta*lambda0 in [1e-320, 1e-3]: 2e-15 of each entry.
        huge: beta*lambda0 in [1e3, 1e6], where the exponents cancel: 2e-15 of each entry.
        cancelling: 2 theta within 30 of beta*lambda0 in [1, 1e6]: 2e-15 of each entry.
        limits: beta = 0, lambda0 = 0 or time 0: 2e-15 of each entry.

    Operations: 5 +, 1 -, 4 *, 3 /, 1 exp, 1 log, 1 sqrt, 1 two_product, 2 two_sum, 4 where, 1
    wright_omega.

    Source: EB-22, EB-45. Derivation: transport.factor_main_clock, tree sha256:c226a0e2901e1d7e.
    """
    xp = namespace(xp, beta, lambda0, time)
    beta, lambda0, time = real_arrays(xp, beta, lambda0, time)
    shift, shift_rest = two_sum(xp, lambda0, -2 * time)
    product, product_rest = two_product(xp, beta, shift)
    exponent_rest = product_rest + beta * shift_rest
    scaled_start = beta * lambda0
    moving = scaled_start > 0
    offset = exponent_rest + xp.log(xp.where(moving, scaled_start, 1))
    omega = xp.where(moving, wright_omega(xp, offset + product), 0)
    decay, decay_rest = two_sum(xp, product, -omega)
    shrunk = xp.exp(decay / 2)
    near_limit = shrunk + (decay_rest + exponent_rest) * shrunk / 2
    ratio = omega / xp.where(omega < 1, 1, scaled_start)
    return xp.where(omega < 1, near_limit, xp.sqrt(ratio))
