"""Every kernel is reached by an algorithm, and no algorithm writes by hand what a kernel gives.

Both are read off the syntax trees, so that a name in a docstring or a comment counts for nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from derive.library import derivations, subjects

ROOT = Path(__file__).parents[2]
KERNELS = sorted(d.name for s in subjects() for d in derivations(s) if d.kernel)

# Support of the kernels themselves.
SUPPORT = {"namespace.py", "linear_algebra.py", "exact_floats.py"}

# What kernels give in a stable form, by the name under which a library has it.
IDIOMS = {
    "softmax": "logratio.row",
    "log_softmax": "logratio.row",
    "logsumexp": "logratio.row",
    "wrightomega": "flow.terminal_eigenvalue",
    "wright_omega": "flow.terminal_eigenvalue",
    "lambertw": "flow.terminal_eigenvalue",
    "pinv": "conditioning.gaussian_pinv",
    "exp(x - max(x))": "logratio.row",
}

# Where an idiom stands by right.
LOG_ROW = "logarithms of a row that may hide tokens, which no kernel returns"
NORMALIZER = "whether a row sums to one, tokens that may all be hidden among them"
ALLOWED = {
    ("first_block/block.py", "log_softmax"): LOG_ROW,
    ("first_block/observations.py", "log_softmax"): LOG_ROW,
    ("first_block/observations.py", "logsumexp"): NORMALIZER,
    (
        "first_block/fibre.py",
        "exp(x - max(x))",
    ): "a mean over a few members",
}


def files(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if "kernels" not in path.relative_to(ROOT).parts]


def called_kernels(tree: ast.AST) -> Iterator[str]:
    """The kernels that a module uses, as `subject.name`, under whatever name it imports them."""
    modules: dict[str, str] = {}
    functions: dict[str, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("numeric"):
            continue
        for alias in node.names:
            if node.module == "numeric.kernels":
                modules[alias.asname or alias.name] = alias.name
            elif (node.module or "").startswith("numeric.kernels."):
                subject = str(node.module).rpartition(".")[2]
                functions[alias.asname or alias.name] = f"{subject}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in modules:
                yield f"{modules[node.value.id]}.{node.attr}"
        elif isinstance(node, ast.Name) and node.id in functions:
            yield functions[node.id]


def idioms(tree: ast.AST) -> Iterator[str]:
    """What a module writes by hand that a kernel gives."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in IDIOMS:
            yield name
        elif name == "exp" and node.args and isinstance(node.args[0], ast.BinOp):
            taken = node.args[0].right
            is_max = "max" in {
                getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(taken)
            }
            if isinstance(node.args[0].op, ast.Sub) and is_max:
                yield "exp(x - max(x))"


def parsed(path: Path) -> ast.AST:
    return ast.parse(path.read_text(encoding="utf-8"))


USED = {name for path in files("numeric", "experiments") for name in called_kernels(parsed(path))}


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_is_called_by_an_algorithm_or_an_experiment(name: str):
    assert name in USED


def test_every_kernel_that_is_called_exists():
    assert set(KERNELS) >= USED


def test_no_algorithm_writes_by_hand_what_a_kernel_gives():
    found = {
        (path.relative_to(ROOT / "numeric").as_posix(), idiom)
        for path in files("numeric")
        if path.name not in SUPPORT
        for idiom in idioms(parsed(path))
    }
    strange = {place: IDIOMS[place[1]] for place in sorted(found - ALLOWED.keys())}
    assert not strange, f"call the kernel instead, or say in ALLOWED why not: {strange}"
    assert ALLOWED.keys() <= found, f"no longer there: {sorted(ALLOWED.keys() - found)}"


def test_the_scans_see_what_they_look_for():
    tree = ast.parse(
        "from numeric.kernels import flow as k\n"
        "from numeric.kernels.logratio import row as softmax_of\n"
        "def f(x):\n"
        "    '''kernels.jacobian, softmax(x)'''\n"
        "    y = np.exp(x - x.max(axis=-1, keepdims=True))\n"
        "    z = xp.exp(x - xp.max(x))\n"
        "    return k.terminal_eigenvalue(softmax_of(x)) + scipy.special.logsumexp(x) + pinv(x)\n"
    )
    assert set(called_kernels(tree)) == {"flow.terminal_eigenvalue", "logratio.row"}
    assert sorted(idioms(tree)) == ["exp(x - max(x))", "exp(x - max(x))", "logsumexp", "pinv"]
    assert list(idioms(ast.parse("np.exp(x - y)"))) == []
