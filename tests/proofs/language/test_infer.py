"""Shapes for all sizes at once, kinds, and what is refused with which words."""

from __future__ import annotations

import pytest

from proofs.language.errors import StatementError, TypeProblem
from proofs.language.infer import (
    Scope,
    check,
    infer,
    polynomial,
    random_degree,
    size_of,
    type_from,
)
from proofs.language.parser import parse, parse_expression
from proofs.language.sizes import Size
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    bound,
    instantiate,
    name,
    rational,
    term,
)
from proofs.language.types import Kind

DECLARED = """
let n, k, q : dimension
let a, t : real
let s : positive
let p : integer
let z : complex
let A, B : matrix(n, n)
let Z : complex matrix(n, n)
let M : matrix(n, k)
let v, w : vector(n)
let y : complex vector(n)
let u : vector(n + 1)
let j : index(n)
let l : index(k)
let S : matrix(3, 3)
let f : function(real)
let G : function(real) -> matrix(n, k)
let mu : vector(k) for r in 1..n, r2 in 1..3
let X, Y : gaussian(v, A)
let N : gaussian(0, 1)
"""
SCOPE = Scope.of(parse(DECLARED + "show a = a").statements[0].declarations)
L2 = Scope.of(
    parse("""
let n, k : dimension
let M : matrix(k, n)
let v : vector(n)
let c : real
let U, V : random vector(n)
let W : random
let F, H : sigma_algebra
show 1 = 1
""")
    .statements[0]
    .declarations
)


