"""Kernels of the subject `density`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/density.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.namespace import Array, Namespace, dot_products, namespace, real_arrays

__all__ = ["log_density", "log_odds", "noise_mean"]


@errstate(under="ignore")
def log_density(
    eigenvalues: Array, coordinates: Array, support: Array, *, xp: Namespace = None
) -> Array:
    r"""Log-density of a Gaussian on its support, in the eigenbasis of its covariance.

    .. math:: \log\varphi(x;\Sigma) = -\tfrac12\big(\log\mathrm{pdet}(2\pi\Sigma) +
        x^\top\Sigma^{+}x\big) = -\tfrac12\sum_{\lambda_a>0}\big(\log(2\pi\lambda_a) +
        y_a^2/\lambda_a\big)

    Args:
        eigenvalues: shape ``(*batch, q)``; eigenvalues of the covariance, above 0 (any number
            off the support).
        coordinates: shape ``(*batch, q)``; coordinates of x in the eigenbasis.
        support: shape ``(*batch, q)``; 1 for a direction of the support, 0 for any other.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        log_density: ``batch``; logarithm of the density with respect to the support.

    Domain: 1e300 > eigenvalues > 1e-300. Arguments are trusted; the algorithms of `numeric`
    check them.

    Hypotheses: x lies in the range of the covariance; x = U y with orthonormal columns U.

    Worst relative error, float64, held by a test:
        typical: eigenvalues from 1e-3 to 1e3: 1e-15 of the largest term.
        tiny: eigenvalues down to 1e-300, and deviations: 1e-15 of the largest term.
        huge: eigenvalues up to 1e300: 1e-15 of the largest term.
        singular: some directions off the support: 1e-15 of the largest term.

    Operations: 1 +, 1 -, 2 *, 2 /, 1 **, 1 dot_products, 1 log.

    Source: FB-4. Derivation: density.log_density, tree sha256:0f82157916907cc8.
    """
    xp = namespace(xp, eigenvalues, coordinates, support)
    eigenvalues, coordinates, support = real_arrays(xp, eigenvalues, coordinates, support)
    return -dot_products(
        xp, xp.log(2 * eigenvalues * xp.pi) + coordinates**2 / eigenvalues, support
    ) / 2


@errstate(under="ignore")
def log_odds(
    log_prior: Array, means: Array, state: Array, t: Array, reference: int, *, xp: Namespace = None
) -> Array:
    r"""Log-odds of the components given the state.

    .. math:: \Lambda_{nm} = \log\frac{\pi_n}{\pi_m} + t^{-2}\langle\mu_n - \mu_m,\ z -
        \tfrac12(\mu_n + \mu_m)\rangle

    Args:
        log_prior: shape ``(*batch, N)``; logarithms of the masses, up to a constant.
        means: shape ``(*batch, N, d)``; mean of each component.
        state: shape ``(*batch, d)``; the state, or what of it was seen.
        t: shape ``batch``; corruption level, above 0.
        reference: int; index of the component that the others are compared with.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        log_odds: ``(*batch, N)``; log-odds against the reference, whose own are 0.

    Domain: t > 1e-150; the log-odds don't overflow. Arguments are trusted; the algorithms of
    `numeric` check them.

    Hypotheses: z = mu_J + t eps with isotropic noise; 0 < t <= 1.

    Worst relative error, float64, held by a test:
        typical: means of order 1, t in [0.05, 1]: 1e-15 of the largest term.
        remote: means and state near a common point 1e8 away: 1e-15 of the largest term.
        sharp: t from 1e-140 to 1e-3: 1e-15 of the largest term.
        pure noise: t = 1 and all means equal: 1e-15 of the largest term.

    Operations: 1 +, 4 -, 2 /, 1 **, 2 dot_products.

    Source: FB-2, FB-9. Derivation: density.log_odds, tree sha256:5cb7fe214e442f7b.
    """
    xp = namespace(xp, log_prior, means, state, t)
    log_prior, means, state, t = real_arrays(xp, log_prior, means, state, t)
    contrasts = means - means[..., reference, None, :]
    displacement = state - means[..., reference, :]
    gained = dot_products(xp, contrasts, displacement[..., None, :]) - dot_products(
        xp, contrasts, contrasts
    ) / 2
    return log_prior + gained / t[..., None]**2 - log_prior[..., reference, None]


@errstate(under="ignore")
def noise_mean(
    responsibilities: Array, means: Array, token: Array, t: Array, *, xp: Namespace = None
) -> Array:
    r"""Mean of a token's noise, given the responsibilities.

    .. math:: E[\varepsilon_i \mid o] = \Big(Z_i - \sum_n r_n(o)\mu_{n,i}\Big)/t = \sum_n
        r_n(o)\,(Z_i - \mu_{n,i})/t

    Args:
        responsibilities: shape ``(*batch, N)``; posterior masses, with sum 1.
        means: shape ``(*batch, N, d)``; mean of the token in each component.
        token: shape ``(*batch, d)``; the token.
        t: shape ``batch``; corruption level, above 0.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        noise_mean: ``(*batch, d)``; mean of the noise.

    Domain: t > 1e-150. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: the observation determines the token; the responsibilities sum to one.

    Worst relative error, float64, held by a test:
        typical: means of order 1, t in [0.05, 1]: 1e-15 of the noise.
        remote: means and token near a common point 1e8 away: 1e-15 of the noise.
        sharp: t from 1e-140 to 1e-3: 1e-15 of the noise.

    Operations: 1 -, 1 /, 1 @.

    Source: FB-3 (eq. 4). Derivation: density.noise_mean, tree sha256:4e529c61b257a88f.
    """
    xp = namespace(xp, responsibilities, means, token, t)
    responsibilities, means, token, t = real_arrays(xp, responsibilities, means, token, t)
    return (
        responsibilities[..., None, :] @ (token[..., None, :] - means)
    )[..., 0, :] / t[..., None]
