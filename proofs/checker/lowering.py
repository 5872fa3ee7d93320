"""Trusted. From terms to the algebra, by structure alone.

`lower` preserves the value of every term that is defined; it says nothing about whether the term
is defined, which `definedness` decides before any lowered term counts. What has no algebraic
structure (an inverse, a logarithm, a derivative) becomes an opaque letter or atom, named by its
operator and its lowered arguments, so that equal arguments give equal values. Facts about such
values come in as rules.

Random vectors are words too. A random n-vector is an n x L2 matrix: `E(X)` is X*1 with the unit
vector 1 of the constants, `E(X | F)` is X*e_F with a letter e_F, E X.T*Y is tr(Y*X.T). That e_F
is a self-adjoint projection is a rule. Expectations of other functions of Gaussian names are taken
of the polynomial that holds at each outcome, see `moments`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import accumulate

from proofs.checker.algebra import (
    IMAGINARY,
    ONE,
    Letter,
    Monomial,
    Poly,
    TooLarge,
    Word,
    atom,
    identity,
    letter,
    number,
    of_atom,
    of_letter,
    short,
)
from proofs.checker.definedness import is_polynomial
from proofs.checker.moments import Outcome, expectation
from proofs.language.effort import spend
from proofs.language.errors import TypeProblem
from proofs.language.infer import Scope, infer, polynomial, random_degree
from proofs.language.sizes import Size
from proofs.language.tree import Term, instantiate, pair, rational, term
from proofs.language.types import Kind, Type

L2 = Size.dimension("$L2")
CONSTANT = letter("$1", L2, ONE, isometry=True)  # the random variable 1
VALUES = (Kind.MATRIX, Kind.RANDOM)
MAX_POWER = 64


class Lowering:
    """Lowers the terms of one scope; remembers what it has lowered."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._done: dict[Term, Poly] = {}

    def lower(self, root: Term) -> Poly:
        """The polynomial with the value of `root`.

        Raises:
            TooLarge: beyond the limits of the algebra.
            TypeProblem: the term is ill-typed, or no value (a type, a function, a relation).
        """
        if root in self._done:
            return self._done[root]
        if not self._has_value(root):
            raise TypeProblem(f"{root.op} has no value")
        # A node stands here a second time, above its arguments, with what it needs of them.
        done = self._done
        stack: list[tuple[Term, list[Term] | None, Term | None]] = [(root, None, None)]
        while stack:
            node, needed, opened = stack.pop()
            if needed is None:
                if node in done:
                    continue
                opened = self._opened(node)
                needed = self._needed(node) if opened is None else [opened]
                missing = [a for a in needed if a not in done]
                if missing:
                    stack.append((node, needed, opened))
                    stack += [(a, None, None) for a in missing]
                    continue
            spend(8 + 4 * len(node.args))
            args = [done[a] for a in needed]
            done[node] = args[0] if opened is not None else self._node(node, args)
        return done[root]

    def _needed(self, node: Term) -> list[Term]:
        """The arguments that are lowered before a node is."""
        if self._is_moment(node):
            return []
        if node.op in STRUCTURE:  # of values alone, as its type says
            return list(node.args)
        return [a for a in node.args if self._has_value(a)]

    def _has_value(self, node: Term) -> bool:
        return node in self._done or (
            not node.op.endswith("_type") and infer(node, self.scope).kind in VALUES
        )

    def _opened(self, node: Term) -> Term | None:
        """A term of the same value: a sum or product over a range of numbers written out, an entry
        of a vector by comprehension, which is sought under sums and scalar factors."""
        if node.op in ("sum", "prod") and node.args[0].op == node.args[1].op == "rational":
            low, high = (int(str(a.data)) for a in node.args[:2])
            if 0 <= high - low < MAX_POWER:
                parts = [instantiate(node.args[2], (rational(j),)) for j in range(low, high + 1)]
                joined = "add" if node.op == "sum" else "mul"
                return reduce(lambda x, y: term(joined, x, y), parts)
        if node.op in ("inner", "mul") and self._is_row_times_constant(node):
            left = node.args[0] if node.op == "mul" else term("transpose", node.args[0])
            return term("mul", _turned(node.args[1]), _turned(left))
        if node.op == "inner" and random_degree(node, self.scope) == 1:
            return term("mul", term("transpose", node.args[0]), node.args[1])
        if node.op != "entry":
            return None
        vector, *places = node.args
        if vector.op == "comprehension":
            return instantiate(vector.args[1], (places[0],))
        if vector.op in ("neg", "add", "sub"):
            return term(vector.op, *(term("entry", a, *places) for a in vector.args))
        if vector.op == "div":
            return term("div", term("entry", vector.args[0], *places), vector.args[1])
        if vector.op == "mul" and infer(vector.args[0], self.scope).is_scalar:
            return term("mul", vector.args[0], term("entry", vector.args[1], *places))
        return None

    def _is_row_times_constant(self, node: Term) -> bool:
        """Whether a number is a random row, linear in Gaussian names, times a constant column."""
        row, column = node.args
        if random_degree(row, self.scope) != 1 or self.is_random(column):
            return False
        kinds = [infer(a, self.scope) for a in (node, row, column)]
        wide = node.op == "inner" or not kinds[1].is_scalar
        return wide and kinds[0].is_scalar and not any(k.is_complex for k in kinds)

    def is_random(self, node: Term) -> bool:
        """Whether a term is a random vector, rather than a constant."""
        if infer(node, self.scope).kind is Kind.RANDOM:
            return True
        return bool(self.scope.random_names) and random_degree(node, self.scope) > 0

    def _is_moment(self, node: Term) -> bool:
        """Whether a node is the expectation or covariance of functions of Gaussian names."""
        return (
            node.op in ("expect", "cov")
            and all(infer(a, self.scope).kind is Kind.MATRIX for a in node.args)
            and any(map(self.is_random, node.args))
        )

    def _moment(self, node: Term) -> Poly:
        pointwise = Pointwise(self)
        values = [pointwise.lower(a) for a in node.args]
        means = [expectation(v, pointwise.outcome, (CONSTANT,)) for v in values]
        if node.op == "expect":
            return means[0]
        second = expectation(values[0] * values[1].T, pointwise.outcome, (CONSTANT,))
        return second - means[0] * means[1].T

    def _is_linear(self, node: Term) -> bool:
        """Whether a random vector is built from others linearly, so that it is a word in L2."""
        randoms = [self.is_random(a) for a in node.args]
        if node.op == "mul":  # the shapes leave only a scalar to multiply from the right
            return randoms.count(True) == 1
        if node.op in ("div", "entry"):  # the entry of a vector, which has one index
            return randoms == [True, False]
        if node.op == "block":  # vectors on top of each other
            return infer(node, self.scope).cols == ONE
        return node.op in ("name", "add", "sub", "neg", "expect_given") or self._is_sum(node)

    def _is_sum(self, node: Term) -> bool:
        """Whether a node is a sum of real random vectors, a letter of its own in L2."""
        kind = infer(node, self.scope)
        linear = node.op == "sum" and random_degree(node, self.scope) == 1
        return linear and kind.cols == ONE and not kind.is_complex

    def _node(self, node: Term, args: list[Poly]) -> Poly:
        """The value of a node from those of the arguments that it needs."""
        kind, op = infer(node, self.scope), node.op
        if self._is_moment(node):
            return self._moment(node)
        if self.is_random(node):
            if not self._is_linear(node):
                raise TooLarge(f"{op} of random vectors is not part of the algebra yet")
            if op == "name":
                return of_letter(letter(str(node.data), kind.rows, L2))
            if op == "sum":
                key = f"sum({';'.join(a.key for a in args)})"
                return of_letter(letter(key, kind.rows, L2))
            if op == "block":
                args = [as_random(a) for a in args]
        if op in ("name", "bound"):
            return _value(str(node.data) if op == "name" else f"${node.data}", kind)
        if op == "expect_given":
            return as_random(args[0]) * of_letter(self.projection(node.args[1:]))
        return self._built(node, args, kind)

    def _built(self, node: Term, args: list[Poly], kind: Type) -> Poly:
        """The value of an operation, by structure where it has one."""
        match node.op:
            case "rational":
                return number(Fraction(str(node.data)))
            case "constant":
                return of_atom(IMAGINARY if node.data == "i" else atom(f"${node.data}"))
            case "eye":
                return identity(kind.rows)
            case "zeros":
                return Poly(kind.rows, kind.cols, {})
            case "ones":
                return _ones(kind.rows) * _ones(kind.cols).T
            case "unit":
                return self._unit_vector(kind.rows, node.args[1])
            case "entry":
                value = self._unit_vector(args[0].rows, node.args[1]).T * args[0]
                if len(args) < 3:
                    return value
                return value * self._unit_vector(args[0].cols, node.args[2])
            case "block":
                rows, cols = pair(node)
                return _block(rows, cols, args)
            case "pow":
                return _power(args[0], args[1], kind)
        if node.op in STRUCTURE:
            return STRUCTURE[node.op](*args)
        return self._opaque(node, kind)

    def _unit_vector(self, size: Size, index: Term) -> Poly:
        """A unit vector: an injection, where it is known how many places are before its 1."""
        place = polynomial(index, self.scope.dimensions)
        if size != ONE and place is not None and (place - ONE).is_positive:
            return _injection(size, place - ONE, ONE)
        return _unit_vector(size, self._done[index])

    def _opaque(self, node: Term, kind: Type) -> Poly:
        """A value named by its operator and its arguments, complex only where an argument is."""
        parts = [self._done[a].key if self._has_value(a) else f"@{a.data}" for a in node.args]
        if node.op == "cov_given":
            parts[2:] = [self.projection(node.args[2:]).key]
        order = "" if node.data is None else f"^{node.data}"
        return _value(f"{node.op}{order}({';'.join(parts)})", kind)

    def projection(self, given: tuple[Term, ...]) -> Letter:
        """The letter e_F of conditional expectation given sigma-algebras or random vectors.

        To know a stack of vectors is to know each of them.
        """
        parts = list(given)
        while any(g.op == "block" for g in parts):
            parts = [p for g in parts for p in (g.args if g.op == "block" else (g,))]
        known = sorted(
            f"Y:{as_random(self.lower(g)).key}" if self._has_value(g) else f"F:{g.data}"
            for g in parts
        )
        return letter(f"$e({';'.join(known)})", L2, L2)