def type_of(text: str, scope: Scope = SCOPE) -> str:
    return str(infer(parse_expression(text, scope), scope))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "real"),
        ("s", "positive"),
        ("n", "dimension"),
        ("j", "index"),
        ("z", "complex"),
        ("M", "matrix(n, k)"),
        ("v", "matrix(n, 1)"),
        ("y", "complex matrix(n, 1)"),
        ("2", "integer"),
        ("1/2", "scalar"),
        ("i", "complex"),
        ("pi", "scalar"),
        ("n + 2*k", "integer"),
        ("n/2", "scalar"),
        ("n - j", "integer"),
        ("p^2", "integer"),
        ("p^j", "integer"),
        ("2^-1", "scalar"),
        ("abs(p)", "integer"),
        ("rank(M)", "integer"),
        ("a*z", "complex"),
        ("z + 1", "complex"),
        ("Z*v", "complex matrix(n, 1)"),
        ("v.T*v", "scalar"),
        ("v*v.T", "matrix(n, n)"),
        ("v.T*v*M", "matrix(n, k)"),
        ("M*(v.T*w)", "matrix(n, k)"),
        ("M.T*M", "matrix(k, k)"),
        ("pinv(M)", "matrix(k, n)"),
        ("A^3", "matrix(n, n)"),
        ("A^p", "matrix(n, n)"),
        ("A^-1", "matrix(n, n)"),
        ("eye(n + k)", "matrix(k+n, k+n)"),
        ("zeros(2, n^2)", "matrix(2, n*n)"),
        ("kron(M, M)", "matrix(n*n, k*k)"),
        ("vec(M)", "matrix(k*n, 1)"),
        ("block([[A, M], [M.T, eye(k)]])", "matrix(k+n, k+n)"),
        ("block([[1, 2], [3, i]])", "complex matrix(2, 2)"),
        ("det(Z)", "complex"),
        ("norm2(y)", "scalar"),
        ("diag(v)", "matrix(n, n)"),
        ("unit(n, j)", "matrix(n, 1)"),
        ("unit(3, 3)", "matrix(3, 1)"),
        ("softmax(v)", "matrix(n, 1)"),
        ("logsumexp(v)", "scalar"),
        ("max(v)", "scalar"),
        ("max(a, 2, s)", "scalar"),
        ("exp(z)", "complex"),
        ("abs(z)", "scalar"),
        ("v[j]", "scalar"),
        ("u[j]", "scalar"),
        ("u[n + 1]", "scalar"),
        ("y[1]", "complex"),
        ("M[j, l]", "scalar"),
        ("v[p]", "scalar"),
        ("v[2]", "scalar"),
        ("v[n - 1]", "scalar"),
        ("mu[j, 3]", "matrix(k, 1)"),
        ("mu[j, 3][l]", "scalar"),
        ("f(a)", "scalar"),
        ("G(t)", "matrix(n, k)"),
        ("diff(G(t), t)", "matrix(n, k)"),
        ("grad(det(A), A)", "matrix(n, n)"),
        ("sum(v[r], r, 1, n)", "scalar"),
        ("sum(A^r, r, 0, n)", "matrix(n, n)"),
        ("sum(r, r, 1, n)", "integer"),
        ("prod(z, r, 1, 3)", "complex"),
        ("vector(v[r]*i, r, 1, n)", "complex matrix(n, 1)"),
        ("X", "matrix(n, 1)"),
        ("E(X*X.T)", "matrix(n, n)"),
        ("cov(X, N)", "matrix(n, 1)"),
        ("E(X | Y, N)", "matrix(n, 1)"),
        ("cov(X, X | Y + X)", "matrix(n, n)"),
        ("E(logpdf(X; v, A))", "scalar"),
        ("a < n", "relation"),
        ("A <= B", "relation"),
        ("Z >= Z.H", "relation"),
        ("commute(A, Z)", "relation"),
        ("full_row_rank(M)", "relation"),
        ("limit(t/r, r, oo) = v[1]", "relation"),
    ],
)
def test_types(text: str, expected: str) -> None:
    assert type_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("U + v", "random vector(n)"),
        ("M*U", "random vector(k)"),
        ("W*v", "random vector(n)"),
        ("c*U - V/2", "random vector(n)"),
        ("-U", "random vector(n)"),
        ("E(U)", "matrix(n, 1)"),
        ("E(U | F)", "random vector(n)"),
        ("cov(U, W)", "matrix(n, 1)"),
        ("l2norm2(U)", "scalar"),
        ("l2inner(U, v)", "scalar"),
        ("v.T*U", "random vector(1)"),
        ("sum(r*U, r, 1, n)", "random vector(n)"),
        ("E(U | F) = U", "relation"),
        ("F subset H", "relation"),
        ("E(E(U | F) | H)", "random vector(n)"),
    ],
)
def test_types_of_random_vectors(text: str, expected: str) -> None:
    assert type_of(text, L2) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A + M", r"left side is matrix\(n, n\), the right side is matrix\(n, k\)"),
        ("A + 1", r"for a multiple of the identity write the scalar times eye\(n\)"),
        ("v + a", r"a scalar is not spread over a matrix: write it times ones\(n, 1\)"),
        ("v + v.T", "may need a transpose"),
        ("M*M", "the inner sizes k and n differ; the right factor may need a transpose"),
        ("v*w", "inner sizes 1 and n differ"),
        ("u.T*v", r"inner sizes n\+1 and n differ"),
        ("A/B", "expected a scalar as denominator"),
        ("M^2", r"pow needs a square matrix, got matrix\(n, k\)"),
        ("A^a", "a matrix has integer powers only"),
        ("z^a", "a complex number has integer powers only"),
        ("a^z", r"write exp\(...\)"),
        ("inv(M)", "inv needs a square matrix"),
        ("tr(M)", "square"),
        ("det(M)", "square"),
        ("diag(M)", "diag takes a column vector"),
        ("inner(v, y)", r"write x.H\*y"),
        ("inner(v, M)", "column vectors"),
        ("inner(v, u)", "the left side is"),
        ("hadamard(A, M)", "left side"),
        ("block([[A, 1]])", r"block \(1, 2\) is integer"),
        ("block([[A], [M]])", r"block \(2, 1\)"),
        ("exp(A)", "expected a scalar"),
        ("log(z)", "expected a real scalar, got a complex one"),
        ("softmax(y)", "that is real"),
        ("max(a, v)", "expected a real scalar"),
        ("eye(n - 1)", "of at least 1"),
        ("eye(0)", "of at least 1"),
        ("eye(a)", "'a' is real"),
        ("zeros(1/2, 1)", "expected a size"),
        ("v[a]", "an integer as index"),
        ("S[0, 1]", "out of range"),
        ("S[4, 1]", "out of range"),
        ("v[n + 1]", r"counted from 1 to n, got n\+1"),
        ("v[l]", "the index runs to k"),
        ("v[0]", "out of range"),
        ("u[n + 2]", "out of range"),
        ("unit(3, 4)", "out of range"),
        ("M[j]", "one index on"),
        ("M[j, l, 1]", "one index"),
        ("M[l, j]", "the index runs to k"),
        ("mu[j]", "the family has 2 indices, got 1"),
        ("mu[j, 4]", "out of range"),
        ("mu[l, 1]", "the index runs to k"),
        ("f(z)", "real scalar"),
        ("f(v)", "real scalar"),
        ("sum(w[r], r, 1, k)", "the index runs to k"),
        ("sum(a, r, 1, t)", "integer as upper limit"),
        ("prod(A, r, 1, n)", "products of matrices have an order"),
        ("vector(v, r, 1, n)", "a scalar for each entry"),
        ("vector(a, r, 1, p)", "expected a size"),
        ("diff(t*v, v)", "expected a real scalar"),
        ("diff(n*t, n)", "can't differentiate by 'n'"),
        ("diff(p*t, p)", "can't differentiate by 'p'"),
        ("diff(z*t, z)", "declared as complex"),
        ("diff(N*t, N)", "declared as gaussian"),
        ("grad(A, A)", "expected a real scalar"),
        ("grad(abs(z), z)", "can't differentiate by 'z'"),
        ("limit(v*r, r, oo) = 0", "expected a real scalar"),
        ("limit(1/r, r, oo) = z", "expected a real scalar, got a complex one"),
        ("limit(N*r, r, oo) = 0", "'N' can't stand in a limit"),
        ("v < w", r"an order is between scalars"),
        ("z < 1", "complex numbers have no order"),
        ("y.H*y >= 0", "complex numbers have no order"),
        ("A < B", r"positive_definite\(B - A\)"),
        ("N <= 0", r"only = \(almost surely\)"),
        ("X != v", r"only = \(almost surely\)"),
        ("symmetric(M)", "square"),
        ("orthogonal(Z)", "write unitary"),
        ("commute(A, S)", "left side"),
        ("cov(X, X | Y*1 | 2)", "expected"),
        ("cov(inner(X, X), N | Y)", "affine in gaussian"),
        ("E(X | v)", "affine in gaussian names"),
        ("E(X | inner(Y, Y))", "affine in gaussian names"),
        ("cov(A, X)", "column vectors"),
        ("logpdf(u; v, A)", "the point is"),
        ("logpdf(v; v, S)", r"must be a real matrix\(n, n\)"),
        ("logpdf(v; X, A)", "can't be random"),
        ("l2norm2(A)", "takes random vectors"),
        ("f + a", "expected a matrix or scalar, got a function"),
        ("f = f", "got a function"),
        ("n = F", "unknown name 'F'"),
    ],
)
def test_a_type_problem_says_what_came_and_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(StatementError, match=message):
        infer(parse_expression(text, SCOPE), SCOPE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("U*W", "not supported yet"),
        ("U.T", "transpose of a random"),
        ("norm2(U)", "norm2 of a"),
        ("U*v.T", "must be a column vector"),
        ("l2inner(U, W)", "left side"),
        ("U >= 0", "almost surely"),
        ("U != V", "almost surely"),
        ("E(U | V)", "on a sigma_algebra"),
        ("E(U | F, H)", "one sigma_algebra"),
        ("F = H", "subset"),
        ("U subset F", "sigma-algebras"),
        ("cov(U, V | F)", "gaussian names only"),
        ("U + F", "got a sigma algebra"),
        ("i*U", "random vectors are real"),
        ("exp(W)", "exp of a random"),
        ("symmetric(W)", "almost surely"),
    ],
)
def test_what_a_random_vector_can_not_do(text: str, message: str) -> None:
    with pytest.raises(TypeProblem, match=message):
        infer(parse_expression(text, L2), L2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("let A : matrix(n, n)\nlet n : dimension\nshow 1 = 1", "unknown name 'n'"),
        ("let A : matrix(0, 1)\nshow 1 = 1", "at least 1"),
        ("let c : real\nlet A : matrix(c, 1)\nshow 1 = 1", "'c' is real"),
        ("let n : dimension\nlet A : matrix(n - 1, 1)\nshow 1 = 1", "at least 1"),
        ("let X : gaussian(0, 1)\nassume X > 0\nshow 1 = 1", "'X' can't stand in a hypothesis"),
        ("let X : gaussian(0, 1)\nassume E(X) = 0\nshow 1 = 1", "'X' can't stand in a hypothesis"),
        (
            "let X : gaussian(0, 1)\nlet Y : gaussian(E(X), 1)\nshow 1 = 1",
            "random name's parameters",
        ),
        ("let A : matrix(2, 2)\nlet X : gaussian(0, A)\nshow 1 = 1", r"real matrix\(1, 1\)"),
        ("let A : complex matrix(1, 1)\nlet X : gaussian(0, A)\nshow 1 = 1", "real matrix"),
        ("let X : gaussian(i, 1)\nshow 1 = 1", "that is real"),
        ("let A : matrix(2, 2)\nlet X : gaussian(A, A)\nshow 1 = 1", "a column vector"),
        ("let X : gaussian(0, 1)\nlet U : random\nshow 1 = 1", "don't go together"),
        ("let U : random for r in 1..3\nshow 1 = 1", "expected a scalar, vector, matrix or index"),
        ("let A : matrix(2, 3)\ndefine B = A*A\nshow 1 = 1", "inner sizes"),
        (
            "let n : dimension\nassume for all m : dimension : m = n\nshow 1 = 1",
            "declared by itself",
        ),
        ("assume for all g : function(real) : g(1) = 0\nshow 1 = 1", "is declared already|product"),
        ("let n : dimension\nassume for all r : index(n) : n = 1/r[2]\nshow 1 = 1", "out of range"),
    ],
)
def test_declarations_and_hypotheses_are_checked(text: str, message: str) -> None:
    with pytest.raises(StatementError, match=message):
        parse(text)


