"""Statements as inert trees: terms, binders, and the hash that a certificate is bound to.

A `Term` is an operator, its arguments and a little plain data. Terms are interned: the same
term is the same object, so equality is identity, and a term that `define` doubles sixty times
costs sixty objects. Nothing here computes: `x/x` stays as it was written. A bound variable is a
de Bruijn index (0 is the innermost binder) that carries its type, so that a subterm can be read
without its surroundings. Every walk is iterative; nothing can exhaust the Python stack.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs.language.effort import spend
from proofs.language.errors import MalformedError

# Operators with their number of arguments (None: any number). This is the whole vocabulary.
OPERATORS: dict[str, int | None] = {
    # leaves
    "name": 0,
    "rational": 0,
    "constant": 0,
    "bound": 1,
    # arithmetic, binary as it was written
    "add": 2,
    "sub": 2,
    "mul": 2,
    "div": 2,
    "neg": 1,
    "pow": 2,
    # matrices
    "eye": 1,
    "zeros": 2,
    "ones": 2,
    "unit": 2,
    "transpose": 1,
    "adjoint": 1,
    "conj": 1,
    "inv": 1,
    "pinv": 1,
    "det": 1,
    "tr": 1,
    "rank": 1,
    "adj": 1,
    "diag": 1,
    "vec": 1,
    "block": None,
    "inner": 2,
    "norm2": 1,
    "kron": 2,
    "hadamard": 2,
    "entry": None,
    "comprehension": 2,
    # vectors and scalars
    "softmax": 1,
    "logsumexp": 1,
    "max": None,
    "min": None,
    "exp": 1,
    "log": 1,
    "sqrt": 1,
    "abs": 1,
    "sin": 1,
    "cos": 1,
    "tanh": 1,
    "lambertw": 1,
    "erf": 1,
    # binders and functions: the last argument of sum and prod, the first of deriv, grad and limit
    # binds
    "sum": 3,
    "prod": 3,
    "deriv": 2,
    "grad": 2,
    "apply": 2,
    "member": None,
    # probability
    "expect": 1,
    "expect_given": None,
    "cov": 2,
    "cov_given": None,
    "logpdf": 3,
    "logpdf_on_support": 3,
    "l2norm2": 1,
    "l2inner": 2,
    # relations
    "eq": 2,
    "ne": 2,
    "lt": 2,
    "le": 2,
    "gt": 2,
    "ge": 2,
    "subset": 2,
    "limit": 2,  # a function, and what it tends to as its variable grows beyond all bounds
    # properties
    "invertible": 1,
    "symmetric": 1,
    "hermitian": 1,
    "positive_definite": 1,
    "positive_semidefinite": 1,
    "orthogonal": 1,
    "unitary": 1,
    "idempotent": 1,
    "diagonal": 1,
    "full_row_rank": 1,
    "full_column_rank": 1,
    "commute": 2,
    # for all (types..., conditions..., relation); data = (number of types, number of conditions)
    "forall": None,
    # types of declared and bound names; data of "function" and "family" says how args split
    "matrix_type": 2,
    "complex_matrix_type": 2,
    "real_type": 0,
    "positive_type": 0,
    "nonnegative_type": 0,
    "nonzero_type": 0,
    "integer_type": 0,
    "complex_type": 0,
    "dimension_type": 0,
    "index_type": 1,
    "function_type": 1,
    "family_type": None,
    "random_type": 1,
    "gaussian_type": None,
    "sigma_algebra_type": 0,
}

RELATIONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "subset"})
PROPERTIES = frozenset(
    {
        "invertible",
        "symmetric",
        "hermitian",
        "positive_definite",
        "positive_semidefinite",
        "orthogonal",
        "unitary",
        "idempotent",
        "diagonal",
        "full_row_rank",
        "full_column_rank",
        "commute",
    }
)

# The least number of arguments where it isn't fixed (0 where it isn't said).
AT_LEAST = {
    "expect_given": 2,
    "cov_given": 3,
    "entry": 2,
    "member": 2,
    "max": 1,
    "min": 1,
    "family_type": 2,
    "gaussian_type": 2,
}

# Stated limits, checked before anything large is built.
MAX_NODES = 100_000
MAX_DIGITS = 2_000
MAX_NESTING = 40  # binders within binders

# Which arguments of a binder stand under its binding, by operator.
BINDING_ARGUMENT = {"sum": 2, "prod": 2, "comprehension": 1, "deriv": 0, "grad": 0, "limit": 0}

Data = str | int | tuple[int, ...] | None


class Term:
    """One node of a statement. Build terms with `term`; never change one."""

    __slots__ = ("args", "data", "free", "nesting", "op")

    op: str
    args: tuple[Term, ...]
    data: Data
    free: int  # 1 + the largest free de Bruijn index; 0 for a closed term
    nesting: int  # how many binders stand within each other in this term

    def __repr__(self) -> str:
        shown = "" if self.data is None else f" {self.data}"
        return f"<{self.op}{shown}/{len(self.args)}>"


Leaf = Callable[[Term, int], Term | None]

_interned: dict[tuple[object, ...], Term] = {}


def term(op: str, *args: Term, data: Data = None) -> Term:
    """The term with this operator, these arguments and this data.

    Raises:
        MalformedError: the operator is unknown, or its arguments or data don't fit it.
    """
    key = (op, data, *map(id, args))
    found = _interned.get(key)
    if found is None:
        _check_node(op, args, data)
        found = Term()
        found.op, found.args, found.data = op, args, data
        found.free = (
            data + 1
            if op == "bound" and isinstance(data, int)
            else max((arg.free - binders_at(op, data, i) for i, arg in enumerate(args)), default=0)
        )
        found.free = max(found.free, 0)
        found.nesting = max(
            (arg.nesting + (binders_at(op, data, i) > 0) for i, arg in enumerate(args)), default=0
        )
        if found.nesting > MAX_NESTING:
            raise MalformedError(f"binders are nested more than {MAX_NESTING} deep")
        _interned[key] = found
    return found


def binders_at(op: str, data: Data, position: int) -> int:
    """How many variables an operator binds in its argument at `position`."""
    if op == "forall" and isinstance(data, tuple):  # _check_node has seen that it is a pair
        return data[0] if position >= data[0] else 0
    return 1 if BINDING_ARGUMENT.get(op) == position else 0


def _check_node(op: str, args: tuple[Term, ...], data: Data) -> None:
    arity = OPERATORS.get(op, -1)
    if arity == -1:
        raise MalformedError(f"unknown operator {op!r}")
    if len(args) != arity if arity is not None else len(args) < AT_LEAST.get(op, 0):
        raise MalformedError(f"{op} can't have {len(args)} arguments")
    if op == "name":
        fits = isinstance(data, str) and data != ""
    elif op == "constant":
        fits = data in ("pi", "e", "i")
    elif op == "rational":
        fits = isinstance(data, str) and is_canonical_rational(data)
    elif op == "bound":
        fits = _is_natural(data)
    elif op == "deriv":  # the order of differentiation
        fits = _is_natural(data) and data != 0
    elif op in ("forall", "block", "family_type", "gaussian_type"):
        fits = isinstance(data, tuple) and len(data) == 2 and all(map(_is_natural, data))
        if fits and op == "forall":
            fits = data[0] >= 1 and sum(data) + 1 == len(args)  # type: ignore[index]
        elif fits and op == "block":
            fits = data[0] * data[1] == len(args) > 0  # type: ignore[index]
    else:
        fits = data is None
    if not fits:
        raise MalformedError(f"{op} can't carry the data {data!r}")


def _is_natural(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_canonical_rational(text: str) -> bool:
    """Whether a text is a rational number as `rational` writes it: `-3/4`, `5`."""
    digits = text.removeprefix("-").replace("/", "", 1)
    if not (digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS):
        return False
    try:
        return str(Fraction(text)) == text
    except (ValueError, ZeroDivisionError):
        return False


# ---------------------------------------------------------------- building


def name(identifier: str) -> Term:
    """A declared name."""
    return term("name", data=identifier)


def rational(value: int | Fraction) -> Term:
    """An exact rational number."""
    return term("rational", data=str(Fraction(value)))


def bound(index: int, type_: Term) -> Term:
    """The variable of the binder that stands `index` levels further out, with its type."""
    return term("bound", type_, data=index)


def natural(node: Term) -> int:
    """The number that a term carries: a bound variable's index, a derivative's order."""
    if not isinstance(node.data, int):
        raise MalformedError(f"{node.op} carries no number")
    return node.data


def pair(node: Term) -> tuple[int, int]:
    """The two numbers that a term carries: how the arguments of forall, block, ... divide."""
    if not isinstance(node.data, tuple) or len(node.data) != 2:
        raise MalformedError(f"{node.op} carries no pair of numbers")
    return node.data[0], node.data[1]


def postorder(roots: Iterable[Term], known: Container[Term] = ()) -> list[Term]:
    """All terms under `roots`, each once, arguments before what uses them.

    What is `known` is left out, together with all that stands under it.
    """
    order: list[Term] = []
    seen: set[Term] = set()
    stack: list[Term | None] = [*roots]  # None: the last of `open_` has all its arguments
    stack.reverse()
    open_: list[Term] = []
    while stack:
        node = stack.pop()
        if node is None:
            order.append(open_.pop())
        elif node not in seen and node not in known:
            seen.add(node)
            spend(1 + len(node.args))
            if node.args:
                open_.append(node)
                stack.append(None)
                stack.extend(node.args[::-1])
            else:
                order.append(node)
    return order


def names_in(root: Term) -> set[str]:
    """The names that occur in a term."""
    return {str(node.data) for node in postorder([root]) if node.op == "name"}


# ---------------------------------------------------------------- substitution


def substitute(root: Term, values: Mapping[str, Term]) -> Term:
    """`root` with names replaced by terms; what is free in a value is never captured."""

    def leaf(node: Term, depth: int) -> Term | None:
        if node.op == "name" and node.data in values:
            return shift(values[str(node.data)], depth)
        return None

    return _rewrite(root, leaf)


def replace(root: Term, old: Term, new: Term) -> Term:
    """`root` with one closed term in place of another, wherever that occurs."""
    return _rewrite(root, lambda node, depth: new if node is old else None)


def instantiate(body: Term, values: tuple[Term, ...]) -> Term:
    """The body of a binder with its bound variables replaced; `values` lists outermost first."""
    count = len(values)

    def leaf(node: Term, depth: int) -> Term | None:
        if node.free <= depth:
            return node
        if node.op != "bound":
            return None
        index = int(node.data) - depth  # type: ignore[arg-type]
        if index < count:
            return shift(values[count - 1 - index], depth)
        return term("bound", node.args[0], data=int(node.data) - count)  # type: ignore[arg-type]

    return _rewrite(body, leaf)


def abstract(root: Term, names: tuple[str, ...], types: tuple[Term, ...]) -> Term:
    """The body of a binder over `names` (outermost first): each becomes a bound variable."""
    count = len(names)
    place = {identifier: count - 1 - i for i, identifier in enumerate(names)}

    def leaf(node: Term, depth: int) -> Term | None:
        if node.op == "name" and node.data in place:
            index = place[str(node.data)]
            return bound(index + depth, shift(types[count - 1 - index], depth))
        return None

    return _rewrite(shift(root, count), leaf)


def shift(root: Term, by: int) -> Term:
    """`root` moved under `by` further binders: its free indices grow."""
    if by == 0 or root.free == 0:
        return root

    def leaf(node: Term, depth: int) -> Term | None:
        if node.free <= depth:
            return node
        if node.op == "bound":
            return term("bound", node.args[0], data=int(node.data) + by)  # type: ignore[arg-type]
        return None

    return _rewrite(root, leaf)


def _rewrite(root: Term, leaf: Leaf) -> Term:
    """`root` with `leaf(node, depth)` in place of a node wherever that isn't None."""
    done: dict[tuple[int, int], Term] = {}
    stack = [(root, 0, False)]
    while stack:
        node, depth, ready = stack.pop()
        if ready:
            args = tuple(
                done[id(arg), depth + binders_at(node.op, node.data, i)]
                for i, arg in enumerate(node.args)
            )
            same = all(new is old for new, old in zip(args, node.args, strict=True))
            done[id(node), depth] = node if same else term(node.op, *args, data=node.data)
        elif (id(node), depth) not in done:
            changed = leaf(node, depth)
            if changed is not None:
                done[id(node), depth] = changed
                continue
            spend(16 + len(node.args))  # walked twice, and mostly a new term
            stack.append((node, depth, True))
            stack.extend(
                (arg, depth + binders_at(node.op, node.data, i), False)
                for i, arg in enumerate(node.args)
            )
    return done[id(root), 0]


# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Declaration:
    """`let names : type`. Several names share one declaration only where they are joint."""

    names: tuple[str, ...]
    type: Term


@dataclass(frozen=True, slots=True)
class Statement:
    """Declarations, hypotheses in the order of the file, and one goal."""

    declarations: tuple[Declaration, ...]
    hypotheses: tuple[Term, ...]
    goal: Term

    @property
    def hash(self) -> str:
        """What a certificate is bound to: SHA-256 of the canonical JSON."""
        return "sha256:" + hashlib.sha256(to_json(self).encode()).hexdigest()

    def roots(self) -> list[Term]:
        return [d.type for d in self.declarations] + [*self.hypotheses, self.goal]

    def _repr_markdown_(self) -> str:
        from proofs.language.show import latex  # it builds on this module

        return f"$$\n{latex(self)}\n$$"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from proofs.language.show import pretty

        printer.text(pretty(self))


def to_json(statement: Statement) -> str:
    """Canonical JSON: sorted keys, no spaces, nodes numbered in postorder."""
    order = postorder(statement.roots())
    place = {id(node): i for i, node in enumerate(order)}
    return json.dumps(
        {
            "declarations": [[list(d.names), place[id(d.type)]] for d in statement.declarations],
            "hypotheses": [place[id(h)] for h in statement.hypotheses],
            "goal": place[id(statement.goal)],
            "nodes": encode_nodes(order, place),
        },
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=True,
    )


