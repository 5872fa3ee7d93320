"""Statements that are decided, with proofs that anyone can check.

What is public is loaded when it is first used, so that `import proofs` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proofs.conformance import Conformance, conforms
    from proofs.verdict import Verdict

_HOME_OF = {
    "Conformance": "conformance",
    "Verdict": "verdict",
    "conforms": "conformance",
}

__all__ = ["Conformance", "Verdict", "conforms"]


def __getattr__(name: str) -> Any:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'proofs' has no attribute {name!r}")
    return getattr(importlib.import_module(f"proofs.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
