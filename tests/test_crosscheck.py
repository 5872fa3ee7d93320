"""One law suite for every pair of derivation and kernel.

Each kernel is compared with references that owe nothing to its derivation (exact fractions, or
mpmath with digits doubled until they agree), with the derivation's own explicit entries, and with
itself on other batch shapes and types. A deliberately wrong variant must fail the same law.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

from benchmarks.cases import case, cases, reference
from benchmarks.cases.exact import exact
from benchmarks.errors import one_instance, regime_of, worst_error
from benchmarks.kernels import kernel_function
from benchmarks.lambdified import lambdified
from derive.entries import entries, scalar_entries
from derive.library import derivations, find, subjects
from derive.steps import Derivation
from tests.exact_namespace import EXACT

SEED = 20240
KERNELS = [d.name for subject in subjects() for d in derivations(subject) if d.kernel]
RATIONAL = [name for name in KERNELS if case(name).rational]


def regimes() -> Iterator[tuple[str, str]]:
    for name in KERNELS:
        yield from ((name, regime) for regime in case(name).regimes)


def outputs_of(result: Any) -> tuple[np.ndarray, ...]:
    return result if isinstance(result, tuple) else (result,)


def holds_to_its_table(name: str, regime: str, function: Callable[..., Any], seed: int) -> bool:
    """The law: on this regime the error stays within the kernel's own table."""
    error = worst_error(name, regime, function, seed=seed, count=case(name).count)
    print(f"{name} {regime}: worst error {error:.2e}, seed {seed}")
    return error <= regime_of(name, regime).bound


def test_every_kernel_has_instances_for_exactly_the_regimes_of_its_table():
    assert set(KERNELS) == set(cases())
    for name in KERNELS:
        kernel = find(name).kernel
        assert kernel is not None
        assert [regime.name for regime in kernel.regimes] == list(case(name).regimes)


@pytest.mark.parametrize(("name", "regime"), list(regimes()))
def test_kernel_holds_to_its_error_table_without_a_warning(name: str, regime: str):
    with np.errstate(all="raise"):
        assert holds_to_its_table(name, regime, kernel_function(name), SEED)


def spoiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel with its first output changed in the seventh digit, or moved off infinity."""

    def wrong(**arguments: Any) -> tuple[Any, ...]:
        first, *others = outputs_of(function(**arguments))
        return (np.asarray(first) * (1 + 1e-7) + 1e-200, *others)

    return wrong


@pytest.mark.parametrize("name", KERNELS)
def test_a_wrong_seventh_digit_fails_the_law(name: str):
    assert not holds_to_its_table(name, "typical", spoiled(kernel_function(name)), SEED)


@pytest.mark.parametrize("name", KERNELS)
def test_exchanged_arguments_change_the_result(name: str):
    """A kernel that confuses two arguments of one shape would be seen by the law."""
    function = kernel_function(name)
    arguments = case(name).regimes["typical"](np.random.default_rng(SEED), 20)
    shapes = {key: value.shape for key, value in arguments.items() if not isinstance(value, int)}
    for a, b in itertools.combinations(shapes, 2):
        if shapes[a] != shapes[b]:
            continue
        swapped = {**arguments, a: arguments[b], b: arguments[a]}
        with np.errstate(all="ignore"):  # exchanged arguments may leave the domain
            before, after = outputs_of(function(**arguments)), outputs_of(function(**swapped))
        changed = any(not np.allclose(x, y) for x, y in zip(before, after, strict=True))
        assert changed != ({a, b} <= set(case(name).exchangeable)), (a, b)


# ---------------------------------------------------------------- exact and 50-digit paths


@pytest.mark.parametrize("name", RATIONAL)
def test_kernel_is_exact_on_fractions(name: str):
    arguments = case(name).regimes[case(name).rational](np.random.default_rng(SEED), 3)
    fractions = {
        key: value if isinstance(value, int) or "labels" in key else EXACT.asarray(value)
        for key, value in arguments.items()
    }
    namespace = {**vars(EXACT)}
    if "labels_Z" in arguments:  # labels are compared, never computed with
        namespace["asarray"] = lambda value, dtype=None: value
    got = outputs_of(kernel_function(name)(**fractions, xp=type(EXACT)(**namespace)))
    for place in range(3):
        want = reference(name, one_instance(arguments, place))
        for expected, output in zip(want, got, strict=True):
            if isinstance(_first(expected), Fraction):
                assert np.array(expected, dtype=object).tolist() == _plain(output[place])
            else:  # mpmath numbers of exact inputs
                flat = zip(np.ravel(np.array(expected)), np.ravel(output[place]), strict=True)
                assert all(
                    abs(a - mpmath.mpf(b.numerator) / b.denominator) < 1e-12 * abs(a)
                    for a, b in flat
                )


def _first(value: Any) -> Any:
    while isinstance(value, list):
        value = value[0]
    return value


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def sizes_and_values(derivation: Derivation, instance: dict[str, Any]) -> tuple[dict, dict]:
    """Sizes for `entries`, and the instance as exact rationals."""
    kernel = derivation.kernel
    assert kernel is not None
    sizes: dict[Any, int] = {}
    values: dict[Any, Any] = {}
    for argument in kernel.arguments:
        value = instance[argument.name]
        if argument.static:
            sizes[argument.symbol] = value
            continue
        for size, length in zip(argument.shape, np.shape(value), strict=True):
            if size.is_Symbol:
                sizes[size] = length
            else:
                (symbol,) = size.free_symbols
                sizes[symbol] = int(sympy.solve(size - length, symbol)[0])
        values[argument.symbol] = value.tolist() if argument.label else _rational(exact(value))
    return sizes, values


def _rational(value: Any) -> Any:
    if isinstance(value, list):
        return [_rational(part) for part in value]
    return sympy.Rational(value.numerator, value.denominator)


@pytest.mark.parametrize("name", KERNELS)
def test_derivation_written_out_at_50_digits_is_the_reference(name: str):
    """Exact rational data into the derivation's own entries, evaluated with 50 digits."""
    derivation = find(name)
    arguments = case(name).regimes[case(name).written](np.random.default_rng(SEED + 1), 2)
    for place in range(2):
        instance = one_instance(arguments, place)
        if name == "risk.four_terms_finite":  # the derivation needs mass in every block
            instance["masses"] = np.full(len(instance["masses"]), 1 / 64)
        written = entries(derivation, *sizes_and_values(derivation, instance))
        want = reference(name, instance)
        for value, expected in zip(written.values(), want, strict=True):
            for left, right in zip(
                scalar_entries(value), np.ravel(np.array(expected, dtype=object)), strict=True
            ):
                with mpmath.workdps(60):
                    close = mpmath.mpf(sympy.N(left, 55)._to_mpmath(200))
                    right = (
                        mpmath.mpf(right.numerator) / right.denominator
                        if isinstance(right, Fraction)
                        else right
                    )
                    assert abs(close - right) <= mpmath.mpf(10) ** -25 * (abs(right) + 1)


@pytest.mark.parametrize("name", [n for n in KERNELS if n != "risk.four_terms_finite"])
def test_kernel_agrees_with_lambdify_on_the_typical_regime(name: str):
    function = lambdified(name, cse=True)
    assert function is not None
    arguments = case(name).regimes["typical"](np.random.default_rng(SEED), 50)
    for got, want in zip(
        outputs_of(kernel_function(name)(**arguments)),
        outputs_of(function(**arguments)),
        strict=True,
    ):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, np.real(want), rtol=1e-6, atol=1e-9)


def test_lambdify_has_no_printer_for_labels():
    assert lambdified("risk.four_terms_finite", cse=False) is None


