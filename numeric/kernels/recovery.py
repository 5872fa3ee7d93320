"""Kernels of the subject `recovery`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/recovery.py` or a form in `derive/emit/`, and emit again.

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
    batch_shape,
    fill_batch,
    namespace,
    real_arrays,
    root_of_smallest,
    smallest_normal,
)
from numeric.special_functions import linear_log_root, wright_omega

__all__ = [
    "deviation_gap",
    "excess",
    "excess_bounds",
    "expansion",
    "mean_square_error",
    "slope_error",
    "slope_error_bound",
]


@errstate(under="ignore")
def excess(beta: Array, s: Array, sigma2: Array, *, xp: Namespace = None) -> Array:
    r"""Variance left above that of the clean data at the nominal end.

    .. math:: \beta\Delta = \ln\frac{s+\sigma^2}{s} - \ln\Big(1 + \frac{\Delta}{s}\Big),
        \qquad s = 0:\ \Delta = W(\beta\sigma^2)/\beta, \qquad \beta \to 0:\ \sigma^2

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        s: shape ``batch``; eigenvalue of the clean covariance, at least 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        excess: ``batch``; variance left above s, between 0 and sigma2.

    Domain: beta >= 0; s >= 0; sigma2 >= 0; beta*(s + sigma2) below 1e300. Arguments are
    trusted; the algorithms of `numeric` check them.

    Hypotheses: the clean law is Gaussian, its covariance positive semidefinite of any rank; s
    is an eigenvalue of the clean covariance.

    Chosen forms:
        log_one_plus_ratio: log((s + r)/s) = log1p(r/s) = log r - log s + log1p(s/r), for s >=
            0, r >= 0; infinite where s = 0 < r; the last term is below rounding where r/s
            overflows. Why: (s + r)/s rounds to 1 for small r/s, and r/s overflows for large.
            Proved: forms.log_one_plus_ratio.
        wright_omega: W(a exp(e))/b = omega(e + log a)/b = (a/b) exp(e - omega(e + log a)), for
            a >= e, a >= 0, b >= 0 a factor of a; the third where omega < 1, so also where b =
            0. Why: exp(e) overflows from e = 709 on, and omega/b reads 0/0 where b = 0. The
            exponent keeps its rounding error as a second float, since exp turns it into a
            relative error. Proved: forms.wright_omega, forms.wright_omega_root. That the rest
            of a rounded sum or product is exact: Knuth (1997), section 4.2.2; Dekker (1971).
        lambert_excess: W(b (s + r) exp(b s))/b - s = s x, where b s x + log(1 + x) = log((s +
            r)/s), for b >= 0, s >= 0, r >= 0; the first where x is large, so also where s = 0.
            Why: W/b and s agree in nearly all digits for large b. Proved: forms.lambert_excess,
            forms.lambert_excess_root.

    Worst relative error, float64, held by a test:
        typical: s, sigma2/s and beta*(s + sigma2) in [1e-2, 1e2]: 4e-15 of each entry.
        tiny: beta*(s + sigma2) in [1e-300, 1e-3]: 4e-15 of each entry.
        huge: beta*s in [1e3, 1e15], where lambda_T and s agree: 4e-15 of each entry.
        small_noise: sigma2/s in [1e-300, 1e-10]: 4e-15 of each entry.
        singular: s = 0 or s/sigma2 in [1e-300, 1e-10], beta up to 1e15: 4e-15 of each entry.
        limits: beta = 0, s = 0 or sigma2 = 0: 4e-15 of each entry.

    It looks at values to choose a branch: not to be traced.

    Operations: 7 +, 3 -, 6 *, 5 /, 2 any, 1 exp, 1 linear_log_root, 3 log, 2 log1p, 1
    root_of_smallest, 1 smallest_normal, 1 two_product, 1 two_sum, 11 where, 1 wright_omega.

    Source: EB-42, EB-43, EB-44. Derivation: recovery.excess, tree sha256:1d9c2623417eda40.
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
    pull = beta * s
    far_above = growth > 2 / 3 + pull
    excess = linear_log_root(xp, pull, xp.where(far_above, 0, growth)) * s
    if xp.any(far_above):
        product, product_rest = two_product(xp, beta, s)
        scaled_start = (s + sigma2) * beta
        moving = scaled_start > 0
        offset = product_rest + xp.log(xp.where(moving, scaled_start, 1))
        omega = xp.where(moving, wright_omega(xp, offset + product), 0)
        decay, decay_rest = two_sum(xp, product, -omega)
        shrunk = xp.exp(decay)
        near_limit = (shrunk + (decay_rest + product_rest) * shrunk) * (s + sigma2)
        whole = xp.where(omega < 1, near_limit, omega / xp.where(beta > 0, beta, 1))
        excess = xp.where(far_above, whole - s, excess)
    return excess


