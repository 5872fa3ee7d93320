"""Limits by hand: what a limit says, which steps may lead to one, and false ones that must not."""

from __future__ import annotations

import pytest

from proofs.checker.definedness import NotDefined
from proofs.checker.facts import Fact, Facts
from proofs.checker.rules import find_rule, instance_of
from proofs.evaluate import Evaluation, Model, Truth
from proofs.language.infer import Scope
from proofs.language.parser import parse
from proofs.language.tree import Statement, Term, abstract, bound, name, rational, term
from proofs.search import Failure, prove
from tests.proofs.checker.building import REAL, Proof, combine, for_all, lemma, schema, where

X = bound(0, REAL)
ZERO, ONE = rational(0), rational(1)
LOG_OF_NEGATIVE = term("mul", ZERO, term("log", term("neg", X)))  # 0*log(-x)


def body(text: str, **names: Term) -> Term:
    """A function of x as the body of a binder."""
    return abstract(Proof("show 1 = 1")(text, x=REAL, **names), ("x",), (REAL,))


def claim(text: str) -> Proof:
    return Proof(f"show limit({text}")


# ---------------------------------------------------------------- what a limit says


def test_a_constant_tends_to_itself():
    assert claim("3, x, oo) = 3").accepts(schema("limit_constant", c=rational(3)))
    assert not claim("3, x, oo) = 2").accepts(schema("limit_constant", c=rational(3)))


def test_the_value_is_compared_in_the_algebra_the_function_is_not():
    """0*log(-x) has the normal form 0, and no value for large x."""
    steps = [schema("limit_constant", c=ZERO)]
    assert claim("0, x, oo) = 1 - 1").accepts(*steps)
    assert not Proof(Statement((), (), term("limit", LOG_OF_NEGATIVE, ZERO))).accepts(*steps)
    assert not claim("0*x, x, oo) = 0").accepts(*steps)


def test_the_value_must_be_defined():
    statement = Statement((), (), term("limit", ZERO, term("mul", ZERO, term("log", ZERO))))
    assert not Proof(statement).accepts(schema("limit_constant", c=ZERO))


def test_equal_functions_have_one_limit_where_both_are_defined():
    proof = claim("x/x, x, oo) = 1")
    condition, goal = proof("x > 0", x=REAL), proof("1 = x/x", x=REAL)
    nonzero = proof("x != 0", x=REAL)
    inside = [combine(nonzero)] and [schema("reciprocal", [1], x=name("x"))]
    steps = [
        where([condition], for_all(nonzero, x=REAL)),
        where(
            [condition], for_all(goal, *inside, combine(goal, [rational(-1), 2, None, ""]), x=REAL)
        ),
        schema("limit_constant", c=ONE),
    ]
    squeeze = {"f": body("x/x"), "g": ONE, "h": ONE, "a": ONE, "b": ZERO}
    assert proof.accepts(*steps, schema("limit_squeeze", [1, 1, 2, 2], **squeeze))
    everywhere = for_all(goal, *inside, combine(goal, [rational(-1), 1, None, ""]), x=REAL)
    assert not proof.accepts(everywhere, steps[2], schema("limit_squeeze", [0, 0, 1, 1], **squeeze))


# ---------------------------------------------------------------- continuity


@pytest.mark.parametrize(
    ("g", "at"),
    [
        ("sqrt(x)", "0"),
        ("1/x", "0"),
        ("abs(x)", "0"),
        ("log(x)", "0"),
        ("log(x)", "-1"),
        ("x^(-2)", "0"),
        ("x^(1/2)", "0"),
        ("lambertw(x)", "-exp(-1)"),
        ("max(x, 1)", "1"),
        ("0*log(-1) + x", "0"),
        ("1/(x - x)", "0"),
    ],
)
def test_a_function_must_be_smooth_where_the_limit_is(g: str, at: str):
    proof = Proof("show 1 = 1")
    value = proof(at)
    fact = term("limit", value, value)
    inside = instance_of(
        _rule("limit_continuous"), {"f": value, "g": body(g), "a": value}, Scope.of(())
    )
    proof = Proof(Statement((), (), inside.conclusion))
    steps = [schema("limit_constant", c=value)]
    assert fact in inside.requirements
    assert not proof.accepts(
        *steps, schema("limit_continuous", [None, 0], f=value, g=body(g), a=value)
    )


