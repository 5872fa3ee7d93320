"""Identities between scalars: rational, algebraic, exponential, trigonometric, complex."""

from __future__ import annotations

import pytest

from tests.proofs.search.claims import assert_proved, assert_refuted, claims

TRUE = claims("""
== Heron's formula
let a, b, c, x, h, S, s : real
assume x^2 + h^2 = b^2
assume (a - x)^2 + h^2 = c^2
assume 2*S = a*h
assume 2*s = a + b + c
show S^2 = s*(s - a)*(s - b)*(s - c)

== minimal polynomial of a sum of three roots
define x = sqrt(2) + sqrt(3) + sqrt(5)
show x^8 - 40*x^6 + 352*x^4 - 960*x^2 + 576 = 0

== a right inverse is a left inverse, by entries
let a, b, c, d, p, q, r, s : real
assume a*p + b*r = 1
assume a*q + b*s = 0
assume c*p + d*r = 0
assume c*q + d*s = 1
show p*a + q*c = 1

== derivative of Lambert W
let x : real
assume x > -exp(-1)
show diff(lambertw(x), x) = 1/(exp(lambertw(x))*(1 + lambertw(x)))

== derivative of Lambert W, without the exponential
let x : positive
show diff(lambertw(x), x) = lambertw(x)/(x*(1 + lambertw(x)))

== partial fractions
let x : real
assume x != 1
assume x != -1
show 2/(x^2 - 1) = 1/(x - 1) - 1/(x + 1)

== a fraction of fractions
let a, b : nonzero
assume a + b != 0
show 1/(1/a + 1/b) = a*b/(a + b)

== no zero divisors
let x, y : real
assume x != 0
assume x*y = 0
show y = 0

== cancelling a factor
let a, b, c : complex
assume c != 0
assume a*c = b*c
show a = b

== a square is zero
let x, y : complex
assume x^2 + y^2 = 2*x*y
show x = y

== equal squares of positive numbers
let x, y : positive
assume x^2 = y^2
show x = y

== the other root
let x : positive
assume x^2 + x = 6
show x = 2

== nested roots
show sqrt(3 + 2*sqrt(2)) = 1 + sqrt(2)

== root of a quotient
let a, b : positive
show sqrt(a/b)*b = sqrt(a*b)

== rational root
show sqrt(9/4) = 3/2

== root of a square
let x : real
show sqrt(x^2) = abs(x)

== root of a square of a sum
let x, y : nonnegative
show sqrt(x^2 + 2*x*y + y^2) = x + y

== half power
let x : positive
show x^(1/2)*x^(3/2) = x^2

== third power
let x : positive
show (x^(1/3) - 1)*(x^(2/3) + x^(1/3) + 1) = x - 1

== sum of exponents
let x : positive
let a, b : real
show x^(a + b) = x^a*x^b

== power of a power
let x : positive
let a, b : real
show (x^a)^b = x^(a*b)

== power of a product
let x, y : positive
let a : real
show (x*y)^a = x^a*y^a

== power of a quotient
let x, y : positive
let a : real
show (x/y)^a = x^a/y^a

== power of an exponential
let x, a : real
show exp(x)^a = exp(a*x)

== power by exponential and logarithm
let x : positive
let a : real
show x^a = exp(a*log(x))

== powers of numbers
let a : real
show 4^a = 2^(2*a)

== a root as a power
let x : positive
let a : real
show sqrt(x)^(2*a) = x^a

== powers of a dimension
let n, k : dimension
let c : complex
show c^(n + k) = c^n*c^k

== even power of minus one
let n : dimension
show (-1)^(2*n) = 1

== half a dimension as an exponent
let n : dimension
let c : positive
show (c^(n/2))^2 = c^n

== exponentials
let x, y : real
show exp(2*x + y)*exp(-x) = exp(x + y)

== half arguments
let x : real
show exp(x/2)^2 = exp(x)

== e
show exp(1) = e

== e to a power
let x : real
show e^(2*x) = exp(x)^2

== logarithm of a quotient
let x, y : positive
show log(x^2/y) = 2*log(x) - log(y)

== logarithm of eight
show log(8) = 3*log(2)

== sine and cosine
let x : real
show (sin(x) + cos(x))^2 = 1 + sin(2*x)

== cosine of the double angle
let x : real
show cos(2*x) = 1 - 2*sin(x)^2

== sine of three times
let x : real
show sin(3*x) = 3*sin(x) - 4*sin(x)^3

== half turn
let x : real
show sin(x + pi) = -sin(x)

== complementary angle
let x : real
show cos(pi/2 - x) = sin(x)

== whole turns
let x : real
let n : integer
show sin(x + 2*n*pi)*(-1)^(2*n) = sin(x)*(-1)^(2*n)*cos(2*n*pi)

== cosine at sixty degrees
show cos(pi/3) = 1/2

== cosine at pi
show cos(pi) = -1

== cosine at 3 pi/4
show cos(3*pi/4) = -sqrt(2)/2

== product to sum
let x, y : real
show 2*sin(x)*cos(y) = sin(x + y) + sin(x - y)

== tanh
let x : real
show tanh(x) = 1 - 2/(exp(2*x) + 1)

== tanh is odd
let x : real
show tanh(-x) = -tanh(x)

== tanh of a sum
let x, y : real
show tanh(x + y)*(1 + tanh(x)*tanh(y)) = tanh(x) + tanh(y)

== tanh of the double
let x : real
show tanh(2*x) = 2*tanh(x)/(1 + tanh(x)^2)

== tanh and the logistic function
let x : real
show (1 + tanh(x/2))/2 = 1/(1 + exp(-x))

== erf is odd
let x : real
show erf(-x) + erf(x) = 0

== erf at 0
show erf(0) = 0

== erf of a difference
let x, y : real
show erf(x - y) = -erf(y - x)

== modulus of a square
let x : real
show abs(x)^2 = x^2

== modulus of a product
let x, y : complex
show abs(x*y) = abs(x)*abs(y)

== modulus of a quotient
let x, y : real
assume y != 0
show abs(x/y) = abs(x)/abs(y)

== modulus of a difference
let x, y : real
show abs(x - y) = abs(y - x)

== triangle inequality
let x, y : real
show abs(x + y) <= abs(x) + abs(y)

== triangle inequality, complex
let x, y : complex
show abs(x + y) <= abs(x) + abs(y)

== triangle inequality, reversed
let x, y : real
show abs(x) - abs(y) <= abs(x - y)

== a number is at most its modulus
let x : real
show x <= abs(x)

== maximum and minimum
let x, y : real
show max(x, y) + min(x, y) = x + y

== product of maximum and minimum
let x, y : real
show max(x, y)*min(x, y) = x*y

== maximum of ordered numbers
let x, y : real
assume x >= y
show max(x, y) = x

== positive part
let x : real
show max(x, 0) - max(-x, 0) = x

== maximum is symmetric
let x, y : real
show max(x, y) = max(y, x)

== minimum is below
let x, y : real
show min(x, y) <= x

== Lambert W inverts on its branch
let x : real
assume x >= -1
show lambertw(x*exp(x)) = x

== Lambert W at e^(1 + e)
show lambertw(e^(1 + e)) = e

== Lambert W at e
show lambertw(e) = 1

== Lambert W at 2 log 2
show lambertw(2*log(2)) = log(2)

== Lambert W over its argument
let x : positive
show lambertw(x)/x = exp(-lambertw(x))

== logarithm of Lambert W
let x : positive
show log(lambertw(x)) = log(x) - lambertw(x)

== Wright omega
let x : real
define omega = lambertw(exp(x))
show omega + log(omega) = x

== Lambert W at x log x
let x : real
assume x >= 1
show lambertw(x*log(x)) = log(x)

== Euler's formula
let x : real
show exp(i*x) = cos(x) + i*sin(x)

== Euler's identity
show exp(i*pi) + 1 = 0

== de Moivre
let x : real
show (cos(x) + i*sin(x))^3 = cos(3*x) + i*sin(3*x)

== modulus on the circle
let x : real
show exp(i*x)*conj(exp(i*x)) = 1

== conjugate of a product
let z, v : complex
show conj(z*v) = conj(z)*conj(v)

== conjugate of an exponential
let z : complex
show conj(exp(z)) = exp(conj(z))

== cosine by exponentials
let x : real
show (exp(i*x) + exp(-i*x))/2 = cos(x)

== square of i
show (1 + i)^2 = 2*i

== reciprocal of a complex number
let z : complex
assume z != 0
show 1/z = conj(z)/abs(z)^2

== sum of cubes
let a, b, c : real
assume a + b + c = 0
show a^3 + b^3 + c^3 = 3*a*b*c

== hyperbolic Pythagoras
let x : real
show ((exp(x) + exp(-x))/2)^2 - ((exp(x) - exp(-x))/2)^2 = 1

== exponential of logarithms
let x, y : positive
show exp(log(x) + log(y)) = x*y

== Lambert W solves
let x : positive
show lambertw(x)*exp(lambertw(x)) = x

== logarithm of a power
let x : positive
let a : real
show log(x^a) = a*log(x)

== equal cubes of positive numbers
let x, y : positive
assume x^3 = y^3
show x = y

== sine at pi/4
show sin(pi/4)^2 = 1/2

== full turn
let x : real
show sin(x + 2*pi) = sin(x)

== tangent and secant
let x : real
assume cos(x) != 0
show (sin(x)/cos(x))^2 + 1 = 1/cos(x)^2

== root and half power
let x : positive
show sqrt(x)*x^(1/2) = x

== root of fifty
show sqrt(50) = 5*sqrt(2)

== modulus of a difference by maximum and minimum
let x, y : real
show abs(x - y) = max(x, y) - min(x, y)

== golden ratio
define phi = (1 + sqrt(5))/2
show phi^2 = phi + 1

== reciprocal of a root
show 1/sqrt(2) = sqrt(2)/2

== rotations add
let a, b : real
show exp(i*a)*exp(i*b) = exp(i*(a + b))

== modulus of a rotation
let a : real
show abs(exp(i*a)) = 1

== one minus tanh squared
let x : real
show 1 - tanh(x)^2 = 4/(exp(x) + exp(-x))^2

== exponential to a power
let x, y : real
show exp(x)^y = exp(x*y)

== logarithm of e
show log(e) = 1

== e to a logarithm
show e^(2*log(3)) = 9
""")

