"""Reads SymPy expressions into terms: a closed list of node types, and no string is evaluated.

Reading is a convenience. What SymPy evaluated before we saw it (`x/x` arrives as 1) can't be
detected, so a reading is printed as statement text, for the eye.

Indices of SymPy count from 0, ours from 1. An index of an expression may have a number (sums and
products with such limits are written out: explicit entries) or stand for a term of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy
from sympy import Basic, Integer, MatrixBase, Rational, Symbol
from sympy.matrices.expressions.matexpr import MatrixElement

from derive.notation import Extended, Pinv, Skip
from proofs.language.errors import StatementError
from proofs.language.infer import Scope, range_type
from proofs.language.show import thm
from proofs.language.tokens import CONSTANTS, KEYWORDS
from proofs.language.tree import (
    Declaration,
    Statement,
    Term,
    abstract,
    name,
    names_in,
    rational,
    term,
)

Index = int | Term  # a number counts from 0, a term from 1
Entries = Callable[[tuple[Index, ...]], Term]
MAX_TERMS = 1_000  # of a sum that is written out


class ReadingError(StatementError):
    """An expression that can't be read as a term; says what stood there."""


@dataclass(frozen=True)
class Reading:
    """How the symbols of an expression are read.

    Args:
        values: the term for a symbol or matrix; a name that is absent stands for itself.
        entries: for an indexed base, the term at given indices; absent: the entries of its value.
        indices: for an index, its number (from 0) or its term (from 1).
        sizes: for a size, its number or its term.
        labels: for a base of labels, its table.
    """

    values: Mapping[str, Term] = field(default_factory=dict)
    entries: Mapping[str, Entries] = field(default_factory=dict)
    indices: Mapping[str, Index] = field(default_factory=dict)
    sizes: Mapping[str, int | Term] = field(default_factory=dict)
    labels: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def at(self, **indices: Index) -> Reading:
        """The same reading with further indices."""
        return replace(self, indices={**self.indices, **indices})


def read_sympy(expression: Basic, reading: Reading | None = None) -> Term:
    """The term that a SymPy expression or explicit matrix says.

    Args:
        expression: of the node types that this module lists, on real numbers and matrices.
        reading: what its symbols stand for; by default each stands for the name that it has.

    Returns:
        A term, not yet typed.

    Raises:
        ReadingError: any other node, a float, a name that the language can't have.

    Example:
        >>> from sympy import Symbol, exp
        >>> from proofs.language.show import text
        >>> x = Symbol("x")
        >>> text(read_sympy((x + 1)/exp(-x)**2))
        '(x + 1)*exp(2*x)'
    """
    if not isinstance(expression, (Basic, MatrixBase)):
        raise ReadingError(f"expected a SymPy expression, got {type(expression).__name__}")
    try:
        return _read(expression, reading or Reading())
    except RecursionError:
        raise ReadingError("the expression is nested too deeply") from None


def read_equation(equation: sympy.Equality) -> Statement:
    """The statement that the sides of an equation agree, its names declared by what SymPy assumes.

    A `Symbol` without assumptions is complex; a `MatrixSymbol` is real; a symbol that occurs as a
    size is a dimension.

    Raises:
        ReadingError: as `read_sympy`; also an `IndexedBase` without a shape.
    """
    goal = term("eq", *map(read_sympy, equation.args))
    return Statement(_declarations(equation), (), goal)


def sympy_to_thm(equation: sympy.Equality) -> str:
    """The text of a statement file for an equation of SymPy.

    Example:
        >>> from sympy import Eq, MatrixSymbol, symbols
        >>> n = symbols("n", integer=True, positive=True)
        >>> A, B = MatrixSymbol("A", n, n), MatrixSymbol("B", n, n)
        >>> print(sympy_to_thm(Eq((A*B).T, B.T*A.T, evaluate=False)))
        let n : dimension
        let A, B : matrix(n, n)
        show B.T*A.T = B.T*A.T
    """
    return thm(read_equation(equation)).rstrip()


# ---------------------------------------------------------------- the nodes


def _read(node: Any, r: Reading) -> Term:
    for kinds, rule in _RULES:
        if isinstance(node, kinds):
            return rule(node, r)
    function = _FUNCTIONS.get(node.func)
    if function is None:
        raise ReadingError(f"{type(node).__name__} can't be read: {str(node)[:80]}")
    return term(function, *(_read(a, r) for a in node.args))