def test_a_smooth_function_of_a_convergent_one_converges():
    proof = claim("exp(3), x, oo) = exp(3)")
    values = {"f": rational(3), "g": body("exp(x)"), "a": rational(3)}
    assert proof.accepts(
        schema("limit_constant", c=rational(3)), schema("limit_continuous", [None, 0], **values)
    )


# ---------------------------------------------------------------- theorems about limits


def test_a_theorem_on_functions_is_not_cited_for_one_that_has_no_values():
    """0*f(x) tends to 0 for each f that is defined; 0*log(-x) tends to nothing."""
    (theorem,) = parse("let f : function(real)\nshow limit(0*f(x), x, oo) = 0").statements
    assert not isinstance(prove(theorem), Failure)
    lemmas = {theorem.hash: theorem}
    partial = Proof(Statement((), (), term("limit", LOG_OF_NEGATIVE, ZERO)))
    assert not partial.accepts(lemma(theorem, f=term("log", term("neg", X))), lemmas=lemmas)
    total = claim("0*exp(x), x, oo) = 0")
    assert total.accepts(lemma(theorem, f=term("exp", X)), lemmas=lemmas)


def test_a_theorem_with_a_limit_as_hypothesis_asks_for_it():
    (theorem,) = parse(
        "let f : function(real)\nlet L : real\nassume limit(f(x), x, oo) = L\n"
        "show limit(2*f(x), x, oo) = 2*L"
    ).statements
    lemmas = {theorem.hash: theorem}
    proof = claim("2*3, x, oo) = 2*3")
    known = schema("limit_constant", c=rational(3))
    values = {"f": rational(3), "L": rational(3)}
    assert proof.accepts(known, lemma(theorem, [0], **values), lemmas=lemmas)
    assert not proof.accepts(known, lemma(theorem, [None], f=rational(3), L=ZERO), lemmas=lemmas)
    assert not proof.accepts(lemma(theorem, [None], **values), lemmas=lemmas)


# ---------------------------------------------------------------- false steps


@pytest.mark.parametrize(
    "text",
    [
        "1/x, x, oo) = 1",
        "x, x, oo) = 0",
        "sin(x), x, oo) = 0",
        "log(-x), x, oo) = 0",
        "0*log(-x), x, oo) = 0",
        "1/(x - x), x, oo) = 0",
        "x*(1/x), x, oo) = 0",
        "exp(x), x, oo) = 0",
        "(-1)^2*x/(x + 1), x, oo) = -1",
        "exp(1/x) - 1/x, x, oo) = 0",
        "(1 + 1/x)^x, x, oo) = 1",
        "sqrt(x + 1) - sqrt(x), x, oo) = 1",
    ],
)
def test_a_false_limit_is_not_proved(text: str):
    (statement,) = parse(f"show limit({text}").statements
    assert isinstance(prove(statement, 2), Failure)


# Hypotheses whose lack no quotient of polynomials shows, with functions that do.
BY_HAND = {
    # 1/x tends to 0, its pseudo-inverse x grows, and that of 0 is 0.
    ("limit_continuous", 0): {"f": "1/x", "g": "pinv(x)", "a": "0"},
    # 1/(-x) tends to 0 too, and tanh to 1 and -1.
    ("limit_substitution", 0): {"f": "tanh(x)", "g": "-x", "a": "1", "b": "0"},
}


@pytest.mark.parametrize("case", BY_HAND, ids=str)
def test_a_rule_needs_a_hypothesis_that_no_random_model_shows_to_be_needed(
    case: tuple[str, int],
):
    rule, dropped = _rule(case[0]), case[1]
    functions = {d.names[0] for d in rule.declarations if d.type.op == "function_type"}
    values = {
        n: body(text) if n in functions else Proof("show 1 = 1")(text)
        for n, text in BY_HAND[case].items()
    }
    instance = instance_of(rule, values, Scope.of(()))
    at, facts = Evaluation(Model((), {})), Facts(Scope.of(()))
    for k, requirement in enumerate(instance.requirements):
        assert (at(requirement) is Truth.TRUE) is (k != dropped)
        if k != dropped:
            facts.add(Fact(requirement))
    assert at(instance.conclusion) is Truth.FALSE
    missing = instance.requirements[dropped]
    if missing.op == "eq":  # always true, but not defined
        with pytest.raises(NotDefined):
            facts.defined(missing)
    else:
        assert facts.find(missing) is None


def _rule(rule: str) -> Statement:
    found = find_rule(rule)
    assert found is not None
    return found
