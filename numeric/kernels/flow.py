"""Kernels of the subject `flow`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/flow.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.exact_floats import two_product, two_sum
from numeric.namespace import (
    Array,
    Namespace,
    namespace,
    real_arrays,
    root_of_smallest,
    smallest_normal,
)
from numeric.special_functions import wright_omega

__all__ = [
    "denoising_time_appendix_clock",
    "denoising_time_main_clock",
    "eigenvalue_appendix_clock",
    "eigenvalue_main_clock",
    "terminal_eigenvalue",
]


@errstate(under="ignore")
def eigenvalue_appendix_clock(
    beta: Array, lambda0: Array, theta: Array, *, xp: Namespace = None
) -> Array:
    r"""Eigenvalue of the covariance flow at appendix time theta.

    .. math:: \lambda(\theta) = W(\beta\lambda_0 e^{\beta\lambda_0 - 2\theta})/\beta, \qquad
        \beta \to 0:\ \lambda_0 e^{-2\theta}

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        lambda0: shape ``batch``; eigenvalue of the covariance at time 0, at least 0.
        theta: shape ``batch``; appendix time, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        eigenvalue: ``batch``; eigenvalue of the covariance at appendix time theta.

    Domain: beta >= 0; lambda0 >= 0; beta*lambda0 below 1e300; theta >= 0. Arguments are
    trusted; the algorithms of `numeric` check them.

    Hypotheses: the law at time 0 is Gaussian, its covariance positive semidefinite of any rank.

    Chosen forms:
        wright_omega: W(a exp(e))/b = omega(e + log a)/b = (a/b) exp(e - omega(e + log a)), for
            a >= e, a >= 0, b >= 0 a factor of a; the third where omega < 1, so also where b =
            0. Why: exp(e) overflows from e = 709 on, and omega/b reads 0/0 where b = 0. The
            exponent keeps its rounding error as a second float, since exp turns it into a
            relative error. Proved: forms.wright_omega, forms.wright_omega_root. That the rest
            of a rounded sum or product is exact: Knuth (1997), section 4.2.2; Dekker (1971).

    Worst relative error, float64, held by a test:
        typical: beta*lambda0 in [1e-3, 1e3], up to full decay: 2e-15 of each entry.
        tiny: beta*lambda0 in [1e-320, 1e-3]: 2e-15 of each entry.
        huge: beta*lambda0 in [1e3, 1e6], where exp(beta*lambda0) overflows: 2e-15 of each
            entry.
        cancelling: 2 theta within 30 of beta*lambda0 in [1, 1e6]: 2e-15 of each entry.
        limits: beta = 0 or lambda0 = 0: 2e-15 of each entry.

    Operations: 5 +, 1 -, 3 *, 1 /, 1 exp, 1 log, 1 two_product, 2 two_sum, 4 where, 1
    wright_omega.

    Source: EB-40, EB-41. Derivation: flow.eigenvalue_appendix_clock, tree
    sha256:65c22b750f0f9a93.
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
    shrunk = xp.exp(decay)
    near_limit = (shrunk + (decay_rest + exponent_rest) * shrunk) * lambda0
    return xp.where(omega < 1, near_limit, omega / xp.where(beta > 0, beta, 1))


