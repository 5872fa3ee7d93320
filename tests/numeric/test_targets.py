"""The same emitted source on other arrays than NumPy's: array_api_strict, PyTorch, JAX.

array_api_strict offers what the array API says and nothing beyond it, so that what runs there runs
on every library that keeps to it.
"""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest

from benchmarks.cases import case, cases
from benchmarks.kernels import kernel_function

GENERIC = sorted(cases())
UNTRACED = {name for name in GENERIC if "not to be traced" in str(kernel_function(name).__doc__)}
SEED = 29
LIBRARIES = ("array_api_strict", "torch", "jax")


def converter(library: str) -> Any:
    """Makes an array of the library from one of NumPy; skips where it is not installed."""
    if library == "array_api_strict":
        return array_api_strict.asarray
    if library == "torch":
        pytest.importorskip("array_api_compat")
        return pytest.importorskip("torch").asarray
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray


def typical(name: str, count: int = 4) -> dict[str, Any]:
    return case(name).regimes["typical"](np.random.default_rng(SEED), count)


def converted(arguments: dict[str, Any], convert: Any) -> dict[str, Any]:
    return {k: v if isinstance(v, int) else convert(v) for k, v in arguments.items()}


def outputs(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def as_numpy(array: Any) -> np.ndarray:
    return np.asarray(array.__array__() if hasattr(array, "__array__") else array)


@pytest.mark.parametrize("name", GENERIC)
@pytest.mark.parametrize("library", LIBRARIES)
def test_kernel_gives_the_same_on_arrays_of_another_library(library: str, name: str):
    convert, arguments = converter(library), typical(name)
    function = kernel_function(name)
    want = outputs(function(**arguments))
    given = converted(arguments, convert)
    kind = type(next(value for value in given.values() if not isinstance(value, int)))
    for got, expected in zip(outputs(function(**given)), want, strict=True):
        assert isinstance(got, kind)
        assert tuple(got.shape) == expected.shape
        found = as_numpy(got)
        assert found.dtype == np.float64
        scale = np.abs(expected).max(initial=0)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * scale)


@pytest.mark.parametrize("name", ["logratio.row", "conditioning.gaussian_elimination"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_float32_and_empty_batches_on_another_library(library: str, name: str):
    convert, arguments = converter(library), typical(name)
    half = {k: v if isinstance(v, int) else v.astype(np.float32) for k, v in arguments.items()}
    for got in outputs(kernel_function(name)(**converted(half, convert))):
        assert as_numpy(got).dtype == np.float32
    empty = {k: v if isinstance(v, int) else v[:0] for k, v in arguments.items()}
    for got in outputs(kernel_function(name)(**converted(empty, convert))):
        assert got.shape[0] == 0


@pytest.mark.parametrize("name", sorted(set(GENERIC) - UNTRACED))
def test_kernel_stays_on_the_device_of_its_tensors(name: str):
    """The `meta` device computes shapes alone, and refuses a tensor that was made elsewhere."""
    pytest.importorskip("array_api_compat")
    torch = pytest.importorskip("torch")
    arguments = typical(name)
    given = converted(arguments, lambda value: torch.asarray(value, device="meta"))
    want = outputs(kernel_function(name)(**arguments))
    for got, expected in zip(outputs(kernel_function(name)(**given)), want, strict=True):
        assert got.device.type == "meta"
        assert tuple(got.shape) == expected.shape


@pytest.mark.parametrize("name", GENERIC)
def test_kernel_can_be_traced_by_jax_unless_it_says_otherwise(name: str):
    jax = pytest.importorskip("jax")
    given = converted(typical(name), converter("jax"))
    static = [key for key, value in given.items() if isinstance(value, int)]
    traced = jax.jit(kernel_function(name), static_argnames=static)
    if name in UNTRACED:
        with pytest.raises(jax.errors.TracerBoolConversionError):
            traced(**given)
        return
    plain = outputs(kernel_function(name)(**given))
    for got, want in zip(outputs(traced(**given)), plain, strict=True):
        scale = np.abs(want).max(initial=0)
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11 * scale)
