"""Inequalities between numbers: squares, known inequalities, cases, bounds of functions."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from fractions import Fraction

import pytest

from proofs.search import Failure, prove
from proofs.search.gram import split
from proofs.search.linear import combination
from tests.proofs.search.claims import assert_proved, assert_refuted, claims, statement

POLYNOMIAL = claims("""
== the square of a difference
let a, b : real
show a^2 + b^2 >= 2*a*b

== the square of a sum
let a, b : real
show (a + b)^2 >= 4*a*b

== Cauchy and Schwarz in the plane
let a, b, x, y : real
show (a*x + b*y)^2 <= (a^2 + b^2)*(x^2 + y^2)

== Cauchy and Schwarz in space
let a, b, c, x, y, z : real
show (a*x + b*y + c*z)^2 <= (a^2 + b^2 + c^2)*(x^2 + y^2 + z^2)

== two means
let a, b : nonnegative
show a*b <= ((a + b)/2)^2

== three cubes
let a, b, c : nonnegative
show 3*a*b*c <= a^3 + b^3 + c^3

== three means
let a, b, c : nonnegative
show 27*a*b*c <= (a + b + c)^3

== four fourth powers
let a, b, c, d : real
show 4*a*b*c*d <= a^4 + b^4 + c^4 + d^4

== four means
let a, b, c, d : nonnegative
show a*b*c*d <= ((a + b + c + d)/4)^4

== Motzkin, which needs a multiplier
let x, y : real
show x^4*y^2 + x^2*y^4 + 1 >= 3*x^2*y^2

== a ratio and its inverse
let p, q : positive
show p/q + q/p >= 2

== Nesbitt
let a, b, c : positive
show a/(b + c) + b/(c + a) + c/(a + b) >= 3/2

== a quartic with a double root
let x : real
show x^4 - 4*x + 3 >= 0

== a quartic without roots
let x : real
show x^4 - 4*x + 4 > 0

== a quadratic without roots
let x : real
show x^2 + x + 1 > 0

== arithmetic and harmonic means
let a, b, c : positive
show (a + b + c)*(1/a + 1/b + 1/c) >= 9

== a parabola over the unit interval
let a : real
assume 0 < a
assume a < 1
show a*(1 - a) <= 1/4

== products in the unit interval
let a, b : real
assume 0 < a
assume a < 1
assume 0 < b
assume b < 1
show a*b < 1

== Chebyshev for two
let a, b, x, y : real
assume a <= b
assume x <= y
show (a + b)*(x + y) <= 2*(a*x + b*y)

== three squares
let a, b, c : real
show a^2 + b^2 + c^2 >= a*b + b*c + c*a

== the cube of a mean
let a, b : nonnegative
show (a + b)^3 <= 4*(a^3 + b^3)

== a line and the circle
let x, y : real
assume x^2 + y^2 = 1
show x + y <= 3/2

== fourth powers on the circle
let x, y : real
assume x^2 + y^2 = 1
show x^4 + y^4 >= 1/2

== a root and a mean
let x : nonnegative
show sqrt(x) <= (1 + x)/2

== a product of roots
let a, b : nonnegative
show sqrt(a)*sqrt(b) <= (a + b)/2

== the hyperbolic cosine
let x : real
show exp(x) + exp(-x) >= 2

== three sixth powers
let x, y, z : real
show x^6 + y^6 + z^6 >= 3*x^2*y^2*z^2

== Schur, by the order of the names
let a, b, c : nonnegative
show a*(a - b)*(a - c) + b*(b - a)*(b - c) + c*(c - a)*(c - b) >= 0

== the geometric mean
let a, b : nonnegative
show sqrt(a*b) <= (a + b)/2
""")

BY_CASES_AND_BOUNDS = claims("""
== an absolute value below two squares
let t : real
show abs(2*t - 1) <= (1 - t)^2 + t^2

== the triangle inequality
let x, y : real
show abs(x + y) <= abs(x) + abs(y)

== the absolute value of a product
let x, y : real
show abs(x*y) = abs(x)*abs(y)

== the square of an absolute value
let x : real
show abs(x)^2 = x^2

== maximum and minimum
let a, b : real
show max(a, b) + min(a, b) = a + b

== a maximum by an absolute value
let a, b : real
show max(a, b) = (a + b + abs(a - b))/2

== a maximum and a mean
let a, b : real
show max(a, b) >= (a + b)/2

== the reverse triangle inequality
let x, y : real
show abs(x) - abs(y) <= abs(x - y)

== the tangent of exp
let x : real
show exp(x) >= 1 + x

== exp is monotone
let x, y : real
assume x <= y
show exp(x) <= exp(y)

== exp as a factor
let x : real
show x*exp(x) <= x^2*exp(x) + exp(x)

== log is increasing
let x, y : positive
assume x < y
show log(x) < log(y) + 1

== sqrt is monotone
let x, y : nonnegative
assume x <= y
show sqrt(x) <= sqrt(y)

== sqrt of more
let x : nonnegative
show sqrt(x) <= sqrt(x + 1)

== the positive part
let x : real
show max(x, 0) = (x + abs(x))/2

== the positive part is a contraction
let x, y : real
show (max(x, 0) - max(y, 0))^2 <= (x - y)^2

