"""Many tokens that denoise one another: particles moved by layers of Gaussian kernel attention.

`sums` gives the kernel sums, pair by pair (`direct`, `compiled`), by Chebyshev series (`panels`, of
`boxes` and `chebyshev`) or by Fourier series (`fourier`), whichever `costs` says is fastest; weak
sums are done again over their `neighbourhoods`, and far queries get their nearest particle
(`nearest_first`).
`schedules` are the layers' steps, `refinement` is finite depth, `flows` continuous depth, with
truncation; `observers` look at a cloud, and `population` replaces one by its law.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numeric.lazy import on_first_use

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


__getattr__, __dir__ = on_first_use(__name__, _HOMES)
