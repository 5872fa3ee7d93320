"""Lays out one module of kernels a subject, and compares it with what is on disk."""

from __future__ import annotations

import difflib
from collections import defaultdict
from pathlib import Path

from derive.emit.kernel import WIDTH, write_kernel
from derive.library import derivations, subjects

DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / "numeric" / "kernels"


def module_source(subject: str) -> str:
    """The source of a subject's kernel module, byte for byte."""
    with_kernel = [d for d in derivations(subject) if d.kernel is not None]
    kernels = [write_kernel(derivation) for derivation in with_kernel]
    header = [
        f'"""Kernels of the subject `{subject}`.',
        "",
        "Emitted by `python -m derive emit`; do not edit. Change the derivation in",
        f"`derive/{subject}.py` or a form in `derive/emit/`, and emit again.",
        "",
        "A probability or a decayed eigenvalue below the smallest float is 0, and that is right:",
        "so underflow passes silently, and every other floating point signal is the caller's.",
        "",
        "Batch axes broadcast. Integers count as float64; float32 stays float32, also beside plain",
        "numbers. What is returned may be stored in any order in memory.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
    ]
    header += import_lines({pair for kernel in kernels for pair in kernel.imports})
    listed = ", ".join(f'"{name}"' for name in sorted(kernel.name for kernel in kernels))
    names = f"__all__ = [{listed}]"
    if len(names) > WIDTH:
        names = "\n".join(
            [
                "__all__ = [",
                *(f'    "{name}",' for name in sorted(kernel.name for kernel in kernels)),
                "]",
            ]
        )
    return "\n".join([*header, names, ""]) + "".join(f"\n\n{kernel.source}" for kernel in kernels)


def import_lines(needed: set[tuple[str, str]]) -> list[str]:
    """The imports of emitted source: other people's first, then our own, with blank lines."""
    imports = defaultdict(list)
    for home, name in sorted(
        needed
        | {
            ("numpy", "errstate"),
            ("numeric.namespace", "Array"),
            ("numeric.namespace", "Namespace"),
        }
    ):
        imports[home].append(name)
    lines: list[str] = []
    for ours in (False, True):
        homes = [home for home in sorted(imports) if home.startswith("numeric") == ours]
        lines += [line for home in homes for line in _import(home, imports[home])]
        lines.append("")
    return lines


def _import(home: str, names: list[str]) -> list[str]:
    ordered = sorted(names, key=lambda name: (name.lower() == name, name))
    line = f"from {home} import {', '.join(ordered)}"
    if len(line) <= WIDTH:
        return [line]
    return [f"from {home} import (", *(f"    {name}," for name in ordered), ")"]


def all_modules() -> dict[str, str]:
    """File name to source, for every subject that has a kernel and for the package itself."""
    sources = {}
    for subject in subjects():
        if any(derivation.kernel for derivation in derivations(subject)):
            sources[f"{subject}.py"] = module_source(subject)
    return sources


def emit(folder: Path = DEFAULT_FOLDER) -> list[Path]:
    """Write every kernel module; returns the files whose bytes changed."""
    folder.mkdir(parents=True, exist_ok=True)
    changed = []
    for name, source in all_modules().items():
        path = folder / name
        if not path.exists() or path.read_bytes() != source.encode():
            path.write_bytes(source.encode())
            changed.append(path)
    return changed


def drift(folder: Path = DEFAULT_FOLDER) -> str:
    """A diff from what is on disk to what the derivations give; empty if they agree.

    A module on disk that no derivation gives is reported as well.
    """
    sources = all_modules()
    on_disk = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    lines: list[str] = []
    for name in sorted(on_disk | sources.keys()):
        path = folder / name
        old = path.read_bytes().decode() if path.exists() else ""
        lines += difflib.unified_diff(
            old.splitlines(keepends=True),
            sources.get(name, "").splitlines(keepends=True),
            f"on disk/{name}",
            f"emitted/{name}",
        )
    return "".join(lines)
