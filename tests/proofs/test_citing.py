"""Goals that use the goals before them and theorems of the library; what may not be cited."""

from __future__ import annotations

from pathlib import Path

from proofs.checker.judge import check
from proofs.decide import decide
from proofs.explain import explain_file
from proofs.files import decide_file
from proofs.language.parser import parse
from proofs.library import Lemma, write_certificates
from proofs.search import Failure, prove
from proofs.verdict import Verdict

STEPS = """
let beta, s, q : positive
define delta = lambertw(beta*(s + q)*exp(beta*s))/beta - s
show beta*delta = log((s + q)/s) - log(1 + delta/s)
show log(1 + delta/s) >= 0
show beta*delta <= log((s + q)/s)
"""
# False, so that nothing but citing it shows what follows from it.
LEMMA = parse("let a, b : real\nassume a >= b + 1\nshow cos(a) >= cos(b)\n").statements[0]
GENERAL = "let x, y : real\nassume x*y >= y^2 + 1\nshow cos(x*y) >= cos(y^2)\n"
FERMAT = "let a, b, c, p : dimension\nassume p >= {}\nshow a^p + b^p != c^p\n"


def decided(tmp_path: Path, text: str, write: bool = False):
    path = tmp_path / "steps.thm"
    path.write_text(text)
    return decide_file(path, seconds=10, certificates=tmp_path / "out", write=write)


def test_a_goal_uses_the_goals_before_it(tmp_path: Path):
    answers = decided(tmp_path, STEPS, write=True)
    assert [a.verdict for a in answers] == [Verdict.PROVED] * 3
    last = answers[-1]
    assert last.statement is not None
    assert answers[1].statement in [lemma.statement for lemma in last.lemmas]
    again = decided(tmp_path, STEPS)  # by the certificates beside the file
    assert [set(a.lemmas) for a in again] == [set(a.lemmas) for a in answers]
    assert "theorem statement.steps" in str(explain_file(tmp_path / "steps.thm"))


def test_a_goal_that_does_not_hold_is_not_cited(tmp_path: Path):
    false, lean = decided(tmp_path, "let x : real\nshow x = 1\nshow x^2 = 1\n")
    assert (false.verdict, lean.verdict) == (Verdict.REFUTED, Verdict.REFUTED)


def test_goals_that_cite_each_other_are_not_believed(tmp_path: Path):
    text = "let x : real\nshow x = x + 1\nshow x + 1 = x\n"
    one, other = parse(text).statements

    def leaning(statement, lemma):
        return {
            "statement": statement.hash,
            "nodes": [],
            "steps": [{"rule": "lemma", "statement": lemma.hash, "subst": {"x": 0}, "by": []}],
        }

    write_certificates(tmp_path / "steps.json", [leaning(one, other), leaning(other, one)])
    answers = decided(tmp_path, text)
    assert {a.verdict for a in answers} == {Verdict.REFUTED}


def test_a_theorem_is_used_by_name(tmp_path: Path):
    text = """#! uses: flow.terminal_bounds
let b, q, r : positive
show lambertw(b*(q + r)*exp(b*q))/b - q <= log((q + r)/q)/b
"""
    (answer,) = decided(tmp_path, text)
    assert answer.verdict is Verdict.PROVED
    assert answer.judgement is not None
    assert answer.judgement.lemmas == {"flow.terminal_bounds"}


def test_an_unknown_theorem_is_named(tmp_path: Path):
    (answer,) = decided(tmp_path, "#! uses: flow.slope_gab\nshow 1 = 1\n")
    assert answer.verdict is Verdict.ILL_POSED
    assert "flow.slope_gab" in answer.message
    assert "did you mean flow.slope_gap" in answer.message


def test_a_lemma_is_matched_by_its_hypotheses():
    (goal,) = parse(GENERAL).statements
    found = prove(goal, 5, {LEMMA.hash: LEMMA})
    assert not isinstance(found, Failure)
    assert check(goal, found, {LEMMA.hash: LEMMA}).lemmas == {LEMMA.hash}
    (false,) = parse(GENERAL.replace("y^2 + 1", "y^2 - 1")).statements
    assert isinstance(prove(false, 2, {LEMMA.hash: LEMMA}), Failure)


def test_a_lemma_uses_what_another_brought_and_takes_its_sizes_from_matrices():
    """The hypothesis of one is the goal of the other, whichever comes first; k is a size alone."""
    (product,) = parse(
        "let k, r : dimension\nlet B : matrix(k, r)\nlet C : matrix(r, k)\n"
        "assume C*B = eye(r)\nshow tr(B*C) = r + 1\n"  # false, so that it has to be cited
    ).statements
    (inverse,) = parse(
        "let p, q : dimension\nlet U : matrix(p + q, p)\nshow U.T*U = eye(p)\n"  # false too
    ).statements
    (goal,) = parse(
        "let p, q : dimension\nlet U : matrix(p + q, p)\nshow tr(U*U.T) = p + 1\n"
    ).statements
    for lemmas in ((product, inverse), (inverse, product)):
        by_hash = {lemma.hash: lemma for lemma in lemmas}
        found = prove(goal, 5, by_hash)
        assert not isinstance(found, Failure)
        assert check(goal, found, by_hash).lemmas == by_hash.keys()


def test_a_name_of_a_lemma_may_be_any_word():
    text = "let self, hash_ : real\nassume self >= hash_\nshow cos(self) >= {}\n"
    (lemma,), (goal,) = (parse(text.format(least)).statements for least in (2, 1))
    assert not isinstance(prove(goal, 5, {lemma.hash: lemma}), Failure)


def test_a_goal_about_families_and_functions_is_used(tmp_path: Path):
    text = """let n, d : dimension
let f : function(real)
let t : real
let z : vector(d) for j in 1..n
let q : vector(d)
let b : positive
define far = vector(-b*norm2(q - z[j]), j, 1, n)
show logsumexp(far) >= max(far)
show f(t) + logsumexp(far) >= f(t) + max(far)
"""
    first, second = decided(tmp_path, text)
    assert second.verdict is Verdict.PROVED
    (goal,) = parse(text.replace("show logsumexp(far) >= max(far)\n", "")).statements
    lemma = first.statement
    assert lemma is not None
    found = prove(goal, 5, {lemma.hash: lemma})
    assert not isinstance(found, Failure)
    check(goal, found, {lemma.hash: lemma})


def test_what_leans_on_a_cited_fact_is_conditional():
    (goal,), (fermat,) = (parse(FERMAT.format(least)).statements for least in (5, 3))
    answer = decide(goal, lemmas=[Lemma("cited.fermat", fermat, frozenset({"cited.fermat"}))])
    assert answer.verdict is Verdict.CONDITIONAL
    assert answer.judgement is not None
    assert answer.judgement.axioms == {"cited.fermat"}
