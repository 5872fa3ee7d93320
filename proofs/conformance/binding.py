"""Parameters and declared names: which goes where, and what the arrays look like."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from proofs.conformance.claim import Claim
from proofs.conformance.errors import BindingError, FunctionError
from proofs.evaluate import Complex, Family, Model
from proofs.evaluate.model import Number, Rows
from proofs.language.types import Kind, Type

Convert = Callable[[np.ndarray], Any]
INTEGERS = ("dimension", "index", "integer")


@dataclass(frozen=True, slots=True)
class Binding:
    """How a function is called at a model.

    `names` has the declared name for each parameter; without `by_keyword` they are passed in
    their order. Vectors are passed flat, with shape (n,), unless `columns` asks for (n, 1).
    """

    function: Callable[..., Any]
    names: Mapping[str, str]
    by_keyword: frozenset[str]
    types: Mapping[str, Type]
    dtype: np.dtype
    convert: Convert
    columns: bool = False

    def arrays(self, model: Model) -> dict[str, np.ndarray | int]:
        """The argument for each parameter, as NumPy arrays and integers."""
        return {
            parameter: self._array(model.values[identifier], self.types[identifier])
            for parameter, identifier in self.names.items()
        }

    def _array(self, value: Any, type_: Type) -> np.ndarray | int:
        if type_.domain in INTEGERS:
            return int(value)
        dtype = np.result_type(self.dtype, np.complex64) if type_.is_complex else self.dtype
        if isinstance(value, Family):
            counts = np.max(np.array(list(value.members)), axis=0)
            members = {k: self._cells(m, type_, dtype) for k, m in value.members.items()}
            first = next(iter(members.values()))
            out = np.empty((*counts, *first.shape), dtype)
            for place, cells in members.items():
                out[tuple(k - 1 for k in place)] = cells
            return out
        return self._cells(value, type_, dtype)

    def _cells(self, value: Number | Rows, type_: Type, dtype: np.dtype) -> np.ndarray:
        rows = value if isinstance(value, tuple) else ((value,),)
        cells = np.array([[_number(x) for x in row] for row in rows], dtype=dtype)
        if type_.is_scalar:
            return cells[0, 0].reshape(())
        if type_.cols.value == 1 and not self.columns:
            return cells[:, 0]
        return cells

    def call(self, arrays: Mapping[str, np.ndarray | int]) -> Any:
        """What the function returns; whatever it raises goes through."""
        given = {p: x if isinstance(x, int) else self.convert(x) for p, x in arrays.items()}
        positional = [x for p, x in given.items() if p not in self.by_keyword]
        return self.function(
            *positional, **{p: x for p, x in given.items() if p in self.by_keyword}
        )


def _number(x: Number) -> complex | float:
    if isinstance(x, Complex):
        return complex(_float(x.re), _float(x.im))
    return _float(Fraction(x))


def _float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def bind(
    function: Callable[..., Any],
    claim: Claim,
    *,
    names: Mapping[str, str] | Sequence[str] | None = None,
    dtype: str = "float64",
    arrays: str | Convert | None = None,
    columns: bool = False,
) -> Binding:
    """Tie a function's parameters to the declared names.

    Args:
        function: what is asked about.
        claim: what it should compute.
        names: for parameters that are called otherwise, the declared name of each; or the
            declared names in the order of the arguments. Default: by their own names.
        dtype: "float64" or "float32".
        arrays: "numpy", "torch", or what turns a NumPy array into the function's own kind.
            Default: seen from the function.
        columns: pass and expect vectors as columns (n, 1).

    Raises:
        BindingError: a parameter or a name is left over, or a name can't be passed.
        FunctionError: it can't be called, or the arrays' library is missing.
    """
    if not callable(function):
        raise FunctionError(f"expected a function, got {type(function).__name__}")
    scope = claim.scope
    if names is not None and not isinstance(names, Mapping):
        bound = {f"argument {k}": n for k, n in enumerate(names, 1)}
        by_keyword: set[str] = set()
    else:
        bound, by_keyword = _by_name(function, dict(names or {}), scope.types)
    for parameter, identifier in bound.items():
        if identifier not in scope.types:
            raise BindingError(
                f"{parameter} is bound to {identifier!r}, which is not declared; "
                f"declared are {', '.join(scope.types)}"
            )
        if identifier in scope.random_names:
            raise BindingError(
                f"{parameter} is bound to {identifier}, a random name, of which no value is asked "
                "for: choose a goal and a side in which it stands outside of E and cov"
            )
        kind = scope.types[identifier].kind
        if kind not in (Kind.MATRIX, Kind.FAMILY):
            raise BindingError(f"{identifier} is a {kind.value}: code can't be given its value")
    free = {n for n in scope.types if scope.types[n].domain != "dimension"} - set(bound.values())
    for output in claim.outputs:
        # Where both sides may serve, it is enough that one of them speaks of the arguments alone.
        missing = min((claim.depends_on([t]) & free for t in output.alternatives), key=len)
        if missing:
            raise BindingError(
                f"{output.what} depends on {', '.join(sorted(missing))}, which no parameter is "
                "bound to"
            )
    try:
        kind = np.dtype(dtype)
    except TypeError as error:
        raise BindingError(f"there is no dtype {dtype!r}") from error
    if kind not in (np.dtype("float64"), np.dtype("float32")):
        raise BindingError(f"dtype must be float64 or float32, got {dtype!r}")
    convert = _converter(function, arrays)
    return Binding(function, bound, frozenset(by_keyword), scope.types, kind, convert, columns)


def _by_name(
    function: Callable[..., Any], names: dict[str, str], declared: Mapping[str, Type]
) -> tuple[dict[str, str], set[str]]:
    """The declared name for each parameter that has one, and the parameters passed by keyword."""
    try:
        # A torch module is called through a method that takes anything; `forward` is its own.
        signature = inspect.signature(getattr(function, "forward", function))
    except (TypeError, ValueError):
        raise BindingError(
            "the function doesn't tell its parameters: give the declared names in the order of "
            "its arguments, names=['A', 'b']"
        ) from None
    bound: dict[str, str] = {}
    by_keyword: set[str] = set()
    takes_any = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            takes_any = True
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        identifier = names.pop(parameter.name, parameter.name)
        if identifier == parameter.name and identifier not in declared:
            if parameter.default is parameter.empty:
                raise BindingError(
                    f"no declared name is called {parameter.name!r}, as a parameter is; "
                    f"declared are {', '.join(declared)}: say names={{{parameter.name!r}: '...'}}"
                )
            continue
        bound[parameter.name] = identifier
        if parameter.kind is not parameter.POSITIONAL_ONLY:
            by_keyword.add(parameter.name)
    if names and not takes_any:
        raise BindingError(
            f"the function has no parameter {', '.join(map(repr, names))}; it has "
            f"{', '.join(signature.parameters)}"
        )
    bound |= names
    return bound, by_keyword | set(names)


def _converter(function: Callable[..., Any], arrays: str | Convert | None) -> Convert:
    if callable(arrays):
        return arrays
    library = arrays or ("torch" if _is_for_torch(function) else "numpy")
    if library == "numpy":
        return np.asarray
    if library != "torch":
        raise FunctionError(f"arrays must be 'numpy', 'torch' or a function, got {library!r}")
    try:
        torch = importlib.import_module(library)
    except ImportError as error:
        raise FunctionError(
            "the function takes torch tensors, and torch isn't installed"
        ) from error
    return torch.asarray


def _is_for_torch(function: Callable[..., Any]) -> bool:
    """Whether a function is a torch module, or annotates its parameters as tensors."""
    if any(base.__module__.partition(".")[0] == "torch" for base in type(function).__mro__):
        return True
    annotations = getattr(function, "__annotations__", {})
    return any("Tensor" in str(a) or "torch" in str(a) for a in annotations.values())


def as_numpy(value: Any) -> np.ndarray:
    """A result as a NumPy array of numbers.

    Raises:
        TypeError: it is something else.
    """
    for step in ("detach", "cpu", "resolve_conj", "numpy"):
        if hasattr(value, step) and not isinstance(value, np.ndarray):
            value = getattr(value, step)()
    found = np.asarray(value)
    if found.dtype.kind not in "biufc":
        raise TypeError(f"expected numbers, got {type(value).__name__} of dtype {found.dtype}")
    return found