# A wrong branch, a missing domain, a sign, a rule that holds for products and not for sums.
FALSE = claims("""
== a root of a square is the number
let x : real
show sqrt(x^2) = x

== a root of a square of negative numbers
let x : real
assume x < 0
show sqrt(x^2) = x

== logarithm of a product of negative numbers
let x, y : real
assume x*y > 0
show log(x*y) = log(x) + log(y)

== logarithm of a sum
let x, y : positive
show log(x + y) = log(x) + log(y)

== logarithm of a square
let x : nonzero
show log(x^2) = 2*log(x)

== Lambert W on the wrong branch
let u : real
show lambertw(u*exp(u)) = u

== Lambert W below its branch
let u : real
assume u < -1
show lambertw(u*exp(u)) = u

== Lambert W without a domain
let x : real
show lambertw(x)*exp(lambertw(x)) = x

== Lambert W of the logarithm with the base forgotten
show lambertw(2*log(2)) = 2*log(2)

== Lambert W at x log x below e^-1
let x : positive
show lambertw(x*log(x)) = log(x)

== Wright omega at another point
let x : real
show lambertw(exp(x)) = x

== exponential to a power, multiplied wrongly
let x, y : real
show exp(x)^y = exp(x^2*y)

== power of a sum
let x, y, a : positive
show (x + y)^a = x^a + y^a

== exponents multiplied for a sum
let x : positive
let a, b : real
show x^(a + b) = x^a + x^b

== tower of exponents
let x : positive
let a : real
show (x^a)^2 = x^(a^2)

== root of a sum
let x, y : nonnegative
show sqrt(x + y) = sqrt(x) + sqrt(y)

== root of a product of negative numbers
let x, y : real
assume x*y >= 0
show sqrt(x*y) = sqrt(x)*sqrt(y)

== even power of minus one
let n : dimension
show (-1)^n = 1

== odd denominators
show sqrt(8) = 2*sqrt(3)

== sine of a sum
let x, y : real
show sin(x + y) = sin(x)*cos(y) - cos(x)*sin(y)

== cosine of the double angle
let x : real
show cos(2*x) = 1 - sin(x)^2

== half turn
let x : real
show sin(x + pi) = sin(x)

== sine at a multiple of pi/2
let n : integer
show sin(n*pi/2) = 0

== sine is odd
let x : real
show sin(-x) = sin(x)

== tanh of a sum
let x, y : real
show tanh(x + y) = tanh(x) + tanh(y)

== tanh of the double
let x : real
show tanh(2*x) = 2*tanh(x)

== erf is not even
let x : real
show erf(-x) = erf(x)

== erf is not linear
let x : real
show erf(2*x) = 2*erf(x)

== modulus of a sum
let x, y : real
show abs(x + y) = abs(x) + abs(y)

== modulus of a complex number squared
let z : complex
show abs(z)^2 = z^2

== modulus is the number
let x : real
show abs(x) = x

== triangle inequality, turned
let x, y : real
show abs(x) + abs(y) <= abs(x + y)

== maximum of a sum
let x, y, z : real
show max(x + z, y) = max(x, y) + z

== product of maximum and minimum with a sign
let x, y : real
show max(x, y) - min(x, y) = x - y

== minimum is strictly below
let x, y : real
show min(x, y) < x

== equal squares without signs
let x, y : real
assume x^2 = y^2
show x = y

== a product is zero
let x, y : real
assume x*y = 0
show y = 0

== the other root
let x : real
assume x^2 + x = 6
show x = 2

== cancelling a factor that may be zero
let a, b, c : complex
assume a*c = b*c
show a = b

== partial fractions with a sign
let x : real
assume x != 1
assume x != -1
show 2/(x^2 - 1) = 1/(x - 1) + 1/(x + 1)

== Euler's formula with a sign
let x : real
show exp(i*x) = cos(x) - i*sin(x)

== de Moivre, halved
let x : real
show (cos(x) + i*sin(x))^2 = cos(2*x) - i*sin(2*x)

== exponential of i pi
show exp(i*pi) = 1

== modulus of a complex square
let z : complex
show z^2 = conj(z)^2

== conjugate of i
let z : complex
show conj(i*z) = i*conj(z)

== squares of complex numbers are not negative
let z, v : complex
assume z^2 + v^2 = 0
show z = 0
""")


@pytest.mark.parametrize("name", TRUE)
def test_a_true_identity_is_proved(name: str):
    assert_proved(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_a_false_neighbour_is_refuted(name: str):
    assert_refuted(FALSE[name])
