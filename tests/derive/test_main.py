"""`python -m derive`: lists, shows, emits, and checks with an exit status."""

from __future__ import annotations

from pathlib import Path

from derive.__main__ import main
from derive.emit.rules import all_forms
from derive.library import derivations, subjects


def test_list_has_every_derivation_with_its_hash(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == sum(len(derivations(subject)) for subject in subjects())
    assert all("sha256:" in line for line in lines)
    assert any(line.startswith("flow.eigenvalue_main_clock") and "kernel" in line for line in lines)


def test_show_prints_the_steps(capsys):
    assert main(["show", "conditioning.residual_cov"]) == 0
    assert "t**2*(I - pinv(M)*M)" in capsys.readouterr().out
    assert main(["show", "conditioning.residual_cov", "--latex"]) == 0
    assert "\\begin{aligned}" in capsys.readouterr().out


def test_show_of_an_unknown_name_says_what_there_is(capsys):
    assert main(["show", "flow.nothing"]) == 2
    assert "flow.terminal_eigenvalue" in capsys.readouterr().err


def test_rules_lists_the_rule_book(capsys):
    assert main(["rules"]) == 0
    whole = capsys.readouterr().out
    for form in all_forms():
        assert main(["rules", form.name]) == 0
        part = capsys.readouterr().out
        assert part in whole
        words = " ".join(part.split())
        for told in (form.name, form.equality, form.domain, form.why, *form.theorems):
            assert told in words
    assert main(["rules", "nothing"]) == 2
    assert "max_shift" in capsys.readouterr().err


def test_check_prints_a_diff_and_fails_where_bytes_differ(tmp_path: Path, capsys):
    assert main(["emit", "--folder", str(tmp_path)]) == 0
    with_kernels = [s for s in subjects() if any(d.kernel for d in derivations(s))]
    assert capsys.readouterr().out.count("wrote") == len(with_kernels)
    assert main(["emit", "--check", "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""
    (tmp_path / "risk.py").write_text("x = 1\n")
    assert main(["emit", "--check", "--folder", str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("--- on disk/risk.py")
    assert (tmp_path / "risk.py").read_text() == "x = 1\n"  # a check changes nothing
