"""Expectations of polynomials in Gaussian vectors: the algebra against exact moments of normals."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from proofs.checker.algebra import Poly, TooLarge, Word
from proofs.checker.definedness import NotDefined, obligations
from proofs.checker.lowering import L2, Lowering
from proofs.evaluate import Model, evaluate
from proofs.language.infer import Scope
from proofs.language.parser import parse
from proofs.language.sizes import Size
from proofs.language.tree import Statement
from proofs.search.portfolio import Failure, prove

LINES = """let A, B : matrix(2, 2)
let b, m : vector(2)
let c, s : real
let S : matrix(2, 2)
let q : vector(2)
let V, R : matrix(2, 2)
let w : vector(2)
let r : real
let X : gaussian(m, S)
let (Y, Z) : gaussian((w, r), block([[R, q], [q.T, s]]))
let W : gaussian(zeros(3, 1), eye(3))
"""
SCALARS = (
    "Z",
    "Z^2",
    "inner(b, X)",
    "inner(X, Y)",
    "inner(X, A*X)",
    "norm2(Y - A*X)",
    "tr(A*X*Y.T)",
    "X[1]",
    "Y[2]/3",
    "inner(W, W)",
    "(Z - c)",
    "W[3]",
)
MATRICES = ("X*Y.T", "A*X*X.T", "Y*b.T*B", "eye(2)", "X*X.T*A.T", "(Y + b)*(X - m).T", "B")
COLUMNS = ("X", "Y + b", "A*Y", "X*Z", "Y - E(Y | X)", "block([[Z], [X[2]]])")


def statement(goal: str) -> Statement:
    return parse(f"{LINES}show {goal}").statements[0]


def at_random(rng: random.Random) -> tuple[dict, dict[str, np.ndarray]]:
    """Values for the names of LINES, and the Gaussian ones in an orthonormal basis of L2: the
    constant first, then one coordinate for each independent standard normal."""

    def table(rows: int, cols: int) -> np.ndarray:
        cells = [[Fraction(rng.randint(-3, 3)) for _ in range(cols)] for _ in range(rows)]
        return np.array(cells, dtype=object).reshape(rows, cols)

    x_root, joint_root = table(2, rng.choice((1, 2))), table(3, rng.choice((1, 2, 3)))
    gram = joint_root @ joint_root.T
    values = {
        **{n: table(2, 2) for n in "ABV"},
        **{n: table(2, 1) for n in "bmw"},
        "c": table(1, 1),
        "r": table(1, 1),
        "S": x_root @ x_root.T,
        "R": gram[:2, :2],
        "q": gram[:2, 2:],
        "s": gram[2:, 2:],
    }
    normals = [x_root.shape[1], joint_root.shape[1], 3]
    size = 1 + sum(normals)
    vectors = {n: np.full((k, size), Fraction(0)) for n, k in (("X", 2), ("Y", 2), ("Z", 1))}
    vectors["W"] = np.full((3, size), Fraction(0))
    for n, mean in (("X", "m"), ("Y", "w"), ("Z", "r")):
        vectors[n][:, :1] = values[mean]
    first, second, third = 1, 1 + normals[0], 1 + normals[0] + normals[1]
    vectors["X"][:, first:second] = x_root
    vectors["Y"][:, second:third] = joint_root[:2]
    vectors["Z"][:, second:third] = joint_root[2:]
    for i in range(3):
        vectors["W"][i, third + i] = Fraction(1)
    one = np.full((size, 1), Fraction(0))
    one[0, 0] = Fraction(1)
    return values, {**vectors, "$1": one}


def valued(value: Poly, letters: dict[str, np.ndarray]) -> np.ndarray:
    """A polynomial of the algebra, every letter replaced by a matrix."""

    one = letters["$1"]

    def product(word: Word) -> np.ndarray:
        first = word[0]
        total = identity(one.shape[0] if first.rows == L2 else literal(first.rows))
        for x in word:
            if x.block is not None:
                offset, width = map(literal, x.block)
                rows = literal(x.cols if x.transposed else x.rows)
                factor = np.full((rows, width), Fraction(0))
                for i in range(width):
                    factor[offset + i, i] = Fraction(1)
            elif x.key.startswith("$e("):  # conditioning on X is projection in L2
                basis = np.concatenate([letters["$1"], letters["X"].T], axis=1)
                factor = projection(basis)
            else:
                factor = letters[x.key]
            factor = factor.T if x.transposed else factor
            total = total @ factor
        return total

    rows, cols = literal(value.rows), literal(value.cols)
    total = np.full((rows, cols), Fraction(0))
    for (monomial, word), coefficient in value.terms.items():
        scale = coefficient
        for a, power in monomial:
            number = letters[a.key][0, 0] if a.word is None else np.trace(product(a.word))
            scale = scale * number**power
        matrix = product(word) if word else identity(rows)
        total = total + matrix * scale
    return total


def literal(size: Size) -> int:
    assert size.value is not None
    return size.value


def identity(rows: int) -> np.ndarray:
    return np.array([[Fraction(i == j) for j in range(rows)] for i in range(rows)])


def projection(basis: np.ndarray) -> np.ndarray:
    """The orthogonal projection on the columns, by Gram-Schmidt over the rationals."""
    total = np.full((len(basis), len(basis)), Fraction(0))
    for column in basis.T:
        rest = column - total @ column
        length = rest @ rest
        if length:
            total = total + np.outer(rest, rest) / length
    return total


@pytest.mark.parametrize("seed", range(40))
def test_expectations_agree_with_moments_of_normals(seed):
    rng = random.Random(f"moments:{seed}")
    factors = [rng.choice(SCALARS) for _ in range(rng.randint(0, 2))]
    shape = rng.choice(("scalar", "matrix", "column"))
    if shape == "matrix":
        factors.append(rng.choice(MATRICES))
    elif shape == "column":
        factors.append(rng.choice(COLUMNS))
    body = "*".join(factors) or "Z*X[1]"
    goal = f"E({body})"
    if shape != "matrix" and rng.random() < 0.4:
        goal = f"cov({body}, {rng.choice(('X', 'Z*Y', 'Z^2'))})"
    found = statement(f"{goal} = {goal}")
    values, letters = at_random(rng)
    lowered = Lowering(Scope.of(found.declarations)).lower(found.goal.args[0])
    ours = valued(lowered, {**values, **letters})
    model = Model(found.declarations, {n: tuple(map(tuple, v)) for n, v in values.items()})
    theirs = evaluate(found.goal.args[0], model)
    shown = "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in ours) + "]"
    if ours.shape == (1, 1):
        shown = str(ours[0, 0])
    assert shown == str(theirs), f"{goal} (seed {seed})"


@pytest.mark.parametrize(
    "expression",
    [
        "E(1/Z)",  # no first moment
        "E(X/Z)",
        "E(abs(Z))",
        "E(exp(Z^2))",
        "E(exp(inner(X, X)))",
        "E(log(Z))",
        "E(Z^c)",
        "E(sqrt(Z))",
        "cov(exp(Z^2), Z)",
    ],
)
def test_expectations_that_may_not_exist_have_no_meaning(expression):
    found = statement(f"{expression} = {expression}")
    with pytest.raises(NotDefined):
        obligations(found.goal, Scope.of(found.declarations))


@pytest.mark.parametrize(
    "body", ["X*X.T*exp(Z)", "exp(Z)*X", "Z^9", "pinv(X)", "hadamard(X, X)", "inner(X, X)^5"]
)
def test_what_is_no_polynomial_is_refused(body):
    found = statement(f"E({body}) = E({body})")
    with pytest.raises(TooLarge):
        Lowering(Scope.of(found.declarations)).lower(found.goal.args[0])


def test_other_functions_stay_inside_but_expectation_is_linear():
    found = statement("E(2*exp(Z) - c*exp(Z) + Z) = (2 - c)*E(exp(Z)) + E(Z)")
    lower = Lowering(Scope.of(found.declarations)).lower
    assert lower(found.goal.args[0]) == lower(found.goal.args[1])
    other = statement("E(exp(Z)*exp(Z)) = E(exp(Z))^2")
    lower = Lowering(Scope.of(other.declarations)).lower
    assert lower(other.goal.args[0]) != lower(other.goal.args[1])


TRUE = [
    "E(inner(b, X)^2) = inner(b, S*b) + inner(b, m)^2",
    "E(Z^3) = r^3 + 3*r*s",
    "E(Z^4) = r^4 + 6*r^2*s + 3*s^2",
    "cov(Z^2, Z) = 2*r*s",
    "cov(Y, Z^2) = 2*r*q",
    "E(X*X.T*b) = S*b + m*inner(m, b)",
    "E(Y*Z*X.T) = (q + r*w)*m.T",
    "E(W*W.T) = eye(3)",
    "E(norm2(W)) = 3",
    "E(norm2(A*X - Y)) = norm2(A*m - w) + tr(A*S*A.T) + tr(R)",
    "cov(inner(X, X), inner(Y, Y)) = 0",
    "E(Z*exp(Z)) = (r + s)*exp(r + s/2)",
    "cov(Z, exp(2*Z)) = 2*s*E(exp(2*Z))",
]
FALSE = [
    "E(inner(b, X)^2) = inner(b, S*b)",
    "E(Z^3) = r^3 + 3*r^2*s",
    "E(Z^4) = r^4 + 6*r^2*s + 2*s^2",
    "cov(Z^2, Z) = r*s",
    "cov(Y, Z^2) = 2*r*w",
    "E(X*X.T*A*X) = A*S*m + S*A*m + tr(A*S)*m + inner(m, A*m)*m",  # A.T in the first term
    "E(Y*Z*X.T) = q*m.T",
    "E(norm2(W)) = 9",
    "cov(inner(Y, Y), Z^2) = 0",
    "E(Z*exp(Z)) = r*exp(r + s/2)",
    "E(Z*exp(Z)) = E(Z)*E(exp(Z))",
    "E(Z*Z*exp(Z)) = (r + s)*E(Z*exp(Z))",
]
DUTIES = "assume positive_semidefinite(S)\nassume positive_semidefinite(block([[R, q], [q.T, s]]))"


@pytest.mark.parametrize("goal", TRUE)
def test_moments_are_proved(goal):
    found = parse(f"{LINES}{DUTIES}\nshow {goal}").statements[0]
    assert not isinstance(prove(found, 10.0), Failure)


@pytest.mark.parametrize("goal", FALSE)
def test_false_moments_are_not_proved(goal):
    found = parse(f"{LINES}{DUTIES}\nshow {goal}").statements[0]
    assert isinstance(prove(found, 2.0), Failure)


def test_moments_need_a_covariance_that_is_semidefinite():
    found = statement("E(Z^2) = r^2 + s")
    failure = prove(found, 5.0)
    assert isinstance(failure, Failure) and failure.definedness
