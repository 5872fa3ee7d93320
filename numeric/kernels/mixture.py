"""Kernels of the subject `mixture`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/mixture.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.linear_algebra import batch_contiguous, symmetric_part
from numeric.namespace import Array, Namespace, diagonal_mask, dot_products, namespace, real_arrays

__all__ = [
    "between_cov",
    "component_cov",
    "component_hessian",
    "component_log_likelihood",
    "component_mean",
    "component_score",
    "log_evidence",
    "mixed_mean",
    "pair_integrand",
    "pair_mean",
    "pair_mmse",
    "responsibilities",
    "tweedie_cov",
    "tweedie_mean",
]


@errstate(under="ignore")
def responsibilities(log_weights: Array, log_likelihoods: Array, *, xp: Namespace = None) -> Array:
    r"""Responsibilities of the components of a mixture.

    .. math:: r_k = w_k p_k(y) / \sum_m w_m p_m(y)

    Args:
        log_weights: shape ``(*batch, K)``; log w_k, up to a constant; -inf for a component
            without mass.
        log_likelihoods: shape ``(*batch, K)``; log density of y under each component.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        responsibilities: ``(*batch, K)``; probabilities of the components.

    Domain: some component with log w + log p above -inf. Arguments are trusted; the algorithms
    of `numeric` check them.

    Chosen forms:
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.

    Worst relative error, float64, held by a test:
        typical: log-likelihoods of order 1 to 10: 5e-15 of each entry.
        saturated: one component ahead by 40: 2e-14 of each entry.
        huge: log-likelihoods of order 1e3; normal entries: 3e-13 of each entry.
        limits: components without mass, one component, equal ones: 5e-15 of each entry.

    Operations: 1 +, 1 -, 1 /, 1 batch_contiguous, 1 exp, 1 max, 1 sum.

    Source: EB-26. Derivation: mixture.responsibilities, tree sha256:15a27e87b0bf4fdf.
    """
    xp = namespace(xp, log_weights, log_likelihoods)
    log_weights, log_likelihoods = real_arrays(xp, log_weights, log_likelihoods)
    logits = log_likelihoods + log_weights
    logits = batch_contiguous(xp, logits, 1)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    return weights / xp.sum(weights, axis=-1)[..., None]


@errstate(under="ignore")
def log_evidence(log_weights: Array, log_likelihoods: Array, *, xp: Namespace = None) -> Array:
    r"""Log density of an observation under a mixture.

    .. math:: \log p(y) = \log \sum_k w_k p_k(y)

    Args:
        log_weights: shape ``(*batch, K)``; log w_k, up to a constant; -inf for a component
            without mass.
        log_likelihoods: shape ``(*batch, K)``; log density of y under each component.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        log_evidence: ``batch``; log density, normalized if the weights are.

    Domain: some component with log w + log p above -inf. Arguments are trusted; the algorithms
    of `numeric` check them.

    Chosen forms:
        log_sum_exp: log sum_j exp(x_j) = m + log sum_j exp(x_j - m), m = max x, for any real x.
            Why: no exponential overflows, and not all of them underflow. Proved:
            forms.log_sum_exp.

    Worst relative error, float64, held by a test:
        typical: log-likelihoods of order 1 to 10: 1e-15 of its logits.
        saturated: one component ahead by 40: 1e-15 of its logits.
        huge: log-likelihoods of order 1e3; normal entries: 1e-15 of its logits.
        limits: components without mass, one component, equal ones: 1e-15 of its logits.

    Operations: 2 +, 1 -, 1 batch_contiguous, 1 exp, 1 log, 1 max, 1 sum.

    Source: EB-26. Derivation: mixture.log_evidence, tree sha256:b2913c5632bfaed2.
    """
    xp = namespace(xp, log_weights, log_likelihoods)
    log_weights, log_likelihoods = real_arrays(xp, log_weights, log_likelihoods)
    logits = log_likelihoods + log_weights
    logits = batch_contiguous(xp, logits, 1)
    largest = xp.max(logits, axis=-1)
    logits_shifted = logits - largest[..., None]
    return largest + xp.log(xp.sum(xp.exp(logits_shifted), axis=-1))


@errstate(under="ignore")
def component_log_likelihood(
    mu: Array, eigenvalues: Array, basis: Array, sigma2: Array, y: Array, *, xp: Namespace = None
) -> Array:
    r"""Log density of a noisy observation under a Gaussian.

    .. math:: \log N(y; \mu, C + \sigma^2 I) = -\tfrac12 \sum_c \big(\log 2\pi(s_c + \sigma^2)
        + u_c^2/(s_c + \sigma^2)\big)

    Args:
        mu: shape ``(*batch, d)``; mean of the component.
        eigenvalues: shape ``(*batch, d)``; eigenvalues s of the component's covariance.
        basis: shape ``(*batch, d, d)``; orthogonal; column c is the eigenvector of s_c.
        sigma2: shape ``batch``; variance of the noise, above 0.
        y: shape ``(*batch, d)``; observation.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        log_likelihood: ``batch``; log density, with its constant.

    Domain: eigenvalues >= 0; sigma2 > 0; basis orthogonal. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: x ~ N(mu, V diag(s) V') and y = x + sqrt(sigma2) noise.

    Worst relative error, float64, held by a test:
        typical: eigenvalues and sigma2 in [1e-2, 1e2]: 1e-15 of its terms.
        degenerate: some eigenvalues 0, or all: an atom: 1e-15 of its terms.
        graded: eigenvalues from 1 to 1e-14, sigma2 from 1e-12 to 1e12: 2e-15 of its terms.
        tiny: variances of order 1e-150: 1e-15 of its terms.

    Operations: 2 +, 2 -, 2 *, 2 /, 1 **, 1 dot_products, 1 log, 1 matrix_transpose, 1 sum.

    Source: EB-26. Derivation: mixture.component_log_likelihood, tree sha256:da27308e4deb0634.
    """
    xp = namespace(xp, mu, eigenvalues, basis, sigma2, y)
    mu, eigenvalues, basis, sigma2, y = real_arrays(xp, mu, eigenvalues, basis, sigma2, y)
    coordinates = dot_products(xp, xp.matrix_transpose(basis), y[..., None, :] - mu[..., None, :])
    variances = sigma2[..., None] + eigenvalues
    return -xp.sum(xp.log(2 * variances * xp.pi) + coordinates**2 / variances, axis=-1) / 2


@errstate(under="ignore")
def component_mean(
    mu: Array, eigenvalues: Array, basis: Array, sigma2: Array, y: Array, *, xp: Namespace = None
) -> Array:
    r"""Posterior mean of one component.

    .. math:: \mu + C (C + \sigma^2 I)^{-1} (y - \mu)

    Args:
        mu: shape ``(*batch, d)``; mean of the component.
        eigenvalues: shape ``(*batch, d)``; eigenvalues s of the component's covariance.
        basis: shape ``(*batch, d, d)``; orthogonal; column c is the eigenvector of s_c.
        sigma2: shape ``batch``; variance of the noise, above 0.
        y: shape ``(*batch, d)``; observation.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        mean: ``(*batch, d)``; posterior mean of x, were it of this component.

    Domain: eigenvalues >= 0; sigma2 > 0; basis orthogonal. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: x ~ N(mu, V diag(s) V') and y = x + sqrt(sigma2) noise.

    Worst relative error, float64, held by a test:
        typical: eigenvalues and sigma2 in [1e-2, 1e2]: 1e-15 of the points.
        degenerate: some eigenvalues 0, or all: an atom: 1e-15 of the points.
        graded: eigenvalues from 1 to 1e-14, sigma2 from 1e-12 to 1e12: 1e-15 of the points.
        tiny: variances of order 1e-150: 1e-15 of the points.

    Operations: 2 +, 1 -, 1 *, 1 /, 2 dot_products, 1 matrix_transpose.

    Source: EB-26. Derivation: mixture.component_mean, tree sha256:ec10d9221addb608.
    """
    xp = namespace(xp, mu, eigenvalues, basis, sigma2, y)
    mu, eigenvalues, basis, sigma2, y = real_arrays(xp, mu, eigenvalues, basis, sigma2, y)
    coordinates = dot_products(xp, xp.matrix_transpose(basis), y[..., None, :] - mu[..., None, :])
    variances = sigma2[..., None] + eigenvalues
    gain = eigenvalues / variances
    return mu + dot_products(xp, basis, coordinates[..., None, :] * gain[..., None, :])


@errstate(under="ignore")
def component_cov(
    eigenvalues: Array, basis: Array, sigma2: Array, *, xp: Namespace = None
) -> Array:
    r"""Posterior covariance of one component.

    .. math:: C - C (C + \sigma^2 I)^{-1} C

    Args:
        eigenvalues: shape ``(*batch, d)``; eigenvalues s of the component's covariance.
        basis: shape ``(*batch, d, d)``; orthogonal; column c is the eigenvector of s_c.
        sigma2: shape ``batch``; variance of the noise, above 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        cov: ``(*batch, d, d)``; posterior covariance of x, were it of this component.

    Domain: eigenvalues >= 0; sigma2 > 0; basis orthogonal. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: x ~ N(mu, V diag(s) V') and y = x + sqrt(sigma2) noise.

    Worst relative error, float64, held by a test:
        typical: eigenvalues and sigma2 in [1e-2, 1e2]: 1e-15 of the largest entry.
        degenerate: some eigenvalues 0, or all: an atom: 1e-15 of the largest entry.
        graded: eigenvalues from 1 to 1e-14, sigma2 from 1e-12 to 1e12: 1e-15 of the largest
            entry.
        tiny: variances of order 1e-150: 1e-15 of the largest entry.

    Operations: 1 +, 2 *, 1 /, 1 @, 1 matrix_transpose.

    Source: EB-26. Derivation: mixture.component_cov, tree sha256:54c605e7b2dbd242.
    """
    xp = namespace(xp, eigenvalues, basis, sigma2)
    eigenvalues, basis, sigma2 = real_arrays(xp, eigenvalues, basis, sigma2)
    variances = sigma2[..., None] + eigenvalues
    gain = eigenvalues / variances
    return (basis * gain[..., None, :] * sigma2[..., None, None]) @ xp.matrix_transpose(basis)


@errstate(under="ignore")
def component_score(
    mu: Array, eigenvalues: Array, basis: Array, sigma2: Array, y: Array, *, xp: Namespace = None
) -> Array:
    r"""Score of a noisy observation under a Gaussian.

    .. math:: -(C + \sigma^2 I)^{-1} (y - \mu)

    Args:
        mu: shape ``(*batch, d)``; mean of the component.
        eigenvalues: shape ``(*batch, d)``; eigenvalues s of the component's covariance.
        basis: shape ``(*batch, d, d)``; orthogonal; column c is the eigenvector of s_c.
        sigma2: shape ``batch``; variance of the noise, above 0.
        y: shape ``(*batch, d)``; observation.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        score: ``(*batch, d)``; gradient of the log density by y.

    Domain: eigenvalues >= 0; sigma2 > 0; basis orthogonal. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: x ~ N(mu, V diag(s) V') and y = x + sqrt(sigma2) noise.

    Worst relative error, float64, held by a test:
        typical: eigenvalues and sigma2 in [1e-2, 1e2]: 1e-15 of the largest entry.
        degenerate: some eigenvalues 0, or all: an atom: 1e-15 of the largest entry.
        graded: eigenvalues from 1 to 1e-14, sigma2 from 1e-12 to 1e12: 1e-15 of the largest
            entry.
        tiny: variances of order 1e-150: 1e-15 of the largest entry.

    Operations: 1 +, 2 -, 1 /, 2 dot_products, 1 matrix_transpose.

    Source: EB-3, EB-26. Derivation: mixture.component_score, tree sha256:ae5f050227ed8079.
    """
    xp = namespace(xp, mu, eigenvalues, basis, sigma2, y)
    mu, eigenvalues, basis, sigma2, y = real_arrays(xp, mu, eigenvalues, basis, sigma2, y)
    coordinates = dot_products(xp, xp.matrix_transpose(basis), y[..., None, :] - mu[..., None, :])
    variances = sigma2[..., None] + eigenvalues
    return -dot_products(xp, basis, coordinates[..., None, :] / variances[..., None, :])


@errstate(under="ignore")
def component_hessian(
    eigenvalues: Array, basis: Array, sigma2: Array, *, xp: Namespace = None
) -> Array:
    r"""Second derivatives of the log density under a Gaussian.

    .. math:: -(C + \sigma^2 I)^{-1}

    Args:
        eigenvalues: shape ``(*batch, d)``; eigenvalues s of the component's covariance.
        basis: shape ``(*batch, d, d)``; orthogonal; column c is the eigenvector of s_c.
        sigma2: shape ``batch``; variance of the noise, above 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        hessian: ``(*batch, d, d)``; second derivatives of the log density by y.

    Domain: eigenvalues >= 0; sigma2 > 0; basis orthogonal. Arguments are trusted; the
    algorithms of `numeric` check them.

    Hypotheses: x ~ N(mu, V diag(s) V') and y = x + sqrt(sigma2) noise.

    Worst relative error, float64, held by a test:
        typical: eigenvalues and sigma2 in [1e-2, 1e2]: 1e-15 of the largest entry.
        degenerate: some eigenvalues 0, or all: an atom: 1e-15 of the largest entry.
        graded: eigenvalues from 1 to 1e-14, sigma2 from 1e-12 to 1e12: 1e-15 of the largest
            entry.
        tiny: variances of order 1e-150: 1e-15 of the largest entry.

    Operations: 1 +, 1 -, 1 /, 1 @, 1 matrix_transpose.

    Source: EB-3, EB-26. Derivation: mixture.component_hessian, tree sha256:58245210cd46fb6a.
    """
    xp = namespace(xp, eigenvalues, basis, sigma2)
    eigenvalues, basis, sigma2 = real_arrays(xp, eigenvalues, basis, sigma2)
    variances = sigma2[..., None] + eigenvalues
    return -(basis / variances[..., None, :]) @ xp.matrix_transpose(basis)


@errstate(under="ignore")
def mixed_mean(responsibilities: Array, means: Array, *, xp: Namespace = None) -> Array:
    r"""Mean of a mixture from its components.

    .. math:: m = \sum_k r_k m_k

    Args:
        responsibilities: shape ``(*batch, K)``; nonnegative, with sum 1.
        means: shape ``(*batch, K, d)``; means of the components.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        mean: ``(*batch, d)``; mean of the mixture.

    Domain: responsibilities >= 0 with sum 1. Arguments are trusted; the algorithms of `numeric`
    check them.

    Worst relative error, float64, held by a test:
        typical: means of order 1: 1e-15 of the means.
        offset: means moved by 1e6: 1e-15 of the means.
        limits: one component with all the mass, equal components: 1e-15 of the means.

    Operations: 1 @.

    Source: EB-26. Derivation: mixture.mixed_mean, tree sha256:5d56740b963a7bd6.
    """
    xp = namespace(xp, responsibilities, means)
    responsibilities, means = real_arrays(xp, responsibilities, means)
    return (responsibilities[..., None, :] @ means)[..., 0, :]


@errstate(under="ignore")
def between_cov(responsibilities: Array, means: Array, *, xp: Namespace = None) -> Array:
    r"""Covariance of the means of a mixture's components.

    .. math:: \sum_k r_k (m_k - m)(m_k - m)^\top

    Args:
        responsibilities: shape ``(*batch, K)``; nonnegative, with sum 1.
        means: shape ``(*batch, K, d)``; means of the components.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        between: ``(*batch, d, d)``; what to add to the mean of the components' covariances.

    Domain: responsibilities >= 0 with sum 1. Arguments are trusted; the algorithms of `numeric`
    check them.

    Chosen forms:
        common_origin: sum_j s_j z_j - y = sum_j s_j (z_j - o) - (y - o), o the first point, for
            weights s of sum one. Why: far from the origin of the coordinates the two terms
            cancel. Proved: forms.common_origin.

    Worst relative error, float64, held by a test:
        typical: means of order 1: 3e-15 of the largest entry.
        offset: means moved by 1e6: 3e-15 of the largest entry.
        limits: one component with all the mass, equal components: 3e-15 of the largest entry.

    Operations: 2 -, 1 *, 2 @, 1 matrix_transpose, 1 symmetric_part.

    Source: EB-26. Derivation: mixture.between_cov, tree sha256:9fe92aa38564fb32.
    """
    xp = namespace(xp, responsibilities, means)
    responsibilities, means = real_arrays(xp, responsibilities, means)
    centred = means - means[..., 0, None, :]
    deviations = centred - (responsibilities[..., None, :] @ centred)[..., 0, :][..., None, :]
    return symmetric_part(
        xp, xp.matrix_transpose(deviations * responsibilities[..., None]) @ deviations
    )


@errstate(under="ignore")
def tweedie_mean(y: Array, sigma2: Array, score: Array, *, xp: Namespace = None) -> Array:
    r"""Posterior mean from the score (Tweedie).

    .. math:: m(y) = y + \sigma^2 \nabla \log p(y)

    Args:
        y: shape ``(*batch, d)``; observation.
        sigma2: shape ``batch``; variance of the noise, above 0.
        score: shape ``(*batch, d)``; gradient of the log density of y.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        mean: ``(*batch, d)``; posterior mean of x.

    Domain: sigma2 >= 0. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: y = x + sqrt(sigma2) noise, x of any law.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 1e-15 of the larger term.

    Operations: 1 +, 1 *.

    Source: EB-3 (A.3). Derivation: mixture.tweedie_mean, tree sha256:81d275689ef97ae8.
    """
    xp = namespace(xp, y, sigma2, score)
    y, sigma2, score = real_arrays(xp, y, sigma2, score)
    return y + score * sigma2[..., None]


@errstate(under="ignore")
def tweedie_cov(sigma2: Array, hessian: Array, *, xp: Namespace = None) -> Array:
    r"""Posterior covariance from the second derivatives (Tweedie).

    .. math:: \mathrm{Cov}(x \mid y) = \sigma^2 I + \sigma^4 \nabla^2 \log p(y)

    Args:
        sigma2: shape ``batch``; variance of the noise, above 0.
        hessian: shape ``(*batch, d, d)``; second derivatives of the log density of y.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        cov: ``(*batch, d, d)``; posterior covariance of x.

    Domain: sigma2 >= 0. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: y = x + sqrt(sigma2) noise, x of any law.

    Where the posterior is much narrower than the noise the two terms cancel.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 1e-15 of the larger term.

    Operations: 1 +, 1 *, 1 **, 1 diagonal_mask, 1 where.

    Source: EB-3 (A.3). Derivation: mixture.tweedie_cov, tree sha256:a65e0404870277de.
    """
    xp = namespace(xp, sigma2, hessian)
    sigma2, hessian = real_arrays(xp, sigma2, hessian)
    return xp.where(
        diagonal_mask(xp, hessian.shape[-2], hessian), sigma2[..., None, None], 0
    ) + hessian * sigma2[..., None, None]**2


@errstate(under="ignore")
def pair_mean(y: Array, mu: Array, v: Array, sigma2: Array, *, xp: Namespace = None) -> Array:
    r"""Posterior mean under a symmetric pair of Gaussians.

    .. math:: m(y) = \frac{v}{v+\sigma^2} y + \frac{\sigma^2}{v+\sigma^2} \tanh\Big(\frac{\mu
        \cdot y}{v+\sigma^2}\Big) \mu

    Args:
        y: shape ``(*batch, d)``; observation.
        mu: shape ``(*batch, d)``; centre of the right Gaussian.
        v: shape ``batch``; their variance; 0: two atoms.
        sigma2: shape ``batch``; variance of the noise, above 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        mean: ``(*batch, d)``; posterior mean of x.

    Domain: v >= 0; sigma2 > 0. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: x ~ N(mu, v I)/2 + N(-mu, v I)/2 and y = x + sqrt(sigma2) noise.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 1e-15 of the points.
        atoms: v = 0, sigma2 from 1e-3 to 1e3: 2e-15 of the points.
        far: y of order 1e3, sigma2 from 1e-3 on: 1e-15 of the points.

    Operations: 2 +, 3 *, 3 /, 1 dot_products, 1 tanh.

    Source: EB-27. Derivation: mixture.pair_mean, tree sha256:177b67b3003b916c.
    """
    xp = namespace(xp, y, mu, v, sigma2)
    y, mu, v, sigma2 = real_arrays(xp, y, mu, v, sigma2)
    total = sigma2 + v
    lean = xp.tanh(dot_products(xp, mu, y) / total)
    return (
        mu * lean[..., None] * sigma2[..., None] / total[..., None]
        + y * v[..., None] / total[..., None]
    )


@errstate(under="ignore")
def pair_integrand(kappa: Array, x: Array, *, xp: Namespace = None) -> Array:
    r"""Integrand of the mean square error under a symmetric pair.

    .. math:: \varphi(x - \kappa)\,\mathrm{sech}^2(\kappa x)

    Args:
        kappa: shape ``batch``; |mu|/sqrt(v + sigma2), at least 0.
        x: shape ``batch``; where it is evaluated.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        integrand: ``batch``; its integral over x is E sech^2(kappa^2 + kappa Z).

    Domain: kappa >= 0. Arguments are trusted; the algorithms of `numeric` check them.

    Chosen forms:
        sech_square: 1 - tanh(x)^2 = 4 u/(1 + u)^2, u = exp(-2 |x|), for any real x. Why: tanh
            rounds to 1 from x = 19 on, and cosh overflows from x = 710 on. Proved:
            forms.sech_square.

    Worst relative error, float64, held by a test:
        typical: kappa in [0, 3], |x| below 6: 2e-14 of each entry.
        tails: kappa in [0, 30], |x| below 30; normal values: 3e-13 of each entry.

    Operations: 1 +, 2 -, 5 *, 4 /, 3 **, 1 abs, 2 exp.

    Source: EB-28. Derivation: mixture.pair_integrand, tree sha256:fcf4bd9aee7e5adf.
    """
    xp = namespace(xp, kappa, x)
    kappa, x = real_arrays(xp, kappa, x)
    decay = xp.exp(-2 * xp.abs(x) * kappa)
    return 2 * (2 / xp.pi)**(1 / 2) * decay * xp.exp(-(x - kappa)**2 / 2) / (1 + decay)**2


@errstate(under="ignore")
def pair_mmse(
    width: Array, norm2: Array, v: Array, sigma2: Array, spread: Array, *, xp: Namespace = None
) -> Array:
    r"""Least mean square error under a symmetric pair of Gaussians.

    .. math:: d \frac{v \sigma^2}{v + \sigma^2} + \frac{\sigma^4 |\mu|^2}{(v + \sigma^2)^2}
        E\,\mathrm{sech}^2(\kappa^2 + \kappa Z)

    Args:
        width: shape ``batch``; number of coordinates, d.
        norm2: shape ``batch``; |mu|^2, mu the centre of the right Gaussian.
        v: shape ``batch``; their variance; 0: two atoms.
        sigma2: shape ``batch``; variance of the noise, above 0.
        spread: shape ``batch``; E sech^2(kappa^2 + kappa Z), the integral of the integrand.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        mmse: ``batch``; E|x - m(y)|^2, summed over the coordinates.

    Domain: v >= 0; sigma2 > 0. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: x ~ N(mu, v I)/2 + N(-mu, v I)/2 and y = x + sqrt(sigma2) noise.

    Worst relative error, float64, held by a test:
        typical: entries of order 1: 2e-15 of each entry.
        atoms: v = 0, sigma2 from 1e-3 to 1e3: 2e-15 of each entry.

    Operations: 2 +, 4 *, 1 /, 1 **.

    Source: EB-28. Derivation: mixture.pair_mmse, tree sha256:01999b611ede6e54.
    """
    xp = namespace(xp, width, norm2, v, sigma2, spread)
    width, norm2, v, sigma2, spread = real_arrays(xp, width, norm2, v, sigma2, spread)
    share = sigma2 / (sigma2 + v)
    return share * v * width + share**2 * norm2 * spread
