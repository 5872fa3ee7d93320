"""The table of the first block's items in docs/first_block.md says what the library does.

`python -m tests.test_first_block_table` writes it anew.
"""

from __future__ import annotations

import re
from pathlib import Path

from experiments.catalogue import NAMES, find
from experiments.study import Study
from proofs.library import Library, Theorem
from proofs.report import stated_sizes
from proofs.verdict import Verdict

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "first_block.md"
ALGEBRAIC, CORE = "algebraic", "algebraic core"
# Each item: whether it is proved as a whole, or as an algebraic core; and what the core leaves out.
ITEMS: dict[str, tuple[str, str]] = {
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
HEADING = (
    "| item | kind | left out of the proofs | theorem | verdict | sizes | kernels | tests "
    "| experiments |"
)


def table(library: Library) -> str:
    """The rows: each item with the theorems that name it, as the library judges them."""
    lines = [HEADING, "|" + "---|" * HEADING.count(" | ") + "---|"]
    sources = {path: path.read_text(encoding="utf-8") for path in _tests()}
    for item, (kind, left_out) in ITEMS.items():
        named = re.compile(rf"\b{item}(?![0-9a-z])")
        tests = ", ".join(
            str(p.relative_to(ROOT)) for p, text in sources.items() if named.search(text)
        )
        studies = ", ".join(study.name for study in _studies() if item in study.shows)
        for place, theorem in enumerate(_of(library, item)):
            head = (item, kind, left_out) if not place else ("", "", "")
            cells = (
                *head,
                theorem.name,
                library.verdict(theorem).value,
                stated_sizes(theorem.statements[0]),
                ", ".join(theorem.kernel),
                tests if not place else "",
                studies if not place else "",
            )
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _tests() -> list[Path]:
    return sorted(p for p in (ROOT / "tests").rglob("test_*.py") if p != Path(__file__))


def _studies() -> list[Study]:
    return [find(name) for name in NAMES]


def _of(library: Library, item: str) -> list[Theorem]:
    return [t for t in library if item in t.items]


def page(library: Library) -> str:
    return f"""# The exact first block: what is proved of each item

*Algebraic* items are proved as they stand, for all sizes that a theorem names. Of the others the
*algebraic core* is proved, and the third column names what besides it is taken from measure theory,
or is numeric. A theorem's items stand in its file; verdicts are the library's. The experiments are
run by `python -m experiments run NAME`.

{table(library)}"""


def rows(text: str) -> dict[tuple[str, str], tuple[list[str], str]]:
    """By item and theorem: verdict, sizes, kernels and studies; and the tests."""
    found: dict[tuple[str, str], tuple[list[str], str]] = {}
    item = ""
    for line in text.split("|---|\n")[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        item = cells[0] or item
        found[item, cells[3]] = ([*cells[4:7], cells[8]], cells[7])
    return found


def test_what_the_page_says_is_so() -> None:
    """Theorems and tests that are newer than the page may be missing; nothing in it is wrong."""
    renew = "python -m tests.test_first_block_table"
    shown, now = rows(PAGE.read_text(encoding="utf-8")), rows(page(Library()))
    assert {item for item, _ in shown} == ITEMS.keys(), renew
    for key, (said, tests) in shown.items():
        assert key in now, f"{key}: {renew}"
        assert said == now[key][0], f"{key}: {renew}"
        for name in filter(None, tests.split(", ")):
            text = (ROOT / name).read_text(encoding="utf-8")
            assert re.search(rf"\b{key[0]}(?![0-9a-z])", text), f"{key}, {name}: {renew}"


def test_each_item_has_theorems_and_they_are_proved() -> None:
    library = Library()
    for item in ITEMS:
        theorems = _of(library, item)
        assert theorems, item
        assert {library.verdict(t) for t in theorems} <= {Verdict.PROVED, Verdict.CONDITIONAL}, item


if __name__ == "__main__":
    PAGE.write_text(page(Library()), encoding="utf-8")
