"""What this installation consists of, and what stands in its way: `python -m proofs doctor`.

Everything is read from the metadata of installed distributions and from the import path; none of
the packages that are looked at is imported.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import machinery, metadata
from pathlib import Path, PurePosixPath

DISTRIBUTION = "demonstrandum"
PACKAGES = ("derive", "numeric", "proofs", "experiments")
CORE = ("sympy", "numpy", "scipy", "mpmath", "python-flint", "clarabel", "tqdm")
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "test": (
        "pytest",
        "pytest-xdist",
        "hypothesis",
        "nbmake",
        "array-api-strict",
        "joblib",
        "matplotlib",
        "distributed",
        "jaxtyping",
        "beartype",
        "ruff",
        "pyright",
    ),
    "notebooks": ("jupyter", "matplotlib", "jupytext"),
    "experiments": ("joblib", "matplotlib"),
    "cluster": ("distributed",),
    "fast": ("numba", "finufft"),
    "torch": ("torch", "array-api-compat"),
    "jax": ("jax",),
}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Versions by distribution (None: not installed), by group, and what is wrong."""

    python: str
    version: str | None
    root: Path
    groups: Mapping[str, Mapping[str, str | None]]
    warnings: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether everything that the main job needs is there, and is ours."""
        return not self.warnings

    def __str__(self) -> str:
        own = self.version or "not installed (imported from a checkout)"
        lines = [f"{DISTRIBUTION} {own}", f"Python {self.python}", f"packages in {self.root}"]
        for group, versions in self.groups.items():
            shown = ", ".join(f"{name} {v or 'absent'}" for name, v in versions.items())
            lines.append(f"{group + ':':<13}{shown}")
        lines += [f"warning: {warning}" for warning in self.warnings]
        lines.append("all is well" if self.healthy else f"{len(self.warnings)} warning(s)")
        return "\n".join(lines)


def diagnose(root: Path | None = None, path: Iterable[str] | None = None) -> Diagnosis:
    """Look at this Python's installation.

    Args:
        root: the folder that our packages must come from. Default: the one that holds this file.
        path: the import path to look along. Default: `sys.path`.
    """
    root = (root or Path(__file__).parents[1]).resolve()
    path = list(sys.path if path is None else path)
    groups = {"core": CORE, **{f"[{extra}]": names for extra, names in EXTRAS.items()}}
    versions = {group: {n: installed(n, path) for n in names} for group, names in groups.items()}
    warnings = [
        f"{name} is not installed; run: python -m pip install {name}"
        for name, version in versions["core"].items()
        if version is None
    ]
    for package in PACKAGES:
        warnings += misplaced(package, root, path)
    warnings += claimed_by_others(path)
    return Diagnosis(
        platform.python_version(), installed(DISTRIBUTION, path), root, versions, tuple(warnings)
    )


def installed(distribution: str, path: list[str]) -> str | None:
    """The version of a distribution found along `path`, or None."""
    found = next(iter(metadata.distributions(name=distribution, path=path)), None)
    return found.version if found else None


def misplaced(package: str, root: Path, path: list[str]) -> list[str]:
    """A warning where `import package` would bring something from outside `root`."""
    spec = machinery.PathFinder.find_spec(package, path)
    if spec is None:
        return [f"{package} can't be imported; run: python -m pip install {DISTRIBUTION}"]
    places = [Path(spec.origin).parent] if spec.origin else []
    places += [Path(p) for p in spec.submodule_search_locations or ()]
    if any(place.resolve() == root / package for place in places):
        return []
    shown = places[0] if places else spec.origin
    return [
        f"`import {package}` brings {shown}, not {root / package}: another package of that name "
        "stands earlier on the import path; uninstall it, or use an environment of its own"
    ]


def claimed_by_others(path: list[str]) -> list[str]:
    """A warning for each other distribution that installs one of our top-level packages."""
    found = []
    for distribution in metadata.distributions(path=path):
        name = distribution.metadata["Name"]
        if name is None or _canonical(name) == DISTRIBUTION:
            continue
        found += [
            f"the distribution {name} {distribution.version} also installs `{package}`: the two "
            f"overwrite or shadow each other; run: python -m pip uninstall {name}"
            for package in sorted(_top_level(distribution) & set(PACKAGES))
        ]
    return found


def _top_level(distribution: metadata.Distribution) -> set[str]:
    """The packages and single modules that a distribution puts on the import path."""
    return {
        PurePosixPath(file).parts[0].removesuffix(".py")
        for file in map(str, distribution.files or ())
    }


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
