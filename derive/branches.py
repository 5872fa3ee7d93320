r"""Logits that a two-token output leaves open: the branches of u/(1 + exp(-u)) = eta (FB-18).

With one head and two tokens an output without its attention row gives ``eta``, and the row's logit
``u`` solves ``u*sigmoid(u) = eta``. There are two solutions between the fold
``eta = -W(1/e)`` and 0, and one from 0 on. A branch weighs by the reciprocal of its slope.
"""

from __future__ import annotations

from sympy import Eq, Expr, LambertW, Symbol, exp

from derive.steps import Argument, Derivation, Kernel, Regime, Step

ETA = Symbol("eta", real=True)
U = Symbol("u", real=True)

_HYPOTHESES = ("the output is that of one head with two tokens, the row unknown",)
_REGIMES = (
    Regime("typical", "eta in [-0.27, -1e-3]", 4e-15),
    Regime("fold", "eta + W(1/e) in [1e-16, 1e-2], where the slope vanishes", 4e-15),
    Regime("tiny", "-eta in [1e-300, 1e-3]", 4e-15),
)


def _steps(gap: Expr, slope: Expr, which: str) -> tuple[Step, ...]:
    return (
        Step("The output", Eq(U / (1 + exp(-U)), ETA), "one head, two tokens"),
        Step("Multiply by 1 + exp(-u)", Eq(U - ETA, ETA * exp(-U)), "the denominator is positive"),
        Step("Lambert's equation", Eq((U - ETA) * exp(U - ETA), ETA * exp(-ETA)), "times exp(u)"),
        Step(f"The {which} branch", Eq(U, ETA + gap), "w exp(w) = x has the roots W(x)"),
        Step(
            "Its slope, sigmoid(u)*(1 + u*(1 - sigmoid(u)))",
            slope,
            "u*(1 - sigmoid(u)) = u - eta",
        ),
    )


def principal(eta: Expr = ETA) -> Derivation:
    """The larger logit, and how fast the output moves with it."""
    gap = LambertW(eta * exp(-eta))
    slope = (1 + gap) / (1 + exp(-eta - gap))
    return Derivation(
        name="branches.principal",
        title="larger logit of an output, and its slope",
        source="FB-18",
        inputs=(eta,),
        steps=_steps(gap, slope, "principal"),
        result={"logit": eta + gap, "slope": slope},
        equation=r"u_0 = \eta + W_0(\eta e^{-\eta}), \qquad \frac{d\eta}{du} = \sigma(u)"
        r"(1 + u(1 - \sigma(u)))",
        hypotheses=_HYPOTHESES,
        kernel=Kernel(
            arguments=(Argument(ETA, "the output in units of the gain, at least -W(1/e)"),),
            outputs={
                "logit": "larger solution u, at least -1 - W(1/e)",
                "slope": "d eta/du there, at least 0",
            },
            domain=("eta >= -W(1/e) = -0.278...",),
            positive=(eta * exp(-eta) + exp(-1), 1 + exp(-eta - gap)),
            regimes=(*_REGIMES, Regime("positive", "eta in [1e-300, 1e3], and 0", 4e-15)),
        ),
    )


def lower(eta: Expr = ETA) -> Derivation:
    """The smaller logit, and how fast the output moves with it."""
    gap = LambertW(eta * exp(-eta), -1)
    slope = (1 + gap) * eta / (eta + gap)
    return Derivation(
        name="branches.lower",
        title="smaller logit of an output, and its slope",
        source="FB-18",
        inputs=(eta,),
        steps=_steps(gap, slope, "lower"),
        result={"logit": eta + gap, "slope": slope},
        equation=r"u_{-1} = \eta + W_{-1}(\eta e^{-\eta}), \qquad \frac{d\eta}{du} ="
        r" \frac{\eta}{u}(1 + u - \eta)",
        hypotheses=_HYPOTHESES,
        kernel=Kernel(
            arguments=(Argument(ETA, "the output in units of the gain, in [-W(1/e), 0)"),),
            outputs={
                "logit": "smaller solution u, at most -1 - W(1/e)",
                "slope": "d eta/du there, at most 0",
            },
            domain=("-W(1/e) <= eta < 0",),
            positive=(eta * exp(-eta) + exp(-1), -eta - gap),
            regimes=_REGIMES,
        ),
    )


DERIVATIONS = (principal, lower)
