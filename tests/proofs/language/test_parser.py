"""What the statement language says, and how it answers what it can't read."""

from __future__ import annotations

import pytest

from proofs.language.errors import (
    LimitExceeded,
    Span,
    StatementError,
    SyntaxProblem,
    TypeProblem,
)
from proofs.language.infer import Scope
from proofs.language.parser import parse, parse_expression, parse_rules
from proofs.language.tree import Declaration, Term, bound, name, rational, term

DECLARED = """
let n, k : dimension
let a, b, x, t : real
let z : complex
let A, B : matrix(n, n)
let M : matrix(n, k)
let v, w : vector(n)
let j : index(n)
let p : integer
let f : function(real)
let G : function(real) -> matrix(n, n)
let mu : vector(k) for r in 1..n, s in 1..3
"""
SCOPE = Scope.of(parse(DECLARED + "show a = a").statements[0].declarations)


def read(text: str) -> Term:
    return parse_expression(text, SCOPE)


def goal(text: str) -> Term:
    return parse(DECLARED + text).statements[0].goal


a, b, x, t = map(name, "abxt")
one, two = rational(1), rational(2)


# ---------------------------------------------------------------- expressions


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a + b + x", "(a + b) + x"),
        ("a - b - x", "(a - b) - x"),
        ("a*b/x", "(a*b)/x"),
        ("a/b*x", "(a/b)*x"),
        ("a^b^x", "a^(b^x)"),
        ("-x^2", "-(x^2)"),
        ("-a*b", "(-a)*b"),
        ("a*-b", "a*(-b)"),
        ("a - -b", "a - (-b)"),
        ("a^-b", "a^(-b)"),
        ("a^-b^2", "a^(-(b^2))"),
        ("2^-1", "2^(-1)"),
        ("a^b*x", "(a^b)*x"),
        ("-A.T", "-(A.T)"),
        ("A.T^2", "(A.T)^2"),
        ("A.H.T", "(A.H).T"),
        ("a + b*x^2", "a + (b*(x^2))"),
        ("v[j]^2", "(v[j])^2"),
        ("(a +\n b)", "a + b"),
    ],
)
def test_precedence(first: str, second: str) -> None:
    assert read(first) is read(second)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3/4", term("rational", data="3/4")),
        ("-3/4", term("rational", data="-3/4")),
        ("6/4", term("rational", data="3/2")),
        ("0.1", term("rational", data="1/10")),
        ("1/2*x", term("mul", term("rational", data="1/2"), x)),
        ("-1/2*x", term("mul", term("rational", data="-1/2"), x)),
        ("1/(2)", term("div", one, two)),
        ("(1)/2", term("div", one, two)),
        ("1/2/a", term("div", term("rational", data="1/2"), a)),
        ("1/2^x", term("div", one, term("pow", two, x))),
        ("1/0", term("div", one, rational(0))),
        ("0.5/2", term("div", term("rational", data="1/2"), two)),
        ("x*1/2", term("div", term("mul", x, one), two)),
        ("-2^2", term("neg", term("pow", two, two))),
        ("-(1)", term("neg", one)),
    ],
)
def test_only_two_integers_as_they_stand_make_a_rational(text: str, expected: Term) -> None:
    assert read(text) is expected


def test_a_sum_binds_its_index_with_the_type_of_its_range() -> None:
    n, j = name("n"), term("index_type", name("n"))
    entry = term("entry", name("v"), bound(0, j))
    assert read("sum(v[r], r, 1, n)") is term("sum", one, n, entry)
    integer = term("integer_type")
    assert read("prod(a^r, r, 0, n - 1)") is term(
        "prod", rational(0), term("sub", n, one), term("pow", a, bound(0, integer))
    )
    assert read("vector(v[r], r, 1, n)") is term("comprehension", n, entry)


