"""Every study holds in quick form, and its record is all that its verdict needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.catalogue import NAMES, find
from experiments.record import read_record
from experiments.runner import PICTURE, RECORD, run_study


@pytest.mark.parametrize("name", NAMES)
def test_a_study_holds_in_quick_form(name: str, tmp_path: Path):
    study = find(name)
    record = run_study(study, tmp_path, quick=True)
    assert [c for c in record.conditions if not c.holds] == []
    assert len(record.conditions) >= 3
    assert (tmp_path / PICTURE).stat().st_size > 10_000
    again = read_record(tmp_path / RECORD)
    assert again.conditions == record.conditions
    assert list(study.conditions(again.outcomes)) == list(again.conditions)
    labels = {q.label for outcome in again.outcomes for q in outcome.results.values()}
    assert labels <= {"exact", "bound", "MC"}
