"""Counts the operations of a kernel from its own source."""

from __future__ import annotations

import ast
from collections import Counter

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.Pow: "**"}
_NOT_COUNTED = {"namespace", "real_arrays", "batch_shape", "fill_batch", "range", "errstate"}


def operation_count(source: str) -> str:
    """Operations of a function, those inside a loop apart, such as ``2 +, 1 *, 1 exp``.

    Example:
        >>> operation_count("def f(x):\\n    return xp.exp(x) + 2 * x")
        '1 +, 1 *, 1 exp'
    """
    function = ast.parse(source).body[0]
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For)]
    inside = {id(node) for loop in loops for part in loop.body for node in ast.walk(part)}
    once = _shown(
        Counter(_operations(node for node in ast.walk(function) if id(node) not in inside))
    )
    each = _shown(Counter(_operations(node for node in ast.walk(function) if id(node) in inside)))
    return "; ".join(filter(None, [once, each and f"each step of the loop: {each}"]))


def _operations(nodes: object) -> list[str]:
    found: list[str] = []
    for node in nodes:  # type: ignore[attr-defined]
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            found.append(_BINARY[type(node.op)])
        elif (
            isinstance(node, ast.UnaryOp)
            and isinstance(node.op, ast.USub)
            and not isinstance(node.operand, ast.Constant)
        ):
            found.append("-")
        elif isinstance(node, ast.Call):
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if name not in _NOT_COUNTED:
                found.append(name)
    return found


def _shown(counts: Counter[str]) -> str:
    signs = [f"{counts[sign]} {sign}" for sign in _BINARY.values() if counts[sign]]
    calls = [f"{counts[name]} {name}" for name in sorted(counts) if name not in _BINARY.values()]
    return ", ".join(signs + calls)
