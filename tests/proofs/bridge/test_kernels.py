"""Kernels compute what their theorems say, on exact arrays and on floats; a wrong one is caught."""

from __future__ import annotations

import ast
import inspect
import random
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from numeric.kernels import conditioning, flow, logratio, risk
from numeric.namespace import drop_entry, namespace, real_arrays
from proofs.bridge import ContractError, Runnable, check_kernel, contract, crosscheck
from proofs.bridge.kernels import compare, relative_errors
from proofs.library import Library
from tests.proofs.bridge.conftest import Write

NAMED = sorted((t.name, name) for t in Library() for name in t.kernel)
SEED = 11


@pytest.mark.parametrize(("theorem", "kernel"), NAMED)
def test_a_kernel_gives_its_theorems_side(library: Library, theorem: str, kernel: str):
    found = check_kernel(Runnable.of(contract(library.find(theorem), kernel)), SEED)
    assert found.problems == [], f"seed {SEED}"
    assert found.instances >= 20
    assert found.floats >= 10
    assert found.batches >= 2  # one of them empty
    assert found.worst_share <= 1  # of what the kernel's own table allows
    assert found.digits is None or found.digits >= 50


def test_the_points_of_the_headers_are_all_tried(library: Library):
    for theorem in library:
        asked = len(theorem.header("at"))
        for name in theorem.kernel:
            runnable = Runnable.of(contract(theorem, name))
            assert check_kernel(runnable, SEED).points == asked, theorem.name


# ---------------------------------------------------------------- wrong kernels


def product_without_the_anchor(logits: Any, *, xp: Any = None) -> Any:
    """The log-determinant as a sum over the entries other than the last."""
    xp = namespace(xp, logits)
    (logits,) = real_arrays(xp, logits)
    log_total = xp.log(xp.sum(xp.exp(logits), axis=-1))
    return -xp.sum(logits[..., :-1] - log_total[..., None], axis=-1)


def jacobian_with_a_sign(row: Any, anchor: int, *, xp: Any = None) -> Any:
    xp = namespace(xp, row)
    return logratio.jacobian(row, anchor, xp=xp) * -1


def log_ratios_upside_down(logits: Any, anchor: int, *, xp: Any = None) -> Any:
    xp = namespace(xp, logits)
    (logits,) = real_arrays(xp, logits)
    return logits[..., anchor, None] - drop_entry(xp, logits, anchor)


def log_ratios_with_the_anchor(logits: Any, anchor: int, *, xp: Any = None) -> Any:
    xp = namespace(xp, logits)
    (logits,) = real_arrays(xp, logits)
    return logits - logits[..., anchor, None]


def overflowing_row(logits: Any, *, xp: Any = None) -> Any:
    """Exactly right, and useless on floats at logits of 800."""
    xp = namespace(xp, logits)
    (logits,) = real_arrays(xp, logits)
    weights = xp.exp(logits)
    return weights / xp.sum(weights, axis=-1)[..., None]


def main_clock_as_appendix_clock(beta: Any, lambda0: Any, time: Any, *, xp: Any = None) -> Any:
    return flow.eigenvalue_appendix_clock(beta, lambda0, time, xp=xp)


def swapped_gain(mean_u: Any, mean_o: Any, cov_uu: Any, cov_uo: Any, cov_oo: Any, value: Any,
                 *, xp: Any = None) -> Any:  # fmt: skip
    mean, cov = conditioning.gaussian_pinv(mean_u, value, cov_uu, cov_uo, cov_oo, mean_o, xp=xp)
    return mean, cov


def prior_as_posterior(mean_u: Any, mean_o: Any, cov_uu: Any, cov_uo: Any, cov_oo: Any,
                       value: Any, *, xp: Any = None) -> Any:  # fmt: skip
    return mean_u, cov_uu


def half_a_projector(t: Any, M: Any, *, xp: Any = None) -> Any:
    return conditioning.residual_cov(t, M, xp=xp) / 2


def slightly_off(t: Any, M: Any, *, xp: Any = None) -> Any:
    """Wrong by 1e-9, which a loose comparison of floats would miss."""
    return conditioning.residual_cov(t, M, xp=xp) * (1 + 2**-30)


def terms_in_another_order(*arguments: Any, xp: Any = None) -> Any:
    noise, information, width, fit = risk.four_terms(*arguments, xp=xp)
    return information, noise, width, fit


def forgets_the_batch(logits: Any, *, xp: Any = None) -> Any:
    xp = namespace(xp, logits)
    (logits,) = real_arrays(xp, logits)
    row = logratio.row(logits, xp=xp)
    return row if logits.ndim == 1 else row[0]


def crashes(logits: Any, *, xp: Any = None) -> Any:
    raise TypeError("no kernel at all")


