"""The tables of both texts' items, docs/first_block.md and docs/in_context.md, say what is so.

`python -m tests.test_item_tables` writes them anew.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from experiments.catalogue import NAMES, find
from experiments.study import Study
from proofs.library import Library, Theorem
from proofs.report import stated_sizes
from proofs.verdict import Verdict

ROOT = Path(__file__).parents[1]
RENEW = "python -m tests.test_item_tables"
# Proved as a whole; proved as an algebraic core; a procedure or a figure, computed and tested;
# about laws and limits that statements can't name.
ALGEBRAIC, CORE, NUMERIC, ANALYSIS = "algebraic", "algebraic core", "numeric", "analysis"
ONE_FLOW = "that the flow's equation has one solution"
FIRST_BLOCK = {
    "FB-1": (ALGEBRAIC, ""),
    "FB-2": (CORE, "Bayes' rule for densities"),
    "FB-3": (ALGEBRAIC, ""),
    "FB-4": (CORE, "densities on a subspace of lower dimension"),
    "FB-5": (ALGEBRAIC, ""),
    "FB-6": (ALGEBRAIC, ""),
    "FB-7": (ALGEBRAIC, ""),
    "FB-8": (CORE, "given the log-ratios the row is a constant (disintegration)"),
    "FB-9": (CORE, "the chain rule for densities"),
    "FB-10": (CORE, "the change of variables along the fibres"),
    "FB-11": (CORE, "the change of variables"),
    "FB-12": (CORE, "the supremum over all mixtures in (g); (f) is numeric"),
    "FB-13": (CORE, "almost every observation"),
    "FB-13b": (CORE, "zero sets of analytic functions; the generic rank is numeric"),
    "FB-14": (ALGEBRAIC, ""),
    "FB-15": (CORE, "the expectation over observations; psi is numeric"),
    "FB-16": (CORE, "independence of more than two exponentials"),
    "FB-17": (ALGEBRAIC, ""),
    "FB-17b": (ALGEBRAIC, ""),
    "FB-28": (CORE, "the limit t to 0 in (b), integrals over t in (j)"),
    "FB-29": (CORE, "integrals over cells of more than one dimension are numeric"),
}
IN_CONTEXT = {
    "EB-1": (NUMERIC, ""),
    "EB-2": (CORE, "that convolution with the kernel is the law with noise"),
    "EB-3": (CORE, "priors other than atoms and Gaussians"),
    "EB-4": (ANALYSIS, "equations of laws; EB-6 is what is computed of them"),
    "EB-5": (CORE, "laws other than Gaussians"),
    "EB-6": (ALGEBRAIC, ""),
    "EB-7": (ALGEBRAIC, ""),
    "EB-8": (CORE, ONE_FLOW),
    "EB-9": (CORE, ONE_FLOW),
    "EB-10": (CORE, "the remainder of second order"),
    "EB-11": (CORE, "laws other than Gaussians, and the remainder"),
    "EB-12": (CORE, "the onset of clusters, which is a rule of thumb"),
    "EB-13": (ALGEBRAIC, ""),
    "EB-14": (ALGEBRAIC, ""),
    "EB-15": (CORE, "steps and weights are proved; the algorithm is computed"),
    "EB-16": (CORE, "both clocks' ends are proved; the flow is computed"),
    "EB-17": (NUMERIC, ""),
    "EB-18": (CORE, "from small steps to the flow"),
    "EB-19": (ALGEBRAIC, ""),
    "EB-20": (CORE, "limits of beta, which are tested"),
    "EB-21": (ALGEBRAIC, ""),
    "EB-22": (ALGEBRAIC, ""),
    "EB-23": (CORE, "integrals against laws that have no atoms"),
    "EB-24": (CORE, "that one identity for all laws gives the equation at every point"),
    "EB-25": (ANALYSIS, "a choice of the kernel's covariance"),
    "EB-26": (CORE, "Bayes' rule for densities"),
    "EB-27": (CORE, "Bayes' rule for densities"),
    "EB-28": (CORE, "the expectation over observations, which is a quadrature"),
    "EB-29": (ANALYSIS, "weak solutions of an equation of laws"),
    "EB-30": (CORE, "laws other than finitely many atoms"),
    "EB-31": (CORE, "the duality of W1, and that means converge"),
    "EB-32": (CORE, "laws other than finitely many atoms"),
    "EB-33": (CORE, "the duality of W1"),
    "EB-34": (CORE, "Picard's iteration"),
    "EB-35": (ANALYSIS, "rates of empirical laws"),
    "EB-36": (CORE, "the duality of W1"),
    "EB-37": (CORE, "the coupling along rays, and more than one dimension"),
    "EB-38": (CORE, "the duality of W1"),
    "EB-39": (ANALYSIS, "a class of priors, and limits of limits"),
    "EB-40": (CORE, ONE_FLOW),
    "EB-41": (CORE, ONE_FLOW),
    "EB-42": (ALGEBRAIC, ""),
    "EB-43": (CORE, "the remainder of fourth order"),
    "EB-44": (CORE, "the rate at which it falls"),
    "EB-45": (ALGEBRAIC, ""),
    "EB-46": (CORE, "laws other than finitely many atoms"),
    "EB-47": (ANALYSIS, "tails of incomplete gamma functions"),
    "EB-48": (CORE, "the cut-offs and the tails"),
    "EB-49": (CORE, "test functions along a flow, and Osgood's lemma itself"),
    "EB-50": (CORE, "the remainder of third order"),
    "EB-51": (CORE, "the rate at which it falls"),
    "EB-52": (CORE, "that the best coupling is the one of the eigenbasis"),
    "EB-53": (NUMERIC, ""),
    "EB-54": (NUMERIC, ""),
    "EB-55": (NUMERIC, ""),
    "EB-56": (NUMERIC, ""),
    "EB-57": (NUMERIC, ""),
    "EB-58": (ALGEBRAIC, ""),
    "EB-59": (NUMERIC, ""),
}
KINDS = """*Algebraic* items are proved as they stand, for all sizes that a theorem names. Of others
the *algebraic core* is proved, and the third column names what besides is taken from analysis, or
is numeric. *Numeric* items are procedures and figures: code, tests and studies. Items of *analysis*
alone are not proved here. A theorem's items stand in its file; verdicts are the library's. Studies
are run by `python -m experiments run NAME`.
"""
COLUMNS = (
    "item", "kind", "left out of the proofs", "theorem", "verdict", "sizes", "kernels", "modules",
    "tests", "experiments",
)  # fmt: skip


@dataclass(frozen=True)
class Page:
    """A table of items: each one's kind, and what is left out of its proofs."""

    name: str
    title: str
    items: Mapping[str, tuple[str, str]]

    @property
    def path(self) -> Path:
        return ROOT / "docs" / self.name

    def text(self, library: Library) -> str:
        """The page as it should be."""
        heading = "| " + " | ".join(COLUMNS) + " |"
        rule = "|" + "---|" * len(COLUMNS)
        rows = [line for item in self.items for line in self._lines(library, item)]
        return "\n".join([f"# {self.title}", "", KINDS, heading, rule, *rows]) + "\n"

    def _lines(self, library: Library, item: str) -> list[str]:
        shown = [
            (
                theorem.name,
                library.verdict(theorem).value,
                stated_sizes(theorem.statements[0]),
                ", ".join(theorem.kernel),
            )
            for theorem in theorems_of(library, item)
        ]
        places = (
            files_that_name(item, "numeric"),
            files_that_name(item, "tests"),
            studies_of(item),
        )
        lines = []
        for place, cells in enumerate(shown or [("", "", "", "")]):
            head, tail = ("", "", ""), ("", "", "")
            if not place:
                head, tail = (item, *self.items[item]), places
            lines.append("| " + " | ".join((*head, *cells, *tail)) + " |")
        return lines


