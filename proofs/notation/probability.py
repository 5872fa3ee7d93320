"""Expectations, covariances and densities, written as in a file: `E(X | Y, Z)`, `cov(X, X | Y)`."""

from __future__ import annotations

from proofs.notation.errors import IllTyped
from proofs.notation.expressions import Conditioned, Expression, Operand, Piece, built


def E(value: Operand | Conditioned, *further: Piece) -> Expression:
    """The expectation; with a bar the conditional one, `E(X | Y, Z)` or `E(U | F)`.

    Raises:
        IllTyped: several arguments without a bar, or what can't be conditioned on.
    """
    if isinstance(value, Conditioned):
        return built(Expression, "expect_given", value.value, value.given, *further)
    if further:
        raise IllTyped("E takes one value, and conditions behind a bar: E(X | Y)", "E", further)
    return built(Expression, "expect", value)


def cov(left: Operand, right: Operand | Conditioned, *further: Piece) -> Expression:
    """The covariance `E((X - E(X)) @ (Y - E(Y)).T)`; with a bar the conditional one.

    Raises:
        IllTyped: more than two values, or what can't be conditioned on.
    """
    if isinstance(right, Conditioned):
        return built(Expression, "cov_given", left, right.value, right.given, *further)
    if further:
        raise IllTyped(
            "cov takes two values, and conditions behind a bar: cov(X, Y | Z)", "cov", further
        )
    return built(Expression, "cov", left, right)


def logpdf(x: Operand, mean: Operand, covariance: Operand) -> Expression:
    """The logarithm of the Gaussian density at x; the covariance must be definite."""
    return built(Expression, "logpdf", x, mean, covariance)


def logpdf_on_support(x: Operand, mean: Operand, covariance: Operand) -> Expression:
    """The same on the support of a Gaussian law whose covariance may be singular."""
    return built(Expression, "logpdf_on_support", x, mean, covariance)


def l2norm2(U: Operand) -> Expression:
    """The expectation of the squared norm of a random vector."""
    return built(Expression, "l2norm2", U)


def l2inner(U: Operand, V: Operand) -> Expression:
    """The expectation of the inner product of two random vectors."""
    return built(Expression, "l2inner", U, V)