def test_nested_binders_count_outwards() -> None:
    n = term("index_type", name("n"))
    body = term("entry", name("A"), bound(1, n), bound(0, n))
    assert read("sum(sum(A[r, s], s, 1, n), r, 1, n)") is term(
        "sum", one, name("n"), term("sum", one, name("n"), body)
    )


def test_a_derivative_binds_its_variable_and_stands_at_it() -> None:
    body = term("mul", bound(0, term("real_type")), bound(0, term("real_type")))
    assert read("diff(t*t, t)") is term("deriv", body, t, data=1)
    assert read("diff(t*t, t, 3)") is term("deriv", body, t, data=3)
    square = term("matrix_type", name("n"), name("n"))
    assert read("grad(det(A), A)") is term("grad", term("det", bound(0, square)), name("A"))


def test_a_limit_is_one_relation_that_binds_a_real_variable() -> None:
    x_ = bound(0, term("real_type"))
    found = goal("show limit(a/y + 1, y, oo) = b")
    assert found is term("limit", term("add", term("div", a, x_), one), name("b"))
    assert goal("show limit(sum(y^r, r, 1, 3), y, oo) = b").args[0].free == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("show limit(1/y, y, oo) + 1 = 0", r"a limit is no value by itself, got '\+'"),
        ("show 1 + limit(1/y, y, oo) = 0", "a limit is no value: it stands alone after"),
        ("show limit(1/y, y, oo) <= 0", "a limit is no value by itself, got '<='"),
        ("show limit(1/y, y, oo)", "a limit is no value by itself, got the end"),
        ("show limit(1/y, y, 0) = 0", "limits are taken at infinity alone"),
        ("show limit(1/y, y, oo) = 0 = 1", "expected the end of the relation"),
        ("show limit(1/y, y) = 0", r"expected limit\(expression, x, oo\) = value"),
        ("show limit(1/y, 2, oo) = 0", "expected a new name"),
        ("show limit(1/b, b, oo) = 0", "'b' is declared already"),
        ("show limit(1/y, y, oo) = y", "unknown name 'y'"),
        ("show limit(limit(1/y, y, oo), z9, oo) = 0", "a limit is no value"),
        ("define d9 = limit(1/y, y, oo)\nshow d9 = 0", "a limit is no value"),
        ("show oo = 0", "'oo' is no number"),
        ("let limit : real\nshow limit = 0", "is a function of the language"),
    ],
)
def test_a_limit_stands_nowhere_else(text: str, message: str) -> None:
    with pytest.raises((SyntaxProblem, TypeProblem), match=message) as caught:
        goal(text)
    assert caught.value.span is not None


def test_functions_families_and_blocks() -> None:
    assert read("f(t)") is term("apply", name("f"), t)
    assert read("mu[j, 2][1]") is term("entry", term("member", name("mu"), name("j"), two), one)
    assert read("block([[A, M], [M.T, 1]])").data == (2, 2)
    assert read("max(a, b, x)").op == "max"


def test_probability() -> None:
    text = """
    let n : dimension
    let m : vector(n)
    let S : matrix(n, n)
    let (X, Y) : gaussian((m, m), block([[S, S], [S, S]]))
    let U, V : gaussian(0, 1)
    show cov(X, X | Y, U) = cov(X, X)
    show E(X | Y) = E(X)
    show logpdf(m; m, S) = logpdf_on_support(m; m, S)
    """
    found = parse(text).statements
    names = [d.names for d in found[0].declarations]
    assert names[-3:] == [("X", "Y"), ("U",), ("V",)]
    assert found[0].declarations[-3].type.data == (2, 1)
    assert found[0].goal.args[0].op == "cov_given"
    assert found[1].goal.args[0].op == "expect_given"


def test_l2_spaces() -> None:
    text = """
    let U : random
    let V : random vector(3)
    let F, G : sigma_algebra
    assume F subset G
    show E(E(U | G) | F) = E(U | F)
    """
    found = parse(text).statements[0]
    assert found.hypotheses[0].op == "subset"
    assert found.declarations[1].type is term("random_type", rational(3))


