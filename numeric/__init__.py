"""Numerics: vectorized algorithms on arrays, over kernels that are emitted from derivations.

What is public is loaded when it is first used, so that `import numeric` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numeric.attention import (
        Law,
        head_log_ratios,
        head_values,
        log_ratio_law,
        measurement_matrix,
        recovered_tokens,
        row_log_density,
        value_law,
    )
    from numeric.branches import Branches, OutputPosterior, logit_branches, output_posterior
    from numeric.conditioning import TokenPosterior, condition, condition_on_log_ratios
    from numeric.density import fixed_row_posterior, log_density, noise_mean, state_posterior
    from numeric.depth import (
        Shortcut,
        bayes_time,
        covariance_layers,
        depth_flow,
        equal_steps,
        euler_error,
        layer_defect,
        minimal_depth,
        one_shot,
        schedule_time,
        stage_one,
    )
    from numeric.errors import (
        DomainError,
        DtypeError,
        NonFiniteError,
        NotPositiveSemidefiniteError,
        NotSymmetricError,
        NumericError,
        OffSupportError,
        RefinementError,
        ShapeError,
    )
    from numeric.fibre import FibreSystem, fibre_posterior, fibre_system, unresolved_contrasts
    from numeric.flow import covariance_flow, denoising_time, eigenvalue_flow, terminal_covariance
    from numeric.interpolant import (
        interpolant_flow,
        interpolant_velocity,
        path_gap,
        regression_floor,
        velocity_gap,
    )
    from numeric.logratio import (
        log_ratio_jacobian,
        log_ratio_log_det,
        log_ratio_log_det_gradient,
        log_ratios,
        log_ratios_of_row,
        row_from_log_ratios,
        row_jacobian,
        softmax_change,
        softmax_jacobian,
        softmax_row,
    )
    from numeric.recovery import (
        Recovery,
        excess_bounds,
        excess_expansion,
        gaussian_recovery,
        slope_error_bound,
        terminal_excess,
        terminal_slope_error,
    )
    from numeric.ripples import (
        growth_rate,
        log_amplification,
    )
    from numeric.risk import FourTerms, four_term_risk, four_term_risk_finite
    from numeric.stability import (
        Stability,
        log_ratio_margin,
        query_error_bound,
        recovery_bound,
        stability_bound,
    )
    from numeric.transport import (
        gaussian_flow_map,
        gaussian_velocity,
    )

_HOMES = {
    "attention": (
        "Law",
        "head_log_ratios",
        "head_values",
        "log_ratio_law",
        "measurement_matrix",
        "recovered_tokens",
        "row_log_density",
        "value_law",
    ),
    "branches": ("Branches", "OutputPosterior", "logit_branches", "output_posterior"),
    "conditioning": ("TokenPosterior", "condition", "condition_on_log_ratios"),
    "density": ("fixed_row_posterior", "log_density", "noise_mean", "state_posterior"),
    "errors": (
        "DomainError",
        "DtypeError",
        "NonFiniteError",
        "NotPositiveSemidefiniteError",
        "NotSymmetricError",
        "NumericError",
        "OffSupportError",
        "RefinementError",
        "ShapeError",
    ),
    "fibre": ("FibreSystem", "fibre_posterior", "fibre_system", "unresolved_contrasts"),
    "flow": ("covariance_flow", "denoising_time", "eigenvalue_flow", "terminal_covariance"),
    "logratio": (
        "log_ratio_jacobian",
        "log_ratio_log_det",
        "log_ratio_log_det_gradient",
        "log_ratios",
        "log_ratios_of_row",
        "row_from_log_ratios",
        "row_jacobian",
        "softmax_change",
        "softmax_jacobian",
        "softmax_row",
    ),
    "depth": (
        "Shortcut",
        "bayes_time",
        "covariance_layers",
        "depth_flow",
        "equal_steps",
        "euler_error",
        "layer_defect",
        "minimal_depth",
        "one_shot",
        "schedule_time",
        "stage_one",
    ),
    "interpolant": (
        "interpolant_flow",
        "interpolant_velocity",
        "path_gap",
        "regression_floor",
        "velocity_gap",
    ),
    "recovery": (
        "Recovery",
        "excess_bounds",
        "excess_expansion",
        "gaussian_recovery",
        "slope_error_bound",
        "terminal_excess",
        "terminal_slope_error",
    ),
    "ripples": (
        "growth_rate",
        "log_amplification",
    ),
    "transport": (
        "gaussian_flow_map",
        "gaussian_velocity",
    ),
    "risk": ("FourTerms", "four_term_risk", "four_term_risk_finite"),
    "stability": (
        "Stability",
        "log_ratio_margin",
        "query_error_bound",
        "recovery_bound",
        "stability_bound",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022  # by subject
    "TokenPosterior",
    "condition",
    "condition_on_log_ratios",
    "covariance_flow",
    "denoising_time",
    "eigenvalue_flow",
    "terminal_covariance",
    "log_ratio_jacobian",
    "log_ratio_log_det",
    "log_ratio_log_det_gradient",
    "log_ratios",
    "log_ratios_of_row",
    "row_from_log_ratios",
    "row_jacobian",
    "softmax_change",
    "softmax_jacobian",
    "softmax_row",
    "FourTerms",
    "four_term_risk",
    "four_term_risk_finite",
    "Law",
    "head_log_ratios",
    "head_values",
    "log_ratio_law",
    "measurement_matrix",
    "recovered_tokens",
    "row_log_density",
    "value_law",
    "fixed_row_posterior",
    "log_density",
    "noise_mean",
    "state_posterior",
    "FibreSystem",
    "fibre_posterior",
    "fibre_system",
    "unresolved_contrasts",
    "Stability",
    "log_ratio_margin",
    "query_error_bound",
    "recovery_bound",
    "stability_bound",
    "Shortcut",
    "bayes_time",
    "covariance_layers",
    "depth_flow",
    "equal_steps",
    "euler_error",
    "layer_defect",
    "minimal_depth",
    "one_shot",
    "schedule_time",
    "stage_one",
    "interpolant_flow",
    "interpolant_velocity",
    "path_gap",
    "regression_floor",
    "velocity_gap",
    "Recovery",
    "excess_bounds",
    "excess_expansion",
    "gaussian_recovery",
    "slope_error_bound",
    "terminal_excess",
    "terminal_slope_error",
    "growth_rate",
    "log_amplification",
    "gaussian_flow_map",
    "gaussian_velocity",
    "Branches",
    "OutputPosterior",
    "logit_branches",
    "output_posterior",
    "DomainError",
    "DtypeError",
    "NonFiniteError",
    "NotPositiveSemidefiniteError",
    "NotSymmetricError",
    "NumericError",
    "OffSupportError",
    "RefinementError",
    "ShapeError",
]


def __getattr__(name: str) -> Any:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'numeric' has no attribute {name!r}")
    return getattr(importlib.import_module(f"numeric.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