class Pointwise(Lowering):
    """Lowers functions of Gaussian names as they are at one outcome, where these are vectors."""

    def __init__(self, outside: Lowering) -> None:
        super().__init__(outside.scope)
        self.outside = outside
        self.outcome = Outcome()
        self.outcome.constants.update(atom(n) for n in self.scope.dimensions)  # traces have them

    def _needed(self, node: Term) -> list[Term]:
        return [] if self._is_whole(node) else super()._needed(node)

    def _is_whole(self, node: Term) -> bool:
        """Whether a node is taken as it is outside."""
        if not self.is_random(node):
            return True
        return node.op in ("name", "expect_given") or self._is_sum(node)

    def _node(self, node: Term, args: list[Poly]) -> Poly:
        if not self.is_random(node):
            constant = self.outside.lower(node)
            self.outcome.fix(constant)
            return constant
        if self._is_whole(node):
            return self._vector(self.outside.lower(node))
        kind = infer(node, self.scope)
        if is_polynomial(node, self.scope):
            if node.op == "div":  # by what is constant
                self.outcome.fix(reciprocal(args[1]))
            return self._built(node, args, kind)
        return self._opaque(node, kind)

    def _vector(self, x: Poly) -> Poly:
        """A random vector at one outcome: of the words of L2, the part that is random."""
        total = Poly(x.rows, ONE, {})
        for (monomial, word), coefficient in x.terms.items():
            # What stands before is a constant matrix, maybe complex; what follows is real.
            start = max(i for i, y in enumerate(word) if y.cols == L2 != y.rows)
            before = Poly(x.rows, word[start].rows, {(monomial, word[:start]): coefficient})
            self.outcome.fix(before)
            total = total + before * self._letter(word[start:])
        return total

    def _letter(self, word: Word) -> Poly:
        key = short(f"$at({'·'.join(x.sort for x in word)})")
        self.outcome.vectors[key] = word
        return of_letter(letter(key, word[0].rows, ONE)) * identity(ONE)

    def _opaque(self, node: Term, kind: Type) -> Poly:
        if not kind.is_scalar:
            raise TooLarge(f"{node.op} of random vectors is not part of the algebra yet")
        return super()._opaque(node, kind)


