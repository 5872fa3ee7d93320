"""Kernels of the subject `branches`.

Emitted by `python -m derive emit`; do not edit. Change the derivation in
`derive/branches.py` or a form in `derive/emit/`, and emit again.

A probability or a decayed eigenvalue below the smallest float is 0, and that is right:
so underflow passes silently, and every other floating point signal is the caller's.

Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain
numbers. What is returned may be stored in any order in memory.
"""

from __future__ import annotations

from numpy import errstate

from numeric.namespace import Array, Namespace, namespace, real_arrays
from numeric.special_functions import lower_rise, principal_rise

__all__ = ["lower", "principal"]


@errstate(under="ignore")
def principal(eta: Array, *, xp: Namespace = None) -> tuple[Array, Array]:
    r"""Larger logit of an output, and its slope.

    .. math:: u_0 = \eta + W_0(\eta e^{-\eta}), \qquad \frac{d\eta}{du} = \sigma(u)(1 + u(1 -
        \sigma(u)))

    Args:
        eta: shape ``batch``; the output in units of the gain, at least -W(1/e).
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        logit: ``batch``; larger solution u, at least -1 - W(1/e).
        slope: ``batch``; d eta/du there, at least 0.

    Domain: eta >= -W(1/e) = -0.278.... Arguments are trusted; the algorithms of `numeric` check
    them.

    Hypotheses: the output is that of one head with two tokens, the row unknown.

    Chosen forms:
        branch_of_output: W(x exp(-x)) = D - 1, and x + W(x exp(-x)) = x (1 + exp(1 - x - D)), D
            = 1 + W, for x >= -W(1/e), x < 0 on the branch -1; the second on the principal
            branch. Why: 1 + W vanishes at x = -W(1/e), where a rounded x exp(-x) may lie below
            -1/e; D is found from the distance to it. For small x the sum x + D - 1 drops the
            digits of x. Proved: branches.principal. That W(-1/e + h) is a series in the root of
            h: Corless et al. (1996), section 4.

    Worst relative error, float64, held by a test:
        typical: eta in [-0.27, -1e-3]: 4e-15 of each entry.
        fold: eta + W(1/e) in [1e-16, 1e-2], where the slope vanishes: 4e-15 of each entry.
        tiny: -eta in [1e-300, 1e-3]: 4e-15 of each entry.
        positive: eta in [1e-300, 1e3], and 0: 4e-15 of each entry.

    Operations: 2 +, 4 -, 1 *, 1 /, 2 exp, 1 principal_rise.

    Source: FB-18. Derivation: branches.principal, tree sha256:2c4a27fbafef7126.
    """
    xp = namespace(xp, eta)
    (eta,) = real_arrays(xp, eta)
    rise = principal_rise(xp, eta)
    logit = (1 + xp.exp(1 - eta - rise)) * eta
    slope = rise / (1 + xp.exp(1 - eta - rise))
    return logit, slope


@errstate(under="ignore")
def lower(eta: Array, *, xp: Namespace = None) -> tuple[Array, Array]:
    r"""Smaller logit of an output, and its slope.

    .. math:: u_{-1} = \eta + W_{-1}(\eta e^{-\eta}), \qquad \frac{d\eta}{du} =
        \frac{\eta}{u}(1 + u - \eta)

    Args:
        eta: shape ``batch``; the output in units of the gain, in [-W(1/e), 0).
        xp: array namespace; default: that of the arguments, or NumPy.

    Returns:
        logit: ``batch``; smaller solution u, at most -1 - W(1/e).
        slope: ``batch``; d eta/du there, at most 0.

    Domain: -W(1/e) <= eta < 0. Arguments are trusted; the algorithms of `numeric` check them.

    Hypotheses: the output is that of one head with two tokens, the row unknown.

    Chosen forms:
        branch_of_output: W(x exp(-x)) = D - 1, and x + W(x exp(-x)) = x (1 + exp(1 - x - D)), D
            = 1 + W, for x >= -W(1/e), x < 0 on the branch -1; the second on the principal
            branch. Why: 1 + W vanishes at x = -W(1/e), where a rounded x exp(-x) may lie below
            -1/e; D is found from the distance to it. For small x the sum x + D - 1 drops the
            digits of x. Proved: branches.principal. That W(-1/e + h) is a series in the root of
            h: Corless et al. (1996), section 4.

    Worst relative error, float64, held by a test:
        typical: eta in [-0.27, -1e-3]: 4e-15 of each entry.
        fold: eta + W(1/e) in [1e-16, 1e-2], where the slope vanishes: 4e-15 of each entry.
        tiny: -eta in [1e-300, 1e-3]: 4e-15 of each entry.

    Operations: 2 +, 2 -, 1 *, 1 /, 1 lower_rise.

    Source: FB-18. Derivation: branches.lower, tree sha256:6817bff940b06f12.
    """
    xp = namespace(xp, eta)
    (eta,) = real_arrays(xp, eta)
    rise = lower_rise(xp, eta)
    logit = eta + rise - 1
    slope = eta * rise / (eta + rise - 1)
    return logit, slope
