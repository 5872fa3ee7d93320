"""Exact arrays behave as NumPy's do, on rationals without rounding and on balls that enclose."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from flint import arb, fmpq

from derive.library import derivations, subjects
from numeric import namespace as numeric_namespace
from numeric.kernels import flow
from proofs.bridge import EXACT, ExactArray, ExactNamespace, exact_twin
from proofs.bridge.exact_arrays import NoSuchOperation, NotExact
from proofs.evaluate.evaluator import precision

SEED = 7


def floats(array: ExactArray) -> np.ndarray:
    found = np.empty(array.shape)
    for place in np.ndindex(*array.shape):
        x = array.entries[place]
        found[place] = float(x.mid()) if isinstance(x, arb) else int(x.p) / int(x.q)
    return found


OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda xp, a, b: a + b,
    "subtract from a number": lambda xp, a, b: 2 - a,
    "divide": lambda xp, a, b: a / b,
    "one over": lambda xp, a, b: 1 / b,
    "power": lambda xp, a, b: (a - b) ** 2,
    "negative": lambda xp, a, b: -a * 3,
    "matrix product": lambda xp, a, b: a @ xp.matrix_transpose(b),
    "sum": lambda xp, a, b: xp.sum(a * b, axis=-1),
    "sum of an inner axis": lambda xp, a, b: xp.sum(a, axis=-2),
    "max": lambda xp, a, b: xp.max(a, axis=-1),
    "minimum": lambda xp, a, b: xp.minimum(a, b),
    "where": lambda xp, a, b: xp.where((a > b) & (a > 0), a, 0),
    "not above": lambda xp, a, b: xp.where(a <= b, 1, b),
    "abs and sign": lambda xp, a, b: xp.abs(a) * xp.sign(a),
    "copysign": lambda xp, a, b: xp.copysign(b, a),
    "exp and log": lambda xp, a, b: xp.log(1 + xp.exp(a)) + xp.log1p(b),
    "sqrt and tanh": lambda xp, a, b: xp.sqrt(xp.abs(a)) - xp.tanh(b) * xp.pi,
    "concat": lambda xp, a, b: xp.concat([a, b], axis=-1),
    "indices": lambda xp, a, b: a[..., 0, None] + b[..., 1:, :],
    "broadcast": lambda xp, a, b: xp.broadcast_to(a[..., None, :, :], (*a.shape[:-2], 4, 2, 3)),
    "reshape": lambda xp, a, b: xp.reshape(a, (*a.shape[:-2], 6)),
    "eye": lambda xp, a, b: xp.where(xp.eye(3) > 0, a[..., :1, :], 0),
}


@pytest.mark.parametrize("batch", [(), (1,), (4, 2), (0,)], ids=str)
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())
def test_operations_agree_with_numpy(operation: Callable[..., Any], batch: tuple[int, ...]):
    rng = np.random.default_rng(SEED)
    a = rng.integers(-8, 9, (*batch, 2, 3)) / 4
    b = rng.integers(1, 9, (*batch, 2, 3)) / 2
    exact = operation(EXACT, EXACT.asarray(a), EXACT.asarray(b))
    expected = operation(np, a, b)
    assert exact.shape == expected.shape
    np.testing.assert_allclose(floats(exact), expected, rtol=1e-14, atol=0)


def test_rational_arithmetic_does_not_round():
    third = EXACT.asarray([Fraction(1, 3), 0.1])
    total = EXACT.sum(third * 3, axis=-1)
    assert total.entries[()] == fmpq(1) + 3 * fmpq(3602879701896397, 36028797018963968)


def test_a_pseudo_inverse_is_exact_at_every_rank():
    a = EXACT.asarray([[[1, 2], [2, 4]], [[0, 0], [0, 0]], [[1, 2], [3, 4]]])
    p = EXACT.linalg.pinv(a)
    assert [(a @ p @ a).entries.tolist(), (p @ a @ p).entries.tolist()] == [
        a.entries.tolist(), p.entries.tolist(),
    ]  # fmt: skip


def test_an_undecided_choice_gives_the_hull_of_both_branches():
    with precision(64):
        near_one = EXACT.asarray(arb(1, 1e-10))
        chosen = EXACT.where(near_one >= 1, near_one, 2).entries[()]
        assert chosen.contains(arb(1))
        assert chosen.contains(arb(2))
        decided = EXACT.where(near_one >= 0, near_one, 2).entries[()]
        assert not decided.contains(arb(2))
    with pytest.raises(NotExact, match="overlap"):
        EXACT.any(near_one >= 1)


def test_what_has_no_value_is_an_error_and_no_nan():
    zero = EXACT.asarray([0, 1])
    for attempt in (lambda: EXACT.log(zero), lambda: 1 / zero, lambda: EXACT.log(-1 - zero)):
        with pytest.raises(NotExact):
            attempt()
    with pytest.raises(NotExact, match="balls"):
        EXACT.linalg.pinv(EXACT.exp(EXACT.eye(2)))


def test_exact_values_stay_rational_where_functions_have_one():
    assert EXACT.exp(EXACT.asarray(0)).entries[()] == fmpq(1)
    assert EXACT.log(EXACT.asarray(1)).entries[()] == fmpq(0)
    assert EXACT.sqrt(EXACT.asarray(Fraction(4, 9))).entries[()] == fmpq(2, 3)
    assert EXACT.tanh(EXACT.asarray(0)).entries[()] == fmpq(0)
    product = EXACT.asarray(0) * EXACT.exp(EXACT.asarray(1))
    assert product.entries[()] == fmpq(0)


def test_the_namespace_counts_as_exact_and_has_nothing_else():
    assert numeric_namespace.is_exact(EXACT)
    assert numeric_namespace.namespace(None, EXACT.asarray(1)) is EXACT
    with pytest.raises(NoSuchOperation, match="'argsort'"):
        EXACT.argsort  # noqa: B018


@pytest.mark.parametrize(
    "name",
    [d.name for subject in subjects() for d in derivations(subject) if d.kernel is not None],
)
def test_emitted_kernels_keep_to_the_operations_of_exact_arrays(name: str):
    subject, _, function = name.partition(".")
    module = __import__(f"numeric.kernels.{subject}", fromlist=[function])
    tree = ast.parse(inspect.getsource(inspect.unwrap(getattr(module, function))))
    asked = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "xp"
    }
    assert asked <= set(dir(ExactNamespace)), f"{name} asks for {asked - set(dir(ExactNamespace))}"


def test_a_twin_exchanges_float_helpers_and_leaves_the_kernel_alone():
    kernel = flow.eigenvalue_appendix_clock
    twin = exact_twin(kernel)
    assert twin.__code__ is inspect.unwrap(kernel).__code__
    assert inspect.unwrap(kernel).__globals__["two_sum"] is not twin.__globals__["two_sum"]
    with precision(256):
        exact = twin(*map(EXACT.asarray, (1.0, 2.0, 0.5)), xp=EXACT).entries[()]
        w = (arb(2) * arb(1).exp()).lambertw()
        assert exact.overlaps(w)
        assert exact.rel_accuracy_bits() > 200
    assert kernel(1.0, 2.0, 0.5) == pytest.approx(float(w.mid()), rel=1e-15)
    assert flint.ctx.prec == 53
