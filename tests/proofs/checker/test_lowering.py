"""Lowering preserves values: random trees, their polynomials, and one evaluator for both.

A letter or atom gets the value of every term that lowers to it, so that two terms with different
values and one key, the worst that could happen to the checker, can't go unseen.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from proofs.checker.algebra import Atom, Letter, Poly, TooLarge, of_atom
from proofs.checker.lowering import CONSTANT, L2, Lowering, _inverse, reciprocal
from proofs.evaluate import Complex, Matrix, Model, Points, Polynomial, evaluate, exact
from proofs.language.infer import Scope
from proofs.language.tree import Term, name, rational, term
from tests.proofs.checker import trees
from tests.proofs.checker.arithmetic import UNIT, Gauss, Values, gauss, table, times
from tests.proofs.checker.building import Proof


def array(value: Any) -> np.ndarray:
    """An exact matrix of the evaluator as ours."""
    entries = value.entries()

    def one(i: int, j: int) -> Gauss:
        e = entries[i][j]
        return Gauss(e.re, e.im) if isinstance(e, Complex) else gauss(e)

    rows, cols = value.shape
    return table(rows, cols, one)


def sizes_of(model: Model) -> dict[str, int]:
    return {d: x for d in "nk" if isinstance(x := model.values[d], int)}


class Meaning(Values):
    """Values of letters and atoms, learned from the terms that lower to them."""

    def give(self, poly: Poly, value: np.ndarray) -> None:
        """If the polynomial is a multiple of one letter or atom, that has a value now."""
        if len(poly.terms) != 1:
            return
        (((monomial, word), coefficient),) = poly.terms.items()
        value = times(np.array([[gauss(1 / coefficient)]], dtype=object), value)
        if not word and len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].word is None:
            self.settle(self.atoms, monomial[0][0], value[0, 0])
        elif len(word) == 1 and not monomial and not word[0].transposed and word[0].block is None:
            self.settle(self.letters, word[0], value)

    def settle(self, known: dict, key: Atom | Letter, value) -> None:
        flat = value.ravel() if isinstance(value, np.ndarray) else [value]
        if not key.is_complex:
            assert all(e.im == 0 for e in flat), f"{key.key} is said to be real"
        if isinstance(key, Letter) and key.conjugated:
            return
        if key not in known:
            known[key] = value
        assert np.all(known[key] == value), f"{key.key} stands for two values"


def learn(meaning: Meaning, lowering: Lowering, model: Model) -> None:
    for node, poly in lowering._done.items():
        if node.free:
            continue
        found = evaluate(node, model)
        if not isinstance(found, Matrix) or not found.exact:
            continue
        value = array(found)
        meaning.give(poly, value)
        for inverse, inverted in (
            ((_inverse(poly), term("inv", node)),) if (found.shape[0] == found.shape[1]) else ()
        ):
            other = evaluate(inverted, model)
            if isinstance(other, Matrix):
                meaning.give(inverse, array(other))
    for a, value in list(meaning.atoms.items()):
        size = value.re**2 + value.im**2
        if size:
            meaning.give(
                reciprocal(of_atom(a)),
                np.array([[Gauss(value.re / size, -value.im / size)]], dtype=object),
            )


def lowered_value(root: Term, model: Model) -> tuple[np.ndarray, np.ndarray] | None:
    """The value of the lowered term and that of the term; None where one of them isn't known."""
    found = evaluate(root, model)
    if not isinstance(found, Matrix) or not found.exact:
        return None
    lowering = Lowering(trees.SCOPE)
    try:
        poly = lowering.lower(root)
    except TooLarge:
        return None
    meaning = Meaning(sizes_of(model), {}, {})
    learn(meaning, lowering, model)
    try:
        return meaning(poly), array(found)
    except KeyError:  # a reciprocal of a reciprocal, or a letter that only vanished with zero
        return None


