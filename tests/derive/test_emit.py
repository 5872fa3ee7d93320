"""Emission: the same bytes everywhere, a drift check that can fail, names that are safe."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sympy import Symbol, exp, symbols

from derive.emit import module
from derive.emit.kernel import write_kernel
from derive.emit.names import EmitError, NameRefusedError, checked_name
from derive.emit.operations import operation_count
from derive.emit.tree import canonical, tree_hash
from derive.emit.wrap import wrapped
from derive.library import derivations, find, subjects
from derive.steps import Argument, Derivation, Kernel

ROOT = Path(__file__).parents[2]
WITH_KERNEL = [d for subject in subjects() for d in derivations(subject) if d.kernel]
HOSTILE = (
    "x.__class__",
    "__import__",
    "x; import os",
    "os.system('true')",
    "lambda",
    "print",
    "xp",
    "two_sum",
    "_hidden",
    "1x",
    "x\ny",
    "naïve",
    "x" * 65,
    "",
)


def test_committed_kernels_are_what_the_derivations_give():
    assert module.drift() == ""


@pytest.mark.parametrize("hash_seed", ["0", "1", "12345"])
def test_bytes_do_not_depend_on_the_hash_seed(hash_seed: str, tmp_path: Path):
    folder = tmp_path / hash_seed
    subprocess.run(
        [sys.executable, "-m", "derive", "emit", "--folder", str(folder)],
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
    )
    for name, source in module.all_modules().items():
        assert (folder / name).read_bytes() == source.encode()


def test_drift_is_seen_in_every_direction(tmp_path: Path):
    module.emit(tmp_path)
    assert module.drift(tmp_path) == ""
    changed = tmp_path / "flow.py"
    changed.write_text(changed.read_text().replace("where(omega < 1", "where(omega < 2", 1))
    assert "-    return xp.where(omega < 2" in module.drift(tmp_path)
    (tmp_path / "risk.py").unlink()
    (tmp_path / "orphan.py").write_text("stray = 1\n")
    difference = module.drift(tmp_path)
    assert "+++ emitted/risk.py" in difference
    assert "-stray = 1" in difference
    assert {path.name for path in module.emit(tmp_path)} == {"flow.py", "risk.py"}


@pytest.mark.parametrize("derivation", WITH_KERNEL, ids=lambda d: d.name)
def test_kernel_is_source_that_a_person_would_read(derivation):
    kernel = write_kernel(derivation)
    (function,) = ast.parse(kernel.source).body
    assert isinstance(function, ast.FunctionDef)
    document = ast.get_docstring(function)
    assert document is not None
    for part in (
        ".. math::",
        "Args:",
        "Returns:",
        "Domain:",
        "Worst relative error",
        "Operations:",
        f"Source: {derivation.source}",
        derivation.name,
    ):
        assert part in document
    assert tree_hash(derivation.result) in " ".join(document.split())
    for form in kernel.forms:
        assert f"{form.name}:" in document
    assert all(argument.annotation for argument in function.args.args + function.args.kwonlyargs)
    assert function.returns is not None
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    assert not [name for name in names if name.startswith("_")]
    assert all(len(line) <= 100 for line in kernel.source.splitlines())


def test_module_says_that_it_is_emitted_and_names_no_version():
    for subject in subjects():
        source = module.module_source(subject)
        assert "do not edit" in source.splitlines()[2]
        assert "sympy" not in source.lower()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_refused(name: str):
    with pytest.raises(NameRefusedError):
        checked_name(name)


def test_hash_sees_the_tree_and_not_its_order():
    x, y, z = symbols("x y z")
    assert canonical(x + y * z) == canonical(z * y + x)
    assert tree_hash({"a": x - y}) != tree_hash({"a": y - x})
    assert tree_hash({"a": x}) != tree_hash({"b": x})
    assert canonical(exp(x)) == "exp(x)"
    assert canonical(Symbol("x", positive=True)) == canonical(x)  # facts are stated apart


def test_derivation_without_a_kernel_is_refused():
    with pytest.raises(EmitError, match=r"risk\.finite_example asks for no kernel"):
        write_kernel(find("risk.finite_example"))


def test_a_derivation_with_a_singular_point_is_refused_until_its_domain_excludes_it():
    s, r = symbols("s r", real=True)
    kernel = Kernel(
        arguments=(Argument(s, "first"), Argument(r, "second")),
        outputs={"value": "a quotient"},
        domain=("s > r",),
    )
    derivation = Derivation(
        name="example.quotient",
        title="a quotient",
        source="none",
        inputs=(s, r),
        steps=(),
        result={"value": s / (s - r)},
        equation="s/(s - r)",
        kernel=kernel,
    )
    with pytest.raises(EmitError, match="may be 0 here, and there is no limit branch"):
        write_kernel(derivation)
    excluded = replace(derivation, kernel=replace(kernel, positive=(s - r,)))
    assert "return s / (s - r)" in write_kernel(excluded).source
    other = replace(derivation, kernel=replace(kernel, positive=(s,)))
    with pytest.raises(EmitError, match="may be 0"):
        write_kernel(other)


def test_operations_inside_a_loop_are_counted_apart():
    source = (
        "def f(x):\n    y = x @ x\n    for i in range(3):\n        y = y - x / 2\n    return -y"
    )
    assert operation_count(source) == "1 -, 1 @; each step of the loop: 1 -, 1 /"


def test_long_lines_break_at_brackets_and_keep_their_meaning():
    line = f"result = f({', '.join(f'argument{n}' for n in range(20))})"
    broken = wrapped(line, 60)
    assert all(len(part) <= 60 for part in broken)
    assert ast.dump(ast.parse("\n".join(broken))) == ast.dump(ast.parse(line))
    assert wrapped("x = 1", 60) == ["x = 1"]