def test_a_problem_is_placed_where_it_stands() -> None:
    text = "let n, k : dimension\nlet M : matrix(n, k)\nshow sum(tr(M*M), r, 1, n) = 0\n"
    with pytest.raises(TypeProblem) as caught:
        parse(text)
    span = caught.value.span
    assert span is not None and (span.line, span.column, span.length) == (3, 13, 3)
    assert "line 3, column 13: M*M:" in str(caught.value)


def test_a_problem_under_a_binder_is_placed_too() -> None:
    text = "let n, k : dimension\nlet v : vector(n)\nshow sum(v[r], r, 1, k) = 0\n"
    with pytest.raises(TypeProblem) as caught:
        parse(text)
    assert caught.value.span is not None and caught.value.span.line == 3


def test_sizes_are_polynomials() -> None:
    assert str(size_of(parse_expression("2*n*(k + 1)", SCOPE), SCOPE)) == "2*k*n+2*n"
    assert size_of(rational(3), SCOPE) == Size.literal(3)
    assert polynomial(parse_expression("n - k", SCOPE), SCOPE.dimensions) is not None
    assert polynomial(parse_expression("n/k", SCOPE), SCOPE.dimensions) is None
    assert polynomial(parse_expression("n^9999999999", SCOPE), SCOPE.dimensions) is None