def test_a_quantified_hypothesis_binds_outermost_first() -> None:
    text = (
        DECLARED + "assume for all y : vector(n), c : real where A*y = zeros(n, 1), c > 0 : "
        "c*y = y\nshow a = a"
    )
    found = parse(text).statements[0].hypotheses[0]
    assert found.op == "forall" and found.data == (2, 2)
    assert found.args[-1].args[0].args[0] is bound(0, term("real_type"))
    assert found.args[-1].args[1] is bound(1, term("matrix_type", name("n"), one))


def test_a_definition_is_substituted() -> None:
    assert goal("define S = a + b\nshow S*S = S") is goal("show (a + b)*(a + b) = a + b")


def test_sixty_doublings_stay_small() -> None:
    lines = ["let s0 : real"] + [f"define s{i + 1} = s{i} + s{i}" for i in range(60)]
    statement = parse("\n".join([*lines, "show s60 = 0"])).statements[0]
    assert len(statement.hash) == 71


def test_each_show_is_a_statement_of_its_own() -> None:
    document = parse(
        "# Title\n#! items: FB-1, FB-2\n#! cites: A (1990), p. 3; B (2000)\n"
        "let c : real\nassume c > 0\nshow c >= 0\nshow c != 0\n"
    )
    assert document.title == "Title"
    assert document.headers == {"items": ["FB-1", "FB-2"], "cites": ["A (1990), p. 3", "B (2000)"]}
    assert [s.goal.op for s in document.statements] == ["ge", "ne"]
    assert document.goal_spans == (Span(6, 6, 6), Span(7, 6, 6))


def test_a_term_knows_where_it_first_stands() -> None:
    document = parse("let c : real\nshow c*c + sum(c^r, r, 1, 3) = 1\n")
    left = document.statements[0].goal.args[0]
    assert document.spans[left.args[0]] == Span(2, 6, 3)
    assert document.spans[left.args[1].args[2]] == Span(2, 16, 3)  # under the binder


def test_names_are_composed_and_may_be_greek() -> None:
    composed = parse("let \u00e9, μ : real\nshow e\u0301 = μ").statements[0]
    assert composed.goal is term("eq", name("\u00e9"), name("μ"))


def test_rule_files_are_blocks() -> None:
    rules = parse_rules(
        "# all\n== first (a remark)\nlet c : real\nshow c = c\n"
        "== second\nlet c : real\nassume c > 0\nshow c != 0\n"
    )
    assert list(rules) == ["first", "second"]
    assert rules["second"].goal.op == "ne"
    with pytest.raises(SyntaxProblem, match="line 3, column 10"):
        parse_rules("== first\nlet c : real\nshow c + = c\n")
    with pytest.raises(SyntaxProblem, match="stands above"):
        parse_rules("== r\nshow 1 = 1\n== r\nshow 1 = 1\n")
    with pytest.raises(SyntaxProblem, match="expected one"):
        parse_rules("== r\nshow 1 = 1\nshow 2 = 2\n")


