"""The off-support test: whether a value can have come from a law that is degenerate (FB-4a)."""

from __future__ import annotations

import numpy as np

from numeric import door
from numeric.errors import OffSupportError
from numeric.linear_algebra import kernel_projector, rank_tolerance

# How far from the support a value may lie, in units of what rounding and the rank tolerance allow.
SUPPORT_SLACK = 8.0


def check_support(
    name: str,
    matrix: door.Floats,
    vector: door.Floats,
    spread: door.Floats,
    size: door.Floats,
    rank_tol: float | None,
) -> None:
    """Refuse a vector outside the span of the matrix's rows (FB-4a).

    A direction that counts as zero may still carry sqrt(rank_tol) of the spread, and the entries
    have been rounded.
    """
    if vector.size == 0 or matrix.size == 0:
        return
    missed = kernel_projector(np, matrix, rank_tol) @ vector[..., None]
    distance = np.linalg.norm(missed[..., 0], axis=-1)
    relative = rank_tolerance(np, matrix, rank_tol)
    allowed = SUPPORT_SLACK * (np.sqrt(relative) * spread + relative * size)
    if (distance > allowed).any():
        worst = float(np.max(distance - allowed))
        raise OffSupportError(
            name,
            f"a value in the support, to within {float(np.max(allowed)):.3g}",
            f"one at distance {float(np.max(distance)):.3g}",
            worst,
            "the data contradict the model: a wrong mask, offset or quantized entries; or raise "
            "rank_tol",
        )