@errstate(under="ignore")
def excess_bounds(
    beta: Array, s: Array, sigma2: Array, *, xp: Namespace = None
) -> tuple[Array, Array]:
    r"""Bounds on the variance left, for every bandwidth.

    .. math:: \frac{s\ell}{1+\beta s} \le \Delta \le \frac{\ell}{\beta}, \qquad \ell =
        \ln\frac{s+\sigma^2}{s}

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, above 0.
        s: shape ``batch``; eigenvalue of the clean covariance, above 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        lower: ``batch``; lower bound on Delta.
        upper: ``batch``; upper bound on Delta.

    Domain: beta > 0; s > 0; sigma2 >= 0; beta*s and sigma2/beta below 1e300. Arguments are
    trusted; the algorithms of `numeric` check them.

    Hypotheses: the clean law is Gaussian, its covariance positive semidefinite of any rank; s
    is an eigenvalue of the clean covariance.

    Chosen forms:
        log_one_plus_ratio: log((s + r)/s) = log1p(r/s) = log r - log s + log1p(s/r), for s >=
            0, r >= 0; infinite where s = 0 < r; the last term is below rounding where r/s
            overflows. Why: (s + r)/s rounds to 1 for small r/s, and r/s overflows for large.
            Proved: forms.log_one_plus_ratio.

    Worst relative error, float64, held by a test:
        typical: beta, s, sigma2 in [1e-2, 1e2]: 2e-15 of each entry.
        near: sigma2/s in [1e-300, 1e-3]: 2e-15 of each entry.
        huge: beta*s in [1e3, 1e6]: 2e-15 of each entry.
        limits: sigma2 = 0, where there is nothing to remove: 2e-15 of each entry.

    It looks at values to choose a branch: not to be traced.

    Operations: 1 +, 1 -, 3 *, 5 /, 1 any, 2 log, 2 log1p, 1 root_of_smallest, 1
    smallest_normal, 3 where.

    Source: EB-43. Derivation: recovery.excess_bounds, tree sha256:28df79a0f2c28fe1.
    """
    xp = namespace(xp, beta, s, sigma2)
    beta, s, sigma2 = real_arrays(xp, beta, s, sigma2)
    low = root_of_smallest(xp, s)
    extreme = (sigma2 > 1 / low) | (s < low)
    if xp.any(extreme):
        unresolved = s <= smallest_normal(xp, s) * sigma2
        near_log = xp.log1p(xp.where(unresolved, 0, sigma2) / s)
        far_log = xp.log(xp.where(sigma2 > 0, sigma2, 1)) - xp.log(s)
        growth = xp.where((sigma2 > 0) & unresolved, far_log, near_log)
    else:
        growth = xp.log1p(sigma2 / s)
    lower = growth * s / (1 + beta * s)
    upper = growth / beta
    return lower, upper


@errstate(under="ignore")
def expansion(beta: Array, s: Array, sigma2: Array, *, xp: Namespace = None) -> Array:
    r"""Variance left to third order in 1/beta.

    .. math:: \Delta = \frac{\ell}{\beta} - \frac{\ell}{s\beta^2} +
        \frac{\ell(2+\ell)}{2s^2\beta^3} + O(\beta^{-4})

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, above 0.
        s: shape ``batch``; eigenvalue of the clean covariance, above 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        excess: ``batch``; variance left above s, to third order.

    Domain: beta > 0; s > 0; sigma2 >= 0; beta*s in [3, 1e150]. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: the clean law is Gaussian, its covariance positive semidefinite of any rank; s
    is an eigenvalue of the clean covariance; s > 0: the remainder is not uniform in s.

    Chosen forms:
        log_one_plus_ratio: log((s + r)/s) = log1p(r/s) = log r - log s + log1p(s/r), for s >=
            0, r >= 0; infinite where s = 0 < r; the last term is below rounding where r/s
            overflows. Why: (s + r)/s rounds to 1 for small r/s, and r/s overflows for large.
            Proved: forms.log_one_plus_ratio.

    Worst relative error, float64, held by a test:
        typical: beta*s in [3, 1e3], sigma2/s in [1e-2, 1e2]: 4e-15 of each entry.
        near: sigma2/s in [1e-300, 1e-3]: 4e-15 of each entry.
        huge: beta*s in [1e3, 1e100]: 4e-15 of each entry.
        limits: sigma2 = 0, where there is nothing to remove: 4e-15 of each entry.

    It looks at values to choose a branch: not to be traced.

    Operations: 1 +, 3 -, 2 *, 9 /, 1 any, 2 log, 2 log1p, 1 root_of_smallest, 1
    smallest_normal, 3 where.

    Source: EB-43. Derivation: recovery.expansion, tree sha256:a8a20339af573921.
    """
    xp = namespace(xp, beta, s, sigma2)
    beta, s, sigma2 = real_arrays(xp, beta, s, sigma2)
    low = root_of_smallest(xp, s)
    extreme = (sigma2 > 1 / low) | (s < low)
    if xp.any(extreme):
        unresolved = s <= smallest_normal(xp, s) * sigma2
        near_log = xp.log1p(xp.where(unresolved, 0, sigma2) / s)
        far_log = xp.log(xp.where(sigma2 > 0, sigma2, 1)) - xp.log(s)
        growth = xp.where((sigma2 > 0) & unresolved, far_log, near_log)
    else:
        growth = xp.log1p(sigma2 / s)
    return (1 - (1 - (2 + growth) / 2 / beta / s) / beta / s) * growth / beta


