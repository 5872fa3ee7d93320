"""The first block's benchmark runs, and the loops that it is measured against agree with it."""

from __future__ import annotations

import json

from benchmarks import __main__
from benchmarks.first_block import as_json, as_text, measure, passes


def test_the_benchmark_measures_and_agrees():
    result = measure(observations=30, looped=1)
    assert 0 < result.error < 1e-10
    assert result.gibibytes < 1
    assert result.loop_seconds > result.seconds
    assert json.loads(json.dumps(as_json(result)))["passes"] == passes(result)
    assert "30 observations" in as_text(result)


def test_loops_over_more_than_there_is_are_refused(capsys):
    assert __main__.main(["first_block", "--observations", "2", "--looped", "3"]) == 2
    assert "--looped" in capsys.readouterr().err