== one term of a divergence
let p, q : positive
show p*log(p/q) >= p - q

== log below a square
let x : positive
show log(x) <= x^2
""")

FALSE = claims("""
== a little too much
let a, b : real
show a^2 + b^2 >= 2*a*b + 1/1000

== equality at equal numbers
let a, b : real
show a^2 + b^2 > 2*a*b

== cubes of any sign
let a, b, c : real
show 3*a*b*c <= a^3 + b^3 + c^3

== Motzkin vanishes somewhere
let x, y : real
show x^4*y^2 + x^2*y^4 + 1 > 3*x^2*y^2

== Motzkin with a larger middle
let x, y : real
show x^4*y^2 + x^2*y^4 + 1 >= 301/100*x^2*y^2

== Nesbitt is an equality for equals
let a, b, c : positive
show a/(b + c) + b/(c + a) + c/(a + b) > 3/2

== Schur for any signs
let a, b, c : real
show a*(a - b)*(a - c) + b*(b - a)*(b - c) + c*(c - a)*(c - b) >= 0

== an absolute value above two squares
let t : real
show abs(2*t - 1) <= (1 - t)^2 + t^2 - 1/100

== the triangle inequality reversed
let x, y : real
show abs(x) + abs(y) <= abs(x + y)

== the wrong reverse triangle inequality
let x, y : real
show abs(x - y) <= abs(x) - abs(y)

== exp meets its tangent
let x : real
show exp(x) > 1 + x

== exp of equal numbers
let x, y : real
assume x <= y
show exp(x) < exp(y)

== a ratio of any sign
let p, q : nonzero
show p/q + q/p >= 2

== log meets its tangent
let x : positive
show log(x) < x - 1

== a root of a small number
let x : nonnegative
show sqrt(x) <= x

== the cube of a mean of any sign
let a, b : real
show (a + b)^3 <= 4*(a^3 + b^3)

== a maximum by the wrong absolute value
let a, b : real
show max(a, b) = (a + b + abs(a + b))/2

== Cauchy and Schwarz for parallel vectors
let a, b, x, y : real
show (a*x + b*y)^2 < (a^2 + b^2)*(x^2 + y^2)
""")


@pytest.mark.parametrize("name", POLYNOMIAL)
def test_polynomial_inequality_is_proved(name: str):
    assert_proved(POLYNOMIAL[name])


@pytest.mark.parametrize("name", BY_CASES_AND_BOUNDS)
def test_inequality_is_proved_by_cases_or_bounds(name: str):
    assert_proved(BY_CASES_AND_BOUNDS[name])


@pytest.mark.parametrize("name", FALSE)
def test_false_neighbour_is_refuted(name: str):
    assert_refuted(FALSE[name])


def test_a_false_inequality_is_given_up_at_once():
    goal = statement(FALSE["a little too much"])
    begun = time.monotonic()
    assert isinstance(prove(goal, 10), Failure)
    assert time.monotonic() - begun < 2


def test_certificates_are_exact():
    found = prove(statement(POLYNOMIAL["Motzkin, which needs a multiplier"]), 20)
    assert not isinstance(found, Failure)

    def refuse(text: str):
        raise AssertionError(f"a float in a certificate: {text}")

    json.loads(json.dumps(found), parse_float=refuse)


def test_a_simple_inequality_is_proved_without_numpy():
    """Semidefinite programs are for what linear arithmetic with simple squares doesn't show."""
    code = (
        "import sys\nfrom proofs.search import prove\nfrom proofs.language.parser import parse\n"
        "(goal,) = parse('let a, b : real\\nshow a^2 + b^2 >= 2*a*b\\n').statements\n"
        "assert 'steps' in prove(goal, 10)\n"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'scipy', 'clarabel', 'sympy')))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_matrix_splits_into_squares_exactly_when_it_is_semidefinite():
    def exact(*rows: tuple[int, ...]):
        return [[Fraction(x) for x in row] for row in rows]

    for gram in (exact((2, -1), (-1, 2)), exact((1, 1), (1, 1)), exact((0, 0), (0, 3))):
        squares = split(gram)
        assert squares is not None
        size = range(len(gram))
        assert gram == [[sum(d * v[i] * v[j] for d, v in squares) for j in size] for i in size]
    assert split(exact((1, 2), (2, 1))) is None
    assert split(exact((0, 1), (1, 5))) is None
    assert split(exact((-1, 0), (0, 1))) is None


def test_linear_arithmetic_finds_a_combination_exactly_when_there_is_one():
    def vector(**entries: int):
        return {k: Fraction(c) for k, c in entries.items()}

    columns = [vector(x=1, y=-1), vector(y=1, z=-1), vector(z=1)]
    assert combination(columns, vector(x=2)) == {0: 2, 1: 2, 2: 2}
    assert combination(columns, vector(x=-1)) is None
    assert combination(columns, vector(x=1, w=1)) is None
    assert combination(columns[:2], vector(x=1)) is None
    assert combination([], {}) == {}


def test_the_argument_of_the_lambert_function_is_in_its_domain():
    assert_proved("let x : real\nassume x >= -1\nshow lambertw(x*exp(x)) = x\n")
    assert_refuted("let x : real\nshow lambertw(x*exp(x)) = x\n")