WRONG: list[tuple[str, str, Callable[..., Any]]] = [
    ("logratio.determinant", "logratio.log_det_jacobian", product_without_the_anchor),
    ("logratio.jacobian", "logratio.jacobian", jacobian_with_a_sign),
    ("softmax_log_ratio", "logratio.log_ratios", log_ratios_upside_down),
    ("softmax_log_ratio", "logratio.log_ratios", log_ratios_with_the_anchor),
    ("softmax_log_ratio", "logratio.row", overflowing_row),
    ("softmax_log_ratio", "logratio.row", forgets_the_batch),
    ("softmax_log_ratio", "logratio.row", crashes),
    ("main_clock", "flow.eigenvalue_main_clock", main_clock_as_appendix_clock),
    ("gaussian_conditioning", "conditioning.gaussian_pinv", swapped_gain),
    ("gaussian_conditioning", "conditioning.gaussian_pinv", prior_as_posterior),
    ("residual_covariance", "conditioning.residual_cov", half_a_projector),
    ("residual_covariance", "conditioning.residual_cov", slightly_off),
    ("four_terms", "risk.four_terms", terms_in_another_order),
]


@pytest.mark.parametrize(("theorem", "kernel", "wrong"), WRONG, ids=lambda v: getattr(
    v, "__name__", str(v)))  # fmt: skip
def test_a_wrong_kernel_is_caught(
    library: Library, theorem: str, kernel: str, wrong: Callable[..., Any]
):
    found = check_kernel(Runnable.of(contract(library.find(theorem), kernel), wrong), SEED)
    assert found.problems, f"{wrong.__name__} was not caught, seed {SEED}"


SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


def with_a_sign_changed(kernel: Callable[..., Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The kernel with one + - * / exchanged, for each of them."""
    plain = inspect.unwrap(kernel)
    source = inspect.getsource(plain)
    count = sum(_changes(node) for node in ast.walk(ast.parse(source)))
    for place in range(count):
        tree = ast.parse(source)
        nodes = [node for node in ast.walk(tree) if _changes(node)]
        node: Any = nodes[place]
        shown = ast.unparse(node)
        node.op = SIGNS[type(node.op)]()
        module = compile(tree, "<changed>", "exec")
        code = next(c for c in module.co_consts if isinstance(c, types.CodeType))
        changed = types.FunctionType(code, plain.__globals__, plain.__name__)
        changed.__kwdefaults__ = plain.__kwdefaults__
        yield shown, np.errstate(under="ignore")(changed)


def _changes(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and type(node.op) in SIGNS


def test_kernels_with_one_sign_changed_are_caught(library: Library):
    """All but those that change only what rounding took off, or what is 0 or symmetric."""
    rng = random.Random(SEED)
    tried = []
    for theorem, name in NAMED:
        runnable = Runnable.of(contract(library.find(theorem), name))
        changes = list(with_a_sign_changed(runnable.function))
        for shown, changed in rng.sample(changes, min(4, len(changes))):
            found = check_kernel(Runnable.of(runnable.contract, changed), SEED)
            tried.append((bool(found.problems), f"{name}: {shown}"))
    survivors = [what for caught, what in tried if not caught]
    assert len(tried) >= 40
    assert len(survivors) <= len(tried) // 6, f"seed {SEED}: {survivors}"


# ---------------------------------------------------------------- the record


def test_a_crosscheck_says_what_was_tried(library: Library):
    found = crosscheck(library.find("logratio.jacobian"), SEED)
    assert found.problems == ()
    assert found.derivation == "proved at p = 1..5"
    assert found.instances >= 24
    assert found.worst_error is not None
    assert 0 < found.worst_error < 1e-15


def test_a_theorem_without_derivation_or_kernel_has_nothing_to_cross_check(library: Library):
    found = crosscheck(library.find("conditioning.normal_equation"), SEED)
    assert (found.problems, found.worst_error, found.derivation) == ((), None, "")
    assert found.instances == 0


def test_the_same_seed_gives_the_same_record(library: Library):
    theorem = library.find("flow.main_clock")
    assert crosscheck(theorem, 3) == crosscheck(theorem, 3)
    assert crosscheck(theorem, 3).instances > 0


def test_a_kernel_that_does_not_fit_is_a_problem_and_no_crash(write: Write):
    theorem = write("#! kernel: flow.nothing, risk.finite_example\nlet x : real\nshow x = x\n")
    problems = crosscheck(theorem, SEED).problems
    assert [p.split(":")[0] for p in problems] == [
        "kernel flow.nothing",
        "kernel risk.finite_example",
    ]
    with pytest.raises(ContractError):
        contract(theorem, "flow.nothing")


def test_a_point_that_breaks_the_hypotheses_is_a_problem(write: Write):
    theorem = write(
        "#! kernel: flow.denoising_time_appendix_clock\n#! at: beta = 1, s = 0, sigma2 = 1\n"
        "let beta, s, sigma2 : positive\ndefine theta = beta*sigma2/2 + log((s + sigma2)/s)/2\n"
        "show theta = theta\n"
    )
    (problem,) = crosscheck(theorem, SEED).problems
    assert "doesn't satisfy the hypotheses: beta, s, sigma2" in problem


def test_errors_are_relative_to_what_the_table_names():
    from proofs.bridge import EXACT

    exact = EXACT.asarray([1.0, 2.0**-1000])
    assert compare(exact, exact).difference == ""
    got = np.array([1.0, 2.0**-999])
    assert relative_errors(got, exact, None, 1.0) == 1.0
    assert relative_errors(got, exact, 2.0**-990, 1.0) < 1e-2
    assert relative_errors(np.array([1.0, np.nan]), exact, None, 1.0) == np.inf
    assert relative_errors(np.array([1.0]), exact, None, 1.0) == np.inf
