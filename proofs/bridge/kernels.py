"""An emitted kernel on exact arguments, on floats, and the theorem's side to compare with.

The arguments are the theorem's terms, evaluated at a model. The kernel's own code runs on exact
arrays: where it only adds, multiplies and inverts, it must give the theorem's side, the very
rationals; elsewhere both are balls, which must overlap and be small. The same kernel on floats is
then measured against that reference.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from flint import arb, fmpq

from derive.steps import Argument, Kernel, Regime
from proofs.bridge.contracts import POINTS, WEIGHTS, Axis, Contract, ContractError
from proofs.bridge.derivations import statics
from proofs.bridge.exact_arrays import EXACT, ExactArray, exact_twin
from proofs.bridge.symbols import is_matrix
from proofs.evaluate import Evaluation, Matrix, Model, Partition, Points
from proofs.evaluate.evaluator import precision
from proofs.language.tree import Term, name, substitute

BITS = 256
DIGITS = 50  # to which balls must agree
NORMAL = float(np.finfo(np.float64).smallest_normal)
HARD = ("singular", "ill-conditioned")  # regimes for such arguments alone
WELL_CONDITIONED = 1e3


class Unevaluated(ArithmeticError):
    """The theorem's side or an argument has no value at a model, or not to enough digits."""


@dataclass(frozen=True)
class Runnable:
    """A contract with its emitted kernel."""

    contract: Contract
    kernel: Kernel
    function: Callable[..., Any]

    @staticmethod
    def of(contract: Contract, function: Callable[..., Any] | None = None) -> Runnable:
        """The kernel that is emitted from the contract's derivation; or another, to be tried.

        Raises:
            ContractError: there is none.
        """
        kernel = contract.derivation.kernel
        if kernel is None:
            raise ContractError(f"no kernel is emitted from {contract.name}")
        if function is None:
            module = importlib.import_module(f"numeric.kernels.{contract.derivation.subject}")
            function = getattr(module, contract.derivation.short_name, None)
            if function is None:
                raise ContractError(f"numeric.kernels has no {contract.name}; emit it")
        return Runnable(contract, kernel, function)

    @property
    def decides_rank(self) -> bool:
        """Whether the result jumps where an argument's rank does."""
        return any(r.name == "singular" for r in self.kernel.regimes)

    # ------------------------------------------------------------ exact

    def arguments(self, model: Model) -> list[ExactArray | int]:
        """The kernel's arguments at a model, exact or as balls.

        Raises:
            Unevaluated: one has no value.
        """
        evaluation = Evaluation(model, (BITS,))
        integers = statics(self.contract, _integers(model))
        return [
            integers[a.name] if a.static else self._argument(a, evaluation)
            for a in self.kernel.arguments
        ]

    def _argument(self, argument: Argument, evaluation: Evaluation) -> ExactArray:
        term = self.contract.values[argument.name]
        if term is WEIGHTS:
            return EXACT.asarray(list(evaluation.model.weights))
        core = len(argument.shape)
        found = evaluation(term)
        by_point = core > 0 and self._is_points(argument)
        if isinstance(found, Matrix) and by_point:
            found = Points((found,) * len(evaluation.model.weights))
        return _cells(found, core, argument.name)

    def _is_points(self, argument: Argument) -> bool:
        return self.contract.sizes.get(str(argument.shape[0])) == POINTS

    def expected(self, model: Model) -> dict[str, ExactArray]:
        """The theorem's side at a model, in the shape of the kernel's outputs.

        Raises:
            Unevaluated: it has no value.
        """
        found = {}
        for output in self.contract.outputs:
            if output.axes:
                found[output.name] = self._by_entries(output.term, output.axes, model)
            else:
                core = 0
                if is_matrix(self.contract.derivation, output.name):
                    value = self.contract.derivation.result[output.name]
                    core = 1 if value.shape[1] == 1 else 2  # type: ignore[union-attr]
                evaluation = Evaluation(model, (BITS,))
                found[output.name] = _cells(evaluation(output.term), core, output.name)
        return found

    def _by_entries(self, term: Term, axes: Sequence[Axis], model: Model) -> ExactArray:
        sizes = _integers(model)
        anchors = statics(self.contract, sizes)
        ranges = [
            [
                k
                for k in range(1, a.size.evaluate(sizes) + 1)
                if not a.anchor or k - 1 != anchors[a.anchor]
            ]
            for a in axes
        ]
        cells = np.empty([len(r) for r in ranges], dtype=object)
        for place in product(*(range(len(r)) for r in ranges)):
            chosen = {a.index: r[k] for a, r, k in zip(axes, ranges, place, strict=True)}
            given = {n: name(n) for n in chosen}
            at = Model(model.declarations, {**model.values, **chosen}, model.weights)
            value = Evaluation(at, (BITS,))(substitute(term, given))
            cells[place] = _cells(value, 0, "the theorem's side").entries[()]
        return ExactArray(cells)

    def exactly(self, arguments: Sequence[ExactArray | int]) -> dict[str, ExactArray]:
        """The kernel's outputs on exact arguments."""
        with precision(BITS):
            found = exact_twin(self.function)(*arguments, xp=EXACT)
        return self._named(found)

    def _named(self, found: Any) -> dict[str, Any]:
        parts = found if isinstance(found, tuple) else (found,)
        return dict(zip(self.kernel.outputs, parts, strict=True))

    # ------------------------------------------------------------ floats

    def in_floats(self, arguments: Sequence[Any]) -> dict[str, np.ndarray]:
        """The kernel's outputs on float arguments; a floating point signal is an error."""
        with np.errstate(all="raise"):
            return self._named(self.function(*arguments))

    def regimes(self, arguments: Sequence[Any]) -> list[Regime]:
        """The lines of the kernel's error table that speak of such arguments."""
        matrices = [
            x for x, a in zip(arguments, self.kernel.arguments, strict=True) if len(a.shape) == 2
        ]
        spectra = [np.linalg.svd(m, compute_uv=False) for m in matrices if m.size]
        singular = any(
            s[-1] <= 1e-14 * s[0] or m.shape[-2] != m.shape[-1]
            for m, s in zip(matrices, spectra, strict=False)
        )
        positive = [s[s > 1e-14 * s[0]] for s in spectra]
        ill = any(len(s) and s[0] > WELL_CONDITIONED * s[-1] for s in positive)
        applies = {"singular": singular, "ill-conditioned": ill}
        return [r for r in self.kernel.regimes if applies.get(r.name, True)]