def legal_name(identifier: str) -> str:
    """The identifier, if the language can have it as a name.

    Raises:
        ReadingError: it can't.
    """
    if not identifier.isidentifier() or identifier in KEYWORDS or identifier in CONSTANTS:
        raise ReadingError(f"{identifier!r} can't be a name")
    return identifier


def _symbol(node: Any, r: Reading) -> Term:
    identifier = str(node.name)
    if identifier in r.values:
        return r.values[identifier]
    if identifier in r.sizes:
        found = r.sizes[identifier]
        return rational(found) if isinstance(found, int) else found
    if node.is_commutative is False and isinstance(node, Symbol):
        raise ReadingError(f"{identifier!r} doesn't commute; use a matrix symbol")
    return name(legal_name(identifier))


def _rational(node: Rational, _r: Reading) -> Term:
    return rational(Fraction(int(node.p), int(node.q)))


def _constant(node: Basic, _r: Reading) -> Term:
    if node is sympy.pi:
        return term("constant", data="pi")
    if node is sympy.E:
        return term("constant", data="e")
    if node is sympy.I:
        return term("constant", data="i")
    raise ReadingError(f"{node} is no number of the language")


def _add(node: Basic, r: Reading) -> Term:
    total: Term | None = None
    for part in _ordered(node):
        negative, positive = _sign(part)
        value = _read(positive, r)
        if total is None:
            total = term("neg", value) if negative else value
        else:
            total = term("sub" if negative else "add", total, value)
    assert total is not None
    return total


def _ordered(node: Any) -> list[Any]:
    """The parts of a sum in an order that depends on nothing but the sum, negative ones last."""
    parts: list[Any] = list(node.args if node.is_Matrix else node.as_ordered_terms())
    return sorted(parts, key=lambda part: _sign(part)[0])


def _sign(node: Any) -> tuple[bool, Any]:
    """Whether a part of a sum has a minus sign, and the part without it."""
    if node.is_Matrix:
        first = node.args[0] if isinstance(node, sympy.MatMul) else None
        if first is not None and first.is_Rational and first < 0:
            rest = node.args[1:] if first == -1 else (-first, *node.args[1:])
            return True, rest[0] if len(rest) == 1 else sympy.MatMul(*rest, evaluate=False)
        return False, node
    coefficient, rest = node.as_coeff_Mul()
    if coefficient.is_Rational and coefficient < 0:
        return True, sympy.Mul(-coefficient, rest, evaluate=False) if coefficient != -1 else rest
    return False, node


def _mul(node: Any, r: Reading) -> Term:
    """Factors in their order; powers with a negative exponent become divisions."""
    negative, positive = _sign(node)
    if negative:
        return term("neg", _read(positive, r))
    top: Term | None = None
    bottom: list[Term] = []
    for factor in node.as_ordered_factors():  # `args` come in an order that may vary
        if factor.is_Pow and not factor.is_Matrix and _is_negative(factor.exp):
            bottom.append(_power(factor.base, -factor.exp, r))
        elif factor.is_Rational and factor.q != 1 and factor.p == 1:
            bottom.append(rational(int(factor.q)))
        elif not (factor.is_Rational and factor == 1):
            value = _read(factor, r)
            top = value if top is None else term("mul", top, value)
    found = rational(1) if top is None else top
    for value in bottom:
        found = term("div", found, value)
    return found


def _is_negative(exponent: Any) -> bool:
    return bool(exponent.is_Rational and exponent < 0)


def _pow(node: Any, r: Reading) -> Term:
    base, exponent = node.args
    if _is_negative(exponent):
        return term("div", rational(1), _power(base, -exponent, r))
    return _power(base, exponent, r)


def _power(base: Any, exponent: Any, r: Reading) -> Term:
    value = _read(base, r)
    if exponent == 1:
        return value
    if exponent == Rational(1, 2):
        return term("sqrt", value)
    return term("pow", value, _read(exponent, r))


# ---------------------------------------------------------------- indices, sums, products


def read_index(node: Any, r: Reading) -> Index:
    """An index: its number from 0, or its term from 1."""
    if isinstance(node, Integer):
        return int(node)
    if isinstance(node, Symbol):
        if node.name in r.indices:
            return r.indices[node.name]
        raise ReadingError(f"the index {node} has no value here")
    if isinstance(node, Skip):
        position, anchor = (read_index(a, r) for a in node.args)
        if isinstance(position, int) and isinstance(anchor, int):
            return position + (position >= anchor)
    if isinstance(node, sympy.Indexed) and str(node.base) in r.labels:
        (place,) = (read_index(a, r) for a in node.indices)
        if isinstance(place, int):
            return r.labels[str(node.base)][place]
    raise ReadingError(f"an index {node} can't be read")


