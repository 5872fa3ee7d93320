"""What the README shows is what the commands print."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from derive.library import derivations, subjects
from experiments.__main__ import main as run_experiments
from proofs.__main__ import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.compile(r"```console\n\$ python -m proofs (.*)\n((?:.*\n)*?)```")
CONSOLES = CONSOLE.findall(README)
SWEEP = re.compile(r"```console\n\$ python -m experiments (.*)\n((?:.*\n)*?)```")
QUERY = re.compile(r"```bash\nsqlite3 (\S+) \"((?:.*\n)*?.*)\"\n```")
KERNELS = re.compile(r"(<!-- kernels -->\n)(.*?)(<!-- /kernels -->)", re.DOTALL)
HEADINGS = (
    "| kernel | time | of lambdify | of numba | of jax | worst error | by hand | of lambdify |"
)
TIMED = ("kernel", "lambdify cse", "numba", "jax")


def steady(output: str) -> str:
    """Without what differs from run to run: seconds, counts and errors, where certificates go."""
    output = re.sub(r"\(\d+\.\d+ s\)", "(... s)", output)
    output = re.sub(r"\d+\.\d+ s of computing", "... s of computing", output)
    output = re.sub(r" +\d+ +(exact|-|\S+e-\d+) +\d+/\d+ +\d+\.\d+$", " ...", output, flags=re.M)
    output = re.sub(r"(steps|step), .*\.json", r"\1, ...", output)
    return re.sub(r" +", " ", re.sub(r"--+", "--", output)).strip()


@pytest.mark.parametrize(("command", "shown"), CONSOLES, ids=[c for c, _ in CONSOLES])
def test_a_command_prints_what_the_readme_shows(
    command: str, shown: str, capsys, monkeypatch, tmp_path: Path
):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    main(shlex.split(command))
    assert steady(capsys.readouterr().out) == steady(shown)


def test_the_sweep_prints_what_the_readme_shows_and_its_query_reads_it(
    capsys, monkeypatch, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    ((command, shown),) = SWEEP.findall(README)
    assert run_experiments(shlex.split(command)) == 0
    assert steady(capsys.readouterr().out) == steady(shown)
    ((path, query),) = QUERY.findall(README)
    with contextlib.closing(sqlite3.connect(path)) as file:
        rows = file.execute(query).fetchall()
    lines = [line.split("|") for line in shown.splitlines() if line.startswith("  | 0.01 |")]
    for row, line in zip(rows, lines, strict=True):
        _, _, _, sigma2, beta, tokens, _, distance, *_ = (cell.strip() for cell in line)
        assert (*row[:3], row[4]) == (float(beta), float(sigma2), int(tokens), 4)
        assert f"{row[3]:.4f}" == distance.split()[0]


def test_python_answers_what_the_readme_shows():
    blocks = re.findall(r"```pycon\n(.*?)```", README, re.DOTALL)
    assert blocks
    parser = doctest.DocTestParser()
    for block in blocks:
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(parser.get_doctest(block, {}, "README.md", None, None))
        assert runner.summarize(verbose=False).failed == 0


def test_the_readme_shows_commands_and_real_files():
    assert len(CONSOLES) >= 2
    for path in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / path).exists(), path
    (statement,) = re.findall(r"```\n(# The push-through(?:.*\n)*?)```", README)
    assert statement == (ROOT / "docs/examples/push_through.thm").read_text()


def test_the_table_of_kernels_lists_every_kernel():
    emitted = [d.name for s in subjects() for d in derivations(s) if d.kernel]
    found = KERNELS.search(README)
    assert found is not None
    assert sorted(re.findall(r"^\| `(\S+)` \|", found[2], re.M)) == sorted(emitted)


def kernel_table(rows: list[dict[str, Any]]) -> str:
    """What the benchmark of the kernels found, as Markdown."""
    lines = [HEADINGS, "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        times = [row["ratios"][key] for key in TIMED]
        cells = ["-" if time is None else f"{time:.2f}" for time in times]
        for key in ("kernel", "hand-written", "lambdify cse"):
            errors = [by[key] for by in row["errors"].values()]
            if None in errors:
                cells.append("-")
            elif "inf" in errors or max(errors) >= 0.1:
                cells.append("fails")
            else:
                cells.append(f"{max(errors):.0e}")
        lines.append(f"| `{row['name']}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def renew(with_kernels: bool) -> None:
    """Put what the commands print now into the README: `python -m tests.test_readme [kernels]`.

    With `kernels` the benchmark is run too; that takes minutes.
    """

    def printed(match: re.Match[str]) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            main(shlex.split(match[1]))
        return f"```console\n$ python -m proofs {match[1]}\n{out.getvalue().rstrip()}\n```"

    def swept(match: re.Match[str]) -> str:
        out = io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
        ):
            run_experiments(shlex.split(match[1]))
        return f"```console\n$ python -m experiments {match[1]}\n{out.getvalue().rstrip()}\n```"

    os.chdir(ROOT)
    text = SWEEP.sub(swept, CONSOLE.sub(printed, README))
    if with_kernels:
        command = [sys.executable, "-m", "benchmarks", "kernels", "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        table = kernel_table(json.loads(done.stdout))
        text = KERNELS.sub(lambda match: match[1] + table + match[3], text)
    (ROOT / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    renew("kernels" in sys.argv[1:])
