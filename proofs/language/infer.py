"""Types of terms: kinds, symbolic shapes, real or complex; what is wrong where they don't fit.

Everything is decided by sizes as polynomials, for all values of the dimensions at once: at
n = k = 1 an ill-typed statement can look well-typed. A walk is iterative and each term is typed
once in a scope. What needs a proof (that an index of type `integer` is in range, that a
denominator is not zero) is left to the definedness goals.

The module is long because it is a table: one short method for each sort of operator.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Set
from dataclasses import dataclass, field

from proofs.language.effort import spend
from proofs.language.errors import LimitExceeded, Span, TypeProblem
from proofs.language.sizes import ONE, Size
from proofs.language.tokens import is_name
from proofs.language.tree import (
    PROPERTIES,
    RELATIONS,
    Declaration,
    Statement,
    Term,
    binders_at,
    names_in,
    natural,
    pair,
    term,
)
from proofs.language.types import RELATION, SCALAR, Kind, Type

MAX_SIZE_DEGREE = 32
MAX_SIZE_TERMS = 256
MAX_SIZE_COEFFICIENT = 10**18

INTEGER = Type(Kind.MATRIX, domain="integer")
_TYPE = Type(Kind.TYPE)
_CLOSED: dict[int, Term] = {}
_INTEGER_DOMAINS = ("integer", "dimension", "index")
_SCALAR_DOMAINS = {
    "real_type": "real",
    "positive_type": "positive",
    "nonnegative_type": "nonnegative",
    "nonzero_type": "nonzero",
    "integer_type": "integer",
    "dimension_type": "dimension",
}
# What a bound name of `diff` may be: a real number that can be moved a little.
_CONTINUOUS = frozenset(("real", "positive", "nonnegative", "nonzero"))
# Random names stand for whole distributions: only these operators take them to constants.
_CLOSING = frozenset(("expect", "cov", "cov_given", "l2norm2", "l2inner"))

Spans = Mapping[Term, Span] | None


@dataclass(frozen=True)
class Scope:
    """Declared names with their types. Make one with `Scope.of`."""

    declarations: tuple[Declaration, ...]
    types: Mapping[str, Type]
    type_terms: Mapping[str, Term]  # of a joint Gaussian: the whole `gaussian_type`
    dimensions: Set[str]
    random_names: Set[str]
    _memo: dict[Term, Type] = field(default_factory=dict, repr=False, compare=False)
    _free: dict[Term, dict[int, Term]] = field(default_factory=dict, repr=False, compare=False)
    _degrees: dict[Term, int] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def of(declarations: Iterable[Declaration], spans: Spans = None) -> Scope:
        """The scope of these declarations, each of which sees the names before it.

        Raises:
            TypeProblem: a name declared twice; a size that is no positive polynomial in
                dimensions; parameters that don't fit; Gaussian and other random names mixed.
        """
        return Scope((), {}, {}, frozenset(), frozenset()).extend(declarations, spans)

    def extend(self, declarations: Iterable[Declaration], spans: Spans = None) -> Scope:
        """This scope with further names.

        Raises:
            TypeProblem: as `of`.
        """
        further = tuple(declarations)
        types, type_terms = dict(self.types), dict(self.type_terms)
        dimensions, random_names = set(self.dimensions), set(self.random_names)
        scope = Scope(self.declarations + further, types, type_terms, dimensions, random_names)
        typing = _Typing(scope, spans)
        for declaration in further:
            for identifier, type_ in typing.names_of(declaration):
                types[identifier] = type_
                type_terms[identifier] = declaration.type
                if type_.domain == "dimension":
                    dimensions.add(identifier)
                if declaration.type.op in ("gaussian_type", "random_type"):
                    random_names.add(identifier)
        return scope


# ---------------------------------------------------------------- the interface


def infer(root: Term, scope: Scope, spans: Spans = None) -> Type:
    """The type of a term whose names are declared in `scope`; free bound variables are fine.

    Raises:
        TypeProblem: kinds or shapes that don't fit, at the innermost place.
    """
    found = scope._memo.get(root)
    return _Typing(scope, spans).infer(root) if found is None else found


def check(statement: Statement, spans: Spans = None, scope: Scope | None = None) -> None:
    """That a statement is well-typed: declarations, hypotheses and goal.

    Raises:
        TypeProblem: what doesn't fit, with its place where `spans` knows it.
    """
    scope = scope or Scope.of(statement.declarations, spans)
    typing = _Typing(scope, spans)
    for hypothesis in statement.hypotheses:
        typing.no_random_name(hypothesis, "a hypothesis")
        if typing.infer(hypothesis).kind is not Kind.RELATION:
            raise typing.problem(hypothesis, "a hypothesis must be a relation or a property")
    goal = statement.goal
    if typing.infer(goal).kind is not Kind.RELATION or goal.op == "forall":
        raise typing.problem(goal, "a goal must be a relation or a property")
    for root in (*statement.hypotheses, goal):
        if root.free:
            raise typing.problem(root, "a bound variable stands outside its binder")


def size_of(root: Term, scope: Scope, spans: Spans = None) -> Size:
    """The size that a term states: a polynomial in dimensions that is at least 1.

    Raises:
        TypeProblem: something else.
        LimitExceeded: a polynomial of a degree or length beyond all use.
    """
    return _Typing(scope, spans).size(root)


def type_from(type_term: Term, scope: Scope, spans: Spans = None) -> Type:
    """The type that a type's term stands for (of a joint Gaussian: that of its first name).

    Raises:
        TypeProblem: sizes or parameters that don't fit.
    """
    typing = _Typing(scope, spans)
    if type_term.op == "gaussian_type":
        return typing.gaussian(type_term)[0]
    return typing.declared(type_term)


def random_degree(root: Term, scope: Scope) -> int:
    """How random names stand in a term outside of E and cov: 0 not at all, 1 affine, 2 else."""
    return _Typing(scope, None).degree(root)


def polynomial(root: Term, dimensions: Container[str]) -> Size | None:
    """An expression as a polynomial in dimensions, negative coefficients allowed, or None."""
    found: dict[Term, Size | None] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        missing = [a for a in node.args if a not in found]
        if missing and node.op in ("add", "sub", "mul", "neg", "pow"):
            stack += missing
            continue
        stack.pop()
        spend(1)
        found[node] = _polynomial_node(node, dimensions, found)
    return found[root]


def _polynomial_node(
    node: Term, dimensions: Container[str], found: Mapping[Term, Size | None]
) -> Size | None:
    if node.op == "name":
        return Size.dimension(str(node.data)) if str(node.data) in dimensions else None
    if node.op == "rational":
        return Size.literal(int(str(node.data))) if str(node.data).lstrip("-").isdecimal() else None
    if node.op not in ("add", "sub", "mul", "neg", "pow"):
        return None
    values = [v for v in (found[a] for a in node.args) if v is not None]
    if len(values) != len(node.args):
        return None
    if node.op == "neg":
        return Size.literal(0) - values[0]
    left, right = values
    if node.op == "add":
        value = left + right
    elif node.op == "sub":
        value = left - right
    elif node.op == "pow":
        exponent = right.value
        if exponent is None or not 0 <= exponent <= 8:
            return None
        value = ONE
        for _ in range(exponent):
            if not _is_modest(value, left):
                return None
            value = value * left
    else:
        if not _is_modest(left, right):
            return None
        value = left * right
    return value if len(value.terms) <= MAX_SIZE_TERMS else None


def _is_modest(left: Size, right: Size) -> bool:
    """Whether a product of two sizes is of a degree and length that someone could mean."""
    degree = sum(max((len(m) for m, _ in s.terms), default=0) for s in (left, right))
    largest = [max((abs(c) for _, c in s.terms), default=0) for s in (left, right)]
    return (
        degree <= MAX_SIZE_DEGREE
        and len(left.terms) * len(right.terms) <= MAX_SIZE_TERMS
        and largest[0] * largest[1] <= MAX_SIZE_COEFFICIENT
    )


def range_type(low: Term, high: Term, dimensions: Container[str]) -> Term:
    """The type of a bound index from `low` to `high`.

    `index(high)` where `low` is an integer literal >= 1 and `high` is a size, else `integer`.
    """
    first = _integer_literal(low)
    last = polynomial(high, dimensions)
    if first is not None and first >= 1 and last is not None and last.is_positive:
        return term("index_type", high)
    return term("integer_type")


def _integer_literal(node: Term) -> int | None:
    if node.op == "rational" and str(node.data).lstrip("-").isdecimal():
        return int(str(node.data))
    return None


def _pending(root: Term, known: Mapping[Term, object]) -> list[Term]:
    """The terms under `root` that aren't known yet, arguments before what uses them."""
    order: list[Term] = []
    seen: set[Term] = set()
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif node not in seen and node not in known:
            seen.add(node)
            spend(6 + len(node.args))
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))
    return order


