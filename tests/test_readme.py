"""What the README shows is what the commands print."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from pathlib import Path

import pytest

from proofs.__main__ import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = re.compile(r"```console\n\$ python -m proofs (.*)\n((?:.*\n)*?)```")
CONSOLES = CONSOLE.findall(README)


def steady(output: str) -> str:
    """Without what differs from run to run: seconds, and where certificates go."""
    output = re.sub(r"\(\d+\.\d+ s\)", "(... s)", output)
    return re.sub(r"(steps|step), .*\.json", r"\1, ...", output).strip()


@pytest.mark.parametrize(("command", "shown"), CONSOLES, ids=[c for c, _ in CONSOLES])
def test_a_command_prints_what_the_readme_shows(
    command: str, shown: str, capsys, monkeypatch, tmp_path: Path
):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    main(shlex.split(command))
    assert steady(capsys.readouterr().out) == steady(shown)


def test_the_readme_shows_commands_and_real_files():
    assert len(CONSOLES) >= 2
    for path in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / path).exists(), path
    (statement,) = re.findall(r"```\n(# The push-through(?:.*\n)*?)```", README)
    assert statement == (ROOT / "docs/examples/push_through.thm").read_text()


def renew() -> None:
    """Put what the commands print now into the README: `python -m tests.test_readme`."""

    def printed(match: re.Match[str]) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            main(shlex.split(match[1]))
        return f"```console\n$ python -m proofs {match[1]}\n{out.getvalue().rstrip()}\n```"

    os.chdir(ROOT)
    (ROOT / "README.md").write_text(CONSOLE.sub(printed, README), encoding="utf-8")


if __name__ == "__main__":
    renew()
