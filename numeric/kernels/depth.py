"""Kernels of the subject `depth`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/depth.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.exact_floats import two_product
from numeric.namespace import (
    Array,
    Namespace,
    namespace,
    real_arrays,
    root_of_smallest,
    smallest_normal,
)

__all__ = ["bayes_time", "euler_error", "layer", "log_defect", "one_shot", "stage_one"]


@errstate(under="ignore")
def layer(v: Array, eta: Array, beta: Array, *, xp: Namespace = None) -> Array:
    r"""Eigenvalue of the covariance after one layer.

    .. math:: v_{\ell+1} = v_\ell\Big(1 - \frac{\eta}{1 + \beta v_\ell}\Big)^2

    Args:
        v: shape ``batch``; eigenvalue before the layer, at least 0.
        eta: shape ``batch``; step of the layer, in [0, 1].
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        v_next: ``batch``; eigenvalue after the layer.

    Domain: v >= 0; 0 <= eta <= 1; beta >= 0; beta*v below 1e300. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: infinitely many tokens, of a Gaussian law.

    Worst relative error, float64, held by a test:
        typical: v, beta in [1e-2, 1e2], eta in [0, 1]: 2e-15 of each entry.
        tiny: beta*v in [1e-100, 1e-3], eta within 1e-3 of 1: 2e-15 of each entry.
        huge: beta*v in [1e3, 1e100]: 2e-15 of each entry.
        limits: beta = 0, v = 0, eta = 0 or eta = 1: 2e-15 of each entry.

    Operations: 2 +, 1 -, 2 *, 1 /, 1 **.

    Source: EB-10. Derivation: depth.layer, tree sha256:3218971f6e25b79a.
    """
    xp = namespace(xp, v, eta, beta)
    v, eta, beta = real_arrays(xp, v, eta, beta)
    scaled = beta * v
    rest = 1 - eta
    kept = (rest + scaled) / (1 + scaled)
    return kept**2 * v


@errstate(under="ignore")
def log_defect(v: Array, h: Array, beta: Array, *, xp: Namespace = None) -> Array:
    r"""Defect of one layer in log v against the flow, leading term.

    .. math:: h^2\,\frac{v - 1/\beta}{(v + 1/\beta)^3} = (\beta h)^2\,\frac{\beta v - 1}{(1 +
        \beta v)^3}

    Args:
        v: shape ``batch``; eigenvalue before the layer, at least 0.
        h: shape ``batch``; main-text time that the layer advances, eta/beta, at least 0.
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        defect: ``batch``; log v after the layer less that of the flow after h, leading term.

    Domain: v >= 0; h >= 0; beta*h <= 1; beta >= 0; beta*v below 1e100. Arguments are trusted;
    the algorithms of `numeric` check them.

    Hypotheses: infinitely many tokens, of a Gaussian law; the remainder is of order h^3.

    Chosen forms:
        product_less_number: x y - c = (p - c) + r, where p is x y rounded and r the rest, for
            numbers x, y and c > 0 of which no product over- or underflows. Why: a rounded
            product near c leaves nothing but its rounding error. Proved: That the rest of a
            rounded product is a float: Dekker (1971).

    Worst relative error, float64, held by a test:
        typical: v, beta in [1e-2, 1e2], beta*h in [0, 1]: 2e-15 of each entry.
        root: beta*v - 1 in [1e-15, 1e-3], where the sign changes: 2e-15 of each entry.
        tiny: beta*v in [1e-100, 1e-3]: 2e-15 of each entry.
        huge: beta*v in [1e3, 1e100]: 2e-15 of each entry.
        limits: beta = 0, v = 0 or h = 0: 2e-15 of each entry.

    Operations: 2 +, 1 -, 3 *, 1 /, 2 **, 1 two_product.

    Source: EB-10. Derivation: depth.log_defect, tree sha256:58f15362ed759832.
    """
    xp = namespace(xp, v, h, beta)
    v, h, beta = real_arrays(xp, v, h, beta)
    step = beta * h
    product, product_rest = two_product(xp, beta, v)
    difference = product - 1
    return (difference + product_rest) * step**2 / (1 + beta * v)**3


@errstate(under="ignore")
def euler_error(
    v_start: Array, v_end: Array, eta: Array, beta: Array, *, xp: Namespace = None
) -> Array:
    r"""Leading error of the layers against the flow at the end.

    .. math:: v_L - v(T) = h\,\frac{v_T}{v_T + 1/\beta}\Big[\ln\frac{v_0 + 1/\beta}{v_T +
        1/\beta} - \tfrac12\ln\frac{v_0}{v_T}\Big] + O(h^2)

    Args:
        v_start: shape ``batch``; eigenvalue before the first layer, above 0.
        v_end: shape ``batch``; where the flow ends, above 0 and at most v_start.
        eta: shape ``batch``; step of the layer, in [0, 1].
        beta: shape ``batch``; inverse bandwidth of the attention kernel, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        error: ``batch``; eigenvalue after the last layer less that of the flow, leading.

    Domain: 0 < v_end <= v_start; 0 <= eta <= 1; beta >= 0; beta*v_start and v_start/v_end below
    1e100. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: infinitely many tokens, of a Gaussian law; all layers have the same step eta and
    bandwidth.

    Chosen forms:
        log1p: log(1 + x) = log1p(x), for x > -1. Why: 1 + x rounds to 1 for small x. Proved:
            The definition of log1p, which libraries compute without the rounded sum.

    Worst relative error, float64, held by a test:
        typical: v_end, beta in [1e-2, 1e2], v_start/v_end to 10: 4e-15 of the two logarithms.
        near: v_start/v_end - 1 in [1e-12, 1e-3]: 4e-15 of the two logarithms.
        huge: beta*v_end in [1e3, 1e50]: 4e-15 of the two logarithms.
        limits: beta = 0, eta = 0 or v_start = v_end: 4e-15 of the two logarithms.

    Operations: 1 +, 2 -, 4 *, 4 /, 2 log1p.

    Source: EB-10. Derivation: depth.euler_error, tree sha256:1164e920adc7addc.
    """
    xp = namespace(xp, v_start, v_end, eta, beta)
    v_start, v_end, eta, beta = real_arrays(xp, v_start, v_end, eta, beta)
    fallen = v_start - v_end
    widened = 1 + beta * v_end
    return (
        xp.log1p(beta * fallen / widened) - xp.log1p(fallen / v_end) / 2
    ) * eta * v_end / widened


@errstate(under="ignore")
def one_shot(s: Array, sigma2: Array, *, xp: Namespace = None) -> tuple[Array, Array, Array]:
    r"""Estimate at depth 0 with the bandwidth of the noise.

    .. math:: \frac{s+\sigma^2}{s+2\sigma^2}, \qquad
        \frac{\sigma^4}{(s+\sigma^2)(s+2\sigma^2)}, \qquad
        \frac{\sigma^8}{(s+\sigma^2)(s+2\sigma^2)^2}

    Args:
        s: shape ``batch``; eigenvalue of the clean covariance, at least 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        slope: ``batch``; slope of the estimate.
        gap: ``batch``; by how much it exceeds the slope of the posterior mean.
        excess_mse: ``batch``; mean square error above that of the posterior mean.

    Domain: s >= 0; sigma2 >= 0; s + sigma2 > 0. Arguments are trusted; the algorithms of
    `numeric` check them.

    Hypotheses: infinitely many tokens, of a Gaussian law.

    Worst relative error, float64, held by a test:
        typical: s, sigma2 in [1e-3, 1e3]: 2e-15 of each entry.
        near: sigma2/s in [1e-100, 1e-3]: 2e-15 of each entry.
        far: sigma2/s in [1e3, 1e100]: 2e-15 of each entry.
        tiny: s, sigma2 in [1e-300, 1e-200]: 2e-15 of each entry.
        limits: s = 0 or sigma2 = 0, not both: 2e-15 of each entry.

    Operations: 4 +, 5 *, 3 /, 1 **.

    Source: EB-21. Derivation: depth.one_shot, tree sha256:ff1ad2112474f696.
    """
    xp = namespace(xp, s, sigma2)
    s, sigma2 = real_arrays(xp, s, sigma2)
    noise_share = sigma2 / (s + sigma2)
    double_share = sigma2 / (s + 2 * sigma2)
    slope = (s + sigma2) / (s + 2 * sigma2)
    gap = double_share * noise_share
    excess_mse = double_share**2 * noise_share * sigma2
    return slope, gap, excess_mse


@errstate(under="ignore")
def stage_one(s: Array, sigma2: Array, *, xp: Namespace = None) -> tuple[Array, Array]:
    r"""Estimate of Stage 1 alone when the variance has come back.

    .. math:: \sqrt{\frac{s}{s+\sigma^2}}, \qquad s\Big(1 - \sqrt{\frac{s}{s+\sigma^2}}\Big)^2

    Args:
        s: shape ``batch``; eigenvalue of the clean covariance, at least 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        slope: ``batch``; slope of the estimate.
        excess_mse: ``batch``; mean square error above that of the posterior mean.

    Domain: s >= 0; sigma2 >= 0; s + sigma2 > 0. Arguments are trusted; the algorithms of
    `numeric` check them.

    Hypotheses: infinitely many tokens, of a Gaussian law.

    Worst relative error, float64, held by a test:
        typical: s, sigma2 in [1e-3, 1e3]: 2e-15 of each entry.
        near: sigma2/s in [1e-100, 1e-3]: 2e-15 of each entry.
        far: sigma2/s in [1e3, 1e100]: 2e-15 of each entry.
        tiny: s, sigma2 in [1e-300, 1e-200]: 2e-15 of each entry.
        limits: s = 0 or sigma2 = 0, not both: 2e-15 of each entry.
        remote: sigma2/s in [1e300, 1e320], where s/sigma2 underflows: 2e-15 of each entry.

    Operations: 3 +, 1 *, 3 /, 1 **, 2 sqrt.

    Source: EB-22. Derivation: depth.stage_one, tree sha256:62b5cbb2451dee51.
    """
    xp = namespace(xp, s, sigma2)
    s, sigma2 = real_arrays(xp, s, sigma2)
    noise_share = sigma2 / (s + sigma2)
    slope = xp.sqrt(s) / xp.sqrt(s + sigma2)
    lost = noise_share / (1 + slope)
    excess_mse = lost**2 * s
    return slope, excess_mse


@errstate(under="ignore")
def bayes_time(beta: Array, s: Array, sigma2: Array, *, xp: Namespace = None) -> Array:
    r"""Main-text time at which Stage 1 alone has the slope of Bayes.

    .. math:: t_B = \frac{\sigma^2(2s+\sigma^2)}{2(s+\sigma^2)} +
        \frac1\beta\ln\frac{s+\sigma^2}{s}

    Args:
        beta: shape ``batch``; inverse bandwidth, above 0.
        s: shape ``batch``; eigenvalue of the clean covariance, at least 0.
        sigma2: shape ``batch``; noise variance, at least 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        time: ``batch``; main-text time; infinite where s = 0 < sigma2.

    Domain: beta > 0; s >= 0; sigma2 >= 0; s + sigma2 > 0; sigma2/beta below 1e300. Arguments
    are trusted; the algorithms of `numeric` check them.

    Hypotheses: infinitely many tokens, of a Gaussian law.

    Chosen forms:
        log_one_plus_ratio: log((s + r)/s) = log1p(r/s) = log r - log s + log1p(s/r), for s >=
            0, r >= 0; infinite where s = 0 < r; the last term is below rounding where r/s
            overflows. Why: (s + r)/s rounds to 1 for small r/s, and r/s overflows for large.
            Proved: forms.log_one_plus_ratio.

    Worst relative error, float64, held by a test:
        typical: s, sigma2, beta in [1e-3, 1e3]: 2e-15 of each entry.
        near: sigma2/s in [1e-300, 1e-3]: 2e-15 of each entry.
        far: sigma2/s in [1e3, 1e320]: 2e-15 of each entry.
        limits: sigma2 = 0, or s = 0 where the time is infinite: 2e-15 of each entry.

    It looks at values to choose a branch: not to be traced.

    Operations: 3 +, 1 -, 2 *, 6 /, 1 any, 2 log, 2 log1p, 1 root_of_smallest, 1
    smallest_normal, 5 where.

    Source: EB-22. Derivation: depth.bayes_time, tree sha256:3747ee3df40e43db.
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
    return growth / beta + (1 + s / (s + sigma2)) * sigma2 / 2