@pytest.mark.parametrize("seed", range(12))
def test_a_lowered_tree_has_the_value_of_the_tree(seed: int):
    print(f"seed {seed}")
    compared = 0
    for k in range(60):
        draw = random.Random(1000 * seed + k)
        model = trees.model(draw)
        grow = trees.Trees(draw.randrange(10**9))
        root = grow.matrix(
            draw.choice(trees.SIZES), draw.choice(trees.SIZES[:3]), draw.randint(2, 4)
        )
        pair = lowered_value(root, model)
        if pair is not None:
            assert (pair[0] == pair[1]).all(), (seed, k, root)
            compared += 1
    print(f"{compared} of 60 compared")
    assert compared > 15


# ---------------------------------------------------------------- random vectors


class Space(Meaning):
    """Matrices of a finite orthogonal basis of L2 with given squared lengths: rows are vectors."""

    def __init__(self, sizes: dict[str, int], weights: list[Gauss]) -> None:
        super().__init__(sizes, {}, {})
        self.weights = weights

    def letter(self, x: Letter) -> np.ndarray:
        if L2 not in (x.rows, x.cols):
            return super().letter(x)
        base = x.T if x.transposed else x
        found = self.letters[base]
        if not x.transposed:
            return found
        count = len(self.weights)
        weight = table(count, count, lambda i, j: self.weights[i] if i == j else gauss(0))
        inverse = table(
            count, count, lambda i, j: gauss(1 / self.weights[i].re) if i == j else gauss(0)
        )
        found = found.T
        if x.rows == L2:  # the adjoint in the weighted inner product
            found = weight.dot(found)
        return found.dot(inverse) if x.cols == L2 else found

    def projection(self, rows: np.ndarray) -> np.ndarray:
        """The matrix that projects on the span of rows, when it acts from the right."""
        count = len(self.weights)
        weight = table(count, count, lambda i, j: self.weights[i] if i == j else gauss(0))
        gram = rows.dot(weight).dot(rows.T)
        plain = fmpq_mat([[_fmpq(e) for e in row] for row in gram])
        inverse = array(Matrix(exact.pseudo_inverse(plain)))
        return weight.dot(rows.T).dot(inverse).dot(rows)


def _fmpq(e: Gauss):
    return fmpq(e.re.numerator, e.re.denominator)


def rows_of(value: object, one: np.ndarray) -> np.ndarray:
    """A random vector of the evaluator as a matrix, one column for each basis element."""
    if isinstance(value, Points):
        return np.concatenate([array(x) for x in value.values], axis=1)
    if isinstance(value, Polynomial):
        some: Any = next(iter(value.terms.values()))
        columns: list[Any] = [
            value.terms.get(() if b == 0 else (b - 1,)) for b in range(one.shape[1])
        ]
        blank = table(some.shape[0], 1, lambda _i, _j: gauss(0))
        return np.concatenate([blank if c is None else array(c) for c in columns], axis=1)
    assert isinstance(value, Matrix)
    return array(value).dot(one)


def settle_space(
    space: Space,
    lowering: Lowering,
    model: Model,
    one: np.ndarray,
    projections: dict[Letter, np.ndarray],
) -> None:
    weights = np.array([[w] for w in space.weights], dtype=object)
    space.letters[CONSTANT] = table(len(weights), 1, lambda i, _j: weights[i, 0] * one[0, i])
    space.letters.update(projections)
    for node, poly in lowering._done.items():
        if node.op == "name" and poly.cols == L2:
            (((_, (x,)), _),) = poly.terms.items()
            space.letters[x] = rows_of(evaluate(node, model), one)
        elif not node.free and poly.cols != L2:
            space.give(poly, array(evaluate(node, model)))


def compare(space: Space, lowering: Lowering, root: Term, model: Model, one: np.ndarray) -> None:
    found = evaluate(root, model)
    poly = lowering.lower(root)
    wanted = rows_of(found, one) if poly.cols == L2 else array(found)  # type: ignore[arg-type]
    assert (space(poly) == wanted).all(), root