def index_term(index: Index) -> Term:
    """An index as a term, counted from 1."""
    return rational(index + 1) if isinstance(index, int) else index


def read_size(node: Any, r: Reading) -> int | Term:
    """A size or a limit: a number where all its parts are numbers."""
    if isinstance(node, Integer):
        return int(node)
    if isinstance(node, Symbol):
        return r.sizes.get(node.name, name(legal_name(node.name)))
    if isinstance(node, (sympy.Add, sympy.Mul)):
        parts = [read_size(a, r) for a in node.args]
        numbers = [p for p in parts if isinstance(p, int)]
        if len(numbers) == len(parts):
            return sum(numbers) if isinstance(node, sympy.Add) else int(sympy.prod(numbers))
        if isinstance(node, sympy.Add):
            total, constant = None, sum(numbers)
            for p in parts:
                if isinstance(p, Term):
                    total = p if total is None else term("add", total, p)
            assert total is not None
            if constant:
                op = "add" if constant > 0 else "sub"
                return term(op, total, rational(abs(constant)))
            return total
    raise ReadingError(f"a size {node} can't be read")


def _indexed(node: Any, r: Reading) -> Term:
    base = str(node.base)
    places = tuple(read_index(i, r) for i in node.indices)
    return _entries_of(base, r)(places)


def _entries_of(base: str, r: Reading) -> Entries:
    if base in r.entries:
        return r.entries[base]
    whole = r.values[base] if base in r.values else name(legal_name(base))
    return lambda places: term("entry", whole, *map(index_term, places))


def _extended(node: Any, r: Reading) -> Term:
    """The vector with a zero put in at the anchor."""
    vector, anchor, place = node.args
    at, here = read_index(anchor, r), read_index(place, r)
    if not (isinstance(at, int) and isinstance(here, int)):
        raise ReadingError("a vector with an entry put in is read at numbered places only")
    if here == at:
        return rational(0)
    return _entries_of(str(vector), r)((here - (here > at),))


def _element(node: Any, r: Reading) -> Term:
    matrix, *places = node.args
    return term("entry", _read(matrix, r), *(index_term(read_index(p, r)) for p in places))


def _delta(node: Any, r: Reading) -> Term:
    left, right = (read_index(a, r) for a in node.args)
    if not (isinstance(left, int) and isinstance(right, int)):
        raise ReadingError("a Kronecker delta is read at numbered indices only")
    return rational(int(left == right))


def _series(node: Any, r: Reading) -> Term:
    """A sum or product over an index: written out between numbers, a binder otherwise."""
    is_sum = isinstance(node, sympy.Sum)
    body, *limits = node.args
    if len(limits) != 1 or len(limits[0]) != 3:
        raise ReadingError(f"a sum or product over one index was expected: {node}")
    variable, low, high = limits[0]
    first, last = read_size(low, r), read_size(high, r)
    if isinstance(first, int) and isinstance(last, int):
        if last - first >= MAX_TERMS:
            raise ReadingError(f"more than {MAX_TERMS} terms to write out")
        found = rational(0 if is_sum else 1)
        for k in range(first, last + 1):
            value = _read(body, r.at(**{variable.name: k}))
            found = value if k == first else term("add" if is_sum else "mul", found, value)
        return found
    if first != 0:
        raise ReadingError(f"an index counts from 0: {node}")
    end = read_size(high + 1, r)
    assert isinstance(end, Term)  # a number is written out above
    fresh = f"{variable.name}_index"
    type_ = range_type(rational(1), end, names_in(end))
    inner = _read(body, r.at(**{variable.name: name(fresh)}))
    return term("sum" if is_sum else "prod", rational(1), end, abstract(inner, (fresh,), (type_,)))


# ---------------------------------------------------------------- matrices


def _size_term(node: Any, r: Reading) -> Term:
    found = read_size(node, r)
    return rational(found) if isinstance(found, int) else found


def _matrix_product(node: Any, r: Reading) -> Term:
    negative, positive = _sign(node)
    if negative:
        return term("neg", _read(positive, r))
    found: Term | None = None
    for factor in node.args:
        value = _read(factor, r)
        found = value if found is None else term("mul", found, value)
    assert found is not None
    return found