# ---------------------------------------------------------------- what can't be read


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("show a + = b", (1, 10), "expected a value, got '='"),
        ("show a b", (1, 8), "expected an operator or a relation"),
        ("show 2a = b", (1, 7), r"a product is written 2\*a"),
        ("show a = b = x", (1, 12), "write a chain as two relations"),
        ("show (a = b", (1, 6), "is not closed"),
        ("show (a\nshow a = a", (1, 6), "is not closed"),
        ("show a) = b", (1, 7), "closes nothing"),
        ("show (a] = b", (1, 8), "expected what closes"),
        ("show a == b", (1, 8), "equality is written ="),
        ("show a**2 = b", (1, 7), r"a power is written \^"),
        ("show a ≤ b", (1, 8), "write <="),
        ("show x² = b", (1, 6), r"write \^2"),
        ("show A' = A", (1, 7), r"a transpose is A\.T"),
        ("show A^2.T = A", (1, 9), r"write \(A\^p\)\.T"),
        ("show A^-1.T = A", (1, 10), r"write \(A\^p\)\.T"),
        ("let i : real", (1, 5), "imaginary unit"),
        ("let pi : real", (1, 5), "reserved"),
        ("let where : real", (1, 5), "reserved"),
        ("show sum(v[i], i, 1, n) = 0", (1, 16), "imaginary unit"),
        ("show sum(a, e, 1, n) = 0", (1, 13), "reserved"),
        ("show sum(a, a, 1, n) = 0", (1, 13), "declared already"),
        ("show sum(sum(a, r, 1, n), r, 1, n) = 0", (1, 17), "declared already"),
        ("show sum(a, r, 1) = 0", (1, 9), r"expected sum\(expression, j, 1, n\)"),
        ("show vector(v[r], r, 2, n) = v", (1, 22), "entries count from 1"),
        ("show diff(a, 2) = 0", (1, 14), "a declared name to differentiate by"),
        ("show diff(a, t, 0) = 0", (1, 17), "a positive integer"),
        ("let a : real", (1, 5), "declared already"),
        ("let c, c : real", (1, 8), "declared already"),
        ("let det : real", (1, 5), "function of the language"),
        ("let c : reel", (1, 9), "unknown type 'reel'"),
        ("let c real", (1, 7), "expected ',' or ':'"),
        ("let (c, d) : real", (1, 14), "one for each name"),
        ("let (c, d) : gaussian((a, b, x), A)", (1, 14), "2 means"),
        ("define c = a > b", (1, 14), "not a relation"),
        ("define a = b", (1, 8), "declared already"),
        ("assume a", (1, 9), "expected an operator or a relation"),
        ("show symmetric(A) = A", (1, 19), "expected an operator or the end of the line"),
        ("show 1 + symmetric(A) = A", (1, 10), "is a property"),
        ("show det(A, B) = 1", (1, 9), "det takes 1 argument, got 2"),
        ("show block([[A, B], [A]]) = A", (1, 21), "this row has 1 blocks"),
        ("show for all y : real : y = y", (1, 6), "declare the name by let"),
        ("show a = oo", (1, 10), "no number"),
        ("show a = inv", (1, 10), "is a function"),
        ("show a(2) = 1", (1, 6), r"a product is written a\*\(...\)"),
        ("show e(2) = 1", (1, 6), "is no function"),
        ("show mu = v", (1, 9), "expected an index"),
        ("prove a = b", (1, 1), "let, define, assume or show"),
        ("show .5 = a", (1, 6), "a digit before its point"),
        ("show a\u00a0= b", (1, 7), "no-break space"),
        ("show a = \u202eb", (1, 10), r"U\+202E"),
        ("let mu2 : real for r in 0..3", (1, 25), "families count from 1"),
        ("show a = a\nassume a > 0", (2, 1), "goals come last"),
    ],
)
def test_a_syntax_error_names_the_place_and_what_was_expected(
    text: str, place: tuple[int, int], message: str
) -> None:
    before = DECLARED.count("\n")
    with pytest.raises(SyntaxProblem, match=message) as caught:
        parse(DECLARED + text)
    assert caught.value.span is not None
    assert (caught.value.span.line - before, caught.value.span.column) == place


def test_a_file_needs_a_goal() -> None:
    for text in ("", "# nothing", "let c : real"):
        with pytest.raises(SyntaxProblem, match="no goal"):
            parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("show lenght = a", "unknown name 'lenght'; declare it"),
        ("let length : real\nshow lenght = a", "did you mean 'length'"),
        ("show symetric(A) = A", "did you mean 'symmetric'"),
        ("show diff(a, y) = a", "unknown name 'y'"),
        ("show c = a\n", "unknown name 'c'"),
    ],
)
def test_an_unknown_name_is_met_with_a_near_one(text: str, message: str) -> None:
    with pytest.raises(TypeProblem, match=message):
        parse(DECLARED + text)