@pytest.mark.parametrize("seed", range(6))
def test_random_vectors_on_a_finite_space_are_words(seed: int):
    print(f"seed {seed}")
    for k in range(25):
        draw = random.Random(1000 * seed + k)
        model, grow = trees.l2_model(draw), trees.Trees(draw.randrange(10**9))
        root = grow.in_l2(4, False)
        sizes = sizes_of(model) | {"$L2": 4}
        space = Space(sizes, [gauss(w) for w in model.weights])
        lowering = Lowering(trees.L2_SCOPE)
        lowering.lower(root)
        one = table(1, 4, lambda _i, _j: UNIT)
        projections = {}
        for algebra in "FG":
            partition: Any = model.values[algebra]
            blocks = partition.blocks
            labels = sorted(set(blocks))
            rows = table(len(labels), 4, lambda i, j, b=blocks, s=labels: gauss(int(b[j] == s[i])))
            projections[lowering.projection((name(algebra),))] = space.projection(rows)
        settle_space(space, lowering, model, one, projections)
        compare(space, lowering, root, model, one)


@pytest.mark.parametrize("seed", range(6))
def test_gaussian_vectors_are_words(seed: int):
    print(f"seed {seed}")
    for k in range(25):
        draw = random.Random(1000 * seed + k)
        model, grow = trees.gaussian_model(draw), trees.Trees(draw.randrange(10**9))
        root = grow.in_l2(3, True)
        covariance: Any = model.values["S"]
        factor = exact.definite_factor(
            fmpq_mat([[_fmpq(gauss(e)) for e in row] for row in covariance])
        )
        assert factor is not None
        count = 1 + len(factor.weights)
        weights = [UNIT, *(array(Matrix(fmpq_mat(1, 1, [w])))[0, 0] for w in factor.weights)]
        sizes = sizes_of(model) | {"$L2": count}
        space = Space(sizes, weights)
        lowering = Lowering(trees.GAUSSIAN_SCOPE)
        lowering.lower(root)
        one = table(1, count, lambda _i, j: gauss(int(j == 0)))
        projections = {}
        for node in lowering._done:
            if node.op == "expect_given":
                known = [rows_of(evaluate(g, model), one) for g in node.args[1:]]
                projections[lowering.projection(node.args[1:])] = space.projection(
                    np.concatenate([one, *known])
                )
        settle_space(space, lowering, model, one, projections)
        compare(space, lowering, root, model, one)


# ---------------------------------------------------------------- single facts


