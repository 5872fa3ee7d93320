"""Compiled contenders, where their libraries are installed: loops for numba, the kernel under JAX.

A loop is what one would write for `numba.njit`: one member of the batch after another, no array in
between. Only kernels for which that makes sense have one. JAX traces the emitted kernel itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numeric.errors import DtypeError

Array = np.ndarray
Contender = Callable[..., Any]


# ---------------------------------------------------------------- loops


def row(logits: Array) -> Array:
    found = np.empty_like(logits)
    for b in range(logits.shape[0]):
        largest, total = logits[b].max(), 0.0
        for j in range(logits.shape[1]):
            found[b, j] = math.exp(logits[b, j] - largest)
            total += found[b, j]
        for j in range(logits.shape[1]):
            found[b, j] /= total
    return found


def log_ratios(logits: Array, anchor: int) -> Array:
    found = np.empty((logits.shape[0], logits.shape[1] - 1))
    for b in range(logits.shape[0]):
        for j in range(found.shape[1]):
            found[b, j] = logits[b, j + (j >= anchor)] - logits[b, anchor]
    return found


def log_det_jacobian(logits: Array) -> Array:
    found = np.empty(logits.shape[0])
    for b in range(logits.shape[0]):
        largest, total, moved = logits[b].max(), 0.0, 0.0
        for j in range(logits.shape[1]):
            shifted = logits[b, j] - largest
            total += math.exp(shifted)
            moved += shifted
        found[b] = logits.shape[1] * math.log(total) - moved
    return found


def softmax_jacobian(logits: Array) -> Array:
    count, size = logits.shape
    found = np.empty((count, size, size))
    s = np.empty(size)
    for b in range(count):
        largest, total = logits[b].max(), 0.0
        for j in range(size):
            s[j] = math.exp(logits[b, j] - largest)
            total += s[j]
        for j in range(size):
            s[j] /= total
        for j in range(size):
            others = 0.0
            for k in range(size):
                if k != j:
                    found[b, j, k] = -s[j] * s[k]
                    others += s[k]
            found[b, j, j] = s[j] * others
    return found


def row_jvp(logits: Array, d_logits: Array) -> Array:
    count, size = logits.shape
    found = np.empty_like(logits)
    for b in range(count):
        place = 0
        for j in range(size):
            if logits[b, j] > logits[b, place]:
                place = j
        total, mean = 0.0, 0.0
        for j in range(size):
            found[b, j] = math.exp(logits[b, j] - logits[b, place])
            total += found[b, j]
            mean += found[b, j] * (d_logits[b, j] - d_logits[b, place])
        mean /= total
        for j in range(size):
            found[b, j] *= (d_logits[b, j] - d_logits[b, place] - mean) / total
    return found


def denoising_time_appendix_clock(beta: Array, s: Array, sigma2: Array) -> Array:
    found = np.empty_like(beta)
    for b in range(beta.shape[0]):
        found[b] = (beta[b] * sigma2[b] + math.log1p(sigma2[b] / s[b])) / 2
    return found


def denoising_time_main_clock(beta: Array, s: Array, sigma2: Array) -> Array:
    found = np.empty_like(beta)
    for b in range(beta.shape[0]):
        found[b] = (sigma2[b] + math.log1p(sigma2[b] / s[b]) / beta[b]) / 2
    return found


def gaussian_elimination(
    mean_u: Array, mean_o: Array, cov_uu: Array, cov_uo: Array, cov_oo: Array, value: Array
) -> tuple[Array, Array]:
    mean, cov = mean_u.copy(), cov_uu.copy()
    size, width = mean_o.shape[1], mean_u.shape[1]
    for b in range(mean.shape[0]):
        seen, cross, block = value[b] - mean_o[b], cov_uo[b].copy(), cov_oo[b].copy()
        for step in range(size):
            pivot = block[step, step]
            if pivot <= size * 2.2e-16 * cov_oo[b, step, step]:
                continue
            for i in range(width):
                gain = cross[i, step] / pivot
                mean[b, i] += gain * seen[step]
                for j in range(width):
                    cov[b, i, j] -= gain * cross[j, step]
                for j in range(step + 1, size):
                    cross[i, j] -= gain * block[step, j]
            for i in range(step + 1, size):
                weight = block[i, step] / pivot
                seen[i] -= weight * seen[step]
                for j in range(step + 1, size):
                    block[i, j] -= weight * block[step, j]
    return mean, cov


LOOPS: dict[str, Contender] = {
    "logratio.row": row,
    "logratio.log_ratios": log_ratios,
    "logratio.log_det_jacobian": log_det_jacobian,
    "logratio.softmax_jacobian": softmax_jacobian,
    "logratio.row_jvp": row_jvp,
    "flow.denoising_time_appendix_clock": denoising_time_appendix_clock,
    "flow.denoising_time_main_clock": denoising_time_main_clock,
    "conditioning.gaussian_elimination": gaussian_elimination,
}


# ---------------------------------------------------------------- calls on given arguments


def numba_call(name: str, arguments: dict[str, Any]) -> Callable[[], Any] | None:
    """A call of the compiled loop, or None where there is none or numba is not installed."""
    if name not in LOOPS or importlib.util.find_spec("numba") is None:
        return None
    compiled = importlib.import_module("numba").njit(LOOPS[name])
    compiled(**arguments)
    return lambda: compiled(**arguments)


def jax_call(kernel: Contender, arguments: dict[str, Any]) -> Callable[[], Any] | None:
    """A call of the kernel under `jax.jit`; None where it can't be traced or JAX is missing."""
    if importlib.util.find_spec("jax") is None:
        return None
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    given = {k: v if isinstance(v, int) else jax.numpy.asarray(v) for k, v in arguments.items()}
    static = [key for key, value in given.items() if isinstance(value, int)]
    traced = jax.jit(kernel, static_argnames=static)
    try:
        jax.block_until_ready(traced(**given))
    except (DtypeError, jax.errors.ConcretizationTypeError):
        return None
    return lambda: jax.block_until_ready(traced(**given))