def test_sizes_that_grow_without_end_are_refused_at_once() -> None:
    node = name("n")
    kron = name("A")
    for _ in range(60):
        node, kron = term("mul", node, node), term("kron", kron, kron)
    assert polynomial(node, SCOPE.dimensions) is None
    with pytest.raises(StatementError):
        infer(kron, SCOPE)


def test_open_terms_have_types() -> None:
    index = term("index_type", name("n"))
    entry = term("entry", name("v"), bound(4, index))
    assert infer(entry, SCOPE).is_scalar
    rectangular = term("matrix_type", name("n"), name("k"))
    assert infer(bound(0, rectangular), SCOPE).cols == Size.dimension("k")


def _sum(carried: Term, low: Term | None = None) -> Term:
    return term("sum", low or rational(1), name("n"), bound(0, carried))


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (_sum(term("real_type")), "expected index or integer"),
        (_sum(term("index_type", name("k"))), "but runs to n"),
        (_sum(term("index_type", name("n")), rational(0)), "counts from 1"),
        (
            term(
                "sum",
                rational(1),
                name("n"),
                term(
                    "add", bound(0, term("integer_type")), bound(0, term("index_type", name("n")))
                ),
            ),
            "with two types",
        ),
        (term("limit", bound(0, term("positive_type")), rational(0)), "is a real number"),
        (
            term("deriv", bound(0, term("integer_type")), name("t"), data=1),
            "differentiate by a var",
        ),
        (
            term(
                "grad", term("tr", bound(0, term("matrix_type", name("k"), name("k")))), name("A")
            ),
            "the variable is",
        ),
        (
            term(
                "forall",
                term("real_type"),
                term("eq", bound(0, term("positive_type")), rational(0)),
                data=(1, 0),
            ),
            "another type than its binder",
        ),
        (term("forall", term("real_type"), rational(1), data=(1, 0)), "expected relations"),
        (
            term("bound", term("index_type", bound(0, term("integer_type"))), data=0),
            "depends on another",
        ),
        (term("add", term("real_type"), term("real_type")), "got a type"),
        (term("add", term("eq", rational(1), rational(1)), rational(1)), "got a relation"),
    ],
)
def test_a_binder_and_its_variable_agree(node: Term, message: str) -> None:
    with pytest.raises(TypeProblem, match=message):
        infer(node, SCOPE)