PAGES = (
    Page("first_block.md", "The exact first block: what is proved of each item", FIRST_BLOCK),
    Page("in_context.md", "In-context empirical Bayes: where each item lives", IN_CONTEXT),
)


@functools.cache
def sources(folder: str) -> dict[str, str]:
    """Texts of the tests, or of the modules that a person wrote, by their paths."""
    pattern = "test_*.py" if folder == "tests" else "*.py"
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / folder).rglob(pattern))
        if path != Path(__file__) and "kernels" not in path.parts
    }


def names(item: str, text: str) -> bool:
    return re.search(rf"\b{item}(?![0-9a-z])", text) is not None


def files_that_name(item: str, folder: str) -> str:
    return ", ".join(path for path, text in sources(folder).items() if names(item, text))


@functools.cache
def all_studies() -> tuple[Study, ...]:
    return tuple(find(name) for name in NAMES)


@functools.cache
def the_library() -> Library:
    """One for all tests: each verdict is found once."""
    return Library()


def studies_of(item: str) -> str:
    return ", ".join(s.name for s in all_studies() if item in s.shows or names(item, s.item))


def theorems_of(library: Library, item: str) -> list[Theorem]:
    return [theorem for theorem in library if item in theorem.items]


def rows(text: str) -> dict[tuple[str, str], list[str]]:
    """Cells by item and theorem."""
    found: dict[tuple[str, str], list[str]] = {}
    item = ""
    for line in text.split("|---|\n")[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        item = cells[0] or item
        found[item, cells[3]] = cells
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_says_is_so(page: Page):
    """Theorems, tests and modules that are newer may be missing; nothing in it is wrong."""
    shown = rows(page.path.read_text(encoding="utf-8"))
    now = rows(page.text(the_library()))
    assert {item for item, _ in shown} == page.items.keys(), RENEW
    for key, cells in shown.items():
        assert key in now, f"{key}: {RENEW}"
        wanted = now[key]
        assert [*cells[:7], cells[9]] == [*wanted[:7], wanted[9]], f"{key}: {RENEW}"
        for name in filter(None, [*cells[7].split(", "), *cells[8].split(", ")]):
            assert names(key[0], (ROOT / name).read_text(encoding="utf-8")), f"{key}, {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_item_is_held_as_its_kind_says(page: Page):
    """Its verdicts are read off the page, which the test above holds to the library."""
    shown = rows(page.path.read_text(encoding="utf-8"))
    for item, (kind, _) in page.items.items():
        verdicts = {cells[4] for (of, theorem), cells in shown.items() if of == item and theorem}
        if kind in (ALGEBRAIC, CORE):
            assert verdicts, item
            assert verdicts <= {Verdict.PROVED.value, Verdict.CONDITIONAL.value}, item
        else:
            assert not verdicts, item
        if kind == NUMERIC:
            assert files_that_name(item, "tests") or studies_of(item), item


def test_no_theorem_of_a_text_is_of_an_item_that_no_page_has():
    held = {item for page in PAGES for item in page.items}
    for theorem in the_library():
        assert {i for i in theorem.items if i.startswith("EB-")} <= held, theorem.name


if __name__ == "__main__":
    for one in PAGES:
        one.path.write_text(one.text(the_library()), encoding="utf-8")