def encode_nodes(order: Iterable[Term], place: Mapping[int, int]) -> list[list[object]]:
    """Nodes as JSON rows `[operator, [argument places], data]`."""
    return [
        [
            node.op,
            [place[id(arg)] for arg in node.args],
            list(node.data) if isinstance(node.data, tuple) else node.data,
        ]
        for node in order
    ]


def decode_nodes(rows: object, earlier: Iterable[Term] = ()) -> list[Term]:
    """Terms from JSON rows; an argument may only point back. Returns `earlier` and the new ones.

    Raises:
        MalformedError: anything but rows of the form that `encode_nodes` writes.
    """
    nodes = list(earlier)
    if not isinstance(rows, list) or len(rows) > MAX_NODES:
        raise MalformedError(f"nodes must be a list of at most {MAX_NODES} rows")
    for row in rows:
        if not (
            isinstance(row, list)
            and len(row) == 3
            and isinstance(row[0], str)
            and isinstance(row[1], list)
        ):
            raise MalformedError("a node must be [operator, [arguments], data]")
        op, places, data = row
        if not all(_is_natural(p) and p < len(nodes) for p in places):
            raise MalformedError("a node's arguments must point back to earlier nodes")
        if isinstance(data, list):
            data = tuple(data)
        elif not (data is None or isinstance(data, str) or _is_natural(data)):
            raise MalformedError(f"a node can't carry the data {data!r}")
        if isinstance(data, tuple) and not all(map(_is_natural, data)):
            raise MalformedError(f"a node can't carry the data {data!r}")
        nodes.append(term(op, *(nodes[p] for p in places), data=data))
    return nodes