def test_an_index_bound_for_a_longer_range_holds_a_shorter_one() -> None:
    longer = term("index_type", term("add", name("n"), rational(1)))
    assert infer(_sum(longer), SCOPE).is_scalar


def test_a_derivative_may_be_taken_at_any_real_point() -> None:
    body = term("mul", bound(0, term("real_type")), bound(0, term("real_type")))
    assert infer(term("deriv", body, rational(3), data=1), SCOPE).is_scalar
    assert infer(instantiate(body, (name("a"),)), SCOPE).is_scalar


def test_statements_are_closed_relations() -> None:
    declared = (Declaration(("c",), term("real_type")),)
    c = name("c")
    fine = term("eq", c, c)
    check(Statement(declared, (), fine))
    open_ = term("eq", bound(0, term("real_type")), c)
    for bad in (c, open_, term("real_type"), term("forall", term("real_type"), open_, data=(1, 0))):
        with pytest.raises(TypeProblem):
            check(Statement(declared, (), bad))
    for bad in (c, open_, term("real_type")):
        with pytest.raises(TypeProblem):
            check(Statement(declared, (bad,), fine))
    with pytest.raises(TypeProblem, match="twice"):
        check(Statement(declared + declared, (), fine))
    with pytest.raises(TypeProblem, match="jointly"):
        check(Statement((Declaration(("c", "d"), term("real_type")),), (), fine))


def test_how_random_names_stand_in_a_term() -> None:
    degrees = {
        "a*v": 0,
        "X": 1,
        "A*X + Y - v": 1,
        "E(X*X.T)": 0,
        "X*Y.T": 2,
        "inner(v, X)": 1,
        "X.T*X": 2,
        "X[j]/a": 1,
        "1/N": 2,
        "E(X | Y)": 1,
        "exp(N)": 2,
        "block([[X], [1]])": 1,
        "cov(X, Y)*X": 1,
    }
    for text, expected in degrees.items():
        assert random_degree(parse_expression(text, SCOPE), SCOPE) == expected, text


def test_types_from_declarations() -> None:
    mean = SCOPE.type_terms["X"]
    assert type_from(mean, SCOPE).rows == Size.dimension("n")
    assert type_from(term("function_type", term("real_type")), SCOPE).kind is Kind.FUNCTION
    family = SCOPE.types["mu"]
    assert family.ranges == (Size.dimension("n"), Size.literal(3))
    assert SCOPE.extend([Declaration(("c",), term("real_type"))]).types["c"].domain == "real"
    assert "c" not in SCOPE.types


def test_a_deep_term_is_typed_without_recursion() -> None:
    node = name("a")
    for _ in range(30_000):
        node = term("sin", node)
    assert infer(node, SCOPE).is_scalar


def test_a_law_that_depends_on_the_variable_is_not_differentiated() -> None:
    text = "let t : real\nlet X : gaussian(t, 1)\nshow diff(E(X), t) = 0\n"
    with pytest.raises(TypeProblem, match="the law of X depends on it"):
        parse(text)


def test_a_limit_is_no_part_of_anything() -> None:
    real = term("real_type")
    tends = term("limit", term("div", rational(1), bound(0, real)), rational(0))
    for whole in (
        term("add", tends, rational(1)),
        term("eq", tends, tends),
        term("limit", tends, rational(0)),
        term("forall", real, tends, data=(1, 0)),
        term("forall", real, tends, term("eq", rational(1), rational(1)), data=(1, 1)),
        term("sum", rational(1), rational(2), tends),
    ):
        with pytest.raises(TypeProblem):
            infer(whole, SCOPE)