# ---------------------------------------------------------------- values


def _value(key: str, kind: Type) -> Poly:
    """The opaque value of this key and type."""
    if kind.is_scalar:
        return of_atom(atom(key, is_complex=kind.is_complex))
    return of_letter(letter(key, kind.rows, kind.cols, is_complex=kind.is_complex))


def reciprocal(x: Poly) -> Poly:
    """1/x: split over the factors of a single monomial, opaque otherwise; 1/0 stays opaque."""
    if len(x.terms) != 1:
        leading = x.terms[min(x.terms, key=_monomial_text)] if x.terms else Fraction(1)
        monic = x.scale(1 / leading)
        return of_atom(atom(f"1/({monic.key})", is_complex=x.is_complex)).scale(1 / leading)
    (((monomial, _), coefficient),) = x.terms.items()
    inverse = (((atom(f"1/({a.key})", is_complex=a.is_complex), n),) for a, n in monomial)
    product = number(1 / coefficient)
    for power in inverse:
        product = product * Poly(ONE, ONE, {(power, ()): Fraction(1)})
    return product


def _monomial_text(place: tuple[Monomial, object]) -> str:
    return "*".join(f"{a.key}^{n}" for a, n in place[0])


def _inverse(x: Poly) -> Poly:
    if x.is_scalar:
        return reciprocal(x)
    return of_letter(letter(f"inv({x.key})", x.rows, x.cols, is_complex=x.is_complex))


