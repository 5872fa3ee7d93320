"""Untrusted. Sums and products of symbolic length, written by those of single monomials.

A sum over 1..p is expanded: its terms are simplified for a fresh index, constants are taken out,
and what is left is named where it has a name: an inner product, a trace, a vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from proofs.checker.algebra import ONE, Atom, Letter, Poly, TooLarge, Word
from proofs.checker.definedness import NotDefined, bound_types
from proofs.language.errors import StatementError
from proofs.language.infer import infer, polynomial
from proofs.language.sizes import Size
from proofs.language.tree import (
    Term,
    abstract,
    bound,
    instantiate,
    name,
    names_in,
    postorder,
    rational,
    term,
)
from proofs.language.types import Type
from proofs.search.raising import NoTerm, opened, product_of, size_term, size_terms
from proofs.search.workbench import Stuck, Workbench

MAX_STEPS = 30  # of completion, for the terms of a sum
MAX_PARTS = 12
FIRST = rational(1)


@dataclass(frozen=True, slots=True)
class Part:
    """left * moving(j) * right, where only the middle depends on the index."""

    left: Term | None
    moving: Term | None  # with bound variable 0; None for 1
    right: Term | None


def expand(w: Workbench, node: Term) -> None:
    """Take the instances that write a sum by sums of monomials."""
    key = ("sum", node)
    if key in w.failed or (w.expanding and not _is_inner(w, node)):
        return
    w.failed.add(key)
    low, high, body = node.args
    if low is not FIRST:
        shifted(w, node)
        return
    length = polynomial(high, w.facts.scope.dimensions)
    if length is None or not length.is_positive:
        _before_last(w, node, length)
        return
    kind = infer(node, w.facts.scope)
    sizes = {**size_terms(kind), "p": high}
    if (length - ONE).is_positive and not body_is_long(body):
        w.schema("sum_last", **(sizes | {"p": size_term(length - ONE)}), f=body)
    if length.value is not None:
        return
    parts = simplified(w, node)
    if parts is None:
        return
    bodies = [body_of(p) for p in parts]
    if not bodies:
        zero = rational(0) if kind.is_scalar else term("zeros", sizes["n"], sizes["k"])
        _take(w, "sum_equal_terms", **sizes, f=body, g=zero)
        _take(w, "sum_constant", **sizes, A=zero)
        return
    total = bodies[-1]
    totals = [total]
    for b in reversed(bodies[:-1]):
        total = term("add", b, total)
        totals.append(total)
    _take(w, "sum_equal_terms", **sizes, f=body, g=total)
    for b, rest in zip(bodies[:-1], reversed(totals[:-1]), strict=True):
        _take(w, "sum_add_terms", **sizes, f=b, g=rest)
    _telescope(w, parts, high)
    for part in parts:
        _take_out(w, part, high, kind.rows, kind.cols)


def _is_inner(w: Workbench, node: Term) -> bool:
    """Whether a sum speaks of names of a sub-proof; another is expanded outside of it."""
    return bool(names_in(node) - {n for d in w.statement.declarations for n in d.names})


def body_is_long(body: Term) -> bool:
    return len(postorder([body])) > 60


def _take(w: Workbench, rule: str, **values: Term) -> int | None:
    """An instance all of whose sums are written by monomials as it stands."""
    w.expanding += 1
    try:
        place = w.schema(rule, **values)
    finally:
        w.expanding -= 1
    if place is not None and place >= 0:
        done = postorder([w.facts.facts[place].relation])
        w.failed |= {("sum", n) for n in done if n.op == "sum"}
        return place
    return None


def body_of(part: Part) -> Term:
    """The term of a sum that a part stands for."""
    factors = [f for f in (part.left, part.moving, part.right) if f is not None]
    return product_of(factors or [FIRST])


def merge_powers(w: Workbench, value: Poly) -> bool:
    """A^a*A^b = A^(a + b), for the powers that meet in the words of a value."""
    found = False
    words = [(word, False) for _, word in value.terms]
    scalars = {a.word: None for monomial, _ in value.terms for a, _ in monomial if a.word}
    words += [(word, word[0].rows != ONE) for word in scalars]
    for word, cyclic in words:
        for one, two in zip(word, (*word[1:], word[0]) if cyclic else word[1:], strict=False):
            if one.transposed and two.transposed:
                one, two = two.T, one.T
            a, b = w.raising.letters.get(one), w.raising.letters.get(two)
            if a is None or b is None or (a.op != "pow" and b.op != "pow"):
                continue
            (base, m), (other, k) = (x.args if x.op == "pow" else (x, FIRST) for x in (a, b))
            if base is other and ("powers", m, k, base) not in w.failed:
                w.failed.add(("powers", m, k, base))
                found = (
                    w.schema("power_add_natural", n=w.size(base), A=base, a=m, b=k) is not None
                    or found
                )
    return found


def weight(w: Workbench, symbol: Atom | Letter) -> int:
    """A sum is heavier than its parts, one from another lower limit than that from 1."""
    node = (
        w.raising.atoms.get(symbol) if isinstance(symbol, Atom) else w.raising.letters.get(symbol)
    )
    if node is None or node.op not in ("sum", "prod"):
        return 6
    inside = postorder([node])
    moved = 0 if node.args[0] is rational(1) else 30
    if any(n.op in ("deriv", "softmax") for n in inside):
        moved += 80
    if any(n.op in ("sum", "prod") for n in inside if n is not node):  # above a product of two
        moved += 40
    high = polynomial(node.args[1], w.facts.scope.dimensions)
    longer = 0 if high is None else 40 * sum(abs(c) for m, c in high.terms if not m)
    return 6 + 2 * len(inside) + moved + longer


# ---------------------------------------------------------------- limits


def shifted(w: Workbench, node: Term) -> None:
    """A sum or product from another lower limit, as one from 1."""
    low, high, body = node.args
    scope = w.facts.scope
    length = polynomial(term("add", term("sub", high, low), FIRST), scope.dimensions)
    if length is None:
        return
    kind = infer(node, scope)
    sizes = size_terms(kind)
    if length.is_positive:
        if node.op == "prod":
            w.schema("product_shift", p=size_term(length), f=body, a=low)
        else:
            w.schema("sum_shift", **sizes, p=size_term(length), f=body, a=low)
    elif node.op == "sum" and Size.literal(0).at_least(length):
        w.schema("sum_empty", **sizes, f=body, a=low, b=high)
    elif node.op == "sum" and low is rational(2):
        w.schema("sum_first", **sizes, p=high, f=body)


def _before_last(w: Workbench, node: Term, length: Size | None) -> None:
    """A sum to p - 1, which may be empty, by that to p."""
    if length is None:
        return
    kind = infer(node, w.facts.scope)
    sizes = size_terms(kind)
    if Size.literal(0).at_least(length):
        w.schema("sum_empty", **sizes, f=node.args[2], a=FIRST, b=node.args[1])
    elif (length + ONE).is_positive:
        w.schema("sum_before_last", **sizes, p=size_term(length + ONE), f=node.args[2])


# ---------------------------------------------------------------- terms


def simplified(w: Workbench, node: Term) -> list[Part] | None:
    """The monomials of the terms of a sum over 1..p, simplified by what is known of them."""
    from proofs.search.equations import known  # equations call for instances

    _, high, body = node.args
    (type_,) = bound_types(body, 1)
    if type_ is None:
        return [Part(None if body is FIRST else body, None, None)]
    names, type_ = w.fresh(1), term("index_type", high)
    try:
        with w.inside(names, (type_,)) as inner:
            inner.expanding += 1
            inner.instanced = set(w.instanced)  # what they brought is known inside too
            at = opened(instantiate(body, (name(names[0]),)))
            inner.learn(at)
            inner.learn(name(names[0]))
            value = inner.facts.lowering.lower(at)
            ideal = known(inner, [term("eq", at, at)])
            if merge_powers(inner, ideal.reduce(value)[0]):
                ideal = known(inner, [term("eq", at, at)])
            for _ in range(MAX_STEPS):
                if not ideal.step():
                    break
            value, _ = ideal.reduce(value)
            if len(value.terms) > MAX_PARTS:
                return None
            return [
                _part(inner, place, c, value, names, (type_,))
                for place, c in sorted(value.terms.items(), key=lambda item: str(item[0]))
            ]
    except (NoTerm, TooLarge, StatementError, NotDefined, Stuck):
        return None


def _part(
    w: Workbench,
    place: tuple[tuple[tuple[Atom, int], ...], Word],
    coefficient: Fraction,
    like: Poly,
    names: tuple[str, ...],
    types: tuple[Term, ...],
) -> Part:
    """A monomial, its constant factors on either side and the others."""
    monomial, word = place
    left = [] if coefficient == 1 else [rational(coefficient)]
    moving: list[Term] = []
    exponents: list[Poly] = []
    for a, power in monomial:
        base = w.raising.scalar(a)
        if base.op == "exp" and _moves(base, names):
            exponents.append(w.facts.lowering.lower(base.args[0]).scale(Fraction(power)))
            continue
        whole = base if power == 1 else term("pow", base, rational(power))
        (moving if _moves(base, names) else left).append(whole)
    if exponents:  # one exponential, whatever unit the exponents have
        total = reduce(Poly.__add__, exponents)
        moving.append(term("exp", w.raising.poly(total)))
    letters = [w.raising.letter(x) for x in word]
    start, end = 0, len(letters)
    while start < end and not _moves(letters[start], names):
        start += 1
    while end > start and not _moves(letters[end - 1], names):
        end -= 1
    right = None
    if start == len(letters) and letters:  # a constant matrix, times what moves
        if moving:
            right, letters = product_of(letters), []
        start = end = len(letters)
    elif end < len(letters):
        right = product_of(letters[end:])
    if letters[:start]:
        left.append(product_of(letters[:start]))
    moving += letters[start:end]
    if not word and not like.is_scalar:
        identity = term("eye", size_term(like.rows))
        if moving:
            right = identity
        else:
            left.append(identity)
    return Part(
        product_of(left) if left else None,
        abstract(product_of(moving), names, types) if moving else None,
        right,
    )


def _moves(node: Term, names: tuple[str, ...]) -> bool:
    return names[0] in names_in(node)


def _take_out(w: Workbench, part: Part, high: Term, rows: Size, cols: Size) -> None:
    """sum(left*f(j)*right) = left*sum(f(j))*right; the sum of what moves by what it is."""
    if part.moving is None:
        whole = body_of(part)
        _take(w, "sum_constant", n=size_term(rows), k=size_term(cols), p=high, A=whole)
        return
    rest = part.moving
    if part.right is not None:
        one, two = _shape(w, rest, high), _shape(w, part.right, high)
        if one.is_scalar and not two.is_scalar:
            sizes = size_terms(two)
            _take(w, "sum_multiples", **sizes, p=high, A=part.right, f=rest)
        else:
            sizes = {"n": size_term(one.rows), "k": size_term(two.rows), "m": size_term(two.cols)}
            _take(w, "sum_right", **sizes, p=high, A=part.right, f=rest)
        rest = term("mul", rest, part.right)
    if part.left is not None:
        one, two = _shape(w, part.left, high), _shape(w, rest, high)
        sizes = {"n": size_term(one.rows), "k": size_term(two.rows), "m": size_term(two.cols)}
        if one.is_scalar:
            sizes = size_terms(two)
            _take(w, "sum_multiple", **sizes, p=high, c=part.left, f=rest)
        elif two.is_scalar:
            sizes = size_terms(one)
            _take(w, "sum_multiples", **sizes, p=high, A=part.left, f=rest)
        else:
            _take(w, "sum_left", **sizes, p=high, A=part.left, f=rest)
    middle = term("sum", FIRST, high, part.moving)
    w.failed.add(("sum", middle))
    _named(w, middle)


def _telescope(w: Workbench, parts: list[Part], high: Term) -> None:
    """Two monomials, one of them the other at the next index."""
    index = _some_index(high)
    moving = [p.moving for p in parts if p.moving is not None]
    for one in moving[: MAX_PARTS // 2]:
        after = instantiate(one, (term("add", index, FIRST),))
        kind = _shape(w, one, high)
        lower = w.facts.lowering.lower
        for two in moving:
            if two is not one and lower(instantiate(two, (index,))) == lower(after):
                sizes = size_terms(kind)
                w.schema("sum_telescope", **sizes, p=high, f=one)


def _shape(w: Workbench, node: Term, high: Term) -> Type:
    """The type of a term that may have the index of a sum as bound variable 0."""
    return infer(instantiate(node, (_some_index(high),)), w.facts.scope)


def _some_index(high: Term) -> Term:
    return bound(0, term("index_type", high))


# ---------------------------------------------------------------- names for sums


def _named(w: Workbench, node: Term) -> None:
    """A sum of one monomial as an inner product, a trace or a vector, where it is one."""
    _, high, body = node.args
    w.learn(node)
    if w.find(term("eq", node, node)) is None:
        return
    names, type_ = w.fresh(1), term("index_type", high)
    try:
        with w.inside(names, (type_,)) as inner:
            at = instantiate(body, (name(names[0]),))
            inner.learn(at)
            value = inner.facts.lowering.lower(at)
            unit = _unit(inner, high, names[0])
            (((monomial, word), _),) = value.terms.items()
            sides = [v for a, n in monomial for v in [_vector(inner, a, unit)] * n]
            entry = monomial[0][0].word if len(monomial) == 1 and monomial[0][1] == 1 else None
            diagonal = None
            if entry and len(entry) > 2 and entry[0] is unit.T and entry[-1] is unit:
                diagonal = inner.raising.word(entry[1:-1])
    except (NoTerm, TooLarge, StatementError, NotDefined, ValueError):
        return
    known = [s for s in sides if s is not None and names[0] not in names_in(s)]
    if len(known) != len(sides):
        known = []
    if not word and diagonal is not None and names[0] not in names_in(diagonal):
        w.schema("trace_entries", n=high, A=diagonal)
    elif not word and len(known) == 1:
        _take(w, "ones_sum", n=high, x=known[0])
    elif not word and len(known) == 2:
        _take(w, "inner_entries", n=high, x=known[0], y=known[1])
    elif word == (unit,) and len(known) == len(sides) <= 1:
        _vector_of_entries(w, high, *known)
    elif word == (unit, unit.T) and not sides:
        w.schema("eye_units", n=high)
    elif body.op == "sum":
        exchange(w, node)
    exponents = [n.args[1] for n in postorder([instantiate(body, (FIRST,))]) if n.op == "pow"]
    if body.op != "sum" and any(names_in(high) & names_in(e) for e in exponents):
        kind = _shape(w, body, high)
        sizes = size_terms(kind)
        w.schema("sum_reverse", **sizes, p=high, f=body)


def _unit(w: Workbench, high: Term, index: str) -> Letter:
    value = w.facts.lowering.lower(term("unit", high, name(index)))
    (((_, word), _),) = value.terms.items()
    return word[0]


def _vector(w: Workbench, a: Atom, unit: Letter) -> Term | None:
    """v, where an atom is the entry v[j]."""
    if a.word is None or len(a.word) < 2:
        return None
    for word in (a.word, tuple(x.T for x in reversed(a.word))):
        if word[0] is unit.T and word[-1] is not unit:
            return w.raising.word(word[1:])
    return None


def _vector_of_entries(w: Workbench, high: Term, x: Term | None = None) -> None:
    """sum(x[j]*unit(n, j)) = x; without x, that of the units alone."""
    column = term("unit", high, _some_index(high))
    outer = term("mul", column, term("transpose", column))
    whole = term("ones", high, FIRST) if x is None else x
    w.schema("eye_units", n=high)
    _take(w, "sum_right", n=high, k=high, m=FIRST, p=high, A=whole, f=outer)
    if x is None:
        sizes = {"n": high, "k": FIRST, "p": high}
        _take(w, "sum_equal_terms", **sizes, f=term("mul", outer, whole), g=column)


def absorb(w: Workbench, value: Poly) -> None:
    """x*sum(f(j))*y, or its trace, as one sum, for the sums in the words of a value."""
    words = {a.word: None for monomial, _ in value.terms for a, _ in monomial if a.word}
    for word in words:
        for place, x in enumerate(word):
            node = w.raising.letters.get(x.T if x.transposed else x)
            if node is not None and node.op == "sum" and node.args[0] is FIRST:
                _absorb(w, word, place, node)


def _absorb(w: Workbench, word: Word, place: int, node: Term) -> None:
    key = ("absorb", word, place)
    if key in w.failed:
        return
    w.failed.add(key)
    if word[place].transposed:
        word = tuple(x.T for x in reversed(word))
        place = len(word) - 1 - place
    before, after = word[:place], word[place + 1 :]
    if word[0].rows != ONE:  # a trace: turned so that the sum comes last
        before, after = (*after, *before), ()
    _, high, body = node.args
    kind = infer(node, w.facts.scope)
    rows, cols, is_trace = size_term(kind.rows), size_term(kind.cols), word[0].rows != ONE
    whole, mode, minus = node, "tr" if is_trace else "", w.place(rational(-1))
    steps: list[list[object]] = []
    if before:
        left = w.raising.word(before)
        k, rows = rows, w.size(left)
        fact = _take(w, "sum_left", n=rows, k=k, m=cols, p=high, A=left, f=body)
        body, whole = term("mul", left, body), term("mul", left, whole)
        steps.append([minus, fact, w.place(w.raising.word(after)) if after else None, mode])
    if after:
        right = w.raising.word(after)
        k, cols = cols, size_term(infer(right, w.facts.scope).cols)
        fact = _take(w, "sum_right", n=rows, k=k, m=cols, p=high, A=right, f=body)
        body, whole = term("mul", body, right), term("mul", whole, right)
        steps.append([minus, fact, None, ""])
    if is_trace:
        fact = _take(w, "sum_trace", n=rows, p=high, f=body)
        body, whole = term("tr", body), term("tr", whole)
        steps.append([None, fact, None, ""])
    total = term("sum", FIRST, high, body)
    if None not in [row[1] for row in steps]:
        w.failed.discard(("sum", total))
        goal = w.place(term("eq", whole, total))
        w.take({"rule": "combine", "goal": goal, "terms": steps})


def exchange(w: Workbench, node: Term) -> None:
    """Two sums, one in the other, exchanged."""
    _, high, body = node.args
    low, count, inside = body.args
    if low is FIRST and count.free == 0:
        row = term("comprehension", count, inside)
        w.schema("sum_exchange", n=high, k=count, f=row)


# ---------------------------------------------------------------- products


def expand_product(w: Workbench, node: Term) -> None:
    """A product over 1..p by the products of the factors of its terms."""
    key = ("prod", node)
    if key in w.failed:
        return
    w.failed.add(key)
    low, high, body = node.args
    if low is not FIRST:
        shifted(w, node)
        return
    length = polynomial(high, w.facts.scope.dimensions)
    if length is None or not length.is_positive:
        return
    if (length - ONE).is_positive:
        w.schema("product_last", p=size_term(length - ONE), f=body)
    if length.value is not None:
        return
    parts = simplified(w, node)
    if parts is None or len(parts) != 1:
        return
    (part,) = parts
    whole = term("comprehension", high, body)
    simple = term("comprehension", high, body_of(part))
    w.schema("product_equal", n=high, x=whole, y=simple)
    factors = list(_product_factors(part)) or [FIRST]
    for i, factor in enumerate(factors):
        if factor.free == 0:
            w.schema("product_constant", p=high, c=factor)
        if i + 1 < len(factors):
            rest = product_of(factors[i + 1 :])
            x, y = (term("comprehension", high, f) for f in (factor, rest))
            w.schema("product_multiply", n=high, x=x, y=y)


def _product_factors(part: Part) -> Iterator[Term]:
    if part.left is not None:
        yield part.left
    if part.moving is not None:
        stack = [part.moving]
        while stack:
            node = stack.pop()
            if node.op == "mul":
                stack += reversed(node.args)
            elif (
                node.op == "pow"
                and node.args[1].op == "rational"
                and (str(node.args[1].data).isdecimal() and 2 <= int(str(node.args[1].data)) <= 4)
            ):
                stack += [node.args[0]] * int(str(node.args[1].data))
            else:
                yield node
