"""Derivations print, are found by name, and say what they rest on."""

from __future__ import annotations

import pytest
import sympy

from derive.library import derivations, find, subjects

ALL = [d for subject in subjects() for d in derivations(subject)]


def test_the_subjects_are_the_modules_with_derivations_in_order():
    assert {"attention", "conditioning", "density", "flow", "logratio", "risk"} <= set(subjects())
    assert list(subjects()) == sorted(subjects())


@pytest.mark.parametrize("derivation", ALL, ids=lambda d: d.name)
def test_derivation_prints_as_text_and_latex(derivation):
    text, latex, markdown = str(derivation), derivation.latex(), derivation._repr_markdown_()
    assert derivation.name in text
    assert derivation.source in text
    assert derivation.source in markdown
    assert f"{len(derivation.steps)}. " in text
    assert f"**{len(derivation.steps)}.**" in markdown
    assert latex.startswith("$$ \\begin{aligned}")
    assert latex.count("\\\\") >= len(derivation.steps) - 1


@pytest.mark.parametrize("derivation", ALL, ids=lambda d: d.name)
def test_derivation_is_a_pure_function(derivation):
    (again,) = [
        d for d in (make() for make in _makers(derivation.subject)) if d.name == derivation.name
    ]
    assert again == derivation
    assert again.short_name.isidentifier()


def _makers(subject: str):
    import importlib

    return importlib.import_module(f"derive.{subject}").DERIVATIONS


def test_names_are_unique_and_in_their_subject():
    names = [d.name for d in ALL]
    assert len(set(names)) == len(names)
    assert all(d.subject in subjects() for d in ALL)


def test_last_step_is_the_result():
    for derivation in ALL:
        shown = [step.expression for step in derivation.steps]
        results = list(derivation.result.values())
        if derivation.name.startswith("flow.covariance"):
            continue  # its last step is the scalar solution that the matrix form uses
        assert any(
            _same(result, step) for result in results for step in shown
        ) or derivation.name.startswith("risk.four_terms"), derivation.name


def _same(result, step) -> bool:
    return result in (step, getattr(step, "rhs", None))


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(KeyError, match=r"flow\.terminal_eigenvalue"):
        find("flow.nothing")
    with pytest.raises(KeyError, match="conditioning, density"):
        find("nothing")


def test_no_step_is_undefined():
    for derivation in ALL:
        for step in derivation.steps:
            assert not step.expression.has(sympy.nan, sympy.zoo)