# ---------------------------------------------------------------- the rules of typing


class _Typing:
    """One walk's scope and spans; a method for each sort of operator."""

    def __init__(self, scope: Scope, spans: Spans) -> None:
        self.scope = scope
        self.spans = spans or {}

    # ------------------------------------------------------------ problems

    def problem(self, node: Term, message: str, part: Term | None = None) -> TypeProblem:
        """An error at `node`, or at that part of it which is at fault."""
        from proofs.language.show import excerpt  # only where something is wrong

        spans = [self.spans[t] for t in (part, node) if t is not None and t in self.spans]
        return TypeProblem(f"{excerpt(node)}: {message}", spans[0] if spans else None)

    # ------------------------------------------------------------ walks

    def infer(self, root: Term) -> Type:
        memo = self.scope._memo
        for node in _pending(root, memo):
            self.scope._free[node] = self.free_types(node)
            rule = _RULES.get(node.op)
            memo[node] = rule(self, node) if rule else _TYPE
        return memo[root]

    def free_types(self, node: Term) -> dict[int, Term]:
        """The types that free bound variables carry, by index; each variable has one."""
        if node.op == "bound":
            if node.args[0].free:
                raise self.problem(node, "a bound variable's type depends on another")
            return {natural(node): node.args[0]}
        if not node.free and not any(a.free for a in node.args):
            return _CLOSED
        found: dict[int, Term] = {}
        for i, arg in enumerate(node.args):
            count = binders_at(node.op, node.data, i)
            for index, type_ in self.scope._free[arg].items():
                if index >= count and found.setdefault(index - count, type_) is not type_:
                    raise self.problem(node, "one bound variable is used with two types")
        return found

    def carried(self, body: Term, index: int = 0) -> Term | None:
        """The type with which `body` uses the variable that its binder binds; None: not at all."""
        return self.scope._free[body].get(index)

    def of(self, node: Term) -> Type:
        return self.scope._memo[node]

    # ------------------------------------------------------------ sizes and declared types

    def size(self, node: Term) -> Size:
        found = polynomial(node, self.scope.dimensions)
        if found is None:
            unknown = sorted(n for n in names_in(node) if n not in self.scope.types)
            if unknown:
                raise self.problem(
                    node, f"unknown name {unknown[0]!r}; declare it: let {unknown[0]} : dimension"
                )
            others = sorted(n for n in names_in(node) if n not in self.scope.dimensions)
            why = f"; {others[0]!r} is {self.scope.types[others[0]]}" if others else ""
            raise self.problem(
                node,
                "expected a size: a positive integer or a polynomial in "
                f"dimensions with coefficients >= 0{why}",
            )
        if not found.is_positive:
            raise self.problem(
                node, f"expected a size of at least 1 (coefficients >= 0), got {found}"
            )
        return found

    def declared(self, node: Term, *, member: bool = False) -> Type:
        """The type of a name that is declared or bound with this type."""
        op = node.op
        if node.free:
            raise self.problem(node, "a type can't depend on a bound variable")
        if op in _SCALAR_DOMAINS:
            if op == "dimension_type" and member:
                raise self.problem(node, "a dimension is declared by itself only")
            return Type(Kind.MATRIX, domain=_SCALAR_DOMAINS[op])
        if op == "complex_type":
            return Type(Kind.MATRIX, is_complex=True)
        if op in ("matrix_type", "complex_matrix_type"):
            rows, cols = map(self.size, node.args)
            return Type(Kind.MATRIX, rows, cols, op == "complex_matrix_type")
        if op == "index_type":
            return Type(Kind.MATRIX, domain="index", limit=self.size(node.args[0]))
        if member:
            raise self.problem(node, "expected a scalar, vector, matrix or index type here")
        if op == "sigma_algebra_type":
            return Type(Kind.SIGMA_ALGEBRA)
        if op == "random_type":
            return Type(Kind.RANDOM, self.size(node.args[0]))
        if op == "function_type":
            value = self.declared(node.args[0], member=True)
            if value.domain not in ("", "real"):
                raise self.problem(node, "a function's values are real, complex or matrices")
            return Type(Kind.FUNCTION, value.rows, value.cols, value.is_complex)
        if op == "family_type":
            members, count = pair(node)
            if members != 1 or count != len(node.args) - 1 or count < 1:
                raise self.problem(node, "a family has one member type and at least one range")
            value = self.declared(node.args[0], member=True)
            ranges = tuple(map(self.size, node.args[1:]))
            return Type(
                Kind.FAMILY,
                value.rows,
                value.cols,
                value.is_complex,
                value.domain,
                value.limit,
                ranges,
            )
        raise self.problem(node, "expected a type")

    def names_of(self, declaration: Declaration) -> list[tuple[str, Type]]:
        """The names that a declaration adds to the scope, with their types."""
        names, type_ = declaration.names, declaration.type
        for i, identifier in enumerate(names):
            if not is_name(identifier):
                raise TypeProblem(f"{identifier!r:.80} is not a name that can be declared")
            if identifier in self.scope.types or identifier in names[:i]:
                raise TypeProblem(f"{identifier!r} is declared twice")
        if type_.op == "gaussian_type":
            found = self.gaussian(type_)
            if len(found) != len(names):
                raise self.problem(
                    type_, f"{len(names)} names share a Gaussian law with {len(found)} means"
                )
        elif len(names) != 1:
            raise self.problem(type_, "only a gaussian declares several names jointly")
        else:
            found = [self.declared(type_)]
        law = next((self.scope.type_terms[n].op for n in self.scope.random_names), type_.op)
        if type_.op in ("gaussian_type", "random_type") and law != type_.op:
            raise self.problem(
                type_, "gaussian and random names don't go together: their joint law is not given"
            )
        return list(zip(names, found, strict=True))

    def gaussian(self, node: Term) -> list[Type]:
        """The types of the names that are jointly Gaussian: a real vector for each mean."""
        if node.data != (len(node.args) - 1, 1) or len(node.args) < 2 or node.free:
            raise self.problem(node, "a gaussian has means and one covariance")
        for argument in node.args:
            self.infer(argument)
            self.no_random_name(argument, "a random name's parameters")
        total = Size.literal(0)
        found = []
        for mean in node.args[:-1]:
            type_ = self.vector(node, mean, "a mean")
            total = total + type_.rows
            found.append(Type(Kind.MATRIX, type_.rows))
        self.covariance(node, node.args[-1], total)
        return found

    def no_random_name(self, node: Term, where: str) -> None:
        if not self.scope.random_names:
            return
        found = sorted(names_in(node) & self.scope.random_names)
        if found:
            raise self.problem(node, f"the random name {found[0]!r} can't stand in {where}")

    # ------------------------------------------------------------ what an argument must be

    def matrix(self, node: Term, argument: Term) -> Type:
        """A matrix or scalar that isn't an L2 random vector."""
        type_ = self.of(argument)
        if type_.kind is Kind.RANDOM:
            raise self.problem(
                node,
                f"{node.op} of a {type_} has no meaning here: a random takes "
                "part in sums, in products with constants, in E, l2norm2 and "
                "l2inner",
                argument,
            )
        if type_.kind is not Kind.MATRIX:
            raise self.problem(node, f"expected a matrix or scalar, got a {type_}", argument)
        return type_

    def value(self, node: Term, argument: Term) -> Type:
        """A matrix, scalar or random vector."""
        type_ = self.of(argument)
        return type_ if type_.kind is Kind.RANDOM else self.matrix(node, argument)

    def square(self, node: Term, argument: Term) -> Type:
        type_ = self.matrix(node, argument)
        if type_.rows != type_.cols:
            raise self.problem(node, f"{node.op} needs a square matrix, got {type_}", argument)
        return type_

    def scalar(self, node: Term, argument: Term, what: str = "a scalar") -> Type:
        type_ = self.matrix(node, argument)
        if not type_.is_scalar:
            raise self.problem(node, f"expected {what}, got {type_}", argument)
        return type_

    def real_scalar(self, node: Term, argument: Term) -> Type:
        type_ = self.scalar(node, argument, "a real scalar")
        if type_.is_complex:
            raise self.problem(node, "expected a real scalar, got a complex one", argument)
        return type_

    def integer(self, node: Term, argument: Term, what: str) -> Type:
        type_ = self.scalar(node, argument, what)
        if type_.domain not in _INTEGER_DOMAINS:
            raise self.problem(node, f"expected {what}, got {type_}", argument)
        return type_

    def vector(self, node: Term, argument: Term, what: str) -> Type:
        """A real column."""
        type_ = self.matrix(node, argument)
        if type_.cols != ONE:
            raise self.problem(node, f"expected {what}, a column vector, got {type_}", argument)
        if type_.is_complex:
            raise self.problem(node, f"expected {what} that is real, got {type_}", argument)
        return type_

    def covariance(self, node: Term, argument: Term, size: Size) -> None:
        type_ = self.matrix(node, argument)
        if (type_.rows, type_.cols) != (size, size) or type_.is_complex:
            raise self.problem(
                node, f"the covariance must be a real matrix({size}, {size}), got {type_}", argument
            )

    def same_shape(self, node: Term) -> tuple[Type, Type]:
        left, right = (self.value(node, a) for a in node.args)
        if (left.rows, left.cols) != (right.rows, right.cols):
            hint = ""
            for one, other in ((left, right), (right, left)):
                if one.is_scalar and other.rows == other.cols and node.op != "hadamard":
                    hint = (
                        f"; for a multiple of the identity write the scalar times eye({other.rows})"
                    )
                elif one.is_scalar and node.op != "hadamard":
                    hint = (
                        "; a scalar is not spread over a matrix: write it times "
                        f"ones({other.rows}, {other.cols})"
                    )
            if (left.rows, left.cols) == (right.cols, right.rows):
                hint = "; one of them may need a transpose"
            raise self.problem(node, f"the left side is {left}, the right side is {right}{hint}")
        return left, right

    def index(self, node: Term, argument: Term, size: Size, what: str) -> None:
        """An index into 1..size. What can't be decided by sizes is a definedness goal."""
        type_ = self.integer(node, argument, "an integer as index")
        if type_.domain == "index" and type_.limit is not None:
            if not size.at_least(type_.limit):
                raise self.problem(
                    node, f"the index runs to {type_.limit}, {what} has only {size}", argument
                )
            return
        found = polynomial(argument, self.scope.dimensions)
        if found is not None and (Size.literal(0).at_least(found) or found.at_least(size + ONE)):
            raise self.problem(
                node,
                f"the index is out of range: {what} is counted from 1 to {size}, got {found}",
                argument,
            )

    # ------------------------------------------------------------ leaves

    def name(self, node: Term) -> Type:
        type_ = self.scope.types.get(str(node.data))
        if type_ is None:
            raise self.problem(node, f"unknown name {node.data!r}")
        return type_

    def rational(self, node: Term) -> Type:
        return INTEGER if _integer_literal(node) is not None else SCALAR

    def constant(self, node: Term) -> Type:
        return Type(Kind.MATRIX, is_complex=True) if node.data == "i" else SCALAR

    def bound(self, node: Term) -> Type:
        return self.declared(node.args[0], member=True)

    # ------------------------------------------------------------ arithmetic

    def sum_of_two(self, node: Term) -> Type:
        left, right = self.same_shape(node)
        if Kind.RANDOM in (left.kind, right.kind):
            if left.is_complex or right.is_complex:
                raise self.problem(node, "random vectors are real")
            return Type(Kind.RANDOM, left.rows)
        return _arithmetic(left, right, left.rows, left.cols)

    def product(self, node: Term) -> Type:
        left, right = (self.value(node, a) for a in node.args)
        if left.kind is Kind.RANDOM and right.kind is Kind.RANDOM:
            raise self.problem(
                node,
                "a product of two random vectors is not supported yet; "
                "l2inner(U, V) is the expectation of their inner product",
            )
        random = Kind.RANDOM in (left.kind, right.kind)
        if random and (left.is_complex or right.is_complex):
            raise self.problem(node, "random vectors are real")
        if left.rows == ONE and left.cols == ONE:
            rows, cols = right.rows, right.cols
        elif right.rows == ONE and right.cols == ONE:
            rows, cols = left.rows, left.cols
        elif left.cols == right.rows:
            rows, cols = left.rows, right.cols
        else:
            hint = ""
            if left.cols == right.cols:
                hint = "; the right factor may need a transpose"
            elif left.rows == right.rows:
                hint = "; the left factor may need a transpose"
            raise self.problem(
                node,
                f"{left} times {right}: the inner sizes {left.cols} and {right.rows} differ{hint}",
            )
        if random:
            if cols != ONE:
                raise self.problem(
                    node, f"a random value must be a column vector, this is {rows} by {cols}"
                )
            return Type(Kind.RANDOM, rows)
        return _arithmetic(left, right, rows, cols)

    def quotient(self, node: Term) -> Type:
        left = self.value(node, node.args[0])
        right = self.scalar(node, node.args[1], "a scalar as denominator")
        if left.kind is Kind.RANDOM:
            if right.is_complex:
                raise self.problem(node, "random vectors are real")
            return Type(Kind.RANDOM, left.rows)
        return Type(Kind.MATRIX, left.rows, left.cols, left.is_complex or right.is_complex)

    def negative(self, node: Term) -> Type:
        type_ = self.value(node, node.args[0])
        if type_.kind is Kind.RANDOM:
            return type_
        return _arithmetic(type_, type_, type_.rows, type_.cols)

    def power(self, node: Term) -> Type:
        base = self.square(node, node.args[0])
        exponent = self.scalar(node, node.args[1], "an integer or scalar as exponent")
        is_integer = exponent.domain in _INTEGER_DOMAINS
        if not base.is_scalar and not is_integer:
            raise self.problem(
                node, f"a matrix has integer powers only, the exponent is {exponent}", node.args[1]
            )
        if base.is_complex and not is_integer:
            raise self.problem(
                node,
                f"a complex number has integer powers only, the exponent is {exponent}",
                node.args[1],
            )
        if exponent.is_complex:
            raise self.problem(
                node, "an exponent must be real; write exp(...) for a complex one", node.args[1]
            )
        literal = _integer_literal(node.args[1])
        natural = exponent.domain in ("dimension", "index") or (
            literal is not None and literal >= 0
        )
        keeps = base.domain in _INTEGER_DOMAINS and natural
        return Type(Kind.MATRIX, base.rows, base.cols, base.is_complex, "integer" if keeps else "")

    # ------------------------------------------------------------ matrices

    def eye(self, node: Term) -> Type:
        size = self.size(node.args[0])
        return Type(Kind.MATRIX, size, size)

    def filled(self, node: Term) -> Type:
        return Type(Kind.MATRIX, self.size(node.args[0]), self.size(node.args[1]))

    def unit(self, node: Term) -> Type:
        size = self.size(node.args[0])
        self.index(node, node.args[1], size, "the unit vector")
        return Type(Kind.MATRIX, size)

    def transposed(self, node: Term) -> Type:
        type_ = self.matrix(node, node.args[0])
        return Type(Kind.MATRIX, type_.cols, type_.rows, type_.is_complex)

    def conjugate(self, node: Term) -> Type:
        return self.matrix(node, node.args[0])

    def inverse(self, node: Term) -> Type:
        type_ = self.square(node, node.args[0])
        return Type(Kind.MATRIX, type_.rows, type_.cols, type_.is_complex)

    def trace(self, node: Term) -> Type:
        return Type(Kind.MATRIX, is_complex=self.square(node, node.args[0]).is_complex)

    def rank(self, node: Term) -> Type:
        self.matrix(node, node.args[0])
        return INTEGER

    def diagonal_of(self, node: Term) -> Type:
        type_ = self.matrix(node, node.args[0])
        if type_.cols != ONE:
            raise self.problem(node, f"diag takes a column vector, got {type_}", node.args[0])
        return Type(Kind.MATRIX, type_.rows, type_.rows, type_.is_complex)

    def stacked(self, node: Term) -> Type:
        type_ = self.matrix(node, node.args[0])
        if not _is_modest(type_.rows, type_.cols):
            raise LimitExceeded("a size of too high a degree")
        return Type(Kind.MATRIX, type_.rows * type_.cols, is_complex=type_.is_complex)

    def blocks(self, node: Term) -> Type:
        height, width = pair(node)
        types = [self.matrix(node, a) for a in node.args]
        for r in range(height):
            for c in range(width):
                type_, part = types[r * width + c], node.args[r * width + c]
                if type_.rows != types[r * width].rows:
                    raise self.problem(
                        node,
                        f"block ({r + 1}, {c + 1}) is {type_}, but "
                        f"its row has {types[r * width].rows} rows",
                        part,
                    )
                if type_.cols != types[c].cols:
                    raise self.problem(
                        node,
                        f"block ({r + 1}, {c + 1}) is {type_}, but "
                        f"its column has {types[c].cols} columns",
                        part,
                    )
        rows = cols = Size.literal(0)
        for r in range(height):
            rows = rows + types[r * width].rows
        for c in range(width):
            cols = cols + types[c].cols
        if not (_is_modest(rows, ONE) and _is_modest(ONE, cols)):
            raise LimitExceeded("a size that no one could mean")
        return Type(Kind.MATRIX, rows, cols, any(t.is_complex for t in types))

    def inner(self, node: Term) -> Type:
        for argument in node.args:
            type_ = self.matrix(node, argument)
            if type_.cols != ONE:
                raise self.problem(node, f"inner takes column vectors, got {type_}", argument)
            if type_.is_complex:
                raise self.problem(
                    node, "inner takes real vectors; write x.H*y for complex ones", argument
                )
        self.same_shape(node)
        return SCALAR

    def squared_norm(self, node: Term) -> Type:
        self.matrix(node, node.args[0])
        return SCALAR

    def kronecker(self, node: Term) -> Type:
        left, right = (self.matrix(node, a) for a in node.args)
        if not (_is_modest(left.rows, right.rows) and _is_modest(left.cols, right.cols)):
            raise LimitExceeded("a size of too high a degree")
        return Type(
            Kind.MATRIX,
            left.rows * right.rows,
            left.cols * right.cols,
            left.is_complex or right.is_complex,
        )

    def entrywise(self, node: Term) -> Type:
        for argument in node.args:
            self.matrix(node, argument)
        left, right = self.same_shape(node)
        return _arithmetic(left, right, left.rows, left.cols)

    def entry(self, node: Term) -> Type:
        if len(node.args) not in (2, 3):
            raise self.problem(node, "an entry has one index (of a vector) or two")
        type_ = self.matrix(node, node.args[0])
        if len(node.args) == 2 and type_.cols != ONE:
            raise self.problem(node, f"one index on {type_}: expected two, row and column")
        for argument, size, what in zip(
            node.args[1:], (type_.rows, type_.cols), ("the rows", "the columns"), strict=False
        ):
            self.index(node, argument, size, what)
        return Type(Kind.MATRIX, is_complex=type_.is_complex)

    def comprehension(self, node: Term) -> Type:
        size = self.size(node.args[0])
        body = self.scalar(node, node.args[1], "a scalar for each entry")
        self.index_binder(node, node.args[1], size)
        return Type(Kind.MATRIX, size, is_complex=body.is_complex)

    # ------------------------------------------------------------ functions

    def of_vector(self, node: Term) -> Type:
        type_ = self.vector(node, node.args[0], f"for {node.op} a vector")
        return Type(Kind.MATRIX, type_.rows if node.op == "softmax" else ONE)

    def extreme(self, node: Term) -> Type:
        if not node.args:
            raise self.problem(node, f"{node.op} takes at least one argument")
        if len(node.args) == 1:
            self.vector(node, node.args[0], f"for {node.op} a vector")
        else:
            for argument in node.args:
                self.real_scalar(node, argument)
        return SCALAR

    def real_function(self, node: Term) -> Type:
        self.real_scalar(node, node.args[0])
        return SCALAR

    def entire_function(self, node: Term) -> Type:
        type_ = self.scalar(node, node.args[0])
        return Type(Kind.MATRIX, is_complex=type_.is_complex)

    def modulus(self, node: Term) -> Type:
        type_ = self.scalar(node, node.args[0])
        return INTEGER if type_.domain in _INTEGER_DOMAINS else SCALAR

    def applied(self, node: Term) -> Type:
        function = self.of(node.args[0])
        if function.kind is not Kind.FUNCTION or node.args[0].op != "name":
            raise self.problem(node, f"expected a function, got a {function}", node.args[0])
        self.real_scalar(node, node.args[1])
        return Type(Kind.MATRIX, function.rows, function.cols, function.is_complex)

    def member(self, node: Term) -> Type:
        if not node.args or self.of(node.args[0]).kind is not Kind.FAMILY:
            raise self.problem(node, "expected the name of a family")
        family = self.of(node.args[0])
        if len(node.args) - 1 != len(family.ranges):
            raise self.problem(
                node, f"the family has {len(family.ranges)} indices, got {len(node.args) - 1}"
            )
        for argument, limit in zip(node.args[1:], family.ranges, strict=True):
            self.index(node, argument, limit, "the family")
        return Type(
            Kind.MATRIX, family.rows, family.cols, family.is_complex, family.domain, family.limit
        )

    # ------------------------------------------------------------ binders

    def index_binder(self, node: Term, body: Term, last: Size | None) -> None:
        """That the variable of a sum, from an integer >= 1 to `last`, has a type that holds it."""
        type_term = self.carried(body)
        if type_term is None or type_term.op == "integer_type":
            return
        type_ = self.declared(type_term)
        if type_.domain != "index" or type_.limit is None:
            raise self.problem(node, f"the index is bound as {type_}; expected index or integer")
        first = 1 if node.op == "comprehension" else _integer_literal(node.args[0])
        if first is None or first < 1:
            raise self.problem(node, "an index of type index counts from 1 or more")
        if last is None or not type_.limit.at_least(last):
            raise self.problem(
                node,
                f"the index is bound as index({type_.limit}), but runs to "
                f"{last or 'what is no size'}",
            )

    def ranged(self, node: Term) -> Type:
        low, high, body = node.args
        self.integer(node, low, "an integer as lower limit")
        self.integer(node, high, "an integer as upper limit")
        self.index_binder(node, body, polynomial(high, self.scope.dimensions))
        if node.op == "prod":
            type_ = self.scalar(node, body, "a scalar (products of matrices have an order)")
        else:
            type_ = self.value(node, body)
        if type_.kind is Kind.RANDOM:
            return type_
        keeps = type_.domain in _INTEGER_DOMAINS
        return Type(
            Kind.MATRIX, type_.rows, type_.cols, type_.is_complex, "integer" if keeps else ""
        )

    def derivative(self, node: Term) -> Type:
        body, point = node.args
        type_ = self.matrix(node, body)
        self.differentiated(node, body)
        self.real_scalar(node, point)
        at = self.of(point)
        if point.op in ("name", "bound") and at.domain in _INTEGER_DOMAINS:
            raise self.problem(node, f"can't differentiate by {_named(point)}: it is {at}", point)
        type_term = self.carried(body)
        if type_term is not None:
            variable = self.declared(type_term)
            if (
                not variable.is_scalar
                or variable.is_complex
                or (variable.domain not in _CONTINUOUS and variable.domain != "")
            ):
                raise self.problem(node, f"can't differentiate by a variable that is {variable}")
        return Type(Kind.MATRIX, type_.rows, type_.cols, type_.is_complex)

    def gradient(self, node: Term) -> Type:
        body, point = node.args
        self.real_scalar(node, body)
        self.differentiated(node, body)
        at = self.matrix(node, point)
        if at.is_complex or at.domain in _INTEGER_DOMAINS:
            raise self.problem(
                node, f"the gradient is by a real matrix, vector or scalar, got {at}", point
            )
        type_term = self.carried(body)
        if type_term is not None:
            variable = self.declared(type_term)
            if (variable.rows, variable.cols) != (at.rows, at.cols) or variable.is_complex:
                raise self.problem(node, f"the variable is {variable}, the point is {at}")
        return Type(Kind.MATRIX, at.rows, at.cols)

    def differentiated(self, node: Term, body: Term) -> None:
        point = node.args[1]
        if self.degree(point):
            raise self.problem(node, "can't differentiate by a random name", point)
        # A law is fixed where it is declared: d/dt E(X) would read as 0 for X : gaussian(t, 1).
        moving = names_in(point)
        for random in sorted(names_in(body) & self.scope.random_names):
            if moving & names_in(self.scope.type_terms[random]):
                raise self.problem(
                    node,
                    f"can't differentiate by {', '.join(sorted(moving))}: the law of "
                    f"{random} depends on it",
                    point,
                )

    def for_all(self, node: Term) -> Type:
        count, _ = pair(node)
        for argument in node.args[:count]:
            self.declared(argument, member=True)
        for part in node.args[count:]:
            if self.of(part).kind is not Kind.RELATION or part.op not in RELATIONS | PROPERTIES:
                raise self.problem(node, "expected relations and properties under `for all`", part)
            for i, type_ in enumerate(node.args[:count]):
                if self.carried(part, count - 1 - i) not in (None, type_):
                    raise self.problem(
                        node, "a bound variable carries another type than its binder gives it", part
                    )
        return RELATION

    # ------------------------------------------------------------ probability

    def degree(self, root: Term) -> int:
        """See `random_degree`."""
        known, names = self.scope._degrees, self.scope.random_names
        if not names:
            return 0
        for node in _pending(root, known):
            known[node] = _degree(node, [known[a] for a in node.args], node.data in names)
        return known[root]

    def expectation(self, node: Term) -> Type:
        type_ = self.value(node, node.args[0])
        return Type(Kind.MATRIX, type_.rows, type_.cols, type_.is_complex)

    def conditional(self, node: Term) -> Type:
        type_ = self.value(node, node.args[0])
        self.conditions(node, node.args[1:], type_.kind is Kind.RANDOM)
        if type_.kind is Kind.RANDOM:
            return type_
        if type_.cols == ONE and any(self.of(a).kind is Kind.SIGMA_ALGEBRA for a in node.args[1:]):
            return Type(Kind.RANDOM, type_.rows)
        return Type(Kind.MATRIX, type_.rows, type_.cols, type_.is_complex)

    def conditions(self, node: Term, given: tuple[Term, ...], random: bool) -> None:
        if not given:
            raise self.problem(node, "expected a condition behind |")
        algebras = [self.of(a).kind is Kind.SIGMA_ALGEBRA for a in given]
        if any(algebras):
            if len(given) > 1:
                raise self.problem(
                    node,
                    "expected one sigma_algebra as condition; for several, "
                    "declare one that contains them",
                )
            if self.degree(node.args[0]) and not random:
                raise self.problem(
                    node, "a gaussian is conditioned on gaussian names, not on a sigma_algebra"
                )
            return
        if random:
            raise self.problem(node, "a random is conditioned on a sigma_algebra", given[0])
        for argument in given:
            type_ = self.matrix(node, argument)
            if type_.cols != ONE or type_.is_complex or self.degree(argument) != 1:
                raise self.problem(
                    node,
                    "a condition must be a real column vector, affine in "
                    f"gaussian names; got {type_}",
                    argument,
                )

    def cov(self, node: Term) -> Type:
        types = []
        for argument in node.args[:2]:
            type_ = self.value(node, argument)
            if type_.cols != ONE or type_.is_complex:
                raise self.problem(
                    node, f"cov takes real column vectors or scalars, got {type_}", argument
                )
            types.append(type_)
        if node.op == "cov_given":
            if Kind.RANDOM in (types[0].kind, types[1].kind):
                raise self.problem(
                    node,
                    "a conditional covariance is for gaussian names only: elsewhere it is random",
                )
            for argument in node.args[:2]:
                if self.degree(argument) > 1:
                    raise self.problem(
                        node,
                        "a conditional covariance takes expressions affine "
                        "in gaussian names: else it is random",
                        argument,
                    )
            self.conditions(node, node.args[2:], random=False)
        return Type(Kind.MATRIX, types[0].rows, types[1].rows)

    def log_density(self, node: Term) -> Type:
        point = self.vector(node, node.args[0], "a point")
        mean = self.vector(node, node.args[1], "a mean")
        if point.rows != mean.rows:
            raise self.problem(node, f"the point is {point}, the mean is {mean}")
        self.covariance(node, node.args[2], point.rows)
        for argument in node.args[1:]:
            if self.degree(argument):
                raise self.problem(
                    node, "mean and covariance of a log-density can't be random", argument
                )
        return SCALAR

    def l2(self, node: Term) -> Type:
        for argument in node.args:
            type_ = self.value(node, argument)
            if type_.cols != ONE or type_.is_complex:
                raise self.problem(node, f"{node.op} takes random vectors, got {type_}", argument)
        if node.op == "l2inner":
            self.same_shape(node)
        return SCALAR

    # ------------------------------------------------------------ relations

    def equation(self, node: Term) -> Type:
        left, right = (self.of(a) for a in node.args)
        if Kind.SIGMA_ALGEBRA in (left.kind, right.kind):
            raise self.problem(node, "sigma-algebras are compared by `subset` only")
        self.same_shape(node)
        if node.op == "ne":
            self.not_random(node)
        return RELATION

    def not_random(self, node: Term) -> None:
        for argument in node.args:
            if self.of(argument).kind is Kind.RANDOM or self.degree(argument):
                raise self.problem(
                    node,
                    "between random quantities only = (almost surely) is "
                    "a relation; take E, cov or l2norm2 of them",
                    argument,
                )

    def ordering(self, node: Term) -> Type:
        self.not_random(node)
        left, _ = self.same_shape(node)
        if left.is_scalar:
            for argument in node.args:
                if self.of(argument).is_complex:
                    raise self.problem(
                        node,
                        "complex numbers have no order; one side is complex "
                        "(norm2(x) is the real form of x.H*x)",
                        argument,
                    )
            return RELATION
        if left.rows != left.cols:
            raise self.problem(
                node,
                f"an order is between scalars, or between symmetric matrices (Loewner); got {left}",
            )
        if node.op in ("lt", "gt"):
            raise self.problem(
                node,
                "matrices are compared by <= and >= (Loewner); for a strict "
                "order write assume or show positive_definite(B - A)",
            )
        return RELATION

    def subset(self, node: Term) -> Type:
        for argument in node.args:
            if self.of(argument).kind is not Kind.SIGMA_ALGEBRA:
                raise self.problem(
                    node, f"subset is between sigma-algebras, got a {self.of(argument)}", argument
                )
        return RELATION

    def limit(self, node: Term) -> Type:
        for part in node.args:
            self.real_scalar(node, part)
            self.no_random_name(part, "a limit")
        if self.carried(node.args[0]) not in (None, term("real_type")):
            raise self.problem(node, "the variable of a limit is a real number")
        return RELATION

    def property(self, node: Term) -> Type:
        self.not_random(node)
        if node.op in ("full_row_rank", "full_column_rank"):
            self.matrix(node, node.args[0])
        else:
            for argument in node.args:
                self.square(node, argument)
        if node.op == "commute":
            self.same_shape(node)
        if node.op in ("orthogonal",) and self.of(node.args[0]).is_complex:
            raise self.problem(node, "orthogonal is for real matrices; write unitary")
        return RELATION


