"""Inequalities: exact squares, exact linear arithmetic, no time for what is false."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from fractions import Fraction

from proofs.search import Failure, prove
from proofs.search.gram import split
from proofs.search.linear import combination
from proofs.search.positivstellensatz import _exponents
from tests.proofs.search.claims import assert_proved, assert_refuted, named, statement


def test_a_false_inequality_is_given_up_at_once():
    goal = statement("let a, b : real\nshow a^2 + b^2 >= 2*a*b + 1/1000\n")
    begun = time.monotonic()
    assert isinstance(prove(goal, 10), Failure)
    assert time.monotonic() - begun < 2


def test_certificates_are_exact():
    found = prove(named("inequalities", "Motzkin, which needs a multiplier"), 20)
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


def test_exponents_are_listed_by_their_sums():
    assert list(_exponents(0, 2)) == [()]  # of no atoms
    assert list(_exponents(1, 2)) == [(0,), (1,), (2,)]
    assert list(_exponents(2, 2)) == [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