# ---------------------------------------------------------------- values


def _integers(model: Model) -> dict[str, int]:
    return {n: v for n, v in model.values.items() if isinstance(v, int)}


def _cells(found: object, core: int, what: str) -> ExactArray:
    """A value as an array with so many axes."""
    if isinstance(found, Partition):
        return EXACT.asarray(list(found.blocks))
    if isinstance(found, Points):
        rows = [_cells(x, core - 1, what).entries for x in found.values]
        return ExactArray(np.stack(rows))
    if not isinstance(found, Matrix):
        raise Unevaluated(f"{what} has no value: {getattr(found, 'why', found)}")
    rows, cols = found.shape
    cells = np.empty((rows, cols), dtype=object)
    for i, j in np.ndindex(rows, cols):
        cells[i, j] = found.re[i, j]
    if core == 2:
        return ExactArray(cells)
    if core == 1 and cols == 1:
        return ExactArray(cells[:, 0])
    if core == 0 and (rows, cols) == (1, 1):
        lone = np.empty((), dtype=object)
        lone[()] = cells[0, 0]
        return ExactArray(lone)
    raise Unevaluated(f"{what} is {rows} by {cols}, not an array with {core} axes")


@dataclass(frozen=True, slots=True)
class Agreement:
    """How two exact arrays compare: the first difference, or the digits to which they agree.

    `digits` is None where all entries are rational, hence equal.
    """

    difference: str = ""
    digits: float | None = None


