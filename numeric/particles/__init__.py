"""Many tokens that denoise one another: particles moved by layers of Gaussian kernel attention.

`sums` gives the kernel sums, pair by pair (`direct`, `compiled`) or by Chebyshev series (`panels`,
of `boxes` and `chebyshev`), and far queries by their nearest particle (`nearest_first`).
`schedules` are the layers' steps, `refinement` is finite depth, `flows` continuous depth, with
truncation; `observers` look at a cloud, and `population` replaces one by its law.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numeric.particles.flows import flow, truncated_flow
    from numeric.particles.observers import (
        cluster_count,
        energies,
        mean_square_error,
        moments,
        support,
    )
    from numeric.particles.population import weighted_grid
    from numeric.particles.refinement import (
        BandwidthWarning,
        Layer,
        RefinedPrior,
        denoise,
        posterior_mean,
        refine,
    )
    from numeric.particles.schedules import Schedule, annealed_layers, equal_layers
    from numeric.particles.sums import KernelSums, kernel_sums

_HOMES = {
    "flows": ("flow", "truncated_flow"),
    "observers": ("cluster_count", "energies", "mean_square_error", "moments", "support"),
    "population": ("weighted_grid",),
    "refinement": (
        "BandwidthWarning",
        "Layer",
        "RefinedPrior",
        "denoise",
        "posterior_mean",
        "refine",
    ),
    "schedules": ("Schedule", "annealed_layers", "equal_layers"),
    "sums": ("KernelSums", "kernel_sums"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022  # by subject
    "KernelSums",
    "kernel_sums",
    "Schedule",
    "annealed_layers",
    "equal_layers",
    "BandwidthWarning",
    "Layer",
    "RefinedPrior",
    "denoise",
    "posterior_mean",
    "refine",
    "flow",
    "truncated_flow",
    "cluster_count",
    "energies",
    "mean_square_error",
    "moments",
    "support",
    "weighted_grid",
]


def __getattr__(name: str) -> Any:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'numeric.particles' has no attribute {name!r}")
    return getattr(importlib.import_module(f"numeric.particles.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
