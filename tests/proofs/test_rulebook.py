"""`python -m proofs rules`: the list of rules that a proof may cite, as it is written."""

from __future__ import annotations

import pytest

from proofs.__main__ import main
from proofs.checker.rules import find_rule, rule_texts
from proofs.language.parser import parse
from proofs.rulebook import UnknownRule, contents, rule, sections, sources


def test_every_rule_stands_in_one_section():
    listed = [name for names in sections().values() for name in names]
    assert listed == list(rule_texts())
    assert "" not in sections()
    assert "derivatives" in sections()


def test_every_section_says_whom_it_follows():
    assert list(sources()) == list(sections())
    assert all(sources().values())
    assert "Penrose" in str(rule("penrose_1"))


@pytest.mark.parametrize("name", list(rule_texts()))
def test_what_is_printed_of_a_rule_is_the_rule(name: str):
    found = rule(name)
    assert parse(found.text).statements == (find_rule(name),)
    assert "----" not in found.text
    assert name in sections()[found.section]
    assert found.latex().startswith(r"\begin{gathered}")


def test_the_list_shows_each_rule_in_one_line():
    lines = contents().splitlines()
    assert lines[0].startswith(f"{len(rule_texts())} rules;")
    shown = [line.split()[0] for line in lines if line.startswith("  ")]
    assert shown == list(rule_texts())
    assert max(map(len, lines)) <= 120
    assert "  inv_left" in contents() and "inv(A)*A = eye(n)" in contents()


def test_an_unknown_rule_is_told_what_is_near():
    with pytest.raises(UnknownRule, match="near it: inv_left"):
        rule("inv_lef")
    with pytest.raises(UnknownRule, match="there is no rule '=='"):
        rule("==")


def test_the_command_lists_and_prints(capsys):
    assert main(["rules"]) == 0
    assert capsys.readouterr().out == contents() + "\n"
    assert main(["rules", "inv_left", "unit_push"]) == 0
    assert capsys.readouterr().out == f"{rule('inv_left')}\n\n{rule('unit_push')}\n"
    assert main(["rules", "inv_left", "--latex"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("% inv_left\n\\begin{gathered}") and r"\mathbf{A}^{-1}" in out


def test_the_whole_list_as_latex(capsys):
    assert main(["rules", "--latex"]) == 0
    assert capsys.readouterr().out.count("\n% ") == len(rule_texts()) - 1


def test_the_command_refuses_what_there_is_not(capsys):
    assert main(["rules", "inv_lef"]) == 2
    out, err = capsys.readouterr()
    assert not out and "there is no rule 'inv_lef'" in err