def from_json(text: str) -> Statement:
    """The statement that `to_json` wrote.

    Raises:
        MalformedError: not such JSON, duplicate keys included.
    """
    raw = load_json(text)
    if not isinstance(raw, dict) or set(raw) != {"declarations", "hypotheses", "goal", "nodes"}:
        raise MalformedError("a statement has exactly: declarations, hypotheses, goal, nodes")
    nodes = decode_nodes(raw["nodes"])

    def at(place: object) -> Term:
        if not _is_natural(place) or place >= len(nodes):  # type: ignore[operator]
            raise MalformedError(f"{place!r} is not the place of a node")
        return nodes[place]  # type: ignore[index]

    rows, hypotheses = raw["declarations"], raw["hypotheses"]
    if not isinstance(rows, list) or not isinstance(hypotheses, list):
        raise MalformedError("declarations and hypotheses must be lists")
    declarations = []
    for row in rows:
        if not (
            isinstance(row, list)
            and len(row) == 2
            and isinstance(row[0], list)
            and row[0]
            and all(isinstance(n, str) for n in row[0])
        ):
            raise MalformedError("a declaration must be [[names], place of the type]")
        declarations.append(Declaration(tuple(row[0]), at(row[1])))
    return Statement(tuple(declarations), tuple(map(at, hypotheses)), at(raw["goal"]))


def load_json(text: str) -> object:
    """JSON with duplicate keys, NaN, floats and over-long integers refused."""

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(items)
        if len(found) != len(items):
            raise MalformedError("a key occurs twice in one JSON object")
        return found

    def integer(digits: str) -> int:
        if len(digits) > 18:
            raise MalformedError("an integer in the JSON is too long")
        return int(digits)

    def refuse(number: str) -> object:
        raise MalformedError(f"{number} is not allowed: rationals are strings, never floats")

    try:
        return json.loads(
            text,
            object_pairs_hook=pairs,
            parse_int=integer,
            parse_float=refuse,
            parse_constant=refuse,
        )
    except (json.JSONDecodeError, RecursionError) as error:
        raise MalformedError(f"not JSON: {error}") from None