def _power(x: Poly, exponent: Poly, kind: Type) -> Poly:
    power = exponent.constant
    if power is None or power.denominator != 1 or abs(power) > MAX_POWER:
        return _value(f"pow({x.key};{exponent.key})", kind)
    base, product = x if power >= 0 else _inverse(x), identity(x.rows)
    for _ in range(abs(int(power))):
        product = product * base
    return product


def _turned(x: Term) -> Term:
    """The transpose of x, taken of its letters."""
    if x.op == "transpose":
        return x.args[0]
    if x.op == "mul":
        return term("mul", *(_turned(a) for a in reversed(x.args)))
    if x.op in ("add", "sub", "neg"):
        return term(x.op, *map(_turned, x.args))
    if x.op == "div":
        return term("div", _turned(x.args[0]), x.args[1])
    return term("transpose", x)


# ---------------------------------------------------------------- blocks, units


def _ones(size: Size) -> Poly:
    if size.value is not None and size.value <= MAX_POWER:  # written out, as sums are
        places = range(1, size.value + 1)
        return reduce(Poly.__add__, (_unit_vector(size, number(j)) for j in places))
    return of_letter(letter(f"$ones({size})", size, ONE))


def _block(rows: int, cols: int, parts: list[Poly]) -> Poly:
    left = _injections([parts[i * cols].rows for i in range(rows)])
    right = _injections([part.cols for part in parts[:cols]])
    total = Poly(left[0].rows, right[0].rows, {})
    for place, part in enumerate(parts):
        i, j = divmod(place, cols)
        total = total + left[i] * part * right[j].T
    return total


def _injections(sizes: list[Size]) -> list[Poly]:
    """Isometries from each block of a partition into the whole space."""
    *offsets, total = accumulate(sizes, initial=Size.literal(0))
    if len(sizes) == 1:
        return [identity(total)]
    return [_injection(total, offset, size) for offset, size in zip(offsets, sizes, strict=True)]


def _injection(total: Size, offset: Size, width: Size) -> Poly:
    key = f"$in({total};{offset};{width})"
    return of_letter(letter(key, total, width, isometry=True, block=(offset, width)))


def _unit_vector(size: Size, index: Poly) -> Poly:
    if size == ONE:
        return identity(ONE)
    place = index.constant
    if place is not None:
        return _injection(size, Size.literal(int(place) - 1), ONE)
    return of_letter(letter(f"$unit({size};{index.key})", size, ONE, isometry=True))


# ---------------------------------------------------------------- random vectors


def as_random(x: Poly) -> Poly:
    """A random vector as it is, a constant one as a multiple of the random variable 1."""
    return x if x.cols == L2 else x * of_letter(CONSTANT.T)


def _add(x: Poly, y: Poly) -> Poly:
    return as_random(x) + as_random(y) if L2 in (x.cols, y.cols) else x + y


def _mean(x: Poly) -> Poly:
    return x * of_letter(CONSTANT) if x.cols == L2 else x


def _covariance(x: Poly, y: Poly) -> Poly:
    return as_random(x) * as_random(y).T - _mean(x) * _mean(y).T


def _l2inner(x: Poly, y: Poly) -> Poly:
    return (as_random(y) * as_random(x).T).trace()


STRUCTURE: dict[str, Callable[..., Poly]] = {
    "add": _add,
    "sub": lambda x, y: _add(x, -y),
    "neg": lambda x: -x,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x * reciprocal(y),
    "inv": _inverse,
    "transpose": lambda x: x.T,
    "adjoint": lambda x: x.T.conj,
    "conj": lambda x: x.conj,
    "tr": Poly.trace,
    "inner": lambda x, y: x.T * y,
    "norm2": lambda x: (x.T.conj * x).trace(),
    "expect": _mean,
    "cov": _covariance,
    "l2inner": _l2inner,
    "l2norm2": lambda x: _l2inner(x, x),
}