@errstate(under="ignore")
def slope_error(excess: Array, s: Array, sigma2: Array, *, xp: Namespace = None) -> Array:
    r"""Error of the posterior mean's slope at the nominal end.

    .. math:: \varepsilon = \frac{\sigma^2\Delta}{(s+\sigma^2)(s+\sigma^2+\Delta)}

    Args:
        excess: shape ``batch``; variance left above s at the end, Delta, in [0, sigma2].
        s: shape ``batch``; eigenvalue of the clean covariance, at least 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        slope_error: ``batch``; slope less that of the posterior mean, at least 0.

    Domain: excess >= 0; s >= 0; sigma2 >= 0; s + sigma2 > 0. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: the clean law is Gaussian, its covariance positive semidefinite of any rank; s
    is an eigenvalue of the clean covariance.

    Worst relative error, float64, held by a test:
        typical: s, sigma2 in [1e-3, 1e3], Delta/sigma2 in [1e-3, 1]: 2e-15 of each entry.
        tiny: s, sigma2 in [1e-300, 1e-200]: 2e-15 of each entry.
        recovered: Delta/s in [1e-100, 1e-10]: 2e-15 of each entry.
        limits: s = 0, sigma2 = 0 or Delta = 0, not s = sigma2 = 0: 2e-15 of each entry.

    Operations: 3 +, 1 *, 2 /.

    Source: EB-50, EB-51. Derivation: recovery.slope_error, tree sha256:ca5a0372c6bd1a20.
    """
    xp = namespace(xp, excess, s, sigma2)
    excess, s, sigma2 = real_arrays(xp, excess, s, sigma2)
    noise_share = sigma2 / (s + sigma2)
    excess_share = excess / (excess + s + sigma2)
    return excess_share * noise_share


@errstate(under="ignore")
def slope_error_bound(beta: Array, s: Array, sigma2: Array, *, xp: Namespace = None) -> Array:
    r"""Bound on the error of the posterior mean's slope.

    .. math:: \varepsilon \le \frac{\sigma^2\ell}{\beta(s+\sigma^2)^2}

    Args:
        beta: shape ``batch``; inverse bandwidth of the attention kernel, above 0.
        s: shape ``batch``; eigenvalue of the clean covariance, above 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        bound: ``batch``; upper bound on the slope's error.

    Domain: beta > 0; s > 0; sigma2 >= 0; 1/(beta*s) below 1e300. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: the clean law is Gaussian, its covariance positive semidefinite of any rank; s
    is an eigenvalue of the clean covariance.

    Chosen forms:
        log_one_plus_ratio: log((s + r)/s) = log1p(r/s) = log r - log s + log1p(s/r), for s >=
            0, r >= 0; infinite where s = 0 < r; the last term is below rounding where r/s
            overflows. Why: (s + r)/s rounds to 1 for small r/s, and r/s overflows for large.
            Proved: forms.log_one_plus_ratio.

    Worst relative error, float64, held by a test:
        typical: beta, s, sigma2 in [1e-2, 1e2]: 2e-15 of each entry.
        near: sigma2/s in [1e-300, 1e-3]: 2e-15 of each entry.
        huge: beta*s in [1e3, 1e6]: 2e-15 of each entry.
        limits: sigma2 = 0, where there is nothing to remove: 2e-15 of each entry.
        tiny: s, sigma2 in [1e-300, 1e-200], beta*(s + sigma2) near 1: 2e-15 of each entry.

    It looks at values to choose a branch: not to be traced.

    Operations: 1 +, 1 -, 2 *, 6 /, 1 any, 2 log, 2 log1p, 1 root_of_smallest, 1
    smallest_normal, 3 where.

    Source: EB-50. Derivation: recovery.slope_error_bound, tree sha256:0bd650cc4f37728e.
    """
    xp = namespace(xp, beta, s, sigma2)
    beta, s, sigma2 = real_arrays(xp, beta, s, sigma2)
    low = root_of_smallest(xp, s)
    extreme = (sigma2 > 1 / low) | (s < low)
    if xp.any(extreme):
        unresolved = s <= smallest_normal(xp, s) * sigma2
        near_log = xp.log1p(xp.where(unresolved, 0, sigma2) / s)
        far_log = xp.log(xp.where(sigma2 > 0, sigma2, 1)) - xp.log(s)
        growth = xp.where((sigma2 > 0) & unresolved, far_log, near_log)
    else:
        growth = xp.log1p(sigma2 / s)
    total = s + sigma2
    noise_share = sigma2 / total
    return growth * noise_share / beta / total


