"""Kernels of the subject `gaussian_kernel`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/gaussian_kernel.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.distances import excess_distances, squared_distances
from numeric.linear_algebra import batch_contiguous, symmetric_part
from numeric.namespace import Array, Namespace, diagonal_mask, dot_products, namespace, real_arrays

__all__ = [
    "attention_step",
    "covariance",
    "dot_product_weights",
    "energy",
    "energy_gradient",
    "energy_hessian",
    "mean",
    "mean_jacobian",
    "score",
    "weights",
]


@errstate(under="ignore")
def weights(
    beta: Array, queries: Array, particles: Array, log_weights: Array, *, xp: Namespace = None
) -> Array:
    r"""Gaussian kernel weights of particles, a softmax row.

    .. math:: a_{ij} = \mathrm{softmax}_j(\log w_j - \tfrac{\beta}{2} |q_i - z_j|^2)

    Args:
        beta: shape ``batch``; inverse bandwidth, at least 0.
        queries: shape ``(*batch, n, d)``; points at which the particles are averaged.
        particles: shape ``(*batch, N, d)``; particles z.
        log_weights: shape ``(*batch, N)``; log w_j, up to a constant; -inf for a particle that
            does not count.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        weights: ``(*batch, n, N)``; weights of the particles, each row with sum 1.

    Domain: beta >= 0; squared distances below 1e300; some log_weights above -inf. Arguments are
    trusted; the algorithms of `numeric` check them.

    Chosen forms:
        nearest_first: exp(l_j - c D_j)/sum_k exp(l_k - c D_k) = the same with E_j for D_j, D_j
            = |q - z_j|^2, E_j = D_j - |q - z|^2 = sum_a (z_ja - z_a)((z_ja - q_a) + (z_a -
            q_a)), z any one point, for any real l and c; z is the nearest particle. Why: far
            from all particles the distances agree in their leading digits, and c times their
            rounding is an error of the exponents. Proved: forms.nearest_first.
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.

    Worst relative error, float64, held by a test:
        typical: a cloud of radius 3, beta from 0.1 to 10: 3e-13 of each entry.
        far: queries at a distance of 1e4 to 1e8, beta its inverse: 1e-14 of each entry.
        shifted: the cloud and the queries moved by 1e8: 3e-13 of each entry.
        clusters: tight clusters in a wide cloud, beta from 1e3 to 1e12: 1e-13 of each entry.
        limits: beta = 0, one particle counted, duplicates, queries on particles: 3e-13 of each
            entry.

    Operations: 2 -, 1 *, 2 /, 1 batch_contiguous, 1 excess_distances, 1 exp, 1 max, 1
    squared_distances, 1 sum.

    Source: EB-6, EB-13. Derivation: gaussian_kernel.weights, tree sha256:3717469b8a2f5b7b.
    """
    xp = namespace(xp, beta, queries, particles, log_weights)
    beta, queries, particles, log_weights = real_arrays(xp, beta, queries, particles, log_weights)
    distances = squared_distances(xp, queries, particles)
    excess = excess_distances(xp, distances, queries, particles)
    logits = log_weights[..., None, :] - excess * beta[..., None, None] / 2
    logits = batch_contiguous(xp, logits, 2)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    return weights / xp.sum(weights, axis=-1)[..., None]


@errstate(under="ignore")
def dot_product_weights(
    beta: Array, queries: Array, particles: Array, log_weights: Array, *, xp: Namespace = None
) -> Array:
    r"""Gaussian kernel weights as dot-product attention with a key-norm bias.

    .. math:: a_{ij} = \mathrm{softmax}_j(\log w_j + \beta q_i \cdot z_j - \tfrac{\beta}{2}
        |z_j|^2)

    Args:
        beta: shape ``batch``; inverse bandwidth, at least 0.
        queries: shape ``(*batch, n, d)``; points at which the particles are averaged.
        particles: shape ``(*batch, N, d)``; particles z.
        log_weights: shape ``(*batch, N)``; log w_j, up to a constant; -inf for a particle that
            does not count.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        weights: ``(*batch, n, N)``; weights of the particles, each row with sum 1.

    Domain: beta >= 0; some log_weights above -inf. Arguments are trusted; the algorithms of
    `numeric` check them.

    An error of the logits is eps times beta times the squares of the norms: take the points
    from an origin near them, or use the weights from distances.

    Chosen forms:
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.

    Worst relative error, float64, held by a test:
        typical: a cloud of radius 3, beta from 0.1 to 10: 3e-13 of each entry.
        far: queries at a distance of 1e4 to 1e8, beta its inverse: 1e-14 of each entry.
        clusters: tight clusters in a wide cloud, beta from 1e3 to 1e12: 1e-15 of 1 + beta times
            the squares.

    Operations: 1 +, 2 -, 2 *, 2 /, 1 @, 1 batch_contiguous, 1 dot_products, 1 exp, 1
    matrix_transpose, 1 max, 1 sum.

    Source: EB-7. Derivation: gaussian_kernel.dot_product_weights, tree sha256:29ca377007dab8c8.
    """
    xp = namespace(xp, beta, queries, particles, log_weights)
    beta, queries, particles, log_weights = real_arrays(xp, beta, queries, particles, log_weights)
    products = queries @ xp.matrix_transpose(particles)
    norms = dot_products(xp, particles, particles)
    logits = (
        log_weights[..., None, :]
        + products * beta[..., None, None]
        - norms[..., None, :] * beta[..., None, None] / 2
    )
    logits = batch_contiguous(xp, logits, 2)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    return weights / xp.sum(weights, axis=-1)[..., None]


@errstate(under="ignore")
def mean(
    beta: Array, queries: Array, particles: Array, log_weights: Array, *, xp: Namespace = None
) -> Array:
    r"""Kernel mean of particles.

    .. math:: F(q_i) = \sum_j a_{ij} z_j

    Args:
        beta: shape ``batch``; inverse bandwidth, at least 0.
        queries: shape ``(*batch, n, d)``; points at which the particles are averaged.
        particles: shape ``(*batch, N, d)``; particles z.
        log_weights: shape ``(*batch, N)``; log w_j, up to a constant; -inf for a particle that
            does not count.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        mean: ``(*batch, n, d)``; average of the particles, in their convex hull up to rounding.

    Domain: beta >= 0; squared distances below 1e300; some log_weights above -inf. Arguments are
    trusted; the algorithms of `numeric` check them.

    Chosen forms:
        nearest_first: exp(l_j - c D_j)/sum_k exp(l_k - c D_k) = the same with E_j for D_j, D_j
            = |q - z_j|^2, E_j = D_j - |q - z|^2 = sum_a (z_ja - z_a)((z_ja - q_a) + (z_a -
            q_a)), z any one point, for any real l and c; z is the nearest particle. Why: far
            from all particles the distances agree in their leading digits, and c times their
            rounding is an error of the exponents. Proved: forms.nearest_first.
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.

    Worst relative error, float64, held by a test:
        typical: a cloud of radius 3, beta from 0.1 to 10: 3e-15 of the particles.
        far: queries at a distance of 1e4 to 1e8, beta its inverse: 1e-15 of the particles.
        shifted: the cloud and the queries moved by 1e8: 1e-15 of the particles.
        clusters: tight clusters in a wide cloud, beta from 1e3 to 1e12: 1e-15 of the particles.
        limits: beta = 0, one particle counted, duplicates, queries on particles: 1e-15 of the
            particles.

    Operations: 2 -, 1 *, 2 /, 1 @, 1 batch_contiguous, 1 excess_distances, 1 exp, 1 max, 1
    squared_distances, 1 sum.

    Source: EB-6, EB-13, EB-30. Derivation: gaussian_kernel.mean, tree sha256:79d037d004b83bf9.
    """
    xp = namespace(xp, beta, queries, particles, log_weights)
    beta, queries, particles, log_weights = real_arrays(xp, beta, queries, particles, log_weights)
    distances = squared_distances(xp, queries, particles)
    excess = excess_distances(xp, distances, queries, particles)
    logits = log_weights[..., None, :] - excess * beta[..., None, None] / 2
    logits = batch_contiguous(xp, logits, 2)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    attention = weights / xp.sum(weights, axis=-1)[..., None]
    return attention @ particles


@errstate(under="ignore")
def score(
    beta: Array, queries: Array, particles: Array, log_weights: Array, *, xp: Namespace = None
) -> Array:
    r"""Score of the smoothed particles.

    .. math:: \nabla \log (G_\beta * \nu)(q_i) = \beta (F(q_i) - q_i)

    Args:
        beta: shape ``batch``; inverse bandwidth, at least 0.
        queries: shape ``(*batch, n, d)``; points at which the particles are averaged.
        particles: shape ``(*batch, N, d)``; particles z.
        log_weights: shape ``(*batch, N)``; log w_j, up to a constant; -inf for a particle that
            does not count.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        score: ``(*batch, n, d)``; gradient of the log density; the velocity on the main clock.

    Domain: beta >= 0; squared distances below 1e300; some log_weights above -inf. Arguments are
    trusted; the algorithms of `numeric` check them.

    Chosen forms:
        nearest_first: exp(l_j - c D_j)/sum_k exp(l_k - c D_k) = the same with E_j for D_j, D_j
            = |q - z_j|^2, E_j = D_j - |q - z|^2 = sum_a (z_ja - z_a)((z_ja - q_a) + (z_a -
            q_a)), z any one point, for any real l and c; z is the nearest particle. Why: far
            from all particles the distances agree in their leading digits, and c times their
            rounding is an error of the exponents. Proved: forms.nearest_first.
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.
        common_origin: sum_j s_j z_j - y = sum_j s_j (z_j - o) - (y - o), o the first point, for
            weights s of sum one. Why: far from the origin of the coordinates the two terms
            cancel. Proved: forms.common_origin.

    Worst relative error, float64, held by a test:
        typical: a cloud of radius 3, beta from 0.1 to 10: 1e-15 of beta times the distances.
        far: queries at a distance of 1e4 to 1e8, beta its inverse: 1e-15 of beta times the
            distances.
        shifted: the cloud and the queries moved by 1e8: 1e-15 of beta times the distances.
        clusters: tight clusters in a wide cloud, beta from 1e3 to 1e12: 1e-15 of beta times the
            distances.
        limits: beta = 0, one particle counted, duplicates, queries on particles: 1e-15 of beta
            times the distances.

    Operations: 5 -, 2 *, 2 /, 1 @, 1 batch_contiguous, 1 excess_distances, 1 exp, 1 max, 1
    squared_distances, 1 sum.

    Source: EB-6, EB-30. Derivation: gaussian_kernel.score, tree sha256:db1bbb62a80a6887.
    """
    xp = namespace(xp, beta, queries, particles, log_weights)
    beta, queries, particles, log_weights = real_arrays(xp, beta, queries, particles, log_weights)
    distances = squared_distances(xp, queries, particles)
    excess = excess_distances(xp, distances, queries, particles)
    logits = log_weights[..., None, :] - excess * beta[..., None, None] / 2
    logits = batch_contiguous(xp, logits, 2)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    attention = weights / xp.sum(weights, axis=-1)[..., None]
    centred = particles - particles[..., 0, None, :]
    offset = queries - particles[..., 0, None, :]
    return (attention @ centred - offset) * beta[..., None, None]


@errstate(under="ignore")
def attention_step(
    beta: Array,
    eta: Array,
    queries: Array,
    particles: Array,
    log_weights: Array,
    *,
    xp: Namespace = None,
) -> Array:
    r"""One step of attention with a leaky residual.

    .. math:: q_i \leftarrow (1 - \eta) q_i + \eta \sum_j a_{ij} z_j

    Args:
        beta: shape ``batch``; inverse bandwidth, at least 0.
        eta: shape ``batch``; length of the step.
        queries: shape ``(*batch, n, d)``; points at which the particles are averaged.
        particles: shape ``(*batch, N, d)``; particles z.
        log_weights: shape ``(*batch, N)``; log w_j, up to a constant; -inf for a particle that
            does not count.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        queries_next: ``(*batch, n, d)``; the queries after the step.

    Domain: beta >= 0; squared distances below 1e300; some log_weights above -inf. Arguments are
    trusted; the algorithms of `numeric` check them.

    Hypotheses: beta > 0 for the readings as a step along the score or down the energy.

    Chosen forms:
        nearest_first: exp(l_j - c D_j)/sum_k exp(l_k - c D_k) = the same with E_j for D_j, D_j
            = |q - z_j|^2, E_j = D_j - |q - z|^2 = sum_a (z_ja - z_a)((z_ja - q_a) + (z_a -
            q_a)), z any one point, for any real l and c; z is the nearest particle. Why: far
            from all particles the distances agree in their leading digits, and c times their
            rounding is an error of the exponents. Proved: forms.nearest_first.
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.

    Worst relative error, float64, held by a test:
        typical: a cloud of radius 3, beta from 0.1 to 10: 2e-15 of the points.
        far: queries at a distance of 1e4 to 1e8, beta its inverse: 1e-15 of the points.
        shifted: the cloud and the queries moved by 1e8: 3e-15 of the points.
        clusters: tight clusters in a wide cloud, beta from 1e3 to 1e12: 2e-15 of the points.
        limits: beta = 0, one particle counted, duplicates, queries on particles: 2e-15 of the
            points.

    Operations: 1 +, 3 -, 3 *, 2 /, 1 @, 1 batch_contiguous, 1 excess_distances, 1 exp, 1 max, 1
    squared_distances, 1 sum.

    Source: EB-6 (Prop. 3.1, eq. 1), EB-13, EB-14. Derivation: gaussian_kernel.attention_step,
    tree sha256:ccca370135c396f3.
    """
    xp = namespace(xp, beta, eta, queries, particles, log_weights)
    beta, eta, queries, particles, log_weights = real_arrays(
        xp, beta, eta, queries, particles, log_weights
    )
    distances = squared_distances(xp, queries, particles)
    excess = excess_distances(xp, distances, queries, particles)
    logits = log_weights[..., None, :] - excess * beta[..., None, None] / 2
    logits = batch_contiguous(xp, logits, 2)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    attention = weights / xp.sum(weights, axis=-1)[..., None]
    return (1 - eta[..., None, None]) * queries + attention @ particles * eta[..., None, None]


@errstate(under="ignore")
def energy(
    beta: Array, queries: Array, particles: Array, log_weights: Array, *, xp: Namespace = None
) -> Array:
    r"""Energy of a query among particles.

    .. math:: E(Z; q_i) = -\frac{1}{\beta} \log \sum_j w_j e^{-\frac{\beta}{2} |q_i - z_j|^2}

    Args:
        beta: shape ``batch``; inverse bandwidth, above 0.
        queries: shape ``(*batch, n, d)``; points at which the particles are averaged.
        particles: shape ``(*batch, N, d)``; particles z.
        log_weights: shape ``(*batch, N)``; log w_j, up to a constant; -inf for a particle that
            does not count.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        energy: ``(*batch, n)``; energy of each query; a factor of all w_j shifts it.

    Domain: beta > 0; squared distances below 1e300; some log_weights above -inf. Arguments are
    trusted; the algorithms of `numeric` check them.

    Chosen forms:
        squared_distances: sum_a (x_ia - y_ja)^2 for all i and j = one coordinate added after
            another, for any real x and y. Why: all differences at once are an array as many
            times larger as there are coordinates, and |x|^2 + |y|^2 - 2 x'y loses its digits
            far from the origin. Proved: forms.squared_distances.
        log_sum_exp: log sum_j exp(x_j) = m + log sum_j exp(x_j - m), m = max x, for any real x.
            Why: no exponential overflows, and not all of them underflow. Proved:
            forms.log_sum_exp.

    Worst relative error, float64, held by a test:
        typical: a cloud of radius 3, beta from 0.1 to 10: 1e-15 of its terms.
        far: queries at a distance of 1e4 to 1e8, beta its inverse: 1e-15 of its terms.
        shifted: the cloud and the queries moved by 1e8: 1e-15 of its terms.
        clusters: tight clusters in a wide cloud, beta from 1e3 to 1e12: 1e-15 of its terms.
        limits: one particle counted, duplicates, queries on particles: 1e-15 of its terms.

    Operations: 1 +, 3 -, 1 *, 2 /, 1 batch_contiguous, 1 exp, 1 log, 1 max, 1
    squared_distances, 1 sum.

    Source: EB-13 (eq. 2). Derivation: gaussian_kernel.energy, tree sha256:b0320092ff748d04.
    """
    xp = namespace(xp, beta, queries, particles, log_weights)
    beta, queries, particles, log_weights = real_arrays(xp, beta, queries, particles, log_weights)
    distances = squared_distances(xp, queries, particles)
    logits = log_weights[..., None, :] - distances * beta[..., None, None] / 2
    logits = batch_contiguous(xp, logits, 2)
    largest = xp.max(logits, axis=-1)
    logits_shifted = logits - largest[..., None]
    return -(largest + xp.log(xp.sum(xp.exp(logits_shifted), axis=-1))) / beta[..., None]


@errstate(under="ignore")
def energy_gradient(
    beta: Array, queries: Array, particles: Array, log_weights: Array, *, xp: Namespace = None
) -> Array:
    r"""Slope of the energy of a query among particles.

    .. math:: \nabla_q E(Z; q_i) = q_i - F(q_i)

    Args:
        beta: shape ``batch``; inverse bandwidth, at least 0.
        queries: shape ``(*batch, n, d)``; points at which the particles are averaged.
        particles: shape ``(*batch, N, d)``; particles z.
        log_weights: shape ``(*batch, N)``; log w_j, up to a constant; -inf for a particle that
            does not count.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        gradient: ``(*batch, n, d)``; gradient of the energy; its negative is the drift F - q.

    Domain: beta >= 0; squared distances below 1e300; some log_weights above -inf. Arguments are
    trusted; the algorithms of `numeric` check them.

    Chosen forms:
        nearest_first: exp(l_j - c D_j)/sum_k exp(l_k - c D_k) = the same with E_j for D_j, D_j
            = |q - z_j|^2, E_j = D_j - |q - z|^2 = sum_a (z_ja - z_a)((z_ja - q_a) + (z_a -
            q_a)), z any one point, for any real l and c; z is the nearest particle. Why: far
            from all particles the distances agree in their leading digits, and c times their
            rounding is an error of the exponents. Proved: forms.nearest_first.
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.
        common_origin: sum_j s_j z_j - y = sum_j s_j (z_j - o) - (y - o), o the first point, for
            weights s of sum one. Why: far from the origin of the coordinates the two terms
            cancel. Proved: forms.common_origin.

    Worst relative error, float64, held by a test:
        typical: a cloud of radius 3, beta from 0.1 to 10: 2e-15 of the distances.
        far: queries at a distance of 1e4 to 1e8, beta its inverse: 1e-15 of the distances.
        shifted: the cloud and the queries moved by 1e8: 1e-15 of the distances.
        clusters: tight clusters in a wide cloud, beta from 1e3 to 1e12: 1e-15 of the distances.
        limits: beta = 0, one particle counted, duplicates, queries on particles: 1e-15 of the
            distances.

    Operations: 5 -, 1 *, 2 /, 1 @, 1 batch_contiguous, 1 excess_distances, 1 exp, 1 max, 1
    squared_distances, 1 sum.

    Source: EB-13 (eq. 2). Derivation: gaussian_kernel.energy_gradient, tree
    sha256:e3af2ae26690cb0a.
    """
    xp = namespace(xp, beta, queries, particles, log_weights)
    beta, queries, particles, log_weights = real_arrays(xp, beta, queries, particles, log_weights)
    distances = squared_distances(xp, queries, particles)
    excess = excess_distances(xp, distances, queries, particles)
    logits = log_weights[..., None, :] - excess * beta[..., None, None] / 2
    logits = batch_contiguous(xp, logits, 2)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    attention = weights / xp.sum(weights, axis=-1)[..., None]
    centred = particles - particles[..., 0, None, :]
    offset = queries - particles[..., 0, None, :]
    return offset - attention @ centred


@errstate(under="ignore")
def covariance(
    beta: Array, queries: Array, particles: Array, log_weights: Array, *, xp: Namespace = None
) -> Array:
    r"""Covariance of particles under the kernel weights.

    .. math:: \mathrm{Cov}_i = \sum_j a_{ij} (z_j - F(q_i))(z_j - F(q_i))^\top

    Args:
        beta: shape ``batch``; inverse bandwidth, at least 0.
        queries: shape ``(*batch, n, d)``; points at which the particles are averaged.
        particles: shape ``(*batch, N, d)``; particles z.
        log_weights: shape ``(*batch, N)``; log w_j, up to a constant; -inf for a particle that
            does not count.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        covariance: ``(*batch, n, d, d)``; covariance of the particles at each query.

    Domain: beta >= 0; squared distances below 1e300; some log_weights above -inf. Arguments are
    trusted; the algorithms of `numeric` check them.

    The deviations are an array of n times N times d numbers: moments from one origin instead
    would cancel where a row picks few particles of a wide cloud. Call it for few queries at
    once.

    Chosen forms:
        nearest_first: exp(l_j - c D_j)/sum_k exp(l_k - c D_k) = the same with E_j for D_j, D_j
            = |q - z_j|^2, E_j = D_j - |q - z|^2 = sum_a (z_ja - z_a)((z_ja - q_a) + (z_a -
            q_a)), z any one point, for any real l and c; z is the nearest particle. Why: far
            from all particles the distances agree in their leading digits, and c times their
            rounding is an error of the exponents. Proved: forms.nearest_first.
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.
        common_origin: sum_j s_j z_j - y = sum_j s_j (z_j - o) - (y - o), o the first point, for
            weights s of sum one. Why: far from the origin of the coordinates the two terms
            cancel. Proved: forms.common_origin.

    Worst relative error, float64, held by a test:
        typical: a cloud of radius 3, beta from 0.1 to 10: 5e-14 of the largest entry.
        far: queries at a distance of 1e4 to 1e8, beta its inverse: 1e-14 of the largest entry.
        shifted: the cloud and the queries moved by 1e8: 5e-14 of the largest entry.
        clusters: tight clusters in a wide cloud, beta from 1e3 to 1e12: 3e-14 of the largest
            entry.
        limits: beta = 0, one particle counted, duplicates, queries on particles: 1e-14 of the
            largest entry.

    Operations: 4 -, 2 *, 2 /, 2 @, 1 batch_contiguous, 1 excess_distances, 1 exp, 1
    matrix_transpose, 1 max, 1 squared_distances, 1 sum, 1 symmetric_part.

    Source: EB-14, EB-30. Derivation: gaussian_kernel.covariance, tree sha256:663d8579b6e14d2e.
    """
    xp = namespace(xp, beta, queries, particles, log_weights)
    beta, queries, particles, log_weights = real_arrays(xp, beta, queries, particles, log_weights)
    distances = squared_distances(xp, queries, particles)
    excess = excess_distances(xp, distances, queries, particles)
    logits = log_weights[..., None, :] - excess * beta[..., None, None] / 2
    logits = batch_contiguous(xp, logits, 2)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    attention = weights / xp.sum(weights, axis=-1)[..., None]
    centred = particles - particles[..., 0, None, :]
    residuals = centred[..., None, :, :] - (attention @ centred)[..., None, :]
    return symmetric_part(xp, xp.matrix_transpose(attention[..., None] * residuals) @ residuals)


@errstate(under="ignore")
def mean_jacobian(
    beta: Array, queries: Array, particles: Array, log_weights: Array, *, xp: Namespace = None
) -> Array:
    r"""Jacobian of the kernel mean by the query.

    .. math:: \nabla F(q_i) = \beta \, \mathrm{Cov}_i

    Args:
        beta: shape ``batch``; inverse bandwidth, at least 0.
        queries: shape ``(*batch, n, d)``; points at which the particles are averaged.
        particles: shape ``(*batch, N, d)``; particles z.
        log_weights: shape ``(*batch, N)``; log w_j, up to a constant; -inf for a particle that
            does not count.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        jacobian: ``(*batch, n, d, d)``; derivatives of F, symmetric psd.

    Domain: beta >= 0; squared distances below 1e300; some log_weights above -inf. Arguments are
    trusted; the algorithms of `numeric` check them.

    The deviations are an array of n times N times d numbers: moments from one origin instead
    would cancel where a row picks few particles of a wide cloud. Call it for few queries at
    once.

    Chosen forms:
        nearest_first: exp(l_j - c D_j)/sum_k exp(l_k - c D_k) = the same with E_j for D_j, D_j
            = |q - z_j|^2, E_j = D_j - |q - z|^2 = sum_a (z_ja - z_a)((z_ja - q_a) + (z_a -
            q_a)), z any one point, for any real l and c; z is the nearest particle. Why: far
            from all particles the distances agree in their leading digits, and c times their
            rounding is an error of the exponents. Proved: forms.nearest_first.
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.
        common_origin: sum_j s_j z_j - y = sum_j s_j (z_j - o) - (y - o), o the first point, for
            weights s of sum one. Why: far from the origin of the coordinates the two terms
            cancel. Proved: forms.common_origin.

    Worst relative error, float64, held by a test:
        typical: a cloud of radius 3, beta from 0.1 to 10: 5e-14 of the largest entry.
        far: queries at a distance of 1e4 to 1e8, beta its inverse: 1e-14 of the largest entry.
        shifted: the cloud and the queries moved by 1e8: 5e-14 of the largest entry.
        clusters: tight clusters in a wide cloud, beta from 1e3 to 1e12: 3e-14 of the largest
            entry.
        limits: beta = 0, one particle counted, duplicates, queries on particles: 1e-14 of the
            largest entry.

    Operations: 4 -, 3 *, 2 /, 2 @, 1 batch_contiguous, 1 excess_distances, 1 exp, 1
    matrix_transpose, 1 max, 1 squared_distances, 1 sum, 1 symmetric_part.

    Source: EB-30 (Prop. E.2). Derivation: gaussian_kernel.mean_jacobian, tree
    sha256:06a51ae26361e769.
    """
    xp = namespace(xp, beta, queries, particles, log_weights)
    beta, queries, particles, log_weights = real_arrays(xp, beta, queries, particles, log_weights)
    distances = squared_distances(xp, queries, particles)
    excess = excess_distances(xp, distances, queries, particles)
    logits = log_weights[..., None, :] - excess * beta[..., None, None] / 2
    logits = batch_contiguous(xp, logits, 2)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    attention = weights / xp.sum(weights, axis=-1)[..., None]
    centred = particles - particles[..., 0, None, :]
    residuals = centred[..., None, :, :] - (attention @ centred)[..., None, :]
    return symmetric_part(
        xp,
        xp.matrix_transpose(attention[..., None] * residuals) @ residuals * beta[
            ..., None, None, None
        ],
    )


@errstate(under="ignore")
def energy_hessian(
    beta: Array, queries: Array, particles: Array, log_weights: Array, *, xp: Namespace = None
) -> Array:
    r"""Curvature of the energy of a query among particles.

    .. math:: \nabla_q^2 E(Z; q_i) = I_d - \beta \, \mathrm{Cov}_i \preceq I_d

    Args:
        beta: shape ``batch``; inverse bandwidth, at least 0.
        queries: shape ``(*batch, n, d)``; points at which the particles are averaged.
        particles: shape ``(*batch, N, d)``; particles z.
        log_weights: shape ``(*batch, N)``; log w_j, up to a constant; -inf for a particle that
            does not count.
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        hessian: ``(*batch, n, d, d)``; second derivatives of the energy.

    Domain: beta >= 0; squared distances below 1e300; some log_weights above -inf. Arguments are
    trusted; the algorithms of `numeric` check them.

    The deviations are an array of n times N times d numbers: moments from one origin instead
    would cancel where a row picks few particles of a wide cloud. Call it for few queries at
    once.

    Chosen forms:
        nearest_first: exp(l_j - c D_j)/sum_k exp(l_k - c D_k) = the same with E_j for D_j, D_j
            = |q - z_j|^2, E_j = D_j - |q - z|^2 = sum_a (z_ja - z_a)((z_ja - q_a) + (z_a -
            q_a)), z any one point, for any real l and c; z is the nearest particle. Why: far
            from all particles the distances agree in their leading digits, and c times their
            rounding is an error of the exponents. Proved: forms.nearest_first.
        max_shift: exp(x_j)/sum_k exp(x_k) = exp(x_j - m)/sum_k exp(x_k - m), m = max x, for any
            real x. Why: no exponential overflows, and the sum is at least 1. Stored with the
            batch last, since reductions over a short axis are slow. Proved: forms.max_shift.
        common_origin: sum_j s_j z_j - y = sum_j s_j (z_j - o) - (y - o), o the first point, for
            weights s of sum one. Why: far from the origin of the coordinates the two terms
            cancel. Proved: forms.common_origin.
        unit_diagonal: delta_ab + x_ab = 1 + x_ab on the diagonal and x_ab elsewhere, for any
            real x. Why: the mask of the diagonal is no number. Proved: The definition of
            Kronecker's delta.

    Worst relative error, float64, held by a test:
        typical: a cloud of radius 3, beta from 0.1 to 10: 3e-15 of 1 + root of beta times the
            spread.
        far: queries at a distance of 1e4 to 1e8, beta its inverse: 1e-15 of 1 + root of beta
            times the spread.
        shifted: the cloud and the queries moved by 1e8: 3e-15 of 1 + root of beta times the
            spread.
        clusters: tight clusters in a wide cloud, beta from 1e3 to 1e12: 1e-15 of 1 + root of
            beta times the spread.
        limits: beta = 0, one particle counted, duplicates, queries on particles: 1e-15 of 1 +
            root of beta times the spread.

    Operations: 1 +, 5 -, 3 *, 2 /, 2 @, 1 batch_contiguous, 1 diagonal_mask, 1
    excess_distances, 1 exp, 1 matrix_transpose, 1 max, 1 squared_distances, 1 sum, 1
    symmetric_part, 1 where.

    Source: EB-14. Derivation: gaussian_kernel.energy_hessian, tree sha256:620478d4fb56effe.
    """
    xp = namespace(xp, beta, queries, particles, log_weights)
    beta, queries, particles, log_weights = real_arrays(xp, beta, queries, particles, log_weights)
    distances = squared_distances(xp, queries, particles)
    excess = excess_distances(xp, distances, queries, particles)
    logits = log_weights[..., None, :] - excess * beta[..., None, None] / 2
    logits = batch_contiguous(xp, logits, 2)
    logits_shifted = logits - xp.max(logits, axis=-1)[..., None]
    weights = xp.exp(logits_shifted)
    attention = weights / xp.sum(weights, axis=-1)[..., None]
    centred = particles - particles[..., 0, None, :]
    residuals = centred[..., None, :, :] - (attention @ centred)[..., None, :]
    covariance = xp.matrix_transpose(attention[..., None] * residuals) @ residuals
    added = -covariance * beta[..., None, None, None]
    return symmetric_part(
        xp,
        xp.where(
            diagonal_mask(xp, particles.shape[-1], particles)[..., None, :, :], 1 + added, added
        ),
    )
