"""What is printed reads back to the same tree; LaTeX and the terminal's form are fixed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from proofs.language import show
from proofs.language.errors import LimitExceeded, MalformedError
from proofs.language.infer import range_type
from proofs.language.parser import FUNCTIONS, parse
from proofs.language.tree import (
    PROPERTIES,
    Declaration,
    Statement,
    Term,
    abstract,
    bound,
    from_json,
    name,
    rational,
    term,
    to_json,
)

REAL = term("real_type")
N = name("n")
COLUMN = term("zeros", N, rational(1))
JOINT = term("block", name("A"), COLUMN, term("transpose", COLUMN), rational(1), data=(2, 2))
DECLARATIONS = (
    Declaration(("n",), term("dimension_type")),
    Declaration(("k",), term("dimension_type")),
    Declaration(("t",), REAL),
    Declaration(("x",), REAL),
    Declaration(("j",), term("index_type", N)),
    Declaration(("A",), term("matrix_type", N, N)),
    Declaration(("\u03a3",), term("complex_matrix_type", N, rational(1))),
    Declaration(("f",), term("function_type", REAL)),
    Declaration(("G",), term("function_type", term("matrix_type", N, rational(1)))),
    Declaration(("mu",), term("family_type", REAL, N, rational(3), data=(1, 2))),
    Declaration(("m",), term("matrix_type", N, rational(1))),
    Declaration(("X", "Y"), term("gaussian_type", name("m"), rational(0), JOINT, data=(2, 1))),
    Declaration(("Z",), term("gaussian_type", name("m"), name("A"), data=(1, 1))),
    Declaration(("W",), term("gaussian_type", name("m"), name("A"), data=(1, 1))),
)
LEAVES = [name(n) for n in ("n", "k", "t", "x", "j", "A", "\u03a3", "m", "X")]
LEAVES += [rational(0), rational(1), rational(-1), rational(2), rational(12)]
LEAVES += [
    rational(Fraction(1, 2)),
    rational(Fraction(-3, 7)),
    term("constant", data="pi"),
    term("constant", data="i"),
]
Draw = Callable[[st.SearchStrategy], object]


@st.composite
def values(draw: Callable, depth: int = 4, placeholders: tuple[str, ...] = ()) -> Term:
    """Any tree that the language can say, well-typed or not."""

    def part() -> Term:
        return draw(values(depth - 1, placeholders))

    if depth == 0 or draw(st.integers(0, 9)) == 0:
        leaves = LEAVES + [name(p) for p in placeholders]
        return draw(st.sampled_from(leaves))
    op = draw(
        st.sampled_from(
            [
                "add",
                "sub",
                "mul",
                "div",
                "neg",
                "pow",
                "add",
                "sub",
                "mul",
                "div",
                "neg",
                "pow",
                "transpose",
                "adjoint",
                "entry",
                "call",
                "sum",
                "comprehension",
                "deriv",
                "grad",
                "block",
                "member",
                "apply",
                "expect",
                "cov",
                "given",
                "logpdf",
            ]
        )
    )
    if op in ("add", "sub", "mul", "div", "pow"):
        return term(op, part(), part())
    if op in ("neg", "transpose", "adjoint", "expect"):
        return term(op, part())
    if op == "entry":
        return term(op, part(), *(part() for _ in range(draw(st.integers(1, 2)))))
    if op == "call":
        function = draw(st.sampled_from(sorted(FUNCTIONS)))
        count = FUNCTIONS[function] or draw(st.integers(1, 3))
        return term(function, *(part() for _ in range(count)))
    if op in ("sum", "comprehension"):
        placeholder = f"placeholder{len(placeholders)}"
        body = draw(values(depth - 1, (*placeholders, placeholder)))
        if op == "comprehension":
            size = draw(st.sampled_from([N, rational(3), term("add", N, name("k"))]))
            type_ = term("index_type", size)
            return term(op, size, abstract(body, (placeholder,), (type_,)))
        low = draw(st.sampled_from([rational(0), rational(1), rational(2), name("k")]))
        high = draw(
            st.sampled_from(
                [
                    N,
                    rational(5),
                    term("add", N, rational(1)),
                    term("sub", N, rational(1)),
                    name("j"),
                ]
            )
        )
        type_ = range_type(low, high, {"n", "k"})
        return term(
            draw(st.sampled_from(["sum", "prod"])),
            low,
            high,
            abstract(body, (placeholder,), (type_,)),
        )
    if op == "deriv":
        variable = draw(st.sampled_from(["t", "x"]))
        order = draw(st.integers(1, 3))
        return term(op, abstract(part(), (variable,), (REAL,)), name(variable), data=order)
    if op == "grad":
        square = term("matrix_type", N, N)
        return term(op, abstract(part(), ("A",), (square,)), name("A"))
    if op == "block":
        rows, cols = draw(st.integers(1, 2)), draw(st.integers(1, 2))
        return term(op, *(part() for _ in range(rows * cols)), data=(rows, cols))
    if op == "member":
        return term(op, name("mu"), part(), part())
    if op == "apply":
        return term(op, name(draw(st.sampled_from("fG"))), part())
    if op == "logpdf":
        return term(draw(st.sampled_from([op, "logpdf_on_support"])), part(), part(), part())
    if op == "cov":
        return term(op, part(), part())
    return draw(
        st.sampled_from(
            [
                term("expect_given", part(), part()),
                term("expect_given", part(), part(), part()),
                term("cov_given", part(), part(), part()),
            ]
        )
    )


@st.composite
def relations(draw: Callable, placeholders: tuple[str, ...] = ()) -> Term:
    if not placeholders and draw(st.integers(0, 4)) == 0:
        body = abstract(draw(values(4, ("variable",))), ("variable",), (REAL,))
        return term("limit", body, draw(values(4, ())))
    if draw(st.booleans()):
        op = draw(st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge", "subset"]))
        return term(op, draw(values(4, placeholders)), draw(values(4, placeholders)))
    op = draw(st.sampled_from(sorted(PROPERTIES)))
    count = 2 if op == "commute" else 1
    return term(op, *(draw(values(4, placeholders)) for _ in range(count)))


@st.composite
def quantified(draw: Callable) -> Term:
    types = (REAL, term("matrix_type", N, rational(1)), term("index_type", N))
    types = types[: draw(st.integers(1, 3))]
    names = tuple(f"placeholder{i}" for i in range(len(types)))
    parts = [draw(relations(names)) for _ in range(draw(st.integers(1, 3)))]
    bodies = [abstract(part, names, types) for part in parts]
    return term("forall", *types, *bodies, data=(len(types), len(bodies) - 1))


@settings(max_examples=100, deadline=None)
@given(relations(), st.lists(st.one_of(relations(), quantified()), max_size=2))
def test_what_is_printed_reads_back_to_the_same_hash(goal: Term, hypotheses: list[Term]) -> None:
    statement = Statement(DECLARATIONS, tuple(hypotheses), goal)
    try:
        printed = show.thm(statement)
    except MalformedError:  # a tree that the surface can't say is refused, never misprinted
        reject()
    again = parse(printed, typed=False).statements[0]
    assert again.hash == statement.hash, printed
    assert again.goal is statement.goal
    assert show.thm(again) == printed
    assert from_json(to_json(statement)) == statement
    assert show.latex(statement) == show.latex(again)
    assert show.pretty(statement)
    for node in (goal, *hypotheses):
        assert show.text(node) and len(show.excerpt(node)) <= 60


@pytest.mark.parametrize(
    "text",
    [
        "-a*b",
        "a - (-b)",
        "1/(2)",
        "-(1)",
        "(1/2)^a",
        "a*(3/4)",
        "a*(-1)",
        "2^-1",
        "(-2)^2",
        "a^(-b)",
        "(a^b)^2",
        "a^(b^2)",
        "(A^2).T",
        "(-A).T",
        "(A + B)[1, 2]",
        "-inv(A)*B",
        "diff(a*b, a)",
        "diff(diff(a*b, a), b, 2)",
        "grad(tr(A*B), A)",
        "diff(diff(a^2*b, a), a)",
        "sum(sum(A[j, k], k, 1, n), j, 1, n)",
        "vector(v[j]^2, j, 1, n)",
        "E(a)",
        "max(v)",
        "block([[A, B], [B, A]])",
        "a/(b/a)",
        "a/(b*a)",
        "a - (b - a)",
    ],
)
def test_a_text_is_printed_as_a_person_writes_it(text: str) -> None:
    head = "let n : dimension\nlet a, b : real\nlet A, B : matrix(n, n)\nlet v : vector(n)\n"
    statement = parse(f"{head}show {text} = {text}", typed=False).statements[0]
    assert show.thm(statement) == f"{head}show {text} = {text}\n"
    assert show.text(statement.goal) == f"{text} = {text}"


def test_a_quantified_hypothesis_prints_with_fresh_names() -> None:
    text = (
        "let x : vector(2)\nlet K : matrix(2, 2)\n"
        "assume for all y : vector(2), c : real where K*y = x, c > 0 : c*y = x\n"
        "show K*x = x\n"
    )
    statement = parse(text).statements[0]
    printed = show.thm(statement)
    assert "for all y : vector(2), z : real where K*y = x, z > 0 : z*y = x" in printed
    assert parse(printed).statements[0].hash == statement.hash


def test_a_derivative_at_another_point_is_text_only() -> None:
    body = term("pow", bound(0, REAL), rational(2))
    at_three = term("deriv", body, rational(3), data=1)
    mixed = term("deriv", term("mul", body, name("t")), name("t"), data=1)
    assert show.text(at_three) == "diff(t^2, t) at t = 3"
    assert show.text(term("add", at_three, at_three)) == (
        "(diff(t^2, t) at t = 3) + (diff(t^2, t) at t = 3)"
    )
    assert show.text(mixed) == "diff(u^2*t, u) at u = t"
    assert show.latex(mixed) == (
        r"\left. \frac{\mathrm{d}}{\mathrm{d} u} \left( u^{2} t \right) \right|_{u = t}"
    )
    for node in (at_three, mixed):
        goal = term("eq", node, rational(0))
        with pytest.raises(MalformedError, match="can't say"):
            show.thm(Statement((Declaration(("t",), REAL),), (), goal))


@pytest.mark.parametrize(
    "goal",
    [
        term("eq", term("deriv", bound(0, term("positive_type")), name("t"), data=1), rational(0)),
        term(
            "eq",
            term("sum", rational(0), rational(3), bound(0, term("index_type", rational(3)))),
            rational(0),
        ),
        term("eq", name("not a name"), rational(0)),
        term("eq", name("where"), rational(0)),
        term("eq", term("apply", name("t"), term("apply", rational(1), name("t"))), rational(0)),
    ],
)
def test_what_the_language_can_not_say_is_refused(goal: Term) -> None:
    with pytest.raises(MalformedError, match="can't say"):
        show.thm(Statement((Declaration(("t",), REAL),), (), goal))


def test_a_bound_name_never_meets_a_declared_one() -> None:
    text = "let j, k : real\nlet v : vector(3)\nshow sum(v[r] + j + k, r, 1, 3) = 0\n"
    printed = show.thm(parse(text).statements[0])
    assert "sum(v[l] + j + k, l, 1, 3)" in printed


def test_sixty_doublings_print_as_definitions() -> None:
    lines = ["let s0, c : real"] + [f"define s{i + 1} = s{i}*s{i} + s{i}" for i in range(60)]
    statement = parse("\n".join([*lines, "assume s60 > 0", "show s59 = c"])).statements[0]
    printed = show.thm(statement)
    assert len(printed) < 5000 and printed.count("define") > 50
    assert parse(printed).statements[0].hash == statement.hash
    assert show.excerpt(statement.goal.args[0]) == "add(...)"
    for form in (show.pretty, show.latex, lambda s: show.text(s.goal)):
        with pytest.raises(LimitExceeded):
            form(statement)


def test_definitions_stand_before_the_lines_that_use_them() -> None:
    lines = ["let s0 : real"] + [f"define s{i + 1} = s{i}*s{i} + s{i}" for i in range(14)]
    text = "\n".join([*lines, "let X : gaussian(s14, 1)", "show E(X) = s14"])
    statement = parse(text).statements[0]
    printed = show.thm(statement)
    assert parse(printed).statements[0].hash == statement.hash
    assert printed.index("define") < printed.index("gaussian")


def test_long_chains_print_without_recursion() -> None:
    node = name("a")
    for _ in range(20_000):
        node = term("add", node, rational(1))
    assert show.text(node).startswith("a + 1 + 1")


def test_the_terminal_form() -> None:
    text = (
        "let n, k : dimension\nlet A : matrix(n, n)\nlet U : matrix(n, k)\n"
        "assume invertible(A)\nassume symmetric(A)\nshow A*U = U\n"
    )
    assert show.pretty(parse(text).statements[0]) == (
        "for n, k : dimension; A : matrix(n, n); U : matrix(n, k)\n"
        "with invertible(A)\n"
        "     symmetric(A)\n"
        "show A*U = U"
    )
    assert show.pretty(parse("show 1 = 1").statements[0]) == "show 1 = 1"


LATEX = """
let n, k : dimension
let a, x0, Sigma_t, mean : real
let A, Sigma : matrix(n, n)
let M : matrix(n, k)
let v, mu : vector(n)
let Z : complex matrix(n, n)
let f : function(real)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.T", r"\mathbf{A}^{\top}"),
        ("Z.H", r"\mathbf{Z}^{\mathsf{H}}"),
        ("inv(A + Sigma)", r"\left( \mathbf{A} + \boldsymbol{\Sigma} \right)^{-1}"),
        ("pinv(M)", r"\mathbf{M}^{+}"),
        ("v.T*v", r"\mathbf{v}^{\top} \mathbf{v}"),
        ("-1/2*a", r"-\frac{1}{2} a"),
        ("2*3", r"2 \cdot 3"),
        ("a*(-a)", r"a \left( -a \right)"),
        ("a/x0", r"\frac{a}{x_{0}}"),
        ("Sigma_t*mean", r"\Sigma_{t} \mathit{mean}"),
        ("log(a)^2", r"\left( \log\left( a \right) \right)^{2}"),
        ("v[1]*A[1, 2]", r"v_{1} A_{1, 2}"),
        ("(A*v)[1]", r"\left[ \mathbf{A} \mathbf{v} \right]_{1}"),
        ("eye(n)", r"\mathbf{I}_{n}"),
        ("zeros(n, 1)", r"\mathbf{0}_{n}"),
        ("ones(n, k)", r"\mathbf{1}_{n \times k}"),
        ("norm2(v)", r"\left\lVert \mathbf{v} \right\rVert^{2}"),
        ("norm2(M)", r"\left\lVert \mathbf{M} \right\rVert_{\mathrm{F}}^{2}"),
        ("inner(v, mu)", r"\left\langle \mathbf{v}, \boldsymbol{\mu} \right\rangle"),
        ("kron(A, M)", r"\mathbf{A} \otimes \mathbf{M}"),
        (
            "block([[A, M], [M.T, eye(k)]])",
            r"\begin{pmatrix} \mathbf{A} & \mathbf{M} \\ \mathbf{M}^{\top} & \mathbf{I}_{k} "
            r"\end{pmatrix}",
        ),
        ("sum(v[r]^2, r, 1, n)", r"\sum_{j=1}^{n} v_{j}^{2}"),
        ("diff(a^2, a, 2)", r"\frac{\mathrm{d}^{2}}{\mathrm{d} a^{2}} a^{2}"),
        ("grad(tr(A), A)", r"\nabla_{\mathbf{A}} \operatorname{tr}\left( \mathbf{A} \right)"),
        ("f(a)", r"f\left( a \right)"),
        ("E(a)", r"\mathbb{E}\left[ a \right]"),
        ("sqrt(abs(a))", r"\sqrt{\left| a \right|}"),
        (
            "logpdf(v; mu, A)",
            r"\log \mathcal{N}\left( \mathbf{v};\, \boldsymbol{\mu},\, \mathbf{A} \right)",
        ),
    ],
)
def test_latex_of_terms(text: str, expected: str) -> None:
    statement = parse(f"{LATEX}show {text} = a", typed=False).statements[0]
    line = show.latex(statement).split(r": \\ ")[1]
    assert line == rf"{expected} = a \end{{gathered}}"