@errstate(under="ignore")
def mean_square_error(
    excess: Array, s: Array, sigma2: Array, *, xp: Namespace = None
) -> tuple[Array, Array]:
    r"""Least mean square error, and its excess at the nominal end.

    .. math:: \mathrm{MMSE} = \frac{s\sigma^2}{s+\sigma^2}, \qquad
        \frac{\sigma^4\Delta^2}{(s+\sigma^2)(s+\sigma^2+\Delta)^2}

    Args:
        excess: shape ``batch``; variance left above s at the end, Delta, in [0, sigma2].
        s: shape ``batch``; eigenvalue of the clean covariance, at least 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        mmse: ``batch``; mean square error of the posterior mean, for this direction.
        excess_mse: ``batch``; what the slope's error adds to it.

    Domain: excess >= 0; s >= 0; sigma2 >= 0; s + sigma2 > 0. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: the clean law is Gaussian, its covariance positive semidefinite of any rank; s
    is an eigenvalue of the clean covariance.

    Worst relative error, float64, held by a test:
        typical: s, sigma2 in [1e-3, 1e3], Delta/sigma2 in [1e-3, 1]: 2e-15 of each entry.
        tiny: s, sigma2 in [1e-300, 1e-200]: 2e-15 of each entry.
        recovered: Delta/s in [1e-100, 1e-10]: 2e-15 of each entry.
        limits: s = 0, sigma2 = 0 or Delta = 0, not s = sigma2 = 0: 2e-15 of each entry.

    Operations: 3 +, 3 *, 2 /, 1 **.

    Source: EB-52. Derivation: recovery.mean_square_error, tree sha256:ce94b8b727cb1291.
    """
    xp = namespace(xp, excess, s, sigma2)
    excess, s, sigma2 = real_arrays(xp, excess, s, sigma2)
    batch = batch_shape((excess, 0), (s, 0), (sigma2, 0))
    noise_share = sigma2 / (s + sigma2)
    excess_share = excess / (excess + s + sigma2)
    mmse = noise_share * s
    excess_mse = excess_share**2 * noise_share * sigma2
    return fill_batch(xp, mmse, batch, 0), excess_mse


@errstate(under="ignore")
def deviation_gap(excess: Array, s: Array, *, xp: Namespace = None) -> Array:
    r"""Standard deviation left above that of the clean data.

    .. math:: W_1(f_T, P_0) = \sqrt{2/\pi}\,(\sqrt{s+\Delta} - \sqrt s) \quad (d = 1)

    Args:
        excess: shape ``batch``; variance left above s at the end, Delta, in [0, sigma2].
        s: shape ``batch``; eigenvalue of the clean covariance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        gap: ``batch``; standard deviation at the end less that of the clean law.

    Domain: excess >= 0; s >= 0. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: the clean law is Gaussian, its covariance positive semidefinite of any rank; s
    is an eigenvalue of the clean covariance.

    Chosen forms:
        root_difference: sqrt(a + d) - sqrt(a) = d/(sqrt(a + d) + sqrt(a)), for a >= 0, d >= 0;
            0 where both are 0. Why: the roots of near numbers cancel. Proved:
            forms.root_difference.

    Worst relative error, float64, held by a test:
        typical: s in [1e-3, 1e3], Delta/s in [1e-3, 1e3]: 2e-15 of each entry.
        tiny: s and Delta in [1e-300, 1e-200]: 2e-15 of each entry.
        recovered: Delta/s in [1e-100, 1e-10]: 2e-15 of each entry.
        limits: s = 0 or Delta = 0: 2e-15 of each entry.

    Operations: 2 +, 1 /, 2 sqrt, 1 where.

    Source: EB-52. Derivation: recovery.deviation_gap, tree sha256:af4c904fe1b33164.
    """
    xp = namespace(xp, excess, s)
    excess, s = real_arrays(xp, excess, s)
    return excess / xp.where(excess > 0, xp.sqrt(s) + xp.sqrt(excess + s), 1)