# ---------------------------------------------------------------- the shape contract


def batched(name: str, batch: tuple[int, ...]) -> dict[str, Any]:
    count = int(np.prod(batch))
    arguments = case(name).regimes["typical"](np.random.default_rng(SEED), max(count, 1))
    return {
        key: value if isinstance(value, int) else value[:count].reshape((*batch, *value.shape[1:]))
        for key, value in arguments.items()
    }


@pytest.mark.parametrize("batch", [(), (1,), (4, 2), (0,)], ids=str)
@pytest.mark.parametrize("name", KERNELS)
def test_every_batch_shape_gives_the_entries_of_its_members(name: str, batch: tuple[int, ...]):
    function, arguments = kernel_function(name), batched(name, batch)
    with np.errstate(all="raise"):
        outputs = outputs_of(function(**arguments))
    single = outputs_of(function(**batched(name, (1,))))
    for output, one in zip(outputs, single, strict=True):
        assert output.shape == batch + one.shape[1:]
    for place in np.ndindex(*batch):
        alone = {
            key: value if isinstance(value, int) else value[place]
            for key, value in arguments.items()
        }
        for output, one in zip(outputs, outputs_of(function(**alone)), strict=True):
            np.testing.assert_allclose(output[place], one, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_every_output_has_the_full_broadcast_shape(name: str):
    """One argument after another carries the batch alone; no output may miss it."""
    function, arguments = kernel_function(name), batched(name, ())
    plain = outputs_of(function(**arguments))
    for key, value in arguments.items():
        if isinstance(value, int):
            continue
        repeated = {**arguments, key: np.broadcast_to(value, (3, *np.shape(value)))}
        for output, one in zip(outputs_of(function(**repeated)), plain, strict=True):
            assert output.shape == (3, *np.shape(one)), key
            np.testing.assert_allclose(
                output, np.broadcast_to(one, output.shape), rtol=1e-12, atol=1e-14
            )


@pytest.mark.parametrize("name", KERNELS)
def test_float32_stays_float32_and_is_right_to_its_digits(name: str):
    arguments = batched(name, (5,))
    half = {
        key: value.astype(np.float32) if getattr(value, "dtype", None) == np.float64 else value
        for key, value in arguments.items()
    }
    doubled = {
        key: value.astype(np.float64) if getattr(value, "dtype", None) == np.float32 else value
        for key, value in half.items()
    }
    function = kernel_function(name)
    for got, want in zip(
        outputs_of(function(**half)), outputs_of(function(**doubled)), strict=True
    ):
        assert got.dtype == np.float32
        scale = np.abs(want).max()
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3 * scale)


@pytest.mark.parametrize("name", KERNELS)
def test_integers_are_promoted(name: str):
    kernel = find(name).kernel
    assert kernel is not None
    lengths = {
        symbol: 2 for a in kernel.arguments for size in a.shape for symbol in size.free_symbols
    }
    arguments: dict[str, Any] = {}
    for argument in kernel.arguments:
        shape = [int(size.subs(lengths)) for size in argument.shape]
        square = len(shape) == 2 and shape[0] == shape[1] and "uo" not in argument.name
        arguments[argument.name] = (
            1
            if argument.static
            else np.eye(shape[0], dtype=int)
            if square
            else np.ones(shape, dtype=int)
        )
    floats = {
        key: value if isinstance(value, int) else value.astype(float)
        for key, value in arguments.items()
    }
    function = kernel_function(name)
    for got, want in zip(
        outputs_of(function(**arguments)), outputs_of(function(**floats)), strict=True
    ):
        assert got.dtype == np.float64
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_leaves_its_arguments_alone(name: str):
    arguments = batched(name, (4, 2))
    before = {key: np.copy(value) for key, value in arguments.items()}
    kernel_function(name)(**arguments)
    for key, value in before.items():
        np.testing.assert_array_equal(arguments[key], value)