def _special(node: Any, r: Reading) -> Term:
    if isinstance(node, sympy.Identity):
        return term("eye", _size_term(node.shape[0], r))
    op = "ones" if isinstance(node, sympy.OneMatrix) else "zeros"
    return term(op, *(_size_term(s, r) for s in node.shape))


def _matrix_power(node: Any, r: Reading) -> Term:
    base, exponent = node.args
    if exponent == -1:
        return term("inv", _read(base, r))
    return term("pow", _read(base, r), _read(exponent, r))


def _explicit(node: Any, r: Reading) -> Term:
    rows, cols = node.shape
    return term(
        "block",
        *(_read(node[i, j], r) for i in range(rows) for j in range(cols)),
        data=(rows, cols),
    )


def _blocks(node: Any, r: Reading) -> Term:
    rows, cols = node.blockshape
    return term(
        "block",
        *(_read(node.blocks[i, j], r) for i in range(rows) for j in range(cols)),
        data=(rows, cols),
    )


_RULES: tuple[tuple[Any, Callable[[Any, Reading], Term]], ...] = (
    (sympy.MatrixSymbol, _symbol),
    (MatrixElement, _element),
    ((sympy.BlockMatrix,), _blocks),
    ((sympy.ImmutableDenseMatrix, sympy.MutableDenseMatrix), _explicit),
    ((sympy.Identity, sympy.ZeroMatrix, sympy.OneMatrix), _special),
    (sympy.MatAdd, _add),
    (sympy.MatMul, _matrix_product),
    (sympy.Inverse, lambda node, r: term("inv", _read(node.args[0], r))),
    (sympy.MatPow, _matrix_power),
    (sympy.Indexed, _indexed),
    (Extended, _extended),
    (sympy.KroneckerDelta, _delta),
    ((sympy.Sum, sympy.Product), _series),
    (Symbol, _symbol),
    (Rational, _rational),
    (sympy.NumberSymbol, _constant),
    (type(sympy.I), _constant),
    (sympy.Add, _add),
    (sympy.Mul, _mul),
    (sympy.exp, lambda node, r: term("exp", _read(node.exp, r))),
    (sympy.Pow, _pow),
)
_FUNCTIONS: dict[Any, str] = {
    sympy.log: "log",
    sympy.LambertW: "lambertw",
    sympy.sin: "sin",
    sympy.cos: "cos",
    sympy.tanh: "tanh",
    sympy.erf: "erf",
    sympy.Abs: "abs",
    sympy.Max: "max",
    sympy.Min: "min",
    sympy.Transpose: "transpose",
    sympy.Adjoint: "adjoint",
    sympy.Trace: "tr",
    sympy.Determinant: "det",
    sympy.HadamardProduct: "hadamard",
    Pinv: "pinv",
}


# ---------------------------------------------------------------- declarations


def _declarations(expression: Basic) -> tuple[Declaration, ...]:
    """Declarations for all symbols: dimensions first, then by name."""
    matrices = sorted(expression.atoms(sympy.MatrixSymbol), key=lambda m: str(m.name))
    sizes = {s for m in matrices for size in m.shape for s in size.free_symbols}
    inside = {s for m in matrices for s in m.free_symbols - sizes}
    scalars = sorted(
        (s for s in expression.free_symbols - sizes - inside if isinstance(s, Symbol)), key=str
    )
    if expression.atoms(sympy.IndexedBase):
        raise ReadingError("an indexed base has no shape; read its entries with a `Reading`")
    found = [
        Declaration((legal_name(str(s)),), term("dimension_type")) for s in sorted(sizes, key=str)
    ]
    found += [Declaration((legal_name(str(s)),), _domain(s)) for s in scalars]
    for m in matrices:
        shape = (_size_term(size, Reading()) for size in m.shape)
        found.append(Declaration((legal_name(str(m.name)),), term("matrix_type", *shape)))
    Scope.of(found)  # look-alikes and ill-formed sizes are refused here
    return tuple(found)


def _domain(symbol: Symbol) -> Term:
    for known, op in (
        (symbol.is_integer, "integer_type"),
        (symbol.is_positive, "positive_type"),
        (symbol.is_nonnegative, "nonnegative_type"),
        (symbol.is_real and symbol.is_nonzero, "nonzero_type"),
        (symbol.is_real, "real_type"),
    ):
        if known:
            return term(op)
    return term("complex_type")