@errstate(under="ignore")
def eigenvalue_main_clock(
    beta: Array, lambda0: Array, time: Array, *, xp: Namespace = None
) -> Array:
    r"""Eigenvalue of the covariance flow at main-text time.

    .. math:: \lambda(t) = W(\beta\lambda_0 e^{\beta(\lambda_0 - 2t)})/\beta, \qquad \beta \to
        0:\ \lambda_0

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        lambda0: shape ``batch``; eigenvalue of the covariance at time 0, at least 0.
        time: shape ``batch``; main-text time, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        eigenvalue: ``batch``; eigenvalue of the covariance at main-text time.

    Domain: beta >= 0; lambda0 >= 0; beta*lambda0 below 1e300; time >= 0. Arguments are trusted;
    the algorithms of `numeric` check them.

    Hypotheses: the law at time 0 is Gaussian, its covariance positive semidefinite of any rank.

    Chosen forms:
        wright_omega: W(a exp(e))/b = omega(e + log a)/b = (a/b) exp(e - omega(e + log a)), for
            a >= e, a >= 0, b >= 0 a factor of a; the third where omega < 1, so also where b =
            0. Why: exp(e) overflows from e = 709 on, and omega/b reads 0/0 where b = 0. The
            exponent keeps its rounding error as a second float, since exp turns it into a
            relative error. Proved: forms.wright_omega, forms.wright_omega_root. That the rest
            of a rounded sum or product is exact: Knuth (1997), section 4.2.2; Dekker (1971).

    Worst relative error, float64, held by a test:
        typical: beta*lambda0 in [1e-3, 1e3], up to full decay: 2e-15 of each entry.
        tiny: beta*lambda0 in [1e-320, 1e-3]: 2e-15 of each entry.
        huge: beta*lambda0 in [1e3, 1e6], where exp(beta*lambda0) overflows: 2e-15 of each
            entry.
        cancelling: 2 theta within 30 of beta*lambda0 in [1, 1e6]: 2e-15 of each entry.
        limits: beta = 0 or lambda0 = 0: 2e-15 of each entry.

    Operations: 5 +, 1 -, 5 *, 1 /, 1 exp, 1 log, 1 two_product, 2 two_sum, 4 where, 1
    wright_omega.

    Source: EB-8, EB-41. Derivation: flow.eigenvalue_main_clock, tree sha256:c90210e30bc28d02.
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
    shrunk = xp.exp(decay)
    near_limit = (shrunk + (decay_rest + exponent_rest) * shrunk) * lambda0
    return xp.where(omega < 1, near_limit, omega / xp.where(beta > 0, beta, 1))


@errstate(under="ignore")
def denoising_time_appendix_clock(
    beta: Array, s: Array, sigma2: Array, *, xp: Namespace = None
) -> Array:
    r"""Exact Gaussian denoising time, appendix clock.

    .. math:: \theta^\star = \frac{\beta\sigma^2}{2} + \frac12\ln\frac{s+\sigma^2}{s}

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        s: shape ``batch``; eigenvalue of the clean covariance, at least 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        theta: ``batch``; appendix time of exact recovery; infinite where s = 0 < sigma2.

    Domain: beta >= 0; s >= 0; sigma2 >= 0. Arguments are trusted; the algorithms of `numeric`
    check them.

    Hypotheses: the law at time 0 is Gaussian, its covariance positive semidefinite of any rank;
    s is an eigenvalue of the clean covariance.

    Chosen forms:
        log_one_plus_ratio: log((s + r)/s) = log1p(r/s) = log r - log s + log1p(s/r), for s >=
            0, r >= 0; infinite where s = 0 < r; the last term is below rounding where r/s
            overflows. Why: (s + r)/s rounds to 1 for small r/s, and r/s overflows for large.
            Proved: forms.log_one_plus_ratio.

    Worst relative error, float64, held by a test:
        typical: s, sigma2, beta in [1e-3, 1e3]: 2e-15 of each entry.
        near: sigma2/s in [1e-300, 1e-3]: 2e-15 of each entry.
        far: sigma2/s in [1e3, 1e320], where the ratio itself overflows: 2e-15 of each entry.
        limits: sigma2 = 0, or s = 0 where the time is infinite: 2e-15 of each entry.

    It looks at values to choose a branch: not to be traced.

    Operations: 1 +, 1 -, 2 *, 5 /, 1 any, 2 log, 2 log1p, 1 root_of_smallest, 1
    smallest_normal, 5 where.

    Source: EB-9. Derivation: flow.denoising_time_appendix_clock, tree sha256:d8a926df303ac228.
    """
    xp = namespace(xp, beta, s, sigma2)
    beta, s, sigma2 = real_arrays(xp, beta, s, sigma2)
    low = root_of_smallest(xp, s)
    extreme = (sigma2 > 1 / low) | (s < low)
    if xp.any(extreme):
        unresolved = s <= smallest_normal(xp, s) * sigma2
        divisor = xp.where(s > 0, s, 1)
        near_log = xp.log1p(xp.where(unresolved, 0, sigma2) / divisor)
        far_log = xp.log(xp.where(sigma2 > 0, sigma2, 1)) - xp.log(divisor)
        growth = xp.where((sigma2 > 0) & unresolved, xp.where(s > 0, far_log, xp.inf), near_log)
    else:
        growth = xp.log1p(sigma2 / s)
    return beta * sigma2 / 2 + growth / 2


@errstate(under="ignore")
def denoising_time_main_clock(
    beta: Array, s: Array, sigma2: Array, *, xp: Namespace = None
) -> Array:
    r"""Exact Gaussian denoising time, main clock.

    .. math:: t^\star = \frac{\sigma^2}{2} + \frac1{2\beta}\ln\frac{s+\sigma^2}{s}

    Args:
        beta: shape ``batch``; inverse bandwidth, above 0.
        s: shape ``batch``; eigenvalue of the clean covariance, at least 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        time: ``batch``; main-text time of exact recovery; infinite where s = 0 < sigma2.

    Domain: beta > 0; s >= 0; sigma2 >= 0; sigma2/beta below 1e300. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: the law at time 0 is Gaussian, its covariance positive semidefinite of any rank;
    s is an eigenvalue of the clean covariance.

    Chosen forms:
        log_one_plus_ratio: log((s + r)/s) = log1p(r/s) = log r - log s + log1p(s/r), for s >=
            0, r >= 0; infinite where s = 0 < r; the last term is below rounding where r/s
            overflows. Why: (s + r)/s rounds to 1 for small r/s, and r/s overflows for large.
            Proved: forms.log_one_plus_ratio.

    Worst relative error, float64, held by a test:
        typical: s, sigma2, beta in [1e-3, 1e3]: 2e-15 of each entry.
        near: sigma2/s in [1e-300, 1e-3]: 2e-15 of each entry.
        far: sigma2/s in [1e3, 1e320], where the ratio itself overflows: 2e-15 of each entry.
        limits: sigma2 = 0, or s = 0 where the time is infinite: 2e-15 of each entry.

    It looks at values to choose a branch: not to be traced.

    Operations: 1 +, 1 -, 1 *, 6 /, 1 any, 2 log, 2 log1p, 1 root_of_smallest, 1
    smallest_normal, 5 where.

    Source: EB-9. Derivation: flow.denoising_time_main_clock, tree sha256:a3d551c7a5cec321.
    """
    xp = namespace(xp, beta, s, sigma2)
    beta, s, sigma2 = real_arrays(xp, beta, s, sigma2)
    low = root_of_smallest(xp, s)
    extreme = (sigma2 > 1 / low) | (s < low)
    if xp.any(extreme):
        unresolved = s <= smallest_normal(xp, s) * sigma2
        divisor = xp.where(s > 0, s, 1)
        near_log = xp.log1p(xp.where(unresolved, 0, sigma2) / divisor)
        far_log = xp.log(xp.where(sigma2 > 0, sigma2, 1)) - xp.log(divisor)
        growth = xp.where((sigma2 > 0) & unresolved, xp.where(s > 0, far_log, xp.inf), near_log)
    else:
        growth = xp.log1p(sigma2 / s)
    return sigma2 / 2 + growth / 2 / beta


@errstate(under="ignore")
def terminal_eigenvalue(beta: Array, s: Array, sigma2: Array, *, xp: Namespace = None) -> Array:
    r"""Eigenvalue at the nominal denoising time, the same moment on both clocks.

    .. math:: \lambda_T = W(\beta(s+\sigma^2)e^{\beta s})/\beta, \qquad \beta \to 0:\
        s+\sigma^2

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        s: shape ``batch``; eigenvalue of the clean covariance, at least 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        eigenvalue: ``batch``; eigenvalue left at the end, between s and s + sigma2.

    Domain: beta >= 0; s >= 0; sigma2 >= 0; beta*(s + sigma2) below 1e300. Arguments are
    trusted; the algorithms of `numeric` check them.

    Hypotheses: the law at time 0 is Gaussian, its covariance positive semidefinite of any rank;
    s is an eigenvalue of the clean covariance.

    Chosen forms:
        wright_omega: W(a exp(e))/b = omega(e + log a)/b = (a/b) exp(e - omega(e + log a)), for
            a >= e, a >= 0, b >= 0 a factor of a; the third where omega < 1, so also where b =
            0. Why: exp(e) overflows from e = 709 on, and omega/b reads 0/0 where b = 0. The
            exponent keeps its rounding error as a second float, since exp turns it into a
            relative error. Proved: forms.wright_omega, forms.wright_omega_root. That the rest
            of a rounded sum or product is exact: Knuth (1997), section 4.2.2; Dekker (1971).

    Worst relative error, float64, held by a test:
        typical: beta, s, sigma2 in [1e-2, 1e2]: 2e-15 of each entry.
        tiny: beta*(s + sigma2) in [1e-320, 1e-3]: 2e-15 of each entry.
        huge: beta*s in [1e3, 1e6]: 2e-15 of each entry.
        limits: beta = 0, s = 0 or sigma2 = 0: 2e-15 of each entry.

    Operations: 6 +, 1 -, 3 *, 1 /, 1 exp, 1 log, 1 two_product, 1 two_sum, 4 where, 1
    wright_omega.

    Source: EB-42. Derivation: flow.terminal_eigenvalue, tree sha256:5b31300e48e5aeea.
    """
    xp = namespace(xp, beta, s, sigma2)
    beta, s, sigma2 = real_arrays(xp, beta, s, sigma2)
    product, product_rest = two_product(xp, beta, s)
    scaled_start = (s + sigma2) * beta
    moving = scaled_start > 0
    offset = product_rest + xp.log(xp.where(moving, scaled_start, 1))
    omega = xp.where(moving, wright_omega(xp, offset + product), 0)
    decay, decay_rest = two_sum(xp, product, -omega)
    shrunk = xp.exp(decay)
    near_limit = (shrunk + (decay_rest + product_rest) * shrunk) * (s + sigma2)
    return xp.where(omega < 1, near_limit, omega / xp.where(beta > 0, beta, 1))
