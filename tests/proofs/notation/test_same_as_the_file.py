"""What is written in Python is what the file says: the same tree, hence the same hash.

Each case is a function that states something in Python, with the text of the file as docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction

import pytest

from proofs import notation as N
from proofs.language.parser import BUILTIN, RELATION_SYMBOLS, parse
from proofs.language.tree import OPERATORS, postorder
from proofs.notation import E, Stated, cov, inv, statement

CASES: list[Callable[[], Stated]] = []


def case(function: Callable[[], Stated]) -> Callable[[], Stated]:
    CASES.append(function)
    return function


@pytest.mark.parametrize("stated", CASES, ids=lambda case: case.__name__)
def test_python_says_what_the_file_says(stated: Callable[[], Stated]):
    found = stated()
    (read,) = parse(inspect.cleandoc(stated.__doc__ or "")).statements
    assert found.statement == read
    assert found.hash == read.hash


@pytest.mark.parametrize("stated", CASES, ids=lambda case: case.__name__)
def test_the_text_that_is_printed_reads_back(stated: Callable[[], Stated]):
    found = stated()
    assert parse(str(found)).statements == (found.statement,)
    assert repr(found)
    assert found._repr_markdown_().startswith("$$")


def test_every_operator_and_function_of_the_language_has_a_case():
    used = {
        node.op for case in CASES for root in case().statement.roots() for node in postorder([root])
    }
    assert set(OPERATORS) - used == set()
    texts = " ".join(case.__doc__ or "" for case in CASES)
    assert not [word for word in BUILTIN if f"{word}(" not in texts]
    assert all(f" {symbol} " in texts for symbol in RELATION_SYMBOLS)


def test_what_is_public_is_listed_once():
    assert len(N.__all__) == len(set(N.__all__))
    assert all(hasattr(N, name) for name in N.__all__)


# ---------------------------------------------------------------- matrices


@case
def woodbury():
    """
    let n, k : dimension
    let A : matrix(n, n)
    let U : matrix(n, k)
    let C : matrix(k, k)
    let V : matrix(k, n)
    assume invertible(A)
    assume invertible(C)
    assume invertible(A + U*C*V)
    show inv(A + U*C*V) = inv(A) - inv(A)*U*inv(inv(C) + V*inv(A)*U)*V*inv(A)
    """
    n, k = N.dimension("n, k")
    A, U, C, V = N.matrix("A", n, n), N.matrix("U", n, k), N.matrix("C", k, k), N.matrix("V", k, n)
    return statement(
        inv(A + U @ C @ V) == inv(A) - inv(A) @ U @ inv(inv(C) + V @ inv(A) @ U) @ V @ inv(A),
        assuming=[N.invertible(A), N.invertible(C), N.invertible(A + U * C * V)],
    )


@case
def arithmetic_keeps_the_order_and_the_brackets():
    """
    let n : dimension
    let A, B : matrix(n, n)
    let x, y : nonzero
    assume x != 1
    show -A*B + 2*A^2 - (A - B)*-3 + A/x - A^-1*(1/y)*(3/4) + 0.1*A = A*(B + A)^n - x^(1/2)*-B + 7*B
    """
    n = N.dimension("n")
    A, B = N.matrix("A, B", n, n)
    x, y = N.nonzero("x, y")
    left = -A @ B + 2 * A**2 - (A - B) * -3 + A / x - A**-1 * (1 / y) * Fraction(3, 4) + "0.1" * A
    right = A @ (B + A) ** n - x ** Fraction(1, 2) * -B + 7 * B
    return statement(left == right, assuming=x != 1)


@case
def numbers_on_the_left():
    """
    let x : positive
    show 1 - x + 2/x = 3 + 2^x - 1/3*x
    """
    x = N.positive("x")
    return statement(1 - x + 2 / x == 3 + 2**x - Fraction(1, 3) * x)


@case
def constant_matrices():
    """
    let n, k : dimension
    let j : index(n)
    let A : matrix(n, n)
    show eye(n)*A*zeros(n, n + k)*ones(n + k, 2*n*k)*ones(2*n*k, 1) = unit(n, j) - unit(n, 1)
    """
    n, k = N.dimension("n, k")
    j = N.index("j", n)
    A = N.matrix("A", n, n)
    left = N.eye(n) @ A @ N.zeros(n, n + k) @ N.ones(n + k, 2 * n * k) @ N.ones(2 * n * k, 1)
    return statement(left == N.unit(n, j) - N.unit(n, 1))


@case
def complex_matrices():
    """
    let n : dimension
    let z : complex
    let A : complex matrix(n, n)
    let x : complex vector(n)
    assume hermitian(A)
    show (x.H*A*x)[1] - i*conj(z)*pi*abs(z) = e + conj(A[1, 1]) + (A.T)[1, 1]
    """
    n = N.dimension("n")
    z = N.complex_number("z")
    A = N.complex_matrix("A", n, n)
    x = N.complex_vector("x", n)
    left = (x.H @ A @ x)[1] - N.i * N.conj(z) * N.pi * abs(z)
    return statement(left == N.e + N.conj(A[1, 1]) + A.T[1, 1], assuming=N.hermitian(A))


@case
def matrix_functions():
    """
    let n, k : dimension
    let A, B : matrix(n, n)
    let M : matrix(n, k)
    let v : vector(n)
    assume invertible(A)
    show det(A) + tr(inv(A)*adj(B)) + rank(M) + norm2(vec(M)) = inner(v, v) + tr(M*pinv(M) +
        diag(v))
    """
    n, k = N.dimension("n, k")
    A, B = N.matrix("A, B", n, n)
    M, v = N.matrix("M", n, k), N.vector("v", n)
    left = N.det(A) + N.tr(inv(A) @ N.adj(B)) + N.rank(M) + N.norm2(N.vec(M))
    right = N.inner(v, v) + N.tr(M @ N.pinv(M) + N.diag(v))
    return statement(left == right, assuming=N.invertible(A))


@case
def products_of_other_kinds():
    """
    let n, k : dimension
    let A, B : matrix(n, k)
    show tr(kron(A, B).T*kron(A, B)) = tr(hadamard(A, B).T*A)
    """
    n, k = N.dimension("n, k")
    A, B = N.matrix("A, B", n, k)
    K = N.kron(A, B)
    return statement(N.tr(K.T @ K) == N.tr(N.hadamard(A, B).T @ A))


@case
def blocks():
    """
    let n : dimension
    let A : matrix(n, n)
    let b : vector(n)
    let c : real
    show block([[A, b], [b.T, c]]) = block([[A.T, b], [b.T, 1/2]])
    """
    n = N.dimension("n")
    A, b, c = N.matrix("A", n, n), N.vector("b", n), N.real("c")
    return statement(N.block([[A, b], [b.T, c]]) == N.block([[A.T, b], [b.T, "1/2"]]))


@case
def properties():
    """
    let n, k : dimension
    let A, B : matrix(n, n)
    let Z : complex matrix(n, n)
    let M : matrix(n, k)
    assume symmetric(A)
    assume hermitian(Z)
    assume positive_definite(A)
    assume positive_semidefinite(B)
    assume orthogonal(A)
    assume unitary(Z)
    assume idempotent(B)
    assume diagonal(B)
    assume full_row_rank(M)
    assume full_column_rank(M)
    assume commute(A, B)
    show invertible(A)
    """
    n, k = N.dimension("n, k")
    A, B = N.matrix("A, B", n, n)
    Z, M = N.complex_matrix("Z", n, n), N.matrix("M", n, k)
    return statement(
        N.invertible(A),
        assuming=[
            N.symmetric(A),
            N.hermitian(Z),
            N.positive_definite(A),
            N.positive_semidefinite(B),
            N.orthogonal(A),
            N.unitary(Z),
            N.idempotent(B),
            N.diagonal(B),
            N.full_row_rank(M),
            N.full_column_rank(M),
            N.commute(A, B),
        ],
    )


# ---------------------------------------------------------------- scalars, vectors, binders


@case
def scalar_functions():
    """
    let x : nonnegative
    let y : positive
    let k : integer
    assume y >= 2
    assume k < 3
    show exp(x) + log(y) + sqrt(x) + abs(x) + sin(x)*cos(y) + tanh(x) + lambertw(x) + erf(
        x) <= max(x, y, 1) + min(x, y) + k
    """
    x, y, k = N.nonnegative("x"), N.positive("y"), N.integer("k")
    left = (
        N.exp(x) + N.log(y) + N.sqrt(x) + abs(x) + N.sin(x) * N.cos(y) + N.tanh(x) + N.lambertw(x)
        + N.erf(x)
    )  # fmt: skip
    return statement(left <= N.max_(x, y, 1) + N.min_(x, y) + k, assuming=[y >= 2, k < 3])


@case
def vector_functions():
    """
    let n : dimension
    let x : vector(n)
    show max(softmax(x)) - min(x) > logsumexp(x)
    """
    n = N.dimension("n")
    x = N.vector("x", n)
    return statement(N.max_(N.softmax(x)) - N.min_(x) > N.logsumexp(x))


@case
def sums_and_products():
    """
    let n, k : dimension
    let x : vector(n)
    let A : matrix(n, k)
    show sum(sum(A[r, j]*x[r], j, 1, k), r, 1, n) = prod(
        x[j]^2, j, 2, n) + sum(j, j, 0, n) + sum(1, j, 1, 3)
    """
    n, k = N.dimension("n, k")
    x, A = N.vector("x", n), N.matrix("A", n, k)
    left = N.sum_(lambda r: N.sum_(lambda j: A[r, j] * x[r], 1, k), 1, n)
    right = (
        N.prod(lambda j: x[j] ** 2, 2, n) + N.sum_(lambda j: j, 0, n) + N.sum_(lambda _: 1, 1, 3)
    )
    return statement(left == right)


@case
def a_range_that_depends_on_an_outer_index():
    """
    let n : dimension
    show sum(sum(l, l, 1, j), j, 1, n) = n*(n + 1)*(n + 2)/6
    """
    n = N.dimension("n")
    left = N.sum_(lambda j: N.sum_(lambda l: l, 1, j), 1, n)  # noqa: E741
    return statement(left == n * (n + 1) * (n + 2) / 6)


@case
def a_vector_by_its_entries():
    """
    let n : dimension
    let x : vector(n)
    show vector(exp(x[j])/sum(exp(x[r]), r, 1, n), j, 1, n) = softmax(x)
    """
    n = N.dimension("n")
    x = N.vector("x", n)
    total = N.sum_(lambda r: N.exp(x[r]), 1, n)
    return statement(N.vector(lambda j: N.exp(x[j]) / total, n) == N.softmax(x))


@case
def limits():
    """
    let a, b : positive
    let f : function(real)
    assume limit(f(y), y, oo) = b
    show limit(a*f(x)/(1 + 2/x), x, oo) = a*b
    """
    a, b = N.positive("a, b")
    f = N.function("f")
    tends = N.limit(lambda x: a * f(x) / (1 + 2 / x), N.oo) == a * b
    return statement(tends, assuming=N.limit(lambda y: f(y), N.oo) == b)


@case
def derivatives():
    """
    let n : dimension
    let A, X : matrix(n, n)
    let t : real
    let x : vector(n)
    assume det(A) != 0
    show diff(tr(A*exp(t)), t) + diff(t^3, t, 2) + tr(grad(tr(A*X), X)) = inner(grad(
        inner(x, x), x), x)
    """
    n = N.dimension("n")
    A, X = N.matrix("A, X", n, n)
    t, x = N.real("t"), N.vector("x", n)
    left = N.diff(N.tr(A * N.exp(t)), t) + N.diff(t**3, t, 2) + N.tr(N.grad(N.tr(A @ X), X))
    right = N.inner(N.grad(N.inner(x, x), x), x)
    return statement(left == right, assuming=N.det(A) != 0)


@case
def functions():
    """
    let n : dimension
    let f : function(real)
    let v : function(real) -> vector(n)
    let G : function(real) -> matrix(n, n)
    let w : function(real) -> complex
    let W : function(real) -> complex matrix(n, n)
    let t : real
    show diff(G(t)*v(f(t)), t) = diff(G(t), t)*v(f(t)) + w(t)*W(2*t)*v(1)
    """
    n = N.dimension("n")
    f, v, G = N.function("f"), N.function("v", n), N.function("G", n, n)
    w, W = N.complex_function("w"), N.complex_function("W", n, n)
    t = N.real("t")
    right = N.diff(G(t), t) @ v(f(t)) + w(t) * W(2 * t) @ v(1)
    return statement(N.diff(G(t) @ v(f(t)), t) == right)


@case
def families():
    """
    let d, N, P : dimension
    let mu : vector(d) for a in 1..N, j in 1..P
    let w : positive for a in 1..N
    show sum(w[a]*norm2(mu[a, 1]), a, 1, N) >= 0
    """
    d, size, P = N.dimension("d, N, P")
    mu = N.vector("mu", d, over=(size, P))
    w = N.positive("w", over=size)
    return statement(N.sum_(lambda a: w[a] * N.norm2(mu[a, 1]), 1, size) >= 0)


@case
def quantified_hypotheses():
    """
    let m, k : dimension
    let F : matrix(m, k)
    let K : matrix(k, k)
    let y : vector(k)
    assume for all x : vector(k) where F*x = zeros(m, 1) : K*x = x
    assume for all s, t : real, z : vector(k) where s > 0, t > s : s*norm2(z) <= t*norm2(z)
    show K*y = y
    """
    m, k = N.dimension("m, k")
    F, K, y = N.matrix("F", m, k), N.matrix("K", k, k), N.vector("y", k)
    x, z = N.vector("x, z", k)
    s, t = N.real("s, t")
    kept = N.for_all(x, K @ x == x, where=F @ x == N.zeros(m, 1))
    ordered = s * N.norm2(z) <= t * N.norm2(z)
    return statement(
        K @ y == y, assuming=[kept, N.for_all((s, t, z), ordered, where=[s > 0, t > s])]
    )


# ---------------------------------------------------------------- random names


@case
def gaussian_names():
    """
    let n, k : dimension
    let a : vector(n)
    let S : matrix(n, n)
    let b : vector(k)
    let C : matrix(n, k)
    let R : matrix(k, k)
    let W, Z : gaussian(a, S)
    let (X, Y) : gaussian((a, b), block([[S, C], [C.T, R]]))
    assume positive_semidefinite(S)
    assume positive_semidefinite(block([[S, C], [C.T, R]]))
    show E(X*W.T) + cov(X, Z) + cov(X, X | Y, Z) = E(X + W)*E(E(X | Y)).T + cov(
        E(X | Y, Z - W), Y)*C.T
    """
    n, k = N.dimension("n, k")
    a, S = N.vector("a", n), N.matrix("S", n, n)
    b, C, R = N.vector("b", k), N.matrix("C", n, k), N.matrix("R", k, k)
    W, Z = N.gaussian("W, Z", a, S)
    joint = N.block([[S, C], [C.T, R]])
    X, Y = N.gaussian("X, Y", (a, b), joint)
    left = E(X @ W.T) + cov(X, Z) + cov(X, X | Y, Z)
    right = E(X + W) @ E(E(X | Y)).T + cov(E(X | Y, Z - W), Y) @ C.T
    assuming = [N.positive_semidefinite(S), N.positive_semidefinite(joint)]
    return statement(left == right, assuming=assuming)


@case
def densities():
    """
    let n : dimension
    let x, m : vector(n)
    let S : matrix(n, n)
    assume positive_definite(S)
    show logpdf(x; m, S) = logpdf_on_support(x; m, S)
    """
    n = N.dimension("n")
    x, m = N.vector("x, m", n)
    S = N.matrix("S", n, n)
    left, right = N.logpdf(x, m, S), N.logpdf_on_support(x, m, S)
    return statement(left == right, assuming=N.positive_definite(S))


@case
def conditional_expectations():
    """
    let n : dimension
    let U : random
    let V, W : random vector(n)
    let F, G : sigma_algebra
    assume F subset G
    show l2norm2(V) - l2inner(V, E(W | F)) = E(U) + l2norm2(E(E(V | G) | F) - V)
    """
    n = N.dimension("n")
    U = N.random("U")
    V, W = N.random("V, W", n)
    F, G = N.sigma_algebra("F, G")
    left = N.l2norm2(V) - N.l2inner(V, E(W | F))
    return statement(left == E(U) + N.l2norm2(E(E(V | G) | F) - V), assuming=N.subset(F, G))


@case
def names_of_every_sort_that_nothing_uses():
    """
    let n : dimension
    let A : matrix(n, n)
    let unused : real
    let h : function(real)
    show A >= A.T*A
    """
    n = N.dimension("n")
    A = N.matrix("A", n, n)
    unused, h = N.real("unused"), N.function("h")
    return statement(A >= A.T @ A, declaring=[unused, h])


@case
def abbreviations():
    """
    let beta, lambda0 : positive
    let theta : real
    define z = beta*lambda0*exp(beta*lambda0 - 2*theta)
    define flow = lambertw(z)/beta
    show diff(flow, theta) = -2*flow/(1 + beta*flow)
    """
    beta, lambda0 = N.positive("beta, lambda0")
    theta = N.real("theta")
    z = N.define("z", beta * lambda0 * N.exp(beta * lambda0 - 2 * theta))
    flow = N.define("flow", N.lambertw(z) / beta)
    return statement(N.diff(flow, theta) == -2 * flow / (1 + beta * flow))


def test_abbreviations_are_printed_as_definitions():
    text = str(abbreviations())
    assert "define z = beta*lambda0*exp(beta*lambda0 - 2*theta)\n" in text
    assert (
        "define flow = lambertw(z)/beta\nshow diff(flow, theta) = -2*flow/(1 + beta*flow)" in text
    )
