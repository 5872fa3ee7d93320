"""Packages that load what is public when it is first used, so that importing them costs nothing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def on_first_use(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package.

    Args:
        package: its name, as in `__name__`.
        homes: the public names by the module of the package that holds them.

    Returns:
        both functions; the first raises AttributeError for a name that has no home.

    Source: PEP 562.

    Example:
        >>> load, listed = on_first_use("numeric", {"errors": ("ShapeError",)})
        >>> load("ShapeError").__module__
        'numeric.errors'
        >>> load("Shape")
        Traceback (most recent call last):
        AttributeError: module 'numeric' has no attribute 'Shape'
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{home_of[name]}"), name)

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return load, listed