def _named(node: Term) -> str:
    return repr(node.data) if node.op == "name" else "this variable"


def _arithmetic(left: Type, right: Type, rows: Size, cols: Size) -> Type:
    """The type of a sum or product of two matrices: integers stay integers."""
    keeps = left.domain in _INTEGER_DOMAINS and right.domain in _INTEGER_DOMAINS
    is_complex = left.is_complex or right.is_complex
    if rows is ONE and cols is ONE and not (keeps or is_complex):  # most types by far
        return SCALAR
    return Type(Kind.MATRIX, rows, cols, is_complex, "integer" if keeps else "")


_LINEAR = frozenset(
    (
        "neg",
        "transpose",
        "adjoint",
        "conj",
        "tr",
        "diag",
        "vec",
        "block",
        "comprehension",
        "add",
        "sub",
        "sum",
    )
)


def _degree(node: Term, parts: list[int], is_random_name: bool) -> int:
    """How random names stand in a term, from how they stand in its arguments."""
    op = node.op
    if op == "name":
        return int(is_random_name)
    if op in _CLOSING or op.endswith("_type") or not any(parts):
        return 0
    if op == "expect_given":  # affine in its conditions if the value is affine
        return max(parts)
    if op in _LINEAR:
        return max(parts)
    if op in ("mul", "inner", "kron", "hadamard"):
        return min(2, sum(parts))
    if op in ("div", "entry"):
        return parts[0] if not any(parts[1:]) else 2
    return 2


