"""Expectations and conditional expectations in the two kinds of model.

On a finite probability space a random quantity is its value at each point, a sigma-algebra is a
partition, and conditioning averages over blocks. In a Gaussian model a random quantity is a
polynomial in independent centred normals, one for each unit of rank of a declared covariance,
with rational variances (so that no square root is ever taken); conditioning of affine quantities
is the orthogonal projection on 1 and the conditions. The exponential of an affine quantity is one
more indeterminate, with a negative number: under it the normals are shifted by their covariances
with the exponent. Outside of an expectation nothing is decided about it.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from flint import fmpq

from proofs.evaluate.functions import exp, inner, integer_power, norm2, pseudo_inverse
from proofs.evaluate.model import Partition
from proofs.evaluate.values import (
    Jet,
    Matrix,
    Points,
    Polynomial,
    UndecidedHere,
    Value,
    add,
    assemble,
    at_point,
    like_zero,
    mul,
    scalar,
    shape,
    sub,
    transpose,
)


class Space:
    """The probability space of a model: weighted points, or the variances of its normals."""

    def __init__(self, weights: tuple[Fraction, ...]) -> None:
        self.weights = [scalar(fmpq(w.numerator, w.denominator)) for w in weights]
        self.variances: dict[int, Matrix] = {}
        self.exponents: dict[int, Polynomial] = {}

    def normal(self, variance: Matrix) -> int:
        """A new independent centred normal."""
        self.variances[len(self.variances)] = variance
        return len(self.variances) - 1

    def exponential(self, x: Polynomial) -> Value:
        """exp of a real affine quantity."""
        _affine(x)
        if not all(map(_is_real, x.terms.values())) or shape(x) != (1, 1):
            raise UndecidedHere("only exponentials of real random numbers are supported")
        if any(i not in self.variances for m in x.terms for i in m):
            raise UndecidedHere("an expectation under a quantifier isn't supported")
        place = -1 - len(self.exponents)
        self.exponents[place] = x
        return Polynomial({(place,): scalar(1)})

    def expect(self, x: Value) -> Value:
        """The expectation."""
        if type(x) is Points:
            return _sum([mul(w, v) for w, v in zip(self.weights, x.values, strict=True)])
        if type(x) is not Polynomial:
            return x
        total: Value = like_zero(x)
        for monomial, c in x.terms.items():
            tilted = any(i < 0 for i in monomial)
            factor = self._tilted(monomial) if tilted else self._moment(monomial)
            if factor is not None:
                total = add(total, mul(factor, c))
        return total

    def _moment(self, monomial: tuple[int, ...]) -> Value | None:
        """The expectation of a product of normals: (m-1)!! d^(m/2) for an m-fold one."""
        result: Value = scalar(1)
        for variable, multiplicity in Counter(monomial).items():
            if variable not in self.variances:
                raise UndecidedHere("an expectation under a quantifier isn't supported")
            if multiplicity % 2:
                return None
            for odd in range(1, multiplicity, 2):
                result = mul(result, scalar(odd))
            result = mul(result, integer_power(self.variances[variable], multiplicity // 2))
        return result

    def _tilted(self, monomial: tuple[int, ...]) -> Value:
        """E(exp(b0 + b.z)*p(z)) = exp(b0 + b.D*b/2)*E(p(z + D*b)), D the variances of z."""
        exponent: Value = scalar(0)
        for i in monomial:
            exponent = add(exponent, self.exponents[i]) if i < 0 else exponent
        terms: dict[tuple[int, ...], Value] = {(): exponent}
        if type(exponent) is Polynomial:
            terms = exponent.terms
        at = terms.get((), scalar(0))
        for m, b in terms.items():
            if m:
                at = add(at, mul(scalar(fmpq(1, 2)), mul(self.variances[m[0]], mul(b, b))))
        shifted: Value = scalar(1)
        for i in monomial:
            if i >= 0:
                normal: Value = Polynomial({(i,): scalar(1)})
                if (i,) in terms:
                    normal = add(normal, mul(self.variances[i], terms[i,]))
                shifted = mul(shifted, normal)
        return mul(exp(at), self.expect(shifted))

    def cov(self, x: Value, y: Value) -> Value:
        """The covariance matrix of two random vectors."""
        return self.expect(mul(sub(x, self.expect(x)), transpose(sub(y, self.expect(y)))))

    def expect_given(self, x: Value, conditions: list[Value | Partition]) -> Value:
        """The conditional expectation, given random vectors or sigma-algebras."""
        if self.weights:
            return self._average(x, self._blocks(conditions))
        y = self._stacked(conditions)
        _affine(x)
        gain = mul(self.cov(x, y), pseudo_inverse(self.cov(y, y)))
        return add(self.expect(x), mul(gain, sub(y, self.expect(y))))

    def cov_given(self, x: Value, y: Value, conditions: list[Value | Partition]) -> Value:
        """The conditional covariance matrix."""
        if self.weights:
            blocks = self._blocks(conditions)
            left, right = sub(x, self._average(x, blocks)), sub(y, self._average(y, blocks))
            return self._average(mul(left, transpose(right)), blocks)
        _affine(x)
        _affine(y)
        given = self._stacked(conditions)
        gain = mul(self.cov(x, given), pseudo_inverse(self.cov(given, given)))
        return sub(self.cov(x, y), mul(gain, self.cov(given, y)))

    def l2inner(self, x: Value, y: Value) -> Value:
        """The inner product E(x.T*y)."""
        return self.expect(inner(x, y))

    def l2norm2(self, x: Value) -> Value:
        """The squared norm E|x|^2."""
        return self.expect(norm2(x))

    def _stacked(self, conditions: list[Value | Partition]) -> Value:
        vectors = [c for c in conditions if not isinstance(c, Partition)]
        if len(vectors) < len(conditions):
            raise UndecidedHere("a sigma-algebra needs a finite probability space")
        for c in vectors:
            _affine(c)
        return assemble(len(vectors), 1, vectors)

    def _blocks(self, conditions: list[Value | Partition]) -> list[tuple[object, ...]]:
        """For each point the labels that the conditions give it."""
        columns = []
        for c in conditions:
            if isinstance(c, Partition):
                columns.append(list(c.blocks))
            else:
                values = [at_point(c, i) for i in range(len(self.weights))]
                if not all(type(v) is Matrix and v.exact for v in values):
                    raise UndecidedHere("a condition that isn't exact")
                columns.append([str(v) for v in values])
        return list(zip(*columns, strict=True))

    def _average(self, x: Value, blocks: list[tuple[object, ...]]) -> Value:
        if type(x) is not Points:
            return x
        means: dict[tuple[object, ...], Value] = {}
        for block in dict.fromkeys(blocks):
            inside = [i for i, b in enumerate(blocks) if b == block]
            mass = sum((self.weights[i].re[0, 0] for i in inside), fmpq(0))
            means[block] = mul(
                scalar(1 / mass), _sum([mul(self.weights[i], x.values[i]) for i in inside])
            )
        return Points(tuple(means[b] for b in blocks))


def _sum(parts: list[Value]) -> Value:
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total


def _is_real(x: Value) -> bool:
    """Whether a coefficient has no imaginary part, so that conjugation leaves it alone."""
    if type(x) is Jet:
        return all(map(_is_real, x.coefficients))
    return type(x) is Matrix and x.im is None


def _affine(x: Value) -> None:
    if type(x) is Points or (
        type(x) is Polynomial and any(len(m) > 1 or min(m, default=0) < 0 for m in x.terms)
    ):
        raise UndecidedHere("conditioning of a quantity that isn't affine in the normals")
