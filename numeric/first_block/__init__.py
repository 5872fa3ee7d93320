"""The exact first block: what one attention block, read at one token, tells of a finite mixture.

`model` is the corruption law, `block` the attention block, `observations` what an estimator is
given, and `inference` what it then knows: by `resolution`, the projector on what is pinned down
(`row_part` and `value_part` over `row_space`), or by `cells`. `fibre` says what is left open and
whether anything hangs on it, `two_components` how much, and `checks` tests any posterior against
any observation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numeric.lazy import on_first_use

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


__getattr__, __dir__ = on_first_use(__name__, _HOMES)
