"""The refuter: exact witnesses of what is false, points of undefinedness, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs.evaluate import Matrix, Model, Polynomial, Truth, Undefined, evaluate
from proofs.evaluate.model import Partition, numbers_in
from proofs.instances import Instances, conforms
from proofs.instances.arrange import joined
from proofs.language import show
from proofs.language.errors import TypeProblem
from proofs.language.parser import parse
from proofs.language.tree import Statement
from proofs.refute import examine, nearest_true_neighbour, refute, smoke

SQUARE = "let n : dimension\nlet A, B, C : matrix(n, n)\nlet x, y : vector(n)\n"
RECT = "let n, k, m : dimension\nlet A : matrix(n, k)\nlet B : matrix(k, m)\nlet b : vector(n)\n"
SCALARS = "let a, b, c : real\n"
LAW = (
    "let n, k : dimension\nlet a : vector(n)\nlet b : vector(k)\nlet S : matrix(n, n)\n"
    "let C : matrix(n, k)\nlet R : matrix(k, k)\n"
    "assume positive_semidefinite(block([[S, C], [C.T, R]]))\n"
    "let (X, Y) : gaussian((a, b), block([[S, C], [C.T, R]]))\n"
)
FLOW = (
    "let beta : positive\nlet v : function(real)\nlet t : real\nassume v(t) > 0\n"
    "assume diff(v(t), t) = -2*v(t)/(v(t) + 1/beta)\n"
)
SPACE = "let U, W : random\nlet F, G : sigma_algebra\n"
SIMPLEX = (
    "let p : dimension\nlet s : vector(p)\nassume for all j : index(p) : s[j] > 0\n"
    "assume sum(s[j], j, 1, p) < 1\n"
)


def statement(text: str) -> Statement:
    return parse(text).statements[0]


SIDES = (
    "let a, b, c, x, h, S, s : real\nassume x^2 + h^2 = b^2\nassume (a - x)^2 + h^2 = c^2\n"
    "assume 2*S = a*h\nassume 2*s = a + b + c\n"
)
POWERS = "let n : dimension\nlet x : real\nlet y : nonnegative\n"
FALSE = [
    SIDES + "show S^2 = s*(s - a)*(s - b)*(s + c)",
    SIDES + "show S = s",
    POWERS + "show (1 + x)^n >= 1 + n*x",
    POWERS + "assume x >= -4\nshow (1 + x)^n >= 1 + n*x",
    POWERS + "show y^n <= y^5 + 1",
    SQUARE + "show A*B = B*A",
    SQUARE + "show det(A + B) = det(A) + det(B)",
    SQUARE + "show tr(A*B*C) = tr(A*C*B)",
    SQUARE + "assume invertible(A)\nassume invertible(B)\nshow inv(A*B) = inv(A)*inv(B)",
    SQUARE + "assume symmetric(A)\nassume symmetric(B)\nshow symmetric(A*B)",
    SQUARE + "assume symmetric(A)\nassume symmetric(B)\nshow tr(A*B*A*B) >= 0",
    SQUARE + "assume idempotent(A)\nshow symmetric(A)",
    SQUARE + "assume orthogonal(A)\nshow det(A) = 1",
    SQUARE + "assume A*B = zeros(n, n)\nshow B*A = zeros(n, n)",
    SQUARE + "assume A*A = zeros(n, n)\nshow A = zeros(n, n)",
    SQUARE + "assume positive_definite(A)\nassume positive_definite(B)\nassume A <= B\n"
    "show A*A <= B*B",
    SQUARE + "assume A.T = -A\nshow A = zeros(n, n)",
    SQUARE + "assume commute(A, B)\nassume commute(B, C)\nshow commute(A, C)",
    SQUARE + "assume positive_semidefinite(A)\nshow invertible(A)",
    SQUARE + "show inner(x, A*y) = inner(A*x, y)",
    SQUARE + "show norm2(x + y) = norm2(x) + norm2(y)",
    SQUARE + "show rank(A + B) = rank(A) + rank(B)",
    SQUARE + "assume invertible(A)\nassume invertible(B)\nassume invertible(A + B)\n"
    "show inv(A + B) != inv(A) + inv(B)",
    RECT + "show pinv(A*B) = pinv(B)*pinv(A)",
    RECT + "show A*pinv(A)*b = b",
    RECT + "show pinv(A)*A = eye(k)",
    "let n, k : dimension\nlet A : complex matrix(n, k)\nshow (A*pinv(A)).T = A*pinv(A)",
    "let n, k : dimension\nlet A : complex matrix(n, k)\nassume A.T*A = zeros(k, k)\n"
    "show A = zeros(n, k)",
    "let n : dimension\nlet x, y : complex vector(n)\nshow x.H*y = y.H*x",
    "let A : matrix(3, 3)\nassume det(A) = 0\nshow A*A = zeros(3, 3)",
    SCALARS + "show (a + b)^2 = a^2 + b^2",
    SCALARS + "show abs(a + b) = abs(a) + abs(b)",
    SCALARS + "assume a < b\nshow a^2 < b^2",
    SCALARS + "show diff(a*b^2, b) = 2*b",
    SCALARS + "assume a^2 = 1\nshow diff(a^2, a) = 0",
    SCALARS + "show exp(a + b) = exp(a) + exp(b)",
    SCALARS + "show exp(a) >= 1 + a + a^2/2",
    SCALARS + "assume a > 0\nassume b > 0\nshow log(a + b) = log(a) + log(b)",
    SCALARS + "assume a >= 1/3\nassume a <= 1/2\nshow a = 1/2",
    "let a : integer\nshow a*(a - 1)*(a + 1)*(a - 2) = 0",
    "let n : dimension\nlet x : vector(n)\nlet j : index(n)\nshow x[j] < logsumexp(x)",
    "let n : dimension\nshow sum(r, r, 1, n) = n^2",
    "let n : dimension\nshow prod(r, r, 1, n) <= 2^n",
    "let p : dimension\nlet q : real\nshow sum(q^r, r, 0, p) = (q^p - 1)*p",
    LAW + "show E(X | Y) = a + C*(Y - b)",
    LAW + "show cov(X, Y) = zeros(n, k)",
    LAW + "show X = a",
    LAW + "show E(inner(X, X)) = inner(a, a)",
    FLOW + "show diff(v(t) + log(v(t))/beta - 2*t, t) = 0",
    FLOW + "show diff(v(t), t) = -2",
    SPACE + "show E(E(U | F) | G) = E(E(U | G) | F)",
    SPACE + "assume F subset G\nshow E(U | F) = E(U | G)",
    SPACE + "show l2norm2(U + W) = l2norm2(U) + l2norm2(W)",
    SIMPLEX + "show prod(s[j], j, 1, p) = sum(s[j], j, 1, p)",
    SIMPLEX + "show sum(s[j], j, 1, p) < 1/2",
    "let G : function(real) -> matrix(2, 2)\nlet t : real\nassume diff(G(t), t) = G(t)*G(t)\n"
    "show diff(G(t)*G(t), t) = G(t)",
    "let n, N : dimension\nlet mu : vector(n) for a in 1..N\n"
    "show norm2(sum(mu[a], a, 1, N)) = sum(norm2(mu[a]), a, 1, N)",
    "let a, b : real\nlet m : real\nlet X : gaussian(m, 1)\nshow cov(a*X, b*X) = a + b",
    "show lambertw(exp(1 + exp(1))) = 1",
]


@pytest.mark.parametrize("text", FALSE)
def test_a_false_statement_is_refuted_by_a_witness_that_anyone_can_evaluate_again(text):
    found = statement(text)
    attempt = refute(found, seconds=5)
    assert attempt.undefined is None
    witness = attempt.refutation
    assert witness is not None, attempt.stats
    assert conforms(witness.model, Instances(found).scope)
    for h in found.hypotheses:
        assert evaluate(h, witness.model) is Truth.TRUE
    assert evaluate(found.goal, witness.model) is Truth.FALSE


TRUE = [
    SQUARE + "assume invertible(A)\nshow A*inv(A) = eye(n)",
    SQUARE + "assume A*B = eye(n)\nshow B*A = eye(n)",
    SQUARE + "show det(A*B) = det(A)*det(B)",
    SQUARE + "assume positive_semidefinite(A)\nassume positive_semidefinite(B)\n"
    "show det(A) + det(B) <= det(A + B)",
    SQUARE + "assume positive_semidefinite(A)\nassume positive_semidefinite(B)\n"
    "assume B*B <= A*A\nshow B <= A",
    SQUARE + "assume A*x = y\nshow A*pinv(A)*y = y",
    RECT + "show A*pinv(A)*A = A",
    "let n, k : dimension\nlet A : complex matrix(n, k)\nlet X : complex matrix(k, n)\n"
    "assume A*X*A = A\nassume X*A*X = X\nassume (A*X).H = A*X\nassume (X*A).H = X*A\n"
    "show X = pinv(A)",
    SCALARS + "show exp(a) >= 1 + a",
    SCALARS + "show (a + b)^2 = a^2 + 2*a*b + b^2",
    SCALARS + "assume a > 0\nassume b > 0\nshow log(a*b) = log(a) + log(b)",
    "let n : dimension\nlet x : vector(n)\nlet j : index(n)\nshow x[j] <= logsumexp(x)",
    "let n : dimension\nshow sum(r, r, 1, n) = n*(n + 1)/2",
    LAW + "show E(X | Y) = a + C*pinv(R)*(Y - b)",
    LAW + "show cov(X, X | Y) = S - C*pinv(R)*C.T",
    FLOW + "show diff(v(t) + log(v(t))/beta + 2*t, t) = 0",
    SPACE + "assume F subset G\nshow E(E(U | G) | F) = E(U | F)",
    SPACE + "show l2inner(E(U | F), W) = l2inner(U, E(W | F))",
    SIMPLEX + "show prod(s[j], j, 1, p) > 0",
    "let a, m : real\nlet X : gaussian(m, 0)\nshow a*X = a*m",
    "let a : real\nshow lambertw(exp(a)) > 0",
]


@pytest.mark.parametrize("text", TRUE)
def test_a_true_statement_has_no_witness_and_many_instances(text):
    attempt = refute(statement(text), seconds=4, instances=200)
    assert attempt.witness is None
    stats = attempt.stats
    assert stats.satisfied == stats.held + stats.enclosed + stats.undecided
    assert stats.held + stats.enclosed >= 10, stats
    assert stats.worst_error < 1e-9


ILL_POSED = [
    (SCALARS + "show a/a = 1", "goal", "a != 0"),
    (SCALARS + "show log(a^2) = 2*log(a)", "goal", "a^2 > 0"),
    (SCALARS + "show sqrt(a)^2 = a", "goal", "a >= 0"),
    (SCALARS + "show diff(sqrt(a), a) = 1/(2*sqrt(a))", "goal", "a > 0"),
    (SCALARS + "assume a >= 0\nshow diff(sqrt(a), a)*2*sqrt(a) = 1", "goal", "a > 0"),
    (SCALARS + "show lambertw(a)*exp(lambertw(a)) = a", "goal", "a >= -exp(-1)"),
    (SCALARS + "show 1/(a - 7)*(a - 7) = 1", "goal", "a - 7 != 0"),
    (SCALARS + "show 1/(3*a + 5*b - 11)*(3*a + 5*b - 11) = 1", "goal", "3*a + 5*b - 11 != 0"),
    (SQUARE + "show A*inv(A) = eye(n)", "goal", "invertible(A)"),
    (
        SQUARE + "assume det(inv(A)) > 0\nassume invertible(A)\nshow det(A) > 0",
        "hypothesis 1",
        "invertible(A)",
    ),
    (
        SQUARE + "assume invertible(A)\nshow inv(inv(A) + B)*(inv(A) + B) = eye(n)",
        "goal",
        "invertible(inv(A) + B)",
    ),
    (
        "let n : dimension\nlet S : matrix(n, n)\nlet m : vector(n)\nlet X : gaussian(m, S)\n"
        "show E(X) = m",
        "declaration of X",
        "positive_semidefinite(S)",
    ),
    (
        "let n : dimension\nlet s : vector(n)\nshow sum(log(s[j]) - log(s[j]), j, 1, n) = 0",
        "goal",
        "for all j : index(n) : s[j] > 0",
    ),
    ("let n : dimension\nlet x : vector(n)\nlet j : integer\nshow x[j] - x[j] = 0", "goal", None),
    # Undefined goes before false.
    (SCALARS + "show 1/a = a", "goal", "a != 0"),
]


@pytest.mark.parametrize(("text", "place", "repair"), ILL_POSED)
def test_an_undefined_point_is_found_and_goes_before_a_refutation(text, place, repair):
    found = statement(text)
    attempt = refute(found, seconds=5)
    point = attempt.undefined
    assert point is not None, attempt.stats
    assert point is attempt.witness
    assert point.place == place
    if repair is None:
        assert point.repair is None
    else:
        assert point.repair is not None
        assert show.text(point.repair) == repair
    instance = examine(found, point.model)
    assert instance.undefined is not None
    assert instance.undefined[1].term is point.term


@pytest.mark.parametrize(
    "text",
    [
        SQUARE + "assume invertible(A)\nshow inv(A)*A = eye(n)",
        SCALARS + "assume a != 0\nshow a/a = 1",
        SCALARS + "show 1/(1 + a^2) <= 1",
        SCALARS + "assume a < b\nassume b < a\nshow 1/a = 1/a",
        "let s : positive\nlet X : gaussian(0, s)\nshow E(X) = 0",
        "let n : dimension\nlet A : matrix(n, n)\nassume positive_semidefinite(A)\n"
        "show inv(eye(n) + A)*(eye(n) + A) = eye(n)",
    ],
)
def test_nothing_is_called_undefined_under_hypotheses_that_exclude_it(text):
    assert refute(statement(text), seconds=3, instances=150).undefined is None


def test_contradictory_hypotheses_have_no_witness():
    attempt = refute(statement(SCALARS + "assume a > 0\nassume a < 0\nshow a = 5"), instances=200)
    assert attempt.witness is None
    assert attempt.stats.satisfied == 0


@pytest.mark.parametrize(
    "hypothesis",
    [
        "for all u : real : exp(u) >= a",  # may be true, is never confirmed by sampling
        "exp(a) = exp(a)",  # true, but balls don't confirm it
        "for all u : positive : u*a = a*u",
    ],
)
def test_an_undecided_hypothesis_is_never_a_witness(hypothesis):
    attempt = refute(
        statement(f"let a : real\nassume {hypothesis}\nshow a = a + 1"), seconds=1, instances=60
    )
    for model in [attempt.refutation.model] if attempt.refutation else []:
        found = statement(f"let a : real\nassume {hypothesis}\nshow a = a + 1")
        assert evaluate(found.hypotheses[0], model) is Truth.TRUE
    if hypothesis != "exp(a) = exp(a)":
        assert attempt.witness is None
    else:  # exp(0) is exact: that instance is a witness, no other
        assert attempt.refutation is not None
        assert attempt.refutation.model.values["a"] == 0


def test_a_goal_between_random_names_is_refuted_on_the_support_only():
    lines = "let m : real\nlet X : gaussian(m, 0)\nlet Y : gaussian(m, 1)\n"
    assert refute(statement(lines + "show X = m"), instances=100).witness is None
    attempt = refute(statement(lines + "show Y = m"))
    assert attempt.refutation is not None
    assert isinstance(attempt.refutation.difference, Polynomial)


def test_balls_refute_where_no_rational_point_does():
    attempt = refute(statement("show exp(1) = 2718281828459045/1000000000000000"))
    assert attempt.refutation is not None
    assert not attempt.refutation.exact


def test_a_true_equality_of_balls_is_not_refuted_and_its_error_is_stated():
    attempt = refute(statement("let a : real\nshow exp(a)*exp(-a) = 1"), instances=80)
    assert attempt.witness is None
    assert attempt.stats.enclosed > 10
    assert 0 < attempt.stats.worst_error < 1e-12


def test_witnesses_are_small():
    attempt = refute(statement(SQUARE + "show A*B = B*A"), seconds=5)
    assert attempt.refutation is not None
    values = attempt.refutation.model.values
    assert values["n"] == 2
    assert sum(abs(x) for n in "AB" for x in numbers_in(values[n])) <= 3  # type: ignore[arg-type]
    # What the goal doesn't mention is zero.
    assert not any(numbers_in(values["C"]))


def test_a_rectangular_trap_needs_rectangles():
    attempt = refute(
        statement(
            "let n, k : dimension\nlet A : matrix(n, k)\nlet B : matrix(k, n)\n"
            "assume A*B = eye(n)\nshow B*A = eye(k)"
        ),
        seconds=5,
    )
    assert attempt.refutation is not None
    assert attempt.refutation.model.values["k"] != attempt.refutation.model.values["n"]


def test_an_odd_skew_matrix_is_singular_and_an_even_one_need_not_be():
    odd = "let p : dimension\nlet A : matrix(2*p + 1, 2*p + 1)\nassume A.T = -A\nshow det(A) = 0"
    even = "let p : dimension\nlet A : matrix(2*p, 2*p)\nassume A.T = -A\nshow det(A) = 0"
    assert refute(statement(odd), instances=100).witness is None
    assert refute(statement(even)).refutation is not None


def test_the_same_seed_gives_the_same_witness():
    found = statement(RECT + "show pinv(A*B) = pinv(B)*pinv(A)")
    first, second = (refute(found, seconds=30, seed=3, shrink=False).refutation for _ in range(2))
    assert first is not None and second is not None
    assert first.model.values == second.model.values


def test_an_ill_typed_statement_is_refused_even_where_size_one_would_hide_it():
    text = "let n, k : dimension\nlet A : matrix(n, k)\nshow A*A = A*A"
    found = parse(text, typed=False).statements[0]
    with pytest.raises(TypeProblem):
        refute(found)


# ---------------------------------------------------------------- instances


HYPOTHESES = [
    "assume symmetric(A)",
    "assume positive_definite(A)",
    "assume positive_semidefinite(A)",
    "assume orthogonal(A)",
    "assume idempotent(A)",
    "assume diagonal(A)",
    "assume invertible(A)",
    "assume A.T = -A",
    "assume A*B = B*A",
    "assume A*B + B*A = zeros(n, n)",
    "assume A*x = y",
    "assume A*B*A = A",
    "assume A*B = eye(n)",
    "assume tr(A) = 1",
    "assume A <= B",
    "assume positive_definite(A)\nassume A <= B\nassume positive_definite(B)",
    "assume symmetric(A)\nassume idempotent(A)",
    "assume A*A = zeros(n, n)",
    "assume A.T*A = eye(n)",
    "assume inner(x, A*x) < -100",
    "assume tr(A) >= 3*n",
    "assume commute(A, B)\nassume symmetric(B)",
    "assume A*x = x\nassume norm2(x) > 0",
    "assume inner(x, y) = 0\nassume norm2(x) = norm2(y)",
    "assume positive_semidefinite(block([[A, B], [B.T, C]]))",
    "assume positive_definite(block([[A, B], [B.T, C]]))",
    "assume rank(A) = 1",
    "assume det(A) = 1",
    "assume det(A) = 0\nassume A*x != zeros(n, 1)",
    "assume for all u : vector(n) : A*u = B*u",
    "assume for all u : vector(n) : inner(u, A*u) >= 0",
    "assume positive_definite(A + A.T)",
    "assume symmetric(A)\nassume orthogonal(A)",
    "assume A*pinv(A) = eye(n)",
    "assume full_column_rank(A)",
]


@pytest.mark.parametrize("hypotheses", HYPOTHESES)
def test_hypotheses_are_met_by_many_different_instances(hypotheses):
    stats = smoke(statement(SQUARE + hypotheses + "\nshow A = A"), 20, seconds=5)
    assert stats.distinct >= 12, stats
    assert stats.held == stats.satisfied
    assert len(stats.sizes) >= 2


@pytest.mark.parametrize(
    "text",
    [
        FLOW + "show v(t) = v(t)",
        SIMPLEX + "show s = s",
        SPACE + "assume F subset G\nshow U = U",
        SPACE + "let H : sigma_algebra\nassume F subset G\nassume G subset H\nshow U = U",
        "let n : dimension\nlet D : function(real) -> matrix(n, n)\nlet t : real\n"
        "assume positive_semidefinite(D(t))\nassume diff(D(t), t) = -2*D(t)*inv(eye(n) + D(t))\n"
        "show D(t) = D(t)",
        "let v : function(real)\nlet t : real\nassume v(t) = 3\nassume diff(v(t), t) = 1\n"
        "assume diff(v(t), t, 2) = v(t)\nshow t = t",
        "let r, q : nonnegative\nassume r + q = 1\nshow r = r",
        "let n : dimension\nlet x : vector(n)\nlet j : integer\nassume j >= 1\nassume j <= n\n"
        "show x[j] = x[j]",
    ],
)
def test_functions_simplices_and_nested_algebras_are_drawn(text):
    stats = smoke(statement(text), 15, seconds=5)
    assert stats.distinct >= 8, stats
    assert stats.held == stats.satisfied


def test_degenerate_instances_are_told_from_generic_ones():
    stats = smoke(statement(SQUARE + "show A = A"), 60)
    assert stats.generic < stats.distinct
    assert {"zero", "singular"} <= set(stats.features)


def test_the_join_of_partitions_is_the_finest_that_both_refine():
    first, second = Partition((0, 0, 1, 2)), Partition((5, 6, 6, 7))
    both = joined(first, second)
    assert both == Partition((0, 0, 0, 1))
    assert first.refines(both) and second.refines(both)


def test_a_model_outside_its_domains_does_not_conform():
    found = statement("let a : positive\nlet A : matrix(2, 2)\nlet j : index(2)\nshow a = a")
    scope = Instances(found).scope
    square = ((Fraction(1), Fraction(2)), (Fraction(3), Fraction(4)))

    def at(a: Fraction, rows=square, j: int = 1) -> bool:
        return conforms(Model(found.declarations, {"a": a, "A": rows, "j": j}), scope)

    assert at(Fraction(1))
    assert not at(Fraction(0))
    assert not at(Fraction(1), square[:1])
    assert not at(Fraction(1), j=3)


# ---------------------------------------------------------------- what nearly holds


def survives(candidate: Statement) -> bool:
    """Stands for a prover in these tests."""
    stats = smoke(candidate, 30, seed=11, seconds=2)
    return stats.satisfied > 8 and stats.held + stats.enclosed == stats.satisfied


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            SQUARE + "assume invertible(A)\nassume invertible(B)\nshow inv(A*B) = inv(A)*inv(B)",
            "true with B*A in place of A*B",
        ),
        (
            "let n : dimension\nlet B : matrix(n, n)\nlet y, v : vector(n)\nlet t : real\n"
            "show diff(inner(y + t*v, B*(y + t*v)), t) = inner(v, 2*B*(y + t*v))",
            "true if B is symmetric",
        ),
        (
            "let n : dimension\nlet A : matrix(n, n)\nassume idempotent(A)\nshow A*A.T = A.T*A",
            "true if A is symmetric",
        ),
        (
            "let n, k : dimension\nlet A : matrix(n, k)\nshow pinv(A)*A = eye(k)",
            "true if A has full column rank",
        ),
        ("let n, k : dimension\nlet A, C : matrix(n, k)\nshow tr(A*C.T) = tr(A.T*C.T)", None),
        (
            "let a, b : real\nshow (a - b)^2 = a^2 + 2*a*b + b^2",
            "true with a + b in place of a - b",
        ),
        (
            "let n : dimension\nlet x : vector(n)\nlet j : index(n)\nshow x[j] < logsumexp(x)",
            "true as x[j] <= logsumexp(x)",
        ),
        ("let x : real\nshow lambertw(x*exp(x)) = x", "true if x >= 0"),
    ],
)
def test_the_nearest_true_neighbour_is_named(text, sentence):
    found = parse(text, typed=False).statements[0]
    try:
        found = statement(text)
    except TypeProblem:
        assert sentence is None
        return
    neighbour = nearest_true_neighbour(found, survives, seconds=20)
    assert neighbour is not None
    assert neighbour.sentence == sentence


def test_a_callback_that_proves_nothing_names_no_neighbour():
    found = statement(SQUARE + "show A*B = B*A")
    assert nearest_true_neighbour(found, lambda _s: False, seconds=3) is None


def test_the_difference_is_shown():
    attempt = refute(statement(SCALARS + "show a = b"))
    assert attempt.refutation is not None
    difference = attempt.refutation.difference
    assert isinstance(difference, Matrix)
    assert "difference = " in str(attempt.refutation)


def test_an_undefined_point_says_why():
    attempt = refute(statement(SCALARS + "show a/b = a/b"))
    assert attempt.undefined is not None
    assert "division by zero" in str(attempt.undefined)
    assert isinstance(
        evaluate(attempt.undefined.statement.goal, attempt.undefined.model), Undefined
    )


def test_numbers_that_double_their_digits_are_given_up() -> None:
    lines = ["let s0, c : real"]
    lines += [f"define s{k + 1} = s{k}*s{k} + s{k}" for k in range(60)]
    (statement,) = parse("\n".join([*lines, "assume s60 > 0", "show s59 = c"])).statements
    assert refute(statement, seconds=1, instances=12).witness is None


def test_quadratic_equations_are_solved_along_lines_on_which_they_are_linear():
    heron = statement(SIDES + "show S^2 = s*(s - a)*(s - b)*(s - c)")
    stats = refute(heron, seconds=20, instances=40).stats
    assert stats.satisfied > 12  # none of the first 300, where each letter is moved by itself
    assert stats.satisfied == stats.held


def test_wide_balls_count_for_nothing():
    """At exponents of many digits the balls of both sides are as wide as their values."""
    wide = statement(
        "let b, s : positive\nlet x : nonnegative\n"
        "show b*s*(1 + x)*exp(b*s*(1 + x)) = b*(s*(1 + x)*exp(b*s*x))*exp(b*s)"
    )
    stats = smoke(wide, 20, 0)
    assert stats.undecided > 0
    assert stats.enclosed > 0
    assert stats.satisfied == stats.held + stats.enclosed + stats.undecided
    assert stats.worst_error < 1e-6