@pytest.fixture
def case() -> Proof:
    return Proof("""
        let n, k : dimension
        let x, y : real
        let A : matrix(n, n)
        let B : matrix(n, k)
        let u : vector(n)
        let j, m : index(n)
        let U : random vector(n)
        let F : sigma_algebra
        show x = x
    """)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("vector(2*p, p, 1, n)[j]", "2*j"),
        ("vector(2*p, p, 1, n)[j, 1]", "2*j"),
        ("vector(vector(p*q, q, 1, n)[m], p, 1, n)[j]", "j*m"),
        ("(x*vector(p, p, 1, n) - u/y)[j]", "x*j - u[j]/y"),
        ("sum(p*x, p, 2, 4)", "9*x"),
        ("prod(p*x, p, 1, 3)", "6*x^3"),
        ("unit(n, j).T*u", "u[j]"),
        ("unit(n + 1, n + 1)", "block([[zeros(n, 1)], [1]])"),
        ("block([[u], [x], [B.T*u]])[n + 1]", "x"),
        ("block([[A, u], [u.T, x]])[n + 1, n + 1]", "x"),
        ("unit(n + k + 1, n + 1).T*unit(n + k + 1, n + k + 1)", "0"),
        ("block([[x, y], [y, 2*x]])[2, 2]", "2*x"),
        ("tr(ones(n, 1)*ones(1, n))", "ones(1, n)*ones(n, 1)"),
        ("A^-2*A", "inv(A)*inv(A)*A"),
        ("1/(2*x*y)", "1/2*(1/y)*(1/x)"),
        ("E(x*u)", "x*u"),
        ("cov(U + u, U)", "cov(U, U)"),
        ("tr(cov(U, U))", "l2inner(U, U) - inner(E(U), E(U))"),
    ],
)
def test_these_are_equal_by_structure(case: Proof, left: str, right: str):
    lowering = Lowering(case.scope)
    assert lowering.lower(case(left)) == lowering.lower(case(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("vector(p, p, 1, n)[j, 1]", "1"),
        ("x*(1/x)", "1"),
        ("A*inv(A)", "eye(n)"),
        ("A*B*B.T", "B*B.T*A"),
        ("A", "A.T"),
        ("diff(x*x, x)", "2*x"),
        ("sum(p*x, p, 1, n)", "x*sum(p, p, 1, n)"),
        ("u[j]", "u[m]"),
        ("unit(n, j).T*unit(n, m)", "0"),
        ("unit(n + k, n + 1).T*unit(n + k, n + k)", "0"),  # both are the last one for k = 1
        ("unit(n, n).T*unit(n, 1)", "0"),
        ("unit(n + 2, n + 1)", "block([[zeros(n + 1, 1)], [1]])"),
        ("x^(1/2)*x^(1/2)", "x"),
        ("0/x + 1/0", "1/0*2"),
        ("E(U | F)", "U"),
        ("l2norm2(U)", "l2norm2(E(U))"),
    ],
)
def test_these_are_not_equal_by_structure(case: Proof, left: str, right: str):
    lowering = Lowering(case.scope)
    assert lowering.lower(case(left)) != lowering.lower(case(right))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("E(U | block([[V], [W]]))", "E(U | W, V)", True),
        ("E(U | block([[block([[V], [W]])], [U]]))", "E(U | U, V, W)", True),
        ("cov(U, U | W, V)", "cov(U, U | block([[V], [W]]))", True),
        ("inner(U, x)", "x.T*U", True),
        ("(A*U - V).T*x", "inner(x, A*U) - inner(x, V)", True),
        ("block([[U], [V]])", "block([[U], [zeros(n, 1)]]) + block([[zeros(n, 1)], [V]])", True),
        ("E(U | block([[V], [W]]))", "E(U | V + W)", False),
        ("E(U | block([[V], [W]]))", "E(U | V)", False),
        ("cov(U, V | W)", "cov(U, V | V)", False),
        ("block([[U], [V]])", "block([[V], [U]])", False),
        ("(A*U).T*x", "inner(x, U)", False),
        ("(A*U).T*x", "x.T*A.T*U", False),
    ],
)
def test_rows_and_stacks_of_gaussian_vectors(left: str, right: str, same: bool):
    case = Proof("""
        let n : dimension
        let A : matrix(n, n)
        let x : vector(n)
        let U, V, W : gaussian(zeros(n, 1), eye(n))
        show A = A
    """)
    lowering = Lowering(case.scope)
    assert (lowering.lower(case(left)) == lowering.lower(case(right))) is same


@pytest.mark.parametrize(
    "text",
    [
        "U.T*U",
        "A",
        "E(hadamard(U, U))",
        "l2norm2(hadamard(U, U))",
    ],
)
def test_products_of_random_vectors_are_refused(text: str):
    """In Gaussian names, whose kind is that of a matrix."""
    case = Proof("""
        let n : dimension
        let A : matrix(n, n)
        let S : matrix(n, n)
        let j : index(n)
        let U : gaussian(zeros(n, 1), S)
        show A = A
    """)
    if text == "A":  # what is constant is lowered as ever
        assert Lowering(case.scope).lower(case(text)).terms
        return
    with pytest.raises(TooLarge):
        Lowering(case.scope).lower(case(text))


def test_opaque_values_carry_their_whole_operation():
    scope = Scope.of(())
    x = term("bound", term("real_type"), data=0)
    cube = term("pow", x, rational(3))
    orders = [term("deriv", cube, rational(1), data=order) for order in (1, 2, 3)]
    keys = {Lowering(scope).lower(node).key for node in orders}
    assert len(keys) == 3
