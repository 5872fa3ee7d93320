"""Forms for matrices of any size and rank: pseudo-inverses and projectors."""

from __future__ import annotations

from sympy import Basic, Identity, MatAdd, MatMul

from derive.emit.body import Body
from derive.emit.nodes import KernelProjector, PseudoInverse, SymmetricPseudoInverse
from derive.emit.rules import Form
from derive.notation import Pinv


def _kernel_projector(expression: Basic, _: Body) -> Basic | None:
    """I - A^+ A."""
    if not isinstance(expression, MatAdd) or len(expression.args) != 2:
        return None
    identities = [term for term in expression.args if isinstance(term, Identity)]
    products = [term for term in expression.args if isinstance(term, MatMul)]
    if not identities or not products:
        return None
    sign, *factors = products[0].args
    if sign != -1 or len(factors) != 2 or factors[0] != Pinv(factors[1]):
        return None
    return KernelProjector(factors[1])


def _symmetric_pinv(expression: Basic, body: Body) -> Basic | None:
    if isinstance(expression, Pinv) and getattr(expression.arg, "name", "") in body.symmetric:
        return SymmetricPseudoInverse(expression.arg)
    return None


def _pinv(expression: Basic, _: Body) -> Basic | None:
    return PseudoInverse(expression.arg) if isinstance(expression, Pinv) else None


FORMS = (
    Form(
        "kernel_projector",
        "I - A^+ A = I - V V', V the right singular vectors of A",
        "any real A; V belongs to the singular values above rank_tol times the largest",
        "A^+ times A has the error eps times the condition of A; V V' has the error eps.",
        _kernel_projector,
        ("forms.kernel_projector",),
    ),
    Form(
        "symmetric_pinv",
        "S^+ = V diag(1/w) V' over the eigenvalues w above rank_tol * max w",
        "symmetric psd S",
        "a singular covariance is a normal case, and its inverse does not exist.",
        _symmetric_pinv,
        ("forms.symmetric_pinv",),
    ),
    Form(
        "pinv",
        "A^+ = V diag(1/s) U' over the singular values s above rank_tol * max s",
        "any real A",
        "right at any rank.",
        _pinv,
        ("forms.pinv",),
    ),
)
