"""What every kernel is measured on, a module a subject: instances, a reference, a peer by hand.

A subject's module lists its kernels in `CASES`; `case` finds one by the derivation's name.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.cases.case import Case, Generator, Instance
from benchmarks.cases.digits import certain

__all__ = ["Case", "Generator", "Instance", "case", "cases", "reference"]


@cache
def cases() -> dict[str, Case]:
    """All cases by the name of the derivation, the subjects in order."""
    found: dict[str, Case] = {}
    for info in sorted(pkgutil.iter_modules([str(Path(__file__).parent)]), key=lambda i: i.name):
        module = importlib.import_module(f"benchmarks.cases.{info.name}")
        for short, of_kernel in getattr(module, "CASES", {}).items():
            found[f"{info.name}.{short}"] = of_kernel
    return found


def case(name: str) -> Case:
    """The case of the kernel with this name, such as ``flow.terminal_eigenvalue``."""
    return cases()[name]


def reference(name: str, instance: Instance) -> list[Any]:
    """The kernel's outputs on one instance, as nested lists of fractions or of mpmath numbers."""
    of_kernel = case(name)
    if of_kernel.exact:
        return of_kernel.reference(instance)
    return certain(of_kernel.reference, instance)
