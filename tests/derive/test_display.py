"""A derivation as a notebook shows it."""

from __future__ import annotations

from derive.library import derivations, find, subjects


def test_steps_are_numbered_and_give_their_reason():
    shown = find("flow.denoising_time_main_clock")._repr_markdown_()
    assert r"**flow.denoising\_time\_main\_clock**: exact Gaussian denoising time" in shown
    assert "**1.** Write the invariant at both ends *(invariant)*" in shown
    assert "**Result**" in shown


def test_symbols_look_as_in_the_texts():
    shown = find("flow.denoising_time_main_clock")._repr_markdown_()
    assert r"t = \frac{\sigma^{2}}{2} +" in shown
    assert "sigma_{2}" not in shown


def test_every_derivation_can_be_shown():
    for subject in subjects():
        for derivation in derivations(subject):
            shown = derivation._repr_markdown_()
            assert shown.count("$$") == 2 * (len(derivation.steps) + 1)
            assert derivation.title in str(derivation)
