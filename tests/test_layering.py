"""Who may import whom: dependencies point one way, and the light commands stay light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = {"derive", "numeric", "proofs", "experiments"}
STDLIB = sys.stdlib_module_names

# What the files of a folder may import besides the standard library; the longest match counts.
ALLOWED: dict[str, set[str]] = {
    "derive": {"derive", "sympy", "mpmath"},
    "numeric": {"numeric", "numpy", "scipy", "numba", "finufft", "array_api_compat"},
    "numeric/kernels": {
        "numeric.kernels", "numeric.namespace", "numeric.linear_algebra", "numeric.exact_floats",
        "numeric.special_functions",
        "numeric.distances",
        "numpy", "scipy",
    },
    "proofs": {"proofs", "flint", "tqdm"},
    "proofs/language": {"proofs.language"},
    "proofs/checker": {"proofs.checker", "proofs.language"},
    "proofs/checker/balls": {"proofs.checker", "proofs.language", "flint"},
    "proofs/evaluate": {"proofs.evaluate", "proofs.language", "flint"},
    "proofs/search": {"proofs.search", "proofs.checker", "proofs.language", "flint"},
    "proofs/search/conic": {"proofs.search", "clarabel", "numpy", "scipy"},
    "proofs/bridge": {"proofs", "derive", "numeric", "sympy", "numpy", "scipy", "mpmath", "flint"},
    "proofs/conformance": {"proofs", "numpy", "flint"},
    "proofs/notation": {"proofs.notation", "proofs.language", "proofs.decide", "proofs.explain"},
    "experiments": {
        "experiments", "numeric", "numpy", "scipy", "matplotlib", "torch", "sklearn", "joblib",
        "tqdm", "distributed",
    },
}  # fmt: skip

# Inside `proofs` too there is no circle: a layer imports itself and the ones before it.
LAYERS = (
    {"verdict", "doctor", "processes"},
    {"language"},
    {"checker", "evaluate"},
    {"typeset", "rulebook", "tampering"},
    {"search", "instances", "mutants", "refute", "report", "library", "attack", "confirm"},
    {"bridge", "conformance", "decide"},
    {"explain", "files", "recheck"},
    {"notation"},
    {"__main__"},
)


def sources(*folders: str) -> list[Path]:
    return [p for folder in folders for p in sorted((ROOT / folder).rglob("*.py"))]


def imports(path: Path) -> Iterator[str]:
    """Every module that a file may import, inside functions and by `import_module` too."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            called = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if (
                called in ("import_module", "__import__")
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                yield str(node.args[0].value)


def allowed_for(path: Path) -> set[str]:
    place = path.relative_to(ROOT).with_suffix("").as_posix()
    match = max((f for f in ALLOWED if place == f or place.startswith(f"{f}/")), key=len)
    return ALLOWED[match]


def is_within(module: str, names: set[str]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


@pytest.mark.parametrize("path", sources(*sorted(OURS)), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_imports_only_what_its_room_may_know(path: Path):
    allowed = allowed_for(path)
    # `from proofs.language import tree` names the package and the module: the longer one decides.
    strangers = {
        module
        for module in imports(path)
        if module.partition(".")[0] not in STDLIB
        and not is_within(module, allowed)
        and not any(name.startswith(f"{module}.") for name in allowed)
    }
    assert not strangers, f"{path.relative_to(ROOT)} may not import {sorted(strangers)}"


@pytest.mark.parametrize("path", sources("proofs"), ids=lambda p: str(p.relative_to(ROOT)))
def test_proofs_has_no_circle(path: Path):
    own = path.relative_to(ROOT / "proofs").with_suffix("").parts[0]
    if own == "__init__":
        return  # it loads what is public when it is used, and nothing before: see below
    rank = next(i for i, layer in enumerate(LAYERS) if own in layer)
    known = set[str]().union(*LAYERS[: rank + 1])
    used = {m.split(".")[1] for m in imports(path) if m.startswith("proofs.")}
    assert used <= known, f"proofs/{own} may not know {sorted(used - known)}"


def test_the_map_of_the_search_names_every_module():
    folder = ROOT / "proofs" / "search"
    map_ = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    modules = {p.stem for p in folder.glob("*.py")} - {"__init__"}
    assert modules - set(re.findall(r"\w+", map_)) == set()


def test_the_layering_test_sees_every_way_to_import(tmp_path: Path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "numeric" / "deep" / "module.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        textwrap.dedent("""
        import sympy.abc, numpy as np
        from .. import errors
        def late():
            from derive.flow import law
            import importlib
            importlib.import_module("proofs.bridge")
    """)
    )
    found = set(imports(path))
    assert {
        "sympy.abc",
        "numpy",
        "numeric",
        "numeric.errors",
        "derive.flow",
        "derive.flow.law",
        "proofs.bridge",
    } <= found
    assert allowed_for(path) == ALLOWED["numeric"]


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by(code: str) -> set[str]:
    """The top-level modules, other than the standard library's, that some code loads."""
    shown = run(f"{textwrap.dedent(code)}\nimport sys\nprint('loaded', *sys.modules)")
    names = shown.rpartition("loaded ")[2].split()
    return {n for n in names if n.partition(".")[0] not in STDLIB}


def test_importing_proofs_loads_nothing():
    assert loaded_by("import proofs") - loaded_by("") == {"proofs"}


def test_the_checker_loads_the_standard_library_alone():
    loaded = loaded_by("import proofs.checker.judge") - loaded_by("")
    assert all(is_within(n, {"proofs.checker", "proofs.language"}) or n == "proofs" for n in loaded)


def test_writing_a_statement_in_python_loads_the_language_alone():
    loaded = loaded_by("from proofs.notation import *") - loaded_by("")
    mine = {"proofs.notation", "proofs.language"}
    assert all(is_within(n, mine) or n == "proofs" for n in loaded)


HEAVY = {"sympy", "numpy", "scipy", "mpmath", "matplotlib", "tqdm"}


def test_importing_numeric_loads_no_sympy():
    tops = {n.partition(".")[0] for n in loaded_by("import numeric")}
    assert not tops & {"sympy", "mpmath", "derive", "proofs"}


def test_importing_numeric_is_fast():
    """At most 0.1 s more than NumPy and scipy.special, by the best of several runs."""
    timed = "import time; s = time.perf_counter(); import {}; print(time.perf_counter() - s)"

    def seconds(modules: str) -> float:
        return min(float(run(timed.format(modules))) for _ in range(5))

    assert seconds("numeric") < seconds("numpy, scipy.special") + 0.1


@pytest.mark.parametrize("verdict", ["proved", "refuted"])
def test_deciding_a_matrix_statement_loads_nothing_heavy(tmp_path: Path, verdict: str):
    """Proved by search, or refuted with a search for the nearest true neighbour."""
    order = "inv(B)*inv(A)" if verdict == "proved" else "inv(A)*inv(B)"
    path = tmp_path / "product.thm"
    path.write_text(
        "let n : dimension\nlet A, B : matrix(n, n)\nassume invertible(A)\n"
        f"assume invertible(B)\nshow inv(A*B) = {order}\n"
    )
    loaded = loaded_by(f"""
        from proofs.__main__ import main
        print(main(["decide", {str(path)!r}, "--certificates", {str(tmp_path)!r}]))
    """)
    assert not {n.partition(".")[0] for n in loaded} & (HEAVY | OURS - {"proofs"})
