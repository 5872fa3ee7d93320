"""The annotations of `numeric` are checked in the tests, and only there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jaxtyping
import numpy as np
import pytest

import numeric
from numeric.kernels import logratio

ROOT = Path(__file__).parents[1]


def test_an_argument_of_another_type_than_annotated_is_an_error_here():
    with pytest.raises(jaxtyping.TypeCheckError, match="anchor"):
        numeric.log_ratios([0.0, 1.0], anchor="last")  # type: ignore[arg-type]


def test_emitted_kernels_are_checked_too():
    with pytest.raises(jaxtyping.TypeCheckError, match="anchor"):
        logratio.log_ratios(np.zeros(2), anchor=0.5)  # type: ignore[arg-type]
    assert logratio.log_ratios(np.zeros(2), anchor=1).tolist() == [0.0]


def test_whole_numbers_will_do_for_floats():
    assert numeric.denoising_time(1, 0, 2, clock="main") == 0


@pytest.mark.usefixtures("unchecked")
def test_the_code_itself_refuses_what_the_annotations_forbid():
    with pytest.raises(numeric.DtypeError, match="anchor"):
        numeric.log_ratios([0.0, 1.0], anchor="last")  # type: ignore[arg-type]


def test_without_pytest_nothing_of_this_is_loaded():
    code = "import sys, numeric; numeric.condition; print('beartype' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.strip() == "False"