_RULES: dict[str, Callable[[_Typing, Term], Type]] = {
    "name": _Typing.name,
    "rational": _Typing.rational,
    "constant": _Typing.constant,
    "bound": _Typing.bound,
    "add": _Typing.sum_of_two,
    "sub": _Typing.sum_of_two,
    "mul": _Typing.product,
    "div": _Typing.quotient,
    "neg": _Typing.negative,
    "pow": _Typing.power,
    "eye": _Typing.eye,
    "zeros": _Typing.filled,
    "ones": _Typing.filled,
    "unit": _Typing.unit,
    "transpose": _Typing.transposed,
    "adjoint": _Typing.transposed,
    "conj": _Typing.conjugate,
    "inv": _Typing.inverse,
    "adj": _Typing.inverse,
    "pinv": _Typing.transposed,
    "det": _Typing.trace,
    "tr": _Typing.trace,
    "rank": _Typing.rank,
    "diag": _Typing.diagonal_of,
    "vec": _Typing.stacked,
    "block": _Typing.blocks,
    "inner": _Typing.inner,
    "norm2": _Typing.squared_norm,
    "kron": _Typing.kronecker,
    "hadamard": _Typing.entrywise,
    "entry": _Typing.entry,
    "comprehension": _Typing.comprehension,
    "softmax": _Typing.of_vector,
    "logsumexp": _Typing.of_vector,
    "max": _Typing.extreme,
    "min": _Typing.extreme,
    "abs": _Typing.modulus,
    "sum": _Typing.ranged,
    "prod": _Typing.ranged,
    "deriv": _Typing.derivative,
    "grad": _Typing.gradient,
    "apply": _Typing.applied,
    "member": _Typing.member,
    "expect": _Typing.expectation,
    "expect_given": _Typing.conditional,
    "cov": _Typing.cov,
    "cov_given": _Typing.cov,
    "logpdf": _Typing.log_density,
    "logpdf_on_support": _Typing.log_density,
    "l2norm2": _Typing.l2,
    "l2inner": _Typing.l2,
    "eq": _Typing.equation,
    "ne": _Typing.equation,
    "lt": _Typing.ordering,
    "le": _Typing.ordering,
    "gt": _Typing.ordering,
    "ge": _Typing.ordering,
    "subset": _Typing.subset,
    "forall": _Typing.for_all,
    "limit": _Typing.limit,
    **dict.fromkeys(("exp", "sin", "cos"), _Typing.entire_function),
    **dict.fromkeys(("log", "sqrt", "tanh", "lambertw", "erf"), _Typing.real_function),
    **dict.fromkeys(sorted(PROPERTIES), _Typing.property),
}

__all__ = [
    "Scope",
    "check",
    "infer",
    "polynomial",
    "random_degree",
    "range_type",
    "size_of",
    "type_from",
]