def compare(found: ExactArray, expected: ExactArray) -> Agreement:
    """Equality of rationals, overlap of balls.

    Raises:
        Unevaluated: a ball is too wide to say anything.
    """
    if found.shape != expected.shape:
        return Agreement(f"shape {found.shape}, expected {expected.shape}")
    with precision(BITS):
        return _compared(found, expected)


def _compared(found: ExactArray, expected: ExactArray) -> Agreement:
    digits: float | None = None
    for place in np.ndindex(*found.shape):
        x, y = found.entries[place], expected.entries[place]
        if isinstance(x, fmpq) and isinstance(y, fmpq):
            if x != y:
                return Agreement(f"{shown(x)} at {place}, expected {shown(y)}")
            continue
        p, q = arb(x), arb(y)
        if not p.overlaps(q):
            return Agreement(f"{shown(x)} at {place}, expected {shown(y)}")
        here = min(_digits(p), _digits(q))
        if here < DIGITS:
            raise Unevaluated(f"only {here:.0f} digits at {place}")
        digits = here if digits is None else min(digits, here)
    return Agreement(digits=digits)


def _digits(ball: arb) -> float:
    """Digits of a ball: relative ones; absolute ones where it holds 0."""
    if not ball.is_finite():
        return 0.0
    radius = abs(ball.rad())
    if radius == 0:
        return float("inf")
    size = arb(1) if ball.contains(0) else abs(ball)
    return float(((size / radius).log() / arb(10).log()).mid())


def shown(x: Any) -> str:
    """An entry in a message."""
    return x.str(20) if isinstance(x, arb) else str(x)


def to_floats(array: ExactArray) -> np.ndarray:
    """The nearest floats."""
    found = np.empty(array.shape)
    for place in np.ndindex(*array.shape):
        found[place] = to_float(array.entries[place])
    return found


def to_float(x: Any) -> float:
    if isinstance(x, arb):
        return float(x.mid())
    try:
        return int(x.p) / int(x.q)
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def is_float(x: Any) -> bool:
    """Whether an exact number is a float."""
    return (
        isinstance(x, fmpq)
        and np.isfinite(to_float(x))
        and (Fraction(to_float(x)) == Fraction(int(x.p), int(x.q)))
    )


# ---------------------------------------------------------------- errors of floats


def relative_errors(
    got: np.ndarray, reference: ExactArray, scale: float | None, floor: float
) -> float:
    """The worst error of floats against exact entries.

    Args:
        got: what the kernel gave.
        reference: exact or balls.
        scale: what errors are relative to; None: each entry's own size, and `floor` where that
            is 0.
        floor: see `scale`.
    """
    if got.shape != reference.shape:
        return float("inf")
    with precision(BITS):
        return max(
            (
                _error(float(got[place]), reference.entries[place], scale, floor)
                for place in np.ndindex(*got.shape)
            ),
            default=0.0,
        )


def _error(value: float, reference: Any, scale: float | None, floor: float) -> float:
    if not np.isfinite(value):
        return float("inf")
    exact = arb(reference)
    own = abs(exact) if scale is None else arb(scale)
    unit = own if own > NORMAL else arb(max(floor, NORMAL) if own.contains(0) else NORMAL)
    return float((abs(arb(value) - exact) / unit).upper())


def scales(
    regime: Regime, arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]
) -> dict[str, float | None]:
    """What each output's error is relative to, by the word that the kernel's table uses.

    Raises:
        ContractError: a word that isn't known here.
    """
    measure = _SCALES.get(regime.relative_to)
    if measure is None:
        raise ContractError(
            f"no scale is called {regime.relative_to!r}; there are {', '.join(sorted(_SCALES))}"
        )
    return measure(arguments, outputs)


