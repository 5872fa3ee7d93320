"""Outcomes of a study whose parts a test has spoiled, and the conditions that notice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.study import Outcome, Study, Task, timed


def outcomes_of(study: Study, *tasks: Mapping[str, Any]) -> list[Outcome]:
    """What tasks of these parameters find."""
    return [timed(study.run, Task(str(k), task)) for k, task in enumerate(tasks)]


def failed(study: Study, outcomes: list[Outcome]) -> list[str]:
    """What the conditions that don't hold say."""
    return [c.says for c in study.conditions(outcomes) if not c.holds]
