"""`python -m proofs conforms MODULE:FUNCTION FILE`: what it answers, and the exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from proofs.__main__ import main
from proofs.conformance import FunctionError, load

INVERSE = """let n : dimension
let A : matrix(n, n)
let b : vector(n)
assume invertible(A)
show inv(A)*b = inv(A.T*A)*A.T*b
"""


@pytest.fixture
def inverse(tmp_path: Path) -> str:
    path = tmp_path / "inverse.thm"
    path.write_text(INVERSE)
    return str(path)


def test_code_that_computes_it_exits_with_0(inverse, capsys):
    assert main(["conforms", "numpy.linalg:solve", inverse, "--names", "a=A,b=b"]) == 0
    assert capsys.readouterr().out.startswith("numpy.linalg.solve computes inv(A.T*A)*A.T*b")
    assert main(["conforms", "numpy.linalg:solve", inverse, "--names", "A,b"]) == 0


def test_code_that_does_not_exits_with_1_and_shows_the_instance(inverse, capsys):
    command = ["conforms", "numpy:matmul", inverse, "--names", "A,b", "--side", "left"]
    assert main([*command, "--instances", "20"]) == 1
    shown = capsys.readouterr().out
    assert "numpy.matmul doesn't compute inv(A)*b (inverse.thm, left)" in shown
    assert "A = " in shown
    assert "expected " in shown
    assert main([*command, "--json", "--seed", "2", "--dtype", "float32"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "refuted"
    assert found["dtype"] == "float32"
    assert set(found["failing"]) >= {"model", "arguments", "expected", "got", "why"}
    assert set(found["failing"]["arguments"]) == {"argument 1", "argument 2"}


def test_without_an_instance_it_exits_with_2(tmp_path: Path, capsys):
    path = tmp_path / "vacuous.thm"
    path.write_text("let x : real\nassume x > 1\nassume x < 0\nshow exp(x) = exp(x)\n")
    assert main(["conforms", "math:exp", str(path), "--arrays", "numpy", "--time", "1"]) == 2
    assert "no instance" in capsys.readouterr().out


def test_options_reach_the_question(tmp_path: Path, capsys):
    path = tmp_path / "two.thm"
    path.write_text("let x : real\nshow exp(x) = exp(x)\nshow log(exp(x)) = x\n")
    base = ["conforms", "math:log1p", str(path), "--goal", "2"]
    assert main([*base, "--assume", "x > 1", "--instances", "10"]) == 1
    assert main([*base, "--assume", "x >= 0", "--assume", "x <= 0", "--tolerance", "5"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("numpy.linalg", "expected module:function"),
        ("no_such_module:f", "can't be imported"),
        ("numpy.linalg:nothing", "there is no 'nothing'"),
        ("numpy.linalg:LinAlgError.nothing", "there is no 'nothing'"),
        ("math:pi", "is no function"),
        ("numpy.linalg:inv", "no declared name is called 'a'"),
    ],
)
def test_a_question_that_can_not_be_asked_exits_with_3(inverse, capsys, function: str, said: str):
    assert main(["conforms", function, inverse]) == 3
    assert said in capsys.readouterr().err


def test_a_file_that_can_not_be_read_exits_with_3(tmp_path: Path, capsys):
    assert main(["conforms", "math:exp", str(tmp_path / "absent.thm")]) == 3
    broken = tmp_path / "broken.thm"
    broken.write_text("show = 1\n")
    assert main(["conforms", "math:exp", str(broken)]) == 3
    assert "line 1, column 6" in capsys.readouterr().err


def test_functions_are_found_in_classes_too():
    assert load("fractions:Fraction.from_float")(0.5) == 0.5
    with pytest.raises(FunctionError):
        load(":f")


def test_a_module_in_the_working_folder_is_found(tmp_path: Path, inverse: str):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n\ndef solve(A, b):\n    return np.linalg.solve(A, b)\n"
    )
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-m", "proofs", "conforms", "mine:solve", inverse],
        cwd=tmp_path, env={"PYTHONPATH": root, "PATH": ""}, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("mine.solve computes")