def _largest(values: Any) -> float:
    return max((abs(float(x)) for x in np.ravel(values)), default=0.0)


def _each_entry(_arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    return dict.fromkeys(outputs)


def _t_squared(arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    return dict.fromkeys(outputs, float(arguments["t"]) ** 2)


def _prior(arguments: Mapping[str, np.ndarray], _outputs: Mapping[str, ExactArray]) -> dict:
    variance = _largest(arguments["cov_uu"])
    deviations = np.sqrt(np.diagonal(arguments["cov_oo"]))
    drawn = np.abs(arguments["value"] - arguments["mean_o"])
    surprise = _largest(drawn / np.where(deviations > 0, deviations, 1))
    spread = _largest(arguments["mean_u"]) + np.sqrt(variance) * (1 + surprise)
    return {"mean": float(spread), "residual_cov": variance}


def _mean(_arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    return {"mean": _largest(to_floats(outputs["mean"])) + 1}


def _mean_square(arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    squares = (arguments["target"] ** 2).sum(axis=-1)
    return dict.fromkeys(outputs, float((arguments["masses"] * squares).sum()))


def _weighted_spread(
    arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]
) -> dict:
    """The largest s_j sum_k s_k |dx_j - dx_k|, or what balls resolve of the direction."""
    logits, along = arguments["logits"], arguments["d_logits"]
    weights = np.exp(logits - logits.max())
    row = weights / weights.sum()
    apart = np.abs(along[:, None] - along[None, :]) @ row
    return dict.fromkeys(outputs, max(_largest(row * apart), 1e-50 * _largest(along)))


def _tokens(arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    return dict.fromkeys(outputs, float(len(arguments["logits"])))


def _two_logarithms(arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    """The factor of a difference of two logarithms times their sum."""
    start, end, beta = (float(arguments[name]) for name in ("v_start", "v_end", "beta"))
    widened = 1 + beta * end
    both = abs(np.log1p(beta * (start - end) / widened)) + abs(np.log(start / end)) / 2
    return dict.fromkeys(outputs, float(arguments["eta"] * end / widened * both))


def _products(arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    """The product of the arguments' norms, those below 1 left out; or the largest entry."""
    bound = 1.0
    for values in arguments.values():
        bound *= max(float(np.linalg.norm(np.ravel(values))), 1.0)
    return {name: max(bound, _largest(to_floats(o))) for name, o in outputs.items()}


def _largest_term(arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    """What the terms of a log-density or of log-odds are at most."""
    if "eigenvalues" in arguments:
        logs = np.abs(np.log(2 * np.pi * arguments["eigenvalues"]))
        squares = arguments["coordinates"] ** 2 / arguments["eigenvalues"]
        return dict.fromkeys(outputs, float((logs + squares).sum()))
    total = _largest(arguments["log_prior"])
    pairs = (("means", "state"), ("means", "point"), ("query_means", "c"))
    for means, state in ((arguments[a], arguments[b]) for a, b in pairs if b in arguments):
        reference = means[arguments["reference"]]
        contrasts = np.linalg.norm((means - reference) / arguments["t"], axis=-1)
        moved = float(np.linalg.norm((state - reference) / arguments["t"]))
        total += _largest(contrasts * moved + contrasts**2)
    return dict.fromkeys(outputs, total)


def _noise(arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    off = np.abs(arguments["token"] - arguments["means"]) / arguments["t"]
    return dict.fromkeys(outputs, _largest(off))


def _moved(arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    """The sizes of the deviation's terms added up; the other outputs themselves."""
    apart = np.abs(arguments["responsibilities"] - arguments["approximate"])
    terms = apart @ np.abs(arguments["targets"]) * (1 / arguments["t"] - 1)
    return {**dict.fromkeys(outputs), "deviation": _largest(terms) or None}


def _contrasts(arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    apart = (arguments["means"][:, None] - arguments["means"]) / arguments["t"]
    return dict.fromkeys(outputs, _largest((apart**2).sum(axis=-1)))


def _token(_arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    return dict.fromkeys(outputs, _largest(to_floats(outputs["token"])) + 1)


def _largest_entry(arguments: Mapping[str, np.ndarray], outputs: Mapping[str, ExactArray]) -> dict:
    """The largest, or what balls resolve of the arguments' squares where all entries may be 0."""
    resolved = 1e-50 * (1 + max(map(_largest, arguments.values()))) ** 2
    found = {}
    for output, array in outputs.items():
        known = [to_float(x) for x in array.entries.flat if not arb(x).contains(0)]
        found[output] = _largest(known) or resolved
    return found


def _of_arguments(measure: Callable[[Mapping[str, np.ndarray]], float]) -> Callable[..., dict]:
    """A scale that the arguments alone determine."""
    return lambda arguments, outputs: dict.fromkeys(outputs, measure(arguments))


def _reach(arguments: Mapping[str, np.ndarray]) -> float:
    """The largest coordinate of all points."""
    points = ("queries", "particles", "mu", "y", "means")
    return max(_largest(arguments[name]) for name in points if name in arguments)


def _distance(arguments: Mapping[str, np.ndarray]) -> float:
    return _largest(arguments["queries"][:, None] - arguments["particles"])


def _spread(arguments: Mapping[str, np.ndarray]) -> float:
    particles = arguments["particles"]
    return _largest(particles[:, None] - particles)


def _terms(arguments: Mapping[str, np.ndarray]) -> float:
    """What a log density or an energy is the sum of."""
    if "queries" in arguments:
        logs = _largest(arguments["log_weights"]) + 2
        return _distance(arguments) ** 2 + logs / float(arguments["beta"])
    variances = arguments["eigenvalues"] + arguments["sigma2"]
    squares = ((arguments["y"] - arguments["mu"]) @ arguments["basis"]) ** 2 / variances
    return float((np.abs(np.log(2 * np.pi * variances)) + squares).sum() / 2)


def _tweedie(arguments: Mapping[str, np.ndarray]) -> float:
    noise = float(arguments["sigma2"])
    if "score" in arguments:
        return _largest(arguments["y"]) + noise * _largest(arguments["score"])
    return noise + noise**2 * _largest(arguments["hessian"])


_SCALES: dict[str, Callable[..., dict[str, float | None]]] = {
    "the largest entry": _largest_entry,
    "the points": _of_arguments(_reach),
    "the particles": _of_arguments(lambda given: _largest(given["particles"])),
    "the means": _of_arguments(lambda given: _largest(given["means"])),
    "the distances": _of_arguments(_distance),
    "beta times the distances": _of_arguments(
        lambda given: float(given["beta"]) * _distance(given)
    ),
    "1 + root of beta times the spread": _of_arguments(
        lambda given: 1 + float(np.sqrt(given["beta"])) * _spread(given)
    ),
    "1 + beta times the squares": _of_arguments(
        lambda given: 1 + float(given["beta"]) * _reach(given) ** 2
    ),
    "its terms": _of_arguments(_terms),
    "its logits": _of_arguments(
        lambda given: 1 + _largest(given["log_weights"] + given["log_likelihoods"])
    ),
    "the larger term": _of_arguments(_tweedie),
    "each entry": _each_entry,
    "t^2": _t_squared,
    "the prior": _prior,
    "the mean": _mean,
    "the mean square of the values": _mean_square,
    "the weighted spread": _weighted_spread,
    "the number of tokens": _tokens,
    "the two logarithms": _two_logarithms,
    "the products": _products,
    "the largest term": _largest_term,
    "the noise": _noise,
    "the terms of the sum": _moved,
    "the squared contrasts": _contrasts,
    "the token": _token,
}
