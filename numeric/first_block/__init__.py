"""The exact first block: what one attention block, read at one token, tells of a finite mixture.

`model` is the corruption law, `block` the attention block, `observations` what an estimator is
given, and `inference` what it then knows: by `resolution`, the projector on what is pinned down
(`row_part` and `value_part` over `row_space`), or by `cells`. `fibre` says what is left open and
whether anything hangs on it, `two_components` how much, and `checks` tests any posterior against
any observation.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numeric.first_block.block import AttentionBlock, BlockRun, Measurement
    from numeric.first_block.checks import (
        TowerTest,
        fibre_twins,
        measurability_gap,
        tower_test,
    )
    from numeric.first_block.fibre import (
        Grouping,
        Sufficiency,
        frozen_row_difference,
        grouping,
        information_loss,
        row_stability,
        sufficiency,
        unresolved_contrasts,
        zero_one_law,
    )
    from numeric.first_block.inference import (
        Margins,
        Posterior,
        frozen_row_posterior,
        posterior,
    )
    from numeric.first_block.model import CorruptionModel, HiddenDraws
    from numeric.first_block.observations import (
        ClippedRow,
        FullState,
        NoisyValues,
        Observation,
        QuantisedRow,
        QueryOnly,
        QueryRow,
        QueryRowProjected,
        QueryRowValues,
        log_row_of,
    )
    from numeric.first_block.two_components import (
        posterior_variance,
        posterior_variance_bound,
    )

_HOMES = {
    "model": ("CorruptionModel", "HiddenDraws"),
    "block": ("AttentionBlock", "BlockRun", "Measurement"),
    "observations": (
        "ClippedRow",
        "FullState",
        "NoisyValues",
        "Observation",
        "QuantisedRow",
        "QueryOnly",
        "QueryRow",
        "QueryRowProjected",
        "QueryRowValues",
        "log_row_of",
    ),
    "inference": ("Margins", "Posterior", "frozen_row_posterior", "posterior"),
    "fibre": (
        "Grouping",
        "Sufficiency",
        "frozen_row_difference",
        "grouping",
        "information_loss",
        "row_stability",
        "sufficiency",
        "unresolved_contrasts",
        "zero_one_law",
    ),
    "two_components": ("posterior_variance", "posterior_variance_bound"),
    "checks": ("TowerTest", "fibre_twins", "measurability_gap", "tower_test"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022  # by subject
    "CorruptionModel",
    "HiddenDraws",
    "AttentionBlock",
    "BlockRun",
    "Measurement",
    "ClippedRow",
    "FullState",
    "NoisyValues",
    "Observation",
    "QuantisedRow",
    "QueryOnly",
    "QueryRow",
    "QueryRowProjected",
    "QueryRowValues",
    "log_row_of",
    "Margins",
    "Posterior",
    "frozen_row_posterior",
    "posterior",
    "Grouping",
    "Sufficiency",
    "frozen_row_difference",
    "grouping",
    "information_loss",
    "row_stability",
    "sufficiency",
    "unresolved_contrasts",
    "zero_one_law",
    "posterior_variance",
    "posterior_variance_bound",
    "TowerTest",
    "fibre_twins",
    "measurability_gap",
    "tower_test",
]


def __getattr__(name: str) -> Any:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'numeric.first_block' has no attribute {name!r}")
    return getattr(importlib.import_module(f"numeric.first_block.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
