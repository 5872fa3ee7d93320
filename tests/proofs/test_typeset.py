"""What a notebook shows: Markdown with LaTeX, short where the text has names for long terms."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb_mat

from proofs import typeset
from proofs.evaluate.model import Family, Function, Model, Outcomes
from proofs.evaluate.values import Complex, Matrix
from proofs.explain import explain_theorem
from proofs.files import decide_text
from proofs.language import show
from proofs.language.parser import parse
from proofs.library import Library

FLOW = """
let beta, lambda0 : positive
let theta : real
define z = beta*lambda0*exp(beta*lambda0 - 2*theta)
define lambda = lambertw(z)/beta
"""
SQUARE = "let n : dimension\nlet A, B : matrix(n, n)\n"


# ---------------------------------------------------------------- abbreviations


def test_a_defined_term_is_shown_by_its_name_also_where_it_is_differentiated():
    document = parse(FLOW + "show diff(lambda, theta) = -2*lambda/(1 + beta*lambda)")
    goal, names = document.statements[0].goal, document.defines
    assert show.text(goal, names) == "diff(lambda, theta) = -2*lambda/(1 + beta*lambda)"
    assert show.latex(goal, names=names) == (
        r"\frac{\mathrm{d}}{\mathrm{d} \theta} \lambda = -\frac{2 \lambda}{1 + \beta \lambda}"
    )
    assert "lambertw" in show.text(goal)


def test_the_names_that_are_used_are_explained():
    document = parse(FLOW + "define unused = theta^2\nshow lambda > 0")
    (statement,) = document.statements
    assert show.pretty(statement, document.defines).splitlines() == [
        "for beta, lambda0 : positive; theta : real",
        "where z = beta*lambda0*exp(beta*lambda0 - 2*theta)",
        "      lambda = lambertw(z)/beta",
        "show lambda > 0",
    ]
    shown = show.latex(statement, names=document.defines)
    assert r"\text{where } z = \beta \lambda_{0} \, \mathrm{e}^{\beta \lambda_{0} - " in shown
    assert show.definitions(document.defines, [statement.goal])[-1] == "lambda = lambertw(z)/beta"


def test_a_matrix_has_a_bold_name():
    document = parse(SQUARE + "define G = A*B\nshow G.T = B.T*A.T")
    assert r"\mathbf{G}^{\top} =" in show.latex(document.statements[0], names=document.defines)


def test_a_name_that_means_something_else_is_not_used():
    document = parse(SQUARE + "show A*B = B*A")
    goal = document.statements[0].goal
    assert show.text(goal, {"A": goal.args[0]}) == "A*B = B*A"
    assert show.text(goal, {"C": goal.args[0].args[0]}) == "A*B = B*A"  # a name needs no other


def test_sixty_doublings_are_printed_by_their_names():
    lines = ["let s0 : real"] + [f"define s{i + 1} = s{i} + s{i}" for i in range(60)]
    (answer,) = decide_text("\n".join([*lines, "show s60 = 2^60*s0"]))
    assert "show s60 = 2^60*s0\n" in str(answer)
    assert "s60 = s_{59} + s_{59}" not in answer._repr_markdown_()
    assert "s_{60} = s_{59} + s_{59}" in answer._repr_markdown_()


# ---------------------------------------------------------------- results


def test_a_theorem_shows_its_goals_under_one_heading():
    shown = Library().find("flow.appendix_clock")._repr_markdown_()
    assert shown.startswith(r"**flow.appendix\_clock** (EB-40, EB-41). An eigenvalue")
    assert shown.count(r"\text{where }") == 1


def test_a_proof_is_a_table_of_formulas_with_reasons():
    library = Library()
    explanation = explain_theorem(library.find("conditioning.gaussian_conditioning"), library)
    shown = explanation._repr_markdown_()
    assert r"**conditioning.gaussian\_conditioning** (proved)." in shown
    assert "| (2) | $\\mathbb{E}\\left[ \\mathbf{X} \\right] = \\mathbf{a}$ |" in shown
    assert "*Proof*, for any n, k." in shown
    assert "Cited facts: none" in shown
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {4}  # no bar of a formula ends a cell


def test_a_refutation_shows_its_model_its_sides_and_the_nearest_true_neighbour():
    answers = decide_text(SQUARE + "show (A*B).T = A.T*B.T")
    shown = answers._repr_markdown_()
    assert "**refuted** by a counterexample" in shown
    assert r"\mathbf{A} &= \begin{pmatrix}" in shown
    assert r"\text{difference} &=" in shown
    assert "Nearest true neighbour" in shown


def test_an_ill_posed_statement_shows_the_point_and_the_repair():
    shown = decide_text("let x : real\ndefine y = 1/x\nshow diff(y, x) = -y^2")._repr_markdown_()
    assert "**ill-posed**: $y$ can be undefined (division by zero), as at" in shown
    assert "x &= 0" in shown
    assert r"With $x \neq 0$ as a hypothesis: **proved**" in shown


def test_a_proof_tells_what_it_did_without():
    shown = decide_text(
        SQUARE + "assume invertible(A)\nassume symmetric(B)\nshow inv(A)*A = eye(n)"
    )._repr_markdown_()
    assert "**proved** for any n" in shown
    assert r"doesn't use: $\mathbf{B} \text{ is symmetric}$" in shown


def test_a_result_is_never_shown_as_a_dump_of_its_fields():
    library = Library()
    theorem = library.find("flow.velocity")
    for result in (theorem, explain_theorem(theorem, library), decide_text("show 1 = 1")):
        assert "show " in repr(result)
        assert "=<" not in repr(result)
    assert "s)" not in repr(decide_text("show 1 = 1"))  # nor the seconds, which differ


# ---------------------------------------------------------------- values


@pytest.mark.parametrize(("value", "expected"), [
    (3, "3"),
    (Fraction(-3, 4), r"-\frac{3}{4}"),
    (Complex(Fraction(1), Fraction(-1, 2)), r"1 - \frac{1}{2} \mathrm{i}"),
    (Complex(Fraction(0), Fraction(-2)), r"-2 \mathrm{i}"),
    (((1, 2), (0, Fraction(1, 2))), r"\begin{pmatrix} 1 & 2 \\ 0 & \frac{1}{2} \end{pmatrix}"),
    (Function(Fraction(1, 2), (Fraction(9), Fraction(-2), Fraction(0), Fraction(1))),
     r"x \mapsto 9 - 2 (x - \frac{1}{2}) + (x - \frac{1}{2})^{3}"),
    (Function(Fraction(0), (Fraction(0),)), r"x \mapsto 0"),
    (Outcomes((1, Fraction(1, 2))), r"1,\; \frac{1}{2}"),
    (Family({(1, 2): 5}), r"1,2: 5"),
    (Matrix(arb_mat([["-0.5 +/- 3e-17"]])), r"-0.5 \pm 4 \cdot 10^{-17}"),
    ("50% of {x_1}", r"\text{50\% of \{x\_1\}}"),
])  # fmt: skip
def test_values_in_latex(value: object, expected: str):
    assert typeset.value(value) == expected


def test_a_model_shows_numbers_in_one_line_and_matrices_below():
    document = parse("let a, b : real\nlet A : matrix(2, 2)\nshow a*A = b*A")
    model = Model(document.statements[0].declarations, {"a": 1, "b": 2, "A": ((1, 0), (0, 1))})
    assert typeset.model(model) == [
        r"a &= 1,\quad b = 2", r"\mathbf{A} &= \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}",
    ]  # fmt: skip
