"""Mutants: every kind of slip, in one order, and the one outcome that must never happen."""

from __future__ import annotations

import pytest

from proofs.checker.judge import Rejected, check
from proofs.language import show
from proofs.language.parser import parse
from proofs.language.tree import Statement, name, term
from proofs.mutants import Classified, Mutant, Outcome, classify, mutants, same_up_to_order
from proofs.refute import Refutation
from proofs.search import Failure, prove


def statement(text: str) -> Statement:
    return parse(text).statements[0]


def changed(text: str) -> dict[str, list[str]]:
    """The goals and hypotheses of all mutants, by kind."""
    found: dict[str, list[str]] = {}
    original = statement(text)
    for m in mutants(original):
        if m.part == "goal":
            shown = show.text(m.statement.goal)
        else:
            shown = "; ".join(show.text(h) for h in m.statement.hypotheses)
        found.setdefault(m.kind, []).append(shown)
    return found


LINES = "let n : dimension\nlet A, B, C : matrix(n, n)\nlet a, b : real\nlet x : vector(n)\n"


@pytest.mark.parametrize(
    ("goal", "kind", "expected"),
    [
        ("a + b = b", "sign", "a - b = b"),
        ("a - b = b", "sign", "a + b = b"),
        ("-a = b", "sign", "a = b"),
        ("a = b", "sign", "a = -b"),
        ("a + b = b", "factor", "2*a + b = b"),
        ("a + b = b", "factor", "1/2*(a + b) = b"),
        ("a = 3*b", "factor", "a = 6*b"),
        ("a + b = b", "dropped term", "a = b"),
        ("a - b = b", "dropped term", "-b = b"),
        ("a*b = b", "dropped factor", "a = b"),
        ("a/2 = b", "dropped factor", "a = b"),
        ("A*x = x", "transpose", "A.T*x = x"),
        ("A.T*x = x", "transpose", "A*x = x"),
        ("A*B = C", "swap", "B*A = C"),
        ("A*B*C = A", "swap", "A*C*B = A"),
        ("A[1, 2] = a", "swap", "A[2, 1] = a"),
        ("a^2 = b", "exponent", "a^3 = b"),
        ("a^2 = b", "exponent", "a^1 = b"),
        ("a >= b", "strict", "a > b"),
        ("a <= b", "strict", "a < b"),
        ("a = b", "shift", "a + 1 = b"),
        ("A = B", "shift", "A + ones(n, n) = B"),
        ("sum(x[j], j, 1, n) = a", "range", "sum(x[j], j, 2, n) = a"),
        ("A = inv(B)", "inverse", "A = B"),
        ("A = B", "inverse", "A = inv(B)"),
        ("sqrt(a) = b", "inverse", "a = b"),
    ],
)
def test_every_kind_of_slip_is_made(goal, kind, expected):
    assert expected in changed(f"{LINES}show {goal}")[kind]


@pytest.mark.parametrize(
    ("hypothesis", "kind", "expected"),
    [
        ("a > 0", "dropped hypothesis", ""),
        ("a > 0", "flipped hypothesis", "a < 0"),
        ("a != 0", "flipped hypothesis", "a = 0"),
        ("a >= b", "flipped hypothesis", "a < b"),
        ("invertible(A)", "flipped hypothesis", "det(A) = 0"),
        ("positive_definite(A)", "flipped hypothesis", "positive_definite(-A)"),
        ("A*x = x", "transpose", "A.T*x = x"),
    ],
)
def test_hypotheses_are_dropped_flipped_and_changed(hypothesis, kind, expected):
    assert expected in changed(f"{LINES}assume {hypothesis}\nshow a = a")[kind]


def test_mutants_come_once_and_in_the_same_order():
    text = LINES + "assume invertible(A)\nassume a > 0\nshow inv(A)*(A + a*B)*C = C + a*inv(A)*B*C"
    first, second = (list(mutants(statement(text))) for _ in range(2))
    assert [str(m) for m in first] == [str(m) for m in second]
    assert len({m.statement.hash for m in first}) == len(first)
    assert statement(text).hash not in {m.statement.hash for m in first}


def test_a_term_that_is_doubled_sixty_times_has_a_bounded_number_of_mutants():
    doubled = name("a")
    for _ in range(60):
        doubled = term("add", doubled, doubled)
    found = statement(LINES + "show a = b")
    large = Statement(found.declarations, (), term("eq", doubled, name("b")))
    assert len(list(mutants(large))) < 4_000


def test_types_and_sizes_are_left_alone():
    for m in mutants(statement(LINES + "show eye(n)*A = A")):
        assert show.text(m.statement.goal).count("eye") <= 1
        assert m.statement.declarations == statement(LINES + "show eye(n)*A = A").declarations


# ---------------------------------------------------------------- what becomes of them


PRODUCT = LINES + "assume invertible(A)\nassume invertible(B)\nshow inv(A*B) = inv(B)*inv(A)"


def ended(text: str, judge=None, proved=None) -> list[Classified]:
    found = statement(text)
    empty = {"statement": found.hash, "nodes": [], "steps": []}
    return [classify(m, found, empty, judge, prove=proved) for m in mutants(found)]


def accept(_statement: Statement, _certificate: dict[str, object]) -> object:
    return object()