def test_latex_of_a_statement() -> None:
    text = (
        "let n : dimension\nlet A, B : matrix(n, n)\nlet X : gaussian(zeros(n, 1), A)\n"
        "assume positive_definite(A)\nassume A <= B\nshow E(X) = zeros(n, 1)\n"
    )
    assert show.latex(parse(text).statements[0]) == (
        r"\begin{gathered} \text{for } n \in \mathbb{N}_{\ge 1},\; "
        r"\mathbf{A}, \mathbf{B} \in \mathbb{R}^{n \times n},\; "
        r"\mathbf{X} \sim \mathcal{N}\left( \mathbf{0}_{n}, \mathbf{A} \right) : \\ "
        r"\begin{cases} \mathbf{A} \succ 0 \\ \mathbf{A} \preceq \mathbf{B} \end{cases} \\ "
        r"\implies\; \mathbb{E}\left[ \mathbf{X} \right] = \mathbf{0}_{n} \end{gathered}"
    )


def test_latex_of_every_kind_of_declaration() -> None:
    text = """
    let n : dimension
    let U, V : random vector(n)
    let F, G : sigma_algebra
    let h : function(real) -> matrix(n, n)
    let mu : vector(n) for r in 1..n
    let j : index(n)
    let s : positive
    assume F subset G
    assume for all x : vector(n) where s > 0 : h(s)*x = x
    show E(U | F) = V
    """
    printed = show.latex(parse(text).statements[0])
    for part in (
        r"\mathcal{F}, \mathcal{G} \text{ sigma-algebras}",
        r"\mathcal{F} \subseteq",
        r"j \in \{1, \dots, n\}",
        r"\forall\, \mathbf{x} \in \mathbb{R}^{n} :\; s > 0",
        r"\mathbb{E}\left[ \mathbf{U} \,\middle|\, \mathcal{F} \right]",
    ):
        assert part in printed


def test_an_open_term_is_printed_with_names() -> None:
    index = term("index_type", N)
    assert show.text(term("entry", name("v"), bound(0, index))) == "v[j]"
    assert show.latex(term("mul", bound(1, REAL), bound(0, REAL))) == "t u"


def test_a_limit_is_shown_with_a_name_of_its_own() -> None:
    statement = parse("let x, y : real\nshow limit(x/u + u^2, u, oo) = y").statements[0]
    assert show.thm(statement) == "let x, y : real\nshow limit(x/z + z^2, z, oo) = y\n"
    shown = show.latex(statement)
    assert r"\lim_{z \to \infty} \left( \frac{x}{z} + z^{2} \right) = y" in shown