@pytest.mark.parametrize("other", ["\u0430", "\uff41"])  # Cyrillic and full-width
def test_names_that_look_alike_are_refused(other: str) -> None:
    with pytest.raises(SyntaxProblem, match="can't be told apart"):
        parse(f"let a : real\nlet {other} : real\nshow a = a")


def test_a_look_alike_of_a_constant_is_refused() -> None:
    with pytest.raises(SyntaxProblem, match="can't be told apart"):
        parse("let \u0435 : real\nshow 1 = 1")  # Cyrillic


def test_digits_are_no_look_alikes() -> None:
    assert parse("let l1, ll, O0, OO : real\nshow l1 = ll").statements


def test_a_name_of_E_takes_the_expectation_away() -> None:
    assert parse("let E : matrix(2, 2)\nshow E*E = E").statements
    with pytest.raises(SyntaxProblem, match="you declared E"):
        parse("let E : matrix(2, 2)\nlet X : gaussian(0, 1)\nshow E(X) = 0")


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "a" + ")" * 5000,
        "-" * 5000 + "a",
        "a" + "^a" * 5000,
        "sin(" * 3000 + "a" + ")" * 3000,
        "block([[" * 1000 + "a" + "]])" * 1000,
        "E(" * 1000 + "a" + ")" * 1000,
        "v" + "[v" * 3000 + "]" * 3000,
        "1" * 2001,
        "0." + "1" * 2000,
        "1" + "0" * 1500 + "/" + "3" * 1500,
    ],
)
def test_what_is_too_deep_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(LimitExceeded):
        read(text)


def test_two_hundred_levels_are_read() -> None:
    deep = 199
    assert read("(" * deep + "a" + ")" * deep) is a
    assert read("sin(" * deep + "a" + ")" * deep).op == "sin"
    assert read("E(" * 99 + "a" + ")" * 99).op == "expect"


def test_a_long_sum_is_no_deep_one() -> None:
    chain = "a" + " + a" * 20_000
    statement = parse(f"let a : real\nshow {chain} = 0").statements[0]
    assert statement.goal.args[0].op == "add"


def test_too_long_a_text_is_refused_before_it_is_read() -> None:
    with pytest.raises(LimitExceeded, match="at most"):
        parse("#" * 200_001)


def test_binders_can_not_multiply_a_large_term_without_end() -> None:
    lines = ["let t : real", "define s0 = t"]
    lines += [f"define s{i + 1} = s{i}*t + {i}" for i in range(1000)]
    lines += ["show " + " + ".join(["diff(s1000, t)"] * 2000) + " = 0"]
    with pytest.raises(LimitExceeded):
        parse("\n".join(lines))


@pytest.mark.parametrize(
    "text",
    [
        "\x00",
        "\ud800",
        "let",
        "show",
        "== x",
        "let x :",
        "(",
        "]",
        "let x : vector(",
        "assume for",
        "#!",
        "show E(|)",
        "show [1]",
        "let () : real",
        "define",
        "show sum(,,,) = 1",
        "show block() = 1",
        "show diff() = 1",
        "let x : real for",
    ],
)
def test_broken_text_is_answered_by_an_error_of_ours(text: str) -> None:
    with pytest.raises(StatementError):
        parse(text)


def test_an_expression_is_read_in_a_scope() -> None:
    scope = Scope.of((Declaration(("c",), term("real_type")),))
    assert parse_expression("c^2", scope) is term("pow", name("c"), two)
    assert parse_expression("c > 0", scope).op == "gt"
    with pytest.raises(SyntaxProblem):
        parse_expression("c\nc", scope)