def reject(_statement: Statement, _certificate: dict[str, object]) -> object:
    raise Rejected("no")


def test_without_a_judge_most_mutants_are_refuted():
    outcomes = ended(PRODUCT)
    assert {c.outcome for c in outcomes} <= {
        Outcome.ILLTYPED,
        Outcome.REFUTED,
        Outcome.EQUIVALENT,
        Outcome.OPEN,
    }
    assert sum(c.outcome is Outcome.REFUTED for c in outcomes) > 0.8 * len(outcomes)
    assert all(isinstance(c.witness, object) for c in outcomes if c.outcome is Outcome.REFUTED)


def test_a_judge_that_accepts_everything_is_caught_at_every_false_mutant():
    honest = {str(c.mutant): c.outcome for c in ended(PRODUCT, reject)}
    caught = {str(c.mutant): c.outcome for c in ended(PRODUCT, accept)}
    for mutant, outcome in honest.items():
        if outcome is Outcome.REFUTED:
            assert caught[mutant] is Outcome.ACCEPTED
    assert Outcome.ACCEPTED in caught.values()


def test_the_judge_gets_the_certificate_bound_to_the_mutant():
    seen = []

    def judge(found: Statement, certificate: dict[str, object]) -> object:
        seen.append((found.hash, certificate["statement"]))
        raise Rejected("no")

    ended(PRODUCT, judge)
    assert seen
    assert all(mutant == bound for mutant, bound in seen)


def test_a_crash_of_the_judge_is_not_a_rejection():
    def crash(_statement: Statement, _certificate: dict[str, object]) -> object:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ended(PRODUCT, crash)


def test_an_unused_hypothesis_may_change():
    class Report:
        hypotheses_used = frozenset({0})

    found = statement(LINES + "assume a > 0\nassume b > 0\nshow a^2 > 0")
    certificate = {"statement": found.hash, "nodes": [], "steps": []}
    for m in mutants(found):
        if m.part == "hypothesis 2" and m.new is not None:
            outcome = classify(m, found, certificate, lambda *_: Report()).outcome
            assert outcome in (Outcome.EQUIVALENT, Outcome.ILLTYPED)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a*b = b", "b*a = b", True),
        ("a*b + a = b", "a + a*b = b", True),
        ("A*B = C", "B*A = C", False),
        ("a*A*B = C", "A*a*B = C", True),
        ("A*(a*B) = C", "a*A*B = C", True),
        ("a - b = b", "b - a = b", False),
        ("a*(b + 1) = b", "(1 + b)*a = b", True),
        ("a^b = b", "b^a = b", False),
    ],
)
def test_order_of_scalars_and_summands_is_seen_through(one, other, same):
    first, second = (statement(f"{LINES}show {g}") for g in (one, other))
    assert same_up_to_order(first, second) is same


def test_a_mutant_that_is_true_is_equivalent_when_it_is_proved():
    found = statement(LINES + "assume symmetric(A)\nshow A + B = B + A.T")
    outcomes = {
        m.where: classify(m, found, prove=lambda s: not isinstance(prove(s, 2), Failure))
        for m in mutants(found)
    }
    proved = [c for c in outcomes.values() if c.reason == "proved too"]
    assert proved
    assert all(c.outcome is Outcome.EQUIVALENT for c in proved)


def test_a_closed_statement_is_decided_by_its_value():
    found = statement("show norm2(block([[1, -1]])) = 2")
    outcomes = [classify(m, found) for m in mutants(found)]
    assert {c.outcome for c in outcomes} <= {Outcome.ILLTYPED, Outcome.REFUTED, Outcome.EQUIVALENT}
    assert Outcome.EQUIVALENT in {c.outcome for c in outcomes}  # 1 -> -1


THEOREMS = [
    PRODUCT,
    LINES + "assume symmetric(A)\nassume idempotent(A)\n"
    "show (eye(n) - A)*(eye(n) - A).T = eye(n) - A",
    "let n, k : dimension\nlet A : matrix(n, k)\nshow pinv(A)*A*A.T = A.T",
    "let a, b : real\nassume a + b != 0\nshow (a^2 - b^2)/(a + b) = a - b",
    "let n : dimension\nlet m : vector(n)\nlet S : matrix(n, n)\nassume positive_semidefinite(S)\n"
    "let a : real\nlet X : gaussian(m, S)\nshow cov(a*X, X) = a*S",
]


@pytest.mark.parametrize("text", THEOREMS)
def test_no_mutant_of_a_theorem_passes_with_its_certificate(text):
    found = statement(text)
    certificate = prove(found, 10)
    assert not isinstance(certificate, Failure), certificate
    check(found, certificate)
    for mutant in mutants(found):
        result = classify(mutant, found, certificate, check)
        assert result.outcome is not Outcome.ACCEPTED, str(mutant)
        if result.outcome is Outcome.REFUTED and isinstance(result.witness, Refutation):
            assert result.witness.statement is mutant.statement


def test_an_outcome_prints_as_its_name():
    found = statement("let a : real\nshow a = a")
    mutant = next(iter(mutants(found)))
    assert isinstance(mutant, Mutant)
    assert str(classify(mutant, found)) in {o.value for o in Outcome}
