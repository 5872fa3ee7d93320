"""Statements that are decided, with proofs that anyone can check.

What is public is loaded when it is first used, so that `import proofs` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proofs import notation
    from proofs.conformance import Conformance, conforms
    from proofs.notation import Stated, statement
    from proofs.verdict import Verdict

_HOME_OF = {
    "Conformance": "conformance",
    "Stated": "notation",
    "Verdict": "verdict",
    "conforms": "conformance",
    "statement": "notation",
}

__all__ = ["Conformance", "Stated", "Verdict", "conforms", "notation", "statement"]


def __getattr__(name: str) -> Any:
    if name == "notation":  # a module of many names, to be imported from
        return importlib.import_module("proofs.notation")
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'proofs' has no attribute {name!r}")
    return getattr(importlib.import_module(f"proofs.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
