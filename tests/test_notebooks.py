"""Each notebook says what its paired script says, and was run from top to bottom.

That it still runs is seen in CI, by `pytest --nbmake`. `python -m tests.test_notebooks [NAME...]`
makes the notebooks anew from their scripts; it needs the extra `notebooks`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
SCRIPTS = sorted(FOLDER.glob("*.py"))
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def script_cells(path: Path) -> list[tuple[str, str]]:
    """The cells of a script in percent format: kind and source."""
    _, *parts = re.split(r"(?m)^# %%", path.read_text(encoding="utf-8"))
    cells = []
    for part in parts:
        marker, _, source = part.partition("\n")
        if marker.strip() == "[markdown]":
            text = re.sub(r"(?m)^# ?", "", source.strip("\n"))
            cells.append(("markdown", text))
        else:
            cells.append(("code", source.strip("\n")))
    return cells


def cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def test_every_notebook_has_its_script():
    assert [p.stem for p in NOTEBOOKS] == [p.stem for p in SCRIPTS] != []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_says_what_its_script_says(path: Path):
    shown = [(cell["cell_type"], "".join(cell["source"])) for cell in cells(path)]
    assert shown == script_cells(path.with_suffix(".py"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_kept_with_the_outputs_of_one_run(path: Path):
    code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert all(cell["metadata"] == {} for cell in code)  # no times of execution
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]
    assert any("image/png" in o.get("data", {}) for o in outputs)


def renew(names: list[str]) -> None:
    """Run scripts as notebooks, all without names; keep the outputs but what differs each time."""
    import jupytext
    import nbformat
    from nbconvert.preprocessors import ExecutePreprocessor

    for script in SCRIPTS:
        if names and script.stem not in names:
            continue
        notebook = jupytext.read(script)
        runner = ExecutePreprocessor(timeout=300, record_timing=False, coalesce_streams=True)
        runner.preprocess(notebook, {"metadata": {"path": str(FOLDER)}})
        notebook.metadata.pop("language_info", None)  # the interpreter's version
        notebook.metadata["jupytext"] = {"formats": "ipynb,py:percent"}
        for place, cell in enumerate(notebook.cells):
            cell["id"] = f"cell-{place}"
        nbformat.write(notebook, script.with_suffix(".ipynb"))
        print(f"wrote {script.with_suffix('.ipynb').name}")


if __name__ == "__main__":
    renew(sys.argv[1:])
