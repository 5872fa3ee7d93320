"""The doctor: what is installed, what shadows it; it imports none of what it looks at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from proofs.doctor import CORE, DISTRIBUTION, EXTRAS, PACKAGES, diagnose

ROOT = Path(__file__).parents[2]


def distribution(site: Path, name: str, version: str, *files: str) -> None:
    """What an installer leaves of a distribution: its files, and metadata that lists them."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    for file in files:
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        (site / file).write_text("")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """An environment in which all is well."""
    site = tmp_path / "site"
    for name in CORE:
        distribution(site, name, "9.9")
    distribution(site, DISTRIBUTION, "0.1.0", *(f"{p}/__init__.py" for p in PACKAGES))
    return site


def test_a_sound_environment_is_healthy(site: Path):
    found = diagnose(site, [str(site)])
    assert found.healthy
    assert found.version == "0.1.0"
    assert found.groups["core"] == dict.fromkeys(CORE, "9.9")
    assert set(found.groups) == {"core", *(f"[{extra}]" for extra in EXTRAS)}
    assert "numba absent" in str(found)
    assert str(found).endswith("all is well")


def test_an_absent_extra_is_no_warning_but_an_absent_dependency_is(tmp_path: Path):
    found = diagnose(ROOT, [str(ROOT)])
    assert not any("numba" in warning for warning in found.warnings)
    assert any("sympy is not installed" in warning for warning in found.warnings)


def test_another_distribution_of_the_same_package_is_named(site: Path, tmp_path: Path):
    distribution(site, "proofs-of-purchase", "3.0", "proofs/receipt.py")
    (warning,) = diagnose(site, [str(site)]).warnings
    assert "proofs-of-purchase 3.0 also installs `proofs`" in warning
    assert "pip uninstall proofs-of-purchase" in warning


@pytest.mark.parametrize("file", ["derive/__init__.py", "derive.py"])
def test_a_package_that_stands_earlier_on_the_path_is_named(site: Path, tmp_path: Path, file: str):
    other = tmp_path / "other"
    distribution(other, "derive", "1.0", file)
    warnings = diagnose(site, [str(other), str(site)]).warnings
    assert any(w.startswith("`import derive` brings") and str(other) in w for w in warnings)
    # Later on the path it shadows nothing, but it is still said.
    later = diagnose(site, [str(site), str(other)]).warnings
    assert [w for w in later if "`import" in w] == []
    assert len(later) == 1


def test_a_package_that_is_missing_is_named(site: Path):
    (site / "experiments/__init__.py").unlink()
    (site / "experiments").rmdir()
    (warning,) = diagnose(site, [str(site)]).warnings
    assert "experiments can't be imported" in warning


def test_the_command_says_the_same(tmp_path: Path):
    (tmp_path / "derive.py").write_text("raise SystemExit('imported')")
    (tmp_path / "proofs").symlink_to(ROOT / "proofs")
    done = subprocess.run(
        [sys.executable, "-m", "proofs", "doctor"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert f"brings {tmp_path}" in done.stdout
