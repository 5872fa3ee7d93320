"""Finds the derivations: every module of this package that lists some in `DERIVATIONS`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from derive.steps import Derivation


@cache
def subjects() -> tuple[str, ...]:
    """The subjects, by name: the modules that have a `DERIVATIONS`."""
    folder = str(Path(__file__).parent)
    names = sorted(
        info.name
        for info in pkgutil.iter_modules([folder])
        if not info.name.startswith("_") and not info.ispkg
    )
    return tuple(
        name for name in names if hasattr(importlib.import_module(f"derive.{name}"), "DERIVATIONS")
    )


@cache
def derivations(subject: str) -> tuple[Derivation, ...]:
    """The derivations of a subject, in the order in which its module lists them."""
    module = importlib.import_module(f"derive.{subject}")
    return tuple(make() for make in module.DERIVATIONS)


def find(name: str) -> Derivation:
    """The derivation with this name, such as ``conditioning.residual_cov``.

    Raises:
        KeyError: there is none; the message lists the subject's own.

    Example:
        >>> find("risk.finite_example").result["total"]
        11/4
    """
    subject = name.partition(".")[0]
    known = derivations(subject) if subject in subjects() else ()
    for derivation in known:
        if derivation.name == name:
            return derivation
    listed = ", ".join(derivation.name for derivation in known) or ", ".join(subjects())
    raise KeyError(f"no derivation {name!r}; there are {listed}")
