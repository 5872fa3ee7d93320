"""The project's own files agree with each other: dependencies, versions, set-up commands."""

from __future__ import annotations

import re
import stat
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
DEPENDENCIES = [*PROJECT["project"]["dependencies"], *(d for e in EXTRAS.values() for d in e)]


def distribution(requirement: str) -> str:
    return re.split(r"[\[<>=!~ ]", requirement)[0].lower()


def test_every_dependency_gives_its_reason():
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    for dependency in DEPENDENCIES:
        said = [line for line in lines if line.strip().startswith(f'"{dependency}"')]
        assert len(said) == DEPENDENCIES.count(dependency)
        assert all(re.search(r",\s+# \w", line) for line in said), f"{dependency} has no reason"


def test_every_dependency_is_pinned():
    pinned = {
        line.partition("==")[0].lower()
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    assert {distribution(d) for d in DEPENDENCIES} <= pinned


def test_the_doctor_knows_the_same_dependencies():
    from proofs import doctor

    assert set(doctor.CORE) == {distribution(d) for d in PROJECT["project"]["dependencies"]}
    assert {k: set(v) for k, v in doctor.EXTRAS.items()} == {
        k: {distribution(d) for d in v} for k, v in EXTRAS.items()
    }
    assert PROJECT["project"]["name"] == doctor.DISTRIBUTION
    assert (
        list(doctor.PACKAGES) == PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    )


def test_versions_agree():
    version = PROJECT["project"]["version"]
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert "## [" in (ROOT / "CHANGELOG.md").read_text()


def test_the_readme_sets_up_with_three_commands_that_ci_runs():
    readme = (ROOT / "README.md").read_text()
    block = readme.partition("<!-- setup -->")[2].partition("<!-- /setup -->")[0]
    commands = [line for line in block.splitlines() if line.startswith("python ")]
    assert [c.rpartition("&& ")[2].split()[2] for c in commands] == ["proofs", "pytest", "jupyter"]
    assert all("pip install -c constraints.txt -e" in c for c in commands)
    script = ROOT / ".ci/run"
    assert script.stat().st_mode & stat.S_IXUSR
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    assert "<!-- setup -->" in script.read_text()
